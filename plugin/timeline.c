/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <string.h>

#include "device.h"
#include "gate.h"
#include "memory.h"
#include "status.h"

/* Adds spare timelines, linked from `first` to `last`. */
static void add_spare(leat_device *device, leati_timeline *first, leati_timeline *last) {
  last->next_spare = atomic_load_explicit(&device->spare_timelines, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&device->spare_timelines, &last->next_spare, first,
                                                memory_order_release, memory_order_relaxed)) {
  }
}

/* Takes a spare timeline, or NULL. */
static leati_timeline *take_spare(leat_device *device) {
  leati_timeline *const spare = atomic_exchange_explicit(&device->spare_timelines, NULL, memory_order_acquire);
  if (spare != NULL && spare->next_spare != NULL) {
    leati_timeline *last = spare->next_spare;
    while (last->next_spare != NULL) {
      last = last->next_spare;
    }
    add_spare(device, spare->next_spare, last);
  }
  return spare;
}

int32_t leati_timeline_take(leat_device *device, leati_timeline **out, leat_error *err) {
  *out = take_spare(device);
  if (*out != NULL) {
    return LEAT_OK;
  }
  leati_timeline *const timeline = leati_calloc_line(sizeof(*timeline));
  if (timeline == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a timeline");
  }
  timeline->device = device;
  leati_mutex_init(&timeline->lock, LEATI_RANK_TIMELINE);
  timeline->next = atomic_load_explicit(&device->timelines, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&device->timelines, &timeline->next, timeline, memory_order_release,
                                                memory_order_relaxed)) {
  }
  *out = timeline;
  return LEAT_OK;
}

static void destroy_list(leat_device *device, leati_submission *list) {
  while (list != NULL) {
    leati_submission *const next = list->next;
    leati_staging_give(device, list->chunks);
    leati_free(list->commands);
    leati_free(list->deliveries);
    leati_free(list->checks);
    leati_free(list);
    list = next;
  }
}

void leati_timeline_destroy(leati_timeline *timeline) {
  leat_device *const device = timeline->device;
  destroy_list(device, timeline->first);
  destroy_list(device, timeline->free);
  leati_mutex_destroy(&timeline->lock);
  leati_free(timeline);
}

int32_t leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err) {
  leati_mutex_lock(&timeline->lock);
  leati_submission *submission = timeline->free;
  if (submission != NULL) {
    timeline->free = submission->next;
  }
  leati_mutex_unlock(&timeline->lock);
  if (submission == NULL) {
    submission = leati_calloc(1, sizeof(*submission));
  }
  if (submission == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a list of commands");
  }
  submission->next = NULL;
  *out = submission;
  return LEAT_OK;
}

int32_t leati_submission_deliver(leati_submission *submission, void *to, const void *from, uint64_t size,
                                 leat_error *err) {
  if (submission->delivery_count == submission->delivery_capacity) {
    const uint32_t capacity = submission->delivery_capacity == 0 ? 4 : submission->delivery_capacity * 2;
    leati_delivery *const grown = leati_realloc(submission->deliveries, capacity * sizeof(*grown));
    if (grown == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a download");
    }
    submission->deliveries = grown;
    submission->delivery_capacity = capacity;
  }
  submission->deliveries[submission->delivery_count++] = (leati_delivery){.to = to, .from = from, .size = size};
  return LEAT_OK;
}

int32_t leati_submission_check(leati_submission *submission, const leati_check *check, leat_error *err) {
  if (submission->check_count == submission->check_capacity) {
    const uint32_t capacity = submission->check_capacity == 0 ? 16 : submission->check_capacity * 2;
    leati_check *const grown = leati_realloc(submission->checks, capacity * sizeof(*grown));
    if (grown == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for what a kernel finds");
    }
    submission->checks = grown;
    submission->check_capacity = capacity;
  }
  submission->checks[submission->check_count++] = *check;
  return LEAT_OK;
}

