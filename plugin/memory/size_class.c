/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/size_class.h"

#include <stdatomic.h>

#include "core/status.h"
#include "device/budget.h"
#include "device/device.h"
#include "memory/free_list.h"
#include "memory/guard.h"
#include "memory/quarantine.h"
#include "memory/segment.h"
#include "memory/segment_table.h"
#include "policy/allocation.h"

/* Free blocks that an allocation looks at, of those that were freed last and again of those that were freed first,
 * before it takes fresh memory. */
#define FREE_LIST_PROBES 8
/* Blocks that a walk looks at before it gives the class's lock up for a moment. */
#define BLOCKS_PER_HOLD 256u

_Static_assert(LEATI_CLASS_MAX <= LEATI_BLOCK_ALIGNMENT << ((LEATI_CLASS_LARGE - 1) / 4),
               "blocks up to LEATI_CLASS_MAX have classes below the last one");

/* The number of the class whose blocks have a size: 0 for the smallest, four numbers for every doubling. */
static uint32_t class_of_block_size(uint64_t block_size) {
  if (block_size <= LEATI_BLOCK_ALIGNMENT) {
    return 0;
  }
  const unsigned k = 63u - (unsigned)__builtin_clzll(block_size - 1);
  const uint64_t base = UINT64_C(1) << k;
  return (k - 8u) * 4u + (uint32_t)((block_size - base) * 4u / base);
}

uint32_t leati_class_of(const struct leati_memory *memory, uint64_t size, uint64_t *out_block_size) {
  if (!memory->pages) {
    const uint64_t needed = size + 2 * memory->front;
    *out_block_size = leati_block_size_for(needed, LEATI_BLOCK_ALIGNMENT);
    return needed > LEATI_CLASS_MAX ? LEATI_CLASS_LARGE : class_of_block_size(*out_block_size);
  }
  *out_block_size =
      ((size == 0 ? 1 : size) + LEATI_BLOCK_ALIGNMENT - 1) / LEATI_BLOCK_ALIGNMENT * LEATI_BLOCK_ALIGNMENT +
      LEATI_GUARD_ZONE;
  return LEATI_CLASS_LARGE;
}

uint32_t leati_class_blocks(uint32_t class_index, uint64_t block_size) {
  const bool large = class_index == LEATI_CLASS_LARGE || class_index == LEATI_CLASS_HOST + LEATI_CLASS_LARGE;
  return large ? 1 : leati_segment_blocks(block_size);
}

/* Makes a segment and links it into its class, whose lock is held. */
static int32_t segment_create(leat_device *device, leati_size_class *class, uint32_t class_index, uint64_t block_size,
                              uint32_t block_count, leat_error *err) LEATI_HOLDS(class->lock) {
  struct leati_memory *const memory = device->memory;
  leati_segment *const s = leati_segment_take(class, block_count);
  if (s == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a segment");
  }
  if (s->class_index != class_index) {
    /* Of one that was there before a thread may be reading it (memory/kept.c). */
    s->class_index = class_index;
  }
  s->block_size = block_size;
  s->size = block_size * block_count;
  s->carved = 0;
  s->free_count = 0;
  int32_t status = leati_segment_alloc(device, s, err);
  if (status == LEAT_OK) {
    status = leati_segment_table_insert(leati_class_is_host(class_index) ? &memory->hosts : &memory->table, s, err);
  }
  if (status != LEAT_OK) {
    leati_segment_free(device, s);
    leati_segment_retire(class, s);
    return status;
  }
  leati_memory_figures *const figures = leati_figures_of(memory, class_index);
  s->next = class->segments;
  class->segments = s;
  class->block_size = block_size;
  class->reserved_bytes += s->driver_size;
  (void)atomic_fetch_add_explicit(&figures->driver_calls, 1, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&figures->cached, s->driver_size, memory_order_relaxed);
  leati_raise(&figures->reserved_peak,
              atomic_fetch_add_explicit(&figures->reserved, s->driver_size, memory_order_seq_cst) + s->driver_size);
  return LEAT_OK;
}

void leati_class_let_others_in(leati_size_class *class, uint32_t looked, uint32_t *inout_sum) {
  *inout_sum += looked;
  if (*inout_sum >= BLOCKS_PER_HOLD) {
    leati_mutex_unlock(&class->lock);
    leati_mutex_lock(&class->lock);
    *inout_sum = 0;
  }
}

