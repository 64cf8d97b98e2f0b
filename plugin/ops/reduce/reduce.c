/* SPDX-License-Identifier: BSD-3-Clause */
/* ReduceSum and its kind, ArgMax and ArgMin. */
#include "ops/reduce/reduce.h"

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"
#include "policy/tiling.h"

#define ROWS_ALONG 65536u /* in ROWS_SPEC of kernels/rows.glsl */

uint32_t leati_rows_spec(bool along, uint32_t parts) {
  return parts + (along ? ROWS_ALONG : 0);
}

leati_rows leati_rows_choose(bool along, uint64_t rows, uint64_t count) {
  const uint32_t parts = leati_row_parts(along, rows, count);
  return (leati_rows){.spec = leati_rows_spec(along, parts), .parts = parts, .per_group = LEATI_ROW_THREADS / parts};
}

/* Dimensions of a tensor, those of size 1 left out and those joined that are walked through in one stride. */
typedef struct dims {
  uint32_t rank;
  int64_t shape[LEAT_MAX_RANK], stride[LEAT_MAX_RANK];
  int64_t count;
} dims;

static dims pick_dims(const leati_view *view, uint32_t mask) {
  dims r = {.count = 1};
  for (int32_t d = 0; d < view->ndim; ++d) {
    if ((mask >> d & 1) == 0) {
      continue;
    }
    r.count *= view->shape[d];
    if (view->shape[d] == 1) {
      continue;
    }
    if (r.rank > 0 && r.stride[r.rank - 1] == view->strides[d] * view->shape[d]) {
      r.shape[r.rank - 1] *= view->shape[d];
      r.stride[r.rank - 1] = view->strides[d];
      continue;
    }
    r.shape[r.rank] = view->shape[d];
    r.stride[r.rank++] = view->strides[d];
  }
  return r;
}

static int64_t last_stride(const dims *d) {
  return d->rank > 0 ? d->stride[d->rank - 1] : INT64_MAX;
}

/* Whether the elements of a row are neighbours in memory; else the rows are. */
static bool runs_along(const dims *kept, const dims *reduced) {
  return kept->rank == 0 || last_stride(reduced) < last_stride(kept);
}

/* How a reduction is cut so that it fills the device. */
static void choose_chunks(const leat_device *device, const leati_rows *rows, uint64_t results, uint64_t count,
                          uint32_t *out_chunks, uint32_t *out_chunk) {
  const uint64_t groups = (results + rows->per_group - 1) / rows->per_group;
  *out_chunk = (uint32_t)leati_reduce_chunk(&device->traits, groups, rows->parts, count);
  *out_chunks = *out_chunk < count ? (uint32_t)((count + *out_chunk - 1) / *out_chunk) : 1;
}

/* ---- Reductions ---------------------------------------------------------------------------------------------------
 */

enum { BEFORE_NOTHING, BEFORE_ABS, BEFORE_SQUARE, BEFORE_EXP, BEFORE_DIVIDE, BEFORE_REST };
enum { COMBINE_SUM, COMBINE_PRODUCT, COMBINE_MAX, COMBINE_MIN };
enum { AFTER_NOTHING, AFTER_DIVIDE, AFTER_ROOT, AFTER_LOG, AFTER_LOG_PLUS, AFTER_MEAN };
/* Parts of a reduction, numbered behind the whole ones. */
enum { SUM_OF_QUOTIENTS = LEATI_REDUCE_COUNT, MEAN_OF_RESTS, RECIPE_COUNT };

