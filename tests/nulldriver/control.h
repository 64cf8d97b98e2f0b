/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a test asks of the null driver. The functions are exported by its libvulkan.so.1: link it, or load it and use
 * dlsym(). All of them may be called from any thread at any time, also while the driver runs.
 *
 * The driver is a Vulkan implementation that runs copies, fills and timestamps, and of a dispatch only reads the
 * argument record. It decides by a mode when work completes, and notes each break of the rules.
 *
 * A program that knows nothing of it takes two variables: NULLDRIVER_MODE, a mode in lower case with a colon and its
 * parameter behind it or not, and NULLDRIVER_STRICT, which ends the process at the first violation.
 */
#ifndef LEAT_TESTS_NULLDRIVER_CONTROL_H_
#define LEAT_TESTS_NULLDRIVER_CONTROL_H_

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#define NULLDRIVER_EXPORT __attribute__((visibility("default")))

/** First device address that is ever given out. Addresses are no host addresses on any machine: whoever reads through
 * one crashes at once. No address is given out twice. */
#define NULLDRIVER_ADDRESS_FIRST UINT64_C(0x00dd000000000000)

/** When submitted work completes. Always in order within a queue, and after what its semaphores wait for. */
typedef enum nulldriver_mode {
  NULLDRIVER_EAGER, /**< in vkQueueSubmit */
  NULLDRIVER_LAZY,  /**< in waits, the oldest first, until what is waited for is there; never because somebody asks */
  NULLDRIVER_LATE,  /**< once somebody has looked `parameter` times since it came to the head of its queue */
  NULLDRIVER_SHUFFLED, /**< at looks, queues drawn by the seed `parameter`, some looks completing nothing */
  NULLDRIVER_HELD,     /**< in nulldriver_step() only; waits time out, and wait for ever where they have no limit */
  NULLDRIVER_THREADED, /**< on a thread of the driver's for each queue, after up to `parameter` yields */
} nulldriver_mode;

/** Kinds of objects. */
typedef enum nulldriver_kind {
  NULLDRIVER_INSTANCE = 1,
  NULLDRIVER_DEVICE,
  NULLDRIVER_QUEUE,
  NULLDRIVER_MEMORY,
  NULLDRIVER_BUFFER,
  NULLDRIVER_SHADER_MODULE,
  NULLDRIVER_SET_LAYOUT,
  NULLDRIVER_PIPELINE_LAYOUT,
  NULLDRIVER_PIPELINE_CACHE,
  NULLDRIVER_PIPELINE,
  NULLDRIVER_DESCRIPTOR_POOL,
  NULLDRIVER_DESCRIPTOR_SET,
  NULLDRIVER_COMMAND_POOL,
  NULLDRIVER_COMMAND_BUFFER,
  NULLDRIVER_SEMAPHORE,
  NULLDRIVER_QUERY_POOL,
  NULLDRIVER_KINDS,
} nulldriver_kind;

/** What the physical device is like. What is already created keeps what it was created with. */
typedef struct nulldriver_shape {
  VkPhysicalDeviceType type;
  uint32_t queue_count;          /**< of the compute-only family, 1 to 16; 0: there is only the family with graphics */
  uint64_t device_heap;          /**< bytes of device-local memory */
  uint64_t host_heap;            /**< bytes of the heap of host memory */
  uint32_t max_allocations;      /**< live VkDeviceMemory at most */
  bool no_budget;                /**< VK_EXT_memory_budget says that there is none */
  bool no_mapped_device_local;   /**< no memory type is both device-local and host-visible */
  bool no_host_query_reset;      /**< the feature hostQueryReset is missing */
  bool no_calibrated_timestamps; /**< VK_EXT_calibrated_timestamps is missing */
  bool no_sharing;               /**< neither memory nor timeline semaphores are shared by opaque descriptors */
  bool no_sync_fd;               /**< VK_KHR_external_semaphore_fd is there, but makes no sync files */
  uint32_t multiprocessors;      /**< by VK_NV_shader_sm_builtins; 0: that is missing */
  uint32_t compute_units;        /**< by VK_AMD_shader_core_properties2; 0: that is missing */
  uint32_t shader_cores;         /**< by VK_ARM_shader_core_builtins; 0: that is missing */
  uint32_t vendor, device, driver_version;
  uint8_t cache_uuid[VK_UUID_SIZE]; /**< pipelineCacheUUID */
} nulldriver_shape;

/** A dispatch that the device reaches. */
typedef struct nulldriver_dispatch {
  const uint32_t *code;           /**< pCode of the pipeline's shader module, as the host gave it */
  const uint32_t *constants;      /**< specialisation data of the pipeline */
  uint32_t constants_size;        /**< bytes */
  bool cached;                    /**< a pipeline cache was given when the pipeline was created */
  uint32_t arguments_size;        /**< bytes of the bound range of the uniform buffer */
  const unsigned char *arguments; /**< the bound range */
  uint32_t groups[3];
} nulldriver_dispatch;

