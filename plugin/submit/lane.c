/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/lane.h"

#include "core/gate.h"
#include "core/status.h"
#include "policy/submitting.h"
#include "submit/commit_group.h"

int32_t leati_lanes_create(leat_device *device, leat_error *err) {
  struct leati_lanes *const lanes = leati_calloc_line(sizeof(*lanes));
  if (lanes == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for lanes");
  }
  device->lanes = lanes;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    leati_lane *const lane = &lanes->lanes[i];
    lane->device = device;
    lane->index = i;
    device->vk.GetDeviceQueue(device->vk.handle, device->physical->queue_family, i, &lane->queue);
    if (lane->queue == VK_NULL_HANDLE) {
      return leati_fail(err, LEAT_ERROR_INTERNAL,
                        "vkGetDeviceQueue gives no queue %u of family %u: the driver is faulty", i,
                        device->physical->queue_family);
    }
    LEATI_TRY(leati_semaphore_create(device, &lane->semaphore, err));
    device->semaphores[i] = &lane->semaphore;
    LEATI_TRY(leati_command_buffer_create(device, &lane->command_buffers, err));
    lane->command_buffer_count = 1;
    leati_batching_begin(&lane->batching);
  }
  leati_placement_begin(&lanes->placement, device->queue_count, device->lanes_fixed);
  return LEAT_OK;
}

void leati_lanes_destroy(leat_device *device) {
  if (device->lanes == NULL) {
    return;
  }
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    leati_lane *const lane = &device->lanes->lanes[i];
    leati_command_buffers_destroy(device, lane->in_flight);
    leati_command_buffers_destroy(device, lane->command_buffers);
    leati_syncfiles_destroy(device, &lane->syncfiles, NULL);
    leati_semaphore_destroy(device, &lane->semaphore);
  }
  leati_free(device->lanes);
  device->lanes = NULL;
}

/* ---- Handing over -------------------------------------------------------------------------------------------------
 */

/* Notes when the timeline semaphore has risen. `watched`: the caller has been looking for it. True: it was learnt from
 * that that more batches should be in flight. Those who sleep do not know, so the caller has to help. */
static bool note_end(leati_lane *lane, bool watched) {
  const uint64_t reached = atomic_load_explicit(&lane->semaphore.reached, memory_order_relaxed);
  if (leati_batching_knows(&lane->batching, reached)) {
    return false;
  }
  const uint32_t before = leati_batching_in_flight(&lane->batching);
  leati_batching_ended(&lane->batching, reached, leati_lane_lists(lane), leati_now_ns(), watched);
  return leati_batching_in_flight(&lane->batching) > before;
}

void leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_interval) {
  /* First, or this list would not count as one that came after it. */
  (void)note_end(lane, false);
  if (!submission->piece) {
    leati_placement_count(lane, submission->command_count, inout_interval);
  }
  if (submission->after) {
    atomic_store_explicit(&lane->continues, true, memory_order_relaxed);
  }
  leati_submission *newest = atomic_load_explicit(&lane->queued, memory_order_relaxed);
  do {
    submission->queued = newest;
  } while (!atomic_compare_exchange_weak_explicit(&lane->queued, &newest, submission, memory_order_seq_cst,
                                                  memory_order_relaxed));
}

/* ---- The leader ---------------------------------------------------------------------------------------------------
 */

/* Its address stands for the thread. */
static _Thread_local char self;

/* Whether something is queued that comes after what is in flight. */
static bool is_continued(const leati_lane *lane) {
  return atomic_load_explicit(&lane->continues, memory_order_relaxed);
}

/* Submits everything that is queued, oldest first. The leader's. */
static void submit_queued(leati_lane *lane) {
  atomic_store_explicit(&lane->led_by, &self, memory_order_relaxed);
  if (is_continued(lane)) {
    atomic_store_explicit(&lane->continues, false, memory_order_relaxed);
  }
  leati_submission *newest = atomic_exchange_explicit(&lane->queued, NULL, memory_order_seq_cst);
  leati_submission *oldest = NULL;
  while (newest != NULL) {
    leati_submission *const before = newest->queued;
    newest->queued = oldest;
    oldest = newest;
    newest = before;
  }
  leati_commit_group_submit(lane, oldest);
}

