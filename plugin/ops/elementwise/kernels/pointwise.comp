#version 460
// SPDX-License-Identifier: BSD-3-Clause
// One result element from one to eight broadcast operands, by a program of up to sixteen steps.
//
// The program is in specialisation constants, so that straight code is left of it when the pipeline is made; the
// numbers that it names are in the argument record. Each step gives the bits that its operator gives alone: it computes
// in float32 and rounds to TYPE.
//
// QUANTIZED: TYPE is F32, and operands and result may be bytes that stand for floats: dequantised by DequantizeLinear,
// quantised by QuantizeLinear. With SCALES_IN_MEMORY scales and zero points are read where they lie.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/types.glsl"
#include "core/kernels/divider.glsl"
#include "elementwise_codes.glsl"
#include "functions.glsl"
#ifdef QUANTIZED
#include "quotient.glsl"
#endif

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, access, 0u);
LEAT_CONSTANT(uint, rank, 1u);   // of dims, at least 1
LEAT_CONSTANT(uint, inputs, 1u); // four bits for their number, from 1 on; then one for each that is of bytes, and for
                                 // the result
LEAT_CONSTANT(uint, steps, 1u);  // 1 to LEAT_POINTWISE_STEPS
// A step: two bits for its kind, seven for LEAT_EW_..., and three numbers of values of six bits each.
LEAT_CONSTANT(uint, step_0, 0u);
LEAT_CONSTANT(uint, step_1, 0u);
LEAT_CONSTANT(uint, step_2, 0u);
LEAT_CONSTANT(uint, step_3, 0u);
LEAT_CONSTANT(uint, step_4, 0u);
LEAT_CONSTANT(uint, step_5, 0u);
LEAT_CONSTANT(uint, step_6, 0u);
LEAT_CONSTANT(uint, step_7, 0u);
LEAT_CONSTANT(uint, step_8, 0u);
LEAT_CONSTANT(uint, step_9, 0u);
LEAT_CONSTANT(uint, step_10, 0u);
LEAT_CONSTANT(uint, step_11, 0u);
LEAT_CONSTANT(uint, step_12, 0u);
LEAT_CONSTANT(uint, step_13, 0u);
LEAT_CONSTANT(uint, step_14, 0u);
LEAT_CONSTANT(uint, step_15, 0u);

const uint input_count = inputs & 0xfu;

struct Dimension {
  uint size;                            // VECTOR: the innermost one counts groups of four
  Divider per_size;
  int result;                           // strides in elements
  int operands[LEAT_POINTWISE_INPUTS];  // VECTOR: of the innermost one 4 or 0
};
#ifdef QUANTIZED
struct Bytes {
#ifdef SCALES_IN_MEMORY
  uint64_t scale;
  uint64_t zero;  // 0: the zero point is 0
#else
  float scale;
  float zero;  // the zero point, 128 added for int8
#endif
  uint flip;  // what makes four int8 at once uint8, 128 added to each; 0 for uint8
};
#endif
struct Args {
  uint64_t operands[LEAT_POINTWISE_INPUTS];
  uint64_t result;
  uint count;  // elements
  uint zero;   // 0, which no compiler knows
  float constants[LEAT_POINTWISE_CONSTANTS];
#ifdef QUANTIZED
  Bytes bytes[LEAT_POINTWISE_INPUTS];
#ifdef SCALES_IN_MEMORY
  uint64_t result_scale;
  uint64_t result_zero;
#else
  float result_scale;
  float result_inverse;  // Divisor::inverse
  int result_zero;
#endif
  int result_low;  // of the 256 numbers that its type holds
#endif
  Dimension dims[8];
};
LEAT_ARGS

// Inputs and results of steps for one element; constants follow by number.
float values[LEAT_POINTWISE_FIRST_CONSTANT];

float value(uint number) {
  if (number < LEAT_POINTWISE_FIRST_CONSTANT) return values[number];
  return args.constants[number - LEAT_POINTWISE_FIRST_CONSTANT];
}

// The number as it is. Compilers may contract operations of a function; this keeps them from doing so across two of
// them. (function_binary() is precise.)
float rounded(float x) { return uintBitsToFloat(floatBitsToUint(x) ^ args.zero); }

int operation_of(uint step) { return int(step >> 2 & 0x7fu); }
float operand(uint step, uint number) { return value(step >> 9 + 6 * number & 0x3fu); }

// A step, by the kind of its function: link_0 there is none, link_1 those that need nothing of math.glsl, link_2 those
// that need its exponential functions, link_3 the others.
float link_0(uint step) { return 0.0; }

float link_1(uint step) {
  int operation = operation_of(step);
  float a = operand(step, 0u);
  float b = operand(step, 1u);
  float c = operand(step, 2u);
  if (operation == LEAT_EW_WHERE) return a != 0.0 ? b : c;
  if (operation == LEAT_EW_CLIP) return function_clip(a, b, c);
  if (operation >= LEAT_EW_EQUAL) return function_compare(operation, a, b) ? 1.0 : 0.0;
  if (operation >= LEAT_EW_ADD) return function_binary(operation, a, b, c);
  return rounded(function_plain(operation, a, b, c));
}

