#version 460
// SPDX-License-Identifier: BSD-3-Clause
// LinearAttentionGate: by head, decay = scale softplus(a + bias) and beta = sigmoid(b).
#include "core/kernels/reals.glsl"
#include "elementwise/kernels/functions.glsl"

#define THREADS 256
#define EACH 4 // elements of a thread
layout(local_size_x = THREADS) in;

struct Args {
  uint64_t a, bias, scale, b; // bias and scale of float32, one for each head; b: 0 for none
  uint64_t decay, beta;       // beta: 0 for none
  uint count, heads;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count; ++n, item += THREADS) {
    const uint head = item % args.heads;
    const float x = ELEMENT(args.a, item) + F32(args.bias).v[head];
    REALS(args.decay).v[item] = NARROW(F32(args.scale).v[head] * function_softplus(x));
    if (args.beta != 0) {
      REALS(args.beta).v[item] = NARROW(leat_sigmoid(ELEMENT(args.b, item)));
    }
  }
}
