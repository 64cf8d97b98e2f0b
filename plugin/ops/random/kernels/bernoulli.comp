#version 460
// SPDX-License-Identifier: BSD-3-Clause
// An item of `item` bytes, `one` with the probability that an element has, else zero; four for each thread.
#extension GL_GOOGLE_include_directive : require
#include "philox.glsl"

layout(local_size_x = 256) in;

LEAT_CONSTANT(uint, item, 1);

struct Args {
  uint64_t dst;
  uint64_t probabilities;
  Random random;
  uint64_t one;
  uint count;
};
LEAT_ARGS

void main() {
  uint block = leat_linear_group() * 256u + gl_LocalInvocationIndex;
  if (block * 4u >= args.count) return;
  uvec4 words = random_words(args.random, block, 0u);
  for (uint i = 0u; i < min(4u, args.count - block * 4u); ++i) {
    uint64_t at = uint64_t(block * 4u + i);
    bool is_one =
        random_uniform(words[i]) < LEAT_JOIN(load_, TYPE)(args.probabilities + at * LEAT_JOIN(SIZE_, TYPE));
    uint64_t value = is_one ? args.one : uint64_t(0);
    uint64_t p = args.dst + at * uint64_t(item);
    switch (item) {
      case 1u: U8(p).v[0] = uint8_t(value); break;
      case 2u: U16(p).v[0] = uint16_t(value); break;
      case 4u: U32(p).v[0] = uint(value); break;
      default: U64(p).v[0] = value;
    }
  }
}
