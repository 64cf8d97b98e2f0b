/* SPDX-License-Identifier: BSD-3-Clause */
/* MaxPool, AveragePool, LpPool, GlobalMaxPool, GlobalAveragePool; com.microsoft's NhwcMaxPool, QLinearAveragePool,
 * QLinearGlobalAveragePool. */
#include <string.h>

#include "core/status.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/window.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/divider.h"
#include "ops/elementwise/pointwise.h"
#include "ops/elementwise/scaled.h"
#include "ops/reduce/reduce.h"

enum { MAX_POOL, AVERAGE_POOL, LP_POOL, NHWC_MAX_POOL };

typedef struct pool_state {
  leati_window window;
  bool count_padding;
  bool last; /* images are given in NHWC, and so is the result */
  float p;   /* of LpPool */
} pool_state;

/* Argument record of kernels/pool.comp. */
typedef struct pool_args {
  uint64_t x, y;
  uint32_t count, parts;
  uint32_t pitch_in, pitch_out;
  uint32_t out_depth, out_height, out_width;
  leati_divider per_part, per_depth, per_height, per_width;
  int32_t size[3];
  int32_t padded[3]; /* where padding ends */
  int32_t kernel[3], stride[3], dilation[3], pad[3];
  leati_divider per_dilation[3];
  float p;
} pool_args;

/* Lays the window over the image, and refuses what the kernel cannot count: coordinates are computed in 32 bits,
 * padding included. */
static int32_t pool_lay(const leat_op *op, const leati_view *x, leati_window_fit *out, leat_error *err) {
  const pool_state *state = leati_op_state_const(op);
  LEATI_TRY(leati_window_lay(&state->window, x->ndim - 2, x->shape + 2, NULL, out, err));
  uint64_t taps[LEATI_WINDOW_RANK]; /* those inside the image, at most */
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    taps[d] = (uint64_t)(out->kernel[d] < out->in[d] ? out->kernel[d] : out->in[d]);
    if (out->out[d] * out->stride[d] + out->kernel[d] * out->dilation[d] + out->in[d] + out->pad_end[d] > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a window reaches 2^31 pixels, padding included",
                        leati_op_def_of(op)->info.name);
    }
  }
  /* Three loops, one in the other; to leave a loop takes a round too. */
  const uint64_t rounds = 1 + taps[0] * (2 + taps[1] * (2 + taps[2]));
  return leati_check_rounds(leati_op_device(op), rounds, leati_op_def_of(op)->info.name, err);
}

static int32_t pool_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  leati_window_fit fit;
  LEATI_TRY(pool_lay(op, x, &fit, err));
  out[0].ndim = x->ndim;
  for (int32_t d = 0; d < x->ndim; ++d) {
    out[0].dims[d] = d < 2 ? x->shape[d] : fit.out[LEATI_WINDOW_RANK - x->ndim + d];
  }
  return LEAT_OK;
}

/* How many channels of a pixel an invocation has, of images in NHWC layout; 0: they are not. */
static uint32_t channels_at_once(const leati_view *x, const leati_view *y) {
  if (!leati_is_channels_last(y) && (leati_has_channels(y) || !leati_is_channels_last(x))) {
    return 0;
  }
  const bool fours = y->shape[1] % 4 == 0 && leati_pixel_pitch(y) % 4 == 0 && y->address % (4 * y->item_size) == 0;
  return fours ? 4 : 1;
}

