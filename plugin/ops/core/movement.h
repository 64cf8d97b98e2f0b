/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Copies of views, and what operators share that move elements without looking at them.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_MOVEMENT_H_
#define LEAT_PLUGIN_OPS_CORE_MOVEMENT_H_

#include "ops/core/op.h"

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

/** `x`, or the bound that it is beyond. */
static inline int64_t leati_clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/** Product of the sizes of dimensions [from, to). */
static inline uint64_t leati_product(const int64_t *shape, int32_t from, int32_t to) {
  uint64_t result = 1;
  for (int32_t d = from; d < to; ++d) {
    result *= (uint64_t)shape[d];
  }
  return result;
}

/** Gives a view another shape and strides, which reach no further than it does. */
void leati_view_reshape(leati_view *view, int32_t ndim, const int64_t *shape, const int64_t *strides);

/** The part of `view` from `start` on by `step`, of shape `size`. */
leati_view leati_view_slice(const leati_view *view, const int64_t *start, const int64_t *step, const int64_t *size);

/** Element `i` of a host tensor of int64 or int32 with rank 0 or 1. */
int64_t leati_host_int(const leati_view *view, uint64_t i);

#endif /* LEAT_PLUGIN_OPS_CORE_MOVEMENT_H_ */
