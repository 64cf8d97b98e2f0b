/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rows that softmax and norms go through, and how threads share them.
 */
#ifndef LEAT_PLUGIN_OPS_NORM_ROW_SHARING_H_
#define LEAT_PLUGIN_OPS_NORM_ROW_SHARING_H_

#include "device/device.h"
#include "ops/core/op.h"

/** How rows are shared out over workgroups: reduce/kernels/rows.glsl, policy/tiling.h. A thread takes the elements of a
 * row in fours. */
typedef struct leati_row_sharing {
  uint32_t spec;      /**< the constant ROWS_SPEC */
  uint32_t group;     /**< threads to a workgroup */
  uint32_t parts;     /**< threads to a row */
  uint32_t per_group; /**< rows to a workgroup */
  uint32_t held;      /**< fours that a thread keeps in registers to have the whole row there; 0: it is too long */
} leati_row_sharing;

/** `along`: the elements of a row are neighbours in memory; else the rows are. */
leati_row_sharing leati_row_sharing_of(const leat_device *device, bool along, uint64_t rows, uint64_t count);

/** The kernel of a family that a device runs: by shuffles of subgroups where it has them. */
leati_kernel leati_row_kernel(const leat_device *device, leati_kernel_set plain, leati_kernel_set shuffled,
                              uint64_t type);

/** Fails if rows are so long that some drivers would leave the loop over one early. `name`: of the operator.
 * @errors NOT_SUPPORTED */
int32_t leati_check_row_rounds(const leat_device *device, const char *name, bool along, int64_t rows, int64_t count,
                               leat_error *err);
/** The same for an operator. */
int32_t leati_op_check_row_rounds(const leat_op *op, bool along, int64_t rows, int64_t count, leat_error *err);

/** Fails if kernels cannot count the elements of a view in 32 bits.
 * @errors NOT_SUPPORTED */
int32_t leati_check_rows_size(const leati_view *view, leat_error *err);

/** Whether kernels can take four elements at once: rows are made of whole fours, and each view that is there begins at
 * a multiple of the size of one. */
bool leati_rows_in_fours(int64_t count, const leati_view *const *views, uint32_t view_count);

#endif /* LEAT_PLUGIN_OPS_NORM_ROW_SHARING_H_ */
