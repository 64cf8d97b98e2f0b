/* SPDX-License-Identifier: BSD-3-Clause */
#include "shape_arithmetic.h"

#include <string.h>

#include "bits.h"

/* Elements up to which a constant, or an output of known shape, counts as small. A shape has 8 at most, and tables that
 * shapes are looked up in a few hundred. */
#define SMALL_ELEMENTS 512

/* Where an input comes from. */
typedef struct origin {
  bool present;
  bool constant;
  bool small;       /* of a constant: has few elements */
  bool plain;       /* its elements are of a type that is_plain() allows, */
  bool real;        /* which is float32 */
  int64_t producer; /* index of a node, or -1: an input of the graph, or of an outer one */
  size_t output;    /* which output of the producer */
} origin;

/* Where an output goes. */
typedef struct use {
  int64_t consumer; /* index of a node, or -1: one that is not in the graph */
  int64_t input;    /* which input of it, or -1: a graph inside it reads the value */
} use;

typedef struct result {
  bool given_out; /* the graph gives it to its user, or to an outer graph */
  bool condition; /* the graph gives it to the runtime, which reads it on the host */
  bool small;     /* of known shape, with few elements */
  bool plain, real;
  use *uses;
  size_t use_count;
} result;

typedef struct vertex {
  origin *origins;
  size_t origin_count;
  result *results;
  size_t result_count;
  bool computes; /* an operator of shape arithmetic, and a candidate */
  bool grows;
  bool gives_host; /* run on the device, it gives its output to the host, and takes nothing from there */
  bool feeds_host; /* all that it gives is used on the host alone, */
  bool for_shapes; /* and of that no more than shapes, in the end, or the condition */
} vertex;

typedef struct graph {
  const leati_runtime *runtime;
  const leati_node_list *list;
  vertex *vertices; /* one for each node of the list */
  leati_scratch scratch;
} graph;

/* ---- Reading the graph --------------------------------------------------------------------------------------------
 */

/* Element types that shapes are computed in. The host provider of ONNX Runtime has what a graph computes on the host
 * for all of them that the operator's definition allows. */
static bool is_plain(ONNXTensorElementDataType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 ||
         type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
}

/* Reads whether a value has few elements, plain ones, and of these float32. All false when that is not known. */
static void read_type(graph *self, const OrtValueInfo *value, bool *small, bool *plain, bool *real) {
  const OrtApi *ort = self->runtime->ort;
  const OrtTypeInfo *type = NULL;
  const OrtTensorTypeAndShapeInfo *tensor = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  *small = false;
  *plain = false;
  *real = false;
  if (!leati_status_drop(self->runtime, ort->GetValueInfoTypeInfo(value, &type)) || type == NULL ||
      !leati_status_drop(self->runtime, ort->CastTypeInfoToTensorInfo(type, &tensor)) || tensor == NULL ||
      !leati_status_drop(self->runtime, ort->GetTensorElementType(tensor, &element))) {
    return;
  }
  *plain = is_plain(element);
  *real = element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  size_t rank = 0;
  if (!ort->TensorTypeAndShape_HasShape(tensor) ||
      !leati_status_drop(self->runtime, ort->GetDimensionsCount(tensor, &rank))) {
    return;
  }
  int64_t *dims = leati_scratch_alloc(&self->scratch, rank, sizeof(*dims));
  if (dims == NULL || !leati_status_drop(self->runtime, ort->GetDimensions(tensor, dims, rank))) {
    return;
  }
  int64_t elements = 1;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0 || dims[i] > SMALL_ELEMENTS) {
      return;
    }
    elements *= dims[i];
    if (elements > SMALL_ELEMENTS) {
      return;
    }
  }
  *small = true;
}

static OrtStatus *read_origin(graph *self, const OrtValueInfo *value, origin *out) {
  const OrtApi *ort = self->runtime->ort;
  const char *name = NULL;
  *out = (origin){.producer = -1};
  OrtStatus *status = value != NULL ? ort->GetValueInfoName(value, &name) : NULL;
  if (status != NULL || name == NULL || *name == '\0') {
    return status;
  }
  out->present = true;
  read_type(self, value, &out->small, &out->plain, &out->real);
  status = ort->ValueInfo_IsConstantInitializer(value, &out->constant);
  const OrtNode *producer = NULL;
  if (status == NULL && !out->constant) {
    status = ort->ValueInfo_GetValueProducer(value, &producer, &out->output);
  }
  if (status == NULL && producer != NULL) {
    status = leati_node_list_find(self->list, producer, &out->producer);
  }
  return status;
}

