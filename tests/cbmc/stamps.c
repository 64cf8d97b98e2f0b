/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps: a block is used again when all work that uses it has passed. */
#include "memory/block.c"

#include "outside.h"

#define TIMELINES 5

/* Timelines are told apart by their addresses, and nothing else of them is looked at. */
static unsigned char timelines[TIMELINES];
static uint64_t reached[TIMELINES];

static leati_timeline *timeline_at(uint32_t i) {
  return (leati_timeline *)&timelines[i];
}

bool leati_timeline_passed(leati_timeline *timeline, uint64_t value) {
  bool passed = false;
  for (uint32_t i = 0; i < TIMELINES; ++i) {
    passed = passed || (timeline == timeline_at(i) && reached[i] >= value);
  }
  return passed;
}

/* Whether all that a block was stamped with has passed, but for what `except` stands for. */
static bool all_passed(const uint64_t last[TIMELINES], uint32_t except) {
  bool passed = true;
  for (uint32_t i = 0; i < TIMELINES; ++i) {
    passed = passed && (i == except || reached[i] >= last[i]);
  }
  return passed;
}

/* A free block that was stamped by five timelines, one of them twice, is given to anybody only if all has passed, and
 * to what follows on a timeline if all of the others has; to nobody where host memory ran out for a stamp. UNWIND 6
 * MISTAKE plugin/memory/block.c: `at->value = at->value > value ? at->value : value;` becomes ``
 * MISTAKE plugin/memory/block.c: `block->pinned = true;` becomes ``
 * MISTAKE plugin/memory/block.c: `at->timeline != timeline && !leati_timeline_passed(at->timeline, at->value)` becomes
 * `at->timeline == timeline && !leati_timeline_passed(at->timeline, at->value)` */
void prove_no_block_is_used_again_early(void) {
  leati_block block = {.index = 0};
  uint64_t last[TIMELINES];
  for (uint32_t i = 0; i < TIMELINES; ++i) {
    leati_block_stamp(&block, timeline_at(i), last[i]);
    reached[i] = ANY(uint64_t);
  }
  const uint64_t again = ANY(uint64_t);
  ASSUME(again > last[2]);
  leati_block_stamp(&block, timeline_at(2), last[2] = again);
  const bool passed = all_passed(last, TIMELINES);
  PROVE(leati_block_reusable(&block, NULL) == (passed && !block.pinned));
  PROVE(leati_block_idle(&block) == (passed && !block.pinned));
  PROVE(leati_block_reusable(&block, timeline_at(0)) == (all_passed(last, 0) && !block.pinned));
  PROVE(leati_block_reusable(&block, timeline_at(4)) == (all_passed(last, 4) && !block.pinned));
  PROVE(block.pinned || block.stamp_count == TIMELINES - 1);
}

/* An address and so many bytes on both sides of it lie in a block, wherever it is, or they are said not to.
 * MISTAKE plugin/memory/block.c: `offset <= size && after <= size - offset` becomes `after <= size - offset`
 * MISTAKE plugin/memory/block.c: `after <= size - offset` becomes `offset + after <= size` */
void prove_what_a_block_holds(void) {
  leati_segment home = {.address = ANY(uint64_t), .block_size = ANY(uint64_t)};
  const leati_block block = {.home = &home, .size = ANY(uint64_t)};
  ASSUME(block.size <= home.block_size && home.address <= UINT64_MAX - home.block_size);
  const uint64_t address = ANY(uint64_t), before = ANY(uint64_t), after = ANY(uint64_t);
  if (leati_block_holds(&block, address, before, after)) {
    PROVE(address >= home.address && address - home.address >= before);
    PROVE(address - home.address <= block.size && after <= block.size - (address - home.address));
  }
}
