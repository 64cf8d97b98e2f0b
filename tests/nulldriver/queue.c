/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/queue.h"

#include <sched.h>

#include "nulldriver/races.h"

/* All guarded by the driver's lock. */
static nd_device *devices; /* linked by `next` */
static uint64_t submissions;
static uint64_t random_state = 1;

static uint64_t draw(uint64_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return below == 0 ? 0 : random_state % below;
}

/* ---- One submission ------------------------------------------------------------------------------------------------
 */

static bool is_ready(const nd_queue *queue) {
  const nd_job *const job = queue->first;
  if (job == NULL || queue->running || queue->object.device->lost) {
    return false;
  }
  for (uint32_t i = 0; i < job->wait_count; ++i) {
    if (job->waits[i].semaphore->counter->value < job->waits[i].value) {
      return false;
    }
  }
  return true;
}

static void pop(nd_queue *queue) {
  nd_job *const job = queue->first;
  queue->first = job->next;
  if (queue->first == NULL) {
    queue->last = NULL;
  }
  nd_job_destroy(job);
}

/* Runs and completes the first submission of a queue, which is ready, on this thread. Lock held, given away meanwhile.
 */
static void run_first(nd_queue *queue) {
  nd_job *const job = queue->first;
  queue->running = true;
  nd_races_after(job);
  nd_races_after(queue);
  for (uint32_t i = 0; i < job->wait_count; ++i) {
    nd_races_after(job->waits[i].semaphore);
  }
  nd_races_unseen();
  nd_unlock();
  nd_job_execute(job);
  nd_lock();
  nd_races_seen();
  queue->running = false;
  for (uint32_t i = 0; i < job->signal_count && !queue->object.device->lost; ++i) {
    nd_counter *const counter = job->signals[i].semaphore->counter;
    if (job->signals[i].value <= counter->value) {
      nd_violation("a queue", "signal %u of value %llu does not rise above %llu", i,
                   (unsigned long long)job->signals[i].value, (unsigned long long)counter->value);
    }
    counter->value = job->signals[i].value;
    nd_races_before(job->signals[i].semaphore);
  }
  nd_races_before(queue);
  pop(queue);
  nd_wake();
}

/* The ready queue whose first submission is the oldest; of a device, or NULL: of any. */
static nd_queue *oldest_ready(const nd_device *only) {
  nd_queue *oldest = NULL;
  for (const nd_device *device = devices; device != NULL; device = device->next) {
    for (uint32_t i = 0; i < device->queue_count && (only == NULL || only == device); ++i) {
      nd_queue *const queue = device->queues[i];
      if (is_ready(queue) && (oldest == NULL || queue->first->number < oldest->first->number)) {
        oldest = queue;
      }
    }
  }
  return oldest;
}

/* ---- Modes ---------------------------------------------------------------------------------------------------------
 */

static bool run_oldest(nd_device *device) {
  nd_queue *const queue = oldest_ready(device);
  if (queue != NULL) {
    run_first(queue);
  }
  return queue != NULL;
}

static bool run_random(nd_device *device) {
  nd_queue *ready[ND_QUEUES_MAX];
  uint32_t count = 0;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    if (is_ready(device->queues[i])) {
      ready[count++] = device->queues[i];
    }
  }
  if (count != 0) {
    run_first(ready[draw(count)]);
  }
  return count != 0;
}

/* One look of mode LATE; false if nothing was ready to be looked at. */
static bool look_late(nd_device *device) {
  bool any = false;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    nd_queue *const queue = device->queues[i];
    if (is_ready(queue)) {
      any = true;
      if (queue->first->looks == 0 || --queue->first->looks == 0) {
        run_first(queue);
      }
    }
  }
  return any;
}

void nd_look(nd_device *device) {
  if (nd_set.mode == NULLDRIVER_LATE) {
    (void)look_late(device);
  } else if (nd_set.mode == NULLDRIVER_SHUFFLED) {
    for (uint64_t n = draw(3); n != 0 && run_random(device); --n) {
    }
  } else if (nd_set.mode == NULLDRIVER_EAGER) {
    while (run_oldest(device)) {
    }
  }
}

/* Gets on with the work in a wait; false if that is for others to do. */
static bool get_on(nd_device *device) {
  switch (nd_set.mode) {
    case NULLDRIVER_EAGER:
    case NULLDRIVER_LAZY:
      return run_oldest(device);
    case NULLDRIVER_LATE:
      return look_late(device);
    case NULLDRIVER_SHUFFLED:
      return run_random(device);
    default:
      return false;
  }
}

