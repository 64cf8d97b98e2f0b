/* SPDX-License-Identifier: BSD-3-Clause */
/* Mixtures of experts: each token is computed by itself, with what each number may be off by. */
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* A number and how far it may be off. */
typedef struct number {
  double value, off;
} number;

/* One of the two products of an expert. */
typedef struct product {
  const leati_ref_tensor *weights, *scales, *zeros, *bias;
  int64_t n, k;
} product;

typedef struct mixture {
  leati_ref_node *node;
  int64_t tokens, experts, taken, hidden, inner, bits, block;
  product products[2];
} mixture;

static int64_t code_at(const leati_ref_tensor *packed, int64_t first_byte, int64_t at, int64_t bits) {
  return bits == 8 ? packed->i[first_byte + at] : packed->i[first_byte + at / 2] >> (at % 2 * 4) & 15;
}

/* A weight; one that is made of codes is rounded once, by a product. */
static number weight_at(const mixture *m, const product *p, int64_t expert, int64_t row, int64_t k) {
  const int64_t at = expert * p->n + row;
  if (m->bits == 0) {
    return (number){p->weights->f[at * p->k + k], 0};
  }
  const int64_t blocks = m->block > 0 ? p->k / m->block : 1, block = m->block > 0 ? k / m->block : 0;
  int64_t zero = INT64_C(1) << (m->bits - 1);
  if (p->zeros != NULL) {
    const int64_t bytes = p->zeros->dims[p->zeros->rank - 1];
    zero =
        m->block > 0 ? code_at(p->zeros, at * bytes, block, m->bits) : code_at(p->zeros, expert * bytes, row, m->bits);
  }
  const int64_t code = code_at(p->weights, at * (p->k * m->bits / 8), k, m->bits);
  const double value = (double)(code - zero) * p->scales->f[at * blocks + block];
  return (number){value, leati_ref_bound_ulps(value, 1)};
}

/* A row of a product, with the bias. */
static number product_of(const mixture *m, const product *p, int64_t expert, int64_t row, const number *x) {
  double sum = 0, magnitude = 0, off = 0;
  for (int64_t k = 0; k < p->k; ++k) {
    const number w = weight_at(m, p, expert, row, k);
    sum += w.value * x[k].value;
    magnitude += (fabs(w.value) + w.off) * (fabs(x[k].value) + x[k].off);
    off += fabs(w.value) * x[k].off + w.off * (fabs(x[k].value) + x[k].off);
  }
  const double bias = p->bias != NULL ? p->bias->f[expert * p->n + row] : 0;
  return (number){sum + bias, off + leati_ref_bound_sum(p->k + 1, magnitude + fabs(bias))};
}

/* x sigmoid(alpha x), whose slope is below 1.1. */
static number swish(number x, double alpha) {
  const double raised = exp(-alpha * x.value), value = x.value / (1 + raised);
  const double part = isinf(raised) ? 1 : raised / (1 + raised);
  const double relative =
      part * (leati_ref_bound_exp(alpha * x.value) + fabs(alpha * x.value) * LEATI_REF_ULP) + 5 * LEATI_REF_ULP;
  return (number){value, 1.1 * x.off + fabs(value) * relative + FLT_MIN};
}

static number bounded(number x, double low, double high) {
  return (number){x.value < low ? low : x.value > high ? high : x.value, x.off};
}

static number activated(const leati_ref_node *node, number x, number line) {
  if (leati_ref_string_is(node, "activation_type", "relu", "silu")) {
    return swish(x, 1);
  }
  if (leati_ref_string_is(node, "activation_type", "relu", "identity")) {
    return x;
  }
  if (leati_ref_string_is(node, "activation_type", "relu", "gelu")) {
    /* By tanh(z) = 1 - 2 / (exp(2 z) + 1); its slope is below 1.13. */
    const double z = 0.7978845608028654 * (x.value + 0.044715 * x.value * x.value * x.value);
    const double value = 0.5 * x.value * (1 + tanh(z));
    const double off = fabs(x.value) * (8 * LEATI_REF_ULP + 3 * fabs(z) * LEATI_REF_ULP / pow(cosh(z), 2));
    return (number){value, 1.13 * x.off + off + leati_ref_bound_ulps(value, 2)};
  }
  if (leati_ref_string_is(node, "activation_type", "relu", "swiglu")) {
    const double limit = (double)leati_ref_float(node, "swiglu_limit", INFINITY);
    const number gate = swish(bounded(x, -INFINITY, limit), (double)leati_ref_float(node, "activation_alpha", 1));
    number other = bounded(line, -limit, limit);
    other.value += (double)leati_ref_float(node, "activation_beta", 0);
    other.off += leati_ref_bound_ulps(other.value, 1);
    const double value = gate.value * other.value;
    return (number){value, fabs(gate.value) * other.off + fabs(other.value) * gate.off + gate.off * other.off +
                               leati_ref_bound_ulps(value, 1)};
  }
  return (number){x.value > 0 ? x.value : 0, x.off};
}

