/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Sums of products of bytes, as quantised results.
 */
#ifndef LEAT_CONFORMANCE_REFERENCE_QUANTIZE_H_
#define LEAT_CONFORMANCE_REFERENCE_QUANTIZE_H_

#include "reference/ref_tensor.h"

/** Sets element `k` of a result of integers, and its bound, to a sum in float32 times the scales of the operands by
 * that of the result, plus the zero point, saturated: six roundings at most make `x`, and one a whole number of it,
 * which they may turn to the next.
 * @param y [inout] the result, with bounds */
void leati_ref_requantise(leati_ref_tensor *y, int64_t k, double x, int64_t zero_point);

#endif /* LEAT_CONFORMANCE_REFERENCE_QUANTIZE_H_ */
