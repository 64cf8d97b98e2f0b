#version 460
// SPDX-License-Identifier: BSD-3-Clause
// What a window over images of bytes sees from each of its places, side by side, where the channels of an image are next
// to each other: of each image and place the channels of one tap after the other. What lies in the padding is the zero
// point. One and two spatial dimensions come as three.
#include "types.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, SIXTEENS, 0); // 1: a unit is sixteen bytes, and not four
struct Args {
  uint64_t x, zero, y;       // zero: 0 for none
  uint count;                // units in y
  uint units;                // of a tap
  uint pitch;                // units from one pixel of x to the next
  uint taps, kernel_area, kernel_width;
  uint places;               // of an image
  uint out_height, out_width;
  int depth, height, width;  // of an image
  uint plane;                // their product
  int stride[3], dilation[3], pad[3];
};
LEAT_ARGS

#define EACH 4

void main() {
  const uint start = leat_linear_group() * (EACH * 256) + gl_LocalInvocationIndex;
  const uint nothing = leat_byte_if_any(args.zero, 0, args.y) * 0x01010101u;
  const ivec3 size = ivec3(args.depth, args.height, args.width);
  for (uint n = 0; n < EACH; ++n) {
    const uint i = start + n * 256;
    if (i >= args.count) {
      return;
    }
    const uint seen = i / args.units, own = seen / args.taps, tap = seen - own * args.taps;
    const uint image = own / args.places, place = own - image * args.places;
    const uint line = place / args.out_width, layer = line / args.out_height;
    const uint d = tap / args.kernel_area, rest = tap - d * args.kernel_area, h = rest / args.kernel_width;
    const ivec3 at =
        ivec3(int(layer) * args.stride[0] + int(d) * args.dilation[0] - args.pad[0],
              int(line - layer * args.out_height) * args.stride[1] + int(h) * args.dilation[1] - args.pad[1],
              int(place - line * args.out_width) * args.stride[2] + int(rest - h * args.kernel_width) * args.dilation[2] -
                  args.pad[2]);
    const bool inside = all(greaterThanEqual(at, ivec3(0))) && all(lessThan(at, size));
    const uint pixel = image * args.plane + uint((at.x * args.height + at.y) * args.width + at.z);
    const uint from = pixel * args.pitch + (i - seen * args.units);
    if (SIXTEENS != 0) {
      uvec4 unit = uvec4(nothing);
      if (inside) {
        unit = U32x4(args.x).v[from];
      }
      U32x4(args.y).v[i] = unit;
    } else {
      uint unit = nothing;
      if (inside) {
        unit = U32(args.x).v[from];
      }
      U32(args.y).v[i] = unit;
    }
  }
}
