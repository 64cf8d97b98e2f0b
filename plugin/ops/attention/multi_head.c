/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's MultiHeadAttention: queries, keys and values apart or packed. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/attention/projected.h"
#include "ops/core/attribute.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_numbers, "M", LEAT_TYPE_INT32);

#define SCORES 3 /* output: those before the softmax */

enum { QUERY, KEY, VALUE, BIAS, KEY_MASK, ADDED, PAST_KEY, PAST_VALUE, PAST_COUNT, ORIGINS, INPUTS };

#define KEY_MASK_FORMS (1u << LEATI_KEY_MASK_ENDS | 1u << LEATI_KEY_MASK_KEYS | 1u << LEATI_KEY_MASK_SCORES)
#define FILTER (-10000.0f) /* where an attribute does not say it */

typedef struct multi_head_state {
  int64_t heads;
  float scale, filter;
  bool causal;
} multi_head_state;

static const leati_view *given(const leati_view views[INPUTS], uint32_t i) {
  return views[i].present ? &views[i] : NULL;
}

/* Part `which` of `count` that are packed: [batches, positions, heads, count, elements of a head]. */
static int32_t read_packed(const leat_op *op, const leati_view *packed, int64_t which, int64_t count,
                           leati_operand *out, leat_error *err) {
  const multi_head_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const int64_t *const s = packed->shape;
  if (s[2] != state->heads || s[3] != count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: a packed input has shape [.., .., %" PRId64 ", %" PRId64
                      ", ..]; it must be [.., .., %" PRId64 ", %" PRId64 ", ..], which is num_heads and what is packed",
                      name, s[2], s[3], state->heads, count);
  }
  static const int64_t step[] = {1, 1, 1, 1, 1};
  out->view = leati_view_slice(packed, (const int64_t[]){0, 0, 0, which, 0}, step,
                               (const int64_t[]){s[0], s[1], s[2], 1, s[4]});
  const int64_t *const strides = out->view.strides;
  const int64_t shape[] = {s[0], s[1], s[2], s[4]}, own[] = {strides[0], strides[1], strides[2], strides[4]};
  leati_view_reshape(&out->view, 4, shape, own);
  return leati_heads_read(name, &out->view, "packed heads", "bshd", 0, &out->heads, err);
}

/* One that lies by itself, with heads side by side or, of keys and values, apart. */
static int32_t read_plain(const leat_op *op, const leati_view *view, const char *what, leati_operand *out,
                          leat_error *err) {
  const multi_head_state *const state = leati_op_state_const(op);
  out->view = *view;
  return leati_heads_read(leati_op_def_of(op)->info.name, view, what,
                          view->ndim == 4 ? LEATI_HEADS_APART : LEATI_HEADS_TOGETHER, state->heads, &out->heads, err);
}

static int32_t read_operands(const leat_op *op, const leati_view views[INPUTS], leati_multi_head *out,
                             leat_error *err) {
  const leati_view *const query = &views[QUERY], *const key = given(views, KEY), *const value = given(views, VALUE);
  const bool all = query->ndim == 5, packed = key != NULL && key->ndim == 5;
  if (all ? key != NULL || value != NULL : query->ndim != 3 || key == NULL || packed != (value == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: a query of %d dimensions %s keys%s and %s values is none of what there is: three of each; "
                      "keys and values of four; all packed in a query of five, or both in keys of five",
                      leati_op_def_of(op)->info.name, query->ndim, key != NULL ? "with" : "without",
                      packed ? " of 5" : "", value != NULL ? "with" : "without");
  }
  leati_operand *const to[] = {&out->q, &out->k, &out->v};
  for (int64_t i = 0; i < 3 && all; ++i) {
    LEATI_TRY(read_packed(op, query, i, 3, to[i], err));
  }
  if (all) {
    return LEAT_OK;
  }
  LEATI_TRY(read_plain(op, query, "queries", &out->q, err));
  if (packed) {
    LEATI_TRY(read_packed(op, key, 0, 2, &out->k, err));
    return read_packed(op, key, 1, 2, &out->v, err);
  }
  LEATI_TRY(read_plain(op, key, "keys", &out->k, err));
  return read_plain(op, value, "values", &out->v, err);
}

/* Reads a call, of which `views` are the inputs. */
static int32_t multi_head_read(const leat_op *op, const leati_view views[INPUTS], leati_multi_head *out,
                               leat_error *err) {
  const multi_head_state *const state = leati_op_state_const(op);
  *out = (leati_multi_head){.bias = given(views, BIAS),
                            .key_mask = given(views, KEY_MASK),
                            .key_mask_forms = KEY_MASK_FORMS,
                            .added = given(views, ADDED),
                            .past = {given(views, PAST_KEY), given(views, PAST_VALUE)},
                            .past_count = -1,
                            .origins = given(views, PAST_KEY) != NULL ? given(views, ORIGINS) : NULL,
                            .scale = state->scale,
                            .filter = state->filter,
                            .causal = state->causal};
  LEATI_TRY(read_operands(op, views, out, err));
  /* Keys and values of four dimensions are those of an encoder, which have their bias. */
  out->bias_of_queries = given(views, KEY) != NULL && views[KEY].ndim == 4;
  if (given(views, PAST_COUNT) != NULL && out->past[0] != NULL && out->past[0]->ndim == 4) {
    LEATI_TRY(leati_multi_head_read_past_count(op, &views[PAST_COUNT], &out->past_count, err));
    out->room = out->past[0]->shape[2];
  }
  return leati_multi_head_check(op, out, err);
}

