// SPDX-License-Identifier: BSD-3-Clause
// What matrix hardware multiplies (VK_KHR_cooperative_matrix), for an operand of TYPE: numbers of 16 bits. An element
// of float16 or bfloat16 is one of them. With PARTS=2 an element is a float32, which is two of bfloat16, `high` and
// what that leaves, `low`; of a product three are added up, low high, high low and high high, which keeps the range of
// float32. How exact that is, leati_float32_matmul (core/config.h) says. With BYTES an element is a pair of int8
// along k, whose products add up to an int.
#ifndef LEAT_MATRIX_ELEMENT_GLSL_
#define LEAT_MATRIX_ELEMENT_GLSL_

#include "core/kernels/matrix_size.glsl"
#ifndef BYTES
#include "core/kernels/reals.glsl"
#endif

// Numbers of 16 bits that an element is.
#ifndef PARTS
#define PARTS 1
#endif
// k of a tile, of which a kernel has MATRIX_STEP such numbers for each row and column.
#define BK (MATRIX_STEP / PARTS)

// Row and k, in a tile that lies along k, of the first element of the eight of this number. Where rows are shorter than
// eight eights, eight neighbouring threads have rows that lie as many rows apart as a row has eights: with one eight
// more from row to row than needed (PITCH_K) they store into different banks, and read no more lines than from rows
// that follow each other. BK / 8 is a power of two, and tiles have a multiple of 8 rows.
uvec2 place_along_k(uint number) {
  const uint eights = BK / 8;                      // of a row
  const uint rows = eights < 8 ? 8 / eights : 1;   // of eight threads
  const uint first = number / (eights * rows * eights) * (rows * eights);
  return uvec2(first + number / eights % rows * eights + number / (eights * rows) % eights, number % eights * 8);
}

// Four sums.
#ifdef BYTES
#define SUM4 ivec4
#else
#define SUM4 vec4
#endif

#if PARTS == 1

// Eight elements, as bits.
#define EIGHT uvec4
#define NO_EIGHT uvec4(0)
// Sets element e of an eight of zeros.
#define SET_ELEMENT(eight, e, bits) eight[(e) / 2] |= (bits) << ((e) % 2 * 16)
// Bits of element i from address p on, and all that an element can have.
#define BITS_OF(p, i) uint(U16(p).v[i])
#define ELEMENT_MASK 0xffffu
// Sets the first four and the last four elements, from quad q of those from address p on.
#define SET_FIRST(eight, p, q) eight.xy = U32x2(p).v[q]
#define SET_LAST(eight, p, q) eight.zw = U32x2(p).v[q]

#else

struct Eight {
  uvec4 first, last; // elements, as bits
};
#define EIGHT Eight
#define NO_EIGHT Eight(uvec4(0), uvec4(0))
#define SET_ELEMENT(eight, e, bits) \
  if ((e) < 4) {                    \
    eight.first[(e) % 4] = bits;    \
  } else {                          \
    eight.last[(e) % 4] = bits;     \
  }
#define BITS_OF(p, i) U32(p).v[i]
#define ELEMENT_MASK ~0u
#define SET_FIRST(eight, p, q) eight.first = U32x4(p).v[q]
#define SET_LAST(eight, p, q) eight.last = U32x4(p).v[q]

bool is_finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }

// The high and the low parts of four elements, as bits: high to nearest, low towards zero, without a branch, because as
// much time goes here as to the hardware. One of them is not finite where the element is not, or where high is rounded
// to infinity; neither is their sum then.
void split_four(uvec4 bits, out uvec2 high, out uvec2 low) {
  const uvec4 h = (bits + 0x8000u) & 0xffff0000u;
  const uvec4 l = floatBitsToUint(uintBitsToFloat(bits) - uintBitsToFloat(h));
  high = h.xz >> 16 | h.yw;
  low = l.xz >> 16 | (l.yw & 0xffff0000u);
}
void split_eight(Eight eight, out uvec4 high, out uvec4 low) {
  uvec2 h, l;
  split_four(eight.first, h, l);
  high.xy = h;
  low.xy = l;
  split_four(eight.last, h, l);
  high.zw = h;
  low.zw = l;
}

#endif

#endif
