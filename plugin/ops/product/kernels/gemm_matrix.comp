#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product by tiles on matrix hardware (VK_KHR_cooperative_matrix): operands with any strides, of 16 bits or
// split into parts of 16 bits, sums in float32. With NBITS, b are weights of few bits along k.
//
// A tile of an operand lies in shared memory as its mode walks through memory, so that eight elements are written at
// once. k is added up in the same order whatever the modes are.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#endif
#include "core/kernels/leat.glsl"
#include "gemm_args.glsl"
#include "matrix_element.glsl"

#define MODE_QUADS_K 0
#define MODE_QUADS_I 1
#define MODE_SINGLES_K 2
#define MODE_SINGLES_I 3

LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);
// 1: a, 2: b may be moved eight elements at a time, of 16 bits; then 4: half of the rows of a, 8: half of the columns
// of b, or more, are not there in any tile.
LEAT_CONSTANT(uint, WIDE, 0);
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: of all its subgroups
layout(local_size_x_id = CONSTANT_THREADS) in;
#if BM >= 128
// Large products would gain nothing by multiplying instead, and lose 2 % by what NVIDIA's compiler then makes of the rest.
#define DIVIDES
#endif
#include "gemm_sides.glsl"

bool goes_along_k(const uint mode) { return mode == MODE_QUADS_K || mode == MODE_SINGLES_K; }

// Row (column) and k of the first element of eight, by their number in the tile.
uvec2 place(const uint mode, const uint extent, uint number) {
  return goes_along_k(mode) ? place_along_k(number)
                            : uvec2(number % (extent / 8) * 8, number / (extent / 8));
}

// Eight elements from (i, k) on, along k or along i; those past `end` in i, or past k_end, are 0. If `wide`, OPEN_A and
// OPEN_B say that they may be anything: they are the nearest eight that the operand has. A condition before a load
// delays it, which pays if many loads would be in vain (`hollow`).
EIGHT fetch(const uint mode, const bool wide, const bool hollow, uint64_t base, int stride_i, int stride_k, uint i,
            uint k, uint end) {
#if PARTS == 1
  if (wide) {
    const bool along_k = goes_along_k(mode);
    if (hollow && i >= end) {
      return NO_EIGHT;
    }
    i = min(i, end - (along_k ? 1 : 8));
    k = min(k, args.k - (along_k ? 8 : 1));
    return U32x4(base).v[(int(i) * stride_i + int(k) * stride_k) >> 3];
  }
#endif
  EIGHT eight = NO_EIGHT;
  if (i >= end || k >= k_end) {
    return eight;
  }
  const int at = int(i) * stride_i + int(k) * stride_k;
  const uint left = goes_along_k(mode) ? k_end - k : end - i;
  if (mode <= MODE_QUADS_I) {
    SET_FIRST(eight, base, at >> 2);
    if (left > 4) {
      SET_LAST(eight, base, (at >> 2) + 1);
    }
    return eight;
  }
  const int step = goes_along_k(mode) ? stride_k : stride_i;
  [[unroll]] for (uint e = 0; e < 8; ++e) {
    if (e < left) {
      SET_ELEMENT(eight, e, BITS_OF(base, at + int(e) * step));
    }
  }
  return eight;
}

#define OPEN_A ((WIDE & 1) != 0)
#define OPEN_B ((WIDE & 2) != 0)
#define A_ALONG_K goes_along_k(MODE_A)
#define B_ALONG_K goes_along_k(MODE_B)
uvec2 place_a(uint number) { return place(MODE_A, BM, number); }
uvec2 place_b(uint number) { return place(MODE_B, BN, number); }
EIGHT fetch_a(uint which, uint i, uint k) {
  return fetch(MODE_A, OPEN_A, (WIDE & 4) != 0, a_base, args.a_row, args.a_k, i, k, args.m);
}
#ifdef NBITS
// Eight weights are of one block. What is fetched are their words, scale and zero point in 16 bits each, and how many
// there are: what becomes of them waits until they are kept. Where each k says its block it does not.
uvec4 fetch_b(uint which, uint i, uint k) {
  uvec4 eight = uvec4(0);
  if (i < args.n && k < k_end) {
    if (INDEXED != 0) {
      return uvec4(NARROW4(weights4(i, k)), NARROW4(weights4(i, k + 4)));
    }
    const uint block = k >> args.block_shift;
    eight.x = word_at(i, k) >> bit_at(k);
    if (BITS == 8) {
      eight.y = word_at(i, k + 4);
    }
    eight.z = uint(U16(args.scales).v[i * args.blocks + block]);
    eight.z |= (ZEROS == LEAT_ZEROS_REAL ? uint(U16(args.zeros).v[i * args.blocks + block])
                                         : uint(zero_of(i, block))) << 16;
    eight.w = args.k - k;
  }
  return eight;
}
// Rounded to what the hardware multiplies.
uvec4 ready_b(uvec4 eight) {
  if (INDEXED != 0) {
    return eight;
  }
  const float scale = WIDEN(eight.z & 0xffffu);
  const float zero = ZEROS == LEAT_ZEROS_REAL ? WIDEN(eight.z >> 16) : float(eight.z >> 16);
  const vec4 low = centred(eight.x, zero) * scale;
  const vec4 high = centred(BITS == 8 ? eight.y : eight.x >> 4 * BITS, zero) * scale;
  return uvec4(NARROW4(without_filling(low, int(eight.w))), NARROW4(without_filling(high, int(eight.w) - 4)));
}
#define HELD_B uvec4
#define NO_B uvec4(0)
#define READY_B(which, held) ready_b(held)
#else
EIGHT fetch_b(uint which, uint i, uint k) {
  return fetch(MODE_B, OPEN_B, (WIDE & 8) != 0, b_base, args.b_column, args.b_k, i, k, args.n);
}
#endif

#if PARTS == 2
// The sum of a row and a column, in float32 and one product after the other.
float plain_sum(uint row, uint column) {
  float sum = 0;
  for (uint k = 0; k < args.k; ++k) {
    sum = fma(ELEMENT(a_base, int(row) * args.a_row + int(k) * args.a_k),
              ELEMENT(b_base, int(column) * args.b_column + int(k) * args.b_k), sum);
  }
  return sum;
}
#endif

void finish(uint row, uint column, vec4 sum) {
  if (row < args.m && column < args.n) {
#if PARTS == 2
    // Where a factor or a product is not finite, parts add up to another sum than float32 has.
    for (uint j = 0; j < 4; ++j) {
      if (!is_finite(sum[j]) && column + j < args.n) {
        sum[j] = plain_sum(row, column + j);
      }
    }
#endif
    store_result(row, column, activated4(with_bias(row, column, sum), args.activation[0], args.activation[1]));
  }
}

#include "matrix_tile.glsl"

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  find_sides(tile);
  find_places(tile, THREADS);
  matrix_product(tile, tile.row * BM, tile.column * BN, tile.split * args.k_chunk);
}
