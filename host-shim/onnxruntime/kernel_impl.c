/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_stream.h"
#include "compute_target.h"
#include "description.h"
#include "ep_gate.h"
#include "transfer.h"

typedef struct kernel {
  OrtKernelImpl base;
  leati_compute_target target;
} kernel;

static OrtStatus *ORT_API_CALL kernel_compute(OrtKernelImpl *base, OrtKernelContext *context) {
  return leati_compute_target_run(&((kernel *)base)->target, context);
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

static OrtStatus *copy_on(const leati_compute_target *self, OrtKernelContext *context, leat_stream *stream,
                          bool to_host) {
  const OrtApi *ort = self->runtime->ort;
  const OrtValue *src = NULL;
  OrtStatus *status = ort->KernelContext_GetInput(context, 0, &src);
  if (status != NULL || src == NULL) {
    return status != NULL ? status : leati_status(self->runtime, ORT_INVALID_ARGUMENT, "there is nothing to copy");
  }
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t *dims = NULL;
  size_t rank = 0;
  OrtValue *dst = NULL;
  status = ort->GetTensorElementTypeAndShapeDataReference(src, &element, &dims, &rank);
  if (status == NULL) {
    status = ort->KernelContext_GetOutput(context, 0, dims, rank, &dst);
  }
  if (status != NULL) {
    return status;
  }
  status = dst != NULL ? leati_transfer_value(self->device, stream, src, dst, to_host) : NULL;
  if (status == NULL && to_host) {
    /* The reader of the copy is on the host, and may be a kernel of ours that takes a shape from it without any wait in
     * between. And should the Run fail, its buffers must not have a copy on its way. So the bytes are there now. */
    leat_error error = {.struct_size = sizeof(error)};
    status = leati_status_from(self->runtime, self->runtime->leat->stream->synchronize(stream, &error), &error,
                               "waiting for the copy");
  }
  return status;
}

static OrtStatus *copy_compute(OrtKernelImpl *base, OrtKernelContext *context, bool to_host) {
  const leati_compute_target *self = &((const kernel *)base)->target;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->runtime, self->label);
  if (status != NULL) {
    return status;
  }
  leati_call_stream where = {0};
  status = leati_call_stream_find(self->device, context, &where);
  if (status == NULL) {
    status = copy_on(self, context, where.handle, to_host);
  }
  status = leati_call_stream_leave(self->device, &where, self->label, status);
  leati_ep_gate_leave();
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
  leati_compute_target_clear(&self->target);
  free(self);
}

static void ORT_API_CALL kernel_release(OrtKernelImpl *base) {
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    kernel_free((kernel *)base);
    leati_ep_gate_leave();
  }
}

/* "Add node 'x'". */
static char *make_label(const leati_runtime *runtime, const OrtKernelInfo *info, const char *op_name) {
  size_t size = 0;
  leati_status_drop(runtime, runtime->ort->KernelInfo_GetNodeName(info, NULL, &size));
  char *name = calloc(1, size + 1);
  char *label = NULL;
  if (name != NULL) {
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
  if (status != NULL) {
    return status;
  }
  kernel *self = calloc(1, sizeof(*self));
  char *label = make_label(runtime, info, op_name);
  if (self == NULL || label == NULL) {
    free(self);
    free(label);
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a kernel of %s", op_name);
  }
  self->base.ort_version_supported = runtime->version;
  self->base.Release = kernel_release;
  self->target =
      (leati_compute_target){.runtime = runtime, .device = ((const leati_ep_head *)ep)->device, .label = label};
  leati_shape_cache_begin(&self->target.shapes);
  *out = self;
  return NULL;
}

static OrtStatus *copy_create(const leati_runtime *runtime, const OrtKernelInfo *info, bool to_host,
                              OrtKernelImpl **out) {
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "creating a kernel");
  if (status != NULL) {
    return status;
  }
  kernel *self = NULL;
  status = kernel_begin(runtime, info, to_host ? "MemcpyToHost" : "MemcpyFromHost", &self);
  if (status == NULL) {
    self->base.Compute = to_host ? to_host_compute : from_host_compute;
    *out = &self->base;
  }
  leati_ep_gate_leave();
  return status;
}

OrtStatus *ORT_API_CALL leati_kernel_impl_create_from_host(void *state, const OrtKernelInfo *info,
                                                           OrtKernelImpl **out) {
  return copy_create(state, info, false, out);
}

OrtStatus *ORT_API_CALL leati_kernel_impl_create_to_host(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  return copy_create(state, info, true, out);
}

static OrtStatus *find_wanted(leati_compute_target *self, const OrtKernelInfo *info) {
  self->wanted = calloc(self->output_count + 1u, sizeof(*self->wanted));
  if (self->wanted == NULL) {
    return leati_status(self->runtime, ORT_FAIL, "out of memory");
  }
  OrtStatus *status = NULL;
  for (uint32_t i = 0; i < self->output_count && status == NULL; ++i) {
    size_t size = 0;
    status = self->runtime->ort->KernelInfo_GetOutputName(info, i, NULL, &size);
    self->wanted[i] = size > 1;
  }
  return status;
}

static OrtStatus *op_create(leati_compute_target *self, const leat_op_info *op_info, const OrtKernelInfo *info) {
  const leati_runtime *runtime = self->runtime;
  leati_description description = {0};
  OrtStatus *status = leati_description_of_kernel(&description, runtime, info, op_info);
  if (status == NULL) {
    self->input_count = description.op.input_count;
    self->output_count = description.op.output_count;
    leat_device *device = NULL;
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = leati_shared_device_open(self->device, &device, &error);
    if (code == LEAT_OK) {
      code = runtime->leat->op->create(device, &description.op, &self->op, &error);
    }
    status = leati_status_from(runtime, code, &error, "creating the operator");
  }
  leati_description_clear(&description, runtime);
  return status;
}

OrtStatus *ORT_API_CALL leati_kernel_impl_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  const leati_kernel_source *source = state;
  const leati_runtime *runtime = source->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, source->info->name);
  if (status != NULL) {
    return status;
  }
  kernel *self = NULL;
  status = kernel_begin(runtime, info, source->info->name, &self);
  if (status == NULL) {
    self->base.Compute = kernel_compute;
    self->target.host_inputs = source->info->host_inputs;
    self->target.host_outputs = source->info->host_outputs;
    status = op_create(&self->target, source->info, info);
    if (status == NULL) {
      status = find_wanted(&self->target, info);
    }
    if (status != NULL) {
      status = leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": %s", self->target.label);
      kernel_free(self);
    } else {
      *out = &self->base;
    }
  }
  leati_ep_gate_leave();
  return status;
}
