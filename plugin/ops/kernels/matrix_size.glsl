// SPDX-License-Identifier: BSD-3-Clause
// The device's matrices (VK_KHR_cooperative_matrix): of which numbers of 16 bits they are, MATRIX_REAL, their size, and
// that of the subgroups that share one.
#ifndef LEAT_MATRIX_SIZE_GLSL_
#define LEAT_MATRIX_SIZE_GLSL_

#include "leat.glsl"

#ifdef BFLOAT16
#define MATRIX_REAL bfloat16_t
#else
#define MATRIX_REAL float16_t
#endif

LEAT_CONSTANT(uint, SUBGROUP_SIZE, 8); // invocations of a subgroup, all of which are there
// Rows of a, columns of b and what lies between them.
LEAT_CONSTANT(uint, MATRIX_M, 8);
LEAT_CONSTANT(uint, MATRIX_N, 8);
LEAT_CONSTANT(uint, MATRIX_K, 8);

#endif
