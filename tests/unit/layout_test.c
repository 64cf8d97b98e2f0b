/* SPDX-License-Identifier: BSD-3-Clause */
/* Which images of a graph lie with their channels next to each other, and that the results have the bits that they have
 * where none does, by as many dispatches. Only matrix hardware of float16 gains by it: without that none does anyway.
 */
#include <stdio.h>

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

/* Convolutions to `to` channels with one tap and with three. */
static uint32_t one_tap(network *n, uint32_t x, int64_t from, int64_t to) {
  return NODE(n, "Conv", 11, x, halved(n, add_constant(n, SHAPE(to, from, 1, 1))),
              halved(n, add_constant(n, SHAPE(to))));
}
static uint32_t three_taps(network *n, uint32_t x, int64_t from, int64_t to) {
  static const leat_attribute *const list[] = {&line, &beside, &two_groups};
  const uint32_t y =
      NODE(n, "Conv", 11, x, halved(n, add_constant(n, SHAPE(to, from, 1, 3))), halved(n, add_constant(n, SHAPE(to))));
  set_attributes(n, list, to > from ? 3 : 2);
  return y;
}
static uint32_t half_image(network *n) {
  return halved(n, add_input(n, SHAPE(2, 8, 5, 5)));
}

/* Two images. */
static uint32_t image_by_a_pool(network *n) {
  static const leat_attribute *const list[] = {&square};
  const uint32_t pooled = NODE(n, "MaxPool", 12, NODE(n, "Relu", 14, three_taps(n, half_image(n), 8, 8)));
  set_attributes(n, list, 1);
  return widened(n, NODE(n, "GlobalAveragePool", 1, three_taps(n, pooled, 8, 8)));
}
/* The same two. */
static uint32_t image_by_an_average(network *n) {
  static const leat_attribute *const list[] = {&square, &around, &of_padding};
  const uint32_t pooled = NODE(n, "AveragePool", 11, three_taps(n, half_image(n), 8, 8));
  set_attributes(n, list, 3);
  return widened(n, one_tap(n, pooled, 8, 8));
}
/* Three images. */
static uint32_t image_and_residual(network *n) {
  const uint32_t a = one_tap(n, half_image(n), 8, 8), b = NODE(n, "Relu", 14, three_taps(n, a, 8, 8));
  const uint32_t c = NODE(n, "Relu", 14, NODE(n, "Add", 14, one_tap(n, b, 8, 8), a));
  return widened(n, one_tap(n, c, 8, 8));
}
/* One image, of two groups. */
static uint32_t image_of_groups(network *n) {
  const uint32_t x = one_tap(n, halved(n, add_input(n, SHAPE(1, 16, 5, 5))), 16, 16);
  return widened(n, NODE(n, "GlobalAveragePool", 1, three_taps(n, x, 8, 16)));
}
/* Two, a function of one number between them. */
static uint32_t image_and_function(network *n) {
  return widened(n, one_tap(n, NODE(n, "Abs", 13, one_tap(n, half_image(n), 8, 8)), 8, 8));
}
/* Two, a chain with a factor for each channel between them. */
static uint32_t image_and_chain(network *n) {
  const uint32_t y = NODE(n, "Abs", 13, one_tap(n, half_image(n), 8, 8));
  return widened(n, one_tap(n, NODE(n, "Mul", 14, y, halved(n, add_constant(n, SHAPE(8, 1, 1)))), 8, 8));
}
/* Three: one is the product of two. */
static uint32_t image_of_two(network *n) {
  const uint32_t x = half_image(n);
  return widened(n, three_taps(n, NODE(n, "Mul", 14, one_tap(n, x, 8, 8), one_tap(n, x, 8, 8)), 8, 8));
}
/* One, whose convolution has the weights of another one that reads them as they are. */
static uint32_t image_by_shared_weights(network *n) {
  static const leat_attribute *const list[] = {&line, &beside};
  const uint32_t x = half_image(n), w = halved(n, add_constant(n, SHAPE(8, 8, 1, 3)));
  const uint32_t y = NODE(n, "Conv", 11, x, w);
  set_attributes(n, list, 2);
  const uint32_t z = NODE(n, "Conv", 11, y, w);
  set_attributes(n, list, 2);
  return widened(n, NODE(n, "GlobalAveragePool", 1, z));
}
/* None: weights that are given would be copied for each launch, and pools would copy what a convolution gains by. */
static uint32_t image_by_given_weights(network *n) {
  static const leat_attribute *const list[] = {&line, &beside};
  const uint32_t z = NODE(n, "Conv", 11, one_tap(n, half_image(n), 8, 8), halved(n, add_input(n, SHAPE(8, 8, 1, 3))));
  set_attributes(n, list, 2);
  return widened(n, z);
}
static uint32_t image_for_pools(network *n) {
  static const leat_attribute *const list[] = {&square};
  const uint32_t y = one_tap(n, half_image(n), 8, 8);
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t pooled = NODE(n, "MaxPool", 12, y);
    set_attributes(n, list, 1);
    add_output(n, widened(n, pooled));
  }
  return widened(n, one_tap(n, y, 8, 8));
}
/* None: what is multiplied by it is given. */
static uint32_t image_and_given(network *n) {
  const uint32_t x = half_image(n);
  return widened(n, one_tap(n, NODE(n, "Mul", 14, one_tap(n, x, 8, 8), x), 8, 8));
}
/* None: a node takes it that does not read it so, the graph gives it, or fours of its channels are of two pixels. */
static uint32_t image_for_another(network *n) {
  const uint32_t y = one_tap(n, half_image(n), 8, 8);
  add_output(n, widened(n, NODE(n, "Sign", 13, y)));
  return widened(n, three_taps(n, y, 8, 8));
}
static uint32_t image_that_is_given(network *n) {
  const uint32_t y = one_tap(n, half_image(n), 8, 8);
  add_output(n, y);
  return widened(n, three_taps(n, y, 8, 8));
}
static uint32_t image_of_six_channels(network *n) {
  const uint32_t y = one_tap(n, half_image(n), 8, 6);
  return widened(n, three_taps(n, y, 6, 6));
}

