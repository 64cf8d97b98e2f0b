/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about what leat_graph_api::build and launch() refuse. A refused launch leaves nothing in the stream: outputs
 * are as they were, and the next launch is right.
 */
#include <string.h>

#include "cases/graph_net.h"
#include "cases/sources.h"

/* ---- build() ---- */

/* A right description, of which a case breaks one thing at a time. */
typedef struct {
  leat_case_context *ctx;
  leati_net *net;
  leati_builder *right; /* what the graph was */
} broken;

static void begin(leat_case_context *ctx, broken *b, leati_net_kind kind) {
  b->ctx = ctx;
  b->net = leati_net_new(ctx, kind, false);
  b->right = g_memdup2(b->net->builder, sizeof(*b->right));
}

/* The description is right again, and can be built. */
static void end(broken *b) {
  leat_graph *graph = leati_graph_new(b->ctx, b->net->builder);
  leat_stream *stream = leati_stream_new(b->ctx);
  leati_flight_once(b->net, graph, stream, b->ctx->seed);
  leati_stream_destroy(b->ctx, stream);
  leati_graph_destroy(b->ctx, graph);
  g_free(b->right);
  leati_net_free(b->net);
}

static void check_refused(broken *b, const char *file, int line, int32_t first, int32_t second) {
  leat_case_context *ctx = b->ctx;
  leat_graph *graph = NULL;
  leati_case_check_status(ctx, file, line, "graph.build()", first, second,
                          ctx->api->graph->build(leati_fixture_device(ctx), &b->net->builder->desc, &graph, LEAT_ERR));
  memcpy(b->net->builder, b->right, sizeof(*b->right));
}
/* Of the case's `b`. */
#define BUILD_INVALID() check_refused(&b, __FILE__, __LINE__, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT)
#define BUILD_REFUSED() check_refused(&b, __FILE__, __LINE__, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED)

