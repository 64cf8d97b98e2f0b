/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/recorder.h"

#include <string.h>

#include "core/status.h"
#include "memory/memory.h"
#include "policy/allocation.h"
#include "policy/submitting.h"
#include "streams/free_streams.h"
#include "streams/stream_state.h"

/* Invocations of a workgroup of kernels/download.comp. */
#define DOWNLOAD_GROUP 64

/* ---- Operations ---------------------------------------------------------------------------------------------------
 */

/* Takes the stream's lock; on success end_recording() must follow. */
static int32_t begin_recording(leati_recorder *recorder, leat_stream *stream, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  const int32_t status = leati_stream_sticky(stream, err);
  if (status != LEAT_OK) {
    leati_mutex_unlock(&stream->lock);
    return status;
  }
  recorder->device = stream->device;
  recorder->stream = stream;
  recorder->lack = LEATI_LACK_NOTHING;
  recorder->wanted = NULL;
  recorder->command_mark = leati_stream_open_count(stream);
  recorder->plan = NULL;
  recorder->delivery_mark = stream->open != NULL ? stream->open->delivery_count : 0;
  recorder->check_mark = stream->open != NULL ? stream->open->check_count : 0;
  recorder->chunks_mark = stream->open != NULL ? stream->open->chunks : NULL;
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    recorder->chunk_mark[i] = stream->current[i];
    recorder->used_mark[i] = stream->current[i] != NULL ? stream->current[i]->used : 0;
  }
  recorder->temp_count = 0;
  recorder->pieces = recorder->last_piece = NULL;
  return LEAT_OK;
}

/* Whether the open list goes without being asked. `lock` held. */
static bool should_submit(const leat_stream *stream) {
  const leati_submission *const open = stream->open;
  if (open == NULL || open->command_count == 0) {
    return false;
  }
  const uint64_t pushed = leati_stream_open_value(stream) - 1;
  if (leati_list_goes_if_alone(open->command_count, open->barrier_count) && leati_placement_alone(stream->device) &&
      (pushed == 0 || leati_timeline_passed(stream->timeline, pushed - 1))) {
    return true;
  }
  return leati_list_goes(open->command_count) ||
         (leati_list_goes_if_done(open->command_count) && leati_timeline_passed(stream->timeline, pushed));
}

/* Drops lists that were never handed over, linked by `next`. `lock` held. */
static void drop_pieces(leat_stream *stream, leati_submission *pieces) {
  while (pieces != NULL) {
    leati_submission *const next = pieces->next;
    leati_timeline_drop(stream->timeline, pieces);
    pieces = next;
  }
}

/* Gives the pieces the values behind the open list's, and stamps what they read. `lock` held. */
static void number_pieces(const leat_stream *stream, leati_submission *pieces) {
  uint64_t value = leati_stream_open_value(stream);
  for (leati_submission *at = pieces; at != NULL; at = at->next) {
    at->value = ++value;
    leati_block_stamp(at->commands[0].copy.stamped, stream->timeline, value);
  }
}

/* Gives back the chunks that were taken since the begin: no command is left that uses them, and who tries again may
 * find no others. `lock` held. */
static void give_chunks_back(leati_recorder *recorder) {
  leat_stream *const stream = recorder->stream;
  while (stream->open->chunks != recorder->chunks_mark) {
    leati_chunk *const chunk = stream->open->chunks;
    stream->open->chunks = chunk->next;
    chunk->next = NULL;
    leati_chunks_give(recorder->device, chunk);
  }
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    stream->current[i] = recorder->chunk_mark[i];
    if (stream->current[i] != NULL) {
      stream->current[i]->used = recorder->used_mark[i];
    }
  }
}

