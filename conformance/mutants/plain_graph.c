/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain_graph.h"

#include <glib.h>
#include <stdarg.h>
#include <string.h>

/* Constant after leati_plain_graph(). */
static const leat_backend_api *base;
static leati_plain_fault fault;

typedef enum { FROM_NOWHERE, FROM_INPUT, FROM_CONSTANT, FROM_NODE } origin;

/* A value as the description has it. */
typedef struct {
  origin from;
  DLDataType dtype;
  int32_t ndim; /* -1: not known */
  int64_t dims[LEAT_MAX_RANK];
  const void *bytes; /* of a constant */
  uint64_t block;    /* of a constant, on the device */
} value;

typedef struct {
  char *name;
  leat_op_desc desc; /* names, version, attributes and counts */
  uint64_t host_inputs;
  uint32_t *inputs;
  uint32_t *outputs;
} node;

struct leat_graph {
  leat_device *device;
  int32_t device_index;
  uint32_t value_count;
  uint32_t node_count;
  uint32_t input_count;
  uint32_t output_count;
  value *values;
  node *nodes;
  uint32_t *inputs;
  uint32_t *outputs;
  GPtrArray *owned; /* memory of attributes and constants */
  gint launch_count;
  uint64_t *shared;   /* of LEATI_PLAIN_TEMPORARIES_SHARED: a block for each value */
  leat_shape *shapes; /* of LEATI_PLAIN_SHAPES_OF_FIRST_LAUNCH: of each value */
};

/* Graphs of devices that were closed are never destroyed; here they are not lost either. */
static GMutex graphs_lock; /* guards the one below */
static GHashTable *graphs;

