/* SPDX-License-Identifier: BSD-3-Clause */
/* ConvInteger and QLinearConv: convolutions of bytes, as products of matrices. */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/conv.h"
#include "ops/dims.h"
#include "ops/integer_product.h"
#include "ops/movement.h"

enum { CONV_INTEGER, QLINEAR_CONV };

typedef struct conv_integer_state {
  leati_window window;
  int64_t group;
} conv_integer_state;

/* The inputs of an operator, each perhaps absent (NULL). */
typedef struct conv_inputs {
  const leati_view *x, *w, *bias;
  const leati_view *x_zero, *w_zero, *y_zero;
  const leati_view *x_scale, *w_scale, *y_scale;
} conv_inputs;

static conv_inputs inputs_of(const leat_op *op, const leati_call *call) {
  const leati_view *const in = call->inputs;
  if (leati_op_def_of(op)->param == CONV_INTEGER) {
    return (conv_inputs){.x = &in[0], .w = &in[1], .x_zero = leati_input(call, 2), .w_zero = leati_input(call, 3)};
  }
  return (conv_inputs){.x = &in[0],
                       .x_scale = &in[1],
                       .x_zero = &in[2],
                       .w = &in[3],
                       .w_scale = &in[4],
                       .w_zero = &in[5],
                       .y_scale = &in[6],
                       .y_zero = &in[7],
                       .bias = leati_input(call, 8)};
}

/* ---- Attributes and shapes --------------------------------------------------------------------------------------- */

static int32_t conv_integer_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                     leat_error *err) {
  (void)device;
  conv_integer_state state;
  return leati_conv_read(def, desc, &state.window, &state.group, err);
}

static int32_t conv_integer_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  conv_integer_state *const state = leati_op_state(op);
  return leati_conv_read(leati_op_def_of(op), desc, &state->window, &state->group, err);
}

/* Whether a scale or zero point has one element, or one for each output channel where there may be several. */
static bool place_fits(const leati_view *place, int64_t channels) {
  return place == NULL ||
         (place->ndim <= 1 && (place->count == 1 || (place->ndim == 1 && place->shape[0] == channels)));
}

static int32_t check_places(const char *name, const conv_inputs *in, leat_error *err) {
  const int64_t channels = in->w->shape[0];
  if (!place_fits(in->x_zero, 1) || !place_fits(in->x_scale, 1) || !place_fits(in->y_zero, 1) ||
      !place_fits(in->y_scale, 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: scales and zero points of input and result must have one element", name);
  }
  if (!place_fits(in->w_zero, channels) || !place_fits(in->w_scale, channels) ||
      (in->w_scale != NULL && in->w_scale->count == 1 && in->w_zero->count != 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: a scale and a zero point of the weights must have one element, or both one for each of the "
                      "%lld output channels",
                      name, (long long)channels);
  }
  return in->bias == NULL || (in->bias->ndim == 1 && in->bias->shape[0] == channels)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "the bias of a convolution to %lld channels must have that shape", (long long)channels);
}

/* Channels of a group times taps, which a sum is over; and bytes from one place of the window to the next. */
static int64_t terms_of(const leati_view *w) {
  return (int64_t)leati_product(w->shape, 1, w->ndim);
}
static int64_t pitch_of(const leati_view *w) {
  return (terms_of(w) + 3) / 4 * 4;
}

static int64_t product3(const int64_t v[LEATI_WINDOW_RANK]) {
  return v[0] * v[1] * v[2];
}

static int32_t conv_integer_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const conv_integer_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const conv_inputs in = inputs_of(op, call);
  leati_window_fit fit;
  out[0].dtype = leati_dtype_of(in.y_zero != NULL ? in.y_zero->type : LEAT_TYPE_INT32);
  LEATI_TRY(leati_conv_lay(name, &state->window, state->group, in.x, in.w, &fit, err));
  LEATI_TRY(check_places(name, &in, err));
  out[0].ndim = in.x->ndim;
  out[0].dims[0] = in.x->shape[0];
  out[0].dims[1] = in.w->shape[0];
  for (int32_t d = 2; d < in.x->ndim; ++d) {
    out[0].dims[d] = fit.out[LEATI_WINDOW_RANK - in.x->ndim + d];
  }
  double bytes = (double)in.x->shape[0] * (double)state->group * (double)pitch_of(in.w);
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    bytes *= (double)fit.out[d];
  }
  return bytes <= INT32_MAX && in.w->count <= INT32_MAX && in.x->count <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: what the window sees from all of its places has 2^31 bytes or more", name);
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* Argument record of kernels/unfold.comp. */
typedef struct unfold_args {
  uint64_t x, zero, y;
  uint32_t count, words, k;
  uint32_t places, out_height, out_width;
  int32_t depth, height, width;
  uint32_t plane;
  uint32_t groups, channels;
  uint32_t taps, kernel_area, kernel_width;
  int32_t stride[3], dilation[3], pad[3];
} unfold_args;

