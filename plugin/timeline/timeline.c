/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/timeline.h"

#include <string.h>

#include "core/array.h"
#include "core/copy.h"
#include "core/gate.h"
#include "core/status.h"
#include "device/device.h"
#include "policy/allocation.h"

void leati_timelines_create(leat_device *device) {
  leati_mutex_init(&device->free_timelines_lock, LEATI_RANK_FREE_TIMELINES);
}

static void add_free(leati_timeline *timeline) {
  leat_device *const device = timeline->device;
  leati_mutex_lock(&device->free_timelines_lock);
  timeline->next_free = device->free_timelines;
  device->free_timelines = timeline;
  leati_mutex_unlock(&device->free_timelines_lock);
}

/* Takes a spare timeline, or NULL. */
static leati_timeline *take_free(leat_device *device) {
  leati_mutex_lock(&device->free_timelines_lock);
  leati_timeline *const spare = device->free_timelines;
  if (spare != NULL) {
    device->free_timelines = spare->next_free;
  }
  leati_mutex_unlock(&device->free_timelines_lock);
  return spare;
}

int32_t leati_timeline_take(leat_device *device, leati_timeline **out, leat_error *err) {
  *out = take_free(device);
  if (*out != NULL) {
    return LEAT_OK;
  }
  leati_timeline *const timeline = leati_calloc_line(sizeof(*timeline));
  if (timeline == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a timeline");
  }
  timeline->device = device;
  leati_mutex_init(&timeline->deliveries, LEATI_RANK_DELIVERIES);
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
    leati_chunks_give(device, list->chunks);
    leati_free(list->commands);
    leati_free(list->deliveries);
    leati_free(list->checks);
    leati_free(list->profile);
    leati_free(list);
    list = next;
  }
}

void leati_timelines_destroy(leat_device *device) {
  leati_timeline *timeline = atomic_exchange_explicit(&device->timelines, NULL, memory_order_acquire);
  while (timeline != NULL) {
    leati_timeline *const next = timeline->next;
    destroy_list(device, timeline->first);
    destroy_list(device, timeline->free);
    leati_mutex_destroy(&timeline->lock);
    leati_mutex_destroy(&timeline->deliveries);
    leati_free(timeline);
    timeline = next;
  }
  device->free_timelines = NULL;
  leati_mutex_destroy(&device->free_timelines_lock);
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
  LEATI_TRY(leati_array_room(&submission->deliveries, submission->delivery_count, &submission->delivery_capacity,
                             sizeof(*submission->deliveries), 4, "a download", err));
  submission->deliveries[submission->delivery_count++] = (leati_delivery){.to = to, .from = from, .size = size};
  return LEAT_OK;
}

int32_t leati_submission_check(leati_submission *submission, const leati_check *check, leat_error *err) {
  LEATI_TRY(leati_array_room(&submission->checks, submission->check_count, &submission->check_capacity,
                             sizeof(*submission->checks), 16, "what a kernel finds", err));
  submission->checks[submission->check_count++] = *check;
  return LEAT_OK;
}

void leati_timeline_push(leati_timeline *timeline, leati_submission *submission) {
  submission->next = NULL;
  submission->timeline = timeline;
  submission->owner = timeline->owner;
  atomic_store_explicit(&submission->semaphore_value, 0, memory_order_relaxed);
  if (timeline->last != NULL) {
    timeline->last->next = submission;
  } else {
    timeline->first = submission;
  }
  timeline->last = submission;
  atomic_store_explicit(&timeline->promised, submission->value, memory_order_release);
}

/* Puts a submission back on the free list. `lock` held. */
static void recycle(leati_timeline *timeline, leati_submission *submission) LEATI_HOLDS(timeline->lock) {
  leati_chunks_give(timeline->device, submission->chunks);
  submission->chunks = NULL;
  submission->command_count = 0;
  submission->barrier_count = 0;
  submission->work_us = 0;
  submission->to_host = 0;
  submission->delivery_count = 0;
  submission->check_count = 0;
  submission->piece = false;
  leati_external_point_clear(&submission->external_wait);
  leati_external_point_clear(&submission->external_signal);
  /* If there is one still, the list never ran, or in parts, which have their own. */
  leati_free(submission->profile);
  submission->profile = NULL;
  submission->next = timeline->free;
  timeline->free = submission;
}

void leati_timeline_drop(leati_timeline *timeline, leati_submission *submission) {
  leati_mutex_lock(&timeline->lock);
  recycle(timeline, submission);
  leati_mutex_unlock(&timeline->lock);
}

bool leati_timeline_fails(const leati_timeline *timeline, uint64_t value) {
  return atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK &&
         value >= atomic_load_explicit(&timeline->failed_from, memory_order_acquire);
}

