/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Products of views of matrices: what their operators share, how they become a leati_gemm, and which operands are read
 * in place.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_MATRIX_PRODUCT_H_
#define LEAT_PLUGIN_OPS_PRODUCT_MATRIX_PRODUCT_H_

#include "ops/product/gemm.h"

extern const leat_op_attribute leati_attribute_trans_a, leati_attribute_trans_b;

/** What MatMul, Gemm and what is fused of them have of attributes. */
typedef struct leati_matrix_product_state {
  leati_epilogue epilogue;
  float alpha, beta;
  bool trans_a, trans_b;
} leati_matrix_product_state;

/** Reads them; fails if what is known of the shapes of the operands says that they have no product.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_matrix_product_read(const leati_op_def *def, const leati_op_desc *desc, leati_matrix_product_state *out,
                                  leat_error *err);

/** An entry of a list: a product of two operands; the rest are its types and attributes. `kind` begins the names of
 * what it is made of. */
#define LEATI_PRODUCT(name, domain, versions, inputs, kind, ...)                                     \
  LEATI_OP(name, domain, versions, inputs, (1, 1), .info.flags = LEAT_OP_HEAVY, __VA_ARGS__,         \
           .state_size = sizeof(kind##_state), .supports = kind##_supports, .create = kind##_create, \
           .infer = kind##_infer, LEATI_KERNELS(LEATI_KERNELS_OF_PRODUCTS), .plan = kind##_plan,     \
           .reads_view = kind##_reads_view, .transposes = kind##_transposes)

/** Whether a product c of two operands, whose last two dimensions are swapped if they are transposed, reads the first
 * or the second of them, a view, in place: so that sums are added up in the order in which those of a copy would be.
 * Products are cut in the same way then, and with few rows the same elements are read at once. */
bool leati_product_reads(const leat_device *device, const leati_view *a, const leati_view *b, const leati_view *c,
                         bool trans_a, bool trans_b, bool first);
/** leati_op_def::reads_view of a product and of what is added to it. */
bool leati_matrix_product_reads_view(const leat_op *op, const leati_matrix_product_state *state, const leati_call *call,
                                     uint32_t i);
/** leati_op_def::transposes of a product. */
uint32_t leati_matrix_product_transposes(const leat_op *op, const leati_matrix_product_state *state,
                                         const leati_call *call, uint32_t constants);

/** The product c of two operands, which `ma` and `mb` are as matrices: alpha and beta 1, and no batch, bias, residual,
 * factor or epilogue. */
leati_gemm leati_gemm_of(const leati_matrix *ma, const leati_matrix *mb, const leati_view *a, const leati_view *b,
                         const leati_view *c);

/** The product of a with one matrix b, whose dimensions are swapped if it is transposed, alpha 1, with a bias that has
 * an element for each column (NULL: none). The batch are the dimensions of a before its last two. */
leati_gemm leati_product_of(const leati_view *a, const leati_view *b, const leati_view *c, const leati_view *bias,
                            bool trans_b);

/** Whether the kernel of such a product, which has elements, multiplies a by a factor; `norm`: and normalises its rows.
 * A residual has to be compact and as large as c. */
bool leati_product_takes_factor(const leat_device *device, const leati_view *a, const leati_view *b,
                                const leati_view *c, bool trans_b, bool norm);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_MATRIX_PRODUCT_H_ */