static void build_null(leat_case_context *ctx, const void *data) {
  broken b;
  leat_graph *graph = NULL;
  (void)data;
  begin(ctx, &b, LEATI_NET_CHAIN);
  leati_builder *m = b.net->builder;
  leat_device *device = leati_fixture_device(ctx);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->build(NULL, &m->desc, &graph, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->build(device, NULL, &graph, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->graph->build(device, &m->desc, NULL, LEAT_ERR));
  m->desc.values = NULL;
  BUILD_INVALID();
  m->desc.nodes = NULL;
  BUILD_INVALID();
  m->desc.inputs = NULL;
  BUILD_INVALID();
  m->desc.outputs = NULL;
  BUILD_INVALID();
  m->values[1] = NULL;
  BUILD_INVALID();
  m->node_list[2] = NULL;
  BUILD_INVALID();
  m->nodes[2].op = NULL;
  BUILD_INVALID();
  m->nodes[2].inputs = NULL;
  BUILD_INVALID();
  m->nodes[2].outputs = NULL;
  BUILD_INVALID();
  m->nodes[2].attribute_count = 1;
  m->nodes[2].attributes = NULL;
  BUILD_INVALID();
  m->nodes[2].attribute_count = 1;
  BUILD_INVALID();
  m->infos[0].shape = NULL;
  BUILD_INVALID();
  /* Names and domains may be missing. */
  m->nodes[2].name = NULL;
  if (b.net->form.info->domain[0] == '\0') {
    m->nodes[3].domain = NULL;
  }
  leati_graph_destroy(ctx, leati_graph_new(ctx, m));
  memcpy(m, b.right, sizeof(*m));
  end(&b);
}

static void build_structs(leat_case_context *ctx, const void *data) {
  broken b;
  (void)data;
  begin(ctx, &b, LEATI_NET_CHAIN);
  leati_builder *m = b.net->builder;
  leat_attribute attribute = {.struct_size = sizeof(attribute), .type = LEAT_ATTRIBUTE_INT, .name = "leat_conformance"};
  struct {
    leat_graph_desc known;
    uint64_t tail[2];
  } longer = {.known = m->desc, .tail = {0}};
  struct {
    leat_graph_node known;
    uint64_t tail[2];
  } longer_node = {.known = m->nodes[1], .tail = {0}};
  leat_graph *graph = NULL;
  m->desc.struct_size -= 8;
  BUILD_INVALID();
  m->desc.struct_size = 0;
  BUILD_INVALID();
  m->infos[0].struct_size -= 8;
  BUILD_INVALID();
  m->infos[0].reserved = 1;
  BUILD_INVALID();
  m->infos[3].reserved = 1;
  BUILD_INVALID();
  m->nodes[1].struct_size -= 8;
  BUILD_INVALID();
  m->nodes[1].reserved = 1;
  BUILD_INVALID();
  leati_builder_attribute(m, &attribute);
  attribute.struct_size -= 8;
  BUILD_INVALID();
  attribute.struct_size += 8;
  leati_builder_attribute(m, &attribute);
  attribute.reserved = 1;
  BUILD_INVALID();
  attribute.reserved = 0;
  leati_builder_attribute(m, &attribute);
  attribute.name = NULL;
  BUILD_INVALID();
  attribute.name = "leat_conformance";
  /* Longer structs are fine as long as nothing is in the part that is not known. */
  longer.known.struct_size = sizeof(longer);
  longer_node.known.struct_size = sizeof(longer_node);
  m->node_list[1] = &longer_node.known;
  LEAT_CHECK_OK(ctx, ctx->api->graph->build(leati_fixture_device(ctx), &longer.known, &graph, LEAT_ERR));
  leati_graph_destroy(ctx, graph);
  longer_node.tail[1] = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->api->graph->build(leati_fixture_device(ctx), &longer.known, &graph, LEAT_ERR));
  longer_node.tail[1] = 0;
  longer.tail[0] = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->api->graph->build(leati_fixture_device(ctx), &longer.known, &graph, LEAT_ERR));
  memcpy(m, b.right, sizeof(*m));
  /* An attribute that the operator does not know is ignored, as create() does. */
  leati_builder_attribute(m, &attribute);
  leati_graph_destroy(ctx, leati_graph_new(ctx, m));
  memcpy(m, b.right, sizeof(*m));
  end(&b);
}

/* Numbers of values: out of range, made twice, by nobody or too late. */
static void build_values(leat_case_context *ctx, const void *data) {
  broken b;
  (void)data;
  begin(ctx, &b, LEATI_NET_CHAIN);
  leati_builder *m = b.net->builder;
  const uint32_t count = m->desc.value_count;
  const uint32_t constant = 2;
  const uint32_t wrong[] = {count, count + 1, INT32_MAX, UINT32_MAX - 1};
  LEAT_CHECK(ctx, m->infos[constant].value != NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); ++i) {
    m->inputs[1] = wrong[i];
    BUILD_INVALID();
    m->outputs[0] = wrong[i];
    BUILD_INVALID();
    m->node_inputs[2][0] = wrong[i];
    BUILD_INVALID();
    m->node_outputs[2][0] = wrong[i];
    BUILD_INVALID();
  }
  m->inputs[1] = LEAT_GRAPH_NO_VALUE;
  BUILD_INVALID();
  m->outputs[0] = LEAT_GRAPH_NO_VALUE;
  BUILD_INVALID();
  /* An operator's required input. */
  m->node_inputs[2][0] = LEAT_GRAPH_NO_VALUE;
  BUILD_REFUSED();
  /* Twice, or of two kinds. */
  m->inputs[1] = m->inputs[0];
  BUILD_INVALID();
  m->inputs[1] = constant;
  BUILD_INVALID();
  m->inputs[1] = m->node_outputs[1][0];
  BUILD_INVALID();
  m->node_outputs[2][0] = m->node_outputs[1][0];
  BUILD_INVALID();
  m->node_outputs[2][0] = m->inputs[0];
  BUILD_INVALID();
  m->node_outputs[2][0] = constant;
  BUILD_INVALID();
  m->desc.output_count = 2;
  m->outputs[1] = m->outputs[0];
  BUILD_INVALID();
  m->outputs[0] = m->inputs[0];
  BUILD_INVALID();
  m->outputs[0] = constant;
  BUILD_INVALID();
  /* Made by nobody: an input less, which a node takes as its second one, or a node less. */
  if (b.net->form.inputs > 1) {
    m->desc.input_count = 1;
    BUILD_INVALID();
  }
  m->desc.node_count -= 1;
  BUILD_INVALID();
  /* Taken before it is made: a node takes its own output, a later one's, or two stand in the wrong order. */
  m->node_inputs[2][0] = m->node_outputs[2][0];
  BUILD_INVALID();
  m->node_inputs[2][0] = m->node_outputs[4][0];
  BUILD_INVALID();
  m->node_list[2] = &m->nodes[3];
  m->node_list[3] = &m->nodes[2];
  BUILD_INVALID();
  end(&b);
}

