/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fuse_integer.h"

#include <string.h>

#include "core/status.h"
#include "graph/expression.h"
#include "ops/integer_product.h"

/* Inputs of QuantizedConv and QuantizedMatMul. */
enum { A, B, A_SCALE, B_SCALE, A_ZERO, B_ZERO, BIAS, Y_SCALE, Y_ZERO, INPUTS };

/* Such a node, as it will be written. */
typedef struct product {
  const char *op;
  uint32_t inputs[INPUTS]; /* values; LEAT_GRAPH_NO_VALUE: absent */
  leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
  uint32_t attribute_count;
} product;

static int32_t write_product(leati_fusion *f, uint32_t n, const product *p, bool *out_done, leat_error *err) {
  const leati_fusion_node with = {.domain = "leat",
                                  .op = p->op,
                                  .since_version = 1,
                                  .input_count = INPUTS,
                                  .inputs = p->inputs,
                                  .attribute_count = p->attribute_count,
                                  .attributes = p->attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* One of no inputs, with the attributes of a node. */
static product begin_product(const char *op, const leati_node *node) {
  product p = {.op = op};
  for (uint32_t i = 0; i < INPUTS; ++i) {
    p.inputs[i] = LEAT_GRAPH_NO_VALUE;
  }
  for (uint32_t i = 0; i < node->attributes.count && i < LEATI_FUSION_ATTRIBUTES_MAX; ++i) {
    p.attributes[p.attribute_count++] = *node->attributes.list[i];
  }
  return p;
}

/* The product that makes `v` for one input alone, as floats and without an activation; false: nothing of that kind
 * does. */
static bool read_product(const leati_fusion *f, uint32_t v, product *out) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  const bool conv = leati_fusion_is(node, "leat", "QuantizedConv");
  if (!conv && !leati_fusion_is(node, "leat", "QuantizedMatMul")) {
    return false;
  }
  *out = begin_product(conv ? "QuantizedConv" : "QuantizedMatMul", node);
  for (uint32_t i = 0; i < INPUTS; ++i) {
    out->inputs[i] = leati_fusion_input(node, i);
  }
  return out->inputs[Y_SCALE] == LEAT_GRAPH_NO_VALUE;
}

static bool has_activation(const product *p) {
  bool found = false;
  for (uint32_t i = 0; i < p->attribute_count; ++i) {
    found = found || strcmp(p->attributes[i].name, "activation") == 0;
  }
  return found;
}

/* Whether a value is one float32, for all elements. */
static bool is_one(const leati_fusion *f, uint32_t v) {
  const leati_view *const view = leati_fusion_view(f, v);
  return view->type == LEAT_TYPE_FLOAT32 && view->count == 1 && view->ndim <= 1;
}

/* ---- Bytes that become floats first ------------------------------------------------------------------------------ */

/* The bytes, scale and zero point of which DequantizeLinear makes a value: with one scale, or one for each index of
 * dimension `axis`, which is -1 where there must be one. */
static bool read_bytes(const leati_fusion *f, uint32_t v, int32_t axis, uint32_t *out, uint32_t *out_scale,
                       uint32_t *out_zero) {
  const leati_node *const node = leati_fusion_maker(f, v);
  if (!leati_fusion_is(node, "", "DequantizeLinear")) {
    return false;
  }
  const leati_view *const x = leati_fusion_view(f, node->inputs[0]), *const scale =
                                                                         leati_fusion_view(f, node->inputs[1]);
  const int64_t along = leati_attributes_int(&node->attributes, "axis", 1);
  *out = node->inputs[0];
  *out_scale = node->inputs[1];
  *out_zero = leati_fusion_input(node, 2);
  return (x->type & LEATI_TYPES_BYTE) != 0 && leati_fusion_view(f, v)->type == LEAT_TYPE_FLOAT32 &&
         (is_one(f, *out_scale) || (axis >= 0 && scale->type == LEAT_TYPE_FLOAT32 && scale->ndim == 1 &&
                                    leati_attributes_int(&node->attributes, "block_size", 0) == 0 &&
                                    (along < 0 ? along + x->ndim : along) == axis));
}

/* Whether Gemm is a product and a row alone. */
static bool is_plain_gemm(const leati_fusion *f, const leati_node *node) {
  const uint32_t c = leati_fusion_input(node, 2);
  return leati_attributes_int(&node->attributes, "transA", 0) == 0 &&
         leati_attributes_float(&node->attributes, "alpha", 1) == 1 &&
         (c == LEAT_GRAPH_NO_VALUE ||
          (leati_attributes_float(&node->attributes, "beta", 1) == 1 && leati_fusion_is_row(f, c, node->outputs[0])));
}

/* Whether an operator multiplies its first two inputs as one of bytes does as fast as one of floats at least. */
static bool is_multiplied(const leati_node *node) {
  return node->input_count >= 2 &&
         (leati_fusion_is(node, "", "MatMul") || leati_fusion_is(node, "", "Gemm") ||
          (leati_fusion_is(node, "", "Conv") && leati_attributes_int(&node->attributes, "group", 1) == 1));
}

/* The operator that multiplies bytes where `node` multiplies floats, and along which dimension of its second operand
 * there may be scales; NULL: there is none. */
static const char *operator_of(const leati_fusion *f, const leati_node *node, int32_t *out_axis) {
  if (!is_multiplied(node)) {
    return NULL;
  }
  if (leati_fusion_is(node, "", "Conv")) {
    *out_axis = 0;
    return "QuantizedConv";
  }
  if (leati_fusion_is(node, "", "MatMul")) {
    const int32_t rank = leati_fusion_view(f, node->inputs[1])->ndim;
    *out_axis = rank > 1 ? rank - 1 : -1;
    return "QuantizedMatMul";
  }
  *out_axis = leati_attributes_int(&node->attributes, "transB", 0) != 0 ? 0 : 1;
  return is_plain_gemm(f, node) ? "QuantizedMatMul" : NULL;
}

/* Makes a product of floats that both come from bytes one of bytes. */
static int32_t take_operands(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  int32_t axis;
  const char *const op = operator_of(f, node, &axis);
  if (op == NULL) {
    return LEAT_OK;
  }
  product p = begin_product(op, node);
  if (leati_fusion_is(node, "", "Gemm")) {
    p.attributes[0] = leati_fusion_int("transB", axis == 0);
    p.attribute_count = 1;
  }
  p.inputs[BIAS] = leati_fusion_input(node, 2);
  return read_bytes(f, node->inputs[0], -1, &p.inputs[A], &p.inputs[A_SCALE], &p.inputs[A_ZERO]) &&
                 read_bytes(f, node->inputs[1], axis, &p.inputs[B], &p.inputs[B_SCALE], &p.inputs[B_ZERO])
             ? write_product(f, n, &p, out_done, err)
             : LEAT_OK;
}

/* ---- Sums that become floats ------------------------------------------------------------------------------------- */

/* Reads `sums`, which a product gives, and `scale` as a product of two; false: they are something else. */
static bool read_scaled(const leati_fusion *f, uint32_t sums, uint32_t scale, product *out) {
  uint32_t made;
  if (!leati_expression_inside(f, sums, "Cast", &made)) {
    return false;
  }
  const leati_node *const node = leati_fusion_private_maker(f, made), *const scales = leati_fusion_maker(f, scale);
  const bool conv = leati_fusion_is(node, "", "ConvInteger");
  if ((!conv && !leati_fusion_is(node, "", "MatMulInteger")) || !leati_fusion_is(scales, "", "Mul") ||
      leati_fusion_view(f, sums)->type != LEAT_TYPE_FLOAT32) {
    return false;
  }
  /* The scale of the first operand is one for all. Which of two such is whose makes no difference. */
  const int first = is_one(f, scales->inputs[0]) ? 0 : 1;
  const leati_view *const b = leati_fusion_view(f, scales->inputs[1 - first]);
  *out = begin_product(conv ? "QuantizedConv" : "QuantizedMatMul", node);
  out->inputs[A] = node->inputs[0];
  out->inputs[A_SCALE] = scales->inputs[first];
  out->inputs[A_ZERO] = leati_fusion_input(node, 2);
  out->inputs[B] = node->inputs[1];
  out->inputs[B_SCALE] = scales->inputs[1 - first];
  out->inputs[B_ZERO] = leati_fusion_input(node, 3);
  /* Of a convolution a row of scales is for the last dimension of images, and not for their channels. */
  return is_one(f, out->inputs[A_SCALE]) && b->type == LEAT_TYPE_FLOAT32 &&
         (conv ? b->count == 1 || b->ndim > 1 : b->ndim <= 1);
}

static int32_t take_scales(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], "", "Mul"); ++side) {
    const uint32_t sums = f->nodes[n].inputs[side], scale = f->nodes[n].inputs[1 - side];
    product p;
    if (read_scaled(f, sums, scale, &p)) {
      LEATI_TRY(write_product(f, n, &p, out_done, err));
    }
  }
  return LEAT_OK;
}

