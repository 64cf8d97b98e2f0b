/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/timestamp.h"

#include "core/status.h"
#include "device/device.h"
#include "memory/staging.h"
#include "policy/constants.h"

typedef struct timestamp_block {
  struct timestamp_block *next;
  VkQueryPool pool;
  leati_chunk *chunk; /* what the device copies them to */
  leati_timestamp timestamps[LEATI_TIMESTAMPS_PER_BLOCK];
} timestamp_block;

struct leati_timestamps {
  leati_mutex lock; /* guards everything below, and the fields of the queries that are free */
  timestamp_block *blocks;
  leati_timestamp *free; /* passed or not: the thread that takes one looks */
};

int32_t leati_timestamps_create(leat_device *device, leat_error *err) {
  device->timestamps = leati_calloc(1, sizeof(*device->timestamps));
  if (device->timestamps == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for timestamps");
  }
  leati_mutex_init(&device->timestamps->lock, LEATI_RANK_TIMESTAMPS);
  return LEAT_OK;
}

static void destroy_block(leat_device *device, timestamp_block *block) {
  if (block->pool != VK_NULL_HANDLE) {
    device->vk.DestroyQueryPool(device->vk.handle, block->pool, NULL);
  }
  leati_chunks_give(device, block->chunk);
  leati_free(block);
}

void leati_timestamps_destroy(leat_device *device) {
  struct leati_timestamps *const all = device->timestamps;
  if (all == NULL) {
    return;
  }
  while (all->blocks != NULL) {
    timestamp_block *const block = all->blocks;
    all->blocks = block->next;
    destroy_block(device, block);
  }
  leati_mutex_destroy(&all->lock);
  leati_free(all);
  device->timestamps = NULL;
}

static int32_t make_block(leat_device *device, timestamp_block **out, leat_error *err) {
  timestamp_block *const block = leati_calloc(1, sizeof(*block));
  if (block == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for timestamps");
  }
  const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                      .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                      .queryCount = LEATI_TIMESTAMPS_PER_BLOCK};
  const VkResult result = device->vk.CreateQueryPool(device->vk.handle, &info, NULL, &block->pool);
  int32_t status = LEAT_OK;
  if (result != VK_SUCCESS) {
    block->pool = VK_NULL_HANDLE;
    status = leati_device_fail(device, result, "vkCreateQueryPool", err);
  } else {
    status = leati_staging_take(device, 0, LEATI_CHUNK_DOWNLOAD, sizeof(uint64_t) * LEATI_TIMESTAMPS_PER_BLOCK,
                                &block->chunk, err);
  }
  if (status != LEAT_OK) {
    destroy_block(device, block);
    return status;
  }
  for (uint32_t i = 0; i < LEATI_TIMESTAMPS_PER_BLOCK; ++i) {
    const uint64_t offset = sizeof(uint64_t) * i;
    block->timestamps[i] =
        (leati_timestamp){.next = i + 1 < LEATI_TIMESTAMPS_PER_BLOCK ? &block->timestamps[i + 1] : NULL,
                          .pool = block->pool,
                          .query = i,
                          .buffer = block->chunk->buffer,
                          .offset = offset,
                          .value_at = (const uint64_t *)(const void *)(block->chunk->mapped + offset)};
  }
  *out = block;
  return LEAT_OK;
}

/* Takes the first free query that nothing in flight writes. `lock` held. */
static leati_timestamp *pop_passed(struct leati_timestamps *all) LEATI_HOLDS(all->lock) {
  for (leati_timestamp **at = &all->free; *at != NULL; at = &(*at)->next) {
    leati_timestamp *const timestamp = *at;
    if (timestamp->timeline == NULL || leati_timeline_passed(timestamp->timeline, timestamp->value)) {
      *at = timestamp->next;
      return timestamp;
    }
  }
  return NULL;
}

int32_t leati_timestamp_take(leat_device *device, leati_timestamp **out, leat_error *err) {
  struct leati_timestamps *const all = device->timestamps;
  leati_mutex_lock(&all->lock);
  leati_timestamp *timestamp = pop_passed(all);
  leati_mutex_unlock(&all->lock);
  if (timestamp == NULL) {
    timestamp_block *block = NULL;
    LEATI_TRY(make_block(device, &block, err));
    timestamp = &block->timestamps[0];
    leati_mutex_lock(&all->lock);
    block->next = all->blocks;
    all->blocks = block;
    block->timestamps[LEATI_TIMESTAMPS_PER_BLOCK - 1].next = all->free;
    all->free = timestamp->next;
    leati_mutex_unlock(&all->lock);
  }
  device->vk.ResetQueryPool(device->vk.handle, timestamp->pool, timestamp->query, 1);
  timestamp->next = NULL;
  timestamp->timeline = NULL;
  *out = timestamp;
  return LEAT_OK;
}

void leati_timestamp_release(leat_device *device, leati_timestamp *timestamp) {
  if (timestamp != NULL) {
    leati_mutex_lock(&device->timestamps->lock);
    timestamp->next = device->timestamps->free;
    device->timestamps->free = timestamp;
    leati_mutex_unlock(&device->timestamps->lock);
  }
}

void leati_timestamp_record(const leat_device *device, VkCommandBuffer commands, const leati_timestamp *timestamp) {
  const leati_vk_device *const vk = &device->vk;
  vk->CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamp->pool, timestamp->query);
  vk->CmdCopyQueryPoolResults(commands, timestamp->pool, timestamp->query, 1, timestamp->buffer, timestamp->offset,
                              sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
  const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
  vk->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL,
                         0, NULL);
}

leati_reading leati_timestamp_read(const leati_timestamp *timestamp) {
  return (leati_reading){.steps = *timestamp->value_at, .lane = timestamp->lane};
}

int32_t leati_timestamp_elapsed(const leat_device *device, leati_reading start, leati_reading end, double *out_ns,
                                leat_error *err) {
  if (start.lane != end.lane && !device->physical->common_clock) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "the events were recorded on different hardware queues, whose clocks this driver does not relate "
                      "(it lacks the device domain of VK_EXT_calibrated_timestamps)");
  }
  /* The counter has so many valid bits and wraps around. As a signed difference the order of the events may be either.
   */
  const uint32_t bits = device->physical->timestamp_bits;
  const uint64_t difference = (end.steps - start.steps) << (64 - bits);
  *out_ns = (double)((int64_t)difference >> (64 - bits)) * (double)device->physical->timestamp_period;
  return LEAT_OK;
}
