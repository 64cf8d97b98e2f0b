/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/imported.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/status.h"
#include "device/buffer.h"
#include "device/device.h"
#include "memory/segment.h"
#include "memory/segment_table.h"
#include "memory/size_class.h"

/* Lets the driver make the memory of a segment out of a copy of the descriptor, which it owns if it succeeds: the
 * caller's stays as it is until all has gone well. Of a type that is not known those are tried that the buffer may
 * have, first the one that blocks of this device have. */
static VkResult import(leat_device *device, const leat_external_memory *memory, uint64_t allocation_size,
                       uint32_t allowed_types, leati_segment *s) {
  const int copy = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  }
  const VkMemoryDedicatedAllocateInfo dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                                   .buffer = s->buffer};
  const VkImportMemoryFdInfoKHR fd = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                      .pNext = memory->dedicated_usage != 0 ? &dedicated : NULL,
                                      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                      .fd = copy};
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .pNext = &fd,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryAllocateInfo allocation = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = allocation_size};
  const bool known = memory->memory_type != LEAT_EXTERNAL_ANY_MEMORY_TYPE;
  uint32_t types = known ? UINT32_C(1) << memory->memory_type : allowed_types;
  uint32_t first = UINT32_C(1) << device->device_memory_type;
  VkResult result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
  while (types != 0 && result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
    const uint32_t among = (types & first) != 0 ? types & first : types;
    allocation.memoryTypeIndex = (uint32_t)__builtin_ctz(among);
    types &= ~(UINT32_C(1) << allocation.memoryTypeIndex);
    result = device->vk.AllocateMemory(device->vk.handle, &allocation, NULL, &s->memory);
  }
  if (result != VK_SUCCESS) {
    s->memory = VK_NULL_HANDLE;
    (void)close(copy);
  }
  return result;
}

/* Makes a buffer on the memory. What there is of it when it fails is for leati_segment_free(). */
static int32_t fill_in(leat_device *device, const leat_external_memory *memory, leati_segment *s, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                     .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  const VkBufferCreateInfo buffer = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .pNext = &external,
      .size = memory->size,
      .usage = memory->dedicated_usage != 0 ? memory->dedicated_usage : LEATI_BUFFER_USAGE,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkResult result = vk->CreateBuffer(vk->handle, &buffer, NULL, &s->buffer);
  if (result != VK_SUCCESS) {
    s->buffer = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateBuffer for imported memory", err);
  }
  VkMemoryRequirements needs;
  LEATI_TRY(leati_buffer_needs(device, s->buffer, memory->size, &needs, err));
  const uint64_t allocation_size = memory->allocation_size != 0 ? memory->allocation_size : needs.size;
  if (needs.size > allocation_size) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "a buffer of %" PRIu64 " bytes takes %" PRIu64 " here; allocation_size is %" PRIu64
                      ": allocate what vkGetBufferMemoryRequirements() says, or use less of it",
                      memory->size, (uint64_t)needs.size, memory->allocation_size);
  }
  if (memory->memory_type < 32 && (needs.memoryTypeBits & (UINT32_C(1) << memory->memory_type)) == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "memory_type is %u, which no buffer is made of here; allowed are those of the bits 0x%x",
                      memory->memory_type, needs.memoryTypeBits);
  }
  result = import(device, memory, allocation_size, needs.memoryTypeBits, s);
  if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "descriptor %d is not one of memory of this device and driver, of %" PRIu64 " bytes", memory->fd,
                      allocation_size);
  }
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkAllocateMemory for imported memory", err);
  }
  result = vk->BindBufferMemory(vk->handle, s->buffer, s->memory, 0);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkBindBufferMemory for imported memory", err);
  }
  VkDeviceAddress address;
  LEATI_TRY(leati_buffer_address(device, s->buffer, memory->size, &address, err));
  s->address = address;
  s->buffer_offset = 0;
  return LEAT_OK;
}

int32_t leati_imported_take(leat_device *device, const leat_external_memory *memory, leati_block **out,
                            leat_error *err) {
  struct leati_memory *const all = device->memory;
  leati_size_class *const class = &all->classes[LEATI_CLASS_IMPORTED];
  leati_imported_settle(device);
  leati_mutex_lock(&class->lock);
  leati_segment *const s = leati_segment_take(class, 1);
  leati_mutex_unlock(&class->lock);
  if (s == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a segment");
  }
  leati_block *const block = &s->blocks[0];
  s->class_index = LEATI_CLASS_IMPORTED;
  s->block_size = memory->size;
  s->size = memory->size;
  s->carved = 1;
  int32_t status = fill_in(device, memory, s, err);
  if (status == LEAT_OK) {
    leati_block_keep_stamps(block, NULL);
    block->size = memory->size;
    ++block->generation;
    atomic_store_explicit(&block->references, 1, memory_order_release);
    status = leati_segment_table_insert(&all->table, s, err);
  }
  if (status != LEAT_OK) {
    leati_segment_free(device, s);
    atomic_store_explicit(&block->references, 0, memory_order_release);
  }
  leati_mutex_lock(&class->lock);
  if (status == LEAT_OK) {
    s->next = class->segments;
    class->segments = s;
  } else {
    leati_segment_retire(class, s);
  }
  leati_mutex_unlock(&class->lock);
  if (status == LEAT_OK) {
    (void)close(memory->fd);
    *out = block;
  }
  return status;
}

void leati_imported_settle(leat_device *device) {
  struct leati_memory *const all = device->memory;
  leati_size_class *const class = &all->classes[LEATI_CLASS_IMPORTED];
  leati_segment *gone = NULL;
  leati_mutex_lock(&all->trim_lock);
  leati_mutex_lock(&class->lock);
  for (leati_segment **at = &class->segments; *at != NULL;) {
    leati_segment *const s = *at;
    if (atomic_load_explicit(&s->blocks[0].references, memory_order_acquire) == 0 &&
        leati_block_reusable(&s->blocks[0], NULL)) {
      s->leaving = true;
      *at = s->next;
      s->next = gone;
      gone = s;
    } else {
      at = &s->next;
    }
  }
  leati_mutex_unlock(&class->lock);
  leati_class_give_back(device, gone);
  leati_mutex_unlock(&all->trim_lock);
}
