/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/command_buffer.h"

#include <string.h>

#include "core/status.h"
#include "memory/memory.h"
#include "policy/submitting.h"
#include "submit/timestamp.h"

/* All stages that commands of lists run in. */
#define ANY_STAGE (VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT)

int32_t leati_command_buffer_create(leat_device *device, leati_command_buffer **out, leat_error *err) {
  leati_command_buffer *const command_buffer = leati_calloc(1, sizeof(*command_buffer));
  if (command_buffer == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a command buffer");
  }
  /* Transient: most lists are written anew. */
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = device->physical->queue_family};
  VkResult result = device->vk.CreateCommandPool(device->vk.handle, &pool, NULL, &command_buffer->pool);
  if (result != VK_SUCCESS) {
    leati_free(command_buffer);
    return leati_device_fail(device, result, "vkCreateCommandPool", err);
  }
  const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = command_buffer->pool,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
  result = device->vk.AllocateCommandBuffers(device->vk.handle, &commands, &command_buffer->commands);
  if (result != VK_SUCCESS) {
    leati_command_buffers_destroy(device, command_buffer);
    return leati_device_fail(device, result, "vkAllocateCommandBuffers", err);
  }
  *out = command_buffer;
  return LEAT_OK;
}

void leati_command_buffers_destroy(leat_device *device, leati_command_buffer *command_buffers) {
  while (command_buffers != NULL) {
    leati_command_buffer *const next = command_buffers->next;
    device->vk.DestroyCommandPool(device->vk.handle, command_buffers->pool, NULL);
    leati_profile_destroy(device, command_buffers->profile);
    leati_free(command_buffers->cached);
    leati_free(command_buffers);
    command_buffers = next;
  }
}

/* ---- Barriers -----------------------------------------------------------------------------------------------------
 */

static VkPipelineStageFlags stage_of(const leati_command *command) {
  switch (command->kind) {
    case LEATI_COMMAND_DISPATCH:
      return VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    case LEATI_COMMAND_COPY:
      return VK_PIPELINE_STAGE_TRANSFER_BIT;
    default:
      return 0;
  }
}

static VkPipelineStageFlags stages_of(const leati_submission *list) {
  VkPipelineStageFlags stages = 0;
  for (uint32_t i = 0; i < list->command_count; ++i) {
    stages |= stage_of(&list->commands[i]);
  }
  return stages;
}

static VkAccessFlags write_access(VkPipelineStageFlags stages) {
  return ((stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) != 0 ? VK_ACCESS_SHADER_WRITE_BIT : 0u) |
         ((stages & VK_PIPELINE_STAGE_TRANSFER_BIT) != 0 ? VK_ACCESS_TRANSFER_WRITE_BIT : 0u);
}

static VkAccessFlags any_access(VkPipelineStageFlags stages) {
  return write_access(stages) |
         ((stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) != 0 ? VK_ACCESS_SHADER_READ_BIT : 0u) |
         ((stages & VK_PIPELINE_STAGE_TRANSFER_BIT) != 0 ? VK_ACCESS_TRANSFER_READ_BIT : 0u);
}

static void write_barrier(const leat_device *device, VkCommandBuffer commands, VkPipelineStageFlags from,
                          VkPipelineStageFlags to, VkAccessFlags to_access) {
  if (from != 0 && to != 0) {
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = write_access(from), .dstAccessMask = to_access};
    device->vk.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, NULL, 0, NULL);
  }
}

/* ---- Lists --------------------------------------------------------------------------------------------------------
 */

/* The lists of one stream that are not written yet, linked by `queued`. */
typedef struct strand {
  leati_submission *list, *last;
  uint32_t begin, end;         /* commands of `list` that go next; those that need no barrier between them */
  VkPipelineStageFlags stages; /* that they run in */
} strand;

/* All strands of a command buffer. */
typedef struct strands {
  uint32_t count;
  strand at[LEATI_COMMAND_BUFFER_LISTS_MAX];
} strands;

/* Finds what of a strand goes next, from `begin` on. */
static void begin_at(strand *s, uint32_t begin) {
  s->begin = begin;
  s->stages = stage_of(&s->list->commands[s->begin]);
  s->end = s->begin + 1;
  while (s->end < s->list->command_count && !s->list->commands[s->end].barrier) {
    s->stages |= stage_of(&s->list->commands[s->end++]);
  }
}

