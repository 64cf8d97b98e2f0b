/* SPDX-License-Identifier: BSD-3-Clause */
/* leat_graph_api::prepare: what it compiles, launches do not; those that compile all the same are counted, told of and
 * seen in a profile. */
#include "unit_network.h"

#include <inttypes.h>
#include <string.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

enum { WIDTH = 16, INPUTS = 3 };

static uint64_t compiled(void) {
  return nulldriver_calls("vkCreateComputePipelines");
}

/* ---- Families of shapes --------------------------------------------------------------------------------------------
 */

static const leat_attribute axis_1 = ATTRIBUTE(INT, .name = "axis", .i = 1);
static const int64_t last_two[] = {0, 2, 1};
static const leat_attribute turned = ATTRIBUTE(INTS, .name = "perm", .count = 3, .ints = last_two);

static uint32_t linear(network *n, uint32_t x, int64_t from, int64_t to) {
  const uint32_t product = NODE(n, "MatMul", 13, x, add_constant(n, SHAPE(from, to)));
  return NODE(n, "Add", 14, product, add_constant(n, SHAPE(to)));
}

static uint32_t normed(network *n, uint32_t x) {
  return NODE(n, "LayerNormalization", 17, x, add_constant(n, SHAPE(WIDTH)), add_constant(n, SHAPE(WIDTH)));
}

/* Attention of queries from x over keys and values of their own lengths, and what follows it in a layer. */
static uint32_t layer(network *n, uint32_t x, uint32_t key, uint32_t value, const leat_attribute **list) {
  const uint32_t columns = NODE(n, "Transpose", 13, key);
  set_attribute(n, &turned, list);
  const uint32_t weights = NODE(n, "Softmax", 13, NODE(n, "MatMul", 13, linear(n, x, WIDTH, WIDTH), columns));
  const uint32_t y = normed(n, NODE(n, "Add", 14, x, NODE(n, "MatMul", 13, weights, value)));
  const uint32_t wide = NODE(n, "Sigmoid", 13, linear(n, y, WIDTH, 2 * WIDTH));
  return normed(n, NODE(n, "Add", 14, y, linear(n, wide, 2 * WIDTH, WIDTH)));
}

static const leat_attribute *attributes[8];

/* x[batch, length, WIDTH]. */
static network *make_encoder(void) {
  network *const n = make_network();
  const uint32_t x = add_input(n, SHAPE(-1, -1, WIDTH));
  add_output(n, layer(n, x, linear(n, x, WIDTH, WIDTH), linear(n, x, WIDTH, WIDTH), &attributes[0]));
  return n;
}

/* x[batch, length, WIDTH], and keys and values of the past, [batch, past, WIDTH], which go on. */
static network *make_decoder(void) {
  network *const n = make_network();
  const uint32_t x = add_input(n, SHAPE(-1, -1, WIDTH));
  const uint32_t past_key = add_input(n, SHAPE(-1, -1, WIDTH)), past_value = add_input(n, SHAPE(-1, -1, WIDTH));
  const uint32_t key = NODE(n, "Concat", 13, past_key, linear(n, x, WIDTH, WIDTH));
  set_attribute(n, &axis_1, &attributes[1]);
  const uint32_t value = NODE(n, "Concat", 13, past_value, linear(n, x, WIDTH, WIDTH));
  set_attribute(n, &axis_1, &attributes[2]);
  add_output(n, layer(n, x, key, value, &attributes[3]));
  add_output(n, key);
  add_output(n, value);
  return n;
}

/* Inputs of one of these, without memory. */
typedef struct given {
  int64_t shapes[INPUTS][3];
  DLTensor tensors[INPUTS];
  const DLTensor *list[INPUTS];
} given;

static void give(given *g, int64_t batch, int64_t length, int64_t past) {
  for (int i = 0; i < INPUTS; ++i) {
    const int64_t shape[3] = {batch, i == 0 ? length : past, WIDTH};
    memcpy(g->shapes[i], shape, sizeof(shape));
    g->tensors[i] = (DLTensor){.device = {kDLVulkan, 0}, .ndim = 3, .dtype = float_type, .shape = g->shapes[i]};
    g->list[i] = &g->tensors[i];
  }
}

