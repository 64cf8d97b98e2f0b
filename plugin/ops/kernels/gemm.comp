#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product by tiles; operands with any strides.
#include "leat.glsl"
#include "gemm_args.glsl"

LEAT_CONSTANT(uint, MODE_A, 2);
LEAT_CONSTANT(uint, MODE_B, 3);
struct Args {
  GEMM_ARGS
};
LEAT_ARGS

uint64_t a_base, b_base;
int residual_offset;
uint k_end;

vec4 fetch_a4(uint i, uint k) {
  return i < args.m && k < k_end ? F32x4(a_base).v[(int(i) * args.a_row + int(k) * args.a_k) >> 2] : vec4(0);
}
float fetch_a(uint i, uint k) {
  return i < args.m && k < k_end ? F32(a_base).v[int(i) * args.a_row + int(k) * args.a_k] : 0.0;
}
vec4 fetch_b4(uint i, uint k) {
  return i < args.n && k < k_end ? F32x4(b_base).v[(int(i) * args.b_column + int(k) * args.b_k) >> 2] : vec4(0);
}
float fetch_b(uint i, uint k) {
  return i < args.n && k < k_end ? F32(b_base).v[int(i) * args.b_column + int(k) * args.b_k] : 0.0;
}

#include "gemm_tile.glsl"

vec4 fetch_residual(uint row, uint column) {
  const int at = residual_offset + int(row) * args.residual_row;
  if ((args.vector & VECTOR_RESIDUAL) != 0) {
    return F32x4(args.residual).v[(at + int(column)) >> 2];
  }
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = F32(args.residual).v[at + int(min(column + j, args.n - 1)) * args.residual_column];
  }
  return x;
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
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
  a_base = args.a + uint64_t(a_offset) * 4;
  b_base = args.b + uint64_t(b_offset) * 4;
  const uint k_begin = tile.split * args.k_chunk;
  k_end = min(args.k, k_begin + args.k_chunk);
  tile_product(tile.row * BM, tile.column * BN, k_begin, k_end);

  if (!tile_join(tile)) {
    return;
  }
  const uint t = gl_LocalInvocationIndex % SLICE_THREADS;
  const uint64_t c_base = args.c + uint64_t(tile.batch) * args.c_batch * 4;
  const int bias_offset = int(tile.batch % args.bias_period) * args.bias_batch;
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint row = tile.row * BM + tile_row(thread_row(t), i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = tile.column * BN + tile_column(thread_column(t), q);
      if (row < args.m && column < args.n) {
        vec4 value = args.alpha * sums[i][q];
        if (args.bias != 0) {
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            const int at = int(row) * args.bias_row + int(min(column + j, args.n - 1)) * args.bias_column;
            value[j] = fma(args.beta, F32(args.bias).v[bias_offset + at], value[j]);
          }
        }
        if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
          value += fetch_residual(row, column);
        }
        sums[i][q] = value;
      }
    }
  }
  tile_activate();
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint row = tile.row * BM + tile_row(thread_row(t), i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = tile.column * BN + tile_column(thread_column(t), q);
      if (row < args.m && column < args.n) {
        vec4 value = sums[i][q];
        if (RESIDUAL == LEAT_RESIDUAL_LAST) {
          value += fetch_residual(row, column);
        }
        const uint at = row * args.c_row + column;
        if ((args.vector & VECTOR_C) != 0) {
          F32x4(c_base).v[at >> 2] = value;
        } else {
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            if (column + j < args.n) {
              F32(c_base).v[at + j] = value[j];
            }
          }
        }
      }
    }
  }
}
