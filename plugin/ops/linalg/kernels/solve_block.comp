#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Solves l x = b in the place of b, for a lower triangular block l of each matrix of a batch. A workgroup has 8 columns
// of b; a row is done when those above it have been subtracted from it, one after the other.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

#define COLUMNS 8

layout(local_size_x = 256) in;  // BLOCK * COLUMNS

struct Args {
  Block l, x;
  uint64_t info;  // or 0
  uint rows, columns;
  uint column_groups, matrices;
  Divider per_column_groups;
  uint unit;  // 1: elements of the diagonal count as 1
};
LEAT_ARGS

shared Scalar triangle[BLOCK * (BLOCK + 1)];
shared Scalar solved[2 * COLUMNS];

void main() {
  const uint group = leat_linear_group(), thread = gl_LocalInvocationIndex;
  const uint matrix = divide(group, args.per_column_groups);
  if (matrix >= args.matrices || is_refused(args.info, matrix, args.x)) {
    return;
  }
  for (uint n = thread; n < BLOCK * BLOCK; n += 256) {
    const uint row = n / BLOCK, column = n % BLOCK;
    triangle[row * (BLOCK + 1) + column] =
        row < args.rows && column <= row ? element(args.l, matrix, row, column) : Scalar(1);
  }
  const uint row = thread / COLUMNS, c = thread % COLUMNS;
  const uint column = (group - matrix * args.column_groups) * COLUMNS + c;
  const bool in_range = row < args.rows && column < args.columns;
  Scalar x = in_range ? element(args.x, matrix, row, column) : Scalar(0);
  barrier();
  for (uint k = 0; k < args.rows; ++k) {
    // Two places in turn: who is slow still reads the one before.
    const uint at = (k & 1) * COLUMNS + c;
    if (row == k) {
      x = args.unit != 0 ? x : x / triangle[k * (BLOCK + 1) + k];
      solved[at] = x;
    }
    barrier();
    if (row > k) {
      x -= triangle[row * (BLOCK + 1) + k] * solved[at];
    }
  }
  if (in_range) {
    set_element(args.x, matrix, row, column, x);
  }
}
