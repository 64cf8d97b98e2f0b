#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Resize along one dimension by a filter, cubic or linear, which `stretch` makes wider where fewer elements are made of
// more. A thread computes one element from all that the filter weighs. Those beyond the ends are the ones at the ends, or
// have no weight (EXCLUDE_OUTSIDE).
#include "core/kernels/leat.glsl"
#include "resize_place.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(bool, CUBIC, false);
LEAT_CONSTANT(bool, EXCLUDE_OUTSIDE, false);
LEAT_CONSTANT(bool, NORMALISE, false);  // weights are divided by their sum
struct Args {
  uint64_t x, y;  // compact
  uint count;     // elements of y
  uint inner;     // from one element along the dimension to the next
  uint size_in, size_out;
  int first;      // of the elements that are weighed, from the one below a coordinate on,
  int taps;       // and how many there are
  float stretch;  // distances are multiplied by it: 1, or less
  float a;        // of the cubic
  uint keep_digits;
  float shift, span, factor, divisor, offset, less;  // as place_of() takes them
};
LEAT_ARGS

float weight_at(float distance) {
  const float t = abs(distance) * args.stretch;
  if (!CUBIC) {
    return max(1.0 - t, 0.0);
  }
  const float a = args.a;
  return t <= 1.0  ? ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0
         : t < 2.0 ? ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a
                   : 0.0;
}

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  const uint lines = i / args.inner, outer = lines / args.size_out;
  const uint begin = outer * args.size_in * args.inner + (i - lines * args.inner);
  const float at = place_of(lines - outer * args.size_out, args.shift, args.span, args.factor, args.divisor,
                            args.offset, args.less, args.keep_digits != 0);
  const float below = floor(at);
  const int last = int(args.size_in) - 1;
  float sum = 0.0, weights = 0.0;
  for (int k = args.first; k < args.first + args.taps; ++k) {
    const int n = int(below) + k;
    const float weight = EXCLUDE_OUTSIDE && (n < 0 || n > last) ? 0.0 : weight_at(float(k) - (at - below));
    // What has no weight has no say, even if it is infinite.
    sum += weight != 0.0 ? weight * F32(args.x).v[begin + uint(clamp(n, 0, last)) * args.inner] : 0.0;
    weights += weight;
  }
  F32(args.y).v[i] = NORMALISE ? sum / weights : sum;
}
