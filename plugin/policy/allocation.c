/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/allocation.h"

_Static_assert(LEATI_CHUNK_GRANULE *LEATI_DOWNLOAD_PIECES_MAX <= LEATI_DOWNLOAD_PIECE,
               "rounded up, the pieces of a download but the last are less than the whole");
_Static_assert((LEATI_LARGE_GRANULE & (LEATI_LARGE_GRANULE - 1)) == 0 &&
                   (LEATI_CHUNK_GRANULE & (LEATI_CHUNK_GRANULE - 1)) == 0,
               "sizes are rounded up to powers of two");

uint64_t leati_block_size_for(uint64_t size, uint64_t alignment) {
  if (size <= alignment) {
    return alignment;
  }
  if (size > LEATI_CLASS_MAX) {
    return (size + LEATI_LARGE_GRANULE - 1) & ~(LEATI_LARGE_GRANULE - 1);
  }
  /* Between 2^k and 2^(k+1) there are four sizes, where those are multiples of the alignment. */
  const uint64_t base = UINT64_C(1) << (63u - (unsigned)__builtin_clzll(size - 1));
  const uint64_t step = base / 4 > alignment ? base / 4 : alignment;
  return base + (size - base + step - 1) / step * step;
}

uint32_t leati_segment_blocks(uint64_t block_size) {
  uint64_t bytes = block_size * LEATI_BLOCKS_PER_SEGMENT;
  bytes = bytes > LEATI_SEGMENT_MAX ? LEATI_SEGMENT_MAX : bytes < LEATI_SEGMENT_MIN ? LEATI_SEGMENT_MIN : bytes;
  return bytes <= block_size ? 1 : (uint32_t)(bytes / block_size);
}

uint64_t leati_chunk_size_for(uint64_t standard, uint64_t size) {
  return size > standard ? (size + LEATI_CHUNK_GRANULE - 1) & ~(LEATI_CHUNK_GRANULE - 1) : standard;
}

uint64_t leati_download_piece(const leati_traits *traits, uint64_t size) {
  uint64_t pieces = traits->discrete ? size / LEATI_DOWNLOAD_PIECE : 0;
  pieces = pieces < LEATI_DOWNLOAD_PIECES_MAX ? pieces : LEATI_DOWNLOAD_PIECES_MAX;
  return pieces < 2 ? size : ((size + pieces - 1) / pieces + LEATI_CHUNK_GRANULE - 1) & ~(LEATI_CHUNK_GRANULE - 1);
}

bool leati_quarantine_is_full(uint32_t blocks, uint64_t block_size) {
  return blocks > 1 && (blocks > LEATI_QUARANTINE_BLOCKS || blocks * block_size > LEATI_QUARANTINE_BYTES);
}

uint64_t leati_reclaim_target(uint64_t high, uint64_t low, uint64_t wanted, uint64_t least) {
  const uint64_t room = high - (wanted <= high ? wanted : least);
  return low < room ? low : room;
}
