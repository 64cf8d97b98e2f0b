/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and buffers. */
#include "nulldriver/allocations.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "nulldriver/instance.h"
#include "nulldriver/sharing.h"

#define BUFFER_ALIGNMENT 256
/* VkPhysicalDeviceLimits::minMemoryMapAlignment. */
#define MAP_ALIGNMENT 64
#define ADDRESS_GRANULE 0x10000

/* All guarded by the driver's lock. */
static uint64_t heap_used[2];
static uint32_t allocation_count;
static VkDeviceAddress next_address = NULLDRIVER_ADDRESS_FIRST;
static nd_buffer *addressed; /* live buffers with an address */

static uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

uint64_t nd_memory_heap_used(uint32_t heap) {
  return heap_used[heap];
}

uint64_t nulldriver_memory_used(void) {
  nd_lock();
  const uint64_t used = heap_used[0] + heap_used[1];
  nd_unlock();
  return used;
}

/* ---- Memory --------------------------------------------------------------------------------------------------------
 */

/* Takes the bytes of a memory: its own, such that are shared, or those of a descriptor, which is the driver's then. */
static VkResult take_bytes(nd_memory *memory, const VkMemoryAllocateInfo *info) {
  memory->fd = -1;
  for (const VkBaseInStructure *next = info->pNext; next != NULL; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO) {
      const VkMemoryAllocateFlags flags = ((const VkMemoryAllocateFlagsInfo *)next)->flags;
      memory->addressable = (flags & VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT) != 0;
    } else if (next->sType == VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO) {
      memory->shared = true;
      memory->data = nd_shared_create(info->allocationSize, &memory->fd);
    } else if (next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) {
      const int fd = ((const VkImportMemoryFdInfoKHR *)next)->fd;
      memory->data = nd_shared_open(fd, info->allocationSize);
      memory->shared = memory->data != NULL;
      if (!memory->shared) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
      }
      (void)close(fd);
    }
  }
  if (!memory->shared) {
    memory->taken = calloc(1, info->allocationSize + MAP_ALIGNMENT - 1);
    memory->data = memory->taken == NULL ? NULL : memory->taken + (-(uintptr_t)memory->taken & (MAP_ALIGNMENT - 1));
  }
  return memory->data == NULL ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult allocate(const char *function, nd_device *device, const VkMemoryAllocateInfo *info,
                         VkDeviceMemory *out) {
  VkPhysicalDeviceMemoryProperties properties;
  nd_memory_properties(&device->shape, &properties);
  if (info->memoryTypeIndex >= properties.memoryTypeCount || info->allocationSize == 0) {
    nd_violation(function, "memory type %u of %u, %llu bytes", info->memoryTypeIndex, properties.memoryTypeCount,
                 (unsigned long long)info->allocationSize);
    return VK_ERROR_UNKNOWN;
  }
  const uint32_t heap = properties.memoryTypes[info->memoryTypeIndex].heapIndex;
  const uint64_t left = properties.memoryHeaps[heap].size - heap_used[heap];
  if (info->allocationSize > ND_ALLOCATION_MAX || heap_used[heap] > properties.memoryHeaps[heap].size ||
      info->allocationSize > left) {
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  if (allocation_count >= device->shape.max_allocations) {
    return VK_ERROR_TOO_MANY_OBJECTS;
  }
  nd_memory *const memory = nd_object_create(NULLDRIVER_MEMORY, sizeof(*memory), device);
  if (memory == NULL) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  memory->size = info->allocationSize;
  memory->type = info->memoryTypeIndex;
  memory->heap = heap;
  heap_used[heap] += memory->size;
  ++allocation_count;
  const VkResult result = take_bytes(memory, info);
  if (result != VK_SUCCESS) {
    nd_object_destroy(function, &memory->object);
    return result;
  }
  *out = ND_HANDLE(VkDeviceMemory, memory);
  return VK_SUCCESS;
}

void nd_memory_finish(nd_memory *memory) {
  heap_used[memory->heap] -= memory->size;
  --allocation_count;
  if (!memory->shared) {
    free(memory->taken);
  } else if (memory->data != NULL) {
    nd_shared_close(memory->data, memory->size);
  }
  if (memory->fd >= 0) {
    (void)close(memory->fd);
  }
}

VkResult nd_GetMemoryFdKHR(VkDevice device, const VkMemoryGetFdInfoKHR *info, int *out) {
  (void)device;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_GetMemoryFdKHR, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  const nd_memory *const m = nd_object_find(call.name, NULLDRIVER_MEMORY, ND_NUMBER(info->memory));
  if (m == NULL || m->fd < 0) {
    nd_violation(call.name, "the memory was not made to be shared by opaque descriptors");
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  *out = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
  return nd_leave(&call, *out < 0 ? VK_ERROR_TOO_MANY_OBJECTS : VK_SUCCESS);
}

VkResult nd_AllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *host,
                           VkDeviceMemory *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_AllocateMemory, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  return nd_leave(&call, d == NULL ? VK_ERROR_UNKNOWN : allocate(call.name, d, info, out));
}

void nd_FreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_FreeMemory, device, NULLDRIVER_MEMORY, ND_NUMBER(memory));
}

