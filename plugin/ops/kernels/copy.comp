#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Copies a strided tensor into another of the same shape: Transpose, Expand, Slice and whatever else only moves
// elements.
#extension GL_GOOGLE_include_directive : require
#include "item.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0, std430) uniform Args {
  uint64_t src;
  uint64_t dst;
  uint count;  // items
  uint rank;   // at least 1
  uint dims[8];
  int src_strides[8];  // items
  int dst_strides[8];
} args;

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint index = item;
    int from = 0;
    int to = 0;
    for (uint d = args.rank - 1u; d > 0u; --d) {
      uint rest = index / args.dims[d];
      int i = int(index - rest * args.dims[d]);
      index = rest;
      from += i * args.src_strides[d];
      to += i * args.dst_strides[d];
    }
    from += int(index) * args.src_strides[0];
    to += int(index) * args.dst_strides[0];
    item_store(item_at(args.dst, to), item_load(item_at(args.src, from)));
  }
}
