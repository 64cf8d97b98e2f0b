/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

/* The type of a mask: that of what it is added to, or bool where the operator takes it. */
static uint64_t mask_type(leati_draw *d, uint64_t type, bool or_bool) {
  return or_bool && leati_draw_chance(d, 50) ? LEAT_TYPE_BOOL : type;
}

/* Elements of a head, from `least`: often whole pieces of 16 bytes of any float, as heads of models are. */
static int64_t head_size(leati_draw *d, int64_t least) {
  const int64_t size = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 150 : 9);
  return leati_draw_chance(d, 50) ? (size + 7) / 8 * 8 : size;
}

/* Queries, keys and values, and perhaps a mask. */
static void attention(leati_draw *d) {
  const bool flat = leati_draw_chance(d, 50);
  const uint64_t type = leati_draw_type(d, "T1");
  const int64_t least = d->empty ? 0 : 1;
  const int64_t batch = leati_draw_int(d, least, 3);
  const int64_t shared = leati_draw_int(d, 1, 3);
  const int64_t queries = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 6);
  const int64_t keys = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 80 : 6);
  const int64_t heads = shared * leati_draw_int(d, 1, 3);
  const int64_t depth = head_size(d, 1);
  const int64_t width = head_size(d, 1);
  const int64_t past = leati_draw_chance(d, 30) ? leati_draw_int(d, 0, 40) : -1;
  const int64_t counts[3] = {heads, shared, shared}, sizes[3] = {depth, depth, width};
  for (int k = 0; k < 3; ++k) {
    const int64_t positions = k == 0 ? queries : keys;
    const int64_t side_by_side[3] = {batch, positions, counts[k] * sizes[k]};
    const int64_t apart[4] = {batch, counts[k], positions, sizes[k]};
    /* What a key that is not taken has for a value is not told. */
    leati_draw_input(d, type, flat ? 3 : 4, flat ? side_by_side : apart)->plain = true;
  }
  const bool masked = leati_draw_chance(d, 60);
  if (masked) {
    const int64_t scores[4] = {batch, heads, queries, keys + (past > 0 ? past : 0)};
    leati_draw_narrow_input(d, mask_type(d, type, true), 4, scores);
  } else if (past >= 0) {
    leati_draw_absent(d);
  }
  if (past >= 0) {
    leati_draw_input(d, type, 4, (const int64_t[4]){batch, shared, past, depth})->plain = true;
    leati_draw_input(d, type, 4, (const int64_t[4]){batch, shared, past, width})->plain = true;
    d->output_count = leati_draw_chance(d, 70) ? 3 : 1;
  } else if (d->since_version >= 24 && leati_draw_chance(d, 30)) {
    for (int absent = masked ? 1 : 0; absent < 3; ++absent) {
      leati_draw_absent(d);
    }
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT64, 1, &batch), -1, keys + 1);
  }
  if (flat) {
    leati_draw_attribute_int(d, "q_num_heads", heads);
    leati_draw_attribute_int(d, "kv_num_heads", shared);
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  }
  if (leati_draw_chance(d, 20)) {
    leati_draw_attribute_float(d, "softcap", g_rand_double_range(d->rand, 0.5, 5));
  }
  if (leati_draw_chance(d, 20)) {
    leati_draw_attribute_int(d, "softmax_precision", 1);
  }
  leati_draw_attribute_int(d, "is_causal", leati_draw_int(d, 0, 1));
  if (d->since_version >= 25) {
    leati_draw_attribute_int(d, "left_window_size", leati_draw_int(d, -1, leati_draw_chance(d, 30) ? 40 : 4));
    leati_draw_attribute_int(d, "right_window_size", leati_draw_int(d, -1, leati_draw_chance(d, 30) ? 40 : 4));
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_int(d, "qk_matmul_output_mode", leati_draw_int(d, 0, 3));
    d->output_count = 4;
  }
}

/* Sizes of the scores of operators with one number of heads. */
typedef struct score_sizes {
  int64_t batch, heads, queries, keys, past;
} score_sizes;

/* A mask of whole numbers in some form, `square`: also those of Attention; or none. Whether it is one by positions,
 * which says itself what comes later. */
