/* SPDX-License-Identifier: BSD-3-Clause */
/* MatMul, Gemm and com.microsoft's FusedMatMul, and the matrix product that convolutions use too. */
#include "ops/matmul.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/attribute.h"
#include "ops/dims.h"

int32_t leati_plan_walkable(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err) {
  if (view->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "a tensor of %llu elements is too large: fewer than 2^31 are supported",
                      (unsigned long long)view->count);
  }
  if (view->count == 0 || leati_view_walkable(view)) {
    *out = *view;
    return LEAT_OK;
  }
  return leati_plan_compact(planner, view, out, err);
}

/* ---- Epilogues ----------------------------------------------------------------------------------------------------
 */

LEATI_ATTRIBUTE(leati_attribute_residual_first, "residual_first", INT);

uint32_t leati_epilogue_fill(const leati_epilogue *epilogue, uint64_t type, const leati_view *residual,
                             leati_epilogue_args *args) {
  leati_function_parameters(&epilogue->activation, type, args->activation);
  return residual == NULL ? LEAT_RESIDUAL_NONE : epilogue->residual_last ? LEAT_RESIDUAL_LAST : LEAT_RESIDUAL_FIRST;
}

int32_t leati_epilogue_read(const leati_op_def *def, const leati_op_desc *desc, leati_epilogue *out, leat_error *err) {
  out->residual_last = leati_attr_int(desc, leati_attribute_residual_first.name, 1) == 0;
  return leati_function_read_activation(def, desc, &out->activation, err);
}

int32_t leati_epilogue_check(const leati_op_def *def, const leati_view *residual, const leat_shape *result,
                             leat_error *err) {
  bool fits = residual->ndim <= result->ndim;
  for (int32_t d = 1; fits && d <= residual->ndim; ++d) {
    const int64_t size = residual->shape[residual->ndim - d];
    fits = size == 1 || size == result->dims[result->ndim - d];
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: the residual does not broadcast to the result's shape", def->info.name);
}

/* ---- The product --------------------------------------------------------------------------------------------------
 */

static const leati_kernel_set tile_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_GEMM_128,
    [LEATI_TILE_64] = LEATI_KERNELS_GEMM_64,
    [LEATI_TILE_32] = LEATI_KERNELS_GEMM_32,
};

static const leati_kernel_set matrix_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_GEMM_MATRIX_128,
    [LEATI_TILE_64] = LEATI_KERNELS_GEMM_MATRIX_64,
    [LEATI_TILE_32] = LEATI_KERNELS_GEMM_MATRIX_32,
};

static leati_gemm_shape shape_of(const leati_gemm_args *args) {
  return (leati_gemm_shape){.m = args->m, .n = args->n, .k = args->k, .batch = args->batch};
}

/* A product with more tiles than there are counters fills any device, and is not split. */
void leati_gemm_take_cut(leati_gemm_args *args, const leati_gemm_cut *cut) {
  args->tiles_m = cut->tiles_m;
  args->tiles_n = cut->tiles_n;
  args->tiles = cut->tiles_m * cut->tiles_n * args->batch;
  const bool splits = args->tiles <= LEATI_COUNTERS_MAX;
  args->splits = splits ? cut->splits : 1;
  args->k_chunk = splits ? cut->k_chunk : args->k;
}

leati_tile leati_gemm_choose_tile(const leat_device *device, leati_gemm_args *args) {
  const leati_gemm_shape shape = shape_of(args);
  leati_gemm_cut cut;
  const leati_tile tile = leati_gemm_cut_tiled(&device->traits, &shape, &cut);
  leati_gemm_take_cut(args, &cut);
  return tile;
}

leati_tile leati_gemm_choose_matrix_tile(const leat_device *device, bool gathers, leati_gemm_args *args) {
  const leati_gemm_shape shape = shape_of(args);
  leati_gemm_cut cut;
  const leati_tile tile = leati_gemm_cut_matrices(&device->traits, &shape, gathers, &cut);
  leati_gemm_take_cut(args, &cut);
  return tile;
}

uint64_t leati_gemm_groups(const leati_gemm_args *args) {
  return (uint64_t)args->tiles * args->splits;
}

