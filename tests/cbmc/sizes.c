/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of blocks and segments, and the classes that they belong to. */
#include "memory/size_class.c"
#include "policy/allocation.c"

#include "outside.h"

/* A request is served with a block that holds it, of the size that its class has: four sizes between powers of two. No
 * request beyond the classes is of one of them.
 * MISTAKE plugin/policy/allocation.c: `(size - base + step - 1) / step` becomes `(size - base) / step`
 * MISTAKE plugin/memory/size_class.c: `needed > LEATI_CLASS_MAX ? LEATI_CLASS_LARGE` becomes
 * `needed > 2 * LEATI_CLASS_MAX ? LEATI_CLASS_LARGE` */
void prove_a_block_holds_its_request(void) {
  const struct leati_memory memory = {.front = 0};
  const uint64_t size = ANY(uint64_t);
  uint64_t block;
  const uint32_t class = leati_class_of(&memory, size, &block);
  PROVE((class == LEATI_CLASS_LARGE) == (size > LEATI_CLASS_MAX) && class <= LEATI_CLASS_LARGE);
  /* What is beyond any device is refused for that. */
  PROVE(block >= size || size > UINT64_MAX - LEATI_LARGE_GRANULE);
  PROVE(block % LEATI_BLOCK_ALIGNMENT == 0);
  if (class != 0 && class != LEATI_CLASS_LARGE) {
    const uint64_t base = LEATI_BLOCK_ALIGNMENT << (class - 1) / 4;
    PROVE(block == base + base / 4 * ((class - 1) % 4 + 1));
  }
}

/* A segment is no larger than it may be, unless one block is, and has one block at least.
 * MISTAKE plugin/policy/allocation.c: `bytes <= block_size ? 1` becomes `bytes <= block_size ? 0`
 * MISTAKE plugin/policy/allocation.c: `bytes > LEATI_SEGMENT_MAX ? LEATI_SEGMENT_MAX` becomes
 * `bytes > LEATI_SEGMENT_MAX ? 2 * LEATI_SEGMENT_MAX` */
void prove_a_segment_has_blocks(void) {
  const uint32_t shift = ANY(uint32_t);
  ASSUME(shift <= 17);
  const uint64_t block = LEATI_BLOCK_ALIGNMENT << shift;
  const uint64_t blocks = leati_segment_blocks(block);
  PROVE(blocks >= 1);
  PROVE(blocks == 1 || blocks << shift <= LEATI_SEGMENT_MAX / LEATI_BLOCK_ALIGNMENT);
}

/* The pieces of a download are whole granules, none is empty, and there are no more than may be.
 * MISTAKE plugin/policy/allocation.c: `(size + pieces - 1) / pieces + LEATI_CHUNK_GRANULE - 1` becomes
 * `(size + pieces - 1) / pieces` */
void prove_pieces_cover_a_download(void) {
  const leati_traits traits = {.discrete = true};
  const uint64_t size = ANY(uint32_t);
  const uint64_t piece = leati_download_piece(&traits, size);
  PROVE(size == 0 || piece != 0);
  PROVE(piece == size || piece % LEATI_CHUNK_GRANULE == 0);
  PROVE(piece >= size || piece * LEATI_DOWNLOAD_PIECES_MAX >= size);
}
