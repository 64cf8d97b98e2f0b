/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/segment.h"

#include <inttypes.h>

#include "core/status.h"
#include "device/budget.h"
#include "device/buffer.h"
#include "device/device.h"
#include "memory/guard.h"
#include "policy/allocation.h"

void leati_segment_free(leat_device *device, leati_segment *s) {
  if (s->buffer != VK_NULL_HANDLE) {
    (void)atomic_fetch_add_explicit(&device->destroyed, 1, memory_order_release);
    device->vk.DestroyBuffer(device->vk.handle, s->buffer, NULL);
  }
  if (s->memory != VK_NULL_HANDLE) {
    device->vk.FreeMemory(device->vk.handle, s->memory, NULL);
  }
  leati_pages_release(&s->pages);
  leati_budget_uncommit(device, s->driver_size);
  s->buffer = VK_NULL_HANDLE;
  s->memory = VK_NULL_HANDLE;
  s->mapped = NULL;
  s->driver_size = 0;
}

/* Where the memory of a segment is taken from: of the first type that the driver has some of. */
typedef struct choice {
  uint32_t types[2];
  uint32_t mapped; /* the one of those that the host maps, or UINT32_MAX */
  bool must_map;   /* all that is taken is mapped */
} choice;

/* Mapped memory for small blocks, or the device's own; the first choice may be scarce where it is a part of the memory
 * only. For the host such as downloads are best read from. */
static choice choose(const leat_device *device, const leati_segment *s, uint32_t allowed_types) {
  const struct leati_memory *const memory = device->memory;
  if (memory->guard || leati_class_is_host(s->class_index)) {
    return (choice){
        .types = {memory->guard ? memory->mapped_type : device->download_memory_type, memory->any_mapped_type},
        .mapped = UINT32_MAX,
        .must_map = true};
  }
  const bool mapped = memory->mapped_type != UINT32_MAX && leati_block_is_mapped(s->block_size);
  const bool allowed = (allowed_types & (UINT32_C(1) << device->device_memory_type)) != 0;
  return (choice){.types = {mapped ? memory->mapped_type : device->device_memory_type,
                            allowed ? device->device_memory_type : (uint32_t)__builtin_ctz(allowed_types)},
                  .mapped = mapped ? memory->mapped_type : UINT32_MAX};
}

static int32_t allocate(leat_device *device, leati_segment *s, uint32_t allowed_types, leat_error *err) {
  const choice from = choose(device, s, allowed_types);
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryAllocateInfo allocation = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = s->driver_size};
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (int i = 0; i < 2 && result != VK_SUCCESS; ++i) {
    allocation.memoryTypeIndex = from.types[i];
    if ((allowed_types & (UINT32_C(1) << from.types[i])) == 0 || (i == 1 && from.types[1] == from.types[0])) {
      continue;
    }
    result = device->vk.AllocateMemory(device->vk.handle, &allocation, NULL, &s->memory);
  }
  if (result != VK_SUCCESS) {
    s->memory = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkAllocateMemory", err);
  }
  if (from.must_map || allocation.memoryTypeIndex == from.mapped) {
    void *at;
    result = leati_buffer_map(device, s->memory, &at);
    if (result == VK_SUCCESS) {
      s->mapped = at;
    } else if (from.must_map) {
      return leati_device_fail(device, result,
                               leati_class_is_host(s->class_index) ? "vkMapMemory for memory of the host"
                                                                   : "vkMapMemory for LEAT_MEMORY_GUARD",
                               err);
    }
  }
  return LEAT_OK;
}

/* Lets the device work in the segment's pages. */
static int32_t import_pages(leat_device *device, leati_segment *s, uint32_t allowed_types, leat_error *err) {
  const VkExternalMemoryHandleTypeFlagBits host = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkMemoryHostPointerPropertiesEXT properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  VkResult result = device->vk.GetMemoryHostPointerPropertiesEXT(device->vk.handle, host, s->pages.begin, &properties);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkGetMemoryHostPointerPropertiesEXT", err);
  }
  const uint32_t type = device->memory->mapped_type;
  if ((allowed_types & properties.memoryTypeBits & (UINT32_C(1) << type)) == 0 || s->driver_size > s->pages.size) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                      "LEAT_MEMORY_GUARD is pages, and this device takes none for its buffers: set it to 1 or 0");
  }
  const VkImportMemoryHostPointerInfoEXT import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                   .handleType = host,
                                                   .pHostPointer = s->pages.begin};
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .pNext = &import,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = s->pages.size,
                                           .memoryTypeIndex = type};
  result = device->vk.AllocateMemory(device->vk.handle, &allocation, NULL, &s->memory);
  if (result != VK_SUCCESS) {
    s->memory = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkAllocateMemory for pages of the host", err);
  }
  s->mapped = s->pages.begin;
  return LEAT_OK;
}