static bool key_mask(leati_draw *d, const score_sizes *s, bool square) {
  const int64_t form = leati_draw_int(d, 0, square ? 9 : 6);
  const int64_t room = s->keys + leati_draw_int(d, 0, 3);
  const int64_t ends = form == 1 ? s->batch : form == 2 ? 3 * s->batch + 2 : 2 * s->batch;
  leati_draw_tensor *numbers = NULL;
  if (form == 1 || form == 2 || form == 7) {
    numbers = leati_draw_input(d, LEAT_TYPE_INT32, 1, &ends);
    leati_draw_range(d, numbers, -1, s->keys + 1);
    return false;
  }
  if (form == 3 || form == 4) {
    numbers = leati_draw_input(d, LEAT_TYPE_INT32, 2, (const int64_t[2]){s->batch, s->keys});
  } else if (form == 5) {
    numbers = leati_draw_input(d, LEAT_TYPE_INT32, 3, (const int64_t[3]){s->batch, s->queries, s->keys});
  } else if (form == 8) {
    numbers = leati_draw_input(d, LEAT_TYPE_INT32, 4, (const int64_t[4]){s->batch, 1, room, room});
  } else if (form == 9) {
    numbers = leati_draw_input(d, LEAT_TYPE_INT32, 2, (const int64_t[2]){1, 1});
  } else {
    leati_draw_absent(d);
    return false;
  }
  leati_draw_range(d, numbers, -1, 1);
  return form == 8;
}

/* What is added to scores, or nothing. */
static void added(leati_draw *d, uint64_t type, const score_sizes *s) {
  if (leati_draw_chance(d, 40)) {
    const int64_t batches = leati_draw_chance(d, 50) ? s->batch : 1;
    leati_draw_input(d, type, 4,
                     (const int64_t[4]){batches, leati_draw_chance(d, 50) ? s->heads : 1, s->queries, s->keys});
  } else {
    leati_draw_absent(d);
  }
}

static void multi_head_attributes(leati_draw *d, int64_t heads, bool may_be_causal) {
  leati_draw_attribute_int(d, "num_heads", heads);
  leati_draw_attribute_int(d, "unidirectional", may_be_causal && leati_draw_chance(d, 50));
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_float(d, "mask_filter_value", g_rand_double_range(d->rand, -9, 0));
  }
}

/* A number of positions that count, and perhaps which of some beams had each. */
static void past_count(leati_draw *d, const score_sizes *s, int64_t room) {
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_INT32, 1, (const int64_t[1]){1}), 0, (double)s->past);
  if (s->batch > 0 && leati_draw_chance(d, 50)) {
    const int64_t beams = leati_draw_chance(d, 70) ? s->batch : 1;
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 3, (const int64_t[3]){s->batch / beams, beams, room}), -1,
                     beams);
  }
}

