/* SPDX-License-Identifier: BSD-3-Clause */
/* TensorScatter: caches of keys and values, into which new positions are written. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_mode, "mode", STRING);

enum { PAST, UPDATE, PLACES };

typedef struct scatter_args {
  uint64_t past, fresh, at, to;
  uint32_t count, fresh_count;
  uint32_t inner;
  uint32_t rows, fresh_rows;
  uint32_t heads;
  uint32_t circular;
  uint64_t finding;
} scatter_args;

typedef struct scatter_state {
  int64_t axis;
  bool circular;
} scatter_state;

static int32_t tensor_scatter_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                       leat_error *err) {
  (void)device;
  return leati_attr(desc, "mode") == NULL || leati_attr_is(desc, "mode", "linear") ||
                 leati_attr_is(desc, "mode", "circular")
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'mode' is \"linear\" or \"circular\"", def->info.name);
}

static int32_t tensor_scatter_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(scatter_state *)leati_op_state(op) =
      (scatter_state){.axis = leati_attr_int(desc, "axis", -2), .circular = leati_attr_is(desc, "mode", "circular")};
  return LEAT_OK;
}

/* Finds the dimension of positions, and fails unless the update and the places go with the cache. */
static int32_t check_shapes(const leat_op *op, const leati_call *call, int32_t *out_axis, leat_error *err) {
  const scatter_state *const state = leati_op_state_const(op);
  const leati_view *const past = &call->inputs[PAST], *const update = &call->inputs[UPDATE],
                          *const places = leati_input(call, PLACES);
  LEATI_TRY(leati_axis(state->axis, past->ndim, out_axis, err));
  if (*out_axis == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "TensorScatter: 'axis' is 0, the dimension of batches");
  }
  bool fits = update->ndim == past->ndim;
  for (int32_t d = 0; fits && d < past->ndim; ++d) {
    fits = d == *out_axis ? update->shape[d] <= past->shape[d] : update->shape[d] == past->shape[d];
  }
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "TensorScatter: the update differs from the cache in more than dimension %d, or is larger there",
                      *out_axis);
  }
  return places == NULL || (places->ndim == 1 && places->shape[0] == past->shape[0])
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "TensorScatter: write_indices must have shape [%" PRId64 "], one for each batch",
                          past->shape[0]);
}

static int32_t tensor_scatter_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  int32_t axis;
  LEATI_TRY(check_shapes(op, call, &axis, err));
  return leati_infer_same(op, call, out, err);
}

/* An update of all positions may have the memory that is written. */
static int32_t set_apart(leati_planner *planner, const leati_call *call, leati_view *out, leat_error *err) {
  const leati_view *const update = &call->inputs[UPDATE];
  if (update->count != call->outputs[0].count) {
    return leati_plan_compact(planner, update, out, err);
  }
  *out = call->outputs[0];
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  return leati_plan_strided_copy(planner, update, out, err);
}

static int32_t tensor_scatter_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const scatter_state *const state = leati_op_state_const(op);
  const leati_view *const to = &call->outputs[0], *const places = leati_input(call, PLACES);
  leati_view past, fresh, at;
  int32_t axis;
  LEATI_TRY(check_shapes(op, call, &axis, err));
  LEATI_TRY(leati_check_reach(to, "TensorScatter", err));
  if (to->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[PAST], &past, err));
  LEATI_TRY(set_apart(planner, call, &fresh, err));
  if (places != NULL) {
    LEATI_TRY(leati_plan_compact(planner, places, &at, err));
  }
  const uint64_t row = leati_product(to->shape, axis + 1, to->ndim) * to->item_size;
  const uint32_t width = leati_item_width(row | past.address | fresh.address | to->address);
  scatter_args args = {.count = (uint32_t)(to->count * to->item_size / width),
                       .fresh_count = (uint32_t)(fresh.count * to->item_size / width),
                       .inner = (uint32_t)(row / width),
                       .rows = (uint32_t)to->shape[axis],
                       .fresh_rows = (uint32_t)fresh.shape[axis],
                       .heads = (uint32_t)leati_product(to->shape, 1, axis),
                       .circular = state->circular};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_TENSOR_SCATTER, width),
                   .constants.tensor_scatter = {.place_is_told = planner->guarded}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&past, &args.past}, {&fresh, &args.fresh}, {places != NULL ? &at : NULL, &args.at}),
      LEATI_WRITES({to, &args.to}),
      .finding = &args.finding,
      .fault = LEATI_FAULT_BEGIN,
      .name = leati_op_def_of(op)->info.name,
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("TensorScatter", "", (24, 24), (2, 3), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_mode), LEATI_INPUT_TYPES(0, 0, 1),
             .state_size = sizeof(scatter_state), .least_rank = 2, .supports = tensor_scatter_supports,
             .create = tensor_scatter_create, .infer = tensor_scatter_infer,
             LEATI_KERNELS(LEATI_KERNELS_TENSOR_SCATTER), .plan = tensor_scatter_plan, .updates = true),
};

const leati_op_family leati_tensor_scatter_family = LEATI_FAMILY(ops);
