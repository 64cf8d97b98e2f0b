// SPDX-License-Identifier: BSD-3-Clause
// How many positions of keys and values each batch has, where tensors on the device say so.
#ifndef LEAT_LENGTHS_GLSL_
#define LEAT_LENGTHS_GLSL_

#include "core/kernels/leat.glsl"

// leati_lengths_args of plugin/ops/attention/kv_cache.h.
struct Lengths {
  uint64_t at;     // a number for each batch; 0: all have `most`
  int stride;      // words of 32 bits from one number to the next
  uint wide;       // 1: numbers of 64 bits
  int added;       // to each, 0 or 1
  int least, most; // what is outside of these becomes one of them, so that no index is derived from it as it is
};

// A number of 32 bits, or of 64 if `wide`; -1 or `most` where it is beyond these.
int number_at(uint64_t at, bool wide, int most) {
  int number = I32(at).v[0];
  if (wide) {
    const int high = I32(at).v[1];
    number = high < 0 ? -1 : high > 0 || number < 0 ? most : number;
  }
  return clamp(number, -1, most);
}

int length_of(const Lengths lengths, uint batch) {
  if (lengths.at == 0) {
    return lengths.most;
  }
  const int count = number_at(lengths.at + uint64_t(int(batch) * lengths.stride) * 4, lengths.wide != 0, lengths.most);
  return clamp(count + lengths.added, lengths.least, lengths.most);
}

#endif
