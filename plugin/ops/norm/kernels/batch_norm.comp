#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Batch normalisation with given mean and variance, of a compact tensor or one in NHWC layout (LAST). A thread
// computes four neighbouring elements.
#include "core/kernels/reals.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, QUADS, 0); // 1: four elements are of one channel and aligned
LEAT_CONSTANT(uint, LAST, 0);  // 1: they are of one pixel and aligned
struct Args {
  uint64_t x, y, scale, bias, mean, variance;
  uint count;
  uint channels, inner; // element i is of channel i / inner % channels
  uint pitch_in, pitch_out; // LAST: elements from one pixel to the next
  float epsilon;
};
LEAT_ARGS

// The factor and the addend that a channel comes down to.
vec2 line_of(float scale, float bias, float mean, float variance) {
  const float factor = scale / sqrt(variance + args.epsilon);
  return vec2(factor, bias - mean * factor);
}

// Those of the channel of an element.
vec2 channel_of(uint i) {
  const uint channel = i / args.inner % args.channels;
  return line_of(ELEMENT(args.scale, channel), ELEMENT(args.bias, channel), ELEMENT(args.mean, channel),
                 ELEMENT(args.variance, channel));
}

void main() {
  const uint i = (leat_linear_group() * 256 + gl_LocalInvocationIndex) * 4;
  if (i >= args.count) {
    return;
  }
  if (LAST != 0) {
    const uint pixel = i / args.channels, first = i - pixel * args.channels;
    const vec4 scale = QUAD(args.scale, first >> 2), bias = QUAD(args.bias, first >> 2);
    const vec4 mean = QUAD(args.mean, first >> 2), variance = QUAD(args.variance, first >> 2);
    vec4 value = QUAD(args.x, (pixel * args.pitch_in + first) >> 2);
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const vec2 channel = line_of(scale[j], bias[j], mean[j], variance[j]);
      value[j] = fma(value[j], channel.x, channel.y);
    }
    REALS4(args.y).v[(pixel * args.pitch_out + first) >> 2] = NARROW4(value);
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
