/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/instance.h"

#include <stdio.h>
#include <string.h>

#include "nulldriver/allocations.h"
#include "nulldriver/queue.h"

#define API_VERSION VK_API_VERSION_1_2

/* There is one physical device, and perhaps a stub. Their handles are numbers that could not be read through. */
#define PHYSICAL ((VkPhysicalDevice)(uintptr_t)UINT64_C(0x4e44ff0000000001))
#define STUB ((VkPhysicalDevice)(uintptr_t)UINT64_C(0x4e44ff0000000002))

/* What a reader of the clock sees pass between two readings, in nanoseconds. */
#define CLOCK_STEP 1000

#define EXTENSIONS_MAX 8

/* The extensions of a device of a shape; returns how many. */
static uint32_t extensions_of(const nulldriver_shape *shape, VkExtensionProperties out[EXTENSIONS_MAX]) {
  const struct {
    bool offered;
    VkExtensionProperties extension;
  } all[EXTENSIONS_MAX] = {
      {true, {VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, VK_EXT_PCI_BUS_INFO_SPEC_VERSION}},
      {true, {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_SPEC_VERSION}},
      {true, {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_SPEC_VERSION}},
      {!shape->no_sharing, {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_MEMORY_FD_SPEC_VERSION}},
      {!shape->no_calibrated_timestamps,
       {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME, VK_EXT_CALIBRATED_TIMESTAMPS_SPEC_VERSION}},
      {shape->multiprocessors != 0, {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, VK_NV_SHADER_SM_BUILTINS_SPEC_VERSION}},
      {shape->compute_units != 0,
       {VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME, VK_AMD_SHADER_CORE_PROPERTIES_2_SPEC_VERSION}},
      {shape->shader_cores != 0,
       {VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, VK_ARM_SHADER_CORE_BUILTINS_SPEC_VERSION}},
  };
  uint32_t count = 0;
  for (uint32_t i = 0; i < EXTENSIONS_MAX; ++i) {
    if (all[i].offered) {
      out[count++] = all[i].extension;
    }
  }
  return count;
}

static uint64_t device_clock; /* guarded by the driver's lock */

uint64_t nd_device_clock(void) {
  return device_clock += CLOCK_STEP;
}

/* Leaves a call about a physical device, whose answer is what the stub's `answer` makes of it. That is called without
 * the driver's lock. */
static VkResult leave(nd_call *call, VkPhysicalDevice physical, VkResult result, uint32_t *count, void *answer) {
  const nulldriver_answer stub = nd_set.stub;
  (void)nd_leave(call, result);
  return physical == STUB ? stub(call->name, result, count, answer) : result;
}

/* ---- Lists ---------------------------------------------------------------------------------------------------------
 */

/* Vulkan's way of giving a list: how many, or as many as fit. */
static VkResult give_list(uint32_t available, const void *from, size_t size, uint32_t *inout_count, void *out) {
  if (out == NULL) {
    *inout_count = available;
    return VK_SUCCESS;
  }
  const VkResult result = *inout_count < available ? VK_INCOMPLETE : VK_SUCCESS;
  *inout_count = *inout_count < available ? *inout_count : available;
  memcpy(out, from, *inout_count * size);
  return result;
}

VkResult nd_EnumerateInstanceVersion(uint32_t *out) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_EnumerateInstanceVersion, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  *out = API_VERSION;
  return nd_leave(&call, VK_SUCCESS);
}

VkResult nd_EnumeratePhysicalDevices(VkInstance instance, uint32_t *inout_count, VkPhysicalDevice *out) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_EnumeratePhysicalDevices, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  (void)nd_object_find(call.name, NULLDRIVER_INSTANCE, ND_NUMBER(instance));
  const VkPhysicalDevice physicals[2] = {STUB, PHYSICAL};
  const uint32_t first = nd_set.stub != NULL ? 0 : 1;
  const VkResult result = give_list(2 - first, &physicals[first], sizeof(physicals[0]), inout_count, out);
  return leave(&call, first == 0 ? STUB : PHYSICAL, result, inout_count, out);
}

VkResult nd_EnumerateDeviceExtensionProperties(VkPhysicalDevice physical, const char *layer, uint32_t *inout_count,
                                               VkExtensionProperties *out) {
  (void)layer;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_EnumerateDeviceExtensionProperties, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  VkExtensionProperties extensions[EXTENSIONS_MAX];
  const uint32_t count = extensions_of(&nd_set.shape, extensions);
  const VkResult result = give_list(count, extensions, sizeof(extensions[0]), inout_count, out);
  return leave(&call, physical, result, inout_count, out);
}

