// SPDX-License-Identifier: BSD-3-Clause
// Arguments that all matrix products share; the C struct is leati_gemm_args in ops/product/gemm.h.
//
// c[batch][m][n] = epilogue(alpha * sum over k of a[batch][m][k] * b[batch][k][n] + beta * bias[batch][m][n],
// residual[batch][m][n]), see epilogue.glsl. Strides and counts are in elements. Where a kernel says that there is a
// factor, a[batch][m][k] * factor[m][k] is in the place of a[batch][m][k]: LEAT_FACTOR_... below.
#ifndef LEAT_GEMM_ARGS_GLSL_
#define LEAT_GEMM_ARGS_GLSL_

#include "core/kernels/divider.glsl"
#include "epilogue_args.glsl"

#define VECTOR_C 1
#define VECTOR_RESIDUAL 2

// What a workgroup needs before it can fetch anything comes first: constants are read by lines of 64 bytes, each of which
// it waits for.
#define GEMM_ARGS                                                                    \
  uint64_t a, b, c, bias; /* bias: 0 for none */                                     \
  uint m, n, k;                                                                      \
  uint tiles_m, tiles_n; /* of the kernel's tile */                                  \
  uint batch, tiles; /* tiles of all batches */                                      \
  uint splits, k_chunk; /* k is cut into `splits` pieces of `k_chunk` */             \
  Divider per_tiles, per_batch; /* tiles of one, and their number */                 \
  Divider per_band, per_height; /* tiles of a band, and rows of one that is lower */ \
  int a_row, a_k, b_column, b_k; /* strides */                                       \
  int c_row, c_column;                                                               \
  uint c_batch;                                                                      \
  uint batch_rank;                                                                   \
  int bias_row, bias_column, bias_batch;                                             \
  uint bias_period; /* bias repeats after so many batches */                         \
  Divider per_period;                                                                \
  float alpha, beta;                                                                 \
  uint vector; /* VECTOR_...: what may be moved four columns at a time */            \
  int residual_row, residual_column;                                                 \
  uint factor_row; /* stride; that of k is 1 */                                      \
  float epsilon; /* of LEAT_FACTOR_NORM */                                           \
  uint64_t gate; /* or factor, where a kernel says that there is one */              \
  uint64_t pieces, counters; /* where k is split, see split.glsl */                  \
  EPILOGUE_ARGS                                                                      \
  uint batch_shape[6];                                                               \
  int a_batch[6], b_batch[6], residual_batch[6];

// The rows of c, or its columns, where they are several dimensions of a tensor: SPREAD. Where an element of c and of the
// bias lies is what its row and its column add up to. The C struct is leati_spread in ops/product/gemm.h.
struct Spread {
  uint shape[3];   // of all dimensions but the first
  uint strides[4]; // in c
  uint bias[4];    // and in the bias
};

#endif
