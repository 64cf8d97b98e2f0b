/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Lanes: hardware queues. Nothing else submits.
 */
#ifndef LEAT_PLUGIN_STREAMS_LANE_H_
#define LEAT_PLUGIN_STREAMS_LANE_H_

#include <leat/backend.h>

#include "sync.h"
#include "vulkan.h"

/** A queue of the device's compute family. */
typedef struct leati_lane {
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /**< guards `queue`: Vulkan wants one thread at a time */
  VkQueue queue;
  uint32_t index; /**< among the lanes of the device */
} leati_lane;

void leati_lane_init(leat_device *device, uint32_t index, leati_lane *lane);
void leati_lane_destroy(leati_lane *lane);

/** Gives one batch to the queue.
 * @errors OUT_OF_MEMORY, DEVICE_LOST */
int32_t leati_lane_submit(leat_device *device, leati_lane *lane, const VkSubmitInfo *batch, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_LANE_H_ */
