/* SPDX-License-Identifier: BSD-3-Clause */
/* What is rewritten in a graph and what is not: how often each rule did, how many dispatches are left, and that the
 * results are those of the nodes one by one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fusions.h"
#include "graph/program.h"
#include "ops/core/op_state.h"
#include "ops/elementwise/function.h"
#include "unit_network.h"

/* ---- Parts of networks --------------------------------------------------------------------------------------------
 */

static uint32_t scalar(network *n, float value) {
  const uint32_t v = add_constant(n, 0, NULL);
  n->floats[v][0] = value;
  return v;
}

static uint32_t constant(network *n, int32_t ndim, const int64_t *shape) {
  return add_constant(n, ndim, shape);
}

/* x[2, 3, 8] times a matrix of 8 columns. */
static uint32_t product(network *n) {
  return NODE(n, "MatMul", 13, add_input(n, SHAPE(2, 3, 8)), constant(n, SHAPE(8, 8)));
}

static uint32_t convolution(network *n, uint32_t x) {
  return NODE(n, "Conv", 11, x, constant(n, SHAPE(4, 4, 1, 1)), constant(n, SHAPE(4)));
}

static uint32_t image(network *n) {
  return add_input(n, SHAPE(1, 4, 5, 5));
}

static uint32_t with_bias(network *n) {
  return NODE(n, "Add", 14, product(n), constant(n, SHAPE(8)));
}

/* 0.5 x (1 + erf(x / sqrt 2)) in one of the orders that exporters write. */
static uint32_t gelu(network *n, uint32_t x, double half, int order) {
  const uint32_t scaled = order == 0 ? NODE(n, "Div", 14, x, scalar(n, (float)sqrt(2.0)))
                                     : NODE(n, "Mul", 14, scalar(n, (float)sqrt(0.5)), x);
  const uint32_t part = NODE(n, "Add", 14, NODE(n, "Erf", 13, scaled), scalar(n, 1.0f)), h = scalar(n, (float)half);
  return order == 0   ? NODE(n, "Mul", 14, NODE(n, "Mul", 14, x, part), h)
         : order == 1 ? NODE(n, "Mul", 14, NODE(n, "Mul", 14, x, h), part)
                      : NODE(n, "Mul", 14, x, NODE(n, "Mul", 14, part, h));
}

static uint32_t gelu_tanh(network *n, uint32_t x, bool power) {
  const uint32_t cube =
      power ? NODE(n, "Pow", 15, x, scalar(n, 3.0f)) : NODE(n, "Mul", 14, NODE(n, "Mul", 14, x, x), x);
  const uint32_t inner = NODE(n, "Add", 14, x, NODE(n, "Mul", 14, cube, scalar(n, 0.044715f)));
  const uint32_t scaled = NODE(n, "Mul", 14, inner, scalar(n, 0.7978845608f));
  const uint32_t part = NODE(n, "Add", 14, NODE(n, "Tanh", 13, scaled), scalar(n, 1.0f));
  return NODE(n, "Mul", 14, NODE(n, "Mul", 14, x, scalar(n, 0.5f)), part);
}

static const leat_attribute sixth = ATTRIBUTE(FLOAT, .name = "alpha", .f = 1.0f / 6.0f);
static const leat_attribute half = ATTRIBUTE(FLOAT, .name = "beta", .f = 0.5f);
static const leat_attribute *const hard_sigmoid[] = {&sixth, &half};

static uint32_t hard_swish(network *n, uint32_t x, uint32_t attribute_count) {
  const uint32_t gate = NODE(n, "HardSigmoid", 6, x);
  set_attributes(n, hard_sigmoid, attribute_count);
  return NODE(n, "Mul", 14, gate, x);
}

/* Reshape, Gemm, Reshape to `columns` columns. */
static uint32_t flattened(network *n, uint32_t x, int64_t columns, const int64_t *back) {
  const uint32_t flat = NODE(n, "Reshape", 14, x, add_list(n, 2, (const int64_t[]){-1, 8}));
  const uint32_t y = NODE(n, "Gemm", 13, flat, constant(n, SHAPE(8, columns)), constant(n, SHAPE(columns)));
  return NODE(n, "Reshape", 14, y, add_list(n, 3, back));
}

/* ---- Scenes: what is done -------------------------------------------------------------------------------------------
 */

static uint32_t bias(network *n) {
  return with_bias(n);
}
static uint32_t bias_first(network *n) {
  const uint32_t y = product(n);
  return NODE(n, "Add", 14, constant(n, SHAPE(8)), y);
}
static uint32_t bias_relu(network *n) {
  return NODE(n, "Relu", 14, with_bias(n));
}
static uint32_t bias_gelu_residual(network *n) {
  const uint32_t y = gelu(n, with_bias(n), 0.5, 0);
  return NODE(n, "Add", 14, y, add_input(n, SHAPE(2, 3, 8)));
}
static uint32_t residual_then_relu(network *n) {
  return NODE(n, "Relu", 14, NODE(n, "Add", 14, with_bias(n), add_input(n, SHAPE(2, 3, 8))));
}
static uint32_t gemm_clip(network *n) {
  const uint32_t y = NODE(n, "Gemm", 13, add_input(n, SHAPE(3, 8)), constant(n, SHAPE(8, 5)), constant(n, SHAPE(5)));
  return NODE(n, "Clip", 13, y, scalar(n, 0.0f), scalar(n, 6.0f));
}
/* Operator set 10 and earlier. */
static const leat_attribute least_0 = ATTRIBUTE(FLOAT, .name = "min", .f = 0.0f);
static const leat_attribute most_6 = ATTRIBUTE(FLOAT, .name = "max", .f = 6.0f);
static const leat_attribute *const from_0_to_6[] = {&least_0, &most_6};
static uint32_t clip_6(network *n, uint32_t x) {
  const uint32_t y = NODE(n, "Clip", 6, x);
  set_attributes(n, from_0_to_6, 2);
  return y;
}
static uint32_t gemm_clip_6(network *n) {
  const uint32_t y = NODE(n, "Gemm", 9, add_input(n, SHAPE(3, 8)), constant(n, SHAPE(8, 5)), constant(n, SHAPE(5)));
  return clip_6(n, y);
}
static uint32_t conv_clip_6(network *n) {
  return clip_6(n, NODE(n, "Conv", 1, add_input(n, SHAPE(1, 4, 6, 6)), constant(n, SHAPE(4, 4, 3, 3))));
}
static uint32_t chain_of_clip_6(network *n) {
  const uint32_t x = add_input(n, SHAPE(6, 8));
  return NODE(n, "Mul", 7, x, clip_6(n, NODE(n, "Add", 7, x, scalar(n, 3.0f))));
}
static uint32_t gemm_of_a_matrix(network *n) {
  const uint32_t y = NODE(n, "Gemm", 13, add_input(n, SHAPE(3, 8)), constant(n, SHAPE(8, 5)), constant(n, SHAPE(3, 1)));
  return NODE(n, "Tanh", 13, y);
}
static uint32_t two_layers(network *n) {
  const int64_t wide[] = {2, 3, 16}, narrow[] = {2, 3, 8};
  const uint32_t x = add_input(n, SHAPE(2, 3, 8));
  const uint32_t y = NODE(n, "Sigmoid", 13, flattened(n, x, 16, wide));
  const uint32_t flat = NODE(n, "Reshape", 14, y, add_list(n, 2, (const int64_t[]){-1, 16}));
  const uint32_t z = NODE(n, "Gemm", 13, flat, constant(n, SHAPE(16, 8)), constant(n, SHAPE(8)));
  return NODE(n, "Add", 14, NODE(n, "Reshape", 14, z, add_list(n, 3, narrow)), x);
}
/* Gemm as exporters write it behind attention, whose result is reshaped from heads: no value has the rows that the
 * product could take. The result goes through Reshape and a Transpose of ones. */
static uint32_t rows_of_heads(network *n, int64_t rows, const int64_t *back) {
  static const int64_t over[] = {1, 0, 2};
  static const leat_attribute perm = ATTRIBUTE(INTS, .name = "perm", .ints = over, .count = 3);
  static const leat_attribute *const list[] = {&perm};
  const uint32_t flat =
      NODE(n, "Reshape", 14, add_input(n, SHAPE(1, rows, 2, 4)), add_list(n, 2, (const int64_t[]){-1, 8}));
  const uint32_t y = NODE(n, "Gemm", 13, flat, constant(n, SHAPE(8, 8)), constant(n, SHAPE(8)));
  const uint32_t turned = NODE(n, "Transpose", 13, NODE(n, "Reshape", 14, y, add_list(n, 3, back)));
  set_attributes(n, list, 1);
  return turned;
}
static uint32_t residual_behind_reshapes(network *n) {
  const int64_t back[] = {5, 1, 8};
  return NODE(n, "Add", 14, add_input(n, SHAPE(1, 5, 8)), rows_of_heads(n, 5, back));
}
static uint32_t scaled(network *n) {
  return NODE(n, "Mul", 14, product(n), scalar(n, 0.3f));
}
static uint32_t divided(network *n) {
  return NODE(n, "Div", 14, product(n), scalar(n, 8.0f));
}
static uint32_t conv_relu(network *n) {
  return NODE(n, "Relu", 14, convolution(n, image(n)));
}
static uint32_t conv_add_relu(network *n) {
  const uint32_t x = image(n), y = NODE(n, "Relu", 14, convolution(n, x));
  return NODE(n, "Relu", 14, NODE(n, "Add", 14, convolution(n, y), x));
}
static uint32_t conv_hard_swish(network *n) {
  return hard_swish(n, convolution(n, image(n)), 2);
}
static uint32_t conv_silu(network *n) {
  const uint32_t x = convolution(n, image(n));
  return NODE(n, "Mul", 14, x, NODE(n, "Sigmoid", 13, x));
}
/* A value in float16. */
static uint32_t convolution_of_halves(network *n, uint32_t x) {
  return NODE(n, "Conv", 11, x, halved(n, constant(n, SHAPE(4, 4, 1, 1))), halved(n, constant(n, SHAPE(4))));
}
static uint32_t conv_of_halves(network *n) {
  const uint32_t x = halved(n, image(n)), y = convolution_of_halves(n, x);
  const uint32_t z = convolution_of_halves(n, NODE(n, "Mul", 14, y, NODE(n, "Sigmoid", 13, y)));
  return widened(n, NODE(n, "Relu", 14, NODE(n, "Add", 14, z, x)));
}
/* Numbers that are written out are rounded to 16 bits too. */
static uint32_t layer_of_halves(network *n) {
  const uint32_t x = halved(n, add_input(n, SHAPE(2, 3, 8)));
  const uint32_t y = NODE(n, "Add", 14, NODE(n, "MatMul", 13, x, halved(n, constant(n, SHAPE(8, 8)))),
                          halved(n, constant(n, SHAPE(8))));
  const uint32_t erf = NODE(n, "Erf", 13, NODE(n, "Div", 14, y, add_half(n, 0x3da8)));
  const uint32_t part = NODE(n, "Mul", 14, y, NODE(n, "Add", 14, erf, add_half(n, 0x3c00)));
  const uint32_t z =
      NODE(n, "MatMul", 13, NODE(n, "Mul", 14, part, add_half(n, 0x3800)), halved(n, constant(n, SHAPE(8, 8))));
  return widened(n, NODE(n, "Add", 14, x, z));
}
/* The number below 0.5 is another one: it is not what 0.5 is rounded to. */
static uint32_t other_gelu_of_halves(network *n) {
  const uint32_t x = halved(n, add_input(n, SHAPE(8, 8)));
  const uint32_t erf = NODE(n, "Erf", 13, NODE(n, "Div", 14, x, add_half(n, 0x3da8)));
  const uint32_t part = NODE(n, "Mul", 14, x, NODE(n, "Add", 14, erf, add_half(n, 0x3c00)));
  return widened(n, NODE(n, "Mul", 14, part, add_half(n, 0x37ff)));
}
static uint32_t chain_of_halves(network *n) {
  const uint32_t x = halved(n, add_input(n, SHAPE(9, 8)));
  const uint32_t y = NODE(n, "Mul", 14, x, halved(n, constant(n, SHAPE(8))));
  const uint32_t z = NODE(n, "Clip", 13, NODE(n, "Sub", 14, NODE(n, "Tanh", 13, y), add_half(n, 0x3c01)));
  return widened(n, NODE(n, "Mul", 14, z, x));
}
/* Three are added up in float32. */
static uint32_t sum_of_halves(network *n) {
  const uint32_t x = halved(n, add_input(n, SHAPE(9, 8)));
  return widened(n, NODE(n, "Relu", 14, NODE(n, "Sum", 13, x, halved(n, constant(n, SHAPE(9, 8))), x)));
}
/* What stands behind it is of another type. */
static uint32_t product_of_halves_widened(network *n) {
  const uint32_t x = halved(n, add_input(n, SHAPE(17, 8)));
  const uint32_t y = widened(n, NODE(n, "MatMul", 13, x, halved(n, constant(n, SHAPE(8, 9)))));
  return NODE(n, "Add", 14, y, constant(n, SHAPE(9)));
}
static uint32_t quick_gelu(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8));
  return NODE(n, "Mul", 14, NODE(n, "Sigmoid", 13, NODE(n, "Mul", 14, x, scalar(n, 1.702f))), x);
}
static uint32_t gelu_order_0(network *n) {
  return gelu(n, add_input(n, SHAPE(8, 8)), 0.5, 0);
}
static uint32_t gelu_order_1(network *n) {
  return gelu(n, add_input(n, SHAPE(8, 8)), 0.5, 1);
}
static uint32_t gelu_order_2(network *n) {
  return gelu(n, add_input(n, SHAPE(8, 8)), 0.5, 2);
}
static uint32_t gelu_tanh_pow(network *n) {
  return gelu_tanh(n, add_input(n, SHAPE(8, 8)), true);
}
static uint32_t gelu_tanh_mul(network *n) {
  return gelu_tanh(n, with_bias(n), false);
}

/* ---- Scenes: images times a number for each channel ----------------------------------------------------------------
 */

/* One number for each of four channels, as squeeze and excitation give it. */
static uint32_t excited(network *n, uint32_t x) {
  return NODE(n, "Sigmoid", 13, convolution(n, NODE(n, "GlobalAveragePool", 1, x)));
}
static uint32_t projected(network *n, uint32_t x, int64_t channels) {
  return NODE(n, "Conv", 11, x, constant(n, SHAPE(channels, 4, 1, 1)), constant(n, SHAPE(channels)));
}
static uint32_t squeeze_and_excite(network *n) {
  const uint32_t x = image(n);
  return projected(n, NODE(n, "Mul", 14, x, excited(n, x)), 9);
}
static uint32_t gate_first(network *n) {
  const uint32_t x = add_input(n, SHAPE(2, 4, 3, 4)), z = add_input(n, SHAPE(2, 10, 3, 4));
  const uint32_t y = projected(n, NODE(n, "Mul", 14, excited(n, x), x), 10);
  return NODE(n, "Relu", 14, NODE(n, "Add", 14, y, z));
}
static uint32_t to_few_channels(network *n) {
  const uint32_t x = image(n);
  return projected(n, NODE(n, "Mul", 14, x, add_input(n, SHAPE(1, 4, 1, 1))), 8);
}
static uint32_t of_few_pixels(network *n) {
  const uint32_t x = add_input(n, SHAPE(1, 4, 2, 4));
  return projected(n, NODE(n, "Mul", 14, x, add_input(n, SHAPE(1, 4, 1, 1))), 9);
}
static uint32_t gated_for_two(network *n) {
  const uint32_t y = NODE(n, "Mul", 14, image(n), add_input(n, SHAPE(1, 4, 1, 1)));
  add_output(n, y);
  return projected(n, y, 9);
}
static uint32_t gate_for_each_line(network *n) {
  return projected(n, NODE(n, "Mul", 14, image(n), add_input(n, SHAPE(1, 4, 5, 1))), 9);
}
static uint32_t gate_for_all_images(network *n) {
  const uint32_t x = add_input(n, SHAPE(2, 4, 3, 4));
  return projected(n, NODE(n, "Mul", 14, x, add_input(n, SHAPE(1, 4, 1, 1))), 9);
}
static uint32_t gate_before_windows(network *n) {
  const uint32_t y = NODE(n, "Mul", 14, image(n), add_input(n, SHAPE(1, 4, 1, 1)));
  return NODE(n, "Conv", 11, y, constant(n, SHAPE(10, 4, 2, 2)));
}

/* ---- Scenes: operands that change nothing ---------------------------------------------------------------------------
 */

/* A row of truth values, and all that there are of one kind, as they follow from sizes. */
static uint32_t truths(network *n) {
  return NODE(n, "Less", 13, add_input(n, SHAPE(5)), scalar(n, 0.1f));
}
static uint32_t all_true(network *n, int64_t above) {
  const uint32_t rows =
      NODE(n, "Reshape", 14, add_list(n, 3, (const int64_t[]){3, 2, 1}), add_list(n, 2, (const int64_t[]){3, 1}));
  return NODE(n, "Greater", 13, rows, add_list(n, 1, &above));
}
static uint32_t masked(network *n, uint32_t mask) {
  return NODE(n, "Where", 16, mask, add_input(n, SHAPE(3, 5)), scalar(n, -9.0f));
}
static uint32_t and_true(network *n) {
  return masked(n, NODE(n, "And", 7, all_true(n, 0), NODE(n, "And", 7, truths(n), all_true(n, 0))));
}
static uint32_t or_false(network *n) {
  const uint32_t either = NODE(n, "Or", 7, all_true(n, 3), truths(n));
  return masked(n, NODE(n, "Xor", 7, NODE(n, "Not", 1, all_true(n, 0)), either));
}
static uint32_t and_partly_true(network *n) {
  return masked(n, NODE(n, "And", 7, all_true(n, 1), truths(n)));
}
static uint32_t or_true(network *n) {
  const uint32_t all = NODE(n, "Or", 7, all_true(n, 0), truths(n));
  return masked(n, NODE(n, "Xor", 7, all, all_true(n, 0)));
}
static uint32_t and_of_inputs(network *n) {
  return masked(n, NODE(n, "And", 7, truths(n), NODE(n, "Less", 13, add_input(n, SHAPE(3, 5)), scalar(n, 0.2f))));
}

