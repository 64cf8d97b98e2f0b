/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's GroupQueryAttention: attention of decoders, with caches that it keeps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/attention/attention_plan.h"
#include "ops/attention/group_query.h"
#include "ops/attention/kernels/attention_codes.glsl"
#include "ops/attention/window_cache.h"
#include "ops/core/attribute.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"
#include "ops/norm/norm.h"

static LEATI_ATTRIBUTE(attribute_num_heads, "num_heads", INT);
static LEATI_ATTRIBUTE(attribute_kv_num_heads, "kv_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_softcap, "softcap", FLOAT);
static LEATI_ATTRIBUTE(attribute_local_window_size, "local_window_size", INT);
static LEATI_ATTRIBUTE(attribute_do_rotary, "do_rotary", INT);
static LEATI_ATTRIBUTE(attribute_rotary_interleaved, "rotary_interleaved", INT);
static LEATI_ATTRIBUTE(attribute_smooth_softmax, "smooth_softmax", INT);
static LEATI_ATTRIBUTE(attribute_causal, "causal", INT);
static LEATI_ATTRIBUTE(attribute_sliding_window_cache, "sliding_window_cache", INT);
static LEATI_ATTRIBUTE(attribute_qk_output, "qk_output", INT);
static LEATI_ATTRIBUTE(attribute_qk_norm_epsilon, "qk_norm_epsilon", FLOAT);
static LEATI_ATTRIBUTE(attribute_q_norm_epsilon, "q_norm_epsilon", FLOAT);
static LEATI_ATTRIBUTE(attribute_k_norm_epsilon, "k_norm_epsilon", FLOAT);
static LEATI_ATTRIBUTE(attribute_k_quant_type, "k_quant_type", STRING);
static LEATI_ATTRIBUTE(attribute_v_quant_type, "v_quant_type", STRING);
static LEATI_ATTRIBUTE(attribute_kv_cache_bit_width, "kv_cache_bit_width", INT);

static LEATI_TYPE(type_lengths, "M", LEAT_TYPE_INT32);
static LEATI_TYPE(type_cache, "T_CACHE", LEATI_TYPES_REAL | LEAT_TYPE_INT8 | LEAT_TYPE_UINT8);
static LEATI_TYPE(type_scales, "T_KV_SCALE", LEAT_TYPE_FLOAT32);

enum {
  QUERY,
  KEY,
  VALUE,
  PAST_KEY,
  PAST_VALUE,
  LENGTHS,
  TOTAL,
  COSINES,
  SINES,
  POSITION_IDS,
  BIAS,
  SINKS,
  KEY_SCALES,
  VALUE_SCALES,
  QUERY_NORM,
  KEY_NORM,
  VALID,
  INPUTS
};

#define SCORES 3 /* the output */

#define EPSILON 1e-6f /* where an attribute does not say it */

/* `qk_output`: what the output 3 has. */
static const uint32_t score_forms[] = {0, LEAT_ATTENTION_SCORES_OWN, LEAT_ATTENTION_SCORES_WEIGHTS};

/* What a call is about. */
typedef struct group_query {
  leati_view k, v; /* parts of the queries' tensor, if keys and values lie there */
  leati_view q;
  leati_heads q_heads, k_heads, v_heads;
  int64_t fresh; /* new positions */
  int64_t past;  /* positions that the earlier keys and values have room for */
  int64_t total; /* positions, new ones included, of the longest batch */
  int64_t room;  /* positions of the results */
  bool counted;  /* each batch says how many of the new positions are its own */
  bool padded;   /* and there are new positions, so that some may be nobody's */
} group_query;

/* Columns from `first` on of new queries, keys and values that lie side by side. */
static leati_view columns_of(const leati_view *all, int64_t first, int64_t count) {
  static const int64_t step[] = {1, 1, 1};
  return leati_view_slice(all, (const int64_t[]){0, 0, first}, step,
                          (const int64_t[]){all->shape[0], all->shape[1], count});
}

/* Reads queries, keys and values: `query`, and of the call what stands apart. */
static int32_t read_fresh(const leat_op *op, const leati_view *query, const leati_view *key, const leati_view *value,
                          group_query *out, leat_error *err) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  if ((key == NULL) != (value == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: keys and values are both given, or both packed in the query", name);
  }
  if (query->ndim != 3) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the query has %d dimensions; there are 3: batches, positions, elements", name, query->ndim);
  }
  if (key == NULL) {
    const int64_t all = state->heads + 2 * state->kv_heads, size = query->shape[2] / all;
    if (query->shape[2] % all != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: %" PRId64 " elements of a packed query cannot be shared out to %" PRId64
                        " heads of queries, keys and values",
                        name, query->shape[2], all);
    }
    out->q = columns_of(query, 0, state->heads * size);
    out->k = columns_of(query, state->heads * size, state->kv_heads * size);
    out->v = columns_of(query, (state->heads + state->kv_heads) * size, state->kv_heads * size);
  } else {
    out->q = *query;
    out->k = *key;
    out->v = *value;
  }
  LEATI_TRY(leati_heads_read(name, &out->q, "queries", LEATI_HEADS_TOGETHER, state->heads, &out->q_heads, err));
  LEATI_TRY(leati_heads_read(name, &out->k, "keys", LEATI_HEADS_TOGETHER, state->kv_heads, &out->k_heads, err));
  LEATI_TRY(leati_heads_read(name, &out->v, "values", LEATI_HEADS_TOGETHER, state->kv_heads, &out->v_heads, err));
  const int64_t *const q = out->q_heads.shape, *const k = out->k_heads.shape, *const v = out->v_heads.shape;
  out->fresh = q[2];
  return k[0] == q[0] && v[0] == q[0] && k[2] == q[2] && v[2] == q[2] && k[3] == q[3] && v[3] == q[3]
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: queries, keys and values do not go together: batches %" PRId64 ", %" PRId64 ", %" PRId64
                          "; positions %" PRId64 ", %" PRId64 ", %" PRId64 "; elements of a head %" PRId64 ", %" PRId64
                          ", %" PRId64,
                          name, q[0], k[0], v[0], q[2], k[2], v[2], q[3], k[3], v[3]);
}