static OrtStatus *read_result(graph *self, const OrtValueInfo *value, result *out) {
  const OrtApi *ort = self->runtime->ort;
  const char *name = NULL;
  *out = (result){.plain = true, .small = true};
  OrtStatus *status = value != NULL ? ort->GetValueInfoName(value, &name) : NULL;
  if (status != NULL || name == NULL || *name == '\0') {
    return status;
  }
  read_type(self, value, &out->small, &out->plain, &out->real);
  out->condition = self->list->condition != NULL && strcmp(self->list->condition, name) == 0;
  status = out->condition ? NULL : ort->ValueInfo_IsGraphOutput(value, &out->given_out);
  if (status == NULL) {
    status = ort->ValueInfo_GetValueNumConsumers(value, &out->use_count);
  }
  if (status != NULL || out->use_count == 0) {
    return status;
  }
  const OrtNode **consumers = leati_scratch_alloc(&self->scratch, out->use_count, sizeof(*consumers));
  int64_t *inputs = leati_scratch_alloc(&self->scratch, out->use_count, sizeof(*inputs));
  out->uses = leati_scratch_alloc(&self->scratch, out->use_count, sizeof(*out->uses));
  if (consumers == NULL || inputs == NULL || out->uses == NULL) {
    return leati_node_list_no_memory(self->runtime);
  }
  status = ort->ValueInfo_GetValueConsumers(value, consumers, inputs, out->use_count);
  for (size_t i = 0; i < out->use_count && status == NULL; ++i) {
    out->uses[i].input = inputs[i];
    status = leati_node_list_find(self->list, consumers[i], &out->uses[i].consumer);
  }
  return status;
}

/* Notes what the backend says of the operator, for nodes that could run on the device: a graph computes it on the host,
 * or it gives shapes there by itself. */
static void read_operator(const leati_listed_node *node, vertex *out) {
  if (node->info != NULL) {
    out->gives_host = (node->info->host_outputs & 1) != 0 && node->info->host_inputs == 0;
    out->computes = out->gives_host || (node->info->flags & LEAT_OP_EVALUATED) != 0;
    out->grows = (node->info->flags & LEAT_OP_GROWS) != 0;
  }
}

static OrtStatus *read_vertex(graph *self, const leati_listed_node *node, vertex *out) {
  const OrtApi *ort = self->runtime->ort;
  read_operator(node, out);
  OrtStatus *status = ort->Node_GetNumInputs(node->node, &out->origin_count);
  if (status == NULL) {
    status = ort->Node_GetNumOutputs(node->node, &out->result_count);
  }
  if (status != NULL) {
    return status;
  }
  out->origins = leati_scratch_alloc(&self->scratch, out->origin_count, sizeof(*out->origins));
  out->results = leati_scratch_alloc(&self->scratch, out->result_count, sizeof(*out->results));
  const OrtValueInfo **inputs = leati_scratch_alloc(&self->scratch, out->origin_count, sizeof(*inputs));
  const OrtValueInfo **outputs = leati_scratch_alloc(&self->scratch, out->result_count, sizeof(*outputs));
  if (out->origins == NULL || out->results == NULL || inputs == NULL || outputs == NULL) {
    return leati_node_list_no_memory(self->runtime);
  }
  status = out->origin_count != 0 ? ort->Node_GetInputs(node->node, inputs, out->origin_count) : NULL;
  for (size_t i = 0; i < out->origin_count && status == NULL; ++i) {
    status = read_origin(self, inputs[i], &out->origins[i]);
  }
  if (status == NULL && out->result_count != 0) {
    status = ort->Node_GetOutputs(node->node, outputs, out->result_count);
  }
  for (size_t i = 0; i < out->result_count && status == NULL; ++i) {
    status = read_result(self, outputs[i], &out->results[i]);
  }
  return status;
}

static OrtStatus *read_graph(graph *self) {
  self->vertices = leati_scratch_alloc(&self->scratch, self->list->count, sizeof(*self->vertices));
  OrtStatus *status = self->vertices != NULL ? NULL : leati_node_list_no_memory(self->runtime);
  for (size_t i = 0; i < self->list->count && status == NULL; ++i) {
    status = read_vertex(self, &self->list->nodes[i], &self->vertices[i]);
  }
  return status;
}

/* ---- Deciding -----------------------------------------------------------------------------------------------------
 */

/* Whether a use of a value is on the host, if the nodes known to feed it alone go there. */
static bool used_on_host(const graph *self, const use *where) {
  if (where->consumer < 0) {
    return false;
  }
  const leat_op_info *info = self->list->nodes[where->consumer].info;
  if (info == NULL || where->input < 0) {
    /* A body on the device takes it there. */
    return info == NULL;
  }
  const vertex *consumer = &self->vertices[where->consumer];
  return leati_bit(info->host_inputs, where->input) || (consumer->computes && consumer->feeds_host);
}

static bool feeds_host_alone(const graph *self, const vertex *at) {
  bool used = false;
  for (size_t i = 0; i < at->result_count; ++i) {
    const result *given = &at->results[i];
    if (given->given_out) {
      return false;
    }
    used = used || given->condition;
    for (size_t j = 0; j < given->use_count; ++j) {
      if (!used_on_host(self, &given->uses[j])) {
        return false;
      }
      used = true;
    }
  }
  return used;
}

/* Whether of what a node gives that feeds the host no more than shapes is used, in the end, or the condition: that is
 * of a body, the inputs of which are on the device, and a round that computes it there waits once and not twice. */
