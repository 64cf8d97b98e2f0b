/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/floor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

#include "fault.h"

#define QUEUES_MAX 64
#define FAMILIES_MAX 16
#define DEVICES_MAX 32
#define NUMBERS 256 /* of one command buffer: 4 workgroups of 64 */
#define ROUNDS 256  /* of arithmetic */
G_STATIC_ASSERT(LEATI_FLOOR_GROUPS_MIN * 64 == NUMBERS);
#define NUMBERS_BYTES ((VkDeviceSize)NUMBERS * sizeof(guint32))
#define SEAT_BYTES (NUMBERS_BYTES * LEATI_FLOOR_DEPTH)
#define IN_FLIGHT_MAX 2
#define HANG_NS UINT64_C(60000000000)
#define POLLS_BEFORE_BLOCKING 2000

static const uint32_t shader_words[] = {
#include "bench_floor.inc"
};

#define INSTANCE_FUNCTIONS(X)          \
  X(CreateDevice)                      \
  X(DestroyInstance)                   \
  X(EnumeratePhysicalDevices)          \
  X(GetDeviceProcAddr)                 \
  X(GetPhysicalDeviceMemoryProperties) \
  X(GetPhysicalDeviceProperties2)      \
  X(GetPhysicalDeviceQueueFamilyProperties)

#define DEVICE_FUNCTIONS(X)      \
  X(AllocateCommandBuffers)      \
  X(AllocateMemory)              \
  X(BeginCommandBuffer)          \
  X(BindBufferMemory)            \
  X(CmdBindPipeline)             \
  X(CmdCopyBuffer)               \
  X(CmdDispatch)                 \
  X(CmdFillBuffer)               \
  X(CmdPipelineBarrier)          \
  X(CmdPushConstants)            \
  X(CreateBuffer)                \
  X(CreateCommandPool)           \
  X(CreateComputePipelines)      \
  X(CreatePipelineLayout)        \
  X(CreateSemaphore)             \
  X(CreateShaderModule)          \
  X(DestroyBuffer)               \
  X(DestroyCommandPool)          \
  X(DestroyDevice)               \
  X(DestroyPipeline)             \
  X(DestroyPipelineLayout)       \
  X(DestroySemaphore)            \
  X(DestroyShaderModule)         \
  X(DeviceWaitIdle)              \
  X(EndCommandBuffer)            \
  X(FreeMemory)                  \
  X(GetBufferDeviceAddress)      \
  X(GetBufferMemoryRequirements) \
  X(GetDeviceQueue)              \
  X(GetSemaphoreCounterValue)    \
  X(MapMemory)                   \
  X(QueueSubmit)                 \
  X(WaitSemaphores)

#define MEMBER(name) PFN_vk##name name;

/* Where a thread leaves its command buffer for whoever submits next. A cache line of its own. */
typedef struct seat {
  /* Stored with release by the owner, exchanged with acquire by the leader: `commands` travels with it. */
  alignas(64) atomic_bool posted;
  /* The value that the submission will signal, 0: not yet submitted. Stored with release by the leader, loaded with
   * acquire by the owner, who may reuse the seat then. */
  atomic_uint_fast64_t value;
  VkCommandBuffer commands;
} seat;

typedef struct queue {
  VkQueue handle;
  uint32_t family;
  pthread_mutex_t lock; /* guards the handle, as Vulkan asks */
} queue;

typedef struct buffer {
  VkBuffer handle;
  VkDeviceMemory memory;
} buffer;

struct leati_floor {
  void *library;
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  INSTANCE_FUNCTIONS(MEMBER)
  DEVICE_FUNCTIONS(MEMBER)
  VkPhysicalDeviceMemoryProperties memory;
  queue queues[QUEUES_MAX]; /* those of families without graphics first */
  guint queue_count;
  buffer numbers;  /* SEAT_BYTES for each seat, on the device */
  buffer readback; /* the same, for the host */
  const guint32 *read;
  VkDeviceAddress address; /* of numbers */
  VkShaderModule shader;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkPipeline arithmetic; /* the same shader, with rounds of arithmetic */
  VkSemaphore semaphore; /* of combined submissions */
  /* The value that the last combined submission signals; guarded by the lock of queue 0. */
  uint64_t submitted;
  atomic_bool broken; /* a combined submission failed: nobody need wait any more */
  seat seats[LEATI_FLOOR_SEATS];
};

