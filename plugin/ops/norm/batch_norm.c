/* SPDX-License-Identifier: BSD-3-Clause */
/* Batch normalisation, of inference. */
#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/norm/norm.h"
#include "ops/norm/row_sharing.h"

static LEATI_ATTRIBUTE(attribute_momentum, "momentum", FLOAT);
static LEATI_ATTRIBUTE(attribute_spatial, "spatial", INT); /* of version 7 */
static LEATI_ATTRIBUTE(attribute_training_mode, "training_mode", INT);

typedef struct batch_state {
  float epsilon;
} batch_state;

static int32_t batch_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  const int64_t channels = x->ndim > 1 ? x->shape[1] : 1;
  for (uint32_t i = 1; i < 5; ++i) {
    if (call->inputs[i].ndim != 1 || call->inputs[i].shape[0] != channels) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "BatchNormalization: input %u must have shape [%lld]", i,
                        (long long)channels);
    }
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t batch_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const batch_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_rows_size(y, err));
  const bool last = leati_is_channels_last(y);
  leati_view in[5];
  LEATI_TRY((last ? leati_plan_channels_last : leati_plan_compact)(planner, &call->inputs[0], &in[0], err));
  for (uint32_t i = 1; i < 5; ++i) {
    leati_view numbers = call->inputs[i];
    numbers.compact = numbers.compact && (!last || numbers.address % 16 == 0);
    LEATI_TRY(leati_plan_compact(planner, &numbers, &in[i], err));
  }
  const int64_t inner = !last && in[0].ndim > 2 ? (int64_t)leati_product(in[0].shape, 2, in[0].ndim) : 1;
  const struct {
    uint64_t x, y, scale, bias, mean, variance;
    uint32_t count, channels, inner;
    uint32_t pitch_in, pitch_out;
    float epsilon;
  } args = {.count = (uint32_t)y->count,
            .channels = (uint32_t)in[1].count,
            .inner = (uint32_t)inner,
            .pitch_in = (uint32_t)(last ? leati_pixel_pitch(&in[0]) : 0),
            .pitch_out = (uint32_t)(last ? leati_pixel_pitch(y) : 0),
            .epsilon = state->epsilon};
  const bool quads = inner % 4 == 0 && in[0].address % 16 == 0 && y->address % 16 == 0;
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_BATCH_NORM, in[0].type),
                                               .constants.batch_norm = {.quads = quads, .last = last}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&in[0], &args.x}, {&in[1], &args.scale}, {&in[2], &args.bias},
                                              {&in[3], &args.mean}, {&in[4], &args.variance}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 1024, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* As of a pool, channels are moved four at a time. */
static leati_channels_last_use batch_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  (void)op;
  return (leati_channels_last_use){.writes = call->inputs[0].ndim > 2 && call->inputs[0].shape[1] % 4 == 0,
                                   .requires_output_layout = 1u << 0};
}

static int32_t batch_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  batch_state *state = leati_op_state(op);
  state->epsilon = leati_attr_float(desc, "epsilon", 1e-5f);
  return LEAT_OK;
}

static int32_t batch_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)def;
  (void)device;
  if (leati_attr_int(desc, "training_mode", 0) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "BatchNormalization with training_mode=1 is not supported");
  }
  if (leati_attr_int(desc, "spatial", 1) == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "BatchNormalization with spatial=0 is not supported");
  }
  return LEAT_OK;
}

static const leati_op_def ops[] = {
    LEATI_OP(
        "BatchNormalization", "", (7, 15), (5, 5), (1, 1), LEATI_TYPES(&leati_type_real),
        LEATI_ATTRIBUTES(&leati_attribute_epsilon, &attribute_momentum, &attribute_spatial, &attribute_training_mode),
        .state_size = sizeof(batch_state), .supports = batch_supports, .create = batch_create, .infer = batch_infer,
        LEATI_KERNELS(LEATI_KERNELS_BATCH_NORM), .plan = batch_plan, .channels_last = batch_channels_last),
};

const leati_op_family leati_batch_norm_family = LEATI_FAMILY(ops);
