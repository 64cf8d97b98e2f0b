/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/guard.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"

/* Of what lies behind a block this much is watched: the memory of a large block may be megabytes longer than it. */
#define BEHIND_MAX UINT64_C(4096)
/* As a float it is about -1e17 and as an integer far from anything a model computes with, so that a read after free
 * shows in the results. */
#define POISON 0xdbu

/* Byte `i` of the red zones. It depends on the user of the memory, so that a copy of another block's zone is no match.
 */
static unsigned char fence_byte(const leati_guarded *block, uint64_t i) {
  return (unsigned char)(0xa5u ^ (block->generation * 29u + i * 7u));
}

/* Bytes that are watched behind the block. */
static uint64_t behind(const leati_guarded *block) {
  const uint64_t rest = block->room - block->size;
  return rest < BEHIND_MAX ? rest : BEHIND_MAX;
}

void leati_guard_fence(const leati_guarded *block) {
  unsigned char *const before = block->begin - LEATI_GUARD_ZONE;
  unsigned char *const after = block->begin + block->size;
  for (uint64_t i = 0; i < LEATI_GUARD_ZONE; ++i) {
    before[i] = fence_byte(block, i);
  }
  for (uint64_t i = 0; i < behind(block); ++i) {
    after[i] = fence_byte(block, i);
  }
}

static int32_t corrupted(const leati_guarded *block, int64_t offset, const char *where, leat_error *err) {
  return leati_fail(err, LEAT_ERROR_CORRUPTED,
                    "the block at 0x%" PRIx64 " of %" PRIu64 " bytes (generation %" PRIu64
                    ") was written %s: the first bad byte is at offset %" PRId64,
                    block->address, block->size, block->generation, where, offset);
}

int32_t leati_guard_check_fence(const leati_guarded *block, leat_error *err) {
  const unsigned char *const before = block->begin - LEATI_GUARD_ZONE;
  const unsigned char *const after = block->begin + block->size;
  for (uint64_t i = 0; i < LEATI_GUARD_ZONE; ++i) {
    if (before[i] != fence_byte(block, i)) {
      return corrupted(block, (int64_t)i - (int64_t)LEATI_GUARD_ZONE, "before its begin", err);
    }
  }
  for (uint64_t i = 0; i < behind(block); ++i) {
    if (after[i] != fence_byte(block, i)) {
      return corrupted(block, (int64_t)(block->size + i), "behind its end", err);
    }
  }
  return LEAT_OK;
}

void leati_guard_poison(const leati_guarded *block) {
  memset(block->begin - LEATI_GUARD_ZONE, POISON, LEATI_GUARD_ZONE + block->room);
}

int32_t leati_guard_check_poison(const leati_guarded *block, leat_error *err) {
  const unsigned char *const first = block->begin - LEATI_GUARD_ZONE;
  const uint64_t count = LEATI_GUARD_ZONE + block->room;
  /* All are equal if the first is right and each equals the next: one comparison at the speed of the library's. */
  if (first[0] == POISON && memcmp(first, first + 1, count - 1) == 0) {
    return LEAT_OK;
  }
  uint64_t at = 0;
  while (at < count - 1 && first[at] == POISON) {
    ++at;
  }
  return corrupted(block, (int64_t)at - (int64_t)LEATI_GUARD_ZONE, "after it was freed", err);
}
