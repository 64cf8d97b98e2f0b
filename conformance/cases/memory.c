/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_memory_api but for DLPack exchange: blocks, their reuse in stream order, copies, figures.
 */
#include <stdio.h>
#include <string.h>

#include "cases/limit.h"
#include "cases/sources.h"
#include "fixture.h"

static leat_memory_stats stats_of(leat_case_context *ctx) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  LEAT_CHECK_OK(ctx, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
  return stats;
}

/* ---- Blocks ---- */

static void alloc_sizes(leat_case_context *ctx, const void *data) {
  static const uint64_t sizes[] = {1,    2,    3,    4,     7,     31,      255,      256,     257,
                                   1000, 4095, 4096, 65535, 65536, 1000001, 16 << 20, 33554433};
  uint64_t blocks[G_N_ELEMENTS(sizes)];
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    blocks[i] = leati_case_alloc(ctx, sizes[i], i % 2 == 0 ? stream : NULL);
    LEAT_CHECK_MESSAGE(ctx, blocks[i] % 256 == 0,
                       "a block of %" G_GUINT64_FORMAT " bytes is at 0x%" G_GINT64_MODIFIER "x, not aligned to 256",
                       sizes[i], blocks[i]);
    for (size_t j = 0; j < i; ++j) {
      LEAT_CHECK_MESSAGE(ctx, blocks[i] + sizes[i] <= blocks[j] || blocks[j] + sizes[j] <= blocks[i],
                         "the live blocks of %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " bytes overlap", sizes[j],
                         sizes[i]);
    }
  }
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    /* The first and the last byte of each block are there. */
    const uint8_t in[2] = {(uint8_t)(i + 1), (uint8_t)(i + 101)};
    leati_upload(ctx, stream, blocks[i], &in[0], 1);
    if (sizes[i] > 1) {
      leati_upload(ctx, stream, blocks[i] + sizes[i] - 1, &in[1], 1);
    }
  }
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    uint8_t out[2] = {0};
    leati_download(ctx, stream, blocks[i], &out[0], 1);
    if (sizes[i] > 1) {
      leati_download(ctx, stream, blocks[i] + sizes[i] - 1, &out[1], 1);
    }
    leati_synchronize(ctx, stream);
    LEAT_CHECK_U64(ctx, i + 1, out[0]);
    if (sizes[i] > 1) {
      LEAT_CHECK_U64(ctx, i + 101, out[1]);
    }
    leati_case_free(ctx, blocks[i]);
  }
  leati_stream_destroy(ctx, stream);
}

static void alloc_zero(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint64_t a = 0;
  uint64_t b = 0;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->memory->alloc(device, 0, NULL, &a, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->memory->alloc(device, 0, NULL, &b, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, a != b, "two empty blocks have the same address, so that one cannot be freed");
  leati_case_free(ctx, a);
  leati_case_free(ctx, b);
}

static void alloc_huge(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_device_info info = {.struct_size = sizeof(info)};
  uint64_t sizes[8];
  uint64_t address;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->info(ctx->device_index, &info, LEAT_ERR));
  sizes[0] = UINT64_MAX;
  sizes[1] = UINT64_MAX - 1;
  sizes[2] = UINT64_MAX - 255;
  sizes[3] = UINT64_MAX - 65535;
  sizes[4] = UINT64_C(1) << 63;
  sizes[5] = UINT64_C(1) << 62;
  sizes[6] = (UINT64_C(1) << 62) + 1;
  sizes[7] = MAX(info.memory_size, info.max_allocation_size) * 2 + 1;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    leat_memory_stats before = stats_of(ctx);
    leat_memory_stats after;
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_OUT_OF_MEMORY, ctx->memory->alloc(device, sizes[i], NULL, &address, LEAT_ERR));
    after = stats_of(ctx);
    LEAT_CHECK_U64(ctx, before.allocated_bytes, after.allocated_bytes);
    LEAT_CHECK_U64(ctx, before.live_block_count, after.live_block_count);
    /* It goes on as before. */
    leati_case_free(ctx, leati_case_alloc(ctx, 4096, NULL));
  }
}

static void alloc_bad(leat_case_context *ctx, const void *data) {
  uint64_t address = 0;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->alloc(NULL, 16, NULL, &address, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->memory->alloc(leati_fixture_device(ctx), 16, NULL, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free(NULL, 256, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->memory->free(leati_fixture_device(ctx), 0, LEAT_ERR));
}

static void free_twice(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static const uint64_t sizes[] = {1, 4096, 40 << 20};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    uint64_t block = leati_case_alloc(ctx, sizes[i], NULL);
    leati_case_free(ctx, block);
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free(device, block, LEAT_ERR));
  }
}

static void free_foreign(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint64_t block = leati_case_alloc(ctx, 4096, NULL);
  uint64_t base = 0;
  uint64_t size = 0;
  int local = 0;
  const uint64_t foreign[] = {
      1, 256, block + 256, block + 1, block + 4095, (uint64_t)(uintptr_t)&local, UINT64_MAX, UINT64_MAX - 255};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(foreign); ++i) {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free(device, foreign[i], LEAT_ERR));
  }
  LEAT_CHECK_OK(ctx, ctx->memory->find(device, block, &base, &size, LEAT_ERR));
  leati_case_free(ctx, block);
}

static void find_inside(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static const uint64_t sizes[] = {1, 2, 255, 256, 257, 10000, 20 << 20};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    uint64_t block = leati_case_alloc(ctx, sizes[i], NULL);
    const uint64_t inside[] = {block, block + sizes[i] / 2, block + sizes[i] - 1};
    for (size_t j = 0; j < G_N_ELEMENTS(inside); ++j) {
      uint64_t base = 0;
      uint64_t size = 0;
      LEAT_CHECK_OK(ctx, ctx->memory->find(device, inside[j], &base, &size, LEAT_ERR));
      LEAT_CHECK_U64(ctx, block, base);
      LEAT_CHECK_U64(ctx, sizes[i], size);
    }
    leati_case_free(ctx, block);
  }
}

static void find_outside(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static const uint64_t sizes[] = {1, 255, 257, 10000, 20 << 20};
  uint64_t base = 0;
  uint64_t size = 0;
  int local = 0;
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    uint64_t block = leati_case_alloc(ctx, sizes[i], NULL);
    /* The case holds no other block that could begin there. */
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                      ctx->memory->find(device, block + sizes[i], &base, &size, LEAT_ERR));
    leati_case_free(ctx, block);
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->find(device, block, &base, &size, LEAT_ERR));
  }
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->find(device, 0, &base, &size, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->find(device, UINT64_MAX, &base, &size, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->memory->find(device, (uint64_t)(uintptr_t)&local, &base, &size, LEAT_ERR));
}

static void find_bad(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint64_t block = leati_case_alloc(ctx, 100, NULL);
  uint64_t base = 0;
  uint64_t size = 0;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->find(NULL, block, &base, &size, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->find(device, block, NULL, &size, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->find(device, block, &base, NULL, LEAT_ERR));
  leati_case_free(ctx, block);
}

/* ---- Figures ---- */

static void stats_consistent(leat_case_context *ctx, const void *data) {
  leat_memory_stats begin = stats_of(ctx);
  leat_memory_stats held;
  leat_memory_stats end;
  uint64_t blocks[20];
  uint64_t asked = 0;
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(blocks); ++i) {
    blocks[i] = leati_case_alloc(ctx, 1000 * (i + 1), NULL);
    asked += 1000 * (i + 1);
  }
  held = stats_of(ctx);
  LEAT_CHECK_U64(ctx, begin.live_block_count + G_N_ELEMENTS(blocks), held.live_block_count);
  LEAT_CHECK_U64(ctx, begin.allocation_count + G_N_ELEMENTS(blocks), held.allocation_count);
  LEAT_CHECK_U64(ctx, begin.free_count, held.free_count);
  LEAT_CHECK(ctx, held.allocated_bytes >= begin.allocated_bytes + asked);
  LEAT_CHECK(ctx, held.allocated_peak >= held.allocated_bytes);
  LEAT_CHECK(ctx, held.reserved_bytes >= held.allocated_bytes);
  LEAT_CHECK(ctx, held.reserved_peak >= held.reserved_bytes);
  LEAT_CHECK(ctx, held.driver_call_count >= 1);
  LEAT_CHECK_U64(ctx, 0, held.reserved);
  for (size_t i = 0; i < G_N_ELEMENTS(blocks); ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  end = stats_of(ctx);
  LEAT_CHECK_U64(ctx, begin.live_block_count, end.live_block_count);
  LEAT_CHECK_U64(ctx, begin.allocated_bytes, end.allocated_bytes);
  LEAT_CHECK_U64(ctx, begin.free_count + G_N_ELEMENTS(blocks), end.free_count);
  LEAT_CHECK(ctx, end.allocated_peak >= held.allocated_bytes);
}

static void stats_bad(leat_case_context *ctx, const void *data) {
  leat_memory_stats stats = {.struct_size = sizeof(stats) - 1};
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->stats(leati_fixture_device(ctx), NULL, LEAT_ERR));
  stats.struct_size = sizeof(stats);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->stats(NULL, &stats, LEAT_ERR));
}

