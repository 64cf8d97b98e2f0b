/* SPDX-License-Identifier: BSD-3-Clause */
/* Resize, and Upsample, which was Resize that makes nothing smaller. Nearest and linear take one dispatch; cubic, and
 * what has antialias, one for each dimension that changes. */
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/adapter.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"

enum { INPUT_X, INPUT_ROI, INPUT_SCALES, INPUT_SIZES };
/* Before version 11 there were scales alone. */
enum { EARLIER_SCALES = 1 };

/* coordinate_transformation_mode */
typedef enum transformation {
  HALF_PIXEL,
  HALF_PIXEL_SYMMETRIC,
  PYTORCH_HALF_PIXEL,
  ALIGN_CORNERS,
  ASYMMETRIC,
  TF_CROP_AND_RESIZE,
  TF_HALF_PIXEL_FOR_NN,
  TRANSFORMATION_COUNT
} transformation;

static const char *const transformation_names[TRANSFORMATION_COUNT] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
    "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};

/* nearest_mode, numbered as in kernels/resize.comp. */
enum { NEAREST_FLOOR = 2, NEAREST_CEIL = 3 };
static const char *const nearest_names[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

typedef enum aspect { STRETCH, NOT_LARGER, NOT_SMALLER } aspect;
static const char *const aspect_names[] = {"stretch", "not_larger", "not_smaller"};

/* mode */
enum { MODE_NEAREST, MODE_LINEAR, MODE_CUBIC, MODE_COUNT };
static const char *const mode_names[MODE_COUNT] = {"nearest", "linear", "cubic"};

typedef struct resize_state {
  uint32_t mode;
  bool antialias, exclude_outside;
  float cubic_a;
  bool earlier;            /* before version 11: places are asymmetric, and nearest goes by whether it makes more */
  uint32_t transformation; /* a transformation */
  uint32_t nearest;
  uint32_t aspect; /* an aspect */
  float outside;
  uint32_t axis_count; /* 0: all */
  int64_t axes[LEAT_MAX_RANK];
} resize_state;

/* Dimensions that one Resize interpolates along, at most. */
#define LINEAR_AXES_MAX 3

/* What happens to one dimension. */
typedef struct axis_plan {
  bool resized;
  int64_t out;
  float scale;
  float roi_begin, roi_end;
} axis_plan;

/* How an input coordinate follows from an index of the output: place_of() of kernels/resize_place.glsl. */
typedef struct place_args {
  float shift, span, factor, divisor, offset, less;
} place_args;

/* Argument record of kernels/resize_taps.comp. */
typedef struct taps_args {
  uint64_t x, y;
  uint32_t count, inner, size_in, size_out;
  int32_t first, taps;
  float stretch, a;
  uint32_t keep_digits;
  place_args place;
} taps_args;

/* Argument record of kernels/resize.comp. */
typedef struct resize_args {
  uint64_t x, y;
  uint32_t count;
  uint32_t rank;
  uint32_t linear_axis[LINEAR_AXES_MAX];
  float outside;
  uint32_t keep_digits;
  uint32_t out_shape[LEAT_MAX_RANK];
  int32_t in_shape[LEAT_MAX_RANK], in_stride[LEAT_MAX_RANK], out_stride[LEAT_MAX_RANK];
  float shift[LEAT_MAX_RANK], span[LEAT_MAX_RANK], factor[LEAT_MAX_RANK], divisor[LEAT_MAX_RANK];
  float offset[LEAT_MAX_RANK], less[LEAT_MAX_RANK];
} resize_args;

static int32_t read_floats(const leati_view *view, const char *what, uint32_t count, float *out, leat_error *err) {
  if (view->ndim != 1 || view->shape[0] != (int64_t)count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize: %s must have %u elements", what, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    /* The host's tensor may lie at any address. */
    memcpy(&out[i], (const unsigned char *)view->data + (int64_t)i * view->strides[0] * (int64_t)sizeof(out[i]),
           sizeof(out[i]));
  }
  return LEAT_OK;
}

/* Sets sizes and scales of the dimensions `axes[count]` from the input scales. */
static int32_t scale_axes(const leati_view *x, const leati_view *scales, const int32_t *axes, uint32_t count,
                          axis_plan *plan, leat_error *err) {
  float numbers[LEAT_MAX_RANK];
  LEATI_TRY(read_floats(scales, "scales", count, numbers, err));
  for (uint32_t i = 0; i < count; ++i) {
    axis_plan *p = &plan[axes[i]];
    p->resized = true;
    p->scale = numbers[i];
    if (!(p->scale > 0.0f) || isinf(p->scale)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize: a scale of %g; scales are greater than 0",
                        (double)p->scale);
    }
    /* As in ONNX Runtime, whatever the region is. */
    const float wanted = (float)x->shape[axes[i]] * p->scale;
    if (!(wanted < (float)INT32_MAX)) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Resize to 2^31 elements or more is not supported");
    }
    p->out = wanted > 0 ? (int64_t)floorf(wanted) : 0;
  }
  return LEAT_OK;
}

