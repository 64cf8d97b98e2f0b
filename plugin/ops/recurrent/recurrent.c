/* SPDX-License-Identifier: BSD-3-Clause */
/* LSTM, GRU, RNN and DynamicQuantizeLSTM: the inputs of all steps are multiplied by their weights at once, then go the
 * steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/product/integer_product.h"
#include "ops/product/matrix_product.h"
#include "ops/quantize/dynamic_quantize.h"
#include "ops/recurrent/kernels/recurrent_codes.glsl"
#include "policy/recurrence.h"

enum {
  INPUT_X,
  INPUT_W,
  INPUT_R,
  INPUT_B,
  INPUT_LENGTHS,
  INPUT_H,
  INPUT_C,
  INPUT_P,
  /* Of bytes, for a direction or each of its columns. */
  INPUT_W_SCALE,
  INPUT_W_ZERO,
  INPUT_R_SCALE,
  INPUT_R_ZERO,
  INPUT_COUNT
};
enum { OUTPUT_Y, OUTPUT_H, OUTPUT_C, OUTPUT_COUNT };
enum { LSTM, GRU, RNN, QUANTIZED_LSTM };
enum { FORWARD, REVERSE, BIDIRECTIONAL };

/* What the operators differ by. */
static const struct {
  uint32_t gates, activations; /* of a direction */
  uint32_t standard[LEAT_RECURRENT_ACTIVATIONS];
  leati_kernel_set kernels;
} kinds[] = {
    [LSTM] = {4, 3, {LEAT_EW_SIGMOID, LEAT_EW_TANH, LEAT_EW_TANH}, LEATI_KERNELS_LSTM},
    [GRU] = {3, 2, {LEAT_EW_SIGMOID, LEAT_EW_TANH}, LEATI_KERNELS_GRU},
    [RNN] = {1, 1, {LEAT_EW_TANH}, LEATI_KERNELS_RNN},
    [QUANTIZED_LSTM] = {4, 3, {LEAT_EW_SIGMOID, LEAT_EW_TANH, LEAT_EW_TANH}, LEATI_KERNELS_LSTM_QUANTIZED},
};

/* Dispatches of one call at most. */
#define ROUNDS_MAX 131072

/* Activation of argument records. */
typedef struct activation {
  uint32_t operation;
  float p, q;
} activation;

typedef struct recurrent_state {
  uint32_t direction;
  uint32_t directions;
  int64_t units;     /* -1: not said */
  bool batch_first;  /* layout 1 */
  bool input_forget; /* LSTM */
  bool linear_first; /* GRU: linear_before_reset */
  bool standard;     /* the activations are the kind's own */
  float clip;        /* infinite: none */
  activation activations[LEAT_RECURRENT_DIRECTIONS * LEAT_RECURRENT_ACTIVATIONS];
} recurrent_state;

/* ---- Attributes ---------------------------------------------------------------------------------------------------
 */

/* Activations, which of the lists of parameters each takes one of, and what it has without: as its own operator. */
static const struct {
  const char *name;
  uint32_t operation;
  bool takes_alpha, takes_beta;
  float alpha, beta;
} functions[] = {
    {"Sigmoid", LEAT_EW_SIGMOID, false, false, 0, 0},
    {"Tanh", LEAT_EW_TANH, false, false, 0, 0},
    {"Relu", LEAT_EW_RELU, false, false, 0, 0},
    {"Affine", LEAT_RECURRENT_AFFINE, true, true, 1, 0},
    {"LeakyRelu", LEAT_EW_LEAKY_RELU, true, false, 0.01f, 0},
    {"ThresholdedRelu", LEAT_EW_THRESHOLDED_RELU, true, false, 1, 0},
    {"ScaledTanh", LEAT_RECURRENT_SCALED_TANH, true, true, 1, 1},
    {"HardSigmoid", LEAT_EW_HARD_SIGMOID, true, true, 0.2f, 0.5f},
    {"Elu", LEAT_EW_ELU, true, false, 1, 0},
    {"Softsign", LEAT_EW_SOFTSIGN, false, false, 0, 0},
    {"Softplus", LEAT_EW_SOFTPLUS, false, false, 0, 0},
};

/* Whether they are the same but for the case of letters, which ONNX Runtime does not ask either. */
static bool same_word(const char *word, const char *text, uint64_t length) {
  uint64_t i = 0;
  while (i < length && word[i] != '\0' && ((word[i] ^ text[i]) & ~0x20) == 0) {
    ++i;
  }
  return i == length && word[i] == '\0';
}

/* The next number of a list, or another one where there is none. */
static float next_of(const leat_attribute *list, uint64_t *at, bool takes, float otherwise) {
  return takes && list != NULL && *at < list->count ? list->floats[(*at)++] : otherwise;
}

