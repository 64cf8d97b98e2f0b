/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about memory of the host that the device writes to: leat_memory_api::alloc_host() and free_host().
 */
#include <string.h>

#include "fixture.h"
#include "sources.h"

/* What alloc_host() aligns to. */
enum { ALIGNMENT = 64 };

static uint8_t *take(leat_case_context *ctx, uint64_t size) {
  void *memory = NULL;
  LEAT_CHECK_OK(ctx, ctx->memory->alloc_host(leati_fixture_device(ctx), size, &memory, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, memory != NULL && (uintptr_t)memory % ALIGNMENT == 0, "%p is NULL, or no multiple of %d",
                     memory, ALIGNMENT);
  return memory;
}

static void give(leat_case_context *ctx, void *memory) {
  LEAT_CHECK_OK(ctx, ctx->memory->free_host(leati_fixture_device(ctx), memory, LEAT_ERR));
}

static leat_memory_stats stats_of(leat_case_context *ctx) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  LEAT_CHECK_OK(ctx, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
  return stats;
}

static void sizes(leat_case_context *ctx, const void *data) {
  static const uint64_t bytes[] = {0, 1, 63, 64, 65, 255, 256, 257, 4096, 5000, 100000, 1 << 20, (3 << 20) + 1};
  uint8_t *blocks[G_N_ELEMENTS(bytes)];
  uint8_t *expected = g_malloc((3 << 20) + 1);
  (void)data;
  for (uint32_t i = 0; i < G_N_ELEMENTS(bytes); ++i) {
    blocks[i] = take(ctx, bytes[i]);
    leati_pattern(blocks[i], bytes[i], i);
  }
  for (uint32_t i = 0; i < G_N_ELEMENTS(bytes); ++i) {
    leati_pattern(expected, bytes[i], i);
    LEAT_CHECK_BYTES(ctx, expected, blocks[i], bytes[i]);
    give(ctx, blocks[i]);
  }
  give(ctx, NULL);
  g_free(expected);
}

/* Downloads of many sizes to many places, of which nothing else changes. */
static void downloads(leat_case_context *ctx, const void *data) {
  enum { SIZE = (5 << 20) + 12345 };
  static const struct {
    uint64_t from, to, size;
  } rows[] = {{0, 0, SIZE},    {1, 3, 1},           {7, 64, 3},       {16, 32, 16}, {4, 4, 4096},         {3, 5, 65536},
              {256, 0, 65537}, {100, 200, 1 << 20}, {12, 8, 4 << 20}, {0, 0, 0},    {5, 1, (5 << 20) + 1}};
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  uint8_t *in = g_malloc(SIZE);
  uint8_t *out = take(ctx, SIZE);
  (void)data;
  leati_pattern(in, SIZE, 1);
  leati_upload(ctx, stream, block, in, SIZE);
  for (uint32_t i = 0; i < G_N_ELEMENTS(rows); ++i) {
    memset(out, LEAT_GUARD_BYTE, SIZE);
    leati_download(ctx, stream, block + rows[i].from, out + rows[i].to, rows[i].size);
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, in + rows[i].from, out + rows[i].to, rows[i].size);
    for (uint64_t j = 0; j < SIZE; ++j) {
      LEAT_CHECK_MESSAGE(ctx, (j >= rows[i].to && j - rows[i].to < rows[i].size) || out[j] == LEAT_GUARD_BYTE,
                         "byte %" G_GUINT64_FORMAT " was written by a download of %" G_GUINT64_FORMAT
                         " bytes to %" G_GUINT64_FORMAT,
                         j, rows[i].size, rows[i].to);
    }
  }
  give(ctx, out);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(in);
}

