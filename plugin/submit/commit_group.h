/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Commit groups: the lists that go to a queue in one call, each batch of them on a command buffer. Nothing else
 * submits. Everything here is the leader's of the lane.
 */
#ifndef LEAT_PLUGIN_SUBMIT_COMMIT_GROUP_H_
#define LEAT_PLUGIN_SUBMIT_COMMIT_GROUP_H_

#include <leat/backend.h>

#include "submit/lane_state.h"
#include "submit/syncfile.h"
#include "timeline/timeline.h"

/** Submits lists that are linked by `queued`, oldest first. Those that the queue refuses fail their timelines, and are
 * dropped with what came after them there. */
void leati_commit_group_submit(leati_lane *lane, leati_submission *oldest);
/** Releases the command buffers that have finished, as far as is known, and hands out what was noted of them for
 * profiles. */
void leati_commit_group_collect(leati_lane *lane);
/** Submits a batch that runs nothing and signals a sync file behind everything that the queue was given.
 * @errors OUT_OF_MEMORY, DEVICE_LOST, INTERNAL */
int32_t leati_commit_group_signal(leati_lane *lane, leati_syncfile *file, leat_error *err);

#endif /* LEAT_PLUGIN_SUBMIT_COMMIT_GROUP_H_ */
