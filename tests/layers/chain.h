/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a Vulkan layer does to stand in the loader's chain, for the layers of tests. Any thread may call these.
 */
#ifndef LEAT_TESTS_LAYERS_CHAIN_H_
#define LEAT_TESTS_LAYERS_CHAIN_H_

#include <stdint.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/** The loader's table of a dispatchable handle, which all that belongs to one instance or device shares. */
static inline void *chain_loader_of(const void *handle) {
  return *(void *const *)handle;
}

/** Takes this layer's link off the chain of a new instance: what lies below. */
static inline PFN_vkGetInstanceProcAddr chain_of_instance(const VkInstanceCreateInfo *info) {
  VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO) {
    link = (VkLayerInstanceCreateInfo *)(uintptr_t)link->pNext;
  }
  const PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  return get;
}

/** The same of a new device; `*out_get_instance` finds vkCreateDevice, `*out_get` the device's functions. */
static inline void chain_of_device(const VkDeviceCreateInfo *info, PFN_vkGetInstanceProcAddr *out_get_instance,
                                   PFN_vkGetDeviceProcAddr *out_get) {
  VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO) {
    link = (VkLayerDeviceCreateInfo *)(uintptr_t)link->pNext;
  }
  *out_get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  *out_get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
}

/** Answers the loader's vkNegotiateLoaderLayerInterfaceVersion(). */
static inline VkResult chain_negotiate(VkNegotiateLayerInterface *versions, PFN_vkGetInstanceProcAddr get_of_instance,
                                       PFN_vkGetDeviceProcAddr get_of_device) {
  if (versions->loaderLayerInterfaceVersion < 2) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  versions->loaderLayerInterfaceVersion = 2;
  versions->pfnGetInstanceProcAddr = get_of_instance;
  versions->pfnGetDeviceProcAddr = get_of_device;
  versions->pfnGetPhysicalDeviceProcAddr = NULL;
  return VK_SUCCESS;
}

#endif /* LEAT_TESTS_LAYERS_CHAIN_H_ */
