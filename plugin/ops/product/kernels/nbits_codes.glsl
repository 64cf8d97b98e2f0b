/* SPDX-License-Identifier: BSD-3-Clause */
/* What numbers of few bits stand for; read by the C compiler and by the shader compiler. */
#ifndef LEAT_NBITS_CODES_GLSL_
#define LEAT_NBITS_CODES_GLSL_

#define LEAT_ZEROS_NONE 0   /* half of the range of a weight */
#define LEAT_ZEROS_PACKED 1 /* of as many bits as weights */
#define LEAT_ZEROS_REAL 2   /* of the type of the scales */
/* No zero point: a number of 4 bits is one of a table, the first of two in the higher bits of a byte. */
#define LEAT_ZEROS_FP4 3
#define LEAT_ZEROS_NF4 4

#endif
