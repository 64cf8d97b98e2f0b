/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of two operands: arithmetic, logic, bits, comparison; Min, Max, Sum and Mean, which fold any number of
 * them. */
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/host_function.h"

static LEATI_TYPE(type_prelu, "T", LEATI_TYPES_REAL | LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_equal, "T", LEATI_TYPES_NUMBER | LEAT_TYPE_BOOL);
static LEATI_TYPE(type_bool_out, "T1", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_pow, "T", LEATI_TYPES_REAL | LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_pow_exponent, "T1", LEATI_TYPES_NUMBER);
static LEATI_TYPE(type_shift, "T", LEATI_TYPES_UNSIGNED);
static LEATI_ATTRIBUTE(attribute_fmod, "fmod", INT);
static LEATI_ATTRIBUTE(attribute_direction, "direction", STRING);

/* Of operators whose operation depends on an attribute. */
typedef struct chosen_state {
  uint32_t operation;
} chosen_state;

/* The result is bool; nothing among the inputs says so. */
static int32_t bool_broadcast_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  out->dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  return leati_infer_broadcast(op, call, out, err);
}

static int32_t mod_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  LEATI_TRY(leati_supports_broadcast(def, device, desc, err));
  return (leati_type_of(desc->inputs[0].dtype) & LEATI_TYPES_REAL) == 0 || desc->since_version >= 28 ||
                 leati_attr_int(desc, "fmod", 0) == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Mod: floating-point operands need 'fmod' = 1 before version 28");
}

static int32_t mod_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  chosen_state *const state = leati_op_state(op);
  state->operation = leati_attr_int(desc, "fmod", 0) == 1 ? LEAT_EW_FMOD : LEAT_EW_MOD;
  return LEAT_OK;
}

static int32_t shift_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  LEATI_TRY(leati_supports_broadcast(def, device, desc, err));
  return leati_attr_is(desc, "direction", "LEFT") || leati_attr_is(desc, "direction", "RIGHT")
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "BitShift: 'direction' must be 'LEFT' or 'RIGHT'");
}

static int32_t shift_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  chosen_state *const state = leati_op_state(op);
  state->operation = leati_attr_is(desc, "direction", "LEFT") ? LEAT_EW_SHIFT_LEFT : LEAT_EW_SHIFT_RIGHT;
  return LEAT_OK;
}

static uint32_t operation_of(const leat_op *op) {
  const leati_op_def *const def = leati_op_def_of(op);
  return def->state_size == 0 ? def->param : ((const chosen_state *)leati_op_state_const(op))->operation;
}

static int32_t binary_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const uint32_t operation = operation_of(op);
  const bool divides = operation == LEAT_EW_DIV || operation == LEAT_EW_MOD || operation == LEAT_EW_FMOD;
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_BINARY, call->inputs[0].type),
      .operation = operation,
      .divides = divides && (call->inputs[0].type & LEATI_TYPES_REAL) == 0 ? leati_op_def_of(op)->info.name : NULL,
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

static int32_t compare_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_COMPARE, call->inputs[0].type),
      .operation = operation_of(op),
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

static int32_t logic_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_LOGIC, call->inputs[0].type),
      .operation = operation_of(op),
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

/* Folds any number of operands into the result, two at a time from the left. More than two floats of 16 bits are summed
 * up as float32, so that the sum rounds once; of two, the kernel does that. The largest and the smallest round nothing.
 */
