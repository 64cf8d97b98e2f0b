/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/status.h"
#include "device/budget.h"
#include "device/chunk.h"
#include "device/device.h"
#include "device/finding.h"
#include "memory/guard.h"
#include "memory/imported.h"
#include "memory/kept.h"
#include "memory/memory_state.h"
#include "memory/quarantine.h"
#include "memory/segment.h"
#include "memory/segment_table.h"
#include "memory/size_class.h"

/* Times that counters are read before a difference is taken that may be of no one moment: other threads free blocks all
 * the time, and seldom in between twice. */
#define COUNT_TRIES_MAX 8

/* Blocks that the report of leaks names. */
#define LEAKS_NAMED 10

leati_block *leati_memory_find(leat_device *device, uint64_t address) {
  return leati_segment_table_find(&device->memory->table, address);
}

leati_block *leati_memory_find_host(leat_device *device, const void *pointer) {
  return leati_segment_table_find(&device->memory->hosts, (uint64_t)(uintptr_t)pointer);
}

/* What must be taken from the driver at least for a block of so many bytes. */
static uint64_t least_for(uint64_t block_size, uint64_t front) {
  return block_size + front + LEATI_BLOCK_ALIGNMENT;
}

bool leati_memory_possible(leat_device *device, uint64_t size) {
  struct leati_memory *const memory = device->memory;
  const leat_device_info *const info = &device->physical->info;
  if (size > info->memory_size) {
    return false;
  }
  uint64_t block_size;
  (void)leati_class_of(memory, size, &block_size);
  const uint64_t least = least_for(block_size, memory->front);
  return least <= info->max_allocation_size && least <= leati_budget_limit(device);
}

/* Counts a block that was handed out, unless it is a temporary. */
static void count(leat_device *device, const leati_demand *demand) {
  leati_memory_figures *const figures = &device->memory->figures[demand->host ? 1 : 0];
  if (!demand->temporary) {
    (void)atomic_fetch_add_explicit(&figures->allocations, 1, memory_order_relaxed);
    leati_raise(&figures->allocated_peak,
                atomic_fetch_add_explicit(&figures->allocated, demand->size, memory_order_seq_cst) + demand->size);
  }
}

/* Takes a block that the timeline keeps; NULL: it keeps none for this. The lock of the stream that has it is held. */
static leati_block *take_kept(leat_device *device, const leati_demand *demand) {
  uint64_t block_size;
  leati_block *const kept =
      leati_kept_take(demand->timeline, leati_class_of(device->memory, demand->size, &block_size));
  if (kept != NULL) {
    kept->size = demand->size;
    ++kept->generation;
    leati_class_hand_out(device, kept, demand, true);
    count(device, demand);
  }
  return kept;
}

/* Takes a block. */
static int32_t take(leat_device *device, const leati_demand *demand, leati_block **out, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  const leat_device_info *const info = &device->physical->info;
  const uint64_t size = demand->size;
  if (size > info->memory_size) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%" PRIu64 " bytes were asked for%s; the device has %" PRIu64,
                      size,
                      demand->host ? " of the host's memory, of which Leat gives no more than the device has" : "",
                      info->memory_size);
  }
  uint64_t block_size;
  const uint32_t class_index = leati_class_of(memory, size, &block_size);
  const uint64_t least = least_for(block_size, memory->front);
  if (least > info->max_allocation_size) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY,
                      "%" PRIu64 " bytes are more than one allocation can have on this device (%" PRIu64 ")", size,
                      info->max_allocation_size);
  }
  int32_t status = leati_class_take(device, demand, false, out, err);
  if (status == LEAT_ERROR_OUT_OF_MEMORY) {
    /* What is cached in other classes may be what is missing here. */
    const uint64_t usual = block_size * (leati_class_blocks(class_index, block_size) - 1) + least;
    leati_memory_reclaim(device, usual, least);
    leati_forget(err);
    status = leati_class_take(device, demand, true, out, err);
  }
  LEATI_TRY(status);
  count(device, demand);
  return LEAT_OK;
}

