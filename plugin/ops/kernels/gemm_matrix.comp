#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product by tiles on matrix hardware (VK_KHR_cooperative_matrix): operands of 16 bits with any strides, sums in
// float32.
//
// A workgroup computes a BM x BN tile of the result from tiles of both operands in shared memory, BK of k at a time;
// each of its subgroups has WM x WN of it, in matrices of the device's own size. A tile of an operand lies in shared
// memory as its mode walks through memory, so that eight elements are written at once. k is added up in the same order
// whatever the modes are.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#include "leat.glsl"
#include "gemm_args.glsl"

#define MODE_QUADS_K 0
#define MODE_QUADS_I 1
#define MODE_SINGLES_K 2
#define MODE_SINGLES_I 3

LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);
LEAT_CONSTANT(uint, WIDE, 0);     // 1: a, 2: b may be moved eight elements at a time
LEAT_CONSTANT(uint, SUBGROUP_SIZE, 8); // invocations of a subgroup, all of which are there
// Rows of a, columns of b and what lies between them, of the device's matrices.
LEAT_CONSTANT(uint, MATRIX_M, 8);
LEAT_CONSTANT(uint, MATRIX_N, 8);
LEAT_CONSTANT(uint, MATRIX_K, 8);
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: BM / WM * ACROSS * SUBGROUP_SIZE
layout(local_size_x_id = CONSTANT_THREADS) in;
#include "gemm_sides.glsl"
#include "split.glsl"

#define ACROSS (BN / WN)
// What is in shared memory lies there by eights of 16 bits, or fours of sums. From one row to the next there is one more
// than needed, so that rows begin in different banks.
#define PITCH_K (BK / 8 + 1)
#define PITCH_A (BM / 8 + 1)
#define PITCH_B (BN / 8 + 1)
#define PITCH_SUMS (WN / 4 + 1)
#define TILE_A (BM * PITCH_K > BK * PITCH_A ? BM * PITCH_K : BK * PITCH_A)
#define TILE_B (BN * PITCH_K > BK * PITCH_B ? BN * PITCH_K : BK * PITCH_B)
// Rows of a matrix at most.
#define MATRIX_MOST 16
#define SUMS (BM / WM * ACROSS * MATRIX_MOST * PITCH_SUMS)
// Tiles of a and b; afterwards, for each subgroup, sums of one row of its matrices after the other.
shared uvec4 tiles[TILE_A + TILE_B > SUMS ? TILE_A + TILE_B : SUMS];

bool goes_along_k(const uint mode) { return mode == MODE_QUADS_K || mode == MODE_SINGLES_K; }

// Eights of a tile that one thread brings in.
const uint LOADS_A = BM * BK / 8 / THREADS;
const uint LOADS_B = BN * BK / 8 / THREADS;
uvec4 held_a[LOADS_A], held_b[LOADS_B];

// Row (column) and k of the first element of eight, by their number in the tile.
uvec2 place(const uint mode, const uint extent, uint number) {
  return goes_along_k(mode) ? uvec2(number / (BK / 8), number % (BK / 8) * 8)
                            : uvec2(number % (extent / 8) * 8, number / (extent / 8));
}

// Eight elements from (i, k) on, along k or along i; those past `end` in i, or past k_end, are 0.
uvec4 fetch(const uint mode, const bool wide, uint64_t base, int stride_i, int stride_k, uint i, uint k, uint end) {
  uvec4 eight = uvec4(0);
  if (i >= end || k >= k_end) {
    return eight;
  }
  const int at = int(i) * stride_i + int(k) * stride_k;
  if (wide) {
    return U32x4(base).v[at >> 3];
  }
  const uint left = goes_along_k(mode) ? k_end - k : end - i;
  if (mode <= MODE_QUADS_I) {
    eight.xy = U32x2(base).v[at >> 2];
    if (left > 4) {
      eight.zw = U32x2(base).v[(at >> 2) + 1];
    }
    return eight;
  }
  const int step = goes_along_k(mode) ? stride_k : stride_i;
  [[unroll]] for (uint e = 0; e < 8; ++e) {
    if (e < left) {
      eight[e / 2] |= uint(U16(base).v[at + int(e) * step]) << (e % 2 * 16);
    }
  }
  return eight;
}

void fetch_tiles(uint row0, uint k0) {
  [[unroll]] for (uint e = 0; e < LOADS_A; ++e) {
    const uvec2 at = place(MODE_A, BM, gl_LocalInvocationIndex + e * THREADS);
    held_a[e] = fetch(MODE_A, (WIDE & 1) != 0, a_base, args.a_row, args.a_k, row0 + at.x, k0 + at.y, args.m);
  }
  [[unroll]] for (uint e = 0; e < LOADS_B; ++e) {
    const uvec2 at = place(MODE_B, BN, gl_LocalInvocationIndex + e * THREADS);
    held_b[e] = fetch(MODE_B, (WIDE & 2) != 0, b_base, b_column, b_k, column_first + at.x, k0 + at.y, n);
  }
}

