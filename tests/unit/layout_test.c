/* SPDX-License-Identifier: BSD-3-Clause */
/* Which images of a graph are in NHWC layout, which weights along k, and that the results have
 * the bits that they have where none does, by as many dispatches. Only matrix hardware of float16 gains by it: without
 * that none does anyway.
 */
#include <stdio.h>
#include <string.h>

#include "core/fusions.h"
#include "device/device.h"
#include "memory/memory.h"
#include "unit_network.h"

/* ---- Parts of networks --------------------------------------------------------------------------------------------
 */

static const leat_attribute line = ATTRIBUTE(INTS, .name = "kernel_shape", .count = 2, .ints = (const int64_t[]){1, 3});
static const leat_attribute beside = ATTRIBUTE(INTS, .name = "pads", .count = 4, .ints = (const int64_t[]){0, 1, 0, 1});
static const leat_attribute square =
    ATTRIBUTE(INTS, .name = "kernel_shape", .count = 2, .ints = (const int64_t[]){2, 2});
static const leat_attribute around = ATTRIBUTE(INTS, .name = "pads", .count = 4, .ints = (const int64_t[]){1, 0, 1, 1});
static const leat_attribute of_padding = ATTRIBUTE(INT, .name = "count_include_pad", .i = 1);
static const leat_attribute two_groups = ATTRIBUTE(INT, .name = "group", .i = 2);

static bool brain; /* networks are of bfloat16, and not of float16 */
static uint32_t narrowed(network *n, uint32_t v) {
  return narrowed_to(n, v, brain);
}

/* Convolutions to `to` channels with one tap and with three. */
static uint32_t one_tap(network *n, uint32_t x, int64_t from, int64_t to) {
  return NODE(n, "Conv", 11, x, narrowed(n, add_constant(n, SHAPE(to, from, 1, 1))),
              narrowed(n, add_constant(n, SHAPE(to))));
}
static uint32_t three_taps(network *n, uint32_t x, int64_t from, int64_t to) {
  static const leat_attribute *const list[] = {&line, &beside, &two_groups};
  const uint32_t y = NODE(n, "Conv", 11, x, narrowed(n, add_constant(n, SHAPE(to, from, 1, 3))),
                          narrowed(n, add_constant(n, SHAPE(to))));
  set_attributes(n, list, to > from ? 3 : 2);
  return y;
}
static uint32_t image(network *n) {
  return narrowed(n, add_input(n, SHAPE(2, 8, 5, 5)));
}