int32_t leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out_address,
                           leat_error *err) {
  const leati_demand demand = {.size = size, .timeline = timeline};
  leati_block *block = timeline != NULL ? take_kept(device, &demand) : NULL;
  if (block == NULL) {
    LEATI_TRY(take(device, &demand, &block, err));
  }
  *out_address = leati_block_address(block);
  return LEAT_OK;
}

int32_t leati_memory_take_temporary(leat_device *device, uint64_t size, leati_timeline *timeline, leati_block **out,
                                    leat_error *err) {
  const leati_demand demand = {.size = size, .temporary = true, .timeline = timeline};
  *out = take_kept(device, &demand);
  return *out != NULL ? LEAT_OK : take(device, &demand, out, err);
}

int32_t leati_memory_alloc_host(leat_device *device, uint64_t size, void **out_pointer, leat_error *err) {
  const leati_demand demand = {.size = size, .host = true};
  leati_block *block;
  LEATI_TRY(take(device, &demand, &block, err));
  *out_pointer = leati_block_mapped(block);
  return LEAT_OK;
}

void leati_memory_hold(leati_block *block) {
  (void)atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
}

void leati_memory_retain(leati_block *block) {
  (void)atomic_fetch_add_explicit(&block->references, LEATI_SHARE, memory_order_relaxed);
}

int32_t leati_memory_import(leat_device *device, const leat_external_memory *memory, uint64_t *out_address,
                            leat_error *err) {
  leati_block *block;
  LEATI_TRY(leati_imported_take(device, memory, &block, err));
  *out_address = leati_block_address(block);
  return LEAT_OK;
}

/* Gives back a block whose last reference went. */
static int32_t give(leat_device *device, leati_block *block, leat_error *err) {
  if (block->home->class_index == LEATI_CLASS_IMPORTED) {
    leati_imported_settle(device);
    return LEAT_OK;
  }
  leati_class_note_freed(device, block);
  leati_block *const other = device->memory->guard ? block : leati_kept_put_freed(block);
  return other == NULL ? LEAT_OK : leati_class_give(device, other, err);
}

/* Keeps what nobody reads the message of for the next synchronisation. */
static int32_t keep_finding(leat_device *device, int32_t status, const leat_error *failure) {
  if (status != LEAT_OK) {
    leati_finding_keep(device, failure);
  }
  return status;
}

/* As give() where nobody reads a message. */
static int32_t give_unheard(leat_device *device, leati_block *block) {
  leat_error failure = {.struct_size = sizeof(failure)};
  return keep_finding(device, give(device, block, &failure), &failure);
}

void leati_memory_give_temporary(leat_device *device, leati_timeline *timeline, leati_block *block) {
  leat_error failure = {.struct_size = sizeof(failure)};
  atomic_store_explicit(&block->references, 0, memory_order_release);
  leati_block *const other = device->memory->guard ? block : leati_kept_put(timeline, block);
  if (other != NULL) {
    (void)keep_finding(device, leati_class_give(device, other, &failure), &failure);
  }
}

void leati_memory_release(leat_device *device, leati_block *block) {
  if (atomic_fetch_sub_explicit(&block->references, LEATI_SHARE, memory_order_acq_rel) == LEATI_SHARE) {
    (void)give_unheard(device, block);
  }
}

/* Ends a hold of the caller's. Of two threads that end one hold, one gets the error. `address` is for messages. */
static int32_t drop_hold(leat_device *device, leati_block *block, uint64_t address, leat_error *err) {
  /* A counted decrement that refuses to go below zero. */
  uint64_t references = atomic_load_explicit(&block->references, memory_order_relaxed);
  do {
    if (references % LEATI_SHARE == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "the block at 0x%" PRIx64 " was freed already", address);
    }
  } while (!atomic_compare_exchange_weak_explicit(&block->references, &references, references - 1, memory_order_acq_rel,
                                                  memory_order_relaxed));
  if (references != 1) {
    return LEAT_OK;
  }
  return err == NULL ? give_unheard(device, block) : give(device, block, err);
}

int32_t leati_memory_free(leat_device *device, uint64_t address, leat_error *err) {
  leati_block *const block = leati_memory_find(device, address);
  if (block == NULL || leati_block_address(block) != address) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "0x%" PRIx64 " is not the address of a live block: freed already, or never allocated here",
                      address);
  }
  return drop_hold(device, block, address, err);
}

