/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"

/* Host memory for a part of the description. At least one item: that of none is there too. */
static int32_t make_room(void *out_at, uint32_t count, size_t size, leat_error *err) {
  void *const memory = leati_calloc(count != 0 ? count : 1, size);
  memcpy(out_at, &memory, sizeof(memory));
  return memory != NULL ? LEAT_OK : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a graph");
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

/* Checks the elements of a constant against what is said of it. */
static int32_t import_constant(const leat_value_info *info, uint32_t v, leati_value *value, leat_error *err) {
  char what[48];
  leati_view view;
  (void)snprintf(what, sizeof(what), "the constant of value %u", v);
  LEATI_TRY(leati_view_import_host(info->value, what, &view, err));
  bool agrees = view.type == value->type && (value->ndim == -1 || value->ndim == view.ndim);
  for (int32_t d = 0; agrees && d < value->ndim; ++d) {
    agrees = value->shape[d] == -1 || value->shape[d] == view.shape[d];
  }
  if (!agrees) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has another type or shape than leat_value_info says", what);
  }
  if (!view.compact) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has strides; it must be compact", what);
  }
  static const unsigned char nothing[1];
  value->kind = LEATI_VALUE_CONSTANT;
  value->bytes = view.count != 0 ? view.data : nothing;
  value->ndim = view.ndim;
  for (int32_t d = 0; d < view.ndim; ++d) {
    value->shape[d] = view.shape[d];
  }
  return LEAT_OK;
}

static int32_t import_value(const leat_value_info *from, uint32_t v, leati_value *value, leat_error *err) {
  leat_value_info info;
  char what[48];
  (void)snprintf(what, sizeof(what), "leat_graph_desc::values[%u]", v);
  LEATI_TRY(leati_import(&info, sizeof(info), LEAT_SIZE_THROUGH(leat_value_info, value), from, what, err));
  if (info.reserved != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_value_info::reserved of value %u is not zero", v);
  }
  if (info.ndim < -1 || (info.ndim > 0 && info.shape == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "value %u has rank %d and %s shape", v, info.ndim,
                      info.shape == NULL ? "no" : "a");
  }
  if (info.ndim > LEAT_MAX_RANK) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "value %u has rank %d; supported: up to %d", v, info.ndim,
                      LEAT_MAX_RANK);
  }
  value->type = leati_type_of(info.dtype);
  /* An element type of 0 bits is not known. */
  if (value->type == 0 && info.dtype.bits != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "value %u has an element type that Leat does not know", v);
  }
  value->ndim = info.ndim;
  for (int32_t d = 0; d < info.ndim; ++d) {
    value->shape[d] = info.shape[d];
    if (info.shape[d] < -1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "value %u has size %" PRId64 " in dimension %d", v,
                        info.shape[d], d);
    }
  }
  return info.value != NULL ? import_constant(&info, v, value, err) : LEAT_OK;
}

/* ---- Inputs and outputs ----------------------------------------------------------------------------------------- */

static const char *what_it_is(const leati_value *value) {
  return value->kind == LEATI_VALUE_INPUT      ? "an input of the graph"
         : value->kind == LEATI_VALUE_CONSTANT ? "a constant"
         : value->kind == LEATI_VALUE_RESULT   ? "made by an earlier node"
                                               : "nothing";
}

static int32_t check_number(const leat_graph *graph, uint32_t v, const char *list, uint32_t i, leat_error *err) {
  return v < graph->value_count
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s[%u] is value %u; the graph has %u values", list, i, v,
                          graph->value_count);
}

static int32_t import_inputs(leat_graph *graph, const uint32_t *inputs, leat_error *err) {
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    LEATI_TRY(check_number(graph, inputs[i], "leat_graph_desc::inputs", i, err));
    leati_value *const value = &graph->values[inputs[i]];
    if (value->kind != LEATI_VALUE_UNUSED) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_graph_desc::inputs[%u], value %u, is already %s", i,
                        inputs[i], what_it_is(value));
    }
    if (value->type == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_graph_desc::inputs[%u], value %u, has no element type",
                        i, inputs[i]);
    }
    value->kind = LEATI_VALUE_INPUT;
    value->source = i;
    graph->inputs[i] = inputs[i];
  }
  return LEAT_OK;
}

