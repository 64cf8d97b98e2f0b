/* SPDX-License-Identifier: BSD-3-Clause */
/* Conv and ConvTranspose with one to three spatial dimensions, and those of com.microsoft that have channels last.
 * Reads better whole: how a convolution is computed, and the layouts of what it takes and gives, which each way asks.
 */
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/conv_transpose_gemm.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/product/gemm.h"

enum { CONV, CONV_TRANSPOSE };

typedef struct conv_state {
  leati_window window;
  leati_epilogue epilogue;
  int64_t group;
  leati_transposed_sizes transposed; /* ConvTranspose only */
} conv_state;

/* Argument record of kernels/conv.comp. */
typedef struct conv_args {
  leati_gemm_args gemm;
  uint32_t pixels;
  uint32_t out_height, out_width;
  leati_divider per_pixels, per_row;
  int32_t depth, height, width;
  uint32_t plane;
  uint32_t image_in, image_out;
  uint32_t group_in, group_out, group_weights;
  uint32_t group_rows;
  uint32_t taps;
  uint32_t kernel_area, kernel_width;
  leati_divider per_taps, per_area, per_width;
  uint32_t channels;
  leati_divider per_channels;
  uint32_t pitch_in, pitch_out, pitch_residual;
  int32_t stride[3], dilation[3], pad[3];
  leati_divider per_stride[3];
} conv_args;
_Static_assert(offsetof(conv_args, pixels) == sizeof(leati_gemm_args) && sizeof(conv_args) <= LEATI_ARGS_MAX,
               "as std430 lays it out, and it fits");

/* Argument record of kernels/conv_depthwise.comp. */
typedef struct depthwise_args {
  uint64_t x, weights, y, bias;
  leati_epilogue_args epilogue;
  uint32_t count, strips;
  uint32_t channels_in, channels;
  uint32_t out_depth, out_height, out_width;
  leati_divider per_strips, per_depth, per_height, per_channels, per_input;
  int32_t depth, height, width;
  int32_t kernel[3], stride[3], dilation[3], pad[3];
} depthwise_args;

/* Argument record of kernels/conv_depthwise_nhwc.comp. */
typedef struct depthwise_nhwc_args {
  uint64_t x, weights, y, bias;
  leati_epilogue_args epilogue;
  uint32_t count, parts, taps;
  uint32_t pitch_in, pitch_out, pitch_residual;
  uint32_t out_depth, out_height, out_width;
  leati_divider per_part, per_depth, per_height, per_width, per_input;
  int32_t depth, height, width;
  int32_t kernel[3], stride[3], dilation[3], pad[3];
} depthwise_nhwc_args;

static const leati_kernel_set tile_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_CONV_128,
    [LEATI_TILE_64] = LEATI_KERNELS_CONV_64,
    [LEATI_TILE_32] = LEATI_KERNELS_CONV_32,
};

static const leati_kernel_set nhwc_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_CONV_NHWC_128,
    [LEATI_TILE_64] = LEATI_KERNELS_CONV_NHWC_64,
    [LEATI_TILE_32] = LEATI_KERNELS_CONV_NHWC_32,
};

static const leati_kernel_set matrix_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_CONV_MATRIX_128,
    [LEATI_TILE_64] = LEATI_KERNELS_CONV_MATRIX_64,
    [LEATI_TILE_32] = LEATI_KERNELS_CONV_MATRIX_32,
};

static const leati_kernel_set last_kernels[LEATI_TILE_COUNT] = {
    [LEATI_TILE_128] = LEATI_KERNELS_CONV_LAST_128,
    [LEATI_TILE_64] = LEATI_KERNELS_CONV_LAST_64,
    [LEATI_TILE_32] = LEATI_KERNELS_CONV_LAST_32,
};

static int32_t lay(const leat_op *op, const leati_view *x, const leati_view *w, leati_window_fit *out,
                   leat_error *err) {
  const conv_state *state = leati_op_state_const(op);
  const leati_op_def *const def = leati_op_def_of(op);
  return leati_conv_lay(def->info.name, &state->window, def->param == CONV_TRANSPOSE ? &state->transposed : NULL,
                        state->group, x, w, out, err);
}

/* A gate has one element for each channel of each image. */
static int32_t check_gate(const conv_state *state, const leati_window_fit *fit, const leati_view *x,
                          const leati_view *gate, leat_error *err) {
  bool fits = gate->ndim == x->ndim;
  for (int32_t d = 0; d < x->ndim && fits; ++d) {
    fits = gate->shape[d] == (d < 2 ? x->shape[d] : 1);
  }
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "FusedConv: input 4, the gate, must have the shape of the input with one pixel");
  }
  return state->group == 1 && leati_conv_is_pointwise(fit)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "FusedConv: a gate is for one group, a kernel of 1, strides of 1 and no padding");
}

static int32_t conv_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const conv_state *state = leati_op_state_const(op);
  const bool transposed = leati_op_def_of(op)->param == CONV_TRANSPOSE;
  const leati_view *x = &call->inputs[0], *w = &call->inputs[1], *bias = leati_input(call, 2);
  leati_window_fit fit;
  LEATI_TRY(lay(op, x, w, &fit, err));
  out[0].ndim = x->ndim;
  out[0].dims[0] = x->shape[0];
  out[0].dims[1] = transposed ? w->shape[1] * state->group : w->shape[0];
  for (int32_t d = 2; d < x->ndim; ++d) {
    out[0].dims[d] = fit.out[LEATI_WINDOW_RANK - x->ndim + d];
  }
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != out[0].dims[1])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "the bias of a convolution to %lld channels must have that shape", (long long)out[0].dims[1]);
  }
  const leati_view *const residual = leati_input(call, 3);
  bool same = residual == NULL || residual->ndim == out[0].ndim;
  for (int32_t d = 0; residual != NULL && same && d < residual->ndim; ++d) {
    same = residual->shape[d] == out[0].dims[d];
  }
  if (!same) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input 3, which is added, must have the result's shape",
                      leati_op_def_of(op)->info.name);
  }
  return leati_input(call, 4) == NULL ? LEAT_OK : check_gate(state, &fit, x, leati_input(call, 4), err);
}

