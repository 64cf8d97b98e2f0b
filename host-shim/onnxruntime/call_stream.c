/* SPDX-License-Identifier: BSD-3-Clause */
#include "call_stream.h"

#include "allocator.h"
#include "run.h"

/* A stream of the device's. */
static OrtStatus *borrow(leati_shared_device *device, leati_call_stream *out) {
  leat_error error = {.struct_size = sizeof(error)};
  OrtStatus *status = leati_status_from(
      device->runtime, leati_shared_device_borrow_stream(device, &out->handle, &error), &error, "a stream to run on");
  out->borrowed = status == NULL;
  return status;
}

OrtStatus *leati_call_stream_find(leati_shared_device *device, OrtKernelContext *context, leati_call_stream *out) {
  void *handle = NULL;
  *out = (leati_call_stream){0};
  OrtStatus *status = device->runtime->ort->KernelContext_GetGPUComputeStream(context, &handle);
  return status != NULL ? status : leati_call_stream_begin(device, handle, out);
}

OrtStatus *leati_call_stream_begin(leati_shared_device *device, leat_stream *given, leati_call_stream *out) {
  *out = (leati_call_stream){.handle = given};
  OrtStatus *status = given != NULL ? NULL : borrow(device, out);
  bool in_run = false;
  if (status == NULL) {
    status = out->borrowed ? leati_run_order(device, out->handle, &in_run)
                           : leati_run_note(device, out->handle, false, &in_run);
  }
  if (status == NULL && !in_run) {
    leati_shared_device_wait(device);
  }
  out->waits = out->borrowed || !in_run;
  return status;
}

OrtStatus *leati_call_stream_leave(leati_shared_device *device, const leati_call_stream *where, const char *label,
                                   OrtStatus *status) {
  if (status == NULL && !where->waits) {
    return NULL;
  }
  const leati_runtime *runtime = device->runtime;
  const leat_stream_api *api = runtime->leat->stream;
  if (where->handle != NULL) {
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = api->synchronize(where->handle, &error);
    if (code != LEAT_OK) {
      api->clear_error(where->handle, NULL);
      if (status == NULL) {
        status = leati_status_from(runtime, code, &error, "its work failed");
      }
    }
  }
  if (where->borrowed) {
    leati_shared_device_return_stream(device, where->handle);
  }
  /* ONNX Runtime goes on after an allocation that failed, and meets NULL only later; this says why. */
  const char *reason = status != NULL ? leati_allocator_take_failure() : NULL;
  status = reason != NULL ? leati_status_prefix(runtime, status, "device memory is exhausted (%s)", reason) : status;
  return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": %s", label);
}
