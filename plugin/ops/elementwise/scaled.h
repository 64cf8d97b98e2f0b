/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tensors of int8 or uint8 that stand for floats, with the scale and the zero point that operators have as inputs.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_SCALED_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_SCALED_H_

#include "ops/core/op.h"

/** Bytes that stand for (byte - zero) scale; or a tensor of float32. */
typedef struct leati_scaled {
  leati_view view;
  const leati_view *scale; /**< one float32; NULL: the tensor is of float32 */
  const leati_view *zero;  /**< one of the bytes' type; NULL: 0 */
} leati_scaled;

/** Type constraints of the operators. */
extern const leat_op_type leati_type_scaled; /**< "T": int8, uint8 */
extern const leat_op_type leati_type_scale;  /**< "tensor(float)" */

/** Fails unless input `i` is a scale of one element, and the next one a zero point of one, or absent.
 * @errors INVALID_ARGUMENT */
int32_t leati_check_scale(const leat_op *op, const leati_call *call, uint32_t i, leat_error *err);

/** The same of an operator with the inputs x, x_scale, x_zero, y_scale and y_zero. */
static inline int32_t leati_check_scales(const leat_op *op, const leati_call *call, leat_error *err) {
  const int32_t status = leati_check_scale(op, call, 1, err);
  return status == LEAT_OK ? leati_check_scale(op, call, 3, err) : status;
}

/** A tensor whose scale is input `i`, and its zero point the next one. */
leati_scaled leati_scaled_by(const leati_call *call, const leati_view *view, uint32_t i);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_SCALED_H_ */
