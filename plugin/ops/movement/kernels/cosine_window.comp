#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Windows that rise and fall as a polynomial of the square of a sine.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t y;
  uint count;
  uint steps;  // from one zero of the sine to the next
  float coefficients[3];
};
LEAT_ARGS

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  // The falling half is the rising one, backwards, with the same bits.
  const uint step = min(i, args.steps - i);
  const float sine = leat_sin(float(step) / float(args.steps) * 3.14159265, 0);
  const float square = sine * sine;
  REALS(args.y).v[i] =
      NARROW(args.coefficients[0] + square * (args.coefficients[1] + square * args.coefficients[2]));
}
