/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that stand for several elementwise ones, one after the other, as ONNX Runtime's tools and old models have
 * them: BiasGelu, FastGelu, BiasAdd, BiasSplitGelu, ComplexMul and ComplexMulConj, Affine, ParametricSoftplus,
 * ScaledTanh, ImageScaler, GatedAdd and ScaledSiLU. Each is a program of Pointwise, with its kernels and its rounding.
 */
#include "ops/elementwise/composite.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"

static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_bias, "bias", FLOATS);

/* ---- Programs --------------------------------------------------------------------------------------------------- */

/* In the order of `programs`. */
enum { GELU, FAST_GELU, PLAIN_FAST_GELU, BIAS_ADD, SPLIT_GELU, AFFINE, SOFTPLUS, SCALED_TANH, GATED_ADD, SCALED_SILU };

static const leati_program programs[] = {
    [GELU] = {.input_count = 2, .step_count = 2, .steps = {{LEAT_EW_ADD, {0, 1}}, {LEAT_EW_GELU, {2}}}},
    [FAST_GELU] = {.input_count = 2, .step_count = 2, .steps = {{LEAT_EW_ADD, {0, 1}}, {LEAT_EW_GELU_TANH, {2}}}},
    [PLAIN_FAST_GELU] = {.input_count = 1, .step_count = 1, .steps = {{LEAT_EW_GELU_TANH, {0}}}},
    [BIAS_ADD] = {.input_count = 3, .step_count = 2, .steps = {{LEAT_EW_ADD, {0, 1}}, {LEAT_EW_ADD, {3, 2}}}},
    /* Of both halves of the input, each with its half of the bias behind it. */
    [SPLIT_GELU] =
        {.input_count = 4,
         .step_count = 4,
         .steps = {{LEAT_EW_ADD, {0, 1}}, {LEAT_EW_ADD, {2, 3}}, {LEAT_EW_GELU, {5}}, {LEAT_EW_MUL, {4, 6}}}},
    [AFFINE] = {.input_count = 1,
                .step_count = 2,
                .constant_count = 2,
                .steps = {{LEAT_EW_MUL, {0, -1}}, {LEAT_EW_ADD, {1, -2}}}},
    [SOFTPLUS] = {.input_count = 1,
                  .step_count = 3,
                  .constant_count = 2,
                  .steps = {{LEAT_EW_MUL, {0, -2}}, {LEAT_EW_SOFTPLUS, {1}}, {LEAT_EW_MUL, {2, -1}}}},
    [SCALED_TANH] = {.input_count = 1,
                     .step_count = 3,
                     .constant_count = 2,
                     .steps = {{LEAT_EW_MUL, {0, -2}}, {LEAT_EW_TANH, {1}}, {LEAT_EW_MUL, {2, -1}}}},
    [GATED_ADD] = {.input_count = 3, .step_count = 2, .steps = {{LEAT_EW_MUL, {1, 2}}, {LEAT_EW_ADD, {0, 3}}}},
    [SCALED_SILU] = {.input_count = 1,
                     .step_count = 3,
                     .constant_count = 1,
                     .steps = {{LEAT_EW_MUL, {0, -1}}, {LEAT_EW_SIGMOID, {1}}, {LEAT_EW_MUL, {1, 2}}}},
};

static int32_t composite_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  const uint32_t which = leati_op_def_of(op)->param;
  leati_program *const state = leati_op_state(op);
  *state = programs[which == FAST_GELU && !leati_is_given(desc, 1) ? PLAIN_FAST_GELU : which];
  state->constants[0] = leati_attr_float(desc, leati_attribute_alpha.name, 1.0f);
  state->constants[1] = leati_attr_float(desc, leati_attribute_beta.name, 0.0f);
  return LEAT_OK;
}

/* ParametricSoftplus and ScaledTanh have no defaults. */
static int32_t scaled_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  if (leati_attr(desc, leati_attribute_alpha.name) == NULL || leati_attr(desc, leati_attribute_beta.name) == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attributes 'alpha' and 'beta' must be given",
                      leati_op_def_of(op)->info.name);
  }
  return composite_create(op, desc, err);
}

static int32_t composite_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  return leati_plan_program(planner, leati_op_state_const(op), call->inputs, &call->outputs[0], err);
}

const leati_program *leati_program_of(const leat_op *op) {
  return leati_op_def_of(op)->plan == composite_plan ? leati_op_state_const(op) : NULL;
}

/* ---- Biases ----------------------------------------------------------------------------------------------------- */

/* Fails unless input 1, if it is there, has an element for each of the last dimension of input 0. */
static int32_t check_bias(const leat_op *op, const leati_call *call, leat_error *err) {
  const leati_view *const x = &call->inputs[0], *const bias = leati_input(call, 1);
  const int64_t size = x->shape[x->ndim - 1];
  return bias == NULL || (bias->ndim == 1 && bias->shape[0] == size)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the bias must have shape [%" PRId64 "]",
                          leati_op_def_of(op)->info.name, size);
}

