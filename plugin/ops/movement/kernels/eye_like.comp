#version 460
// SPDX-License-Identifier: BSD-3-Clause
// EyeLike: the bits of 1 on a diagonal, 0 elsewhere.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/divider.glsl"
#include "core/kernels/item.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t y;
  uint64_t one;
  uint count, columns;
  Divider per_columns;
  int diagonal;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint row = divide(item, args.per_columns);
    bool on = int(item - row * args.columns) - int(row) == args.diagonal;
    item_store(item_at(args.y, int(item)), on ? Item(args.one) : Item(0));
  }
}
