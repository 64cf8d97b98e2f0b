/* SPDX-License-Identifier: BSD-3-Clause */
/* MatMul, Gemm and com.microsoft's FusedMatMul. */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/product/factor.h"
#include "ops/product/matrix_product.h"

/* ---- MatMul and the two FusedMatMul
 * -----------------------------------------------------------------------------------
 */

typedef struct matmul_state {
  leati_epilogue epilogue;
  leati_factor_state factor;
  float alpha, beta;
  bool trans_a, trans_b;
  uint32_t ndim;                /* of a result in another shape than the product's; 0: it has that */
  int64_t shape[LEAT_MAX_RANK]; /* -1: the residual's size */
} matmul_state;

/* How many elements a shape has; false: they cannot be counted. Operands without elements may give any number. */
static bool count_elements(int32_t ndim, const int64_t *dims, int64_t *out) {
  bool can = true;
  *out = 1;
  for (int32_t d = 0; d < ndim && can; ++d) {
    can = dims[d] >= 0 && !__builtin_mul_overflow(*out, dims[d], out);
  }
  return can;
}

/* The product's shape becomes that of the result, which a residual must have then. */
static int32_t infer_reshaped(const leat_op *op, const leati_view *residual, leat_shape *out, leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
  const int32_t ndim = (int32_t)state->ndim;
  int64_t wanted, product, dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < ndim; ++d) {
    const bool takes = state->shape[d] == -1 && residual != NULL && residual->ndim == ndim;
    dims[d] = takes ? residual->shape[d] : state->shape[d];
  }
  if (!count_elements(ndim, dims, &wanted) || !count_elements(out->ndim, out->dims, &product) || wanted != product) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: what the attribute \"shape\" says does not have as many elements as the product",
                      leati_op_def_of(op)->info.name);
  }
  if (residual != NULL && (residual->ndim != ndim || !leati_same_numbers(residual->shape, dims, ndim))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the residual must have the shape that the attribute \"shape\" says",
                      leati_op_def_of(op)->info.name);
  }
  out->ndim = ndim;
  memcpy(out->dims, dims, (size_t)ndim * sizeof(dims[0]));
  return LEAT_OK;
}

static int32_t matmul_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const b = &call->inputs[1], *const bias = leati_input(call, 2),
                          *const residual = leati_input(call, 3), *const factor = leati_input(call, 4);
  LEATI_TRY(leati_matrix_infer_product(name, &call->inputs[0], b, state->trans_a, state->trans_b, out, err));
  const int64_t columns = leati_matrix_of(b, state->trans_b, false).columns;
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != columns)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the bias of a product with %lld columns must have that shape", name, (long long)columns);
  }
  LEATI_TRY(leati_factor_check(name, &state->factor, &call->inputs[0], factor, err));
  if (factor != NULL && (b->ndim != 2 || state->trans_a)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: a factor is for a product with one matrix, without transA",
                      name);
  }
  if (state->ndim != 0) {
    return infer_reshaped(op, residual, &out[0], err);
  }
  return residual == NULL ? LEAT_OK : leati_epilogue_check(leati_op_def_of(op), residual, &out[0], err);
}

/* Gives a compact view the shape of a product. */
static void shape_as(const leat_shape *product, leati_view *inout_view) {
  inout_view->ndim = product->ndim;
  memcpy(inout_view->shape, product->dims, sizeof(inout_view->shape));
  leati_view_make_compact(inout_view);
}

