#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product for up to 8 rows: every element of b is read once, by one thread, and used for all rows. The threads
// of a workgroup share out its columns and k, and add up through shared memory, in a fixed order.
#include "core/kernels/leat.glsl"
#include "epilogue.glsl"
#include "gemm_args.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/split.glsl"

LEAT_CONSTANT(uint, ROWS, 1);      // 1, 2, 4, 8: not less than args.m
LEAT_CONSTANT(uint, ALONG_K, 0);   // neighbouring threads: 0 along columns, 1 along k, 2 along k by fours, 3 along
                                   // columns by fours, 4 by eights of 16 bits
LEAT_CONSTANT(uint, LANES, 16);    // threads that columns are shared out to, up to 16
LEAT_CONSTANT(uint, THREADS, 256); // of a workgroup, up to 512
LEAT_CONSTANT(uint, FOURS_A, 0);   // 1: a, and the factor, may be read four of k at a time
LEAT_CONSTANT(uint, FACTOR, 0);    // LEAT_FACTOR_...
layout(local_size_x_id = CONSTANT_THREADS) in;
struct Args {
  GEMM_ARGS
};
LEAT_ARGS
#include "gemm_batch.glsl"

const uint WIDTH = ALONG_K == 4 ? 8 : ALONG_K == 3 ? 4 : 1; // columns of a thread
const uint COLUMNS = LANES * WIDTH;                         // of a workgroup
const uint PARTS = THREADS / LANES;                         // that k is shared out to
const uint CHUNKS = THREADS / COLUMNS;                      // of WIDTH parts each
const uint PITCH = THREADS + LANES;                         // columns of a thread begin in different banks
// Of k, what a thread has on the way at once where it goes along columns by fours or eights. With eight rows it is
// less, for there are registers for each row too: so an H200 takes 80 us instead of 97 for 8x16384x4096 in float32.
#define DEPTH_MOST 8
const uint DEPTH = ROWS == 8 ? DEPTH_MOST / 2 : DEPTH_MOST;

// Rows whose sums are added up at once, as many as there is shared memory for, and rows that a thread has totals of.
const uint FITTING = (WIDTH == 1 ? 2048 : 512) / THREADS;
const uint AT_ONCE = ROWS < FITTING ? ROWS : FITTING;
const uint OWN_ROWS = (ROWS + CHUNKS - 1) / CHUNKS;
// Of each row at once the sums of threads, by column of a thread, and behind all of these the sums of chunks.
#define SPACE (2 * 8 * (256 + 16) + 2 * 256)
shared float space[SPACE];
const uint JOINED = AT_ONCE * WIDTH * PITCH;

// Of this thread: where its rows of a begin, and sums by row and column. Rows beyond the last repeat it; what they give
// is not written.
int a_row[8];
vec4 sums[8][2];

// Element k of row `i` of a, without the factor and with it.
float bare(uint i, uint k) { return ELEMENT(args.a, a_row[i] + int(k) * args.a_k); }
uint factor_row(uint i) { return min(i, args.m - 1) * args.factor_row; }
float left(uint i, uint k) {
  const float x = bare(i, k);
  return FACTOR == LEAT_FACTOR_NONE ? x : x * ELEMENT(args.gate, factor_row(i) + k);
}

// Four of them from k on, a multiple of 4, where they may be read at a time.
vec4 bare4(uint i, uint k) { return QUAD(args.a, (a_row[i] + int(k)) >> 2); }
vec4 left4(uint i, uint k) {
  const vec4 x = bare4(i, k);
  return FACTOR == LEAT_FACTOR_NONE ? x : x * QUAD(args.gate, (factor_row(i) + k) >> 2);
}

// Adds up elements of k from `k` up to `end`, every PARTS.
void add_singles(uint64_t column, int b_k, uint k, uint end) {
  for (; k + 3 * PARTS < end; k += 4 * PARTS) {
    float y[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      y[j] = ELEMENT(column, int(k + j * PARTS) * b_k);
    }
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      [[unroll]] for (uint i = 0; i < ROWS; ++i) {
        sums[i][0].x = fma(left(i, k + j * PARTS), y[j], sums[i][0].x);
      }
    }
  }
  for (; k < end; k += PARTS) {
    const float y = ELEMENT(column, int(k) * b_k);
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
      sums[i][0].x = fma(left(i, k), y, sums[i][0].x);
    }
  }
}