static int32_t refuse(leat_error *err, int32_t code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static int32_t refuse(leat_error *err, int32_t code, const char *format, ...) {
  va_list args;
  if (err == NULL) {
    return code;
  }
  va_start(args, format);
  err->code = code;
  err->native_code = 0;
  err->reserved = 0;
  g_vsnprintf(err->message, sizeof(err->message), format, args);
  va_end(args);
  return code;
}

#define INVALID(err, ...) refuse(err, LEAT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* ---- Tensors ---------------------------------------------------------------------------------------------------- */

/* A tensor with room for its shape. */
typedef struct {
  DLTensor tensor;
  int64_t dims[LEAT_MAX_RANK];
} view;

static void view_set(view *out, DLDeviceType type, int32_t device, uint64_t address, DLDataType dtype, int32_t ndim,
                     const int64_t *dims) {
  memset(out, 0, sizeof(*out));
  memcpy(out->dims, dims, (size_t)ndim * sizeof(dims[0]));
  out->tensor = (DLTensor){
      .data = (void *)(uintptr_t)address, .device = {type, device}, .ndim = ndim, .dtype = dtype, .shape = out->dims};
}

/* Bytes from the first to behind the last element, in either direction; false where no number holds them. */
static gboolean reach(const DLTensor *t, uint64_t *out_below, uint64_t *out_above, gboolean *out_compact) {
  uint64_t count = 1;
  uint64_t below = 0;
  uint64_t above = 0;
  gboolean empty = FALSE;
  *out_compact = TRUE;
  for (int32_t d = t->ndim - 1; d >= 0; --d) {
    const uint64_t size = (uint64_t)t->shape[d];
    empty = empty || size == 0;
    if (t->strides != NULL && size > 1) {
      const int64_t stride = t->strides[d];
      const uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
      uint64_t *side = stride < 0 ? &below : &above;
      uint64_t far;
      *out_compact = *out_compact && stride > 0 && step == count;
      if (!g_uint64_checked_mul(&far, step, size - 1) || !g_uint64_checked_add(side, *side, far)) {
        return FALSE;
      }
    }
    if (!g_uint64_checked_mul(&count, count, MAX(size, 1)) || count > INT64_MAX / 16) {
      return FALSE;
    }
  }
  if (t->strides == NULL) {
    above = count - 1;
  }
  if (above > INT64_MAX / 16 || below > INT64_MAX / 16) {
    return FALSE;
  }
  *out_below = empty ? 0 : below * t->dtype.bits / 8;
  *out_above = empty ? 0 : (above + 1) * t->dtype.bits / 8;
  return TRUE;
}

/* Checks a tensor that a launch is given, and gives the bytes that it lies in. */
static int32_t tensor_check(const leat_graph *graph, const DLTensor *t, const char *what, uint32_t number,
                            gboolean reads_memory, uint64_t range[2], gboolean *out_compact, leat_error *err) {
  uint64_t below;
  uint64_t above;
  if (t->ndim < 0 || t->ndim > LEAT_MAX_RANK || (t->ndim > 0 && t->shape == NULL)) {
    return INVALID(err, "%s %u has %d dimensions, or no shape", what, number, t->ndim);
  }
  for (int32_t d = 0; d < t->ndim; ++d) {
    if (t->shape[d] < 0) {
      return INVALID(err, "%s %u has a negative dimension", what, number);
    }
  }
  if (t->dtype.lanes != 1 || t->dtype.bits == 0 || t->dtype.bits % 8 != 0) {
    return refuse(err, LEAT_ERROR_NOT_SUPPORTED, "%s %u has an element type that is not known", what, number);
  }
  if (!reach(t, &below, &above, out_compact)) {
    return INVALID(err, "%s %u is larger than any memory", what, number);
  }
  const gboolean host = t->device.device_type == kDLCPU;
  if (!host && (t->device.device_type != kDLVulkan || t->device.device_id != graph->device_index)) {
    return INVALID(err, "%s %u is neither on the host nor on the graph's device", what, number);
  }
  if (host && !*out_compact) {
    return INVALID(err, "%s %u is on the host and not compact", what, number);
  }
  range[0] = range[1] = 0;
  if (above == 0 || !reads_memory) {
    return LEAT_OK;
  }
  const uint64_t first = (uint64_t)(uintptr_t)t->data + t->byte_offset;
  range[0] = first - below;
  range[1] = first + above;
  if (t->data == NULL || first < t->byte_offset || first < below || range[1] < first) {
    return INVALID(err, "%s %u has no data, or an address that cannot be", what, number);
  }
  if (!host) {
    uint64_t block = 0;
    uint64_t size = 0;
    if (base->memory->find(graph->device, range[0], &block, &size, NULL) != LEAT_OK || range[1] - block > size) {
      return INVALID(err, "%s %u is not inside of a live block", what, number);
    }
  }
  return LEAT_OK;
}

/* ---- Reading a description -------------------------------------------------------------------------------------- */

static int32_t struct_check(const void *given, size_t size, const char *name, uint32_t number, leat_error *err) {
  uint32_t length;
  if (given == NULL) {
    return INVALID(err, "%s %u is NULL", name, number);
  }
  memcpy(&length, given, sizeof(length));
  if (length < size) {
    return INVALID(err, "%s %u has struct_size %u instead of %zu", name, number, length, size);
  }
  for (size_t i = size; i < length; ++i) {
    if (((const char *)given)[i] != 0) {
      return INVALID(err, "%s %u is longer than is known, and not zero there", name, number);
    }
  }
  return LEAT_OK;
}

static gboolean reserved_is_set(uint32_t reserved) {
  return reserved != 0 && fault != LEATI_PLAIN_RESERVED_UNCHECKED;
}

static void *keep(leat_graph *graph, const void *bytes, size_t size) {
  void *copy = g_memdup2(bytes, MAX(size, 1));
  g_ptr_array_add(graph->owned, copy);
  return copy;
}

static int32_t constant_read(leat_graph *graph, value *v, const DLTensor *t, uint32_t number, leat_error *err) {
  uint64_t range[2];
  gboolean compact = TRUE;
  v->from = FROM_CONSTANT;
  int32_t status = tensor_check(graph, t, "the constant of value", number, TRUE, range, &compact, err);
  if (status != LEAT_OK) {
    return status;
  }
  if (fault != LEATI_PLAIN_CONSTANTS_UNCHECKED &&
      (t->device.device_type != kDLCPU || t->ndim != v->ndim || memcmp(&t->dtype, &v->dtype, sizeof(t->dtype)) != 0 ||
       (v->ndim > 0 && memcmp(t->shape, v->dims, (size_t)v->ndim * sizeof(v->dims[0])) != 0))) {
    return INVALID(err, "the constant of value %u is not what the value is said to be", number);
  }
  uint64_t size = v->dtype.bits / 8;
  for (int32_t d = 0; d < v->ndim; ++d) {
    size *= (uint64_t)v->dims[d];
  }
  v->bytes = (const char *)t->data + t->byte_offset;
  if (fault != LEATI_PLAIN_CONSTANTS_BORROWED && size > 0) {
    v->bytes = keep(graph, v->bytes, size);
  }
  return base->memory->alloc(graph->device, size, NULL, &v->block, err);
}

static int32_t value_read(leat_graph *graph, uint32_t number, const leat_value_info *info, leat_error *err) {
  value *v = &graph->values[number];
  int32_t status = struct_check(info, sizeof(*info), "value", number, err);
  if (status != LEAT_OK) {
    return status;
  }
  if (reserved_is_set(info->reserved) || info->ndim < -1 || info->ndim > LEAT_MAX_RANK ||
      (info->ndim > 0 && info->shape == NULL) || (info->dtype.bits != 0 && info->dtype.lanes != 1)) {
    return INVALID(err, "value %u has a reserved field, a rank, a shape or an element type that cannot be", number);
  }
  v->dtype = info->dtype;
  v->ndim = info->ndim;
  for (int32_t d = 0; d < info->ndim; ++d) {
    if (info->shape[d] < -1) {
      return INVALID(err, "value %u has a dimension below -1", number);
    }
    v->dims[d] = info->shape[d];
  }
  return info->value != NULL ? constant_read(graph, v, info->value, number, err) : LEAT_OK;
}

/* Copies a list of values and notes where they come from. */
static int32_t list_read(leat_graph *graph, const uint32_t *list, uint32_t count, const char *what, origin from,
                         uint32_t **out, leat_error *err) {
  if (count > 0 && list == NULL) {
    return INVALID(err, "the list of %s is NULL", what);
  }
  *out = keep(graph, list != NULL ? list : &count, count * sizeof(list[0]));
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == LEAT_GRAPH_NO_VALUE && from != FROM_INPUT) {
      continue;
    }
    if (list[i] >= graph->value_count) {
      return INVALID(err, "%s: there is no value %u", what, list[i]);
    }
    value *v = &graph->values[list[i]];
    if (from == FROM_NOWHERE) {
      if (v->from == FROM_NOWHERE && fault != LEATI_PLAIN_ORDER_UNCHECKED) {
        return INVALID(err, "%s: nothing has made value %u yet", what, list[i]);
      }
    } else {
      if (v->from != FROM_NOWHERE && fault != LEATI_PLAIN_ORDER_UNCHECKED) {
        return INVALID(err, "%s: value %u comes from elsewhere already", what, list[i]);
      }
      if (from == FROM_INPUT && v->dtype.bits == 0) {
        return INVALID(err, "%s: the element type of value %u is not known", what, list[i]);
      }
      v->from = from;
    }
  }
  return LEAT_OK;
}

