/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Reductions, for all families whose operators come down to one, and how kernels that work on rows share them out.
 */
#ifndef LEAT_PLUGIN_OPS_REDUCE_REDUCE_H_
#define LEAT_PLUGIN_OPS_REDUCE_REDUCE_H_

#include "ops/core/op.h"

/** What a reduction computes. */
typedef enum leati_reduction {
  LEATI_REDUCE_SUM,
  LEATI_REDUCE_MEAN,
  LEATI_REDUCE_MAX,
  LEATI_REDUCE_MIN,
  LEATI_REDUCE_PROD,
  LEATI_REDUCE_L1,
  LEATI_REDUCE_L2,
  LEATI_REDUCE_SUM_SQUARE,
  LEATI_REDUCE_LOG_SUM,
  LEATI_REDUCE_LOG_SUM_EXP,
  LEATI_REDUCE_COUNT
} leati_reduction;

/** Plans the reduction of `x` over the dimensions whose bit is set in `axes`. `y` is compact, of x's type (one of
 * LEATI_TYPES_REAL, int32 or int64; from L1 on one of the former), and has the elements of the other dimensions in
 * order.
 * @errors NOT_SUPPORTED: 2^31 elements or more */
int32_t leati_plan_reduction(leati_planner *planner, leati_reduction reduction, const leati_view *x, uint32_t axes,
                             const leati_view *y, leat_error *err);

/** How `rows` rows of `count` elements are shared out over workgroups of 256 threads (kernels/rows.glsl). */
typedef struct leati_rows {
  uint32_t spec;      /**< the constant ROWS_SPEC */
  uint32_t parts;     /**< threads to a row */
  uint32_t per_group; /**< rows to a workgroup */
} leati_rows;

/** The constant ROWS_SPEC for so many threads to a row. */
uint32_t leati_rows_spec(bool along, uint32_t parts);

/** Chooses by the shape (policy/tiling.h). `along`: the elements of a row are neighbours in memory; else the rows
 * are. */
leati_rows leati_rows_choose(bool along, uint64_t rows, uint64_t count);

#endif /* LEAT_PLUGIN_OPS_REDUCE_REDUCE_H_ */
