/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Sync files: the kernel's descriptors that become readable when a queue has come so far. The driver makes one from a
 * binary semaphore that a batch signals (VK_KHR_external_semaphore_fd, SYNC_FD), and which must live as long as that
 * batch.
 */
#ifndef LEAT_PLUGIN_SUBMIT_SYNCFILE_H_
#define LEAT_PLUGIN_SUBMIT_SYNCFILE_H_

#include <leat/backend.h>

#include "device/vulkan.h"
#include "timeline/timeline_semaphore.h"

typedef struct leati_syncfile {
  struct leati_syncfile *next;
  VkSemaphore semaphore;
  uint64_t value; /**< of the lane's timeline semaphore, which the batch that signals it raises */
} leati_syncfile;

/** Makes a semaphore for a batch to signal; the device must have sync files.
 * @errors OUT_OF_MEMORY, DEVICE_LOST, INTERNAL */
int32_t leati_syncfile_create(leat_device *device, leati_syncfile **out, leat_error *err);
/** Gives the caller a descriptor for it, once the batch is submitted; -1: that has run.
 * @errors OUT_OF_MEMORY, DEVICE_LOST, INTERNAL */
int32_t leati_syncfile_export(leat_device *device, const leati_syncfile *file, int32_t *out_fd, leat_error *err);
/** Frees those of a list whose value the timeline semaphore is known to have reached; NULL: all. */
void leati_syncfiles_destroy(leat_device *device, leati_syncfile **list, const leati_semaphore *semaphore);

#endif /* LEAT_PLUGIN_SUBMIT_SYNCFILE_H_ */
