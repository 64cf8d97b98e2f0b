/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/profiler_table.h"

#include "core/status.h"
#include "device/device.h"
#include "streams/free_streams.h"
#include "streams/lane.h"
#include "streams/profiler.h"

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
  if (inout_count == NULL || (*inout_count != 0 && out == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      inout_count == NULL ? "inout_count is NULL" : "out is NULL with a capacity");
  }
  /* What is taken out cannot be put back, so all elements are looked at first. */
  for (uint32_t i = 0; i < *inout_count; ++i) {
    if (out[i].struct_size != sizeof(leat_profile_record)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "element %u of out has struct_size %u; expected %zu", i,
                        out[i].struct_size, sizeof(leat_profile_record));
    }
  }
  leati_lanes_collect(device);
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
  leati_lanes_collect(device);
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
