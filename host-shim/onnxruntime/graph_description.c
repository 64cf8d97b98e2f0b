/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph_description.h"

#include <stdlib.h>
#include <string.h>

/* A value that some node takes or gives, by its name. */
typedef struct named {
  const char *name;
  const OrtValueInfo *info;
} named;

/* Inputs and outputs of a node. */
typedef struct ends {
  const OrtValueInfo **inputs;
  const OrtValueInfo **outputs;
  size_t input_count;
  size_t output_count;
} ends;

typedef struct reader {
  leati_graph_description *out;
  const leati_kernel_registry *registry;
  const leati_model_inputs *inputs; /* of the model */
  const leati_runtime *runtime;
  leati_scratch *scratch; /* of the description */
  ends *ends;             /* of each node */
  const OrtNode *const *nodes;
  size_t node_count;
  named *names; /* by rising name, each once; their indices are the numbers of values */
  size_t name_count;
  leat_value_info *values;
} reader;

static OrtStatus *no_memory(const reader *self) {
  return leati_status(self->runtime, ORT_FAIL, "out of memory for the description of its graph");
}

/* ---- Nodes and names ----------------------------------------------------------------------------------------------
 */

static OrtStatus *read_ends(const reader *self, const OrtNode *node, ends *out) {
  const OrtApi *ort = self->runtime->ort;
  OrtStatus *status = ort->Node_GetNumInputs(node, &out->input_count);
  if (status == NULL) {
    status = ort->Node_GetNumOutputs(node, &out->output_count);
  }
  if (status != NULL) {
    return status;
  }
  out->inputs = leati_scratch_alloc(self->scratch, out->input_count, sizeof(*out->inputs));
  out->outputs = leati_scratch_alloc(self->scratch, out->output_count, sizeof(*out->outputs));
  if (out->inputs == NULL || out->outputs == NULL) {
    return no_memory(self);
  }
  status = out->input_count != 0 ? ort->Node_GetInputs(node, out->inputs, out->input_count) : NULL;
  if (status == NULL && out->output_count != 0) {
    status = ort->Node_GetOutputs(node, out->outputs, out->output_count);
  }
  return status;
}

/* Adds the values that are there to the names. */
static OrtStatus *add_names(reader *self, const OrtValueInfo *const *values, size_t count) {
  OrtStatus *status = NULL;
  for (size_t i = 0; i < count && status == NULL; ++i) {
    named *entry = &self->names[self->name_count];
    *entry = (named){.info = values[i]};
    status = values[i] != NULL ? self->runtime->ort->GetValueInfoName(values[i], &entry->name) : NULL;
    self->name_count += status == NULL && entry->name != NULL && *entry->name != '\0';
  }
  return status;
}

static int compare_names(const void *left, const void *right) {
  return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

static OrtStatus *read_names(reader *self) {
  size_t most = 0;
  for (size_t i = 0; i < self->node_count; ++i) {
    most += self->ends[i].input_count + self->ends[i].output_count;
  }
  self->names = leati_scratch_alloc(self->scratch, most + 1, sizeof(*self->names));
  OrtStatus *status = self->names != NULL ? NULL : no_memory(self);
  for (size_t i = 0; i < self->node_count && status == NULL; ++i) {
    status = add_names(self, self->ends[i].inputs, self->ends[i].input_count);
    if (status == NULL) {
      status = add_names(self, self->ends[i].outputs, self->ends[i].output_count);
    }
  }
  if (status != NULL) {
    return status;
  }
  qsort(self->names, self->name_count, sizeof(*self->names), compare_names);
  size_t kept = 0;
  for (size_t i = 0; i < self->name_count; ++i) {
    if (kept == 0 || strcmp(self->names[kept - 1].name, self->names[i].name) != 0) {
      self->names[kept++] = self->names[i];
    }
  }
  self->name_count = kept;
  return NULL;
}

/* Gives the numbers of values, of those that are absent LEAT_GRAPH_NO_VALUE. */
static OrtStatus *number_values(const reader *self, const OrtValueInfo *const *values, size_t count,
                                const uint32_t **out) {
  uint32_t *numbers = leati_scratch_alloc(self->scratch, count, sizeof(*numbers));
  OrtStatus *status = numbers != NULL ? NULL : no_memory(self);
  for (size_t i = 0; i < count && status == NULL; ++i) {
    named wanted = {0};
    status = values[i] != NULL ? self->runtime->ort->GetValueInfoName(values[i], &wanted.name) : NULL;
    const named *found = wanted.name != NULL && *wanted.name != 0
                             ? bsearch(&wanted, self->names, self->name_count, sizeof(*self->names), compare_names)
                             : NULL;
    numbers[i] = found != NULL ? (uint32_t)(found - self->names) : LEAT_GRAPH_NO_VALUE;
  }
  *out = numbers;
  return status;
}

/* ---- Values -------------------------------------------------------------------------------------------------------
 */

/* Describes all values as if nothing in the graph made them. */
static OrtStatus *describe_values(reader *self) {
  self->values = leati_scratch_alloc(self->scratch, self->name_count, sizeof(*self->values));
  const leat_value_info **list = leati_scratch_alloc(self->scratch, self->name_count, sizeof(*list));
  OrtStatus *status = self->values != NULL && list != NULL ? NULL : no_memory(self);
  for (size_t i = 0; i < self->name_count && status == NULL; ++i) {
    bool present = false;
    bool sayable = true;
    list[i] = &self->values[i];
    status = leati_description_of_value(&self->out->values, self->runtime, self->names[i].info, true, &self->values[i],
                                        &present, &sayable);
    if (status == NULL && !sayable) {
      status = leati_status(self->runtime, ORT_NOT_IMPLEMENTED, "value '%s' is no tensor that Leat knows",
                            self->names[i].name);
    }
  }
  self->out->graph.values = list;
  self->out->graph.value_count = (uint32_t)self->name_count;
  return status;
}

static void forget_shape(leat_value_info *value) {
  value->ndim = -1;
  value->shape = NULL;
}

/* Says of what nodes give no more than its element type. Its shape follows from that of the inputs, and a model may
 * declare another one, which ONNX Runtime only warns of. */
static void forget_results(const reader *self, const leat_graph_node *node) {
  for (uint32_t i = 0; i < node->output_count; ++i) {
    if (node->outputs[i] != LEAT_GRAPH_NO_VALUE) {
      forget_shape(&self->values[node->outputs[i]]);
    }
  }
}

/* The same for inputs that are not the model's: nobody checks their shapes, and a launch with others than said fails.
 */
static void forget_inputs(const reader *self) {
  const leat_graph_desc *graph = &self->out->graph;
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    if (!leati_model_inputs_have(self->inputs, self->names[graph->inputs[i]].name)) {
      forget_shape(&self->values[graph->inputs[i]]);
    }
  }
}

