/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/linalg/matrix_block.h"

#include <inttypes.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

/* What a workgroup has: kernels/subtract_product.comp, solve_block.comp. */
#define TILE 64
#define COLUMNS 8

LEATI_TYPE(leati_type_matrix, "T", LEATI_TYPES_OF_SUBTRACT_PRODUCT);
LEATI_TYPE(leati_type_integer, "I", LEAT_TYPE_INT32);

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

uint32_t leati_matrices_of(const leati_view *tensor) {
  return (uint32_t)leati_product(tensor->shape, 0, tensor->ndim - 2);
}

leati_block leati_block_of(const leati_view *tensor) {
  const int64_t rows = tensor->shape[tensor->ndim - 2], columns = tensor->shape[tensor->ndim - 1];
  return (leati_block){
      .tensor = tensor, .row = columns, .column = 1, .matrix = rows * columns, .rows = rows, .columns = columns};
}

leati_block leati_block_part(leati_block block, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  block.begin += row * block.row + column * block.column;
  block.rows = rows;
  block.columns = columns;
  return block;
}

leati_block leati_block_transposed(leati_block block) {
  const leati_block given = block;
  block.row = given.column;
  block.column = given.row;
  block.rows = given.columns;
  block.columns = given.rows;
  return block;
}

leati_block leati_block_rows_reversed(leati_block block) {
  block.begin += (block.rows - 1) * block.row;
  block.row = -block.row;
  return block;
}

leati_block leati_block_reversed(leati_block block) {
  return leati_block_transposed(leati_block_rows_reversed(leati_block_transposed(leati_block_rows_reversed(block))));
}