static const leat_op_info *info_find(const leat_graph_node *n) {
  const char *domain = n->domain != NULL ? n->domain : "";
  uint32_t count = 0;
  base->op->count(&count, NULL);
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    if (base->op->info(i, &info, NULL) == LEAT_OK && strcmp(info->name, n->op) == 0 &&
        strcmp(info->domain, domain) == 0 && n->since_version >= info->since_version_min &&
        n->since_version <= info->since_version_max) {
      return info;
    }
  }
  return NULL;
}

static int32_t attributes_read(leat_graph *graph, node *to, const leat_graph_node *n, leat_error *err) {
  const leat_attribute **list = g_new0(const leat_attribute *, n->attribute_count + 1);
  g_ptr_array_add(graph->owned, list);
  if (n->attribute_count > 0 && n->attributes == NULL) {
    return INVALID(err, "node %s: the list of attributes is NULL", to->name);
  }
  for (uint32_t i = 0; i < n->attribute_count; ++i) {
    int32_t status = struct_check(n->attributes[i], sizeof(**list), "attribute", i, err);
    if (status != LEAT_OK) {
      return status;
    }
    leat_attribute *a = keep(graph, n->attributes[i], sizeof(*a));
    if (a->name == NULL || reserved_is_set(a->reserved)) {
      return INVALID(err, "node %s: an attribute has no name, or its reserved field is set", to->name);
    }
    a->name = keep(graph, a->name, strlen(a->name) + 1);
    if (a->type == LEAT_ATTRIBUTE_INTS && a->ints != NULL) {
      a->ints = keep(graph, a->ints, a->count * sizeof(a->ints[0]));
    }
    if (a->type == LEAT_ATTRIBUTE_FLOATS && a->floats != NULL) {
      a->floats = keep(graph, a->floats, a->count * sizeof(a->floats[0]));
    }
    if (a->type == LEAT_ATTRIBUTE_STRING && a->string != NULL) {
      a->string = keep(graph, a->string, a->count);
    }
    if (a->type > LEAT_ATTRIBUTE_STRING && a->type != LEAT_ATTRIBUTE_INTS && a->type != LEAT_ATTRIBUTE_FLOATS) {
      return refuse(err, LEAT_ERROR_NOT_SUPPORTED, "node %s: attribute %s is of a type that is not copied here",
                    to->name, a->name);
    }
    list[i] = a;
  }
  to->desc.attributes = list;
  return LEAT_OK;
}

static int32_t node_read(leat_graph *graph, uint32_t number, const leat_graph_node *n, leat_error *err) {
  node *to = &graph->nodes[number];
  int32_t status = struct_check(n, sizeof(*n), "node", number, err);
  if (status != LEAT_OK) {
    return status;
  }
  if (n->op == NULL || reserved_is_set(n->reserved)) {
    return INVALID(err, "node %u has no operator, or its reserved field is set", number);
  }
  to->name = g_strdup_printf("%s (%s)", n->name != NULL ? n->name : "without a name", n->op);
  if (fault == LEATI_PLAIN_NODE_UNNAMED) {
    strcpy(to->name, "?");
  }
  g_ptr_array_add(graph->owned, to->name);
  const leat_op_info *info = info_find(n);
  if (info == NULL) {
    return refuse(err, LEAT_ERROR_NOT_SUPPORTED, "node %s: there is no such operator of version %u", to->name,
                  n->since_version);
  }
  if (info->host_outputs != 0) {
    return refuse(err, LEAT_ERROR_NOT_SUPPORTED, "node %s: gives numbers on the host", to->name);
  }
  to->host_inputs = info->host_inputs;
  to->desc = (leat_op_desc){.struct_size = sizeof(to->desc),
                            .since_version = n->since_version,
                            .name = info->name,
                            .domain = info->domain,
                            .attribute_count = n->attribute_count,
                            .input_count = n->input_count,
                            .output_count = n->output_count};
  if ((status = attributes_read(graph, to, n, err)) != LEAT_OK ||
      (status = list_read(graph, n->inputs, n->input_count, "inputs of a node", FROM_NOWHERE, &to->inputs, err)) !=
          LEAT_OK ||
      (status = list_read(graph, n->outputs, n->output_count, "outputs of a node", FROM_NODE, &to->outputs, err)) !=
          LEAT_OK) {
    return status;
  }
  for (uint32_t i = 0; i < n->input_count && i < 64; ++i) {
    if ((to->host_inputs >> i & 1) != 0 && n->inputs[i] != LEAT_GRAPH_NO_VALUE &&
        graph->values[n->inputs[i]].from == FROM_NODE) {
      return refuse(err, LEAT_ERROR_NOT_SUPPORTED, "node %s: takes what another makes on the host", to->name);
    }
  }
  return LEAT_OK;
}

