/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/commit_group.h"

#include <string.h>

#include "core/gate.h"
#include "core/status.h"
#include "policy/submitting.h"

/* Lists that go to the queue in one call. */
#define GROUP_MAX LEATI_COMMAND_BUFFER_LISTS_MAX

/* ---- Batches ------------------------------------------------------------------------------------------------------
 */

/* One call of vkQueueSubmit under construction: batches of lists, each with a command buffer and raising the timeline
 * semaphore by one. A list that waits for something begins a batch, so that those before it do not wait with it; one
 * that raises a semaphore of another API ends its batch, whose last signal that is. A piece of a download is a batch of
 * its own, whose end is seen while the next one runs. */
typedef struct commit_group {
  uint32_t count, batch_count;
  uint64_t work_us;          /* of the lists, by estimate */
  uint32_t sent, sent_lists; /* batches that the queue has taken, and the lists in them */
  leati_submission *lists[GROUP_MAX];
  uint32_t sizes[GROUP_MAX]; /* lists of each batch; they lie in its order */
  leati_command_buffer *command_buffers[GROUP_MAX];
  VkSubmitInfo batches[GROUP_MAX];
  VkTimelineSemaphoreSubmitInfo values[GROUP_MAX];
  VkSemaphore signal_semaphores[GROUP_MAX][2]; /* of each batch the lane's, and another API's if it raises one */
  uint64_t signals[GROUP_MAX][2];
  uint32_t wait_count;
  VkSemaphore wait_semaphores[GROUP_MAX];
  uint64_t wait_values[GROUP_MAX];
  VkPipelineStageFlags wait_stages[GROUP_MAX];
} commit_group;

/* Begins a group. Its arrays are written as it grows: clearing them would take longer than much else here. */
static void begin_group(commit_group *g) {
  g->count = g->batch_count = g->sent = g->sent_lists = g->wait_count = 0;
  g->work_us = 0;
}

/* Adds a wait. False: there is no room. */
static bool add_wait(commit_group *g, VkSemaphore semaphore, uint64_t value) {
  if (g->wait_count == GROUP_MAX) {
    return false;
  }
  g->wait_semaphores[g->wait_count] = semaphore;
  g->wait_values[g->wait_count] = value;
  g->wait_stages[g->wait_count++] = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  return true;
}

/* Begins a batch with the waits of a list. False: there is no room for its waits. */
static bool begin_batch(commit_group *g, leati_lane *lane, const leati_submission *list) {
  const leati_external_point *const external = &list->external_wait;
  const uint32_t first_wait = g->wait_count;
  bool room = external->semaphore == NULL || add_wait(g, external->semaphore->handle, external->value);
  for (uint32_t i = 0; room && i < LEATI_LANES_MAX; ++i) {
    room = list->waits[i].value == 0 || add_wait(g, list->waits[i].semaphore->handle, list->waits[i].value);
  }
  if (!room) {
    g->wait_count = first_wait;
    return false;
  }
  const uint32_t waits = g->wait_count - first_wait;
  const uint32_t n = g->batch_count++;
  g->sizes[n] = 0;
  g->signal_semaphores[n][0] = lane->semaphore.handle;
  g->signals[n][0] = atomic_load_explicit(&lane->semaphore.submitted, memory_order_relaxed) + g->batch_count;
  g->values[n] = (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                 .waitSemaphoreValueCount = waits,
                                                 .pWaitSemaphoreValues = &g->wait_values[first_wait],
                                                 .signalSemaphoreValueCount = 1,
                                                 .pSignalSemaphoreValues = g->signals[n]};
  g->batches[n] = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &g->values[n],
                                 .waitSemaphoreCount = waits,
                                 .pWaitSemaphores = &g->wait_semaphores[first_wait],
                                 .pWaitDstStageMask = &g->wait_stages[first_wait],
                                 .commandBufferCount = 1,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = g->signal_semaphores[n]};
  return true;
}

static bool waits_for_any(const leati_submission *list) {
  bool waits = list->external_wait.semaphore != NULL;
  for (uint32_t i = 0; i < LEATI_LANES_MAX; ++i) {
    waits = waits || list->waits[i].value != 0;
  }
  return waits;
}