int32_t leati_memory_free_host(leat_device *device, void *pointer, leat_error *err) {
  leati_block *const block = leati_memory_find_host(device, pointer);
  if (block == NULL || leati_block_mapped(block) != pointer) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%p is not what alloc_host() gave: freed already, or never allocated here", pointer);
  }
  return drop_hold(device, block, (uint64_t)(uintptr_t)pointer, err);
}

/* Gives idle segments, large ones first, and then idle staging back until no more than `target` bytes are taken;
 * returns their bytes. */
static uint64_t give_idle_back(leat_device *device, uint64_t target) {
  struct leati_memory *const memory = device->memory;
  /* Streams that lie idle hold the staging of what they did last. And blocks whose use has passed are known to be
   * idle then, also where another thread is making a stream's downloads all the while. */
  leati_timelines_retire(device);
  leati_kept_release(device);
  leati_segment *gone = NULL;
  uint64_t bytes = 0;
  leati_mutex_lock(&memory->trim_lock);
  for (uint32_t i = LEATI_CLASS_ALL; i-- > 0;) {
    if (i != LEATI_CLASS_IMPORTED) {
      gone = leati_class_detach_idle(device, &memory->classes[i], true, target, gone, &bytes);
    }
  }
  leati_class_give_back(device, gone);
  if (leati_budget_committed(device) > target) {
    bytes += leati_chunks_trim(device);
  }
  leati_mutex_unlock(&memory->trim_lock);
  return bytes;
}

uint64_t leati_memory_trim(leat_device *device) {
  leati_imported_settle(device);
  return give_idle_back(device, 0);
}

void leati_memory_reclaim(leat_device *device, uint64_t wanted, uint64_t least) {
  uint64_t target;
  if (leati_budget_target(device, wanted, least, &target) && give_idle_back(device, target) != 0) {
    (void)atomic_fetch_add_explicit(&device->memory->reclaims, 1, memory_order_relaxed);
  }
}

void leati_memory_last_uses(leat_device *device, leati_stamp *uses, uint32_t count) {
  struct leati_memory *const memory = device->memory;
  leati_mutex_lock(&memory->trim_lock);
  for (uint32_t i = 0; i < LEATI_CLASS_ALL; ++i) {
    leati_size_class *const class = &memory->classes[i];
    uint32_t looked = 0;
    if (i == LEATI_CLASS_IMPORTED) {
      continue;
    }
    leati_mutex_lock(&class->lock);
    for (const leati_segment *s = class->segments; s != NULL; s = s->next) {
      for (uint32_t j = 0; j < s->carved; ++j) {
        leati_block *const block = &s->blocks[j];
        if (atomic_load_explicit(&block->references, memory_order_acquire) == 0) {
          leati_block_note_uses(block, uses, count);
        }
      }
      leati_class_let_others_in(class, 1 + s->carved, &looked);
    }
    leati_mutex_unlock(&class->lock);
  }
  leati_mutex_unlock(&memory->trim_lock);
}

bool leati_memory_guarded(const leat_device *device) {
  return device->memory->guard;
}

int32_t leati_memory_guard_check(leat_device *device, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  if (!memory->guard) {
    return LEAT_OK;
  }
  for (uint32_t i = 0; i < LEATI_CLASS_ALL; ++i) {
    if (i != LEATI_CLASS_IMPORTED) {
      leati_quarantine_inspect(device, &memory->classes[i]);
    }
  }
  return leati_finding_tell(device, err);
}

/* A peak for a thread that has seen `now`: the one that raised the counter may not have come to raise the peak yet. */
static uint64_t highest(_Atomic uint64_t *peak, uint64_t now) {
  const uint64_t seen = atomic_load_explicit(peak, memory_order_relaxed);
  return seen > now ? seen : now;
}

/* Reads how many blocks were allocated and freed so that the difference is what was live at some moment: where blocks
 * were freed between the two, as while this thread had no processor, once more. */
static void read_counts(const leati_memory_figures *figures, leat_memory_stats *out) {
  for (uint32_t tries = 0; tries < COUNT_TRIES_MAX; ++tries) {
    out->free_count = atomic_load_explicit(&figures->frees, memory_order_acquire);
    out->allocation_count = atomic_load_explicit(&figures->allocations, memory_order_acquire);
    out->live_block_count = out->allocation_count - out->free_count;
    if (atomic_load_explicit(&figures->frees, memory_order_relaxed) == out->free_count) {
      return;
    }
  }
}

