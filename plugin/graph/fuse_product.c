/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fuse_product.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "graph/fuse_norm.h"
#include "ops/function.h"
#include "ops/matmul.h"
#include "ops/multi_matmul.h"
#include "ops/op_state.h"

/* Attributes of a node that stay, at most; five are written beside them. */
#define KEPT_MAX (LEATI_FUSION_ATTRIBUTES_MAX - 5)

/* Inputs of FusedMatMul and FusedConv. */
#define INPUTS 5

/* A product or convolution as FusedMatMul or FusedConv has it: inputs A, B, bias, residual; of the latter a gate, of
 * the former a factor. */
typedef struct product {
  bool conv;
  uint32_t inputs[INPUTS]; /* LEAT_GRAPH_NO_VALUE: absent */
  leat_attribute kept[KEPT_MAX];
  uint32_t kept_count;
  float alpha; /* of a matrix product */
  bool residual_first;
  char activation[32]; /* empty: none */
  float parameters[2];
  uint32_t parameter_count;
  uint32_t shape_rank; /* of a matrix product whose result looks as the residual does; 0: as the product does */
} product;

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Attributes that are written anew, or that say nothing of a FusedMatMul. */
static bool is_rewritten(const char *name) {
  static const char *const names[] = {"alpha",          "beta",        "activation",  "activation_params",
                                      "residual_first", "transBatchA", "transBatchB", "shape"};
  bool found = false;
  for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && !found; ++i) {
    found = strcmp(name, names[i]) == 0;
  }
  return found;
}

/* Gemm's third input is a bias if it is a row, else a residual. */
static bool read_gemm(const leati_fusion *f, const leati_node *node, product *out) {
  const uint32_t c = leati_fusion_input(node, 2);
  if (c != LEAT_GRAPH_NO_VALUE && leati_attributes_float(&node->attributes, "beta", 1.0f) != 1.0f) {
    return false;
  }
  const bool row =
      c != LEAT_GRAPH_NO_VALUE && leati_fusion_rank(f, c) == 1 && leati_fusion_same_size(f, c, 0, node->outputs[0], 1);
  out->inputs[row ? 2 : 3] = c;
  return true;
}

static void read_activation(const leati_node *node, product *out) {
  const leat_attribute *const name = leati_attributes_find(&node->attributes, "activation");
  const leat_attribute *const list = leati_attributes_find(&node->attributes, "activation_params");
  if (name != NULL && name->count < sizeof(out->activation)) {
    memcpy(out->activation, name->string, (size_t)name->count);
  }
  out->parameter_count = list != NULL ? (uint32_t)list->count : 0;
  memcpy(out->parameters, list != NULL ? list->floats : out->parameters, out->parameter_count * sizeof(float));
}

/* Reads a node as a product; false: it is none, or NULL. */
static bool read_product(const leati_fusion *f, const leati_node *node, product *out) {
  const bool gemm = leati_fusion_is(node, LEATI_IS_GEMM), fused_conv = leati_fusion_is(node, LEATI_IS_FUSED_CONV);
  const bool fused = fused_conv || leati_fusion_is(node, LEATI_IS_FUSED_MATMUL);
  const bool conv = fused_conv || leati_fusion_is(node, LEATI_IS_CONV);
  if (!gemm && !fused && !conv && !leati_fusion_is(node, LEATI_IS_MATMUL) &&
      !leati_fusion_is(node, LEATI_IS_ORT_FUSED_MATMUL)) {
    return false;
  }
  *out = (product){.conv = conv, .inputs = {0, 0, LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE}};
  const uint32_t count = gemm ? 2 : node->input_count;
  for (uint32_t i = 0; i < count && i < INPUTS; ++i) {
    out->inputs[i] = node->inputs[i];
  }
  if (gemm && !read_gemm(f, node, out)) {
    return false;
  }
  for (uint32_t i = 0; i < node->attributes.count; ++i) {
    if (!is_rewritten(node->attributes.list[i]->name) && out->kept_count < KEPT_MAX) {
      out->kept[out->kept_count++] = *node->attributes.list[i];
    }
  }
  out->alpha = leati_attributes_float(&node->attributes, "alpha", 1.0f);
  out->residual_first = leati_attributes_int(&node->attributes, "residual_first", 1) != 0;
  if (fused) {
    read_activation(node, out);
    const leat_attribute *const shape = leati_attributes_find(&node->attributes, "shape");
    out->shape_rank = shape != NULL ? (uint32_t)shape->count : 0;
  }
  return true;
}

