/* SPDX-License-Identifier: BSD-3-Clause */
/* CausalConvWithState, ONNX's and com.microsoft's: a convolution of each channel along the positions, over those of a
 * state and then those of the input. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_activation, "activation", STRING);
static LEATI_ATTRIBUTE(attribute_channels_last, "channels_last", INT);
static LEATI_ATTRIBUTE(attribute_dilation, "dilation", INT);
static LEATI_ATTRIBUTE(attribute_input_channel_offset, "input_channel_offset", INT);
static LEATI_ATTRIBUTE(attribute_input_channels, "input_channels", INT);
static LEATI_ATTRIBUTE(attribute_ndim, "ndim", INT);
static LEATI_ATTRIBUTE(attribute_state_channels_last, "state_channels_last", INT);
static LEATI_ATTRIBUTE(attribute_state_length, "state_length", INT);
static LEATI_ATTRIBUTE(attribute_state_update_capacity, "state_update_capacity", INT);
static LEATI_ATTRIBUTE(attribute_state_window, "state_window", INT);

enum { INPUT_X, INPUT_WEIGHTS, INPUT_BIAS, INPUT_PAST };
enum { OUTPUT_Y, OUTPUT_PRESENT };

/* Attributes of which one value is there: forms that no other provider than CUDA's has. */
static const struct {
  const char *name;
  int64_t value;
} only[] = {
    {"input_channel_offset", 0}, {"input_channels", 0},        {"ndim", 1},         {"state_channels_last", -1},
    {"state_length", 0},         {"state_update_capacity", 0}, {"state_window", 0},
};

typedef struct conv_state {
  bool silu;
  bool channels_last;
  int64_t dilation;
} conv_state;

/* Sizes of a call. */
typedef struct sizes {
  int64_t batch, channels, positions;
  int64_t taps;
  int64_t held; /* positions of the state */
} sizes;

static int32_t conv_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  for (uint32_t i = 0; i < sizeof(only) / sizeof(only[0]); ++i) {
    const int64_t value = leati_attr_int(desc, only[i].name, only[i].value);
    if (value != only[i].value) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with %s = %" PRId64 " is not supported; %" PRId64 " is",
                        def->info.name, only[i].name, value, only[i].value);
    }
  }
  const int64_t last = leati_attr_int(desc, "channels_last", 0);
  if (last != 0 && last != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: channels_last is %" PRId64 "; it must be 0 or 1",
                      def->info.name, last);
  }
  const int64_t dilation = leati_attr_int(desc, "dilation", 1);
  return dilation >= 1 && dilation <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: dilation is %" PRId64 "; it must be 1 at least and below 2^31", def->info.name,
                          dilation);
}

static int32_t conv_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  static const char *const activations[] = {"none", "silu", "swish"};
  conv_state *const state = leati_op_state(op);
  uint32_t activation;
  LEATI_TRY(leati_attr_choice(desc, leati_op_def_of(op)->info.name, "activation", activations, 3, &activation, err));
  *state = (conv_state){.silu = activation != 0,
                        .channels_last = leati_attr_int(desc, "channels_last", 0) != 0,
                        .dilation = leati_attr_int(desc, "dilation", 1)};
  return LEAT_OK;
}

/* Reads the sizes of a call and fails unless all shapes go with each other. */
static int32_t conv_sizes(const leat_op *op, const leati_call *call, sizes *out, leat_error *err) {
  const conv_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const x = &call->inputs[INPUT_X], *const weights = &call->inputs[INPUT_WEIGHTS];
  const leati_view *const bias = leati_input(call, INPUT_BIAS), *const past = leati_input(call, INPUT_PAST);
  if (!state->channels_last && x->ndim != 3) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the input must have 3 dimensions, batch, channels and positions", name);
  }
  *out = (sizes){.batch = x->shape[0],
                 .channels = state->channels_last ? (int64_t)leati_product(x->shape, 2, x->ndim) : x->shape[1],
                 .positions = x->shape[state->channels_last ? 1 : 2]};
  if (weights->ndim != 3 || weights->shape[0] != out->channels || weights->shape[1] != 1 || weights->shape[2] < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the weights must have shape [%" PRId64 ", 1, k], with k of 1 at least", name, out->channels);
  }
  out->taps = weights->shape[2];
  if (out->taps - 1 > INT32_MAX / state->dilation) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a state of 2^31 positions or more is not supported", name);
  }
  out->held = (out->taps - 1) * state->dilation;
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != out->channels)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the bias must have shape [%" PRId64 "]", name,
                      out->channels);
  }
  bool fits = past == NULL || past->ndim == x->ndim;
  for (int32_t d = 0; fits && past != NULL && d < x->ndim; ++d) {
    fits = past->shape[d] == (d == (state->channels_last ? 1 : 2) ? out->held : x->shape[d]);
  }
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: past_state must have the input's shape but for its positions, of which there are %" PRId64,
                      name, out->held);
  }
  return leati_check_rounds(leati_op_device(op), 4 * (uint64_t)(out->taps + 1), name, err);
}