VkResult nd_GetPhysicalDeviceCalibrateableTimeDomainsEXT(VkPhysicalDevice physical, uint32_t *inout_count,
                                                         VkTimeDomainEXT *out) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_GetPhysicalDeviceCalibrateableTimeDomainsEXT, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  const VkTimeDomainEXT domains[2] = {VK_TIME_DOMAIN_DEVICE_EXT, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT};
  const VkResult result = give_list(2, domains, sizeof(domains[0]), inout_count, out);
  return leave(&call, physical, result, inout_count, out);
}

VkResult nd_GetCalibratedTimestampsEXT(VkDevice device, uint32_t count, const VkCalibratedTimestampInfoEXT *infos,
                                       uint64_t *out, uint64_t *out_deviation) {
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_GetCalibratedTimestampsEXT, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  (void)nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = infos[i].timeDomain == VK_TIME_DOMAIN_DEVICE_EXT ? nd_device_clock() : nd_now_ns();
  }
  *out_deviation = CLOCK_STEP;
  return nd_leave(&call, VK_SUCCESS);
}

/* ---- What the physical device is like ------------------------------------------------------------------------------
 */

static nulldriver_shape enter_and_read_shape(nd_call *call, nd_function function, VkPhysicalDevice physical) {
  (void)nd_enter(call, function, 0, 0);
  if (physical != PHYSICAL && (physical != STUB || nd_set.stub == NULL)) {
    nd_violation(call->name, "no physical device of this driver");
  }
  return nd_set.shape;
}

void nd_GetPhysicalDeviceFeatures2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *out) {
  nd_call call;
  const nulldriver_shape shape = enter_and_read_shape(&call, ND_GetPhysicalDeviceFeatures2, physical);
  const VkBool32 query_reset = shape.no_host_query_reset ? VK_FALSE : VK_TRUE;
  out->features = (VkPhysicalDeviceFeatures){
      .robustBufferAccess = VK_TRUE, .shaderFloat64 = VK_TRUE, .shaderInt64 = VK_TRUE, .shaderInt16 = VK_TRUE};
  for (VkBaseOutStructure *next = out->pNext; next != NULL; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      VkPhysicalDeviceVulkan11Features *const v11 = (VkPhysicalDeviceVulkan11Features *)next;
      v11->storageBuffer16BitAccess = v11->uniformAndStorageBuffer16BitAccess = VK_TRUE;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      VkPhysicalDeviceVulkan12Features *const v12 = (VkPhysicalDeviceVulkan12Features *)next;
      v12->storageBuffer8BitAccess = v12->shaderInt8 = v12->shaderFloat16 = VK_TRUE;
      v12->bufferDeviceAddress = v12->timelineSemaphore = v12->uniformBufferStandardLayout = VK_TRUE;
      v12->scalarBlockLayout = v12->vulkanMemoryModel = v12->vulkanMemoryModelDeviceScope = VK_TRUE;
      v12->hostQueryReset = query_reset;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES) {
      ((VkPhysicalDeviceHostQueryResetFeatures *)next)->hostQueryReset = query_reset;
    }
  }
  (void)leave(&call, physical, VK_SUCCESS, NULL, out);
}

void nd_GetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice physical,
                                                  const VkPhysicalDeviceExternalBufferInfo *info,
                                                  VkExternalBufferProperties *out) {
  nd_call call;
  const nulldriver_shape shape = enter_and_read_shape(&call, ND_GetPhysicalDeviceExternalBufferProperties, physical);
  const bool shares = !shape.no_sharing && info->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  out->externalMemoryProperties = (VkExternalMemoryProperties){
      .externalMemoryFeatures =
          shares ? VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT : 0,
      .compatibleHandleTypes = shares ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT : 0};
  (void)leave(&call, physical, VK_SUCCESS, NULL, out);
}

/* Whether semaphores of the type that is chained are timelines. */
static bool asks_for_timelines(const VkPhysicalDeviceExternalSemaphoreInfo *info) {
  const VkSemaphoreTypeCreateInfo *const type = info->pNext;
  return type != NULL && type->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO &&
         type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
}