/* Uploads and downloads of one block, and several downloads to one place, each after the one before. */
static void order(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 40, SIZE = 70000 };
  leat_stream *stream = leati_stream_new(ctx);
  leat_stream *other = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  uint64_t second = leati_case_alloc(ctx, SIZE, stream);
  uint8_t *in = take(ctx, SIZE);
  uint8_t *kept = take(ctx, (uint64_t)ROUNDS * SIZE);
  uint8_t *last = take(ctx, SIZE);
  uint8_t *expected = g_malloc(SIZE);
  (void)data;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    /* What is uploaded has been read when the call returns, also from here. */
    leati_pattern(in, SIZE, i);
    leati_upload(ctx, stream, block, in, SIZE);
    leati_download(ctx, stream, block, kept + (size_t)i * SIZE, SIZE);
    leati_download(ctx, stream, block, last, SIZE);
  }
  leati_copy(ctx, stream, block, second, SIZE);
  LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->wait_event(other, event, LEAT_ERR));
  leati_pattern(in, SIZE, ROUNDS);
  leati_upload(ctx, other, block, in, SIZE);
  leati_download(ctx, other, block, last, SIZE);
  leati_synchronize(ctx, other);
  LEAT_CHECK_BYTES(ctx, in, last, SIZE);
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    leati_pattern(expected, SIZE, i);
    LEAT_CHECK_BYTES(ctx, expected, kept + (size_t)i * SIZE, SIZE);
  }
  leati_download(ctx, other, second, last, SIZE);
  leati_synchronize(ctx, other);
  LEAT_CHECK_BYTES(ctx, expected, last, SIZE);
  give(ctx, in);
  give(ctx, kept);
  give(ctx, last);
  leati_case_free(ctx, block);
  leati_case_free(ctx, second);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
  leati_stream_destroy(ctx, other);
  g_free(expected);
}

/* Memory is freed while a download into it is under way, and its size is asked for at once, by a stream's destination
 * or by the host itself. */
static void reuse(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 6, SIZE = 100000 };
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  uint8_t *bytes = g_malloc0(SIZE);
  (void)data;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    uint8_t *first = take(ctx, SIZE);
    uint8_t *next;
    leati_pattern(bytes, SIZE, 2 * i);
    leati_upload(ctx, stream, block, bytes, SIZE);
    leati_stream_load(ctx, stream);
    leati_download(ctx, stream, block, first, SIZE);
    LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
    give(ctx, first);
    next = take(ctx, SIZE);
    leati_pattern(next, SIZE, 2 * i + 1);
    leati_synchronize(ctx, stream);
    leati_pattern(bytes, SIZE, 2 * i + 1);
    LEAT_CHECK_BYTES(ctx, bytes, next, SIZE);
    give(ctx, next);
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(bytes);
}

/* What was put into streams that are gone still has somewhere to go. */
static void streams_gone(leat_case_context *ctx, const void *data) {
  enum { SIZE = 300000 };
  uint64_t block = leati_case_alloc(ctx, SIZE, NULL);
  (void)data;
  for (int i = 0; i < 6; ++i) {
    leat_stream *stream = leati_stream_new(ctx);
    uint8_t *memory = take(ctx, SIZE);
    leati_stream_load(ctx, stream);
    leati_download(ctx, stream, block, memory, SIZE);
    leati_stream_destroy(ctx, stream);
    give(ctx, memory);
    LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
  }
  leati_case_free(ctx, block);
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
}

static void figures(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_memory_stats begin = stats_of(ctx), held, end;
  uint8_t *small = take(ctx, 1000);
  uint8_t *large = take(ctx, 5 << 20);
  (void)data;
  held = stats_of(ctx);
  LEAT_CHECK_U64(ctx, begin.host_allocated_bytes + 1000 + (5 << 20), held.host_allocated_bytes);
  LEAT_CHECK_MESSAGE(ctx, held.host_reserved_bytes >= held.host_allocated_bytes,
                     "%" G_GUINT64_FORMAT " bytes are held, and %" G_GUINT64_FORMAT " taken from the driver",
                     held.host_allocated_bytes, held.host_reserved_bytes);
  LEAT_CHECK_MESSAGE(
      ctx,
      held.reserved_bytes + held.staging_bytes + held.host_reserved_bytes <= held.limit_bytes || held.limit_bytes == 0,
      "what is taken exceeds limit_bytes");
  LEAT_CHECK_U64(ctx, begin.allocated_bytes, held.allocated_bytes);
  LEAT_CHECK_U64(ctx, begin.live_block_count, held.live_block_count);
  LEAT_CHECK_U64(ctx, begin.allocation_count, held.allocation_count);
  give(ctx, small);
  give(ctx, large);
  LEAT_CHECK_OK(ctx, ctx->memory->trim(device, NULL, LEAT_ERR));
  end = stats_of(ctx);
  LEAT_CHECK_U64(ctx, begin.host_allocated_bytes, end.host_allocated_bytes);
  LEAT_CHECK_U64(ctx, begin.free_count, end.free_count);
  LEAT_CHECK_MESSAGE(ctx, end.host_reserved_bytes < 5 << 20, "%" G_GUINT64_FORMAT " bytes are kept after a trim",
                     end.host_reserved_bytes);
}

