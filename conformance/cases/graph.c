/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_graph_api: what launches of a graph give, in which order, from how many threads, with what shapes.
 * What is refused: graph_arguments.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/graph_net.h"
#include "cases/limit.h"
#include "cases/network.h"
#include "cases/sources.h"

/* ---- What comes out ---- */

static const leati_net_kind kinds[] = {LEATI_NET_ONE, LEATI_NET_CHAIN, LEATI_NET_DIAMOND, LEATI_NET_WIDE,
                                       LEATI_NET_DEEP};
#define KIND(kind) (&kinds[kind])

/* With the dimensions known and not, the launch that plans and later ones. */
static void run_net(leat_case_context *ctx, const void *data) {
  const leati_net_kind kind = *(const leati_net_kind *)data;
  for (int unknown = 0; unknown < 2; ++unknown) {
    leati_net *net = leati_net_new(ctx, kind, unknown != 0);
    leat_graph *graph = leati_graph_new(ctx, net->builder);
    leat_stream *stream = leati_stream_new(ctx);
    for (uint32_t i = 0; i < 4; ++i) {
      leati_flight_once(net, graph, stream, ctx->seed + i);
    }
    leati_stream_destroy(ctx, stream);
    leati_graph_destroy(ctx, graph);
    leati_net_free(net);
  }
}

/* Nothing of the description is looked at once build() has returned. */
static void description_is_copied(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_CHAIN, false);
  leati_builder *kept = g_memdup2(net->builder, sizeof(*kept));
  uint8_t *constant = g_memdup2(net->constant, net->size);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  for (uint32_t round = 0; round < 2; ++round) {
    leati_flight *flight;
    /* The same memory, since the copies of the description point into it. */
    memset(net->constant, 0x77, net->size);
    memset(net->builder->infos, 0x77, sizeof(net->builder->infos));
    memset(net->builder->nodes, 0x77, sizeof(net->builder->nodes));
    memset(net->builder->node_inputs, 0x77, sizeof(net->builder->node_inputs));
    memset(net->builder->names, 0x77, sizeof(net->builder->names));
    flight = leati_flight_begin(net, graph, stream, ctx->seed + round);
    leati_synchronize(ctx, stream);
    memcpy(net->builder, kept, sizeof(*kept));
    memcpy(net->constant, constant, net->size);
    leati_flight_end(flight);
  }
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  g_free(constant);
  g_free(kept);
  leati_net_free(net);
}

/* Two graphs with the same constants, one of which goes. */
static void constants_of_two(leat_case_context *ctx, const void *data) {
  leati_net *chain = leati_net_new(ctx, LEATI_NET_CHAIN, false);
  leati_net *diamond = leati_net_new(ctx, LEATI_NET_DIAMOND, false);
  leat_graph *first = leati_graph_new(ctx, chain->builder);
  leat_graph *second = leati_graph_new(ctx, diamond->builder);
  leat_graph *third = leati_graph_new(ctx, chain->builder);
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  for (uint32_t i = 0; i < 3; ++i) {
    leati_flight_once(chain, first, stream, ctx->seed + i);
    leati_flight_once(diamond, second, stream, ctx->seed + i);
  }
  leati_graph_destroy(ctx, first);
  leati_flight_once(diamond, second, stream, ctx->seed + 10);
  leati_flight_once(chain, third, stream, ctx->seed + 11);
  leati_graph_destroy(ctx, third);
  leati_flight_once(diamond, second, stream, ctx->seed + 12);
  leati_graph_destroy(ctx, second);
  leati_stream_destroy(ctx, stream);
  leati_net_free(diamond);
  leati_net_free(chain);
}

/* Each output alone, each one left out, and none. */
static void unwanted(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_WIDE, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream = leati_stream_new(ctx);
  const uint32_t outputs = net->builder->desc.output_count;
  uint8_t *expected = leati_net_expected(net, ctx->seed);
  uint8_t *want = g_malloc(outputs * net->size);
  uint8_t *got = g_malloc(outputs * net->size);
  uint64_t block = leati_case_alloc(ctx, (2 + outputs) * net->size, stream);
  uint64_t results = block + 2 * net->size;
  leat_case_tensor inputs[2];
  leat_case_tensor *views = g_new0(leat_case_tensor, outputs);
  const leat_case_tensor *list[LEATI_BUILDER_NODES];
  (void)data;
  for (uint32_t i = 0; i < 2; ++i) {
    uint8_t *bytes = leati_net_input(net, i, ctx->seed);
    leati_net_device(net, &inputs[i], block + i * net->size);
    leati_upload(ctx, stream, block + i * net->size, bytes, net->size);
    g_free(bytes);
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    leati_net_device(net, &views[i], results + i * net->size);
  }
  for (uint32_t round = 0; round <= 2 * outputs; ++round) {
    memset(want, 0x5B, outputs * net->size);
    leati_upload(ctx, stream, results, want, outputs * net->size);
    for (uint32_t i = 0; i < outputs; ++i) {
      const bool wanted = round < outputs ? i == round : round < 2 * outputs && i != round - outputs;
      list[i] = wanted ? &views[i] : NULL;
      if (wanted) {
        memcpy(want + i * net->size, expected + i * net->size, net->size);
      }
    }
    LEAT_CHECK_OK(ctx, leati_net_launch(net, graph, stream, inputs, list, LEAT_ERR));
    leati_download(ctx, stream, results, got, outputs * net->size);
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, want, got, outputs * net->size);
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  g_free(views);
  g_free(got);
  g_free(want);
  g_free(expected);
  leati_net_free(net);
}

/* A launch of any graph with float32 outputs: inputs and outputs on the host. */
static void launch_floats(leat_case_context *ctx, const leati_builder *builder, const DLTensor *const *inputs,
                          leat_case_tensor *outputs) {
  leat_graph *graph = leati_graph_new(ctx, builder);
  leat_stream *stream = leati_stream_new(ctx);
  const DLTensor *out[LEATI_BUILDER_NODES];
  for (uint32_t i = 0; i < builder->desc.output_count; ++i) {
    out[i] = &outputs[i].tensor;
  }
  for (int round = 0; round < 2; ++round) {
    LEAT_CHECK_OK(ctx, ctx->api->graph->launch(graph, stream, builder->desc.input_count, inputs,
                                               builder->desc.output_count, out, LEAT_ERR));
    leati_synchronize(ctx, stream);
  }
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
}

/* Split into two, of which the second is not named, or named and not used, or used by a node. */
static void unused_outputs(leat_case_context *ctx, const void *data) {
  static float x[8] = {1, 2, 3, 4, -5, 6, -7, 8};
  static const float first[4] = {1, 2, 3, 4};
  static const float second[4] = {0, 6, 0, 8};
  const int64_t whole[1] = {8};
  const int64_t half[1] = {4};
  leat_case_tensor input;
  (void)data;
  leati_graph_require(ctx);
  leati_case_tensor_host(&input, x, LEAT_F32, 1, whole);
  for (int way = 0; way < 3; ++way) {
    leati_builder *m = leati_builder_new();
    const DLTensor *in[1] = {&input.tensor};
    float got[2][4] = {{0}};
    leat_case_tensor outputs[2];
    const uint32_t v = leati_builder_input(m, LEAT_F32, 1, whole);
    const uint32_t a = leati_builder_node(m, "Split", 13, 1, &v);
    const uint32_t b = leati_builder_more(m);
    leati_builder_output(m, a);
    if (way == 0) {
      m->node_outputs[0][1] = LEAT_GRAPH_NO_VALUE;
    }
    if (way == 2) {
      leati_builder_output(m, leati_builder_node(m, "Relu", 14, 1, &b));
    }
    if (way == 0) {
      m->desc.value_count--;
    }
    leati_case_tensor_host(&outputs[0], got[0], LEAT_F32, 1, half);
    leati_case_tensor_host(&outputs[1], got[1], LEAT_F32, 1, half);
    launch_floats(ctx, m, in, outputs);
    LEAT_CHECK_BYTES(ctx, first, got[0], sizeof(first));
    if (way == 2) {
      LEAT_CHECK_BYTES(ctx, second, got[1], sizeof(second));
    }
    g_free(m);
  }
}