static int32_t read_activations(const leati_op_def *def, const leati_op_desc *desc, recurrent_state *state,
                                leat_error *err) {
  const uint32_t each = kinds[def->param].activations, wanted = each * state->directions;
  const leat_attribute *const names = leati_attr(desc, "activations");
  const leat_attribute *const alphas = leati_attr(desc, "activation_alpha");
  const leat_attribute *const betas = leati_attr(desc, "activation_beta");
  uint64_t alpha = 0, beta = 0;
  /* The default of RNN has two, also for one direction. */
  if (names != NULL && names->count != wanted && !(def->param == RNN && names->count > wanted)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: attribute 'activations' has %" PRIu64 " names; expected %u for each direction, %u",
                      def->info.name, names->count, each, wanted);
  }
  state->standard = true;
  for (uint32_t i = 0; i < wanted; ++i) {
    size_t f = 0;
    while (f < sizeof(functions) / sizeof(functions[0]) &&
           !(names != NULL ? same_word(functions[f].name, names->strings[i], names->lengths[i])
                           : functions[f].operation == kinds[def->param].standard[i % each])) {
      ++f;
    }
    if (f == sizeof(functions) / sizeof(functions[0])) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "%s: activation '%.*s' is none of Affine, Relu, LeakyRelu, ThresholdedRelu, Tanh, ScaledTanh, "
                        "Sigmoid, HardSigmoid, Elu, Softsign and Softplus",
                        def->info.name, names->lengths[i] < 64 ? (int)names->lengths[i] : 64, names->strings[i]);
    }
    state->activations[i / each * LEAT_RECURRENT_ACTIVATIONS + i % each] =
        (activation){.operation = functions[f].operation,
                     .p = next_of(alphas, &alpha, functions[f].takes_alpha, functions[f].alpha),
                     .q = next_of(betas, &beta, functions[f].takes_beta, functions[f].beta)};
    state->standard = state->standard && functions[f].operation == kinds[def->param].standard[i % each];
  }
  return LEAT_OK;
}

static int32_t read_state(const leati_op_def *def, const leati_op_desc *desc, recurrent_state *state, leat_error *err) {
  static const char *const directions[] = {"forward", "reverse", "bidirectional"};
  const char *const name = def->info.name;
  LEATI_TRY(leati_attr_choice(desc, name, "direction", directions, 3, &state->direction, err));
  state->directions = state->direction == BIDIRECTIONAL ? 2 : 1;
  state->units = -1;
  if (leati_attr(desc, "hidden_size") != NULL) {
    state->units = leati_attr_int(desc, "hidden_size", 0);
    if (state->units < 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: hidden_size is %" PRId64 "; it must be at least 1", name,
                        state->units);
    }
  }
  const int64_t layout = leati_attr_int(desc, "layout", 0);
  if (layout != 0 && layout != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: layout is %" PRId64 "; it must be 0 or 1", name, layout);
  }
  state->batch_first = layout == 1;
  state->clip = leati_attr_float(desc, "clip", INFINITY);
  if (!(state->clip > 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: clip is %g; it must be greater than 0", name,
                      (double)state->clip);
  }
  state->input_forget = leati_attr_int(desc, "input_forget", 0) != 0;
  state->linear_first = leati_attr_int(desc, "linear_before_reset", 0) != 0;
  return read_activations(def, desc, state, err);
}

/* ---- Shapes -------------------------------------------------------------------------------------------------------
 */

/* Sizes of a call; -1: not known yet. */
typedef struct recurrent_sizes {
  int64_t steps, batch, input, units;
} recurrent_sizes;

/* The shape of an input as far as it is known; rank -1: it is not, or the input is absent. */
typedef struct known_shape {
  int32_t ndim;
  const int64_t *shape;
} known_shape;

/* Fails unless an input can have `count` dimensions of such sizes. Sizes that were not known are those that it has. */
static int32_t match(const char *op, const char *what, known_shape given, int32_t count, int64_t *const *wanted,
                     leat_error *err) {
  if (given.ndim == -1) {
    return LEAT_OK;
  }
  bool fits = given.ndim == count;
  for (int32_t d = 0; d < count && fits; ++d) {
    fits = leati_may_equal(given.shape[d], *wanted[d]);
    *wanted[d] = *wanted[d] < 0 ? given.shape[d] : *wanted[d];
  }
  if (!fits) {
    char text[128];
    int length = 0;
    for (int32_t d = 0; d < count; ++d) {
      length += *wanted[d] < 0 ? snprintf(text + length, sizeof(text) - (size_t)length, "%s?", d == 0 ? "" : ", ")
                               : snprintf(text + length, sizeof(text) - (size_t)length, "%s%" PRId64,
                                          d == 0 ? "" : ", ", *wanted[d]);
    }
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s has another shape than [%s]", op, what, text);
  }
  return LEAT_OK;
}

