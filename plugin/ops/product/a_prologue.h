/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The factor that products may have: what their first operand is multiplied by, and whether its rows are normalised
 * before. A kernel does it that reads the operand for small m; else it comes before the product.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_A_PROLOGUE_H_
#define LEAT_PLUGIN_OPS_PRODUCT_A_PROLOGUE_H_

#include "ops/product/gemm.h"

/** The attribute `epsilon`: where it is there, rows are divided by sqrt(mean of their squares + epsilon) first. */
extern const leat_op_attribute leati_attribute_factor_epsilon;

/** What attributes say of a factor. */
typedef struct leati_a_prologue_state {
  bool norm;
  float epsilon;
} leati_a_prologue_state;

leati_a_prologue_state leati_a_prologue_read(const leati_op_desc *desc);

/** Fails unless a factor (NULL: none) has the shape of `a` or, and so it must be with `epsilon`, one element for each
 * of its last dimension. `name` is the operator's.
 * @errors INVALID_ARGUMENT */
int32_t leati_a_prologue_check(const char *name, const leati_a_prologue_state *state, const leati_view *a,
                               const leati_view *factor, leat_error *err);

/** Prepares a factor for the kernel of a product if that takes it: `*out` is for leati_gemm, and its view, which lies
 * in
 * `*space`, begins where four elements may be read at once. Else plans the multiplication: `*inout_a` becomes its
 * result, and `*out` has no view.
 * @errors NOT_SUPPORTED: it has 2^31 elements or more, or rows that are too long to be normalised */
int32_t leati_plan_a_prologue(leati_planner *planner, const leati_a_prologue_state *state, const char *name,
                              const leati_view *factor, bool taken, leati_view *inout_a, leati_view *space,
                              leati_a_prologue *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_A_PROLOGUE_H_ */