/* Clip with its lower bound, its upper one, both or none left out, at the end of the list and in the middle. */
static void absent_inputs(leat_case_context *ctx, const void *data) {
  static float x[4] = {-3, -1, 1, 3};
  static const float low = -2;
  static const float high = 2;
  const int64_t dims[1] = {4};
  leat_case_tensor input;
  (void)data;
  leati_graph_require(ctx);
  leati_case_tensor_host(&input, x, LEAT_F32, 1, dims);
  for (int way = 0; way < 5; ++way) {
    leati_builder *m = leati_builder_new();
    const DLTensor *in[1] = {&input.tensor};
    const bool has_low = way == 1 || way == 3;
    const bool has_high = way >= 2 && way < 4;
    float got[4] = {0};
    leat_case_tensor output;
    uint32_t list[3] = {leati_builder_input(m, LEAT_F32, 1, dims), LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE};
    if (has_low) {
      list[1] = leati_builder_constant(m, &low, LEAT_F32, 0, NULL);
    }
    if (has_high) {
      list[2] = leati_builder_constant(m, &high, LEAT_F32, 0, NULL);
    }
    leati_builder_output(m, leati_builder_node(m, "Clip", 13, way == 4 ? 1 : 3, list));
    leati_case_tensor_host(&output, got, LEAT_F32, 1, dims);
    launch_floats(ctx, m, in, &output);
    for (int i = 0; i < 4; ++i) {
      const float want = has_low && x[i] < low ? low : has_high && x[i] > high ? high : x[i];
      LEAT_CHECK_MESSAGE(ctx, got[i] == want, "way %d, element %d is %g, expected %g", way, i, (double)got[i],
                         (double)want);
    }
    g_free(m);
  }
}

/* Inputs and constants that no node takes are there all the same. */
static void unused_values(leat_case_context *ctx, const void *data) {
  static float x[4] = {1, -2, 3, -4};
  static const float want[4] = {1, 0, 3, 0};
  const int64_t dims[1] = {4};
  leati_builder *m = leati_builder_new();
  leat_case_tensor inputs[2];
  leat_case_tensor output;
  const DLTensor *in[2] = {&inputs[0].tensor, &inputs[1].tensor};
  float got[4] = {0};
  (void)data;
  leati_graph_require(ctx);
  leati_builder_input(m, LEAT_F32, -1, NULL);
  leati_builder_constant(m, want, LEAT_F32, 1, dims);
  const uint32_t used = leati_builder_input(m, LEAT_F32, 1, dims);
  leati_builder_output(m, leati_builder_node(m, "Relu", 14, 1, &used));
  leati_builder_node(m, "Neg", 13, 1, &used);
  leati_case_tensor_host(&inputs[0], x, LEAT_F32, 0, NULL);
  leati_case_tensor_host(&inputs[1], x, LEAT_F32, 1, dims);
  leati_case_tensor_host(&output, got, LEAT_F32, 1, dims);
  launch_floats(ctx, m, in, &output);
  LEAT_CHECK_BYTES(ctx, want, got, sizeof(want));
  g_free(m);
}

/* A graph without inputs is its constants' result, at each launch. */
static void constants_alone(leat_case_context *ctx, const void *data) {
  static const float a[3] = {1, -2, 3};
  static const float b[3] = {10, 20, -30};
  static const float want[3] = {11, 18, 0};
  const int64_t dims[1] = {3};
  leati_builder *m = leati_builder_new();
  float got[3] = {0};
  leat_case_tensor output;
  uint32_t list[2];
  (void)data;
  leati_graph_require(ctx);
  list[0] = leati_builder_constant(m, a, LEAT_F32, 1, dims);
  list[1] = leati_builder_constant(m, b, LEAT_F32, 1, dims);
  list[0] = leati_builder_node(m, "Add", 14, 2, list);
  leati_builder_output(m, leati_builder_node(m, "Relu", 14, 1, list));
  leati_case_tensor_host(&output, got, LEAT_F32, 1, dims);
  launch_floats(ctx, m, NULL, &output);
  LEAT_CHECK_BYTES(ctx, want, got, sizeof(want));
  g_free(m);
}

/* No elements, one element without dimensions, and a dimension of 1 that is broadcast. */
static void odd_shapes(leat_case_context *ctx, const void *data) {
  static const struct {
    int32_t ndim;
    int64_t dims[3];
    int64_t count;
  } shapes[] = {{2, {0, 3}, 0}, {2, {3, 0}, 0}, {0, {0}, 1}, {1, {1}, 1}, {3, {2, 0, 4}, 0}, {3, {2, 3, 4}, 24}};
  (void)data;
  leati_graph_require(ctx);
  for (size_t s = 0; s < G_N_ELEMENTS(shapes); ++s) {
    leati_builder *m = leati_builder_new();
    float x[24];
    float got[24] = {0};
    float three = 3;
    leat_case_tensor inputs[2];
    leat_case_tensor output;
    const DLTensor *in[2] = {&inputs[0].tensor, &inputs[1].tensor};
    uint32_t list[2] = {leati_builder_input(m, LEAT_F32, -1, NULL), leati_builder_input(m, LEAT_F32, 0, NULL)};
    for (int i = 0; i < 24; ++i) {
      x[i] = (float)i - 10.0f;
    }
    list[0] = leati_builder_node(m, "Add", 14, 2, list);
    leati_builder_output(m, leati_builder_node(m, "Relu", 14, 1, list));
    leati_case_tensor_host(&inputs[0], x, LEAT_F32, shapes[s].ndim, shapes[s].dims);
    leati_case_tensor_host(&inputs[1], &three, LEAT_F32, 0, NULL);
    leati_case_tensor_host(&output, got, LEAT_F32, shapes[s].ndim, shapes[s].dims);
    launch_floats(ctx, m, in, &output);
    for (int i = 0; i < 24; ++i) {
      const float want = i >= shapes[s].count ? 0.0f : MAX(x[i] + three, 0.0f);
      LEAT_CHECK_MESSAGE(ctx, got[i] == want, "shape %zu, element %d is %g, expected %g", s, i, (double)got[i],
                         (double)want);
    }
    g_free(m);
  }
}

/* ---- Where inputs and outputs lie ---- */

/* Writes the elements with the dimensions in reverse order. */
static void transpose(const leati_net *net, const uint8_t *from, uint8_t *to) {
  const uint64_t item = net->form.dtype.bits / 8u;
  const int32_t ndim = net->form.ndim;
  for (uint64_t k = 0; k < net->size / item; ++k) {
    uint64_t at = 0;
    uint64_t rest = k;
    uint64_t step = net->size / item;
    for (int32_t d = ndim - 1; d >= 0; --d) {
      const uint64_t dim = (uint64_t)net->form.dims[d];
      step /= dim;
      at += rest % dim * step;
      rest /= dim;
    }
    memcpy(to + at * item, from + k * item, item);
  }
}

enum { ON_DEVICE, ON_HOST, AT_OFFSET, HOST_AT_OFFSET, TRANSPOSED, LAYOUTS };

