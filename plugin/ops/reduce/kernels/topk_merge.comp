#version 460
// SPDX-License-Identifier: BSD-3-Clause
// A later dispatch of TopK: makes one list of two, of which no more than k places are kept. A thread has one place, and
// finds its rank as what is before it in its own list and in the other one.
#include "topk.glsl"

#define THREADS 256
layout(local_size_x = THREADS) in;

void main() {
  const uint item = leat_linear_group() * THREADS + gl_LocalInvocationIndex;
  if (item >= args.total) {
    return;
  }
  const uint row = divide(item, args.per_row), within = item - row * args.row;
  const uint list = divide(within, args.per_each), other = list ^ 1u;
  const uint begin = row * args.row + other * args.each;
  const Ranked own = ranked(row, U32(args.from).v[item]);
  // Of the other list so many are before it.
  uint low = 0, high = 0;
  if (other < args.lists) {
    high = min(args.k, min(args.span, args.size - other * args.span));
  }
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (is_before(ranked(row, U32(args.from).v[begin + middle]), own)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const uint rank = within - list * args.each + low;
  if (rank < args.k) {
    if (args.last != 0) {
      give(row, rank, own.place);
    } else {
      U32(args.to).v[row * args.next_row + list / 2 * args.next_each + rank] = own.place;
    }
  }
}
