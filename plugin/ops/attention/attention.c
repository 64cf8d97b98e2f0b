/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention, and FusedAttention, whose operands have any layout. */
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/attention/attention_plan.h"
#include "ops/attention/kernels/attention_codes.glsl"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/matrix_view.h"

static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_softcap, "softcap", FLOAT);
static LEATI_ATTRIBUTE(attribute_is_causal, "is_causal", INT);
static LEATI_ATTRIBUTE(attribute_q_num_heads, "q_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_kv_num_heads, "kv_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_softmax_precision, "softmax_precision", INT);
static LEATI_ATTRIBUTE(attribute_qk_matmul_output_mode, "qk_matmul_output_mode", INT);

static LEATI_ATTRIBUTE(attribute_left_window_size, "left_window_size", INT);
static LEATI_ATTRIBUTE(attribute_right_window_size, "right_window_size", INT);

static LEATI_TYPE(type_keys, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_values, "T2", LEATI_TYPES_REAL);
static LEATI_TYPE(type_mask, "U", LEATI_TYPES_REAL | LEAT_TYPE_BOOL);

#define FLOAT_NUMBER 1 /* TensorProto.FLOAT */

enum { ATTENTION, FUSED };

/* Which inputs are the mask, keys and values of earlier positions, and how many keys each batch has; 0: none is. */
static const struct {
  uint32_t mask, past_key, past_value, lengths;
} places[] = {[ATTENTION] = {3, 4, 5, 6}, [FUSED] = {3, 0, 0, 0}};

enum { Q, K, V, Y, LAYOUTS };

#define SCORES 3 /* the output */

#define LAYOUT_MOST 4

typedef struct attention_state {
  char layouts[LAYOUTS][LAYOUT_MOST + 1]; /* empty: of Attention, which has heads apart or together */
  int64_t q_heads, kv_heads;              /* of operands of three dimensions; 0: not said */
  float scale;
  float cap; /* 0: none */
  bool scaled;
  int64_t before, after; /* keys of a query before and behind its own position; -1: all */
  uint32_t scores;       /* LEAT_ATTENTION_SCORES_...: which are output 3 */
  uint32_t zeroed;       /* LEAT_ATTENTION_ZEROED_... */
} attention_state;

static const char *layout_of(const attention_state *state, uint32_t which, int32_t rank) {
  const char *const own = state->layouts[which];
  return own[0] != '\0' ? own : rank == 3 ? LEATI_HEADS_TOGETHER : LEATI_HEADS_APART;
}

/* The input at one of an operator's places, if it has such inputs and this one is given. */
static const leati_view *given_at(const leati_call *call, uint32_t place) {
  return place != 0 ? leati_input(call, place) : NULL;
}

static const leati_view *mask_of(const leat_op *op, const leati_call *call) {
  return given_at(call, places[leati_op_def_of(op)->param].mask);
}

static const leati_view *past_of(const leat_op *op, const leati_call *call, bool values) {
  const uint32_t which = leati_op_def_of(op)->param;
  return given_at(call, values ? places[which].past_value : places[which].past_key);
}

static const leati_view *lengths_of(const leat_op *op, const leati_call *call) {
  return given_at(call, places[leati_op_def_of(op)->param].lengths);
}

typedef struct operands {
  leati_heads q, k, v;
  int64_t past; /* positions that go before those of k and v */
  int64_t keys; /* all together */
} operands;

/* Reads new keys and values that go behind earlier ones. */
static int32_t read_past(const leat_op *op, const leati_call *call, operands *out, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  LEATI_TRY(leati_kv_check(name, past_of(op, call, false), past_of(op, call, true), &out->k, &out->v, &out->past, err));
  const leati_view *const lengths = lengths_of(op, call);
  if (lengths != NULL && past_of(op, call, false) != NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: nonpad_kv_seqlen goes with a whole cache as keys and values, not with past ones", name);
  }
  if (lengths != NULL && (lengths->ndim != 1 || lengths->shape[0] != out->k.shape[0])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: nonpad_kv_seqlen has %llu elements in %d dimensions; there is 1 with one for each of the "
                      "%lld batches",
                      name, (unsigned long long)lengths->count, lengths->ndim, (long long)out->k.shape[0]);
  }
  out->keys = out->past + out->k.shape[2];
  return LEAT_OK;
}

