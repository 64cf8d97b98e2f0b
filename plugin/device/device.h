/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * An open device, and the kinds of handles.
 */
#ifndef LEAT_PLUGIN_DEVICE_DEVICE_H_
#define LEAT_PLUGIN_DEVICE_DEVICE_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/sync.h"
#include "device/physical.h"
#include "device/vulkan.h"
#include "policy/traits.h"

#define LEATI_LANES_MAX 8

/** First field of every object of the ABI: says what a pointer points to, and is cleared when the object goes, so that
 * most uses of a dead or wrong handle are found out. */
typedef enum leati_kind {
  LEATI_KIND_DEAD = 0,
  LEATI_KIND_DEVICE = 0x4c444556,
  LEATI_KIND_STREAM = 0x4c535452,
  LEATI_KIND_EVENT = 0x4c455645,
  LEATI_KIND_OP = 0x4c4f5045,
  LEATI_KIND_GRAPH = 0x4c475248,
  LEATI_KIND_SEMAPHORE = 0x4c53454d,
} leati_kind;

/** The kind of what a handle points to; DEAD for NULL. Not read as a member: a wrong handle need not be aligned like
 * the object that it is taken for. */
static inline leati_kind leati_kind_of(const void *handle) {
  return handle != NULL ? *(const leati_kind *)handle : LEATI_KIND_DEAD;
}

struct leati_budget;
struct leati_chunks;
struct leati_memory;
struct leati_pipelines;
struct leati_streams;
struct leati_ops;
struct leati_graphs;
struct leati_shared_constants;
struct leati_timeline;
struct leati_semaphore;
struct leati_lanes;
struct leati_timestamps;
struct leati_profiler;
struct leati_stream_pool;

