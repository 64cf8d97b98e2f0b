/* SPDX-License-Identifier: BSD-3-Clause */
/* LpNormalization: the elements along one dimension, divided by their norm. */
#include <inttypes.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/norm/row_sharing.h"

static LEATI_ATTRIBUTE(attribute_p, "p", INT);

typedef struct lp_state {
  int64_t axis;
  bool squares;
} lp_state;

/* The rows along the axis: their elements, and how far those lie apart. */
static int32_t lp_lines(const leat_op *op, const leati_view *x, int64_t *out_count, int64_t *out_inner,
                        leat_error *err) {
  const lp_state *const state = leati_op_state_const(op);
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
  *out_count = x->shape[axis];
  *out_inner = (int64_t)leati_product(x->shape, axis + 1, x->ndim);
  return LEAT_OK;
}

static int32_t lp_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  const int64_t p = leati_attr_int(desc, "p", 2);
  return p == 1 || p == 2
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "LpNormalization: p is %" PRId64 "; it must be 1 or 2", p);
}

static int32_t lp_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(lp_state *)leati_op_state(op) =
      (lp_state){.axis = leati_attr_int(desc, "axis", -1), .squares = leati_attr_int(desc, "p", 2) == 2};
  return LEAT_OK;
}

static int32_t lp_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[0];
  int64_t count, inner;
  LEATI_TRY(lp_lines(op, x, &count, &inner, err));
  if (x->count > 0) {
    LEATI_TRY(leati_op_check_row_rounds(op, inner == 1, (int64_t)x->count / count, count, err));
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t lp_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const lp_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_rows_size(y, err));
  leati_view x;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  int64_t count, inner;
  LEATI_TRY(lp_lines(op, &x, &count, &inner, err));
  const int64_t rows = (int64_t)x.count / count;
  const leati_row_sharing share = leati_row_sharing_of(planner->device, inner == 1, (uint64_t)rows, (uint64_t)count);
  const struct {
    uint64_t x, y;
    uint32_t rows, count, inner;
  } args = {.rows = (uint32_t)rows, .count = (uint32_t)count, .inner = (uint32_t)inner};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel =
                       leati_row_kernel(planner->device, LEATI_KERNELS_LP_NORM, LEATI_KERNELS_LP_NORM_SHUFFLED, x.type),
                   .constants.lp_norm = {.rows_spec = share.spec,
                                         .group = share.group,
                                         .held = share.held,
                                         .quads =
                                             inner == 1 && leati_rows_in_fours(count, (const leati_view *[]){&x, y}, 2),
                                         .squares = state->squares}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}),
      LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, (uint64_t)rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* In place: a row is read whole by its workgroup before it is written, or each element by the thread that writes it. */
static const leati_op_def ops[] = {
    LEATI_OP("LpNormalization", "", (1, 22), (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_p),
             .state_size = sizeof(lp_state), .least_rank = 1, .supports = lp_supports, .create = lp_create,
             .infer = lp_infer, LEATI_KERNELS(LEATI_KERNELS_LP_NORM), .plan = lp_plan),
};

const leati_op_family leati_lp_norm_family = LEATI_FAMILY(ops);