static gboolean good(VkResult result, const char *what, GError **error) {
  if (result < 0) {
    LEATI_FAULT_SET(error, "the floor: %s failed with VkResult %d", what, (int)result);
  }
  return result >= 0;
}

/* A call of a function of the floor `f`, within a function that has `error`. */
#define CALL(function, ...) good(f->function(__VA_ARGS__), "vk" #function, error)

static void relax(int times) {
  for (int i = 0; i < times; ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
  }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static gboolean load(leati_floor *f, GError **error) {
  f->library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (f->library == NULL) {
    LEATI_FAULT_SET(error, "the floor: libvulkan.so.1 cannot be opened: %s", dlerror());
    return FALSE;
  }
  PFN_vkGetInstanceProcAddr get;
  *(void **)&get = dlsym(f->library, "vkGetInstanceProcAddr");
  const PFN_vkCreateInstance create = get == NULL ? NULL : (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  if (create == NULL) {
    LEATI_FAULT_SET(error, "the floor: libvulkan.so.1 has no vkCreateInstance");
    return FALSE;
  }
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "leat-bench", .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  if (!good(create(&info, NULL, &f->instance), "vkCreateInstance", error)) {
    return FALSE;
  }
#define LOAD(name)                                                  \
  f->name = (PFN_vk##name)get(f->instance, "vk" #name);             \
  if (f->name == NULL) {                                            \
    LEATI_FAULT_SET(error, "the floor: Vulkan has no vk%s", #name); \
    return FALSE;                                                   \
  }
  INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
  return TRUE;
}

static gboolean find_device(leati_floor *f, const guint8 *uuid, GError **error) {
  VkPhysicalDevice all[DEVICES_MAX];
  uint32_t count = DEVICES_MAX;
  if (!CALL(EnumeratePhysicalDevices, f->instance, &count, all)) {
    return FALSE;
  }
  for (uint32_t i = 0; i < count; ++i) {
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    f->GetPhysicalDeviceProperties2(all[i], &properties);
    if (memcmp(id.deviceUUID, uuid, VK_UUID_SIZE) == 0) {
      f->physical = all[i];
      f->GetPhysicalDeviceMemoryProperties(f->physical, &f->memory);
      return TRUE;
    }
  }
  LEATI_FAULT_SET(error, "the floor: of Vulkan's %u devices none has the UUID that the backend gives", count);
  return FALSE;
}

static gboolean open_device(leati_floor *f, GError **error) {
  VkQueueFamilyProperties families[FAMILIES_MAX];
  uint32_t family_count = FAMILIES_MAX;
  f->GetPhysicalDeviceQueueFamilyProperties(f->physical, &family_count, families);
  float priorities[QUEUES_MAX];
  for (size_t i = 0; i < QUEUES_MAX; ++i) {
    priorities[i] = 1.0f;
  }
  VkDeviceQueueCreateInfo wanted[FAMILIES_MAX];
  uint32_t wanted_count = 0;
  /* A queue that does graphics too is slower at this, so these come last. */
  for (int graphics = 0; graphics < 2; ++graphics) {
    for (uint32_t i = 0; i < family_count; ++i) {
      const VkQueueFlags flags = families[i].queueFlags;
      if ((flags & VK_QUEUE_COMPUTE_BIT) && ((flags & VK_QUEUE_GRAPHICS_BIT) != 0) == (graphics != 0)) {
        wanted[wanted_count++] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                           .queueFamilyIndex = i,
                                                           .queueCount = MIN(families[i].queueCount, QUEUES_MAX),
                                                           .pQueuePriorities = priorities};
      }
    }
  }
  const VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                     .timelineSemaphore = VK_TRUE,
                                                     .bufferDeviceAddress = VK_TRUE};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features,
                                   .queueCreateInfoCount = wanted_count,
                                   .pQueueCreateInfos = wanted};
  if (!CALL(CreateDevice, f->physical, &info, NULL, &f->device)) {
    return FALSE;
  }
#define LOAD(name)                                                               \
  f->name = (PFN_vk##name)f->GetDeviceProcAddr(f->device, "vk" #name);           \
  if (f->name == NULL) {                                                         \
    LEATI_FAULT_SET(error, "the floor: the device's Vulkan has no vk%s", #name); \
    return FALSE;                                                                \
  }
  DEVICE_FUNCTIONS(LOAD)
#undef LOAD
  for (uint32_t w = 0; w < wanted_count; ++w) {
    for (uint32_t i = 0; i < wanted[w].queueCount && f->queue_count < QUEUES_MAX; ++i) {
      queue *q = &f->queues[f->queue_count++];
      q->family = wanted[w].queueFamilyIndex;
      pthread_mutex_init(&q->lock, NULL);
      f->GetDeviceQueue(f->device, q->family, i, &q->handle);
    }
  }
  return TRUE;
}

/* Index of a memory type that is allowed and has the properties; UINT32_MAX: there is none. */
static uint32_t memory_type(const leati_floor *f, uint32_t allowed, VkMemoryPropertyFlags properties) {
  for (uint32_t i = 0; i < f->memory.memoryTypeCount; ++i) {
    if ((allowed >> i & 1u) != 0 && (f->memory.memoryTypes[i].propertyFlags & properties) == properties) {
      return i;
    }
  }
  return UINT32_MAX;
}

static void buffer_free(leati_floor *f, buffer *b) {
  f->DestroyBuffer(f->device, b->handle, NULL);
  f->FreeMemory(f->device, b->memory, NULL);
  *b = (buffer){VK_NULL_HANDLE, VK_NULL_HANDLE};
}

static gboolean buffer_make(leati_floor *f, VkDeviceSize size, VkMemoryPropertyFlags properties, buffer *out,
                            GError **error) {
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = size,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  *out = (buffer){VK_NULL_HANDLE, VK_NULL_HANDLE};
  if (!CALL(CreateBuffer, f->device, &info, NULL, &out->handle)) {
    return FALSE;
  }
  VkMemoryRequirements needs;
  f->GetBufferMemoryRequirements(f->device, out->handle, &needs);
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = needs.size,
                                           .memoryTypeIndex = memory_type(f, needs.memoryTypeBits, properties)};
  if (allocation.memoryTypeIndex == UINT32_MAX) {
    LEATI_FAULT_SET(error, "the floor: the device has no memory with properties 0x%x", properties);
  } else if (CALL(AllocateMemory, f->device, &allocation, NULL, &out->memory) &&
             CALL(BindBufferMemory, f->device, out->handle, out->memory, 0)) {
    return TRUE;
  }
  buffer_free(f, out);
  return FALSE;
}

static gboolean make_semaphore(leati_floor *f, VkSemaphore *out, GError **error) {
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  return CALL(CreateSemaphore, f->device, &info, NULL, out);
}

static gboolean make_objects(leati_floor *f, GError **error) {
  const VkDeviceSize size = SEAT_BYTES * LEATI_FLOOR_SEATS;
  void *read;
  if (!buffer_make(f, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &f->numbers, error) ||
      !buffer_make(f, size, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, &f->readback,
                   error) ||
      !CALL(MapMemory, f->device, f->readback.memory, 0, VK_WHOLE_SIZE, 0, &read)) {
    return FALSE;
  }
  f->read = read;
  const VkBufferDeviceAddressInfo where = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = f->numbers.handle};
  f->address = f->GetBufferDeviceAddress(f->device, &where);
  const VkShaderModuleCreateInfo shader = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof(shader_words), .pCode = shader_words};
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(VkDeviceAddress)};
  const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
  if (!CALL(CreateShaderModule, f->device, &shader, NULL, &f->shader) ||
      !CALL(CreatePipelineLayout, f->device, &layout, NULL, &f->layout)) {
    return FALSE;
  }
  VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                          .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                    .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                    .module = f->shader,
                                                    .pName = "main"},
                                          .layout = f->layout};
  if (!CALL(CreateComputePipelines, f->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &f->pipeline)) {
    return FALSE;
  }
  const uint32_t constants[] = {ROUNDS, NUMBERS};
  const VkSpecializationMapEntry entries[] = {{0, 0, sizeof(uint32_t)}, {1, sizeof(uint32_t), sizeof(uint32_t)}};
  const VkSpecializationInfo special = {G_N_ELEMENTS(entries), entries, sizeof(constants), constants};
  pipeline.stage.pSpecializationInfo = &special;
  return CALL(CreateComputePipelines, f->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &f->arithmetic) &&
         make_semaphore(f, &f->semaphore, error);
}

