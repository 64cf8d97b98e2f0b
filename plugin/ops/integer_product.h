/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Products of matrices of bytes, for all families whose operators come down to one.
 */
#ifndef LEAT_PLUGIN_OPS_INTEGER_PRODUCT_H_
#define LEAT_PLUGIN_OPS_INTEGER_PRODUCT_H_

#include "ops/op.h"

/** Element types of operands, and of results that have a scale. */
#define LEATI_TYPES_BYTE (LEAT_TYPE_INT8 | LEAT_TYPE_UINT8)

/** c is the product of a - a_zero and b - b_zero, of int8 or uint8 each, with shapes as those of MatMul: its sums,
 * int32, modulo 2^32. With a scale of each operand, c is of float32: a sum times the product of the scales of its row
 * and column, plus the bias of its column, each rounded. With one of the result too, c is of int8 or uint8: a sum, with
 * the bias of its row, times the scales of row and column by that of the result, rounded, plus y_zero. */
typedef struct leati_integer_product {
  const leati_view *a, *b, *c; /**< c is compact */
  const leati_view *bias;      /**< NULL, as of sums; or int32 for each row, of as many matrices as repeat in the batch;
                                  where c is of      float32, that for each column */
  /** NULL, or one for all, or one for each row (column), with dimensions of an operand that they broadcast to; y_zero
   * is one. */
  const leati_view *a_zero, *b_zero, *y_zero;
  /** Floats. All are NULL, or none is, or y_scale alone; where a_zero (b_zero) is not one for all it has the shape of
   * the scale. */
  const leati_view *a_scale, *b_scale, *y_scale;
} leati_integer_product;

/** Plans such a product. Nothing is done when c has no elements.
 * @errors NOT_SUPPORTED: an operand spans 2^31 elements or more */
int32_t leati_plan_integer_product(leati_planner *planner, const leati_integer_product *product, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_INTEGER_PRODUCT_H_ */
