#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Where the pixels of images are after an affine map for each: an invocation computes one coordinate. Before it they lie
// evenly from -1 to 1, which are the middles of the pixels at the ends or their outer edges.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t theta, y;  // compact
  uint count, dimensions;
  Divider per_dimensions, per_size[3];
  int size[3];  // width, height, depth
  uint aligned;
};
LEAT_ARGS

// Place `i` of a line of pixels, with one rounding. A single pixel whose middle is both ends is at the last one.
float place_of(int i, int size) {
  const int steps = args.aligned != 0 ? size - 1 : size;
  return steps == 0 ? 1.0 : float(2 * i + (args.aligned != 0 ? 0 : 1) - steps) / float(steps);
}

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  uint rest = divide(i, args.per_dimensions);
  const uint row = i - rest * args.dimensions;
  float place[3];
  [[unroll]] for (int d = 0; d < 3; ++d) {
    const uint next = divide(rest, args.per_size[d]);
    place[d] = place_of(int(rest) - int(next) * args.size[d], args.size[d]);
    rest = next;
  }
  const uint begin = (rest * args.dimensions + row) * (args.dimensions + 1);
  float sum = 0;
  [[unroll]] for (uint d = 0; d < 3; ++d) {
    if (d < args.dimensions) {
      sum += ELEMENT(args.theta, begin + d) * place[d];
    }
  }
  REALS(args.y).v[i] = NARROW(sum + ELEMENT(args.theta, begin + args.dimensions));
}
