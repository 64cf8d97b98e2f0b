/* SPDX-License-Identifier: BSD-3-Clause */
#include "allocator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ep_gate.h"
#include "sync_stream.h"

/* Size classes whose figures are given; no backend has as many. */
#define CLASS_MAX 128u

typedef struct allocator {
  OrtAllocator base;
  leati_shared_device *device;
} allocator;

/* Why this thread's last allocation failed, if `set`. */
static _Thread_local struct {
  bool set;
  char reason[1024 + LEAT_ERROR_MESSAGE_SIZE];
} failure;

const char *leati_allocator_take_failure(void) {
  bool set = failure.set;
  failure.set = false;
  return set ? failure.reason : NULL;
}

static void *allocate(leati_shared_device *device, size_t size, leat_stream *stream) {
  leat_error error = {.struct_size = sizeof(error)};
  leat_device *opened = NULL;
  uint64_t address = 0;
  int32_t code = leati_shared_device_open(device, &opened, &error);
  if (code == LEAT_OK) {
    code = device->runtime->leat->memory->alloc(opened, size, stream, &address, &error);
  }
  if (code != LEAT_OK) {
    snprintf(failure.reason, sizeof(failure.reason), "%zu bytes on %s: %s", size, device->info.name, error.message);
    failure.set = true;
    leati_ort_log(device->runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": cannot allocate %s",
                  failure.reason);
    return NULL;
  }
  size_t largest = atomic_load_explicit(&device->largest, memory_order_relaxed);
  while (size > largest && !atomic_compare_exchange_weak_explicit(&device->largest, &largest, size,
                                                                  memory_order_relaxed, memory_order_relaxed)) {
  }
  return (void *)(uintptr_t)address;
}

static void *ORT_API_CALL memory_alloc(OrtAllocator *self, size_t size) {
  void *block = NULL;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    block = allocate(((allocator *)self)->device, size, NULL);
    leati_ep_gate_leave();
  }
  return block;
}

static void *ORT_API_CALL memory_alloc_on_stream(OrtAllocator *self, size_t size, OrtSyncStream *stream) {
  void *block = NULL;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_shared_device *device = ((allocator *)self)->device;
    const leati_sync_stream *ours = leati_sync_stream_of(device->runtime, stream);
    block = allocate(device, size, ours && ours->device == device ? ours->handle : NULL);
    leati_ep_gate_leave();
  }
  return block;
}

static void ORT_API_CALL memory_free(OrtAllocator *self, void *block) {
  if (!block || leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return;
  }
  leati_shared_device *device = ((allocator *)self)->device;
  leat_device *opened = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(device, &opened, &error);
  if (code == LEAT_OK) {
    code = device->runtime->leat->memory->free(opened, (uint64_t)(uintptr_t)block, &error);
  }
  if (code != LEAT_OK) {
    leati_ort_log(device->runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": cannot free %p: %s", block,
                  error.message);
  }
  leati_ep_gate_leave();
}

static const OrtMemoryInfo *ORT_API_CALL memory_info(const OrtAllocator *self) {
  return ((const allocator *)self)->device->memory_info;
}

static void add_figure(const leati_runtime *runtime, OrtKeyValuePairs *out, const char *key, uint64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%" PRIu64, value);
  runtime->ort->AddKeyValuePair(out, key, text);
}

/* The figures of each size class, under "leat.class.BYTES.". */
static int32_t classes_read(const leati_runtime *runtime, leat_device *device, OrtKeyValuePairs *out, leat_error *err) {
  leat_memory_class classes[CLASS_MAX];
  for (size_t i = 0; i < CLASS_MAX; i++) {
    classes[i].struct_size = sizeof(classes[i]);
  }
  uint32_t count = CLASS_MAX;
  int32_t code = runtime->leat->memory->classes(device, &count, classes, err);
  for (uint32_t i = 0; code == LEAT_OK && i < (count < CLASS_MAX ? count : CLASS_MAX); i++) {
    const struct {
      const char *name;
      uint64_t value;
    } rows[] = {{"live", classes[i].live_count},
                {"cached", classes[i].cached_count},
                {"reserved", classes[i].reserved_bytes},
                {"allocations", classes[i].allocation_count},
                {"reuses", classes[i].reuse_count}};
    for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
      /* The class of blocks that have each a size of its own has the number 0. */
      char key[64];
      snprintf(key, sizeof(key), "leat.class.%" PRIu64 ".%s", classes[i].block_size, rows[j].name);
      add_figure(runtime, out, key, rows[j].value);
    }
  }
  return code;
}

