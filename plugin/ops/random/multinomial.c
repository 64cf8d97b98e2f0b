/* SPDX-License-Identifier: BSD-3-Clause */
/* Multinomial. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/random/random_numbers.h"

/* Invocations of a workgroup, and samples that one draws: each adds up the row's classes anew. */
#define GROUP 256u
#define SAMPLES_PER_GROUP 1024u

#define TYPES_OUT (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)
static LEATI_TYPE(type_logits, "T1", LEATI_TYPES_OF_MULTINOMIAL);
static LEATI_TYPE(type_classes, "T2", TYPES_OUT);
static LEATI_ATTRIBUTE(attribute_sample_size, "sample_size", INT);

typedef struct multinomial_state {
  leati_random random;
  uint64_t type;
  int64_t samples;
} multinomial_state;

typedef struct multinomial_args {
  uint64_t y, x;
  leati_random_args random;
  uint32_t classes, samples, per_group, groups, rows;
} multinomial_args;

static int32_t multinomial_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                    leat_error *err) {
  (void)device;
  uint64_t type;
  const int64_t samples = leati_attr_int(desc, "sample_size", 1);
  if (samples < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Multinomial: sample_size is %" PRId64 "; expected 1 or more",
                      samples);
  }
  const int32_t rank = desc->inputs[0].ndim;
  if (rank >= 0 && rank != 2) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Multinomial: the input has rank %d; expected 2", rank);
  }
  return leati_random_type(def, desc, TYPES_OUT, LEAT_TYPE_INT32, &type, err);
}

static int32_t multinomial_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  multinomial_state *const state = leati_op_state(op);
  state->random = leati_random_read(desc);
  state->samples = leati_attr_int(desc, "sample_size", 1);
  return leati_random_type(leati_op_def_of(op), desc, TYPES_OUT, LEAT_TYPE_INT32, &state->type, err);
}

static int32_t multinomial_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const multinomial_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  if (x->ndim != 2 || (x->shape[1] == 0 && x->shape[0] != 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Multinomial: the input must have rows of one class or more, in two dimensions");
  }
  out->ndim = 2;
  out->dims[0] = x->shape[0];
  out->dims[1] = state->samples;
  out->dtype = leati_dtype_of(state->type);
  return LEAT_OK;
}

static int32_t multinomial_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const multinomial_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view x;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const uint32_t samples = (uint32_t)state->samples;
  const multinomial_args args = {.random = leati_random_args_of(op, &state->random),
                                 .classes = (uint32_t)x.shape[1],
                                 .samples = samples,
                                 .per_group = SAMPLES_PER_GROUP,
                                 .groups = (samples - 1) / SAMPLES_PER_GROUP + 1,
                                 .rows = (uint32_t)x.shape[0]};
  /* A thread goes three times through its part of the classes, the last time once for each of its samples. */
  LEATI_TRY(leati_check_rounds(planner->device,
                               (args.classes / GROUP + 1) * (uint64_t)(2 + SAMPLES_PER_GROUP / GROUP) + 2 * GROUP,
                               "Multinomial", err));
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_MULTINOMIAL, x.type),
                   .constants.multinomial = {.wide = y->type == LEAT_TYPE_INT64}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}),
      LEATI_WRITES({y, &args.y}),
      .draws = leati_random_draws(&state->random, &args.random),
  };
  leati_groups_linear(planner->device, (uint64_t)y->shape[0] * args.groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("Multinomial", "", (7, 22), (1, 1), (1, 1), LEATI_TYPES(&type_logits, &type_classes),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_sample_size, &leati_attribute_seed_float),
             LEATI_OUTPUT_TYPES(1), .state_size = sizeof(multinomial_state), LEATI_KERNELS(LEATI_KERNELS_MULTINOMIAL),
             .draws = true, .supports = multinomial_supports, .create = multinomial_create, .infer = multinomial_infer,
             .plan = multinomial_plan),
};

const leati_op_family leati_multinomial_family = LEATI_FAMILY(ops);
