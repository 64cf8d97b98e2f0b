/* SPDX-License-Identifier: BSD-3-Clause */
/* What zero points of weights of few bits are; read by the C compiler and by the shader compiler. */
#ifndef LEAT_NBITS_CODES_GLSL_
#define LEAT_NBITS_CODES_GLSL_

#define LEAT_ZEROS_NONE 0   /* half of the range of a weight */
#define LEAT_ZEROS_PACKED 1 /* of as many bits as weights */
#define LEAT_ZEROS_REAL 2   /* of the type of the scales */

#endif
