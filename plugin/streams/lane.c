/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/lane.h"

#include "gate.h"
#include "status.h"
#include "streams/spread.h"

/* Looks that an attendant leaves to the thread that led last, which has what the driver touches in its cache: writing
 * and submitting take that one half as long. */
#define PASSES_MAX 6
/* How often a thread leads in one call. Where lists come as fast as they can be submitted it would else lead for ever;
 * after so many turns the next thread that hands a list over, or spins, waits for the role, and the caller goes on.
 * Nobody leads while that one is woken, so few turns cost throughput (docs/benchmarks.md). */
#define TURNS_MAX 64
/* Lists that go to the queue in one call. */
#define GROUP_MAX LEATI_TAPE_LISTS_MAX
/* Tapes that a lane has without need, so that they hold lists which may come again. */
#define TAPES_KEPT 8
/* Commands after which a group takes no more lists: while the leader writes them, which takes some 0.3 us each, nothing
 * of them runs. */
#define GROUP_COMMANDS 2048
/* An epoch of leati_spread lasts at least so long and has at least so many lists, so that rates are good to a few per
 * cent; of long lists so many on each lane will do. */
#define EPOCH_NS 4000000u
#define EPOCH_LISTS 128
#define EPOCH_LONG_LISTS 16
/* So long with nothing to do on any lane is taken off the epoch: lists that come seldom are not lists that take long.
 */
#define IDLE_NS 1000000u

/* What all lanes have done so far. Only how much it has risen has a meaning. */
typedef struct tally {
  uint32_t lists, commands; /* handed over */
  uint32_t seen_lists;
  uint64_t busy_ns;
} tally;

struct leati_lanes {
  leati_lane lanes[LEATI_LANES_MAX];
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t in_use; /* lanes that are chosen from; relaxed */
  _Atomic uint32_t company;                           /* streams of the epoch before; relaxed */
  _Atomic uint32_t epoch;                             /* number of this epoch; relaxed */
  _Atomic uint32_t streams;                           /* that had lists in it; relaxed */
  _Alignas(LEATI_CACHE_LINE) leati_role judge;        /* who has it uses what follows */
  leati_spread spread;
  uint64_t epoch_start_ns; /* later by the idle time in the epoch */
  uint64_t idle_until_ns;  /* up to when idle time was taken off */
  tally epoch_tally;       /* when it began */
};

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
    LEATI_TRY(leati_counter_create(device, &lane->counter, err));
    device->counters[i] = &lane->counter;
    LEATI_TRY(leati_tape_create(device, &lane->tapes, err));
    lane->tape_count = 1;
    leati_rhythm_begin(&lane->rhythm);
  }
  leati_spread_begin(&lanes->spread, device->queue_count);
  atomic_store_explicit(&lanes->in_use, device->lanes_fixed ? device->queue_count : 1, memory_order_relaxed);
  atomic_store_explicit(&lanes->epoch, 1, memory_order_relaxed);
  lanes->epoch_start_ns = leati_now_ns();
  return LEAT_OK;
}

void leati_lanes_destroy(leat_device *device) {
  if (device->lanes == NULL) {
    return;
  }
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    leati_lane *const lane = &device->lanes->lanes[i];
    leati_tapes_destroy(device, lane->flying);
    leati_tapes_destroy(device, lane->tapes);
    leati_syncfiles_destroy(device, &lane->syncfiles, NULL);
    leati_counter_destroy(device, &lane->counter);
  }
  leati_free(device->lanes);
  device->lanes = NULL;
}

/* ---- Choice -------------------------------------------------------------------------------------------------------
 */

/* Lists that have been handed over. */
static uint32_t lists_of(const leati_lane *lane) {
  return atomic_load_explicit(&lane->lists, memory_order_relaxed);
}

/* Lists on a lane that have not run, as far as a look at the counter tells. Of more batches than are remembered those
 * that go first are left out. */
static uint32_t load_of(leati_lane *lane) {
  (void)leati_counter_poll(lane->device, &lane->counter, NULL);
  const uint64_t submitted = atomic_load_explicit(&lane->counter.submitted, memory_order_acquire);
  uint64_t reached = atomic_load_explicit(&lane->counter.reached, memory_order_acquire);
  if (submitted >= reached + LEATI_RHYTHM_BATCHES) {
    reached = submitted - LEATI_RHYTHM_BATCHES + 1;
  }
  /* The two are not read at once. */
  const uint32_t load = lists_of(lane) - leati_rhythm_lists(&lane->rhythm, reached);
  return load <= INT32_MAX ? load : 0;
}

