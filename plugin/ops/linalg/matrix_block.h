/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Steps on blocks of matrices of which factors and solutions of equations are made: one dispatch for all matrices of a
 * batch, each matrix by itself, and the terms of each sum in one order, whatever the device.
 */
#ifndef LEAT_PLUGIN_OPS_LINALG_MATRIX_BLOCK_H_
#define LEAT_PLUGIN_OPS_LINALG_MATRIX_BLOCK_H_

#include "ops/core/op.h"

/** Rows and columns of a block that one workgroup computes; kernels/matrix.glsl has it too. */
#define LEATI_BLOCK 32

/** A block of each matrix of a batch: of the last two dimensions of a compact tensor of float32 or float64. Strides are
 * in elements, and may be negative. */
typedef struct leati_block {
  const leati_view *tensor; /**< borrowed while the plan is made */
  int64_t begin, row, column, matrix;
  int64_t rows, columns;
} leati_block;

/** How many matrices a tensor of rank 2 or more has. */
uint32_t leati_matrices_of(const leati_view *tensor);
/** All of them, whole. */
leati_block leati_block_of(const leati_view *tensor);
/** A part of a block, */
leati_block leati_block_part(leati_block block, int64_t row, int64_t column, int64_t rows, int64_t columns);
/** its rows as columns, */
leati_block leati_block_transposed(leati_block block);
/** and its rows, or rows and columns, from the last to the first. */
leati_block leati_block_rows_reversed(leati_block block);
leati_block leati_block_reversed(leati_block block);

/** Blocks as argument records have them; the kernel declares `Block` (kernels/matrix.glsl). */
typedef struct leati_block_args {
  uint64_t tensor;
  int32_t begin, row, column, matrix;
} leati_block_args;
leati_block_args leati_block_args_of(const leati_block *block);

/** Plans x <- the solution of l x = x, with l lower triangular, of which nothing above the diagonal is read, nor with
 * `unit` the diagonal. Nothing is done for matrices whose element of `info`, if that is there, is not 0.
 * @errors those of leati_plan_dispatch() */
int32_t leati_plan_forward(leati_planner *planner, const leati_block *l, const leati_block *x, bool unit,
                           const leati_view *info, leat_error *err);

/** Plans c <- c - a b, likewise. With `lower` what is above c's diagonal stays.
 * @errors those of leati_plan_dispatch() */
int32_t leati_plan_subtract_product(leati_planner *planner, const leati_block *a, const leati_block *b,
                                    const leati_block *c, bool lower, const leati_view *info, leat_error *err);

/** Plans `info` <- for each matrix of a block the number, from 1, of the first element of its diagonal that is 0, or 0.
 * @errors those of leati_plan_dispatch() */
int32_t leati_plan_check_diagonal(leati_planner *planner, const leati_block *a, const leati_view *info,
                                  leat_error *err);

/** Gives `wanted` itself if it is there, else a temporary of a number (int32) for each of so many matrices.
 * @errors those of leati_plan_temporary() */
int32_t leati_plan_info(leati_planner *planner, const leati_view *wanted, uint32_t matrices, leati_view *out,
                        leat_error *err);

/** Fails unless the last two dimensions of input `i` are as many.
 * @errors INVALID_ARGUMENT */
int32_t leati_check_square(const leat_op *op, const leati_call *call, uint32_t i, leat_error *err);
/** Fails unless the right-hand sides, input `i`, fit the square matrices of input 0: the same batch, and as many rows,
 * or with `right` columns, as these have.
 * @errors INVALID_ARGUMENT */
int32_t leati_check_sides(const leat_op *op, const leati_call *call, uint32_t i, bool right, leat_error *err);
/** Shape of a number for each matrix of input 0. */
void leati_infer_info(const leati_call *call, leat_shape *out);

/** Elements of a dimension of a matrix at most: loops of kernels go along it. */
#define LEATI_MATRIX_MAX 16384

extern const leat_op_type leati_type_matrix;  /**< "T": float32, float64 */
extern const leat_op_type leati_type_integer; /**< "I": int32 */

#endif /* LEAT_PLUGIN_OPS_LINALG_MATRIX_BLOCK_H_ */
