/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The recorder: what operators put into a stream, and how: plans (record/plan.h) and copies. Nothing above this room
 * knows that queues exist.
 *
 * Commands are kept as plain data and turned into a VkCommandBuffer when the list is submitted. So an operation that
 * fails half-way is taken back by cutting the list.
 */
#ifndef LEAT_PLUGIN_STREAMS_RECORDER_H_
#define LEAT_PLUGIN_STREAMS_RECORDER_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/finding.h"
#include "device/pipeline.h"
#include "memory/block.h"
#include "memory/staging.h"
#include "memory/tensor.h"
#include "record/plan.h"
#include "timeline/timeline.h"

/** What is staged begins at a multiple of so many bytes of a chunk. */
#define LEATI_STAGED_ALIGNMENT 16

/** What an operation could not be recorded without, and may get when no lock is held. */
typedef enum leati_lack {
  LEATI_LACK_NOTHING,
  LEATI_LACK_PIPELINE, /**< that must be compiled */
  LEATI_LACK_MEMORY,   /**< of the device, which work in flight may release */
} leati_lack;

/** One operation on its way into a stream, under the stream's lock. */
typedef struct leati_recorder {
  leat_device *device;
  leat_stream *stream;
  leati_lack lack;
  leati_pipeline_key pipeline;                /**< the one that is lacking */
  uint32_t command_mark;                      /**< where the stream's list was at the begin */
  uint64_t work_mark;                         /**< likewise its work */
  uint32_t delivery_mark;                     /**< likewise its downloads */
  uint32_t check_mark;                        /**< and its checks */
  leati_chunk *chunks_mark;                   /**< likewise the last chunk that it had taken, */
  leati_chunk *chunk_mark[LEATI_CHUNK_KINDS]; /**< those that were being filled, */
  uint64_t used_mark[LEATI_CHUNK_KINDS];      /**< and how far */
  const leati_plan *plan;                     /**< for a profile: the plan that was recorded, or NULL, */
  uint32_t plan_mark;                         /**< and where the list was then */
  leati_submission *pieces, *last_piece;      /**< of downloads: lists that go right behind the open one */
  uint32_t temp_count;
  leati_block *temps[LEATI_TEMP_MAX]; /**< blocks that are given back at the end, in stream order */
} leati_recorder;

/** Records an operation by calls of the functions below. */
typedef int32_t leati_record_function(leati_recorder *recorder, const void *operation, leat_error *err);

/** Puts an operation into a stream: with LEAT_OK from `record` its commands stay, with anything else they are taken
 * back. What `record` lacked is got with no lock held, then it is called again; so all it does beside recording must
 * bear being done twice. That ends: pipelines stay once compiled, and memory is waited for once.
 * @errors the stream's sticky error, what `record` returns, that of leati_compile() */
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

/** Appends a dispatch, with a barrier before it if it conflicts with a command since the last barrier, and stamps the
 * blocks. */
int32_t leati_record_dispatch(leati_recorder *recorder, const leati_dispatch *dispatch, leat_error *err);

/** Gives a binding a block that is freed when the operation has been recorded, in stream order. LEATI_TEMP_MAX of them
 * for one operation at most, those of its plans included. */
int32_t leati_record_temporary(leati_recorder *recorder, uint64_t size, leati_binding *out, leat_error *err);

/** Appends the steps of a plan, each with a barrier before it if it conflicts with a command since the last barrier,
 * and stamps the blocks. `bindings`: of inputs and outputs as the call has them; those of temporaries, which live until
 * the steps have run, are filled in. Steps that tell of faults have the stream fail when they have run and met one,
 * with a message that names the operator. Once for one operation at most. The plan is looked at until leati_record()
 * returns. */
int32_t leati_record_plan(leati_recorder *recorder, const leati_plan *plan, leati_binding *bindings, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_RECORDER_H_ */
