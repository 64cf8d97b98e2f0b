#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Classes by their logarithmic probabilities. A workgroup draws some samples of one row: each thread adds up a part of
// the row's classes; where a sample's share of the sum lies is found among the parts first, then within one.
#extension GL_GOOGLE_include_directive : require
#include "philox.glsl"
#include "tree.glsl"

LEAT_CONSTANT(uint, wide, 0);  // 1: classes are int64, else int32

struct Args {
  uint64_t y;
  uint64_t x;
  Random random;
  uint classes;
  uint samples;   // of a row
  uint per_group; // samples of a workgroup
  uint groups;    // of a row
  uint rows;
};
LEAT_ARGS

shared float before[GROUP + 1];  // the sum of earlier parts

float largest;
uint64_t row_at;

float weight(uint c) {
  float x = LEAT_JOIN(load_, TYPE)(row_at + uint64_t(c) * LEAT_JOIN(SIZE_, TYPE));
  precise float below = x - largest;
  return leat_isinf(largest) ? (x == largest ? 1.0 : 0.0) : below < -103.0 ? 0.0 : exact_exp(below);
}

void main() {
  uint thread = gl_LocalInvocationIndex;
  uint row = leat_linear_group() / args.groups;
  if (row >= args.rows) {
    return;
  }
  uint first = (leat_linear_group() % args.groups) * args.per_group;
  uint each = (args.classes + GROUP - 1u) / GROUP;
  uint begin = min(thread * each, args.classes), end = min(begin + each, args.classes);
  row_at = args.x + uint64_t(row) * uint64_t(args.classes) * LEAT_JOIN(SIZE_, TYPE);

  float most = -LEAT_INFINITY;
  for (uint c = begin; c < end; ++c) {
    most = tree_larger(most, LEAT_JOIN(load_, TYPE)(row_at + uint64_t(c) * LEAT_JOIN(SIZE_, TYPE)));
  }
  largest = tree_max(most);
  // A row with a NaN, or without a class that there can be.
  bool none = leat_isnan(largest) || largest == -LEAT_INFINITY;

  precise float sum = 0.0;
  if (!none) {
    for (uint c = begin; c < end; ++c) sum += weight(c);
  }
  parts[thread] = sum;
  barrier();
  if (thread == 0u) {
    precise float total = 0.0;
    for (uint t = 0u; t < GROUP; ++t) {
      before[t] = total;
      total += parts[t];
    }
    before[GROUP] = total;
  }
  barrier();

  uint last = min(first + args.per_group, args.samples);
  for (uint s = first + thread; s < last; s += GROUP) {
    uint e = row * args.samples + s;
    uvec4 words = random_words(args.random, e >> 2, 0u);
    precise float share = random_uniform(words[e & 3u]) * before[GROUP];
    uint found = 0u;
    if (!none) {
      // The first part that ends behind the share; if rounding has made it the whole sum, the last one with a weight.
      uint low = 0u, high = GROUP - 1u;
      while (low < high) {
        uint middle = (low + high) / 2u;
        if (before[middle + 1u] > share) {
          high = middle;
        } else {
          low = middle + 1u;
        }
      }
      while (low > 0u && !(before[low + 1u] > before[low])) --low;
      precise float at = before[low];
      uint part_end = min((low + 1u) * each, args.classes);
      for (uint c = low * each; c < part_end; ++c) {
        float w = weight(c);
        if (w > 0.0) {
          found = c;
          at += w;
          if (at > share) break;
        }
      }
    }
    if (wide != 0u) {
      I64(args.y).v[e] = int64_t(found);
    } else {
      I32(args.y).v[e] = int(found);
    }
  }
}