// The same by fours of k.
void add_fours(uint64_t column, uint k, uint end) {
  for (; k < end; k += 4 * PARTS) {
    const vec4 y = QUAD(column, k >> 2);
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
      const vec4 x = left4(i, k);
      sums[i][0].x = fma(x.x, y.x, fma(x.y, y.y, fma(x.z, y.z, fma(x.w, y.w, sums[i][0].x))));
    }
  }
}

// WIDTH elements of b, the first of which is element `i`.
uvec4 fetch(uint64_t b, int i) {
  return WIDTH * ELEMENT_SIZE == 16 ? U32x4(b).v[i / int(WIDTH)] : uvec4(U32x2(b).v[i / int(WIDTH)], 0, 0);
}

// The same for WIDTH columns, DEPTH of k at a time.
void add_columns(uint64_t columns, int b_k, uint k, uint end) {
  for (; k < end; k += PARTS * DEPTH) {
    uvec4 y[DEPTH_MOST];
    vec4 x[8][DEPTH_MOST / 4];
    // What is beyond the end repeats the last, and is not added.
    [[unroll]] for (uint j = 0; j < DEPTH; ++j) {
      y[j] = fetch(columns, int(min(k + j, end - 1)) * b_k);
    }
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
      [[unroll]] for (uint q = 0; q < DEPTH / 4; ++q) {
        if (FOURS_A != 0) {
          x[i][q] = left4(i, min(k + 4 * q, end - 4));
        } else {
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            x[i][q][j] = left(i, min(k + 4 * q + j, end - 1));
          }
        }
      }
    }
    [[unroll]] for (uint j = 0; j < DEPTH; ++j) {
      if (k + j < end) {
        [[unroll]] for (uint h = 0; h < WIDTH / 4; ++h) {
          const vec4 four = FOUR(y[j], h);
          [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            sums[i][h] = fma(vec4(x[i][j / 4][j % 4]), four, sums[i][h]);
          }
        }
      }
    }
  }
}

// Totals of column `t` % COLUMNS of the workgroup in rows `t` / COLUMNS, that plus CHUNKS, and so on. `slot`: that of
// this thread's sums among those of a column.
vec4 totals_of(uint t, uint slot) {
  const uint chunk = t / COLUMNS, column = t % COLUMNS;
  const uint from = column % WIDTH * PITCH + column / WIDTH + chunk * WIDTH * LANES;
  vec4 totals = vec4(0);
  [[unroll]] for (uint first = 0; first < ROWS; first += AT_ONCE) {
    [[unroll]] for (uint i = 0; i < AT_ONCE; ++i) {
      [[unroll]] for (uint c = 0; c < WIDTH; ++c) {
        space[(i * WIDTH + c) * PITCH + slot] = sums[first + i][c / 4][c % 4];
      }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < AT_ONCE; ++i) {
      float sum = 0;
      for (uint p = 0; p < WIDTH; ++p) {
        sum += space[from + i * WIDTH * PITCH + p * LANES];
      }
      space[JOINED + i * THREADS + t] = sum;
    }
    barrier();
    [[unroll]] for (uint j = 0; j < OWN_ROWS; ++j) {
      const uint row = chunk + j * CHUNKS;
      if (row >= first && row < first + AT_ONCE) {
        for (uint h = 0; h < CHUNKS; ++h) {
          totals[j] += space[JOINED + (row - first) * THREADS + h * COLUMNS + column];
        }
      }
    }
  }
  return totals;
}

// Where squares of rows are put aside, once no sums of products are there: a sum of each thread, and behind these one
// of each of FANS threads a row.
#define FANS 16
const uint FANNED = ROWS * THREADS;

// Finds them; all threads call it. A thread takes the same elements whether it reads them one by one or at once.
void add_squares(uint t) {
  barrier();
  [[unroll]] for (uint i = 0; i < ROWS; ++i) {
    float sum = 0;
    for (uint k = 4 * t; k < args.k; k += 4 * THREADS) {
      vec4 x = vec4(0);
      if (FOURS_A != 0) {
        x = bare4(i, k);
      } else {
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          if (k + j < args.k) {
            x[j] = bare(i, k + j);
          }
        }
      }
      sum += fma(x.x, x.x, x.y * x.y) + fma(x.z, x.z, x.w * x.w);
    }
    space[i * THREADS + t] = sum;
  }
  barrier();
  for (uint own = t; own < FANS * ROWS; own += THREADS) {
    float sum = 0;
    for (uint j = own % FANS; j < THREADS; j += FANS) {
      sum += space[own / FANS * THREADS + j];
    }
    space[FANNED + own] = sum;
  }
  barrier();
}

