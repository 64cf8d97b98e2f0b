#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The scale and the zero point by which uint8 holds the elements of a tensor and 0. Workgroups take chunks of it, the one
// that comes last puts their ranges together; a single one also quantises the elements.
#include "leat.glsl"
#include "quotient.glsl"
#include "split.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t x, y, scale, zero;
  uint64_t pieces, counters; // where there are several chunks
  uint count, chunks, chunk; // elements in all, chunks, and elements of one
};
LEAT_ARGS

shared vec2 ranges[256];

// The range of 0 and of what all threads have.
vec2 joined(vec2 range) {
  const uint t = gl_LocalInvocationIndex;
  ranges[t] = range;
  [[unroll]] for (uint half_way = 128; half_way > 0; half_way /= 2) {
    barrier();
    if (t < half_way) {
      const vec2 other = ranges[t + half_way];
      ranges[t] = vec2(min(ranges[t].x, other.x), max(ranges[t].y, other.y));
    }
  }
  barrier();
  return ranges[0];
}

vec2 with(vec2 range, float x) { return vec2(min(range.x, x), max(range.y, x)); }

void main() {
  const uint t = gl_LocalInvocationIndex, group = leat_linear_group();
  if (group >= args.chunks) {
    return;
  }
  const uint begin = group * args.chunk, end = min(args.count, begin + args.chunk);
  vec2 range = vec2(0);
  for (uint i = begin + t; i < end; i += 1024) {
    float x[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      x[j] = F32(args.x).v[min(i + j * 256, end - 1)];
    }
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      range = with(range, x[j]);
    }
  }
  range = joined(range);
  if (args.chunks > 1) {
    if (t == 0) {
      Pieces(args.pieces).v[group] = vec4(range, 0, 0);
    }
    if (!split_last(args.counters, 0, args.chunks)) {
      return;
    }
    range = vec2(0);
    for (uint c = t; c < args.chunks; c += 256) {
      const vec4 piece = Pieces(args.pieces).v[c];
      range = vec2(min(range.x, piece.x), max(range.y, piece.y));
    }
    range = joined(range);
  }
  const float exact = exact_quotient(range.y - range.x, 255.0), scale = exact > 0.0 ? exact : 1.0;
  // Not rounded to a whole number before it is subtracted from 0; that changes nothing but the sign.
  const int zero = int(clamp(roundEven(-exact_quotient(range.x, scale)), 0.0, 255.0));
  if (t == 0) {
    F32(args.scale).v[0] = scale;
    U8(args.zero).v[0] = uint8_t(zero);
  }
  if (args.chunks == 1) {
    for (uint i = t; i < args.count; i += 256) {
      U8(args.y).v[i] = uint8_t(quantized(LEAT_ANY_F32, F32(args.x).v[i], scale, zero, 0, 255));
    }
  }
}
