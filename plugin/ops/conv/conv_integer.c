/* SPDX-License-Identifier: BSD-3-Clause */
/* ConvInteger, QLinearConv and QuantizedConv: convolutions of int8 or uint8, as products of matrices. */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/conv/conv_shape.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/elementwise/function.h"
#include "ops/product/integer_product.h"

enum { CONV_INTEGER, QLINEAR_CONV, QUANTIZED_CONV };

typedef struct conv_integer_state {
  leati_window window;
  int64_t group;
  bool relu;
  bool last; /* images are in NHWC layout, weights are not */
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
  if (leati_op_def_of(op)->param == QUANTIZED_CONV) {
    return (conv_inputs){.x = &in[0],
                         .w = &in[1],
                         .x_scale = &in[2],
                         .w_scale = &in[3],
                         .x_zero = leati_input(call, 4),
                         .w_zero = leati_input(call, 5),
                         .bias = leati_input(call, 6),
                         .y_scale = leati_input(call, 7),
                         .y_zero = leati_input(call, 8)};
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

static LEATI_ATTRIBUTE(attribute_channels_last, "channels_last", INT);

/* ---- Attributes and shapes --------------------------------------------------------------------------------------- */

static int32_t conv_integer_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                     leat_error *err) {
  (void)device;
  conv_integer_state state;
  LEATI_TRY(leati_conv_read(def, desc, &state.window, &state.group, err));
  return leati_integer_product_read(def, desc, &state.relu, err);
}

static int32_t conv_integer_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  conv_integer_state *const state = leati_op_state(op);
  LEATI_TRY(leati_conv_read(leati_op_def_of(op), desc, &state->window, &state->group, err));
  state->last = leati_attr_int(desc, attribute_channels_last.name, 0) != 0;
  return leati_integer_product_read(leati_op_def_of(op), desc, &state->relu, err);
}

/* Whether a scale or zero point has one element, or one for each output channel where there may be several. */
static bool place_fits(const leati_view *place, int64_t channels) {
  return place == NULL ||
         (place->ndim <= 1 && (place->count == 1 || (place->ndim == 1 && place->shape[0] == channels)));
}

/* Whether floats are a list of channels, or broadcast to images as one does. */
static bool channels_fit(const leati_view *list, int64_t channels, int32_t rank) {
  const int32_t axis = list->ndim - rank + 1;
  return list->count == (uint64_t)channels &&
         (list->ndim == 1 ||
          (list->type == LEAT_TYPE_FLOAT32 && list->ndim <= rank && axis >= 0 && list->shape[axis] == channels));
}

