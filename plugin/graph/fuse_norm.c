/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fuse_norm.h"

#include <string.h>

#include "core/status.h"
#include "graph/expression.h"
#include "ops/core/op_state.h"

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

/* The axes of a ReduceMean, which is an attribute or, from version 18 on, an input; false: there is not one. */
static bool one_axis(const leati_fusion *f, const leati_node *node, int64_t *out) {
  const leat_attribute *const list = leati_attributes_find(&node->attributes, "axes");
  if (list != NULL && list->count == 1) {
    *out = list->ints[0];
    return true;
  }
  return leati_fusion_whole(f, leati_fusion_input(node, 1), out);
}

/* Whether a value is the mean along the last dimension, which stays, of `*out`. */
static bool is_mean(const leati_fusion *f, uint32_t v, uint32_t *out) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  if (!leati_fusion_is(node, LEATI_IS_REDUCE_MEAN)) {
    return false;
  }
  int64_t axis;
  *out = node->inputs[0];
  return one_axis(f, node, &axis) && (axis == -1 || axis == leati_fusion_rank(f, *out) - 1) &&
         leati_attributes_int(&node->attributes, "keepdims", 1) != 0;
}

/* Whether a value is a square, of `*out`, which that takes so often. */
static bool is_square(const leati_fusion *f, uint32_t v, uint32_t *out, uint32_t *out_uses) {
  uint32_t both[2];
  const bool power = leati_expression_operands(f, v, LEATI_IS_POW, both) && leati_fusion_is_scalar(f, both[1], 2.0);
  const bool product = !power && leati_expression_operands(f, v, LEATI_IS_MUL, both) && both[0] == both[1];
  *out = power || product ? both[0] : LEAT_GRAPH_NO_VALUE;
  *out_uses = power ? 1 : 2;
  return power || product;
}

/* Whether a value is sqrt(mean(x^2) + epsilon), for an x of its own rows. */
static bool is_root(const leati_fusion *f, uint32_t v, uint32_t *out_x, uint32_t *out_uses, float *out_epsilon) {
  uint32_t sum, mean, square;
  return leati_expression_inside(f, v, LEATI_IS_SQRT, &sum) &&
         leati_expression_beside_scalar(f, sum, LEATI_IS_ADD, &mean, out_epsilon) && is_mean(f, mean, &square) &&
         is_square(f, square, out_x, out_uses);
}

/* Whether a value is x / sqrt(mean(x^2) + epsilon), as a quotient or a product. `*out_uses`: how often it takes x. */
static bool is_scaled(const leati_fusion *f, uint32_t v, uint32_t *out_x, uint32_t *out_uses, float *out_epsilon) {
  uint32_t both[2], inverse[2], root, x;
  if (leati_expression_operands(f, v, LEATI_IS_DIV, both)) {
    *out_x = both[0];
    if (!is_root(f, both[1], &x, out_uses, out_epsilon) || x != both[0]) {
      return false;
    }
    ++*out_uses;
    return true;
  }
  if (!leati_expression_operands(f, v, LEATI_IS_MUL, both)) {
    return false;
  }
  bool is = false;
  for (int side = 0; side < 2 && !is; ++side) {
    const bool one =
        leati_expression_operands(f, both[side], LEATI_IS_DIV, inverse) && leati_fusion_is_scalar(f, inverse[0], 1.0);
    root = one ? inverse[1] : LEAT_GRAPH_NO_VALUE;
    *out_x = both[1 - side];
    is = (one || leati_expression_inside(f, both[side], LEATI_IS_RECIPROCAL, &root)) &&
         is_root(f, root, &x, out_uses, out_epsilon) && x == *out_x;
  }
  if (is) {
    ++*out_uses;
  }
  return is;
}

