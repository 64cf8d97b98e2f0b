/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/memory_table.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "memory/memory.h"
#include "memory/tensor.h"
#include "policy/allocation.h"
#include "record/extent.h"
#include "streams/dlpack_exchange.h"
#include "streams/free_streams.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "streams/stream.h"

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
    leati_forget(err);
    status = alloc_for(device, size, stream, out_address, err);
  }
  return status;
}

static int32_t memory_free(leat_device *device, uint64_t address, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  LEATI_TRY(leati_device_check(device, err));
  return address == 0 ? LEAT_OK : leati_memory_free(device, address, err);
}

static int32_t memory_alloc_host(leat_device *device, uint64_t size, void **out_pointer, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out_pointer == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_pointer is NULL");
  }
  uint32_t tries = 0;
  int32_t status = leati_memory_alloc_host(device, size, out_pointer, err);
  while (status == LEAT_ERROR_OUT_OF_MEMORY && leati_memory_possible(device, size) &&
         leati_streams_await_memory(device, &tries)) {
    leati_forget(err);
    status = leati_memory_alloc_host(device, size, out_pointer, err);
  }
  return status;
}

static int32_t memory_free_host(leat_device *device, void *pointer, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  LEATI_TRY(leati_device_check(device, err));
  return pointer == NULL ? LEAT_OK : leati_memory_free_host(device, pointer, err);
}

static int32_t memory_record_stream(leat_device *device, uint64_t address, leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  LEATI_TRY(leati_stream_check(stream, device, err));
  leati_extent extent;
  LEATI_TRY(leati_extent_find(device, address, &extent, err));
  leati_stream_stamp(stream, extent.block);
  return LEAT_OK;
}

static int32_t memory_find(leat_device *device, uint64_t address, uint64_t *out_base, uint64_t *out_size,
                           leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out_base == NULL || out_size == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, out_base == NULL ? "out_base is NULL" : "out_size is NULL");
  }
  leati_extent extent;
  LEATI_TRY(leati_extent_find(device, address, &extent, err));
  *out_base = extent.base;
  *out_size = extent.size;
  return LEAT_OK;
}

static int32_t memory_stats(leat_device *device, leat_memory_stats *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  leat_memory_stats stats;
  leati_memory_stats_read(device, &stats);
  return leati_export(out, &stats, sizeof(stats), LEAT_SIZE_THROUGH(leat_memory_stats, host_reserved_bytes),
                      "leat_memory_stats", err);
}

static int32_t memory_classes(leat_device *device, uint32_t *inout_count, leat_memory_class *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  LEATI_TRY(leati_check_list(inout_count, out, sizeof(*out), "leat_memory_class", err));
  leati_memory_classes_read(device, inout_count, out);
  return LEAT_OK;
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
 * too: a host that orders one behind this stream does so by an event recorded after this call, and what waits for that
 * event is submitted later still. It cannot be taken back, so it is for a copy that is an operation of its own. */
static bool upload_directly(const leati_view *src, const leati_view *dst) {
  const uint64_t size = src->count * src->item_size;
  if (size == 0 || !leati_upload_is_direct(size) || !src->host || dst->host || !src->compact || !dst->compact) {
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
  const int32_t status = leati_record(stream, record_copy, &copy, err);
  return status == LEAT_ERROR_OUT_OF_MEMORY && from.host != to.host ? leati_copy_by_reserve(stream, &from, &to, err)
                                                                    : status;
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
    .export_dlpack = leati_dlpack_export,
    .import_dlpack = leati_dlpack_import,
    .export_dlpack_unversioned = leati_dlpack_export_unversioned,
    .import_dlpack_unversioned = leati_dlpack_import_unversioned,
    .alloc_host = memory_alloc_host,
    .free_host = memory_free_host,
};
