/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/placement.h"

#include "policy/submitting.h"
#include "submit/lane_state.h"

/* Nanoseconds that an interval lasts at least, so that rates are good to a few per cent. */
#define INTERVAL_NS UINT64_C(4000000)
/* Nanoseconds with nothing to do on any lane that are taken off an interval: lists that come seldom are not lists that
 * take long. */
#define IDLE_NS UINT64_C(1000000)

void leati_placement_begin(leati_placement *placement, uint32_t lanes, bool fixed) {
  leati_lane_tuner_begin(&placement->tuner, lanes);
  atomic_store_explicit(&placement->in_use, fixed ? lanes : 1, memory_order_relaxed);
  atomic_store_explicit(&placement->interval, 1, memory_order_relaxed);
  placement->interval_start_ns = leati_now_ns();
}

/* ---- Choice -------------------------------------------------------------------------------------------------------
 */

/* Lists on a lane that have not run, as far as a look at the timeline semaphore tells. Of more batches than are
 * remembered those that go first are left out. */
static uint32_t load_of(leati_lane *lane) {
  (void)leati_semaphore_poll(lane->device, &lane->semaphore, NULL);
  const uint64_t submitted = atomic_load_explicit(&lane->semaphore.submitted, memory_order_acquire);
  uint64_t reached = atomic_load_explicit(&lane->semaphore.reached, memory_order_acquire);
  if (submitted >= reached + LEATI_BATCHES_REMEMBERED) {
    reached = submitted - LEATI_BATCHES_REMEMBERED + 1;
  }
  /* The two are not read at once. */
  const uint32_t load = leati_lane_lists(lane) - leati_batching_lists(&lane->batching, reached);
  return load <= INT32_MAX ? load : 0;
}

leati_lane *leati_placement_choose(leat_device *device, leati_lane *current, uint64_t own) {
  struct leati_lanes *const lanes = device->lanes;
  const uint32_t in_use = atomic_load_explicit(&lanes->placement.in_use, memory_order_relaxed);
  const bool stays = current != NULL && current->index < in_use;
  if (stays && in_use == 1) {
    return current;
  }
  leati_lane *best = stays ? current : &lanes->lanes[0];
  const uint32_t load = load_of(best);
  uint32_t others = stays && load > own ? load - (uint32_t)own : stays ? 0 : load;
  const bool in_flight = stays && own != 0;
  for (uint32_t i = 0; i < in_use && others != 0; ++i) {
    leati_lane *const lane = &lanes->lanes[i];
    const uint32_t there = lane == best ? others : load_of(lane);
    if (leati_lane_is_better(there, others, in_flight)) {
      others = there;
      best = lane;
    }
  }
  return best;
}

bool leati_placement_alone(const leat_device *device) {
  return atomic_load_explicit(&device->lanes->placement.active_streams, memory_order_relaxed) == 1;
}

/* ---- Intervals
 * -------------------------------------------------------------------------------------------------------
 */

static leati_tally count_all(const leat_device *device) {
  leati_tally all = {.lists = 0};
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    const leati_lane *const lane = &device->lanes->lanes[i];
    all.lists += leati_lane_lists(lane);
    all.commands += atomic_load_explicit(&lane->commands, memory_order_relaxed);
    all.seen_lists += leati_batching_seen_lists(&lane->batching);
    all.busy_ns += leati_batching_busy_ns(&lane->batching);
  }
  return all;
}

/* Ends the interval, which has lasted for so long, if there were enough lists in it. The judge's. */
static void end_interval(leat_device *device, uint64_t lasted) {
  leati_placement *const placement = &device->lanes->placement;
  const leati_tally now = count_all(device), *const then = &placement->interval_tally;
  const uint32_t lists = now.lists - then->lists, seen_lists = now.seen_lists - then->seen_lists;
  if (lists > INT32_MAX) {
    /* More were lost than have come. */
    return;
  }
  const double list_s = seen_lists == 0 ? 0 : (double)(now.busy_ns - then->busy_ns) / (double)seen_lists * 1e-9;
  if (!leati_interval_is_full(lists, placement->tuner.lanes, list_s)) {
    return;
  }
  const leati_throughput pace = {.commands = (double)(now.commands - then->commands) / ((double)lasted * 1e-9),
                                 .list_s = list_s,
                                 .streams = atomic_exchange_explicit(&placement->streams, 0, memory_order_relaxed)};
  (void)atomic_fetch_add_explicit(&placement->interval, 1, memory_order_relaxed);
  atomic_store_explicit(&placement->active_streams, pace.streams, memory_order_relaxed);
  placement->interval_tally = now;
  placement->interval_start_ns += lasted;
  if (!device->lanes_fixed) {
    atomic_store_explicit(&placement->in_use, leati_lane_tuner_step(&placement->tuner, &pace), memory_order_relaxed);
  }
}

/* Ends the interval if it has lasted long enough. */
static void judge(leat_device *device) {
  leati_placement *const placement = &device->lanes->placement;
  if (leati_role_try(&placement->judge)) {
    const uint64_t lasted = leati_now_ns() - placement->interval_start_ns;
    if (lasted >= INTERVAL_NS) {
      end_interval(device, lasted);
    }
    leati_role_leave(&placement->judge);
  }
}

/* Whether everything that was handed over to a lane has run, as far as is known. */
static bool is_idle(leati_lane *lane) {
  const uint64_t reached = atomic_load_explicit(&lane->semaphore.reached, memory_order_relaxed);
  return reached >= atomic_load_explicit(&lane->semaphore.submitted, memory_order_relaxed) &&
         leati_batching_lists(&lane->batching, reached) == leati_lane_lists(lane);
}

/* Takes the time off the interval for which all lanes have had nothing to do. The judge's. */
static void take_idle_time_off(leat_device *device) {
  leati_placement *const placement = &device->lanes->placement;
  uint64_t since =
      placement->idle_until_ns > placement->interval_start_ns ? placement->idle_until_ns : placement->interval_start_ns;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    leati_lane *const lane = &device->lanes->lanes[i];
    if (!is_idle(lane)) {
      return;
    }
    const uint64_t ended = leati_batching_ended_ns(&lane->batching);
    since = ended > since ? ended : since;
  }
  const uint64_t now = leati_now_ns();
  if (now > since) {
    placement->interval_start_ns += now - since;
    placement->idle_until_ns = now;
  }
}

/* Looks, before a list comes to a lane, whether there was nothing to do for long. */
static void note_idle(leati_lane *lane) {
  if (!is_idle(lane)) {
    return;
  }
  leati_placement *const placement = &lane->device->lanes->placement;
  const uint64_t ended = leati_batching_ended_ns(&lane->batching);
  if (leati_now_ns() - ended >= IDLE_NS && leati_role_try(&placement->judge)) {
    take_idle_time_off(lane->device);
    leati_role_leave(&placement->judge);
  }
}

void leati_placement_count(leati_lane *lane, uint32_t commands, uint32_t *inout_interval) {
  leati_placement *const placement = &lane->device->lanes->placement;
  const uint32_t interval = atomic_load_explicit(&placement->interval, memory_order_relaxed);
  if (*inout_interval != interval) {
    *inout_interval = interval;
    (void)atomic_fetch_add_explicit(&placement->streams, 1, memory_order_relaxed);
  }
  note_idle(lane);
  const uint32_t lists = atomic_fetch_add_explicit(&lane->lists, 1, memory_order_relaxed) + 1;
  (void)atomic_fetch_add_explicit(&lane->commands, commands, memory_order_relaxed);
  if (lists % LEATI_INTERVAL_LONG_LISTS == 0) {
    judge(lane->device);
  }
}