leati_floor *leati_floor_open(const guint8 *uuid, GError **error) {
  leati_floor *f = g_aligned_alloc0(1, sizeof(*f), alignof(leati_floor));
  if (!load(f, error) || !find_device(f, uuid, error) || !open_device(f, error) || !make_objects(f, error)) {
    leati_floor_close(f);
    return NULL;
  }
  return f;
}

void leati_floor_close(leati_floor *f) {
  if (f == NULL) {
    return;
  }
  /* A device whose functions were all found has them all; one that lacks some is left to the end of the process. */
  if (f->device != VK_NULL_HANDLE && f->WaitSemaphores != NULL) {
    (void)f->DeviceWaitIdle(f->device);
    f->DestroySemaphore(f->device, f->semaphore, NULL);
    f->DestroyPipeline(f->device, f->pipeline, NULL);
    f->DestroyPipeline(f->device, f->arithmetic, NULL);
    f->DestroyPipelineLayout(f->device, f->layout, NULL);
    f->DestroyShaderModule(f->device, f->shader, NULL);
    buffer_free(f, &f->numbers);
    buffer_free(f, &f->readback);
    f->DestroyDevice(f->device, NULL);
    for (guint i = 0; i < f->queue_count; ++i) {
      pthread_mutex_destroy(&f->queues[i].lock);
    }
    f->DestroyInstance(f->instance, NULL);
  }
  /* The library stays: drivers do not all bear being unloaded. */
  g_aligned_free(f);
}

