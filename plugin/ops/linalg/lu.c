/* SPDX-License-Identifier: BSD-3-Clause */
/* LU and LUSolve, and what is made of LU factors: Det and Inverse. Panels of columns are factored one after the other,
 * each by a workgroup; what is right of a panel follows by a solution and a product. */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"
#include "ops/linalg/matrix_block.h"
#include "ops/movement/fill.h"

/* Threads that swap rows, a column each: kernels/swap_rows.comp. */
#define SWAP_THREADS 64
/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* What a matrix and its factors are planned with. */
typedef struct factors {
  leati_block a;            /* becomes the factors */
  const leati_view *pivots; /* int32, min(rows, columns) for each matrix */
  const leati_view *info;   /* int32, one for each */
} factors;

static uint32_t matrices_of(const factors *f) {
  return leati_matrices_of(f->a.tensor);
}

static int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* How a workgroup factors a panel: kernels/lu_panel.comp has these as its constants. */
typedef struct panel_cut {
  uint32_t threads;
  uint32_t held; /* elements of shared memory for a copy of the panel; 1: it is in global memory */
} panel_cut;

/* A thread for each row, as far as they go. Few numbers, because each pair makes a pipeline. */
static panel_cut panel_cut_of(const leat_device *device, uint64_t type, int64_t rows) {
  const uint32_t size = type == LEAT_TYPE_FLOAT64 ? 8 : 4;
  panel_cut cut = {.threads = 32, .held = 1};
  while (cut.threads < rows && cut.threads * 2 <= device->traits.threads && cut.threads < 1024) {
    cut.threads *= 2;
  }
  /* Beside the copy: the search for the pivot, and two rows. */
  const uint32_t other = cut.threads * (size + 4) + 2 * LEATI_BLOCK * size, all = cut.threads * LEATI_BLOCK;
  if (rows <= cut.threads && all * size + other <= device->traits.shared) {
    cut.held = all;
  }
  return cut;
}

