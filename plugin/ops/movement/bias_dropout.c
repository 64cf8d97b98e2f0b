/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's BiasDropout at inference: a bias and perhaps a residual are added, and nothing is dropped. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/elementwise/pointwise.h"
#include "ops/movement/fill.h"

static LEATI_TYPE(type_ratio, "T1", LEATI_TYPES_REAL | LEAT_TYPE_FLOAT64);
static LEATI_TYPE(type_mask, "T2", LEAT_TYPE_BOOL);
static LEATI_ATTRIBUTE(attribute_seed, "seed", INT);

enum { DATA, BIAS, RESIDUAL, RATIO, TRAINING, INPUTS };

/* Without a residual, and with one. */
static const leati_program programs[2] = {
    {.input_count = 2, .step_count = 1, .steps = {{LEAT_EW_ADD, {0, 1}}}},
    {.input_count = 3, .step_count = 2, .steps = {{LEAT_EW_ADD, {0, 1}}, {LEAT_EW_ADD, {3, 2}}}}};

/* Whether training_mode is one false. */
static bool is_inference(const leati_view *training) {
  return training->count == 1 && *(const unsigned char *)training->data == 0;
}

/* A host that is refused here has another place to run it, later it has none. */
static int32_t bias_dropout_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                     leat_error *err) {
  (void)def;
  (void)device;
  leati_view known;
  return !leati_is_given(desc, TRAINING) || (leati_constant(desc, TRAINING, &known) && is_inference(&known))
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "BiasDropout: training_mode is not a constant false");
}

static bool same_shape(const leati_view *a, const leati_view *b) {
  return a->ndim == b->ndim && leati_same_numbers(a->shape, b->shape, a->ndim);
}

static int32_t bias_dropout_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const data = &call->inputs[DATA], *const bias = &call->inputs[BIAS],
                          *const residual = leati_input(call, RESIDUAL);
  const int64_t last = data->shape[data->ndim - 1];
  if (!same_shape(bias, data) && (bias->ndim != 1 || bias->shape[0] != last)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "BiasDropout: the bias must have shape [%" PRId64 "] or that of the data", last);
  }
  if (residual != NULL && !same_shape(residual, data)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "BiasDropout: the residual must have the shape of the data");
  }
  const leati_view *const training = leati_input(call, TRAINING);
  if (training != NULL && !is_inference(training)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "BiasDropout: training_mode must be one false");
  }
  LEATI_TRY(leati_infer_same(op, call, out, err));
  if (call->output_count > 1) {
    LEATI_TRY(leati_infer_same(op, call, &out[1], err));
    out[1].dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  }
  return LEAT_OK;
}

static int32_t bias_dropout_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const mask = leati_output(call, 1);
  (void)op;
  LEATI_TRY(leati_plan_program(planner, &programs[leati_input(call, RESIDUAL) != NULL], call->inputs, &call->outputs[0],
                               err));
  return mask == NULL ? LEAT_OK : leati_plan_fill(planner, mask, 1, err);
}

static bool bias_dropout_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  return i <= RESIDUAL && leati_reads_rows(op, call, i);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("BiasDropout", "com.microsoft", (1, 1), (2, INPUTS), (1, 2),
             .info.host_inputs = 1u << RATIO | 1u << TRAINING, LEATI_TYPES(&leati_type_real, &type_ratio, &type_mask),
             LEATI_ATTRIBUTES(&attribute_seed), LEATI_INPUT_TYPES(0, 0, 0, 1, 2), LEATI_OUTPUT_TYPES(0, 2),
             .least_rank = 1, .supports = bias_dropout_supports, .infer = bias_dropout_infer,
             LEATI_KERNELS(LEATI_KERNELS_POINTWISE), .plan = bias_dropout_plan, .reads_view = bias_dropout_reads_view),
};

const leati_op_family leati_bias_dropout_family = LEATI_FAMILY(ops);
