/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A Vulkan layer that makes one call fail, under any program: FAULT=FUNCTION:NUMBER=RESULT, such as
 *
 *     FAULT=AllocateMemory:3=device
 *
 * for the third call of vkAllocateMemory in the process. RESULT is one of RESULTS below. A device that was lost stays
 * lost: all that is submitted to it and waited for fails from then on. One that `stalled` shows no progress for STALL_S
 * seconds from then on: waits time out, and semaphores keep their values. Without FAULT nothing fails.
 *
 * With FAULT_PIPELINE_BYTES=N each pipeline that is made adds so many bytes to what pipeline caches hold, for a driver
 * that keeps nothing in them, as Mesa's lavapipe.
 *
 * When the process ends, the layer writes how often each function was called, whether the fault came, and as
 * `left@FUNCTION` how many objects that a function made were never destroyed, those of a device that is still there
 * among them, to the file that FAULT_COUNTS names, a line each. RESULT `skip` of a function that destroys leaves its
 * object there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "layers/chain.h"

/* Functions of a device, or of what belongs to one: the name, what it takes, the same without types, and whether it
 * notices a lost device. */
#define FUNCTIONS(X)                                                                                                  \
  X(AllocateCommandBuffers, (VkDevice h, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *o), (h, i, o), false) \
  X(AllocateDescriptorSets, (VkDevice h, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *o), (h, i, o), false) \
  X(AllocateMemory, (VkDevice h, const VkMemoryAllocateInfo *i, const VkAllocationCallbacks *a, VkDeviceMemory *o),   \
    (h, i, a, o), false)                                                                                              \
  X(BeginCommandBuffer, (VkCommandBuffer h, const VkCommandBufferBeginInfo *i), (h, i), false)                        \
  X(BindBufferMemory, (VkDevice h, VkBuffer b, VkDeviceMemory m, VkDeviceSize s), (h, b, m, s), false)                \
  X(CreateBuffer, (VkDevice h, const VkBufferCreateInfo *i, const VkAllocationCallbacks *a, VkBuffer *o),             \
    (h, i, a, o), false)                                                                                              \
  X(CreateCommandPool,                                                                                                \
    (VkDevice h, const VkCommandPoolCreateInfo *i, const VkAllocationCallbacks *a, VkCommandPool *o), (h, i, a, o),   \
    false)                                                                                                            \
  X(CreateComputePipelines,                                                                                           \
    (VkDevice h, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo *i, const VkAllocationCallbacks *a, \
     VkPipeline *o),                                                                                                  \
    (h, c, n, i, a, o), false)                                                                                        \
  X(CreateDescriptorPool,                                                                                             \
    (VkDevice h, const VkDescriptorPoolCreateInfo *i, const VkAllocationCallbacks *a, VkDescriptorPool *o),           \
    (h, i, a, o), false)                                                                                              \
  X(CreateDescriptorSetLayout,                                                                                        \
    (VkDevice h, const VkDescriptorSetLayoutCreateInfo *i, const VkAllocationCallbacks *a, VkDescriptorSetLayout *o), \
    (h, i, a, o), false)                                                                                              \
  X(CreatePipelineCache,                                                                                              \
    (VkDevice h, const VkPipelineCacheCreateInfo *i, const VkAllocationCallbacks *a, VkPipelineCache *o),             \
    (h, i, a, o), false)                                                                                              \
  X(CreatePipelineLayout,                                                                                             \
    (VkDevice h, const VkPipelineLayoutCreateInfo *i, const VkAllocationCallbacks *a, VkPipelineLayout *o),           \
    (h, i, a, o), false)                                                                                              \
  X(CreateQueryPool, (VkDevice h, const VkQueryPoolCreateInfo *i, const VkAllocationCallbacks *a, VkQueryPool *o),    \
    (h, i, a, o), false)                                                                                              \
  X(CreateSemaphore, (VkDevice h, const VkSemaphoreCreateInfo *i, const VkAllocationCallbacks *a, VkSemaphore *o),    \
    (h, i, a, o), false)                                                                                              \
  X(CreateShaderModule,                                                                                               \
    (VkDevice h, const VkShaderModuleCreateInfo *i, const VkAllocationCallbacks *a, VkShaderModule *o), (h, i, a, o), \
    false)                                                                                                            \
  X(DeviceWaitIdle, (VkDevice h), (h), true)                                                                          \
  X(EndCommandBuffer, (VkCommandBuffer h), (h), false)                                                                \
  X(GetPipelineCacheData, (VkDevice h, VkPipelineCache c, size_t * n, void *o), (h, c, n, o), false)                  \
  X(GetSemaphoreCounterValue, (VkDevice h, VkSemaphore s, uint64_t * o), (h, s, o), true)                             \
  X(MapMemory, (VkDevice h, VkDeviceMemory m, VkDeviceSize s, VkDeviceSize n, VkMemoryMapFlags f, void **o),          \
    (h, m, s, n, f, o), false)                                                                                        \
  X(MergePipelineCaches, (VkDevice h, VkPipelineCache c, uint32_t n, const VkPipelineCache *i), (h, c, n, i), false)  \
  X(QueueSubmit, (VkQueue h, uint32_t n, const VkSubmitInfo *i, VkFence f), (h, n, i, f), true)                       \
  X(ResetCommandPool, (VkDevice h, VkCommandPool p, VkCommandPoolResetFlags f), (h, p, f), false)                     \
  X(WaitSemaphores, (VkDevice h, const VkSemaphoreWaitInfo *i, uint64_t t), (h, i, t), true)

