/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How much memory is taken at once, what is kept for reuse, and how small copies go. Pure functions; bytes.
 */
#ifndef LEAT_PLUGIN_POLICY_ALLOCATION_H_
#define LEAT_PLUGIN_POLICY_ALLOCATION_H_

#include "policy/constants.h"
#include "policy/traits.h"

/** Blocks of a segment, within the two bounds that follow. */
#define LEATI_BLOCKS_PER_SEGMENT 64u
/** Bytes of a segment at least. */
#define LEATI_SEGMENT_MIN (UINT64_C(64) << 10)
/** Bytes of a segment at most, unless one block has more. */
#define LEATI_SEGMENT_MAX (UINT64_C(16) << 20)
/** Bytes that large blocks are rounded up to (the pages of drivers). */
#define LEATI_LARGE_GRANULE (UINT64_C(2) << 20)
/** A free large block serves a request if it is larger by one part in so many of itself at most. */
#define LEATI_LARGE_SLACK_PART 4
/** Bytes of the largest input or output of a graph that kernels read or write across a bus, where it is staged (16 KiB
 * take the bus a microsecond, a copy 3 to 6). */
#define LEATI_STAGED_MAX (UINT64_C(16) << 10)
/** Pieces of a download at most: of a larger one the pieces are larger. */
#define LEATI_DOWNLOAD_PIECES_MAX 16
/** Bytes of the largest download that is copied to its destination with its timeline locked (some microseconds of
 * copying). */
#define LEATI_DELIVERY_SMALL_MAX (UINT64_C(64) << 10)
/** Blocks of a class that wait in the quarantine under LEAT_MEMORY_GUARD, within the bytes that follow, yet always one.
 * */
#define LEATI_QUARANTINE_BLOCKS 16u
#define LEATI_QUARANTINE_BYTES (UINT64_C(16) << 20)

/** Bytes of the block that a request is served with: a multiple of `alignment`, a power of two of at least 4. Up to
 * LEATI_CLASS_MAX they are those of a size class: powers of two with three steps between. */
uint64_t leati_block_size_for(uint64_t size, uint64_t alignment);
/** Blocks of a size in a segment. */
uint32_t leati_segment_blocks(uint64_t block_size);

/** Whether a free block of `has` bytes serves a request that `wanted` are for. */
static inline bool leati_block_serves(uint64_t has, uint64_t wanted) {
  return has >= wanted && has - wanted <= has / LEATI_LARGE_SLACK_PART;
}
/** Whether a timeline keeps a free block of a size for what its stream records next. */
static inline bool leati_block_is_kept(uint64_t block_size) {
  return block_size <= LEATI_KEPT_BLOCK_MAX;
}
/** Whether blocks of a size come from memory that the host has mapped. Larger ones gain nothing: what fills them is
 * better fetched by the device than sent by the host, and mapping all of a device's memory would cost page tables. */
static inline bool leati_block_is_mapped(uint64_t block_size) {
  return block_size <= LEATI_MAPPED_BLOCK_MAX;
}
/** Whether an upload of a size may be a write of the host. */
static inline bool leati_upload_is_direct(uint64_t size) {
  return size <= LEATI_DIRECT_UPLOAD_MAX;
}
/** Bytes of the largest download that a kernel writes rather than a copy command; 0: none. Where the device is not a
 * discrete GPU, a dispatch costs more than any copy. */
static inline uint64_t leati_kernel_download_max(const leati_traits *traits) {
  return traits->discrete ? LEATI_KERNEL_DOWNLOAD_MAX : 0;
}
/** Bytes of the largest input or output of a graph on the host that kernels read or write where it is staged, so that
 * no copy brings it to memory of the device or from there. `own`: it is staged in the device's own memory. */
static inline uint64_t leati_staged_max(bool own) {
  return own ? UINT64_MAX : LEATI_STAGED_MAX;
}
/** Bytes of the parts that a download of `size` goes in, each after the first in a list of its own, so that the host
 * copies one while the device copies the next; `size`: it goes whole. Where the device works in the host's memory there
 * is nothing to gain: nothing crosses a bus. */
uint64_t leati_download_piece(const leati_traits *traits, uint64_t size);
/** Whether a download is copied to its destination in a moment, so that its timeline may be locked meanwhile. */
static inline bool leati_delivery_is_small(uint64_t size) {
  return size <= LEATI_DELIVERY_SMALL_MAX;
}
/** Whether it is copied past the processor's caches. */
static inline bool leati_delivery_is_huge(uint64_t size) {
  return size >= LEATI_DELIVERY_HUGE_MIN;
}
/** Bytes of a chunk of staging for `size`, where `standard` are usual. */
uint64_t leati_chunk_size_for(uint64_t standard, uint64_t size);
/** Whether the quarantine of a class has more than it should, with so many blocks of a size. */
bool leati_quarantine_is_full(uint32_t blocks, uint64_t block_size);
/** Bytes down to which idle memory is given back when `wanted` more do not fit below the high watermark, `high`, of
 * which `least` must. Down to the low one, so that not every allocation that follows has to. */
uint64_t leati_reclaim_target(uint64_t high, uint64_t low, uint64_t wanted, uint64_t least);

#endif /* LEAT_PLUGIN_POLICY_ALLOCATION_H_ */
