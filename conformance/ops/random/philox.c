/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/random/philox.h"

void leati_ref_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
  uint32_t k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = (uint64_t)c[0] * 0xD2511F53u, second = (uint64_t)c[2] * 0xCD9E8D57u;
    c[0] = (uint32_t)(second >> 32) ^ c[1] ^ k[0];
    c[1] = (uint32_t)second;
    c[2] = (uint32_t)(first >> 32) ^ c[3] ^ k[1];
    c[3] = (uint32_t)first;
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i) {
    out[i] = c[i];
  }
}
