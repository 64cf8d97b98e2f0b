#version 460
// SPDX-License-Identifier: BSD-3-Clause
// x / scale, rounded to a type of floats and then to a whole number, plus a zero point, as an integer of 8 or 16 bits.
// What types there are is no specialisation constant: they would make a hundred pipelines.
#include "elementwise/kernels/floats.glsl"
#include "elementwise/kernels/quotient.glsl"
#include "scales.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t x, scale, zero, y; // zero: 0 for none
  uint type_x, type_scale;    // LEAT_ANY_..., floats
  uint type_quotient;         // and of the quotient and what is divided
  int low, high;              // what the result's type holds
  uint quads;                 // 1: one scale is for all, and four elements at a time may be moved
  SCALE_ARGS
};
LEAT_ARGS

#define EACH 4

bool is_wide() { return args.high - args.low > 255; }

vec4 load_four(uint64_t p, uint q) {
  return args.type_x == LEAT_ANY_F32   ? F32x4(p).v[q]
         : args.type_x == LEAT_ANY_F16 ? leat_from4_F16(U32x2(p).v[q])
                                       : leat_from4_BF16(U32x2(p).v[q]);
}

int load_zero(uint i) {
  if (args.zero == 0) {
    return 0;
  }
  const int zero = is_wide() ? int(I16(args.zero).v[i]) : int(I8(args.zero).v[i]);
  return args.low < 0 ? zero : zero & args.high;
}

int quantized_at(float x, uint at) {
  const float scale = rounded_to(args.type_quotient, load_float(args.type_scale, args.scale, at));
  return quantized(args.type_quotient, rounded_to(args.type_quotient, x), scale, load_zero(at), args.low, args.high);
}

void main() {
  const uint first = leat_linear_group() * (EACH * 256);
  if (args.quads != 0) {
    const uint q = first / 4 + gl_LocalInvocationIndex;
    if (4 * q < args.count) {
      const vec4 x = load_four(args.x, q);
      ivec4 y;
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        y[j] = quantized_at(x[j], 0);
      }
      if (is_wide()) {
        U32x2(args.y).v[q] = uvec2((y.x & 0xffff) | y.y << 16, (y.z & 0xffff) | y.w << 16);
      } else {
        U32(args.y).v[q] = (y.x & 0xff) | (y.y & 0xff) << 8 | (y.z & 0xff) << 16 | y.w << 24;
      }
    }
    return;
  }
  [[unroll]] for (uint n = 0; n < EACH; ++n) {
    const uint i = first + n * 256 + gl_LocalInvocationIndex;
    if (i < args.count) {
      const int y = quantized_at(load_float(args.type_x, args.x, i), SCALE_PLACE(i));
      if (is_wide()) {
        U16(args.y).v[i] = uint16_t(y);
      } else {
        U8(args.y).v[i] = uint8_t(y);
      }
    }
  }
}
