/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fuse_integer.h"

#include <string.h>

#include "core/status.h"
#include "graph/expression.h"
#include "ops/product/integer_product.h"

/* Inputs of QuantizedConv and QuantizedMatMul. */
enum { A, B, A_SCALE, B_SCALE, A_ZERO, B_ZERO, BIAS, Y_SCALE, Y_ZERO, INPUTS };

/* Such a node, as it will be written. */
typedef struct product {
  leati_known_op op;
  uint32_t inputs[INPUTS]; /* values; LEAT_GRAPH_NO_VALUE: absent */
  leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
  uint32_t attribute_count;
} product;

static int32_t write_product(leati_fusion *f, uint32_t n, const product *p, bool *out_done, leat_error *err) {
  const leati_fusion_node with = {.op = p->op,
                                  .since_version = 1,
                                  .input_count = INPUTS,
                                  .inputs = p->inputs,
                                  .attribute_count = p->attribute_count,
                                  .attributes = p->attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* One of no inputs, with the attributes of a node. */
static product begin_product(bool conv, const leati_node *node) {
  product p = {.op = conv ? LEATI_IS_QUANTIZED_CONV : LEATI_IS_QUANTIZED_MATMUL};
  for (uint32_t i = 0; i < INPUTS; ++i) {
    p.inputs[i] = LEAT_GRAPH_NO_VALUE;
  }
  for (uint32_t i = 0; i < node->attributes.count && i < LEATI_FUSION_ATTRIBUTES_MAX; ++i) {
    p.attributes[p.attribute_count++] = *node->attributes.list[i];
  }
  return p;
}

/* The product that makes `v` for one input alone, as floats; false: nothing of that kind does. */
static bool read_product(const leati_fusion *f, uint32_t v, product *out) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  const bool conv = leati_fusion_is(node, LEATI_IS_QUANTIZED_CONV);
  if (!conv && !leati_fusion_is(node, LEATI_IS_QUANTIZED_MATMUL)) {
    return false;
  }
  *out = begin_product(conv, node);
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
  return leati_fusion_type(f, v) == LEAT_TYPE_FLOAT32 && leati_fusion_is_single(f, v) && leati_fusion_rank(f, v) <= 1;
}

/* ---- Bytes that become floats first ------------------------------------------------------------------------------ */

/* What of a value decides whether int8 or uint8 are multiplied: as it is inferred, or as far as a graph knows it. */
typedef struct known {
  uint64_t type;
  int32_t ndim; /* -1: not known */
  bool one;     /* of rank 0, or a list of one */
} known;

typedef struct values {
  const leati_fusion *fusion; /* NULL: the graph alone */
  const leat_graph *graph;
} values;

static known known_of(const values *all, uint32_t v) {
  if (all->fusion != NULL) {
    const int32_t rank = leati_fusion_rank(all->fusion, v);
    return (known){.type = leati_fusion_type(all->fusion, v),
                   .ndim = rank,
                   .one = rank == 0 || (rank == 1 && leati_fusion_is_one(all->fusion, v, 0))};
  }
  const leati_value *const value = &all->graph->values[v];
  return (known){
      .type = value->type, .ndim = value->ndim, .one = value->ndim == 0 || (value->ndim == 1 && value->shape[0] == 1)};
}

/* The node that makes a value by DequantizeLinear of int8 or uint8, as float32: with one scale, or one for each index
 * of dimension `axis`, which is -1 where there must be one; NULL: there is none. */
static const leati_node *find_bytes(const values *all, uint32_t v, int32_t axis) {
  const leati_value *const value = &all->graph->values[v];
  const leati_node *const node = all->fusion != NULL                 ? leati_fusion_maker(all->fusion, v)
                                 : value->kind == LEATI_VALUE_RESULT ? &all->graph->nodes[value->source]
                                                                     : NULL;
  if (!leati_fusion_dequantizes(node)) {
    return NULL;
  }
  const known x = known_of(all, node->inputs[0]), scale = known_of(all, node->inputs[1]);
  const int64_t along = leati_attributes_int(&node->attributes, "axis", 1);
  const bool each = axis >= 0 && scale.ndim == 1 && leati_attributes_int(&node->attributes, "block_size", 0) == 0 &&
                    (along < 0 ? along + x.ndim : along) == axis;
  return (x.type & LEATI_TYPES_BYTE) != 0 && scale.type == LEAT_TYPE_FLOAT32 && (scale.one || each) &&
                 known_of(all, v).type == LEAT_TYPE_FLOAT32
             ? node
             : NULL;
}

/* Whether an operator multiplies its first two inputs as one of bytes does as fast as one of floats at least. Gemm has
 * to be a product and a row alone. */
static bool is_multiplied(const values *all, const leati_node *node) {
  const uint32_t c = leati_fusion_input(node, 2);
  if (node->input_count < 2 || node->inputs[0] == LEAT_GRAPH_NO_VALUE || node->inputs[1] == LEAT_GRAPH_NO_VALUE) {
    return false;
  }
  if (leati_fusion_is(node, LEATI_IS_CONV)) {
    return leati_attributes_int(&node->attributes, "group", 1) == 1;
  }
  return leati_fusion_is(node, LEATI_IS_MATMUL) ||
         (leati_fusion_is(node, LEATI_IS_GEMM) && leati_attributes_int(&node->attributes, "transA", 0) == 0 &&
          leati_attributes_float(&node->attributes, "alpha", 1) == 1 &&
          (c == LEAT_GRAPH_NO_VALUE ||
           (leati_attributes_float(&node->attributes, "beta", 1) == 1 && known_of(all, c).ndim == 1)));
}

/* The sums of so many products of two bytes, each less a zero point, are numbers of int32. */
#define TERMS_MAX (INT32_MAX / (255 * 255))

/* How a product takes its second operand. */
enum { OF_COLUMNS, OF_ROWS, OF_CHANNELS };

/* Whether sums over a second operand of such a shape, taken so, are of so few terms; unknown dimensions are -1. */
static bool has_few_terms(int32_t ndim, const int64_t *shape, uint64_t how) {
  int64_t terms = 1;
  for (int32_t d = 0; d < ndim; ++d) {
    const bool summed = how == OF_CHANNELS ? d > 0 : ndim == 1 || d == (how == OF_ROWS ? ndim - 1 : ndim - 2);
    terms = summed && shape[d] > 0 && terms <= TERMS_MAX ? terms * shape[d] : terms;
  }
  return terms <= TERMS_MAX;
}

static bool ask_few_terms(const leat_device *device, uint32_t count, const leati_known_value *const *of, uint64_t how) {
  (void)device;
  (void)count;
  return has_few_terms(of[0]->view.ndim, of[0]->view.shape, how);
}

/* The nodes that make bytes of both operands floats, for an operator that multiplies int8 or uint8 instead; false:
 * there are none. */
static bool find_operands(const values *all, const leati_node *node, const leati_node *out[2]) {
  if (!is_multiplied(all, node)) {
    return false;
  }
  const bool conv = leati_fusion_is(node, LEATI_IS_CONV);
  const known b = known_of(all, node->inputs[1]);
  const bool turned = leati_attributes_int(&node->attributes, "transB", 0) != 0;
  const int32_t axis = conv || turned ? 0 : b.ndim > 1 ? b.ndim - 1 : -1;
  out[0] = find_bytes(all, node->inputs[0], -1);
  out[1] = find_bytes(all, node->inputs[1], axis);
  if (out[0] == NULL || out[1] == NULL) {
    return false;
  }
  const uint64_t how = conv ? OF_CHANNELS : turned ? OF_ROWS : OF_COLUMNS;
  const leati_value *const value = &all->graph->values[node->inputs[1]];
  return all->fusion != NULL ? leati_fusion_ask(all->fusion, ask_few_terms, 1, &node->inputs[1], how)
                             : has_few_terms(value->ndim, value->shape, how);
}

/* Makes a product of floats that both come from bytes one of bytes. */
static int32_t take_operands(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const values all = {.fusion = f, .graph = f->graph};
  const leati_node *const node = &f->nodes[n], *from[2];
  if (!find_operands(&all, node, from)) {
    return LEAT_OK;
  }
  product p = begin_product(leati_fusion_is(node, LEATI_IS_CONV), node);
  if (leati_fusion_is(node, LEATI_IS_GEMM)) {
    p.attributes[0] = leati_fusion_int("transB", leati_attributes_int(&node->attributes, "transB", 0));
    p.attribute_count = 1;
  }
  for (uint32_t side = 0; side < 2; ++side) {
    p.inputs[A + side] = from[side]->inputs[0];
    p.inputs[A_SCALE + side] = from[side]->inputs[1];
    p.inputs[A_ZERO + side] = leati_fusion_input(from[side], 2);
  }
  p.inputs[BIAS] = leati_fusion_input(node, 2);
  return write_product(f, n, &p, out_done, err);
}

bool leati_integer_takes(const leat_graph *graph, uint32_t v) {
  const values all = {.graph = graph};
  bool taken = !graph->values[v].is_output && graph->values[v].kind == LEATI_VALUE_RESULT &&
               leati_fusion_dequantizes(&graph->nodes[graph->values[v].source]);
  for (uint32_t n = taken ? graph->values[v].source : 0; n < graph->node_count && taken; ++n) {
    const leati_node *const node = &graph->nodes[n], *from[2];
    for (uint32_t i = 0; i < node->input_count && taken; ++i) {
      taken = node->inputs[i] != v || (i < 2 && find_operands(&all, node, from));
    }
  }
  return taken;
}

/* ---- Sums that become floats ------------------------------------------------------------------------------------- */

/* Reads `sums`, which a product gives, and `scale` as a product of two; false: they are something else. */
static bool read_scaled(const leati_fusion *f, uint32_t sums, uint32_t scale, product *out) {
  uint32_t made;
  if (!leati_expression_inside(f, sums, LEATI_IS_CAST, &made)) {
    return false;
  }
  const leati_node *const node = leati_fusion_private_maker(f, made), *const scales = leati_fusion_maker(f, scale);
  const bool conv = leati_fusion_is(node, LEATI_IS_CONV_INTEGER);
  if ((!conv && !leati_fusion_is(node, LEATI_IS_MATMUL_INTEGER)) || !leati_fusion_is(scales, LEATI_IS_MUL) ||
      leati_fusion_type(f, sums) != LEAT_TYPE_FLOAT32) {
    return false;
  }
  /* The scale of the first operand is one for all. Which of two such is whose makes no difference. */
  const int first = is_one(f, scales->inputs[0]) ? 0 : 1;
  const uint32_t b = scales->inputs[1 - first];
  *out = begin_product(conv, node);
  out->inputs[A] = node->inputs[0];
  out->inputs[A_SCALE] = scales->inputs[first];
  out->inputs[A_ZERO] = leati_fusion_input(node, 2);
  out->inputs[B] = node->inputs[1];
  out->inputs[B_SCALE] = scales->inputs[1 - first];
  out->inputs[B_ZERO] = leati_fusion_input(node, 3);
  /* Of a convolution a row of scales is for the last dimension of images, and not for their channels. */
  return is_one(f, out->inputs[A_SCALE]) && leati_fusion_type(f, b) == LEAT_TYPE_FLOAT32 &&
         (conv ? leati_fusion_is_single(f, b) || leati_fusion_rank(f, b) > 1 : leati_fusion_rank(f, b) <= 1);
}

static int32_t take_scales(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], LEATI_IS_MUL); ++side) {
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
  for (uint32_t side = 0; side < 2 && !*out_done && leati_fusion_is(&f->nodes[n], LEATI_IS_ADD); ++side) {
    const uint32_t from = f->nodes[n].inputs[side], bias = f->nodes[n].inputs[1 - side];
    product p;
    /* A list is for the last dimension: of matrices that of columns, of images none that is known here. */
    const bool conv = leati_fusion_is(leati_fusion_maker(f, from), LEATI_IS_QUANTIZED_CONV);
    if (from != bias && (leati_fusion_rank(f, bias) == 1) != conv && (conv || leati_fusion_is_row(f, bias, from)) &&
        read_product(f, from, &p) && p.inputs[BIAS] == LEAT_GRAPH_NO_VALUE && !has_activation(&p)) {
      p.inputs[BIAS] = bias; /* which the operator refuses where it is something else */
      LEATI_TRY(write_product(f, n, &p, out_done, err));
    }
  }
  return LEAT_OK;
}

