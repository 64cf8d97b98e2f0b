// SPDX-License-Identifier: BSD-3-Clause
// Quotients that are rounded to whole numbers. A device's own may be off by 2.5 units in the last place, and whether a
// fused multiply and add is one is its own affair too, so where that could decide, integers find the quotient.
#ifndef LEAT_QUOTIENT_GLSL_
#define LEAT_QUOTIENT_GLSL_

#include "core/kernels/types.glsl"
#include "elementwise_codes.glsl"

#define QUOTIENT_INFINITY 0x7f800000u

// The significand of a finite number but 0, from 2^23 to 2^24; the number is that times 2^(exponent - 150).
uint significand(uint magnitude, out int exponent) {
  const uint fraction = magnitude & 0x007fffffu;
  exponent = int(magnitude >> 23);
  if (exponent != 0) {
    return fraction | 0x00800000u;
  }
  const int shift = 23 - findMSB(fraction);
  exponent = 1 - shift;
  return fraction << shift;
}

// x / y, rounded to the nearest float32; one that is smaller than normal numbers is 0.
float exact_quotient(float x, float y) {
  const uint sign = (floatBitsToUint(x) ^ floatBitsToUint(y)) & 0x80000000u;
  const uint a = floatBitsToUint(x) & 0x7fffffffu, b = floatBitsToUint(y) & 0x7fffffffu;
  if (a > QUOTIENT_INFINITY || b > QUOTIENT_INFINITY || (a == b && (a == 0 || a == QUOTIENT_INFINITY))) {
    return uintBitsToFloat(0x7fc00000u);
  }
  if (a == QUOTIENT_INFINITY || b == 0) {
    return uintBitsToFloat(sign | QUOTIENT_INFINITY);
  }
  if (a == 0 || b == QUOTIENT_INFINITY) {
    return uintBitsToFloat(sign);
  }
  int exponent_a, exponent_b;
  const uint m = significand(a, exponent_a), n = significand(b, exponent_b);
  // The device's quotient of the significands is off by a few units of the result's. What is left is as few times n, so
  // that the low 32 bits of the difference are all of it.
  const int shift = m < n ? 24 : 23;
  uint q = uint(float(m) / float(n) * float(1 << shift));
  int left = int((m << shift) - q * n);
  while (left < 0) {
    left += int(n);
    --q;
  }
  while (left >= int(n)) {
    left -= int(n);
    ++q;
  }
  // Never half of n: 2 q + 1 times n would be a multiple of a power of two that is larger than n.
  if (2 * left > int(n)) {
    ++q;
  }
  const int exponent = exponent_a - exponent_b - shift + 150;
  return uintBitsToFloat(exponent <= 0     ? sign
                         : exponent >= 255 ? sign | QUOTIENT_INFINITY
                                           : sign | ((uint(exponent) << 23) + q - 0x00800000u));
}

// A number rounded to a type of floats, one of LEAT_ANY_...
float rounded_to(uint type, float x) {
  return type == LEAT_ANY_F16 ? leat_round_F16(x) : type == LEAT_ANY_BF16 ? leat_round_BF16(x) : x;
}

// x / scale, rounded to a type of floats and then to the nearest whole number, of two to the even one; 0 for NaN.
float whole_quotient(uint type, float x, float scale) {
  // Within this range the device's quotient is as exact as Vulkan says, and an x that the device takes for 0 gives 0.
  if (((floatBitsToUint(scale) >> 23) & 0xffu) - 24u < 228u && (floatBitsToUint(x) & 0x7fffffffu) <= QUOTIENT_INFINITY) {
    // Rounding keeps order, so what both sides of all that the quotient may be are rounded to is what it is rounded to.
    const float q = x / scale;
    const float below = roundEven(rounded_to(type, q * (1.0 - 4.76837158203125e-7)));
    if (below == roundEven(rounded_to(type, q * (1.0 + 4.76837158203125e-7)))) {
      return below;
    }
  }
  const float q = roundEven(rounded_to(type, exact_quotient(x, scale)));
  return (floatBitsToUint(q) & 0x7fffffffu) > QUOTIENT_INFINITY ? 0.0 : q;
}

// The same, a zero point added, as an integer from low to high.
int quantized(uint type, float x, float scale, int zero, int low, int high) {
  return int(clamp(whole_quotient(type, x, scale), float(low - zero), float(high - zero))) + zero;
}

// A scale of float32 that many numbers are divided by.
struct Divisor {
  float scale;
  float inverse; // NaN where a product with it may be further off than is_quotient() says
};
Divisor divisor_of(float scale) {
  Divisor d;
  d.scale = scale;
  d.inverse = ((floatBitsToUint(scale) >> 23) & 0xffu) - 24u < 228u ? exact_quotient(1.0, scale)
                                                                    : uintBitsToFloat(0x7fc00000u);
  return d;
}

// x / scale, rounded to the nearest whole number, or beyond 512, where all bytes end, to that; false: it may be another
// one, because the quotient is close to the middle of two. The product with the inverse, of two roundings, is off by less
// than 2^-13 there. From 2^23 to 2^24 floats are whole, so that a sum there rounds, and its bits are the number.
bool is_quotient(Divisor d, float x, out int whole) {
  const float shift = 12582912.0;
  const float q = x * d.inverse;
  precise const float shifted = clamp(q, -512.0, 512.0) + shift;
  whole = floatBitsToInt(shifted) - floatBitsToInt(shift);
  // From the integer, because NVIDIA's compiler takes what is added and subtracted again for nothing done.
  const float rest = q - float(whole);
  // As numbers without a sign, because of a NaN there is no telling what a comparison of floats becomes.
  const uint low = floatBitsToUint(0.5 - 1.220703125e-4), high = floatBitsToUint(0.5 + 1.220703125e-4);
  const uint distance = floatBitsToUint(rest) & 0x7fffffffu;
  return distance - low > high - low && distance <= QUOTIENT_INFINITY;
}
int exact_whole(Divisor d, float x) { return int(clamp(whole_quotient(LEAT_ANY_F32, x, d.scale), -512.0, 512.0)); }

// quantized() of float32 to bytes, of one and of four.
int quantized_by(Divisor d, float x, int zero, int low, int high) {
  int whole;
  if (!is_quotient(d, x, whole)) {
    whole = exact_whole(d, x);
  }
  return clamp(whole + zero, low, high);
}
ivec4 quantized4_by(Divisor d, vec4 x, int zero, int low, int high) {
  int whole[4];
  bool all = true;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    const bool is = is_quotient(d, x[j], whole[j]);
    all = all && is;
  }
  if (!all) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      whole[j] = exact_whole(d, x[j]);
    }
  }
  return clamp(ivec4(whole[0], whole[1], whole[2], whole[3]) + zero, low, high);
}

// Four of them, as bytes side by side.
uint packed(ivec4 y) {
  y &= 0xff;
  return uint(y.x | y.y << 8 | y.z << 16 | y.w << 24);
}

#endif
