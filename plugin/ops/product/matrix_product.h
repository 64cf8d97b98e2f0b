/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Products of views of matrices: how they become a leati_gemm, and which operands are read in place.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_MATRIX_PRODUCT_H_
#define LEAT_PLUGIN_OPS_PRODUCT_MATRIX_PRODUCT_H_

#include "ops/product/gemm.h"

/** Whether a product c of two operands, whose last two dimensions are swapped if they are transposed, reads the first
 * or the second of them, a view, in place: so that sums are added up in the order in which those of a copy would be.
 * Products are cut in the same way then, and with few rows the same elements are read at once. */
bool leati_product_reads(const leat_device *device, const leati_view *a, const leati_view *b, const leati_view *c,
                         bool trans_a, bool trans_b, bool first);

/** The product of a with one matrix b, whose dimensions are swapped if it is transposed, alpha 1, with a bias that has
 * an element for each column (NULL: none). The batch are the dimensions of a before its last two. */
leati_gemm leati_product_of(const leati_view *a, const leati_view *b, const leati_view *c, const leati_view *bias,
                            bool trans_b);

/** Whether the kernel of such a product, which has elements, multiplies a by a factor; `norm`: and normalises its rows.
 * A residual has to be compact and as large as c. */
bool leati_product_takes_factor(const leat_device *device, const leati_view *a, const leati_view *b,
                                const leati_view *c, bool trans_b, bool norm);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_MATRIX_PRODUCT_H_ */
