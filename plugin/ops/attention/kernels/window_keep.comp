#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The last rows of a cache with new ones behind them, which stay in the cache; behind them it has zeros.
#include "core/kernels/item.glsl"
#include "window_cache.glsl"

layout(local_size_x = 256) in;

struct Args {
  Window window;
  uint heads;
  uint64_t from, to; // compact: batch, head, position, element
  uint row;          // items of a position
  uint rows_from;    // positions of a head in `from`
  uint count;        // items of the result
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    const uint line = item / args.row, head = line / uint(args.window.capacity);
    const uint batch = head / args.heads;
    const int total = total_of(args.window, batch), kept = resident(args.window, total);
    const int before = earlier(args.window, batch, total);
    const int row = int(line - head * uint(args.window.capacity));
    const int from = row + resident(args.window, before) + total - before - kept;
    Item value = Item(0u);
    if (row < kept) {
      value = item_load(item_at(args.from, int((head * args.rows_from + uint(from)) * args.row + (item - line * args.row))));
    }
    item_store(item_at(args.to, int(item)), value);
  }
}
