/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/expression.h"

bool leati_expression_operands(const leati_fusion *f, uint32_t v, leati_known_op op, uint32_t out[2]) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  const bool is = leati_fusion_is(node, op);
  for (uint32_t i = 0; i < 2 && is; ++i) {
    out[i] = node->inputs[i];
  }
  return is;
}

bool leati_expression_beside(const leati_fusion *f, uint32_t v, leati_known_op op, double expected, uint32_t *out) {
  uint32_t both[2];
  if (!leati_expression_operands(f, v, op, both)) {
    return false;
  }
  const int constant = leati_fusion_is_scalar(f, both[0], expected) ? 0 : 1;
  *out = both[1 - constant];
  return leati_fusion_is_scalar(f, both[constant], expected);
}

bool leati_expression_beside_input(const leati_fusion *f, const leati_node *node, uint32_t *out, float *out_scalar) {
  const int constant = leati_fusion_scalar(f, node->inputs[0], out_scalar) ? 0 : 1;
  *out = node->inputs[1 - constant];
  return leati_fusion_scalar(f, node->inputs[constant], out_scalar);
}

bool leati_expression_beside_scalar(const leati_fusion *f, uint32_t v, leati_known_op op, uint32_t *out,
                                    float *out_scalar) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  return leati_fusion_is(node, op) && leati_expression_beside_input(f, node, out, out_scalar);
}

bool leati_expression_inside(const leati_fusion *f, uint32_t v, leati_known_op op, uint32_t *out) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  const bool is = leati_fusion_is(node, op);
  *out = is ? node->inputs[0] : LEAT_GRAPH_NO_VALUE;
  return is;
}