static void bad_arguments(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint8_t *memory = take(ctx, 1000);
  void *none = NULL;
  uint8_t local[128];
  uint64_t block = leati_case_alloc(ctx, 1000, NULL);
  uint64_t base, size;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->alloc_host(NULL, 16, &none, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->alloc_host(device, 16, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_OUT_OF_MEMORY, ctx->memory->alloc_host(device, UINT64_MAX, &none, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_OUT_OF_MEMORY, ctx->memory->alloc_host(device, UINT64_MAX / 2, &none, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free_host(NULL, memory, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free_host(device, memory + 1, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free_host(device, local, LEAT_ERR));
  /* It is memory of the host, not of the device; and the other way round. */
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free(device, (uint64_t)(uintptr_t)memory, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->memory->find(device, (uint64_t)(uintptr_t)memory, &base, &size, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->memory->free_host(device, (void *)(uintptr_t)block, LEAT_ERR));
  give(ctx, memory);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free_host(device, memory, LEAT_ERR));
  leati_case_free(ctx, block);
}

static void exchange(leat_case_context *ctx, uint32_t index, void *data) {
  enum { ROUNDS = 60, SIZE_MAX_ = 90000 };
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE_MAX_, stream);
  uint8_t *in = g_malloc(SIZE_MAX_);
  (void)data;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    const uint64_t size = 1 + (index * 7919u + i * 104729u) % SIZE_MAX_;
    uint8_t *out = take(ctx, size);
    leati_pattern(in, size, index * ROUNDS + i);
    leati_upload(ctx, stream, block, in, size);
    leati_download(ctx, stream, block, out, size);
    if (i % 3 != 0) {
      leati_synchronize(ctx, stream);
      LEAT_CHECK_BYTES(ctx, in, out, size);
    }
    give(ctx, out);
    if (i % 16 == 0) {
      LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
    }
  }
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(in);
}

static void threads(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_threads_run(ctx, 8, exchange, NULL);
}

static const leat_case cases[] = {
    {.name = "host_memory.alloc.sizes_are_aligned_and_apart",
     .summary = "Memory of any size can be written and read by the host, and no two pieces overlap.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = sizes},
    {.name = "host_memory.copy.downloads_arrive",
     .summary =
         "Downloads of any size to any place in it hold the bytes when a wait covers them, and write nothing else.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = downloads},
    {.name = "host_memory.copy.order_is_kept",
     .summary = "Of downloads to one place the last stays, across streams too; a source has been read at the return.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = order},
    {.name = "host_memory.free.waits_for_work_in_flight",
     .summary = "What is freed while a download into it is under way serves nobody else before that has run.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = reuse},
    {.name = "host_memory.free.streams_may_be_gone",
     .summary = "It may be freed, and memory trimmed, while work of streams that are gone writes to it.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = streams_gone},
    {.name = "host_memory.stats.have_their_own_figures",
     .summary = "What is held and taken is told, and is in no other figure.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = figures},
    {.name = "host_memory.arguments.bad_ones_are_refused",
     .summary = "Pointers that alloc_host() did not give, or that were freed, are refused, and so is too much.",
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = bad_arguments},
    {.name = "host_memory.threads.eight_allocate_and_free",
     .summary = "Eight threads allocate, download, free and trim at once; all data is right.",
     .flags = LEAT_CASE_ALONE,
     .deadline_s = 120,
     .needs_capability = LEAT_CAPABILITY_HOST_MEMORY,
     .run = threads},
};

void leati_cases_host_memory(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