/* Objects that are destroyed one by one: what makes them, one at a call, what destroys them, and their handle. Command
 * buffers and descriptor sets go with their pools. */
#define OBJECTS(X)                                                                \
  X(AllocateMemory, FreeMemory, VkDeviceMemory)                                   \
  X(CreateBuffer, DestroyBuffer, VkBuffer)                                        \
  X(CreateCommandPool, DestroyCommandPool, VkCommandPool)                         \
  X(CreateComputePipelines, DestroyPipeline, VkPipeline)                          \
  X(CreateDescriptorPool, DestroyDescriptorPool, VkDescriptorPool)                \
  X(CreateDescriptorSetLayout, DestroyDescriptorSetLayout, VkDescriptorSetLayout) \
  X(CreatePipelineCache, DestroyPipelineCache, VkPipelineCache)                   \
  X(CreatePipelineLayout, DestroyPipelineLayout, VkPipelineLayout)                \
  X(CreateQueryPool, DestroyQueryPool, VkQueryPool)                               \
  X(CreateSemaphore, DestroySemaphore, VkSemaphore)                               \
  X(CreateShaderModule, DestroyShaderModule, VkShaderModule)

typedef enum function {
#define NUMBER(name, ...) FN_##name,
#define NUMBER_OF_END(create, destroy, type) FN_##destroy,
  FUNCTIONS(NUMBER) OBJECTS(NUMBER_OF_END) FN_CreateDevice,
  FN_DestroyDevice,
  FN_CmdDispatch,
  FN_COUNT
#undef NUMBER
#undef NUMBER_OF_END
} function;

static const char *const names[FN_COUNT] = {
#define NAME(name, ...) #name,
#define NAME_OF_END(create, destroy, type) #destroy,
    FUNCTIONS(NAME) OBJECTS(NAME_OF_END) "CreateDevice", "DestroyDevice", "CmdDispatch"};
#undef NAME
#undef NAME_OF_END

/* What a call may end with. `skip`: it does nothing and says that it did; that is what the canary is for. */
#define DELAY ((VkResult)1000)
#define SKIP ((VkResult)1001)
#define STALLED ((VkResult)1002)
/* Longer than what threads wait until they tell of it (plugin/streams/wait.c). */
#define STALL_S 12
static const struct {
  const char *name;
  VkResult result;
} results[] = {
    {"host", VK_ERROR_OUT_OF_HOST_MEMORY},
    {"device", VK_ERROR_OUT_OF_DEVICE_MEMORY},
    {"lost", VK_ERROR_DEVICE_LOST},
    {"timeout", VK_TIMEOUT},
    {"delay", DELAY},
    {"notready", VK_NOT_READY},
    {"stalled", STALLED},
    {"skip", SKIP},
};
#define RESULT_COUNT (sizeof(results) / sizeof(results[0]))

/* The fault, set once before the first instance is there. */
static function faulty = FN_COUNT;
static unsigned long faulty_number;
static VkResult faulty_result;
static bool understood = true;
static size_t pipeline_bytes;

static atomic_ulong counts[FN_COUNT];
/* Calls that succeeded less calls of what destroys their objects. */
static atomic_long alive[FN_COUNT];
static atomic_bool came;
static atomic_long stall_end; /* when the device goes on, of now_ms(); 0: it did not stall */
static void *_Atomic lost;    /* the loader's table of the device that was lost */