static int32_t check_places(const char *name, const conv_inputs *in, leat_error *err) {
  const int64_t channels = in->w->shape[0];
  if (!place_fits(in->x_zero, 1) || !place_fits(in->x_scale, 1) || !place_fits(in->y_zero, 1) ||
      !place_fits(in->y_scale, 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: scales and zero points of input and result must have one element", name);
  }
  if (!place_fits(in->w_zero, channels) ||
      !(place_fits(in->w_scale, channels) || channels_fit(in->w_scale, channels, in->x->ndim)) ||
      (in->w_scale != NULL && in->w_scale->count == 1 && in->w_zero != NULL && in->w_zero->count != 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: a scale and a zero point of the weights must have one element, or both one for each of the "
                      "%lld output channels",
                      name, (long long)channels);
  }
  if (in->y_zero != NULL && in->y_scale == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the result has a zero point and no scale", name);
  }
  return in->bias == NULL || channels_fit(in->bias, channels, in->x->ndim)
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
  out[0].dtype = leati_dtype_of(leati_integer_product_type(in.x_scale, in.y_scale, in.y_zero));
  LEATI_TRY(leati_conv_lay(name, &state->window, NULL, state->group, in.x, in.w, &fit, err));
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

/* WINDOW_ARGS in kernels/unfold.glsl. */
typedef struct window_args {
  uint32_t places, out_height, out_width;
  int32_t depth, height, width;
  uint32_t plane;
  uint32_t taps, kernel_area, kernel_width;
  int32_t stride[3], dilation[3], pad[3];
} window_args;

/* Argument records of kernels/unfold.comp and of kernels/unfold_last.comp. */
typedef struct unfold_args {
  uint64_t x, zero, y;
  uint32_t count, words, k, channels;
  window_args window;
} unfold_args;
typedef struct unfold_last_args {
  uint64_t x, zero, y;
  uint32_t count, units, pitch;
  window_args window;
} unfold_last_args;

static window_args window_of(const leati_window_fit *fit) {
  window_args window = {.places = (uint32_t)product3(fit->out),
                        .out_height = (uint32_t)fit->out[1],
                        .out_width = (uint32_t)fit->out[2],
                        .depth = (int32_t)fit->in[0],
                        .height = (int32_t)fit->in[1],
                        .width = (int32_t)fit->in[2],
                        .plane = (uint32_t)product3(fit->in),
                        .taps = (uint32_t)product3(fit->kernel),
                        .kernel_area = (uint32_t)(fit->kernel[1] * fit->kernel[2]),
                        .kernel_width = (uint32_t)fit->kernel[2]};
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    window.stride[d] = (int32_t)fit->stride[d];
    window.dilation[d] = (int32_t)fit->dilation[d];
    window.pad[d] = (int32_t)fit->pad_begin[d];
  }
  return window;
}

/* A convolution as it is planned. */
typedef struct conv_job {
  leati_window_fit fit;
  int64_t group, places, terms;
  bool pointwise;
  bool last_in, last_out; /* x and y are in NHWC layout */
  leati_view x, w, x_zero;
} conv_job;

/* Plans what the window sees from its places, `out`, which has room for it. */
static int32_t plan_unfold(leati_planner *planner, const conv_job *job, const leati_view *out, leat_error *err) {
  unfold_args args = {.count = (uint32_t)(out->count / 4),
                      .words = (uint32_t)(out->shape[2] / 4),
                      .k = (uint32_t)job->terms,
                      .channels = (uint32_t)job->w.shape[1],
                      .window = window_of(&job->fit)};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = LEATI_KERNEL_UNFOLD},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&job->x, &args.x}, {job->x_zero.present ? &job->x_zero : NULL, &args.zero}),
      LEATI_WRITES({out, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* The same of images in NHWC layout. */
static int32_t plan_unfold_last(leati_planner *planner, const conv_job *job, const leati_view *out, leat_error *err) {
  const int64_t channels = job->w.shape[1], pitch = leati_pixel_pitch(&job->x);
  const bool sixteens = channels % 16 == 0 && pitch % 16 == 0 && job->x.address % 16 == 0;
  const uint32_t unit = sixteens ? 16 : 4;
  unfold_last_args args = {.count = (uint32_t)(out->count / unit),
                           .units = (uint32_t)channels / unit,
                           .pitch = (uint32_t)pitch / unit,
                           .window = window_of(&job->fit)};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = LEATI_KERNEL_UNFOLD_LAST, .constants.unfold_last = {.sixteens = sixteens}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&job->x, &args.x}, {job->x_zero.present ? &job->x_zero : NULL, &args.zero}),
      LEATI_WRITES({out, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Plans the columns of a matrix for each image and group: [image, group, term, place]. */
static int32_t plan_columns(leati_planner *planner, const conv_job *job, leati_view *out, leat_error *err) {
  const int64_t images = job->x.shape[0], group = job->group, terms = job->terms, places = job->places;
  const int64_t shape[4] = {images, group, terms, places};
  if (job->pointwise) {
    const int64_t pixel = job->last_in ? leati_pixel_pitch(&job->x) : 1, channel = job->last_in ? 1 : places;
    const int64_t image = (job->last_in ? pixel : group * terms) * places;
    const int64_t strides[4] = {image, terms * channel, channel, pixel};
    *out = job->x;
    leati_view_reshape(out, 4, shape, strides);
    return LEAT_OK;
  }
  const int64_t pitch = pitch_of(&job->w);
  const int64_t strides[4] = {group * places * pitch, places * pitch, 1, pitch};
  *out = (leati_view){.type = job->x.type, .ndim = 3, .shape = {images * group, places, pitch}};
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  LEATI_TRY(job->last_in ? plan_unfold_last(planner, job, out, err) : plan_unfold(planner, job, out, err));
  leati_view_reshape(out, 4, shape, strides);
  return LEAT_OK;
}

/* Gives a compact view another shape. */
static void reshape(leati_view *view, int32_t ndim, const int64_t *shape) {
  view->ndim = ndim;
  memcpy(view->shape, shape, (size_t)ndim * sizeof(shape[0]));
  leati_view_make_compact(view);
}

/* What the weights have of scales or zero points, as they broadcast to [group, rows, terms]; in NHWC layout, as a
 * list; absent if there is none. */
static int32_t take_place(leati_planner *planner, const leati_view *given, const conv_job *job, leati_view *out,
                          leat_error *err) {
  *out = (leati_view){.present = false};
  if (given == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, given, out, err));
  const int64_t count = (int64_t)given->count, groups = count > 1 ? job->group : 1;
  const int64_t rows[3] = {groups, count / groups, 1};
  reshape(out, job->last_out ? 1 : 3, job->last_out ? &count : rows);
  return LEAT_OK;
}

static const leati_view *if_present(const leati_view *view) {
  return view->present ? view : NULL;
}

/* The product of weights and columns for each group, or in NHWC layout of columns and weights. */
static int32_t plan_product(const leat_op *op, leati_planner *planner, const conv_job *job, const conv_inputs *in,
                            const leati_view *result, leat_error *err) {
  const int64_t images = job->x.shape[0], rows = job->w.shape[0] / job->group, places = job->places;
  leati_view columns, w = job->w, y = *result, w_zero, w_scale;
  LEATI_TRY(plan_columns(planner, job, &columns, err));
  LEATI_TRY(take_place(planner, in->w_zero, job, &w_zero, err));
  LEATI_TRY(take_place(planner, in->w_scale, job, &w_scale, err));
  leati_integer_product product = {.c = &y,
                                   .bias = in->bias,
                                   .floats = leati_op_def_of(op)->param == QUANTIZED_CONV,
                                   .relu = ((const conv_integer_state *)leati_op_state_const(op))->relu,
                                   .y_zero = in->y_zero,
                                   .y_scale = in->y_scale};
  if (job->last_out) {
    const int64_t pitch = leati_pixel_pitch(&y), kernel[2] = {rows, job->terms};
    const int64_t seen[3] = {images, places, job->terms}, given[3] = {images, places, rows};
    const int64_t steps[3] = {columns.strides[0], columns.strides[3], columns.strides[2]};
    const int64_t put[3] = {places * pitch, pitch, 1};
    leati_view_reshape(&columns, 3, seen, steps);
    reshape(&w, 2, kernel);
    leati_view_reshape(&y, 3, given, put);
    product.a = &columns;
    product.b = &w;
    product.trans_b = true;
    product.c_row = pitch;
    product.a_zero = if_present(&job->x_zero);
    product.a_scale = in->x_scale;
    product.b_zero = if_present(&w_zero);
    product.b_scale = if_present(&w_scale);
    return leati_plan_integer_product(planner, &product, err);
  }
  const int64_t kernel[3] = {job->group, rows, job->terms}, given[4] = {images, job->group, rows, places};
  reshape(&w, 3, kernel);
  reshape(&y, 4, given);
  product.a = &w;
  product.b = &columns;
  product.row_bias = true;
  product.a_zero = if_present(&w_zero);
  product.a_scale = if_present(&w_scale);
  product.b_zero = if_present(&job->x_zero);
  product.b_scale = in->x_scale;
  return leati_plan_integer_product(planner, &product, err);
}

/* Whether NHWC layout is allowed in images that are read, or written. */
static bool can_be_last(const leati_view *image, int64_t group) {
  return group == 1 && image->shape[1] % 4 == 0;
}

static int32_t lay(const leat_op *op, const conv_inputs *in, const leati_view *y, conv_job *job, leat_error *err) {
  const conv_integer_state *const state = leati_op_state_const(op);
  LEATI_TRY(
      leati_conv_lay(leati_op_def_of(op)->info.name, &state->window, NULL, state->group, in->x, in->w, &job->fit, err));
  job->group = state->group;
  job->places = product3(job->fit.out);
  job->terms = terms_of(in->w);
  job->pointwise = leati_conv_is_pointwise(&job->fit);
  job->last_in = can_be_last(in->x, job->group) && leati_is_channels_last(in->x);
  job->last_out = can_be_last(y, job->group) && leati_is_channels_last(y);
  return LEAT_OK;
}

/* Weights without gaps, in the order of what the window sees. */
static int32_t take_weights(leati_planner *planner, const leati_view *w, bool last, leati_view *out, leat_error *err) {
  const leati_view ordered = last ? leati_channels_last_order(w) : *w;
  LEATI_TRY(leati_plan_compact(planner, &ordered, out, err));
  memcpy(out->shape, w->shape, sizeof(out->shape));
  if (last) {
    leati_make_channels_last(out);
  }
  return LEAT_OK;
}

static int32_t conv_integer_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const conv_inputs in = inputs_of(op, call);
  const leati_view *const y = &call->outputs[0];
  conv_job job = {.x_zero = {.present = false}};
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(lay(op, &in, y, &job, err));
  LEATI_TRY(job.last_in ? leati_plan_channels_last(planner, in.x, &job.x, err)
                        : leati_plan_compact(planner, in.x, &job.x, err));
  LEATI_TRY(take_weights(planner, in.w, job.last_in && leati_has_channels(in.w), &job.w, err));
  if (in.x_zero != NULL) {
    LEATI_TRY(leati_plan_compact(planner, in.x_zero, &job.x_zero, err));
  }
  return plan_product(op, planner, &job, &in, y, err);
}

/* Bytes along k, of images and weights alike, are moved sixteen at a time then. */
static leati_channels_last_use conv_integer_channels_last(const leat_op *op, const leati_call *call,
                                                          uint32_t constants) {
  const uint32_t w = leati_op_def_of(op)->param == QLINEAR_CONV ? 3 : 1;
  const conv_inputs in = inputs_of(op, call);
  conv_job job;
  leati_channels_last_use use = {0};
  if (call->outputs[0].count == 0 || in.x->count == 0 ||
      leati_device_matrix(leati_op_device(op), LEAT_TYPE_INT8).m == 0 ||
      lay(op, &in, &call->outputs[0], &job, NULL) != LEAT_OK) {
    return use;
  }
  const bool moved = leati_has_channels(in.w), kept = leati_has_input(constants, w); /* weights */
  use.reads = use.prefers = job.group == 1 && in.x->shape[1] % 16 == 0 && (!moved || kept) ? 1u << 0 : 0;
  use.orders = moved && kept && job.last_in ? 1u << w : 0;
  use.writes = can_be_last(&call->outputs[0], job.group);
  return use;
}

/* ---- Of com.microsoft -------------------------------------------------------------------------------------------- */

#define QLINEAR_INPUTS 9

/* The inputs with images in NCHW. */
static leati_call call_in_nchw(const leati_call *call, leati_view inputs[QLINEAR_INPUTS]) {
  for (uint32_t i = 0; i < call->input_count; ++i) {
    inputs[i] = i == 0 ? leati_conv_in_nchw(&call->inputs[0]) : call->inputs[i];
  }
  return (leati_call){.input_count = call->input_count, .inputs = inputs, .output_count = call->output_count};
}

static int32_t own_conv_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  leati_view inputs[QLINEAR_INPUTS];
  if (!((const conv_integer_state *)leati_op_state_const(op))->last) {
    return conv_integer_infer(op, call, out, err);
  }
  const leati_call nchw = call_in_nchw(call, inputs);
  int64_t dims[LEAT_MAX_RANK];
  LEATI_TRY(conv_integer_infer(op, &nchw, out, err));
  memcpy(dims, out->dims, sizeof(dims));
  for (int32_t d = 0; d < out->ndim; ++d) {
    out->dims[leati_conv_nhwc_place(d, out->ndim)] = dims[d];
  }
  return LEAT_OK;
}

