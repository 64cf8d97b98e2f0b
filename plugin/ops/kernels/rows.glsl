// SPDX-License-Identifier: BSD-3-Clause
// How kernels that reduce rows of elements share them out: PARTS threads to a row, 256 / PARTS rows to a workgroup.
// Neighbouring threads lie along the row when its elements are neighbours in memory (ALONG), else across rows. All
// sums are added in a fixed order.
//
// ROWS_SPEC is PARTS, a power of two up to 256, plus 65536 if ALONG.
#ifndef LEAT_ROWS_GLSL_
#define LEAT_ROWS_GLSL_

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, ROWS_SPEC, 256 + 65536);
const uint PARTS = ROWS_SPEC & 65535;
const bool ALONG = ROWS_SPEC >= 65536;
const uint ROWS = 256 / PARTS;

// Which row of its workgroup a thread works on, and which part of it.
uint row_own() { return ALONG ? gl_LocalInvocationIndex / PARTS : gl_LocalInvocationIndex % ROWS; }
uint row_part() { return ALONG ? gl_LocalInvocationIndex % PARTS : gl_LocalInvocationIndex / ROWS; }

// Defines NAME(value), which combines the values of all parts of a row by OP(a, b) and gives every thread the result.
// All threads of the workgroup must call it.
#define LEAT_ROW_COMBINE(NAME, T, SPACE, OP)                \
  T NAME(T value) {                                         \
    const uint at = row_part() * ROWS + row_own();          \
    SPACE[at] = value;                                      \
    for (uint step = PARTS / 2; step > 0; step /= 2) {      \
      barrier();                                            \
      if (row_part() < step) {                              \
        SPACE[at] = OP(SPACE[at], SPACE[at + step * ROWS]); \
      }                                                     \
    }                                                       \
    barrier();                                              \
    const T result = SPACE[row_own()];                      \
    barrier();                                              \
    return result;                                          \
  }

#endif