/* The same from the input sizes. */
static int32_t size_axes(const leati_view *x, const leati_view *sizes, const int32_t *axes, uint32_t count,
                         uint32_t policy, axis_plan *plan, leat_error *err) {
  int64_t wanted[LEAT_MAX_RANK];
  uint32_t wanted_count = 0;
  LEATI_TRY(leati_read_ints(sizes, "sizes", LEAT_MAX_RANK, wanted, &wanted_count, err));
  if (wanted_count != count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize: sizes has %u elements; it must have %u", wanted_count,
                      count);
  }
  float common = 0;
  for (uint32_t i = 0; i < count; ++i) {
    axis_plan *p = &plan[axes[i]];
    const int64_t in = x->shape[axes[i]];
    if (wanted[i] < 0 || wanted[i] > INT32_MAX || (in == 0 && wanted[i] != 0)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize: dimension %d of size %lld cannot be resized to %lld",
                        axes[i], (long long)in, (long long)wanted[i]);
    }
    p->resized = true;
    p->out = wanted[i];
    p->scale = in > 0 ? (float)wanted[i] / (float)in : 1.0f;
    if (i == 0 || (policy == NOT_LARGER ? p->scale < common : p->scale > common)) {
      common = p->scale;
    }
  }
  for (uint32_t i = 0; i < count && policy != STRETCH; ++i) {
    axis_plan *p = &plan[axes[i]];
    const float size = floorf(common * (float)x->shape[axes[i]] + 0.5f);
    if (!(size < (float)INT32_MAX)) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Resize to 2^31 elements or more is not supported");
    }
    p->scale = common;
    p->out = (int64_t)size;
  }
  return LEAT_OK;
}