/* Where the kernels do not write NHWC, the result is copied there. */
static int32_t own_conv_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const conv_integer_state *const state = leati_op_state_const(op);
  leati_view inputs[QLINEAR_INPUTS];
  if (!state->last) {
    return conv_integer_plan(op, planner, call, err);
  }
  leati_call nchw = call_in_nchw(call, inputs);
  const leati_view y = leati_conv_in_nchw(&call->outputs[0]);
  nchw.outputs = &y;
  if (y.compact || (leati_is_channels_last(&y) && leati_holds_channels(&y) && can_be_last(&y, state->group))) {
    return conv_integer_plan(op, planner, &nchw, err);
  }
  leati_view made = {.type = y.type, .ndim = y.ndim};
  memcpy(made.shape, y.shape, sizeof(made.shape));
  LEATI_TRY(leati_plan_temporary(planner, &made, err));
  nchw.outputs = &made;
  LEATI_TRY(conv_integer_plan(op, planner, &nchw, err));
  return leati_plan_strided_copy(planner, &made, &y, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_x, "T1", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_w, "T2", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_sum, "T3", LEAT_TYPE_INT32);
static LEATI_TYPE(type_result, "T3", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_bias, "T4", LEAT_TYPE_INT32);
static LEATI_TYPE(type_scale, "tensor(float)", LEAT_TYPE_FLOAT32);

