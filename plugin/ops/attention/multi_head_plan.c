/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/multi_head_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/attention/attention_plan.h"
#include "ops/attention/kernels/attention_codes.glsl"
#include "ops/core/movement.h"

int32_t leati_multi_head_read_past_count(const leat_op *op, const leati_view *number, int64_t *out, leat_error *err) {
  *out = number->count == 1 && number->ndim <= 1 ? leati_host_int(number, 0) : -1;
  return *out >= 0 ? LEAT_OK
                   : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                                "%s: past_sequence_length must be one number that is not negative",
                                leati_op_def_of(op)->info.name);
}

void leati_multi_head_positions(const leati_multi_head *in, int64_t *out_keys, int64_t *out_room) {
  const bool part = in->past[0] != NULL && in->past_count >= 0;
  const int64_t past = part ? in->past_count : in->past[0] != NULL ? in->past[0]->shape[2] : 0;
  *out_keys = past + in->k.heads.shape[2];
  *out_room = part ? in->room : *out_keys;
}

static leati_scores scores_of(const leati_multi_head *in) {
  int64_t keys, room;
  leati_multi_head_positions(in, &keys, &room);
  const int64_t *const q = in->q.heads.shape;
  return (leati_scores){q[0], q[1], q[2], keys, keys - in->k.heads.shape[2]};
}

/* Elements of queries, keys and values of a position, by which a bias is divided. */
static int64_t width_of(const leati_operand *operand) {
  return operand->heads.shape[1] * operand->heads.shape[3];
}

static int32_t check_operands(const char *name, const leati_multi_head *in, leat_error *err) {
  const int64_t *const q = in->q.heads.shape, *const k = in->k.heads.shape, *const v = in->v.heads.shape;
  if (k[0] != q[0] || v[0] != q[0] || k[1] != q[1] || v[1] != q[1] || v[2] != k[2] || k[3] != q[3]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: queries, keys and values do not go together: batches %" PRId64 ", %" PRId64 ", %" PRId64
                      "; heads %" PRId64 ", %" PRId64 ", %" PRId64 "; positions of keys and values %" PRId64
                      ", %" PRId64 "; elements of a head of queries and keys %" PRId64 ", %" PRId64,
                      name, q[0], k[0], v[0], q[1], k[1], v[1], k[2], v[2], q[3], k[3]);
  }
  const int64_t all = width_of(&in->q) + width_of(&in->k) + width_of(&in->v);
  return in->bias == NULL || (in->bias->ndim == 1 && in->bias->shape[0] == all)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: the bias must have shape [%" PRId64 "], an element for each of queries, keys and values",
                          name, all);
}

/* Fails unless earlier positions are there that count, and room for all. */
static int32_t check_past(const char *name, const leati_multi_head *in, leat_error *err) {
  int64_t past, keys, room;
  LEATI_TRY(leati_kv_check(name, in->past[0], in->past[1], &in->k.heads, &in->v.heads, &past, err));
  leati_multi_head_positions(in, &keys, &room);
  const int64_t before = keys - in->k.heads.shape[2];
  if (before > past || keys > room) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: past_sequence_length is %" PRId64 " and there are %" PRId64
                      " new positions; past keys have room for %" PRId64,
                      name, before, in->k.heads.shape[2], past);
  }
  const leati_view *const origins = in->origins;
  if (origins == NULL) {
    return LEAT_OK;
  }
  const int64_t batches = in->q.heads.shape[0];
  return in->past[0] != NULL && origins->ndim == 3 && origins->shape[1] > 0 &&
                 origins->shape[0] * origins->shape[1] == batches && origins->shape[2] >= before
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: cache_indirection goes with past keys, and has 3 dimensions: batches and beams, %" PRId64
                          " of both, and at least %" PRId64 " positions",
                          name, batches, before);
}

static int32_t check_scores(const char *name, const leati_multi_head *in, leat_error *err) {
  const leati_scores s = scores_of(in);
  const leati_view *const added = in->added;
  if (added != NULL && (added->ndim != 4 || (added->shape[0] != 1 && added->shape[0] != s.batches) ||
                        (added->shape[1] != 1 && added->shape[1] != s.heads) || added->shape[2] != s.queries ||
                        added->shape[3] != s.keys)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: attention_bias must have shape [%" PRId64 " or 1, %" PRId64 " or 1, %" PRId64 ", %" PRId64
                      "], by batches, heads, queries and keys",
                      name, s.batches, s.heads, s.queries, s.keys);
  }
  return in->key_mask == NULL || (in->key_mask_forms >> leati_key_mask_form_of(in->key_mask, &s) & 1u) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: a mask of %d dimensions and %" PRIu64 " elements is none for %" PRId64
                          " batches, %" PRId64 " queries and %" PRId64 " keys",
                          name, in->key_mask->ndim, in->key_mask->count, s.batches, s.queries, s.keys);
}