/* A convolution with elements, of tensors as a call has them. */
typedef struct conv_problem {
  const leat_device *device;
  const conv_state *state;
  const leati_window_fit *fit;
  const leati_view *x, *w, *y;
  bool transposed, gated;
} conv_problem;

/* The tensors of a convolution as a method takes them: compact, or in NHWC layout. */
typedef struct conv_job {
  const leati_view *x, *w, *y;
  const leati_view *bias, *residual, *gate; /* NULL: none */
  bool last_in, last_out;                   /* NHWC: x and, where taps are gathered, w; and y and the residual */
} conv_job;

static conv_problem problem_of(const leat_op *op, const leati_call *call, const leati_window_fit *fit) {
  return (conv_problem){.device = leati_op_device(op),
                        .state = leati_op_state_const(op),
                        .fit = fit,
                        .x = &call->inputs[0],
                        .w = &call->inputs[1],
                        .y = &call->outputs[0],
                        .transposed = leati_op_def_of(op)->param == CONV_TRANSPOSE,
                        .gated = leati_input(call, 4) != NULL};
}

static void copy3(int32_t *to, const int64_t *from) {
  for (int32_t d = 0; d < 3; ++d) {
    to[d] = (int32_t)from[d];
  }
}

static int64_t product3(const int64_t *values) {
  return values[0] * values[1] * values[2];
}

/* Whether an invocation of the depthwise kernel can go through all taps: three loops, one in the other; to leave a loop
 * takes a round too. */
static bool fits_depthwise(const leat_device *device, const leati_window_fit *fit) {
  const uint64_t rounds = (uint64_t)(1 + fit->kernel[0] * (2 + fit->kernel[1] * (2 + fit->kernel[2])));
  return leati_check_rounds(device, rounds, "Conv", NULL) == LEAT_OK;
}

/* Whether the depthwise kernel is told the taps of a slice, and has them all written out. */
static bool knows_taps(const leati_window_fit *fit) {
  return fit->kernel[1] * fit->kernel[2] <= LEATI_DEPTHWISE_TAPS_MAX && fit->stride[2] <= 2 && fit->dilation[2] == 1;
}