/* Reads how many positions earlier keys and values have room for, which may be codes. */
static int32_t read_past(const leat_op *op, const leati_call *call, group_query *out, leat_error *err) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  leati_heads bytes = out->k_heads;
  if (state->bits != 0) {
    bytes.shape[3] = bytes.shape[3] * state->bits / 8;
  }
  if (state->bits == 4 && out->k_heads.shape[3] % 2 != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: codes of 4 bits of heads of %" PRId64 " elements, an odd number, are not supported", name,
                      out->k_heads.shape[3]);
  }
  return leati_kv_check(name, leati_input(call, PAST_KEY), leati_input(call, PAST_VALUE), &bytes, &bytes, &out->past,
                        err);
}

/* Reads how many positions there are. */
static int32_t read_positions(const leat_op *op, const leati_call *call, group_query *out, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const lengths = &call->inputs[LENGTHS], *const total = &call->inputs[TOTAL];
  const leati_group_query_state *const state = leati_op_state_const(op);
  const int64_t batches = out->q_heads.shape[0];
  LEATI_TRY(read_past(op, call, out, err));
  const bool column = lengths->ndim == 2 && lengths->shape[1] == 1;
  if ((lengths->ndim != 1 && !column) || lengths->shape[0] != batches) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: numbers of keys: %" PRIu64
                      " elements in %d dimensions; there is one for each of the %" PRId64 " batches",
                      name, lengths->count, lengths->ndim, batches);
  }
  if (total->count != 1 || total->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: total_sequence_length has %" PRIu64 " elements; it has 1",
                      name, total->count);
  }
  out->total = leati_host_int(total, 0);
  out->counted = leati_input(call, VALID) != NULL;
  out->padded = out->counted && out->fresh != 0;
  if (out->padded && out->total < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: total_sequence_length is %" PRId64 "; with query_seqlens it is at least 1", name,
                      out->total);
  }
  if (out->total < out->fresh && !(out->padded && state->evicts)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: total_sequence_length is %" PRId64 ", less than the %" PRId64 " new positions", name,
                      out->total, out->fresh);
  }
  if (state->evicts && out->past < state->window) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: with sliding_window_cache the past has at least local_window_size positions, %" PRId64
                      "; it has %" PRId64,
                      name, state->window, out->past);
  }
  if (state->evicts && out->fresh == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: sliding_window_cache without new positions is not supported",
                      name);
  }
  out->room = state->evicts || out->past > out->total ? out->past : out->total;
  return LEAT_OK;
}