/* Finds sizes, scales and regions of all dimensions. */
static int32_t plan_axes(const leat_op *op, const leati_call *call, axis_plan *plan, leat_error *err) {
  const resize_state *state = leati_op_state_const(op);
  const leati_view *x = &call->inputs[INPUT_X];
  const leati_view *roi = state->earlier ? NULL : leati_input(call, INPUT_ROI);
  const leati_view *scales = leati_input(call, state->earlier ? EARLIER_SCALES : INPUT_SCALES);
  const leati_view *sizes = leati_input(call, INPUT_SIZES);
  const bool by_scales = scales != NULL && scales->count > 0, by_sizes = sizes != NULL && sizes->count > 0;
  if (by_scales == by_sizes && (by_scales || x->ndim > 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize needs either scales or sizes%s",
                      by_scales ? ", not both" : "");
  }
  const uint32_t count = state->axis_count > 0 ? state->axis_count : (uint32_t)x->ndim;
  int32_t axes[LEAT_MAX_RANK];
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] = (int32_t)i;
  }
  LEATI_TRY(leati_axes(state->axes, state->axis_count, x->ndim, "Resize: axes", axes, err));
  for (int32_t d = 0; d < x->ndim; ++d) {
    plan[d] = (axis_plan){.out = x->shape[d], .scale = 1.0f, .roi_end = 1.0f};
  }
  if (state->transformation == TF_CROP_AND_RESIZE) {
    float numbers[2 * LEAT_MAX_RANK];
    if (roi == NULL) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize with tf_crop_and_resize needs the input roi");
    }
    LEATI_TRY(read_floats(roi, "roi", 2 * count, numbers, err));
    for (uint32_t i = 0; i < count; ++i) {
      plan[axes[i]].roi_begin = numbers[i];
      plan[axes[i]].roi_end = numbers[count + i];
    }
  }
  if (by_scales) {
    return scale_axes(x, scales, axes, count, plan, err);
  }
  /* With neither it is a scalar, which has nothing to resize. */
  return by_sizes ? size_axes(x, sizes, axes, count, state->aspect, plan, err) : LEAT_OK;
}

/* As in ONNX Runtime, nothing happens to a dimension that keeps its size, whatever the region is. */
static bool keeps_size(const axis_plan *plan, int64_t in) {
  return !plan->resized || (plan->out == in && plan->scale == 1.0f);
}

/* Whether it is a filter along one dimension after the other. */
static bool has_taps(const resize_state *state) {
  return state->mode == MODE_CUBIC || state->antialias;
}

/* How far the filter reaches: 1 or 2 elements of the input or, where it is to see all of them, of the output. */
static float find_stretch(const resize_state *state, const axis_plan *p) {
  return state->antialias && p->scale < 1.0f ? p->scale : 1.0f;
}

/* Elements that the filter weighs; it begins at 1 - taps / 2 from the one below a coordinate. */
static float count_taps(const resize_state *state, const axis_plan *p) {
  return -2.0f * floorf(-(state->mode == MODE_CUBIC ? 2.0f : 1.0f) / find_stretch(state, p));
}

/* Fails if a filter is wider than a kernel can go. */
static int32_t check_taps(const leat_op *op, const leati_view *x, const axis_plan *plan, leat_error *err) {
  const resize_state *const state = leati_op_state_const(op);
  for (int32_t d = 0; has_taps(state) && d < x->ndim; ++d) {
    const float taps = count_taps(state, &plan[d]);
    LEATI_TRY(
        leati_check_rounds(leati_op_device(op), taps < (float)INT32_MAX ? (uint64_t)taps : INT32_MAX, "Resize", err));
  }
  return LEAT_OK;
}

static int32_t check_linear(const resize_state *state, int32_t changed, leat_error *err) {
  return state->mode != MODE_LINEAR || state->antialias || changed <= LINEAR_AXES_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "Resize: linear interpolation along %d dimensions; supported: up to %d", changed,
                          LINEAR_AXES_MAX);
}

/* How nearest rounds. Before version 11 it went down where a dimension was made larger, and else up, as in ONNX
 * Runtime.
 */
static int32_t find_nearest(const resize_state *state, const axis_plan *plan, int32_t rank, uint32_t *out,
                            leat_error *err) {
  bool larger = false, smaller = false;
  for (int32_t d = 0; d < rank; ++d) {
    larger = larger || plan[d].scale > 1.0f;
    smaller = smaller || plan[d].scale < 1.0f;
  }
  *out = !state->earlier ? state->nearest : smaller ? NEAREST_CEIL : NEAREST_FLOOR;
  return !state->earlier || state->mode == MODE_LINEAR || !larger || !smaller
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "Resize to nearest before version 11 of some dimensions to more and of some to less is not "
                          "supported");
}

