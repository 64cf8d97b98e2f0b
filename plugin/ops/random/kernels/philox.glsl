// SPDX-License-Identifier: BSD-3-Clause
// Random numbers by counter: Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1,
// 2, 3" (2011). abi/leat/backend.h says which counters are whose.
#ifndef LEAT_PHILOX_GLSL_
#define LEAT_PHILOX_GLSL_

#include "core/kernels/types.glsl"
#include "exact.glsl"

// Which numbers a kernel takes, as leati_random_args of ops/random/random_numbers.h.
struct Random {
  uint64_t key;
  uint64_t stream;
  uint64_t offset;  // address of an int64 that is added to `stream`, if has_offset says that there is one
};

LEAT_CONSTANT(uint, has_offset, 0);

uvec4 philox(uvec4 counter, uvec2 key) {
  for (int round = 0; round < 10; ++round) {
    uint high0, low0, high1, low1;
    umulExtended(0xd2511f53u, counter.x, high0, low0);
    umulExtended(0xcd9e8d57u, counter.z, high1, low1);
    counter = uvec4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key += uvec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return counter;
}

// Four words: those of block `block`, or of attempt `attempt` of element `block`.
uvec4 random_words(Random random, uint block, uint attempt) {
  uint64_t stream = random.stream;
  if (has_offset != 0) stream += U64(random.offset).v[0];
  return philox(uvec4(block, attempt, uint(stream), uint(stream >> 32)), uvec2(uint(random.key), uint(random.key >> 32)));
}

// In [0, 1), of 24 bits.
float random_uniform(uint word) { return float(word >> 8) * 5.96046448e-8; }

// In (0, 1]: the first 24 significant bits of (word + 1) 2^-32.
float random_positive(uint word) {
  uint n = word + 1u;
  if (n == 0u) return 1.0;
  uint zeros = uint(31 - findMSB(n));
  return uintBitsToFloat(((126u - zeros) << 23) + (((n << zeros) >> 8) & 0x007fffffu));
}

// Two normal numbers by Box and Muller: the radius of one word, and the angle of the first 26 bits of another one.
void random_normals(uint first, uint second, out float x, out float y) {
  precise float square = -2.0 * exact_log(random_positive(first));
  float radius = exact_sqrt(square);
  uint quadrant = (second + 0x20000000u) >> 30;
  precise float r = float(int(second - (quadrant << 30)) >> 6) * 9.36267571e-8;  // 2 pi / 2^26
  precise float s = r * r;
  precise float p = -0.000198393303 + s * 2.71827435e-6;
  p = 0.00833332911 + s * p;
  p = -0.16666667 + s * p;
  precise float odd = r + r * s * p;
  precise float q = 2.47999701e-5 + s * -2.72448915e-7;
  q = -0.00138888857 + s * q;
  q = 0.041666668 + s * q;
  precise float even = 1.0 - 0.5 * s + s * s * q;
  float sine = (quadrant & 1u) == 0u ? odd : even, cosine = (quadrant & 1u) == 0u ? even : odd;
  if (((quadrant + 1u) & 2u) != 0u) cosine = -cosine;
  if ((quadrant & 2u) != 0u) sine = -sine;
  precise float along = radius * cosine;
  precise float across = radius * sine;
  x = along;
  y = across;
}

#endif
