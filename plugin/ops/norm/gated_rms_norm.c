/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's GatedRMSNorm: RMS normalisation of parts of rows, times a function of a gate. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/norm/norm.h"
#include "ops/norm/row_sharing.h"

static LEATI_ATTRIBUTE(attribute_activation, "activation", STRING);

enum { INPUT_X, INPUT_SCALE, INPUT_GATE, INPUT_COUNT };

typedef struct gated_state {
  float epsilon;
  leati_norm_gate gates;
} gated_state;

static int32_t gated_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  static const char *const activations[] = {"silu", "swish", "sigmoid"};
  uint32_t activation;
  LEATI_TRY(leati_attr_choice(desc, "GatedRMSNorm", "activation", activations, 3, &activation, err));
  *(gated_state *)leati_op_state(op) = (gated_state){.epsilon = leati_attr_float(desc, "epsilon", 1e-5f),
                                                     .gates = activation == 2 ? LEATI_NORM_SIGMOID : LEATI_NORM_SILU};
  return LEAT_OK;
}

static int32_t gated_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[INPUT_X], *const scale = &call->inputs[INPUT_SCALE];
  const leati_view *const gate = &call->inputs[INPUT_GATE];
  const int64_t width = x->shape[x->ndim - 1];
  if (scale->ndim != 1 || scale->count == 0 || width % scale->shape[0] != 0) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "GatedRMSNorm: the scale must have 1 dimension, whose size divides %" PRId64 ", the last of the input", width);
  }
  if (gate->ndim != x->ndim || !leati_same_numbers(gate->shape, x->shape, x->ndim)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "GatedRMSNorm: the gate must have the shape of the input");
  }
  LEATI_TRY(leati_op_check_row_rounds(op, true, (int64_t)x->count / scale->shape[0], scale->shape[0], err));
  return leati_infer_same(op, call, out, err);
}

static int32_t gated_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const gated_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  LEATI_TRY(leati_check_rows_size(y, err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view in[INPUT_COUNT];
  for (uint32_t i = 0; i < INPUT_COUNT; ++i) {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &in[i], err));
  }
  const uint32_t count = (uint32_t)in[INPUT_SCALE].count;
  leati_norm_job job = {.x = &in[INPUT_X],
                        .scale = &in[INPUT_SCALE],
                        .gate = &in[INPUT_GATE],
                        .y = y,
                        .rms = true,
                        .gates = state->gates,
                        .args = {.rows = (uint32_t)(y->count / count),
                                 .count = count,
                                 .skip_rows = 1,
                                 .period = 1,
                                 .step = count,
                                 .spread = 1,
                                 .epsilon = state->epsilon}};
  return leati_plan_norm(planner, &job, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("GatedRMSNorm", "com.microsoft", (1, 1), (3, 3), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&attribute_activation, &leati_attribute_epsilon), .state_size = sizeof(gated_state),
             .least_rank = 1, .create = gated_create, .infer = gated_infer, LEATI_KERNELS(LEATI_KERNELS_NORM),
             .plan = gated_plan),
};

const leati_op_family leati_gated_rms_norm_family = LEATI_FAMILY(ops);
