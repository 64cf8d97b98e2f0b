/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators on lists of tensors, by their definitions in backend.h, with an error that is carried along with each
 * number: what its operands bring, and what each operation of float32 loses (Higham, "Accuracy and Stability of
 * Numerical Algorithms", 3.3). */
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* A number, and how far float32 may be off. */
typedef struct number {
  double value, off;
} number;

static number exactly(double value) {
  return (number){value, 0};
}

/* What an operation of so many ULP adds. */
static number rounded(double value, double off, double ulps) {
  return (number){value, off + ulps * LEATI_REF_ULP * (fabs(value) + off) + FLT_MIN};
}

static number sum_of(number a, number b) {
  return rounded(a.value + b.value, a.off + b.off, 1);
}

static number difference(number a, number b) {
  return rounded(a.value - b.value, a.off + b.off, 1);
}

static number product(number a, number b) {
  return rounded(a.value * b.value, fabs(a.value) * b.off + fabs(b.value) * a.off + a.off * b.off, 1);
}

static number quotient(number a, number b) {
  const double value = a.value / b.value, least = fabs(b.value) - b.off;
  return rounded(value, least > 0 ? (a.off + fabs(value) * b.off) / least : INFINITY, 2.5);
}

/* Its argument may be anything within its error; 5 ULP as of Sqrt. */
static number root(number a) {
  const double value = sqrt(a.value), least = a.value - a.off;
  return rounded(value, fmax(sqrt(a.value + a.off) - value, value - (least > 0 ? sqrt(least) : 0)), 5);
}

/* 1 - x as float32, of an attribute. */
static number rest(float x) {
  return exactly((double)(float)(1.0 - (double)x));
}

static number attribute(const leati_ref_node *node, const char *name, float otherwise) {
  return exactly((double)leati_ref_float(node, name, otherwise));
}

/* ---- Elements -----------------------------------------------------------------------------------------------------
 */

#define LISTS 4

/* Results from the elements of all lists at one place; `scalars` are the tensors before the lists. */
typedef void (*element_fn)(const leati_ref_node *node, const double *scalars, const number x[LISTS], number *out);

static void add(const leati_ref_node *node, const double *scalars, const number *x, number *out) {
  (void)scalars;
  out[0] = sum_of(x[1], product(attribute(node, "alpha", 1), x[0]));
}

static void mul(const leati_ref_node *node, const double *scalars, const number *x, number *out) {
  (void)node;
  (void)scalars;
  out[0] = product(x[0], x[1]);
}

/* From the nearer end. */
static void lerp(const leati_ref_node *node, const double *scalars, const number *x, number *out) {
  (void)scalars;
  const float weight = leati_ref_float(node, "weight", 0.5f);
  const number apart = difference(x[0], x[1]);
  out[0] = weight < 0.5f ? sum_of(x[1], product(exactly((double)weight), apart))
                         : difference(x[0], product(rest(weight), apart));
}

static void addcmul(const leati_ref_node *node, const double *scalars, const number *x, number *out) {
  (void)scalars;
  out[0] = sum_of(x[2], product(attribute(node, "value", 1), product(x[0], x[1])));
}

static void sgd(const leati_ref_node *node, const double *scalars, const number *x, number *out) {
  const number momentum = attribute(node, "momentum", 0.9f), decay = attribute(node, "weight_decay", 0);
  const number g = decay.value != 0 ? sum_of(x[0], product(decay, x[1])) : x[0];
  const number kept = product(rest(leati_ref_float(node, "dampening", 0)), g);
  const number m = sum_of(product(momentum, x[2]), kept);
  const number by = leati_ref_int(node, "nesterov", 0) != 0 ? sum_of(g, product(momentum, m)) : m;
  out[0] = difference(x[1], product(exactly(scalars[0]), by));
  out[1] = m;
}

/* 1 - beta^steps. A logarithm and a product are rounded. Near 0, where a power next to 1 would have lost most digits,
 * the result is as exact as any function; else as e^z. */
static number correction(float beta, double steps) {
  const double z = steps * log((double)beta), value = -expm1(z);
  if (beta == 0) {
    return exactly(1);
  }
  const double passed = exp(z) * fabs(z) * 2 * LEATI_REF_ULP;
  return rounded(value, passed + (fabs(z) > 0.3 ? leati_ref_bound_exp(z) * exp(z) : 0), 5);
}

static void adam(const leati_ref_node *node, const double *scalars, const number *x, number *out) {
  const bool decoupled = strcmp(node->name, "ForeachAdamW") == 0;
  const float beta1 = leati_ref_float(node, "beta1", 0.9f), beta2 = leati_ref_float(node, "beta2", 0.999f);
  const number rate = exactly(scalars[0]), decay = attribute(node, "weight_decay", decoupled ? 0.01f : 0);
  number g = x[0], p = x[1];
  if (decay.value != 0 && decoupled) {
    p = difference(p, product(product(rate, decay), p));
  } else if (decay.value != 0) {
    g = sum_of(g, product(decay, p));
  }
  const number m = sum_of(product(exactly((double)beta1), x[2]), product(rest(beta1), g));
  const number v = sum_of(product(exactly((double)beta2), x[3]), product(rest(beta2), product(g, g)));
  /* The root of a quotient, or the product of a root and the reciprocal of one: as many ULP as all of these. */
  const number scale = quotient(exactly(1), root(correction(beta2, scalars[1])));
  const number below = sum_of(product(root(v), scale), attribute(node, "epsilon", 1e-8f));
  const number step = product(quotient(rate, correction(beta1, scalars[1])), quotient(m, below));
  out[0] = difference(p, step);
  out[1] = m;
  out[2] = v;
}

/* A float that is no number, or infinite, follows from the operands, and is no matter of rounding. */
static double bound_of(number x) {
  return isfinite(x.value) ? (isnan(x.off) ? INFINITY : x.off) : 0;
}

static bool run_elements(leati_ref_node *node, uint32_t scalar_count, uint32_t taken, uint32_t given, element_fn fn) {
  const uint32_t count = (node->input_count - scalar_count) / taken;
  double scalars[2] = {0};
  if (node->output_count != given * count) {
    return leati_ref_fail(node, "%s: %u outputs", node->name, node->output_count);
  }
  for (uint32_t k = 0; k < scalar_count; ++k) {
    scalars[k] = k == 0 ? node->inputs[k]->f[0] : (double)node->inputs[k]->i[0];
  }
  for (uint32_t t = 0; t < count; ++t) {
    const leati_ref_tensor *const *lists = &node->inputs[scalar_count + t];
    for (uint32_t o = 0; o < given; ++o) {
      leati_ref_tensor_init(&node->outputs[o * count + t], lists[0]->type, lists[0]->rank, lists[0]->dims);
    }
    for (int64_t e = 0; e < lists[0]->count; ++e) {
      number x[LISTS], out[3];
      for (uint32_t k = 0; k < taken; ++k) {
        x[k] = exactly(lists[k * count]->f[e]);
      }
      fn(node, scalars, x, out);
      for (uint32_t o = 0; o < given; ++o) {
        node->outputs[o * count + t].f[e] = out[o].value;
        node->outputs[o * count + t].bound[e] = bound_of(out[o]);
      }
    }
  }
  return true;
}

static bool run_add(leati_ref_node *node) {
  return run_elements(node, 0, 2, 1, add);
}

static bool run_mul(leati_ref_node *node) {
  return run_elements(node, 0, 2, 1, mul);
}

static bool run_lerp(leati_ref_node *node) {
  return run_elements(node, 0, 2, 1, lerp);
}

static bool run_addcmul(leati_ref_node *node) {
  return run_elements(node, 0, 3, 1, addcmul);
}

static bool run_sgd(leati_ref_node *node) {
  return run_elements(node, 1, 3, 2, sgd);
}

static bool run_adam(leati_ref_node *node) {
  return run_elements(node, 2, 4, 3, adam);
}

/* ---- Norms --------------------------------------------------------------------------------------------------------
 */

/* The root of the sum of squares of tensors; nothing is known of a sum that float32 may not hold. */
static number norm_of(const leati_ref_tensor *const *tensors, uint32_t count) {
  double squares = 0;
  int64_t terms = 0;
  for (uint32_t k = 0; k < count; ++k) {
    for (int64_t e = 0; e < tensors[k]->count; ++e) {
      squares += tensors[k]->f[e] * tensors[k]->f[e];
    }
    terms += tensors[k]->count;
  }
  if (!isfinite(squares)) {
    return exactly(squares);
  }
  const double off = leati_ref_bound_sum(terms, squares);
  return root((number){squares, squares + off > FLT_MAX ? INFINITY : off});
}

static bool run_norm(leati_ref_node *node) {
  const int64_t dims[1] = {node->input_count};
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_FLOAT32, 1, dims);
  for (uint32_t k = 0; k < node->input_count; ++k) {
    const number norm = norm_of(&node->inputs[k], 1);
    node->outputs[0].f[k] = norm.value;
    node->outputs[0].bound[k] = bound_of(norm);
  }
  return true;
}