leati_block_args leati_block_args_of(const leati_block *block) {
  return (leati_block_args){.begin = (int32_t)block->begin,
                            .row = (int32_t)block->row,
                            .column = (int32_t)block->column,
                            .matrix = (int32_t)block->matrix};
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static uint32_t div_up(int64_t n, uint32_t by) {
  return (uint32_t)((n + by - 1) / by);
}

/* Plans the part of leati_plan_forward() in which a block on the diagonal is solved. */
static int32_t plan_solve_block(leati_planner *planner, const leati_block *l, const leati_block *x, bool unit,
                                const leati_view *info, leat_error *err) {
  const uint32_t matrices = leati_matrices_of(x->tensor), groups = div_up(x->columns, COLUMNS);
  const struct {
    leati_block_args l, x;
    uint64_t info;
    uint32_t rows, columns;
    uint32_t column_groups, matrices;
    leati_divider per_column_groups;
    uint32_t unit;
  } args = {.l = leati_block_args_of(l),
            .x = leati_block_args_of(x),
            .rows = (uint32_t)x->rows,
            .columns = (uint32_t)x->columns,
            .column_groups = groups,
            .matrices = matrices,
            .per_column_groups = leati_divider_of(groups),
            .unit = unit ? 1 : 0};
  /* In LU factors both are in one tensor. */
  const bool same = l->tensor == x->tensor;
  const leati_access reads[] = {{info, &args.info}, {l->tensor, &args.l.tensor}};
  const leati_access writes[] = {{x->tensor, &args.x.tensor}, {l->tensor, &args.l.tensor}};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_SOLVE_BLOCK, x->tensor->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  .multiplications = (uint64_t)(x->rows * x->rows * x->columns) * matrices,
                                  .reads = reads,
                                  .read_count = same ? 1 : 2,
                                  .writes = writes,
                                  .write_count = same ? 2 : 1};
  leati_groups_linear(planner->device, (uint64_t)matrices * groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_forward(leati_planner *planner, const leati_block *l, const leati_block *x, bool unit,
                           const leati_view *info, leat_error *err) {
  for (int64_t at = 0; at < x->rows; at += LEATI_BLOCK) {
    const int64_t rows = x->rows - at < LEATI_BLOCK ? x->rows - at : LEATI_BLOCK, next = at + rows;
    const leati_block diagonal = leati_block_part(*l, at, at, rows, rows);
    const leati_block solved = leati_block_part(*x, at, 0, rows, x->columns);
    LEATI_TRY(plan_solve_block(planner, &diagonal, &solved, unit, info, err));
    if (next < x->rows) {
      const leati_block below = leati_block_part(*l, next, at, x->rows - next, rows);
      const leati_block rest = leati_block_part(*x, next, 0, x->rows - next, x->columns);
      LEATI_TRY(leati_plan_subtract_product(planner, &below, &solved, &rest, false, info, err));
    }
  }
  return LEAT_OK;
}

int32_t leati_plan_subtract_product(leati_planner *planner, const leati_block *a, const leati_block *b,
                                    const leati_block *c, bool lower, const leati_view *info, leat_error *err) {
  const uint32_t matrices = leati_matrices_of(c->tensor);
  const uint32_t row_tiles = div_up(c->rows, TILE), column_tiles = div_up(c->columns, TILE);
  const struct {
    leati_block_args a, b, c;
    uint64_t info;
    uint32_t rows, columns, depth;
    uint32_t row_tiles, column_tiles, matrices;
    leati_divider per_row_tiles, per_column_tiles;
    uint32_t lower;
  } args = {.a = leati_block_args_of(a),
            .b = leati_block_args_of(b),
            .c = leati_block_args_of(c),
            .rows = (uint32_t)c->rows,
            .columns = (uint32_t)c->columns,
            .depth = (uint32_t)a->columns,
            .row_tiles = row_tiles,
            .column_tiles = column_tiles,
            .matrices = matrices,
            .per_row_tiles = leati_divider_of(row_tiles),
            .per_column_tiles = leati_divider_of(column_tiles),
            .lower = lower ? 1 : 0};
  /* What lies in the tensor of c is read and written. */
  leati_access reads[3] = {{info, &args.info}}, writes[3] = {{c->tensor, &args.c.tensor}};
  uint32_t read_count = 1, write_count = 1;
  const leati_access operands[] = {{a->tensor, &args.a.tensor}, {b->tensor, &args.b.tensor}};
  for (uint32_t i = 0; i < 2; ++i) {
    if (operands[i].view == c->tensor) {
      writes[write_count++] = operands[i];
    } else {
      reads[read_count++] = operands[i];
    }
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_SUBTRACT_PRODUCT, c->tensor->type)},
      .args = &args,
      .args_size = sizeof(args),
      .multiplications = (uint64_t)(c->rows * c->columns * a->columns) * matrices,
      .reads = reads,
      .read_count = read_count,
      .writes = writes,
      .write_count = write_count};
  leati_groups_linear(planner->device, (uint64_t)matrices * row_tiles * column_tiles, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_check_diagonal(leati_planner *planner, const leati_block *a, const leati_view *info,
                                  leat_error *err) {
  const uint32_t matrices = leati_matrices_of(a->tensor);
  const struct {
    leati_block_args a;
    uint64_t info;
    uint32_t rows, matrices;
  } args = {.a = leati_block_args_of(a), .rows = (uint32_t)a->rows, .matrices = matrices};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_CHECK_DIAGONAL, a->tensor->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({a->tensor, &args.a.tensor}),
      LEATI_WRITES({info, &args.info})};
  leati_groups_linear(planner->device, matrices, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_info(leati_planner *planner, const leati_view *wanted, uint32_t matrices, leati_view *out,
                        leat_error *err) {
  if (wanted != NULL) {
    *out = *wanted;
    return LEAT_OK;
  }
  *out = (leati_view){.type = LEAT_TYPE_INT32, .ndim = 1, .shape = {matrices}};
  return leati_plan_temporary(planner, out, err);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

int32_t leati_check_square(const leat_op *op, const leati_call *call, uint32_t i, leat_error *err) {
  const leati_view *const a = &call->inputs[i];
  const char *const name = leati_op_def_of(op)->info.name;
  if (a->ndim < 2 || a->shape[a->ndim - 2] != a->shape[a->ndim - 1]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the last two dimensions of input %u must be there and as many: a square matrix", name, i);
  }
  return a->shape[a->ndim - 1] <= LEATI_MATRIX_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a matrix of %" PRId64 " rows; supported: up to %d", name,
                          a->shape[a->ndim - 1], LEATI_MATRIX_MAX);
}

int32_t leati_check_sides(const leat_op *op, const leati_call *call, uint32_t i, bool right, leat_error *err) {
  const leati_view *const a = &call->inputs[0], *const b = &call->inputs[i];
  const bool fits = b->ndim == a->ndim && leati_same_numbers(a->shape, b->shape, a->ndim - 2) &&
                    b->shape[b->ndim - (right ? 1 : 2)] == a->shape[a->ndim - 1];
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: input %u must have the dimensions of input 0 but the last two, and as many %s as its "
                           "matrices",
                           leati_op_def_of(op)->info.name, i, right ? "columns" : "rows");
}

void leati_infer_info(const leati_call *call, leat_shape *out) {
  const leati_view *const a = &call->inputs[0];
  out->ndim = a->ndim - 2;
  for (int32_t d = 0; d < out->ndim; ++d) {
    out->dims[d] = a->shape[d];
  }
  out->dtype = leati_dtype_of(LEAT_TYPE_INT32);
}
