#version 460
// SPDX-License-Identifier: BSD-3-Clause
// GatherElements and ScatterElements: one coordinate of each element is replaced by its index. An index out of range
// reads 0 or writes nothing.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"
#include "index.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t data;     // the tensor that indices point into
  uint64_t indices;  // compact
  uint64_t other;    // compact, of the shape of the indices: result of GatherElements, updates of ScatterElements
  uint count;        // items of the indices
  uint rank;
  uint axis;
  uint axis_size;
  uint dims[8];    // of the indices
  int strides[8];  // of the data
  uint64_t finding;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    int64_t x = index_load(args.indices, item, args.axis_size, args.finding);
    uint index = item;
    int64_t offset = max(x, int64_t(0)) * int64_t(args.strides[args.axis]);
    for (uint e = args.rank; e > 0u; --e) {
      uint d = e - 1u;
      uint rest = index / args.dims[d];
      if (d != args.axis) offset += int64_t(index - rest * args.dims[d]) * int64_t(args.strides[d]);
      index = rest;
    }
#if defined(SCATTER)
    if (x >= int64_t(0)) item_store(item_at(args.data, offset), item_load(item_at(args.other, int(item))));
#else
    Item value = Item(0);
    if (x >= int64_t(0)) value = item_load(item_at(args.data, offset));
    item_store(item_at(args.other, int(item)), value);
#endif
  }
}
