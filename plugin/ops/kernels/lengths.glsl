// SPDX-License-Identifier: BSD-3-Clause
// How many positions of keys and values each batch has, where tensors on the device say so.
#ifndef LEAT_LENGTHS_GLSL_
#define LEAT_LENGTHS_GLSL_

#include "leat.glsl"

// leati_lengths_args of plugin/ops/kv_cache.h.
struct Lengths {
  uint64_t at;     // a number for each batch; 0: all have `most`
  int stride;      // words of 32 bits from one number to the next
  uint wide;       // 1: numbers of 64 bits
  int added;       // to each, 0 or 1
  int least, most; // what is outside of these becomes one of them, so that no index is derived from it as it is
};

int length_of(const Lengths lengths, uint batch) {
  if (lengths.at == 0) {
    return lengths.most;
  }
  const int i = int(batch) * lengths.stride;
  int count = I32(lengths.at).v[i];
  if (lengths.wide != 0) {
    const int high = I32(lengths.at).v[i + 1];
    count = high < 0 ? -1 : high > 0 || count < 0 ? lengths.most : count;
  }
  return clamp(clamp(count, -1, lengths.most) + lengths.added, lengths.least, lengths.most);
}

#endif
