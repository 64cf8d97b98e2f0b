// SPDX-License-Identifier: BSD-3-Clause
// The pixels of images in NHWC layout that a tile gathers, found once for all k: what conv_sides.glsl says of each of
// them and of each tap, in shared memory. The including file defines PIXELS_MAX, how many a tile has, and STEPS, one
// more than a kernel has taps at most.
#ifndef LEAT_CONV_PIXELS_GLSL_
#define LEAT_CONV_PIXELS_GLSL_

#include "conv_sides.glsl"

// Where a pixel is, as pixel_base, and a bit for each tap that is inside of the image; for those from 32 on in `more`.
struct Pixel {
  uint base, taps;
#if STEPS > 32
  uint more;
#endif
};
shared Pixel pixels[PIXELS_MAX];

// The bits of up to 32 taps, for the pixel that find_pixel() found.
uint bits_of_taps(uint from) {
  uint bits = 0;
  for (uint tap = from; tap < min(args.taps, from + 32); ++tap) {
    uint at;
    bits |= uint(find_element(steps[tap], at)) << (tap - from);
  }
  return bits;
}

// Finds `count` of them from `first` on, by all threads of a workgroup.
void find_pixels(uint first, const uint count, uint batch, const uint threads) {
  for (uint tap = gl_LocalInvocationIndex; tap < STEPS; tap += threads) {
    steps[tap] = step_of_tap(tap);
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < count; i += threads) {
    find_pixel(first + i, batch);
    pixels[i].base = pixel_base;
    pixels[i].taps = bits_of_taps(0);
#if STEPS > 32
    pixels[i].more = bits_of_taps(32);
#endif
  }
  barrier();
}

#endif
