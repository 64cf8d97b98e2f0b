#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Roots of sums of the sums that foreach.comp left of tensors: a workgroup for each result.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/types.glsl"
#include "core/kernels/math.glsl"
#include "sum.glsl"

layout(local_size_x = 256) in;

struct Row {
  uint first, count; // sums of a result
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Rows { Row v[]; };

struct Args {
  uint64_t rows;
  uint64_t sums;
  uint64_t norms;
  uint row_count;
};
LEAT_ARGS

void main() {
  uint number = leat_linear_group();
  if (number >= args.row_count) return;
  Row row = Rows(args.rows).v[number];
  float sum = 0.0;
  for (uint i = gl_LocalInvocationIndex; i < row.count; i += 256u) sum += F32(args.sums).v[row.first + i];
  float total = workgroup_sum(sum);
  if (gl_LocalInvocationIndex == 0u) F32(args.norms).v[number] = leat_sqrt(total);
}