static int32_t matmul_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  leati_view result = call->outputs[0], *const c = &result;
  if (c->count == 0) {
    return LEAT_OK;
  }
  leati_view a, b, bias, residual, factor;
  leati_factor taken = {0};
  leat_shape product;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &a, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[1], &b, err));
  if (leati_input(call, 4) != NULL) {
    const leati_view *const added = leati_input(call, 3);
    const bool takes = (added == NULL || (added->compact && added->count == c->count)) &&
                       leati_product_takes_factor(planner->device, &a, &b, c, state->trans_b, state->factor.norm);
    LEATI_TRY(leati_plan_factor(planner, &state->factor, name, &call->inputs[4], takes, &a, &factor, &taken, err));
  }
  if (state->ndim != 0) {
    LEATI_TRY(leati_matrix_infer_product(name, &a, &b, state->trans_a, state->trans_b, &product, err));
    shape_as(&product, c);
  }
  const leati_matrix ma = leati_matrix_of(&a, state->trans_a, true), mb = leati_matrix_of(&b, state->trans_b, false);
  leati_gemm gemm = {.a = &a,
                     .b = &b,
                     .c = c,
                     .m = ma.rows,
                     .n = mb.columns,
                     .k = ma.columns,
                     .a_row = ma.row_stride,
                     .a_k = ma.column_stride,
                     .b_k = mb.row_stride,
                     .b_column = mb.column_stride,
                     .alpha = state->alpha,
                     .beta = 1,
                     .factor = taken,
                     .epilogue = state->epilogue};
  int64_t dims[LEAT_MAX_RANK];
  int64_t strides[3][LEAT_MAX_RANK] = {{0}};
  const int32_t rank = c->ndim - (a.ndim > 1) - (b.ndim > 1);
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = c->shape[d];
  }
  leati_broadcast_strides(&ma.batch, rank, dims, strides[0]);
  leati_broadcast_strides(&mb.batch, rank, dims, strides[1]);
  if (leati_input(call, 2) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[2], &bias, err));
    gemm.bias = &bias;
    gemm.bias_column = bias.strides[0];
  }
  if (leati_input(call, 3) != NULL) {
    if (state->ndim == 0) {
      LEATI_TRY(leati_plan_walkable(planner, &call->inputs[3], &residual, err));
    } else {
      residual = call->inputs[3];
      if (!residual.compact) {
        LEATI_TRY(leati_plan_compact(planner, &call->inputs[3], &residual, err));
      }
      shape_as(&product, &residual);
    }
    leati_broadcast_strides(&residual, c->ndim, c->shape, strides[2]);
    gemm.residual = &residual;
    gemm.residual_row = a.ndim > 1 ? strides[2][rank] : 0;
    gemm.residual_column = b.ndim > 1 ? strides[2][c->ndim - 1] : 0;
  }
  gemm.batch_rank = rank > 0 ? leati_collapse(rank, dims, 3, strides) : 0;
  for (int32_t d = 0; d < gemm.batch_rank; ++d) {
    gemm.batch_shape[d] = dims[d];
    gemm.a_batch[d] = strides[0][d];
    gemm.b_batch[d] = strides[1][d];
    gemm.residual_batch[d] = strides[2][d];
  }
  return leati_plan_gemm(planner, &gemm, err);
}

static uint32_t matmul_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  const matmul_state *state = leati_op_state_const(op);
  const leati_view *a = &call->inputs[0], *b = &call->inputs[1], *c = &call->outputs[0];
  if (!leati_has_input(constants, 1) || b->ndim != 2 || a->ndim < 2 || state->trans_a || a->count == 0) {
    return 0;
  }
  const leati_gemm gemm = leati_product_of(a, b, c, NULL, state->trans_b);
  return leati_gemm_gains_along_k(leati_op_device(op), &gemm) ? 1u << 1 : 0;
}

/* Fails if what is known of the shapes of the operands says that they have no product. */
static int32_t check_told(const leati_op_def *def, const leati_op_desc *desc, leat_error *err) {
  return leati_matrix_check_product(def->info.name, &desc->inputs[0], &desc->inputs[1],
                                    leati_attr_int(desc, "transA", 0) != 0, leati_attr_int(desc, "transB", 0) != 0,
                                    err);
}

static int32_t matmul_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)device;
  for (uint32_t i = 0; i < 2; ++i) {
    if (desc->inputs[i].ndim == 0) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u is a scalar; it needs at least one dimension",
                        def->info.name, i);
    }
  }
  if (leati_attr_int(desc, "transBatchA", 0) != 0 || leati_attr_int(desc, "transBatchB", 0) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with transBatchA or transBatchB is not supported",
                      def->info.name);
  }
  LEATI_TRY(check_told(def, desc, err));
  leati_epilogue epilogue;
  return leati_epilogue_read(def, desc, &epilogue, err);
}

static LEATI_ATTRIBUTE(attribute_trans_a, "transA", INT);
static LEATI_ATTRIBUTE(attribute_trans_b, "transB", INT);
static LEATI_ATTRIBUTE(attribute_trans_batch_a, "transBatchA", INT);
static LEATI_ATTRIBUTE(attribute_trans_batch_b, "transBatchB", INT);
static LEATI_ATTRIBUTE(attribute_shape, "shape", INTS);