static int32_t outputs_check(const leat_graph *graph, leat_error *err) {
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    if (graph->outputs[i] == LEAT_GRAPH_NO_VALUE || graph->values[graph->outputs[i]].from != FROM_NODE) {
      return INVALID(err, "output %u is made by no node", i);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (graph->outputs[k] == graph->outputs[i]) {
        return INVALID(err, "outputs %u and %u are the same value", k, i);
      }
    }
  }
  return LEAT_OK;
}

static int32_t desc_read(leat_graph *graph, const leat_graph_desc *desc, leat_error *err) {
  int32_t status;
  if (desc->capture_count > 0) {
    return refuse(err, LEAT_ERROR_NOT_SUPPORTED, "the graph is a body");
  }
  if ((desc->value_count > 0 && desc->values == NULL) || (desc->node_count > 0 && desc->nodes == NULL)) {
    return INVALID(err, "the list of values or of nodes is NULL");
  }
  graph->values = g_new0(value, desc->value_count);
  graph->value_count = desc->value_count;
  for (uint32_t i = 0; i < desc->value_count; ++i) {
    if ((status = value_read(graph, i, desc->values[i], err)) != LEAT_OK) {
      return status;
    }
  }
  graph->input_count = desc->input_count;
  if ((status = list_read(graph, desc->inputs, desc->input_count, "inputs", FROM_INPUT, &graph->inputs, err)) !=
      LEAT_OK) {
    return status;
  }
  graph->nodes = g_new0(node, desc->node_count);
  graph->node_count = desc->node_count;
  for (uint32_t i = 0; i < desc->node_count; ++i) {
    if ((status = node_read(graph, i, desc->nodes[i], err)) != LEAT_OK) {
      return status;
    }
  }
  graph->output_count = desc->output_count;
  status = list_read(graph, desc->outputs, desc->output_count, "outputs", FROM_NOWHERE, &graph->outputs, err);
  return status == LEAT_OK ? outputs_check(graph, err) : status;
}

/* ---- One launch ------------------------------------------------------------------------------------------------- */

/* A value while the nodes are gone through. */
typedef struct {
  gboolean on_host;
  gboolean on_device;
  view host;
  view device;
  int64_t strides[LEAT_MAX_RANK];
  uint64_t block; /* that the launch allocated */
} place;

typedef struct {
  const leat_graph *graph;
  place *places;
  leat_op **ops;
} walk;

static void walk_end(walk *w) {
  for (uint32_t i = 0; i < w->graph->node_count; ++i) {
    base->op->destroy(w->ops[i], NULL);
  }
  for (uint32_t i = 0; i < w->graph->value_count; ++i) {
    if (w->places[i].block != 0 && fault != LEATI_PLAIN_TEMPORARIES_KEPT) {
      base->memory->free(w->graph->device, w->places[i].block, NULL);
    }
  }
  g_free(w->places);
  g_free(w->ops);
}

static const DLTensor *place_for(walk *w, const node *n, uint32_t input) {
  if (n->inputs[input] == LEAT_GRAPH_NO_VALUE) {
    return NULL;
  }
  const place *p = &w->places[n->inputs[input]];
  return input < 64 && (n->host_inputs >> input & 1) != 0 ? &p->host.tensor : &p->device.tensor;
}

/* Creates the operator of a node and gives its outputs their shapes. */
static int32_t node_plan(walk *w, uint32_t number, leat_error *err) {
  const leat_graph *graph = w->graph;
  const node *n = &graph->nodes[number];
  const uint32_t outputs = n->desc.output_count;
  leat_value_info *infos = g_new0(leat_value_info, n->desc.input_count + 1);
  const leat_value_info **info_list = g_new0(const leat_value_info *, n->desc.input_count + 1);
  const DLTensor **inputs = g_new0(const DLTensor *, n->desc.input_count + 1);
  leat_shape *shapes = g_new0(leat_shape, outputs + 1);
  leat_shape **shape_list = g_new0(leat_shape *, outputs + 1);
  leat_op_desc desc = n->desc;
  leat_error inner = {.struct_size = sizeof(inner)};
  int32_t status = LEAT_OK;
  desc.inputs = info_list;
  for (uint32_t i = 0; i < desc.input_count && status == LEAT_OK; ++i) {
    const DLTensor *t = inputs[i] = place_for(w, n, i);
    if (t == NULL) {
      continue;
    }
    const place *p = &w->places[n->inputs[i]];
    if (t == &p->host.tensor && !p->on_host) {
      status = INVALID(&inner, "input %u has to be on the host", i);
    }
    infos[i] =
        (leat_value_info){.struct_size = sizeof(infos[i]), .ndim = t->ndim, .dtype = t->dtype, .shape = t->shape};
    if (graph->values[n->inputs[i]].from == FROM_CONSTANT) {
      infos[i].value = &p->host.tensor;
    }
    info_list[i] = &infos[i];
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    shapes[i].struct_size = sizeof(shapes[i]);
    shape_list[i] = n->outputs[i] != LEAT_GRAPH_NO_VALUE ? &shapes[i] : NULL;
  }
  if (status == LEAT_OK) {
    status = base->op->supports(graph->device, &desc, &inner);
  }
  if (status == LEAT_OK) {
    status = base->op->create(graph->device, &desc, &w->ops[number], &inner);
  }
  if (status == LEAT_OK) {
    status = base->op->infer(w->ops[number], desc.input_count, inputs, outputs, shape_list, &inner);
  }
  for (uint32_t i = 0; i < outputs && status == LEAT_OK; ++i) {
    if (shape_list[i] == NULL) {
      continue;
    }
    leat_shape *shape = &shapes[i];
    if (fault == LEATI_PLAIN_SHAPES_OF_FIRST_LAUNCH) {
      leat_shape *first = &graph->shapes[n->outputs[i]];
      if (first->struct_size == 0) {
        *first = *shape;
      }
      shape = first;
    }
    place *p = &w->places[n->outputs[i]];
    view_set(&p->device, kDLVulkan, graph->device_index, 0, shape->dtype, shape->ndim, shape->dims);
    p->on_device = TRUE;
  }
  if (status != LEAT_OK) {
    refuse(err, status, "node %s: %s", n->name, inner.message);
  }
  g_free(shape_list);
  g_free(shapes);
  g_free(inputs);
  g_free(info_list);
  g_free(infos);
  return status;
}

