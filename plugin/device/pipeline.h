/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Compute pipelines, compiled before their first use and kept as long as the device. One VkPipelineCache
 * (device/pipeline_cache.h) stands behind all that are compiled for a device.
 *
 * Every kernel has one calling convention: set 0, binding 0 is a uniform buffer with a dynamic offset that holds the
 * kernel's argument record in std430 layout (at most LEATI_ARGS_MAX bytes); buffers come as device addresses in it.
 * What is constant per pipeline (operation, tile) comes as specialisation constants, by name: leat_kernels.h. They also
 * say which functions a kernel calls that links: leati_kernel_module().
 */
#ifndef LEAT_PLUGIN_DEVICE_PIPELINE_H_
#define LEAT_PLUGIN_DEVICE_PIPELINE_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/sync.h"
#include "device/vulkan.h"
#include "leat_kernels.h"

/** Bytes of an argument record at most. */
#define LEATI_ARGS_MAX 1024

/** Which pipeline: a kernel and its specialisation constants. Never a size of a tensor. */
typedef struct leati_pipeline_key {
  leati_kernel kernel;
  leati_constants constants; /**< unused ones are 0 */
} leati_pipeline_key;

/** A compiled pipeline. Lives as long as its device. Each dispatch reads it, and next to nobody writes it. */
typedef struct leati_pipeline {
  _Alignas(LEATI_CACHE_LINE) VkPipeline handle;
  struct leati_pipeline *_Atomic next; /**< pipeline.c's */
  leati_pipeline_key key;
} leati_pipeline;
LEATI_OWN_LINE(leati_pipeline);

/** Finds a pipeline. Takes no lock. False: it has not been compiled. */
bool leati_pipeline_find(leat_device *device, const leati_pipeline_key *key, leati_pipeline **out);
/** Compiles a pipeline, which is found from then on. That may take long: hold no lock. A thread that wants one
 * which another compiles waits for that (`*out_compiled` is false): then look for it again, since the other may have
 * failed. record/compilation.h says what counts it.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_pipeline_compile(leat_device *device, const leati_pipeline_key *key, bool *out_compiled, leat_error *err);

/** The name of the kernel, for messages. */
const char *leati_pipeline_name(const leati_pipeline_key *key);

/** Makes the device's empty set of pipelines, and its VkPipelineCache.
 * @errors OUT_OF_MEMORY */
int32_t leati_pipelines_create(leat_device *device, leat_error *err);
void leati_pipelines_destroy(leat_device *device);

#endif /* LEAT_PLUGIN_DEVICE_PIPELINE_H_ */
