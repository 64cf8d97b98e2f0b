/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/pipeline.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "device/kernel.h"
#include "device/pipeline_cache.h"

/* Shards of the table of pipelines, each with a lock, and buckets of a shard (some hundred pipelines). */
#define PIPELINE_SHARDS 16
#define PIPELINE_BUCKETS 32

#define FULL_SUBGROUPS VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT

/* A pipeline that a thread compiles, on that thread's stack. */
typedef struct compilation {
  const leati_pipeline_key *key;
  struct compilation *next;
} compilation;

/* Entries are only ever added at the head of a bucket, so lookups walk without a lock: they acquire the head that the
 * adding thread released. */
typedef struct shard {
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /* serialises adding; guards `compiling` */
  compilation *compiling;
  leati_condition compiled; /* one of `compiling` has left */
  leati_pipeline *_Atomic buckets[PIPELINE_BUCKETS];
} shard;
LEATI_OWN_LINE(shard);

struct leati_pipelines {
  /* Stands behind all of them: what was compiled for one may serve another. */
  leati_pipeline_cache cache;
  shard shards[PIPELINE_SHARDS];
};

static uint32_t hash_key(const leati_pipeline_key *key) {
  uint32_t hash = (uint32_t)key->kernel;
  for (int i = 0; i < LEATI_CONSTANTS_MAX; ++i) {
    hash = hash * 2246822519u + key->constants.by_id[i];
  }
  hash = (hash ^ hash >> 15) * 2654435761u;
  return hash ^ hash >> 15;
}

static bool same_key(const leati_pipeline_key *a, const leati_pipeline_key *b) {
  return a->kernel == b->kernel && memcmp(&a->constants, &b->constants, sizeof(a->constants)) == 0;
}

static leati_pipeline *find(shard *s, uint32_t bucket, const leati_pipeline_key *key) {
  /* An entry's `next` is set before the entry is published. */
  leati_pipeline *at = atomic_load_explicit(&s->buckets[bucket], memory_order_acquire);
  while (at != NULL && !same_key(&at->key, key)) {
    at = atomic_load_explicit(&at->next, memory_order_relaxed);
  }
  return at;
}

static int32_t make_module(leat_device *device, const leati_pipeline_key *key, VkShaderModule *out, leat_error *err) {
  const leati_kernel_code *const code = &leati_kernel_codes[key->kernel];
  uint32_t *words;
  size_t size;
  if (!leati_kernel_module(device->physical, code, &key->constants, &words, &size)) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for kernel %s", code->name);
  }
  const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = size,
                                         .pCode = words != NULL ? words : code->words};
  const VkResult result = device->vk.CreateShaderModule(device->vk.handle, &info, NULL, out);
  leati_free(words);
  return result == VK_SUCCESS ? LEAT_OK : leati_device_fail(device, result, "vkCreateShaderModule", err);
}

/* The specialisation constants as a driver gets them, by id. */
typedef struct specialisation {
  leati_constants constants;
  uint32_t halves; /* LEAT_HALVES of kernels/types.glsl */
} specialisation;

#define SPECIALISED (sizeof(specialisation) / sizeof(uint32_t))
_Static_assert(offsetof(specialisation, halves) == LEATI_HALVES_ID * sizeof(uint32_t), "constants lie by id");
/* The least that Vulkan allows for maxUniformBufferRange. */
_Static_assert(LEATI_ARGS_MAX <= 16384, "a record fits a uniform buffer");

static int32_t compile(leat_device *device, const leati_pipeline_key *key, VkPipeline *out, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const leati_kernel_code *const code = &leati_kernel_codes[key->kernel];
  VkShaderModule module = VK_NULL_HANDLE;
  LEATI_TRY(make_module(device, key, &module, err));
  VkSpecializationMapEntry entries[SPECIALISED];
  for (uint32_t i = 0; i < SPECIALISED; ++i) {
    entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = i * 4u, .size = 4};
  }
  const specialisation values = {.constants = key->constants, .halves = device->physical->converts_halves ? 1 : 0};
  const VkSpecializationInfo constants = {
      .mapEntryCount = SPECIALISED, .pMapEntries = entries, .dataSize = sizeof(values), .pData = &values};
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .flags = code->shuffles != 0 ? FULL_SUBGROUPS : 0,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                      .module = module,
                                                      .pName = "main",
                                                      .pSpecializationInfo = &constants},
                                            .layout = device->pipeline_layout};
  const VkResult result = vk->CreateComputePipelines(vk->handle, device->pipelines->cache.handle, 1, &info, NULL, out);
  vk->DestroyShaderModule(vk->handle, module, NULL);
  if (result != VK_SUCCESS) {
    char what[128];
    (void)snprintf(what, sizeof(what), "vkCreateComputePipelines for kernel %.64s", code->name);
    return leati_device_fail(device, result, what, err);
  }
  /* Counted by conformance/check-kernels. */
  leati_log(LEATI_LOG_DEBUG, "a pipeline of kernel %s is made", code->name);
  return LEAT_OK;
}

