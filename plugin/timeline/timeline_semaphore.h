/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The timeline semaphore of a hardware queue. Each batch that the queue takes
 * raises it by one, in order.
 */
#ifndef LEAT_PLUGIN_TIMELINE_TIMELINE_SEMAPHORE_H_
#define LEAT_PLUGIN_TIMELINE_TIMELINE_SEMAPHORE_H_

#include <leat/backend.h>
#include <stdatomic.h>

#include "core/sync.h"
#include "device/vulkan.h"

typedef struct leati_semaphore {
  VkSemaphore handle;
  /** Value of the last batch that the queue took. Raised by the thread that submits (release), after it took note of
   * everything in the commit group; read by those who wait (acquire). */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t submitted;
  /** Highest value that somebody has seen reached. Raised after the driver was asked (release), so that a thread that
   * reads it (acquire) also sees what the device wrote. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t reached;
} leati_semaphore;
LEATI_APART(leati_semaphore, submitted, reached);

int32_t leati_semaphore_create(leat_device *device, leati_semaphore *semaphore, leat_error *err);
/** The queue must be idle. */
void leati_semaphore_destroy(leat_device *device, leati_semaphore *semaphore);

/** Whether a value is known to be reached, without asking the driver. */
static inline bool leati_semaphore_has(const leati_semaphore *semaphore, uint64_t value) {
  return atomic_load_explicit(&semaphore->reached, memory_order_acquire) >= value;
}

/** Asks the driver, unless everything submitted is known to be reached.
 * @errors DEVICE_LOST, INTERNAL */
int32_t leati_semaphore_poll(leat_device *device, leati_semaphore *semaphore, leat_error *err);

/** Blocks until a submitted value is reached or the time is up; both are LEAT_OK.
 * @errors DEVICE_LOST, INTERNAL */
int32_t leati_semaphore_wait(leat_device *device, leati_semaphore *semaphore, uint64_t value, uint64_t timeout_ns,
                             leat_error *err);

#endif /* LEAT_PLUGIN_TIMELINE_TIMELINE_SEMAPHORE_H_ */
