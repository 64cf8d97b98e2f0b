#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Weights of 4 bits as floats: two a byte, the first in its higher bits, in blocks that have a scale each.
#include "core/kernels/reals.glsl"
#include "float4.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, NORMAL, 0); // 1: NF4, 0: FP4
struct Args {
  uint64_t bytes, scales, y;
  uint count;
  uint block_shift; // a block has 2^block_shift weights
};
LEAT_ARGS

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  const uint packed = uint(U8(args.bytes).v[i >> 1]);
  const float weight = float4_of(NORMAL != 0, (i & 1) != 0 ? packed : packed >> 4);
  REALS(args.y).v[i] = NARROW(weight * ELEMENT(args.scales, i >> args.block_shift));
}
