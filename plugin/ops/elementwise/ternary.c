/* SPDX-License-Identifier: BSD-3-Clause */
/* Clip and Where. */
#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/function.h"

LEATI_TYPE(leati_type_condition, "B", LEAT_TYPE_BOOL);

static int32_t clip_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  for (uint32_t i = 1; i < 3; ++i) {
    const leati_view *const bound = leati_input(call, i);
    if (bound != NULL && bound->count != 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Clip: input %u has %llu elements; expected a scalar", i,
                        (unsigned long long)bound->count);
    }
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t clip_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0];
  const leati_view *const given[2] = {leati_input(call, 1), leati_input(call, 2)};
  leati_view bounds[2];
  float otherwise[2];
  leati_clip_limits(x->type, otherwise);
  for (uint32_t i = 0; i < 2; ++i) {
    /* A bound may have shape [1, 1]: as a scalar it broadcasts to anything. One that is missing is read and ignored. */
    bounds[i] = given[i] != NULL ? *given[i] : *x;
    bounds[i].ndim = 0;
    bounds[i].count = 1;
  }
  const leati_elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_CLIP, x->type),
      .operation = LEAT_EW_CLIP,
      .type_in = (given[0] != NULL ? 1u : 0u) | (given[1] != NULL ? 2u : 0u),
      .parameters = otherwise,
      .operand_count = 3,
      .operands = {x, &bounds[0], &bounds[1]},
  };
  return leati_plan_elementwise(planner, &e, &call->outputs[0], err);
}

int32_t leati_plan_where(leati_planner *planner, const leati_view *condition, const leati_view *x, const leati_view *y,
                         const leati_view *result, leat_error *err) {
  const leati_elementwise e = {
      .kernel = leati_kernel_find_item(LEATI_KERNELS_WHERE, x->item_size),
      .operation = LEAT_EW_WHERE,
      .operand_count = 3,
      .operands = {condition, x, y},
  };
  return leati_plan_elementwise(planner, &e, result, err);
}

static int32_t where_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const in = call->inputs;
  return leati_plan_where(planner, &in[0], &in[1], &in[2], &call->outputs[0], err);
}

static void where_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)op;
  const leati_view *const in = call->inputs, *const out = &call->outputs[o];
  leati_host_walk walk;
  leati_host_walk_begin(&walk, out, 3);
  for (uint32_t k = 0; k < 3; ++k) {
    leati_host_walk_broadcast(&walk, k, &in[k]);
  }
  for (uint64_t i = 0; i < out->count; ++i) {
    const uint32_t taken = leati_host_get(&in[0], (uint64_t)walk.at[0]) != 0 ? 1 : 2;
    leati_host_move(&in[taken], (uint64_t)walk.at[taken], out, i);
    leati_host_walk_next(&walk);
  }
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Clip", "", (11, 13), (1, 3), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&leati_type_number),
             .infer = clip_infer, LEATI_KERNELS(LEATI_KERNELS_CLIP), .plan = clip_plan, .reads_view = leati_reads_rows),
    LEATI_OP("Where", "", (9, 16), (3, 3), (1, 1),
             LEATI_EVALUATED(LEAT_OP_IN_PLACE, LEATI_EVALUATED_ALL, where_evaluate),
             LEATI_TYPES(&leati_type_condition, &leati_type_moved), LEATI_INPUT_TYPES(0, 1, 1), LEATI_OUTPUT_TYPES(1),
             .supports = leati_supports_broadcast, .infer = leati_infer_broadcast, LEATI_KERNELS(LEATI_KERNELS_WHERE),
             .plan = where_plan, .reads_view = leati_reads_rows),
};

const leati_op_family leati_ternary_family = LEATI_FAMILY(ops);
