/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Staging: taking chunks where memory may be short.
 */
#ifndef LEAT_PLUGIN_MEMORY_STAGING_H_
#define LEAT_PLUGIN_MEMORY_STAGING_H_

#include <leat/backend.h>

#include "device/chunk.h"

/** Takes an empty chunk of at least `size` bytes; release with leati_chunks_give(). Users with different numbers, if
 * they are close, do not get into each other's way; each reuses what it released. Where memory is short, what is
 * cached is released for it: hold none of the allocator's locks.
 * @errors OUT_OF_MEMORY */
int32_t leati_staging_take(leat_device *device, uint32_t user, leati_chunk_kind kind, uint64_t size, leati_chunk **out,
                           leat_error *err);

#endif /* LEAT_PLUGIN_MEMORY_STAGING_H_ */
