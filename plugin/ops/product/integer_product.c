/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/product/integer_product.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/dims.h"
#include "ops/core/matrix_view.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/function.h"
#include "ops/product/gemm.h"

/* Argument record; Args in kernels/integer.glsl. */
typedef struct integer_args {
  leati_gemm_args gemm;
  uint64_t a_zero, b_zero;
  uint64_t a_scale, b_scale;
  uint64_t y_scale, y_zero;
  int32_t a_place_row, b_place_column;
  int32_t a_place_batch[LEATI_GEMM_BATCH_MAX], b_place_batch[LEATI_GEMM_BATCH_MAX];
  uint32_t a_zeros, b_zeros;
  uint32_t a_turn, b_turn;
  int32_t y_low;
  uint32_t words, ending;
} integer_args;
_Static_assert(offsetof(integer_args, a_zero) == sizeof(leati_gemm_args), "as std430 lays it out");

/* Bits of integer_args::words. */
#define WORDS_A 1u
#define WORDS_B 2u
/* And of integer_args::ending. */
#define ENDING_FLOATS 1u
#define ENDING_RELU 2u

/* Kernels: without, and with products of four pairs of int8 or uint8 at once. */
static const leati_kernel tile_kernels[2][LEATI_TILE_COUNT] = {
    {LEATI_KERNEL_GEMM_INTEGER_128, LEATI_KERNEL_GEMM_INTEGER_64, LEATI_KERNEL_GEMM_INTEGER_32},
    {LEATI_KERNEL_GEMM_DOTS_128, LEATI_KERNEL_GEMM_DOTS_64, LEATI_KERNEL_GEMM_DOTS_32}};
static const leati_kernel_set matrix_kernels[2][LEATI_TILE_COUNT] = {
    {LEATI_KERNELS_GEMM_INTEGER_MATRIX_128, LEATI_KERNELS_GEMM_INTEGER_MATRIX_64, LEATI_KERNELS_GEMM_INTEGER_MATRIX_32},
    {LEATI_KERNELS_GEMM_DOTS_MATRIX_128, LEATI_KERNELS_GEMM_DOTS_MATRIX_64, LEATI_KERNELS_GEMM_DOTS_MATRIX_32}};
static const leati_kernel few_kernels[2] = {LEATI_KERNEL_GEMV_INTEGER, LEATI_KERNEL_GEMV_DOTS};

uint64_t leati_integer_product_type(const leati_view *a_scale, const leati_view *y_scale, const leati_view *y_zero) {
  return y_zero != NULL    ? y_zero->type
         : y_scale != NULL ? LEAT_TYPE_UINT8
         : a_scale != NULL ? LEAT_TYPE_FLOAT32
                           : LEAT_TYPE_INT32;
}

int32_t leati_integer_product_read(const leati_op_def *def, const leati_op_desc *desc, bool *out_relu,
                                   leat_error *err) {
  leati_function activation;
  LEATI_TRY(leati_function_read_activation(def, desc, &activation, err));
  *out_relu = activation.operation == LEAT_EW_RELU;
  return *out_relu || activation.operation == LEAT_EW_IDENTITY
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: an activation other than Relu is not supported",
                          def->info.name);
}

/* A batch that walks through the rows of a, and their scales and zero points, in one stride, while what b has and the
 * bias stay, is more rows. */
static void join_batch(integer_args *args) {
  leati_gemm_args *const gemm = &args->gemm;
  if (gemm->batch_rank != 1 || gemm->b_batch[0] != 0 || args->b_place_batch[0] != 0 || gemm->bias_row != 0) {
    return;
  }
  if (gemm->m == 1) {
    gemm->a_row = gemm->a_batch[0];
    args->a_place_row = args->a_place_batch[0];
  } else if (gemm->a_batch[0] != (int64_t)gemm->m * gemm->a_row ||
             args->a_place_batch[0] != (int64_t)gemm->m * args->a_place_row) {
    return;
  }
  gemm->m *= gemm->batch;
  gemm->batch = 1;
  gemm->batch_rank = 0;
}

/* An operand: where it is, and its strides and counts along rows (columns) and k, and along the batch. */
typedef struct side {
  uint64_t address;
  int64_t stride_i, count_i, stride_k, count_k;
  int32_t batch_rank;
  int64_t batch[LEATI_GEMM_BATCH_MAX];
} side;