/* Prepares for such shapes, `max` pipelines at most. Returns how many that was. */
static uint32_t prepare(const leat_graph *graph, const network *n, int64_t batch, int64_t length, int64_t past,
                        uint32_t max) {
  given g;
  give(&g, batch, length, past);
  const uint64_t before = compiled();
  uint32_t number = max;
  assert_ok(h.api->graph->prepare(graph, n->desc.input_count, g.list, &number, &err));
  assert_int_equal(compiled() - before, number);
  assert_true(number <= max);
  return number;
}

static uint64_t size_of(const int64_t *shape) {
  return (uint64_t)(shape[0] * shape[1] * shape[2]) * sizeof(float);
}

/* Launches for such shapes. Returns how many pipelines that compiled. */
static uint64_t launch_once(const leat_graph *graph, const network *n, leat_stream *stream, int64_t batch,
                            int64_t length, int64_t past) {
  given g;
  leat_shape shapes[INPUTS], *wanted[INPUTS];
  DLTensor outputs[INPUTS];
  const DLTensor *made[INPUTS];
  uint64_t address;
  give(&g, batch, length, past);
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    assert_ok(h.api->memory->alloc(h.device, size_of(g.shapes[i]), stream, &address, &err));
    g.tensors[i].data = (void *)(uintptr_t)address;
  }
  for (uint32_t o = 0; o < n->desc.output_count; ++o) {
    shapes[o] = (leat_shape){.struct_size = sizeof(shapes[o])};
    wanted[o] = &shapes[o];
  }
  assert_ok(h.api->graph->infer(graph, n->desc.input_count, g.list, n->desc.output_count, wanted, &err));
  for (uint32_t o = 0; o < n->desc.output_count; ++o) {
    assert_ok(h.api->memory->alloc(h.device, size_of(shapes[o].dims), stream, &address, &err));
    outputs[o] = (DLTensor){.data = (void *)(uintptr_t)address,
                            .device = {kDLVulkan, 0},
                            .ndim = 3,
                            .dtype = float_type,
                            .shape = shapes[o].dims};
    made[o] = &outputs[o];
  }
  const uint64_t before = compiled();
  assert_ok(h.api->graph->launch(graph, stream, n->desc.input_count, g.list, n->desc.output_count, made, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    assert_ok(h.api->memory->free(h.device, (uint64_t)(uintptr_t)g.tensors[i].data, &err));
  }
  for (uint32_t o = 0; o < n->desc.output_count; ++o) {
    assert_ok(h.api->memory->free(h.device, (uint64_t)(uintptr_t)outputs[o].data, &err));
  }
  return compiled() - before;
}

static leat_graph *build_graph(const network *n) {
  leat_graph *graph;
  assert_ok(h.api->graph->build(h.device, &n->desc, &graph, &err));
  return graph;
}

static leat_graph_info told(const leat_graph *graph) {
  leat_graph_info info = {.struct_size = sizeof(info)};
  assert_ok(h.api->graph->info(graph, &info, &err));
  return info;
}

/* Launches for a hundred shapes. Returns how many pipelines these have compiled, which the graph knows too. */
static uint64_t launch_many(const leat_graph *graph, const network *n) {
  leat_stream *const stream = make_stream();
  const uint64_t counted = told(graph).compile_count;
  const uint32_t of_device = atomic_load(&h.device->compiled_in_requests);
  uint64_t number = 0;
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t r = i * 2654435761u;
    number +=
        launch_once(graph, n, stream, 1 + (r >> 8) % 4, i % 2 != 0 ? 1 : 1 + (r >> 12) % 150, 1 + (r >> 20) % 300);
  }
  assert_int_equal(told(graph).compile_count - counted, number);
  assert_int_equal(atomic_load(&h.device->compiled_in_requests) - of_device, number);
  assert_ok(h.api->stream->destroy(stream, &err));
  return number;
}

/* The sizes that the ONNX Runtime provider tries are more: one, primes, and primes of other magnitudes. */
static uint32_t prepare_family(const leat_graph *graph, const network *n) {
  static const int64_t sizes[] = {37, 1, 127, 11, 2, 3, 5, 499};
  uint32_t left = 64;
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    for (int64_t alone = 0; alone < 4; ++alone) {
      left -= prepare(graph, n, alone % 2 != 0 ? 1 : sizes[i], alone >= 2 ? 1 : sizes[i] + 4, sizes[i] + 6, left);
    }
  }
  return 64 - left;
}

