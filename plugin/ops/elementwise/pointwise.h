/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What programs of the operator leat.Pointwise are made of, and those of one function that other families have.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_POINTWISE_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_POINTWISE_H_

#include "ops/core/op.h"
#include "ops/elementwise/function.h"
#include "ops/elementwise/kernels/elementwise_codes.glsl"
#include "ops/elementwise/scaled.h"

/** The name that the function of an operation (LEAT_EW_*) has in programs, and how many operands; NULL: it has none. */
const char *leati_pointwise_name(uint32_t operation, uint32_t *out_operands);

/** Plans a function of one or two tensors that broadcast to the result: those of bytes dequantised as DequantizeLinear
 * does, the result, which may have any strides, quantised as QuantizeLinear does if it is of bytes.
 * @param computed [in] an operation of programs; its parameters are constants behind the operands
 * @errors NOT_SUPPORTED: a tensor reaches over 2^31 elements */
int32_t leati_plan_scaled(leati_planner *planner, const leati_function *computed, const leati_scaled *operands,
                          uint32_t operand_count, const leati_scaled *result, leat_error *err);

/** Plans an operator with the inputs x, x_scale, x_zero, y_scale and y_zero as `plan` plans one of x alone, of float32.
 * @errors as leati_plan_scaled() and `plan` */
int32_t leati_plan_as_floats(const leat_op *op, leati_planner *planner, const leati_call *call,
                             int32_t (*plan)(const leat_op *, leati_planner *, const leati_call *, leat_error *),
                             leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_POINTWISE_H_ */
