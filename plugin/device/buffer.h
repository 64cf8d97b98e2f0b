/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the driver says of a buffer and of memory that it maps. An answer that no driver may give is an error.
 */
#ifndef LEAT_PLUGIN_DEVICE_BUFFER_H_
#define LEAT_PLUGIN_DEVICE_BUFFER_H_

#include <leat/backend.h>

#include "device/device.h"

/** Finds out what memory a buffer takes. Any thread.
 * @param size the bytes that the buffer was made with
 * @param out [out] at least so many bytes, a type of memory that there is, an alignment that is a power of two
 * @errors LEAT_ERROR_INTERNAL: the driver says something else */
int32_t leati_buffer_needs(const leat_device *device, VkBuffer buffer, uint64_t size, VkMemoryRequirements *out,
                           leat_error *err);
/** Finds out where a buffer is that memory was bound to. Any thread.
 * @param size the bytes that the buffer was made with, all of which have addresses
 * @errors LEAT_ERROR_INTERNAL: the driver gives no address */
int32_t leati_buffer_address(const leat_device *device, VkBuffer buffer, uint64_t size, VkDeviceAddress *out,
                             leat_error *err);
/** Maps a whole memory. The memory is used by no other thread.
 * @param out [out] its first byte; never NULL
 * @return vkMapMemory's result, or VK_ERROR_MEMORY_MAP_FAILED where that gives no address */
VkResult leati_buffer_map(const leat_device *device, VkDeviceMemory memory, void **out);

#endif /* LEAT_PLUGIN_DEVICE_BUFFER_H_ */