bool leati_norm_is_of_rows(const leati_fusion *f, const leati_node *node) {
  const int64_t axis = leati_attributes_int(&node->attributes, "axis", -1);
  bool is = axis == -1 || axis == leati_fusion_rank(f, node->inputs[0]) - 1;
  for (uint32_t o = 1; o < node->output_count; ++o) {
    is = is && node->outputs[o] == LEAT_GRAPH_NO_VALUE;
  }
  return is;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

/* Puts a norm of the last dimension in the place of node `n`. */
static int32_t write_norm(leati_fusion *f, uint32_t n, leati_fusion_node with, float epsilon, bool *out_done,
                          leat_error *err) {
  const leat_attribute attributes[] = {leati_fusion_int("axis", -1), leati_fusion_float("epsilon", epsilon)};
  with.attribute_count = 2;
  with.attributes = attributes;
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale + bias. */
int32_t leati_fuse_layer_norm(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 4 && !*out_done && leati_fusion_is(&f->nodes[n], LEATI_IS_ADD); ++side) {
    const leati_node *const node = &f->nodes[n];
    const uint32_t product = node->inputs[side & 1], bias = node->inputs[1 - (side & 1)];
    uint32_t factors[2], centred, uses, means[2], x;
    float epsilon;
    if (!leati_expression_operands(f, product, LEATI_IS_MUL, factors) ||
        !is_scaled(f, factors[side >> 1], &centred, &uses, &epsilon) || f->uses[centred] != uses) {
      continue;
    }
    const leati_node *const difference = leati_fusion_maker(f, centred);
    const uint32_t scale = factors[1 - (side >> 1)];
    if (leati_fusion_is(difference, LEATI_IS_SUB)) {
      memcpy(means, difference->inputs, sizeof(means));
      if (is_mean(f, means[1], &x) && x == means[0] && leati_fusion_is_row(f, scale, x) &&
          leati_fusion_is_row(f, bias, x)) {
        const uint32_t inputs[] = {x, scale, bias};
        const leati_fusion_node norm = {
            .op = LEATI_IS_LAYER_NORMALIZATION, .since_version = 17, .input_count = 3, .inputs = inputs};
        LEATI_TRY(write_norm(f, n, norm, epsilon, out_done, err));
      }
    }
  }
  return LEAT_OK;
}

/* x / sqrt(mean(x^2) + epsilon) * scale. */
int32_t leati_fuse_rms_norm(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], LEATI_IS_MUL); ++side) {
    const leati_node *const node = &f->nodes[n];
    const uint32_t scale = node->inputs[1 - side];
    uint32_t x, uses;
    float epsilon;
    if (is_scaled(f, node->inputs[side], &x, &uses, &epsilon) && leati_fusion_is_row(f, scale, x)) {
      const uint32_t inputs[] = {x, scale};
      const leati_fusion_node norm = {
          .op = LEATI_IS_RMS_NORMALIZATION, .since_version = 23, .input_count = 2, .inputs = inputs};
      LEATI_TRY(write_norm(f, n, norm, epsilon, out_done, err));
    }
  }
  return LEAT_OK;
}

/* Norms of rows, and what they are called where they add up the rows first. */
static const struct {
  leati_known_op op, skip;
  uint32_t inputs;
} norms[] = {
    {LEATI_IS_LAYER_NORMALIZATION, LEATI_IS_SKIP_LAYER_NORMALIZATION, 3},
    {LEATI_IS_RMS_NORMALIZATION, LEATI_IS_SKIP_SIMPLIFIED_LAYER_NORMALIZATION, 2},
    {LEATI_IS_SIMPLIFIED_LAYER_NORMALIZATION, LEATI_IS_SKIP_SIMPLIFIED_LAYER_NORMALIZATION, 2},
};

/* Whether the rows of a value are added to those of `sum`, each to one or the same few over and over. */
static bool adds_rows(const leati_fusion *f, uint32_t v, uint32_t sum) {
  const int32_t rank = leati_fusion_rank(f, v), of = leati_fusion_rank(f, sum);
  int32_t d = 1;
  while (d <= rank && leati_fusion_same_size(f, v, rank - d, sum, of - d)) {
    ++d;
  }
  bool adds = d > 1;
  for (; d <= rank; ++d) {
    adds = adds && leati_fusion_is_one(f, v, rank - d);
  }
  return adds;
}

