/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Under guard (LEAT_MEMORY_GUARD): whether what a command reads was ordered after what another stream wrote there.
 *
 * The order between streams is the caller's: an event or a semaphore that the device waits for, or a wait of the host.
 * Each stream and event *knows* the points of timelines that it comes after. A read of bytes that another stream is yet
 * to write is refused unless the reader knows that write. What the device has written by the time of the call is never
 * refused, though nothing may have ordered it.
 */
#ifndef LEAT_PLUGIN_RECORD_HAZARDS_H_
#define LEAT_PLUGIN_RECORD_HAZARDS_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/device.h"
#include "memory/block.h"
#include "record/ranges.h"
#include "timeline/timeline.h"

/** Points of timelines that whatever has this comes after. All zero at first; guarded by the lock of the device's
 * hazards. Stays empty without guard. */
typedef struct leati_known {
  leati_stamp *points; /**< one for each timeline */
  uint32_t count, capacity;
  bool everything; /**< there was no host memory for a point: nothing is refused any more */
} leati_known;

/** Prepares a device that is guarded; another one does without.
 * @errors OUT_OF_MEMORY */
int32_t leati_hazards_create(leat_device *device, leat_error *err);
void leati_hazards_destroy(leat_device *device);

/** Frees what is known when its device is destroyed, and nobody else has it. */
void leati_known_destroy(leati_known *known);
/** Forgets what is known: whatever has this comes after nothing. */
void leati_known_forget(leat_device *device, leati_known *known);
/** Lets an event know what the stream it is recorded in knows, and that stream's own point, in place of what it knew.
 */
void leati_known_record(leat_device *device, leati_known *event, const leati_known *stream, leati_timeline *timeline,
                        uint64_t value);
/** Adds what a stream knows, and its own point, to what is known behind semaphores of other APIs. */
void leati_known_publish(leat_device *device, const leati_known *stream, leati_timeline *timeline, uint64_t value);
/** Lets a stream know what an event that it waits for knows. */
void leati_known_learn(leat_device *device, leati_known *stream, const leati_known *event);
/** What is known behind semaphores of other APIs that streams of the device have raised: of all of them together, since
 * what the other side passes on cannot be seen. */
leati_known *leati_known_external(leat_device *device);

/** Who reads or writes. */
typedef struct leati_accessor {
  leat_device *device;
  leati_timeline *timeline;
  uint64_t value;            /**< of the list that the command is in */
  uint64_t owned_since;      /**< the last value that is of an owner of the stream before */
  uint32_t command;          /**< its number in the list */
  const leat_stream *stream; /**< for messages: its handle, */
  uint32_t number;           /**< and the stream's number */
  const leati_known *known;
} leati_accessor;

/** Fails if another stream is yet to write some of a range, and the reader does not come after that.
 * @errors INVALID_ARGUMENT */
int32_t leati_hazards_read(const leati_accessor *reader, const leati_range *range, leat_error *err);
/** Notes a write. */
void leati_hazards_write(const leati_accessor *writer, const leati_range *range);
/** Forgets the writes of commands of a list from one on, which are not in it any more. Does nothing without guard. */
void leati_hazards_take_back(leat_device *device, const leati_timeline *timeline, uint64_t value,
                             uint32_t first_command);

#endif /* LEAT_PLUGIN_RECORD_HAZARDS_H_ */