void nd_GetPhysicalDeviceExternalSemaphoreProperties(VkPhysicalDevice physical,
                                                     const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                     VkExternalSemaphoreProperties *out) {
  nd_call call;
  const nulldriver_shape shape = enter_and_read_shape(&call, ND_GetPhysicalDeviceExternalSemaphoreProperties, physical);
  const VkExternalSemaphoreHandleTypeFlagBits type = shape.no_sync_fd ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
                                                                      : VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
  if (asks_for_timelines(info)) {
    const bool shares = !shape.no_sharing && info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    out->externalSemaphoreFeatures =
        shares ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT : 0;
    (void)leave(&call, physical, VK_SUCCESS, NULL, out);
    return;
  }
  out->exportFromImportedHandleTypes = out->compatibleHandleTypes = info->handleType == type ? type : 0;
  out->externalSemaphoreFeatures = info->handleType == type ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT : 0;
  (void)leave(&call, physical, VK_SUCCESS, NULL, out);
}

static const VkPhysicalDeviceLimits limits = {
    .maxUniformBufferRange = 65536,
    .maxStorageBufferRange = UINT32_MAX,
    .maxPushConstantsSize = 128,
    .maxMemoryAllocationCount = UINT32_MAX,
    .maxBoundDescriptorSets = 8,
    .maxDescriptorSetUniformBuffersDynamic = 8,
    .maxComputeSharedMemorySize = 49152,
    .maxComputeWorkGroupCount = {65535, 65535, 65535},
    .maxComputeWorkGroupInvocations = 1024,
    .maxComputeWorkGroupSize = {1024, 1024, 64},
    .minMemoryMapAlignment = 64,
    .minUniformBufferOffsetAlignment = ND_UNIFORM_ALIGNMENT,
    .minStorageBufferOffsetAlignment = 16,
    .timestampComputeAndGraphics = VK_TRUE,
    .timestampPeriod = 1.0f,
    .nonCoherentAtomSize = 64,
};

void nd_GetPhysicalDeviceProperties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *out) {
  nd_call call;
  const nulldriver_shape shape = enter_and_read_shape(&call, ND_GetPhysicalDeviceProperties2, physical);
  out->properties = (VkPhysicalDeviceProperties){.apiVersion = API_VERSION,
                                                 .driverVersion = shape.driver_version,
                                                 .vendorID = shape.vendor,
                                                 .deviceID = shape.device,
                                                 .deviceType = shape.type,
                                                 .deviceName = "Leat null driver",
                                                 .limits = limits};
  out->properties.limits.maxMemoryAllocationCount = shape.max_allocations;
  memcpy(out->properties.pipelineCacheUUID, shape.cache_uuid, VK_UUID_SIZE);
  for (VkBaseOutStructure *next = out->pNext; next != NULL; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
      memcpy(((VkPhysicalDeviceIDProperties *)next)->deviceUUID, "leat-nulldriver", 16);
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES) {
      ((VkPhysicalDeviceMaintenance3Properties *)next)->maxMemoryAllocationSize = ND_ALLOCATION_MAX;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
      VkPhysicalDeviceDriverProperties *const driver = (VkPhysicalDeviceDriverProperties *)next;
      (void)snprintf(driver->driverName, sizeof(driver->driverName), "Leat null driver");
      (void)snprintf(driver->driverInfo, sizeof(driver->driverInfo), "1");
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT) {
      ((VkPhysicalDevicePCIBusInfoPropertiesEXT *)next)->pciBus = 1;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
      ((VkPhysicalDeviceSubgroupProperties *)next)->subgroupSize = 32;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV) {
      ((VkPhysicalDeviceShaderSMBuiltinsPropertiesNV *)next)->shaderSMCount = shape.multiprocessors;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD) {
      ((VkPhysicalDeviceShaderCoreProperties2AMD *)next)->activeComputeUnitCount = shape.compute_units;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM) {
      ((VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM *)next)->shaderCoreCount = shape.shader_cores;
    }
  }
  (void)leave(&call, physical, VK_SUCCESS, NULL, out);
}

