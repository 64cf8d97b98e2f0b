/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/profiler.h"

#include "core/status.h"
#include "core/sync.h"
#include "record/trace.h"

/* Records of a profile that are kept where the host does not say (a second of a model of 500 kernels at 50 runs/s,
 * twice). */
#define PROFILE_CAPACITY (UINT32_C(1) << 16)

/* Records that start() can be asked for at most. */
#define CAPACITY_MAX (UINT32_C(1) << 22)
/* Bits of leat_device::profiling: the trace asks; and where the number of the run begins. */
#define TRACE 1u
#define RUN_SHIFT 1u

struct leati_profiler {
  leati_mutex lock; /* guards the ring and the runs, and changes of leat_device::profiling */
  leat_profile_record *ring;
  uint32_t capacity, first, count;
  uint32_t run; /* number of the last one */
  bool running;
  uint64_t lost;
};

/* Calls that were numbered, of all devices: no two of a trace are alike. Relaxed: nothing else hangs on it. */
static _Atomic uint64_t launches;

int32_t leati_profiler_create(leat_device *device, leat_error *err) {
  device->profiler = leati_calloc(1, sizeof(*device->profiler));
  if (device->profiler == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a profiler");
  }
  leati_mutex_init(&device->profiler->lock, LEATI_RANK_PROFILER);
  return LEAT_OK;
}

void leati_profiler_destroy(leat_device *device) {
  if (device->profiler != NULL) {
    leati_mutex_destroy(&device->profiler->lock);
    leati_free(device->profiler->ring);
    leati_free(device->profiler);
    device->profiler = NULL;
  }
}

bool leati_profiler_possible(const leat_device *device) {
  return device->timestamps != NULL;
}

/* Says who asks. `lock` held. Lists that are opened later see it: relaxed, because whoever called start() or stop() has
 * ordered what it means to be recorded behind that call. */
static void set_modes(leat_device *device, uint32_t run, bool trace) {
  atomic_store_explicit(&device->profiling, run << RUN_SHIFT | (trace ? TRACE : 0), memory_order_relaxed);
}

/* Whether the trace asks. `lock` held. */
static bool is_traced(const leat_device *device) {
  return (atomic_load_explicit(&device->profiling, memory_order_relaxed) & TRACE) != 0;
}

int32_t leati_profiler_start(leat_device *device, uint32_t capacity, leat_error *err) {
  struct leati_profiler *const profiler = device->profiler;
  if (!leati_profiler_possible(device)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "this device cannot be profiled: its queues have no timestamps, or the host cannot reset them "
                      "(hostQueryReset)");
  }
  if (capacity > CAPACITY_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "a capacity of %u records; allowed: up to %u, or 0 for %u",
                      capacity, CAPACITY_MAX, PROFILE_CAPACITY);
  }
  capacity = capacity != 0 ? capacity : PROFILE_CAPACITY;
  leat_profile_record *const ring = leati_calloc(capacity, sizeof(*ring));
  if (ring == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u records of a profile", capacity);
  }
  leati_mutex_lock(&profiler->lock);
  leat_profile_record *const unused = profiler->running ? ring : profiler->ring;
  const int32_t status =
      profiler->running
          ? leati_fail(err, LEAT_ERROR_BUSY, "the profiler of device %u is running; stop it first", device->index)
          : LEAT_OK;
  if (status == LEAT_OK) {
    profiler->ring = ring;
    profiler->capacity = capacity;
    profiler->first = profiler->count = 0;
    profiler->lost = 0;
    profiler->running = true;
    /* Never 0, and so that it fits beside the other bit. */
    profiler->run = profiler->run == UINT32_MAX >> RUN_SHIFT ? 1 : profiler->run + 1;
    set_modes(device, profiler->run, is_traced(device));
  }
  leati_mutex_unlock(&profiler->lock);
  leati_free(unused);
  return status;
}

bool leati_profiler_stop(leat_device *device) {
  struct leati_profiler *const profiler = device->profiler;
  leati_mutex_lock(&profiler->lock);
  const bool was = profiler->running;
  profiler->running = false;
  set_modes(device, 0, is_traced(device));
  leati_mutex_unlock(&profiler->lock);
  return was;
}

void leati_profiler_trace(leat_device *device, bool on) {
  struct leati_profiler *const profiler = device->profiler;
  leati_mutex_lock(&profiler->lock);
  set_modes(device, profiler->running ? profiler->run : 0, on);
  leati_mutex_unlock(&profiler->lock);
}

bool leati_profiler_take(leat_device *device, leat_profile_record *out) {
  struct leati_profiler *const profiler = device->profiler;
  leati_mutex_lock(&profiler->lock);
  const bool found = profiler->count != 0;
  if (found) {
    *out = profiler->ring[profiler->first];
    profiler->first = profiler->first + 1 == profiler->capacity ? 0 : profiler->first + 1;
    --profiler->count;
  }
  leati_mutex_unlock(&profiler->lock);
  return found;
}

leat_profiler_info leati_profiler_get(leat_device *device) {
  struct leati_profiler *const profiler = device->profiler;
  leati_mutex_lock(&profiler->lock);
  const leat_profiler_info info = {
      .struct_size = sizeof(info),
      .capacity = profiler->capacity,
      .flags = (profiler->running ? LEAT_PROFILER_RUNNING : 0) |
               (leati_profiler_possible(device) && device->physical->calibrates ? LEAT_PROFILER_CALIBRATED : 0),
      .pending_count = profiler->count,
      .lost_count = profiler->lost};
  leati_mutex_unlock(&profiler->lock);
  return info;
}

uint64_t leati_profiler_launch(void) {
  return atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) + 1;
}

/* Whether what was recorded then is of the last run. `lock` held. */
static bool is_last(const struct leati_profiler *profiler, uint32_t modes) LEATI_HOLDS(profiler->lock) {
  return modes >> RUN_SHIFT == profiler->run;
}

/* Puts a record into the ring, if it is of the last run. */
static void keep(struct leati_profiler *profiler, uint32_t modes, const leat_profile_record *record) {
  leati_mutex_lock(&profiler->lock);
  if (is_last(profiler, modes) && profiler->count < profiler->capacity) {
    const uint32_t left = profiler->capacity - profiler->first;
    profiler->ring[profiler->count < left ? profiler->first + profiler->count : profiler->count - left] = *record;
    ++profiler->count;
  } else if (is_last(profiler, modes)) {
    ++profiler->lost;
  }
  leati_mutex_unlock(&profiler->lock);
}

void leati_profiler_put(leat_device *device, uint32_t modes, const leat_profile_record *record) {
  if (modes >> RUN_SHIFT != 0) {
    keep(device->profiler, modes, record);
  }
  if ((modes & TRACE) != 0) {
    leati_trace_put(device->index, record);
  }
}

void leati_profiler_lose(leat_device *device, uint32_t modes, uint32_t count) {
  struct leati_profiler *const profiler = device->profiler;
  leati_mutex_lock(&profiler->lock);
  profiler->lost += modes >> RUN_SHIFT != 0 && is_last(profiler, modes) ? count : 0;
  leati_mutex_unlock(&profiler->lock);
}