static void stats_cached(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  enum { BLOCKS = 12, SIZE = 3 << 20 };
  leat_memory_stats held;
  leat_memory_stats end;
  uint64_t blocks[BLOCKS];
  (void)data;
  for (size_t i = 0; i < BLOCKS; ++i) {
    blocks[i] = leati_case_alloc(ctx, SIZE, NULL);
  }
  held = stats_of(ctx);
  LEAT_CHECK_MESSAGE(ctx, held.cached_bytes <= held.reserved_bytes - held.allocated_bytes,
                     "%" G_GUINT64_FORMAT " bytes of %" G_GUINT64_FORMAT " are called cached while %" G_GUINT64_FORMAT
                     " are held",
                     held.cached_bytes, held.reserved_bytes, held.allocated_bytes);
  LEAT_CHECK_MESSAGE(ctx, held.limit_bytes >= held.reserved_bytes,
                     "%" G_GUINT64_FORMAT " bytes are reserved, above the limit of %" G_GUINT64_FORMAT,
                     held.reserved_bytes, held.limit_bytes);
  for (size_t i = 0; i < BLOCKS; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(device, LEAT_ERR));
  end = stats_of(ctx);
  LEAT_CHECK_MESSAGE(ctx, end.cached_bytes <= end.reserved_bytes && end.cached_bytes + SIZE > end.reserved_bytes,
                     "nothing is held and %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes are cached",
                     end.cached_bytes, end.reserved_bytes);
  LEAT_CHECK_OK(ctx, ctx->memory->trim(device, NULL, LEAT_ERR));
  end = stats_of(ctx);
  LEAT_CHECK_MESSAGE(ctx, end.reserved_bytes == 0 && end.cached_bytes == 0,
                     "nothing is held or in use, and after a trim %" G_GUINT64_FORMAT " bytes are reserved",
                     end.reserved_bytes);
}

static void peaks_reset(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint64_t kept = leati_case_alloc(ctx, 10000, NULL);
  leat_memory_stats before;
  leat_memory_stats after;
  (void)data;
  leati_case_free(ctx, leati_case_alloc(ctx, 40 << 20, NULL));
  LEAT_CHECK_OK(ctx, ctx->memory->trim(device, NULL, LEAT_ERR));
  before = stats_of(ctx);
  LEAT_CHECK(ctx, before.allocated_peak >= before.allocated_bytes + (40 << 20));
  LEAT_CHECK(ctx, before.reserved_peak >= 40 << 20);
  LEAT_CHECK_OK(ctx, ctx->memory->reset_peaks(device, LEAT_ERR));
  after = stats_of(ctx);
  LEAT_CHECK_U64(ctx, before.allocated_bytes, after.allocated_bytes);
  LEAT_CHECK_U64(ctx, after.allocated_bytes, after.allocated_peak);
  LEAT_CHECK_U64(ctx, after.reserved_bytes, after.reserved_peak);
  /* They rise again from there. */
  leati_case_free(ctx, leati_case_alloc(ctx, 20 << 20, NULL));
  after = stats_of(ctx);
  LEAT_CHECK_U64(ctx, before.allocated_bytes + (20 << 20), after.allocated_peak);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->reset_peaks(NULL, LEAT_ERR));
  leati_case_free(ctx, kept);
}

enum { CLASSES_MAX = 1024 };

/* Reads all classes; `out` has CLASSES_MAX elements. */
static uint32_t classes_of(leat_case_context *ctx, leat_memory_class *out) {
  uint32_t count = CLASSES_MAX;
  for (uint32_t i = 0; i < CLASSES_MAX; ++i) {
    out[i] = (leat_memory_class){.struct_size = sizeof(out[i])};
  }
  LEAT_CHECK_OK(ctx, ctx->memory->classes(leati_fixture_device(ctx), &count, out, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, count <= CLASSES_MAX, "there are %u size classes", count);
  return count;
}

static void check_sums(leat_case_context *ctx, leat_memory_class *classes) {
  leat_memory_stats stats = stats_of(ctx);
  leat_memory_class sum = {0};
  uint32_t count = classes_of(ctx, classes);
  for (uint32_t i = 0; i < count; ++i) {
    const leat_memory_class *one = &classes[i];
    LEAT_CHECK_U64(ctx, 0, one->reserved);
    LEAT_CHECK_MESSAGE(ctx, one->allocation_count != 0, "class %u of blocks of %" G_GUINT64_FORMAT " was never used", i,
                       one->block_size);
    LEAT_CHECK_MESSAGE(ctx, one->reuse_count < one->allocation_count,
                       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " blocks were used before", one->reuse_count,
                       one->allocation_count);
    LEAT_CHECK_MESSAGE(
        ctx,
        i == 0 || one->block_size == 0 || (classes[i - 1].block_size < one->block_size && classes[i - 1].block_size),
        "class %u is out of order", i);
    LEAT_CHECK(ctx, one->reserved_bytes >= one->live_count * one->block_size);
    sum.live_count += one->live_count;
    sum.reserved_bytes += one->reserved_bytes;
    sum.allocation_count += one->allocation_count;
  }
  LEAT_CHECK_U64(ctx, stats.live_block_count, sum.live_count);
  LEAT_CHECK_U64(ctx, stats.reserved_bytes, sum.reserved_bytes);
  LEAT_CHECK_U64(ctx, stats.allocation_count, sum.allocation_count);
}

static void classes_add_up(leat_case_context *ctx, const void *data) {
  static const uint64_t sizes[] = {1, 256, 257, 5000, 5001, 70000, 1 << 20, 3 << 20, 50 << 20};
  enum { EACH = 5 };
  leat_memory_class *classes = g_new(leat_memory_class, CLASSES_MAX);
  uint64_t blocks[G_N_ELEMENTS(sizes)][EACH];
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    for (int j = 0; j < EACH; ++j) {
      blocks[i][j] = leati_case_alloc(ctx, sizes[i], NULL);
    }
  }
  check_sums(ctx, classes);
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    for (int j = 0; j < EACH - 1; ++j) {
      leati_case_free(ctx, blocks[i][j]);
    }
  }
  check_sums(ctx, classes);
  LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
  check_sums(ctx, classes);
  for (int i = 0; i < 300; ++i) {
    leati_case_free(ctx, leati_case_alloc(ctx, 5000, NULL));
  }
  check_sums(ctx, classes);
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    leati_case_free(ctx, blocks[i][EACH - 1]);
  }
  g_free(classes);
}

