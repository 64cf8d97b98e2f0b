/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Timelines: the numbered submissions of a stream. Events and memory stamps are (timeline, value) pairs.
 *
 * A value is promised when a list of commands is handed over to a lane, and bound to a value of the lane's timeline
 * semaphore when the queue has taken it. Timelines live as long as the device and their values only rise, so a pair
 * never dangles: when a stream goes, its timeline is handed to the next stream and goes on counting. One that has
 * failed is not handed on with its stream, and neither is one that may still fail: then the next stream gets another. A
 * timeline that was replaced so is spare when nothing of it is in flight, and one that failed when nobody has to hear
 * of that any more: it counts on behind what was lost. So there are about as many as streams, lists in flight and
 * events of lost lists.
 */
#ifndef LEAT_PLUGIN_TIMELINE_TIMELINE_H_
#define LEAT_PLUGIN_TIMELINE_TIMELINE_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/sync.h"
#include "device/chunk.h"
#include "device/device.h"
#include "device/finding.h"
#include "device/vulkan.h"
#include "policy/constants.h"
#include "timeline/external_semaphore.h"
#include "timeline/timeline_semaphore.h"

/** Bytes that go to the host when their submission has run. */
typedef struct leati_delivery {
  void *to;
  const void *from;
  uint64_t size;
} leati_delivery;

/** A value of a timeline semaphore that work waits for on the device. Value 0: nothing. */
typedef struct leati_point {
  leati_semaphore *semaphore;
  uint64_t value;
} leati_point;

/** One list of commands, and what it holds until it has run. Belongs to its stream until pushed, then to the timeline;
 * what the commands are to do is read by the lane until it has a point. */
typedef struct leati_submission {
  struct leati_submission *next;
  struct leati_submission *queued; /**< links it to others of its lane; the lane's until it has a point */
  const leat_stream *stream;       /**< whose it is. Lists of one stream run in order */
  struct leati_timeline *timeline;
  uint64_t value; /**< on the timeline */
  leati_semaphore *semaphore;
  /** Value of the timeline semaphore, or 0 until the queue has taken it. Set by the thread that submits (release),
   * after the timeline semaphore's `submitted`; read by those who wait (acquire). */
  _Atomic uint64_t semaphore_value;
  leati_point waits[LEATI_LANES_MAX];                  /**< by lane; what must be reached before it starts */
  leati_external_point external_wait, external_signal; /**< likewise; what rises to a value when it has run */
  struct leati_command *commands;                      /**< record/command.h */
  uint32_t command_count, command_capacity;
  uint32_t barrier_count; /**< of the commands, and of some that were taken back: about how long the list will run */
  uint64_t work_us;       /**< of the commands: estimate of what they take the device (policy/submitting.h) */
  bool after;             /**< what the queue was given before, or some of it, must have run */
  VkPipelineStageFlags to_host; /**< stages of commands that write downloads */
  leati_chunk *chunks;
  leati_delivery *deliveries;
  uint32_t delivery_count, delivery_capacity;
  leati_check *checks; /**< looked at when it has run */
  uint32_t check_count, check_capacity;
  struct leati_profile_list *profile; /**< record/profile.h; NULL: it is not profiled. leati_free() frees it */
  uint64_t owner;                     /**< leati_timeline::owner when it was pushed */
  uint64_t order; /**< of two lists of which one may come after the other, that one's is higher; set with the value */
  bool waited;    /**< it waits for other timelines on the device, so the downloads behind those come before its end */
  /** It goes to the queue by itself and does not count as a list: a later part of a large download, whose end is to be
   * seen while what comes next runs, or a part of a list that takes longer than one submission should. */
  bool piece;
} leati_submission;

/** A point that an event stands for, or that somebody waits for because an event stood for it. Written with the event's
 * and the timeline's lock, read with either. */
typedef struct leati_watch {
  struct leati_timeline *timeline; /**< NULL: none */
  uint64_t value;
  uint64_t owner;                   /**< leati_timeline::owner when it was recorded */
  struct leati_watch *next, **link; /**< in the list of the timeline, guarded by its lock */
} leati_watch;