/* Fails unless there are angles for all positions. */
static int32_t check_angles(const leat_op *op, const leati_call *call, const group_query *in, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const cosines = leati_input(call, COSINES), *const sines = leati_input(call, SINES);
  if (cosines == NULL || sines == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: do_rotary without cos_cache and sin_cache", name);
  }
  if (cosines->ndim != 2 || sines->ndim != 2 || cosines->shape[0] != sines->shape[0] ||
      cosines->shape[1] != sines->shape[1]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: cos_cache and sin_cache need 2 dimensions, positions and pairs, and one shape", name);
  }
  return cosines->shape[0] >= in->total && cosines->shape[1] >= 1 && cosines->shape[1] <= in->q_heads.shape[3] / 2
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: cos_cache has angles for %" PRId64 " positions and %" PRId64
                          " pairs of elements; there "
                          "are %" PRId64 " positions, and heads of %" PRId64 " elements",
                          name, cosines->shape[0], cosines->shape[1], in->total, in->q_heads.shape[3]);
}

/* Fails unless the scales of codes are one, or one for each element of each head: behind dimensions of one, by heads
 * and elements apart or together. */
static int32_t check_scales(const leat_op *op, const leati_call *call, const group_query *in, leat_error *err) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  const int64_t heads = in->k_heads.shape[1], size = in->k_heads.shape[3];
  for (uint32_t i = 0; i < 2 && state->bits != 0; ++i) {
    const leati_view *const scales = &call->inputs[KEY_SCALES + i];
    const uint64_t wanted = state->by_channel[i] ? (uint64_t)(heads * size) : 1;
    const int64_t last = scales->ndim > 0 ? scales->shape[scales->ndim - 1] : 1;
    if (scales->count != wanted || scales->ndim > 4 || (wanted > 1 && last != size && last != heads * size)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: %s has %" PRIu64 " elements; there is one, or by channel one for each of the %" PRId64
                        " elements of each of the %" PRId64 " heads",
                        leati_op_def_of(op)->info.name, i == 0 ? "k_scale" : "v_scale", scales->count, size, heads);
    }
  }
  return LEAT_OK;
}

/* Fails unless optional inputs about positions, scores and heads go with the rest. */
static int32_t check_optional(const leat_op *op, const leati_call *call, const group_query *in, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  const int64_t *const q = in->q_heads.shape;
  const leati_view *const ids = leati_input(call, POSITION_IDS), *const bias = leati_input(call, BIAS),
                          *const sinks = leati_input(call, SINKS);
  if (ids != NULL && (ids->ndim != 2 || ids->shape[0] != q[0] || ids->shape[1] != q[2])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: position_ids must have shape [%" PRId64 ", %" PRId64 "], by batches and new positions", name,
                      q[0], q[2]);
  }
  if (bias != NULL &&
      (bias->ndim != 4 || (bias->shape[0] != 1 && bias->shape[0] != q[0]) ||
       (bias->shape[1] != 1 && bias->shape[1] != q[1]) || bias->shape[2] != q[2] || bias->shape[3] != in->total)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: attention_bias must have shape [%" PRId64 " or 1, %" PRId64 " or 1, %" PRId64 ", %" PRId64
                      "], by batches, heads, new positions and total_sequence_length",
                      name, q[0], q[1], q[2], in->total);
  }
  if (sinks != NULL && (sinks->ndim != 1 || sinks->shape[0] != q[1])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: head_sink must have shape [%" PRId64 "], which is num_heads", name, q[1]);
  }
  const leati_view *const valid = leati_input(call, VALID);
  if (valid != NULL && (valid->ndim != 1 || valid->shape[0] != q[0])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: query_seqlens must have shape [%" PRId64 "], one number for each batch", name, q[0]);
  }
  LEATI_TRY(check_scales(op, call, in, err));
  const leati_view *const norms[] = {leati_input(call, QUERY_NORM), leati_input(call, KEY_NORM)};
  bool fits = (norms[0] == NULL) == (norms[1] == NULL);
  for (uint32_t i = 0; i < 2 && norms[i] != NULL; ++i) {
    fits = fits && norms[i]->ndim == 1 && norms[i]->shape[0] == q[3];
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: q_norm_weight and k_norm_weight go together and have shape [%" PRId64
                           "], the elements of a head",
                           name, q[3]);
}

