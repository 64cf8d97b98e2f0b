// SPDX-License-Identifier: BSD-3-Clause
// How kernels that reduce lines of elements share them out: PARTS threads to a line, 256 / PARTS lines to a workgroup.
// Neighbouring threads lie along the line when its elements are neighbours in memory (ALONG), else across lines. All
// sums are added in a fixed order.
//
// LINES_SPEC is PARTS, a power of two up to 256, plus 65536 if ALONG.
#ifndef LEAT_LINES_GLSL_
#define LEAT_LINES_GLSL_

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, LINES_SPEC, 256 + 65536);
const uint PARTS = LINES_SPEC & 65535;
const bool ALONG = LINES_SPEC >= 65536;
const uint LINES = 256 / PARTS;

// Which line of its workgroup a thread works on, and which part of it.
uint line_own() { return ALONG ? gl_LocalInvocationIndex / PARTS : gl_LocalInvocationIndex % LINES; }
uint line_part() { return ALONG ? gl_LocalInvocationIndex % PARTS : gl_LocalInvocationIndex / LINES; }

// Defines NAME(value), which combines the values of all parts of a line by OP(a, b) and gives every thread the result.
// All threads of the workgroup must call it.
#define LEAT_LINE_COMBINE(NAME, T, SPACE, OP)               \
  T NAME(T value) {                                         \
    const uint at = line_part() * LINES + line_own();       \
    SPACE[at] = value;                                      \
    for (uint step = PARTS / 2; step > 0; step /= 2) {      \
      barrier();                                            \
      if (line_part() < step) {                             \
        SPACE[at] = OP(SPACE[at], SPACE[at + step * LINES]); \
      }                                                     \
    }                                                       \
    barrier();                                              \
    const T result = SPACE[line_own()];                     \
    barrier();                                              \
    return result;                                          \
  }

#endif
