#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Running sums, or with PRODUCT products, along one axis, a row per invocation, in the order in which the specification
// adds.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/types.glsl"

#if defined(PRODUCT)
#define START 1
#define TAKE(so_far, x) so_far *= x
#else
#define START 0
#define TAKE(so_far, x) so_far += x
#endif

layout(local_size_x = 64) in;

struct Args {
  uint64_t src;  // compact
  uint64_t dst;
  uint rows;
  uint steps;  // elements of a row
  uint begin;  // this dispatch adds elements [begin, end) of each row in the order of adding; dst holds those before
  uint end;
  uint inner;  // elements from one of a row to the next
  uint exclusive;
  uint reverse;
};
LEAT_ARGS

void main() {
  uint row = leat_linear_group() * 64u + gl_LocalInvocationIndex;
  if (row >= args.rows) return;
  uint outer = row / args.inner;
  uint first = outer * args.steps * args.inner + (row - outer * args.inner);
  LEAT_JOIN(T_, TYPE) so_far = LEAT_JOIN(T_, TYPE)(START);
  if (args.begin != 0u) {
    uint before = first + (args.reverse != 0u ? args.steps - args.begin : args.begin - 1u) * args.inner;
    so_far = LEAT_JOIN(load_, TYPE)(args.dst + uint64_t(before) * LEAT_JOIN(SIZE_, TYPE));
    if (args.exclusive != 0u) {
      TAKE(so_far, LEAT_JOIN(load_, TYPE)(args.src + uint64_t(before) * LEAT_JOIN(SIZE_, TYPE)));
    }
  }
  for (uint i = args.begin; i < args.end; ++i) {
    uint position = first + (args.reverse != 0u ? args.steps - 1u - i : i) * args.inner;
    uint64_t offset = uint64_t(position) * LEAT_JOIN(SIZE_, TYPE);
    LEAT_JOIN(T_, TYPE) x = LEAT_JOIN(load_, TYPE)(args.src + offset);
    if (args.exclusive != 0u) {
      LEAT_JOIN(store_, TYPE)(args.dst + offset, so_far);
      TAKE(so_far, x);
    } else {
      TAKE(so_far, x);
      LEAT_JOIN(store_, TYPE)(args.dst + offset, so_far);
    }
  }
}
