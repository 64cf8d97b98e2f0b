/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/hash.h"

#include <string.h>

uint64_t leati_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  uint64_t word;
  /* Nothing and zero differ. */
  hash = leati_hash_word(hash, size * UINT64_C(0x9e3779b97f4a7c15));
  for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
    memcpy(&word, at, sizeof(word));
    hash = leati_hash_word(hash, word);
  }
  word = 0;
  if (size != 0) {
    memcpy(&word, at, size);
  }
  return leati_hash_word(hash, word);
}
