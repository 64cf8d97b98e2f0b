/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Arrays that grow at their end. The owner keeps items, count and capacity, all zero at first, and frees the items.
 */
#ifndef LEAT_PLUGIN_CORE_ARRAY_H_
#define LEAT_PLUGIN_CORE_ARRAY_H_

#include <leat/backend.h>
#include <stddef.h>
#include <stdint.h>

/** Doubles the capacity, which is `first` items to begin with. `items_at` is the address of the owner's pointer to the
 * items, of whatever type. On failure the array is as it was.
 * @errors OUT_OF_MEMORY: "no host memory for `what`" */
int32_t leati_array_grow(void *items_at, uint32_t *inout_capacity, size_t item_size, uint32_t first, const char *what,
                         leat_error *err);

/** Sees to it that there is room for one more item behind those `used`. As leati_array_grow(). */
static inline int32_t leati_array_room(void *items_at, uint32_t used, uint32_t *inout_capacity, size_t item_size,
                                       uint32_t first, const char *what, leat_error *err) {
  return used < *inout_capacity ? LEAT_OK : leati_array_grow(items_at, inout_capacity, item_size, first, what, err);
}

#endif /* LEAT_PLUGIN_CORE_ARRAY_H_ */