static side side_of(const leati_gemm_args *gemm, const leati_view *view, bool first) {
  side s = {.address = view->address,
            .stride_i = first ? gemm->a_row : gemm->b_column,
            .count_i = first ? gemm->m : gemm->n,
            .stride_k = first ? gemm->a_k : gemm->b_k,
            .count_k = gemm->k,
            .batch_rank = (int32_t)gemm->batch_rank};
  for (int32_t d = 0; d < s.batch_rank; ++d) {
    s.batch[d] = first ? gemm->a_batch[d] : gemm->b_batch[d];
  }
  return s;
}

/* Whether `run` bytes may be read at once along k, or along rows (columns). */
static bool runs_along_k(const side *s, uint32_t run) {
  return s->stride_k == 1 &&
         leati_operand_runs_fit(run, s->address, 1, s->stride_i, s->count_i, s->count_k, s->batch_rank, s->batch);
}
static bool runs_along_i(const side *s, uint32_t run) {
  return s->stride_i == 1 &&
         leati_operand_runs_fit(run, s->address, 1, s->stride_k, s->count_k, s->count_i, s->batch_rank, s->batch);
}

/* How the other kernels read one: sixteen bytes along k, or four along rows (columns), or one by one. */
static uint32_t byte_mode(const side *s) {
  return leati_gemm_mode(runs_along_k(s, 16), runs_along_i(s, 4), s->stride_k, s->stride_i);
}

/* How the kernel for matrix hardware does, if it can; modes of kernels/gemm_integer_matrix.comp. */
enum { SIXTEENS_K, ALONG_I, FOURS_K };
static bool is_read_by_four(const side *s) {
  return s->count_k % 4 == 0 && (runs_along_k(s, 4) || runs_along_i(s, 4));
}
static uint32_t matrix_mode(const side *s) {
  return runs_along_k(s, 16) ? SIXTEENS_K : runs_along_i(s, 4) ? ALONG_I : FOURS_K;
}
static uint32_t matrix_run(const side *s) {
  return runs_along_i(s, 16) ? 16 : runs_along_i(s, 8) ? 8 : 4;
}

/* The kernels for matrix hardware; all LEATI_KERNEL_NONE where the build has none. */
static leati_kernel matrix_kernel(const leat_device *device, leati_tile tile) {
  return leati_kernel_find(matrix_kernels[device->physical->dots ? 1 : 0][tile], LEAT_TYPE_INT8);
}

/* Chooses one of them, and tiles and splits. Policy counts k in 16 bits, of which a tile has as many whatever they are.
 */
static leati_pipeline_key choose_matrix_kernel(const leat_device *device, const side *a, const side *b,
                                               leati_gemm_args *gemm, uint32_t *out_tile_size) {
  const leati_matrix_shape matrix = leati_device_matrix(device, LEAT_TYPE_INT8);
  const uint32_t k = gemm->k, subgroup = device->physical->subgroup_size;
  gemm->k = (k + 1) / 2;
  const leati_tile tile = leati_gemm_choose_matrix_tile(device, LEATI_WORK_OTHER, gemm);
  gemm->k = k;
  gemm->k_chunk *= 2;
  *out_tile_size = leati_tile_size(tile);
  return (leati_pipeline_key){
      .kernel = matrix_kernel(device, tile),
      .constants.gemm_integer_matrix = {.mode_a = matrix_mode(a),
                                        .mode_b = matrix_mode(b),
                                        .run_a = matrix_run(a),
                                        .run_b = matrix_run(b),
                                        .subgroup_size = subgroup,
                                        .matrix_m = matrix.m,
                                        .matrix_n = matrix.n,
                                        .matrix_k = matrix.k / 2,
                                        .threads = subgroup * leati_matrix_subgroups(tile, false)}};
}