static int32_t resize_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[INPUT_X];
  axis_plan plan[LEAT_MAX_RANK];
  LEATI_TRY(plan_axes(op, call, plan, err));
  out[0].ndim = x->ndim;
  int32_t changed = 0;
  uint32_t nearest;
  LEATI_TRY(find_nearest(leati_op_state_const(op), plan, x->ndim, &nearest, err));
  for (int32_t d = 0; d < x->ndim; ++d) {
    out[0].dims[d] = plan[d].out;
    changed += keeps_size(&plan[d], x->shape[d]) ? 0 : 1;
  }
  LEATI_TRY(check_taps(op, x, plan, err));
  return check_linear(leati_op_state_const(op), changed, err);
}

/* The coordinate transformation of one dimension. */
static place_args transform(const axis_plan *p, uint32_t mode, int64_t in) {
  const float last = (float)(in - 1), out = (float)p->out;
  place_args args = {.span = 1, .factor = 1, .divisor = p->scale};
  switch (mode) {
    case HALF_PIXEL_SYMMETRIC:
      /* The part that floor() took off the output is taken off both ends alike. */
      args.shift = 0.5f;
      args.offset = (float)in / 2.0f * (1.0f - out / (p->scale * (float)in));
      args.less = 0.5f;
      break;
    case HALF_PIXEL:
      args.shift = 0.5f;
      args.less = 0.5f;
      break;
    case TF_HALF_PIXEL_FOR_NN:
      args.shift = 0.5f;
      break;
    case PYTORCH_HALF_PIXEL:
      if (p->out > 1) {
        args.shift = 0.5f;
        args.less = 0.5f;
      } else {
        args.factor = 0;
      }
      break;
    case ALIGN_CORNERS:
      args.factor = p->out > 1 ? last : 0;
      args.divisor = p->out > 1 ? out - 1 : 1;
      break;
    case TF_CROP_AND_RESIZE:
      args.span = p->roi_end - p->roi_begin;
      args.factor = p->out > 1 ? last : 0;
      args.divisor = p->out > 1 ? out - 1 : 1;
      args.offset =
          p->out > 1 ? p->roi_begin * last : (float)(0.5 * (double)(p->roi_begin + p->roi_end) * (double)last);
      break;
    default:
      break;
  }
  return args;
}

static int32_t plan_taps(const resize_state *state, leati_planner *planner, const leati_view *x, const leati_view *y,
                         int32_t axis, const axis_plan *p, leat_error *err) {
  const int32_t taps = (int32_t)count_taps(state, p);
  taps_args args = {.count = (uint32_t)y->count,
                    .inner = (uint32_t)leati_product(x->shape, axis + 1, x->ndim),
                    .size_in = (uint32_t)x->shape[axis],
                    .size_out = (uint32_t)y->shape[axis],
                    .first = 1 - taps / 2,
                    .taps = taps,
                    .stretch = find_stretch(state, p),
                    .a = state->cubic_a,
                    .keep_digits = state->transformation == HALF_PIXEL_SYMMETRIC,
                    .place = transform(p, state->transformation, x->shape[axis])};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = LEATI_KERNEL_RESIZE_TAPS_F32,
                   .constants.resize_taps = {.cubic = state->mode == MODE_CUBIC,
                                             .exclude_outside = state->exclude_outside,
                                             .normalise = state->antialias || state->exclude_outside}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({x, &args.x}),
      LEATI_WRITES({y, &args.y}),
      .multiplications = y->count * (uint64_t)taps};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Along one dimension after the other, the last one first. What lies between is float32. */