static const struct {
  uint32_t before, combine, after;
} recipes[RECIPE_COUNT] = {
    [LEATI_REDUCE_SUM] = {BEFORE_NOTHING, COMBINE_SUM, AFTER_NOTHING},
    [LEATI_REDUCE_MEAN] = {BEFORE_NOTHING, COMBINE_SUM, AFTER_DIVIDE},
    [LEATI_REDUCE_MAX] = {BEFORE_NOTHING, COMBINE_MAX, AFTER_NOTHING},
    [LEATI_REDUCE_MIN] = {BEFORE_NOTHING, COMBINE_MIN, AFTER_NOTHING},
    [LEATI_REDUCE_PROD] = {BEFORE_NOTHING, COMBINE_PRODUCT, AFTER_NOTHING},
    [LEATI_REDUCE_L1] = {BEFORE_ABS, COMBINE_SUM, AFTER_NOTHING},
    [LEATI_REDUCE_L2] = {BEFORE_SQUARE, COMBINE_SUM, AFTER_ROOT},
    [LEATI_REDUCE_SUM_SQUARE] = {BEFORE_SQUARE, COMBINE_SUM, AFTER_NOTHING},
    [LEATI_REDUCE_LOG_SUM] = {BEFORE_NOTHING, COMBINE_SUM, AFTER_LOG},
    [LEATI_REDUCE_LOG_SUM_EXP] = {BEFORE_EXP, COMBINE_SUM, AFTER_LOG_PLUS},
    [SUM_OF_QUOTIENTS] = {BEFORE_DIVIDE, COMBINE_SUM, AFTER_NOTHING},
    [MEAN_OF_RESTS] = {BEFORE_REST, COMBINE_SUM, AFTER_MEAN},
};

/* Argument record of kernels/reduce.comp. */
typedef struct reduce_args {
  uint64_t x, y, shift;
  uint32_t results, count;
  uint32_t chunks, chunk;
  uint32_t divisor;
  uint32_t kept_rank, reduced_rank;
  uint32_t kept_shape[LEAT_MAX_RANK];
  int32_t kept_stride[LEAT_MAX_RANK];
  uint32_t reduced_shape[LEAT_MAX_RANK];
  int32_t reduced_stride[LEAT_MAX_RANK];
} reduce_args;

/* By shuffles of subgroups where the device has them for the type, which may be wider than what those exchange. The
 * mean of integers of 32 bits goes through a sum of 64, and what is between floats of 16 bits is float32, so results
 * may be wider than elements, or narrower. */
static leati_kernel reduce_kernel(const leat_device *device, const leati_view *x, const leati_view *y) {
  if (x->type != y->type && ((x->type | y->type) & LEAT_TYPE_FLOAT32) != 0) {
    return x->type == LEAT_TYPE_FLOAT32 ? leati_kernel_find(LEATI_KERNELS_REDUCE_REST, y->type)
                                        : leati_kernel_find(LEATI_KERNELS_REDUCE_PIECES, x->type);
  }
  const leati_kernel_set set = x->type == y->type            ? LEATI_KERNELS_REDUCE
                               : x->item_size < y->item_size ? LEATI_KERNELS_REDUCE_WIDEN
                                                             : LEATI_KERNELS_REDUCE_NARROW;
  const leati_kernel shuffled = set == LEATI_KERNELS_REDUCE && device->physical->shuffles
                                    ? leati_kernel_find(LEATI_KERNELS_REDUCE_SHUFFLED, x->type)
                                    : LEATI_KERNEL_NONE;
  return shuffled != LEATI_KERNEL_NONE ? shuffled : leati_kernel_find(set, x->type);
}

