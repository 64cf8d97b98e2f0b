/* SPDX-License-Identifier: BSD-3-Clause */
/* Layers that go on from a state of one size, position by position, with what each number may be off by. */
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* x sigmoid(x) of a number that is off by `off`. The slope of the function is below 1.1, and its parts are an
 * exponential, a sum, a division and a product. */
static double silu(double x, double off, double *out_bound) {
  const double value = x / (1 + exp(-x));
  *out_bound = isfinite(value) ? 1.1 * off + fabs(value) * (leati_ref_bound_exp(x) + 5 * LEATI_REF_ULP) + FLT_MIN : 0;
  return value;
}

/* 1 / (1 + exp(-x)). What the exponential is off by counts as far as it is a part of the sum. */
static double sigmoid(double x, double *out_relative) {
  const double raised = exp(-x);
  const double part = isinf(raised) ? 1 : raised / (1 + raised);
  *out_relative = (isinf(x) ? 0 : part * leati_ref_bound_exp(x)) + 4 * LEATI_REF_ULP;
  return 1 / (1 + raised);
}

static bool has_shape(const leati_ref_tensor *tensor, int32_t rank, const int64_t *dims) {
  return tensor == NULL || (tensor->rank == rank && memcmp(tensor->dims, dims, (size_t)rank * sizeof(dims[0])) == 0);
}

/* ---- CausalConvWithState ------------------------------------------------------------------------------------------
 */

typedef struct convolution {
  const leati_ref_tensor *x, *past;
  int64_t channels, positions, held;
  bool last; /* dimensions are batch, position, channel */
} convolution;

static int64_t place_of(const convolution *c, int64_t batch, int64_t channel, int64_t position, int64_t positions) {
  return c->last ? (batch * positions + position) * c->channels + channel
                 : (batch * c->channels + channel) * positions + position;
}

/* The number at a position of the input, or if that is negative of the state. */
static double number_at(const convolution *c, int64_t batch, int64_t channel, int64_t position) {
  if (position >= 0) {
    return c->x->f[place_of(c, batch, channel, position, c->positions)];
  }
  return c->past != NULL ? c->past->f[place_of(c, batch, channel, position + c->held, c->held)] : 0;
}

static bool run_causal_conv(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0], *const weights = node->inputs[1];
  const leati_ref_tensor *const bias = leati_ref_input(node, 2);
  const bool with_silu = leati_ref_string_is(node, "activation", "none", "silu") ||
                         leati_ref_string_is(node, "activation", "none", "swish");
  convolution c = {.x = x, .past = leati_ref_input(node, 3), .last = leati_ref_int(node, "channels_last", 0) == 1};
  const int64_t dilation = leati_ref_int(node, "dilation", 1);
  if (x->rank < 3 || (x->rank > 3 && !c.last) || weights->rank != 3 || dilation < 1 || weights->dims[2] < 1) {
    return leati_ref_fail(node, "%s: no such convolution", node->name);
  }
  const int32_t axis = c.last ? 1 : 2;
  c.positions = x->dims[axis];
  c.channels = 1;
  for (int32_t d = 1; d < x->rank; ++d) {
    c.channels *= d != axis ? x->dims[d] : 1;
  }
  const int64_t taps = weights->dims[2];
  c.held = (taps - 1) * dilation;
  int64_t state[LEAT_MAX_RANK];
  memcpy(state, x->dims, sizeof(state));
  state[axis] = c.held;
  if (weights->dims[0] != c.channels || weights->dims[1] != 1 || !has_shape(bias, 1, &c.channels) ||
      !has_shape(c.past, x->rank, state)) {
    return leati_ref_fail(node, "%s: shapes do not fit", node->name);
  }
  leati_ref_tensor *const y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  if (node->output_count > 1) {
    leati_ref_tensor_init(&node->outputs[1], x->type, x->rank, state);
  }
  for (int64_t batch = 0; batch < x->dims[0]; ++batch) {
    for (int64_t channel = 0; channel < c.channels; ++channel) {
      for (int64_t t = 0; t < c.positions; ++t) {
        const int64_t at = place_of(&c, batch, channel, t, c.positions);
        double sum = bias != NULL ? bias->f[channel] : 0;
        double magnitude = fabs(sum);
        for (int64_t k = 0; k < taps; ++k) {
          const double term =
              weights->f[channel * taps + k] * number_at(&c, batch, channel, t - (taps - 1 - k) * dilation);
          sum += term;
          magnitude += fabs(term);
        }
        y->f[at] = sum;
        y->bound[at] = isfinite(sum) ? leati_ref_bound_sum(taps + 1, magnitude) : 0;
        if (with_silu) {
          y->f[at] = silu(sum, y->bound[at], &y->bound[at]);
        }
      }
      for (int64_t p = 0; node->output_count > 1 && p < c.held; ++p) {
        node->outputs[1].f[place_of(&c, batch, channel, p, c.held)] =
            number_at(&c, batch, channel, c.positions + p - c.held);
      }
    }
  }
  return true;
}

/* ---- LinearAttention ----------------------------------------------------------------------------------------------
 */