/* Sorts lists into strands; lists without commands have nothing to write. */
static void make_strands(leati_submission *const *lists, uint32_t count, strands *out) {
  out->count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    leati_submission *const list = lists[i];
    if (list->command_count == 0) {
      continue;
    }
    list->queued = NULL;
    uint32_t at = 0;
    while (at < out->count && out->at[at].list->stream != list->stream) {
      ++at;
    }
    if (at < out->count) {
      out->at[at].last->queued = list;
      out->at[at].last = list;
    } else {
      out->at[at].list = out->at[at].last = list;
      begin_at(&out->at[at], 0);
      ++out->count;
    }
  }
}

/* Takes what was written off a strand. False: nothing of it is left. */
static bool go_on(strand *s) {
  if (s->end != s->list->command_count) {
    begin_at(s, s->end);
    return true;
  }
  s->list = s->list->queued;
  if (s->list != NULL) {
    begin_at(s, 0);
  }
  return s->list != NULL;
}

/* Writes one command. `*inout_bound` is the pipeline that is bound. */
static void write_command(const leat_device *device, VkCommandBuffer commands, const leati_command *command,
                          VkPipeline *inout_bound) {
  const leati_vk_device *const vk = &device->vk;
  switch (command->kind) {
    case LEATI_COMMAND_COPY:
      vk->CmdCopyBuffer(commands, command->copy.from, command->copy.to, 1, &command->copy.region);
      break;
    case LEATI_COMMAND_TIMESTAMP:
      leati_timestamp_record(device, commands, command->timestamp);
      break;
    case LEATI_COMMAND_DISPATCH:
      if (command->dispatch.pipeline->handle != *inout_bound) {
        *inout_bound = command->dispatch.pipeline->handle;
        vk->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, *inout_bound);
      }
      vk->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, device->pipeline_layout, 0, 1,
                                &command->dispatch.set, 1, &command->dispatch.offset);
      vk->CmdDispatch(commands, command->dispatch.groups[0], command->dispatch.groups[1], command->dispatch.groups[2]);
      break;
  }
}

/* Writes all strands level by level. The barrier before a level orders the stages of the one before against its own:
 * naming only what occurs keeps it cheap, and what came earlier was ordered before that one. With `profile` a query
 * follows each command. */
static inline void write_levels(leat_device *device, VkCommandBuffer commands, strands *all,
                                leati_profile_batch *profile) {
  VkPipelineStageFlags seen = 0;
  VkPipeline bound = VK_NULL_HANDLE;
  while (all->count != 0) {
    VkPipelineStageFlags stages = 0;
    for (uint32_t i = 0; i < all->count; ++i) {
      stages |= all->at[i].stages;
    }
    write_barrier(device, commands, seen, stages, any_access(stages));
    seen = stages != 0 ? stages : seen;
    if (profile != NULL) {
      leati_profile_level(profile);
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < all->count; ++i) {
      strand *const s = &all->at[i];
      for (uint32_t j = s->begin; j < s->end; ++j) {
        write_command(device, commands, &s->list->commands[j], &bound);
        if (profile != NULL) {
          leati_profile_written(device, profile, commands, s->list, j);
        }
      }
      if (go_on(s)) {
        all->at[left++] = *s;
      }
    }
    all->count = left;
  }
}

/* ---- Holding ------------------------------------------------------------------------------------------------------
 */

/* Whether a list is worth keeping. A timestamp usually goes to another place each time. */
static bool is_lasting(const leati_submission *list) {
  if (!leati_list_is_held(list->command_count)) {
    return false;
  }
  uint32_t i = 0;
  while (i < list->command_count && list->commands[i].kind != LEATI_COMMAND_TIMESTAMP) {
    ++i;
  }
  return i == list->command_count;
}

/* Notes that a command buffer holds a list. Without memory for that it is written again. */
static void note_held(leati_command_buffer *command_buffer, const leati_submission *list, uint32_t destroyed) {
  if (command_buffer->cached_capacity < list->command_count) {
    leati_command *const grown = leati_realloc(command_buffer->cached, list->command_count * sizeof(*grown));
    if (grown == NULL) {
      return;
    }
    command_buffer->cached = grown;
    command_buffer->cached_capacity = list->command_count;
  }
  if (list->command_count != 0) {
    memcpy(command_buffer->cached, list->commands, list->command_count * sizeof(*command_buffer->cached));
  }
  command_buffer->cached_count = list->command_count;
  command_buffer->cached_after = list->after;
  command_buffer->cached_to_host = list->to_host;
  command_buffer->cached_destroyed = destroyed;
}