/* `views`: queries, keys and values. */
static int32_t read_operands(const leat_op *op, const leati_call *call, const leati_view *const *views, operands *out,
                             leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const int32_t rank = views[0]->ndim;
  if (state->layouts[Q][0] == '\0' && ((rank != 3 && rank != 4) || views[1]->ndim != rank || views[2]->ndim != rank)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: queries, keys and values need 3 or 4 dimensions, as many "
                      "each; they have %d, %d and %d",
                      name, rank, views[1]->ndim, views[2]->ndim);
  }
  LEATI_TRY(leati_heads_read(name, views[0], "queries", layout_of(state, Q, rank), state->q_heads, &out->q, err));
  LEATI_TRY(leati_heads_read(name, views[1], "keys", layout_of(state, K, rank), state->kv_heads, &out->k, err));
  LEATI_TRY(leati_heads_read(name, views[2], "values", layout_of(state, V, rank), state->kv_heads, &out->v, err));
  const int64_t *const q = out->q.shape, *const k = out->k.shape, *const v = out->v.shape;
  if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || q[1] % k[1] != 0 || v[2] != k[2] || k[3] != q[3]) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "%s: queries, keys and values do not go together: batches %lld, %lld, %lld; heads %lld, %lld, "
        "%lld; positions of keys and values %lld, %lld; elements of a head of queries and keys %lld, %lld",
        name, (long long)q[0], (long long)k[0], (long long)v[0], (long long)q[1], (long long)k[1], (long long)v[1],
        (long long)k[2], (long long)v[2], (long long)q[3], (long long)k[3]);
  }
  return read_past(op, call, out, err);
}

/* Keys that the mask has. In version 24 it may have fewer than there are, and takes the others out. */
static int64_t masked_keys(const leat_op *op, const leati_view *mask, int64_t keys) {
  const bool may_be_short = leati_op_since_version(op) >= 24;
  return mask != NULL && mask->ndim > 0 && may_be_short ? mask->shape[mask->ndim - 1] : keys;
}

/* The shape that the mask broadcasts to: batches and heads, if the queries have such dimensions, queries, keys. `at`
 * says which of the four each dimension is. */
static int32_t score_shape(const leat_op *op, const leati_view *mask, const operands *in, int64_t *shape,
                           uint32_t *at) {
  const attention_state *const state = leati_op_state_const(op);
  const char *const layout = state->layouts[Q];
  const int64_t all[4] = {in->q.shape[0], in->q.shape[1], in->q.shape[2], masked_keys(op, mask, in->keys)};
  const bool any = layout[0] == '\0' || strchr(layout, 'x') != NULL;
  const bool has[4] = {any || strchr(layout, 'b') != NULL, any || strchr(layout, 'h') != NULL, true, true};
  int32_t rank = 0;
  for (uint32_t d = 0; d < 4; ++d) {
    if (has[d]) {
      shape[rank] = all[d];
      at[rank++] = d;
    }
  }
  return rank;
}

static int32_t check_mask(const leat_op *op, const leati_view *mask, const operands *in, leat_error *err) {
  int64_t shape[4];
  uint32_t at[4];
  const int32_t rank = score_shape(op, mask, in, shape, at);
  bool fits = mask->ndim <= rank && shape[rank - 1] <= in->keys;
  for (int32_t d = 1; fits && d <= mask->ndim; ++d) {
    const int64_t size = mask->shape[mask->ndim - d];
    fits = size == 1 || size == shape[rank - d];
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: the mask does not broadcast to %lld batches, %lld heads, %lld queries and %lld keys",
                           leati_op_def_of(op)->info.name, (long long)in->q.shape[0], (long long)in->q.shape[1],
                           (long long)in->q.shape[2], (long long)in->keys);
}

