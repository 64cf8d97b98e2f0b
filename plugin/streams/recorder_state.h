/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Steps of recording that all kinds of commands take: hazards, room in staging chunks, copy commands. Recording takes
 * some of them for each command, so they are compiled into it. For the files of this room only.
 */
#ifndef LEAT_PLUGIN_STREAMS_RECORDER_STATE_H_
#define LEAT_PLUGIN_STREAMS_RECORDER_STATE_H_

#include "core/status.h"
#include "memory/memory.h"
#include "memory/staging.h"
#include "policy/submitting.h"
#include "record/hazards.h"
#include "streams/recorder.h"
#include "streams/stream_state.h"

/** Notes that memory could not be had, if waiting for some may help. Returns `status`. */
static inline int32_t leati_recorder_note_shortage(leati_recorder *recorder, uint64_t size, int32_t status) {
  if (status == LEAT_ERROR_OUT_OF_MEMORY && leati_memory_possible(recorder->device, size)) {
    recorder->lack = LEATI_LACK_MEMORY;
  }
  return status;
}

/** Bytes that a command touches, and the block they lie in. */
typedef struct leati_touch {
  leati_range range;
  leati_block *block;
} leati_touch;

static inline leati_touch leati_touch_of(const leati_view *view) {
  return (leati_touch){.range = {.begin = view->begin, .end = view->end}, .block = view->block};
}

/** What is staged lies in no block: its chunk is the list's own. */
static inline void leati_touch_stamp(const leati_touch *bytes, leati_timeline *timeline, uint64_t value) {
  if (bytes->block != NULL) {
    leati_block_stamp(bytes->block, timeline, value);
  }
}

/** Remembers what a command touches, stamps the blocks, and says whether the command needs a barrier first: when it
 * touches what was written since the last one, or writes what was read. */
static inline bool leati_recorder_note_accesses(leat_stream *stream, const leati_touch *reads, uint32_t read_count,
                                                const leati_touch *writes, uint32_t write_count)
    LEATI_HOLDS(stream->lock) {
  bool barrier = stream->barrier_next || stream->reads.count + read_count > LEATI_RANGES_MAX ||
                 stream->writes.count + write_count > LEATI_RANGES_MAX;
  for (uint32_t i = 0; i < read_count && !barrier; ++i) {
    barrier = leati_ranges_meet(&stream->writes, &reads[i].range);
  }
  for (uint32_t i = 0; i < write_count && !barrier; ++i) {
    barrier =
        leati_ranges_meet(&stream->writes, &writes[i].range) || leati_ranges_meet(&stream->reads, &writes[i].range);
  }
  if (barrier) {
    stream->reads.count = stream->writes.count = 0;
    stream->barrier_next = false;
  }
  leati_timeline *const timeline = stream->timeline;
  const uint64_t value = leati_stream_open_value(stream);
  for (uint32_t i = 0; i < read_count; ++i) {
    /* Operators side by side often read the same tensor. */
    if (!leati_ranges_end_with(&stream->reads, &reads[i].range)) {
      leati_ranges_add(&stream->reads, &reads[i].range);
    }
    leati_touch_stamp(&reads[i], timeline, value);
  }
  for (uint32_t i = 0; i < write_count; ++i) {
    leati_ranges_add(&stream->writes, &writes[i].range);
    leati_touch_stamp(&writes[i], timeline, value);
  }
  return barrier;
}

/** To be called where a recorder gives its stream, whose lock it has from begin to end. The analysis of locks does not
 * follow the pointer. */
static inline void leati_recorder_has_lock(const leat_stream *stream) LEATI_ASSUMES(stream->lock) {
  (void)stream;
}

/** Room for `size` bytes in a chunk of the open submission, of which `window` bytes from its start must exist. */
static inline int32_t leati_recorder_stage(leati_recorder *recorder, leati_chunk_kind kind, uint64_t size,
                                           uint64_t alignment, uint64_t window, leati_chunk **out, uint64_t *out_offset,
                                           leat_error *err) {
  leat_stream *const stream = recorder->stream;
  leati_recorder_has_lock(stream);
  LEATI_TRY(leati_stream_need_open(stream, err));
  leati_chunk *chunk = stream->current[kind];
  uint64_t offset = chunk == NULL ? 0 : (chunk->used + alignment - 1) & ~(alignment - 1);
  if (chunk == NULL || offset + window > chunk->size) {
    LEATI_TRY(leati_recorder_note_shortage(
        recorder, window, leati_staging_take(stream->device, stream->number, kind, window, &chunk, err)));
    chunk->next = stream->open->chunks;
    stream->open->chunks = chunk;
    stream->current[kind] = chunk;
    offset = 0;
  }
  chunk->used = offset + size;
  *out = chunk;
  *out_offset = offset;
  return LEAT_OK;
}