/* The two inputs in each layout, the output on the device and on the host. */
static void layouts(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_CHAIN, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream = leati_stream_new(ctx);
  const uint64_t item = net->form.dtype.bits / 8u;
  const uint64_t room = 2 * net->size;
  uint64_t block = leati_case_alloc(ctx, 3 * room, stream);
  (void)data;
  for (uint32_t way = 0; way < LAYOUTS * LAYOUTS * 2; ++way) {
    const uint32_t layout[2] = {way % LAYOUTS, way / LAYOUTS % LAYOUTS};
    const bool host_output = way >= LAYOUTS * LAYOUTS;
    uint8_t *expected = leati_net_expected(net, ctx->seed + way);
    uint8_t *got = g_malloc0(net->size);
    uint8_t *bytes[2];
    leat_case_tensor inputs[2];
    leat_case_tensor output;
    const leat_case_tensor *outputs[1] = {&output};
    for (uint32_t i = 0; i < 2; ++i) {
      const uint64_t address = block + i * room;
      uint8_t *compact = leati_net_input(net, i, ctx->seed + way);
      bytes[i] = g_malloc0(room);
      memcpy(bytes[i] + (layout[i] == HOST_AT_OFFSET ? item : 0), compact, net->size);
      switch (layout[i]) {
        case ON_DEVICE:
          leati_net_device(net, &inputs[i], address);
          leati_upload(ctx, stream, address, compact, net->size);
          break;
        case ON_HOST:
        case HOST_AT_OFFSET:
          leati_net_host(net, &inputs[i], bytes[i]);
          inputs[i].tensor.byte_offset = layout[i] == HOST_AT_OFFSET ? item : 0;
          break;
        case AT_OFFSET:
          leati_net_device(net, &inputs[i], address);
          inputs[i].tensor.byte_offset = 3 * item;
          leati_upload(ctx, stream, address + 3 * item, compact, net->size);
          break;
        default: {
          uint8_t *turned = g_malloc(net->size);
          transpose(net, compact, turned);
          leati_net_device(net, &inputs[i], address);
          leati_upload(ctx, stream, address, turned, net->size);
          for (int32_t d = 0, step = 1; d < net->form.ndim; ++d) {
            inputs[i].strides[d] = step;
            step *= (int32_t)net->form.dims[d];
          }
          inputs[i].tensor.strides = inputs[i].strides;
          g_free(turned);
        }
      }
      g_free(compact);
    }
    if (host_output) {
      leati_net_host(net, &output, got);
    } else {
      leati_net_device(net, &output, block + 2 * room + item);
    }
    LEAT_CHECK_OK(ctx, leati_net_launch(net, graph, stream, inputs, outputs, LEAT_ERR));
    /* What is on the host has been read. */
    for (uint32_t i = 0; i < 2; ++i) {
      memset(bytes[i], 0x5B, room);
    }
    if (!host_output) {
      leati_download(ctx, stream, block + 2 * room + item, got, net->size);
    }
    leati_synchronize(ctx, stream);
    LEAT_CHECK_MESSAGE(ctx, memcmp(expected, got, net->size) == 0, "wrong with inputs in layouts %u and %u, output %s",
                       layout[0], layout[1], host_output ? "on the host" : "on the device");
    g_free(bytes[0]);
    g_free(bytes[1]);
    g_free(got);
    g_free(expected);
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* An output on the host is there when a wait of any kind says so, behind slow work too. */
static void host_outputs(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_DIAMOND, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 2 * net->size, stream);
  (void)data;
  for (uint32_t way = 0; way < 10; ++way) {
    uint8_t *expected = leati_net_expected(net, ctx->seed + way);
    uint8_t *got = g_malloc0(2 * net->size);
    leat_case_tensor inputs[2];
    leat_case_tensor views[2];
    const leat_case_tensor *outputs[2] = {&views[0], &views[1]};
    leati_stream_load(ctx, stream);
    for (uint32_t i = 0; i < 2; ++i) {
      uint8_t *bytes = leati_net_input(net, i, ctx->seed + way);
      leati_net_device(net, &inputs[i], block + i * net->size);
      leati_upload(ctx, stream, block + i * net->size, bytes, net->size);
      leati_net_host(net, &views[i], got + i * net->size);
      g_free(bytes);
    }
    LEAT_CHECK_OK(ctx, leati_net_launch(net, graph, stream, inputs, outputs, LEAT_ERR));
    if (way % 5 > 1) {
      LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    }
    switch (way % 5) {
      case 0:
        leati_synchronize(ctx, stream);
        break;
      case 1:
        leati_stream_poll(ctx, stream);
        break;
      case 2:
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, -1, LEAT_ERR));
        break;
      case 3:
        leati_event_poll(ctx, event);
        break;
      default:
        LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
    }
    LEAT_CHECK_BYTES(ctx, expected, got, 2 * net->size);
    g_free(got);
    g_free(expected);
  }
  leati_case_free(ctx, block);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* ---- Shapes ---- */

enum { SHAPES = 30 };

static void require_rows(const leati_net *net) {
  if (!leati_form_is_add(&net->form)) {
    leati_case_lack(net->ctx, "Add of float32", "the cases know of no other operator that takes any number of rows");
  }
}

static void other_shapes(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_DEEP, true);
  leat_stream *stream = leati_stream_new(ctx);
  leat_memory_stats first = {.struct_size = sizeof(first)};
  leat_memory_stats last = {.struct_size = sizeof(last)};
  leat_device *device = leati_fixture_device(ctx);
  (void)data;
  require_rows(net);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  for (uint32_t round = 0; round < 4; ++round) {
    for (uint32_t i = 0; i < SHAPES; ++i) {
      const leati_net shaped = leati_net_of_rows(net, 1 + (int64_t)(i * 37 % 101));
      leati_flight_once(&shaped, graph, stream, ctx->seed + i);
    }
    LEAT_CHECK_OK(ctx, ctx->memory->stats(device, round == 0 ? &first : &last, LEAT_ERR));
  }
  /* Nothing is held for a launch that has run, and the same shapes again and again take no more from the driver than
   * the first time, twice which is room for what is kept for reuse. */
  LEAT_CHECK_U64(ctx, first.live_block_count, last.live_block_count);
  LEAT_CHECK_MESSAGE(
      ctx, last.reserved_bytes <= 2 * first.reserved_bytes && last.staging_bytes <= 2 * first.staging_bytes,
      "%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " bytes are taken after the first round, %" G_GUINT64_FORMAT
      " and %" G_GUINT64_FORMAT " after the last",
      first.reserved_bytes, first.staging_bytes, last.reserved_bytes, last.staging_bytes);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* infer() tells what launch() wants, from a tensor without data; other types and counts are refused. */
static void infer_tells(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_WIDE, true);
  const leat_graph_desc *desc = &net->builder->desc;
  leat_graph *graph;
  leat_case_tensor inputs[2];
  const DLTensor *in[2] = {&inputs[0].tensor, &inputs[1].tensor};
  leat_shape shapes[LEATI_BUILDER_NODES];
  leat_shape *out[LEATI_BUILDER_NODES];
  (void)data;
  require_rows(net);
  graph = leati_graph_new(ctx, net->builder);
#define INFER(n, i, m, o) ctx->api->graph->infer(graph, n, i, m, o, LEAT_ERR)
#define INFER_INVALID(n, i, m, o) LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, INFER(n, i, m, o))
  for (int64_t rows = 1; rows < 9; ++rows) {
    const leati_net shaped = leati_net_of_rows(net, rows);
    for (uint32_t i = 0; i < 2; ++i) {
      leati_net_device(&shaped, &inputs[i], 0);
    }
    for (uint32_t i = 0; i < desc->output_count; ++i) {
      shapes[i] = (leat_shape){.struct_size = sizeof(shapes[i]), .ndim = 77};
      out[i] = rows == 5 && i % 2 == 0 ? NULL : &shapes[i];
    }
    LEAT_CHECK_OK(ctx, INFER(2, in, desc->output_count, out));
    for (uint32_t i = 0; i < desc->output_count; ++i) {
      if (out[i] == NULL) {
        continue;
      }
      LEAT_CHECK_MESSAGE(ctx,
                         shapes[i].ndim == net->form.ndim && shapes[i].dims[0] == rows &&
                             shapes[i].dims[1] == net->form.dims[1] &&
                             memcmp(&shapes[i].dtype, &net->form.dtype, sizeof(shapes[i].dtype)) == 0,
                         "output %u of %d rows is said to have %d dimensions, the first of %d", i, (int)rows,
                         shapes[i].ndim, (int)shapes[i].dims[0]);
    }
  }
  INFER_INVALID(1, in, desc->output_count, out);
  INFER_INVALID(3, in, desc->output_count, out);
  INFER_INVALID(2, in, desc->output_count - 1, out);
  INFER_INVALID(2, in, desc->output_count + 1, out);
  INFER_INVALID(2, NULL, desc->output_count, out);
  INFER_INVALID(2, in, desc->output_count, NULL);
  shapes[1].struct_size = sizeof(shapes[1]) - 8;
  INFER_INVALID(2, in, desc->output_count, out);
  shapes[1].struct_size = sizeof(shapes[1]);
  in[1] = NULL;
  INFER_INVALID(2, in, desc->output_count, out);
  in[1] = &inputs[1].tensor;
  inputs[1].shape[1] += 1;
  INFER_INVALID(2, in, desc->output_count, out);
  inputs[1].shape[1] -= 1;
  inputs[1].tensor.dtype = LEAT_I32;
  INFER_INVALID(2, in, desc->output_count, out);
  leati_net_device(net, &inputs[1], 0);
  inputs[1].shape[0] = -1;
  INFER_INVALID(2, in, desc->output_count, out);
  inputs[1].shape[0] = inputs[1].shape[1] = INT64_MAX;
  inputs[0].shape[0] = inputs[0].shape[1] = INT64_MAX;
  INFER_INVALID(2, in, desc->output_count, out);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->api->graph->infer(NULL, 2, in, desc->output_count, out, LEAT_ERR));
