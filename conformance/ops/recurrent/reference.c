/* SPDX-License-Identifier: BSD-3-Clause */
/* LSTM, GRU, RNN and DynamicQuantizeLSTM, step by step, with what each number of a step may be off by. A backend goes
 * on from states of float32; the products of the inputs may be rounded to the type. */
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/elementwise/epilogue.h"
#include "ops/quantize/reference.h"

#define GATES_MOST 4

/* A number and how far it may be off. */
typedef struct number {
  double value, bound;
} number;

/* What is computed from numbers that may be off, itself rounded once. A number that is none is off by nothing. */
static number rounded(double value, double bound) {
  return (number){value, isfinite(value) ? bound + leati_ref_bound_ulps(fabs(value) + bound, 1) : 0};
}

static number sum(number a, number b) {
  return rounded(a.value + b.value, a.bound + b.bound);
}

static number product(number a, number b) {
  return rounded(a.value * b.value, fabs(a.value) * b.bound + fabs(b.value) * a.bound + a.bound * b.bound + FLT_MIN);
}

static number exactly(double value) {
  return (number){value, 0};
}

/* A layer: its sizes, inputs and what it has of attributes. */
typedef struct layer {
  leati_ref_node *node;
  int64_t steps, batch, input, units, directions;
  int64_t gates, activations; /* of a direction */
  bool batch_first;
  const leati_ref_tensor *x, *w, *r, *bias, *lengths, *initial_h, *initial_c, *peepholes;
  /* Of weights of int8 or uint8, whose columns are of gates; else NULL. */
  const leati_ref_tensor *w_scale, *w_zero, *r_scale, *r_zero;
  leati_ref_dynamic x_by; /* then, and how the inputs are quantised */
} layer;

/* ---- Activations --------------------------------------------------------------------------------------------------
 */

static void scale(leati_ref_tensor *x, double by, double and) {
  for (int64_t k = 0; k < x->count; ++k) {
    const number y = sum(product((number){x->f[k], x->bound[k]}, exactly(by)), exactly(and));
    x->f[k] = y.value;
    x->bound[k] = y.bound;
  }
}

/* The next number of a list, or another one where there is none. */
static float next_of(const leat_attribute *list, uint64_t *at, float otherwise) {
  return list != NULL && *at < list->count ? list->floats[(*at)++] : otherwise;
}

/* Applies activation `which` of a direction to all elements of `x`. Parameters go in the order of those that have some.
 */
static bool activate(const layer *l, int64_t direction, int64_t which, leati_ref_tensor *x) {
  static const char *const standard[3][3] = {{"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh"}, {"Tanh"}};
  static const struct {
    const char *name;
    bool alpha, beta;
    float otherwise[2];
  } with[] = {{"Affine", true, true, {1, 0}},
              {"LeakyRelu", true, false, {0.01f, 0}},
              {"ThresholdedRelu", true, false, {1, 0}},
              {"ScaledTanh", true, true, {1, 1}},
              {"HardSigmoid", true, true, {0.2f, 0.5f}},
              {"Elu", true, false, {1, 0}}};
  const leat_attribute *const names = leati_ref_attribute(l->node, "activations");
  const leat_attribute *const alphas = leati_ref_attribute(l->node, "activation_alpha");
  const leat_attribute *const betas = leati_ref_attribute(l->node, "activation_beta");
  const int64_t wanted = direction * l->activations + which;
  uint64_t alpha = 0, beta = 0;
  float parameters[2] = {0, 0};
  uint64_t count = 0;
  char name[32] = "";
  for (int64_t k = 0; k <= wanted; ++k) {
    const char *const otherwise = standard[l->gates == 4 ? 0 : l->gates == 3 ? 1 : 2][k % l->activations];
    const uint64_t length = names != NULL ? names->lengths[k] : strlen(otherwise);
    if (length >= sizeof(name)) {
      return leati_ref_fail(l->node, "an activation with a long name");
    }
    memcpy(name, names != NULL ? names->strings[k] : otherwise, length);
    name[length] = '\0';
    count = 0;
    for (size_t f = 0; f < sizeof(with) / sizeof(with[0]); ++f) {
      if (strcmp(with[f].name, name) == 0) {
        parameters[0] = with[f].alpha ? next_of(alphas, &alpha, with[f].otherwise[0]) : 0;
        parameters[1] = with[f].beta ? next_of(betas, &beta, with[f].otherwise[1]) : 0;
        count = with[f].beta ? 2 : 1;
      }
    }
  }
  if (strcmp(name, "Affine") == 0) {
    scale(x, parameters[0], parameters[1]);
    return true;
  }
  const bool scaled = strcmp(name, "ScaledTanh") == 0;
  if (scaled) {
    scale(x, parameters[1], 0);
    strcpy(name, "Tanh");
    count = 0;
  }
  const leat_attribute attributes[] = {{.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_STRING,
                                        .name = "activation",
                                        .count = strlen(name),
                                        .string = name},
                                       {.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_FLOATS,
                                        .name = "activation_params",
                                        .count = count,
                                        .floats = parameters}};
  const leat_attribute *const list[] = {&attributes[0], &attributes[1]};
  leati_ref_node part = {.name = l->node->name, .attribute_count = 2, .attributes = list, .output_count = 1};
  part.outputs[0] = *x;
  const bool ok = leati_ref_epilogue(&part, NULL) || leati_ref_fail(l->node, "%s", part.error);
  *x = part.outputs[0];
  if (scaled) {
    scale(x, parameters[0], 0);
  }
  return ok;
}