uint32_t leati_gemm_tile_size(leati_tile tile) {
  static const uint32_t sizes[LEATI_TILE_COUNT] = {
      [LEATI_TILE_128] = 128 * 128, [LEATI_TILE_64] = 64 * 64, [LEATI_TILE_32] = 32 * 32};
  return sizes[tile];
}

int32_t leati_plan_tiles(leati_planner *planner, leati_dispatch_desc *dispatch, const leati_gemm_args *args,
                         uint32_t tile_size, leat_error *err) {
  const uint64_t groups = leati_gemm_groups(args);
  leati_view pieces = {.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {(int64_t)(groups * tile_size)}};
  leati_access writes[LEATI_GEMM_RESULTS_MAX + 1];
  memcpy(writes, dispatch->writes, dispatch->write_count * sizeof(writes[0]));
  writes[dispatch->write_count] = (leati_access){NULL, &args->pieces};
  if (args->splits > 1) {
    LEATI_TRY(leati_plan_temporary(planner, &pieces, err));
    writes[dispatch->write_count].view = &pieces;
    dispatch->counter_count = args->tiles;
    dispatch->counters = &args->counters;
  }
  dispatch->writes = writes;
  ++dispatch->write_count;
  leati_groups_linear(planner->device, groups, 1, dispatch->groups);
  return leati_plan_dispatch(planner, dispatch, err);
}

bool leati_operand_runs_fit(uint32_t run, uint64_t address, uint32_t item_size, int64_t across, int64_t across_count,
                            int64_t along_count, int32_t batch_rank, const int64_t *batch) {
  bool fits = address % (run * item_size) == 0 && along_count % run == 0 && (across % run == 0 || across_count <= 1);
  for (int32_t d = 0; d < batch_rank; ++d) {
    fits = fits && batch[d] % run == 0;
  }
  return fits;
}

uint32_t leati_operand_mode(uint64_t address, uint32_t item_size, int64_t stride_i, int64_t count_i, int64_t stride_k,
                            int64_t count_k, int32_t batch_rank, const int64_t *batch) {
  const bool quads_k =
      stride_k == 1 && leati_operand_runs_fit(4, address, item_size, stride_i, count_i, count_k, batch_rank, batch);
  const bool quads_i =
      stride_i == 1 && leati_operand_runs_fit(4, address, item_size, stride_k, count_k, count_i, batch_rank, batch);
  return leati_gemm_mode(quads_k, quads_i, stride_k, stride_i);
}

bool leati_operand_is_wide(const leati_view *view, uint32_t mode, int64_t stride_i, int64_t count_i, int64_t stride_k,
                           int64_t count_k, int32_t batch_rank, const int64_t *batch) {
  const bool along_k = mode == LEATI_MODE_QUADS_K;
  return view->item_size == 2 && (along_k || mode == LEATI_MODE_QUADS_I) &&
         leati_operand_runs_fit(8, view->address, view->item_size, along_k ? stride_i : stride_k,
                                along_k ? count_i : count_k, along_k ? count_k : count_i, batch_rank, batch);
}

/* The same product with rows and columns exchanged. */
static void transpose(leati_gemm *gemm) {
  leati_gemm t = *gemm;
  t.a = gemm->b;
  t.b = gemm->a;
  t.m = gemm->n;
  t.n = gemm->m;
  t.a_row = gemm->b_column;
  t.a_k = gemm->b_k;
  t.b_column = gemm->a_row;
  t.b_k = gemm->a_k;
  for (int32_t d = 0; d < gemm->batch_rank; ++d) {
    t.a_batch[d] = gemm->b_batch[d];
    t.b_batch[d] = gemm->a_batch[d];
  }
  t.residual_row = gemm->residual_column;
  t.residual_column = gemm->residual_row;
  t.bias_row = gemm->bias_column;
  t.bias_column = gemm->bias_row;
  *gemm = t;
}

/* A batch that walks through a's rows, and the residual's, in one stride while b and bias stay is more rows. */
static void join_batch(leati_gemm *gemm) {
  const bool bias_stays = gemm->bias == NULL || (gemm->bias_row == 0 && gemm->bias_batch == 0);
  if (gemm->batch_rank != 1 || gemm->b_batch[0] != 0 || !bias_stays) {
    return;
  }
  if (gemm->m == 1) {
    gemm->a_row = gemm->a_batch[0];
    gemm->residual_row = gemm->residual_batch[0];
  } else if (gemm->a_batch[0] != gemm->m * gemm->a_row || gemm->residual_batch[0] != gemm->m * gemm->residual_row) {
    return;
  }
  gemm->m *= gemm->batch_shape[0];
  gemm->batch_rank = 0;
}