#undef INFER_INVALID
#undef INFER
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* Reshape by an input: its numbers are read on the host, at each launch and by infer(). */
static void decided_by_values(leat_case_context *ctx, const void *data) {
  static const int64_t wanted[][3] = {{2, 3, 4}, {6, 4, 1}, {1, 2, 12}, {24, 1, 1}, {4, -1, 2}};
  const int64_t x_dims[2] = {4, 6};
  const int64_t list_dims[1] = {3};
  const int64_t unknown[3] = {-1, -1, -1};
  leati_builder *m = leati_builder_new();
  float x[24];
  uint32_t list[2];
  (void)data;
  leati_graph_require(ctx);
  for (int i = 0; i < 24; ++i) {
    x[i] = (float)i;
  }
  list[0] = leati_builder_input(m, LEAT_F32, 2, x_dims);
  list[1] = leati_builder_input(m, LEAT_I64, 1, list_dims);
  list[0] = leati_builder_node(m, "Reshape", 14, 2, list);
  leati_builder_output(m, leati_builder_node(m, "Relu", 14, 1, list));
  m->infos[list[0]].dtype = LEAT_F32;
  m->infos[list[0]].ndim = 3;
  memcpy(m->dims[list[0]], unknown, sizeof(unknown));
  leat_graph *graph = leati_graph_new(ctx, m);
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, sizeof(wanted[0]), stream);
  leati_upload(ctx, stream, block, wanted[0], sizeof(wanted[0]));
  for (size_t i = 0; i < G_N_ELEMENTS(wanted); ++i) {
    int64_t numbers[3];
    float got[24] = {0};
    leat_shape shape = {.struct_size = sizeof(shape)};
    leat_shape *const shapes[1] = {&shape};
    leat_case_tensor inputs[2];
    leat_case_tensor output;
    const DLTensor *in[2] = {&inputs[0].tensor, &inputs[1].tensor};
    const DLTensor *out[1] = {&output.tensor};
    memcpy(numbers, wanted[i], sizeof(numbers));
    leati_case_tensor_host(&inputs[0], x, LEAT_F32, 2, x_dims);
    leati_case_tensor_host(&inputs[1], numbers, LEAT_I64, 1, list_dims);
    LEAT_CHECK_OK(ctx, ctx->api->graph->infer(graph, 2, in, 1, shapes, LEAT_ERR));
    for (int32_t d = 0; d < 3; ++d) {
      const int64_t want = wanted[i][d] < 0 ? 3 : wanted[i][d];
      LEAT_CHECK_MESSAGE(ctx, shape.ndim == 3 && shape.dims[d] == want, "dimension %d of shape %zu is %d, expected %d",
                         d, i, (int)shape.dims[d], (int)want);
    }
    leati_case_tensor_host(&output, got, LEAT_F32, 3, shape.dims);
    LEAT_CHECK_OK(ctx, ctx->api->graph->launch(graph, stream, 2, in, 1, out, LEAT_ERR));
    memset(numbers, 0x77, sizeof(numbers));
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, x, got, sizeof(x));
    /* Numbers on the device are not known. */
    leati_case_tensor_device(ctx, &inputs[1], block, LEAT_I64, 1, list_dims);
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->api->graph->launch(graph, stream, 2, in, 1, out, LEAT_ERR));
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->api->graph->infer(graph, 2, in, 1, shapes, LEAT_ERR));
    /* Numbers that are no shape of it. */
    numbers[0] = numbers[1] = numbers[2] = 5;
    leati_case_tensor_host(&inputs[1], numbers, LEAT_I64, 1, list_dims);
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                      ctx->api->graph->launch(graph, stream, 2, in, 1, out, LEAT_ERR));
  }
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  g_free(m);
}

/* Reshape to what Shape, Gather and Concat make of the input's own dimensions, as exporters write it. */
static void computed_by_nodes(leat_case_context *ctx, const void *data) {
  static const int64_t zero[1] = {0};
  static const int64_t rest[1] = {-1};
  static const leat_attribute axis = {.struct_size = sizeof(axis), .type = LEAT_ATTRIBUTE_INT, .name = "axis", .i = 0};
  const int64_t unknown[3] = {-1, 2, 3};
  const int64_t one[1] = {1};
  leati_builder *m = leati_builder_new();
  (void)data;
  leati_graph_require(ctx);
  const uint32_t x = leati_builder_input(m, LEAT_F32, 3, unknown);
  const uint32_t first = leati_builder_constant(m, zero, LEAT_I64, 1, one);
  const uint32_t last = leati_builder_constant(m, rest, LEAT_I64, 1, one);
  const uint32_t dims = leati_builder_node(m, "Shape", 13, 1, &x);
  const uint32_t rows = leati_builder_node(m, "Gather", 13, 2, (const uint32_t[2]){dims, first});
  const uint32_t list = leati_builder_node(m, "Concat", 13, 2, (const uint32_t[2]){rows, last});
  leati_builder_attribute(m, &axis);
  const uint32_t shaped = leati_builder_node(m, "Reshape", 14, 2, (const uint32_t[2]){x, list});
  leati_builder_output(m, leati_builder_node(m, "Relu", 14, 1, &shaped));
  leat_graph *graph = leati_graph_new(ctx, m);
  leat_stream *stream = leati_stream_new(ctx);
  for (int64_t n = 1; n < 6; ++n) {
    const int64_t x_dims[3] = {n, 2, 3};
    const int64_t y_dims[2] = {n, 6};
    float values[30];
    float got[30] = {0};
    leat_shape shape = {.struct_size = sizeof(shape)};
    leat_shape *const shapes[1] = {&shape};
    leat_case_tensor input;
    leat_case_tensor output;
    const DLTensor *in[1] = {&input.tensor};
    const DLTensor *out[1] = {&output.tensor};
    for (int i = 0; i < 30; ++i) {
      values[i] = (float)(i + n);
    }
    leati_case_tensor_host(&input, values, LEAT_F32, 3, x_dims);
    leati_case_tensor_host(&output, got, LEAT_F32, 2, y_dims);
    LEAT_CHECK_OK(ctx, ctx->api->graph->infer(graph, 1, in, 1, shapes, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, shape.ndim == 2 && shape.dims[0] == n && shape.dims[1] == 6,
                       "%d rows are said to become %d dimensions, the first of %d", (int)n, shape.ndim,
                       (int)shape.dims[0]);
    LEAT_CHECK_OK(ctx, ctx->api->graph->launch(graph, stream, 1, in, 1, out, LEAT_ERR));
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, values, got, (size_t)n * 6 * sizeof(got[0]));
  }
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  g_free(m);
}

/* ---- Order and life ---- */

enum { STEPS = 60 };

/* The step of a sum, or whatever the operator is: from one view to the other, with the third as second operand. */
static void step_by_operator(const leati_net *net, leat_stream *stream, const leat_case_tensor views[3], bool back) {
  const leat_case_tensor *inputs[LEATI_FORM_INPUTS];
  for (uint32_t i = 0; i < net->form.inputs; ++i) {
    inputs[i] = &views[i % 2 == 1 ? 1 : back ? 2 : 0];
  }
  leati_op_invoke(net->ctx, net->op, stream, net->form.inputs, inputs, &views[back ? 0 : 2]);
}

static void step_by_graph(const leati_net *net, const leat_graph *graph, leat_stream *stream,
                          const leat_case_tensor views[3], bool back) {
  const DLTensor *inputs[2] = {&views[back ? 2 : 0].tensor, &views[1].tensor};
  const DLTensor *outputs[1] = {&views[back ? 0 : 2].tensor};
  LEAT_CHECK_OK(net->ctx, net->ctx->api->graph->launch(graph, stream, 2, inputs, 1, outputs, LEAT_ERR));
}

/* Step after step, each on what the one before wrote, in one stream or over several that wait for each other. Every
 * third is no launch but the operator itself, and nothing is submitted between them in one stream. */