/* Queries, keys and values apart or packed, with all that may go with them. */
static void multi_head(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t form = leati_draw_int(d, 0, 5); /* 0: all packed, 1: keys and values, 2: these apart; else flat */
  const int64_t depth = head_size(d, 1);
  const int64_t width = form > 1 && leati_draw_chance(d, 50) ? head_size(d, 1) : depth;
  score_sizes s = {leati_draw_int(d, least, 3), leati_draw_int(d, 1, 3),
                   leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 6), 0, 0};
  const int64_t fresh = form == 0 ? s.queries : leati_draw_int(d, least, leati_draw_chance(d, 20) ? 80 : 6);
  const bool cached = leati_draw_chance(d, 40);
  const bool counted = cached && leati_draw_chance(d, 50);
  s.past = cached ? leati_draw_int(d, 0, 30) : 0;
  s.keys = s.past + fresh;
  if (form == 0) {
    leati_draw_input(d, type, 5, (const int64_t[5]){s.batch, s.queries, s.heads, 3, depth})->plain = true;
  } else {
    leati_draw_input(d, type, 3, (const int64_t[3]){s.batch, s.queries, s.heads * depth})->plain = true;
  }
  for (int k = 1; k < 3; ++k) {
    const int64_t size = k == 1 ? depth : width;
    if (form == 0 || (form == 1 && k == 2)) {
      leati_draw_absent(d);
    } else if (form == 1) {
      leati_draw_input(d, type, 5, (const int64_t[5]){s.batch, fresh, s.heads, 2, depth})->plain = true;
    } else if (form == 2) {
      leati_draw_input(d, type, 4, (const int64_t[4]){s.batch, s.heads, fresh, size})->plain = true;
    } else {
      leati_draw_input(d, type, 3, (const int64_t[3]){s.batch, fresh, s.heads * size})->plain = true;
    }
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_input(d, type, 1, (const int64_t[1]){s.heads * (2 * depth + width)})->plain = true;
  } else {
    leati_draw_absent(d);
  }
  key_mask(d, &s, false);
  added(d, type, &s);
  if (cached) {
    const int64_t room = counted ? s.keys + leati_draw_int(d, 0, 9) : s.past;
    leati_draw_input(d, type, 4, (const int64_t[4]){s.batch, s.heads, room, depth})->plain = true;
    leati_draw_input(d, type, 4, (const int64_t[4]){s.batch, s.heads, room, width})->plain = true;
    if (counted) {
      past_count(d, &s, room);
    }
  }
  const bool scores = leati_draw_chance(d, 20);
  d->output_count = scores ? 4 : leati_draw_chance(d, 50) ? 3 : 1;
  multi_head_attributes(d, s.heads, !scores);
}

/* An input that is projected. */
static void projected(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t depth = head_size(d, 1);
  const bool cached = leati_draw_chance(d, 40);
  const bool shares = cached && leati_draw_chance(d, 50);
  const int64_t width = !cached && leati_draw_chance(d, 40) ? head_size(d, 1) : depth;
  const int64_t size = leati_draw_int(d, least, 20);
  score_sizes s = {leati_draw_int(d, least, 3), leati_draw_int(d, 1, 3),
                   leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 6), 0, 0};
  s.past = cached ? leati_draw_int(d, 0, 30) : 0;
  s.keys = s.past + s.queries;
  const int64_t all = s.heads * (2 * depth + width);
  leati_draw_input(d, type, 3, (const int64_t[3]){s.batch, s.queries, size})->plain = true;
  leati_draw_input(d, type, 2, (const int64_t[2]){size, all})->plain = true;
  if (leati_draw_chance(d, 80)) {
    leati_draw_input(d, type, 1, &all)->plain = true;
  } else {
    leati_draw_absent(d);
  }
  const bool by_position = key_mask(d, &s, true);
  if (cached) {
    const int64_t room = shares ? s.keys + leati_draw_int(d, 0, 9) : s.past;
    leati_draw_input(d, type, 5, (const int64_t[5]){2, s.batch, s.heads, room, depth})->plain = true;
  } else {
    leati_draw_absent(d);
  }
  added(d, type, &s);
  if (shares) {
    leati_draw_set(leati_draw_input(d, LEAT_TYPE_INT32, 1, (const int64_t[1]){1}), 0, (double)s.past);
    leati_draw_attribute_int(d, "past_present_share_buffer", 1);
  }
  if (width != depth || leati_draw_chance(d, 20)) {
    leati_draw_attribute_ints(d, "qkv_hidden_sizes", 3,
                              (const int64_t[3]){s.heads * depth, s.heads * depth, s.heads * width});
  }
  d->output_count = width == depth && leati_draw_chance(d, 60) ? 2 : 1;
  if (leati_draw_chance(d, 10)) {
    leati_draw_attribute_int(d, "rotary_embedding_dim", 32);
  }
  leati_draw_attribute_int(d, "do_rotary", leati_draw_chance(d, 95) ? 0 : 1);
  multi_head_attributes(d, s.heads, !by_position);
}

