// SPDX-License-Identifier: BSD-3-Clause
// What kernels of mixtures of experts and moe.c agree on.
#ifndef LEAT_MOE_CODES_GLSL_
#define LEAT_MOE_CODES_GLSL_

// The constant ACTIVATION.
#define LEAT_MOE_RELU 0
#define LEAT_MOE_GELU 1
#define LEAT_MOE_SILU 2
#define LEAT_MOE_IDENTITY 3
#define LEAT_MOE_SWIGLU 4

// Tokens of an expert that a workgroup multiplies at once, where there are many.
#define LEAT_MOE_TOGETHER 4
// Experts that moe_sort.comp has room for.
#define LEAT_MOE_SORTED_MAX 1024

#endif
