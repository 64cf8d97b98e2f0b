/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A physical device: what it is, what it can do, and why it is not usable.
 */
#ifndef LEAT_PLUGIN_DEVICE_PHYSICAL_H_
#define LEAT_PLUGIN_DEVICE_PHYSICAL_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/vulkan.h"

/** What buffers of tensors are used for. */
#define LEATI_BUFFER_USAGE                                                                                    \
  (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | \
   VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)

/** Physical devices that are looked at; those behind them are left out. */
#define LEATI_DEVICES_MAX 16
/** Families of queues likewise. */
#define LEATI_QUEUE_FAMILIES_MAX 16

/** A matrix of each operand as the device multiplies them: m x k by k x n of 16 bits, with sums in float32, or of
 * int8, with sums in int32. */
typedef struct leati_matrix_shape {
  uint32_t m, n, k; /**< all 0: it has no such hardware that kernels can use */
} leati_matrix_shape;

/** Capabilities of SPIR-V that kernels may have, by number, and the features of Vulkan that give them: the struct of
 * leati_features and the member. */
#define LEATI_KERNEL_FEATURES(X)         \
  X(9, v12, shaderFloat16)               \
  X(10, core.features, shaderFloat64)    \
  X(11, core.features, shaderInt64)      \
  X(22, core.features, shaderInt16)      \
  X(39, v12, shaderInt8)                 \
  X(4433, v11, storageBuffer16BitAccess) \
  X(4448, v12, storageBuffer8BitAccess)  \
  X(5347, v12, bufferDeviceAddress)

/** Bits of leati_physical::kernel_features. */
enum {
#define LEATI_FEATURE_NUMBER(capability, group, name) LEATI_FEATURE_NUMBER_##name,
  LEATI_KERNEL_FEATURES(LEATI_FEATURE_NUMBER)
#undef LEATI_FEATURE_NUMBER
};

/** A physical device as it was found. Immutable after enumeration. */
typedef struct leati_physical {
  VkPhysicalDevice handle;
  const leati_vk_instance *instance; /**< the one that named it */
  leat_device_info info;             /**< `index` counts usable devices only */
  bool usable;
  char reason[256];     /**< why it is not usable */
  bool discrete;        /**< a GPU with memory of its own */
  bool has_float16;     /**< shaderFloat16 */
  bool has_float64;     /**< shaderFloat64 */
  bool converts_halves; /**< a module may ask that conversions of float16 keep subnormal numbers and round to nearest
                           even (VkPhysicalDeviceFloatControlsProperties) */
  bool has_budget;      /**< VK_EXT_memory_budget */
  bool works_in_host_memory; /**< a software device that imports pages of the host (VK_EXT_external_memory_host) */
  /** Why it imports no memory, or no timeline semaphores, by opaque descriptors; NULL: it does. */
  const char *no_external_memory, *no_external_semaphores;
  bool dedicates_external_memory; /**< such memory has to be dedicated to a buffer */
  bool has_sync_fd;               /**< semaphores become sync files (VK_KHR_external_semaphore_fd) */
  uint32_t queue_family, queue_count;
  uint32_t max_groups[3]; /**< workgroups of a dispatch in each dimension */
  uint32_t max_group_invocations;
  uint32_t kernel_features; /**< those of LEATI_KERNEL_FEATURES that an open device has */
  uint32_t shared_memory;   /**< bytes that a workgroup may have */
  uint32_t subgroup_size;   /**< invocations */
  uint32_t processors;      /**< that run workgroups by themselves (multiprocessors, compute units, shader cores); 0: no
                               extension tells */
  bool shuffles; /**< full subgroups of a size from 4 to 128 (VK_EXT_subgroup_size_control), whose invocations exchange
                    values */
  leati_matrix_shape matrix;          /**< of float16, of VK_KHR_cooperative_matrix, which an open device then has, with
                                         vulkanMemoryModel */
  leati_matrix_shape matrix_bfloat16; /**< the same of bfloat16; an open device then has VK_KHR_shader_bfloat16 too */
  leati_matrix_shape matrix_int8;     /**< of int8 */
  bool dots;    /**< products of four pairs of int8 are added up at once, and fast (integer dot product of
                   Vulkan 1.3    or VK_KHR_shader_integer_dot_product), which an open device then has */
  bool matrix2; /**< reductions, conversions and operations per element of VK_NV_cooperative_matrix2, which an open
                   device then has; n is k, and modules may be of Vulkan 1.3 */
  bool has_query_reset;    /**< hostQueryReset */
  uint32_t timestamp_bits; /**< of the queue family; 0: no timestamps */
  float timestamp_period;  /**< nanoseconds of one step */
  bool common_clock;       /**< all queues have one clock */
  bool calibrates;         /**< and the driver relates it to CLOCK_MONOTONIC (VK_EXT_calibrated_timestamps) */
  uint32_t uniform_alignment;
  VkPhysicalDeviceMemoryProperties memory;
} leati_physical;

/** The features that matter here, as a device has them or is to have them. */
typedef struct leati_features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
} leati_features;

/** The features that a usable device has; all of them are enabled. Beside them shaderFloat16, shaderFloat64 and
 * hostQueryReset are, where there are such. */
#define LEATI_REQUIRED_FEATURES(X) \
  X(core.features, shaderInt64)    \
  X(core.features, shaderInt16)    \
  X(v11, storageBuffer16BitAccess) \
  X(v12, storageBuffer8BitAccess)  \
  X(v12, shaderInt8)               \
  X(v12, bufferDeviceAddress)      \
  X(v12, timelineSemaphore)        \
  X(v12, uniformBufferStandardLayout)

/** Finds out about a device that an instance named.
 * @errors OUT_OF_MEMORY: of the host */
int32_t leati_physical_probe(const leati_vk_instance *instance, VkPhysicalDevice handle, leati_physical *out,
                             leat_error *err);

/** Lists families of queues, and gives how many. */
uint32_t leati_physical_queue_families(const leati_physical *physical,
                                       VkQueueFamilyProperties out[LEATI_QUEUE_FAMILIES_MAX]);

/** The largest of the sizes of matrices that a device lists, of those with elements of a type (VK_COMPONENT_TYPE_...)
 * that kernels can use there; looks at its subgroups and workgroups. */
leati_matrix_shape leati_physical_choose_matrix(const leati_physical *physical, uint32_t type, uint32_t count,
                                                const VkCooperativeMatrixPropertiesKHR *list);

/** Chains the parts of a leati_features, with no feature set. */
void leati_features_chain(leati_features *features);

/** Whether a memory type is of the device's own memory, or at least half of it: not of a window of a few hundred MiB,
 * which the host sees where it does not see all. */
bool leati_physical_is_own(const leati_physical *physical, uint32_t type);
/** Index of a memory type with all of `required` flags, and `wanted` ones if possible; UINT32_MAX if there is none. */
uint32_t leati_physical_memory_type(const leati_physical *physical, VkMemoryPropertyFlags required,
                                    VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags unwanted);

/** Bytes of a memory heap that this process may have now, with what it has already; the heap's size where the driver
 * does not tell. Asks the driver. */
uint64_t leati_physical_heap_budget(const leati_physical *physical, uint32_t heap);

/** Writes the device's UUID as text. */
void leati_physical_uuid(const leati_physical *physical, char out[37]);

#endif /* LEAT_PLUGIN_DEVICE_PHYSICAL_H_ */