static int32_t group_query_read(const leat_op *op, const leati_call *call, group_query *out, leat_error *err) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  LEATI_TRY(read_fresh(op, &call->inputs[QUERY], leati_input(call, KEY), leati_input(call, VALUE), out, err));
  LEATI_TRY(read_positions(op, call, out, err));
  LEATI_TRY(check_optional(op, call, out, err));
  return state->rotates ? check_angles(op, call, out, err) : LEAT_OK;
}

/* Whether all positions are new: nothing of the earlier keys counts, whatever room there is for them. Where batches
 * say how many of the new ones there are, the total is a bound and says nothing of that. */
static bool is_first(const group_query *in) {
  return in->total == in->fresh && !in->counted;
}

/* Whether a cache has no room for all positions that there ever were, and the padding behind them. As long as it has it
 * is like any other. */
static bool overflows(const leat_op *op, const group_query *in) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  return state->evicts && (in->total > in->past || in->padded);
}

/* Positions of the keys that attention reads: those of the result, or all that a cache has before it evicts any. */
static int64_t positions_of(const leat_op *op, const group_query *in) {
  return !overflows(op, in) ? in->room : in->fresh + (is_first(in) ? 0 : in->past);
}

int32_t leati_group_query_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  group_query in;
  LEATI_TRY(group_query_read(op, call, &in, err));
  const int64_t *const q = in.q_heads.shape;
  LEATI_TRY(leati_attention_check_rounds(op, positions_of(op, &in), q[3], q[3], err));
  out[0].ndim = 3;
  memcpy(out[0].dims, (const int64_t[]){q[0], q[2], q[1] * q[3]}, 3 * sizeof(int64_t));
  const leati_group_query_state *const state = leati_op_state_const(op);
  const int64_t row = state->bits != 0 ? q[3] * state->bits / 8 : q[3];
  for (uint32_t o = 1; o < call->output_count && o < SCORES; ++o) {
    out[o].dtype = call->inputs[leati_input(call, PAST_KEY) != NULL ? PAST_KEY : QUERY].dtype;
    out[o].ndim = 4;
    memcpy(out[o].dims, (const int64_t[]){q[0], in.k_heads.shape[1], in.room, row}, 4 * sizeof(int64_t));
  }
  if (call->output_count > SCORES) {
    out[SCORES].ndim = 4;
    memcpy(out[SCORES].dims, (const int64_t[]){q[0], q[1], q[2], in.total}, 4 * sizeof(int64_t));
  }
  return LEAT_OK;
}

/* Gives the inputs of the device as kernels can walk them. */
static int32_t walk_inputs(leati_planner *planner, const leati_call *call, leati_view walked[INPUTS], leat_error *err) {
  for (uint32_t i = 0; i < INPUTS; ++i) {
    walked[i] = (leati_view){.present = false};
    const bool scales = i == KEY_SCALES || i == VALUE_SCALES;
    if (leati_input(call, i) != NULL && !call->inputs[i].host && !scales) {
      LEATI_TRY(leati_plan_walkable(planner, &call->inputs[i], &walked[i], err));
    }
  }
  return LEAT_OK;
}

/* What is added to scores, and sinks. */
static void fill_scores(const leat_op *op, const group_query *in, const leati_view *bias, const leati_view *sinks,
                        leati_attention *a) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  a->masked_keys = positions_of(op, in);
  if (bias->present) {
    a->mask = bias;
    a->masked_keys = bias->shape[3];
    for (uint32_t d = 0; d < 4; ++d) {
      a->mask_strides[d] = bias->shape[d] > 1 ? bias->strides[d] : 0;
    }
  }
  a->smooth = state->smooth;
  if (sinks->present) {
    a->sinks = sinks;
    a->sink_strides[0] = sinks->strides[0];
  }
}

/* Divides each head by the root of the mean of its squares, and multiplies by weights, which may be NULL: nothing is
 * done. */
static int32_t plan_head_norm(const leat_op *op, leati_planner *planner, const leati_view *weights, float epsilon,
                              leati_operand *inout, leat_error *err) {
  const int64_t *const h = inout->heads.shape, *const strides = inout->heads.strides;
  leati_view x = inout->view, y = {.type = inout->view.type, .ndim = 4};
  if (weights == NULL) {
    return LEAT_OK;
  }
  const int64_t shape[] = {h[0], h[2], h[1], h[3]}, by[] = {strides[0], strides[2], strides[1], strides[3]};
  leati_view_reshape(&x, 4, shape, by);
  memcpy(y.shape, shape, sizeof(shape));
  LEATI_TRY(leati_plan_temporary(planner, &y, err));
  inout->view = y;
  LEATI_TRY(leati_heads_read(leati_op_def_of(op)->info.name, &y, "heads", "bshd", 0, &inout->heads, err));
  return leati_plan_rms_norm(planner, leati_op_def_of(op)->info.name, &x, weights, epsilon, &y, err);
}

