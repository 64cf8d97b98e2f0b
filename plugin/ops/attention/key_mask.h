/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Masks of whole numbers, as com.microsoft's operators have them, as what is added to scores.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_KEY_MASK_H_
#define LEAT_PLUGIN_OPS_ATTENTION_KEY_MASK_H_

#include "ops/core/planner.h"

/** What the numbers of a mask are about, by its shape. */
typedef enum leati_key_mask_form {
  LEATI_KEY_MASK_UNKNOWN,
  LEATI_KEY_MASK_ENDS,        /**< [batches] or [3 batches + 2]: where the keys of a batch end; */
  LEATI_KEY_MASK_ENDS_STARTS, /**< [2 batches]: and, behind all ends, where they start; */
  LEATI_KEY_MASK_KEYS,        /**< [batches, keys]: above 0 for a key that counts, the same for all queries, */
  LEATI_KEY_MASK_SCORES,      /**< [batches, queries, keys]: or for each one, */
  LEATI_KEY_MASK_SQUARE,      /**< [batches, 1, positions, positions]: by position, earlier ones of keys included; */
  LEATI_KEY_MASK_ALIKE        /**< [batches or 1, 1]: all keys are alike, so that there might be no mask */
} leati_key_mask_form;

/** Sizes of the scores that a mask is for; `earlier`: keys before the first query's own. */
typedef struct leati_scores {
  int64_t batches, heads, queries, keys, earlier;
} leati_scores;

/** The form of a mask of int32. */
leati_key_mask_form leati_key_mask_form_of(const leati_view *numbers, const leati_scores *scores);

/** Plans, as one dispatch, a temporary of as many dimensions as scores have, each of one element where nothing depends
 * on it: 0 or `filter`, and what is added to scores anyway. Neither sum is below the lowest number of its type, so that
 * a query none of whose keys counts weighs them as if there was no mask.
 * @param numbers that kernels can walk, of a form that is known and not LEATI_KEY_MASK_ALIKE
 * @param added NULL, or of four dimensions, of this type, that kernels can walk and that broadcasts to the scores
 * @param filter added for a key that does not count
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: a result of 2^31 elements or more */
int32_t leati_plan_key_mask(leati_planner *planner, const leati_view *numbers, const leati_view *added,
                            const leati_scores *scores, uint64_t type, float filter, leati_view *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_KEY_MASK_H_ */