/* Checks a scale or zero point of weights: one for a direction, or for each of its columns. */
static int32_t match_scale(const char *op, const char *what, known_shape given, int64_t *directions, int64_t *columns,
                           leat_error *err) {
  int64_t *const dims[] = {directions, columns};
  return match(op, what, given, given.ndim == 1 ? 1 : 2, dims, err);
}

/* Fails if a zero point has not as many elements as its scale. */
static int32_t match_places(const char *op, const known_shape in[INPUT_COUNT], leat_error *err) {
  for (uint32_t i = INPUT_W_SCALE; i < INPUT_COUNT; i += 2) {
    if (in[i].ndim >= 0 && in[i + 1].ndim >= 0 && in[i].ndim != in[i + 1].ndim) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "%s: a scale of %d dimensions with a zero point of %d is not supported: both must have one, or "
                        "both two",
                        op, in[i].ndim, in[i + 1].ndim);
    }
  }
  return LEAT_OK;
}

/* Checks all inputs, as far as they are known. */
static int32_t match_all(const leati_op_def *def, const recurrent_state *state, const known_shape in[INPUT_COUNT],
                         recurrent_sizes *out, leat_error *err) {
  const char *const name = def->info.name;
  const int64_t gates = kinds[def->param].gates;
  const bool bytes = def->param == QUANTIZED_LSTM; /* of weights, whose columns are of gates */
  const known_shape w = in[INPUT_W], r = in[INPUT_R];
  recurrent_sizes *const s = out;
  int64_t directions = state->directions;
  *s = (recurrent_sizes){.steps = -1, .batch = -1, .input = -1, .units = state->units};
  if (s->units < 0) {
    const int32_t units_at = bytes ? 1 : 2, rows_at = bytes ? 2 : 1;
    s->units = r.ndim == 3 && r.shape[units_at] >= 0  ? r.shape[units_at]
               : w.ndim == 3 && w.shape[rows_at] >= 0 ? w.shape[rows_at] / gates
                                                      : -1;
  }
  if (s->units == 0 || s->units > INT32_MAX / 64) {
    return leati_fail(err, s->units == 0 ? LEAT_ERROR_INVALID_ARGUMENT : LEAT_ERROR_NOT_SUPPORTED,
                      "%s: a hidden size of %" PRId64 "; supported: 1 to %d", name, s->units, INT32_MAX / 64);
  }
  int64_t rows = s->units < 0 ? -1 : gates * s->units, biases = s->units < 0 ? -1 : 2 * rows;
  int64_t peepholes = s->units < 0 ? -1 : 3 * s->units;
  const bool first = state->batch_first;
  int64_t *const x_dims[] = {first ? &s->batch : &s->steps, first ? &s->steps : &s->batch, &s->input};
  int64_t *const w_dims[] = {&directions, bytes ? &s->input : &rows, bytes ? &rows : &s->input};
  int64_t *const r_dims[] = {&directions, bytes ? &s->units : &rows, bytes ? &rows : &s->units};
  int64_t *const b_dims[] = {&directions, &biases}, *const p_dims[] = {&directions, &peepholes};
  int64_t *const length_dims[] = {&s->batch};
  int64_t *const h_dims[] = {first ? &s->batch : &directions, first ? &directions : &s->batch, &s->units};
  LEATI_TRY(match(name, "X", in[INPUT_X], 3, x_dims, err));
  LEATI_TRY(match(name, "W", w, 3, w_dims, err));
  LEATI_TRY(match(name, "R", r, 3, r_dims, err));
  LEATI_TRY(match(name, "B", in[INPUT_B], 2, b_dims, err));
  LEATI_TRY(match(name, "sequence_lens", in[INPUT_LENGTHS], 1, length_dims, err));
  LEATI_TRY(match(name, "initial_h", in[INPUT_H], 3, h_dims, err));
  LEATI_TRY(match(name, "initial_c", in[INPUT_C], 3, h_dims, err));
  LEATI_TRY(match(name, "P", in[INPUT_P], 2, p_dims, err));
  LEATI_TRY(match_scale(name, "W_scale", in[INPUT_W_SCALE], &directions, &rows, err));
  LEATI_TRY(match_scale(name, "W_zero_point", in[INPUT_W_ZERO], &directions, &rows, err));
  LEATI_TRY(match_scale(name, "R_scale", in[INPUT_R_SCALE], &directions, &rows, err));
  LEATI_TRY(match_scale(name, "R_zero_point", in[INPUT_R_ZERO], &directions, &rows, err));
  return match_places(name, in, err);
}

