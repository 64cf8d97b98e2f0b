// SPDX-License-Identifier: BSD-3-Clause
// A window that moves over images, and what it sees at one of its places. One and two spatial dimensions come as three.
// The C struct is window_args in ops/conv/conv_integer.c.
#ifndef LEAT_UNFOLD_GLSL_
#define LEAT_UNFOLD_GLSL_

#define WINDOW_ARGS                                     \
  uint places;              /* of the window in an image */ \
  uint out_height, out_width;                           \
  int depth, height, width; /* of an image */           \
  uint plane;               /* their product */         \
  uint taps, kernel_area, kernel_width;                 \
  int stride[3], dilation[3], pad[3];

// The element of the image at which the window begins.
#define WINDOW_CORNER(place) \
  window_corner(place, args.out_height, args.out_width, args.stride, args.pad)

ivec3 window_corner(uint place, uint out_height, uint out_width, int stride[3], int pad[3]) {
  const uint line = place / out_width, layer = line / out_height;
  return ivec3(layer * stride[0] - pad[0], (line - layer * out_height) * stride[1] - pad[1],
               (place - line * out_width) * stride[2] - pad[2]);
}

// How far a tap is from there.
#define WINDOW_TAP(tap) window_tap(tap, args.kernel_area, args.kernel_width, args.dilation)

ivec3 window_tap(uint tap, uint kernel_area, uint kernel_width, int dilation[3]) {
  const uint d = tap / kernel_area, rest = tap - d * kernel_area, h = rest / kernel_width;
  return ivec3(d * dilation[0], h * dilation[1], (rest - h * kernel_width) * dilation[2]);
}

// The number of an element in its plane; WINDOW_OUTSIDE where there is none.
#define WINDOW_ELEMENT(at) window_element(at, ivec3(args.depth, args.height, args.width))
#define WINDOW_OUTSIDE 0xffffffffu

uint window_element(ivec3 at, ivec3 size) {
  const bool inside = all(greaterThanEqual(at, ivec3(0))) && all(lessThan(at, size));
  return inside ? uint((at.x * size.y + at.y) * size.z + at.z) : WINDOW_OUTSIDE;
}

#endif