/* The same of bytes, each with a scale that makes numbers about 1 of them. */
static void q_attention(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1, one = 1;
  const uint64_t x = leati_draw_type(d, "T1"), w = leati_draw_type(d, "T2"), type = leati_draw_type(d, "T3");
  const int64_t depth = head_size(d, 1), size = leati_draw_int(d, least, 20);
  const bool cached = leati_draw_chance(d, 40);
  score_sizes s = {leati_draw_int(d, least, 3), leati_draw_int(d, 1, 3), leati_draw_int(d, least, 6), 0, 0};
  s.past = cached ? leati_draw_int(d, 0, 30) : 0;
  s.keys = s.past + s.queries;
  const int64_t all = 3 * s.heads * depth;
  const int64_t *const scales = leati_draw_chance(d, 50) ? &all : &one;
  leati_draw_input(d, x, 3, (const int64_t[3]){s.batch, s.queries, size});
  leati_draw_input(d, w, 2, (const int64_t[2]){size, all});
  leati_draw_input(d, type, 1, &all)->plain = true;
  for (uint32_t i = 0; i < 2; ++i) {
    leati_draw_tensor *const scale = leati_draw_input(d, type, i == 0 ? 0 : 1, scales);
    scale->plain = true;
    for (int64_t k = 0; k < scale->count; ++k) {
      leati_draw_set(scale, k, 1.0 / (double)leati_draw_int(d, 4, 16));
    }
  }
  const bool by_position = key_mask(d, &s, true);
  for (uint32_t i = 0; i < 2; ++i) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_input(d, i == 0 ? x : w, i == 0 ? 0 : 1, leati_draw_chance(d, 50) ? scales : &one);
    } else {
      leati_draw_absent(d);
    }
  }
  if (cached) {
    leati_draw_input(d, type, 5, (const int64_t[5]){2, s.batch, s.heads, s.past, depth})->plain = true;
  }
  d->output_count = leati_draw_chance(d, 60) ? 2 : 1;
  leati_draw_attribute_int(d, "do_rotary", leati_draw_chance(d, 95) ? 0 : 1);
  leati_draw_attribute_int(d, "past_present_share_buffer", leati_draw_chance(d, 95) ? 0 : 1);
  multi_head_attributes(d, s.heads, !by_position);
}

static void relative_bias(leati_draw *d) {
  const int64_t both = leati_draw_int(d, 0, 1), buckets = leati_draw_int(d, 2, 20) * (1 + both);
  leati_draw_input(d, leati_draw_type(d, "T"), 2, (const int64_t[2]){buckets, leati_draw_int(d, d->empty ? 0 : 1, 3)});
  for (uint32_t i = 0; i < 2; ++i) {
    leati_draw_set(leati_draw_input(d, LEAT_TYPE_INT64, (int32_t)leati_draw_int(d, 0, 1), (const int64_t[1]){1}), 0,
                   (double)leati_draw_int(d, d->empty ? 0 : 1, 40));
  }
  leati_draw_attribute_int(d, "max_distance", buckets / (1 + both) / 2 + leati_draw_int(d, 1, 60));
  if (both || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "is_bidirectional", both);
  }
}

/* Codes of caches of attention of groups, or none. */
typedef struct cache_codes {
  int64_t bits;       /* 0: floats */
  bool by_channel[2]; /* keys and values */
} cache_codes;

static cache_codes draw_codes(leati_draw *d) {
  static const char *const names[2] = {"k_quant_type", "v_quant_type"};
  cache_codes codes = {.bits = 0};
  if (!leati_draw_chance(d, 25)) {
    return codes;
  }
  codes.bits = leati_draw_chance(d, 50) ? 8 : 4;
  leati_draw_attribute_int(d, "kv_cache_bit_width", codes.bits);
  for (int k = 0; k < 2; ++k) {
    codes.by_channel[k] = leati_draw_chance(d, 50);
    leati_draw_attribute_string(d, names[k], codes.by_channel[k] ? "PER_CHANNEL" : "PER_TENSOR");
  }
  return codes;
}

/* Scales of codes; norms of queries and keys; and how many of the new positions there are: each perhaps. `sizes`:
 * batches, heads of keys, elements of a head, new positions. */
