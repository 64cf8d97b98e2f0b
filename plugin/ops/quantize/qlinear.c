/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's elementwise operators of int8 or uint8 that stand for floats: QLinearAdd, QLinearMul,
 * QLinearLeakyRelu, QLinearSigmoid and QLinearWhere. Each operand is three inputs: bytes, scale and zero point; scale
 * and zero point of the result follow.
 */
#include <string.h>

#include "core/status.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/function.h"
#include "ops/elementwise/pointwise.h"
#include "ops/elementwise/scaled.h"

#define OPERANDS_MAX 2

static uint32_t operands_of(const leat_op *op) {
  return leati_op_def_of(op)->param >= LEAT_EW_ADD ? 2 : 1;
}

static int32_t qlinear_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  const uint32_t operation = leati_op_def_of(op)->param;
  uint32_t operands;
  leati_function_read(desc, leati_pointwise_name(operation, &operands), operation, leati_op_state(op));
  return LEAT_OK;
}

static int32_t qlinear_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const uint32_t operands = operands_of(op);
  for (uint32_t k = 0; k < operands; ++k) {
    const leati_view *const x = &call->inputs[3 * k];
    LEATI_TRY(leati_check_scale(op, call, 3 * k + 1, err));
    LEATI_TRY(leati_broadcast(&out->ndim, out->dims, x->ndim, x->shape, err));
  }
  return leati_check_scale(op, call, 3 * operands, err);
}

static int32_t qlinear_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const uint32_t count = operands_of(op);
  const leati_scaled result = leati_scaled_by(call, &call->outputs[0], 3 * count);
  leati_scaled operands[OPERANDS_MAX];
  for (uint32_t k = 0; k < count; ++k) {
    operands[k] = leati_scaled_by(call, &call->inputs[3 * k], 3 * k + 1);
  }
  return leati_plan_scaled(planner, leati_op_state_const(op), operands, count, &result, err);
}

/* ---- QLinearWhere ------------------------------------------------------------------------------------------------ */

/* Inputs behind the condition: bytes, scale and zero point of x and y, and those of the result. */
enum { WHERE_CONDITION, WHERE_X, WHERE_Y = 4, WHERE_RESULT = 7 };

static int32_t where_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  static const uint32_t broadcast[] = {WHERE_CONDITION, WHERE_X, WHERE_Y};
  for (uint32_t k = 0; k < sizeof(broadcast) / sizeof(broadcast[0]); ++k) {
    const leati_view *const view = &call->inputs[broadcast[k]];
    LEATI_TRY(leati_broadcast(&out->ndim, out->dims, view->ndim, view->shape, err));
  }
  LEATI_TRY(leati_check_scale(op, call, WHERE_X + 1, err));
  LEATI_TRY(leati_check_scale(op, call, WHERE_Y + 1, err));
  return leati_check_scale(op, call, WHERE_RESULT, err);
}

/* Bytes become those of the result before they are picked, each once however often it is broadcast. */
static int32_t where_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  static const uint32_t given[2] = {WHERE_X, WHERE_Y};
  const leati_function *const identity = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view values[2];
  if (y->count == 0) {
    return LEAT_OK;
  }
  for (uint32_t k = 0; k < 2; ++k) {
    const leati_view *const x = &call->inputs[given[k]];
    values[k] = (leati_view){.type = x->type, .ndim = x->ndim};
    memcpy(values[k].shape, x->shape, sizeof(values[k].shape));
    LEATI_TRY(leati_plan_temporary(planner, &values[k], err));
    const leati_scaled operand = leati_scaled_by(call, x, given[k] + 1);
    const leati_scaled result = leati_scaled_by(call, &values[k], WHERE_RESULT);
    LEATI_TRY(leati_plan_scaled(planner, identity, &operand, 1, &result, err));
  }
  return leati_plan_where(planner, &call->inputs[WHERE_CONDITION], &values[0], &values[1], y, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* The rest are attributes and which inputs there are. Zero points may be absent, also those before what is required. */
#define QLINEAR(name, most, operation, ...)                                                                       \
  LEATI_OP(name, "com.microsoft", (1, 1), (2, most), (1, 1), .info.flags = LEAT_OP_IN_PLACE,                      \
           LEATI_TYPES(&leati_type_scaled, &leati_type_scale), __VA_ARGS__, .state_size = sizeof(leati_function), \
           .param = (operation), .create = qlinear_create, .infer = qlinear_infer,                                \
           LEATI_KERNELS(LEATI_KERNELS_SCALED_POINTWISE), .plan = qlinear_plan, .reads_view = leati_reads_rows,   \
           .channels_last = leati_elementwise_channels_last)
#define INPUTS_OF_TWO .required_inputs = 1u << 3 | 1u << 4 | 1u << 6, LEATI_INPUT_TYPES(0, 1, 0, 0, 1, 0, 1, 0)
#define INPUTS_OF_ONE .required_inputs = 1u << 3, LEATI_INPUT_TYPES(0, 1, 0, 1, 0)

static LEATI_TYPE(type_where_scale, "TF", LEAT_TYPE_FLOAT32);

static const leati_op_def ops[] = {
    QLINEAR("QLinearAdd", 8, LEAT_EW_ADD, INPUTS_OF_TWO),
    QLINEAR("QLinearMul", 8, LEAT_EW_MUL, INPUTS_OF_TWO),
    QLINEAR("QLinearLeakyRelu", 5, LEAT_EW_LEAKY_RELU, LEATI_ATTRIBUTES(&leati_attribute_alpha), INPUTS_OF_ONE),
    QLINEAR("QLinearSigmoid", 5, LEAT_EW_SIGMOID, INPUTS_OF_ONE),
    LEATI_OP("QLinearWhere", "com.microsoft", (1, 1), (3, 9), (1, 1),
             LEATI_TYPES(&leati_type_condition, &leati_type_scaled, &type_where_scale),
             .required_inputs = 1u << WHERE_Y | 1u << (WHERE_Y + 1) | 1u << WHERE_RESULT,
             LEATI_INPUT_TYPES(0, 1, 2, 1, 1, 2, 1, 2, 1), LEATI_OUTPUT_TYPES(1), .state_size = sizeof(leati_function),
             .param = LEAT_EW_IDENTITY, .create = qlinear_create, .infer = where_infer,
             LEATI_KERNELS(LEATI_KERNELS_SCALED_POINTWISE), .plan = where_plan, .reads_view = leati_reads_rows),
};

const leati_op_family leati_qlinear_family = LEATI_FAMILY(ops);