/* What is said of a value cannot be, or does not go with the operator. */
static void build_infos(leat_case_context *ctx, const void *data) {
  broken b;
  (void)data;
  begin(ctx, &b, LEATI_NET_CHAIN);
  leati_builder *m = b.net->builder;
  m->infos[0].dtype = (DLDataType){0};
  BUILD_INVALID();
  m->infos[0].dtype.lanes = 2;
  BUILD_REFUSED();
  m->infos[0].dtype.lanes = 0;
  BUILD_REFUSED();
  m->infos[0].dtype = (DLDataType){255, 32, 1};
  BUILD_REFUSED();
  m->infos[0].ndim = -2;
  BUILD_REFUSED();
  m->infos[0].ndim = LEAT_MAX_RANK + 1;
  BUILD_REFUSED();
  m->infos[0].ndim = INT32_MAX;
  BUILD_REFUSED();
  m->dims[0][0] = -2;
  BUILD_REFUSED();
  m->dims[0][0] = INT64_MIN;
  BUILD_REFUSED();
  m->dims[0][0] = m->dims[0][1] = INT64_MAX;
  BUILD_REFUSED();
  if (leati_form_is_add(&b.net->form)) {
    /* Each is good by itself. */
    m->dims[0][1] += 1;
    BUILD_REFUSED();
    m->infos[0].dtype = LEAT_I32;
    BUILD_REFUSED();
  }
  end(&b);
}

