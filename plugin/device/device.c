/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/device.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "core/config.h"
#include "core/status.h"
#include "policy/allocation.h"
#include "policy/waiting.h"

/* Processors that a device is taken to have where no extension tells, for estimates of what a submission takes: those
 * of a small integrated GPU. */
#define PROCESSORS_LEAST 4u

leati_matrix_shape leati_device_matrix(const leat_device *device, uint64_t type) {
  const leati_matrix_shape none = {0};
  return type == LEAT_TYPE_FLOAT16    ? device->matrix
         : type == LEAT_TYPE_BFLOAT16 ? device->matrix_bfloat16
         : type == LEAT_TYPE_INT8     ? device->matrix_int8
                                      : none;
}

int32_t leati_device_check(const leat_device *device, leat_error *err) {
  if (leati_kind_of(device) != LEATI_KIND_DEVICE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      device == NULL ? "device is NULL" : "device is not an open device");
  }
  return LEAT_OK;
}

int32_t leati_device_fail(leat_device *device, VkResult result, const char *what, leat_error *err) {
  if (result == VK_ERROR_DEVICE_LOST) {
    atomic_store_explicit(&device->lost, true, memory_order_relaxed);
  }
  return leati_fail_vk(err, result, what);
}

static int32_t create_layouts(leat_device *device, leat_error *err) {
  const VkDescriptorSetLayoutBinding binding = {.binding = 0,
                                                .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                                .descriptorCount = 1,
                                                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
  VkResult result = device->vk.CreateDescriptorSetLayout(device->vk.handle, &set, NULL, &device->set_layout);
  if (result != VK_SUCCESS) {
    device->set_layout = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateDescriptorSetLayout", err);
  }
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &device->set_layout};
  result = device->vk.CreatePipelineLayout(device->vk.handle, &layout, NULL, &device->pipeline_layout);
  if (result != VK_SUCCESS) {
    device->pipeline_layout = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreatePipelineLayout", err);
  }
  return LEAT_OK;
}

