/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Guarding (LEAT_MEMORY_GUARD): bytes that tell whether something wrote outside of a block, or into one that was freed.
 *
 * A held block lies between two red zones. A freed one is poisoned as a whole, zones and all, and stays so for a while.
 * These are plain functions of mapped memory; memory/quarantine.c decides when they are called, and sees to it that
 * nothing is legally writing there.
 */
#ifndef LEAT_PLUGIN_MEMORY_GUARD_H_
#define LEAT_PLUGIN_MEMORY_GUARD_H_

#include <leat/backend.h>

/** Bytes of the red zone before a block. The one behind it has at least as many. */
#define LEATI_GUARD_ZONE UINT64_C(256)

/** A block as the host sees it. */
typedef struct leati_guarded {
  unsigned char *begin; /**< its first byte, mapped; LEATI_GUARD_ZONE bytes before it belong to it too */
  uint64_t address;     /**< device address of `begin` */
  uint64_t size;        /**< bytes that were asked for */
  uint64_t room;        /**< bytes from `begin` to the end of its red zone, at least `size` and a zone */
  uint64_t generation;  /**< which user of this memory it is; the zones depend on it */
} leati_guarded;

/** Writes the red zones. */
void leati_guard_fence(const leati_guarded *block);
/** Looks at the red zones.
 * @errors CORRUPTED: something wrote there */
int32_t leati_guard_check_fence(const leati_guarded *block, leat_error *err);
/** Fills the block and its zones with a pattern that no use leaves behind. */
void leati_guard_poison(const leati_guarded *block);
/** Looks whether the pattern is still there.
 * @errors CORRUPTED: something wrote there after the block was freed */
int32_t leati_guard_check_poison(const leati_guarded *block, leat_error *err);

#endif /* LEAT_PLUGIN_MEMORY_GUARD_H_ */
