/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description.h"
#include "device.h"
#include "element.h"
#include "gate.h"
#include "memory.h"
#include "run.h"
#include "shape_cache.h"
#include "transfer.h"

/* Inputs, and outputs, up to which a call takes its tensors from the stack. Nodes with more (a wide Concat) pay for an
 * allocation per call. */
#define STACK_TENSORS 16u

typedef struct kernel {
  OrtKernelImpl base;
  const leati_runtime *runtime;
  leati_device *device;
  leat_op *op;           /* NULL for copies */
  uint64_t host_inputs;  /* bit i: input i is on the host */
  uint64_t host_outputs; /* bit i: output i is on the host */
  uint32_t input_count;
  uint32_t output_count;
  bool *wanted;             /* by output: somebody uses it */
  char *label;              /* the node, for messages: "Add node 'x'" */
  leati_shape_cache shapes; /* the only part that changes, by itself thread-safe */
} kernel;

/* Room for one call's tensors. */
typedef struct call {
  DLTensor *inputs;
  DLTensor *outputs;
  const DLTensor **input_views;
  const DLTensor **output_views;
  leat_shape *shapes; /* of outputs, where they must be inferred */
  leat_shape **wanted_shapes;
} call;

static bool bit(uint64_t bits, uint32_t index) {
  return index < 64 && (bits >> index & 1) != 0;
}

/* ---- Compute ------------------------------------------------------------------------------------------------------
 */

/* Where the work goes: ONNX Runtime's stream, or one of our own if it has none. */
typedef struct place {
  leat_stream *handle;
  bool borrowed; /* of the device: to be waited for and released */
} place;

static OrtStatus *place_find(const kernel *self, OrtKernelContext *context, place *out) {
  void *handle = NULL;
  OrtStatus *status = self->runtime->ort->KernelContext_GetGPUComputeStream(context, &handle);
  *out = (place){.handle = handle};
  if (status || handle) {
    if (handle) {
      (void)leati_run_note(handle, false);
    }
    return status;
  }
  leat_error error = {.struct_size = sizeof(error)};
  status = leati_status_from(self->runtime, leati_device_borrow_stream(self->device, &out->handle, &error), &error,
                             "a stream to run on");
  out->borrowed = !status;
  return status;
}

/* Ends a call, and puts the node before the message of its failure. After a failure ONNX Runtime frees the buffers of
 * the Run at once: nothing may be on its way into them, and the stream's next owner starts clean. */
static OrtStatus *place_leave(const kernel *self, place *where, OrtStatus *status) {
  if (!status && !where->borrowed) {
    return NULL;
  }
  const leat_stream_api *api = self->runtime->leat->stream;
  if (where->handle) {
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = api->synchronize(where->handle, &error);
    if (code != LEAT_OK) {
      api->clear_error(where->handle, NULL);
      if (!status) {
        status = leati_status_from(self->runtime, code, &error, "its work failed");
      }
    }
  }
  if (where->borrowed) {
    leati_device_return_stream(self->device, where->handle);
  }
  /* ONNX Runtime goes on after an allocation that failed, and meets NULL only later; this says why. */
  const char *reason = status ? leati_memory_take_failure() : NULL;
  status = reason ? leati_status_prefix(self->runtime, status, "device memory is exhausted (%s)", reason) : status;
  return leati_status_prefix(self->runtime, status, LEATI_PROVIDER_NAME ": %s", self->label);
}

/* Fills in a view of one of ONNX Runtime's tensors. `dims` must outlive the view. */
static OrtStatus *input_view(const kernel *self, OrtKernelContext *context, uint32_t index, call *here) {
  const OrtApi *ort = self->runtime->ort;
  const OrtValue *value = NULL;
  OrtStatus *status = ort->KernelContext_GetInput(context, index, &value);
  if (status || !value) {
    here->input_views[index] = NULL;
    return status;
  }
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t *dims = NULL;
  size_t rank = 0;
  const void *data = NULL;
  status = ort->GetTensorElementTypeAndShapeDataReference(value, &element, &dims, &rank);
  if (!status) {
    status = ort->GetTensorData(value, &data);
  }
  if (status) {
    return status;
  }
  DLTensor *view = &here->inputs[index];
  *view = (DLTensor){
      /* DLPack has no word for constant; the backend only reads inputs and their shapes. */
      .data = (void *)(uintptr_t)data,
      .device = bit(self->host_inputs, index) ? (DLDevice){kDLCPU, 0}
                                              : (DLDevice){kDLVulkan, (int32_t)self->device->info.index},
      .ndim = (int32_t)rank,
      .shape = (int64_t *)(uintptr_t)dims,
  };
  if (!leati_element_dtype(element, &view->dtype)) {
    return leati_status(self->runtime, ORT_NOT_IMPLEMENTED, "input %u has elements that Leat does not know", index);
  }
  here->input_views[index] = view;
  return NULL;
}