/* Plans what the window sees from its places, as the columns of a matrix for each image and group. */
static int32_t plan_unfold(leati_planner *planner, const leati_window_fit *fit, int64_t group, const leati_view *x,
                           const leati_view *w, const leati_view *zero, leati_view *out, leat_error *err) {
  const int64_t terms = terms_of(w), pitch = pitch_of(w), places = product3(fit->out), images = x->shape[0] * group;
  *out = (leati_view){.type = x->type, .ndim = 3, .shape = {images, places, pitch}};
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  unfold_args args = {.count = (uint32_t)(out->count / 4),
                      .words = (uint32_t)(pitch / 4),
                      .k = (uint32_t)terms,
                      .places = (uint32_t)places,
                      .out_height = (uint32_t)fit->out[1],
                      .out_width = (uint32_t)fit->out[2],
                      .depth = (int32_t)fit->in[0],
                      .height = (int32_t)fit->in[1],
                      .width = (int32_t)fit->in[2],
                      .plane = (uint32_t)product3(fit->in),
                      .groups = (uint32_t)group,
                      .channels = (uint32_t)w->shape[1],
                      .taps = (uint32_t)product3(fit->kernel),
                      .kernel_area = (uint32_t)(fit->kernel[1] * fit->kernel[2]),
                      .kernel_width = (uint32_t)fit->kernel[2]};
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    args.stride[d] = (int32_t)fit->stride[d];
    args.dilation[d] = (int32_t)fit->dilation[d];
    args.pad[d] = (int32_t)fit->pad_begin[d];
  }
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = LEATI_KERNEL_UNFOLD},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({x, &args.x}, {zero, &args.zero}),
                                  LEATI_WRITES({out, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  const int64_t shape[4] = {x->shape[0], group, terms, places};
  const int64_t strides[4] = {group * places * pitch, places * pitch, 1, pitch};
  leati_view_reshape(out, 4, shape, strides);
  return LEAT_OK;
}

/* Gives a compact view another shape. */
static void reshape(leati_view *view, int32_t ndim, const int64_t *shape) {
  view->ndim = ndim;
  memcpy(view->shape, shape, (size_t)ndim * sizeof(shape[0]));
  leati_view_make_compact(view);
}

/* What the weights have of scales or zero points as they broadcast to [group, rows, terms]; absent if there is none. */
static int32_t take_place(leati_planner *planner, const leati_view *given, int64_t group, int64_t rows, leati_view *out,
                          leat_error *err) {
  *out = (leati_view){.present = false};
  if (given == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, given, out, err));
  const int64_t each[3] = {group, rows, 1}, one[3] = {1, 1, 1};
  reshape(out, 3, given->count > 1 ? each : one);
  return LEAT_OK;
}

static int32_t conv_integer_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const conv_integer_state *const state = leati_op_state_const(op);
  const conv_inputs in = inputs_of(op, call);
  const int64_t group = state->group, rows = in.w->shape[0] / group;
  leati_view x, w, y = call->outputs[0], columns, w_zero, w_scale, x_zero;
  leati_window_fit fit;
  if (y.count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_conv_lay(leati_op_def_of(op)->info.name, &state->window, group, in.x, in.w, &fit, err));
  LEATI_TRY(leati_plan_compact(planner, in.x, &x, err));
  LEATI_TRY(leati_plan_compact(planner, in.w, &w, err));
  x_zero = (leati_view){.present = false};
  if (in.x_zero != NULL) {
    LEATI_TRY(leati_plan_compact(planner, in.x_zero, &x_zero, err));
  }
  const int64_t places = product3(fit.out), terms = terms_of(&w);
  const int64_t image[4] = {x.shape[0], group, terms, places}, kernel[3] = {group, rows, terms};
  const int64_t result[4] = {x.shape[0], group, rows, places};
  if (leati_conv_is_pointwise(&fit)) {
    columns = x;
    reshape(&columns, 4, image);
  } else {
    LEATI_TRY(plan_unfold(planner, &fit, group, &x, &w, x_zero.present ? &x_zero : NULL, &columns, err));
  }
  LEATI_TRY(take_place(planner, in.w_zero, group, rows, &w_zero, err));
  LEATI_TRY(take_place(planner, in.w_scale, group, rows, &w_scale, err));
  reshape(&w, 3, kernel);
  reshape(&y, 4, result);
  const leati_integer_product product = {.a = &w,
                                         .b = &columns,
                                         .c = &y,
                                         .bias = in.bias,
                                         .a_zero = w_zero.present ? &w_zero : NULL,
                                         .b_zero = x_zero.present ? &x_zero : NULL,
                                         .y_zero = in.y_zero,
                                         .a_scale = w_scale.present ? &w_scale : NULL,
                                         .b_scale = in.x_scale,
                                         .y_scale = in.y_scale};
  return leati_plan_integer_product(planner, &product, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_x, "T1", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_w, "T2", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_sum, "T3", LEAT_TYPE_INT32);
static LEATI_TYPE(type_result, "T3", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_bias, "T4", LEAT_TYPE_INT32);
static LEATI_TYPE(type_scale, "tensor(float)", LEAT_TYPE_FLOAT32);

/* A convolution of bytes. */
#define CONVOLUTION(name, inputs, which, ...)                                                                    \
  LEATI_OP(name, "", (10, 10), inputs, (1, 1), __VA_ARGS__,                                                      \
           LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &leati_attribute_dilations, &leati_attribute_group,       \
                            &leati_attribute_kernel_shape, &leati_attribute_pads, &leati_attribute_strides),     \
           .state_size = sizeof(conv_integer_state), .param = (which), .least_rank = 3,                          \
           .most_rank = 2 + LEATI_WINDOW_RANK, .supports = conv_integer_supports, .create = conv_integer_create, \
           .infer = conv_integer_infer, .plan = conv_integer_plan)

static const leati_op_def ops[] = {
    CONVOLUTION("ConvInteger", (2, 4), CONV_INTEGER, LEATI_TYPES(&type_x, &type_w, &type_sum),
                LEATI_INPUT_TYPES(0, 1, 0, 1), LEATI_OUTPUT_TYPES(2)),
    CONVOLUTION("QLinearConv", (8, 9), QLINEAR_CONV,
                LEATI_TYPES(&type_x, &type_w, &type_result, &type_bias, &type_scale),
                LEATI_INPUT_TYPES(0, 4, 0, 1, 4, 1, 4, 2, 3), LEATI_OUTPUT_TYPES(2)),
};

const leati_op_family leati_conv_integer_family = LEATI_FAMILY(ops);
