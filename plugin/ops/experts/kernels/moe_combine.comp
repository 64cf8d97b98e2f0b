#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Adds up the results of the experts that each token takes, times their weights.
#include "core/kernels/reals.glsl"

#define THREADS 256
#define EACH 4 // elements of a thread
layout(local_size_x = THREADS) in;

struct Args {
  uint64_t results, weights, y; // results and weights of float32, [token][taken][width] and [token][taken]
  uint count, width, taken;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count; ++n, item += THREADS) {
    const uint token = item / args.width, column = item - token * args.width;
    float sum = 0;
    for (uint k = 0; k < args.taken; ++k) {
      const uint pair = token * args.taken + k;
      sum = fma(F32(args.weights).v[pair], F32(args.results).v[pair * args.width + column], sum);
    }
    REALS(args.y).v[item] = NARROW(sum);
  }
}
