/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/syncfile.h"

#include <fcntl.h>

#include "core/status.h"
#include "device/device.h"

int32_t leati_syncfile_create(leat_device *device, leati_syncfile **out, leat_error *err) {
  leati_syncfile *const file = leati_calloc(1, sizeof(*file));
  if (file == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a sync file");
  }
  const VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &exported};
  const VkResult result = device->vk.CreateSemaphore(device->vk.handle, &info, NULL, &file->semaphore);
  if (result != VK_SUCCESS) {
    leati_free(file);
    return leati_device_fail(device, result, "vkCreateSemaphore for a sync file", err);
  }
  *out = file;
  return LEAT_OK;
}

int32_t leati_syncfile_export(leat_device *device, const leati_syncfile *file, int32_t *out_fd, leat_error *err) {
  const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                        .semaphore = file->semaphore,
                                        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
  int fd = -1;
  const VkResult result = device->vk.GetSemaphoreFdKHR(device->vk.handle, &info, &fd);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkGetSemaphoreFdKHR", err);
  }
  if (fd >= 0) {
    /* A child that execs must not inherit it. Not every driver sees to that. */
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  *out_fd = fd;
  return LEAT_OK;
}

void leati_syncfiles_destroy(leat_device *device, leati_syncfile **list, const leati_semaphore *semaphore) {
  while (*list != NULL) {
    leati_syncfile *const file = *list;
    if (semaphore != NULL && !leati_semaphore_has(semaphore, file->value)) {
      list = &file->next;
      continue;
    }
    *list = file->next;
    device->vk.DestroySemaphore(device->vk.handle, file->semaphore, NULL);
    leati_free(file);
  }
}