static void steps(leat_case_context *ctx, const void *data) {
  const uint32_t streams = GPOINTER_TO_UINT(data);
  leati_net *net = leati_net_new(ctx, LEATI_NET_ONE, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream[4];
  leat_event *event = leati_event_new(ctx);
  leat_case_tensor views[3];
  leat_case_tensor plain[3]; /* of the same by the operator alone */
  uint8_t *got = g_malloc0(net->size);
  uint8_t *want = g_malloc0(net->size);
  for (uint32_t i = 0; i < streams; ++i) {
    stream[i] = leati_stream_new(ctx);
  }
  uint64_t block = leati_case_alloc(ctx, 6 * net->size, stream[0]);
  for (uint32_t i = 0; i < 3; ++i) {
    leati_net_device(net, &views[i], block + i * net->size);
    leati_net_device(net, &plain[i], block + (3 + i) * net->size);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    uint8_t *bytes = leati_net_input(net, i, ctx->seed);
    leati_upload(ctx, stream[0], block + i * net->size, bytes, net->size);
    leati_upload(ctx, stream[0], block + (3 + i) * net->size, bytes, net->size);
    g_free(bytes);
  }
  for (uint32_t step = 0; step < STEPS; ++step) {
    leat_stream *at = stream[step % streams];
    leat_stream *next = stream[(step + 1) % streams];
    if (step % 20 == 7) {
      leati_stream_load(ctx, at);
    }
    if (step % 3 == 0) {
      step_by_operator(net, at, views, step % 2 == 1);
    } else {
      step_by_graph(net, graph, at, views, step % 2 == 1);
    }
    if (next != at) {
      LEAT_CHECK_OK(ctx, ctx->event->record(event, at, LEAT_ERR));
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(next, event, LEAT_ERR));
    }
  }
  leati_download(ctx, stream[STEPS % streams], block, got, net->size);
  for (uint32_t step = 0; step < STEPS; ++step) {
    step_by_operator(net, stream[0], plain, step % 2 == 1);
  }
  leati_download(ctx, stream[0], block + 3 * net->size, want, net->size);
  for (uint32_t i = 0; i < streams; ++i) {
    leati_synchronize(ctx, stream[i]);
  }
  LEAT_CHECK_BYTES(ctx, want, got, net->size);
  leati_case_free(ctx, block);
  for (uint32_t i = 0; i < streams; ++i) {
    leati_stream_destroy(ctx, stream[i]);
  }
  leati_event_destroy(ctx, event);
  leati_graph_destroy(ctx, graph);
  g_free(want);
  g_free(got);
  leati_net_free(net);
}

/* More launches than anyone keeps resources for, over some streams, before anything is waited for. */
static void many_in_flight(leat_case_context *ctx, const void *data) {
  enum { MANY = 200, STREAMS = 4 };
  leati_net *net = leati_net_new(ctx, LEATI_NET_DEEP, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream[STREAMS];
  leati_flight *flights[MANY];
  (void)data;
  for (uint32_t i = 0; i < STREAMS; ++i) {
    stream[i] = leati_stream_new(ctx);
    leati_stream_load(ctx, stream[i]);
  }
  for (uint32_t i = 0; i < MANY; ++i) {
    flights[i] = leati_flight_begin(net, graph, stream[i % STREAMS], ctx->seed + i);
  }
  for (uint32_t i = 0; i < STREAMS; ++i) {
    leati_synchronize(ctx, stream[i]);
  }
  for (uint32_t i = 0; i < MANY; ++i) {
    leati_flight_end(flights[i]);
  }
  for (uint32_t i = 0; i < STREAMS; ++i) {
    leati_stream_destroy(ctx, stream[i]);
  }
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* Launches run although their graph is gone, and so is, in turn, the stream. */
static void destroy_early(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_DIAMOND, false);
  leat_stream *stream = leati_stream_new(ctx);
  leati_flight *flights[12];
  (void)data;
  for (uint32_t round = 0; round < 3; ++round) {
    leat_graph *graph = leati_graph_new(ctx, net->builder);
    leati_stream_load(ctx, stream);
    for (uint32_t i = 0; i < 4; ++i) {
      flights[4 * round + i] = leati_flight_begin(net, graph, stream, ctx->seed + 4 * round + i);
    }
    leati_graph_destroy(ctx, graph);
  }
  leati_synchronize(ctx, stream);
  for (size_t i = 0; i < G_N_ELEMENTS(flights); ++i) {
    leati_flight_end(flights[i]);
  }
  LEAT_CHECK_OK(ctx, ctx->api->graph->destroy(NULL, LEAT_ERR));
  leati_stream_destroy(ctx, stream);
  leati_net_free(net);
}

static void close_with_graphs(leat_case_context *ctx, const void *data) {
  (void)data;
  for (uint32_t round = 0; round < 3; ++round) {
    leati_net *net = leati_net_new(ctx, LEATI_NET_CHAIN, round == 1);
    leat_graph *graph = leati_graph_new(ctx, net->builder);
    leat_stream *stream = leati_stream_new(ctx);
    leat_memory_stats stats = {.struct_size = sizeof(stats)};
    LEAT_CHECK_OK(ctx, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, stats.live_block_count <= 1, "%" G_GUINT64_FORMAT " blocks live in round %u",
                       stats.live_block_count, round);
    leati_flight_once(net, graph, stream, ctx->seed + round);
    leati_stream_load(ctx, stream);
    /* Its work is in flight when the device is closed. */
    leat_case_tensor inputs[2];
    leat_case_tensor output;
    const leat_case_tensor *outputs[1] = {&output};
    uint8_t *bytes = leati_net_input(net, 0, ctx->seed);
    leati_net_host(net, &inputs[0], bytes);
    leati_net_host(net, &inputs[1], bytes);
    leati_net_device(net, &output, leati_case_alloc(ctx, net->size, stream));
    LEAT_CHECK_OK(ctx, leati_net_launch(net, graph, stream, inputs, outputs, LEAT_ERR));
    g_free(bytes);
    leati_net_free(net);
    leati_fixture_end(ctx);
    leati_fixture_begin(ctx);
  }
}

/* Makes a call that is to give LEAT_ERROR_FORKED, and leaves its name to the parent. */
#define FORKED(slot, ...)                                                                           \
  do {                                                                                              \
    *call = #slot "()";                                                                             \
    if (ctx->api->graph->slot(__VA_ARGS__) != LEAT_ERROR_FORKED || err.code != LEAT_ERROR_FORKED || \
        err.message[0] == '\0')                                                                     \
      return FALSE;                                                                                 \
    err = (leat_error){.struct_size = sizeof(err)};                                                 \
  } while (0)

/* In the child: prints nothing and checks with no macro, since the outcome is the parent's to tell. */
static gboolean forked_calls(leat_case_context *ctx, leat_device *device, const leati_net *net, leat_graph *graph,
                             leat_stream *stream, const char **call) {
  leat_error err = {.struct_size = sizeof(err)};
  leat_graph_info info = {.struct_size = sizeof(info)};
  leat_shape shape = {.struct_size = sizeof(shape)};
  leat_shape *shapes[1] = {&shape};
  uint8_t *bytes = leati_net_input(net, 0, 1);
  uint8_t *result = g_malloc0(net->size);
  leat_graph *built = NULL;
  leat_case_tensor input;
  leat_case_tensor output;
  const DLTensor *in[2] = {&input.tensor, &input.tensor};
  const DLTensor *out[1] = {&output.tensor};
  uint32_t count = 0;
  leati_net_host(net, &input, bytes);
  leati_net_host(net, &output, result);
  FORKED(launch, graph, stream, 2, in, 1, out, &err);
  FORKED(infer, graph, 2, in, 1, shapes, &err);
  FORKED(info, graph, &info, &err);
  FORKED(fusions, graph, &count, NULL, &err);
  FORKED(build, device, &net->builder->desc, &built, &err);
  FORKED(destroy, graph, &err);
  return TRUE;
}

static void forked(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_CHAIN, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream = leati_stream_new(ctx);
  const char **call = mmap(NULL, sizeof(*call), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  (void)data;
  LEAT_CHECK_MESSAGE(ctx, call != MAP_FAILED, "mmap() failed: %s", g_strerror(errno));
  for (uint32_t round = 0; round < 2; ++round) {
    leati_flight *flight = leati_flight_begin(net, graph, stream, ctx->seed + round);
    int status = 0;
    const pid_t child = fork();
    LEAT_CHECK_MESSAGE(ctx, child >= 0, "fork() failed: %s", g_strerror(errno));
    if (child == 0) {
      /* A call that hangs in the child must not outlive the case. */
      alarm((unsigned)(20.0 * ctx->scale) + 1);
      _exit(forked_calls(ctx, leati_fixture_device(ctx), net, graph, stream, call) ? 0 : 1);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      continue;
    }
    LEAT_CHECK_MESSAGE(ctx, WIFEXITED(status), "the forked child was ended by signal %d in %s (14: it did not return)",
                       WTERMSIG(status), *call);
    LEAT_CHECK_MESSAGE(ctx, WEXITSTATUS(status) == 0,
                       "in the forked child %s did not give LEAT_ERROR_FORKED, or left no message", *call);
    /* The parent is unharmed. */
    leati_synchronize(ctx, stream);
    leati_flight_end(flight);
  }
  munmap(call, sizeof(*call));
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* ---- Threads ---- */

enum { THREADS = 8, LAUNCHES = 20 };

typedef struct {
  leati_net *net;
  leat_graph *graph;
  leat_stream *stream; /* that all share; NULL: each has its own */
} shared_graph;

/* A few launches of each thread are in flight at once. */
static void launch_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const shared_graph *shared = data;
  leat_stream *stream = shared->stream != NULL ? shared->stream : leati_stream_new(ctx);
  leati_flight *flights[4] = {NULL};
  for (uint32_t i = 0; i < LAUNCHES; ++i) {
    flights[i % 4] = leati_flight_begin(shared->net, shared->graph, stream, ctx->seed + LAUNCHES * index + i);
    if (i % 4 == 3) {
      leati_synchronize(ctx, stream);
      for (uint32_t k = 0; k < 4; ++k) {
        leati_flight_end(flights[k]);
      }
    }
  }
  if (shared->stream == NULL) {
    leati_stream_destroy(ctx, stream);
  }
}

static void threads(leat_case_context *ctx, const void *data) {
  const bool one_stream = GPOINTER_TO_UINT(data) == 1;
  shared_graph shared = {.net = leati_net_new(ctx, LEATI_NET_DIAMOND, false)};
  shared.graph = leati_graph_new(ctx, shared.net->builder);
  if (one_stream) {
    shared.stream = leati_stream_new(ctx);
  }
  leati_threads_run(ctx, THREADS, launch_thread, &shared);
  if (one_stream) {
    leati_stream_destroy(ctx, shared.stream);
  }
  leat_graph_info info = {.struct_size = sizeof(info)};
  LEAT_CHECK_OK(ctx, ctx->api->graph->info(shared.graph, &info, LEAT_ERR));
  LEAT_CHECK_U64(ctx, THREADS * LAUNCHES, info.launch_count);
  leati_graph_destroy(ctx, shared.graph);
  leati_net_free(shared.net);
}

static void shapes_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const shared_graph *shared = data;
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t i = 0; i < SHAPES; ++i) {
    /* Every other shape is another thread's too. */
    const leati_net shaped = leati_net_of_rows(shared->net, 1 + (i % 2 == 0 ? i : SHAPES + i + index));
    leati_flight_once(&shaped, shared->graph, stream, ctx->seed + SHAPES * index + i);
  }
  leati_stream_destroy(ctx, stream);
}