/* ---- Scenes: squeeze and excitation --------------------------------------------------------------------------------
 */

/* Two layers of numbers of four channels, the first of which is a convolution with `attributes`. */
static uint32_t layers_with(network *n, uint32_t means, int64_t side, const leat_attribute *const *attributes,
                            uint32_t attribute_count) {
  const uint32_t squeezed = NODE(n, "Conv", 11, means, constant(n, SHAPE(3, 4, side, side)), constant(n, SHAPE(3)));
  set_attributes(n, attributes, attribute_count);
  const uint32_t excited = NODE(n, "Conv", 11, NODE(n, "Relu", 14, squeezed), constant(n, SHAPE(4, 3, 1, 1)));
  return NODE(n, "HardSigmoid", 6, excited);
}
static uint32_t layers(network *n, uint32_t means) {
  return layers_with(n, means, 1, NULL, 0);
}
static const int64_t both[] = {-1, 2}, rows_alone[] = {2}, ones[] = {1, 1, 1, 1}, threes[] = {3, 3};
static const leat_attribute of_both = ATTRIBUTE(INTS, .name = "axes", .ints = both, .count = 2);
static const leat_attribute of_rows = ATTRIBUTE(INTS, .name = "axes", .ints = rows_alone, .count = 1);
static const leat_attribute pads = ATTRIBUTE(INTS, .name = "pads", .ints = ones, .count = 4);
static const leat_attribute strides = ATTRIBUTE(INTS, .name = "strides", .ints = threes, .count = 2);
static const leat_attribute *const over_both[] = {&of_both}, *const over_rows[] = {&of_rows};
static const leat_attribute *const padded[] = {&pads, &strides};

static uint32_t pooled(network *n, uint32_t x) {
  return NODE(n, "GlobalAveragePool", 1, x);
}
static uint32_t squeeze_of_a_pool(network *n) {
  return layers(n, pooled(n, image(n)));
}
static uint32_t squeeze_of_means(network *n) {
  const uint32_t means = NODE(n, "ReduceMean", 13, add_input(n, SHAPE(2, 4, 3, 4)));
  set_attributes(n, over_both, 1);
  return layers(n, means);
}
static uint32_t squeeze_of_one_line(network *n) {
  const uint32_t means = NODE(n, "ReduceMean", 13, add_input(n, SHAPE(2, 4, 7, 1)));
  set_attributes(n, over_rows, 1);
  return layers(n, means);
}
static uint32_t squeeze_and_gate(network *n) {
  const uint32_t x = image(n);
  return projected(n, NODE(n, "Mul", 14, x, layers(n, pooled(n, x))), 9);
}
static uint32_t squeeze_of_lines(network *n) {
  const uint32_t means = NODE(n, "ReduceMean", 13, add_input(n, SHAPE(2, 4, 3, 4)));
  set_attributes(n, over_rows, 1);
  return layers(n, means);
}
static uint32_t means_for_two(network *n) {
  const uint32_t means = pooled(n, image(n));
  add_output(n, means);
  return layers(n, means);
}
static uint32_t squeeze_of_the_largest(network *n) {
  return layers(n, NODE(n, "GlobalMaxPool", 1, image(n)));
}
static uint32_t squeeze_with_windows(network *n) {
  return layers_with(n, pooled(n, image(n)), 3, padded, 1);
}
/* The one pixel that the convolution takes is padding. */
static uint32_t squeeze_of_padding(network *n) {
  return layers_with(n, pooled(n, image(n)), 1, padded, 2);
}

/* ---- Scenes: rotary embedding ---------------------------------------------------------------------------------------
 */

static const leat_attribute last_axis = ATTRIBUTE(INT, .name = "axis", .i = -1);
static const leat_attribute *const of_columns[] = {&last_axis};

static uint32_t part_of(network *n, uint32_t x, int64_t start, int64_t end) {
  const uint32_t from = add_list(n, 1, &start), to = add_list(n, 1, &end), axis = add_list(n, 1, (const int64_t[]){3});
  return NODE(n, "Slice", 13, x, from, to, axis);
}
/* x[2, 3, 4, 8] cosines + rotated(x) sines, with elements from `cut` on before those from `start` on, of which one part
 * is negated. */
static uint32_t rotated_by(network *n, int64_t start, int64_t cut, bool second_negated, bool turned) {
  const uint32_t x = add_input(n, SHAPE(2, 3, 4, 8)), cosines = add_input(n, SHAPE(2, 1, 4, 8));
  const uint32_t sines = add_input(n, SHAPE(4, 8));
  uint32_t later = part_of(n, x, cut, INT32_MAX), earlier = part_of(n, x, start, cut);
  if (second_negated) {
    later = NODE(n, "Neg", 13, later);
  } else {
    earlier = NODE(n, "Neg", 13, earlier);
  }
  const uint32_t rotated = NODE(n, "Concat", 13, later, earlier);
  set_attributes(n, of_columns, 1);
  const uint32_t straight = turned ? NODE(n, "Mul", 14, cosines, x) : NODE(n, "Mul", 14, x, cosines);
  const uint32_t crossed = turned ? NODE(n, "Mul", 14, sines, rotated) : NODE(n, "Mul", 14, rotated, sines);
  return turned ? NODE(n, "Add", 14, crossed, straight) : NODE(n, "Add", 14, straight, crossed);
}
static uint32_t rotary(network *n) {
  return rotated_by(n, 0, 4, true, false);
}
static uint32_t rotary_turned(network *n) {
  return rotated_by(n, -8, -4, true, true);
}
static uint32_t rotary_by_split(network *n) {
  const uint32_t x = add_input(n, SHAPE(3, 4, 8)), cosines = add_input(n, SHAPE(4, 8)), sines = add_input(n, SHAPE(8));
  const uint32_t first = NODE(n, "Split", 13, x);
  set_attributes(n, of_columns, 1);
  const uint32_t second = add_part(n);
  const uint32_t rotated = NODE(n, "Concat", 13, NODE(n, "Neg", 13, second), first);
  set_attributes(n, of_columns, 1);
  return NODE(n, "Add", 14, NODE(n, "Mul", 14, x, cosines), NODE(n, "Mul", 14, rotated, sines));
}
/* Operator set 9: Slice takes attributes. */
static uint32_t part_9(network *n, uint32_t x, const leat_attribute *const *bounds) {
  const uint32_t y = NODE(n, "Slice", 1, x);
  set_attributes(n, bounds, 3);
  return y;
}
static uint32_t rotary_9(network *n, const leat_attribute *const *later, const leat_attribute *const *earlier) {
  const uint32_t x = add_input(n, SHAPE(2, 3, 4, 8)), cosines = add_input(n, SHAPE(2, 1, 4, 8));
  const uint32_t sines = add_input(n, SHAPE(4, 8));
  const uint32_t rotated = NODE(n, "Concat", 4, NODE(n, "Neg", 6, part_9(n, x, later)), part_9(n, x, earlier));
  set_attributes(n, of_columns, 1);
  return NODE(n, "Add", 7, NODE(n, "Mul", 7, x, cosines), NODE(n, "Mul", 7, rotated, sines));
}
static const int64_t no_elements[] = {0}, four_elements[] = {4}, all_elements[] = {INT32_MAX}, fourth_axis[] = {3};
static const leat_attribute from_first = ATTRIBUTE(INTS, .name = "starts", .ints = no_elements, .count = 1);
static const leat_attribute from_fifth = ATTRIBUTE(INTS, .name = "starts", .ints = four_elements, .count = 1);
static const leat_attribute to_fifth = ATTRIBUTE(INTS, .name = "ends", .ints = four_elements, .count = 1);
static const leat_attribute to_end = ATTRIBUTE(INTS, .name = "ends", .ints = all_elements, .count = 1);
static const leat_attribute of_fourth_axis = ATTRIBUTE(INTS, .name = "axes", .ints = fourth_axis, .count = 1);
static const leat_attribute *const second_half[] = {&from_fifth, &to_end, &of_fourth_axis};
static const leat_attribute *const first_half[] = {&from_first, &to_fifth, &of_fourth_axis};
static uint32_t rotary_by_slice_1(network *n) {
  return rotary_9(n, second_half, first_half);
}
static uint32_t rotary_by_slice_1_the_other_way(network *n) {
  return rotary_9(n, first_half, second_half);
}
static uint32_t rotary_of_unequal_parts(network *n) {
  return rotated_by(n, 0, 3, true, false);
}
static uint32_t rotary_the_other_way(network *n) {
  return rotated_by(n, 0, 4, false, false);
}

/* ---- Scenes: elementwise operators, one after the other ------------------------------------------------------------
 */

static uint32_t hard_swish_by_clip(network *n) {
  const uint32_t x = add_input(n, SHAPE(5, 7)), six = scalar(n, 6.0f);
  const uint32_t gate = NODE(n, "Clip", 13, NODE(n, "Add", 14, x, scalar(n, 3.0f)), scalar(n, 0.0f), six);
  return NODE(n, "Div", 14, NODE(n, "Mul", 14, x, gate), six);
}
static uint32_t normalised(network *n) {
  const uint32_t x = add_input(n, SHAPE(4, 3, 8)), mean = add_input(n, SHAPE(3, 1)), factor = add_input(n, SHAPE(8));
  const uint32_t y = NODE(n, "Mul", 14, NODE(n, "Sub", 14, x, mean), factor);
  return NODE(n, "Relu", 14, NODE(n, "Add", 14, constant(n, SHAPE(3, 1)), y));
}
/* SiLU of a sum: what is between is taken twice, by nodes of the chain alone. */
static uint32_t taken_twice_inside(network *n) {
  const uint32_t x = NODE(n, "Add", 14, add_input(n, SHAPE(6, 8)), add_input(n, SHAPE(8)));
  return NODE(n, "Add", 14, NODE(n, "Abs", 13, x), NODE(n, "Exp", 13, NODE(n, "Neg", 13, x)));
}
static uint32_t silu_of_a_sum(network *n) {
  const uint32_t x = NODE(n, "Add", 14, add_input(n, SHAPE(6, 8)), add_input(n, SHAPE(8)));
  return NODE(n, "Mul", 14, x, NODE(n, "Sigmoid", 13, x));
}
static uint32_t all_kinds(network *n) {
  const uint32_t x = add_input(n, SHAPE(5, 7)), y = constant(n, SHAPE(5, 7)), row = constant(n, SHAPE(7));
  const uint32_t most = NODE(n, "Max", 13, NODE(n, "Mean", 13, x, y, row), x, row);
  const uint32_t least = NODE(n, "Min", 13, NODE(n, "PRelu", 16, most, row), scalar(n, 0.7f));
  const uint32_t sum = NODE(n, "Sum", 13, least, y, x);
  const uint32_t clipped = NODE(n, "Clip", 13, sum, add_input(n, 0, NULL));
  const uint32_t leaky = NODE(n, "LeakyRelu", 6, clipped);
  set_attributes(n, hard_sigmoid, 1);
  return NODE(n, "Pow", 15, NODE(n, "Selu", 6, leaky), scalar(n, 2.0f));
}
static uint32_t functions_of(network *n, uint32_t x, int count) {
  for (int i = 0; i < count; ++i) {
    x = NODE(n, i % 3 == 0 ? "Tanh" : "Neg", 13, x);
  }
  return x;
}
static uint32_t sixteen_steps(network *n) {
  return functions_of(n, add_input(n, SHAPE(9, 5)), 16);
}
static uint32_t seventeen_steps(network *n) {
  return functions_of(n, add_input(n, SHAPE(9, 5)), 17);
}
static uint32_t forty_steps(network *n) {
  return functions_of(n, add_input(n, SHAPE(9, 5)), 40);
}
static uint32_t sum_of_ten(network *n) {
  uint32_t x = add_input(n, SHAPE(9, 5));
  for (int i = 0; i < 9; ++i) {
    x = NODE(n, "Add", 14, x, constant(n, SHAPE(9, 5)));
  }
  return x;
}
static uint32_t behind_a_product(network *n) {
  const uint32_t y = NODE(n, "Relu", 14, with_bias(n));
  return NODE(n, "Tanh", 13, NODE(n, "Mul", 14, y, constant(n, SHAPE(3, 1))));
}
static uint32_t of_nothing(network *n) {
  const uint32_t x = add_input(n, SHAPE(0, 8));
  return NODE(n, "Neg", 13, NODE(n, "Add", 14, x, constant(n, SHAPE(8))));
}

static uint32_t inner_output(network *n) {
  const uint32_t y = NODE(n, "Tanh", 13, add_input(n, SHAPE(6, 8)));
  add_output(n, y);
  return NODE(n, "Add", 14, y, constant(n, SHAPE(8)));
}
static uint32_t inner_needed_elsewhere(network *n) {
  const uint32_t y = NODE(n, "Tanh", 13, add_input(n, SHAPE(8, 8)));
  const uint32_t of_all = NODE(n, "Softmax", 13, y);
  return NODE(n, "Sub", 14, y, of_all);
}
static uint32_t of_a_view(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8));
  return NODE(n, "Tanh", 13, NODE(n, "Add", 14, NODE(n, "Transpose", 13, x), x));
}
static uint32_t smaller_part(network *n) {
  const uint32_t row = NODE(n, "Tanh", 13, add_input(n, SHAPE(8)));
  return NODE(n, "Add", 14, add_input(n, SHAPE(6, 8)), row);
}
static uint32_t of_integers(network *n) {
  static const leat_attribute to_int64 = ATTRIBUTE(INT, .name = "to", .i = 7);
  static const leat_attribute to_float = ATTRIBUTE(INT, .name = "to", .i = 1);
  static const leat_attribute *const there[] = {&to_int64}, *const back[] = {&to_float};
  const int64_t numbers[] = {3, 5, 7};
  const uint32_t x = NODE(n, "Cast", 13, add_input(n, SHAPE(4, 3)));
  set_attributes(n, there, 1);
  const uint32_t y = NODE(n, "Mul", 14, NODE(n, "Add", 14, x, add_list(n, 3, numbers)), x);
  const uint32_t result = NODE(n, "Cast", 13, y);
  set_attributes(n, back, 1);
  return result;
}
static uint32_t constant_of_higher_rank(network *n) {
  return NODE(n, "Neg", 13, NODE(n, "Add", 14, add_input(n, SHAPE(8)), constant(n, SHAPE(1, 1))));
}

static const int64_t last[] = {-1}, first[] = {0};
static const leat_attribute along_last = ATTRIBUTE(INTS, .name = "axes", .ints = last, .count = 1);
static const leat_attribute along_first = ATTRIBUTE(INTS, .name = "axes", .ints = first, .count = 1);
static const leat_attribute *const over_last[] = {&along_last}, *const over_first[] = {&along_first};

static uint32_t mean(network *n, uint32_t x, const leat_attribute *const *axes) {
  const uint32_t y = NODE(n, "ReduceMean", 13, x);
  set_attributes(n, axes, 1);
  return y;
}

static uint32_t root_of_mean_square(network *n, uint32_t x, double power, const leat_attribute *const *axes) {
  const uint32_t square = power == 2 ? NODE(n, "Mul", 14, x, x) : NODE(n, "Pow", 15, x, scalar(n, (float)power));
  return NODE(n, "Sqrt", 13, NODE(n, "Add", 14, mean(n, square, axes), scalar(n, 0.5f)));
}

static uint32_t layer_norm(network *n, double power, const leat_attribute *const *axes, const uint32_t *bias) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), d = NODE(n, "Sub", 14, x, mean(n, x, axes));
  const uint32_t y = NODE(n, "Div", 14, d, root_of_mean_square(n, d, power, axes));
  return NODE(n, "Add", 14, NODE(n, "Mul", 14, y, constant(n, SHAPE(8))), bias != NULL ? *bias : constant(n, SHAPE(8)));
}
static uint32_t layer_norm_by_mul(network *n) {
  return layer_norm(n, 2, over_last, NULL);
}
static uint32_t layer_norm_by_pow(network *n) {
  /* An exponent that only rounding tells from 2. */
  return layer_norm(n, 2 + 1e-7, over_last, NULL);
}
static uint32_t layer_norm_turned_round(network *n) {
  const uint32_t axes = add_list(n, 1, last), x = add_input(n, SHAPE(4, 2, 8));
  const uint32_t d = NODE(n, "Sub", 14, x, NODE(n, "ReduceMean", 18, x, axes));
  const uint32_t variance = NODE(n, "ReduceMean", 18, NODE(n, "Mul", 14, d, d), axes);
  const uint32_t root = NODE(n, "Sqrt", 13, NODE(n, "Add", 14, scalar(n, 1.0f), variance));
  const uint32_t y = NODE(n, "Mul", 14, NODE(n, "Reciprocal", 13, root), d);
  return NODE(n, "Add", 14, constant(n, SHAPE(8)), NODE(n, "Mul", 14, constant(n, SHAPE(8)), y));
}
static uint32_t rms_norm(network *n) {
  const uint32_t x = add_input(n, SHAPE(4, 2, 8)), root = root_of_mean_square(n, x, 2 + 1e-7, over_last);
  const uint32_t y = NODE(n, "Mul", 14, x, NODE(n, "Div", 14, scalar(n, 1.0f), root));
  return NODE(n, "Mul", 14, constant(n, SHAPE(8)), y);
}
static uint32_t rms_norm_by_division(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8));
  return NODE(n, "Mul", 14, NODE(n, "Div", 14, x, root_of_mean_square(n, x, 2, over_last)), constant(n, SHAPE(8)));
}