/* Plans how many keys there are with all new positions, where a cache evicts, or these are more than batches say there
 * are: attention and what goes into the cache count by that, but for rotation. */
static int32_t plan_keys(const leat_op *op, leati_planner *planner, const leati_window_cache *cache,
                         leati_view views[2], leati_attention *a, leati_append *append, leat_error *err) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  LEATI_TRY(leati_plan_window_keys(planner, cache, &views[0], &views[1], err));
  a->lengths.view = append->lengths.view = &views[0];
  a->lengths.added = append->lengths.added = 0;
  if (state->rotates && append->rotation.position_ids == NULL) {
    append->rotation.position_ids = &views[1];
  }
  return LEAT_OK;
}

/* Positions of batches that have seen any number of them, and how many of the new ones there are. A cache that does not
 * evict has room for any number. */
static leati_window_cache cache_of(const leat_op *op, const group_query *in, const leati_view walked[INPUTS]) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  const bool first = is_first(in), evicts = overflows(op, in);
  return (leati_window_cache){.capacity = evicts ? in->past : LEATI_WINDOW_TOTAL_MAX,
                              .window = evicts ? state->window : LEATI_WINDOW_TOTAL_MAX,
                              .fresh = in->fresh,
                              .valid = {.view = in->padded ? &walked[VALID] : NULL, .most = in->fresh},
                              .totals = {.view = &walked[LENGTHS],
                                         .added = state->added,
                                         .least = first || in->padded ? 0 : in->fresh,
                                         .most = first ? in->fresh : LEATI_WINDOW_TOTAL_MAX}};
}

/* Plans attention behind a cache that evicts: keys and values lie together in temporaries first, of which the last ones
 * are kept. */
static int32_t plan_evicting(const leat_op *op, leati_planner *planner, const group_query *in,
                             const leati_window_cache *cache, leati_attention *a, const leati_past *past,
                             leati_append *append, leat_error *err) {
  leati_view together[2];
  const leati_view *const wanted[] = {past->to_keys, past->to_values};
  leati_past behind = {.keys = past->keys, .values = past->values};
  const leati_view **const to[] = {&behind.to_keys, &behind.to_values};
  for (uint32_t i = 0; i < 2; ++i) {
    together[i] = (leati_view){.type = a->k.view.type, .ndim = 4};
    memcpy(together[i].shape, in->k_heads.shape, sizeof(in->k_heads.shape));
    together[i].shape[2] = positions_of(op, in);
    LEATI_TRY(leati_plan_temporary(planner, &together[i], err));
    *to[i] = &together[i];
  }
  LEATI_TRY(leati_plan_attention_behind(planner, a, &behind, positions_of(op, in), append, err));
  for (uint32_t i = 0; i < 2; ++i) {
    LEATI_TRY(wanted[i] != NULL ? leati_plan_window_keep(planner, cache, &together[i], wanted[i], err) : LEAT_OK);
  }
  return LEAT_OK;
}