static int32_t sizes_of(const leat_op *op, const leati_call *call, recurrent_sizes *out, leat_error *err) {
  known_shape in[INPUT_COUNT];
  for (uint32_t i = 0; i < INPUT_COUNT; ++i) {
    const leati_view *const view = leati_input(call, i);
    in[i] = view != NULL ? (known_shape){view->ndim, view->shape} : (known_shape){.ndim = -1};
  }
  return match_all(leati_op_def_of(op), leati_op_state_const(op), in, out, err);
}

static int32_t recurrent_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  (void)device;
  recurrent_state state;
  known_shape in[INPUT_COUNT];
  recurrent_sizes sizes;
  LEATI_TRY(read_state(def, desc, &state, err));
  for (uint32_t i = 0; i < INPUT_COUNT; ++i) {
    in[i] = leati_is_given(desc, i) ? (known_shape){desc->inputs[i].ndim, desc->inputs[i].shape}
                                    : (known_shape){.ndim = -1};
  }
  return match_all(def, &state, in, &sizes, err);
}

static int32_t recurrent_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_state(leati_op_def_of(op), desc, leati_op_state(op), err);
}

/* Rounds of a step: a gate that the state is multiplied by before its sums are added up needs one of its own. */
static uint32_t rounds_of(const leat_op *op) {
  const recurrent_state *const state = leati_op_state_const(op);
  return leati_op_def_of(op)->param == GRU && !state->linear_first ? 2 : 1;
}

static leati_recurrent_cut cut_of(const leat_op *op, const recurrent_sizes *sizes, uint32_t item_size) {
  const recurrent_state *const state = leati_op_state_const(op);
  const uint32_t gates = kinds[leati_op_def_of(op)->param].gates;
  const bool twice = rounds_of(op) == 2;
  const leati_recurrent_shape shape = {.gates = gates,
                                       .round_gates = {twice ? 2 : gates, twice ? 1 : 0},
                                       .units = (uint32_t)sizes->units,
                                       .batch = (uint32_t)sizes->batch,
                                       .steps = (uint32_t)sizes->steps,
                                       .directions = state->directions,
                                       .item_size = item_size,
                                       .quantized = leati_op_def_of(op)->param == QUANTIZED_LSTM};
  return leati_recurrent_cut_of(&leati_op_device(op)->traits, &shape);
}

static int32_t recurrent_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const recurrent_state *const state = leati_op_state_const(op);
  const leati_op_def *const def = leati_op_def_of(op);
  recurrent_sizes s;
  LEATI_TRY(sizes_of(op, call, &s, err));
  const double rows = (double)s.batch * state->directions;
  const double products = rows * (double)s.steps * kinds[def->param].gates * (double)s.units;
  if (products > INT32_MAX || rows * (double)(s.units + 3) > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: all gates of all steps are %.0f elements, of %.0f rows; supported: up to 2147483647",
                      def->info.name, products, rows);
  }
  if (s.batch > 0 && !cut_of(op, &s, call->inputs[INPUT_W].item_size).whole && s.steps > ROUNDS_MAX / rounds_of(op)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: %" PRId64 " steps with a hidden size of %" PRId64 "; supported: up to %u", def->info.name,
                      s.steps, s.units, ROUNDS_MAX / rounds_of(op));
  }
  const int64_t directions = state->directions;
  const bool first = state->batch_first;
  for (uint32_t o = 0; o < call->output_count; ++o) {
    const int64_t all[2][4] = {{s.steps, directions, s.batch, s.units}, {s.batch, s.steps, directions, s.units}};
    const int64_t last[2][3] = {{directions, s.batch, s.units}, {s.batch, directions, s.units}};
    out[o].ndim = o == OUTPUT_Y ? 4 : 3;
    memcpy(out[o].dims, o == OUTPUT_Y ? all[first] : last[first], (size_t)out[o].ndim * sizeof(int64_t));
  }
  return LEAT_OK;
}

/* Weights of the states whose columns lie one after the other are read in place. */
static uint32_t recurrent_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)op;
  return leati_has_input(constants, INPUT_R) && leati_has_channels(&call->inputs[INPUT_R]) ? 1u << INPUT_R : 0;
}

/* ---- Planning -----------------------------------------------------------------------------------------------------
 */

