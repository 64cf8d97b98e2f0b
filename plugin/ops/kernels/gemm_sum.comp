#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Second step of a matrix product whose k was split over workgroups: adds the pieces in order, then alpha, beta and
// bias.
#include "leat.glsl"

layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) uniform Args {
  uint64_t pieces, c, bias; // bias: 0 for none
  uint count;               // elements of c
  uint splits;
  uint rows, columns; // element i is in row i / columns % rows, column i % columns
  int bias_row, bias_column;
  float alpha, beta;
} args;

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  float total = 0;
  for (uint s = 0; s < args.splits; ++s) {
    total += F32(args.pieces).v[s * args.count + i];
  }
  total *= args.alpha;
  if (args.bias != 0) {
    const uint row = i / args.columns;
    const int at = int(row % args.rows) * args.bias_row + int(i - row * args.columns) * args.bias_column;
    total = fma(args.beta, F32(args.bias).v[at], total);
  }
  F32(args.c).v[i] = total;
}
