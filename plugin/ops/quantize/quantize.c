/* SPDX-License-Identifier: BSD-3-Clause */
/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. */
#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"
#include "ops/quantize/dynamic_quantize.h"
#include "policy/tiling.h"

/* ---- Scales and zero points -------------------------------------------------------------------------------------- */

/* Inputs of QuantizeLinear and DequantizeLinear. */
enum { X, SCALE, ZERO };

/* SCALE_ARGS in kernels/scales.glsl. */
typedef struct scale_steps {
  uint32_t count;
  uint32_t size, inner;
  uint32_t block; /* 0: one scale is for all */
  uint32_t outer_step, size_step, inner_step;
} scale_steps;

/* Of both operators. */
typedef struct linear_state {
  int64_t axis;
  int64_t block;   /* 0: a scale is for an index of the axis, or for all */
  uint64_t output; /* LEAT_TYPE_* that the attribute output_dtype says; 0: it is absent */
  uint64_t precision;
} linear_state;

static int32_t read_type(const leati_op_def *def, const leati_op_desc *desc, const char *name, uint64_t *out,
                         leat_error *err) {
  const int64_t number = leati_attr_int(desc, name, 0);
  *out = leati_type_of_onnx(number);
  return number == 0 || (*out & ~LEAT_TYPE_FLOAT64) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with %s %lld is not supported: Leat holds no such tensors",
                          def->info.name, name, (long long)number);
}

static int32_t read_attributes(const leati_op_def *def, const leati_op_desc *desc, linear_state *out, leat_error *err) {
  out->axis = leati_attr_int(desc, "axis", 1);
  out->block = leati_attr_int(desc, "block_size", 0);
  if (out->block < 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: block_size is %lld; it must not be negative",
                      def->info.name, (long long)out->block);
  }
  LEATI_TRY(read_type(def, desc, "output_dtype", &out->output, err));
  return read_type(def, desc, "precision", &out->precision, err);
}

static int32_t linear_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_attributes(leati_op_def_of(op), desc, leati_op_state(op), err);
}

/* Whether one scale is for all elements; it may be a scalar or in a list, as its zero point may. */
static bool is_single(const linear_state *state, const leati_view *scale) {
  return state->block == 0 && scale->count == 1 && scale->ndim <= 1;
}

/* Whether there is a scale for each index of the axis, or for each block along it. */
static bool scale_fits(const linear_state *state, const leati_view *x, const leati_view *scale, int32_t axis) {
  if (state->block == 0) {
    return scale->ndim == 1 && scale->shape[0] == x->shape[axis];
  }
  bool fits = scale->ndim == x->ndim;
  for (int32_t d = 0; fits && d < x->ndim; ++d) {
    const int64_t size = x->shape[d];
    fits = scale->shape[d] == (d == axis ? size / state->block + (size % state->block != 0) : size);
  }
  return fits;
}

static int32_t check_scales(const leat_op *op, const leati_call *call, leat_error *err) {
  const linear_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const x = &call->inputs[X], *const scale = &call->inputs[SCALE],
                          *const zero = leati_input(call, ZERO);
  const bool single = is_single(state, scale);
  if (!single) {
    int32_t axis;
    LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
    if (!scale_fits(state, x, scale, axis)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: the scale must have one element, or one for each of axis %lld, or with a block_size the "
                        "input's shape with the blocks of the axis",
                        name, (long long)state->axis);
    }
  }
  if (zero != NULL && !(single && is_single(state, zero)) &&
      (zero->ndim != scale->ndim || !leati_same_numbers(zero->shape, scale->shape, scale->ndim))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the zero point must have the scale's shape", name);
  }
  return LEAT_OK;
}

