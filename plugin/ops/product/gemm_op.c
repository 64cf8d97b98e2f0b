/* SPDX-License-Identifier: BSD-3-Clause */
/* Gemm and com.microsoft's FusedGemm. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/product/matrix_product.h"

typedef leati_matrix_product_state gemm_state;

static int32_t gemm_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_matrix_product_state *state = leati_op_state_const(op);
  const leati_view *a = &call->inputs[0], *b = &call->inputs[1], *c = leati_input(call, 2);
  if (a->ndim != 2 || b->ndim != 2) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Gemm: A and B need 2 dimensions, they have %d and %d", a->ndim,
                      b->ndim);
  }
  const leati_matrix ma = leati_matrix_of(a, state->trans_a, true), mb = leati_matrix_of(b, state->trans_b, false);
  if (ma.columns != mb.rows) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Gemm: op(A) has %lld columns, op(B) %lld rows",
                      (long long)ma.columns, (long long)mb.rows);
  }
  out[0].ndim = 2;
  out[0].dims[0] = ma.rows;
  out[0].dims[1] = mb.columns;
  for (int32_t d = 1; c != NULL && d <= c->ndim; ++d) {
    const int64_t size = c->shape[c->ndim - d];
    if (d > 2 ? size != 1 : size != 1 && size != out[0].dims[2 - d]) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Gemm: C cannot be broadcast to [%lld, %lld]",
                        (long long)ma.rows, (long long)mb.columns);
    }
  }
  return LEAT_OK;
}

static int32_t gemm_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_matrix_product_state *state = leati_op_state_const(op);
  const leati_view *c = &call->outputs[0];
  if (c->count == 0) {
    return LEAT_OK;
  }
  leati_view a, b, bias;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &a, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[1], &b, err));
  const leati_matrix ma = leati_matrix_of(&a, state->trans_a, true), mb = leati_matrix_of(&b, state->trans_b, false);
  leati_gemm gemm = leati_gemm_of(&ma, &mb, &a, &b, c);
  gemm.alpha = state->alpha;
  gemm.beta = state->beta;
  gemm.epilogue = state->epilogue;
  const leati_view *addend = leati_input(call, 2);
  if (addend != NULL && state->beta != 0.0f) {
    LEATI_TRY(leati_plan_walkable(planner, addend, &bias, err));
    leati_view last = bias;
    /* Leading dimensions of C beyond two have size 1 and move nothing. */
    for (; last.ndim > 2; --last.ndim) {
      for (int32_t d = 1; d < last.ndim; ++d) {
        last.shape[d - 1] = last.shape[d];
        last.strides[d - 1] = last.strides[d];
      }
    }
    int64_t strides[LEAT_MAX_RANK];
    leati_broadcast_strides(&last, 2, c->shape, strides);
    gemm.bias = &bias;
    gemm.bias_row = strides[0];
    gemm.bias_column = strides[1];
  }
  return leati_plan_gemm(planner, &gemm, err);
}

static int32_t gemm_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  for (uint32_t i = 0; i < 2; ++i) {
    if (desc->inputs[i].ndim >= 0 && desc->inputs[i].ndim != 2) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Gemm: input %u has %d dimensions; it needs 2", i,
                        desc->inputs[i].ndim);
    }
  }
  leati_matrix_product_state state;
  return leati_matrix_product_read(def, desc, &state, err);
}

static int32_t gemm_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return leati_matrix_product_read(leati_op_def_of(op), desc, leati_op_state(op), err);
}

static uint32_t gemm_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  return leati_matrix_product_transposes(op, leati_op_state_const(op), call, constants);
}

static bool gemm_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  return leati_matrix_product_reads_view(op, leati_op_state_const(op), call, i);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_PRODUCT("Gemm", "", (7, 13), (2, 3), gemm, LEATI_TYPES(&leati_type_real),
                  LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta, &leati_attribute_trans_a,
                                   &leati_attribute_trans_b)),
    LEATI_PRODUCT(
        "FusedGemm", "com.microsoft", (1, 1), (2, 3), gemm, LEATI_TYPES(&leati_type_real),
        LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta, &leati_attribute_trans_a,
                         &leati_attribute_trans_b, &leati_attribute_activation, &leati_attribute_activation_alpha,
                         &leati_attribute_activation_beta, &leati_attribute_activation_gamma)),
};

const leati_op_family leati_gemm_op_family = LEATI_FAMILY(ops);
