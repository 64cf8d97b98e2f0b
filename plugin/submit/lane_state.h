/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a lane holds. For the files of this room only.
 */
#ifndef LEAT_PLUGIN_SUBMIT_LANE_STATE_H_
#define LEAT_PLUGIN_SUBMIT_LANE_STATE_H_

#include <leat/backend.h>

#include "device/device.h"
#include "submit/batching.h"
#include "submit/command_buffer.h"
#include "submit/placement.h"
#include "submit/syncfile.h"
#include "timeline/timeline.h"
#include "timeline/timeline_semaphore.h"

typedef struct leati_lane {
  leati_semaphore semaphore; /**< first: leati_lane_of() relies on it */
  _Alignas(LEATI_CACHE_LINE) leat_device *device;
  uint32_t index;
  VkQueue queue; /**< used by the leader alone */
  /* All that is relaxed here only guides guesses of who comes when, and where there is little to do. */
  _Alignas(LEATI_CACHE_LINE) leati_role leader; /**< the thread that has it takes what is queued and submits it */
  /** A thread has left a list to the one that has the role. Set when that failed and before a last try, looked at after
   * the role was given up; sequentially consistent, so that one of the two sees the other. */
  atomic_bool missed;
  /** The thread that has the role has led for long: the thread that takes this back relieves it. Relaxed. */
  atomic_bool relief;
  /** Threads that are about to relieve the one that leads, which then does not try again. Raised before they try and
   * lowered before they try for the last time, looked at after the role was given up; sequentially consistent. */
  _Atomic uint32_t relievers;
  _Atomic(const void *) led_by; /**< thread that had it last; relaxed */
  leati_batching batching;
  /* Used by the leader alone. */
  _Alignas(LEATI_CACHE_LINE) leati_command_buffer *in_flight; /**< command buffers in flight, oldest first */
  leati_command_buffer *last_in_flight;
  leati_syncfile *syncfiles; /**< whose batches may be in flight */
  leati_command_buffer
      *command_buffers;          /**< the others, used last first: see take_command_buffer() of commit_group.c */
  uint32_t command_buffer_count; /**< of both */
  leati_profile_clock clock;
  /** Value of the last batch that is not a piece of a download. Only rises; stored by the leader before the semaphore's
   * `submitted` (release), read (acquire) to tell how much is in flight. */
  _Atomic uint64_t whole;
  /** Handed over and not taken yet, newest first. Pushed by anybody, taken whole by the leader. Sequentially consistent
   * like the role and `attendants`. */
  _Alignas(LEATI_CACHE_LINE) _Atomic(leati_submission *) queued;
  _Atomic uint32_t lists;    /**< handed over so far, without those that were lost; relaxed */
  _Atomic uint32_t commands; /**< that were in lists; relaxed */
  /** Some of what is queued comes after what is in flight. Relaxed: if it is lost or stays for too long, a list waits
   * for others that need not, or the other way round. */
  atomic_bool continues;
  /** Threads that wait: they watch or help again and again until they leave. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t attendants;
} leati_lane;
LEATI_APART(leati_lane, semaphore, leader);
LEATI_APART(leati_lane, led_by, batching);
LEATI_APART(leati_lane, batching, in_flight);
LEATI_APART(leati_lane, whole, queued);
LEATI_APART(leati_lane, continues, attendants);

/** The lanes of a device. */
struct leati_lanes {
  leati_lane lanes[LEATI_LANES_MAX];
  /** Calls that gave lists to a queue: leati_submission::order. Relaxed: a list that is to come after another one is
   * submitted by a thread that knows that the other one was. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t calls;
  leati_placement placement;
};

/** The lane that a timeline semaphore belongs to. */
static inline leati_lane *leati_lane_of(leati_semaphore *semaphore) {
  return (leati_lane *)semaphore;
}

/** Lists that have been handed over. */
static inline uint32_t leati_lane_lists(const leati_lane *lane) {
  return atomic_load_explicit(&lane->lists, memory_order_relaxed);
}

/** Threads that attend. */
static inline uint32_t leati_lane_attendants(const leati_lane *lane) {
  return atomic_load_explicit(&lane->attendants, memory_order_relaxed);
}

#endif /* LEAT_PLUGIN_SUBMIT_LANE_STATE_H_ */
