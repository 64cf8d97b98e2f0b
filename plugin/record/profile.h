/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Profiles: what is noted of a list of commands while it is recorded, and of a command buffer while it runs, when
 * somebody asked for it (record/profiler.h).
 *
 * A list that is opened while nobody asks has no profile, and all that a call costs for that is a look at
 * leat_device::profiling.
 * The profile of a list belongs to its submission until the queue has taken it, and then to its command buffer, in
 * which a query behind each command says when that was done. Such a command buffer is never one that holds its list for
 * the next time: the queries are reset by the host.
 */
#ifndef LEAT_PLUGIN_RECORD_PROFILE_H_
#define LEAT_PLUGIN_RECORD_PROFILE_H_

#include <leat/backend.h>

#include "device/chunk.h"
#include "device/device.h"
#include "policy/constants.h"
#include "record/plan.h"
#include "timeline/timeline.h"

/** A record on its way. */
typedef struct leati_profile_entry {
  leat_profile_record record;
  uint32_t command;      /**< of its list; not of a record of the host */
  uint32_t query, level; /**< whose times are its end, and the end of what must come before it */
} leati_profile_entry;

/** The profile of a list: one allocation, which leati_free() frees. */
typedef struct leati_profile_list {
  uint32_t modes; /**< leat_device::profiling when the list was opened */
  uint32_t count, capacity;
  uint32_t written; /**< entries whose commands are in the command buffer, or in parts that were made */
  leati_profile_entry entries[];
} leati_profile_list;

/** A call that has put commands into the open list of a stream. */
typedef struct leati_profile_call {
  const leat_stream *stream;
  uint64_t begun_ns;
  uint32_t first_command; /**< of those in the list; the last is the list's */
  const leati_plan *plan; /**< NULL: it copies */
  uint32_t first_of_plan; /**< command of the plan's first step; the others follow */
} leati_profile_call;

/** The profile of a command buffer. Belongs to the leader of the lane. */
typedef struct leati_profile_batch {
  VkQueryPool pool;
  uint32_t capacity;    /**< queries */
  leati_chunk *chunk;   /**< what the device copies them to */
  uint32_t query_count; /**< written into the command buffer; 0: it is not profiled */
  uint32_t level;       /**< the query behind the level before the one that is being written */
  uint64_t submitted_ns;
  uint32_t list_count;
  leati_profile_list *lists[LEATI_COMMAND_BUFFER_LISTS_MAX];
} leati_profile_batch;

/** What the steps of a call that were collected so far took, on the host's clock. */
typedef struct leati_profile_launch {
  uint64_t begin_ns, end_ns, busy_ns; /**< a begin of 0: there are none */
} leati_profile_launch;

/** How the clock of a queue is related to the host's. The leader's of its lane. */
typedef struct leati_profile_clock {
  bool known;
  uint64_t steps, ns;          /**< one moment on both */
  uint64_t asked_ns;           /**< when the driver was asked last */
  uint64_t last_ns;            /**< the last moment that was told */
  leati_profile_launch launch; /**< of a list that goes in parts the rest may be on the next command buffer */
} leati_profile_clock;

/* ---- Recording: the lock of the stream is held ------------------------------------------------------------------ */

/** Gives a list that was just opened a profile; without memory for it the list is not profiled. `modes` is not 0. */
void leati_profile_open(leati_submission *list, uint32_t modes);
/** Notes what a call has put into a list that has a profile. */
void leati_profile_note(leat_device *device, leati_submission *list, const leati_profile_call *call);

/* ---- Writing and submitting: the leader's ----------------------------------------------------------------------- */

/** The profile of a part of a list, the commands from `begin` up to `end`, for a submission of its own; NULL: the list
 * has none, or there is no memory. To be called for one part after the other. leati_free() frees it. */
leati_profile_list *leati_profile_part(leat_device *device, const leati_submission *list, uint32_t begin, uint32_t end);
/** Begins the profile of a command buffer, and gives it; NULL: there is no memory, and the profiles of the lists are
 * gone. `commands`: of all lists. */
leati_profile_batch *leati_profile_begin(leat_device *device, leati_profile_batch **inout_kept,
                                         VkCommandBuffer commands, leati_submission *const *lists, uint32_t count,
                                         uint32_t command_count);
/** Says that what was written so far comes before what follows. */
static inline void leati_profile_level(leati_profile_batch *batch) {
  batch->level = batch->query_count - 1;
}
/** Writes the query of command `i` of a list, which was just written. */
void leati_profile_written(const leat_device *device, leati_profile_batch *batch, VkCommandBuffer commands,
                           const leati_submission *list, uint32_t i);
/** Has the queries copied to where the host reads them; a barrier from transfers to the host must follow. */
void leati_profile_end(const leat_device *device, const leati_profile_batch *batch, VkCommandBuffer commands);
/** Notes that the queue has taken the lists: their profiles go to the command buffer's. The lists may still be looked
 * at. `begun_ns`: of the submission; `first`: the batch is the first one of it that the caller tells of. */
void leati_profile_sent(leat_device *device, leati_profile_batch *batch, leati_submission *const *lists, uint32_t count,
                        uint64_t begun_ns, bool first);
/** Hands out the records of a command buffer that has run. */
void leati_profile_collect(leat_device *device, leati_profile_batch *batch, uint32_t lane, leati_profile_clock *clock);
/** Frees a profile of which nothing is in flight, with what was not collected; NULL does nothing. */
void leati_profile_destroy(leat_device *device, leati_profile_batch *batch);

/* ---- Compiling and waiting --------------------------------------------------------------------------------------- */

/** Notes that this thread has compiled a pipeline of a kernel since `begun_ns`, inside of a request, if anybody asks.
 */
void leati_profile_compiled(leat_device *device, const char *kernel, uint64_t begun_ns);
/** Notes that this thread has waited since `begun_ns`, if anybody asks. */
void leati_profile_waited(leat_device *device, uint64_t begun_ns);

#endif /* LEAT_PLUGIN_RECORD_PROFILE_H_ */
