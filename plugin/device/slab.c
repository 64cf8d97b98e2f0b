/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/slab.h"

#include <stdatomic.h>

#include "core/status.h"
#include "core/sync.h"
#include "device/budget.h"
#include "device/buffer.h"
#include "device/device.h"

static int32_t fill(leat_device *device, const uint32_t memory_types[2], uint32_t allowed, leati_slab *slab,
                    leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (uint32_t i = 0; i < 2 && result != VK_SUCCESS; ++i) {
    if ((allowed & (UINT32_C(1) << memory_types[i])) == 0) {
      continue;
    }
    const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                             .pNext = &flags,
                                             .allocationSize = slab->size,
                                             .memoryTypeIndex = memory_types[i]};
    result = vk->AllocateMemory(vk->handle, &allocation, NULL, &slab->memory);
  }
  if (result != VK_SUCCESS) {
    slab->memory = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkAllocateMemory for staging", err);
  }
  void *mapped;
  result = leati_buffer_map(device, slab->memory, &mapped);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkMapMemory for staging", err);
  }
  slab->mapped = mapped;
  return LEAT_OK;
}

int32_t leati_slab_create(leat_device *device, uint64_t size, const uint32_t memory_types[2], uint32_t allowed,
                          leati_slab **out, leat_error *err) {
  leati_slab *const slab = leati_calloc(1, sizeof(*slab));
  if (slab == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for staging");
  }
  int32_t status = leati_budget_commit(device, size, err);
  if (status != LEAT_OK) {
    leati_free(slab);
    return status;
  }
  slab->size = size;
  atomic_store_explicit(&slab->users, 1, memory_order_relaxed);
  status = fill(device, memory_types, allowed, slab, err);
  if (status != LEAT_OK) {
    (void)leati_slab_leave(device, slab);
    return status;
  }
  *out = slab;
  return LEAT_OK;
}

void leati_slab_join(leati_slab *slab) {
  /* Ordered by what gives the new user the slab. */
  (void)atomic_fetch_add_explicit(&slab->users, 1, memory_order_relaxed);
}

uint64_t leati_slab_leave(leat_device *device, leati_slab *slab) {
  /* The last user acquires what those before it have released: they touch the memory no more. */
  if (atomic_fetch_sub_explicit(&slab->users, 1, memory_order_acq_rel) != 1) {
    return 0;
  }
  const uint64_t size = slab->size;
  if (slab->memory != VK_NULL_HANDLE) {
    device->vk.FreeMemory(device->vk.handle, slab->memory, NULL);
  }
  leati_budget_uncommit(device, size);
  leati_free(slab);
  return size;
}