/* Plans the factors of columns [at, at + columns), from row `at` down. */
static int32_t plan_panel(leati_planner *planner, const factors *f, int64_t at, int64_t columns, const leati_view *copy,
                          leat_error *err) {
  const int64_t rows = f->a.rows - at;
  const leati_block panel = leati_block_part(f->a, at, at, rows, columns);
  const uint64_t type = f->a.tensor->type;
  const panel_cut cut = panel_cut_of(planner->device, type, rows);
  const struct {
    leati_block_args a;
    uint64_t copy, pivots, info;
    uint32_t rows, columns, first, pivot_count, matrices;
  } args = {.a = leati_block_args_of(&panel),
            .rows = (uint32_t)rows,
            .columns = (uint32_t)columns,
            .first = (uint32_t)at,
            .pivot_count = (uint32_t)least_of(f->a.rows, f->a.columns),
            .matrices = matrices_of(f)};
  /* Rounds of a thread: rows of its own, in each of them columns. */
  LEATI_TRY(leati_check_rounds(planner->device,
                               (uint64_t)((rows - 1) / cut.threads + 1) * (uint64_t)(columns * (columns + 4)) + 1024,
                               "LU factors", err));
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_LU_PANEL, type),
                                               .constants.lu_panel = {.threads = cut.threads, .held = cut.held}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  .multiplications = (uint64_t)(rows * columns * columns) * args.matrices,
                                  LEATI_WRITES({f->a.tensor, &args.a.tensor}, {cut.held == 1 ? copy : NULL, &args.copy},
                                               {f->pivots, &args.pivots}, {f->info, &args.info})};
  leati_groups_linear(planner->device, args.matrices, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Rows that are swapped as pivots [first, last) say, but for `skipped` columns from `skip` on. */
typedef struct swap {
  leati_block x;
  const leati_view *pivots, *info; /* info: NULL, or nothing is done for matrices where it is not 0 */
  int64_t pivot_count;             /* of a matrix */
  int64_t first, last, skip, skipped;
  bool backward;
} swap;

static int32_t plan_swap(leati_planner *planner, const swap *s, leat_error *err) {
  const uint32_t matrices = leati_matrices_of(s->x.tensor), columns = (uint32_t)(s->x.columns - s->skipped);
  if (columns == 0) {
    return LEAT_OK;
  }
  const struct {
    leati_block_args x;
    uint64_t pivots, info;
    uint32_t rows, columns, matrices;
    leati_divider per_columns;
    uint32_t skip, skipped, first, last, pivot_count, backward;
  } args = {.x = leati_block_args_of(&s->x),
            .rows = (uint32_t)s->x.rows,
            .columns = columns,
            .matrices = matrices,
            .per_columns = leati_divider_of(columns),
            .skip = (uint32_t)s->skip,
            .skipped = (uint32_t)s->skipped,
            .first = (uint32_t)s->first,
            .last = (uint32_t)s->last,
            .pivot_count = (uint32_t)s->pivot_count,
            .backward = s->backward ? 1 : 0};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_SWAP_ROWS, s->x.tensor->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({s->pivots, &args.pivots}, {s->info, &args.info}),
                                  LEATI_WRITES({s->x.tensor, &args.x.tensor})};
  leati_groups_linear(planner->device, (uint64_t)matrices * columns, SWAP_THREADS, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Plans the factors of matrices, in their place. */
static int32_t plan_factors(leati_planner *planner, const factors *f, leat_error *err) {
  const int64_t rows = f->a.rows, columns = f->a.columns, steps = least_of(rows, columns);
  leati_view copy = {
      .type = f->a.tensor->type, .ndim = 3, .shape = {matrices_of(f), least_of(LEATI_BLOCK, steps), rows}};
  if (panel_cut_of(planner->device, copy.type, rows).held == 1) {
    LEATI_TRY(leati_plan_temporary(planner, &copy, err));
  }
  for (int64_t at = 0; at < steps; at += LEATI_BLOCK) {
    const int64_t width = least_of(LEATI_BLOCK, steps - at), right = at + width;
    LEATI_TRY(plan_panel(planner, f, at, width, &copy, err));
    const swap others = {
        .x = f->a, .pivots = f->pivots, .pivot_count = steps, .first = at, .last = right, .skip = at, .skipped = width};
    LEATI_TRY(plan_swap(planner, &others, err));
    if (right == columns) {
      continue;
    }
    const leati_block l = leati_block_part(f->a, at, at, width, width);
    const leati_block u = leati_block_part(f->a, at, right, width, columns - right);
    LEATI_TRY(leati_plan_forward(planner, &l, &u, true, NULL, err));
    if (right < rows) {
      const leati_block below = leati_block_part(f->a, right, at, rows - right, width);
      const leati_block rest = leati_block_part(f->a, right, right, rows - right, columns - right);
      LEATI_TRY(leati_plan_subtract_product(planner, &below, &u, &rest, false, NULL, err));
    }
  }
  return LEAT_OK;
}

/* Plans the solution of A x = x, or with `transposed` of A' x = x, of the factors of A. Nothing is done for matrices
 * whose element of `info`, if that is there, is not 0. */
static int32_t plan_solution(leati_planner *planner, const leati_block *lu, const leati_view *pivots,
                             const leati_block *x, bool transposed, const leati_view *info, leat_error *err) {
  const swap swapped = {
      .x = *x, .pivots = pivots, .info = info, .pivot_count = lu->rows, .last = lu->rows, .backward = transposed};
  const leati_block upside_down = leati_block_rows_reversed(*x);
  if (transposed) {
    /* U' is lower triangular, and so is L' from its end on. */
    const leati_block upper = leati_block_transposed(*lu), lower = leati_block_reversed(leati_block_transposed(*lu));
    LEATI_TRY(leati_plan_forward(planner, &upper, x, false, info, err));
    LEATI_TRY(leati_plan_forward(planner, &lower, &upside_down, true, info, err));
    return plan_swap(planner, &swapped, err);
  }
  const leati_block upper = leati_block_reversed(*lu);
  LEATI_TRY(plan_swap(planner, &swapped, err));
  LEATI_TRY(leati_plan_forward(planner, lu, x, true, info, err));
  return leati_plan_forward(planner, &upper, &upside_down, false, info, err);
}

/* A compact copy of a tensor, which may be written. */
static int32_t plan_own(leati_planner *planner, const leati_view *from, leati_view *out, leat_error *err) {
  *out = (leati_view){.type = from->type, .ndim = from->ndim};
  memcpy(out->shape, from->shape, sizeof(out->shape));
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  return leati_plan_strided_copy(planner, from, out, err);
}

/* Pivots that nobody but this plan wants. */
static int32_t plan_pivots(leati_planner *planner, const leati_view *a, leati_view *out, leat_error *err) {
  *out = (leati_view){.type = LEAT_TYPE_INT32, .ndim = 1, .shape = {leati_matrices_of(a) * a->shape[a->ndim - 1]}};
  return leati_plan_temporary(planner, out, err);
}

/* ---- LU ---------------------------------------------------------------------------------------------------------- */

enum { OUTPUT_LU, OUTPUT_PIVOTS, OUTPUT_INFO };

static int32_t lu_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const a = &call->inputs[0];
  const int64_t rows = a->shape[a->ndim - 2], columns = a->shape[a->ndim - 1];
  if (rows > LEATI_MATRIX_MAX || columns > LEATI_MATRIX_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "LU: supported are matrices of up to %d rows and columns",
                      LEATI_MATRIX_MAX);
  }
  LEATI_TRY(leati_infer_same(op, call, &out[OUTPUT_LU], err));
  leati_infer_info(call, &out[OUTPUT_PIVOTS]);
  out[OUTPUT_PIVOTS].dims[out[OUTPUT_PIVOTS].ndim++] = least_of(rows, columns);
  leati_infer_info(call, &out[OUTPUT_INFO]);
  return LEAT_OK;
}