/* A number and how far it may be off. */
typedef struct number {
  double value, off;
} number;

static number product(number a, number b) {
  const double value = a.value * b.value;
  const double off = fabs(a.value) * b.off + fabs(b.value) * a.off + a.off * b.off;
  return (number){value, isfinite(value) ? off + leati_ref_bound_ulps(value, 1) : 0};
}

static number sum(number a, number b) {
  const double value = a.value + b.value;
  return (number){value, isfinite(value) ? a.off + b.off + leati_ref_bound_ulps(fabs(value) + a.off + b.off, 1) : 0};
}

/* The sum of the products of a column with a row of exact numbers. */
static number products(const number *column, int64_t step, const double *row, int64_t count) {
  double total = 0, magnitude = 0, off = 0;
  for (int64_t i = 0; i < count; ++i) {
    total += column[i * step].value * row[i];
    magnitude += fabs(row[i]) * (fabs(column[i * step].value) + column[i * step].off);
    off += fabs(row[i]) * column[i * step].off;
  }
  return (number){total, isfinite(total) ? off + leati_ref_bound_sum(count, magnitude) : 0};
}

typedef struct linear {
  const leati_ref_tensor *query, *key, *value, *past, *decay, *beta;
  int64_t batch, tokens, heads, query_heads, key_heads, key_size, value_size;
  double scale;
} linear;

/* One token of a head: changes its state, [key_size][value_size]. */
static void change(const linear *l, int64_t token, int64_t head, number *state) {
  const double *const key = l->key->f + (token * l->key_heads + head * l->key_heads / l->heads) * l->key_size;
  const bool by_head = l->decay != NULL && l->decay->dims[2] == l->heads;
  for (int64_t i = 0; i < l->key_size && l->decay != NULL; ++i) {
    const int64_t at = token * l->heads + head;
    const double g = l->decay->f[by_head ? at : at * l->key_size + i];
    const number faded = {exp(g), isinf(exp(g)) ? 0 : exp(g) * leati_ref_bound_exp(g) + FLT_MIN};
    for (int64_t j = 0; j < l->value_size; ++j) {
      state[i * l->value_size + j] = product(state[i * l->value_size + j], faded);
    }
  }
  for (int64_t j = 0; j < l->value_size; ++j) {
    number put = {l->value->f[(token * l->heads + head) * l->value_size + j], 0};
    if (l->beta != NULL) {
      number given = products(state + j, l->value_size, key, l->key_size);
      given.value = -given.value;
      const int64_t betas = l->beta->dims[2];
      put = product((number){l->beta->f[token * betas + (betas == 1 ? 0 : head)], 0}, sum(put, given));
    }
    for (int64_t i = 0; i < l->key_size; ++i) {
      number *const at = &state[i * l->value_size + j];
      *at = sum(*at, product((number){key[i], 0}, put));
    }
  }
}

static void read(const linear *l, int64_t token, int64_t head, const number *state, leati_ref_tensor *y) {
  const int64_t reads = l->query_heads > l->heads ? l->query_heads / l->heads : 1;
  for (int64_t g = 0; g < reads; ++g) {
    const int64_t from = l->query_heads < l->heads ? head * l->query_heads / l->heads : head * reads + g;
    for (int64_t j = 0; j < l->value_size; ++j) {
      const number out = product(
          (number){l->scale, fabs(l->scale) * 4 * LEATI_REF_ULP},
          products(state + j, l->value_size, l->query->f + (token * l->query_heads + from) * l->key_size, l->key_size));
      const int64_t at = (token * l->heads * reads + head * reads + g) * l->value_size + j;
      y->f[at] = out.value;
      y->bound[at] = out.off;
    }
  }
}

static bool read_linear(leati_ref_node *node, linear *l) {
  const bool fades = leati_ref_string_is(node, "update_rule", "gated_delta", "gated_delta") ||
                     leati_ref_string_is(node, "update_rule", "gated_delta", "gated");
  const bool delta = leati_ref_string_is(node, "update_rule", "gated_delta", "gated_delta") ||
                     leati_ref_string_is(node, "update_rule", "gated_delta", "delta");
  *l = (linear){.query = node->inputs[0],
                .key = node->inputs[1],
                .value = node->inputs[2],
                .past = leati_ref_input(node, 3),
                .decay = fades ? leati_ref_input(node, 4) : NULL,
                .beta = delta ? leati_ref_input(node, 5) : NULL,
                .heads = leati_ref_int(node, "kv_num_heads", 0),
                .query_heads = leati_ref_int(node, "q_num_heads", 0),
                .scale = (double)leati_ref_float(node, "scale", 0)};
  const leati_ref_tensor *const all[] = {l->query, l->key, l->value, l->decay, l->beta};
  bool fits = l->heads >= 1 && l->query_heads >= 1 && fades == (l->decay != NULL) && delta == (l->beta != NULL);
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && fits; ++i) {
    fits = all[i] == NULL ||
           (all[i]->rank == 3 && all[i]->dims[0] == l->query->dims[0] && all[i]->dims[1] == l->query->dims[1]);
  }
  const bool onnx = node->since_version > 1;
  if (!fits || (l->query_heads % l->heads != 0 && (onnx || l->heads % l->query_heads != 0)) ||
      l->query->dims[2] % l->query_heads != 0 || l->query->dims[2] == 0 || l->value->dims[2] % l->heads != 0) {
    return leati_ref_fail(node, "%s: no such heads", node->name);
  }
  l->batch = l->query->dims[0];
  l->tokens = l->query->dims[1];
  l->key_size = l->query->dims[2] / l->query_heads;
  l->value_size = l->value->dims[2] / l->heads;
  l->key_heads = l->key->dims[2] / l->key_size;
  const int64_t state[] = {l->batch, l->heads, l->key_size, l->value_size};
  if (l->key->dims[2] != l->key_heads * l->key_size || l->key_heads == 0 || l->heads % l->key_heads != 0 ||
      (onnx && l->key_heads != l->heads) || !has_shape(l->past, 4, state) ||
      (fades && l->decay->dims[2] != l->heads && l->decay->dims[2] != l->heads * l->key_size) ||
      (delta && l->beta->dims[2] != l->heads && l->beta->dims[2] != 1)) {
    return leati_ref_fail(node, "%s: shapes do not fit", node->name);
  }
  l->scale = l->scale != 0 ? l->scale : 1 / sqrt((double)l->key_size);
  return true;
}

