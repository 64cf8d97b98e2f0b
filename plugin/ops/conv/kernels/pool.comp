#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Maximum and average, or with NORM an Lp norm, over a window that moves over an image of one to three spatial
// dimensions: an invocation has one channel of a pixel or, in NHWC layout (LAST is not 0), LAST of them, 1 or 4. Bytes,
// of which there is no average, are compared as float32, which holds them all.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

#define REALS_I8 I8
#define REALS_U8 U8
#define REALS4_I8 U32
#define REALS4_U8 U32
#define WIDEN_I8(x) float(x)
#define WIDEN_U8(x) float(x)
#define WIDEN4_I8(x) vec4(ivec4(x << 24, x << 16, x << 8, x) >> 24)
#define WIDEN4_U8(x) vec4(uvec4(x, x >> 8, x >> 16, x >> 24) & 0xffu)
#define NARROW_I8(x) int8_t(clamp(x, -128.0, 127.0))
#define NARROW_U8(x) uint8_t(clamp(x, 0.0, 255.0))
#define NARROW4_I8(x) four_bytes(ivec4(clamp(x, -128.0, 127.0)))
#define NARROW4_U8(x) four_bytes(ivec4(clamp(x, 0.0, 255.0)))
uint four_bytes(ivec4 x) {
  x &= 0xff;
  return uint(x.x | x.y << 8 | x.z << 16 | x.w << 24);
}

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, AVERAGE, 0);
LEAT_CONSTANT(uint, LAST, 0);
LEAT_CONSTANT(uint, COUNT_PADDING, 0); // 1: the average is over padding too
struct Args {
  uint64_t x, y;
  uint count; // invocations: elements of y, or fours of them
  uint parts; // LAST: invocations of a pixel,
  uint pitch_in, pitch_out; // and from one pixel to the next
  uint out_depth, out_height, out_width;
  Divider per_part, per_depth, per_height, per_width; // by `parts` and these
  int size[3];   // of the input
  int padded[3]; // where padding ends; what a window reaches beyond it does not count
  int kernel[3], stride[3], dilation[3], pad[3];
  Divider per_dilation[3];
  float p; // of NORM
};
LEAT_ARGS

#if defined(NORM)
// What adds up to the p-th power of a norm, and the norm.
vec4 to_power(vec4 x) {
  x = abs(x);
  return args.p == 1.0   ? x
         : args.p == 2.0 ? x * x
                         : vec4(leat_pow(x.x, args.p), leat_pow(x.y, args.p), leat_pow(x.z, args.p),
                                leat_pow(x.w, args.p));
}
float root_of(float x) { return args.p == 1.0 ? x : leat_pow(x, 1.0 / args.p); }
#endif

// Steps of the dilation along dimension `d` that a distance takes.
int steps_over(int distance, int d) {
  return int(divide(uint(max(distance + args.dilation[d] - 1, 0)), args.per_dilation[d]));
}

// Taps that lie before `end` when the first is at `start`.
int taps_before(int start, int end, int d) { return min(args.kernel[d], steps_over(end - start, d)); }

// First tap, and one past the last, of a window at `start` that lie in the image along dimension `d`.
ivec2 taps_inside(int start, int d) {
  return ivec2(steps_over(max(-start, 0), d), taps_before(start, args.size[d], d));
}

// What lies at a pixel, counted from the first image's: the part of a number, or the element of a plane.
vec4 fetch(uint pixel, uint part) {
  const uint at = LAST != 0 ? pixel * args.pitch_in + part : pixel;
  return LAST == 4 ? QUAD(args.x, at) : vec4(ELEMENT(args.x, at), 0, 0, 0);
}

bvec4 isnan4(vec4 x) { return bvec4(leat_isnan(x.x), leat_isnan(x.y), leat_isnan(x.z), leat_isnan(x.w)); }

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  // Parts of a pixel, and the first of them; or else planes of pixels.
  const uint pixels = LAST != 0 ? divide(i, args.per_part) : i;
  uint rest = divide(pixels, args.per_width);
  const int x0 = int(pixels - rest * args.out_width) * args.stride[2] - args.pad[2];
  uint next = divide(rest, args.per_height);
  const int y0 = int(rest - next * args.out_height) * args.stride[1] - args.pad[1];
  const uint plane = divide(next, args.per_depth);
  const int z0 = int(next - plane * args.out_depth) * args.stride[0] - args.pad[0];
  const uint first = plane * uint(args.size[0] * args.size[1] * args.size[2]);

  vec4 top = vec4(-LEAT_INFINITY), sum = vec4(0);
  bvec4 any_nan = bvec4(false); // beside the maximum, which may pass a NaN over or not
  const ivec2 along_x = taps_inside(x0, 2), along_y = taps_inside(y0, 1), along_z = taps_inside(z0, 0);
  for (int kz = along_z[0]; kz < along_z[1]; ++kz) {
    const int z = z0 + kz * args.dilation[0];
    for (int ky = along_y[0]; ky < along_y[1]; ++ky) {
      const int line = (z * args.size[1] + y0 + ky * args.dilation[1]) * args.size[2] + x0;
      for (int kx = along_x[0]; kx < along_x[1]; ++kx) {
        vec4 value = fetch(first + uint(line + kx * args.dilation[2]), i - pixels * args.parts);
#if defined(NORM)
        value = to_power(value);
#endif
        top = max(top, value);
        any_nan = bvec4(uvec4(any_nan) | uvec4(isnan4(value)));
        sum += value;
      }
    }
  }
#if defined(NORM)
  const vec4 result = vec4(root_of(sum.x), root_of(sum.y), root_of(sum.z), root_of(sum.w));
#else
  // With padding a window may have more elements than an int counts.
  float found = float(max(along_x[1] - along_x[0], 0)) * float(max(along_y[1] - along_y[0], 0)) *
                float(max(along_z[1] - along_z[0], 0));
  if (COUNT_PADDING != 0) {
    found = float(taps_before(z0, args.padded[0], 0)) * float(taps_before(y0, args.padded[1], 1)) *
            float(taps_before(x0, args.padded[2], 2));
  }
  const vec4 result = AVERAGE != 0 ? sum / found : mix(top, vec4(leat_nan()), any_nan);
#endif
  const uint at = LAST != 0 ? pixels * args.pitch_out + (i - pixels * args.parts) : i;
  if (LAST == 4) {
    REALS4(args.y).v[at] = NARROW4(result);
  } else {
    REALS(args.y).v[at] = NARROW(result.x);
  }
}