/* Which scale each element of `x` has. */
static int32_t find_steps(const linear_state *state, const leati_view *x, const leati_view *scale, scale_steps *out,
                          leat_error *err) {
  *out = (scale_steps){.count = (uint32_t)x->count};
  if (is_single(state, scale)) {
    return LEAT_OK;
  }
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
  out->size = (uint32_t)x->shape[axis];
  out->inner = (uint32_t)leati_product(x->shape, axis + 1, x->ndim);
  out->block = 1;
  out->size_step = 1;
  if (state->block != 0) {
    out->block = state->block < out->size ? (uint32_t)state->block : out->size;
    out->outer_step = (uint32_t)leati_product(scale->shape, axis, scale->ndim);
    out->size_step = out->inner;
    out->inner_step = 1;
  }
  return LEAT_OK;
}

/* The tensors of a call as kernels take them, compact; `zero` is absent if there is none. Images in NHWC layout are
 * rows of channels: `y` is the result, or where it is put together if that has gaps. */
typedef struct linear_tensors {
  leati_view x, scale, zero, y;
  leati_view result; /* the result, as x and y have it */
} linear_tensors;

static int32_t take_tensors(leati_planner *planner, const leati_call *call, linear_tensors *out, leat_error *err) {
  const leati_view *const zero = leati_input(call, ZERO);
  const bool last = leati_is_channels_last(&call->outputs[0]);
  const leati_view x = last ? leati_channels_last_order(&call->inputs[X]) : call->inputs[X];
  *out = (linear_tensors){.zero = {.present = false}};
  out->y = out->result = last ? leati_channels_last_order(&call->outputs[0]) : call->outputs[0];
  LEATI_TRY(leati_plan_compact(planner, &x, &out->x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[SCALE], &out->scale, err));
  if (zero != NULL) {
    LEATI_TRY(leati_plan_compact(planner, zero, &out->zero, err));
  }
  return out->y.compact ? LEAT_OK : leati_plan_temporary(planner, &out->y, err);
}

/* Plans what is left to do when the kernel has written `y`. */
static int32_t put_result(leati_planner *planner, const linear_tensors *t, leat_error *err) {
  return t->result.compact ? LEAT_OK : leati_plan_strided_copy(planner, &t->y, &t->result, err);
}

/* Where one scale is for all, nothing depends on where an element is. */
static leati_channels_last_use linear_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  return is_single(leati_op_state_const(op), &call->inputs[SCALE])
             ? leati_elementwise_channels_last(op, call, constants)
             : (leati_channels_last_use){.writes = false};
}

static const leati_view *zero_of(const linear_tensors *t) {
  return t->zero.present ? &t->zero : NULL;
}

/* ---- DequantizeLinear -------------------------------------------------------------------------------------------- */

typedef struct dequantize_args {
  uint64_t x, scale, zero, y;
  uint32_t type_scale;
  scale_steps steps;
} dequantize_args;

static int32_t dequantize_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                   leat_error *err) {
  (void)device;
  linear_state state = {0};
  LEATI_TRY(read_attributes(def, desc, &state, err));
  return (state.output & ~LEATI_TYPES_REAL) == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output_dtype is %s; it must be a float",
                          def->info.name, leati_type_name(state.output));
}

static int32_t dequantize_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const linear_state *const state = leati_op_state_const(op);
  LEATI_TRY(check_scales(op, call, err));
  out->dtype = leati_dtype_of(state->output != 0 ? state->output : call->inputs[SCALE].type);
  return leati_infer_same(op, call, out, err);
}

static int32_t dequantize_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  linear_tensors t;
  dequantize_args args = {.type_scale = leati_type_code(call->inputs[SCALE].type)};
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(take_tensors(planner, call, &t, err));
  LEATI_TRY(leati_check_reach(y, "DequantizeLinear", err));
  LEATI_TRY(find_steps(leati_op_state_const(op), &t.x, &t.scale, &args.steps, err));
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DEQUANTIZE, y->type),
                                               .constants.dequantize = {.type_in = leati_type_code(t.x.type)}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&t.x, &args.x}, {&t.scale, &args.scale}, {zero_of(&t), &args.zero}),
                                  LEATI_WRITES({&t.y, &args.y})};
  leati_groups_linear(planner->device, args.steps.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  return put_result(planner, &t, err);
}

/* ---- QuantizeLinear ---------------------------------------------------------------------------------------------- */

