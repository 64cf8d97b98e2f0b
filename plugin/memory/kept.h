/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Blocks that timelines keep: free ones, which only one stream used, for its recordings or for a caller that allocated
 * for it, and which it is likely to need again. They are taken and put without a lock that other streams want, so
 * threads that launch at the same time do not meet here. To everybody else they are cached memory.
 */
#ifndef LEAT_PLUGIN_MEMORY_KEPT_H_
#define LEAT_PLUGIN_MEMORY_KEPT_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "memory/memory_state.h"

/** Takes a block of a size class that the timeline keeps; NULL: it keeps none. The lock of the stream that has the
 * timeline is held. */
leati_block *leati_kept_take(leati_timeline *timeline, uint32_t class_index);
/** Lets a timeline keep a block that nobody holds. Returns what does not stay there and goes to its size class: another
 * block, this one, or NULL. The same lock is held. */
leati_block *leati_kept_put(leati_timeline *timeline, leati_block *block);
/** Lets the timeline that used a block keep it if it was allocated for a stream, and nobody holds it now: who frees has
 * no stream, but is likely to allocate for that one again. Returns what goes to its size class: this block, or NULL.
 * Any thread's. */
leati_block *leati_kept_put_freed(leati_block *block);
/** Gives all that timelines keep to the size classes. Any thread's. */
void leati_kept_release(leat_device *device);

#endif /* LEAT_PLUGIN_MEMORY_KEPT_H_ */