static void choose_memory_types(leat_device *device) {
  const leati_physical *const physical = device->physical;
  const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  /* Vulkan promises a type for each of these three requirements. */
  device->device_memory_type = leati_physical_memory_type(
      physical, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT);
  device->upload_memory_type = leati_physical_memory_type(physical, mapped, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  device->download_memory_type = leati_physical_memory_type(physical, mapped, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
}

#define EXTENSIONS_MAX 9

/* What a device is to have: features, in one chain, and extensions. Stays where it is. */
typedef struct abilities {
  leati_features f;
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT control;
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices;
  VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16;
  VkPhysicalDeviceMaintenance4Features maintenance;
  VkPhysicalDeviceCooperativeMatrix2FeaturesNV matrices2;
  VkPhysicalDeviceShaderIntegerDotProductFeatures dots;
  const char *extensions[EXTENSIONS_MAX];
  uint32_t extension_count;
} abilities;

static void add_extension(abilities *out, const char *name) {
  out->extensions[out->extension_count++] = name;
}

/* Sets a member of `out`, a struct of features of which one is wanted, and puts it in front of the others. */
#define CHAIN(out, member, type, ...)                                 \
  do {                                                                \
    (out)->member = (type){.pNext = (out)->f.v12.pNext, __VA_ARGS__}; \
    (out)->f.v12.pNext = &(out)->member;                              \
  } while (0)

static void choose_abilities(const leat_device *device, bool pages, abilities *out) {
  const leati_physical *const physical = device->physical;
  memset(out, 0, sizeof(*out));
  leati_features_chain(&out->f);
#define ENABLE(group, name) out->f.group.name = VK_TRUE;
  LEATI_REQUIRED_FEATURES(ENABLE)
#undef ENABLE
  out->f.v12.shaderFloat16 = physical->has_float16 ? VK_TRUE : VK_FALSE;
  out->f.core.features.shaderFloat64 = physical->has_float64 ? VK_TRUE : VK_FALSE;
  out->f.v12.hostQueryReset = physical->has_query_reset ? VK_TRUE : VK_FALSE;
  if (pages) {
    add_extension(out, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  }
  if (physical->no_external_memory == NULL) {
    add_extension(out, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  }
  if (physical->has_sync_fd || physical->no_external_semaphores == NULL) {
    add_extension(out, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  }
  if (physical->calibrates) {
    add_extension(out, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  }
  if (physical->shuffles) {
    add_extension(out, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    CHAIN(out, control, VkPhysicalDeviceSubgroupSizeControlFeaturesEXT,
          .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT,
          .computeFullSubgroups = VK_TRUE);
  }
  if (device->matrix.m != 0 || device->matrix_bfloat16.m != 0 || device->matrix_int8.m != 0) {
    add_extension(out, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    /* Their modules have Vulkan's memory model, in which what workgroups tell each other takes the scope of a device.
     */
    out->f.v12.vulkanMemoryModel = out->f.v12.vulkanMemoryModelDeviceScope = VK_TRUE;
    CHAIN(out, matrices, VkPhysicalDeviceCooperativeMatrixFeaturesKHR,
          .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, .cooperativeMatrix = VK_TRUE);
  }
  if (device->matrix_bfloat16.m != 0) {
    add_extension(out, VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME);
    CHAIN(out, bfloat16, VkPhysicalDeviceShaderBfloat16FeaturesKHR,
          .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR, .shaderBFloat16Type = VK_TRUE,
          .shaderBFloat16CooperativeMatrix = VK_TRUE);
  }
  /* The size of a workgroup is an id in SPIR-V 1.6, which takes maintenance4; all devices of Vulkan 1.3 have it. */
  if (device->matrix2) {
    add_extension(out, VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME);
    CHAIN(out, maintenance, VkPhysicalDeviceMaintenance4Features,
          .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, .maintenance4 = VK_TRUE);
    CHAIN(out, matrices2, VkPhysicalDeviceCooperativeMatrix2FeaturesNV,
          .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV,
          .cooperativeMatrixReductions = VK_TRUE, .cooperativeMatrixConversions = VK_TRUE,
          .cooperativeMatrixPerElementOperations = VK_TRUE);
  }
  if (physical->dots) {
    add_extension(out, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    CHAIN(out, dots, VkPhysicalDeviceShaderIntegerDotProductFeatures,
          .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
          .shaderIntegerDotProduct = VK_TRUE);
  }
}

/* Makes the VkDevice with all features and queues that are used. */
static int32_t create_handle(const leat_device *device, bool pages, VkDevice *out, leat_error *err) {
  const leati_physical *const physical = device->physical;
  const uint32_t queues = device->queue_count;
  float priorities[LEATI_LANES_MAX];
  for (uint32_t i = 0; i < queues; ++i) {
    priorities[i] = 1.0f;
  }
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = physical->queue_family,
                                         .queueCount = queues,
                                         .pQueuePriorities = priorities};
  abilities wanted;
  choose_abilities(device, pages, &wanted);
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &wanted.f.core,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue,
                                   .enabledExtensionCount = wanted.extension_count,
                                   .ppEnabledExtensionNames = wanted.extensions};
  const VkResult result = physical->instance->CreateDevice(physical->handle, &info, NULL, out);
  if (result != VK_SUCCESS) {
    return leati_fail_vk(err, result, "vkCreateDevice");
  }
  return *out != VK_NULL_HANDLE
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INTERNAL, "vkCreateDevice gives no device: the driver is faulty");
}

/* Whether the functions of the extensions that the device was made with are there. */
static int32_t check_extensions(const leat_device *device, bool pages, leat_error *err) {
  const leati_physical *const physical = device->physical;
  const leati_vk_device *const vk = &device->vk;
  const char *const lacks =
      pages && vk->GetMemoryHostPointerPropertiesEXT == NULL           ? "vkGetMemoryHostPointerPropertiesEXT"
      : physical->has_sync_fd && vk->GetSemaphoreFdKHR == NULL         ? "vkGetSemaphoreFdKHR"
      : physical->calibrates && vk->GetCalibratedTimestampsEXT == NULL ? "vkGetCalibratedTimestampsEXT"
      : physical->no_external_semaphores == NULL && vk->ImportSemaphoreFdKHR == NULL ? "vkImportSemaphoreFdKHR"
                                                                                     : NULL;
  return lacks == NULL
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_UNAVAILABLE, "the driver lacks %s of an extension that it has", lacks);
}

/* Makes the VkDevice and loads its functions. */
static int32_t create_loaded(leat_device *device, bool pages, leat_error *err) {
  const leati_vk_instance *const instance = device->physical->instance;
  VkDevice handle = VK_NULL_HANDLE;
  LEATI_TRY(create_handle(device, pages, &handle, err));
  int32_t status = leati_vk_device_load(instance, handle, &device->vk, err);
  status = status == LEAT_OK ? check_extensions(device, pages, err) : status;
  if (status != LEAT_OK) {
    const PFN_vkDestroyDevice destroy = (PFN_vkDestroyDevice)instance->GetDeviceProcAddr(handle, "vkDestroyDevice");
    if (destroy != NULL) {
      destroy(handle, NULL);
    }
  }
  return status;
}

int32_t leati_device_create(const leati_physical *physical, leat_device *device, leat_error *err) {
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  memset(device, 0, sizeof(*device));
  device->physical = physical;
  device->index = physical->info.index;
  if (getrandom(&device->random_key, sizeof(device->random_key), 0) != (ssize_t)sizeof(device->random_key)) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "the system gives no random numbers (getrandom: %s)",
                      strerror(errno));
  }
  device->queue_count = physical->queue_count < LEATI_LANES_MAX ? physical->queue_count : LEATI_LANES_MAX;
  if (config->lanes > 0 && (uint32_t)config->lanes < device->queue_count) {
    device->queue_count = (uint32_t)config->lanes;
  }
  const bool pages = config->memory_guard == LEATI_GUARD_PAGES;
  if (pages && !physical->works_in_host_memory) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                      "LEAT_MEMORY_GUARD is pages, which needs a software device that works in the host's memory "
                      "(VK_EXT_external_memory_host), such as lavapipe; %s is none: set it to 1 or 0",
                      physical->info.name);
  }
  if (config->matrices != LEATI_MATRICES_OFF) {
    device->matrix = physical->matrix;
    device->matrix_bfloat16 = physical->matrix_bfloat16;
    device->matrix_int8 = physical->matrix_int8;
    device->matrix2 = physical->matrix2 && config->matrices != LEATI_MATRICES_KHR;
  }
  device->splits_float32 = config->float32_matmul == LEATI_FLOAT32_FAST;
  LEATI_TRY(create_loaded(device, pages, err));
  choose_memory_types(device);
  device->traits =
      (leati_traits){.software = (physical->info.flags & LEAT_DEVICE_SOFTWARE) != 0,
                     .discrete = physical->discrete,
                     .cores = leati_core_count(),
                     .processors = physical->processors != 0 ? physical->processors : config->tuning.processors_assumed,
                     .processors_least = physical->processors != 0 ? physical->processors : PROCESSORS_LEAST,
                     .threads = physical->max_group_invocations,
                     .shared = physical->shared_memory,
                     .tuning = config->tuning};
  device->spin_ns = config->wait_spin_us >= 0 ? config->wait_spin_us * 1000 : leati_wait_spin_standard(&device->traits);
  device->kernel_download_max = leati_kernel_download_max(&device->traits);
  device->staged_input_max = leati_staged_max(leati_physical_is_own(physical, device->upload_memory_type));
  device->staged_output_max = leati_staged_max(leati_physical_is_own(physical, device->download_memory_type));
  device->lanes_fixed = config->lanes > 0;
  device->fusions_off = config->fusions_off;
  device->graph_plan_bytes = (uint64_t)config->graph_plans_mib << 20;
  leati_mutex_init(&device->finding_lock, LEATI_RANK_FINDING);
  const int32_t status = create_layouts(device, err);
  if (status != LEAT_OK) {
    leati_device_destroy(device);
  }
  return status;
}

void leati_device_destroy(leat_device *device) {
  device->vk.DestroyPipelineLayout(device->vk.handle, device->pipeline_layout, NULL);
  device->vk.DestroyDescriptorSetLayout(device->vk.handle, device->set_layout, NULL);
  device->vk.DestroyDevice(device->vk.handle, NULL);
  leati_mutex_destroy(&device->finding_lock);
}