float link_2(uint step) {
  float a = operand(step, 0u);
  float b = operand(step, 1u);
  return rounded(function_exponential(operation_of(step), a, b, operand(step, 2u)));
}

float link_3(uint step) {
  int operation = operation_of(step);
  float a = operand(step, 0u);
  float b = operand(step, 1u);
  if (operation == LEAT_EW_POW) return rounded(leat_pow(a, b));
  if (operation >= LEAT_EW_ADD) return rounded(function_remainder(operation, a, b));
  return rounded(function_trigonometric(operation, a, b, operand(step, 2u)));
}

#define ROUND_F32(x) x
#define ROUND_F16(x) leat_round_F16(x)
#define ROUND_BF16(x) leat_round_BF16(x)
#define ROUND LEAT_JOIN(ROUND_, TYPE)

// Which function a step calls is put in place when the pipeline is made: leati_kernel_module(). The compiler drops
// those that nothing calls, so each is called here once at least.
void run() {
  values[LEAT_POINTWISE_INPUTS + 0] = ROUND(link_0(step_0));
  values[LEAT_POINTWISE_INPUTS + 1] = ROUND(link_1(step_1));
  values[LEAT_POINTWISE_INPUTS + 2] = ROUND(link_2(step_2));
  values[LEAT_POINTWISE_INPUTS + 3] = ROUND(link_3(step_3));
  values[LEAT_POINTWISE_INPUTS + 4] = ROUND(link_0(step_4));
  values[LEAT_POINTWISE_INPUTS + 5] = ROUND(link_0(step_5));
  values[LEAT_POINTWISE_INPUTS + 6] = ROUND(link_0(step_6));
  values[LEAT_POINTWISE_INPUTS + 7] = ROUND(link_0(step_7));
  values[LEAT_POINTWISE_INPUTS + 8] = ROUND(link_0(step_8));
  values[LEAT_POINTWISE_INPUTS + 9] = ROUND(link_0(step_9));
  values[LEAT_POINTWISE_INPUTS + 10] = ROUND(link_0(step_10));
  values[LEAT_POINTWISE_INPUTS + 11] = ROUND(link_0(step_11));
  values[LEAT_POINTWISE_INPUTS + 12] = ROUND(link_0(step_12));
  values[LEAT_POINTWISE_INPUTS + 13] = ROUND(link_0(step_13));
  values[LEAT_POINTWISE_INPUTS + 14] = ROUND(link_0(step_14));
  values[LEAT_POINTWISE_INPUTS + 15] = ROUND(link_0(step_15));
}

#ifdef QUANTIZED
#define LOADED uint  // the bits of a float, or a byte

bool is_bytes(uint tensor) { return (inputs >> 4u + tensor & 1u) != 0u; }

uint64_t at(uint64_t base, int offset, uint tensor) {
  return base + uint64_t(int64_t(offset) * (is_bytes(tensor) ? 1L : 4L));
}

uint load_one(uint k, int offset) {
  uint64_t p = at(args.operands[k], offset, k);
  if (is_bytes(k)) return load_U8(p);
  return load_U32(p);
}

// Four bytes lie in the first of x, and stay there until they are computed with: nothing waits before all is being
// loaded.
void load_four(uint k, int offset, out uint x[4]) {
  uint64_t p = at(args.operands[k], offset, k);
  if (is_bytes(k)) {
    x[0] = load_U32(p);
  } else {
    load4_U32(p, x);
  }
}

// Puts four that were loaded one by one where load_four() has them.
void put_together(uint k, inout uint x[4]) {
  if (is_bytes(k)) x[0] |= x[1] << 8 | x[2] << 16 | x[3] << 24;
}

#ifdef SCALES_IN_MEMORY
float scales[LEAT_POINTWISE_INPUTS];
float zeros[LEAT_POINTWISE_INPUTS];  // 128 added for int8
Divisor divisor;
int result_zero;

// A zero point as uint8, 128 added for int8; `other` is an address of something that is there. Drivers may load from
// one address for all threads whatever the condition before it says.
uint load_zero(uint64_t p, uint64_t other, uint flip) {
  uint zero = load_U8(p != 0 ? p : other);
  return ((p != 0 ? zero : 0u) ^ flip) & 0xffu;
}

void load_scales() {
  [[unroll]] for (uint k = 0u; k < input_count; ++k) {
    if (is_bytes(k)) {
      scales[k] = load_F32(args.bytes[k].scale);
      zeros[k] = float(load_zero(args.bytes[k].zero, args.bytes[k].scale, args.bytes[k].flip));
    }
  }
  if (is_bytes(LEAT_POINTWISE_INPUTS)) {
    divisor = divisor_of(load_F32(args.result_scale));
    result_zero = int(load_zero(args.result_zero, args.result_scale, uint(args.result_low))) + args.result_low;
  }
}
#define SCALE(k) scales[k]
#define ZERO(k) zeros[k]
#define DIVISOR divisor
#define RESULT_ZERO result_zero
#else
#define SCALE(k) args.bytes[k].scale
#define ZERO(k) args.bytes[k].zero
#define DIVISOR Divisor(args.result_scale, args.result_inverse)
#define RESULT_ZERO args.result_zero
#endif

