#version 460
// SPDX-License-Identifier: BSD-3-Clause
// One of the two products of experts, with its bias: of what tokens and experts are paired, a row of the result for each
// pair. PARTS threads add up an element of the result; they take four elements of k at a time, or one. A block are pairs
// of one expert, whose weights are read once for all of them.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"
#include "reduce/kernels/rows.glsl"
#include "moe_codes.glsl"

LEAT_CONSTANT(uint, SECOND, 0);   // 0: the product of inputs of type TYPE, and an activation; 1: of its results
LEAT_CONSTANT(uint, TOGETHER, 1); // pairs of a block, 1 or LEAT_MOE_TOGETHER
LEAT_CONSTANT(uint, BITS, 0);     // of a weight; 0: they are of type TYPE
LEAT_CONSTANT(uint, QUADS, 0);    // 1: fours of k are whole and aligned, and in one block of scales
LEAT_CONSTANT(uint, ACTIVATION, LEAT_MOE_RELU);
LEAT_CONSTANT(uint, FUSION, 0);   // of SWIGLU: 1: rows of weights are gate and line in turn; 2: all gates come first
struct Args {
  uint64_t x;                          // [token][k], or of float32 [pair][k]
  uint64_t weights, scales, zeros;     // of each expert: [n][k], [n][scale_count], packed as weights are; 0: half
  uint64_t bias;                       // of each expert: [n]; 0 for none
  uint64_t experts;                    // of each pair
  uint64_t sorted, blocks;             // of moe_sort.comp, with TOGETHER above 1
  uint64_t y;                          // float32, [pair][columns]
  uint block_count, column_groups, columns;
  uint k, n;
  uint taken;                          // pairs of a token
  uint scale_size, scale_count;        // elements of k that have one scale; scales of a row
  uint zeros_by_row, zeros_size;       // 1: each row of weights has bytes of its own, else an expert; how many
  float alpha, beta, limit;            // of SWIGLU; an infinite limit bounds nothing
};
LEAT_ARGS

shared float space[LEAT_ROW_SPACE];
shared vec4 spaces[LEAT_ROW_SPACE];

float add(float a, float b) { return a + b; }
vec4 add_all(vec4 a, vec4 b) { return a + b; }
LEAT_ROW_COMBINE(row_sum, float, space, add)
LEAT_ROW_COMBINE(row_sums, vec4, spaces, add_all)

uint expert;
uint rows[LEAT_MOE_TOGETHER]; // of x

uint code_of(uint64_t packed, uint at) {
  return BITS == 8 ? uint(U8(packed).v[at]) : uint(U8(packed).v[at >> 1]) >> (4 * (at & 1u)) & 15u;
}

// The weights of row `row` of an expert from element `k` on, four or one.
vec4 weights_of(uint row, uint k) {
  const uint64_t from = args.weights + uint64_t(expert) * uint64_t(args.n) * uint64_t(args.k) *
                                           uint64_t(BITS == 0 ? ELEMENT_SIZE * 8 : BITS) / 8;
  const uint at = row * args.k + k;
  if (BITS == 0) {
    return QUADS != 0 ? QUAD(from, at >> 2) : vec4(ELEMENT(from, at), 0, 0, 0);
  }
  const uint block = k / args.scale_size;
  const float scale = ELEMENT(args.scales, (expert * args.n + row) * args.scale_count + block);
  float zero = float(1u << (BITS - 1));
  if (args.zeros != 0) {
    const bool by_row = args.zeros_by_row != 0;
    const uint first = by_row ? expert * args.n + row : expert;
    zero = float(code_of(args.zeros + uint64_t(first) * args.zeros_size, by_row ? block : row));
  }
  vec4 codes;
  if (QUADS == 0) {
    codes = vec4(float(code_of(from, at)), zero, zero, zero);
  } else if (BITS == 8) {
    const uint four = U32(from).v[at >> 2];
    codes = vec4(uvec4(four, four >> 8, four >> 16, four >> 24) & 255u);
  } else {
    const uint four = uint(U16(from).v[at >> 2]);
    codes = vec4(uvec4(four, four >> 4, four >> 8, four >> 12) & 15u);
  }
  return (codes - zero) * scale;
}

