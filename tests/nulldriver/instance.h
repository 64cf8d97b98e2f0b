/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The instance, the physical device and devices.
 */
#ifndef LEAT_TESTS_NULLDRIVER_INSTANCE_H_
#define LEAT_TESTS_NULLDRIVER_INSTANCE_H_

#include "nulldriver/objects.h"

/** Memory types and heaps of a device of this shape. */
void nd_memory_properties(const nulldriver_shape *shape, VkPhysicalDeviceMemoryProperties *out);
/** Nanoseconds that the device's clock shows. It moves on each time it is read. Lock held. */
uint64_t nd_device_clock(void);

/** Begins a vkCreate call and makes its object; the lock is held then. NULL with a result when there is none; the call
 * is over then. */
void *nd_create(nd_call *call, nd_function function, VkDevice device, nulldriver_kind kind, size_t size,
                VkResult *out_result);
/** A whole call of a vkDestroy function: checks device and object, and that both belong together. A handle of 0 does
 * nothing. Takes the lock. */
void nd_destroy(nd_function function, VkDevice device, nulldriver_kind kind, uint64_t handle);

#endif /* LEAT_TESTS_NULLDRIVER_INSTANCE_H_ */
