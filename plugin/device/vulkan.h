/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Vulkan's functions. libvulkan.so.1 is opened at run time, so the plugin loads on a machine that has no Vulkan at all.
 * Every Vulkan call goes through one of these tables, so tests can count calls and make them fail.
 */
#ifndef LEAT_PLUGIN_DEVICE_VULKAN_H_
#define LEAT_PLUGIN_DEVICE_VULKAN_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <vulkan/vulkan_core.h>

/* Headers of Vulkan before 1.3.255 lack this extension. */
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR ((VkStructureType)1000506000)
#define VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR ((VkStructureType)1000506001)
#define VK_COMPONENT_TYPE_FLOAT16_KHR 0u
#define VK_COMPONENT_TYPE_FLOAT32_KHR 1u
#define VK_COMPONENT_TYPE_SINT8_KHR 3u
#define VK_COMPONENT_TYPE_SINT32_KHR 5u
#define VK_SCOPE_SUBGROUP_KHR 3u
typedef struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
} VkPhysicalDeviceCooperativeMatrixFeaturesKHR;
typedef struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void *pNext;
  uint32_t MSize, NSize, KSize;
  uint32_t AType, BType, CType, ResultType; /* VkComponentTypeKHR */
  VkBool32 saturatingAccumulation;
  uint32_t scope; /* VkScopeKHR */
} VkCooperativeMatrixPropertiesKHR;
typedef VkResult(VKAPI_PTR *PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)(VkPhysicalDevice, uint32_t *,
                                                                                   VkCooperativeMatrixPropertiesKHR *);
#endif

/* Headers of Vulkan before 1.3.300 lack this extension. */
#ifndef VK_NV_cooperative_matrix2
#define VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME "VK_NV_cooperative_matrix2"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV ((VkStructureType)1000593000)
typedef struct VkPhysicalDeviceCooperativeMatrix2FeaturesNV {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrixWorkgroupScope;
  VkBool32 cooperativeMatrixFlexibleDimensions;
  VkBool32 cooperativeMatrixReductions;
  VkBool32 cooperativeMatrixConversions;
  VkBool32 cooperativeMatrixPerElementOperations;
  VkBool32 cooperativeMatrixTensorAddressing;
  VkBool32 cooperativeMatrixBlockLoads;
} VkPhysicalDeviceCooperativeMatrix2FeaturesNV;
#endif

/* Headers of Vulkan before 1.4.311 lack this extension. */
#ifndef VK_KHR_shader_bfloat16
#define VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME "VK_KHR_shader_bfloat16"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR ((VkStructureType)1000141000)
#define VK_COMPONENT_TYPE_BFLOAT16_KHR 1000141000u
typedef struct VkPhysicalDeviceShaderBfloat16FeaturesKHR {
  VkStructureType sType;
  void *pNext;
  VkBool32 shaderBFloat16Type;
  VkBool32 shaderBFloat16DotProduct;
  VkBool32 shaderBFloat16CooperativeMatrix;
} VkPhysicalDeviceShaderBfloat16FeaturesKHR;
#endif

#define LEATI_VK_INSTANCE_FUNCTIONS(X)            \
  X(EnumeratePhysicalDevices)                     \
  X(EnumerateDeviceExtensionProperties)           \
  X(GetPhysicalDeviceExternalBufferProperties)    \
  X(GetPhysicalDeviceExternalSemaphoreProperties) \
  X(GetPhysicalDeviceFeatures2)                   \
  X(GetPhysicalDeviceMemoryProperties2)           \
  X(GetPhysicalDeviceProperties2)                 \
  X(GetPhysicalDeviceQueueFamilyProperties)       \
  X(CreateDevice)                                 \
  X(GetDeviceProcAddr)

