/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that operators on lists and their kernel agree on; read by the C compiler and by the shader compiler. */
#ifndef LEAT_FOREACH_CODES_GLSL_
#define LEAT_FOREACH_CODES_GLSL_

/* The specialisation constant `operation`. Those of two lists come first, then the one of three. */
#define LEAT_FOREACH_ADD 0
#define LEAT_FOREACH_MUL 1
#define LEAT_FOREACH_LERP 2
#define LEAT_FOREACH_ADDCMUL 3
#define LEAT_FOREACH_SGD 4
#define LEAT_FOREACH_ADAM 5
#define LEAT_FOREACH_ADAMW 6
#define LEAT_FOREACH_SQUARES 7 /* gives the sum of squares of each workgroup's elements */
#define LEAT_FOREACH_CLIP 8

/* Lists that a kernel takes and gives at most, all together, and of those it takes. */
#define LEAT_FOREACH_LISTS 7
#define LEAT_FOREACH_TAKEN 4

/* Numbers of an operation. Adam's are beta1, 1 - beta1, beta2, 1 - beta2, their logarithms, epsilon, weight_decay. */
#define LEAT_FOREACH_PARAMETERS 8

/* Elements of a tensor that a workgroup handles. Sums of squares follow from it, so it is no matter of tuning. */
#define LEAT_FOREACH_CHUNK 4096

#endif