/* Argument record of kernels/recurrent.comp. */
typedef struct recurrent_args {
  uint64_t weights, products, bias, peepholes, lengths;
  uint64_t initial_h, initial_c;
  uint64_t vector, h, next, own;
  uint64_t y, y_h, y_c;
  uint64_t weight_scale, weight_zero;
  uint32_t begin, end;
  uint32_t steps, batch, units, directions;
  uint32_t fours, blocks, row_blocks;
  leati_divider per_fours, per_blocks, per_row_blocks;
  uint32_t parts[2], part_fours[2];
  uint32_t state_row;
  uint32_t product_step, product_row;
  uint32_t initial_direction, initial_row;
  uint32_t y_step, y_direction, y_row;
  uint32_t reverse;
  uint32_t input_forget, last;
  float clip;
  uint32_t weight_column, weight_turn;
  activation activations[LEAT_RECURRENT_DIRECTIONS * LEAT_RECURRENT_ACTIVATIONS];
} recurrent_args;

/* What a plan is made from. */
typedef struct recurrent_job {
  const leat_op *op;
  recurrent_sizes sizes;
  uint32_t item_size;
  leati_recurrent_cut cut;
  recurrent_args args;
  leati_pipeline_key pipeline;
  leati_view weights, products;
  leati_view in[INPUT_COUNT]; /* those behind R, compact */
  const leati_view *y, *y_h, *y_c;
  leati_view h[2], gated, own; /* float32, from a dispatch to the next */
} recurrent_job;

/* Input `i`, compact, or NULL where it is absent. */
static const leati_view *given(const recurrent_job *job, uint32_t i) {
  return job->in[i].present ? &job->in[i] : NULL;
}

/* The part of a compact scale or zero point that a direction has. */
static leati_view part_of(const leati_view *place, int64_t direction) {
  const int64_t count = place->ndim == 2 ? place->shape[1] : 1, stride = 1;
  leati_view part = *place;
  leati_view_reshape(&part, 1, &count, &stride);
  part.address += (uint64_t)(direction * count) * part.item_size;
  return part;
}

/* The inputs of all steps, quantised together and multiplied by their weights, one direction after the other. */
static int32_t plan_integer_products(recurrent_job *job, leati_planner *planner, const leati_call *call,
                                     leat_error *err) {
  leati_quantized x;
  leati_view w;
  const int64_t rows = job->sizes.steps * job->sizes.batch, input = job->sizes.input;
  const int64_t columns = kinds[QUANTIZED_LSTM].gates * job->sizes.units, all = job->args.directions * columns;
  const int64_t row_shape[] = {rows, input}, row_strides[] = {input, 1};
  const int64_t column_shape[] = {input, columns}, column_strides[] = {columns, 1};
  const int64_t result_shape[] = {rows, columns}, result_strides[] = {all, 1};
  LEATI_TRY(leati_plan_dynamically_quantized(planner, &call->inputs[INPUT_X], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_W], &w, err));
  leati_view_reshape(&x.bytes, 2, row_shape, row_strides);
  job->products = (leati_view){.type = LEAT_TYPE_FLOAT32, .ndim = 2, .shape = {rows, all}};
  LEATI_TRY(leati_plan_temporary(planner, &job->products, err));
  for (int64_t d = 0; d < job->args.directions; ++d) {
    leati_view b = w, c = job->products;
    leati_view_reshape(&b, 2, column_shape, column_strides);
    b.address += (uint64_t)(d * input * columns);
    leati_view_reshape(&c, 2, result_shape, result_strides);
    c.address += (uint64_t)(d * columns) * c.item_size;
    const leati_view scale = part_of(&job->in[INPUT_W_SCALE], d), zero = part_of(&job->in[INPUT_W_ZERO], d);
    const leati_integer_product product = {.a = &x.bytes,
                                           .b = &b,
                                           .c = &c,
                                           .c_row = all,
                                           .floats = true,
                                           .a_zero = &x.zero,
                                           .b_zero = &zero,
                                           .a_scale = &x.scale,
                                           .b_scale = &scale};
    LEATI_TRY(leati_plan_integer_product(planner, &product, err));
  }
  return LEAT_OK;
}

/* The inputs of all steps, multiplied by their weights. */
static int32_t plan_products(recurrent_job *job, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_view x, w;
  const int64_t rows = job->sizes.steps * job->sizes.batch;
  const int64_t columns =
      (int64_t)job->args.directions * kinds[leati_op_def_of(job->op)->param].gates * job->sizes.units;
  const int64_t row_shape[] = {rows, job->sizes.input}, column_shape[] = {columns, job->sizes.input};
  const int64_t strides[] = {job->sizes.input, 1};
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_X], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_W], &w, err));
  leati_view_reshape(&x, 2, row_shape, strides);
  leati_view_reshape(&w, 2, column_shape, strides);
  job->products = (leati_view){.type = x.type, .ndim = 2, .shape = {rows, columns}};
  LEATI_TRY(leati_plan_temporary(planner, &job->products, err));
  const leati_gemm gemm = leati_product_of(&x, &w, &job->products, NULL, true);
  return leati_plan_gemm(planner, &gemm, err);
}

