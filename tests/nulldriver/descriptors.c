/* SPDX-License-Identifier: BSD-3-Clause */
/* Shader modules, layouts, pipelines, and descriptor pools with their sets. */
#include <string.h>

#include "nulldriver/instance.h"
#include "nulldriver/objects.h"
#include "nulldriver/pipeline_caches.h"

/* ---- Shader modules, layouts, pipelines ----------------------------------------------------------------------------
 */

VkResult nd_CreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *host,
                               VkShaderModule *out) {
  (void)host;
  nd_call call;
  VkResult result;
  nd_shader_module *const module =
      nd_create(&call, ND_CreateShaderModule, device, NULLDRIVER_SHADER_MODULE, sizeof(*module), &result);
  if (module == NULL) {
    return result;
  }
  if (info->codeSize < 20 || info->codeSize % 4 != 0 || info->pCode[0] != 0x07230203u) {
    nd_violation(call.name, "the code is no SPIR-V");
  }
  module->code = info->pCode;
  module->hash = nd_hash(0, info->pCode, info->codeSize);
  *out = ND_HANDLE(VkShaderModule, module);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyShaderModule(VkDevice device, VkShaderModule module, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyShaderModule, device, NULLDRIVER_SHADER_MODULE, ND_NUMBER(module));
}

VkResult nd_CreateDescriptorSetLayout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                      const VkAllocationCallbacks *host, VkDescriptorSetLayout *out) {
  (void)host;
  nd_call call;
  VkResult result;
  nd_layout *const layout =
      nd_create(&call, ND_CreateDescriptorSetLayout, device, NULLDRIVER_SET_LAYOUT, sizeof(*layout), &result);
  if (layout == NULL) {
    return result;
  }
  for (uint32_t i = 0; i < info->bindingCount; ++i) {
    if (info->pBindings[i].binding >= ND_LAYOUT_MAX) {
      nd_violation(call.name, "binding %u; this driver knows %u", info->pBindings[i].binding, ND_LAYOUT_MAX);
    } else {
      layout->types[info->pBindings[i].binding] = info->pBindings[i].descriptorType;
    }
  }
  layout->count = info->bindingCount;
  *out = ND_HANDLE(VkDescriptorSetLayout, layout);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyDescriptorSetLayout(VkDevice device, VkDescriptorSetLayout layout, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyDescriptorSetLayout, device, NULLDRIVER_SET_LAYOUT, ND_NUMBER(layout));
}

VkResult nd_CreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                 const VkAllocationCallbacks *host, VkPipelineLayout *out) {
  (void)host;
  nd_call call;
  VkResult result;
  nd_layout *const layout =
      nd_create(&call, ND_CreatePipelineLayout, device, NULLDRIVER_PIPELINE_LAYOUT, sizeof(*layout), &result);
  if (layout == NULL) {
    return result;
  }
  for (uint32_t i = 0; i < info->setLayoutCount && i < ND_LAYOUT_MAX; ++i) {
    layout->sets[i] = ND_NUMBER(info->pSetLayouts[i]);
    (void)nd_object_find(call.name, NULLDRIVER_SET_LAYOUT, layout->sets[i]);
  }
  layout->count = info->setLayoutCount;
  *out = ND_HANDLE(VkPipelineLayout, layout);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyPipelineLayout(VkDevice device, VkPipelineLayout layout, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyPipelineLayout, device, NULLDRIVER_PIPELINE_LAYOUT, ND_NUMBER(layout));
}

static VkResult create_pipeline(const char *function, nd_device *device, const VkComputePipelineCreateInfo *info,
                                nd_pipeline_cache *cache, VkPipeline *out) {
  const nd_shader_module *const module =
      nd_object_find(function, NULLDRIVER_SHADER_MODULE, ND_NUMBER(info->stage.module));
  const void *const layout = nd_object_find(function, NULLDRIVER_PIPELINE_LAYOUT, ND_NUMBER(info->layout));
  if (module == NULL || layout == NULL) {
    return VK_ERROR_UNKNOWN;
  }
  nd_pipeline *const pipeline = nd_object_create(NULLDRIVER_PIPELINE, sizeof(*pipeline), device);
  if (pipeline == NULL) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  pipeline->cached = cache != NULL;
  pipeline->code = module->code;
  const VkSpecializationInfo *const constants = info->stage.pSpecializationInfo;
  if (constants != NULL && constants->dataSize <= sizeof(pipeline->constants)) {
    pipeline->constants_size = (uint32_t)constants->dataSize;
    memcpy(pipeline->constants, constants->pData, constants->dataSize);
  }
  if (cache != NULL) {
    nd_pipeline_cache_note(cache, nd_hash(module->hash, pipeline->constants, pipeline->constants_size));
  }
  *out = ND_HANDLE(VkPipeline, pipeline);
  return VK_SUCCESS;
}

VkResult nd_CreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                   const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *host,
                                   VkPipeline *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateComputePipelines, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  /* Threads may use one cache at a time: it synchronises itself, as no flag says otherwise. */
  nd_pipeline_cache *const with =
      cache == VK_NULL_HANDLE ? NULL : nd_object_find(call.name, NULLDRIVER_PIPELINE_CACHE, ND_NUMBER(cache));
  VkResult result = d == NULL ? VK_ERROR_UNKNOWN : VK_SUCCESS;
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = VK_NULL_HANDLE;
    if (result == VK_SUCCESS) {
      result = create_pipeline(call.name, d, &infos[i], with, &out[i]);
    }
  }
  return nd_leave(&call, result);
}

void nd_DestroyPipeline(VkDevice device, VkPipeline pipeline, const VkAllocationCallbacks *host) {
  (void)host;
  nd_destroy(ND_DestroyPipeline, device, NULLDRIVER_PIPELINE, ND_NUMBER(pipeline));
}

