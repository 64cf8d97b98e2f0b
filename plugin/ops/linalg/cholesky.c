/* SPDX-License-Identifier: BSD-3-Clause */
/* Cholesky and CholeskySolve. Blocks on the diagonal are factored one after the other, each by a workgroup; what is
 * below follows by a solution, and what is right of that by a product. The upper factor is the lower one of rows and
 * columns that are swapped. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/linalg/matrix_block.h"
#include "ops/movement/fill.h"
#include "ops/movement/trilu.h"

typedef struct cholesky_state {
  bool upper;
} cholesky_state;

static int32_t cholesky_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((cholesky_state *)leati_op_state(op))->upper = leati_attr_int(desc, "upper", 0) != 0;
  return LEAT_OK;
}

/* ---- Cholesky ---------------------------------------------------------------------------------------------------- */

static int32_t cholesky_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_square(op, call, 0, err));
  LEATI_TRY(leati_infer_same(op, call, &out[0], err));
  leati_infer_info(call, &out[1]);
  return LEAT_OK;
}

/* Plans the factor of a block of the diagonal, whose first row is row `at` of its matrix. */
static int32_t plan_diagonal(leati_planner *planner, const leati_block *a, int64_t at, const leati_view *info,
                             leat_error *err) {
  const struct {
    leati_block_args a;
    uint64_t info;
    uint32_t rows, first, matrices;
  } args = {.a = leati_block_args_of(a),
            .rows = (uint32_t)a->rows,
            .first = (uint32_t)at,
            .matrices = leati_matrices_of(a->tensor)};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_CHOLESKY_BLOCK, a->tensor->type)},
      .args = &args,
      .args_size = sizeof(args),
      .multiplications = (uint64_t)(a->rows * a->rows * a->rows) * args.matrices,
      LEATI_WRITES({a->tensor, &args.a.tensor}, {info, &args.info})};
  leati_groups_linear(planner->device, args.matrices, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t cholesky_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const cholesky_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view info;
  LEATI_TRY(leati_check_reach(y, "Cholesky", err));
  LEATI_TRY(leati_plan_info(planner, leati_output(call, 1), leati_matrices_of(y), &info, err));
  if (y->count == 0) {
    return leati_plan_fill(planner, &info, 0, err);
  }
  LEATI_TRY(leati_plan_trilu(planner, &call->inputs[0], y, state->upper, 0, err));
  const leati_block whole = leati_block_of(y), a = state->upper ? leati_block_transposed(whole) : whole;
  for (int64_t at = 0; at < a.rows; at += LEATI_BLOCK) {
    const int64_t rows = a.rows - at < LEATI_BLOCK ? a.rows - at : LEATI_BLOCK, next = at + rows, rest = a.rows - next;
    const leati_block diagonal = leati_block_part(a, at, at, rows, rows);
    LEATI_TRY(plan_diagonal(planner, &diagonal, at, &info, err));
    if (rest > 0) {
      /* Below it stands x of x l' = a, that is l x' = a'. */
      const leati_block below = leati_block_part(a, next, at, rest, rows), turned = leati_block_transposed(below);
      const leati_block others = leati_block_part(a, next, next, rest, rest);
      LEATI_TRY(leati_plan_forward(planner, &diagonal, &turned, false, &info, err));
      LEATI_TRY(leati_plan_subtract_product(planner, &below, &turned, &others, true, &info, err));
    }
  }
  return LEAT_OK;
}

/* ---- CholeskySolve ----------------------------------------------------------------------------------------------- */

static int32_t solve_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const b = &call->inputs[1];
  LEATI_TRY(leati_check_square(op, call, 0, err));
  LEATI_TRY(leati_check_sides(op, call, 1, false, err));
  out[0].ndim = b->ndim;
  for (int32_t d = 0; d < b->ndim; ++d) {
    out[0].dims[d] = b->shape[d];
  }
  leati_infer_info(call, &out[1]);
  return LEAT_OK;
}

static int32_t solve_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const cholesky_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->outputs[0];
  leati_view a, info;
  LEATI_TRY(leati_check_reach(&call->inputs[0], "CholeskySolve", err));
  LEATI_TRY(leati_check_reach(x, "CholeskySolve", err));
  if (leati_matrices_of(x) == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &a, err));
  LEATI_TRY(leati_plan_info(planner, leati_output(call, 1), leati_matrices_of(x), &info, err));
  const leati_block given = leati_block_of(&a), l = state->upper ? leati_block_transposed(given) : given;
  LEATI_TRY(leati_plan_check_diagonal(planner, &l, &info, err));
  if (x->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[1], x, err));
  const leati_block sides = leati_block_of(x), upside_down = leati_block_rows_reversed(sides);
  const leati_block other = leati_block_reversed(leati_block_transposed(l));
  LEATI_TRY(leati_plan_forward(planner, &l, &sides, false, &info, err));
  return leati_plan_forward(planner, &other, &upside_down, false, &info, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_ATTRIBUTE(attribute_upper, "upper", INT);

#define KERNELS                                                                               \
  LEATI_KERNELS(LEATI_KERNELS_CHOLESKY_BLOCK, LEATI_KERNELS_TRILU, LEATI_KERNELS_SOLVE_BLOCK, \
                LEATI_KERNELS_SUBTRACT_PRODUCT, LEATI_KERNELS_CHECK_DIAGONAL)

static const leati_op_def ops[] = {
    LEATI_OP("Cholesky", "leat", (1, 1), (1, 1), (1, 2), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_matrix, &leati_type_integer), LEATI_ATTRIBUTES(&attribute_upper),
             LEATI_OUTPUT_TYPES(0, 1), .state_size = sizeof(cholesky_state), .least_rank = 2, .create = cholesky_create,
             .infer = cholesky_infer, KERNELS, .plan = cholesky_plan),
    LEATI_OP("CholeskySolve", "leat", (1, 1), (2, 2), (1, 2), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_matrix, &leati_type_integer), LEATI_ATTRIBUTES(&attribute_upper),
             LEATI_INPUT_TYPES(0, 0), LEATI_OUTPUT_TYPES(0, 1), .state_size = sizeof(cholesky_state), .least_rank = 2,
             .create = cholesky_create, .infer = solve_infer, KERNELS, .plan = solve_plan),
};

const leati_op_family leati_cholesky_family = LEATI_FAMILY(ops);
