#version 460
// SPDX-License-Identifier: BSD-3-Clause
// What a window over images of bytes sees from each of its places, side by side: of each image, group and place the
// bytes of all channels of the group and all taps. What lies in the padding is the zero point. One and two spatial
// dimensions come as three.
#include "leat.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t x, zero, y;       // zero: 0 for none
  uint count;                // ints of four bytes in y
  uint words;                // of which a place has so many,
  uint k;                    // and bytes; those behind them are 0
  uint places;               // of an image
  uint out_height, out_width;
  int depth, height, width;  // of an image
  uint plane;                // their product
  uint groups, channels;     // channels of a group
  uint taps, kernel_area, kernel_width;
  int stride[3], dilation[3], pad[3];
};
LEAT_ARGS

#define EACH 4

uint byte_at(uint first, ivec3 corner, uint k, uint zero) {
  const uint channel = k / args.taps, tap = k - channel * args.taps;
  const uint d = tap / args.kernel_area, rest = tap - d * args.kernel_area, h = rest / args.kernel_width;
  const ivec3 at = corner + ivec3(d * args.dilation[0], h * args.dilation[1],
                                  (rest - h * args.kernel_width) * args.dilation[2]);
  const ivec3 size = ivec3(args.depth, args.height, args.width);
  if (any(lessThan(at, ivec3(0))) || any(greaterThanEqual(at, size))) {
    return zero;
  }
  return uint(U8(args.x).v[first + channel * args.plane + uint((at.x * args.height + at.y) * args.width + at.z)]);
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
    const uint line = place / args.out_width, layer = line / args.out_height;
    const ivec3 corner = ivec3(layer * args.stride[0] - args.pad[0],
                               (line - layer * args.out_height) * args.stride[1] - args.pad[1],
                               (place - line * args.out_width) * args.stride[2] - args.pad[2]);
    uint word = 0;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (k + j < args.k) {
        word |= byte_at(image * args.channels * args.plane, corner, k + j, zero) << 8 * j;
      }
    }
    U32(args.y).v[i] = word;
  }
}