static int32_t plan_depthwise(leati_planner *planner, const conv_problem *problem, const conv_job *job,
                              leat_error *err) {
  const leati_window_fit *const fit = problem->fit;
  const leati_epilogue *const epilogue = &problem->state->epilogue;
  const leati_view *const x = job->x, *const y = job->y;
  depthwise_args args = {.strips = (uint32_t)((fit->out[2] + 3) / 4),
                         .channels_in = (uint32_t)x->shape[1],
                         .channels = (uint32_t)y->shape[1],
                         .out_depth = (uint32_t)fit->out[0],
                         .out_height = (uint32_t)fit->out[1],
                         .out_width = (uint32_t)fit->out[2],
                         .depth = (int32_t)fit->in[0],
                         .height = (int32_t)fit->in[1],
                         .width = (int32_t)fit->in[2]};
  args.count = (uint32_t)(y->count / (uint64_t)fit->out[2]) * args.strips;
  args.per_strips = leati_divider_of(args.strips);
  args.per_depth = leati_divider_of(args.out_depth);
  args.per_height = leati_divider_of(args.out_height);
  args.per_channels = leati_divider_of(args.channels);
  args.per_input = leati_divider_of(args.channels / args.channels_in);
  copy3(args.kernel, fit->kernel);
  copy3(args.stride, fit->stride);
  copy3(args.dilation, fit->dilation);
  copy3(args.pad, fit->pad_begin);
  const bool sliding = fit->stride[2] == 1 && fit->dilation[2] == 1, known = x->count != 0 && knows_taps(fit);
  const uint32_t residual = leati_epilogue_fill(epilogue, y->type, job->residual, &args.epilogue);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_CONV_DEPTHWISE, y->type),
                   .constants.conv_depthwise = {.sliding = sliding && !known,
                                                .kernel_y = known ? (uint32_t)fit->kernel[1] : 0,
                                                .kernel_x = known ? (uint32_t)fit->kernel[2] : 0,
                                                .stride_x = known ? (uint32_t)fit->stride[2] : 1,
                                                .activation = epilogue->activation.operation,
                                                .residual = residual}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({x, &args.x}, {job->w, &args.weights}, {job->bias, &args.bias},
                  {job->residual, &args.epilogue.residual}),
      LEATI_WRITES({y, &args.y}),
      .multiplications = y->count * (uint64_t)product3(fit->kernel)};
  leati_groups_linear(planner->device, args.count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* A kernel of one tap that moves by one is a plain matrix product of weights and image; if the result is in NHWC
 * layout, of image and weights, for one group. */
static int32_t plan_pointwise(leati_planner *planner, const conv_problem *problem, const conv_job *job,
                              leat_error *err) {
  const leati_view *const x = job->x, *const y = job->y;
  const int64_t group = problem->state->group, pixels = product3(problem->fit->out);
  const int64_t images = x->shape[0], channels_in = x->shape[1] / group, channels_out = y->shape[1] / group;
  const int64_t pixel = job->last_in ? leati_pixel_pitch(x) : 1, channel = job->last_in ? 1 : pixels;
  leati_gemm gemm = {.c = y,
                     .bias = job->bias,
                     .residual = job->residual,
                     .gate = job->gate,
                     .epilogue = problem->state->epilogue,
                     .k = channels_in,
                     .bias_period = group,
                     .alpha = 1,
                     .beta = 1};
  int64_t *image_batch = gemm.b_batch, *group_batch = gemm.a_batch;
  int64_t residual_image = y->shape[1] * pixels;
  if (job->last_out) {
    gemm.a = x;
    gemm.b = job->w;
    gemm.m = pixels;
    gemm.n = channels_out;
    gemm.a_row = pixel;
    gemm.a_k = channel;
    gemm.b_k = gemm.bias_column = 1;
    gemm.b_column = channels_in;
    gemm.c_row = leati_pixel_pitch(y);
    image_batch = gemm.a_batch;
    group_batch = gemm.b_batch;
  } else {
    gemm.a = job->w;
    gemm.b = x;
    gemm.m = channels_out;
    gemm.n = pixels;
    gemm.a_row = channels_in;
    gemm.a_k = gemm.bias_row = 1;
    gemm.b_k = channel;
    gemm.b_column = pixel;
    gemm.bias_batch = channels_out;
  }
  if (job->residual != NULL) {
    gemm.residual_row = job->last_out ? leati_pixel_pitch(job->residual) : gemm.n;
    gemm.residual_column = 1;
    residual_image = job->last_out ? gemm.residual_row * pixels : residual_image;
  }
  if (images > 1) {
    gemm.batch_shape[gemm.batch_rank] = images;
    gemm.residual_batch[gemm.batch_rank] = job->residual != NULL ? residual_image : 0;
    image_batch[gemm.batch_rank++] = (job->last_in ? pixel : x->shape[1]) * pixels;
  }
  if (group > 1) {
    gemm.batch_shape[gemm.batch_rank] = group;
    gemm.residual_batch[gemm.batch_rank] = job->residual != NULL ? channels_out * pixels : 0;
    group_batch[gemm.batch_rank] = channels_out * channels_in;
    image_batch[gemm.batch_rank++] = channels_in * channel;
  }
  return leati_plan_gemm(planner, &gemm, err);
}

/* Whether so many elements may be moved at once from a multiple of their number on. */
static bool holds(const leati_view *view, uint32_t count) {
  return view->address % (count * view->item_size) == 0;
}

static bool holds_quads(const leati_view *view) {
  return holds(view, 4);
}

/* Images, and the result, are in NHWC layout: an invocation has four channels of a pixel, or one. */
static int32_t plan_depthwise_nhwc(leati_planner *planner, const conv_problem *problem, const conv_job *job,
                                   leat_error *err) {
  const leati_window_fit *const fit = problem->fit;
  const leati_epilogue *const epilogue = &problem->state->epilogue;
  const leati_view *const x = job->x, *const y = job->y, *const residual = job->residual;
  const uint32_t channels = (uint32_t)y->shape[1], channels_in = (uint32_t)x->shape[1];
  const int64_t pitch_in = leati_pixel_pitch(x), pitch_out = leati_pixel_pitch(y);
  const int64_t pitch_residual = residual != NULL ? leati_pixel_pitch(residual) : 0;
  const bool quads = channels == channels_in && channels % 4 == 0 && (pitch_in | pitch_out | pitch_residual) % 4 == 0 &&
                     holds_quads(x) && holds_quads(y) && (residual == NULL || holds_quads(residual));
  const uint32_t at_once = quads ? 4 : 1;
  depthwise_nhwc_args args = {.count = (uint32_t)(y->count / at_once),
                              .parts = channels / at_once,
                              .taps = (uint32_t)product3(fit->kernel),
                              .pitch_in = (uint32_t)pitch_in / at_once,
                              .pitch_out = (uint32_t)pitch_out / at_once,
                              .pitch_residual = (uint32_t)pitch_residual / at_once,
                              .out_depth = (uint32_t)fit->out[0],
                              .out_height = (uint32_t)fit->out[1],
                              .out_width = (uint32_t)fit->out[2],
                              .depth = (int32_t)fit->in[0],
                              .height = (int32_t)fit->in[1],
                              .width = (int32_t)fit->in[2]};
  args.per_part = leati_divider_of(args.parts);
  args.per_depth = leati_divider_of(args.out_depth);
  args.per_height = leati_divider_of(args.out_height);
  args.per_width = leati_divider_of(args.out_width);
  args.per_input = leati_divider_of(channels / channels_in);
  copy3(args.kernel, fit->kernel);
  copy3(args.stride, fit->stride);
  copy3(args.dilation, fit->dilation);
  copy3(args.pad, fit->pad_begin);
  const uint32_t adds = leati_epilogue_fill(epilogue, y->type, residual, &args.epilogue);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_CONV_DEPTHWISE_NHWC, y->type),
                   .constants.conv_depthwise_nhwc = {.quads = quads,
                                                     .activation = epilogue->activation.operation,
                                                     .residual = adds}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({x, &args.x}, {job->w, &args.weights}, {job->bias, &args.bias}, {residual, &args.epilogue.residual}),
      LEATI_WRITES({y, &args.y}),
      .multiplications = y->count * (uint64_t)args.taps};
  leati_groups_linear(planner->device, args.count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Of the kernels that read channels which are neighbours: how many at once, and taps at most, for each of which a
 * thread has a bit (STEPS - 1 in kernels/conv_matrix.comp). */
#define CHANNELS_AT_ONCE 8
#define CHANNELS_TAPS_MAX 31
/* Likewise without matrix hardware (STEPS - 1 in kernels/conv_nhwc.comp). */
#define NHWC_TAPS_MAX 63
/* How many times what is moved has to fit into an allocation: a graph's arena has it beside all else. */
#define MOVED_SHARE 8

/* Chooses the kernel of such a product, and tiles and splits in its argument record. */
static leati_pipeline_key choose_kernel(const conv_problem *problem, const conv_job *job, bool volume,
                                        uint32_t residual, leati_gemm_args *args, leati_tile *out_tile) {
  const leat_device *const device = problem->device;
  const uint32_t activation = problem->state->epilogue.activation.operation;
  const bool transposed = problem->transposed;
  /* takes_channels_last() asks for these too. */
  const leati_kernel_set *const kernels = job->last_in ? last_kernels : matrix_kernels;
  const leati_matrix_shape matrix = leati_gemm_matrix(device, kernels, job->y->type, args);
  /* The kernels for matrix hardware also read element 0 for pixels that are outside of the image. */
  if (job->x->count != 0 && matrix.m != 0) {
    const uint32_t at_once = 16 / job->w->item_size;
    const uint32_t subgroup = device->physical->subgroup_size;
    *out_tile = leati_gemm_choose_matrix_tile(device, job->last_in ? LEATI_WORK_OTHER : LEATI_WORK_CONVOLUTION, args);
    return (leati_pipeline_key){
        .kernel = leati_kernel_find(kernels[*out_tile], job->y->type),
        .constants.conv_matrix = {.wide = !transposed && args->k % at_once == 0 && holds(job->w, at_once),
                                  .last_out = job->last_out,
                                  .transposed = transposed,
                                  .volume = volume,
                                  .activation = activation,
                                  .residual = residual,
                                  .subgroup_size = subgroup,
                                  .matrix_m = matrix.m,
                                  .matrix_n = matrix.n,
                                  .matrix_k = matrix.k,
                                  .threads = subgroup * leati_matrix_subgroups(*out_tile, job->last_in)}};
  }
  const bool quads = !transposed && args->k % 4 == 0 && holds_quads(job->w);
  *out_tile = leati_gemm_choose_tile(device, LEATI_WORK_CONVOLUTION, args);
  return (leati_pipeline_key){.kernel = leati_kernel_find(tile_kernels[*out_tile], job->y->type),
                              .constants.conv = {.mode_a = quads ? LEATI_MODE_QUADS_K : LEATI_MODE_SINGLES_K,
                                                 .split = args->splits > 1,
                                                 .transposed = transposed,
                                                 .volume = volume,
                                                 .activation = activation,
                                                 .residual = residual}};
}

/* A convolution as a product for each group. */
static leati_gemm_args product_of(const conv_problem *problem) {
  const leati_view *const x = problem->x, *const y = problem->y;
  const int64_t group = problem->state->group;
  return (leati_gemm_args){.m = (uint32_t)(y->shape[1] / group),
                           .n = (uint32_t)(y->shape[0] * product3(problem->fit->out)),
                           .k = (uint32_t)(x->shape[1] / group * product3(problem->fit->kernel)),
                           .batch = (uint32_t)group};
}

/* Whether there are kernels for this convolution that read NHWC. */
static bool takes_channels_last(const conv_problem *problem) {
  if (problem->transposed || problem->gated) {
    return false;
  }
  const leati_gemm_args product = product_of(problem);
  return problem->x->count != 0 && problem->x->shape[1] / problem->state->group % CHANNELS_AT_ONCE == 0 &&
         product3(problem->fit->kernel) <= CHANNELS_TAPS_MAX &&
         leati_gemm_matrix(problem->device, last_kernels, problem->y->type, &product).m != 0;
}

/* Whether images and weights are converted to NHWC before they are multiplied. They are not where copying would be
 * refused, or might leave too little memory: by the device's limit and not by what a process may have now, because the
 * same call is to give the same bits at any time. */
static bool pays_channels_last(const conv_problem *problem) {
  const leati_view *const x = problem->x, *const w = problem->w;
  const leati_gemm_args product = product_of(problem);
  const leati_gemm_shape shape = {.m = product.m, .n = product.n, .k = product.k, .batch = product.batch};
  const uint64_t moved = x->count + w->count;
  return leati_check_reach(x, "x", NULL) == LEAT_OK && leati_check_reach(w, "w", NULL) == LEAT_OK &&
         leati_conv_last_pays(&problem->device->traits, &shape, moved) &&
         moved * x->item_size <= problem->device->physical->info.max_allocation_size / MOVED_SHARE;
}

/* The arguments of a kernel that gathers images, but for the product's own. */
static conv_args gather_args(const conv_problem *problem, const conv_job *job) {
  const leati_window_fit *const fit = problem->fit;
  const int64_t group = problem->state->group;
  const leati_view *const x = job->x, *const y = job->y;
  const int64_t taps = product3(fit->kernel), pixels = product3(fit->out), plane = product3(fit->in);
  const int64_t channels_in = x->shape[1] / group, channels_out = y->shape[1] / group;
  const bool last = job->last_in;
  conv_args args = {.pixels = (uint32_t)pixels,
                    .out_height = (uint32_t)fit->out[1],
                    .out_width = (uint32_t)fit->out[2],
                    .depth = (int32_t)fit->in[0],
                    .height = (int32_t)fit->in[1],
                    .width = (int32_t)fit->in[2],
                    .plane = (uint32_t)plane,
                    .image_in = (uint32_t)((last ? leati_pixel_pitch(x) : x->shape[1]) * plane),
                    .image_out = (uint32_t)(y->shape[1] * pixels),
                    .group_in = (uint32_t)(last ? channels_in : channels_in * plane),
                    .group_out = (uint32_t)(channels_out * pixels),
                    .group_weights = (uint32_t)(channels_out * channels_in * taps),
                    .group_rows = (uint32_t)channels_out,
                    .taps = (uint32_t)taps,
                    .kernel_area = (uint32_t)(fit->kernel[1] * fit->kernel[2]),
                    .kernel_width = (uint32_t)fit->kernel[2],
                    .channels = (uint32_t)channels_in};
  if (last) {
    args.pitch_in = (uint32_t)leati_pixel_pitch(x);
  }
  if (job->last_out) {
    args.pitch_out = (uint32_t)leati_pixel_pitch(y);
    args.pitch_residual = job->residual != NULL ? (uint32_t)leati_pixel_pitch(job->residual) : 0;
  }
  args.per_pixels = leati_divider_of(args.pixels);
  args.per_row = leati_divider_of(args.out_width);
  args.per_taps = leati_divider_of(args.taps);
  args.per_area = leati_divider_of(args.kernel_area);
  args.per_width = leati_divider_of(args.kernel_width);
  args.per_channels = leati_divider_of(args.channels);
  copy3(args.stride, fit->stride);
  copy3(args.dilation, fit->dilation);
  copy3(args.pad, fit->pad_begin);
  for (int32_t d = 0; d < 3; ++d) {
    args.per_stride[d] = leati_divider_of((uint32_t)args.stride[d]);
  }
  return args;
}

/* Whether an image, a kernel or a padding has a depth. */
static bool is_volume(const leati_window_fit *fit) {
  return fit->in[0] != 1 || fit->out[0] != 1 || fit->kernel[0] != 1 || fit->pad_begin[0] != 0;
}

static int32_t plan_tiled(leati_planner *planner, const conv_problem *problem, const conv_job *job, leat_error *err) {
  const leati_window_fit *const fit = problem->fit;
  const leati_view *const x = job->x, *const w = job->w, *const y = job->y;
  conv_args args = gather_args(problem, job);
  args.gemm = product_of(problem);
  const bool whole = args.pixels % 4 == 0; /* groups of four pixels are of one image */
  args.gemm.vector = (whole && holds_quads(y) ? LEATI_VECTOR_C : 0) |
                     (whole && job->residual != NULL && holds_quads(job->residual) ? LEATI_VECTOR_RESIDUAL : 0);
  const uint32_t residual = leati_epilogue_fill(&problem->state->epilogue, y->type, job->residual, &args.gemm.epilogue);
  leati_tile tile;
  leati_dispatch_desc dispatch = {.pipeline = choose_kernel(problem, job, is_volume(fit), residual, &args.gemm, &tile),
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({w, &args.gemm.a}, {x, &args.gemm.b}, {job->bias, &args.gemm.bias},
                                              {job->residual, &args.gemm.epilogue.residual}),
                                  LEATI_WRITES({y, &args.gemm.c})};
  return leati_plan_tiles(planner, &dispatch, &args.gemm, leati_tile_size(tile), err);
}

/* As a product of pixels and weights, whose result is in NHWC layout as images and weights are. */
static int32_t plan_nhwc(leati_planner *planner, const conv_problem *problem, const conv_job *job, leat_error *err) {
  const leati_view *const x = job->x, *const w = job->w, *const y = job->y, *const residual = job->residual;
  conv_args args = gather_args(problem, job);
  const leati_gemm_args product = product_of(problem);
  leati_gemm_args *const gemm = &args.gemm;
  *gemm = (leati_gemm_args){.m = product.n,
                            .n = product.m,
                            .k = product.k,
                            .batch = product.batch,
                            .c_row = (int32_t)leati_pixel_pitch(y),
                            .c_batch = product.m,
                            .batch_rank = 1,
                            .batch_shape = {product.batch},
                            .b_batch = {(int32_t)args.group_weights},
                            .bias_column = 1,
                            .bias_batch = (int32_t)product.m,
                            .bias_period = product.batch,
                            .alpha = 1,
                            .beta = 1};
  const bool whole = gemm->n % 4 == 0;
  gemm->vector = whole && gemm->c_row % 4 == 0 && holds_quads(y) ? LEATI_VECTOR_C : 0;
  if (residual != NULL) {
    gemm->residual_row = (int32_t)leati_pixel_pitch(residual);
    gemm->residual_column = 1;
    gemm->residual_batch[0] = (int32_t)product.m;
    gemm->vector |= whole && gemm->residual_row % 4 == 0 && holds_quads(residual) ? LEATI_VECTOR_RESIDUAL : 0;
  }
  const bool quads = args.channels % 4 == 0 && args.pitch_in % 4 == 0 && holds_quads(x) && holds_quads(w);
  const leati_epilogue *const epilogue = &problem->state->epilogue;
  const uint32_t adds = leati_epilogue_fill(epilogue, y->type, residual, &gemm->epilogue);
  const leati_tile tile = leati_gemm_choose_tile(problem->device, LEATI_WORK_CONVOLUTION, gemm);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(nhwc_kernels[tile], y->type),
                   .constants.conv_nhwc = {.mode = quads ? LEATI_MODE_QUADS_K : LEATI_MODE_SINGLES_K,
                                           .split = gemm->splits > 1,
                                           .volume = is_volume(problem->fit),
                                           .activation = epilogue->activation.operation,
                                           .residual = adds}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({x, &gemm->a}, {w, &gemm->b}, {job->bias, &gemm->bias}, {residual, &gemm->epilogue.residual}),
      LEATI_WRITES({y, &gemm->c})};
  return leati_plan_tiles(planner, &dispatch, gemm, leati_tile_size(tile), err);
}