/* Keeps the commands or takes them back, frees the temporaries, releases the lock, returns `status`. */
static int32_t end_recording(leati_recorder *recorder, int32_t status) {
  leat_stream *const stream = recorder->stream;
  if (status == LEAT_OK) {
    number_pieces(stream, recorder->pieces);
  } else {
    drop_pieces(stream, recorder->pieces);
    recorder->pieces = NULL;
  }
  if (status != LEAT_OK && leati_stream_open_count(stream) != recorder->command_mark) {
    stream->open->command_count = recorder->command_mark;
    /* A barrier that was cut off has reset the ranges: the next command gets one in its place. */
    stream->barrier_next = true;
    /* Blocks may be stamped with the value of this list already: it must come, or they are never idle again. */
    stream->waiting = true;
  }
  if (status != LEAT_OK && stream->open != NULL) {
    stream->open->delivery_count = recorder->delivery_mark;
    stream->open->check_count = recorder->check_mark;
    give_chunks_back(recorder);
  }
  for (uint32_t i = 0; i < recorder->temp_count; ++i) {
    leati_memory_give_temporary(recorder->device, stream->timeline, recorder->temps[i]);
  }
  if (recorder->pieces != NULL || should_submit(stream)) {
    /* A failure is sticky: the caller hears of it at the next call. */
    (void)leati_stream_flush_with(stream, recorder->pieces, NULL);
    (void)leati_stream_unlock_and_help(stream, status, NULL);
  } else {
    leati_mutex_unlock(&stream->lock);
  }
  return status;
}

static int32_t record_or_wait(leat_stream *stream, leati_record_function *record, const void *operation,
                              leat_error *err) {
  uint32_t tries = 0;
  for (;;) {
    leati_recorder recorder;
    LEATI_TRY(begin_recording(&recorder, stream, err));
    const int32_t status = end_recording(&recorder, record(&recorder, operation, err));
    if (status == LEAT_OK && recorder.wanted != NULL) {
      leati_pipeline_compile_merged(recorder.device, recorder.wanted);
    }
    if (status == LEAT_OK || recorder.lack == LEATI_LACK_NOTHING) {
      return status;
    }
    if (recorder.lack == LEATI_LACK_PIPELINE) {
      LEATI_TRY(leati_pipeline_compile(recorder.device, &recorder.pipeline, err));
    } else if (!leati_streams_await_memory(recorder.device, &tries)) {
      return status;
    }
  }
}

/* Notes the pieces of downloads, each as a call of its own: it is a list of its own, which has its own times. */
static void note_pieces(leati_recorder *recorder, uint32_t modes) {
  for (leati_submission *at = recorder->pieces; at != NULL; at = at->next) {
    leati_profile_open(at, modes);
    if (at->profile != NULL) {
      const leati_profile_call call = {.stream = recorder->stream, .begun_ns = leati_now_ns()};
      leati_profile_note(recorder->device, at, &call);
    }
  }
}

/* An operation that is noted in the profile of its list. */
typedef struct noted_operation {
  leati_record_function *record;
  const void *operation;
} noted_operation;

static int32_t record_noted(leati_recorder *recorder, const void *what, leat_error *err) {
  const noted_operation *const it = what;
  const uint64_t begun = leati_now_ns();
  LEATI_TRY(it->record(recorder, it->operation, err));
  leati_submission *const open = recorder->stream->open;
  /* A list that was opened before anybody asked has none. */
  if (open != NULL && open->profile != NULL) {
    const leati_profile_call call = {.stream = recorder->stream,
                                     .begun_ns = begun,
                                     .first_command = recorder->command_mark,
                                     .plan = recorder->plan,
                                     .first_of_plan = recorder->plan_mark};
    leati_profile_note(recorder->device, open, &call);
    note_pieces(recorder, open->profile->modes);
  }
  return LEAT_OK;
}

int32_t leati_record(leat_stream *stream, leati_record_function *record, const void *operation, leat_error *err) {
  /* The only look at the profiler of a call that nobody asks about. */
  if (atomic_load_explicit(&stream->device->profiling, memory_order_relaxed) == 0) {
    return record_or_wait(stream, record, operation, err);
  }
  const noted_operation noted = {.record = record, .operation = operation};
  return record_or_wait(stream, record_noted, &noted, err);
}

