/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "ep_gate.h"
#include "run.h"
#include "sync_stream.h"

typedef struct transfer {
  OrtDataTransferImpl base;
  const leati_runtime *runtime;
  leati_shared_device *devices;
  uint32_t device_count;
} transfer;

/* One end of a copy. */
typedef struct end {
  leati_shared_device *device; /* NULL: the host */
  leati_shared_device *writer; /* the device that writes to this memory of the host; NULL: it is the host's alone */
  void *data;                  /* host pointer or device address */
  size_t size;                 /* bytes */
} end;

/* A copy of a tensor that ONNX Runtime asks for. */
typedef struct copy {
  const leati_runtime *runtime;
  end from, to;                    /* of the same size, which is not 0 */
  const leati_sync_stream *stream; /* NULL: none of ours */
  bool one_device;                 /* there is only one */
  bool *waited;                    /* across the tensors of one call: that device has been waited for */
} copy;

/* Whether the CPU can read and write a memory by its pointers. */
static bool is_host(const leati_runtime *runtime, const OrtMemoryDevice *memory) {
  return runtime->ep->MemoryDevice_GetDeviceType(memory) == OrtMemoryInfoDeviceType_CPU ||
         runtime->ep->MemoryDevice_GetMemoryType(memory) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
}

/* The device that a memory of ours is of, of whichever kind, or NULL. */
static leati_shared_device *device_by_id(const transfer *self, const OrtMemoryDevice *memory) {
  const OrtEpApi *ep = self->runtime->ep;
  if (ep->MemoryDevice_GetDeviceType(memory) != OrtMemoryInfoDeviceType_GPU ||
      ep->MemoryDevice_GetVendorId(memory) != LEATI_VENDOR_ID) {
    return NULL;
  }
  for (uint32_t i = 0; i < self->device_count; ++i) {
    if (self->devices[i].info.index == ep->MemoryDevice_GetDeviceId(memory)) {
      return &self->devices[i];
    }
  }
  return NULL;
}

/* The device whose memory it is, or NULL. */
static leati_shared_device *device_of(const transfer *self, const OrtMemoryDevice *memory) {
  return self->runtime->ep->MemoryDevice_GetMemoryType(memory) == OrtDeviceMemoryType_DEFAULT
             ? device_by_id(self, memory)
             : NULL;
}

/* The device that writes to a memory of the host, or NULL: it is the host's alone, or others'. */
static leati_shared_device *device_of_host(const transfer *self, const OrtMemoryDevice *memory) {
  const OrtEpApi *ep = self->runtime->ep;
  return ep->MemoryDevice_GetMemoryType(memory) == OrtDeviceMemoryType_HOST_ACCESSIBLE ? device_by_id(self, memory)
                                                                                       : NULL;
}

/* A flat tensor of uint8. `*shape` holds its one dimension. */
static DLTensor bytes_of(const leati_shared_device *device, void *data, int64_t *shape) {
  return (DLTensor){
      .data = data,
      .device = device != NULL ? (DLDevice){kDLVulkan, (int32_t)device->info.index} : (DLDevice){kDLCPU, 0},
      .ndim = 1,
      .dtype = {kDLUInt, 8, 1},
      .shape = shape,
  };
}

static OrtStatus *copy_bytes(const leati_runtime *runtime, leat_stream *stream, const end *src, const end *dst) {
  int64_t shape = (int64_t)src->size;
  DLTensor from = bytes_of(src->device, src->data, &shape);
  DLTensor to = bytes_of(dst->device, dst->data, &shape);
  leat_error error = {.struct_size = sizeof(error)};
  return leati_status_from(runtime, runtime->leat->memory->copy(stream, &from, &to, &error), &error,
                           LEATI_PROVIDER_NAME ": copying %zu bytes", src->size);
}

static OrtStatus *wait_for(const leati_runtime *runtime, leat_stream *stream) {
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = runtime->leat->stream->synchronize(stream, &error);
  if (code == LEAT_OK) {
    return NULL;
  }
  runtime->leat->stream->clear_error(stream, NULL);
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": waiting for a copy");
}

/* Bytes and pointers of both ends. */
static OrtStatus *open_ends(const leati_runtime *runtime, const OrtValue *src, OrtValue *dst, end *from, end *to) {
  OrtStatus *status = runtime->ort->GetTensorSizeInBytes(src, &from->size);
  if (status == NULL) {
    status = runtime->ort->GetTensorSizeInBytes(dst, &to->size);
  }
  if (status != NULL) {
    return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": only tensors of numbers can be copied");
  }
  if (from->size != to->size) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME ": a tensor of %zu bytes cannot be copied to one of %zu bytes", from->size,
                        to->size);
  }
  const void *data = NULL;
  status = runtime->ort->GetTensorData(src, &data);
  from->data = (void *)(uintptr_t)data;
  if (status == NULL) {
    status = runtime->ort->GetTensorMutableData(dst, &to->data);
  }
  if (status == NULL && from->size != 0 && (from->data == NULL || to->data == NULL)) {
    /* ONNX Runtime makes such tensors when their allocation fails. */
    const char *reason = leati_allocator_take_failure();
    status = leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": a tensor of %zu bytes has no memory (%s)",
                          from->size, reason != NULL ? reason : "its allocation failed");
  }
  return status;
}

