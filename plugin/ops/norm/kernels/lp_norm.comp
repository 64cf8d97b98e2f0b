#version 460
// SPDX-License-Identifier: BSD-3-Clause
// LpNormalization: the elements along one dimension of a compact tensor, divided by the sum of their magnitudes or the
// root of that of their squares. A thread takes four elements of a row at a time, the same ones whether it loads them
// one by one or at once. Rows that fit are kept in registers and read once.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"
#include "reduce/kernels/rows.glsl"

LEAT_CONSTANT(uint, HELD, 0);    // fours of a row that a thread keeps, up to HELD_MOST; 0: the row is read twice
LEAT_CONSTANT(uint, QUADS, 0);   // 1: fours are neighbours, whole and aligned
LEAT_CONSTANT(uint, SQUARES, 1); // 1: p is 2; 0: 1
struct Args {
  uint64_t x, y;
  uint rows, count; // count elements in each row
  uint inner;       // from one element of a row to the next; also so many rows begin side by side
};
LEAT_ARGS

#define HELD_MOST 4
shared float space[LEAT_ROW_SPACE];

float add(float a, float b) { return a + b; }
LEAT_ROW_COMBINE(row_sum, float, space, add)

uint base; // of the row

// Four elements of the row; those past its end are 0.
vec4 load(uint quad) {
  if (QUADS != 0) {
    return QUAD(args.x, (base >> 2) + quad);
  }
  vec4 values = vec4(0);
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      values[k] = ELEMENT(args.x, base + (quad * 4 + k) * args.inner);
    }
  }
  return values;
}

void store(uint quad, vec4 values) {
  if (QUADS != 0) {
    REALS4(args.y).v[(base >> 2) + quad] = NARROW4(values);
    return;
  }
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      REALS(args.y).v[base + (quad * 4 + k) * args.inner] = NARROW(values[k]);
    }
  }
}

float sum_of(vec4 values) {
  const vec4 terms = SQUARES != 0 ? values * values : abs(values);
  return (terms.x + terms.y) + (terms.z + terms.w);
}

void main() {
  const uint block = leat_linear_group();
  if (block * ROWS >= args.rows) {
    return;
  }
  const uint row = block * ROWS + row_own();
  base = row * args.count;
  if (!ALONG) {
    const uint outer = row / args.inner;
    base = outer * args.count * args.inner + (row - outer * args.inner);
  }
  const uint quads = row < args.rows ? (args.count + 3) / 4 : 0;

  vec4 held[HELD_MOST];
  float sum = 0;
  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        held[j] = load(row_part() + j * PARTS);
        sum += sum_of(held[j]);
      }
    }
  } else {
    for (uint quad = row_part(); quad < quads; quad += PARTS) {
      sum += sum_of(load(quad));
    }
  }
  sum = row_sum(sum);
  const float norm = SQUARES != 0 ? leat_sqrt(sum) : sum;
  // A row of zeros stays one.
  const float divisor = norm == 0 ? 1 : norm;
  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        store(row_part() + j * PARTS, held[j] / divisor);
      }
    }
    return;
  }
  for (uint quad = row_part(); quad < quads; quad += PARTS) {
    store(quad, load(quad) / divisor);
  }
}