/* Whether a list must be the first of a batch. */
static bool begins(const commit_group *g, const leati_submission *list) {
  return g->batch_count == 0 || g->batches[g->batch_count - 1].signalSemaphoreCount == 2 || waits_for_any(list) ||
         list->piece || g->lists[g->count - 1]->piece;
}

/* Makes the batch raise what its last list raises. */
static void add_signal(commit_group *g, const leati_external_point *external) {
  const uint32_t n = g->batch_count - 1;
  g->signal_semaphores[n][1] = external->semaphore->handle;
  g->signals[n][1] = external->value;
  g->batches[n].signalSemaphoreCount = 2;
  g->values[n].signalSemaphoreValueCount = 2;
}

/* Puts a list into the group. False: it is full. */
static bool add_list(commit_group *g, leati_lane *lane, leati_submission *list) {
  if (!leati_group_takes(g->count, g->work_us, list->work_us)) {
    return false;
  }
  if (begins(g, list) && !begin_batch(g, lane, list)) {
    return false;
  }
  if (list->external_signal.semaphore != NULL) {
    add_signal(g, &list->external_signal);
  }
  g->lists[g->count++] = list;
  g->work_us += list->work_us;
  ++g->sizes[g->batch_count - 1];
  return true;
}

/* ---- Order --------------------------------------------------------------------------------------------------------
 */

/* Lists linked by `queued`, oldest first. */
typedef struct chain {
  leati_submission *first, *last;
} chain;

/* Puts lists behind a chain. */
static void append(chain *to, chain lists) {
  if (to->first == NULL) {
    *to = lists;
  } else if (lists.first != NULL) {
    to->last->queued = lists.first;
    to->last = lists.last;
  }
}

static bool has_list_of(const chain *lists, const leat_stream *stream) {
  const leati_submission *at = lists->first;
  while (at != NULL && at->stream != stream) {
    at = at->queued;
  }
  return at != NULL;
}

/* Puts pieces of downloads behind the lists of other streams, so that these still share a command buffer with the list
 * that the pieces follow: lists of different streams have no order but by their waits. Nothing that waits is put before
 * anything, since what it waits for may come of what it would hold up. */
static leati_submission *put_pieces_back(leati_submission *oldest) {
  const leati_submission *at = oldest;
  while (at != NULL && !at->piece) {
    at = at->queued;
  }
  if (at == NULL) {
    return oldest;
  }
  chain lists = {.first = NULL}, behind = {.first = NULL};
  while (oldest != NULL) {
    leati_submission *const list = oldest;
    oldest = list->queued;
    list->queued = NULL;
    if (waits_for_any(list)) {
      append(&lists, behind);
      behind.first = NULL;
    }
    append(list->piece || has_list_of(&behind, list->stream) ? &behind : &lists, (chain){.first = list, .last = list});
  }
  append(&lists, behind);
  return lists.first;
}

/* ---- Command buffers
 * --------------------------------------------------------------------------------------------------------
 */

/* Puts a command buffer where those are of which nothing is in flight. The leader's. */
static void release_command_buffer(leati_lane *lane, leati_command_buffer *command_buffer) {
  command_buffer->next = lane->command_buffers;
  lane->command_buffers = command_buffer;
}

/* Notes that a command buffer is in flight until the timeline semaphore has `value`. The leader's. */
static void note_in_flight(leati_lane *lane, leati_command_buffer *command_buffer, uint64_t value) {
  command_buffer->value = value;
  command_buffer->next = NULL;
  if (lane->in_flight != NULL) {
    lane->last_in_flight->next = command_buffer;
  } else {
    lane->in_flight = command_buffer;
  }
  lane->last_in_flight = command_buffer;
}

/* Whether the device writes queries behind what is on a command buffer. */
static bool is_profiled(const leati_command_buffer *command_buffer) {
  return command_buffer->profile != NULL && command_buffer->profile->query_count != 0;
}

void leati_commit_group_collect(leati_lane *lane) {
  while (lane->in_flight != NULL && leati_semaphore_has(&lane->semaphore, lane->in_flight->value)) {
    leati_command_buffer *const finished = lane->in_flight;
    lane->in_flight = finished->next;
    if (is_profiled(finished)) {
      leati_profile_collect(lane->device, finished->profile, lane->index, &lane->clock);
    }
    release_command_buffer(lane, finished);
  }
}

