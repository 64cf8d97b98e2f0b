/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Products with weights of few bits, for all families whose operators come down to one.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_MATMUL_NBITS_H_
#define LEAT_PLUGIN_OPS_PRODUCT_MATMUL_NBITS_H_

#include "ops/core/op.h"
#include "ops/product/kernels/nbits_codes.glsl"

/** What kernels of it an operator lists. */
#define LEATI_KERNELS_OF_NBITS \
  LEATI_KERNELS_GEMM_NBITS_128, LEATI_KERNELS_GEMM_NBITS_64, LEATI_KERNELS_GEMM_NBITS_32, LEATI_KERNELS_GEMV_NBITS

/** Weights [n, k]: numbers of 2, 4 or 8 bits in blocks along k, of at least 8 bytes. */
typedef struct leati_nbits {
  int64_t k, n;
  int64_t block_size; /**< a power of two */
  uint32_t bits;
  uint32_t table; /**< LEAT_ZEROS_... of a table of floats, of 4 bits; 0: numbers stand for themselves */
} leati_nbits;

/** c = a b' + bias, of one type of float. c is compact; NULL ones are not there. */
typedef struct leati_nbits_operands {
  const leati_view *a;      /**< [.., k] */
  const leati_view *b;      /**< uint8: the blocks of each column, one after the other */
  const leati_view *scales; /**< one for each block */
  const leati_view *zeros;  /**< one for each block: of this type, or of uint8, packed as weights are by column */
  const leati_view *g_idx;  /**< int32, for each k the number of a block */
  const leati_view *bias, *c;
} leati_nbits_operands;

/** Plans one. Nothing is done when c has no elements.
 * @errors NOT_SUPPORTED: c has 2^31 elements or more */
int32_t leati_plan_nbits(leati_planner *planner, const leati_nbits *state, const leati_nbits_operands *operands,
                         leat_error *err);

/** leati_op_def::reads_view of operators whose input 0 is a. */
bool leati_nbits_reads_view(const leat_op *op, const leati_call *call, uint32_t i);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_MATMUL_NBITS_H_ */
