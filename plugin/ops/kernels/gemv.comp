#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product for up to 8 rows: every element of b is read once, by one thread, and used for all rows. A workgroup
// computes 16 columns, or 16 quads of columns; its threads share out k and add up through shared memory, in a fixed
// order.
#include "leat.glsl"
#include "epilogue.glsl"
#include "gemm_args.glsl"
#include "reals.glsl"
#include "split.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, ROWS, 1);    // 1, 2, 4, 8: not less than args.m
LEAT_CONSTANT(uint, ALONG_K, 0); // neighbouring threads: 0 along columns, 1 along k,
                                                // 2 along k by quads, 3 along columns by quads
LEAT_CONSTANT(uint, SEVERAL, 0);  // 1: several products of one a
struct Args {
  GEMM_ARGS
  Product products[PRODUCTS_MAX]; // where SEVERAL says that they are there
};
LEAT_ARGS

#define COLUMNS 16
#define PARTS (256 / COLUMNS)
const uint WIDTH = ALONG_K == 3 ? 4 : 1; // columns of a thread
shared float partial[8 * 256];

void main() {
  const uint t = gl_LocalInvocationIndex;
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const uint outer = group / args.tiles_n;
  const uint split = outer / args.batch;
  const uint batch = outer - split * args.batch;
  int a_offset = 0, b_offset = 0, residual_offset = 0;
  uint rest = batch;
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
  const uint tile = group - outer * args.tiles_n;
  uint64_t b_base = args.b, c_base = args.c, bias = args.bias;
  int b_column = args.b_column, b_k = args.b_k, bias_column = args.bias_column;
  uint n = args.n, c_row = args.c_row, first = 0;
  bool activates = true;
  if (SEVERAL != 0) {
    const Product its = PRODUCT_AT(args.products, tile);
    b_base = its.b;
    c_base = its.c;
    bias = its.bias;
    b_column = its.b_column;
    b_k = its.b_k;
    bias_column = its.bias_column;
    c_row = n = its.n;
    first = its.first;
    activates = its.activated != 0;
  }
  b_base += uint64_t(b_offset) * ELEMENT_SIZE;
  c_base += uint64_t(batch) * args.c_batch * ELEMENT_SIZE;
  const uint column0 = (tile - first) * COLUMNS * WIDTH;
  const bool across = ALONG_K == 0 || ALONG_K == 3;
  const uint own = across ? t % COLUMNS : t / PARTS;
  const uint part = across ? t / COLUMNS : t % PARTS;
  const uint k_begin = split * args.k_chunk;
  const uint k_end = min(args.k, k_begin + args.k_chunk);

  vec4 sums[8]; // but for quads of columns only x counts
  int a_row[8];
  [[unroll]] for (uint i = 0; i < 8; ++i) {
    sums[i] = vec4(0);
    // Rows beyond the last repeat it; what they give is not written.
    a_row[i] = a_offset + int(min(i, args.m - 1)) * args.a_row;
  }
  REALS a = REALS(args.a);
  const uint own_column = column0 + own * WIDTH;
  if (own_column < n) {
    const int column_offset = int(own_column) * b_column;
    if (ALONG_K == 2) {
      REALS4 b = REALS4(b_base + uint64_t(column_offset) * ELEMENT_SIZE);
      [[unroll]] for (uint i = 0; i < ROWS; ++i) {
        a_row[i] >>= 2;
      }
      for (uint k = k_begin + 4 * part; k < k_end; k += 4 * PARTS) {
        const vec4 y = WIDEN4(b.v[k >> 2]);
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
          const vec4 x = QUAD(args.a, a_row[i] + int(k >> 2));
          sums[i].x = fma(x.x, y.x, fma(x.y, y.y, fma(x.z, y.z, fma(x.w, y.w, sums[i].x))));
        }
      }
    } else if (ALONG_K == 3) {
      REALS4 b = REALS4(b_base + uint64_t(column_offset) * ELEMENT_SIZE);
      uint k = k_begin + part;
      for (; k + 3 * PARTS < k_end; k += 4 * PARTS) {
        vec4 y[4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          y[j] = WIDEN4(b.v[(int(k + j * PARTS) * b_k) >> 2]);
        }
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            sums[i] = fma(vec4(WIDEN(a.v[a_row[i] + int(k + j * PARTS) * args.a_k])), y[j], sums[i]);
          }
        }
      }
      for (; k < k_end; k += PARTS) {
        const vec4 y = WIDEN4(b.v[(int(k) * b_k) >> 2]);
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
          sums[i] = fma(vec4(WIDEN(a.v[a_row[i] + int(k) * args.a_k])), y, sums[i]);
        }
      }
    } else {
      REALS b = REALS(b_base);
      uint k = k_begin + part;
      for (; k + 3 * PARTS < k_end; k += 4 * PARTS) {
        float y[4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          y[j] = WIDEN(b.v[column_offset + int(k + j * PARTS) * b_k]);
        }
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            sums[i].x = fma(WIDEN(a.v[a_row[i] + int(k + j * PARTS) * args.a_k]), y[j], sums[i].x);
          }
        }
      }
      for (; k < k_end; k += PARTS) {
        const float y = WIDEN(b.v[column_offset + int(k) * b_k]);
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
          sums[i].x = fma(WIDEN(a.v[a_row[i] + int(k) * args.a_k]), y, sums[i].x);
        }
      }
    }
  }
  const uint row = t / COLUMNS;
  vec4 totals = vec4(0); // of the columns of thread t % COLUMNS in row `row`; but for quads of columns only x counts
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (j >= WIDTH) {
      break;
    }
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
      partial[(i * PARTS + part) * COLUMNS + own] = sums[i][j];
    }
    barrier();
    if (row < ROWS) {
      for (uint p = 0; p < PARTS; ++p) {
        totals[j] += partial[(row * PARTS + p) * COLUMNS + t % COLUMNS];
      }
    }
    barrier();
  }
  if (args.splits > 1) {
    const uint number = group - split * args.tiles;
    Pieces(args.pieces).v[(split * args.tiles + number) * 256 + t] = totals;
    if (!split_last(args.counters, number, args.splits)) {
      return;
    }
    totals = Pieces(args.pieces).v[number * 256 + t];
    for (uint s = 1; s < args.splits; ++s) {
      totals += Pieces(args.pieces).v[(s * args.tiles + number) * 256 + t];
    }
  }
  vec4 added = vec4(0);
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    const uint column = column0 + t % COLUMNS * WIDTH + j;
    if (j < WIDTH && row < args.m && column < n) {
      totals[j] *= args.alpha;
      if (bias != 0) {
        const int at = int(batch % args.bias_period) * args.bias_batch + int(row) * args.bias_row +
                       int(column) * bias_column;
        totals[j] = fma(args.beta, ELEMENT(bias, at), totals[j]);
      }
      if (RESIDUAL != LEAT_RESIDUAL_NONE) {
        added[j] = ELEMENT(args.residual, residual_offset + int(row) * args.residual_row +
                                              int(column) * args.residual_column);
      }
    }
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    totals += added;
  }
  if (ACTIVATION != LEAT_EW_IDENTITY && activates) {
    for (uint j = 0; j < WIDTH; ++j) {
      totals[j] = activated(totals[j], args.activation[0], args.activation[1]);
    }
  }
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    totals += added;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    const uint column = column0 + t % COLUMNS * WIDTH + j;
    if (j < WIDTH && row < args.m && column < n) {
      REALS(c_base).v[row * c_row + column * args.c_column] = NARROW(totals[j]);
    }
  }
}