static int32_t plan_transpose_gemm(leati_planner *planner, const conv_problem *problem, const conv_job *job,
                                   leat_error *err) {
  return leati_plan_conv_transpose_gemm(planner, problem->fit, job->x, job->w, job->bias, job->y, err);
}

/* ---- Which method ----------------------------------------------------------------------------------------------- */

static bool always(const conv_problem *problem) {
  (void)problem;
  return true;
}

static bool never(const conv_problem *problem) {
  (void)problem;
  return false;
}

static bool has_one_tap(const conv_problem *problem) {
  return !problem->transposed && leati_conv_is_pointwise(problem->fit);
}

static bool is_in_nhwc(const conv_problem *problem) {
  return leati_is_channels_last(problem->x);
}

static bool is_transpose_gemm(const conv_problem *problem) {
  return problem->transposed && problem->state->group == 1 && leati_conv_is_transpose_gemm(problem->fit);
}

/* Groups are products of NCHW alone. */
static bool is_pointwise(const conv_problem *problem) {
  return has_one_tap(problem) &&
         (problem->state->group == 1 ||
          !(leati_is_channels_last(problem->y) || (is_in_nhwc(problem) && takes_channels_last(problem))));
}

static bool pointwise_reads_nhwc(const conv_problem *problem) {
  return is_in_nhwc(problem) && problem->state->group == 1 && !problem->gated;
}

