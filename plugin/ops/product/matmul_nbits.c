/* SPDX-License-Identifier: BSD-3-Clause */
/* MatMulNBits: products with weights of 2, 4 or 8 bits, which become floats in registers. */
#include "ops/product/matmul_nbits.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/product/gemm.h"
#include "ops/product/kernels/nbits_codes.glsl"

/* Inputs. */
enum { A, B, SCALES, ZEROS, G_IDX, BIAS };

/* Weights of a block at least. */
#define BLOCK_MIN 16
/* Bytes at a multiple of which a column of weights begins, for kernels to read so many at once. */
#define COLUMN_BYTES_STEP 8

/* Argument record of kernels with weights of few bits; Args in kernels/nbits.glsl. */
typedef struct nbits_args {
  leati_gemm_args gemm;
  uint64_t scales, zeros, g_idx;
  uint32_t block_shift;
  uint32_t blocks;
  uint32_t column_bytes;
  uint32_t zeros_bytes;
} nbits_args;
_Static_assert(offsetof(nbits_args, scales) == sizeof(leati_gemm_args), "as std430 lays it out");

static const leati_kernel_set tile_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_GEMM_NBITS_128,
    [LEATI_TILE_64] = LEATI_KERNELS_GEMM_NBITS_64,
    [LEATI_TILE_32] = LEATI_KERNELS_GEMM_NBITS_32,
};

static const leati_kernel_set matrix_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_GEMM_NBITS_MATRIX_128,
    [LEATI_TILE_64] = LEATI_KERNELS_GEMM_NBITS_MATRIX_64,
    [LEATI_TILE_32] = LEATI_KERNELS_GEMM_NBITS_MATRIX_32,
};

/* Blocks of a column, and the bytes of one. */
static int64_t blocks_of(const leati_nbits *state) {
  return (state->k + state->block_size - 1) / state->block_size;
}
static int64_t block_bytes(const leati_nbits *state) {
  return state->block_size * state->bits / 8;
}

/* ---- Attributes and shapes --------------------------------------------------------------------------------------- */

static int32_t read_size(const leati_op_desc *desc, const char *name, int64_t *out, leat_error *err) {
  *out = leati_attr_int(desc, name, 0);
  return *out >= 1 && *out <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "MatMulNBits: attribute %s is %lld or missing; it must be from 1 to 2^31 - 1", name,
                          (long long)*out);
}

static int32_t read_attributes(const leati_op_desc *desc, leati_nbits *out, leat_error *err) {
  const int64_t bits = leati_attr_int(desc, "bits", 4), packing = leati_attr_int(desc, "weight_prepacked", 0);
  LEATI_TRY(read_size(desc, "K", &out->k, err));
  LEATI_TRY(read_size(desc, "N", &out->n, err));
  LEATI_TRY(read_size(desc, "block_size", &out->block_size, err));
  if (out->block_size < BLOCK_MIN || (out->block_size & (out->block_size - 1)) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "MatMulNBits: block_size is %lld; it must be a power of two from %d on",
                      (long long)out->block_size, BLOCK_MIN);
  }
  if (bits != 2 && bits != 4 && bits != 8) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "MatMulNBits with weights of %lld bits is not supported; 2, 4 and 8 are", (long long)bits);
  }
  if (out->block_size * bits < 8 * COLUMN_BYTES_STEP) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "MatMulNBits with blocks of %lld weights of %lld bits is not supported; of %lld are",
                      (long long)out->block_size, (long long)bits, 8 * COLUMN_BYTES_STEP / (long long)bits);
  }
  if (packing != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "MatMulNBits with weight_prepacked %lld is not supported: such weights are packed for another "
                      "device",
                      (long long)packing);
  }
  out->bits = (uint32_t)bits;
  return LEAT_OK;
}

/* What is known of inputs before their shapes are; `zeros`: the type of the zero points, or that of the first input. */
static int32_t check_kinds(uint64_t type, uint64_t zeros, leat_error *err) {
  if (zeros != type && zeros != LEAT_TYPE_UINT8) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "MatMulNBits: zero points of %s beside a first input of %s; they must be uint8 or of the same type",
        leati_type_name(zeros), leati_type_name(type));
  }
  return LEAT_OK;
}

static int32_t nbits_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)def;
  (void)device;
  leati_nbits state;
  LEATI_TRY(read_attributes(desc, &state, err));
  const uint32_t zeros = leati_is_given(desc, ZEROS) ? ZEROS : A;
  return check_kinds(leati_type_of(desc->inputs[A].dtype), leati_type_of(desc->inputs[zeros].dtype), err);
}