/** Under guard: fails if a command reads what another stream is yet to write, and notes what it writes. */
int32_t leati_recorder_look_for_hazards(const leat_stream *stream, const leati_touch *reads, uint32_t read_count,
                                        const leati_touch *writes, uint32_t write_count, leat_error *err)
    LEATI_HOLDS(stream->lock);

/** leati_recorder_note_accesses() of more ranges than can be remembered: what holds all that is read, and all that is
 * written, is remembered instead. */
bool leati_recorder_note_many(leat_stream *stream, const leati_touch *reads, uint32_t read_count,
                              const leati_touch *writes, uint32_t write_count) LEATI_HOLDS(stream->lock);

/** Puts a command that was appended into the list, behind a barrier if what it touches needs one. Fails under guard
 * alone. */
static inline int32_t leati_recorder_put(leat_stream *stream, leati_command *command, const leati_touch *reads,
                                         uint32_t read_count, const leati_touch *writes, uint32_t write_count,
                                         leat_error *err) {
  leati_recorder_has_lock(stream);
  if (stream->device->hazards != NULL) {
    LEATI_TRY(leati_recorder_look_for_hazards(stream, reads, read_count, writes, write_count, err));
  }
  command->barrier = read_count <= LEATI_ACCESS_MAX && write_count <= LEATI_ACCESS_MAX
                         ? leati_recorder_note_accesses(stream, reads, read_count, writes, write_count)
                         : leati_recorder_note_many(stream, reads, read_count, writes, write_count);
  ++stream->open->command_count;
  stream->open->barrier_count += command->barrier;
  stream->open->work_us += command->work_us;
  return LEAT_OK;
}

/** Appends a copy command, between buffers; `read` and `write` are what it touches of blocks, NULL: nothing. */
static inline int32_t leati_recorder_append_copy(leat_stream *stream, leati_transfer transfer, VkBuffer from,
                                                 uint64_t from_offset, VkBuffer to, uint64_t to_offset, uint64_t size,
                                                 const leati_touch *read, const leati_touch *write, leat_error *err) {
  leati_command *command = NULL;
  leati_recorder_has_lock(stream);
  LEATI_TRY(leati_stream_append(stream, &command, err));
  *command = (leati_command){
      .kind = LEATI_COMMAND_COPY,
      .transfer = (uint8_t)transfer,
      .work_us = leati_copy_us(&stream->device->traits, size, transfer != LEATI_TRANSFER_COPY),
      .copy = {.from = from, .to = to, .region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = size}}};
  return leati_recorder_put(stream, command, read, read != NULL ? 1 : 0, write, write != NULL ? 1 : 0, err);
}

/** Buffer of such bytes, and the offset in it. */
static inline VkBuffer leati_touch_buffer(const leati_touch *bytes, uint64_t *out_offset) {
  const VkBuffer buffer = leati_block_buffer(bytes->block, out_offset);
  *out_offset += bytes->range.begin - leati_block_address(bytes->block);
  return buffer;
}

/** Appends a copy of bytes of the device, of which both sides have as many. */
static inline int32_t leati_recorder_append_device_copy(leat_stream *stream, leati_transfer transfer,
                                                        const leati_touch *from, const leati_touch *to,
                                                        leat_error *err) {
  uint64_t from_offset, to_offset;
  const VkBuffer from_buffer = leati_touch_buffer(from, &from_offset);
  const VkBuffer to_buffer = leati_touch_buffer(to, &to_offset);
  return leati_recorder_append_copy(stream, transfer, from_buffer, from_offset, to_buffer, to_offset,
                                    from->range.end - from->range.begin, from, to, err);
}

/** Drops lists that were never handed over, linked by `next`. `lock` held. */
static inline void leati_recorder_drop_pieces(leat_stream *stream, leati_submission *pieces) LEATI_HOLDS(stream->lock) {
  while (pieces != NULL) {
    leati_submission *const next = pieces->next;
    leati_timeline_drop(stream->timeline, pieces);
    pieces = next;
  }
}

#endif /* LEAT_PLUGIN_STREAMS_RECORDER_STATE_H_ */