/* ---- What is done with floats ------------------------------------------------------------------------------------ */

static int32_t take_bias(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], "", "Add"); ++side) {
    const uint32_t from = f->nodes[n].inputs[side], bias = f->nodes[n].inputs[1 - side];
    product p;
    /* A list is for the last dimension: of matrices that of columns, of images none that is known here. */
    const bool conv = leati_fusion_is(leati_fusion_maker(f, from), "leat", "QuantizedConv");
    if (from != bias && (leati_fusion_view(f, bias)->ndim == 1) != conv && read_product(f, from, &p) &&
        p.inputs[BIAS] == LEAT_GRAPH_NO_VALUE && !has_activation(&p)) {
      p.inputs[BIAS] = bias; /* which the operator refuses where it is something else */
      LEATI_TRY(write_product(f, n, &p, out_done, err));
    }
  }
  return LEAT_OK;
}

static int32_t take_relu(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  product p;
  if (!leati_fusion_is(&f->nodes[n], "", "Relu") || !read_product(f, f->nodes[n].inputs[0], &p) || has_activation(&p) ||
      p.attribute_count == LEATI_FUSION_ATTRIBUTES_MAX) {
    return LEAT_OK;
  }
  p.attributes[p.attribute_count++] = leati_fusion_string("activation", "Relu");
  return write_product(f, n, &p, out_done, err);
}

