/* SPDX-License-Identifier: BSD-3-Clause */
/* OneHot: a new dimension, along which the second of two values stands at the place that an index names, and the first
 * everywhere else. How long it is comes from the host, for the shape of the result follows from it. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

enum { INPUT_INDICES, INPUT_DEPTH, INPUT_VALUES };

#define TYPES_INDEX (LEAT_TYPE_INT64 | LEAT_TYPE_INT32 | LEAT_TYPE_FLOAT32)

typedef struct one_hot_state {
  int64_t axis;
} one_hot_state;

static int32_t one_hot_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)device;
  const int32_t rank = desc->inputs[INPUT_INDICES].ndim;
  return rank < 0 ? LEAT_OK : leati_check_rank(def->info.name, (int64_t)rank + 1, err);
}

static int32_t one_hot_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((one_hot_state *)leati_op_state(op))->axis = leati_attr_int(desc, "axis", -1);
  return LEAT_OK;
}

/* Reads the depth; a fraction is cut off, as ONNX Runtime does. */
static int32_t read_depth(const leati_view *view, int64_t *out, leat_error *err) {
  if (view->count != 1 || view->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "OneHot: depth has %" PRIu64 " elements and rank %d; it must be one number, of rank 0 or 1",
                      view->count, view->ndim);
  }
  if (view->type == LEAT_TYPE_FLOAT32) {
    const float depth = leati_real_of(view->type, view->data);
    *out = depth >= 1 && depth < (float)INT32_MAX ? (int64_t)depth : 0;
  } else {
    *out = leati_host_int(view, 0);
  }
  return *out >= 1 && *out <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "OneHot: depth must be a number from 1 to %d", INT32_MAX);
}

static int32_t one_hot_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const one_hot_state *const state = leati_op_state_const(op);
  const leati_view *const indices = &call->inputs[INPUT_INDICES], *const values = &call->inputs[INPUT_VALUES];
  int32_t axis;
  int64_t depth = 0;
  LEATI_TRY(leati_check_rank("OneHot", (int64_t)indices->ndim + 1, err));
  LEATI_TRY(leati_axis(state->axis, indices->ndim + 1, &axis, err));
  if (values->ndim != 1 || values->shape[0] != 2) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "OneHot: values must have shape [2], the value elsewhere and the value at an index");
  }
  LEATI_TRY(read_depth(&call->inputs[INPUT_DEPTH], &depth, err));
  out->ndim = indices->ndim + 1;
  for (int32_t d = 0; d < out->ndim; ++d) {
    out->dims[d] = d < axis ? indices->shape[d] : d == axis ? depth : indices->shape[d - 1];
  }
  return LEAT_OK;
}

static int32_t one_hot_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const one_hot_state *const state = leati_op_state_const(op);
  const leati_view *const to = &call->outputs[0];
  leati_view indices, values;
  int32_t axis;
  LEATI_TRY(leati_check_reach(to, "OneHot", err));
  if (to->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_axis(state->axis, to->ndim, &axis, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_INDICES], &indices, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_VALUES], &values, err));
  const uint32_t depth = (uint32_t)to->shape[axis], inner = (uint32_t)leati_product(to->shape, axis + 1, to->ndim);
  const struct {
    uint64_t indices, values, to;
    uint32_t count, inner, depth;
    leati_divider per_inner, per_depth;
  } args = {.count = (uint32_t)to->count,
            .inner = inner,
            .depth = depth,
            .per_inner = leati_divider_of(inner),
            .per_depth = leati_divider_of(depth)};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_ONE_HOT, to->item_size),
                   .constants.one_hot = {.index_is_32 = indices.type == LEAT_TYPE_INT32,
                                         .index_is_real = indices.type == LEAT_TYPE_FLOAT32}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&indices, &args.indices}, {&values, &args.values}),
      LEATI_WRITES({to, &args.to})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static LEATI_TYPE(type_indices, "T1", TYPES_INDEX);
static LEATI_TYPE(type_depth, "T2", TYPES_INDEX);
static LEATI_TYPE(type_values, "T3", LEATI_TYPES_HELD);

static const leati_op_def ops[] = {
    LEATI_OP("OneHot", "", (9, 28), (3, 3), (1, 1), .info.flags = LEAT_OP_GROWS, .info.host_inputs = 1u << INPUT_DEPTH,
             LEATI_TYPES(&type_indices, &type_depth, &type_values), LEATI_ATTRIBUTES(&leati_attribute_axis),
             LEATI_INPUT_TYPES(0, 1, 2), LEATI_OUTPUT_TYPES(2), .state_size = sizeof(one_hot_state),
             .supports = one_hot_supports, .create = one_hot_create, .infer = one_hot_infer,
             LEATI_KERNELS(LEATI_KERNELS_ONE_HOT), .plan = one_hot_plan),
};

const leati_op_family leati_one_hot_family = LEATI_FAMILY(ops);
