#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Gather: result[o, j, i] = data[o, indices[j], i]; an index out of range gives 0.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"
#include "core/kernels/divider.glsl"
#include "index.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t data;  // compact, as are the others
  uint64_t indices;
  uint64_t dst;
  uint count;       // items of the result
  uint inner;       // items that lie side by side
  uint axis_size;
  uint index_count;
  Divider per_inner, per_index; // by inner and index_count
  uint64_t finding;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint row = divide(item, args.per_inner);
    uint i = item - row * args.inner;
    uint o = divide(row, args.per_index);
    uint j = row - o * args.index_count;
    int64_t x = index_load(args.indices, j, args.axis_size, args.finding);
    Item value = Item(0);
    if (x >= int64_t(0)) {
      value = item_load(
          item_at(args.data, (int64_t(o) * int64_t(args.axis_size) + x) * int64_t(args.inner) + int64_t(i)));
    }
    item_store(item_at(args.dst, int(item)), value);
  }
}
