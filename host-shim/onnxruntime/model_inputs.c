/* SPDX-License-Identifier: BSD-3-Clause */
#include "model_inputs.h"

#include <stdio.h>
#include <string.h>

#include "element_type.h"

static OrtStatus *no_memory(const leati_runtime *runtime) {
  return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the inputs of a model");
}

/* Copies a name, which is gone with the graph before the fused subgraphs are built for good; NULL: out of memory. */
static const char *copy_name(leati_scratch *scratch, const char *name) {
  const size_t size = strlen(name) + 1;
  char *copy = leati_scratch_alloc(scratch, size, 1);
  return copy != NULL ? memcpy(copy, name, size) : NULL;
}

/* The name of an open dimension; NULL: out of memory. */
static const char *name_symbol(leati_scratch *scratch, const char *symbol, const char *value, size_t axis) {
  if (symbol != NULL && *symbol != '\0') {
    return copy_name(scratch, symbol);
  }
  const size_t size = strlen(value) + 24;
  char *name = leati_scratch_alloc(scratch, size, 1);
  if (name != NULL) {
    snprintf(name, size, "%s[%zu]", value, axis);
  }
  return name;
}

/* The tensor that a value is declared as; NULL: it is none that Leat knows, or has no rank. */
static const OrtTensorTypeAndShapeInfo *tensor_of(const leati_runtime *runtime, const OrtValueInfo *value,
                                                  DLDataType *out) {
  const OrtApi *ort = runtime->ort;
  const OrtTypeInfo *type = NULL;
  const OrtTensorTypeAndShapeInfo *tensor = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const bool known = leati_status_drop(runtime, ort->GetValueInfoTypeInfo(value, &type)) && type != NULL &&
                     leati_status_drop(runtime, ort->CastTypeInfoToTensorInfo(type, &tensor)) && tensor != NULL &&
                     leati_status_drop(runtime, ort->GetTensorElementType(tensor, &element)) &&
                     leati_element_type_to_dlpack(element, out) && ort->TensorTypeAndShape_HasShape(tensor);
  return known ? tensor : NULL;
}

OrtStatus *leati_declared_value_read(const leati_runtime *runtime, leati_scratch *scratch, const OrtValueInfo *value,
                                     leati_declared_value *out) {
  const OrtApi *ort = runtime->ort;
  const char *name = NULL;
  size_t rank = 0;
  *out = (leati_declared_value){.ndim = -1};
  OrtStatus *status = ort->GetValueInfoName(value, &name);
  if (status != NULL) {
    return status;
  }
  out->name = copy_name(scratch, name);
  if (out->name == NULL) {
    return no_memory(runtime);
  }
  const OrtTensorTypeAndShapeInfo *tensor = tensor_of(runtime, value, &out->dtype);
  if (tensor == NULL || !leati_status_drop(runtime, ort->GetDimensionsCount(tensor, &rank)) || rank > LEAT_MAX_RANK) {
    return NULL;
  }
  const char *symbols[LEAT_MAX_RANK] = {NULL};
  status = ort->GetDimensions(tensor, out->dims, rank);
  if (status == NULL) {
    status = ort->GetSymbolicDimensions(tensor, symbols, rank);
  }
  for (size_t axis = 0; axis < rank && status == NULL; ++axis) {
    if (out->dims[axis] < 0) {
      out->dims[axis] = -1;
      out->symbols[axis] = name_symbol(scratch, symbols[axis], out->name, axis);
      status = out->symbols[axis] != NULL ? NULL : no_memory(runtime);
    }
  }
  out->ndim = status != NULL ? -1 : (int32_t)rank;
  return status;
}

OrtStatus *leati_model_inputs_read(leati_model_inputs *inputs, const leati_runtime *runtime, const OrtGraph *graph) {
  const OrtApi *ort = runtime->ort;
  const OrtNode *parent = NULL;
  size_t count = 0;
  leati_model_inputs_clear(inputs);
  OrtStatus *status = ort->Graph_GetParentNode(graph, &parent);
  if (status == NULL && parent == NULL) {
    status = ort->Graph_GetNumInputs(graph, &count);
  }
  if (status != NULL || count == 0) {
    return status;
  }
  const OrtValueInfo **values = leati_scratch_alloc(&inputs->scratch, count, sizeof(*values));
  inputs->values = leati_scratch_alloc(&inputs->scratch, count, sizeof(*inputs->values));
  if (values == NULL || inputs->values == NULL) {
    return no_memory(runtime);
  }
  status = ort->Graph_GetInputs(graph, values, count);
  for (size_t i = 0; i < count && status == NULL; ++i) {
    status = leati_declared_value_read(runtime, &inputs->scratch, values[i], &inputs->values[i]);
    inputs->count += status == NULL;
  }
  return status;
}

bool leati_model_inputs_have(const leati_model_inputs *inputs, const char *name) {
  for (size_t i = 0; i < inputs->count; ++i) {
    if (strcmp(inputs->values[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

void leati_model_inputs_clear(leati_model_inputs *inputs) {
  leati_scratch_clear(&inputs->scratch);
  *inputs = (leati_model_inputs){0};
}
