/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's elementwise operators of bytes that stand for floats: QLinearAdd, QLinearMul, QLinearLeakyRelu and
 * QLinearSigmoid. Each operand is three inputs: bytes, scale and zero point; scale and zero point of the result follow.
 */
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
    const leati_view *const x = leati_input(call, 3 * k);
    if (x == NULL) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is missing", leati_op_def_of(op)->info.name,
                        3 * k);
    }
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

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* The rest are the types of inputs, and attributes. Zero points may be absent, also those before what has to be there.
 */
#define QLINEAR(name, most, operation, ...)                                                                       \
  LEATI_OP(name, "com.microsoft", (1, 1), (2, most), (1, 1), .info.flags = LEAT_OP_IN_PLACE,                      \
           LEATI_TYPES(&leati_type_scaled, &leati_type_scale), __VA_ARGS__, .state_size = sizeof(leati_function), \
           .param = (operation), .create = qlinear_create, .infer = qlinear_infer,                                \
           LEATI_KERNELS(LEATI_KERNELS_SCALED_POINTWISE), .plan = qlinear_plan, .reads_view = leati_reads_rows,   \
           .channels_last = leati_elementwise_channels_last)
#define TYPES_OF_TWO LEATI_INPUT_TYPES(0, 1, 0, 0, 1, 0, 1, 0)
#define TYPES_OF_ONE LEATI_INPUT_TYPES(0, 1, 0, 1, 0)

static const leati_op_def ops[] = {
    QLINEAR("QLinearAdd", 8, LEAT_EW_ADD, TYPES_OF_TWO),
    QLINEAR("QLinearMul", 8, LEAT_EW_MUL, TYPES_OF_TWO),
    QLINEAR("QLinearLeakyRelu", 5, LEAT_EW_LEAKY_RELU, LEATI_ATTRIBUTES(&leati_attribute_alpha), TYPES_OF_ONE),
    QLINEAR("QLinearSigmoid", 5, LEAT_EW_SIGMOID, TYPES_OF_ONE),
};

const leati_op_family leati_qlinear_family = LEATI_FAMILY(ops);