/* Whether every carved block of a segment is on the free list, and used by nobody. The class's lock is held. */
static bool segment_idle(leati_segment *s) {
  bool idle = s->free_count == s->carved;
  for (uint32_t i = 0; i < s->carved && idle; ++i) {
    idle = leati_block_reusable(&s->blocks[i], NULL);
  }
  return idle;
}

leati_segment *leati_class_detach_idle(leat_device *device, leati_size_class *class, bool drain, uint64_t target,
                                       leati_segment *gone, uint64_t *inout_bytes) {
  const struct leati_memory *const memory = device->memory;
  uint32_t looked = 0;
  leati_mutex_lock(&class->lock);
  if (memory->guard) {
    leati_quarantine_settle(device, class, drain ? UINT32_MAX : LEATI_QUARANTINE_PROBES, drain);
  }
  leati_segment **at = &class->segments;
  while (*at != NULL && leati_budget_committed(device) > target + *inout_bytes) {
    leati_segment *const s = *at;
    if (segment_idle(s)) {
      for (uint32_t i = 0; i < s->carved; ++i) {
        leati_free_list_take(class, &s->blocks[i]);
      }
      class->reserved_bytes -= s->driver_size;
      class->carved_count -= s->carved;
      *inout_bytes += s->driver_size;
      s->leaving = true;
      *at = s->next;
      s->next = gone;
      gone = s;
    } else {
      at = &s->next;
    }
    leati_class_let_others_in(class, 1 + s->carved, &looked);
  }
  leati_mutex_unlock(&class->lock);
  return gone;
}

void leati_class_give_back(leat_device *device, leati_segment *gone) {
  struct leati_memory *const memory = device->memory;
  if (gone != NULL) {
    leati_segment_table_remove_leaving(&memory->table);
    leati_segment_table_remove_leaving(&memory->hosts);
  }
  while (gone != NULL) {
    leati_segment *const next = gone->next;
    leati_size_class *const class = &memory->classes[gone->class_index];
    leati_memory_figures *const figures = leati_figures_of(memory, gone->class_index);
    const uint64_t bytes = gone->driver_size;
    leati_segment_free(device, gone);
    (void)atomic_fetch_sub_explicit(&figures->cached, bytes, memory_order_relaxed);
    (void)atomic_fetch_sub_explicit(&figures->reserved, bytes, memory_order_relaxed);
    gone->leaving = false;
    leati_mutex_lock(&class->lock);
    leati_segment_retire(class, gone);
    leati_mutex_unlock(&class->lock);
    gone = next;
  }
}

/* Finds a free block that can be used now, of the `probes` that were freed last or, `oldest`, of those that were freed
 * first. The class's lock is held. */
static leati_block *find_free(const leati_size_class *class, bool oldest, uint64_t block_size, uint32_t probes,
                              leati_timeline *timeline) LEATI_HOLDS(class->lock) {
  leati_block *block = oldest ? class->last_free : class->first_free;
  for (; block != NULL && probes > 0; --probes, block = oldest ? block->previous_free : block->next_free) {
    /* In the class of large blocks sizes differ: one that is a little larger will do. */
    if (leati_block_serves(block->home->block_size, block_size) && leati_block_reusable(block, timeline)) {
      return block;
    }
  }
  return NULL;
}

/* Takes a block off the free list that can be used now, if there is one among the `probes` at either end. What was
 * freed last is likelier to be in a cache, what was freed first to be in use no more: where many streams free what
 * their work in flight still uses, nothing else may be found. The class's lock is held. */
static leati_block *pop_free(leati_size_class *class, uint64_t block_size, uint32_t probes, leati_timeline *timeline)
    LEATI_HOLDS(class->lock) {
  leati_block *block = find_free(class, false, block_size, probes, timeline);
  if (block == NULL) {
    block = find_free(class, true, block_size, probes, timeline);
  }
  if (block != NULL) {
    leati_free_list_take(class, block);
  }
  return block;
}