static void take_inputs(const leati_call *call, leati_view views[INPUTS]) {
  for (uint32_t i = 0; i < INPUTS; ++i) {
    const leati_view *const input = leati_input(call, i);
    views[i] = input != NULL ? *input : (leati_view){.present = false};
  }
}

static int32_t multi_head_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  leati_view views[INPUTS];
  leati_multi_head in;
  leat_shape shapes[4];
  int64_t keys, room;
  take_inputs(call, views);
  LEATI_TRY(multi_head_read(op, views, &in, err));
  leati_multi_head_infer(&in, &shapes[0], &shapes[1], &shapes[2]);
  leati_multi_head_positions(&in, &keys, &room);
  shapes[SCORES] =
      (leat_shape){.ndim = 4, .dims = {in.q.heads.shape[0], in.q.heads.shape[1], in.q.heads.shape[2], keys}};
  for (uint32_t o = 0; o < call->output_count; ++o) {
    out[o].ndim = shapes[o].ndim;
    memcpy(out[o].dims, shapes[o].dims, sizeof(shapes[o].dims));
  }
  return LEAT_OK;
}

static int32_t multi_head_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_view views[INPUTS];
  leati_multi_head in;
  take_inputs(call, views);
  for (uint32_t i = 0; i < INPUTS; ++i) {
    if (views[i].present && i != PAST_COUNT && i != PAST_KEY && i != PAST_VALUE) {
      LEATI_TRY((i == ORIGINS ? leati_plan_compact : leati_plan_walkable)(planner, &call->inputs[i], &views[i], err));
    }
  }
  LEATI_TRY(multi_head_read(op, views, &in, err));
  in.present[0] = leati_output(call, 1);
  in.present[1] = leati_output(call, 2);
  in.scores = leati_output(call, SCORES);
  return leati_plan_multi_head(planner, &in, &call->outputs[0], err);
}

static int32_t multi_head_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                   leat_error *err) {
  (void)device;
  const int64_t heads = leati_attr_int(desc, "num_heads", 0);
  if (heads < 1 || heads > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: num_heads is %" PRId64 "; it is at least 1",
                      def->info.name, heads);
  }
  if (desc->output_count > SCORES && leati_attr_int(desc, "unidirectional", 0) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: the output qk with unidirectional is not supported",
                      def->info.name);
  }
  const int32_t rank = desc->inputs[QUERY].ndim;
  if (rank == 3) {
    LEATI_TRY(leati_heads_check_size(def->info.name, desc->inputs[QUERY].shape[2], heads, err));
  }
  return rank < 0 || rank == 3 || rank == 5 ? LEAT_OK
                                            : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                                                         "%s: the query has %d dimensions; there are 3, or 5 if "
                                                         "keys and values are packed in it",
                                                         def->info.name, rank);
}

static int32_t multi_head_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  multi_head_state *const state = leati_op_state(op);
  *state = (multi_head_state){.heads = leati_attr_int(desc, "num_heads", 0),
                              .scale = leati_attr_float(desc, "scale", 0.0f),
                              .filter = leati_attr_float(desc, "mask_filter_value", FILTER),
                              .causal = leati_attr_int(desc, "unidirectional", 0) != 0};
  return LEAT_OK;
}

static bool multi_head_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return i != ORIGINS && leati_view_walkable(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("MultiHeadAttention", "com.microsoft", (1, 1), (1, INPUTS), (1, 4), .info.flags = LEAT_OP_HEAVY,
             .info.host_inputs = 1u << PAST_COUNT, LEATI_TYPES(&leati_type_real, &type_numbers),
             LEATI_ATTRIBUTES(&leati_attribute_num_heads, &leati_attribute_projected_scale,
                              &leati_attribute_unidirectional, &leati_attribute_mask_filter_value),
             LEATI_INPUT_TYPES(0, 0, 0, 0, 1, 0, 0, 0, 1, 1), .state_size = sizeof(multi_head_state),
             LEATI_KERNELS(LEATI_KERNELS_OF_MULTI_HEAD, LEATI_KERNELS_ATTENTION_SCORES),
             .supports = multi_head_supports, .create = multi_head_create, .infer = multi_head_infer,
             .plan = multi_head_plan, .reads_view = multi_head_reads_view),
};

const leati_op_family leati_multi_head_family = LEATI_FAMILY(ops);
