/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardmax: 1 at the first of the largest elements along an axis, 0 elsewhere. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

/* Threads that share a line: kernels/hardmax.comp. */
#define THREADS 64

typedef struct hardmax_state {
  int64_t axis;
  bool flattens; /* before version 13 all dimensions from the axis on are one */
} hardmax_state;

static int32_t hardmax_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  hardmax_state *const state = leati_op_state(op);
  state->flattens = desc->since_version < 13;
  state->axis = leati_attr_int(desc, "axis", state->flattens ? 1 : -1);
  return LEAT_OK;
}

static int32_t hardmax_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const hardmax_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
  const uint64_t size = leati_product(x->shape, axis, state->flattens ? x->ndim : axis + 1);
  LEATI_TRY(leati_check_rounds(leati_op_device(op), 2 * (size / THREADS + 1), "Hardmax of so long lines", err));
  return leati_infer_same(op, call, out, err);
}

static int32_t hardmax_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const hardmax_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view x;
  int32_t axis;
  LEATI_TRY(leati_check_reach(y, "Hardmax", err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_axis(state->axis, y->ndim, &axis, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const int32_t behind = state->flattens ? y->ndim : axis + 1;
  const uint32_t size = (uint32_t)leati_product(y->shape, axis, behind);
  const uint32_t inner = (uint32_t)leati_product(y->shape, behind, y->ndim);
  const struct {
    uint64_t x, y;
    uint32_t lines, size, inner;
    leati_divider per_inner;
  } args = {.lines = (uint32_t)y->count / size, .size = size, .inner = inner, .per_inner = leati_divider_of(inner)};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_HARDMAX, y->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&x, &args.x}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, args.lines, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("Hardmax", "", (1, 13), (1, 1), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(hardmax_state), .least_rank = 1,
             .create = hardmax_create, .infer = hardmax_infer, LEATI_KERNELS(LEATI_KERNELS_HARDMAX),
             .plan = hardmax_plan),
};

const leati_op_family leati_hardmax_family = LEATI_FAMILY(ops);
