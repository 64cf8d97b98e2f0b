/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/line.h"

#include <stdlib.h>
#include <string.h>

void *leati_calloc_line(size_t size) {
  const size_t rounded = (size + LEATI_CACHE_LINE - 1) / LEATI_CACHE_LINE * LEATI_CACHE_LINE;
  void *const memory = aligned_alloc(LEATI_CACHE_LINE, rounded);
  return memory == NULL ? NULL : memset(memory, 0, rounded);
}
