/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A Vulkan layer that reports other limits than the driver's: those that a variable (LIMITS_BELOW or LIMITS_ABOVE, as
 * it is built) sets by Vulkan's own names,
 *
 *     LIMITS_BELOW=maxComputeWorkGroupInvocations=256,shaderFloat16=0
 *
 * The names are those of LIMITS. What is not set is the driver's. Like a driver with those limits, the layer opens no
 * device with a feature that is not there. Whether limits are kept is for the validation layer above it to say.
 *
 * With `queueCount` the queues of a family are this layer's, which all submit to the driver's first one, under a lock.
 * So nothing may be submitted that waits for what is submitted later.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "layers/chain.h"

#define LIMITS(X)                    \
  X(maxComputeWorkGroupInvocations)  \
  X(maxComputeSharedMemorySize)      \
  X(maxUniformBufferRange)           \
  X(minUniformBufferOffsetAlignment) \
  X(queueCount)                      \
  X(shaderFloat16)                   \
  X(subgroupSupportedOperations)     \
  X(computeFullSubgroups)            \
  X(shaderIntegerDotProduct)         \
  X(integerDotProduct4x8BitPackedSignedAccelerated)

#define DRIVERS UINT32_MAX /* what the driver says */
#define QUEUES_MAX 16

/* What is reported. Set once, before the first instance is there. */
static struct {
#define MEMBER(name) uint32_t name;
  LIMITS(MEMBER)
#undef MEMBER
} told;

/* A queue that an application sees. The loader writes its table into the first member. */
typedef struct queue {
  void *loader;
  VkQueue driver;
  struct device *device;
} queue;

typedef struct device {
  struct device *next;
  VkDevice handle;
  PFN_vkGetDeviceProcAddr get;
  PFN_vkQueueSubmit submit;
  PFN_vkQueueWaitIdle wait_idle;
  pthread_mutex_t submitting; /* guards the driver's queue */
  queue queues[QUEUES_MAX];   /* by index, all of one family */
} device;

/* What is asked of what lies below. Found when an instance is made: later the loader gives this layer's own. */
#define BELOW(X)                              \
  X(vkDestroyInstance)                        \
  X(vkGetPhysicalDeviceProperties)            \
  X(vkGetPhysicalDeviceProperties2)           \
  X(vkGetPhysicalDeviceFeatures2)             \
  X(vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkGetPhysicalDeviceQueueFamilyProperties2)

typedef struct instance {
  struct instance *next;
  void *loader; /* the loader's table, by which its physical devices are known */
  VkInstance handle;
  PFN_vkGetInstanceProcAddr get;
#define MEMBER(name) PFN_##name name;
  BELOW(MEMBER)
#undef MEMBER
} instance;

/* Guards the lists. What is in them stays until its Vulkan object is destroyed. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static instance *instances;
static device *devices;

static instance *instance_of(const void *handle) {
  pthread_mutex_lock(&lists);
  instance *found = instances;
  while (found->loader != chain_loader_of(handle)) {
    found = found->next;
  }
  pthread_mutex_unlock(&lists);
  return found;
}

static device *device_of(VkDevice handle) {
  pthread_mutex_lock(&lists);
  device *found = devices;
  while (chain_loader_of(found->handle) != chain_loader_of(handle)) {
    found = found->next;
  }
  pthread_mutex_unlock(&lists);
  return found;
}

/* ---- What is told ---- */

