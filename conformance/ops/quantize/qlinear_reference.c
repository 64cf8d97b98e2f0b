/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's operators of int8 or uint8 that stand for floats: an operator of float32 between DequantizeLinear and
 * QuantizeLinear. */
#include <math.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/core/turned_image.h"
#include "ops/quantize/reference.h"

#define OPERANDS_MAX 2

/* What is computed between, and what its reference does not know. */
typedef struct between {
  const leati_ref_entry *list; /* the family of the operator of floats */
  const char *name;
  uint32_t since_version; /* 0: 1 */
  uint32_t operands;
  bool exact;   /* a result that float32 holds is exact: it is arithmetic */
  double slope; /* how far a result moves for each unit that operands move in other directions than all together */
} between;

/* Whether an input is one number for a whole tensor. */
static bool is_one(const leati_ref_tensor *tensor) {
  return tensor != NULL && tensor->count == 1 && tensor->rank <= 1;
}

static bool check_scale(leati_ref_node *node, uint32_t at) {
  const leati_ref_tensor *zero = leati_ref_input(node, at + 1);
  return (is_one(leati_ref_input(node, at)) && (zero == NULL || is_one(zero))) ||
         leati_ref_fail(node, "%s: no scale of one element", node->name);
}

static int64_t zero_at(const leati_ref_node *node, uint32_t at) {
  const leati_ref_tensor *zero = leati_ref_input(node, at);
  return zero != NULL ? zero->i[0] : 0;
}

static bool holds(double x) {
  return (double)(float)x == x;
}

/* The floats that bytes stand for. They are products that are rounded once, which are taken for the lowest (`way` -1)
 * or the highest (1) that they may be. */
static void dequantise(const leati_ref_node *node, uint32_t at, uint32_t scale_at, int way, leati_ref_tensor *out) {
  const leati_ref_tensor *x = node->inputs[at];
  const double scale = node->inputs[scale_at]->f[0];
  const int64_t zero = zero_at(node, scale_at + 1);
  leati_ref_tensor_init(out, LEATI_REF_FLOAT32, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const double exact = (double)(x->i[k] - zero) * scale;
    out->f[k] = holds(exact) || !isfinite(exact) ? exact : exact + way * leati_ref_bound_ulps(exact, 1);
  }
}

/* Computes what the operator of floats gives for operands each of which is taken for its lowest or its highest: bit k
 * of `ways` is for operand k. */
static bool run_corner(leati_ref_node *node, const between *op, uint32_t ways, leati_ref_tensor *out) {
  leati_ref_tensor floats[OPERANDS_MAX] = {{0}};
  const leati_ref_tensor *given[OPERANDS_MAX];
  for (uint32_t k = 0; k < op->operands; ++k) {
    dequantise(node, 3 * k, 3 * k + 1, (ways >> k & 1) != 0 ? 1 : -1, &floats[k]);
    given[k] = &floats[k];
  }
  leati_ref_node part = {.name = op->name,
                         .since_version = op->since_version != 0 ? op->since_version : 1,
                         .attribute_count = node->attribute_count,
                         .attributes = node->attributes,
                         .input_count = op->operands,
                         .inputs = given,
                         .output_count = 1};
  const bool ok = leati_ref_run_of(op->list, &part) || leati_ref_fail(node, "%s", part.error);
  *out = part.outputs[0];
  for (uint32_t k = 0; k < op->operands; ++k) {
    leati_ref_tensor_clear(&floats[k]);
  }
  return ok;
}

