// SPDX-License-Identifier: BSD-3-Clause
// A sum over a workgroup of 256 invocations, in the same order on every device.
#ifndef LEAT_FOREACH_SUM_GLSL_
#define LEAT_FOREACH_SUM_GLSL_

shared float sums[256];

// The sum of `x` of all invocations, which all have to call this; the first one gets it.
float workgroup_sum(float x) {
  uint lane = gl_LocalInvocationIndex;
  sums[lane] = x;
  barrier();
  for (uint others = 128u; others > 0u; others /= 2u) {
    if (lane < others) sums[lane] += sums[lane + others];
    barrier();
  }
  return sums[0];
}

#endif