/* ---- Scenes: attention -------------------------------------------------------------------------------------------
 */

static uint32_t transpose(network *n, uint32_t x, const leat_attribute *const *order) {
  const uint32_t y = NODE(n, "Transpose", 13, x);
  set_attributes(n, order, 1);
  return y;
}

#define ORDER(list_of, ...)                                                                                         \
  static const int64_t list_of##_order[] = {__VA_ARGS__};                                                           \
  static const leat_attribute list_of##_perm =                                                                      \
      ATTRIBUTE(INTS, .name = "perm", .ints = list_of##_order, .count = sizeof(list_of##_order) / sizeof(int64_t)); \
  static const leat_attribute *const list_of[] = {&list_of##_perm}
ORDER(to_heads, 0, 2, 1, 3);
ORDER(to_columns, 0, 2, 3, 1);
ORDER(swap_last, 0, 1, 3, 2);
ORDER(swap_last_of_three, 0, 2, 1);

/* Two heads of four elements at four positions, brought to the front. */
static uint32_t heads_from(network *n, uint32_t x, const leat_attribute *const *order) {
  const int64_t apart[] = {2, 4, 2, 4};
  return transpose(n, NODE(n, "Reshape", 14, x, add_list(n, 4, apart)), order);
}
static uint32_t heads_of(network *n, const leat_attribute *const *order) {
  return heads_from(n, add_input(n, SHAPE(2, 4, 8)), order);
}

static uint32_t softmax_of(network *n, uint32_t scores, const leat_attribute *const *axis) {
  const uint32_t y = NODE(n, "Softmax", 13, scores);
  set_attributes(n, axis, 1);
  return y;
}

static const leat_attribute third_axis = ATTRIBUTE(INT, .name = "axis", .i = 2);
static const leat_attribute *const along_keys[] = {&last_axis};
static const leat_attribute *const along_queries[] = {&third_axis};
static const leat_attribute *const along_positions[] = {&third_axis};

static uint32_t back_together(network *n, uint32_t y) {
  const int64_t together[] = {2, 4, 8};
  return NODE(n, "Reshape", 14, transpose(n, y, to_heads), add_list(n, 3, together));
}

/* As PyTorch's older exporter writes BERT. */
static uint32_t attention_divided(network *n) {
  const uint32_t q = heads_of(n, to_heads), k = heads_of(n, to_columns), v = heads_of(n, to_heads);
  const uint32_t scores = NODE(n, "Div", 14, NODE(n, "MatMul", 13, q, k), scalar(n, 2.0f));
  const uint32_t masked = NODE(n, "Add", 14, scores, add_input(n, SHAPE(2, 1, 1, 4)));
  return back_together(n, NODE(n, "MatMul", 13, softmax_of(n, masked, along_keys), v));
}
/* As its newer one does. */
static uint32_t attention_scaled_before(network *n) {
  const uint32_t q = heads_of(n, to_heads), k = transpose(n, heads_of(n, to_heads), swap_last),
                 v = heads_of(n, to_heads), root = scalar(n, 0.7071068f);
  const uint32_t scores = NODE(n, "MatMul", 13, NODE(n, "Mul", 14, q, root), NODE(n, "Mul", 14, root, k));
  const uint32_t masked = NODE(n, "Add", 14, add_constant(n, SHAPE(4, 4)), scores);
  return back_together(n, NODE(n, "MatMul", 13, softmax_of(n, masked, along_keys), v));
}
/* As it is written where queries and keys are scaled as they come from their products, before there are heads. */
static uint32_t attention_scaled_before_heads(network *n) {
  const uint32_t q = heads_from(n, NODE(n, "Mul", 14, add_input(n, SHAPE(2, 4, 8)), scalar(n, 0.25f)), to_heads),
                 k = heads_from(n, NODE(n, "Div", 14, add_input(n, SHAPE(2, 4, 8)), scalar(n, 0.5f)), to_columns),
                 v = heads_of(n, to_heads);
  return back_together(n, NODE(n, "MatMul", 13, softmax_of(n, NODE(n, "MatMul", 13, q, k), along_keys), v));
}
/* As PyTorch's older exporter writes it where shapes are open: the scale follows from the size of a head. */
static uint32_t attention_scaled_by_its_size(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 5)),
                 v = add_input(n, SHAPE(1, 2, 5, 3));
  const uint32_t columns = add_list(n, 1, last), one = scalar(n, 1.0f);
  const uint32_t size = widened(n, NODE(n, "Gather", 13, NODE(n, "Shape", 15, q), columns));
  const uint32_t root = NODE(n, "Sqrt", 13, NODE(n, "Div", 14, one, NODE(n, "Sqrt", 13, size)));
  const uint32_t scores = NODE(n, "MatMul", 13, NODE(n, "Mul", 14, q, root), NODE(n, "Mul", 14, k, root));
  return NODE(n, "MatMul", 13, softmax_of(n, scores, along_keys), v);
}
/* As exporters write it where widths are open: how many heads of one element there are follows from the inputs. */
static uint32_t attention_of_given_heads(network *n) {
  uint32_t heads[3];
  for (int i = 0; i < 3; ++i) {
    const uint32_t list = add_list(n, 4, (const int64_t[]){0, 0, -1, 1});
    heads[i] = transpose(n, NODE(n, "Reshape", 14, add_input(n, SHAPE(2, 4, 8)), list), i == 1 ? to_columns : to_heads);
  }
  const uint32_t weights = softmax_of(n, NODE(n, "MatMul", 13, heads[0], heads[1]), along_keys);
  const uint32_t y = transpose(n, NODE(n, "MatMul", 13, weights, heads[2]), to_heads);
  return NODE(n, "Reshape", 14, y, add_list(n, 3, (const int64_t[]){0, 0, -1}));
}
static uint32_t attention_plain(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 5, 8)),
                 v = add_input(n, SHAPE(1, 2, 5, 3));
  return NODE(n, "MatMul", 13, softmax_of(n, NODE(n, "MatMul", 13, q, transpose(n, k, swap_last)), along_keys), v);
}
/* Softmax of operator set 11 takes all from its axis on as one row. */
static uint32_t attention_11(network *n, const leat_attribute *const *axis) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 5, 8)),
                 v = add_input(n, SHAPE(1, 2, 5, 3));
  const uint32_t weights = NODE(n, "Softmax", 11, NODE(n, "MatMul", 9, q, transpose(n, k, swap_last)));
  if (axis != NULL) {
    set_attributes(n, axis, 1);
  }
  return NODE(n, "MatMul", 9, weights, v);
}
static uint32_t attention_11_by_keys(network *n) {
  return attention_11(n, along_keys);
}
static uint32_t attention_11_by_queries_and_keys(network *n) {
  return attention_11(n, along_queries);
}
static uint32_t attention_11_by_heads(network *n) {
  return attention_11(n, NULL);
}
static uint32_t attention_cast(network *n) {
  static const leat_attribute to_float = ATTRIBUTE(INT, .name = "to", .i = 1);
  static const leat_attribute *const list[] = {&to_float};
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 5)),
                 v = add_input(n, SHAPE(1, 2, 5, 3));
  const uint32_t weights = NODE(n, "Cast", 13, softmax_of(n, NODE(n, "MatMul", 13, q, k), along_keys));
  set_attributes(n, list, 1);
  return NODE(n, "MatMul", 13, weights, v);
}
/* In float16 as it stands, with a mask that is added in it: some keys are taken out, others put far below. */
static uint32_t attention_of_masked_halves(network *n) {
  const int64_t apart[] = {2, 4, 2, 4};
  const uint32_t mask = constant(n, SHAPE(4, 4)), list = add_list(n, 4, apart);
  uint32_t heads[3];
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t x = halved(n, add_input(n, SHAPE(2, 4, 8)));
    heads[i] = transpose(n, NODE(n, "Reshape", 14, x, list), i == 1 ? to_columns : to_heads);
  }
  n->floats[mask][4] = n->floats[mask][15] = -INFINITY;
  n->floats[mask][9] = n->floats[mask][10] = -65504.0f;
  const uint32_t scores = NODE(n, "Div", 14, NODE(n, "MatMul", 13, heads[0], heads[1]), add_half(n, 0x4000));
  const uint32_t masked = NODE(n, "Add", 14, scores, halved(n, mask));
  return widened(n, back_together(n, NODE(n, "MatMul", 13, softmax_of(n, masked, along_keys), heads[2])));
}
/* Weights of heads of float16 by a softmax of float32, or the other way round. */
static uint32_t softmax_in(network *n, bool wide, bool masked) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 4)), k = add_input(n, SHAPE(1, 2, 4, 5)),
                 v = add_input(n, SHAPE(1, 2, 5, 3));
  const uint32_t scores =
      wide ? widened(n, NODE(n, "MatMul", 13, halved(n, q), halved(n, k))) : halved(n, NODE(n, "MatMul", 13, q, k));
  const uint32_t added = masked ? NODE(n, "Add", 14, scores, add_input(n, SHAPE(4, 5))) : scores;
  const uint32_t weights = softmax_of(n, added, along_keys);
  return wide ? widened(n, NODE(n, "MatMul", 13, halved(n, weights), halved(n, v)))
              : NODE(n, "MatMul", 13, widened(n, weights), v);
}
static uint32_t softmax_widened(network *n) {
  return softmax_in(n, true, false);
}
static uint32_t softmax_narrowed(network *n) {
  return softmax_in(n, false, false);
}
static uint32_t mask_of_another_type(network *n) {
  return softmax_in(n, true, true);
}
static uint32_t attention_of_three(network *n) {
  const uint32_t q = add_input(n, SHAPE(3, 4, 8)), k = add_input(n, SHAPE(3, 5, 8)), v = add_input(n, SHAPE(3, 5, 3));
  const uint32_t scores = NODE(n, "MatMul", 13, q, transpose(n, k, swap_last_of_three));
  const uint32_t masked = NODE(n, "Add", 14, NODE(n, "Mul", 14, scores, scalar(n, 0.3f)), add_input(n, SHAPE(3, 4, 5)));
  return NODE(n, "MatMul", 13, softmax_of(n, masked, along_keys), v);
}
static uint32_t attention_of_one_operand(network *n) {
  const uint32_t x = add_input(n, SHAPE(1, 2, 4, 8));
  return NODE(n, "MatMul", 13, softmax_of(n, NODE(n, "MatMul", 13, x, transpose(n, x, swap_last)), along_keys), x);
}
/* Scaled by 0.353515625. */
static uint32_t attention_of_halves(network *n) {
  const uint32_t q = halved(n, add_input(n, SHAPE(1, 2, 4, 8))), k = halved(n, add_input(n, SHAPE(1, 2, 8, 4))),
                 v = halved(n, add_input(n, SHAPE(1, 2, 4, 8)));
  const uint32_t scores = NODE(n, "Mul", 14, NODE(n, "MatMul", 13, q, k), add_half(n, 0x35a8));
  return widened(n, NODE(n, "MatMul", 13, softmax_of(n, scores, along_keys), v));
}
static uint32_t attention_along_queries(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 4)),
                 v = add_input(n, SHAPE(1, 2, 4, 8));
  return NODE(n, "MatMul", 13, softmax_of(n, NODE(n, "MatMul", 13, q, k), along_queries), v);
}
static uint32_t weights_used_twice(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 4)),
                 v = add_input(n, SHAPE(1, 2, 4, 8));
  const uint32_t weights = softmax_of(n, NODE(n, "MatMul", 13, q, k), along_keys);
  add_output(n, weights);
  return NODE(n, "MatMul", 13, weights, v);
}
static uint32_t scores_used_twice(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 4)),
                 v = add_input(n, SHAPE(1, 2, 4, 8));
  const uint32_t scores = NODE(n, "MatMul", 13, q, k);
  add_output(n, scores);
  return NODE(n, "MatMul", 13, softmax_of(n, scores, along_keys), v);
}
static uint32_t attention_scaled_by_input(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 4)),
                 v = add_input(n, SHAPE(1, 2, 4, 8));
  const uint32_t scores = NODE(n, "Mul", 14, NODE(n, "MatMul", 13, q, k), add_input(n, 0, NULL));
  return NODE(n, "MatMul", 13, softmax_of(n, scores, along_keys), v);
}
static uint32_t attention_with_larger_mask(network *n) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 4)),
                 v = add_input(n, SHAPE(1, 2, 4, 8));
  const uint32_t scores = NODE(n, "Add", 14, NODE(n, "MatMul", 13, q, k), add_input(n, SHAPE(3, 1, 4, 4)));
  return NODE(n, "MatMul", 13, softmax_of(n, scores, along_keys), v);
}
static uint32_t attention_of_shared_keys(network *n) {
  const uint32_t q = add_input(n, SHAPE(2, 2, 4, 4)), k = add_input(n, SHAPE(1, 2, 4, 4)),
                 v = add_input(n, SHAPE(2, 2, 4, 4));
  return NODE(n, "MatMul", 13, softmax_of(n, NODE(n, "MatMul", 13, q, k), along_keys), v);
}
static uint32_t attention_cut_differently(network *n) {
  const int64_t other[] = {2, 2, 16};
  const uint32_t q = heads_of(n, to_heads), k = heads_of(n, to_columns), v = heads_of(n, to_heads);
  const uint32_t y = NODE(n, "MatMul", 13, softmax_of(n, NODE(n, "MatMul", 13, q, k), along_keys), v);
  return NODE(n, "Reshape", 14, y, add_list(n, 3, other));
}