static void group_query_last(leati_draw *d, uint64_t type, const cache_codes *codes, const int64_t sizes[4],
                             bool causal) {
  const bool normal = leati_draw_chance(d, 20);
  for (int k = 0; k < 2; ++k) {
    const int64_t own = codes->by_channel[k] ? sizes[1] * sizes[2] : 1;
    if (codes->bits == 0) {
      leati_draw_absent(d);
      continue;
    }
    leati_draw_tensor *const scales = leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &own);
    scales->plain = true;
    for (int64_t i = 0; i < own; ++i) {
      leati_draw_set(scales, i, g_rand_double_range(d->rand, 0.5, 2) / (codes->bits == 8 ? 64 : 4));
    }
  }
  for (int k = 0; k < 2; ++k) {
    if (normal) {
      leati_draw_input(d, type, 1, &sizes[2])->plain = true;
    } else {
      leati_draw_absent(d);
    }
  }
  if (causal && leati_draw_chance(d, 40)) {
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &sizes[0]), -1, sizes[3] + 1);
  }
}

/* Of attention of groups: positions of angles, what is added to scores, and sinks, each perhaps. `sizes`: batches,
 * heads, new positions, all positions. */
static void group_query_more(leati_draw *d, uint64_t type, const int64_t sizes[4]) {
  if (leati_draw_chance(d, 30)) {
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT64, 2, (const int64_t[2]){sizes[0], sizes[2]}), -2,
                     sizes[3] + 2);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 30)) {
    const int64_t batches = leati_draw_chance(d, 50) ? sizes[0] : 1, heads = leati_draw_chance(d, 50) ? sizes[1] : 1;
    leati_draw_input(d, type, 4, (const int64_t[4]){batches, heads, sizes[2], sizes[3]});
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_input(d, type, 1, &sizes[1])->plain = true;
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_int(d, "smooth_softmax", leati_draw_int(d, -1, 1));
  }
}

/* New queries, keys and values, or all of them in the first. `sizes`: batches, positions, heads of queries, of keys and
 * values, elements of a head. */
static void group_fresh(leati_draw *d, uint64_t type, bool packed, const int64_t sizes[5]) {
  const int64_t all = packed ? sizes[2] + 2 * sizes[3] : sizes[2];
  leati_draw_input(d, type, 3, (const int64_t[3]){sizes[0], sizes[1], all * sizes[4]})->plain = true;
  for (int k = 0; k < 2; ++k) {
    if (packed) {
      leati_draw_absent(d);
    } else {
      leati_draw_input(d, type, 3, (const int64_t[3]){sizes[0], sizes[1], sizes[3] * sizes[4]})->plain = true;
    }
  }
}

