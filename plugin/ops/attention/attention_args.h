/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Attention as kernels have it, for all families whose operators come down to one.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_ARGS_H_
#define LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_ARGS_H_

#include "ops/attention/kv_cache.h"
#include "ops/core/divider.h"

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
  uint32_t zeroed;       /**< LEAT_ATTENTION_ZEROED_...: which queries give 0 in the place of NaN */
  int64_t offset;        /**< position of the first query among the keys, */
  bool ends;             /**< or the last query of a batch has that of its last key */
  leati_lengths lengths; /**< how many keys */
  int64_t before, after; /**< keys before and behind its own position that a query has; negative: all; after is 0 where
                          * attention is causal */
  /** A sink is the score of one more key, whose value is 0, and which each query has: */
  bool smooth;             /**< all are 0, */
  const leati_view *sinks; /**< or of each head of the queries one, of the operands' type, that kernels can walk; */
  int64_t sink_strides[2]; /**< by head and query; NULL and not smooth: there are none */
  /** What scores become, if they are wanted: compact, of batches, heads of queries, queries and as many keys as it has,
   * of the operands' type; in the form LEAT_ATTENTION_SCORES_... */
  const leati_view *scores;
  uint32_t score_form;
} leati_attention;

/** Argument record of kernels of attention; Args of kernels/attention_args.glsl. */
typedef struct leati_attention_args {
  uint64_t q, k, v, mask, y, sinks;
  leati_lengths_args lengths;
  uint64_t pieces, counters;
  int32_t q_strides[4], k_strides[4], v_strides[4], mask_strides[4], y_strides[4];
  uint32_t groups, blocks;
  uint32_t splits;
  uint32_t heads, share;
  leati_divider per_splits, per_blocks, per_heads, per_share;
  uint32_t queries;
  uint32_t masked_keys;
  uint32_t depth, width;
  float scale, cap;
  uint32_t mask_kind;
  int32_t offset;
  uint32_t ends;
  int32_t fresh, step, before, after;
  uint32_t across;
  int32_t sink_strides[2];
  float sink;
  uint32_t has_sinks;
} leati_attention_args;

/** Fills in the record, but for addresses, how work is cut, and dividers; */
leati_attention_args leati_attention_fill(const leati_attention *attention);
/** and these, when all else is there. */
void leati_attention_fill_dividers(leati_attention_args *args);

/**
 * What to give kernels as `sinks`: where there are none, the queries. A driver may read the first of them before it
 * looks at `has_sinks` (lavapipe of Mesa 26.1 does).
 */
const leati_view *leati_attention_sinks(const leati_attention *attention);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_ATTENTION_ARGS_H_ */
