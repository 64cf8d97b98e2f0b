/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How far a float32 result may be off, from what the Vulkan specification promises of shader instructions.
 *
 * The table "Precision and Operation of SPIR-V Instructions" (appendix "Vulkan Environment for SPIR-V") gives for
 * 32-bit floats: addition, subtraction and multiplication correctly rounded (in a direction that is not fixed, hence
 * one unit in the last place, ULP, not half of one), division 2.5 ULP, exp and exp2 3 + 2|x| ULP, log and log2 3 ULP,
 * or 2^-21 in absolute terms between 0.5 and 2, pow as exp2(y log2(x)), inversesqrt 2 ULP, sqrt as 1 / inversesqrt, sin
 * and cos 2^-11 in absolute terms between -pi and pi, atan and atan2 4096 ULP, the other functions of angles and their
 * hyperbolic kin what the formulas give that it names for them, and it lets denormal inputs and results be flushed to
 * zero.
 *
 * One ULP of a normal number v is at most 2^-23 |v|; bounds are written with that number, and combined with the usual
 * first-order rules. The flush of denormals adds FLT_MIN to every bound of an arithmetic result. The backend's own
 * choice of formula is not known here: where an operator has no instruction of its own, the bound is that of the
 * textbook formula that the comment names.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_BOUND_H_
#define LEAT_CONFORMANCE_OPS_CORE_BOUND_H_

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** One ULP relative to the value. */
#define LEATI_REF_ULP 0x1p-23

/** Bound of a result that is off by `ulps` units in the last place. */
static inline double leati_ref_bound_ulps(double value, double ulps) {
  return ulps * LEATI_REF_ULP * fabs(value) + FLT_MIN;
}

/** Relative error of exp() and exp2() at an argument. */
static inline double leati_ref_bound_exp(double x) {
  return (3 + 2 * fabs(x)) * LEATI_REF_ULP;
}

/** Absolute error of log() and log2(), whose value is `result`, at an argument. */
static inline double leati_ref_bound_log(double x, double result) {
  return x >= 0.5 && x <= 2 ? 0x1p-21 : 3 * LEATI_REF_ULP * fabs(result);
}

/** Relative error of a power, x positive, as exp2(y log2 x): the logarithm's error times y, the rounding of the
 * product, and the exponential's own error. */
static inline double leati_ref_bound_pow(double x, double y) {
  const double logarithm = log2(x), z = y * logarithm;
  const double argument = fabs(y) * leati_ref_bound_log(x, logarithm) + fabs(z) * LEATI_REF_ULP;
  return leati_ref_bound_exp(z) + expm1(0.6931471805599453 * argument);
}

/** Bound of a sum of `terms` float32 terms, each rounded once, whose magnitudes add up to `magnitude`, in any order of
 * summation: (n + 2) 2^-24 times the magnitude (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1: n u / (1
 * - n u) with u = 2^-24 for n operations; the 2 covers the denominator and the final store). A device may take every
 * denormal term and partial sum for 0, which is less than FLT_MIN away. */
static inline double leati_ref_bound_sum(int64_t terms, double magnitude) {
  return (double)(terms + 2) * 0x1p-24 * magnitude + (double)(2 * terms + 1) * FLT_MIN;
}

/** Whether sums of products of float32 may be as inexact as the setting LEAT_FLOAT32_MATMUL=fast of Leat's own backend
 * has them; false at first. Set before any thread computes. */
extern bool leati_ref_fast_float32;

/** Products, added up. */
typedef struct leati_ref_products {
  double sum;
  double magnitude; /**< sum of |a b| */
  double factors;   /**< sum of |a| + |b| */
} leati_ref_products;

/** Adds one. */
static inline void leati_ref_add_product(leati_ref_products *to, double a, double b) {
  to->sum += a * b;
  to->magnitude += fabs(a * b);
  to->factors += fabs(a) + fabs(b);
}

/** Bound of such a sum of so many terms, of float32 or of another type. Fast sums of float32 have three products of
 * parts in the place of each, whose magnitudes add up to no more than 1.02 |a b|, and lack 3.01 2^-16 |a b| and 2^-125
 * (|a| + |b|) of each: the parts of a factor are what 8 significant bits hold of it, to nearest, and of what is left
 * then, cut off, so that the product of the second parts is missing and what is left of both factors, 2^-16 each.
 * plugin/core/config.h of Leat has it step by step. */
static inline double leati_ref_bound_products(int64_t terms, const leati_ref_products *of, bool float32) {
  if (!float32 || !leati_ref_fast_float32) {
    return leati_ref_bound_sum(terms, of->magnitude);
  }
  return leati_ref_bound_sum(3 * terms, 1.02 * of->magnitude) + 3.01 * 0x1p-16 * of->magnitude + 0x1p-125 * of->factors;
}

#endif /* LEAT_CONFORMANCE_OPS_CORE_BOUND_H_ */
