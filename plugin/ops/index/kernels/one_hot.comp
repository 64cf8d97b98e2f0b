#version 460
// SPDX-License-Identifier: BSD-3-Clause
// OneHot: result[o, d, i] = values[indices[o, i] == d ? 1 : 0]; an index below 0 counts from the end, and one that is
// out of range is no place. The fraction of one is cut off.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"
#include "core/kernels/divider.glsl"
#include "index.glsl"

layout(local_size_x = 256) in;

LEAT_CONSTANT(bool, index_is_real, false);

struct Args {
  uint64_t indices;  // compact, as are the others
  uint64_t values;   // elsewhere, at an index
  uint64_t to;
  uint count;  // items of the result
  uint inner, depth;
  Divider per_inner, per_depth;
};
LEAT_ARGS

// The place that index number `i` names, or -1.
int place_of(uint i) {
  if (index_is_real) {
    float x = load_F32(args.indices + uint64_t(i) * 4u);
    // The depth is below 2^31, so an index that does not fit into a whole number is out of range. A NaN is too.
    bool inside = abs(x) < 2147483648.0;
    int k = inside ? int(x) : -1;
    k += inside && k < 0 ? int(args.depth) : 0;
    return inside ? k : -1;
  }
  return int(index_load(args.indices, i, args.depth, uint64_t(0)));
}

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint row = divide(item, args.per_inner), o = divide(row, args.per_depth);
    uint i = item - row * args.inner, d = row - o * args.depth;
    bool here = place_of(o * args.inner + i) == int(d);
    item_store(item_at(args.to, int(item)), item_load(item_at(args.values, here ? 1 : 0)));
  }
}
