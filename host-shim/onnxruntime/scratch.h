/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Short-lived memory that is freed all at once: what describes a node while it is looked at.
 */
#ifndef LEAT_ONNXRUNTIME_SCRATCH_H_
#define LEAT_ONNXRUNTIME_SCRATCH_H_

#include <stddef.h>

typedef struct leati_scratch_piece leati_scratch_piece;

/** Scratch memory. All zero is an empty one. For one thread at a time. */
typedef struct leati_scratch {
  leati_scratch_piece *pieces; /**< newest first */
} leati_scratch;

/** Gives zeroed memory that lives until leati_scratch_clear().
 * @threads one at a time per scratch memory
 * @param scratch [inout] the memory
 * @param count number of elements; 0 gives a pointer that may not be read
 * @param size bytes of an element
 * @return the memory, aligned for anything; NULL: out of memory */
void *leati_scratch_alloc(leati_scratch *scratch, size_t count, size_t size);

/** Frees everything in scratch memory, which is empty then.
 * @threads one at a time per scratch memory
 * @param scratch [inout] the memory */
void leati_scratch_clear(leati_scratch *scratch);

#endif /* LEAT_ONNXRUNTIME_SCRATCH_H_ */
