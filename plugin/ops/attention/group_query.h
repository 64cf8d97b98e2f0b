/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Attention of com.microsoft's GroupQueryAttention, for operators that are it in other words: their state begins with
 * this one's, and their calls are turned into such of GroupQueryAttention, whose inputs are in its order.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_GROUP_QUERY_H_
#define LEAT_PLUGIN_OPS_ATTENTION_GROUP_QUERY_H_

#include "ops/core/op.h"

/** Inputs of GroupQueryAttention up to the angles: queries, keys, values, earlier keys and values, how many keys each
 * batch has and the longest one, cosines and sines. */
#define LEATI_GROUP_QUERY_TOTAL 6
#define LEATI_GROUP_QUERY_INPUTS 9

typedef struct leati_group_query_state {
  int64_t heads, kv_heads;
  float scale;    /**< 0: by the size of a head */
  float cap;      /**< 0: none */
  int64_t window; /**< keys that a query has, itself included; -1: all before it */
  float q_epsilon, k_epsilon;
  bool causal;
  bool rotates, interleaved;
  bool smooth;         /**< without sinks all of them are 0 */
  int32_t added;       /**< to numbers of keys, 0 or 1 */
  bool evicts;         /**< caches have room for the window, and give up what is before it */
  uint32_t bits;       /**< of the codes that caches have; 0: they have floats */
  bool by_channel[2];  /**< keys and values have a scale for each element of a head; else one for all */
  uint32_t score_form; /**< LEAT_ATTENTION_SCORES_... */
} leati_group_query_state;

/** Fails unless num_heads and kv_num_heads go together, and with the queries as far as these are known. The description
 * has queries and keys as its first inputs.
 * @errors INVALID_ARGUMENT, and those of leati_heads_check_size() */
int32_t leati_group_query_check_heads(const char *name, const leati_op_desc *desc, leat_error *err);
/** As of leati_op_def, for such a call of an operator whose state begins with leati_group_query_state. */
int32_t leati_group_query_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);
bool leati_group_query_host_range(const leat_op *op, const leati_call *call, uint32_t i, int64_t *out_least,
                                  int64_t *out_most);
/** Plans it.
 * @param mask what takes keys out: bool or of the operands' type, that kernels can walk, of batches or 1, heads or 1,
 *   queries and at least as many keys as there are positions; in place of input 10. NULL: that one
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: something has 2^31 elements or more */
int32_t leati_group_query_attend(const leat_op *op, leati_planner *planner, const leati_call *call,
                                 const leati_view *mask, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_GROUP_QUERY_H_ */