/* ---- A step -------------------------------------------------------------------------------------------------------
 */

/* What is known of a direction between steps: [batch, units]. */
typedef struct states {
  leati_ref_tensor h, c;
  leati_ref_tensor multiplied; /* h as the weights get it */
} states;

static number at(const leati_ref_tensor *tensor, int64_t k) {
  return (number){tensor->f[k], tensor->bound[k]};
}

static void put(leati_ref_tensor *tensor, int64_t k, number x) {
  tensor->f[k] = x.value;
  tensor->bound[k] = x.bound;
}

static leati_ref_tensor plane(const layer *l) {
  leati_ref_tensor out;
  const int64_t dims[] = {l->batch, l->units};
  leati_ref_tensor_init(&out, LEATI_REF_FLOAT32, 2, dims);
  return out;
}

/* ---- Bytes --------------------------------------------------------------------------------------------------------
 */

/* What a weight of bytes stands for without its scale, and the scale of its column. */
static double weight_of(const leati_ref_tensor *w, const leati_ref_tensor *zero, int64_t direction, int64_t k,
                        int64_t column) {
  const int64_t columns = w->dims[2], at = zero->rank == 2 ? direction * columns + column : direction;
  return (double)(w->i[(direction * w->dims[1] + k) * columns + column] - zero->i[at]);
}
static double scale_of(const leati_ref_tensor *w, const leati_ref_tensor *scale, int64_t direction, int64_t column) {
  return scale->f[scale->rank == 2 ? direction * w->dims[2] + column : direction];
}

/* A sum of integers, as exact as float32 has it, times the product of two scales. */
static number scaled_sum(double total, double off, double scale) {
  return (number){total * scale, (off + leati_ref_bound_ulps(fabs(total) + off, 3)) * fabs(scale)};
}

/* A whole number between the two that a quotient in float32 may be rounded to. */
static double least_whole(double x) {
  return nearbyint(x - 2 * LEATI_REF_ULP * fabs(x));
}
static double most_whole(double x) {
  return nearbyint(x + 2 * LEATI_REF_ULP * fabs(x));
}
static double within(double x, double low, double high) {
  return fmin(fmax(x, low), high);
}

/* What states stand for when each row of them is quantised by its own range. A state that is off by little may become
 * the next byte, which is off by a scale. */
static void quantize_states(const layer *l, const leati_ref_tensor *h, leati_ref_tensor *out) {
  for (int64_t b = 0; b < l->batch; ++b) {
    /* Of all that they may be, the narrowest and the widest range. */
    double low[2] = {0, 0}, high[2] = {0, 0};
    for (int64_t k = b * l->units; k < (b + 1) * l->units; ++k) {
      for (int wide = 0; wide < 2; ++wide) {
        const double off = wide != 0 ? h->bound[k] : -h->bound[k];
        low[wide] = fmin(low[wide], h->f[k] - off);
        high[wide] = fmax(high[wide], h->f[k] + off);
      }
    }
    const double narrow = (high[0] - low[0]) / 255, wide = (high[1] - low[1]) / 255;
    const bool flat = narrow < 2 * FLT_MIN; /* its scale may be 1 */
    const double least_zero = flat ? 0 : within(least_whole(-low[0] / (high[1] - low[0]) * 255), 0, 255);
    const double most_zero = flat ? 255 : within(most_whole(-low[1] / (high[0] - low[1]) * 255), 0, 255);
    for (int64_t k = b * l->units; k < (b + 1) * l->units; ++k) {
      const double from = h->f[k] - h->bound[k], to = h->f[k] + h->bound[k];
      double least = -255 * wide, most = 255 * wide;
      if (!flat) {
        const double low_steps = within(least_whole(from / (from < 0 ? narrow : wide)), -most_zero, 255 - most_zero);
        const double high_steps = within(most_whole(to / (to < 0 ? wide : narrow)), -least_zero, 255 - least_zero);
        least = low_steps * (low_steps < 0 ? wide : narrow);
        most = high_steps * (high_steps < 0 ? narrow : wide);
      }
      put(out, k, (number){(least + most) / 2, (most - least) / 2 + leati_ref_bound_ulps(most - least, 1)});
    }
  }
}