/* Takes a block that was never used. The class's lock is held. */
static leati_block *carve(leati_size_class *class, uint64_t block_size) LEATI_HOLDS(class->lock) {
  leati_segment *const s = class->segments;
  if (s == NULL || s->carved == s->block_count || s->block_size != block_size) {
    return NULL;
  }
  ++class->carved_count;
  return &s->blocks[s->carved++];
}

void leati_class_hand_out(leat_device *device, leati_block *block, const leati_demand *demand, bool used_before) {
  const uint32_t class_index = block->home->class_index;
  leati_size_class *const class = &device->memory->classes[class_index];
  if (!demand->temporary) {
    (void)atomic_fetch_sub_explicit(&leati_figures_of(device->memory, class_index)->cached, block->home->block_size,
                                    memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&class->live_count, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&class->allocation_count, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&class->reuse_count, used_before ? 1 : 0, memory_order_relaxed);
  }
  block->for_stream = demand->timeline != NULL && !demand->temporary;
  atomic_store_explicit(&block->references, demand->temporary ? LEATI_TEMPORARY : 1, memory_order_release);
}

void leati_class_note_freed(leat_device *device, const leati_block *block) {
  const uint32_t class_index = block->home->class_index;
  leati_memory_figures *const figures = leati_figures_of(device->memory, class_index);
  (void)atomic_fetch_add_explicit(&figures->frees, 1, memory_order_release);
  (void)atomic_fetch_sub_explicit(&figures->allocated, block->size, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&figures->cached, block->home->block_size, memory_order_relaxed);
  (void)atomic_fetch_sub_explicit(&device->memory->classes[class_index].live_count, 1, memory_order_relaxed);
}

int32_t leati_class_take(leat_device *device, const leati_demand *demand, bool pressed, leati_block **out,
                         leat_error *err) {
  struct leati_memory *const memory = device->memory;
  leati_timeline *const timeline = demand->timeline;
  uint64_t block_size;
  const uint32_t class_index =
      leati_class_of(memory, demand->size, &block_size) + (demand->host ? LEATI_CLASS_HOST : 0);
  leati_size_class *const class = &memory->classes[class_index];
  int32_t status = LEAT_OK;
  if (memory->pages) {
    /* What has left the quarantine is closed, and of no more use. */
    uint64_t bytes = 0;
    leati_mutex_lock(&memory->trim_lock);
    leati_class_give_back(device, leati_class_detach_idle(device, class, pressed, 0, NULL, &bytes));
    leati_mutex_unlock(&memory->trim_lock);
  }
  leati_block *block = NULL;
  leati_mutex_lock(&class->lock);
  if (!memory->pages) {
    if (memory->guard) {
      leati_quarantine_settle(device, class, pressed ? UINT32_MAX : LEATI_QUARANTINE_PROBES, pressed);
    }
    block = pop_free(class, block_size, pressed ? UINT32_MAX : FREE_LIST_PROBES, timeline);
  }
  const bool used_before = block != NULL;
  if (block == NULL) {
    block = carve(class, block_size);
  }
  if (block == NULL) {
    const uint32_t usual = leati_class_blocks(class_index, block_size);
    status = segment_create(device, class, class_index, block_size, usual, err);
    if (status == LEAT_ERROR_OUT_OF_MEMORY && pressed && usual > 1) {
      leati_forget(err);
      status = segment_create(device, class, class_index, block_size, 1, err);
    }
    block = status == LEAT_OK ? carve(class, block_size) : NULL;
  }
  if (block != NULL) {
    leati_block_keep_stamps(block, timeline);
    block->size = demand->size;
    block->next_free = NULL;
    ++block->generation;
    if (memory->guard) {
      leati_quarantine_fence(block);
    }
    leati_class_hand_out(device, block, demand, used_before);
  }
  leati_mutex_unlock(&class->lock);
  *out = block;
  return status;
}

int32_t leati_class_give(leat_device *device, leati_block *block, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  leati_size_class *const class = &memory->classes[block->home->class_index];
  int32_t status = LEAT_OK;
  leati_mutex_lock(&class->lock);
  /* One that is pinned will never be idle, and would keep the others from leaving the quarantine. */
  if (memory->guard && !block->pinned) {
    status = leati_quarantine_put(device, class, block, err);
  } else {
    leati_free_list_put(class, block);
  }
  leati_mutex_unlock(&class->lock);
  return status;
}