static LEATI_TYPE(type_float, "tensor(float)", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_any_result, "T3", LEATI_TYPES_BYTE | LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_result_zero, "T4", LEATI_TYPES_BYTE);

#define ATTRIBUTES                                                                                              \
  &leati_attribute_auto_pad, &leati_attribute_dilations, &leati_attribute_group, &leati_attribute_kernel_shape, \
      &leati_attribute_pads, &leati_attribute_strides

#define QLINEAR_TYPES                                                                                                 \
  LEATI_TYPES(&type_x, &type_w, &type_result, &type_bias, &type_scale), LEATI_INPUT_TYPES(0, 4, 0, 1, 4, 1, 4, 2, 3), \
      LEATI_OUTPUT_TYPES(2)

/* A convolution of int8 or uint8. */
#define CONVOLUTION_AS(name, domain, version, inputs, which, infer_, plan_, ...)                                 \
  LEATI_OP(name, domain, (version, version), inputs, (1, 1), .info.flags = LEAT_OP_HEAVY, __VA_ARGS__,           \
           .state_size = sizeof(conv_integer_state), .param = (which), .least_rank = 3,                          \
           .most_rank = 2 + LEATI_WINDOW_RANK, .supports = conv_integer_supports, .create = conv_integer_create, \
           .infer = infer_, .plan = plan_)