/* The product of an input with the weights of a gate. */
static number input_sum(const layer *l, int64_t direction, int64_t gate, int64_t t, int64_t b, int64_t unit) {
  const int64_t row = l->batch_first ? b * l->steps + t : t * l->batch + b;
  const int64_t column = (direction * l->gates + gate) * l->units + unit;
  if (l->w_scale != NULL) {
    const int64_t own = gate * l->units + unit;
    double total = 0;
    for (int64_t k = 0; k < l->input; ++k) {
      total += (double)(leati_ref_dynamic_byte(l->x_by, l->x->f[row * l->input + k]) - l->x_by.zero) *
               weight_of(l->w, l->w_zero, direction, k, own);
    }
    return scaled_sum(total, 0, l->x_by.scale * scale_of(l->w, l->w_scale, direction, own));
  }
  leati_ref_products p = {0};
  for (int64_t k = 0; k < l->input; ++k) {
    leati_ref_add_product(&p, l->x->f[row * l->input + k], l->w->f[column * l->input + k]);
  }
  double bound = leati_ref_bound_products(l->input, &p, l->x->type == LEATI_REF_FLOAT32);
  if (l->x->type != LEATI_REF_FLOAT32) {
    bound += leati_ref_type_ulp(l->x->type) * (0.5 * (fabs(p.sum) + bound) + leati_ref_type_smallest(l->x->type));
  }
  return (number){p.sum, isfinite(p.sum) ? bound : 0};
}

/* The same of a state. */
static number state_sum(const layer *l, int64_t direction, int64_t gate, const leati_ref_tensor *h, int64_t b,
                        int64_t unit) {
  const int64_t row = (direction * l->gates + gate) * l->units + unit;
  const int64_t column = gate * l->units + unit;
  double total = 0, magnitude = 0, off = 0;
  for (int64_t k = 0; k < l->units; ++k) {
    const double weight =
        l->r_scale != NULL ? weight_of(l->r, l->r_zero, direction, k, column) : l->r->f[row * l->units + k];
    const number x = at(h, b * l->units + k);
    total += weight * x.value;
    magnitude += fabs(weight) * (fabs(x.value) + x.bound);
    off += fabs(weight) * x.bound;
  }
  if (l->r_scale != NULL) {
    return scaled_sum(total, off, scale_of(l->r, l->r_scale, direction, column));
  }
  return (number){total, isfinite(total) ? off + leati_ref_bound_sum(l->units, magnitude) : 0};
}

/* The bias of inputs (0) or states (1). */
static number bias_of(const layer *l, int64_t direction, int which, int64_t gate, int64_t unit) {
  return exactly(l->bias != NULL ? l->bias->f[((direction * 2 + which) * l->gates + gate) * l->units + unit] : 0);
}

/* All that a gate has without what depends on other gates, in any order: sums of sums are rounded more often. */
static number terms(number a, number b, number c, number d) {
  const double magnitude = fabs(a.value) + fabs(b.value) + fabs(c.value) + fabs(d.value);
  const double value = a.value + b.value + c.value + d.value;
  const double off = a.bound + b.bound + c.bound + d.bound;
  return (number){value, isfinite(value) ? off + leati_ref_bound_sum(6, magnitude + off) : 0};
}

static number clipped(const layer *l, number x) {
  const double clip = leati_ref_float(l->node, "clip", INFINITY);
  if (!isnan(x.value) && fabs(x.value) > clip) {
    /* What is off by less than it is beyond the bound comes out as the bound. */
    const double beyond = isinf(x.value) ? INFINITY : fabs(x.value) - clip;
    return (number){copysign(clip, x.value), beyond < x.bound ? x.bound - beyond : 0};
  }
  return x;
}