/* Takes the command buffer that holds a list, or NULL. The leader's. */
static leati_command_buffer *take_cached(leati_lane *lane, const leati_submission *list) {
  leati_command_buffer **at = &lane->command_buffers;
  while (*at != NULL && !leati_command_buffer_holds(lane->device, *at, list)) {
    at = &(*at)->next;
  }
  leati_command_buffer *const found = *at;
  if (found != NULL) {
    *at = found->next;
  }
  return found;
}

/* Takes a command buffer to write: of those that hold nothing the one used last, since a driver is quicker with memory
 * that it has just used; or a new one while there are few; or the one that has not been used for longest. Where no new
 * one can be had that one will do, or if all are in flight and it is memory that is missing, one of these when it has
 * run. The leader's. */
static int32_t take_command_buffer(leati_lane *lane, leati_command_buffer **out, leat_error *err) {
  leati_command_buffer **at = &lane->command_buffers;
  while (*at != NULL && (*at)->cached_count != 0 && (*at)->next != NULL) {
    at = &(*at)->next;
  }
  if (*at == NULL || ((*at)->cached_count != 0 && leati_command_buffer_is_made(lane->command_buffer_count))) {
    const int32_t status = leati_command_buffer_create(lane->device, out, err);
    lane->command_buffer_count += status == LEAT_OK ? 1u : 0u;
    if (status == LEAT_OK || (*at == NULL && (status != LEAT_ERROR_OUT_OF_MEMORY || lane->in_flight == NULL))) {
      return status;
    }
    while (lane->command_buffers == NULL) {
      leati_gate_check();
      LEATI_TRY(leati_semaphore_wait(lane->device, &lane->semaphore, lane->in_flight->value, LEATI_GATE_LOOK_NS, err));
      leati_commit_group_collect(lane);
    }
  }
  *out = *at;
  *at = (*at)->next;
  return LEAT_OK;
}

/* ---- The queue ----------------------------------------------------------------------------------------------------
 */

static VkResult queue_submit(leati_lane *lane, const commit_group *g, uint32_t end) {
  return lane->device->vk.QueueSubmit(lane->queue, end - g->sent, &g->batches[g->sent], VK_NULL_HANDLE);
}

/* Held while a queue of any device is given its first command buffer: a driver (NVIDIA 580.159.04, H200) that gets the
 * first ones of two queues at the same time may never run what one of the two gets. */
static leati_mutex first_lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_FIRST);

/* Gives the batches from `sent` up to `end` to the queue. The leader's. */
static VkResult submit_batches(leati_lane *lane, const commit_group *g, uint32_t end) {
  if (atomic_load_explicit(&lane->semaphore.submitted, memory_order_relaxed) != 0) {
    return queue_submit(lane, g, end);
  }
  leati_mutex_lock(&first_lock);
  const VkResult result = queue_submit(lane, g, end);
  leati_mutex_unlock(&first_lock);
  return result;
}

/* Notes that the queue has taken the batches from `sent` up to `end`, which were begun at `begun`. The leader's. */
static void note_submitted(leati_lane *lane, commit_group *g, uint32_t end, uint64_t begun) {
  const uint64_t now = leati_now_ns();
  leati_batching_wrote(&lane->batching, now - begun);
  uint32_t first = g->sent_lists;
  bool told = false;
  for (uint32_t i = g->sent; i < end; ++i) {
    if (is_profiled(g->command_buffers[i])) {
      leati_profile_sent(lane->device, g->command_buffers[i]->profile, &g->lists[first], g->sizes[i], begun, !told);
      told = true;
    }
    first += g->sizes[i];
    note_in_flight(lane, g->command_buffers[i], g->signals[i][0]);
    const bool piece = g->lists[first - 1]->piece;
    leati_batching_submitted(&lane->batching, g->signals[i][0], piece ? 0 : g->sizes[i], now);
    if (!piece) {
      atomic_store_explicit(&lane->whole, g->signals[i][0], memory_order_release);
    }
  }
  atomic_store_explicit(&lane->semaphore.submitted, g->signals[end - 1][0], memory_order_release);
  const uint64_t order = atomic_fetch_add_explicit(&lane->device->lanes->calls, 1, memory_order_relaxed);
  for (; g->sent < end; ++g->sent) {
    for (uint32_t i = 0; i < g->sizes[g->sent]; ++i) {
      leati_submission *const list = g->lists[g->sent_lists++];
      list->order = order;
      /* From here on the list may be retired by whoever waits for it. */
      atomic_store_explicit(&list->semaphore_value, g->signals[g->sent][0], memory_order_release);
    }
  }
}

