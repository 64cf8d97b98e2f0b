#version 460
// SPDX-License-Identifier: BSD-3-Clause
// One result element from one to three broadcast operands.
//
// Compiled once per combination of types: ARITY is the number of operands, A, B, C their types and R the result's, by
// the names of types.glsl (ANY: the type is a specialisation constant; ITEM: unsigned integers of BITS bits). Exactly
// one of ARITHMETIC, COMPARE, CLASSIFY, LOGIC, POWER, CLIP, SELECT, CAST says which operations there are (ARITHMETIC of
// one operand: with EXPONENTIAL or TRIGONOMETRIC those of that kind); which of them is a specialisation constant, so
// that nothing of the others is left. REAL, INTEGER, SIGNED and BOOLEAN say what kind of number TYPE
// is.
#extension GL_GOOGLE_include_directive : require
#include "any.glsl"
#include "core/kernels/divider.glsl"
#include "elementwise_codes.glsl"
#include "core/kernels/finding.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(int, operation, 0);
LEAT_CONSTANT(int, access, 0);
LEAT_CONSTANT(uint, type_in, 0u);  // ARITHMETIC of two integers: whether a zero divisor is told
LEAT_CONSTANT(uint, type_out, 0u);
LEAT_CONSTANT(uint, rank, 1u); // of dims, at least 1

struct Dimension {
  uint size;        // VECTOR: the innermost one counts groups of four
  Divider per_size;
  int operands[3];  // strides in elements; VECTOR: of the innermost one 4 or 0
  int result;
};
struct Args {
  uint64_t operands[3];  // ARITHMETIC of two integers: the third is where a zero divisor is told
  uint64_t result;
  uint count;  // elements
  float parameters[2];
  Dimension dims[8];
};
LEAT_ARGS

#define ITEM LEAT_JOIN(U, BITS)

#define T_ANY Any
#define SIZE_ANY any_size(type_in)
Any load_ANY(uint64_t p) { return any_load(type_in, p); }
void load4_ANY(uint64_t p, out Any x[4]) {
  for (uint i = 0u; i < 4u; ++i) x[i] = any_load(type_in, p + i * any_size(type_in));
}

#if defined(CAST)
#define T_RESULT Any
#define SIZE_RESULT any_size(type_out)
void store_result(uint64_t p, Any x) { any_store(type_out, type_in, p, x); }
void store4_result(uint64_t p, Any x[4]) {
  for (uint i = 0u; i < 4u; ++i) any_store(type_out, type_in, p + i * any_size(type_out), x[i]);
}
#else
#define T_RESULT LEAT_JOIN(T_, R)
#define SIZE_RESULT LEAT_JOIN(SIZE_, R)
#define store_result LEAT_JOIN(store_, R)
#define store4_result LEAT_JOIN(store4_, R)
#endif

#define TA LEAT_JOIN(T_, A)
#if ARITY >= 2
#define TB LEAT_JOIN(T_, B)
#endif
#if ARITY >= 3
#define TC LEAT_JOIN(T_, C)
#endif

#if defined(CAST)
Any apply(Any a) { return a; }

#elif defined(ARITHMETIC) && defined(REAL) && ARITY == 1
#if defined(EXPONENTIAL)
#define FUNCTION function_exponential
#elif defined(TRIGONOMETRIC)
#define FUNCTION function_trigonometric
#else
#define FUNCTION function_plain
#endif
float apply(float x) { return FUNCTION(operation, x, args.parameters[0], args.parameters[1]); }

#elif defined(ARITHMETIC) && ARITY == 1
// Of a type that is narrower than what it is computed in, only its own bits count.
TA bit_count(TA x) {
  uint low = uint(x);
  if (SIZE_RESULT < 4u) low &= (1u << (SIZE_RESULT * 8u & 31u)) - 1u;
  int count = bitCount(low);
  if (SIZE_RESULT > 4u) count += bitCount(uint(uint64_t(x) >> 32));
  return TA(count);
}
TA apply(TA x) {
  switch (operation) {
#define INTEGER_VALUE(code, value) \
  case LEAT_EW_##code:         \
    return value;
#include "elementwise/functions.inc"
    default:
      return x;
  }
}

#elif defined(CLASSIFY)
bool apply(float x) {
  if (operation == LEAT_EW_ISNAN) return leat_isnan(x);
  // Parameter 0 asks for the negative infinity, parameter 1 for the positive one.
  return leat_isinf(x) && args.parameters[floatBitsToUint(x) >> 31 != 0u ? 0 : 1] != 0.0;
}

#elif defined(LOGIC) && ARITY == 1
bool apply(bool x) { return !x; }

#elif defined(LOGIC)
bool apply(bool a, bool b) {
  switch (operation) {
    case LEAT_EW_AND:
      return a && b;
    case LEAT_EW_OR:
      return a || b;
    default:
      return a != b;
  }
}

