/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases/graph_net.h"

#include <string.h>

void leati_graph_require(const leat_case_context *ctx) {
  if (ctx->api->graph == NULL) {
    leati_case_skip(ctx, "the table graph is NULL");
  }
}

/* ---- Descriptions ----------------------------------------------------------------------------------------------- */

leati_builder *leati_builder_new(void) {
  leati_builder *m = g_new0(leati_builder, 1);
  m->desc = (leat_graph_desc){.struct_size = sizeof(m->desc),
                              .values = m->values,
                              .nodes = m->node_list,
                              .inputs = m->inputs,
                              .outputs = m->outputs};
  return m;
}

static uint32_t add_value(leati_builder *m, DLDataType dtype, int32_t ndim, const int64_t *dims) {
  const uint32_t number = m->desc.value_count++;
  g_assert(number < LEATI_BUILDER_VALUES);
  if (ndim > 0) {
    memcpy(m->dims[number], dims, (size_t)ndim * sizeof(dims[0]));
  }
  m->infos[number] = (leat_value_info){
      .struct_size = sizeof(m->infos[number]), .ndim = ndim, .dtype = dtype, .shape = m->dims[number]};
  m->values[number] = &m->infos[number];
  return number;
}

uint32_t leati_builder_input(leati_builder *m, DLDataType dtype, int32_t ndim, const int64_t *dims) {
  const uint32_t number = add_value(m, dtype, ndim, dims);
  g_assert(m->desc.input_count < LEATI_BUILDER_INPUTS);
  m->inputs[m->desc.input_count++] = number;
  return number;
}

uint32_t leati_builder_constant(leati_builder *m, const void *bytes, DLDataType dtype, int32_t ndim,
                                const int64_t *dims) {
  const uint32_t number = add_value(m, dtype, ndim, dims);
  /* Only read; DLTensor has no const. */
  m->constants[number] = (DLTensor){.data = (void *)(uintptr_t)bytes,
                                    .device = {.device_type = kDLCPU},
                                    .ndim = ndim,
                                    .dtype = dtype,
                                    .shape = m->dims[number]};
  m->infos[number].value = &m->constants[number];
  return number;
}

uint32_t leati_builder_node(leati_builder *m, const char *op, uint32_t since_version, uint32_t input_count,
                            const uint32_t *inputs) {
  const uint32_t number = m->desc.node_count++;
  g_assert(number < LEATI_BUILDER_NODES && input_count <= LEATI_BUILDER_INPUTS);
  memcpy(m->node_inputs[number], inputs, input_count * sizeof(inputs[0]));
  g_snprintf(m->names[number], sizeof(m->names[number]), "node%u", number);
  m->nodes[number] = (leat_graph_node){.struct_size = sizeof(m->nodes[number]),
                                       .since_version = since_version,
                                       .name = m->names[number],
                                       .op = op,
                                       .input_count = input_count,
                                       .attributes = m->attributes[number],
                                       .inputs = m->node_inputs[number],
                                       .outputs = m->node_outputs[number]};
  m->node_list[number] = &m->nodes[number];
  return leati_builder_more(m);
}

void leati_builder_attribute(leati_builder *m, const leat_attribute *attribute) {
  const uint32_t number = m->desc.node_count - 1;
  g_assert(m->nodes[number].attribute_count < LEATI_BUILDER_ATTRIBUTES);
  m->attributes[number][m->nodes[number].attribute_count++] = attribute;
}

uint32_t leati_builder_more(leati_builder *m) {
  leat_graph_node *node = &m->nodes[m->desc.node_count - 1];
  g_assert(node->output_count < LEATI_BUILDER_OUTPUTS);
  return m->node_outputs[m->desc.node_count - 1][node->output_count++] = add_value(m, (DLDataType){0}, -1, NULL);
}

void leati_builder_output(leati_builder *m, uint32_t value) {
  g_assert(m->desc.output_count < LEATI_BUILDER_NODES);
  m->outputs[m->desc.output_count++] = value;
}

leat_graph *leati_graph_new(leat_case_context *ctx, const leati_builder *builder) {
  leat_graph *graph = NULL;
  leat_error err = {.struct_size = sizeof(err)};
  leati_graph_require(ctx);
  const int32_t status = ctx->api->graph->build(leati_fixture_device(ctx), &builder->desc, &graph, &err);
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    leati_case_lack(ctx, "a graph", "graph.build() says: %s", err.message);
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK && graph != NULL, "graph.build() gives %s (%s)",
                     leati_case_status_name(status), err.message);
  return graph;
}

void leati_graph_destroy(leat_case_context *ctx, leat_graph *graph) {
  LEAT_CHECK_OK(ctx, ctx->api->graph->destroy(graph, LEAT_ERR));
}

/* ---- Graphs with exact results ---------------------------------------------------------------------------------- */

