/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/transfer.h"

#include <string.h>

#include "device.h"
#include "memory.h"
#include "status.h"
#include "streams/event.h"
#include "streams/recorder.h"
#include "streams/stock.h"
#include "streams/stream.h"
#include "tensor.h"

/* An upload of this many bytes at most is written straight into its block where that is possible. For more the device
 * fetches the bytes faster than the host sends them. */
#define DIRECT_UPLOAD_MAX (UINT64_C(64) << 10)

/* ---- Allocation ---------------------------------------------------------------------------------------------------
 */

static int32_t alloc_for(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address,
                         leat_error *err) {
  return stream != NULL ? leati_stream_alloc(stream, size, out_address, err)
                        : leati_memory_alloc(device, size, NULL, out_address, err);
}

static int32_t memory_alloc(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address,
                            leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out_address == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_address is NULL");
  }
  if (stream != NULL) {
    LEATI_TRY(leati_stream_check(stream, device, err));
  }
  uint32_t tries = 0;
  int32_t status = alloc_for(device, size, stream, out_address, err);
  while (status == LEAT_ERROR_OUT_OF_MEMORY && leati_memory_possible(device, size) &&
         leati_streams_await_memory(device, &tries)) {
    status = alloc_for(device, size, stream, out_address, err);
  }
  return status;
}

static int32_t memory_free(leat_device *device, uint64_t address, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  LEATI_TRY(leati_device_check(device, err));
  return address == 0 ? LEAT_OK : leati_memory_free(device, address, err);
}

/* The live block that holds `address`, and what it covers; one without bytes holds its own address. Each is read once:
 * nobody may hold the block, so it may become another's meanwhile. */
static int32_t find_extent(leat_device *device, uint64_t address, leati_block **out, uint64_t *out_base,
                           uint64_t *out_size, leat_error *err) {
  leati_block *const block = leati_memory_find(device, address);
  if (block != NULL) {
    const uint64_t base = leati_block_address(block);
    const uint64_t size = leati_block_size(block);
    if (address == base || address - base < size) {
      *out = block;
      *out_base = base;
      *out_size = size;
      return LEAT_OK;
    }
  }
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "0x%llx is not in a live block of the device",
                    (unsigned long long)address);
}

static int32_t find_block(leat_device *device, uint64_t address, leati_block **out, leat_error *err) {
  uint64_t base, size;
  return find_extent(device, address, out, &base, &size, err);
}

static int32_t memory_record_stream(leat_device *device, uint64_t address, leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  LEATI_TRY(leati_stream_check(stream, device, err));
  leati_block *block;
  LEATI_TRY(find_block(device, address, &block, err));
  leati_stream_stamp(stream, block);
  return LEAT_OK;
}

static int32_t memory_find(leat_device *device, uint64_t address, uint64_t *out_base, uint64_t *out_size,
                           leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out_base == NULL || out_size == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, out_base == NULL ? "out_base is NULL" : "out_size is NULL");
  }
  leati_block *block;
  return find_extent(device, address, &block, out_base, out_size, err);
}

static int32_t memory_stats(leat_device *device, leat_memory_stats *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  leat_memory_stats stats;
  leati_memory_stats_read(device, &stats);
  return leati_export(out, &stats, sizeof(stats), LEAT_SIZE_THROUGH(leat_memory_stats, reclaim_count),
                      "leat_memory_stats", err);
}

static int32_t memory_classes(leat_device *device, uint32_t *inout_count, leat_memory_class *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (inout_count == NULL || (*inout_count != 0 && out == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      inout_count == NULL ? "inout_count is NULL" : "out is NULL with a capacity");
  }
  return leati_memory_classes_read(device, inout_count, out, err);
}

static int32_t memory_reset_peaks(leat_device *device, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  leati_memory_reset_peaks(device);
  return LEAT_OK;
}

