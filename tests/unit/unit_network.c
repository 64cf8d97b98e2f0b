/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit_network.h"

#include <stdio.h>
#include <string.h>

#include "core/fusions.h"
#include "device/device.h"

const DLDataType float_type = {kDLFloat, 32, 1}, int_type = {kDLInt, 64, 1};

network *make_network(void) {
  network *const n = calloc(1, sizeof(*n));
  assert_non_null(n);
  n->desc = (leat_graph_desc){.struct_size = sizeof(n->desc),
                              .values = n->info_list,
                              .nodes = n->node_list,
                              .inputs = n->inputs,
                              .outputs = n->outputs};
  return n;
}

uint32_t add_value(network *n, DLDataType type, int32_t ndim, const int64_t *shape) {
  const uint32_t v = n->desc.value_count++;
  assert_true(v < VALUES);
  for (int32_t d = 0; d < ndim; ++d) {
    n->shapes[v][d] = shape[d];
  }
  n->infos[v] =
      (leat_value_info){.struct_size = sizeof(n->infos[v]), .ndim = ndim, .dtype = type, .shape = n->shapes[v]};
  n->tensors[v] = (DLTensor){.data = type.code == kDLInt ? (void *)n->ints[v] : n->floats[v],
                             .device = {kDLCPU, 0},
                             .ndim = ndim,
                             .dtype = type,
                             .shape = n->shapes[v]};
  for (int i = 0; i < ELEMENTS; ++i) {
    n->floats[v][i] = (float)((i * 37 + (int)v * 11) % 64 - 32) / 16;
  }
  n->info_list[v] = &n->infos[v];
  return v;
}

uint32_t add_input(network *n, int32_t ndim, const int64_t *shape) {
  const uint32_t v = add_value(n, float_type, ndim, shape);
  n->inputs[n->desc.input_count++] = v;
  return v;
}

uint32_t add_constant(network *n, int32_t ndim, const int64_t *shape) {
  const uint32_t v = add_value(n, float_type, ndim, shape);
  n->infos[v].value = &n->tensors[v];
  return v;
}

uint32_t add_half(network *n, uint16_t bits) {
  const uint32_t v = add_value(n, (DLDataType){kDLFloat, 16, 1}, 0, NULL);
  memcpy(n->floats[v], &bits, sizeof(bits));
  n->infos[v].value = &n->tensors[v];
  return v;
}

uint32_t add_list(network *n, int64_t count, const int64_t *values) {
  const uint32_t v = add_value(n, int_type, 1, &count);
  memcpy(n->ints[v], values, (size_t)count * sizeof(*values));
  n->infos[v].value = &n->tensors[v];
  return v;
}

uint32_t add_node(network *n, const char *op, uint32_t since_version, uint32_t input_count, const uint32_t *inputs) {
  const uint32_t k = n->desc.node_count++;
  assert_true(k < NODES && input_count <= ARGUMENTS);
  const uint32_t v = n->desc.value_count++;
  assert_true(v < VALUES);
  n->infos[v] = (leat_value_info){.struct_size = sizeof(n->infos[v]), .ndim = -1, .dtype = {kDLFloat, 0, 1}};
  n->info_list[v] = &n->infos[v];
  memcpy(n->arguments[k][0], inputs, input_count * sizeof(*inputs));
  n->arguments[k][1][0] = v;
  n->nodes[k] = (leat_graph_node){.struct_size = sizeof(n->nodes[k]),
                                  .since_version = since_version,
                                  .op = op,
                                  .input_count = input_count,
                                  .output_count = 1,
                                  .inputs = n->arguments[k][0],
                                  .outputs = n->arguments[k][1]};
  n->node_list[k] = &n->nodes[k];
  return v;
}

uint32_t add_part(network *n) {
  const uint32_t k = n->desc.node_count - 1, v = n->desc.value_count++;
  assert_true(v < VALUES && n->nodes[k].output_count < ARGUMENTS);
  n->infos[v] = n->infos[n->arguments[k][1][0]];
  n->info_list[v] = &n->infos[v];
  n->arguments[k][1][n->nodes[k].output_count++] = v;
  return v;
}

