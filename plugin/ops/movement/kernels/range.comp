#version 460
// SPDX-License-Identifier: BSD-3-Clause
// start + i * delta in type TYPE; of floats it is rounded once more for those of 16 bits.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/types.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t dst;
  int64_t start;  // float: the bits of a float32
  int64_t delta;
  uint count;
};
LEAT_ARGS

#if defined(REAL)
float number(int64_t bits) { return intBitsToFloat(int(bits)); }
#else
#define number LEAT_JOIN(T_, TYPE)
#endif

void main() {
  uint i = leat_linear_group() * 256u + gl_LocalInvocationIndex;
  if (i >= args.count) return;
  precise LEAT_JOIN(T_, TYPE) x = number(args.start) + LEAT_JOIN(T_, TYPE)(i) * number(args.delta);
  LEAT_JOIN(store_, TYPE)(args.dst + uint64_t(i) * LEAT_JOIN(SIZE_, TYPE), x);
}