bool leati_timeline_flawed(const leati_timeline *timeline, uint64_t value) {
  return atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK &&
         value >= atomic_load_explicit(&timeline->flawed_from, memory_order_acquire);
}

/* Whether a thread that waits for a value is given the timeline's failure. */
static bool gives_failure(const leati_timeline *timeline, uint64_t value) {
  return leati_timeline_fails(timeline, value) || leati_timeline_flawed(timeline, value);
}

int32_t leati_timeline_failure(leati_timeline *timeline, uint64_t value, leat_error *err) {
  if (!gives_failure(timeline, value)) {
    return LEAT_OK;
  }
  /* It may be another stream's by now, and fail there. */
  leati_mutex_lock(&timeline->lock);
  const int32_t status = gives_failure(timeline, value) ? leati_fail_again(err, &timeline->failure) : LEAT_OK;
  leati_mutex_unlock(&timeline->lock);
  return status;
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
static void note_failure(leati_timeline *timeline, uint64_t from, uint64_t flawed, const leat_error *cause)
    LEATI_HOLDS(timeline->lock) {
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

void leati_timeline_break_off(leati_submission *submission, const leat_error *cause) {
  leati_timeline *const timeline = submission->timeline;
  leati_mutex_lock(&timeline->lock);
  note_failure(timeline, submission->value + 1, submission->value, cause);
  submission->delivery_count = submission->check_count = 0;
  leati_mutex_unlock(&timeline->lock);
}

void leati_timeline_end(leati_timeline *timeline) {
  leati_mutex_lock(&timeline->lock);
  if (atomic_load_explicit(&timeline->failed, memory_order_relaxed) != LEAT_OK) {
    lower_to(&timeline->failed_from, atomic_load_explicit(&timeline->promised, memory_order_relaxed) + 1);
  }
  leati_mutex_unlock(&timeline->lock);
}

/* Forgets the deliveries that nobody can ask for any more. True: one of them is being copied, so await_copy() must
 * follow, because whoever forgets it may free where it goes. `lock` held. */
static bool drop_unwanted(leati_timeline *timeline) LEATI_HOLDS(timeline->lock) {
  bool copied = false;
  for (leati_submission *at = timeline->first; at != NULL && at->owner != timeline->owner; at = at->next) {
    bool wanted = at->delivery_count == 0;
    for (const leati_watch *watch = timeline->watches; watch != NULL && !wanted; watch = watch->next) {
      wanted = watch->owner == at->owner && watch->value >= at->value;
    }
    if (!wanted) {
      at->delivery_count = 0;
      copied = copied || at == timeline->copied;
    }
  }
  return copied;
}

/* Waits until the thread that makes deliveries has done so. It needs no lock of the caller's. */
static void await_copy(leati_timeline *timeline) {
  leati_mutex_lock(&timeline->deliveries);
  leati_mutex_unlock(&timeline->deliveries);
}

/* Whether a live event stands for what was lost. `lock` held. */
static bool tells_of_loss(const leati_timeline *timeline) LEATI_HOLDS(timeline->lock) {
  bool tells = false;
  for (const leati_watch *watch = timeline->watches; watch != NULL && !tells; watch = watch->next) {
    tells = gives_failure(timeline, watch->value);
  }
  return tells;
}

/* Lets a timeline that no stream has count on behind what was lost on it. The list that was open then may have been
 * lost too, and its value stamped. `lock` held. */
static void count_on(leati_timeline *timeline) LEATI_HOLDS(timeline->lock) {
  if (atomic_load_explicit(&timeline->failed, memory_order_relaxed) == LEAT_OK) {
    return;
  }
  const uint64_t lost = atomic_load_explicit(&timeline->promised, memory_order_relaxed) + 1;
  atomic_store_explicit(&timeline->promised, lost, memory_order_release);
  /* In this order: a thread that sees no failure any more sees that value. */
  atomic_store_explicit(&timeline->completed, lost, memory_order_release);
  atomic_store_explicit(&timeline->failed, LEAT_OK, memory_order_release);
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
  const bool copied = drop_unwanted(timeline);
  const bool spare = timeline->left && !tells_of_loss(timeline);
  if (spare) {
    timeline->left = false;
    count_on(timeline);
  }
  leati_mutex_unlock(&timeline->lock);
  if (copied) {
    await_copy(timeline);
  }
  if (spare) {
    add_free(timeline);
  }
}

/* Lists a watch. `lock` held. */
static void list_watch(leati_timeline *timeline, leati_watch *watch) LEATI_HOLDS(timeline->lock) {
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
    const bool copied = drop_unwanted(timeline);
    leati_mutex_unlock(&timeline->lock);
    if (copied) {
      await_copy(timeline);
    }
    timeline = replaced;
  }
}

void leati_timeline_add_waits(leati_timeline *timeline, leati_point waits[LEATI_LANES_MAX]) {
  leati_mutex_lock(&timeline->lock);
  for (const leati_submission *at = timeline->first; at != NULL; at = at->next) {
    const bool taken = atomic_load_explicit(&at->semaphore_value, memory_order_acquire) != 0;
    for (uint32_t i = 0; i < LEATI_LANES_MAX && !taken; ++i) {
      waits[i] = waits[i].value < at->waits[i].value ? at->waits[i] : waits[i];
    }
  }
  leati_mutex_unlock(&timeline->lock);
}

/* Makes the deliveries of a submission that has run. Large ones are copied without `lock`: the submission stays listed
 * and as it is meanwhile, but what is left of its deliveries may be forgotten. `deliveries` and `lock` held. */
static void deliver(leati_timeline *timeline, leati_submission *submission)
    LEATI_HOLDS(timeline->deliveries, timeline->lock) {
  for (uint32_t i = 0; i < submission->delivery_count; ++i) {
    const leati_delivery delivery = submission->deliveries[i];
    if (leati_delivery_is_small(delivery.size)) {
      memcpy(delivery.to, delivery.from, delivery.size);
      continue;
    }
    timeline->copied = submission;
    leati_mutex_unlock(&timeline->lock);
    if (leati_delivery_is_huge(delivery.size)) {
      leati_copy_past_caches(delivery.to, delivery.from, delivery.size);
    } else {
      memcpy(delivery.to, delivery.from, delivery.size);
    }
    leati_mutex_lock(&timeline->lock);
    timeline->copied = NULL;
  }
  submission->delivery_count = 0;
}

/* Looks at what the kernels of a submission that has run have found, which fails the stream. If its stream is gone, the
 * finding is left in `unheard`. `lock` held. */
static void look(leati_timeline *timeline, const leati_submission *done, leat_error *unheard)
    LEATI_HOLDS(timeline->lock) {
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
  leati_mutex_lock(&timeline->deliveries);
  leati_mutex_lock(&timeline->lock);
  while (timeline->first != NULL && timeline->first->value <= reached) {
    leati_submission *const done = timeline->first;
    deliver(timeline, done);
    timeline->first = done->next;
    if (timeline->first == NULL) {
      timeline->last = NULL;
    }
    look(timeline, done, &unheard);
    recycle(timeline, done);
  }
  if (atomic_load_explicit(&timeline->completed, memory_order_relaxed) < reached) {
    atomic_store_explicit(&timeline->completed, reached, memory_order_release);
  }
  leati_mutex_unlock(&timeline->lock);
  leati_mutex_unlock(&timeline->deliveries);
  if (unheard.code != LEAT_OK) {
    leati_finding_keep(timeline->device, &unheard);
  }
  leati_gate_register(LEATI_GATE_WORKED);
}

/* The first listed submission that covers `value`, or NULL. `lock` held. */
static const leati_submission *find(const leati_timeline *timeline, uint64_t value) LEATI_HOLDS(timeline->lock) {
  const leati_submission *at = timeline->first;
  while (at != NULL && at->value < value) {
    at = at->next;
  }
  return at;
}

static leati_point point_of(const leati_submission *submission) {
  return (leati_point){.semaphore = submission->semaphore,
                       .value = atomic_load_explicit(&submission->semaphore_value, memory_order_acquire)};
}

static bool has_run(const leati_submission *submission) {
  const leati_point point = point_of(submission);
  return point.value != 0 && leati_semaphore_has(point.semaphore, point.value);
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

leati_point leati_timeline_next_delivery(leati_timeline *timeline, uint64_t value) {
  leati_mutex_lock(&timeline->lock);
  const leati_submission *at = timeline->first;
  while (at != NULL && at->value < value && at->delivery_count == 0) {
    at = at->next;
  }
  const leati_point next = at != NULL && at->value < value ? point_of(at) : (leati_point){.value = 0};
  leati_mutex_unlock(&timeline->lock);
  return next;
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

/* The first submission of a timeline that has run and has deliveries to make, or NULL. `lock` held. */
static leati_submission *find_due(const leati_timeline *timeline) LEATI_HOLDS(timeline->lock) {
  for (leati_submission *at = timeline->first; at != NULL && has_run(at); at = at->next) {
    if (at->delivery_count != 0) {
      return at;
    }
  }
  return NULL;
}

/* The timeline of which deliveries are to be made next, so that of two to one place the later one stays, and the order
 * of their submission; NULL: there are none to make. */
static leati_timeline *next_due(leat_device *device, uint64_t *out_order) {
  leati_timeline *next = NULL;
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  for (; timeline != NULL; timeline = timeline->next) {
    if (atomic_load_explicit(&timeline->completed, memory_order_acquire) ==
        atomic_load_explicit(&timeline->promised, memory_order_acquire)) {
      continue;
    }
    leati_mutex_lock(&timeline->lock);
    const leati_submission *const due = find_due(timeline);
    if (due != NULL && (next == NULL || due->order < *out_order)) {
      *out_order = due->order;
      next = timeline;
    }
    leati_mutex_unlock(&timeline->lock);
  }
  return next;
}

/* Makes the deliveries of everything that has run on any timeline, in order. The submissions stay listed: a thread that
 * waits for its own timeline must still see that they waited. */
static void deliver_all(leat_device *device) {
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    (void)leati_semaphore_poll(device, device->semaphores[i], NULL);
  }
  uint64_t order = 0;
  for (leati_timeline *next = next_due(device, &order); next != NULL; next = next_due(device, &order)) {
    leati_mutex_lock(&next->deliveries);
    leati_mutex_lock(&next->lock);
    /* Another thread may have made them meanwhile; what comes then may not be next. */
    leati_submission *const due = find_due(next);
    if (due != NULL && due->order == order) {
      deliver(next, due);
    }
    leati_mutex_unlock(&next->lock);
    leati_mutex_unlock(&next->deliveries);
  }
}

/* Retires what has run. What that waited for has run too: the other timeline semaphores are read after this one, and
 * their downloads arrive before anybody is told of this value. */
static int32_t advance(leati_timeline *timeline, leat_error *err) {
  leati_point next;
  while (leati_timeline_locate(timeline, 0, &next) && next.value != 0) {
    LEATI_TRY(leati_semaphore_poll(timeline->device, next.semaphore, err));
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
    LEATI_TRY(leati_timeline_failure(timeline, value, err));
  }
  /* One that counts on behind a failure has reached all that came before. */
  return atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value ? LEAT_OK : LEAT_ERROR_NOT_READY;
}

int32_t leati_timeline_query(leati_timeline *timeline, uint64_t value, leat_error *err) {
  LEATI_TRY(reach(timeline, value, err));
  return leati_timeline_failure(timeline, value, err);
}

int32_t leati_timeline_answer(leati_timeline *timeline, uint64_t value, leat_error *err) {
  const int32_t status = leati_timeline_query(timeline, value, err);
  return status == LEAT_ERROR_NOT_READY ? leati_fail(err, status, "the work has not finished yet") : status;
}

void leati_timeline_advance(leati_timeline *timeline) {
  (void)advance(timeline, NULL);
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
  return point.value != 0 && leati_semaphore_poll(timeline->device, point.semaphore, NULL) == LEAT_OK &&
         leati_semaphore_has(point.semaphore, point.value);
}

/* Lets a replaced timeline go if nothing of it is listed. One that has failed stays while a thread keeps it; and while
 * an event tells of the loss and it has replaced others, which those find by its link who wait for that event. With an
 * event it is spare when that has gone. The lock of the stream that had it is held. */
static bool let_go(leati_timeline *old) {
  leati_mutex_lock(&old->lock);
  const bool failed = atomic_load_explicit(&old->failed, memory_order_relaxed) != LEAT_OK;
  const bool tells = failed && tells_of_loss(old);
  const bool goes = old->first == NULL && !(failed && atomic_load_explicit(&old->keepers, memory_order_acquire) != 0) &&
                    !(tells && old->replaced != NULL);
  if (goes && !tells) {
    old->replaced = NULL;
    count_on(old);
  }
  old->left = goes && tells;
  leati_mutex_unlock(&old->lock);
  if (goes && !tells) {
    add_free(old);
  }
  return goes;
}

/* Goes once through the timelines that this one replaced. True: the oldest has gone, and there is another one now. Only
 * of the oldest the downloads are made, so that of two to one place the later one stays. */
static bool settle_once(leati_timeline *timeline) {
  bool gone = false;
  for (leati_timeline **at = &timeline->replaced; *at != NULL;) {
    leati_timeline *const old = *at, *const before = old->replaced;
    if (before == NULL) {
      (void)reach(old, leati_timeline_last(old), NULL);
    }
    gone = let_go(old);
    if (gone) {
      *at = before;
    } else {
      at = &old->replaced;
    }
  }
  return gone && timeline->replaced != NULL;
}

void leati_timeline_settle(leati_timeline *timeline) {
  while (settle_once(timeline)) {
  }
}