/* The gate before its activation: its sums and biases, and what `more` adds. */
static number gate_of(const layer *l, int64_t direction, int64_t gate, int64_t t, int64_t b, int64_t unit,
                      const leati_ref_tensor *h, number more) {
  const number biases = sum(bias_of(l, direction, 0, gate, unit), bias_of(l, direction, 1, gate, unit));
  return clipped(
      l, terms(input_sum(l, direction, gate, t, b, unit), state_sum(l, direction, gate, h, b, unit), biases, more));
}

static number peephole(const layer *l, int64_t direction, int64_t which, int64_t unit, number c) {
  return l->peepholes != NULL ? product(exactly(l->peepholes->f[(direction * 3 + which) * l->units + unit]), c)
                              : exactly(0);
}

/* The length of a sequence. */
static int64_t length_of(const layer *l, int64_t b) {
  const int64_t length = l->lengths != NULL ? l->lengths->i[b] : l->steps;
  return length < 0 ? 0 : length > l->steps ? l->steps : length;
}

/* The element of time of a sequence that a step takes. */
static int64_t time_of(const layer *l, int64_t direction, int64_t step, int64_t b) {
  const bool backward = direction == 1 || leati_ref_string_is(l->node, "direction", "forward", "reverse");
  return backward ? length_of(l, b) - 1 - step : step;
}

#define EACH(l, b, u)                      \
  for (int64_t b = 0; b < (l)->batch; ++b) \
    for (int64_t u = 0; u < (l)->units; ++u)

/* Fills a gate for all rows that the step is in, and applies an activation. */
static bool fill_gate(const layer *l, int64_t direction, int64_t gate, int64_t step, const leati_ref_tensor *h,
                      const leati_ref_tensor *c, int64_t which, int64_t activation, leati_ref_tensor *out) {
  EACH(l, b, u) {
    if (step < length_of(l, b)) {
      const number more = c != NULL ? peephole(l, direction, which, u, at(c, b * l->units + u)) : exactly(0);
      put(out, b * l->units + u, gate_of(l, direction, gate, time_of(l, direction, step, b), b, u, h, more));
    }
  }
  return activate(l, direction, activation, out);
}

static bool step_lstm(const layer *l, int64_t direction, int64_t step, states *s, leati_ref_tensor g[GATES_MOST]) {
  enum { IN, OUT, FORGET, CELL };
  const leati_ref_tensor *const h = l->r_scale != NULL ? &s->multiplied : &s->h;
  if (l->r_scale != NULL) {
    quantize_states(l, &s->h, &s->multiplied);
  }
  bool ok = fill_gate(l, direction, IN, step, h, &s->c, 0, 0, &g[IN]) &&
            fill_gate(l, direction, CELL, step, h, NULL, 0, 1, &g[CELL]) &&
            fill_gate(l, direction, FORGET, step, h, &s->c, 2, 0, &g[FORGET]);
  EACH(l, b, u) {
    const int64_t k = b * l->units + u;
    if (step < length_of(l, b)) {
      const number in = at(&g[IN], k);
      const number forget = leati_ref_int(l->node, "input_forget", 0) != 0
                                ? sum(exactly(1), (number){-in.value, in.bound})
                                : at(&g[FORGET], k);
      put(&s->c, k, sum(product(forget, at(&s->c, k)), product(in, at(&g[CELL], k))));
    }
    put(&g[CELL], k, at(&s->c, k));
  }
  ok = ok && fill_gate(l, direction, OUT, step, h, &s->c, 1, 0, &g[OUT]) && activate(l, direction, 2, &g[CELL]);
  EACH(l, b, u) {
    const int64_t k = b * l->units + u;
    if (step < length_of(l, b)) {
      put(&s->h, k, product(at(&g[OUT], k), at(&g[CELL], k)));
    }
  }
  return ok;
}