vec4 inputs_of(uint row, uint k) {
  const uint at = row * args.k + k;
  if (QUADS == 0) {
    return vec4(SECOND != 0 ? F32(args.x).v[at] : ELEMENT(args.x, at), 0, 0, 0);
  }
  return SECOND != 0 ? F32x4(args.x).v[at >> 2] : QUAD(args.x, at >> 2);
}

// The products of all pairs of the block with a row of weights.
vec4 products(uint row) {
  const uint step = QUADS != 0 ? 4 : 1;
  vec4 sums = vec4(0);
  for (uint i = row_part() * step; i < args.k; i += PARTS * step) {
    // A driver may read for threads that have left the loop, where all have one address (lavapipe of Mesa 26.1 does).
    const uint k = min(i, args.k - step);
    const vec4 w = weights_of(row, k);
    [[unroll]] for (uint r = 0; r < LEAT_MOE_TOGETHER; ++r) {
      if (r < TOGETHER) {
        const vec4 x = inputs_of(rows[r], k);
        sums[r] += QUADS != 0 ? (x.x * w.x + x.y * w.y) + (x.z * w.z + x.w * w.w) : x.x * w.x;
      }
    }
  }
  sums = TOGETHER > 1 ? row_sums(sums) : vec4(row_sum(sums.x), 0, 0, 0);
  return args.bias != 0 ? sums + ELEMENT(args.bias, expert * args.n + row) : sums;
}

float activated(float x, float line) {
  switch (ACTIVATION) {
    case LEAT_MOE_RELU:
      return leat_isnan(x) ? x : max(x, 0.0);
    case LEAT_MOE_GELU:
      return 0.5 * x * (1.0 + leat_tanh(0.797884561 * (x + 0.044715 * x * x * x)));
    case LEAT_MOE_SILU:
      return x * leat_sigmoid(x);
    case LEAT_MOE_SWIGLU: {
      const float gate = leat_isinf(args.limit) || leat_isnan(x) ? x : min(x, args.limit);
      const float bounded = leat_isinf(args.limit) || leat_isnan(line) ? line : clamp(line, -args.limit, args.limit);
      return gate * leat_sigmoid(args.alpha * gate) * (bounded + args.beta);
    }
    default:
      return x;
  }
}

void main() {
  const uint group = leat_linear_group(), block = group / args.column_groups;
  if (block >= args.block_count) {
    return;
  }
  uint pairs[LEAT_MOE_TOGETHER];
  uint count = 1;
  if (TOGETHER > 1) {
    count = U32(args.blocks).v[3 * block + 2];
    if (count == 0) {
      return;
    }
    expert = U32(args.blocks).v[3 * block];
  } else {
    expert = U32(args.experts).v[block];
  }
  [[unroll]] for (uint r = 0; r < LEAT_MOE_TOGETHER; ++r) {
    // Behind the last one of a block it is that one again.
    pairs[r] = block;
    if (TOGETHER > 1) {
      pairs[r] = U32(args.sorted).v[U32(args.blocks).v[3 * block + 1] + min(r, count - 1)];
    }
    rows[r] = SECOND != 0 ? pairs[r] : pairs[r] / args.taken;
  }
  const uint column = (group - block * args.column_groups) * ROWS + row_own();
  const uint read = min(column, args.columns - 1);
  const bool swiglu = SECOND == 0 && ACTIVATION == LEAT_MOE_SWIGLU;
  const vec4 sums = products(swiglu && FUSION == 1 ? 2 * read : read);
  vec4 lines = vec4(0);
  if (swiglu) {
    lines = products(FUSION == 1 ? 2 * read + 1 : args.columns + read);
  }
  if (row_part() == 0 && column < args.columns) {
    [[unroll]] for (uint r = 0; r < LEAT_MOE_TOGETHER; ++r) {
      if (r < TOGETHER && r < count) {
        F32(args.y).v[pairs[r] * args.columns + column] = SECOND != 0 ? sums[r] : activated(sums[r], lines[r]);
      }
    }
  }
}
