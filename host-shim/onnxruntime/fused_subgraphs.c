/* SPDX-License-Identifier: BSD-3-Clause */
#include "fused_subgraphs.h"

#include "bits.h"
#include "control_flow.h"
#include "partition.h"

/* In place of the number of a node: none. */
#define NONE SIZE_MAX

typedef struct search {
  const leati_node_list *list;
  const OrtLogger *logger;
  leati_partition_node *nodes; /* one for each node of the list */
  /* By node: what of all that it is computed from the backend computes on the device alone, the node itself included.
   * NONE: nothing, so that the backend knows on the host what it gives. */
  size_t *obstacles;
  leati_partition_edge *edges; /* one for each input at most */
  size_t edge_count;
} search;

/* Whether a node, in a fused subgraph, gives an output on the host. */
static bool gives_on_host(const leati_listed_node *node, size_t output) {
  return node->info != NULL && (node->on_host || leati_bit(node->info->host_outputs, output));
}

/* Whether a node, in a fused subgraph, takes an input on the host. Of shape arithmetic all operators do, but those that
 * take no more of an input than its shape. */
static bool takes_on_host(const leati_listed_node *node, size_t input) {
  return node->info != NULL &&
         (leati_bit(node->info->host_inputs, input) || (node->on_host && node->info->host_outputs == 0));
}

/* Whether what a node gives on the host, as Shape and Size do, follows from the shapes that it takes alone. What
 * NonZero gives follows from what it takes on the host. */
static bool asks_shapes(const leati_listed_node *node) {
  return node->info != NULL && node->info->host_outputs != 0 && node->info->host_inputs == 0;
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
  if (status == NULL) {
    status = ort->Node_GetNumImplicitInputs(node, &implicit);
  }
  out->count = out->input_count + implicit;
  return status;
}

static OrtStatus *read_taken(const leati_node_list *list, const OrtNode *node, leati_scratch *scratch, taken *out) {
  const OrtApi *ort = list->runtime->ort;
  OrtStatus *status = count_taken(list, node, out);
  out->values = leati_scratch_alloc(scratch, out->count, sizeof(*out->values));
  if (status == NULL && out->values == NULL) {
    return leati_node_list_no_memory(list->runtime);
  }
  if (status == NULL && out->input_count != 0) {
    status = ort->Node_GetInputs(node, out->values, out->input_count);
  }
  if (status == NULL && out->count != out->input_count) {
    status = ort->Node_GetImplicitInputs(node, out->values + out->input_count, out->count - out->input_count);
  }
  return status;
}

/* Leaves a node out that takes something on the host which follows from what the backend computes on the device alone.
 */
static OrtStatus *leave_out(search *self, size_t node, size_t giver, size_t obstacle) {
  const OrtApi *ort = self->list->runtime->ort;
  const OrtNode *const culprit = self->list->nodes[obstacle].node;
  const char *name = NULL, *type = NULL;
  OrtStatus *status = self->nodes[giver].wanted ? ort->Node_GetName(culprit, &name) : NULL;
  if (status == NULL && name != NULL) {
    status = ort->Node_GetOperatorType(culprit, &type);
  }
  if (status == NULL && type != NULL) {
    leati_ort_log(
        self->list->runtime, self->logger, ORT_LOGGING_LEVEL_VERBOSE,
        LEATI_PROVIDER_NAME
        ": a node is in no fused subgraph: node '%s': %s: shapes follow from what it makes, which must be known on "
        "the host; it is computed on the device alone",
        name, type);
  }
  self->nodes[node].wanted = false;
  return status;
}