/* Each of two heads of keys or values for two heads of queries, or for the first and the third, and so on. */
static uint32_t repeated_by(network *n, uint32_t x, const char *op, int64_t at) {
  const int64_t times[] = {1, 1 + (at == 1), 1 + (at == 2), 1, 1}, joined[] = {1, 4, -1, 4};
  const uint32_t apart = NODE(n, "Unsqueeze", 13, x, add_list(n, 1, &at));
  return NODE(n, "Reshape", 14, NODE(n, op, 13, apart, add_list(n, 5, times)), add_list(n, 4, joined));
}
/* A past of three positions, and one more. */
static uint32_t grown(network *n) {
  const uint32_t y = NODE(n, "Concat", 13, add_input(n, SHAPE(1, 2, 3, 4)), add_input(n, SHAPE(1, 2, 1, 4)));
  set_attributes(n, along_positions, 1);
  return y;
}
static uint32_t attention_of(network *n, uint32_t k, uint32_t v) {
  const uint32_t scores = NODE(n, "MatMul", 13, add_input(n, SHAPE(1, 4, 3, 4)), transpose(n, k, swap_last));
  return NODE(n, "MatMul", 13, softmax_of(n, scores, along_keys), v);
}
static uint32_t heads_repeated(network *n) {
  const uint32_t k = repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Expand", 2);
  return attention_of(n, k, repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Expand", 2));
}
/* As decoders of PyTorch have them. */
static uint32_t caches_repeated(network *n) {
  const uint32_t k = grown(n), v = grown(n);
  add_output(n, k);
  return attention_of(n, repeated_by(n, k, "Tile", 2), repeated_by(n, v, "Expand", 2));
}
static uint32_t keys_repeated(network *n) {
  const uint32_t k = repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Expand", 2);
  return attention_of(n, k, add_input(n, SHAPE(1, 4, 5, 4)));
}
static uint32_t heads_repeated_in_turns(network *n) {
  const uint32_t k = repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Tile", 1);
  return attention_of(n, k, repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Tile", 1));
}
static uint32_t values_repeated_in_turns(network *n) {
  const uint32_t k = repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Expand", 2);
  return attention_of(n, k, repeated_by(n, add_input(n, SHAPE(1, 2, 5, 4)), "Expand", 1));
}

/* Where(IsNaN(x), zero, x). */
static uint32_t guard_by(network *n, uint32_t x, uint32_t zero) {
  return NODE(n, "Where", 16, NODE(n, "IsNaN", 13, x), zero, x);
}
/* Of four queries and `keys` keys: the first has none, the second and the third have each a score that is not finite,
 * and the last has some. */
static uint32_t mask_of_no_keys(network *n, int64_t keys) {
  const uint32_t mask = constant(n, SHAPE(4, keys));
  for (int64_t k = 0; k < keys; ++k) {
    n->floats[mask][k] = -INFINITY;
  }
  n->floats[mask][keys + 1] = NAN;
  n->floats[mask][2 * keys] = INFINITY;
  n->floats[mask][3 * keys + 2] = -INFINITY;
  return mask;
}
/* The softmax of masked scores, and values to multiply by. */
static uint32_t masked_weights(network *n, uint32_t *out_values) {
  const uint32_t q = add_input(n, SHAPE(1, 2, 4, 8)), k = add_input(n, SHAPE(1, 2, 8, 5));
  *out_values = add_input(n, SHAPE(1, 2, 5, 3));
  return softmax_of(n, NODE(n, "Add", 14, NODE(n, "MatMul", 13, q, k), mask_of_no_keys(n, 5)), along_keys);
}
static uint32_t attention_guarded(network *n) {
  uint32_t v;
  const uint32_t weights = guard_by(n, masked_weights(n, &v), scalar(n, 0.0f));
  return NODE(n, "MatMul", 13, weights, v);
}
static uint32_t attention_guarded_by_one_element(network *n) {
  uint32_t v;
  const uint32_t zero = constant(n, SHAPE(1, 1));
  n->floats[zero][0] = 0.0f;
  const uint32_t weights = guard_by(n, masked_weights(n, &v), zero);
  return NODE(n, "MatMul", 13, weights, v);
}
/* As PyTorch writes it: the rule goes on with the movements behind it. */
static uint32_t attention_guarded_of_heads(network *n) {
  const uint32_t q = heads_of(n, to_heads), k = heads_of(n, to_columns), v = heads_of(n, to_heads),
                 root = scalar(n, 0.7071068f);
  const uint32_t scores = NODE(n, "MatMul", 13, NODE(n, "Mul", 14, q, root), NODE(n, "Mul", 14, k, root));
  const uint32_t weights = softmax_of(n, NODE(n, "Add", 14, scores, mask_of_no_keys(n, 4)), along_keys);
  return back_together(n, NODE(n, "MatMul", 13, guard_by(n, weights, scalar(n, 0.0f)), v));
}
static uint32_t attention_guarded_without_mask(network *n) {
  const uint32_t q = add_input(n, SHAPE(3, 4, 8)), k = add_input(n, SHAPE(3, 8, 5)), v = add_input(n, SHAPE(3, 5, 3));
  const uint32_t weights = softmax_of(n, NODE(n, "MatMul", 13, q, k), along_keys);
  return NODE(n, "MatMul", 13, guard_by(n, weights, scalar(n, 0.0f)), v);
}
static uint32_t attention_guarded_of_halves(network *n) {
  const uint32_t q = halved(n, add_input(n, SHAPE(1, 2, 4, 8))), k = halved(n, add_input(n, SHAPE(1, 2, 8, 4))),
                 v = halved(n, add_input(n, SHAPE(1, 2, 4, 8)));
  const uint32_t scores = NODE(n, "Mul", 14, NODE(n, "MatMul", 13, q, k), add_half(n, 0x35a8));
  const uint32_t weights = softmax_of(n, NODE(n, "Add", 14, scores, halved(n, mask_of_no_keys(n, 4))), along_keys);
  return widened(n, NODE(n, "MatMul", 13, guard_by(n, weights, add_half(n, 0)), v));
}
/* A guard of float32 in front of a Cast to float16, or one of float16 behind it. */
static uint32_t guarded_beside_cast(network *n, bool behind) {
  const uint32_t q = halved(n, add_input(n, SHAPE(1, 2, 4, 4))), k = halved(n, add_input(n, SHAPE(1, 2, 4, 5))),
                 v = halved(n, add_input(n, SHAPE(1, 2, 5, 3)));
  const uint32_t weights = softmax_of(n, widened(n, NODE(n, "MatMul", 13, q, k)), along_keys);
  const uint32_t guarded =
      behind ? guard_by(n, halved(n, weights), add_half(n, 0)) : halved(n, guard_by(n, weights, scalar(n, 0.0f)));
  return widened(n, NODE(n, "MatMul", 13, guarded, v));
}
static uint32_t guarded_then_cast(network *n) {
  return guarded_beside_cast(n, false);
}
static uint32_t cast_then_guarded(network *n) {
  return guarded_beside_cast(n, true);
}
static uint32_t guarded_by_another_number(network *n) {
  uint32_t v;
  const uint32_t weights = guard_by(n, masked_weights(n, &v), scalar(n, 1e-30f));
  return NODE(n, "MatMul", 13, weights, v);
}
static uint32_t guarded_by_an_input(network *n) {
  uint32_t v;
  const uint32_t weights = guard_by(n, masked_weights(n, &v), add_input(n, 0, NULL));
  return NODE(n, "MatMul", 13, weights, v);
}
static uint32_t guarded_by_a_row(network *n) {
  uint32_t v;
  const uint32_t row = constant(n, SHAPE(5));
  memset(n->floats[row], 0, 5 * sizeof(float));
  const uint32_t weights = guard_by(n, masked_weights(n, &v), row);
  return NODE(n, "MatMul", 13, weights, v);
}
/* All that is a number becomes 0. */
static uint32_t guarded_the_other_way(network *n) {
  uint32_t v;
  const uint32_t weights = masked_weights(n, &v);
  const uint32_t test = NODE(n, "IsNaN", 13, weights);
  return NODE(n, "MatMul", 13, NODE(n, "Where", 16, test, weights, scalar(n, 0.0f)), v);
}
static uint32_t guarded_by_another_test(network *n) {
  uint32_t v;
  const uint32_t weights = masked_weights(n, &v), test = NODE(n, "IsNaN", 13, add_input(n, SHAPE(1, 2, 4, 5)));
  return NODE(n, "MatMul", 13, NODE(n, "Where", 16, test, scalar(n, 0.0f), weights), v);
}
static uint32_t guard_tested_twice(network *n) {
  uint32_t v;
  const uint32_t weights = masked_weights(n, &v), test = NODE(n, "IsNaN", 13, weights), zero = scalar(n, 0.0f);
  add_output(n, NODE(n, "Where", 16, test, zero, scalar(n, 1.0f)));
  return NODE(n, "MatMul", 13, NODE(n, "Where", 16, test, zero, weights), v);
}
static uint32_t unguarded_used_twice(network *n) {
  uint32_t v;
  const uint32_t weights = masked_weights(n, &v);
  add_output(n, weights);
  return NODE(n, "MatMul", 13, guard_by(n, weights, scalar(n, 0.0f)), v);
}
static uint32_t guarded_used_twice(network *n) {
  uint32_t v;
  const uint32_t weights = guard_by(n, masked_weights(n, &v), scalar(n, 0.0f));
  add_output(n, weights);
  return NODE(n, "MatMul", 13, weights, v);
}

/* ---- Scenes: what is not -----------------------------------------------------------------------------------------
 */

static uint32_t used_twice(network *n) {
  const uint32_t y = product(n);
  return NODE(n, "Mul", 14, NODE(n, "Relu", 14, y), NODE(n, "Abs", 13, y));
}
static uint32_t is_an_output(network *n) {
  const uint32_t y = product(n);
  add_output(n, y);
  return NODE(n, "Add", 14, y, constant(n, SHAPE(8)));
}
static uint32_t not_a_row(network *n) {
  return NODE(n, "Add", 14, product(n), constant(n, SHAPE(3, 1)));
}
static uint32_t larger_than_the_product(network *n) {
  return NODE(n, "Add", 14, product(n), constant(n, SHAPE(2, 2, 3, 8)));
}
static uint32_t scale_that_is_given(network *n) {
  return NODE(n, "Mul", 14, product(n), add_input(n, 0, NULL));
}
static uint32_t divided_by_three(network *n) {
  return NODE(n, "Div", 14, product(n), scalar(n, 3.0f));
}
static uint32_t divides(network *n) {
  return NODE(n, "Div", 14, scalar(n, 8.0f), product(n));
}
static uint32_t bounds_that_are_given(network *n) {
  return NODE(n, "Clip", 13, product(n), add_input(n, 0, NULL), scalar(n, 6.0f));
}
static uint32_t added_to_itself(network *n) {
  const uint32_t y = product(n);
  return NODE(n, "Add", 14, y, y);
}
static uint32_t conv_with_a_row(network *n) {
  return NODE(n, "Add", 14, convolution(n, image(n)), constant(n, SHAPE(5)));
}
static uint32_t gemm_with_beta(network *n) {
  static const leat_attribute beta = ATTRIBUTE(FLOAT, .name = "beta", .f = 0.5f);
  static const leat_attribute *const list[] = {&beta};
  const uint32_t y = NODE(n, "Gemm", 13, add_input(n, SHAPE(3, 8)), constant(n, SHAPE(8, 5)), constant(n, SHAPE(5)));
  set_attributes(n, list, 1);
  return NODE(n, "Relu", 14, y);
}
static uint32_t reshaped_to_something_else(network *n) {
  const int64_t other[] = {3, 2, 8};
  return flattened(n, add_input(n, SHAPE(2, 3, 8)), 8, other);
}
static uint32_t gelu_with_another_half(network *n) {
  return gelu(n, add_input(n, SHAPE(8, 8)), 0.4, 0);
}
static uint32_t gelu_times_another(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), y = NODE(n, "Mul", 14, x, add_input(n, SHAPE(8, 8)));
  const uint32_t part =
      NODE(n, "Add", 14, NODE(n, "Erf", 13, NODE(n, "Div", 14, x, scalar(n, (float)sqrt(2.0)))), scalar(n, 1.0f));
  return NODE(n, "Mul", 14, y, NODE(n, "Mul", 14, part, scalar(n, 0.5f)));
}
static uint32_t another_slope(network *n) {
  return hard_swish(n, add_input(n, SHAPE(8, 8)), 0);
}
static uint32_t another_offset(network *n) {
  static const leat_attribute third = ATTRIBUTE(FLOAT, .name = "beta", .f = 1.0f / 3.0f);
  static const leat_attribute *const list[] = {&sixth, &third};
  const uint32_t x = add_input(n, SHAPE(8, 8)), gate = NODE(n, "HardSigmoid", 6, x);
  set_attributes(n, list, 2);
  return NODE(n, "Mul", 14, gate, x);
}
static uint32_t gate_of_another(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8));
  return NODE(n, "Mul", 14, x, NODE(n, "Sigmoid", 13, NODE(n, "Mul", 14, NODE(n, "Abs", 13, x), scalar(n, 2.0f))));
}
static uint32_t transposed_and_flattened(network *n) {
  static const leat_attribute transposed = ATTRIBUTE(INT, .name = "transA", .i = 1);
  static const leat_attribute *const list[] = {&transposed};
  const int64_t back[] = {1, 8, 8};
  const uint32_t flat = NODE(n, "Reshape", 14, add_input(n, SHAPE(1, 8, 8)), add_list(n, 2, (const int64_t[]){8, 8}));
  const uint32_t y = NODE(n, "Gemm", 13, flat, constant(n, SHAPE(8, 8)), constant(n, SHAPE(8)));
  set_attributes(n, list, 1);
  return NODE(n, "Reshape", 14, y, add_list(n, 3, back));
}
/* The product of what is not reshaped has the shape of the result, of other matrices. */
static uint32_t reshaped_between_matrices(network *n) {
  const uint32_t x =
      NODE(n, "Reshape", 14, add_input(n, SHAPE(3, 2, 2, 4)), add_list(n, 3, (const int64_t[]){2, 6, 4}));
  const uint32_t y = NODE(n, "MatMul", 13, x, constant(n, SHAPE(2, 4, 5)));
  return NODE(n, "Reshape", 14, y, add_list(n, 4, (const int64_t[]){3, 2, 2, 5}));
}
static uint32_t residual_behind_a_turn(network *n) {
  static const leat_attribute perm = ATTRIBUTE(INTS, .name = "perm");
  static const leat_attribute *const list[] = {&perm};
  const uint32_t y = NODE(n, "MatMul", 13, add_input(n, SHAPE(3, 4)), constant(n, SHAPE(4, 5)));
  const uint32_t turned = NODE(n, "Transpose", 13, y);
  set_attributes(n, list, 1);
  return NODE(n, "Add", 14, turned, add_input(n, SHAPE(5, 3)));
}
static uint32_t residual_behind_a_transpose(network *n) {
  const int64_t back[] = {2, 3, 8};
  return NODE(n, "Add", 14, add_input(n, SHAPE(3, 2, 8)), rows_of_heads(n, 6, back));
}
static uint32_t broadcast_behind_reshapes(network *n) {
  const int64_t back[] = {5, 1, 8};
  return NODE(n, "Add", 14, add_input(n, SHAPE(5, 1)), rows_of_heads(n, 5, back));
}
static uint32_t gate_of_something_else(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8));
  return NODE(n, "Mul", 14, NODE(n, "Abs", 13, x), NODE(n, "Sigmoid", 13, x));
}

static uint32_t norm_of_columns(network *n) {
  return layer_norm(n, 2, over_first, NULL);
}
static uint32_t norm_with_another_power(network *n) {
  return layer_norm(n, 4, over_last, NULL);
}
static uint32_t norm_with_a_column(network *n) {
  const uint32_t column = constant(n, SHAPE(8, 1));
  return layer_norm(n, 2, over_last, &column);
}
/* What lies about the mean is given too. */
static uint32_t norm_and_difference(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), d = NODE(n, "Sub", 14, x, mean(n, x, over_last));
  const uint32_t y = NODE(n, "Div", 14, d, root_of_mean_square(n, d, 2, over_last));
  add_output(n, d);
  return NODE(n, "Add", 14, NODE(n, "Mul", 14, y, constant(n, SHAPE(8))), constant(n, SHAPE(8)));
}
static uint32_t norm_about_another(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), z = add_input(n, SHAPE(8, 8));
  const uint32_t d = NODE(n, "Sub", 14, x, mean(n, z, over_last));
  const uint32_t y = NODE(n, "Div", 14, d, root_of_mean_square(n, d, 2, over_last));
  return NODE(n, "Add", 14, NODE(n, "Mul", 14, y, constant(n, SHAPE(8))), constant(n, SHAPE(8)));
}
static uint32_t norm_of_another(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), z = add_input(n, SHAPE(8, 8));
  return NODE(n, "Mul", 14, NODE(n, "Div", 14, z, root_of_mean_square(n, x, 2, over_last)), constant(n, SHAPE(8)));
}

/* ---- Scenes: sums whose rows are normalised -------------------------------------------------------------------------
 */

static uint32_t normed(network *n, uint32_t x) {
  return NODE(n, "LayerNormalization", 17, x, constant(n, SHAPE(8)), constant(n, SHAPE(8)));
}
static uint32_t input_of_rows(network *n) {
  return add_input(n, SHAPE(2, 3, 8));
}
static uint32_t sum_normed(network *n) {
  return normed(n, NODE(n, "Add", 14, input_of_rows(n), input_of_rows(n)));
}
/* The sum is taken between itself and the norm too. */
/* Five rows of `x`, each so many behind the one before as there are sixes of rows. */
static uint32_t spread_rows(network *n) {
  const uint32_t x = add_input(n, SHAPE(7, 8)), zero = add_list(n, 1, (const int64_t[]){0});
  const uint32_t rows = NODE(n, "Gather", 13, NODE(n, "Shape", 15, x), zero);
  const uint32_t step = NODE(n, "Div", 14, rows, add_list(n, 1, (const int64_t[]){6}));
  const uint32_t end = NODE(n, "Mul", 14, step, add_list(n, 1, (const int64_t[]){5}));
  return NODE(n, "Slice", 13, x, zero, end, zero, step);
}
static uint32_t sum_of_spread_rows_normed(network *n) {
  const uint32_t a = spread_rows(n);
  return normed(n, NODE(n, "Add", 14, a, spread_rows(n)));
}
static uint32_t sum_normed_and_kept(network *n) {
  static const leat_attribute small = ATTRIBUTE(FLOAT, .name = "epsilon", .f = 0.5f);
  static const leat_attribute *const list[] = {&small};
  const uint32_t sum = NODE(n, "Add", 14, constant(n, SHAPE(3, 8)), input_of_rows(n)), other = NODE(n, "Tanh", 13, sum);
  const uint32_t y = NODE(n, "LayerNormalization", 17, sum, constant(n, SHAPE(8)));
  set_attributes(n, list, 1);
  add_output(n, sum);
  return NODE(n, "Mul", 14, y, other);
}
static uint32_t sum_normed_by_rms(network *n) {
  const uint32_t sum = NODE(n, "Add", 14, input_of_rows(n), constant(n, SHAPE(1, 1, 8)));
  return NODE(n, "RMSNormalization", 23, sum, constant(n, SHAPE(8)));
}
static uint32_t sum_of_halves_normed(network *n) {
  const uint32_t sum = NODE(n, "Add", 14, halved(n, input_of_rows(n)), halved(n, input_of_rows(n)));
  return widened(n, NODE(n, "RMSNormalization", 23, sum, halved(n, constant(n, SHAPE(8)))));
}
static uint32_t turned_and_normed(network *n) {
  const uint32_t x = transpose(n, add_input(n, SHAPE(2, 8, 3)), swap_last_of_three);
  return normed(n, NODE(n, "Add", 14, x, input_of_rows(n)));
}
static uint32_t both_turned_and_normed(network *n) {
  const uint32_t x = transpose(n, add_input(n, SHAPE(2, 8, 3)), swap_last_of_three);
  const uint32_t z = transpose(n, add_input(n, SHAPE(2, 8, 3)), swap_last_of_three);
  return normed(n, NODE(n, "Add", 14, x, z));
}
static uint32_t chain_normed(network *n) {
  return normed(n, NODE(n, "Add", 14, NODE(n, "Relu", 14, input_of_rows(n)), input_of_rows(n)));
}
static uint32_t sum_with_a_column_normed(network *n) {
  return normed(n, NODE(n, "Add", 14, input_of_rows(n), add_input(n, SHAPE(2, 3, 1))));
}
static uint32_t sum_with_a_layer_normed(network *n) {
  return normed(n, NODE(n, "Add", 14, input_of_rows(n), add_input(n, SHAPE(2, 1, 8))));
}
static uint32_t sum_and_mean(network *n) {
  const uint32_t y = sum_normed(n);
  add_output(n, add_part(n));
  return y;
}
static uint32_t sum_normed_in_layers(network *n) {
  static const leat_attribute second = ATTRIBUTE(INT, .name = "axis", .i = 1);
  static const leat_attribute *const list[] = {&second};
  const uint32_t sum = NODE(n, "Add", 14, input_of_rows(n), input_of_rows(n));
  const uint32_t y = NODE(n, "LayerNormalization", 17, sum, constant(n, SHAPE(3, 8)));
  set_attributes(n, list, 1);
  return y;
}
static uint32_t scale_made_of_the_sum(network *n) {
  const uint32_t sum = NODE(n, "Add", 14, add_input(n, SHAPE(1, 8)), add_input(n, SHAPE(1, 8)));
  return NODE(n, "LayerNormalization", 17, sum, NODE(n, "Softmax", 13, sum));
}

