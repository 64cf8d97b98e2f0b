// SPDX-License-Identifier: BSD-3-Clause
// What kernels of convolutions share, by whatever hardware they multiply: how an operand is gathered from images, and
// where results lie. Rows are output channels of a group, columns are output pixels of all
// images, k runs over input channels and taps. The batch of the product is the group. One and two spatial dimensions
// come as three.
//
// The including file defines STEPS, the number of k that are gathered after one preparation, and `uint k_end`, where the
// k of this workgroup end. If channels are neighbours in memory it also defines PIXEL_SIZE, the elements from one pixel
// of an image to the next, and takes steps of taps alone. Where pixels are not the columns of the product it defines
// PIXEL_COUNT, their number, and where it never transposes TRANSPOSED as 0.
#ifndef LEAT_CONV_SIDES_GLSL_
#define LEAT_CONV_SIDES_GLSL_

#include "conv_args.glsl"
#include "product/kernels/epilogue.glsl"

#ifndef PIXEL_SIZE
#define PIXEL_SIZE 1
#endif
#ifndef PIXEL_COUNT
#define PIXEL_COUNT args.n
#endif

#ifndef TRANSPOSED
LEAT_CONSTANT(uint, TRANSPOSED, 0);
#endif
LEAT_CONSTANT(uint, VOLUME, 0); // 1: the depth of kernel, input or output is not 1, or is padded

// What a thread needs to know of the output pixel that it gathers for, until find_pixel() finds another one: where its
// image and group begin and, unless TRANSPOSED, where the pixel under tap 0 would be from there; input coordinates of
// tap 0 (transposed: output coordinates plus padding).
uint pixel_base;
int pixel_d, pixel_h, pixel_w;

// A coordinate that is outside of any image, also when another one is added to it.
#define OUTSIDE 0x7fffffff

// Where the weight of row i and k lies.
uint weight_place(uint i, uint k) {
  if (TRANSPOSED != 0) {
    const uint channel = divide(k, args.per_taps);
    return (channel * args.m + i) * args.taps + (k - channel * args.taps);
  }
  return i * args.k + k;
}

// Sets what is above for the pixel of a column; one that is not there is outside of its image.
void find_pixel(uint own, uint batch) {
  const uint image = divide(own, args.per_pixels);
  uint pixel = own - image * args.pixels;
  pixel_base = image * args.image_in + batch * args.group_in;
  pixel_d = 0;
  if (VOLUME != 0) {
    const uint out_area = args.out_height * args.out_width;
    const uint z = pixel / out_area;
    pixel -= z * out_area;
    pixel_d = TRANSPOSED != 0 ? int(z) + args.pad[0] : int(z) * args.stride[0] - args.pad[0];
  }
  const uint y = divide(pixel, args.per_row);
  const uint x = pixel - y * args.out_width;
  pixel_h = TRANSPOSED != 0 ? int(y) + args.pad[1] : int(y) * args.stride[1] - args.pad[1];
  pixel_w = TRANSPOSED != 0 ? int(x) + args.pad[2] : int(x) * args.stride[2] - args.pad[2];
  if (TRANSPOSED == 0) {
    pixel_base += uint((pixel_d * args.height + pixel_h) * args.width + pixel_w) * PIXEL_SIZE;
  }
  if (own >= PIXEL_COUNT) {
    pixel_h = TRANSPOSED != 0 ? -1 : OUTSIDE;
  }
}

// What channel and tap of each k that is fetched next add to the place of a pixel, and the tap to its coordinates
// (depth, height, width). All threads that gather at one k share the two divisions.
shared ivec4 steps[STEPS];
uint steps_begin;

// What that is of a tap.
ivec4 step_of_tap(uint tap) {
  ivec4 step = ivec4(0);
  if (VOLUME != 0) {
    const uint tap_d = divide(tap, args.per_area);
    tap -= tap_d * args.kernel_area;
    step.y = int(tap_d) * args.dilation[0];
  }
  const uint tap_h = divide(tap, args.per_width);
  step.z = int(tap_h) * args.dilation[1];
  step.w = int(tap - tap_h * args.kernel_width) * args.dilation[2];
  if (TRANSPOSED == 0) {
    step.x = ((step.y * args.height + step.z) * args.width + step.w) * int(PIXEL_SIZE);
  }
  return step;
}

// And of a k, where channels do not follow each other.
ivec4 step_of(uint k) {
  const uint channel = divide(k, args.per_taps);
  ivec4 step = step_of_tap(k - channel * args.taps);
  step.x += int(channel * args.plane);
  if (k >= k_end) {
    step.z = OUTSIDE;
  }
  return step;
}

// From an output coordinate to the input coordinate under a tap, of a transposed convolution; -1 if there is none.
int source(int at, int step, const uint d) {
  const int n = at - step, quotient = int(divide(uint(max(n, 0)), args.per_stride[d]));
  return n >= 0 && quotient * args.stride[d] == n ? quotient : -1;
}

// Where what lies under the tap of a step is, of this thread's pixel; if that is inside of the image.
bool find_element(ivec4 step, out uint at) {
  const int z = VOLUME == 0 ? 0 : TRANSPOSED != 0 ? source(pixel_d, step.y, 0) : pixel_d + step.y;
  const int y = TRANSPOSED != 0 ? source(pixel_h, step.z, 1) : pixel_h + step.z;
  const int x = TRANSPOSED != 0 ? source(pixel_w, step.w, 2) : pixel_w + step.w;
  at = pixel_base + uint(step.x);
  if (TRANSPOSED != 0) {
    at += uint((z * args.height + y) * args.width + x);
  }
  return (VOLUME == 0 || uint(z) < uint(args.depth)) && uint(y) < uint(args.height) && uint(x) < uint(args.width);
}

// Where the element of a column in row 0 of the group lies in the result, and in the residual.
uint place_of(uint column) {
  const uint image = divide(column, args.per_pixels);
  return image * args.image_out + (column - image * args.pixels);
}
// Four columns of a row. Where they may be moved together they are of one image, and `at` is the place of the first.
vec4 fetch_residual(uint64_t base, uint at, uint row, uint column) {
  if ((args.vector & VECTOR_RESIDUAL) != 0) {
    return QUAD(base, (at + row * args.pixels) >> 2);
  }
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = ELEMENT(base, place_of(min(column + j, args.n - 1)) + row * args.pixels);
  }
  return x;
}

// Stores four columns of a row, likewise.
void store_columns(uint64_t base, uint at, uint row, uint column, vec4 value) {
  if ((args.vector & VECTOR_C) != 0) {
    REALS4(base).v[(at + row * args.pixels) >> 2] = NARROW4(value);
  } else {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (column + j < args.n) {
        REALS(base).v[place_of(column + j) + row * args.pixels] = NARROW(value[j]);
      }
    }
  }
}

#endif