#elif defined(ARITHMETIC) && defined(REAL)
float apply(float a, float b) {
  return operation == LEAT_EW_MOD || operation == LEAT_EW_FMOD
             ? function_remainder(operation, a, b)
             : function_binary(operation, a, b, args.parameters[0]);
}

#elif defined(ARITHMETIC)
TA quotient(TA a, TA b) {
  if (b == TA(0)) {
    if (type_in != 0u) finding_tell(args.operands[2], int64_t(0), 0u);
    return TA(0);
  }
#if defined(SIGNED)
  if (b == TA(-1)) return TA(0) - a;
#endif
  return a / b;
}
// By the width of the type and more all bits are shifted out; a negative number counts as that.
TA shifted(TA a, TA b) {
  bool out_of_width = b < TA(0) || b >= TA(SIZE_RESULT * 8u);
  int by = out_of_width ? int(SIZE_RESULT) * 8 - 1 : int(b);
  if (operation == LEAT_EW_SHIFT_LEFT) return out_of_width ? TA(0) : a << by;
#if defined(SIGNED)
  return a >> by;
#else
  return out_of_width ? TA(0) : a >> by;
#endif
}
TA apply(TA a, TA b) {
  switch (operation) {
    case LEAT_EW_ADD:
      return a + b;
    case LEAT_EW_SUB:
      return a - b;
    case LEAT_EW_MUL:
      return a * b;
    case LEAT_EW_DIV:
      return quotient(a, b);
    case LEAT_EW_MIN:
      return min(a, b);
    case LEAT_EW_MAX:
      return max(a, b);
    case LEAT_EW_PRELU:
      return a < TA(0) ? a * b : a;
    case LEAT_EW_BITWISE_AND:
      return a & b;
    case LEAT_EW_BITWISE_OR:
      return a | b;
    case LEAT_EW_BITWISE_XOR:
      return a ^ b;
    case LEAT_EW_SHIFT_LEFT:
    case LEAT_EW_SHIFT_RIGHT:
      return shifted(a, b);
    default: {
      // The remainder has the sign of the dividend for FMOD and that of the divisor for MOD; a zero divisor gives 0.
      TA whole = quotient(a, b);
      TA rest = b == TA(0) ? TA(0) : a - whole * b;
#if defined(SIGNED)
      if (operation == LEAT_EW_MOD && rest != TA(0) && (rest < TA(0)) != (b < TA(0))) rest += b;
#endif
      return rest;
    }
  }
}

#elif defined(COMPARE) && defined(REAL)
bool apply(float a, float b) { return function_compare(operation, a, b); }

#elif defined(COMPARE)
bool apply(TA a, TA b) {
  switch (operation) {
    case LEAT_EW_EQUAL:
      return a == b;
#if !defined(BOOLEAN)
    case LEAT_EW_LESS:
      return a < b;
    case LEAT_EW_GREATER:
      return a > b;
    case LEAT_EW_LESS_OR_EQUAL:
      return a <= b;
    default:
      return a >= b;
#else
    default:
      return false;
#endif
  }
}

#elif defined(POWER)
#if defined(REAL)
TA apply(TA x, Any y) {
  // A whole exponent is as good as its float: beyond 2^24 the result is 0, 1 or infinite but for x next to 1.
  return leat_pow(x, y.f);
}
#else
#define MOST any_highest(LEAT_JOIN(LEAT_ANY_, A))
// x^y for an exponent that is NaN, no whole number, or even and beyond 64 bits. What does not fit is the largest
// number, and NaN is 0, as in Cast; 0 to a negative power is 0, as where integers are divided by 0.
TA odd_power(TA x, float y) {
  bool beyond = abs(y) >= 9.0e18;
  if (x == TA(1)) return x;
  if (leat_isnan(y)) return TA(0);
  if (beyond && x == TA(-1)) return TA(1);
  if (y < 0.0 || x == TA(0) || (x < TA(0) && !beyond)) return TA(0);
  if (beyond) return TA(MOST);
  return TA(min(leat_whole_pow(uint64_t(x), y), uint64_t(MOST)));
}
TA apply(TA x, Any y) {
  if (any_is_float(type_in) && (leat_isnan(y.f) || abs(y.f) >= 9.0e18 || floor(y.f) != y.f)) return odd_power(x, y.f);
  int64_t n = any_is_float(type_in) ? int64_t(y.f) : y.i;
  if (n < int64_t(0)) {
    // 1 / x^-n towards zero.
    bool odd = (n & int64_t(1)) != int64_t(0);
    return x == TA(1) ? TA(1) : x == TA(-1) ? (odd ? TA(-1) : TA(1)) : TA(0);
  }
  TA power = TA(1);
  TA square = x;
  for (; n != int64_t(0); n >>= 1) {
    if ((n & int64_t(1)) != int64_t(0)) power *= square;
    square *= square;
  }
  return power;
}
#endif

#elif defined(CLIP) && defined(REAL)
float apply(float x, float low, float high) {
  // A bound that is not there is the lowest or the largest finite number of the type, so that no infinity is left.
  if ((type_in & 1u) == 0u) low = args.parameters[0];
  if ((type_in & 2u) == 0u) high = args.parameters[1];
  return function_clip(x, low, high);
}

