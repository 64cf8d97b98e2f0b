#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Copies a strided tensor into another of the same shape: Transpose, Expand, Slice and whatever else only moves
// elements.
#extension GL_GOOGLE_include_directive : require
#include "item.glsl"
#include "divider.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, RANK, 1); // at least 1
LEAT_CONSTANT(uint, EACH, 1); // items of a thread, up to 4

struct Dimension {
  uint size;
  Divider per_size;
  int src_stride, dst_stride; // items
};
struct Args {
  uint64_t src, dst;
  uint count; // items
  Dimension dims[8];
};
LEAT_ARGS

void main() {
  const uint first = leat_linear_group() * (EACH * 256) + gl_LocalInvocationIndex;
  Item items[4];
  int to[4];
  // All is on its way before the first item is waited for.
  [[unroll]] for (uint n = 0; n < 4; ++n) {
    uint index = first + n * 256;
    if (n < EACH && index < args.count) {
      int from = 0;
      to[n] = 0;
      for (uint d = RANK - 1; d > 0; --d) {
        const uint rest = divide(index, args.dims[d].per_size);
        const int i = int(index - rest * args.dims[d].size);
        index = rest;
        from += i * args.dims[d].src_stride;
        to[n] += i * args.dims[d].dst_stride;
      }
      from += int(index) * args.dims[0].src_stride;
      to[n] += int(index) * args.dims[0].dst_stride;
      items[n] = item_load(item_at(args.src, from));
    }
  }
  [[unroll]] for (uint n = 0; n < 4; ++n) {
    if (n < EACH && first + n * 256 < args.count) {
      item_store(item_at(args.dst, to[n]), items[n]);
    }
  }
}