/* ---- Scenes: what products multiply their first operand by ----------------------------------------------------------
 */

static uint32_t half_constant(network *n, int32_t ndim, const int64_t *shape) {
  return halved(n, constant(n, ndim, shape));
}
static uint32_t half_input(network *n, int32_t ndim, const int64_t *shape) {
  return halved(n, add_input(n, ndim, shape));
}
static uint32_t rms_normed(network *n, uint32_t x) {
  return NODE(n, "RMSNormalization", 23, x, half_constant(n, SHAPE(8)));
}
static uint32_t multiplied(network *n, uint32_t x) {
  return NODE(n, "MatMul", 13, x, half_constant(n, SHAPE(8, 12)));
}
static uint32_t product_of_a_norm(network *n) {
  return widened(n, multiplied(n, rms_normed(n, half_input(n, SHAPE(2, 2, 8)))));
}
/* The sums of what is not normalised may overflow. */
static uint32_t product_of_a_norm_of_floats(network *n) {
  const uint32_t x = NODE(n, "RMSNormalization", 23, input_of_rows(n), constant(n, SHAPE(8)));
  return NODE(n, "MatMul", 13, x, constant(n, SHAPE(8, 12)));
}
static uint32_t products_of_a_norm(network *n) {
  static const leat_attribute transposed = ATTRIBUTE(INT, .name = "transB", .i = 1);
  static const leat_attribute *const list[] = {&transposed};
  const uint32_t x = rms_normed(n, half_input(n, SHAPE(2, 8))), y = multiplied(n, x);
  const uint32_t w = half_constant(n, SHAPE(12, 8)), bias = half_constant(n, SHAPE(12));
  const uint32_t z = NODE(n, "Gemm", 13, x, w, bias);
  set_attributes(n, list, 1);
  add_output(n, widened(n, y));
  return widened(n, z);
}
static uint32_t norm_needed_elsewhere(network *n) {
  const uint32_t x = rms_normed(n, half_input(n, SHAPE(2, 2, 8))), y = multiplied(n, x);
  add_output(n, widened(n, x));
  return widened(n, y);
}
/* What language models have between two sums, of float32. */
static uint32_t gated_layer(network *n) {
  const uint32_t x = add_input(n, SHAPE(1, 1, 8)), gate = NODE(n, "MatMul", 13, x, constant(n, SHAPE(8, 12)));
  const uint32_t up = NODE(n, "MatMul", 13, x, constant(n, SHAPE(8, 12)));
  const uint32_t inner = NODE(n, "Mul", 14, NODE(n, "Relu", 14, gate), up);
  return NODE(n, "Add", 14, x, NODE(n, "MatMul", 13, inner, constant(n, SHAPE(12, 8))));
}
static uint32_t row_times_a_constant(network *n) {
  const uint32_t x = NODE(n, "Mul", 14, constant(n, SHAPE(8)), add_input(n, SHAPE(3, 8)));
  return NODE(n, "MatMul", 13, x, constant(n, SHAPE(8, 12)));
}
/* com.microsoft's sum and norm; with `sum` that is given too. */
static uint32_t skip_normed(network *n, uint32_t x, uint32_t skip, bool sum) {
  const uint32_t scale = half_constant(n, SHAPE(8));
  const uint32_t y = NODE(n, "SkipSimplifiedLayerNormalization", 1, x, skip, scale), k = n->desc.node_count - 1;
  n->nodes[k].domain = "com.microsoft";
  if (sum) {
    n->arguments[k][1][1] = n->arguments[k][1][2] = LEAT_GRAPH_NO_VALUE;
    n->nodes[k].output_count = 3;
    add_output(n, widened(n, add_part(n)));
  }
  return y;
}
/* A product and what com.microsoft has behind it. */
static uint32_t behind_product(network *n, const char *operator, uint32_t inputs) {
  const uint32_t x = product(n), bias = inputs > 1 ? constant(n, SHAPE(8)) : LEAT_GRAPH_NO_VALUE;
  const uint32_t skip = inputs > 2 ? add_input(n, SHAPE(2, 3, 8)) : LEAT_GRAPH_NO_VALUE;
  const uint32_t y = inputs > 2   ? NODE(n, operator, 1, x, bias, skip)
                     : inputs > 1 ? NODE(n, operator, 1, x, bias)
                                  : NODE(n, operator, 1, x);
  n->nodes[n->desc.node_count - 1].domain = "com.microsoft";
  return y;
}
static uint32_t bias_gelu(network *n) {
  return behind_product(n, "BiasGelu", 2);
}
static uint32_t fast_gelu(network *n) {
  return behind_product(n, "FastGelu", 1);
}
static uint32_t fast_gelu_of_bias(network *n) {
  return NODE(n, "Mul", 14, behind_product(n, "FastGelu", 2), add_input(n, SHAPE(2, 3, 8)));
}
static uint32_t bias_add(network *n) {
  return behind_product(n, "BiasAdd", 3);
}
/* Of a tensor that no product gives: part of a chain. */
static uint32_t chained_bias_gelu(network *n) {
  const uint32_t x = add_input(n, SHAPE(2, 3, 8));
  const uint32_t y = NODE(n, "BiasGelu", 1, NODE(n, "Neg", 13, x), constant(n, SHAPE(8)));
  n->nodes[n->desc.node_count - 1].domain = "com.microsoft";
  return NODE(n, "Mul", 14, y, x);
}
static uint32_t half_product(network *n, uint32_t x) {
  return NODE(n, "MatMul", 13, x, half_constant(n, SHAPE(8, 8)));
}
static uint32_t skip_norm_of_a_product(network *n) {
  const uint32_t x = half_input(n, SHAPE(2, 8));
  return widened(n, multiplied(n, skip_normed(n, x, half_product(n, x), false)));
}
static uint32_t skip_norm_and_sum_of_a_product(network *n) {
  const uint32_t x = half_input(n, SHAPE(2, 8)), z = NODE(n, "Softmax", 13, x);
  return widened(n, multiplied(n, skip_normed(n, half_product(n, x), z, true)));
}
/* The sum cannot be made where the product is: what it adds comes later. */
static uint32_t skip_norm_of_what_comes_later(network *n) {
  const uint32_t x = half_input(n, SHAPE(2, 8)), y = half_product(n, x), z = NODE(n, "Softmax", 13, x);
  return widened(n, skip_normed(n, z, y, true));
}
static uint32_t skip_norm_of_many_rows(network *n) {
  const uint32_t x = half_input(n, SHAPE(17, 8));
  return widened(n, multiplied(n, skip_normed(n, x, half_product(n, x), false)));
}
/* x[2, 3, 8] as bytes times a matrix of bytes with 12 columns, as float32, and what it is to be multiplied by: the
 * scale of x times that of the matrix, which has this shape. */
static uint32_t byte_product(network *n, int32_t ndim, const int64_t *shape, uint32_t *out_scale) {
  const uint32_t x = NODE(n, "DynamicQuantizeLinear", 11, add_input(n, SHAPE(2, 3, 8)));
  const uint32_t scale = add_part(n), zero = add_part(n);
  const uint32_t w = NODE(n, "QuantizeLinear", 10, constant(n, SHAPE(8, 12)), scalar(n, 1.0f / 64));
  const uint32_t sums = NODE(n, "MatMulInteger", 10, x, w, zero);
  *out_scale = NODE(n, "Mul", 14, scale, constant(n, ndim, shape));
  return widened(n, sums);
}
static uint32_t byte_product_with_bias(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_product(n, SHAPE(12), &scale);
  return NODE(n, "Add", 14, constant(n, SHAPE(12)), NODE(n, "Mul", 14, sums, scale));
}
static uint32_t byte_product_of_one_scale(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_product(n, 0, NULL, &scale), y = NODE(n, "Mul", 14, scale, sums);
  return NODE(n, "Relu", 14, NODE(n, "Add", 14, y, constant(n, SHAPE(3, 12))));
}
static uint32_t byte_product_with_a_column(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_product(n, SHAPE(3, 1), &scale);
  return NODE(n, "Mul", 14, sums, scale);
}
static uint32_t byte_product_needed_elsewhere(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_product(n, SHAPE(12), &scale);
  add_output(n, sums);
  return NODE(n, "Mul", 14, sums, scale);
}
static uint32_t byte_product_of_a_given_scale(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_product(n, SHAPE(12), &scale);
  add_output(n, scale);
  return NODE(n, "Mul", 14, sums, add_input(n, SHAPE(12)));
}
/* Bytes of a value by the scale 1/16, and the floats that they are. */
static uint32_t to_bytes(network *n, uint32_t x) {
  return NODE(n, "QuantizeLinear", 13, x, scalar(n, 1.0f / 16));
}
static uint32_t quantised(network *n, uint32_t x) {
  return NODE(n, "DequantizeLinear", 13, to_bytes(n, x), scalar(n, 1.0f / 16));
}
/* Such an image and weights, multiplied. */
static uint32_t quantised_image_to_floats(network *n) {
  const uint32_t x = quantised(n, add_input(n, SHAPE(2, 8, 3, 4)));
  return NODE(n, "Conv", 11, x, quantised(n, constant(n, SHAPE(6, 8, 1, 1))), constant(n, SHAPE(6)));
}
static uint32_t quantised_image(network *n) {
  return quantised(n, NODE(n, "Relu", 14, quantised_image_to_floats(n)));
}
static uint32_t quantised_matrices(network *n) {
  const uint32_t x = quantised(n, add_input(n, SHAPE(5, 8)));
  return NODE(n, "MatMul", 13, x, quantised(n, constant(n, SHAPE(8, 12))));
}
static uint32_t quantised_product(network *n) {
  return quantised(n, NODE(n, "Add", 14, constant(n, SHAPE(12)), quantised_matrices(n)));
}
static uint32_t quantised_gemm(network *n) {
  static const leat_attribute turned = ATTRIBUTE(INT, .name = "transB", .i = 1);
  static const leat_attribute *const list[] = {&turned};
  const uint32_t x = quantised(n, add_input(n, SHAPE(5, 8)));
  const uint32_t y = NODE(n, "Gemm", 13, x, quantised(n, constant(n, SHAPE(12, 8))), constant(n, SHAPE(12)));
  set_attributes(n, list, 1);
  return quantised(n, NODE(n, "Relu", 14, y));
}
static uint32_t quantised_and_needed(network *n) {
  const uint32_t y = quantised_matrices(n);
  add_output(n, NODE(n, "Softmax", 13, y));
  return quantised(n, y);
}
/* With a scale for each row of the first operand. */
static uint32_t quantised_rows(network *n) {
  static const leat_attribute rows = ATTRIBUTE(INT, .name = "axis", .i = 0);
  static const leat_attribute *const list[] = {&rows};
  const uint32_t x = NODE(n, "DequantizeLinear", 13, to_bytes(n, add_input(n, SHAPE(5, 8))), constant(n, SHAPE(5)));
  set_attributes(n, list, 1);
  return quantised(n, NODE(n, "MatMul", 13, x, quantised(n, constant(n, SHAPE(8, 12)))));
}
static uint32_t quantised_groups(network *n) {
  static const leat_attribute four = ATTRIBUTE(INT, .name = "group", .i = 4);
  static const leat_attribute *const list[] = {&four};
  const uint32_t x = quantised(n, add_input(n, SHAPE(2, 8, 3, 4)));
  const uint32_t y = NODE(n, "Conv", 11, x, quantised(n, constant(n, SHAPE(8, 2, 1, 1))));
  set_attributes(n, list, 1);
  return to_bytes(n, y);
}
static uint32_t quantised_by_floats(network *n) {
  const uint32_t x = quantised(n, add_input(n, SHAPE(2, 8, 3, 4)));
  return NODE(n, "Conv", 11, x, constant(n, SHAPE(6, 8, 1, 1)));
}
/* x[1, 4, 3, 12] as bytes, convolved by bytes to 12 channels of that size, as float32, and what it is to be multiplied
 * by, as above. */
static uint32_t byte_image(network *n, int32_t ndim, const int64_t *shape, uint32_t *out_scale) {
  static const int64_t around[] = {1, 0, 1, 2};
  static const leat_attribute padding = ATTRIBUTE(INTS, .name = "pads", .ints = around, .count = 4);
  static const leat_attribute *const list[] = {&padding};
  const uint32_t x = NODE(n, "DynamicQuantizeLinear", 11, add_input(n, SHAPE(1, 4, 3, 12)));
  const uint32_t scale = add_part(n), zero = add_part(n);
  const uint32_t w = NODE(n, "QuantizeLinear", 10, constant(n, SHAPE(12, 4, 3, 3)), scalar(n, 1.0f / 64));
  const uint32_t sums = NODE(n, "ConvInteger", 10, x, w, zero);
  set_attributes(n, list, 1);
  *out_scale = NODE(n, "Mul", 14, constant(n, ndim, shape), scale);
  return widened(n, sums);
}
static uint32_t byte_image_with_bias(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_image(n, 0, NULL, &scale), y = NODE(n, "Mul", 14, sums, scale);
  return NODE(n, "Add", 14, y, constant(n, SHAPE(1, 12, 1, 1)));
}
static uint32_t byte_image_with_scales(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_image(n, SHAPE(12, 1, 1), &scale), y = NODE(n, "Mul", 14, scale, sums);
  return NODE(n, "Relu", 14, NODE(n, "Add", 14, constant(n, SHAPE(12, 1, 1)), y));
}
/* As many as there are channels, but along the last dimension. */
static uint32_t byte_image_with_a_row(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_image(n, SHAPE(12), &scale);
  return NODE(n, "Mul", 14, sums, scale);
}
static uint32_t byte_image_plus_a_row(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_image(n, 0, NULL, &scale), y = NODE(n, "Mul", 14, sums, scale);
  return NODE(n, "Add", 14, y, constant(n, SHAPE(12)));
}
static uint32_t byte_image_with_a_column(network *n) {
  uint32_t scale;
  const uint32_t sums = byte_image(n, SHAPE(12, 3, 1), &scale);
  return NODE(n, "Mul", 14, sums, scale);
}

static const DLDataType s8_type = {kDLInt, 8, 1}, u8_type = {kDLUInt, 8, 1}, s16_type = {kDLInt, 16, 1};