static bool is_empty(const leat_shape *shape) {
  for (int32_t i = 0; i < shape->ndim; i++) {
    if (shape->dims[i] == 0) {
      return true;
    }
  }
  return false;
}

/* Has ONNX Runtime allocate an output of a shape, which must outlive the view. */
static OrtStatus *output_view(const kernel *self, OrtKernelContext *context, uint32_t index, const leat_shape *shape,
                              call *here) {
  const OrtApi *ort = self->runtime->ort;
  here->output_views[index] = NULL;
  if (!self->wanted[index]) {
    return NULL;
  }
  OrtValue *value = NULL;
  void *data = NULL;
  OrtStatus *status = ort->KernelContext_GetOutput(context, index, shape->dims, (size_t)shape->ndim, &value);
  if (!status && value) {
    status = ort->GetTensorMutableData(value, &data);
  }
  if (status || !value) {
    return status;
  }
  if (!data && !is_empty(shape)) {
    return leati_status(self->runtime, ORT_FAIL, "output %u could not be allocated", index);
  }
  DLTensor *view = &here->outputs[index];
  *view = (DLTensor){
      .data = data,
      .device = bit(self->host_outputs, index) ? (DLDevice){kDLCPU, 0}
                                               : (DLDevice){kDLVulkan, (int32_t)self->device->info.index},
      .ndim = shape->ndim,
      .dtype = shape->dtype,
      .shape = (int64_t *)(uintptr_t)shape->dims,
  };
  here->output_views[index] = view;
  return NULL;
}

/* Has the backend infer the shapes of the outputs, for inputs that no case is kept for. */
static OrtStatus *infer(kernel *self, call *here) {
  for (uint32_t i = 0; i < self->output_count; i++) {
    here->shapes[i] = (leat_shape){.struct_size = sizeof(leat_shape)};
    here->wanted_shapes[i] = self->wanted[i] ? &here->shapes[i] : NULL;
  }
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = self->runtime->leat->op->infer(self->op, self->input_count, here->input_views, self->output_count,
                                                here->wanted_shapes, &error);
  if (code == LEAT_OK) {
    leati_shape_cache_keep(&self->shapes, self->input_count, here->input_views, self->output_count, here->shapes);
  }
  return leati_status_from(self->runtime, code, &error, "shapes");
}

static OrtStatus *compute_on(kernel *self, OrtKernelContext *context, leat_stream *stream, call *here) {
  for (uint32_t i = 0; i < self->input_count; i++) {
    OrtStatus *status = input_view(self, context, i, here);
    if (status) {
      return status;
    }
  }
  const leat_shape *shapes = leati_shape_cache_find(&self->shapes, self->input_count, here->input_views);
  if (!shapes) {
    OrtStatus *status = infer(self, here);
    if (status) {
      return status;
    }
    shapes = here->shapes;
  }
  for (uint32_t i = 0; i < self->output_count; i++) {
    OrtStatus *status = output_view(self, context, i, &shapes[i], here);
    if (status) {
      return status;
    }
  }
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = self->runtime->leat->op->invoke(self->op, stream, self->input_count, here->input_views,
                                                 self->output_count, here->output_views, &error);
  return code == LEAT_OK ? NULL : leati_status_from(self->runtime, code, &error, "running");
}

