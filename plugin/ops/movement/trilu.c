/* SPDX-License-Identifier: BSD-3-Clause */
/* Trilu. */
#include "ops/movement/trilu.h"

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_upper, "upper", INT);

typedef struct trilu_args {
  uint64_t src, dst;
  uint32_t count, rows, columns;
  int32_t diagonal;
  uint32_t upper;
} trilu_args;

typedef struct trilu_state {
  bool upper;
} trilu_state;

static int32_t trilu_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  trilu_state *const state = leati_op_state(op);
  state->upper = leati_attr_int(desc, "upper", 1) != 0;
  return LEAT_OK;
}

static int32_t trilu_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const k = leati_input(call, 1);
  if (call->inputs[0].ndim < 2 || (k != NULL && k->count != 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Trilu: the input must have rank 2 or more and 'k' be a scalar");
  }
  return leati_infer_same(op, call, out, err);
}

int32_t leati_plan_trilu(leati_planner *planner, const leati_view *src, const leati_view *dst, bool upper,
                         int32_t diagonal, leat_error *err) {
  leati_view from;
  LEATI_TRY(leati_plan_compact(planner, src, &from, err));
  LEATI_TRY(leati_check_reach(dst, "Trilu", err));
  const trilu_args args = {
      .count = (uint32_t)dst->count,
      .rows = (uint32_t)dst->shape[dst->ndim - 2],
      .columns = (uint32_t)dst->shape[dst->ndim - 1],
      .diagonal = diagonal,
      .upper = upper ? 1 : 0,
  };
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_TRILU, dst->item_size)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&from, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t trilu_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const trilu_state *const state = leati_op_state_const(op);
  const leati_view *const k = leati_input(call, 1);
  const int32_t diagonal = k == NULL ? 0 : (int32_t)leati_clamp(leati_host_int(k, 0), -INT32_MAX, INT32_MAX);
  return call->outputs[0].count == 0
             ? LEAT_OK
             : leati_plan_trilu(planner, &call->inputs[0], &call->outputs[0], state->upper, diagonal, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define TRILU(domain, versions)                                                                                 \
  LEATI_OP("Trilu", domain, versions, (1, 2), (1, 1), .info.host_inputs = 1u << 1,                              \
           LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_ATTRIBUTES(&attribute_upper),               \
           LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(trilu_state), .least_rank = 2, .create = trilu_create, \
           .infer = trilu_infer, LEATI_KERNELS(LEATI_KERNELS_TRILU), .plan = trilu_plan)

static const leati_op_def ops[] = {
    TRILU("", (14, 14)),
    TRILU("com.microsoft", (1, 1)),
};

const leati_op_family leati_trilu_family = LEATI_FAMILY(ops);