static void classes_bad(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint64_t small = leati_case_alloc(ctx, 300, NULL);
  uint64_t large = leati_case_alloc(ctx, 300000, NULL);
  leat_memory_class two[2] = {{.struct_size = sizeof(two[0])}, {.struct_size = sizeof(two[1]), .block_size = 77}};
  uint32_t all = 0;
  uint32_t count = 1;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->memory->classes(device, &all, NULL, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, all >= 1, "blocks are held and no class was used");
  /* A capacity too small is filled as far as it goes, and the count is that of all. */
  LEAT_CHECK_OK(ctx, ctx->memory->classes(device, &count, two, LEAT_ERR));
  LEAT_CHECK_U64(ctx, all, count);
  LEAT_CHECK(ctx, two[0].allocation_count != 0);
  LEAT_CHECK_U64(ctx, 77, two[1].block_size);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->classes(NULL, &count, two, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->classes(device, NULL, two, LEAT_ERR));
  count = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->classes(device, &count, NULL, LEAT_ERR));
  two[0].struct_size = sizeof(two[0]) - 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->classes(device, &count, two, LEAT_ERR));
  leati_case_free(ctx, small);
  leati_case_free(ctx, large);
}

static void trim_returns(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t in[2000];
  uint8_t out[2000] = {0};
  uint64_t kept = leati_case_alloc(ctx, sizeof(in), stream);
  uint64_t large = leati_case_alloc(ctx, 96 << 20, NULL);
  uint64_t released = UINT64_MAX;
  leat_memory_stats before;
  leat_memory_stats after;
  (void)data;
  leati_pattern(in, sizeof(in), 3);
  leati_upload(ctx, stream, kept, in, sizeof(in));
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, large);
  before = stats_of(ctx);
  LEAT_CHECK_OK(ctx, ctx->memory->trim(device, &released, LEAT_ERR));
  after = stats_of(ctx);
  LEAT_CHECK_MESSAGE(ctx, before.reserved_bytes >= after.reserved_bytes, "trimming made the reserved memory grow");
  LEAT_CHECK_U64(ctx,
                 before.reserved_bytes + before.staging_bytes + before.host_reserved_bytes - after.reserved_bytes -
                     after.staging_bytes - after.host_reserved_bytes,
                 released);
  LEAT_CHECK_MESSAGE(ctx, after.reserved_bytes < after.allocated_bytes + (96 << 20),
                     "%" G_GUINT64_FORMAT " bytes are reserved for %" G_GUINT64_FORMAT
                     " in use, after a free block of 96 MiB should have gone back to the driver",
                     after.reserved_bytes, after.allocated_bytes);
  LEAT_CHECK_OK(ctx, ctx->memory->trim(device, NULL, LEAT_ERR));
  leati_download(ctx, stream, kept, out, sizeof(out));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
  leati_case_free(ctx, kept);
  leati_stream_destroy(ctx, stream);
}

static void trim_in_flight(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  enum { SIZE = 3 << 20 };
  uint8_t *in = g_malloc(SIZE);
  uint8_t *out = g_malloc0(SIZE);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  (void)data;
  leati_pattern(in, SIZE, 4);
  leati_upload(ctx, stream, block, in, SIZE);
  leati_stream_load(ctx, stream);
  leati_download(ctx, stream, block, out, SIZE);
  LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
  leati_case_free(ctx, block);
  /* What was freed is still being read. */
  LEAT_CHECK_OK(ctx, ctx->memory->trim(device, NULL, LEAT_ERR));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(out);
}

/* ---- The limit ---- */

static void check_limit(leat_case_context *ctx) {
  leat_memory_stats stats = stats_of(ctx);
  LEAT_CHECK_MESSAGE(ctx, stats.reserved_bytes <= stats.limit_bytes,
                     "%" G_GUINT64_FORMAT " bytes are reserved, above the limit of %" G_GUINT64_FORMAT,
                     stats.reserved_bytes, stats.limit_bytes);
}

static void limit_recovers(leat_case_context *ctx, const void *data) {
  enum { MOST = 64, SIZE = 16 << 20, SEEN = 4096 };
  leat_device *device;
  leat_stream *stream;
  uint64_t blocks[MOST];
  uint64_t address = 0;
  uint8_t in[SEEN];
  uint8_t out[SEEN];
  uint32_t count = 0;
  (void)data;
  leati_limit_memory(ctx, UINT64_C(256) << 20, leati_limit_none(ctx, 0, 0));
  device = leati_fixture_device(ctx);
  stream = leati_stream_new(ctx);
  for (int round = 0; round < 3; ++round) {
    for (count = 0; count < MOST; ++count) {
      if (ctx->memory->alloc(device, SIZE, stream, &blocks[count], LEAT_ERR) != LEAT_OK) {
        break;
      }
      leati_pattern(in, SEEN, count + 100 * (uint32_t)round);
      const int32_t uploaded = leati_try_upload(ctx, stream, blocks[count] + SIZE - SEEN, in, SEEN);
      if (uploaded == LEAT_ERROR_OUT_OF_MEMORY) {
        /* This block has left no room for what a copy needs. It is the one that is freed first, below. */
        ++count;
        break;
      }
      LEAT_CHECK_STATUS(ctx, LEAT_OK, uploaded);
      leati_synchronize(ctx, stream);
      check_limit(ctx);
    }
    LEAT_CHECK_MESSAGE(ctx, count > 2 && count < MOST, "%u blocks of 16 MiB could be had below a limit of 256 MiB",
                       count);
    for (int i = 0; i < 5; ++i) {
      LEAT_CHECK_STATUS(ctx, LEAT_ERROR_OUT_OF_MEMORY, ctx->memory->alloc(device, SIZE, stream, &address, LEAT_ERR));
      check_limit(ctx);
    }
    /* One released is one to have, in any of its forms; the others are untouched. */
    leati_case_free(ctx, blocks[--count]);
    leati_case_free(ctx, leati_case_alloc(ctx, SIZE - 1000, stream));
    for (uint64_t size = 100; size < SIZE; size *= 7) {
      leati_case_free(ctx, leati_case_alloc(ctx, size, NULL));
    }
    while (count > 0) {
      --count;
      leati_download(ctx, stream, blocks[count] + SIZE - SEEN, out, SEEN);
      leati_synchronize(ctx, stream);
      leati_pattern(in, SEEN, count + 100 * (uint32_t)round);
      LEAT_CHECK_BYTES(ctx, in, out, SEEN);
      leati_case_free(ctx, blocks[count]);
    }
    leati_stream_load(ctx, stream);
    leati_synchronize(ctx, stream);
  }
  leati_stream_destroy(ctx, stream);
}

static void limit_reclaims(leat_case_context *ctx, const void *data) {
  enum { BLOCKS = 6, LARGEST = 16 << 20, STEP = 1500000 };
  leat_stream *stream;
  leat_memory_stats unlimited;
  uint64_t begin;
  uint64_t allocated = 0;
  gboolean cached = FALSE;
  (void)data;
  /* The blocks of the largest size fit, with a third more for what else the backend keeps. */
  unlimited = leati_limit_none(ctx, BLOCKS, LARGEST);
  leati_limit_memory(ctx, unlimited.reserved_bytes + unlimited.reserved_bytes / 3, unlimited);
  stream = leati_stream_new(ctx);
  begin = stats_of(ctx).reclaim_count;
  /* Each size leaves its blocks behind in the cache. Where a block takes about what was asked for, all of them together
   * are several times the limit. */
  for (uint64_t size = 1 << 20; size < LARGEST; size += STEP) {
    uint64_t blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; ++i) {
      blocks[i] = leati_case_alloc(ctx, size, stream);
      check_limit(ctx);
    }
    leati_copy(ctx, stream, blocks[0], blocks[1], size);
    for (int i = 0; i < BLOCKS; ++i) {
      leati_case_free(ctx, blocks[i]);
    }
    leati_synchronize(ctx, stream);
    cached = cached || stats_of(ctx).cached_bytes > 4 * size;
    allocated += BLOCKS * size;
  }
  LEAT_CHECK_MESSAGE(ctx, !cached || allocated <= stats_of(ctx).limit_bytes || stats_of(ctx).reclaim_count > begin,
                     "more than the limit was allocated and freed, and no cached memory was released");
  leati_stream_destroy(ctx, stream);
}

