/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How attention is planned: which kernel does it, and what goes before it.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_PLAN_H_
#define LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_PLAN_H_

#include "ops/attention/attention_args.h"
#include "ops/attention/kv_codes.h"
#include "ops/core/op.h"

/** Plans an attention, as one dispatch, and before it scores that are wanted. Nothing is done when y has no elements.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_plan_attention(leati_planner *planner, leati_attention *attention, leat_error *err);

/** Earlier keys and values, which kernels can walk or not, and what they become with the new ones behind them; NULL:
 * there are none, and nobody wants that. */
typedef struct leati_past {
  const leati_view *keys, *values;
  const leati_view *to_keys, *to_values;
  const leati_kv_code *code; /**< NULL: they are floats; else they are all codes, and attention has what they stand for,
                                also of new ones; there are earlier ones then, perhaps without positions */
} leati_past;

/** Plans one whose keys and values go behind earlier ones: its k and v become the results, which are temporaries of
 * `positions` where nobody wants them. `append` has lengths, rotation, origins, and of its parts, which are keys,
 * values and queries, what is added to them; the rest of these is written here. Codes have no origins. Queries are a
 * part if they are rotated or something is added to them, keys and values if anything at all is done with them. */
int32_t leati_plan_attention_behind(leati_planner *planner, leati_attention *attention, const leati_past *past,
                                    int64_t positions, leati_append *append, leat_error *err);

/** Fails if an attention over so many keys, with heads of so many elements of queries and of values, takes more rounds
 * of a loop than the device gives.
 * @errors NOT_SUPPORTED */
int32_t leati_attention_check_rounds(const leat_op *op, int64_t keys, int64_t depth, int64_t width, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_PLAN_H_ */