/* A node that takes two values in turn, as often as its operator has inputs. */
static uint32_t add_node(leati_net *net, uint32_t a, uint32_t b) {
  uint32_t inputs[LEATI_FORM_INPUTS];
  for (uint32_t i = 0; i < net->form.inputs; ++i) {
    inputs[i] = i % 2 == 0 ? a : b;
  }
  const uint32_t made =
      leati_builder_node(net->builder, net->form.info->name, net->form.since_version, net->form.inputs, inputs);
  net->builder->nodes[net->builder->desc.node_count - 1].domain = net->form.info->domain;
  return made;
}

/* Small whole numbers: what Add makes of them is exact. */
static uint8_t *numbers(const leati_net *net, uint32_t seed) {
  const uint64_t item = net->form.dtype.bits / 8u;
  uint8_t *bytes = g_malloc(net->size);
  uint8_t *random = g_malloc(net->size);
  leati_pattern(random, net->size, seed);
  for (uint64_t k = 0; k < net->size / item; ++k) {
    const float number = random[k];
    const uint8_t whole = net->form.dtype.code == LEAT_DL_BOOL ? random[k] & 1 : random[k] % 100;
    if (net->form.dtype.code == kDLFloat) {
      memcpy(bytes + k * item, &number, item);
    } else {
      memset(bytes + k * item, 0, item);
      bytes[k * item] = whole; /* least significant first, as on all machines that there are devices for */
    }
  }
  g_free(random);
  return bytes;
}

static void build(leati_net *net, leati_net_kind kind, bool unknown) {
  leati_builder *m = net->builder;
  const leati_form *f = &net->form;
  const int32_t ndim = unknown ? -1 : f->ndim;
  const uint32_t x = leati_builder_input(m, f->dtype, ndim, f->dims);
  const uint32_t y = leati_builder_input(m, f->dtype, ndim, f->dims);
  /* A constant has its shape. */
  const bool takes_constant = kind == LEATI_NET_CHAIN || kind == LEATI_NET_DIAMOND;
  const uint32_t c = takes_constant ? leati_builder_constant(m, net->constant, f->dtype, f->ndim, f->dims) : 0;
  uint32_t v[9];
  switch (kind) {
    case LEATI_NET_ONE:
      leati_builder_output(m, add_node(net, x, y));
      break;
    case LEATI_NET_CHAIN:
      v[0] = add_node(net, x, c);
      v[1] = add_node(net, c, v[0]);
      v[2] = add_node(net, v[1], y);
      v[3] = add_node(net, v[2], c);
      v[4] = add_node(net, v[3], v[3]);
      leati_builder_output(m, add_node(net, v[4], c));
      break;
    case LEATI_NET_DIAMOND:
      v[0] = add_node(net, x, c);
      v[1] = add_node(net, v[0], y);
      v[2] = add_node(net, x, v[0]);
      leati_builder_output(m, add_node(net, v[1], v[2]));
      leati_builder_output(m, v[0]);
      break;
    case LEATI_NET_WIDE:
    case LEATI_NET_DEEP:
      for (uint32_t i = 0; i < 9; ++i) {
        v[i] = i < 3 ? add_node(net, i == 0 ? x : y, i == 1 ? y : x) : add_node(net, v[i - 3], v[i - 1 - i % 2]);
        if (kind == LEATI_NET_WIDE || i == 8) {
          leati_builder_output(m, v[i]);
        }
      }
      break;
  }
}

leati_net *leati_net_new(leat_case_context *ctx, leati_net_kind kind, bool unknown) {
  leati_net *net = g_new0(leati_net, 1);
  leati_form_desc d;
  leati_graph_require(ctx);
  net->ctx = ctx;
  net->form = leati_form_exact(ctx);
  leati_form_describe(&net->form, &d);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &d.desc, &net->op, LEAT_ERR));
  net->size = net->form.dtype.bits / 8u;
  for (int32_t i = 0; i < net->form.ndim; ++i) {
    net->size *= (uint64_t)net->form.dims[i];
  }
  net->constant = numbers(net, 4711);
  net->builder = leati_builder_new();
  build(net, kind, unknown);
  return net;
}

leati_net leati_net_of_rows(const leati_net *net, int64_t rows) {
  leati_net other = *net;
  g_assert(net->builder->infos[net->builder->inputs[0]].ndim < 0);
  other.size = net->size / (uint64_t)net->form.dims[0] * (uint64_t)rows;
  other.form.dims[0] = rows;
  return other;
}

void leati_net_free(leati_net *net) {
  leati_op_destroy(net->ctx, net->op);
  g_free(net->constant);
  g_free(net->builder);
  g_free(net);
}

uint8_t *leati_net_input(const leati_net *net, uint32_t input, uint32_t seed) {
  return numbers(net, 2 * seed + input);
}

void leati_net_device(const leati_net *net, leat_case_tensor *out, uint64_t address) {
  leati_case_tensor_device(net->ctx, out, address, net->form.dtype, net->form.ndim, net->form.dims);
}