/* What threads were given, atomic. */
typedef struct {
  gint blocks;
  gint refusals;
} limit_outcome;

/* Holds on to the blocks of its last rounds, which are more than the limit, and lets go of them when it is refused. */
static void limit_threads_work(leat_case_context *ctx, uint32_t index, void *data) {
  enum { ROUNDS = 40, HELD = 16, LARGEST = 9 << 20, SEEN = 1000 };
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  GRand *random = g_rand_new_with_seed(ctx->seed + index);
  uint8_t in[SEEN];
  uint8_t out[SEEN];
  uint64_t held[HELD] = {0};
  limit_outcome *got = data;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    uint64_t size = (uint64_t)g_rand_int_range(random, SEEN, LARGEST);
    uint64_t address = 0;
    int32_t status = ctx->memory->alloc(device, size, stream, &address, LEAT_ERR);
    check_limit(ctx);
    if (status == LEAT_ERROR_OUT_OF_MEMORY) {
      g_atomic_int_inc(&got->refusals);
      for (int k = 0; k < HELD; ++k) {
        leati_case_free(ctx, held[k]);
        held[k] = 0;
      }
      continue;
    }
    LEAT_CHECK_OK(ctx, status);
    g_atomic_int_inc(&got->blocks);
    /* The copies may find no memory for themselves either, and say so. */
    leat_case_tensor host;
    leat_case_tensor view;
    const int64_t shape[1] = {SEEN};
    leati_pattern(in, SEEN, index * ROUNDS + i);
    memset(out, 0, SEEN);
    leati_case_tensor_device(ctx, &view, address, LEAT_U8, 1, shape);
    leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
    status = ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR);
    if (status == LEAT_OK) {
      leati_case_tensor_host(&host, out, LEAT_U8, 1, shape);
      status = ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR);
    }
    if (status == LEAT_OK) {
      leati_synchronize(ctx, stream);
      LEAT_CHECK_BYTES(ctx, in, out, SEEN);
    } else {
      LEAT_CHECK_STATUS(ctx, LEAT_ERROR_OUT_OF_MEMORY, status);
    }
    leati_case_free(ctx, held[i % HELD]);
    held[i % HELD] = address;
  }
  for (int k = 0; k < HELD; ++k) {
    leati_case_free(ctx, held[k]);
  }
  g_rand_free(random);
  leati_stream_destroy(ctx, stream);
}

static void limit_threads(leat_case_context *ctx, const void *data) {
  limit_outcome got = {0};
  (void)data;
  leati_limit_memory(ctx, UINT64_C(48) << 20, leati_limit_none(ctx, 0, 0));
  leati_threads_run(ctx, 8, limit_threads_work, &got);
  LEAT_CHECK_MESSAGE(ctx, got.blocks > 0, "of 320 allocations none succeeded");
  LEAT_CHECK_MESSAGE(ctx, got.refusals > 0, "of 320 allocations, held up to several times the limit, none was refused");
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, stats_of(ctx).live_block_count);
  leati_case_free(ctx, leati_case_alloc(ctx, 9 << 20, NULL));
}

static void memory_flat(leat_case_context *ctx, const void *data) {
  enum { RUNS = 2000, FIRST = 100, SIZE = 5000 };
  static const uint64_t sizes[] = {SIZE, 700, 200000, SIZE, 40000};
  leat_stream *stream = leati_stream_new(ctx);
  leat_memory_stats first = {0};
  leat_memory_stats last;
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  for (uint32_t run = 0; run < RUNS; ++run) {
    uint64_t blocks[G_N_ELEMENTS(sizes)];
    if (run == FIRST) {
      first = stats_of(ctx);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
      blocks[i] = leati_case_alloc(ctx, sizes[i], stream);
    }
    leati_pattern(in, SIZE, run);
    leati_upload(ctx, stream, blocks[0], in, SIZE);
    leati_copy(ctx, stream, blocks[0], blocks[2], SIZE);
    leati_copy(ctx, stream, blocks[2], blocks[3], SIZE);
    leati_download(ctx, stream, blocks[3], out, SIZE);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
      leati_case_free(ctx, blocks[i]);
    }
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  last = stats_of(ctx);
  LEAT_CHECK_MESSAGE(ctx, last.reserved_bytes <= first.reserved_bytes,
                     "%" G_GUINT64_FORMAT " bytes are reserved after %d equal runs, %" G_GUINT64_FORMAT " after %d",
                     last.reserved_bytes, RUNS, first.reserved_bytes, FIRST);
  LEAT_CHECK_MESSAGE(ctx, last.staging_bytes <= first.staging_bytes,
                     "%" G_GUINT64_FORMAT " bytes serve copies after %d equal runs, %" G_GUINT64_FORMAT " after %d",
                     last.staging_bytes, RUNS, first.staging_bytes, FIRST);
  leati_stream_destroy(ctx, stream);
}

/* ---- Reuse ---- */

static void reuse_same_stream(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 60, SIZE = 3000 };
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t *in = g_malloc(ROUNDS * SIZE);
  uint8_t *out = g_malloc0(ROUNDS * SIZE);
  (void)data;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    uint64_t a = leati_case_alloc(ctx, SIZE, stream);
    uint64_t b = leati_case_alloc(ctx, SIZE, stream);
    leati_pattern(in + i * SIZE, SIZE, i);
    leati_upload(ctx, stream, a, in + i * SIZE, SIZE);
    leati_copy(ctx, stream, a, b, SIZE);
    leati_case_free(ctx, a);
    leati_download(ctx, stream, b, out + i * SIZE, SIZE);
    leati_case_free(ctx, b);
  }
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, ROUNDS * SIZE);
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(out);
}

/* A block is freed while one stream still reads it, and its size is asked for at once by another user. */
static void reuse_other(leat_case_context *ctx, const void *data) {
  const gboolean streamless = GPOINTER_TO_INT(data);
  enum { ROUNDS = 6, SIZE = 100000 };
  leat_stream *reader = leati_stream_new(ctx);
  leat_stream *writer = leati_stream_new(ctx);
  uint8_t *bytes = g_malloc0(3 * SIZE);
  uint8_t *in = bytes;
  uint8_t *other = bytes + SIZE;
  uint8_t *out = bytes + 2 * SIZE;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    uint64_t block = leati_case_alloc(ctx, SIZE, reader);
    uint64_t next;
    leati_pattern(in, SIZE, 2 * i);
    leati_pattern(other, SIZE, 2 * i + 1);
    leati_upload(ctx, reader, block, in, SIZE);
    leati_stream_load(ctx, reader);
    leati_download(ctx, reader, block, out, SIZE);
    LEAT_CHECK_OK(ctx, ctx->stream->flush(reader, LEAT_ERR));
    leati_case_free(ctx, block);
    next = leati_case_alloc(ctx, SIZE, streamless ? NULL : writer);
    leati_upload(ctx, writer, next, other, SIZE);
    leati_synchronize(ctx, writer);
    leati_synchronize(ctx, reader);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
    leati_download(ctx, writer, next, out, SIZE);
    leati_synchronize(ctx, writer);
    LEAT_CHECK_BYTES(ctx, other, out, SIZE);
    leati_case_free(ctx, next);
  }
  leati_stream_destroy(ctx, reader);
  leati_stream_destroy(ctx, writer);
  g_free(bytes);
}

/* A block of one stream is read by another one, and freed and asked for again by its own. */
static void reuse_two_users(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 6, SIZE = 50000 };
  leat_stream *owner = leati_stream_new(ctx);
  leat_stream *reader = leati_stream_new(ctx);
  leat_event *written = leati_event_new(ctx);
  uint8_t *bytes = g_malloc0(3 * SIZE);
  uint8_t *in = bytes;
  uint8_t *other = bytes + SIZE;
  uint8_t *out = bytes + 2 * SIZE;
  (void)data;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    uint64_t block = leati_case_alloc(ctx, SIZE, owner);
    uint64_t next;
    leati_pattern(in, SIZE, 2 * i);
    leati_pattern(other, SIZE, 2 * i + 1);
    leati_upload(ctx, owner, block, in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(written, owner, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(reader, written, LEAT_ERR));
    leati_stream_load(ctx, reader);
    leati_download(ctx, reader, block, out, SIZE);
    leati_case_free(ctx, block);
    next = leati_case_alloc(ctx, SIZE, owner);
    leati_upload(ctx, owner, next, other, SIZE);
    leati_synchronize(ctx, owner);
    leati_synchronize(ctx, reader);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
    leati_case_free(ctx, next);
  }
  leati_event_destroy(ctx, written);
  leati_stream_destroy(ctx, owner);
  leati_stream_destroy(ctx, reader);
  g_free(bytes);
}