/* An input of the graph, [3, 8] of integers. */
static uint32_t coded_input(network *n, DLDataType type) {
  const int64_t shape[] = {3, 8};
  const uint32_t v = add_value(n, type, 2, shape);
  n->tensors[v].data = n->floats[v];
  n->inputs[n->desc.input_count++] = v;
  return v;
}
/* A zero point that all elements have. */
static uint32_t zero_point(network *n, DLDataType type, int64_t value) {
  const uint32_t v = add_value(n, type, 0, NULL);
  n->tensors[v].data = n->ints[v];
  n->ints[v][0] = value;
  n->infos[v].value = &n->tensors[v];
  return v;
}
static uint32_t decoded(network *n, DLDataType type, uint32_t scale, int64_t zero) {
  return NODE(n, "DequantizeLinear", 13, coded_input(n, type), scale, zero_point(n, type, zero));
}
static uint32_t coded(network *n, DLDataType type, uint32_t x, int64_t zero) {
  return NODE(n, "QuantizeLinear", 13, x, scalar(n, 0.05f), zero_point(n, type, zero));
}
/* A quantised product by com.microsoft's operators, which a quantiser writes for types that ONNX's lack. */
static uint32_t contributed(network *n, const char *name, uint32_t x) {
  const uint32_t y = NODE(n, name, 1, x, scalar(n, 1.0f / 16), zero_point(n, u8_type, 128));
  n->nodes[n->desc.node_count - 1].domain = "com.microsoft";
  return y;
}
static uint32_t quantised_by_contributed(network *n) {
  uint32_t x[2] = {add_input(n, SHAPE(5, 8)), constant(n, SHAPE(8, 12))};
  for (uint32_t i = 0; i < 2; ++i) {
    x[i] = contributed(n, "DequantizeLinear", contributed(n, "QuantizeLinear", x[i]));
  }
  const uint32_t y = contributed(n, "QuantizeLinear", NODE(n, "MatMul", 13, x[0], x[1]));
  return contributed(n, "DequantizeLinear", y);
}
static uint32_t sum_of_bytes(network *n) {
  const uint32_t a = decoded(n, u8_type, scalar(n, 0.02f), 120), b = decoded(n, s8_type, scalar(n, 0.03f), -7);
  return coded(n, u8_type, NODE(n, "Relu", 14, NODE(n, "Add", 14, a, b)), 3);
}
static uint32_t function_of_bytes(network *n) {
  return NODE(n, "Sigmoid", 13, decoded(n, s8_type, scalar(n, 0.02f), 1));
}
/* Without a zero point it is 0, and what is given then is uint8. */
static uint32_t bytes_of_a_function(network *n) {
  return NODE(n, "QuantizeLinear", 13, NODE(n, "HardSwish", 14, add_input(n, SHAPE(3, 8))), constant(n, SHAPE(1)));
}
static uint32_t bytes_from_function_to_function(network *n) {
  const uint32_t y = coded(n, u8_type, NODE(n, "Relu", 14, decoded(n, u8_type, scalar(n, 0.02f), 120)), 0);
  const uint32_t again = NODE(n, "DequantizeLinear", 13, y, scalar(n, 0.05f), zero_point(n, u8_type, 0));
  return coded(n, s8_type, NODE(n, "Tanh", 13, again), 5);
}
static uint32_t bytes_of_a_chain_needed_elsewhere(network *n) {
  const uint32_t x = decoded(n, u8_type, scalar(n, 0.02f), 120);
  add_output(n, x);
  return NODE(n, "Relu", 14, NODE(n, "Mul", 14, x, add_input(n, SHAPE(8))));
}
static uint32_t bytes_needed_elsewhere(network *n) {
  const uint32_t x = decoded(n, u8_type, scalar(n, 0.02f), 120);
  add_output(n, x);
  return NODE(n, "Relu", 14, x);
}
static uint32_t floats_needed_elsewhere(network *n) {
  const uint32_t x = NODE(n, "Relu", 14, add_input(n, SHAPE(3, 8)));
  add_output(n, x);
  return coded(n, u8_type, x, 0);
}
static uint32_t bytes_with_a_row_of_scales(network *n) {
  const uint32_t row = constant(n, SHAPE(8)), zeros = constant(n, SHAPE(8));
  n->infos[zeros].dtype = n->tensors[zeros].dtype = u8_type;
  const uint32_t a = decoded(n, u8_type, scalar(n, 0.02f), 120);
  const uint32_t b = NODE(n, "DequantizeLinear", 13, coded_input(n, u8_type), row, zeros);
  return coded(n, u8_type, NODE(n, "Add", 14, a, b), 3);
}
static uint32_t bytes_to_a_row_of_scales(network *n) {
  const uint32_t row = constant(n, SHAPE(8));
  return NODE(n, "QuantizeLinear", 13, NODE(n, "Relu", 14, add_input(n, SHAPE(3, 8))), row);
}
static uint32_t bytes_of_a_given_scale(network *n) {
  return NODE(n, "Relu", 14, decoded(n, u8_type, add_input(n, 0, NULL), 120));
}
static uint32_t bytes_of_a_given_zero_point(network *n) {
  const uint32_t zero = zero_point(n, u8_type, 7);
  n->infos[zero].value = NULL;
  n->inputs[n->desc.input_count++] = zero;
  return NODE(n, "Relu", 14, NODE(n, "DequantizeLinear", 13, coded_input(n, u8_type), scalar(n, 0.02f), zero));
}
static uint32_t bytes_of_scale_zero(network *n) {
  return NODE(n, "Relu", 14, decoded(n, u8_type, scalar(n, 0), 120));
}
static uint32_t bytes_to_bytes(network *n) {
  return coded(n, s8_type, decoded(n, u8_type, scalar(n, 0.02f), 120), -3);
}
static uint32_t function_of_words(network *n) {
  return coded(n, s16_type, NODE(n, "Relu", 14, decoded(n, s16_type, scalar(n, 0.02f), 0)), -3);
}
static uint32_t bytes_of_halves(network *n) {
  const uint32_t x = NODE(n, "Relu", 14, decoded(n, u8_type, add_half(n, 0x2400), 120));
  return NODE(n, "QuantizeLinear", 19, x, add_half(n, 0x2a00), zero_point(n, u8_type, 3));
}
/* In float16 the quotient is another one. */
static uint32_t bytes_by_halves(network *n) {
  static const leat_attribute precision = ATTRIBUTE(INT, .name = "precision", .i = 10);
  static const leat_attribute *const list[] = {&precision};
  const uint32_t x = NODE(n, "Relu", 14, decoded(n, u8_type, scalar(n, 0.02f), 120));
  const uint32_t y = NODE(n, "QuantizeLinear", 23, x, scalar(n, 0.05f), zero_point(n, u8_type, 3));
  set_attributes(n, list, 1);
  return y;
}
static uint32_t product_of_a_norm_of_many_rows(network *n) {
  return widened(n, multiplied(n, rms_normed(n, half_input(n, SHAPE(17, 8)))));
}
static uint32_t few_columns_of_a_norm_of_many_rows(network *n) {
  const uint32_t x = rms_normed(n, half_input(n, SHAPE(17, 8)));
  return widened(n, NODE(n, "MatMul", 13, x, half_constant(n, SHAPE(8, 2))));
}
static uint32_t matrices_of_a_norm(network *n) {
  const uint32_t x = rms_normed(n, half_input(n, SHAPE(2, 3, 8)));
  return widened(n, NODE(n, "MatMul", 13, x, half_constant(n, SHAPE(2, 8, 12))));
}
static uint32_t norm_on_the_right(network *n) {
  const uint32_t x = half_input(n, SHAPE(3, 2));
  return widened(n, NODE(n, "MatMul", 13, x, rms_normed(n, half_input(n, SHAPE(2, 8)))));
}
static uint32_t norm_that_is_transposed(network *n) {
  static const leat_attribute transposed = ATTRIBUTE(INT, .name = "transA", .i = 1);
  static const leat_attribute *const list[] = {&transposed};
  const uint32_t w = half_constant(n, SHAPE(2, 12)), x = rms_normed(n, half_input(n, SHAPE(2, 8)));
  const uint32_t y = NODE(n, "Gemm", 13, x, w);
  set_attributes(n, list, 1);
  return widened(n, y);
}
static uint32_t norm_of_two_dimensions(network *n) {
  static const leat_attribute second = ATTRIBUTE(INT, .name = "axis", .i = 1);
  static const leat_attribute *const list[] = {&second};
  const uint32_t scale = half_constant(n, SHAPE(2, 8));
  const uint32_t y = NODE(n, "RMSNormalization", 23, half_input(n, SHAPE(2, 2, 8)), scale);
  set_attributes(n, list, 1);
  return widened(n, multiplied(n, y));
}
static uint32_t norm_with_a_scale_for_each_row(network *n) {
  const uint32_t scale = half_constant(n, SHAPE(2, 8));
  return widened(n, multiplied(n, NODE(n, "RMSNormalization", 23, half_input(n, SHAPE(2, 2, 8)), scale)));
}
static uint32_t product_of_a_layer_norm(network *n) {
  return NODE(n, "MatMul", 13, normed(n, input_of_rows(n)), constant(n, SHAPE(8, 12)));
}
static uint32_t rows_times_a_column(network *n) {
  const uint32_t x = NODE(n, "Mul", 14, add_input(n, SHAPE(3, 8)), add_input(n, SHAPE(3, 1)));
  return NODE(n, "MatMul", 13, x, constant(n, SHAPE(8, 12)));
}
static uint32_t factor_needed_elsewhere(network *n) {
  const uint32_t x = NODE(n, "Mul", 14, add_input(n, SHAPE(3, 8)), add_input(n, SHAPE(3, 8)));
  add_output(n, x);
  return NODE(n, "MatMul", 13, x, constant(n, SHAPE(8, 12)));
}

/* ---- Running them ------------------------------------------------------------------------------------------------
 */

typedef struct scene {
  const char *name;
  uint32_t (*make)(network *n);
  uint32_t counts[LEATI_FUSION_COUNT];
  uint32_t dispatches;
  /* Of the largest result: where fewer roundings are made, each of the results is off by some units in the last place
   * of what it was computed from, at most 1 + |x| here. 0: the same bits. */
  double tolerance;
} scene;

#define WRITTEN_OUT (8 * 0x1p-23)
/* Means of 8 numbers up to 2 are off by 8 roundings; dividing by a root of 0.7 and more makes that twice as much. */
#define NORM (32 * 0x1p-23)
/* A score is a sum of up to 8 products of numbers up to 4, so that both ways are off by 10 * 2^-24 * 128 each; a weight
 * is off by that part of itself, twice, for the sum of weights is too, and so is what is summed with the weights. */
#define ATTENDED (8 * 10 * 0x1p-24 * 128)
/* A product of `k` numbers up to 2 with others up to `most`, which were rounded to 16 bits up to seven times, and once
 * more itself. */
#define HALVES(k, most) ((k)*2.0 * (most)*8 * 0x1p-11)
/* Of float16: scores, which are up to 16 however they are scaled, are rounded three times at most; a weight is off by
 * as much of itself, twice for the sum of weights, and rounded; and so is what is summed with them, up to 2, at the
 * end. */
#define HALVES_ATTENDED (2 * (2 * 3 * 16 + 2) * 0x1p-11)
/* A sum that is rounded to float16 is off by 2^-11 of itself, the root of the mean square of its row by as much, and
 * both results are rounded. */
#define HALVES_NORMED (4 * 0x1p-11)
/* In units of 2^-24, either way: means of up to 25 numbers up to 2 are off by 27 * 2; sums of four products of them
 * with weights up to 2 by what these are off and 7 * 18 of their own; those of three products of such by as much again
 * and 6 * 110. The function's slope is below 1. Times a pixel and a weight, each up to 2, four such are added up then.
 */
#define SQUEEZED (2 * (3 * 2 * (4 * 2 * 27 * 2 + 7 * 18) + 6 * 110) * 0x1p-24)
/* A norm of 8 elements of float16 is at most 6 with scales up to 2. By parts it is rounded to 16 bits, and perhaps the
 * sum before it; 8 of them are multiplied by weights up to 2, and what that gives, up to 96, is rounded by both ways.
 */
#define NORM_MULTIPLIED ((8 * 2 * 6 * 2 + 2 * 96) * 0x1p-11)
/* Elements and factors up to 2 are rounded once more by one way, and the sums of 8 of their products with weights up to
 * 2 ten times by both. */
#define MULTIPLIED (8 * 2 * 4 * (1 + 2 * 10) * 0x1p-24)
/* Both halves are up to 32 and off by ten roundings either way; 12 products of them are multiplied by weights up to 2.
 */
#define GATED (12 * 2 * 32 * 32 * (2 * 10 + 2 * 14) * 0x1p-24)
/* Two products up to 4 and a sum up to 8, each rounded once by one way, by the other but one product. */
#define ROTATED ((4 + 4 + 8 + 4 + 8) * 0x1p-24)
#define DONE(rule, times) [LEATI_FUSION_##rule] = (times)

