/* SPDX-License-Identifier: BSD-3-Clause */
/* LinearAttention, ONNX's and com.microsoft's, and com.microsoft's LinearAttentionGate, which makes its gates. */
#include <inttypes.h>
#include <math.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"
#include "ops/reduce/reduce.h"
#include "policy/tiling.h"

static LEATI_TYPE(type_state, "S", LEATI_TYPES_REAL);
static LEATI_TYPE(type_float, "TF", LEAT_TYPE_FLOAT32);
static LEATI_ATTRIBUTE(attribute_chunk_size, "chunk_size", INT);
static LEATI_ATTRIBUTE(attribute_kv_num_heads, "kv_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_q_num_heads, "q_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_state_window, "state_window", INT);
static LEATI_ATTRIBUTE(attribute_update_rule, "update_rule", STRING);

enum { INPUT_QUERY, INPUT_KEY, INPUT_VALUE, INPUT_PAST, INPUT_DECAY, INPUT_BETA, INPUT_COUNT };
enum { OUTPUT_Y, OUTPUT_PRESENT };
enum { ONNX, MICROSOFT };

/* Elements of a column that a thread keeps at most: HELD_MOST of kernels/linear_attention.comp. */
#define HELD_MOST 8u

typedef struct attention_state {
  int64_t query_heads, heads;
  float scale; /* 0: from the size of a head */
  bool fades;  /* "gated": takes `decay` */
  bool delta;  /* "delta": takes `beta` */
} attention_state;

/* Argument record of kernels/linear_attention.comp. */
typedef struct attention_args {
  uint64_t query, key, value, past, decay, beta, y, present;
  uint32_t columns, begin, end, tokens;
  uint32_t key_size, value_size;
  uint32_t heads, query_heads, key_heads, y_heads;
  uint32_t reads, betas;
  float scale;
  leati_divider per_value_size, per_heads;
} attention_args;

/* Sizes of a call. */
typedef struct sizes {
  int64_t batch, tokens;
  int64_t key_size, value_size;
  int64_t key_heads;
  uint32_t decay; /* the constant DECAY */
  bool past_is_there;
} sizes;

static int32_t attention_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  (void)device;
  const int64_t window = leati_attr_int(desc, "state_window", 0);
  const int64_t query_heads = leati_attr_int(desc, "q_num_heads", 0), heads = leati_attr_int(desc, "kv_num_heads", 0);
  if (window != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with state_window = %" PRId64 " is not supported; 0 is",
                      def->info.name, window);
  }
  if (query_heads < 1 || heads < 1 || query_heads > INT32_MAX || heads > INT32_MAX ||
      (query_heads % heads != 0 && (def->param == ONNX || heads % query_heads != 0))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: q_num_heads is %" PRId64 " and kv_num_heads %" PRId64
                      "; the first must be a positive multiple of the second%s",
                      def->info.name, query_heads, heads, def->param == ONNX ? "" : ", or the second of the first");
  }
  return LEAT_OK;
}

static int32_t attention_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  static const char *const rules[] = {"gated_delta", "linear", "gated", "delta"};
  uint32_t rule;
  LEATI_TRY(leati_attr_choice(desc, "LinearAttention", "update_rule", rules, 4, &rule, err));
  *(attention_state *)leati_op_state(op) = (attention_state){.query_heads = leati_attr_int(desc, "q_num_heads", 0),
                                                             .heads = leati_attr_int(desc, "kv_num_heads", 0),
                                                             .scale = leati_attr_float(desc, "scale", 0),
                                                             .fades = rule == 0 || rule == 2,
                                                             .delta = rule == 0 || rule == 3};
  return LEAT_OK;
}

/* Fails unless an input of three dimensions has the batch and the tokens of the queries, and gives its third. */
static int32_t check_packed(const leati_call *call, uint32_t i, const char *what, int64_t *out_width, leat_error *err) {
  const leati_view *const view = leati_input(call, i), *const query = &call->inputs[INPUT_QUERY];
  if (view == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "LinearAttention: this update_rule needs %s", what);
  }
  if (view->ndim != 3 || view->shape[0] != query->shape[0] || view->shape[1] != query->shape[1]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LinearAttention: %s must have 3 dimensions, %" PRId64 " batches, %" PRId64
                      " tokens and the heads side by side",
                      what, query->shape[0], query->shape[1]);
  }
  *out_width = view->shape[2];
  return LEAT_OK;
}