#define TYPES_QUANTIZED (LEAT_TYPE_INT8 | LEAT_TYPE_UINT8 | LEAT_TYPE_INT16 | LEAT_TYPE_UINT16)

typedef struct quantize_args {
  uint64_t x, scale, zero, y;
  uint32_t type_x, type_scale;
  uint32_t type_quotient;
  int32_t low, high;
  uint32_t quads;
  scale_steps steps;
} quantize_args;

static int32_t quantize_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                 leat_error *err) {
  (void)device;
  linear_state state = {0};
  LEATI_TRY(read_attributes(def, desc, &state, err));
  if ((state.output & ~TYPES_QUANTIZED) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output_dtype is %s; it must be an integer of 8 or 16 bits",
                      def->info.name, leati_type_name(state.output));
  }
  if ((state.precision & ~LEATI_TYPES_REAL) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with precision %s is not supported: it must be a float",
                      def->info.name, leati_type_name(state.precision));
  }
  const uint64_t zero = leati_is_given(desc, ZERO) ? leati_type_of(desc->inputs[ZERO].dtype) : 0;
  return state.output == 0 || zero == 0 || zero == state.output
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output_dtype is %s and the zero point of type %s",
                          def->info.name, leati_type_name(state.output), leati_type_name(zero));
}

static int32_t quantize_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const linear_state *const state = leati_op_state_const(op);
  const leati_view *const zero = leati_input(call, ZERO);
  LEATI_TRY(check_scales(op, call, err));
  out->dtype = leati_dtype_of(zero != NULL ? zero->type : state->output != 0 ? state->output : LEAT_TYPE_UINT8);
  return leati_infer_same(op, call, out, err);
}

static int32_t plan_quantize(leati_planner *planner, const linear_tensors *t, uint64_t precision,
                             const scale_steps *steps, leat_error *err) {
  const leati_view *const y = &t->y;
  const bool is_signed = (y->type & LEATI_TYPES_SIGNED) != 0;
  const int32_t count = y->item_size == 1 ? 1 << 8 : 1 << 16;
  quantize_args args = {.type_x = leati_type_code(t->x.type),
                        .type_scale = leati_type_code(t->scale.type),
                        .type_quotient = leati_type_code(precision),
                        .low = is_signed ? -count / 2 : 0,
                        .high = is_signed ? count / 2 - 1 : count - 1,
                        .steps = *steps};
  args.quads = steps->block == 0 && y->count % 4 == 0 && t->x.address % (4 * t->x.item_size) == 0 &&
               y->address % (4 * y->item_size) == 0;
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = LEATI_KERNEL_QUANTIZE},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&t->x, &args.x}, {&t->scale, &args.scale}, {zero_of(t), &args.zero}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, steps->count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t quantize_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const linear_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  linear_tensors t;
  scale_steps steps;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(take_tensors(planner, call, &t, err));
  LEATI_TRY(leati_check_reach(y, "QuantizeLinear", err));
  LEATI_TRY(find_steps(state, &t.x, &t.scale, &steps, err));
  LEATI_TRY(plan_quantize(planner, &t, state->precision != 0 ? state->precision : t.scale.type, &steps, err));
  return put_result(planner, &t, err);
}

/* ---- DynamicQuantizeLinear --------------------------------------------------------------------------------------- */

static int32_t dynamic_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_infer_same(op, call, out, err));
  out[1].ndim = out[2].ndim = 0;
  out[0].dtype = out[2].dtype = leati_dtype_of(LEAT_TYPE_UINT8);
  out[1].dtype = leati_dtype_of(LEAT_TYPE_FLOAT32);
  return LEAT_OK;
}

