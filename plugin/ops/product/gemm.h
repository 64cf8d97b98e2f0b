/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Matrix products, for all families whose operators come down to one.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_GEMM_H_
#define LEAT_PLUGIN_OPS_PRODUCT_GEMM_H_

#include "device/physical.h"
#include "ops/core/divider.h"
#include "ops/core/matrix_view.h"
#include "ops/elementwise/function.h"
#include "policy/tiling.h"

#define LEATI_GEMM_BATCH_MAX 6 /**< dimensions of the batch at most */

/** What leati_plan_gemm() may run without matrix hardware, for the lists of operators that call it. */
#define LEATI_KERNELS_OF_PRODUCTS                                                                     \
  LEATI_KERNELS_GEMM_128, LEATI_KERNELS_GEMM_64, LEATI_KERNELS_GEMM_32, LEATI_KERNELS_GEMM_32_SLICES, \
      LEATI_KERNELS_GEMM_16, LEATI_KERNELS_GEMV

/** What is done with a sum, its bias included, before it is stored. All zero: nothing. */
typedef struct leati_epilogue {
  leati_function activation;
  bool residual_last; /**< a residual is added behind the activation; else before it */
} leati_epilogue;

/** In argument records; EPILOGUE_ARGS in kernels/epilogue_args.glsl. */
typedef struct leati_epilogue_args {
  uint64_t residual;
  float activation[2];
} leati_epilogue_args;

/** Argument record of the tiled kernels; GEMM_ARGS in kernels/gemm_args.glsl. Counts and strides in elements. */
typedef struct leati_gemm_args {
  uint64_t a, b, c, bias;
  uint32_t m, n, k;
  uint32_t tiles_m, tiles_n;
  uint32_t batch, tiles;
  uint32_t splits, k_chunk;
  leati_divider per_tiles, per_batch, per_band, per_height;
  int32_t a_row, a_k, b_column, b_k;
  int32_t c_row, c_column;
  uint32_t c_batch;
  uint32_t batch_rank;
  int32_t bias_row, bias_column, bias_batch;
  uint32_t bias_period;
  leati_divider per_period;
  float alpha, beta;
  uint32_t vector;
  int32_t residual_row, residual_column;
  uint32_t factor_row;
  float epsilon;
  uint64_t gate; /* or, of a product that takes one, the factor */
  uint64_t pieces, counters;
  leati_epilogue_args epilogue;
  uint32_t batch_shape[LEATI_GEMM_BATCH_MAX];
  int32_t a_batch[LEATI_GEMM_BATCH_MAX], b_batch[LEATI_GEMM_BATCH_MAX], residual_batch[LEATI_GEMM_BATCH_MAX];
} leati_gemm_args;
_Static_assert(offsetof(leati_gemm_args, residual_batch) + LEATI_GEMM_BATCH_MAX * sizeof(int32_t) ==
                   sizeof(leati_gemm_args),
               "a kernel's own arguments follow without a gap");

/** The rows of a result, or its columns, as several dimensions of a tensor, the first of which has as many elements as
 * there are: the sizes of the others, and strides of all in the result and in its bias. Spread in
 * kernels/gemm_args.glsl. */
typedef struct leati_spread {
  uint32_t shape[3];
  uint32_t strides[4], bias[4];
} leati_spread;

/** Bits of leati_gemm_args::vector: what may be moved four columns at a time. */
#define LEATI_VECTOR_C 1u
#define LEATI_VECTOR_RESIDUAL 2u

/** What the first operand of a product is multiplied by, element by element, before all else. */
typedef struct leati_a_prologue {
  const leati_view *view; /**< compact; NULL: there is none */
  bool one_row;           /**< it has k elements, for each row the same; else as many as the operand */
  bool norm;              /**< each row of the operand is divided by sqrt(mean of its squares + epsilon) first */
  float epsilon;
} leati_a_prologue;

/** c[batch][m][n] = epilogue(alpha * sum over k of a[batch][m][k] * b[batch][k][n] + beta * bias[batch][m][n],
 * residual[batch][m][n]), all of one type of float. It is computed in float32 and rounded to that type once,
 * behind the epilogue. With a gate, b[batch][k][n] * gate[batch][k], rounded to float32, is in the place of
 * b[batch][k][n]. */
typedef struct leati_gemm {
  const leati_view *a, *b;    /**< what is read; strides below count from their first element */
  const leati_view *c;        /**< batch * m * n elements */
  const leati_view *bias;     /**< NULL: none */
  const leati_view *residual; /**< NULL: none */
  const leati_view *gate;     /**< compact; such a product is one of tiles. NULL: none */
  leati_a_prologue factor;    /**< of a product for whose layout leati_gemm_takes_a_prologue() */
  leati_epilogue epilogue;
  int64_t m, n, k;
  int64_t a_row, a_k, b_k, b_column;  /**< not negative */
  int64_t c_row;                      /**< elements from one row of c to the next, of all batches; 0: c is compact */
  const leati_spread *rows, *columns; /**< both: how c and bias lie, without a residual; NULL: not so, but by strides */
  int64_t c_batch;                    /**< then from one batch of c to the next */
  int32_t batch_rank;                 /**< at most LEATI_GEMM_BATCH_MAX */
  int64_t batch_shape[LEATI_GEMM_BATCH_MAX];
  int64_t a_batch[LEATI_GEMM_BATCH_MAX], b_batch[LEATI_GEMM_BATCH_MAX];        /**< strides, not negative */
  int64_t bias_row, bias_column, bias_batch;                                   /**< strides */
  int64_t residual_row, residual_column, residual_batch[LEATI_GEMM_BATCH_MAX]; /**< strides, not negative */
  int64_t bias_period; /**< the bias repeats after so many batches */
  float alpha, beta;
} leati_gemm;