/* Reads the sizes of a call and fails unless all shapes go with each other. */
static int32_t attention_sizes(const leat_op *op, const leati_call *call, sizes *out, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  const leati_view *const query = &call->inputs[INPUT_QUERY], *const past = leati_input(call, INPUT_PAST);
  int64_t query_width = 0, key_width = 0, value_width = 0, decay_width = 0, beta_width = 0;
  *out = (sizes){.batch = query->shape[0], .tokens = query->shape[1], .past_is_there = past != NULL};
  LEATI_TRY(check_packed(call, INPUT_QUERY, "query", &query_width, err));
  LEATI_TRY(check_packed(call, INPUT_KEY, "key", &key_width, err));
  LEATI_TRY(check_packed(call, INPUT_VALUE, "value", &value_width, err));
  if (query_width % state->query_heads != 0 || value_width % state->heads != 0 || query_width == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LinearAttention: query of width %" PRId64 " and value of width %" PRId64
                      " must be made of %" PRId64 " and %" PRId64 " heads",
                      query_width, value_width, state->query_heads, state->heads);
  }
  out->key_size = query_width / state->query_heads;
  out->value_size = value_width / state->heads;
  out->key_heads = key_width / out->key_size;
  if (key_width % out->key_size != 0 || key_width == 0 || state->heads % out->key_heads != 0 ||
      (leati_op_def_of(op)->param == ONNX && out->key_heads != state->heads)) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "LinearAttention: key of width %" PRId64 " must have heads of %" PRId64 " elements, as query has, %s%" PRId64,
        key_width, out->key_size,
        leati_op_def_of(op)->param == ONNX ? "and so many as value, " : "and a number that divides ", state->heads);
  }
  if (state->fades) {
    LEATI_TRY(check_packed(call, INPUT_DECAY, "decay", &decay_width, err));
    out->decay = decay_width == state->heads ? 1 : 2;
    if (out->decay == 2 && decay_width != state->heads * out->key_size) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "LinearAttention: decay of width %" PRId64 " must have a number for each of %" PRId64
                        " heads, or for each element of their keys",
                        decay_width, state->heads);
    }
  }
  if (state->delta) {
    LEATI_TRY(check_packed(call, INPUT_BETA, "beta", &beta_width, err));
    if (beta_width != state->heads && beta_width != 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "LinearAttention: beta of width %" PRId64 " must have one number, or one for each of %" PRId64
                        " heads",
                        beta_width, state->heads);
    }
  }
  const int64_t shape[] = {out->batch, state->heads, out->key_size, out->value_size};
  if (past != NULL && (past->ndim != 4 || !leati_same_numbers(past->shape, shape, 4))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LinearAttention: past_state must have shape [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                      "], by batches, heads, and elements of a key and of a value",
                      shape[0], shape[1], shape[2], shape[3]);
  }
  if (out->key_size > (int64_t)(HELD_MOST * LEATI_ROW_THREADS)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "LinearAttention: keys of %" PRId64 " elements are not supported, up to %u are", out->key_size,
                      HELD_MOST * LEATI_ROW_THREADS);
  }
  return LEAT_OK;
}

static int32_t attention_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  sizes s;
  LEATI_TRY(attention_sizes(op, call, &s, err));
  const int64_t y_heads = state->query_heads > state->heads ? state->query_heads : state->heads;
  for (uint32_t o = 0; o < call->output_count; ++o) {
    const leati_view *const past = leati_input(call, INPUT_PAST);
    if (o == OUTPUT_Y) {
      out[o].ndim = 3;
      out[o].dims[0] = s.batch;
      out[o].dims[1] = s.tokens;
      out[o].dims[2] = y_heads * s.value_size;
    } else {
      out[o].ndim = 4;
      out[o].dtype = leati_dtype_of(past != NULL ? past->type : call->inputs[INPUT_QUERY].type);
      out[o].dims[0] = s.batch;
      out[o].dims[1] = state->heads;
      out[o].dims[2] = s.key_size;
      out[o].dims[3] = s.value_size;
    }
  }
  return LEAT_OK;
}

/* The constants STATE_IN and STATE_OUT. */
static uint32_t state_type(const leati_view *state) {
  return state == NULL || state->type == LEAT_TYPE_FLOAT32 ? 0 : state->type == LEAT_TYPE_FLOAT16 ? 1 : 2;
}

