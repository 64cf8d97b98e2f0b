/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Hashes of 64 bits for tables inside of a process: quick, and for nobody's security.
 */
#ifndef LEAT_COMMON_HASH_H_
#define LEAT_COMMON_HASH_H_

#include <stddef.h>
#include <stdint.h>

/** The hash of what has `hash` with a word behind it; what begins has 0.
 * @threads any */
static inline uint64_t leati_hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
  return hash ^ hash >> 32;
}

/** The same with bytes behind it, and their number.
 * @threads any */
uint64_t leati_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif /* LEAT_COMMON_HASH_H_ */
