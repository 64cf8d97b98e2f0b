/* SPDX-License-Identifier: BSD-3-Clause */
/* LRN: local response normalisation, over neighbouring channels. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_alpha, "alpha", FLOAT);
static LEATI_ATTRIBUTE(attribute_beta, "beta", FLOAT);
static LEATI_ATTRIBUTE(attribute_bias, "bias", FLOAT);
static LEATI_ATTRIBUTE(attribute_size, "size", INT);

typedef struct lrn_state {
  float alpha, beta, bias;
  int64_t size;
} lrn_state;

static int32_t lrn_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  return leati_attr_int(desc, "size", 0) >= 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "LRN: 'size', a number of channels, must be at least 1");
}

static int32_t lrn_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(lrn_state *)leati_op_state(op) = (lrn_state){.alpha = leati_attr_float(desc, "alpha", 1e-4f),
                                                 .beta = leati_attr_float(desc, "beta", 0.75f),
                                                 .bias = leati_attr_float(desc, "bias", 1.0f),
                                                 .size = leati_attr_int(desc, "size", 1)};
  return LEAT_OK;
}

static int32_t lrn_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const lrn_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view x;
  LEATI_TRY(leati_check_reach(y, "LRN", err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  /* More channels than there are change nothing. */
  const int64_t channels = y->shape[1], before = leati_clamp((state->size - 1) / 2, 0, channels),
                after = leati_clamp(state->size / 2, 0, channels);
  LEATI_TRY(leati_check_rounds(planner->device, (uint64_t)(before + after) + 1, "LRN", err));
  const struct {
    uint64_t x, y;
    uint32_t count, channels, inner;
    uint32_t before, after;
    float alpha, beta, bias;
  } args = {.count = (uint32_t)y->count,
            .channels = (uint32_t)channels,
            .inner = (uint32_t)leati_product(y->shape, 2, y->ndim),
            .before = (uint32_t)before,
            .after = (uint32_t)after,
            .alpha = state->alpha / (float)state->size,
            .beta = state->beta,
            .bias = state->bias};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_LRN, x.type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&x, &args.x}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("LRN", "", (1, 13), (1, 1), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&attribute_alpha, &attribute_beta, &attribute_bias, &attribute_size),
             .state_size = sizeof(lrn_state), .least_rank = 2, .supports = lrn_supports, .create = lrn_create,
             .infer = leati_infer_same, LEATI_KERNELS(LEATI_KERNELS_LRN), .plan = lrn_plan),
};

const leati_op_family leati_lrn_family = LEATI_FAMILY(ops);
