/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Compute pipelines, compiled before their first use and kept as long as the device. One VkPipelineCache
 * (device/pipeline_cache.h) stands behind all that are compiled for a device.
 *
 * Every kernel has one calling convention: set 0, binding 0 is a uniform buffer with a dynamic offset that holds the
 * kernel's argument record in std430 layout (at most LEATI_ARGS_MAX bytes); buffers come as device addresses in it.
 * What is constant per pipeline (operation, tile) comes as specialisation constants, by name: leat_kernels.h. They also
 * say which functions a kernel calls that links: leati_kernel_link().
 */
#ifndef LEAT_PLUGIN_DEVICE_PIPELINE_H_
#define LEAT_PLUGIN_DEVICE_PIPELINE_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/vulkan.h"
#include "leat_kernels.h"

/** Bytes of an argument record at most. */
#define LEATI_ARGS_MAX 1024

/** Which pipeline: a kernel and its specialisation constants. Never a size of a tensor. */
typedef struct leati_pipeline_key {
  leati_kernel kernel;
  leati_constants constants; /**< unused ones are 0 */
} leati_pipeline_key;

/** Finds a pipeline. Takes no lock. False: it has not been compiled. */
bool leati_pipeline_find(leat_device *device, const leati_pipeline_key *key, VkPipeline *out);
/** Compiles a pipeline, which is found from then on. That may take long: hold no lock. Of two threads that compile the
 * same one, the second destroys its copy.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_pipeline_compile(leat_device *device, const leati_pipeline_key *key, leat_error *err);

/** Makes the device's empty set of pipelines, and its VkPipelineCache.
 * @errors OUT_OF_MEMORY */
int32_t leati_pipelines_create(leat_device *device, leat_error *err);
void leati_pipelines_destroy(leat_device *device);

#endif /* LEAT_PLUGIN_DEVICE_PIPELINE_H_ */