/* Queries, keys and values, perhaps packed, behind a cache that has room for them or not. */
static void group_query(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t batch = leati_draw_int(d, least, 3);
  const int64_t shared = leati_draw_int(d, 1, 3);
  const int64_t heads = shared * leati_draw_int(d, 1, 3);
  const cache_codes codes = draw_codes(d);
  const int64_t size = codes.bits == 4 ? 2 * head_size(d, 1) : head_size(d, 2);
  const int64_t fresh = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 3);
  const int64_t total = fresh + (leati_draw_chance(d, 60) ? leati_draw_int(d, 0, 40) : 0);
  const bool evicts = codes.bits == 0 && leati_draw_chance(d, 20);
  const int64_t past = evicts                     ? leati_draw_int(d, 1, 20)
                       : leati_draw_chance(d, 50) ? total - fresh
                                                  : leati_draw_int(d, 0, 50);
  const bool packed = leati_draw_chance(d, 40);
  const bool rotates = leati_draw_chance(d, 60);
  group_fresh(d, type, packed, (const int64_t[5]){batch, fresh, heads, shared, size});
  for (int k = 0; k < 2; ++k) {
    const uint64_t own = codes.bits == 8 ? LEAT_TYPE_INT8 : codes.bits == 4 ? LEAT_TYPE_UINT8 : type;
    const int64_t row = codes.bits == 4 ? size / 2 : size;
    leati_draw_input(d, own, 4, (const int64_t[4]){batch, shared, past, row})->plain = codes.bits == 0;
  }
  leati_draw_tensor *lengths = leati_draw_input(d, LEAT_TYPE_INT32, 1, &batch);
  const int64_t scores = leati_draw_chance(d, 30) ? leati_draw_int(d, 0, 2) : 0;
  for (int64_t k = 0; k < batch; ++k) {
    /* There are scores of as many keys as the total says. */
    leati_draw_set(lengths, k, (double)leati_draw_int(d, -2, scores != 0 ? total - 1 : total + 2));
  }
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_INT32, 1, (const int64_t[1]){1}), 0, (double)total);
  if (rotates) {
    const int64_t angles[2] = {total + leati_draw_int(d, 0, 3), leati_draw_int(d, 1, size / 2)};
    leati_draw_input(d, type, 2, angles)->plain = true;
    leati_draw_input(d, type, 2, angles)->plain = true;
  }
  const bool window = evicts || leati_draw_chance(d, 40), causal = window || leati_draw_chance(d, 70);
  const bool more = leati_draw_chance(d, 40), last = codes.bits != 0 || leati_draw_chance(d, 30);
  for (int k = rotates ? 2 : 0; k < 2 && (more || last); ++k) {
    leati_draw_absent(d);
  }
  if (more) {
    group_query_more(d, type, (const int64_t[4]){batch, heads, fresh, total});
  }
  for (int k = more ? 3 : 0; k < 3 && last; ++k) {
    leati_draw_absent(d);
  }
  if (last) {
    group_query_last(d, type, &codes, (const int64_t[4]){batch, shared, size, fresh}, causal);
  }
  leati_draw_attribute_int(d, "num_heads", heads);
  leati_draw_attribute_int(d, "kv_num_heads", shared);
  leati_draw_attribute_int(d, "do_rotary", rotates);
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_int(d, "rotary_interleaved", 1);
  }
  if (evicts) {
    leati_draw_attribute_int(d, "local_window_size", leati_draw_int(d, 1, past + leati_draw_chance(d, 5)));
    leati_draw_attribute_int(d, "sliding_window_cache", 1);
  } else if (window) {
    leati_draw_attribute_int(d, "local_window_size", leati_draw_int(d, 1, 40));
  } else {
    leati_draw_attribute_int(d, "causal", causal);
  }
  static const char *const epsilons[] = {"qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon"};
  if (leati_draw_chance(d, 20)) {
    leati_draw_attribute_float(d, epsilons[leati_draw_int(d, 0, 2)], 1e-5);
  }
  if (codes.bits == 0 && leati_draw_chance(d, 20)) { /* asks for nothing */
    leati_draw_attribute_string(d, leati_draw_chance(d, 50) ? "k_quant_type" : "v_quant_type", "NONE");
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  }
  if (leati_draw_chance(d, 20)) {
    leati_draw_attribute_float(d, "softcap", g_rand_double_range(d->rand, 0.5, 5));
  }
  leati_draw_attribute_int(d, "qk_output", scores);
  d->output_count = scores != 0 ? 4 : leati_draw_chance(d, 80) ? 3 : 1;
}

/* Queries, keys and values, perhaps packed, behind a cache, with tables of blocks, some of whose numbers mean nothing.
 */
