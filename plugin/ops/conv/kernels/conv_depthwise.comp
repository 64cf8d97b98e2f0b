#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution with one input channel per group. A thread computes four neighbouring outputs of a row, so that a weight
// is read once for four products; where the window moves by one, an input too is read once for all outputs that use it.
#include "core/kernels/leat.glsl"
#include "core/kernels/divider.glsl"
#include "product/kernels/epilogue.glsl"
#include "core/kernels/reals.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, SLIDING, 0); // 1: stride and dilation along the row are 1
// Taps of a slice, and the stride along the row, if these are known, or 0; then the dilation along the row is 1 and the
// image has elements.
LEAT_CONSTANT(uint, KERNEL_Y, 0);
LEAT_CONSTANT(uint, KERNEL_X, 0);
LEAT_CONSTANT(uint, STRIDE_X, 1);
struct Args {
  uint64_t x, weights, y, bias; // bias: 0 for none
  EPILOGUE_ARGS
  uint count;                   // threads' worth: images * channels * out_depth * out_height * strips
  uint strips;                  // groups of four outputs in a row
  uint channels_in, channels;   // of an image, and of a result
  uint out_depth, out_height, out_width;
  Divider per_strips, per_depth, per_height, per_channels;
  Divider per_input;            // by the channels of the result that are of one of the image
  int depth, height, width;
  int kernel[3], stride[3], dilation[3], pad[3];
};
LEAT_ARGS

// Elements of a row of the image that four outputs use, where the taps are known.
const uint SPAN = 3 * STRIDE_X + KERNEL_X;

// Adds the known taps of a slice, from `tap` on, of an image from element `slice` on; (top, left) is where the first
// tap of the first output lies. All that is fetched is on its way at once, because no load waits for a condition: what is
// not there is fetched from the edge, and counts as 0, which times a weight that is not finite is NaN.
vec4 add_slice(vec4 sum, REALS x, REALS w, uint tap, int slice, int top, int left) {
  [[unroll]] for (uint ky = 0; ky < KERNEL_Y; ++ky) {
    const int y = top + int(ky) * args.dilation[1];
    const bool there = uint(y) < uint(args.height);
    const int row = slice + clamp(y, 0, args.height - 1) * args.width;
    float window[SPAN];
    [[unroll]] for (uint j = 0; j < SPAN; ++j) {
      const int at = left + int(j);
      const float value = WIDEN(x.v[row + clamp(at, 0, args.width - 1)]);
      window[j] = there && uint(at) < uint(args.width) ? value : 0.0;
    }
    [[unroll]] for (uint kx = 0; kx < KERNEL_X; ++kx) {
      sum = fma(vec4(WIDEN(w.v[tap + ky * KERNEL_X + kx])),
                vec4(window[kx], window[kx + STRIDE_X], window[kx + 2 * STRIDE_X], window[kx + 3 * STRIDE_X]), sum);
    }
  }
  return sum;
}

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  uint rest = divide(i, args.per_strips);
  const uint x0 = (i - rest * args.strips) * 4;
  uint next = divide(rest, args.per_height);
  const uint out_y = rest - next * args.out_height;
  rest = next;
  next = divide(rest, args.per_depth);
  const uint out_z = rest - next * args.out_depth;
  const uint image = divide(next, args.per_channels); // next is the output plane
  const uint channel = next - image * args.channels;
  const uint in_plane = image * args.channels_in + divide(channel, args.per_input);
  REALS x = REALS(args.x + uint64_t(in_plane) * uint(args.depth * args.height * args.width) * ELEMENT_SIZE);
  REALS w = REALS(args.weights +
                  uint64_t(channel) * uint(args.kernel[0] * args.kernel[1] * args.kernel[2]) * ELEMENT_SIZE);

  vec4 sum = vec4(0);
  const int left = int(x0) * args.stride[2] - args.pad[2];
  uint tap = 0;
  for (int kz = 0; kz < args.kernel[0]; ++kz) {
    const int z = int(out_z) * args.stride[0] - args.pad[0] + kz * args.dilation[0];
    if (KERNEL_X != 0) {
      if (uint(z) < uint(args.depth)) {
        sum = add_slice(sum, x, w, tap, z * args.height * args.width, int(out_y) * args.stride[1] - args.pad[1], left);
      }
      tap += KERNEL_Y * KERNEL_X;
      continue;
    }
    for (int ky = 0; ky < args.kernel[1]; ++ky, tap += args.kernel[2]) {
      const int y = int(out_y) * args.stride[1] - args.pad[1] + ky * args.dilation[1];
      if (uint(z) >= uint(args.depth) || uint(y) >= uint(args.height)) {
        continue;
      }
      const int row = (z * args.height + y) * args.width;
      if (SLIDING != 0) {
        vec4 window = vec4(0);
        [[unroll]] for (int j = 0; j < 3; ++j) {
          window[j + 1] = uint(left + j) < uint(args.width) ? WIDEN(x.v[row + left + j]) : 0.0;
        }
        for (int kx = 0; kx < args.kernel[2]; ++kx) {
          const int at = left + kx + 3;
          window = vec4(window.yzw, uint(at) < uint(args.width) ? WIDEN(x.v[row + at]) : 0.0);
          sum = fma(vec4(WIDEN(w.v[tap + kx])), window, sum);
        }
      } else {
        for (int kx = 0; kx < args.kernel[2]; ++kx) {
          vec4 window;
          [[unroll]] for (int j = 0; j < 4; ++j) {
            const int at = left + j * args.stride[2] + kx * args.dilation[2];
            window[j] = uint(at) < uint(args.width) ? WIDEN(x.v[row + at]) : 0.0;
          }
          sum = fma(vec4(WIDEN(w.v[tap + kx])), window, sum);
        }
      }
    }
  }
  if (args.bias != 0) {
    sum += ELEMENT(args.bias, channel);
  }
  const uint at = ((next * args.out_depth + out_z) * args.out_height + out_y) * args.out_width + x0;
  vec4 added = vec4(0);
  if (RESIDUAL != LEAT_RESIDUAL_NONE) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      added[j] = ELEMENT(args.residual, at + min(j, args.out_width - 1 - x0));
    }
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    sum += added;
  }
  sum = activated4(sum, args.activation[0], args.activation[1]);
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    sum += added;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (x0 + j < args.out_width) {
      REALS(args.y).v[at + j] = NARROW(sum[j]);
    }
  }
}