/* Runs an expert for a token; `inner` has room for what is between its products. */
static void run_expert(const mixture *m, int64_t expert, const number *x, number *inner, number *out) {
  const leati_ref_node *const node = m->node;
  const bool swiglu = leati_ref_string_is(node, "activation_type", "relu", "swiglu");
  const bool in_turn = leati_ref_int(node, "swiglu_fusion", 0) == 1;
  for (int64_t i = 0; i < m->inner; ++i) {
    const number gate = product_of(m, &m->products[0], expert, swiglu && in_turn ? 2 * i : i, x);
    const number line =
        swiglu ? product_of(m, &m->products[0], expert, in_turn ? 2 * i + 1 : m->inner + i, x) : (number){0, 0};
    inner[i] = activated(node, gate, line);
  }
  for (int64_t j = 0; j < m->hidden; ++j) {
    out[j] = product_of(m, &m->products[1], expert, j, inner);
  }
}

/* The experts that a token takes, of the largest scores, and of equal ones the later; and their weights. */
static void route(const mixture *m, const double *scores, const double *given, int64_t *experts, number *weights) {
  double most = -INFINITY, sum = 0;
  for (int64_t e = 0; e < m->experts; ++e) {
    most = fmax(most, scores[e]);
  }
  for (int64_t e = 0; e < m->experts; ++e) {
    sum += exp(scores[e] - most);
  }
  number total = {0, 0};
  for (int64_t n = 0; n < m->taken; ++n) {
    int64_t best = -1;
    for (int64_t e = 0; e < m->experts; ++e) {
      bool before = false;
      for (int64_t j = 0; j < n; ++j) {
        before = before || experts[j] == e;
      }
      best = !before && (best < 0 || scores[e] >= scores[best]) ? e : best;
    }
    experts[n] = best;
    const double d = scores[best] - most, value = given != NULL ? given[best] : exp(d) / sum;
    const double relative = 2 * leati_ref_bound_exp(fmin(d, -16)) + (double)(m->experts + 4) * LEATI_REF_ULP;
    weights[n] = (number){value, given != NULL ? 0 : value * relative + FLT_MIN};
    total.value += value;
    total.off += weights[n].off + fabs(value) * (double)m->taken * LEATI_REF_ULP;
  }
  for (int64_t n = 0; n < m->taken && leati_ref_int(m->node, "normalize_routing_weights", 0) != 0; ++n) {
    const double value = weights[n].value / total.value;
    weights[n] = (number){
        value, (weights[n].off + fabs(value) * total.off) / fabs(total.value) + leati_ref_bound_ulps(value, 3)};
  }
}

static bool has_shape(const leati_ref_tensor *tensor, int32_t rank, int64_t a, int64_t b, int64_t c) {
  const int64_t dims[] = {a, b, c};
  return tensor == NULL || (tensor->rank == rank && memcmp(tensor->dims, dims, (size_t)rank * sizeof(dims[0])) == 0);
}

static bool check_product(const mixture *m, const product *p) {
  const int64_t scales = m->block > 0 ? p->k / m->block : 1;
  if (m->bits == 0) {
    return has_shape(p->weights, 3, m->experts, p->n, p->k) && has_shape(p->bias, 2, m->experts, p->n, 0);
  }
  return p->k * m->bits % 8 == 0 && (m->block == 0 || p->k % m->block == 0) && p->scales != NULL &&
         has_shape(p->weights, 3, m->experts, p->n, p->k * m->bits / 8) && has_shape(p->bias, 2, m->experts, p->n, 0) &&
         has_shape(p->scales, m->block > 0 ? 3 : 2, m->experts, p->n, scales) &&
         (m->block > 0 ? has_shape(p->zeros, 3, m->experts, p->n, (scales * m->bits + 7) / 8)
                       : has_shape(p->zeros, 2, m->experts, (p->n * m->bits + 7) / 8, 0));
}