void leati_memory_stats_read(leat_device *device, leat_memory_stats *out) {
  struct leati_memory *const memory = device->memory;
  leati_memory_figures *const figures = &memory->figures[0], *const host = &memory->figures[1];
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  out->allocated_bytes = atomic_load_explicit(&figures->allocated, memory_order_relaxed);
  out->allocated_peak = highest(&figures->allocated_peak, out->allocated_bytes);
  out->reserved_bytes = atomic_load_explicit(&figures->reserved, memory_order_relaxed);
  out->reserved_peak = highest(&figures->reserved_peak, out->reserved_bytes);
  read_counts(figures, out);
  out->driver_call_count = atomic_load_explicit(&figures->driver_calls, memory_order_relaxed);
  out->cached_bytes = atomic_load_explicit(&figures->cached, memory_order_relaxed);
  out->staging_bytes = leati_chunks_bytes(device);
  out->limit_bytes = leati_budget_limit(device);
  out->reclaim_count = atomic_load_explicit(&memory->reclaims, memory_order_relaxed);
  out->host_allocated_bytes = atomic_load_explicit(&host->allocated, memory_order_relaxed);
  out->host_reserved_bytes = atomic_load_explicit(&host->reserved, memory_order_relaxed);
}

void leati_memory_classes_read(leat_device *device, uint32_t *inout_count, leat_memory_class *out) {
  const uint32_t capacity = *inout_count;
  uint32_t count = 0;
  for (uint32_t i = 0; i < LEATI_CLASS_COUNT; ++i) {
    leati_size_class *const class = &device->memory->classes[i];
    leati_mutex_lock(&class->lock);
    const uint64_t live = atomic_load_explicit(&class->live_count, memory_order_relaxed);
    const leat_memory_class line = {
        .struct_size = sizeof(line),
        .block_size = i == LEATI_CLASS_LARGE ? 0 : class->block_size,
        .live_count = live,
        .cached_count = class->carved_count - live,
        .reserved_bytes = class->reserved_bytes,
        .allocation_count = atomic_load_explicit(&class->allocation_count, memory_order_relaxed),
        .reuse_count = atomic_load_explicit(&class->reuse_count, memory_order_relaxed)};
    leati_mutex_unlock(&class->lock);
    if (line.allocation_count == 0 && line.reserved_bytes == 0) {
      continue;
    }
    if (count < capacity) {
      out[count] = line;
    }
    ++count;
  }
  *inout_count = count;
}

/* Lets a peak begin again from a counter. An allocation at the same time is in the counter before it is in the peak; if
 * its peak is lost here, the second reading of the counter has it. */
static void reset_peak(_Atomic uint64_t *peak, _Atomic uint64_t *counter) {
  (void)atomic_exchange_explicit(peak, atomic_load_explicit(counter, memory_order_relaxed), memory_order_seq_cst);
  leati_raise(peak, atomic_load_explicit(counter, memory_order_seq_cst));
}

void leati_memory_reset_peaks(leat_device *device) {
  leati_memory_figures *const figures = &device->memory->figures[0];
  reset_peak(&figures->allocated_peak, &figures->allocated);
  reset_peak(&figures->reserved_peak, &figures->reserved);
}

/* Chooses the memory that the host maps, and the heap that counts.
 * @errors UNAVAILABLE: guarding is on and there is no memory for it */
