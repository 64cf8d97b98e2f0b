/* SPDX-License-Identifier: BSD-3-Clause */
/* MatMul and the two FusedMatMul; TransposeMatMul, the former name of one of them, and GemmFastGelu. */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/product/a_prologue.h"
#include "ops/product/matrix_product.h"

typedef struct matmul_state {
  leati_matrix_product_state product;
  leati_a_prologue_state factor;
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
  LEATI_TRY(
      leati_matrix_infer_product(name, &call->inputs[0], b, state->product.trans_a, state->product.trans_b, out, err));
  const int64_t columns = leati_matrix_of(b, state->product.trans_b, false).columns;
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != columns)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the bias of a product with %lld columns must have that shape", name, (long long)columns);
  }
  LEATI_TRY(leati_a_prologue_check(name, &state->factor, &call->inputs[0], factor, err));
  if (factor != NULL && (b->ndim != 2 || state->product.trans_a)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: a factor is for a product with one matrix, without transA",
                      name);
  }
  if (state->ndim != 0) {
    return infer_reshaped(op, residual, &out[0], err);
  }
  return residual == NULL ? LEAT_OK : leati_epilogue_check(leati_op_def_of(op), residual, &out[0], err);
}

/* Gives a compact view another shape. */
static void shape_as(int32_t ndim, const int64_t *shape, leati_view *inout_view) {
  inout_view->ndim = ndim;
  memcpy(inout_view->shape, shape, (size_t)ndim * sizeof(shape[0]));
  leati_view_make_compact(inout_view);
}

/* The operands of a call as a product takes them. */
typedef struct matmul_operands {
  leati_view a, b, c; /* c: in the product's shape */
  leati_view bias, residual, factor;
  leati_a_prologue taken; /* by the product's kernel; else `a` is what the factor made of it */
} matmul_operands;

/* Reads both operands, the first with its factor. */
static int32_t read_operands(const leat_op *op, leati_planner *planner, const leati_call *call, matmul_operands *out,
                             leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
  const leati_view *const c = &call->outputs[0], *const added = leati_input(call, 3);
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &out->a, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[1], &out->b, err));
  out->taken = (leati_a_prologue){0};
  if (leati_input(call, 4) == NULL) {
    return LEAT_OK;
  }
  const bool takes =
      (added == NULL || (added->compact && added->count == c->count)) &&
      leati_product_takes_factor(planner->device, &out->a, &out->b, c, state->product.trans_b, state->factor.norm);
  return leati_plan_a_prologue(planner, &state->factor, leati_op_def_of(op)->info.name, &call->inputs[4], takes,
                               &out->a, &out->factor, &out->taken, err);
}

/* Gives the product the residual of a call, if that has one, and its strides in the product's shape. */
static int32_t add_residual(const matmul_state *state, leati_planner *planner, const leati_call *call,
                            matmul_operands *operands, leati_gemm *gemm, int64_t *out_strides, leat_error *err) {
  const leati_view *const given = leati_input(call, 3), *const c = &operands->c;
  leati_view *const residual = &operands->residual;
  if (given == NULL) {
    return LEAT_OK;
  }
  if (state->ndim == 0) {
    LEATI_TRY(leati_plan_walkable(planner, given, residual, err));
  } else {
    *residual = *given;
    if (!given->compact) {
      LEATI_TRY(leati_plan_compact(planner, given, residual, err));
    }
    shape_as(c->ndim, c->shape, residual);
  }
  leati_broadcast_strides(residual, c->ndim, c->shape, out_strides);
  gemm->residual = residual;
  gemm->residual_row = operands->a.ndim > 1 ? out_strides[c->ndim - 1 - (operands->b.ndim > 1)] : 0;
  gemm->residual_column = operands->b.ndim > 1 ? out_strides[c->ndim - 1] : 0;
  return LEAT_OK;
}

/* Gives the product its batch, in as few dimensions as there can be. `residual`: its strides in the product's shape,
 * all 0 without one. */
static void set_batch(const matmul_operands *operands, const leati_matrix *ma, const leati_matrix *mb,
                      const int64_t *residual, leati_gemm *gemm) {
  const leati_view *const c = &operands->c;
  const int32_t rank = c->ndim - (operands->a.ndim > 1) - (operands->b.ndim > 1);
  int64_t dims[LEAT_MAX_RANK], strides[3][LEAT_MAX_RANK];
  if (rank == 0) {
    return;
  }
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = c->shape[d];
    strides[2][d] = residual[d];
  }
  leati_broadcast_strides(&ma->batch, rank, dims, strides[0]);
  leati_broadcast_strides(&mb->batch, rank, dims, strides[1]);
  gemm->batch_rank = leati_collapse(rank, dims, 3, strides);
  for (int32_t d = 0; d < gemm->batch_rank; ++d) {
    gemm->batch_shape[d] = dims[d];
    gemm->a_batch[d] = strides[0][d];
    gemm->b_batch[d] = strides[1][d];
    gemm->residual_batch[d] = strides[2][d];
  }
}

