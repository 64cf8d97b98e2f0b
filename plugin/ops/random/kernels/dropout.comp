#version 460
// SPDX-License-Identifier: BSD-3-Clause
// x / (1 - ratio) or 0, and which of the two; four for each thread, which may write where it has read.
#extension GL_GOOGLE_include_directive : require
#include "philox.glsl"

layout(local_size_x = 256) in;

LEAT_CONSTANT(uint, quads, 0);   // fours of x and y can be moved at once
LEAT_CONSTANT(uint, masked, 0);  // the mask is wanted

struct Args {
  uint64_t y;
  uint64_t mask;
  uint64_t x;
  Random random;
  float ratio;
  float scale;
  uint count;
};
LEAT_ARGS

void main() {
  uint block = leat_linear_group() * 256u + gl_LocalInvocationIndex;
  uint first = block * 4u;
  if (first >= args.count) return;
  uvec4 words = random_words(args.random, block, 0u);
  bool kept[4];
  for (uint i = 0u; i < 4u; ++i) kept[i] = random_uniform(words[i]) >= args.ratio;
  uint count = min(4u, args.count - first);
  uint64_t from = args.x + uint64_t(first) * LEAT_JOIN(SIZE_, TYPE), to = args.y + uint64_t(first) * LEAT_JOIN(SIZE_, TYPE);
  if (quads != 0u && count == 4u) {
    float x[4];
    LEAT_JOIN(load4_, TYPE)(from, x);
    for (uint i = 0u; i < 4u; ++i) x[i] = kept[i] ? x[i] * args.scale : 0.0;
    LEAT_JOIN(store4_, TYPE)(to, x);
  } else {
    for (uint i = 0u; i < count; ++i) {
      float x = LEAT_JOIN(load_, TYPE)(from + uint64_t(i) * LEAT_JOIN(SIZE_, TYPE));
      LEAT_JOIN(store_, TYPE)(to + uint64_t(i) * LEAT_JOIN(SIZE_, TYPE), kept[i] ? x * args.scale : 0.0);
    }
  }
  if (masked != 0u) {
    for (uint i = 0u; i < count; ++i) store_BOOL(args.mask + uint64_t(first + i), kept[i]);
  }
}