static int32_t nbits_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_attributes(desc, leati_op_state(op), err);
}

/* Checks an input that has `each` elements for each column: a matrix, or the same in one dimension, as older models
 * have it. */
static int32_t check_columns(const leati_view *view, const char *what, int64_t n, int64_t each, leat_error *err) {
  const bool fits = (view->ndim == 1 && view->shape[0] == n * each) ||
                    (view->ndim == 2 && view->shape[0] == n && view->shape[1] == each);
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "MatMulNBits: %s must have shape [%lld, %lld] or [%lld], by N, K, block_size and bits", what,
                           (long long)n, (long long)each, (long long)(n * each));
}

/* Checks the numbers of blocks: one for each k, or for each weight of a column, those included that fill its last
 * block. */
static int32_t check_g_idx(const leati_view *view, const leati_nbits *state, leat_error *err) {
  const int64_t filled = blocks_of(state) * state->block_size;
  return view->ndim == 1 && (view->shape[0] == state->k || view->shape[0] == filled)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "MatMulNBits: g_idx must have shape [%lld] or [%lld], which is K or K in whole blocks",
                          (long long)state->k, (long long)filled);
}

static int32_t nbits_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_nbits *const state = leati_op_state_const(op);
  const leati_view *const a = &call->inputs[A], *const b = &call->inputs[B], *const zeros = leati_input(call, ZEROS),
                          *const g_idx = leati_input(call, G_IDX), *const bias = leati_input(call, BIAS);
  const int64_t n = state->n, blocks = blocks_of(state), bytes = block_bytes(state);
  LEATI_TRY(check_kinds(a->type, zeros != NULL ? zeros->type : a->type, err));
  if (a->shape[a->ndim - 1] != state->k) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "MatMulNBits: the first input has %lld columns, K is %lld",
                      (long long)a->shape[a->ndim - 1], (long long)state->k);
  }
  if (b->ndim != 3 || b->shape[0] != n || b->shape[1] != blocks || b->shape[2] != bytes) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "MatMulNBits: the weights must have shape [%lld, %lld, %lld], by N, K, block_size and bits",
                      (long long)n, (long long)blocks, (long long)bytes);
  }
  LEATI_TRY(check_columns(&call->inputs[SCALES], "scales", n, blocks, err));
  if (zeros != NULL) {
    const bool packed = zeros->type == LEAT_TYPE_UINT8;
    LEATI_TRY(check_columns(zeros, "zero points", n, packed ? (blocks * state->bits + 7) / 8 : blocks, err));
  }
  if (g_idx != NULL) {
    LEATI_TRY(check_g_idx(g_idx, state, err));
  }
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != n)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "MatMulNBits: the bias must have shape [%lld], which is N",
                      (long long)n);
  }
  out[0].ndim = a->ndim;
  memcpy(out[0].dims, a->shape, (size_t)a->ndim * sizeof(a->shape[0]));
  out[0].dims[a->ndim - 1] = n;
  return LEAT_OK;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* Whether all rows of a view, by all dimensions but the last, follow each other in one stride, which is given. */
static bool rows_in_one(const leati_view *view, int64_t *out_stride) {
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  const int32_t rank = view->ndim - 1;
  *out_stride = 0;
  if (rank == 0) {
    return true;
  }
  memcpy(dims, view->shape, (size_t)rank * sizeof(dims[0]));
  memcpy(strides[0], view->strides, (size_t)rank * sizeof(strides[0][0]));
  const bool one = leati_collapse(rank, dims, 1, strides) == 1;
  *out_stride = strides[0][0];
  return one;
}

static uint32_t zeros_kind(const leati_nbits *state, const leati_nbits_operands *operands) {
  const leati_view *const zeros = operands->zeros;
  return state->table != 0                ? state->table
         : zeros == NULL                  ? LEAT_ZEROS_NONE
         : zeros->type == LEAT_TYPE_UINT8 ? LEAT_ZEROS_PACKED
                                          : LEAT_ZEROS_REAL;
}

