/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operands of products as matrices.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_MATRIX_VIEW_H_
#define LEAT_PLUGIN_OPS_CORE_MATRIX_VIEW_H_

#include "ops/core/op.h"

/** An operand as a matrix: its last two dimensions, which are swapped if it is transposed; a vector becomes a row (a)
 * or a column (b). */
typedef struct leati_matrix {
  int64_t rows, columns, row_stride, column_stride;
  leati_view batch; /**< what remains: only rank, shape and strides count */
} leati_matrix;

/** A view of at least one dimension as a matrix. */
leati_matrix leati_matrix_of(const leati_view *view, bool transposed, bool vector_is_row);

/** Whether the elements of `view` lie within 2^31 elements from the first and no stride is negative: what kernels with
 * 32-bit strides can walk. */
bool leati_view_walkable(const leati_view *view);

/** Gives `view` itself if kernels can walk it, else a compact copy.
 * @errors NOT_SUPPORTED: it has 2^31 elements or more */
int32_t leati_plan_walkable(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err);

/** Fails if two operands, as far as their shapes are known, have no product, as leati_matrix_infer_product() would.
 * @errors INVALID_ARGUMENT */
int32_t leati_matrix_check_product(const char *name, const leat_value_info *a, const leat_value_info *b, bool trans_a,
                                   bool trans_b, leat_error *err);

/** The shape of the product of two operands, as that of MatMul; `name` is the operator's.
 * @errors INVALID_ARGUMENT: there is none */
int32_t leati_matrix_infer_product(const char *name, const leati_view *a, const leati_view *b, bool trans_a,
                                   bool trans_b, leat_shape *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_MATRIX_VIEW_H_ */