/* A constant that is not on the host, has no memory or is not what its value is said to be. */
static void build_constants(leat_case_context *ctx, const void *data) {
  static int64_t strides[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t dims[LEAT_MAX_RANK + 1];
  broken b;
  (void)data;
  begin(ctx, &b, LEATI_NET_CHAIN);
  leati_builder *m = b.net->builder;
  DLTensor *value = &m->constants[2];
  for (int32_t d = 0; d <= LEAT_MAX_RANK; ++d) {
    dims[d] = d < b.net->form.ndim ? b.net->form.dims[d] : 1;
  }
  value->data = NULL;
  BUILD_REFUSED();
  value->device.device_type = kDLVulkan;
  BUILD_REFUSED();
  value->ndim += 1;
  value->shape = dims;
  BUILD_REFUSED();
  value->ndim = LEAT_MAX_RANK + 1;
  value->shape = dims;
  BUILD_REFUSED();
  value->ndim = -1;
  BUILD_REFUSED();
  value->shape = NULL;
  BUILD_REFUSED();
  dims[0] += 1;
  value->shape = dims;
  BUILD_REFUSED();
  dims[0] = -1;
  value->shape = dims;
  BUILD_REFUSED();
  value->dtype.code = value->dtype.code == kDLInt ? kDLUInt : kDLInt;
  BUILD_REFUSED();
  value->dtype.lanes = 2;
  BUILD_REFUSED();
  value->strides = strides;
  BUILD_REFUSED();
  end(&b);
}

static void build_bodies(leat_case_context *ctx, const void *data) {
  const uint32_t one = 0;
  broken b;
  (void)data;
  begin(ctx, &b, LEATI_NET_CHAIN);
  leati_builder *m = b.net->builder;
  m->desc.capture_count = 1;
  m->desc.captures = &one;
  m->desc.captured = &one;
  BUILD_REFUSED();
  m->desc.capture_count = 1;
  BUILD_REFUSED();
  end(&b);
}

/* An operator, a version, a domain that there is not: the message names the node and the operator. */
static void build_unknown(leat_case_context *ctx, const void *data) {
  broken b;
  (void)data;
  for (int unknown = 0; unknown < 2; ++unknown) {
    begin(ctx, &b, LEATI_NET_CHAIN);
    if (unknown != 0) {
      b.net->builder->infos[0].ndim = b.right->infos[0].ndim = -1;
    }
    for (int way = 0; way < 3; ++way) {
      leat_graph_node *node = &b.net->builder->nodes[3];
      leat_error err = {.struct_size = sizeof(err)};
      leat_graph *graph = NULL;
      node->op = way == 0 ? "NoSuchOperator" : node->op;
      node->domain = way == 1 ? "no.such.domain" : node->domain;
      node->since_version = way == 2 ? b.net->form.info->since_version_min - 1 : node->since_version;
      node->name = "/encoder/layer.3/odd";
      if (way == 2 && (node->since_version == 0 || node->since_version >= b.net->form.info->since_version_min)) {
        continue;
      }
      const int32_t status = ctx->api->graph->build(leati_fixture_device(ctx), &b.net->builder->desc, &graph, &err);
      /* An older form of the operator may be in the list. */
      if (way == 2 && status == LEAT_OK) {
        leati_graph_destroy(ctx, graph);
      } else {
        LEAT_CHECK_MESSAGE(ctx,
                           status == LEAT_ERROR_NOT_SUPPORTED && strstr(err.message, node->name) != NULL &&
                               strstr(err.message, node->op) != NULL,
                           "a node %s with the operator '%s' of domain '%s', version %u: %s (%.300s)", node->name,
                           node->op, node->domain, node->since_version, leati_case_status_name(status), err.message);
      }
      memcpy(b.net->builder, b.right, sizeof(*b.right));
    }
    memcpy(b.net->builder, b.right, sizeof(*b.right));
    end(&b);
  }
}

/* ---- launch() ---- */

/* A right launch of the diamond, of which a case breaks one thing at a time. */
typedef struct {
  leat_case_context *ctx;
  leati_net *net;
  leat_graph *graph;
  leat_stream *stream;
  uint64_t block;             /* two inputs, then two outputs */
  leat_case_tensor views[4];  /* the same */
  uint8_t *untouched;         /* what the outputs held before anything was launched */
  uint32_t input_count;       /* given to launch() */
  uint32_t output_count;      /* likewise */
  const DLTensor *inputs[3];  /* likewise */
  const DLTensor *outputs[3]; /* likewise */
} attempt;

static void put_right(attempt *a) {
  for (uint32_t i = 0; i < 4; ++i) {
    leati_net_device(a->net, &a->views[i], a->block + i * a->net->size);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    a->inputs[i] = &a->views[i % 2].tensor;
    a->outputs[i] = &a->views[2 + i % 2].tensor;
  }
  a->input_count = 2;
  a->output_count = 2;
}

static int32_t launch(attempt *a, leat_error *err) {
  return a->ctx->api->graph->launch(a->graph, a->stream, a->input_count, a->inputs, a->output_count, a->outputs, err);
}

static void attempt_begin(leat_case_context *ctx, attempt *a) {
  *a = (attempt){.ctx = ctx};
  a->net = leati_net_new(ctx, LEATI_NET_DIAMOND, false);
  a->graph = leati_graph_new(ctx, a->net->builder);
  a->stream = leati_stream_new(ctx);
  a->block = leati_case_alloc(ctx, 4 * a->net->size, a->stream);
  a->untouched = g_malloc(2 * a->net->size);
  leati_pattern(a->untouched, 2 * a->net->size, 99);
  leati_upload(ctx, a->stream, a->block + 2 * a->net->size, a->untouched, 2 * a->net->size);
  for (uint32_t i = 0; i < 2; ++i) {
    uint8_t *bytes = leati_net_input(a->net, i, ctx->seed);
    leati_upload(ctx, a->stream, a->block + i * a->net->size, bytes, a->net->size);
    g_free(bytes);
  }
  put_right(a);
}

/* Nothing was put into the stream by what was refused, and a right launch is right. */
static void attempt_end(attempt *a) {
  leat_case_context *ctx = a->ctx;
  const uint64_t size = 2 * a->net->size;
  uint8_t *expected = leati_net_expected(a->net, ctx->seed);
  uint8_t *got = g_malloc0(size);
  leati_download(ctx, a->stream, a->block + size, got, size);
  leati_synchronize(ctx, a->stream);
  LEAT_CHECK_BYTES(ctx, a->untouched, got, size);
  LEAT_CHECK_OK(ctx, ctx->stream->error(a->stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, launch(a, LEAT_ERR));
  leati_download(ctx, a->stream, a->block + size, got, size);
  leati_synchronize(ctx, a->stream);
  LEAT_CHECK_BYTES(ctx, expected, got, size);
  leat_graph_info info = {.struct_size = sizeof(info)};
  LEAT_CHECK_OK(ctx, ctx->api->graph->info(a->graph, &info, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 1, info.launch_count);
  leati_case_free(ctx, a->block);
  leati_stream_destroy(ctx, a->stream);
  leati_graph_destroy(ctx, a->graph);
  g_free(got);
  g_free(expected);
  g_free(a->untouched);
  leati_net_free(a->net);
}

/* Of the case's `a`; everything is put right again. */
#define LAUNCH_INVALID()                                                       \
  do {                                                                         \
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, launch(&a, LEAT_ERR)); \
    put_right(&a);                                                             \
  } while (0)
#define LAUNCH_REFUSED()                                                                                 \
  do {                                                                                                   \
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED, launch(&a, LEAT_ERR)); \
    put_right(&a);                                                                                       \
  } while (0)

static void launch_counts(leat_case_context *ctx, const void *data) {
  attempt a;
  (void)data;
  attempt_begin(ctx, &a);
  const leat_graph_api *api = ctx->api->graph;
#define CALL(g, s, i, o) LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, api->launch(g, s, 2, i, 2, o, LEAT_ERR))
  CALL(NULL, a.stream, a.inputs, a.outputs);
  CALL(a.graph, NULL, a.inputs, a.outputs);
  CALL(a.graph, a.stream, NULL, a.outputs);
  CALL(a.graph, a.stream, a.inputs, NULL);
#undef CALL
  static const uint32_t counts[] = {0, 1, 3, UINT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); ++i) {
    a.input_count = counts[i];
    LAUNCH_INVALID();
    a.output_count = counts[i];
    LAUNCH_INVALID();
  }
  a.inputs[0] = NULL;
  LAUNCH_INVALID();
  a.inputs[1] = NULL;
  LAUNCH_INVALID();
  attempt_end(&a);
}

