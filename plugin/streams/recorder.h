/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The recorder: what operators put into a stream, and how. Nothing above this room knows that queues exist.
 *
 * Commands are kept as plain data and turned into a VkCommandBuffer when the list is submitted. So an operation that
 * fails half-way is taken back by cutting the list.
 */
#ifndef LEAT_PLUGIN_STREAMS_RECORDER_H_
#define LEAT_PLUGIN_STREAMS_RECORDER_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "finding.h"
#include "pipeline.h"
#include "staging.h"
#include "tensor.h"

/** Arguments of a dispatch that a kernel reads or writes, at most. Reading more: several dispatches. */
#define LEATI_ACCESS_MAX 12
/** Temporary tensors of one operation at most. */
#define LEATI_TEMP_MAX 12

/** What an operation could not be recorded without, and may get when no lock is held. */
typedef enum leati_lack {
  LEATI_LACK_NOTHING,
  LEATI_LACK_PIPELINE, /**< that must be compiled */
  LEATI_LACK_MEMORY,   /**< of the device, which work in flight may give back */
} leati_lack;

/** One operation on its way into a stream, under the stream's lock. */
typedef struct leati_recorder {
  leat_device *device;
  leat_stream *stream;
  leati_lack lack;
  leati_pipeline_key pipeline;                /**< the one that is lacking */
  uint32_t command_mark;                      /**< where the stream's list was at the begin */
  uint32_t delivery_mark;                     /**< likewise its downloads */
  uint32_t check_mark;                        /**< and its checks */
  leati_chunk *chunk_mark[LEATI_CHUNK_KINDS]; /**< likewise the chunks that were being filled, */
  uint64_t used_mark[LEATI_CHUNK_KINDS];      /**< and how far */
  uint32_t temp_count;
  uint64_t temps[LEATI_TEMP_MAX]; /**< blocks that are freed at the end, in stream order */
} leati_recorder;

/** Records an operation by calls of the functions below. */
typedef int32_t leati_record_function(leati_recorder *recorder, const void *operation, leat_error *err);

/** Puts an operation into a stream: with LEAT_OK from `record` its commands stay, with anything else they are taken
 * back. What `record` lacked is got with no lock held, then it is called again; so all it does beside recording must
 * bear being done twice. That ends: pipelines stay once compiled, and memory is waited for once.
 * @errors the stream's sticky error, what `record` returns, that of leati_pipeline_compile() */
int32_t leati_record(leat_stream *stream, leati_record_function *record, const void *operation, leat_error *err);

/** One dispatch. */
typedef struct leati_dispatch {
  leati_pipeline_key pipeline;
  const void *args;   /**< argument record, std430; copied */
  uint32_t args_size; /**< bytes, at most LEATI_ARGS_MAX */
  uint32_t groups[3]; /**< workgroups; a zero count makes the dispatch a no-op */
  uint32_t read_count, write_count;
  const leati_view *const *reads;  /**< what the kernel may read; NULL and views without elements are skipped */
  const leati_view *const *writes; /**< what it may write (list what it reads and writes here only); likewise */
} leati_dispatch;

/** `reads` and `writes` of a dispatch, from a list of views: LEATI_READS(&x, bias). */
#define LEATI_READS(...)                             \
  .reads = (const leati_view *const[]){__VA_ARGS__}, \
  .read_count = sizeof((const leati_view *const[]){__VA_ARGS__}) / sizeof(leati_view *)
#define LEATI_WRITES(...)                             \
  .writes = (const leati_view *const[]){__VA_ARGS__}, \
  .write_count = sizeof((const leati_view *const[]){__VA_ARGS__}) / sizeof(leati_view *)

/** Appends a dispatch, with a barrier before it if it conflicts with a command since the last barrier, and stamps the
 * blocks. */
int32_t leati_record_dispatch(leati_recorder *recorder, const leati_dispatch *dispatch, leat_error *err);

/** Under guard, gives the address of a record where the next dispatch tells of a fault that it meets: the stream then
 * fails when the dispatch has run, with a message that names the operator. Else the address is 0, and nothing is to be
 * told. */
int32_t leati_record_check(leati_recorder *recorder, const char *name, leati_fault fault, uint64_t *out_address,
                           leat_error *err);

/** Appends a copy of `src` to `dst`, both compact and of the same number of bytes. The host side of a copy is staged:
 * see leat_memory_api::copy. */
int32_t leati_record_copy(leati_recorder *recorder, const leati_view *src, const leati_view *dst, leat_error *err);

/** Makes a compact temporary tensor that lives until the commands of this operation have run. `out->type`, `ndim` and
 * `shape` are set by the caller; the rest is filled in. */
int32_t leati_record_temp(leati_recorder *recorder, leati_view *out, leat_error *err);

/** Workgroups for a one-dimensional kernel over `count` items: folds what exceeds the device's limit of x into y. The
 * kernel finds its number by leat_linear_group() of kernels/leat.glsl. */
void leati_groups_linear(const leat_device *device, uint64_t count, uint32_t per_group, uint32_t groups[3]);

#endif /* LEAT_PLUGIN_STREAMS_RECORDER_H_ */