/* The result as heads: its shape by its layout, and where elements lie when it is compact. */
static int32_t as_result(const leat_op *op, const operands *in, int32_t rank, leati_heads *out, leat_shape *shape,
                         leat_error *err) {
  const char *const layout = layout_of(leati_op_state_const(op), Y, rank);
  *out = (leati_heads){.shape = {in->q.shape[0], in->q.shape[1], in->q.shape[2], in->v.shape[3]}};
  int64_t step = 1, count = 1;
  shape->ndim = (int32_t)strlen(layout);
  for (int32_t d = shape->ndim - 1; d >= 0; --d) {
    const ptrdiff_t at = layout[d] == 'x' ? 3 : strchr(LEATI_HEADS_LETTERS, layout[d]) - LEATI_HEADS_LETTERS;
    out->strides[at] = step;
    shape->dims[d] = out->shape[at];
    step *= out->shape[at];
    if (layout[d] == 'x') {
      out->strides[1] = step;
      shape->dims[d] *= out->shape[1];
      step *= out->shape[1];
    }
  }
  for (int32_t d = 0; d < 4; ++d) {
    count *= out->shape[d];
  }
  return step == count ? LEAT_OK
                       : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the result \"%s\" lacks batches or heads",
                                    leati_op_def_of(op)->info.name, layout);
}

static int32_t attention_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const views[] = {&call->inputs[0], &call->inputs[1], &call->inputs[2]};
  const leati_view *const mask = mask_of(op, call);
  operands in;
  LEATI_TRY(read_operands(op, call, views, &in, err));
  if (mask != NULL) {
    LEATI_TRY(check_mask(op, mask, &in, err));
  }
  LEATI_TRY(leati_attention_check_rounds(op, in.keys, in.q.shape[3], in.v.shape[3], err));
  for (uint32_t o = 1; o < call->output_count && o < SCORES; ++o) {
    const int64_t *const fresh = o == 1 ? in.k.shape : in.v.shape;
    out[o].ndim = 4;
    memcpy(out[o].dims, (const int64_t[]){fresh[0], fresh[1], in.keys, fresh[3]}, 4 * sizeof(int64_t));
  }
  if (call->output_count > SCORES) {
    out[SCORES].ndim = 4;
    memcpy(out[SCORES].dims, (const int64_t[]){in.q.shape[0], in.q.shape[1], in.q.shape[2], in.keys},
           4 * sizeof(int64_t));
  }
  leati_heads result;
  return as_result(op, &in, views[0]->ndim, &result, &out[0], err);
}

/* ---- Attention of an operator ----------------------------------------------------------------------------------- */

static void fill_mask(const leat_op *op, const leati_view *mask, const operands *in, leati_attention *a) {
  int64_t shape[4], strides[LEAT_MAX_RANK];
  uint32_t at[4];
  const int32_t rank = score_shape(op, mask, in, shape, at);
  leati_broadcast_strides(mask, rank, shape, strides);
  for (int32_t d = 0; d < rank; ++d) {
    a->mask_strides[at[d]] = shape[d] > 1 ? strides[d] : 0;
  }
}

static int32_t attention_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  leati_attention a = {.y.view = call->outputs[0],
                       .cap = state->cap,
                       .zeroed = state->zeroed,
                       .before = state->before,
                       .after = state->after};
  leati_operand *const operand[] = {&a.q, &a.k, &a.v};
  leati_view mask, lengths;
  operands in;
  for (uint32_t i = 0; i < 3; ++i) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[i], &operand[i]->view, err));
  }
  LEATI_TRY(read_operands(op, call, (const leati_view *[]){&a.q.view, &a.k.view, &a.v.view}, &in, err));
  a.q.heads = in.q;
  a.k.heads = in.k;
  a.v.heads = in.v;
  a.offset = in.past;
  a.lengths.most = in.keys;
  a.scale = state->scaled ? state->scale : (float)(1.0 / sqrt((double)in.q.shape[3]));
  leat_shape shape;
  LEATI_TRY(as_result(op, &in, a.q.view.ndim, &a.y.heads, &shape, err));
  if (mask_of(op, call) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, mask_of(op, call), &mask, err));
    a.mask = &mask;
    fill_mask(op, &mask, &in, &a);
  }
  a.masked_keys = masked_keys(op, a.mask, in.keys);
  if (lengths_of(op, call) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, lengths_of(op, call), &lengths, err));
    a.lengths.view = &lengths;
    a.ends = true;
  }
  a.scores = leati_output(call, SCORES);
  a.score_form = state->scores;
  const leati_past past = {.keys = past_of(op, call, false),
                           .values = past_of(op, call, true),
                           .to_keys = leati_output(call, 1),
                           .to_values = leati_output(call, 2)};
  if (past.keys == NULL && past.to_keys == NULL && past.to_values == NULL) {
    return leati_plan_attention(planner, &a, err);
  }
  leati_append append = {.lengths.most = in.keys, .past = in.past};
  return leati_plan_attention_behind(planner, &a, &past, in.keys, &append, err);
}

