#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Normalisation of rows of neighbouring elements (layer, instance, group and RMS normalisation): mean and variance of
// a row in two passes, then scale and bias. Rows that fit are kept in registers and read once.
#include "types.glsl"
#include "rows.glsl"

LEAT_CONSTANT(uint, HELD, 0); // elements of a row that a thread keeps; 0: the row is read three times
LEAT_CONSTANT(uint, RMS, 0);  // 1: no mean is taken off
LEAT_CONSTANT(uint, SKIP, 0); // 1: the row is x + skip + addend
layout(set = 0, binding = 0, std430) uniform Args {
  uint64_t x, y;
  uint64_t scale, bias;         // 0 for none
  uint64_t mean, deviation;     // outputs of one element per row, 0 for none; deviation holds its inverse
  // addend: one per element of a row, 0 for none; total: output of what was normalised, 0 for none.
  uint64_t skip, addend, total;
  uint rows, count;             // count elements in each row
  uint skip_rows;               // skip repeats after so many rows
  uint period, step, spread;    // element i of row r takes scale and bias number r % period * step + i / spread
  float epsilon;
} args;

#define HELD_MOST 16
shared float space[256];

float add(float a, float b) { return a + b; }
LEAT_ROW_COMBINE(row_sum, float, space, add)

uint base, skip_base;

float load(uint i) {
  float value = float(TYPE(args.x).v[base + i]);
  if (SKIP != 0) {
    value += float(TYPE(args.skip).v[skip_base + i]);
    if (args.addend != 0) {
      value += float(TYPE(args.addend).v[i]);
    }
  }
  return value;
}

void store(uint i, float value, float mean, float inverse, uint first) {
  if (SKIP != 0 && args.total != 0) {
    TYPE(args.total).v[base + i] = STORED(value);
  }
  const uint at = first + (args.spread == 1 ? i : i / args.spread);
  float result = (value - mean) * inverse;
  if (args.scale != 0) {
    result *= float(TYPE(args.scale).v[at]);
  }
  if (args.bias != 0) {
    result += float(TYPE(args.bias).v[at]);
  }
  TYPE(args.y).v[base + i] = STORED(result);
}

void main() {
  const uint block = leat_linear_group();
  if (block * ROWS >= args.rows) {
    return;
  }
  const uint row = block * ROWS + row_own();
  const uint count = row < args.rows ? args.count : 0;
  base = row * args.count;
  skip_base = SKIP != 0 ? row % args.skip_rows * args.count : 0;
  const uint first = row % args.period * args.step;
  const float over = float(max(args.count, 1)); // a row of nothing has mean and variance 0

  float held[HELD_MOST];
  float mean = 0;
  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      const uint i = row_part() + j * PARTS;
      if (j < HELD && i < count) {
        held[j] = load(i);
        mean += held[j];
      }
    }
  } else if (RMS == 0) {
    for (uint i = row_part(); i < count; i += PARTS) {
      mean += load(i);
    }
  }
  mean = RMS != 0 ? 0 : row_sum(mean) / over;

  float variance = 0;
  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < count) {
        const float away = held[j] - mean;
        variance = fma(away, away, variance);
      }
    }
  } else {
    for (uint i = row_part(); i < count; i += PARTS) {
      const float away = load(i) - mean;
      variance = fma(away, away, variance);
    }
  }
  variance = row_sum(variance) / over;
  const float inverse = 1.0 / sqrt(variance + args.epsilon);

  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      const uint i = row_part() + j * PARTS;
      if (j < HELD && i < count) {
        store(i, held[j], mean, inverse, first);
      }
    }
  } else {
    for (uint i = row_part(); i < count; i += PARTS) {
      store(i, load(i), mean, inverse, first);
    }
  }
  if (row_part() == 0 && row < args.rows) {
    if (args.mean != 0) {
      F32(args.mean).v[row] = mean;
    }
    if (args.deviation != 0) {
      F32(args.deviation).v[row] = inverse;
    }
  }
}