void leati_net_host(const leati_net *net, leat_case_tensor *out, void *bytes) {
  leati_case_tensor_host(out, bytes, net->form.dtype, net->form.ndim, net->form.dims);
}

uint8_t *leati_net_expected(const leati_net *net, uint32_t seed) {
  leat_case_context *ctx = net->ctx;
  const leati_builder *m = net->builder;
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t *out = g_malloc(m->desc.output_count * net->size);
  uint64_t block = leati_case_alloc(ctx, m->desc.value_count * net->size, stream);
  leat_case_tensor *views = g_new0(leat_case_tensor, m->desc.value_count);
  for (uint32_t i = 0; i < m->desc.value_count; ++i) {
    leati_net_device(net, &views[i], block + i * net->size);
    if (m->infos[i].value != NULL) {
      leati_upload(ctx, stream, block + i * net->size, net->constant, net->size);
    }
  }
  for (uint32_t i = 0; i < m->desc.input_count; ++i) {
    uint8_t *bytes = leati_net_input(net, i, seed);
    leati_upload(ctx, stream, block + m->inputs[i] * net->size, bytes, net->size);
    g_free(bytes);
  }
  for (uint32_t i = 0; i < m->desc.node_count; ++i) {
    const leat_case_tensor *inputs[LEATI_FORM_INPUTS];
    for (uint32_t k = 0; k < net->form.inputs; ++k) {
      inputs[k] = &views[m->node_inputs[i][k]];
    }
    leati_op_invoke(ctx, net->op, stream, net->form.inputs, inputs, &views[m->node_outputs[i][0]]);
  }
  for (uint32_t i = 0; i < m->desc.output_count; ++i) {
    leati_download(ctx, stream, block + m->outputs[i] * net->size, out + i * net->size, net->size);
  }
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(views);
  return out;
}

int32_t leati_net_launch(const leati_net *net, const leat_graph *graph, leat_stream *stream,
                         const leat_case_tensor *inputs, const leat_case_tensor *const *outputs, leat_error *err) {
  const DLTensor *in[LEATI_BUILDER_INPUTS];
  const DLTensor *out[LEATI_BUILDER_NODES];
  const leat_graph_desc *desc = &net->builder->desc;
  for (uint32_t i = 0; i < desc->input_count; ++i) {
    in[i] = &inputs[i].tensor;
  }
  for (uint32_t i = 0; i < desc->output_count; ++i) {
    out[i] = outputs[i] != NULL ? &outputs[i]->tensor : NULL;
  }
  return net->ctx->api->graph->launch(graph, stream, desc->input_count, in, desc->output_count, out, err);
}

/* ---- Launches under way ----------------------------------------------------------------------------------------- */

struct leati_flight {
  const leati_net *net;
  uint32_t seed;
  uint8_t *got;
};

leati_flight *leati_flight_begin(const leati_net *net, const leat_graph *graph, leat_stream *stream, uint32_t seed) {
  leat_case_context *ctx = net->ctx;
  const leat_graph_desc *desc = &net->builder->desc;
  const uint32_t tensors = desc->input_count + desc->output_count;
  leati_flight *flight = g_new0(leati_flight, 1);
  uint64_t block = leati_case_alloc(ctx, tensors * net->size, stream);
  uint64_t out = block + desc->input_count * net->size;
  leat_case_tensor *views = g_new0(leat_case_tensor, tensors);
  const leat_case_tensor *outputs[LEATI_BUILDER_NODES];
  flight->net = net;
  flight->seed = seed;
  flight->got = g_malloc0(desc->output_count * net->size);
  for (uint32_t i = 0; i < tensors; ++i) {
    leati_net_device(net, &views[i], block + i * net->size);
  }
  for (uint32_t i = 0; i < desc->input_count; ++i) {
    uint8_t *bytes = leati_net_input(net, i, seed);
    leati_upload(ctx, stream, block + i * net->size, bytes, net->size);
    g_free(bytes);
  }
  for (uint32_t i = 0; i < desc->output_count; ++i) {
    outputs[i] = &views[desc->input_count + i];
  }
  LEAT_CHECK_OK(ctx, leati_net_launch(net, graph, stream, views, outputs, LEAT_ERR));
  leati_download(ctx, stream, out, flight->got, desc->output_count * net->size);
  leati_case_free(ctx, block);
  g_free(views);
  return flight;
}

void leati_flight_end(leati_flight *flight) {
  uint8_t *expected = leati_net_expected(flight->net, flight->seed);
  LEAT_CHECK_BYTES(flight->net->ctx, expected, flight->got,
                   flight->net->builder->desc.output_count * flight->net->size);
  g_free(expected);
  g_free(flight->got);
  g_free(flight);
}

void leati_flight_once(const leati_net *net, const leat_graph *graph, leat_stream *stream, uint32_t seed) {
  leati_flight *flight = leati_flight_begin(net, graph, stream, seed);
  leati_synchronize(net->ctx, stream);
  leati_flight_end(flight);
}