static void read_fault(void) {
  const char *const text = getenv("FAULT"), *const bytes = getenv("FAULT_PIPELINE_BYTES");
  pipeline_bytes = bytes != NULL ? strtoul(bytes, NULL, 10) : 0;
  char name[64], result[16], rest;
  if (text == NULL) {
    return;
  }
  understood = sscanf(text, "%63[A-Za-z]:%lu=%15[a-z]%c", name, &faulty_number, result, &rest) == 3;
  size_t r = 0;
  faulty = 0;
  while (understood && faulty < FN_COUNT && strcmp(names[faulty], name) != 0) {
    ++faulty;
  }
  while (understood && r < RESULT_COUNT && strcmp(results[r].name, result) != 0) {
    ++r;
  }
  understood = understood && faulty < FN_COUNT && r < RESULT_COUNT;
  if (!understood) {
    (void)fprintf(stderr, "FAULT: '%s' is no FUNCTION:NUMBER=RESULT that tests/faults/layer.c knows\n", text);
    return;
  }
  faulty_result = results[r].result;
}

__attribute__((destructor)) static void write_counts(void) {
  const char *const path = getenv("FAULT_COUNTS");
  FILE *const file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) {
    return;
  }
  for (int i = 0; i < FN_COUNT; ++i) {
    (void)fprintf(file, "%s %lu\n", names[i], atomic_load(&counts[i]));
  }
#define LEFT(create, destroy, type) (void)fprintf(file, "left@" #create " %ld\n", atomic_load(&alive[FN_##create]));
  OBJECTS(LEFT)
  LEFT(CreateDevice, DestroyDevice, VkDevice)
#undef LEFT
  (void)fprintf(file, "came %d\n", atomic_load(&came));
  (void)fclose(file);
}

/* Whether something belongs to the device that was lost. The driver does not know of that, and may work for it yet:
 * what it has of it stays there, whoever destroys it. */
static bool is_lost(const void *handle) {
  return atomic_load(&lost) == chain_loader_of(handle);
}

