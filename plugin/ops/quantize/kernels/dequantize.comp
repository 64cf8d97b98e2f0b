#version 460
// SPDX-License-Identifier: BSD-3-Clause
// (x - zero point) * scale, rounded to TYPE once.
#include "elementwise/kernels/any.glsl"
#include "elementwise/kernels/floats.glsl"
#include "scales.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, TYPE_IN, 0); // LEAT_ANY_... of x and its zero points, an integer type
struct Args {
  uint64_t x, scale, zero, y; // zero: 0 for none
  uint type_scale;            // LEAT_ANY_..., a float
  SCALE_ARGS
};
LEAT_ARGS

#define EACH 4

void main() {
  const uint first = leat_linear_group() * (EACH * 256) + gl_LocalInvocationIndex;
  [[unroll]] for (uint n = 0; n < EACH; ++n) {
    const uint i = first + n * 256;
    if (i < args.count) {
      const uint at = SCALE_PLACE(i);
      int64_t x = any_load(TYPE_IN, args.x + uint64_t(i) * any_size(TYPE_IN)).i;
      if (args.zero != 0) {
        x -= any_load(TYPE_IN, args.zero + uint64_t(at) * any_size(TYPE_IN)).i;
      }
      const float scale = load_float(args.type_scale, args.scale, at);
      REALS(args.y).v[i] = NARROW(float(x) * scale);
    }
  }
}
