/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Results of operators that quantise what they compute.
 */
#ifndef LEAT_CONFORMANCE_OPS_QUANTIZE_REFERENCE_H_
#define LEAT_CONFORMANCE_OPS_QUANTIZE_REFERENCE_H_

#include "ops/core/node.h"
#include "ops/core/ref_tensor.h"

/** Sets element `k` of a result of integers, and its bound, to a sum in float32 times the scales of the operands by
 * that of the result, plus the zero point, saturated: six roundings at most make `x`, and one a whole number of it,
 * which they may turn to the next.
 * @param y [inout] the result, with bounds */
void leati_ref_requantise(leati_ref_tensor *y, int64_t k, double x, int64_t zero_point);

/** What becomes of output 0 of a node, of floats with bounds: 0 where it is negative if the attribute `activation` is
 * Relu, and with a scale quantised as QuantizeLinear does, with a bound.
 * @param scale [in] NULL: it stays of floats; else with one element, as `zero`, which may be NULL */
bool leati_ref_quantise_output(leati_ref_node *node, const leati_ref_tensor *scale, const leati_ref_tensor *zero);
/** The same for a number that lies between two floats and is quantised by a scale as QuantizeLinear does. */
void leati_ref_quantise(leati_ref_tensor *y, int64_t k, double low, double high, double scale, int64_t zero_point);

/** The scale and the zero point that DynamicQuantizeLinear finds for the elements of a tensor, and the byte that stands
 * for one of them. */
typedef struct leati_ref_dynamic {
  double scale;
  int64_t zero;
} leati_ref_dynamic;
leati_ref_dynamic leati_ref_dynamic_of(const leati_ref_tensor *x);
int64_t leati_ref_dynamic_byte(leati_ref_dynamic by, double x);

#endif /* LEAT_CONFORMANCE_OPS_QUANTIZE_REFERENCE_H_ */
