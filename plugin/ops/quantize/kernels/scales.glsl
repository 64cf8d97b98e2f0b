// SPDX-License-Identifier: BSD-3-Clause
// Which scale, and zero point, an element of a tensor has: one for all, one for each index of a dimension, or one for
// each block along it. The C struct is scale_steps in ops/quantize/quantize.c.
#ifndef LEAT_SCALES_GLSL_
#define LEAT_SCALES_GLSL_

#define SCALE_ARGS                                                                       \
  uint count;                                                                            \
  uint size, inner; /* elements of the dimension, and of those behind it */              \
  uint block;       /* elements of the dimension that have one scale; 0: all have one */ \
  uint outer_step, size_step, inner_step; /* from one scale to the next */

#define SCALE_PLACE(i) scale_place(i, args.size, args.inner, args.block, args.outer_step, args.size_step, args.inner_step)

uint scale_place(uint i, uint size, uint inner, uint block, uint outer_step, uint size_step, uint inner_step) {
  if (block == 0) {
    return 0;
  }
  const uint rest = i / inner, outer = rest / size;
  return outer * outer_step + (rest - outer * size) / block * size_step + (i - rest * inner) * inner_step;
}

#endif