/* Notes that memory could not be had, if waiting for some may help. Returns `status`. */
static int32_t note_shortage(leati_recorder *recorder, uint64_t size, int32_t status) {
  if (status == LEAT_ERROR_OUT_OF_MEMORY && leati_memory_possible(recorder->device, size)) {
    recorder->lack = LEATI_LACK_MEMORY;
  }
  return status;
}

/* ---- Hazards ------------------------------------------------------------------------------------------------------
 */

/* Bytes that a command touches, and the block they lie in. */
typedef struct span {
  leati_range range;
  leati_block *block;
} span;

static span span_of(const leati_view *view) {
  return (span){.range = {.begin = view->begin, .end = view->end}, .block = view->block};
}

/* What is staged lies in no block: its chunk is the list's own. */
static void stamp(const span *bytes, leati_timeline *timeline, uint64_t value) {
  if (bytes->block != NULL) {
    leati_block_stamp(bytes->block, timeline, value);
  }
}

/* Remembers what a command touches, stamps the blocks, and says whether the command needs a barrier first: when it
 * touches what was written since the last one, or writes what was read. */
static bool note_accesses(leat_stream *stream, const span *reads, uint32_t read_count, const span *writes,
                          uint32_t write_count) {
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
    stamp(&reads[i], timeline, value);
  }
  for (uint32_t i = 0; i < write_count; ++i) {
    leati_ranges_add(&stream->writes, &writes[i].range);
    stamp(&writes[i], timeline, value);
  }
  return barrier;
}

/* ---- Dispatches ---------------------------------------------------------------------------------------------------
 */

/* Room for `size` bytes in a chunk of the open submission, of which `window` bytes from its start must exist. */
static inline int32_t stage(leati_recorder *recorder, leati_chunk_kind kind, uint64_t size, uint64_t alignment,
                            uint64_t window, leati_chunk **out, uint64_t *out_offset, leat_error *err) {
  leat_stream *const stream = recorder->stream;
  LEATI_TRY(leati_stream_need_open(stream, err));
  leati_chunk *chunk = stream->current[kind];
  uint64_t offset = chunk == NULL ? 0 : (chunk->used + alignment - 1) & ~(alignment - 1);
  if (chunk == NULL || offset + window > chunk->size) {
    LEATI_TRY(
        note_shortage(recorder, window, leati_staging_take(stream->device, stream->number, kind, window, &chunk, err)));
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

/* Appends a dispatch whose argument record, of `size` bytes with what lies behind it, is to be written to
 * `*out_record`: the caller has until the stream's lock is released. */
static inline int32_t append_dispatch(leati_recorder *recorder, leati_pipeline *pipeline, const uint32_t groups[3],
                                      uint32_t size, leati_command **out, unsigned char **out_record, leat_error *err) {
  LEATI_TRY(leati_stream_append(recorder->stream, out, err));
  leati_chunk *chunk;
  uint64_t offset;
  LEATI_TRY(stage(recorder, LEATI_CHUNK_ARGUMENTS, size, recorder->device->physical->uniform_alignment,
                  size > LEATI_ARGS_MAX ? size : LEATI_ARGS_MAX, &chunk, &offset, err));
  *out_record = chunk->draft + offset;
  if (leati_pipeline_wants_merged(pipeline)) {
    recorder->wanted = pipeline;
  }
  **out = (leati_command){.kind = LEATI_COMMAND_DISPATCH,
                          .dispatch = {.pipeline = pipeline,
                                       .set = chunk->set,
                                       .offset = (uint32_t)offset,
                                       .groups = {groups[0], groups[1], groups[2]},
                                       .size = size,
                                       .record = *out_record}};
  return LEAT_OK;
}

/* Puts a command that was appended into the list, behind a barrier if what it touches needs one. */
static inline void put_command(leat_stream *stream, leati_command *command, const span *reads, uint32_t read_count,
                               const span *writes, uint32_t write_count) {
  command->barrier = note_accesses(stream, reads, read_count, writes, write_count);
  ++stream->open->command_count;
  stream->open->barrier_count += command->barrier;
  stream->open->work_us += command->work_us;
}

/* The spans of views; those without elements are left out, because they name no memory. Returns how many are left. */
static uint32_t spans_of(const leati_view *const *views, uint32_t count, span *out) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (views[i]->count != 0) {
      out[kept++] = span_of(views[i]);
    }
  }
  return kept;
}

