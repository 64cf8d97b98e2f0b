/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Wrong on purpose: asks Vulkan for a buffer of no bytes. Under the validation layers this must give a message, or the
 * layers are not at work. Exits with 0 if it could ask.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <vulkan/vulkan.h>

static int complain(const char *what) {
  fprintf(stderr, "leat-canary-validation: %s\n", what);
  return 1;
}

int main(void) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW);
  if (library == NULL) {
    return complain("no libvulkan.so.1");
  }
  PFN_vkGetInstanceProcAddr get;
  /* POSIX has dlsym() give functions as data pointers; ISO C has no cast for it. */
  *(void **)&get = dlsym(library, "vkGetInstanceProcAddr");
  if (get == NULL) {
    return complain("libvulkan.so.1 has no vkGetInstanceProcAddr");
  }
  const PFN_vkCreateInstance create_instance = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                              .pApplicationInfo = &application};
  VkInstance instance;
  if (create_instance == NULL || create_instance(&instance_info, NULL, &instance) != VK_SUCCESS) {
    return complain("no Vulkan instance");
  }
  const PFN_vkEnumeratePhysicalDevices enumerate =
      (PFN_vkEnumeratePhysicalDevices)get(instance, "vkEnumeratePhysicalDevices");
  const PFN_vkCreateDevice create_device = (PFN_vkCreateDevice)get(instance, "vkCreateDevice");
  const PFN_vkCreateBuffer create_buffer = (PFN_vkCreateBuffer)get(instance, "vkCreateBuffer");
  const PFN_vkDestroyBuffer destroy_buffer = (PFN_vkDestroyBuffer)get(instance, "vkDestroyBuffer");
  const PFN_vkDestroyDevice destroy_device = (PFN_vkDestroyDevice)get(instance, "vkDestroyDevice");
  const PFN_vkDestroyInstance destroy_instance = (PFN_vkDestroyInstance)get(instance, "vkDestroyInstance");

  uint32_t count = 1;
  VkPhysicalDevice physical;
  const VkResult listed = enumerate(instance, &count, &physical);
  if ((listed != VK_SUCCESS && listed != VK_INCOMPLETE) || count == 0) {
    return complain("no Vulkan device");
  }
  const float priority = 1.0f;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  const VkDeviceCreateInfo device_info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
  VkDevice device;
  if (create_device(physical, &device_info, NULL, &device) != VK_SUCCESS) {
    return complain("the device cannot be opened");
  }
  const VkBufferCreateInfo nothing = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                      .size = 0,
                                      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                      .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkBuffer buffer = VK_NULL_HANDLE;
  if (create_buffer(device, &nothing, NULL, &buffer) == VK_SUCCESS) {
    destroy_buffer(device, buffer, NULL);
  }
  destroy_device(device, NULL);
  destroy_instance(instance, NULL);
  return 0;
}
