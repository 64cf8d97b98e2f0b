/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about what stands around a matrix product or a convolution: it becomes the end of leat's FusedMatMul and
 * FusedConv, which round as the single operators do, one after the other. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "graph/fusion.h"
#include "graph/product.h"
#include "ops/core/op_state.h"
#include "ops/elementwise/composite.h"
#include "ops/elementwise/function.h"
#include "ops/product/matrix_product.h"

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

/* Reshape to a matrix, product, and the Reshape back: a product of tensors with more dimensions. ONNX Runtime writes
 * MatMul and Add so. If the product of what was not reshaped with one matrix has the shape of the result, the rows are
 * the same ones. */
int32_t leati_fuse_flatten(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  leati_product p;
  if (!leati_fusion_is(node, LEATI_IS_RESHAPE) || !leati_product_read_maker(f, node->inputs[0], &p) || p.conv ||
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
             ? leati_product_write(f, n, &p, out_done, err)
             : LEAT_OK;
}

/* Calls `take` for each of the two inputs of a node that a product makes, with the other input, until one is taken. */
static int32_t take_sides(leati_fusion *f, uint32_t n, leati_known_op op, bool both,
                          bool (*take)(const leati_fusion *f, leati_product *p, uint32_t from, uint32_t other),
                          bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  const uint32_t inputs[2] = {leati_fusion_input(node, 0), leati_fusion_input(node, 1)};
  for (int side = 0; side < (both ? 2 : 1) && !*out_done && leati_fusion_is(&f->nodes[n], op); ++side) {
    leati_product p;
    if (inputs[0] != inputs[1] && leati_product_read_maker(f, inputs[side], &p) &&
        take(f, &p, inputs[side], inputs[1 - side])) {
      LEATI_TRY(leati_product_write(f, n, &p, out_done, err));
    }
  }
  return LEAT_OK;
}

static bool is_plain(const leati_product *p) {
  return p->inputs[2] == LEAT_GRAPH_NO_VALUE && p->inputs[3] == LEAT_GRAPH_NO_VALUE && p->activation[0] == '\0';
}

static bool take_bias(const leati_fusion *f, leati_product *p, uint32_t from, uint32_t other) {
  const bool plain = is_plain(p);
  p->inputs[2] = other;
  return !p->conv && plain && leati_fusion_rank(f, from) > 1 && leati_fusion_is_row(f, other, from);
}

/* Makes a function the activation of a product. */
static bool take_function(const leati_function *function, leati_product *p) {
  const char *const name = leati_function_activation(function, &p->parameter_count);
  if (name == NULL || strlen(name) >= sizeof(p->activation)) {
    return false;
  }
  memcpy(p->activation, name, strlen(name) + 1);
  memcpy(p->parameters, function->parameters, sizeof(p->parameters));
  return true;
}

/* What a program of two steps does with a product: it adds a row, and then takes a function of the sum or adds a
 * tensor. */
static bool take_program(const leati_fusion *f, const leati_program *program, const leati_node *node,
                         leati_product *p) {
  const leati_program_step *const add = &program->steps[0], *const then = &program->steps[1];
  const int32_t sum = (int32_t)program->input_count;
  if (program->step_count != 2 || add->operation != LEAT_EW_ADD || add->operands[0] != 0 || add->operands[1] != 1 ||
      then->operands[0] != sum || !take_bias(f, p, node->inputs[0], node->inputs[1])) {
    return false;
  }
  p->residual_first = true;
  if (then->operation == LEAT_EW_ADD) {
    p->inputs[3] = node->inputs[2];
    return then->operands[1] == 2 && leati_fusion_same_shape(f, node->inputs[0], node->inputs[2]);
  }
  const leati_function function = {.operation = then->operation};
  return take_function(&function, p);
}

/* Product + row; also where one operator adds the row and goes on, as BiasGelu does. */
int32_t leati_fuse_bias(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  const leati_program *const program = leati_program_of(node->op);
  leati_product p;
  if (program == NULL || program->input_count < 2) {
    return take_sides(f, n, LEATI_IS_ADD, true, take_bias, out_done, err);
  }
  return leati_product_read_maker(f, node->inputs[0], &p) && take_program(f, program, node, &p)
             ? leati_product_write(f, n, &p, out_done, err)
             : LEAT_OK;
}

static bool take_alpha(const leati_fusion *f, leati_product *p, uint32_t from, uint32_t other) {
  (void)from;
  return !p->conv && is_plain(p) && p->alpha == 1.0f && leati_fusion_scalar(f, other, &p->alpha);
}

/* A division by a power of two is a multiplication. */
static bool take_divisor(const leati_fusion *f, leati_product *p, uint32_t from, uint32_t other) {
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

/* Product times a constant, or divided by a power of two. */
int32_t leati_fuse_scale(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  LEATI_TRY(take_sides(f, n, LEATI_IS_MUL, true, take_alpha, out_done, err));
  return *out_done ? LEAT_OK : take_sides(f, n, LEATI_IS_DIV, false, take_divisor, out_done, err);
}

static bool take_residual(const leati_fusion *f, leati_product *p, uint32_t from, uint32_t other) {
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
    leati_product p;
    if (made != from && from != other && leati_product_read_maker(f, made, &p) && !p.conv &&
        leati_fusion_same_shape(f, from, other) && p.inputs[3] == LEAT_GRAPH_NO_VALUE) {
      p.inputs[3] = other;
      p.residual_first = p.activation[0] == '\0';
      p.shape_rank = (uint32_t)leati_fusion_rank(f, from);
      LEATI_TRY(leati_product_write(f, n, &p, out_done, err));
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
    leati_product p;
    if (from == other || !leati_product_read_maker(f, from, &p) || p.conv || !take_residual(f, &p, from, other) ||
        !leati_fusion_is_before(f, other, at)) {
      continue;
    }
    const uint32_t given = node->output_count > 3 ? node->outputs[3] : LEAT_GRAPH_NO_VALUE;
    const uint32_t sum = given != LEAT_GRAPH_NO_VALUE ? given : from;
    leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
    leati_fusion_node first = leati_product_node(&p, attributes);
    first.output_count = 1;
    first.outputs = &sum;
    const leat_attribute epsilon =
        leati_fusion_float("epsilon", leati_attributes_float(&node->attributes, "epsilon", 1e-12f));
    const uint32_t inputs[] = {sum, node->inputs[2]}, normed = node->outputs[0];
    const leati_fusion_node norm = {.op = LEATI_IS_SIMPLIFIED_LAYER_NORMALIZATION,
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

/* Product or convolution + tensor; also where that is the sum in a SkipSimplifiedLayerNormalization of few rows, of
 * which the norm is left for leati_fuse_factor. */
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
static bool read_function(const leati_fusion *f, const leati_node *node, leati_product *p) {
  leati_function function = {.operation = LEAT_EW_CLIP};
  const leati_function *const given = leati_function_of(node->op);
  const leati_program *const program = leati_program_of(node->op);
  if (given != NULL) {
    function = *given;
  } else if (program != NULL && program->step_count == 1 && program->input_count == 1) {
    function = (leati_function){.operation = program->steps[0].operation};
  } else if (!read_clip(f, node, function.parameters)) {
    return false;
  }
  return take_function(&function, p);
}

/* Function of one number of a product or convolution. */
int32_t leati_fuse_activation(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  leati_product p;
  if (!leati_product_read_maker(f, leati_fusion_input(node, 0), &p) || p.activation[0] != '\0' ||
      !read_function(f, node, &p)) {
    return LEAT_OK;
  }
  p.residual_first = true;
  return leati_product_write(f, n, &p, out_done, err);
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

/* Convolution of one tap of an image times one number for each channel, as squeeze and excitation give it. Node `n` is
 * the convolution. */
int32_t leati_fuse_gate(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  leati_product p;
  if (!leati_product_read(f, &f->nodes[n], &p) || !p.conv || p.inputs[4] != LEAT_GRAPH_NO_VALUE ||
      !leati_fusion_ask(f, ask_tiles, 1, &f->nodes[n].outputs[0], 0)) {
    return LEAT_OK;
  }
  const leati_node *const times = leati_fusion_private_maker(f, p.inputs[0]);
  for (uint32_t side = 0; side < 2 && leati_fusion_is(times, LEATI_IS_MUL) && !*out_done; ++side) {
    const uint32_t x = times->inputs[side], gate = times->inputs[1 - side];
    if (leati_fusion_same_shape(f, x, times->outputs[0]) && is_gate(f, gate, x)) {
      p.inputs[0] = x;
      p.inputs[4] = gate;
      return leati_product_write(f, n, &p, out_done, err);
    }
  }
  return LEAT_OK;
}

/* Reads a convolution of one tap without padding: images of one pixel stay such, and it is a product with a row for
 * each of them. */
static bool read_pointwise(const leati_fusion *f, const leati_node *node, leati_product *out) {
  if (!leati_product_read(f, node, out) || !out->conv || out->inputs[3] != LEAT_GRAPH_NO_VALUE ||
      out->inputs[4] != LEAT_GRAPH_NO_VALUE || leati_attributes_int(&node->attributes, "group", 1) != 1) {
    return false;
  }
  const leat_attribute *const pads = leati_attributes_find(&node->attributes, "pads");
  bool bare = true;
  for (uint64_t i = 0; pads != NULL && i < pads->count && bare; ++i) {
    bare = pads->ints[i] == 0;
  }
  for (int32_t d = 2; d < leati_fusion_rank(f, out->inputs[1]) && bare; ++d) {
    bare = leati_fusion_is_one(f, out->inputs[1], d);
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

/* Means of the channels of images and two convolutions of one tap of them: leat's SqueezeExcite. Node `n` is the second
 * convolution. */
int32_t leati_fuse_squeeze(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  leati_product excite, squeeze;
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
  const leati_fusion_node with = {.op = LEATI_IS_SQUEEZE_EXCITE,
                                  .since_version = 1,
                                  .input_count = sizeof(inputs) / sizeof(inputs[0]),
                                  .inputs = inputs,
                                  .attribute_count = sizeof(attributes) / sizeof(attributes[0]),
                                  .attributes = attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}