/* One dispatch: `y` has args->results * args->chunks elements. */
static int32_t add_stage(leati_planner *planner, reduce_args *args, const leati_rows *rows, uint32_t before,
                         uint32_t combine, uint32_t after, const leati_view *x, const leati_view *shift,
                         const leati_view *y, leat_error *err) {
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = reduce_kernel(planner->device, x, y),
                   .constants.reduce = {.rows_spec = rows->spec, .before = before, .combine = combine, .after = after}},
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({x, &args->x}, {shift, &args->shift}),
      LEATI_WRITES({y, &args->y})};
  const uint64_t blocks = (args->results + rows->per_group - 1) / rows->per_group;
  leati_groups_linear(planner->device, blocks * args->chunks, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* The type of what is between elements of a type and their result. */
static uint64_t type_between(uint64_t type) {
  return (type & LEATI_TYPES_REAL) != 0 ? LEAT_TYPE_FLOAT32 : type;
}

/* `divisor` is what recipes divide by. */
static int32_t add_recipe(leati_planner *planner, uint32_t recipe, const leati_view *x, uint32_t axes, uint32_t divisor,
                          const leati_view *shift, const leati_view *y, leat_error *err) {
  const dims kept = pick_dims(x, ~axes);
  dims reduced = pick_dims(x, axes);
  if (reduced.rank == 0) {
    /* One dimension, so that the kernel's short way is taken. */
    reduced.rank = 1;
    reduced.shape[0] = reduced.count;
  }
  const bool along = runs_along(&kept, &reduced);
  const uint64_t results = (uint64_t)kept.count, count = (uint64_t)reduced.count;
  const leati_rows rows = leati_rows_choose(along, results, count);
  reduce_args args = {.results = (uint32_t)results,
                      .count = (uint32_t)count,
                      .divisor = divisor,
                      .kept_rank = kept.rank,
                      .reduced_rank = reduced.rank};
  for (uint32_t d = 0; d < kept.rank; ++d) {
    args.kept_shape[d] = (uint32_t)kept.shape[d];
    args.kept_stride[d] = (int32_t)kept.stride[d];
  }
  for (uint32_t d = 0; d < reduced.rank; ++d) {
    args.reduced_shape[d] = (uint32_t)reduced.shape[d];
    args.reduced_stride[d] = (int32_t)reduced.stride[d];
  }
  choose_chunks(planner->device, &rows, results, count, &args.chunks, &args.chunk);
  const uint32_t before = recipes[recipe].before, combine = recipes[recipe].combine, after = recipes[recipe].after;
  if (args.chunks == 1) {
    return add_stage(planner, &args, &rows, before, combine, after, x, shift, y, err);
  }
  leati_view pieces = {.type = type_between(y->type), .ndim = 1, .shape = {(int64_t)(results * args.chunks)}};
  LEATI_TRY(leati_plan_temporary(planner, &pieces, err));
  LEATI_TRY(add_stage(planner, &args, &rows, before, combine, AFTER_NOTHING, x, shift, &pieces, err));
  const leati_rows second = leati_rows_choose(true, results, args.chunks);
  reduce_args rest = {.results = args.results,
                      .count = args.chunks,
                      .chunks = 1,
                      .chunk = args.chunks,
                      .divisor = args.divisor,
                      .kept_rank = 1,
                      .reduced_rank = 1,
                      .kept_shape = {args.results},
                      .kept_stride = {(int32_t)args.chunks},
                      .reduced_shape = {args.chunks},
                      .reduced_stride = {1}};
  return add_stage(planner, &rest, &second, BEFORE_NOTHING, combine, after, &pieces, shift, y, err);
}

int32_t leati_plan_reduction(leati_planner *planner, leati_reduction reduction, const leati_view *given, uint32_t axes,
                             const leati_view *y, leat_error *err) {
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view x;
  LEATI_TRY(leati_plan_walkable(planner, given, &x, err));
  if (y->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a reduction to 2^31 elements or more is not supported");
  }
  const int64_t count = pick_dims(&x, axes).count;
  const uint32_t divisor = count > 0 ? (uint32_t)count : 1;
  leati_view between = {.type = type_between(x.type), .ndim = 1, .shape = {(int64_t)y->count}};
  if (reduction == LEATI_REDUCE_LOG_SUM_EXP) {
    /* The largest element is taken out of the exponents, so that they cannot overflow. */
    LEATI_TRY(leati_plan_temporary(planner, &between, err));
    LEATI_TRY(add_recipe(planner, LEATI_REDUCE_MAX, &x, axes, divisor, NULL, &between, err));
    return add_recipe(planner, reduction, &x, axes, divisor, &between, y, err);
  }
  if (reduction == LEATI_REDUCE_MEAN && x.type == LEAT_TYPE_INT32) {
    /* Fewer than 2^31 elements of 32 bits sum up to 63. */
    between.type = LEAT_TYPE_INT64;
    LEATI_TRY(leati_plan_temporary(planner, &between, err));
    LEATI_TRY(add_recipe(planner, LEATI_REDUCE_SUM, &x, axes, divisor, NULL, &between, err));
    return add_recipe(planner, LEATI_REDUCE_MEAN, &between, 0, divisor, NULL, y, err);
  }
  if (reduction == LEATI_REDUCE_MEAN && x.type == LEAT_TYPE_INT64) {
    /* A sum of elements may need more than 64 bits, that of their quotients and that of the rests do not. */
    LEATI_TRY(leati_plan_temporary(planner, &between, err));
    LEATI_TRY(add_recipe(planner, SUM_OF_QUOTIENTS, &x, axes, divisor, NULL, &between, err));
    return add_recipe(planner, MEAN_OF_RESTS, &x, axes, divisor, &between, y, err);
  }
  return add_recipe(planner, reduction, &x, axes, divisor, NULL, y, err);
}

/* ---- Operators of the Reduce kind ---------------------------------------------------------------------------------
 */

typedef struct reduce_state {
  bool keep;
  bool nothing_if_empty; /* noop_with_empty_axes */
  uint32_t axis_count;   /* from the attribute */
  int64_t axes[LEAT_MAX_RANK];
} reduce_state;

static int32_t reduced_axes(const leat_op *op, const leati_call *call, uint32_t *out, leat_error *err) {
  const reduce_state *state = leati_op_state_const(op);
  const int32_t rank = call->inputs[0].ndim;
  int64_t axes[LEAT_MAX_RANK];
  uint32_t count = state->axis_count;
  const leati_view *input = leati_input(call, 1);
  if (input != NULL) {
    LEATI_TRY(leati_read_ints(input, "axes", LEAT_MAX_RANK, axes, &count, err));
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      axes[i] = state->axes[i];
    }
  }
  *out = 0;
  if (count == 0 && !state->nothing_if_empty) {
    *out = (UINT32_C(1) << rank) - 1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    int32_t axis;
    LEATI_TRY(leati_axis(axes[i], rank, &axis, err));
    *out |= UINT32_C(1) << axis;
  }
  return LEAT_OK;
}