void leati_timeline_push(leati_timeline *timeline, leati_submission *submission) {
  submission->next = NULL;
  submission->timeline = timeline;
  submission->owner = timeline->owner;
  atomic_store_explicit(&submission->counter_value, 0, memory_order_relaxed);
  if (timeline->last != NULL) {
    timeline->last->next = submission;
  } else {
    timeline->first = submission;
  }
  timeline->last = submission;
  atomic_store_explicit(&timeline->promised, submission->value, memory_order_release);
}

/* Puts a submission back on the free list. `lock` held. */
static void recycle(leati_timeline *timeline, leati_submission *submission) {
  leati_staging_give(timeline->device, submission->chunks);
  submission->chunks = NULL;
  submission->command_count = 0;
  submission->barrier_count = 0;
  submission->to_host = 0;
  submission->delivery_count = 0;
  submission->check_count = 0;
  submission->next = timeline->free;
  timeline->free = submission;
}

void leati_timeline_drop(leati_timeline *timeline, leati_submission *submission) {
  leati_mutex_lock(&timeline->lock);
  recycle(timeline, submission);
  leati_mutex_unlock(&timeline->lock);
}

bool leati_timeline_fails(leati_timeline *timeline, uint64_t value) {
  return atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK &&
         value >= atomic_load_explicit(&timeline->failed_from, memory_order_acquire);
}

bool leati_timeline_flawed(leati_timeline *timeline, uint64_t value) {
  return atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK &&
         value >= atomic_load_explicit(&timeline->flawed_from, memory_order_acquire);
}

uint64_t leati_timeline_last(leati_timeline *timeline) {
  const uint64_t promised = atomic_load_explicit(&timeline->promised, memory_order_acquire);
  return leati_timeline_fails(timeline, promised)
             ? atomic_load_explicit(&timeline->failed_from, memory_order_acquire) - 1
             : promised;
}

uint64_t leati_timeline_last_staged(leati_timeline *timeline) {
  uint64_t value = 0;
  leati_mutex_lock(&timeline->lock);
  for (const leati_submission *at = timeline->first; at != NULL; at = at->next) {
    value = at->chunks != NULL ? at->value : value;
  }
  leati_mutex_unlock(&timeline->lock);
  return value;
}

void leati_timeline_discard(leati_submission *submission) {
  leati_timeline *const timeline = submission->timeline;
  leati_submission *before = NULL;
  leati_mutex_lock(&timeline->lock);
  for (leati_submission *at = timeline->first; at != submission; at = at->next) {
    before = at;
  }
  if (before != NULL) {
    before->next = submission->next;
  } else {
    timeline->first = submission->next;
  }
  if (timeline->last == submission) {
    timeline->last = before;
  }
  recycle(timeline, submission);
  leati_mutex_unlock(&timeline->lock);
}

/* Lowers a value unless it is lower. `lock` held. */
static void lower_to(_Atomic uint64_t *value, uint64_t to) {
  if (to < atomic_load_explicit(value, memory_order_relaxed)) {
    atomic_store_explicit(value, to, memory_order_release);
  }
}

/* Notes a failure: values from `from` on are never reached, or those from `flawed` on are and give it. The first cause
 * stays. `lock` held. */
static void note_failure(leati_timeline *timeline, uint64_t from, uint64_t flawed, const leat_error *cause) {
  const bool first = atomic_load_explicit(&timeline->failed, memory_order_relaxed) == LEAT_OK;
  if (first) {
    atomic_store_explicit(&timeline->failed_from, from, memory_order_release);
    atomic_store_explicit(&timeline->flawed_from, flawed, memory_order_release);
    timeline->failure = *cause;
    timeline->failure.struct_size = sizeof(timeline->failure);
    atomic_store_explicit(&timeline->failed, cause->code, memory_order_release);
  } else {
    lower_to(&timeline->failed_from, from);
    lower_to(&timeline->flawed_from, flawed);
  }
}

void leati_timeline_fail(leati_timeline *timeline, uint64_t value, const leat_error *cause) {
  leati_mutex_lock(&timeline->lock);
  note_failure(timeline, value, UINT64_MAX, cause);
  leati_mutex_unlock(&timeline->lock);
}