static bool is_depthwise(const conv_problem *problem) {
  return !problem->transposed && problem->state->group > 1 && problem->w->shape[1] == 1 && !has_one_tap(problem) &&
         fits_depthwise(problem->device, problem->fit);
}

/* Whether an image is in NHWC layout, or would be the same so. */
static bool may_be_nhwc(const leati_view *view) {
  return leati_is_channels_last(view) || (view->compact && !leati_has_channels(view));
}

static bool is_depthwise_nhwc(const conv_problem *problem) {
  return is_depthwise(problem) && is_in_nhwc(problem) && may_be_nhwc(problem->y);
}

/* Images that are not in NHWC layout before and behind it are not converted. Of many taps copies cost less than doing
 * without matrix hardware. */
static bool is_nhwc(const conv_problem *problem) {
  const leati_gemm_args product = product_of(problem);
  const bool matrix = leati_gemm_matrix(problem->device, matrix_kernels, problem->y->type, &product).m != 0;
  return !problem->transposed && !problem->gated && is_in_nhwc(problem) && may_be_nhwc(problem->y) &&
         product3(problem->fit->kernel) <= (matrix ? CHANNELS_TAPS_MAX : NHWC_TAPS_MAX);
}

static bool is_tiled_nhwc(const conv_problem *problem) {
  return takes_channels_last(problem) && (is_in_nhwc(problem) || pays_channels_last(problem));
}