uint64_t leati_lane_room(leati_lane *lane) {
  const uint32_t most = leati_in_flight_wanted(is_continued(lane), leati_batching_in_flight(&lane->batching));
  /* The pieces of a download are one with the batch before them. */
  const uint64_t last = most == 1 ? atomic_load_explicit(&lane->semaphore.submitted, memory_order_acquire)
                                  : atomic_load_explicit(&lane->whole, memory_order_acquire);
  return last < most ? 0 : last - most + 1;
}

/* Whether the queue has as much to do as it should have. */
static bool is_full(leati_lane *lane) {
  const uint64_t room = leati_lane_room(lane);
  if (leati_semaphore_has(&lane->semaphore, room)) {
    return false;
  }
  (void)leati_semaphore_poll(lane->device, &lane->semaphore, NULL);
  return !leati_semaphore_has(&lane->semaphore, room);
}

/* Notes that the caller has got the role: what was left to others until then is the caller's. `tired`: it has led for
 * long, and wants to be relieved. */
static void begin_turn(leati_lane *lane, bool tired) {
  atomic_store_explicit(&lane->missed, false, memory_order_seq_cst);
  if (atomic_load_explicit(&lane->relief, memory_order_relaxed) != tired) {
    atomic_store_explicit(&lane->relief, tired, memory_order_relaxed);
  }
}

/* Takes the role. */
static bool lead(leati_lane *lane, bool tired) {
  if (!leati_role_try(&lane->leader)) {
    return false;
  }
  begin_turn(lane, tired);
  return true;
}

/* Waits for the role for `timeout_ns` at most. */
static bool lead_after(leati_lane *lane, uint64_t timeout_ns) {
  if (!leati_role_wait(&lane->leader, timeout_ns)) {
    return false;
  }
  begin_turn(lane, false);
  return true;
}

/* Takes the role over from a thread that has led for long and does not try again: unless another thread was quicker to
 * relieve it. */
static bool relieve(leati_lane *lane) {
  if (!atomic_load_explicit(&lane->relief, memory_order_relaxed) ||
      !atomic_exchange_explicit(&lane->relief, false, memory_order_relaxed)) {
    return false;
  }
  (void)atomic_fetch_add_explicit(&lane->relievers, 1, memory_order_seq_cst);
  const bool leads = lead_after(lane, LEATI_GATE_LOOK_NS);
  (void)atomic_fetch_sub_explicit(&lane->relievers, 1, memory_order_seq_cst);
  return leads;
}

/* Takes the role for a thread that may not look again: if another one has it, that one is relieved, if it has led for
 * long, or told that there is a list. */
static bool lead_or_tell(leati_lane *lane, bool tired) {
  if (lead(lane, tired) || (!tired && relieve(lane))) {
    return true;
  }
  atomic_store_explicit(&lane->missed, true, memory_order_seq_cst);
  /* It may have been given up before it was told. */
  return lead(lane, tired);
}

/* One turn of the leader, at the end of which it gives up the role. Without `force` what is queued is left to gather
 * while the lane is full and others attend it; false: so it was, and there is nothing more for the caller to do. */
static bool serve(leati_lane *lane, bool force) {
  const bool leave = !force && atomic_load_explicit(&lane->attendants, memory_order_seq_cst) != 0 && is_full(lane);
  if (!leave) {
    submit_queued(lane);
  }
  leati_role_leave(&lane->leader);
  /* While this thread had the role, the last attendant may have left; or one found room that this one's look at the
   * timeline semaphore came too early for, and has gone to sleep until its own list has run. */
  return !leave || atomic_load_explicit(&lane->attendants, memory_order_seq_cst) == 0 ||
         atomic_load_explicit(&lane->missed, memory_order_seq_cst);
}

/* ---- Helping ------------------------------------------------------------------------------------------------------
 */

void leati_lane_help(leati_lane *lane) {
  uint32_t turns = 0;
  while (atomic_load_explicit(&lane->queued, memory_order_seq_cst) != NULL) {
    /* Where lists come as fast as they can be submitted it would else lead for ever. */
    const bool tired = leati_leader_is_tired(turns++);
    /* A thread that relieves this one sees what is queued: it tries again after it was counted. */
    if ((tired && atomic_load_explicit(&lane->relievers, memory_order_seq_cst) != 0) || !lead_or_tell(lane, tired) ||
        !serve(lane, false)) {
      return;
    }
  }
}