/* Forgets the deliveries that nobody can ask for any more. `lock` held. */
static void drop_unwanted(leati_timeline *timeline) {
  for (leati_submission *at = timeline->first; at != NULL && at->owner != timeline->owner; at = at->next) {
    bool wanted = at->delivery_count == 0;
    for (const leati_watch *watch = timeline->watches; watch != NULL && !wanted; watch = watch->next) {
      wanted = watch->owner == at->owner && watch->value >= at->value;
    }
    if (!wanted) {
      at->delivery_count = 0;
    }
  }
}

void leati_timeline_unwatch(leati_watch *watch) {
  leati_timeline *const timeline = watch->timeline;
  if (timeline == NULL) {
    return;
  }
  leati_mutex_lock(&timeline->lock);
  *watch->link = watch->next;
  if (watch->next != NULL) {
    watch->next->link = watch->link;
  }
  watch->timeline = NULL;
  drop_unwanted(timeline);
  leati_mutex_unlock(&timeline->lock);
}

/* Lists a watch. `lock` held. */
static void list_watch(leati_timeline *timeline, leati_watch *watch) {
  watch->next = timeline->watches;
  watch->link = &timeline->watches;
  if (watch->next != NULL) {
    watch->next->link = &watch->next;
  }
  timeline->watches = watch;
}

void leati_timeline_watch(leati_timeline *timeline, uint64_t value, leati_watch *watch) {
  leati_timeline_unwatch(watch);
  leati_mutex_lock(&timeline->lock);
  watch->timeline = timeline;
  watch->value = value;
  watch->owner = timeline->owner;
  list_watch(timeline, watch);
  leati_mutex_unlock(&timeline->lock);
}

void leati_timeline_watch_too(const leati_watch *other, leati_watch *watch) {
  *watch = (leati_watch){.timeline = other->timeline, .value = other->value, .owner = other->owner};
  leati_mutex_lock(&watch->timeline->lock);
  list_watch(watch->timeline, watch);
  leati_mutex_unlock(&watch->timeline->lock);
}

void leati_timeline_abandon(leati_timeline *timeline) {
  while (timeline != NULL) {
    leati_timeline *const replaced = timeline->replaced;
    leati_mutex_lock(&timeline->lock);
    ++timeline->owner;
    drop_unwanted(timeline);
    leati_mutex_unlock(&timeline->lock);
    timeline = replaced;
  }
}

bool leati_timeline_delivers(leati_timeline *timeline) {
  bool delivers = false;
  leati_mutex_lock(&timeline->lock);
  for (const leati_submission *at = timeline->first; at != NULL && !delivers; at = at->next) {
    delivers = at->owner == timeline->owner && at->delivery_count != 0;
  }
  leati_mutex_unlock(&timeline->lock);
  return delivers;
}

/* Makes the deliveries of a submission that has run. `lock` held. */
static void deliver(leati_submission *submission) {
  for (uint32_t i = 0; i < submission->delivery_count; ++i) {
    const leati_delivery *const delivery = &submission->deliveries[i];
    memcpy(delivery->to, delivery->from, delivery->size);
  }
  submission->delivery_count = 0;
}

/* Looks at what the kernels of a submission that has run have found, which fails the stream. If its stream is gone, the
 * finding is left in `unheard`. `lock` held. */
static void look(leati_timeline *timeline, const leati_submission *done, leat_error *unheard) {
  for (uint32_t i = 0; i < done->check_count; ++i) {
    leat_error failure = {.struct_size = sizeof(failure)};
    if (leati_check_look(&done->checks[i], &failure) == LEAT_OK) {
      continue;
    }
    if (done->owner == timeline->owner) {
      note_failure(timeline, UINT64_MAX, done->value, &failure);
    } else {
      *unheard = failure;
    }
  }
}