static int32_t conv_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const conv_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[INPUT_X];
  sizes s;
  LEATI_TRY(conv_sizes(op, call, &s, err));
  for (uint32_t o = 0; o < call->output_count; ++o) {
    out[o].ndim = x->ndim;
    for (int32_t d = 0; d < x->ndim; ++d) {
      out[o].dims[d] = o == OUTPUT_PRESENT && d == (state->channels_last ? 1 : 2) ? s.held : x->shape[d];
    }
  }
  return LEAT_OK;
}

static int32_t conv_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const conv_state *const state = leati_op_state_const(op);
  const leati_view *const given_bias = leati_input(call, INPUT_BIAS), *const given_past = leati_input(call, INPUT_PAST);
  const leati_view *const y = &call->outputs[OUTPUT_Y], *const present = leati_output(call, OUTPUT_PRESENT);
  const uint64_t count = y->count, present_count = present != NULL ? present->count : 0;
  sizes s;
  LEATI_TRY(conv_sizes(op, call, &s, err));
  if (count + present_count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: results of 2^31 elements or more are not supported",
                      leati_op_def_of(op)->info.name);
  }
  if (count + present_count == 0) {
    return LEAT_OK;
  }
  leati_view x, weights, bias = {.present = false}, past = {.present = false};
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_X], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_WEIGHTS], &weights, err));
  if (given_bias != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given_bias, &bias, err));
  }
  if (given_past != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given_past, &past, err));
  }
  const struct {
    uint64_t x, weights, bias, past, y, present;
    uint32_t count, present_count;
    uint32_t channels, positions, held;
    uint32_t taps, dilation;
    uint32_t channels_last;
  } args = {.count = (uint32_t)count,
            .present_count = (uint32_t)present_count,
            .channels = (uint32_t)s.channels,
            .positions = (uint32_t)s.positions,
            .held = (uint32_t)s.held,
            .taps = (uint32_t)s.taps,
            .dilation = (uint32_t)state->dilation,
            .channels_last = state->channels_last};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_CAUSAL_CONV, x.type),
                   .constants.causal_conv = {.silu = state->silu}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}, {&weights, &args.weights}, {given_bias != NULL ? &bias : NULL, &args.bias},
                  {given_past != NULL ? &past : NULL, &args.past}),
      LEATI_WRITES({y, &args.y}, {present, &args.present}),
      .multiplications = count * (uint64_t)s.taps,
  };
  leati_groups_linear(planner->device, count + present_count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

#define CAUSAL_CONV(domain_, version, ...)                                                                    \
  LEATI_OP("CausalConvWithState", domain_, (version, version), (2, 4), (1, 2), LEATI_TYPES(&leati_type_real), \
           LEATI_ATTRIBUTES(__VA_ARGS__), .state_size = sizeof(conv_state), .least_rank = 3,                  \
           .supports = conv_supports, .create = conv_create, .infer = conv_infer,                             \
           LEATI_KERNELS(LEATI_KERNELS_CAUSAL_CONV), .plan = conv_plan)

static const leati_op_def ops[] = {
    CAUSAL_CONV("", 27, &attribute_activation),
    CAUSAL_CONV("com.microsoft", 1, &attribute_activation, &attribute_channels_last, &attribute_dilation,
                &attribute_input_channel_offset, &attribute_input_channels, &attribute_ndim,
                &attribute_state_channels_last, &attribute_state_length, &attribute_state_update_capacity,
                &attribute_state_window),
};

const leati_op_family leati_causal_conv_family = LEATI_FAMILY(ops);