OrtStatus *leati_transfer_value(leati_shared_device *device, leat_stream *stream, const OrtValue *src, OrtValue *dst,
                                bool to_host) {
  end from = {.device = to_host ? device : NULL};
  end to = {.device = to_host ? NULL : device};
  OrtStatus *status = open_ends(device->runtime, src, dst, &from, &to);
  if (status == NULL && from.size != 0) {
    status = copy_bytes(device->runtime, stream, &from, &to);
  }
  return status;
}

OrtStatus *leati_transfer_within(leati_shared_device *device, leat_stream *stream, const OrtValue *src, void *dst,
                                 size_t size) {
  const void *data = NULL;
  OrtStatus *status = device->runtime->ort->GetTensorData(src, &data);
  const end from = {.device = device, .data = (void *)(uintptr_t)data, .size = size};
  const end to = {.device = device, .data = dst, .size = size};
  return status != NULL || size == 0 ? status : copy_bytes(device->runtime, stream, &from, &to);
}

/* A copy on a stream of our own, finished when this returns. Which streams use the two tensors cannot be asked for, so
 * all of the devices must have been waited for. */
static OrtStatus *copy_and_wait(leati_shared_device *device, const end *src, const end *dst) {
  const leati_runtime *runtime = device->runtime;
  leat_stream *stream = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_borrow_stream(device, &stream, &error);
  if (code != LEAT_OK) {
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": a stream to copy on");
  }
  OrtStatus *status = copy_bytes(runtime, stream, src, dst);
  OrtStatus *late = wait_for(runtime, stream);
  leati_shared_device_return_stream(device, stream);
  if (status != NULL) {
    leati_status_drop(runtime, late);
    return status;
  }
  return late;
}

/* ---- By kind ---------------------------------------------------------------------------------------------------- */

/* Copies within the host. What writes to either memory is waited for: the work of the stream, if the copy has one of
 * that device, or else all of the device. */
static OrtStatus *copy_within_host(const copy *it) {
  leati_shared_device *const writers[2] = {it->from.writer, it->to.writer == it->from.writer ? NULL : it->to.writer};
  OrtStatus *status = NULL;
  for (int i = 0; i < 2 && status == NULL; ++i) {
    if (it->stream != NULL && it->stream->device == writers[i]) {
      status = wait_for(it->runtime, it->stream->handle);
    } else {
      leati_shared_device_wait(writers[i]);
    }
  }
  if (status == NULL) {
    memmove(it->to.data, it->from.data, it->from.size);
  }
  return status;
}

/* Devices do not see each other's memory: the bytes go through the host. */
static OrtStatus *copy_across(const copy *it) {
  end middle = {.data = malloc(it->from.size), .size = it->from.size};
  if (middle.data == NULL) {
    return leati_status(it->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a copy of %zu bytes",
                        middle.size);
  }
  leati_shared_device_wait(it->from.device);
  leati_shared_device_wait(it->to.device);
  OrtStatus *status = copy_and_wait(it->from.device, &it->from, &middle);
  if (status == NULL) {
    status = copy_and_wait(it->to.device, &middle, &it->to);
  }
  free(middle.data);
  return status;
}

static leati_shared_device *device_of_copy(const copy *it) {
  return it->from.device != NULL ? it->from.device : it->to.device;
}

/* Copies from or to a device on a stream of ONNX Runtime's. */
static OrtStatus *copy_on_stream(const copy *it) {
  const leati_runtime *runtime = it->runtime;
  leati_shared_device *const device = device_of_copy(it);
  leat_stream *const stream = it->stream->handle;
  const bool to_host = it->to.device == NULL;
  bool in_run = false;
  OrtStatus *status = leati_run_note(device, stream, to_host, &in_run);
  if (status == NULL && !in_run) {
    /* The source may be what was copied on another stream, for which ONNX Runtime has no notification. */
    uint64_t published = 0;
    status = leati_shared_device_catch_up(device, stream, &published);
  }
  if (status == NULL) {
    status = copy_bytes(runtime, stream, &it->from, &it->to);
  }
  if (status == NULL && !in_run && !to_host) {
    status = leati_shared_device_publish(device, stream);
  }
  if (status != NULL) {
    /* The caller frees its buffers now; downloads before this one must not arrive in them later. */
    leati_status_drop(runtime, wait_for(runtime, stream));
  } else if (to_host && (!in_run || leati_run_has_bodies())) {
    /* Outside of a Run nobody need ever wait for the stream, so host memory is written before this returns. */
    status = wait_for(runtime, stream);
  }
  return status;
}