/* ---- Descriptors ---------------------------------------------------------------------------------------------------
 */

VkResult nd_CreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                                 const VkAllocationCallbacks *host, VkDescriptorPool *out) {
  (void)host;
  nd_call call;
  VkResult result;
  nd_descriptor_pool *const pool =
      nd_create(&call, ND_CreateDescriptorPool, device, NULLDRIVER_DESCRIPTOR_POOL, sizeof(*pool), &result);
  if (pool == NULL) {
    return result;
  }
  pool->max_sets = info->maxSets;
  *out = ND_HANDLE(VkDescriptorPool, pool);
  return nd_leave(&call, VK_SUCCESS);
}

static void destroy_sets(const char *function, nd_descriptor_pool *pool) {
  while (pool->sets != NULL) {
    nd_descriptor_set *const set = pool->sets;
    pool->sets = set->next;
    nd_object_destroy(function, &set->object);
  }
  pool->set_count = 0;
}

VkResult nd_ResetDescriptorPool(VkDevice device, VkDescriptorPool pool, VkDescriptorPoolResetFlags flags) {
  (void)device;
  (void)flags;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_ResetDescriptorPool, ND_NUMBER(pool), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_descriptor_pool *const p = nd_object_find(call.name, NULLDRIVER_DESCRIPTOR_POOL, ND_NUMBER(pool));
  if (p != NULL) {
    destroy_sets(call.name, p);
  }
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyDescriptorPool(VkDevice device, VkDescriptorPool pool, const VkAllocationCallbacks *host) {
  (void)device;
  (void)host;
  nd_call call;
  (void)nd_enter(&call, ND_DestroyDescriptorPool, ND_NUMBER(pool), 0);
  nd_descriptor_pool *const p =
      pool == VK_NULL_HANDLE ? NULL : nd_object_find(call.name, NULLDRIVER_DESCRIPTOR_POOL, ND_NUMBER(pool));
  if (p != NULL) {
    destroy_sets(call.name, p);
    nd_object_destroy(call.name, &p->object);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

static VkResult allocate_set(const char *function, nd_descriptor_pool *pool, VkDescriptorSetLayout layout,
                             VkDescriptorSet *out) {
  const nd_layout *const l = nd_object_find(function, NULLDRIVER_SET_LAYOUT, ND_NUMBER(layout));
  if (l == NULL) {
    return VK_ERROR_UNKNOWN;
  }
  if (pool->set_count == pool->max_sets) {
    return VK_ERROR_OUT_OF_POOL_MEMORY;
  }
  nd_descriptor_set *const set = nd_object_create(NULLDRIVER_DESCRIPTOR_SET, sizeof(*set), pool->object.device);
  if (set == NULL) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  set->pool = pool;
  set->dynamic = l->types[0] == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
  set->next = pool->sets;
  pool->sets = set;
  ++pool->set_count;
  *out = ND_HANDLE(VkDescriptorSet, set);
  return VK_SUCCESS;
}

VkResult nd_AllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out) {
  (void)device;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_AllocateDescriptorSets, ND_NUMBER(info->descriptorPool), 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_descriptor_pool *const pool =
      nd_object_find(call.name, NULLDRIVER_DESCRIPTOR_POOL, ND_NUMBER(info->descriptorPool));
  VkResult result = pool == NULL ? VK_ERROR_UNKNOWN : VK_SUCCESS;
  for (uint32_t i = 0; i < info->descriptorSetCount; ++i) {
    out[i] = VK_NULL_HANDLE;
    if (result == VK_SUCCESS) {
      result = allocate_set(call.name, pool, info->pSetLayouts[i], &out[i]);
    }
  }
  return nd_leave(&call, result);
}

static void update_set(const char *function, const VkWriteDescriptorSet *write) {
  nd_descriptor_set *const set =
      nd_object_find_to_change(function, NULLDRIVER_DESCRIPTOR_SET, ND_NUMBER(write->dstSet));
  if (set == NULL) {
    return;
  }
  if (set->object.in_flight != 0) {
    nd_violation(function, "the set is used by %u submissions in flight", set->object.in_flight);
    return;
  }
  if (write->dstBinding != 0 || write->descriptorCount != 1 || write->pBufferInfo == NULL) {
    nd_violation(function, "this driver knows one buffer in binding 0 only");
    return;
  }
  const VkDescriptorBufferInfo *const info = write->pBufferInfo;
  const nd_buffer *const buffer = nd_object_find(function, NULLDRIVER_BUFFER, ND_NUMBER(info->buffer));
  if (buffer == NULL) {
    return;
  }
  const uint64_t range = info->range == VK_WHOLE_SIZE ? buffer->size - info->offset : info->range;
  if (info->offset > buffer->size || range > buffer->size - info->offset) {
    nd_violation(function, "%llu bytes at %llu of a buffer of %llu", (unsigned long long)range,
                 (unsigned long long)info->offset, (unsigned long long)buffer->size);
    return;
  }
  set->buffer = buffer->object.handle;
  set->offset = info->offset;
  set->range = range;
}

void nd_UpdateDescriptorSets(VkDevice device, uint32_t write_count, const VkWriteDescriptorSet *writes,
                             uint32_t copy_count, const VkCopyDescriptorSet *copies) {
  (void)device;
  (void)copies;
  nd_call call;
  (void)nd_enter(&call, ND_UpdateDescriptorSets, 0, 0);
  for (uint32_t i = 0; i < write_count; ++i) {
    update_set(call.name, &writes[i]);
  }
  if (copy_count != 0) {
    nd_violation(call.name, "this driver copies no descriptors");
  }
  (void)nd_leave(&call, VK_SUCCESS);
}