/* Chooses the kernel, and tiles and splits in its argument record. */
static leati_pipeline_key choose_kernel(const leat_device *device, const leati_view *a, const leati_view *b,
                                        integer_args *args, uint32_t *out_tile_size) {
  leati_gemm_args *const gemm = &args->gemm;
  const int dots = device->physical->dots ? 1 : 0;
  const side side_a = side_of(gemm, a, true), side_b = side_of(gemm, b, false);
  if (runs_along_k(&side_a, 4)) {
    args->words |= WORDS_A;
  }
  if (runs_along_k(&side_b, 4)) {
    args->words |= WORDS_B;
  }
  if (gemm->m <= device->traits.tuning.gemv_rows) {
    const leati_gemm_shape shape = {.m = gemm->m, .n = gemm->n, .k = gemm->k, .batch = gemm->batch};
    const uint32_t along = leati_gemv_along_bytes(byte_mode(&side_b), gemm->b_k, gemm->b_column);
    const leati_gemv_cut cut = leati_bytes_cut(&device->traits, &shape, along);
    leati_gemm_take_cut(gemm, &cut.gemm);
    uint32_t rows = 1;
    while (rows < gemm->m) {
      rows *= 2;
    }
    *out_tile_size = rows * cut.lanes * (along == LEATI_ALONG_COLUMNS_QUADS ? 4 : 1);
    return (leati_pipeline_key){.kernel = few_kernels[dots],
                                .constants.gemv_integer = {.rows = rows, .along_k = along, .lanes = cut.lanes}};
  }
  if (leati_device_matrix(device, LEAT_TYPE_INT8).m != 0 &&
      matrix_kernel(device, LEATI_TILE_128) != LEATI_KERNEL_NONE && gemm->k != 0 && is_read_by_four(&side_a) &&
      is_read_by_four(&side_b)) {
    return choose_matrix_kernel(device, &side_a, &side_b, gemm, out_tile_size);
  }
  const leati_tile tile = leati_gemm_choose_tile(device, LEATI_WORK_OTHER, gemm);
  *out_tile_size = leati_tile_size(tile);
  return (leati_pipeline_key){
      .kernel = tile_kernels[dots][tile],
      .constants.gemm_integer = {
          .mode_a = byte_mode(&side_a), .mode_b = byte_mode(&side_b), .split = gemm->splits > 1}};
}

/* The stride of a scale or zero point from one row (column) of the operand to the next, and those along the batch of
 * the result. */
static int64_t place_strides(const leati_view *place, bool first, int32_t rank, const int64_t *dims, int64_t *out) {
  leati_view batch = *place;
  batch.ndim = place->ndim > 2 ? place->ndim - 2 : 0;
  leati_broadcast_strides(&batch, rank, dims, out);
  const int32_t d = place->ndim == 1 ? 0 : place->ndim - (first ? 2 : 1);
  return place->count == 1 || place->shape[d] == 1 ? 0 : place->strides[d];
}

/* The product's dimensions and strides, but for its tiles and addresses; places may be absent. */
static integer_args fill_args(const leati_view *a, const leati_view *b, bool trans_b, const leati_view *a_place,
                              const leati_view *b_place, const leati_view *c) {
  const leati_matrix ma = leati_matrix_of(a, false, true), mb = leati_matrix_of(b, trans_b, false);
  int64_t dims[LEAT_MAX_RANK], strides[4][LEAT_MAX_RANK] = {{0}};
  int32_t rank = c->ndim - (a->ndim > 1) - (b->ndim > 1);
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = c->shape[d];
  }
  leati_broadcast_strides(&ma.batch, rank, dims, strides[0]);
  leati_broadcast_strides(&mb.batch, rank, dims, strides[1]);
  integer_args args = {
      .gemm = {.m = (uint32_t)ma.rows,
               .n = (uint32_t)mb.columns,
               .k = (uint32_t)ma.columns,
               .batch = 1,
               .a_row = (int32_t)ma.row_stride,
               .a_k = (int32_t)ma.column_stride,
               .b_k = (int32_t)mb.row_stride,
               .b_column = (int32_t)mb.column_stride,
               .c_batch = (uint32_t)(ma.rows * mb.columns)},
      .a_place_row = a_place->present ? (int32_t)place_strides(a_place, true, rank, dims, strides[2]) : 0,
      .b_place_column = b_place->present ? (int32_t)place_strides(b_place, false, rank, dims, strides[3]) : 0,
      .a_turn = (a->type & LEATI_TYPES_UNSIGNED) != 0 ? 0x80808080u : 0,
      .b_turn = (b->type & LEATI_TYPES_UNSIGNED) != 0 ? 0x80808080u : 0};
  rank = rank > 0 ? leati_collapse(rank, dims, 4, strides) : 0;
  args.gemm.batch_rank = (uint32_t)rank;
  for (int32_t d = 0; d < rank; ++d) {
    args.gemm.batch *= (uint32_t)dims[d];
    args.gemm.batch_shape[d] = (uint32_t)dims[d];
    args.gemm.a_batch[d] = (int32_t)strides[0][d];
    args.gemm.b_batch[d] = (int32_t)strides[1][d];
    args.a_place_batch[d] = (int32_t)strides[2][d];
    args.b_place_batch[d] = (int32_t)strides[3][d];
  }
  return args;
}

