#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product by tiles; operands with any strides.
#include "leat.glsl"
#include "gemm_args.glsl"
#include "reals.glsl"

LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);
LEAT_CONSTANT(uint, SEVERAL, 0); // 1: several products of one a
LEAT_CONSTANT(uint, GATED, 0);  // 1: b is multiplied by the gate, which has an element for each k of each batch
struct Args {
  GEMM_ARGS
  Product products[PRODUCTS_MAX]; // where SEVERAL says that they are there
};
LEAT_ARGS

uint64_t a_base, b_base;
int residual_offset;
uint k_end;
// Of the product that the tile is of.
uint n;
int b_column, b_k;
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
vec4 fetch_b4(uint i, uint k) {
  return i < n && k < k_end ? gated(QUAD(b_base, (int(i) * b_column + int(k) * b_k) >> 2), k) : vec4(0);
}
float fetch_b(uint i, uint k) {
  return i < n && k < k_end ? gated(vec4(ELEMENT(b_base, int(i) * b_column + int(k) * b_k)), k).x : 0.0;
}

#include "gemm_tile.glsl"

vec4 fetch_residual(uint row, uint column) {
  const int at = residual_offset + int(row) * args.residual_row;
  if ((args.vector & VECTOR_RESIDUAL) != 0) {
    return QUAD(args.residual, (at + int(column)) >> 2);
  }
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = ELEMENT(args.residual, at + int(min(column + j, n - 1)) * args.residual_column);
  }
  return x;
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  uint64_t b = args.b, c = args.c, bias = args.bias;
  int bias_column = args.bias_column;
  uint c_row = args.c_row, first = 0;
  bool activates = true;
  n = args.n;
  b_column = args.b_column;
  b_k = args.b_k;
  if (SEVERAL != 0) {
    const Product own = PRODUCT_AT(args.products, tile.column);
    b = own.b;
    c = own.c;
    bias = own.bias;
    bias_column = own.bias_column;
    c_row = n = own.n;
    first = own.first;
    activates = own.activated != 0;
    b_column = own.b_column;
    b_k = own.b_k;
  }
  const uint column0 = (tile.column - first) * BN;
  int a_offset = 0, b_offset = 0;
  residual_offset = 0;
  uint rest = tile.batch;
  for (int d = int(args.batch_rank) - 1; d >= 0; --d) {
    const uint next = rest / args.batch_shape[d];
    const int index = int(rest - next * args.batch_shape[d]);
    a_offset += index * args.a_batch[d];
    b_offset += index * args.b_batch[d];
    if (RESIDUAL != LEAT_RESIDUAL_NONE) {
      residual_offset += index * args.residual_batch[d];
    }
    rest = next;
  }
  a_base = args.a + uint64_t(a_offset) * ELEMENT_SIZE;
  b_base = b + uint64_t(b_offset) * ELEMENT_SIZE;
  gate_base = args.gate + uint64_t(tile.batch) * args.k * ELEMENT_SIZE;
  const uint k_begin = tile.split * args.k_chunk;
  k_end = min(args.k, k_begin + args.k_chunk);
  tile_product(tile.row * BM, column0, k_begin, k_end);

  if (!tile_join(tile)) {
    return;
  }
  const uint t = gl_LocalInvocationIndex % SLICE_THREADS;
  const uint64_t c_base = c + uint64_t(tile.batch) * args.c_batch * ELEMENT_SIZE;
  const int bias_offset = int(tile.batch % args.bias_period) * args.bias_batch;
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint row = tile.row * BM + tile_row(thread_row(t), i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = column0 + tile_column(thread_column(t), q);
      if (row < args.m && column < n) {
        vec4 value = args.alpha * sums[i][q];
        if (bias != 0) {
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            const int at = int(row) * args.bias_row + int(min(column + j, n - 1)) * bias_column;
            value[j] = fma(args.beta, ELEMENT(bias, bias_offset + at), value[j]);
          }
        }
        if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
          value += fetch_residual(row, column);
        }
        sums[i][q] = value;
      }
    }
  }
  if (activates) {
    tile_activate();
  }
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint row = tile.row * BM + tile_row(thread_row(t), i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = column0 + tile_column(thread_column(t), q);
      if (row < args.m && column < n) {
        vec4 value = sums[i][q];
        if (RESIDUAL == LEAT_RESIDUAL_LAST) {
          value += fetch_residual(row, column);
        }
        const uint at = row * c_row + column;
        if ((args.vector & VECTOR_C) != 0) {
          REALS4(c_base).v[at >> 2] = NARROW4(value);
        } else {
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            if (column + j < n) {
              REALS(c_base).v[at + j] = NARROW(value[j]);
            }
          }
        }
      }
    }
  }
}