/* Makes the deliveries of all submissions up to `reached` and takes them off the list. */
static void retire(leati_timeline *timeline, uint64_t reached) {
  leat_error unheard;
  unheard.code = LEAT_OK; /* and the rest is not written, because nothing is found as a rule */
  leati_mutex_lock(&timeline->lock);
  while (timeline->first != NULL && timeline->first->value <= reached) {
    leati_submission *const done = timeline->first;
    timeline->first = done->next;
    if (timeline->first == NULL) {
      timeline->last = NULL;
    }
    deliver(done);
    look(timeline, done, &unheard);
    recycle(timeline, done);
  }
  if (atomic_load_explicit(&timeline->completed, memory_order_relaxed) < reached) {
    atomic_store_explicit(&timeline->completed, reached, memory_order_release);
  }
  leati_mutex_unlock(&timeline->lock);
  if (unheard.code != LEAT_OK) {
    leati_memory_note_finding(timeline->device, &unheard);
  }
  leati_gate_register(LEATI_GATE_WORKED);
}

/* The first listed submission that covers `value`, or NULL. `lock` held. */
static const leati_submission *find(const leati_timeline *timeline, uint64_t value) {
  const leati_submission *at = timeline->first;
  while (at != NULL && at->value < value) {
    at = at->next;
  }
  return at;
}

static leati_point point_of(const leati_submission *submission) {
  return (leati_point){.counter = submission->counter,
                       .value = atomic_load_explicit(&submission->counter_value, memory_order_acquire)};
}

static bool has_run(const leati_submission *submission) {
  const leati_point point = point_of(submission);
  return point.value != 0 && leati_counter_has(point.counter, point.value);
}

bool leati_timeline_locate(leati_timeline *timeline, uint64_t value, leati_point *out) {
  leati_mutex_lock(&timeline->lock);
  /* Of a value that has passed, what is listed came later. */
  const bool passed = value != 0 && value <= atomic_load_explicit(&timeline->completed, memory_order_relaxed);
  const leati_submission *const at = passed ? NULL : find(timeline, value);
  if (at != NULL) {
    *out = point_of(at);
  }
  leati_mutex_unlock(&timeline->lock);
  return at != NULL;
}

/* Value up to which everything listed has run, as far as is known, and whether some of it waited for other timelines.
 */
static uint64_t reached_by(leati_timeline *timeline, bool *out_waited) {
  *out_waited = false;
  leati_mutex_lock(&timeline->lock);
  uint64_t reached = atomic_load_explicit(&timeline->completed, memory_order_relaxed);
  for (const leati_submission *at = timeline->first; at != NULL && has_run(at); at = at->next) {
    reached = at->value;
    *out_waited = *out_waited || at->waited;
  }
  leati_mutex_unlock(&timeline->lock);
  return reached;
}

/* Makes the deliveries of everything that has run on any timeline. The submissions stay listed: who waits for their own
 * timeline must still see that they waited. */
static void deliver_all(leat_device *device) {
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    (void)leati_counter_poll(device, device->counters[i], NULL);
  }
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  for (; timeline != NULL; timeline = timeline->next) {
    if (atomic_load_explicit(&timeline->completed, memory_order_acquire) ==
        atomic_load_explicit(&timeline->promised, memory_order_acquire)) {
      continue;
    }
    leati_mutex_lock(&timeline->lock);
    for (leati_submission *at = timeline->first; at != NULL && has_run(at); at = at->next) {
      deliver(at);
    }
    leati_mutex_unlock(&timeline->lock);
  }
}

/* Retires what has run. What that waited for has run too: the other counters are read after this one, and their
 * downloads arrive before anybody is told of this value. */
static int32_t advance(leati_timeline *timeline, leat_error *err) {
  leati_point next;
  while (leati_timeline_locate(timeline, 0, &next) && next.value != 0) {
    LEATI_TRY(leati_counter_poll(timeline->device, next.counter, err));
    bool waited;
    const uint64_t reached = reached_by(timeline, &waited);
    if (reached == atomic_load_explicit(&timeline->completed, memory_order_acquire)) {
      break;
    }
    if (waited) {
      deliver_all(timeline->device);
    }
    retire(timeline, reached);
  }
  return LEAT_OK;
}

