#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Lines of numbers of 2, 4 or 8 bits, the first in the lowest bits of a byte, as floats: each less its zero point, which
// is half of the range where there is none, times the scale of its block. An index out of range gives 0.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/reals.glsl"
#include "core/kernels/divider.glsl"
#include "index.glsl"

layout(local_size_x = 256) in;

// The C struct is gather_args in ops/index/gather_quantized.c.
struct Args {
  uint64_t data, indices, scales, zeros, y;
  uint count, line, rows;
  uint bits;
  uint size, inner;
  uint block_shift, blocks;
  uint last, last_bytes;
  Divider per_line, per_inner, per_size, per_last;
  uint64_t finding;
};
LEAT_ARGS

// Number `at` of those that begin at a byte.
float number_of(uint64_t bytes, uint first, uint at) {
  const uint per_byte = 8 / args.bits;
  return float(uint(U8(bytes).v[first + at / per_byte]) >> at % per_byte * args.bits & ((1u << args.bits) - 1));
}

float value_of(uint x, uint at) {
  // Which block, in the order of the scales, whose lines have `blocks` where those of the data have `size`.
  const uint outer_at = divide(at, args.per_inner), i = at - outer_at * args.inner;
  const uint outer = divide(outer_at, args.per_size), q = outer_at - outer * args.size;
  const uint outers = args.line / (args.size * args.inner);
  const uint block = ((x * outers + outer) * args.blocks + (q >> args.block_shift)) * args.inner + i;
  float zero = float(1u << (args.bits - 1));
  if (args.zeros != 0) {
    const uint row = divide(block, args.per_last);
    zero = number_of(args.zeros, row * args.last_bytes, block - row * args.last);
  }
  const uint per_byte = 8 / args.bits;
  return (number_of(args.data, x * (args.line / per_byte), at) - zero) * ELEMENT(args.scales, block);
}

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    const uint j = divide(item, args.per_line);
    const int64_t x = index_load(args.indices, j, args.rows, args.finding);
    REALS(args.y).v[item] = NARROW(x >= int64_t(0) ? value_of(uint(x), item - j * args.line) : 0);
  }
}
