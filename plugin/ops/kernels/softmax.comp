#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Softmax and LogSoftmax along one dimension of a compact tensor. Rows that fit are kept in registers and read once.
#include "types.glsl"
#include "rows.glsl"
#include "math.glsl"

LEAT_CONSTANT(uint, HELD, 0); // elements of a row that a thread keeps; 0: the row is read three times
LEAT_CONSTANT(uint, LOGARITHM, 0);
layout(set = 0, binding = 0, std430) uniform Args {
  uint64_t x, y;
  uint rows, count; // count elements in each row
  uint inner;       // from one element of a row to the next; also so many rows begin side by side
} args;

#define HELD_MOST 16
shared float space[256];

float add(float a, float b) { return a + b; }
float larger(float a, float b) { return max(a, b); }
LEAT_ROW_COMBINE(row_sum, float, space, add)
LEAT_ROW_COMBINE(row_max, float, space, larger)

float finish(float value, float top, float sum, float log_sum) {
  return LOGARITHM != 0 ? value - top - log_sum : leat_exp(value - top) / sum;
}

void main() {
  const uint block = leat_linear_group();
  if (block * ROWS >= args.rows) {
    return;
  }
  const uint row = block * ROWS + row_own();
  const bool live = row < args.rows;
  const uint outer = row / args.inner;
  const uint base = outer * args.count * args.inner + (row - outer * args.inner);
  TYPE x = TYPE(args.x);
  TYPE y = TYPE(args.y);
  const uint count = live ? args.count : 0;

  if (HELD != 0) {
    float held[HELD_MOST];
    float top = -LEAT_INFINITY;
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      const uint i = row_part() + j * PARTS;
      if (j < HELD && i < count) {
        held[j] = float(x.v[base + i * args.inner]);
        top = max(top, held[j]);
      }
    }
    top = row_max(top);
    float sum = 0;
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < count) {
        sum += leat_exp(held[j] - top);
      }
    }
    sum = row_sum(sum);
    const float log_sum = leat_log(sum);
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      const uint i = row_part() + j * PARTS;
      if (j < HELD && i < count) {
        y.v[base + i * args.inner] = STORED(finish(held[j], top, sum, log_sum));
      }
    }
    return;
  }

  float top = -LEAT_INFINITY;
  for (uint i = row_part(); i < count; i += PARTS) {
    top = max(top, float(x.v[base + i * args.inner]));
  }
  top = row_max(top);
  float sum = 0;
  for (uint i = row_part(); i < count; i += PARTS) {
    sum += leat_exp(float(x.v[base + i * args.inner]) - top);
  }
  sum = row_sum(sum);
  const float log_sum = leat_log(sum);
  for (uint i = row_part(); i < count; i += PARTS) {
    y.v[base + i * args.inner] = STORED(finish(float(x.v[base + i * args.inner]), top, sum, log_sum));
  }
}