/** An open device. Fields without a word are immutable while it is open. */
struct leat_device {
  leati_kind kind;
  uint32_t index;
  uint64_t session;    /**< differs each time the device is opened */
  uint32_t references; /**< opens not yet closed; guarded by the backend's lock */
  const leati_physical *physical;
  leati_vk_device vk;
  uint32_t device_memory_type; /**< tensors */
  uint32_t
      upload_memory_type; /**< host writes once, device reads: mapped, coherent, device-local where there is such */
  uint32_t download_memory_type;      /**< device writes, host reads: mapped, coherent, cached where there is such */
  bool lanes_fixed;                   /**< all queues made are used, as LEAT_LANES says */
  uint32_t queue_count;               /**< queues made, of family `physical->queue_family` */
  uint64_t fusions_off;               /**< what LEAT_FUSIONS_OFF says: bits 1 << leati_fusion_number */
  uint64_t graph_plan_bytes;          /**< that the plans of a graph may count for, as LEAT_GRAPH_PLANS_MIB says; and
                                           its programs, and what threads keep of inferences, for a part of it */
  leati_matrix_shape matrix;          /**< of float16, what kernels may multiply, all 0: none; as LEAT_MATRICES and the
                                         device say */
  leati_matrix_shape matrix_bfloat16; /**< the same of bfloat16 */
  leati_matrix_shape matrix_int8;     /**< and of int8 */
  bool matrix2;                       /**< and whether they may use VK_NV_cooperative_matrix2 */
  bool splits_float32; /**< products of float32 are computed in parts of bfloat16, where there are such matrices; as
                          LEAT_FLOAT32_MATMUL says */
  int64_t spin_ns;     /**< how long a wait spins before it blocks; -1: adapts */
  uint64_t kernel_download_max; /**< bytes of a download that a kernel writes rather than a copy command */
  /** Bytes of an input or output of a graph on the host that kernels read or write where it is staged. */
  uint64_t staged_input_max, staged_output_max;
  leati_traits traits; /**< what the rules of policy/ know of it */
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout pipeline_layout;
  /** Set once the driver reported the device as lost; pairs with nothing: whoever sees it late fails a little later. */
  atomic_bool lost;
  /** Buffers and descriptor sets that were destroyed. Raised before they are (release), so that whoever is handed an
   * object that came after, and may have its handle, sees it (acquire). */
  _Atomic uint32_t destroyed;
  /** Who asks for records of what is done (record/profiler.h); 0: nobody. Relaxed: whoever has to see a change was
   * told of it by the call that made it. */
  _Atomic uint32_t profiling;
  /** Pipelines that requests have compiled (record/compilation.h). Relaxed: it is only told. */
  _Atomic uint32_t compiled_in_requests;
  /** All timelines, linked by `next`, in use or not. They are added at the head (release) and stay, so the
   * list is walked without a lock (acquire). */
  _Atomic(struct leati_timeline *) timelines;
  struct leati_semaphore *semaphores[LEATI_LANES_MAX]; /**< by queue; submit/lane.c */
  struct leati_budget *budget;                         /**< device/budget.c */
  struct leati_chunks *chunks;                         /**< device/chunk.c */
  struct leati_memory *memory;                         /**< memory/memory.c */
  struct leati_pipelines *pipelines;                   /**< device/pipeline.c */
  struct leati_lanes *lanes;                           /**< submit/lane.c */
  struct leati_timestamps *timestamps;                 /**< submit/timestamp.c; NULL: no timestamps */
  struct leati_profiler *profiler;                     /**< record/profiler.c */
  struct leati_streams *streams;                       /**< streams/free_streams.c */
  struct leati_hazards *hazards;                       /**< record/hazards.c; NULL: it is not guarded */
  struct leati_stream_pool *pool;                      /**< streams/stream_pool.c */
  struct leati_ops *ops;                               /**< ops/core/op_table.c */
  struct leati_graphs *graphs;                         /**< graph/graph_table.c */
  struct leati_shared_constants *constants;            /**< graph/shared_constants.c */
  leati_mutex finding_lock;                            /**< guards `finding` */
  leat_error finding; /**< what guarding found and nobody was told yet (device/finding.c); code LEAT_OK: nothing */
  leati_mutex external_lock; /**< guards the two lists that follow (timeline/external_semaphore.c) */
  struct leat_semaphore *external_semaphores, *free_external_semaphores;
  leati_mutex free_timelines_lock; /**< guards `free_timelines` */
  /** Timelines that no stream has any more and that another may have, linked by `next_free`. */
  struct leati_timeline *free_timelines;
  uint64_t random_key; /**< of numbers without a seed: another one each time that a device is opened */
  /** Threads that spin and count (streams/wait.c). Relaxed: when there are more than cores they let each other run. On
   * a line of its own: every call reads what is above. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t spinning;
  /** Steps without a seed that were recorded: each takes the next number (streams/recorder.c). Relaxed: that numbers
   * differ is all that counts. On a line of its own: no other call touches it. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t draws;
};
LEATI_APART(leat_device, free_timelines, spinning);

/** Makes the VkDevice. Everything else of the device is added by the caller, who opens it by setting its kind.
 * @errors UNAVAILABLE, OUT_OF_MEMORY, INTERNAL */
int32_t leati_device_create(const leati_physical *physical, leat_device *device, leat_error *err);
/** Destroys the VkDevice, which must be idle and have nothing more. */
void leati_device_destroy(leat_device *device);

/** Fails unless `device` is an open device. */
int32_t leati_device_check(const leat_device *device, leat_error *err);

/** The matrices of a LEAT_TYPE_... that kernels may multiply on this device; all 0: none, as of any type but float16,
 * bfloat16 and int8. */
leati_matrix_shape leati_device_matrix(const leat_device *device, uint64_t type);

/** Marks the device as lost if `result` says so, and turns the result into an error. */
int32_t leati_device_fail(leat_device *device, VkResult result, const char *what, leat_error *err);

#endif /* LEAT_PLUGIN_DEVICE_DEVICE_H_ */