static int32_t import_outputs(leat_graph *graph, const uint32_t *outputs, leat_error *err) {
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    LEATI_TRY(check_number(graph, outputs[o], "leat_graph_desc::outputs", o, err));
    leati_value *const value = &graph->values[outputs[o]];
    if (value->kind != LEATI_VALUE_RESULT) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "leat_graph_desc::outputs[%u], value %u, is %s; an output is made by a node", o, outputs[o],
                        what_it_is(value));
    }
    if (value->is_output) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "leat_graph_desc::outputs[%u], value %u, is an earlier output too", o, outputs[o]);
    }
    value->is_output = true;
    graph->outputs[o] = outputs[o];
  }
  return LEAT_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------ */

/* Says what is wrong with an argument of a node. */
static int32_t fail_argument(const leat_graph_node *node, uint32_t n, const char *kind, uint32_t i, const char *what,
                             uint32_t v, leat_error *err) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "node %u (%s%s%s): %s %u is value %u, %s", n, node->op,
                    node->name != NULL ? " " : "", node->name != NULL ? node->name : "", kind, i, v, what);
}

static int32_t import_node(const leat_graph_node *from, uint32_t n, leat_graph_node *out, leat_error *err) {
  char what[48];
  (void)snprintf(what, sizeof(what), "leat_graph_desc::nodes[%u]", n);
  LEATI_TRY(leati_import(out, sizeof(*out), LEAT_SIZE_THROUGH(leat_graph_node, outputs), from, what, err));
  const char *const wrong = out->reserved != 0                                     ? "reserved is not zero"
                            : out->op == NULL                                      ? "op is NULL"
                            : out->attribute_count != 0 && out->attributes == NULL ? "attributes is NULL with a count"
                            : out->input_count != 0 && out->inputs == NULL         ? "inputs is NULL with a count"
                            : out->output_count != 0 && out->outputs == NULL       ? "outputs is NULL with a count"
                                                                                   : NULL;
  if (wrong != NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s", what, wrong);
  }
  return out->input_count <= LEATI_GRAPH_ARGUMENTS_MAX && out->output_count <= LEATI_GRAPH_ARGUMENTS_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s (%s): %u inputs and %u outputs; supported: up to %u each",
                          what, out->op, out->input_count, out->output_count, LEATI_GRAPH_ARGUMENTS_MAX);
}

/* Notes which values a node takes and makes, in `arguments`, where there is room. */
static int32_t connect_node(leat_graph *graph, uint32_t n, const leat_graph_node *node, uint32_t *arguments,
                            leat_error *err) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t v = node->inputs[i];
    if (v != LEAT_GRAPH_NO_VALUE && v >= graph->value_count) {
      return fail_argument(node, n, "input", i, "which the graph does not have", v, err);
    }
    if (v != LEAT_GRAPH_NO_VALUE && graph->values[v].kind == LEATI_VALUE_UNUSED) {
      return fail_argument(node, n, "input", i, "which is no input, no constant and made by no earlier node", v, err);
    }
    arguments[i] = v;
  }
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const uint32_t v = node->outputs[o];
    if (v != LEAT_GRAPH_NO_VALUE && v >= graph->value_count) {
      return fail_argument(node, n, "output", o, "which the graph does not have", v, err);
    }
    if (v != LEAT_GRAPH_NO_VALUE && graph->values[v].kind != LEATI_VALUE_UNUSED) {
      return fail_argument(node, n, "output", o, "which something else gives already", v, err);
    }
    if (v != LEAT_GRAPH_NO_VALUE) {
      graph->values[v].kind = LEATI_VALUE_RESULT;
      graph->values[v].source = n;
    }
    arguments[node->input_count + o] = v;
  }
  leati_node *const it = &graph->nodes[n];
  it->input_count = node->input_count;
  it->output_count = node->output_count;
  it->inputs = arguments;
  it->outputs = arguments + node->input_count;
  if (node->name != NULL && node->name[0] != '\0') {
    const size_t size = strnlen(node->name, LEAT_ERROR_MESSAGE_SIZE) + 1;
    LEATI_TRY(make_room(&it->name, 1, size, err));
    memcpy(it->name, node->name, size - 1);
  }
  return LEAT_OK;
}

