#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Product of matrices of int8 or uint8 by tiles on matrix hardware (VK_KHR_cooperative_matrix); operands that can be
// read by four. In shared memory both lie along k, whatever they do in memory.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#define BYTES
#include "core/kernels/leat.glsl"
#include "integer.glsl"

// How an operand lies in memory: by sixteen along k, along rows (columns), or by four along k. k is a multiple of four.
#define MODE_SIXTEENS_K 0
#define MODE_ALONG_I 1
LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);
LEAT_CONSTANT(uint, RUN_A, 4); // how many may be moved at once along rows: 4, 8 or 16
LEAT_CONSTANT(uint, RUN_B, 4);
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: of all its subgroups
layout(local_size_x_id = CONSTANT_THREADS) in;
#include "matrix_element.glsl"

Sides sides;
uint batch;
uint bytes_end, bytes_count; // where the k of this workgroup end, in bytes, and how many they are
uint k_end;                  // in pairs, as all other k here

// Eights that a thread brings in of each operand.
#if BM != BN
#error "both operands are read alike"
#endif
const uint LOADS = BM * BK / 8 / THREADS;
#define LOADS_A LOADS
#define LOADS_B LOADS
// Where an operand lies along rows (columns), they are of blocks of four k and BLOCK_A (BLOCK_B) rows. Each of a
// block's eights has all of its rows, for some of the k.
const uint BLOCK_A = RUN_A < 4 * LOADS ? RUN_A : 4 * LOADS;
const uint BLOCK_B = RUN_B < 4 * LOADS ? RUN_B : 4 * LOADS;

// Row (column) and k of the first element of an eight, or of its block of so many rows, by its number.
uvec2 place(const uint mode, const uint rows, uint number) {
  if (mode != MODE_ALONG_I) {
    return place_along_k(number);
  }
  const uint across = min(BM / rows, 8); // blocks of neighbouring threads, side by side along the rows
  const uint block = number / THREADS / (rows / 4) * THREADS + number % THREADS;
  const uint outer = block / across;
  return uvec2((outer / (BK / 2) * across + block % across) * rows, outer % (BK / 2) * 2);
}

// What of an eight is not in the operand is `turn`, or where OPEN_A (OPEN_B) says so the nearest that it has.
// `part`: its number in its block.
uvec4 fetch(const uint mode, const uint rows, uint part, uint64_t base, int stride_i, int stride_k, uint turn, uint i,
            uint pair, uint count) {
  const uint k = 2 * pair;
  if (mode == MODE_SIXTEENS_K) {
    return U32x4(base).v[(int(min(i, count - 1)) * stride_i + int(min(k, args.k - 16))) >> 4];
  }
  uvec4 eight = uvec4(turn);
  if (mode == MODE_ALONG_I) {
    const int at = int(min(i, count - rows)) + int(min(k, args.k - 4) + part * (16 / rows)) * stride_k;
    if (rows == 16) {
      eight = U32x4(base).v[at >> 4];
    } else if (rows == 8) {
      eight = uvec4(U32x2(base).v[at >> 3], U32x2(base).v[(at + stride_k) >> 3]);
    } else {
      [[unroll]] for (int j = 0; j < 4; ++j) {
        eight[j] = U32(base).v[(at + j * stride_k) >> 2];
      }
    }
    return eight;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (i < count && k + 4 * j < bytes_end) {
      eight[j] = U32(base).v[(int(i) * stride_i + int(k + 4 * j)) >> 2];
    }
  }
  return eight;
}

#define OPEN_A (MODE_A <= MODE_ALONG_I)
#define OPEN_B (MODE_B <= MODE_ALONG_I)
#define A_ALONG_K true
#define B_ALONG_K true
uvec2 place_a(uint number) { return place(MODE_A, BLOCK_A, number); }
uvec2 place_b(uint number) { return place(MODE_B, BLOCK_B, number); }
uvec4 fetch_a(uint which, uint i, uint k) {
  return fetch(MODE_A, BLOCK_A, which % (BLOCK_A / 4), sides.a, args.a_row, args.a_k, args.a_turn, i, k, args.m);
}
uvec4 fetch_b(uint which, uint i, uint k) {
  return fetch(MODE_B, BLOCK_B, which % (BLOCK_B / 4), sides.b, args.b_column, args.b_k, args.b_turn, i, k, args.n);
}

