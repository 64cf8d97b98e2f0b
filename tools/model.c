/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <string.h>

#include "fault.h"

/* Element types in ONNX Runtime's numbers. */
static const struct {
  ONNXTensorElementDataType onnx;
  leati_element element;
} kElements[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, LEATI_FLOAT32},   {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, LEATI_FLOAT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, LEATI_FLOAT16}, {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, LEATI_BFLOAT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, LEATI_INT8},       {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, LEATI_INT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, LEATI_INT32},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, LEATI_INT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, LEATI_UINT8},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, LEATI_UINT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, LEATI_UINT32},   {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, LEATI_UINT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, LEATI_BOOL},
};

static gboolean element_from_onnx(ONNXTensorElementDataType onnx, leati_element *out, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(kElements); ++i) {
    if (kElements[i].onnx == onnx) {
      *out = kElements[i].element;
      return TRUE;
    }
  }
  LEATI_FAULT_SET(error, "has elements of ONNX type %d%s, which leat-run can neither make nor compare", (int)onnx,
                  onnx == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING ? " (string)" : "");
  return FALSE;
}

leati_model *leati_model_new(const char *path, const char *label) {
  leati_model *model = g_new0(leati_model, 1);
  model->path = g_strdup(path);
  model->label = g_strdup(label);
  return model;
}

static void free_slots(leati_slot *slots, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    g_free(slots[i].name);
    for (size_t d = 0; d < slots[i].rank; ++d) {
      g_free(slots[i].symbols[d]);
    }
  }
  g_free(slots);
}

static void free_node(gpointer data) {
  leati_model_node *node = data;
  g_free(node->name);
  g_free(node->op);
  g_free(node->provider);
  g_free(node->reason);
  g_free(node);
}

void leati_model_free(const leati_ort *ort, leati_model *model) {
  if (model == NULL) {
    return;
  }
  for (size_t i = 0; i < model->session_count; ++i) {
    ort->api->ReleaseSession(model->sessions[i]);
  }
  free_slots(model->inputs, model->input_count);
  free_slots(model->outputs, model->output_count);
  g_clear_pointer(&model->nodes, g_ptr_array_unref);
  g_free(model->input_names);
  g_free(model->output_names);
  g_free(model->sessions);
  g_free(model->session_seconds);
  g_free(model->label);
  g_free(model->path);
  g_free(model);
}

static gboolean read_tensor_info(const leati_ort *ort, const OrtTensorTypeAndShapeInfo *info, leati_slot *slot,
                                 GError **error) {
  const OrtApi *api = ort->api;
  ONNXTensorElementDataType onnx = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  if (!leati_ort_ok(ort, api->GetTensorElementType(info, &onnx), error) ||
      !element_from_onnx(onnx, &slot->element, error) ||
      !leati_ort_ok(ort, api->GetDimensionsCount(info, &rank), error)) {
    return FALSE;
  }
  if (rank > LEATI_NDARRAY_RANK_MAX) {
    LEATI_FAULT_SET(error, "has %" G_GSIZE_FORMAT " dimensions, of which leat-run handles %d", rank,
                    LEATI_NDARRAY_RANK_MAX);
    return FALSE;
  }
  const char *symbols[LEATI_NDARRAY_RANK_MAX] = {NULL};
  if (!leati_ort_ok(ort, api->GetDimensions(info, slot->dims, rank), error) ||
      !leati_ort_ok(ort, api->GetSymbolicDimensions(info, symbols, rank), error)) {
    return FALSE;
  }
  slot->has_shape = api->TensorTypeAndShape_HasShape(info);
  slot->rank = rank;
  for (size_t i = 0; i < rank; ++i) {
    slot->symbols[i] = g_strdup(symbols[i] != NULL ? symbols[i] : "");
  }
  return TRUE;
}

/* Reads one input or output; @p type is freed here. */
static gboolean read_slot(const leati_ort *ort, OrtTypeInfo *type, leati_slot *slot, GError **error) {
  const OrtTensorTypeAndShapeInfo *info = NULL;
  gboolean right = leati_ort_ok(ort, ort->api->CastTypeInfoToTensorInfo(type, &info), error);
  if (right && info == NULL) {
    LEATI_FAULT_SET(error, "is a sequence, a map or another thing that is not a tensor, which leat-run cannot handle");
    right = FALSE;
  }
  right = right && read_tensor_info(ort, info, slot, error);
  ort->api->ReleaseTypeInfo(type);
  return right;
}