typedef struct leati_timeline {
  leat_device *device;
  /** Highest value known to be reached, with all deliveries up to it made. Raised under `lock` (release); read without
   * (acquire), so that a thread that sees a value sees the bytes too. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t completed;
  /** Highest value pushed. Raised by the stream under its lock (release), read by waiters (acquire). */
  _Atomic uint64_t promised;
  /** LEAT_OK, or the code of `failure`. Set under `lock` (release) after `failure` and `failed_from` were written, and
   * once until the timeline is spare; read without it (acquire). */
  _Atomic int32_t failed;
  leat_error failure; /* read with `lock`, or by the thread that has the lock of the stream that has the timeline */
  /** First value that is never reached, once `failed`. Lowered under `lock` (release) when an older submission fails
   * after a newer list did; read without it (acquire). */
  _Atomic uint64_t failed_from;
  /** First value whose work ran and found something wrong under guard (device/finding.h), once `failed`. Values from it
   * on are reached, and give the failure all the same. As `failed_from`. */
  _Atomic uint64_t flawed_from;
  /** Threads of leati_timeline_keep(). Raised under the lock of the stream that has the timeline, lowered without it
   * (release), and looked at under it (acquire). */
  _Atomic uint32_t keepers;
  /** Running mean of what waits took, nanoseconds. Relaxed: a guess for the next one. */
  _Atomic uint64_t usual_wait_ns;
  /** What memory/kept.h puts here. Any thread puts a block where there is none and takes one away, by one exchange each
   * (acquire; put: release). */
  _Atomic(struct leati_block *) kept[LEATI_KEPT_BLOCKS];
  /* Who makes deliveries holds it, also while large ones are copied without `lock`; taken before that. Who only looks
   * at the timeline does without, and who forgets a delivery that is being copied waits for it. */
  leati_mutex deliveries;
  leati_mutex lock;               /* guards the lists below */
  const leati_submission *copied; /* of which a delivery is being copied without `lock` */
  leati_submission *first, *last;
  leati_submission *free;
  leati_watch *watches;             /* of live events, and of threads that wait for one */
  uint64_t owner;                   /* how many streams have gone that had this timeline */
  bool left;                        /* no stream has it, but an event stands for what was lost; guarded by `lock` */
  struct leati_timeline *replaced;  /* the stream's before this one, unless settled; guarded by the stream's lock */
  struct leati_timeline *next;      /* all timelines of the device; set once */
  struct leati_timeline *next_free; /* leat_device::free_timelines; guarded by its lock */
} leati_timeline;
LEATI_APART(leati_timeline, device, completed);

/** Prepares a device for timelines. */
void leati_timelines_create(leat_device *device);
/** Frees all of them and everything they still hold, but for the external semaphores of what never ran, which
 * leati_external_semaphores_destroy() frees with all others. The device must be idle. */
void leati_timelines_destroy(leat_device *device);
/** Gives a timeline of which nothing is in flight: a spare one, or else a new one.
 * @errors OUT_OF_MEMORY */
int32_t leati_timeline_take(leat_device *device, leati_timeline **out, leat_error *err);

/** An empty submission.
 * @errors OUT_OF_MEMORY */
int32_t leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err);
/** Adds a delivery to a submission. */
int32_t leati_submission_deliver(leati_submission *submission, void *to, const void *from, uint64_t size,
                                 leat_error *err);
/** Adds a check to a submission: what it finds when the submission has run fails the timeline. */
int32_t leati_submission_check(leati_submission *submission, const leati_check *check, leat_error *err);
/** Lets a watch stand for a value instead of what it stood for; downloads up to it stay wanted. */
void leati_timeline_watch(leati_timeline *timeline, uint64_t value, leati_watch *watch);
/** Lets a watch stand for what another one stands for, of which the caller holds the event's lock. */
void leati_timeline_watch_too(const leati_watch *other, leati_watch *watch);
/** Lets a watch stand for nothing. */
void leati_timeline_unwatch(leati_watch *watch);
/** Lets go of those timelines that this one replaced, and of which nothing is in flight any more, unless a thread keeps
 * one that has failed. The stream's lock is held. */
void leati_timeline_settle(leati_timeline *timeline);
/** Keeps the stream's timeline from being used anew after it has failed, so that the caller, who will ask for a value
 * without the stream's lock, hears of the failure though another thread clears it. The stream's lock is held. */
