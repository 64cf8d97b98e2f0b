/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Timelines: a timeline semaphore with the submissions that will raise it. Streams put work on a timeline; events and
 * memory stamps are (timeline, value) pairs.
 *
 * Timelines live as long as the device and their values only rise, so such a pair never dangles: when a stream goes,
 * its timeline is handed to the next stream and goes on counting. One that has failed is never handed on.
 */
#ifndef LEAT_PLUGIN_TIMELINE_H_
#define LEAT_PLUGIN_TIMELINE_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "staging.h"
#include "sync.h"
#include "vulkan.h"

/** Bytes that go to the host when their submission has run. */
typedef struct leati_delivery {
  void *to;
  const void *from;
  uint64_t size;
} leati_delivery;

/** What one submission holds until it has run. Belongs to its stream until pushed, then to the timeline. */
typedef struct leati_submission {
  struct leati_submission *next;
  uint64_t value;
  VkCommandPool pool;
  VkCommandBuffer commands;
  leati_chunk *chunks;
  leati_delivery *deliveries;
  uint32_t delivery_count, delivery_capacity;
  uint64_t owner; /**< leati_timeline::owner when it was listed */
  bool waited;    /**< it waits for other timelines on the device, so the downloads behind those come before its end */
} leati_submission;

/** A point that an event stands for. Written with the event's and the timeline's lock, read with either. */
typedef struct leati_watch {
  struct leati_timeline *timeline; /**< NULL: none */
  uint64_t value;
  uint64_t owner;                   /**< leati_timeline::owner when it was recorded */
  struct leati_watch *next, **link; /**< in the list of the timeline, guarded by its lock */
} leati_watch;

typedef struct leati_timeline {
  leat_device *device;
  VkSemaphore semaphore;
  /** Highest value known to be reached, with all deliveries up to it made. Raised under `lock` (release); read without
   * (acquire), so that who sees a value sees the bytes too. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t completed;
  /** Highest value handed to a queue and listed below. Raised by the stream under its lock (release), read by waiters
   * (acquire). */
  _Atomic uint64_t submitted;
  /** LEAT_OK, or the code of `failure`. Set once under `lock` (release) after `failure` was written; read without it
   * (acquire). */
  _Atomic int32_t failed;
  leat_error failure;
  leati_mutex lock; /* guards the lists below, and the deliveries being made */
  leati_submission *first, *last;
  leati_submission *free;
  leati_watch *watches;            /* of live events */
  uint64_t owner;                  /* how many streams have gone that had this timeline */
  struct leati_timeline *replaced; /* the stream's timeline before this one; guarded by the stream's lock */
  struct leati_timeline *next;     /* all timelines of the device; set once */
} leati_timeline;

int32_t leati_timeline_create(leat_device *device, leati_timeline **out, leat_error *err);
/** Frees the timeline and everything it still holds. The device must be idle. */
void leati_timeline_destroy(leati_timeline *timeline);

/** An empty submission with a command buffer in the initial state.
 * @errors OUT_OF_MEMORY */
int32_t leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err);
/** Adds a delivery to a submission. */
int32_t leati_submission_deliver(leati_submission *submission, void *to, const void *from, uint64_t size,
                                 leat_error *err);
/** Lets a watch stand for a value instead of what it stood for; downloads up to it stay wanted. */
void leati_timeline_watch(leati_timeline *timeline, uint64_t value, leati_watch *watch);
/** Lets a watch stand for nothing. */
void leati_timeline_unwatch(leati_watch *watch);
/** Says that the stream of this timeline and of those it replaced is gone. Downloads that no watch covers are not made
 * any more, because their destinations may be gone too. The stream's lock is held. */
void leati_timeline_abandon(leati_timeline *timeline);

/** Hands a submission over that was given to a queue and will raise the timeline to `submission->value`. */
void leati_timeline_push(leati_timeline *timeline, leati_submission *submission);
/** Takes back a submission that was never given to a queue: nothing of it is delivered. */
void leati_timeline_drop(leati_timeline *timeline, leati_submission *submission);

/** Makes every wait for a value not reached fail with `cause` from now on. The first failure stays. */
void leati_timeline_fail(leati_timeline *timeline, const leat_error *cause);

/** Asks for a value. Deliveries up to it have been made on LEAT_OK.
 * @errors NOT_READY, the timeline's failure, DEVICE_LOST */
int32_t leati_timeline_query(leati_timeline *timeline, uint64_t value, leat_error *err);
/** Waits for a value: spins, then blocks. Hold no lock. `timeout_ns` as in leat_event_api::wait.
 * @errors TIMEOUT, the timeline's failure, DEVICE_LOST */
int32_t leati_timeline_wait(leati_timeline *timeline, uint64_t value, int64_t timeout_ns, leat_error *err);
/** Whether nothing on the device uses what value `value` covered, for the memory allocator: asks the driver if it must,
 * makes no deliveries, takes no lock. */
int leati_timeline_passed(leati_timeline *timeline, uint64_t value);

#endif /* LEAT_PLUGIN_TIMELINE_H_ */
