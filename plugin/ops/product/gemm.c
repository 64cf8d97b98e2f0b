/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/product/gemm.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/product/kernels/gemm_codes.glsl"

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
    [LEATI_TILE_16] = LEATI_KERNELS_GEMM_16,
};

static const leati_kernel_set matrix_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_GEMM_MATRIX_128,
    [LEATI_TILE_64] = LEATI_KERNELS_GEMM_MATRIX_64,
    [LEATI_TILE_32] = LEATI_KERNELS_GEMM_MATRIX_32,
    [LEATI_TILE_16] = LEATI_KERNELS_GEMM_MATRIX_16,
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

leati_tile leati_gemm_choose_tile(const leat_device *device, leati_tile_work work, leati_gemm_args *args) {
  const leati_gemm_shape shape = shape_of(args);
  leati_gemm_cut cut;
  const leati_tile tile = leati_gemm_cut_tiled(&device->traits, &shape, work, &cut);
  leati_gemm_take_cut(args, &cut);
  return tile;
}

leati_tile leati_gemm_choose_matrix_tile(const leat_device *device, leati_tile_work work, leati_gemm_args *args) {
  const leati_gemm_shape shape = shape_of(args);
  leati_gemm_cut cut;
  const leati_tile tile = leati_gemm_cut_matrices(&device->traits, &shape, work, &cut);
  leati_gemm_take_cut(args, &cut);
  return tile;
}

uint64_t leati_gemm_groups(const leati_gemm_args *args) {
  return (uint64_t)args->tiles * args->splits;
}

static void fill_dividers(leati_gemm_args *args) {
  args->per_tiles = leati_divider_of(args->tiles_m * args->tiles_n);
  args->per_batch = leati_divider_of(args->batch);
  args->per_band = leati_divider_of(LEAT_GEMM_BAND * args->tiles_n);
  args->per_height = leati_divider_of(args->tiles_m % LEAT_GEMM_BAND);
  args->per_period = leati_divider_of(args->bias_period);
}