int32_t leati_segment_alloc(leat_device *device, leati_segment *s, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const struct leati_memory *const memory = device->memory;
  const uint64_t front = memory->front;
  const VkExternalMemoryBufferCreateInfo external = {
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
      .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
  /* Guarded by pages, the zone behind the block is the page there. */
  const uint64_t room = s->size - LEATI_GUARD_ZONE;
  if (memory->pages && !leati_pages_take(front + room, &s->pages)) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %" PRIu64 " bytes of guarded pages",
                      front + room);
  }
  /* A driver may place the buffer on less than our alignment: one alignment more leaves room to round up. */
  const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = memory->pages ? &external : NULL,
                                     .size = memory->pages ? s->pages.size : s->size + front + LEATI_BLOCK_ALIGNMENT,
                                     .usage = LEATI_BUFFER_USAGE,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkResult result = vk->CreateBuffer(vk->handle, &buffer, NULL, &s->buffer);
  if (result != VK_SUCCESS) {
    s->buffer = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateBuffer for device memory", err);
  }
  VkMemoryRequirements needs;
  LEATI_TRY(leati_buffer_needs(device, s->buffer, buffer.size, &needs, err));
  LEATI_TRY(leati_budget_commit(device, needs.size, err));
  s->driver_size = needs.size;
  LEATI_TRY(memory->pages ? import_pages(device, s, needs.memoryTypeBits, err)
                          : allocate(device, s, needs.memoryTypeBits, err));
  result = vk->BindBufferMemory(vk->handle, s->buffer, s->memory, 0);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkBindBufferMemory", err);
  }
  VkDeviceAddress address;
  LEATI_TRY(leati_buffer_address(device, s->buffer, buffer.size, &address, err));
  s->address = memory->pages ? address + s->pages.size - room
                             : ((address + LEATI_BLOCK_ALIGNMENT - 1) & ~(LEATI_BLOCK_ALIGNMENT - 1)) + front;
  s->buffer_offset = s->address - address;
  if (s->mapped != NULL) {
    s->mapped += s->buffer_offset;
  }
  s->host_address = (uint64_t)(uintptr_t)s->mapped;
  if (leati_class_is_host(s->class_index) && s->host_address % LEATI_HOST_ALIGNMENT != 0) {
    return leati_fail(err, LEAT_ERROR_INTERNAL,
                      "the driver has mapped a buffer on %p, which is no multiple of %" PRIu64, (void *)s->mapped,
                      LEATI_HOST_ALIGNMENT);
  }
  return LEAT_OK;
}

leati_segment *leati_segment_take(leati_size_class *class, uint32_t block_count) {
  leati_segment **const retired = &class->retired[block_count == 1];
  leati_segment *const again = *retired;
  if (again != NULL) {
    *retired = again->next;
    return again;
  }
  leati_segment *const s = leati_calloc(1, sizeof(*s));
  leati_block *const blocks = leati_calloc(block_count, sizeof(*blocks));
  if (s == NULL || blocks == NULL) {
    leati_free(s);
    leati_free(blocks);
    return NULL;
  }
  s->blocks = blocks;
  s->block_count = block_count;
  for (uint32_t i = 0; i < block_count; ++i) {
    blocks[i].home = s;
    blocks[i].index = i;
    leati_mutex_init(&blocks[i].stamp_lock, LEATI_RANK_STAMPS);
  }
  return s;
}

void leati_segment_retire(leati_size_class *class, leati_segment *s) {
  leati_segment **const retired = &class->retired[s->block_count == 1];
  s->next = *retired;
  *retired = s;
}

void leati_segments_destroy(leat_device *device, leati_segment *list) {
  while (list != NULL) {
    leati_segment *const next = list->next;
    leati_segment_free(device, list);
    for (uint32_t i = 0; i < list->block_count; ++i) {
      leati_mutex_destroy(&list->blocks[i].stamp_lock);
      leati_free(list->blocks[i].spilled);
    }
    leati_free(list->blocks);
    leati_free(list);
    list = next;
  }
}
