/* SPDX-License-Identifier: BSD-3-Clause */
#include "allocator.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/line.h"
#include "ep_gate.h"
#include "sync_stream.h"

/* Size classes whose figures are given; no backend has as many. */
#define CLASS_MAX 128u

typedef struct allocator {
  OrtAllocator base;
  leati_shared_device *device;
  bool host; /* its memory is of the host */
  leati_allocator_owner owner;
  /* One until it is destroyed, and one of each block. Who ends the last frees it (acquire-release). */
  _Alignas(LEATI_CACHE_LINE) _Atomic(size_t) holds;
} allocator;
LEATI_APART(allocator, owner, holds);

static void end_hold(allocator *self) {
  if (atomic_fetch_sub_explicit(&self->holds, 1, memory_order_acq_rel) == 1) {
    const leati_allocator_owner owner = self->owner;
    free(self);
    owner.gone(owner.owner);
  }
}

/* Notes a block that was allocated; NULL: none was. */
static void hold(allocator *self, const void *block) {
  if (block != NULL) {
    atomic_fetch_add_explicit(&self->holds, 1, memory_order_relaxed);
  }
}

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

/* Logs why an allocation failed, and keeps it for leati_allocator_take_failure(). */
static void note_failure(leati_shared_device *device, size_t size, const leat_error *error) {
  snprintf(failure.reason, sizeof(failure.reason), "%zu bytes on %s: %s", size, device->info.name, error->message);
  failure.set = true;
  leati_ort_log(device->runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": cannot allocate %s",
                failure.reason);
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
    note_failure(device, size, &error);
    return NULL;
  }
  size_t largest = atomic_load_explicit(&device->largest, memory_order_relaxed);
  while (size > largest && !atomic_compare_exchange_weak_explicit(&device->largest, &largest, size,
                                                                  memory_order_relaxed, memory_order_relaxed)) {
  }
  return (void *)(uintptr_t)address;
}

static void *allocate_host(leati_shared_device *device, size_t size) {
  leat_error error = {.struct_size = sizeof(error)};
  leat_device *opened = NULL;
  void *block = NULL;
  int32_t code = leati_shared_device_open(device, &opened, &error);
  if (code == LEAT_OK) {
    code = device->runtime->leat->memory->alloc_host(opened, size, &block, &error);
  }
  if (code != LEAT_OK) {
    note_failure(device, size, &error);
    return NULL;
  }
  return block;
}

static void *ORT_API_CALL memory_alloc(OrtAllocator *self, size_t size) {
  void *block = NULL;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_shared_device *device = ((allocator *)self)->device;
    block = ((allocator *)self)->host ? allocate_host(device, size) : allocate(device, size, NULL);
    hold((allocator *)self, block);
    leati_ep_gate_leave();
  }
  return block;
}

static void *ORT_API_CALL memory_alloc_on_stream(OrtAllocator *self, size_t size, OrtSyncStream *stream) {
  void *block = NULL;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_shared_device *device = ((allocator *)self)->device;
    const leati_sync_stream *ours = leati_sync_stream_of(device->runtime, stream);
    block = allocate(device, size, ours != NULL && ours->device == device ? ours->handle : NULL);
    hold((allocator *)self, block);
    leati_ep_gate_leave();
  }
  return block;
}

static void ORT_API_CALL memory_free(OrtAllocator *self, void *block) {
  if (block == NULL || leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return;
  }
  leati_shared_device *device = ((allocator *)self)->device;
  leat_device *opened = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(device, &opened, &error);
  if (code == LEAT_OK) {
    const leat_memory_api *memory = device->runtime->leat->memory;
    code = ((allocator *)self)->host ? memory->free_host(opened, block, &error)
                                     : memory->free(opened, (uint64_t)(uintptr_t)block, &error);
  }
  if (code != LEAT_OK) {
    leati_ort_log(device->runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": cannot free %p: %s", block,
                  error.message);
  }
  if (code == LEAT_OK || code == LEAT_ERROR_CORRUPTED) {
    end_hold((allocator *)self);
  }
  leati_ep_gate_leave();
}

static const OrtMemoryInfo *ORT_API_CALL memory_info(const OrtAllocator *self) {
  const allocator *mine = (const allocator *)self;
  return mine->host ? mine->device->host_info : mine->device->memory_info;
}

static void add_figure(const leati_runtime *runtime, OrtKeyValuePairs *out, const char *key, uint64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%" PRIu64, value);
  runtime->ort->AddKeyValuePair(out, key, text);
}

