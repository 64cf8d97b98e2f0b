/* SPDX-License-Identifier: BSD-3-Clause */
/* CumSum, CumProd: running sums and products along an axis. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"

static LEATI_TYPE(type_sum, "T", LEATI_TYPES_OF_CUMSUM | LEATI_TYPES_HALF);
static LEATI_TYPE(type_sum_axis, "T2", LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_exclusive, "exclusive", INT);
static LEATI_ATTRIBUTE(attribute_reverse, "reverse", INT);

typedef struct cumsum_state {
  bool exclusive, reverse;
} cumsum_state;

static int32_t cumsum_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  cumsum_state *const state = leati_op_state(op);
  state->exclusive = leati_attr_int(desc, "exclusive", 0) != 0;
  state->reverse = leati_attr_int(desc, "reverse", 0) != 0;
  return LEAT_OK;
}

typedef struct cumsum_args {
  uint64_t src, dst;
  uint32_t rows, steps, begin, end, inner, exclusive, reverse;
} cumsum_args;

#define ROWS_PER_GROUP 64
/* Elements of a row that one dispatch adds: fewer than the rounds that every device gives a loop. */
#define STEPS_PER_DISPATCH (LEATI_ROUNDS_MAX / 2)

static int32_t cumsum_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const axis_view = &call->inputs[1];
  int32_t axis;
  if (axis_view->count != 1 || axis_view->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'axis' has %" PRIu64 " elements; expected a scalar",
                      leati_op_def_of(op)->info.name, axis_view->count);
  }
  LEATI_TRY(leati_axis(leati_host_int(axis_view, 0), call->inputs[0].ndim, &axis, err));
  return leati_infer_same(op, call, out, err);
}

static int32_t cumsum_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const cumsum_state *const state = leati_op_state_const(op);
  const leati_view *const dst = &call->outputs[0];
  if (dst->count == 0) {
    return LEAT_OK;
  }
  int32_t axis;
  leati_view src, results = *dst;
  LEATI_TRY(leati_axis(leati_host_int(&call->inputs[1], 0), dst->ndim, &axis, err));
  LEATI_TRY(leati_check_reach(&call->inputs[0], def->info.name, err));
  LEATI_TRY(leati_check_reach(dst, def->info.name, err));
  const bool wide = (dst->type & LEATI_TYPES_HALF) != 0;
  if (wide) {
    /* One dispatch goes on from the results of the one before, which are not rounded. */
    LEATI_TRY(leati_plan_wide(planner, dst, &src, err));
    LEATI_TRY(leati_plan_wide(planner, dst, &results, err));
    LEATI_TRY(leati_plan_cast(planner, &call->inputs[0], &src, err));
  } else {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &src, err));
  }
  const uint64_t steps = (uint64_t)dst->shape[axis];
  cumsum_args args = {
      .rows = (uint32_t)(dst->count / steps),
      .steps = (uint32_t)steps,
      .inner = (uint32_t)leati_product(dst->shape, axis + 1, dst->ndim),
      .exclusive = state->exclusive ? 1 : 0,
      .reverse = state->reverse ? 1 : 0,
  };
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(def->kernels[0], src.type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&src, &args.src}, {&results, &args.dst}),
      LEATI_WRITES({&results, &args.dst}),
  };
  leati_groups_linear(planner->device, args.rows, ROWS_PER_GROUP, dispatch.groups);
  while (args.end < args.steps) {
    args.begin = args.end;
    args.end = args.steps - args.begin > STEPS_PER_DISPATCH ? args.begin + STEPS_PER_DISPATCH : args.steps;
    dispatch.read_count = args.begin == 0 ? 1 : 2;
    LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  }
  return wide ? leati_plan_cast(planner, &results, dst, err) : LEAT_OK;
}

#define RUNNING(name, versions, kernels)                                                                            \
  LEATI_OP(name, "", versions, (2, 2), (1, 1), .info.host_inputs = 1u << 1, LEATI_TYPES(&type_sum, &type_sum_axis), \
           LEATI_ATTRIBUTES(&attribute_exclusive, &attribute_reverse), LEATI_INPUT_TYPES(0, 1),                     \
           .state_size = sizeof(cumsum_state), .least_rank = 1, .create = cumsum_create, .infer = cumsum_infer,     \
           LEATI_KERNELS(kernels), .plan = cumsum_plan)

static const leati_op_def ops[] = {
    RUNNING("CumSum", (11, 14), LEATI_KERNELS_CUMSUM),
    RUNNING("CumProd", (26, 26), LEATI_KERNELS_CUMPROD),
};

const leati_op_family leati_cumsum_family = LEATI_FAMILY(ops);
