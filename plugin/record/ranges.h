/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Ranges of device memory that commands touch, from one barrier to the next. Plain data: whoever has it has it alone.
 */
#ifndef LEAT_PLUGIN_RECORD_RANGES_H_
#define LEAT_PLUGIN_RECORD_RANGES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/constants.h"

/** Which bytes from `begin` to `end` are touched: runs of `size`, the first of them at `begin`, every `pitch` bytes.
 * All zero: all of them. */
typedef struct leati_runs {
  uint32_t pitch, size;
} leati_runs;

/** Bytes [begin, end) of device memory, or runs of them. */
typedef struct leati_range {
  uint64_t begin, end;
  leati_runs runs;
} leati_range;

/** What commands read, or wrote, since the last barrier. */
typedef struct leati_ranges {
  uint32_t count;
  leati_range hull; /**< holds them all, if there are any */
  leati_range at[LEATI_RANGES_MAX];
} leati_ranges;

/** Whether runs lie between other ones that begin `distance` bytes before them. */
static inline bool leati_runs_are_apart(const leati_runs *a, const leati_runs *b, int64_t distance) {
  if (a->pitch == 0 || a->pitch != b->pitch) {
    return false;
  }
  const int64_t rest = distance % a->pitch, phase = rest < 0 ? rest + a->pitch : rest;
  return phase >= a->size && phase + b->size <= a->pitch;
}

static inline bool leati_range_meets(const leati_range *a, const leati_range *b) {
  return b->begin < a->end && a->begin < b->end &&
         !leati_runs_are_apart(&a->runs, &b->runs, (int64_t)(b->begin - a->begin));
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
  return last != NULL && last->begin == range->begin && last->end == range->end &&
         last->runs.pitch == range->runs.pitch && last->runs.size == range->runs.size;
}

/** Adds a range, for which there is room. */
static inline void leati_ranges_add(leati_ranges *ranges, const leati_range *range) {
  leati_range *const hull = &ranges->hull;
  if (ranges->count == 0) {
    *hull = (leati_range){.begin = range->begin, .end = range->end};
  }
  hull->begin = hull->begin < range->begin ? hull->begin : range->begin;
  hull->end = hull->end > range->end ? hull->end : range->end;
  ranges->at[ranges->count++] = *range;
}

#endif /* LEAT_PLUGIN_RECORD_RANGES_H_ */
