/* SPDX-License-Identifier: BSD-3-Clause */
/* vkQueueSubmit: checks what comes, resolves the handles in recorded commands, and counts each object in use. */
#include <stdlib.h>

#include "nulldriver/queue.h"
#include "nulldriver/races.h"

static const VkTimelineSemaphoreSubmitInfo *values_of(const VkSubmitInfo *batch) {
  for (const VkBaseInStructure *next = batch->pNext; next != NULL; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
      return (const VkTimelineSemaphoreSubmitInfo *)next;
    }
  }
  return NULL;
}

nd_job *nd_job_create(uint32_t waits, uint32_t signals, uint32_t buffers) {
  nd_job *const job = calloc(1, sizeof(*job));
  if (job == NULL) {
    return NULL;
  }
  job->waits = calloc((size_t)waits + signals + 1, sizeof(*job->waits));
  job->buffers = calloc((size_t)buffers + 1, sizeof(*job->buffers));
  if (job->waits == NULL || job->buffers == NULL) {
    free(job->waits);
    free(job->buffers);
    free(job);
    return NULL;
  }
  job->signals = job->waits + waits;
  return job;
}

/* ---- Semaphores ----------------------------------------------------------------------------------------------------
 */

static void take_waits(const char *function, nd_job *job, const VkSubmitInfo *batch,
                       const VkTimelineSemaphoreSubmitInfo *values) {
  for (uint32_t i = 0; i < batch->waitSemaphoreCount; ++i) {
    nd_semaphore *const semaphore =
        nd_object_find(function, NULLDRIVER_SEMAPHORE, ND_NUMBER(batch->pWaitSemaphores[i]));
    if (semaphore == NULL) {
      continue;
    }
    const uint64_t value = values->pWaitSemaphoreValues[i];
    /* What is shared may be signalled by another side later. */
    if (value > semaphore->counter->promised && semaphore->counter == &semaphore->own) {
      nd_violation(function, "wait %u is for value %llu before anybody has submitted a signal of it (%llu)", i,
                   (unsigned long long)value, (unsigned long long)semaphore->counter->promised);
    }
    nd_object_use(&semaphore->object);
    job->waits[job->wait_count++] = (nd_point){semaphore, value};
  }
}

static void take_signals(const char *function, nd_job *job, const VkSubmitInfo *batch,
                         const VkTimelineSemaphoreSubmitInfo *values) {
  for (uint32_t i = 0; i < batch->signalSemaphoreCount; ++i) {
    nd_semaphore *const semaphore =
        nd_object_find(function, NULLDRIVER_SEMAPHORE, ND_NUMBER(batch->pSignalSemaphores[i]));
    if (semaphore == NULL) {
      continue;
    }
    const uint64_t value = semaphore->binary ? 1 : values->pSignalSemaphoreValues[i];
    const bool shared = semaphore->counter != &semaphore->own;
    /* Of what is shared only the order in which signals happen counts (queue.c). */
    if (value <= semaphore->counter->promised && !shared) {
      nd_violation(function, "signal %u of value %llu does not rise above %llu", i, (unsigned long long)value,
                   (unsigned long long)semaphore->counter->promised);
      continue;
    }
    if (!shared) {
      semaphore->counter->promised = value;
    }
    nd_object_use(&semaphore->object);
    job->signals[job->signal_count++] = (nd_point){semaphore, value};
  }
}

/* ---- Commands ------------------------------------------------------------------------------------------------------
 */

/* The live buffer of a handle, bound to live memory; both in use then. */
static nd_buffer *use_buffer(const char *function, uint64_t handle) {
  nd_buffer *const buffer = nd_object_find(function, NULLDRIVER_BUFFER, handle);
  if (buffer == NULL || nd_object_find(function, NULLDRIVER_MEMORY, buffer->memory) == NULL) {
    return NULL;
  }
  nd_object_use(&buffer->object);
  nd_object_use(&buffer->home->object);
  return buffer;
}

static void unuse_buffer(nd_buffer *buffer) {
  if (buffer != NULL) {
    nd_object_unuse(&buffer->home->object);
    nd_object_unuse(&buffer->object);
  }
}

static void resolve_dispatch(const char *function, nd_command *command) {
  nd_pipeline *const pipeline = nd_object_find(function, NULLDRIVER_PIPELINE, command->from);
  nd_descriptor_set *const set = nd_object_find(function, NULLDRIVER_DESCRIPTOR_SET, command->to);
  command->uniform = pipeline == NULL || set == NULL ? NULL : use_buffer(function, set->buffer);
  if (command->uniform == NULL) {
    return;
  }
  nd_object_use(&pipeline->object);
  nd_object_use(&set->object);
  nd_object_use(&set->pool->object);
  command->source = &pipeline->object;
  command->target = &set->object;
  command->offset = set->offset + command->region.srcOffset;
  command->range = set->range;
  const uint64_t size = command->uniform->size;
  if (command->offset > size || command->range > size - command->offset) {
    nd_violation(function, "a dispatch reads %llu bytes of arguments at %llu of a buffer of %llu",
                 (unsigned long long)command->range, (unsigned long long)command->offset, (unsigned long long)size);
    command->range = 0;
    command->offset = 0;
  }
}

static void resolve_queries(const char *function, nd_command *command) {
  nd_query_pool *const pool = nd_object_find(function, NULLDRIVER_QUERY_POOL, command->to);
  if (pool == NULL) {
    return;
  }
  nd_object_use(&pool->object);
  for (uint32_t i = 0; i < command->groups[1]; ++i) {
    ++pool->queries[command->groups[0] + i].in_flight;
  }
  command->target = &pool->object;
}

