/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/attention_args.h"

#include <math.h>

#include "ops/attention/kernels/attention_codes.glsl"

/* So many keys before or behind a position, as kernels have it. */
static int32_t reach_of(int64_t keys) {
  return keys < 0 || keys > LEAT_ATTENTION_ALL ? LEAT_ATTENTION_ALL : (int32_t)keys;
}

leati_attention_args leati_attention_fill(const leati_attention *attention) {
  const leati_attention *const a = attention;
  const int64_t *const q = a->q.heads.shape;
  leati_attention_args args = {.lengths = leati_lengths_fill(&a->lengths),
                               .splits = 1,
                               .heads = (uint32_t)q[1],
                               .share = (uint32_t)(q[1] / a->k.heads.shape[1]),
                               .queries = (uint32_t)q[2],
                               .masked_keys = (uint32_t)a->masked_keys,
                               .depth = (uint32_t)q[3],
                               .width = (uint32_t)a->v.heads.shape[3],
                               .scale = a->scale,
                               .cap = a->cap,
                               .offset = (int32_t)a->offset,
                               .ends = a->ends,
                               .fresh = (int32_t)q[2],
                               .step = 1,
                               .before = reach_of(a->before),
                               .after = reach_of(a->after),
                               .sink_strides = {(int32_t)a->sink_strides[0], (int32_t)a->sink_strides[1]},
                               .sink = a->smooth ? 0.0f : -INFINITY,
                               .has_sinks = a->sinks != NULL};
  leati_heads_strides(&a->q.heads, args.q_strides);
  leati_heads_strides(&a->k.heads, args.k_strides);
  leati_heads_strides(&a->v.heads, args.v_strides);
  leati_heads_strides(&a->y.heads, args.y_strides);
  for (int32_t d = 0; d < 4; ++d) {
    args.mask_strides[d] = (int32_t)a->mask_strides[d];
  }
  args.across = (a->q.heads.strides[2] < a->q.heads.strides[3] ? LEAT_ATTENTION_Q : 0) |
                (a->k.heads.strides[2] < a->k.heads.strides[3] ? LEAT_ATTENTION_K : 0) |
                (a->v.heads.strides[2] < a->v.heads.strides[3] ? LEAT_ATTENTION_V : 0);
  args.mask_kind = a->mask == NULL                   ? LEAT_ATTENTION_MASK_NONE
                   : a->mask->type == LEAT_TYPE_BOOL ? LEAT_ATTENTION_MASK_BOOL
                                                     : LEAT_ATTENTION_MASK_ADDED;
  return args;
}

void leati_attention_fill_dividers(leati_attention_args *args) {
  args->per_splits = leati_divider_of(args->splits);
  args->per_blocks = leati_divider_of(args->blocks);
  args->per_heads = leati_divider_of(args->heads);
  args->per_share = leati_divider_of(args->share);
}

const leati_view *leati_attention_sinks(const leati_attention *attention) {
  return attention->sinks != NULL ? attention->sinks : &attention->q.view;
}