void keep_tiles() {
  [[unroll]] for (uint e = 0; e < LOADS_A; ++e) {
    const uvec2 at = place(MODE_A, BM, gl_LocalInvocationIndex + e * THREADS);
    tiles[goes_along_k(MODE_A) ? at.x * PITCH_K + at.y / 8 : at.y * PITCH_A + at.x / 8] = held_a[e];
  }
  [[unroll]] for (uint e = 0; e < LOADS_B; ++e) {
    const uvec2 at = place(MODE_B, BN, gl_LocalInvocationIndex + e * THREADS);
    tiles[TILE_A + (goes_along_k(MODE_B) ? at.x * PITCH_K + at.y / 8 : at.y * PITCH_B + at.x / 8)] = held_b[e];
  }
}

const uint ROWS = WM / MATRIX_M;    // matrices of a subgroup, one above the other
const uint COLUMNS = WN / MATRIX_N; // and side by side
coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[ROWS * COLUMNS];

// Adds the products of the BK of k in shared memory to the sums of a subgroup, whose part begins at (row, column).
void add_tiles(uint row, uint column) {
  for (uint k = 0; k < BK; k += MATRIX_K) {
    coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> a[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      const uint i = row + r * MATRIX_M;
      if (goes_along_k(MODE_A)) {
        coopMatLoad(a[r], tiles, i * PITCH_K + k / 8, PITCH_K, gl_CooperativeMatrixLayoutRowMajor);
      } else {
        coopMatLoad(a[r], tiles, k * PITCH_A + i / 8, PITCH_A, gl_CooperativeMatrixLayoutColumnMajor);
      }
    }
    [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
      const uint i = column + c * MATRIX_N;
      coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> b;
      if (goes_along_k(MODE_B)) {
        coopMatLoad(b, tiles, TILE_A + i * PITCH_K + k / 8, PITCH_K, gl_CooperativeMatrixLayoutColumnMajor);
      } else {
        coopMatLoad(b, tiles, TILE_A + k * PITCH_B + i / 8, PITCH_B, gl_CooperativeMatrixLayoutRowMajor);
      }
      [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        sums[r * COLUMNS + c] = coopMatMulAdd(a[r], b, sums[r * COLUMNS + c]);
      }
    }
  }
}

// Does with four sums of the tile what is to be done with them, and stores them.
void finish(uint row, uint column, vec4 sum) {
  if (row < args.m && column < n) {
    vec4 value = with_bias(row, column, sum);
    if (activates) {
      value = activated4(value, args.activation[0], args.activation[1]);
    }
    store_result(row, column, value);
  }
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  find_sides(tile, BN);
  const uint row0 = tile.row * BM;
  const uint row = gl_SubgroupID / ACROSS * WM, column = gl_SubgroupID % ACROSS * WN;
  [[unroll]] for (uint e = 0; e < ROWS * COLUMNS; ++e) {
    sums[e] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
  }
  uint k0 = tile.split * args.k_chunk;
  fetch_tiles(row0, k0);
  while (k0 < k_end) {
    keep_tiles();
    barrier();
    k0 += BK;
    // The next tiles are on their way while these are used.
    if (k0 < k_end) {
      fetch_tiles(row0, k0);
    }
    add_tiles(row, column);
    barrier();
  }

  // The sums of one row of matrices after the other go to where threads know which is whose.
  const uint own = gl_SubgroupID * MATRIX_M * PITCH_SUMS;
  const uint pieces = tile.number * (BM * BN / 4);
  for (uint r = 0; r < ROWS; ++r) {
    [[unroll]] for (uint e = 0; e < ROWS * COLUMNS; ++e) {
      if (e / COLUMNS == r) {
        coopMatStore(sums[e], tiles, own + e % COLUMNS * MATRIX_N / 4, PITCH_SUMS, gl_CooperativeMatrixLayoutRowMajor);
      }
    }
    subgroupBarrier();
    for (uint four = gl_SubgroupInvocationID; four < MATRIX_M * WN / 4; four += SUBGROUP_SIZE) {
      const uint i = four / (WN / 4), j = four % (WN / 4);
      const uint in_row = row + r * MATRIX_M + i, in_column = column + j * 4;
      const vec4 sum = uintBitsToFloat(tiles[own + i * PITCH_SUMS + j]);
      if (args.splits > 1) {
        Pieces(args.pieces).v[tile.split * args.tiles * (BM * BN / 4) + pieces + (in_row * BN + in_column) / 4] = sum;
      } else {
        finish(row0 + in_row, column_first + in_column, sum);
      }
    }
    subgroupBarrier();
  }
  if (args.splits == 1 || !split_last(args.counters, tile.number, args.splits)) {
    return;
  }
  for (uint four = gl_LocalInvocationIndex; four < BM * BN / 4; four += THREADS) {
    vec4 sum = Pieces(args.pieces).v[pieces + four];
    for (uint s = 1; s < args.splits; ++s) {
      sum += Pieces(args.pieces).v[s * args.tiles * (BM * BN / 4) + pieces + four];
    }
    finish(row0 + four / (BN / 4), column_first + four % (BN / 4) * 4, sum);
  }
}
