/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the families share that compute each element of their result from one element of each operand, with
 * broadcasting: unary, binary, ternary and cast. Their kernels have one source, kernels/elementwise.comp.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_ELEMENTWISE_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_ELEMENTWISE_H_

#include "ops/core/op.h"
#include "ops/elementwise/kernels/elementwise_codes.glsl"

#define LEATI_TYPES_SIGNED (LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64)
#define LEATI_TYPES_UNSIGNED (LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64)
#define LEATI_TYPES_NUMBER (LEATI_TYPES_REAL | LEATI_TYPES_SIGNED | LEATI_TYPES_UNSIGNED)

/** Type constraints of these families. */
extern const leat_op_type leati_type_number;    /**< "T": LEATI_TYPES_NUMBER */
extern const leat_op_type leati_type_bits;      /**< "T": LEATI_TYPES_SIGNED and LEATI_TYPES_UNSIGNED */
extern const leat_op_type leati_type_bool_in;   /**< "T": bool */
extern const leat_op_type leati_type_condition; /**< "B": bool */

#define LEATI_OPERANDS_MAX 3

/** One use of the kernel. */
typedef struct leati_elementwise {
  leati_kernel kernel;
  uint32_t operation;         /**< LEAT_EW_* */
  uint32_t type_in, type_out; /**< specialisation constants */
  const float *parameters;    /**< two, or NULL */
  uint32_t operand_count;     /**< 1 to LEATI_OPERANDS_MAX */
  const leati_view *operands[LEATI_OPERANDS_MAX];
  const char *divides; /**< NULL, or the name of an operator of two integers that may meet a zero divisor */
} leati_elementwise;

/** Plans the kernel's use with this result.
 * @errors NOT_SUPPORTED: a tensor reaches over 2^31 elements */
int32_t leati_plan_elementwise(leati_planner *planner, const leati_elementwise *e, const leati_view *result,
                               leat_error *err);

/** Plans what Where does: each element of `x` or, where the condition is false, of `y`; they broadcast to the result.
 * @errors as leati_plan_elementwise() */
int32_t leati_plan_where(leati_planner *planner, const leati_view *condition, const leati_view *x, const leati_view *y,
                         const leati_view *result, leat_error *err);

/** Plans the conversion of `x`, which broadcasts to it, to the type of `result`, as Cast converts.
 * @errors as leati_plan_elementwise() */
int32_t leati_plan_cast(leati_planner *planner, const leati_view *x, const leati_view *result, leat_error *err);

/** Makes a float32 temporary of a view's shape, for an operator on floats of 16 bits that goes on from what it
 * computed, and rounds at the end.
 * @errors as leati_plan_temporary() */
int32_t leati_plan_wide(leati_planner *planner, const leati_view *like, leati_view *out, leat_error *err);

/** A LEAT_TYPE_* as the kernels of Cast and Pow are told of it. */
static inline uint32_t leati_type_code(uint64_t type) {
  return (uint32_t)__builtin_ctzll(type);
}

/** leati_op_def::channels_last of operators whose plan is one use of such a kernel. */
leati_channels_last_use leati_elementwise_channels_last(const leat_op *op, const leati_call *call, uint32_t constants);

/** leati_op_def::supports of operators whose operands broadcast. */
int32_t leati_supports_broadcast(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                 leat_error *err);
/** The result has the shape that all operands broadcast to. */
int32_t leati_infer_broadcast(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_ELEMENTWISE_H_ */