static void launch_shapes(leat_case_context *ctx, const void *data) {
  static const int32_t ranks[] = {-1, INT32_MIN, LEAT_MAX_RANK + 1, 1000, INT32_MAX};
  static const DLDataType types[] = {{kDLFloat, 32, 2}, {kDLFloat, 7, 1}, {255, 32, 1}, {kDLFloat, 0, 1}};
  attempt a;
  (void)data;
  attempt_begin(ctx, &a);
  const int32_t last = a.net->form.ndim - 1;
  for (uint32_t view = 0; view < 4; ++view) {
    for (size_t i = 0; i < G_N_ELEMENTS(ranks); ++i) {
      a.views[view].tensor.ndim = ranks[i];
      LAUNCH_REFUSED();
    }
    for (size_t i = 0; i < G_N_ELEMENTS(types); ++i) {
      a.views[view].tensor.dtype = types[i];
      LAUNCH_REFUSED();
    }
    a.views[view].tensor.dtype.code = a.views[view].tensor.dtype.code == kDLInt ? kDLUInt : kDLInt;
    LAUNCH_REFUSED();
    a.views[view].tensor.shape = NULL;
    LAUNCH_INVALID();
    a.views[view].shape[last] = -1;
    LAUNCH_INVALID();
    a.views[view].shape[last] -= 1;
    LAUNCH_INVALID();
    a.views[view].tensor.ndim -= 1;
    LAUNCH_INVALID();
    a.views[view].shape[last] = INT64_MAX;
    LAUNCH_INVALID();
  }
  /* All alike, but not what the graph was built for. */
  for (uint32_t view = 0; view < 4; ++view) {
    a.views[view].shape[0] -= 1;
  }
  LAUNCH_INVALID();
  /* Outputs have no gaps, and the order of their dimensions. */
  for (uint32_t view = 2; view < 4; ++view) {
    memset(a.views[view].strides, 0, sizeof(a.views[view].strides));
    a.views[view].tensor.strides = a.views[view].strides;
    LAUNCH_REFUSED();
  }
  attempt_end(&a);
}

