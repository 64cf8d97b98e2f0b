/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases/limit.h"

#include <stdio.h>

static void set_limit_ratio(leat_case_context *ctx, double ratio) {
  char text[32];
  int32_t status;
  (void)snprintf(text, sizeof(text), "%.9f", ratio);
  /* Devices have been counted; settings are taken until the next time. */
  LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
  status = ctx->api->configure("LEAT_HIGH_WATERMARK_RATIO", text, LEAT_ERR);
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    leati_case_skip(ctx, "there is no setting LEAT_HIGH_WATERMARK_RATIO");
  }
  LEAT_CHECK_OK(ctx, status);
}

leat_memory_stats leati_limit_none(leat_case_context *ctx, uint32_t count, uint64_t size) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  leat_device *device = NULL;
  uint64_t *blocks = g_new0(uint64_t, count);
  set_limit_ratio(ctx, 1.0);
  LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index, &device, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    LEAT_CHECK_OK(ctx, ctx->memory->alloc(device, size, NULL, &blocks[i], LEAT_ERR));
  }
  LEAT_CHECK_OK(ctx, ctx->memory->stats(device, &stats, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    LEAT_CHECK_OK(ctx, ctx->memory->free(device, blocks[i], LEAT_ERR));
  }
  g_free(blocks);
  LEAT_CHECK_OK(ctx, ctx->device->close(device, LEAT_ERR));
  LEAT_CHECK(ctx, stats.limit_bytes > 0);
  return stats;
}

void leati_limit_memory(leat_case_context *ctx, uint64_t bytes, leat_memory_stats unlimited) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  double ratio = (double)bytes / (double)unlimited.limit_bytes;
  set_limit_ratio(ctx, MIN(ratio, 1.0));
  /* What the driver offers may have changed a little meanwhile. */
  bytes += bytes / 10;
  LEAT_CHECK_OK(ctx, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, stats.limit_bytes <= bytes,
                     "the limit is %" G_GUINT64_FORMAT " with a ratio of %.9f, which is at most %" G_GUINT64_FORMAT,
                     stats.limit_bytes, ratio, bytes);
}