// Differences of such whole numbers are exact.
float element(uint k, uint x[4], uint i) {
  if (!is_bytes(k)) return uintBitsToFloat(x[i]);
  float value = float((x[0] ^ args.bytes[k].flip) >> 8u * i & 0xffu) - ZERO(k);
  return rounded(value * SCALE(k));
}

uint stored(float y) {
  int low = args.result_low;
  return uint(quantized_by(DIVISOR, y, RESULT_ZERO, low, low + 255));
}

void store_one(int offset, float y) {
  uint64_t p = at(args.result, offset, LEAT_POINTWISE_INPUTS);
  if (is_bytes(LEAT_POINTWISE_INPUTS)) {
    store_U8(p, stored(y));
  } else {
    store_F32(p, y);
  }
}

void store_four(int offset, float y[4]) {
  uint64_t p = at(args.result, offset, LEAT_POINTWISE_INPUTS);
  if (is_bytes(LEAT_POINTWISE_INPUTS)) {
    int low = args.result_low;
    vec4 four = vec4(y[0], y[1], y[2], y[3]);
    store_U32(p, packed(quantized4_by(DIVISOR, four, RESULT_ZERO, low, low + 255)));
  } else {
    store4_F32(p, y);
  }
}
#else
#define LOADED float

uint64_t at(uint64_t base, int offset) { return base + uint64_t(int64_t(offset) * int64_t(LEAT_JOIN(SIZE_, TYPE))); }

#define load_one(k, offset) LEAT_JOIN(load_, TYPE)(at(args.operands[k], offset))
#define load_four(k, offset, x) LEAT_JOIN(load4_, TYPE)(at(args.operands[k], offset), x)
#define element(k, x, i) x[i]
#define store_one(offset, y) LEAT_JOIN(store_, TYPE)(at(args.result, offset), y)
#define store_four(offset, y) LEAT_JOIN(store4_, TYPE)(at(args.result, offset), y)
#endif

// Offsets of position `index` in elements, by operand and for the result.
void find(uint index, out int operands[LEAT_POINTWISE_INPUTS], out int result) {
  bool compact = access == LEAT_EW_FLAT;
  result = compact ? int(index) * 4 : 0;
  [[unroll]] for (uint k = 0u; k < input_count; ++k) operands[k] = result;
  [[unroll]] for (uint d = rank; !compact && d > 0u; --d) {
    uint rest = d > 1u ? divide(index, args.dims[d - 1u].per_size) : 0u;
    int i = int(index - rest * args.dims[d - 1u].size);
    index = rest;
    result += i * args.dims[d - 1u].result;
    [[unroll]] for (uint k = 0u; k < input_count; ++k) operands[k] += i * args.dims[d - 1u].operands[k];
  }
}

// Elements from one of four side by side to the next; a repeated operand has them all in one place.
int step_of(uint operand) { return access == LEAT_EW_FLAT ? 1 : args.dims[rank - 1u].operands[operand] / 4; }

// Every invocation handles four elements.
void main() {
  LOADED x[LEAT_POINTWISE_INPUTS][4];
  float y[4];
  int from[LEAT_POINTWISE_INPUTS];
  int to[4];
  uint valid;
  bool whole = false;
  if (access != LEAT_EW_STRIDED) {
    uint index = leat_linear_group() * 256u + gl_LocalInvocationIndex;
    if (index * 4u >= args.count) return;
    int r;
    find(index, from, r);
    // Only a tensor of one dimension can have a size that four does not divide.
    valid = min(args.count - index * 4u, 4u);
    whole = valid == 4u;
    to = int[4](r, r + 1, r + 2, r + 3);
    [[unroll]] for (uint k = 0u; k < input_count; ++k) {
      if (whole && step_of(k) != 0) {
        load_four(k, from[k], x[k]);
      } else {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
          x[k][i] = load_one(k, from[k] + int(min(i, valid - 1u)) * step_of(k));
        }
      }
    }
  } else {
    uint index = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
    if (index >= args.count) return;
    valid = min((args.count - index + 255u) / 256u, 4u);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      // Past the end the last element again, which is not stored.
      find(index + min(i, valid - 1u) * 256u, from, to[i]);
      [[unroll]] for (uint k = 0u; k < input_count; ++k) x[k][i] = load_one(k, from[k]);
    }
  }
#ifdef SCALES_IN_MEMORY
  load_scales();
#endif
#ifdef QUANTIZED
  [[unroll]] for (uint k = 0u; k < input_count; ++k) {
    if (!whole || step_of(k) == 0) put_together(k, x[k]);
  }
#endif
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    [[unroll]] for (uint k = 0u; k < input_count; ++k) values[k] = element(k, x[k], i);
    run();
    y[i] = values[LEAT_POINTWISE_INPUTS + steps - 1u];
  }
  if (whole) {
    store_four(to[0], y);
  } else {
    for (uint i = 0u; i < valid; ++i) store_one(to[i], y[i]);
  }
}