int32_t leati_group_query_attend(const leat_op *op, leati_planner *planner, const leati_call *call,
                                 const leati_view *mask, leat_error *err) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  leati_view walked[INPUTS];
  group_query in;
  LEATI_TRY(walk_inputs(planner, call, walked, err));
  LEATI_TRY(group_query_read(op, call, &in, err));
  LEATI_TRY(read_fresh(op, &walked[QUERY], walked[KEY].present ? &walked[KEY] : NULL,
                       walked[VALUE].present ? &walked[VALUE] : NULL, &in, err));
  const bool first = is_first(&in);
  const int64_t positions = positions_of(op, &in);
  const int64_t before = in.past < positions - in.fresh ? in.past : positions - in.fresh;
  leati_attention a = {.q = {in.q, in.q_heads},
                       .k = {in.k, in.k_heads},
                       .v = {in.v, in.v_heads},
                       .y.view = call->outputs[0],
                       .scale = state->scale != 0.0f ? state->scale : (float)(1.0 / sqrt((double)in.q_heads.shape[3])),
                       .cap = state->cap,
                       .zeroed = LEAT_ATTENTION_ZEROED_INFINITE, /* as ONNX Runtime's own kernels have it */
                       .ends = !first,
                       .before = state->window - 1,
                       .after = state->causal ? 0 : -1,
                       .lengths = {.view = &walked[LENGTHS],
                                   .added = state->added,
                                   .least = first ? 0 : in.fresh,
                                   .most = first ? in.fresh : before + in.fresh},
                       .scores = leati_output(call, SCORES),
                       .score_form = state->score_form};
  fill_scores(op, &in, mask != NULL ? mask : &walked[BIAS], &walked[SINKS], &a);
  LEATI_TRY(leati_heads_read(leati_op_def_of(op)->info.name, &a.y.view, "results", LEATI_HEADS_TOGETHER, state->heads,
                             &a.y.heads, err));
  LEATI_TRY(plan_head_norm(op, planner, leati_input(call, QUERY_NORM), state->q_epsilon, &a.q, err));
  LEATI_TRY(plan_head_norm(op, planner, leati_input(call, KEY_NORM), state->k_epsilon, &a.k, err));
  leati_append append = {.rotation = {.interleaved = state->interleaved}};
  if (!first) {
    append.lengths = a.lengths;
  }
  if (state->rotates) {
    append.rotation.cosines = &walked[COSINES];
    append.rotation.sines = &walked[SINES];
    append.rotation.position_ids = walked[POSITION_IDS].present ? &walked[POSITION_IDS] : NULL;
    append.rotation.counted = first;
  }
  const bool over = overflows(op, &in);
  const leati_window_cache cache = cache_of(op, &in, walked);
  leati_view keys[2], scales[2];
  if (!first && (over || in.padded)) {
    LEATI_TRY(plan_keys(op, planner, &cache, keys, &a, &append, err));
  }
  leati_kv_code code = {.bits = state->bits, .scales = {&scales[0], &scales[1]}};
  for (uint32_t i = 0; i < 2 && code.bits != 0; ++i) {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[KEY_SCALES + i], &scales[i], err));
  }
  const leati_past past = {.keys = walked[PAST_KEY].present ? &walked[PAST_KEY] : NULL,
                           .values = walked[PAST_VALUE].present ? &walked[PAST_VALUE] : NULL,
                           .to_keys = leati_output(call, 1),
                           .to_values = leati_output(call, 2),
                           .code = code.bits != 0 ? &code : NULL};
  return over ? plan_evicting(op, planner, &in, &cache, &a, &past, &append, err)
              : leati_plan_attention_behind(planner, &a, &past, positions, &append, err);
}

static const char *const quant_types[] = {"NONE", "PER_TENSOR", "PER_CHANNEL"};
enum { QUANT_NONE, QUANT_BY_TENSOR, QUANT_BY_CHANNEL, QUANT_TYPES };

/* How keys and values are coded, of QUANT_TYPES each. */
static int32_t read_quant_types(const char *name, const leati_op_desc *desc, uint32_t out[2], leat_error *err) {
  LEATI_TRY(leati_attr_choice(desc, name, "k_quant_type", quant_types, QUANT_TYPES, &out[0], err));
  return leati_attr_choice(desc, name, "v_quant_type", quant_types, QUANT_TYPES, &out[1], err);
}

/* Fails unless caches are of floats of the queries' type, or of codes, with all that is needed for these. */
static int32_t check_codes(const char *name, const leati_op_desc *desc, leat_error *err) {
  uint32_t coded[2];
  LEATI_TRY(read_quant_types(name, desc, coded, err));
  const bool given = leati_is_given(desc, PAST_KEY) && leati_is_given(desc, PAST_VALUE);
  const bool scaled = leati_is_given(desc, KEY_SCALES) && leati_is_given(desc, VALUE_SCALES);
  const uint64_t type = leati_is_given(desc, PAST_KEY) ? leati_type_of(desc->inputs[PAST_KEY].dtype) : 0;
  if ((coded[0] == QUANT_NONE) != (coded[1] == QUANT_NONE)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: quantised keys go with quantised values", name);
  }
  if (coded[0] == QUANT_NONE) {
    return type == 0 || type == leati_type_of(desc->inputs[QUERY].dtype)
               ? LEAT_OK
               : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                            "%s: past keys of %s without k_quant_type; they need the type of the queries", name,
                            leati_type_name(type));
  }
  const int64_t bits = leati_attr_int(desc, "kv_cache_bit_width", 8);
  if (!given || !scaled || (bits != 4 && bits != 8) || type != (bits == 4 ? LEAT_TYPE_UINT8 : LEAT_TYPE_INT8)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: quantised keys and values of %" PRId64
                      " bits in %s, %s past ones, %s scales, are not "
                      "supported; with both, of 8 bits in int8 or of 4 bits in uint8, they are",
                      name, bits, type != 0 ? leati_type_name(type) : "nothing", given ? "with" : "without",
                      scaled ? "with" : "without");
  }
  return leati_attr_int(desc, "sliding_window_cache", 0) == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: sliding_window_cache with quantised keys is not supported", name);
}