void nd_memory_properties(const nulldriver_shape *shape, VkPhysicalDeviceMemoryProperties *out) {
  const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  memset(out, 0, sizeof(*out));
  out->memoryHeapCount = 2;
  out->memoryHeaps[0] = (VkMemoryHeap){.size = shape->device_heap, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  out->memoryHeaps[1] = (VkMemoryHeap){.size = shape->host_heap};
  VkMemoryType *const types = out->memoryTypes;
  types[out->memoryTypeCount++] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  if (!shape->no_mapped_device_local) {
    types[out->memoryTypeCount++] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | mapped, 0};
  }
  types[out->memoryTypeCount++] = (VkMemoryType){mapped, 1};
  types[out->memoryTypeCount++] = (VkMemoryType){mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
}

void nd_GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *out) {
  nd_call call;
  const nulldriver_shape shape = enter_and_read_shape(&call, ND_GetPhysicalDeviceMemoryProperties2, physical);
  nd_memory_properties(&shape, &out->memoryProperties);
  for (VkBaseOutStructure *next = out->pNext; next != NULL; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
      VkPhysicalDeviceMemoryBudgetPropertiesEXT *const budget = (VkPhysicalDeviceMemoryBudgetPropertiesEXT *)next;
      for (uint32_t i = 0; i < out->memoryProperties.memoryHeapCount; ++i) {
        budget->heapBudget[i] = shape.no_budget ? 0 : out->memoryProperties.memoryHeaps[i].size;
        budget->heapUsage[i] = nd_memory_heap_used(i);
      }
    }
  }
  (void)leave(&call, physical, VK_SUCCESS, NULL, out);
}

/* Family 0 has graphics and one queue, family 1 computes and has many. */
static uint32_t families_of(const nulldriver_shape *shape, VkQueueFamilyProperties out[2]) {
  out[0] = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
                                     .queueCount = 1,
                                     .timestampValidBits = 64,
                                     .minImageTransferGranularity = {1, 1, 1}};
  out[1] = out[0];
  out[1].queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
  out[1].queueCount = shape->queue_count;
  return shape->queue_count == 0 ? 1 : 2;
}

void nd_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice physical, uint32_t *inout_count,
                                               VkQueueFamilyProperties *out) {
  nd_call call;
  const nulldriver_shape shape = enter_and_read_shape(&call, ND_GetPhysicalDeviceQueueFamilyProperties, physical);
  VkQueueFamilyProperties families[2];
  (void)give_list(families_of(&shape, families), families, sizeof(families[0]), inout_count, out);
  (void)leave(&call, physical, VK_SUCCESS, inout_count, out);
}

/* ---- Instance and device -------------------------------------------------------------------------------------------
 */

