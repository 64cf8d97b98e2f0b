/* SPDX-License-Identifier: BSD-3-Clause */
#include "model_inputs.h"

#include <string.h>

/* Copies the name, which is gone with the graph before the islands are built for good. */
static OrtStatus *add(leati_model_inputs *inputs, const leati_runtime *runtime, const OrtValueInfo *value) {
  const char *name = NULL;
  OrtStatus *status = runtime->ort->GetValueInfoName(value, &name);
  if (status) {
    return status;
  }
  const size_t size = strlen(name) + 1;
  char *copy = leati_scratch_alloc(&inputs->scratch, size, 1);
  if (!copy) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the inputs of a model");
  }
  inputs->names[inputs->count++] = memcpy(copy, name, size);
  return NULL;
}

OrtStatus *leati_model_inputs_read(leati_model_inputs *inputs, const leati_runtime *runtime, const OrtGraph *graph) {
  const OrtApi *ort = runtime->ort;
  const OrtNode *parent = NULL;
  size_t count = 0;
  leati_model_inputs_clear(inputs);
  OrtStatus *status = ort->Graph_GetParentNode(graph, &parent);
  if (!status && !parent) {
    status = ort->Graph_GetNumInputs(graph, &count);
  }
  if (status || count == 0) {
    return status;
  }
  const OrtValueInfo **values = leati_scratch_alloc(&inputs->scratch, count, sizeof(*values));
  inputs->names = leati_scratch_alloc(&inputs->scratch, count, sizeof(*inputs->names));
  if (!values || !inputs->names) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the inputs of a model");
  }
  status = ort->Graph_GetInputs(graph, values, count);
  for (size_t i = 0; i < count && !status; i++) {
    status = add(inputs, runtime, values[i]);
  }
  return status;
}

bool leati_model_inputs_have(const leati_model_inputs *inputs, const char *name) {
  for (size_t i = 0; i < inputs->count; i++) {
    if (strcmp(inputs->names[i], name) == 0) {
      return true;
    }
  }
  return false;
}

void leati_model_inputs_clear(leati_model_inputs *inputs) {
  leati_scratch_clear(&inputs->scratch);
  *inputs = (leati_model_inputs){0};
}
