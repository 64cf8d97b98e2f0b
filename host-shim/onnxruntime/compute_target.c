/* SPDX-License-Identifier: BSD-3-Clause */
#include "compute_target.h"

#include <stdlib.h>

#include "bits.h"
#include "call_stream.h"
#include "ep_gate.h"
#include "scratch.h"
#include "value_view.h"

/* Inputs, and outputs, up to which a call takes its tensors from the stack. Nodes with more (a wide Concat) pay for an
 * allocation per call. */
#define STACK_TENSORS 16u

/* Room for one call's tensors. */
typedef struct call {
  DLTensor *inputs;
  DLTensor *outputs;
  const DLTensor **input_views;
  const DLTensor **output_views;
  leat_shape *shapes; /* of outputs */
  leat_shape **wanted_shapes;
} call;

static OrtStatus *input_view(const leati_compute_target *self, OrtKernelContext *context, uint32_t index, call *here) {
  const OrtApi *ort = self->runtime->ort;
  const DLDevice device = leati_bit(self->host_inputs, index)
                              ? (DLDevice){kDLCPU, 0}
                              : (DLDevice){kDLVulkan, (int32_t)self->device->info.index};
  const OrtValue *value = NULL;
  bool known = true;
  here->input_views[index] = NULL;
  OrtStatus *status = ort->KernelContext_GetInput(context, index, &value);
  if (status != NULL || value == NULL) {
    return status;
  }
  status = leati_view_ort_value(ort, value, device, &here->inputs[index], &known);
  if (status == NULL && !known) {
    status = leati_status(self->runtime, ORT_NOT_IMPLEMENTED, "input %u has elements that Leat does not know", index);
  }
  here->input_views[index] = &here->inputs[index];
  return status;
}

static bool is_empty(const leat_shape *shape) {
  for (int32_t i = 0; i < shape->ndim; ++i) {
    if (shape->dims[i] == 0) {
      return true;
    }
  }
  return false;
}

/* Has ONNX Runtime allocate an output of a shape, which must outlive the view. */
static OrtStatus *output_view(const leati_compute_target *self, OrtKernelContext *context, uint32_t index,
                              const leat_shape *shape, call *here) {
  const OrtApi *ort = self->runtime->ort;
  here->output_views[index] = NULL;
  if (!self->wanted[index]) {
    return NULL;
  }
  OrtValue *value = NULL;
  void *data = NULL;
  OrtStatus *status = ort->KernelContext_GetOutput(context, index, shape->dims, (size_t)shape->ndim, &value);
  if (status == NULL && value != NULL) {
    status = ort->GetTensorMutableData(value, &data);
  }
  if (status != NULL || value == NULL) {
    return status;
  }
  if (data == NULL && !is_empty(shape)) {
    return leati_status(self->runtime, ORT_FAIL, "output %u could not be allocated", index);
  }
  DLTensor *view = &here->outputs[index];
  *view = (DLTensor){
      .data = data,
      .device = leati_bit(self->host_outputs, index) ? (DLDevice){kDLCPU, 0}
                                                     : (DLDevice){kDLVulkan, (int32_t)self->device->info.index},
      .ndim = shape->ndim,
      .dtype = shape->dtype,
      .shape = (int64_t *)(uintptr_t)shape->dims,
  };
  here->output_views[index] = view;
  return NULL;
}

/* Has the backend infer the shapes of the outputs, for inputs that no case is kept for. */
static OrtStatus *infer(leati_compute_target *self, call *here) {
  for (uint32_t i = 0; i < self->output_count; ++i) {
    here->shapes[i] = (leat_shape){.struct_size = sizeof(leat_shape)};
    here->wanted_shapes[i] = self->wanted[i] ? &here->shapes[i] : NULL;
  }
  const leat_backend_api *leat = self->runtime->leat;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = self->op != NULL ? leat->op->infer(self->op, self->input_count, here->input_views, self->output_count,
                                                    here->wanted_shapes, &error)
                                  : leat->graph->infer(self->graph, self->input_count, here->input_views,
                                                       self->output_count, here->wanted_shapes, &error);
  if (code == LEAT_OK) {
    leati_shape_cache_add(&self->shapes, self->input_count, here->input_views, self->output_count, here->shapes);
  }
  return leati_status_from(self->runtime, code, &error, "shapes");
}

