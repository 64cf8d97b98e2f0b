// SPDX-License-Identifier: BSD-3-Clause
// Gamma distributed numbers by Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables" (2000).
#ifndef LEAT_GAMMA_GLSL_
#define LEAT_GAMMA_GLSL_

#include "philox.glsl"

// More attempts than that are not made: each fails with a probability of less than 0.05.
#define GAMMA_ATTEMPTS 64u

// Number `element` of shape `alpha`, from attempts that count from `attempt` on: as power * e^exponent. Not a number
// unless alpha is at least 0; there 0, as 0 * e^0.
void random_gamma(Random random, uint element, uint attempt, float alpha, out float power, out float exponent) {
  exponent = 0.0;
  power = alpha;
  // The deviation is less than rounding.
  if (alpha == 0.0 || alpha > 1.0e18) return;
  if (!(alpha > 0.0)) {
    power = leat_nan();
    return;
  }
  precise float d = (alpha < 1.0 ? alpha + 1.0 : alpha) - 0.333333343;
  precise float triple_root = 3.0 * exact_sqrt(d);
  float c = exact_reciprocal(triple_root);
  uvec4 words = uvec4(0u);
  precise float v = 1.0;
  for (uint k = 0u; k < GAMMA_ATTEMPTS; ++k) {
    words = random_words(random, element, attempt + k);
    float x, unused;
    random_normals(words.x, words.y, x, unused);
    precise float t = c * x;
    precise float one = 1.0 + t;
    if (one <= 0.0) continue;
    v = one * one * one;
    float u = random_positive(words.z);
    precise float square = x * x;
    precise float certain = 1.0 - 0.0331 * (square * square);
    if (u < certain) break;
    // x^2 / 2 + d (1 - v + log v) is d times 3 (log(1 + t) - t + t^2 / 2) - t^3, in which nearly all cancels out where
    // t is small.
    precise float cube = t * t * t;
    precise float near = 3.0 * cube * (exact_log_rest(t) - 0.333333343);
    precise float far = 3.0 * (exact_log(one) - t + 0.5 * t * t) - cube;
    precise float bound = d * (t > -0.2928932 && t < 0.41421356 ? near : far);
    if (exact_log(u) < bound) break;
    v = 1.0;
  }
  precise float product = d * v;
  power = product;
  // A number of a shape below 1 is one of that and 1, times an even one to the power 1 / alpha.
  precise float boost = exact_log(random_positive(words.w)) * exact_reciprocal(max(alpha, 1.0e-30));
  exponent = alpha < 1.0 ? boost : 0.0;
}

// Its logarithm.
float random_log_gamma(Random random, uint element, uint attempt, float alpha) {
  float power, exponent;
  random_gamma(random, element, attempt, alpha, power, exponent);
  precise float y = exact_log(min(power, 3.0e38)) + exponent;
  return leat_isnan(power) ? power : power == 0.0 ? -LEAT_INFINITY : y;
}

#endif
