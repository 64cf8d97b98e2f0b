#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Which element of the diagonal of each matrix of a batch, counted from 1, is the first that is 0; 0: none is.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

layout(local_size_x = 64) in;

struct Args {
  Block a;
  uint64_t info;
  uint rows, matrices;
};
LEAT_ARGS

shared uint found[64];

void main() {
  const uint thread = gl_LocalInvocationIndex, matrix = leat_linear_group();
  if (matrix >= args.matrices) {
    return;
  }
  uint first = args.rows;
  for (uint row = thread; row < args.rows && first == args.rows; row += 64) {
    first = element(args.a, matrix, row, row) == Scalar(0) ? row : first;
  }
  found[thread] = first;
  for (uint n = 32; n > 0; n /= 2) {
    barrier();
    if (thread < n) {
      found[thread] = min(found[thread], found[thread + n]);
    }
  }
  if (thread == 0) {
    I32(args.info).v[matrix] = found[0] == args.rows ? 0 : int(found[0] + 1);
  }
}