static void launch_places(leat_case_context *ctx, const void *data) {
  attempt a;
  (void)data;
  attempt_begin(ctx, &a);
  const uint64_t size = a.net->size;
  const uint64_t item = a.net->form.dtype.bits / 8u;
  uint64_t dead = leati_case_alloc(ctx, size, a.stream);
  uint8_t *host = g_malloc0(2 * size);
  leati_case_free(ctx, dead);
  for (uint32_t view = 0; view < 4; ++view) {
    const uint64_t offsets[] = {(4 - view) * size - size + item, (4 - view) * size, UINT64_C(1) << 40, UINT64_MAX - 3,
                                0 - a.block};
    DLTensor *t = &a.views[view].tensor;
    for (size_t i = 0; i < G_N_ELEMENTS(offsets); ++i) {
      t->byte_offset = offsets[i];
      LAUNCH_INVALID();
    }
    t->data = (void *)(uintptr_t)dead;
    LAUNCH_INVALID();
    t->data = NULL;
    LAUNCH_INVALID();
    t->data = host;
    LAUNCH_INVALID();
    t->device = (DLDevice){.device_type = kDLCPU};
    t->data = NULL;
    LAUNCH_INVALID();
    t->device.device_type = kDLCUDA;
    LAUNCH_REFUSED();
    t->device.device_id = 1000;
    LAUNCH_REFUSED();
    t->device.device_id = -1;
    LAUNCH_REFUSED();
    /* On the host nothing has strides. */
    t->device = (DLDevice){.device_type = kDLCPU};
    t->data = host;
    memset(a.views[view].strides, 0, sizeof(a.views[view].strides));
    t->strides = a.views[view].strides;
    LAUNCH_REFUSED();
  }
  /* Strides of inputs that leave the block. */
  for (uint32_t view = 0; view < 2; ++view) {
    static const int64_t steps[] = {1000, -1000, INT64_MAX, INT64_MIN, INT64_C(1) << 61};
    for (size_t i = 0; i < G_N_ELEMENTS(steps); ++i) {
      a.views[view].strides[0] = steps[i];
      a.views[view].tensor.strides = a.views[view].strides;
      LAUNCH_REFUSED();
    }
  }
  g_free(host);
  attempt_end(&a);
}