/* The figures of each size class, under "leat.class.BYTES.". */
static int32_t classes_read(const leati_runtime *runtime, leat_device *device, OrtKeyValuePairs *out, leat_error *err) {
  leat_memory_class classes[CLASS_MAX];
  for (size_t i = 0; i < CLASS_MAX; ++i) {
    classes[i].struct_size = sizeof(classes[i]);
  }
  uint32_t count = CLASS_MAX;
  int32_t code = runtime->leat->memory->classes(device, &count, classes, err);
  for (uint32_t i = 0; code == LEAT_OK && i < (count < CLASS_MAX ? count : CLASS_MAX); ++i) {
    const struct {
      const char *name;
      uint64_t value;
    } rows[] = {{"live", classes[i].live_count},
                {"cached", classes[i].cached_count},
                {"reserved", classes[i].reserved_bytes},
                {"allocations", classes[i].allocation_count},
                {"reuses", classes[i].reuse_count}};
    for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); ++j) {
      /* The class of blocks that have each a size of its own has the number 0. */
      char key[64];
      snprintf(key, sizeof(key), "leat.class.%" PRIu64 ".%s", classes[i].block_size, rows[j].name);
      add_figure(runtime, out, key, rows[j].value);
    }
  }
  return code;
}

/* A figure and its name. */
typedef struct figure {
  const char *key;
  uint64_t value;
} figure;

static void add_figures(const leati_runtime *runtime, OrtKeyValuePairs *out, const figure *figures, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    add_figure(runtime, out, figures[i].key, figures[i].value);
  }
}

/* The figures of memory of the host, by ONNX Runtime's names. */
static void add_host_figures(const leati_runtime *runtime, OrtKeyValuePairs *out, const leat_memory_stats *stats,
                             uint64_t limit) {
  const figure rows[] = {
      {"Limit", limit}, {"InUse", stats->host_allocated_bytes}, {"TotalAllocated", stats->host_reserved_bytes}};
  add_figures(runtime, out, rows, sizeof(rows) / sizeof(rows[0]));
}

static OrtStatus *stats_read(leati_shared_device *device, bool host, OrtKeyValuePairs **out) {
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
    code = host ? LEAT_OK : classes_read(runtime, opened, *out, &error);
  }
  if (code != LEAT_OK) {
    runtime->ort->ReleaseKeyValuePairs(*out);
    *out = NULL;
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": reading the figures of device memory");
  }
  const uint64_t limit = stats.limit_bytes != 0 ? stats.limit_bytes : device->info.memory_size;
  if (host) {
    add_host_figures(runtime, *out, &stats, limit);
    return NULL;
  }
  /* ONNX Runtime's names come first. A "reserve" of its is nothing that the backend does. */
  const figure rows[] = {
      {"Limit", limit},
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
  add_figures(runtime, *out, rows, sizeof(rows) / sizeof(rows[0]));
  return NULL;
}

static OrtStatus *ORT_API_CALL memory_get_stats(const OrtAllocator *self, OrtKeyValuePairs **out) {
  leati_shared_device *device = ((const allocator *)self)->device;
  OrtStatus *status = leati_ep_gate_enter_or_fail(device->runtime, "Allocator.GetStats");
  if (status == NULL) {
    status = stats_read(device, ((const allocator *)self)->host, out);
    leati_ep_gate_leave();
  }
  return status;
}

#if ORT_API_VERSION >= 25
static OrtStatus *ORT_API_CALL memory_shrink(OrtAllocator *self) {
  leati_shared_device *device = ((allocator *)self)->device;
  const leati_runtime *runtime = device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "Allocator.Shrink");
  if (status != NULL) {
    return status;
  }
  /* A device that was never opened holds nothing to release. */
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  if (opened != NULL) {
    leat_error error = {.struct_size = sizeof(error)};
    status = leati_status_from(runtime, runtime->leat->memory->trim(opened, NULL, &error), &error,
                               LEATI_PROVIDER_NAME ": giving device memory back");
  }
  leati_ep_gate_leave();
  return status;
}
#endif

OrtStatus *leati_allocator_create(leati_shared_device *device, bool host, leati_allocator_owner owner,
                                  OrtAllocator **out) {
  allocator *made = leati_calloc_line(sizeof(*made));
  if (made == NULL) {
    return leati_status(device->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for an allocator");
  }
  *made = (allocator){.device = device, .host = host, .owner = owner};
  atomic_init(&made->holds, 1);
  made->base.version = device->runtime->version;
  made->base.Alloc = memory_alloc;
  made->base.Free = memory_free;
  made->base.Info = memory_info;
  made->base.GetStats = memory_get_stats;
  /* No stream orders what the host does with its memory. */
  made->base.AllocOnStream = host ? NULL : memory_alloc_on_stream;
#if ORT_API_VERSION >= 25
  made->base.Shrink = memory_shrink;
#endif
  *out = &made->base;
  return NULL;
}

void leati_allocator_destroy(OrtAllocator *base) {
  end_hold((allocator *)base);
}