// What is turned to 0.
#define NO_A uvec4(args.a_turn)
#define NO_B uvec4(args.b_turn)
#define HELD_B uvec4
#define KEEPS
// Threads that move blocks of neighbouring columns store into different banks then.
#define TURNS (MODE_B == MODE_ALONG_I ? WN / BLOCK_B : 0)
#define FRAMED
void keep_a(uvec4 held[LOADS]);
void keep_b(uvec4 held[LOADS]);
void begin_products(uint row0, uint column0);
void end_products();
ivec4 ended(uint row, uint column, ivec4 sum);
void finish(uint row, uint column, ivec4 sum);
#include "matrix_tile.glsl"

// Sums over k of the rows, or columns, that a thread keeps: for each eight one, or where operands lie along them four.
ivec4 sums_a[LOADS], sums_b[LOADS];

void keep_along_k(uint base, uvec2 at, uvec4 eight, inout ivec4 own) {
  const uint first = UNITS_OF(base + at.x * PITCH_K) + at.y / UNIT_SIZE;
  tiles[first] = eight.xy;
  tiles[first + 1] = eight.zw;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    own.x = dot4(int(eight[j]), ONES, own.x);
  }
}

// Where row (column) i of the tile lies, in rows.
uint slot_of(const uint turns, uint i) {
  return turns == 0 ? i : i / WN * WN + i % (WN / turns) * turns + i % WN / (WN / turns);
}

// Four rows of a block, from row i of the tile on: words of four k in turn.
void keep_rows(uint base, const uint turns, uint i, uint k, uvec4 words, inout ivec4 own) {
  const ivec4 rows = transposed(words);
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    tiles[UNITS_OF(base + slot_of(turns, i + j) * PITCH_K) + k / UNIT_SIZE][k / 2 % 2] = uint(rows[j]);
    own[j] = dot4(rows[j], ONES, own[j]);
  }
}

void keep(const uint mode, const uint rows, uint base, const uint turns, uvec4 held[LOADS], uint turn,
          inout ivec4 own[LOADS]) {
  const uint each = rows / 4; // eights of a block
  [[unroll]] for (uint e = 0; e < LOADS; ++e) {
    const uvec2 at = place(mode, rows, gl_LocalInvocationIndex + e * THREADS);
    if (mode != MODE_ALONG_I) {
      keep_along_k(base, at, held[e] ^ turn, own[e]);
      continue;
    }
    uvec4 words; // of four rows of the block, which take turns with the others along it
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      words[j] = held[e / each * each + j * each / 4][(j * each + e % each) % 4];
    }
    keep_rows(base, turns, at.x + e % each * 4, at.y, words ^ turn, own[e]);
  }
}
void keep_a(uvec4 held[LOADS]) { keep(MODE_A, BLOCK_A, 0, 0, held, args.a_turn, sums_a); }
void keep_b(uvec4 held[LOADS]) { keep(MODE_B, BLOCK_B, FIRST_B, TURNS, held, args.b_turn, sums_b); }

// Of each row of the tile, and of each column, the zero point, the sum over k and the scale; what the sums of a row are
// multiplied by where that is the same for all of its columns; and the biases of rows or columns.
shared int row_zeros[BM], row_sums[BM], column_sums[BN];
shared float row_scales[BM], row_factors[BM];
shared ivec4 column_zeros[BN / 4];
shared vec4 column_scales[BN / 4];
shared uvec4 biases[BM / 4];
Result result;

