#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Hardmax. A workgroup has a line; its threads look for the largest of every 64th element, and put what they found
// together by twos. A NaN is never the largest.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/divider.glsl"
#include "core/kernels/types.glsl"

layout(local_size_x = 64) in;

struct Args {
  uint64_t x, y;  // compact
  uint lines, size, inner;
  Divider per_inner;
};
LEAT_ARGS

shared float largest[64];
shared uint where[64];

uint64_t address(uint64_t tensor, uint at) {
  return tensor + uint64_t(at) * uint64_t(LEAT_JOIN(SIZE_, TYPE));
}

void main() {
  const uint thread = gl_LocalInvocationIndex, line = leat_linear_group();
  if (line >= args.lines) {
    return;
  }
  const uint outer = divide(line, args.per_inner);
  const uint first = outer * args.size * args.inner + line - outer * args.inner;
  float best = LOWEST_F32;
  uint at = args.size;
  for (uint k = thread; k < args.size; k += 64) {
    const float x = LEAT_JOIN(load_, TYPE)(address(args.x, first + k * args.inner));
    if (x > best || (x == best && at == args.size)) {
      best = x;
      at = k;
    }
  }
  largest[thread] = best;
  where[thread] = at;
  for (uint n = 32; n > 0; n /= 2) {
    barrier();
    if (thread < n) {
      const float other = largest[thread + n];
      if (other > largest[thread] || (other == largest[thread] && where[thread + n] < where[thread])) {
        largest[thread] = other;
        where[thread] = where[thread + n];
      }
    }
  }
  barrier();
  // Of nothing but NaN the first.
  const uint place = where[0] == args.size ? 0 : where[0];
  for (uint k = thread; k < args.size; k += 64) {
    LEAT_JOIN(store_, TYPE)(address(args.y, first + k * args.inner), k == place ? 1.0 : 0.0);
  }
}