/* Two images. */
static uint32_t image_by_a_pool(network *n) {
  static const leat_attribute *const list[] = {&square};
  const uint32_t pooled = NODE(n, "MaxPool", 12, NODE(n, "Relu", 14, three_taps(n, image(n), 8, 8)));
  set_attributes(n, list, 1);
  return widened(n, NODE(n, "GlobalAveragePool", 1, three_taps(n, pooled, 8, 8)));
}
/* The same two. */
static uint32_t image_by_an_average(network *n) {
  static const leat_attribute *const list[] = {&square, &around, &of_padding};
  const uint32_t pooled = NODE(n, "AveragePool", 11, three_taps(n, image(n), 8, 8));
  set_attributes(n, list, 3);
  return widened(n, one_tap(n, pooled, 8, 8));
}
/* None, but weights that lie along k. */
#define WEIGHT_ROWS 8
#define WEIGHT_COLUMNS 40
static uint32_t weights(network *n) {
  return narrowed(n, add_constant(n, SHAPE(WEIGHT_ROWS, WEIGHT_COLUMNS)));
}
static uint32_t product_with_weights(network *n) {
  return widened(n, NODE(n, "MatMul", 13, narrowed(n, add_input(n, SHAPE(6, WEIGHT_ROWS))), weights(n)));
}
/* Three images. */
static uint32_t image_and_residual(network *n) {
  const uint32_t a = one_tap(n, image(n), 8, 8), b = NODE(n, "Relu", 14, three_taps(n, a, 8, 8));
  const uint32_t c = NODE(n, "Relu", 14, NODE(n, "Add", 14, one_tap(n, b, 8, 8), a));
  return widened(n, one_tap(n, c, 8, 8));
}
/* One image, of two groups. */
static uint32_t image_of_groups(network *n) {
  const uint32_t x = one_tap(n, narrowed(n, add_input(n, SHAPE(1, 16, 5, 5))), 16, 16);
  return widened(n, NODE(n, "GlobalAveragePool", 1, three_taps(n, x, 8, 16)));
}
/* Two, a function of one number between them. */
static uint32_t image_and_function(network *n) {
  return widened(n, one_tap(n, NODE(n, "Abs", 13, one_tap(n, image(n), 8, 8)), 8, 8));
}
/* Two, a chain with a factor for each channel between them. */
static uint32_t image_and_chain(network *n) {
  const uint32_t y = NODE(n, "Abs", 13, one_tap(n, image(n), 8, 8));
  return widened(n, one_tap(n, NODE(n, "Mul", 14, y, narrowed(n, add_constant(n, SHAPE(8, 1, 1)))), 8, 8));
}
/* Bytes of floats with a scale for all, or one for each channel; without a zero point they are uint8. */
static uint32_t coded(network *n, uint32_t x, bool each) {
  const uint32_t scale = each ? add_constant(n, SHAPE(8)) : add_constant(n, 0, NULL);
  for (int i = 0; i < 8; ++i) {
    n->floats[scale][i] = 0.5f / (float)(i + 1);
  }
  return NODE(n, "QuantizeLinear", 19, x, narrowed(n, scale));
}
static uint32_t decoded(network *n, uint32_t x) {
  const uint32_t scale = add_constant(n, 0, NULL);
  n->floats[scale][0] = 0.5f;
  return NODE(n, "DequantizeLinear", 19, x, narrowed(n, scale));
}
/* Four: also the bytes, and the floats that are made of them. */
static uint32_t image_and_bytes(network *n) {
  return widened(n, one_tap(n, decoded(n, coded(n, NODE(n, "Abs", 13, one_tap(n, image(n), 8, 8)), false)), 8, 8));
}
/* Four: bytes, what a chain of float32 makes of them, and floats again. */
static uint32_t image_and_chain_of_bytes(network *n) {
  const uint32_t scale = add_constant(n, 0, NULL), x = coded(n, one_tap(n, image(n), 8, 8), false);
  n->floats[scale][0] = 0.5f;
  const uint32_t y = NODE(n, "Neg", 13, NODE(n, "DequantizeLinear", 13, x, scale));
  const uint32_t zero = add_value(n, (DLDataType){kDLUInt, 8, 1}, 0, NULL);
  memset(n->floats[zero], 200, 1);
  n->infos[zero].value = &n->tensors[zero];
  return widened(n, one_tap(n, decoded(n, NODE(n, "QuantizeLinear", 13, y, scale, zero)), 8, 8));
}
/* None: where a scale is for a channel, these lie as ever. */
static uint32_t image_and_scales(network *n) {
  return widened(n, one_tap(n, decoded(n, coded(n, one_tap(n, image(n), 8, 8), true)), 8, 8));
}
/* Three: one is the product of two. */
static uint32_t image_of_two(network *n) {
  const uint32_t x = image(n);
  return widened(n, three_taps(n, NODE(n, "Mul", 14, one_tap(n, x, 8, 8), one_tap(n, x, 8, 8)), 8, 8));
}
/* One, whose convolution has the weights of another one that reads them as they are. */
static uint32_t image_by_shared_weights(network *n) {
  static const leat_attribute *const list[] = {&line, &beside};
  const uint32_t x = image(n), w = narrowed(n, add_constant(n, SHAPE(8, 8, 1, 3)));
  const uint32_t y = NODE(n, "Conv", 11, x, w);
  set_attributes(n, list, 2);
  const uint32_t z = NODE(n, "Conv", 11, y, w);
  set_attributes(n, list, 2);
  return widened(n, NODE(n, "GlobalAveragePool", 1, z));
}
/* None: weights that are given would be copied for each launch, and pools would copy what a convolution gains by. */
static uint32_t image_by_given_weights(network *n) {
  static const leat_attribute *const list[] = {&line, &beside};
  const uint32_t z = NODE(n, "Conv", 11, one_tap(n, image(n), 8, 8), narrowed(n, add_input(n, SHAPE(8, 8, 1, 3))));
  set_attributes(n, list, 2);
  return widened(n, z);
}
static uint32_t image_for_pools(network *n) {
  static const leat_attribute *const list[] = {&square};
  const uint32_t y = one_tap(n, image(n), 8, 8);
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t pooled = NODE(n, "MaxPool", 12, y);
    set_attributes(n, list, 1);
    add_output(n, widened(n, pooled));
  }
  return widened(n, one_tap(n, y, 8, 8));
}
/* None: what is multiplied by it is given. */
static uint32_t image_and_given(network *n) {
  const uint32_t x = image(n);
  return widened(n, one_tap(n, NODE(n, "Mul", 14, one_tap(n, x, 8, 8), x), 8, 8));
}
/* None: a node takes it that does not read it so, the graph gives it, or fours of its channels are of two pixels. */
static uint32_t image_for_another(network *n) {
  const uint32_t y = one_tap(n, image(n), 8, 8);
  add_output(n, widened(n, NODE(n, "Sign", 13, y)));
  return widened(n, three_taps(n, y, 8, 8));
}
static uint32_t image_that_is_given(network *n) {
  const uint32_t y = one_tap(n, image(n), 8, 8);
  add_output(n, y);
  return widened(n, three_taps(n, y, 8, 8));
}
static uint32_t image_of_six_channels(network *n) {
  const uint32_t y = one_tap(n, image(n), 8, 6);
  return widened(n, three_taps(n, y, 6, 6));
}

/* ---- Side by side -------------------------------------------------------------------------------------------------
 */

enum { IMAGES, CHANNELS, LINES, COLUMNS, CHANNELS_FROM_BEHIND, AXIS_COUNT };
static const leat_attribute axes[AXIS_COUNT] = {
    ATTRIBUTE(INT, .name = "axis", .i = 0), ATTRIBUTE(INT, .name = "axis", .i = 1),
    ATTRIBUTE(INT, .name = "axis", .i = 2), ATTRIBUTE(INT, .name = "axis", .i = 3),
    ATTRIBUTE(INT, .name = "axis", .i = -3)};
