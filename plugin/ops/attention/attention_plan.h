/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How attention is planned: which kernel does it, and what goes before it.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_PLAN_H_
#define LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_PLAN_H_

#include "ops/attention/attention_args.h"
#include "ops/core/op.h"

/** Plans an attention, as one dispatch. Nothing is done when y has no elements.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_plan_attention(leati_planner *planner, leati_attention *attention, leat_error *err);

/** Plans one whose keys and values go behind earlier ones: its k and v become the results, which are outputs 1 and 2
 * or, where those are not wanted, temporaries of `positions`. `append` has lengths and rotation; its parts are written
 * here: keys and values, behind `past` keys and values or NULL, and if they are rotated the queries. */
int32_t leati_plan_attention_behind(leati_planner *planner, const leati_call *call, leati_attention *attention,
                                    const leati_view *past_key, const leati_view *past_value, int64_t positions,
                                    leati_append *append, leat_error *err);

/** Fails if an attention over so many keys, with heads of so many elements of queries and of values, takes more rounds
 * of a loop than the device gives.
 * @errors NOT_SUPPORTED */
int32_t leati_attention_check_rounds(const leat_op *op, int64_t keys, int64_t depth, int64_t width, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_PLAN_H_ */
