#version 460
// SPDX-License-Identifier: BSD-3-Clause
// LU factors, with partial pivoting, of some columns of each matrix of a batch, from their diagonal down. A workgroup
// has a matrix. Each row stays with one thread, which holds it in a copy, column by column, in shared memory or, without
// HELD, in global memory; what others need of it goes through shared memory.
#extension GL_GOOGLE_include_directive : require
#include "matrix.glsl"

LEAT_CONSTANT(uint, THREADS, 128);
LEAT_CONSTANT(uint, HELD, 1);  // elements of shared memory for the copy, BLOCK for a row; 1: it is not there
layout(local_size_x_id = CONSTANT_THREADS) in;
const uint ROWS = HELD / BLOCK;

struct Args {
  Block a;          // its first element is the first of the diagonal
  uint64_t copy;    // without HELD: [matrix][column][row]
  uint64_t pivots;  // of a matrix, from 1
  uint64_t info;
  uint rows, columns;
  uint first;       // row of the matrix that row 0 is
  uint pivot_count; // of a matrix
  uint matrices;
};
LEAT_ARGS

shared Scalar tile[HELD];
shared Scalar largest[THREADS];
shared uint where[THREADS];
shared Scalar pivot_row[BLOCK], upper_row[BLOCK];

uint matrix;

Scalar held(uint row, uint column) {
  return ROWS != 0 ? tile[column * ROWS + row]
                   : Scalars(args.copy).v[(matrix * args.columns + column) * args.rows + row];
}

void hold(uint row, uint column, Scalar x) {
  if (ROWS != 0) {
    tile[column * ROWS + row] = x;
  } else {
    Scalars(args.copy).v[(matrix * args.columns + column) * args.rows + row] = x;
  }
}

// A row, the last column in place of those that the panel has not: all loads at once, which do not wait for each other.
Scalar[BLOCK] held_row(uint row) {
  Scalar x[BLOCK];
  [[unroll]] for (uint column = 0; column < BLOCK; ++column) {
    x[column] = held(row, min(column, args.columns - 1));
  }
  return x;
}

void main() {
  const uint thread = gl_LocalInvocationIndex;
  matrix = leat_linear_group();
  if (matrix >= args.matrices) {
    return;
  }
  for (uint row = thread; row < args.rows; row += THREADS) {
    for (uint column = 0; column < args.columns; ++column) {
      hold(row, column, element(args.a, matrix, row, column));
    }
  }
  uint singular = 0;
  const uint steps = min(args.rows, args.columns);
  for (uint k = 0; k < steps; ++k) {
    // The first of the largest elements of the column.
    Scalar best = Scalar(-1);
    uint at = k;
    for (uint row = thread; row < args.rows; row += THREADS) {
      const Scalar x = row < k ? Scalar(-1) : abs(held(row, k));
      if (x > best) {
        best = x;
        at = row;
      }
    }
    largest[thread] = best;
    where[thread] = at;
    for (uint n = THREADS; n > 1;) {
      const uint half_ = (n + 1) / 2;
      barrier();
      if (thread + half_ < n) {
        const Scalar other = largest[thread + half_];
        if (other > largest[thread] || (other == largest[thread] && where[thread + half_] < where[thread])) {
          largest[thread] = other;
          where[thread] = where[thread + half_];
        }
      }
      n = half_;
    }
    barrier();
    const uint pivot = largest[0] < Scalar(0) ? k : where[0];  // of nothing but NaN the first
    // Who has one of the two rows hands it over.
    if (pivot % THREADS == thread) {
      const Scalar x[BLOCK] = held_row(pivot);
      [[unroll]] for (uint column = 0; column < BLOCK; ++column) {
        pivot_row[column] = x[column];
      }
    }
    if (k % THREADS == thread) {
      const Scalar x[BLOCK] = held_row(k);
      [[unroll]] for (uint column = 0; column < BLOCK; ++column) {
        upper_row[column] = x[column];
      }
    }
    barrier();
    if (pivot != k && pivot % THREADS == thread) {
      for (uint column = 0; column < args.columns; ++column) {
        hold(pivot, column, upper_row[column]);
      }
    }
    if (pivot != k && k % THREADS == thread) {
      for (uint column = 0; column < args.columns; ++column) {
        hold(k, column, pivot_row[column]);
      }
    }
    if (thread == 0) {
      I32(args.pivots).v[matrix * args.pivot_count + args.first + k] = int(args.first + pivot + 1);
    }
    const Scalar divisor = pivot_row[k];
    if (divisor == Scalar(0)) {
      // All below are 0 too.
      singular = singular == 0 ? args.first + k + 1 : singular;
    } else {
      for (uint row = thread; row < args.rows; row += THREADS) {
        if (row > k) {
          const Scalar factor = held(row, k) / divisor;
          hold(row, k, factor);
          for (uint column = k + 1; column < args.columns; ++column) {
            hold(row, column, held(row, column) - factor * pivot_row[column]);
          }
        }
      }
    }
    // Before the next one's rows and search take these places.
    barrier();
  }
  for (uint row = thread; row < args.rows; row += THREADS) {
    for (uint column = 0; column < args.columns; ++column) {
      set_element(args.a, matrix, row, column, held(row, column));
    }
  }
  if (thread == 0) {
    if (args.first == 0) {
      I32(args.info).v[matrix] = int(singular);
    } else if (singular != 0 && I32(args.info).v[matrix] == 0) {
      I32(args.info).v[matrix] = int(singular);
    }
  }
}