static const leat_attribute *const axis_lists[AXIS_COUNT][1] = {
    {&axes[0]}, {&axes[1]}, {&axes[2]}, {&axes[3]}, {&axes[4]}};

static uint32_t put(network *n, uint32_t axis, uint32_t count, const uint32_t *inputs) {
  const uint32_t y = add_node(n, "Concat", 13, count, inputs);
  set_attributes(n, axis_lists[axis], 1);
  return y;
}
#define PUT(n, axis, ...) \
  put((n), (axis), sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

static uint32_t small_image(network *n, int64_t images) {
  return narrowed(n, add_input(n, SHAPE(images, 8, 3, 3)));
}
static uint32_t global_mean(network *n, uint32_t x) {
  return widened(n, NODE(n, "GlobalAveragePool", 1, x));
}
/* Two convolutions of an image to `a` and `b` channels, side by side, of which a third one takes all. */
static uint32_t two_beside(network *n, uint32_t axis, uint32_t x, int64_t a, int64_t b) {
  const uint32_t y = PUT(n, axis, one_tap(n, x, 8, a), one_tap(n, x, 8, b));
  return global_mean(n, one_tap(n, y, axis == CHANNELS || axis == CHANNELS_FROM_BEHIND ? a + b : a, 8));
}

/* Five of two images, of which one is put among others by a copy. */
static uint32_t beside_bytes(network *n) {
  const uint32_t x = small_image(n, 2), a = decoded(n, coded(n, one_tap(n, x, 8, 8), false));
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, a, one_tap(n, x, 8, 8)), 16, 8));
}
/* Three of two images, which are made where they are put, and not copied. */
static uint32_t side_by_side(network *n) {
  return two_beside(n, CHANNELS, small_image(n, 2), 8, 8);
}
static uint32_t beside_from_behind(network *n) {
  return two_beside(n, CHANNELS_FROM_BEHIND, small_image(n, 2), 8, 16);
}
/* The same for their means alone, for which it is all the same how an image lies; but not of one image, which are made
 * there anyway. */
static uint32_t beside_for_means(network *n) {
  const uint32_t x = small_image(n, 2);
  return global_mean(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), one_tap(n, x, 8, 8)));
}
static uint32_t beside_for_means_of_one(network *n) {
  const uint32_t x = narrowed(n, add_input(n, SHAPE(1, 8, 4, 4)));
  return global_mean(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), one_tap(n, x, 8, 8)));
}
/* None: pixels would not begin at eights. */
static uint32_t beside_in_twelves(network *n) {
  const uint32_t x = small_image(n, 2);
  return global_mean(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), one_tap(n, x, 8, 4)));
}
/* Three of one image, which are made there in either order, at once. */
static uint32_t beside_of_one(network *n) {
  return two_beside(n, CHANNELS, small_image(n, 1), 16, 8);
}
/* Three that are copied in either order: eight channels do not begin at eights. */
static uint32_t beside_in_fours(network *n) {
  return two_beside(n, CHANNELS, small_image(n, 2), 4, 12);
}
/* None: they are made there if each lies as ever, and would have to be copied. */
static uint32_t beside_in_fours_of_one(network *n) {
  return two_beside(n, CHANNELS, narrowed(n, add_input(n, SHAPE(1, 8, 4, 4))), 4, 12);
}
/* None: fours of channels are of two pixels. */
static uint32_t beside_in_twos(network *n) {
  return two_beside(n, CHANNELS, small_image(n, 2), 6, 10);
}
/* Three along other dimensions, which are made there, or only so, or copied. */
static uint32_t behind(network *n) {
  return two_beside(n, IMAGES, small_image(n, 2), 8, 8);
}
static uint32_t below(network *n) {
  return two_beside(n, LINES, small_image(n, 1), 8, 8);
}
static uint32_t at_the_side(network *n) {
  return two_beside(n, COLUMNS, small_image(n, 1), 8, 8);
}
/* Three of images with one and with three dimensions. */
static uint32_t beside_lines(network *n) {
  const uint32_t x = narrowed(n, add_input(n, SHAPE(2, 8, 5))), w = narrowed(n, add_constant(n, SHAPE(8, 8, 2)));
  const uint32_t y = PUT(n, CHANNELS, NODE(n, "Conv", 11, x, w), NODE(n, "Conv", 11, x, w));
  return global_mean(n, NODE(n, "Conv", 11, y, narrowed(n, add_constant(n, SHAPE(8, 16, 2)))));
}
static uint32_t beside_volumes(network *n) {
  const uint32_t x = narrowed(n, add_input(n, SHAPE(1, 8, 2, 3, 3)));
  const uint32_t w = narrowed(n, add_constant(n, SHAPE(8, 8, 1, 2, 2)));
  const uint32_t y = PUT(n, CHANNELS, NODE(n, "Conv", 11, x, w), NODE(n, "Conv", 11, x, w));
  return global_mean(n, NODE(n, "Conv", 11, y, narrowed(n, add_constant(n, SHAPE(8, 16, 2, 1, 1)))));
}
/* Five, of which others take one from where it is put: as an image, for a pool, for its mean and as what is added. */
static uint32_t beside_for_many(network *n) {
  static const leat_attribute *const list[] = {&square};
  const uint32_t x = small_image(n, 2), a = one_tap(n, x, 8, 8);
  const uint32_t y = PUT(n, CHANNELS, one_tap(n, x, 8, 16), a);
  const uint32_t pooled = NODE(n, "MaxPool", 12, a);
  set_attributes(n, list, 1);
  add_output(n, widened(n, one_tap(n, pooled, 8, 8)));
  add_output(n, widened(n, three_taps(n, a, 8, 8)));
  add_output(n, global_mean(n, a));
  return widened(n, three_taps(n, NODE(n, "Relu", 14, NODE(n, "Add", 14, one_tap(n, y, 24, 8), a)), 8, 8));
}
/* Nine, of which all kinds of nodes make some where they are put: pools, functions, batch norms, and convolutions with
 * what is added to them, which lies elsewhere. */