/* Gives a tensor in the layout that a method takes it in: itself, or a copy. */
typedef int32_t layout_fn(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err);

/* How a convolution may be computed. */
typedef struct conv_method {
  bool (*applies)(const conv_problem *problem);
  bool (*reads_nhwc)(const conv_problem *problem); /* x; else it is compact */
  layout_fn *lay_weights;
  int32_t (*plan)(leati_planner *planner, const conv_problem *problem, const conv_job *job, leat_error *err);
} conv_method;

/* The first of them that applies is taken. */
enum { TRANSPOSE_GEMM, POINTWISE, DEPTHWISE_NHWC, DEPTHWISE, TILED_NHWC, NHWC, TILED };
static const conv_method methods[] = {
    [TRANSPOSE_GEMM] = {is_transpose_gemm, is_in_nhwc, leati_plan_transpose_gemm_weights, plan_transpose_gemm},
    [POINTWISE] = {is_pointwise, pointwise_reads_nhwc, leati_plan_compact, plan_pointwise},
    [DEPTHWISE_NHWC] = {is_depthwise_nhwc, always, leati_plan_compact, plan_depthwise_nhwc},
    [DEPTHWISE] = {is_depthwise, never, leati_plan_compact, plan_depthwise},
    [TILED_NHWC] = {is_tiled_nhwc, always, leati_plan_channels_last, plan_tiled},
    [NHWC] = {is_nhwc, always, leati_plan_channels_last, plan_nhwc},
    [TILED] = {always, never, leati_plan_compact, plan_tiled},
};

static const conv_method *find_method(const conv_problem *problem) {
  const conv_method *method = methods;
  while (!method->applies(problem)) {
    ++method;
  }
  return method;
}

/* Gives the inputs of a call in the layouts that a method takes. `views`: room for all of them. */
static int32_t lay_inputs(leati_planner *planner, const leati_call *call, const conv_method *method, leati_view *views,
                          conv_job *job, leat_error *err) {
  layout_fn *const lay_x = job->last_in ? leati_plan_channels_last : leati_plan_compact;
  layout_fn *const lay_residual = job->last_out ? leati_plan_channels_last : leati_plan_compact;
  LEATI_TRY(lay_x(planner, &call->inputs[0], &views[0], err));
  LEATI_TRY(method->lay_weights(planner, &call->inputs[1], &views[1], err));
  job->x = &views[0];
  job->w = &views[1];
  if (leati_input(call, 2) != NULL) {
    leati_view bias = call->inputs[2];
    bias.compact = bias.compact && (!job->last_out || holds_quads(&bias));
    LEATI_TRY(leati_plan_compact(planner, &bias, &views[2], err));
    job->bias = &views[2];
  }
  if (leati_input(call, 3) != NULL) {
    LEATI_TRY(lay_residual(planner, &call->inputs[3], &views[3], err));
    job->residual = &views[3];
  }
  if (leati_input(call, 4) != NULL) {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[4], &views[4], err));
    job->gate = &views[4];
  }
  return LEAT_OK;
}