/* Compact views of the inputs that the rule reads, whose numbers and those of the results kernels can count. */
static int32_t plan_inputs(const leat_op *op, leati_planner *planner, const leati_call *call,
                           leati_view held[INPUT_COUNT], const leati_view *out[INPUT_COUNT], leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  LEATI_TRY(leati_check_reach(&call->outputs[OUTPUT_Y], "LinearAttention", err));
  for (uint32_t i = 0; i < INPUT_COUNT; ++i) {
    const leati_view *const given = leati_input(call, i);
    const bool unread = (i == INPUT_DECAY && !state->fades) || (i == INPUT_BETA && !state->delta);
    out[i] = NULL;
    if (given != NULL && !unread) {
      LEATI_TRY(leati_check_reach(given, "LinearAttention", err));
      LEATI_TRY(leati_plan_compact(planner, given, &held[i], err));
      out[i] = &held[i];
    }
  }
  return LEAT_OK;
}

static int32_t attention_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[OUTPUT_Y], *const present = leati_output(call, OUTPUT_PRESENT);
  sizes s;
  LEATI_TRY(attention_sizes(op, call, &s, err));
  const uint64_t columns = (uint64_t)s.batch * (uint64_t)state->heads * (uint64_t)s.value_size;
  if (columns * (uint64_t)s.key_size > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "LinearAttention: states of 2^31 elements or more are not supported");
  }
  if (columns == 0 || (present == NULL && s.tokens == 0)) {
    return LEAT_OK;
  }
  leati_view held[INPUT_COUNT];
  const leati_view *there[INPUT_COUNT];
  LEATI_TRY(plan_inputs(op, planner, call, held, there, err));
  uint32_t parts = 1;
  while (parts * HELD_MOST < (uint64_t)s.key_size) {
    parts *= 2;
  }
  const bool grouped = state->query_heads > state->heads;
  attention_args args = {
      .columns = (uint32_t)columns,
      .tokens = (uint32_t)s.tokens,
      .key_size = (uint32_t)s.key_size,
      .value_size = (uint32_t)s.value_size,
      .heads = (uint32_t)state->heads,
      .query_heads = (uint32_t)state->query_heads,
      .key_heads = (uint32_t)s.key_heads,
      .y_heads = (uint32_t)(grouped ? state->query_heads : state->heads),
      .reads = grouped ? (uint32_t)(state->query_heads / state->heads) : 1,
      .betas = there[INPUT_BETA] != NULL ? (uint32_t)there[INPUT_BETA]->shape[2] : 0,
      .scale = state->scale != 0 ? state->scale : 1.0f / sqrtf((float)s.key_size),
      .per_value_size = leati_divider_of((uint32_t)s.value_size),
      .per_heads = leati_divider_of((uint32_t)state->heads),
  };
  /* Some drivers leave long loops early, so that many tokens are several dispatches, which hand the states on in
   * float32. A sum of parts takes three rounds at most. */
  const uint32_t rounds = 5 + 5 * args.reads, most = LEATI_ROUNDS_MAX > rounds ? LEATI_ROUNDS_MAX / rounds : 1;
  leati_view between = {.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {(int64_t)(columns * (uint64_t)s.key_size)}};
  if (args.tokens > most) {
    LEATI_TRY(leati_plan_temporary(planner, &between, err));
  }
  const leati_view *from = there[INPUT_PAST];
  do {
    args.begin = args.end;
    args.end = args.tokens - args.begin > most ? args.begin + most : args.tokens;
    const leati_view *const to = args.end < args.tokens ? &between : present;
    const bool updates = from == to && from != NULL;
    leati_dispatch_desc dispatch = {
        .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_LINEAR_ATTENTION, y->type),
                     .constants.linear_attention = {.rows_spec = leati_rows_spec(false, parts),
                                                    .held = (args.key_size + parts - 1) / parts,
                                                    .decay = s.decay,
                                                    .delta = state->delta,
                                                    .state_in = state_type(from),
                                                    .state_out = state_type(to)}},
        .args = &args,
        .args_size = sizeof(args),
        LEATI_READS({there[INPUT_QUERY], &args.query}, {there[INPUT_KEY], &args.key}, {there[INPUT_VALUE], &args.value},
                    {there[INPUT_DECAY], &args.decay}, {there[INPUT_BETA], &args.beta},
                    {updates ? NULL : from, &args.past}),
        LEATI_WRITES({y, &args.y}, {to, &args.present}, {updates ? from : NULL, &args.past}),
        .multiplications = 3 * columns * (uint64_t)s.key_size * (args.end - args.begin),
    };
    leati_groups_linear(planner->device, columns, LEATI_ROW_THREADS / parts, dispatch.groups);
    LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
    from = to;
  } while (args.end < args.tokens);
  return LEAT_OK;
}

