/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that the elementwise operators and their kernel agree on; read by the C compiler and by the shader
 * compiler. */
#ifndef LEAT_ELEMENTWISE_CODES_GLSL_
#define LEAT_ELEMENTWISE_CODES_GLSL_

/* The specialisation constant `operation`. One operand: LEAT_EW_<CODE> of functions.inc. What needs the exponential or
 * trigonometric functions has kernels of its own, so that a pipeline of the others is made without reading them. */
#define LEAT_EW_FIRST_EXPONENTIAL 24
#define LEAT_EW_FIRST_TRIGONOMETRIC 48
#ifdef __STDC_VERSION__
enum {
#define FUNCTION(number, code) LEAT_EW_##code = number,
#include "ops/elementwise/functions.inc"
};
#else
#define FUNCTION(number, code) const int LEAT_EW_##code = number;
#include "elementwise/functions.inc"
#endif

/* Two operands. */
#define LEAT_EW_ADD 64
#define LEAT_EW_SUB 65
#define LEAT_EW_MUL 66
#define LEAT_EW_DIV 67
#define LEAT_EW_POW 68
#define LEAT_EW_MIN 69
#define LEAT_EW_MAX 70
#define LEAT_EW_PRELU 71
#define LEAT_EW_MOD 72
#define LEAT_EW_FMOD 73
#define LEAT_EW_ADD_SCALED 74 /* (a + b) / parameter 0: the last step of Mean */
#define LEAT_EW_EQUAL 80
#define LEAT_EW_LESS 81
#define LEAT_EW_GREATER 82
#define LEAT_EW_LESS_OR_EQUAL 83
#define LEAT_EW_GREATER_OR_EQUAL 84
#define LEAT_EW_AND 88
#define LEAT_EW_OR 89
#define LEAT_EW_XOR 90
#define LEAT_EW_BITWISE_AND 91
#define LEAT_EW_BITWISE_OR 92
#define LEAT_EW_BITWISE_XOR 93
#define LEAT_EW_SHIFT_LEFT 94
#define LEAT_EW_SHIFT_RIGHT 95

/* Three operands. */
#define LEAT_EW_WHERE 96
#define LEAT_EW_CLIP 97 /* bound 1 is there if bit 0 of type_in is set, bound 2 if bit 1 is */

/* The specialisation constant `residual` of kernels whose sums go through one of the operations above: what is added
 * before or behind it. */
#define LEAT_RESIDUAL_NONE 0
#define LEAT_RESIDUAL_FIRST 1
#define LEAT_RESIDUAL_LAST 2

// What a matrix product of small m multiplies the elements of its first operand by.
#define LEAT_FACTOR_NONE 0
#define LEAT_FACTOR_ELEMENTS 1
#define LEAT_FACTOR_NORM 2 // and divides each of its rows by the root of the mean of the row's squares, plus epsilon

/* The specialisation constant `access`: how elements are found. */
#define LEAT_EW_STRIDED 0 /* one by one, any strides */
#define LEAT_EW_VECTOR 1  /* four side by side in the innermost dimension, which is compact or repeated */
#define LEAT_EW_FLAT 2    /* four side by side, and all tensors are compact and of one shape */

/* Pointwise: how long a program can be. Its steps name values by number: first the inputs, then the results of steps,
 * then constants. */
#define LEAT_POINTWISE_INPUTS 8
#define LEAT_POINTWISE_STEPS 16
#define LEAT_POINTWISE_FIRST_CONSTANT 24
#define LEAT_POINTWISE_CONSTANTS 32

/* Types, as the specialisation constants type_in and type_out: the bits of LEAT_TYPE_..., so that those up to
 * LEAT_ANY_BF16 are floating-point. */
#define LEAT_ANY_F32 0u
#define LEAT_ANY_F16 1u
#define LEAT_ANY_BF16 2u
#define LEAT_ANY_I8 4u
#define LEAT_ANY_I16 5u
#define LEAT_ANY_I32 6u
#define LEAT_ANY_I64 7u
#define LEAT_ANY_U8 8u
#define LEAT_ANY_U16 9u
#define LEAT_ANY_U32 10u
#define LEAT_ANY_U64 11u
#define LEAT_ANY_BOOL 12u

#endif
