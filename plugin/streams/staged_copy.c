/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/staged_copy.h"

#include <string.h>

#include "core/status.h"
#include "memory/memory.h"
#include "policy/allocation.h"
#include "streams/recorder_state.h"
#include "streams/stream.h"

/* Invocations of a workgroup of kernels/download.comp. */
#define DOWNLOAD_GROUP 64

/* ---- By the staging of a list -------------------------------------------------------------------------------------
 */

static int32_t record_upload(leati_recorder *recorder, const leati_view *src, const leati_view *dst, uint64_t size,
                             leat_error *err) {
  leati_chunk *chunk;
  uint64_t from, to;
  LEATI_TRY(leati_recorder_stage(recorder, LEATI_CHUNK_UPLOAD, size, LEATI_STAGED_ALIGNMENT, size, &chunk, &from, err));
  memcpy(chunk->mapped + from, src->data, size);
  const leati_touch bytes = leati_touch_of(dst);
  const VkBuffer buffer = leati_touch_buffer(&bytes, &to);
  return leati_recorder_append_copy(recorder->stream, LEATI_TRANSFER_UPLOAD, chunk->buffer, from, buffer, to, size,
                                    NULL, &bytes, err);
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
  LEATI_TRY(leati_recorder_note_shortage(
      recorder, size, leati_staging_take(stream->device, stream->number, LEATI_CHUNK_DOWNLOAD, size, &chunk, err)));
  chunk->used = size;
  piece->chunks = chunk;
  LEATI_TRY(leati_submission_deliver(piece, (unsigned char *)dst->data + begin, chunk->mapped, size, err));
  const leati_touch bytes = {.range = {.begin = src->begin + begin, .end = src->begin + begin + size},
                             .block = src->block};
  const VkBuffer buffer = leati_touch_buffer(&bytes, &from);
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
      leati_recorder_has_lock(stream);
      leati_recorder_drop_pieces(stream, first);
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
  const leati_touch from = leati_touch_of(src), to = leati_touch_of(&dst);
  LEATI_TRY(leati_recorder_append_device_copy(stream, LEATI_TRANSFER_DOWNLOAD, &from, &to, err));
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
  LEATI_TRY(leati_recorder_stage(recorder, LEATI_CHUNK_DOWNLOAD, size, LEATI_STAGED_ALIGNMENT, size, &chunk, &to, err));
  if (size <= recorder->device->kernel_download_max) {
    LEATI_TRY(append_download_kernel(recorder, src, NULL, chunk->address + to, size, err));
    return leati_submission_deliver(stream->open, dst->data, chunk->mapped + to, size, err);
  }
  /* A barrier before the first piece is the one before all of them. */
  const leati_touch bytes = {.range = {.begin = src->begin, .end = src->begin + whole}, .block = src->block};
  const VkBuffer buffer = leati_touch_buffer(&bytes, &from);
  LEATI_TRY(leati_recorder_append_copy(stream, LEATI_TRANSFER_DOWNLOAD, buffer, from, chunk->buffer, to, size, &bytes,
                                       NULL, err));
  stream->open->to_host |= VK_PIPELINE_STAGE_TRANSFER_BIT;
  return leati_submission_deliver(stream->open, dst->data, chunk->mapped + to, size, err);
}

/* Room in a chunk at an address that is aligned: as an offset in the chunk. */
static int32_t stage_aligned(leati_recorder *recorder, leati_chunk_kind kind, uint64_t size, leati_chunk **out,
                             uint64_t *out_offset, leat_error *err) {
  /* A driver may place a buffer on less. */
  const uint64_t room = size + LEATI_STAGED_ALIGNMENT - 1;
  LEATI_TRY(leati_recorder_stage(recorder, kind, room, 1, room, out, out_offset, err));
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
  leati_recorder_has_lock(stream);
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
  const leati_touch from = leati_touch_of(src), to = leati_touch_of(dst);
  return leati_recorder_append_device_copy(stream, LEATI_TRANSFER_COPY, &from, &to, err);
}

/* ---- By the reserve -----------------------------------------------------------------------------------------------
 */

/* A piece of a copy between the reserve and the device. */
typedef struct reserved_piece {
  const leati_chunk *reserve;
  leati_touch bytes; /* of the device */
  bool up;           /* to there */
} reserved_piece;

static int32_t record_reserved(leati_recorder *recorder, const void *what, leat_error *err) {
  const reserved_piece *const it = what;
  leat_stream *const stream = recorder->stream;
  const uint64_t size = it->bytes.range.end - it->bytes.range.begin;
  uint64_t at;
  const VkBuffer buffer = leati_touch_buffer(&it->bytes, &at);
  if (it->up) {
    return leati_recorder_append_copy(stream, LEATI_TRANSFER_UPLOAD, it->reserve->buffer, 0, buffer, at, size, NULL,
                                      &it->bytes, err);
  }
  LEATI_TRY(leati_recorder_append_copy(stream, LEATI_TRANSFER_DOWNLOAD, buffer, at, it->reserve->buffer, 0, size,
                                       &it->bytes, NULL, err));
  stream->open->to_host |= VK_PIPELINE_STAGE_TRANSFER_BIT;
  return LEAT_OK;
}

int32_t leati_copy_by_reserve(leat_stream *stream, const leati_view *src, const leati_view *dst, leat_error *err) {
  leat_device *const device = leati_stream_device(stream);
  const leati_view *const view = src->host ? dst : src;
  const uint64_t whole = view->count * view->item_size;
  leati_chunk *const reserve = leati_chunks_take_reserve(device);
  if (reserve == NULL) {
    return LEAT_ERROR_OUT_OF_MEMORY;
  }
  leati_forget(err);
  int32_t status = LEAT_OK;
  for (uint64_t begin = 0; begin < whole && status == LEAT_OK; begin += reserve->size) {
    const uint64_t size = whole - begin < reserve->size ? whole - begin : reserve->size;
    const reserved_piece piece = {
        .reserve = reserve,
        .bytes = {.range = {.begin = view->begin + begin, .end = view->begin + begin + size}, .block = view->block},
        .up = src->host};
    if (src->host) {
      memcpy(reserve->mapped, (const unsigned char *)src->data + begin, size);
    }
    status = leati_record(stream, record_reserved, &piece, err);
    if (status == LEAT_OK) {
      /* Also if that fails nothing of it runs any more when this returns. */
      status = leati_stream_synchronize(stream, err);
    }
    if (status == LEAT_OK && dst->host) {
      memcpy((unsigned char *)dst->data + begin, reserve->mapped, size);
    }
  }
  leati_chunks_give_reserve(device);
  return status;
}
