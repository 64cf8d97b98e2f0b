/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Placement: which lane a list goes to, and how many lanes there are to choose from, which is learnt from interval to
 * interval (policy/lane_tuner.h).
 */
#ifndef LEAT_PLUGIN_SUBMIT_PLACEMENT_H_
#define LEAT_PLUGIN_SUBMIT_PLACEMENT_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/sync.h"
#include "policy/lane_tuner.h"

struct leati_lane;

/** What all lanes have done so far. Only how much it has risen has a meaning. */
typedef struct leati_tally {
  uint32_t lists, commands; /**< handed over */
  uint32_t seen_lists;
  uint64_t busy_ns;
} leati_tally;

/** What is known of all lanes of a device. */
typedef struct leati_placement {
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t in_use; /**< lanes that are chosen from; relaxed */
  _Atomic uint32_t active_streams;                    /**< streams of the interval before; relaxed */
  _Atomic uint32_t interval;                          /**< number of this interval; relaxed */
  _Atomic uint32_t streams;                           /**< that had lists in it; relaxed */
  _Alignas(LEATI_CACHE_LINE) leati_role judge;        /**< the thread that has it uses what follows */
  leati_lane_tuner tuner;
  uint64_t interval_start_ns; /**< later by the idle time in the interval */
  uint64_t idle_until_ns;     /**< up to when idle time was taken off */
  leati_tally interval_tally; /**< when it began */
} leati_placement;
LEATI_APART(leati_placement, streams, judge);

/** Starts with one of so many lanes; `fixed`: with all of them, and stays there. */
void leati_placement_begin(leati_placement *placement, uint32_t lanes, bool fixed);
/** The lane that a list of a stream should go to: `current` (NULL: none yet), where `own` lists of the stream may be in
 * flight, unless others have put more there than there is elsewhere. */
struct leati_lane *leati_placement_choose(leat_device *device, struct leati_lane *current, uint64_t own);
/** Whether only one stream had lists of late. */
bool leati_placement_alone(const leat_device *device);
/** Counts a list of so many commands that is about to be handed over to a lane, and ends the interval if it is time.
 * `*inout_interval` is the stream's own, to count streams by. */
void leati_placement_count(struct leati_lane *lane, uint32_t commands, uint32_t *inout_interval);

#endif /* LEAT_PLUGIN_SUBMIT_PLACEMENT_H_ */
