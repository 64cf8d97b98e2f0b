/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipeline caches. Their data is Vulkan's header and an entry for each pipeline; a real driver that is given anything
 * else may crash, this one notes a violation. */
#include "nulldriver/pipeline_caches.h"

#include <stdlib.h>
#include <string.h>

#include "nulldriver/instance.h"

/* A pipeline in the data. */
typedef struct entry {
  uint64_t pipeline, complement; /* the second is ~pipeline */
} entry;

#define HEADER_SIZE sizeof(VkPipelineCacheHeaderVersionOne)

static uint32_t known_count; /* guarded by the driver's lock */

uint64_t nd_hash(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *const at = bytes;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ at[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

void nd_pipelines_reset(void) {
  known_count = 0;
}

uint32_t nulldriver_pipelines_known(void) {
  nd_lock();
  const uint32_t count = known_count;
  nd_unlock();
  return count;
}

/* Adds a pipeline that a cache does not know; false: it knows it, or there is no memory. */
static bool add(nd_pipeline_cache *cache, uint64_t pipeline) {
  for (uint32_t i = 0; i < cache->count; ++i) {
    if (cache->known[i] == pipeline) {
      return false;
    }
  }
  if (cache->count == cache->capacity) {
    const uint32_t capacity = cache->capacity == 0 ? 16 : 2 * cache->capacity;
    uint64_t *const grown = realloc(cache->known, capacity * sizeof(*grown));
    if (grown == NULL) {
      return false;
    }
    cache->known = grown;
    cache->capacity = capacity;
  }
  cache->known[cache->count++] = pipeline;
  return true;
}

void nd_pipeline_cache_note(nd_pipeline_cache *cache, uint64_t pipeline) {
  known_count += add(cache, pipeline) ? 0 : 1;
}

void nd_pipeline_cache_finish(nd_pipeline_cache *cache) {
  free(cache->known);
}

static VkPipelineCacheHeaderVersionOne header_of(const nd_device *device) {
  VkPipelineCacheHeaderVersionOne header = {.headerSize = HEADER_SIZE,
                                            .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
                                            .vendorID = device->shape.vendor,
                                            .deviceID = device->shape.device};
  memcpy(header.pipelineCacheUUID, device->shape.cache_uuid, VK_UUID_SIZE);
  return header;
}

/* Takes over the data of another cache. */
static void take(const char *function, nd_pipeline_cache *cache, const unsigned char *data, size_t size) {
  const VkPipelineCacheHeaderVersionOne header = header_of(cache->object.device);
  if (size < HEADER_SIZE || (size - HEADER_SIZE) % sizeof(entry) != 0 || memcmp(data, &header, HEADER_SIZE) != 0) {
    nd_violation(function, "%zu bytes of initial data are no other cache's of this device", size);
    return;
  }
  for (size_t at = HEADER_SIZE; at < size; at += sizeof(entry)) {
    entry e;
    memcpy(&e, data + at, sizeof(e));
    if (e.complement != ~e.pipeline) {
      nd_violation(function, "byte %zu of the initial data or one of the next 15 is damaged", at);
      return;
    }
    (void)add(cache, e.pipeline);
  }
}

VkResult nd_CreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                const VkAllocationCallbacks *host, VkPipelineCache *out) {
  (void)host;
  nd_call call;
  VkResult result;
  nd_pipeline_cache *const cache =
      nd_create(&call, ND_CreatePipelineCache, device, NULLDRIVER_PIPELINE_CACHE, sizeof(*cache), &result);
  if (cache == NULL) {
    return result;
  }
  if (info->flags != 0) {
    nd_violation(call.name, "flags 0x%x need pipelineCreationCacheControl, which is no feature of this driver",
                 info->flags);
  }
  if (info->initialDataSize != 0) {
    take(call.name, cache, info->pInitialData, info->initialDataSize);
  }
  *out = ND_HANDLE(VkPipelineCache, cache);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyPipelineCache(VkDevice device, VkPipelineCache cache, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyPipelineCache, device, NULLDRIVER_PIPELINE_CACHE, ND_NUMBER(cache));
}

VkResult nd_GetPipelineCacheData(VkDevice device, VkPipelineCache cache, size_t *inout_size, void *out) {
  nd_call call;
  VkResult result = nd_enter(&call, ND_GetPipelineCacheData, 0, 0);
  if (result != VK_SUCCESS) {
    return result;
  }
  (void)nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  /* Threads may compile with it at the same time. */
  const nd_pipeline_cache *const from = nd_object_find(call.name, NULLDRIVER_PIPELINE_CACHE, ND_NUMBER(cache));
  const size_t whole = from == NULL ? 0 : HEADER_SIZE + from->count * sizeof(entry);
  if (from == NULL || out == NULL) {
    *inout_size = whole;
    return nd_leave(&call, from == NULL ? VK_ERROR_UNKNOWN : VK_SUCCESS);
  }
  if (*inout_size < HEADER_SIZE) {
    *inout_size = 0;
    return nd_leave(&call, VK_INCOMPLETE);
  }
  const size_t room = (*inout_size - HEADER_SIZE) / sizeof(entry);
  const size_t given = room < from->count ? room : from->count;
  const VkPipelineCacheHeaderVersionOne header = header_of(from->object.device);
  unsigned char *const to = out;
  memcpy(to, &header, HEADER_SIZE);
  for (size_t i = 0; i < given; ++i) {
    const entry e = {.pipeline = from->known[i], .complement = ~from->known[i]};
    memcpy(to + HEADER_SIZE + i * sizeof(e), &e, sizeof(e));
  }
  *inout_size = HEADER_SIZE + given * sizeof(entry);
  return nd_leave(&call, given < from->count ? VK_INCOMPLETE : VK_SUCCESS);
}

VkResult nd_MergePipelineCaches(VkDevice device, VkPipelineCache to, uint32_t count, const VkPipelineCache *from) {
  nd_call call;
  VkResult result = nd_enter(&call, ND_MergePipelineCaches, ND_NUMBER(to), 0);
  if (result != VK_SUCCESS) {
    return result;
  }
  (void)nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_pipeline_cache *const target = nd_object_find_to_change(call.name, NULLDRIVER_PIPELINE_CACHE, ND_NUMBER(to));
  for (uint32_t i = 0; i < count; ++i) {
    const nd_pipeline_cache *const source = nd_object_find(call.name, NULLDRIVER_PIPELINE_CACHE, ND_NUMBER(from[i]));
    if (source == target) {
      nd_violation(call.name, "a cache is merged into itself");
    }
    for (uint32_t j = 0; source != NULL && target != NULL && j < source->count; ++j) {
      (void)add(target, source->known[j]);
    }
  }
  return nd_leave(&call, VK_SUCCESS);
}
