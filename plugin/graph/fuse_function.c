/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about functions of one number that are written out as products, sums and simpler functions: they become one
 * operator, which rounds less often. */
#include <math.h>

#include "core/status.h"
#include "graph/expression.h"
#include "graph/fusion.h"
#include "ops/core/op_state.h"

#define FACTORS_MAX 4

/* ---- Factors ----------------------------------------------------------------------------------------------------- */

/* A product as its factors, whatever the order in which they were multiplied: the inputs of a node, and in place of
 * those that are products for it alone the inputs of these. */
typedef struct factors {
  uint32_t at[FACTORS_MAX];
  uint32_t count;
} factors;

static void add_factors(const leati_fusion *f, uint32_t v, int depth, factors *out) {
  uint32_t both[2];
  if (depth > 0 && out->count + 2 <= FACTORS_MAX && leati_expression_operands(f, v, LEATI_IS_MUL, both)) {
    add_factors(f, both[0], depth - 1, out);
    add_factors(f, both[1], depth - 1, out);
  } else if (out->count < FACTORS_MAX) {
    out->at[out->count++] = v;
  }
}

static factors factors_of(const leati_fusion *f, const leati_node *node) {
  factors all = {.count = 0};
  add_factors(f, node->inputs[0], 1, &all);
  add_factors(f, node->inputs[1], 1, &all);
  return all;
}

/* Takes a factor that is a constant near `expected` away. */
static bool take_constant(const leati_fusion *f, factors *all, double expected) {
  for (uint32_t i = 0; i < all->count; ++i) {
    if (leati_fusion_is_scalar(f, all->at[i], expected)) {
      all->at[i] = all->at[--all->count];
      return true;
    }
  }
  return false;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

/* Puts a function of `x`, with one attribute or none, in the place of node `n`. */
static int32_t write_function(leati_fusion *f, uint32_t n, uint32_t x, leati_fusion_node with,
                              const leat_attribute *attribute, bool *out_done, leat_error *err) {
  with.input_count = 1;
  with.inputs = &x;
  with.attribute_count = attribute != NULL ? 1 : 0;
  with.attributes = attribute;
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* Whether `v` is 1 + erf(x / sqrt(2)). */
static bool is_erf_part(const leati_fusion *f, uint32_t v, uint32_t x) {
  uint32_t erf, scaled, inner;
  if (!leati_expression_beside(f, v, LEATI_IS_ADD, 1.0, &erf) ||
      !leati_expression_inside(f, erf, LEATI_IS_ERF, &scaled)) {
    return false;
  }
  uint32_t both[2];
  const bool divided = leati_expression_operands(f, scaled, LEATI_IS_DIV, both) && both[0] == x &&
                       leati_fusion_is_scalar(f, both[1], sqrt(2.0));
  return divided || (leati_expression_beside(f, scaled, LEATI_IS_MUL, sqrt(0.5), &inner) && inner == x);
}

/* Whether `v` is x * x * x, or x to the power of three. */
static bool is_cube(const leati_fusion *f, uint32_t v, uint32_t x) {
  uint32_t both[2];
  if (leati_expression_operands(f, v, LEATI_IS_POW, both)) {
    return both[0] == x && leati_fusion_is_scalar(f, both[1], 3.0);
  }
  if (!leati_expression_operands(f, v, LEATI_IS_MUL, both) || (both[0] != x && both[1] != x)) {
    return false;
  }
  const uint32_t square = both[0] == x ? both[1] : both[0];
  return leati_expression_operands(f, square, LEATI_IS_MUL, both) && both[0] == x && both[1] == x;
}

/* Whether `v` is 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)). */
static bool is_tanh_part(const leati_fusion *f, uint32_t v, uint32_t x) {
  uint32_t tanh_of, scaled, sum, both[2], cube;
  if (!leati_expression_beside(f, v, LEATI_IS_ADD, 1.0, &tanh_of) ||
      !leati_expression_inside(f, tanh_of, LEATI_IS_TANH, &scaled) ||
      !leati_expression_beside(f, scaled, LEATI_IS_MUL, sqrt(2.0 / acos(-1.0)), &sum) ||
      !leati_expression_operands(f, sum, LEATI_IS_ADD, both) || (both[0] != x && both[1] != x)) {
    return false;
  }
  return leati_expression_beside(f, both[0] == x ? both[1] : both[0], LEATI_IS_MUL, 0.044715, &cube) &&
         is_cube(f, cube, x);
}

/* 0.5 x (1 + erf(x / sqrt 2)), and the approximation by tanh. */
int32_t leati_fuse_gelu(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  if (!leati_fusion_is(node, LEATI_IS_MUL)) {
    return LEAT_OK;
  }
  factors all = factors_of(f, node);
  if (all.count != 3 || !take_constant(f, &all, 0.5)) {
    return LEAT_OK;
  }
  for (int side = 0; side < 2 && !*out_done; ++side) {
    const uint32_t x = all.at[side], part = all.at[1 - side];
    const bool by_erf = is_erf_part(f, part, x);
    if (!by_erf && !is_tanh_part(f, part, x)) {
      continue;
    }
    const leat_attribute approximate = leati_fusion_string("approximate", by_erf ? "none" : "tanh");
    LEATI_TRY(write_function(f, n, x, (leati_fusion_node){.op = LEATI_IS_GELU, .since_version = 20}, &approximate,
                             out_done, err));
  }
  return LEAT_OK;
}

/* x sigmoid(x), x sigmoid(alpha x), and x hard_sigmoid(x) as HardSwish has it. */
int32_t leati_fuse_swish(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], LEATI_IS_MUL); ++side) {
    const uint32_t x = node->inputs[side], gate = node->inputs[1 - side];
    const leati_node *const sigmoid = leati_fusion_private_maker(f, gate);
    uint32_t inner, scaled;
    float factor = 1.0f;
    if (leati_expression_inside(f, gate, LEATI_IS_SIGMOID, &inner)) {
      if (inner == x || (leati_expression_beside_scalar(f, inner, LEATI_IS_MUL, &scaled, &factor) && scaled == x)) {
        const leat_attribute alpha = leati_fusion_float("alpha", factor);
        LEATI_TRY(write_function(f, n, x, (leati_fusion_node){.op = LEATI_IS_QUICK_GELU, .since_version = 1}, &alpha,
                                 out_done, err));
      }
    } else if (leati_expression_inside(f, gate, LEATI_IS_HARD_SIGMOID, &inner) && inner == x) {
      const double slope = leati_attributes_float(&sigmoid->attributes, "alpha", 0.2f);
      const double offset = leati_attributes_float(&sigmoid->attributes, "beta", 0.5f);
      if (fabs(slope * 6.0 - 1.0) <= 1e-6 && offset == 0.5) {
        LEATI_TRY(write_function(f, n, x, (leati_fusion_node){.op = LEATI_IS_HARD_SWISH, .since_version = 14}, NULL,
                                 out_done, err));
      }
    }
  }
  return LEAT_OK;
}
