#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Local response normalisation of a compact tensor: each element by the squares of its neighbours in other channels,
// which are added up in their order.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t x, y;
  uint count;
  uint channels, inner; // element i is of channel i / inner % channels
  uint before, after;   // channels that count, beside its own
  float alpha;          // over the number of channels
  float beta, bias;
};
LEAT_ARGS

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  const uint channel = i / args.inner % args.channels;
  const uint first = channel - min(channel, args.before);
  const uint last = min(channel + args.after, args.channels - 1);
  float squares = 0.0;
  uint at = i - (channel - first) * args.inner;
  for (uint n = first; n <= last; ++n, at += args.inner) {
    const float value = ELEMENT(args.x, at);
    squares = fma(value, value, squares);
  }
  REALS(args.y).v[i] = NARROW(ELEMENT(args.x, i) * leat_pow(fma(args.alpha, squares, args.bias), -args.beta));
}
