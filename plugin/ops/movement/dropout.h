/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What operators share that drop elements when they train, which Leat does not.
 */
#ifndef LEAT_PLUGIN_OPS_MOVEMENT_DROPOUT_H_
#define LEAT_PLUGIN_OPS_MOVEMENT_DROPOUT_H_

#include "ops/core/op.h"

/** Fails unless input `training`, if there is one, is known and one false: a host that is refused here has another
 * place to run it, later it has none.
 * @errors NOT_SUPPORTED */
int32_t leati_dropout_supports(const leati_op_def *def, const leati_op_desc *desc, uint32_t training, leat_error *err);

/** The shapes and types of the result, and of its mask, which are those of input 0; fails as the former does.
 * @errors NOT_SUPPORTED */
int32_t leati_dropout_infer(const leat_op *op, const leati_call *call, uint32_t training, leat_shape *out,
                            leat_error *err);

#endif /* LEAT_PLUGIN_OPS_MOVEMENT_DROPOUT_H_ */