leati_lane *leati_lanes_choose(leat_device *device, leati_lane *current, uint64_t own) {
  struct leati_lanes *const lanes = device->lanes;
  const uint32_t in_use = atomic_load_explicit(&lanes->in_use, memory_order_relaxed);
  const bool stays = current != NULL && current->index < in_use;
  if (stays && in_use == 1) {
    return current;
  }
  leati_lane *best = stays ? current : &lanes->lanes[0];
  const uint32_t load = load_of(best);
  uint32_t others = stays && load > own ? load - (uint32_t)own : stays ? 0 : load;
  /* Leaving a lane while lists of the stream are in flight there costs a wait of one queue for another: for an empty
   * lane that is worth it, else for a gain of two. */
  const uint32_t price = stays && own != 0 ? 1 : 0;
  for (uint32_t i = 0; i < in_use && others != 0; ++i) {
    leati_lane *const lane = &lanes->lanes[i];
    const uint32_t there = lane == best ? others : load_of(lane);
    if (there == 0 || there + price < others) {
      others = there;
      best = lane;
    }
  }
  return best;
}

static tally count_all(const leat_device *device) {
  tally all = {.lists = 0};
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    const leati_lane *const lane = &device->lanes->lanes[i];
    all.lists += lists_of(lane);
    all.commands += atomic_load_explicit(&lane->commands, memory_order_relaxed);
    all.seen_lists += leati_rhythm_seen_lists(&lane->rhythm);
    all.busy_ns += leati_rhythm_busy_ns(&lane->rhythm);
  }
  return all;
}

/* Ends the epoch, which has lasted for so long, if there were enough lists in it. The judge's. */
static void end_epoch(leat_device *device, uint64_t lasted) {
  struct leati_lanes *const lanes = device->lanes;
  const tally now = count_all(device), *const then = &lanes->epoch_tally;
  const uint32_t lists = now.lists - then->lists, seen_lists = now.seen_lists - then->seen_lists;
  if (lists > INT32_MAX) {
    /* More were lost than have come. */
    return;
  }
  const double list_s = seen_lists == 0 ? 0 : (double)(now.busy_ns - then->busy_ns) / (double)seen_lists * 1e-9;
  const uint32_t few = EPOCH_LONG_LISTS * lanes->spread.lanes;
  if (lists < EPOCH_LISTS && (lists < few || !leati_spread_long(list_s))) {
    return;
  }
  const leati_pace pace = {.commands = (double)(now.commands - then->commands) / ((double)lasted * 1e-9),
                           .list_s = list_s,
                           .streams = atomic_exchange_explicit(&lanes->streams, 0, memory_order_relaxed)};
  (void)atomic_fetch_add_explicit(&lanes->epoch, 1, memory_order_relaxed);
  atomic_store_explicit(&lanes->company, pace.streams, memory_order_relaxed);
  lanes->epoch_tally = now;
  lanes->epoch_start_ns += lasted;
  if (!device->lanes_fixed) {
    atomic_store_explicit(&lanes->in_use, leati_spread_step(&lanes->spread, &pace), memory_order_relaxed);
  }
}

/* Ends the epoch if it has lasted long enough. */
static void judge(leat_device *device) {
  struct leati_lanes *const lanes = device->lanes;
  if (leati_role_try(&lanes->judge)) {
    const uint64_t lasted = leati_now_ns() - lanes->epoch_start_ns;
    if (lasted >= EPOCH_NS) {
      end_epoch(device, lasted);
    }
    leati_role_leave(&lanes->judge);
  }
}

/* Whether everything that was handed over to a lane has run, as far as is known. */
static bool is_idle(leati_lane *lane) {
  const uint64_t reached = atomic_load_explicit(&lane->counter.reached, memory_order_relaxed);
  return reached >= atomic_load_explicit(&lane->counter.submitted, memory_order_relaxed) &&
         leati_rhythm_lists(&lane->rhythm, reached) == lists_of(lane);
}

/* Takes the time off the epoch for which all lanes have had nothing to do. The judge's. */
static void take_idle_time_off(leat_device *device) {
  struct leati_lanes *const lanes = device->lanes;
  uint64_t since = lanes->idle_until_ns > lanes->epoch_start_ns ? lanes->idle_until_ns : lanes->epoch_start_ns;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    leati_lane *const lane = &lanes->lanes[i];
    if (!is_idle(lane)) {
      return;
    }
    const uint64_t ended = leati_rhythm_ended_ns(&lane->rhythm);
    since = ended > since ? ended : since;
  }
  const uint64_t now = leati_now_ns();
  if (now > since) {
    lanes->epoch_start_ns += now - since;
    lanes->idle_until_ns = now;
  }
}

