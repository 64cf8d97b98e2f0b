/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/merger.h"

#include <string.h>

#include "policy/constants.h"

_Static_assert(LEATI_MERGE_MAX <= LEATI_RECORDS_MAX, "kernels take as many records as are merged");

static bool same_groups(const uint32_t a[3], const uint32_t b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

bool leati_merger_alike(const leati_submission *a, const leati_submission *b) {
  if (a->command_count != b->command_count) {
    return false;
  }
  for (uint32_t i = 0; i < a->command_count; ++i) {
    const leati_command *const one = &a->commands[i], *const other = &b->commands[i];
    if (one->kind != other->kind || one->barrier != other->barrier ||
        (one->kind == LEATI_COMMAND_DISPATCH && (one->dispatch.pipeline != other->dispatch.pipeline ||
                                                 !same_groups(one->dispatch.groups, other->dispatch.groups)))) {
      return false;
    }
  }
  return true;
}

/* A chunk with room for `size` bytes of records at `*out_offset`; NULL: there is no memory. */
static leati_chunk *make_room(leat_device *device, leati_merger *merger, uint64_t size, uint64_t *out_offset) {
  const uint64_t alignment = device->physical->uniform_alignment;
  leati_chunk *chunk = merger->records;
  *out_offset = chunk != NULL ? (chunk->used + alignment - 1) & ~(alignment - 1) : 0;
  if (chunk == NULL || *out_offset + LEATI_RECORDS_WINDOW > chunk->size) {
    if (leati_chunks_take(device, 0, LEATI_CHUNK_ARGUMENTS, LEATI_MERGED_RECORDS_SIZE, &chunk, NULL) != LEAT_OK) {
      merger->exhausted = true;
      return NULL;
    }
    chunk->next = merger->records;
    merger->records = chunk;
    *out_offset = 0;
  }
  chunk->used = *out_offset + size;
  return chunk;
}

bool leati_merger_write(leat_device *device, leati_merger *merger, const leati_submission *const *lists, uint32_t count,
                        uint32_t command, VkCommandBuffer commands, VkPipeline *inout_bound) {
  const leati_vk_device *const vk = &device->vk;
  const leati_command *const first = &lists[0]->commands[command];
  leati_pipeline *const pipeline = first->dispatch.pipeline;
  const VkPipeline merged = atomic_load_explicit(&pipeline->merged, memory_order_acquire);
  if (merged == VK_NULL_HANDLE) {
    leati_pipeline_want_merged(pipeline);
    return false;
  }
  const uint32_t size = pipeline->record_size;
  uint64_t offset = 0;
  const leati_chunk *const chunk =
      merger->exhausted ? NULL : make_room(device, merger, (uint64_t)size * count, &offset);
  if (chunk == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const leati_command *const one = &lists[i]->commands[command];
    /* Behind a record there may be counters, which it has the address of. */
    memcpy(chunk->draft + offset + (size_t)i * size, one->dispatch.record,
           one->dispatch.size < size ? one->dispatch.size : size);
  }
  if (merged != *inout_bound) {
    *inout_bound = merged;
    vk->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, merged);
  }
  const uint32_t at = (uint32_t)offset;
  vk->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, device->pipeline_layout, 0, 1,
                            &chunk->records_set, 1, &at);
  vk->CmdDispatch(commands, first->dispatch.groups[0], first->dispatch.groups[1], count);
  return true;
}

void leati_merger_send(const leati_merger *merger) {
  for (const leati_chunk *chunk = merger->records; chunk != NULL; chunk = chunk->next) {
    memcpy(chunk->mapped, chunk->draft, chunk->used);
  }
}

void leati_merger_clear(leat_device *device, leati_merger *merger) {
  leati_chunks_give(device, merger->records);
  *merger = (leati_merger){.records = NULL};
}