static void reduced_shape(const leati_view *x, uint32_t axes, bool keep, leat_shape *out) {
  out->ndim = 0;
  for (int32_t d = 0; d < x->ndim; ++d) {
    const bool gone = (axes >> d & 1) != 0;
    if (!gone || keep) {
      out->dims[out->ndim++] = gone ? 1 : x->shape[d];
    }
  }
}

static int32_t reduce_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const reduce_state *state = leati_op_state_const(op);
  uint32_t axes;
  LEATI_TRY(reduced_axes(op, call, &axes, err));
  reduced_shape(&call->inputs[0], axes, state->keep, &out[0]);
  return LEAT_OK;
}

static int32_t reduce_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  uint32_t axes;
  LEATI_TRY(reduced_axes(op, call, &axes, err));
  return leati_plan_reduction(planner, (leati_reduction)leati_op_def_of(op)->param, &call->inputs[0], axes,
                              &call->outputs[0], err);
}

/* A view is read in place if its rows are shared out as those of a copy: else sums would be added up in another order.
 */
static bool reduce_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const leati_view *const view = &call->inputs[i];
  leati_view copy = *view;
  uint32_t axes;
  leati_view_make_compact(&copy);
  if (!leati_view_walkable(view) || !leati_view_has_rows(view) || reduced_axes(op, call, &axes, NULL) != LEAT_OK) {
    return false;
  }
  const dims kept = pick_dims(view, ~axes), reduced = pick_dims(view, axes);
  const dims kept_copy = pick_dims(&copy, ~axes), reduced_copy = pick_dims(&copy, axes);
  return runs_along(&kept, &reduced) == runs_along(&kept_copy, &reduced_copy);
}

static int32_t reduce_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  reduce_state *state = leati_op_state(op);
  state->keep = leati_attr_int(desc, "keepdims", 1) != 0;
  state->nothing_if_empty = leati_attr_int(desc, "noop_with_empty_axes", 0) != 0;
  return leati_attr_ints(desc, "axes", LEAT_MAX_RANK, state->axes, &state->axis_count, err);
}

/* What no elements give. */
static int64_t start_of(uint32_t reduction, uint64_t type) {
  const bool narrow = type == LEAT_TYPE_INT32;
  return reduction == LEATI_REDUCE_MAX    ? (narrow ? INT32_MIN : INT64_MIN)
         : reduction == LEATI_REDUCE_MIN  ? (narrow ? INT32_MAX : INT64_MAX)
         : reduction == LEATI_REDUCE_PROD ? 1
                                          : 0;
}

