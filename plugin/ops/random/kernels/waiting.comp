#version 460
// SPDX-License-Identifier: BSD-3-Clause
// How long until something happens: exponentially distributed by its rate, or where TRIALS is defined the number of the
// first trial that succeeds, by the probability of that; four for each thread.
#extension GL_GOOGLE_include_directive : require
#include "philox.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t dst;
  uint64_t x;
  Random random;
  uint count;
};
LEAT_ARGS

float wait(float x, uint word) {
  precise float logarithm = -exact_log(random_positive(word));
#if defined(TRIALS)
  precise float failure = -exact_log1p(-max(min(x, 0.999999940), 1.0e-30));
  precise float trials = logarithm * exact_reciprocal(failure);
  precise float y = floor(trials) + 1.0;
  return x >= 1.0 ? 1.0 : y;
#else
  precise float y = logarithm * exact_reciprocal(clamp(x, 1.17549435e-38, 8.0e37));
  return leat_isinf(x) ? 0.0 : y;
#endif
}

void main() {
  uint block = leat_linear_group() * 256u + gl_LocalInvocationIndex;
  if (block * 4u >= args.count) return;
  uvec4 words = random_words(args.random, block, 0u);
  for (uint i = 0u; i < min(4u, args.count - block * 4u); ++i) {
    uint64_t at = uint64_t(block * 4u + i) * LEAT_JOIN(SIZE_, TYPE);
    float x = LEAT_JOIN(load_, TYPE)(args.x + at);
    LEAT_JOIN(store_, TYPE)(args.dst + at, x > 0.0 ? wait(x, words[i]) : leat_nan());
  }
}