static int32_t conv_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_window_fit fit;
  LEATI_TRY(lay(op, &call->inputs[0], &call->inputs[1], &fit, err));
  for (int32_t i = 0; i < 2; ++i) {
    if (call->inputs[i].count > INT32_MAX || y->count > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "a convolution of tensors with 2^31 elements or more is not supported");
    }
  }
  const conv_problem problem = problem_of(op, call, &fit);
  const conv_method *const method = find_method(&problem);
  conv_job job = {.y = y, .last_in = method->reads_nhwc(&problem), .last_out = leati_is_channels_last(y)};
  leati_view views[5];
  LEATI_TRY(lay_inputs(planner, call, method, views, &job, err));
  return method->plan(planner, &problem, &job, err);
}

/* Channels are stored four at a time in NHWC layout, by the kernels for matrix hardware alone. */
static leati_channels_last_use conv_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  leati_window_fit fit = {.pad_end = {0}};
  const conv_problem problem = problem_of(op, call, &fit);
  const leati_view *const x = problem.x, *const w = problem.w, *const y = problem.y;
  leati_channels_last_use use = {0};
  if (y->count == 0 || x->count == 0 || x->count > INT32_MAX || y->count > INT32_MAX || problem.gated ||
      lay(op, x, w, &fit, NULL) != LEAT_OK) {
    return use;
  }
  const conv_method *const method = find_method(&problem);
  if (method == &methods[TRANSPOSE_GEMM]) {
    return leati_conv_transpose_gemm_use(problem.device, x, w, y, constants);
  }
  if (method == &methods[DEPTHWISE] || method == &methods[DEPTHWISE_NHWC]) {
    return use;
  }
  const leati_gemm_args product = product_of(&problem);
  const bool takes = takes_channels_last(&problem);
  /* Weights in NHWC layout too, where x is. */
  const bool converts_weights = takes && method != &methods[POINTWISE] && leati_has_channels(w);
  /* Weights that are copied for each call cost more than most convolutions gain. */
  use.reads = use.prefers =
      takes && (!converts_weights || leati_has_input(constants, 1) || pays_channels_last(&problem)) ? 1u << 0 : 0;
  use.orders = converts_weights && method == &methods[TILED_NHWC] ? constants & 1u << 1 : 0;
  use.matches_output = 1u << 3;
  use.writes = y->shape[1] / problem.state->group % 4 == 0 &&
               leati_gemm_matrix(problem.device, matrix_kernels, y->type, &product).m != 0;
  return use;
}

static int32_t read_state(const leati_op_def *def, const leati_op_desc *desc, conv_state *state, leat_error *err) {
  LEATI_TRY(leati_conv_read(def, desc, &state->window, &state->group, err));
  LEATI_TRY(leati_epilogue_read(def, desc, &state->epilogue, err));
  return def->param == CONV_TRANSPOSE ? leati_transposed_sizes_read(desc, &state->transposed, err) : LEAT_OK;
}

static int32_t conv_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  conv_state state = {.group = 1};
  LEATI_TRY(read_state(def, desc, &state, err));
  const leat_value_info *const x = &desc->inputs[0], *const w = &desc->inputs[1];
  if (!leati_may_equal(x->ndim, w->ndim)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: an input of rank %d and weights of rank %d",
                      def->info.name, x->ndim, w->ndim);
  }
  /* Often batches or pixels are not known, so that nothing is inferred yet, and the channels are. */
  const bool known = x->ndim >= 3 && w->ndim >= 3 && x->shape[1] >= 0 && w->shape[0] >= 0 && w->shape[1] >= 0;
  return known ? leati_conv_check_channels(x->shape, w->shape, def->param == CONV_TRANSPOSE, state.group, err)
               : LEAT_OK;
}

static int32_t conv_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_state(leati_op_def_of(op), desc, leati_op_state(op), err);
}

/* ---- NHWC ------------------------------------------------------------------------------------------------------- */

/* Whether input `i` is in NHWC layout: images are, and the weights of NhwcConv, which adds no tensor. */
static bool is_nhwc_input(const leati_op_def *def, uint32_t i) {
  return i == 0 || i == 3 || (i == 1 && def->info.max_inputs == 3);
}

/* Inputs of a convolution in NHWC as one in NCHW has them. */
#define NHWC_INPUTS 4
static leati_call call_in_nchw(const leat_op *op, const leati_call *call, leati_view inputs[NHWC_INPUTS]) {
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const bool turned = is_nhwc_input(leati_op_def_of(op), i) && call->inputs[i].present;
    inputs[i] = turned ? leati_conv_in_nchw(&call->inputs[i]) : call->inputs[i];
  }
  return (leati_call){.input_count = call->input_count, .inputs = inputs, .output_count = call->output_count};
}

static int32_t nhwc_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  leati_op_desc nchw = *desc;
  leat_value_info inputs[NHWC_INPUTS];
  int64_t shapes[2][LEAT_MAX_RANK];
  memcpy(inputs, desc->inputs, desc->input_count * sizeof(inputs[0]));
  for (uint32_t i = 0; i < 2; ++i) {
    for (int32_t d = 0; d < inputs[i].ndim && is_nhwc_input(def, i); ++d) {
      shapes[i][d] = desc->inputs[i].shape[leati_conv_nhwc_place(d, inputs[i].ndim)];
      inputs[i].shape = shapes[i];
    }
  }
  nchw.inputs = inputs;
  return conv_supports(def, device, &nchw, err);
}

static int32_t nhwc_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  leati_view inputs[NHWC_INPUTS];
  int64_t dims[LEAT_MAX_RANK];
  const leati_call nchw = call_in_nchw(op, call, inputs);
  LEATI_TRY(conv_infer(op, &nchw, out, err));
  memcpy(dims, out->dims, sizeof(dims));
  for (int32_t d = 0; d < out->ndim; ++d) {
    out->dims[leati_conv_nhwc_place(d, out->ndim)] = dims[d];
  }
  return LEAT_OK;
}