int32_t leati_multi_head_check(const leat_op *op, const leati_multi_head *in, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  LEATI_TRY(check_operands(name, in, err));
  LEATI_TRY(check_past(name, in, err));
  LEATI_TRY(check_scores(name, in, err));
  int64_t keys, room;
  leati_multi_head_positions(in, &keys, &room);
  return leati_attention_check_rounds(op, room, in->q.heads.shape[3], in->v.heads.shape[3], err);
}

void leati_multi_head_infer(const leati_multi_head *in, leat_shape *out_result, leat_shape *out_keys,
                            leat_shape *out_values) {
  const int64_t *const q = in->q.heads.shape, *const v = in->v.heads.shape;
  int64_t keys, room;
  leati_multi_head_positions(in, &keys, &room);
  out_result->ndim = 3;
  memcpy(out_result->dims, (const int64_t[]){q[0], q[2], q[1] * v[3]}, 3 * sizeof(int64_t));
  out_keys->ndim = out_values->ndim = 4;
  memcpy(out_keys->dims, (const int64_t[]){q[0], q[1], room, q[3]}, 4 * sizeof(int64_t));
  memcpy(out_values->dims, (const int64_t[]){q[0], q[1], room, v[3]}, 4 * sizeof(int64_t));
}

/* Gives what is added to scores: the mask, with what is added to them anyway; false: nothing is. */
static int32_t plan_mask(leati_planner *planner, const leati_multi_head *in, leati_view *mask, bool *out_masked,
                         leat_error *err) {
  const leati_scores s = scores_of(in);
  *out_masked = in->added != NULL;
  if (in->added != NULL) {
    *mask = *in->added;
  }
  if (in->key_mask == NULL || leati_key_mask_form_of(in->key_mask, &s) == LEATI_KEY_MASK_ALIKE) {
    return LEAT_OK;
  }
  *out_masked = true;
  return leati_plan_key_mask(planner, in->key_mask, in->added, &s, in->q.view.type, in->filter, mask, err);
}

/* Elements from `first` on of a bias. */
static leati_view bias_from(const leati_view *bias, int64_t first, int64_t count) {
  return leati_view_slice(bias, &first, (const int64_t[]){1}, &count);
}

int32_t leati_plan_multi_head(leati_planner *planner, const leati_multi_head *in, const leati_view *y,
                              leat_error *err) {
  const int64_t *const q = in->q.heads.shape, *const v = in->v.heads.shape;
  int64_t keys, room;
  leati_multi_head_positions(in, &keys, &room);
  leati_view mask, biases[LEATI_APPEND_PARTS];
  bool masked;
  LEATI_TRY(plan_mask(planner, in, &mask, &masked, err));
  leati_attention a = {
      .q = in->q,
      .k = in->k,
      .v = in->v,
      .y.view = *y,
      .y.heads = {.shape = {q[0], q[1], q[2], v[3]}, .strides = {q[2] * q[1] * v[3], v[3], q[1] * v[3], 1}},
      .masked_keys = keys,
      .scale = in->scale != 0.0f ? in->scale : (float)(1.0 / sqrt((double)q[3])),
      .offset = keys - in->k.heads.shape[2],
      .lengths.most = keys,
      .before = -1,
      .after = in->causal ? 0 : -1,
      .scores = in->scores,
      .score_form = LEAT_ATTENTION_SCORES_MASKED};
  if (masked) {
    a.mask = &mask;
    for (uint32_t d = 0; d < 4; ++d) {
      a.mask_strides[d] = mask.shape[d] > 1 ? mask.strides[d] : 0;
    }
  }
  leati_append append = {.lengths.most = keys, .past = a.offset, .origins = in->origins};
  if (in->origins != NULL) {
    append.beams = in->origins->shape[1];
  }
  if (in->bias != NULL) {
    const int64_t of_q = width_of(&in->q), of_k = width_of(&in->k);
    biases[0] = bias_from(in->bias, of_q, of_k);
    biases[1] = bias_from(in->bias, of_q + of_k, width_of(&in->v));
    biases[2] = bias_from(in->bias, 0, of_q);
    for (uint32_t i = in->bias_of_queries ? 2 : 0; i < LEATI_APPEND_PARTS; ++i) {
      append.parts[i].bias = &biases[i];
    }
  }
  const leati_past past = {
      .keys = in->past[0], .values = in->past[1], .to_keys = in->present[0], .to_values = in->present[1]};
  return leati_plan_attention_behind(planner, &a, &past, room, &append, err);
}
