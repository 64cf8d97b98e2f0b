/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which matrix products the operator leat.MultiMatMul computes in one dispatch.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_MULTI_MATMUL_H_
#define LEAT_PLUGIN_OPS_PRODUCT_MULTI_MATMUL_H_

#include "ops/product/gemm.h"

/** Products of one MultiMatMul at most; PRODUCTS_MAX in kernels/gemm_args.glsl. */
#define LEATI_PRODUCTS_MAX LEATI_GEMM_RESULTS_MAX

/** Whether the products c[i] of a and each b[i], `count` of them, up to LEATI_PRODUCTS_MAX, with elements, would be one
 * dispatch: none would be cut otherwise if it were by itself. `trans_b`: rows and columns of each b are swapped. */
bool leati_products_merge(const leat_device *device, const leati_view *a, const leati_view *const *b,
                          const leati_view *const *c, uint32_t count, bool trans_b);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_MULTI_MATMUL_H_ */