static bool same_region(const VkBufferCopy *a, const VkBufferCopy *b) {
  return a->srcOffset == b->srcOffset && a->dstOffset == b->dstOffset && a->size == b->size;
}

static bool same_command(const leati_command *a, const leati_command *b) {
  if (a->kind != b->kind || a->barrier != b->barrier) {
    return false;
  }
  if (a->kind == LEATI_COMMAND_COPY) {
    return a->copy.from == b->copy.from && a->copy.to == b->copy.to && same_region(&a->copy.region, &b->copy.region);
  }
  return a->dispatch.pipeline == b->dispatch.pipeline && a->dispatch.set == b->dispatch.set &&
         a->dispatch.offset == b->dispatch.offset && a->dispatch.groups[0] == b->dispatch.groups[0] &&
         a->dispatch.groups[1] == b->dispatch.groups[1] && a->dispatch.groups[2] == b->dispatch.groups[2];
}

bool leati_command_buffer_holds(const leat_device *device, const leati_command_buffer *command_buffer,
                                const leati_submission *list) {
  if (command_buffer->cached_count == 0 || command_buffer->cached_count != list->command_count ||
      command_buffer->cached_after != list->after || command_buffer->cached_to_host != list->to_host ||
      command_buffer->cached_destroyed != atomic_load_explicit(&device->destroyed, memory_order_acquire)) {
    return false;
  }
  uint32_t i = 0;
  while (i < list->command_count && same_command(&command_buffer->cached[i], &list->commands[i])) {
    ++i;
  }
  return i == list->command_count;
}

/* ---- Writing ------------------------------------------------------------------------------------------------------
 */

int32_t leati_command_buffer_write(leat_device *device, leati_command_buffer *command_buffer,
                                   leati_submission *const *lists, uint32_t count, bool hold, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const bool lasting = hold && count == 1 && is_lasting(lists[0]);
  const uint32_t destroyed = atomic_load_explicit(&device->destroyed, memory_order_acquire);
  command_buffer->cached_count = 0;
  if (command_buffer->profile != NULL) {
    command_buffer->profile->query_count = 0;
  }
  VkResult result = vk->ResetCommandPool(device->vk.handle, command_buffer->pool, 0);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkResetCommandPool", err);
  }
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                          .flags = lasting ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  result = vk->BeginCommandBuffer(command_buffer->commands, &begin);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkBeginCommandBuffer", err);
  }
  bool after = false, profiled = false;
  VkPipelineStageFlags to_host = 0;
  uint32_t command_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    after = after || lists[i]->after;
    to_host |= lists[i]->to_host;
    profiled = profiled || lists[i]->profile != NULL;
    command_count += lists[i]->command_count;
  }
  leati_profile_batch *const profile =
      profiled
          ? leati_profile_begin(device, &command_buffer->profile, command_buffer->commands, lists, count, command_count)
          : NULL;
  if (after) {
    VkPipelineStageFlags all = 0;
    for (uint32_t i = 0; i < count; ++i) {
      all |= stages_of(lists[i]);
    }
    write_barrier(device, command_buffer->commands, ANY_STAGE, all, any_access(all));
  }
  strands all;
  make_strands(lists, count, &all);
  if (profile == NULL) {
    /* Two copies of the function, of which this one has no word of profiles in its loops. */
    write_levels(device, command_buffer->commands, &all, NULL);
  } else {
    write_levels(device, command_buffer->commands, &all, profile);
    leati_profile_end(device, profile, command_buffer->commands);
    to_host |= VK_PIPELINE_STAGE_TRANSFER_BIT;
  }
  write_barrier(device, command_buffer->commands, leati_memory_guarded(device) ? ANY_STAGE : to_host,
                VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
  result = vk->EndCommandBuffer(command_buffer->commands);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkEndCommandBuffer", err);
  }
  if (lasting) {
    note_held(command_buffer, lists[0], destroyed);
  }
  return LEAT_OK;
}