static int32_t taps_plan(const resize_state *state, leati_planner *planner, const leati_call *call,
                         const axis_plan *plan, leat_error *err) {
  const leati_view *const input = &call->inputs[INPUT_X], *const y = &call->outputs[0];
  const bool wide = y->type != LEAT_TYPE_FLOAT32;
  int32_t first = input->ndim;
  for (int32_t d = input->ndim - 1; d >= 0; --d) {
    first = keeps_size(&plan[d], input->shape[d]) ? first : d;
  }
  if (first == input->ndim) {
    return leati_plan_strided_copy(planner, input, y, err);
  }
  leati_view x;
  if (wide) {
    LEATI_TRY(leati_plan_wide(planner, input, &x, err));
    LEATI_TRY(leati_plan_cast(planner, input, &x, err));
  } else {
    LEATI_TRY(leati_plan_compact(planner, input, &x, err));
  }
  for (int32_t d = input->ndim - 1; d >= first; --d) {
    if (!keeps_size(&plan[d], input->shape[d])) {
      leati_view next = x;
      next.shape[d] = plan[d].out;
      if (d == first && !wide) {
        next = *y;
      } else {
        LEATI_TRY(leati_plan_temporary(planner, &next, err));
        LEATI_TRY(leati_check_reach(&next, "Resize", err));
      }
      LEATI_TRY(plan_taps(state, planner, &x, &next, d, &plan[d], err));
      x = next;
    }
  }
  return wide ? leati_plan_cast(planner, &x, y, err) : LEAT_OK;
}

static int32_t resize_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const resize_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  axis_plan plan[LEAT_MAX_RANK];
  LEATI_TRY(plan_axes(op, call, plan, err));
  leati_view x;
  uint32_t nearest;
  LEATI_TRY(find_nearest(state, plan, y->ndim, &nearest, err));
  if (call->inputs[INPUT_X].count == 0 || y->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "Resize of an empty tensor, or to 2^31 elements, is not supported");
  }
  if (has_taps(state)) {
    return taps_plan(state, planner, call, plan, err);
  }
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[INPUT_X], &x, err));
  resize_args args = {.count = (uint32_t)y->count,
                      .outside = state->outside,
                      .keep_digits = state->transformation == HALF_PIXEL_SYMMETRIC};
  uint32_t linear_axes = 0;
  const bool last = leati_is_channels_last(y);
  for (int32_t i = 0; i < x.ndim; ++i) {
    /* Neighbouring threads have neighbouring elements of the result. */
    const int32_t d = !last || i == 0 ? i : i == x.ndim - 1 ? 1 : i + 1;
    const bool same = keeps_size(&plan[d], x.shape[d]);
    const uint32_t r = args.rank;
    if (same && r > 0 && args.divisor[r - 1] == 0.0f && args.in_stride[r - 1] == x.strides[d] * x.shape[d] &&
        args.out_stride[r - 1] == y->strides[d] * x.shape[d]) {
      args.out_shape[r - 1] *= (uint32_t)x.shape[d];
      args.in_shape[r - 1] *= (int32_t)x.shape[d];
      args.in_stride[r - 1] = (int32_t)x.strides[d];
      args.out_stride[r - 1] = (int32_t)y->strides[d];
      continue;
    }
    args.out_shape[r] = (uint32_t)plan[d].out;
    args.in_shape[r] = (int32_t)x.shape[d];
    args.in_stride[r] = (int32_t)x.strides[d];
    args.out_stride[r] = (int32_t)y->strides[d];
    if (same) {
      args.divisor[r] = 0.0f; /* says so to the kernel */
    } else {
      const place_args place = transform(&plan[d], state->transformation, x.shape[d]);
      args.shift[r] = place.shift;
      args.span[r] = place.span;
      args.factor[r] = place.factor;
      args.divisor[r] = place.divisor;
      args.offset[r] = place.offset;
      args.less[r] = place.less;
      if (state->mode == MODE_LINEAR) {
        args.linear_axis[linear_axes++] = r;
      }
    }
    ++args.rank;
  }
  const uint32_t extrapolate = state->transformation == TF_CROP_AND_RESIZE;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_RESIZE, x.type),
                   .constants.resize = {.linear_axes = linear_axes, .nearest = nearest, .extrapolate = extrapolate}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}),
      LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static bool resize_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)i;
  return !has_taps(leati_op_state_const(op)) && leati_view_walkable(&call->inputs[i]) &&
         leati_view_has_rows(&call->inputs[i]);
}

