/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How near to their bounds results came, by element type.
 *
 * Errors and bounds are told in units in the last place (ULP) of the expected number in its type. In a type of 16 bits
 * the bound is that of computing in float32 and rounding to the type.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_ACCURACY_H_
#define LEAT_CONFORMANCE_OPS_CORE_ACCURACY_H_

#include "ops/core/ref_tensor.h"

/** Of the elements of a type the one whose error is the largest part of its bound. */
typedef struct leati_ref_accuracy {
  double error; /**< ULP */
  double bound; /**< ULP; 0: all were exact, and had to be */
} leati_ref_accuracy;

/** Puts the worse of two in the place of the first. */
void leati_ref_accuracy_worse(leati_ref_accuracy *inout, leati_ref_accuracy other);

/** Notes a result that agrees with what was expected, for leati_ref_accuracy_take(). Integers say
 * nothing, nor do numbers that are not finite or not normal, which a device may take for 0.
 * @threads any
 * @param expected [in] what the reference computed
 * @param bytes [in] `expected->count` elements as the device wrote them */
void leati_ref_accuracy_note(const leati_ref_tensor *expected, const void *bytes);

/** What was noted of a type since this was last called for it.
 * @threads any
 * @param type element type
 * @param out [out] written if the function returns true
 * @return whether anything was */
bool leati_ref_accuracy_take(leati_ref_type type, leati_ref_accuracy *out);

#endif /* LEAT_CONFORMANCE_OPS_CORE_ACCURACY_H_ */
