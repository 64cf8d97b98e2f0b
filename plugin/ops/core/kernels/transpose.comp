#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Copies a strided tensor whose neighbours in memory lie along one dimension (across) into one where they lie along
// another (down). A workgroup moves a tile of SIDE x SIDE items through shared memory, and so reads and writes
// neighbours.
#extension GL_GOOGLE_include_directive : require
#include "item.glsl"
#include "divider.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, SIDE, 32);     // of a tile: 32, or 64 for items of up to 32 bits
LEAT_CONSTANT(uint, QUADS_IN, 0);  // 1: fours of items across are whole and aligned in src
LEAT_CONSTANT(uint, QUADS_OUT, 0); // 1: fours of items down are whole and aligned in dst
LEAT_CONSTANT(uint, RANK, 0);      // of the dimensions beside those two

// Dimensions beside the two, from the outermost to the innermost.
struct Dimension {
  uint size;
  Divider per_size;
  int src_stride, dst_stride; // items
};
struct Args {
  uint64_t src, dst;
  uint across, down;             // sizes of the two dimensions
  int src_stride, dst_stride;    // items: of `down` in src, of `across` in dst
  uint tiles_across, tiles_down;
  uint tiles;                    // of all
  Divider per_across, per_down;  // by tiles_across and tiles_down
  Dimension outer[6];
};
LEAT_ARGS

#if BITS == 64
#define SIDE_MOST 32
#else
#define SIDE_MOST 64
#endif
shared Item tile[SIDE_MOST * SIDE_MOST];

// Where an item of the tile lies: rows are twisted, so that neither a row nor a column has all items in one bank.
uint place(uint a, uint d) { return d * SIDE + (a ^ (d & 31)); }

#define load4 LEAT_JOIN(load4_U, BITS)
#define store4 LEAT_JOIN(store4_U, BITS)

void main() {
  const uint number = leat_linear_group();
  if (number >= args.tiles) {
    return;
  }
  uint rest = divide(number, args.per_across);
  const uint a0 = (number - rest * args.tiles_across) * SIDE;
  int from = 0, to = 0;
  uint index = divide(rest, args.per_down);
  const uint d0 = (rest - index * args.tiles_down) * SIDE;
  for (uint k = RANK; k-- > 0;) {
    rest = divide(index, args.outer[k].per_size);
    const int i = int(index - rest * args.outer[k].size);
    from += i * args.outer[k].src_stride;
    to += i * args.outer[k].dst_stride;
    index = rest;
  }

  const uint step_in = QUADS_IN != 0 ? 4 : 1;
  for (uint n = gl_LocalInvocationIndex; n < SIDE * SIDE / step_in; n += 256) {
    const uint a = n % (SIDE / step_in) * step_in, d = n / (SIDE / step_in);
    if (a0 + a < args.across && d0 + d < args.down) {
      const uint64_t p = item_at(args.src, from + int(d0 + d) * args.src_stride + int(a0 + a));
      if (QUADS_IN != 0) {
        Item four[4];
        load4(p, four);
        [[unroll]] for (uint k = 0; k < 4; ++k) {
          tile[place(a + k, d)] = four[k];
        }
      } else {
        tile[place(a, d)] = item_load(p);
      }
    }
  }
  barrier();
  const uint step_out = QUADS_OUT != 0 ? 4 : 1;
  for (uint n = gl_LocalInvocationIndex; n < SIDE * SIDE / step_out; n += 256) {
    const uint d = n % (SIDE / step_out) * step_out, a = n / (SIDE / step_out);
    if (a0 + a < args.across && d0 + d < args.down) {
      const uint64_t p = item_at(args.dst, to + int(a0 + a) * args.dst_stride + int(d0 + d));
      if (QUADS_OUT != 0) {
        Item four[4];
        [[unroll]] for (uint k = 0; k < 4; ++k) {
          four[k] = tile[place(a, d + k)];
        }
        store4(p, four);
      } else {
        item_store(p, tile[place(a, d)]);
      }
    }
  }
}