/* Where channels stay what they are, all else is added up in the same order. */
static leati_channels_last_use resize_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  axis_plan plan[LEAT_MAX_RANK];
  const leati_view *const x = &call->inputs[INPUT_X];
  const bool keeps = !has_taps(leati_op_state_const(op)) && x->ndim >= 3 &&
                     plan_axes(op, call, plan, NULL) == LEAT_OK && keeps_size(&plan[1], x->shape[1]);
  return (leati_channels_last_use){.writes = keeps && x->shape[1] % 4 == 0, .requires_output_layout = 1u << INPUT_X};
}

static int32_t read_state(const leati_op_desc *desc, resize_state *state, leat_error *err) {
  LEATI_TRY(leati_attr_choice(desc, "Resize", "mode", mode_names, MODE_COUNT, &state->mode, err));
  state->antialias = leati_attr_int(desc, "antialias", 0) != 0;
  state->exclude_outside = leati_attr_int(desc, "exclude_outside", 0) != 0;
  state->cubic_a = leati_attr_float(desc, "cubic_coeff_a", -0.75f);
  LEATI_TRY(leati_attr_choice(desc, "Resize", "coordinate_transformation_mode", transformation_names,
                              TRANSFORMATION_COUNT, &state->transformation, err));
  LEATI_TRY(leati_attr_choice(desc, "Resize", "nearest_mode", nearest_names, 4, &state->nearest, err));
  LEATI_TRY(leati_attr_choice(desc, "Resize", "keep_aspect_ratio_policy", aspect_names, 3, &state->aspect, err));
  state->outside = leati_attr_float(desc, "extrapolation_value", 0.0f);
  if (state->mode != MODE_CUBIC && state->exclude_outside) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize: 'exclude_outside' is for the mode cubic");
  }
  if (state->mode == MODE_NEAREST && state->antialias) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize: 'antialias' is for the modes linear and cubic");
  }
  if (has_taps(state) && state->transformation == TF_CROP_AND_RESIZE) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "Resize: tf_crop_and_resize with the mode cubic or with antialias is not supported");
  }
  return leati_attr_ints(desc, "axes", LEAT_MAX_RANK, state->axes, &state->axis_count, err);
}

static int32_t resize_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)def;
  (void)device;
  resize_state state = {.mode = MODE_NEAREST};
  LEATI_TRY(read_state(desc, &state, err));
  if (state.transformation == TF_CROP_AND_RESIZE && !leati_is_given(desc, INPUT_ROI)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize with tf_crop_and_resize needs the input roi");
  }
  if (!leati_is_given(desc, INPUT_SCALES) && !leati_is_given(desc, INPUT_SIZES) && desc->inputs[INPUT_X].ndim != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Resize needs either scales or sizes");
  }
  /* Scales are known more often than the sizes that they apply to. */
  leati_view scales;
  float numbers[LEAT_MAX_RANK];
  int32_t changed = 0;
  if (leati_constant(desc, INPUT_SCALES, &scales) && scales.count <= LEAT_MAX_RANK && scales.ndim == 1) {
    LEATI_TRY(read_floats(&scales, "scales", (uint32_t)scales.count, numbers, err));
    for (uint64_t i = 0; i < scales.count; ++i) {
      changed += numbers[i] != 1.0f ? 1 : 0;
    }
  }
  return check_linear(&state, changed, err);
}

static int32_t earlier_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)def;
  (void)device;
  resize_state state = {.mode = MODE_NEAREST};
  LEATI_TRY(read_state(desc, &state, err));
  return state.mode != MODE_CUBIC
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Resize: the mode cubic is not supported before version 11");
}

static int32_t earlier_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  resize_state *const state = leati_op_state(op);
  LEATI_TRY(read_state(desc, state, err));
  state->earlier = true;
  state->transformation = ASYMMETRIC;
  return LEAT_OK;
}