static int32_t import_nodes(leat_graph *graph, const leat_graph_node *const *from, leat_graph_node *nodes,
                            leat_error *err) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    LEATI_TRY(import_node(from[n], n, &nodes[n], err));
    /* Neither sum wraps: so many nodes have so few arguments each. */
    count += nodes[n].input_count + nodes[n].output_count;
    if (count > LEATI_GRAPH_VALUES_MAX * 8) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "the nodes have more than %u inputs and outputs",
                        LEATI_GRAPH_VALUES_MAX * 8);
    }
  }
  LEATI_TRY(make_room(&graph->arguments, count, sizeof(*graph->arguments), err));
  uint32_t *arguments = graph->arguments;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    LEATI_TRY(connect_node(graph, n, &nodes[n], arguments, err));
    arguments += nodes[n].input_count + nodes[n].output_count;
  }
  return LEAT_OK;
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

/* A list of a description: at most as many elements as there are values. */
static int32_t check_list(const char *name, uint32_t count, const void *list, uint32_t most, leat_error *err) {
  if (count > most) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "leat_graph_desc::%s has %u elements; with %u values it can have %u at most", name, count, most,
                      most);
  }
  return count == 0 || list != NULL ? LEAT_OK
                                    : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                                                 "leat_graph_desc::%s is NULL and has %u elements", name, count);
}

int32_t leati_graph_import(const leat_graph_desc *from, leat_graph *graph, leat_graph_node **out_nodes,
                           leat_error *err) {
  leat_graph_desc desc;
  LEATI_TRY(
      leati_import(&desc, sizeof(desc), LEAT_SIZE_THROUGH(leat_graph_desc, captured), from, "leat_graph_desc", err));
  if (desc.capture_count != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "leat_graph_desc::capture_count is %u: the body of an operator is not a graph of its own",
                      desc.capture_count);
  }
  if (desc.value_count > LEATI_GRAPH_VALUES_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a graph of %u values; supported: up to %u", desc.value_count,
                      LEATI_GRAPH_VALUES_MAX);
  }
  LEATI_TRY(check_list("values", desc.value_count, desc.values, desc.value_count, err));
  LEATI_TRY(check_list("nodes", desc.node_count, desc.nodes, desc.value_count, err));
  LEATI_TRY(check_list("inputs", desc.input_count, desc.inputs, desc.value_count, err));
  LEATI_TRY(check_list("outputs", desc.output_count, desc.outputs, desc.value_count, err));
  LEATI_TRY(make_room(&graph->values, desc.value_count, sizeof(*graph->values), err));
  graph->value_count = desc.value_count;
  LEATI_TRY(make_room(&graph->nodes, desc.node_count, sizeof(*graph->nodes), err));
  graph->node_count = desc.node_count;
  LEATI_TRY(make_room(&graph->inputs, desc.input_count, sizeof(*graph->inputs), err));
  graph->input_count = desc.input_count;
  LEATI_TRY(make_room(&graph->outputs, desc.output_count, sizeof(*graph->outputs), err));
  graph->output_count = desc.output_count;
  LEATI_TRY(make_room(out_nodes, desc.node_count, sizeof(**out_nodes), err));
  for (uint32_t v = 0; v < desc.value_count; ++v) {
    LEATI_TRY(import_value(desc.values[v], v, &graph->values[v], err));
  }
  LEATI_TRY(import_inputs(graph, desc.inputs, err));
  LEATI_TRY(import_nodes(graph, desc.nodes, *out_nodes, err));
  return import_outputs(graph, desc.outputs, err);
}