static void shapes_of_threads(leat_case_context *ctx, const void *data) {
  shared_graph shared = {.net = leati_net_new(ctx, LEATI_NET_DEEP, true)};
  (void)data;
  require_rows(shared.net);
  shared.graph = leati_graph_new(ctx, shared.net->builder);
  leati_threads_run(ctx, THREADS, shapes_thread, &shared);
  leati_graph_destroy(ctx, shared.graph);
  leati_net_free(shared.net);
}

/* Graphs come and go beside the launches of others. */
static void building_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  for (uint32_t i = 0; i < 6; ++i) {
    leati_net *net = leati_net_new(ctx, kinds[(index + i) % G_N_ELEMENTS(kinds)], i % 3 == 2);
    leat_graph *graph = leati_graph_new(ctx, net->builder);
    leati_flight *first = leati_flight_begin(net, graph, stream, ctx->seed + 100 * index + i);
    leati_flight *second = leati_flight_begin(net, graph, stream, ctx->seed + 100 * index + i + 50);
    leati_graph_destroy(ctx, graph);
    leati_synchronize(ctx, stream);
    leati_flight_end(first);
    leati_flight_end(second);
    leati_net_free(net);
  }
  leati_stream_destroy(ctx, stream);
}

static void build_in_threads(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_net_free(leati_net_new(ctx, LEATI_NET_ONE, false)); /* finds the form, once for all */
  leati_threads_run(ctx, THREADS, building_thread, NULL);
}

/* ---- Networks ---- */

typedef struct {
  const leati_network *network;
  leat_graph *graph;
} network_graph;

static void network_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const network_graph *shared = data;
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t i = 0; i < 3; ++i) {
    leati_network_run *run =
        leati_network_launch(ctx, shared->network, shared->graph, false, stream, ctx->seed + 3 * index + i);
    leati_synchronize(ctx, stream);
    leati_network_check_last(ctx, run);
    leati_network_end(run);
  }
  leati_stream_destroy(ctx, stream);
}

/* Once with the outputs of all operators, each of which is right for its inputs; then with the last one alone, which
 * leaves a backend all freedom, from several threads. */
static void check_network(leat_case_context *ctx, leati_network_shape shape, uint32_t threads) {
  leati_network *network = leati_network_new(ctx, shape);
  leat_stream *stream = leati_stream_new(ctx);
  leat_graph *graph = leati_network_graph(ctx, network, true);
  leati_network_run *run = leati_network_launch(ctx, network, graph, true, stream, ctx->seed);
  leati_graph_destroy(ctx, graph);
  leati_synchronize(ctx, stream);
  leati_network_check(ctx, run);
  leati_network_end(run);
  leati_stream_destroy(ctx, stream);
  network_graph shared = {.network = network, .graph = leati_network_graph(ctx, network, false)};
  leati_threads_run(ctx, threads, network_thread, &shared);
  leati_graph_destroy(ctx, shared.graph);
  leati_network_free(ctx, network);
}

enum { SAME_SEED = 7 };

typedef struct {
  network_graph shared;
  const void *want;
} same_graph;

static void same_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const same_graph *same = data;
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t i = 0; i < LAUNCHES; ++i) {
    /* Between two launches of the same input one of another, so that nothing left over looks right. */
    const gboolean other = i % 2 == 1;
    leati_network_run *run = leati_network_launch(ctx, same->shared.network, same->shared.graph, false, stream,
                                                  other ? ctx->seed + LAUNCHES * index + i : SAME_SEED);
    size_t size;
    const void *have = leati_network_result(run, &size);
    leati_synchronize(ctx, stream);
    if (!other) {
      LEAT_CHECK_BYTES(ctx, same->want, have, size);
    }
    leati_network_end(run);
  }
  leati_stream_destroy(ctx, stream);
}

/* What launches of several threads do at once may be done together; that must not change a bit. */
static void same_bits(leat_case_context *ctx, const void *data) {
  leati_graph_require(ctx);
  leati_network *network = leati_network_new(ctx, *(const leati_network_shape *)data);
  same_graph same = {.shared = {.network = network, .graph = leati_network_graph(ctx, network, false)}};
  leat_stream *stream = leati_stream_new(ctx);
  leati_network_run *run = leati_network_launch(ctx, network, same.shared.graph, false, stream, SAME_SEED);
  size_t size;
  leati_synchronize(ctx, stream);
  leati_network_check_last(ctx, run);
  same.want = leati_network_result(run, &size);
  leati_threads_run(ctx, THREADS, same_thread, &same);
  leati_network_end(run);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, same.shared.graph);
  leati_network_free(ctx, network);
}

static void run_network(leat_case_context *ctx, const void *data) {
  leati_graph_require(ctx);
  check_network(ctx, *(const leati_network_shape *)data, THREADS);
}

/* Of each kind some, of sizes that the seed draws. */
static void random_networks(leat_case_context *ctx, const void *data) {
  GRand *random = g_rand_new_with_seed(ctx->seed);
  (void)data;
  leati_graph_require(ctx);
  for (uint32_t i = 0; i < 14; ++i) {
    const int64_t heads = g_rand_int_range(random, 1, 5);
    const leati_network_shape shape = {.kind = i % (LEATI_NETWORK_TRANSFORMER + 1),
                                       .rows = g_rand_int_range(random, 1, 20),
                                       .width = heads * g_rand_int_range(random, 2, 12),
                                       .hidden = g_rand_int_range(random, 1, 40),
                                       .heads = heads};
    check_network(ctx, shape, 1);
  }
  g_rand_free(random);
}

/* ---- Errors of streams ---- */