/* A float32 for each state. */
static int32_t add_states(recurrent_job *job, leati_planner *planner, leati_view *out, leat_error *err) {
  *out = (leati_view){.type = LEAT_TYPE_FLOAT32,
                      .ndim = 2,
                      .shape = {(int64_t)job->args.directions * job->args.batch, job->args.state_row}};
  return leati_plan_temporary(planner, out, err);
}

/* Plans rounds [begin, end), for which so many went from one set of states to the other before. */
static int32_t plan_rounds(recurrent_job *job, leati_planner *planner, uint32_t begin, uint32_t end, uint32_t before,
                           leat_error *err) {
  recurrent_args *const args = &job->args;
  const uint32_t rounds = rounds_of(job->op), gates = kinds[leati_op_def_of(job->op)->param].gates;
  const bool first = begin < rounds, last = end == rounds * args->steps;
  /* Where each round is a dispatch, the first of two gives what the second one's sums are of. */
  const bool gives = job->gated.present && begin % 2 == 0, takes = job->gated.present && begin % 2 == 1;
  const leati_view *const h = first ? NULL : &job->h[before % 2];
  const leati_view *const next = last ? NULL : gives ? &job->gated : &job->h[(before + 1) % 2];
  args->begin = begin;
  args->end = end;
  args->last = last ? 1 : 0;
  leati_dispatch_desc dispatch = {
      .pipeline = job->pipeline,
      .args = args,
      .args_size = sizeof(*args),
      .multiplications =
          (uint64_t)args->directions * args->batch * args->units * args->units * gates * (end - begin) / rounds,
      LEATI_READS({&job->weights, &args->weights}, {&job->products, &args->products},
                  {given(job, INPUT_B), &args->bias}, {given(job, INPUT_P), &args->peepholes},
                  {given(job, INPUT_LENGTHS), &args->lengths}, {first ? given(job, INPUT_H) : NULL, &args->initial_h},
                  {first ? given(job, INPUT_C) : NULL, &args->initial_c}, {takes ? &job->gated : h, &args->vector},
                  {h, &args->h}, {given(job, INPUT_R_SCALE), &args->weight_scale},
                  {given(job, INPUT_R_ZERO), &args->weight_zero}),
      LEATI_WRITES({next, &args->next}, {job->own.present ? &job->own : NULL, &args->own}, {job->y, &args->y},
                   {last ? job->y_h : NULL, &args->y_h}, {last ? job->y_c : NULL, &args->y_c})};
  leati_groups_linear(planner->device, (uint64_t)args->directions * args->row_blocks * args->blocks, 1,
                      dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Rounds of one dispatch at most. */
static uint32_t rounds_at_once(const recurrent_job *job) {
  const leati_recurrent_cut *const cut = &job->cut;
  if (!cut->whole) {
    return 1;
  }
  /* Turns of a thread's loops in a step: it adds up a part of k, and sums of parts. */
  const uint32_t gates = kinds[leati_op_def_of(job->op)->param].gates, passes = cut->rows / cut->pass;
  const uint32_t turns =
      2 * (cut->part_fours[0] + cut->part_fours[1] + 4) + passes * gates * (cut->parts[0] + cut->parts[1] + 4);
  const uint32_t steps = LEATI_ROUNDS_MAX / 2 / turns;
  return (steps > 1 ? steps : 1) * rounds_of(job->op);
}

/* Strides of what is given to a call and what it gives. */
static void fill_strides(recurrent_job *job, bool batch_first) {
  recurrent_args *const args = &job->args;
  const uint32_t columns = args->directions * kinds[leati_op_def_of(job->op)->param].gates * args->units;
  args->product_step = batch_first ? columns : args->batch * columns;
  args->product_row = batch_first ? args->steps * columns : columns;
  args->initial_direction = batch_first ? args->units : args->batch * args->units;
  args->initial_row = batch_first ? args->directions * args->units : args->units;
  args->y_step = args->directions * (batch_first ? 1 : args->batch) * args->units;
  args->y_direction = (batch_first ? 1 : args->batch) * args->units;
  args->y_row = batch_first ? args->steps * args->directions * args->units : args->units;
  args->state_row = (args->units + 3) / 4 * 4;
}

/* Whether weights and initial states may be read by fours. */
static bool has_quads(const recurrent_job *job) {
  const leati_view *const h = given(job, INPUT_H);
  return job->args.units % 4 == 0 && job->weights.address % (4 * job->item_size) == 0 &&
         (h == NULL || h->address % (4 * h->item_size) == 0);
}

static int32_t recurrent_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const recurrent_state *const state = leati_op_state_const(op);
  const uint32_t kind = leati_op_def_of(op)->param;
  recurrent_job job = {.op = op, .item_size = call->inputs[INPUT_R].item_size};
  LEATI_TRY(sizes_of(op, call, &job.sizes, err));
  job.y = leati_output(call, OUTPUT_Y);
  job.y_h = leati_output(call, OUTPUT_H);
  job.y_c = leati_output(call, OUTPUT_C);
  if (job.sizes.batch == 0 || (job.y == NULL && job.y_h == NULL && job.y_c == NULL)) {
    return LEAT_OK;
  }
  const leati_recurrent_cut cut = job.cut = cut_of(op, &job.sizes, job.item_size);
  const uint32_t units = (uint32_t)job.sizes.units, batch = (uint32_t)job.sizes.batch;
  const uint32_t blocks = ((units + 3) / 4 + cut.fours - 1) / cut.fours, row_blocks = (batch + cut.rows - 1) / cut.rows;
  job.args = (recurrent_args){.steps = (uint32_t)job.sizes.steps,
                              .batch = batch,
                              .units = units,
                              .directions = state->directions,
                              .fours = cut.fours,
                              .blocks = blocks,
                              .row_blocks = row_blocks,
                              .per_fours = leati_divider_of(cut.fours),
                              .per_blocks = leati_divider_of(blocks),
                              .per_row_blocks = leati_divider_of(row_blocks),
                              .parts = {cut.parts[0], cut.parts[1]},
                              .part_fours = {cut.part_fours[0], cut.part_fours[1]},
                              .reverse = state->direction == REVERSE ? 1 : 0,
                              .input_forget = state->input_forget ? 1 : 0,
                              .clip = state->clip};
  memcpy(job.args.activations, state->activations, sizeof(job.args.activations));
  fill_strides(&job, state->batch_first);
  for (uint32_t i = INPUT_B; i < INPUT_COUNT; ++i) {
    if (leati_input(call, i) != NULL) {
      LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &job.in[i], err));
    }
  }
  if (job.sizes.steps != 0) {
    LEATI_TRY((kind == QUANTIZED_LSTM ? plan_integer_products : plan_products)(&job, planner, call, err));
  }
  /* From one element of k to the next all columns: as bytes lie, and in the order of images in NHWC layout. */
  const leati_view *const r = &call->inputs[INPUT_R];
  const leati_view ordered = kind == QUANTIZED_LSTM ? *r : leati_channels_last_order(r);
  LEATI_TRY(leati_plan_compact(planner, &ordered, &job.weights, err));
  if (kind == QUANTIZED_LSTM) {
    job.args.weight_column = job.in[INPUT_R_SCALE].ndim == 2 ? 1 : 0;
    job.args.weight_turn = r->type == LEAT_TYPE_UINT8 ? 0x80808080u : 0;
  }
  const uint32_t rounds = rounds_of(op), all = rounds * job.args.steps, once = rounds_at_once(&job);
  const bool gated = rounds == 2 && !cut.whole && all != 0;
  if (job.args.steps > (once + rounds - 1) / rounds) {
    LEATI_TRY(add_states(&job, planner, &job.h[0], err));
    LEATI_TRY(add_states(&job, planner, &job.h[1], err));
  }
  const bool has_cells = kind == LSTM || kind == QUANTIZED_LSTM;
  if (gated || (has_cells && all > once)) {
    LEATI_TRY(add_states(&job, planner, &job.own, err));
  }
  if (gated) {
    LEATI_TRY(add_states(&job, planner, &job.gated, err));
  }
  job.pipeline = (leati_pipeline_key){.kernel = leati_kernel_find(kinds[kind].kernels, call->inputs[INPUT_X].type),
                                      .constants.recurrent = {.threads = cut.threads,
                                                              .rows = cut.rows,
                                                              .pass = cut.pass,
                                                              .whole = cut.whole ? 1 : 0,
                                                              .vectors = cut.vectors,
                                                              .held = cut.held,
                                                              .quads = has_quads(&job) ? 1 : 0,
                                                              .standard = state->standard ? 1 : 0,
                                                              .twice = rounds == 2 ? 1 : 0}};
  uint32_t begin = 0;
  do {
    const uint32_t end = all - begin > once ? begin + once : all;
    LEATI_TRY(plan_rounds(&job, planner, begin, end, cut.whole ? begin / once : begin / rounds, err));
    begin = end;
  } while (begin < all);
  return LEAT_OK;
}

