#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The determinant of each matrix of a batch, of its LU factors: the product of the diagonal, with another sign if an odd
// number of rows was swapped. A thread multiplies every 64th element, and the products are multiplied by twos.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

layout(local_size_x = 64) in;

struct Args {
  Block a;
  uint64_t pivots;
  uint64_t y;
  uint rows, matrices;
};
LEAT_ARGS

shared Scalar products[64];

void main() {
  const uint thread = gl_LocalInvocationIndex, matrix = leat_linear_group();
  if (matrix >= args.matrices) {
    return;
  }
  Scalar product = Scalar(1);
  for (uint row = thread; row < args.rows; row += 64) {
    const bool swapped = uint(I32(args.pivots).v[matrix * args.rows + row]) != row + 1;
    product *= swapped ? -element(args.a, matrix, row, row) : element(args.a, matrix, row, row);
  }
  products[thread] = product;
  for (uint n = 32; n > 0; n /= 2) {
    barrier();
    if (thread < n) {
      products[thread] *= products[thread + n];
    }
  }
  if (thread == 0) {
    Scalars(args.y).v[matrix] = products[0];
  }
}
