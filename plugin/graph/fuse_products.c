/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about products side by side, which become leat's MultiMatMul, and about what their first operand is multiplied
 * by. */
#include <string.h>

#include "core/status.h"
#include "graph/fuse_norm.h"
#include "graph/fusion.h"
#include "graph/product.h"
#include "ops/core/op_state.h"
#include "ops/product/matrix_product.h"
#include "ops/product/multi_matmul.h"

/* ---- Products of one input --------------------------------------------------------------------------------------- */

/* Products that are to be one node. */
typedef struct merger {
  uint32_t count;
  uint32_t nodes[LEATI_PRODUCTS_MAX], results[LEATI_PRODUCTS_MAX];
  leati_product products[LEATI_PRODUCTS_MAX];
  uint32_t activated; /* the one whose activation it is, or 0 if there is none */
} merger;

/* Whether a value is there before any node runs, so that a node which takes it may run earlier. */
static bool is_given(const leati_fusion *f, uint32_t v) {
  return leati_fusion_maker(f, v) == NULL;
}

/* Reads a node as a product of what is multiplied with a matrix that is given, and no more than a bias and an
 * activation. */
static bool read_part(const leati_fusion *f, const leati_node *node, leati_product *out) {
  return leati_product_read(f, node, out) && !out->conv && out->inputs[3] == LEAT_GRAPH_NO_VALUE &&
         out->inputs[4] == LEAT_GRAPH_NO_VALUE && leati_attributes_int(&node->attributes, "transA", 0) == 0 &&
         is_given(f, out->inputs[1]) && is_given(f, out->inputs[2]) && leati_fusion_rank(f, out->inputs[1]) == 2 &&
         !leati_fusion_is_empty(f, node->outputs[0]);
}

static bool is_transposed(const leati_fusion *f, uint32_t n) {
  return leati_attributes_int(&f->nodes[n].attributes, "transB", 0) != 0;
}

static bool same_activation(const leati_product *x, const leati_product *y) {
  return strcmp(x->activation, y->activation) == 0 && x->parameter_count == y->parameter_count &&
         memcmp(x->parameters, y->parameters, x->parameter_count * sizeof(x->parameters[0])) == 0;
}

/* Whether products of the first value with the matrices that follow are one dispatch; behind these are their results.
 */
static bool ask_merges(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                       uint64_t trans_b) {
  const leati_view *b[LEATI_PRODUCTS_MAX], *c[LEATI_PRODUCTS_MAX];
  const uint32_t products = count / 2;
  for (uint32_t i = 0; i < products; ++i) {
    b[i] = &values[1 + i]->view;
    c[i] = &values[1 + products + i]->view;
  }
  return leati_products_merge(device, &values[0]->view, b, c, products, trans_b != 0);
}

_Static_assert(1 + 2 * LEATI_PRODUCTS_MAX <= LEATI_QUESTION_VALUES_MAX, "merged products are one question");

/* Takes one more product if all are one dispatch then: others than those with an activation have the same one. */
static void take_part(const leati_fusion *f, merger *m, uint32_t n) {
  leati_product *const part = &m->products[m->count];
  if (!f->live[n] || !read_part(f, &f->nodes[n], part)) {
    return;
  }
  m->nodes[m->count] = n;
  m->results[m->count] = f->nodes[n].outputs[0];
  const leati_product *const first = &m->products[0], *const active = &m->products[m->activated];
  if (part->inputs[0] != first->inputs[0] || part->alpha != first->alpha ||
      is_transposed(f, n) != is_transposed(f, m->nodes[0]) ||
      (part->activation[0] != '\0' && active->activation[0] != '\0' && !same_activation(part, active))) {
    return;
  }
  const uint32_t products = m->count + 1;
  uint32_t values[1 + 2 * LEATI_PRODUCTS_MAX] = {part->inputs[0]};
  for (uint32_t i = 0; i < products; ++i) {
    values[1 + i] = m->products[i].inputs[1];
    values[1 + products + i] = m->results[i];
  }
  if (!leati_fusion_ask(f, ask_merges, 1 + 2 * products, values, is_transposed(f, n))) {
    return;
  }
  m->activated = part->activation[0] != '\0' ? m->count : m->activated;
  ++m->count;
}