static void record_stream(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 1000, NULL);
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, block, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, block + 999, stream, LEAT_ERR));
  leati_stream_load(ctx, stream);
  LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, block, stream, LEAT_ERR));
  leati_case_free(ctx, block);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->record_stream(device, block, stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->record_stream(device, 12345, stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->record_stream(device, block, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->record_stream(NULL, block, stream, LEAT_ERR));
  leati_stream_destroy(ctx, stream);
}

/* The stream that recorded a use of the block may be gone before the block is freed. */
static void record_stream_gone(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  uint64_t block = leati_case_alloc(ctx, 70000, NULL);
  (void)data;
  for (int i = 0; i < 5; ++i) {
    leat_stream *stream = leati_stream_new(ctx);
    leati_stream_load(ctx, stream);
    LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, block, stream, LEAT_ERR));
    leati_stream_destroy(ctx, stream);
  }
  leati_case_free(ctx, block);
  leati_case_free(ctx, leati_case_alloc(ctx, 70000, NULL));
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(device, LEAT_ERR));
}

/* How the uses of a block by other streams were recorded. */
typedef enum {
  RECORD_ONCE,
  RECORD_OFTEN,   /* again and again on one stream, the last time behind more work */
  RECORD_SEVERAL, /* on several streams */
  RECORD_EVENT,   /* on a stream that waits for an event of the owner's before it uses the block */
  RECORD_GONE,    /* on streams that are gone when the block is freed */
} record_kind;

/* A block is freed while streams whose use of it was recorded still work. Whoever gets its address then gets it after
 * they have finished: an event behind their work says so. */
static void record_delays(leat_case_context *ctx, const void *data) {
  const record_kind kind = (record_kind)GPOINTER_TO_INT(data);
  enum { ROUNDS = 4, STREAMS = 4, SIZE = 30000, NEXT = 8 };
  const int streams = kind == RECORD_SEVERAL || kind == RECORD_GONE ? STREAMS : 1;
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *owner = leati_stream_new(ctx);
  leat_event *written = leati_event_new(ctx);
  leat_stream *users[STREAMS];
  leat_event *finished[STREAMS];
  uint8_t *bytes = g_malloc0((2 + STREAMS) * SIZE);
  uint8_t *in = bytes;
  uint8_t *other = bytes + SIZE;
  uint8_t *out = bytes + 2 * SIZE;
  for (int i = 0; i < streams; ++i) {
    finished[i] = leati_event_new(ctx);
  }
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    uint64_t block = leati_case_alloc(ctx, SIZE, owner);
    uint64_t next[NEXT];
    leati_pattern(in, SIZE, 2 * round);
    leati_pattern(other, SIZE, 2 * round + 1);
    leati_upload(ctx, owner, block, in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(written, owner, LEAT_ERR));
    for (int i = 0; i < streams; ++i) {
      users[i] = leati_stream_new(ctx);
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(users[i], written, LEAT_ERR));
      if (kind == RECORD_OFTEN) {
        for (int j = 0; j < 10; ++j) {
          LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, block + (uint64_t)j, users[i], LEAT_ERR));
        }
      }
      leati_stream_load(ctx, users[i]);
      if (kind == RECORD_EVENT) {
        leati_download(ctx, users[i], block, out + i * SIZE, SIZE);
      }
      LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, block, users[i], LEAT_ERR));
      LEAT_CHECK_OK(ctx, ctx->event->record(finished[i], users[i], LEAT_ERR));
      if (kind == RECORD_GONE) {
        leati_stream_destroy(ctx, users[i]);
      }
    }
    leati_case_free(ctx, block);
    for (int i = 0; i < NEXT; ++i) {
      next[i] = leati_case_alloc(ctx, SIZE, i % 2 == 0 ? owner : NULL);
      if (next[i] == block) {
        /* Asked after the allocation: if they have finished by then only, the reuse was early, but did no harm yet. */
        for (int j = 0; j < streams; ++j) {
          LEAT_CHECK_OK(ctx, ctx->event->query(finished[j], LEAT_ERR));
        }
      }
      leati_upload(ctx, owner, next[i], other, SIZE);
    }
    leati_synchronize(ctx, owner);
    for (int i = 0; i < streams; ++i) {
      LEAT_CHECK_OK(ctx, ctx->event->wait(finished[i], -1, LEAT_ERR));
      if (kind == RECORD_EVENT) {
        LEAT_CHECK_BYTES(ctx, in, out + i * SIZE, SIZE);
      }
      if (kind != RECORD_GONE) {
        leati_stream_destroy(ctx, users[i]);
      }
    }
    for (int i = 0; i < NEXT; ++i) {
      leati_case_free(ctx, next[i]);
    }
  }
  for (int i = 0; i < streams; ++i) {
    leati_event_destroy(ctx, finished[i]);
  }
  leati_event_destroy(ctx, written);
  leati_stream_destroy(ctx, owner);
  g_free(bytes);
}

/* Two threads make blocks and fill them, four take them over, check and free them, two look at the figures and trim. */
typedef struct {
  GAsyncQueue *full;  /* of `parcel` */
  GAsyncQueue *empty; /* likewise, to be used again */
  gint left;          /* parcels not checked yet; atomic */
} exchange;

typedef struct {
  uint64_t address;
  uint64_t size;
  uint32_t tag;
  leat_event *written; /* behind the work that filled it */
} parcel;

enum { PARCELS = 48, PARCEL_ROUNDS = 12, PARCEL_SIZE = 90000, PRODUCERS = 2, CONSUMERS = 4, WATCHERS = 2 };

static void produce(leat_case_context *ctx, uint32_t index, exchange *all) {
  leat_stream *stream = leati_stream_new(ctx);
  GRand *random = g_rand_new_with_seed(ctx->seed + index);
  uint8_t *in = g_malloc(PARCEL_SIZE);
  for (uint32_t i = 0; i < PARCELS * PARCEL_ROUNDS / PRODUCERS; ++i) {
    parcel *one = g_async_queue_pop(all->empty);
    uint64_t scratch;
    one->size = (uint64_t)g_rand_int_range(random, 1, PARCEL_SIZE);
    one->tag = index * 100000 + i;
    leati_pattern(in, one->size, one->tag);
    scratch = leati_case_alloc(ctx, one->size, stream);
    one->address = leati_case_alloc(ctx, one->size, i % 3 == 0 ? NULL : stream);
    leati_upload(ctx, stream, scratch, in, one->size);
    leati_copy(ctx, stream, scratch, one->address, one->size);
    leati_case_free(ctx, scratch);
    LEAT_CHECK_OK(ctx, ctx->event->record(one->written, stream, LEAT_ERR));
    g_async_queue_push(all->full, one);
  }
  leati_stream_destroy(ctx, stream);
  g_rand_free(random);
  g_free(in);
}