static bool step_gru(const layer *l, int64_t direction, int64_t step, states *s, leati_ref_tensor g[GATES_MOST]) {
  enum { UPDATE, RESET, HIDDEN, GATED };
  const bool linear_first = leati_ref_int(l->node, "linear_before_reset", 0) != 0;
  bool ok = fill_gate(l, direction, UPDATE, step, &s->h, NULL, 0, 0, &g[UPDATE]) &&
            fill_gate(l, direction, RESET, step, &s->h, NULL, 0, 0, &g[RESET]);
  EACH(l, b, u) {
    const int64_t k = b * l->units + u;
    put(&g[GATED], k, product(at(&g[RESET], k), at(&s->h, k)));
  }
  EACH(l, b, u) {
    const int64_t k = b * l->units + u, t = time_of(l, direction, step, b);
    if (step < length_of(l, b) && linear_first) {
      const number linear = sum(state_sum(l, direction, HIDDEN, &s->h, b, u), bias_of(l, direction, 1, HIDDEN, u));
      put(&g[HIDDEN], k,
          clipped(l, terms(input_sum(l, direction, HIDDEN, t, b, u), bias_of(l, direction, 0, HIDDEN, u),
                           product(at(&g[RESET], k), linear), exactly(0))));
    } else if (step < length_of(l, b)) {
      put(&g[HIDDEN], k, gate_of(l, direction, HIDDEN, t, b, u, &g[GATED], exactly(0)));
    }
  }
  ok = ok && activate(l, direction, 1, &g[HIDDEN]);
  EACH(l, b, u) {
    const int64_t k = b * l->units + u;
    if (step < length_of(l, b)) {
      const number z = at(&g[UPDATE], k), rest = sum(exactly(1), (number){-z.value, z.bound});
      put(&s->h, k, sum(product(rest, at(&g[HIDDEN], k)), product(z, at(&s->h, k))));
    }
  }
  return ok;
}