/* Places constants, and inputs as far as they are known: NULL for `inputs` takes the description's shapes. */
static int32_t walk_begin(walk *w, const leat_graph *graph, const DLTensor *const *inputs, leat_error *err) {
  int32_t status = LEAT_OK;
  *w = (walk){
      .graph = graph, .places = g_new0(place, graph->value_count + 1), .ops = g_new0(leat_op *, graph->node_count + 1)};
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    const value *v = &graph->values[i];
    place *p = &w->places[i];
    if (v->from != FROM_CONSTANT) {
      continue;
    }
    p->on_host = p->on_device = TRUE;
    view_set(&p->host, kDLCPU, 0, (uint64_t)(uintptr_t)v->bytes, v->dtype, v->ndim, v->dims);
    view_set(&p->device, kDLVulkan, graph->device_index, v->block, v->dtype, v->ndim, v->dims);
  }
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    const value *v = &graph->values[graph->inputs[i]];
    place *p = &w->places[graph->inputs[i]];
    const DLTensor *t = inputs != NULL ? inputs[i] : NULL;
    view_set(&p->device, kDLVulkan, graph->device_index, 0, v->dtype, t != NULL ? t->ndim : v->ndim,
             t != NULL ? t->shape : v->dims);
    p->on_host = t != NULL && t->device.device_type == kDLCPU;
    p->on_device = !p->on_host;
    if (p->on_host) {
      view_set(&p->host, kDLCPU, 0, (uint64_t)(uintptr_t)t->data + t->byte_offset, t->dtype, t->ndim, t->shape);
    } else if (t != NULL) {
      p->device.tensor.data = t->data;
      p->device.tensor.byte_offset = t->byte_offset;
      if (t->strides != NULL && fault != LEATI_PLAIN_STRIDES_IGNORED) {
        memcpy(p->strides, t->strides, (size_t)t->ndim * sizeof(p->strides[0]));
        p->device.tensor.strides = p->strides;
      }
    }
  }
  for (uint32_t i = 0; i < graph->node_count && status == LEAT_OK; ++i) {
    status = node_plan(w, i, err);
  }
  if (status != LEAT_OK) {
    walk_end(w);
  }
  return status;
}

static int32_t inputs_check(const leat_graph *graph, uint32_t count, const DLTensor *const *inputs, gboolean memory,
                            uint64_t (*ranges)[2], leat_error *err) {
  if (count != graph->input_count || (count > 0 && inputs == NULL)) {
    return INVALID(err, "%u inputs are given, or no list of them; the graph has %u", count, graph->input_count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const value *v = &graph->values[graph->inputs[i]];
    gboolean compact;
    if (inputs[i] == NULL) {
      return INVALID(err, "input %u is NULL", i);
    }
    int32_t status = tensor_check(graph, inputs[i], "input", i, memory, ranges[i], &compact, err);
    if (status != LEAT_OK) {
      return status;
    }
    if (memcmp(&inputs[i]->dtype, &v->dtype, sizeof(v->dtype)) != 0 || (v->ndim >= 0 && v->ndim != inputs[i]->ndim)) {
      return INVALID(err, "input %u has another element type or rank than the graph was built for", i);
    }
    for (int32_t d = 0; d < v->ndim; ++d) {
      if (v->dims[d] >= 0 && v->dims[d] != inputs[i]->shape[d]) {
        return INVALID(err, "input %u has another dimension %d than the graph was built for", i, d);
      }
    }
  }
  return LEAT_OK;
}

static int32_t given_check(const walk *w, uint32_t count, const DLTensor *const *outputs, uint64_t (*ranges)[2],
                           leat_error *err) {
  const leat_graph *graph = w->graph;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t *range = ranges[graph->input_count + i];
    const DLTensor *shape = &w->places[graph->outputs[i]].device.tensor;
    gboolean compact;
    if (outputs[i] == NULL) {
      if (fault == LEATI_PLAIN_UNWANTED_OUTPUTS_REFUSED) {
        return INVALID(err, "output %u is NULL", i);
      }
      continue;
    }
    int32_t status = tensor_check(graph, outputs[i], "output", i, TRUE, range, &compact, err);
    if (status != LEAT_OK) {
      return status;
    }
    if (!compact || outputs[i]->ndim != shape->ndim ||
        memcmp(&outputs[i]->dtype, &shape->dtype, sizeof(shape->dtype)) ||
        (shape->ndim > 0 && memcmp(outputs[i]->shape, shape->shape, (size_t)shape->ndim * sizeof(shape->shape[0])))) {
      return INVALID(err, "output %u has another shape or type than comes out, or is not compact", i);
    }
    for (uint32_t k = 0; k < graph->input_count + i && fault != LEATI_PLAIN_OVERLAP_UNCHECKED; ++k) {
      if (range[0] < ranges[k][1] && ranges[k][0] < range[1]) {
        return INVALID(err, "output %u lies over an input or another output", i);
      }
    }
  }
  return LEAT_OK;
}

