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

/** Of a program that an operator always has, at most. */
#define LEATI_PROGRAM_STEPS_MAX 4
#define LEATI_PROGRAM_CONSTANTS_MAX 2

/** A step of a program: an operation of programs (LEAT_EW_*) and what it takes: inputs from 0 up, then the results of
 * earlier steps; negative numbers count constants from -1 on. */
typedef struct leati_program_step {
  uint32_t operation;
  int32_t operands[3];
} leati_program_step;

/** A program, the result of whose last step is the result. Each step rounds to the type of the result. */
typedef struct leati_program {
  uint32_t input_count, step_count, constant_count;
  leati_program_step steps[LEATI_PROGRAM_STEPS_MAX];
  float constants[LEATI_PROGRAM_CONSTANTS_MAX];
} leati_program;

/** The name that the function of an operation (LEAT_EW_*) has in programs, and how many operands; NULL: it has none. */
const char *leati_pointwise_name(uint32_t operation, uint32_t *out_operands);

/** Plans a program of tensors of one type (LEATI_TYPES_REAL) with any strides that broadcast to the result, which has
 * any strides too.
 * @param inputs [in] as many as the program has
 * @errors NOT_SUPPORTED: a tensor reaches over 2^31 elements */
int32_t leati_plan_program(leati_planner *planner, const leati_program *program, const leati_view *inputs,
                           const leati_view *result, leat_error *err);

/** Plans a function of one or two tensors that broadcast to the result: those of bytes dequantised as DequantizeLinear
 * does, the result, which may have any strides, quantised as QuantizeLinear does if it is of bytes.
 * @param computed [in] an operation of programs; its parameters are constants behind the operands
 * @errors NOT_SUPPORTED: a tensor reaches over 2^31 elements */
int32_t leati_plan_scaled(leati_planner *planner, const leati_function *computed, const leati_scaled *operands,
                          uint32_t operand_count, const leati_scaled *result, leat_error *err);

/** Plans an operator with the inputs x, x_scale, x_zero, y_scale and y_zero as `plan` plans one of x alone, of float32.
 * With `last` its tensors are in NHWC layout where those of bytes are, else compact.
 * @errors as leati_plan_scaled() and `plan` */
int32_t leati_plan_as_floats(const leat_op *op, leati_planner *planner, const leati_call *call,
                             int32_t (*plan)(const leat_op *, leati_planner *, const leati_call *, leat_error *),
                             bool last, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_POINTWISE_H_ */
