#version 460
// SPDX-License-Identifier: BSD-3-Clause
// ReverseSequence: an entry of a batch comes from as far before the end of the batch's sequence as it is behind its
// begin. Entries behind the end stay where they are.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t from, lengths, to;  // compact
  uint count;                  // items of all
  uint inner;                  // items of an entry
  uint columns, rows;          // dimensions 1 and 0
  uint time_axis;              // the one that is reversed
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  bool along = args.time_axis == 1u;
  uint entries = along ? args.columns : args.rows;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint place = item / args.inner, row = place / args.columns, column = place - row * args.columns;
    uint batch = along ? row : column, time = along ? column : row;
    uint ends = uint(clamp(load_I64(args.lengths + uint64_t(batch) * 8u), int64_t(0), int64_t(entries)));
    uint source = time < ends ? ends - 1u - time : time;
    uint from = (along ? row * args.columns + source : source * args.columns + column) * args.inner;
    item_store(item_at(args.to, int(item)), item_load(item_at(args.from, int(from + item - place * args.inner))));
  }
}