guint leati_floor_queue_count(const leati_floor *f) {
  return f->queue_count;
}

/* ---- Submitting and waiting -------------------------------------------------------------------------------------- */

/* What one thread has. */
typedef struct sitter {
  leati_floor *floor;
  leati_floor_way way;
  guint depth;
  guint arithmetic; /* workgroups, or 0 */
  guint thread;
  queue *queue;
  VkCommandPool pool;
  VkCommandBuffer commands[LEATI_FLOOR_DEPTH];
  VkCommandBuffer extra[2];                /* clear the numbers; read them back */
  VkSemaphore semaphore;                   /* its own, unless combined */
  uint64_t value;                          /* that its last submission signals; not combined */
  uint64_t outstanding[LEATI_FLOOR_DEPTH]; /* values to wait for by command buffer, 0: none */
  uint32_t counts[LEATI_FLOOR_DEPTH];      /* submissions so far */
  guint next;                              /* command buffer */
} sitter;

static gboolean submit_now(leati_floor *f, queue *q, uint32_t count, const VkCommandBuffer *commands,
                           VkSemaphore semaphore, uint64_t value, GError **error) {
  const VkTimelineSemaphoreSubmitInfo timeline = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                  .signalSemaphoreValueCount = 1,
                                                  .pSignalSemaphoreValues = &value};
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &timeline,
                             .commandBufferCount = count,
                             .pCommandBuffers = commands,
                             .signalSemaphoreCount = 1,
                             .pSignalSemaphores = &semaphore};
  return CALL(QueueSubmit, q->handle, 1, &info, VK_NULL_HANDLE);
}

static gboolean block(leati_floor *f, VkSemaphore semaphore, uint64_t value, GError **error) {
  const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &semaphore,
                                    .pValues = &value};
  const VkResult result = f->WaitSemaphores(f->device, &info, HANG_NS);
  if (result == VK_TIMEOUT) {
    LEATI_FAULT_SET(error, "the floor: a submission did not finish within a minute");
    return FALSE;
  }
  return good(result, "vkWaitSemaphores", error);
}

static gboolean spin(leati_floor *f, VkSemaphore semaphore, uint64_t value, GError **error) {
  for (int i = 0; i < POLLS_BEFORE_BLOCKING; ++i) {
    uint64_t reached;
    if (!CALL(GetSemaphoreCounterValue, f->device, semaphore, &reached)) {
      return FALSE;
    }
    if (reached >= value) {
      return TRUE;
    }
    relax(20);
  }
  return block(f, semaphore, value, error);
}

