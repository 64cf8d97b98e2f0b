#version 460
// SPDX-License-Identifier: BSD-3-Clause
// c -= a b, for a block of each matrix of a batch. A workgroup has 64 rows and columns of c, a thread 4 by 4 of them;
// the terms of an element are added up from the first to the last.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

#define TILE 64
#define DEPTH 16

layout(local_size_x = 256) in;

struct Args {
  Block a, b, c;
  uint64_t info;  // or 0
  uint rows, columns, depth;
  uint row_tiles, column_tiles, matrices;
  Divider per_row_tiles, per_column_tiles;
  uint lower;  // 1: what is above the diagonal of c stays
};
LEAT_ARGS

shared Scalar a_tile[DEPTH * TILE], b_tile[DEPTH * TILE];

void main() {
  const uint group = leat_linear_group(), thread = gl_LocalInvocationIndex;
  const uint line = divide(group, args.per_column_tiles), matrix = divide(line, args.per_row_tiles);
  const uint row0 = (line - matrix * args.row_tiles) * TILE, column0 = (group - line * args.column_tiles) * TILE;
  if (matrix >= args.matrices || is_refused(args.info, matrix, args.c) || (args.lower != 0 && column0 >= row0 + TILE)) {
    return;
  }
  const uint r = thread >> 4, c = thread & 15;
  Scalar sums[16];
  [[unroll]] for (uint i = 0; i < 16; ++i) {
    sums[i] = Scalar(0);
  }
  for (uint k0 = 0; k0 < args.depth; k0 += DEPTH) {
    [[unroll]] for (uint i = 0; i < DEPTH * TILE / 256; ++i) {
      // Neighbours in memory go to neighbouring threads, whichever stride is 1.
      const uint n = i * 256 + thread;
      const uint ak = abs(args.a.column) == 1 ? n % DEPTH : n / TILE, ar = abs(args.a.column) == 1 ? n / DEPTH : n % TILE;
      const uint bk = abs(args.b.column) == 1 ? n / TILE : n % DEPTH, bc = abs(args.b.column) == 1 ? n % TILE : n / DEPTH;
      a_tile[ak * TILE + ar] =
          row0 + ar < args.rows && k0 + ak < args.depth ? element(args.a, matrix, row0 + ar, k0 + ak) : Scalar(0);
      b_tile[bk * TILE + bc] = column0 + bc < args.columns && k0 + bk < args.depth
                                   ? element(args.b, matrix, k0 + bk, column0 + bc)
                                   : Scalar(0);
    }
    barrier();
    for (uint k = 0; k < min(DEPTH, args.depth - k0); ++k) {
      Scalar a[4], b[4];
      [[unroll]] for (uint i = 0; i < 4; ++i) {
        a[i] = a_tile[k * TILE + r + 16 * i];
        b[i] = b_tile[k * TILE + c + 16 * i];
      }
      [[unroll]] for (uint i = 0; i < 16; ++i) {
        sums[i] += a[i >> 2] * b[i & 3];
      }
    }
    barrier();
  }
  [[unroll]] for (uint i = 0; i < 16; ++i) {
    const uint row = row0 + r + 16 * (i >> 2), column = column0 + c + 16 * (i & 3);
    if (row < args.rows && column < args.columns && (args.lower == 0 || column <= row)) {
      set_element(args.c, matrix, row, column, element(args.c, matrix, row, column) - sums[i]);
    }
  }
}