/* Chooses the kernel, and tiles and splits in its argument record; `a`: the first input as it is read. */
static leati_pipeline_key choose_kernel(const leat_device *device, const leati_nbits_operands *operands,
                                        const leati_view *a, const leati_nbits *state, nbits_args *args,
                                        uint32_t *out_tile_size) {
  const leati_view *const c = operands->c;
  const uint32_t zeros = zeros_kind(state, operands), indexed = operands->g_idx != NULL;
  leati_gemm_args *const gemm = &args->gemm;
  if (gemm->m <= device->traits.tuning.gemv_rows) {
    const leati_gemm_shape shape = {.m = gemm->m, .n = gemm->n, .k = gemm->k, .batch = 1};
    uint32_t rows = 1;
    while (rows < gemm->m) {
      rows *= 2;
    }
    const leati_gemv_cut cut = leati_nbits_cut(&device->traits, &shape, rows, state->bits);
    leati_gemm_take_cut(gemm, &cut.gemm);
    *out_tile_size = rows * (LEATI_NBITS_COLUMNS / cut.lanes);
    return (leati_pipeline_key){.kernel = leati_kernel_find(LEATI_KERNELS_GEMV_NBITS, c->type),
                                .constants.gemv_nbits = {.rows = rows,
                                                         .lanes = cut.lanes,
                                                         .wide = args->column_bytes % 16 == 0,
                                                         .blocks = block_bytes(state) < 16 ? 2 : 1,
                                                         .bits = state->bits,
                                                         .zeros = zeros,
                                                         .indexed = indexed}};
  }
  const uint32_t mode_a =
      leati_operand_mode(a->address, a->item_size, gemm->a_row, gemm->m, gemm->a_k, gemm->k, 0, NULL);
  const leati_matrix_shape matrix = leati_gemm_matrix(device, matrix_kernels, c->type, gemm);
  if (matrix.m != 0) {
    const uint32_t subgroup = device->physical->subgroup_size;
    const leati_tile tile = leati_gemm_choose_matrix_tile(device, LEATI_WORK_OTHER, gemm);
    const uint32_t wide = leati_operand_width(tile, a, mode_a, gemm->a_row, gemm->m, gemm->a_k, gemm->k, 0, NULL);
    *out_tile_size = leati_tile_size(tile);
    return (leati_pipeline_key){.kernel = leati_kernel_find(matrix_kernels[tile], c->type),
                                .constants.gemm_matrix = {.mode_a = mode_a,
                                                          .mode_b = LEATI_MODE_QUADS_K,
                                                          .wide = wide,
                                                          .subgroup_size = subgroup,
                                                          .matrix_m = matrix.m,
                                                          .matrix_n = matrix.n,
                                                          .matrix_k = matrix.k,
                                                          .threads = subgroup * leati_matrix_subgroups(tile, true),
                                                          .bits = state->bits,
                                                          .zeros = zeros,
                                                          .indexed = indexed}};
  }
  const leati_tile tile = leati_gemm_choose_tile(device, LEATI_WORK_OTHER, gemm);
  *out_tile_size = leati_tile_size(tile);
  return (leati_pipeline_key){.kernel = leati_kernel_find(tile_kernels[tile], c->type),
                              .constants.gemm = {.mode_a = mode_a,
                                                 .mode_b = LEATI_MODE_QUADS_K,
                                                 .split = gemm->splits > 1,
                                                 .bits = state->bits,
                                                 .zeros = zeros,
                                                 .indexed = indexed}};
}

/* The weights at an address that is a multiple of 16, from which kernels read several at once. */
static int32_t plan_weights(leati_planner *planner, const leati_view *b, leati_view *out, leat_error *err) {
  if (!b->compact || b->address % 16 == 0) {
    return leati_plan_compact(planner, b, out, err);
  }
  *out = *b;
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  return leati_plan_copy(planner, b, out, err);
}