static void sparse(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t batch = leati_draw_int(d, least, 3), shared = leati_draw_int(d, 1, 2);
  const int64_t tables = leati_draw_int(d, 1, 2), heads = shared * tables * leati_draw_int(d, 1, 2);
  const int64_t size = head_size(d, 2), block = 16 << leati_draw_int(d, 0, 1), blocks = leati_draw_int(d, 2, 4);
  const int64_t fresh = leati_draw_int(d, least, leati_draw_chance(d, 20) ? block : 3);
  const int64_t room = leati_draw_int(d, fresh, blocks * block);
  const int64_t total = leati_draw_chance(d, 30) ? fresh : room, entries = leati_draw_int(d, 0, 9);
  const bool packed = leati_draw_chance(d, 40), rotates = leati_draw_chance(d, 50), wild = leati_draw_chance(d, 30);
  group_fresh(d, type, packed, (const int64_t[5]){batch, fresh, heads, shared, size});
  for (int k = 0; k < 2; ++k) {
    leati_draw_input(d, type, 4, (const int64_t[4]){batch, shared, room, size})->plain = true;
  }
  leati_draw_tensor *const rows = leati_draw_input(d, LEAT_TYPE_INT32, 2, (const int64_t[2]){tables, blocks + 1});
  for (int64_t i = 0; i < tables * (blocks + 1); ++i) {
    const int64_t at = i % (blocks + 1) * (entries / blocks + 1);
    leati_draw_set(rows, i, (double)(wild ? leati_draw_int(d, -2, entries + 2) : at < entries ? at : entries));
  }
  leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 2, (const int64_t[2]){tables, entries}), wild ? -2 : 0,
                   wild ? blocks + 2 : blocks - 1);
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_INT32, 1, (const int64_t[1]){1}), 0, (double)total);
  leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &batch), -2, total + 2);
  if (rotates) {
    const int64_t angles[2] = {total + leati_draw_int(d, 0, 3), leati_draw_int(d, 1, size / 2)};
    leati_draw_input(d, type, 2, angles)->plain = true;
    leati_draw_input(d, type, 2, angles)->plain = true;
  }
  leati_draw_attribute_int(d, "num_heads", heads);
  leati_draw_attribute_int(d, "kv_num_heads", shared);
  leati_draw_attribute_int(d, "sparse_block_size", block);
  leati_draw_attribute_int(d, "do_rotary", rotates);
  leati_draw_attribute_int(d, "rotary_interleaved", leati_draw_int(d, 0, 1));
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  }
  d->output_count = leati_draw_chance(d, 80) ? 3 : 1;
}

/* Angles for each position of a batch, or for any and numbers that say which, in range or not; of com.microsoft one
 * number, or none of the heads. */
static void rotary(leati_draw *d) {
  const bool microsoft = strcmp(d->info->domain, "") != 0;
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t batch = leati_draw_int(d, least, 3);
  const int64_t rows = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 4);
  const int64_t heads = leati_draw_int(d, 1, 4);
  const int64_t size = 2 * leati_draw_int(d, 1, leati_draw_chance(d, 20) ? 64 : 6);
  const bool flat = leati_draw_chance(d, 50);
  const bool partly = leati_draw_chance(d, 30);
  const int64_t pairs = partly ? leati_draw_int(d, 1, size / 2) : size / 2;
  const bool numbered = microsoft || leati_draw_chance(d, 50);
  const bool counted = microsoft && leati_draw_chance(d, 40);
  const int64_t positions = rows + leati_draw_int(d, 1, 9);
  leati_draw_input(
      d, type, flat ? 3 : 4,
      flat ? (const int64_t[4]){batch, rows, heads * size, 0} : (const int64_t[4]){batch, heads, rows, size});
  const int64_t together[3] = {batch, rows, pairs}, any[2] = {positions, pairs};
  for (int k = 0; k < 3; ++k) {
    if (k == (microsoft ? 0 : 2)) {
      if (!numbered) {
        continue;
      }
      leati_draw_tensor *ids = leati_draw_input(d, LEAT_TYPE_INT64, counted ? 1 : 2,
                                                counted ? (const int64_t[2]){1, 0} : (const int64_t[2]){batch, rows});
      for (int64_t i = 0; i < (counted ? 1 : batch * rows); ++i) {
        leati_draw_set(ids, i, (double)leati_draw_int(d, -2, positions + 2));
      }
    } else {
      leati_draw_input(d, type, numbered ? 2 : 3, numbered ? any : together);
    }
  }
  if (!microsoft || partly || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "num_heads", heads);
  }
  if (partly) {
    leati_draw_attribute_int(d, "rotary_embedding_dim", 2 * pairs);
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_int(d, "interleaved", 1);
  }
  if (microsoft && leati_draw_chance(d, 30)) { /* both change nothing */
    leati_draw_attribute_int(d, "is_packed_batching", leati_draw_int(d, 0, 1));
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, -2, 2));
  }
}

