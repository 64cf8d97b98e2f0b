/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Normalisation of rows, for other operators that begin with one.
 */
#ifndef LEAT_PLUGIN_OPS_NORM_NORM_H_
#define LEAT_PLUGIN_OPS_NORM_NORM_H_

#include "ops/core/op.h"

/** Plans RMSNormalization of the last dimension of `x`, with a scale of one row; y is compact and has x's shape.
 * `name`: of the operator that it is for.
 * @errors NOT_SUPPORTED: x has 2^31 elements or more, or rows that are too long */
int32_t leati_plan_rms_norm(leati_planner *planner, const char *name, const leati_view *x, const leati_view *scale,
                            float epsilon, const leati_view *y, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_NORM_NORM_H_ */