/* Looks, before a list comes to a lane, whether there was nothing to do for long. */
static void note_idle(leati_lane *lane) {
  if (!is_idle(lane)) {
    return;
  }
  struct leati_lanes *const lanes = lane->device->lanes;
  const uint64_t ended = leati_rhythm_ended_ns(&lane->rhythm);
  if (leati_now_ns() - ended >= IDLE_NS && leati_role_try(&lanes->judge)) {
    take_idle_time_off(lane->device);
    leati_role_leave(&lanes->judge);
  }
}

bool leati_lanes_alone(const leat_device *device) {
  return atomic_load_explicit(&device->lanes->company, memory_order_relaxed) == 1;
}

/* ---- Submission ---------------------------------------------------------------------------------------------------
 */

/* Notes when the counter has risen. `watched`: the caller has been looking for it. True: it was learnt from that that
 * more batches should be in flight. Those who sleep do not know, so the caller has to help. */
static bool note_end(leati_lane *lane, bool watched) {
  const uint64_t reached = atomic_load_explicit(&lane->counter.reached, memory_order_relaxed);
  if (leati_rhythm_knows(&lane->rhythm, reached)) {
    return false;
  }
  const uint32_t before = leati_rhythm_in_flight(&lane->rhythm);
  leati_rhythm_end(&lane->rhythm, reached, lists_of(lane), leati_now_ns(), watched);
  return leati_rhythm_in_flight(&lane->rhythm) > before;
}

void leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_epoch) {
  struct leati_lanes *const lanes = lane->device->lanes;
  const uint32_t epoch = atomic_load_explicit(&lanes->epoch, memory_order_relaxed);
  if (*inout_epoch != epoch) {
    *inout_epoch = epoch;
    (void)atomic_fetch_add_explicit(&lanes->streams, 1, memory_order_relaxed);
  }
  /* First, or this list would not count as one that came after it. */
  (void)note_end(lane, false);
  note_idle(lane);
  const uint32_t lists = atomic_fetch_add_explicit(&lane->lists, 1, memory_order_relaxed) + 1;
  (void)atomic_fetch_add_explicit(&lane->commands, submission->command_count, memory_order_relaxed);
  if (lists % EPOCH_LONG_LISTS == 0) {
    judge(lane->device);
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

/* One call of vkQueueSubmit under construction: batches of lists, each with a tape and raising the counter by one. A
 * list that waits for something begins a batch, so that those before it do not wait with it. */
typedef struct group {
  uint32_t count, batch_count, command_count;
  uint32_t sent, sent_lists; /* batches that the queue has taken, and the lists in them */
  leati_submission *lists[GROUP_MAX];
  uint32_t sizes[GROUP_MAX]; /* lists of each batch; they lie in its order */
  leati_tape *tapes[GROUP_MAX];
  VkSubmitInfo batches[GROUP_MAX];
  VkTimelineSemaphoreSubmitInfo values[GROUP_MAX];
  uint64_t signals[GROUP_MAX];
  uint32_t wait_count;
  VkSemaphore wait_semaphores[GROUP_MAX];
  uint64_t wait_values[GROUP_MAX];
  VkPipelineStageFlags wait_stages[GROUP_MAX];
} group;

/* Begins a batch with the waits of a list. False: there is no room for its waits. */
static bool begin_batch(group *g, leati_lane *lane, const leati_submission *list) {
  const uint32_t first_wait = g->wait_count;
  for (uint32_t i = 0; i < LEATI_LANES_MAX; ++i) {
    if (list->waits[i].value == 0) {
      continue;
    }
    if (g->wait_count == GROUP_MAX) {
      g->wait_count = first_wait;
      return false;
    }
    g->wait_semaphores[g->wait_count] = list->waits[i].counter->semaphore;
    g->wait_values[g->wait_count] = list->waits[i].value;
    g->wait_stages[g->wait_count++] = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  }
  const uint32_t waits = g->wait_count - first_wait;
  const uint32_t n = g->batch_count++;
  g->sizes[n] = 0;
  g->signals[n] = atomic_load_explicit(&lane->counter.submitted, memory_order_relaxed) + g->batch_count;
  g->values[n] = (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                 .waitSemaphoreValueCount = waits,
                                                 .pWaitSemaphoreValues = &g->wait_values[first_wait],
                                                 .signalSemaphoreValueCount = 1,
                                                 .pSignalSemaphoreValues = &g->signals[n]};
  g->batches[n] = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &g->values[n],
                                 .waitSemaphoreCount = waits,
                                 .pWaitSemaphores = &g->wait_semaphores[first_wait],
                                 .pWaitDstStageMask = &g->wait_stages[first_wait],
                                 .commandBufferCount = 1,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &lane->counter.semaphore};
  return true;
}

static bool waits_for_any(const leati_submission *list) {
  for (uint32_t i = 0; i < LEATI_LANES_MAX; ++i) {
    if (list->waits[i].value != 0) {
      return true;
    }
  }
  return false;
}

/* Puts a list into the group. False: it is full. */
static bool add_list(group *g, leati_lane *lane, leati_submission *list) {
  if (g->count == GROUP_MAX || (g->count != 0 && g->command_count + list->command_count > GROUP_COMMANDS)) {
    return false;
  }
  if ((g->batch_count == 0 || waits_for_any(list)) && !begin_batch(g, lane, list)) {
    return false;
  }
  g->lists[g->count++] = list;
  g->command_count += list->command_count;
  ++g->sizes[g->batch_count - 1];
  return true;
}

/* Puts a tape where those are of which nothing is in flight. The leader's. */
static void give_tape(leati_lane *lane, leati_tape *tape) {
  tape->next = lane->tapes;
  lane->tapes = tape;
}

/* Notes that a tape is in flight until the counter has `value`. The leader's. */
static void send_tape(leati_lane *lane, leati_tape *tape, uint64_t value) {
  tape->value = value;
  tape->next = NULL;
  if (lane->flying != NULL) {
    lane->last_flying->next = tape;
  } else {
    lane->flying = tape;
  }
  lane->last_flying = tape;
}

/* Gives back the tapes that have landed, as far as is known. The leader's. */
static void land_tapes(leati_lane *lane) {
  while (lane->flying != NULL && leati_counter_has(&lane->counter, lane->flying->value)) {
    leati_tape *const landed = lane->flying;
    lane->flying = landed->next;
    give_tape(lane, landed);
  }
}

/* Takes the tape that holds a list, or NULL. The leader's. */
static leati_tape *take_holding(leati_lane *lane, const leati_submission *list) {
  leati_tape **at = &lane->tapes;
  while (*at != NULL && !leati_tape_holds(lane->device, *at, list)) {
    at = &(*at)->next;
  }
  leati_tape *const found = *at;
  if (found != NULL) {
    *at = found->next;
  }
  return found;
}

/* Takes a tape to write: of those that hold nothing the one used last, since a driver is quicker with memory that it
 * has just used; or a new one while there are few; or the one that has not been used for longest. Where no new one can
 * be had that one will do, or if all are in flight and it is memory that is missing, one of these when it has run. The
 * leader's. */
static int32_t take_tape(leati_lane *lane, leati_tape **out, leat_error *err) {
  leati_tape **at = &lane->tapes;
  while (*at != NULL && (*at)->held_count != 0 && (*at)->next != NULL) {
    at = &(*at)->next;
  }
  if (*at == NULL || ((*at)->held_count != 0 && lane->tape_count < TAPES_KEPT)) {
    const int32_t status = leati_tape_create(lane->device, out, err);
    lane->tape_count += status == LEAT_OK ? 1u : 0u;
    if (status == LEAT_OK || (*at == NULL && (status != LEAT_ERROR_OUT_OF_MEMORY || lane->flying == NULL))) {
      return status;
    }
    while (lane->tapes == NULL) {
      leati_gate_check();
      LEATI_TRY(leati_counter_block(lane->device, &lane->counter, lane->flying->value, LEATI_GATE_LOOK_NS, err));
      land_tapes(lane);
    }
  }
  *out = *at;
  *at = (*at)->next;
  return LEAT_OK;
}

/* Held while a queue of any device is given its first command buffer: a driver (NVIDIA 580.159.04, H200) that gets the
 * first ones of two queues at the same time may never run what one of the two gets. */
static leati_mutex first_lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_FIRST);

