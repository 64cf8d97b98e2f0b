// SPDX-License-Identifier: BSD-3-Clause
// Arguments of the kernels of convolutions; the C struct is conv_args in ops/conv/conv.c.
#ifndef LEAT_CONV_ARGS_GLSL_
#define LEAT_CONV_ARGS_GLSL_

#include "product/kernels/gemm_args.glsl"

struct Args {
  GEMM_ARGS
  uint pixels;             // of one output image; per_pixels divides by it
  uint out_height, out_width;
  Divider per_pixels, per_row; // per_row by out_width
  int depth, height, width; // of an input image
  uint plane;              // their product
  uint image_in, image_out; // elements of an image with all its channels
  uint group_in, group_out, group_weights;
  uint group_rows;         // output channels of a group
  uint taps;               // of the kernel; per_taps divides by it
  uint kernel_area, kernel_width;
  Divider per_taps, per_area, per_width;
  uint channels;           // of a group, where they are neighbours
  Divider per_channels;
  uint pitch_in, pitch_out, pitch_residual; // from pixel to pixel, where they are in what is read, stored, added
  int stride[3], dilation[3], pad[3];
  Divider per_stride[3];
};
LEAT_ARGS

#endif