static int32_t take_relu(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  product p;
  if (!leati_fusion_is(&f->nodes[n], LEATI_IS_RELU) || !read_product(f, f->nodes[n].inputs[0], &p) ||
      has_activation(&p) || p.attribute_count == LEATI_FUSION_ATTRIBUTES_MAX) {
    return LEAT_OK;
  }
  p.attributes[p.attribute_count++] = leati_fusion_string("activation", leati_known_op_name(LEATI_IS_RELU));
  return write_product(f, n, &p, out_done, err);
}

static int32_t take_result(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  product p;
  /* Of another precision than float32, or to another type than bytes, the operator's result is another one. */
  if (!leati_fusion_quantizes(node) || !is_one(f, node->inputs[1]) ||
      leati_attributes_int(&node->attributes, "precision", 0) > 1 || !read_product(f, node->inputs[0], &p)) {
    return LEAT_OK;
  }
  p.inputs[Y_SCALE] = node->inputs[1];
  p.inputs[Y_ZERO] = leati_fusion_input(node, 2);
  return write_product(f, n, &p, out_done, err);
}

/* Products of matrices and convolutions of int8 or uint8, and what is done with their sums, as one of the operators
 * QuantizedMatMul and QuantizedConv:
 *   MatMul, Gemm or Conv of two operands that DequantizeLinear makes of int8 or uint8, as static quantisation writes
 * them; MatMulInteger or ConvInteger, Cast, times the product of two scales, as dynamic quantisation does; and behind
 * either a bias, Relu, and QuantizeLinear to bytes. Sums are exact; each other step rounds as its operator does. */
int32_t leati_fuse_integer(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  static leati_fusion_rule *const parts[] = {take_operands, take_scales, take_bias, take_relu, take_result};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !*out_done; ++i) {
    LEATI_TRY(parts[i](f, n, out_done, err));
  }
  return LEAT_OK;
}