static int32_t dynamic_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  return leati_plan_dynamic_quantize(planner, &call->inputs[0], &call->outputs[0], &call->outputs[1], &call->outputs[2],
                                     err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

#define TYPES_DEQUANTIZED (TYPES_QUANTIZED | LEAT_TYPE_INT32)
static LEATI_TYPE(type_dequantized, "T1", TYPES_DEQUANTIZED);
static LEATI_TYPE(type_real_1, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_real_2, "T2", LEATI_TYPES_REAL);
static LEATI_TYPE(type_real_3, "T3", LEATI_TYPES_REAL);
static LEATI_TYPE(type_quantized_2, "T2", TYPES_QUANTIZED);
static LEATI_TYPE(type_quantized_3, "T3", TYPES_QUANTIZED);
static LEATI_TYPE(type_float, "T1", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_uint8, "T2", LEAT_TYPE_UINT8);
static LEATI_TYPE(type_scale, "tensor(float)", LEAT_TYPE_FLOAT32);
static LEATI_ATTRIBUTE(attribute_block_size, "block_size", INT);
static LEATI_ATTRIBUTE(attribute_output_dtype, "output_dtype", INT);
static LEATI_ATTRIBUTE(attribute_precision, "precision", INT);

/* A form of DequantizeLinear or QuantizeLinear. That of com.microsoft is ONNX's of version 13. */
#define LINEAR(name, kind, domain, versions, ...)                                                            \
  LEATI_OP(name, domain, versions, (2, 3), (1, 1), __VA_ARGS__, .state_size = sizeof(linear_state),          \
           .supports = kind##_supports, .create = linear_create, .infer = kind##_infer, .plan = kind##_plan, \
           .channels_last = linear_channels_last)

static const leati_op_def ops[] = {
    LINEAR("DequantizeLinear", dequantize, "", (10, 21), LEATI_TYPES(&type_dequantized, &type_real_2),
           LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_block_size), LEATI_INPUT_TYPES(0, 1, 0),
           LEATI_OUTPUT_TYPES(1), LEATI_KERNELS(LEATI_KERNELS_DEQUANTIZE)),
    LINEAR("DequantizeLinear", dequantize, "", (23, 28), LEATI_TYPES(&type_dequantized, &type_real_2, &type_real_3),
           LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_block_size, &attribute_output_dtype),
           LEATI_INPUT_TYPES(0, 1, 0), LEATI_OUTPUT_TYPES(2), LEATI_KERNELS(LEATI_KERNELS_DEQUANTIZE)),
    LINEAR("QuantizeLinear", quantize, "", (10, 21), LEATI_TYPES(&type_real_1, &type_quantized_2),
           LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_block_size, &attribute_output_dtype),
           LEATI_INPUT_TYPES(0, 0, 1), LEATI_OUTPUT_TYPES(1)),
    LINEAR(
        "QuantizeLinear", quantize, "", (23, 28), LEATI_TYPES(&type_real_1, &type_real_2, &type_quantized_3),
        LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_block_size, &attribute_output_dtype, &attribute_precision),
        LEATI_INPUT_TYPES(0, 1, 2), LEATI_OUTPUT_TYPES(2)),
    LINEAR("DequantizeLinear", dequantize, "com.microsoft", (1, 1), LEATI_TYPES(&type_dequantized, &type_real_2),
           LEATI_ATTRIBUTES(&leati_attribute_axis), LEATI_INPUT_TYPES(0, 1, 0), LEATI_OUTPUT_TYPES(1),
           LEATI_KERNELS(LEATI_KERNELS_DEQUANTIZE)),
    LINEAR("QuantizeLinear", quantize, "com.microsoft", (1, 1), LEATI_TYPES(&type_real_1, &type_quantized_2),
           LEATI_ATTRIBUTES(&leati_attribute_axis), LEATI_INPUT_TYPES(0, 0, 1), LEATI_OUTPUT_TYPES(1)),
    LEATI_OP("DynamicQuantizeLinear", "", (11, 11), (1, 1), (3, 3), LEATI_TYPES(&type_float, &type_uint8, &type_scale),
             LEATI_INPUT_TYPES(0), LEATI_OUTPUT_TYPES(1, 2, 1), .infer = dynamic_infer, .plan = dynamic_plan),
};

const leati_op_family leati_quantize_family = LEATI_FAMILY(ops);
