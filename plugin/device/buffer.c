/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/buffer.h"

#include <inttypes.h>

#include "core/status.h"

/* What no buffer takes beyond its bytes, and on what no memory must begin: sizes and offsets of ours are added up and
 * rounded without overflow. */
#define EXCESS_MAX (UINT64_C(1) << 40)
#define ALIGNMENT_MAX (UINT64_C(1) << 30)

int32_t leati_buffer_needs(const leat_device *device, VkBuffer buffer, uint64_t size, VkMemoryRequirements *out,
                           leat_error *err) {
  const uint32_t types = device->physical->memory.memoryTypeCount;
  *out = (VkMemoryRequirements){.size = 0};
  device->vk.GetBufferMemoryRequirements(device->vk.handle, buffer, out);
  out->memoryTypeBits &= (uint32_t)((UINT64_C(1) << types) - 1);
  if (out->size < size || out->size - size > EXCESS_MAX || out->memoryTypeBits == 0 || out->alignment == 0 ||
      out->alignment > ALIGNMENT_MAX || (out->alignment & (out->alignment - 1)) != 0) {
    return leati_fail(err, LEAT_ERROR_INTERNAL,
                      "vkGetBufferMemoryRequirements says that a buffer of %" PRIu64 " bytes takes %" PRIu64
                      " bytes on a multiple of %" PRIu64 ", of the types of memory 0x%x of %u: the driver is faulty",
                      size, (uint64_t)out->size, (uint64_t)out->alignment, out->memoryTypeBits, types);
  }
  return LEAT_OK;
}

int32_t leati_buffer_address(const leat_device *device, VkBuffer buffer, uint64_t size, VkDeviceAddress *out,
                             leat_error *err) {
  const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
  *out = device->vk.GetBufferDeviceAddress(device->vk.handle, &info);
  if (*out == 0 || *out > UINT64_MAX - size) {
    return leati_fail(err, LEAT_ERROR_INTERNAL,
                      "vkGetBufferDeviceAddress says that a buffer of %" PRIu64 " bytes is at 0x%" PRIx64
                      ": the driver is faulty",
                      size, (uint64_t)*out);
  }
  return LEAT_OK;
}

VkResult leati_buffer_map(const leat_device *device, VkDeviceMemory memory, void **out) {
  *out = NULL;
  const VkResult result = device->vk.MapMemory(device->vk.handle, memory, 0, VK_WHOLE_SIZE, 0, out);
  return result == VK_SUCCESS && *out == NULL ? VK_ERROR_MEMORY_MAP_FAILED : result;
}