/** Runs a dispatch in the device's place. On the thread that completes the work, without any lock of the driver's. */
typedef void (*nulldriver_kernel)(const nulldriver_dispatch *dispatch, void *user);

/** Changes what the driver is about to answer when it is asked about its stub: a struct, or a list of which `*count`
 * items are given (NULL: it is no list) and which has that much room (`answer` NULL: the host asks how many there are).
 * What it returns is the result of the call, if that has one. `result` is what it would be. */
typedef VkResult (*nulldriver_answer)(const char *function, VkResult result, uint32_t *count, void *answer);

/** Puts everything back to where it was when the library was loaded: mode (EAGER), shape, and no faults, kernels,
 * holds, violations and counts. No device may be alive. */
NULLDRIVER_EXPORT void nulldriver_reset(void);
/** Sets when work completes, also for what is in flight. */
NULLDRIVER_EXPORT void nulldriver_set_mode(nulldriver_mode mode, uint64_t parameter);
NULLDRIVER_EXPORT nulldriver_shape nulldriver_get_shape(void);
NULLDRIVER_EXPORT void nulldriver_set_shape(const nulldriver_shape *shape);
/** From now on a violation prints its text and aborts. */
NULLDRIVER_EXPORT void nulldriver_set_strict(bool strict);
/** Sets what dispatches do; NULL: nothing. */
NULLDRIVER_EXPORT void nulldriver_set_kernel(nulldriver_kernel kernel, void *user);
/** Adds a second physical device, which is listed first and is like the other one, but for what `answer` makes of its
 * answers and of the list of physical devices; NULL: there is none. No VkDevice can be made of it. */
NULLDRIVER_EXPORT void nulldriver_add_stub(nulldriver_answer answer);
/** The host memory behind `size` bytes at a device address, or NULL if no live buffer holds them all: that is noted as
 * a violation. For kernels. */
NULLDRIVER_EXPORT void *nulldriver_at(VkDeviceAddress address, uint64_t size);

/** Completes up to `count` submissions that are ready, the longest submitted first; returns how many it completed. */
NULLDRIVER_EXPORT uint32_t nulldriver_step(uint32_t count);
/** Submissions that have not completed. */
NULLDRIVER_EXPORT uint32_t nulldriver_pending(void);
/** Loses the device: what is in flight never completes, and calls that can say so return VK_ERROR_DEVICE_LOST. */
NULLDRIVER_EXPORT void nulldriver_lose_device(void);

/** Lets the nth call from now of a function ("vkQueueSubmit"; 1 is the next) do nothing and return `result`; with
 * VK_ERROR_DEVICE_LOST the device is lost too. One fault for a function at a time; n = 0 takes it back. False: no such
 * function, or one that returns no VkResult. */
NULLDRIVER_EXPORT bool nulldriver_fail(const char *function, uint64_t n, VkResult result);
/** Calls of a function since the reset, those made to fail included. */
NULLDRIVER_EXPORT uint64_t nulldriver_calls(const char *function);
/** Name of function i in the order of functions.h, or NULL behind the last; for tests that go through all. */
NULLDRIVER_EXPORT const char *nulldriver_function(uint32_t i, bool *out_can_fail);

/** A function ("vkMapMemory"; NULL: each but those that find functions) is not there where `missing`, else does nothing
 * and returns 0, which is VK_SUCCESS, from now on, for those who look for it then. False: no such function. */
NULLDRIVER_EXPORT bool nulldriver_blank(const char *function, bool missing);

/** Holds the next call of a function inside of it, before it does anything: its queue, pool and so on are in use then.
 * False: no such function. */
NULLDRIVER_EXPORT bool nulldriver_hold(const char *function);
/** Waits until a call is held. */
NULLDRIVER_EXPORT void nulldriver_wait_held(void);
/** Lets the held call go on, or takes back a hold that caught nobody yet. */
NULLDRIVER_EXPORT void nulldriver_release(void);

/** Pipelines since the reset that the cache given for them knew already: they were compiled with it, or with the one
 * that its data is of. */
NULLDRIVER_EXPORT uint32_t nulldriver_pipelines_known(void);

/** Objects of a kind that are alive. */
NULLDRIVER_EXPORT uint32_t nulldriver_live(nulldriver_kind kind);
/** Bytes of live VkDeviceMemory. */
NULLDRIVER_EXPORT uint64_t nulldriver_memory_used(void);
/** Breaks of the rules since the reset. */
NULLDRIVER_EXPORT uint32_t nulldriver_violations(void);
/** Text of violation i, or "" behind the last that was kept (the first 64 are). Valid until the reset. */
NULLDRIVER_EXPORT const char *nulldriver_violation(uint32_t i);

#endif /* LEAT_TESTS_NULLDRIVER_CONTROL_H_ */