/* How often a live node takes a value. */
static uint32_t count_uses(const leati_fusion *f, uint32_t n, uint32_t v) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < f->nodes[n].input_count && f->live[n]; ++i) {
    count += f->nodes[n].inputs[i] == v;
  }
  return count;
}

/* Products of one value and given matrices: one dispatch. Node `n` is the first of them. */
int32_t leati_fuse_products(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  merger m;
  m.count = m.activated = 0;
  take_part(f, &m, n);
  const uint32_t x = m.count != 0 ? m.products[0].inputs[0] : LEAT_GRAPH_NO_VALUE;
  uint32_t left = m.count != 0 ? f->uses[x] - count_uses(f, n, x) : 0;
  for (uint32_t other = n + 1; left != 0 && m.count < LEATI_PRODUCTS_MAX && other < f->graph->node_count; ++other) {
    const uint32_t uses = count_uses(f, other, x);
    if (uses != 0) {
      left -= uses;
      take_part(f, &m, other);
    }
  }
  if (m.count < 2) {
    return LEAT_OK;
  }
  const leati_product *const active = &m.products[m.activated];
  uint32_t inputs[1 + 2 * LEATI_PRODUCTS_MAX] = {m.products[0].inputs[0]};
  int64_t activated[LEATI_PRODUCTS_MAX];
  for (uint32_t i = 0; i < LEATI_PRODUCTS_MAX; ++i) {
    const bool there = i < m.count;
    inputs[1 + i] = there ? m.products[i].inputs[1] : LEAT_GRAPH_NO_VALUE;
    inputs[1 + LEATI_PRODUCTS_MAX + i] = there ? m.products[i].inputs[2] : LEAT_GRAPH_NO_VALUE;
    activated[i] = there && m.products[i].activation[0] != '\0';
  }
  const leat_attribute attributes[] = {
      leati_fusion_float("alpha", active->alpha),
      leati_fusion_int("transB", is_transposed(f, n)),
      leati_fusion_string("activation", active->activation),
      leati_fusion_floats("activation_params", active->parameters, active->parameter_count),
      leati_fusion_ints("activated", activated, m.count),
  };
  const leati_fusion_node with = {.op = LEATI_IS_MULTI_MATMUL,
                                  .since_version = 1,
                                  .input_count = sizeof(inputs) / sizeof(inputs[0]),
                                  .inputs = inputs,
                                  .attribute_count = sizeof(attributes) / sizeof(attributes[0]),
                                  .attributes = attributes,
                                  .output_count = m.count,
                                  .outputs = m.results};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* ---- Factors ----------------------------------------------------------------------------------------------------- */

/* Where MultiMatMul has its factor, behind the inputs that leati_fuse_products writes. */
#define MULTI_FACTOR (1 + 2 * LEATI_PRODUCTS_MAX)

/* What a value is: rows times a factor, which has their shape or that of one of them. */
typedef struct multiplication {
  uint32_t x, factor;
  bool norm; /* of the rows of x, before */
  float epsilon;
} multiplication;

/* Reads the norm that makes a value, or the Mul that does so for one input alone. */
static bool read_multiplication(const leati_fusion *f, uint32_t v, multiplication *out) {
  const leati_node *const norm = leati_fusion_maker(f, v), *const times = leati_fusion_private_maker(f, v);
  if (leati_fusion_is(norm, LEATI_IS_RMS_NORMALIZATION) ||
      leati_fusion_is(norm, LEATI_IS_SIMPLIFIED_LAYER_NORMALIZATION)) {
    *out = (multiplication){.x = norm->inputs[0],
                            .factor = norm->inputs[1],
                            .norm = true,
                            .epsilon = leati_attributes_float(&norm->attributes, "epsilon", 1e-5f)};
    return leati_norm_is_of_rows(f, norm) && leati_fusion_is_row(f, out->factor, out->x);
  }
  bool is = false;
  for (uint32_t side = 0; side < 2 && !is && leati_fusion_is(times, LEATI_IS_MUL); ++side) {
    *out = (multiplication){.x = times->inputs[side], .factor = times->inputs[1 - side]};
    is = leati_fusion_same_shape(f, out->x, v) &&
         (leati_fusion_same_shape(f, out->factor, v) || leati_fusion_is_row(f, out->factor, out->x));
  }
  return is;
}

enum { TRANSPOSED = 1, NORM = 2 };

/* Whether the kernel of a product of the first value with the second, which gives the third, takes a factor. */
static bool ask_factor(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                       uint64_t with) {
  (void)count;
  return leati_product_takes_factor(device, &values[0]->view, &values[1]->view, &values[2]->view,
                                    (with & TRANSPOSED) != 0, (with & NORM) != 0);
}

static bool takes_factor(const leati_fusion *f, const multiplication *m, uint32_t b, uint32_t c, bool trans_b) {
  const uint32_t values[] = {m->x, b, c};
  return b != LEAT_GRAPH_NO_VALUE && leati_fusion_rank(f, b) == 2 && !leati_fusion_is_empty(f, c) &&
         leati_fusion_ask(f, ask_factor, 3, values, (trans_b ? TRANSPOSED : 0) | (m->norm ? NORM : 0));
}

/* Gives a MultiMatMul a factor. */
static int32_t factor_products(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  multiplication m;
  bool takes = leati_fusion_input(node, MULTI_FACTOR) == LEAT_GRAPH_NO_VALUE &&
               node->attributes.count < LEATI_FUSION_ATTRIBUTES_MAX && read_multiplication(f, node->inputs[0], &m);
  for (uint32_t o = 0; o < node->output_count && takes; ++o) {
    takes = node->outputs[o] != LEAT_GRAPH_NO_VALUE &&
            takes_factor(f, &m, node->inputs[1 + o], node->outputs[o], is_transposed(f, n));
  }
  if (!takes) {
    return LEAT_OK;
  }
  uint32_t inputs[MULTI_FACTOR + 1];
  leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
  for (uint32_t i = 0; i < MULTI_FACTOR; ++i) {
    inputs[i] = leati_fusion_input(node, i);
  }
  inputs[0] = m.x;
  inputs[MULTI_FACTOR] = m.factor;
  uint32_t count = 0;
  for (; count < node->attributes.count; ++count) {
    attributes[count] = *node->attributes.list[count];
  }
  if (m.norm) {
    attributes[count++] = leati_fusion_float("epsilon", m.epsilon);
  }
  const leati_fusion_node with = {.op = LEATI_IS_MULTI_MATMUL,
                                  .since_version = 1,
                                  .input_count = MULTI_FACTOR + 1,
                                  .inputs = inputs,
                                  .attribute_count = count,
                                  .attributes = attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* RMS norm of few rows, or a product element by element, as the first operand of a product, or of several in one
 * dispatch. Node `n` is the product. */
int32_t leati_fuse_factor(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  if (leati_fusion_is(&f->nodes[n], LEATI_IS_MULTI_MATMUL)) {
    return factor_products(f, n, out_done, err);
  }
  leati_product p;
  multiplication m;
  if (!leati_product_read(f, &f->nodes[n], &p) || p.conv || p.inputs[4] != LEAT_GRAPH_NO_VALUE ||
      p.kept_count == LEATI_PRODUCT_KEPT_MAX || leati_attributes_int(&f->nodes[n].attributes, "transA", 0) != 0 ||
      !read_multiplication(f, p.inputs[0], &m) ||
      !takes_factor(f, &m, p.inputs[1], f->nodes[n].outputs[0], is_transposed(f, n))) {
    return LEAT_OK;
  }
  p.inputs[0] = m.x;
  p.inputs[4] = m.factor;
  if (m.norm) {
    p.kept[p.kept_count++] = leati_fusion_float("epsilon", m.epsilon);
  }
  return leati_product_write(f, n, &p, out_done, err);
}
