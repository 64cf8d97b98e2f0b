/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tensors of one value.
 */
#ifndef LEAT_PLUGIN_OPS_MOVEMENT_FILL_H_
#define LEAT_PLUGIN_OPS_MOVEMENT_FILL_H_

#include "ops/core/op.h"

/** Plans every element of `dst`, which is compact, to have the bits of `value`.
 * @errors NOT_SUPPORTED: there are too many; OUT_OF_MEMORY, INTERNAL */
int32_t leati_plan_fill(leati_planner *planner, const leati_view *dst, uint64_t value, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_MOVEMENT_FILL_H_ */
