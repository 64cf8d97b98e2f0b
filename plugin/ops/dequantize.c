/* SPDX-License-Identifier: BSD-3-Clause */
/* DequantizeLinear. */
#include "core/status.h"
#include "ops/attribute.h"
#include "ops/dims.h"
#include "ops/elementwise.h"
#include "ops/movement.h"

typedef struct dequantize_args {
  uint64_t x, scale, zero, y;
  uint32_t count;
  uint32_t size, inner;
  uint32_t block;
  uint32_t outer_step, size_step, inner_step;
} dequantize_args;

typedef struct dequantize_state {
  int64_t axis;
  int64_t block; /* 0: a scale is for an index of the axis, or for all */
} dequantize_state;

/* Number of a type of scales in ONNX's TensorProto.DataType. */
static int64_t onnx_number(uint64_t type) {
  return type == LEAT_TYPE_FLOAT32 ? 1 : type == LEAT_TYPE_FLOAT16 ? 10 : 16;
}

static int32_t dequantize_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                   leat_error *err) {
  (void)def;
  (void)device;
  const int64_t block = leati_attr_int(desc, "block_size", 0), output = leati_attr_int(desc, "output_dtype", 0);
  const uint64_t type = leati_type_of(desc->inputs[1].dtype);
  if (block < 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "DequantizeLinear: block_size is %lld; it must not be negative",
                      (long long)block);
  }
  return output == 0 || output == onnx_number(type)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "DequantizeLinear with output_dtype %lld and a scale of %s is not supported: the result has "
                          "the scale's type",
                          (long long)output, leati_type_name(type));
}

static int32_t dequantize_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  dequantize_state *const state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", 1);
  state->block = leati_attr_int(desc, "block_size", 0);
  return LEAT_OK;
}

/* Whether one scale is for all elements; it may be a scalar or in a list, as its zero point may. */
static bool is_single(const dequantize_state *state, const leati_view *scale) {
  return state->block == 0 && scale->count == 1 && scale->ndim <= 1;
}

static int32_t dequantize_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const dequantize_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0], *const scale = &call->inputs[1], *const zero = leati_input(call, 2);
  const bool single = is_single(state, scale);
  bool fits = single;
  int32_t axis = 0;
  if (!fits) {
    LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
    if (state->block == 0) {
      fits = scale->ndim == 1 && scale->shape[0] == x->shape[axis];
    } else {
      fits = scale->ndim == x->ndim;
      for (int32_t d = 0; fits && d < x->ndim; ++d) {
        const int64_t size = x->shape[d];
        fits = scale->shape[d] == (d == axis ? size / state->block + (size % state->block != 0) : size);
      }
    }
  }
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "DequantizeLinear: the scale must have one element, or one for each of axis %lld, or with a "
                      "block_size the input's shape with the blocks of the axis",
                      (long long)state->axis);
  }
  if (zero != NULL && !(single && is_single(state, zero)) &&
      (zero->ndim != scale->ndim || !leati_same_numbers(zero->shape, scale->shape, scale->ndim))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "DequantizeLinear: the zero point must have the scale's shape");
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t dequantize_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const dequantize_state *const state = leati_op_state_const(op);
  const leati_view *const given_zero = leati_input(call, 2), *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view x, scale, zero;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &scale, err));
  if (given_zero != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given_zero, &zero, err));
  }
  LEATI_TRY(leati_check_reach(y, "DequantizeLinear", err));
  dequantize_args args = {.count = (uint32_t)y->count, .size = 1, .inner = 1, .block = 1};
  if (!is_single(state, &scale)) {
    int32_t axis;
    LEATI_TRY(leati_axis(state->axis, x.ndim, &axis, err));
    args.size = (uint32_t)x.shape[axis];
    args.inner = (uint32_t)leati_product(x.shape, axis + 1, x.ndim);
    args.size_step = 1;
    if (state->block != 0) {
      args.block = state->block < args.size ? (uint32_t)state->block : args.size;
      args.outer_step = (uint32_t)leati_product(scale.shape, axis, scale.ndim);
      args.size_step = args.inner;
      args.inner_step = 1;
    }
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DEQUANTIZE, y->type),
                   .constants.dequantize = {.type_in = leati_type_code(x.type)}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}, {&scale, &args.scale}, {given_zero != NULL ? &zero : NULL, &args.zero}),
      LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_quantized, "T1",
                  LEAT_TYPE_INT8 | LEAT_TYPE_UINT8 | LEAT_TYPE_INT16 | LEAT_TYPE_UINT16 | LEAT_TYPE_INT32);
static LEATI_TYPE(type_scale, "T2", LEATI_TYPES_REAL);
static LEATI_ATTRIBUTE(attribute_block_size, "block_size", INT);
static LEATI_ATTRIBUTE(attribute_output_dtype, "output_dtype", INT);

static const leati_op_def ops[] = {
    LEATI_OP("DequantizeLinear", "", (10, 28), (2, 3), (1, 1), LEATI_TYPES(&type_quantized, &type_scale),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_block_size, &attribute_output_dtype),
             LEATI_INPUT_TYPES(0, 1, 0), LEATI_OUTPUT_TYPES(1), .state_size = sizeof(dequantize_state),
             LEATI_KERNELS(LEATI_KERNELS_DEQUANTIZE), .supports = dequantize_supports, .create = dequantize_create,
             .infer = dequantize_infer, .plan = dequantize_plan),
};

const leati_op_family leati_dequantize_family = LEATI_FAMILY(ops);
