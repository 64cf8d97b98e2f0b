/* SPDX-License-Identifier: BSD-3-Clause */
/* SqueezeExcite: a gate for each channel of an image, from the means of all, in one dispatch. */
#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/elementwise/function.h"
#include "policy/tiling.h"

/* Inputs. */
enum { X, SQUEEZE, EXCITE, SQUEEZE_BIAS, EXCITE_BIAS };

/* Channels between the two matrices at most: SQUEEZED_MAX in kernels/squeeze_excite.comp. */
#define SQUEEZED_MAX 1024

typedef struct squeeze_state {
  leati_function activation, gate_activation;
} squeeze_state;

/* Argument record of kernels/squeeze_excite.comp. */
typedef struct squeeze_args {
  uint64_t x, squeeze, squeeze_bias, excite_bias, excite, y;
  uint64_t sums, counters;
  float activation[2], gate_activation[2];
  uint32_t images, channels, pixels;
  uint32_t squeezed, parts, groups;
  leati_divider per_parts, per_groups;
} squeeze_args;

/* Whether an input is a matrix of so many rows and columns, or one with dimensions of 1 behind these, as weights of a
 * convolution are. */
static bool is_matrix(const leati_view *w, int64_t rows, int64_t columns) {
  bool is = w->ndim >= 2 && w->shape[0] == rows && w->shape[1] == columns;
  for (int32_t d = 2; d < w->ndim && is; ++d) {
    is = w->shape[d] == 1;
  }
  return is;
}

static bool is_row(const leati_view *bias, int64_t columns) {
  return bias == NULL || (bias->ndim == 1 && bias->shape[0] == columns);
}

/* Lays a call out, but for addresses and activations. */
static int32_t squeeze_lay(const leat_op *op, const leati_call *call, squeeze_args *out, leat_error *err) {
  const leati_view *const x = &call->inputs[X], *const squeeze = &call->inputs[SQUEEZE];
  const int64_t images = x->shape[0], channels = x->shape[1], squeezed = squeeze->ndim > 0 ? squeeze->shape[0] : 0;
  if (!is_matrix(squeeze, squeezed, channels) || !is_matrix(&call->inputs[EXCITE], channels, squeezed) ||
      !is_row(leati_input(call, SQUEEZE_BIAS), squeezed) || !is_row(leati_input(call, EXCITE_BIAS), channels)) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "SqueezeExcite: for %lld channels it needs S x %lld and %lld x S weights and biases of S and %lld",
        (long long)channels, (long long)channels, (long long)channels, (long long)channels);
  }
  if (images > LEATI_COUNTERS_MAX || squeezed == 0 || squeezed > SQUEEZED_MAX || x->count > INT32_MAX ||
      squeeze->count > INT32_MAX || (x->count == 0 && images * channels != 0)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "SqueezeExcite: %lld images, squeezed to %lld channels; up to %d and %d, of fewer than 2^31 "
                      "elements and no empty ones, are supported",
                      (long long)images, (long long)squeezed, LEATI_COUNTERS_MAX, SQUEEZED_MAX);
  }
  const uint64_t pixels = x->count != 0 ? x->count / (uint64_t)(images * channels) : 1;
  const uint32_t parts = leati_squeeze_parts(pixels), own = LEATI_SQUEEZE_THREADS / parts;
  const uint64_t groups = ((uint64_t)channels + own - 1) / own;
  *out = (squeeze_args){.images = (uint32_t)images,
                        .channels = (uint32_t)channels,
                        .pixels = (uint32_t)pixels,
                        .squeezed = (uint32_t)squeezed,
                        .parts = parts,
                        .groups = (uint32_t)groups,
                        .per_parts = leati_divider_of(parts),
                        .per_groups = leati_divider_of((uint32_t)groups)};
  const uint64_t sums = (uint64_t)images * groups * (uint64_t)squeezed;
  if (sums > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "SqueezeExcite: %llu sums of workgroups; fewer than 2^31 are supported",
                      (unsigned long long)sums);
  }
  /* Of a row a thread takes four elements a round, and of eight rows one by one where they do not lie well. */
  const uint64_t round = 8 * 5 + 2;
  const uint64_t rounds = pixels / (8 * parts) + 16 +
                          ((uint64_t)squeezed / LEATI_SQUEEZE_THREADS + 1) * (2 * round + groups / 8 + 8) +
                          ((uint64_t)channels / LEATI_SQUEEZE_THREADS + 1) * ((uint64_t)squeezed / 32 + 2) * round;
  return leati_check_rounds(leati_op_device(op), rounds, "SqueezeExcite", err);
}

