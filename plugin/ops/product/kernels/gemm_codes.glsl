/* SPDX-License-Identifier: BSD-3-Clause */
/* How tiles of a matrix product are numbered; read by the C compiler and by the shader compiler. */
#ifndef LEAT_GEMM_CODES_GLSL_
#define LEAT_GEMM_CODES_GLSL_

#define LEAT_GEMM_BAND 8u /* rows of tiles that are a band */

#endif