/* ---- Gates ------------------------------------------------------------------------------------------------------ */

enum { GATE_A, GATE_BIAS, GATE_SCALE, GATE_B };

static int32_t gate_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const a = &call->inputs[GATE_A], *const b = leati_input(call, GATE_B);
  const int64_t heads = a->shape[a->ndim - 1];
  for (uint32_t i = GATE_BIAS; i <= GATE_SCALE; ++i) {
    if (call->inputs[i].ndim != 1 || call->inputs[i].shape[0] != heads) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "LinearAttentionGate: %s must have shape [%" PRId64 "], one for each head",
                        i == GATE_BIAS ? "dt_bias" : "decay_scale", heads);
    }
  }
  if (b != NULL && (b->ndim != a->ndim || !leati_same_numbers(a->shape, b->shape, a->ndim))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "LinearAttentionGate: b must have the shape of a");
  }
  if (b == NULL && call->output_count > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "LinearAttentionGate: beta is of b, which is not there");
  }
  for (uint32_t o = 0; o < call->output_count; ++o) {
    out[o].ndim = a->ndim;
    for (int32_t d = 0; d < a->ndim; ++d) {
      out[o].dims[d] = a->shape[d];
    }
  }
  return LEAT_OK;
}

static int32_t gate_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const decay = &call->outputs[0], *const beta = leati_output(call, 1);
  leati_view in[4];
  LEATI_TRY(leati_check_reach(decay, "LinearAttentionGate", err));
  if (decay->count == 0) {
    return LEAT_OK;
  }
  const uint32_t taken = beta != NULL ? 4 : 3;
  for (uint32_t i = 0; i < taken; ++i) {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &in[i], err));
  }
  const struct {
    uint64_t a, bias, scale, b, decay, beta;
    uint32_t count, heads;
  } args = {.count = (uint32_t)decay->count, .heads = (uint32_t)decay->shape[decay->ndim - 1]};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_LINEAR_ATTENTION_GATE, decay->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&in[GATE_A], &args.a}, {&in[GATE_BIAS], &args.bias}, {&in[GATE_SCALE], &args.scale},
                  {beta != NULL ? &in[GATE_B] : NULL, &args.b}),
      LEATI_WRITES({decay, &args.decay}, {beta, &args.beta}),
  };
  leati_groups_linear(planner->device, decay->count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define LINEAR_ATTENTION(domain_, version, which, ...)                                                                 \
  LEATI_OP("LinearAttention", domain_, (version, version), (3, 6), (1, 2), LEATI_TYPES(&leati_type_real, &type_state), \
           LEATI_ATTRIBUTES(__VA_ARGS__), LEATI_INPUT_TYPES(0, 0, 0, 1, 0, 0), LEATI_OUTPUT_TYPES(0, 1),               \
           .state_size = sizeof(attention_state), .param = (which), .least_rank = 3, .most_rank = 3,                   \
           .supports = attention_supports, .create = attention_create, .infer = attention_infer,                       \
           LEATI_KERNELS(LEATI_KERNELS_LINEAR_ATTENTION), .plan = attention_plan)

static const leati_op_def ops[] = {
    LINEAR_ATTENTION("", 27, ONNX, &attribute_chunk_size, &attribute_kv_num_heads, &attribute_q_num_heads,
                     &attribute_scale, &attribute_update_rule),
    LINEAR_ATTENTION("com.microsoft", 1, MICROSOFT, &attribute_chunk_size, &attribute_kv_num_heads,
                     &attribute_q_num_heads, &attribute_scale, &attribute_state_window, &attribute_update_rule),
    LEATI_OP("LinearAttentionGate", "com.microsoft", (1, 1), (3, 4), (1, 2), LEATI_TYPES(&leati_type_real, &type_float),
             LEATI_INPUT_TYPES(0, 1, 1, 0), LEATI_OUTPUT_TYPES(0, 0), .least_rank = 1, .infer = gate_infer,
             LEATI_KERNELS(LEATI_KERNELS_LINEAR_ATTENTION_GATE), .plan = gate_plan),
};

const leati_op_family leati_linear_attention_family = LEATI_FAMILY(ops);
