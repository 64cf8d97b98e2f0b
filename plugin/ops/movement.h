/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What operators share that move elements without looking at them.
 */
#ifndef LEAT_PLUGIN_OPS_MOVEMENT_H_
#define LEAT_PLUGIN_OPS_MOVEMENT_H_

#include "ops/op.h"

/** Items that a workgroup of a moving kernel handles. */
#define LEATI_ITEMS_PER_GROUP 1024

/** Widest item, up to 16 bytes, that divides everything that was joined by bitwise or into `quantities` (addresses and
 * distances in bytes), which are not all zero. */
static inline uint32_t leati_item_width(uint64_t quantities) {
  const uint64_t lowest = quantities & (~quantities + 1);
  return lowest == 0 || lowest > 16 ? 16 : (uint32_t)lowest;
}

/** Fails unless kernels can count the elements of `view` and their offsets in 32 bits. */
int32_t leati_check_reach(const leati_view *view, const char *what, leat_error *err);

/** Element `i` of a host tensor of int64 or int32 with rank 0 or 1. */
int64_t leati_host_int(const leati_view *view, uint64_t i);

#endif /* LEAT_PLUGIN_OPS_MOVEMENT_H_ */