/* Copies from or to a device that has no stream of ONNX Runtime's for it. */
static OrtStatus *copy_without_stream(const copy *it) {
  leati_shared_device *const device = device_of_copy(it);
  if (!*it->waited) {
    leati_shared_device_wait(device);
    *it->waited = it->one_device;
  }
  return copy_and_wait(device, &it->from, &it->to);
}

typedef OrtStatus *copy_fn(const copy *it);

/* What copies between such ends. */
static copy_fn *find_copy(const copy *it) {
  if (it->from.device == NULL && it->to.device == NULL) {
    return copy_within_host;
  }
  if (it->from.device != NULL && it->to.device != NULL && it->from.device != it->to.device) {
    return copy_across;
  }
  return it->stream != NULL && it->stream->device == device_of_copy(it) ? copy_on_stream : copy_without_stream;
}

/* Finds the devices of both ends. */
static OrtStatus *find_ends(const transfer *self, const OrtValue *src, const OrtValue *dst, end *from, end *to) {
  const leati_runtime *runtime = self->runtime;
  const OrtMemoryDevice *src_memory = runtime->ep->Value_GetMemoryDevice(src);
  const OrtMemoryDevice *dst_memory = runtime->ep->Value_GetMemoryDevice(dst);
  if (src_memory == NULL || dst_memory == NULL) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT, LEATI_PROVIDER_NAME ": only tensors can be copied");
  }
  *from = (end){.device = device_of(self, src_memory), .writer = device_of_host(self, src_memory)};
  *to = (end){.device = device_of(self, dst_memory), .writer = device_of_host(self, dst_memory)};
  const bool known =
      (from->device != NULL || is_host(runtime, src_memory)) && (to->device != NULL || is_host(runtime, dst_memory));
  const bool ours = from->device != NULL || to->device != NULL || from->writer != NULL || to->writer != NULL;
  return known && ours ? NULL
                       : leati_status(runtime, ORT_INVALID_ARGUMENT,
                                      LEATI_PROVIDER_NAME
                                      ": copies go between the host and devices of Leat, or between such devices");
}

static OrtStatus *copy_one(const transfer *self, const OrtValue *src, OrtValue *dst, OrtSyncStream *stream,
                           bool *waited) {
  copy it = {.runtime = self->runtime, .one_device = self->device_count == 1, .waited = waited};
  OrtStatus *status = find_ends(self, src, dst, &it.from, &it.to);
  if (status == NULL) {
    status = open_ends(self->runtime, src, dst, &it.from, &it.to);
  }
  if (status != NULL || it.from.size == 0) {
    return status;
  }
  it.stream = leati_sync_stream_of(self->runtime, stream);
  return find_copy(&it)(&it);
}

static void ORT_API_CALL transfer_release(OrtDataTransferImpl *self) {
  free((transfer *)self);
}

static bool ORT_API_CALL transfer_can_copy(const OrtDataTransferImpl *self, const OrtMemoryDevice *src,
                                           const OrtMemoryDevice *dst) {
  const transfer *mine = (const transfer *)self;
  bool from_ours = device_of(mine, src) != NULL;
  bool to_ours = device_of(mine, dst) != NULL;
  bool from_host = is_host(mine->runtime, src);
  bool to_host = is_host(mine->runtime, dst);
  bool host_is_ours = device_of_host(mine, src) != NULL || device_of_host(mine, dst) != NULL;
  return (from_ours && (to_ours || to_host)) || (to_ours && from_host) || (from_host && to_host && host_is_ours);
}

static OrtStatus *ORT_API_CALL transfer_copy_tensors(OrtDataTransferImpl *self, const OrtValue **src, OrtValue **dst,
                                                     OrtSyncStream **streams, size_t count) {
  const transfer *mine = (const transfer *)self;
  OrtStatus *status = leati_ep_gate_enter_or_fail(mine->runtime, "DataTransfer.CopyTensors");
  if (status != NULL) {
    return status;
  }
  bool waited = false;
  for (size_t i = 0; i < count && status == NULL; ++i) {
    status = copy_one(mine, src[i], dst[i], streams != NULL ? streams[i] : NULL, &waited);
  }
  leati_ep_gate_leave();
  return status;
}

OrtStatus *leati_transfer_create(leati_shared_device *devices, uint32_t device_count, const leati_runtime *runtime,
                                 OrtDataTransferImpl **out) {
  transfer *made = calloc(1, sizeof(*made));
  if (made == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a data transfer");
  }
  made->base = (OrtDataTransferImpl){
      .ort_version_supported = runtime->version,
      .Release = transfer_release,
      .CanCopy = transfer_can_copy,
      .CopyTensors = transfer_copy_tensors,
  };
  made->runtime = runtime;
  made->devices = devices;
  made->device_count = device_count;
  *out = &made->base;
  return NULL;
}
