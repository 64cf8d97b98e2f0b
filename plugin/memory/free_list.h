/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The free blocks of a size class, newest first.
 */
#ifndef LEAT_PLUGIN_MEMORY_FREE_LIST_H_
#define LEAT_PLUGIN_MEMORY_FREE_LIST_H_

#include "memory/memory_state.h"

/** Puts a block on the free list of its class, whose lock is held. */
static inline void leati_free_list_put(leati_size_class *class, leati_block *block) LEATI_HOLDS(class->lock) {
  block->previous_free = NULL;
  block->next_free = class->first_free;
  if (class->first_free != NULL) {
    class->first_free->previous_free = block;
  } else {
    class->last_free = block;
  }
  class->first_free = block;
  ++block->home->free_count;
}

/** Takes a block off the free list of its class, whose lock is held. */
static inline void leati_free_list_take(leati_size_class *class, leati_block *block) LEATI_HOLDS(class->lock) {
  if (block->next_free != NULL) {
    block->next_free->previous_free = block->previous_free;
  } else {
    class->last_free = block->previous_free;
  }
  if (block->previous_free != NULL) {
    block->previous_free->next_free = block->next_free;
  } else {
    class->first_free = block->next_free;
  }
  --block->home->free_count;
}

#endif /* LEAT_PLUGIN_MEMORY_FREE_LIST_H_ */