static bool run_linear_attention(leati_ref_node *node) {
  linear l;
  if (!read_linear(node, &l)) {
    return false;
  }
  const int64_t y_heads = l.query_heads > l.heads ? l.query_heads : l.heads;
  const int64_t y[] = {l.batch, l.tokens, y_heads * l.value_size};
  const int64_t present[] = {l.batch, l.heads, l.key_size, l.value_size};
  leati_ref_tensor_init(&node->outputs[0], l.query->type, 3, y);
  if (node->output_count > 1) {
    leati_ref_tensor_init(&node->outputs[1], l.past != NULL ? l.past->type : l.query->type, 4, present);
  }
  const int64_t size = l.key_size * l.value_size;
  number *const state = leati_ref_alloc(size, sizeof(*state));
  for (int64_t head = 0; head < l.batch * l.heads; ++head) {
    for (int64_t k = 0; k < size; ++k) {
      state[k] = (number){l.past != NULL ? l.past->f[head * size + k] : 0, 0};
    }
    for (int64_t t = 0; t < l.tokens; ++t) {
      const int64_t token = head / l.heads * l.tokens + t;
      change(&l, token, head % l.heads, state);
      read(&l, token, head % l.heads, state, &node->outputs[0]);
    }
    for (int64_t k = 0; k < size && node->output_count > 1; ++k) {
      node->outputs[1].f[head * size + k] = state[k].value;
      node->outputs[1].bound[head * size + k] = state[k].off;
    }
  }
  free(state);
  return true;
}

/* ---- LinearAttentionGate ------------------------------------------------------------------------------------------
 */

/* scale softplus(a + bias), as scale (max(x, 0) + log(1 + exp(-|x|))), and sigmoid(b), by head. */
static bool run_gate(leati_ref_node *node) {
  const leati_ref_tensor *const a = node->inputs[0], *const b = leati_ref_input(node, 3);
  const int64_t heads = a->rank > 0 ? a->dims[a->rank - 1] : 0;
  if (a->rank == 0 || !has_shape(node->inputs[1], 1, &heads) || !has_shape(node->inputs[2], 1, &heads) ||
      !has_shape(b, a->rank, a->dims) || (b == NULL && node->output_count > 1)) {
    return leati_ref_fail(node, "%s: shapes do not fit", node->name);
  }
  for (uint32_t o = 0; o < node->output_count; ++o) {
    leati_ref_tensor_init(&node->outputs[o], a->type, a->rank, a->dims);
  }
  for (int64_t k = 0; k < a->count; ++k) {
    const double scale = node->inputs[2]->f[k % heads];
    const double x = a->f[k] + node->inputs[1]->f[k % heads];
    const double raised = exp(-fabs(x)), tail = log1p(raised), plus = fmax(x, 0) + tail;
    /* The sum has slope 1 at most. */
    const double off = leati_ref_bound_ulps(x, 1) + (isinf(x) ? 0 : raised * leati_ref_bound_exp(x)) +
                       leati_ref_bound_log(1 + raised, tail) + leati_ref_bound_ulps(plus, 1);
    const double value = isnan(x) ? x * scale : scale * plus;
    node->outputs[0].f[k] = value;
    node->outputs[0].bound[k] = isfinite(value) ? fabs(scale) * off + leati_ref_bound_ulps(value, 1) : 0;
    if (node->output_count > 1) {
      double relative;
      const double opened = sigmoid(b->f[k], &relative);
      node->outputs[1].f[k] = opened;
      node->outputs[1].bound[k] = opened * relative + FLT_MIN;
    }
  }
  return true;
}

const leati_ref_entry leati_ref_state[] = {
    {"CausalConvWithState", run_causal_conv},
    {"LinearAttention", run_linear_attention},
    {"LinearAttentionGate", run_gate},
    {NULL, NULL},
};