static int32_t pool_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const pool_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  if (call->inputs[0].count > INT32_MAX || y->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a pool over 2^31 elements or more is not supported");
  }
  const uint32_t at_once = channels_at_once(&call->inputs[0], y);
  const bool last = at_once != 0;
  leati_view x;
  LEATI_TRY((last ? leati_plan_channels_last : leati_plan_compact)(planner, &call->inputs[0], &x, err));
  leati_window_fit fit;
  LEATI_TRY(pool_lay(op, &x, &fit, err));
  pool_args args = {.count = (uint32_t)(last ? y->count / at_once : y->count),
                    .parts = (uint32_t)(last ? y->shape[1] / at_once : 0),
                    .pitch_in = (uint32_t)(last ? leati_pixel_pitch(&x) / at_once : 0),
                    .pitch_out = (uint32_t)(last ? leati_pixel_pitch(y) / at_once : 0),
                    .out_depth = (uint32_t)fit.out[0],
                    .out_height = (uint32_t)fit.out[1],
                    .out_width = (uint32_t)fit.out[2],
                    .per_depth = leati_divider_of((uint32_t)fit.out[0]),
                    .per_height = leati_divider_of((uint32_t)fit.out[1]),
                    .per_width = leati_divider_of((uint32_t)fit.out[2])};
  args.per_part = leati_divider_of(args.parts);
  args.p = state->p;
  for (int32_t d = 0; d < 3; ++d) {
    args.size[d] = (int32_t)fit.in[d];
    args.padded[d] = (int32_t)(fit.in[d] + fit.pad_end[d]);
    args.kernel[d] = (int32_t)fit.kernel[d];
    args.stride[d] = (int32_t)fit.stride[d];
    args.dilation[d] = (int32_t)fit.dilation[d];
    args.per_dilation[d] = leati_divider_of((uint32_t)fit.dilation[d]);
    args.pad[d] = (int32_t)fit.pad_begin[d];
  }
  const uint32_t average = leati_op_def_of(op)->param == AVERAGE_POOL;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(leati_op_def_of(op)->kernels[0], x.type),
                   .constants.pool = {.average = average, .last = at_once, .count_padding = state->count_padding}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}),
      LEATI_WRITES({y, &args.y}),
      .multiplications = y->count * (uint64_t)(fit.kernel[0] * fit.kernel[1] * fit.kernel[2])};
  leati_groups_linear(planner->device, args.count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Channels are moved four at a time in NHWC layout. */
static leati_channels_last_use pool_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  (void)op;
  return (leati_channels_last_use){.writes = call->inputs[0].shape[1] % 4 == 0, .matches_output = 1u << 0};
}

static int32_t pool_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  leati_window window;
  LEATI_TRY(leati_window_read(desc, &window, err));
  if (def->param == LP_POOL && leati_attr_int(desc, "p", 2) < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "LpPool: a norm of 'p' = %lld; p is 1 or more",
                      (long long)leati_attr_int(desc, "p", 2));
  }
  return window.kernel_count != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attribute kernel_shape is missing", def->info.name);
}

static LEATI_ATTRIBUTE(attribute_channels_last, "channels_last", INT);

static int32_t pool_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  pool_state *state = leati_op_state(op);
  state->count_padding = leati_attr_int(desc, "count_include_pad", 0) != 0;
  state->last = leati_op_def_of(op)->param == NHWC_MAX_POOL || leati_attr_int(desc, "channels_last", 0) != 0;
  state->p = (float)leati_attr_int(desc, "p", 2);
  return leati_window_read(desc, &state->window, err);
}

static LEATI_ATTRIBUTE(attribute_p, "p", INT);
static LEATI_ATTRIBUTE(attribute_ceil_mode, "ceil_mode", INT);
static LEATI_ATTRIBUTE(attribute_count_include_pad, "count_include_pad", INT);

/* ---- Global pools -------------------------------------------------------------------------------------------------
 */

static int32_t global_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  if (x->ndim < 2) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s of %d dimensions: it needs images of channels",
                      leati_op_def_of(op)->info.name, x->ndim);
  }
  out[0].ndim = x->ndim;
  for (int32_t d = 0; d < x->ndim; ++d) {
    out[0].dims[d] = d < 2 ? x->shape[d] : 1;
  }
  return LEAT_OK;
}

static int32_t global_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  const uint32_t spatial = ((UINT32_C(1) << x->ndim) - 1) & ~UINT32_C(3);
  return leati_plan_reduction(planner, (leati_reduction)leati_op_def_of(op)->param, x, spatial, &call->outputs[0], err);
}

static leati_channels_last_use global_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  (void)op;
  (void)call;
  return (leati_channels_last_use){.reads = 1u << 0};
}

/* ---- Images in NHWC --------------------------------------------------------------------------------------------- */

/* A call whose first input and output are in NHWC as one in NCHW has them: views with their channels in dimension 1. */
typedef struct turned_call {
  leati_call call;
  leati_view inputs[5], y;
} turned_call;