static int32_t lu_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const lu = &call->outputs[OUTPUT_LU], *const info = &call->outputs[OUTPUT_INFO];
  LEATI_TRY(leati_check_reach(lu, "LU", err));
  if (lu->count == 0) {
    return leati_plan_fill(planner, info, 0, err);
  }
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[0], lu, err));
  const factors f = {.a = leati_block_of(lu), .pivots = &call->outputs[OUTPUT_PIVOTS], .info = info};
  return plan_factors(planner, &f, err);
}

/* ---- LUSolve ----------------------------------------------------------------------------------------------------- */

typedef struct solve_state {
  bool transposed;
} solve_state;

static int32_t solve_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((solve_state *)leati_op_state(op))->transposed = leati_attr_int(desc, "transpose", 0) != 0;
  return LEAT_OK;
}

static int32_t solve_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const lu = &call->inputs[0], *const pivots = &call->inputs[1];
  LEATI_TRY(leati_check_square(op, call, 0, err));
  LEATI_TRY(leati_check_sides(op, call, 2, false, err));
  if (pivots->ndim != lu->ndim - 1 || !leati_same_numbers(pivots->shape, lu->shape, lu->ndim - 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LUSolve: pivots must have the dimensions of the factors but the last");
  }
  out[0].ndim = lu->ndim;
  memcpy(out[0].dims, call->inputs[2].shape, (size_t)lu->ndim * sizeof(out[0].dims[0]));
  leati_infer_info(call, &out[1]);
  return LEAT_OK;
}

static int32_t solve_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const solve_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->outputs[0];
  leati_view lu, pivots, info;
  LEATI_TRY(leati_check_reach(&call->inputs[0], "LUSolve", err));
  LEATI_TRY(leati_check_reach(x, "LUSolve", err));
  if (leati_matrices_of(x) == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &lu, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &pivots, err));
  LEATI_TRY(leati_plan_info(planner, leati_output(call, 1), leati_matrices_of(x), &info, err));
  const leati_block a = leati_block_of(&lu), sides = leati_block_of(x);
  LEATI_TRY(leati_plan_check_diagonal(planner, &a, &info, err));
  if (x->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[2], x, err));
  return plan_solution(planner, &a, &pivots, &sides, state->transposed, &info, err);
}

/* ---- Det --------------------------------------------------------------------------------------------------------- */

static int32_t det_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_square(op, call, 0, err));
  leati_infer_info(call, out);
  out->dtype = leati_dtype_of(call->inputs[0].type);
  return LEAT_OK;
}

/* The bits of 1. */
static uint64_t one_of(uint64_t type) {
  return type == LEAT_TYPE_FLOAT64 ? UINT64_C(0x3ff0000000000000) : UINT64_C(0x3f800000);
}

