/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/timeline_semaphore.h"

#include "device/device.h"

int32_t leati_semaphore_create(leat_device *device, leati_semaphore *semaphore, leat_error *err) {
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  const VkResult result = device->vk.CreateSemaphore(device->vk.handle, &info, NULL, &semaphore->handle);
  if (result != VK_SUCCESS) {
    semaphore->handle = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateSemaphore", err);
  }
  return LEAT_OK;
}

void leati_semaphore_destroy(leat_device *device, leati_semaphore *semaphore) {
  device->vk.DestroySemaphore(device->vk.handle, semaphore->handle, NULL);
}

int32_t leati_semaphore_poll(leat_device *device, leati_semaphore *semaphore, leat_error *err) {
  if (leati_semaphore_has(semaphore, atomic_load_explicit(&semaphore->submitted, memory_order_acquire))) {
    return LEAT_OK;
  }
  uint64_t value = 0;
  VkResult result = device->vk.GetSemaphoreCounterValue(device->vk.handle, semaphore->handle, &value);
  /* Some drivers signal everything when the device goes; no value of ours is this high. */
  if (result == VK_SUCCESS && value == UINT64_MAX) {
    result = VK_ERROR_DEVICE_LOST;
  }
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkGetSemaphoreCounterValue", err);
  }
  leati_raise(&semaphore->reached, value);
  return LEAT_OK;
}

int32_t leati_semaphore_wait(leat_device *device, leati_semaphore *semaphore, uint64_t value, uint64_t timeout_ns,
                             leat_error *err) {
  leati_assert_unlocked();
  const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &semaphore->handle,
                                    .pValues = &value};
  const VkResult result = device->vk.WaitSemaphores(device->vk.handle, &info, timeout_ns);
  if (result == VK_SUCCESS) {
    /* The driver says so also when the device goes, so its word is not taken: the next poll asks again. */
    return leati_semaphore_poll(device, semaphore, err);
  }
  return result == VK_TIMEOUT ? LEAT_OK : leati_device_fail(device, result, "vkWaitSemaphores", err);
}