/* Writes the lists of batch `n`, which begin at `first`, into a command buffer, unless one holds them. The leader's. */
static int32_t write_batch(leati_lane *lane, commit_group *g, uint32_t n, uint32_t first, leat_error *err) {
  leati_command_buffer **const command_buffer = &g->command_buffers[n];
  leati_commit_group_collect(lane);
  /* A piece is not worth a command buffer that holds it: it is one command, written while the device is busy. */
  const bool alone = leati_batch_is_held(g->sizes[n], leati_lane_attendants(lane)) &&
                     g->lists[first]->profile == NULL && !g->lists[first]->piece;
  *command_buffer = alone ? take_cached(lane, g->lists[first]) : NULL;
  if (*command_buffer == NULL) {
    LEATI_TRY(take_command_buffer(lane, command_buffer, err));
    const int32_t status =
        leati_command_buffer_write(lane->device, *command_buffer, &g->lists[first], g->sizes[n], alone, err);
    if (status != LEAT_OK) {
      release_command_buffer(lane, *command_buffer);
      return status;
    }
  }
  g->batches[n].pCommandBuffers = &(*command_buffer)->commands;
  return LEAT_OK;
}

/* Submits the batches that are left, or as many as there is memory for command buffers for. Pieces go in calls of their
 * own: they are written while the device works on what they follow. The leader's. */
static int32_t submit_some(leati_lane *lane, commit_group *g, leat_error *err) {
  const uint64_t begun = leati_now_ns();
  uint32_t end = g->sent, lists = g->sent_lists;
  const bool pieces = g->lists[lists]->piece;
  int32_t status = LEAT_OK;
  while (status == LEAT_OK && end < g->batch_count && g->lists[lists]->piece == pieces) {
    status = write_batch(lane, g, end, lists, err);
    if (status == LEAT_OK) {
      lists += g->sizes[end++];
    }
  }
  if (status == LEAT_ERROR_OUT_OF_MEMORY && end != g->sent) {
    /* When these have run, their command buffers will do for the others. */
    status = LEAT_OK;
  }
  if (status == LEAT_OK) {
    const VkResult result = submit_batches(lane, g, end);
    if (result == VK_SUCCESS) {
      note_submitted(lane, g, end, begun);
      return LEAT_OK;
    }
    status = leati_device_fail(lane->device, result, "vkQueueSubmit", err);
  }
  for (uint32_t i = g->sent; i < end; ++i) {
    release_command_buffer(lane, g->command_buffers[i]);
  }
  return status;
}

/* Drops a list that the queue does not get; its timeline has failed. The leader's. */
static void discard(leati_lane *lane, leati_submission *list) {
  if (!list->piece) {
    (void)atomic_fetch_sub_explicit(&lane->lists, 1, memory_order_relaxed);
  }
  leati_timeline_discard(list);
}

/* Submits the commit group; what of it cannot be submitted is lost, and the timelines of its lists fail. The leader's.
 */
static void submit_all(leati_lane *lane, commit_group *g) {
  leat_error failure; /* written when something fails; clearing it each time would take longer than much else here */
  failure.struct_size = sizeof(failure);
  while (g->sent != g->batch_count && submit_some(lane, g, &failure) == LEAT_OK) {
  }
  for (uint32_t i = g->sent_lists; i < g->count; ++i) {
    leati_timeline_fail(g->lists[i]->timeline, g->lists[i]->value, &failure);
    discard(lane, g->lists[i]);
  }
}

/* ---- Parts --------------------------------------------------------------------------------------------------------
 */

/* Where the part of a list ends that begins with a command: as far as one submission takes. */
static uint32_t find_part_end(const leati_submission *list, uint32_t begin) {
  uint64_t work_us = 0;
  uint32_t end = begin;
  while (end < list->command_count && leati_submission_takes(work_us, list->commands[end].work_us)) {
    work_us += list->commands[end++].work_us;
  }
  return end;
}