VkResult nd_MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                      VkMemoryMapFlags flags, void **out) {
  (void)flags;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_MapMemory, ND_NUMBER(memory), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  const nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_memory *const m = nd_object_find(call.name, NULLDRIVER_MEMORY, ND_NUMBER(memory));
  if (d == NULL || m == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  VkPhysicalDeviceMemoryProperties properties;
  nd_memory_properties(&d->shape, &properties);
  if ((properties.memoryTypes[m->type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
    nd_violation(call.name, "memory type %u is not host-visible", m->type);
    return nd_leave(&call, VK_ERROR_MEMORY_MAP_FAILED);
  }
  if (m->mapped) {
    nd_violation(call.name, "the memory is mapped already");
  }
  if (offset >= m->size || (size != VK_WHOLE_SIZE && size > m->size - offset)) {
    nd_violation(call.name, "%llu bytes at %llu of a memory of %llu", (unsigned long long)size,
                 (unsigned long long)offset, (unsigned long long)m->size);
    return nd_leave(&call, VK_ERROR_MEMORY_MAP_FAILED);
  }
  m->mapped = true;
  *out = m->data + offset;
  return nd_leave(&call, VK_SUCCESS);
}

void nd_UnmapMemory(VkDevice device, VkDeviceMemory memory) {
  (void)device;
  nd_call call;
  (void)nd_enter(&call, ND_UnmapMemory, ND_NUMBER(memory), 0);
  nd_memory *const m = nd_object_find(call.name, NULLDRIVER_MEMORY, ND_NUMBER(memory));
  if (m != NULL && !m->mapped) {
    nd_violation(call.name, "the memory is not mapped");
  }
  if (m != NULL) {
    m->mapped = false;
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

/* All memory is coherent: nothing to do but to look at what is named. */
static VkResult check_ranges(nd_function function, uint32_t count, const VkMappedMemoryRange *ranges) {
  nd_call call;
  const VkResult fault = nd_enter(&call, function, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const nd_memory *const m = nd_object_find(call.name, NULLDRIVER_MEMORY, ND_NUMBER(ranges[i].memory));
    if (m != NULL && !m->mapped) {
      nd_violation(call.name, "range %u is of a memory that is not mapped", i);
    }
  }
  return nd_leave(&call, VK_SUCCESS);
}

VkResult nd_FlushMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges) {
  (void)device;
  return check_ranges(ND_FlushMappedMemoryRanges, count, ranges);
}

VkResult nd_InvalidateMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges) {
  (void)device;
  return check_ranges(ND_InvalidateMappedMemoryRanges, count, ranges);
}

/* ---- Buffers -------------------------------------------------------------------------------------------------------
 */

VkResult nd_CreateBuffer(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *host,
                         VkBuffer *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateBuffer, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_buffer *const buffer = d == NULL ? NULL : nd_object_create(NULLDRIVER_BUFFER, sizeof(*buffer), d);
  if (buffer == NULL) {
    return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  if (info->size == 0 || info->usage == 0) {
    nd_violation(call.name, "a buffer without size or usage");
  }
  buffer->size = info->size;
  buffer->usage = info->usage;
  *out = ND_HANDLE(VkBuffer, buffer);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_buffer_finish(nd_buffer *buffer) {
  if (buffer->next != NULL) {
    buffer->next->previous = buffer->previous;
  }
  if (buffer->previous != NULL) {
    buffer->previous->next = buffer->next;
  } else if (addressed == buffer) {
    addressed = buffer->next;
  }
}

void nd_DestroyBuffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyBuffer, device, NULLDRIVER_BUFFER, ND_NUMBER(buffer));
}

void nd_GetBufferMemoryRequirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out) {
  (void)device;
  nd_call call;
  (void)nd_enter(&call, ND_GetBufferMemoryRequirements, 0, 0);
  const nd_buffer *const b = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(buffer));
  VkPhysicalDeviceMemoryProperties properties = {.memoryTypeCount = 1};
  if (b != NULL) {
    nd_memory_properties(&b->object.device->shape, &properties);
  }
  *out = (VkMemoryRequirements){.size = b == NULL ? BUFFER_ALIGNMENT : round_up(b->size, BUFFER_ALIGNMENT),
                                .alignment = BUFFER_ALIGNMENT,
                                .memoryTypeBits = (UINT32_C(1) << properties.memoryTypeCount) - 1u};
  (void)nd_leave(&call, VK_SUCCESS);
}

VkResult nd_BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  (void)device;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_BindBufferMemory, ND_NUMBER(buffer), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_buffer *const b = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(buffer));
  nd_memory *const m = nd_object_find(call.name, NULLDRIVER_MEMORY, ND_NUMBER(memory));
  if (b == NULL || m == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  if (b->memory != 0 || offset % BUFFER_ALIGNMENT != 0 || offset > m->size || b->size > m->size - offset) {
    nd_violation(call.name, "%s; %llu bytes at %llu of a memory of %llu",
                 b->memory != 0 ? "bound already" : "place that does not fit", (unsigned long long)b->size,
                 (unsigned long long)offset, (unsigned long long)m->size);
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  b->memory = m->object.handle;
  b->home = m;
  b->offset = offset;
  return nd_leave(&call, VK_SUCCESS);
}

VkDeviceAddress nd_GetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info) {
  (void)device;
  nd_call call;
  (void)nd_enter(&call, ND_GetBufferDeviceAddress, 0, 0);
  VkDeviceAddress address = 0;
  nd_buffer *const b = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(info->buffer));
  const nd_memory *const m = b == NULL ? NULL : nd_object_find(call.name, NULLDRIVER_MEMORY, b->memory);
  if (m != NULL && ((b->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) == 0 || !m->addressable)) {
    nd_violation(call.name, "the buffer or its memory was not made for device addresses");
  } else if (m != NULL) {
    if (b->address == 0) {
      b->address = next_address;
      /* The gap keeps an address behind the end of one buffer from being in the next one. */
      next_address += round_up(b->size, ADDRESS_GRANULE) + ADDRESS_GRANULE;
      b->next = addressed;
      if (addressed != NULL) {
        addressed->previous = b;
      }
      addressed = b;
    }
    address = b->address;
  }
  (void)nd_leave(&call, VK_SUCCESS);
  return address;
}

void *nulldriver_at(VkDeviceAddress address, uint64_t size) {
  void *found = NULL;
  nd_lock();
  for (const nd_buffer *at = addressed; at != NULL && found == NULL; at = at->next) {
    const uint64_t offset = address - at->address;
    if (address >= at->address && offset <= at->size && size <= at->size - offset && !at->object.destroyed &&
        nd_object_peek(NULLDRIVER_MEMORY, at->memory) != NULL) {
      found = at->home->data + at->offset + offset;
    }
  }
  if (found == NULL) {
    nd_violation("dispatch", "%llu bytes at device address 0x%llx are in no live buffer", (unsigned long long)size,
                 (unsigned long long)address);
  }
  nd_unlock();
  return found;
}