/* ---- The list -----------------------------------------------------------------------------------------------------
 */

static LEATI_TYPE(type_lengths, "T1", LEAT_TYPE_INT32);
static LEATI_ATTRIBUTE(attribute_activations, "activations", STRINGS);
static LEATI_ATTRIBUTE(attribute_activation_alpha, "activation_alpha", FLOATS);
static LEATI_ATTRIBUTE(attribute_activation_beta, "activation_beta", FLOATS);
static LEATI_ATTRIBUTE(attribute_clip, "clip", FLOAT);
static LEATI_ATTRIBUTE(attribute_direction, "direction", STRING);
static LEATI_ATTRIBUTE(attribute_hidden_size, "hidden_size", INT);
static LEATI_ATTRIBUTE(attribute_input_forget, "input_forget", INT);
static LEATI_ATTRIBUTE(attribute_linear_before_reset, "linear_before_reset", INT);
static LEATI_ATTRIBUTE(attribute_layout, "layout", INT);

#define RECURRENT(name, which, set, versions, inputs, outputs, attributes_)                                       \
  LEATI_OP(name, "", versions, inputs, outputs, .info.flags = LEAT_OP_HEAVY,                                      \
           LEATI_TYPES(&leati_type_real, &type_lengths), attributes_, LEATI_INPUT_TYPES(0, 0, 0, 0, 1, 0, 0, 0),  \
           LEATI_OUTPUT_TYPES(0, 0, 0), .state_size = sizeof(recurrent_state), .param = (which), .least_rank = 3, \
           .most_rank = 3, .supports = recurrent_supports, .create = recurrent_create, .infer = recurrent_infer,  \
           LEATI_KERNELS(set, LEATI_KERNELS_OF_PRODUCTS), .plan = recurrent_plan, .transposes = recurrent_transposes)
