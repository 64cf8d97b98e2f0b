/* SPDX-License-Identifier: BSD-3-Clause */
#include "islands.h"

#include <string.h>

#include "island.h"
#include "partition.h"

typedef struct search {
  const leati_node_list *list;
  leati_shared_device *device;
  const leati_kernel_registry *registry;
  const leati_model_inputs *inputs;
  const OrtLogger *logger;
  leati_partition_node *nodes; /* one for each node of the list */
  leati_partition_edge *edges; /* one for each input at most */
  size_t edge_count;
} search;

static bool bit(uint64_t bits, size_t index) {
  return index < 64 && (bits >> index & 1) != 0;
}

/* Whether a node, in an island, gives an output on the host. */
static bool gives_on_host(const leati_listed_node *node, size_t output) {
  return node->info && (node->on_host || bit(node->info->host_outputs, output));
}

/* Whether a node, in an island, takes an input on the host. Of shape arithmetic all operators do, but those that take
 * no more of an input than its shape. */
static bool takes_on_host(const leati_listed_node *node, size_t input) {
  return node->info && (bit(node->info->host_inputs, input) || (node->on_host && node->info->host_outputs == 0));
}

/* Inputs of a node, and what graphs inside of it take from around it. */
typedef struct taken {
  size_t input_count;
  size_t count;
  const OrtValueInfo **values; /* inputs first; an absent one is NULL or has no name */
} taken;

static OrtStatus *count_taken(const leati_node_list *list, const OrtNode *node, taken *out) {
  const OrtApi *ort = list->runtime->ort;
  size_t implicit = 0;
  OrtStatus *status = ort->Node_GetNumInputs(node, &out->input_count);
  if (!status) {
    status = ort->Node_GetNumImplicitInputs(node, &implicit);
  }
  out->count = out->input_count + implicit;
  return status;
}

static OrtStatus *read_taken(const leati_node_list *list, const OrtNode *node, leati_scratch *scratch, taken *out) {
  const OrtApi *ort = list->runtime->ort;
  OrtStatus *status = count_taken(list, node, out);
  out->values = leati_scratch_alloc(scratch, out->count, sizeof(*out->values));
  if (!status && !out->values) {
    return leati_node_list_no_memory(list->runtime);
  }
  if (!status && out->input_count != 0) {
    status = ort->Node_GetInputs(node, out->values, out->input_count);
  }
  if (!status && out->count != out->input_count) {
    status = ort->Node_GetImplicitInputs(node, out->values + out->input_count, out->count - out->input_count);
  }
  return status;
}

/* Notes what a node takes as its input `input`, or what a graph inside of it takes. */
static OrtStatus *read_edge(search *self, size_t to, size_t input, const OrtValueInfo *value) {
  const OrtApi *ort = self->list->runtime->ort;
  const bool on_host = takes_on_host(&self->list->nodes[to], input);
  const char *name = NULL;
  bool constant = false;
  OrtStatus *status = value ? ort->GetValueInfoName(value, &name) : NULL;
  if (status || !name || !*name) {
    return status;
  }
  status = ort->ValueInfo_IsConstantInitializer(value, &constant);
  if (status || constant) {
    return status;
  }
  const OrtNode *producer = NULL;
  size_t output = 0;
  int64_t from = -1;
  status = ort->ValueInfo_GetValueProducer(value, &producer, &output);
  if (!status && producer) {
    status = leati_node_list_find(self->list, producer, &from);
  }
  if (status) {
    return status;
  }
  const leati_listed_node *giver = from >= 0 ? &self->list->nodes[from] : NULL;
  const bool given_on_host = giver && gives_on_host(giver, output);
  /* What shape arithmetic gives is taken on the device too, by nodes of its island. */
  const bool joined = given_on_host && (on_host || (giver->on_host && self->list->nodes[to].info));
  if (on_host && !given_on_host) {
    self->nodes[to].wanted = false;
  }
  if (given_on_host && !joined) {
    self->nodes[from].wanted = false;
  }
  if (giver) {
    self->edges[self->edge_count++] =
        (leati_partition_edge){.from = (uint32_t)from, .to = (uint32_t)to, .joined = joined};
  }
  return NULL;
}

/* Whether nothing that a node gives has to leave its island on the host. */
static OrtStatus *gives_inside(const search *self, const leati_listed_node *node, leati_scratch *scratch, bool *out) {
  const OrtApi *ort = self->list->runtime->ort;
  *out = true;
  size_t count = 0;
  OrtStatus *status =
      node->on_host || node->info->host_outputs != 0 ? ort->Node_GetNumOutputs(node->node, &count) : NULL;
  const OrtValueInfo **values = leati_scratch_alloc(scratch, count, sizeof(*values));
  if (!status && !values) {
    return leati_node_list_no_memory(self->list->runtime);
  }
  if (!status && count != 0) {
    status = ort->Node_GetOutputs(node->node, values, count);
  }
  for (size_t i = 0; i < count && !status; i++) {
    bool given_out = false;
    status = values[i] ? ort->ValueInfo_IsGraphOutput(values[i], &given_out) : NULL;
    *out = *out && !given_out && gives_on_host(node, i);
  }
  return status;
}