/* Gives the batches from `sent` up to `end` to the queue. The leader's. */
static VkResult submit_batches(leati_lane *lane, const group *g, uint32_t end) {
  const bool first = atomic_load_explicit(&lane->counter.submitted, memory_order_relaxed) == 0;
  if (first) {
    leati_mutex_lock(&first_lock);
  }
  const VkResult result =
      lane->device->vk.QueueSubmit(lane->queue, end - g->sent, &g->batches[g->sent], VK_NULL_HANDLE);
  if (first) {
    leati_mutex_unlock(&first_lock);
  }
  return result;
}

/* Notes that the queue has taken the batches from `sent` up to `end`, which were begun at `begun`. The leader's. */
static void note_submitted(leati_lane *lane, group *g, uint32_t end, uint64_t begun) {
  const uint64_t now = leati_now_ns();
  leati_rhythm_write(&lane->rhythm, now - begun);
  for (uint32_t i = g->sent; i < end; ++i) {
    send_tape(lane, g->tapes[i], g->signals[i]);
    leati_rhythm_send(&lane->rhythm, g->signals[i], g->sizes[i], now);
  }
  atomic_store_explicit(&lane->counter.submitted, g->signals[end - 1], memory_order_release);
  for (; g->sent < end; ++g->sent) {
    for (uint32_t i = 0; i < g->sizes[g->sent]; ++i) {
      /* From here on the list may be retired by whoever waits for it. */
      atomic_store_explicit(&g->lists[g->sent_lists++]->counter_value, g->signals[g->sent], memory_order_release);
    }
  }
}

/* Writes the lists of batch `n`, which begin at `first`, into a tape, unless one holds them. Tapes hold lists only
 * while one thread at most attends: where several do, they meet while the leader writes, and would meet less if it did
 * not. The leader's. */
static int32_t write_batch(leati_lane *lane, group *g, uint32_t n, uint32_t first, leat_error *err) {
  leati_tape **const tape = &g->tapes[n];
  land_tapes(lane);
  const bool alone = g->sizes[n] == 1 && leati_lane_attendants(lane) <= 1;
  *tape = alone ? take_holding(lane, g->lists[first]) : NULL;
  if (*tape == NULL) {
    LEATI_TRY(take_tape(lane, tape, err));
    const int32_t status = leati_tape_write(lane->device, *tape, &g->lists[first], g->sizes[n], alone, err);
    if (status != LEAT_OK) {
      give_tape(lane, *tape);
      return status;
    }
  }
  g->batches[n].pCommandBuffers = &(*tape)->commands;
  return LEAT_OK;
}

/* Submits the batches that are left, or as many as there is memory for tapes for. The leader's. */
static int32_t submit_some(leati_lane *lane, group *g, leat_error *err) {
  const uint64_t begun = leati_now_ns();
  uint32_t end = g->sent, lists = g->sent_lists;
  int32_t status = LEAT_OK;
  while (status == LEAT_OK && end < g->batch_count) {
    status = write_batch(lane, g, end, lists, err);
    if (status == LEAT_OK) {
      lists += g->sizes[end++];
    }
  }
  if (status == LEAT_ERROR_OUT_OF_MEMORY && end != g->sent) {
    /* When these have run, their tapes will do for the others. */
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
    give_tape(lane, g->tapes[i]);
  }
  return status;
}

/* Submits the group; what of it cannot be submitted is lost, and the timelines of its lists fail. The leader's. */
static void submit_group(leati_lane *lane, group *g) {
  leat_error failure; /* written when something fails; clearing it each time would take longer than much else here */
  failure.struct_size = sizeof(failure);
  while (g->sent != g->batch_count && submit_some(lane, g, &failure) == LEAT_OK) {
  }
  if (g->sent_lists == g->count) {
    return;
  }
  for (uint32_t i = g->sent_lists; i < g->count; ++i) {
    leati_timeline_fail(g->lists[i]->timeline, g->lists[i]->value, &failure);
    leati_timeline_discard(g->lists[i]);
  }
  (void)atomic_fetch_sub_explicit(&lane->lists, g->count - g->sent_lists, memory_order_relaxed);
}

/* Its address stands for the thread. */
static _Thread_local char self;

/* Whether something is queued that comes after what is in flight. It is not held back: a stream that has to wait for
 * itself gains nothing by company. */
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
  while (oldest != NULL) {
    group g;
    g.count = g.batch_count = g.command_count = g.sent = g.sent_lists = g.wait_count = 0;
    while (oldest != NULL) {
      leati_submission *const next = oldest->queued;
      if (leati_timeline_fails(oldest->timeline, oldest->value)) {
        /* Something before it in its stream is missing. */
        leati_timeline_discard(oldest);
        (void)atomic_fetch_sub_explicit(&lane->lists, 1, memory_order_relaxed);
      } else if (!add_list(&g, lane, oldest)) {
        break;
      }
      oldest = next;
    }
    if (g.count != 0) {
      submit_group(lane, &g);
    }
  }
}