static int32_t variadic_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const leati_view *const result = &call->outputs[0];
  if (call->input_count == 1) {
    return leati_plan_strided_copy(planner, &call->inputs[0], result, err);
  }
  const bool mean = def->param == LEAT_EW_ADD_SCALED, sum = mean || def->param == LEAT_EW_ADD;
  const bool wide = sum && call->input_count > 2 && (result->type & LEATI_TYPES_HALF) != 0;
  const float parameters[2] = {(float)call->input_count, 0.0f};
  leati_view total = *result, next;
  if (wide) {
    LEATI_TRY(leati_plan_wide(planner, result, &total, err));
    LEATI_TRY(leati_plan_wide(planner, result, &next, err));
    LEATI_TRY(leati_plan_cast(planner, &call->inputs[0], &total, err));
  }
  for (uint32_t i = 1; i < call->input_count; ++i) {
    if (wide) {
      LEATI_TRY(leati_plan_cast(planner, &call->inputs[i], &next, err));
    }
    const leati_elementwise e = {
        .kernel = leati_kernel_find(LEATI_KERNELS_BINARY, total.type),
        .operation = mean && i + 1 < call->input_count ? LEAT_EW_ADD : def->param,
        .parameters = parameters,
        .operand_count = 2,
        .operands = {i == 1 && !wide ? &call->inputs[0] : &total, wide ? &next : &call->inputs[i]},
    };
    LEATI_TRY(leati_plan_elementwise(planner, &e, &total, err));
  }
  return wide ? leati_plan_cast(planner, &total, result, err) : LEAT_OK;
}

static int32_t pow_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_POW, call->inputs[0].type),
      .operation = LEAT_EW_POW,
      .type_in = leati_type_code(call->inputs[1].type),
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

/* And with what is known to be true, Or and Xor with what is known to be false, leave the first operand as it is. */
static int32_t logic_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  (void)err;
  const bool neutral = leati_op_def_of(op)->param == LEAT_EW_AND;
  const leati_view *const other = &call->inputs[1], *const result = &call->outputs[o];
  int64_t strides[LEAT_MAX_RANK];
  *out = call->inputs[0];
  out->present = other->data != NULL;
  for (uint64_t i = 0; out->present && i < other->count; ++i) {
    out->present = (((const unsigned char *)other->data)[i] != 0) == neutral;
  }
  if (out->present) {
    leati_broadcast_strides(out, result->ndim, result->shape, strides);
    leati_view_reshape(out, result->ndim, result->shape, strides);
  }
  return LEAT_OK;
}

static void binary_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)o;
  leati_evaluate_function(operation_of(op), call);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define EVALUATED(flags_) LEATI_EVALUATED(flags_, LEATI_EVALUATED_ALL, binary_evaluate)
#define EVALUATED_WHOLE LEATI_EVALUATED(LEAT_OP_IN_PLACE, LEATI_EVALUATED_WHOLE, binary_evaluate)
/* Two operands of one type, and a result of the same type. The last arguments say the flags. */
#define BINARY(name, versions, types_, operation, ...)                                                                \
  LEATI_OP(name, "", versions, (2, 2), (1, 1), __VA_ARGS__, LEATI_TYPES(&types_), .param = (operation),               \
           .supports = leati_supports_broadcast, .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_BINARY), \
           .plan = binary_plan, .reads_view = leati_reads_rows, .channels_last = leati_elementwise_channels_last)
#define LOGIC(name, operation, ...)                                                                                  \
  LEATI_OP(name, "", (7, 7), (2, 2), (1, 1), __VA_ARGS__, LEATI_TYPES(&leati_type_bool_in), .param = (operation),    \
           .supports = leati_supports_broadcast, .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_LOGIC), \
           .plan = logic_plan, .reads_view = leati_reads_rows, .view = logic_view)
#define SHIFT(versions, types_)                                                                                    \
  LEATI_OP("BitShift", "", versions, (2, 2), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&types_),         \
           LEATI_ATTRIBUTES(&attribute_direction), .state_size = sizeof(chosen_state), .supports = shift_supports, \
           .create = shift_create, .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_BINARY),            \
           .plan = binary_plan, .reads_view = leati_reads_rows)
#define COMPARE(name, versions, types_, operation)                                                    \
  LEATI_OP(name, "", versions, (2, 2), (1, 1), EVALUATED(0), LEATI_TYPES(&types_, &type_bool_out),    \
           LEATI_OUTPUT_TYPES(1), .param = (operation), .supports = leati_supports_broadcast,         \
           .infer = bool_broadcast_infer, LEATI_KERNELS(LEATI_KERNELS_COMPARE), .plan = compare_plan, \
           .reads_view = leati_reads_rows)