/* The argument record of a product, but for its tiles and addresses. Of a transposed one c has `columns`. */
static leati_gemm_args fill_args(const leati_gemm *gemm, bool transposed, int64_t columns) {
  leati_gemm_args args = {.m = (uint32_t)gemm->m,
                          .n = (uint32_t)gemm->n,
                          .k = (uint32_t)gemm->k,
                          .batch = 1,
                          .a_row = (int32_t)gemm->a_row,
                          .a_k = (int32_t)gemm->a_k,
                          .b_column = (int32_t)gemm->b_column,
                          .b_k = (int32_t)gemm->b_k,
                          .c_row = transposed ? 1 : (int32_t)columns,
                          .c_column = transposed ? (int32_t)columns : 1,
                          .c_batch = (uint32_t)(gemm->m * gemm->n),
                          .bias_row = (int32_t)gemm->bias_row,
                          .bias_column = (int32_t)gemm->bias_column,
                          .bias_batch = (int32_t)gemm->bias_batch,
                          .bias_period = gemm->bias_period > 0 ? (uint32_t)gemm->bias_period : 1,
                          .alpha = gemm->alpha,
                          .beta = gemm->beta,
                          .residual_row = (int32_t)gemm->residual_row,
                          .residual_column = (int32_t)gemm->residual_column,
                          .batch_rank = (uint32_t)gemm->batch_rank};
  for (int32_t d = 0; d < gemm->batch_rank; ++d) {
    args.batch *= (uint32_t)gemm->batch_shape[d];
    args.batch_shape[d] = (uint32_t)gemm->batch_shape[d];
    args.a_batch[d] = (int32_t)gemm->a_batch[d];
    args.b_batch[d] = (int32_t)gemm->b_batch[d];
    args.residual_batch[d] = (int32_t)gemm->residual_batch[d];
  }
  return args;
}

leati_matrix_shape leati_gemm_matrix(const leat_device *device, const leati_kernel_set kernels[LEATI_TILE_COUNT],
                                     uint64_t type, const leati_gemm_args *args) {
  const leati_matrix_shape none = {0};
  if (leati_kernel_find(kernels[LEATI_TILE_128], type) == LEATI_KERNEL_NONE) {
    return none;
  }
  if (type == LEAT_TYPE_FLOAT32) {
    const leati_gemm_shape shape = shape_of(args);
    return device->splits_float32 && leati_gemm_parts_pay(&device->traits, &shape) ? device->matrix_bfloat16 : none;
  }
  return leati_device_matrix(device, type);
}

/* Chooses the kernel of such a product, and tiles and splits in its argument record. */
static leati_pipeline_key choose_matrix_kernel(const leat_device *device, leati_matrix_shape matrix,
                                               const leati_gemm *gemm, uint32_t mode_a, uint32_t mode_b,
                                               uint32_t residual, leati_gemm_args *args, uint32_t *out_tile_size) {
  const uint32_t subgroup = device->physical->subgroup_size;
  const leati_tile tile = leati_gemm_choose_matrix_tile(device, false, args);
  *out_tile_size = leati_gemm_tile_size(tile);
  const bool wide_a =
      leati_operand_is_wide(gemm->a, mode_a, gemm->a_row, gemm->m, gemm->a_k, gemm->k, gemm->batch_rank, gemm->a_batch);
  const bool wide_b = leati_operand_is_wide(gemm->b, mode_b, gemm->b_column, gemm->n, gemm->b_k, gemm->k,
                                            gemm->batch_rank, gemm->b_batch);
  return (leati_pipeline_key){.kernel = leati_kernel_find(matrix_kernels[tile], gemm->c->type),
                              .constants.gemm_matrix = {.mode_a = mode_a,
                                                        .mode_b = mode_b,
                                                        .activation = gemm->epilogue.activation.operation,
                                                        .residual = residual,
                                                        .wide = (wide_a ? 1u : 0u) | (wide_b ? 2u : 0u),
                                                        .subgroup_size = subgroup,
                                                        .matrix_m = matrix.m,
                                                        .matrix_n = matrix.n,
                                                        .matrix_k = matrix.k,
                                                        .threads = subgroup * LEATI_MATRIX_SUBGROUPS}};
}

