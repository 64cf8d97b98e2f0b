/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Triangles of matrices.
 */
#ifndef LEAT_PLUGIN_OPS_MOVEMENT_TRILU_H_
#define LEAT_PLUGIN_OPS_MOVEMENT_TRILU_H_

#include "ops/core/op.h"

/** Plans `dst`, which is compact, to be the elements of `src` that lie on a diagonal (0: the main one, 1: that above
 * it) and above or below it, and 0 elsewhere.
 * @errors NOT_SUPPORTED: too many elements; those of leati_plan_dispatch() */
int32_t leati_plan_trilu(leati_planner *planner, const leati_view *src, const leati_view *dst, bool upper,
                         int32_t diagonal, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_MOVEMENT_TRILU_H_ */
