// SPDX-License-Identifier: BSD-3-Clause
// The size of the device's matrices (VK_KHR_cooperative_matrix), and of the subgroups that share one.
#ifndef LEAT_MATRIX_SIZE_GLSL_
#define LEAT_MATRIX_SIZE_GLSL_

#include "leat.glsl"

LEAT_CONSTANT(uint, SUBGROUP_SIZE, 8); // invocations of a subgroup, all of which are there
// Rows of a, columns of b and what lies between them.
LEAT_CONSTANT(uint, MATRIX_M, 8);
LEAT_CONSTANT(uint, MATRIX_N, 8);
LEAT_CONSTANT(uint, MATRIX_K, 8);

#endif
