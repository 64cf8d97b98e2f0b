#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Batch normalisation with given mean and variance, of a compact tensor. A thread computes four neighbouring elements.
#include "reals.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, QUADS, 0); // 1: four elements are of one channel and aligned
struct Args {
  uint64_t x, y, scale, bias, mean, variance;
  uint count;
  uint channels, inner; // element i is of channel i / inner % channels
  float epsilon;
};
LEAT_ARGS

// The factor and the addend that a channel comes down to.
vec2 channel_of(uint i) {
  const uint channel = i / args.inner % args.channels;
  const float factor = ELEMENT(args.scale, channel) / sqrt(ELEMENT(args.variance, channel) + args.epsilon);
  return vec2(factor, ELEMENT(args.bias, channel) - ELEMENT(args.mean, channel) * factor);
}

void main() {
  const uint i = (leat_linear_group() * 256 + gl_LocalInvocationIndex) * 4;
  if (i >= args.count) {
    return;
  }
  if (QUADS != 0) {
    const vec2 channel = channel_of(i);
    REALS4(args.y).v[i >> 2] = NARROW4(fma(QUAD(args.x, i >> 2), vec4(channel.x), vec4(channel.y)));
    return;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (i + j < args.count) {
      const vec2 channel = channel_of(i + j);
      REALS(args.y).v[i + j] = NARROW(fma(ELEMENT(args.x, i + j), channel.x, channel.y));
    }
  }
}