// What a row of the product is divided by, inverted.
float inverse_root(uint row) {
  float sum = 0;
  for (uint j = 0; j < FANS; ++j) {
    sum += space[FANNED + row * FANS + j];
  }
  return args.k == 0 ? 0.0 : 1.0 / sqrt(sum / float(args.k) + args.epsilon);
}

void main() {
  const uint t = gl_LocalInvocationIndex;
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const uint outer = divide(group, args.per_tiles);
  const uint split = divide(outer, args.per_batch);
  const uint batch = outer - split * args.batch;
  const BatchOffsets offsets = offsets_of(batch);
  const uint tile = group - outer * args.tiles_n;
  const uint column0 = tile * COLUMNS;
  const bool across = ALONG_K == 0 || ALONG_K >= 3;
  const uint own = across ? t % LANES : t / PARTS;
  const uint part = across ? t / LANES : t % PARTS;
  const uint begin = split * args.k_chunk;
  const uint end = min(args.k, begin + args.k_chunk);
  [[unroll]] for (uint i = 0; i < 8; ++i) {
    sums[i][0] = sums[i][1] = vec4(0);
    a_row[i] = offsets.a + int(min(i, args.m - 1)) * args.a_row;
  }
  const uint own_column = column0 + own * WIDTH;
  if (own_column < args.n) {
    const uint64_t b = args.b + uint64_t(offsets.b + int(own_column) * args.b_column) * ELEMENT_SIZE;
    if (ALONG_K == 2) {
      add_fours(b, begin + 4 * part, end);
    } else if (ALONG_K >= 3) {
      add_columns(b, args.b_k, begin + DEPTH * part, end);
    } else {
      add_singles(b, args.b_k, begin + part, end);
    }
  }
  vec4 totals = totals_of(t, part * LANES + own);
  if (args.splits > 1) {
    const uint number = group - split * args.tiles;
    Pieces(args.pieces).v[(split * args.tiles + number) * THREADS + t] = totals;
    if (!split_last(args.counters, number, args.splits)) {
      return;
    }
    totals = Pieces(args.pieces).v[number * THREADS + t];
    for (uint s = 1; s < args.splits; ++s) {
      totals += Pieces(args.pieces).v[(s * args.tiles + number) * THREADS + t];
    }
  }
  if (FACTOR == LEAT_FACTOR_NORM) {
    add_squares(t);
  }
  const uint column = column0 + t % COLUMNS;
  vec4 added = vec4(0);
  [[unroll]] for (uint j = 0; j < OWN_ROWS; ++j) {
    const uint row = t / COLUMNS + j * CHUNKS;
    if (row < args.m && column < args.n) {
      if (FACTOR == LEAT_FACTOR_NORM) {
        totals[j] *= inverse_root(row);
      }
      totals[j] *= args.alpha;
      if (args.bias != 0) {
        const int at = bias_of_batch(batch) + int(row) * args.bias_row +
                       int(column) * args.bias_column;
        totals[j] = fma(args.beta, ELEMENT(args.bias, at), totals[j]);
      }
      if (RESIDUAL != LEAT_RESIDUAL_NONE) {
        added[j] = ELEMENT(args.residual, offsets.residual + int(row) * args.residual_row +
                                              int(column) * args.residual_column);
      }
    }
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    totals += added;
  }
  if (ACTIVATION != LEAT_EW_IDENTITY) {
    for (uint j = 0; j < OWN_ROWS; ++j) {
      totals[j] = activated(totals[j], args.activation[0], args.activation[1]);
    }
  }
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    totals += added;
  }
  const uint64_t c = args.c + uint64_t(batch) * args.c_batch * ELEMENT_SIZE;
  [[unroll]] for (uint j = 0; j < OWN_ROWS; ++j) {
    const uint row = t / COLUMNS + j * CHUNKS;
    if (row < args.m && column < args.n) {
      REALS(c).v[row * args.c_row + column * args.c_column] = NARROW(totals[j]);
    }
  }
}
