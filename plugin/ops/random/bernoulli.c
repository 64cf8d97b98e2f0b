/* SPDX-License-Identifier: BSD-3-Clause */
/* Bernoulli. */
#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/random/random_numbers.h"

#define TYPES_OUT                                                                                              \
  (LEATI_TYPES_REAL | LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64 | LEAT_TYPE_UINT8 | \
   LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64 | LEAT_TYPE_BOOL)

static LEATI_TYPE(type_probability, "T1", LEATI_TYPES_OF_BERNOULLI);
static LEATI_TYPE(type_drawn, "T2", TYPES_OUT);

typedef struct bernoulli_state {
  leati_random random;
  uint64_t type; /* of what it gives; 0: the type of the input */
} bernoulli_state;

typedef struct bernoulli_args {
  uint64_t dst, probabilities;
  leati_random_args random;
  uint64_t one;
  uint32_t count;
} bernoulli_args;

/* The bits of the number 1. */
static uint64_t one_of(uint64_t type) {
  switch (type) {
    case LEAT_TYPE_FLOAT32:
      return 0x3f800000;
    case LEAT_TYPE_FLOAT16:
      return 0x3c00;
    case LEAT_TYPE_BFLOAT16:
      return 0x3f80;
    default:
      return 1;
  }
}

static int32_t bernoulli_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  (void)device;
  uint64_t type;
  return leati_random_type(def, desc, TYPES_OUT, 0, &type, err);
}

static int32_t bernoulli_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  bernoulli_state *const state = leati_op_state(op);
  state->random = leati_random_read(desc);
  return leati_random_type(leati_op_def_of(op), desc, TYPES_OUT, 0, &state->type, err);
}

static int32_t bernoulli_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const bernoulli_state *const state = leati_op_state_const(op);
  LEATI_TRY(leati_random_check_offset(op, call, 1, err));
  out->dtype = leati_dtype_of(state->type != 0 ? state->type : call->inputs[0].type);
  return leati_infer_same(op, call, out, err);
}

static int32_t bernoulli_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const bernoulli_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0], *const offset = leati_random_offset(&state->random, call, 1);
  leati_view p;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &p, err));
  const bernoulli_args args = {
      .random = leati_random_args_of(op, &state->random), .one = one_of(y->type), .count = (uint32_t)y->count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_BERNOULLI, p.type),
                   .constants.bernoulli = {.item = y->item_size, .has_offset = offset != NULL}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&p, &args.probabilities}, {offset, &args.random.offset}),
      LEATI_WRITES({y, &args.dst}),
      .draws = leati_random_draws(&state->random, &args.random),
  };
  leati_random_groups(op, y->count, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

#define DRAWN                                                                                                          \
  LEATI_OUTPUT_TYPES(1), .state_size = sizeof(bernoulli_state), LEATI_KERNELS(LEATI_KERNELS_BERNOULLI), .draws = true, \
                         .supports = bernoulli_supports, .create = bernoulli_create, .infer = bernoulli_infer,         \
                         .plan = bernoulli_plan

static const leati_op_def ops[] = {
    LEATI_OP("Bernoulli", "", (15, 22), (1, 1), (1, 1), LEATI_TYPES(&type_probability, &type_drawn),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &leati_attribute_seed_float), DRAWN),
    LEATI_OP("Bernoulli", "leat", (1, 1), (1, 2), (1, 1),
             LEATI_TYPES(&type_probability, &type_drawn, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &leati_attribute_offset, &leati_attribute_seed),
             LEATI_INPUT_TYPES(0, 2), DRAWN),
};

const leati_op_family leati_bernoulli_family = LEATI_FAMILY(ops);
