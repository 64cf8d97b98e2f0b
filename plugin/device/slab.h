/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Slabs: mapped memory of the driver, in each of which several chunks lie. Any thread.
 */
#ifndef LEAT_PLUGIN_DEVICE_SLAB_H_
#define LEAT_PLUGIN_DEVICE_SLAB_H_

#include <leat/backend.h>

#include "device/vulkan.h"

/** Mapped, coherent memory. Does not change but for its users. */
typedef struct leati_slab {
  VkDeviceMemory memory;
  unsigned char *mapped;
  uint64_t size; /**< bytes taken from the driver */
  _Atomic uint32_t users;
  /** Users that are not on a free list: while there is one, freeing others gives nothing back. Relaxed: a hint. */
  _Atomic uint32_t busy;
} leati_slab;

/** Makes one, whose only user the caller is.
 * @param size bytes
 * @param memory_types the first of these that buffers allow and that has room is taken
 * @param allowed those types that buffers allow, as VkMemoryRequirements says it
 * @errors OUT_OF_MEMORY */
int32_t leati_slab_create(leat_device *device, uint64_t size, const uint32_t memory_types[2], uint32_t allowed,
                          leati_slab **out, leat_error *err);
/** Another user, for one who is. */
void leati_slab_join(leati_slab *slab);
/** One user less. With the last one it goes back to the driver: returns its bytes then, else 0. */
uint64_t leati_slab_leave(leat_device *device, leati_slab *slab);

#endif /* LEAT_PLUGIN_DEVICE_SLAB_H_ */