/* Takes inputs and outputs from the node in the place of all. What it is given at each launch is no constant, whatever
 * is known of it. */
static OrtStatus *describe_border(reader *self, const OrtNode *fused) {
  leat_graph_desc *graph = &self->out->graph;
  ends border[1] = {{0}};
  OrtStatus *status = read_ends(self, fused, border);
  if (status == NULL) {
    status = number_values(self, border->inputs, border->input_count, &graph->inputs);
  }
  if (status == NULL) {
    status = number_values(self, border->outputs, border->output_count, &graph->outputs);
  }
  graph->input_count = (uint32_t)border->input_count;
  graph->output_count = (uint32_t)border->output_count;
  for (size_t i = 0; i < border->input_count && status == NULL; ++i) {
    if (graph->inputs[i] == LEAT_GRAPH_NO_VALUE) {
      status = leati_status(self->runtime, ORT_FAIL, "input %zu of it is taken by none of its nodes", i);
    } else {
      self->values[graph->inputs[i]].value = NULL;
    }
  }
  for (size_t i = 0; i < border->output_count && status == NULL; ++i) {
    if (graph->outputs[i] == LEAT_GRAPH_NO_VALUE) {
      status = leati_status(self->runtime, ORT_FAIL, "output %zu of it is given by none of its nodes", i);
    }
  }
  return status;
}

/* ---- The description ----------------------------------------------------------------------------------------------
 */

static OrtStatus *describe_node(const reader *self, size_t index, leat_graph_node *out) {
  const OrtNode *node = self->nodes[index];
  leati_node_form form;
  OrtStatus *status = leati_kernel_registry_find(self->registry, node, &form);
  if (status != NULL) {
    return status;
  }
  const leat_op_info *const info = form.info;
  if (info == NULL) {
    return leati_status(self->runtime, ORT_FAIL, "%s node '%s' is not in the backend's list", form.type, form.name);
  }
  leati_description *description = &self->out->nodes[index];
  status = leati_description_of_attributes(description, self->runtime, node, info);
  if (status == NULL) {
    status = number_values(self, self->ends[index].inputs, self->ends[index].input_count, &out->inputs);
  }
  if (status == NULL) {
    status = number_values(self, self->ends[index].outputs, self->ends[index].output_count, &out->outputs);
  }
  out->struct_size = sizeof(*out);
  out->since_version = (uint32_t)form.since;
  out->name = form.name;
  out->op = info->name;
  out->domain = info->domain;
  out->attribute_count = description->op.attribute_count;
  out->attributes = description->op.attributes;
  out->input_count = (uint32_t)self->ends[index].input_count;
  out->output_count = (uint32_t)self->ends[index].output_count;
  return status;
}

