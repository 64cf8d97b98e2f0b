// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices of bytes, which sum up to int32, and what becomes of a sum. With DOTS, the device adds up four
// products at once.
//
// All bytes are signed here: those without a sign have their highest bit turned, which takes 128 from them and from their
// zero points alike. Four of them along k are an int. The zero points come in at the end:
//     sum of (a - za) (b - zb) = sum of a b - zb sum of a - za sum of b + k za zb,
// all of it modulo 2^32, so that neither the order of sums nor how k is split changes a bit.
#ifndef LEAT_INTEGER_GLSL_
#define LEAT_INTEGER_GLSL_

#ifdef DOTS
#extension GL_EXT_spirv_intrinsics : require
#endif

#include "gemm_args.glsl"
#include "elementwise/kernels/quotient.glsl"

struct Args {
  GEMM_ARGS
  uint64_t a_zero, b_zero;              // zero points, bytes; 0 for none
  uint64_t a_scale, b_scale;            // with y_scale, floats
  uint64_t y_scale, y_zero;             // y_scale: 0 where results are the sums, or with scales of a and b floats
  int a_place_row, b_place_column;      // from one scale and zero point to the next
  int a_place_batch[6], b_place_batch[6];
  uint a_zeros, b_zeros;                // 0: one zero point is for all
  uint a_turn, b_turn;                  // what turns the highest bits of four bytes, or 0
  int y_low;                            // the least number of a result's type, -128 or 0
  uint words;                           // WORDS_...
  uint ending;                          // ENDING_...
};
LEAT_ARGS
#include "gemm_batch.glsl"

// Bits of `words`: four bytes along k lie side by side at a multiple of four.
#define WORDS_A 1
#define WORDS_B 2

// Bits of `ending`: sums that become bytes become floats first, with a bias of floats; negative floats become 0.
#define ENDING_FLOATS 1
#define ENDING_RELU 2

#ifdef DOTS
// OpSDot of SPV_KHR_integer_dot_product: capabilities DotProduct and DotProductInput4x8BitPacked, and that format.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int signed_dot(int a, int b, spirv_literal int format);

int dot4(int a, int b, int sum) { return signed_dot(a, b, 0) + sum; }
#else
int dot4(int a, int b, int sum) {
  [[unroll]] for (int j = 0; j < 4; ++j) {
    sum += bitfieldExtract(a, 8 * j, 8) * bitfieldExtract(b, 8 * j, 8);
  }
  return sum;
}
#endif
#define ONES 0x01010101

// Word j of the result has byte j of each word.
ivec4 transposed(uvec4 w) {
  const uint even = (w.x & 0x00ff00ffu) | (w.y & 0x00ff00ffu) << 8;
  const uint odd = (w.x >> 8 & 0x00ff00ffu) | (w.y & 0xff00ff00u);
  const uint next_even = (w.z & 0x00ff00ffu) | (w.w & 0x00ff00ffu) << 8;
  const uint next_odd = (w.z >> 8 & 0x00ff00ffu) | (w.w & 0xff00ff00u);
  return ivec4((even & 0xffffu) | next_even << 16, (odd & 0xffffu) | next_odd << 16,
               even >> 16 | (next_even & 0xffff0000u), odd >> 16 | (next_odd & 0xffff0000u));
}

// Four bytes along k from k on, which begin at offset `at` and are `step` apart; 0 from k_end on.
int four_bytes(uint64_t base, int at, int step, uint k, uint k_end, uint turn) {
  uint word = 0;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (k + j < k_end) {
      word |= (uint(U8(base).v[at + int(j) * step]) ^ (turn & 0xffu)) << 8 * j;
    }
  }
  return int(word);
}

// Where the operands of a batch begin, and their scales and zero points.
struct Sides {
  uint64_t a, b;
  int a_place, b_place;
};
Sides sides_of(uint batch) {
  const BatchOffsets offsets = offsets_of(batch);
  Sides r = Sides(args.a + uint64_t(offsets.a), args.b + uint64_t(offsets.b), 0, 0);
  for (int d = int(args.batch_rank) - 1; d >= 0; --d) {
    const uint next = d > 0 ? batch / args.batch_shape[d] : 0;
    const int index = int(batch - next * args.batch_shape[d]);
    r.a_place += index * args.a_place_batch[d];
    r.b_place += index * args.b_place_batch[d];
    batch = next;
  }
  return r;
}

