/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A second VkDevice of a physical device, in an instance of its own, that shares memory and timeline semaphores with
 * others. It needs nothing but the Vulkan loader. What goes wrong ends the program with the place.
 */
#ifndef LEAT_TESTS_INTEROP_EXPORTER_H_
#define LEAT_TESTS_INTEROP_EXPORTER_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan_core.h>

#define REQUIRE(condition)                                                      \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

typedef struct exporter exporter;

/** Memory with a buffer on it, which can be shared, and a staging buffer of the same size for each way. */
typedef struct shared_memory {
  VkDeviceMemory memory;
  VkBuffer buffer;
  uint64_t size;            /**< of the buffer */
  uint64_t allocation_size; /**< of the memory */
  uint32_t memory_type;
  uint32_t dedicated_usage; /**< the buffer's usage if the memory is dedicated to it, else 0 */
} shared_memory;

/** Memory of the host that the device sees. */
typedef struct staging_memory {
  VkDeviceMemory memory;
  VkBuffer buffer;
  void *mapped;
} staging_memory;

/** Makes a device of the physical device with these UUIDs; NULL: there is none, or it cannot share memory. */
exporter *exporter_create(const uint8_t device_uuid[16], const uint8_t driver_uuid[16]);
void exporter_destroy(exporter *e);
/** Whether it shares timeline semaphores. */
bool exporter_shares_semaphores(const exporter *e);
/** Whether the driver may be shown a descriptor of something else. Vulkan leaves open what comes of that: drivers that
 * run on the processor refuse it, and after it one of NVIDIA's finds no memory any more. */
bool exporter_checks_descriptors(const exporter *e);

shared_memory exporter_allocate(exporter *e, uint64_t size, bool dedicated);
void exporter_free(exporter *e, const shared_memory *memory);
/** A descriptor of the memory, which is the caller's. */
int exporter_memory_fd(exporter *e, const shared_memory *memory);

staging_memory exporter_stage(exporter *e, uint64_t size);
void exporter_unstage(exporter *e, const staging_memory *memory);

VkSemaphore exporter_semaphore(exporter *e);
void exporter_semaphore_destroy(exporter *e, VkSemaphore semaphore);
/** A descriptor of the semaphore, which is the caller's. */
int exporter_semaphore_fd(exporter *e, VkSemaphore semaphore);
void exporter_signal(exporter *e, VkSemaphore semaphore, uint64_t value);
uint64_t exporter_value(exporter *e, VkSemaphore semaphore);
/** Waits on the host; false: a minute has passed. */
bool exporter_wait(exporter *e, VkSemaphore semaphore, uint64_t value);

/** Copies `size` bytes on the device. Waits for a value and raises another if `semaphore` is one and the value is not
 * 0. May be called by any thread, and does not wait. */
void exporter_copy(exporter *e, VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset, uint64_t size,
                   VkSemaphore semaphore, uint64_t wait_value, uint64_t signal_value);
/** Waits until all copies have run. */
void exporter_finish(exporter *e);

#endif /* LEAT_TESTS_INTEROP_EXPORTER_H_ */