static uint32_t beside_of_all_kinds(network *n) {
  static const leat_attribute *const list[] = {&square, &around};
  const uint32_t x = small_image(n, 2), a = one_tap(n, x, 8, 8), b = three_taps(n, x, 8, 8);
  uint32_t numbers[4];
  for (uint32_t i = 0; i < 4; ++i) {
    numbers[i] = narrowed(n, NODE(n, "Abs", 13, add_constant(n, SHAPE(8))));
  }
  const uint32_t pooled = NODE(n, "MaxPool", 12, a);
  set_attributes(n, list, 1);
  const uint32_t normal = NODE(n, "BatchNormalization", 15, pooled, numbers[0], numbers[1], numbers[2], numbers[3]);
  const uint32_t last = NODE(n, "AveragePool", 11, a);
  set_attributes(n, list, 1);
  const uint32_t sum = NODE(n, "Add", 14, three_taps(n, pooled, 8, 8), pooled);
  const uint32_t y = PUT(n, CHANNELS, normal, last, sum, NODE(n, "Abs", 13, pooled));
  const uint32_t z = one_tap(
      n, NODE(n, "BatchNormalization", 15, one_tap(n, y, 32, 8), numbers[0], numbers[1], numbers[2], numbers[3]), 8, 8);
  add_output(n, global_mean(n, b));
  return widened(n, z);
}
/* Five, put into what is put into another one. */
static uint32_t beside_twice(network *n) {
  const uint32_t x = small_image(n, 2);
  const uint32_t y = PUT(n, CHANNELS, one_tap(n, x, 8, 8), three_taps(n, x, 8, 8));
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, y, one_tap(n, x, 8, 8)), 24, 8));
}
/* Five: what is put side by side is the begin of what is put so later, and lies there. */
static uint32_t beside_all_before(network *n) {
  const uint32_t a = one_tap(n, small_image(n, 2), 8, 8), b = one_tap(n, a, 8, 8);
  const uint32_t c = one_tap(n, PUT(n, CHANNELS, a, b), 16, 8);
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, a, b, c), 24, 8));
}
/* Four: one is put into two, and copied into one of them with all of that. */
static uint32_t beside_two(network *n) {
  const uint32_t x = small_image(n, 2), a = one_tap(n, x, 8, 8), b = one_tap(n, x, 8, 8);
  add_output(n, global_mean(n, one_tap(n, PUT(n, CHANNELS, a, b), 16, 8)));
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, b, a), 16, 8));
}
/* Two: one is put beside itself. */
static uint32_t beside_itself(network *n) {
  const uint32_t a = one_tap(n, small_image(n, 2), 8, 8);
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, a, a), 16, 8));
}
/* Two: a constant is put beside one of them. */
static uint32_t beside_a_constant(network *n) {
  const uint32_t c = narrowed(n, add_constant(n, SHAPE(2, 8, 3, 3)));
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, c, one_tap(n, small_image(n, 2), 8, 8)), 16, 8));
}
/* Three, and what has no elements. */
static uint32_t beside_nothing(network *n) {
  const uint32_t x = small_image(n, 2), none = narrowed(n, add_input(n, SHAPE(2, 0, 3, 3)));
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), none, one_tap(n, x, 8, 8)), 16, 8));
}
/* None: what is put beside it is given, or the graph gives it. */
static uint32_t beside_given(network *n) {
  const uint32_t x = small_image(n, 2);
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), x), 16, 8));
}
static uint32_t beside_and_given(network *n) {
  const uint32_t x = small_image(n, 2), a = one_tap(n, x, 8, 8);
  add_output(n, a);
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), a), 16, 8));
}

