/* SPDX-License-Identifier: BSD-3-Clause */
/* Command pools, command buffers, and recording. */
#include <stdlib.h>

#include "nulldriver/instance.h"
#include "nulldriver/objects.h"

/* ---- Pools ---------------------------------------------------------------------------------------------------------
 */

VkResult nd_CreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info, const VkAllocationCallbacks *host,
                              VkCommandPool *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateCommandPool, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_command_pool *const pool = d == NULL ? NULL : nd_object_create(NULLDRIVER_COMMAND_POOL, sizeof(*pool), d);
  if (pool == NULL) {
    return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  if (info->queueFamilyIndex != d->family) {
    nd_violation(call.name, "family %u, which the device has no queue of", info->queueFamilyIndex);
  }
  pool->flags = info->flags;
  *out = ND_HANDLE(VkCommandPool, pool);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyCommandPool(VkDevice device, VkCommandPool pool, const VkAllocationCallbacks *host) {
  (void)device;
  (void)host;
  nd_call call;
  (void)nd_enter(&call, ND_DestroyCommandPool, ND_NUMBER(pool), 0);
  nd_command_pool *const p =
      pool == VK_NULL_HANDLE ? NULL : nd_object_find(call.name, NULLDRIVER_COMMAND_POOL, ND_NUMBER(pool));
  if (p != NULL) {
    while (p->buffers != NULL) {
      nd_command_buffer *const commands = p->buffers;
      p->buffers = commands->next;
      nd_object_destroy(call.name, &commands->object);
    }
    nd_object_destroy(call.name, &p->object);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

/* Back to the initial state, unless it is in flight: its commands are being read then. */
static void reset(const char *function, nd_command_buffer *commands) {
  if (nd_object_in_use(&commands->object)) {
    nd_violation(function, "VkCommandBuffer 0x%llx is reset in flight", (unsigned long long)commands->object.handle);
  }
  if (commands->object.in_flight != 0) {
    return;
  }
  commands->state = ND_INITIAL;
  commands->count = 0;
  commands->pipeline = commands->set = 0;
}

VkResult nd_ResetCommandPool(VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags) {
  (void)device;
  (void)flags;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_ResetCommandPool, ND_NUMBER(pool), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  const nd_command_pool *const p = nd_object_find(call.name, NULLDRIVER_COMMAND_POOL, ND_NUMBER(pool));
  for (nd_command_buffer *at = p == NULL ? NULL : p->buffers; at != NULL; at = at->next) {
    reset(call.name, at);
  }
  return nd_leave(&call, VK_SUCCESS);
}

/* ---- Command buffers -----------------------------------------------------------------------------------------------
 */

VkResult nd_AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out) {
  (void)device;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_AllocateCommandBuffers, ND_NUMBER(info->commandPool), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_command_pool *const pool = nd_object_find(call.name, NULLDRIVER_COMMAND_POOL, ND_NUMBER(info->commandPool));
  VkResult result = pool == NULL ? VK_ERROR_UNKNOWN : VK_SUCCESS;
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    nd_command_buffer *const commands =
        result == VK_SUCCESS
            ? nd_object_create(NULLDRIVER_COMMAND_BUFFER, sizeof(nd_command_buffer), pool->object.device)
            : NULL;
    out[i] = VK_NULL_HANDLE;
    if (commands == NULL) {
      result = result == VK_SUCCESS ? VK_ERROR_OUT_OF_HOST_MEMORY : result;
      continue;
    }
    commands->pool = pool;
    commands->next = pool->buffers;
    pool->buffers = commands;
    nd_object_set_guard(&commands->object, &pool->object);
    out[i] = ND_HANDLE(VkCommandBuffer, commands);
  }
  return nd_leave(&call, result);
}

void nd_FreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count, const VkCommandBuffer *buffers) {
  (void)device;
  nd_call call;
  (void)nd_enter(&call, ND_FreeCommandBuffers, ND_NUMBER(pool), 0);
  nd_command_pool *const p = nd_object_find(call.name, NULLDRIVER_COMMAND_POOL, ND_NUMBER(pool));
  for (uint32_t i = 0; i < count && p != NULL; ++i) {
    nd_command_buffer **link = &p->buffers;
    while (*link != NULL && (*link)->object.handle != ND_NUMBER(buffers[i])) {
      link = &(*link)->next;
    }
    nd_command_buffer *const commands = *link;
    if (commands != NULL) {
      *link = commands->next;
      nd_object_destroy(call.name, &commands->object);
    } else if (buffers[i] != VK_NULL_HANDLE) {
      nd_violation(call.name, "command buffer %u is not of this pool", i);
    }
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_command_buffer_finish(nd_command_buffer *commands) {
  free(commands->commands);
}

VkResult nd_ResetCommandBuffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags) {
  (void)flags;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_ResetCommandBuffer, ND_NUMBER(buffer), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_command_buffer *const commands = nd_object_find_to_change(call.name, NULLDRIVER_COMMAND_BUFFER, ND_NUMBER(buffer));
  if (commands != NULL) {
    if ((commands->pool->flags & VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT) == 0) {
      nd_violation(call.name, "the pool was not made for buffers that are reset one by one");
    }
    reset(call.name, commands);
  }
  return nd_leave(&call, VK_SUCCESS);
}

VkResult nd_BeginCommandBuffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_BeginCommandBuffer, ND_NUMBER(buffer), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_command_buffer *const commands = nd_object_find_to_change(call.name, NULLDRIVER_COMMAND_BUFFER, ND_NUMBER(buffer));
  if (commands == NULL) {
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  const bool resettable = (commands->pool->flags & VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT) != 0;
  if (commands->state == ND_RECORDING || commands->state == ND_PENDING ||
      (commands->state != ND_INITIAL && !resettable)) {
    nd_violation(call.name, "the command buffer is %s",
                 commands->state == ND_RECORDING ? "recording already"
                 : commands->state == ND_PENDING ? "in flight"
                                                 : "not reset, and its pool lets none be reset implicitly");
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  reset(call.name, commands);
  commands->state = ND_RECORDING;
  commands->one_time = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
  return nd_leave(&call, VK_SUCCESS);
}

VkResult nd_EndCommandBuffer(VkCommandBuffer buffer) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_EndCommandBuffer, ND_NUMBER(buffer), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_command_buffer *const commands = nd_object_find_to_change(call.name, NULLDRIVER_COMMAND_BUFFER, ND_NUMBER(buffer));
  if (commands == NULL || commands->state != ND_RECORDING) {
    nd_violation(call.name, "the command buffer is not recording");
    return nd_leave(&call, VK_ERROR_UNKNOWN);
  }
  commands->state = ND_EXECUTABLE;
  return nd_leave(&call, VK_SUCCESS);
}

/* ---- Recording -----------------------------------------------------------------------------------------------------
 */

/* Begins a vkCmd call; NULL, with a violation, unless the buffer is recording. nd_leave() follows in any case. */
static nd_command_buffer *enter_recording(nd_call *call, nd_function function, VkCommandBuffer buffer) {
  (void)nd_enter(call, function, ND_NUMBER(buffer), 0);
  nd_command_buffer *const commands =
      nd_object_find_to_change(call->name, NULLDRIVER_COMMAND_BUFFER, ND_NUMBER(buffer));
  if (commands != NULL && commands->state != ND_RECORDING) {
    nd_violation(call->name, "the command buffer is not recording");
    return NULL;
  }
  return commands;
}

static void append(const char *function, nd_command_buffer *commands, const nd_command *command) {
  if (commands->count == commands->capacity) {
    const uint32_t capacity = commands->capacity == 0 ? 16 : commands->capacity * 2;
    nd_command *const grown = realloc(commands->commands, capacity * sizeof(*grown));
    if (grown == NULL) {
      nd_violation(function, "no host memory: the command is lost");
      return;
    }
    commands->commands = grown;
    commands->capacity = capacity;
  }
  commands->commands[commands->count++] = *command;
}

void nd_CmdBindPipeline(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline pipeline) {
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, ND_CmdBindPipeline, buffer);
  if (commands != NULL && nd_object_find(call.name, NULLDRIVER_PIPELINE, ND_NUMBER(pipeline)) != NULL) {
    if (point != VK_PIPELINE_BIND_POINT_COMPUTE) {
      nd_violation(call.name, "bind point %d; this driver computes only", (int)point);
    }
    commands->pipeline = ND_NUMBER(pipeline);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdBindDescriptorSets(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipelineLayout layout,
                              uint32_t first, uint32_t count, const VkDescriptorSet *sets, uint32_t offset_count,
                              const uint32_t *offsets) {
  (void)point;
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, ND_CmdBindDescriptorSets, buffer);
  (void)nd_object_find(call.name, NULLDRIVER_PIPELINE_LAYOUT, ND_NUMBER(layout));
  if (commands != NULL && (first != 0 || count != 1)) {
    nd_violation(call.name, "sets %u and %u more; this driver knows set 0 only", first, count);
  } else if (commands != NULL) {
    const nd_descriptor_set *const set = nd_object_find(call.name, NULLDRIVER_DESCRIPTOR_SET, ND_NUMBER(sets[0]));
    if (set != NULL && offset_count != (set->dynamic ? 1u : 0u)) {
      nd_violation(call.name, "%u dynamic offsets, the set has %u", offset_count, set->dynamic ? 1u : 0u);
    } else if (set != NULL) {
      commands->set = set->object.handle;
      commands->set_offset = set->dynamic ? offsets[0] : 0;
      if (commands->set_offset % ND_UNIFORM_ALIGNMENT != 0) {
        nd_violation(call.name, "dynamic offset %u is not aligned to %u", commands->set_offset, ND_UNIFORM_ALIGNMENT);
      }
    }
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdPushConstants(VkCommandBuffer buffer, VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset,
                         uint32_t size, const void *values) {
  (void)stages;
  (void)values;
  nd_call call;
  (void)enter_recording(&call, ND_CmdPushConstants, buffer);
  (void)nd_object_find(call.name, NULLDRIVER_PIPELINE_LAYOUT, ND_NUMBER(layout));
  if (size == 0 || offset > 128 || size > 128 - offset) {
    nd_violation(call.name, "%u bytes at %u; there are 128", size, offset);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdDispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z) {
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, ND_CmdDispatch, buffer);
  if (commands != NULL && (commands->pipeline == 0 || commands->set == 0)) {
    nd_violation(call.name, "no %s is bound", commands->pipeline == 0 ? "pipeline" : "descriptor set");
  } else if (commands != NULL) {
    if (x > 65535 || y > 65535 || z > 65535) {
      nd_violation(call.name, "%u x %u x %u groups; there may be 65535 each", x, y, z);
    }
    const nd_command command = {.kind = ND_DISPATCH,
                                .from = commands->pipeline,
                                .to = commands->set,
                                .region = {.srcOffset = commands->set_offset},
                                .groups = {x, y, z}};
    append(call.name, commands, &command);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

/* Whether `size` bytes at `offset` are in a buffer that may be used so. */
static bool check_place(const char *function, const nd_buffer *buffer, VkBufferUsageFlags usage, uint64_t offset,
                        uint64_t size) {
  if ((buffer->usage & usage) == 0) {
    nd_violation(function, "VkBuffer 0x%llx was not made for this side of a transfer",
                 (unsigned long long)buffer->object.handle);
    return false;
  }
  if (size == 0 || offset > buffer->size || size > buffer->size - offset) {
    nd_violation(function, "%llu bytes at %llu of a buffer of %llu", (unsigned long long)size,
                 (unsigned long long)offset, (unsigned long long)buffer->size);
    return false;
  }
  return true;
}

void nd_CmdCopyBuffer(VkCommandBuffer buffer, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions) {
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, ND_CmdCopyBuffer, buffer);
  const nd_buffer *const source = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(from));
  const nd_buffer *const target = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(to));
  for (uint32_t i = 0; i < count && commands != NULL && source != NULL && target != NULL; ++i) {
    const VkBufferCopy *const region = &regions[i];
    if (!check_place(call.name, source, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, region->srcOffset, region->size) ||
        !check_place(call.name, target, VK_BUFFER_USAGE_TRANSFER_DST_BIT, region->dstOffset, region->size)) {
      continue;
    }
    if (source == target && region->srcOffset < region->dstOffset + region->size &&
        region->dstOffset < region->srcOffset + region->size) {
      nd_violation(call.name, "source and destination overlap");
      continue;
    }
    const nd_command command = {.kind = ND_COPY, .from = ND_NUMBER(from), .to = ND_NUMBER(to), .region = *region};
    append(call.name, commands, &command);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdFillBuffer(VkCommandBuffer buffer, VkBuffer to, VkDeviceSize offset, VkDeviceSize size, uint32_t data) {
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, ND_CmdFillBuffer, buffer);
  const nd_buffer *const target = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(to));
  if (commands != NULL && target != NULL) {
    const uint64_t bytes =
        size == VK_WHOLE_SIZE && offset < target->size ? (target->size - offset) & ~UINT64_C(3) : size;
    if (offset % 4 != 0 || bytes % 4 != 0) {
      nd_violation(call.name, "%llu bytes at %llu are no whole words", (unsigned long long)bytes,
                   (unsigned long long)offset);
    } else if (check_place(call.name, target, VK_BUFFER_USAGE_TRANSFER_DST_BIT, offset, bytes)) {
      const nd_command command = {
          .kind = ND_FILL, .to = ND_NUMBER(to), .region = {.dstOffset = offset, .size = bytes}, .data = data};
      append(call.name, commands, &command);
    }
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdPipelineBarrier(VkCommandBuffer buffer, VkPipelineStageFlags from, VkPipelineStageFlags to,
                           VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
                           uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                           const VkImageMemoryBarrier *images) {
  (void)flags;
  (void)memory_count;
  (void)memory;
  (void)buffer_count;
  (void)buffers;
  (void)images;
  nd_call call;
  (void)enter_recording(&call, ND_CmdPipelineBarrier, buffer);
  if (from == 0 || to == 0 || image_count != 0) {
    nd_violation(call.name, "%s", image_count != 0 ? "there are no images" : "no stages are named");
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

static void record_queries(nd_function function, VkCommandBuffer buffer, nd_command_kind kind, VkQueryPool pool,
                           uint32_t first, uint32_t count) {
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, function, buffer);
  const nd_query_pool *const p = nd_object_find(call.name, NULLDRIVER_QUERY_POOL, ND_NUMBER(pool));
  if (p != NULL && (count == 0 || first >= p->count || count > p->count - first)) {
    nd_violation(call.name, "%u queries from %u of a pool of %u", count, first, p->count);
  } else if (p != NULL && commands != NULL) {
    const nd_command command = {.kind = kind, .to = ND_NUMBER(pool), .groups = {first, count, 0}};
    append(call.name, commands, &command);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdResetQueryPool(VkCommandBuffer buffer, VkQueryPool pool, uint32_t first, uint32_t count) {
  record_queries(ND_CmdResetQueryPool, buffer, ND_RESET_QUERIES, pool, first, count);
}

void nd_CmdCopyQueryPoolResults(VkCommandBuffer buffer, VkQueryPool pool, uint32_t first, uint32_t count, VkBuffer to,
                                VkDeviceSize offset, VkDeviceSize stride, VkQueryResultFlags flags) {
  nd_call call;
  nd_command_buffer *const commands = enter_recording(&call, ND_CmdCopyQueryPoolResults, buffer);
  const nd_query_pool *const p = nd_object_find(call.name, NULLDRIVER_QUERY_POOL, ND_NUMBER(pool));
  const nd_buffer *const target = nd_object_find(call.name, NULLDRIVER_BUFFER, ND_NUMBER(to));
  if (p != NULL && (count == 0 || first >= p->count || count > p->count - first)) {
    nd_violation(call.name, "%u queries from %u of a pool of %u", count, first, p->count);
  } else if (flags != (VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT)) {
    nd_violation(call.name, "flags 0x%x: this driver knows whole numbers of 64 bits, waited for", flags);
  } else if (offset % sizeof(uint64_t) != 0 || stride % sizeof(uint64_t) != 0 || (count > 1 && stride == 0)) {
    nd_violation(call.name, "offset %llu and stride %llu are no places for whole numbers of 64 bits",
                 (unsigned long long)offset, (unsigned long long)stride);
  } else if (p != NULL && commands != NULL && target != NULL &&
             check_place(call.name, target, VK_BUFFER_USAGE_TRANSFER_DST_BIT, offset,
                         stride * (count - 1) + sizeof(uint64_t))) {
    const nd_command command = {.kind = ND_COPY_QUERIES,
                                .from = ND_NUMBER(to),
                                .to = ND_NUMBER(pool),
                                .region = {.dstOffset = offset, .size = stride},
                                .groups = {first, count, 0}};
    append(call.name, commands, &command);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_CmdWriteTimestamp(VkCommandBuffer buffer, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t query) {
  (void)stage;
  record_queries(ND_CmdWriteTimestamp, buffer, ND_TIMESTAMP, pool, query, 1);
}