static OrtStatus *compute(kernel *self, OrtKernelContext *context, leat_stream *stream) {
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
  leati_arena arena = {0};
  call here = {
      .inputs = leati_arena_alloc(&arena, self->input_count, sizeof(*here.inputs)),
      .outputs = leati_arena_alloc(&arena, self->output_count, sizeof(*here.outputs)),
      .input_views = leati_arena_alloc(&arena, self->input_count, sizeof(*here.input_views)),
      .output_views = leati_arena_alloc(&arena, self->output_count, sizeof(*here.output_views)),
      .shapes = leati_arena_alloc(&arena, self->output_count, sizeof(*here.shapes)),
      .wanted_shapes = leati_arena_alloc(&arena, self->output_count, sizeof(*here.wanted_shapes)),
  };
  OrtStatus *status =
      here.inputs && here.outputs && here.input_views && here.output_views && here.shapes && here.wanted_shapes
          ? compute_on(self, context, stream, &here)
          : leati_status(self->runtime, ORT_FAIL, "out of memory for its arguments");
  leati_arena_clear(&arena);
  return status;
}

static OrtStatus *ORT_API_CALL kernel_compute(OrtKernelImpl *base, OrtKernelContext *context) {
  kernel *self = (kernel *)base;
  OrtStatus *status = leati_gate_enter_or_fail(self->runtime, self->label);
  if (status) {
    return status;
  }
  place where = {0};
  status = place_find(self, context, &where);
  if (!status) {
    status = compute(self, context, where.handle);
  }
  status = place_leave(self, &where, status);
  leati_gate_leave();
  return status;
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

static OrtStatus *copy_on(const kernel *self, OrtKernelContext *context, leat_stream *stream, bool to_host) {
  const OrtApi *ort = self->runtime->ort;
  const OrtValue *src = NULL;
  OrtStatus *status = ort->KernelContext_GetInput(context, 0, &src);
  if (status || !src) {
    return status ? status : leati_status(self->runtime, ORT_INVALID_ARGUMENT, "there is nothing to copy");
  }
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t *dims = NULL;
  size_t rank = 0;
  OrtValue *dst = NULL;
  status = ort->GetTensorElementTypeAndShapeDataReference(src, &element, &dims, &rank);
  if (!status) {
    status = ort->KernelContext_GetOutput(context, 0, dims, rank, &dst);
  }
  if (status) {
    return status;
  }
  status = dst ? leati_transfer_value(self->device, stream, src, dst, to_host) : NULL;
  if (!status && to_host) {
    /* The reader of the copy is on the host, and may be a kernel of ours that takes a shape from it without any wait in
     * between. And should the Run fail, its buffers must not have a copy on its way. So the bytes are there now. */
    leat_error error = {.struct_size = sizeof(error)};
    status = leati_status_from(self->runtime, self->runtime->leat->stream->synchronize(stream, &error), &error,
                               "waiting for the copy");
  }
  return status;
}

static OrtStatus *copy_compute(OrtKernelImpl *base, OrtKernelContext *context, bool to_host) {
  const kernel *self = (const kernel *)base;
  OrtStatus *status = leati_gate_enter_or_fail(self->runtime, self->label);
  if (status) {
    return status;
  }
  place where = {0};
  status = place_find(self, context, &where);
  if (!status) {
    status = copy_on(self, context, where.handle, to_host);
  }
  status = place_leave(self, &where, status);
  leati_gate_leave();
  return status;
}

static OrtStatus *ORT_API_CALL from_host_compute(OrtKernelImpl *base, OrtKernelContext *context) {
  return copy_compute(base, context, false);
}

static OrtStatus *ORT_API_CALL to_host_compute(OrtKernelImpl *base, OrtKernelContext *context) {
  return copy_compute(base, context, true);
}

/* ---- Making and releasing -----------------------------------------------------------------------------------------
 */

static void kernel_free(kernel *self) {
  if (self->op) {
    self->runtime->leat->op->destroy(self->op, NULL);
  }
  leati_shape_cache_clear(&self->shapes);
  free(self->wanted);
  free(self->label);
  free(self);
}

static void ORT_API_CALL kernel_release(OrtKernelImpl *base) {
  if (leati_gate_enter() == LEATI_GATE_OPEN) {
    kernel_free((kernel *)base);
    leati_gate_leave();
  }
}

/* "Add node 'x'". */
static char *make_label(const leati_runtime *runtime, const OrtKernelInfo *info, const char *op_name) {
  size_t size = 0;
  leati_status_drop(runtime, runtime->ort->KernelInfo_GetNodeName(info, NULL, &size));
  char *name = calloc(1, size + 1);
  char *label = NULL;
  if (name) {
    leati_status_drop(runtime, runtime->ort->KernelInfo_GetNodeName(info, name, &size));
    if (asprintf(&label, "%s node '%s'", op_name, name) < 0) {
      label = NULL;
    }
  }
  free(name);
  return label;
}

/* A kernel that does nothing yet. */
static OrtStatus *kernel_begin(const leati_runtime *runtime, const OrtKernelInfo *info, const char *op_name,
                               kernel **out) {
  const OrtEp *ep = NULL;
  OrtStatus *status = runtime->ep->KernelInfo_GetEp(info, &ep);
  if (status) {
    return status;
  }
  kernel *self = calloc(1, sizeof(*self));
  char *label = make_label(runtime, info, op_name);
  if (!self || !label) {
    free(self);
    free(label);
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a kernel of %s", op_name);
  }
  self->base.ort_version_supported = runtime->version;
  self->base.Release = kernel_release;
  self->runtime = runtime;
  self->device = ((const leati_ep_head *)ep)->device;
  self->label = label;
  *out = self;
  return NULL;
}

static OrtStatus *copy_create(const leati_runtime *runtime, const OrtKernelInfo *info, bool to_host,
                              OrtKernelImpl **out) {
  OrtStatus *status = leati_gate_enter_or_fail(runtime, "creating a kernel");
  if (status) {
    return status;
  }
  kernel *self = NULL;
  status = kernel_begin(runtime, info, to_host ? "MemcpyToHost" : "MemcpyFromHost", &self);
  if (!status) {
    self->base.Compute = to_host ? to_host_compute : from_host_compute;
    *out = &self->base;
  }
  leati_gate_leave();
  return status;
}

OrtStatus *ORT_API_CALL leati_kernel_create_from_host(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  return copy_create(state, info, false, out);
}

OrtStatus *ORT_API_CALL leati_kernel_create_to_host(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  return copy_create(state, info, true, out);
}

static OrtStatus *find_wanted(kernel *self, const OrtKernelInfo *info) {
  self->wanted = calloc(self->output_count + 1u, sizeof(*self->wanted));
  if (!self->wanted) {
    return leati_status(self->runtime, ORT_FAIL, "out of memory");
  }
  OrtStatus *status = NULL;
  for (uint32_t i = 0; i < self->output_count && !status; i++) {
    size_t size = 0;
    status = self->runtime->ort->KernelInfo_GetOutputName(info, i, NULL, &size);
    self->wanted[i] = size > 1;
  }
  return status;
}

static OrtStatus *op_create(kernel *self, const leat_op_info *op_info, const OrtKernelInfo *info) {
  const leati_runtime *runtime = self->runtime;
  leati_description description = {0};
  OrtStatus *status = leati_description_of_kernel(&description, runtime, info, op_info);
  if (!status) {
    self->input_count = description.op.input_count;
    self->output_count = description.op.output_count;
    leat_device *device = NULL;
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = leati_device_open(self->device, &device, &error);
    if (code == LEAT_OK) {
      code = runtime->leat->op->create(device, &description.op, &self->op, &error);
    }
    status = leati_status_from(runtime, code, &error, "creating the operator");
  }
  leati_description_clear(&description, runtime);
  return status;
}

OrtStatus *ORT_API_CALL leati_kernel_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  const leati_kernel_source *source = state;
  const leati_runtime *runtime = source->runtime;
  OrtStatus *status = leati_gate_enter_or_fail(runtime, source->info->name);
  if (status) {
    return status;
  }
  kernel *self = NULL;
  status = kernel_begin(runtime, info, source->info->name, &self);
  if (!status) {
    self->base.Compute = kernel_compute;
    self->host_inputs = source->info->host_inputs;
    self->host_outputs = source->info->host_outputs;
    status = op_create(self, source->info, info);
    if (!status) {
      status = find_wanted(self, info);
    }
    if (status) {
      status = leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": %s", self->label);
      kernel_free(self);
    } else {
      *out = &self->base;
    }
  }
  leati_gate_leave();
  return status;
}