static gboolean read_slots(const leati_ort *ort, const OrtSession *session, gboolean inputs, leati_slot **out,
                           size_t *out_count, const char ***out_names, GError **error) {
  const OrtApi *api = ort->api;
  OrtAllocator *allocator = NULL;
  size_t count = 0;
  if (!leati_ort_ok(ort, api->GetAllocatorWithDefaultOptions(&allocator), error) ||
      !leati_ort_ok(ort,
                    inputs ? api->SessionGetInputCount(session, &count) : api->SessionGetOutputCount(session, &count),
                    error)) {
    return FALSE;
  }
  *out = g_new0(leati_slot, count + 1);
  *out_names = g_new0(const char *, count + 1);
  *out_count = count;
  for (size_t i = 0; i < count; ++i) {
    leati_slot *slot = &(*out)[i];
    char *name = NULL;
    OrtTypeInfo *type = NULL;
    if (!leati_ort_ok(ort,
                      inputs ? api->SessionGetInputName(session, i, allocator, &name)
                             : api->SessionGetOutputName(session, i, allocator, &name),
                      error)) {
      return FALSE;
    }
    slot->name = g_strdup(name);
    (*out_names)[i] = slot->name;
    allocator->Free(allocator, name);
    if (!leati_ort_ok(
            ort,
            inputs ? api->SessionGetInputTypeInfo(session, i, &type) : api->SessionGetOutputTypeInfo(session, i, &type),
            error) ||
        !read_slot(ort, type, slot, error)) {
      g_prefix_error(error, "%s '%s' ", inputs ? "input" : "output", slot->name);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean leati_model_describe(const leati_ort *ort, const OrtSession *session, leati_model *model, GError **error) {
  if (model->output_names != NULL) {
    return TRUE;
  }
  if (!read_slots(ort, session, TRUE, &model->inputs, &model->input_count, &model->input_names, error) ||
      !read_slots(ort, session, FALSE, &model->outputs, &model->output_count, &model->output_names, error)) {
    g_prefix_error(error, "%s: ", model->path);
    return FALSE;
  }
  return TRUE;
}

gboolean leati_model_add_session(const leati_ort *ort, const leati_session_plan *plan, leati_model *model,
                                 GError **error) {
  const gint64 start = g_get_monotonic_time();
  OrtSession *session = leati_ort_session(ort, model->path, plan, error);
  if (session == NULL) {
    return FALSE;
  }
  const size_t count = model->session_count + 1;
  model->sessions = g_renew(OrtSession *, model->sessions, count);
  model->session_seconds = g_renew(double, model->session_seconds, count);
  model->sessions[count - 1] = session;
  model->session_seconds[count - 1] = (double)(g_get_monotonic_time() - start) * 1e-6;
  model->session_count = count;
  if (!leati_model_describe(ort, session, model, error)) {
    return FALSE;
  }
  if (model->nodes == NULL) {
    model->nodes = leati_model_nodes(ort, session, error);
  }
  return model->nodes != NULL;
}

static gboolean add_node(const leati_ort *ort, const OrtEpAssignedNode *from, const char *provider, guint subgraph,
                         GPtrArray *nodes, GError **error) {
  const char *name = NULL;
  const char *domain = NULL;
  const char *op = NULL;
  if (!leati_ort_ok(ort, ort->api->EpAssignedNode_GetName(from, &name), error) ||
      !leati_ort_ok(ort, ort->api->EpAssignedNode_GetDomain(from, &domain), error) ||
      !leati_ort_ok(ort, ort->api->EpAssignedNode_GetOperatorType(from, &op), error)) {
    return FALSE;
  }
  const gboolean standard = domain == NULL || *domain == '\0' || strcmp(domain, "ai.onnx") == 0;
  leati_model_node *node = g_new0(leati_model_node, 1);
  node->name = g_utf8_make_valid(name, -1);
  node->op = standard ? g_strdup(op) : g_strdup_printf("%s.%s", domain, op);
  node->provider = g_strdup(provider);
  node->reason = leati_ort_refusal(op, name);
  node->subgraph = subgraph;
  g_ptr_array_add(nodes, node);
  return TRUE;
}

GPtrArray *leati_model_nodes(const leati_ort *ort, const OrtSession *session, GError **error) {
  const OrtEpAssignedSubgraph *const *groups = NULL;
  size_t group_count = 0;
  if (!leati_ort_ok(ort, ort->api->Session_GetEpGraphAssignmentInfo(session, &groups, &group_count), error)) {
    return NULL;
  }
  GPtrArray *nodes = g_ptr_array_new_with_free_func(free_node);
  guint subgraphs = 0;
  for (size_t g = 0; g < group_count; ++g) {
    const char *provider = NULL;
    const OrtEpAssignedNode *const *members = NULL;
    size_t count = 0;
    gboolean right = leati_ort_ok(ort, ort->api->EpAssignedSubgraph_GetEpName(groups[g], &provider), error) &&
                     leati_ort_ok(ort, ort->api->EpAssignedSubgraph_GetNodes(groups[g], &members, &count), error);
    subgraphs += right && count > 1;
    for (size_t i = 0; right && i < count; ++i) {
      right = add_node(ort, members[i], provider, count > 1 ? subgraphs : 0, nodes, error);
    }
    if (!right) {
      g_ptr_array_unref(nodes);
      return NULL;
    }
  }
  return nodes;
}

OrtStatus *leati_model_run(const leati_ort *ort, const leati_model *model, OrtSession *session, OrtValue *const *inputs,
                           OrtValue **outputs) {
  memset(outputs, 0, model->output_count * sizeof(*outputs));
  OrtStatus *status = ort->api->Run(session, NULL, model->input_names, (const OrtValue *const *)inputs,
                                    model->input_count, model->output_names, model->output_count, outputs);
  if (status != NULL) {
    leati_values_free(ort, outputs, model->output_count);
  }
  return status;
}

gboolean leati_value_view(const leati_ort *ort, OrtValue *value, leati_ndarray *out, GError **error) {
  const OrtApi *api = ort->api;
  int is_tensor = 0;
  if (value == NULL || !leati_ort_ok(ort, api->IsTensor(value, &is_tensor), error) || is_tensor == 0) {
    if (error != NULL && *error == NULL) {
      LEATI_FAULT_SET(error, "is not a tensor");
    }
    return FALSE;
  }
  OrtTensorTypeAndShapeInfo *info = NULL;
  if (!leati_ort_ok(ort, api->GetTensorTypeAndShape(value, &info), error)) {
    return FALSE;
  }
  leati_slot slot = {0};
  void *data = NULL;
  const gboolean right = read_tensor_info(ort, info, &slot, error) &&
                         leati_ort_ok(ort, api->GetTensorMutableData(value, &data), error) &&
                         leati_ndarray_wrap(slot.element, slot.rank, slot.dims, data, out, error);
  for (size_t i = 0; i < slot.rank; ++i) {
    g_free(slot.symbols[i]);
  }
  api->ReleaseTensorTypeAndShapeInfo(info);
  return right;
}

static ONNXTensorElementDataType element_to_onnx(leati_element element) {
  ONNXTensorElementDataType onnx = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  for (size_t i = 0; i < G_N_ELEMENTS(kElements); ++i) {
    onnx = kElements[i].element == element ? kElements[i].onnx : onnx;
  }
  return onnx;
}

OrtValue *leati_value_copy(const leati_ort *ort, const leati_ndarray *array, GError **error) {
  OrtAllocator *allocator = NULL;
  OrtValue *value = NULL;
  void *data = NULL;
  if (!leati_ort_ok(ort, ort->api->GetAllocatorWithDefaultOptions(&allocator), error) ||
      !leati_ort_ok(ort,
                    ort->api->CreateTensorAsOrtValue(allocator, array->dims, array->rank,
                                                     element_to_onnx(array->element), &value),
                    error)) {
    return NULL;
  }
  if (!leati_ort_ok(ort, ort->api->GetTensorMutableData(value, &data), error)) {
    ort->api->ReleaseValue(value);
    return NULL;
  }
  if (array->bytes != 0) {
    memcpy(data, array->data, array->bytes);
  }
  return value;
}

OrtValue *leati_value_new(const leati_ort *ort, const leati_ndarray *array, GError **error) {
  OrtMemoryInfo *memory = NULL;
  OrtValue *value = NULL;
  if (!leati_ort_ok(ort, ort->api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory), error)) {
    return NULL;
  }
  if (!leati_ort_ok(ort,
                    ort->api->CreateTensorWithDataAsOrtValue(memory, array->data, array->bytes, array->dims,
                                                             array->rank, element_to_onnx(array->element), &value),
                    error)) {
    value = NULL;
  }
  ort->api->ReleaseMemoryInfo(memory);
  return value;
}

void leati_values_free(const leati_ort *ort, OrtValue **values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (values[i] != NULL) {
      ort->api->ReleaseValue(values[i]);
      values[i] = NULL;
    }
  }
}
