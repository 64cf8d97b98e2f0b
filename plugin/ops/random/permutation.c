/* SPDX-License-Identifier: BSD-3-Clause */
/* RandomPermutation of domain "leat". */
#include <inttypes.h>

#include "core/status.h"
#include "ops/random/random_numbers.h"

static LEATI_TYPE(type_number, "T", LEATI_TYPES_OF_PERMUTATION);
static LEATI_ATTRIBUTE(attribute_count, "count", INT);

/* A network of so many bits at least: of fewer there are too few permutations that it can be. */
#define HALF_BITS_LEAST 4u

typedef struct permutation_state {
  leati_random random;
  uint64_t type;
  int64_t count;
} permutation_state;

typedef struct permutation_args {
  uint64_t dst;
  leati_random_args random;
  uint32_t count, half_bits;
} permutation_args;

static int32_t permutation_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                    leat_error *err) {
  (void)device;
  uint64_t type;
  const int64_t count = leati_attr_int(desc, "count", -1);
  if (count < 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "RandomPermutation: 'count' must be there, and 0 or more");
  }
  return leati_random_type(def, desc, LEATI_TYPES_OF_PERMUTATION, LEAT_TYPE_INT64, &type, err);
}

static int32_t permutation_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  permutation_state *const state = leati_op_state(op);
  state->random = leati_random_read(desc);
  state->count = leati_attr_int(desc, "count", 0);
  return leati_random_type(leati_op_def_of(op), desc, LEATI_TYPES_OF_PERMUTATION, LEAT_TYPE_INT64, &state->type, err);
}

static int32_t permutation_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const permutation_state *const state = leati_op_state_const(op);
  LEATI_TRY(leati_random_check_offset(op, call, 0, err));
  out->ndim = 1;
  out->dims[0] = state->count;
  out->dtype = leati_dtype_of(state->type);
  return LEAT_OK;
}

static int32_t permutation_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const permutation_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0], *const offset = leati_random_offset(&state->random, call, 0);
  permutation_args args = {
      .random = leati_random_args_of(op, &state->random), .count = (uint32_t)y->count, .half_bits = HALF_BITS_LEAST};
  if (y->count == 0) {
    return LEAT_OK;
  }
  while (UINT64_C(1) << (2 * args.half_bits) < y->count) {
    ++args.half_bits;
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_PERMUTATION, y->type),
                   .constants.permutation = {.has_offset = offset != NULL}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({offset, &args.random.offset}),
      LEATI_WRITES({y, &args.dst}),
      .draws = leati_random_draws(&state->random, &args.random),
  };
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("RandomPermutation", "leat", (1, 1), (0, 1), (1, 1), LEATI_TYPES(&type_number, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_count, &leati_attribute_dtype, &leati_attribute_offset, &leati_attribute_seed),
             LEATI_INPUT_TYPES(1), .state_size = sizeof(permutation_state), LEATI_KERNELS(LEATI_KERNELS_PERMUTATION),
             .draws = true, .supports = permutation_supports, .create = permutation_create, .infer = permutation_infer,
             .plan = permutation_plan),
};

const leati_op_family leati_permutation_family = LEATI_FAMILY(ops);
