/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What operators share that move elements without looking at them.
 */
#ifndef LEAT_PLUGIN_OPS_MOVEMENT_H_
#define LEAT_PLUGIN_OPS_MOVEMENT_H_

#include "ops/op.h"

/** All types: moving needs only the size of an element. */
#define LEATI_TYPES_MOVED                                                                                              \
  (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64 | LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | \
   LEAT_TYPE_INT32 | LEAT_TYPE_INT64 | LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64 |      \
   LEAT_TYPE_BOOL)

/** Items that a workgroup of a moving kernel handles. */
#define LEATI_ITEMS_PER_GROUP 1024

/** Kernels of one source by the size of their items: 1, 2, 4, 8 and, for those that have it, 16 bytes. */
typedef leati_kernel leati_item_kernels[5];
#define LEATI_ITEM_KERNELS_4(name) \
  { LEATI_KERNEL_##name##_8, LEATI_KERNEL_##name##_16, LEATI_KERNEL_##name##_32, LEATI_KERNEL_##name##_64 }
#define LEATI_ITEM_KERNELS_5(name)                                                                         \
  {                                                                                                        \
    LEATI_KERNEL_##name##_8, LEATI_KERNEL_##name##_16, LEATI_KERNEL_##name##_32, LEATI_KERNEL_##name##_64, \
        LEATI_KERNEL_##name##_128                                                                          \
  }
/** The kernel for items of `bytes`, a power of two. */
static inline leati_kernel leati_item_kernel(const leati_item_kernels kernels, uint32_t bytes) {
  return kernels[__builtin_ctz(bytes)];
}

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
