#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution and transposed convolution on matrix hardware (VK_KHR_cooperative_matrix) of operands of 16 bits, or
// split into parts of 16 bits, sums in float32: as conv.comp, with the tile of gathered pixels along k.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#endif
#include "leat.glsl"
#include "gemm_args.glsl"
#include "matrix_element.glsl"

LEAT_CONSTANT(uint, WIDE, 0);     // 1: weights may be moved 16 bytes at a time
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: of all its subgroups
layout(local_size_x_id = CONSTANT_THREADS) in;
#define GATHERED uint
// Without a branch, so that all that a thread gathers is on its way at once. The host sends no images without an
// element 0 here.
// What is masked is masked by the bits of an element: a mask of all 32 makes NVIDIA's compiler a branch of it, and a
// convolution of float16 takes twice as long.
#define GATHER(p, i, inside) (BITS_OF(p, inside ? i : 0) & (inside ? ELEMENT_MASK : 0u))
#define STEPS BK
uint64_t a_base, c_base, residual_base;
uint k_end, group_row, batch;
#include "conv_sides.glsl"

#define A_ALONG_K true
#define B_ALONG_K true
uvec2 place_a(uint number) { return place_along_k(number); }
// Neighbouring threads have neighbouring pixels.
uvec2 place_b(uint number) { return uvec2(number % BN, number / BN * 8); }

EIGHT fetch_a(uint i, uint k) {
  EIGHT eight = NO_EIGHT;
  if (i >= args.m || k >= k_end) {
    return eight;
  }
  if (WIDE != 0) {
#if PARTS == 1
    return U32x4(a_base).v[(i * args.k + k) >> 3];
#else
    SET_FIRST(eight, a_base, (i * args.k + k) >> 2);
    if (k + 4 < k_end) {
      SET_LAST(eight, a_base, ((i * args.k + k) >> 2) + 1);
    }
    return eight;
#endif
  }
  [[unroll]] for (uint e = 0; e < 8; ++e) {
    if (k + e < k_end) {
      SET_ELEMENT(eight, e, BITS_OF(a_base, weight_place(i, k + e)));
    }
  }
  return eight;
}

EIGHT fetch_b(uint i, uint k) {
  if (THREADS < BN) { // else a thread has one pixel only
    find_pixel(i, batch);
  }
  EIGHT eight;
  const uint from = k - steps_begin;
  [[unroll]] for (uint e = 0; e < 4; ++e) {
#if PARTS == 1
    eight[e] = gather(steps[from + 2 * e]) | gather(steps[from + 2 * e + 1]) << 16;
#else
    eight.first[e] = gather(steps[from + e]);
    eight.last[e] = gather(steps[from + 4 + e]);
#endif
  }
  return eight;
}

#define PREPARES
void prepare(uint k0) {
  steps_begin = k0;
  for (uint number = gl_LocalInvocationIndex; number < STEPS; number += THREADS) {
    steps[number] = step_of(k0 + number);
  }
}

#if PARTS == 2
// The sum of a row and a column, in float32 and one product after the other.
float plain_sum(uint row, uint column) {
  float sum = 0;
  k_end = args.k;
  find_pixel(column, batch);
  for (uint k = 0; k < args.k; ++k) {
    sum = fma(ELEMENT(a_base, weight_place(row, k)), uintBitsToFloat(gather(step_of(k))), sum);
  }
  return sum;
}
#endif

void finish(uint row, uint column, vec4 sum) {
  if (row >= args.m || column >= args.n) {
    return;
  }
#if PARTS == 2
  // Where a factor or a product is not finite, parts add up to another sum than float32 has.
  for (uint j = 0; j < 4; ++j) {
    if (!is_finite(sum[j]) && column + j < args.n) {
      sum[j] = plain_sum(row, column + j);
    }
  }
#endif
  const uint at = place_of(column);
  vec4 value = sum;
  if (args.bias != 0) {
    value += ELEMENT(args.bias, group_row + row);
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    value += fetch_residual(residual_base, at, row, column);
  }
  value = activated4(value, args.activation[0], args.activation[1]);
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    value += fetch_residual(residual_base, at, row, column);
  }
  store_columns(c_base, at, row, column, value);
}

#include "matrix_tile.glsl"

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  const uint k_begin = tile.split * args.k_chunk;
  batch = tile.batch;
  a_base = args.a + uint64_t(batch) * args.group_weights * ELEMENT_SIZE;
  c_base = args.c + uint64_t(batch) * args.group_out * ELEMENT_SIZE;
  residual_base = args.residual + uint64_t(batch) * args.group_out * ELEMENT_SIZE;
  group_row = batch * args.group_rows;
  k_end = min(args.k, k_begin + args.k_chunk);
  find_pixel(tile.column * BN + gl_LocalInvocationIndex % BN, batch);
  matrix_product(tile, tile.row * BM, tile.column * BN, k_begin);
}
