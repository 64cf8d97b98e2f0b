/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <string.h>

#include "device.h"
#include "status.h"

/* A blocked wait looks up from time to time: another thread may have seen the device go. */
#define WAIT_SLICE_NS UINT64_C(50000000)
/* Clock reads are dear beside a counter read: a spinning wait reads the clock once in so many rounds. */
#define SPIN_ROUNDS_PER_CLOCK 16

static void destroy_submission(leat_device *device, leati_submission *submission) {
  if (submission->pool != VK_NULL_HANDLE) {
    device->vk.DestroyCommandPool(device->vk.handle, submission->pool, NULL);
  }
  leati_free(submission->deliveries);
  leati_free(submission);
}

int32_t leati_timeline_create(leat_device *device, leati_timeline **out, leat_error *err) {
  leati_timeline *const timeline = leati_calloc_line(sizeof(*timeline));
  if (timeline == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a timeline");
  }
  timeline->device = device;
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  const VkResult result = device->vk.CreateSemaphore(device->vk.handle, &info, NULL, &timeline->semaphore);
  if (result != VK_SUCCESS) {
    leati_free(timeline);
    return leati_device_fail(device, result, "vkCreateSemaphore", err);
  }
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
    destroy_submission(device, list);
    list = next;
  }
}

void leati_timeline_destroy(leati_timeline *timeline) {
  leat_device *const device = timeline->device;
  destroy_list(device, timeline->first);
  destroy_list(device, timeline->free);
  device->vk.DestroySemaphore(device->vk.handle, timeline->semaphore, NULL);
  leati_mutex_destroy(&timeline->lock);
  leati_free(timeline);
}

static int32_t make_submission(leat_device *device, leati_submission **out, leat_error *err) {
  leati_submission *const submission = leati_calloc(1, sizeof(*submission));
  if (submission == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a submission");
  }
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = device->physical->queue_family};
  VkResult result = device->vk.CreateCommandPool(device->vk.handle, &pool, NULL, &submission->pool);
  if (result != VK_SUCCESS) {
    leati_free(submission);
    return leati_device_fail(device, result, "vkCreateCommandPool", err);
  }
  const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = submission->pool,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
  result = device->vk.AllocateCommandBuffers(device->vk.handle, &commands, &submission->commands);
  if (result != VK_SUCCESS) {
    destroy_submission(device, submission);
    return leati_device_fail(device, result, "vkAllocateCommandBuffers", err);
  }
  *out = submission;
  return LEAT_OK;
}