static bool is_one_of(const leati_node *node, const leati_known_op *ops, size_t count) {
  bool is = false;
  for (size_t i = 0; i < count && !is; ++i) {
    is = leati_fusion_is(node, ops[i]);
  }
  return is;
}

/* Whether a value may lie in another one with strides, so that a sum reads it there and a norm has it copied: whether a
 * node that leaves it so is before it, with nothing but reshapes between, which keep the order of elements. Which
 * strides these are is not asked: it follows from sizes, and then each size would be another program. Reshapes are
 * followed for so long, so that many norms behind many of them take no longer to look at. */
#define RESHAPES_FOLLOWED 8
static bool is_scattered(const leati_fusion *f, uint32_t v) {
  static const leati_known_op reshapes[] = {LEATI_IS_RESHAPE, LEATI_IS_FLATTEN, LEATI_IS_SQUEEZE, LEATI_IS_UNSQUEEZE};
  static const leati_known_op strided[] = {LEATI_IS_SLICE, LEATI_IS_SPLIT, LEATI_IS_TRANSPOSE, LEATI_IS_EXPAND};
  const leati_node *maker = leati_fusion_maker(f, v);
  for (int i = 0; i < RESHAPES_FOLLOWED && is_one_of(maker, reshapes, sizeof(reshapes) / sizeof(reshapes[0])); ++i) {
    maker = leati_fusion_maker(f, leati_fusion_input(maker, 0));
  }
  return is_one_of(maker, strided, sizeof(strided) / sizeof(strided[0]));
}

/* A sum of two, and the layer or RMS norm of its rows, that takes up the sum; which is given too if others need it. */
int32_t leati_fuse_skip_norm(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  uint32_t which = 0;
  while (which < sizeof(norms) / sizeof(norms[0]) && !leati_fusion_is(node, norms[which].op)) {
    ++which;
  }
  if (which == sizeof(norms) / sizeof(norms[0]) || !leati_norm_is_of_rows(f, node)) {
    return LEAT_OK;
  }
  const uint32_t sum = node->inputs[0], scale = node->inputs[1];
  const uint32_t bias = norms[which].inputs == 3 ? leati_fusion_input(node, 2) : LEAT_GRAPH_NO_VALUE;
  const leati_node *const add = leati_fusion_maker(f, sum);
  if (!leati_fusion_is(add, LEATI_IS_ADD)) {
    return LEAT_OK;
  }
  const uint32_t side = leati_fusion_same_shape(f, add->inputs[0], sum) ? 0 : 1, at = f->makers[sum];
  const uint32_t x = add->inputs[side], skip = add->inputs[1 - side];
  if (!leati_fusion_same_shape(f, x, sum) || !adds_rows(f, skip, sum) || !leati_fusion_is_before(f, scale, at) ||
      !leati_fusion_is_before(f, bias, at) || (is_scattered(f, x) && is_scattered(f, skip))) {
    return LEAT_OK;
  }
  const bool kept = f->uses[sum] > 1;
  const uint32_t inputs[] = {x, skip, scale, bias};
  const uint32_t outputs[] = {node->outputs[0], LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE, sum};
  const leat_attribute epsilon =
      leati_fusion_float("epsilon", leati_attributes_float(&node->attributes, "epsilon", 1e-5f));
  const leati_fusion_node with = {.op = norms[which].skip,
                                  .since_version = 1,
                                  .input_count = norms[which].inputs + 1,
                                  .inputs = inputs,
                                  .attribute_count = 1,
                                  .attributes = &epsilon,
                                  .output_count = kept ? 4 : 1,
                                  .outputs = outputs};
  /* In the place of the sum, which others may take before the norm. */
  return leati_fusion_replace(f, at, &with, out_done, err);
}