static void resolve(const char *function, nd_command *command) {
  command->source = command->target = NULL;
  command->uniform = NULL;
  nd_buffer *source = NULL, *target = NULL;
  switch (command->kind) {
    case ND_COPY:
      source = use_buffer(function, command->from);
      target = use_buffer(function, command->to);
      if (source == NULL || target == NULL) {
        unuse_buffer(source);
        unuse_buffer(target);
        return;
      }
      command->source = &source->object;
      command->target = &target->object;
      break;
    case ND_FILL:
      target = use_buffer(function, command->to);
      command->target = target == NULL ? NULL : &target->object;
      break;
    case ND_DISPATCH:
      resolve_dispatch(function, command);
      break;
    case ND_TIMESTAMP:
    case ND_RESET_QUERIES:
      resolve_queries(function, command);
      break;
    case ND_COPY_QUERIES:
      target = use_buffer(function, command->from);
      if (target != NULL) {
        resolve_queries(function, command);
      }
      if (command->target == NULL) {
        unuse_buffer(target);
        return;
      }
      command->uniform = target;
      break;
  }
}

static void let_go(nd_command *command) {
  if (command->target == NULL) {
    return;
  }
  switch (command->kind) {
    case ND_COPY:
      unuse_buffer((nd_buffer *)command->source);
      unuse_buffer((nd_buffer *)command->target);
      break;
    case ND_FILL:
      unuse_buffer((nd_buffer *)command->target);
      break;
    case ND_DISPATCH: {
      nd_descriptor_set *const set = (nd_descriptor_set *)command->target;
      unuse_buffer(command->uniform);
      nd_object_unuse(command->source);
      nd_object_unuse(&set->pool->object);
      nd_object_unuse(&set->object);
      break;
    }
    case ND_COPY_QUERIES:
      unuse_buffer(command->uniform);
      /* The queries are in use as well. */
      __attribute__((fallthrough));
    case ND_TIMESTAMP:
    case ND_RESET_QUERIES: {
      nd_query_pool *const pool = (nd_query_pool *)command->target;
      for (uint32_t i = 0; i < command->groups[1]; ++i) {
        --pool->queries[command->groups[0] + i].in_flight;
      }
      nd_object_unuse(&pool->object);
      break;
    }
  }
  command->target = NULL;
}

static void take_buffers(const char *function, nd_job *job, const VkSubmitInfo *batch) {
  for (uint32_t i = 0; i < batch->commandBufferCount; ++i) {
    nd_command_buffer *const commands =
        nd_object_find(function, NULLDRIVER_COMMAND_BUFFER, ND_NUMBER(batch->pCommandBuffers[i]));
    if (commands == NULL) {
      continue;
    }
    if (commands->state != ND_EXECUTABLE) {
      static const char *const words[] = {[ND_INITIAL] = "empty",
                                          [ND_RECORDING] = "still recording",
                                          [ND_EXECUTABLE] = "executable",
                                          [ND_PENDING] = "in flight already",
                                          [ND_SPENT] = "for one submission, which it has had"};
      nd_violation(function, "command buffer %u is %s", i, words[commands->state]);
      continue;
    }
    commands->state = ND_PENDING;
    nd_object_use(&commands->object);
    for (uint32_t j = 0; j < commands->count; ++j) {
      resolve(function, &commands->commands[j]);
    }
    job->buffers[job->buffer_count++] = commands;
  }
}

void nd_job_destroy(nd_job *job) {
  for (uint32_t i = 0; i < job->buffer_count; ++i) {
    nd_command_buffer *const commands = job->buffers[i];
    for (uint32_t j = 0; j < commands->count; ++j) {
      let_go(&commands->commands[j]);
    }
    commands->state = commands->one_time ? ND_SPENT : ND_EXECUTABLE;
    nd_object_unuse(&commands->object);
  }
  for (uint32_t i = 0; i < job->wait_count; ++i) {
    nd_object_unuse(&job->waits[i].semaphore->object);
  }
  for (uint32_t i = 0; i < job->signal_count; ++i) {
    nd_semaphore_release(job->signals[i].semaphore);
    nd_object_unuse(&job->signals[i].semaphore->object);
  }
  free(job->waits);
  free(job->buffers);
  free(job);
}

/* ---- The call ------------------------------------------------------------------------------------------------------
 */

static VkResult submit(const char *function, nd_queue *queue, const VkSubmitInfo *batch) {
  const VkTimelineSemaphoreSubmitInfo *const values = values_of(batch);
  if (batch->waitSemaphoreCount + batch->signalSemaphoreCount != 0 &&
      (values == NULL || values->waitSemaphoreValueCount != batch->waitSemaphoreCount ||
       values->signalSemaphoreValueCount != batch->signalSemaphoreCount)) {
    nd_violation(function, "there is not one timeline value for each semaphore");
    return VK_ERROR_UNKNOWN;
  }
  nd_job *const job = nd_job_create(batch->waitSemaphoreCount, batch->signalSemaphoreCount, batch->commandBufferCount);
  if (job == NULL) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  take_waits(function, job, batch, values);
  take_buffers(function, job, batch);
  take_signals(function, job, batch, values);
  nd_races_before(job);
  nd_queue_push(queue, job);
  return VK_SUCCESS;
}

VkResult nd_QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *batches, VkFence fence) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_QueueSubmit, ND_NUMBER(queue), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_queue *const q = nd_object_find(call.name, NULLDRIVER_QUEUE, ND_NUMBER(queue));
  if (q == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  if (fence != VK_NULL_HANDLE) {
    nd_violation(call.name, "there are no fences");
  }
  VkResult result = q->object.device->lost ? nd_device_lost(q->object.device) : VK_SUCCESS;
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
    result = submit(call.name, q, &batches[i]);
  }
  nd_submitted(q->object.device);
  return nd_leave(&call, result);
}
