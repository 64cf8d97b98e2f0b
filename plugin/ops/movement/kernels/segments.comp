#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Copies up to twelve blocks of rows at once, so that Concat and Split are one dispatch. The items of a row may lie
// apart where they come from.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"

layout(local_size_x = 256) in;

struct Segment {
  uint64_t src;
  uint64_t dst;
  uint count;  // items
  uint row;    // items that lie side by side in dst
  uint src_pitch;  // items from row to row
  uint dst_pitch;
  uint src_step;  // items from one item of a row to the next
};
struct Args {
  Segment segments[12];
  uint used;    // segments that there are
  uint groups;  // workgroups of each
};
LEAT_ARGS

void main() {
  uint group = leat_linear_group();
  uint s = group / args.groups;
  if (s >= args.used) return;
  uint item = (group - s * args.groups) * 1024u + gl_LocalInvocationIndex;
  uint count = args.segments[s].count;
  uint row = args.segments[s].row;
  for (uint n = 0u; n < 4u && item < count; ++n, item += 256u) {
    uint y = item / row;
    uint x = item - y * row;
    uint from = y * args.segments[s].src_pitch + x * args.segments[s].src_step;
    Item value = item_load(item_at(args.segments[s].src, int(from)));
    item_store(item_at(args.segments[s].dst, int(y * args.segments[s].dst_pitch + x)), value);
  }
}
