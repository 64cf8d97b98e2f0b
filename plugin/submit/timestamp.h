/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Timestamps: queries that the device writes its clock into, for events with timing. The device copies each into mapped
 * memory behind its stream's work, so reading one asks the driver nothing: some drivers wait there for the whole
 * device.
 */
#ifndef LEAT_PLUGIN_SUBMIT_TIMESTAMP_H_
#define LEAT_PLUGIN_SUBMIT_TIMESTAMP_H_

#include <leat/backend.h>

#include "device/vulkan.h"
#include "timeline/timeline.h"

/** One query. Belongs to whoever took it. */
typedef struct leati_timestamp {
  struct leati_timestamp *next;
  VkQueryPool pool;
  uint32_t query;
  VkBuffer buffer; /**< where the device copies it, at `offset` */
  uint64_t offset;
  const uint64_t *value_at; /**< the same place as the host sees it */
  uint32_t lane;            /**< number of the queue that writes it */
  /** Where it was written; while that has not passed it cannot be used again. */
  leati_timeline *timeline;
  uint64_t value;
} leati_timestamp;

int32_t leati_timestamps_create(leat_device *device, leat_error *err);
/** Frees all queries; the device is idle. */
void leati_timestamps_destroy(leat_device *device);

/** Records the writing of a query and its copy, seen by the host once the commands have run. */
void leati_timestamp_record(const leat_device *device, VkCommandBuffer commands, const leati_timestamp *timestamp);

/** Takes a query that is ready to be written.
 * @errors OUT_OF_MEMORY: of which work in flight may release some; DEVICE_LOST */
int32_t leati_timestamp_take(leat_device *device, leati_timestamp **out, leat_error *err);
/** Releases a query, in flight or not; NULL does nothing. */
void leati_timestamp_release(leat_device *device, leati_timestamp *timestamp);
/** What the clock said, and which queue's clock it was. */
typedef struct leati_reading {
  uint64_t steps;
  uint32_t lane;
} leati_reading;

/** Reads a query whose commands have run and which nobody releases meanwhile. */
leati_reading leati_timestamp_read(const leati_timestamp *timestamp);
/** Nanoseconds from one reading to another.
 * @errors NOT_SUPPORTED: different queues, whose clocks cannot be compared on this device */
int32_t leati_timestamp_elapsed(const leat_device *device, leati_reading start, leati_reading end, double *out_ns,
                                leat_error *err);

#endif /* LEAT_PLUGIN_SUBMIT_TIMESTAMP_H_ */
