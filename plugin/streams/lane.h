/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Lanes: hardware queues with group commit. Nothing else submits.
 *
 * Lists of commands are handed to a lane, where they wait while two batches are in flight: meanwhile more come, and all
 * go to the queue in one call, written into one command buffer side by side (streams/tape.h). There is no thread that
 * does it. Whoever hands a list over, or waits for one, helps: one thread at a time takes the role of the leader and
 * submits what is there. A list is left to others only while some thread waits on the lane, which looks after it
 * whenever it wakes and when it leaves.
 */
#ifndef LEAT_PLUGIN_STREAMS_LANE_H_
#define LEAT_PLUGIN_STREAMS_LANE_H_

#include <leat/backend.h>

#include "counter.h"
#include "device.h"
#include "streams/tape.h"
#include "timeline.h"

/* Batches whose lists are remembered, to be taken off `load` when they have run. */
#define LEATI_LANE_HISTORY 64

typedef struct leati_lane {
  leati_counter counter; /**< first: leati_lane_of() relies on it */
  _Alignas(LEATI_CACHE_LINE) leat_device *device;
  uint32_t index;
  VkQueue queue;                                /**< used by the leader alone */
  _Alignas(LEATI_CACHE_LINE) leati_role leader; /**< who has it takes what is queued and submits it */
  leati_tape *flying, *last_flying;             /**< tapes in flight, oldest first; used by the leader alone */
  leati_tape *tapes; /**< the others, used last first, since a driver is quicker with memory that it has just used */
  /** Handed over and not taken yet, newest first. Pushed by anybody, taken whole by the leader. Sequentially consistent
   * like the role and `attendants`. */
  _Alignas(LEATI_CACHE_LINE) _Atomic(leati_submission *) queued;
  /** Threads that wait: they call leati_lane_help() again and again until they leave. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t attendants;
  /** Lists handed over and not known to have run. Relaxed, like the two below: it only spreads the load. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t load;
  _Atomic uint64_t settled;                   /**< groups whose lists were taken off `load` */
  _Atomic uint32_t sizes[LEATI_LANE_HISTORY]; /**< lists of the groups after that, by value modulo */
} leati_lane;
LEATI_APART(leati_lane, counter, leader);
LEATI_APART(leati_lane, leader, queued);
LEATI_APART(leati_lane, queued, attendants);
LEATI_APART(leati_lane, attendants, load);

/** Makes the lanes of a device. */
int32_t leati_lanes_create(leat_device *device, leat_error *err);
/** Frees them; the device is idle. */
void leati_lanes_destroy(leat_device *device);

/** The lane that a counter belongs to. */
static inline leati_lane *leati_lane_of(leati_counter *counter) {
  return (leati_lane *)counter;
}

/** The lane that a list of a stream should go to: `current` (NULL: none yet), where `own` lists of the stream may be in
 * flight, unless others have put more there than there is elsewhere. */
leati_lane *leati_lanes_choose(leat_device *device, leati_lane *current, uint64_t own);
/** Counts a list of a stream for the choice; `*inout_epoch` is the stream's own, to count streams by. */
void leati_lanes_count(leat_device *device, uint32_t commands, uint32_t *inout_epoch);
/** Whether only one stream had lists of late. */
bool leati_lanes_alone(const leat_device *device);

/** Hands a pushed submission over. Then call leati_lane_help(), when no lock is held. */
void leati_lane_add(leati_lane *lane, leati_submission *submission);
/** Submits what is queued, if it should be and nobody else is about to. With `force` it is submitted whatever is in
 * flight. Lists that the queue refuses fail their timelines. */
void leati_lane_help(leati_lane *lane, bool force);
/** Says that the caller waits and will help, at the latest when the lane has room and after that; and that it no longer
 * will. */
void leati_lane_attend(leati_lane *lane);
void leati_lane_leave(leati_lane *lane);
/** Value of the lane's counter with which the queue has room for what is left to gather; it was submitted. */
uint64_t leati_lane_room(leati_lane *lane);
/** Sees to it that the queue has taken what covers a pushed value, and tells where it is. False: it has passed or
 * failed. */
bool leati_lane_ensure(leati_timeline *timeline, uint64_t value, leati_point *out);

#endif /* LEAT_PLUGIN_STREAMS_LANE_H_ */
