#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The Cholesky factor of a block on the diagonal of each matrix of a batch. A workgroup has a block.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

layout(local_size_x = 256) in;

struct Args {
  Block a;
  uint64_t info;
  uint rows;
  uint first;  // row of the matrix that row 0 is
  uint matrices;
};
LEAT_ARGS

shared Scalar tile[BLOCK * (BLOCK + 1)];

void main() {
  const uint thread = gl_LocalInvocationIndex, matrix = leat_linear_group();
  if (matrix >= args.matrices || (args.first != 0 && is_refused(args.info, matrix, args.a))) {
    return;
  }
  for (uint n = thread; n < BLOCK * BLOCK; n += 256) {
    const uint row = n / BLOCK, column = n % BLOCK;
    tile[row * (BLOCK + 1) + column] =
        row < args.rows && column <= row ? element(args.a, matrix, row, column) : Scalar(0);
  }
  barrier();
  uint failed = 0;
  for (uint k = 0; k < args.rows && failed == 0; ++k) {
    const Scalar square = tile[k * (BLOCK + 1) + k];
    // A NaN is not positive.
    if (!(square > Scalar(0))) {
      failed = args.first + k + 1;
      break;
    }
    // The device's root may be a few units off; a step of Newton's method mends it.
    const Scalar near = sqrt(square), root = isinf(square) ? square : Scalar(0.5) * (near + square / near);
    barrier();
    if (thread == k) {
      tile[k * (BLOCK + 1) + k] = root;
    } else if (thread > k && thread < args.rows) {
      tile[thread * (BLOCK + 1) + k] /= root;
    }
    barrier();
    for (uint n = thread; n < BLOCK * BLOCK; n += 256) {
      const uint row = n / BLOCK, column = n % BLOCK;
      if (column > k && column <= row && row < args.rows) {
        tile[row * (BLOCK + 1) + column] -= tile[row * (BLOCK + 1) + k] * tile[column * (BLOCK + 1) + k];
      }
    }
    barrier();
  }
  for (uint n = thread; n < BLOCK * BLOCK; n += 256) {
    const uint row = n / BLOCK, column = n % BLOCK;
    if (row < args.rows && column <= row) {
      set_element(args.a, matrix, row, column, tile[row * (BLOCK + 1) + column]);
    }
  }
  if (thread == 0 && (args.first == 0 || failed != 0)) {
    I32(args.info).v[matrix] = int(failed);
  }
}
