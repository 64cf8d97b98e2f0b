#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Which experts each token takes, those of the largest scores, and the weights by which their results are added up: the
// scores' softmax, or numbers that are given, divided by their sum if they are normalised.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"
#include "reduce/kernels/rows.glsl"

LEAT_CONSTANT(uint, NORMALIZED, 0);
struct Args {
  uint64_t scores, given;    // [token][expert]; given: 0 for the softmax
  uint64_t experts, weights; // of each token `taken`, uint and float32
  uint tokens, count, taken; // count: experts
};
LEAT_ARGS

shared float space[LEAT_ROW_SPACE];
shared uint64_t keys[LEAT_ROW_SPACE];

float add(float a, float b) { return a + b; }
float larger(float a, float b) { return max(a, b); }
uint64_t larger_key(uint64_t a, uint64_t b) { return max(a, b); }
LEAT_ROW_COMBINE(row_sum, float, space, add)
LEAT_ROW_COMBINE(row_max, float, space, larger)
LEAT_ROW_COMBINE(row_key, uint64_t, keys, larger_key)

uint token;

float score_of(uint expert) { return ELEMENT(args.scores, token * args.count + expert); }

// A number that is larger for a larger score, and of equal ones for the later expert.
uint64_t key_of(uint expert) {
  const uint bits = floatBitsToUint(score_of(expert));
  const uint ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t(ordered) << 32 | uint64_t(expert);
}

void main() {
  const uint block = leat_linear_group();
  if (block * ROWS >= args.tokens) {
    return;
  }
  // A row past the last is that one again, which stores nothing.
  token = min(block * ROWS + row_own(), args.tokens - 1);
  const bool stores = block * ROWS + row_own() < args.tokens && row_part() == 0;
  float most = -LEAT_INFINITY;
  for (uint e = row_part(); e < args.count; e += PARTS) {
    most = max(most, score_of(e));
  }
  most = row_max(most);
  float sum = 0;
  for (uint e = row_part(); e < args.count; e += PARTS) {
    sum += leat_exp(score_of(e) - most);
  }
  sum = row_sum(sum);

  uint64_t last = ~uint64_t(0);
  float total = 0;
  for (uint n = 0; n < args.taken; ++n) {
    uint64_t best = uint64_t(0);
    for (uint e = row_part(); e < args.count; e += PARTS) {
      const uint64_t key = key_of(e);
      best = key < last ? max(best, key) : best;
    }
    last = row_key(best);
    // There are as many experts as are taken, so that one is left; were there none, it would be the first.
    const uint expert = min(uint(last), args.count - 1);
    const float weight = args.given != 0 ? ELEMENT(args.given, token * args.count + expert)
                                         : leat_exp(score_of(expert) - most) / sum;
    total += weight;
    if (stores) {
      U32(args.experts).v[token * args.taken + n] = expert;
      F32(args.weights).v[token * args.taken + n] = weight;
    }
  }
  for (uint n = 0; NORMALIZED != 0 && stores && n < args.taken; ++n) {
    F32(args.weights).v[token * args.taken + n] /= total;
  }
}
