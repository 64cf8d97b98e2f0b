/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of one number, Clip between attributes, IsNaN, IsInf and Not. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/function.h"
#include "ops/elementwise/host_function.h"

static LEATI_TYPE(type_signed, "T", LEATI_TYPES_REAL | LEATI_TYPES_SIGNED);
static LEATI_TYPE(type_float_in, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_class_out, "T2", LEAT_TYPE_BOOL);
static LEATI_ATTRIBUTE(attribute_min, "min", FLOAT);
static LEATI_ATTRIBUTE(attribute_max, "max", FLOAT);
static LEATI_ATTRIBUTE(attribute_approximate, "approximate", STRING);
static LEATI_ATTRIBUTE(attribute_detect_negative, "detect_negative", INT);
static LEATI_ATTRIBUTE(attribute_detect_positive, "detect_positive", INT);

/* The result is bool; nothing among the inputs says so. */
static int32_t bool_same_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  out->dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  return leati_infer_same(op, call, out, err);
}

static int32_t unary_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  const leati_op_def *const def = leati_op_def_of(op);
  leati_function_read(desc, def->info.name, def->param, leati_op_state(op));
  return LEAT_OK;
}

static int32_t gelu_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  return leati_attr(desc, "approximate") == NULL || leati_attr_is(desc, "approximate", "none") ||
                 leati_attr_is(desc, "approximate", "tanh")
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Gelu: 'approximate' must be 'none' or 'tanh'");
}

static int32_t gelu_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  leati_function *const state = leati_op_state(op);
  state->operation = leati_attr_is(desc, "approximate", "tanh") ? LEAT_EW_GELU_TANH : LEAT_EW_GELU;
  return LEAT_OK;
}

static int32_t isinf_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  leati_function *const state = leati_op_state(op);
  state->operation = LEAT_EW_ISINF;
  state->parameters[0] = leati_attr_int(desc, "detect_negative", 1) != 0 ? 1.0f : 0.0f;
  state->parameters[1] = leati_attr_int(desc, "detect_positive", 1) != 0 ? 1.0f : 0.0f;
  return LEAT_OK;
}

static int32_t clip_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  leati_function *const state = leati_op_state(op);
  state->operation = LEAT_EW_CLIP;
  leati_clip_limits(LEAT_TYPE_FLOAT32, state->parameters);
  state->parameters[0] = leati_attr_float(desc, "min", state->parameters[0]);
  state->parameters[1] = leati_attr_float(desc, "max", state->parameters[1]);
  return LEAT_OK;
}

static leati_kernel unary_kernel(uint64_t type, uint32_t operation) {
  const leati_kernel_set set = operation >= LEAT_EW_FIRST_TRIGONOMETRIC ? LEATI_KERNELS_TRIGONOMETRIC
                               : operation >= LEAT_EW_FIRST_EXPONENTIAL ? LEATI_KERNELS_EXPONENTIAL
                                                                        : LEATI_KERNELS_UNARY;
  return leati_kernel_find(set, type);
}

static int32_t unary_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_function *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  const leati_elementwise e = {
      .kernel = unary_kernel(x->type, state->operation),
      .operation = state->operation,
      .parameters = state->parameters,
      .operand_count = 1,
      .operands = {x},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

/* Clip before its bounds became inputs: none of those is there, for which the kernel has its parameters. */
static int32_t clip_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const x = &call->inputs[0];
  leati_view ignored = *x;
  float bounds[2];
  leati_function_parameters(leati_op_state_const(op), x->type, bounds);
  ignored.ndim = 0;
  ignored.count = 1;
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_CLIP, x->type),
      .operation = LEAT_EW_CLIP,
      .parameters = bounds,
      .operand_count = 3,
      .operands = {x, &ignored, &ignored},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

const leati_function *leati_function_of(const leat_op *op) {
  const leati_op_def *const def = leati_op_def_of(op);
  return def->plan == unary_plan || def->plan == clip_plan ? leati_op_state_const(op) : NULL;
}

