#version 460
// SPDX-License-Identifier: BSD-3-Clause
// e^x of each element of a row, divided by their sum, in an order that is the same on every device. A workgroup has a
// long row to itself, a thread a short one.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/types.glsl"
#include "tree.glsl"

LEAT_CONSTANT(uint, shared_rows, 0);  // 1: all threads of a workgroup have one row

struct Args {
  uint64_t dst;
  uint64_t x;
  uint rows;
  uint columns;
};
LEAT_ARGS

void main() {
  uint thread = gl_LocalInvocationIndex;
  uint row = shared_rows != 0u ? leat_linear_group() : leat_linear_group() * GROUP + thread;
  uint first = shared_rows != 0u ? thread : 0u, step = shared_rows != 0u ? GROUP : 1u;
  // Threads without a row go on to where all of them meet.
  uint end = row < args.rows ? args.columns : 0u;
  uint64_t begin = uint64_t(row) * uint64_t(args.columns);
  uint64_t from = args.x + begin * 4u;
  float most = -LEAT_INFINITY;
  for (uint c = first; c < end; c += step) most = tree_larger(most, F32(from).v[c]);
  if (shared_rows != 0u) most = tree_max(most);
  precise float sum = 0.0;
  for (uint c = first; c < end; c += step) {
    precise float below = F32(from).v[c] - most;
    sum += exact_exp(below);
  }
  float total = sum;
  if (shared_rows != 0u) total = tree_sum(sum);
  float scale = exact_reciprocal(total);
  for (uint c = first; c < end; c += step) {
    precise float below = F32(from).v[c] - most;
    precise float y = exact_exp(below) * scale;
    LEAT_JOIN(store_, TYPE)(args.dst + (begin + uint64_t(c)) * LEAT_JOIN(SIZE_, TYPE), y);
  }
}