/* ---- Running them ------------------------------------------------------------------------------------------------
 */

typedef struct scene {
  const char *name;
  uint32_t (*make)(network *n);
  uint32_t laid;
} scene;

static const scene scenes[] = {
    {"by a pool", image_by_a_pool, 2},
    {"by an average", image_by_an_average, 2},
    {"and residual", image_and_residual, 3},
    {"of groups", image_of_groups, 1},
    {"and function", image_and_function, 2},
    {"and chain", image_and_chain, 2},
    {"of two", image_of_two, 3},
    {"by shared weights", image_by_shared_weights, 1},
    {"by given weights", image_by_given_weights, 0},
    {"for pools", image_for_pools, 0},
    {"and given", image_and_given, 0},
    {"for another", image_for_another, 0},
    {"given", image_that_is_given, 0},
    {"of six channels", image_of_six_channels, 0},
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

static uint32_t laid_in(const place *p, const leat_graph *graph) {
  leat_graph_fusion list[LEATI_FUSION_COUNT];
  uint32_t count = LEATI_FUSION_COUNT;
  for (uint32_t i = 0; i < count; ++i) {
    list[i].struct_size = sizeof(list[i]);
  }
  assert_ok(p->f->api->graph->fusions(graph, &count, list, &err));
  return list[LEATI_FUSION_CHANNELS_LAST].count;
}

/* What came of a scene: from tensors on the device and on the host. */
typedef struct outcome {
  results results[2];
  uint32_t laid, dispatches;
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
    all[i].laid = laid_in(&p, graph);
    all[i].dispatches = info_of(&p, graph).dispatch_count;
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  close_place(&p);
}

static void images_are_laid(void **state) {
  static outcome off[SCENE_COUNT], on[SCENE_COUNT];
  run_scenes(state, "channels_last", off);
  run_scenes(state, NULL, on);
  const bool gains = fixture_of(state)->device->physical->matrix.m != 0;
  for (size_t i = 0; i < SCENE_COUNT; ++i) {
    network *const n = make(&scenes[i]);
    for (uint32_t where = 0; where < 2; ++where) {
      compare(n, &off[i].results[where], &on[i].results[where]);
    }
    free(n);
    const uint32_t expected = gains ? scenes[i].laid : 0;
    if (off[i].laid != 0 || on[i].laid != expected || on[i].dispatches != off[i].dispatches) {
      fail_msg("%s: %u images of %u were laid, and %u where that is off; %u dispatches, and %u there", scenes[i].name,
               on[i].laid, expected, off[i].laid, on[i].dispatches, off[i].dispatches);
    }
  }
}

/* ---- Without memory for weights in another order ------------------------------------------------------------------
 */

static bool refuses;
static uint32_t refused;

int32_t __real_leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out,
                                  leat_error *err);
int32_t __wrap_leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out,
                                  leat_error *err);
int32_t __wrap_leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out,
                                  leat_error *err) {
  if (refuses && size == (uint64_t)8 * 8 * 3 * 2) { /* weights of three_taps() */
    ++refused;
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
  refuses = true;
  run_graph(&p, graph, n, 0, &found);
  refuses = false;
  compare(n, &expected, &found);
  assert_true((refused != 0) == (p.f->device->physical->matrix.m != 0));
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(images_are_laid, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(images_lie_as_ever_without_memory, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
