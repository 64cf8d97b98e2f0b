/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Lanes: hardware queues with group commit.
 *
 * Lists of commands are handed to a lane, where they wait while two batches are in flight, or one that takes long:
 * meanwhile more come, and all go to the queue in one call, written into one command buffer side by side
 * (submit/command_buffer.h). There is no thread that does it. Whoever hands a list over helps, or waits and watches
 * the lane: one thread at a time takes the role of the leader and submits what is there. A list is left to others only
 * while some thread attends the lane, which looks after it while it spins, whenever it wakes, and when it is the last
 * to leave.
 */
#ifndef LEAT_PLUGIN_SUBMIT_LANE_H_
#define LEAT_PLUGIN_SUBMIT_LANE_H_

#include <leat/backend.h>

#include "submit/lane_state.h"
#include "timeline/timeline.h"

/** Makes the lanes of a device. */
int32_t leati_lanes_create(leat_device *device, leat_error *err);
/** Frees them; the device is idle. */
void leati_lanes_destroy(leat_device *device);

/** Hands a pushed submission over, and counts it for the choice; `*inout_interval` is the stream's own, to count
 * streams by. The lock of its timeline is held since the push, so whoever finds it listed finds it queued, or with the
 * leader. Then call leati_lane_help(), or attend and watch, when no lock is held. */
void leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_interval);
/** Submits what is queued, if it should be and nobody else is about to. Does so a few times at most, and leaves what
 * comes after to others. Lists that the queue refuses fail their timelines. */
void leati_lane_help(leati_lane *lane);
/** Says that the caller waits and will watch or help, at the latest when the lane has room and after that; and that it
 * no longer will. `watched`: it was not asleep when its wait ended. */
void leati_lane_attend(leati_lane *lane);
void leati_lane_leave(leati_lane *lane, bool watched);
/** A look of an attendant that spins. Submits what is queued, if the queue is known to have room, unless threads whose
 * lists have just run are about to hand over the next ones, or another attendant is likely to do it at once and to be
 * quicker. `*inout_passed` is the caller's own: how often the latter was so; 0 at first. Does not ask the driver,
 * unless it relieves a thread that has led for long. */
void leati_lane_watch(leati_lane *lane, uint32_t *inout_passed);
/** Value of the lane's timeline semaphore with which the queue has room for what is left to gather; it was submitted.
 */
uint64_t leati_lane_room(leati_lane *lane);
/** Sees to it that the queue has taken what covers a pushed value, and tells where it is. False: it has passed or
 * failed. */
bool leati_lane_ensure(leati_timeline *timeline, uint64_t value, leati_point *out);
/** Hands out, for profiles, what was noted of lists that have run on any lane. Waits for the leaders, or without `wait`
 * leaves out the lanes that have one. */
void leati_lanes_collect(leat_device *device, bool wait);
/** Gives the caller a sync file for everything that the queue has taken by now; -1: it has run. Waits for the leader.
 * The device must have sync files.
 * @errors OUT_OF_MEMORY, DEVICE_LOST, INTERNAL */
int32_t leati_lane_export(leati_lane *lane, int32_t *out_fd, leat_error *err);

#endif /* LEAT_PLUGIN_SUBMIT_LANE_H_ */
