/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/physical.h"

#include <stdio.h>
#include <string.h>

#include "core/pages.h"
#include "core/status.h"
#include "core/sync.h"
#include "policy/tiling.h"

/* What a kernel may count on; larger than Vulkan's guaranteed minimum, and met by every driver that has the rest. */
#define MIN_GROUP_INVOCATIONS 256u
#define MIN_SHARED_MEMORY 32768u

/* Vulkan's guaranteed minima, but for allocations, where this is what staging takes, and the largest size of subgroups
 * and alignment that it allows. Stubs of drivers keep none of them. */
#define MIN_GROUPS 65535u
#define MIN_UNIFORM_RANGE 16384u
#define MAX_UNIFORM_ALIGNMENT 256u
#define MIN_ALLOCATION (UINT64_C(1) << 20)
#define MAX_SUBGROUP 128u

/* What no list of a driver has more of: what is behind that is not looked at. */
#define EXTENSIONS_LISTED_MAX 4096u
#define TIME_DOMAINS_MAX 16u
#define MATRICES_MAX 64u
/* Processors beyond those for which rules and kernels were tried (policy/tuning.h) do not count. */
#define PROCESSORS_MAX 1024u

/* What the kernels for matrix hardware ask of matrices: their sides divide the part of a subgroup in the smallest tile,
 * and are multiples of what is moved at once; for each row a subgroup has so many invocations at most; and so many
 * bytes of shared memory do for each of the kernels.
 */
#define LEATI_MATRIX_PART 16u
#define LEATI_MATRIX_STEP 8u
#define LEATI_MATRIX_ROW_INVOCATIONS 4u
#define LEATI_MATRIX_SHARED_LEAST 32768u

/* Adds something to what the device lacks. */
static void add_reason(leati_physical *physical, const char *what) {
  const size_t used = strlen(physical->reason);
  (void)snprintf(physical->reason + used, sizeof(physical->reason) - used, "%s%s", used == 0 ? "lacks " : ", ", what);
}

static uint32_t least_of(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* What a device has of extensions. */
typedef struct extensions {
  VkExtensionProperties *list; /* leati_free() it, whatever came of listing */
  uint32_t count;
} extensions;

static int32_t list_extensions(const leati_physical *physical, extensions *out, leat_error *err) {
  *out = (extensions){.count = 0};
  uint32_t count = 0;
  VkResult result = physical->instance->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL);
  const uint32_t room = least_of(count, EXTENSIONS_LISTED_MAX);
  if (result == VK_SUCCESS && room != 0) {
    out->list = leati_calloc(room, sizeof(*out->list));
    if (out->list == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the list of a device's extensions");
    }
    count = room;
    result = physical->instance->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, out->list);
    out->count = result >= 0 ? least_of(count, room) : 0;
  }
  /* A device that cannot list them passes for one that has none; for lack of memory that may be tried again. */
  return result == VK_ERROR_OUT_OF_HOST_MEMORY ? leati_fail_vk(err, result, "vkEnumerateDeviceExtensionProperties")
                                               : LEAT_OK;
}

static bool has_extension(const extensions *of, const char *name) {
  bool has = false;
  for (uint32_t i = 0; i < of->count; ++i) {
    has = has || strncmp(of->list[i].extensionName, name, VK_MAX_EXTENSION_NAME_SIZE) == 0;
  }
  return has;
}

void leati_features_chain(leati_features *features) {
  memset(features, 0, sizeof(*features));
  features->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features->core.pNext = &features->v11;
  features->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features->v11.pNext = &features->v12;
  features->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
}

uint32_t leati_physical_queue_families(const leati_physical *physical,
                                       VkQueueFamilyProperties out[LEATI_QUEUE_FAMILIES_MAX]) {
  uint32_t count = LEATI_QUEUE_FAMILIES_MAX;
  memset(out, 0, LEATI_QUEUE_FAMILIES_MAX * sizeof(out[0]));
  physical->instance->GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, out);
  return least_of(count, LEATI_QUEUE_FAMILIES_MAX);
}