uint64_t leati_lane_room(leati_lane *lane) {
  const uint64_t submitted = atomic_load_explicit(&lane->counter.submitted, memory_order_acquire);
  const uint32_t most = is_continued(lane) ? LEATI_IN_FLIGHT_MAX : leati_rhythm_in_flight(&lane->rhythm);
  return submitted < most ? 0 : submitted - most + 1;
}

/* Whether the queue has as much to do as it should have. */
static bool is_full(leati_lane *lane) {
  const uint64_t room = leati_lane_room(lane);
  if (leati_counter_has(&lane->counter, room)) {
    return false;
  }
  (void)leati_counter_poll(lane->device, &lane->counter, NULL);
  return !leati_counter_has(&lane->counter, room);
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
   * counter came too early for, and has gone to sleep until its own list has run. */
  return !leave || atomic_load_explicit(&lane->attendants, memory_order_seq_cst) == 0 ||
         atomic_load_explicit(&lane->missed, memory_order_seq_cst);
}

void leati_lane_help(leati_lane *lane) {
  uint32_t turns = 0;
  while (atomic_load_explicit(&lane->queued, memory_order_seq_cst) != NULL) {
    const bool tired = turns++ >= TURNS_MAX;
    /* A thread that relieves this one sees what is queued: it tries again after it was counted. */
    if ((tired && atomic_load_explicit(&lane->relievers, memory_order_seq_cst) != 0) || !lead_or_tell(lane, tired) ||
        !serve(lane, false)) {
      return;
    }
  }
}

/* Whether threads whose lists ran in the batch that ended last are about to hand over the next ones. */
static bool is_company_due(const leati_lane *lane) {
  const uint64_t until = is_continued(lane) ? 0 : leati_rhythm_company(&lane->rhythm, lists_of(lane));
  return until != 0 && leati_now_ns() < until;
}

void leati_lane_watch(leati_lane *lane, uint32_t *inout_passed) {
  if (note_end(lane, true)) {
    leati_lane_help(lane);
  }
  if (atomic_load_explicit(&lane->queued, memory_order_seq_cst) == NULL ||
      !leati_counter_has(&lane->counter, leati_lane_room(lane)) || is_company_due(lane)) {
    *inout_passed = 0;
    return;
  }
  /* Nothing is left to a thread that has led for long. */
  const bool tired = atomic_load_explicit(&lane->relief, memory_order_relaxed);
  if (!tired && atomic_load_explicit(&lane->led_by, memory_order_relaxed) != &self && leati_lane_attendants(lane) > 1 &&
      *inout_passed < PASSES_MAX) {
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
    leati_lane *const lane = leati_lane_of(out->counter);
    if (lead_after(lane, LEATI_GATE_LOOK_NS) && serve(lane, true)) {
      leati_lane_help(lane);
    }
  }
  return false;
}

/* Submits a batch that runs nothing and signals a semaphore behind everything that the queue was given. The leader's.
 */
static int32_t submit_signal(leati_lane *lane, leati_syncfile *file, leat_error *err) {
  const uint64_t before = atomic_load_explicit(&lane->counter.submitted, memory_order_relaxed);
  /* The second value is not looked at: its semaphore is binary. */
  const uint64_t values[2] = {before + 1, 0};
  const VkSemaphore semaphores[2] = {lane->counter.semaphore, file->semaphore};
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
  leati_rhythm_send(&lane->rhythm, file->value, 0, leati_now_ns());
  atomic_store_explicit(&lane->counter.submitted, file->value, memory_order_release);
  return LEAT_OK;
}

int32_t leati_lane_export(leati_lane *lane, int32_t *out_fd, leat_error *err) {
  leati_assert_unlocked();
  leati_syncfile *file;
  LEATI_TRY(leati_syncfile_create(lane->device, &file, err));
  while (!lead_after(lane, LEATI_GATE_LOOK_NS)) {
    leati_gate_check();
  }
  leati_syncfiles_destroy(lane->device, &lane->syncfiles, &lane->counter);
  int32_t status = submit_signal(lane, file, err);
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