/* Where a guard is to be had, an index out of range fails the stream of the launch: launches into it are refused with
 * that error until it is cleared, and the graph is as good as ever in any other. */
static void sticky(leat_case_context *ctx, const void *data) {
  static const float table[4] = {10, 20, 30, 40};
  static const float want[2] = {40, 10};
  static int64_t right[2] = {3, 0};
  static int64_t wrong[2] = {3, 400};
  const int64_t four[1] = {4};
  const int64_t two[1] = {2};
  leati_builder *m = leati_builder_new();
  float got[2] = {0};
  leat_case_tensor indices;
  leat_case_tensor output;
  const DLTensor *in[1] = {&indices.tensor};
  const DLTensor *out[1] = {&output.tensor};
  uint32_t list[2];
  (void)data;
  leati_graph_require(ctx);
  if (ctx->api->configure("LEAT_MEMORY_GUARD", "1", NULL) != LEAT_OK) {
    leati_case_skip(ctx, "configure() knows no LEAT_MEMORY_GUARD, without which nothing fails by its numbers");
  }
  list[0] = leati_builder_constant(m, table, LEAT_F32, 1, four);
  list[1] = leati_builder_input(m, LEAT_I64, 1, two);
  leati_builder_output(m, leati_builder_node(m, "Gather", 13, 2, list));
  leat_graph *graph = leati_graph_new(ctx, m);
  leat_stream *stream = leati_stream_new(ctx);
  leat_stream *other = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, sizeof(wrong), stream);
  leati_case_tensor_device(ctx, &indices, block, LEAT_I64, 1, two);
  leati_case_tensor_host(&output, got, LEAT_F32, 1, two);
#define LAUNCH(s) ctx->api->graph->launch(graph, s, 1, in, 1, out, LEAT_ERR)
  leati_upload(ctx, stream, block, wrong, sizeof(wrong));
  LEAT_CHECK_OK(ctx, LAUNCH(stream));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->synchronize(stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, LAUNCH(stream));
  leati_upload(ctx, other, block, right, sizeof(right));
  LEAT_CHECK_OK(ctx, LAUNCH(other));
  leati_synchronize(ctx, other);
  LEAT_CHECK_BYTES(ctx, want, got, sizeof(want));
  memset(got, 0, sizeof(got));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, LAUNCH(stream));
  LEAT_CHECK_OK(ctx, ctx->stream->clear_error(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, LAUNCH(stream));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, want, got, sizeof(want));
#undef LAUNCH
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, other);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  g_free(m);
}

/* A launch that finds no memory for what its nodes leave to each other leaves nothing behind, and succeeds once there
 * is some. A backend that needs none, or has kept some, may succeed at once. */
static void out_of_memory(leat_case_context *ctx, const void *data) {
  enum { SIZE = 4 << 20, FILLER = 1 << 20, MOST = 256 };
  leat_device *device;
  uint64_t fillers[MOST];
  uint32_t count = 0;
  (void)data;
  leati_graph_require(ctx);
  leati_limit_memory(ctx, UINT64_C(192) << 20, leati_limit_none(ctx, 0, 0));
  device = leati_fixture_device(ctx);
  leati_net *few = leati_net_new(ctx, LEATI_NET_DEEP, true);
  require_rows(few);
  const leati_net net = leati_net_of_rows(few, SIZE / (int64_t)(few->size / (uint64_t)few->form.dims[0]));
  leat_graph *graph = leati_graph_new(ctx, net.builder);
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t *expected = leati_net_expected(&net, ctx->seed);
  uint8_t *untouched = g_malloc(net.size);
  uint8_t *got = g_malloc0(net.size);
  uint64_t block = leati_case_alloc(ctx, 3 * net.size, stream);
  leat_case_tensor inputs[2];
  leat_case_tensor output;
  const leat_case_tensor *outputs[1] = {&output};
  leati_pattern(untouched, net.size, 5);
  for (uint32_t i = 0; i < 2; ++i) {
    uint8_t *bytes = leati_net_input(&net, i, ctx->seed);
    leati_net_device(&net, &inputs[i], block + i * net.size);
    leati_upload(ctx, stream, block + i * net.size, bytes, net.size);
    g_free(bytes);
  }
  leati_net_device(&net, &output, block + 2 * net.size);
  leati_upload(ctx, stream, block + 2 * net.size, untouched, net.size);
  leati_synchronize(ctx, stream);
  while (count < MOST && ctx->memory->alloc(device, FILLER, NULL, &fillers[count], NULL) == LEAT_OK) {
    ++count;
  }
  LEAT_CHECK_MESSAGE(ctx, count < MOST, "%u blocks of 1 MiB could be had below a limit of 192 MiB", count);
  const int32_t status = leati_net_launch(&net, graph, stream, inputs, outputs, LEAT_ERR);
  LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_OUT_OF_MEMORY, status);
  while (count > 0) {
    leati_case_free(ctx, fillers[--count]);
  }
  leati_download(ctx, stream, block + 2 * net.size, got, net.size);
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, status == LEAT_OK ? expected : untouched, got, net.size);
  LEAT_CHECK_OK(ctx, leati_net_launch(&net, graph, stream, inputs, outputs, LEAT_ERR));
  leati_download(ctx, stream, block + 2 * net.size, got, net.size);
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, expected, got, net.size);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
  g_free(got);
  g_free(untouched);
  g_free(expected);
  leati_net_free(few);
}

/* ---- What is told ---- */

static void info_plausible(leat_case_context *ctx, const void *data) {
  (void)data;
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); ++k) {
    leati_net *net = leati_net_new(ctx, kinds[k], k % 2 == 1);
    leat_graph *graph = leati_graph_new(ctx, net->builder);
    leat_stream *stream = leati_stream_new(ctx);
    for (uint32_t launches = 0; launches < 3; ++launches) {
      struct {
        leat_graph_info known;
        uint64_t tail;
      } info = {.known = {.struct_size = sizeof(info)}};
      LEAT_CHECK_OK(ctx, ctx->api->graph->info(graph, &info.known, LEAT_ERR));
      LEAT_CHECK_U64(ctx, sizeof(info), info.known.struct_size);
      LEAT_CHECK_U64(ctx, net->builder->desc.node_count, info.known.node_count);
      LEAT_CHECK_U64(ctx, launches, info.known.launch_count);
      LEAT_CHECK_MESSAGE(ctx, info.known.arena_bytes <= info.known.naive_bytes,
                         "the arena has more bytes than if nothing in it shared memory");
      LEAT_CHECK_MESSAGE(ctx, info.known.level_count <= info.known.dispatch_count + info.known.copy_count,
                         "there are more levels than dispatches and copies");
      LEAT_CHECK_MESSAGE(
          ctx, launches == 0 || (info.known.level_count >= 1 && info.known.dispatch_count + info.known.copy_count >= 1),
          "a launch has run, and there is no level, dispatch or copy");
      leati_flight_once(net, graph, stream, ctx->seed);
    }
    leat_graph_info small = {.struct_size = LEAT_SIZE_THROUGH(leat_graph_info, launch_count) - 8};
    leat_graph_info good = {.struct_size = sizeof(good)};
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->info(graph, &small, LEAT_ERR));
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->info(graph, NULL, LEAT_ERR));
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->info(NULL, &good, LEAT_ERR));
    leati_stream_destroy(ctx, stream);
    leati_graph_destroy(ctx, graph);
    leati_net_free(net);
  }
}