/* Submits a list that takes longer than one submission should, in parts that are submissions of their own. Each comes
 * after the one before; the first waits for what the list waits for, and with the last the list has run. If a part is
 * refused, those before it run, and only then the list is let go of: they read its argument records. The leader's. */
static void submit_parts(leati_lane *lane, commit_group *g, leati_submission *list) {
  leat_error failure;
  failure.struct_size = sizeof(failure);
  leati_submission part = {.stream = list->stream,
                           .timeline = list->timeline,
                           .after = list->after,
                           .to_host = list->to_host,
                           .external_wait = list->external_wait};
  memcpy(part.waits, list->waits, sizeof(part.waits));
  int32_t status = LEAT_OK;
  for (uint32_t begin = 0; begin < list->command_count && status == LEAT_OK; begin += part.command_count) {
    const uint32_t end = find_part_end(list, begin);
    part.commands = &list->commands[begin];
    part.command_count = end - begin;
    part.piece = end != list->command_count;
    part.profile = leati_profile_part(lane->device, list, begin, end);
    part.external_signal = part.piece ? (leati_external_point){.semaphore = NULL} : list->external_signal;
    begin_group(g);
    (void)add_list(g, lane, &part);
    status = submit_some(lane, g, &failure);
    leati_free(part.profile);
    /* The next one waits for nothing but this one. */
    part.after = true;
    part.external_wait = (leati_external_point){.semaphore = NULL};
    memset(part.waits, 0, sizeof(part.waits));
  }
  list->order = part.order;
  const uint64_t taken = atomic_load_explicit(&part.semaphore_value, memory_order_relaxed);
  if (status != LEAT_OK && taken == 0) {
    leati_timeline_fail(list->timeline, list->value, &failure);
    discard(lane, list);
    return;
  }
  if (status != LEAT_OK) {
    (void)atomic_fetch_sub_explicit(&lane->lists, 1, memory_order_relaxed);
    leati_timeline_break_off(list, &failure);
  }
  atomic_store_explicit(&list->semaphore_value, taken, memory_order_release);
}

void leati_commit_group_submit(leati_lane *lane, leati_submission *oldest) {
  oldest = put_pieces_back(oldest);
  while (oldest != NULL) {
    commit_group g;
    begin_group(&g);
    while (oldest != NULL) {
      leati_submission *const next = oldest->queued;
      if (leati_timeline_fails(oldest->timeline, oldest->value)) {
        /* Something before it in its stream is missing. */
        discard(lane, oldest);
      } else if (!add_list(&g, lane, oldest)) {
        break;
      }
      oldest = next;
    }
    if (g.count == 1 && g.work_us > LEATI_SUBMISSION_US) {
      submit_parts(lane, &g, g.lists[0]);
    } else if (g.count != 0) {
      submit_all(lane, &g);
    }
  }
}

int32_t leati_commit_group_signal(leati_lane *lane, leati_syncfile *file, leat_error *err) {
  const uint64_t before = atomic_load_explicit(&lane->semaphore.submitted, memory_order_relaxed);
  /* The second value is not looked at: its semaphore is binary. */
  const uint64_t values[2] = {before + 1, 0};
  const VkSemaphore semaphores[2] = {lane->semaphore.handle, file->semaphore};
  const VkTimelineSemaphoreSubmitInfo signals = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                 .signalSemaphoreValueCount = 2,
                                                 .pSignalSemaphoreValues = values};
  const VkSubmitInfo batch = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .pNext = &signals,
                              .signalSemaphoreCount = 2,
                              .pSignalSemaphores = semaphores};
  const VkResult result = lane->device->vk.QueueSubmit(lane->queue, 1, &batch, VK_NULL_HANDLE);
  if (result != VK_SUCCESS) {
    return leati_device_fail(lane->device, result, "vkQueueSubmit", err);
  }
  file->value = before + 1;
  leati_batching_submitted(&lane->batching, file->value, 0, leati_now_ns());
  atomic_store_explicit(&lane->whole, file->value, memory_order_release);
  atomic_store_explicit(&lane->semaphore.submitted, file->value, memory_order_release);
  return LEAT_OK;
}