bool leati_pipeline_find(leat_device *device, const leati_pipeline_key *key, leati_pipeline **out) {
  const uint32_t hash = hash_key(key);
  leati_pipeline *const known =
      find(&device->pipelines->shards[hash % PIPELINE_SHARDS], hash / PIPELINE_SHARDS % PIPELINE_BUCKETS, key);
  if (known == NULL) {
    return false;
  }
  *out = known;
  return true;
}

const char *leati_pipeline_name(const leati_pipeline_key *key) {
  return leati_kernel_codes[key->kernel].name;
}

/* Compiles what is then in no bucket yet. */
static int32_t make_pipeline(leat_device *device, const leati_pipeline_key *key, leati_pipeline **out,
                             leat_error *err) {
  VkPipeline handle;
  LEATI_TRY(compile(device, key, &handle, err));
  leati_pipeline *const made = leati_calloc_line(sizeof(*made));
  if (made == NULL) {
    device->vk.DestroyPipeline(device->vk.handle, handle, NULL);
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a pipeline");
  }
  made->key = *key;
  made->handle = handle;
  *out = made;
  return LEAT_OK;
}

static bool is_compiled_now(const shard *s, const leati_pipeline_key *key) {
  const compilation *at = s->compiling;
  while (at != NULL && !same_key(at->key, key)) {
    at = at->next;
  }
  return at != NULL;
}

/* Enters that this thread compiles the pipeline. False: there is nothing to do, it is there or another thread has
 * tried. */
static bool begin_compilation(shard *s, uint32_t bucket, compilation *own) {
  leati_mutex_lock(&s->lock);
  const bool other = is_compiled_now(s, own->key);
  while (is_compiled_now(s, own->key)) {
    leati_condition_wait(&s->compiled, &s->lock, UINT64_MAX);
  }
  const bool begun = !other && find(s, bucket, own->key) == NULL;
  if (begun) {
    own->next = s->compiling;
    s->compiling = own;
  }
  leati_mutex_unlock(&s->lock);
  return begun;
}

/* Adds what was compiled (NULL: it failed), and lets those go on who have waited. */
static void end_compilation(shard *s, uint32_t bucket, const compilation *own, leati_pipeline *made) {
  leati_mutex_lock(&s->lock);
  compilation **at = &s->compiling;
  while (*at != own) {
    at = &(*at)->next;
  }
  *at = own->next;
  if (made != NULL) {
    atomic_store_explicit(&made->next, atomic_load_explicit(&s->buckets[bucket], memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&s->buckets[bucket], made, memory_order_release);
  }
  leati_condition_broadcast(&s->compiled);
  leati_mutex_unlock(&s->lock);
}

int32_t leati_pipeline_compile(leat_device *device, const leati_pipeline_key *key, bool *out_compiled,
                               leat_error *err) {
  const uint32_t hash = hash_key(key);
  shard *const s = &device->pipelines->shards[hash % PIPELINE_SHARDS];
  const uint32_t bucket = hash / PIPELINE_SHARDS % PIPELINE_BUCKETS;
  compilation own = {.key = key};
  *out_compiled = begin_compilation(s, bucket, &own);
  if (!*out_compiled) {
    return LEAT_OK;
  }
  leati_pipeline *made = NULL;
  const uint64_t begin = leati_now_ns();
  const int32_t status = make_pipeline(device, key, &made, err);
  const uint64_t took_ns = leati_now_ns() - begin;
  end_compilation(s, bucket, &own, made);
  if (status == LEAT_OK) {
    /* Those who wait for this pipeline have it already. */
    leati_pipeline_cache_compiled(device, &device->pipelines->cache, took_ns);
  }
  return status;
}

int32_t leati_pipelines_create(leat_device *device, leat_error *err) {
  device->pipelines = leati_calloc_line(sizeof(*device->pipelines));
  if (device->pipelines == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the pipeline cache");
  }
  leati_pipeline_cache_open(device, &device->pipelines->cache);
  for (int i = 0; i < PIPELINE_SHARDS; ++i) {
    leati_mutex_init(&device->pipelines->shards[i].lock, LEATI_RANK_PIPELINE);
    leati_condition_init(&device->pipelines->shards[i].compiled);
  }
  return LEAT_OK;
}

void leati_pipelines_destroy(leat_device *device) {
  if (device->pipelines == NULL) {
    return;
  }
  for (int i = 0; i < PIPELINE_SHARDS; ++i) {
    shard *const s = &device->pipelines->shards[i];
    for (int j = 0; j < PIPELINE_BUCKETS; ++j) {
      leati_pipeline *at = atomic_load_explicit(&s->buckets[j], memory_order_relaxed);
      while (at != NULL) {
        leati_pipeline *const next = atomic_load_explicit(&at->next, memory_order_relaxed);
        device->vk.DestroyPipeline(device->vk.handle, at->handle, NULL);
        leati_free(at);
        at = next;
      }
    }
    leati_condition_destroy(&s->compiled);
    leati_mutex_destroy(&s->lock);
  }
  leati_pipeline_cache_close(device, &device->pipelines->cache);
  leati_free(device->pipelines);
  device->pipelines = NULL;
}