/* Sets the results to bytes of what lies between the lowest and the highest of all corners. */
static void quantise(leati_ref_node *node, const between *op, const leati_ref_tensor *corners) {
  const uint32_t scale = 3 * op->operands;
  leati_ref_tensor *y = &node->outputs[0];
  double off = 0;
  if (op->slope > 0) {
    const leati_ref_tensor *x = node->inputs[0];
    for (int64_t k = 0; k < x->count; ++k) {
      off = fmax(off, leati_ref_bound_ulps((double)(x->i[k] - zero_at(node, 2)) * node->inputs[1]->f[0], op->slope));
    }
  }
  leati_ref_tensor_init(y, node->inputs[0]->type, corners->rank, corners->dims);
  y->bound = leati_ref_alloc(y->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    double low = INFINITY, high = -INFINITY;
    for (uint32_t c = 0; c < 1u << op->operands; ++c) {
      const double x = corners[c].f[k], own = op->exact && holds(x) ? 0 : corners[c].bound[k] + off;
      low = fmin(low, x - own);
      high = fmax(high, x + own);
    }
    if (isnan(corners[0].f[k])) {
      low = high = NAN;
    }
    leati_ref_quantise(y, k, low, high, node->inputs[scale]->f[0], zero_at(node, scale + 1));
  }
}

static bool run_between(leati_ref_node *node, const between *op) {
  leati_ref_tensor corners[1 << OPERANDS_MAX] = {{0}};
  bool ok = check_scale(node, 3 * op->operands);
  for (uint32_t k = 0; ok && k < op->operands; ++k) {
    ok = leati_ref_input(node, 3 * k) != NULL ? check_scale(node, 3 * k + 1)
                                              : leati_ref_fail(node, "%s: an operand is missing", node->name);
  }
  for (uint32_t c = 0; ok && c < 1u << op->operands; ++c) {
    ok = run_corner(node, op, c, &corners[c]);
  }
  if (ok) {
    quantise(node, op, corners);
  }
  for (uint32_t c = 0; c < 1u << OPERANDS_MAX; ++c) {
    leati_ref_tensor_clear(&corners[c]);
  }
  return ok;
}

static bool run_add(leati_ref_node *node) {
  return run_between(node, &(between){.list = leati_ref_elementwise, .name = "Add", .operands = 2, .exact = true});
}

static bool run_mul(leati_ref_node *node) {
  return run_between(node, &(between){.list = leati_ref_elementwise, .name = "Mul", .operands = 2, .exact = true});
}

static bool run_leaky_relu(leati_ref_node *node) {
  return run_between(node,
                     &(between){.list = leati_ref_elementwise, .name = "LeakyRelu", .operands = 1, .exact = true});
}

static bool run_sigmoid(leati_ref_node *node) {
  return run_between(node, &(between){.list = leati_ref_elementwise, .name = "Sigmoid", .operands = 1});
}

static bool run_nchw_average_pool(leati_ref_node *node) {
  return run_between(node,
                     &(between){.list = leati_ref_conv, .name = "AveragePool", .since_version = 22, .operands = 1});
}

static bool run_nchw_global_average_pool(leati_ref_node *node) {
  return run_between(node, &(between){.list = leati_ref_conv, .name = "GlobalAveragePool", .operands = 1});
}

/* With channels_last images are in NHWC. */
static bool run_pool(leati_ref_node *node, leati_ref_fn in_nchw) {
  return leati_ref_int(node, "channels_last", 0) == 0 ? in_nchw(node) : leati_ref_run_turned(node, in_nchw);
}

static bool run_average_pool(leati_ref_node *node) {
  return run_pool(node, run_nchw_average_pool);
}

static bool run_global_average_pool(leati_ref_node *node) {
  return run_pool(node, run_nchw_global_average_pool);
}

/* The derivatives of an element add up to half of one at most: to y (1 - y) by its own operand, and by all others. */
static bool run_softmax(leati_ref_node *node) {
  return run_between(
      node, &(between){.list = leati_ref_norm, .name = "Softmax", .since_version = 13, .operands = 1, .slope = 0.5});
}

