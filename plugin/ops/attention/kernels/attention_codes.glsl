/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that attention and its kernels agree on; read by the C compiler and by the shader compiler. */
#ifndef LEAT_ATTENTION_CODES_GLSL_
#define LEAT_ATTENTION_CODES_GLSL_

/* Keys of a tile, by attention_matrix.comp at most. Workgroups that do not take the first key begin with a tile. */
#define LEAT_ATTENTION_KEYS 32
/* Queries of a workgroup of attention.comp, and of a thread by its kernel for heads of so many elements at most; the
 * other kernel has one. */
#define LEAT_ATTENTION_ROWS 16
#define LEAT_ATTENTION_SMALL 64
#define LEAT_ATTENTION_SMALL_ROWS_EACH 2
/* Threads of a slice of it, and fours that each of them puts aside where keys are split: for each of its queries two of
 * every 64 elements of the head, and what they are relative to. */
#define LEAT_ATTENTION_LANES 8
#define LEAT_ATTENTION_SLICE(rows_each) (LEAT_ATTENTION_ROWS / (rows_each) * LEAT_ATTENTION_LANES)
#define LEAT_ATTENTION_PIECE(rows_each, head) (2 * (rows_each) * ((head) / 64) + 1)
/* Queries of a subgroup of attention_matrix.comp, and how many subgroups a workgroup has, both at most. */
#define LEAT_ATTENTION_MATRIX_ROWS 16
#define LEAT_ATTENTION_MATRIX_SUBGROUPS 4
/* DEPTH and WIDTH of attention_matrix.comp are multiples of this. */
#define LEAT_ATTENTION_MATRIX_STEP 16

/* What there is room for in a workgroup of attention_few.comp: rows, which are queries of heads; in each thread fours of
 * results, pieces of 16 bytes of keys, keys and scores; threads of a team; threads and subgroups; pieces of new keys and
 * values. */
#define LEAT_ATTENTION_FEW_ROWS 8
#define LEAT_ATTENTION_FEW_RESULTS 16
#define LEAT_ATTENTION_FEW_PIECES 16
#define LEAT_ATTENTION_FEW_FLIGHT 8
#define LEAT_ATTENTION_FEW_SCORES 32
#define LEAT_ATTENTION_FEW_LANES_LEAST 4
#define LEAT_ATTENTION_FEW_LANES_MOST 32
#define LEAT_ATTENTION_FEW_THREADS_LEAST 64
#define LEAT_ATTENTION_FEW_SUBGROUPS 32
#define LEAT_ATTENTION_FEW_NEW 256

/* `mask_kind`. */
#define LEAT_ATTENTION_MASK_NONE 0
#define LEAT_ATTENTION_MASK_ADDED 1
#define LEAT_ATTENTION_MASK_BOOL 2

/* `mode` of attention_scores.comp, as ONNX numbers it: scaled products, capped ones, these with the mask, weights; or
 * with the mask, and 0 for keys that a query does not have. */
#define LEAT_ATTENTION_SCORES_PRODUCTS 0
#define LEAT_ATTENTION_SCORES_CAPPED 1
#define LEAT_ATTENTION_SCORES_MASKED 2
#define LEAT_ATTENTION_SCORES_WEIGHTS 3
#define LEAT_ATTENTION_SCORES_OWN 4

/* `kind` of key_mask.comp: a number for each key, or for the end of each batch's keys, or behind all ends their starts.
 */
#define LEAT_KEY_MASK_KEYS 0
#define LEAT_KEY_MASK_ENDS 1
#define LEAT_KEY_MASK_ENDS_STARTS 2

/* `before` where a query has all earlier keys, `after` where it has all later ones. */
#define LEAT_ATTENTION_ALL 0x3fffffff

/* Which queries give 0 in the place of NaN: none, those whose scores are all -infinity, all. */
#define LEAT_ATTENTION_ZEROED_NONE 0
#define LEAT_ATTENTION_ZEROED_INFINITE 1
#define LEAT_ATTENTION_ZEROED_NAN 2

/* Bits of operands, in `across` and in the specialisation constant WIDE. */
#define LEAT_ATTENTION_Q 1
#define LEAT_ATTENTION_K 2
#define LEAT_ATTENTION_V 4
#define LEAT_ATTENTION_Y 8

#endif
