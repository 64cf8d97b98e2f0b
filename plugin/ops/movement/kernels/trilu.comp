#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Keeps the upper or the lower triangle of matrices and writes 0 elsewhere.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t src;  // compact
  uint64_t dst;
  uint count;
  uint rows;
  uint columns;
  int diagonal;
  uint upper;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint line = item / args.columns;
    int column = int(item - line * args.columns);
    int row = int(line % args.rows);
    bool keep = args.upper != 0u ? column - row >= args.diagonal : column - row <= args.diagonal;
    Item value = Item(0);
    if (keep) value = item_load(item_at(args.src, int(item)));
    item_store(item_at(args.dst, int(item)), value);
  }
}