/* Quantises the floats that input `at` stands for by the scale of the result, an input too. */
static void requantise(const leati_ref_node *node, uint32_t at, uint32_t scale, leati_ref_tensor *out) {
  leati_ref_tensor low, high;
  dequantise(node, at, at + 1, -1, &low);
  dequantise(node, at, at + 1, 1, &high);
  leati_ref_tensor_init(out, node->inputs[at]->type, low.rank, low.dims);
  out->bound = leati_ref_alloc(out->count, sizeof(double));
  for (int64_t k = 0; k < out->count; ++k) {
    leati_ref_quantise(out, k, low.f[k], high.f[k], node->inputs[scale]->f[0], zero_at(node, scale + 1));
  }
  leati_ref_tensor_clear(&low);
  leati_ref_tensor_clear(&high);
}

static bool run_concat(leati_ref_node *node) {
  enum { PARTS_MAX = 8, FIRST = 2 };
  leati_ref_tensor parts[PARTS_MAX] = {{0}};
  const leati_ref_tensor *given[PARTS_MAX];
  leati_ref_node plain = *node;
  plain.name = "Concat";
  plain.inputs = given;
  plain.input_count = 0;
  bool ok = check_scale(node, 0);
  for (uint32_t at = FIRST; ok && at < node->input_count; at += 3) {
    leati_ref_tensor *part = &parts[plain.input_count];
    ok = plain.input_count < PARTS_MAX && leati_ref_input(node, at) != NULL && check_scale(node, at + 1);
    if (ok) {
      requantise(node, at, 0, part);
      given[plain.input_count++] = part;
    }
  }
  ok = ok && (leati_ref_run_of(leati_ref_movement, &plain) || leati_ref_fail(node, "%s", plain.error));
  node->outputs[0] = plain.outputs[0];
  for (uint32_t k = 0; k < PARTS_MAX; ++k) {
    leati_ref_tensor_clear(&parts[k]);
  }
  return ok;
}

/* Each of both operands as bytes of the result, of which the condition picks, and in the same way bounds. */
static bool run_where(leati_ref_node *node) {
  enum { CONDITION, X, Y = 4, RESULT = 7 };
  static const uint32_t at[2] = {X, Y};
  leati_ref_tensor parts[2] = {{0}};
  const leati_ref_tensor *const given[] = {node->inputs[CONDITION], &parts[0], &parts[1]};
  leati_ref_node plain = *node;
  plain.name = "Where";
  plain.since_version = 16;
  plain.inputs = given;
  plain.input_count = 3;
  bool ok = check_scale(node, RESULT);
  for (uint32_t k = 0; ok && k < 2; ++k) {
    ok = leati_ref_input(node, at[k]) != NULL && check_scale(node, at[k] + 1);
    if (ok) {
      requantise(node, at[k], RESULT, &parts[k]);
    }
  }
  ok = ok && (leati_ref_run_of(leati_ref_elementwise, &plain) || leati_ref_fail(node, "%s", plain.error));
  node->outputs[0] = plain.outputs[0];
  for (uint32_t k = 0; ok && k < 2; ++k) {
    for (int64_t i = 0; i < parts[k].count; ++i) {
      parts[k].i[i] = (int64_t)parts[k].bound[i];
    }
  }
  if (ok && leati_ref_run_of(leati_ref_elementwise, &plain)) {
    node->outputs[0].bound = leati_ref_alloc(plain.outputs[0].count, sizeof(double));
    for (int64_t i = 0; i < plain.outputs[0].count; ++i) {
      node->outputs[0].bound[i] = (double)plain.outputs[0].i[i];
    }
    leati_ref_tensor_clear(&plain.outputs[0]);
  }
  for (uint32_t k = 0; k < 2; ++k) {
    leati_ref_tensor_clear(&parts[k]);
  }
  return ok;
}

const leati_ref_entry leati_ref_qlinear[] = {
    {"QLinearAdd", run_add},
    {"QLinearMul", run_mul},
    {"QLinearLeakyRelu", run_leaky_relu},
    {"QLinearSigmoid", run_sigmoid},
    {"QLinearConcat", run_concat},
    {"QLinearWhere", run_where},
    {"QLinearAveragePool", run_average_pool},
    {"QLinearGlobalAveragePool", run_global_average_pool},
    {"QLinearSoftmax", run_softmax},
    {NULL, NULL},
};
