/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Segments: one VkDeviceMemory with one VkBuffer each, and the blocks that it is cut into.
 */
#ifndef LEAT_PLUGIN_MEMORY_SEGMENT_H_
#define LEAT_PLUGIN_MEMORY_SEGMENT_H_

#include <leat/backend.h>

#include "memory/memory_state.h"

/** Gives a segment of the class with all its host memory and no device memory: one that was released, or a new one.
 * NULL: there is no host memory. The class's lock is held. */
leati_segment *leati_segment_take(leati_size_class *class, uint32_t block_count) LEATI_HOLDS(class->lock);
/** Keeps a segment without device memory for leati_segment_take(). The class's lock is held. */
void leati_segment_retire(leati_size_class *class, leati_segment *s) LEATI_HOLDS(class->lock);
/** Takes memory for a segment's `size` from the driver. What it got so far when it fails is for leati_segment_free().
 * @errors OUT_OF_MEMORY, UNAVAILABLE, INTERNAL */
int32_t leati_segment_alloc(leat_device *device, leati_segment *s, leat_error *err);
/** Gives a segment's memory back to the driver. */
void leati_segment_free(leat_device *device, leati_segment *s);
/** Frees a list of segments, with their host memory. */
void leati_segments_destroy(leat_device *device, leati_segment *list);

#endif /* LEAT_PLUGIN_MEMORY_SEGMENT_H_ */