static int32_t squeeze_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[X];
  squeeze_args args;
  LEATI_TRY(squeeze_lay(op, call, &args, err));
  out[0].ndim = x->ndim;
  for (int32_t d = 0; d < x->ndim; ++d) {
    out[0].dims[d] = d < 2 ? x->shape[d] : 1;
  }
  return LEAT_OK;
}

/* Whether rows of so many elements may be read by fours. */
static bool has_quads(const leati_view *matrix, uint32_t columns) {
  return columns % 4 == 0 && matrix->address % (4 * matrix->item_size) == 0;
}

static int32_t squeeze_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const squeeze_state *state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  squeeze_args args;
  LEATI_TRY(squeeze_lay(op, call, &args, err));
  leati_view in[EXCITE_BIAS + 1];
  const leati_view *given[EXCITE_BIAS + 1];
  for (uint32_t i = 0; i <= EXCITE_BIAS; ++i) {
    given[i] = leati_input(call, i) != NULL ? &in[i] : NULL;
    if (given[i] != NULL) {
      LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &in[i], err));
    }
  }
  leati_view sums = {
      .type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {(int64_t)args.images * args.groups * args.squeezed}};
  LEATI_TRY(leati_plan_temporary(planner, &sums, err));
  leati_function_parameters(&state->activation, y->type, args.activation);
  leati_function_parameters(&state->gate_activation, y->type, args.gate_activation);
  const bool whole = LEATI_SQUEEZE_THREADS / args.parts % 4 == 0; /* no four is of two workgroups */
  const uint32_t quads =
      (whole && has_quads(&in[SQUEEZE], args.channels) ? 1 : 0) | (has_quads(&in[EXCITE], args.squeezed) ? 2 : 0);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_SQUEEZE_EXCITE, y->type),
                   .constants.squeeze_excite = {.quads = quads,
                                                .activation = state->activation.operation,
                                                .gate_activation = state->gate_activation.operation}},
      .args = &args,
      .args_size = sizeof(args),
      .counter_count = args.images,
      .counters = &args.counters,
      LEATI_READS({given[X], &args.x}, {given[SQUEEZE], &args.squeeze}, {given[SQUEEZE_BIAS], &args.squeeze_bias},
                  {given[EXCITE], &args.excite}, {given[EXCITE_BIAS], &args.excite_bias}),
      LEATI_WRITES({y, &args.y}, {&sums, &args.sums})};
  leati_groups_linear(planner->device, (uint64_t)args.images * args.groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t read_state(const leati_op_def *def, const leati_op_desc *desc, squeeze_state *state, leat_error *err) {
  LEATI_TRY(leati_function_read_activation(def, desc, &state->activation, err));
  return leati_function_read_gate_activation(def, desc, &state->gate_activation, err);
}

static int32_t squeeze_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)device;
  squeeze_state state;
  return read_state(def, desc, &state, err);
}

static int32_t squeeze_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_state(leati_op_def_of(op), desc, leati_op_state(op), err);
}

static const leati_op_def ops[] = {
    LEATI_OP(
        "SqueezeExcite", "leat", (1, 1), (3, 5), (1, 1), .info.flags = LEAT_OP_HEAVY, LEATI_TYPES(&leati_type_real),
        LEATI_ATTRIBUTES(&leati_attribute_activation, &leati_attribute_activation_params,
                         &leati_attribute_gate_activation, &leati_attribute_gate_activation_params),
        .state_size = sizeof(squeeze_state), .least_rank = 2, .supports = squeeze_supports, .create = squeeze_create,
        .infer = squeeze_infer, LEATI_KERNELS(LEATI_KERNELS_SQUEEZE_EXCITE), .plan = squeeze_plan),
};

const leati_op_family leati_squeeze_excite_family = LEATI_FAMILY(ops);