/* Two parts of an image, by their sizes. */
static uint32_t take_apart(network *n, uint32_t axis, uint32_t x, int64_t a, int64_t b, uint32_t *out_rest) {
  const uint32_t y = NODE(n, "Split", 13, x, add_list(n, 2, (const int64_t[]){a, b}));
  set_attributes(n, axis_lists[axis], 1);
  *out_rest = add_part(n);
  return y;
}
/* An image of `a` and `b` channels that is taken apart, for two convolutions. */
static uint32_t two_apart(network *n, uint32_t axis, int64_t images, int64_t a, int64_t b) {
  uint32_t rest;
  const uint32_t first = take_apart(n, axis, one_tap(n, small_image(n, images), 8, a + b), a, b, &rest);
  add_output(n, global_mean(n, one_tap(n, rest, b, 8)));
  return global_mean(n, three_taps(n, NODE(n, "Abs", 13, first), a, a));
}
/* Four: parts are read where they are, of several images too. */
static uint32_t apart(network *n) {
  return two_apart(n, CHANNELS, 2, 8, 16);
}
static uint32_t apart_from_behind(network *n) {
  return two_apart(n, CHANNELS_FROM_BEHIND, 1, 8, 8);
}
/* None: eights of channels do not begin at eights, or pixels of a part are not all as far from each other. */
static uint32_t apart_in_fours(network *n) {
  return two_apart(n, CHANNELS, 2, 12, 12);
}
static uint32_t apart_in_lines(network *n) {
  uint32_t rest;
  const uint32_t first = take_apart(n, LINES, one_tap(n, small_image(n, 2), 8, 8), 2, 1, &rest);
  add_output(n, global_mean(n, one_tap(n, rest, 8, 8)));
  return global_mean(n, one_tap(n, first, 8, 8));
}
/* None: the graph gives a part, or a node takes it that does not read it so. */
static uint32_t apart_and_given(network *n) {
  uint32_t rest;
  const uint32_t first = take_apart(n, CHANNELS, one_tap(n, small_image(n, 2), 8, 16), 8, 8, &rest);
  add_output(n, rest);
  return global_mean(n, one_tap(n, first, 8, 8));
}
static uint32_t apart_for_another(network *n) {
  uint32_t rest;
  const uint32_t first = take_apart(n, CHANNELS, one_tap(n, small_image(n, 2), 8, 16), 8, 8, &rest);
  add_output(n, widened(n, NODE(n, "Sign", 13, rest)));
  return global_mean(n, one_tap(n, first, 8, 8));
}
/* Six: what is made of a part is put beside both parts, which are moved there, and one of them is read there. */
static uint32_t apart_and_beside(network *n, int64_t images) {
  uint32_t b;
  const uint32_t a = take_apart(n, CHANNELS, one_tap(n, small_image(n, images), 8, 16), 8, 8, &b);
  const uint32_t c = NODE(n, "Add", 14, NODE(n, "Abs", 13, three_taps(n, b, 8, 8)), b);
  return global_mean(n, one_tap(n, PUT(n, CHANNELS, a, b, c), 24, 8));
}
static uint32_t apart_and_beside_of_one(network *n) {
  return apart_and_beside(n, 1);
}
static uint32_t apart_and_beside_of_two(network *n) {
  return apart_and_beside(n, 2);
}
/* Six: an image is made within a wider one, and taken apart there. */
static uint32_t apart_within(network *n) {
  uint32_t b;
  const uint32_t x = small_image(n, 2), y = one_tap(n, x, 8, 16), a = take_apart(n, CHANNELS, y, 8, 8, &b);
  add_output(n, global_mean(n, one_tap(n, PUT(n, CHANNELS, one_tap(n, x, 8, 8), y), 24, 8)));
  return global_mean(n, one_tap(n, NODE(n, "Add", 14, a, b), 8, 8));
}

/* What a convolution makes, and what is made of a smaller image of it, side by side. */
static uint32_t up_and_down(network *n, uint32_t (*up)(network *n, uint32_t x)) {
  static const leat_attribute *const list[] = {&square};
  const uint32_t a = three_taps(n, narrowed(n, add_input(n, SHAPE(1, 8, 4, 4))), 8, 8);
  const uint32_t pooled = NODE(n, "MaxPool", 12, a);
  set_attributes(n, list, 1);
  return widened(n, three_taps(n, PUT(n, CHANNELS, up(n, one_tap(n, pooled, 8, 8)), a), 16, 8));
}
static uint32_t transposed(network *n, uint32_t x) {
  return NODE(n, "ConvTranspose", 11, x, narrowed(n, add_constant(n, SHAPE(8, 8, 2, 2))),
              narrowed(n, add_constant(n, SHAPE(8))));
}
static uint32_t resized(network *n, uint32_t x) {
  return NODE(n, "Resize", 13, x, LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE,
              add_list(n, 4, (const int64_t[]){1, 8, 4, 4}));
}
static uint32_t resized_by_lines(network *n, uint32_t x) {
  static const leat_attribute linear = ATTRIBUTE(STRING, .name = "mode", .count = 6, .string = "linear");
  static const leat_attribute *const list[] = {&linear};
  const uint32_t y = resized(n, x);
  set_attributes(n, list, 1);
  return y;
}
/* Four, and five. */
static uint32_t up_by_a_convolution(network *n) {
  return up_and_down(n, transposed);
}
static uint32_t up_by_the_nearest(network *n) {
  return up_and_down(n, resized);
}
static uint32_t up_by_lines(network *n) {
  return up_and_down(n, resized_by_lines);
}

/* ConvTransposes whose windows lie side by side, of images with one to three dimensions: the images around each, which
 * is made in NHWC layout too. */
enum { LINE_OF_FOUR, SQUARE_OF_TWO, BOX, STRIDES_COUNT };
static const leat_attribute strides[STRIDES_COUNT] = {
    ATTRIBUTE(INTS, .name = "strides", .count = 1, .ints = (const int64_t[]){4}),
    ATTRIBUTE(INTS, .name = "strides", .count = 2, .ints = (const int64_t[]){2, 2}),
    ATTRIBUTE(INTS, .name = "strides", .count = 3, .ints = (const int64_t[]){2, 1, 2})};
