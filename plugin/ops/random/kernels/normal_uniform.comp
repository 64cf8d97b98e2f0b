#version 460
// SPDX-License-Identifier: BSD-3-Clause
// start + width * number, of normal numbers where NORMAL is defined, else of even ones; four for each thread.
#extension GL_GOOGLE_include_directive : require
#include "philox.glsl"

layout(local_size_x = 256) in;

LEAT_CONSTANT(uint, quads, 0);

struct Args {
  uint64_t dst;
  Random random;
  float start;
  float width;
  uint count;
};
LEAT_ARGS

void main() {
  uint block = leat_linear_group() * 256u + gl_LocalInvocationIndex;
  uint first = block * 4u;
  if (first >= args.count) return;
  uvec4 words = random_words(args.random, block, 0u);
  float x[4];
#if defined(NORMAL)
  random_normals(words.x, words.y, x[0], x[1]);
  random_normals(words.z, words.w, x[2], x[3]);
#else
  for (uint i = 0u; i < 4u; ++i) x[i] = random_uniform(words[i]);
#endif
  for (uint i = 0u; i < 4u; ++i) {
    precise float y = args.start + args.width * x[i];
    x[i] = y;
  }
  uint64_t p = args.dst + uint64_t(first) * LEAT_JOIN(SIZE_, TYPE);
  if (quads != 0u && first + 4u <= args.count) {
    LEAT_JOIN(store4_, TYPE)(p, x);
  } else {
    for (uint i = 0u; i < min(4u, args.count - first); ++i) {
      LEAT_JOIN(store_, TYPE)(p + uint64_t(i) * LEAT_JOIN(SIZE_, TYPE), x[i]);
    }
  }
}
