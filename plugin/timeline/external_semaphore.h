/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Timeline semaphores of other APIs: leat_semaphore. Lists of commands wait for them and raise them, and hold them for
 * as long.
 */
#ifndef LEAT_PLUGIN_TIMELINE_EXTERNAL_SEMAPHORE_H_
#define LEAT_PLUGIN_TIMELINE_EXTERNAL_SEMAPHORE_H_

#include <leat/backend.h>
#include <stdatomic.h>

#include "device/device.h"

struct leat_semaphore {
  leati_kind kind; /* LEATI_KIND_DEAD once destroyed */
  leat_device *device;
  VkSemaphore handle;
  /* The caller's, and those of lists. The last release destroys the VkSemaphore (acquire-release, so that all uses come
   * before). */
  _Atomic uint32_t references;
  struct leat_semaphore *next;      /* all of the device; set once */
  struct leat_semaphore *next_free; /* objects without a VkSemaphore; guarded by the device's `external_lock` */
};

/** A value of such a semaphore. NULL: none. */
typedef struct leati_external_point {
  leat_semaphore *semaphore;
  uint64_t value;
} leati_external_point;

/** Prepares a device for such semaphores. */
void leati_external_semaphores_create(leat_device *device);
/** Frees all of them. The device must be idle. */
void leati_external_semaphores_destroy(leat_device *device);

/** Makes a semaphore of a descriptor, which is taken over on success. The device must be able to.
 * @errors INVALID_ARGUMENT, OUT_OF_MEMORY, INTERNAL */
int32_t leati_external_semaphore_import(leat_device *device, int32_t fd, leat_semaphore **out, leat_error *err);
/** Asks the driver for the value.
 * @errors DEVICE_LOST, INTERNAL */
int32_t leati_external_semaphore_value(const leat_semaphore *semaphore, uint64_t *out, leat_error *err);
/** Ends a use of a semaphore. */
void leati_external_semaphore_release(leat_semaphore *semaphore);

/** Lets a point be that of a semaphore, which it holds then. */
static inline void leati_external_point_set(leati_external_point *point, leat_semaphore *semaphore, uint64_t value) {
  if (point->semaphore == NULL) {
    (void)atomic_fetch_add_explicit(&semaphore->references, 1, memory_order_relaxed);
    point->semaphore = semaphore;
  }
  point->value = value;
}

/** Lets a point be none. */
static inline void leati_external_point_clear(leati_external_point *point) {
  if (point->semaphore != NULL) {
    leati_external_semaphore_release(point->semaphore);
    point->semaphore = NULL;
  }
}

#endif /* LEAT_PLUGIN_TIMELINE_EXTERNAL_SEMAPHORE_H_ */