/* ---- What is supported ------------------------------------------------------------------------------------------ */

/* One kernel reads all operands, so they have one type; a mask may be of bool. */
static int32_t check_types(const leati_op_def *def, const leati_op_desc *desc, leat_error *err) {
  const uint32_t place = places[def->param].mask;
  const uint64_t queries = leati_type_of(desc->inputs[0].dtype), values = leati_type_of(desc->inputs[2].dtype);
  const uint64_t mask = leati_is_given(desc, place) ? leati_type_of(desc->inputs[place].dtype) : 0;
  const bool fits = values == queries && (mask == 0 || mask == queries || mask == LEAT_TYPE_BOOL);
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                           "%s with queries of %s, values of %s and %s%s is not supported; all need one type, or the "
                           "mask bool",
                           def->info.name, leati_type_name(queries), leati_type_name(values),
                           mask == 0 ? "no mask" : "a mask of ", mask == 0 ? "" : leati_type_name(mask));
}

static int32_t attention_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  (void)device;
  const int64_t precision = leati_attr_int(desc, "softmax_precision", FLOAT_NUMBER);
  if (precision != FLOAT_NUMBER) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with softmax_precision %lld is not supported; only float32 is",
                      def->info.name, (long long)precision);
  }
  const int64_t scores = leati_attr_int(desc, "qk_matmul_output_mode", 0);
  if (scores < LEAT_ATTENTION_SCORES_PRODUCTS || scores > LEAT_ATTENTION_SCORES_WEIGHTS) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: qk_matmul_output_mode is %lld; it is 0 to 3",
                      def->info.name, (long long)scores);
  }
  const leat_op_attribute *const windows[] = {&attribute_left_window_size, &attribute_right_window_size};
  for (uint32_t i = 0; i < 2; ++i) {
    const int64_t window = leati_attr_int(desc, windows[i]->name, -1);
    if (window < -1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s is %lld; it is -1, for all keys, or at least 0",
                        def->info.name, windows[i]->name, (long long)window);
    }
  }
  for (uint32_t i = 0; i < 3; ++i) {
    const int32_t rank = desc->inputs[i].ndim;
    if (rank >= 0 && rank != 3 && rank != 4) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u with %d dimensions is not supported",
                        def->info.name, i, rank);
    }
  }
  return check_types(def, desc, err);
}

static int32_t attention_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  attention_state *const state = leati_op_state(op);
  const bool causal = leati_attr_int(desc, "is_causal", 0) != 0;
  *state = (attention_state){.q_heads = leati_attr_int(desc, "q_num_heads", 0),
                             .kv_heads = leati_attr_int(desc, "kv_num_heads", 0),
                             .scale = leati_attr_float(desc, "scale", 0.0f),
                             .cap = leati_attr_float(desc, "softcap", 0.0f),
                             .scaled = leati_attr(desc, "scale") != NULL,
                             .before = leati_attr_int(desc, "left_window_size", -1),
                             .after = causal ? 0 : leati_attr_int(desc, "right_window_size", -1),
                             .scores = (uint32_t)leati_attr_int(desc, "qk_matmul_output_mode", 0)};
  return LEAT_OK;
}

/* ---- FusedAttention ----------------------------------------------------------------------------------------------
 */