int32_t leati_record_dispatch(leati_recorder *recorder, const leati_dispatch *dispatch, leat_error *err) {
  leati_pipeline *pipeline;
  if (!leati_pipeline_find(recorder->device, &dispatch->pipeline, &pipeline)) {
    /* Without a message: leati_record() compiles it, and nobody is told. */
    recorder->lack = LEATI_LACK_PIPELINE;
    recorder->pipeline = dispatch->pipeline;
    return LEAT_ERROR_NOT_READY;
  }
  leati_command *command = NULL;
  unsigned char *record;
  LEATI_TRY(append_dispatch(recorder, pipeline, dispatch->groups, dispatch->args_size, &command, &record, err));
  memcpy(record, dispatch->args, dispatch->args_size);
  span reads[LEATI_ACCESS_MAX], writes[LEATI_ACCESS_MAX];
  const uint32_t read_count = spans_of(dispatch->reads, dispatch->read_count, reads);
  const uint32_t write_count = spans_of(dispatch->writes, dispatch->write_count, writes);
  command->work_us = leati_dispatch_us(&recorder->device->traits, 0, 0); /* of a small download */
  put_command(recorder->stream, command, reads, read_count, writes, write_count);
  return LEAT_OK;
}

/* Gives the address of a record where the next dispatch tells of a fault that it meets. */
static int32_t stage_finding(leati_recorder *recorder, const char *name, leati_fault fault, uint64_t *out_address,
                             leat_error *err) {
  leati_chunk *chunk;
  uint64_t offset;
  LEATI_TRY(stage(recorder, LEATI_CHUNK_DOWNLOAD, sizeof(leati_finding), LEATI_STAGED_ALIGNMENT, sizeof(leati_finding),
                  &chunk, &offset, err));
  leati_finding *const finding = (leati_finding *)(void *)(chunk->mapped + offset);
  *finding = (leati_finding){.met = 0};
  const leati_check check = {.at = finding, .name = name, .fault = fault};
  LEATI_TRY(leati_submission_check(recorder->stream->open, &check, err));
  recorder->stream->open->to_host |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  *out_address = chunk->address + offset;
  return LEAT_OK;
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

static int32_t append_copy(leat_stream *stream, leati_transfer transfer, VkBuffer from, uint64_t from_offset,
                           VkBuffer to, uint64_t to_offset, uint64_t size, const span *read, const span *write,
                           leat_error *err) {
  leati_command *command = NULL;
  LEATI_TRY(leati_stream_append(stream, &command, err));
  *command = (leati_command){
      .kind = LEATI_COMMAND_COPY,
      .transfer = (uint8_t)transfer,
      .work_us = leati_copy_us(&stream->device->traits, size, transfer != LEATI_TRANSFER_COPY),
      .copy = {.from = from, .to = to, .region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = size}}};
  put_command(stream, command, read, read != NULL ? 1 : 0, write, write != NULL ? 1 : 0);
  return LEAT_OK;
}

/* Buffer of a span, and the offset in it. */
static VkBuffer buffer_of(const span *bytes, uint64_t *out_offset) {
  const VkBuffer buffer = leati_block_buffer(bytes->block, out_offset);
  *out_offset += bytes->range.begin - leati_block_address(bytes->block);
  return buffer;
}

/* Appends a copy of bytes of the device, of which both spans have as many. */
static int32_t append_device_copy(leat_stream *stream, leati_transfer transfer, const span *from, const span *to,
                                  leat_error *err) {
  uint64_t from_offset, to_offset;
  const VkBuffer from_buffer = buffer_of(from, &from_offset);
  const VkBuffer to_buffer = buffer_of(to, &to_offset);
  return append_copy(stream, transfer, from_buffer, from_offset, to_buffer, to_offset,
                     from->range.end - from->range.begin, from, to, err);
}

