/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/external_table.h"

#include <inttypes.h>

#include "core/status.h"
#include "device/device.h"
#include "memory/memory.h"
#include "streams/stream.h"
#include "streams/stream_state.h"
#include "timeline/external_semaphore.h"

static int32_t external_info(leat_device *device, leat_external_info *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  const leati_physical *const physical = device->physical;
  const leat_external_info info = {
      .struct_size = sizeof(info),
      .memory_handles = physical->no_external_memory == NULL ? LEAT_EXTERNAL_OPAQUE_FD : 0,
      .semaphore_handles = physical->no_external_semaphores == NULL ? LEAT_EXTERNAL_OPAQUE_FD : 0};
  return leati_export(out, &info, sizeof(info), LEAT_SIZE_THROUGH(leat_external_info, semaphore_handles),
                      "leat_external_info", err);
}

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

/* Fails unless a handle is of the one type that there is, and the device takes it: `lack` says why not. */
static int32_t check_handle(uint64_t handle_type, int32_t fd, const char *lack, leat_error *err) {
  if (handle_type != LEAT_EXTERNAL_OPAQUE_FD) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "handle type 0x%" PRIx64 " is unknown; supported: LEAT_EXTERNAL_OPAQUE_FD", handle_type);
  }
  if (lack != NULL) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s", lack);
  }
  if (fd < 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%d is no descriptor", fd);
  }
  return LEAT_OK;
}

static int32_t check_memory(const leati_physical *physical, const leat_external_memory *memory, leat_error *err) {
  LEATI_TRY(check_handle(memory->handle_type, memory->fd, physical->no_external_memory, err));
  if (memory->size == 0 || (memory->allocation_size != 0 && memory->size > memory->allocation_size)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "size is %" PRIu64 " and allocation_size %" PRIu64
                      "; size must be 1 at least, and no more than allocation_size unless that is 0",
                      memory->size, memory->allocation_size);
  }
  if (memory->dedicated_usage != 0 && (memory->dedicated_usage & LEATI_BUFFER_USAGE) != LEATI_BUFFER_USAGE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "dedicated_usage is 0x%x; it must have all of 0x%x (storage buffer, transfer source and "
                      "destination, shader device address)",
                      memory->dedicated_usage, (unsigned)LEATI_BUFFER_USAGE);
  }
  if (memory->dedicated_usage == 0 && physical->dedicates_external_memory) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "this driver imports only memory that is dedicated to a buffer: allocate it so, and say so in "
                      "dedicated_usage");
  }
  if (memory->memory_type != LEAT_EXTERNAL_ANY_MEMORY_TYPE && memory->memory_type >= physical->memory.memoryTypeCount) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "memory_type is %u; the device has types 0 to %u",
                      memory->memory_type, physical->memory.memoryTypeCount - 1);
  }
  return LEAT_OK;
}

static int32_t external_import_memory(leat_device *device, const leat_external_memory *memory, uint64_t *out_address,
                                      leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out_address == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_address is NULL");
  }
  leat_external_memory known;
  LEATI_TRY(leati_import(&known, sizeof(known), LEAT_SIZE_THROUGH(leat_external_memory, memory_type), memory,
                         "leat_external_memory", err));
  LEATI_TRY(check_memory(device->physical, &known, err));
  return leati_memory_import(device, &known, out_address, err);
}

/* ---- Semaphores ---------------------------------------------------------------------------------------------------
 */

static int32_t check_semaphore(const leat_semaphore *semaphore, const leat_device *device, leat_error *err) {
  if (leati_kind_of(semaphore) != LEATI_KIND_SEMAPHORE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      semaphore == NULL ? "semaphore is NULL" : "semaphore is not a live semaphore");
  }
  if (device != NULL && semaphore->device != device) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "semaphore and stream belong to different devices");
  }
  return LEAT_OK;
}

static int32_t external_import_semaphore(leat_device *device, uint64_t handle_type, int32_t fd, leat_semaphore **out,
                                         leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  LEATI_TRY(check_handle(handle_type, fd, device->physical->no_external_semaphores, err));
  return leati_external_semaphore_import(device, fd, out, err);
}

static int32_t external_destroy_semaphore(leat_semaphore *semaphore, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (semaphore != NULL) {
    LEATI_TRY(check_semaphore(semaphore, NULL, err));
    semaphore->kind = LEATI_KIND_DEAD;
    leati_external_semaphore_release(semaphore);
  }
  return LEAT_OK;
}

/* Makes the open list wait for a value. Only what comes later has to, and a list waits for one such semaphore at most:
 * what is open goes first. `lock` held. */
static int32_t add_wait(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err)
    LEATI_HOLDS(stream->lock) {
  const leati_external_point *const before = stream->open != NULL ? &stream->open->external_wait : NULL;
  const bool waits = before != NULL && before->semaphore != NULL;
  if (leati_stream_open_count(stream) != 0 || (waits && before->semaphore != semaphore)) {
    LEATI_TRY(leati_stream_flush(stream, err));
  }
  LEATI_TRY(leati_stream_need_open(stream, err));
  leati_external_point *const wait = &stream->open->external_wait;
  leati_external_point_set(wait, semaphore, wait->semaphore != NULL && wait->value > value ? wait->value : value);
  stream->waiting = true;
  return LEAT_OK;
}

static int32_t external_wait(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  LEATI_TRY(check_semaphore(semaphore, stream->device, err));
  leati_mutex_lock(&stream->lock);
  int32_t status = leati_stream_sticky(stream, err);
  if (status == LEAT_OK) {
    status = add_wait(stream, semaphore, value, err);
  }
  if (status == LEAT_OK && stream->device->hazards != NULL) {
    leati_known_learn(stream->device, &stream->known, leati_known_external(stream->device));
  }
  return leati_stream_unlock_and_help(stream, status, err);
}

/* Makes the open list raise a semaphore at its end, and submits it. `lock` held. */
static int32_t add_signal(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err)
    LEATI_HOLDS(stream->lock) {
  LEATI_TRY(leati_stream_need_open(stream, err));
  leati_external_point_set(&stream->open->external_signal, semaphore, value);
  /* Before the list goes: who waits for the semaphore may be quick. */
  leati_known_publish(stream->device, &stream->known, stream->timeline, leati_stream_open_value(stream));
  stream->waiting = true;
  return leati_stream_flush(stream, err);
}

static int32_t external_signal(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  LEATI_TRY(check_semaphore(semaphore, stream->device, err));
  uint64_t now;
  LEATI_TRY(leati_external_semaphore_value(semaphore, &now, err));
  if (value <= now) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "the semaphore cannot be raised to %" PRIu64 ": it has %" PRIu64 " already", value, now);
  }
  leati_mutex_lock(&stream->lock);
  int32_t status = leati_stream_sticky(stream, err);
  if (status == LEAT_OK) {
    status = add_signal(stream, semaphore, value, err);
  }
  return leati_stream_unlock_and_help(stream, status, err);
}

const leat_external_api leati_external_table = {
    .struct_size = sizeof(leat_external_api),
    .info = external_info,
    .import_memory = external_import_memory,
    .import_semaphore = external_import_semaphore,
    .destroy_semaphore = external_destroy_semaphore,
    .wait = external_wait,
    .signal = external_signal,
};