static OrtStatus *compute_on(leati_compute_target *self, OrtKernelContext *context, leat_stream *stream, call *here) {
  for (uint32_t i = 0; i < self->input_count; ++i) {
    OrtStatus *status = input_view(self, context, i, here);
    if (status != NULL) {
      return status;
    }
  }
  if (!leati_shape_cache_find(&self->shapes, self->input_count, here->input_views, self->output_count, here->shapes)) {
    OrtStatus *status = infer(self, here);
    if (status != NULL) {
      return status;
    }
  }
  for (uint32_t i = 0; i < self->output_count; ++i) {
    OrtStatus *status = output_view(self, context, i, &here->shapes[i], here);
    if (status != NULL) {
      return status;
    }
  }
  const leat_backend_api *leat = self->runtime->leat;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = self->op != NULL ? leat->op->invoke(self->op, stream, self->input_count, here->input_views,
                                                     self->output_count, here->output_views, &error)
                                  : leat->graph->launch(self->graph, stream, self->input_count, here->input_views,
                                                        self->output_count, here->output_views, &error);
  return code == LEAT_OK ? NULL : leati_status_from(self->runtime, code, &error, "running");
}

static OrtStatus *compute(leati_compute_target *self, OrtKernelContext *context, leat_stream *stream) {
  if (self->input_count <= STACK_TENSORS && self->output_count <= STACK_TENSORS) {
    /* Left as they are: what is used is written first. */
    DLTensor inputs[STACK_TENSORS];
    DLTensor outputs[STACK_TENSORS];
    const DLTensor *input_views[STACK_TENSORS];
    const DLTensor *output_views[STACK_TENSORS];
    leat_shape shapes[STACK_TENSORS];
    leat_shape *wanted_shapes[STACK_TENSORS];
    return compute_on(self, context, stream,
                      &(call){inputs, outputs, input_views, output_views, shapes, wanted_shapes});
  }
  leati_scratch scratch = {0};
  call here = {
      .inputs = leati_scratch_alloc(&scratch, self->input_count, sizeof(*here.inputs)),
      .outputs = leati_scratch_alloc(&scratch, self->output_count, sizeof(*here.outputs)),
      .input_views = leati_scratch_alloc(&scratch, self->input_count, sizeof(*here.input_views)),
      .output_views = leati_scratch_alloc(&scratch, self->output_count, sizeof(*here.output_views)),
      .shapes = leati_scratch_alloc(&scratch, self->output_count, sizeof(*here.shapes)),
      .wanted_shapes = leati_scratch_alloc(&scratch, self->output_count, sizeof(*here.wanted_shapes)),
  };
  OrtStatus *status = here.inputs != NULL && here.outputs != NULL && here.input_views != NULL &&
                              here.output_views != NULL && here.shapes != NULL && here.wanted_shapes != NULL
                          ? compute_on(self, context, stream, &here)
                          : leati_status(self->runtime, ORT_FAIL, "out of memory for its arguments");
  leati_scratch_clear(&scratch);
  return status;
}

OrtStatus *leati_compute_target_run(leati_compute_target *target, OrtKernelContext *context) {
  OrtStatus *status = leati_ep_gate_enter_or_fail(target->runtime, target->label);
  if (status != NULL) {
    return status;
  }
  leati_call_stream where = {0};
  status = leati_call_stream_find(target->device, context, &where);
  if (status == NULL) {
    status = compute(target, context, where.handle);
  }
  status = leati_call_stream_leave(target->device, &where, target->label, status);
  leati_ep_gate_leave();
  return status;
}

void leati_compute_target_clear(leati_compute_target *target) {
  const leat_backend_api *leat = target->runtime->leat;
  if (target->op != NULL) {
    leat->op->destroy(target->op, NULL);
  }
  if (target->graph != NULL) {
    leat->graph->destroy(target->graph, NULL);
  }
  leati_shape_cache_clear(&target->shapes);
  free(target->wanted);
  free(target->label);
}
