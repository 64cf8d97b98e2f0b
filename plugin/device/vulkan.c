/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/vulkan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"

/* Names the variables by which the loader was told where drivers are: a mistake there looks like a missing driver. */
static int32_t fail_no_driver(leat_error *err) {
  static const char *const variables[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT",
                                          "VK_LOADER_DRIVERS_DISABLE"};
  char told[256] = "";
  for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); ++i) {
    const char *const value = secure_getenv(variables[i]);
    const size_t used = strlen(told);
    if (value != NULL && *value != '\0') {
      (void)snprintf(told + used, sizeof(told) - used, "%s%s=%.80s", used == 0 ? "" : " and ", variables[i], value);
    }
  }
  if (told[0] != '\0') {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                      "the Vulkan loader found no driver, and was told to look only where %s says; mend or unset that",
                      told);
  }
  return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                    "the Vulkan loader found no driver; install one (Debian: mesa-vulkan-drivers, or the GPU "
                    "vendor's) and check with `vulkaninfo --summary`");
}

/* Makes the instance. */
static int32_t make_instance(const leati_vk_library *library, leati_vk_instance *instance, leat_error *err) {
  uint32_t version = VK_API_VERSION_1_0;
  if (library->EnumerateInstanceVersion != NULL) {
    (void)library->EnumerateInstanceVersion(&version);
  }
  if (library->CreateInstance == NULL) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "the Vulkan loader lacks vkCreateInstance");
  }
  if (version < VK_API_VERSION_1_2) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "the Vulkan loader speaks Vulkan %u.%u; 1.2 or newer is needed",
                      VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  }
  instance->api_version = version < VK_API_VERSION_1_3 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .pApplicationName = "leat",
                                         .pEngineName = "leat",
                                         .apiVersion = instance->api_version};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  const VkResult result = library->CreateInstance(&info, NULL, &instance->handle);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    instance->handle = VK_NULL_HANDLE;
    return fail_no_driver(err);
  }
  if (result != VK_SUCCESS) {
    instance->handle = VK_NULL_HANDLE;
    return leati_fail_vk(err, result, "vkCreateInstance");
  }
  return instance->handle != VK_NULL_HANDLE
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INTERNAL, "vkCreateInstance gives no instance: the loader is faulty");
}

int32_t leati_vk_instance_create(leati_vk_library *library, leati_vk_instance *instance, leat_error *err) {
  if (library->handle == NULL) {
    void *const handle = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
      return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                        "the Vulkan loader could not be opened (%s); install it (Debian: libvulkan1) and a driver "
                        "(Debian: mesa-vulkan-drivers, or the GPU vendor's)",
                        dlerror());
    }
    /* POSIX, unlike ISO C, lets dlsym() give a function; storing it as an object pointer says so without a cast. */
    *(void **)&library->GetInstanceProcAddr = dlsym(handle, "vkGetInstanceProcAddr");
    if (library->GetInstanceProcAddr == NULL) {
      dlclose(handle);
      return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                        "libvulkan.so.1 has no vkGetInstanceProcAddr: not a Vulkan loader");
    }
    library->CreateInstance = (PFN_vkCreateInstance)library->GetInstanceProcAddr(NULL, "vkCreateInstance");
    library->EnumerateInstanceVersion =
        (PFN_vkEnumerateInstanceVersion)library->GetInstanceProcAddr(NULL, "vkEnumerateInstanceVersion");
    /* The handle is kept for the life of the process: drivers do not survive being unmapped. */
    library->handle = handle;
  }
  if (instance->handle == VK_NULL_HANDLE) {
    LEATI_TRY(make_instance(library, instance, err));
  }
#define LEATI_LOAD(name)                                                                                 \
  instance->name = (PFN_vk##name)library->GetInstanceProcAddr(instance->handle, "vk" #name);             \
  if (instance->name == NULL) {                                                                          \
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "the Vulkan loader lacks vk" #name " of Vulkan 1.2"); \
  }
  LEATI_VK_INSTANCE_FUNCTIONS(LEATI_LOAD)
#undef LEATI_LOAD
  instance->GetPhysicalDeviceCalibrateableTimeDomainsEXT =
      (PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)library->GetInstanceProcAddr(
          instance->handle, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT");
  instance->GetPhysicalDeviceCooperativeMatrixPropertiesKHR =
      (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)library->GetInstanceProcAddr(
          instance->handle, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
  instance->loaded = true;
  return LEAT_OK;
}

int32_t leati_vk_device_load(const leati_vk_instance *instance, VkDevice handle, leati_vk_device *out,
                             leat_error *err) {
  out->handle = handle;
#define LEATI_LOAD(name)                                                                          \
  out->name = (PFN_vk##name)instance->GetDeviceProcAddr(handle, "vk" #name);                      \
  if (out->name == NULL) {                                                                        \
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "the driver lacks vk" #name " of Vulkan 1.2"); \
  }
  LEATI_VK_DEVICE_FUNCTIONS(LEATI_LOAD)
#undef LEATI_LOAD
  out->GetMemoryHostPointerPropertiesEXT = (PFN_vkGetMemoryHostPointerPropertiesEXT)instance->GetDeviceProcAddr(
      handle, "vkGetMemoryHostPointerPropertiesEXT");
  out->GetSemaphoreFdKHR = (PFN_vkGetSemaphoreFdKHR)instance->GetDeviceProcAddr(handle, "vkGetSemaphoreFdKHR");
  out->ImportSemaphoreFdKHR = (PFN_vkImportSemaphoreFdKHR)instance->GetDeviceProcAddr(handle, "vkImportSemaphoreFdKHR");
  out->GetCalibratedTimestampsEXT =
      (PFN_vkGetCalibratedTimestampsEXT)instance->GetDeviceProcAddr(handle, "vkGetCalibratedTimestampsEXT");
  return LEAT_OK;
}
