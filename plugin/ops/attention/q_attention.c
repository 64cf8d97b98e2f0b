/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's QAttention: Attention whose input and weights are bytes that stand for floats. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/attention/projected.h"
#include "ops/core/attribute.h"
#include "ops/core/matrix_view.h"
#include "ops/elementwise/elementwise.h"
#include "ops/product/integer_product.h"

static LEATI_TYPE(type_input, "T1", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_weights, "T2", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_float, "T3", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16);
static LEATI_TYPE(type_numbers, "T4", LEAT_TYPE_INT32);

enum { X, WEIGHTS, BIAS, X_SCALE, WEIGHTS_SCALE, MASK, X_ZERO, WEIGHTS_ZERO, PAST, INPUTS };

/* Whether scale and zero point are one for all, or, of weights, both one for each column. */
static bool scales_fit(const leati_call *call, uint32_t scale_at, uint32_t zero_at, int64_t columns) {
  const leati_view *const scale = &call->inputs[scale_at], *const zero = leati_input(call, zero_at);
  const bool single = scale->ndim <= 1 && scale->count == 1, listed = scale->ndim == 1 && scale->shape[0] == columns;
  return (single || listed) && (zero == NULL || (zero->ndim <= 1 && zero->count == 1) ||
                                (listed && zero->ndim == 1 && zero->shape[0] == columns));
}

static int32_t q_attention_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_projected_inputs with = {.mask = leati_input(call, MASK), .past = leati_input(call, PAST)};
  const leati_view *const weights = &call->inputs[WEIGHTS], *const bias = &call->inputs[BIAS];
  leati_view projection, past[2];
  leati_multi_head in;
  LEATI_TRY(leati_projection_of(op, &call->inputs[X], weights, bias, bias, &projection, err));
  if (!scales_fit(call, X_SCALE, X_ZERO, 1) || !scales_fit(call, WEIGHTS_SCALE, WEIGHTS_ZERO, weights->shape[1])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "QAttention: scale and zero point must have one element, or those of the weights %" PRId64
                      ", one for each column",
                      weights->shape[1]);
  }
  LEATI_TRY(leati_projected_take(op, leati_op_state_const(op), &projection, &with, past, &in, err));
  return leati_projected_infer(op, &in, call->output_count, out, err);
}

/* Plans the projection, which integers make in float32: of float16 it is rounded then. */
static int32_t plan_projection(leati_planner *planner, const leati_call *call, const leati_view *projection,
                               leat_error *err) {
  leati_view wide = *projection;
  if (projection->type != LEAT_TYPE_FLOAT32) {
    LEATI_TRY(leati_plan_wide(planner, projection, &wide, err));
  }
  const leati_integer_product product = {.a = &call->inputs[X],
                                         .b = &call->inputs[WEIGHTS],
                                         .c = &wide,
                                         .bias = &call->inputs[BIAS],
                                         .a_scale = &call->inputs[X_SCALE],
                                         .b_scale = &call->inputs[WEIGHTS_SCALE],
                                         .a_zero = leati_input(call, X_ZERO),
                                         .b_zero = leati_input(call, WEIGHTS_ZERO),
                                         .floats = true};
  LEATI_TRY(leati_plan_integer_product(planner, &product, err));
  return projection->type == LEAT_TYPE_FLOAT32 ? LEAT_OK : leati_plan_cast(planner, &wide, projection, err);
}

static int32_t q_attention_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const bias = &call->inputs[BIAS];
  leati_projected_inputs with = {.past = leati_input(call, PAST)};
  leati_view projection, mask, past[2];
  leati_multi_head in;
  LEATI_TRY(leati_projected_walk(planner, call, MASK, &mask, &with.mask, err));
  LEATI_TRY(leati_projection_of(op, &call->inputs[X], &call->inputs[WEIGHTS], bias, bias, &projection, err));
  LEATI_TRY(leati_plan_temporary(planner, &projection, err));
  if (projection.count != 0) {
    LEATI_TRY(plan_projection(planner, call, &projection, err));
  }
  LEATI_TRY(leati_projected_take(op, leati_op_state_const(op), &projection, &with, past, &in, err));
  return leati_plan_projected(planner, &in, &call->outputs[0], leati_output(call, 1), err);
}

static int32_t q_attention_read(const leati_op_def *def, const leati_op_desc *desc, leati_projected_state *out,
                                leat_error *err) {
  LEATI_TRY(leati_projected_read(def, desc, out, err));
  return !out->shares ? LEAT_OK
                      : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                                   "QAttention with past_present_share_buffer is not supported: no input says how many "
                                   "positions count");
}

static int32_t q_attention_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                    leat_error *err) {
  leati_projected_state state;
  (void)device;
  return q_attention_read(def, desc, &state, err);
}

static int32_t q_attention_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return q_attention_read(leati_op_def_of(op), desc, leati_op_state(op), err);
}

/* The order of sums changes no bit. */
static bool q_attention_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return (i == X || i == WEIGHTS || i == MASK) && leati_view_walkable(&call->inputs[i]) &&
         leati_view_has_rows(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("QAttention", "com.microsoft", (1, 1), (5, INPUTS), (1, 2), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_input, &type_weights, &type_float, &type_numbers),
             LEATI_ATTRIBUTES(&leati_attribute_num_heads, &leati_attribute_unidirectional,
                              &leati_attribute_projected_scale, &leati_attribute_mask_filter_value,
                              &leati_attribute_do_rotary, &leati_attribute_past_present_share_buffer),
             LEATI_INPUT_TYPES(0, 1, 2, 2, 2, 3, 0, 1, 2), LEATI_OUTPUT_TYPES(2, 2),
             .state_size = sizeof(leati_projected_state), .least_rank = 3, .most_rank = 3,
             LEATI_KERNELS(LEATI_KERNELS_OF_MULTI_HEAD), .supports = q_attention_supports, .create = q_attention_create,
             .infer = q_attention_infer, .plan = q_attention_plan, .reads_view = q_attention_reads_view),
};

const leati_op_family leati_q_attention_family = LEATI_FAMILY(ops);
