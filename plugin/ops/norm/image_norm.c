/* SPDX-License-Identifier: BSD-3-Clause */
/* GroupNorm and SkipGroupNorm of com.microsoft: GroupNormalization of images that may have their channels last, with a
 * sum before it and an activation behind it, as one use of the kernel of norms. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"
#include "ops/norm/norm.h"
#include "ops/norm/row_sharing.h"

static LEATI_TYPE(type_parameters, "M", LEATI_TYPES_REAL);
static LEATI_ATTRIBUTE(attribute_activation, "activation", INT);
static LEATI_ATTRIBUTE(attribute_channels_last, "channels_last", INT);
static LEATI_ATTRIBUTE(attribute_groups, "groups", INT);

enum { X, SCALE, BIAS, SKIP, ADDEND, INPUTS };

typedef struct image_norm_state {
  int64_t groups;
  float epsilon;
  bool channels_last, activated;
} image_norm_state;

static bool has_skip(const leat_op *op) {
  return leati_op_def_of(op)->info.min_inputs > 3;
}

/* A view of images with their channels in dimension 1. */
static leati_view in_nchw(const image_norm_state *state, const leati_view *view) {
  leati_view out = *view;
  if (state->channels_last) {
    const int64_t shape[] = {view->shape[0], view->shape[3], view->shape[1], view->shape[2]};
    const int64_t strides[] = {view->strides[0], view->strides[3], view->strides[1], view->strides[2]};
    leati_view_reshape(&out, 4, shape, strides);
  }
  return out;
}

/* The same of what is added: of two dimensions it has an element for each channel of each image. */
static leati_view skip_in_nchw(const image_norm_state *state, const leati_view *skip) {
  if (skip->ndim != 2) {
    return in_nchw(state, skip);
  }
  leati_view out = *skip;
  const int64_t shape[] = {skip->shape[0], skip->shape[1], 1, 1};
  const int64_t strides[] = {skip->strides[0], skip->strides[1], 0, 0};
  leati_view_reshape(&out, 4, shape, strides);
  return out;
}

static bool is_of_channels(const leati_view *view, int64_t channels) {
  return view->ndim == 1 && view->shape[0] == channels;
}

static bool is_skip(const image_norm_state *state, const leati_view *view, const leati_view *x) {
  if (view->ndim != 2 && view->ndim != 4) {
    return false;
  }
  const leati_view skip = skip_in_nchw(state, view);
  bool same = true, single = true;
  for (int32_t d = 0; d < 4; ++d) {
    same = same && skip.shape[d] == x->shape[d];
    single = single && skip.shape[d] == (d < 2 ? x->shape[d] : 1);
  }
  return same || single;
}

static int32_t image_norm_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const image_norm_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view x = in_nchw(state, &call->inputs[0]);
  const leati_view *const bias = has_skip(op) ? leati_input(call, 4) : NULL;
  const int64_t channels = x.shape[1];
  if (channels % state->groups != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: groups is %lld, which does not divide %lld channels", name,
                      (long long)state->groups, (long long)channels);
  }
  if (!is_of_channels(&call->inputs[1], channels) || !is_of_channels(&call->inputs[2], channels) ||
      (bias != NULL && !is_of_channels(bias, channels))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: gamma, beta and bias must have shape [%lld]", name,
                      (long long)channels);
  }
  if (has_skip(op) && !is_skip(state, &call->inputs[3], &x)) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "%s: the skip input must have the shape of the first, or an element for each channel of each image", name);
  }
  const int64_t rows = x.shape[0] * state->groups;
  if (rows != 0) {
    LEATI_TRY(leati_op_check_row_rounds(op, true, rows, (int64_t)x.count / rows, err));
  }
  for (uint32_t o = 0; o < call->output_count; ++o) {
    LEATI_TRY(leati_infer_same(op, call, &out[o], err));
  }
  return LEAT_OK;
}

/* The record of kernels/norm.comp with IMAGE. */
typedef struct image_norm_args {
  leati_norm_args norm;
  uint32_t run, pitch;
  leati_divider per_run;
  uint32_t image, group;
  uint32_t pixels, channels;
} image_norm_args;

/* Compact float32 of a view. */
static int32_t add_floats(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err) {
  if (view->type == LEAT_TYPE_FLOAT32) {
    return leati_plan_compact(planner, view, out, err);
  }
  LEATI_TRY(leati_plan_wide(planner, view, out, err));
  return leati_plan_cast(planner, view, out, err);
}

/* Where the elements of groups are, and their channels. `nchw`: a view of the images with their channels in
 * dimension 1.
 */