static const leati_call *inputs_in_nchw(const leati_call *call, turned_call *out) {
  memcpy(out->inputs, call->inputs, call->input_count * sizeof(out->inputs[0]));
  out->inputs[0] = leati_conv_in_nchw(&call->inputs[0]);
  out->call = *call;
  out->call.inputs = out->inputs;
  return &out->call;
}

static const leati_call *call_in_nchw(const leati_call *call, turned_call *out) {
  out->y = leati_conv_in_nchw(&call->outputs[0]);
  (void)inputs_in_nchw(call, out);
  out->call.outputs = &out->y;
  return &out->call;
}

/* `infer` of a pool in NCHW for images in NHWC. */
static int32_t infer_nhwc(const leat_op *op, const leati_call *call,
                          int32_t (*infer)(const leat_op *, const leati_call *, leat_shape *, leat_error *),
                          leat_shape *out, leat_error *err) {
  turned_call turned;
  int64_t dims[LEAT_MAX_RANK];
  LEATI_TRY(infer(op, inputs_in_nchw(call, &turned), out, err));
  memcpy(dims, out->dims, sizeof(dims));
  for (int32_t d = 0; d < out->ndim; ++d) {
    out->dims[leati_conv_nhwc_place(d, out->ndim)] = dims[d];
  }
  return LEAT_OK;
}

static int32_t nhwc_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return infer_nhwc(op, call, pool_infer, out, err);
}

static int32_t nhwc_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  turned_call turned;
  return pool_plan(op, planner, call_in_nchw(call, &turned), err);
}

/* ---- Pools of int8 or uint8 -------------------------------------------------------------------------------------- */

typedef struct qlinear_global_state {
  bool last; /* as pool_state::last */
} qlinear_global_state;

static int32_t qlinear_global_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((qlinear_global_state *)leati_op_state(op))->last = leati_attr_int(desc, "channels_last", 0) != 0;
  return LEAT_OK;
}

static bool pool_is_last(const leat_op *op) {
  return ((const pool_state *)leati_op_state_const(op))->last;
}

static bool global_is_last(const leat_op *op) {
  return ((const qlinear_global_state *)leati_op_state_const(op))->last;
}

static int32_t qlinear_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_scales(op, call, err));
  return (pool_is_last(op) ? nhwc_infer : pool_infer)(op, call, out, err);
}

static int32_t qlinear_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  turned_call turned;
  const bool last = pool_is_last(op);
  return leati_plan_as_floats(op, planner, last ? call_in_nchw(call, &turned) : call, pool_plan, last, err);
}

static int32_t qlinear_global_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_scales(op, call, err));
  return global_is_last(op) ? infer_nhwc(op, call, global_infer, out, err) : global_infer(op, call, out, err);
}

