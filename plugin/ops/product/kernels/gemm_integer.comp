#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Product of matrices of int8 or uint8 by tiles; operands with any strides.
#include "core/kernels/leat.glsl"
#include "integer.glsl"

LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);

#define BYTES
#include "tile_number.glsl"

Sides sides;
uint k_end;

// Four ints along k, or of four rows (columns) at the same four k.
ivec4 fetch4(const uint mode, uint64_t base, uint i, uint count, uint word, int step_i, int step_k, uint turn) {
  uvec4 w = uvec4(0);
  if (mode == 0 && i < count && 4 * word < k_end) {
    return ivec4(U32x4(base).v[(int(i) * step_i + int(4 * word)) >> 4] ^ turn);
  }
  if (mode != 0 && i < count) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (4 * word + j < k_end) {
        w[j] = U32(base).v[(int(i) + int(4 * word + j) * step_k) >> 2] ^ turn;
      }
    }
  }
  return transposed(w);
}
int fetch(uint64_t base, uint i, uint count, uint word, int step_i, int step_k, uint turn, bool words) {
  const int at = int(i) * step_i + int(4 * word) * step_k;
  if (i >= count || 4 * word >= k_end) {
    return 0;
  }
  return words ? int(U32(base).v[at >> 2] ^ turn) : four_bytes(base, at, step_k, 4 * word, k_end, turn);
}

ivec4 fetch_a4(uint i, uint word) {
  return fetch4(MODE_A, sides.a, i, args.m, word, args.a_row, args.a_k, args.a_turn);
}
int fetch_a(uint i, uint word) {
  return fetch(sides.a, i, args.m, word, args.a_row, args.a_k, args.a_turn, (args.words & WORDS_A) != 0);
}
ivec4 fetch_b4(uint i, uint word) {
  return fetch4(MODE_B, sides.b, i, args.n, word, args.b_column, args.b_k, args.b_turn);
}
int fetch_b(uint i, uint word) {
  return fetch(sides.b, i, args.n, word, args.b_column, args.b_k, args.b_turn, (args.words & WORDS_B) != 0);
}

#include "gemm_tile.glsl"

// Brings the zero points in, of the tile at a row and a column and so many of k.
void correct(uint t, uint row0, uint column0, uint count) {
  int zeros[TN], column_sums[TN];
  [[unroll]] for (uint c = 0; c < TN; ++c) {
    const uint column = kept_column(t, c / 4) + c % 4;
    zeros[c] = zero_of_column(sides, min(column0 + column, args.n - 1));
    column_sums[c] = operand_sum_of(BM + column);
  }
  [[unroll]] for (uint i = 0; i < KEPT; ++i) {
    const uint row = kept_row(t, i);
    const int zero = zero_of_row(sides, min(row0 + row, args.m - 1));
    const int rest = int(count) * zero - operand_sum_of(row);
    [[unroll]] for (uint c = 0; c < TN; ++c) {
      sums[i][c / 4][c % 4] += zeros[c] * rest - zero * column_sums[c];
    }
  }
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  const uint k_begin = tile.split * args.k_chunk, row0 = tile.row * BM, column0 = tile.column * BN;
  k_end = min(args.k, k_begin + args.k_chunk);
  sides = sides_of(tile.batch);
  tile_product(row0, column0, k_begin / 4, (k_end + 3) / 4);
  const uint t = gl_LocalInvocationIndex % HOLDERS;
  correct(t, row0, column0, k_end - k_begin);
  const Result result = result_of_all();
  if (!tile_join(tile)) {
    return;
  }
  const bool wide = (args.vector & VECTOR_C) != 0 && args.a_scale == 0;
  // What a loop goes through by number is a copy, so that the sums themselves stay in registers.
  ivec4 held[KEPT * TN / 4];
  [[unroll]] for (uint i = 0; i < KEPT; ++i) {
    const uint row = row0 + kept_row(t, i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = column0 + kept_column(t, q);
      held[i * (TN / 4) + q] = sums[i][q];
      if (wide && row < args.m && column < args.n) {
        U32x4(args.c).v[(tile.batch * args.c_batch + row * uint(args.c_row) + column) >> 2] = uvec4(sums[i][q]);
      }
    }
  }
  if (wide) {
    return;
  }
  for (uint e = 0; e < KEPT * TN; ++e) {
    const uint i = e / TN, c = e % TN;
    const uint row = row0 + kept_row(t, i), column = column0 + kept_column(t, c / 4) + c % 4;
    if (row < args.m && column < args.n) {
      store_sum(sides, result, tile.batch, row, column, held[e / 4][e % 4]);
    }
  }
}