static image_norm_args args_of(const image_norm_state *state, const leati_view *nchw) {
  const uint32_t pixels = (uint32_t)(nchw->shape[2] * nchw->shape[3]), channels = (uint32_t)nchw->shape[1];
  const uint32_t groups = (uint32_t)state->groups, each = channels / groups;
  const uint32_t run = state->channels_last ? each : each * pixels;
  return (image_norm_args){.norm = {.rows = (uint32_t)nchw->shape[0] * groups,
                                    .count = each * pixels,
                                    .epsilon = state->epsilon,
                                    .period = groups,
                                    .step = each,
                                    .spread = 1,
                                    .skip_rows = 1},
                           .run = run,
                           .pitch = channels,
                           .per_run = leati_divider_of(run),
                           .image = channels * pixels,
                           .group = run,
                           .pixels = state->channels_last ? 0 : pixels,
                           .channels = channels};
}

static int32_t image_norm_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const image_norm_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0], *const total = leati_output(call, 1);
  leati_view views[INPUTS] = {{.present = false}};
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_rows_size(y, err));
  for (uint32_t i = 0; i < call->input_count; ++i) {
    if (i == SCALE || i == BIAS) {
      LEATI_TRY(add_floats(planner, &call->inputs[i], &views[i], err));
    } else if (leati_input(call, i) != NULL) {
      LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &views[i], err));
    }
  }
  const leati_view nchw = in_nchw(state, y);
  image_norm_args args = args_of(state, &nchw);
  const bool skip = views[SKIP].present, whole = skip && views[SKIP].count == y->count;
  const leati_row_sharing share = leati_row_sharing_of(planner->device, true, args.norm.rows, args.norm.count);
  const leati_view *const fours[] = {&views[X], y, total, whole ? &views[SKIP] : NULL};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_row_kernel(planner->device, LEATI_KERNELS_IMAGE_NORM,
                                              LEATI_KERNELS_IMAGE_NORM_SHUFFLED, y->type),
                   .constants.norm = {.rows_spec = share.spec,
                                      .group = share.group,
                                      .held = share.held,
                                      .quads = leati_rows_in_fours(args.run, fours, 4),
                                      .skip = !skip   ? 0
                                              : whole ? 1
                                                      : 2,
                                      .sets = 1,
                                      .gate = state->activated ? LEATI_NORM_SIGMOID : LEATI_NORM_NO_GATE}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&views[X], &args.norm.x}, {&views[SCALE], &args.norm.scale}, {&views[BIAS], &args.norm.bias},
                  {&views[SKIP], &args.norm.skip}, {&views[ADDEND], &args.norm.addend}),
      LEATI_WRITES({y, &args.norm.y}, {total, &args.norm.total})};
  leati_groups_linear(planner->device, args.norm.rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static int32_t image_norm_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                   leat_error *err) {
  (void)device;
  const int64_t activation = leati_attr_int(desc, attribute_activation.name, 0);
  if (activation != 0 && activation != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'activation' is %lld; it must be 0 or 1 (SiLU)",
                      def->info.name, (long long)activation);
  }
  return leati_attr_int(desc, attribute_groups.name, 0) >= 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'groups' must be at least 1", def->info.name);
}

static int32_t image_norm_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(image_norm_state *)leati_op_state(op) =
      (image_norm_state){.groups = leati_attr_int(desc, attribute_groups.name, 1),
                         .epsilon = leati_attr_float(desc, leati_attribute_epsilon.name, 1e-5f),
                         .channels_last = leati_attr_int(desc, attribute_channels_last.name, 1) != 0,
                         .activated = leati_attr_int(desc, attribute_activation.name, 0) != 0};
  return LEAT_OK;
}

#define IMAGE_NORM(name, inputs, outputs, ...)                                                                        \
  LEATI_OP(                                                                                                           \
      name, "com.microsoft", (1, 1), inputs, outputs, LEATI_TYPES(&leati_type_real, &type_parameters),                \
      LEATI_ATTRIBUTES(&attribute_activation, &attribute_channels_last, &leati_attribute_epsilon, &attribute_groups), \
      __VA_ARGS__, .state_size = sizeof(image_norm_state), .least_rank = 4, .most_rank = 4,                           \
      .supports = image_norm_supports, .create = image_norm_create, .infer = image_norm_infer,                        \
      LEATI_KERNELS(LEATI_KERNELS_IMAGE_NORM), .plan = image_norm_plan)

static const leati_op_def ops[] = {
    IMAGE_NORM("GroupNorm", (3, 3), (1, 1), LEATI_INPUT_TYPES(0, 1, 1)),
    IMAGE_NORM("SkipGroupNorm", (4, 5), (1, 2), LEATI_INPUT_TYPES(0, 1, 1, 0, 0)),
};

const leati_op_family leati_image_norm_family = LEATI_FAMILY(ops);
