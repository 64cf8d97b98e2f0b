/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * MatMul, Gemm and the fused ones: what other operators of products share with them.
 */
#ifndef LEAT_PLUGIN_OPS_MATMUL_H_
#define LEAT_PLUGIN_OPS_MATMUL_H_

#include "ops/op.h"

/** Whether a product c of two operands, whose last two dimensions are swapped if they are transposed, reads the first
 * or the second of them, a view, in place: so that sums are added up in the order in which those of a copy would be.
 * Products are cut in the same way then, and with few rows the same elements are read at once. */
bool leati_product_reads(const leat_device *device, const leati_view *a, const leati_view *b, const leati_view *c,
                         bool trans_a, bool trans_b, bool first);

#endif /* LEAT_PLUGIN_OPS_MATMUL_H_ */
