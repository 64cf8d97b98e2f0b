#version 460
// SPDX-License-Identifier: BSD-3-Clause
// What a window over images of int8 or uint8 sees from each of its places, side by side: of each image, group and
// place the bytes of all channels of the group and all taps. What lies in the padding is the zero point.
#include "core/kernels/leat.glsl"
#include "unfold.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t x, zero, y;       // zero: 0 for none
  uint count;                // ints of four bytes in y
  uint words;                // of which a place has so many,
  uint k;                    // and bytes; those behind them are 0
  uint channels;             // of a group
  WINDOW_ARGS
};
LEAT_ARGS

#define EACH 4

uint byte_at(uint first, ivec3 corner, uint k, uint zero) {
  const uint channel = k / args.taps;
  const uint element = WINDOW_ELEMENT(corner + WINDOW_TAP(k - channel * args.taps));
  if (element == WINDOW_OUTSIDE) {
    return zero;
  }
  return uint(U8(args.x).v[first + channel * args.plane + element]);
}

void main() {
  const uint start = leat_linear_group() * (EACH * 256) + gl_LocalInvocationIndex;
  const uint zero = leat_byte_if_any(args.zero, 0, args.y);
  for (uint n = 0; n < EACH; ++n) {
    const uint i = start + n * 256;
    if (i >= args.count) {
      return;
    }
    const uint own = i / args.words, k = 4 * (i - own * args.words);
    const uint image = own / args.places, place = own - image * args.places; // and group
    const ivec3 corner = WINDOW_CORNER(place);
    uint word = 0;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (k + j < args.k) {
        word |= byte_at(image * args.channels * args.plane, corner, k + j, zero) << 8 * j;
      }
    }
    U32(args.y).v[i] = word;
  }
}