static int32_t choose_memory(leat_device *device, uint32_t *out_heap, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  const leati_physical *const physical = device->physical;
  const VkPhysicalDeviceMemoryProperties *const all = &physical->memory;
  const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  *out_heap = all->memoryTypes[device->device_memory_type].heapIndex;
  memory->any_mapped_type = leati_physical_memory_type(physical, mapped, 0, 0);
  if (memory->guard) {
    /* The host reads far more here than the device does, so it is the host that should have it near. */
    memory->mapped_type = leati_physical_memory_type(physical, mapped, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    if (memory->mapped_type == UINT32_MAX) {
      return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                        "LEAT_MEMORY_GUARD is 1, which needs memory that both the host and the device see; this device "
                        "has none, so leave the setting at 0");
    }
    *out_heap = all->memoryTypes[memory->mapped_type].heapIndex;
    return LEAT_OK;
  }
  memory->mapped_type = leati_physical_memory_type(physical, mapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
                                                   VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  /* A window of a few hundred MiB, which devices without a resizable one have, is left to staging. */
  if (memory->mapped_type != UINT32_MAX && !leati_physical_is_own(physical, memory->mapped_type)) {
    memory->mapped_type = UINT32_MAX;
  }
  return LEAT_OK;
}

int32_t leati_memory_create(leat_device *device, leat_error *err) {
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  struct leati_memory *const memory = leati_calloc_line(sizeof(*memory));
  if (memory == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the allocator");
  }
  for (uint32_t i = 0; i < LEATI_CLASS_ALL; ++i) {
    leati_mutex_init(&memory->classes[i].lock, LEATI_RANK_MEMORY);
  }
  leati_mutex_init(&memory->trim_lock, LEATI_RANK_TRIM);
  leati_segment_table_create(&memory->table, false);
  leati_segment_table_create(&memory->hosts, true);
  device->memory = memory;
  memory->guard = config->memory_guard != LEATI_GUARD_OFF;
  memory->pages = config->memory_guard == LEATI_GUARD_PAGES;
  memory->front = memory->guard ? LEATI_GUARD_ZONE : 0;
  uint32_t heap;
  LEATI_TRY(choose_memory(device, &heap, err));
  return leati_budget_create(device, heap, err);
}

/* Names some of the blocks that are still held. */
static void name_leaks(const struct leati_memory *memory) {
  int named = 0;
  for (uint32_t i = 0; i < LEATI_CLASS_ALL; ++i) {
    if (i == LEATI_CLASS_IMPORTED) {
      continue;
    }
    for (const leati_segment *s = memory->classes[i].segments; s != NULL; s = s->next) {
      for (uint32_t j = 0; j < s->carved && named < LEAKS_NAMED; ++j) {
        const leati_block *const block = &s->blocks[j];
        char generation[48] = "";
        if (atomic_load_explicit(&block->references, memory_order_acquire) == 0) {
          continue;
        }
        if (memory->guard) {
          (void)snprintf(generation, sizeof(generation), " (generation %" PRIu64 ")", block->generation);
        }
        leati_log(LEATI_LOG_INFO, "still held: 0x%" PRIx64 ", %" PRIu64 " bytes%s", leati_block_address(block),
                  leati_block_size(block), generation);
        ++named;
      }
    }
  }
}

void leati_memory_destroy(leat_device *device) {
  struct leati_memory *const memory = device->memory;
  if (memory == NULL) {
    return;
  }
  uint64_t held = 0, bytes = 0;
  for (int i = 0; i < 2; ++i) {
    held += atomic_load_explicit(&memory->figures[i].allocations, memory_order_relaxed) -
            atomic_load_explicit(&memory->figures[i].frees, memory_order_relaxed);
    bytes += atomic_load_explicit(&memory->figures[i].allocated, memory_order_relaxed);
  }
  if (held != 0) {
    leati_log(LEATI_LOG_WARN, "%" PRIu64 " blocks (%" PRIu64 " bytes) were still held when the device was closed", held,
              bytes);
    name_leaks(memory);
  }
  memory->closing = true;
  /* Says on the log what it finds; there is nobody left to be told otherwise. */
  (void)leati_memory_guard_check(device, NULL);
  for (uint32_t i = 0; i < LEATI_CLASS_ALL; ++i) {
    leati_segments_destroy(device, memory->classes[i].segments);
    leati_segments_destroy(device, memory->classes[i].retired[0]);
    leati_segments_destroy(device, memory->classes[i].retired[1]);
    leati_mutex_destroy(&memory->classes[i].lock);
  }
  leati_segment_table_destroy(&memory->table);
  leati_segment_table_destroy(&memory->hosts);
  leati_mutex_destroy(&memory->trim_lock);
  leati_free(memory);
  device->memory = NULL;
  leati_budget_destroy(device);
}