static int32_t record_upload(leati_recorder *recorder, const leati_view *src, const leati_view *dst, uint64_t size,
                             leat_error *err) {
  leati_chunk *chunk;
  uint64_t from, to;
  LEATI_TRY(stage(recorder, LEATI_CHUNK_UPLOAD, size, LEATI_STAGED_ALIGNMENT, size, &chunk, &from, err));
  memcpy(chunk->mapped + from, src->data, size);
  const span bytes = span_of(dst);
  const VkBuffer buffer = buffer_of(&bytes, &to);
  return append_copy(recorder->stream, LEATI_TRANSFER_UPLOAD, chunk->buffer, from, buffer, to, size, NULL, &bytes, err);
}

/* The argument record of kernels/download.comp. */
typedef struct download_args {
  uint64_t src, dst;
  uint32_t count; /* items */
} download_args;

/* Appends a dispatch that writes a view to a place that the host sees, and that `dst` names unless it is new. */
static int32_t append_download_kernel(leati_recorder *recorder, const leati_view *src, const leati_view *dst,
                                      uint64_t to, uint64_t size, leat_error *err) {
  const uint64_t aligned = src->begin | to | size; /* to a power of two that divides it */
  const bool words = aligned % 4 == 0, wide = aligned % 16 == 0;
  const uint64_t count = size / (wide ? 16 : words ? 4 : 1);
  const download_args args = {.src = src->begin, .dst = to, .count = (uint32_t)count};
  leati_dispatch dispatch = {
      .pipeline = {.kernel = wide    ? LEATI_KERNEL_DOWNLOAD_128
                             : words ? LEATI_KERNEL_DOWNLOAD_32
                                     : LEATI_KERNEL_DOWNLOAD_8},
      .args = &args,
      .args_size = sizeof(args),
      .reads = &src,
      .read_count = 1,
      .writes = &dst,
      .write_count = dst != NULL ? 1 : 0,
  };
  leati_groups_linear(recorder->device, count, DOWNLOAD_GROUP, dispatch.groups);
  LEATI_TRY(leati_record_dispatch(recorder, &dispatch, err));
  leati_submission *const open = recorder->stream->open;
  open->commands[open->command_count - 1].transfer = LEATI_TRANSFER_DOWNLOAD;
  open->to_host |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  return LEAT_OK;
}

/* Fills a list in that copies `size` bytes from `begin` on of a download. */
static int32_t fill_piece(leati_recorder *recorder, const leati_view *src, const leati_view *dst, uint64_t begin,
                          uint64_t size, leati_submission *piece, leat_error *err) {
  leat_stream *const stream = recorder->stream;
  leati_chunk *chunk;
  uint64_t from;
  LEATI_TRY(
      leati_array_room(&piece->commands, 0, &piece->command_capacity, sizeof(*piece->commands), 1, "commands", err));
  LEATI_TRY(note_shortage(recorder, size,
                          leati_staging_take(stream->device, stream->number, LEATI_CHUNK_DOWNLOAD, size, &chunk, err)));
  chunk->used = size;
  piece->chunks = chunk;
  LEATI_TRY(leati_submission_deliver(piece, (unsigned char *)dst->data + begin, chunk->mapped, size, err));
  const span bytes = {.range = {.begin = src->begin + begin, .end = src->begin + begin + size}, .block = src->block};
  const VkBuffer buffer = buffer_of(&bytes, &from);
  piece->commands[piece->command_count++] = (leati_command){
      .kind = LEATI_COMMAND_COPY,
      .transfer = LEATI_TRANSFER_DOWNLOAD,
      .work_us = leati_copy_us(&stream->device->traits, size, true),
      .copy = {
          .from = buffer, .to = chunk->buffer, .region = {.srcOffset = from, .size = size}, .stamped = src->block}};
  piece->work_us = piece->commands[0].work_us;
  piece->to_host = VK_PIPELINE_STAGE_TRANSFER_BIT;
  piece->piece = true;
  return LEAT_OK;
}