static int32_t resize_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_state(desc, leati_op_state(op), err);
}

static LEATI_TYPE(type_image, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_earlier_image, "T", LEATI_TYPES_REAL);
static LEATI_TYPE(type_roi, "T2", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_scales, "scales", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_sizes, "sizes", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_scales, "scales", FLOATS);
static LEATI_ATTRIBUTE(attribute_antialias, "antialias", INT);
static LEATI_ATTRIBUTE(attribute_axes, "axes", INTS);
static LEATI_ATTRIBUTE(attribute_cubic_a, "cubic_coeff_a", FLOAT);
static LEATI_ATTRIBUTE(attribute_exclude, "exclude_outside", INT);
static LEATI_ATTRIBUTE(attribute_aspect, "keep_aspect_ratio_policy", STRING);
static LEATI_ATTRIBUTE(attribute_extrapolation, "extrapolation_value", FLOAT);
static LEATI_ATTRIBUTE(attribute_nearest, "nearest_mode", STRING);
static LEATI_ATTRIBUTE(attribute_transformation, "coordinate_transformation_mode", STRING);

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* The types and attributes come last. */
#define EARLIER(name, versions, inputs, ...)                                                                    \
  LEATI_OP(name, "", versions, inputs, (1, 1), .info.flags = LEAT_OP_GROWS, .state_size = sizeof(resize_state), \
           .supports = earlier_supports, .create = earlier_create, LEATI_KERNELS(LEATI_KERNELS_RESIZE),         \
           .reads_view = resize_reads_view, __VA_ARGS__)
#define BY_SCALES                                                                                               \
  .info.host_inputs = 1u << EARLIER_SCALES, LEATI_TYPES(&type_earlier_image, &type_scales),                     \
  LEATI_ATTRIBUTES(&leati_attribute_mode), LEATI_INPUT_TYPES(0, 1), .infer = resize_infer, .plan = resize_plan, \
  .channels_last = resize_channels_last

static const leati_op_def ops[] = {
    EARLIER("Upsample", (7, 7), (1, 1), LEATI_TYPES(&type_earlier_image),
            LEATI_ATTRIBUTES(&leati_attribute_mode, &attribute_scales), .infer = leati_adapted_infer,
            .plan = leati_adapted_plan, .channels_last = leati_adapted_channels_last,
            LEATI_ADAPTER(.inputs = {{&attribute_scales, EARLIER_SCALES, true}}, .infer = resize_infer,
                          .plan = resize_plan, .channels_last = resize_channels_last)),
    EARLIER("Upsample", (9, 10), (2, 2), BY_SCALES),
    EARLIER("Resize", (10, 10), (2, 2), BY_SCALES),
    LEATI_OP("Resize", "", (11, 19), (1, 4), (1, 1), .info.flags = LEAT_OP_GROWS,
             .info.host_inputs = 1u << INPUT_ROI | 1u << INPUT_SCALES | 1u << INPUT_SIZES,
             LEATI_TYPES(&type_image, &type_roi, &type_scales, &type_sizes),
             LEATI_ATTRIBUTES(&attribute_antialias, &attribute_axes, &attribute_aspect, &attribute_cubic_a,
                              &attribute_exclude, &attribute_extrapolation, &leati_attribute_mode, &attribute_nearest,
                              &attribute_transformation),
             LEATI_INPUT_TYPES(0, 1, 2, 3), .state_size = sizeof(resize_state), .supports = resize_supports,
             .create = resize_create, .infer = resize_infer,
             LEATI_KERNELS(LEATI_KERNELS_RESIZE, LEATI_KERNELS_RESIZE_TAPS), .plan = resize_plan,
             .reads_view = resize_reads_view, .channels_last = resize_channels_last),
};

const leati_op_family leati_resize_family = LEATI_FAMILY(ops);