/* Sums and products wrap. */
static int64_t join(uint32_t reduction, int64_t a, int64_t b) {
  switch (reduction) {
    case LEATI_REDUCE_MAX:
      return a > b ? a : b;
    case LEATI_REDUCE_MIN:
      return a < b ? a : b;
    case LEATI_REDUCE_PROD:
      return (int64_t)((uint64_t)a * (uint64_t)b);
    default: /* LEATI_REDUCE_SUM */
      return (int64_t)((uint64_t)a + (uint64_t)b);
  }
}

static void reduce_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  const uint32_t reduction = leati_op_def_of(op)->param;
  const leati_view *const in = &call->inputs[0], *const out = &call->outputs[o];
  uint32_t axes;
  if (reduced_axes(op, call, &axes, NULL) != LEAT_OK) {
    return; /* infer() refused such a call */
  }
  leati_host_walk walk;
  leati_host_walk_begin(&walk, in, 1);
  int64_t stride = 1;
  for (int32_t d = in->ndim; d-- > 0;) {
    const bool gone = (axes >> d & 1) != 0;
    walk.strides[0][d] = gone ? 0 : stride;
    stride *= gone ? 1 : in->shape[d];
  }
  for (uint64_t i = 0; i < out->count; ++i) {
    leati_host_put(out, i, start_of(reduction, out->type));
  }
  for (uint64_t i = 0; i < in->count; ++i) {
    const uint64_t at = (uint64_t)walk.at[0];
    leati_host_put(out, at, join(reduction, leati_host_get(out, at), leati_host_get(in, i)));
    leati_host_walk_next(&walk);
  }
}

static LEATI_TYPE(type_numbers, "T", LEATI_TYPES_REAL | LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
/* As version 11 of ReduceSum has them. */
static LEATI_TYPE(type_numbers_11, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_axes, "axes", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_axes, "axes", INTS);
static LEATI_ATTRIBUTE(attribute_keepdims, "keepdims", INT);
static LEATI_ATTRIBUTE(attribute_noop, "noop_with_empty_axes", INT);
static LEATI_ATTRIBUTE(attribute_last, "select_last_index", INT);

/* ---- ArgMax and ArgMin --------------------------------------------------------------------------------------------
 */

enum { ARG_MAX, ARG_MIN };
enum { STAGE_WHOLE, STAGE_CHUNKS, STAGE_REST };

typedef struct arg_state {
  int64_t axis;
  bool keep, last;
} arg_state;

/* Argument record of kernels/arg_reduce.comp. */
typedef struct arg_args {
  uint64_t x, y, values, places;
  uint32_t results, count;
  uint32_t chunks, chunk;
  int32_t stride;
  uint32_t kept_rank;
  uint32_t kept_shape[LEAT_MAX_RANK];
  int32_t kept_stride[LEAT_MAX_RANK];
} arg_args;

static int32_t arg_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const arg_state *state = leati_op_state_const(op);
  const leati_view *x = &call->inputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
  reduced_shape(x, UINT32_C(1) << axis, state->keep, &out[0]);
  out[0].dtype = leati_dtype_of(LEAT_TYPE_INT64);
  return x->shape[axis] == 0 && leati_product(out->dims, 0, out->ndim) != 0
             ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s over a dimension of size 0 has no answer",
                          leati_op_def_of(op)->info.name)
             : LEAT_OK;
}