static int32_t matmul_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
  if (call->outputs[0].count == 0) {
    return LEAT_OK;
  }
  matmul_operands operands; /* most of it is for inputs that few calls have */
  operands.c = call->outputs[0];
  LEATI_TRY(read_operands(op, planner, call, &operands, err));
  const leati_view *const a = &operands.a, *const b = &operands.b;
  if (state->ndim != 0) {
    leat_shape product;
    LEATI_TRY(leati_matrix_infer_product(leati_op_def_of(op)->info.name, a, b, state->product.trans_a,
                                         state->product.trans_b, &product, err));
    shape_as(product.ndim, product.dims, &operands.c);
  }
  const leati_matrix ma = leati_matrix_of(a, state->product.trans_a, true),
                     mb = leati_matrix_of(b, state->product.trans_b, false);
  leati_gemm gemm = leati_gemm_of(&ma, &mb, a, b, &operands.c);
  gemm.alpha = state->product.alpha;
  gemm.epilogue = state->product.epilogue;
  gemm.factor = operands.taken;
  if (leati_input(call, 2) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[2], &operands.bias, err));
    gemm.bias = &operands.bias;
    gemm.bias_column = operands.bias.strides[0];
  }
  int64_t residual[LEAT_MAX_RANK] = {0};
  LEATI_TRY(add_residual(state, planner, call, &operands, &gemm, residual, err));
  set_batch(&operands, &ma, &mb, residual, &gemm);
  return leati_plan_gemm(planner, &gemm, err);
}

static uint32_t matmul_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  const matmul_state *state = leati_op_state_const(op);
  return leati_matrix_product_transposes(op, &state->product, call, constants);
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
  leati_matrix_product_state product;
  return leati_matrix_product_read(def, desc, &product, err);
}

static LEATI_ATTRIBUTE(attribute_trans_batch_a, "transBatchA", INT);
static LEATI_ATTRIBUTE(attribute_trans_batch_b, "transBatchB", INT);
static LEATI_ATTRIBUTE(attribute_shape, "shape", INTS);

static int32_t matmul_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  matmul_state *state = leati_op_state(op);
  state->factor = leati_a_prologue_read(desc);
  LEATI_TRY(leati_attr_ints(desc, attribute_shape.name, LEAT_MAX_RANK, state->shape, &state->ndim, err));
  LEATI_TRY(leati_matrix_product_read(leati_op_def_of(op), desc, &state->product, err));
  if (leati_op_def_of(op)->param != LEAT_EW_IDENTITY) {
    state->product.epilogue.activation.operation = leati_op_def_of(op)->param;
  }
  return LEAT_OK;
}

static bool matmul_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const matmul_state *state = leati_op_state_const(op);
  return i > 1 && (state->ndim != 0 || i == 4) ? call->inputs[i].compact
                                               : leati_matrix_product_reads_view(op, &state->product, call, i);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_PRODUCT("MatMul", "", (1, 13), (2, 2), matmul, LEATI_TYPES(&leati_type_real)),
    LEATI_PRODUCT("FusedMatMul", "com.microsoft", (1, 1), (2, 2), matmul, LEATI_TYPES(&leati_type_real),
                  LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_trans_a, &leati_attribute_trans_b,
                                   &attribute_trans_batch_a, &attribute_trans_batch_b)),
    LEATI_PRODUCT("TransposeMatMul", "com.microsoft", (1, 1), (2, 2), matmul, LEATI_TYPES(&leati_type_real),
                  LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_trans_a, &leati_attribute_trans_b)),
    LEATI_PRODUCT("GemmFastGelu", "com.microsoft", (1, 1), (2, 3), matmul, LEATI_TYPES(&leati_type_real),
                  .param = LEAT_EW_GELU_TANH),
    LEATI_PRODUCT("FusedMatMul", "leat", (1, 1), (2, 5), matmul, LEATI_TYPES(&leati_type_real),
                  LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_trans_a, &leati_attribute_trans_b,
                                   &leati_attribute_activation, &leati_attribute_activation_params,
                                   &leati_attribute_residual_first, &attribute_shape, &leati_attribute_factor_epsilon)),
};

const leati_op_family leati_matmul_family = LEATI_FAMILY(ops);
