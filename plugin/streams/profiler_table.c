/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/profiler_table.h"

#include <stdatomic.h>

#include "core/config.h"
#include "core/gate.h"
#include "core/status.h"
#include "device/device.h"
#include "record/profiler.h"
#include "record/trace.h"
#include "streams/free_streams.h"
#include "submit/lane.h"

static int32_t profiler_start(leat_device *device, uint32_t capacity, uint64_t flags, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (flags != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "profiler flags 0x%llx are unknown", (unsigned long long)flags);
  }
  LEATI_TRY(leati_profiler_start(device, capacity, err));
  /* A list that is open has no profile, and what is recorded next might go there. A failure is for those to hear who
   * use that stream. */
  leati_streams_flush(device);
  return LEAT_OK;
}

static int32_t profiler_stop(leat_device *device, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (leati_profiler_stop(device)) {
    leati_streams_flush(device);
  }
  return LEAT_OK;
}

static int32_t profiler_read(leat_device *device, uint32_t *inout_count, leat_profile_record *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  LEATI_TRY(leati_check_list(inout_count, out, sizeof(*out), "leat_profile_record", err));
  leati_lanes_collect(device, true);
  uint32_t count = 0;
  while (count < *inout_count && leati_profiler_take(device, &out[count])) {
    ++count;
  }
  *inout_count = count;
  return LEAT_OK;
}

static int32_t profiler_info(leat_device *device, leat_profiler_info *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  leati_lanes_collect(device, true);
  const leat_profiler_info info = leati_profiler_get(device);
  return leati_export(out, &info, sizeof(info), LEAT_SIZE_THROUGH(leat_profiler_info, lost_count), "leat_profiler_info",
                      err);
}

const leat_profiler_api leati_profiler_table = {
    .struct_size = sizeof(leat_profiler_api),
    .start = profiler_start,
    .stop = profiler_stop,
    .read = profiler_read,
    .info = profiler_info,
};

/* ---- The trace --------------------------------------------------------------------------------------------------- */

/* Open devices that are traced, by index. Changes under the backend's lock (release); the exit handler reads it
 * (acquire), when no thread goes in any more and those inside have stopped. */
static _Atomic(leat_device *) traced[LEATI_DEVICES_MAX];

/* Writes what can be had when the process exits without closing its devices. A thread that was stopped may have the
 * role of a lane: what is in flight there has no records then. */
static void write_rest(void) {
  for (uint32_t i = 0; i < LEATI_DEVICES_MAX; ++i) {
    leat_device *const device = atomic_load_explicit(&traced[i], memory_order_acquire);
    if (device != NULL) {
      leati_lanes_collect(device, false);
    }
  }
  leati_trace_flush();
}

void leati_profiler_attach(leat_device *device, const char *path) {
  if (!leati_profiler_possible(device)) {
    leati_log(LEATI_LOG_WARN,
              "LEAT_PROFILE is \"%.400s\", but %s has no clock that can be read: it is not in the trace", path,
              device->physical->info.name);
    return;
  }
  if (leati_trace_open(path)) {
    leati_trace_device(device->index, device->physical->info.name, device->queue_count);
    leati_gate_at_exit(write_rest);
    atomic_store_explicit(&traced[device->index], device, memory_order_release);
    leati_profiler_trace(device, true);
  }
}

void leati_profiler_detach(leat_device *device) {
  if (atomic_exchange_explicit(&traced[device->index], NULL, memory_order_acq_rel) != NULL) {
    leati_lanes_collect(device, true);
    leati_profiler_trace(device, false);
    leati_trace_flush();
  }
}
