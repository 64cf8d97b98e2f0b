/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Attention as com.microsoft's operators have it that have one number of heads: of queries, keys and values as views,
 * however they were made, with what is added to these, earlier keys and values, and masks of whole numbers.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_MULTI_HEAD_PLAN_H_
#define LEAT_PLUGIN_OPS_ATTENTION_MULTI_HEAD_PLAN_H_

#include "ops/attention/heads.h"
#include "ops/attention/key_mask.h"
#include "ops/core/op.h"

/** What kernels of it an operator lists. */
#define LEATI_KERNELS_OF_MULTI_HEAD \
  LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256, LEATI_KERNELS_APPEND, LEATI_KERNELS_KEY_MASK

/** One attention. Views of all but earlier keys and values are such that kernels can walk them; of one that is only
 * checked none but rank and shape count. NULL ones are not there. */
typedef struct leati_multi_head {
  leati_operand q, k, v;      /**< of one type of float */
  const leati_view *bias;     /**< of one dimension: is added to queries, new keys and values, one after the other; */
  bool bias_of_queries;       /**< or of these to queries alone, */
  const leati_view *key_mask; /**< of int32, in one of these forms: bits by leati_key_mask_form */
  uint32_t key_mask_forms;
  const leati_view *added;      /**< to scores: [batches or 1, heads or 1, queries, keys in all] */
  const leati_view *past[2];    /**< earlier keys and values: [batches, heads, positions, elements of a head] */
  int64_t past_count;           /**< positions of these that count; -1: all, */
  int64_t room;                 /**< else positions that keys and values have in the end; */
  const leati_view *present[2]; /**< which become these, if they are wanted */
  const leati_view *scores;     /**< [batches, heads, queries, keys in all], which become those before the softmax, with
                                     what is added to them, if they are wanted; not with `causal` */
  const leati_view *origins;    /**< of int32, compact, [.., beams, positions]: leati_append::origins */
  float scale;                  /**< 0: by the size of a head */
  float filter;                 /**< is added to the score of a key that the mask does not have */
  bool causal;                  /**< a query has no key behind its own position */
} leati_multi_head;

/** Reads how many positions of past keys and values count, of one number on the host.
 * @errors INVALID_ARGUMENT */
int32_t leati_multi_head_read_past_count(const leat_op *op, const leati_view *number, int64_t *out, leat_error *err);

/** Positions that keys and values have: `*out_keys` of them count, and there is room for `*out_room`. */
void leati_multi_head_positions(const leati_multi_head *in, int64_t *out_keys, int64_t *out_room);

/** Fails unless all of it goes together, and the device can do it. `op` names the operator in messages.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_multi_head_check(const leat_op *op, const leati_multi_head *in, leat_error *err);

/** Fills in the shapes of the result, with heads side by side, and of keys and values with the earlier ones. */
void leati_multi_head_infer(const leati_multi_head *in, leat_shape *out_result, leat_shape *out_keys,
                            leat_shape *out_values);

/** Plans one that was checked; `y` is compact, of the shape of leati_multi_head_infer().
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: something has 2^31 elements or more */
int32_t leati_plan_multi_head(leati_planner *planner, const leati_multi_head *in, const leati_view *y, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_MULTI_HEAD_PLAN_H_ */
