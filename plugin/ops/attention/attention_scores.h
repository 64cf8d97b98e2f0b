/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Scores of an attention as a tensor of their own, beside its result.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_SCORES_H_
#define LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_SCORES_H_

#include "ops/attention/attention_args.h"

/** Plans the scores of an attention that wants them, whose k are all keys, as one dispatch. A key that is not taken has
 * a product, and its score with the mask is -infinity, its weight 0. Sinks have no place of their own. Nothing is done
 * when there are none.
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: 2^31 scores or more */
int32_t leati_plan_attention_scores(leati_planner *planner, const leati_attention *attention, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_SCORES_H_ */