static int32_t take_result(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  product p;
  /* Of another precision than float32, or to another type than bytes, the operator's result is another one. */
  if (!leati_fusion_is(node, "", "QuantizeLinear") || !is_one(f, node->inputs[1]) ||
      leati_attributes_int(&node->attributes, "precision", 0) > 1 || !read_product(f, node->inputs[0], &p)) {
    return LEAT_OK;
  }
  p.inputs[Y_SCALE] = node->inputs[1];
  p.inputs[Y_ZERO] = leati_fusion_input(node, 2);
  return write_product(f, n, &p, out_done, err);
}

int32_t leati_fuse_integer(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  static leati_fusion_rule *const parts[] = {take_operands, take_scales, take_bias, take_relu, take_result};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !*out_done; ++i) {
    LEATI_TRY(parts[i](f, n, out_done, err));
  }
  return LEAT_OK;
}

/* ---- Folding ----------------------------------------------------------------------------------------------------- */

/* Whether DequantizeLinear makes a value, with one scale if that is asked for. */
static bool is_dequantized(const leat_graph *graph, uint32_t v, bool one_scale) {
  const leati_value *const value = &graph->values[v];
  const leati_node *const node = value->kind == LEATI_VALUE_RESULT ? &graph->nodes[value->source] : NULL;
  if (!leati_fusion_is(node, "", "DequantizeLinear")) {
    return false;
  }
  const leati_value *const scale = &graph->values[node->inputs[1]];
  return !one_scale || scale->ndim == 0 || (scale->ndim == 1 && scale->shape[0] == 1);
}

bool leati_integer_takes(const leat_graph *graph, uint32_t v) {
  bool taken = is_dequantized(graph, v, false) && !graph->values[v].is_output;
  for (uint32_t n = graph->values[v].source; n < graph->node_count && taken; ++n) {
    const leati_node *const node = &graph->nodes[n];
    for (uint32_t i = 0; i < node->input_count && taken; ++i) {
      taken = node->inputs[i] != v || (i < 2 && is_multiplied(node) && is_dequantized(graph, node->inputs[0], true) &&
                                       is_dequantized(graph, node->inputs[1], false));
    }
  }
  return taken;
}
