/* SPDX-License-Identifier: BSD-3-Clause */
/* TriangularSolve. All forms of it are solutions with a lower triangular matrix from the left: the transposed matrix is
 * that with rows and columns swapped, an upper triangular one that from its end on, and one on the right is transposed
 * with all else. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/linalg/matrix_block.h"
#include "ops/movement/fill.h"

enum { INPUT_A, INPUT_B };

typedef struct triangular_state {
  bool right, upper, transposed, unit;
} triangular_state;

static int32_t triangular_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  triangular_state *const state = leati_op_state(op);
  state->right = leati_attr_int(desc, "right", 0) != 0;
  state->upper = leati_attr_int(desc, "upper", 0) != 0;
  state->transposed = leati_attr_int(desc, "transpose", 0) != 0;
  state->unit = leati_attr_int(desc, "unit_diagonal", 0) != 0;
  return LEAT_OK;
}

static int32_t triangular_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const triangular_state *const state = leati_op_state_const(op);
  const leati_view *const b = &call->inputs[INPUT_B];
  LEATI_TRY(leati_check_square(op, call, INPUT_A, err));
  LEATI_TRY(leati_check_sides(op, call, INPUT_B, state->right, err));
  out[0].ndim = b->ndim;
  for (int32_t d = 0; d < b->ndim; ++d) {
    out[0].dims[d] = b->shape[d];
  }
  leati_infer_info(call, &out[1]);
  return LEAT_OK;
}

static int32_t triangular_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const triangular_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->outputs[0];
  leati_view a, info;
  LEATI_TRY(leati_check_reach(&call->inputs[INPUT_A], "TriangularSolve", err));
  LEATI_TRY(leati_check_reach(x, "TriangularSolve", err));
  if (leati_matrices_of(x) == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_A], &a, err));
  LEATI_TRY(leati_plan_info(planner, leati_output(call, 1), leati_matrices_of(x), &info, err));
  leati_block l = leati_block_of(&a), sides = leati_block_of(x);
  if (state->unit) {
    LEATI_TRY(leati_plan_fill(planner, &info, 0, err));
  } else {
    LEATI_TRY(leati_plan_check_diagonal(planner, &l, &info, err));
  }
  if (x->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[INPUT_B], x, err));
  if (state->right) {
    sides = leati_block_transposed(sides);
  }
  if (state->right != state->transposed) {
    l = leati_block_transposed(l);
  }
  if (state->upper != (state->right != state->transposed)) {
    l = leati_block_reversed(l);
    sides = leati_block_rows_reversed(sides);
  }
  return leati_plan_forward(planner, &l, &sides, state->unit, &info, err);
}

static LEATI_ATTRIBUTE(attribute_right, "right", INT);
static LEATI_ATTRIBUTE(attribute_upper, "upper", INT);
static LEATI_ATTRIBUTE(attribute_transpose, "transpose", INT);
static LEATI_ATTRIBUTE(attribute_unit_diagonal, "unit_diagonal", INT);

static const leati_op_def ops[] = {
    LEATI_OP("TriangularSolve", "leat", (1, 1), (2, 2), (1, 2), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_matrix, &leati_type_integer),
             LEATI_ATTRIBUTES(&attribute_right, &attribute_upper, &attribute_transpose, &attribute_unit_diagonal),
             LEATI_INPUT_TYPES(0, 0), LEATI_OUTPUT_TYPES(0, 1), .state_size = sizeof(triangular_state), .least_rank = 2,
             .create = triangular_create, .infer = triangular_infer,
             LEATI_KERNELS(LEATI_KERNELS_SOLVE_BLOCK, LEATI_KERNELS_SUBTRACT_PRODUCT, LEATI_KERNELS_CHECK_DIAGONAL),
             .plan = triangular_plan),
};

const leati_op_family leati_triangular_family = LEATI_FAMILY(ops);
