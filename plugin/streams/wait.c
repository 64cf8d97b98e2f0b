/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/wait.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/config.h"
#include "core/gate.h"
#include "core/status.h"
#include "device/device.h"
#include "policy/waiting.h"
#include "record/profile.h"
#include "submit/lane.h"

/* Pauses of the processor between two looks, so that spinning threads leave the lane's cache lines to the one who
 * works. */
#define PAUSES_PER_LOOK 8
/* Nanoseconds after which a thread that waits tells LEAT_LOG what it waits for. */
#define WAIT_TOLD_NS UINT64_C(10000000000)

/* A wait on its way. */
typedef struct wait {
  leati_timeline *timeline;
  uint64_t value;
  leati_point point; /* where the value is; 0 while the queue has not taken it */
  leati_point early; /* where the next downloads before it are, to be copied while the rest runs; 0: none are known */
  uint64_t start, limit;
  bool blocked; /* in the driver, some of the time */
  leat_error *err;
} wait;

static uint64_t elapsed(const wait *w) {
  return leati_now_ns() - w->start;
}

/* Copies downloads that have come to the host while the device goes on with what is waited for. */
static void copy_early(wait *w) {
  if (w->early.value != 0 && leati_semaphore_has(w->early.semaphore, w->early.value)) {
    leati_timeline_advance(w->timeline);
    w->early = leati_timeline_next_delivery(w->timeline, w->value);
  }
}

/* Whether the wait is over; then `*out_status` says how. Without `ask` the driver is not asked: others do. */
static bool is_over(wait *w, bool ask, int32_t *out_status) {
  leat_device *const device = w->timeline->device;
  const bool well = !ask || leati_semaphore_poll(device, w->point.semaphore, NULL) == LEAT_OK;
  /* Of a list that was lost a later one of the stream, on another lane perhaps, would be found instead. */
  if (w->point.value == 0 && !leati_timeline_fails(w->timeline, w->value) &&
      leati_timeline_locate(w->timeline, w->value, &w->point)) {
    if (w->point.value == 0) {
      copy_early(w);
      return false;
    }
    /* What comes before it was taken too. */
    w->early = leati_timeline_next_delivery(w->timeline, w->value);
  }
  copy_early(w);
  if (w->point.value != 0 && well && !atomic_load_explicit(&device->lost, memory_order_relaxed) &&
      !leati_semaphore_has(w->point.semaphore, w->point.value)) {
    return false;
  }
  *out_status = leati_timeline_query(w->timeline, w->value, w->err);
  return *out_status != LEAT_ERROR_NOT_READY;
}

/* Spins until `until` nanoseconds after the start, watching the lane. True: the wait is over. */
static bool spin(wait *w, uint64_t until, int32_t *out_status) {
  leat_device *const device = w->timeline->device;
  leati_lane *const lane = leati_lane_of(w->point.semaphore);
  bool over = false;
  until = until < w->limit ? until : w->limit;
  uint32_t spinning = 0; /* threads; 0: this one is not counted yet */
  uint32_t passed = 0, rounds = 0;
  do {
    leati_gate_check();
    const uint32_t askers = leati_lane_attendants(lane);
    if (spinning == 0 && leati_wait_counts(&device->traits, ++rounds, askers)) {
      spinning = atomic_fetch_add_explicit(&device->spinning, 1, memory_order_relaxed) + 1;
    }
    for (uint32_t i = 0; i < LEATI_LOOKS_PER_CLOCK && !over; ++i) {
      leati_lane_watch(lane, &passed);
      over = is_over(w, leati_wait_asks(i, askers), out_status);
      for (int j = 0; j < PAUSES_PER_LOOK && !over; ++j) {
        leati_spin_pause();
      }
    }
    if (!over && leati_wait_yields(&device->traits, spinning)) {
      leati_yield();
    }
  } while (!over && elapsed(w) < until);
  if (spinning != 0) {
    (void)atomic_fetch_sub_explicit(&device->spinning, 1, memory_order_relaxed);
  }
  return over;
}

/* The value of the lane's timeline semaphore to block for: that of the next downloads, or the one that is waited for.
 */
static uint64_t next_value(const wait *w) {
  return w->early.value != 0 && w->early.semaphore == w->point.semaphore ? w->early.value : w->point.value;
}

/* Looks after the lane, and then blocks once, for `left` nanoseconds at most: in the driver until the value is reached
 * or the queue has room for what others may have left to be joined, or for a moment if a leader is about to submit the
 * list. The room is read before the lane is looked after. So a list that is left after that look was left by a thread
 * that has looked at the timeline semaphore later and found the lane full, and room for it comes with a value that is
 * not below the one that is blocked for here. True: the wait is over. */
static bool block_once(wait *w, uint64_t left, int32_t *out_status) {
  leati_semaphore *const semaphore = w->point.semaphore;
  leati_lane *const lane = leati_lane_of(semaphore);
  const uint64_t slice = left < LEATI_GATE_LOOK_NS ? left : LEATI_GATE_LOOK_NS;
  const uint64_t value = next_value(w), room = leati_lane_room(lane);
  const bool has_room = leati_semaphore_has(semaphore, room);
  leati_lane_help(lane);
  if (is_over(w, true, out_status)) {
    return true;
  }
  w->blocked = true;
  if (next_value(w) != value) {
    /* The room that was read may be beyond that value. */
    return false;
  }
  if (value == 0 && has_room) {
    leati_sleep_ns(left < LEATI_HAND_OVER_NS ? left : LEATI_HAND_OVER_NS);
    return is_over(w, true, out_status);
  }
  const bool own_first = has_room || (value != 0 && value < room);
  *out_status = leati_semaphore_wait(w->timeline->device, semaphore, own_first ? value : room, slice, w->err);
  return *out_status != LEAT_OK || is_over(w, true, out_status);
}