/* Chooses the kernel of a product, and tiles and splits in its argument record. */
static leati_pipeline_key choose_kernel(const leat_device *device, const leati_gemm *gemm, bool skinny,
                                        leati_gemm_args *args, uint32_t *out_tile_size) {
  const uint32_t activation = gemm->epilogue.activation.operation;
  const uint32_t residual = leati_epilogue_fill(&gemm->epilogue, gemm->c->type, gemm->residual, &args->epilogue);
  uint32_t mode_b = leati_operand_mode(gemm->b->address, gemm->b->item_size, gemm->b_column, gemm->n, gemm->b_k,
                                       gemm->k, gemm->batch_rank, gemm->b_batch);
  const uint32_t mode_a = leati_operand_mode(gemm->a->address, gemm->a->item_size, gemm->a_row, gemm->m, gemm->a_k,
                                             gemm->k, gemm->batch_rank, gemm->a_batch);
  if (skinny) {
    const bool eights = leati_operand_is_wide(gemm->b, mode_b, gemm->b_column, gemm->n, gemm->b_k, gemm->k,
                                              gemm->batch_rank, gemm->b_batch);
    const uint32_t along =
        leati_gemv_along(&device->traits, mode_a, mode_b, eights, args->n, gemm->b_k, gemm->b_column);
    const leati_gemm_shape shape = shape_of(args);
    const leati_gemv_cut cut = leati_gemm_cut_skinny(&device->traits, &shape, along);
    leati_gemm_take_cut(args, &cut.gemm);
    *out_tile_size = 4 * cut.threads; /* four elements of each thread */
    uint32_t rows = 1;
    while (rows < args->m) {
      rows *= 2;
    }
    return (leati_pipeline_key){.kernel = leati_kernel_find(LEATI_KERNELS_GEMV, gemm->c->type),
                                .constants.gemv = {.rows = rows,
                                                   .along_k = along,
                                                   .lanes = cut.lanes,
                                                   .threads = cut.threads,
                                                   .activation = activation,
                                                   .residual = residual}};
  }
  const leati_matrix_shape matrix = leati_gemm_matrix(device, matrix_kernels, gemm->c->type, args);
  if (gemm->gate == NULL && matrix.m != 0) {
    return choose_matrix_kernel(device, matrix, gemm, mode_a, mode_b, residual, args, out_tile_size);
  }
  if (gemm->gate != NULL && mode_b == LEATI_MODE_QUADS_K) {
    mode_b = LEATI_MODE_SINGLES_K; /* one element of the gate is for all that are read at once */
  }
  const leati_tile tile = leati_gemm_choose_tile(device, args);
  *out_tile_size = leati_gemm_tile_size(tile);
  return (leati_pipeline_key){.kernel = leati_kernel_find(tile_kernels[tile], gemm->c->type),
                              .constants.gemm = {.mode_a = mode_a,
                                                 .mode_b = mode_b,
                                                 .split = args->splits > 1,
                                                 .activation = activation,
                                                 .residual = residual,
                                                 .gated = gemm->gate != NULL}};
}

void leati_gemm_lay(const leat_device *device, const leati_gemm *given, leati_gemm_laid *out) {
  leati_gemm *const gemm = &out->gemm;
  *gemm = *given;
  join_batch(gemm);
  const int64_t columns = gemm->n; /* of c, which lies in memory as it is however we look at it */
  const bool skinny = gemm->gate == NULL && leati_gemm_is_skinny(&device->traits, gemm->m, gemm->n);
  out->transposed = skinny && leati_gemm_is_transposed(&device->traits, gemm->m, gemm->n);
  if (out->transposed) {
    transpose(gemm);
  }
  out->args = fill_args(gemm, out->transposed, columns);
  out->pipeline = choose_kernel(device, gemm, skinny, &out->args, &out->tile_size);
  out->args.vector = out->args.n % 4 == 0 && gemm->c->address % (4 * gemm->c->item_size) == 0 ? LEATI_VECTOR_C : 0;
  if (gemm->residual != NULL && gemm->residual_column == 1 &&
      leati_operand_runs_fit(4, gemm->residual->address, gemm->residual->item_size, gemm->residual_row, gemm->m,
                             gemm->n, gemm->batch_rank, gemm->residual_batch)) {
    out->args.vector |= LEATI_VECTOR_RESIDUAL;
  }
}