/* Weights of DynamicQuantizeLSTM, and what it is of. */
static LEATI_TYPE(type_float, "T", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_bytes, "T2", LEATI_TYPES_BYTE);
#define COMMON                                                                                      \
  &attribute_activations, &attribute_activation_alpha, &attribute_activation_beta, &attribute_clip, \
      &attribute_direction, &attribute_hidden_size

static const leati_op_def ops[] = {
    RECURRENT("LSTM", LSTM, LEATI_KERNELS_LSTM, (7, 13), (3, 8), (0, 3),
              LEATI_ATTRIBUTES(COMMON, &attribute_input_forget)),
    RECURRENT("LSTM", LSTM, LEATI_KERNELS_LSTM, (14, 22), (3, 8), (0, 3),
              LEATI_ATTRIBUTES(COMMON, &attribute_input_forget, &attribute_layout)),
    RECURRENT("GRU", GRU, LEATI_KERNELS_GRU, (7, 13), (3, 6), (0, 2),
              LEATI_ATTRIBUTES(COMMON, &attribute_linear_before_reset)),
    RECURRENT("GRU", GRU, LEATI_KERNELS_GRU, (14, 22), (3, 6), (0, 2),
              LEATI_ATTRIBUTES(COMMON, &attribute_linear_before_reset, &attribute_layout)),
    RECURRENT("RNN", RNN, LEATI_KERNELS_RNN, (7, 13), (3, 6), (0, 2), LEATI_ATTRIBUTES(COMMON)),
    RECURRENT("RNN", RNN, LEATI_KERNELS_RNN, (14, 22), (3, 6), (0, 2), LEATI_ATTRIBUTES(COMMON, &attribute_layout)),
    LEATI_OP("DynamicQuantizeLSTM", "com.microsoft", (1, 1), (3, 12), (0, 3), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_float, &type_lengths, &type_bytes), LEATI_ATTRIBUTES(COMMON, &attribute_input_forget),
             .required_inputs = 1u << INPUT_W_SCALE | 1u << INPUT_W_ZERO | 1u << INPUT_R_SCALE | 1u << INPUT_R_ZERO,
             LEATI_INPUT_TYPES(0, 2, 2, 0, 1, 0, 0, 0, 0, 2, 0, 2), LEATI_OUTPUT_TYPES(0, 0, 0),
             .state_size = sizeof(recurrent_state), .param = QUANTIZED_LSTM, .least_rank = 3, .most_rank = 3,
             .supports = recurrent_supports, .create = recurrent_create, .infer = recurrent_infer,
             LEATI_KERNELS(LEATI_KERNELS_LSTM_QUANTIZED), .plan = recurrent_plan),
};

const leati_op_family leati_recurrent_family = LEATI_FAMILY(ops);