/* Launches of a hundred other shapes compile next to nothing: a tenth at most of what they do where nobody prepared. */
static void check_family(network *n) {
  open_device();
  leat_graph *const cold = build_graph(n);
  const uint64_t without = launch_many(cold, n);
  assert_true(without >= 10);
  assert_ok(h.api->graph->destroy(cold, &err));
  close_device();
  open_device();
  leat_graph *const graph = build_graph(n);
  const uint32_t ahead = prepare_family(graph, n);
  assert_int_equal(told(graph).compile_count, 0);
  assert_int_equal(told(graph).launch_count, 0);
  const uint64_t with = launch_many(graph, n);
  print_message("%u compiled ahead, %" PRIu64 " in a hundred launches, %" PRIu64 " without\n", ahead, with, without);
  assert_true(with * 10 <= without);
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

static void an_encoder_is_prepared(void **state) {
  (void)state;
  check_family(make_encoder());
}

static void a_decoder_is_prepared(void **state) {
  (void)state;
  check_family(make_decoder());
}

/* ---- What preparing does -------------------------------------------------------------------------------------------
 */

/* A launch of shapes that were prepared compiles nothing, and finds its plan. */
static void what_was_prepared_compiles_nothing(void **state) {
  (void)state;
  network *const n = make_decoder();
  open_device();
  leat_graph *const graph = build_graph(n);
  leat_stream *const stream = make_stream();
  const uint32_t number = prepare(graph, n, 2, 7, 13, UINT32_MAX);
  assert_true(number > 4);
  assert_int_equal(prepare(graph, n, 2, 7, 13, UINT32_MAX), 0);
  assert_int_equal(told(graph).plan_count, 0);
  assert_int_equal(launch_once(graph, n, stream, 2, 7, 13), 0);
  assert_int_equal(told(graph).plan_count, 1);
  assert_int_equal(prepare(graph, n, 2, 7, 13, UINT32_MAX), 0);
  leat_graph *const other = build_graph(n);
  assert_int_equal(prepare(other, n, 2, 7, 13, UINT32_MAX), 0);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->graph->destroy(other, &err));
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

/* One after the other, as many as may be, until all are there: no failure, and nothing is lost. */
static void no_more_are_compiled_than_may_be(void **state) {
  (void)state;
  network *const n = make_encoder();
  open_device();
  leat_graph *const graph = build_graph(n);
  uint32_t number = 0;
  assert_int_equal(prepare(graph, n, 2, 7, 0, 0), 0);
  while (prepare(graph, n, 2, 7, 0, 1) == 1) {
    ++number;
  }
  assert_true(number > 4);
  assert_int_equal(prepare(graph, n, 2, 7, 0, UINT32_MAX), 0);
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

/* A driver that cannot compile: the call fails, the next one does it, and launches do. */
static void a_failed_compile_is_told(void **state) {
  (void)state;
  network *const n = make_encoder();
  open_device();
  leat_graph *const graph = build_graph(n);
  given g;
  give(&g, 2, 7, 0);
  uint32_t number = 9;
  assert_true(nulldriver_fail("vkCreateComputePipelines", 2, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  assert_int_equal(h.api->graph->prepare(graph, 1, g.list, &number, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(number, 1);
  assert_true(prepare(graph, n, 2, 7, 0, UINT32_MAX) > 1);
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

/* Fails with such a message, and compiles nothing. */
static void refuse(const leat_graph *graph, const given *g, const char *message) {
  leat_error said = {.struct_size = sizeof(said)};
  const uint64_t before = compiled();
  uint32_t number = 9;
  assert_int_equal(h.api->graph->prepare(graph, 3, g->list, &number, &said), LEAT_ERROR_INVALID_ARGUMENT);
  if (strstr(said.message, message) == NULL) {
    fail_msg("'%s' is not in '%s'", message, said.message);
  }
  assert_int_equal(number, 0);
  assert_int_equal(compiled(), before);
}

static void wrong_inputs_are_named(void **state) {
  (void)state;
  network *const n = make_decoder();
  open_device();
  leat_graph *const graph = build_graph(n);
  given g;
#define REFUSED(change, message) \
  give(&g, 2, 7, 13);            \
  change;                        \
  refuse(graph, &g, message)
  REFUSED(g.list[1] = NULL, "input 1 of the graph is NULL");
  REFUSED(g.tensors[2].dtype = int_type, "input 2 of the graph has type int64; it was built for float32");
  REFUSED(g.tensors[1].ndim = 2, "input 1 of the graph has another shape than the graph was built for");
  REFUSED(g.shapes[0][2] = 17, "input 0 of the graph has another shape than the graph was built for");
  REFUSED(g.shapes[0][1] = -1, "input 0 of the graph has size -1 in dimension 1");
  REFUSED(g.shapes[1][0] = 3, "Concat");
  REFUSED(g.tensors[0].device = ((DLDevice){kDLCUDA, 0}), "input 0 of the graph is on DLPack device (2, 0)");
  REFUSED(g.tensors[0].device.device_id = 1, "input 0 of the graph is on DLPack device (7, 1)");
#undef REFUSED
  give(&g, 2, 7, 13);
  for (int i = 0; i < 3; ++i) {
    g.tensors[i].device = (DLDevice){kDLCPU, 0};
  }
  uint32_t number = UINT32_MAX;
  assert_ok(h.api->graph->prepare(graph, 3, g.list, &number, &err));
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

/* An input whose elements decide shapes comes with them. */
static void what_decides_shapes_is_needed(void **state) {
  (void)state;
  network *const n = make_network();
  const uint32_t x = add_input(n, SHAPE(-1, WIDTH)), to = add_value(n, int_type, 1, (const int64_t[]){2});
  n->inputs[n->desc.input_count++] = to;
  add_output(n, NODE(n, "Neg", 13, NODE(n, "Reshape", 14, x, to)));
  open_device();
  leat_graph *const graph = build_graph(n);
  int64_t shape[2] = {5, WIDTH}, two = 2, wanted[2] = {WIDTH, 5};
  const DLTensor values = {.device = {kDLVulkan, 0}, .ndim = 2, .dtype = float_type, .shape = shape};
  DLTensor list = {.data = NULL, .device = {kDLCPU, 0}, .ndim = 1, .dtype = int_type, .shape = &two};
  const DLTensor *const inputs[] = {&values, &list};
  leat_error said = {.struct_size = sizeof(said)};
  uint32_t number = 9;
  assert_int_equal(h.api->graph->prepare(graph, 2, inputs, &number, &said), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(said.message, "input 1 of the graph has elements and NULL data"));
  assert_int_equal(number, 0);
  list.data = wanted;
  number = 9;
  assert_int_equal(h.api->graph->prepare(graph, 2, inputs, &number, NULL), LEAT_OK);
  assert_int_equal(number, 1);
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

/* ---- Profiles -----------------------------------------------------------------------------------------------------
 */

/* Counts the records of compilations, and checks them. */
static uint32_t compile_records(void) {
  uint32_t found = 0, taken = 1;
  while (taken != 0) {
    leat_profile_record record = {.struct_size = sizeof(record)};
    assert_ok(h.api->profiler->read(h.device, &taken, &record, &err));
    if (taken != 0 && record.kind == LEAT_PROFILE_COMPILE) {
      assert_true(record.name[0] != '\0' && record.end_ns >= record.begin_ns && record.thread != 0);
      ++found;
    }
  }
  return found;
}

static void a_profile_has_what_launches_compile(void **state) {
  (void)state;
  network *const n = make_encoder();
  open_device();
  leat_graph *const graph = build_graph(n);
  leat_stream *const stream = make_stream();
  assert_ok(h.api->profiler->start(h.device, 0, 0, &err));
  assert_true(prepare(graph, n, 2, 7, 0, UINT32_MAX) > 0);
  assert_int_equal(compile_records(), 0);
  const uint64_t number = launch_once(graph, n, stream, 64, 64, 0);
  assert_true(number > 0);
  assert_int_equal(compile_records(), number);
  assert_ok(h.api->profiler->stop(h.device, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->graph->destroy(graph, &err));
  close_device();
  free(n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(an_encoder_is_prepared),
      CASE(a_decoder_is_prepared),
      CASE(what_was_prepared_compiles_nothing),
      CASE(no_more_are_compiled_than_may_be),
      CASE(a_failed_compile_is_told),
      CASE(wrong_inputs_are_named),
      CASE(what_decides_shapes_is_needed),
      CASE(a_profile_has_what_launches_compile),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.prepare", tests, NULL, NULL);
}