/* Not in place: an operand that comes later would be overwritten before it is read. */
#define VARIADIC(name, types_, operation, ...)                                                                        \
  LEATI_OP(name, "", (6, 13), (1, LEAT_VARIADIC), (1, 1), __VA_ARGS__, LEATI_TYPES(&types_), .param = (operation),    \
           .supports = leati_supports_broadcast, .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_BINARY), \
           .plan = variadic_plan, .reads_view = leati_reads_rows)

static const leati_op_def ops[] = {
    BINARY("Add", (7, 14), leati_type_number, LEAT_EW_ADD, EVALUATED(LEAT_OP_IN_PLACE)),
    BINARY("Sub", (7, 14), leati_type_number, LEAT_EW_SUB, EVALUATED(LEAT_OP_IN_PLACE)),
    BINARY("Mul", (7, 14), leati_type_number, LEAT_EW_MUL, EVALUATED(LEAT_OP_IN_PLACE)),
    BINARY("Div", (7, 14), leati_type_number, LEAT_EW_DIV, EVALUATED(LEAT_OP_IN_PLACE)),
    BINARY("PRelu", (7, 16), type_prelu, LEAT_EW_PRELU, .info.flags = LEAT_OP_IN_PLACE),
    LOGIC("And", LEAT_EW_AND, EVALUATED_WHOLE),
    LOGIC("Or", LEAT_EW_OR, EVALUATED_WHOLE),
    LOGIC("Xor", LEAT_EW_XOR, .info.flags = LEAT_OP_IN_PLACE),
    BINARY("BitwiseAnd", (18, 18), leati_type_bits, LEAT_EW_BITWISE_AND, .info.flags = LEAT_OP_IN_PLACE),
    BINARY("BitwiseOr", (18, 18), leati_type_bits, LEAT_EW_BITWISE_OR, .info.flags = LEAT_OP_IN_PLACE),
    BINARY("BitwiseXor", (18, 18), leati_type_bits, LEAT_EW_BITWISE_XOR, .info.flags = LEAT_OP_IN_PLACE),
    SHIFT((11, 11), type_shift),
    SHIFT((28, 28), leati_type_bits),
    LEATI_OP("Mod", "", (10, 28), (2, 2), (1, 1), EVALUATED_WHOLE, LEATI_TYPES(&leati_type_number),
             LEATI_ATTRIBUTES(&attribute_fmod), .state_size = sizeof(chosen_state), .supports = mod_supports,
             .create = mod_create, .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_BINARY),
             .plan = binary_plan, .reads_view = leati_reads_rows),
    LEATI_OP("Pow", "", (7, 15), (2, 2), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&type_pow, &type_pow_exponent), LEATI_INPUT_TYPES(0, 1), .supports = leati_supports_broadcast,
             .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_POW), .plan = pow_plan,
             .reads_view = leati_reads_rows),
    COMPARE("Equal", (7, 19), type_equal, LEAT_EW_EQUAL),
    COMPARE("Less", (7, 13), leati_type_number, LEAT_EW_LESS),
    COMPARE("Greater", (7, 13), leati_type_number, LEAT_EW_GREATER),
    COMPARE("LessOrEqual", (12, 16), leati_type_number, LEAT_EW_LESS_OR_EQUAL),
    COMPARE("GreaterOrEqual", (12, 16), leati_type_number, LEAT_EW_GREATER_OR_EQUAL),
    VARIADIC("Min", leati_type_number, LEAT_EW_MIN, EVALUATED(0)),
    VARIADIC("Max", leati_type_number, LEAT_EW_MAX, EVALUATED(0)),
    VARIADIC("Sum", leati_type_real, LEAT_EW_ADD, .info.flags = 0),
    VARIADIC("Mean", leati_type_real, LEAT_EW_ADD_SCALED, .info.flags = 0),
};

const leati_op_family leati_binary_family = LEATI_FAMILY(ops);