void begin_products(uint row0, uint column0) {
  result = result_of_all();
  for (uint i = gl_LocalInvocationIndex; i < BM; i += THREADS) {
    const uint row = min(row0 + i, args.m - 1);
    row_zeros[i] = zero_of_row(sides, row);
    row_sums[i] = column_sums[i] = 0;
    row_scales[i] = scale_of_row(sides, row);
    if (args.b_place_column == 0) {
      row_factors[i] = factor_of(result, row_scales[i], scale_of_column(sides, 0));
    }
  }
  for (uint i = gl_LocalInvocationIndex; i < BN / 4; i += THREADS) {
    ivec4 zeros;
    vec4 scales;
    uvec4 bias;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const uint row = min(row0 + 4 * i + j, args.m - 1), column = min(column0 + 4 * i + j, args.n - 1);
      zeros[j] = zero_of_column(sides, column);
      scales[j] = scale_of_column(sides, column);
      bias[j] = args.bias_row != 0 ? bias_of(batch, row, 0) : bias_of(batch, 0, column);
    }
    column_zeros[i] = zeros;
    column_scales[i] = scales;
    biases[i] = bias;
  }
}

// Row (column) of the tile of which the first sum of an eight is.
uint first_of(const uint mode, const uint rows, uint e) {
  return place(mode, rows, gl_LocalInvocationIndex + e * THREADS).x + (mode == MODE_ALONG_I ? e % (rows / 4) * 4 : 0);
}

void end_products() {
  [[unroll]] for (uint e = 0; e < LOADS; ++e) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (j == 0 || MODE_A == MODE_ALONG_I) {
        atomicAdd(row_sums[first_of(MODE_A, BLOCK_A, e) + j], sums_a[e][j]);
      }
      if (j == 0 || MODE_B == MODE_ALONG_I) {
        atomicAdd(column_sums[first_of(MODE_B, BLOCK_B, e) + j], sums_b[e][j]);
      }
    }
  }
}

ivec4 ended(uint row, uint column, ivec4 sum) {
  const int zero = row_zeros[row], rest = int(bytes_count) * zero - row_sums[row];
  const ivec4 zeros = column_zeros[column / 4];
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    sum[j] += zeros[j] * rest - zero * column_sums[column + j];
  }
  return sum;
}

void finish(uint row, uint column, ivec4 sum) {
  if (row >= args.m || column >= args.n) {
    return;
  }
  if ((args.vector & VECTOR_C) == 0) {
    for (uint j = 0; j < min(args.n - column, 4); ++j) {
      store_sum(sides, result, batch, row, column + j, sum[j]);
    }
    return;
  }
  const uint quad = (batch * args.c_batch + row * uint(args.c_row) + column) >> 2;
  if (args.a_scale == 0) {
    U32x4(args.c).v[quad] = uvec4(sum);
    return;
  }
  const uint own = row % BM, four = column % BN / 4;
  vec4 factors = vec4(row_factors[own]);
  if (args.b_place_column != 0) {
    const vec4 scales = column_scales[four];
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      factors[j] = factor_of(result, row_scales[own], scales[j]);
    }
  }
  const uvec4 bias = args.bias_row != 0 ? uvec4(biases[own / 4][own % 4]) : biases[four];
  if (args.y_scale != 0 && (args.ending & ENDING_FLOATS) == 0) {
    uint bytes = 0;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      bytes |= rescaled(result, factors[j], bias[j], sum[j]) << 8 * j;
    }
    U32(args.c).v[quad] = bytes;
    return;
  }
  vec4 floats;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    floats[j] = scaled(factors[j], bias[j], sum[j]);
  }
  if (args.y_scale == 0) {
    F32x4(args.c).v[quad] = floats;
    return;
  }
  U32(args.c).v[quad] = packed(quantized4_by(result.scale, floats, result.zero, args.y_low, args.y_low + 255));
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  const uint begin = tile.split * args.k_chunk;
  batch = tile.batch;
  sides = sides_of(batch);
  bytes_end = min(args.k, begin + args.k_chunk);
  bytes_count = bytes_end - begin;
  k_end = bytes_end / 2;
  [[unroll]] for (uint e = 0; e < LOADS; ++e) {
    sums_a[e] = sums_b[e] = ivec4(0);
  }
  matrix_product(tile, tile.row * BM, tile.column * BN, begin / 2);
}
