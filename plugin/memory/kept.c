/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/kept.h"

#include <stdatomic.h>

#include "device/device.h"
#include "memory/size_class.h"
#include "policy/allocation.h"

/* Where a timeline keeps blocks of a class. */
static _Atomic(leati_block *) *place_of(leati_timeline *timeline, uint32_t class_index) {
  return &timeline->kept[class_index % LEATI_KEPT_BLOCKS];
}

leati_block *leati_kept_take(leati_timeline *timeline, uint32_t class_index) {
  _Atomic(leati_block *) *const place = place_of(timeline, class_index);
  leati_block *const seen = atomic_load_explicit(place, memory_order_relaxed);
  if (seen == NULL || seen->home->class_index != class_index) {
    return NULL;
  }
  /* Only the holder of the stream's lock puts blocks here, so it is this one, or another thread has released it. */
  return atomic_exchange_explicit(place, NULL, memory_order_acquire);
}

leati_block *leati_kept_put(leati_timeline *timeline, leati_block *block) {
  if (!leati_block_is_kept(block->home->block_size) || !leati_block_is_of(block, timeline)) {
    return block;
  }
  return atomic_exchange_explicit(place_of(timeline, block->home->class_index), block, memory_order_acq_rel);
}

void leati_kept_release(leat_device *device) {
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  for (; timeline != NULL; timeline = timeline->next) {
    for (uint32_t i = 0; i < LEATI_KEPT_BLOCKS; ++i) {
      leati_block *const block = atomic_exchange_explicit(&timeline->kept[i], NULL, memory_order_acquire);
      if (block != NULL) {
        (void)leati_class_give(device, block, true, NULL);
      }
    }
  }
}
