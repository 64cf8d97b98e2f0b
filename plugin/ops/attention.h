/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Attention, for all families whose operators come down to one.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_H_
#define LEAT_PLUGIN_OPS_ATTENTION_H_

#include "ops/kv_cache.h"
#include "ops/op.h"

/** y = softmax(cap(scale q k') + mask) v for each head of the queries, all of one type of float. Where there are fewer
 * heads of keys and values, as many heads of queries share each. */
typedef struct leati_attention {
  leati_operand q, k, v;   /**< that kernels can walk */
  leati_operand y;         /**< compact in some order of its dimensions */
  const leati_view *mask;  /**< of the operands' type or bool, which kernels can walk; NULL: none */
  int64_t mask_strides[4]; /**< of batch, head, query and key: 0 where it is repeated */
  int64_t masked_keys;     /**< keys that the mask has, which takes the others out; all keys where there is none */
  float scale;
  float cap;             /**< 0: none */
  bool causal;           /**< a query has the keys up to its own position */
  int64_t offset;        /**< position of the first query among the keys, */
  bool ends;             /**< or the last query of a batch has that of its last key */
  leati_lengths lengths; /**< how many keys */
  int64_t before;        /**< keys before its own position that a query has; negative: all */
} leati_attention;

/** Plans it, as one dispatch. Nothing is done when y has no elements.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_plan_attention(leati_planner *planner, leati_attention *attention, leat_error *err);

/** Fails if an attention over so many keys, with heads of so many elements of queries and of values, takes more rounds
 * of a loop than the device gives.
 * @errors NOT_SUPPORTED */
int32_t leati_attention_check_rounds(const leat_op *op, int64_t keys, int64_t depth, int64_t width, leat_error *err);

/** Plans what puts the new keys and values of an attention behind earlier ones: its k and v become the results, which
 * are outputs 1 and 2 or, where those are not wanted, temporaries of `positions`. `append` has lengths and rotation;
 * its parts are written here: keys and values, behind `past` keys and values or NULL, and if they are rotated the
 * queries. */
int32_t leati_attention_append(leati_planner *planner, const leati_call *call, leati_attention *attention,
                               const leati_view *past_key, const leati_view *past_value, int64_t positions,
                               leati_append *append, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_H_ */
