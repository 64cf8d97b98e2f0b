/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/block.h"

#include <stdatomic.h>

#include "core/sync.h"
#include "memory/memory_state.h"

uint64_t leati_block_address(const leati_block *block) {
  return block->home->address + (uint64_t)block->index * block->home->block_size;
}

uint64_t leati_block_size(const leati_block *block) {
  return block->size;
}

bool leati_block_holds(const leati_block *block, uint64_t address, uint64_t before, uint64_t after) {
  /* An address before the block is an offset behind any block. */
  const uint64_t offset = address - leati_block_address(block), size = leati_block_size(block);
  return offset >= before && offset <= size && after <= size - offset;
}

VkBuffer leati_block_buffer(const leati_block *block, uint64_t *out_offset) {
  *out_offset = block->home->buffer_offset + (uint64_t)block->index * block->home->block_size;
  return block->home->buffer;
}

void *leati_block_mapped(const leati_block *block) {
  unsigned char *const first = block->home->mapped;
  return first == NULL ? NULL : first + (uint64_t)block->index * block->home->block_size;
}

/* Adds a stamp or raises one that is there. `stamp_lock` held. False when there is no host memory. */
static bool put_stamp(leati_block *block, leati_timeline *timeline, uint64_t value) LEATI_HOLDS(block->stamp_lock) {
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    leati_stamp *const at = i < LEATI_INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - LEATI_INLINE_STAMPS];
    if (at->timeline == timeline) {
      at->value = at->value > value ? at->value : value;
      return true;
    }
  }
  if (block->stamp_count >= LEATI_INLINE_STAMPS) {
    const uint32_t spilled = block->stamp_count - LEATI_INLINE_STAMPS;
    if (spilled == block->spilled_capacity) {
      const uint32_t capacity = spilled == 0 ? 8 : spilled * 2;
      leati_stamp *const grown = leati_realloc(block->spilled, capacity * sizeof(*grown));
      if (grown == NULL) {
        return false;
      }
      block->spilled = grown;
      block->spilled_capacity = capacity;
    }
    block->spilled[spilled] = (leati_stamp){.timeline = timeline, .value = value};
  } else {
    block->stamps[block->stamp_count] = (leati_stamp){.timeline = timeline, .value = value};
  }
  ++block->stamp_count;
  return true;
}

/* Stamps a block that does not belong to the timeline yet. Not inlined: it is needed once for most blocks. */
__attribute__((noinline)) static void stamp_other(leati_block *block, leati_timeline *timeline, uint64_t value) {
  leati_mutex_lock(&block->stamp_lock);
  if (atomic_load_explicit(&block->owner, memory_order_relaxed) == NULL) {
    atomic_store_explicit(&block->owner_value, value, memory_order_release);
    atomic_store_explicit(&block->owner, timeline, memory_order_release);
  } else if (!put_stamp(block, timeline, value)) {
    /* Without memory for one more stamp the block is never reused: wrong data would be worse than a block less. */
    block->pinned = true;
  }
  leati_mutex_unlock(&block->stamp_lock);
}

void leati_block_stamp(leati_block *block, leati_timeline *timeline, uint64_t value) {
  /* The common case: the block belongs to one stream, whose lock orders these two. */
  if (atomic_load_explicit(&block->owner, memory_order_acquire) == timeline) {
    atomic_store_explicit(&block->owner_value, value, memory_order_release);
  } else {
    stamp_other(block, timeline, value);
  }
}

bool leati_block_idle(leati_block *block) {
  leati_mutex_lock(&block->stamp_lock);
  leati_timeline *const owner = atomic_load_explicit(&block->owner, memory_order_acquire);
  bool idle =
      !block->pinned &&
      (owner == NULL || leati_timeline_passed(owner, atomic_load_explicit(&block->owner_value, memory_order_acquire)));
  for (uint32_t i = 0; i < block->stamp_count && idle; ++i) {
    const leati_stamp *const at =
        i < LEATI_INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - LEATI_INLINE_STAMPS];
    idle = leati_timeline_passed(at->timeline, at->value);
  }
  leati_mutex_unlock(&block->stamp_lock);
  return idle;
}

bool leati_block_reusable(leati_block *block, leati_timeline *timeline) {
  leati_timeline *const owner = atomic_load_explicit(&block->owner, memory_order_acquire);
  if (block->pinned) {
    return false;
  }
  if (owner != NULL && owner != timeline &&
      !leati_timeline_passed(owner, atomic_load_explicit(&block->owner_value, memory_order_acquire))) {
    return false;
  }
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    const leati_stamp *const at =
        i < LEATI_INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - LEATI_INLINE_STAMPS];
    if (at->timeline != timeline && !leati_timeline_passed(at->timeline, at->value)) {
      return false;
    }
  }
  return true;
}

bool leati_block_is_of(const leati_block *block, const leati_timeline *timeline) {
  return !block->pinned && block->stamp_count == 0 &&
         atomic_load_explicit(&block->owner, memory_order_acquire) == timeline;
}

/* Raises the use of the stamp's timeline to the stamp, unless that has passed. */
static void note_use(leati_stamp stamp, leati_stamp *uses, uint32_t count) {
  if (stamp.timeline == NULL || leati_timeline_passed(stamp.timeline, stamp.value)) {
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (uses[i].timeline == stamp.timeline && uses[i].value < stamp.value) {
      uses[i].value = stamp.value;
    }
  }
}

void leati_block_note_uses(leati_block *block, leati_stamp *uses, uint32_t count) {
  /* A block that a timeline kept may be in a recording by now. */
  leati_mutex_lock(&block->stamp_lock);
  const uint32_t raised = block->pinned ? 0 : count;
  note_use((leati_stamp){.timeline = atomic_load_explicit(&block->owner, memory_order_acquire),
                         .value = atomic_load_explicit(&block->owner_value, memory_order_acquire)},
           uses, raised);
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    note_use(i < LEATI_INLINE_STAMPS ? block->stamps[i] : block->spilled[i - LEATI_INLINE_STAMPS], uses, raised);
  }
  leati_mutex_unlock(&block->stamp_lock);
}

void leati_block_keep_stamps(leati_block *block, leati_timeline *timeline) {
  leati_timeline *const owner = atomic_load_explicit(&block->owner, memory_order_relaxed);
  uint64_t value = owner == timeline ? atomic_load_explicit(&block->owner_value, memory_order_relaxed) : 0;
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    const leati_stamp *const at =
        i < LEATI_INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - LEATI_INLINE_STAMPS];
    if (at->timeline == timeline && at->value > value) {
      value = at->value;
    }
  }
  block->stamp_count = 0;
  atomic_store_explicit(&block->owner_value, value, memory_order_relaxed);
  atomic_store_explicit(&block->owner, value != 0 ? timeline : NULL, memory_order_release);
}
