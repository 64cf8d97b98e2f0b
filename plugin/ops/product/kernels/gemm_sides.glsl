// SPDX-License-Identifier: BSD-3-Clause
// Where a workgroup of a matrix product reads its operands, and what becomes of a sum. The arguments are those of
// gemm_args.glsl and, where SPREAD says so, what stands behind them; with NBITS, those of nbits.glsl. A file with
// arguments of its own that begin like these declares them before, and defines SPREAD as 0.
#ifndef LEAT_GEMM_SIDES_GLSL_
#define LEAT_GEMM_SIDES_GLSL_

#include "epilogue.glsl"
#include "core/kernels/reals.glsl"

#ifdef NBITS
#include "nbits.glsl"
#define SPREAD 0
#endif
#ifndef SPREAD
#define SPREADS
LEAT_CONSTANT(uint, SPREAD, 0); // 1: rows and columns of c are several dimensions each
struct Args {
  GEMM_ARGS
  Spread rows, columns; // where SPREAD says that they are there
};
LEAT_ARGS
#endif

#include "gemm_batch.glsl"
#include "tile_number.glsl"

uint64_t a_base, b_base, c_base;
int residual_offset, bias_offset;
uint k_end;

// Sets what is above for a workgroup's tile.
void find_sides(TileNumber tile) {
  const BatchOffsets offsets = offsets_of(tile.batch);
  residual_offset = offsets.residual;
  a_base = args.a + uint64_t(offsets.a) * ELEMENT_SIZE;
  b_base = args.b + uint64_t(offsets.b) * ELEMENT_SIZE;
  c_base = args.c + uint64_t(tile.batch) * args.c_batch * ELEMENT_SIZE;
  bias_offset = bias_of_batch(tile.batch);
  k_end = min(args.k, tile.split * args.k_chunk + args.k_chunk);
}

// Where a row of the tile, or behind those a column of it, lies in c and in the bias, where they are spread.
shared uvec2 places[SPREAD != 0 ? BM + BN : 1];

#ifdef SPREADS
uvec2 place_in(Spread side, uint rest) {
  uvec2 at = uvec2(0);
  [[unroll]] for (uint d = 3; d > 0; --d) {
    const uint next = rest / side.shape[d - 1];
    at += (rest - next * side.shape[d - 1]) * uvec2(side.strides[d], side.bias[d]);
    rest = next;
  }
  return at + rest * uvec2(side.strides[0], side.bias[0]);
}
#endif

// Finds them, by all threads of a workgroup: a product stores each of them as often as its tile is wide, and what is
// found by division takes time.
void find_places(TileNumber tile, const uint threads) {
#ifdef SPREADS
  if (SPREAD != 0) {
    for (uint i = gl_LocalInvocationIndex; i < BM + BN; i += threads) {
      places[i] = i < BM ? place_in(args.rows, tile.row * BM + i) : place_in(args.columns, tile.column * BN + i - BM);
    }
    barrier();
  }
#endif
}

uvec2 place_at(uint row, uint column) {
  return places[row % BM] + places[BM + column % BN];
}

vec4 fetch_residual(uint row, uint column) {
  const int at = residual_offset + int(row) * args.residual_row;
  if ((args.vector & VECTOR_RESIDUAL) != 0) {
    return QUAD(args.residual, (at + int(column)) >> 2);
  }
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = ELEMENT(args.residual, at + int(min(column + j, args.n - 1)) * args.residual_column);
  }
  return x;
}

// What the activation is applied to, of the sums of four columns.
vec4 with_bias(uint row, uint column, vec4 sum) {
  vec4 value = args.alpha * sum;
  if (args.bias != 0) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const uint last = min(column + j, args.n - 1);
      const int at = SPREAD != 0 ? int(place_at(row, last).y) : int(row) * args.bias_row + int(last) * args.bias_column;
      value[j] = fma(args.beta, ELEMENT(args.bias, bias_offset + at), value[j]);
    }
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    value += fetch_residual(row, column);
  }
  return value;
}

// Stores what came of it.
void store_result(uint row, uint column, vec4 value) {
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    value += fetch_residual(row, column);
  }
  const uint at = SPREAD != 0 ? place_at(row, column).x : row * args.c_row + column;
  if ((args.vector & VECTOR_C) != 0) {
    REALS4(c_base).v[at >> 2] = NARROW4(value);
  } else {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (column + j < args.n) {
        REALS(c_base).v[SPREAD != 0 ? place_at(row, column + j).x : at + j] = NARROW(value[j]);
      }
    }
  }
}

#endif