static int32_t det_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0], *const y = &call->outputs[0];
  leati_view lu, pivots, info;
  LEATI_TRY(leati_check_reach(x, "Det", err));
  if (x->count == 0) {
    /* The determinant of a matrix without elements is 1. */
    return leati_plan_fill(planner, y, one_of(y->type), err);
  }
  LEATI_TRY(plan_own(planner, x, &lu, err));
  LEATI_TRY(plan_pivots(planner, x, &pivots, err));
  LEATI_TRY(leati_plan_info(planner, NULL, leati_matrices_of(x), &info, err));
  const factors f = {.a = leati_block_of(&lu), .pivots = &pivots, .info = &info};
  LEATI_TRY(plan_factors(planner, &f, err));
  const struct {
    leati_block_args a;
    uint64_t pivots, y;
    uint32_t rows, matrices;
  } args = {.a = leati_block_args_of(&f.a), .rows = (uint32_t)f.a.rows, .matrices = matrices_of(&f)};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DET, y->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&lu, &args.a.tensor}, {&pivots, &args.pivots}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, args.matrices, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- Inverse ----------------------------------------------------------------------------------------------------- */

static int32_t inverse_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_square(op, call, 0, err));
  return leati_infer_same(op, call, out, err);
}

/* Plans the identity, or NaN where there is no inverse: what is solved with it then is NaN too. */
static int32_t plan_identity(leati_planner *planner, const leati_view *y, const leati_view *info, leat_error *err) {
  const uint32_t rows = (uint32_t)y->shape[y->ndim - 1], squared = rows * rows;
  const struct {
    uint64_t y, info;
    uint32_t count, rows;
    leati_divider per_rows, per_matrix;
  } args = {.count = (uint32_t)y->count,
            .rows = rows,
            .per_rows = leati_divider_of(rows),
            .per_matrix = leati_divider_of(squared)};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_IDENTITY, y->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({info, &args.info}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t inverse_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0], *const y = &call->outputs[0];
  leati_view lu, pivots, info;
  LEATI_TRY(leati_check_reach(y, "Inverse", err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(plan_own(planner, x, &lu, err));
  LEATI_TRY(plan_pivots(planner, x, &pivots, err));
  LEATI_TRY(leati_plan_info(planner, NULL, leati_matrices_of(x), &info, err));
  const factors f = {.a = leati_block_of(&lu), .pivots = &pivots, .info = &info};
  LEATI_TRY(plan_factors(planner, &f, err));
  LEATI_TRY(plan_identity(planner, y, &info, err));
  const leati_block sides = leati_block_of(y);
  return plan_solution(planner, &f.a, &pivots, &sides, false, NULL, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_ATTRIBUTE(attribute_transpose, "transpose", INT);

#define KERNELS                                                                                  \
  LEATI_KERNELS(LEATI_KERNELS_LU_PANEL, LEATI_KERNELS_SWAP_ROWS, LEATI_KERNELS_SOLVE_BLOCK,      \
                LEATI_KERNELS_SUBTRACT_PRODUCT, LEATI_KERNELS_CHECK_DIAGONAL, LEATI_KERNELS_DET, \
                LEATI_KERNELS_IDENTITY)

static const leati_op_def ops[] = {
    LEATI_OP("LU", "leat", (1, 1), (1, 1), (3, 3), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_matrix, &leati_type_integer), LEATI_OUTPUT_TYPES(0, 1, 1), .least_rank = 2,
             .infer = lu_infer, KERNELS, .plan = lu_plan),
    LEATI_OP("LUSolve", "leat", (1, 1), (3, 3), (1, 2), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_matrix, &leati_type_integer), LEATI_ATTRIBUTES(&attribute_transpose),
             LEATI_INPUT_TYPES(0, 1, 0), LEATI_OUTPUT_TYPES(0, 1), .state_size = sizeof(solve_state), .least_rank = 2,
             .create = solve_create, .infer = solve_infer, KERNELS, .plan = solve_plan),
    LEATI_OP("Det", "", (11, 22), (1, 1), (1, 1), .info.flags = LEAT_OP_HEAVY, LEATI_TYPES(&leati_type_matrix),
             .least_rank = 2, .infer = det_infer, KERNELS, .plan = det_plan),
    LEATI_OP("Inverse", "com.microsoft", (1, 1), (1, 1), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_matrix), .least_rank = 2, .infer = inverse_infer, KERNELS, .plan = inverse_plan),
};

const leati_op_family leati_lu_family = LEATI_FAMILY(ops);
