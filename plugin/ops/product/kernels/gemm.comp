#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product by tiles; operands with any strides. With NBITS, b are weights of few bits along k, in quads.
#include "core/kernels/leat.glsl"
#include "gemm_args.glsl"

LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);
LEAT_CONSTANT(uint, GATED, 0);  // 1: b is multiplied by the gate, which has an element for each k of each batch
#include "gemm_sides.glsl"

uint64_t gate_base;

// Rounded before it meets a.
vec4 gated(vec4 x, uint k) {
  return GATED != 0 ? x * ELEMENT(gate_base, k) : x;
}

vec4 fetch_a4(uint i, uint k) {
  return i < args.m && k < k_end ? QUAD(a_base, (int(i) * args.a_row + int(k) * args.a_k) >> 2) : vec4(0);
}
float fetch_a(uint i, uint k) {
  return i < args.m && k < k_end ? ELEMENT(a_base, int(i) * args.a_row + int(k) * args.a_k) : 0.0;
}
#ifdef NBITS
vec4 fetch_b4(uint i, uint k) {
  return i < args.n && k < k_end ? weights4(i, k) : vec4(0);
}
float fetch_b(uint i, uint k) {
  return 0; // never called
}
#else
vec4 fetch_b4(uint i, uint k) {
  return i < args.n && k < k_end ? gated(QUAD(b_base, (int(i) * args.b_column + int(k) * args.b_k) >> 2), k) : vec4(0);
}
float fetch_b(uint i, uint k) {
  return i < args.n && k < k_end ? gated(vec4(ELEMENT(b_base, int(i) * args.b_column + int(k) * args.b_k)), k).x : 0.0;
}
#endif

#include "gemm_tile.glsl"
#include "gemm_finish.glsl"

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  find_sides(tile);
  find_places(tile, GEMM_THREADS);
  gate_base = args.gate + uint64_t(tile.batch) * args.k * ELEMENT_SIZE;
  tile_product(tile.row * BM, tile.column * BN, tile.split * args.k_chunk, k_end);
  tile_finish(tile);
}