/* As leati_timeline_query(), of a value that is reached whatever was found there. */
static int32_t reach(leati_timeline *timeline, uint64_t value, leat_error *err) {
  if (atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value) {
    return LEAT_OK;
  }
  LEATI_TRY(advance(timeline, err));
  if (atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value) {
    return LEAT_OK;
  }
  if (atomic_load_explicit(&timeline->device->lost, memory_order_relaxed)) {
    return leati_fail(err, LEAT_ERROR_DEVICE_LOST,
                      "the device is lost (driver crash, reset or removal); work in flight is gone");
  }
  /* What was submitted before the failure still arrives; only what lies behind it never will. */
  if (leati_timeline_fails(timeline, value)) {
    return leati_fail_again(err, &timeline->failure);
  }
  return leati_fail(err, LEAT_ERROR_NOT_READY, "the work has not finished yet");
}

int32_t leati_timeline_query(leati_timeline *timeline, uint64_t value, leat_error *err) {
  LEATI_TRY(reach(timeline, value, err));
  return leati_timeline_flawed(timeline, value) ? leati_fail_again(err, &timeline->failure) : LEAT_OK;
}

void leati_timelines_retire(leat_device *device) {
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  for (; timeline != NULL; timeline = timeline->next) {
    (void)advance(timeline, NULL);
  }
}

bool leati_timeline_passed(leati_timeline *timeline, uint64_t value) {
  if (leati_timeline_fails(timeline, value)) {
    value = atomic_load_explicit(&timeline->failed_from, memory_order_acquire) - 1;
  }
  if (atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value ||
      atomic_load_explicit(&timeline->device->lost, memory_order_relaxed)) {
    return true;
  }
  if (!leati_mutex_try(&timeline->lock)) {
    return false;
  }
  const leati_submission *const at = find(timeline, value);
  const leati_point point = at != NULL ? point_of(at) : (leati_point){.value = 0};
  leati_mutex_unlock(&timeline->lock);
  if (at == NULL) {
    return atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value;
  }
  return point.value != 0 && leati_counter_poll(timeline->device, point.counter, NULL) == LEAT_OK &&
         leati_counter_has(point.counter, point.value);
}

/* Gives the free submissions of a timeline that was replaced to the one in its place, if it has failed, because it is
 * never used again. Any other keeps them for when it is taken again: the one in its place has needed its own before
 * these were free, and would gather one more each time. False: it lists something. */
static bool hand_over(leati_timeline *from, leati_timeline *to) {
  leati_mutex_lock(&from->lock);
  const bool empty = from->first == NULL;
  const bool failed = atomic_load_explicit(&from->failed, memory_order_relaxed) != LEAT_OK;
  leati_submission *list = empty && failed ? from->free : NULL;
  from->free = empty && failed ? NULL : from->free;
  leati_mutex_unlock(&from->lock);
  leati_mutex_lock(&to->lock);
  while (list != NULL) {
    leati_submission *const next = list->next;
    list->next = to->free;
    to->free = list;
    list = next;
  }
  leati_mutex_unlock(&to->lock);
  return empty;
}

/* Lets go of the oldest of the timelines that this one replaced. False: there is none, or it is not done. The oldest
 * first, because whoever waits for one in the middle finds those before it by its links. */
static bool settle_oldest(leati_timeline *timeline) {
  leati_timeline **last = &timeline->replaced;
  while (*last != NULL && (*last)->replaced != NULL) {
    last = &(*last)->replaced;
  }
  leati_timeline *const old = *last;
  if (old == NULL || reach(old, leati_timeline_last(old), NULL) != LEAT_OK || !hand_over(old, timeline)) {
    return false;
  }
  *last = NULL;
  if (atomic_load_explicit(&old->failed, memory_order_acquire) == LEAT_OK) {
    add_spare(old->device, old, old);
  }
  return true;
}

void leati_timeline_settle(leati_timeline *timeline) {
  while (settle_oldest(timeline)) {
  }
}