static OrtStatus *stats_read(leati_shared_device *device, OrtKeyValuePairs **out) {
  const leati_runtime *runtime = device->runtime;
  *out = NULL;
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  leat_error error = {.struct_size = sizeof(error)};
  leat_device *opened = NULL;
  int32_t code = leati_shared_device_open(device, &opened, &error);
  if (code == LEAT_OK) {
    code = runtime->leat->memory->stats(opened, &stats, &error);
  }
  if (code == LEAT_OK) {
    runtime->ort->CreateKeyValuePairs(out);
    code = classes_read(runtime, opened, *out, &error);
  }
  if (code != LEAT_OK) {
    runtime->ort->ReleaseKeyValuePairs(*out);
    *out = NULL;
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": reading the figures of device memory");
  }
  /* ONNX Runtime's names come first. A "reserve" of its is nothing that the backend does. */
  const struct {
    const char *key;
    uint64_t value;
  } rows[] = {
      {"Limit", stats.limit_bytes != 0 ? stats.limit_bytes : device->info.memory_size},
      {"InUse", stats.allocated_bytes},
      {"TotalAllocated", stats.reserved_bytes},
      {"MaxInUse", stats.allocated_peak},
      {"NumAllocs", stats.allocation_count},
      {"NumReserves", 0},
      {"NumArenaExtensions", stats.driver_call_count},
      {"NumArenaShrinkages", stats.reclaim_count},
      {"MaxAllocSize", atomic_load_explicit(&device->largest, memory_order_relaxed)},
      {"leat.cached", stats.cached_bytes},
      {"leat.staging", stats.staging_bytes},
      {"leat.reserved_peak", stats.reserved_peak},
      {"leat.free_count", stats.free_count},
      {"leat.live_blocks", stats.live_block_count},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    add_figure(runtime, *out, rows[i].key, rows[i].value);
  }
  return NULL;
}

static OrtStatus *ORT_API_CALL memory_get_stats(const OrtAllocator *self, OrtKeyValuePairs **out) {
  leati_shared_device *device = ((const allocator *)self)->device;
  OrtStatus *status = leati_ep_gate_enter_or_fail(device->runtime, "Allocator.GetStats");
  if (!status) {
    status = stats_read(device, out);
    leati_ep_gate_leave();
  }
  return status;
}

#if ORT_API_VERSION >= 25
static OrtStatus *ORT_API_CALL memory_shrink(OrtAllocator *self) {
  leati_shared_device *device = ((allocator *)self)->device;
  const leati_runtime *runtime = device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "Allocator.Shrink");
  if (status) {
    return status;
  }
  /* A device that was never opened holds nothing to release. */
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  if (opened) {
    leat_error error = {.struct_size = sizeof(error)};
    status = leati_status_from(runtime, runtime->leat->memory->trim(opened, NULL, &error), &error,
                               LEATI_PROVIDER_NAME ": giving device memory back");
  }
  leati_ep_gate_leave();
  return status;
}
#endif

OrtStatus *leati_allocator_create(leati_shared_device *device, OrtAllocator **out) {
  allocator *made = calloc(1, sizeof(*made));
  if (!made) {
    return leati_status(device->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for an allocator");
  }
  made->base.version = device->runtime->version;
  made->base.Alloc = memory_alloc;
  made->base.Free = memory_free;
  made->base.Info = memory_info;
  made->base.GetStats = memory_get_stats;
  made->base.AllocOnStream = memory_alloc_on_stream;
#if ORT_API_VERSION >= 25
  made->base.Shrink = memory_shrink;
#endif
  made->device = device;
  *out = &made->base;
  return NULL;
}

void leati_allocator_destroy(OrtAllocator *base) {
  free((allocator *)base);
}