int32_t leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err) {
  leat_device *const device = timeline->device;
  leati_mutex_lock(&timeline->lock);
  leati_submission *submission = timeline->free;
  if (submission != NULL) {
    timeline->free = submission->next;
  }
  leati_mutex_unlock(&timeline->lock);
  if (submission == NULL) {
    return make_submission(device, out, err);
  }
  const VkResult result = device->vk.ResetCommandPool(device->vk.handle, submission->pool, 0);
  if (result != VK_SUCCESS) {
    destroy_submission(device, submission);
    return leati_device_fail(device, result, "vkResetCommandPool", err);
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

void leati_timeline_push(leati_timeline *timeline, leati_submission *submission) {
  leati_mutex_lock(&timeline->lock);
  submission->next = NULL;
  submission->owner = timeline->owner;
  if (timeline->last != NULL) {
    timeline->last->next = submission;
  } else {
    timeline->first = submission;
  }
  timeline->last = submission;
  leati_mutex_unlock(&timeline->lock);
  atomic_store_explicit(&timeline->submitted, submission->value, memory_order_release);
}

/* Puts a submission back on the free list. `lock` held. */
static void recycle(leati_timeline *timeline, leati_submission *submission) {
  leati_staging_give(timeline->device, submission->chunks);
  submission->chunks = NULL;
  submission->delivery_count = 0;
  submission->waited = false;
  submission->next = timeline->free;
  timeline->free = submission;
}

void leati_timeline_drop(leati_timeline *timeline, leati_submission *submission) {
  leati_mutex_lock(&timeline->lock);
  recycle(timeline, submission);
  leati_mutex_unlock(&timeline->lock);
}

void leati_timeline_fail(leati_timeline *timeline, const leat_error *cause) {
  leati_mutex_lock(&timeline->lock);
  if (atomic_load_explicit(&timeline->failed, memory_order_relaxed) == LEAT_OK) {
    timeline->failure = *cause;
    timeline->failure.struct_size = sizeof(timeline->failure);
    atomic_store_explicit(&timeline->failed, cause->code, memory_order_release);
  }
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

void leati_timeline_watch(leati_timeline *timeline, uint64_t value, leati_watch *watch) {
  leati_timeline_unwatch(watch);
  leati_mutex_lock(&timeline->lock);
  watch->timeline = timeline;
  watch->value = value;
  watch->owner = timeline->owner;
  watch->next = timeline->watches;
  watch->link = &timeline->watches;
  if (watch->next != NULL) {
    watch->next->link = &watch->next;
  }
  timeline->watches = watch;
  leati_mutex_unlock(&timeline->lock);
}

void leati_timeline_abandon(leati_timeline *timeline) {
  while (timeline != NULL) {
    leati_timeline *const replaced = timeline->replaced;
    leati_mutex_lock(&timeline->lock);
    ++timeline->owner;
    timeline->replaced = NULL;
    drop_unwanted(timeline);
    leati_mutex_unlock(&timeline->lock);
    timeline = replaced;
  }
}

/* Makes the deliveries of a submission that has run. `lock` held. */
static void deliver(leati_submission *submission) {
  for (uint32_t i = 0; i < submission->delivery_count; ++i) {
    const leati_delivery *const delivery = &submission->deliveries[i];
    memcpy(delivery->to, delivery->from, delivery->size);
  }
  submission->delivery_count = 0;
}

/* Makes the deliveries of all submissions up to `reached` and takes them off the list. */
static void retire(leati_timeline *timeline, uint64_t reached) {
  leati_mutex_lock(&timeline->lock);
  while (timeline->first != NULL && timeline->first->value <= reached) {
    leati_submission *const done = timeline->first;
    timeline->first = done->next;
    if (timeline->first == NULL) {
      timeline->last = NULL;
    }
    deliver(done);
    recycle(timeline, done);
  }
  if (atomic_load_explicit(&timeline->completed, memory_order_relaxed) < reached) {
    atomic_store_explicit(&timeline->completed, reached, memory_order_release);
  }
  leati_mutex_unlock(&timeline->lock);
}

/* Reads the semaphore, but not beyond what is listed: a submission may have run before the submitting thread comes to
 * list it, and its deliveries would be passed over. */
static int32_t read_counter(leati_timeline *timeline, uint64_t *out_reached, leat_error *err) {
  leat_device *const device = timeline->device;
  VkResult result = device->vk.GetSemaphoreCounterValue(device->vk.handle, timeline->semaphore, out_reached);
  /* Some drivers signal everything when the device goes; no value of ours is this high. */
  if (result == VK_SUCCESS && *out_reached == UINT64_MAX) {
    result = VK_ERROR_DEVICE_LOST;
  }
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkGetSemaphoreCounterValue", err);
  }
  const uint64_t submitted = atomic_load_explicit(&timeline->submitted, memory_order_acquire);
  *out_reached = *out_reached < submitted ? *out_reached : submitted;
  return LEAT_OK;
}

/* Whether a submission up to `reached` waited for other timelines. */
static bool waited_up_to(leati_timeline *timeline, uint64_t reached) {
  bool waited = false;
  leati_mutex_lock(&timeline->lock);
  for (const leati_submission *at = timeline->first; at != NULL && at->value <= reached && !waited; at = at->next) {
    waited = at->waited;
  }
  leati_mutex_unlock(&timeline->lock);
  return waited;
}

/* Makes the deliveries of everything that has run on any timeline. The submissions stay listed: who waits for their own
 * timeline must still see that they waited. */
static void deliver_all(leat_device *device) {
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  for (; timeline != NULL; timeline = timeline->next) {
    uint64_t reached;
    if (atomic_load_explicit(&timeline->completed, memory_order_acquire) ==
            atomic_load_explicit(&timeline->submitted, memory_order_acquire) ||
        read_counter(timeline, &reached, NULL) != LEAT_OK) {
      continue;
    }
    leati_mutex_lock(&timeline->lock);
    for (leati_submission *at = timeline->first; at != NULL && at->value <= reached; at = at->next) {
      deliver(at);
    }
    leati_mutex_unlock(&timeline->lock);
  }
}

/* Reads the semaphore and retires what it has passed. What that waited for has run too: the other semaphores are read
 * after this one, and their downloads arrive before anybody is told of this value. */
static int32_t advance(leati_timeline *timeline, leat_error *err) {
  uint64_t reached;
  LEATI_TRY(read_counter(timeline, &reached, err));
  if (reached > atomic_load_explicit(&timeline->completed, memory_order_acquire)) {
    if (waited_up_to(timeline, reached)) {
      deliver_all(timeline->device);
    }
    retire(timeline, reached);
  }
  return LEAT_OK;
}

static int32_t lost(leat_error *err) {
  return leati_fail(err, LEAT_ERROR_DEVICE_LOST,
                    "the device is lost (driver crash, reset or removal); work in flight is gone");
}

int32_t leati_timeline_query(leati_timeline *timeline, uint64_t value, leat_error *err) {
  if (atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value) {
    return LEAT_OK;
  }
  LEATI_TRY(advance(timeline, err));
  if (atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value) {
    return LEAT_OK;
  }
  if (atomic_load_explicit(&timeline->device->lost, memory_order_relaxed)) {
    return lost(err);
  }
  /* What was submitted before the failure still arrives; only what lies behind it never will. */
  if (atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK &&
      value > atomic_load_explicit(&timeline->submitted, memory_order_acquire)) {
    return leati_fail_again(err, &timeline->failure);
  }
  return leati_fail(err, LEAT_ERROR_NOT_READY, "the work has not finished yet");
}

int32_t leati_timeline_wait(leati_timeline *timeline, uint64_t value, int64_t timeout_ns, leat_error *err) {
  leat_device *const device = timeline->device;
  int32_t status = leati_timeline_query(timeline, value, err);
  if (status != LEAT_ERROR_NOT_READY) {
    return status;
  }
  const uint64_t start = leati_now_ns();
  const uint64_t limit = timeout_ns < 0 ? UINT64_MAX : (uint64_t)timeout_ns;
  const uint64_t spin = device->spin_ns < limit ? device->spin_ns : limit;
  uint64_t elapsed = 0;
  while (elapsed < spin) {
    for (int i = 0; i < SPIN_ROUNDS_PER_CLOCK; ++i) {
      status = leati_timeline_query(timeline, value, err);
      if (status != LEAT_ERROR_NOT_READY) {
        return status;
      }
      leati_spin_pause();
    }
    elapsed = leati_now_ns() - start;
  }
  while (elapsed < limit) {
    const uint64_t left = limit - elapsed;
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline->semaphore,
                                      .pValues = &value};
    const VkResult result =
        device->vk.WaitSemaphores(device->vk.handle, &info, left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS);
    if (result != VK_SUCCESS && result != VK_TIMEOUT) {
      return leati_device_fail(device, result, "vkWaitSemaphores", err);
    }
    status = leati_timeline_query(timeline, value, err);
    if (status != LEAT_ERROR_NOT_READY) {
      return status;
    }
    elapsed = leati_now_ns() - start;
  }
  return leati_fail(err, LEAT_ERROR_TIMEOUT, "the work has not finished after %llu ms",
                    (unsigned long long)(elapsed / 1000000u));
}

int leati_timeline_passed(leati_timeline *timeline, uint64_t value) {
  if (atomic_load_explicit(&timeline->completed, memory_order_acquire) >= value) {
    return 1;
  }
  /* In this order: nothing is submitted after the failure, so the number read then is the last one. */
  if (atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK) {
    const uint64_t submitted = atomic_load_explicit(&timeline->submitted, memory_order_acquire);
    value = value < submitted ? value : submitted;
  }
  if (atomic_load_explicit(&timeline->device->lost, memory_order_relaxed)) {
    return 1;
  }
  uint64_t reached;
  return timeline->device->vk.GetSemaphoreCounterValue(timeline->device->vk.handle, timeline->semaphore, &reached) ==
             VK_SUCCESS &&
         reached >= value;
}
