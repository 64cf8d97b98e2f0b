/* SPDX-License-Identifier: BSD-3-Clause */
#include "exporter.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define COMMANDS_MAX 4096
/* As an application has it that knows nothing of device addresses; a buffer that memory is dedicated to is the same on
 * both sides, so that one has them. */
#define BUFFER_USAGE \
  (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define DEDICATED_USAGE (BUFFER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)

#define INSTANCE_FUNCTIONS(X)                     \
  X(CreateDevice)                                 \
  X(DestroyInstance)                              \
  X(EnumerateDeviceExtensionProperties)           \
  X(EnumeratePhysicalDevices)                     \
  X(GetDeviceProcAddr)                            \
  X(GetPhysicalDeviceExternalBufferProperties)    \
  X(GetPhysicalDeviceExternalSemaphoreProperties) \
  X(GetPhysicalDeviceMemoryProperties2)           \
  X(GetPhysicalDeviceProperties2)                 \
  X(GetPhysicalDeviceQueueFamilyProperties)
#define DEVICE_FUNCTIONS(X)      \
  X(AllocateCommandBuffers)      \
  X(AllocateMemory)              \
  X(BeginCommandBuffer)          \
  X(BindBufferMemory)            \
  X(CmdCopyBuffer)               \
  X(CmdPipelineBarrier)          \
  X(CreateBuffer)                \
  X(CreateCommandPool)           \
  X(CreateSemaphore)             \
  X(DestroyBuffer)               \
  X(DestroyCommandPool)          \
  X(DestroyDevice)               \
  X(DestroySemaphore)            \
  X(DeviceWaitIdle)              \
  X(EndCommandBuffer)            \
  X(FreeMemory)                  \
  X(GetBufferMemoryRequirements) \
  X(GetDeviceQueue)              \
  X(GetSemaphoreCounterValue)    \
  X(MapMemory)                   \
  X(QueueSubmit)                 \
  X(ResetCommandPool)            \
  X(WaitSemaphores)

struct exporter {
#define MEMBER(name) PFN_vk##name name;
  INSTANCE_FUNCTIONS(MEMBER)
  DEVICE_FUNCTIONS(MEMBER)
#undef MEMBER
  PFN_vkGetMemoryFdKHR GetMemoryFdKHR;
  PFN_vkGetSemaphoreFdKHR GetSemaphoreFdKHR; /* or NULL */
  PFN_vkSignalSemaphore SignalSemaphore;     /* or NULL */
  VkInstance instance;
  VkPhysicalDevice physical;
  VkPhysicalDeviceMemoryProperties memory;
  VkDevice device;
  VkQueue queue;
  pthread_mutex_t lock; /* guards the queue and the pool */
  VkCommandPool pool;
  uint32_t command_count;
};

static bool has_extension(const exporter *e, const char *name) {
  uint32_t count = 0;
  REQUIRE(e->EnumerateDeviceExtensionProperties(e->physical, NULL, &count, NULL) == VK_SUCCESS);
  VkExtensionProperties *const list = calloc(count + 1, sizeof(*list));
  REQUIRE(list != NULL && e->EnumerateDeviceExtensionProperties(e->physical, NULL, &count, list) == VK_SUCCESS);
  bool has = false;
  for (uint32_t i = 0; i < count; ++i) {
    has = has || strcmp(list[i].extensionName, name) == 0;
  }
  free(list);
  return has;
}

static bool exports_memory(const exporter *e) {
  const VkPhysicalDeviceExternalBufferInfo which = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
                                                    .usage = BUFFER_USAGE,
                                                    .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  if (!has_extension(e, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)) {
    return false;
  }
  e->GetPhysicalDeviceExternalBufferProperties(e->physical, &which, &properties);
  return (properties.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
}

static bool exports_semaphores(const exporter *e) {
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkPhysicalDeviceExternalSemaphoreInfo which = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
      .pNext = &type,
      .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
  VkExternalSemaphoreProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  if (!has_extension(e, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME)) {
    return false;
  }
  e->GetPhysicalDeviceExternalSemaphoreProperties(e->physical, &which, &properties);
  return (properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
}

/* ---- The device ---------------------------------------------------------------------------------------------------
 */

static PFN_vkGetInstanceProcAddr make_instance(exporter *e) {
  void *const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  PFN_vkGetInstanceProcAddr get = NULL;
  REQUIRE(library != NULL);
  *(void **)&get = dlsym(library, "vkGetInstanceProcAddr");
  REQUIRE(get != NULL);
  const PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "exporter", .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  REQUIRE(create != NULL && create(&info, NULL, &e->instance) == VK_SUCCESS);
#define LOAD(name)                                      \
  e->name = (PFN_vk##name)get(e->instance, "vk" #name); \
  REQUIRE(e->name != NULL);
  INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
  return get;
}

static bool find_physical(exporter *e, const uint8_t device_uuid[16], const uint8_t driver_uuid[16]) {
  VkPhysicalDevice list[16];
  uint32_t count = 16;
  REQUIRE(e->EnumeratePhysicalDevices(e->instance, &count, list) >= 0);
  for (uint32_t i = 0; i < count; ++i) {
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    e->GetPhysicalDeviceProperties2(list[i], &properties);
    if (memcmp(id.deviceUUID, device_uuid, 16) == 0 && memcmp(id.driverUUID, driver_uuid, 16) == 0) {
      e->physical = list[i];
      return true;
    }
  }
  return false;
}

static void make_device(exporter *e) {
  const float priority = 1.0f;
  const char *names[2] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
  VkQueueFamilyProperties families[16];
  uint32_t count = 16, family = 0;
  e->GetPhysicalDeviceQueueFamilyProperties(e->physical, &count, families);
  while (family < count && (families[family].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) == 0) {
    ++family;
  }
  REQUIRE(family < count);
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = family,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  const VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                     .timelineSemaphore = VK_TRUE,
                                                     .bufferDeviceAddress = VK_TRUE};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue,
                                   .enabledExtensionCount = exports_semaphores(e) ? 2 : 1,
                                   .ppEnabledExtensionNames = names};
  REQUIRE(e->CreateDevice(e->physical, &info, NULL, &e->device) == VK_SUCCESS);
#define LOAD(name)                                                     \
  e->name = (PFN_vk##name)e->GetDeviceProcAddr(e->device, "vk" #name); \
  REQUIRE(e->name != NULL);
  DEVICE_FUNCTIONS(LOAD)
#undef LOAD
  e->GetMemoryFdKHR = (PFN_vkGetMemoryFdKHR)e->GetDeviceProcAddr(e->device, "vkGetMemoryFdKHR");
  e->GetSemaphoreFdKHR = (PFN_vkGetSemaphoreFdKHR)e->GetDeviceProcAddr(e->device, "vkGetSemaphoreFdKHR");
  e->SignalSemaphore = (PFN_vkSignalSemaphore)e->GetDeviceProcAddr(e->device, "vkSignalSemaphore");
  REQUIRE(e->GetMemoryFdKHR != NULL);
  e->GetDeviceQueue(e->device, family, 0, &e->queue);
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = family};
  REQUIRE(e->CreateCommandPool(e->device, &pool, NULL, &e->pool) == VK_SUCCESS);
}

/* Lets the queue run its first command buffer: a driver (NVIDIA 580.159.04, H200) that gets the first ones of two
 * queues at the same time may never run what one of the two gets. */
static void begin(exporter *e) {
  const staging_memory staging = exporter_stage(e, 256);
  exporter_copy(e, staging.buffer, 0, staging.buffer, 128, 64, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  exporter_unstage(e, &staging);
}

exporter *exporter_create(const uint8_t device_uuid[16], const uint8_t driver_uuid[16]) {
  exporter *const e = calloc(1, sizeof(*e));
  REQUIRE(e != NULL && pthread_mutex_init(&e->lock, NULL) == 0);
  (void)make_instance(e);
  REQUIRE(find_physical(e, device_uuid, driver_uuid));
  if (!exports_memory(e)) {
    e->DestroyInstance(e->instance, NULL);
    free(e);
    return NULL;
  }
  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  e->GetPhysicalDeviceMemoryProperties2(e->physical, &memory);
  e->memory = memory.memoryProperties;
  make_device(e);
  begin(e);
  return e;
}

void exporter_destroy(exporter *e) {
  e->DestroyCommandPool(e->device, e->pool, NULL);
  e->DestroyDevice(e->device, NULL);
  e->DestroyInstance(e->instance, NULL);
  (void)pthread_mutex_destroy(&e->lock);
  free(e);
}

bool exporter_shares_semaphores(const exporter *e) {
  return exports_semaphores(e);
}

bool exporter_checks_descriptors(const exporter *e) {
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  e->GetPhysicalDeviceProperties2(e->physical, &properties);
  return properties.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

static VkBuffer make_buffer(exporter *e, uint64_t size, VkBufferUsageFlags usage, const void *chained) {
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .pNext = chained,
                                   .size = size,
                                   .usage = usage,
                                   .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkBuffer buffer;
  REQUIRE(e->CreateBuffer(e->device, &info, NULL, &buffer) == VK_SUCCESS);
  return buffer;
}

static uint32_t find_type(const exporter *e, uint32_t allowed, VkMemoryPropertyFlags flags) {
  uint32_t type = 0;
  while (type < e->memory.memoryTypeCount &&
         ((allowed & UINT32_C(1) << type) == 0 || (e->memory.memoryTypes[type].propertyFlags & flags) != flags)) {
    ++type;
  }
  REQUIRE(type < e->memory.memoryTypeCount);
  return type;
}

shared_memory exporter_allocate(exporter *e, uint64_t size, bool dedicated) {
  const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                     .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  shared_memory m = {.size = size,
                     .buffer = make_buffer(e, size, dedicated ? DEDICATED_USAGE : BUFFER_USAGE, &external),
                     .dedicated_usage = dedicated ? DEDICATED_USAGE : 0};
  VkMemoryRequirements needs;
  e->GetBufferMemoryRequirements(e->device, m.buffer, &needs);
  m.allocation_size = needs.size;
  m.memory_type = find_type(e, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  const VkMemoryDedicatedAllocateInfo to_buffer = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                                   .buffer = m.buffer};
  const VkExportMemoryAllocateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                               .pNext = dedicated ? &to_buffer : NULL,
                                               .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .pNext = &exported,
                                           .flags = dedicated ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0};
  const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &flags,
                                     .allocationSize = m.allocation_size,
                                     .memoryTypeIndex = m.memory_type};
  REQUIRE(e->AllocateMemory(e->device, &info, NULL, &m.memory) == VK_SUCCESS);
  REQUIRE(e->BindBufferMemory(e->device, m.buffer, m.memory, 0) == VK_SUCCESS);
  return m;
}

void exporter_free(exporter *e, const shared_memory *memory) {
  e->DestroyBuffer(e->device, memory->buffer, NULL);
  e->FreeMemory(e->device, memory->memory, NULL);
}

int exporter_memory_fd(exporter *e, const shared_memory *memory) {
  const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                     .memory = memory->memory,
                                     .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  int fd = -1;
  REQUIRE(e->GetMemoryFdKHR(e->device, &info, &fd) == VK_SUCCESS && fd >= 0);
  return fd;
}

staging_memory exporter_stage(exporter *e, uint64_t size) {
  staging_memory m = {
      .buffer = make_buffer(e, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, NULL)};
  VkMemoryRequirements needs;
  e->GetBufferMemoryRequirements(e->device, m.buffer, &needs);
  const VkMemoryAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = needs.size,
      .memoryTypeIndex = find_type(e, needs.memoryTypeBits,
                                   VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
  REQUIRE(e->AllocateMemory(e->device, &info, NULL, &m.memory) == VK_SUCCESS);
  REQUIRE(e->BindBufferMemory(e->device, m.buffer, m.memory, 0) == VK_SUCCESS);
  REQUIRE(e->MapMemory(e->device, m.memory, 0, VK_WHOLE_SIZE, 0, &m.mapped) == VK_SUCCESS);
  return m;
}

void exporter_unstage(exporter *e, const staging_memory *memory) {
  e->DestroyBuffer(e->device, memory->buffer, NULL);
  e->FreeMemory(e->device, memory->memory, NULL);
}

/* ---- Semaphores ---------------------------------------------------------------------------------------------------
 */

VkSemaphore exporter_semaphore(exporter *e) {
  const VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .pNext = &exported,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VkSemaphore semaphore;
  REQUIRE(e->CreateSemaphore(e->device, &info, NULL, &semaphore) == VK_SUCCESS);
  return semaphore;
}

void exporter_semaphore_destroy(exporter *e, VkSemaphore semaphore) {
  e->DestroySemaphore(e->device, semaphore, NULL);
}

int exporter_semaphore_fd(exporter *e, VkSemaphore semaphore) {
  const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                        .semaphore = semaphore,
                                        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
  int fd = -1;
  REQUIRE(e->GetSemaphoreFdKHR != NULL && e->GetSemaphoreFdKHR(e->device, &info, &fd) == VK_SUCCESS && fd >= 0);
  return fd;
}

void exporter_signal(exporter *e, VkSemaphore semaphore, uint64_t value) {
  const VkSemaphoreSignalInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
  REQUIRE(e->SignalSemaphore != NULL && e->SignalSemaphore(e->device, &info) == VK_SUCCESS);
}

uint64_t exporter_value(exporter *e, VkSemaphore semaphore) {
  uint64_t value;
  REQUIRE(e->GetSemaphoreCounterValue(e->device, semaphore, &value) == VK_SUCCESS);
  return value;
}

bool exporter_wait(exporter *e, VkSemaphore semaphore, uint64_t value) {
  const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &semaphore,
                                    .pValues = &value};
  const VkResult result = e->WaitSemaphores(e->device, &info, UINT64_C(60000000000));
  REQUIRE(result == VK_SUCCESS || result == VK_TIMEOUT);
  return result == VK_SUCCESS;
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

/* Writes the commands. The lock is held. */
static VkCommandBuffer write_copy(exporter *e, VkBuffer from, VkBuffer to, const VkBufferCopy *region) {
  const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = e->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                          .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
  const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
  VkCommandBuffer commands;
  REQUIRE(e->command_count++ < COMMANDS_MAX);
  REQUIRE(e->AllocateCommandBuffers(e->device, &info, &commands) == VK_SUCCESS);
  REQUIRE(e->BeginCommandBuffer(commands, &begin) == VK_SUCCESS);
  e->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &all, 0, NULL,
                        0, NULL);
  e->CmdCopyBuffer(commands, from, to, 1, region);
  e->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL,
                        0, NULL);
  REQUIRE(e->EndCommandBuffer(commands) == VK_SUCCESS);
  return commands;
}

void exporter_copy(exporter *e, VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset, uint64_t size,
                   VkSemaphore semaphore, uint64_t wait_value, uint64_t signal_value) {
  const VkBufferCopy region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = size};
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
  const uint32_t waits = semaphore != VK_NULL_HANDLE && wait_value != 0 ? 1 : 0;
  const uint32_t signals = semaphore != VK_NULL_HANDLE && signal_value != 0 ? 1 : 0;
  const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                .waitSemaphoreValueCount = waits,
                                                .pWaitSemaphoreValues = &wait_value,
                                                .signalSemaphoreValueCount = signals,
                                                .pSignalSemaphoreValues = &signal_value};
  REQUIRE(pthread_mutex_lock(&e->lock) == 0);
  const VkCommandBuffer commands = write_copy(e, from, to, &region);
  const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = waits,
                               .pWaitSemaphores = &semaphore,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = signals,
                               .pSignalSemaphores = &semaphore};
  REQUIRE(e->QueueSubmit(e->queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS);
  REQUIRE(pthread_mutex_unlock(&e->lock) == 0);
}

void exporter_finish(exporter *e) {
  REQUIRE(e->DeviceWaitIdle(e->device) == VK_SUCCESS);
}
