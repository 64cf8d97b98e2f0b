/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The null driver driven without the plugin: its functions, and a device with the usual objects.
 */
#ifndef LEAT_TESTS_NULLDRIVER_RAW_H_
#define LEAT_TESTS_NULLDRIVER_RAW_H_

#include "nulldriver/control.h"
#include "nulldriver/functions.h"

/** All functions of the driver. */
typedef struct raw_functions {
#define RAW_MEMBER(name) PFN_vk##name name;
  NULLDRIVER_FUNCTIONS(RAW_MEMBER)
#undef RAW_MEMBER
} raw_functions;

extern raw_functions vk;

/** A device with two queues and what a submission needs. Buffers `a` and `b` are of RAW_SIZE bytes in mapped memory;
 * `arguments` is what the set's dynamic uniform buffer is. */
#define RAW_SIZE 4096
typedef struct raw_device {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queues[2];
  VkSemaphore semaphore;
  VkCommandPool pool;
  VkCommandBuffer commands;
  VkBuffer a, b, arguments;
  VkDeviceMemory a_memory, b_memory, arguments_memory;
  unsigned char *a_bytes, *b_bytes;
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkDescriptorPool sets;
  VkDescriptorSet set;
  VkQueryPool queries;
} raw_device;

/** Loads the functions, makes everything. Ends the process if a call fails. */
void raw_open(raw_device *d);
/** Destroys everything; handles set to VK_NULL_HANDLE were destroyed by the test. */
void raw_close(raw_device *d);
/** Makes a buffer of RAW_SIZE bytes with memory of a type that is mapped. */
void raw_buffer(raw_device *d, VkBuffer *out, VkDeviceMemory *out_memory, unsigned char **out_bytes);
/** Begins the command buffer, for one submission. */
void raw_begin(VkCommandBuffer commands);
/** Records a copy of a to b, from begin to end. */
void raw_record_copy(raw_device *d);
/** Submits `commands` (NULL: none) to a queue, waiting for and signalling values of the semaphore (0: not). */
VkResult raw_submit(raw_device *d, uint32_t queue, VkCommandBuffer commands, uint64_t wait, uint64_t signal);
/** Waits for a value of the semaphore. */
VkResult raw_wait(raw_device *d, uint64_t value, uint64_t timeout_ns);
/** Value of the semaphore. */
uint64_t raw_value(raw_device *d);

#endif /* LEAT_TESTS_NULLDRIVER_RAW_H_ */
