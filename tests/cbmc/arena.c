/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the arena of what nodes of a graph leave to other nodes. */
#include "graph/arena.c"

#include "outside.h"

#define PARTS 4

/* Sorts as the C library does, with whatever order it is told. */
void qsort(void *items, size_t count, size_t size, int (*compare_items)(const void *, const void *)) {
  leati_lifetime **const parts = items;
  PROVE(size == sizeof(parts[0]));
  for (size_t i = 1; i < count; ++i) {
    for (size_t j = i; j > 0 && compare_items(&parts[j - 1], &parts[j]) > 0; --j) {
      leati_lifetime *const swapped = parts[j];
      parts[j] = parts[j - 1];
      parts[j - 1] = swapped;
    }
  }
}

/* Two parts that a level needs share no byte, each begins at a multiple of the alignment and ends within the whole,
 * which is no larger than if none shared any.
 * UNWIND 5
 * MISTAKE plugin/graph/arena.c: `live[i]->last >= lifetime->first` becomes `live[i]->last > lifetime->first`
 * MISTAKE plugin/graph/arena.c: `end > *out_size ? end : *out_size` becomes `end` */
void prove_parts_that_live_at_once_lie_apart(void) {
  leati_lifetime parts[PARTS];
  for (int i = 0; i < PARTS; ++i) {
    parts[i].size = (parts[i].size & 1023) + 1;
    parts[i].first = (uint32_t)i;
    parts[i].last = (uint32_t)i + (parts[i].last & 3);
  }
  uint64_t whole, naive;
  if (leati_arena_place(parts, PARTS, &whole, &naive, NULL) == LEAT_OK) {
    PROVE(whole <= naive);
    const int i = ANY(uint8_t) & 3, j = ANY(uint8_t) & 3;
    const bool at_once = i != j && parts[i].first <= parts[j].last && parts[j].first <= parts[i].last;
    PROVE(parts[i].offset % LEATI_ARENA_ALIGNMENT == 0 && parts[j].offset + parts[j].size <= whole);
    PROVE(!at_once || parts[i].offset + parts[i].size <= parts[j].offset ||
          parts[j].offset + parts[j].size <= parts[i].offset);
  }
}

/* No sum of sizes wraps, whatever the sizes are.
 * UNWIND 3 CHECKS --unsigned-overflow-check
 * MISTAKE plugin/graph/arena.c: `lifetimes[i].size > BYTES_MAX || *out_naive > BYTES_MAX` becomes
 * `*out_naive > BYTES_MAX` */
void prove_sizes_of_parts_do_not_overflow(void) {
  leati_lifetime parts[2];
  parts[0].first = parts[0].last = parts[1].first = parts[1].last = 0;
  ASSUME(parts[0].size != 0 && parts[1].size != 0);
  uint64_t whole, naive;
  if (leati_arena_place(parts, 2, &whole, &naive, NULL) == LEAT_OK) {
    PROVE(whole >= parts[0].size && whole - parts[0].size >= parts[1].size);
  }
}