/* Makes the pieces of a download behind the first, each of `piece` bytes or what is left, and puts them behind those of
 * the operation that there are. The last gets its chunk first, and the open list, which may be held by a command
 * buffer, gets its own after all: they lie in the order in which they come back, so each gets the same next time. */
static int32_t make_pieces(leati_recorder *recorder, const leati_view *src, const leati_view *dst, uint64_t size,
                           uint64_t piece, leat_error *err) {
  leat_stream *const stream = recorder->stream;
  leati_submission *first = NULL, *last = NULL;
  for (uint64_t begin = (size - 1) / piece * piece; begin != 0; begin -= piece) {
    leati_submission *made;
    int32_t status = leati_timeline_open(stream->timeline, &made, err);
    if (status == LEAT_OK) {
      made->next = first;
      first = made;
      last = last == NULL ? made : last;
      status = fill_piece(recorder, src, dst, begin, begin + piece < size ? piece : size - begin, made, err);
    }
    if (status != LEAT_OK) {
      drop_pieces(stream, first);
      return status;
    }
  }
  if (recorder->pieces == NULL) {
    recorder->pieces = first;
  } else {
    recorder->last_piece->next = first;
  }
  recorder->last_piece = last;
  return LEAT_OK;
}

/* Appends a download to memory of the host that the device works in: nothing is left to do when it has run. */
static int32_t append_direct_download(leati_recorder *recorder, const leati_view *src, leati_block *block,
                                      uint64_t offset, uint64_t size, leat_error *err) {
  leat_stream *const stream = recorder->stream;
  leati_view dst = *src;
  dst.block = block;
  dst.address = dst.begin = leati_block_address(block) + offset;
  dst.end = dst.begin + size;
  if (size <= recorder->device->kernel_download_max) {
    return append_download_kernel(recorder, src, &dst, dst.begin, size, err);
  }
  const span from = span_of(src), to = span_of(&dst);
  LEATI_TRY(append_device_copy(stream, LEATI_TRANSFER_DOWNLOAD, &from, &to, err));
  stream->open->to_host |= VK_PIPELINE_STAGE_TRANSFER_BIT;
  return LEAT_OK;
}

/* The block of leat_memory_api::alloc_host() that holds all of a tensor, and how far into it; or NULL. */
static leati_block *find_host_block(leat_device *device, const leati_view *view, uint64_t size, uint64_t *out_offset) {
  leati_block *const block = leati_memory_find_host(device, view->data);
  if (block == NULL) {
    return NULL;
  }
  *out_offset = (uint64_t)((const unsigned char *)view->data - (const unsigned char *)leati_block_mapped(block));
  const uint64_t room = leati_block_size(block);
  return *out_offset <= room && size <= room - *out_offset ? block : NULL;
}

static int32_t record_download(leati_recorder *recorder, const leati_view *src, const leati_view *dst, uint64_t whole,
                               leat_error *err) {
  leat_stream *const stream = recorder->stream;
  uint64_t offset;
  leati_block *const direct = find_host_block(recorder->device, dst, whole, &offset);
  if (direct != NULL) {
    return append_direct_download(recorder, src, direct, offset, whole, err);
  }
  const uint64_t size = leati_download_piece(&recorder->device->traits, whole);
  leati_chunk *chunk;
  uint64_t from, to;
  if (size < whole) {
    LEATI_TRY(make_pieces(recorder, src, dst, whole, size, err));
  }
  LEATI_TRY(stage(recorder, LEATI_CHUNK_DOWNLOAD, size, LEATI_STAGED_ALIGNMENT, size, &chunk, &to, err));
  if (size <= recorder->device->kernel_download_max) {
    LEATI_TRY(append_download_kernel(recorder, src, NULL, chunk->address + to, size, err));
    return leati_submission_deliver(stream->open, dst->data, chunk->mapped + to, size, err);
  }
  /* A barrier before the first piece is the one before all of them. */
  const span bytes = {.range = {.begin = src->begin, .end = src->begin + whole}, .block = src->block};
  const VkBuffer buffer = buffer_of(&bytes, &from);
  LEATI_TRY(append_copy(stream, LEATI_TRANSFER_DOWNLOAD, buffer, from, chunk->buffer, to, size, &bytes, NULL, err));
  stream->open->to_host |= VK_PIPELINE_STAGE_TRANSFER_BIT;
  return leati_submission_deliver(stream->open, dst->data, chunk->mapped + to, size, err);
}

