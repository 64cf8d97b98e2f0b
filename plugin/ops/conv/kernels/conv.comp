#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution and transposed convolution as a matrix product whose right operand is gathered from the image on the way
// into shared memory.
#include "core/kernels/leat.glsl"
#include "product/kernels/gemm_args.glsl"
#include "core/kernels/reals.glsl"

LEAT_CONSTANT(uint, MODE_A, 2);
#define MODE_B 3
#define STEPS (BK * SLICES)
uint64_t a_base;
uint k_end;
#include "conv_sides.glsl"

vec4 fetch_a4(uint i, uint k) {
  return i < args.m && k < k_end ? QUAD(a_base, (i * args.k + k) >> 2) : vec4(0);
}
float fetch_a(uint i, uint k) { return i < args.m && k < k_end ? ELEMENT(a_base, weight_place(i, k)) : 0; }
vec4 fetch_b4(uint i, uint k) { return vec4(0); }
// With a branch: without one, large float32 convolutions take 1.4 times as long on an H200.
float fetch_b(uint i, uint k) {
  uint at;
  return find_element(steps[k - steps_begin], at) ? ELEMENT(args.b, at) : 0.0;
}

#define PREPARES
void prepare(uint k0) {
  steps_begin = k0;
  if (gl_LocalInvocationIndex < STEPS) {
    steps[gl_LocalInvocationIndex] = step_of(k0 + gl_LocalInvocationIndex);
  }
}

#include "product/kernels/gemm_tile.glsl"

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  a_base = args.a + uint64_t(tile.batch) * args.group_weights * ELEMENT_SIZE;
  const uint k_begin = tile.split * args.k_chunk;
  k_end = min(args.k, k_begin + args.k_chunk);

  const uint t = gl_LocalInvocationIndex % HOLDERS;
  const uint own = tile.column * BN + t % BN;
  find_pixel(own, tile.batch);

  tile_product(tile.row * BM, tile.column * BN, k_begin, k_end);

  if (!tile_join(tile)) {
    return;
  }
  const uint64_t c_base = args.c + uint64_t(tile.batch) * args.group_out * ELEMENT_SIZE;
  const uint64_t residual_base = args.residual + uint64_t(tile.batch) * args.group_out * ELEMENT_SIZE;
  [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
    const uint column = tile.column * BN + kept_column(t, q);
    if (column >= args.n) {
      continue;
    }
    const uint at = place_of(column);
    [[unroll]] for (uint i = 0; i < KEPT; ++i) {
      const uint row = tile.row * BM + kept_row(t, i);
      if (row < args.m) {
        if (args.bias != 0) {
          sums[i][q] += ELEMENT(args.bias, tile.batch * args.group_rows + row);
        }
        if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
          sums[i][q] += fetch_residual(residual_base, at, row, column);
        }
      }
    }
  }
  tile_activate();
  [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
    const uint column = tile.column * BN + kept_column(t, q);
    if (column >= args.n) {
      continue;
    }
    const uint at = place_of(column);
    [[unroll]] for (uint i = 0; i < KEPT; ++i) {
      const uint row = tile.row * BM + kept_row(t, i);
      if (row < args.m) {
        vec4 value = sums[i][q];
        if (RESIDUAL == LEAT_RESIDUAL_LAST) {
          value += fetch_residual(residual_base, at, row, column);
        }
        store_columns(c_base, at, row, column, value);
      }
    }
  }
}
