#version 460
// SPDX-License-Identifier: BSD-3-Clause
// (x - zero point) * scale, which have the type TYPE of the scale; rounded once more where that has 16 bits. A scale and
// a zero point are for a block of elements along one dimension.
#include "any.glsl"
#include "reals.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, TYPE_IN, 0); // LEAT_ANY_... of x and its zero points, an integer type
struct Args {
  uint64_t x, scale, zero, y; // zero: 0 for none
  uint count;
  uint size, inner;           // elements of the dimension, and of those behind it
  uint block;                 // elements of the dimension that have one scale
  uint outer_step, size_step, inner_step; // from one scale to the next
};
LEAT_ARGS

#define EACH 4

void main() {
  const uint first = leat_linear_group() * (EACH * 256) + gl_LocalInvocationIndex;
  [[unroll]] for (uint n = 0; n < EACH; ++n) {
    const uint i = first + n * 256;
    if (i < args.count) {
      const uint rest = i / args.inner, outer = rest / args.size;
      const uint at = outer * args.outer_step + (rest - outer * args.size) / args.block * args.size_step +
                      (i - rest * args.inner) * args.inner_step;
      int64_t x = any_load(TYPE_IN, args.x + uint64_t(i) * any_size(TYPE_IN)).i;
      if (args.zero != 0) {
        x -= any_load(TYPE_IN, args.zero + uint64_t(at) * any_size(TYPE_IN)).i;
      }
      REALS(args.y).v[i] = NARROW(float(x) * ELEMENT(args.scale, at));
    }
  }
}