static bool is_for_shapes(const graph *self, const vertex *at) {
  for (size_t i = 0; i < at->result_count; ++i) {
    for (size_t j = 0; j < at->results[i].use_count; ++j) {
      const int64_t consumer = at->results[i].uses[j].consumer;
      if (consumer < 0 || !(self->vertices[consumer].gives_host || self->vertices[consumer].for_shapes)) {
        return false;
      }
    }
  }
  return at->feeds_host;
}

/* Whether an input of a node is on the host before it. */
static bool comes_from_host(const graph *self, const vertex *at, const origin *from) {
  if (from->producer < 0) {
    /* A shape is the host's in any case; taken on the device, it does not send its input anywhere that it has not to go
     * for other nodes. */
    return at->feeds_host && !at->gives_host && !at->for_shapes;
  }
  const leati_listed_node *producer = &self->list->nodes[from->producer];
  if (producer->info == NULL) {
    return at->feeds_host;
  }
  return producer->on_host || leati_bit(producer->info->host_outputs, (int64_t)from->output);
}

static bool belongs_on_host(const graph *self, const vertex *at) {
  if (!at->computes) {
    return false;
  }
  /* What constants alone are taken for is folded on the device, unless all of it is used on the host. */
  bool fed = at->feeds_host;
  for (size_t i = 0; i < at->origin_count; ++i) {
    const origin *from = &at->origins[i];
    if (!from->present) {
      continue;
    }
    if (!from->plain || (from->constant ? !from->small && !at->feeds_host : !comes_from_host(self, at, from))) {
      return false;
    }
    fed = fed || !from->constant;
  }
  for (size_t i = 0; i < at->result_count; ++i) {
    if (!at->results[i].plain || (at->grows && !at->feeds_host && !at->results[i].small)) {
      return false;
    }
  }
  return fed;
}

/* Whether the backend takes an operator, with elements of such types, along into a graph and computes it on the host.
 */
static bool is_evaluated(const leati_listed_node *node, const vertex *at) {
  const uint64_t flags = node->info != NULL ? node->info->flags : 0;
  bool is = (flags & LEAT_OP_EVALUATED) != 0, real = false;
  for (size_t i = 0; i < at->origin_count; ++i) {
    is = is && (at->origins[i].plain || !at->origins[i].present);
    real = real || at->origins[i].real;
  }
  for (size_t i = 0; i < at->result_count; ++i) {
    is = is && at->results[i].plain;
    real = real || at->results[i].real;
  }
  return is && (!real || (flags & LEAT_OP_EVALUATED_FLOAT32) != 0);
}

/* Whether a node that stays on the host computes with what Shape and its kind give, or what such nodes give. */
static bool takes_shapes(const graph *self, const vertex *at) {
  for (size_t i = 0; i < at->origin_count; ++i) {
    const int64_t producer = at->origins[i].producer;
    const leati_listed_node *giver = producer >= 0 ? &self->list->nodes[producer] : NULL;
    if (giver != NULL && (giver->of_shapes || (giver->info != NULL &&
                                               leati_bit(giver->info->host_outputs, (int64_t)at->origins[i].output)))) {
      return true;
    }
  }
  return false;
}

/* Whether a node of the device takes what a node on the host gives as a shape, or a node does that computes shapes. */
static bool gives_shapes(const graph *self, const vertex *at) {
  for (size_t i = 0; i < at->result_count; ++i) {
    for (size_t j = 0; j < at->results[i].use_count; ++j) {
      const use *where = &at->results[i].uses[j];
      const leati_listed_node *taker = where->consumer >= 0 ? &self->list->nodes[where->consumer] : NULL;
      if (taker != NULL &&
          (taker->of_shapes || (taker->info != NULL && leati_bit(taker->info->host_inputs, where->input)))) {
        return true;
      }
    }
  }
  return false;
}

/* Sets `of_shapes`, from where shapes are given on, and from where they are taken back. */
static void tell_shapes(const graph *self) {
  leati_listed_node *nodes = self->list->nodes;
  for (size_t i = 0; i < self->list->count; ++i) {
    nodes[i].of_shapes = nodes[i].on_host && takes_shapes(self, &self->vertices[i]);
  }
  for (size_t i = self->list->count; i-- > 0;) {
    nodes[i].of_shapes = nodes[i].of_shapes || (nodes[i].on_host && gives_shapes(self, &self->vertices[i]));
  }
}

OrtStatus *leati_shape_arithmetic_find(leati_node_list *list) {
  graph self = {.runtime = list->runtime, .list = list};
  OrtStatus *status = read_graph(&self);
  if (status == NULL) {
    /* The nodes are in topological order: what a node's answer depends on is known when its turn comes. */
    for (size_t i = list->count; i-- > 0;) {
      self.vertices[i].feeds_host = feeds_host_alone(&self, &self.vertices[i]);
      self.vertices[i].for_shapes = is_for_shapes(&self, &self.vertices[i]);
    }
    for (size_t i = 0; i < list->count; ++i) {
      list->nodes[i].on_host = belongs_on_host(&self, &self.vertices[i]);
      list->nodes[i].evaluated = is_evaluated(&list->nodes[i], &self.vertices[i]);
    }
    tell_shapes(&self);
  }
  leati_scratch_clear(&self.scratch);
  return status;
}