static const leat_attribute *const strides_lists[STRIDES_COUNT][1] = {{&strides[0]}, {&strides[1]}, {&strides[2]}};

static uint32_t spread(network *n, uint32_t which, uint32_t x, uint32_t w, int64_t to) {
  const uint32_t y = NODE(n, "ConvTranspose", 11, x, w, narrowed(n, add_constant(n, SHAPE(to))));
  set_attributes(n, strides_lists[which], 1);
  return y;
}
/* Two of them. */
static uint32_t spread_in_lines(network *n) {
  const uint32_t x = narrowed(n, add_input(n, SHAPE(2, 8, 5))), w = narrowed(n, add_constant(n, SHAPE(8, 8, 2)));
  const uint32_t y = NODE(n, "Conv", 11, x, w);
  return global_mean(
      n, NODE(n, "Conv", 11, spread(n, LINE_OF_FOUR, y, narrowed(n, add_constant(n, SHAPE(8, 8, 4))), 8), w));
}
static uint32_t spread_in_volumes(network *n) {
  const uint32_t x = narrowed(n, add_input(n, SHAPE(1, 8, 2, 3, 3)));
  const uint32_t w = narrowed(n, add_constant(n, SHAPE(8, 8, 1, 2, 2)));
  const uint32_t y = NODE(n, "Conv", 11, x, w);
  return global_mean(n,
                     NODE(n, "Conv", 11, spread(n, BOX, y, narrowed(n, add_constant(n, SHAPE(8, 8, 2, 1, 2))), 8), w));
}
static uint32_t spread_by_given_weights(network *n) {
  const uint32_t x = one_tap(n, narrowed(n, add_input(n, SHAPE(2, 8, 3, 3))), 8, 8);
  return global_mean(n, one_tap(n, spread(n, SQUARE_OF_TWO, x, narrowed(n, add_input(n, SHAPE(8, 8, 2, 2))), 8), 8, 8));
}
/* One: what is spread has six channels. */
static uint32_t spread_to_six_channels(network *n) {
  const uint32_t x = one_tap(n, narrowed(n, add_input(n, SHAPE(2, 8, 3, 3))), 8, 8);
  return widened(n, spread(n, SQUARE_OF_TWO, x, narrowed(n, add_constant(n, SHAPE(8, 6, 2, 2))), 6));
}
/* Five, of which one is made where it is put beside a larger one. */
static uint32_t spread_beside_a_larger_one(network *n) {
  static const leat_attribute *const list[] = {&square, &strides[SQUARE_OF_TWO]};
  const uint32_t a = three_taps(n, narrowed(n, add_input(n, SHAPE(2, 8, 4, 4))), 8, 8);
  const uint32_t pooled = NODE(n, "MaxPool", 12, a);
  set_attributes(n, list, 2);
  const uint32_t up =
      spread(n, SQUARE_OF_TWO, one_tap(n, pooled, 8, 8), narrowed(n, add_constant(n, SHAPE(8, 8, 2, 2))), 8);
  return widened(n, three_taps(n, PUT(n, CHANNELS, up, a), 16, 8));
}

/* Floats that bytes make. */
static uint32_t quartered(network *n, uint32_t x) {
  const uint32_t scale = add_constant(n, 0, NULL);
  n->floats[scale][0] = 0.25f;
  return NODE(n, "DequantizeLinear", 13, NODE(n, "QuantizeLinear", 13, x, scale), scale);
}
/* A convolution of them by weights with so many taps. */
static uint32_t byte_taps(network *n, uint32_t x, int64_t from, int64_t to, int64_t taps) {
  static const leat_attribute *const list[] = {&line, &beside};
  const uint32_t y =
      NODE(n, "Conv", 11, x, quartered(n, add_constant(n, SHAPE(to, from, 1, taps))), add_constant(n, SHAPE(to)));
  if (taps > 1) {
    set_attributes(n, list, 2);
  }
  return quartered(n, y);
}
static uint32_t byte_image(network *n) {
  return quartered(n, add_input(n, SHAPE(2, 8, 3, 4)));
}
/* One: what lies between two of them; also where the second one has several taps. */
static uint32_t bytes_for_one_tap(network *n) {
  return byte_taps(n, byte_taps(n, byte_image(n), 8, 16, 3), 16, 8, 1);
}
static uint32_t bytes_for_three_taps(network *n) {
  return byte_taps(n, byte_taps(n, byte_image(n), 8, 16, 1), 16, 6, 3);
}
/* Two: also what a function of numbers makes of it. */
static uint32_t bytes_and_function(network *n) {
  return byte_taps(n, quartered(n, NODE(n, "Sqrt", 13, byte_taps(n, byte_image(n), 8, 16, 1))), 16, 8, 1);
}
/* None: sixteen bytes are not of one pixel. */
static uint32_t bytes_of_twelve_channels(network *n) {
  const uint32_t y = byte_taps(n, byte_image(n), 8, 12, 1);
  return NODE(n, "Conv", 11, y, quartered(n, add_constant(n, SHAPE(8, 12, 1, 1))));
}

