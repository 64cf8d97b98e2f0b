// SPDX-License-Identifier: BSD-3-Clause
// What is done with a sum, its bias included, before it is stored: a residual is added, an operator of one number is
// applied, or both in either order. Which is said by specialisation constants, so that a pipeline without an epilogue
// holds nothing of one.
#ifndef LEAT_EPILOGUE_GLSL_
#define LEAT_EPILOGUE_GLSL_

#include "epilogue_args.glsl"
#include "elementwise/kernels/functions.glsl"

LEAT_CONSTANT(int, ACTIVATION, 0); // LEAT_EW_...: IDENTITY, CLIP, or of one number and not trigonometric
LEAT_CONSTANT(uint, RESIDUAL, 0);  // LEAT_RESIDUAL_...

float activated(float x, float p, float q) { return function_activation(ACTIVATION, x, p, q); }
// The loop is left to the driver, so that all operators stand in the module once and not four times.
vec4 activated4(vec4 x, float p, float q) {
  if (ACTIVATION != LEAT_EW_IDENTITY) {
    for (uint i = 0; i < 4; ++i) {
      x[i] = activated(x[i], p, q);
    }
  }
  return x;
}

#endif