int32_t leati_plan_tiles(leati_planner *planner, leati_dispatch_desc *dispatch, leati_gemm_args *args,
                         uint32_t tile_size, leat_error *err) {
  fill_dividers(args);
  const uint64_t groups = leati_gemm_groups(args);
  leati_view pieces = {.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {(int64_t)(groups * tile_size)}};
  leati_access writes[] = {dispatch->writes[0], {NULL, &args->pieces}};
  dispatch->multiplications = writes[0].view->count * args->k;
  if (args->splits > 1) {
    LEATI_TRY(leati_plan_temporary(planner, &pieces, err));
    writes[1].view = &pieces;
    dispatch->counter_count = args->tiles;
    dispatch->counters = &args->counters;
  }
  dispatch->writes = writes;
  dispatch->write_count = 2;
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

/* Whether an operand that is read in such a mode may be read eight elements at a time, which have 16 bits each; it then
 * has some, so that a kernel may read eight in any case. */
static bool is_wide(const leati_view *view, uint32_t mode, int64_t stride_i, int64_t count_i, int64_t stride_k,
                    int64_t count_k, int32_t batch_rank, const int64_t *batch) {
  const bool along_k = mode == LEATI_MODE_QUADS_K;
  return view->item_size == 2 && count_i != 0 && count_k != 0 && (along_k || mode == LEATI_MODE_QUADS_I) &&
         leati_operand_runs_fit(8, view->address, view->item_size, along_k ? stride_i : stride_k,
                                along_k ? count_i : count_k, along_k ? count_k : count_i, batch_rank, batch);
}

uint32_t leati_operand_width(leati_tile tile, const leati_view *view, uint32_t mode, int64_t stride_i, int64_t count_i,
                             int64_t stride_k, int64_t count_k, int32_t batch_rank, const int64_t *batch) {
  if (!is_wide(view, mode, stride_i, count_i, stride_k, count_k, batch_rank, batch)) {
    return 0;
  }
  return leati_tile_is_hollow(tile, count_i) ? 1 | 4 : 1;
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

/* The argument record of a product, but for its tiles and addresses. `columns`: elements from one row of c to the next,
 * or of a transposed one from one column to the next. */
static leati_gemm_args fill_args(const leati_gemm *gemm, bool transposed, int64_t columns) {
  const int64_t c_batch = gemm->rows != NULL ? gemm->c_batch : (transposed ? gemm->n : gemm->m) * columns;
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
                          .c_batch = (uint32_t)c_batch,
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

/* leati_gemm_matrix() of a type of 16 bits; all 0 for any other. */
static leati_matrix_shape find_matrix(const leat_device *device, const leati_kernel_set kernels[LEATI_TILE_COUNT],
                                      uint64_t type) {
  const leati_matrix_shape none = {0};
  return leati_kernel_find(kernels[LEATI_TILE_128], type) == LEATI_KERNEL_NONE ? none
                                                                               : leati_device_matrix(device, type);
}

leati_matrix_shape leati_gemm_matrix(const leat_device *device, const leati_kernel_set kernels[LEATI_TILE_COUNT],
                                     uint64_t type, const leati_gemm_args *args) {
  const leati_gemm_shape shape = shape_of(args);
  const bool in_parts = type == LEAT_TYPE_FLOAT32 && device->splits_float32 &&
                        leati_kernel_find(kernels[LEATI_TILE_128], type) != LEATI_KERNEL_NONE &&
                        leati_gemm_parts_pay(&device->traits, &shape);
  return in_parts ? device->matrix_bfloat16 : find_matrix(device, kernels, type);
}

bool leati_gemm_on_matrices(const leat_device *device, uint64_t type, const leati_gemm_args *args) {
  return leati_gemm_matrix(device, matrix_kernels, type, args).m != 0;
}

static uint32_t mode_of_a(const leati_gemm *gemm) {
  return leati_operand_mode(gemm->a->address, gemm->a->item_size, gemm->a_row, gemm->m, gemm->a_k, gemm->k,
                            gemm->batch_rank, gemm->a_batch);
}

static uint32_t mode_of_b(const leati_gemm *gemm) {
  return leati_operand_mode(gemm->b->address, gemm->b->item_size, gemm->b_column, gemm->n, gemm->b_k, gemm->k,
                            gemm->batch_rank, gemm->b_batch);
}

/* ---- Which kernel ------------------------------------------------------------------------------------------------ */

/* A product whose kernel is looked for. */
typedef struct gemm_problem {
  const leat_device *device;
  const leati_gemm *gemm;
  uint32_t mode_a, mode_b;
  uint32_t activation, residual;
  leati_matrix_shape matrix; /* all 0: matrix hardware does not compute it */
  bool skinny;
} gemm_problem;

/* A kind of kernels for products. */
typedef struct gemm_method {
  bool (*applies)(const gemm_problem *problem);
  /* Chooses one, and tiles and splits in the argument record. */
  leati_pipeline_key (*choose)(const gemm_problem *problem, leati_gemm_args *args, uint32_t *out_tile_size);
} gemm_method;

static bool is_skinny(const gemm_problem *problem) {
  return problem->skinny;
}

static leati_pipeline_key choose_gemv(const gemm_problem *problem, leati_gemm_args *args, uint32_t *out_tile_size) {
  const leati_gemm *const gemm = problem->gemm;
  const leati_traits *const traits = &problem->device->traits;
  const bool eights =
      is_wide(gemm->b, problem->mode_b, gemm->b_column, gemm->n, gemm->b_k, gemm->k, gemm->batch_rank, gemm->b_batch);
  const uint32_t along = leati_gemv_along(problem->mode_a, problem->mode_b, eights, args->n, gemm->b_k, gemm->b_column);
  const leati_gemm_shape shape = shape_of(args);
  const leati_gemv_cut cut = leati_gemm_cut_skinny(traits, &shape, along);
  leati_gemm_take_cut(args, &cut.gemm);
  *out_tile_size = 4 * cut.threads; /* four elements of each thread */
  uint32_t rows = 1;
  while (rows < args->m) {
    rows *= 2;
  }
  return (leati_pipeline_key){
      .kernel = leati_kernel_find(LEATI_KERNELS_GEMV, gemm->c->type),
      .constants.gemv = {.rows = rows,
                         .along_k = along,
                         .lanes = cut.lanes,
                         .threads = cut.threads,
                         .activation = problem->activation,
                         .residual = problem->residual,
                         .fours_a = problem->mode_a == LEATI_MODE_QUADS_K && along >= LEATI_ALONG_K_QUADS}};
}

static bool has_matrices(const gemm_problem *problem) {
  return problem->matrix.m != 0;
}

static leati_pipeline_key choose_matrices(const gemm_problem *problem, leati_gemm_args *args, uint32_t *out_tile_size) {
  const leati_gemm *const gemm = problem->gemm;
  const uint32_t subgroup = problem->device->physical->subgroup_size;
  const leati_tile tile = leati_gemm_choose_matrix_tile(problem->device, LEATI_WORK_PRODUCT, args);
  *out_tile_size = leati_tile_size(tile);
  const uint32_t wide_a = leati_operand_width(tile, gemm->a, problem->mode_a, gemm->a_row, gemm->m, gemm->a_k, gemm->k,
                                              gemm->batch_rank, gemm->a_batch);
  const uint32_t wide_b = leati_operand_width(tile, gemm->b, problem->mode_b, gemm->b_column, gemm->n, gemm->b_k,
                                              gemm->k, gemm->batch_rank, gemm->b_batch);
  return (leati_pipeline_key){.kernel = leati_kernel_find(matrix_kernels[tile], gemm->c->type),
                              .constants.gemm_matrix = {.mode_a = problem->mode_a,
                                                        .mode_b = problem->mode_b,
                                                        .activation = problem->activation,
                                                        .residual = problem->residual,
                                                        .spread = gemm->rows != NULL,
                                                        .wide = wide_a | wide_b << 1,
                                                        .subgroup_size = subgroup,
                                                        .matrix_m = problem->matrix.m,
                                                        .matrix_n = problem->matrix.n,
                                                        .matrix_k = problem->matrix.k,
                                                        .threads = subgroup * leati_matrix_subgroups(tile, true)}};
}

static bool always(const gemm_problem *problem) {
  (void)problem;
  return true;
}

static leati_pipeline_key choose_tiles(const gemm_problem *problem, leati_gemm_args *args, uint32_t *out_tile_size) {
  const leati_gemm *const gemm = problem->gemm;
  /* One element of a gate is for all that are read at once. */
  const bool splits_quads = gemm->gate != NULL && problem->mode_b == LEATI_MODE_QUADS_K;
  const leati_tile tile = leati_gemm_choose_tile(problem->device, LEATI_WORK_PRODUCT, args);
  const leati_gemm_shape shape = shape_of(args);
  const leati_kernel_set kernels = leati_gemm_more_slices_pay(&problem->device->traits, &shape, tile, args->splits)
                                       ? LEATI_KERNELS_GEMM_32_SLICES
                                       : tile_kernels[tile];
  *out_tile_size = leati_tile_size(tile);
  return (leati_pipeline_key){.kernel = leati_kernel_find(kernels, gemm->c->type),
                              .constants.gemm = {.mode_a = problem->mode_a,
                                                 .mode_b = splits_quads ? LEATI_MODE_SINGLES_K : problem->mode_b,
                                                 .split = args->splits > 1,
                                                 .activation = problem->activation,
                                                 .residual = problem->residual,
                                                 .spread = gemm->rows != NULL,
                                                 .gated = gemm->gate != NULL}};
}

/* The first of them that applies is taken. */
static const gemm_method methods[] = {
    {is_skinny, choose_gemv},
    {has_matrices, choose_matrices},
    {always, choose_tiles},
};

/* Chooses the kernel of a product, and tiles and splits in its argument record. */
static leati_pipeline_key choose_kernel(const leat_device *device, const leati_gemm *gemm, bool skinny,
                                        leati_gemm_args *args, uint32_t *out_tile_size) {
  gemm_problem problem = {
      .device = device,
      .gemm = gemm,
      .mode_a = mode_of_a(gemm),
      .mode_b = mode_of_b(gemm),
      .activation = gemm->epilogue.activation.operation,
      .residual = leati_epilogue_fill(&gemm->epilogue, gemm->c->type, gemm->residual, &args->epilogue),
      .skinny = skinny};
  if (!skinny && gemm->gate == NULL) {
    problem.matrix = leati_gemm_matrix(device, matrix_kernels, gemm->c->type, args);
  }
  const gemm_method *method = methods;
  while (!method->applies(&problem)) {
    ++method;
  }
  return method->choose(&problem, args, out_tile_size);
}

/* Whether a product of small m or n would go to matrix hardware as well as to the kernel for those: where each
 * element of the larger operand is loaded by itself, matrices wait longer for them. */
static bool goes_to_matrices(const leat_device *device, const leati_gemm *gemm) {
  return find_matrix(device, matrix_kernels, gemm->c->type).m != 0 &&
         (gemm->m <= gemm->n ? mode_of_b(gemm) : mode_of_a(gemm)) <= LEATI_MODE_QUADS_I;
}

/* Whether columns of c that are spread are fours of neighbours, each of which begins at a multiple of four. */
static bool runs_of_four(const leati_gemm *gemm) {
  bool fours = gemm->columns->strides[3] == 1 && gemm->columns->shape[2] % 4 == 0 && gemm->c_batch % 4 == 0;
  for (uint32_t d = 0; d < 4; ++d) {
    fours = fours && gemm->rows->strides[d] % 4 == 0 && (d == 3 || gemm->columns->strides[d] % 4 == 0);
  }
  return fours;
}

void leati_gemm_select(const leat_device *device, const leati_gemm *given, leati_gemm_config *out) {
  leati_gemm *const gemm = &out->gemm;
  *gemm = *given;
  join_batch(gemm);
  /* Of c, which lies in memory as it is however we look at it. */
  const int64_t columns = gemm->c_row != 0 ? gemm->c_row : gemm->n;
  const bool on_matrices = goes_to_matrices(device, gemm);
  out->skinny =
      gemm->gate == NULL && gemm->rows == NULL && leati_gemm_is_skinny(&device->traits, on_matrices, gemm->m, gemm->n);
  out->transposed = out->skinny && leati_gemm_is_transposed(&device->traits, on_matrices, gemm->m, gemm->n);
  if (out->transposed) {
    transpose(gemm);
  }
  out->args = fill_args(gemm, out->transposed, columns);
  out->pipeline = choose_kernel(device, gemm, out->skinny, &out->args, &out->tile_size);
  const bool runs = gemm->rows != NULL ? runs_of_four(gemm) : out->args.n % 4 == 0 && columns % 4 == 0;
  out->args.vector = runs && gemm->c->address % (4 * gemm->c->item_size) == 0 ? LEATI_VECTOR_C : 0;
  if (gemm->residual != NULL && gemm->residual_column == 1 &&
      leati_operand_runs_fit(4, gemm->residual->address, gemm->residual->item_size, gemm->residual_row, gemm->m,
                             gemm->n, gemm->batch_rank, gemm->residual_batch)) {
    out->args.vector |= LEATI_VECTOR_RESIDUAL;
  }
}

bool leati_gemm_gains_along_k(const leat_device *device, const leati_gemm *gemm) {
  if (gemm->b_column != 1 || gemm->b_k <= 1 || gemm->k % 8 != 0 ||
      find_matrix(device, matrix_kernels, gemm->c->type).m == 0) {
    return false;
  }
  leati_gemm turned = *gemm;
  turned.b_column = gemm->k;
  turned.b_k = 1;
  leati_gemm_config now, then; /* neither by the kernel for small m, which may take but one of them */
  leati_gemm_select(device, gemm, &now);
  leati_gemm_select(device, &turned, &then);
  const leati_gemm_shape shape = shape_of(&now.args);
  return !now.skinny && !then.skinny && leati_gemm_along_k_pays(now.tile_size, &shape);
}

/* Fills in what the argument record and the pipeline of a product have for its factor, if there is one. */
static void add_a_prologue(leati_gemm_config *config) {
  const leati_a_prologue *const factor = &config->gemm.factor;
  if (factor->view != NULL) {
    config->pipeline.constants.gemv.factor = factor->norm ? LEAT_FACTOR_NORM : LEAT_FACTOR_ELEMENTS;
    config->args.factor_row = factor->one_row ? 0 : config->args.k;
    config->args.epsilon = factor->epsilon;
  }
}

/* Argument record of kernels/gemm.comp and gemm_matrix.comp of a product whose result is spread. */
typedef struct spread_args {
  leati_gemm_args gemm;
  leati_spread rows, columns;
} spread_args;
_Static_assert(offsetof(spread_args, rows) == sizeof(leati_gemm_args) && sizeof(spread_args) <= LEATI_ARGS_MAX,
               "as std430 lays it out, and it fits");

int32_t leati_plan_gemm(leati_planner *planner, const leati_gemm *gemm, leat_error *err) {
  if (gemm->c->count == 0) {
    return LEAT_OK;
  }
  if (gemm->c->count > INT32_MAX || gemm->k > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a matrix product with 2^31 elements or more is not supported");
  }
  leati_gemm_config config;
  leati_gemm_select(planner->device, gemm, &config);
  if (gemm->factor.view != NULL && !leati_gemm_takes_a_prologue(&config)) {
    return leati_fail(err, LEAT_ERROR_INTERNAL, "a factor of a matrix product of %u rows", config.args.m);
  }
  add_a_prologue(&config);
  const bool spreads = gemm->rows != NULL;
  spread_args record = {.gemm = config.args};
  if (spreads) {
    record.rows = *gemm->rows;
    record.columns = *gemm->columns;
  }
  leati_gemm_args *const args = &record.gemm;
  leati_dispatch_desc dispatch = {
      .pipeline = config.pipeline,
      .args = &record,
      .args_size = spreads ? sizeof(record) : sizeof(*args),
      LEATI_READS({config.gemm.a, &args->a}, {config.gemm.b, &args->b}, {config.gemm.bias, &args->bias},
                  {config.gemm.gate, &args->gate}, {gemm->factor.view, &args->gate},
                  {config.gemm.residual, &args->epilogue.residual}),
      LEATI_WRITES({config.gemm.c, &args->c})};
  return leati_plan_tiles(planner, &dispatch, args, config.tile_size, err);
}
