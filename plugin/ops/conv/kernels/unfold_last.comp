#version 460
// SPDX-License-Identifier: BSD-3-Clause
// What a window over images of int8 or uint8 in NHWC layout sees from each of its places, side by side: of each
// image and place the channels of one tap after the other. What lies in the padding is the zero point.
#include "core/kernels/types.glsl"
#include "unfold.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, SIXTEENS, 0); // 1: a unit is sixteen bytes, and not four
struct Args {
  uint64_t x, zero, y;       // zero: 0 for none
  uint count;                // units in y
  uint units;                // of a tap
  uint pitch;                // units from one pixel of x to the next
  WINDOW_ARGS
};
LEAT_ARGS

#define EACH 4

void main() {
  const uint start = leat_linear_group() * (EACH * 256) + gl_LocalInvocationIndex;
  const uint nothing = leat_byte_if_any(args.zero, 0, args.y) * 0x01010101u;
  for (uint n = 0; n < EACH; ++n) {
    const uint i = start + n * 256;
    if (i >= args.count) {
      return;
    }
    const uint seen = i / args.units, own = seen / args.taps, tap = seen - own * args.taps;
    const uint image = own / args.places, place = own - image * args.places;
    const uint element = WINDOW_ELEMENT(WINDOW_CORNER(place) + WINDOW_TAP(tap));
    const uint from = (image * args.plane + element) * args.pitch + (i - seen * args.units);
    if (SIXTEENS != 0) {
      uvec4 unit = uvec4(nothing);
      if (element != WINDOW_OUTSIDE) {
        unit = U32x4(args.x).v[from];
      }
      U32x4(args.y).v[i] = unit;
    } else {
      uint unit = nothing;
      if (element != WINDOW_OUTSIDE) {
        unit = U32(args.x).v[from];
      }
      U32(args.y).v[i] = unit;
    }
  }
}