void set_attributes(network *n, const leat_attribute *const *attributes, uint32_t count) {
  leat_graph_node *const node = &n->nodes[n->desc.node_count - 1];
  node->attributes = attributes;
  node->attribute_count = count;
}

void set_attribute(network *n, const leat_attribute *attribute, const leat_attribute **list) {
  *list = attribute;
  set_attributes(n, list, 1);
}

uint32_t halved(network *n, uint32_t v) {
  static const leat_attribute to_half = ATTRIBUTE(INT, .name = "to", .i = 10);
  static const leat_attribute *const list[] = {&to_half};
  const uint32_t half_of = NODE(n, "Cast", 13, v);
  set_attributes(n, list, 1);
  return half_of;
}

uint32_t widened(network *n, uint32_t v) {
  static const leat_attribute to_float = ATTRIBUTE(INT, .name = "to", .i = 1);
  static const leat_attribute *const list[] = {&to_float};
  const uint32_t whole = NODE(n, "Cast", 13, v);
  set_attributes(n, list, 1);
  return whole;
}

uint32_t narrowed_to(network *n, uint32_t v, bool brain) {
  static const leat_attribute to_brain = ATTRIBUTE(INT, .name = "to", .i = 16);
  static const leat_attribute *const list[] = {&to_brain};
  if (!brain) {
    return halved(n, v);
  }
  const uint32_t y = NODE(n, "Cast", 13, v);
  set_attributes(n, list, 1);
  return y;
}

void add_output(network *n, uint32_t v) {
  n->outputs[n->desc.output_count++] = v;
}

/* ---- Running it ---------------------------------------------------------------------------------------------------
 */

place open_place(void **state) {
  place p = {.f = fixture_of(state)};
  assert_ok(p.f->api->stream->create(p.f->device, 0, &p.stream, &err));
  return p;
}

void close_place(const place *p) {
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
  assert_ok(p->f->api->stream->destroy(p->stream, &err));
}

size_t bytes_of(const DLTensor *t) {
  size_t count = 1;
  for (int32_t d = 0; d < t->ndim; ++d) {
    count *= (size_t)t->shape[d];
  }
  return count * t->dtype.bits / 8;
}

DLTensor on_device(const place *p, const DLTensor *like) {
  DLTensor t = *like;
  uint64_t address;
  assert_ok(p->f->api->memory->alloc(p->f->device, ELEMENTS * sizeof(float), NULL, &address, &err));
  t.data = (void *)(uintptr_t)address;
  t.device = (DLDevice){kDLVulkan, (int)p->f->device->index};
  return t;
}

void release(const place *p, const DLTensor *t) {
  assert_ok(p->f->api->memory->free(p->f->device, (uint64_t)(uintptr_t)t->data, &err));
}

void copy(const place *p, const DLTensor *from, const DLTensor *to) {
  assert_ok(p->f->api->memory->copy(p->stream, from, to, &err));
}

