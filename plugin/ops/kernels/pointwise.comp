#version 460
// SPDX-License-Identifier: BSD-3-Clause
// One result element from one to eight broadcast operands, by a program of up to sixteen steps.
//
// The program is in specialisation constants, so that straight code is left of it when the pipeline is made; the
// numbers that it names are in the argument record. Each step gives the bits that its operator gives alone: it computes
// in float32 and rounds to TYPE.
#extension GL_GOOGLE_include_directive : require
#include "types.glsl"
#include "elementwise_codes.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, access, 0u);
LEAT_CONSTANT(uint, rank, 1u);   // of dims, at least 1
LEAT_CONSTANT(uint, inputs, 1u); // 1 to LEAT_POINTWISE_INPUTS
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

struct Dimension {
  uint size;                            // VECTOR: the innermost one counts groups of four
  int result;                           // strides in elements
  int operands[LEAT_POINTWISE_INPUTS];  // VECTOR: of the innermost one 4 or 0
};
struct Args {
  uint64_t operands[LEAT_POINTWISE_INPUTS];
  uint64_t result;
  uint count;  // elements
  uint zero;   // 0, which no compiler knows
  float constants[LEAT_POINTWISE_CONSTANTS];
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

uint64_t at(uint64_t base, int offset) { return base + uint64_t(int64_t(offset) * int64_t(LEAT_JOIN(SIZE_, TYPE))); }

// Offsets of position `index` in elements, by operand and for the result.
void find(uint index, out int operands[LEAT_POINTWISE_INPUTS], out int result) {
  bool compact = access == LEAT_EW_FLAT;
  result = compact ? int(index) * 4 : 0;
  [[unroll]] for (uint k = 0u; k < inputs; ++k) operands[k] = result;
  [[unroll]] for (uint d = rank; !compact && d > 0u; --d) {
    uint rest = d > 1u ? index / args.dims[d - 1u].size : 0u;
    int i = int(index - rest * args.dims[d - 1u].size);
    index = rest;
    result += i * args.dims[d - 1u].result;
    [[unroll]] for (uint k = 0u; k < inputs; ++k) operands[k] += i * args.dims[d - 1u].operands[k];
  }
}

// Elements from one of four side by side to the next; a repeated operand has them all in one place.
int step_of(uint operand) { return access == LEAT_EW_FLAT ? 1 : args.dims[rank - 1u].operands[operand] / 4; }

// Every invocation handles four elements.
void main() {
  float x[LEAT_POINTWISE_INPUTS][4];
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
    [[unroll]] for (uint k = 0u; k < inputs; ++k) {
      if (whole && step_of(k) != 0) {
        LEAT_JOIN(load4_, TYPE)(at(args.operands[k], from[k]), x[k]);
      } else {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
          x[k][i] = LEAT_JOIN(load_, TYPE)(at(args.operands[k], from[k] + int(min(i, valid - 1u)) * step_of(k)));
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
      [[unroll]] for (uint k = 0u; k < inputs; ++k) x[k][i] = LEAT_JOIN(load_, TYPE)(at(args.operands[k], from[k]));
    }
  }
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    [[unroll]] for (uint k = 0u; k < inputs; ++k) values[k] = x[k][i];
    run();
    y[i] = values[LEAT_POINTWISE_INPUTS + steps - 1u];
  }
  if (whole) {
    LEAT_JOIN(store4_, TYPE)(at(args.result, to[0]), y);
  } else {
    for (uint i = 0u; i < valid; ++i) LEAT_JOIN(store_, TYPE)(at(args.result, to[i]), y[i]);
  }
}
