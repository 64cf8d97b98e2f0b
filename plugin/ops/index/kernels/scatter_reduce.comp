#version 460
// SPDX-License-Identifier: BSD-3-Clause
// ScatterElements and ScatterND with a reduction: each update is added to an element of the result, multiplied with it,
// or the lesser or greater of both. Updates that meet in an element are taken in the order in which they lie, whatever
// runs when, so that sums of floats have the same bits each time.
//
// The updates form lines. An update of a line goes to places of the line alone, and which one its index tells. The
// places of a line are dealt out to threads in turn; each of them reads all of the line's indices, and takes those that
// name a place of its own.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/divider.glsl"
#include "core/kernels/types.glsl"
#include "elementwise/kernels/functions.glsl"
#include "index.glsl"

layout(local_size_x = 64) in;
LEAT_CONSTANT(int, operation, LEAT_EW_ADD);

#define Number LEAT_JOIN(T_, TYPE)
#define SIZE LEAT_JOIN(SIZE_, TYPE)

struct Args {
  uint64_t data;  // the result, which holds what the updates are added to; compact, as are the others
  uint64_t indices;
  uint64_t updates;
  uint threads;       // of all lines
  uint per_line;      // of a line
  Divider of_line;    // divides by per_line
  uint rank;          // of a line's number
  uint tuple;         // indices that tell a place
  uint begin, end;    // which updates of each line this dispatch takes
  uint index_step;    // items of the indices from one update of a line to the next,
  uint update_step;   // of the updates,
  uint place_step;    // and of the data from one place of a line to the next
  uint dims[8];       // of a line's number, and by dimension items from one line to the next
  uint index_stride[8], update_stride[8], data_stride[8];
  uint sizes[8];      // what the indices of a tuple count,
  uint places[8];     // and places from one to the next
  uint64_t finding;
};
LEAT_ARGS

Number combine(Number a, Number b) {
#if defined(REAL)
  return function_binary(operation, a, b, 0.0);
#else
  switch (operation) {
    case LEAT_EW_MUL:
      return a * b;
    case LEAT_EW_MIN:
      return min(a, b);
    case LEAT_EW_MAX:
      return max(a, b);
    default:
      return a + b;
  }
#endif
}

void main() {
  const uint thread = leat_linear_group() * 64u + gl_LocalInvocationIndex;
  if (thread >= args.threads) return;
  uint line = divide(thread, args.of_line);
  const uint own = thread - line * args.per_line;
  uint index_at = 0u, update_at = 0u, data_at = 0u;
  for (uint e = args.rank; e > 0u; --e) {
    const uint d = e - 1u, rest = line / args.dims[d], at = line - rest * args.dims[d];
    index_at += at * args.index_stride[d];
    update_at += at * args.update_stride[d];
    data_at += at * args.data_stride[d];
    line = rest;
  }
  for (uint n = args.begin; n < args.end; ++n) {
    uint place = 0u;
    bool inside = true;
    for (uint k = 0u; k < args.tuple; ++k) {
      const int64_t x = index_load(args.indices, index_at + n * args.index_step + k, args.sizes[k], args.finding);
      inside = inside && x >= int64_t(0);
      place += uint(max(x, int64_t(0))) * args.places[k];
    }
    if (inside && place % args.per_line == own) {
      const uint64_t to = args.data + uint64_t(data_at + place * args.place_step) * SIZE;
      const uint64_t from = args.updates + uint64_t(update_at + n * args.update_step) * SIZE;
      LEAT_JOIN(store_, TYPE)(to, combine(LEAT_JOIN(load_, TYPE)(to), LEAT_JOIN(load_, TYPE)(from)));
    }
  }
}
