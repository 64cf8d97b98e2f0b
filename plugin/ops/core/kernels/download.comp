#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Copies bytes to where the host sees them, for small downloads: in a chain of dispatches a copy command would make the
// device change from one engine to another.
#extension GL_GOOGLE_include_directive : require
#include "item.glsl"

layout(local_size_x = 64) in;

struct Args {
  uint64_t src;
  uint64_t dst;
  uint count;  // items
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 64u + gl_LocalInvocationIndex;
  if (item < args.count) {
    item_store(item_at(args.dst, int(item)), item_load(item_at(args.src, int(item))));
  }
}