// A zero point as the bytes are taken. Where there is none, its place is 0; a result is never empty.
int turned_zero(uint64_t zeros, int place, uint turn) {
  return bitfieldExtract(int(leat_byte_if_any(zeros, place, args.c) ^ turn), 0, 8);
}
int zero_of_row(Sides sides, uint row) {
  return turned_zero(args.a_zero, args.a_zeros != 0 ? sides.a_place + int(row) * args.a_place_row : 0, args.a_turn);
}
int zero_of_column(Sides sides, uint column) {
  return turned_zero(args.b_zero, args.b_zeros != 0 ? sides.b_place + int(column) * args.b_place_column : 0,
                     args.b_turn);
}

// Word number `at` of those at an address, or 0 where that is 0, for the reason that leat_byte_if_any() has. It is not
// called behind a branch on the address, where a compiler leaves the choice out, nor behind a return that all threads may
// take. A result without a scale is of words.
uint word_if_any(uint64_t words, int at) {
  const uint64_t instead = args.y_scale != 0 ? args.y_scale : args.c;
  const uint word = U32(words != 0 ? words : instead).v[words != 0 ? at : 0];
  return words != 0 ? word : 0;
}

// What all results have in common. It is read before any of them is stored, because a compiler that cannot tell what a
// store is to reads it again behind each; and before all threads may return, as above.
struct Result {
  Divisor scale;
  int zero;
};
Result result_of_all() {
  Result r;
  r.scale = divisor_of(uintBitsToFloat(word_if_any(args.y_scale, 0)));
  const uint byte = leat_byte_if_any(args.y_zero, 0, args.c);
  r.zero = args.y_low < 0 ? bitfieldExtract(int(byte), 0, 8) : int(byte);
  return r;
}

float scale_of_row(Sides sides, uint row) {
  return uintBitsToFloat(word_if_any(args.a_scale, sides.a_place + int(row) * args.a_place_row));
}
float scale_of_column(Sides sides, uint column) {
  return uintBitsToFloat(word_if_any(args.b_scale, sides.b_place + int(column) * args.b_place_column));
}

// The bits of a bias, which is an int where sums become bytes at once, or else a float.
uint bias_of(uint batch, uint row, uint column) {
  const int place =
      bias_of_batch(batch) + int(row) * args.bias_row + int(column) * args.bias_column;
  return word_if_any(args.bias, place);
}

// What sums of a row and a column with these scales are multiplied by.
float factor_of(Result r, float row_scale, float column_scale) {
  const bool rescales = args.y_scale != 0 && (args.ending & ENDING_FLOATS) == 0;
  return rescales ? exact_quotient(row_scale * column_scale, r.scale.scale) : row_scale * column_scale;
}

// A sum, multiplied by that, as a float with its bias; two roundings, as by two operators.
float scaled(float factor, uint bias, int sum) {
  precise const float x = float(sum) * factor;
  precise const float y = x + uintBitsToFloat(bias);
  const float z = args.bias == 0 ? x : y;
  return (args.ending & ENDING_RELU) != 0 && z < 0.0 ? 0.0 : z;
}

// A sum, multiplied by that, as a byte.
uint rescaled(Result r, float factor, uint bias, int sum) {
  if ((args.ending & ENDING_FLOATS) != 0) {
    const float x = scaled(factor, bias, sum);
    return uint(quantized_by(r.scale, x, r.zero, args.y_low, args.y_low + 255)) & 0xffu;
  }
  const float low = float(args.y_low - r.zero);
  return uint(int(clamp(roundEven(float(sum + int(bias)) * factor), low, low + 255.0)) + r.zero) & 0xffu;
}

void store_sum(Sides sides, Result r, uint batch, uint row, uint column, int sum) {
  const uint at = batch * args.c_batch + row * uint(args.c_row) + column;
  const float factor = factor_of(r, scale_of_row(sides, row), scale_of_column(sides, column));
  const uint bias = bias_of(batch, row, column);
  if (args.y_scale != 0) {
    U8(args.c).v[at] = uint8_t(rescaled(r, factor, bias, sum));
  } else if (args.a_scale != 0) {
    F32(args.c).v[at] = scaled(factor, bias, sum);
  } else {
    I32(args.c).v[at] = sum;
  }
}

#endif