int32_t leati_plan_nbits(leati_planner *planner, const leati_nbits *state, const leati_nbits_operands *operands,
                         leat_error *err) {
  const leati_view *const c = operands->c, *const given_zeros = operands->zeros, *const given_g_idx = operands->g_idx,
                          *const given_bias = operands->bias;
  if (c->count == 0) {
    return LEAT_OK;
  }
  if (c->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a matrix product with 2^31 elements or more is not supported");
  }
  leati_view a, b, scales, zeros, g_idx, bias;
  int64_t a_row;
  LEATI_TRY(leati_plan_walkable(planner, operands->a, &a, err));
  if (!rows_in_one(&a, &a_row)) {
    LEATI_TRY(leati_plan_compact(planner, operands->a, &a, err));
    a_row = state->k;
  }
  LEATI_TRY(plan_weights(planner, operands->b, &b, err));
  LEATI_TRY(leati_plan_compact(planner, operands->scales, &scales, err));
  if (given_zeros != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given_zeros, &zeros, err));
  }
  if (given_g_idx != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given_g_idx, &g_idx, err));
  }
  if (given_bias != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, given_bias, &bias, err));
  }
  const int64_t blocks = blocks_of(state);
  nbits_args args = {
      .gemm = {.m = (uint32_t)(c->count / (uint64_t)state->n),
               .n = (uint32_t)state->n,
               .k = (uint32_t)state->k,
               .batch = 1,
               .a_row = (int32_t)a_row,
               .a_k = (int32_t)a.strides[a.ndim - 1],
               .c_row = (int32_t)state->n,
               .c_column = 1,
               .bias_column = given_bias != NULL ? (int32_t)bias.strides[0] : 0,
               .bias_period = 1,
               .alpha = 1,
               .beta = 1},
      .blocks = (uint32_t)blocks,
      .column_bytes = (uint32_t)(blocks * block_bytes(state)),
      .zeros_bytes = zeros_kind(state, operands) == LEAT_ZEROS_PACKED ? (uint32_t)((blocks * state->bits + 7) / 8) : 0};
  while (INT64_C(1) << args.block_shift < state->block_size) {
    ++args.block_shift;
  }
  args.gemm.vector = args.gemm.n % 4 == 0 && c->address % (4 * c->item_size) == 0 ? LEATI_VECTOR_C : 0;
  uint32_t tile_size;
  leati_dispatch_desc dispatch = {.pipeline = choose_kernel(planner->device, operands, &a, state, &args, &tile_size),
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&a, &args.gemm.a}, {&b, &args.gemm.b}, {&scales, &args.scales},
                                              {given_zeros != NULL ? &zeros : NULL, &args.zeros},
                                              {given_g_idx != NULL ? &g_idx : NULL, &args.g_idx},
                                              {given_bias != NULL ? &bias : NULL, &args.gemm.bias}),
                                  LEATI_WRITES({c, &args.gemm.c})};
  return leati_plan_tiles(planner, &dispatch, &args.gemm, tile_size, err);
}

static int32_t nbits_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_nbits_operands operands = {.a = &call->inputs[A],
                                         .b = &call->inputs[B],
                                         .scales = &call->inputs[SCALES],
                                         .zeros = leati_input(call, ZEROS),
                                         .g_idx = leati_input(call, G_IDX),
                                         .bias = leati_input(call, BIAS),
                                         .c = &call->outputs[0]};
  return leati_plan_nbits(planner, leati_op_state_const(op), &operands, err);
}

/* What a row of `a` is in memory changes no sum, and rows are read at once. */
bool leati_nbits_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  const leati_view *const view = &call->inputs[i];
  int64_t stride;
  return i == A && leati_view_walkable(view) && leati_view_has_rows(view) && rows_in_one(view, &stride);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_real, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_weights, "T2", LEAT_TYPE_UINT8);
static LEATI_TYPE(type_zeros, "T3", LEAT_TYPE_UINT8 | LEATI_TYPES_REAL);
static LEATI_TYPE(type_g_idx, "T4", LEAT_TYPE_INT32);
static LEATI_ATTRIBUTE(attribute_k, "K", INT);
static LEATI_ATTRIBUTE(attribute_n, "N", INT);
static LEATI_ATTRIBUTE(attribute_bits, "bits", INT);
static LEATI_ATTRIBUTE(attribute_block_size, "block_size", INT);
static LEATI_ATTRIBUTE(attribute_weight_prepacked, "weight_prepacked", INT);

static const leati_op_def ops[] = {
    LEATI_OP("MatMulNBits", "com.microsoft", (1, 1), (3, 6), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_real, &type_weights, &type_zeros, &type_g_idx),
             LEATI_ATTRIBUTES(&attribute_k, &attribute_n, &attribute_bits, &attribute_block_size,
                              &attribute_weight_prepacked),
             LEATI_INPUT_TYPES(0, 1, 0, 2, 3, 0), .state_size = sizeof(leati_nbits),
             LEATI_KERNELS(LEATI_KERNELS_OF_NBITS), .least_rank = 1, .supports = nbits_supports, .create = nbits_create,
             .infer = nbits_infer, .plan = nbits_plan, .reads_view = leati_nbits_reads_view),
};

const leati_op_family leati_matmul_nbits_family = LEATI_FAMILY(ops);
