/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/staging.h"

#include "core/status.h"
#include "memory/memory.h"

int32_t leati_staging_take(leat_device *device, uint32_t user, leati_chunk_kind kind, uint64_t size, leati_chunk **out,
                           leat_error *err) {
  const int32_t status = leati_chunks_take(device, user, kind, size, out, err);
  if (status != LEAT_ERROR_OUT_OF_MEMORY) {
    return status;
  }
  /* What is cached elsewhere may be what is missing here. */
  const uint64_t bytes = leati_chunks_size(kind, size);
  leati_memory_reclaim(device, bytes, bytes);
  leati_forget(err);
  return leati_chunks_take(device, user, kind, size, out, err);
}
