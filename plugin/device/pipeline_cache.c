/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/pipeline_cache.h"

#include <stdio.h>
#include <string.h>

#include "core/cache_file.h"
#include "device/device.h"
#include "leat_build_id.h"
#include "policy/saving.h"

static leati_pipeline_cache_key key_of(const leati_physical *physical) {
  VkPhysicalDeviceProperties2 about = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &about);
  leati_pipeline_cache_key key = {.vendor = about.properties.vendorID,
                                  .device = about.properties.deviceID,
                                  .driver_version = about.properties.driverVersion};
  memcpy(key.uuid, about.properties.pipelineCacheUUID, sizeof(key.uuid));
  (void)snprintf(key.build, sizeof(key.build), "%.63s", LEAT_BUILD_ID);
  return key;
}

static leati_cache_file file_of(const leati_pipeline_cache *cache) {
  return (leati_cache_file){.folder = cache->folder, .key = &cache->key, .key_size = sizeof(cache->key)};
}

/* Whether data begins with the header that Vulkan has for this device's. */
static bool has_header(const leati_pipeline_cache_key *key, const leati_cache_content *content) {
  VkPipelineCacheHeaderVersionOne header;
  if (content->size < sizeof(header)) {
    return false;
  }
  memcpy(&header, content->data, sizeof(header));
  return header.headerSize >= sizeof(header) && header.headerSize <= content->size &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == key->vendor &&
         header.deviceID == key->device && memcmp(header.pipelineCacheUUID, key->uuid, sizeof(key->uuid)) == 0;
}

/* What is on disk for the device, if the driver may have it. */
static leati_cache_content read_disk(const leati_pipeline_cache *cache) {
  const leati_cache_file file = file_of(cache);
  leati_cache_content content = leati_cache_file_read(&file);
  if (content.data != NULL && !has_header(&cache->key, &content)) {
    leati_log(LEATI_LOG_INFO, "pipelines in %s are not used: Vulkan's header of them is of another device",
              cache->folder);
    leati_free(content.memory);
    return (leati_cache_content){.data = NULL};
  }
  return content;
}

/* Makes a cache that begins with what is given; VK_NULL_HANDLE: the driver makes none. */
static VkPipelineCache create(const leati_vk_device *vk, const leati_cache_content *with) {
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = with->size, .pInitialData = with->data};
  VkPipelineCache made = VK_NULL_HANDLE;
  return vk->CreatePipelineCache(vk->handle, &info, NULL, &made) == VK_SUCCESS ? made : VK_NULL_HANDLE;
}

/* Bytes of a cache's data; 0: the driver does not say. Other threads may compile with the cache. */
static size_t size_of(const leati_vk_device *vk, VkPipelineCache cache) {
  size_t size = 0;
  return vk->GetPipelineCacheData(vk->handle, cache, &size, NULL) == VK_SUCCESS ? size : 0;
}

/* The data of a cache that nobody compiles with. */
static leati_cache_content take_data(const leati_vk_device *vk, VkPipelineCache cache) {
  leati_cache_content taken = {.size = size_of(vk, cache)};
  const size_t room = taken.size;
  taken.memory = room > 0 ? leati_calloc(1, room) : NULL;
  if (taken.memory != NULL && vk->GetPipelineCacheData(vk->handle, cache, &taken.size, taken.memory) == VK_SUCCESS &&
      taken.size <= room) {
    taken.data = taken.memory;
  }
  return taken;
}

/* The data of what is on disk and of a cache together, which itself cannot take in anything while others compile with
 * it. No data: the driver does not give it. */
static leati_cache_content bring_together(const leati_vk_device *vk, const leati_cache_content *disk,
                                          VkPipelineCache cache) {
  leati_cache_content all = {.data = NULL};
  const VkPipelineCache both = create(vk, disk);
  if (both != VK_NULL_HANDLE && vk->MergePipelineCaches(vk->handle, both, 1, &cache) == VK_SUCCESS) {
    all = take_data(vk, both);
  }
  vk->DestroyPipelineCache(vk->handle, both, NULL);
  return all;
}

/* Saves; false: it could not be done. */
static bool save_new(const leat_device *device, const leati_pipeline_cache *cache) {
  const leati_cache_file file = file_of(cache);
  const leati_cache_content disk = read_disk(cache), all = bring_together(&device->vk, &disk, cache->handle);
  bool saved = all.data != NULL;
  if (!saved) {
    leati_log(LEATI_LOG_INFO, "pipelines of %s are not kept on disk: the driver does not give them",
              device->physical->info.name);
  } else if (all.size != disk.size || memcmp(all.data, disk.data, all.size) != 0) {
    /* Else another process has compiled and saved all that is new here. */
    saved = leati_cache_file_write(&file, all.data, all.size);
  }
  leati_free(all.memory);
  leati_free(disk.memory);
  return saved;
}

/* Saves unless nothing is new. The role is the caller's. */
static void save(const leat_device *device, leati_pipeline_cache *cache) {
  leati_assert_unlocked();
  const uint64_t begin = leati_now_ns();
  /* What is compiled from here on may come too late for this save. */
  atomic_store_explicit(&cache->compiled_ns, 0, memory_order_seq_cst);
  const size_t size = size_of(&device->vk, cache->handle);
  const bool saved = size <= cache->size || save_new(device, cache);
  cache->size = size > cache->size ? size : cache->size;
  atomic_store_explicit(&cache->save_ns, saved ? leati_now_ns() - begin : LEATI_SAVE_NEVER, memory_order_relaxed);
}

void leati_pipeline_cache_open(const leat_device *device, leati_pipeline_cache *out) {
  const leati_config *config = NULL;
  /* The device would not be known if this could fail. */
  (void)leati_config_get(&config, NULL);
  (void)snprintf(out->folder, sizeof(out->folder), "%s", config->cache_dir);
  const leati_vk_device *const vk = &device->vk;
  leati_cache_content disk = {.data = NULL};
  if (out->folder[0] != '\0') {
    out->key = key_of(device->physical);
    disk = read_disk(out);
  }
  out->handle = create(vk, &disk);
  if (out->handle == VK_NULL_HANDLE && disk.data != NULL) {
    out->handle = create(vk, &(leati_cache_content){.data = NULL});
  }
  leati_free(disk.memory);
  const bool kept = out->folder[0] != '\0' && out->handle != VK_NULL_HANDLE;
  atomic_store_explicit(&out->save_ns, kept ? 0 : LEATI_SAVE_NEVER, memory_order_relaxed);
  out->size = kept ? size_of(vk, out->handle) : 0;
}

void leati_pipeline_cache_compiled(const leat_device *device, leati_pipeline_cache *cache, uint64_t took_ns) {
  (void)atomic_fetch_add_explicit(&cache->compiled_ns, took_ns, memory_order_seq_cst);
  while (leati_save_is_due(atomic_load_explicit(&cache->compiled_ns, memory_order_seq_cst),
                           atomic_load_explicit(&cache->save_ns, memory_order_relaxed)) &&
         leati_role_try(&cache->saver)) {
    save(device, cache);
    leati_role_leave(&cache->saver);
  }
}

void leati_pipeline_cache_close(const leat_device *device, leati_pipeline_cache *cache) {
  if (atomic_load_explicit(&cache->save_ns, memory_order_relaxed) != LEATI_SAVE_NEVER) {
    save(device, cache);
  }
  device->vk.DestroyPipelineCache(device->vk.handle, cache->handle, NULL);
}