int32_t leati_plan_gemm(leati_planner *planner, const leati_gemm *gemm, leat_error *err) {
  if (gemm->c->count == 0) {
    return LEAT_OK;
  }
  if (gemm->c->count > INT32_MAX || gemm->k > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a matrix product with 2^31 elements or more is not supported");
  }
  leati_gemm_laid laid;
  leati_gemm_lay(planner->device, gemm, &laid);
  leati_gemm_args *const args = &laid.args;
  leati_dispatch_desc dispatch = {
      .pipeline = laid.pipeline,
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({laid.gemm.a, &args->a}, {laid.gemm.b, &args->b}, {laid.gemm.bias, &args->bias},
                  {laid.gemm.gate, &args->gate}, {laid.gemm.residual, &args->epilogue.residual}),
      LEATI_WRITES({laid.gemm.c, &args->c})};
  return leati_plan_tiles(planner, &dispatch, args, laid.tile_size, err);
}

/* ---- MatMul and the two FusedMatMul
 * -----------------------------------------------------------------------------------
 */

typedef struct matmul_state {
  leati_epilogue epilogue;
  float alpha, beta;
  bool trans_a, trans_b;
  uint32_t ndim; /* of a result in another shape than the product's; 0: it has that */
  int64_t shape[LEAT_MAX_RANK];
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
  int64_t wanted, product;
  if (!count_elements(ndim, state->shape, &wanted) || !count_elements(out->ndim, out->dims, &product) ||
      wanted != product) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: what the attribute \"shape\" says does not have as many elements as the product",
                      leati_op_def_of(op)->info.name);
  }
  if (residual != NULL && (residual->ndim != ndim || !leati_same_numbers(residual->shape, state->shape, ndim))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the residual must have the shape that the attribute \"shape\" says",
                      leati_op_def_of(op)->info.name);
  }
  out->ndim = ndim;
  memcpy(out->dims, state->shape, sizeof(state->shape));
  return LEAT_OK;
}

static int32_t matmul_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const matmul_state *state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const b = &call->inputs[1], *const bias = leati_input(call, 2),
                          *const residual = leati_input(call, 3);
  LEATI_TRY(leati_matrix_infer_product(name, &call->inputs[0], b, state->trans_a, state->trans_b, out, err));
  const int64_t columns = leati_matrix_of(b, state->trans_b, false).columns;
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != columns)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the bias of a product with %lld columns must have that shape", name, (long long)columns);
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
  leati_view result = call->outputs[0], *const c = &result;
  if (c->count == 0) {
    return LEAT_OK;
  }
  leati_view a, b, bias, residual;
  leat_shape product;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &a, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[1], &b, err));
  if (state->ndim != 0) {
    LEATI_TRY(leati_matrix_infer_product(leati_op_def_of(op)->info.name, &a, &b, state->trans_a, state->trans_b,
                                         &product, err));
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
  leati_epilogue epilogue;
  return leati_epilogue_read(def, desc, &epilogue, err);
}

/* ---- Operands in place ------------------------------------------------------------------------------------------- */

/* The fewest dimensions of the batch and so many rows of each matrix. */
static int32_t collapse_rows(const leati_matrix *m, int64_t rows, int64_t *dims, int64_t (*strides)[LEAT_MAX_RANK]) {
  const int32_t rank = m->batch.ndim;
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = m->batch.shape[d];
    strides[0][d] = m->batch.strides[d];
  }
  dims[rank] = rows;
  strides[0][rank] = m->row_stride;
  return leati_collapse(rank + 1, dims, 1, strides);
}

/* How an operand may be read four elements at a time; with few rows the order of the sums follows from that. */
static uint32_t quads_of(const leati_matrix *m, uint64_t address, bool first) {
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  const int32_t rank = collapse_rows(m, 1, dims, strides);
  const uint32_t mode = first ? leati_operand_mode(address, m->batch.item_size, m->row_stride, m->rows,
                                                   m->column_stride, m->columns, rank, strides[0])
                              : leati_operand_mode(address, m->batch.item_size, m->column_stride, m->columns,
                                                   m->row_stride, m->rows, rank, strides[0]);
  return mode < LEATI_MODE_SINGLES_K ? mode : LEATI_MODE_SINGLES_K;
}