/* Fails unless padded new positions go with what they need, and scores are wanted in a form that there is. */
static int32_t check_padded(const char *name, const leati_op_desc *desc, leat_error *err) {
  if (leati_is_given(desc, VALID) && (leati_attr_int(desc, "causal", 1) != 1 || !leati_is_given(desc, PAST_KEY))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: query_seqlens needs causal = 1, and past keys", name);
  }
  const bool scored = desc->output_count > SCORES;
  if (scored && leati_attr_int(desc, "qk_output", 0) == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output_qk without qk_output", name);
  }
  return scored && leati_attr_int(desc, "sliding_window_cache", 0) != 0
             ? leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: output_qk with sliding_window_cache is not supported",
                          name)
             : LEAT_OK;
}

int32_t leati_group_query_check_heads(const char *name, const leati_op_desc *desc, leat_error *err) {
  const int64_t heads = leati_attr_int(desc, "num_heads", 0), kv_heads = leati_attr_int(desc, "kv_num_heads", 0);
  if (heads < 1 || kv_heads < 1 || heads > INT32_MAX || heads % kv_heads != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: num_heads is %" PRId64 " and kv_num_heads %" PRId64
                      "; both are positive, and the first is a multiple of the second",
                      name, heads, kv_heads);
  }
  const leat_value_info *const query = &desc->inputs[QUERY];
  const int64_t all = leati_is_given(desc, KEY) ? heads : heads + 2 * kv_heads;
  return query->ndim == 3 ? leati_heads_check_size(name, query->shape[2], all, err) : LEAT_OK;
}

static int32_t group_query_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  return leati_group_query_attend(op, planner, call, NULL, err);
}

static int32_t group_query_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                    leat_error *err) {
  static const struct {
    const char *name;
    int64_t least, most; /* values that mean nothing more */
  } limited[] = {{"smooth_softmax", -1, 1}, {"sliding_window_cache", 0, 1}, {"qk_output", 0, 2}};
  (void)device;
  const char *const name = def->info.name;
  LEATI_TRY(check_codes(name, desc, err));
  for (uint32_t i = 0; i < sizeof(limited) / sizeof(limited[0]); ++i) {
    const int64_t value = leati_attr_int(desc, limited[i].name, limited[i].least);
    if (value < limited[i].least || value > limited[i].most) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with %s = %" PRId64 " is not supported", name,
                        limited[i].name, value);
    }
  }
  LEATI_TRY(check_padded(name, desc, err));
  const int64_t window = leati_attr_int(desc, "local_window_size", -1);
  if (window == 0 || window < -1) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: local_window_size is %" PRId64 "; it is -1 or at least 1",
                      name, window);
  }
  if (leati_attr_int(desc, "sliding_window_cache", 0) != 0) {
    if (window < 1 || !leati_is_given(desc, PAST_KEY) || !leati_is_given(desc, PAST_VALUE)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: sliding_window_cache needs local_window_size, and past keys and values", name);
    }
    if (leati_is_given(desc, BIAS)) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: sliding_window_cache with attention_bias is not supported",
                        name);
    }
  }
  const int64_t causal = leati_attr_int(desc, "causal", 1);
  if ((causal != 0 && causal != 1) || (causal == 0 && window != -1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: causal is %" PRId64 " and local_window_size %" PRId64
                      "; the first is 1, or 0 where the second is -1",
                      name, causal, window);
  }
  return leati_group_query_check_heads(name, desc, err);
}

