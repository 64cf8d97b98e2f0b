#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The scale and the zero point by which uint8 holds the elements of a tensor and 0, and the elements so quantised. Every
// workgroup quantises blocks of its own, in turn with the others. Where they are few, each looks at all elements for
// their range, which takes less time than a second dispatch; else a first one gives the range of each workgroup's blocks.
#include "core/kernels/leat.glsl"
#include "elementwise/kernels/quotient.glsl"
#ifdef SHUFFLES
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

#define THREADS_MOST 1024
LEAT_CONSTANT(uint, THREADS, 128); // of a workgroup; a block has four elements for each
layout(local_size_x_id = CONSTANT_THREADS) in;
#define WHOLE 0  // all in one dispatch
#define RANGES 1 // the first of two
#define REST 2   // the second
LEAT_CONSTANT(uint, STAGE, WHOLE);
LEAT_CONSTANT(uint, QUADS, 0); // 1: fours are whole and aligned
struct Args {
  uint64_t x, y, scale, zero;
  uint64_t pieces; // of two dispatches: a range of each workgroup
  uint count, groups;
};
LEAT_ARGS

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pairs { vec2 v[]; };

#define DEPTH 8 // fours of a thread on their way at once, for the range

uint t = gl_LocalInvocationIndex;
uint group, fours, blocks;

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

vec2 wider(vec2 range, vec2 other) { return vec2(min(range.x, other.x), max(range.y, other.y)); }

// NaN is in no range.
vec2 with(vec2 range, vec4 x) {
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    range = wider(range, vec2(x[j]));
  }
  return range;
}

shared vec2 ranges[THREADS_MOST];

#ifdef SHUFFLES
vec2 of_subgroup(vec2 range) {
  for (uint across = 1; across < gl_SubgroupSize; across *= 2) {
    range = wider(range, subgroupShuffleXor(range, across));
  }
  return range;
}

// The range of what all threads of the workgroup have.
vec2 of_group(vec2 range) {
  range = of_subgroup(range);
  if (gl_SubgroupInvocationID == 0) {
    ranges[gl_SubgroupID] = range;
  }
  barrier();
  for (uint i = gl_SubgroupInvocationID; i < gl_NumSubgroups; i += gl_SubgroupSize) {
    range = wider(range, ranges[i]);
  }
  return of_subgroup(range);
}
#else
vec2 of_group(vec2 range) {
  ranges[t] = range;
  for (uint half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    barrier();
    if (t < half_way) {
      ranges[t] = wider(ranges[t], ranges[t + half_way]);
    }
  }
  barrier();
  return ranges[0];
}
#endif

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

// The four of this thread in a block; behind the last one that, and behind the last element that.
vec4 fetch(uint block) {
  const uint four = min(block * THREADS + t, fours - 1);
  if (QUADS != 0) {
    return F32x4(args.x).v[four];
  }
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = F32(args.x).v[min(4 * four + j, args.count - 1)];
  }
  return x;
}

// Number i of the own blocks, or of all from the first own one on.
uint own_block(uint i) { return group + i * args.groups; }
uint any_block(uint i) { return group + i < blocks ? group + i : group + i - blocks; }

// The range of 0 and of this thread's elements of so many blocks, own ones or any.
vec2 range_of(uint turns) {
  vec2 range = vec2(0);
  for (uint i = 0; i < turns; i += DEPTH) {
    vec4 x[DEPTH];
    [[unroll]] for (uint j = 0; j < DEPTH; ++j) {
      x[j] = vec4(0);
      if (i + j < turns) {
        x[j] = fetch(STAGE == RANGES ? own_block(i + j) : any_block(i + j));
      }
    }
    [[unroll]] for (uint j = 0; j < DEPTH; ++j) {
      range = with(range, x[j]);
    }
  }
  return range;
}

vec2 range_of_pieces() {
  vec2 range = vec2(0);
  for (uint i = t; i < args.groups; i += THREADS) {
    range = wider(range, Pairs(args.pieces).v[i]);
  }
  return range;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

void store(uint block, uint bytes) {
  const uint four = block * THREADS + t;
  if (four >= fours) {
    return;
  }
  if (QUADS != 0) {
    U32(args.y).v[four] = bytes;
    return;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (4 * four + j < args.count) {
      U8(args.y).v[4 * four + j] = uint8_t(bytes >> 8 * j);
    }
  }
}

void main() {
  group = leat_linear_group();
  if (group >= args.groups) {
    return;
  }
  fours = (args.count + 3) / 4;
  blocks = (fours + THREADS - 1) / THREADS;
  const uint own = (blocks + args.groups - 1 - group) / args.groups;
  if (STAGE == RANGES) {
    const vec2 range = of_group(range_of(own));
    if (t == 0) {
      Pairs(args.pieces).v[group] = range;
    }
    return;
  }
  vec4 next = vec4(0); // on its way while the range is found
  if (own != 0) {
    next = fetch(own_block(0));
  }
  const vec2 range = of_group(STAGE == REST ? range_of_pieces() : range_of(blocks));
  const float exact = exact_quotient(range.y - range.x, 255.0), scale = exact > 0.0 ? exact : 1.0;
  const int zero = int(clamp(whole_quotient(LEAT_ANY_F32, -range.x, scale), 0.0, 255.0));
  if (group == 0 && t == 0) {
    F32(args.scale).v[0] = scale;
    U8(args.zero).v[0] = uint8_t(zero);
  }
  const Divisor divisor = divisor_of(scale);
  for (uint i = 0; i < own; ++i) {
    const vec4 x = next;
    if (i + 1 < own) {
      next = fetch(own_block(i + 1));
    }
    store(own_block(i), packed(quantized4_by(divisor, x, zero, 0, 255)));
  }
}
