/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Quantisation by the range of what is quantised, for all families whose operators begin with it.
 */
#ifndef LEAT_PLUGIN_OPS_QUANTIZE_DYNAMIC_QUANTIZE_H_
#define LEAT_PLUGIN_OPS_QUANTIZE_DYNAMIC_QUANTIZE_H_

#include "ops/core/op.h"

/** Plans what DynamicQuantizeLinear does: `y`, of uint8, stands for the elements of `x`, of float32, with one scale, of
 * float32, and one zero point, of uint8. All but `x` are compact.
 * @errors NOT_SUPPORTED: 2^31 elements or more */
int32_t leati_plan_dynamic_quantize(leati_planner *planner, const leati_view *x, const leati_view *y,
                                    const leati_view *scale, const leati_view *zero, leat_error *err);

/** Such a tensor. */
typedef struct leati_quantized {
  leati_view bytes, scale, zero;
} leati_quantized;
/** Plans it in temporaries: three, and one for ranges where `x` is large.
 * @errors as above */
int32_t leati_plan_dynamically_quantized(leati_planner *planner, const leati_view *x, leati_quantized *out,
                                         leat_error *err);

#endif /* LEAT_PLUGIN_OPS_QUANTIZE_DYNAMIC_QUANTIZE_H_ */
