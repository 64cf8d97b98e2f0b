#version 460
// SPDX-License-Identifier: BSD-3-Clause
// How many keys each batch has, of a cache that has room for a window and the new positions behind it, and which
// positions the new ones are.
#include "core/kernels/item.glsl"
#include "window_cache.glsl"

layout(local_size_x = 256) in;

struct Args {
  Window window;
  uint count;               // new positions of all batches
  uint64_t keys, positions; // numbers of 32, and of 64 bits
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    const uint batch = item / uint(args.window.fresh), row = item - batch * uint(args.window.fresh);
    const int before = earlier(args.window, batch, total_of(args.window, batch));
    if (row == 0u) {
      I32(args.keys).v[batch] = resident(args.window, before) + args.window.fresh;
    }
    I32(args.positions).v[2u * item] = before + int(row);
    I32(args.positions).v[2u * item + 1u] = 0;
  }
}
