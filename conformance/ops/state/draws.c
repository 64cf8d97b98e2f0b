/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/draw.h"

/* Adds an input, or leaves it out; its numbers are plain, because what lies between positions is not told. */
static void add(leati_draw *d, int chance, uint64_t type, int32_t rank, const int64_t *dims) {
  if (leati_draw_chance(d, chance)) {
    leati_draw_input(d, type, rank, dims)->plain = true;
  } else {
    leati_draw_absent(d);
  }
}

static void causal_conv(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const bool microsoft = d->since_version == 1, last = microsoft && leati_draw_chance(d, 40);
  const int64_t taps = leati_draw_int(d, 1, 5);
  int64_t dilation = 1;
  if (microsoft && leati_draw_chance(d, 40)) {
    dilation = leati_draw_int(d, 1, 3);
    leati_draw_attribute_int(d, "dilation", dilation);
  }
  /* The channels may be several dimensions where they are last. */
  const int32_t rank = last ? leati_draw_rank(d, 3, 4) : 3, axis = last ? 1 : 2;
  int64_t x[4], state[4], channels = 1;
  for (int32_t k = 0; k < rank; ++k) {
    x[k] = state[k] = leati_draw_int(d, least, k == axis ? 7 : 4);
    channels *= k == 0 || k == axis ? 1 : x[k];
  }
  state[axis] = (taps - 1) * dilation;
  const int64_t weights[] = {channels, 1, taps};
  add(d, 100, type, rank, x);
  add(d, 100, type, 3, weights);
  add(d, 60, type, 1, &channels);
  add(d, 60, type, rank, state);
  if (microsoft) {
    leati_draw_attribute_int(d, "channels_last", last);
    leati_draw_attribute_int(d, "ndim", leati_draw_chance(d, 3) ? 2 : 1);
    leati_draw_attribute_int(d, "state_window", 0);
    leati_draw_attribute_int(d, "state_length", 0);
    leati_draw_attribute_int(d, "state_channels_last", -1);
    leati_draw_attribute_int(d, "state_update_capacity", 0);
    leati_draw_attribute_int(d, "input_channels", 0);
    leati_draw_attribute_int(d, "input_channel_offset", 0);
  }
  if (leati_draw_chance(d, 60)) {
    static const char *const names[] = {"none", "silu", "swish", "relu"};
    leati_draw_attribute_string(d, "activation", names[leati_draw_int(d, 0, leati_draw_chance(d, 5) ? 3 : 2)]);
  }
  d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
}

static void linear_attention(leati_draw *d) {
  static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T"), state_type = leati_draw_type(d, "S");
  const bool microsoft = d->since_version == 1;
  const int64_t rule = leati_draw_int(d, 0, 3);
  int64_t heads = leati_draw_int(d, 1, 3), query_heads = heads * leati_draw_int(d, 1, 3), key_heads = heads;
  if (microsoft && leati_draw_chance(d, 40)) {
    key_heads = query_heads = leati_draw_int(d, 1, 2);
    heads = query_heads * leati_draw_int(d, 1, 3);
  }
  const int64_t batch = leati_draw_int(d, least, 3), tokens = leati_draw_int(d, least, 5);
  const int64_t key_size = leati_draw_int(d, 1, leati_draw_chance(d, 20) ? 33 : 6),
                value_size = leati_draw_int(d, least, 7);
  const int64_t query[] = {batch, tokens, query_heads * key_size}, key[] = {batch, tokens, key_heads * key_size};
  const int64_t value[] = {batch, tokens, heads * value_size}, state[] = {batch, heads, key_size, value_size};
  const int64_t decay[] = {batch, tokens, leati_draw_chance(d, 50) ? heads : heads * key_size};
  const int64_t beta[] = {batch, tokens, leati_draw_chance(d, 50) ? heads : 1};
  add(d, 100, type, 3, query);
  add(d, 100, type, 3, key);
  add(d, 100, type, 3, value);
  add(d, 60, state_type, 4, state);
  if (rule == 1 || rule == 3) {
    /* A state that grows from token to token tells nothing. */
    leati_draw_tensor *const faded = leati_draw_input(d, type, 3, decay);
    leati_draw_range(d, faded, -3, 0);
    faded->plain = true;
  } else {
    leati_draw_absent(d);
  }
  add(d, rule >= 2 ? 100 : 10, type, 3, beta);
  leati_draw_attribute_int(d, "q_num_heads", query_heads);
  leati_draw_attribute_int(d, "kv_num_heads", heads);
  leati_draw_attribute_string(d, "update_rule", rules[rule]);
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "scale", leati_draw_chance(d, 50) ? 0 : 0.75);
  }
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "chunk_size", leati_draw_int(d, 0, 64));
  }
  leati_draw_attribute_int(d, "state_window", 0);
  d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
}

static void gate(leati_draw *d) {
  int32_t rank;
  int64_t dims[LEAT_MAX_RANK];
  leati_draw_any(d, "T", 1, 4, &rank, dims);
  const uint64_t type = d->inputs[0].type;
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &dims[rank - 1]);
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &dims[rank - 1]);
  add(d, 70, type, rank, dims);
  d->output_count = d->inputs[3].present ? (uint32_t)leati_draw_int(d, 1, 2) : 1;
}

const leati_draw_entry leati_draws_state[] = {
    {"conv", "", "CausalConvWithState", NULL, causal_conv},
    {"conv", LEAT_MICROSOFT, "CausalConvWithState", NULL, causal_conv},
    {"matmul", "", "LinearAttention", NULL, linear_attention},
    {"matmul", LEAT_MICROSOFT, "LinearAttention", NULL, linear_attention},
    {"norm", LEAT_MICROSOFT, "LinearAttentionGate", NULL, gate},
    {NULL, NULL, NULL, NULL, NULL},
};