static int32_t biased_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(check_bias(op, call, err));
  return leati_infer_same(op, call, out, err);
}

static int32_t bias_add_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[0], *const skip = &call->inputs[2];
  if (skip->ndim != x->ndim || !leati_same_numbers(skip->shape, x->shape, x->ndim)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the skip input must have the shape of the first",
                      leati_op_def_of(op)->info.name);
  }
  return biased_infer(op, call, out, err);
}

static int32_t gated_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[0], *const y = &call->inputs[1], *const gate = &call->inputs[2];
  const int32_t last = x->ndim - 1;
  if (y->ndim != x->ndim || !leati_same_numbers(y->shape, x->shape, x->ndim) || gate->ndim != x->ndim ||
      gate->shape[last] != 1 || !leati_same_numbers(gate->shape, x->shape, last)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: both operands must have one shape, and the gate that with 1 as the last dimension",
                      leati_op_def_of(op)->info.name);
  }
  return leati_infer_same(op, call, out, err);
}

/* Half `half` of the last dimension of a view. */
static leati_view half_of(const leati_view *view, int64_t half) {
  int64_t start[LEAT_MAX_RANK] = {0}, step[LEAT_MAX_RANK], size[LEAT_MAX_RANK];
  for (int32_t d = 0; d < view->ndim; ++d) {
    step[d] = 1;
    size[d] = view->shape[d];
  }
  size[view->ndim - 1] /= 2;
  start[view->ndim - 1] = half * size[view->ndim - 1];
  return leati_view_slice(view, start, step, size);
}

static int32_t split_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(biased_infer(op, call, out, err));
  int64_t *const size = &out->dims[out->ndim - 1];
  if (*size % 2 != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the last dimension has size %" PRId64 ", which is odd",
                      leati_op_def_of(op)->info.name, *size);
  }
  *size /= 2;
  return LEAT_OK;
}

static int32_t split_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0], *const bias = &call->inputs[1];
  const leati_view halves[] = {half_of(x, 0), half_of(bias, 0), half_of(x, 1), half_of(bias, 1)};
  return leati_plan_program(planner, &programs[SPLIT_GELU], halves, &call->outputs[0], err);
}

/* ---- Complex numbers -------------------------------------------------------------------------------------------- */

/* Of real and imaginary part of both factors: those of the product, of which that with the conjugate has other signs.
 */
enum { PRODUCT, CONJUGATE };

static const leati_program complex_programs[2][2] = {
    [PRODUCT] = {{.input_count = 4,
                  .step_count = 3,
                  .steps = {{LEAT_EW_MUL, {0, 2}}, {LEAT_EW_MUL, {1, 3}}, {LEAT_EW_SUB, {4, 5}}}},
                 {.input_count = 4,
                  .step_count = 3,
                  .steps = {{LEAT_EW_MUL, {1, 2}}, {LEAT_EW_MUL, {0, 3}}, {LEAT_EW_ADD, {4, 5}}}}},
    [CONJUGATE] = {{.input_count = 4,
                    .step_count = 3,
                    .steps = {{LEAT_EW_MUL, {0, 2}}, {LEAT_EW_MUL, {1, 3}}, {LEAT_EW_ADD, {4, 5}}}},
                   {.input_count = 4,
                    .step_count = 3,
                    .steps = {{LEAT_EW_MUL, {1, 2}}, {LEAT_EW_MUL, {0, 3}}, {LEAT_EW_SUB, {4, 5}}}}},
};

static int32_t complex_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  for (uint32_t i = 0; i < 2; ++i) {
    const leati_view *const x = &call->inputs[i];
    if (x->ndim < 1 || x->shape[x->ndim - 1] != 2) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: the last dimension of input %u must have size 2, a real and an imaginary part",
                        leati_op_def_of(op)->info.name, i);
    }
  }
  return leati_infer_broadcast(op, call, out, err);
}

/* Part `part` of complex numbers. */
static leati_view part_of(const leati_view *view, int64_t part) {
  leati_view of = half_of(view, part);
  leati_view_reshape(&of, of.ndim - 1, of.shape, of.strides);
  return of;
}

static int32_t complex_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_program *const parts = complex_programs[leati_op_def_of(op)->param];
  const leati_view *const a = &call->inputs[0], *const b = &call->inputs[1];
  const leati_view factors[] = {part_of(a, 0), part_of(a, 1), part_of(b, 0), part_of(b, 1)};
  for (uint32_t part = 0; part < 2; ++part) {
    const leati_view result = part_of(&call->outputs[0], part);
    LEATI_TRY(leati_plan_program(planner, &parts[part], factors, &result, err));
  }
  return LEAT_OK;
}

/* ---- Images ----------------------------------------------------------------------------------------------------- */

/* Channels at most, each of which is a dispatch. */
#define CHANNELS_MAX 16

typedef struct scaler_state {
  float scale;
  uint32_t channel_count;
  float biases[CHANNELS_MAX];
} scaler_state;