static int32_t classify_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_function *const state = leati_op_state_const(op);
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_CLASSIFY, call->inputs[0].type),
      .operation = state->operation,
      .parameters = state->parameters,
      .operand_count = 1,
      .operands = {&call->inputs[0]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

static int32_t not_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_LOGIC_NOT, call->inputs[0].type),
      .operation = LEAT_EW_NOT,
      .operand_count = 1,
      .operands = {&call->inputs[0]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

static void unary_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)o;
  leati_evaluate_function(leati_op_def_of(op)->param, call);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* What functions.inc says of an operator. */
#define ATTRIBUTE(name_)                                                                   \
  &(const leat_op_attribute) {                                                             \
    .struct_size = sizeof(leat_op_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = #name_ \
  }
#define NO_ATTRIBUTE .create = unary_create
#define ONE_ATTRIBUTE(name, otherwise) LEATI_ATTRIBUTES(ATTRIBUTE(name)), .create = unary_create
#define TWO_ATTRIBUTES(first, otherwise, second, otherwise_too) \
  LEATI_ATTRIBUTES(ATTRIBUTE(first), ATTRIBUTE(second)), .create = unary_create
#define APPROXIMATE LEATI_ATTRIBUTES(&attribute_approximate), .supports = gelu_supports, .create = gelu_create
#define ON_DEVICE .info.flags = LEAT_OP_IN_PLACE
#define EVALUATED LEATI_EVALUATED(LEAT_OP_IN_PLACE, LEATI_EVALUATED_ALL, unary_evaluate)

static const leati_op_def ops[] = {
#define OPERATOR(name_, code, uses, domain_, versions, types_, attributes_, where)                     \
  LEATI_OP(#name_, domain_, versions, (1, 1), (1, 1), where, LEATI_TYPES(&types_), attributes_,        \
           .state_size = sizeof(leati_function), .param = LEAT_EW_##code, .infer = leati_infer_same,   \
           LEATI_KERNELS(LEATI_KERNELS_UNARY, LEATI_KERNELS_EXPONENTIAL, LEATI_KERNELS_TRIGONOMETRIC), \
           .plan = unary_plan, .reads_view = leati_reads_rows, .channels_last = leati_elementwise_channels_last),
#include "ops/elementwise/functions.inc"
    LEATI_OP("Clip", "", (6, 6), (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&attribute_min, &attribute_max), .state_size = sizeof(leati_function),
             .create = clip_create, .infer = leati_infer_same, LEATI_KERNELS(LEATI_KERNELS_CLIP), .plan = clip_plan,
             .reads_view = leati_reads_rows, .channels_last = leati_elementwise_channels_last),
    LEATI_OP("IsNaN", "", (9, 20), (1, 1), (1, 1), LEATI_TYPES(&type_float_in, &type_class_out), LEATI_OUTPUT_TYPES(1),
             .state_size = sizeof(leati_function), .param = LEAT_EW_ISNAN, .create = unary_create,
             .infer = bool_same_infer, LEATI_KERNELS(LEATI_KERNELS_CLASSIFY), .plan = classify_plan,
             .reads_view = leati_reads_rows),
    LEATI_OP("IsInf", "", (10, 20), (1, 1), (1, 1), LEATI_TYPES(&type_float_in, &type_class_out),
             LEATI_ATTRIBUTES(&attribute_detect_negative, &attribute_detect_positive), LEATI_OUTPUT_TYPES(1),
             .state_size = sizeof(leati_function), .create = isinf_create, .infer = bool_same_infer,
             LEATI_KERNELS(LEATI_KERNELS_CLASSIFY), .plan = classify_plan, .reads_view = leati_reads_rows),
    LEATI_OP("Not", "", (1, 1), (1, 1), (1, 1),
             LEATI_EVALUATED(LEAT_OP_IN_PLACE, LEATI_EVALUATED_WHOLE, unary_evaluate), .param = LEAT_EW_NOT,
             LEATI_TYPES(&leati_type_bool_in), .infer = leati_infer_same, LEATI_KERNELS(LEATI_KERNELS_LOGIC_NOT),
             .plan = not_plan, .reads_view = leati_reads_rows),
};

const leati_op_family leati_unary_family = LEATI_FAMILY(ops);