static int32_t matmul_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  matmul_state *state = leati_op_state(op);
  state->alpha = leati_attr_float(desc, "alpha", 1.0f);
  state->beta = leati_attr_float(desc, "beta", 1.0f);
  state->trans_a = leati_attr_int(desc, "transA", 0) != 0;
  state->trans_b = leati_attr_int(desc, "transB", 0) != 0;
  state->factor = leati_factor_read(desc);
  LEATI_TRY(leati_attr_ints(desc, attribute_shape.name, LEAT_MAX_RANK, state->shape, &state->ndim, err));
  return leati_epilogue_read(leati_op_def_of(op), desc, &state->epilogue, err);
}

/* ---- Gemm ---------------------------------------------------------------------------------------------------------
 */

static int32_t gemm_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
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
  const matmul_state *state = leati_op_state_const(op);
  const leati_view *c = &call->outputs[0];
  if (c->count == 0) {
    return LEAT_OK;
  }
  leati_view a, b, bias;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &a, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[1], &b, err));
  const leati_matrix ma = leati_matrix_of(&a, state->trans_a, true), mb = leati_matrix_of(&b, state->trans_b, false);
  leati_gemm gemm = {.a = &a,
                     .b = &b,
                     .c = c,
                     .m = ma.rows,
                     .n = mb.columns,
                     .k = ma.columns,
                     .a_row = ma.row_stride,
                     .a_k = ma.column_stride,
                     .b_k = mb.row_stride,
                     .b_column = mb.column_stride,
                     .alpha = state->alpha,
                     .beta = state->beta,
                     .epilogue = state->epilogue};
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
  LEATI_TRY(check_told(def, desc, err));
  leati_epilogue epilogue;
  return leati_epilogue_read(def, desc, &epilogue, err);
}

/* ---- Operands in place ------------------------------------------------------------------------------------------- */

static bool product_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const matmul_state *state = leati_op_state_const(op);
  if (i > 1) {
    return state->ndim != 0 || i == 4 ? call->inputs[i].compact
                                      : leati_view_walkable(&call->inputs[i]) && call->inputs[i].ndim <= 2;
  }
  return leati_product_reads(leati_op_device(op), &call->inputs[0], &call->inputs[1], &call->outputs[0], state->trans_a,
                             state->trans_b, i == 0);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* A product; the rest are its type and attributes. */
#define PRODUCT(name, domain, versions, inputs, kind, ...)                                           \
  LEATI_OP(name, domain, versions, inputs, (1, 1), .info.flags = LEAT_OP_HEAVY, __VA_ARGS__,         \
           .state_size = sizeof(matmul_state), .supports = kind##_supports, .create = matmul_create, \
           .infer = kind##_infer, LEATI_KERNELS(LEATI_KERNELS_OF_PRODUCTS), .plan = kind##_plan,     \
           .reads_view = product_reads_view, .transposes = matmul_transposes)

static const leati_op_def ops[] = {
    PRODUCT("MatMul", "", (9, 13), (2, 2), matmul, LEATI_TYPES(&leati_type_real)),
    PRODUCT("FusedMatMul", "com.microsoft", (1, 1), (2, 2), matmul, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_trans_a, &attribute_trans_b, &attribute_trans_batch_a,
                             &attribute_trans_batch_b)),
    PRODUCT("FusedMatMul", "leat", (1, 1), (2, 5), matmul, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_trans_a, &attribute_trans_b,
                             &leati_attribute_activation, &leati_attribute_activation_params,
                             &leati_attribute_residual_first, &attribute_shape, &leati_attribute_factor_epsilon)),
    PRODUCT("Gemm", "", (11, 13), (2, 3), gemm, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta, &attribute_trans_a, &attribute_trans_b)),
    PRODUCT("FusedGemm", "com.microsoft", (1, 1), (2, 3), gemm, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta, &attribute_trans_a, &attribute_trans_b,
                             &leati_attribute_activation, &leati_attribute_activation_alpha,
                             &leati_attribute_activation_beta, &leati_attribute_activation_gamma)),
};

const leati_op_family leati_matmul_family = LEATI_FAMILY(ops);
