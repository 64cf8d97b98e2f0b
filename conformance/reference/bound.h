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
#ifndef LEAT_CONFORMANCE_REFERENCE_BOUND_H_
#define LEAT_CONFORMANCE_REFERENCE_BOUND_H_

#include <float.h>
#include <math.h>
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

/** Bound of a sum of `terms` float32 terms, each rounded once, whose magnitudes add up to `magnitude`, in any order of
 * summation: (n + 2) 2^-24 times the magnitude (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1: n u / (1
 * - n u) with u = 2^-24 for n operations; the 2 covers the denominator and the final store). A device may take every
 * denormal term and partial sum for 0, which is less than FLT_MIN away. */
static inline double leati_ref_bound_sum(int64_t terms, double magnitude) {
  return (double)(terms + 2) * 0x1p-24 * magnitude + (double)(2 * terms + 1) * FLT_MIN;
}

#endif /* LEAT_CONFORMANCE_REFERENCE_BOUND_H_ */