/* Submissions that the device has run on any queue. Asks the driver. */
static uint64_t count_run(leat_device *device) {
  uint64_t run = 0;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    (void)leati_semaphore_poll(device, device->semaphores[i], NULL);
    run += atomic_load_explicit(&device->semaphores[i]->reached, memory_order_relaxed);
  }
  return run;
}

/* Tells what a wait that takes long waits for: enough to see whether the device is slow or has stopped, or a list was
 * left. `run`: submissions since the thread blocks. */
static void tell(const wait *w, uint64_t run) {
  const leati_semaphore *const semaphore = w->point.semaphore;
  const uint64_t reached = atomic_load_explicit(&semaphore->reached, memory_order_relaxed);
  const uint64_t submitted = atomic_load_explicit(&semaphore->submitted, memory_order_relaxed);
  char progress[80] = "has made no progress", what[80] = "what the thread waits for is not among them";
  if (run != 0) {
    (void)snprintf(progress, sizeof(progress), "still makes progress (%" PRIu64 " submissions in that time)", run);
  }
  if (w->point.value != 0) {
    (void)snprintf(what, sizeof(what), "the thread waits for number %" PRIu64, w->point.value);
  }
  leati_log(LEATI_LOG_WARN,
            "a thread has waited %" PRIu64 " s for the device; the device %s. Queue %u of device %d was given %" PRIu64
            " submissions and has run %" PRIu64 "; %s%s",
            elapsed(w) / UINT64_C(1000000000), progress, leati_lane_of(w->point.semaphore)->index,
            w->timeline->device->index, submitted, reached, what,
            run != 0
                ? ""
                : ". If no kernel takes that long, and no semaphore of another API is waited for, the device or its "
                  "driver has stopped");
}

/* Blocks until `until` nanoseconds after the start. True: the wait is over. */
static bool block(wait *w, uint64_t until, int32_t *out_status) {
  bool over = false, told = false;
  const uint64_t run = count_run(w->timeline->device);
  until = until < w->limit ? until : w->limit;
  for (uint64_t now = elapsed(w); !over && now < until; now = elapsed(w)) {
    leati_gate_check();
    over = block_once(w, until - now, out_status);
    if (!over && !told && now >= WAIT_TOLD_NS) {
      tell(w, count_run(w->timeline->device) - run);
      told = true;
    }
  }
  return over;
}

/* Sleeps until `until` nanoseconds after the start, looking after the lane every `slice` nanoseconds. Not in the
 * driver: NVIDIA's spins through short time-outs. True: the wait is over. */
static bool nap(wait *w, uint64_t until, uint64_t slice, int32_t *out_status) {
  leati_lane *const lane = leati_lane_of(w->point.semaphore);
  bool over = false;
  until = until < w->limit ? until : w->limit;
  for (uint64_t now = elapsed(w); !over && now < until; now = elapsed(w)) {
    leati_gate_check();
    const uint64_t left = until - now;
    leati_lane_help(lane);
    leati_sleep_ns(left < slice ? left : slice);
    over = is_over(w, true, out_status);
  }
  return over;
}

/* Spins and blocks as is best for a wait that usually takes `*inout_usual` nanoseconds, and learns from it. A wait that
 * is over while the thread sleeps took less than was thought. True: the wait is over. */
static bool wait_as_usual(wait *w, uint64_t *inout_usual, int32_t *out_status) {
  const uint64_t usual = *inout_usual;
  const leati_wait_course course = leati_wait_course_of(usual);
  if (course.sleep_ns != 0 && nap(w, course.sleep_ns, course.nap_ns, out_status)) {
    *inout_usual = leati_wait_learn(usual, elapsed(w), true);
    return true;
  }
  const bool over = spin(w, course.spin_ns, out_status) || block(w, UINT64_MAX, out_status);
  *inout_usual = leati_wait_learn(usual, elapsed(w), false);
  return over;
}

int32_t leati_wait(leati_timeline *timeline, uint64_t value, int64_t timeout_ns, leat_error *err) {
  leat_device *const device = timeline->device;
  if (timeout_ns != 0) {
    leati_assert_unlocked();
  }
  int32_t status = leati_timeline_query(timeline, value, err);
  if (status != LEAT_ERROR_NOT_READY || timeout_ns == 0) {
    return status == LEAT_ERROR_NOT_READY ? leati_fail(err, LEAT_ERROR_TIMEOUT, "the work has not finished yet")
                                          : status;
  }
  wait w = {.timeline = timeline,
            .value = value,
            .start = leati_now_ns(),
            .limit = timeout_ns < 0 ? UINT64_MAX : (uint64_t)timeout_ns,
            .err = err};
  if (!leati_timeline_locate(timeline, value, &w.point)) {
    return leati_timeline_query(timeline, value, err);
  }
  leati_lane *const lane = leati_lane_of(w.point.semaphore);
  w.early = leati_timeline_next_delivery(timeline, value);
  leati_lane_attend(lane);
  uint64_t usual = atomic_load_explicit(&timeline->usual_wait_ns, memory_order_relaxed);
  const bool over = device->spin_ns >= 0
                        ? spin(&w, (uint64_t)device->spin_ns, &status) || block(&w, UINT64_MAX, &status)
                        : wait_as_usual(&w, &usual, &status);
  leati_lane_leave(lane, !w.blocked);
  leati_profile_waited(device, w.start);
  if (!over) {
    return leati_fail(err, LEAT_ERROR_TIMEOUT, "the work has not finished after %llu ms",
                      (unsigned long long)(elapsed(&w) / 1000000u));
  }
  atomic_store_explicit(&timeline->usual_wait_ns, usual, memory_order_relaxed);
  return status;
}