static void launch_overlap(leat_case_context *ctx, const void *data) {
  attempt a;
  (void)data;
  attempt_begin(ctx, &a);
  const uint64_t size = a.net->size;
  const uint64_t item = a.net->form.dtype.bits / 8u;
  uint8_t *host = g_malloc0(2 * size);
  /* The same memory as an input, or a part of it; the other output. */
  const uint64_t places[] = {0, item, size - item, size, 2 * size - item, 3 * size, 3 * size - item};
  for (size_t i = 0; i < G_N_ELEMENTS(places); ++i) {
    leati_net_device(a.net, &a.views[2], a.block + places[i]);
    LAUNCH_INVALID();
  }
  leati_net_device(a.net, &a.views[3], a.block + size + item);
  LAUNCH_INVALID();
  leati_net_device(a.net, &a.views[3], a.block + 2 * size);
  LAUNCH_INVALID();
  /* The same on the host. */
  leati_net_host(a.net, &a.views[0], host);
  leati_net_host(a.net, &a.views[2], host + item);
  LAUNCH_INVALID();
  leati_net_host(a.net, &a.views[2], host);
  leati_net_host(a.net, &a.views[3], host + size - item);
  LAUNCH_INVALID();
  g_free(host);
  attempt_end(&a);
}

static void launch_other_device(leat_case_context *ctx, const void *data) {
  attempt a;
  uint32_t count = 0;
  leat_device *other = NULL;
  leat_stream *stream = NULL;
  (void)data;
  leati_graph_require(ctx);
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  if (count < 2) {
    leati_case_skip(ctx, "device.count() gives %u", count);
  }
  attempt_begin(ctx, &a);
  LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index == 0 ? 1 : 0, &other, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->create(other, 0, &stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->api->graph->launch(a.graph, stream, 2, a.inputs, 2, a.outputs, LEAT_ERR));
  leati_stream_destroy(ctx, stream);
  LEAT_CHECK_OK(ctx, ctx->device->close(other, LEAT_ERR));
  for (uint32_t view = 0; view < 4; ++view) {
    a.views[view].tensor.device.device_id = ctx->device_index == 0 ? 1 : 0;
    LAUNCH_INVALID();
  }
  attempt_end(&a);
}

/* ---- prepare() ---- */

static void prepare_require(const leat_case_context *ctx) {
  leati_graph_require(ctx);
  const leat_graph_api *api = ctx->api->graph;
  if (api->struct_size < LEAT_SIZE_THROUGH(leat_graph_api, prepare) || api->prepare == NULL) {
    leati_case_skip(ctx, "the slot graph.prepare is NULL");
  }
}

/* Asks for what a right launch needs; the tensors have no memory yet. */
static int32_t prepare(attempt *a, uint32_t *inout_count, leat_error *err) {
  for (uint32_t i = 0; i < 4; ++i) {
    a->views[i].tensor.data = NULL;
  }
  return a->ctx->api->graph->prepare(a->graph, a->input_count, a->inputs, inout_count, err);
}