/* A small input as kernels take it, compact and, of a float, float32; absent if there is none. */
static int32_t take_small(leati_planner *planner, const leati_view *given, leati_view *out, leat_error *err) {
  *out = (leati_view){.present = false};
  if (given == NULL) {
    return LEAT_OK;
  }
  if ((given->type & LEATI_TYPES_HALF) != 0) {
    *out = (leati_view){.type = LEAT_TYPE_FLOAT32, .ndim = given->ndim};
    memcpy(out->shape, given->shape, sizeof(out->shape));
    LEATI_TRY(leati_plan_temporary(planner, out, err));
    return leati_plan_cast(planner, given, out, err);
  }
  return leati_plan_compact(planner, given, out, err);
}

static const leati_view *if_present(const leati_view *view) {
  return view->present ? view : NULL;
}

/* The inputs of a product as kernels take them; what is absent has no address. */
typedef struct taken {
  leati_view a, b, bias;
  leati_view a_zero, b_zero, y_zero;
  leati_view a_scale, b_scale, y_scale;
} taken;

static int32_t take_all(leati_planner *planner, const leati_integer_product *product, taken *out, leat_error *err) {
  LEATI_TRY(leati_plan_walkable(planner, product->a, &out->a, err));
  LEATI_TRY(leati_plan_walkable(planner, product->b, &out->b, err));
  LEATI_TRY(take_small(planner, product->bias, &out->bias, err));
  LEATI_TRY(take_small(planner, product->a_zero, &out->a_zero, err));
  LEATI_TRY(take_small(planner, product->b_zero, &out->b_zero, err));
  LEATI_TRY(take_small(planner, product->y_zero, &out->y_zero, err));
  LEATI_TRY(take_small(planner, product->a_scale, &out->a_scale, err));
  LEATI_TRY(take_small(planner, product->b_scale, &out->b_scale, err));
  return take_small(planner, product->y_scale, &out->y_scale, err);
}

/* Where the bias of a sum is. */
static void take_bias(const leati_integer_product *product, const leati_view *bias, leati_gemm_args *gemm) {
  gemm->bias_period = 1;
  if (bias->present && product->row_bias) {
    gemm->bias_row = 1;
    gemm->bias_batch = (int32_t)gemm->m;
    gemm->bias_period = (uint32_t)(bias->count / gemm->m);
  } else if (bias->present) {
    gemm->bias_column = 1;
  }
}

int32_t leati_plan_integer_product(leati_planner *planner, const leati_integer_product *product, leat_error *err) {
  const leati_view *const c = product->c;
  if (c->count == 0) {
    return LEAT_OK;
  }
  if (c->count > INT32_MAX || leati_matrix_of(product->a, false, true).columns > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a matrix product with 2^31 elements or more is not supported");
  }
  taken in;
  LEATI_TRY(take_all(planner, product, &in, err));
  /* Where there are scales, a zero point has the same place, or is one for all. */
  integer_args args = fill_args(&in.a, &in.b, product->trans_b, in.a_scale.present ? &in.a_scale : &in.a_zero,
                                in.b_scale.present ? &in.b_scale : &in.b_zero, c);
  args.a_zeros = in.a_zero.count > 1;
  args.b_zeros = in.b_zero.count > 1;
  args.y_low = c->type == LEAT_TYPE_INT8 ? INT8_MIN : 0;
  args.ending = (product->floats ? ENDING_FLOATS : 0) | (product->relu ? ENDING_RELU : 0);
  take_bias(product, &in.bias, &args.gemm);
  args.gemm.c_row = (int32_t)(product->c_row != 0 ? product->c_row : args.gemm.n);
  args.gemm.c_batch = args.gemm.m * (uint32_t)args.gemm.c_row;
  join_batch(&args);
  args.gemm.vector =
      args.gemm.n % 4 == 0 && args.gemm.c_row % 4 == 0 && c->address % (4 * c->item_size) == 0 ? LEATI_VECTOR_C : 0;
  uint32_t tile_size;
  leati_dispatch_desc dispatch = {
      .pipeline = choose_kernel(planner->device, &in.a, &in.b, &args, &tile_size),
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&in.a, &args.gemm.a}, {&in.b, &args.gemm.b}, {if_present(&in.bias), &args.gemm.bias},
                  {if_present(&in.a_zero), &args.a_zero}, {if_present(&in.b_zero), &args.b_zero},
                  {if_present(&in.y_zero), &args.y_zero}, {if_present(&in.a_scale), &args.a_scale},
                  {if_present(&in.b_scale), &args.b_scale}, {if_present(&in.y_scale), &args.y_scale}),
      LEATI_WRITES({c, &args.gemm.c})};
  return leati_plan_tiles(planner, &dispatch, &args.gemm, tile_size, err);
}
