/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The driver's cache of what it has compiled for a device (VkPipelineCache), in memory while the device is open, and on
 * disk (core/cache_file.h) from one process to the next.
 *
 * It is read when the device is opened: one file, of this device model, driver and build. It is saved by threads that
 * have compiled, one at a time and as often as policy/saving.h finds it worth, and when the device is closed. A save
 * brings together what is on disk and what this process has, so that processes that compile different kernels do not
 * take the file from each other; of two that save in the same moment one loses what was new, until it saves again.
 *
 * A process that exits with the device open saves nothing on its way: the exit handler runs among those of a driver
 * that may be gone by then. What is lost are the pipelines since the last save. A child of fork does not come here: it
 * does not pass the gate.
 *
 * Drivers trust these bytes. So they are given none but those that they gave, whole, and with Vulkan's own header of
 * this very device.
 */
#ifndef LEAT_PLUGIN_DEVICE_PIPELINE_CACHE_H_
#define LEAT_PLUGIN_DEVICE_PIPELINE_CACHE_H_

#include <leat/backend.h>

#include "core/config.h"
#include "core/sync.h"
#include "device/vulkan.h"

/** Whose pipelines a file holds. All of it is in the file, without a byte between. */
typedef struct leati_pipeline_cache_key {
  uint8_t uuid[VK_UUID_SIZE]; /**< pipelineCacheUUID */
  uint32_t vendor, device, driver_version, reserved;
  char build[64]; /**< Leat's build id, which keeps the kernels of other builds out of the file */
} leati_pipeline_cache_key;
_Static_assert(sizeof(leati_pipeline_cache_key) == VK_UUID_SIZE + 4 * 4 + 64, "a key has no bytes without a value");

/** A device's cache. Fields without a word are immutable while the device is open. */
typedef struct leati_pipeline_cache {
  /** Threads compile with it at the same time: it synchronises itself. VK_NULL_HANDLE: the driver made none, and all is
   * compiled without. */
  VkPipelineCache handle;
  char folder[LEATI_PATH_MAX + 1];
  leati_pipeline_cache_key key;
  leati_role saver; /**< the thread that saves */
  size_t size;      /**< bytes of the driver's data when it was last saved; the saver's */
  /** Nanoseconds of compiling since the last save began. Sequentially consistent, with `saver`: of a thread that adds
   * to it and finds the role taken, and a saver that leaves and looks again, one sees the other. */
  _Atomic uint64_t compiled_ns;
  /** What the last save took; LEATI_SAVE_NEVER: nothing is kept on disk, or not any more because saving has failed.
   * Relaxed: whoever sees an old one saves a little early or late. */
  _Atomic uint64_t save_ns;
} leati_pipeline_cache;

/** Makes the cache of a device that is being opened, with what LEAT_CACHE_DIR has for it. It cannot fail: without a
 * cache, compiling takes longer. The backend's lock is held. */
void leati_pipeline_cache_open(const leat_device *device, leati_pipeline_cache *out);
/** Tells that this thread has compiled for so long; saves if that is worth it. Hold no lock. */
void leati_pipeline_cache_compiled(const leat_device *device, leati_pipeline_cache *cache, uint64_t took_ns);
/** Saves what is new, and destroys the cache. Nobody else uses it any more. */
void leati_pipeline_cache_close(const leat_device *device, leati_pipeline_cache *cache);

#endif /* LEAT_PLUGIN_DEVICE_PIPELINE_CACHE_H_ */
