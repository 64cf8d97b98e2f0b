/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/external_semaphore.h"

#include "core/status.h"
#include "core/sync.h"

void leati_external_semaphores_create(leat_device *device) {
  leati_mutex_init(&device->external_lock, LEATI_RANK_EXTERNAL);
}

void leati_external_semaphores_destroy(leat_device *device) {
  leat_semaphore *semaphore = device->external_semaphores;
  while (semaphore != NULL) {
    leat_semaphore *const next = semaphore->next;
    device->vk.DestroySemaphore(device->vk.handle, semaphore->handle, NULL);
    leati_free(semaphore);
    semaphore = next;
  }
  device->external_semaphores = NULL;
  device->free_external_semaphores = NULL;
  leati_mutex_destroy(&device->external_lock);
}

/* Takes an object without a VkSemaphore, or makes one; NULL: there is no host memory. */
static leat_semaphore *take_object(leat_device *device) {
  leati_mutex_lock(&device->external_lock);
  leat_semaphore *semaphore = device->free_external_semaphores;
  if (semaphore != NULL) {
    device->free_external_semaphores = semaphore->next_free;
  } else {
    semaphore = leati_calloc(1, sizeof(*semaphore));
    if (semaphore != NULL) {
      semaphore->device = device;
      semaphore->next = device->external_semaphores;
      device->external_semaphores = semaphore;
    }
  }
  leati_mutex_unlock(&device->external_lock);
  return semaphore;
}

/* Destroys the VkSemaphore, if there is one, and keeps the object for the next. */
static void give_object(leat_semaphore *semaphore) {
  leat_device *const device = semaphore->device;
  device->vk.DestroySemaphore(device->vk.handle, semaphore->handle, NULL);
  semaphore->handle = VK_NULL_HANDLE;
  leati_mutex_lock(&device->external_lock);
  semaphore->next_free = device->free_external_semaphores;
  device->free_external_semaphores = semaphore;
  leati_mutex_unlock(&device->external_lock);
}

/* Makes the VkSemaphore out of the descriptor. */
static int32_t import(leat_device *device, int32_t fd, VkSemaphore *out, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VkResult result = vk->CreateSemaphore(vk->handle, &info, NULL, out);
  if (result != VK_SUCCESS) {
    *out = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateSemaphore for an imported one", err);
  }
  const VkImportSemaphoreFdInfoKHR from = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                           .semaphore = *out,
                                           .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                           .fd = fd};
  result = vk->ImportSemaphoreFdKHR(vk->handle, &from);
  if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "descriptor %d is not one of a timeline semaphore of this device and driver", fd);
  }
  return result == VK_SUCCESS ? LEAT_OK : leati_device_fail(device, result, "vkImportSemaphoreFdKHR", err);
}

int32_t leati_external_semaphore_import(leat_device *device, int32_t fd, leat_semaphore **out, leat_error *err) {
  leat_semaphore *const semaphore = take_object(device);
  if (semaphore == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a semaphore");
  }
  const int32_t status = import(device, fd, &semaphore->handle, err);
  if (status != LEAT_OK) {
    give_object(semaphore);
    return status;
  }
  atomic_store_explicit(&semaphore->references, 1, memory_order_relaxed);
  semaphore->kind = LEATI_KIND_SEMAPHORE;
  *out = semaphore;
  return LEAT_OK;
}

int32_t leati_external_semaphore_value(const leat_semaphore *semaphore, uint64_t *out, leat_error *err) {
  leat_device *const device = semaphore->device;
  *out = 0;
  const VkResult result = device->vk.GetSemaphoreCounterValue(device->vk.handle, semaphore->handle, out);
  return result == VK_SUCCESS ? LEAT_OK
                              : leati_device_fail(device, result, "vkGetSemaphoreCounterValue of an imported one", err);
}

void leati_external_semaphore_release(leat_semaphore *semaphore) {
  if (atomic_fetch_sub_explicit(&semaphore->references, 1, memory_order_acq_rel) == 1) {
    give_object(semaphore);
  }
}