/* Whether the method of a convolution writes a result in NHWC layout. */
static bool writes_nhwc(const leat_op *op, const leati_call *nchw) {
  leati_window_fit fit;
  if (lay(op, &nchw->inputs[0], &nchw->inputs[1], &fit, NULL) != LEAT_OK) {
    return false;
  }
  const conv_problem problem = problem_of(op, nchw, &fit);
  const conv_method *const method = find_method(&problem);
  return method == &methods[NHWC] || method == &methods[POINTWISE] || method == &methods[DEPTHWISE_NHWC] ||
         (leati_holds_channels(problem.y) && conv_channels_last(op, nchw, 0).writes);
}

/* Where the kernels do not write NHWC, the result is copied there. */
static int32_t nhwc_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_view inputs[NHWC_INPUTS];
  leati_call nchw = call_in_nchw(op, call, inputs);
  const leati_view y = leati_conv_in_nchw(&call->outputs[0]);
  nchw.outputs = &y;
  if (y.compact || writes_nhwc(op, &nchw)) {
    return conv_plan(op, planner, &nchw, err);
  }
  leati_view made = {.type = y.type, .ndim = y.ndim};
  memcpy(made.shape, y.shape, sizeof(made.shape));
  LEATI_TRY(leati_plan_temporary(planner, &made, err));
  nchw.outputs = &made;
  LEATI_TRY(conv_plan(op, planner, &nchw, err));
  return leati_plan_strided_copy(planner, &made, &y, err);
}

/* Images are copied where they have to be. */
static bool nhwc_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  return is_nhwc_input(leati_op_def_of(op), i) || call->inputs[i].compact;
}

/* Constant weights of NhwcFusedConv, which are in NCHW, are read as images are. */
static uint32_t nhwc_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  leati_view inputs[NHWC_INPUTS];
  leati_window_fit fit;
  leati_call nchw = call_in_nchw(op, call, inputs);
  const leati_view y = leati_conv_in_nchw(&call->outputs[0]);
  nchw.outputs = &y;
  if (y.count == 0 || !leati_has_channels(&inputs[1]) || is_nhwc_input(leati_op_def_of(op), 1) ||
      lay(op, &inputs[0], &inputs[1], &fit, NULL) != LEAT_OK) {
    return 0;
  }
  const conv_problem problem = problem_of(op, &nchw, &fit);
  return find_method(&problem)->lay_weights == leati_plan_channels_last ? constants & 1u << 1 : 0;
}

static LEATI_ATTRIBUTE(attribute_output_padding, "output_padding", INTS);
static LEATI_ATTRIBUTE(attribute_output_shape, "output_shape", INTS);

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* A convolution; the rest are attributes beside those that all have. */
#define CONVOLUTION_AS(name, domain, versions, inputs, which, type, infer_, supports_, plan_, functions, ...)       \
  LEATI_OP(name, domain, versions, inputs, (1, 1), .info.flags = LEAT_OP_HEAVY, LEATI_TYPES(type),                  \
           LEATI_ATTRIBUTES(&leati_attribute_auto_pad, &leati_attribute_dilations, &leati_attribute_group,          \
                            &leati_attribute_kernel_shape, &leati_attribute_pads, __VA_ARGS__),                     \
           .state_size = sizeof(conv_state), .param = (which), .least_rank = 3, .most_rank = 2 + LEATI_WINDOW_RANK, \
           .supports = supports_, .create = conv_create, .infer = infer_,                                           \
           LEATI_KERNELS(LEATI_KERNELS_CONV_128, LEATI_KERNELS_CONV_64, LEATI_KERNELS_CONV_32,                      \
                         LEATI_KERNELS_CONV_DEPTHWISE),                                                             \
           .plan = plan_, functions)
#define CONVOLUTION(name, domain, versions, inputs, which, type, ...)                               \
  CONVOLUTION_AS(name, domain, versions, inputs, which, type, conv_infer, conv_supports, conv_plan, \
                 .channels_last = conv_channels_last, __VA_ARGS__)
#define NHWC_FUNCTIONS .reads_view = nhwc_reads_view, .transposes = nhwc_transposes
#define NHWC_CONVOLUTION(name, inputs, ...)                                                                           \
  CONVOLUTION_AS(name, "com.microsoft", (1, 1), inputs, CONV, &leati_type_real, nhwc_infer, nhwc_supports, nhwc_plan, \
                 NHWC_FUNCTIONS, __VA_ARGS__)

static const leati_op_def ops[] = {
    CONVOLUTION("Conv", "", (1, 22), (2, 3), CONV, &leati_type_real, &leati_attribute_strides),
    CONVOLUTION("ConvTranspose", "", (1, 22), (2, 3), CONV_TRANSPOSE, &leati_type_real, &leati_attribute_strides,
                &attribute_output_padding, &attribute_output_shape),
    CONVOLUTION("FusedConv", "com.microsoft", (1, 1), (2, 4), CONV, &leati_type_real, &leati_attribute_strides,
                &leati_attribute_activation, &leati_attribute_activation_params),
    CONVOLUTION("FusedConv", "leat", (1, 1), (2, 5), CONV, &leati_type_real, &leati_attribute_strides,
                &leati_attribute_activation, &leati_attribute_activation_params, &leati_attribute_residual_first),
    NHWC_CONVOLUTION("NhwcConv", (2, 3), &leati_attribute_strides),
    NHWC_CONVOLUTION("NhwcFusedConv", (2, 4), &leati_attribute_strides, &leati_attribute_activation,
                     &leati_attribute_activation_params),
};

const leati_op_family leati_conv_family = LEATI_FAMILY(ops);