void run_nodes(const place *p, const network *n, results *out) {
  const leat_op_api *const api = p->f->api->op;
  static DLTensor device[VALUES], host[VALUES];
  static leat_shape shapes[VALUES + 1]; /* the last is that of outputs that are left out */
  static int64_t answers[VALUES][8];
  bool is_host[VALUES] = {false};
  leat_op *ops[NODES];
  memset(device, 0, sizeof(device));
  memset(out, 0, sizeof(*out));
  for (uint32_t v = 0; v < n->desc.value_count; ++v) {
    if (n->tensors[v].data != NULL) {
      host[v] = n->tensors[v];
      device[v] = on_device(p, &host[v]);
      if (bytes_of(&host[v]) != 0) {
        copy(p, &host[v], &device[v]);
      }
      is_host[v] = true;
    }
  }
  for (uint32_t k = 0; k < n->desc.node_count; ++k) {
    const leat_graph_node *const node = &n->nodes[k];
    leat_value_info infos[ARGUMENTS] = {0};
    const leat_value_info *list[ARGUMENTS];
    const DLTensor *in[ARGUMENTS];
    uint64_t host_inputs = 0, host_outputs = 0;
    uint32_t count;
    assert_ok(api->count(&count, &err));
    for (uint32_t i = 0; i < count; ++i) {
      const leat_op_info *info;
      assert_ok(api->info(i, &info, &err));
      if (strcmp(info->name, node->op) == 0 && node->since_version >= info->since_version_min &&
          node->since_version <= info->since_version_max) {
        host_inputs = info->host_inputs;
        host_outputs = info->host_outputs;
      }
    }
    for (uint32_t i = 0; i < node->input_count; ++i) {
      const uint32_t v = node->inputs[i];
      if (v == LEAT_GRAPH_NO_VALUE) {
        in[i] = NULL;
        list[i] = NULL;
        continue;
      }
      in[i] = (host_inputs >> i & 1) != 0 ? &host[v] : &device[v];
      assert_true((host_inputs >> i & 1) == 0 || is_host[v]);
      infos[i] = (leat_value_info){.struct_size = sizeof(infos[i]), .ndim = -1, .dtype = device[v].dtype};
      list[i] = &infos[i];
    }
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .since_version = node->since_version,
                               .name = node->op,
                               .domain = node->domain,
                               .attribute_count = node->attribute_count,
                               .attributes = node->attributes,
                               .input_count = node->input_count,
                               .inputs = list,
                               .output_count = node->output_count};
    assert_ok(api->create(p->f->device, &desc, &ops[k], &err));
    leat_shape *given[ARGUMENTS];
    const DLTensor *made[ARGUMENTS];
    for (uint32_t o = 0; o < node->output_count; ++o) {
      given[o] = &shapes[node->outputs[o] != LEAT_GRAPH_NO_VALUE ? node->outputs[o] : VALUES];
      *given[o] = (leat_shape){.struct_size = sizeof(*given[o])};
    }
    assert_ok(api->infer(ops[k], node->input_count, in, node->output_count, given, &err));
    for (uint32_t o = 0; o < node->output_count; ++o) {
      const uint32_t v = node->outputs[o];
      if (v == LEAT_GRAPH_NO_VALUE) {
        made[o] = NULL;
        continue;
      }
      host[v] = (DLTensor){.data = answers[v],
                           .device = {kDLCPU, 0},
                           .ndim = given[o]->ndim,
                           .dtype = given[o]->dtype,
                           .shape = given[o]->dims};
      device[v] = on_device(p, &host[v]);
      is_host[v] = (host_outputs & 1) != 0;
      made[o] = is_host[v] ? &host[v] : &device[v];
    }
    assert_ok(api->invoke(ops[k], p->stream, node->input_count, in, node->output_count, made, &err));
    const uint32_t v = node->outputs[0];
    if (is_host[v] && bytes_of(&host[v]) != 0) {
      copy(p, &host[v], &device[v]);
    }
  }
  for (uint32_t o = 0; o < n->desc.output_count; ++o) {
    const uint32_t v = n->desc.outputs[o];
    DLTensor to = device[v];
    out->shapes[o] = shapes[v];
    to.device = (DLDevice){kDLCPU, 0};
    to.data = out->floats[o];
    if (bytes_of(&to) != 0) {
      copy(p, &device[v], &to);
    }
  }
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
  for (uint32_t k = 0; k < n->desc.node_count; ++k) {
    assert_ok(api->destroy(ops[k], &err));
  }
  for (uint32_t v = 0; v < n->desc.value_count; ++v) {
    if (device[v].data != NULL) {
      release(p, &device[v]);
    }
  }
}

leat_graph *build(const place *p, const network *n) {
  leat_graph *graph;
  assert_ok(p->f->api->graph->build(p->f->device, &n->desc, &graph, &err));
  return graph;
}

