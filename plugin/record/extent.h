/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Extents: what a live block covers, for addresses that a host gives.
 */
#ifndef LEAT_PLUGIN_RECORD_EXTENT_H_
#define LEAT_PLUGIN_RECORD_EXTENT_H_

#include <leat/backend.h>

#include "memory/memory.h"

/** A block and its bytes. Each was read once: nobody may hold the block, so it may become another's meanwhile. */
typedef struct leati_extent {
  leati_block *block;
  uint64_t base, size;
} leati_extent;

/** The live block that holds `address`; one without bytes holds its own address.
 * @errors INVALID_ARGUMENT: there is none */
int32_t leati_extent_find(leat_device *device, uint64_t address, leati_extent *out, leat_error *err);

#endif /* LEAT_PLUGIN_RECORD_EXTENT_H_ */