static const scene scenes[] = {
    {"bias", bias, {DONE(BIAS, 1)}, 1, 0},
    {"bias first", bias_first, {DONE(BIAS, 1)}, 1, 0},
    {"bias, Relu", bias_relu, {DONE(BIAS, 1), DONE(ACTIVATION, 1)}, 1, 0},
    {"bias, Gelu, residual",
     bias_gelu_residual,
     {DONE(GELU, 1), DONE(BIAS, 1), DONE(ACTIVATION, 1), DONE(RESIDUAL, 1)},
     1,
     WRITTEN_OUT},
    {"BiasGelu", bias_gelu, {DONE(BIAS, 1)}, 1, 0},
    {"FastGelu", fast_gelu, {DONE(ACTIVATION, 1)}, 1, 0},
    {"FastGelu with a bias, product of elements", fast_gelu_of_bias, {DONE(BIAS, 1)}, 2, 0},
    {"BiasAdd", bias_add, {DONE(BIAS, 1)}, 1, 0},
    {"BiasGelu among others", chained_bias_gelu, {DONE(CHAIN, 1)}, 1, 0},
    {"bias, residual, Relu", residual_then_relu, {DONE(BIAS, 1), DONE(ACTIVATION, 1), DONE(RESIDUAL, 1)}, 1, 0},
    {"Gemm, Clip", gemm_clip, {DONE(ACTIVATION, 1)}, 1, 0},
    {"Gemm 9, Clip 6", gemm_clip_6, {DONE(ACTIVATION, 1)}, 1, 0},
    {"Conv 1, Clip 6", conv_clip_6, {DONE(ACTIVATION, 1)}, 1, 0},
    {"Clip 6 among others", chain_of_clip_6, {DONE(CHAIN, 1)}, 1, 0},
    {"Gemm with a matrix, Tanh", gemm_of_a_matrix, {DONE(ACTIVATION, 1)}, 1, 0},
    {"two layers", two_layers, {DONE(FLATTEN, 2), DONE(ACTIVATION, 1), DONE(RESIDUAL, 1)}, 2, 0},
    {"residual behind reshapes", residual_behind_reshapes, {DONE(RESIDUAL, 1)}, 1, 0},
    {"scale", scaled, {DONE(SCALE, 1)}, 1, 0},
    {"division by 8", divided, {DONE(SCALE, 1)}, 1, 0},
    {"Conv, Relu", conv_relu, {DONE(ACTIVATION, 1)}, 1, 0},
    {"Conv, Relu, Conv, residual, Relu", conv_add_relu, {DONE(ACTIVATION, 2), DONE(RESIDUAL, 1)}, 2, 0},
    {"Conv, HardSwish", conv_hard_swish, {DONE(SWISH, 1), DONE(ACTIVATION, 1)}, 1, WRITTEN_OUT},
    {"Conv, SiLU", conv_silu, {DONE(SWISH, 1), DONE(ACTIVATION, 1)}, 1, WRITTEN_OUT},
    {"Conv, SiLU, Conv, residual, Relu of float16",
     conv_of_halves,
     {DONE(SWISH, 1), DONE(ACTIVATION, 2), DONE(RESIDUAL, 1)},
     4,
     HALVES(4, 18)},
    {"bias, Gelu, product, residual of float16",
     layer_of_halves,
     {DONE(GELU, 1), DONE(BIAS, 1), DONE(ACTIVATION, 1), DONE(RESIDUAL, 1)},
     4,
     HALVES(8, 34)},
    {"another Gelu of float16", other_gelu_of_halves, {DONE(CHAIN, 1)}, 3, 0},
    {"chain of float16", chain_of_halves, {DONE(CHAIN, 1)}, 3, 0},
    {"sum of three of float16", sum_of_halves, {0}, 9, 0},
    {"product of float16, widened, bias", product_of_halves_widened, {0}, 4, 0},
    {"QuickGelu", quick_gelu, {DONE(SWISH, 1)}, 1, WRITTEN_OUT},
    {"Gelu, first order", gelu_order_0, {DONE(GELU, 1)}, 1, WRITTEN_OUT},
    {"Gelu, second order", gelu_order_1, {DONE(GELU, 1)}, 1, WRITTEN_OUT},
    {"Gelu, third order", gelu_order_2, {DONE(GELU, 1)}, 1, WRITTEN_OUT},
    {"Gelu by tanh and Pow", gelu_tanh_pow, {DONE(GELU, 1)}, 1, WRITTEN_OUT},
    {"Gelu by tanh and Mul", gelu_tanh_mul, {DONE(GELU, 1), DONE(BIAS, 1), DONE(ACTIVATION, 1)}, 1, WRITTEN_OUT},
    {"squeeze and excite", squeeze_and_excite, {DONE(ACTIVATION, 1), DONE(GATE, 1)}, 3, 0},
    {"squeeze", squeeze_of_a_pool, {DONE(ACTIVATION, 2), DONE(SQUEEZE, 1)}, 1, SQUEEZED},
    {"squeeze of means", squeeze_of_means, {DONE(ACTIVATION, 2), DONE(SQUEEZE, 1)}, 1, SQUEEZED},
    {"squeeze of one line", squeeze_of_one_line, {DONE(ACTIVATION, 2), DONE(SQUEEZE, 1)}, 1, SQUEEZED},
    {"squeeze and gate",
     squeeze_and_gate,
     {DONE(ACTIVATION, 2), DONE(SQUEEZE, 1), DONE(GATE, 1)},
     2,
     4 * 2 * 2 * SQUEEZED},
    {"squeeze of lines", squeeze_of_lines, {DONE(ACTIVATION, 2)}, 3, 0},
    {"means for two", means_for_two, {DONE(ACTIVATION, 2)}, 3, 0},
    {"squeeze of the largest", squeeze_of_the_largest, {DONE(ACTIVATION, 2)}, 3, 0},
    {"squeeze with windows", squeeze_with_windows, {DONE(ACTIVATION, 2)}, 3, 0},
    {"squeeze of padding", squeeze_of_padding, {DONE(ACTIVATION, 2)}, 3, 0},
    {"gate first", gate_first, {DONE(ACTIVATION, 2), DONE(RESIDUAL, 1), DONE(GATE, 1)}, 3, 0},
    {"gate, to few channels", to_few_channels, {0}, 2, 0},
    {"gate, of few pixels", of_few_pixels, {0}, 2, 0},
    {"gated for two", gated_for_two, {0}, 2, 0},
    {"gate for each line", gate_for_each_line, {0}, 2, 0},
    {"gate for all images", gate_for_all_images, {0}, 2, 0},
    {"gate before windows", gate_before_windows, {0}, 2, 0},
    {"and true", and_true, {DONE(NEUTRAL, 1)}, 2, 0},
    {"or false", or_false, {DONE(NEUTRAL, 2)}, 2, 0},
    {"and partly true", and_partly_true, {0}, 3, 0},
    {"or true", or_true, {0}, 4, 0},
    {"and of inputs", and_of_inputs, {0}, 4, 0},
    {"rotary embedding", rotary, {DONE(ROTARY, 1)}, 1, ROTATED},
    {"rotary embedding, turned", rotary_turned, {DONE(ROTARY, 1)}, 1, ROTATED},
    {"rotary embedding by Split", rotary_by_split, {DONE(ROTARY, 1)}, 1, ROTATED},
    {"rotary embedding by Slice 1", rotary_by_slice_1, {DONE(ROTARY, 1)}, 1, ROTATED},
    {"rotary embedding by Slice 1 the other way", rotary_by_slice_1_the_other_way, {DONE(CHAIN, 1)}, 3, 0},
    {"rotary embedding of unequal parts", rotary_of_unequal_parts, {DONE(CHAIN, 1)}, 3, 0},
    {"rotary embedding the other way", rotary_the_other_way, {DONE(CHAIN, 1)}, 3, 0},
    {"HardSwish by Clip", hard_swish_by_clip, {DONE(CHAIN, 1)}, 1, 0},
    {"normalisation, Relu", normalised, {DONE(CHAIN, 1)}, 1, 0},
    {"sum taken twice", taken_twice_inside, {DONE(CHAIN, 1)}, 1, 0},
    {"sum, SiLU", silu_of_a_sum, {DONE(SWISH, 1), DONE(CHAIN, 1)}, 1, WRITTEN_OUT},
    {"all kinds", all_kinds, {DONE(CHAIN, 1)}, 1, 0},
    {"16 steps", sixteen_steps, {DONE(CHAIN, 1)}, 1, 0},
    {"17 steps", seventeen_steps, {DONE(CHAIN, 1)}, 2, 0},
    {"40 steps", forty_steps, {DONE(CHAIN, 3)}, 3, 0},
    {"sum of ten", sum_of_ten, {DONE(CHAIN, 2)}, 2, 0},
    {"bias, Relu, more", behind_a_product, {DONE(BIAS, 1), DONE(ACTIVATION, 1), DONE(CHAIN, 1)}, 2, 0},
    {"of a view", of_a_view, {DONE(CHAIN, 1)}, 1, 0},
    {"no elements", of_nothing, {DONE(CHAIN, 1)}, 0, 0},
    {"inner output", inner_output, {0}, 2, 0},
    {"inner value needed elsewhere", inner_needed_elsewhere, {0}, 3, 0},
    {"smaller part", smaller_part, {0}, 2, 0},
    {"integers", of_integers, {0}, 4, 0},
    {"constant of higher rank", constant_of_higher_rank, {0}, 2, 0},
    {"layer norm by Mul", layer_norm_by_mul, {DONE(LAYER_NORM, 1)}, 1, NORM},
    {"layer norm by Pow", layer_norm_by_pow, {DONE(LAYER_NORM, 1)}, 1, NORM},
    {"layer norm turned round", layer_norm_turned_round, {DONE(LAYER_NORM, 1)}, 1, NORM},
    {"RMS norm", rms_norm, {DONE(RMS_NORM, 1)}, 1, NORM},
    {"RMS norm by division", rms_norm_by_division, {DONE(RMS_NORM, 1)}, 1, NORM},
    {"norm of columns", norm_of_columns, {DONE(CHAIN, 2)}, 6, 0},
    {"norm with another power", norm_with_another_power, {DONE(CHAIN, 2)}, 6, 0},
    {"norm with a column", norm_with_a_column, {DONE(RMS_NORM, 1)}, 4, NORM},
    {"norm and difference", norm_and_difference, {DONE(RMS_NORM, 1)}, 4, NORM},
    {"norm about another mean", norm_about_another, {DONE(RMS_NORM, 1)}, 4, NORM},
    {"norm of another", norm_of_another, {DONE(CHAIN, 2)}, 4, 0},
    {"sum, layer norm", sum_normed, {DONE(SKIP_NORM, 1)}, 1, 0},
    {"sum, layer norm, and the sum", sum_normed_and_kept, {DONE(SKIP_NORM, 1), DONE(CHAIN, 1)}, 2, 0},
    {"sum, RMS norm", sum_normed_by_rms, {DONE(SKIP_NORM, 1)}, 1, 0},
    {"sum of float16, RMS norm", sum_of_halves_normed, {DONE(SKIP_NORM, 1)}, 4, HALVES_NORMED},
    {"sum with a view, layer norm", turned_and_normed, {DONE(SKIP_NORM, 1)}, 2, 0},
    {"sum of views, layer norm", both_turned_and_normed, {0}, 2, 0},
    {"chain, layer norm", chain_normed, {DONE(CHAIN, 1)}, 2, 0},
    {"sum with a column, layer norm", sum_with_a_column_normed, {0}, 2, 0},
    {"sum with a layer, layer norm", sum_with_a_layer_normed, {0}, 2, 0},
    {"sum, layer norm, and the mean", sum_and_mean, {0}, 2, 0},
    {"sum, norm of two dimensions", sum_normed_in_layers, {0}, 2, 0},
    {"sum, norm scaled by what follows", scale_made_of_the_sum, {0}, 3, 0},
    {"product of a norm", product_of_a_norm, {DONE(FACTOR, 1)}, 3, NORM_MULTIPLIED},
    {"product of a norm of float32", product_of_a_norm_of_floats, {0}, 2, 0},
    {"products of a norm", products_of_a_norm, {DONE(FACTOR, 2)}, 5, NORM_MULTIPLIED},
    {"product of a norm that is needed", norm_needed_elsewhere, {DONE(FACTOR, 1)}, 5, NORM_MULTIPLIED},
    {"gated layer", gated_layer, {DONE(ACTIVATION, 1), DONE(RESIDUAL, 1), DONE(FACTOR, 1)}, 3, GATED},
    {"product of rows times a constant", row_times_a_constant, {DONE(FACTOR, 1)}, 1, MULTIPLIED},
    {"product, skip norm", skip_norm_of_a_product, {DONE(RESIDUAL, 1), DONE(FACTOR, 1)}, 4, NORM_MULTIPLIED},
    {"product, skip norm, and the sum",
     skip_norm_and_sum_of_a_product,
     {DONE(RESIDUAL, 1), DONE(FACTOR, 1)},
     6,
     NORM_MULTIPLIED},
    {"skip norm of what comes later", skip_norm_of_what_comes_later, {0}, 6, 0},
    {"skip norm of many rows", skip_norm_of_many_rows, {0}, 5, 0},
    {"product of int8 or uint8, scales, bias", byte_product_with_bias, {DONE(INTEGER, 2)}, 2, 0},
    {"product of int8 or uint8, one scale, sum", byte_product_of_one_scale, {DONE(INTEGER, 1), DONE(CHAIN, 1)}, 3, 0},
    {"product of int8 or uint8, scales of rows", byte_product_with_a_column, {0}, 5, 0},
    {"product of int8 or uint8 needed elsewhere", byte_product_needed_elsewhere, {0}, 5, 0},
    {"product of int8 or uint8, a scale that is given", byte_product_of_a_given_scale, {0}, 5, 0},
    {"quantised convolution, Relu", quantised_image, {DONE(INTEGER, 3)}, 3, 0},
    {"quantised convolution, floats", quantised_image_to_floats, {DONE(INTEGER, 1)}, 2, 0},
    {"quantised product, bias", quantised_product, {DONE(INTEGER, 3)}, 3, 0},
    {"quantised product, contributed", quantised_by_contributed, {DONE(INTEGER, 2)}, 3, 0},
    {"quantised Gemm", quantised_gemm, {DONE(INTEGER, 3)}, 3, 0},
    {"quantised product, needed as floats", quantised_and_needed, {DONE(INTEGER, 1)}, 5, 0},
    {"quantised rows", quantised_rows, {0}, 5, 0},
    {"quantised groups", quantised_groups, {0}, 4, 0},
    {"quantised image, floats", quantised_by_floats, {0}, 3, 0},
    {"convolution of int8 or uint8, scale, bias", byte_image_with_bias, {DONE(INTEGER, 2)}, 3, 0},
    {"convolution of int8 or uint8, scales, bias, Relu", byte_image_with_scales, {DONE(INTEGER, 3)}, 3, 0},
    {"convolution of int8 or uint8, scales of a row", byte_image_with_a_row, {0}, 6, 0},
    {"convolution of int8 or uint8, scale, a row", byte_image_plus_a_row, {DONE(INTEGER, 1)}, 4, 0},
    {"convolution of int8 or uint8, scales of lines", byte_image_with_a_column, {0}, 6, 0},
    {"sum of bytes, Relu, bytes", sum_of_bytes, {DONE(CHAIN, 1)}, 1, 0},
    {"function of bytes", function_of_bytes, {DONE(CHAIN, 1)}, 1, 0},
    {"bytes of a function", bytes_of_a_function, {DONE(CHAIN, 1)}, 1, 0},
    {"bytes between functions", bytes_from_function_to_function, {DONE(CHAIN, 2)}, 2, 0},
    {"bytes of a chain needed elsewhere", bytes_of_a_chain_needed_elsewhere, {DONE(CHAIN, 1)}, 2, 0},
    {"bytes needed elsewhere", bytes_needed_elsewhere, {0}, 2, 0},
    {"floats needed elsewhere", floats_needed_elsewhere, {0}, 2, 0},
    {"bytes with a row of scales", bytes_with_a_row_of_scales, {DONE(CHAIN, 1)}, 2, 0},
    {"bytes to a row of scales", bytes_to_a_row_of_scales, {0}, 2, 0},
    {"bytes of a given scale", bytes_of_a_given_scale, {0}, 2, 0},
    {"bytes of a given zero point", bytes_of_a_given_zero_point, {0}, 2, 0},
    {"bytes of scale 0", bytes_of_scale_zero, {0}, 2, 0},
    {"bytes to bytes", bytes_to_bytes, {0}, 2, 0},
    {"function of words", function_of_words, {0}, 3, 0},
    {"bytes of float16", bytes_of_halves, {0}, 3, 0},
    {"bytes by float16", bytes_by_halves, {DONE(CHAIN, 1)}, 2, 0},
    {"product of a norm of many rows", product_of_a_norm_of_many_rows, {0}, 4, 0},
    {"few columns of a norm of many rows", few_columns_of_a_norm_of_many_rows, {0}, 4, 0},
    {"matrices of a norm", matrices_of_a_norm, {0}, 4, 0},
    {"norm on the right", norm_on_the_right, {0}, 5, 0},
    {"norm that is transposed", norm_that_is_transposed, {0}, 4, 0},
    {"norm of two dimensions", norm_of_two_dimensions, {0}, 4, 0},
    {"norm with a scale for each row", norm_with_a_scale_for_each_row, {0}, 4, 0},
    {"product of a layer norm", product_of_a_layer_norm, {0}, 2, 0},
    {"rows times a column", rows_times_a_column, {0}, 2, 0},
    {"factor needed elsewhere", factor_needed_elsewhere, {0}, 2, 0},
    {"product used twice", used_twice, {DONE(CHAIN, 1)}, 2, 0},
    {"attention, divided", attention_divided, {DONE(ATTENTION, 3)}, 1, ATTENDED},
    {"attention, scaled before", attention_scaled_before, {DONE(ATTENTION, 3)}, 1, ATTENDED},
    {"attention, scaled before there are heads", attention_scaled_before_heads, {DONE(ATTENTION, 3)}, 1, ATTENDED},
    {"attention, scaled by its size", attention_scaled_by_its_size, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention of given heads", attention_of_given_heads, {DONE(ATTENTION, 3)}, 1, ATTENDED},
    {"attention, plain", attention_plain, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention with Softmax 11", attention_11_by_keys, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"no attention with Softmax 11 of several dimensions", attention_11_by_queries_and_keys, {0}, 4, 0},
    {"no attention with Softmax 11 from the second on", attention_11_by_heads, {0}, 4, 0},
    {"attention with a Cast", attention_cast, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention of float16 with a mask", attention_of_masked_halves, {DONE(ATTENTION, 3)}, 5, HALVES_ATTENDED},
    {"attention of float16, softmax of float32", softmax_widened, {DONE(ATTENTION, 1)}, 5, HALVES_ATTENDED},
    {"attention of float32, softmax of float16", softmax_narrowed, {0}, 5, 0},
    {"attention of float16, mask of float32", mask_of_another_type, {0}, 10, 0},
    {"attention of three dimensions", attention_of_three, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention of one operand", attention_of_one_operand, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention and another Reshape", attention_cut_differently, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention of repeated heads", heads_repeated, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention of repeated caches", caches_repeated, {DONE(ATTENTION, 1)}, 3, ATTENDED},
    {"attention of repeated keys alone", keys_repeated, {DONE(ATTENTION, 1)}, 2, ATTENDED},
    {"attention of heads in turns", heads_repeated_in_turns, {DONE(ATTENTION, 1)}, 3, ATTENDED},
    {"attention of values in turns", values_repeated_in_turns, {DONE(ATTENTION, 1)}, 3, ATTENDED},
    {"attention of float16", attention_of_halves, {DONE(ATTENTION, 1)}, 5, HALVES_ATTENDED},
    {"attention, guarded", attention_guarded, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention, guarded by one element", attention_guarded_by_one_element, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention, guarded, of heads", attention_guarded_of_heads, {DONE(ATTENTION, 3)}, 1, ATTENDED},
    {"attention, guarded, without a mask", attention_guarded_without_mask, {DONE(ATTENTION, 1)}, 1, ATTENDED},
    {"attention, guarded, of float16", attention_guarded_of_halves, {DONE(ATTENTION, 1)}, 5, HALVES_ATTENDED},
    {"attention, guard of float32 and a Cast", guarded_then_cast, {DONE(ATTENTION, 1)}, 5, HALVES_ATTENDED},
    {"attention, Cast and guard of float16", cast_then_guarded, {DONE(ATTENTION, 1)}, 5, HALVES_ATTENDED},
    {"guard by another number", guarded_by_another_number, {0}, 6, 0},
    {"guard by an input", guarded_by_an_input, {0}, 6, 0},
    {"guard by a row", guarded_by_a_row, {0}, 6, 0},
    {"guard the other way", guarded_the_other_way, {0}, 6, 0},
    {"guard by another test", guarded_by_another_test, {0}, 6, 0},
    {"guard tested twice", guard_tested_twice, {0}, 7, 0},
    {"weights used beside their guard", unguarded_used_twice, {0}, 6, 0},
    {"guarded weights used twice", guarded_used_twice, {0}, 6, 0},
    {"softmax along queries", attention_along_queries, {0}, 3, 0},
    {"weights used twice", weights_used_twice, {0}, 3, 0},
    {"scores used twice", scores_used_twice, {0}, 3, 0},
    {"attention scaled by an input", attention_scaled_by_input, {0}, 4, 0},
    {"attention with a larger mask", attention_with_larger_mask, {0}, 4, 0},
    {"keys shared by batches", attention_of_shared_keys, {0}, 3, 0},
    {"product that is an output", is_an_output, {0}, 2, 0},
    {"column in place of a row", not_a_row, {0}, 2, 0},
    {"sum larger than the product", larger_than_the_product, {0}, 2, 0},
    {"scale that is no constant", scale_that_is_given, {0}, 2, 0},
    {"division by 3", divided_by_three, {0}, 2, 0},
    {"division of 8", divides, {0}, 2, 0},
    {"bounds that are no constants", bounds_that_are_given, {0}, 2, 0},
    {"product added to itself", added_to_itself, {0}, 2, 0},
    {"Conv and a row", conv_with_a_row, {0}, 2, 0},
    {"Gemm with beta", gemm_with_beta, {0}, 2, 0},
    {"Reshape to another shape", reshaped_to_something_else, {0}, 1, 0},
    {"another Gelu", gelu_with_another_half, {DONE(CHAIN, 1)}, 1, 0},
    {"Gelu times something else", gelu_times_another, {DONE(CHAIN, 1)}, 1, 0},
    {"another slope", another_slope, {DONE(CHAIN, 1)}, 1, 0},
    {"another offset", another_offset, {DONE(CHAIN, 1)}, 1, 0},
    {"gate of something else", gate_of_another, {DONE(CHAIN, 1)}, 1, 0},
    {"Reshape, transposed product", transposed_and_flattened, {0}, 1, 0},
    {"Reshape, matrices, Reshape", reshaped_between_matrices, {0}, 1, 0},
    {"residual behind a Transpose without a list", residual_behind_a_turn, {0}, 2, 0},
    {"residual behind a Transpose", residual_behind_a_transpose, {0}, 2, 0},
    {"broadcast behind reshapes", broadcast_behind_reshapes, {0}, 2, 0},
    {"another gate", gate_of_something_else, {DONE(CHAIN, 1)}, 1, 0},
};
#define SCENE_COUNT (sizeof(scenes) / sizeof(scenes[0]))

/* Whether LEAT_FUSIONS_OFF, of which this test knows "all" and single names, names a rule. */
static bool is_off(uint32_t rule) {
  const char *const off = getenv("LEAT_FUSIONS_OFF");
  return off != NULL && (strcmp(off, "all") == 0 || strcmp(off, leati_fusion_names[rule]) == 0);
}

static bool any_off(void) {
  const char *const off = getenv("LEAT_FUSIONS_OFF");
  return off != NULL && off[0] != '\0';
}

static void check_counts(const place *p, const scene *s, const leat_graph *graph) {
  leat_graph_fusion list[LEATI_FUSION_COUNT + 1];
  uint32_t count = LEATI_FUSION_COUNT + 1;
  for (uint32_t i = 0; i < count; ++i) {
    list[i].struct_size = sizeof(list[i]);
  }
  list[1].struct_size += 8;
  assert_int_equal(p->f->api->graph->fusions(graph, &count, list, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  list[1].struct_size -= 8;
  assert_ok(p->f->api->graph->fusions(graph, &count, list, &err));
  assert_int_equal(count, LEATI_FUSION_COUNT);
  for (uint32_t i = 0; i < count; ++i) {
    assert_string_equal(list[i].name, leati_fusion_names[i]);
    if (is_off(i) ? list[i].count != 0 : !any_off() && list[i].count != s->counts[i]) {
      fail_msg("%s: %s was done %u times; expected: %u", s->name, list[i].name, list[i].count,
               is_off(i) ? 0 : s->counts[i]);
    }
  }
  const leat_graph_info info = info_of(p, graph);
  if (!any_off() && info.dispatch_count != s->dispatches) {
    fail_msg("%s: %u dispatches; expected: %u", s->name, info.dispatch_count, s->dispatches);
  }
}

static void check_results(const scene *s, const network *n, const results *nodes, const results *graph) {
  if (s->tolerance == 0) {
    compare(n, nodes, graph);
    return;
  }
  for (uint32_t i = 0; computes() && i < n->desc.output_count * ELEMENTS; ++i) {
    const double expected = (double)nodes->floats[i / ELEMENTS][i % ELEMENTS];
    const double found = (double)graph->floats[i / ELEMENTS][i % ELEMENTS];
    if (!(fabs(expected - found) <= s->tolerance * (1 + fabs(expected)))) {
      fail_msg("%s: output %u has %.9g as element %u; the nodes one by one give %.9g", s->name, i / ELEMENTS, found,
               i % ELEMENTS, expected);
    }
  }
}

/* With shapes that are known when the graph is built, and with shapes that are known at the first launch. */
static void check_scene(const place *p, const scene *s, bool known) {
  static const int64_t open[RANK] = {-1, -1, -1, -1};
  static results direct, graphed;
  network *const n = make_network();
  add_output(n, s->make(n));
  for (uint32_t i = 0; !known && i < n->desc.input_count; ++i) {
    n->infos[n->inputs[i]].shape = open;
  }
  leat_graph *const graph = build(p, n);
  run_nodes(p, n, &direct);
  for (uint32_t host = 0; host < 2; ++host) {
    run_graph(p, graph, n, host == 0 ? 0 : UINT32_MAX, &graphed);
    check_results(s, n, &direct, &graphed);
  }
  check_counts(p, s, graph);
  assert_ok(p->f->api->graph->destroy(graph, &err));
  free(n);
}

static void scenes_are_rewritten(void **state) {
  const place p = open_place(state);
  for (size_t i = 0; i < SCENE_COUNT; ++i) {
    check_scene(&p, &scenes[i], true);
    check_scene(&p, &scenes[i], false);
  }
  close_place(&p);
}

/* ---- Programs for other shapes ---------------------------------------------------------------------------------- */

enum { DRAWS = 400, PROGRAMS = 40, SIZE_MOST = 15 };

/* The high bits of a linear congruential generator (Knuth's MMIX). */
static uint32_t draw(uint64_t *random, uint32_t count) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*random >> 33) % count;
}

/* Shapes of a scene's inputs in which one or two sizes are others wherever they are, and now and then a dimension is 1
 * or another one for itself. Few sizes are drawn from, so that they are equal by chance too. */
static void draw_shapes(const network *n, uint64_t *random, leati_view *views) {
  int64_t sizes[SIZE_MOST + 1];
  for (int64_t size = 0; size <= SIZE_MOST; ++size) {
    sizes[size] = size;
  }
  for (uint32_t changes = 1 + draw(random, 2); changes-- > 0;) {
    sizes[draw(random, SIZE_MOST + 1)] = draw(random, SIZE_MOST + 1);
  }
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    const DLTensor *const given = &n->tensors[n->inputs[i]];
    int64_t shape[RANK] = {0};
    for (int32_t d = 0; d < given->ndim; ++d) {
      const int64_t size = given->shape[d];
      const uint32_t alone = draw(random, 32);
      shape[d] = alone == 0 ? 1 : alone == 1 ? draw(random, SIZE_MOST + 1) : size <= SIZE_MOST ? sizes[size] : size;
    }
    const DLTensor tensor = {.ndim = given->ndim, .dtype = given->dtype, .shape = shape};
    assert_ok(leati_view_import_shape(&tensor, "an input", &views[i], &err));
  }
}

static bool same_attributes(const leati_kept_attributes *a, const leati_kept_attributes *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; i < a->count && same; ++i) {
    const leat_attribute *const x = a->list[i], *const y = b->list[i];
    same = strcmp(x->name, y->name) == 0 && x->type == y->type && x->count == y->count && x->i == y->i &&
           memcmp(&x->f, &y->f, sizeof(x->f)) == 0 &&
           (x->ints == NULL || memcmp(x->ints, y->ints, x->count * sizeof(*x->ints)) == 0) &&
           (x->floats == NULL || memcmp(x->floats, y->floats, x->count * sizeof(*x->floats)) == 0) &&
           (x->string == NULL || memcmp(x->string, y->string, x->count) == 0);
  }
  return same;
}

static bool same_node(const leati_node *a, const leati_node *b) {
  return a->op->def == b->op->def && a->input_count == b->input_count && a->output_count == b->output_count &&
         memcmp(a->inputs, b->inputs, a->input_count * sizeof(*a->inputs)) == 0 &&
         memcmp(a->outputs, b->outputs, a->output_count * sizeof(*a->outputs)) == 0 &&
         same_attributes(&a->attributes, &b->attributes);
}

/* The programs of a scene. */
typedef struct programs {
  leati_program *list[PROGRAMS];
  uint32_t count, compared;
} programs;

/* Makes the program for what is inferred, and compares it with all that say that they are for such shapes too. */
static void add_program(const scene *s, const leati_inference *inference, programs *all) {
  const leat_graph *const graph = inference->graph;
  leati_view outputs[8] = {{.present = true}};
  bool live[NODES];
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    live[n] = !graph->nodes[n].folded;
  }
  leati_shape_pattern pattern;
  leati_program *program;
  assert_ok(leati_shape_pattern_make(inference, outputs, &pattern, &err));
  assert_ok(leati_program_make(inference, live, &pattern, &program, &err));
  assert_true(leati_program_fits(program, inference, &program->pattern));
  for (uint32_t i = 0; i < all->count; ++i) {
    if (!leati_program_fits(all->list[i], inference, &program->pattern)) {
      continue;
    }
    ++all->compared;
    for (uint32_t n = 0; n < graph->node_count; ++n) {
      if (program->live[n] != all->list[i]->live[n] ||
          (program->live[n] && !same_node(&program->nodes[n], &all->list[i]->nodes[n]))) {
        fail_msg("%s: node %u of a program for other shapes is another one", s->name, n);
      }
    }
  }
  all->list[all->count++] = program;
}