static bool step_rnn(const layer *l, int64_t direction, int64_t step, states *s, leati_ref_tensor g[GATES_MOST]) {
  const bool ok = fill_gate(l, direction, 0, step, &s->h, NULL, 0, 0, &g[0]);
  EACH(l, b, u) {
    const int64_t k = b * l->units + u;
    if (step < length_of(l, b)) {
      put(&s->h, k, at(&g[0], k));
    }
  }
  return ok;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

/* Where a state of a direction stands in what is given and in the last outputs. */
static int64_t state_at(const layer *l, int64_t direction, int64_t b, int64_t unit) {
  return ((l->batch_first ? b * l->directions + direction : direction * l->batch + b)) * l->units + unit;
}

static void set_y(const layer *l, int64_t direction, int64_t t, int64_t b, int64_t unit, number x) {
  const int64_t row =
      l->batch_first ? (b * l->steps + t) * l->directions + direction : (t * l->directions + direction) * l->batch + b;
  put(&l->node->outputs[0], row * l->units + unit, x);
}

static bool run_direction(const layer *l, int64_t direction) {
  leati_ref_node *const node = l->node;
  states s = {.h = plane(l), .c = plane(l), .multiplied = plane(l)};
  leati_ref_tensor g[GATES_MOST];
  bool ok = true;
  for (int i = 0; i < GATES_MOST; ++i) {
    g[i] = plane(l);
  }
  EACH(l, b, u) {
    const int64_t from = state_at(l, direction, b, u);
    s.h.f[b * l->units + u] = l->initial_h != NULL ? l->initial_h->f[from] : 0;
    s.c.f[b * l->units + u] = l->initial_c != NULL ? l->initial_c->f[from] : 0;
  }
  for (int64_t step = 0; step < l->steps && ok; ++step) {
    ok = l->gates == 4   ? step_lstm(l, direction, step, &s, g)
         : l->gates == 3 ? step_gru(l, direction, step, &s, g)
                         : step_rnn(l, direction, step, &s, g);
    EACH(l, b, u) {
      /* Behind the end of a sequence there is nothing. */
      const bool lives = step < length_of(l, b);
      set_y(l, direction, lives ? time_of(l, direction, step, b) : step, b, u,
            lives ? at(&s.h, b * l->units + u) : exactly(0));
    }
  }
  EACH(l, b, u) {
    const bool lives = length_of(l, b) > 0;
    const leati_ref_tensor *const last[] = {&s.h, &s.c};
    for (uint32_t o = 1; o < node->output_count; ++o) {
      put(&node->outputs[o], state_at(l, direction, b, u), lives ? at(last[o - 1], b * l->units + u) : exactly(0));
    }
  }
  for (int i = 0; i < GATES_MOST; ++i) {
    leati_ref_tensor_clear(&g[i]);
  }
  leati_ref_tensor_clear(&s.h);
  leati_ref_tensor_clear(&s.c);
  leati_ref_tensor_clear(&s.multiplied);
  return ok;
}

static bool has_shape(const leati_ref_tensor *tensor, int32_t rank, const int64_t *dims) {
  bool has = tensor == NULL || tensor->rank == rank;
  for (int32_t d = 0; has && tensor != NULL && d < rank; ++d) {
    has = tensor->dims[d] == dims[d];
  }
  return has;
}

/* Whether bytes have one scale and one zero point for each direction, or for each column of it. */
static bool are_scales(const layer *l, const leati_ref_tensor *scale, const leati_ref_tensor *zero) {
  const int64_t dims[] = {l->directions, l->gates * l->units};
  return scale == NULL ||
         (has_shape(scale, scale->rank == 1 ? 1 : 2, dims) && zero != NULL && has_shape(zero, scale->rank, dims));
}

static bool run_layer(leati_ref_node *node, int64_t gates, int64_t activations) {
  layer l = {.node = node,
             .gates = gates,
             .activations = activations,
             .directions = leati_ref_string_is(node, "direction", "forward", "bidirectional") ? 2 : 1,
             .batch_first = leati_ref_int(node, "layout", 0) != 0,
             .x = leati_ref_input(node, 0),
             .w = leati_ref_input(node, 1),
             .r = leati_ref_input(node, 2),
             .bias = leati_ref_input(node, 3),
             .lengths = leati_ref_input(node, 4),
             .initial_h = leati_ref_input(node, 5),
             .initial_c = leati_ref_input(node, 6),
             .peepholes = leati_ref_input(node, 7),
             .w_scale = leati_ref_input(node, 8),
             .w_zero = leati_ref_input(node, 9),
             .r_scale = leati_ref_input(node, 10),
             .r_zero = leati_ref_input(node, 11)};
  const bool bytes = !leati_ref_type_is_float(l.r->type);
  if (l.x->rank != 3 || l.r->rank != 3 || bytes != (l.w_scale != NULL)) {
    return leati_ref_fail(node, "%s: X and R have three dimensions, and bytes have scales", node->name);
  }
  l.steps = l.x->dims[l.batch_first ? 1 : 0];
  l.batch = l.x->dims[l.batch_first ? 0 : 1];
  l.input = l.x->dims[2];
  l.units = l.r->dims[bytes ? 1 : 2];
  if (bytes) {
    l.x_by = leati_ref_dynamic_of(l.x);
  }
  const int64_t rows = gates * l.units, outer = l.batch_first ? l.batch : l.directions;
  const int64_t inner = l.batch_first ? l.directions : l.batch;
  const leat_attribute *const names = leati_ref_attribute(node, "activations");
  if (l.units == 0 || leati_ref_int(node, "hidden_size", l.units) != l.units ||
      !has_shape(l.w, 3, (const int64_t[]){l.directions, bytes ? l.input : rows, bytes ? rows : l.input}) ||
      !has_shape(l.r, 3, (const int64_t[]){l.directions, bytes ? l.units : rows, bytes ? rows : l.units}) ||
      !are_scales(&l, l.w_scale, l.w_zero) || !are_scales(&l, l.r_scale, l.r_zero) ||
      !has_shape(l.bias, 2, (const int64_t[]){l.directions, 2 * rows}) ||
      !has_shape(l.lengths, 1, (const int64_t[]){l.batch}) ||
      !has_shape(l.initial_h, 3, (const int64_t[]){outer, inner, l.units}) ||
      !has_shape(l.initial_c, 3, (const int64_t[]){outer, inner, l.units}) ||
      !has_shape(l.peepholes, 2, (const int64_t[]){l.directions, 3 * l.units}) ||
      (names != NULL && names->count < (uint64_t)(activations * l.directions))) {
    return leati_ref_fail(node, "%s: shapes or activations do not fit", node->name);
  }
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const int64_t y[2][4] = {{l.steps, l.directions, l.batch, l.units}, {l.batch, l.steps, l.directions, l.units}};
    const int64_t last[] = {outer, inner, l.units};
    leati_ref_tensor_init(&node->outputs[o], l.x->type, o == 0 ? 4 : 3, o == 0 ? y[l.batch_first] : last);
  }
  bool ok = true;
  for (int64_t direction = 0; direction < l.directions && ok; ++direction) {
    ok = run_direction(&l, direction);
  }
  return ok;
}

static bool run_lstm(leati_ref_node *node) {
  return run_layer(node, 4, 3);
}

static bool run_gru(leati_ref_node *node) {
  return run_layer(node, 3, 2);
}

static bool run_rnn(leati_ref_node *node) {
  return run_layer(node, 1, 1);
}

const leati_ref_entry leati_ref_recurrent[] = {
    {"LSTM", run_lstm}, {"DynamicQuantizeLSTM", run_lstm}, {"GRU", run_gru}, {"RNN", run_rnn}, {NULL, NULL},
};