/* Whether the rows of all matrices of an operand follow each other in one stride: with one matrix for b they are then
 * the rows of one product. */
static bool rows_in_one(const leati_matrix *m) {
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  return collapse_rows(m, m->rows, dims, strides) == 1;
}

static bool repeats(const leati_view *batch) {
  bool found = false;
  for (int32_t d = 0; d < batch->ndim; ++d) {
    found = found || (batch->shape[d] > 1 && batch->strides[d] == 0);
  }
  return found;
}

bool leati_product_reads(const leat_device *device, const leati_view *a, const leati_view *b, const leati_view *c,
                         bool trans_a, bool trans_b, bool first) {
  const leati_view *const view = first ? a : b;
  const bool transposed = first ? trans_a : trans_b;
  leati_view copy = *view;
  leati_view_make_compact(&copy);
  const leati_matrix lies = leati_matrix_of(view, transposed, first), would = leati_matrix_of(&copy, transposed, first);
  const bool neighbours = lies.row_stride == 1 || lies.column_stride == 1 || lies.rows == 1 || lies.columns == 1;
  if (!leati_view_walkable(view) || (!neighbours && !leati_reads_scattered(view->count * view->item_size))) {
    return false;
  }
  const leati_matrix ma = leati_matrix_of(a, trans_a, true), mb = leati_matrix_of(b, trans_b, false);
  const bool one = (int64_t)b->count == mb.rows * mb.columns;
  if (first ? one && rows_in_one(&lies) != rows_in_one(&would) : !one && repeats(&lies.batch)) {
    return false;
  }
  const bool joined = one && rows_in_one(&ma);
  const int64_t rows = joined && mb.columns != 0 ? (int64_t)c->count / mb.columns : ma.rows;
  return !leati_gemm_is_skinny(&device->traits, rows, mb.columns) ||
         quads_of(&lies, view->address, first) == quads_of(&would, 0, first);
}

static bool product_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const matmul_state *state = leati_op_state_const(op);
  if (i > 1) {
    return state->ndim != 0 ? call->inputs[i].compact
                            : leati_view_walkable(&call->inputs[i]) && call->inputs[i].ndim <= 2;
  }
  return leati_product_reads(leati_op_device(op), &call->inputs[0], &call->inputs[1], &call->outputs[0], state->trans_a,
                             state->trans_b, i == 0);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* A product; the rest are its type and attributes. */
#define PRODUCT(name, domain, versions, inputs, kind, ...)                                                          \
  LEATI_OP(name, domain, versions, inputs, (1, 1), __VA_ARGS__, .state_size = sizeof(matmul_state),                 \
           .supports = kind##_supports, .create = matmul_create, .infer = kind##_infer,                             \
           LEATI_KERNELS(LEATI_KERNELS_GEMM_128, LEATI_KERNELS_GEMM_64, LEATI_KERNELS_GEMM_32, LEATI_KERNELS_GEMV), \
           .plan = kind##_plan, .reads_view = product_reads_view)

static const leati_op_def ops[] = {
    PRODUCT("MatMul", "", (9, 13), (2, 2), matmul, LEATI_TYPES(&leati_type_real)),
    PRODUCT("FusedMatMul", "com.microsoft", (1, 1), (2, 2), matmul, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_trans_a, &attribute_trans_b, &attribute_trans_batch_a,
                             &attribute_trans_batch_b)),
    PRODUCT(
        "FusedMatMul", "leat", (1, 1), (2, 4), matmul, LEATI_TYPES(&leati_type_real),
        LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_trans_a, &attribute_trans_b, &leati_attribute_activation,
                         &leati_attribute_activation_params, &leati_attribute_residual_first, &attribute_shape)),
    PRODUCT("Gemm", "", (11, 13), (2, 3), gemm, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta, &attribute_trans_a, &attribute_trans_b)),
    PRODUCT("FusedGemm", "com.microsoft", (1, 1), (2, 3), gemm, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta, &attribute_trans_a, &attribute_trans_b,
                             &leati_attribute_activation, &leati_attribute_activation_alpha,
                             &leati_attribute_activation_beta, &leati_attribute_activation_gamma)),
};

const leati_op_family leati_matmul_family = LEATI_FAMILY(ops);