static uint64_t tensor_size(const DLTensor *t) {
  uint64_t size = t->dtype.bits / 8;
  for (int32_t d = 0; d < t->ndim; ++d) {
    size *= (uint64_t)t->shape[d];
  }
  return size;
}

/* Gives each value that has no memory on the device some: the caller's if it is an output there. */
static int32_t places_fill(walk *w, leat_stream *stream, const DLTensor *const *outputs, leat_error *err) {
  const leat_graph *graph = w->graph;
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    if (outputs[i] != NULL && outputs[i]->device.device_type != kDLCPU) {
      DLTensor *to = &w->places[graph->outputs[i]].device.tensor;
      to->data = outputs[i]->data;
      to->byte_offset = outputs[i]->byte_offset;
    }
  }
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    place *p = &w->places[i];
    DLTensor *t = &p->device.tensor;
    const origin from = graph->values[i].from;
    if (t->data != NULL || from == FROM_NOWHERE || from == FROM_CONSTANT || (from == FROM_INPUT && !p->on_host) ||
        (from == FROM_NODE && !p->on_device)) {
      continue;
    }
    uint64_t *block = fault == LEATI_PLAIN_TEMPORARIES_SHARED ? &graph->shared[i] : &p->block;
    int32_t status = *block != 0 ? LEAT_OK : base->memory->alloc(graph->device, tensor_size(t), stream, block, err);
    if (status != LEAT_OK) {
      return status;
    }
    t->data = (void *)(uintptr_t)*block;
    if (from == FROM_INPUT && (status = base->memory->copy(stream, &p->host.tensor, t, err)) != LEAT_OK) {
      return status;
    }
  }
  return LEAT_OK;
}

static int32_t node_invoke(walk *w, uint32_t number, leat_stream *stream, leat_error *err) {
  const node *n = &w->graph->nodes[number];
  const DLTensor **inputs = g_new0(const DLTensor *, n->desc.input_count + 1);
  const DLTensor **outputs = g_new0(const DLTensor *, n->desc.output_count + 1);
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    inputs[i] = place_for(w, n, i);
  }
  for (uint32_t i = 0; i < n->desc.output_count; ++i) {
    outputs[i] = n->outputs[i] != LEAT_GRAPH_NO_VALUE ? &w->places[n->outputs[i]].device.tensor : NULL;
  }
  const uint32_t last = n->desc.input_count - 1;
  if (fault == LEATI_PLAIN_PARTS_SWAPPED && strcmp(n->desc.name, "Concat") == 0) {
    const DLTensor *first = inputs[0];
    inputs[0] = inputs[last];
    inputs[last] = first;
  }
  int32_t status =
      base->op->invoke(w->ops[number], stream, n->desc.input_count, inputs, n->desc.output_count, outputs, err);
  if (fault == LEATI_PLAIN_TRANSPOSES_DROPPED && strcmp(n->desc.name, "Transpose") == 0 && status == LEAT_OK) {
    DLTensor same = *inputs[0];
    same.ndim = outputs[0]->ndim;
    same.shape = outputs[0]->shape;
    same.strides = NULL;
    status = base->memory->copy(stream, &same, outputs[0], err);
  }
  g_free(outputs);
  g_free(inputs);
  return status;
}

/* Whether one of the node's outputs is one that the launch is to give. */
static gboolean is_wanted(const leat_graph *graph, uint32_t number, const DLTensor *const *outputs) {
  for (uint32_t i = 0; i < graph->nodes[number].desc.output_count; ++i) {
    for (uint32_t k = 0; k < graph->output_count; ++k) {
      if (outputs[k] != NULL && graph->outputs[k] == graph->nodes[number].outputs[i]) {
        return TRUE;
      }
    }
  }
  return FALSE;
}

