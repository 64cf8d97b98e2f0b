/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/lane.h"

#include "device.h"
#include "status.h"

void leati_lane_init(leat_device *device, uint32_t index, leati_lane *lane) {
  leati_mutex_init(&lane->lock, LEATI_RANK_LANE);
  lane->index = index;
  device->vk.GetDeviceQueue(device->vk.handle, device->physical->queue_family, index, &lane->queue);
}

void leati_lane_destroy(leati_lane *lane) {
  leati_mutex_destroy(&lane->lock);
}

int32_t leati_lane_submit(leat_device *device, leati_lane *lane, const VkSubmitInfo *batch, leat_error *err) {
  leati_mutex_lock(&lane->lock);
  const VkResult result = device->vk.QueueSubmit(lane->queue, 1, batch, VK_NULL_HANDLE);
  leati_mutex_unlock(&lane->lock);
  return result == VK_SUCCESS ? LEAT_OK : leati_device_fail(device, result, "vkQueueSubmit", err);
}
