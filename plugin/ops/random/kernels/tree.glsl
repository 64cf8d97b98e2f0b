// SPDX-License-Identifier: BSD-3-Clause
// The largest number and the sum of those of a workgroup's threads, in an order that does not depend on the device.
#ifndef LEAT_TREE_GLSL_
#define LEAT_TREE_GLSL_

#include "exact.glsl"

#define GROUP 256u
layout(local_size_x = GROUP) in;

shared float parts[GROUP];

float tree_larger(float a, float b) { return leat_isnan(a) || leat_isnan(b) ? leat_nan() : max(a, b); }

float tree_max(float x) {
  uint thread = gl_LocalInvocationIndex;
  parts[thread] = x;
  barrier();
  for (uint n = GROUP / 2u; n > 0u; n /= 2u) {
    if (thread < n) parts[thread] = tree_larger(parts[thread], parts[thread + n]);
    barrier();
  }
  float y = parts[0];
  barrier();
  return y;
}

float tree_sum(float x) {
  uint thread = gl_LocalInvocationIndex;
  parts[thread] = x;
  barrier();
  for (uint n = GROUP / 2u; n > 0u; n /= 2u) {
    if (thread < n) {
      precise float sum = parts[thread] + parts[thread + n];
      parts[thread] = sum;
    }
    barrier();
  }
  float y = parts[0];
  barrier();
  return y;
}

#endif
