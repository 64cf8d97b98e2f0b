/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Dimensions: axes, broadcasting, shapes that come as inputs, and the strides that kernels walk by.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_DIMS_H_
#define LEAT_PLUGIN_OPS_CORE_DIMS_H_

#include "ops/core/op.h"

/** Whether two lists of numbers are the same. A loop, because most are short: a call would take longer. */
static inline bool leati_same_numbers(const int64_t *a, const int64_t *b, int32_t count) {
  int32_t i = 0;
  while (i < count && a[i] == b[i]) {
    ++i;
  }
  return i == count;
}

/** Turns an axis that may be negative into [0, rank). */
int32_t leati_axis(int64_t axis, int32_t rank, int32_t *out, leat_error *err);
/** The same for `count` axes, of which no two may be the same. `what` names them in messages. */
int32_t leati_axes(const int64_t *axes, uint32_t count, int32_t rank, const char *what, int32_t *out, leat_error *err);
/** Fails unless `rank` is one that a result of the operator `name` may have.
 * @errors NOT_SUPPORTED */
int32_t leati_check_rank(const char *name, int64_t rank, leat_error *err);
/** leati_op_def::supports of an operator whose result has as many dimensions as its last input, a list of sizes, has
 * elements.
 * @errors NOT_SUPPORTED */
int32_t leati_sizes_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err);
/** NumPy broadcasting of two shapes; `*inout` starts as one of them. */
int32_t leati_broadcast(int32_t *inout_ndim, int64_t *inout_dims, int32_t ndim, const int64_t *dims, leat_error *err);
/** Whether a dimension can be as large as another one; -1: it is not known. */
static inline bool leati_may_equal(int64_t a, int64_t b) {
  return a < 0 || b < 0 || a == b;
}
/** Fails if shapes, as far as they are known, do not broadcast: where a dimension of any of them is not known yet,
 * nothing is inferred, and what contradicts itself all the same would be refused as late as in each run. Those without
 * known rank are skipped. */
int32_t leati_check_broadcast(const leat_value_info *infos, uint32_t count, leat_error *err);
/** Reads a host tensor of int64 or int32 with rank 0 or 1 into `out[capacity]`. `what` names it in messages. */
int32_t leati_read_ints(const leati_view *view, const char *what, uint32_t capacity, int64_t *out, uint32_t *out_count,
                        leat_error *err);
/** Strides of `view` when it is broadcast to `ndim` dimensions `dims`: 0 where it is repeated. */
void leati_broadcast_strides(const leati_view *view, int32_t ndim, const int64_t *dims, int64_t *out);
/** Strides of `view` with another shape of as many elements; false: no strides give it. */
bool leati_reshape_strides(const leati_view *view, int32_t ndim, const int64_t *shape, int64_t *out);
/** Drops dimensions of size 1 and joins dimensions that all `operands` walk through in one stride, so that kernels see
 * few of them. `strides[i]` are the strides of operand i. Rank 0 comes out as one dimension of size 1. Returns the new
 * rank. */
int32_t leati_collapse(int32_t ndim, int64_t *dims, uint32_t operands, int64_t (*strides)[LEAT_MAX_RANK]);
/** Shape of output 0 for an operator whose output looks like input 0. */
int32_t leati_infer_same(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_DIMS_H_ */