#elif defined(CLIP)
TA apply(TA x, TA low, TA high) {
  if ((type_in & 1u) != 0u) x = max(x, low);
  if ((type_in & 2u) != 0u) x = min(x, high);
  return x;
}

#elif defined(SELECT)
TB apply(bool condition, TB x, TB y) { return condition ? x : y; }
#endif

uint64_t at(uint64_t base, int offset, uint size) { return base + uint64_t(int64_t(offset) * int64_t(size)); }

// Offsets of position `index` in elements, by operand and for the result.
void find(uint index, out int a, out int b, out int c, out int r) {
  if (access == LEAT_EW_FLAT) {
    a = b = c = r = int(index) * 4;
    return;
  }
  a = b = c = r = 0;
  for (uint d = rank - 1u; d > 0u; --d) {
    uint rest = divide(index, args.dims[d].per_size);
    int i = int(index - rest * args.dims[d].size);
    index = rest;
    a += i * args.dims[d].operands[0];
    if (ARITY >= 2) b += i * args.dims[d].operands[1];
    if (ARITY >= 3) c += i * args.dims[d].operands[2];
    r += i * args.dims[d].result;
  }
  int i = int(index);
  a += i * args.dims[0].operands[0];
  if (ARITY >= 2) b += i * args.dims[0].operands[1];
  if (ARITY >= 3) c += i * args.dims[0].operands[2];
  r += i * args.dims[0].result;
}

// Elements from one of four side by side to the next; a repeated operand has them all in one place.
int step_of(uint operand) { return access == LEAT_EW_FLAT ? 1 : args.dims[rank - 1u].operands[operand] / 4; }

#define LOAD(type, i, offset) LEAT_JOIN(load_, type)(at(args.operands[i], offset, LEAT_JOIN(SIZE_, type)))

// Four elements side by side; a repeated operand is loaded once.
#define LOAD4(type, i, offset, x)                                                     \
  if (step_of(i) != 0) {                                                              \
    LEAT_JOIN(load4_, type)(at(args.operands[i], offset, LEAT_JOIN(SIZE_, type)), x); \
  } else {                                                                            \
    x[0] = LOAD(type, i, offset);                                                     \
    x[1] = x[0];                                                                      \
    x[2] = x[0];                                                                      \
    x[3] = x[0];                                                                      \
  }

// Every invocation handles four elements. The operation stands in the code once: what it does for the others of its
// kind is only dropped when the pipeline is made, and drivers take their time over what they drop.
void main() {
  TA x[4];
#if ARITY >= 2
  TB y[4];
#endif
#if ARITY >= 3
  TC z[4];
#endif
  T_RESULT w[4];
  int to[4];
  uint valid;
  bool whole = false;
  int a, b, c, r;
  if (access != LEAT_EW_STRIDED) {
    uint index = leat_linear_group() * 256u + gl_LocalInvocationIndex;
    if (index * 4u >= args.count) return;
    find(index, a, b, c, r);
    // Only a tensor of one dimension can have a size that four does not divide.
    valid = min(args.count - index * 4u, 4u);
    whole = valid == 4u;
    to = int[4](r, r + 1, r + 2, r + 3);
    if (whole) {
      LOAD4(A, 0, a, x)
#if ARITY >= 2
      LOAD4(B, 1, b, y)
#endif
#if ARITY >= 3
      LOAD4(C, 2, c, z)
#endif
    } else {
      for (uint i = 0u; i < 4u; ++i) {
        int k = int(min(i, valid - 1u));
        x[i] = LOAD(A, 0, a + k * step_of(0));
#if ARITY >= 2
        y[i] = LOAD(B, 1, b + k * step_of(1));
#endif
#if ARITY >= 3
        z[i] = LOAD(C, 2, c + k * step_of(2));
#endif
      }
    }
  } else {
    uint index = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
    if (index >= args.count) return;
    valid = min((args.count - index + 255u) / 256u, 4u);
    for (uint i = 0u; i < 4u; ++i) {
      // Past the end the last element again, which is not stored.
      find(index + min(i, valid - 1u) * 256u, a, b, c, r);
      to[i] = r;
      x[i] = LOAD(A, 0, a);
#if ARITY >= 2
      y[i] = LOAD(B, 1, b);
#endif
#if ARITY >= 3
      z[i] = LOAD(C, 2, c);
#endif
    }
  }
  for (uint i = 0u; i < 4u; ++i) {
#if ARITY == 1
    w[i] = apply(x[i]);
#elif ARITY == 2
    w[i] = apply(x[i], y[i]);
#else
    w[i] = apply(x[i], y[i], z[i]);
#endif
  }
  if (whole) {
    store4_result(at(args.result, to[0], SIZE_RESULT), w);
  } else {
    for (uint i = 0u; i < valid; ++i) {
      store_result(at(args.result, to[i], SIZE_RESULT), w[i]);
    }
  }
}
