/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/dlpack_exchange.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "memory/memory.h"
#include "memory/tensor.h"
#include "record/extent.h"
#include "streams/event.h"
#include "streams/stream.h"

/* A tensor that went out: what its deleter needs. Both structs of DLPack, so that there is one way out. */
typedef struct export {
  DLManagedTensorVersioned versioned;
  DLManagedTensor unversioned;
  leat_device *device;
  uint32_t index;      /* of the device: when the tensor goes the device may be closed, or just being opened again */
  uint64_t generation; /* of the device when the tensor went out */
  leati_block *block;
  int64_t shape[LEAT_MAX_RANK];
  int64_t strides[LEAT_MAX_RANK];
}
export;

/* Keeps a device from closing while a deleter gives its block back. */
static leati_mutex exports_lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_EXPORTS);
/* Raised when the device closes. */
static uint64_t generations[LEATI_DEVICES_MAX] LEATI_GUARDED_BY(exports_lock);

void leati_dlpack_close(leat_device *device) {
  leati_mutex_lock(&exports_lock);
  ++generations[device->index];
  leati_mutex_unlock(&exports_lock);
}

static void delete_export(export *gone) {
  /* While the process exits, and in a child of fork(), the block is not ours to release. */
  leati_pass pass __attribute__((cleanup(leati_gate_leave)));
  if (leati_enter(&pass, true, NULL) == LEAT_OK) {
    leati_mutex_lock(&exports_lock);
    if (generations[gone->index] == gone->generation) {
      leati_memory_release(gone->device, gone->block);
    }
    leati_mutex_unlock(&exports_lock);
  }
  leati_free(gone);
}

static void delete_versioned(DLManagedTensorVersioned *managed) {
  if (managed != NULL) {
    delete_export(managed->manager_ctx);
  }
}

static void delete_unversioned(DLManagedTensor *managed) {
  if (managed != NULL) {
    delete_export(managed->manager_ctx);
  }
}

static int32_t make_export(leat_stream *stream, const DLTensor *tensor, leat_event *ready, export **out,
                           leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  leat_device *const device = leati_stream_device(stream);
  if (ready != NULL) {
    LEATI_TRY(leati_event_check(ready, device, err));
  }
  leati_view view;
  LEATI_TRY(leati_view_import(device, tensor, "the view", &view, err));
  leati_block *block = view.block;
  if (view.host) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "the view is a host tensor; only device tensors are exported");
  }
  if (block == NULL) {
    leati_extent extent;
    LEATI_TRY(leati_extent_find(device, (uint64_t)(uintptr_t)tensor->data, &extent, err));
    block = extent.block;
  }
  export *const made = leati_calloc(1, sizeof(*made));
  if (made == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a DLPack tensor");
  }
  const int32_t status = ready != NULL ? leati_event_record(ready, stream, err) : leati_stream_synchronize(stream, err);
  if (status != LEAT_OK) {
    leati_free(made);
    return status;
  }
  leati_memory_retain(block);
  made->device = device;
  made->index = device->index;
  made->block = block;
  leati_mutex_lock(&exports_lock);
  made->generation = generations[device->index];
  leati_mutex_unlock(&exports_lock);
  memcpy(made->shape, view.shape, sizeof(made->shape));
  memcpy(made->strides, view.strides, sizeof(made->strides));
  DLTensor *const gone = &made->unversioned.dl_tensor;
  *gone = *tensor;
  gone->shape = made->shape;
  gone->strides = made->strides;
  made->unversioned.manager_ctx = made;
  made->unversioned.deleter = delete_unversioned;
  made->versioned.version = (DLPackVersion){.major = DLPACK_MAJOR_VERSION, .minor = DLPACK_MINOR_VERSION};
  made->versioned.manager_ctx = made;
  made->versioned.deleter = delete_versioned;
  made->versioned.dl_tensor = *gone;
  *out = made;
  return LEAT_OK;
}

int32_t leati_dlpack_export(leat_stream *stream, const DLTensor *view, leat_event *ready,
                            DLManagedTensorVersioned **out, leat_error *err) {
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  export *made;
  LEATI_TRY(make_export(stream, view, ready, &made, err));
  *out = &made->versioned;
  return LEAT_OK;
}

int32_t leati_dlpack_export_unversioned(leat_stream *stream, const DLTensor *view, leat_event *ready,
                                        DLManagedTensor **out, leat_error *err) {
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  export *made;
  LEATI_TRY(make_export(stream, view, ready, &made, err));
  *out = &made->unversioned;
  return LEAT_OK;
}

/* Takes a tensor in: checks it, holds its block, orders the stream behind its event. The caller then calls the deleter.
 */
static int32_t take_import(leat_stream *stream, const DLTensor *tensor, leat_event *ready, leat_view *out,
                           leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  leat_device *const device = leati_stream_device(stream);
  if (ready != NULL) {
    LEATI_TRY(leati_event_check(ready, device, err));
  }
  leat_view probe;
  LEATI_TRY(leati_import(&probe, sizeof(probe), sizeof(uint32_t), out, "leat_view", err));
  if (tensor->device.device_type != kDLVulkan || tensor->device.device_id != (int)device->index) {
    return leati_fail(
        err, LEAT_ERROR_NOT_SUPPORTED,
        "the tensor is on DLPack device (%d, %d); only memory of this device (%d, %u) is taken without a copy",
        (int)tensor->device.device_type, tensor->device.device_id, (int)kDLVulkan, device->index);
  }
  leati_view view;
  LEATI_TRY(leati_view_import(device, tensor, "the tensor", &view, err));
  leati_block *block = view.block;
  if (block == NULL) {
    leati_extent extent;
    LEATI_TRY(leati_extent_find(device, (uint64_t)(uintptr_t)tensor->data, &extent, err));
    block = extent.block;
  }
  leat_view given = {.struct_size = sizeof(given), .tensor = *tensor};
  memcpy(given.shape, view.shape, sizeof(given.shape));
  memcpy(given.strides, view.strides, sizeof(given.strides));
  LEATI_TRY(leati_export(out, &given, sizeof(given), sizeof(given), "leat_view", err));
  out->tensor.shape = out->shape;
  out->tensor.strides = out->strides;
  if (ready != NULL) {
    LEATI_TRY(leati_event_await(ready, stream, err));
  }
  leati_memory_hold(block);
  return LEAT_OK;
}

int32_t leati_dlpack_import(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready, leat_view *out,
                            leat_error *err) {
  if (managed == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "managed is NULL");
  }
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "the tensor has DLPack version %u.%u; supported: %d.x",
                      managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
  }
  if ((managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "the tensor is read-only, which Leat cannot promise to keep");
  }
  LEATI_TRY(take_import(stream, &managed->dl_tensor, ready, out, err));
  if (managed->deleter != NULL) {
    managed->deleter(managed);
  }
  return LEAT_OK;
}

int32_t leati_dlpack_import_unversioned(leat_stream *stream, DLManagedTensor *managed, leat_event *ready,
                                        leat_view *out, leat_error *err) {
  if (managed == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "managed is NULL");
  }
  LEATI_TRY(take_import(stream, &managed->dl_tensor, ready, out, err));
  if (managed->deleter != NULL) {
    managed->deleter(managed);
  }
  return LEAT_OK;
}