/* A tensor with an even last dimension, and two that broadcast to it. */
static void fused_rotary(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const int32_t rank = (int32_t)leati_draw_int(d, 1, 4);
  int64_t dims[4];
  leati_draw_dims(d, rank, dims);
  dims[rank - 1] = 2 * leati_draw_int(d, 1, 20);
  leati_draw_input(d, type, rank, dims);
  for (int k = 0; k < 2; ++k) {
    const int32_t missing = (int32_t)leati_draw_int(d, 0, rank - 1);
    int64_t of[4];
    for (int32_t i = missing; i < rank; ++i) {
      of[i - missing] = leati_draw_chance(d, 20) ? 1 : dims[i];
    }
    leati_draw_input(d, type, rank - missing, of);
  }
}

/* Layouts of queries, keys, values and result that go together, and whether heads lie side by side in one. */
static void fused_attention(leati_draw *d) {
  static const char *const layouts[][4] = {{"bhsd", "bhsd", "bhsd", "bhsd"}, {"bshd", "bhds", "shbd", "bsx"},
                                           {"bsx", "bsx", "bsx", "bsx"},     {"sbx", "bxs", "hdsb", "bshd"},
                                           {"bsd", "bds", "bsd", "bds"},     {"sd", "ds", "sd", "sd"}};
  static const char letters[] = "bhsd";
  static const char *const names[4] = {"q_layout", "k_layout", "v_layout", "y_layout"};
  const int64_t which = leati_draw_int(d, 0, G_N_ELEMENTS(layouts) - 1);
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t kv_heads = which < 4 ? leati_draw_int(d, 1, 3) : 1;
  const int64_t heads = which < 4 ? kv_heads * leati_draw_int(d, 1, 2) : 1;
  const int64_t sizes[4] = {which < 5 ? leati_draw_int(d, least, 3) : 1, heads, leati_draw_int(d, least, 20),
                            leati_draw_int(d, 1, 40)};
  const int64_t keys = leati_draw_int(d, least, 40);
  const int64_t width = leati_draw_int(d, 1, 40);
  for (int k = 0; k < 4; ++k) {
    const int64_t own[4] = {sizes[0], k == 0 ? heads : kv_heads, k == 0 ? sizes[2] : keys, k == 2 ? width : sizes[3]};
    int64_t dims[4];
    int32_t rank = 0;
    for (const char *letter = layouts[which][k]; *letter != '\0'; ++letter) {
      dims[rank++] = *letter == 'x' ? own[1] * own[3] : own[strchr(letters, *letter) - letters];
    }
    leati_draw_attribute_string(d, names[k], layouts[which][k]);
    if (k < 3) {
      leati_draw_input(d, type, rank, dims)->plain = true;
    }
  }
  if (leati_draw_chance(d, 60)) {
    const int64_t scores[4] = {sizes[0], heads, sizes[2], keys};
    const int64_t three[3] = {sizes[0], sizes[2], keys};
    leati_draw_narrow_input(d, mask_type(d, type, true),
                            which < 4    ? 4
                            : which == 4 ? 3
                                         : 2,
                            which < 4    ? scores
                            : which == 4 ? three
                                         : scores + 2);
  }
  leati_draw_attribute_int(d, "q_num_heads", heads);
  leati_draw_attribute_int(d, "kv_num_heads", kv_heads);
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_int(d, "nan_to_zero", 1);
  }
}

const leati_draw_entry leati_draws_attention[] = {
    {"matmul", "", "Attention", NULL, attention},
    {"matmul", LEAT_MICROSOFT, "Attention", NULL, projected},
    {"matmul", LEAT_MICROSOFT, "QAttention", NULL, q_attention},
    {"matmul", LEAT_MICROSOFT, "RelativePositionBias", NULL, relative_bias},
    {"matmul", LEAT_MICROSOFT, "MultiHeadAttention", NULL, multi_head},
    {"matmul", LEAT_MICROSOFT, "GroupQueryAttention", NULL, group_query},
    {"matmul", LEAT_MICROSOFT, "SparseAttention", NULL, sparse},
    {"matmul", "", "RotaryEmbedding", NULL, rotary},
    {"matmul", LEAT_MICROSOFT, "RotaryEmbedding", NULL, rotary},
    {"matmul", "leat", "FusedRotaryEmbedding", NULL, fused_rotary},
    {"matmul", "leat", "FusedAttention", NULL, fused_attention},
    {NULL, NULL, NULL, NULL, NULL},
};