VkResult nd_wait(nd_device *device, nd_condition condition, void *context, uint64_t deadline_ns) {
  for (;;) {
    if (device->lost) {
      return nd_device_lost(device);
    }
    if (condition(context)) {
      return VK_SUCCESS;
    }
    const bool got_on = get_on(device);
    if (!device->lost && condition(context)) {
      return VK_SUCCESS;
    }
    if (deadline_ns != UINT64_MAX && nd_now_ns() >= deadline_ns) {
      return VK_TIMEOUT;
    }
    if (!got_on && !device->lost) {
      (void)nd_sleep(deadline_ns);
    }
  }
}

/* The thread of a queue, in mode THREADED. */
static void *serve(void *argument) {
  nd_queue *const queue = argument;
  nd_lock();
  while (!queue->object.device->ending) {
    if (nd_set.mode != NULLDRIVER_THREADED || !is_ready(queue)) {
      (void)nd_sleep(UINT64_MAX);
      continue;
    }
    /* Pauses of random length let the queues overtake each other. */
    const uint64_t pauses = draw(nd_set.parameter + 1);
    queue->running = true;
    nd_unlock();
    for (uint64_t i = 0; i < pauses; ++i) {
      (void)sched_yield();
    }
    nd_lock();
    queue->running = false;
    if (is_ready(queue)) {
      run_first(queue);
    }
    nd_wake();
  }
  nd_unlock();
  return NULL;
}

static void need_threads(nd_device *device) {
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    nd_queue *const queue = device->queues[i];
    if (queue->first != NULL && !queue->has_thread) {
      queue->has_thread = pthread_create(&queue->thread, NULL, serve, queue) == 0;
      if (!queue->has_thread) {
        nd_violation("null driver", "a queue's thread could not be started");
      }
    }
  }
}

void nd_queue_push(nd_queue *queue, nd_job *job) {
  job->number = ++submissions;
  job->looks = nd_set.mode == NULLDRIVER_LATE ? nd_set.parameter : 0;
  if (queue->last != NULL) {
    queue->last->next = job;
  } else {
    queue->first = job;
  }
  queue->last = job;
}

void nd_submitted(nd_device *device) {
  if (nd_set.mode == NULLDRIVER_THREADED) {
    need_threads(device);
  } else if (nd_set.mode == NULLDRIVER_EAGER || nd_set.mode == NULLDRIVER_SHUFFLED) {
    nd_look(device);
  }
  nd_wake();
}

/* ---- Devices -------------------------------------------------------------------------------------------------------
 */

bool nd_device_idle(void *device) {
  const nd_device *const d = device;
  for (uint32_t i = 0; i < d->queue_count; ++i) {
    if (d->queues[i]->first != NULL) {
      return false;
    }
  }
  return true;
}

void nd_devices_add(nd_device *device) {
  device->next = devices;
  devices = device;
}

void nd_devices_remove(nd_device *device) {
  nd_device **link = &devices;
  while (*link != device) {
    link = &(*link)->next;
  }
  *link = device->next;
}

/* Drops what is in flight on a lost device, where nothing runs any more. */
static void drop_all(nd_device *device) {
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    while (device->queues[i]->first != NULL) {
      pop(device->queues[i]);
    }
  }
}

static bool is_running(const nd_device *device) {
  bool running = false;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    running = running || device->queues[i]->running;
  }
  return running;
}

static void lose(nd_device *device) {
  device->lost = true;
  nd_wake();
  while (is_running(device)) {
    (void)nd_sleep(UINT64_MAX);
  }
  drop_all(device);
  nd_wake();
}

void nd_devices_lose(void) {
  for (nd_device *device = devices; device != NULL; device = device->next) {
    lose(device);
  }
}

VkResult nd_device_lost(nd_device *device) {
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    nd_races_after(device->queues[i]);
  }
  return VK_ERROR_DEVICE_LOST;
}

void nd_device_stop(nd_device *device) {
  device->ending = true;
  lose(device);
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    nd_queue *const queue = device->queues[i];
    if (queue->has_thread) {
      nd_unlock();
      (void)pthread_join(queue->thread, NULL);
      nd_lock();
    }
  }
}

void nd_devices_mode_changed(void) {
  random_state = nd_set.parameter * 2654435761u + 1;
  for (nd_device *device = devices; device != NULL; device = device->next) {
    nd_submitted(device);
  }
}

uint32_t nulldriver_step(uint32_t count) {
  uint32_t done = 0;
  nd_lock();
  for (nd_queue *queue = oldest_ready(NULL); done < count && queue != NULL; queue = oldest_ready(NULL)) {
    run_first(queue);
    ++done;
  }
  nd_unlock();
  return done;
}

uint32_t nulldriver_pending(void) {
  uint32_t count = 0;
  nd_lock();
  for (const nd_device *device = devices; device != NULL; device = device->next) {
    for (uint32_t i = 0; i < device->queue_count; ++i) {
      for (const nd_job *job = device->queues[i]->first; job != NULL; job = job->next) {
        ++count;
      }
    }
  }
  nd_unlock();
  return count;
}