static OrtStatus *describe_nodes(reader *self) {
  leat_graph_node *nodes = leati_scratch_alloc(self->scratch, self->node_count, sizeof(*nodes));
  const leat_graph_node **list = leati_scratch_alloc(self->scratch, self->node_count, sizeof(*list));
  leati_description *descriptions = leati_scratch_alloc(self->scratch, self->node_count, sizeof(*descriptions));
  if (nodes == NULL || list == NULL || descriptions == NULL) {
    return no_memory(self);
  }
  self->out->nodes = descriptions;
  self->out->graph.nodes = list;
  self->out->graph.node_count = (uint32_t)self->node_count;
  OrtStatus *status = NULL;
  for (size_t i = 0; i < self->node_count && status == NULL; ++i) {
    list[i] = &nodes[i];
    status = describe_node(self, i, &nodes[i]);
    if (status == NULL) {
      forget_results(self, &nodes[i]);
    }
  }
  return status;
}

/* Marks values by their numbers. */
static void mark(bool *marks, const uint32_t *values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i] != LEAT_GRAPH_NO_VALUE) {
      marks[values[i]] = true;
    }
  }
}

/* Takes for inputs what no node gives and is no constant, and for outputs what some node gives and none takes. */
static OrtStatus *derive_border(reader *self) {
  leat_graph_desc *graph = &self->out->graph;
  bool *given = leati_scratch_alloc(self->scratch, self->name_count, sizeof(*given));
  bool *taken = leati_scratch_alloc(self->scratch, self->name_count, sizeof(*taken));
  uint32_t *inputs = leati_scratch_alloc(self->scratch, self->name_count, sizeof(*inputs));
  uint32_t *outputs = leati_scratch_alloc(self->scratch, self->name_count, sizeof(*outputs));
  if (given == NULL || taken == NULL || inputs == NULL || outputs == NULL) {
    return no_memory(self);
  }
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    mark(given, graph->nodes[i]->outputs, graph->nodes[i]->output_count);
    mark(taken, graph->nodes[i]->inputs, graph->nodes[i]->input_count);
  }
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    if (!given[i] && self->values[i].value == NULL) {
      inputs[graph->input_count++] = i;
    }
    if (given[i] && !taken[i]) {
      outputs[graph->output_count++] = i;
    }
  }
  graph->inputs = inputs;
  graph->outputs = outputs;
  return NULL;
}

/* Describes the nodes, their values, and the border, which `fused` has unless it is NULL. */
static OrtStatus *read_all(reader *self, const OrtNode *fused) {
  self->ends = leati_scratch_alloc(self->scratch, self->node_count, sizeof(*self->ends));
  OrtStatus *status = self->ends != NULL ? NULL : no_memory(self);
  self->out->graph.struct_size = sizeof(self->out->graph);
  for (size_t i = 0; i < self->node_count && status == NULL; ++i) {
    status = read_ends(self, self->nodes[i], &self->ends[i]);
  }
  if (status == NULL) {
    status = read_names(self);
  }
  if (status == NULL) {
    status = describe_values(self);
  }
  if (status == NULL && fused != NULL) {
    status = describe_border(self, fused);
  }
  if (status == NULL) {
    status = describe_nodes(self);
  }
  if (status == NULL && fused == NULL) {
    status = derive_border(self);
  }
  if (status == NULL) {
    forget_inputs(self);
  }
  return status;
}

OrtStatus *leati_graph_description_read(leati_graph_description *out, const leati_kernel_registry *registry,
                                        const leati_model_inputs *inputs, const OrtGraph *graph, const OrtNode *fused) {
  reader self = {.out = out,
                 .registry = registry,
                 .inputs = inputs,
                 .runtime = registry->runtime,
                 .scratch = &out->values.scratch};
  OrtStatus *status = self.runtime->ort->Graph_GetNumNodes(graph, &self.node_count);
  const OrtNode **nodes = leati_scratch_alloc(self.scratch, self.node_count, sizeof(*nodes));
  if (status == NULL && nodes == NULL) {
    status = no_memory(&self);
  }
  if (status == NULL) {
    status = self.runtime->ort->Graph_GetNodes(graph, nodes, self.node_count);
  }
  self.nodes = nodes;
  return status != NULL ? status : read_all(&self, fused);
}

OrtStatus *leati_graph_description_of_nodes(leati_graph_description *out, const leati_kernel_registry *registry,
                                            const leati_model_inputs *inputs, const OrtNode *const *nodes,
                                            size_t count) {
  reader self = {.out = out,
                 .registry = registry,
                 .inputs = inputs,
                 .runtime = registry->runtime,
                 .scratch = &out->values.scratch,
                 .nodes = nodes,
                 .node_count = count};
  return read_all(&self, NULL);
}

void leati_graph_description_clear(leati_graph_description *description, const leati_runtime *runtime) {
  for (uint32_t i = 0; description->nodes != NULL && i < description->graph.node_count; ++i) {
    leati_description_clear(&description->nodes[i], runtime);
  }
  leati_description_clear(&description->values, runtime);
  *description = (leati_graph_description){0};
}
