/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Products of matrices of int8 or uint8, for all families whose operators come down to one.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_INTEGER_PRODUCT_H_
#define LEAT_PLUGIN_OPS_PRODUCT_INTEGER_PRODUCT_H_

#include "ops/core/op.h"

/** c is the product of a - a_zero and b - b_zero, of int8 or uint8 each, with shapes as those of MatMul. What becomes
 * of a sum, which is int32, modulo 2^32: without scales  c is of int32: the sum; a_scale and b_scale  c is of float32:
 * the sum times the product of the scales of its row and column, plus its bias, of float32, each rounded; with `relu` 0
 * where that is negative; y_scale too, and `floats`  c is of int8 or uint8: such a float, quantised as QuantizeLinear
 * does; y_scale too  c is of int8 or uint8: the sum, with its bias, of int32, times the scales of row and column by
 * that of the result, rounded, plus y_zero. */
typedef struct leati_integer_product {
  const leati_view *a, *b, *c; /**< c is compact, but for its rows: */
  int64_t c_row;               /**< elements from one to the next, of all batches; 0: as many as a row has */
  /** NULL, or for each column; with `row_bias` for each row, of as many matrices as repeat in the batch. */
  const leati_view *bias;
  bool row_bias, floats, relu;
  bool trans_b; /**< the last two dimensions of b are swapped; b_scale and b_zero have no more than one dimension */
  /** NULL, or one for all, or one for each row (column), with dimensions of an operand that they broadcast to; y_zero
   * is one. */
  const leati_view *a_zero, *b_zero, *y_zero;
  /** Floats. All are NULL, or y_scale alone is, or none; where a_zero (b_zero) is not one for all it has the shape of
   * the scale. */
  const leati_view *a_scale, *b_scale, *y_scale;
} leati_integer_product;

/** Type of such a result, by which of the scales and zero points there are. */
uint64_t leati_integer_product_type(const leati_view *a_scale, const leati_view *y_scale, const leati_view *y_zero);
/** Reads `relu` from the attribute `activation`.
 * @errors NOT_SUPPORTED: it names another function than Relu */
int32_t leati_integer_product_read(const leati_op_def *def, const leati_op_desc *desc, bool *out_relu, leat_error *err);

/** Plans such a product. Nothing is done when c has no elements.
 * @errors NOT_SUPPORTED: an operand spans 2^31 elements or more */
int32_t leati_plan_integer_product(leati_planner *planner, const leati_integer_product *product, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_INTEGER_PRODUCT_H_ */