/* Takes one NAME=NUMBER. */
static bool set_limit(const char *word) {
  const char *const equals = strchr(word, '=');
  char *end;
  if (equals == NULL) {
    return false;
  }
  const unsigned long value = strtoul(equals + 1, &end, 10);
  if (end == equals + 1 || *end != '\0' || value >= DRIVERS) {
    return false;
  }
#define TAKE(name)                                                                                      \
  if ((size_t)(equals - word) == strlen(#name) && strncmp(word, #name, (size_t)(equals - word)) == 0) { \
    told.name = (uint32_t)value;                                                                        \
    return true;                                                                                        \
  }
  LIMITS(TAKE)
#undef TAKE
  return false;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool understood = true;

static void read_variable(void) {
  const char *const text = getenv(VARIABLE);
  char *const copy = strdup(text == NULL ? "" : text);
  memset(&told, 0xff, sizeof(told));
  char *rest = NULL;
  for (char *word = copy == NULL ? NULL : strtok_r(copy, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
    if (!set_limit(word)) {
      fprintf(stderr, VARIABLE ": '%s' is no NAME=NUMBER of a limit that tests/limits/layer.c knows\n", word);
      understood = false;
    }
  }
  understood = understood && copy != NULL && (told.queueCount == DRIVERS || told.queueCount <= QUEUES_MAX);
  free(copy);
}

static void tell(uint32_t said, uint32_t *out) {
  if (said != DRIVERS) {
    *out = said;
  }
}

static void tell_limits(VkPhysicalDeviceLimits *out) {
  tell(told.maxComputeWorkGroupInvocations, &out->maxComputeWorkGroupInvocations);
  for (int i = 0; i < 3; ++i) {
    /* A workgroup of one row, column or layer. */
    tell(told.maxComputeWorkGroupInvocations, &out->maxComputeWorkGroupSize[i]);
  }
  tell(told.maxComputeSharedMemorySize, &out->maxComputeSharedMemorySize);
  tell(told.maxUniformBufferRange, &out->maxUniformBufferRange);
  if (told.minUniformBufferOffsetAlignment != DRIVERS) {
    out->minUniformBufferOffsetAlignment = told.minUniformBufferOffsetAlignment;
  }
}

/* The member of a struct of properties or features that is told otherwise, and how; NULL: none is. */
static uint32_t *find_told(VkBaseOutStructure *in, uint32_t *out_said) {
  void *const at = in;
  switch (in->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES:
      *out_said = told.subgroupSupportedOperations;
      return &((VkPhysicalDeviceSubgroupProperties *)at)->supportedOperations;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES:
      *out_said = told.subgroupSupportedOperations;
      return &((VkPhysicalDeviceVulkan11Properties *)at)->subgroupSupportedOperations;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES:
      *out_said = told.shaderFloat16;
      return &((VkPhysicalDeviceShaderFloat16Int8Features *)at)->shaderFloat16;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
      *out_said = told.shaderFloat16;
      return &((VkPhysicalDeviceVulkan12Features *)at)->shaderFloat16;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES:
      *out_said = told.computeFullSubgroups;
      return &((VkPhysicalDeviceSubgroupSizeControlFeatures *)at)->computeFullSubgroups;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES:
      *out_said = told.shaderIntegerDotProduct;
      return &((VkPhysicalDeviceShaderIntegerDotProductFeatures *)at)->shaderIntegerDotProduct;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES:
      *out_said = told.integerDotProduct4x8BitPackedSignedAccelerated;
      return &((VkPhysicalDeviceShaderIntegerDotProductProperties *)at)->integerDotProduct4x8BitPackedSignedAccelerated;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
      *out_said = told.computeFullSubgroups;
      return &((VkPhysicalDeviceVulkan13Features *)at)->computeFullSubgroups;
    default:
      return NULL;
  }
}

static void tell_chain(void *chain) {
  for (VkBaseOutStructure *at = chain; at != NULL; at = at->pNext) {
    uint32_t said;
    uint32_t *const member = find_told(at, &said);
    if (member != NULL) {
      tell(said, member);
    }
  }
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties *out) {
  instance_of(physical)->vkGetPhysicalDeviceProperties(physical, out);
  tell_limits(&out->limits);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *out) {
  instance_of(physical)->vkGetPhysicalDeviceProperties2(physical, out);
  tell_limits(&out->properties.limits);
  tell_chain(out->pNext);
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *out) {
  instance_of(physical)->vkGetPhysicalDeviceFeatures2(physical, out);
  tell_chain(out->pNext);
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice physical, uint32_t *count,
                                               VkQueueFamilyProperties *out) {
  instance_of(physical)->vkGetPhysicalDeviceQueueFamilyProperties(physical, count, out);
  for (uint32_t i = 0; out != NULL && i < *count; ++i) {
    tell(told.queueCount, &out[i].queueCount);
  }
}

static VKAPI_ATTR void VKAPI_CALL get_families2(VkPhysicalDevice physical, uint32_t *count,
                                                VkQueueFamilyProperties2 *out) {
  instance_of(physical)->vkGetPhysicalDeviceQueueFamilyProperties2(physical, count, out);
  for (uint32_t i = 0; out != NULL && i < *count; ++i) {
    tell(told.queueCount, &out[i].queueFamilyProperties.queueCount);
  }
}

/* ---- Devices and their queues ---- */

/* Whether a new device wants a feature that is told not to be there. */
static bool wants_too_much(const VkDeviceCreateInfo *info) {
  for (VkBaseOutStructure *at = (VkBaseOutStructure *)(uintptr_t)info->pNext; at != NULL; at = at->pNext) {
    uint32_t said;
    const uint32_t *const feature = find_told(at, &said);
    if (feature != NULL && *feature != 0 && said == 0) {
      return true;
    }
  }
  return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *out) {
  PFN_vkGetInstanceProcAddr get_instance;
  PFN_vkGetDeviceProcAddr get;
  chain_of_device(info, &get_instance, &get);
  const PFN_vkCreateDevice create = (PFN_vkCreateDevice)get_instance(instance_of(physical)->handle, "vkCreateDevice");

  if (wants_too_much(info)) {
    return VK_ERROR_FEATURE_NOT_PRESENT;
  }
  device *const made = calloc(1, sizeof(*made));
  VkDeviceQueueCreateInfo *const families = calloc(info->queueCreateInfoCount, sizeof(*families));
  if (made == NULL || families == NULL) {
    free(made);
    free(families);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  VkDeviceCreateInfo fewer = *info;
  fewer.pQueueCreateInfos = families;
  for (uint32_t i = 0; i < info->queueCreateInfoCount; ++i) {
    families[i] = info->pQueueCreateInfos[i];
    families[i].queueCount = told.queueCount == DRIVERS ? families[i].queueCount : 1;
  }
  const VkResult result = create(physical, &fewer, allocator, out);
  free(families);
  if (result != VK_SUCCESS) {
    free(made);
    return result;
  }
  made->handle = *out;
  made->get = get;
  made->submit = (PFN_vkQueueSubmit)get(*out, "vkQueueSubmit");
  made->wait_idle = (PFN_vkQueueWaitIdle)get(*out, "vkQueueWaitIdle");
  pthread_mutex_init(&made->submitting, NULL);
  pthread_mutex_lock(&lists);
  made->next = devices;
  devices = made;
  pthread_mutex_unlock(&lists);
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks *allocator) {
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  device *const gone = device_of(handle);
  pthread_mutex_lock(&lists);
  device **at = &devices;
  while (*at != gone) {
    at = &(*at)->next;
  }
  *at = gone->next;
  pthread_mutex_unlock(&lists);
  ((PFN_vkDestroyDevice)gone->get(handle, "vkDestroyDevice"))(handle, allocator);
  pthread_mutex_destroy(&gone->submitting);
  free(gone);
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice handle, uint32_t family, uint32_t index, VkQueue *out) {
  device *const from = device_of(handle);
  queue *const seen = &from->queues[index];
  seen->device = from;
  ((PFN_vkGetDeviceQueue)from->get(handle, "vkGetDeviceQueue"))(handle, family, 0, &seen->driver);
  *out = (VkQueue)(void *)seen;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue handle, uint32_t count, const VkSubmitInfo *list, VkFence fence) {
  const queue *const to = (const queue *)(const void *)handle;
  pthread_mutex_lock(&to->device->submitting);
  const VkResult result = to->device->submit(to->driver, count, list, fence);
  pthread_mutex_unlock(&to->device->submitting);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkQueue handle) {
  const queue *const of = (const queue *)(const void *)handle;
  pthread_mutex_lock(&of->device->submitting);
  const VkResult result = of->device->wait_idle(of->driver);
  pthread_mutex_unlock(&of->device->submitting);
  return result;
}

/* ---- Instances ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *out) {
  const PFN_vkGetInstanceProcAddr get = chain_of_instance(info);
  pthread_once(&once, read_variable);
  instance *const made = calloc(1, sizeof(*made));
  const VkResult result = made == NULL  ? VK_ERROR_OUT_OF_HOST_MEMORY
                          : !understood ? VK_ERROR_INITIALIZATION_FAILED
                                        : ((PFN_vkCreateInstance)get(NULL, "vkCreateInstance"))(info, allocator, out);
  if (result != VK_SUCCESS) {
    free(made);
    return result;
  }
  made->loader = chain_loader_of(*out);
  made->handle = *out;
  made->get = get;
#define FIND(name) made->name = (PFN_##name)get(*out, #name);
  BELOW(FIND)
#undef FIND
  pthread_mutex_lock(&lists);
  made->next = instances;
  instances = made;
  pthread_mutex_unlock(&lists);
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle, const VkAllocationCallbacks *allocator) {
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  instance *const gone = instance_of(handle);
  pthread_mutex_lock(&lists);
  instance **at = &instances;
  while (*at != gone) {
    at = &(*at)->next;
  }
  *at = gone->next;
  pthread_mutex_unlock(&lists);
  gone->vkDestroyInstance(handle, allocator);
  free(gone);
}

/* ---- Functions by name ---- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_instance(VkInstance handle, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_device(VkDevice handle, const char *name);

typedef struct function {
  const char *name;
  PFN_vkVoidFunction address;
} function;

static PFN_vkVoidFunction find(const function *list, size_t count, const char *name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(list[i].name, name) == 0) {
      return list[i].address;
    }
  }
  return NULL;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define AS(name, own) \
  { name, (PFN_vkVoidFunction)(own) }

/* NULL: not this layer's. */
static PFN_vkVoidFunction own_of_device(const char *name) {
  static const function always[] = {AS("vkGetDeviceProcAddr", get_of_device), AS("vkDestroyDevice", destroy_device)};
  static const function queues[] = {AS("vkGetDeviceQueue", get_queue), AS("vkQueueSubmit", submit),
                                    AS("vkQueueWaitIdle", wait_idle)};
  const PFN_vkVoidFunction found = find(always, COUNT(always), name);
  return found == NULL && told.queueCount != DRIVERS ? find(queues, COUNT(queues), name) : found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_device(VkDevice handle, const char *name) {
  const PFN_vkVoidFunction own = own_of_device(name);
  /* No other function may be given a queue of this layer's. */
  const bool takes_queue = strncmp(name, "vkQueue", 7) == 0 || strcmp(name, "vkGetDeviceQueue2") == 0;
  return own != NULL || (told.queueCount != DRIVERS && takes_queue) ? own : device_of(handle)->get(handle, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_instance(VkInstance handle, const char *name) {
  static const function list[] = {
      AS("vkGetInstanceProcAddr", get_of_instance),
      AS("vkCreateInstance", create_instance),
      AS("vkDestroyInstance", destroy_instance),
      AS("vkCreateDevice", create_device),
      AS("vkGetPhysicalDeviceProperties", get_properties),
      AS("vkGetPhysicalDeviceProperties2", get_properties2),
      AS("vkGetPhysicalDeviceProperties2KHR", get_properties2),
      AS("vkGetPhysicalDeviceFeatures2", get_features2),
      AS("vkGetPhysicalDeviceFeatures2KHR", get_features2),
      AS("vkGetPhysicalDeviceQueueFamilyProperties", get_families),
      AS("vkGetPhysicalDeviceQueueFamilyProperties2", get_families2),
      AS("vkGetPhysicalDeviceQueueFamilyProperties2KHR", get_families2),
  };
  PFN_vkVoidFunction own = find(list, COUNT(list), name);
  own = own == NULL ? own_of_device(name) : own;
  return own != NULL || handle == VK_NULL_HANDLE ? own : instance_of(handle)->get(handle, name);
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *versions) {
  return chain_negotiate(versions, get_of_instance, get_of_device);
}
