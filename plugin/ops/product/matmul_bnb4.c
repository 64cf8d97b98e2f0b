/* SPDX-License-Identifier: BSD-3-Clause */
/* MatMulBnb4: products with weights of 4 bits that stand for floats of a table, in blocks that follow each other along
 * rows of weights [N, K] and go on in the next. Where blocks end with rows the products are those of MatMulNBits; else,
 * and where weights are not transposed, they become floats before. */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/movement.h"
#include "ops/product/matmul_nbits.h"
#include "ops/product/matrix_product.h"

enum { A, B, SCALES };

/* Weights of a block at least. */
#define BLOCK_MIN 16

typedef struct bnb4_state {
  leati_nbits weights;
  bool trans_b;
} bnb4_state;

/* Record of kernels/dequantize_float4.comp. */
typedef struct float4_args {
  uint64_t bytes, scales, y;
  uint32_t count;
  uint32_t block_shift;
} float4_args;

static int32_t read_size(const leati_op_desc *desc, const char *name, int64_t *out, leat_error *err) {
  *out = leati_attr_int(desc, name, 0);
  return *out >= 1 && *out <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "MatMulBnb4: attribute %s is %lld or missing; it must be from 1 to 2^31 - 1", name,
                          (long long)*out);
}

static int32_t read_attributes(const leati_op_desc *desc, bnb4_state *out, leat_error *err) {
  leati_nbits *const w = &out->weights;
  const int64_t kind = leati_attr_int(desc, "quant_type", -1);
  *out = (bnb4_state){.weights.bits = 4, .trans_b = leati_attr_int(desc, leati_attribute_trans_b.name, 1) != 0};
  LEATI_TRY(read_size(desc, "K", &w->k, err));
  LEATI_TRY(read_size(desc, "N", &w->n, err));
  LEATI_TRY(read_size(desc, "block_size", &w->block_size, err));
  if (w->block_size < BLOCK_MIN || (w->block_size & (w->block_size - 1)) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "MatMulBnb4: block_size is %lld; it must be a power of two from %d on", (long long)w->block_size,
                      BLOCK_MIN);
  }
  if (kind != 0 && kind != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "MatMulBnb4: quant_type is %lld or missing; it must be 0, which is FP4, or 1, which is NF4",
                      (long long)kind);
  }
  if (w->n > INT32_MAX / w->k) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "MatMulBnb4 with 2^31 weights or more is not supported");
  }
  w->table = kind == 1 ? LEAT_ZEROS_NF4 : LEAT_ZEROS_FP4;
  return LEAT_OK;
}

static int32_t bnb4_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  bnb4_state state;
  (void)def;
  (void)device;
  return read_attributes(desc, &state, err);
}

static int32_t bnb4_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_attributes(desc, leati_op_state(op), err);
}

static int32_t check_list(const leati_view *view, const char *what, int64_t count, leat_error *err) {
  return view->ndim == 1 && view->shape[0] == count
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "MatMulBnb4: %s must have shape [%lld], by N, K and block_size", what, (long long)count);
}

static int32_t bnb4_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const bnb4_state *const state = leati_op_state_const(op);
  const leati_nbits *const w = &state->weights;
  const leati_view *const a = &call->inputs[A];
  const int64_t count = w->n * w->k, depth = state->trans_b ? w->k : w->n;
  if (a->shape[a->ndim - 1] != depth) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "MatMulBnb4: the first input has %lld columns, %c is %lld",
                      (long long)a->shape[a->ndim - 1], state->trans_b ? 'K' : 'N', (long long)depth);
  }
  LEATI_TRY(check_list(&call->inputs[B], "the weights", (count + 1) / 2, err));
  LEATI_TRY(check_list(&call->inputs[SCALES], "absmax", (count + w->block_size - 1) / w->block_size, err));
  out[0].ndim = a->ndim;
  memcpy(out[0].dims, a->shape, (size_t)a->ndim * sizeof(a->shape[0]));
  out[0].dims[a->ndim - 1] = state->trans_b ? w->n : w->k;
  return LEAT_OK;
}

/* Plans the weights as floats. */
static int32_t plan_floats(leati_planner *planner, const leati_call *call, const leati_nbits *w, leati_view *out,
                           leat_error *err) {
  leati_view bytes, scales;
  *out = (leati_view){.type = call->inputs[A].type, .ndim = 2, .shape = {w->n, w->k}};
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[B], &bytes, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[SCALES], &scales, err));
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  float4_args args = {.count = (uint32_t)out->count};
  while (INT64_C(1) << args.block_shift < w->block_size) {
    ++args.block_shift;
  }
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DEQUANTIZE_FLOAT4, out->type),
                                               .constants.dequantize_float4 = {.normal = w->table == LEAT_ZEROS_NF4}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&bytes, &args.bytes}, {&scales, &args.scales}),
                                  LEATI_WRITES({out, &args.y})};
  leati_groups_linear(planner->device, args.count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t bnb4_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const bnb4_state *const state = leati_op_state_const(op);
  const leati_nbits *const w = &state->weights;
  const leati_view *const c = &call->outputs[0];
  if (c->count == 0) {
    return LEAT_OK;
  }
  if (state->trans_b && w->k % w->block_size == 0) {
    const leati_nbits_operands operands = {
        .a = &call->inputs[A], .b = &call->inputs[B], .scales = &call->inputs[SCALES], .c = c};
    return leati_plan_nbits(planner, w, &operands, err);
  }
  leati_view a, floats;
  LEATI_TRY(leati_check_reach(c, "MatMulBnb4", err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[A], &a, err));
  LEATI_TRY(plan_floats(planner, call, w, &floats, err));
  const leati_gemm gemm = leati_product_of(&a, &floats, c, NULL, state->trans_b);
  return leati_plan_gemm(planner, &gemm, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_real, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_weights, "T2", LEAT_TYPE_UINT8);
static LEATI_ATTRIBUTE(attribute_k, "K", INT);
static LEATI_ATTRIBUTE(attribute_n, "N", INT);
static LEATI_ATTRIBUTE(attribute_block_size, "block_size", INT);
static LEATI_ATTRIBUTE(attribute_quant_type, "quant_type", INT);
static LEATI_ATTRIBUTE(attribute_training_mode, "training_mode", INT);

static const leati_op_def ops[] = {
    LEATI_OP("MatMulBnb4", "com.microsoft", (1, 1), (3, 3), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_real, &type_weights),
             LEATI_ATTRIBUTES(&attribute_k, &attribute_n, &attribute_block_size, &attribute_quant_type,
                              &leati_attribute_trans_b, &attribute_training_mode),
             LEATI_INPUT_TYPES(0, 1, 0), .state_size = sizeof(bnb4_state),
             LEATI_KERNELS(LEATI_KERNELS_OF_NBITS, LEATI_KERNELS_OF_PRODUCTS, LEATI_KERNELS_DEQUANTIZE_FLOAT4),
             .least_rank = 1, .supports = bnb4_supports, .create = bnb4_create, .infer = bnb4_infer, .plan = bnb4_plan,
             .reads_view = leati_nbits_reads_view),
};

const leati_op_family leati_matmul_bnb4_family = LEATI_FAMILY(ops);