VkResult nd_CreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *host, VkInstance *out) {
  (void)info;
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateInstance, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  nd_instance *const instance = nd_object_create(NULLDRIVER_INSTANCE, sizeof(*instance), NULL);
  if (instance == NULL) {
    return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  *out = ND_HANDLE(VkInstance, instance);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyInstance(VkInstance instance, const VkAllocationCallbacks *host) {
  (void)host;
  nd_call call;
  (void)nd_enter(&call, ND_DestroyInstance, ND_NUMBER(instance), 0);
  if (instance != VK_NULL_HANDLE) {
    nd_instance *const i = nd_object_find(call.name, NULLDRIVER_INSTANCE, ND_NUMBER(instance));
    if (i != NULL) {
      nd_object_destroy(call.name, &i->object);
    }
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

static bool check_device_info(const char *function, const VkDeviceCreateInfo *info) {
  VkQueueFamilyProperties families[2];
  const uint32_t count = families_of(&nd_set.shape, families);
  if (info->queueCreateInfoCount != 1) {
    nd_violation(function, "%u families of queues; this driver makes devices with one", info->queueCreateInfoCount);
    return false;
  }
  const VkDeviceQueueCreateInfo *const queues = info->pQueueCreateInfos;
  if (queues->queueFamilyIndex >= count || queues->queueCount == 0 ||
      queues->queueCount > families[queues->queueFamilyIndex].queueCount) {
    nd_violation(function, "%u queues of family %u", queues->queueCount, queues->queueFamilyIndex);
    return false;
  }
  VkExtensionProperties extensions[EXTENSIONS_MAX];
  const uint32_t offered = extensions_of(&nd_set.shape, extensions);
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
    bool known = false;
    for (uint32_t j = 0; j < offered; ++j) {
      known = known || strcmp(info->ppEnabledExtensionNames[i], extensions[j].extensionName) == 0;
    }
    if (!known) {
      nd_violation(function, "extension %s is not offered", info->ppEnabledExtensionNames[i]);
      return false;
    }
  }
  return true;
}

static bool enables_query_reset(const VkDeviceCreateInfo *info) {
  for (const VkBaseInStructure *next = info->pNext; next != NULL; next = next->pNext) {
    if ((next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES &&
         ((const VkPhysicalDeviceVulkan12Features *)next)->hostQueryReset) ||
        (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES &&
         ((const VkPhysicalDeviceHostQueryResetFeatures *)next)->hostQueryReset)) {
      return true;
    }
  }
  return false;
}

VkResult nd_CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *host,
                         VkDevice *out) {
  (void)host;
  nd_call call;
  const VkResult fault = nd_enter(&call, ND_CreateDevice, 0, 0);
  if (fault != VK_SUCCESS) {
    return fault;
  }
  if (physical != PHYSICAL || !check_device_info(call.name, info)) {
    return nd_leave(&call, VK_ERROR_INITIALIZATION_FAILED);
  }
  nd_device *const device = nd_object_create(NULLDRIVER_DEVICE, sizeof(*device), NULL);
  if (device == NULL) {
    return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  device->shape = nd_set.shape;
  device->host_query_reset = enables_query_reset(info);
  device->family = info->pQueueCreateInfos->queueFamilyIndex;
  for (uint32_t i = 0; i < info->pQueueCreateInfos->queueCount; ++i) {
    device->queues[i] = nd_object_create(NULLDRIVER_QUEUE, sizeof(*device->queues[i]), device);
    if (device->queues[i] == NULL) {
      nd_objects_end(call.name, device);
      nd_object_destroy(call.name, &device->object);
      return nd_leave(&call, VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    ++device->queue_count;
  }
  nd_devices_add(device);
  *out = ND_HANDLE(VkDevice, device);
  return nd_leave(&call, VK_SUCCESS);
}

void nd_DestroyDevice(VkDevice device, const VkAllocationCallbacks *host) {
  (void)host;
  nd_call call;
  (void)nd_enter(&call, ND_DestroyDevice, ND_NUMBER(device), 0);
  nd_device *const d =
      device == VK_NULL_HANDLE ? NULL : nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  if (d != NULL) {
    if (!d->lost && !nd_device_idle(d)) {
      nd_violation(call.name, "submissions are in flight");
    }
    nd_device_stop(d);
    nd_devices_remove(d);
    nd_objects_end(call.name, d);
    nd_object_destroy(call.name, &d->object);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void nd_GetDeviceQueue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out) {
  nd_call call;
  (void)nd_enter(&call, ND_GetDeviceQueue, 0, 0);
  const nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  *out = VK_NULL_HANDLE;
  if (d != NULL && (family != d->family || index >= d->queue_count)) {
    nd_violation(call.name, "queue %u of family %u was not made with the device", index, family);
  } else if (d != NULL) {
    *out = ND_HANDLE(VkQueue, d->queues[index]);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

void *nd_create(nd_call *call, nd_function function, VkDevice device, nulldriver_kind kind, size_t size,
                VkResult *out_result) {
  *out_result = nd_enter(call, function, 0, 0);
  if (*out_result != VK_SUCCESS) {
    return NULL;
  }
  nd_device *const d = nd_object_find(call->name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  void *const object = d == NULL ? NULL : nd_object_create(kind, size, d);
  if (object == NULL) {
    *out_result = nd_leave(call, VK_ERROR_OUT_OF_HOST_MEMORY);
  }
  return object;
}

void nd_destroy(nd_function function, VkDevice device, nulldriver_kind kind, uint64_t handle) {
  nd_call call;
  (void)nd_enter(&call, function, handle, 0);
  const nd_device *const d = nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  nd_object *const object = handle == 0 ? NULL : nd_object_find(call.name, kind, handle);
  if (object != NULL && object->device != d) {
    nd_violation(call.name, "the %s is another device's", nd_kind_name(kind));
  } else if (object != NULL) {
    nd_object_destroy(call.name, object);
  }
  (void)nd_leave(&call, VK_SUCCESS);
}

/* ---- Finding functions ---------------------------------------------------------------------------------------------
 */

PFN_vkVoidFunction nd_GetInstanceProcAddr(VkInstance instance, const char *name) {
  (void)instance;
  nd_call call;
  (void)nd_enter(&call, ND_GetInstanceProcAddr, 0, 0);
  (void)nd_leave(&call, VK_SUCCESS);
  return nd_find_function(name);
}

PFN_vkVoidFunction nd_GetDeviceProcAddr(VkDevice device, const char *name) {
  nd_call call;
  (void)nd_enter(&call, ND_GetDeviceProcAddr, 0, 0);
  (void)nd_object_find(call.name, NULLDRIVER_DEVICE, ND_NUMBER(device));
  (void)nd_leave(&call, VK_SUCCESS);
  return nd_find_function(name);
}

/** What a host finds with dlsym(). */
NULLDRIVER_EXPORT PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name);
PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  return nd_GetInstanceProcAddr(instance, name);
}
