#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Which keys a query has by its blocks: of a table of blocks for some heads, of which each row lists the columns that are
// taken, from one number on up to the next. What these numbers say beyond the list is left out.
#include "core/kernels/item.glsl"
#include "lengths.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t rows, columns, y;
  Lengths lengths;                       // keys of each batch, new ones included
  int row_strides[2], column_strides[2]; // by table, and number
  uint count, words;                     // fours of keys in all, and of a query
  uint queries, heads, layouts;          // layouts: tables, which heads have in turn
  uint block;                            // positions of a block, of whole fours
  int blocks, entries;                   // of a table: rows, and columns listed in all
  uint first;                            // 1: the first query is the first of all positions
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    const uint row = item / args.words, column = (item - row * args.words) * 4u / args.block;
    const uint above = row / args.queries, query = row - above * args.queries;
    const uint batch = above / args.heads, table = (above - batch * args.heads) % args.layouts;
    const int before = args.first != 0u ? 0 : length_of(args.lengths, batch) - int(args.queries);
    const int own = min(int((uint(before) + query) / args.block), args.blocks - 1);
    const int at = int(table) * args.row_strides[0] + own * args.row_strides[1];
    const int from = clamp(I32(args.rows).v[at], 0, args.entries);
    const int to = min(clamp(I32(args.rows).v[at + args.row_strides[1]], from, args.entries), from + args.blocks);
    bool taken = false;
    for (int j = from; j < to; ++j) {
      taken = taken || I32(args.columns).v[int(table) * args.column_strides[0] + j * args.column_strides[1]] == int(column);
    }
    U32(args.y).v[item] = taken ? 0x01010101u : 0u;
  }
}
