#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Writes one value everywhere.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t dst;
  uint64_t value;
  uint count;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    item_store(item_at(args.dst, int(item)), Item(args.value));
  }
}