static void consume(leat_case_context *ctx, uint32_t index, exchange *all) {
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t *in = g_malloc(PARCEL_SIZE);
  uint8_t *out = g_malloc(PARCEL_SIZE);
  for (uint32_t i = 0; i < PARCELS * PARCEL_ROUNDS / CONSUMERS; ++i) {
    parcel *one = g_async_queue_pop(all->full);
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(stream, one->written, LEAT_ERR));
    leati_download(ctx, stream, one->address, out, one->size);
    LEAT_CHECK_OK(ctx, ctx->memory->record_stream(device, one->address, stream, LEAT_ERR));
    /* Freed while the download is on its way, by a thread that did not make it. */
    leati_case_free(ctx, one->address);
    if ((i + index) % 4 == 0) {
      leati_case_free(ctx, leati_case_alloc(ctx, one->size, NULL));
    }
    leati_synchronize(ctx, stream);
    leati_pattern(in, one->size, one->tag);
    LEAT_CHECK_BYTES(ctx, in, out, one->size);
    (void)g_atomic_int_dec_and_test(&all->left);
    g_async_queue_push(all->empty, one);
  }
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(out);
}

static void watch(leat_case_context *ctx, exchange *all) {
  leat_memory_class *classes = g_new(leat_memory_class, CLASSES_MAX);
  while (g_atomic_int_get(&all->left) > 0) {
    leat_memory_stats stats = stats_of(ctx);
    LEAT_CHECK(ctx, stats.allocated_peak >= stats.allocated_bytes);
    LEAT_CHECK(ctx, stats.reserved_peak >= stats.reserved_bytes);
    LEAT_CHECK(ctx, stats.allocation_count >= stats.free_count);
    LEAT_CHECK(ctx, stats.live_block_count <= PARCELS + 2 * (PRODUCERS + CONSUMERS));
    (void)classes_of(ctx, classes);
    LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->memory->reset_peaks(leati_fixture_device(ctx), LEAT_ERR));
    g_thread_yield();
  }
  g_free(classes);
}

static void exchange_thread(leat_case_context *ctx, uint32_t index, void *data) {
  if (index < PRODUCERS) {
    produce(ctx, index, data);
  } else if (index < PRODUCERS + CONSUMERS) {
    consume(ctx, index, data);
  } else {
    watch(ctx, data);
  }
}

static void threads_exchange(leat_case_context *ctx, const void *data) {
  exchange all = {.full = g_async_queue_new(), .empty = g_async_queue_new(), .left = PARCELS * PARCEL_ROUNDS};
  parcel parcels[PARCELS];
  (void)data;
  for (int i = 0; i < PARCELS; ++i) {
    parcels[i] = (parcel){.written = leati_event_new(ctx)};
    g_async_queue_push(all.empty, &parcels[i]);
  }
  leati_threads_run(ctx, PRODUCERS + CONSUMERS + WATCHERS, exchange_thread, &all);
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, stats_of(ctx).live_block_count);
  LEAT_CHECK_U64(ctx, 0, stats_of(ctx).allocated_bytes);
  for (int i = 0; i < PARCELS; ++i) {
    leati_event_destroy(ctx, parcels[i].written);
  }
  g_async_queue_unref(all.full);
  g_async_queue_unref(all.empty);
}

static void stress_thread(leat_case_context *ctx, uint32_t index, void *data) {
  enum { HELD = 8, LARGEST = 60000 };
  const int rounds = *(const int *)data;
  GRand *random = g_rand_new_with_seed(ctx->seed + index);
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t blocks[HELD] = {0};
  uint64_t sizes[HELD] = {0};
  uint32_t tags[HELD] = {0};
  uint8_t *in = g_malloc(LARGEST);
  uint8_t *out = g_malloc(LARGEST);
  for (int i = 0; i < rounds; ++i) {
    uint32_t slot = (uint32_t)g_rand_int_range(random, 0, HELD);
    if (blocks[slot] != 0) {
      if (g_rand_boolean(random)) {
        memset(out, 0, sizes[slot]);
        leati_download(ctx, stream, blocks[slot], out, sizes[slot]);
        leati_synchronize(ctx, stream);
        leati_pattern(in, sizes[slot], tags[slot]);
        LEAT_CHECK_BYTES(ctx, in, out, sizes[slot]);
      }
      leati_case_free(ctx, blocks[slot]);
    }
    sizes[slot] = (uint64_t)g_rand_int_range(random, 1, LARGEST);
    tags[slot] = index * 1000 + (uint32_t)i;
    blocks[slot] = leati_case_alloc(ctx, sizes[slot], g_rand_boolean(random) ? stream : NULL);
    leati_pattern(in, sizes[slot], tags[slot]);
    leati_upload(ctx, stream, blocks[slot], in, sizes[slot]);
  }
  for (uint32_t slot = 0; slot < HELD; ++slot) {
    leati_case_free(ctx, blocks[slot]);
  }
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(out);
  g_rand_free(random);
}

static void stress_threads(leat_case_context *ctx, const void *data) {
  int rounds = 120;
  leat_memory_stats begin = stats_of(ctx);
  leat_memory_stats end;
  (void)data;
  leati_threads_run(ctx, 8, stress_thread, &rounds);
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  end = stats_of(ctx);
  LEAT_CHECK_U64(ctx, begin.live_block_count, end.live_block_count);
  LEAT_CHECK_U64(ctx, begin.allocated_bytes, end.allocated_bytes);
}

static void free_elsewhere(leat_case_context *ctx, uint32_t index, void *data) {
  uint64_t *blocks = data;
  leati_case_free(ctx, blocks[index]);
}

static void free_other_thread(leat_case_context *ctx, const void *data) {
  uint64_t blocks[8];
  leat_memory_stats begin = stats_of(ctx);
  (void)data;
  for (int i = 0; i < 8; ++i) {
    blocks[i] = leati_case_alloc(ctx, 5000, NULL);
  }
  leati_threads_run(ctx, 8, free_elsewhere, blocks);
  LEAT_CHECK_U64(ctx, begin.live_block_count, stats_of(ctx).live_block_count);
}

/* ---- Copies ---- */

static void copy_sizes(leat_case_context *ctx, const void *data) {
  static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 15, 63, 255, 256, 257, 1023, 4095, 4097, 65537, 1048579};
  static const uint32_t offsets[] = {0, 1, 3, 4, 13};
  enum { LARGEST = 1048579, MARGIN = 32, TOTAL = LARGEST + 2 * MARGIN };
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t from = leati_case_alloc(ctx, TOTAL, stream);
  uint64_t to = leati_case_alloc(ctx, TOTAL, stream);
  uint8_t *in = g_malloc(TOTAL);
  uint8_t *want = g_malloc(TOTAL);
  uint8_t *have = g_malloc(TOTAL);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    uint32_t size = sizes[i];
    uint32_t a = offsets[i % G_N_ELEMENTS(offsets)];
    uint32_t b = offsets[(i * 3 + 1) % G_N_ELEMENTS(offsets)];
    uint32_t whole = size + 2 * MARGIN;
    /* Everything around the range that is written must stay. */
    leati_pattern(want, whole, 1000 + (uint32_t)i);
    leati_upload(ctx, stream, to, want, whole);
    leati_pattern(in, size, (uint32_t)i);
    leati_upload(ctx, stream, from + a, in, size);
    leati_copy(ctx, stream, from + a, to + b, size);
    memcpy(want + b, in, size);
    memset(have, 0, whole);
    leati_download(ctx, stream, to, have, whole);
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, want, have, whole);
    memset(have, 0, size);
    leati_download(ctx, stream, to + b, have, size);
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, in, have, size);
  }
  leati_case_free(ctx, from);
  leati_case_free(ctx, to);
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(want);
  g_free(have);
}

