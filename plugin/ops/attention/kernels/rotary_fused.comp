#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Elements times cosines, plus those half a last dimension further, negated, or half of one before, times sines.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"

#define THREADS 256
#define EACH 4 // elements of a thread
layout(local_size_x = THREADS) in;

// Strides in elements; 0 of what is broadcast.
struct Args {
  uint64_t x, cosines, sines, y; // y is compact
  int x_strides[4], cosine_strides[4], sine_strides[4];
  uint count;
  uint sizes[3]; // of the dimensions behind the first
  Divider per_size[3];
};
LEAT_ARGS

int offset(const int strides[4], const uint at[4]) {
  return int(at[0]) * strides[0] + int(at[1]) * strides[1] + int(at[2]) * strides[2] + int(at[3]) * strides[3];
}

void main() {
  uint item = leat_linear_group() * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count; ++n, item += THREADS) {
    uint at[4], left = item;
    [[unroll]] for (int d = 3; d > 0; --d) {
      const uint above = divide(left, args.per_size[d - 1]);
      at[d] = left - above * args.sizes[d - 1];
      left = above;
    }
    at[0] = left;
    const int half_of = int(args.sizes[2] / 2), from = offset(args.x_strides, at);
    const bool first = int(at[3]) < half_of;
    const float other = ELEMENT(args.x, from + (first ? half_of : -half_of) * args.x_strides[3]);
    const float crossed = (first ? -other : other) * ELEMENT(args.sines, offset(args.sine_strides, at));
    REALS(args.y).v[item] =
        NARROW(fma(ELEMENT(args.x, from), ELEMENT(args.cosines, offset(args.cosine_strides, at)), crossed));
  }
}
