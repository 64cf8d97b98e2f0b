// SPDX-License-Identifier: BSD-3-Clause
// The device's matrices (VK_KHR_cooperative_matrix): of which numbers of 16 bits they are, or with BYTES of 8,
// MATRIX_NUMBER, and their sums, MATRIX_SUM; their size, and that of the subgroups that share one.
#ifndef LEAT_MATRIX_SIZE_GLSL_
#define LEAT_MATRIX_SIZE_GLSL_

#include "leat.glsl"

#ifdef BYTES
#define MATRIX_NUMBER int8_t
#define MATRIX_SUM int
#elif defined(BFLOAT16)
#define MATRIX_NUMBER bfloat16_t
#define MATRIX_SUM float
#else
#define MATRIX_NUMBER float16_t
#define MATRIX_SUM float
#endif

LEAT_CONSTANT(uint, SUBGROUP_SIZE, 8); // invocations of a subgroup, all of which are there
// Rows of a, columns of b and what lies between them, in numbers of 16 bits: of bytes, pairs.
LEAT_CONSTANT(uint, MATRIX_M, 8);
LEAT_CONSTANT(uint, MATRIX_N, 8);
LEAT_CONSTANT(uint, MATRIX_K, 8);

#endif