/* data + byte_offset is plain arithmetic, on the host and on the device. */
static void copy_byte_offset(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 1000, stream);
  uint8_t in[1000];
  uint8_t out[1000] = {0};
  leat_case_tensor host;
  leat_case_tensor view;
  const int64_t shape[2] = {10, 20};
  (void)data;
  leati_pattern(in, sizeof(in), 9);
  leati_case_tensor_host(&host, in, LEAT_U8, 2, shape);
  host.tensor.byte_offset = 77;
  leati_case_tensor_device(ctx, &view, block + 100, LEAT_U8, 2, shape);
  view.tensor.byte_offset = 333;
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
  leati_case_tensor_host(&host, out, LEAT_U8, 2, shape);
  host.tensor.byte_offset = 500;
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 2, shape);
  view.tensor.byte_offset = 433;
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in + 77, out + 500, 200);
  for (int i = 0; i < 500; ++i) {
    LEAT_CHECK(ctx, out[i] == 0);
  }
  for (int i = 700; i < 1000; ++i) {
    LEAT_CHECK(ctx, out[i] == 0);
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

static void copy_shapes(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 24 * 4, stream);
  float in[24];
  float out[24] = {0};
  leat_case_tensor host;
  leat_case_tensor view;
  const int64_t flat[1] = {24};
  const int64_t cube[3] = {2, 3, 4};
  (void)data;
  for (int i = 0; i < 24; ++i) {
    in[i] = (float)i + 0.5f;
  }
  /* The same number of elements is enough; strides may be given if they are the compact ones. */
  leati_case_tensor_host(&host, in, LEAT_F32, 1, flat);
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 3, cube);
  view.tensor.strides = view.strides;
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
  leati_case_tensor_host(&host, out, LEAT_F32, 3, cube);
  host.tensor.strides = host.strides;
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 1, flat);
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
  /* A scalar has no dimension and one element. */
  leati_case_tensor_host(&host, in, LEAT_F32, 0, NULL);
  leati_case_tensor_device(ctx, &view, block + 92, LEAT_F32, 0, NULL);
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
  leati_case_tensor_host(&host, out, LEAT_F32, 0, NULL);
  out[0] = -1.0f;
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
  leati_synchronize(ctx, stream);
  LEAT_CHECK(ctx, out[0] == in[0]);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

static void copy_large(leat_case_context *ctx, const void *data) {
  enum { SIZE = (24 << 20) + 5 };
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t a = leati_case_alloc(ctx, SIZE, stream);
  uint64_t b = leati_case_alloc(ctx, SIZE, stream);
  uint8_t *in = g_malloc(SIZE);
  uint8_t *out = g_malloc0(SIZE);
  (void)data;
  leati_pattern(in, SIZE, 17);
  leati_upload(ctx, stream, a, in, SIZE);
  leati_copy(ctx, stream, a, b, SIZE);
  leati_download(ctx, stream, b, out, SIZE);
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  leati_case_free(ctx, a);
  leati_case_free(ctx, b);
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(out);
}

static void copy_zero(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 16, stream);
  uint8_t in[16];
  uint8_t out[16] = {0};
  leat_case_tensor host;
  leat_case_tensor view;
  const int64_t empty[2] = {3, 0};
  (void)data;
  leati_pattern(in, sizeof(in), 1);
  leati_upload(ctx, stream, block, in, sizeof(in));
  leati_case_tensor_host(&host, in, LEAT_F32, 2, empty);
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 2, empty);
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &view.tensor, LEAT_ERR));
  leati_case_tensor_host(&host, NULL, LEAT_F32, 2, empty);
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
  leati_download(ctx, stream, block, out, sizeof(out));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

static void copy_source_free(leat_case_context *ctx, const void *data) {
  static const uint32_t sizes[] = {1, 100, 4096, 70000, 3000001};
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    uint8_t *in = g_malloc(sizes[i]);
    uint8_t *out = g_malloc0(sizes[i]);
    uint64_t block = leati_case_alloc(ctx, sizes[i], stream);
    leati_stream_load(ctx, stream);
    leati_pattern(in, sizes[i], (uint32_t)i);
    leati_upload(ctx, stream, block, in, sizes[i]);
    memset(in, 0xee, sizes[i]);
    leati_download(ctx, stream, block, out, sizes[i]);
    leati_synchronize(ctx, stream);
    leati_pattern(in, sizes[i], (uint32_t)i);
    LEAT_CHECK_BYTES(ctx, in, out, sizes[i]);
    leati_case_free(ctx, block);
    g_free(in);
    g_free(out);
  }
  leati_stream_destroy(ctx, stream);
}

static void copy_order(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 100, SIZE = 777 };
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  uint8_t *in = g_malloc(ROUNDS * SIZE);
  uint8_t *out = g_malloc0(ROUNDS * SIZE);
  (void)data;
  leati_pattern(in, ROUNDS * SIZE, 5);
  /* Each download reads what the upload just before it wrote, not what a later one writes. */
  for (int i = 0; i < ROUNDS; ++i) {
    leati_upload(ctx, stream, block, in + i * SIZE, SIZE);
    leati_download(ctx, stream, block, out + i * SIZE, SIZE);
  }
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, ROUNDS * SIZE);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(in);
  g_free(out);
}

static void copy_bad(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 1000, stream);
  uint64_t dead = leati_case_alloc(ctx, 1000, stream);
  uint8_t in[2000];
  uint8_t before[1000];
  uint8_t after[1000] = {0};
  leat_case_tensor host;
  leat_case_tensor view;
  leat_case_tensor other;
  int64_t shape[2] = {1000, 1};
  (void)data;
  leati_case_free(ctx, dead);
  leati_pattern(before, sizeof(before), 2);
  leati_pattern(in, sizeof(in), 1);
  leati_upload(ctx, stream, block, before, sizeof(before));