#define LEATI_VK_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers)          \
  X(AllocateDescriptorSets)          \
  X(AllocateMemory)                  \
  X(BeginCommandBuffer)              \
  X(BindBufferMemory)                \
  X(CmdBindDescriptorSets)           \
  X(CmdBindPipeline)                 \
  X(CmdCopyBuffer)                   \
  X(CmdCopyQueryPoolResults)         \
  X(CmdDispatch)                     \
  X(CmdPipelineBarrier)              \
  X(CmdWriteTimestamp)               \
  X(CreateBuffer)                    \
  X(CreateCommandPool)               \
  X(CreateComputePipelines)          \
  X(CreateDescriptorPool)            \
  X(CreateDescriptorSetLayout)       \
  X(CreatePipelineCache)             \
  X(CreatePipelineLayout)            \
  X(CreateQueryPool)                 \
  X(CreateSemaphore)                 \
  X(CreateShaderModule)              \
  X(DestroyBuffer)                   \
  X(DestroyCommandPool)              \
  X(DestroyDescriptorPool)           \
  X(DestroyDescriptorSetLayout)      \
  X(DestroyDevice)                   \
  X(DestroyPipeline)                 \
  X(DestroyPipelineCache)            \
  X(DestroyPipelineLayout)           \
  X(DestroyQueryPool)                \
  X(DestroySemaphore)                \
  X(DestroyShaderModule)             \
  X(DeviceWaitIdle)                  \
  X(EndCommandBuffer)                \
  X(FreeMemory)                      \
  X(GetBufferDeviceAddress)          \
  X(GetBufferMemoryRequirements)     \
  X(GetDeviceQueue)                  \
  X(GetPipelineCacheData)            \
  X(GetSemaphoreCounterValue)        \
  X(MapMemory)                       \
  X(MergePipelineCaches)             \
  X(QueueSubmit)                     \
  X(ResetCommandPool)                \
  X(ResetQueryPool)                  \
  X(UpdateDescriptorSets)            \
  X(WaitSemaphores)

#define LEATI_VK_MEMBER(name) PFN_vk##name name;

/** The library and its global functions. */
typedef struct leati_vk_library {
  void *handle;
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
  PFN_vkCreateInstance CreateInstance;
  PFN_vkEnumerateInstanceVersion EnumerateInstanceVersion;
} leati_vk_library;

/** An instance and its functions. */
typedef struct leati_vk_instance {
  VkInstance handle;
  bool loaded;          /**< all functions are there; until then only the handle is for use */
  uint32_t api_version; /**< what the instance was made for */
  LEATI_VK_INSTANCE_FUNCTIONS(LEATI_VK_MEMBER)
  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT GetPhysicalDeviceCalibrateableTimeDomainsEXT;       /**< or NULL */
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR GetPhysicalDeviceCooperativeMatrixPropertiesKHR; /**< or NULL */
} leati_vk_instance;

/** Functions of a device. */
typedef struct leati_vk_device {
  VkDevice handle;
  LEATI_VK_DEVICE_FUNCTIONS(LEATI_VK_MEMBER)
  PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT; /**< or NULL */
  PFN_vkGetSemaphoreFdKHR GetSemaphoreFdKHR;                                 /**< or NULL */
  PFN_vkImportSemaphoreFdKHR ImportSemaphoreFdKHR;                           /**< or NULL */
  PFN_vkGetCalibratedTimestampsEXT GetCalibratedTimestampsEXT;               /**< or NULL */
} leati_vk_device;

/** Opens libvulkan.so.1, makes an instance and loads its functions, each if that has not been done.
 * @errors UNAVAILABLE: no library, too old, or without one of the functions; INTERNAL */
int32_t leati_vk_instance_create(leati_vk_library *library, leati_vk_instance *instance, leat_error *err);
/** Loads the functions of a device that was just created. */
int32_t leati_vk_device_load(const leati_vk_instance *instance, VkDevice handle, leati_vk_device *out, leat_error *err);

#endif /* LEAT_PLUGIN_DEVICE_VULKAN_H_ */
