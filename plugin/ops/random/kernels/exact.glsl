// SPDX-License-Identifier: BSD-3-Clause
// Functions that have the same bits on every device, of additions and multiplications alone: these Vulkan has rounded
// correctly, but not divisions, roots, exponentials and what a compiler makes of two operations together, which
// `precise` forbids. Arguments are positive and normal where nothing else is said.
#ifndef LEAT_EXACT_GLSL_
#define LEAT_EXACT_GLSL_

#include "core/kernels/math.glsl"

// log(1 + f) - f + f^2 / 2, divided by f^3, for f in [sqrt(1/2) - 1, sqrt(2) - 1].
float exact_log_rest(float f) {
  precise float p = 0.06915447;
  p = p * f - 0.11789934;
  p = p * f + 0.11873008;
  p = p * f - 0.12384330;
  p = p * f + 0.14218652;
  p = p * f - 0.16669251;
  p = p * f + 0.20002227;
  p = p * f - 0.24999987;
  p = p * f + 0.33333310;
  return p;
}

// log x, 2 ulp.
float exact_log(float x) {
  uint bits = floatBitsToUint(x) - 0x3f3504f3u;
  float k = float(int(bits) >> 23);
  precise float f = uintBitsToFloat((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0;
  precise float square = f * f;
  precise float cube = square * f;
  precise float near = f + (cube * exact_log_rest(f) - 0.5 * square);
  precise float y = k * 0.693359375 + (near - k * 2.12194440e-4);
  return y;
}

// log(1 + f) for f above -1, 3 ulp.
float exact_log1p(float f) {
  precise float square = f * f;
  precise float cube = square * f;
  precise float near = f + (cube * exact_log_rest(f) - 0.5 * square);
  precise float x = 1.0 + f;
  return f > -0.2928932 && f < 0.41421356 ? near : exact_log(x);
}

// e^x, 2 ulp, for any x; below 2^-126 it may be 0.
float exact_exp(float x) {
  float a = clamp(x, -110.0, 90.0);
  precise float scaled = a * 1.44269504;
  float k = roundEven(scaled);
  precise float r = (a - k * 0.693359375) + k * 2.12194440e-4;
  precise float p = 0.00836888794 + r * 0.00139504857;
  p = 0.041666206 + r * p;
  p = 0.166665182 + r * p;
  p = 0.5 + r * p;
  precise float square = r * r;
  precise float y = 1.0 + (r + square * p);
  y = leat_scale(y, int(k));
  return leat_isnan(x) ? x : y;
}

// The root of x from 2^-60 to 2^60, or of 0, 2 ulp: Newton's steps to its reciprocal from a line through the exponent,
// which is off by 0.035; a step makes of an error e 1.5 e^2, so three leave 3.2e-11.
float exact_sqrt(float x) {
  precise float y = uintBitsToFloat(0x5f375a86u - (floatBitsToUint(x) >> 1));
  precise float half_x = 0.5 * x;
  for (int i = 0; i < 3; ++i) {
    precise float square = y * y;
    y = y * (1.5 - half_x * square);
  }
  precise float root = x * y;
  return x == 0.0 ? 0.0 : root;
}

// 1 / x for x up to 2^126, 2 ulp.
float exact_reciprocal(float x) {
  precise float y = uintBitsToFloat(0x7ef311c3u - floatBitsToUint(x));
  for (int i = 0; i < 4; ++i) {
    precise float rest = 1.0 - x * y;
    y = y + y * rest;
  }
  return y;
}

#endif
