#version 460
// SPDX-License-Identifier: BSD-3-Clause
// One operation on many tensors: a row says where a tensor of each list lies, a workgroup handles a chunk of one row.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/types.glsl"
#include "core/kernels/math.glsl"
#include "foreach_codes.glsl"
#include "sum.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(int, operation, 0);

struct Row {
  uint64_t at[LEAT_FOREACH_LISTS]; // what is taken, then what is given; 0: not wanted
  uint count;                      // elements of each tensor, one at least
  uint first;                      // workgroup
  uint quads;                      // whether all tensors lie so that four elements are loaded at once
  uint sum;                        // SQUARES: where the first sum goes
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Rows { Row v[]; };

struct Args {
  uint64_t rows;
  uint64_t rate;  // learning rate; CLIP: norm
  uint64_t steps; // Adam: how many there were, this one included
  uint64_t sums;  // SQUARES
  uint row_count;
  float parameters[LEAT_FOREACH_PARAMETERS];
};
LEAT_ARGS

#define SIZE LEAT_JOIN(SIZE_, TYPE)

shared uint found;

uint taken() {
  return operation == LEAT_FOREACH_ADAM || operation == LEAT_FOREACH_ADAMW     ? 4u
         : operation == LEAT_FOREACH_ADDCMUL || operation == LEAT_FOREACH_SGD  ? 3u
         : operation == LEAT_FOREACH_SQUARES || operation == LEAT_FOREACH_CLIP ? 1u
                                                                               : 2u;
}
uint given() {
  return operation == LEAT_FOREACH_ADAM || operation == LEAT_FOREACH_ADAMW ? 3u
         : operation == LEAT_FOREACH_SGD                                   ? 2u
                                                                           : 1u;
}

// What all elements are computed with: the learning rate, and of Adam that divided by 1 - beta1^steps, and 1 / the root
// of 1 - beta2^steps; of CLIP the factor.
struct Scalars {
  float rate, corrected, root;
};

// 1 - beta^steps of the logarithm of beta: beta may be so close to 1 that a power of it loses most digits.
float correction(float logarithm) { return -leat_expm1(logarithm * float(I64(args.steps).v[0])); }

Scalars scalars() {
  Scalars s = Scalars(0.0, 0.0, 0.0);
  if (operation == LEAT_FOREACH_CLIP) {
    float norm = F32(args.rate).v[0];
    float factor = args.parameters[0] / (norm + args.parameters[1]);
    // Some compilers make of a comparison a minimum that drops NaN.
    s.rate = leat_isnan(factor) ? factor : min(factor, 1.0);
  } else if (operation >= LEAT_FOREACH_SGD && operation <= LEAT_FOREACH_ADAMW) {
    s.rate = F32(args.rate).v[0];
  }
  if (operation == LEAT_FOREACH_ADAM || operation == LEAT_FOREACH_ADAMW) {
    s.corrected = s.rate / correction(args.parameters[4]);
    s.root = 1.0 / leat_sqrt(correction(args.parameters[5]));
  }
  return s;
}

// `precise`, so that an element's result does not depend on where its tensor lies.
void apply(float x[LEAT_FOREACH_TAKEN], Scalars s, out float y[3]) {
  const float p0 = args.parameters[0], p1 = args.parameters[1];
  precise float first = 0.0;
  precise float second = 0.0;
  precise float third = 0.0;
  if (operation == LEAT_FOREACH_ADD) {
    first = x[1] + p0 * x[0];
  } else if (operation == LEAT_FOREACH_MUL) {
    first = x[0] * x[1];
  } else if (operation == LEAT_FOREACH_LERP) {
    // From the nearer end, so that both ends are met.
    precise float apart = x[0] - x[1];
    first = p0 < 0.5 ? x[1] + p0 * apart : x[0] - p1 * apart;
  } else if (operation == LEAT_FOREACH_ADDCMUL) {
    first = x[2] + p0 * (x[0] * x[1]);
  } else if (operation == LEAT_FOREACH_CLIP) {
    first = x[0] * s.rate;
  } else if (operation == LEAT_FOREACH_SGD) {
    precise float gradient = x[0];
    if (args.parameters[2] != 0.0) gradient = gradient + args.parameters[2] * x[1];
    second = p0 * x[2] + p1 * gradient;
    precise float by = second;
    if (args.parameters[3] != 0.0) by = gradient + p0 * second;
    first = x[1] - s.rate * by;
  } else {
    const float decay = args.parameters[7];
    precise float gradient = x[0];
    precise float weight = x[1];
    if (decay != 0.0 && operation == LEAT_FOREACH_ADAM) gradient = gradient + decay * weight;
    if (decay != 0.0 && operation == LEAT_FOREACH_ADAMW) weight = weight - s.rate * decay * weight;
    second = p0 * x[2] + p1 * gradient;
    third = args.parameters[2] * x[3] + args.parameters[3] * (gradient * gradient);
    first = weight - s.corrected * (second / (leat_sqrt(third) * s.root + args.parameters[6]));
  }
  y = float[3](first, second, third);
}

// The row of a workgroup: each invocation looks at some, so that none waits for one load after the other.
bool find_row(uint group, out Row row) {
  if (gl_LocalInvocationIndex == 0u) found = args.row_count;
  barrier();
  for (uint r = gl_LocalInvocationIndex; r < args.row_count; r += 256u) {
    uint groups = (Rows(args.rows).v[r].count + LEAT_FOREACH_CHUNK - 1u) / LEAT_FOREACH_CHUNK;
    if (group - Rows(args.rows).v[r].first < groups) found = r;
  }
  barrier();
  uint number = found;
  row = Rows(args.rows).v[min(number, args.row_count - 1u)];
  return number < args.row_count;
}

void main() {
  Row row;
  uint group = leat_linear_group();
  if (!find_row(group, row)) return;
  Scalars s = scalars();
  float sum = 0.0;
  for (uint i = 0u; i < LEAT_FOREACH_CHUNK / 1024u; ++i) {
    uint e = (group - row.first) * uint(LEAT_FOREACH_CHUNK) + (i * 256u + gl_LocalInvocationIndex) * 4u;
    if (e >= row.count) break;
    uint valid = min(row.count - e, 4u);
    bool whole = row.quads != 0u && valid == 4u;
    float x[LEAT_FOREACH_TAKEN][4];
    float y[3][4];
    for (uint list = 0u; list < taken(); ++list) {
      uint64_t at = row.at[list] + uint64_t(e) * SIZE;
      if (whole) {
        LEAT_JOIN(load4_, TYPE)(at, x[list]);
      } else {
        for (uint k = 0u; k < 4u; ++k) x[list][k] = LEAT_JOIN(load_, TYPE)(at + min(k, valid - 1u) * SIZE);
      }
    }
    for (uint k = 0u; k < 4u; ++k) {
      if (operation == LEAT_FOREACH_SQUARES) {
        if (k < valid) sum += x[0][k] * x[0][k];
        continue;
      }
      float one[LEAT_FOREACH_TAKEN];
      float results[3];
      for (uint list = 0u; list < taken(); ++list) one[list] = x[list][k];
      apply(one, s, results);
      for (uint list = 0u; list < given(); ++list) y[list][k] = results[list];
    }
    for (uint list = 0u; list < given() && operation != LEAT_FOREACH_SQUARES; ++list) {
      uint64_t to = row.at[taken() + list];
      if (to == 0) continue;
      to += uint64_t(e) * SIZE;
      if (whole) {
        LEAT_JOIN(store4_, TYPE)(to, y[list]);
      } else {
        for (uint k = 0u; k < valid; ++k) LEAT_JOIN(store_, TYPE)(to + k * SIZE, y[list][k]);
      }
    }
  }
  if (operation != LEAT_FOREACH_SQUARES) return;
  float total = workgroup_sum(sum);
  if (gl_LocalInvocationIndex == 0u) F32(args.sums).v[row.sum + group - row.first] = total;
}
