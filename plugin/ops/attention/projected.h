/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Queries, keys and values that one product makes side by side, as com.microsoft's Attention has them, and its kind.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_PROJECTED_H_
#define LEAT_PLUGIN_OPS_ATTENTION_PROJECTED_H_

#include "ops/attention/multi_head_plan.h"

/** What such an operator has of attributes. */
typedef struct leati_projected_state {
  int64_t heads;
  int64_t sizes[3]; /**< elements of queries, keys and values of a position; all 0: a third each */
  float scale, filter;
  bool causal;
  bool shares; /**< past keys and values have room for new ones, and a number says how many positions count */
} leati_projected_state;

/** Checks an input [batches, positions, elements], weights [elements, elements of queries, keys and values] and a bias
 * of the latter (NULL: none), of which rank and shape are there; and gives what they make, of the type of `like`,
 * without memory.
 * @errors INVALID_ARGUMENT */
int32_t leati_projection_of(const leat_op *op, const leati_view *x, const leati_view *weights, const leati_view *bias,
                            const leati_view *like, leati_view *out, leat_error *err);

/** Attributes of it: num_heads, unidirectional, scale, mask_filter_value, do_rotary, rotary_embedding_dim,
 * past_present_share_buffer; and qkv_hidden_sizes. */
extern const leat_op_attribute leati_attribute_num_heads, leati_attribute_unidirectional,
    leati_attribute_projected_scale, leati_attribute_mask_filter_value, leati_attribute_do_rotary,
    leati_attribute_rotary_embedding_dim, leati_attribute_past_present_share_buffer, leati_attribute_qkv_hidden_sizes;

/** Reads them; those that an operator lacks are absent.
 * @errors INVALID_ARGUMENT; NOT_SUPPORTED: do_rotary */
int32_t leati_projected_read(const leati_op_def *def, const leati_op_desc *desc, leati_projected_state *out,
                             leat_error *err);

/** What goes with a projection. NULL ones are not there. */
typedef struct leati_projected_inputs {
  const leati_view *mask;       /**< of int32, in any form of key_mask.h */
  const leati_view *past;       /**< [2, batches, heads, positions, elements of a head]: keys and values */
  const leati_view *added;      /**< to scores */
  const leati_view *past_count; /**< one number on the host, of a state that shares */
} leati_projected_inputs;

/** Takes a projection [batches, positions, elements of queries, keys and values], of which at first nothing but type
 * and shape need be there, as an attention, and checks that. `past` are two views that `out` goes on to point to, as it
 * does to what goes with it.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_projected_take(const leat_op *op, const leati_projected_state *state, const leati_view *projection,
                             const leati_projected_inputs *with, leati_view past[2], leati_multi_head *out,
                             leat_error *err);

/** Gives optional input `i` of a call as kernels can walk it, in `view`; NULL: it is not there.
 * @errors as leati_plan_walkable() */
int32_t leati_projected_walk(leati_planner *planner, const leati_call *call, uint32_t i, leati_view *view,
                             const leati_view **out, leat_error *err);

/** The shapes of the result and of keys and values together, [2, batches, heads, positions, elements of a head].
 * @errors INVALID_ARGUMENT: keys and values, which are wanted together, have heads of two sizes */
int32_t leati_projected_infer(const leat_op *op, const leati_multi_head *in, uint32_t output_count, leat_shape *out,
                              leat_error *err);

/** Plans one; `y` and `present` (NULL: nobody wants it) are outputs of these shapes.
 * @errors as leati_plan_multi_head() */
int32_t leati_plan_projected(leati_planner *planner, leati_multi_head *in, const leati_view *y,
                             const leati_view *present, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_PROJECTED_H_ */
