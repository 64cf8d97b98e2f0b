#version 460
// SPDX-License-Identifier: BSD-3-Clause
// What is added to scores, from whole numbers that say which keys count: one for each key, or where the keys of a batch
// end and begin; together with what is added to them anyway.
#include "attention_codes.glsl"
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

#define THREADS 256
#define EACH 4 // elements of a thread
layout(local_size_x = THREADS) in;

struct Args {
  uint64_t numbers, added, y;   // `added` are other numbers where there is none; y is compact: batch, head, query, key
  int number_strides[3];        // of batch, query and key; of ends, of batch alone
  int start;                    // from the end of a batch's keys to their first, of LEAT_KEY_MASK_ENDS_STARTS
  int added_strides[4];         // in elements
  uint kind;                    // LEAT_KEY_MASK_...
  uint has_added;
  uint count, heads, queries, keys;
  Divider per_heads, per_queries, per_keys;
  float masked, lowest; // what is added for a key that does not count; the lowest number of y's type
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count; ++n, item += THREADS) {
    const uint row = divide(item, args.per_keys), key = item - row * args.keys;
    const uint above = divide(row, args.per_queries), query = row - above * args.queries;
    const uint batch = divide(above, args.per_heads), head = above - batch * args.heads;
    const int at = int(batch) * args.number_strides[0];
    bool counts;
    if (args.kind != LEAT_KEY_MASK_KEYS) {
      counts = int(key) < I32(args.numbers).v[at] && (args.kind == LEAT_KEY_MASK_ENDS || int(key) >= I32(args.numbers).v[at + args.start]);
    } else {
      counts = I32(args.numbers).v[at + int(query) * args.number_strides[1] + int(key) * args.number_strides[2]] > 0;
    }
    float x = counts ? 0 : args.masked;
    bool kept = false; // what takes a key out stays so, and what is no number
    if (args.has_added != 0) {
      const float added = ELEMENT(args.added, int(batch) * args.added_strides[0] + int(head) * args.added_strides[1] +
                                                  int(query) * args.added_strides[2] + int(key) * args.added_strides[3]);
      x += added;
      kept = added == -LEAT_INFINITY;
    }
    x = kept || leat_isnan(x) ? x : max(x, args.lowest);
    REALS(args.y).v[item] = NARROW(x);
  }
}