static bool run_mixture(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0], *const scores = node->inputs[1];
  const bool quantized = strcmp(node->name, "QMoE") == 0;
  const leati_ref_tensor *const given = quantized ? leati_ref_input(node, 14) : NULL;
  mixture m = {.node = node,
               .taken = leati_ref_int(node, "k", 1),
               .bits = quantized ? leati_ref_int(node, "expert_weight_bits", 4) : 0,
               .block = quantized ? leati_ref_int(node, "block_size", 0) : 0};
  m.products[0] = quantized ? (product){.weights = leati_ref_input(node, 2),
                                        .scales = leati_ref_input(node, 3),
                                        .bias = leati_ref_input(node, 4),
                                        .zeros = leati_ref_input(node, 11)}
                            : (product){.weights = leati_ref_input(node, 2), .bias = leati_ref_input(node, 3)};
  m.products[1] = quantized ? (product){.weights = leati_ref_input(node, 5),
                                        .scales = leati_ref_input(node, 6),
                                        .bias = leati_ref_input(node, 7),
                                        .zeros = leati_ref_input(node, 12)}
                            : (product){.weights = leati_ref_input(node, 4), .bias = leati_ref_input(node, 5)};
  if (x->rank < 2 || scores->rank != 2 || m.products[0].weights->rank != 3) {
    return leati_ref_fail(node, "%s: no such mixture", node->name);
  }
  m.hidden = x->dims[x->rank - 1];
  m.tokens = scores->dims[0];
  m.experts = scores->dims[1];
  const int64_t parts = leati_ref_string_is(node, "activation_type", "relu", "swiglu") ? 2 : 1;
  m.products[0].n = m.products[0].weights->dims[1];
  m.inner = m.products[0].n / parts;
  m.products[0].k = m.products[1].n = m.hidden;
  m.products[1].k = m.inner;
  int64_t tokens = 1;
  for (int32_t d = 0; d < x->rank - 1; ++d) {
    tokens *= x->dims[d];
  }
  if (tokens != m.tokens || m.taken < 1 || m.taken > m.experts || m.inner * parts != m.products[0].n ||
      !has_shape(given, 2, m.tokens, m.experts, 0) || !check_product(&m, &m.products[0]) ||
      !check_product(&m, &m.products[1])) {
    return leati_ref_fail(node, "%s: shapes do not fit", node->name);
  }
  leati_ref_tensor *const y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  number *const row = leati_ref_alloc(m.hidden + m.inner + m.hidden + m.taken, sizeof(*row));
  number *const inner = row + m.hidden, *const out = inner + m.inner, *const weights = out + m.hidden;
  int64_t *const experts = leati_ref_alloc(m.taken, sizeof(*experts));
  for (int64_t t = 0; t < m.tokens; ++t) {
    for (int64_t j = 0; j < m.hidden; ++j) {
      row[j] = (number){x->f[t * m.hidden + j], 0};
    }
    route(&m, scores->f + t * m.experts, given != NULL ? given->f + t * m.experts : NULL, experts, weights);
    for (int64_t n = 0; n < m.taken; ++n) {
      run_expert(&m, experts[n], row, inner, out);
      for (int64_t j = 0; j < m.hidden; ++j) {
        const double value = weights[n].value * out[j].value;
        y->f[t * m.hidden + j] += value;
        y->bound[t * m.hidden + j] += fabs(weights[n].value) * out[j].off + fabs(out[j].value) * weights[n].off +
                                      weights[n].off * out[j].off +
                                      (double)(m.taken + 1) * leati_ref_bound_ulps(value, 1);
      }
    }
  }
  free(experts);
  free(row);
  return true;
}

const leati_ref_entry leati_ref_experts[] = {
    {"MoE", run_mixture},
    {"QMoE", run_mixture},
    {NULL, NULL},
};
