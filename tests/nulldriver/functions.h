/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The Vulkan functions that the null driver has. A new one is a line here and a function nd_NAME() in the file of its
 * noun.
 */
#ifndef LEAT_TESTS_NULLDRIVER_FUNCTIONS_H_
#define LEAT_TESTS_NULLDRIVER_FUNCTIONS_H_

#include <vulkan/vulkan_core.h>

/** Functions that return a VkResult, and so can be made to fail. */
#define NULLDRIVER_RESULT_FUNCTIONS(X)            \
  X(AllocateCommandBuffers)                       \
  X(AllocateDescriptorSets)                       \
  X(AllocateMemory)                               \
  X(BeginCommandBuffer)                           \
  X(BindBufferMemory)                             \
  X(CreateBuffer)                                 \
  X(CreateCommandPool)                            \
  X(CreateComputePipelines)                       \
  X(CreateDescriptorPool)                         \
  X(CreateDescriptorSetLayout)                    \
  X(CreateDevice)                                 \
  X(CreateInstance)                               \
  X(CreatePipelineCache)                          \
  X(CreatePipelineLayout)                         \
  X(CreateQueryPool)                              \
  X(CreateSemaphore)                              \
  X(CreateShaderModule)                           \
  X(DeviceWaitIdle)                               \
  X(EndCommandBuffer)                             \
  X(EnumerateDeviceExtensionProperties)           \
  X(EnumerateInstanceVersion)                     \
  X(EnumeratePhysicalDevices)                     \
  X(FlushMappedMemoryRanges)                      \
  X(GetCalibratedTimestampsEXT)                   \
  X(GetMemoryFdKHR)                               \
  X(GetPhysicalDeviceCalibrateableTimeDomainsEXT) \
  X(GetPipelineCacheData)                         \
  X(GetQueryPoolResults)                          \
  X(GetSemaphoreCounterValue)                     \
  X(GetSemaphoreFdKHR)                            \
  X(ImportSemaphoreFdKHR)                         \
  X(InvalidateMappedMemoryRanges)                 \
  X(MapMemory)                                    \
  X(MergePipelineCaches)                          \
  X(QueueSubmit)                                  \
  X(QueueWaitIdle)                                \
  X(ResetCommandBuffer)                           \
  X(ResetCommandPool)                             \
  X(ResetDescriptorPool)                          \
  X(SignalSemaphore)                              \
  X(WaitSemaphores)

/** Functions that cannot fail. */
#define NULLDRIVER_VOID_FUNCTIONS(X)              \
  X(CmdBindDescriptorSets)                        \
  X(CmdBindPipeline)                              \
  X(CmdCopyBuffer)                                \
  X(CmdCopyQueryPoolResults)                      \
  X(CmdDispatch)                                  \
  X(CmdFillBuffer)                                \
  X(CmdPipelineBarrier)                           \
  X(CmdPushConstants)                             \
  X(CmdResetQueryPool)                            \
  X(CmdWriteTimestamp)                            \
  X(DestroyBuffer)                                \
  X(DestroyCommandPool)                           \
  X(DestroyDescriptorPool)                        \
  X(DestroyDescriptorSetLayout)                   \
  X(DestroyDevice)                                \
  X(DestroyInstance)                              \
  X(DestroyPipeline)                              \
  X(DestroyPipelineCache)                         \
  X(DestroyPipelineLayout)                        \
  X(DestroyQueryPool)                             \
  X(DestroySemaphore)                             \
  X(DestroyShaderModule)                          \
  X(FreeCommandBuffers)                           \
  X(FreeMemory)                                   \
  X(GetBufferDeviceAddress)                       \
  X(GetBufferMemoryRequirements)                  \
  X(GetDeviceProcAddr)                            \
  X(GetDeviceQueue)                               \
  X(GetInstanceProcAddr)                          \
  X(GetPhysicalDeviceExternalBufferProperties)    \
  X(GetPhysicalDeviceExternalSemaphoreProperties) \
  X(GetPhysicalDeviceFeatures2)                   \
  X(GetPhysicalDeviceMemoryProperties2)           \
  X(GetPhysicalDeviceProperties2)                 \
  X(GetPhysicalDeviceQueueFamilyProperties)       \
  X(ResetQueryPool)                               \
  X(UnmapMemory)                                  \
  X(UpdateDescriptorSets)

#define NULLDRIVER_FUNCTIONS(X)  \
  NULLDRIVER_RESULT_FUNCTIONS(X) \
  NULLDRIVER_VOID_FUNCTIONS(X)

#endif /* LEAT_TESTS_NULLDRIVER_FUNCTIONS_H_ */
