#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution with one input channel per group, of images in NHWC layout to such images: an invocation has a pixel of
// the result, and of it one channel or (QUADS) four, each of a channel of its own of the image.
#include "core/kernels/leat.glsl"
#include "core/kernels/divider.glsl"
#include "product/kernels/epilogue.glsl"
#include "core/kernels/reals.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, QUADS, 0);
struct Args {
  uint64_t x, weights, y, bias; // bias: 0 for none
  EPILOGUE_ARGS
  uint count;                   // invocations
  uint parts;                   // of them, those of a pixel of the result
  uint taps;                    // of the kernel
  uint pitch_in, pitch_out, pitch_residual; // from one pixel to the next; in fours with QUADS, as all places are
  uint out_depth, out_height, out_width;
  Divider per_part, per_depth, per_height, per_width; // by `parts` and these
  Divider per_input;            // by the channels of the result that are of one of the image
  int depth, height, width;
  int kernel[3], stride[3], dilation[3], pad[3];
};
LEAT_ARGS

vec4 fetch(uint64_t base, uint at) { return QUADS != 0 ? QUAD(base, at) : vec4(ELEMENT(base, at), 0, 0, 0); }

// Elements that are `step` apart, for the channels of this invocation.
vec4 gather(uint64_t base, uint first, uint step) {
  vec4 x = vec4(ELEMENT(base, first), 0, 0, 0);
  if (QUADS != 0) {
    [[unroll]] for (uint j = 1; j < 4; ++j) {
      x[j] = ELEMENT(base, first + j * step);
    }
  }
  return x;
}

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  const uint pixel = divide(i, args.per_part), part = i - pixel * args.parts;
  const uint channel = QUADS != 0 ? 4 * part : part, part_in = QUADS != 0 ? part : divide(part, args.per_input);
  uint rest = divide(pixel, args.per_width);
  const int left = int(pixel - rest * args.out_width) * args.stride[2] - args.pad[2];
  uint next = divide(rest, args.per_height);
  const int top = int(rest - next * args.out_height) * args.stride[1] - args.pad[1];
  const uint image = divide(next, args.per_depth);
  const int front = int(next - image * args.out_depth) * args.stride[0] - args.pad[0];
  const uint first = image * uint(args.depth * args.height * args.width);

  vec4 sum = vec4(0);
  uint slice = channel * args.taps;
  for (int kz = 0; kz < args.kernel[0]; ++kz) {
    const int z = front + kz * args.dilation[0];
    for (int ky = 0; ky < args.kernel[1]; ++ky, slice += uint(args.kernel[2])) {
      const int y = top + ky * args.dilation[1];
      if (uint(z) >= uint(args.depth) || uint(y) >= uint(args.height)) {
        continue;
      }
      const int row = (z * args.height + y) * args.width;
      for (int kx = 0; kx < args.kernel[2]; ++kx) {
        const int x = left + kx * args.dilation[2];
        if (uint(x) < uint(args.width)) {
          sum = fma(gather(args.weights, slice + uint(kx), args.taps),
                    fetch(args.x, (first + uint(row + x)) * args.pitch_in + part_in), sum);
        }
      }
    }
  }
  if (args.bias != 0) {
    sum += gather(args.bias, channel, 1);
  }
  vec4 added = vec4(0);
  if (RESIDUAL != LEAT_RESIDUAL_NONE) {
    added = fetch(args.residual, pixel * args.pitch_residual + part);
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    sum += added;
  }
  sum = activated4(sum, args.activation[0], args.activation[1]);
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    sum += added;
  }
  const uint at = pixel * args.pitch_out + part;
  if (QUADS != 0) {
    REALS4(args.y).v[at] = NARROW4(sum);
  } else {
    REALS(args.y).v[at] = NARROW(sum.x);
  }
}