static int32_t walk_run(walk *w, leat_stream *stream, const DLTensor *const *outputs, leat_error *err) {
  const leat_graph *graph = w->graph;
  const uint32_t last = graph->node_count - 1;
  int32_t status = places_fill(w, stream, outputs, err);
  for (uint32_t i = 0; i < graph->node_count && status == LEAT_OK; ++i) {
    if ((fault != LEATI_PLAIN_LAST_NODE_DROPPED || i < last) &&
        (fault != LEATI_PLAIN_UNWANTED_NODES_DROPPED || is_wanted(graph, i, outputs))) {
      status = node_invoke(w, fault == LEATI_PLAIN_NODES_REVERSED ? last - i : i, stream, err);
    }
  }
  leat_stream *early = NULL;
  if (fault == LEATI_PLAIN_DOWNLOAD_TOO_EARLY) {
    base->stream->create(graph->device, 0, &early, NULL);
  }
  for (uint32_t i = 0; i < graph->output_count && status == LEAT_OK; ++i) {
    if (outputs[i] != NULL && outputs[i]->device.device_type == kDLCPU) {
      status = base->memory->copy(early != NULL ? early : stream, &w->places[graph->outputs[i]].device.tensor,
                                  outputs[i], err);
    }
  }
  if (early != NULL) {
    base->stream->synchronize(early, NULL);
    base->stream->destroy(early, NULL);
  }
  return status;
}

/* The right plugin knows whether this is a child of fork(), where each of its calls says so. */
static int32_t enter(leat_error *err) {
  uint32_t count;
  return base->op->count(&count, err);
}

/* ---- The table -------------------------------------------------------------------------------------------------- */

static int32_t graph_destroy(leat_graph *graph, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK || graph == NULL) {
    return status;
  }
  g_mutex_lock(&graphs_lock);
  g_hash_table_remove(graphs, graph);
  g_mutex_unlock(&graphs_lock);
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    base->memory->free(graph->device, graph->values[i].block, NULL);
    base->memory->free(graph->device, graph->shared[i], NULL);
  }
  g_free(graph->values);
  g_free(graph->shared);
  g_free(graph->shapes);
  g_free(graph->nodes);
  g_ptr_array_unref(graph->owned);
  g_free(graph);
  return LEAT_OK;
}

/* The device's number is told to nobody, but opening it again gives the same device. */
static int32_t device_number(leat_device *device, int32_t *out, leat_error *err) {
  uint32_t count = 0;
  base->device->count(&count, NULL);
  for (uint32_t i = 0; i < count; ++i) {
    leat_device *same = NULL;
    const int32_t status = base->device->open(i, &same, err);
    base->device->close(same, NULL);
    *out = (int32_t)i;
    if (status == LEAT_OK && same == device) {
      return LEAT_OK;
    }
  }
  return INVALID(err, "device is not an open device");
}

static int32_t constants_upload(const leat_graph *graph, leat_error *err) {
  leat_stream *stream = NULL;
  int32_t status = base->stream->create(graph->device, 0, &stream, err);
  for (uint32_t i = 0; i < graph->value_count && status == LEAT_OK; ++i) {
    const value *v = &graph->values[i];
    view from;
    view to;
    if (v->from != FROM_CONSTANT) {
      continue;
    }
    view_set(&from, kDLCPU, 0, (uint64_t)(uintptr_t)v->bytes, v->dtype, v->ndim, v->dims);
    view_set(&to, kDLVulkan, graph->device_index, v->block, v->dtype, v->ndim, v->dims);
    if (tensor_size(&from.tensor) > 0) {
      status = base->memory->copy(stream, &from.tensor, &to.tensor, err);
    }
  }
  if (status == LEAT_OK) {
    status = base->stream->synchronize(stream, err);
  }
  base->stream->destroy(stream, NULL);
  return status;
}

/* Whether all that decides shapes is in the description. */
static gboolean shapes_are_known(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    const value *v = &graph->values[graph->inputs[i]];
    if (v->ndim < 0) {
      return FALSE;
    }
    for (int32_t d = 0; d < v->ndim; ++d) {
      if (v->dims[d] < 0) {
        return FALSE;
      }
    }
  }
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    const node *n = &graph->nodes[i];
    for (uint32_t k = 0; k < n->desc.input_count && k < 64; ++k) {
      if ((n->host_inputs >> k & 1) != 0 && n->inputs[k] != LEAT_GRAPH_NO_VALUE &&
          graph->values[n->inputs[k]].from != FROM_CONSTANT) {
        return FALSE;
      }
    }
  }
  return TRUE;
}

static int32_t graph_build(leat_device *device, const leat_graph_desc *desc, leat_graph **out, leat_error *err) {
  int32_t number = 0;
  walk w;
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (device == NULL || out == NULL) {
    return INVALID(err, "device or out is NULL");
  }
  status = struct_check(desc, sizeof(*desc), "description", 0, err);
  if (status != LEAT_OK || (status = device_number(device, &number, err)) != LEAT_OK) {
    return status;
  }
  leat_graph *graph = g_new0(leat_graph, 1);
  graph->device = device;
  graph->device_index = number;
  graph->owned = g_ptr_array_new_with_free_func(g_free);
  graph->shared = g_new0(uint64_t, desc->value_count + 1);
  graph->shapes = g_new0(leat_shape, desc->value_count + 1);
  g_mutex_lock(&graphs_lock);
  if (graphs == NULL) {
    graphs = g_hash_table_new(NULL, NULL);
  }
  g_hash_table_add(graphs, graph);
  g_mutex_unlock(&graphs_lock);
  status = desc_read(graph, desc, err);
  if (status == LEAT_OK) {
    status = constants_upload(graph, err);
  }
  if (status == LEAT_OK && shapes_are_known(graph)) {
    status = walk_begin(&w, graph, NULL, err);
    if (status == LEAT_OK) {
      walk_end(&w);
    }
  }
  if (status == LEAT_OK) {
    *out = graph;
  } else {
    graph_destroy(graph, NULL);
  }
  return status;
}

