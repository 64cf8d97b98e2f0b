#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Reduction over any dimensions of a tensor with any strides. A long reduction with few results is cut into chunks that
// different workgroups reduce; a second dispatch reduces their results. Defines: TYPE and RESULT, the types of elements
// and results, ACCUMULATOR, what it computes in; REAL for floating point; SOURCE, if elements are of another type than
// TYPE.
#include "core/kernels/reals.glsl"
#include "rows.glsl"
#include "core/kernels/math.glsl"

// What is done to each element, how two are combined, what is done to the result.
// Before: 0 nothing, 1 absolute value, 2 square, 3 exp(x - shift), 4 quotient and 5 remainder of a division by count.
LEAT_CONSTANT(uint, BEFORE, 0);
LEAT_CONSTANT(uint, COMBINE, 0); // 0 sum, 1 product, 2 maximum, 3 minimum
// After: 0 nothing, 1 divide by count, 2 square root, 3 log, 4 log plus shift, 5 mean of a sum of remainders and the
// sum of quotients, which is shift.
LEAT_CONSTANT(uint, AFTER, 0);
struct Args {
  uint64_t x, y, shift;   // shift: one per result
  uint results, count;    // elements that each result is reduced from
  uint chunks, chunk;     // y[result * chunks + chunk number]
  uint divisor;           // count of the elements that are divided by their number
  uint kept_rank, reduced_rank;
  uint kept_shape[8];
  int kept_stride[8];
  uint reduced_shape[8];
  int reduced_stride[8];
};
LEAT_ARGS

#ifndef SOURCE
#define SOURCE TYPE
#endif
#define T LEAT_JOIN(T_, ACCUMULATOR)
// Buffers of elements and results, and an element and a result as they are computed with and as they are stored.
#ifdef REAL
#define SOURCES LEAT_JOIN(REALS_, SOURCE)
#define RESULTS LEAT_JOIN(REALS_, RESULT)
#define TAKEN LEAT_JOIN(WIDEN_, SOURCE)
#define GIVEN LEAT_JOIN(NARROW_, RESULT)
#else
#define SOURCES SOURCE
#define RESULTS RESULT
#define TAKEN T
#define GIVEN LEAT_JOIN(STORED_, RESULT)
#endif
#define LOWEST LEAT_JOIN(LOWEST_, ACCUMULATOR)
#define HIGHEST LEAT_JOIN(HIGHEST_, ACCUMULATOR)

shared T space[LEAT_ROW_SPACE];

T start() {
  return COMBINE == 0 ? T(0) : COMBINE == 1 ? T(1) : COMBINE == 2 ? T(LOWEST) : T(HIGHEST);
}

T combine(T a, T b) {
  if (COMBINE == 0) {
    return a + b;
  }
  if (COMBINE == 1) {
    return a * b;
  }
#ifdef REAL
  // As in NumPy, the maximum of numbers and a NaN is NaN.
  if (leat_isnan(a) || leat_isnan(b)) {
    return leat_nan();
  }
#endif
  return (COMBINE == 2 ? b > a : b < a) ? b : a;
}
LEAT_ROW_COMBINE(combine_line, T, space, combine)

T before(T value, T shift) {
  if (BEFORE == 1) {
    return abs(value);
  }
  if (BEFORE == 2) {
    return value * value;
  }
#ifdef REAL
  if (BEFORE == 3) {
    return leat_exp(value - shift);
  }
#else
  if (BEFORE == 4) {
    return value / T(args.divisor);
  }
  if (BEFORE == 5) {
    return value - value / T(args.divisor) * T(args.divisor);
  }
#endif
  return value;
}

T after(T value, T shift) {
  if (AFTER == 1) {
    return value / T(args.divisor);
  }
#ifdef REAL
  if (AFTER == 2) {
    return leat_sqrt(value);
  }
  if (AFTER == 3) {
    return leat_log(value);
  }
  if (AFTER == 4) {
    return leat_log(value) + shift;
  }
#else
  if (AFTER == 5) {
    // The quotients' part and the rest may have different signs; the mean is rounded towards zero as a whole.
    const T mean = shift + value / T(args.divisor);
    const T rest = value - value / T(args.divisor) * T(args.divisor);
    return mean > T(0) && rest < T(0) ? mean - T(1) : mean < T(0) && rest > T(0) ? mean + T(1) : mean;
  }
#endif
  return value;
}

void main() {
  const uint group = leat_linear_group();
  const uint blocks = (args.results + ROWS - 1) / ROWS;
  const uint chunk = group / blocks;
  if (chunk >= args.chunks) {
    return;
  }
  const uint result = (group - chunk * blocks) * ROWS + row_own();
  int base = 0;
  uint rest = result;
  for (int d = int(args.kept_rank) - 1; d >= 0; --d) {
    const uint next = rest / args.kept_shape[d];
    base += int(rest - next * args.kept_shape[d]) * args.kept_stride[d];
    rest = next;
  }
  SOURCES x = SOURCES(args.x);
  T shift = T(0);
  if ((BEFORE == 3 || AFTER >= 4) && result < args.results) {
#ifdef REAL
    shift = F32(args.shift).v[result];
    shift = leat_isinf(shift) ? 0 : shift;
#else
    shift = T(RESULT(args.shift).v[result]);
#endif
  }
  const uint begin = chunk * args.chunk;
  const uint end = min(args.count, begin + args.chunk);
  T value = start();
  if (result < args.results) {
    uint i = begin + row_part();
    if (args.reduced_rank == 1) {
      const int stride = args.reduced_stride[0];
      for (; i + 3 * PARTS < end; i += 4 * PARTS) {
        T next[4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          next[j] = TAKEN(x.v[base + int(i + j * PARTS) * stride]);
        }
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          value = combine(value, before(next[j], shift));
        }
      }
      for (; i < end; i += PARTS) {
        value = combine(value, before(TAKEN(x.v[base + int(i) * stride]), shift));
      }
    } else {
      for (; i < end; i += PARTS) {
        int at = base;
        uint left = i;
        for (int d = int(args.reduced_rank) - 1; d >= 0; --d) {
          const uint next = left / args.reduced_shape[d];
          at += int(left - next * args.reduced_shape[d]) * args.reduced_stride[d];
          left = next;
        }
        value = combine(value, before(TAKEN(x.v[at]), shift));
      }
    }
  }
  value = combine_line(value);
  if (row_part() == 0 && result < args.results) {
    RESULTS(args.y).v[result * args.chunks + chunk] = GIVEN(after(value, shift));
  }
}