static int32_t scaler_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)device;
  const leat_attribute *const biases = leati_attr(desc, attribute_bias.name);
  return biases == NULL || biases->count <= CHANNELS_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: 'bias' has %" PRIu64 " elements; supported: up to %d",
                          def->info.name, biases->count, CHANNELS_MAX);
}

static int32_t scaler_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  const leat_attribute *const biases = leati_attr(desc, attribute_bias.name);
  scaler_state *const state = leati_op_state(op);
  state->scale = leati_attr_float(desc, attribute_scale.name, 1.0f);
  state->channel_count = biases != NULL ? (uint32_t)biases->count : 0;
  for (uint32_t c = 0; c < state->channel_count; ++c) {
    state->biases[c] = biases->floats[c];
  }
  return LEAT_OK;
}

static int32_t scaler_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const scaler_state *const state = leati_op_state_const(op);
  if (call->inputs[0].shape[1] != state->channel_count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'bias' has %u elements for %" PRId64 " channels",
                      leati_op_def_of(op)->info.name, state->channel_count, call->inputs[0].shape[1]);
  }
  return leati_infer_same(op, call, out, err);
}

/* Channel `c` of images. */
static leati_view channel_of(const leati_view *view, int64_t c) {
  const int64_t start[] = {0, c, 0, 0}, step[] = {1, 1, 1, 1};
  const int64_t size[] = {view->shape[0], 1, view->shape[2], view->shape[3]};
  return leati_view_slice(view, start, step, size);
}

static int32_t scaler_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const scaler_state *const state = leati_op_state_const(op);
  leati_program p = programs[AFFINE];
  p.constants[0] = state->scale;
  for (uint32_t c = 0; c < state->channel_count; ++c) {
    const leati_view x = channel_of(&call->inputs[0], c), y = channel_of(&call->outputs[0], c);
    p.constants[1] = state->biases[c];
    LEATI_TRY(leati_plan_program(planner, &p, &x, &y, err));
  }
  return LEAT_OK;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define COMPOSED(name, domain, versions, inputs, ...)                             \
  LEATI_OP(name, domain, versions, inputs, (1, 1), LEATI_TYPES(&leati_type_real), \
           LEATI_KERNELS(LEATI_KERNELS_POINTWISE), .reads_view = leati_reads_rows, __VA_ARGS__)
#define PROGRAM(name, domain, versions, inputs, which, ...)                                                     \
  COMPOSED(name, domain, versions, inputs, .info.flags = LEAT_OP_IN_PLACE, .state_size = sizeof(leati_program), \
           .param = (which), .plan = composite_plan, __VA_ARGS__)
#define BIASED(name, inputs, which, infer_) \
  PROGRAM(name, "com.microsoft", (1, 1), inputs, which, .least_rank = 1, .create = composite_create, .infer = infer_)
/* ONNX's experimental ones, which ONNX Runtime keeps in ONNX's domain. */
#define SCALED(name, which, create_)                                                                        \
  PROGRAM(name, "", (1, 1), (1, 1), which, LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta), \
          .create = create_, .infer = leati_infer_same, .channels_last = leati_elementwise_channels_last)
#define COMPLEX(name, which)                                                                              \
  COMPOSED(name, "com.microsoft", (1, 1), (2, 2), .param = (which), .supports = leati_supports_broadcast, \
           .infer = complex_infer, .plan = complex_plan)

static const leati_op_def ops[] = {
    BIASED("BiasGelu", (2, 2), GELU, biased_infer),
    BIASED("FastGelu", (1, 2), FAST_GELU, biased_infer),
    BIASED("BiasAdd", (3, 3), BIAS_ADD, bias_add_infer),
    PROGRAM("GatedAdd", "com.microsoft", (1, 1), (3, 3), GATED_ADD, .least_rank = 1, .create = composite_create,
            .infer = gated_infer),
    PROGRAM("ScaledSiLU", "com.microsoft", (1, 1), (1, 1), SCALED_SILU, LEATI_ATTRIBUTES(&leati_attribute_alpha),
            .create = composite_create, .infer = leati_infer_same),
    COMPOSED("BiasSplitGelu", "com.microsoft", (1, 1), (2, 2), .least_rank = 1, .infer = split_infer,
             .plan = split_plan),
    COMPLEX("ComplexMul", PRODUCT),
    COMPLEX("ComplexMulConj", CONJUGATE),
    SCALED("Affine", AFFINE, composite_create),
    SCALED("ParametricSoftplus", SOFTPLUS, scaled_create),
    SCALED("ScaledTanh", SCALED_TANH, scaled_create),
    COMPOSED("ImageScaler", "", (1, 1), (1, 1), LEATI_ATTRIBUTES(&attribute_scale, &attribute_bias),
             .state_size = sizeof(scaler_state), .least_rank = 4, .most_rank = 4, .supports = scaler_supports,
             .create = scaler_create, .infer = scaler_infer, .plan = scaler_plan),
};

const leati_op_family leati_composite_family = LEATI_FAMILY(ops);
