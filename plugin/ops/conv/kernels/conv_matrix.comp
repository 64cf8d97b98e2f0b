#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution and transposed convolution on matrix hardware (VK_KHR_cooperative_matrix) of operands of 16 bits, or
// split into parts of 16 bits, sums in float32: as conv.comp, with the tile of gathered pixels along k.
//
// With CHANNELS_LAST images lie by [image][pixel][channel] and weights by [row][tap][channel], not transposed, and k runs
// over taps and channels. A group has a multiple of eight channels, so that eight are of one tap and are fetched at once.
//
// Where LAST_OUT, the result and what is added to it lie by [image][pixel][channel], a group has a multiple of four
// channels, and these and the bias may be moved four at a time.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#endif
#include "core/kernels/leat.glsl"
#include "product/kernels/gemm_args.glsl"
#include "product/kernels/matrix_element.glsl"

LEAT_CONSTANT(uint, WIDE, 0);     // 1: weights may be moved 16 bytes at a time
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: of all its subgroups
LEAT_CONSTANT(uint, LAST_OUT, 0);
layout(local_size_x_id = CONSTANT_THREADS) in;
#ifdef CHANNELS_LAST
#define STEPS 32 // one more than CHANNELS_TAPS_MAX in ops/conv/conv.c
#define PIXEL_SIZE args.pitch_in
#define PIXELS_MAX BN
#else
#define STEPS BK
#endif
uint64_t a_base, c_base, residual_base;
uint k_end, group_row, batch;
#include "conv_sides.glsl"

#define A_ALONG_K true
#define B_ALONG_K true
uvec2 place_a(uint number) { return place_along_k(number); }

#ifdef CHANNELS_LAST

#define OPEN_A true
#define OPEN_B false
uvec2 place_b(uint number) { return place_along_k(number); }

EIGHT eight_at(uint64_t p, uint at) {
#if PARTS == 1
  return U32x4(p).v[at >> 3];
#else
  return Eight(U32x4(p).v[at >> 2], U32x4(p).v[(at >> 2) + 1]);
#endif
}

EIGHT fetch_a(uint which, uint i, uint k) { return eight_at(a_base, min(i, args.m - 1) * args.k + min(k, args.k - 8)); }

#include "conv_pixels.glsl"
// Those for which a thread fetches.
Pixel own_pixels[BN * BK / 8 / THREADS];

void find_own_pixels(uint column0) {
  find_pixels(column0, BN, batch, THREADS);
  [[unroll]] for (uint e = 0; e < BN * BK / 8 / THREADS; ++e) {
    own_pixels[e] = pixels[place_b(gl_LocalInvocationIndex + e * THREADS).x];
  }
}

// Eight elements from memory and the tap that they are of; NO_TAP, which is inside of no image: they are 0.
struct Held {
  EIGHT eight;
  uint tap;
};
#define NO_TAP (STEPS - 1)
#define HELD_B Held
#define NO_B Held(NO_EIGHT, NO_TAP)
#define READY_B(which, held) ready_b(which, held)

// All bits if a tap is inside for the pixel of an eight, or none; without a comparison, of which a compiler might make a
// branch.
uint mask_of(uint which, uint tap) { return uint(bitfieldExtract(int(own_pixels[which].taps), int(tap), 1)); }

Held fetch_b(uint which, uint i, uint k) {
  const uint from = min(k, args.k - 8);
  const uint tap = divide(from, args.per_channels);
  const uint own = k < k_end ? tap : NO_TAP;
  const uint at = ((own_pixels[which].base + uint(steps[tap].x)) & mask_of(which, own)) + (from - tap * args.channels);
  return Held(eight_at(args.b, at), own);
}

EIGHT ready_b(uint which, Held held) {
  const uint mask = mask_of(which, held.tap);
#if PARTS == 1
  return held.eight & mask;
#else
  return Eight(held.eight.first & mask, held.eight.last & mask);
#endif
}

#else

// What lies under the tap of a step, as bits; without a branch, so that all that a thread gathers is on its way at once. The
// host sends no images without an element 0 here. What is masked is masked by the bits of an element: a mask of all 32
// makes NVIDIA's compiler a branch of it, and a convolution of float16 takes twice as long.
uint gather(ivec4 step) {
  uint at;
  const bool inside = find_element(step, at);
  return BITS_OF(args.b, inside ? at : 0) & (inside ? ELEMENT_MASK : 0u);
}

// Neighbouring threads have neighbouring pixels.
uvec2 place_b(uint number) { return uvec2(number % BN, number / BN * 8); }