/* Whether threads whose lists ran in the batch that ended last are about to hand over the next ones. */
static bool is_gather_due(const leati_lane *lane) {
  const uint64_t until = is_continued(lane) ? 0 : leati_batching_gather_until(&lane->batching, leati_lane_lists(lane));
  return until != 0 && leati_now_ns() < until;
}

void leati_lane_watch(leati_lane *lane, uint32_t *inout_passed) {
  if (note_end(lane, true)) {
    leati_lane_help(lane);
  }
  if (atomic_load_explicit(&lane->queued, memory_order_seq_cst) == NULL ||
      !leati_semaphore_has(&lane->semaphore, leati_lane_room(lane)) || is_gather_due(lane)) {
    *inout_passed = 0;
    return;
  }
  /* Nothing is left to a thread that has led for long. */
  const bool tired = atomic_load_explicit(&lane->relief, memory_order_relaxed);
  const bool own = atomic_load_explicit(&lane->led_by, memory_order_relaxed) == &self;
  if (leati_lead_is_passed(own, tired, leati_lane_attendants(lane), *inout_passed)) {
    ++*inout_passed;
    return;
  }
  *inout_passed = 0;
  if (lead(lane, false)) {
    submit_queued(lane);
    leati_role_leave(&lane->leader);
    /* Who found the role taken is gone, and those who attend may sleep until their own lists have run. */
    if (atomic_load_explicit(&lane->missed, memory_order_seq_cst)) {
      leati_lane_help(lane);
    }
  } else if (atomic_load_explicit(&lane->relief, memory_order_relaxed)) {
    leati_lane_help(lane);
  }
}

void leati_lane_attend(leati_lane *lane) {
  (void)atomic_fetch_add_explicit(&lane->attendants, 1, memory_order_seq_cst);
}

void leati_lane_leave(leati_lane *lane, bool watched) {
  const bool wider = note_end(lane, watched);
  if (atomic_fetch_sub_explicit(&lane->attendants, 1, memory_order_seq_cst) == 1 || wider) {
    leati_lane_help(lane);
  }
}

bool leati_lane_ensure(leati_timeline *timeline, uint64_t value, leati_point *out) {
  leati_assert_unlocked();
  while (leati_timeline_locate(timeline, value, out)) {
    leati_gate_check();
    if (out->value != 0) {
      return true;
    }
    leati_lane *const lane = leati_lane_of(out->semaphore);
    if (lead_after(lane, LEATI_GATE_LOOK_NS) && serve(lane, true)) {
      leati_lane_help(lane);
    }
  }
  return false;
}

/* Hands out what was noted of lists that have run, and gives up the role. */
static void collect(leati_lane *lane) {
  (void)leati_semaphore_poll(lane->device, &lane->semaphore, NULL);
  leati_commit_group_collect(lane);
  leati_role_leave(&lane->leader);
}

void leati_lanes_collect(leat_device *device, bool wait) {
  leati_assert_unlocked();
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    leati_lane *const lane = &device->lanes->lanes[i];
    if (!wait) {
      if (lead(lane, false)) {
        collect(lane);
      }
      continue;
    }
    while (!lead_after(lane, LEATI_GATE_LOOK_NS)) {
      leati_gate_check();
    }
    collect(lane);
    leati_lane_help(lane);
  }
}

int32_t leati_lane_export(leati_lane *lane, int32_t *out_fd, leat_error *err) {
  leati_assert_unlocked();
  leati_syncfile *file;
  LEATI_TRY(leati_syncfile_create(lane->device, &file, err));
  while (!lead_after(lane, LEATI_GATE_LOOK_NS)) {
    leati_gate_check();
  }
  leati_syncfiles_destroy(lane->device, &lane->syncfiles, &lane->semaphore);
  int32_t status = leati_commit_group_signal(lane, file, err);
  if (status == LEAT_OK) {
    status = leati_syncfile_export(lane->device, file, out_fd, err);
  }
  /* One that was not submitted has value 0 and goes with the next. */
  file->next = lane->syncfiles;
  lane->syncfiles = file;
  leati_role_leave(&lane->leader);
  leati_lane_help(lane);
  return status;
}