/* Notes what a node takes as its input `input`, or what a graph inside of it takes. */
static OrtStatus *read_edge(search *self, size_t to, size_t input, const OrtValueInfo *value) {
  const OrtApi *ort = self->list->runtime->ort;
  const bool on_host = takes_on_host(&self->list->nodes[to], input);
  const char *name = NULL;
  bool constant = false;
  OrtStatus *status = value != NULL ? ort->GetValueInfoName(value, &name) : NULL;
  if (status != NULL || name == NULL || *name == '\0') {
    return status;
  }
  status = ort->ValueInfo_IsConstantInitializer(value, &constant);
  if (status != NULL || constant) {
    return status;
  }
  const OrtNode *producer = NULL;
  size_t output = 0;
  int64_t from = -1;
  status = ort->ValueInfo_GetValueProducer(value, &producer, &output);
  if (status == NULL && producer != NULL) {
    status = leati_node_list_find(self->list, producer, &from);
  }
  if (status != NULL) {
    return status;
  }
  const leati_listed_node *giver = from >= 0 ? &self->list->nodes[from] : NULL;
  const bool given_on_host = giver != NULL && gives_on_host(giver, output);
  const bool gives_itself = giver != NULL && asks_shapes(giver) && leati_bit(giver->info->host_outputs, output);
  const size_t obstacle = gives_itself ? NONE : giver != NULL ? self->obstacles[from] : to;
  self->obstacles[to] = self->obstacles[to] == NONE ? obstacle : self->obstacles[to];
  /* What shape arithmetic gives is taken on the device too, by nodes of its fused subgraph. Where no more than its
   * shape is asked for, as by the Size of a Shape, it need not be there. */
  const bool joined = given_on_host && (on_host || (giver->on_host && self->list->nodes[to].info != NULL) ||
                                        asks_shapes(&self->list->nodes[to]));
  if (on_host && !given_on_host) {
    self->nodes[to].wanted = false;
  }
  if (given_on_host && !joined) {
    self->nodes[from].wanted = false;
  }
  const leat_op_info *const info = self->list->nodes[to].info;
  if (given_on_host && obstacle != NONE && info != NULL && leati_bit(info->host_inputs, input)) {
    status = leave_out(self, to, (size_t)from, obstacle);
  }
  if (giver != NULL) {
    self->edges[self->edge_count++] =
        (leati_partition_edge){.from = (uint32_t)from, .to = (uint32_t)to, .joined = joined};
  }
  return status;
}

/* Whether nothing that a node gives has to leave its fused subgraph on the host. */
static OrtStatus *gives_inside(const search *self, const leati_listed_node *node, leati_scratch *scratch, bool *out) {
  const OrtApi *ort = self->list->runtime->ort;
  *out = true;
  size_t count = 0;
  OrtStatus *status =
      node->on_host || node->info->host_outputs != 0 ? ort->Node_GetNumOutputs(node->node, &count) : NULL;
  const OrtValueInfo **values = leati_scratch_alloc(scratch, count, sizeof(*values));
  if (status == NULL && values == NULL) {
    return leati_node_list_no_memory(self->list->runtime);
  }
  if (status == NULL && count != 0) {
    status = ort->Node_GetOutputs(node->node, values, count);
  }
  for (size_t i = 0; i < count && status == NULL; ++i) {
    bool given_out = false;
    status = values[i] != NULL ? ort->ValueInfo_IsGraphOutput(values[i], &given_out) : NULL;
    *out = *out && !given_out && gives_on_host(node, i);
  }
  return status;
}

static OrtStatus *read_node(search *self, size_t index, leati_scratch *scratch) {
  const leati_listed_node *node = &self->list->nodes[index];
  taken inputs = {0};
  OrtStatus *status = read_taken(self->list, node->node, scratch, &inputs);
  self->obstacles[index] = node->evaluated ? NONE : index;
  for (size_t i = 0; i < inputs.count && status == NULL; ++i) {
    /* What graphs inside take is no input of any number. */
    status = read_edge(self, index, i < inputs.input_count ? i : SIZE_MAX, inputs.values[i]);
  }
  bool inside = true;
  if (status == NULL && node->info != NULL) {
    status = gives_inside(self, node, scratch, &inside);
  }
  self->nodes[index].wanted = self->nodes[index].wanted && inside;
  return status;
}

static OrtStatus *search_read(search *self, leati_scratch *scratch) {
  const leati_node_list *list = self->list;
  size_t most = 0;
  OrtStatus *status = NULL;
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    taken inputs = {0};
    status = count_taken(list, list->nodes[i].node, &inputs);
    most += inputs.count;
  }
  self->nodes = leati_scratch_alloc(scratch, list->count, sizeof(*self->nodes));
  self->edges = leati_scratch_alloc(scratch, most, sizeof(*self->edges));
  self->obstacles = leati_scratch_alloc(scratch, list->count, sizeof(*self->obstacles));
  if (status == NULL && (self->nodes == NULL || self->edges == NULL || self->obstacles == NULL)) {
    status = leati_node_list_no_memory(list->runtime);
  }
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    self->nodes[i].wanted = list->nodes[i].info != NULL && !leati_control_flow_is(list->nodes[i].info);
  }
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    status = read_node(self, i, scratch);
  }
  return status;
}

OrtStatus *leati_fused_subgraphs_find(leati_node_list *list, const OrtLogger *logger, uint32_t *out_count) {
  leati_scratch scratch = {0};
  search self = {.list = list, .logger = logger};
  OrtStatus *status = search_read(&self, &scratch);
  *out_count =
      status != NULL ? 0 : leati_partition_find(self.nodes, (uint32_t)list->count, self.edges, self.edge_count);
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    list->nodes[i].subgraph = self.nodes[i].subgraph;
  }
  leati_scratch_clear(&scratch);
  return status;
}
