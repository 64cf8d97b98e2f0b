/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Size classes: blocks of one size, which are handed out and come back.
 */
#ifndef LEAT_PLUGIN_MEMORY_SIZE_CLASS_H_
#define LEAT_PLUGIN_MEMORY_SIZE_CLASS_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "memory/memory_state.h"

/** Class of a request for memory of the device, and the bytes of its blocks, red zones included. Guarded by pages,
 * every block is of its own size. */
uint32_t leati_class_of(const struct leati_memory *memory, uint64_t size, uint64_t *out_block_size);
/** How many blocks a segment of a class has, as a rule. */
uint32_t leati_class_blocks(uint32_t class_index, uint64_t block_size);

/** What block is asked for. */
typedef struct leati_demand {
  uint64_t size;            /**< bytes */
  bool host;                /**< of memory of the host */
  bool temporary;           /**< nobody holds it but one recording: it stays cached memory in all figures */
  leati_timeline *timeline; /**< that of the stream that will use it first, or NULL */
} leati_demand;

/** Takes a block. `pressed`: memory is short, so look at every free block, and if there is no room for a segment, take
 * no more from the driver than this block needs.
 * @errors OUT_OF_MEMORY, UNAVAILABLE, INTERNAL */
int32_t leati_class_take(leat_device *device, const leati_demand *demand, bool pressed, leati_block **out,
                         leat_error *err);
/** Hands out a block that is the caller's alone, and counts it unless it is a temporary. `used_before`: it was handed
 * out before. */
void leati_class_hand_out(leat_device *device, leati_block *block, const leati_demand *demand, bool used_before);
/** Counts a block that is no temporary and whose last reference went; to be called before it is given to anybody. */
void leati_class_note_freed(leat_device *device, const leati_block *block);
/** Puts a block that nobody holds onto its class's free list, or into its quarantine.
 * @errors CORRUPTED: it has gone there, and its red zones are damaged */
int32_t leati_class_give(leat_device *device, leati_block *block, leat_error *err);

/** Takes idle segments off a class and puts them before `gone`, whose bytes are `*inout_bytes`, until no more than
 * `target` bytes will be taken when all of them have gone; returns the new first one. Under guard, lets the quarantine
 * go on before. `trim_lock` held. */
leati_segment *leati_class_detach_idle(leat_device *device, leati_size_class *class, bool drain, uint64_t target,
                                       leati_segment *gone, uint64_t *inout_bytes);
/** Gives segments that were taken off their classes back to the driver. `trim_lock` held, and no class's: the driver
 * takes its time. */
void leati_class_give_back(leat_device *device, leati_segment *gone);

/** Counts blocks that were looked at under a class's lock, and gives it up for a moment when they are many. */
void leati_class_let_others_in(leati_size_class *class, uint32_t looked, uint32_t *inout_sum) LEATI_HOLDS(class->lock);

#endif /* LEAT_PLUGIN_MEMORY_SIZE_CLASS_H_ */
