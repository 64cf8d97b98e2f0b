/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores, and all that waits. */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nulldriver/instance.h"
#include "nulldriver/queue.h"
#include "nulldriver/races.h"
#include "nulldriver/sharing.h"

/* nd_now_ns() in `timeout_ns`; for ever where that has no end. */
static uint64_t deadline_of(uint64_t timeout_ns) {
  const uint64_t now = nd_now_ns();
  return timeout_ns >= UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

VkResult nd_CreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *host,
                            VkSemaphore *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateSemaphore, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  const VkSemaphoreTypeCreateInfo *type = NULL;
  VkExternalSemaphoreHandleTypeFlags exported = 0;
  for (const VkBaseInStructure *next = info->pNext; next != NULL; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) {
      type = (const VkSemaphoreTypeCreateInfo *)next;
    } else if (next->sType == VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO) {
      exported = ((const VkExportSemaphoreCreateInfo *)next)->handleTypes;
    }
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  const bool binary = type == NULL || type->semaphoreType == VK_SEMAPHORE_TYPE_BINARY;
  if (binary ? exported != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT
             : exported != 0 && exported != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) {
    nd_violation(call.name, "this driver knows timeline semaphores and binary ones that become sync files only");
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  nd_semaphore *const semaphore = d == NULL ? NULL : nd_object_create(NULLDRIVER_SEMAPHORE, sizeof(*semaphore), d);
  if (semaphore == NULL) {
    return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  semaphore->counter = &semaphore->own;
  semaphore->binary = binary;
  semaphore->fd = -1;
  if (!binary && exported != 0) {
    nd_counter *const counter = nd_shared_create(sizeof(*counter), &semaphore->fd);
    if (counter == NULL) {
      nd_object_destroy(call.name, &semaphore->object);
      return nd_leave(&call, VK_ERROR_TOO_MANY_OBJECTS);
    }
    semaphore->counter = counter;
  }
  semaphore->counter->value = semaphore->counter->promised = binary ? 0 : type->initialValue;
  *out = ND_HANDLE(VkSemaphore, semaphore);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_semaphore_finish(nd_semaphore *semaphore) {
  if (!semaphore->binary && semaphore->fd >= 0) {
    (void)close(semaphore->fd);
  }
  if (semaphore->counter != &semaphore->own) {
    nd_shared_close(semaphore->counter, sizeof(*semaphore->counter));
  }
}

void nd_DestroySemaphore(VkDevice device, VkSemaphore semaphore, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroySemaphore, device, NULLDRIVER_SEMAPHORE, ND_NUMBER(semaphore));
}

VkResult nd_GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t *out) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_GetSemaphoreCounterValue, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_semaphore *const s = nd_object_find(call.name, NULLDRIVER_SEMAPHORE, ND_NUMBER(semaphore));
  if (d == NULL || s == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  nd_object_use(&s->object);
  nd_look(d);
  *out = s->counter->value;
  nd_races_after(s);
  nd_object_unuse(&s->object);
  return nd_leave(&call, d->lost ? nd_device_lost(d) : VK_SUCCESS);
}

VkResult nd_SignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo *info) {
  (void)device;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_SignalSemaphore, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_semaphore *const s = nd_object_find(call.name, NULLDRIVER_SEMAPHORE, ND_NUMBER(info->semaphore));
  if (s == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  if (s->binary || info->value <= s->counter->value) {
    nd_violation(call.name, "value %llu does not rise above %llu", (unsigned long long)info->value,
                 (unsigned long long)s->counter->value);
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  s->counter->value = info->value;
  if (s->counter->promised < info->value) {
    s->counter->promised = info->value;
  }
  nd_wake();
  return nd_leave(&call, VK_SUCCESS);
}

VkResult nd_ImportSemaphoreFdKHR(VkDevice device, const VkImportSemaphoreFdInfoKHR *info) {
  (void)device;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_ImportSemaphoreFdKHR, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_semaphore *const s = nd_object_find_to_change(call.name, NULLDRIVER_SEMAPHORE, ND_NUMBER(info->semaphore));
  if (s == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  if (s->binary || s->counter != &s->own || info->flags != 0 ||
      info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) {
    nd_violation(call.name, "this driver imports opaque descriptors for good into timeline semaphores of its own");
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  nd_counter *const counter = nd_shared_open(info->fd, sizeof(*counter));
  if (counter == NULL) {
    return nd_leave(&call, VK_ERROR_INVALID_EXTERNAL_HANDLE);
  }
  s->counter = counter;
  (void)close(info->fd);
  return nd_leave(&call, VK_SUCCESS);
}

/* Another descriptor of what the semaphore is shared by. */
static VkResult share(const char *function, const nd_semaphore *semaphore, int *out) {
  if (semaphore->binary || semaphore->fd < 0) {
    nd_violation(function, "the semaphore was not made to be shared by opaque descriptors");
    return VK_ERROR_UNKNOWN;
  }
  *out = fcntl(semaphore->fd, F_DUPFD_CLOEXEC, 0);
  return *out < 0 ? VK_ERROR_TOO_MANY_OBJECTS : VK_SUCCESS;
}

VkResult nd_GetSemaphoreFdKHR(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *out) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_GetSemaphoreFdKHR, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_semaphore *const s = nd_object_find(call.name, NULLDRIVER_SEMAPHORE, ND_NUMBER(info->semaphore));
  if (d == NULL || s == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  if (info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) {
    return nd_leave(&call, share(call.name, s, out));
  }
  if (!s->binary || s->own.promised == 0 || s->fd >= 0 ||
      info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT) {
    nd_violation(call.name, "the semaphore is not one that becomes a sync file, or nobody has submitted its signal");
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  *out = -1;
  if (s->own.value != 0 || d->lost) {
    s->own.value = s->own.promised = 0;
    return nd_leave(&call, VK_SUCCESS);
  }
  const int fd = eventfd(0, EFD_NONBLOCK);
  s->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (s->fd < 0) {
    (void)close(fd);
    return nd_leave(&call, VK_ERROR_TOO_MANY_OBJECTS);
  }
  *out = fd;
  return nd_leave(&call, VK_SUCCESS);
}

void nd_semaphore_release(nd_semaphore *semaphore) {
  if (semaphore->binary && semaphore->fd >= 0) {
    (void)eventfd_write(semaphore->fd, 1);
    (void)close(semaphore->fd);
    semaphore->fd = -1;
    semaphore->own.value = semaphore->own.promised = 0;
  }
}

/* Semaphores that are waited for. */
typedef struct wanted {
  const VkSemaphoreWaitInfo *info;
  bool any;
} wanted;

static bool reached(void *context) {
  const wanted *const w = context;
  uint32_t count = 0;
  for (uint32_t i = 0; i < w->info->semaphoreCount; ++i) {
    const nd_semaphore *const s = nd_object_peek(NULLDRIVER_SEMAPHORE, ND_NUMBER(w->info->pSemaphores[i]));
    count += s != NULL && s->counter->value >= w->info->pValues[i] ? 1 : 0;
  }
  return w->any ? count != 0 : count == w->info->semaphoreCount;
}

VkResult nd_WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_WaitSemaphores, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  bool all_there = d != NULL;
  for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
    all_there = nd_object_find(call.name, NULLDRIVER_SEMAPHORE, ND_NUMBER(info->pSemaphores[i])) != NULL && all_there;
  }
  if (!all_there) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  wanted w = {.info = info, .any = (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0};
  const VkResult result = nd_wait(d, reached, &w, deadline_of(timeout));
  for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
    nd_semaphore *const s = nd_object_find(call.name, NULLDRIVER_SEMAPHORE, ND_NUMBER(info->pSemaphores[i]));
    if (s != NULL && s->counter->value >= info->pValues[i]) {
      nd_races_after(s);
    }
  }
  return nd_leave(&call, result);
}

/* Whether a queue is empty; the context is the queue. */
static bool queue_idle(void *queue) {
  return ((const nd_queue *)queue)->first == NULL;
}

VkResult nd_QueueWaitIdle(VkQueue queue) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_QueueWaitIdle, ND_NUMBER(queue), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_queue *const q = nd_object_find(call.name, NULLDRIVER_QUEUE, ND_NUMBER(queue));
  if (q == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  const VkResult result = nd_wait(q->object.device, queue_idle, q, UINT64_MAX);
  nd_races_after(q);
  return nd_leave(&call, result);
}

/* vkDeviceWaitIdle wants all queues for itself. */
static uint32_t queues_of(VkDevice device, uint64_t out[ND_QUEUES_MAX]) {
  nd_lock();
  const nd_device *const d = nd_object_peek(NULLDRIVER_DEVICE, ND_NUMBER(device));
  const uint32_t count = d == NULL ? 0 : d->queue_count;
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = d->queues[i]->object.handle;
  }
  nd_unlock();
  return count;
}

VkResult nd_DeviceWaitIdle(VkDevice device) {
  uint64_t queues[ND_QUEUES_MAX];
  uint32_t guards[ND_QUEUES_MAX];
  uint32_t guard_count = 0;
  const uint32_t queue_count = queues_of(device, queues);
  for (uint32_t i = 0; i < queue_count; ++i) {
    guard_count += nd_guard_enter("vkDeviceWaitIdle", queues[i], &guards[guard_count]) ? 1 : 0;
  }
  nd_call call;
  VkResult result = nd_enter(&call, ND_DeviceWaitIdle, 0, 0);
  if (result == VK_SUCCESS) {
    nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
    result = d == NULL ? VK_ERROR_UNKNOWN : nd_wait(d, nd_device_idle, d, UINT64_MAX);
    for (uint32_t i = 0; d != NULL && i < d->queue_count; ++i) {
      nd_races_after(d->queues[i]);
    }
    (void)nd_leave(&call, result);
  }
  while (guard_count != 0) {
    nd_guard_leave(guards[--guard_count]);
  }
  return result;
}