static int32_t memory_trim(leat_device *device, uint64_t *out_released, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  const uint64_t released = leati_memory_trim(device);
  if (out_released != NULL) {
    *out_released = released;
  }
  return LEAT_OK;
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

/* Writes a small upload straight into its block, if the host sees the block and nothing uses it: neither work in flight
 * nor an open list, this stream's included, since those have stamped it with values not reached yet. No barrier is
 * needed: vkQueueSubmit makes what the host wrote before visible to all that it submits. That holds for other streams
 * too: who orders one behind this stream does so by an event recorded after this call, and what waits for that event is
 * submitted later still. It cannot be taken back, so it is for a copy that is an operation of its own. */
static bool upload_directly(const leati_view *src, const leati_view *dst) {
  const uint64_t size = src->count * src->item_size;
  if (size == 0 || size > DIRECT_UPLOAD_MAX || !src->host || dst->host || !src->compact || !dst->compact) {
    return false;
  }
  unsigned char *const block = leati_block_mapped(dst->block);
  if (block == NULL || !leati_block_idle(dst->block)) {
    return false;
  }
  memcpy(block + (dst->begin - leati_block_address(dst->block)), src->data, size);
  /* Another thread may be the one that submits. The memory may be write-combined, and a processor's buffers for such
   * writes are emptied by a full fence of that processor only. */
  atomic_thread_fence(memory_order_seq_cst);
  return true;
}

/* A copy with both its sides. */
typedef struct transfer {
  const leati_view *from, *to;
} transfer;

static int32_t record_copy(leati_recorder *recorder, const void *what, leat_error *err) {
  const transfer *const copy = what;
  return upload_directly(copy->from, copy->to) ? LEAT_OK : leati_record_copy(recorder, copy->from, copy->to, err);
}

static int32_t memory_copy(leat_stream *stream, const DLTensor *src, const DLTensor *dst, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  leat_device *const device = leati_stream_device(stream);
  leati_view from, to;
  LEATI_TRY(leati_view_import(device, src, "the source", &from, err));
  LEATI_TRY(leati_view_import(device, dst, "the destination", &to, err));
  if (from.type != to.type || from.count != to.count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "the source has %llu elements of %s, the destination %llu of %s", (unsigned long long)from.count,
                      leati_type_name(from.type), (unsigned long long)to.count, leati_type_name(to.type));
  }
  const transfer copy = {.from = &from, .to = &to};
  return leati_record(stream, record_copy, &copy, err);
}

/* ---- DLPack -------------------------------------------------------------------------------------------------------
 */

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
static uint64_t generations[LEATI_DEVICES_MAX]; /* guarded by exports_lock; raised when the device closes */

void leati_exports_close(leat_device *device) {
  leati_mutex_lock(&exports_lock);
  ++generations[device->index];
  leati_mutex_unlock(&exports_lock);
}

static void delete_export(export *gone) {
  /* While the process exits, and in a child of fork(), the block is not ours to give back. */
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
    LEATI_TRY(find_block(device, (uint64_t)(uintptr_t)tensor->data, &block, err));
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

static int32_t memory_export(leat_stream *stream, const DLTensor *view, leat_event *ready,
                             DLManagedTensorVersioned **out, leat_error *err) {
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  export *made;
  LEATI_TRY(make_export(stream, view, ready, &made, err));
  *out = &made->versioned;
  return LEAT_OK;
}

static int32_t memory_export_unversioned(leat_stream *stream, const DLTensor *view, leat_event *ready,
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
    LEATI_TRY(find_block(device, (uint64_t)(uintptr_t)tensor->data, &block, err));
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

static int32_t memory_import(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready, leat_view *out,
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

static int32_t memory_import_unversioned(leat_stream *stream, DLManagedTensor *managed, leat_event *ready,
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

const leat_memory_api leati_memory_table = {
    .struct_size = sizeof(leat_memory_api),
    .alloc = memory_alloc,
    .free = memory_free,
    .record_stream = memory_record_stream,
    .copy = memory_copy,
    .find = memory_find,
    .stats = memory_stats,
    .classes = memory_classes,
    .reset_peaks = memory_reset_peaks,
    .trim = memory_trim,
    .export_dlpack = memory_export,
    .import_dlpack = memory_import,
    .export_dlpack_unversioned = memory_export_unversioned,
    .import_dlpack_unversioned = memory_import_unversioned,
};
