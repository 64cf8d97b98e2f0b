/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Short-lived memory that is freed all at once: what describes a node while it is looked at.
 */
#ifndef LEAT_ONNXRUNTIME_ARENA_H_
#define LEAT_ONNXRUNTIME_ARENA_H_

#include <stddef.h>

typedef struct leati_arena_piece leati_arena_piece;

/** An arena. All zero is an empty one. For one thread at a time. */
typedef struct leati_arena {
  leati_arena_piece *pieces; /**< newest first */
} leati_arena;

/** Gives zeroed memory that lives until leati_arena_clear().
 * @threads one at a time per arena
 * @param arena [inout] the arena
 * @param count number of elements; 0 gives a pointer that may not be read
 * @param size bytes of an element
 * @return the memory, aligned for anything; NULL: out of memory */
void *leati_arena_alloc(leati_arena *arena, size_t count, size_t size);

/** Frees everything in the arena, which is empty then.
 * @threads one at a time per arena
 * @param arena [inout] the arena */
void leati_arena_clear(leati_arena *arena);

#endif /* LEAT_ONNXRUNTIME_ARENA_H_ */