/* Reads the node that makes value `v` for one input alone. */
static bool read_maker(const leati_fusion *f, uint32_t v, product *out) {
  return read_product(f, leati_fusion_private_maker(f, v), out);
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

/* The node of a product, whose attributes get a place. */
static leati_fusion_node node_of(const product *p, leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX]) {
  uint32_t count = p->kept_count;
  memcpy(attributes, p->kept, count * sizeof(attributes[0]));
  if (!p->conv) {
    attributes[count++] = leati_fusion_float("alpha", p->alpha);
  }
  attributes[count++] = leati_fusion_string("activation", p->activation);
  attributes[count++] = leati_fusion_floats("activation_params", p->parameters, p->parameter_count);
  attributes[count++] = leati_fusion_int("residual_first", p->residual_first);
  if (p->shape_rank != 0) {
    static const int64_t as_residual[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
    attributes[count++] = leati_fusion_ints("shape", as_residual, p->shape_rank);
  }
  return (leati_fusion_node){.domain = "leat",
                             .op = p->conv ? "FusedConv" : "FusedMatMul",
                             .since_version = 1,
                             .input_count = INPUTS,
                             .inputs = p->inputs,
                             .attribute_count = count,
                             .attributes = attributes};
}

/* Puts a product in the place of node `n`, which gives what it gives. */
static int32_t write_product(leati_fusion *f, uint32_t n, const product *p, bool *out_done, leat_error *err) {
  leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
  const leati_fusion_node with = node_of(p, attributes);
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

/* Whether a value has the shape of `x` times a matrix, or list, by its rank, of which `y` is a product. */
static bool has_rows_of(const leati_fusion *f, uint32_t v, uint32_t x, uint32_t y, int32_t matrix_rank) {
  const int32_t rank = leati_fusion_rank(f, x), columns = matrix_rank == 2 ? 1 : 0;
  bool has = rank != 0 && leati_fusion_rank(f, v) == rank - 1 + columns;
  for (int32_t d = 0; d < rank - 1 && has; ++d) {
    has = leati_fusion_same_size(f, v, d, x, d);
  }
  return has && (columns == 0 || leati_fusion_same_size(f, v, rank - 1, y, leati_fusion_rank(f, y) - 1));
}

/* ONNX Runtime writes MatMul and Add so. If the product of what was not reshaped with one matrix has the shape of the
 * result, the rows are the same ones. */
int32_t leati_fuse_flatten(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  product p;
  if (!leati_fusion_is(node, LEATI_IS_RESHAPE) || !read_maker(f, node->inputs[0], &p) || p.conv ||
      p.inputs[3] != LEAT_GRAPH_NO_VALUE) {
    return LEAT_OK;
  }
  const leati_node *const before = leati_fusion_maker(f, p.inputs[0]);
  if (!leati_fusion_is(before, LEATI_IS_RESHAPE) || p.shape_rank != 0 || leati_fusion_rank(f, p.inputs[1]) > 2 ||
      leati_attributes_int(&leati_fusion_maker(f, node->inputs[0])->attributes, "transA", 0) != 0) {
    return LEAT_OK;
  }
  p.inputs[0] = before->inputs[0];
  return has_rows_of(f, node->outputs[0], p.inputs[0], node->inputs[0], leati_fusion_rank(f, p.inputs[1]))
             ? write_product(f, n, &p, out_done, err)
             : LEAT_OK;
}

/* Calls `take` for each of the two inputs of a node that a product makes, with the other input, until one is taken. */
static int32_t take_sides(leati_fusion *f, uint32_t n, leati_known_op op, bool both,
                          bool (*take)(const leati_fusion *f, product *p, uint32_t from, uint32_t other),
                          bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  const uint32_t inputs[2] = {leati_fusion_input(node, 0), leati_fusion_input(node, 1)};
  for (int side = 0; side < (both ? 2 : 1) && !*out_done && leati_fusion_is(&f->nodes[n], op); ++side) {
    product p;
    if (inputs[0] != inputs[1] && read_maker(f, inputs[side], &p) && take(f, &p, inputs[side], inputs[1 - side])) {
      LEATI_TRY(write_product(f, n, &p, out_done, err));
    }
  }
  return LEAT_OK;
}

static bool is_plain(const product *p) {
  return p->inputs[2] == LEAT_GRAPH_NO_VALUE && p->inputs[3] == LEAT_GRAPH_NO_VALUE && p->activation[0] == '\0';
}

static bool take_bias(const leati_fusion *f, product *p, uint32_t from, uint32_t other) {
  const bool plain = is_plain(p);
  p->inputs[2] = other;
  return !p->conv && plain && leati_fusion_rank(f, from) > 1 && leati_fusion_is_row(f, other, from);
}

int32_t leati_fuse_bias(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  return take_sides(f, n, LEATI_IS_ADD, true, take_bias, out_done, err);
}

static bool take_alpha(const leati_fusion *f, product *p, uint32_t from, uint32_t other) {
  (void)from;
  return !p->conv && is_plain(p) && p->alpha == 1.0f && leati_fusion_scalar(f, other, &p->alpha);
}

/* A division by a power of two is a multiplication. */
static bool take_divisor(const leati_fusion *f, product *p, uint32_t from, uint32_t other) {
  float divisor;
  int exponent;
  (void)from;
  if (p->conv || !is_plain(p) || p->alpha != 1.0f || !leati_fusion_scalar(f, other, &divisor) ||
      fabsf(frexpf(divisor, &exponent)) != 0.5f || fabsf(1.0f / divisor) < FLT_MIN || fabsf(divisor) < FLT_MIN) {
    return false;
  }
  p->alpha = 1.0f / divisor;
  return true;
}

int32_t leati_fuse_scale(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  LEATI_TRY(take_sides(f, n, LEATI_IS_MUL, true, take_alpha, out_done, err));
  return *out_done ? LEAT_OK : take_sides(f, n, LEATI_IS_DIV, false, take_divisor, out_done, err);
}

static bool take_residual(const leati_fusion *f, product *p, uint32_t from, uint32_t other) {
  if (p->inputs[3] != LEAT_GRAPH_NO_VALUE || !leati_fusion_same_shape(f, from, other)) {
    return false;
  }
  p->inputs[3] = other;
  p->residual_first = p->activation[0] == '\0';
  return true;
}

/* Whether a node leaves the elements of its first input in their order. */
static bool keeps_order(const leati_fusion *f, const leati_node *node) {
  if (leati_fusion_is(node, LEATI_IS_RESHAPE) || leati_fusion_is(node, LEATI_IS_SQUEEZE) ||
      leati_fusion_is(node, LEATI_IS_UNSQUEEZE) || leati_fusion_is(node, LEATI_IS_FLATTEN)) {
    return true;
  }
  if (!leati_fusion_is(node, LEATI_IS_TRANSPOSE)) {
    return false;
  }
  const int32_t rank = leati_fusion_rank(f, node->inputs[0]);
  int64_t order[LEAT_MAX_RANK], before = -1;
  leati_attributes_order(&node->attributes, rank, order);
  bool rising = true;
  for (int32_t d = 0; d < rank && rising; ++d) {
    const int64_t axis = order[d];
    if (!leati_fusion_is_one(f, node->inputs[0], (int32_t)axis)) {
      rising = axis > before;
      before = axis;
    }
  }
  return rising;
}

/* The value whose elements `v` has in their order, behind nodes that only reshape and that nobody else needs. */
static uint32_t before_reshaping(const leati_fusion *f, uint32_t v) {
  const leati_node *maker = leati_fusion_private_maker(f, v);
  while (maker != NULL && keeps_order(f, maker)) {
    v = maker->inputs[0];
    maker = leati_fusion_private_maker(f, v);
  }
  return v;
}

/* Adds to a product of matrices what is added behind reshapes. */
static int32_t take_residual_of_shape(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  for (uint32_t side = 0; side < 2 && leati_fusion_is(&f->nodes[n], LEATI_IS_ADD) && !*out_done; ++side) {
    const uint32_t from = node->inputs[side], other = node->inputs[1 - side], made = before_reshaping(f, from);
    product p;
    if (made != from && from != other && read_maker(f, made, &p) && !p.conv &&
        leati_fusion_same_shape(f, from, other) && p.inputs[3] == LEAT_GRAPH_NO_VALUE) {
      p.inputs[3] = other;
      p.residual_first = p.activation[0] == '\0';
      p.shape_rank = (uint32_t)leati_fusion_rank(f, from);
      LEATI_TRY(write_product(f, n, &p, out_done, err));
    }
  }
  return LEAT_OK;
}

/* Whether a value has so few rows that a product with it may take the norm that makes it. */
static bool ask_few_rows(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                         uint64_t with) {
  (void)count;
  (void)with;
  const leati_view *const x = &values[0]->view;
  const int64_t columns = x->shape[x->ndim - 1];
  return columns != 0 && (int64_t)x->count / columns <= leati_gemm_few(&device->traits, false);
}

/* Whether a node adds up few rows and normalises them, and gives no more than the norm and perhaps the sum. */
static bool adds_few_rows(const leati_fusion *f, const leati_node *node) {
  if (!leati_fusion_is(node, LEATI_IS_SKIP_SIMPLIFIED_LAYER_NORMALIZATION) ||
      leati_fusion_input(node, 3) != LEAT_GRAPH_NO_VALUE) {
    return false;
  }
  bool bare = node->outputs[0] != LEAT_GRAPH_NO_VALUE;
  for (uint32_t o = 1; o < node->output_count && o < 3; ++o) {
    bare = bare && node->outputs[o] == LEAT_GRAPH_NO_VALUE;
  }
  return bare && leati_fusion_ask(f, ask_few_rows, 1, &node->inputs[0], 0);
}

/* Adds to a product the tensor that a norm behind it adds. Where nobody else needs the sum, it takes the product's
 * place. */
static int32_t take_residual_of_norm(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  for (uint32_t side = 0; side < 2 && !*out_done && adds_few_rows(f, &f->nodes[n]); ++side) {
    const uint32_t from = node->inputs[side], other = node->inputs[1 - side], at = f->makers[from];
    product p;
    if (from == other || !read_maker(f, from, &p) || p.conv || !take_residual(f, &p, from, other) ||
        !leati_fusion_is_before(f, other, at)) {
      continue;
    }
    const uint32_t given = node->output_count > 3 ? node->outputs[3] : LEAT_GRAPH_NO_VALUE;
    const uint32_t sum = given != LEAT_GRAPH_NO_VALUE ? given : from;
    leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
    leati_fusion_node first = node_of(&p, attributes);
    first.output_count = 1;
    first.outputs = &sum;
    const leat_attribute epsilon =
        leati_fusion_float("epsilon", leati_attributes_float(&node->attributes, "epsilon", 1e-12f));
    const uint32_t inputs[] = {sum, node->inputs[2]}, normed = node->outputs[0];
    const leati_fusion_node norm = {.domain = "",
                                    .op = "SimplifiedLayerNormalization",
                                    .since_version = 1,
                                    .input_count = 2,
                                    .inputs = inputs,
                                    .attribute_count = 1,
                                    .attributes = &epsilon,
                                    .output_count = 1,
                                    .outputs = &normed};
    LEATI_TRY(leati_fusion_replace_two(f, at, &first, n, &norm, out_done, err));
  }
  return LEAT_OK;
}

int32_t leati_fuse_residual(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  LEATI_TRY(take_sides(f, n, LEATI_IS_ADD, true, take_residual, out_done, err));
  if (!*out_done) {
    LEATI_TRY(take_residual_of_shape(f, n, out_done, err));
  }
  return *out_done ? LEAT_OK : take_residual_of_norm(f, n, out_done, err);
}

/* The bounds of a Clip that are constants, or not there. */
static bool read_clip(const leati_fusion *f, const leati_node *node, float *parameters) {
  const float otherwise[2] = {-FLT_MAX, FLT_MAX};
  bool known = leati_fusion_is(node, LEATI_IS_CLIP);
  for (uint32_t i = 0; i < 2 && known; ++i) {
    const uint32_t v = leati_fusion_input(node, i + 1);
    parameters[i] = otherwise[i];
    known = v == LEAT_GRAPH_NO_VALUE || leati_fusion_scalar(f, v, &parameters[i]);
  }
  return known;
}

/* Takes over the activation that a node is; false: it is none. */
static bool read_function(const leati_fusion *f, const leati_node *node, product *p) {
  leati_function function = {.operation = LEAT_EW_CLIP};
  const leati_function *const given = leati_function_of(node->op);
  if (given != NULL) {
    function = *given;
  } else if (!read_clip(f, node, function.parameters)) {
    return false;
  }
  const char *const name = leati_function_activation(&function, &p->parameter_count);
  if (name == NULL || strlen(name) >= sizeof(p->activation)) {
    return false;
  }
  memcpy(p->activation, name, strlen(name) + 1);
  memcpy(p->parameters, function.parameters, sizeof(p->parameters));
  return true;
}

int32_t leati_fuse_activation(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  product p;
  if (!read_maker(f, leati_fusion_input(node, 0), &p) || p.activation[0] != '\0' || !read_function(f, node, &p)) {
    return LEAT_OK;
  }
  p.residual_first = true;
  return write_product(f, n, &p, out_done, err);
}

/* Whether value `gate` has one element for each channel of each image of `x`. */
static bool is_gate(const leati_fusion *f, uint32_t gate, uint32_t x) {
  const int32_t rank = leati_fusion_rank(f, x);
  bool fits = leati_fusion_rank(f, gate) == rank;
  for (int32_t d = 0; d < rank && fits; ++d) {
    fits = d < 2 ? leati_fusion_same_size(f, gate, d, x, d) : leati_fusion_is_one(f, gate, d);
  }
  return fits;
}

/* With few channels or pixels a convolution is computed in an order that one with a gate does not have. */
static bool ask_tiles(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                      uint64_t with) {
  (void)count;
  (void)with;
  const leati_view *const y = &values[0]->view;
  const int64_t channels = y->ndim > 1 ? y->shape[0] * y->shape[1] : 0;
  return channels != 0 && !leati_gemm_is_skinny(&device->traits, false, y->shape[1], (int64_t)y->count / channels);
}

int32_t leati_fuse_gate(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  product p;
  if (!read_product(f, &f->nodes[n], &p) || !p.conv || p.inputs[4] != LEAT_GRAPH_NO_VALUE ||
      !leati_fusion_ask(f, ask_tiles, 1, &f->nodes[n].outputs[0], 0)) {
    return LEAT_OK;
  }
  const leati_node *const times = leati_fusion_private_maker(f, p.inputs[0]);
  for (uint32_t side = 0; side < 2 && leati_fusion_is(times, LEATI_IS_MUL) && !*out_done; ++side) {
    const uint32_t x = times->inputs[side], gate = times->inputs[1 - side];
    if (leati_fusion_same_shape(f, x, times->outputs[0]) && is_gate(f, gate, x)) {
      p.inputs[0] = x;
      p.inputs[4] = gate;
      return write_product(f, n, &p, out_done, err);
    }
  }
  return LEAT_OK;
}

/* Reads a convolution of one tap of images of one pixel, which is a product with a row for each image. */
static bool read_pointwise(const leati_fusion *f, const leati_node *node, product *out) {
  if (!read_product(f, node, out) || !out->conv || out->inputs[3] != LEAT_GRAPH_NO_VALUE ||
      out->inputs[4] != LEAT_GRAPH_NO_VALUE || leati_attributes_int(&node->attributes, "group", 1) != 1) {
    return false;
  }
  const leat_attribute *const pads = leati_attributes_find(&node->attributes, "pads");
  bool bare = true;
  for (uint64_t i = 0; pads != NULL && i < pads->count && bare; ++i) {
    bare = pads->ints[i] == 0;
  }
  for (int32_t d = 2; d < leati_fusion_rank(f, out->inputs[1]) && bare; ++d) {
    bare = leati_fusion_is_one(f, out->inputs[1], d) && leati_fusion_is_one(f, out->inputs[0], d);
  }
  return bare;
}

/* The images of which a node gives the mean of each channel; LEAT_GRAPH_NO_VALUE: it is another one. What was several
 * elements and is one has been reduced, whatever axes say of those that are one already. */
static uint32_t read_means(const leati_fusion *f, const leati_node *node) {
  if (!leati_fusion_is(node, LEATI_IS_GLOBAL_AVERAGE_POOL) && !leati_fusion_is(node, LEATI_IS_REDUCE_MEAN)) {
    return LEAT_GRAPH_NO_VALUE;
  }
  return is_gate(f, node->outputs[0], node->inputs[0]) ? node->inputs[0] : LEAT_GRAPH_NO_VALUE;
}

int32_t leati_fuse_squeeze(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  product excite, squeeze;
  if (!read_pointwise(f, &f->nodes[n], &excite) ||
      !read_pointwise(f, leati_fusion_private_maker(f, excite.inputs[0]), &squeeze)) {
    return LEAT_OK;
  }
  const leati_node *const mean = leati_fusion_private_maker(f, squeeze.inputs[0]);
  const uint32_t x = mean != NULL ? read_means(f, mean) : LEAT_GRAPH_NO_VALUE;
  if (x == LEAT_GRAPH_NO_VALUE || !leati_squeeze_pays((uint64_t)leati_fusion_size(f, excite.inputs[1], 0),
                                                      (uint64_t)leati_fusion_size(f, excite.inputs[1], 1))) {
    return LEAT_OK;
  }
  const uint32_t inputs[] = {x, squeeze.inputs[1], excite.inputs[1], squeeze.inputs[2], excite.inputs[2]};
  const leat_attribute attributes[] = {
      leati_fusion_string("activation", squeeze.activation),
      leati_fusion_floats("activation_params", squeeze.parameters, squeeze.parameter_count),
      leati_fusion_string("gate_activation", excite.activation),
      leati_fusion_floats("gate_activation_params", excite.parameters, excite.parameter_count),
  };
  const leati_fusion_node with = {.domain = "leat",
                                  .op = "SqueezeExcite",
                                  .since_version = 1,
                                  .input_count = sizeof(inputs) / sizeof(inputs[0]),
                                  .inputs = inputs,
                                  .attribute_count = sizeof(attributes) / sizeof(attributes[0]),
                                  .attributes = attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* ---- Products of one input --------------------------------------------------------------------------------------- */

/* Products that are to be one node. */
typedef struct merger {
  uint32_t count;
  uint32_t nodes[LEATI_PRODUCTS_MAX], results[LEATI_PRODUCTS_MAX];
  product products[LEATI_PRODUCTS_MAX];
  uint32_t activated; /* the one whose activation it is, or 0 if there is none */
} merger;

/* Whether a value is there before any node runs, so that a node which takes it may run earlier. */
static bool is_given(const leati_fusion *f, uint32_t v) {
  return leati_fusion_maker(f, v) == NULL;
}

/* Reads a node as a product of what is multiplied with a matrix that is given, and no more than a bias and an
 * activation. */
static bool read_part(const leati_fusion *f, const leati_node *node, product *out) {
  return read_product(f, node, out) && !out->conv && out->inputs[3] == LEAT_GRAPH_NO_VALUE &&
         out->inputs[4] == LEAT_GRAPH_NO_VALUE && leati_attributes_int(&node->attributes, "transA", 0) == 0 &&
         is_given(f, out->inputs[1]) && is_given(f, out->inputs[2]) && leati_fusion_rank(f, out->inputs[1]) == 2 &&
         !leati_fusion_is_empty(f, node->outputs[0]);
}

static bool is_transposed(const leati_fusion *f, uint32_t n) {
  return leati_attributes_int(&f->nodes[n].attributes, "transB", 0) != 0;
}

static bool same_activation(const product *x, const product *y) {
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
  product *const part = &m->products[m->count];
  if (!f->live[n] || !read_part(f, &f->nodes[n], part)) {
    return;
  }
  m->nodes[m->count] = n;
  m->results[m->count] = f->nodes[n].outputs[0];
  const product *const first = &m->products[0], *const active = &m->products[m->activated];
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
  const product *const active = &m.products[m.activated];
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
  const leati_fusion_node with = {.domain = "leat",
                                  .op = "MultiMatMul",
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
  const leati_fusion_node with = {.domain = "leat",
                                  .op = "MultiMatMul",
                                  .since_version = 1,
                                  .input_count = MULTI_FACTOR + 1,
                                  .inputs = inputs,
                                  .attribute_count = count,
                                  .attributes = attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

int32_t leati_fuse_factor(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  if (leati_fusion_is(&f->nodes[n], LEATI_IS_MULTI_MATMUL)) {
    return factor_products(f, n, out_done, err);
  }
  product p;
  multiplication m;
  if (!read_product(f, &f->nodes[n], &p) || p.conv || p.inputs[4] != LEAT_GRAPH_NO_VALUE || p.kept_count == KEPT_MAX ||
      leati_attributes_int(&f->nodes[n].attributes, "transA", 0) != 0 || !read_multiplication(f, p.inputs[0], &m) ||
      !takes_factor(f, &m, p.inputs[1], f->nodes[n].outputs[0], is_transposed(f, n))) {
    return LEAT_OK;
  }
  p.inputs[0] = m.x;
  p.inputs[4] = m.factor;
  if (m.norm) {
    p.kept[p.kept_count++] = leati_fusion_float("epsilon", m.epsilon);
  }
  return write_product(f, n, &p, out_done, err);
}
