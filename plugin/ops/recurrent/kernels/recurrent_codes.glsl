/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that the recurrent operators and their kernel agree on; read by the C compiler and by the shader compiler. */
#ifndef LEAT_RECURRENT_CODES_GLSL_
#define LEAT_RECURRENT_CODES_GLSL_

/* Activations beside those of elementwise_codes.glsl: p x + q and p tanh(q x). */
#define LEAT_RECURRENT_AFFINE 128
#define LEAT_RECURRENT_SCALED_TANH 129

#define LEAT_RECURRENT_DIRECTIONS 2
#define LEAT_RECURRENT_ACTIVATIONS 3 /* of a direction at most */

#endif
