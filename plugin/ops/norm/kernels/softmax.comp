#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Softmax and LogSoftmax along one dimension of a compact tensor. A thread takes four elements of a row at a time, the
// same ones whether it loads them one by one or at once. Rows that fit are kept in registers and read once.
#include "core/kernels/reals.glsl"
#include "reduce/kernels/rows.glsl"
#include "core/kernels/math.glsl"

LEAT_CONSTANT(uint, HELD, 0);  // fours of a row that a thread keeps, up to HELD_MOST; 0: the row is read three times
LEAT_CONSTANT(uint, QUADS, 0); // 1: fours are neighbours, whole and aligned
LEAT_CONSTANT(uint, LOGARITHM, 0);
struct Args {
  uint64_t x, y;
  uint rows, count; // count elements in each row
  uint inner;        // from one element of a row to the next; also so many rows begin side by side
};
LEAT_ARGS

#define HELD_MOST 4
shared float space[LEAT_ROW_SPACE];

float add(float a, float b) { return a + b; }
float larger(float a, float b) { return max(a, b); }
LEAT_ROW_COMBINE(row_sum, float, space, add)
LEAT_ROW_COMBINE(row_max, float, space, larger)

uint base; // of the row

// Four elements of the row; those past its end count for nothing.
vec4 load(uint quad) {
  if (QUADS != 0) {
    return QUAD(args.x, (base >> 2) + quad);
  }
  vec4 values = vec4(-LEAT_INFINITY);
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

float top_of(vec4 values) { return max(max(values.x, values.y), max(values.z, values.w)); }
float sum_of(vec4 values) { return (values.x + values.y) + (values.z + values.w); }
vec4 powers(vec4 values, float top) {
  return vec4(leat_exp(values.x - top), leat_exp(values.y - top), leat_exp(values.z - top), leat_exp(values.w - top));
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

  float top = -LEAT_INFINITY;
  float sum = 0;
  if (HELD != 0) {
    vec4 held[HELD_MOST];
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        held[j] = load(row_part() + j * PARTS);
      }
    }
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        top = max(top, top_of(held[j]));
      }
    }
    top = row_max(top);
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        const vec4 raised = powers(held[j], top);
        sum += sum_of(raised);
        held[j] = LOGARITHM != 0 ? held[j] : raised;
      }
    }
    sum = row_sum(sum);
    const float log_sum = leat_log(sum), over = 1.0 / sum;
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        store(row_part() + j * PARTS, LOGARITHM != 0 ? held[j] - top - log_sum : held[j] * over);
      }
    }
    return;
  }

  for (uint quad = row_part(); quad < quads; quad += PARTS) {
    top = max(top, top_of(load(quad)));
  }
  top = row_max(top);
  for (uint quad = row_part(); quad < quads; quad += PARTS) {
    sum += sum_of(powers(load(quad), top));
  }
  sum = row_sum(sum);
  const float log_sum = leat_log(sum), over = 1.0 / sum;
  for (uint quad = row_part(); quad < quads; quad += PARTS) {
    const vec4 values = load(quad);
    store(quad, LOGARITHM != 0 ? values - top - log_sum : powers(values, top) * over);
  }
}