static LEATI_ATTRIBUTE(attribute_q_layout, "q_layout", STRING);
static LEATI_ATTRIBUTE(attribute_k_layout, "k_layout", STRING);
static LEATI_ATTRIBUTE(attribute_v_layout, "v_layout", STRING);
static LEATI_ATTRIBUTE(attribute_y_layout, "y_layout", STRING);
static LEATI_ATTRIBUTE(attribute_nan_to_zero, "nan_to_zero", INT);
static const leat_op_attribute *const layout_attributes[LAYOUTS] = {&attribute_q_layout, &attribute_k_layout,
                                                                    &attribute_v_layout, &attribute_y_layout};

/* Whether each letter is known and stands there once, and nothing is missing that there must be. */
static bool is_layout(const char *text, uint64_t size) {
  uint32_t seen[5] = {0};
  for (uint64_t i = 0; i < size && size <= LAYOUT_MOST; ++i) {
    static const char known[] = "bhsdx";
    const char *const at = text[i] == '\0' ? NULL : strchr(known, text[i]);
    if (at == NULL) {
      return false;
    }
    ++seen[at - known];
  }
  return seen[0] <= 1 && seen[1] + seen[4] <= 1 && seen[2] == 1 && seen[3] + seen[4] == 1;
}

static int32_t fused_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)device;
  for (uint32_t i = 0; i < LAYOUTS; ++i) {
    const leat_attribute *const layout = leati_attr(desc, layout_attributes[i]->name);
    if (layout != NULL && !is_layout(layout->string, layout->count)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: \"%.*s\" of %s is no layout: up to four of the letters b, h, s, d, or b, s, x",
                        def->info.name, layout->count <= 16 ? (int)layout->count : 16, layout->string,
                        layout_attributes[i]->name);
    }
  }
  return check_types(def, desc, err);
}

static int32_t fused_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  LEATI_TRY(attention_create(op, desc, err));
  attention_state *const state = leati_op_state(op);
  state->zeroed = leati_attr_int(desc, "nan_to_zero", 0) != 0 ? LEAT_ATTENTION_ZEROED_NAN : LEAT_ATTENTION_ZEROED_NONE;
  for (uint32_t i = 0; i < LAYOUTS; ++i) {
    const leat_attribute *const layout = leati_attr(desc, layout_attributes[i]->name);
    memcpy(state->layouts[i], layout != NULL ? layout->string : LEATI_HEADS_APART,
           layout != NULL ? layout->count : LAYOUT_MOST);
  }
  return LEAT_OK;
}

static bool attention_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Attention", "", (23, 25), (3, 7), (1, 4), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_keys, &type_values, &type_mask, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_scale, &attribute_softcap, &attribute_is_causal, &attribute_q_num_heads,
                              &attribute_kv_num_heads, &attribute_softmax_precision, &attribute_qk_matmul_output_mode,
                              &attribute_left_window_size, &attribute_right_window_size),
             LEATI_INPUT_TYPES(0, 0, 1, 2, 0, 1, 3), LEATI_OUTPUT_TYPES(0, 0, 1, 0),
             .state_size = sizeof(attention_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256, LEATI_KERNELS_APPEND,
                           LEATI_KERNELS_ATTENTION_SCORES),
             .param = ATTENTION, .supports = attention_supports, .create = attention_create, .infer = attention_infer,
             .plan = attention_plan, .reads_view = attention_reads_view),
    LEATI_OP(
        "FusedAttention", "leat", (1, 1), (3, 4), (1, 1), .info.flags = LEAT_OP_HEAVY,
        LEATI_TYPES(&leati_type_real, &type_mask),
        LEATI_ATTRIBUTES(&attribute_q_layout, &attribute_k_layout, &attribute_v_layout, &attribute_y_layout,
                         &attribute_q_num_heads, &attribute_kv_num_heads, &attribute_scale, &attribute_nan_to_zero),
        LEATI_INPUT_TYPES(0, 0, 0, 1), .state_size = sizeof(attention_state),
        LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256), .param = FUSED,
        .supports = fused_supports, .create = fused_create, .infer = attention_infer, .plan = attention_plan,
        .reads_view = attention_reads_view),
};

const leati_op_family leati_attention_family = LEATI_FAMILY(ops);
