// SPDX-License-Identifier: BSD-3-Clause
// The arguments of products with weights of 2, 4 or 8 bits, and what the weights are as floats. The bytes of a column of
// b follow each other along k, from a multiple of 8 on, in blocks that have a scale each and perhaps a zero point; or
// each k says which block's it has.
#ifndef LEAT_NBITS_GLSL_
#define LEAT_NBITS_GLSL_

#include "float4.glsl"
#include "nbits_codes.glsl"
#include "core/kernels/reals.glsl"

LEAT_CONSTANT(uint, BITS, 4);  // of a weight: 2, 4 or 8
LEAT_CONSTANT(uint, ZEROS, 0); // LEAT_ZEROS_...
LEAT_CONSTANT(uint, INDEXED, 0); // 1: args.g_idx has the number of a block for each k

// The C struct is nbits_args in ops/product/matmul_nbits.c.
struct Args {
  GEMM_ARGS
  uint64_t scales, zeros, g_idx;
  uint block_shift;  // a block has 2^block_shift weights
  uint blocks;       // of a column
  uint column_bytes; // of b
  uint zeros_bytes;  // of a column of zero points that are packed
};
LEAT_ARGS

float scale_of(uint column, uint block) {
  return ELEMENT(args.scales, column * args.blocks + block);
}

float zero_of(uint column, uint block) {
  if (ZEROS == LEAT_ZEROS_REAL) {
    return ELEMENT(args.zeros, column * args.blocks + block);
  }
  if (ZEROS == LEAT_ZEROS_PACKED) {
    // Written out for each width: with block * BITS, Mesa 26's lavapipe takes other places.
    const uint at = BITS == 2 ? block >> 2 : BITS == 4 ? block >> 1 : block;
    const uint packed = uint(U8(args.zeros).v[column * args.zeros_bytes + at]);
    return float(BITS == 2 ? packed >> (block & 3) * 2 & 3u : BITS == 4 ? packed >> (block & 1) * 4 & 15u : packed);
  }
  return float(1u << (BITS - 1));
}

// The scales and zero points of four weights of a column.
struct Places {
  vec4 scales, zeros;
};

// Those of the weights from k on where each k says its block. A number out of range is taken for the nearest that there
// is; a k past the last is the last again.
Places indexed_places(uint column, uint k) {
  Places places;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    const int given = I32(args.g_idx).v[min(k + j, args.k - 1)];
    const uint block = uint(clamp(given, 0, int(args.blocks) - 1));
    places.scales[j] = scale_of(column, block);
    places.zeros[j] = zero_of(column, block);
  }
  return places;
}

// Four weights less their zero points, which is exact where those are whole numbers; the first is in the lowest bits. A
// weight stands in the mantissa of a float, from which the float with zeros in its place is taken: converting integers
// would take longer.
// `each`: BITS, as a parameter, for what is computed from it here must be no specialisation constant. Debian 12's SPIR-V
// optimiser, which the validation layer asks, uses elements of vectors that it folds before they are defined.
vec4 centred_of(uint each, uint bits, vec4 zero) {
  if (ZEROS == LEAT_ZEROS_FP4 || ZEROS == LEAT_ZEROS_NF4) {
    return float4_of(ZEROS == LEAT_ZEROS_NF4, uvec4(bits >> 4, bits, bits >> 12, bits >> 8));
  }
  const uvec4 at = uvec4(0, 1, 2, 3) * each, place = at & 15u;
  const uvec4 exponent = (150u - place) << 23;
  const vec4 number = uintBitsToFloat((uvec4(bits) >> (at & 16u) & uvec4((1u << each) - 1u) << place) | exponent);
  const vec4 nothing = uintBitsToFloat(exponent);
  precise vec4 whole = number - nothing; // before a zero point that is no whole number is taken from it
  return ZEROS == LEAT_ZEROS_REAL ? whole - zero : number - (nothing + zero);
}
vec4 centred(uint bits, vec4 zero) { return centred_of(BITS, bits, zero); }
vec4 centred(uint bits, float zero) { return centred(bits, vec4(zero)); }

// The word of b in which the weights of a column from k on begin, a multiple of 4.
uint word_at(uint column, uint k) {
  return U32(args.b).v[(column * args.column_bytes + (k * BITS >> 3)) >> 2];
}

// The bit of that word at which they do.
uint bit_at(uint k) { return k * BITS & 31; }

// Of four weights as many as there are; the rest, which only fill a block, are 0: a scale may make too much of them for
// what they are rounded to.
vec4 without_filling(vec4 four, int there) {
  return there >= 4 ? four : mix(vec4(0), four, lessThan(ivec4(0, 1, 2, 3), ivec4(there)));
}

// Four weights of a column from k on, a multiple of 4, as floats.
vec4 weights4(uint column, uint k) {
  const uint bits = word_at(column, k) >> bit_at(k);
  vec4 four;
  if (INDEXED != 0) {
    const Places places = indexed_places(column, k);
    four = centred(bits, places.zeros) * places.scales;
  } else {
    const uint block = k >> args.block_shift;
    four = centred(bits, zero_of(column, block)) * scale_of(column, block);
  }
  return without_filling(four, int(args.k - k));
}

#endif
