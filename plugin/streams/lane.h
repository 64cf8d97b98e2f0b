/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Lanes: hardware queues with group commit. Nothing else submits.
 *
 * Lists of commands are handed to a lane, where they wait while two batches are in flight, or one that takes long:
 * meanwhile more come, and all go to the queue in one call, written into one command buffer side by side
 * (streams/tape.h). There is no thread that does it. Whoever hands a list over helps, or waits and watches the lane:
 * one thread at a time takes the role of the leader and submits what is there. A list is left to others only while some
 * thread attends the lane, which looks after it while it spins, whenever it wakes, and when it is the last to leave.
 */
#ifndef LEAT_PLUGIN_STREAMS_LANE_H_
#define LEAT_PLUGIN_STREAMS_LANE_H_

#include <leat/backend.h>

#include "counter.h"
#include "device.h"
#include "streams/rhythm.h"
#include "streams/syncfile.h"
#include "streams/tape.h"
#include "timeline.h"

typedef struct leati_lane {
  leati_counter counter; /**< first: leati_lane_of() relies on it */
  _Alignas(LEATI_CACHE_LINE) leat_device *device;
  uint32_t index;
  VkQueue queue; /**< used by the leader alone */
  /* All that is relaxed here only guides guesses of who comes when, and where there is little to do. */
  _Alignas(LEATI_CACHE_LINE) leati_role leader; /**< who has it takes what is queued and submits it */
  /** Somebody has left a list to who has the role. Set when that failed and before a last try, looked at after the role
   * was given up; sequentially consistent, so that one of the two sees the other. */
  atomic_bool missed;
  /** The thread that has the role has led for long: the thread that takes this back relieves it. Relaxed. */
  atomic_bool relief;
  /** Threads that are about to relieve the one that leads, which then does not try again. Raised before they try and
   * lowered before they try for the last time, looked at after the role was given up; sequentially consistent. */
  _Atomic uint32_t relievers;
  _Atomic(const void *) led_by; /**< thread that had it last; relaxed */
  leati_rhythm rhythm;
  /* Used by the leader alone. */
  _Alignas(LEATI_CACHE_LINE) leati_tape *flying; /**< tapes in flight, oldest first */
  leati_tape *last_flying;
  leati_syncfile *syncfiles; /**< whose batches may be in flight */
  leati_tape *tapes;         /**< the others, used last first: see take_tape() */
  uint32_t tape_count;       /**< of both */
  /** Handed over and not taken yet, newest first. Pushed by anybody, taken whole by the leader. Sequentially consistent
   * like the role and `attendants`. */
  _Alignas(LEATI_CACHE_LINE) _Atomic(leati_submission *) queued;
  _Atomic uint32_t lists;    /**< handed over so far, without those that were lost; relaxed */
  _Atomic uint32_t commands; /**< that were in lists; relaxed */
  /** Some of what is queued comes after what is in flight. Relaxed: if it is lost or stays for too long, a list waits
   * for company that need not, or the other way round. */
  atomic_bool continues;
  /** Threads that wait: they watch or help again and again until they leave. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t attendants;
} leati_lane;
LEATI_APART(leati_lane, counter, leader);
LEATI_APART(leati_lane, led_by, rhythm);
LEATI_APART(leati_lane, rhythm, flying);
LEATI_APART(leati_lane, tape_count, queued);
LEATI_APART(leati_lane, continues, attendants);

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
/** Whether only one stream had lists of late. */
bool leati_lanes_alone(const leat_device *device);

/** Hands a pushed submission over, and counts it for the choice; `*inout_epoch` is the stream's own, to count streams
 * by. The lock of its timeline is held since the push, so whoever finds it listed finds it queued, or with the leader.
 * Then call leati_lane_help(), or attend and watch, when no lock is held. */
void leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_epoch);
/** Submits what is queued, if it should be and nobody else is about to. Does so a few times at most, and leaves what
 * comes after to others. Lists that the queue refuses fail their timelines. */
void leati_lane_help(leati_lane *lane);
/** Says that the caller waits and will watch or help, at the latest when the lane has room and after that; and that it
 * no longer will. `watched`: it was not asleep when its wait ended. */
void leati_lane_attend(leati_lane *lane);
void leati_lane_leave(leati_lane *lane, bool watched);
/** Threads that attend. */
static inline uint32_t leati_lane_attendants(const leati_lane *lane) {
  return atomic_load_explicit(&lane->attendants, memory_order_relaxed);
}
/** A look of an attendant that spins. Submits what is queued, if the queue is known to have room, unless threads whose
 * lists have just run are about to hand over the next ones, or another attendant is likely to do it at once and to be
 * quicker. `*inout_passed` is the caller's own: how often the latter was so; 0 at first. Does not ask the driver,
 * unless it relieves a thread that has led for long. */
void leati_lane_watch(leati_lane *lane, uint32_t *inout_passed);
/** Value of the lane's counter with which the queue has room for what is left to gather; it was submitted. */
uint64_t leati_lane_room(leati_lane *lane);
/** Sees to it that the queue has taken what covers a pushed value, and tells where it is. False: it has passed or
 * failed. */
bool leati_lane_ensure(leati_timeline *timeline, uint64_t value, leati_point *out);
/** Gives the caller a sync file for everything that the queue has taken by now; -1: it has run. Waits for the leader.
 * The device must have sync files.
 * @errors OUT_OF_MEMORY, DEVICE_LOST, INTERNAL */
int32_t leati_lane_export(leati_lane *lane, int32_t *out_fd, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_LANE_H_ */