static int32_t arg_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const arg_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view x;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &x, err));
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, x.ndim, &axis, err));
  const dims kept = pick_dims(&x, ~(UINT32_C(1) << axis));
  const bool along = kept.rank == 0 || x.strides[axis] < last_stride(&kept);
  const leati_rows rows = leati_rows_choose(along, (uint64_t)kept.count, (uint64_t)x.shape[axis]);
  arg_args args = {.results = (uint32_t)kept.count,
                   .count = (uint32_t)x.shape[axis],
                   .stride = (int32_t)x.strides[axis],
                   .kept_rank = kept.rank};
  for (uint32_t d = 0; d < kept.rank; ++d) {
    args.kept_shape[d] = (uint32_t)kept.shape[d];
    args.kept_stride[d] = (int32_t)kept.stride[d];
  }
  choose_chunks(planner->device, &rows, args.results, args.count, &args.chunks, &args.chunk);
  const uint32_t smallest = leati_op_def_of(op)->param == ARG_MIN;
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_ARG_REDUCE, x.type),
                                               .constants.arg_reduce = {.rows_spec = rows.spec,
                                                                        .smallest = smallest,
                                                                        .last = state->last,
                                                                        .stage = STAGE_WHOLE}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&x, &args.x}),
                                  LEATI_WRITES({y, &args.y})};
  const uint64_t blocks = (args.results + rows.per_group - 1) / rows.per_group;
  leati_groups_linear(planner->device, blocks * args.chunks, 1, dispatch.groups);
  if (args.chunks == 1) {
    return leati_plan_dispatch(planner, &dispatch, err);
  }
  const int64_t pieces = (int64_t)args.results * args.chunks;
  leati_view values = {.type = x.type, .ndim = 1, .shape = {pieces}};
  leati_view places = {.type = LEAT_TYPE_UINT32, .ndim = 1, .shape = {pieces}};
  LEATI_TRY(leati_plan_temporary(planner, &values, err));
  LEATI_TRY(leati_plan_temporary(planner, &places, err));
  dispatch.pipeline.constants.arg_reduce.stage = STAGE_CHUNKS;
  const leati_access written[] = {{&values, &args.values}, {&places, &args.y}};
  dispatch.writes = written;
  dispatch.write_count = 2;
  LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));

  const leati_rows second = leati_rows_choose(true, args.results, args.chunks);
  dispatch.pipeline.constants.arg_reduce.rows_spec = second.spec;
  dispatch.pipeline.constants.arg_reduce.stage = STAGE_REST;
  const leati_access read[] = {{&values, &args.values}, {&places, &args.places}}, result = {y, &args.y};
  dispatch.reads = read;
  dispatch.read_count = 2;
  dispatch.writes = &result;
  dispatch.write_count = 1;
  leati_groups_linear(planner->device, (args.results + second.per_group - 1) / second.per_group, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static bool arg_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]) && leati_view_has_rows(&call->inputs[i]);
}

static int32_t arg_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  arg_state *state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", 0);
  state->keep = leati_attr_int(desc, "keepdims", 1) != 0;
  state->last = leati_attr_int(desc, "select_last_index", 0) != 0;
  return LEAT_OK;
}

/* The spec names no type constraint for the output, so that its type does too. */
static LEATI_TYPE(type_index, "reduced", LEAT_TYPE_INT64);

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define REDUCE_KERNELS                                                                                        \
  LEATI_KERNELS_REDUCE, LEATI_KERNELS_REDUCE_WIDEN, LEATI_KERNELS_REDUCE_NARROW, LEATI_KERNELS_REDUCE_PIECES, \
      LEATI_KERNELS_REDUCE_REST
#define EVALUATED LEATI_EVALUATED(0, LEATI_EVALUATED_WHOLE, reduce_evaluate)
#define DEVICE_ONLY .info.flags = 0
/* The form with an attribute, until version 17 (12 for ReduceSum). */
#define REDUCE_BY_ATTRIBUTE(name, versions, types_, reduction, ...)                                             \
  LEATI_OP(name, "", versions, (1, 1), (1, 1), __VA_ARGS__, LEATI_TYPES(&types_),                               \
           LEATI_ATTRIBUTES(&attribute_axes, &attribute_keepdims), .state_size = sizeof(reduce_state),          \
           .param = (reduction), .create = reduce_create, .infer = reduce_infer, LEATI_KERNELS(REDUCE_KERNELS), \
           .plan = reduce_plan, .reads_view = reduce_reads_view)
/* The form with an input on the host. */
#define REDUCE_BY_INPUT(name, versions, types_, reduction, ...)                                                        \
  LEATI_OP(name, "", versions, (1, 2), (1, 1), __VA_ARGS__, .info.host_inputs = 1u << 1,                               \
           LEATI_TYPES(&types_, &type_axes), LEATI_ATTRIBUTES(&attribute_keepdims, &attribute_noop),                   \
           LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(reduce_state), .param = (reduction), .create = reduce_create, \
           .infer = reduce_infer, LEATI_KERNELS(REDUCE_KERNELS), .plan = reduce_plan, .reads_view = reduce_reads_view)