static int32_t group_query_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  leati_group_query_state *const state = leati_op_state(op);
  uint32_t coded[2];
  LEATI_TRY(read_quant_types(leati_op_def_of(op)->info.name, desc, coded, err));
  const int64_t window = leati_attr_int(desc, "local_window_size", -1);
  const float epsilon = leati_attr_float(desc, "qk_norm_epsilon", EPSILON);
  *state = (leati_group_query_state){.heads = leati_attr_int(desc, "num_heads", 0),
                                     .kv_heads = leati_attr_int(desc, "kv_num_heads", 0),
                                     .scale = leati_attr_float(desc, "scale", 0.0f),
                                     .cap = leati_attr_float(desc, "softcap", 0.0f),
                                     .window = window,
                                     .q_epsilon = leati_attr_float(desc, "q_norm_epsilon", epsilon),
                                     .k_epsilon = leati_attr_float(desc, "k_norm_epsilon", epsilon),
                                     .causal = leati_attr_int(desc, "causal", 1) != 0,
                                     .rotates = leati_attr_int(desc, "do_rotary", 0) != 0,
                                     .interleaved = leati_attr_int(desc, "rotary_interleaved", 0) != 0,
                                     .smooth = leati_attr_int(desc, "smooth_softmax", 0) == 1,
                                     .added = 1,
                                     .evicts = leati_attr_int(desc, "sliding_window_cache", 0) != 0,
                                     .by_channel = {coded[0] == QUANT_BY_CHANNEL, coded[1] == QUANT_BY_CHANNEL},
                                     .score_form = score_forms[leati_attr_int(desc, "qk_output", 0)]};
  if (coded[0] != QUANT_NONE) {
    state->bits = (uint32_t)leati_attr_int(desc, "kv_cache_bit_width", 8);
  }
  return LEAT_OK;
}

/* Behind the first positions the total only says that there is room, or none, and that there are angles for all, unless
 * a bias or scores have its shape. */
bool leati_group_query_host_range(const leat_op *op, const leati_call *call, uint32_t i, int64_t *out_least,
                                  int64_t *out_most) {
  const leati_group_query_state *const state = leati_op_state_const(op);
  group_query in;
  if (i != TOTAL || leati_input(call, BIAS) != NULL || call->output_count > SCORES ||
      group_query_read(op, call, &in, NULL) != LEAT_OK || is_first(&in) || (!state->evicts && in.total > in.past)) {
    return false;
  }
  const bool over = overflows(op, &in);
  const int64_t room = over ? INT32_MAX : in.past;
  const int64_t angles = state->rotates ? call->inputs[COSINES].shape[0] : room;
  *out_least = in.counted ? (over ? 1 : in.fresh) : 1 + (over && in.past > in.fresh ? in.past : in.fresh);
  *out_most = angles < room ? angles : room;
  return true;
}

static bool group_query_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]) && i != KEY_SCALES && i != VALUE_SCALES;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("GroupQueryAttention", "com.microsoft", (1, 1), (1, INPUTS), (1, 4),
             .info.flags = LEAT_OP_CACHES | LEAT_OP_HEAVY, .info.host_inputs = 1u << TOTAL,
             LEATI_TYPES(&leati_type_real, &type_lengths, &leati_type_int64, &type_cache, &type_scales),
             LEATI_ATTRIBUTES(&attribute_num_heads, &attribute_kv_num_heads, &attribute_scale, &attribute_softcap,
                              &attribute_local_window_size, &attribute_do_rotary, &attribute_rotary_interleaved,
                              &attribute_smooth_softmax, &attribute_causal, &attribute_sliding_window_cache,
                              &attribute_qk_output, &attribute_qk_norm_epsilon, &attribute_q_norm_epsilon,
                              &attribute_k_norm_epsilon, &attribute_k_quant_type, &attribute_v_quant_type,
                              &attribute_kv_cache_bit_width),
             .required_inputs = 1u << LENGTHS | 1u << TOTAL,
             LEATI_INPUT_TYPES(0, 0, 0, 3, 3, 1, 1, 0, 0, 2, 0, 0, 4, 4, 0, 0, 1), LEATI_OUTPUT_TYPES(0, 3, 3, 0),
             .state_size = sizeof(leati_group_query_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256, LEATI_KERNELS_APPEND,
                           LEATI_KERNELS_NORM, LEATI_KERNELS_KV_CODES, LEATI_KERNELS_ATTENTION_SCORES),
             .supports = group_query_supports, .create = group_query_create, .infer = leati_group_query_infer,
             .plan = group_query_plan, .host_range = leati_group_query_host_range,
             .reads_view = group_query_reads_view),
};

const leati_op_family leati_group_query_family = LEATI_FAMILY(ops);