/* Submits what everybody has posted, unless enough is in flight. The caller holds the lock of queue 0. */
static gboolean lead(leati_floor *f, GError **error) {
  uint64_t reached;
  if (!CALL(GetSemaphoreCounterValue, f->device, f->semaphore, &reached)) {
    return FALSE;
  }
  if (f->submitted - reached >= IN_FLIGHT_MAX) {
    return TRUE;
  }
  VkCommandBuffer commands[LEATI_FLOOR_SEATS];
  seat *taken[LEATI_FLOOR_SEATS];
  uint32_t count = 0;
  for (guint i = 0; i < LEATI_FLOOR_SEATS; ++i) {
    seat *s = &f->seats[i];
    if (atomic_load_explicit(&s->posted, memory_order_relaxed) &&
        atomic_exchange_explicit(&s->posted, false, memory_order_acquire)) {
      commands[count] = s->commands;
      taken[count++] = s;
    }
  }
  if (count == 0) {
    return TRUE;
  }
  const uint64_t value = f->submitted + 1;
  if (!submit_now(f, &f->queues[0], count, commands, f->semaphore, value, error)) {
    return FALSE;
  }
  f->submitted = value;
  for (uint32_t i = 0; i < count; ++i) {
    atomic_store_explicit(&taken[i]->value, value, memory_order_release);
  }
  return TRUE;
}

/* Leaves the command buffer for the next submission, one's own or another's; gives the value it signals, 0: failed. */
static uint64_t submit_combined(leati_floor *f, guint thread, VkCommandBuffer commands, GError **error) {
  seat *s = &f->seats[thread];
  s->commands = commands;
  atomic_store_explicit(&s->value, 0, memory_order_relaxed);
  atomic_store_explicit(&s->posted, true, memory_order_release);
  for (guint round = 1;; ++round) {
    const uint64_t value = atomic_load_explicit(&s->value, memory_order_acquire);
    if (value != 0) {
      return value;
    }
    if (atomic_load(&f->broken)) {
      LEATI_FAULT_SET(error, "the floor: the submission of another thread failed");
      return 0;
    }
    if (pthread_mutex_trylock(&f->queues[0].lock) == 0) {
      const gboolean well = lead(f, error);
      pthread_mutex_unlock(&f->queues[0].lock);
      if (!well) {
        atomic_store(&f->broken, true);
        return 0;
      }
    }
    relax(20);
    /* Where there are more threads than processors, the one that is waited for must come to run. */
    if (round % 64 == 0) {
      sched_yield();
    }
  }
}

/* Submits a command buffer that is not timed, and waits for it. */
static gboolean submit_aside(sitter *s, VkCommandBuffer commands, GError **error) {
  leati_floor *f = s->floor;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  if (!make_semaphore(f, &semaphore, error)) {
    return FALSE;
  }
  pthread_mutex_lock(&s->queue->lock);
  gboolean well = submit_now(f, s->queue, 1, &commands, semaphore, 1, error);
  pthread_mutex_unlock(&s->queue->lock);
  well = well && block(f, semaphore, 1, error);
  f->DestroySemaphore(f->device, semaphore, NULL);
  return well;
}

/* ---- The task ---------------------------------------------------------------------------------------------------- */

static gboolean record(sitter *s, GError **error) {
  leati_floor *f = s->floor;
  const VkDeviceSize mine = SEAT_BYTES * s->thread;
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  for (guint i = 0; i < s->depth; ++i) {
    const VkCommandBuffer c = s->commands[i];
    const VkDeviceAddress address = f->address + mine + NUMBERS_BYTES * i;
    if (!CALL(BeginCommandBuffer, c, &begin)) {
      return FALSE;
    }
    f->CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, s->arithmetic > 0 ? f->arithmetic : f->pipeline);
    f->CmdPushConstants(c, f->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(address), &address);
    f->CmdDispatch(c, s->arithmetic > 0 ? s->arithmetic : NUMBERS / 64, 1, 1);
    if (!CALL(EndCommandBuffer, c)) {
      return FALSE;
    }
  }
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  const VkBufferCopy part = {mine, mine, SEAT_BYTES};
  for (int i = 0; i < 2; ++i) {
    const VkCommandBuffer c = s->extra[i];
    if (!CALL(BeginCommandBuffer, c, &begin)) {
      return FALSE;
    }
    f->CmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0,
                          NULL, 0, NULL);
    if (i == 0) {
      f->CmdFillBuffer(c, f->numbers.handle, mine, SEAT_BYTES, 0);
    } else {
      f->CmdCopyBuffer(c, f->numbers.handle, f->readback.handle, 1, &part);
    }
    f->CmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0,
                          NULL);
    if (!CALL(EndCommandBuffer, c)) {
      return FALSE;
    }
  }
  return TRUE;
}

static void sitter_free(sitter *s) {
  leati_floor *f = s->floor;
  f->DestroyCommandPool(f->device, s->pool, NULL);
  f->DestroySemaphore(f->device, s->semaphore, NULL);
  g_free(s);
}

