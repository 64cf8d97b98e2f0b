/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise/elementwise.h"

#include <string.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/elementwise/walk.h"

LEATI_TYPE(leati_type_number, "T", LEATI_TYPES_NUMBER);
LEATI_TYPE(leati_type_bits, "T", LEATI_TYPES_SIGNED | LEATI_TYPES_UNSIGNED);
LEATI_TYPE(leati_type_bool_in, "T", LEAT_TYPE_BOOL);

_Static_assert(LEAT_TYPE_FLOAT32 == UINT64_C(1) << LEAT_ANY_F32 && LEAT_TYPE_BFLOAT16 == UINT64_C(1) << LEAT_ANY_BF16 &&
                   LEAT_TYPE_INT8 == UINT64_C(1) << LEAT_ANY_I8 && LEAT_TYPE_UINT8 == UINT64_C(1) << LEAT_ANY_U8 &&
                   LEAT_TYPE_BOOL == UINT64_C(1) << LEAT_ANY_BOOL,
               "elementwise_codes.glsl numbers types as the ABI does");

/* The kernel's argument record. */
typedef struct elementwise_args {
  uint64_t operands[LEATI_OPERANDS_MAX];
  uint64_t result;
  uint32_t count;
  float parameters[2];
  struct {
    uint32_t size;
    leati_divider per_size;
    int32_t operands[LEATI_OPERANDS_MAX], result;
  } dims[LEAT_MAX_RANK];
} elementwise_args;

int32_t leati_plan_elementwise(leati_planner *planner, const leati_elementwise *e, const leati_view *result,
                               leat_error *err) {
  if (result->count == 0) {
    return LEAT_OK;
  }
  leati_walk way;
  LEATI_TRY(leati_walk_find(e->operands, e->operand_count, result, &way, err));
  elementwise_args args = {.count = (uint32_t)result->count};
  for (uint32_t i = 0; i < 2; ++i) {
    args.parameters[i] = e->parameters != NULL ? e->parameters[i] : 0.0f;
  }
  for (uint32_t d = 0; d < way.rank; ++d) {
    args.dims[d].size = way.dims[d].size;
    args.dims[d].per_size = way.dims[d].per_size;
    args.dims[d].result = way.dims[d].result;
    memcpy(args.dims[d].operands, way.dims[d].operands, sizeof(args.dims[d].operands));
  }
  leati_access operands[LEATI_OPERANDS_MAX];
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    operands[k] = (leati_access){.view = e->operands[k], .field = &args.operands[k]};
  }
  /* The kernel of a division has two operands, and takes where it tells of a zero divisor for the third. */
  const uint32_t type_in = e->divides != NULL ? planner->guarded : e->type_in;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = e->kernel,
                   .constants.elementwise = {.operation = e->operation,
                                             .access = way.access,
                                             .rank = way.rank,
                                             .type_in = type_in,
                                             .type_out = e->type_out}},
      .args = &args,
      .args_size = sizeof(args),
      .read_count = e->operand_count,
      .reads = operands,
      LEATI_WRITES({result, &args.result}),
      .finding = e->divides != NULL ? &args.operands[2] : NULL,
      .fault = LEATI_FAULT_DIVISOR,
      .name = e->divides,
  };
  leati_groups_linear(planner->device, result->count, LEATI_WALK_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_cast(leati_planner *planner, const leati_view *x, const leati_view *result, leat_error *err) {
  const leati_elementwise e = {
      .kernel = LEATI_KERNEL_CAST,
      .operation = LEAT_EW_IDENTITY,
      .type_in = leati_type_code(x->type),
      .type_out = leati_type_code(result->type),
      .operand_count = 1,
      .operands = {x},
  };
  return leati_plan_elementwise(planner, &e, result, err);
}

int32_t leati_plan_wide(leati_planner *planner, const leati_view *like, leati_view *out, leat_error *err) {
  *out = (leati_view){.type = LEAT_TYPE_FLOAT32, .ndim = like->ndim};
  memcpy(out->shape, like->shape, sizeof(out->shape));
  return leati_plan_temporary(planner, out, err);
}

leati_channels_last_use leati_elementwise_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  const leati_view *const y = &call->outputs[0];
  leati_channels_last_use use = {0};
  (void)op;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const x = leati_input(call, i);
    if (x != NULL && x->ndim == y->ndim && leati_same_numbers(x->shape, y->shape, y->ndim)) {
      use.requires_output_layout |= 1u << i;
    }
  }
  use.writes = use.requires_output_layout != 0 && y->shape[1] % 4 == 0;
  return use;
}

int32_t leati_supports_broadcast(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                 leat_error *err) {
  (void)def;
  (void)device;
  return leati_check_broadcast(desc->inputs, desc->input_count, err);
}

int32_t leati_infer_broadcast(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const input = leati_input(call, i);
    if (input != NULL) {
      LEATI_TRY(leati_broadcast(&out->ndim, out->dims, input->ndim, input->shape, err));
    }
  }
  return LEAT_OK;
}