static int32_t graph_infer(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, leat_shape *const *out, leat_error *err) {
  walk w;
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (graph == NULL) {
    return INVALID(err, "graph is NULL");
  }
  uint64_t(*ranges)[2] = g_malloc0_n(graph->input_count + 1, sizeof(*ranges));
  status = inputs_check(graph, input_count, inputs, FALSE, ranges, err);
  g_free(ranges);
  if (status != LEAT_OK) {
    return status;
  }
  if (output_count != graph->output_count || (output_count > 0 && out == NULL)) {
    return INVALID(err, "%u outputs are asked for, or no list of them; the graph has %u", output_count,
                   graph->output_count);
  }
  for (uint32_t i = 0; i < output_count && status == LEAT_OK; ++i) {
    status = out[i] != NULL ? struct_check(out[i], sizeof(*out[i]), "shape", i, err) : LEAT_OK;
  }
  if (status != LEAT_OK || (status = walk_begin(&w, graph, inputs, err)) != LEAT_OK) {
    return status;
  }
  for (uint32_t i = 0; i < output_count; ++i) {
    const DLTensor *t = &w.places[graph->outputs[i]].device.tensor;
    if (out[i] == NULL) {
      continue;
    }
    *out[i] = (leat_shape){.struct_size = out[i]->struct_size, .ndim = t->ndim, .dtype = t->dtype};
    memcpy(out[i]->dims, t->shape, (size_t)t->ndim * sizeof(t->shape[0]));
  }
  walk_end(&w);
  return LEAT_OK;
}

/* What is known to go wrong does so before anything is in the stream. */
static int32_t graph_launch(const leat_graph *graph, leat_stream *stream, uint32_t input_count,
                            const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                            leat_error *err) {
  leat_stream *other = NULL;
  walk w;
  if (graph == NULL) {
    return INVALID(err, "graph is NULL");
  }
  if (output_count != graph->output_count || (output_count > 0 && outputs == NULL)) {
    return INVALID(err, "%u outputs are given, or no list of them; the graph has %u", output_count,
                   graph->output_count);
  }
  int32_t status = base->stream->error(stream, err);
  if (status != LEAT_OK) {
    return status;
  }
  uint64_t(*ranges)[2] = g_malloc0_n(graph->input_count + graph->output_count + 1, sizeof(*ranges));
  status = inputs_check(graph, input_count, inputs, TRUE, ranges, err);
  if (status == LEAT_OK && (status = walk_begin(&w, graph, inputs, err)) == LEAT_OK) {
    status = given_check(&w, output_count, outputs, ranges, err);
    if (status != LEAT_OK && fault == LEATI_PLAIN_REFUSED_TOO_LATE && outputs[0] != NULL) {
      base->memory->copy(stream, inputs[0], outputs[0], NULL);
    }
    if (status == LEAT_OK && fault == LEATI_PLAIN_STREAM_IGNORED) {
      status = base->stream->create(graph->device, 0, &other, err);
    }
    if (status == LEAT_OK && fault == LEATI_PLAIN_CONSTANTS_BORROWED) {
      status = constants_upload(graph, err);
    }
    if (status == LEAT_OK) {
      status = walk_run(&w, other != NULL ? other : stream, outputs, err);
    }
    walk_end(&w);
    base->stream->destroy(other, NULL);
  }
  g_free(ranges);
  if (status == LEAT_OK) {
    g_atomic_int_inc((gint *)(uintptr_t)&graph->launch_count);
  }
  return status;
}

static int32_t graph_info(const leat_graph *graph, leat_graph_info *out, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (graph == NULL) {
    return INVALID(err, "graph is NULL");
  }
  status = struct_check(out, sizeof(*out), "info", 0, err);
  if (status != LEAT_OK) {
    return status;
  }
  *out = (leat_graph_info){.struct_size = out->struct_size,
                           .node_count = graph->node_count,
                           .dispatch_count = graph->node_count,
                           .level_count = graph->node_count,
                           .launch_count = (uint64_t)g_atomic_int_get(&graph->launch_count)};
  return LEAT_OK;
}

static int32_t graph_fusions(const leat_graph *graph, uint32_t *inout_count, leat_graph_fusion *out, leat_error *err) {
  (void)out;
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (graph == NULL || inout_count == NULL) {
    return INVALID(err, "graph or inout_count is NULL");
  }
  *inout_count = 0;
  return LEAT_OK;
}

const leat_graph_api *leati_plain_graph(const leat_backend_api *tables, leati_plain_fault wrong) {
  static const leat_graph_api table = {.struct_size = sizeof(table),
                                       .build = graph_build,
                                       .destroy = graph_destroy,
                                       .infer = graph_infer,
                                       .launch = graph_launch,
                                       .info = graph_info,
                                       .fusions = graph_fusions};
  base = tables;
  fault = wrong;
  return &table;
}
