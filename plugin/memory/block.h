/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Blocks of device memory: where they are, and the *stamps* that say which work uses them last.
 */
#ifndef LEAT_PLUGIN_MEMORY_BLOCK_H_
#define LEAT_PLUGIN_MEMORY_BLOCK_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/vulkan.h"
#include "timeline/timeline.h"

typedef struct leati_block leati_block;

/** A use of memory that ends when a timeline has reached a value. */
typedef struct leati_stamp {
  leati_timeline *timeline;
  uint64_t value;
} leati_stamp;

/** Address, requested bytes, buffer and offset of a block in it. */
uint64_t leati_block_address(const leati_block *block);
uint64_t leati_block_size(const leati_block *block);
/** Whether `before` bytes before an address and `after` bytes from it on lie in the block. */
bool leati_block_holds(const leati_block *block, uint64_t address, uint64_t before, uint64_t after);
VkBuffer leati_block_buffer(const leati_block *block, uint64_t *out_offset);
/** Notes that work up to `value` of a timeline uses the block. The caller holds the block, so it cannot be freed
 * meanwhile. */
void leati_block_stamp(leati_block *block, leati_timeline *timeline, uint64_t value);

/** Where the host sees the block's first byte, or NULL: it does not. */
void *leati_block_mapped(const leati_block *block);
/** Whether everything that is known to use the block has passed, also what is in open lists: bytes that the host writes
 * there now come after all uses before, and before all that are submitted later. The caller holds the block. */
bool leati_block_idle(leati_block *block);

/** Whether a free block can be used: by anybody (`timeline` NULL), or by what follows on `timeline`. Its class's lock
 * is held. */
bool leati_block_reusable(leati_block *block, leati_timeline *timeline);
/** Whether a block is used by nothing but what the timeline stands for, and may be used again. Nobody holds it. */
bool leati_block_is_of(const leati_block *block, const leati_timeline *timeline);
/** Raises each of these uses, of different timelines, to what a free block waits for there; of one that will never be
 * reused it does not. Its class's lock is held. */
void leati_block_note_uses(leati_block *block, leati_stamp *uses, uint32_t count);
/** Forgets the stamps of a block that is handed out to `timeline`, but for that timeline's own: its work may still be
 * in flight, and whoever gets the block next must know. Its class's lock is held. */
void leati_block_keep_stamps(leati_block *block, leati_timeline *timeline);

#endif /* LEAT_PLUGIN_MEMORY_BLOCK_H_ */
