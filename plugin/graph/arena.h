/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The arena: one block in which lies what nodes leave to other nodes, those that are never needed at the same time one
 * on another.
 */
#ifndef LEAT_PLUGIN_GRAPH_ARENA_H_
#define LEAT_PLUGIN_GRAPH_ARENA_H_

#include <leat/backend.h>

/** Where parts of the arena begin: multiples of this, as blocks do. */
#define LEATI_ARENA_ALIGNMENT UINT64_C(256)

/** A part of the arena, and the levels from which to which it is needed, both included. */
typedef struct leati_lifetime {
  uint64_t size; /**< bytes, not 0 */
  uint32_t first, last;
  uint64_t offset; /**< filled in */
} leati_lifetime;

/** Finds a place for each, such that two share bytes only if no level needs both; gives the size of the whole, and in
 * `out_naive` what it would be if none did.
 * @errors OUT_OF_MEMORY */
int32_t leati_arena_place(leati_lifetime *lifetimes, uint32_t count, uint64_t *out_size, uint64_t *out_naive,
                          leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_ARENA_H_ */