static void prepare_counts(leat_case_context *ctx, const void *data) {
  static const uint32_t allowed[] = {0, 1, UINT32_MAX, UINT32_MAX};
  attempt a;
  (void)data;
  prepare_require(ctx);
  attempt_begin(ctx, &a);
  for (size_t i = 0; i < G_N_ELEMENTS(allowed); ++i) {
    uint32_t count = allowed[i];
    LEAT_CHECK_OK(ctx, prepare(&a, &count, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, count <= allowed[i], "prepare() tells of %u programs, %u were allowed", count, allowed[i]);
    LEAT_CHECK_MESSAGE(ctx, count == 0 || i != 3, "prepare() compiles %u programs that it has compiled before", count);
  }
  put_right(&a);
  attempt_end(&a);
}

static void prepare_arguments(leat_case_context *ctx, const void *data) {
  attempt a;
  uint32_t count = 8;
  (void)data;
  prepare_require(ctx);
  attempt_begin(ctx, &a);
#define PREPARE_REFUSED()                                                                                         \
  do {                                                                                                            \
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED, prepare(&a, &count, LEAT_ERR)); \
    LEAT_CHECK_U64(ctx, 0, count);                                                                                \
    put_right(&a);                                                                                                \
    count = 8;                                                                                                    \
  } while (0)
  const leat_graph_api *api = ctx->api->graph;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, api->prepare(a.graph, 2, a.inputs, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, api->prepare(NULL, 2, a.inputs, &count, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, api->prepare(a.graph, 2, NULL, &count, LEAT_ERR));
  static const uint32_t counts[] = {0, 1, 3, UINT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); ++i) {
    a.input_count = counts[i];
    PREPARE_REFUSED();
  }
  const int32_t last = a.net->form.ndim - 1;
  for (uint32_t i = 0; i < 2; ++i) {
    DLTensor *const tensor = &a.views[i].tensor;
    a.inputs[i] = NULL;
    PREPARE_REFUSED();
    tensor->ndim = LEAT_MAX_RANK + 1;
    PREPARE_REFUSED();
    tensor->shape = NULL;
    PREPARE_REFUSED();
    tensor->shape[last] = -1;
    PREPARE_REFUSED();
    tensor->shape[last] = INT64_MAX;
    PREPARE_REFUSED();
    tensor->shape[last] += 1;
    PREPARE_REFUSED();
    tensor->dtype.bits = 7;
    PREPARE_REFUSED();
    tensor->dtype = (DLDataType){kDLUInt, 8, 1};
    PREPARE_REFUSED();
    tensor->device = (DLDevice){(DLDeviceType)77, 0};
    PREPARE_REFUSED();
    tensor->device.device_id += 1;
    PREPARE_REFUSED();
  }
#undef PREPARE_REFUSED
  attempt_end(&a);
}

static const leat_case cases[] = {
    {.name = "graph.build.null_is_invalid",
     .summary = "NULL for device, description, lists and their elements is invalid; names may be missing.",
     .run = build_null},
    {.name = "graph.build.broken_structs_are_invalid",
     .summary = "Short structs, reserved fields and what stands in a part that is not known are invalid.",
     .run = build_structs},
    {.name = "graph.build.values_have_one_origin",
     .summary = "Numbers out of range, values made twice, by nobody or after they are taken are invalid.",
     .run = build_values},
    {.name = "graph.build.impossible_values_are_refused",
     .summary = "Types, ranks and dimensions that cannot be, or that an operator does not take, are refused.",
     .run = build_infos},
    {.name = "graph.build.broken_constants_are_refused",
     .summary = "A constant that is not on the host, has no memory or is not what its value is said to be is refused.",
     .run = build_constants},
    {.name = "graph.build.bodies_are_refused",
     .summary = "A graph with captures is the body of an operator, and is refused by itself.",
     .run = build_bodies},
    {.name = "graph.build.unknown_operators_are_named",
     .summary = "An operator that there is not is not supported, and the message names it and its node.",
     .run = build_unknown},
    {.name = "graph.launch.wrong_counts_and_null_are_invalid",
     .summary = "NULL for graph, stream, lists or an input and other counts than the graph's are invalid.",
     .run = launch_counts},
    {.name = "graph.launch.wrong_shapes_and_types_are_refused",
     .summary = "Tensors of other ranks, dimensions or types than the graph's are refused and leave no trace.",
     .run = launch_shapes},
    {.name = "graph.launch.wrong_places_are_refused",
     .summary = "Tensors outside of live blocks, on other devices or without data are refused and leave no trace.",
     .run = launch_places},
    {.name = "graph.launch.overlapping_outputs_are_invalid",
     .summary = "An output that lies over an input or another output is invalid and leaves no trace.",
     .run = launch_overlap},
    {.name = "graph.launch.other_device_is_invalid",
     .summary = "A stream and tensors of another device are invalid and leave no trace.",
     .run = launch_other_device},
    {.name = "graph.prepare.launches_nothing_and_keeps_to_its_limit",
     .summary = "Preparing compiles no more programs than it may, none twice, and launches nothing.",
     .run = prepare_counts},
    {.name = "graph.prepare.wrong_inputs_are_refused",
     .summary = "NULL, other counts, ranks, dimensions, types and devices than a launch takes are refused.",
     .run = prepare_arguments},
};

void leati_cases_graph_arguments(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