/* Room in a chunk at an address that is aligned: as an offset in the chunk. */
static int32_t stage_aligned(leati_recorder *recorder, leati_chunk_kind kind, uint64_t size, leati_chunk **out,
                             uint64_t *out_offset, leat_error *err) {
  /* A driver may place a buffer on less. */
  const uint64_t room = size + LEATI_STAGED_ALIGNMENT - 1;
  LEATI_TRY(stage(recorder, kind, room, 1, room, out, out_offset, err));
  *out_offset += -((*out)->address + *out_offset) & (LEATI_STAGED_ALIGNMENT - 1);
  return LEAT_OK;
}

int32_t leati_record_staged_input(leati_recorder *recorder, const leati_view *src, leati_binding *out,
                                  leat_error *err) {
  const uint64_t size = src->count * src->item_size;
  leati_chunk *chunk;
  uint64_t offset;
  LEATI_TRY(stage_aligned(recorder, LEATI_CHUNK_UPLOAD, size, &chunk, &offset, err));
  memcpy(chunk->mapped + offset, src->data, size);
  *out = (leati_binding){.address = chunk->address + offset};
  return LEAT_OK;
}

int32_t leati_record_staged_output(leati_recorder *recorder, const leati_view *dst, leati_binding *out,
                                   leat_error *err) {
  leat_stream *const stream = recorder->stream;
  const uint64_t size = dst->count * dst->item_size;
  leati_chunk *chunk;
  uint64_t offset;
  leati_block *const direct = find_host_block(recorder->device, dst, size, &offset);
  LEATI_TRY(leati_stream_need_open(stream, err));
  stream->open->to_host |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  if (direct != NULL) {
    *out = (leati_binding){.address = leati_block_address(direct) + offset, .block = direct};
    return LEAT_OK;
  }
  LEATI_TRY(stage_aligned(recorder, LEATI_CHUNK_DOWNLOAD, size, &chunk, &offset, err));
  *out = (leati_binding){.address = chunk->address + offset};
  return leati_submission_deliver(stream->open, dst->data, chunk->mapped + offset, size, err);
}

int32_t leati_record_copy(leati_recorder *recorder, const leati_view *src, const leati_view *dst, leat_error *err) {
  leat_stream *const stream = recorder->stream;
  const uint64_t size = src->count * src->item_size;
  if (!src->compact || !dst->compact || size != dst->count * dst->item_size) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "a copy needs compact tensors of one size; the source has %llu bytes%s, the destination %llu%s",
                      (unsigned long long)size, src->compact ? "" : " (not compact)",
                      (unsigned long long)(dst->count * dst->item_size), dst->compact ? "" : " (not compact)");
  }
  if (size == 0) {
    return LEAT_OK;
  }
  if (src->host && dst->host) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "both sides of a copy are host tensors; one must be on the device");
  }
  if (src->host) {
    return record_upload(recorder, src, dst, size, err);
  }
  if (dst->host) {
    return record_download(recorder, src, dst, size, err);
  }
  if (src->begin < dst->end && dst->begin < src->end) {
    return src->begin == dst->begin ? LEAT_OK
                                    : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "source and destination overlap");
  }
  const span from = span_of(src), to = span_of(dst);
  return append_device_copy(stream, LEATI_TRANSFER_COPY, &from, &to, err);
}

/* ---- Plans --------------------------------------------------------------------------------------------------------
 */