static int32_t qlinear_global_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  turned_call turned;
  const bool last = global_is_last(op);
  return leati_plan_as_floats(op, planner, last ? call_in_nchw(call, &turned) : call, global_plan, last, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define GLOBAL_POOL(name, reduction)                                                                                \
  LEATI_OP(name, "", (1, 22), (1, 1), (1, 1), LEATI_TYPES(&leati_type_real), .param = (reduction), .least_rank = 2, \
           .infer = global_infer,                                                                                   \
           LEATI_KERNELS(LEATI_KERNELS_REDUCE, LEATI_KERNELS_REDUCE_PIECES, LEATI_KERNELS_REDUCE_REST),             \
           .plan = global_plan, .channels_last = global_channels_last)

static LEATI_TYPE(type_max_pool, "T", LEATI_TYPES_REAL | LEATI_TYPES_BYTE);

static const leati_op_def ops[] = {
    LEATI_OP("MaxPool", "", (1, 22), (1, 1), (1, 1), LEATI_TYPES(&type_max_pool),
             LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &attribute_ceil_mode, &leati_attribute_dilations,
                              &leati_attribute_kernel_shape, &leati_attribute_pads, &leati_attribute_strides),
             .state_size = sizeof(pool_state), .param = MAX_POOL, .least_rank = 3, .most_rank = 2 + LEATI_WINDOW_RANK,
             .supports = pool_supports, .create = pool_create, .infer = pool_infer, LEATI_KERNELS(LEATI_KERNELS_POOL),
             .plan = pool_plan, .channels_last = pool_channels_last),
    LEATI_OP("AveragePool", "", (7, 22), (1, 1), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &attribute_ceil_mode, &attribute_count_include_pad,
                              &leati_attribute_dilations, &leati_attribute_kernel_shape, &leati_attribute_pads,
                              &leati_attribute_strides),
             .state_size = sizeof(pool_state), .param = AVERAGE_POOL, .least_rank = 3,
             .most_rank = 2 + LEATI_WINDOW_RANK, .supports = pool_supports, .create = pool_create, .infer = pool_infer,
             LEATI_KERNELS(LEATI_KERNELS_POOL), .plan = pool_plan, .channels_last = pool_channels_last),
    LEATI_OP(
        "LpPool", "", (2, 22), (1, 1), (1, 1), LEATI_TYPES(&leati_type_real),
        LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &attribute_ceil_mode, &leati_attribute_dilations,
                         &leati_attribute_kernel_shape, &attribute_p, &leati_attribute_pads, &leati_attribute_strides),
        .state_size = sizeof(pool_state), .param = LP_POOL, .least_rank = 3, .most_rank = 2 + LEATI_WINDOW_RANK,
        .supports = pool_supports, .create = pool_create, .infer = pool_infer, LEATI_KERNELS(LEATI_KERNELS_LP_POOL),
        .plan = pool_plan, .channels_last = pool_channels_last),
    GLOBAL_POOL("GlobalAveragePool", LEATI_REDUCE_MEAN),
    GLOBAL_POOL("GlobalMaxPool", LEATI_REDUCE_MAX),
    LEATI_OP("NhwcMaxPool", "com.microsoft", (1, 1), (1, 1), (1, 1), LEATI_TYPES(&leati_type_scaled),
             LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &attribute_ceil_mode, &leati_attribute_dilations,
                              &leati_attribute_kernel_shape, &leati_attribute_pads, &leati_attribute_strides),
             .state_size = sizeof(pool_state), .param = NHWC_MAX_POOL, .least_rank = 3,
             .most_rank = 2 + LEATI_WINDOW_RANK, .supports = pool_supports, .create = pool_create, .infer = nhwc_infer,
             LEATI_KERNELS(LEATI_KERNELS_POOL), .plan = nhwc_plan),
    LEATI_OP("QLinearAveragePool", "com.microsoft", (1, 1), (2, 5), (1, 1),
             LEATI_TYPES(&leati_type_scaled, &leati_type_scale),
             LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &attribute_ceil_mode, &attribute_channels_last,
                              &attribute_count_include_pad, &leati_attribute_kernel_shape, &leati_attribute_pads,
                              &leati_attribute_strides),
             .required_inputs = 1u << 3, LEATI_INPUT_TYPES(0, 1, 0, 1, 0), .state_size = sizeof(pool_state),
             .param = AVERAGE_POOL, .least_rank = 3, .most_rank = 2 + LEATI_WINDOW_RANK, .supports = pool_supports,
             .create = pool_create, .infer = qlinear_infer,
             LEATI_KERNELS(LEATI_KERNELS_POOL, LEATI_KERNELS_SCALED_POINTWISE), .plan = qlinear_plan,
             .reads_view = leati_reads_rows),
    LEATI_OP("QLinearGlobalAveragePool", "com.microsoft", (1, 1), (2, 5), (1, 1),
             LEATI_TYPES(&leati_type_scaled, &leati_type_scale), LEATI_ATTRIBUTES(&attribute_channels_last),
             .required_inputs = 1u << 3, LEATI_INPUT_TYPES(0, 1, 0, 1, 0), .state_size = sizeof(qlinear_global_state),
             .param = LEATI_REDUCE_MEAN, .least_rank = 2, .create = qlinear_global_create,
             .infer = qlinear_global_infer,
             LEATI_KERNELS(LEATI_KERNELS_REDUCE, LEATI_KERNELS_REDUCE_PIECES, LEATI_KERNELS_REDUCE_REST,
                           LEATI_KERNELS_SCALED_POINTWISE),
             .plan = qlinear_global_plan, .reads_view = leati_reads_rows),
};

const leati_op_family leati_pool_family = LEATI_FAMILY(ops);