static gpointer floor_begin(gpointer context, guint thread, GError **error) {
  const leati_floor_job *job = context;
  leati_floor *f = job->floor;
  if (thread >= LEATI_FLOOR_SEATS) {
    LEATI_FAULT_SET(error, "the floor: at most %d threads are served", LEATI_FLOOR_SEATS);
    return NULL;
  }
  sitter *s = g_new0(sitter, 1);
  s->floor = f;
  s->way = job->way;
  s->depth = job->depth;
  s->arithmetic = job->arithmetic;
  s->thread = thread;
  s->queue = &f->queues[job->way == LEATI_FLOOR_OWN ? thread % f->queue_count : 0];
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = s->queue->family};
  VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = LEATI_FLOOR_DEPTH};
  gboolean well = CALL(CreateCommandPool, f->device, &pool, NULL, &s->pool);
  if (well) {
    buffers.commandPool = s->pool;
    well = CALL(AllocateCommandBuffers, f->device, &buffers, s->commands);
    buffers.commandBufferCount = 2;
  }
  well = well && CALL(AllocateCommandBuffers, f->device, &buffers, s->extra) &&
         (s->way == LEATI_FLOOR_COMBINED || make_semaphore(f, &s->semaphore, error)) && record(s, error) &&
         submit_aside(s, s->extra[0], error);
  if (!well) {
    sitter_free(s);
    return NULL;
  }
  return s;
}

/* Waits until the command buffer is not in use. */
static gboolean floor_wait(sitter *s, guint i, GError **error) {
  const uint64_t value = s->outstanding[i];
  s->outstanding[i] = 0;
  return value == 0 || (s->way == LEATI_FLOOR_COMBINED ? spin(s->floor, s->floor->semaphore, value, error)
                                                       : block(s->floor, s->semaphore, value, error));
}

static gboolean floor_run(gpointer state, GError **error) {
  sitter *s = state;
  leati_floor *f = s->floor;
  const guint i = s->next;
  if (s->way == LEATI_FLOOR_COMBINED) {
    s->outstanding[i] = submit_combined(f, s->thread, s->commands[i], error);
    if (s->outstanding[i] == 0) {
      return FALSE;
    }
  } else {
    pthread_mutex_lock(&s->queue->lock);
    const gboolean well = submit_now(f, s->queue, 1, &s->commands[i], s->semaphore, s->value + 1, error);
    pthread_mutex_unlock(&s->queue->lock);
    if (!well) {
      return FALSE;
    }
    s->outstanding[i] = ++s->value;
  }
  ++s->counts[i];
  s->next = (i + 1) % s->depth;
  return floor_wait(s, s->next, error);
}

static gboolean floor_end(gpointer state, gboolean well, GError **error) {
  sitter *s = state;
  leati_floor *f = s->floor;
  gboolean right = TRUE;
  for (guint i = 0; i < s->depth; ++i) {
    right = floor_wait(s, i, right ? error : NULL) && right;
  }
  if (well && right) {
    right = submit_aside(s, s->extra[1], error);
    const guint32 *numbers = f->read + s->thread * (SEAT_BYTES / sizeof(guint32));
    for (guint i = 0; right && i < NUMBERS * s->depth; ++i) {
      if (numbers[i] != s->counts[i / NUMBERS]) {
        LEATI_FAULT_SET(error, "the floor: thread %u submitted command buffer %u %u times, but it ran %u times",
                        s->thread, i / NUMBERS, s->counts[i / NUMBERS], numbers[i]);
        right = FALSE;
      }
    }
  }
  sitter_free(s);
  return right;
}

const leati_task leati_floor_task = {floor_begin, floor_run, floor_end};

/* ---- Allocating -------------------------------------------------------------------------------------------------- */

static gpointer allocation_begin(gpointer context, guint thread, GError **error) {
  (void)thread;
  (void)error;
  return context;
}

static gboolean allocation_run(gpointer state, GError **error) {
  const leati_floor_allocation *job = state;
  buffer made;
  if (!buffer_make(job->floor, job->size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &made, error)) {
    return FALSE;
  }
  buffer_free(job->floor, &made);
  return TRUE;
}

static gboolean allocation_end(gpointer state, gboolean well, GError **error) {
  (void)state;
  (void)well;
  (void)error;
  return TRUE;
}

const leati_task leati_floor_allocation_task = {allocation_begin, allocation_run, allocation_end};