static void choose_queue_family(leati_physical *physical) {
  VkQueueFamilyProperties families[LEATI_QUEUE_FAMILIES_MAX];
  const uint32_t count = leati_physical_queue_families(physical, families);
  physical->queue_family = UINT32_MAX;
  bool without_graphics = false;
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || families[i].queueCount == 0) {
      continue;
    }
    /* A family without graphics is the one whose queues run beside each other; among equals the one with most queues.
     */
    const bool plain = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0;
    if (physical->queue_family == UINT32_MAX || (plain && !without_graphics) ||
        (plain == without_graphics && families[i].queueCount > physical->queue_count)) {
      physical->queue_family = i;
      physical->queue_count = families[i].queueCount;
      physical->timestamp_bits = families[i].timestampValidBits;
      without_graphics = plain;
    }
  }
  if (physical->queue_family == UINT32_MAX) {
    add_reason(physical, "a queue for compute");
  }
  /* Times that cannot be told. */
  if (physical->timestamp_bits > 64 || !(physical->timestamp_period > 0)) {
    physical->timestamp_bits = 0;
  }
}

uint32_t leati_physical_memory_type(const leati_physical *physical, VkMemoryPropertyFlags required,
                                    VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags unwanted) {
  uint32_t best = UINT32_MAX;
  int best_score = -1;
  for (uint32_t i = 0; i < physical->memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = physical->memory.memoryTypes[i].propertyFlags;
    if ((flags & required) != required) {
      continue;
    }
    const int score = ((flags & wanted) == wanted ? 2 : 0) + ((flags & unwanted) == 0 ? 1 : 0);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

bool leati_physical_is_own(const leati_physical *physical, uint32_t type) {
  const VkPhysicalDeviceMemoryProperties *const all = &physical->memory;
  return (all->memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0 &&
         all->memoryHeaps[all->memoryTypes[type].heapIndex].size >= physical->info.memory_size / 2;
}

uint64_t leati_physical_heap_budget(const leati_physical *physical, uint32_t heap) {
  const uint64_t size = physical->memory.memoryHeaps[heap].size;
  if (!physical->has_budget) {
    return size;
  }
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                              .pNext = &budget};
  physical->instance->GetPhysicalDeviceMemoryProperties2(physical->handle, &memory);
  /* None at all is no answer: of a heap that is full the driver will say so when it is asked for memory. */
  return budget.heapBudget[heap] != 0 && budget.heapBudget[heap] < size ? budget.heapBudget[heap] : size;
}

/* Finds out whether the timestamps of different queues are of one clock, which is so if the driver can relate that
 * clock to others, and whether the host's is one of these. */
static void read_clocks(leati_physical *physical, const extensions *has) {
  VkTimeDomainEXT domains[TIME_DOMAINS_MAX];
  memset(domains, 0xff, sizeof(domains));
  uint32_t count = TIME_DOMAINS_MAX;
  if (physical->instance->GetPhysicalDeviceCalibrateableTimeDomainsEXT == NULL ||
      !has_extension(has, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
      physical->instance->GetPhysicalDeviceCalibrateableTimeDomainsEXT(physical->handle, &count, domains) < 0) {
    return;
  }
  bool monotonic = false;
  count = least_of(count, TIME_DOMAINS_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    physical->common_clock = physical->common_clock || domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
    monotonic = monotonic || domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
  }
  physical->calibrates = physical->common_clock && monotonic;
}

/* Whether a device imports any page of the host. */
static bool imports_pages(const leati_physical *physical, const extensions *has) {
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
  if (!has_extension(has, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    return false;
  }
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
  return host.minImportedHostPointerAlignment <= leati_page_size();
}

/* What semaphores of a type and descriptors of a type can be made of each other. */
static VkExternalSemaphoreFeatureFlags shares_semaphores(const leati_physical *physical, const extensions *has,
                                                         VkSemaphoreType type,
                                                         VkExternalSemaphoreHandleTypeFlagBits handle_type) {
  const VkSemaphoreTypeCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                               .semaphoreType = type};
  const VkPhysicalDeviceExternalSemaphoreInfo which = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
      .pNext = &semaphore,
      .handleType = handle_type};
  VkExternalSemaphoreProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  if (has_extension(has, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME)) {
    physical->instance->GetPhysicalDeviceExternalSemaphoreProperties(physical->handle, &which, &properties);
  }
  return properties.externalSemaphoreFeatures;
}

/* Whether a binary semaphore of a device can be made into a sync file. */
static bool makes_sync_files(const leati_physical *physical, const extensions *has) {
  return (shares_semaphores(physical, has, VK_SEMAPHORE_TYPE_BINARY, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT) &
          VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
}

/* Finds out whether buffers can be made of memory that an opaque descriptor stands for. */
static void find_external_memory(leati_physical *physical, const extensions *has) {
  const VkPhysicalDeviceExternalBufferInfo which = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
                                                    .usage = LEATI_BUFFER_USAGE,
                                                    .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  if (!has_extension(has, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)) {
    physical->no_external_memory = "the driver imports no memory by descriptors: it lacks VK_KHR_external_memory_fd";
    return;
  }
  physical->instance->GetPhysicalDeviceExternalBufferProperties(physical->handle, &which, &properties);
  const VkExternalMemoryFeatureFlags features = properties.externalMemoryProperties.externalMemoryFeatures;
  if ((features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0) {
    physical->no_external_memory =
        "the driver imports no memory for buffers by opaque descriptors, though it has "
        "VK_KHR_external_memory_fd";
  }
  physical->dedicates_external_memory = (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0;
}

/* Finds out whether a timeline semaphore can be made of an opaque descriptor. */
static void find_external_semaphores(leati_physical *physical, const extensions *has) {
  const VkExternalSemaphoreFeatureFlags features =
      shares_semaphores(physical, has, VK_SEMAPHORE_TYPE_TIMELINE, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT);
  if (!has_extension(has, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME)) {
    physical->no_external_semaphores =
        "the driver imports no semaphores by descriptors: it lacks VK_KHR_external_semaphore_fd";
  } else if ((features & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT) == 0) {
    physical->no_external_semaphores =
        "the driver imports no timeline semaphores by opaque descriptors, though it has "
        "VK_KHR_external_semaphore_fd";
  }
}

/* Whether a module may ask for what it needs of float16 without saying anything of float32. */
static bool controls_halves(const VkPhysicalDeviceFloatControlsProperties *has) {
  return has->shaderDenormPreserveFloat16 && has->shaderRoundingModeRTEFloat16 &&
         has->denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
         has->roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
}

/* Takes over the limits, and notes those that are too low. */
static void read_limits(leati_physical *physical, const VkPhysicalDeviceLimits *limits) {
  memcpy(physical->max_groups, limits->maxComputeWorkGroupCount, sizeof(physical->max_groups));
  physical->max_group_invocations = limits->maxComputeWorkGroupInvocations;
  physical->shared_memory = limits->maxComputeSharedMemorySize;
  physical->uniform_alignment = (uint32_t)limits->minUniformBufferOffsetAlignment;
  if (limits->maxComputeWorkGroupInvocations < MIN_GROUP_INVOCATIONS ||
      limits->maxComputeWorkGroupSize[0] < MIN_GROUP_INVOCATIONS || limits->maxComputeWorkGroupSize[1] == 0 ||
      limits->maxComputeWorkGroupSize[2] == 0) {
    add_reason(physical, "workgroups of 256 invocations");
  }
  for (uint32_t d = 0; d < 3; ++d) {
    if (limits->maxComputeWorkGroupCount[d] < MIN_GROUPS) {
      static const char *const lacks[] = {"65535 workgroups along x", "65535 workgroups along y",
                                          "65535 workgroups along z"};
      add_reason(physical, lacks[d]);
    }
  }
  if (limits->maxComputeSharedMemorySize < MIN_SHARED_MEMORY) {
    add_reason(physical, "32 KiB of shared memory");
  }
  if (limits->maxUniformBufferRange < MIN_UNIFORM_RANGE || limits->maxBoundDescriptorSets == 0 ||
      limits->maxDescriptorSetUniformBuffersDynamic == 0) {
    add_reason(physical, "uniform buffers of 16 KiB with a dynamic offset");
  }
  const VkDeviceSize alignment = limits->minUniformBufferOffsetAlignment;
  if (alignment == 0 || alignment > MAX_UNIFORM_ALIGNMENT || (alignment & (alignment - 1)) != 0) {
    add_reason(physical, "an alignment of uniform buffers that is a power of two up to 256");
  }
  physical->timestamp_period = limits->timestampPeriod;
}

/* Takes over the features, and notes those that are missing. */
static void read_features(leati_physical *physical) {
  leati_features f;
  leati_features_chain(&f);
  physical->instance->GetPhysicalDeviceFeatures2(physical->handle, &f.core);
#define CHECK(group, name)       \
  if (!f.group.name) {           \
    add_reason(physical, #name); \
  }
  LEATI_REQUIRED_FEATURES(CHECK)
#undef CHECK
#define NOTE(capability, group, name) \
  physical->kernel_features |= (f.group.name ? 1u : 0u) << LEATI_FEATURE_NUMBER_##name;
  LEATI_KERNEL_FEATURES(NOTE)
#undef NOTE
  physical->has_float16 = f.v12.shaderFloat16 == VK_TRUE;
  physical->has_float64 = f.core.features.shaderFloat64 == VK_TRUE;
  physical->has_query_reset = f.v12.hostQueryReset == VK_TRUE;
}

/* Whether there is memory of a type with these properties. */
static bool has_memory(const leati_physical *physical, VkMemoryPropertyFlags flags) {
  const uint32_t type = leati_physical_memory_type(physical, flags, 0, 0);
  return type != UINT32_MAX && physical->memory.memoryHeaps[physical->memory.memoryTypes[type].heapIndex].size != 0;
}

/* Whether types and heaps are as many as there is room for, and each type is of a heap. */
static bool is_consistent(const VkPhysicalDeviceMemoryProperties *memory) {
  bool is = memory->memoryTypeCount <= VK_MAX_MEMORY_TYPES && memory->memoryHeapCount <= VK_MAX_MEMORY_HEAPS;
  for (uint32_t i = 0; is && i < memory->memoryTypeCount; ++i) {
    is = memory->memoryTypes[i].heapIndex < memory->memoryHeapCount;
  }
  return is;
}

/* Takes over the heaps and types of memory, and notes what is missing. */
static void read_memory(leati_physical *physical) {
  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  physical->instance->GetPhysicalDeviceMemoryProperties2(physical->handle, &memory);
  if (!is_consistent(&memory.memoryProperties)) {
    add_reason(physical, "memory types that are of its heaps");
    return;
  }
  physical->memory = memory.memoryProperties;
  if (!has_memory(physical, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)) {
    add_reason(physical, "memory of the device");
  }
  if (!has_memory(physical, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)) {
    add_reason(physical, "memory that the host sees");
  }
  if (physical->info.max_allocation_size < MIN_ALLOCATION) {
    add_reason(physical, "allocations of 1 MiB of memory");
  }
  bool all_local = true;
  for (uint32_t i = 0; i < physical->memory.memoryHeapCount; ++i) {
    const bool local = (physical->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    all_local = all_local && local;
    if (local && physical->memory.memoryHeaps[i].size > physical->info.memory_size) {
      physical->info.memory_size = physical->memory.memoryHeaps[i].size;
    }
  }
  if (all_local) {
    physical->info.flags |= LEAT_DEVICE_UNIFIED_MEMORY;
  }
}

/* How many processors run workgroups by themselves, by the first extension that tells; 0: none does. Core Vulkan has no
 * such limit. */
static uint32_t count_processors(const leati_physical *physical, const extensions *has) {
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV multiprocessors = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCoreProperties2AMD units = {.sType =
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
  VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM cores = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
  const struct {
    const char *extension;
    void *properties;
    const uint32_t *count;
  } ways[] = {
      {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, &multiprocessors, &multiprocessors.shaderSMCount},
      {VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME, &units, &units.activeComputeUnitCount},
      {VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, &cores, &cores.shaderCoreCount},
  };
  for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
    if (has_extension(has, ways[i].extension)) {
      VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                                .pNext = ways[i].properties};
      physical->instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
      return least_of(*ways[i].count, PROCESSORS_MAX);
    }
  }
  return 0;
}

/* Whether the invocations of full subgroups can exchange values. Without the extension a subgroup may have fewer
 * invocations than its size says, and no kernel could tell which ones. */
static bool has_shuffles(const leati_physical *physical, const extensions *has,
                         const VkPhysicalDeviceSubgroupProperties *subgroup) {
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT control = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &control};
  if (!has_extension(has, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME) || subgroup->subgroupSize < 4 ||
      subgroup->subgroupSize > MAX_SUBGROUP || (subgroup->supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0 ||
      (subgroup->supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) == 0) {
    return false;
  }
  physical->instance->GetPhysicalDeviceFeatures2(physical->handle, &features);
  return control.computeFullSubgroups == VK_TRUE;
}

/* Whether those kernels can use matrices of such a size. */
static bool is_usable_matrix(const leati_physical *physical, uint32_t type,
                             const VkCooperativeMatrixPropertiesKHR *of) {
  const bool bytes = type == VK_COMPONENT_TYPE_SINT8_KHR;
  const uint32_t sum = bytes ? VK_COMPONENT_TYPE_SINT32_KHR : VK_COMPONENT_TYPE_FLOAT32_KHR;
  const uint32_t part = bytes ? 2 * LEATI_MATRIX_PART : LEATI_MATRIX_PART; /* of k: kernels count it in 16 bits */
  return (uint32_t)of->AType == type && (uint32_t)of->BType == type && (uint32_t)of->CType == sum &&
         (uint32_t)of->ResultType == sum && of->saturatingAccumulation == VK_FALSE &&
         of->scope == VK_SCOPE_SUBGROUP_KHR && of->MSize != 0 && of->NSize != 0 && of->KSize != 0 &&
         LEATI_MATRIX_PART % of->MSize == 0 && LEATI_MATRIX_PART % of->NSize == 0 && part % of->KSize == 0 &&
         of->MSize % LEATI_MATRIX_STEP == 0 && of->NSize % LEATI_MATRIX_STEP == 0 &&
         of->KSize % LEATI_MATRIX_STEP == 0 && physical->subgroup_size <= LEATI_MATRIX_ROW_INVOCATIONS * of->MSize &&
         physical->shared_memory >= LEATI_MATRIX_SHARED_LEAST &&
         LEATI_MATRIX_SUBGROUPS_MOST * physical->subgroup_size <= physical->max_group_invocations;
}

leati_matrix_shape leati_physical_choose_matrix(const leati_physical *physical, uint32_t type, uint32_t count,
                                                const VkCooperativeMatrixPropertiesKHR *list) {
  leati_matrix_shape best = {0};
  for (uint32_t i = 0; i < count; ++i) {
    if (is_usable_matrix(physical, type, &list[i]) &&
        list[i].MSize * list[i].NSize * list[i].KSize > best.m * best.n * best.k) {
      best = (leati_matrix_shape){.m = list[i].MSize, .n = list[i].NSize, .k = list[i].KSize};
    }
  }
  return best;
}

/* Finds out what the device has of them. */
static void find_matrices(leati_physical *physical, const extensions *has) {
  VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR feature = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};
  leati_features f;
  if (!has_extension(has, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) || !physical->shuffles ||
      physical->instance->GetPhysicalDeviceCooperativeMatrixPropertiesKHR == NULL) {
    return;
  }
  leati_features_chain(&f);
  f.v12.pNext = &feature;
  if (has_extension(has, VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME)) {
    feature.pNext = &bfloat16;
  }
  physical->instance->GetPhysicalDeviceFeatures2(physical->handle, &f.core);
  if (!feature.cooperativeMatrix || !f.v12.vulkanMemoryModel || !f.v12.vulkanMemoryModelDeviceScope) {
    return;
  }
  VkCooperativeMatrixPropertiesKHR list[MATRICES_MAX];
  uint32_t count = MATRICES_MAX;
  for (uint32_t i = 0; i < count; ++i) {
    list[i] = (VkCooperativeMatrixPropertiesKHR){.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
  }
  if (physical->instance->GetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical->handle, &count, list) < 0) {
    return;
  }
  count = least_of(count, MATRICES_MAX);
  if (f.v12.shaderFloat16) {
    physical->matrix = leati_physical_choose_matrix(physical, VK_COMPONENT_TYPE_FLOAT16_KHR, count, list);
  }
  if (bfloat16.shaderBFloat16Type && bfloat16.shaderBFloat16CooperativeMatrix) {
    physical->matrix_bfloat16 = leati_physical_choose_matrix(physical, VK_COMPONENT_TYPE_BFLOAT16_KHR, count, list);
  }
  physical->matrix_int8 = leati_physical_choose_matrix(physical, VK_COMPONENT_TYPE_SINT8_KHR, count, list);
}

/* Whether kernels can use the matrices in ways of VK_NV_cooperative_matrix2, whose modules are of SPIR-V 1.6. Those do
 * not fix the size of subgroups, so that there must be one. */
static bool has_matrix2(const leati_physical *physical, const extensions *has) {
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT sizes = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
  VkPhysicalDeviceCooperativeMatrix2FeaturesNV f = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &f};
  if (physical->matrix.m == 0 || physical->matrix.n != physical->matrix.k ||
      !has_extension(has, VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME)) {
    return false;
  }
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
  physical->instance->GetPhysicalDeviceFeatures2(physical->handle, &features);
  return physical->instance->api_version >= VK_API_VERSION_1_3 &&
         properties.properties.apiVersion >= VK_API_VERSION_1_3 && sizes.minSubgroupSize == sizes.maxSubgroupSize &&
         f.cooperativeMatrixReductions && f.cooperativeMatrixConversions && f.cooperativeMatrixPerElementOperations;
}

/* Whether kernels may have the device add up products of int8 or uint8, and it says that this takes less than doing so
 * one by one. */
static bool has_dots(const leati_physical *physical, const extensions *has) {
  VkPhysicalDeviceShaderIntegerDotProductProperties fast = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &fast};
  VkPhysicalDeviceShaderIntegerDotProductFeatures f = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &f};
  if (!has_extension(has, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) {
    return false;
  }
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
  physical->instance->GetPhysicalDeviceFeatures2(physical->handle, &features);
  return f.shaderIntegerDotProduct == VK_TRUE && fast.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE;
}

/* Fills in all that a device says of itself. */
static void probe(leati_physical *physical, const extensions *has) {
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {.sType =
                                                     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
  VkPhysicalDeviceFloatControlsProperties floats = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
      .denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
      .roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE};
  VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
                                             .pNext = &floats};
  VkPhysicalDeviceMaintenance3Properties limits3 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                    .pNext = &driver};
  VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, .pNext = &limits3};
  VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                                 .pNext = &id};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            .pNext = &subgroup};
  VkPhysicalDeviceProperties2 basic = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &basic);

  leat_device_info *const info = &physical->info;
  info->struct_size = sizeof(*info);
  info->vendor_id = basic.properties.vendorID;
  info->device_id = basic.properties.deviceID;
  (void)snprintf(info->name, sizeof(info->name), "%.*s", VK_MAX_PHYSICAL_DEVICE_NAME_SIZE - 1,
                 basic.properties.deviceName);
  if (basic.properties.apiVersion < VK_API_VERSION_1_2) {
    char version[64];
    (void)snprintf(version, sizeof(version), "Vulkan 1.2 (it has %u.%u)",
                   VK_API_VERSION_MAJOR(basic.properties.apiVersion),
                   VK_API_VERSION_MINOR(basic.properties.apiVersion));
    add_reason(physical, version);
    return;
  }
  physical->has_budget = has_extension(has, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  const bool has_pci = has_extension(has, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  if (has_pci) {
    floats.pNext = &pci;
  }
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
  (void)snprintf(info->driver, sizeof(info->driver), "%.120s %.120s", driver.driverName, driver.driverInfo);
  memcpy(info->uuid, id.deviceUUID, sizeof(info->uuid));
  memcpy(info->driver_uuid, id.driverUUID, sizeof(info->driver_uuid));
  if (has_pci) {
    (void)snprintf(info->pci_bus_id, sizeof(info->pci_bus_id), "%04x:%02x:%02x.%x", pci.pciDomain & 0xffffu,
                   pci.pciBus & 0xffu, pci.pciDevice & 0xffu, pci.pciFunction & 0xfu);
  }
  info->max_allocation_size = limits3.maxMemoryAllocationSize;
  physical->discrete = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  if (properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) {
    info->flags |= LEAT_DEVICE_SOFTWARE;
    physical->works_in_host_memory = imports_pages(physical, has);
  }
  read_limits(physical, &properties.properties.limits);
  physical->subgroup_size = subgroup.subgroupSize;
  if (subgroup.subgroupSize == 0 || subgroup.subgroupSize > MAX_SUBGROUP) {
    add_reason(physical, "subgroups of 1 to 128 invocations");
  }
  physical->processors = count_processors(physical, has);
  physical->shuffles = has_shuffles(physical, has, &subgroup);
  read_features(physical);
  physical->converts_halves = controls_halves(&floats);
  find_matrices(physical, has);
  physical->matrix2 = has_matrix2(physical, has);
  physical->dots = has_dots(physical, has);
  physical->has_sync_fd = makes_sync_files(physical, has);
  find_external_memory(physical, has);
  find_external_semaphores(physical, has);
  read_clocks(physical, has);
  read_memory(physical);
  choose_queue_family(physical);
  if (physical->reason[0] == '\0') {
    physical->usable = true;
  }
}

int32_t leati_physical_probe(const leati_vk_instance *instance, VkPhysicalDevice handle, leati_physical *out,
                             leat_error *err) {
  extensions has;
  *out = (leati_physical){.handle = handle, .instance = instance};
  const int32_t status = list_extensions(out, &has, err);
  if (status == LEAT_OK) {
    probe(out, &has);
  }
  leati_free(has.list);
  return status;
}

void leati_physical_uuid(const leati_physical *physical, char out[37]) {
  size_t at = 0;
  for (int i = 0; i < 16; ++i) {
    at += (size_t)snprintf(out + at, 37 - at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           physical->info.uuid[i]);
  }
}