int32_t leati_record_temporary(leati_recorder *recorder, uint64_t size, leati_binding *out, leat_error *err) {
  leati_timeline *const timeline = recorder->stream->timeline;
  LEATI_TRY(
      note_shortage(recorder, size, leati_memory_take_temporary(recorder->device, size, timeline, &out->block, err)));
  recorder->temps[recorder->temp_count++] = out->block;
  out->address = leati_block_address(out->block);
  return LEAT_OK;
}

/* The bytes that an access touches in this call. */
static inline span bind(const leati_plan_access *access, const leati_binding *binding) {
  return (span){.range = {.begin = binding->address + (uint64_t)access->begin,
                          .end = binding->address + (uint64_t)access->end,
                          .runs = access->runs},
                .block = binding->block};
}

/* Records a step. `spans` has room for what the longest one touches: an array of its own would keep compilers from
 * making this part of its only caller. */
static inline int32_t record_step(leati_recorder *recorder, const leati_plan *plan, const leati_plan_step *step,
                                  const leati_binding *bindings, span spans[2 * LEATI_ACCESS_MAX], leat_error *err) {
  const leati_plan_access *const accesses = &plan->accesses[step->first_access];
  if (step->copies) {
    const span from = bind(&accesses[0], &bindings[accesses[0].binding]);
    const span to = bind(&accesses[1], &bindings[accesses[1].binding]);
    return append_device_copy(recorder->stream, LEATI_TRANSFER_COPY, &from, &to, err);
  }
  uint64_t finding = 0;
  if (step->tells) {
    LEATI_TRY(stage_finding(recorder, step->name, step->fault, &finding, err));
  }
  leati_command *command = NULL;
  unsigned char *record;
  LEATI_TRY(append_dispatch(recorder, step->pipeline, step->groups, step->args_size, &command, &record, err));
  command->work_us = step->work_us;
  memcpy(record, plan->args + step->args, step->args_size);
  const uint32_t count = step->read_count + step->write_count;
  for (uint32_t i = 0; i < count; ++i) {
    const leati_binding *const binding = &bindings[accesses[i].binding];
    spans[i] = bind(&accesses[i], binding);
    if (accesses[i].field != LEATI_FIELD_NONE) {
      const uint64_t address = binding->address + (uint64_t)accesses[i].offset;
      memcpy(record + accesses[i].field, &address, sizeof(address));
    }
  }
  if (step->counters != 0) {
    const leati_chunk *const chunk = recorder->stream->current[LEATI_CHUNK_ARGUMENTS];
    const uint64_t address = chunk->address + command->dispatch.offset + step->counters;
    memcpy(record + step->counters_field, &address, sizeof(address));
    /* The host writes the next record over counters that the device has written. */
    recorder->stream->open->to_host |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  }
  if (step->tells) {
    memcpy(record + step->finding_field, &finding, sizeof(finding));
  }
  put_command(recorder->stream, command, spans, step->read_count, spans + step->read_count, step->write_count);
  return LEAT_OK;
}

int32_t leati_record_plan(leati_recorder *recorder, const leati_plan *plan, leati_binding *bindings, leat_error *err) {
  leati_binding *const temporaries = bindings + (plan->binding_count - plan->temporary_count);
  for (uint32_t i = 0; i < plan->temporary_count; ++i) {
    LEATI_TRY(leati_record_temporary(recorder, plan->temporaries[i].size, &temporaries[i], err));
  }
  recorder->plan = plan;
  recorder->plan_mark = leati_stream_open_count(recorder->stream);
  span spans[2 * LEATI_ACCESS_MAX];
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    LEATI_TRY(record_step(recorder, plan, &plan->steps[i], bindings, spans, err));
  }
  for (uint32_t i = 0; i < plan->answer_count; ++i) {
    const leati_plan_answer *const answer = &plan->answers[i];
    memcpy(bindings[answer->binding].data, plan->args + answer->data, answer->size);
  }
  return LEAT_OK;
}
