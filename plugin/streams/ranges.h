/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Ranges of device memory that commands touch, from one barrier to the next. Plain data: whoever has it has it alone.
 */
#ifndef LEAT_PLUGIN_STREAMS_RANGES_H_
#define LEAT_PLUGIN_STREAMS_RANGES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/constants.h"

/** Bytes [begin, end) of device memory. */
typedef struct leati_range {
  uint64_t begin, end;
} leati_range;

/** What commands read, or wrote, since the last barrier. */
typedef struct leati_ranges {
  uint32_t count;
  leati_range hull; /**< holds them all, if there are any */
  leati_range at[LEATI_RANGES_MAX];
} leati_ranges;

static inline bool leati_range_meets(const leati_range *a, const leati_range *b) {
  return b->begin < a->end && a->begin < b->end;
}

/** Whether any of them meets a range. */
static inline bool leati_ranges_meet(const leati_ranges *ranges, const leati_range *range) {
  uint32_t i = ranges->count != 0 && leati_range_meets(&ranges->hull, range) ? 0 : ranges->count;
  while (i < ranges->count && !leati_range_meets(&ranges->at[i], range)) {
    ++i;
  }
  return i < ranges->count;
}

/** Whether a range was the last to be added. */
static inline bool leati_ranges_end_with(const leati_ranges *ranges, const leati_range *range) {
  const leati_range *const last = ranges->count != 0 ? &ranges->at[ranges->count - 1] : NULL;
  return last != NULL && last->begin == range->begin && last->end == range->end;
}

/** Adds a range, for which there is room. */
static inline void leati_ranges_add(leati_ranges *ranges, const leati_range *range) {
  leati_range *const hull = &ranges->hull;
  if (ranges->count == 0) {
    *hull = *range;
  }
  hull->begin = hull->begin < range->begin ? hull->begin : range->begin;
  hull->end = hull->end > range->end ? hull->end : range->end;
  ranges->at[ranges->count++] = *range;
}

#endif /* LEAT_PLUGIN_STREAMS_RANGES_H_ */