#define ARG_REDUCE(name, which)                                                                                  \
  LEATI_OP(name, "", (1, 13), (1, 1), (1, 1), LEATI_TYPES(&type_numbers, &type_index),                           \
           LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_keepdims, &attribute_last), LEATI_OUTPUT_TYPES(1), \
           .state_size = sizeof(arg_state), .param = (which), .least_rank = 1, .create = arg_create,             \
           .infer = arg_infer, LEATI_KERNELS(LEATI_KERNELS_ARG_REDUCE), .plan = arg_plan,                        \
           .reads_view = arg_reads_view)

static const leati_op_def ops[] = {
    REDUCE_BY_ATTRIBUTE("ReduceSum", (1, 11), type_numbers_11, LEATI_REDUCE_SUM, EVALUATED),
    REDUCE_BY_INPUT("ReduceSum", (13, 13), type_numbers, LEATI_REDUCE_SUM, EVALUATED),
    REDUCE_BY_ATTRIBUTE("ReduceMean", (1, 13), type_numbers, LEATI_REDUCE_MEAN, DEVICE_ONLY),
    REDUCE_BY_INPUT("ReduceMean", (18, 18), type_numbers, LEATI_REDUCE_MEAN, DEVICE_ONLY),
    REDUCE_BY_ATTRIBUTE("ReduceMax", (1, 13), type_numbers, LEATI_REDUCE_MAX, EVALUATED),
    REDUCE_BY_INPUT("ReduceMax", (18, 20), type_numbers, LEATI_REDUCE_MAX, EVALUATED),
    REDUCE_BY_ATTRIBUTE("ReduceMin", (1, 13), type_numbers, LEATI_REDUCE_MIN, EVALUATED),
    REDUCE_BY_INPUT("ReduceMin", (18, 20), type_numbers, LEATI_REDUCE_MIN, EVALUATED),
    REDUCE_BY_ATTRIBUTE("ReduceProd", (1, 13), type_numbers, LEATI_REDUCE_PROD, EVALUATED),
    REDUCE_BY_INPUT("ReduceProd", (18, 18), type_numbers, LEATI_REDUCE_PROD, EVALUATED),
    REDUCE_BY_ATTRIBUTE("ReduceL1", (1, 13), leati_type_real, LEATI_REDUCE_L1, DEVICE_ONLY),
    REDUCE_BY_INPUT("ReduceL1", (18, 18), leati_type_real, LEATI_REDUCE_L1, DEVICE_ONLY),
    REDUCE_BY_ATTRIBUTE("ReduceL2", (1, 13), leati_type_real, LEATI_REDUCE_L2, DEVICE_ONLY),
    REDUCE_BY_INPUT("ReduceL2", (18, 18), leati_type_real, LEATI_REDUCE_L2, DEVICE_ONLY),
    REDUCE_BY_ATTRIBUTE("ReduceSumSquare", (1, 13), leati_type_real, LEATI_REDUCE_SUM_SQUARE, DEVICE_ONLY),
    REDUCE_BY_INPUT("ReduceSumSquare", (18, 18), leati_type_real, LEATI_REDUCE_SUM_SQUARE, DEVICE_ONLY),
    REDUCE_BY_ATTRIBUTE("ReduceLogSum", (1, 13), leati_type_real, LEATI_REDUCE_LOG_SUM, DEVICE_ONLY),
    REDUCE_BY_INPUT("ReduceLogSum", (18, 28), leati_type_real, LEATI_REDUCE_LOG_SUM, DEVICE_ONLY),
    REDUCE_BY_ATTRIBUTE("ReduceLogSumExp", (1, 13), leati_type_real, LEATI_REDUCE_LOG_SUM_EXP, DEVICE_ONLY),
    REDUCE_BY_INPUT("ReduceLogSumExp", (18, 28), leati_type_real, LEATI_REDUCE_LOG_SUM_EXP, DEVICE_ONLY),
    ARG_REDUCE("ArgMax", ARG_MAX),
    ARG_REDUCE("ArgMin", ARG_MIN),
};

const leati_op_family leati_reduce_family = LEATI_FAMILY(ops);
