/* SPDX-License-Identifier: BSD-3-Clause */
/* EyeLike: a matrix of the shape of another one, with 1 on a diagonal and 0 elsewhere. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_dtype, "dtype", INT);
static LEATI_ATTRIBUTE(attribute_k, "k", INT);

typedef struct eye_state {
  uint64_t type;    /* 0: the input's */
  int32_t diagonal; /* 0: the main one, 1: that above it */
} eye_state;

static int32_t eye_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  const int64_t number = leati_attr_int(desc, "dtype", 1);
  return (leati_type_of_onnx(number) & LEATI_TYPES_HELD) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: 'dtype' is %" PRId64 ", which is no type of numbers",
                          def->info.name, number);
}

static int32_t eye_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  eye_state *const state = leati_op_state(op);
  state->type = leati_attr(desc, "dtype") != NULL ? leati_type_of_onnx(leati_attr_int(desc, "dtype", 1)) : 0;
  state->diagonal = (int32_t)leati_clamp(leati_attr_int(desc, "k", 0), -INT32_MAX, INT32_MAX);
  return LEAT_OK;
}

static int32_t eye_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const eye_state *const state = leati_op_state_const(op);
  LEATI_TRY(leati_infer_same(op, call, out, err));
  out->dtype = leati_dtype_of(state->type != 0 ? state->type : call->inputs[0].type);
  return LEAT_OK;
}

/* The bits of 1 in a type. */
static uint64_t one_of(uint64_t type) {
  switch (type) {
    case LEAT_TYPE_FLOAT32:
      return UINT64_C(0x3f800000);
    case LEAT_TYPE_FLOAT16:
      return UINT64_C(0x3c00);
    case LEAT_TYPE_BFLOAT16:
      return UINT64_C(0x3f80);
    case LEAT_TYPE_FLOAT64:
      return UINT64_C(0x3ff0000000000000);
    default:
      return 1;
  }
}

static int32_t eye_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const eye_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  LEATI_TRY(leati_check_reach(y, "EyeLike", err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  const struct {
    uint64_t y, one;
    uint32_t count, columns;
    leati_divider per_columns;
    int32_t diagonal;
  } args = {.one = one_of(y->type),
            .count = (uint32_t)y->count,
            .columns = (uint32_t)y->shape[1],
            .per_columns = leati_divider_of((uint32_t)y->shape[1]),
            .diagonal = state->diagonal};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_EYE_LIKE, y->item_size)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static LEATI_TYPE(type_shaped, "T1", LEATI_TYPES_HELD);
static LEATI_TYPE(type_made, "T2", LEATI_TYPES_HELD);

static const leati_op_def ops[] = {
    LEATI_OP("EyeLike", "", (9, 22), (1, 1), (1, 1), LEATI_TYPES(&type_shaped, &type_made),
             LEATI_ATTRIBUTES(&attribute_dtype, &attribute_k), LEATI_OUTPUT_TYPES(1), .state_size = sizeof(eye_state),
             .least_rank = 2, .most_rank = 2, .supports = eye_supports, .create = eye_create, .infer = eye_infer,
             LEATI_KERNELS(LEATI_KERNELS_EYE_LIKE), .plan = eye_plan),
};

const leati_op_family leati_eye_like_family = LEATI_FAMILY(ops);
