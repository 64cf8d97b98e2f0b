/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fuse_integer.h"

#include "core/status.h"
#include "graph/expression.h"

/* Inputs of MatMulIntegerToFloat. */
enum { A, B, A_SCALE, B_SCALE, A_ZERO, B_ZERO, BIAS, INPUTS };

static int32_t write_product(leati_fusion *f, uint32_t n, const uint32_t inputs[INPUTS], bool *out_done,
                             leat_error *err) {
  const leati_fusion_node with = {.domain = "com.microsoft",
                                  .op = "MatMulIntegerToFloat",
                                  .since_version = 1,
                                  .input_count = INPUTS,
                                  .inputs = inputs};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* Whether a value is one float32 for all rows of a product, or for all columns. */
static bool is_one(const leati_fusion *f, uint32_t v) {
  const leati_view *const view = leati_fusion_view(f, v);
  return view->type == LEAT_TYPE_FLOAT32 && view->count == 1 && view->ndim <= 1;
}

/* Reads `sums`, which a product gives, and `scale` as a product of two; false: they are something else. */
static bool read_scaled(const leati_fusion *f, uint32_t sums, uint32_t scale, uint32_t out[INPUTS]) {
  uint32_t made;
  if (!leati_expression_inside(f, sums, "Cast", &made)) {
    return false;
  }
  const leati_node *const product = leati_fusion_private_maker(f, made), *const scales = leati_fusion_maker(f, scale);
  if (!leati_fusion_is(product, "", "MatMulInteger") || !leati_fusion_is(scales, "", "Mul") ||
      leati_fusion_view(f, sums)->type != LEAT_TYPE_FLOAT32) {
    return false;
  }
  /* The scale of the first operand is one for all. Which of two such is whose makes no difference. */
  const int first = is_one(f, scales->inputs[0]) ? 0 : 1;
  const uint32_t a_scale = scales->inputs[first], b_scale = scales->inputs[1 - first];
  const leati_view *const b = leati_fusion_view(f, b_scale);
  out[A] = product->inputs[0];
  out[B] = product->inputs[1];
  out[A_SCALE] = a_scale;
  out[B_SCALE] = b_scale;
  out[A_ZERO] = leati_fusion_input(product, 2);
  out[B_ZERO] = leati_fusion_input(product, 3);
  out[BIAS] = LEAT_GRAPH_NO_VALUE;
  return is_one(f, a_scale) && b->type == LEAT_TYPE_FLOAT32 && b->ndim <= 1;
}

static int32_t take_scales(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], "", "Mul"); ++side) {
    const uint32_t sums = f->nodes[n].inputs[side], scale = f->nodes[n].inputs[1 - side];
    uint32_t inputs[INPUTS];
    if (read_scaled(f, sums, scale, inputs)) {
      LEATI_TRY(write_product(f, n, inputs, out_done, err));
    }
  }
  return LEAT_OK;
}

static int32_t take_bias(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], "", "Add"); ++side) {
    const uint32_t from = f->nodes[n].inputs[side], row = f->nodes[n].inputs[1 - side];
    const leati_node *const product = leati_fusion_private_maker(f, from);
    uint32_t inputs[INPUTS];
    if (from != row && leati_fusion_is(product, "com.microsoft", "MatMulIntegerToFloat") &&
        leati_fusion_input(product, BIAS) == LEAT_GRAPH_NO_VALUE && leati_fusion_is_row(f, row, from)) {
      for (uint32_t i = 0; i < INPUTS; ++i) {
        inputs[i] = leati_fusion_input(product, i);
      }
      inputs[BIAS] = row;
      LEATI_TRY(write_product(f, n, inputs, out_done, err));
    }
  }
  return LEAT_OK;
}

int32_t leati_fuse_integer(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  LEATI_TRY(take_scales(f, n, out_done, err));
  return *out_done ? LEAT_OK : take_bias(f, n, out_done, err);
}
