/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * When lists go to the device, which of them go together, and on which lane. Pure functions; nanoseconds.
 */
#ifndef LEAT_PLUGIN_POLICY_SUBMITTING_H_
#define LEAT_PLUGIN_POLICY_SUBMITTING_H_

#include "policy/constants.h"
#include "policy/traits.h"

/** Nanoseconds: that LEATI_GATHER_PART at most. */
#define LEATI_GATHER_NS_MAX UINT64_C(200000)
/** Command buffers that a lane has without need, so that they hold lists that may come again. */
#define LEATI_COMMAND_BUFFERS_KEPT 8
/** Bytes that a processor of the device moves in a nanosecond at least, and multiplications of pairs that are added up,
 * by kernels that do either well: about a twentieth of what processors of GPUs are built for (a processor of an H200
 * moves 36 bytes a nanosecond and multiplies 230 pairs of float32, one of a phone's GPU 5 and 50). */
#define LEATI_PROCESSOR_BYTES UINT64_C(2)
#define LEATI_PROCESSOR_MULTIPLICATIONS UINT64_C(16)
/** Bytes that a copy between host and device moves in a nanosecond at least (PCI Express 3.0 with four lanes). */
#define LEATI_BUS_BYTES UINT64_C(4)
/** Barriers, which are what takes a device time, of a list that is worth submitting while one stream is alone and has
 * one list in flight at most. */
#define LEATI_BARRIERS_WORTH_SUBMITTING 16
/** Commands from one look at the list of a stream that is alone to the next: looking may ask the driver. */
#define LEATI_COMMANDS_PER_LOOK 4
/** Lists of an interval of the lane tuner at least. */
#define LEATI_INTERVAL_LISTS 128

/* ---- The open list ------------------------------------------------------------------------------------------------
 */

/** Whether a list goes without being asked when it has so many commands. */
static inline bool leati_list_goes(uint32_t commands) {
  return commands >= LEATI_COMMANDS_MAX;
}
/** Whether it does if the device has finished what the stream gave it before. */
static inline bool leati_list_goes_if_done(uint32_t commands) {
  return commands >= LEATI_COMMANDS_WORTH_SUBMITTING;
}
/** Whether it does if no other stream has lists, and this one has one in flight at most. */
static inline bool leati_list_goes_if_alone(uint32_t commands, uint32_t barriers) {
  return barriers >= LEATI_BARRIERS_WORTH_SUBMITTING && commands % LEATI_COMMANDS_PER_LOOK == 0;
}

/* ---- The work of a submission -------------------------------------------------------------------------------------
 */

/** Microseconds that a dispatch takes at most, by estimate, which may touch so many bytes and multiplies so many pairs
 * of numbers to add them up. It is for a device whose processors do a twentieth of what those of GPUs are built for; a
 * dispatch that has too few workgroups for all of them, or reads bytes again and again, may take longer. */
uint32_t leati_dispatch_us(const leati_traits *traits, uint64_t bytes, uint64_t multiplications);
/** The same of a copy of so many bytes; `bus`: between host and device. */
uint32_t leati_copy_us(const leati_traits *traits, uint64_t bytes, bool bus);
/** Whether a submission with work that is estimated to take `has` microseconds takes on work of `more`. */
static inline bool leati_submission_takes(uint64_t has, uint64_t more) {
  return has == 0 || has + more <= LEATI_SUBMISSION_US;
}

/* ---- Groups and command buffers -----------------------------------------------------------------------------------
 */

/** Whether a group of so many lists, whose work is estimated to take `has_us`, takes one more with work of `more_us`:
 * it is one submission. */
static inline bool leati_group_takes(uint32_t lists, uint64_t has_us, uint64_t more_us) {
  return lists < LEATI_COMMAND_BUFFER_LISTS_MAX && leati_submission_takes(has_us, more_us);
}
/** Whether a command buffer with so many lists may be one that is held, or is to be held. Where several threads attend
 * the lane, they meet while the leader writes, and would meet less if it did not. */
static inline bool leati_batch_is_held(uint32_t lists, uint32_t attendants) {
  return lists == 1 && attendants <= 1;
}
/** Whether a list of so many commands is likely to come again. */
static inline bool leati_list_is_held(uint32_t commands) {
  return commands <= LEATI_HELD_COMMANDS_MAX;
}
/** Whether a lane with so many command buffers makes another one rather than write over one that holds a list. */
static inline bool leati_command_buffer_is_made(uint32_t count) {
  return count < LEATI_COMMAND_BUFFERS_KEPT;
}

/* ---- Gathering ----------------------------------------------------------------------------------------------------
 */

/** Batches in flight before lists wait for others. `continues`: one comes after what is in flight, and gains nothing
 * by waiting. `learnt` is the lane's. */
static inline uint32_t leati_in_flight_wanted(bool continues, uint32_t learnt) {
  return continues ? LEATI_IN_FLIGHT_MAX : learnt;
}

/** Counts batches that had one list though one was in flight, when a batch has ended; below 0: batches until that is
 * tried again. Where the count is not below 0, lists meet or it is time to find out. */
int32_t leati_single_list_next(int32_t single_lists, uint32_t in_flight, bool one_list);

/** What is best for the next batches of a lane. */
typedef struct leati_batch_advice {
  uint32_t in_flight; /**< batches, before lists wait for others */
  uint64_t gather_ns; /**< how long after the end of a batch they wait */
} leati_batch_advice;

/** What is best after a batch that took `took_ns`; writing and submitting it took `wrote_ns`, with so many in flight.
 * `meet`: lists meet. */
leati_batch_advice leati_batch_advise(uint64_t took_ns, uint64_t wrote_ns, uint32_t in_flight, bool meet);

/** Whether an attendant that could lead leaves it to the thread that led last. `own`: it is that thread; `tired`: that
 * one has led for long; `passed`: looks left to it so far. */
static inline bool leati_lead_is_passed(bool own, bool tired, uint32_t attendants, uint32_t passed) {
  return !tired && !own && attendants > 1 && passed < LEATI_PASSES_MAX;
}
/** Whether a thread that has led so often in one call wants to be relieved. */
static inline bool leati_leader_is_tired(uint32_t turns) {
  return turns >= LEATI_TURNS_MAX;
}

/* ---- Lanes --------------------------------------------------------------------------------------------------------
 */

/** Whether a lane with `there` lists of others is better than the best so far, with `best` of them. `in_flight`: the
 * stream has lists in flight on the lane that it would leave, which costs a wait of one queue for another: for an empty
 * lane that is worth it, else for a gain of two. */
static inline bool leati_lane_is_better(uint32_t there, uint32_t best, bool in_flight) {
  return there == 0 || there + (in_flight ? 1 : 0) < best;
}
/** Whether an interval may end in which the lanes in use had `lists`, each of which kept its lane busy for `list_s`
 * seconds (0: nobody saw). */
bool leati_interval_is_full(uint32_t lists, uint32_t lanes, double list_s);

#endif /* LEAT_PLUGIN_POLICY_SUBMITTING_H_ */