#define CONVOLUTION(name, domain, version, inputs, which, ...)                                             \
  CONVOLUTION_AS(name, domain, version, inputs, which, conv_integer_infer, conv_integer_plan, __VA_ARGS__, \
                 .channels_last = conv_integer_channels_last)

static const leati_op_def ops[] = {
    CONVOLUTION("ConvInteger", "", 10, (2, 4), CONV_INTEGER, LEATI_TYPES(&type_x, &type_w, &type_sum),
                LEATI_ATTRIBUTES(ATTRIBUTES), LEATI_INPUT_TYPES(0, 1, 0, 1), LEATI_OUTPUT_TYPES(2)),
    CONVOLUTION("QuantizedConv", "leat", 1, (4, 9), QUANTIZED_CONV,
                LEATI_TYPES(&type_x, &type_w, &type_any_result, &type_float, &type_result_zero),
                LEATI_ATTRIBUTES(ATTRIBUTES, &leati_attribute_activation), LEATI_INPUT_TYPES(0, 1, 3, 3, 0, 1, 3, 3, 4),
                LEATI_OUTPUT_TYPES(2)),
    CONVOLUTION("QLinearConv", "", 10, (8, 9), QLINEAR_CONV, LEATI_ATTRIBUTES(ATTRIBUTES), QLINEAR_TYPES),
    CONVOLUTION_AS("QLinearConv", "com.microsoft", 1, (8, 9), QLINEAR_CONV, own_conv_infer, own_conv_plan,
                   LEATI_ATTRIBUTES(ATTRIBUTES, &attribute_channels_last), QLINEAR_TYPES),
};

const leati_op_family leati_conv_integer_family = LEATI_FAMILY(ops);