void launch(const place *p, const leat_graph *graph, const network *n, uint32_t host, results *out, launched *l) {
  const leat_graph_api *const api = p->f->api->graph;
  const DLTensor *in[8], *made[8];
  leat_shape *shapes[8];
  memset(out, 0, sizeof(*out));
  l->in_count = n->desc.input_count;
  l->out_count = n->desc.output_count;
  for (uint32_t i = 0; i < l->in_count; ++i) {
    const DLTensor *const given = &n->tensors[n->desc.inputs[i]];
    l->in[i] = *given;
    if ((host >> i & 1) == 0) {
      l->in[i] = on_device(p, given);
      if (bytes_of(given) != 0) {
        copy(p, given, &l->in[i]);
      }
    }
    in[i] = &l->in[i];
  }
  for (uint32_t o = 0; o < l->out_count; ++o) {
    out->shapes[o] = (leat_shape){.struct_size = sizeof(out->shapes[o])};
    shapes[o] = &out->shapes[o];
  }
  assert_ok(api->infer(graph, l->in_count, in, l->out_count, shapes, &err));
  for (uint32_t o = 0; o < l->out_count; ++o) {
    l->out[o] = (DLTensor){.data = out->floats[o],
                           .device = {kDLCPU, 0},
                           .ndim = out->shapes[o].ndim,
                           .dtype = out->shapes[o].dtype,
                           .shape = out->shapes[o].dims};
    assert_true(bytes_of(&l->out[o]) <= sizeof(out->floats[o]));
    if ((host >> (l->in_count + o) & 1) == 0) {
      l->out[o] = on_device(p, &l->out[o]);
    }
    made[o] = &l->out[o];
  }
  assert_ok(api->launch(graph, p->stream, l->in_count, in, l->out_count, made, &err));
}

void finish(const place *p, uint32_t host, results *out, const launched *l) {
  for (uint32_t o = 0; o < l->out_count; ++o) {
    if ((host >> (l->in_count + o) & 1) == 0) {
      DLTensor to = l->out[o];
      to.device = (DLDevice){kDLCPU, 0};
      to.data = out->floats[o];
      if (bytes_of(&to) != 0) {
        copy(p, &l->out[o], &to);
      }
    }
  }
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
  for (uint32_t i = 0; i < l->in_count; ++i) {
    if ((host >> i & 1) == 0) {
      release(p, &l->in[i]);
    }
  }
  for (uint32_t o = 0; o < l->out_count; ++o) {
    if ((host >> (l->in_count + o) & 1) == 0) {
      release(p, &l->out[o]);
    }
  }
}

void run_graph(const place *p, const leat_graph *graph, const network *n, uint32_t host, results *out) {
  launched l;
  launch(p, graph, n, host, out, &l);
  finish(p, host, out, &l);
}

leat_graph_info info_of(const place *p, const leat_graph *graph) {
  leat_graph_info info = {.struct_size = sizeof(info)};
  assert_ok(p->f->api->graph->info(graph, &info, &err));
  return info;
}

uint32_t fusions_in(const place *p, const leat_graph *graph, uint32_t rule) {
  leat_graph_fusion list[LEATI_FUSION_COUNT];
  uint32_t count = LEATI_FUSION_COUNT;
  for (uint32_t i = 0; i < count; ++i) {
    list[i].struct_size = sizeof(list[i]);
  }
  assert_ok(p->f->api->graph->fusions(graph, &count, list, &err));
  return list[rule].count;
}

bool computes(void) {
  return getenv("NULLDRIVER_MODE") == NULL;
}

void compare(const network *n, const results *a, const results *b) {
  for (uint32_t o = 0; o < n->desc.output_count; ++o) {
    assert_int_equal(a->shapes[o].ndim, b->shapes[o].ndim);
    assert_memory_equal(a->shapes[o].dims, b->shapes[o].dims, (size_t)a->shapes[o].ndim * sizeof(int64_t));
    if (computes() && memcmp(a->floats[o], b->floats[o], sizeof(a->floats[o])) != 0) {
      for (uint32_t k = 0; k < n->desc.node_count; ++k) {
        print_message("node %u: %s(%u, %u) -> %u\n", k, n->nodes[k].op, n->nodes[k].inputs[0], n->nodes[k].inputs[1],
                      n->nodes[k].outputs[0]);
      }
      int e = 0;
      while (memcmp(&a->floats[o][e], &b->floats[o][e], sizeof(float)) == 0) {
        ++e;
      }
      fail_msg("output %u, value %u, differs: element %d is %g, and %g", o, n->desc.outputs[o], e,
               (double)a->floats[o][e], (double)b->floats[o][e]);
    }
  }
}
