#version 460
// SPDX-License-Identifier: BSD-3-Clause
// 0 to count - 1 in another order: a Feistel network permutes all numbers of 2 `half_bits` bits, and a number that is too large is
// permuted again, until it is not.
#extension GL_GOOGLE_include_directive : require
#include "philox.glsl"

layout(local_size_x = 256) in;

#define ROUNDS 16u

struct Args {
  uint64_t dst;
  Random random;
  uint count;
  uint half_bits;
};
LEAT_ARGS

shared uint keys[ROUNDS];

uint scramble(uint x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

void main() {
  uint thread = gl_LocalInvocationIndex;
  if (thread < ROUNDS / 4u) {
    uvec4 words = random_words(args.random, thread, 0u);
    for (uint i = 0u; i < 4u; ++i) keys[thread * 4u + i] = words[i];
  }
  barrier();
  uint e = leat_linear_group() * 256u + thread;
  if (e >= args.count) return;
  uint mask = (1u << args.half_bits) - 1u;
  uint number = e;
  do {
    uint left = number >> args.half_bits, right = number & mask;
    for (uint r = 0u; r < ROUNDS; ++r) {
      uint next = left ^ (scramble(right ^ keys[r]) & mask);
      left = right;
      right = next;
    }
    number = (left << args.half_bits) | right;
  } while (number >= args.count);
  LEAT_JOIN(store_, TYPE)(args.dst + uint64_t(e) * LEAT_JOIN(SIZE_, TYPE), LEAT_JOIN(T_, TYPE)(number));
}