/* ---- Running them ------------------------------------------------------------------------------------------------
 */

typedef struct scene {
  const char *name;
  uint32_t (*make)(network *n);
  uint32_t laid;
  uint32_t fewer; /* dispatches than where none is laid */
  bool of_bytes;  /* it gains by matrices of bytes */
} scene;

static const scene scenes[] = {
    {"product with weights", product_with_weights, 0, 0, false},
    {"by a pool", image_by_a_pool, 2, 0, false},
    {"by an average", image_by_an_average, 2, 0, false},
    {"and residual", image_and_residual, 3, 0, false},
    {"of groups", image_of_groups, 1, 0, false},
    {"and function", image_and_function, 2, 0, false},
    {"and bytes", image_and_bytes, 4, 0, false},
    {"and chain of bytes", image_and_chain_of_bytes, 4, 0, false},
    {"and scales", image_and_scales, 0, 0, false},
    {"beside bytes", beside_bytes, 5, 0, false},
    {"and chain", image_and_chain, 2, 0, false},
    {"of two", image_of_two, 3, 0, false},
    {"by shared weights", image_by_shared_weights, 1, 0, false},
    {"by given weights", image_by_given_weights, 0, 0, false},
    {"for pools", image_for_pools, 0, 0, false},
    {"and given", image_and_given, 0, 0, false},
    {"for another", image_for_another, 0, 0, false},
    {"given", image_that_is_given, 0, 0, false},
    {"of six channels", image_of_six_channels, 0, 0, false},
    {"side by side", side_by_side, 3, 1, false},
    {"beside, from behind", beside_from_behind, 3, 1, false},
    {"beside, for means", beside_for_means, 3, 1, false},
    {"beside, for means of one image", beside_for_means_of_one, 0, 0, false},
    {"beside, in twelves", beside_in_twelves, 0, 0, false},
    {"beside, of one image", beside_of_one, 3, 0, false},
    {"beside, in fours", beside_in_fours, 3, 0, false},
    {"beside, in fours of one image", beside_in_fours_of_one, 0, 0, false},
    {"beside, in twos", beside_in_twos, 0, 0, false},
    {"behind", behind, 3, 0, false},
    {"below", below, 3, 1, false},
    {"at the side", at_the_side, 3, 0, false},
    {"beside, of one dimension", beside_lines, 3, 1, false},
    {"beside, of three dimensions", beside_volumes, 3, 0, false},
    {"beside, for many", beside_for_many, 5, 1, false},
    {"beside, of all kinds", beside_of_all_kinds, 9, 1, false},
    {"beside, twice", beside_twice, 5, 2, false},
    {"beside all before", beside_all_before, 5, 2, false},
    {"beside, two", beside_two, 4, 1, false},
    {"beside itself", beside_itself, 2, 0, false},
    {"beside a constant", beside_a_constant, 2, 0, false},
    {"beside nothing", beside_nothing, 3, 1, false},
    {"beside what is given", beside_given, 0, 0, false},
    {"beside, and given", beside_and_given, 0, 0, false},
    {"apart", apart, 4, 1, false},
    {"apart, from behind", apart_from_behind, 4, 0, false},
    {"apart in fours", apart_in_fours, 0, 0, false},
    {"apart in lines", apart_in_lines, 0, 0, false},
    {"apart, and given", apart_and_given, 0, 0, false},
    {"apart for another", apart_for_another, 0, 0, false},
    {"apart and beside, of one image", apart_and_beside_of_one, 6, 0, false},
    {"apart and beside", apart_and_beside_of_two, 6, 1, false},
    {"apart within another", apart_within, 6, 1, false},
    {"up by a convolution", up_by_a_convolution, 4, 0, false},
    {"up by the nearest", up_by_the_nearest, 5, 0, false},
    {"up by lines", up_by_lines, 5, 0, false},
    {"bytes for one tap", bytes_for_one_tap, 1, 0, true},
    {"bytes for three taps", bytes_for_three_taps, 1, 0, true},
    {"bytes, and function", bytes_and_function, 2, 0, true},
    {"bytes of twelve channels", bytes_of_twelve_channels, 0, 0, true},
    {"spread in lines", spread_in_lines, 2, 0, false},
    {"spread in volumes", spread_in_volumes, 2, 0, false},
    {"spread by given weights", spread_by_given_weights, 2, 0, false},
    {"spread to six channels", spread_to_six_channels, 1, 0, false},
    {"spread beside a larger one", spread_beside_a_larger_one, 5, 1, false},
};
#define SCENE_COUNT (sizeof(scenes) / sizeof(scenes[0]))

/* Numbers of which all sums are exact in float32, in whatever order: quarters up to 1. What 8 of them give with their
 * like is below 2^4 and a multiple of 2^-4, three taps of 8 such 2^8 and 2^-6, one tap of those 2^11 and 2^-8, and one
 * of those 2^14 and 2^-10. */
static network *make(const scene *s) {
  network *const n = make_network();
  add_output(n, s->make(n));
  for (uint32_t v = 0; v < n->desc.value_count; ++v) {
    for (uint32_t i = 0; i < ELEMENTS; ++i) {
      n->floats[v][i] = (float)((int)((i * 37 + v * 11) % 9) - 4) / 4;
    }
  }
  return n;
}