EIGHT fetch_a(uint which, uint i, uint k) {
  EIGHT eight = NO_EIGHT;
  if (i >= args.m || k >= k_end) {
    return eight;
  }
  if (WIDE != 0) {
#if PARTS == 1
    return U32x4(a_base).v[(i * args.k + k) >> 3];
#else
    SET_FIRST(eight, a_base, (i * args.k + k) >> 2);
    if (k + 4 < k_end) {
      SET_LAST(eight, a_base, ((i * args.k + k) >> 2) + 1);
    }
    return eight;
#endif
  }
  [[unroll]] for (uint e = 0; e < 8; ++e) {
    if (k + e < k_end) {
      SET_ELEMENT(eight, e, BITS_OF(a_base, weight_place(i, k + e)));
    }
  }
  return eight;
}

EIGHT fetch_b(uint which, uint i, uint k) {
  if (THREADS < BN) { // else a thread has one pixel only
    find_pixel(i, batch);
  }
  EIGHT eight;
  const uint from = k - steps_begin;
  [[unroll]] for (uint e = 0; e < 4; ++e) {
#if PARTS == 1
    eight[e] = gather(steps[from + 2 * e]) | gather(steps[from + 2 * e + 1]) << 16;
#else
    eight.first[e] = gather(steps[from + e]);
    eight.last[e] = gather(steps[from + 4 + e]);
#endif
  }
  return eight;
}

#define PREPARES
void prepare(uint k0) {
  steps_begin = k0;
  for (uint number = gl_LocalInvocationIndex; number < STEPS; number += THREADS) {
    steps[number] = step_of(k0 + number);
  }
}

#endif

#if PARTS == 2
// The sum of a row and a column, in float32 and one product after the other.
float plain_sum(uint row, uint column) {
  float sum = 0;
  k_end = args.k;
  find_pixel(column, batch);
  for (uint k = 0; k < args.k; ++k) {
    uint at;
#ifdef CHANNELS_LAST
    const bool inside = find_element(steps[k / args.channels], at);
    at += k % args.channels;
#else
    const bool inside = find_element(step_of(k), at);
#endif
    sum = fma(ELEMENT(a_base, weight_place(row, k)), inside ? ELEMENT(args.b, at) : 0.0, sum);
  }
  return sum;
}
#endif

#define FOUR_ROWS (LAST_OUT != 0)

// Adds what lies at four channels of a pixel, or at four pixels of a channel, of what is added to the result.
vec4 with_residual(vec4 value, uint at, uint row, uint column) {
  return value + (FOUR_ROWS ? QUAD(args.residual, (column * args.pitch_residual + group_row + row) >> 2)
                            : fetch_residual(residual_base, at, row, column));
}

void finish(uint row, uint column, vec4 sum) {
  if (row >= args.m || column >= args.n) {
    return;
  }
#if PARTS == 2
  // Where a factor or a product is not finite, parts add up to another sum than float32 has.
  for (uint j = 0; j < 4; ++j) {
    const uvec2 of = uvec2(row, column) + (FOUR_ROWS ? uvec2(j, 0) : uvec2(0, j));
    if (!is_finite(sum[j]) && of.y < args.n) {
      sum[j] = plain_sum(of.x, of.y);
    }
  }
#endif
  const uint at = FOUR_ROWS ? column * args.pitch_out + group_row + row : place_of(column);
  vec4 value = sum;
  if (args.bias != 0) {
    value += FOUR_ROWS ? QUAD(args.bias, (group_row + row) >> 2) : vec4(ELEMENT(args.bias, group_row + row));
  }
  if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
    value = with_residual(value, at, row, column);
  }
  value = activated4(value, args.activation[0], args.activation[1]);
  if (RESIDUAL == LEAT_RESIDUAL_LAST) {
    value = with_residual(value, at, row, column);
  }
  if (FOUR_ROWS) {
    REALS4(args.c).v[at >> 2] = NARROW4(value);
  } else {
    store_columns(c_base, at, row, column, value);
  }
}

#include "product/kernels/matrix_tile.glsl"

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  const uint k_begin = tile.split * args.k_chunk;
  batch = tile.batch;
  a_base = args.a + uint64_t(batch) * args.group_weights * ELEMENT_SIZE;
  c_base = args.c + uint64_t(batch) * args.group_out * ELEMENT_SIZE;
  residual_base = args.residual + uint64_t(batch) * args.group_out * ELEMENT_SIZE;
  group_row = batch * args.group_rows;
  k_end = min(args.k, k_begin + args.k_chunk);
#ifdef CHANNELS_LAST
  find_own_pixels(tile.column * BN);
#else
  find_pixel(tile.column * BN + gl_LocalInvocationIndex % BN, batch);
#endif
  matrix_product(tile, tile.row * BM, tile.column * BN, k_begin);
}