/* Infers the same beginning with what was inferred for other shapes, and compares all that is known of values, and
 * which programs fit: the last one does. */
static void compare_inference(const scene *s, const leati_view *views, const leati_inference *fresh,
                              const programs *all) {
  const leat_graph *const graph = fresh->graph;
  leati_inference later;
  assert_ok(leati_inference_of(graph, views, &later, &err));
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_known_value *const a = &fresh->values[v], *const b = &later.values[v];
    bool same = a->known == b->known && (a->bytes == NULL) == (b->bytes == NULL);
    if (same && a->known) {
      same = a->view.type == b->view.type && a->view.ndim == b->view.ndim && a->view.count == b->view.count &&
             a->view.compact == b->view.compact && a->view.address == b->view.address && a->view.end == b->view.end &&
             memcmp(a->view.shape, b->view.shape, (size_t)a->view.ndim * sizeof(a->view.shape[0])) == 0 &&
             memcmp(a->view.strides, b->view.strides, (size_t)a->view.ndim * sizeof(a->view.strides[0])) == 0;
    }
    if (same && a->bytes != NULL) {
      same = memcmp(a->bytes, b->bytes, a->view.count * a->view.item_size) == 0;
    }
    if (!same || fresh->evaluated != later.evaluated) {
      fail_msg("%s: value %u is not what it is without an inference for other shapes before it", s->name, v);
    }
  }
  for (uint32_t i = 0; i < all->count; ++i) {
    const leati_shape_pattern *const pattern = &all->list[all->count - 1]->pattern;
    const bool fits = leati_program_fits(all->list[i], fresh, pattern);
    if (leati_program_fits(all->list[i], &later, pattern) != fits) {
      fail_msg("%s: a program %s, where only what changed was looked at", s->name, fits ? "does not fit" : "fits");
    }
  }
  leati_inference_fit(&later, all->list[all->count - 1]->number);
  leati_inference_keep(&later);
}

/* Programs that say that they hold for other shapes are what rules make of these, and inferring goes on from shape to
 * shape. Gives how many programs did. */
static uint32_t check_programs(const place *p, const scene *s, uint64_t *random) {
  static const int64_t open[RANK] = {-1, -1, -1, -1};
  network *const n = make_network();
  add_output(n, s->make(n));
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    n->infos[n->inputs[i]].shape = open;
  }
  leat_graph *const graph = build(p, n);
  programs all = {.count = 0};
  for (int i = 0; i < DRAWS && all.count < PROGRAMS; ++i) {
    leati_view views[8];
    leati_inference inference;
    draw_shapes(n, random, views);
    assert_ok(leati_inference_begin(graph, &inference, &err));
    assert_ok(leati_inference_inputs(&inference, views, &err));
    if (leati_inference_all(&inference, NULL) == LEAT_OK) {
      add_program(s, &inference, &all);
      compare_inference(s, views, &inference, &all);
    }
    leati_inference_end(&inference);
  }
  for (uint32_t i = 0; i < all.count; ++i) {
    leati_program_free(all.list[i]);
  }
  assert_ok(p->f->api->graph->destroy(graph, &err));
  free(n);
  return all.compared;
}

/* Scenes whose nodes cannot run one by one, since what they take on the host is computed. */
static const scene computed[] = {
    {"sum of spread rows, layer norm", sum_of_spread_rows_normed, {0}, 0, 0},
};

static void programs_hold_for_other_shapes(void **state) {
  const place p = open_place(state);
  uint64_t random = 1;
  uint32_t compared = 0, scenes_compared = 0;
  for (size_t i = 0; i < sizeof(computed) / sizeof(computed[0]); ++i) {
    assert_true(check_programs(&p, &computed[i], &random) != 0);
  }
  for (size_t i = 0; i < SCENE_COUNT; ++i) {
    const uint32_t of_scene = check_programs(&p, &scenes[i], &random);
    compared += of_scene;
    scenes_compared += of_scene != 0;
  }
  printf("%u programs held for other shapes, of %u scenes of %zu\n", compared, scenes_compared, SCENE_COUNT);
  assert_true(scenes_compared > SCENE_COUNT / 2);
  close_place(&p);
}

/* As many rows as a constant has, which happens to requests of all lengths, is no other program. */
static void coincidences_make_no_program(void **state) {
  enum { WIDTH = 8 };
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, SHAPE(2, 5, WIDTH));
  const uint32_t product = NODE(n, "MatMul", 13, x, constant(n, SHAPE(WIDTH, WIDTH)));
  const uint32_t sum = NODE(n, "Add", 14, product, constant(n, SHAPE(WIDTH)));
  add_output(n, normed(n, NODE(n, "Add", 14, x, sum)));
  n->infos[x].shape = (const int64_t[]){-1, -1, WIDTH};
  leat_graph *const graph = build(&p, n);
  leati_program *program = NULL;
  for (int64_t rows = 2; rows < 2 * WIDTH; ++rows) {
    const DLTensor tensor = {.ndim = 3, .dtype = n->tensors[x].dtype, .shape = (int64_t[]){rows / 3 + 2, rows, WIDTH}};
    leati_view view, outputs[] = {{.present = true}};
    leati_inference inference;
    leati_shape_pattern pattern;
    bool live[NODES];
    memset(live, true, sizeof(live));
    assert_ok(leati_view_import_shape(&tensor, "an input", &view, &err));
    assert_ok(leati_inference_begin(graph, &inference, &err));
    assert_ok(leati_inference_inputs(&inference, &view, &err));
    assert_ok(leati_inference_all(&inference, &err));
    assert_ok(leati_shape_pattern_make(&inference, outputs, &pattern, &err));
    if (program == NULL) {
      assert_ok(leati_program_make(&inference, live, &pattern, &program, &err));
    } else {
      assert_true(leati_program_fits(program, &inference, &pattern));
      leati_free(pattern.marks);
    }
    leati_inference_end(&inference);
  }
  leati_program_free(program);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* ---- Versions --------------------------------------------------------------------------------------------------- */

/* Every version that the plugin has of an operator that rules look for was looked at, and no other is known. A version
 * of another form is to be left out of graph/known_ops.h, and named here: Clip between attributes is a function of one
 * number. */
static void rules_know_versions(void **state) {
  static const struct {
    const char *domain, *name;
    uint32_t first, last;
  } rows[] = {
#define ROW(number, domain, name, first, last) {domain, name, first, last},
      LEATI_KNOWN_OPS(ROW)
#undef ROW
  };
  const fixture *const f = fixture_of(state);
  uint32_t count, found = 0;
  assert_ok(f->api->op->count(&count, &err));
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info;
    assert_ok(f->api->op->info(i, &info, &err));
    size_t r = 0;
    while (r < sizeof(rows) / sizeof(rows[0]) &&
           (strcmp(rows[r].name, info->name) != 0 || strcmp(rows[r].domain, info->domain) != 0)) {
      ++r;
    }
    if (r == sizeof(rows) / sizeof(rows[0])) {
      continue;
    }
    if (strcmp(info->name, "Clip") == 0 && info->since_version_max == 6) {
      continue;
    }
    ++found;
    if (info->since_version_min < rows[r].first || info->since_version_max > rows[r].last) {
      fail_msg("%s is here from version %u to %u; do rules take it for the same? graph/known_ops.h says %u to %u",
               info->name, info->since_version_min, info->since_version_max, rows[r].first, rows[r].last);
    }
    leati_op_def def = {.info = *info};
    struct leat_op op = {.def = &def, .since_version = rows[r].last};
    assert_int_equal(leati_known_op_of(&op), r + 1);
    op.since_version = rows[r].last + 1;
    assert_int_equal(leati_known_op_of(&op), LEATI_IS_OTHER);
    op.since_version = rows[r].first - 1;
    assert_int_equal(leati_known_op_of(&op), LEATI_IS_OTHER);
  }
  assert_true(found >= sizeof(rows) / sizeof(rows[0]));
}

/* Makes the program of a graph whose node `k` is of a version that no rule knows: it stays as it is. */
static void check_version(const scene *s, const leati_inference *inference, uint32_t k) {
  leati_node *const node = (leati_node *)&inference->graph->nodes[k];
  const leati_node before = *node;
  const uint32_t version = node->op->since_version;
  leati_view outputs[8] = {{.present = true}};
  leati_shape_pattern pattern;
  leati_program *program;
  bool live[NODES];
  for (uint32_t i = 0; i < inference->graph->node_count; ++i) {
    live[i] = !inference->graph->nodes[i].folded;
  }
  node->op->since_version = 1000;
  node->known = leati_known_op_of(node->op);
  assert_int_equal(node->known, LEATI_IS_OTHER);
  assert_ok(leati_shape_pattern_make(inference, outputs, &pattern, &err));
  assert_ok(leati_program_make(inference, live, &pattern, &program, &err));
  if (!program->live[k] || program->nodes[k].op != node->op) {
    fail_msg("%s: a rule took node %u, a %s of another version", s->name, k, node->op->def->info.name);
  }
  leati_program_free(program);
  *node = before;
  node->op->since_version = version;
}

/* Whatever rules are about: an operator set that gives an operator another meaning is not rewritten in silence. What
 * functions of one number mean they say themselves (leati_function_of()), of all their versions. */
static void other_versions_are_left_alone(void **state) {
  static const int64_t open[RANK] = {-1, -1, -1, -1};
  const place p = open_place(state);
  uint32_t checked = 0;
  for (size_t i = 0; i < SCENE_COUNT; ++i) {
    network *const n = make_network();
    leati_inference inference;
    leati_view views[8];
    add_output(n, scenes[i].make(n));
    for (uint32_t k = 0; k < n->desc.input_count; ++k) {
      assert_ok(leati_view_import_shape(&n->tensors[n->inputs[k]], "an input", &views[k], &err));
      n->infos[n->inputs[k]].shape = open;
    }
    leat_graph *const graph = build(&p, n);
    assert_ok(leati_inference_begin(graph, &inference, &err));
    assert_ok(leati_inference_inputs(&inference, views, &err));
    assert_ok(leati_inference_all(&inference, &err));
    for (uint32_t k = 0; k < graph->node_count; ++k) {
      const leati_node *const node = &graph->nodes[k];
      const bool on_host = inference.values[node->outputs[0]].bytes != NULL; /* rules ask for its elements alone */
      if (!node->folded && !on_host && node->known != LEATI_IS_OTHER && leati_function_of(node->op) == NULL) {
        check_version(&scenes[i], &inference, k);
        ++checked;
      }
    }
    leati_inference_end(&inference);
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  printf("%u nodes of other versions stayed as they are\n", checked);
  assert_true(checked > SCENE_COUNT);
  close_place(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(rules_know_versions, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(other_versions_are_left_alone, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(programs_hold_for_other_shapes, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(coincidences_make_no_program, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(scenes_are_rewritten, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
