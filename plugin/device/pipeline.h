/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Compute pipelines, compiled before their first use and kept as long as the device. One VkPipelineCache
 * (device/pipeline_cache.h) stands behind all that are compiled for a device.
 *
 * Every kernel has one calling convention: set 0, binding 0 is a uniform buffer with a dynamic offset that holds the
 * kernel's argument record in std430 layout (at most LEATI_ARGS_MAX bytes); buffers come as device addresses in it. A
 * second pipeline of the same kernel takes several records, one behind the other, for as many workgroups along z; it is
 * made when equal dispatches have met (submit/merger.h). What is constant per pipeline (operation, tile) comes as
 * specialisation constants, by name: leat_kernels.h. They also say which functions a kernel calls that links:
 * leati_kernel_module().
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
/** Bytes of as many records as a dispatch may have, at most. */
#define LEATI_RECORDS_WINDOW (LEATI_RECORDS_MAX * LEATI_ARGS_MAX)

/** Which pipeline: a kernel and its specialisation constants. Never a size of a tensor. */
typedef struct leati_pipeline_key {
  leati_kernel kernel;
  leati_constants constants; /**< unused ones are 0 */
} leati_pipeline_key;

/** Whether the pipeline for several records is there. */
typedef enum leati_merged_state {
  LEATI_MERGED_UNWANTED, /**< equal dispatches have not met */
  LEATI_MERGED_WANTED,   /**< they have: the next thread that records one compiles it */
  LEATI_MERGED_CLAIMED,  /**< a thread did so, does, or has failed to */
} leati_merged_state;

/** A compiled pipeline. Lives as long as its device. Each dispatch reads it, and next to nobody writes it. */
typedef struct leati_pipeline {
  _Alignas(LEATI_CACHE_LINE) VkPipeline handle;
  /** The one for several records, or NULL. Set by the thread that compiled it (release); read by leaders (acquire). */
  _Atomic(VkPipeline) merged;
  /** A leati_merged_state. Relaxed: who claims it does so by compare-and-swap, and nothing else hangs on it. */
  _Atomic uint32_t merged_state;
  uint32_t record_size;                /**< bytes from one record to the next; set before `merged` */
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

/** Says that the pipeline for several records would be of use. Any thread. */
static inline void leati_pipeline_want_merged(leati_pipeline *pipeline) {
  uint32_t unwanted = LEATI_MERGED_UNWANTED;
  (void)atomic_compare_exchange_strong_explicit(&pipeline->merged_state, &unwanted, LEATI_MERGED_WANTED,
                                                memory_order_relaxed, memory_order_relaxed);
}
/** Whether a thread should compile it. */
static inline bool leati_pipeline_wants_merged(const leati_pipeline *pipeline) {
  return atomic_load_explicit(&pipeline->merged_state, memory_order_relaxed) == LEATI_MERGED_WANTED;
}
/** Compiles it if it is wanted, unless another thread does. That may take long: hold no lock. If it cannot be compiled,
 * dispatches go one by one for good: it is only a matter of speed, so nobody is told. True: it was compiled. */
bool leati_pipeline_compile_merged(leat_device *device, leati_pipeline *pipeline);

/** Makes the device's empty set of pipelines, and its VkPipelineCache.
 * @errors OUT_OF_MEMORY */
int32_t leati_pipelines_create(leat_device *device, leat_error *err);
void leati_pipelines_destroy(leat_device *device);

#endif /* LEAT_PLUGIN_DEVICE_PIPELINE_H_ */
