/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/kept.h"

#include <stdatomic.h>

#include "device/device.h"
#include "memory/size_class.h"
#include "policy/allocation.h"

/* Where a timeline keeps blocks of a class: four classes in a row, and eight of which each has twice the size of the
 * one before, have places of their own. */
static _Atomic(leati_block *) *place_of(leati_timeline *timeline, uint32_t class_index) {
  return &timeline->kept[(class_index + class_index / 4) % LEATI_KEPT_BLOCKS];
}

leati_block *leati_kept_take(leati_timeline *timeline, uint32_t class_index) {
  _Atomic(leati_block *) *const place = place_of(timeline, class_index);
  leati_block *seen = atomic_load_explicit(place, memory_order_relaxed);
  const bool fits = seen != NULL && seen->home->class_index == class_index;
  /* Other threads release blocks, and put what they free. */
  return fits && atomic_compare_exchange_strong_explicit(place, &seen, NULL, memory_order_acquire, memory_order_relaxed)
             ? seen
             : NULL;
}

/* Whether a timeline may keep a block that nobody holds. */
static bool may_keep(const leati_timeline *timeline, const leati_block *block) {
  return leati_block_is_kept(block->home->block_size) && leati_block_is_of(block, timeline);
}

leati_block *leati_kept_put(leati_timeline *timeline, leati_block *block) {
  if (!may_keep(timeline, block)) {
    return block;
  }
  return atomic_exchange_explicit(place_of(timeline, block->home->class_index), block, memory_order_acq_rel);
}

leati_block *leati_kept_put_freed(leati_block *block) {
  leati_timeline *const timeline = atomic_load_explicit(&block->owner, memory_order_acquire);
  leati_block *nobody = NULL;
  const bool stays = block->for_stream && timeline != NULL && may_keep(timeline, block) &&
                     atomic_compare_exchange_strong_explicit(place_of(timeline, block->home->class_index), &nobody,
                                                             block, memory_order_release, memory_order_relaxed);
  return stays ? NULL : block;
}

void leati_kept_release(leat_device *device) {
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  for (; timeline != NULL; timeline = timeline->next) {
    for (uint32_t i = 0; i < LEATI_KEPT_BLOCKS; ++i) {
      leati_block *const block = atomic_exchange_explicit(&timeline->kept[i], NULL, memory_order_acquire);
      if (block != NULL) {
        (void)leati_class_give(device, block, NULL);
      }
    }
  }
}