#define REFUSED(source, target)                       \
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, \
                    ctx->memory->copy(stream, &(source).tensor, &(target).tensor, LEAT_ERR))
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->copy(NULL, &host.tensor, &view.tensor, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->copy(stream, NULL, &view.tensor, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->copy(stream, &host.tensor, NULL, LEAT_ERR));
  /* Outside the block: by offset, by address, by size; a block that is gone; no block at all. */
  view.tensor.byte_offset = 1;
  REFUSED(host, view);
  REFUSED(view, host);
  view.tensor.byte_offset = UINT64_MAX - 10;
  REFUSED(host, view);
  REFUSED(view, host);
  leati_case_tensor_device(ctx, &view, block + 1, LEAT_U8, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  shape[0] = 1001;
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  shape[0] = 1000;
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, dead, LEAT_U8, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  leati_case_tensor_device(ctx, &view, 4096, LEAT_U8, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  leati_case_tensor_device(ctx, &view, 0, LEAT_U8, 1, shape);
  REFUSED(host, view);
  /* Different sizes or types, strides that are not compact, host memory that is NULL. */
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  shape[0] = 999;
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  shape[0] = 250;
  leati_case_tensor_host(&host, in, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_I32, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  shape[0] = 500;
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  view.strides[0] = 2;
  view.tensor.strides = view.strides;
  REFUSED(host, view);
  REFUSED(view, host);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  leati_case_tensor_host(&host, NULL, LEAT_U8, 1, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  /* Shapes that are none, and products that overflow. */
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  host.shape[0] = -1;
  view.shape[0] = -1;
  REFUSED(host, view);
  shape[0] = INT64_C(1) << 40;
  shape[1] = INT64_C(1) << 40;
  leati_case_tensor_host(&host, in, LEAT_U8, 2, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 2, shape);
  REFUSED(host, view);
  REFUSED(view, host);
  shape[0] = 10;
  shape[1] = 10;
  leati_case_tensor_host(&host, in, LEAT_U8, 2, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 2, shape);
  host.tensor.shape = NULL;
  REFUSED(host, view);
  host.tensor.shape = host.shape;
  view.tensor.ndim = -1;
  REFUSED(host, view);
  /* Devices: another number, another kind, the host at both ends. */
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 2, shape);
  view.tensor.device.device_id = 1000;
  REFUSED(host, view);
  REFUSED(view, host);
  view.tensor.device.device_id = (int)ctx->device_index;
  view.tensor.device.device_type = kDLCUDA;
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
  leati_case_tensor_host(&other, before, LEAT_U8, 2, shape);
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->memory->copy(stream, &host.tensor, &other.tensor, LEAT_ERR));
#undef REFUSED
  /* None of it has left a trace, and the stream is as good as before. */
  leati_download(ctx, stream, block, after, sizeof(after));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, before, after, sizeof(before));
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

static const leat_case cases[] = {
    {.name = "memory.alloc.sizes_are_aligned_and_apart",
     .summary = "Blocks of 1 byte to 32 MiB are aligned to 256, do not overlap and hold data to the last byte.",
     .run = alloc_sizes},
    {.name = "memory.alloc.zero_bytes_is_legal",
     .summary = "Empty blocks can be made, told apart and freed.",
     .run = alloc_zero},
    {.name = "memory.alloc.huge_is_out_of_memory_and_recovers",
     .summary = "Impossible sizes give LEAT_ERROR_OUT_OF_MEMORY, change no figure and leave the device usable.",
     .run = alloc_huge},
    {.name = "memory.alloc.bad_arguments_are_refused",
     .summary = "NULL for device or result is invalid; freeing address 0 does nothing.",
     .run = alloc_bad},
    {.name = "memory.free.twice_is_invalid",
     .summary = "A block that was freed cannot be freed again.",
     .run = free_twice},
    {.name = "memory.free.foreign_address_is_invalid",
     .summary = "Only addresses that alloc() gave can be freed, and a refusal harms no block.",
     .run = free_foreign},
    {.name = "memory.free.other_thread_may_free",
     .summary = "Blocks can be freed by threads that did not make them.",
     .run = free_other_thread},
    {.name = "memory.find.inside_gives_base_and_size",
     .summary = "Any address inside a block finds its base and the size that was asked for.",
     .run = find_inside},
    {.name = "memory.find.outside_is_invalid",
     .summary = "The byte behind a block, a freed block and foreign addresses are found nowhere.",
     .run = find_outside},
    {.name = "memory.find.bad_arguments_are_refused", .summary = "NULL is invalid for find().", .run = find_bad},
    {.name = "memory.stats.are_consistent",
     .summary = "Allocations and frees change the figures exactly.",
     .flags = LEAT_CASE_ALONE,
     .run = stats_consistent},
    {.name = "memory.stats.bad_arguments_are_refused",
     .summary = "NULL and a short struct are invalid for stats().",
     .run = stats_bad},
    {.name = "memory.stats.cached_is_what_nobody_holds",
     .summary = "Cached bytes are reserved and in no block; all are, once everything is freed, and a trim gives them "
                "back.",
     .flags = LEAT_CASE_ALONE,
     .run = stats_cached},
    {.name = "memory.peaks.reset_to_what_is_held",
     .summary = "The peaks begin again from the current values and rise from there.",
     .flags = LEAT_CASE_ALONE,
     .run = peaks_reset},
    {.name = "memory.classes.add_up",
     .summary = "The figures by size class are in order and add up to those of the device.",
     .flags = LEAT_CASE_ALONE,
     .run = classes_add_up},
    {.name = "memory.classes.bad_arguments_are_refused",
     .summary = "NULL and a short struct are invalid for classes(); a small capacity is filled.",
     .run = classes_bad},
    {.name = "memory.limit.out_of_memory_recovers",
     .summary = "At the limit allocations fail, blocks keep their bytes, and what is freed can be had again.",
     .flags = LEAT_CASE_ALONE,
     .run = limit_recovers},
    {.name = "memory.limit.cached_memory_makes_room",
     .summary = "Cached blocks of other sizes are released before an allocation fails at the limit.",
     .flags = LEAT_CASE_ALONE,
     .run = limit_reclaims},
    {.name = "memory.limit.eight_threads_run_out",
     .summary = "Eight threads that run out of memory at once get errors or right data, and nothing leaks.",
     .flags = LEAT_CASE_ALONE,
     .run = limit_threads},
    {.name = "memory.flat.two_thousand_runs",
     .summary = "After 100 of 2,000 equal runs the device's memory grows no more.",
     .flags = LEAT_CASE_ALONE,
     .deadline_s = 120,
     .run = memory_flat},
    {.name = "memory.trim.returns_unused_memory",
     .summary = "Trimming releases what is free, says how much, and leaves live blocks alone.",
     .flags = LEAT_CASE_ALONE,
     .run = trim_returns},
    {.name = "memory.trim.leaves_blocks_in_flight",
     .summary = "A freed block that the device still reads survives a trim.",
     .run = trim_in_flight},
    {.name = "memory.reuse.same_stream_keeps_order",
     .summary = "Blocks freed and allocated again on one stream carry the right data without any wait.",
     .run = reuse_same_stream},
    {.name = "memory.reuse.other_stream_waits_for_the_last_use",
     .summary = "A block freed while a stream reads it is not overwritten by another stream.",
     .run = reuse_other},
    {.name = "memory.reuse.without_stream_waits_for_the_last_use",
     .summary = "A block allocated without a stream has no use pending.",
     .run = reuse_other,
     .data = GINT_TO_POINTER(1)},
    {.name = "memory.reuse.second_user_is_waited_for",
     .summary = "A block read by a second stream is not reused by its own stream before that has finished.",
     .run = reuse_two_users},
    {.name = "memory.record_stream.accepts_live_blocks_only",
     .summary = "Uses can be recorded for live blocks, by any address inside.",
     .run = record_stream},
    {.name = "memory.record_stream.stream_may_be_gone",
     .summary = "A stream whose use was recorded may be destroyed before the block is freed.",
     .run = record_stream_gone},
    {.name = "memory.record_stream.delays_reuse",
     .summary = "A block is not reused before a stream whose use was recorded has finished it.",
     .run = record_delays,
     .data = GINT_TO_POINTER(RECORD_ONCE)},
    {.name = "memory.record_stream.last_of_many_counts",
     .summary = "Of many uses that were recorded on one stream the last is waited for.",
     .run = record_delays,
     .data = GINT_TO_POINTER(RECORD_OFTEN)},
    {.name = "memory.record_stream.all_streams_count",
     .summary = "Uses recorded on four streams are all waited for.",
     .run = record_delays,
     .data = GINT_TO_POINTER(RECORD_SEVERAL)},
    {.name = "memory.record_stream.behind_an_event",
     .summary = "A use that waits for an event of the block's owner is waited for, and reads what the owner wrote.",
     .run = record_delays,
     .data = GINT_TO_POINTER(RECORD_EVENT)},
    {.name = "memory.record_stream.streams_gone_still_count",
     .summary = "Uses recorded on streams that are gone by now are waited for.",
     .run = record_delays,
     .data = GINT_TO_POINTER(RECORD_GONE)},
    {.name = "memory.threads.made_here_freed_there",
     .summary = "Blocks pass from threads that fill them to threads that read and free them, while others trim.",
     .flags = LEAT_CASE_ALONE,
     .deadline_s = 120,
     .run = threads_exchange},
    {.name = "memory.threads.eight_allocate_and_free",
     .summary = "Eight threads allocate, use and free at random; all data is right and nothing leaks.",
     .flags = LEAT_CASE_ALONE,
     .deadline_s = 120,
     .run = stress_threads},
    {.name = "memory.copy.odd_sizes_and_offsets",
     .summary = "Copies of any size to any offset move exactly their bytes, in all three directions.",
     .run = copy_sizes},
    {.name = "memory.copy.byte_offset_is_added_to_data",
     .summary = "`data + byte_offset` is plain arithmetic on both sides.",
     .run = copy_byte_offset},
    {.name = "memory.copy.shapes_may_differ",
     .summary = "Only the number of elements must agree; compact strides may be given; scalars work.",
     .run = copy_shapes},
    {.name = "memory.copy.large", .summary = "24 MiB and five bytes arrive whole.", .run = copy_large},
    {.name = "memory.copy.zero_bytes_is_legal",
     .summary = "Copies of empty tensors succeed and change nothing.",
     .run = copy_zero},
    {.name = "memory.copy.host_source_may_change_after_return",
     .summary = "A host source has been read when the call returns, whatever the stream still has to do.",
     .run = copy_source_free},
    {.name = "memory.copy.uploads_and_downloads_keep_order",
     .summary = "A hundred pairs of upload and download of one block each see their own bytes.",
     .run = copy_order},
    {.name = "memory.copy.bad_arguments_are_refused",
     .summary = "Views outside blocks, unequal sizes or types, broken shapes and wrong devices are refused.",
     .run = copy_bad},
};

void leati_cases_memory(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