static bool run_clip(leati_ref_node *node) {
  const number norm = norm_of(node->inputs, node->input_count);
  number factor = quotient(attribute(node, "max_norm", 1), sum_of(norm, attribute(node, "epsilon", 1e-6f)));
  if (factor.value >= 1) {
    factor = (number){1, factor.value - factor.off >= 1 ? 0 : factor.off};
  }
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_FLOAT32, 0, NULL);
  node->outputs[0].f[0] = norm.value;
  node->outputs[0].bound[0] = bound_of(norm);
  for (uint32_t k = 0; k < node->input_count; ++k) {
    const leati_ref_tensor *const x = node->inputs[k];
    leati_ref_tensor *const y = &node->outputs[k + 1];
    leati_ref_tensor_init(y, x->type, x->rank, x->dims);
    for (int64_t e = 0; e < x->count; ++e) {
      const number z = product(exactly(x->f[e]), factor);
      y->f[e] = z.value;
      y->bound[e] = bound_of(z);
    }
  }
  return true;
}

const leati_ref_entry leati_ref_foreach[] = {
    {"ForeachAdd", run_add},    {"ForeachMul", run_mul},
    {"ForeachLerp", run_lerp},  {"ForeachAddcmul", run_addcmul},
    {"ForeachNorm", run_norm},  {"ForeachClipByNorm", run_clip},
    {"ForeachSGD", run_sgd},    {"ForeachAdam", run_adam},
    {"ForeachAdamW", run_adam}, {NULL, NULL},
};