static inline void leati_timeline_keep(leati_timeline *timeline) {
  (void)atomic_fetch_add_explicit(&timeline->keepers, 1, memory_order_relaxed);
}
/** Ends that. */
static inline void leati_timeline_release(leati_timeline *timeline) {
  (void)atomic_fetch_sub_explicit(&timeline->keepers, 1, memory_order_release);
}
/** Raises waits, by lane, to those of the lists that the queue may still refuse. */
void leati_timeline_add_waits(leati_timeline *timeline, leati_point waits[LEATI_LANES_MAX]);
/** Says that the stream of this timeline and of those it replaced is gone. Downloads that no watch covers are not made
 * any more, because their destinations may be gone too. The stream's lock is held. */
void leati_timeline_abandon(leati_timeline *timeline);

/** Lists a submission that is about to be handed to a lane. The timeline's lock is held until it has been. */
void leati_timeline_push(leati_timeline *timeline, leati_submission *submission) LEATI_HOLDS(timeline->lock);
/** Takes back a submission that was never pushed: nothing of it is delivered. */
void leati_timeline_drop(leati_timeline *timeline, leati_submission *submission);

/** Makes every wait for `value` and above fail with `cause` from now on. The first cause stays. */
void leati_timeline_fail(leati_timeline *timeline, uint64_t value, const leat_error *cause);
/** Makes every wait for the value of a submission and above fail with `cause`, if the queue has taken a part of it and
 * refused the rest. The value is reached when that part has run; nothing is delivered, and no check is looked at. Then
 * give the submission its point. */
void leati_timeline_break_off(leati_submission *submission, const leat_error *cause);
/** If the timeline has failed, says that what was not pushed by now is never reached, also where nothing was lost so
 * far: its stream takes nothing more. The stream's lock is held. */
void leati_timeline_end(leati_timeline *timeline);
/** Takes back a pushed submission that the queue did not take. Its timeline has failed there. */
void leati_timeline_discard(leati_submission *submission);
/** Whether a value is never reached. */
bool leati_timeline_fails(const leati_timeline *timeline, uint64_t value);
/** Whether work up to a value has run and found something wrong under guard: the value is reached, and its waiters get
 * the failure. */
bool leati_timeline_flawed(const leati_timeline *timeline, uint64_t value);
/** Fails with the timeline's failure if a value is never reached, or is flawed. */
int32_t leati_timeline_failure(leati_timeline *timeline, uint64_t value, leat_error *err);

/** The last pushed value that is going to be reached, as far as is known. */
uint64_t leati_timeline_last(leati_timeline *timeline);

/** The last pushed value whose submission holds staging, as far as is known; 0: none does. */
uint64_t leati_timeline_last_staged(leati_timeline *timeline);

/** Where the submission that covers `value` is (0: the first that is listed): false when it is not listed any more;
 * else its timeline semaphore, with value 0 while the queue has not taken it. */
bool leati_timeline_locate(leati_timeline *timeline, uint64_t value, leati_point *out);

/** Where the first submission before `value` is that has deliveries to make; value 0: there is none, or the queue has
 * not taken it. */
leati_point leati_timeline_next_delivery(leati_timeline *timeline, uint64_t value);

/** Makes the deliveries of what has run, as far as the driver tells. Whoever waits for something behind that then finds
 * them made. */
void leati_timeline_advance(leati_timeline *timeline);

/** Asks for a value. Deliveries up to it have been made on LEAT_OK. That it is not reached yet is no error to those who
 * wait: `err` is left as it is then.
 * @errors NOT_READY, the timeline's failure, DEVICE_LOST */
int32_t leati_timeline_query(leati_timeline *timeline, uint64_t value, leat_error *err);
/** As leati_timeline_query(), for a host that asks: it is told of NOT_READY too. */
int32_t leati_timeline_answer(leati_timeline *timeline, uint64_t value, leat_error *err);
/** Retires what has run on any timeline, so that what it held can be used again. Hold no timeline's lock. */
void leati_timelines_retire(leat_device *device);
/** Whether nothing on the device uses what `value` covered, for the memory allocator. Makes no deliveries and never
 * waits for those who do: then the answer is no, and may be yes later. */
bool leati_timeline_passed(leati_timeline *timeline, uint64_t value);

#endif /* LEAT_PLUGIN_TIMELINE_TIMELINE_H_ */