static long now_ms(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void sleep_ms(long ms) {
  (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static bool stalls(void) {
  return now_ms() < atomic_load(&stall_end);
}

/* Counts a call of what a device has, or of none (NULL); whether it is the one that fails, or one of a device that was
 * lost. `*out`: what it returns then. */
static bool fails(function which, const void *handle, bool notices_loss, VkResult *out) {
  const unsigned long number = atomic_fetch_add(&counts[which], 1) + 1;
  if (which != faulty || number != faulty_number) {
    *out = VK_ERROR_DEVICE_LOST;
    return notices_loss && is_lost(handle);
  }
  atomic_store(&came, true);
  *out = faulty_result == SKIP ? VK_SUCCESS : faulty_result;
  if (faulty_result == VK_ERROR_DEVICE_LOST && handle != NULL) {
    atomic_store(&lost, chain_loader_of(handle));
  }
  if (faulty_result == DELAY) {
    sleep_ms(200);
  }
  if (faulty_result == STALLED) {
    atomic_store(&stall_end, now_ms() + STALL_S * 1000);
  }
  return faulty_result != DELAY && faulty_result != STALLED;
}

/* ---- Devices and instances ---- */

typedef struct device {
  struct device *next;
  void *loader; /* the loader's table, by which all that belongs to it is known */
  PFN_vkGetDeviceProcAddr get;
  PFN_vkDestroyDevice destroy;
  PFN_vkCmdDispatch dispatch;
  PFN_vkGetPipelineCacheData driver_data;
  PFN_vkGetSemaphoreCounterValue driver_value;
  PFN_vkWaitSemaphores driver_wait;
#define MEMBER(name, ...) PFN_vk##name name;
#define MEMBER_OF_END(create, destroy, type) PFN_vk##destroy destroy;
  FUNCTIONS(MEMBER)
  OBJECTS(MEMBER_OF_END)
#undef MEMBER
#undef MEMBER_OF_END
} device;

typedef struct instance {
  struct instance *next;
  void *loader;
  VkInstance handle;
  PFN_vkGetInstanceProcAddr get;
} instance;

/* Guards the lists. What is in them stays until its Vulkan object is destroyed. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static device *devices;
static instance *instances;

static device *device_of(const void *handle) {
  pthread_mutex_lock(&lists);
  device *found = devices;
  while (found->loader != chain_loader_of(handle)) {
    found = found->next;
  }
  pthread_mutex_unlock(&lists);
  return found;
}

static instance *instance_of(const void *handle) {
  pthread_mutex_lock(&lists);
  instance *found = instances;
  while (found->loader != chain_loader_of(handle)) {
    found = found->next;
  }
  pthread_mutex_unlock(&lists);
  return found;
}

#define DEFINE(name, parameters, arguments, notices)            \
  static VKAPI_ATTR VkResult VKAPI_CALL own_##name parameters { \
    VkResult result;                                            \
    if (fails(FN_##name, (const void *)h, notices, &result)) {  \
      return result;                                            \
    }                                                           \
    result = device_of((const void *)h)->name arguments;        \
    atomic_fetch_add(&alive[FN_##name], result == VK_SUCCESS);  \
    return result;                                              \
  }
FUNCTIONS(DEFINE)
#undef DEFINE

#define DEFINE_END(create, destroy, type)                                                               \
  static VKAPI_ATTR void VKAPI_CALL own_##destroy(VkDevice h, type o, const VkAllocationCallbacks *a) { \
    VkResult result;                                                                                    \
    if (o != VK_NULL_HANDLE && !fails(FN_##destroy, (const void *)h, false, &result)) {                 \
      atomic_fetch_sub(&alive[FN_##create], 1);                                                         \
      if (!is_lost((const void *)h)) {                                                                  \
        device_of((const void *)h)->destroy(h, o, a);                                                   \
      }                                                                                                 \
    }                                                                                                   \
  }
OBJECTS(DEFINE_END)
#undef DEFINE_END

static VKAPI_ATTR void VKAPI_CALL own_dispatch(VkCommandBuffer h, uint32_t x, uint32_t y, uint32_t z) {
  VkResult result;
  if (!fails(FN_CmdDispatch, (const void *)h, false, &result)) {
    device_of((const void *)h)->dispatch(h, x, y, z);
  }
}

/* What semaphores a stalled device has shown, and their values. */
#define STALLED_MAX 64
static struct {
  VkSemaphore semaphore;
  uint64_t value;
} shown[STALLED_MAX]; /* guarded by `lists` */

static VKAPI_ATTR VkResult VKAPI_CALL value_of_stalled(VkDevice h, VkSemaphore semaphore, uint64_t *out) {
  const VkResult result = device_of(h)->driver_value(h, semaphore, out);
  if (result != VK_SUCCESS || !stalls()) {
    return result;
  }
  pthread_mutex_lock(&lists);
  int i = 0;
  while (i < STALLED_MAX - 1 && shown[i].semaphore != VK_NULL_HANDLE && shown[i].semaphore != semaphore) {
    ++i;
  }
  if (shown[i].semaphore != semaphore) {
    shown[i].semaphore = semaphore;
    shown[i].value = *out;
  }
  *out = shown[i].value;
  pthread_mutex_unlock(&lists);
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_stalled(VkDevice h, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  if (!stalls()) {
    return device_of(h)->driver_wait(h, info, timeout);
  }
  sleep_ms(timeout < 50000000 ? (long)(timeout / 1000000) : 50);
  return VK_TIMEOUT;
}

/* What the driver's cache holds, and behind it `pipeline_bytes` for each pipeline that was made. */
static VKAPI_ATTR VkResult VKAPI_CALL more_data(VkDevice h, VkPipelineCache cache, size_t *n, void *out) {
  const size_t more = pipeline_bytes * atomic_load(&counts[FN_CreateComputePipelines]), room = *n;
  const VkResult result = device_of(h)->driver_data(h, cache, n, out);
  if (out == NULL) {
    *n += more;
  } else if (result == VK_SUCCESS) {
    const size_t added = room - *n < more ? room - *n : more;
    memset((unsigned char *)out + *n, 0xa5, added);
    *n += added;
  }
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL own_create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                        const VkAllocationCallbacks *allocator, VkDevice *out) {
  PFN_vkGetInstanceProcAddr get_instance;
  PFN_vkGetDeviceProcAddr get;
  chain_of_device(info, &get_instance, &get);
  const PFN_vkCreateDevice create = (PFN_vkCreateDevice)get_instance(instance_of(physical)->handle, "vkCreateDevice");
  VkResult result;
  if (fails(FN_CreateDevice, NULL, false, &result)) {
    return result;
  }
  device *const made = calloc(1, sizeof(*made));
  result = made == NULL ? VK_ERROR_OUT_OF_HOST_MEMORY : create(physical, info, allocator, out);
  if (result != VK_SUCCESS) {
    free(made);
    return result;
  }
  made->loader = chain_loader_of(*out);
  made->get = get;
  made->destroy = (PFN_vkDestroyDevice)get(*out, "vkDestroyDevice");
  made->dispatch = (PFN_vkCmdDispatch)get(*out, "vkCmdDispatch");
#define FIND(name, ...) made->name = (PFN_vk##name)get(*out, "vk" #name);
#define FIND_END(create, destroy, type) made->destroy = (PFN_vk##destroy)get(*out, "vk" #destroy);
  FUNCTIONS(FIND)
  OBJECTS(FIND_END)
#undef FIND
#undef FIND_END
  atomic_fetch_add(&alive[FN_CreateDevice], 1);
  made->driver_data = made->GetPipelineCacheData;
  made->GetPipelineCacheData = more_data;
  made->driver_value = made->GetSemaphoreCounterValue;
  made->GetSemaphoreCounterValue = value_of_stalled;
  made->driver_wait = made->WaitSemaphores;
  made->WaitSemaphores = wait_for_stalled;
  pthread_mutex_lock(&lists);
  made->next = devices;
  devices = made;
  pthread_mutex_unlock(&lists);
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL own_destroy_device(VkDevice handle, const VkAllocationCallbacks *allocator) {
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  VkResult result;
  if (fails(FN_DestroyDevice, handle, false, &result)) {
    return;
  }
  atomic_fetch_sub(&alive[FN_CreateDevice], 1);
  device *const gone = device_of(handle);
  pthread_mutex_lock(&lists);
  device **at = &devices;
  while (*at != gone) {
    at = &(*at)->next;
  }
  *at = gone->next;
  pthread_mutex_unlock(&lists);
  if (is_lost(handle)) {
    /* The next device may get the same table. */
    atomic_store(&lost, NULL);
  } else {
    gone->destroy(handle, allocator);
  }
  free(gone);
}

static VKAPI_ATTR VkResult VKAPI_CALL own_create_instance(const VkInstanceCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator, VkInstance *out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const PFN_vkGetInstanceProcAddr get = chain_of_instance(info);
  pthread_once(&once, read_fault);
  instance *const made = calloc(1, sizeof(*made));
  const VkResult result = made == NULL  ? VK_ERROR_OUT_OF_HOST_MEMORY
                          : !understood ? VK_ERROR_INITIALIZATION_FAILED
                                        : ((PFN_vkCreateInstance)get(NULL, "vkCreateInstance"))(info, allocator, out);
  if (result != VK_SUCCESS) {
    free(made);
    return result;
  }
  *made = (instance){.loader = chain_loader_of(*out), .handle = *out, .get = get};
  pthread_mutex_lock(&lists);
  made->next = instances;
  instances = made;
  pthread_mutex_unlock(&lists);
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL own_destroy_instance(VkInstance handle, const VkAllocationCallbacks *allocator) {
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
  ((PFN_vkDestroyInstance)gone->get(handle, "vkDestroyInstance"))(handle, allocator);
  free(gone);
}

/* ---- Functions by name ---- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_device(VkDevice handle, const char *name);

/* NULL: not this layer's. */
static PFN_vkVoidFunction own_of_device(const char *name) {
  static const struct {
    const char *name;
    PFN_vkVoidFunction own;
  } list[] = {
#define ENTRY(name, ...) {"vk" #name, (PFN_vkVoidFunction)own_##name},
#define ENTRY_OF_END(create, destroy, type) {"vk" #destroy, (PFN_vkVoidFunction)own_##destroy},
      FUNCTIONS(ENTRY) OBJECTS(ENTRY_OF_END)
#undef ENTRY
#undef ENTRY_OF_END
          {"vkCmdDispatch", (PFN_vkVoidFunction)own_dispatch},
      {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_of_device},
      {"vkDestroyDevice", (PFN_vkVoidFunction)own_destroy_device},
  };
  for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
    if (strcmp(list[i].name, name) == 0) {
      return list[i].own;
    }
  }
  return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_device(VkDevice handle, const char *name) {
  const PFN_vkVoidFunction own = own_of_device(name);
  return own != NULL ? own : device_of(handle)->get(handle, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_instance(VkInstance handle, const char *name) {
  if (strcmp(name, "vkGetInstanceProcAddr") == 0) {
    return (PFN_vkVoidFunction)get_of_instance;
  }
  if (strcmp(name, "vkCreateInstance") == 0) {
    return (PFN_vkVoidFunction)own_create_instance;
  }
  if (strcmp(name, "vkDestroyInstance") == 0) {
    return (PFN_vkVoidFunction)own_destroy_instance;
  }
  if (strcmp(name, "vkCreateDevice") == 0) {
    return (PFN_vkVoidFunction)own_create_device;
  }
  const PFN_vkVoidFunction own = own_of_device(name);
  return own != NULL || handle == VK_NULL_HANDLE ? own : instance_of(handle)->get(handle, name);
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *versions) {
  return chain_negotiate(versions, get_of_instance, get_of_device);
}
