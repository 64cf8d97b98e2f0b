// SPDX-License-Identifier: BSD-3-Clause
// The pixels of images in NHWC layout that a tile gathers, found once for all k: what conv_sides.glsl says of each of
// them and of each tap, in shared memory. The including file defines PIXELS_MAX, how many a tile has, and STEPS, one
// more than a kernel has taps at most.
#ifndef LEAT_CONV_PIXELS_GLSL_
#define LEAT_CONV_PIXELS_GLSL_

#include "conv_sides.glsl"

// Where a pixel is, as pixel_base, and a bit for each tap that is inside of the image.
struct Pixel {
  uint base, taps;
};
shared Pixel pixels[PIXELS_MAX];

// Finds `count` of them from `first` on, by all threads of a workgroup.
void find_pixels(uint first, const uint count, uint batch, const uint threads) {
  for (uint tap = gl_LocalInvocationIndex; tap < STEPS; tap += threads) {
    steps[tap] = step_of_tap(tap);
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < count; i += threads) {
    find_pixel(first + i, batch);
    uint taps = 0;
    for (uint tap = 0; tap < args.taps; ++tap) {
      uint at;
      taps |= uint(find_element(steps[tap], at)) << tap;
    }
    pixels[i] = Pixel(pixel_base, taps);
  }
  barrier();
}

#endif
