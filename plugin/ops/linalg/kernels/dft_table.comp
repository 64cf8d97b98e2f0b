#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Cosine and sine of each `size`th of a turn: table[2 r] = cos(2 pi r / size), table[2 r + 1] = sin(2 pi r / size). Angles
// are brought into an eighth of a turn by whole numbers, so that zeros and ones are exact, and all others off by no more
// than 2.5e-7: 1.3e-7 of leat_sin(), and three roundings of an angle below pi/4.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t table;
  uint size;
};
LEAT_ARGS

void main() {
  const uint r = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (r >= args.size) {
    return;
  }
  // r / size turns are `quarter` quarters and rest / size of one more, which is mirrored at its middle.
  const uint64_t fours = 4ul * uint64_t(r);
  const uint quarter = uint(fours / uint64_t(args.size));
  const uint rest = uint(fours - uint64_t(quarter) * uint64_t(args.size));
  const bool mirrored = rest > args.size - rest;
  const float angle = float(mirrored ? args.size - rest : rest) / float(args.size) * 1.57079633;
  const float small = leat_sin(angle, 0), large = leat_sin(angle, 1);
  const float cosine = mirrored ? small : large, sine = mirrored ? large : small;
  F32(args.table).v[2 * r] = quarter == 0 ? cosine : quarter == 1 ? -sine : quarter == 2 ? -cosine : sine;
  F32(args.table).v[2 * r + 1] = quarter == 0 ? sine : quarter == 1 ? cosine : quarter == 2 ? -sine : -cosine;
}