static void fusions_listed(leat_case_context *ctx, const void *data) {
  leati_net *net = leati_net_new(ctx, LEATI_NET_CHAIN, false);
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_graph_fusion *list;
  uint32_t count = 0;
  uint32_t again;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->api->graph->fusions(graph, &count, NULL, LEAT_ERR));
  list = g_new0(leat_graph_fusion, count + 2);
  for (uint32_t capacity = 0; capacity <= count + 1; ++capacity) {
    memset(list, 0x77, (count + 2) * sizeof(*list));
    for (uint32_t i = 0; i < capacity; ++i) {
      list[i].struct_size = sizeof(list[i]);
    }
    again = capacity;
    LEAT_CHECK_OK(ctx, ctx->api->graph->fusions(graph, &again, list, LEAT_ERR));
    LEAT_CHECK_U64(ctx, count, again);
    LEAT_CHECK_MESSAGE(ctx, list[MIN(capacity, count)].count == 0x77777777, "more is written than there is room for");
    for (uint32_t i = 0; i < MIN(capacity, count); ++i) {
      LEAT_CHECK_MESSAGE(ctx, memchr(list[i].name, '\0', sizeof(list[i].name)) != NULL && list[i].name[0] != '\0',
                         "rewriting %u has no name, or one without an end", i);
      LEAT_CHECK_MESSAGE(ctx, list[i].count < net->builder->desc.node_count, "%s was done %u times in %u nodes",
                         list[i].name, list[i].count, net->builder->desc.node_count);
      for (uint32_t k = 0; k < i; ++k) {
        LEAT_CHECK_MESSAGE(ctx, strcmp(list[k].name, list[i].name) != 0, "%s is there twice", list[i].name);
      }
    }
  }
  if (count > 0) {
    list[0].struct_size = 8;
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->fusions(graph, &count, list, LEAT_ERR));
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->fusions(graph, &count, NULL, LEAT_ERR));
  }
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->fusions(graph, NULL, list, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->fusions(NULL, &count, list, LEAT_ERR));
  g_free(list);
  leati_graph_destroy(ctx, graph);
  leati_net_free(net);
}

/* clang-format off: one value. */
#define NETWORK(...)             \
  &(const leati_network_shape) { \
    __VA_ARGS__                  \
  }
/* clang-format on */

static const leat_case cases[] = {
    {.name = "graph.run.one_node",
     .summary = "A graph of one node gives what invoke() gives, to the bit.",
     .run = run_net,
     .data = KIND(LEATI_NET_ONE)},
    {.name = "graph.run.chain",
     .summary = "Nodes behind each other that share a constant give what they give one by one.",
     .run = run_net,
     .data = KIND(LEATI_NET_CHAIN)},
    {.name = "graph.run.diamond",
     .summary = "Two ways that meet again are both taken, and a value on the way is an output too.",
     .run = run_net,
     .data = KIND(LEATI_NET_DIAMOND)},
    {.name = "graph.run.every_value_is_an_output",
     .summary = "Values that other nodes take are outputs too.",
     .run = run_net,
     .data = KIND(LEATI_NET_WIDE)},
    {.name = "graph.run.constants_alone",
     .summary = "A graph without inputs gives the same at each launch.",
     .run = constants_alone},
    {.name = "graph.run.description_is_copied",
     .summary = "The description and its constants may be overwritten after build().",
     .run = description_is_copied},
    {.name = "graph.run.graphs_share_constants",
     .summary = "Graphs with the same constants do not need each other.",
     .run = constants_of_two},
    {.name = "graph.run.unwanted_outputs",
     .summary = "Any choice of outputs is given, and nothing else is written.",
     .run = unwanted},
    {.name = "graph.run.unused_outputs_of_nodes",
     .summary = "An output of a node may be left out, or be used by nobody.",
     .run = unused_outputs},
    {.name = "graph.run.unused_inputs_and_nodes",
     .summary = "An input, a constant and a node that nothing needs are no mistake.",
     .run = unused_values},
    {.name = "graph.run.absent_inputs_of_nodes",
     .summary = "Optional inputs of a node are left out at the end of the list and in its middle.",
     .run = absent_inputs},
    {.name = "graph.tensors.any_layout",
     .summary = "Inputs are on the host or the device, at offsets, and with any strides; outputs are on either.",
     .run = layouts},
    {.name = "graph.tensors.host_outputs_come_with_a_wait",
     .summary = "Every kind of wait brings the outputs that are on the host.",
     .run = host_outputs},
    {.name = "graph.shapes.empty_and_scalar",
     .summary = "Tensors without elements and without dimensions are tensors like others.",
     .run = odd_shapes},
    {.name = "graph.shapes.thirty_in_turn",
     .summary = "A graph built without dimensions takes thirty shapes in turn, and memory stays bounded.",
     .run = other_shapes},
    {.name = "graph.shapes.eight_threads",
     .summary = "Eight threads launch one graph with shapes of their own and of each other.",
     .run = shapes_of_threads},
    {.name = "graph.shapes.decided_by_values",
     .summary = "An input whose values decide shapes is read on the host at each launch, and refused on the device.",
     .run = decided_by_values},
    {.name = "graph.shapes.computed_by_nodes",
     .summary = "Nodes compute shapes out of an input's dimensions, which are others at each launch.",
     .run = computed_by_nodes},
    {.name = "graph.infer.tells_shapes_and_refuses",
     .summary = "Shapes of all outputs are told without reading data; wrong inputs are invalid.",
     .run = infer_tells},
    {.name = "graph.order.launches_follow_each_other",
     .summary = "A launch sees what the one before it in its stream wrote.",
     .run = steps,
     .data = GUINT_TO_POINTER(1)},
    {.name = "graph.order.events_order_streams",
     .summary = "A launch sees what launches in other streams wrote that an event stands for.",
     .run = steps,
     .data = GUINT_TO_POINTER(4)},
    {.name = "graph.order.two_hundred_in_flight",
     .summary = "Two hundred launches over four streams are put in before anything is waited for, every output right.",
     .run = many_in_flight},
    {.name = "graph.destroy.launches_still_run",
     .summary = "Launches run to their end although their graph was destroyed behind them.",
     .run = destroy_early},
    {.name = "graph.close.frees_what_is_left",
     .summary = "The last close of a device frees its graphs, with launches in flight.",
     .flags = LEAT_CASE_ALONE,
     .run = close_with_graphs},
    {.name = "graph.fork.child_is_refused",
     .summary = "Every call of the table in a forked child gives LEAT_ERROR_FORKED; the parent's launches go on.",
     .run = forked},
    {.name = "graph.threads.eight_own_streams",
     .summary = "Eight threads launch one graph in streams of their own, every output right.",
     .run = threads,
     .data = GUINT_TO_POINTER(THREADS)},
    {.name = "graph.threads.eight_one_stream",
     .summary = "Eight threads launch one graph in one stream, every output right.",
     .run = threads,
     .data = GUINT_TO_POINTER(1)},
    {.name = "graph.threads.build_and_destroy",
     .summary = "Eight threads build, launch and destroy graphs of their own, every output right.",
     .run = build_in_threads},
    {.name = "graph.threads.same_bits",
     .summary = "Launches of one graph from eight threads at once give the bits that one alone gives.",
     .run = same_bits,
     .data = NETWORK(.kind = LEATI_NETWORK_TRANSFORMER, .rows = 10, .width = 24, .hidden = 48, .heads = 3)},
    {.name = "graph.networks.mlp",
     .summary = "An MLP as one graph is right in every operator, and from eight threads in its result.",
     .run = run_network,
     .data = NETWORK(.kind = LEATI_NETWORK_MLP, .rows = 8, .width = 48, .hidden = 64)},
    {.name = "graph.networks.conv1d",
     .summary = "One-dimensional convolutions as one graph are right, likewise.",
     .run = run_network,
     .data = NETWORK(.kind = LEATI_NETWORK_CONV1D, .rows = 6, .width = 32, .hidden = 8)},
    {.name = "graph.networks.attention",
     .summary = "Self-attention as one graph is right, likewise.",
     .run = run_network,
     .data = NETWORK(.kind = LEATI_NETWORK_ATTENTION, .rows = 12, .width = 24, .heads = 3)},
    {.name = "graph.networks.transformer",
     .summary = "A transformer block as one graph is right, likewise.",
     .run = run_network,
     .data = NETWORK(.kind = LEATI_NETWORK_TRANSFORMER, .rows = 10, .width = 24, .hidden = 48, .heads = 3)},
    {.name = "graph.networks.random_sizes",
     .summary = "Networks of all kinds and of drawn sizes are right as one graph.",
     .run = random_networks},
    {.name = "graph.error.failed_stream_refuses",
     .summary = "A stream that a launch has failed refuses launches until it is cleared; others take them.",
     .flags = LEAT_CASE_ALONE,
     .run = sticky},
    {.name = "graph.error.out_of_memory_leaves_no_trace",
     .summary = "A launch for which memory is short changes nothing, and succeeds once there is some.",
     .flags = LEAT_CASE_ALONE,
     .run = out_of_memory},
    {.name = "graph.info.figures_are_plausible",
     .summary = "The figures of a graph agree with its description, its launches and each other.",
     .run = info_plausible},
    {.name = "graph.info.fusions_are_listed",
     .summary = "Rewritings are listed as far as there is room, each with a name of its own.",
     .run = fusions_listed},
};

void leati_cases_graph(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
