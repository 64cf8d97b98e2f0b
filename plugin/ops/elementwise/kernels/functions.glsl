// SPDX-License-Identifier: BSD-3-Clause
// The operators of one number and of two, for the kernels that compute them alone and for those that do more: the same
// code, so the same numbers. `operation` is one of elementwise_codes.glsl, of the range that a function is for; p and q
// are its parameters. What the functions of one number give says functions.inc.
#ifndef LEAT_FUNCTIONS_GLSL_
#define LEAT_FUNCTIONS_GLSL_

#include "elementwise_codes.glsl"
#include "core/kernels/math.glsl"

// Of two zeros max() and min() give either, and what a compiler makes of them depends on what stands around: these take
// -0 for less than 0 wherever they stand. Equal numbers have the same bits but for zeros.
float function_max(float a, float b) {
  return a == b ? uintBitsToFloat(floatBitsToUint(a) & floatBitsToUint(b)) : max(a, b);
}
float function_min(float a, float b) {
  return a == b ? uintBitsToFloat(floatBitsToUint(a) | floatBitsToUint(b)) : min(a, b);
}

float function_gelu(float x) { return 0.5 * x * (1.0 + leat_erf(x * 0.707106781)); }
// max(0, x) + min(0, p (e^(x / p) - 1)). Where the formula has a product of 0 and infinity it is NaN, which min() need
// not keep; where x / p is tiny, and may be subnormal, p (e^(x / p) - 1) is x and a little.
float function_celu(float x, float p) {
  // A device may take a subnormal divisor for 0, with which this is another function.
  uint bits = floatBitsToUint(p);
  if ((bits & 0x7fffffffu) - 1u < 0x007fffffu) p = uintBitsToFloat((bits & 0x80000000u) | 0x00800000u);
  // Of a divisor above 2^126 a device need not know the reciprocal.
  float scale = abs(p) > 1.0e37 ? 9.765625e-4 : 1.0;
  float t = x * scale / (p * scale);
  float bend = p * leat_expm1(t);
  if (leat_isnan(p) || leat_isinf(p) || leat_isnan(bend)) return leat_nan();
  if (abs(t) < 1.0e-4) bend = x + 0.5 * x * t;
  return function_max(x, 0.0) + function_min(bend, 0.0);
}
float function_softplus(float x) { return max(x, 0.0) + leat_log1p(leat_exp(-abs(x))); }
float function_clip(float x, float low, float high) {
  if (leat_isnan(x) || leat_isnan(low) || leat_isnan(high)) return leat_nan();
  return function_min(function_max(x, low), high);
}

float function_hard_sigmoid(float x, float p, float q) {
  float line = p * x + q;
  return leat_isnan(line) ? line : min(function_max(line, 0.0), 1.0);
}

float function_exponential_of_number(int operation, float x, float p, float q) {
  switch (operation) {
#define EXPONENTIAL_FUNCTION(number, code, value) \
  case LEAT_EW_##code:                   \
    return value;
#include "elementwise/functions.inc"
    default:
      return x;
  }
}

// Comparisons let NaN through only by chance: here and below it is kept on purpose. Without a branch where the operation
// has none, so that a thread works on several numbers at once.
float function_exponential(int operation, float x, float p, float q) {
  float y = function_exponential_of_number(operation, x, p, q);
  return leat_isnan(x) ? x : y;
}

float function_trigonometric(int operation, float x, float p, float q) {
  if (leat_isnan(x)) return x;
  switch (operation) {
#define TRIGONOMETRIC_FUNCTION(number, code, value) \
  case LEAT_EW_##code:                   \
    return value;
#include "elementwise/functions.inc"
    default:
      return x;
  }
}

float function_plain_of_number(int operation, float x, float p, float q) {
  switch (operation) {
#define PLAIN_FUNCTION(number, code, value) \
  case LEAT_EW_##code:                   \
    return value;
#include "elementwise/functions.inc"
    default:
      return x;
  }
}

float function_plain(int operation, float x, float p, float q) {
  float y = function_plain_of_number(operation, x, p, q);
  // Every operation keeps NaN but those two, which choose 0 where no comparison holds.
  float kept = operation == LEAT_EW_THRESHOLDED_RELU || operation == LEAT_EW_SHRINK ? 0.0 : x;
  return leat_isnan(x) ? kept : y;
}

// An activation: LEAT_EW_IDENTITY, LEAT_EW_CLIP, or of one number and not trigonometric.
float function_activation(int operation, float x, float p, float q) {
  if (operation == LEAT_EW_CLIP) {
    return function_clip(x, p, q);
  }
  return operation >= LEAT_EW_FIRST_EXPONENTIAL ? function_exponential(operation, x, p, q)
                                                : function_plain(operation, x, p, q);
}

// `precise`, so that no device contracts it with what the caller does next.
precise float function_binary(int operation, float a, float b, float p) {
  switch (operation) {
    case LEAT_EW_ADD:
      return a + b;
    case LEAT_EW_SUB:
      return a - b;
    case LEAT_EW_MUL:
      return a * b;
    case LEAT_EW_DIV:
      return a / b;
    case LEAT_EW_MIN:
      return leat_isnan(a) ? a : leat_isnan(b) ? b : function_min(a, b);
    case LEAT_EW_MAX:
      return leat_isnan(a) ? a : leat_isnan(b) ? b : function_max(a, b);
    case LEAT_EW_PRELU:
      return leat_isnan(a) ? a : a < 0.0 ? a * b : a;
    default: // ADD_SCALED
      return (a + b) / p;
  }
}

float function_remainder(int operation, float a, float b) {
  float rest = leat_fmod(a, b);
  if (operation == LEAT_EW_FMOD || leat_isnan(rest)) return rest;
  // MOD: the sign of the divisor, also for zero.
  if (rest == 0.0) return b < 0.0 ? -0.0 : 0.0;
  return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

bool function_compare(int operation, float a, float b) {
  if (leat_isnan(a) || leat_isnan(b)) return false;
  switch (operation) {
    case LEAT_EW_EQUAL:
      return a == b;
    case LEAT_EW_LESS:
      return a < b;
    case LEAT_EW_GREATER:
      return a > b;
    case LEAT_EW_LESS_OR_EQUAL:
      return a <= b;
    default:
      return a >= b;
  }
}

#endif
