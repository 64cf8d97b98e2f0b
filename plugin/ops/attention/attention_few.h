/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Attention of few queries, by a kernel that reads each key once for all heads that share it.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_FEW_H_
#define LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_FEW_H_

#include "ops/attention/attention_args.h"

/** Whether the kernel does an attention, and is the one for it.
 * @param append what goes behind what before, whose first two parts are the attention's keys and values, with `to` NULL
 *   where nobody wants the result; NULL: nothing, k and v are whole */
bool leati_attention_few_fits(const leat_device *device, const leati_attention *attention, const leati_append *append);

/** Plans one that fits, and all of what goes behind what, as one dispatch.
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: a result of 2^31 elements or more */
int32_t leati_plan_attention_few(leati_planner *planner, const leati_attention *attention, const leati_append *append,
                                 leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_FEW_H_ */