static OrtStatus *read_node(search *self, size_t index, leati_scratch *scratch) {
  const leati_listed_node *node = &self->list->nodes[index];
  taken inputs = {0};
  OrtStatus *status = read_taken(self->list, node->node, scratch, &inputs);
  for (size_t i = 0; i < inputs.count && !status; i++) {
    /* What graphs inside take is no input of any number. */
    status = read_edge(self, index, i < inputs.input_count ? i : SIZE_MAX, inputs.values[i]);
  }
  bool inside = true;
  if (!status && node->info) {
    status = gives_inside(self, node, scratch, &inside);
  }
  self->nodes[index].wanted = self->nodes[index].wanted && inside;
  return status;
}

static OrtStatus *search_read(search *self, leati_scratch *scratch) {
  const leati_node_list *list = self->list;
  size_t most = 0;
  OrtStatus *status = NULL;
  for (size_t i = 0; i < list->count && !status; i++) {
    taken inputs = {0};
    status = count_taken(list, list->nodes[i].node, &inputs);
    most += inputs.count;
  }
  self->nodes = leati_scratch_alloc(scratch, list->count, sizeof(*self->nodes));
  self->edges = leati_scratch_alloc(scratch, most, sizeof(*self->edges));
  if (!status && (!self->nodes || !self->edges)) {
    status = leati_node_list_no_memory(list->runtime);
  }
  for (size_t i = 0; i < list->count && !status; i++) {
    self->nodes[i].wanted = list->nodes[i].info != NULL;
  }
  for (size_t i = 0; i < list->count && !status; i++) {
    status = read_node(self, i, scratch);
  }
  return status;
}

/* Marks a node and those it is joined to behind it. False: one of them can be in no island, so that it
 * cannot, either. */
static bool mark_sources(const search *self, uint32_t node, bool *marks, size_t *out_count) {
  memset(marks, 0, self->list->count * sizeof(*marks));
  marks[node] = true;
  *out_count = 1;
  for (size_t e = self->edge_count; e-- > 0;) {
    const leati_partition_edge *edge = &self->edges[e];
    if (edge->joined && marks[edge->to] && !marks[edge->from]) {
      if (!self->nodes[edge->from].wanted) {
        return false;
      }
      marks[edge->from] = true;
      ++*out_count;
    }
  }
  return true;
}

/* Tries whether the backend computes what a node takes on the host. */
static OrtStatus *try_sources(search *self, uint32_t node, bool *marks, const OrtNode **members) {
  size_t count = 0;
  bool possible = mark_sources(self, node, marks, &count);
  OrtStatus *status = NULL;
  if (possible && count > 1) {
    leat_error why = {.struct_size = sizeof(why)};
    size_t member = 0;
    for (uint32_t i = 0; i <= node; i++) {
      if (marks[i]) {
        members[member++] = self->list->nodes[i].node;
      }
    }
    status = leati_island_try(self->device, self->registry, self->inputs, members, count, NULL, &possible, &why);
    if (!status && !possible) {
      leati_ort_log(self->list->runtime, self->logger, ORT_LOGGING_LEVEL_VERBOSE,
                    LEATI_PROVIDER_NAME ": a node is in no island: %s", why.message);
    }
  }
  self->nodes[node].wanted = possible;
  return status;
}

/* Leaves out nodes that take something on the host which the backend computes on the device alone. */
static OrtStatus *try_all(search *self, leati_scratch *scratch) {
  const size_t count = self->list->count;
  bool *marks = leati_scratch_alloc(scratch, count, sizeof(*marks));
  const OrtNode **members = leati_scratch_alloc(scratch, count, sizeof(*members));
  if (!marks || !members) {
    return leati_node_list_no_memory(self->list->runtime);
  }
  OrtStatus *status = NULL;
  for (uint32_t i = 0; i < count && !status; i++) {
    if (self->nodes[i].wanted && self->list->nodes[i].info->host_inputs != 0) {
      status = try_sources(self, i, marks, members);
    }
  }
  return status;
}

OrtStatus *leati_islands_find(leati_node_list *list, leati_shared_device *device, const leati_kernel_registry *registry,
                              const leati_model_inputs *inputs, const OrtLogger *logger, uint32_t *out_count) {
  leati_scratch scratch = {0};
  search self = {.list = list, .device = device, .registry = registry, .inputs = inputs, .logger = logger};
  OrtStatus *status = search_read(&self, &scratch);
  if (!status) {
    status = try_all(&self, &scratch);
  }
  *out_count = status ? 0 : leati_partition_find(self.nodes, (uint32_t)list->count, self.edges, self.edge_count);
  for (size_t i = 0; i < list->count && !status; i++) {
    list->nodes[i].island = self.nodes[i].island;
  }
  leati_scratch_clear(&scratch);
  return status;
}
