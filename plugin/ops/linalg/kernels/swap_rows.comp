#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Swaps rows of each matrix of a batch as pivots say, one after the other or from the last to the first. A thread has a
// column. A pivot that names no row swaps nothing.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

layout(local_size_x = 64) in;

struct Args {
  Block a;
  uint64_t pivots;
  uint64_t info;  // or 0
  uint rows, columns, matrices;
  Divider per_columns;
  uint skip, skipped;  // columns from `skip` on, so many, stay; they are not counted as columns
  uint first, last;    // pivots
  uint pivot_count;    // of a matrix
  uint backward;
};
LEAT_ARGS

void main() {
  const uint n = leat_linear_group() * 64 + gl_LocalInvocationIndex, matrix = divide(n, args.per_columns);
  if (matrix >= args.matrices || is_refused(args.info, matrix, args.a)) {
    return;
  }
  const uint counted = n - matrix * args.columns;
  const uint column = counted < args.skip ? counted : counted + args.skipped;
  for (uint i = args.first; i < args.last; ++i) {
    const uint row = args.backward != 0 ? args.last - 1 - (i - args.first) : i;
    const uint other = uint(I32(args.pivots).v[matrix * args.pivot_count + row]) - 1;
    if (other != row && other < args.rows) {
      const Scalar x = element(args.a, matrix, row, column);
      set_element(args.a, matrix, row, column, element(args.a, matrix, other, column));
      set_element(args.a, matrix, other, column, x);
    }
  }
}
