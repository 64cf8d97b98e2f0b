#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The identity in the place of each matrix of a batch, or NaN where `info` says that the matrix has no inverse.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t y;
  uint64_t info;
  uint count, rows;
  Divider per_rows, per_matrix;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024 + gl_LocalInvocationIndex;
  for (uint n = 0; n < 4 && item < args.count; ++n, item += 256) {
    const uint matrix = divide(item, args.per_matrix), line = divide(item, args.per_rows);
    const bool diagonal = line - matrix * args.rows == item - line * args.rows;
    const Scalar nan = Scalar(uintBitsToFloat(0x7fc00000u));
    Scalars(args.y).v[item] = I32(args.info).v[matrix] != 0 ? nan : Scalar(diagonal ? 1 : 0);
  }
}
