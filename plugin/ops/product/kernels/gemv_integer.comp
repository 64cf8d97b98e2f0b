#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Product of matrices of int8 or uint8 for up to 8 rows: every byte of b is read once, by one thread, and used for
// all rows. The threads of a workgroup share out its columns and k, and add up in shared memory.
#include "core/kernels/leat.glsl"
#include "integer.glsl"
#include "core/kernels/split.glsl"

LEAT_CONSTANT(uint, ROWS, 1);    // 1, 2, 4, 8: not less than args.m
LEAT_CONSTANT(uint, ALONG_K, 0); // neighbouring threads: 0 along columns, 1 along k, 2 along k by sixteens, 3 along
                                 // columns by fours
LEAT_CONSTANT(uint, LANES, 16);  // threads that columns are shared out to, up to 16
#define THREADS 256
layout(local_size_x = THREADS) in;
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer Totals { int v[]; };

const uint WIDTH = ALONG_K == 3 ? 4 : 1; // columns of a thread
const uint COLUMNS = LANES * WIDTH;      // of a workgroup
const uint PARTS = THREADS / LANES;      // that k is shared out to
#define DEPTH 4 // ints of k that a thread has on the way at once

shared int totals[8 * 64]; // by row and column

// Of this thread: where its rows of a begin, and sums by row and column, of the rows of a, and of the columns of b.
// Rows beyond the last repeat it; what they give is not written.
Sides sides;
int a_row[8], row_sums[8];
ivec4 sums[8], column_sums;

int left(uint i, uint k, uint k_end) {
  const int at = a_row[i] + int(k) * args.a_k;
  return (args.words & WORDS_A) != 0 ? int(U32(sides.a).v[at >> 2] ^ args.a_turn)
                                     : four_bytes(sides.a, at, args.a_k, k, k_end, args.a_turn);
}

// Adds the products of ints of four k from k on, of WIDTH columns.
void add(ivec4 b, uint k, uint k_end) {
  [[unroll]] for (uint c = 0; c < WIDTH; ++c) {
    column_sums[c] = dot4(b[c], ONES, column_sums[c]);
  }
  [[unroll]] for (uint i = 0; i < ROWS; ++i) {
    const int a = left(i, k, k_end);
    row_sums[i] = dot4(a, ONES, row_sums[i]);
    [[unroll]] for (uint c = 0; c < WIDTH; ++c) {
      sums[i][c] = dot4(a, b[c], sums[i][c]);
    }
  }
}

void add_singles(uint64_t column, uint k, uint end) {
  for (; k < end; k += 4 * PARTS) {
    const int at = int(k) * args.b_k;
    const int b = (args.words & WORDS_B) != 0 ? int(U32(column).v[at >> 2] ^ args.b_turn)
                                              : four_bytes(column, at, args.b_k, k, end, args.b_turn);
    add(ivec4(b), k, end);
  }
}

void add_sixteens(uint64_t column, uint k, uint end) {
  for (; k < end; k += 16 * PARTS) {
    const ivec4 b = ivec4(U32x4(column).v[k >> 4] ^ args.b_turn);
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      add(ivec4(b[j]), k + 4 * j, end);
    }
  }
}

void add_columns(uint64_t columns, uint k, uint end) {
  for (; k < end; k += 4 * DEPTH * PARTS) {
    uvec4 b[DEPTH];
    [[unroll]] for (uint j = 0; j < 4 * DEPTH; ++j) {
      // What is beyond the end is read from the last, and is 0.
      const uint word = U32(columns).v[(int(min(k + j, end - 1)) * args.b_k) >> 2] ^ args.b_turn;
      b[j / 4][j % 4] = k + j < end ? word : 0;
    }
    [[unroll]] for (uint j = 0; j < DEPTH; ++j) {
      if (k + 4 * j < end) {
        add(transposed(b[j]), k + 4 * j, end);
      }
    }
  }
}

void main() {
  const uint t = gl_LocalInvocationIndex, group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const uint outer = divide(group, args.per_tiles), split = divide(outer, args.per_batch), batch = outer - split * args.batch;
  const uint column0 = (group - outer * args.tiles_n) * COLUMNS;
  const bool across = ALONG_K == 0 || ALONG_K == 3;
  const uint own = (across ? t % LANES : t / PARTS) * WIDTH, part = across ? t / LANES : t % PARTS;
  const uint begin = split * args.k_chunk, end = min(args.k, begin + args.k_chunk);
  sides = sides_of(batch);
  column_sums = ivec4(0);
  [[unroll]] for (uint i = 0; i < 8; ++i) {
    sums[i] = ivec4(0);
    row_sums[i] = 0;
    a_row[i] = int(min(i, args.m - 1)) * args.a_row;
  }
  for (uint e = t; e < ROWS * COLUMNS; e += THREADS) {
    totals[e] = 0;
  }
  barrier();
  if (column0 + own < args.n) {
    const uint64_t b = sides.b + uint64_t(int(column0 + own) * args.b_column);
    if (ALONG_K == 2) {
      add_sixteens(b, begin + 16 * part, end);
    } else if (ALONG_K == 3) {
      add_columns(b, begin + 4 * DEPTH * part, end);
    } else {
      add_singles(b, begin + 4 * part, end);
    }
    const int count = part == 0 ? int(end - begin) : 0;
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
      const int zero_a = zero_of_row(sides, min(i, args.m - 1));
      [[unroll]] for (uint c = 0; c < WIDTH; ++c) {
        const int zero_b = zero_of_column(sides, min(column0 + own + c, args.n - 1));
        atomicAdd(totals[i * COLUMNS + own + c],
                  sums[i][c] + zero_b * (count * zero_a - row_sums[i]) - zero_a * column_sums[c]);
      }
    }
  }
  barrier();
  const uint number = group - split * args.tiles, size = ROWS * COLUMNS;
  const Result result = result_of_all();
  if (args.splits > 1) {
    for (uint e = t; e < size; e += THREADS) {
      Totals(args.pieces).v[(split * args.tiles + number) * size + e] = totals[e];
    }
    if (!split_last(args.counters, number, args.splits)) {
      return;
    }
  }
  for (uint e = t; e < size; e += THREADS) {
    int total = totals[e];
    if (args.splits > 1) {
      total = 0;
      for (uint s = 0; s < args.splits; ++s) {
        total += Totals(args.pieces).v[(s * args.tiles + number) * size + e];
      }
    }
    const uint row = e / COLUMNS, column = column0 + e % COLUMNS;
    if (row < args.m && column < args.n) {
      store_sum(sides, result, batch, row, column, total);
    }
  }
}