/* What came of a scene: from tensors on the device and on the host. */
typedef struct outcome {
  results results[2];
  uint32_t laid, dispatches, levels;
} outcome;

/* Runs all scenes where `off` names what is not done. */
static void run_scenes(void **state, const char *off, outcome all[SCENE_COUNT]) {
  reopen(fixture_of(state), "LEAT_FUSIONS_OFF", off);
  const place p = open_place(state);
  for (size_t i = 0; i < SCENE_COUNT; ++i) {
    network *const n = make(&scenes[i]);
    leat_graph *const graph = build(&p, n);
    run_graph(&p, graph, n, 0, &all[i].results[0]);
    run_graph(&p, graph, n, UINT32_MAX, &all[i].results[1]);
    all[i].laid = fusions_in(&p, graph, LEATI_FUSION_CHANNELS_LAST);
    all[i].dispatches = info_of(&p, graph).dispatch_count;
    all[i].levels = info_of(&p, graph).level_count;
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  close_place(&p);
}

static void lay_images(void **state) {
  static outcome off[SCENE_COUNT], on[SCENE_COUNT];
  run_scenes(state, "channels_last", off);
  run_scenes(state, NULL, on);
  const leati_physical *const physical = fixture_of(state)->device->physical;
  const bool halves = (brain ? physical->matrix_bfloat16.m : physical->matrix.m) != 0;
  for (size_t i = 0; i < SCENE_COUNT; ++i) {
    network *const n = make(&scenes[i]);
    for (uint32_t where = 0; where < 2; ++where) {
      compare(n, &off[i].results[where], &on[i].results[where]);
    }
    free(n);
    const bool gains = scenes[i].of_bytes ? physical->matrix_int8.m != 0 : halves;
    const uint32_t expected = gains ? scenes[i].laid : 0, fewer = gains ? scenes[i].fewer : 0;
    if (off[i].laid != 0 || on[i].laid != expected || on[i].dispatches + fewer != off[i].dispatches ||
        on[i].levels > off[i].levels) {
      fail_msg(
          "%s: %u images of %u were laid, and %u where that is off; %u dispatches in %u levels, and %u in %u there",
          scenes[i].name, on[i].laid, expected, off[i].laid, on[i].dispatches, on[i].levels, off[i].dispatches,
          off[i].levels);
    }
  }
}

static void images_are_laid(void **state) {
  brain = false;
  lay_images(state);
}

static void images_of_bfloat16_are_laid(void **state) {
  brain = true;
  lay_images(state);
  brain = false;
}

/* ---- Without memory for weights in another order ------------------------------------------------------------------
 */

/* How often memory of a size was asked for, and whether it is refused. */
static uint64_t watched;
static bool refuses;
static uint32_t asked;

int32_t __real_leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out,
                                  leat_error *err);
int32_t __wrap_leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out,
                                  leat_error *err);
int32_t __wrap_leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out,
                                  leat_error *err) {
  asked += size == watched;
  if (refuses && size == watched) {
    return LEAT_ERROR_OUT_OF_MEMORY;
  }
  return __real_leati_memory_alloc(device, size, timeline, out, err);
}

static void images_lie_as_ever_without_memory(void **state) {
  static const int64_t open[RANK] = {-1, -1, -1, -1};
  static results expected, found;
  const scene s = {.make = image_by_a_pool};
  const place p = open_place(state);
  network *const n = make(&s);
  run_nodes(&p, n, &expected);
  n->infos[n->inputs[0]].shape = open; /* so that it is planned when it is launched, and weights are there then */
  leat_graph *const graph = build(&p, n);
  watched = (uint64_t)8 * 8 * 3 * 2; /* weights of three_taps() */
  asked = 0;
  refuses = true;
  run_graph(&p, graph, n, 0, &found);
  refuses = false;
  compare(n, &expected, &found);
  assert_true((asked != 0) == (p.f->device->physical->matrix.m != 0));
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Weights that a product on matrix hardware reads are there twice. */
static void weights_are_kept_along_k(void **state) {
  static const char *const off[] = {"channels_last", NULL};
  static results found;
  const scene s = {.make = product_with_weights};
  uint32_t copies[2];
  uint64_t bytes[2];
  for (int i = 0; i < 2; ++i) {
    reopen(fixture_of(state), "LEAT_FUSIONS_OFF", off[i]);
    const place p = open_place(state);
    network *const n = make(&s);
    watched = (uint64_t)WEIGHT_ROWS * WEIGHT_COLUMNS * 2;
    asked = 0;
    leat_graph *const graph = build(&p, n);
    run_graph(&p, graph, n, 0, &found);
    copies[i] = asked;
    bytes[i] = info_of(&p, graph).constant_bytes;
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
    close_place(&p);
  }
  const bool twice = fixture_of(state)->device->physical->matrix.m != 0;
  assert_int_equal(copies[1], copies[0] + twice);
  assert_int_equal(bytes[1], bytes[0] + (twice ? watched : 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(images_are_laid, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(images_of_bfloat16_are_laid, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(images_lie_as_ever_without_memory, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(weights_are_kept_along_k, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