/** Fills in an epilogue's argument record for a result of a floating-point type, but for the address of the residual,
 * and gives its LEAT_RESIDUAL_*. */
uint32_t leati_epilogue_fill(const leati_epilogue *epilogue, uint64_t type, const leati_view *residual,
                             leati_epilogue_args *args);
/** Reads an epilogue from the attributes `activation`, `activation_...` and `residual_first`. */
int32_t leati_epilogue_read(const leati_op_def *def, const leati_op_desc *desc, leati_epilogue *out, leat_error *err);
/** Fails unless a residual broadcasts to a result of this shape and leaves it as it is.
 * @errors INVALID_ARGUMENT */
int32_t leati_epilogue_check(const leati_op_def *def, const leati_view *residual, const leat_shape *result,
                             leat_error *err);
/** Attribute: 0, a residual is added behind the activation; else, and where it is absent, before it. */
extern const leat_op_attribute leati_attribute_residual_first;

/** A product as its kernel takes it. */
typedef struct leati_gemm_config {
  leati_gemm gemm;      /**< a batch is joined with the rows where it can be */
  leati_gemm_args args; /**< all but addresses */
  leati_pipeline_key pipeline;
  uint32_t tile_size; /**< elements that a workgroup puts aside where k is split */
  bool skinny;        /**< it goes to the kernel for small m */
  bool transposed;    /**< rows and columns are exchanged */
} leati_gemm_config;

/** Chooses the kernel of a product with elements, and how it is cut. */
void leati_gemm_select(const leat_device *device, const leati_gemm *gemm, leati_gemm_config *out);

/** Whether a product without a gate takes less time if the second operand, a constant whose rows lie one after the
 * other, lies along k, with the same bits: on matrix hardware. */
bool leati_gemm_gains_along_k(const leat_device *device, const leati_gemm *gemm);

/** Whether the kernel of a product multiplies its first operand by a factor: that for few rows, without a batch. */
static inline bool leati_gemm_takes_a_prologue(const leati_gemm_config *config) {
  return config->skinny && !config->transposed && config->args.batch == 1;
}

/** Plans a matrix product. Nothing is done when c has no elements; k may be 0.
 * @errors NOT_SUPPORTED: an operand spans 2^31 elements or more */
int32_t leati_plan_gemm(leati_planner *planner, const leati_gemm *gemm, leat_error *err);

/** Whether an operand from `address` on may be read `run` elements at a time, which are neighbours, `along_count` of
 * them, where the other stride is `across`. */
bool leati_operand_runs_fit(uint32_t run, uint64_t address, uint32_t item_size, int64_t across, int64_t across_count,
                            int64_t along_count, int32_t batch_rank, const int64_t *batch);

/** How an operand from `address` on is read whose rows (or columns) and k have these strides and counts, in a batch
 * with these strides: LEATI_MODE_*. */
uint32_t leati_operand_mode(uint64_t address, uint32_t item_size, int64_t stride_i, int64_t count_i, int64_t stride_k,
                            int64_t count_k, int32_t batch_rank, const int64_t *batch);

/** What the constant WIDE of kernels/gemm_matrix.comp says of one that is read in such a mode, for such a tile: its
 * bits for a; those for b are twice that. */
uint32_t leati_operand_width(leati_tile tile, const leati_view *view, uint32_t mode, int64_t stride_i, int64_t count_i,
                             int64_t stride_k, int64_t count_k, int32_t batch_rank, const int64_t *batch);

/** Chooses a tile and how often k is split, and sets `tiles_m`, `tiles_n`, `splits` and `k_chunk` of `args` from its
 * `m`, `n`, `k` and `batch`. */
leati_tile leati_gemm_choose_tile(const leat_device *device, leati_tile_work work, leati_gemm_args *args);

/** Sets them from a cut; k stays whole where there are more tiles than counters. */
void leati_gemm_take_cut(leati_gemm_args *args, const leati_gemm_cut *cut);

/** The same for the kernels for matrix hardware. */
leati_tile leati_gemm_choose_matrix_tile(const leat_device *device, leati_tile_work work, leati_gemm_args *args);

/** The matrices by which a product with a result of this type is computed, whose `m`, `n`, `k` and `batch` stand in the
 * argument record; all 0: it is not computed by matrix hardware, because the device has none for it, LEAT_MATRICES or
 * LEAT_FLOAT32_MATMUL does not allow it, parts of float32 do not pay, or `kernels` are not there. */
leati_matrix_shape leati_gemm_matrix(const leat_device *device, const leati_kernel_set kernels[LEATI_TILE_COUNT],
                                     uint64_t type, const leati_gemm_args *args);

/** Whether leati_plan_gemm() computes such a product without a gate, with m and n that are not small, by any. */
bool leati_gemm_on_matrices(const leat_device *device, uint64_t type, const leati_gemm_args *args);

/** Workgroups of a dispatch with these arguments. */
uint64_t leati_gemm_groups(const leati_gemm_args *args);

/** Plans a dispatch of a kernel of the kind of a matrix product: `dispatch` but for its workgroups and what a split of
 * k needs, which are filled in; what it writes is the result. The record `args`, at the head of dispatch->args, has
 * all but addresses and dividers, which are filled in too; a workgroup computes `tile_size` elements. */
int32_t leati_plan_tiles(leati_planner *planner, leati_dispatch_desc *dispatch, leati_gemm_args *args,
                         uint32_t tile_size, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_GEMM_H_ */
