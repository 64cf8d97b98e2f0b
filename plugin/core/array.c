/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/array.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"

int32_t leati_array_grow(void *items_at, uint32_t *inout_capacity, size_t item_size, uint32_t first, const char *what,
                         leat_error *err) {
  const uint32_t capacity = *inout_capacity == 0 ? first : *inout_capacity * 2;
  /* The owner's pointer has a type of its own, so it is copied and not read as another one. */
  void *items;
  memcpy(&items, items_at, sizeof(items));
  void *const grown = leati_realloc(items, capacity * item_size);
  if (grown == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %s", what);
  }
  memcpy(items_at, &grown, sizeof(grown));
  *inout_capacity = capacity;
  return LEAT_OK;
}
