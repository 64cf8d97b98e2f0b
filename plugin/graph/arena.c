/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/arena.h"

#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"

/* Bytes of all parts together at most: no device has so many, and no sum of offsets wraps. */
#define BYTES_MAX (UINT64_C(1) << 56)

static uint64_t room_of(const leati_lifetime *lifetime) {
  return (lifetime->size + LEATI_ARENA_ALIGNMENT - 1) & ~(LEATI_ARENA_ALIGNMENT - 1);
}

/* By their first level, the largest of those of one level first: large parts leave gaps that small ones fit into. */
static int compare(const void *left, const void *right) {
  const leati_lifetime *const a = *(leati_lifetime *const *)left, *const b = *(leati_lifetime *const *)right;
  if (a->first != b->first) {
    return a->first < b->first ? -1 : 1;
  }
  if (a->size != b->size) {
    return a->size > b->size ? -1 : 1;
  }
  return a < b ? -1 : a > b;
}

/* Puts a part into the first gap between those that are needed at its first level, `live`, in the order of offsets. */
static void place(leati_lifetime **live, uint32_t *inout_count, leati_lifetime *lifetime) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *inout_count; ++i) {
    if (live[i]->last >= lifetime->first) {
      live[kept++] = live[i];
    }
  }
  uint64_t end = 0;
  uint32_t at = 0;
  while (at < kept && live[at]->offset - end < room_of(lifetime)) {
    end = live[at]->offset + room_of(live[at]);
    ++at;
  }
  lifetime->offset = end;
  memmove(&live[at + 1], &live[at], (kept - at) * sizeof(live[0]));
  live[at] = lifetime;
  *inout_count = kept + 1;
}

int32_t leati_arena_place(leati_lifetime *lifetimes, uint32_t count, uint64_t *out_size, uint64_t *out_naive,
                          leat_error *err) {
  *out_size = *out_naive = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (lifetimes[i].size > BYTES_MAX || *out_naive > BYTES_MAX) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY,
                        "what nodes leave to other nodes has more bytes than any device");
    }
    *out_naive += room_of(&lifetimes[i]);
  }
  if (count == 0) {
    return LEAT_OK;
  }
  leati_lifetime **const sorted = leati_calloc(2 * (size_t)count, sizeof(leati_lifetime *));
  if (sorted == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to place %u tensors of a graph", count);
  }
  leati_lifetime **const live = sorted + count;
  uint32_t live_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    sorted[i] = &lifetimes[i];
  }
  qsort(sorted, count, sizeof(leati_lifetime *), compare);
  for (uint32_t i = 0; i < count; ++i) {
    place(live, &live_count, sorted[i]);
    const uint64_t end = sorted[i]->offset + room_of(sorted[i]);
    *out_size = end > *out_size ? end : *out_size;
  }
  leati_free(sorted);
  return LEAT_OK;
}
