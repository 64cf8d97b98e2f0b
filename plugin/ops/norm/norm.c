/* SPDX-License-Identifier: BSD-3-Clause */
/* Softmax and LogSoftmax, and com.microsoft's QLinearSoftmax; layer, RMS, instance, group and batch normalisation. */
#include "ops/norm/norm.h"

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/elementwise/pointwise.h"
#include "ops/elementwise/scaled.h"
#include "ops/reduce/reduce.h"
#include "policy/tiling.h"

static LEATI_ATTRIBUTE(attribute_epsilon, "epsilon", FLOAT);
static LEATI_ATTRIBUTE(attribute_stash_type, "stash_type", INT);
static LEATI_ATTRIBUTE(attribute_num_groups, "num_groups", INT);
static LEATI_ATTRIBUTE(attribute_momentum, "momentum", FLOAT);
static LEATI_ATTRIBUTE(attribute_training_mode, "training_mode", INT);

static LEATI_TYPE(type_stash, "U", LEAT_TYPE_FLOAT32); /* of means and deviations */

#define STASH_FLOAT 1 /* TensorProto.FLOAT */

static int32_t check_size(const leati_view *view, leat_error *err) {
  if (view->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "a tensor of %llu elements is too large: fewer than 2^31 are supported",
                      (unsigned long long)view->count);
  }
  return LEAT_OK;
}

/* How rows are shared out over workgroups: kernels/rows.glsl, policy/tiling.h. A thread takes the elements of a row in
 * fours. */
typedef struct sharing {
  uint32_t spec;      /* the constant ROWS_SPEC */
  uint32_t group;     /* threads to a workgroup */
  uint32_t parts;     /* threads to a row */
  uint32_t per_group; /* rows to a workgroup */
  uint32_t held;      /* fours that a thread keeps in registers to have the whole row there; 0: it is too long */
} sharing;

/* `along`: the elements of a row are neighbours in memory; else the rows are. */
static sharing share_rows(const leat_device *device, bool along, uint64_t rows, uint64_t count) {
  const leati_row_share share =
      leati_row_share_of(&device->traits, device->physical->subgroup_size, along, rows, count);
  return (sharing){.spec = leati_rows_spec(along, share.parts),
                   .group = share.group,
                   .parts = share.parts,
                   .per_group = share.group / share.parts,
                   .held = share.held};
}

/* The kernel of a family that a device runs: by shuffles of subgroups where it has them. */
static leati_kernel row_kernel(const leat_device *device, leati_kernel_set plain, leati_kernel_set shuffled,
                               uint64_t type) {
  return leati_kernel_find(device->physical->shuffles ? shuffled : plain, type);
}

/* A row that is not held is gone through three times, and its parts are joined in a few rounds more. */
static int32_t check_rounds(const leat_device *device, const char *name, bool along, int64_t rows, int64_t count,
                            leat_error *err) {
  const sharing share = share_rows(device, along, (uint64_t)rows, (uint64_t)count);
  return share.held != 0
             ? LEAT_OK
             : leati_check_rounds(device, 3 * (((uint64_t)count + share.parts - 1) / share.parts) + 64, name, err);
}

static int32_t check_row_rounds(const leat_op *op, bool along, int64_t rows, int64_t count, leat_error *err) {
  return check_rounds(leati_op_device(op), leati_op_def_of(op)->info.name, along, rows, count, err);
}

/* Whether kernels can take four elements at once: rows are made of whole fours, and each view that is there begins at
 * a multiple of the size of one. */
static bool in_fours(int64_t count, const leati_view *const *views, uint32_t view_count) {
  bool fours = count % 4 == 0;
  for (uint32_t i = 0; i < view_count; ++i) {
    fours = fours && (views[i] == NULL || views[i]->address % (4 * views[i]->item_size) == 0);
  }
  return fours;
}

static int64_t product(const int64_t *values, int32_t from, int32_t to) {
  int64_t r = 1;
  for (int32_t d = from; d < to; ++d) {
    r *= values[d];
  }
  return r;
}

/* ---- Softmax ------------------------------------------------------------------------------------------------------
 */

enum { SOFTMAX, LOG_SOFTMAX };

static LEATI_ATTRIBUTE(attribute_opset, "opset", INT);

typedef struct softmax_state {
  int64_t axis;
} softmax_state;

/* The rows along the axis: their elements, and how far those lie apart. */
static int32_t softmax_lines(const leat_op *op, const leati_view *x, int64_t *out_count, int64_t *out_inner,
                             leat_error *err) {
  const softmax_state *state = leati_op_state_const(op);
  *out_count = 1;
  *out_inner = 1;
  if (x->ndim > 0) {
    int32_t axis;
    LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
    *out_count = x->shape[axis];
    *out_inner = product(x->shape, axis + 1, x->ndim);
  }
  return LEAT_OK;
}

static int32_t softmax_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  int64_t count, inner;
  LEATI_TRY(softmax_lines(op, x, &count, &inner, err));
  if (x->count > 0) {
    LEATI_TRY(check_row_rounds(op, inner == 1, (int64_t)x->count / count, count, err));
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t softmax_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(check_size(y, err));
  leati_view x;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  int64_t count, inner;
  LEATI_TRY(softmax_lines(op, &x, &count, &inner, err));
  const int64_t rows = (int64_t)x.count / count;
  const sharing share = share_rows(planner->device, inner == 1, (uint64_t)rows, (uint64_t)count);
  const struct {
    uint64_t x, y;
    uint32_t rows, count, inner;
  } args = {.rows = (uint32_t)rows, .count = (uint32_t)count, .inner = (uint32_t)inner};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = row_kernel(planner->device, LEATI_KERNELS_SOFTMAX, LEATI_KERNELS_SOFTMAX_SHUFFLED, x.type),
                   .constants.softmax = {.rows_spec = share.spec,
                                         .group = share.group,
                                         .held = share.held,
                                         .quads = inner == 1 && in_fours(count, (const leati_view *[]){&x, y}, 2),
                                         .logarithm = leati_op_def_of(op)->param == LOG_SOFTMAX}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}),
      LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, (uint64_t)rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t softmax_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  softmax_state *state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", -1);
  return LEAT_OK;
}

/* Before version 13 of Softmax all dimensions from the axis on were one. */
static int32_t qlinear_softmax_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                        leat_error *err) {
  (void)device;
  const int64_t opset = leati_attr_int(desc, attribute_opset.name, 0);
  return opset >= 13
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with opset %lld is not supported: it must be 13 or more",
                          def->info.name, (long long)opset);
}

static int32_t qlinear_softmax_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_scales(op, call, err));
  return softmax_infer(op, call, out, err);
}

static int32_t qlinear_softmax_plan(const leat_op *op, leati_planner *planner, const leati_call *call,
                                    leat_error *err) {
  return leati_plan_as_floats(op, planner, call, softmax_plan, err);
}

/* ---- Normalisation of rows ---------------------------------------------------------------------------------------
 */

/* Argument record of kernels/norm.comp. */
typedef struct norm_args {
  uint64_t x, y;
  uint64_t scale, bias;
  uint32_t rows, count;
  float epsilon;
  uint32_t period, step, spread;
  uint32_t skip_rows;
  uint64_t mean, deviation;
  uint64_t skip, addend, total;
} norm_args;

/* What is normalised. Views are compact; NULL ones are not there. Counts and mapping come in args. */
typedef struct norm_job {
  const leati_view *x, *scale, *bias, *skip, *addend;
  const leati_view *y, *mean, *deviation, *total;
  bool rms;
  norm_args args;
} norm_job;

static int32_t add_norm(leati_planner *planner, norm_job *job, leat_error *err) {
  norm_args *args = &job->args;
  const sharing share = share_rows(planner->device, true, args->rows, args->count);
  const bool sets = args->period != 1 || args->spread != 1;
  const leati_view *const fours[] = {
      job->x, job->y, job->skip, job->addend, job->total, sets ? NULL : job->scale, sets ? NULL : job->bias};
  const leati_kernel kernel =
      row_kernel(planner->device, LEATI_KERNELS_NORM, LEATI_KERNELS_NORM_SHUFFLED, job->x->type);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = kernel,
                   .constants.norm = {.rows_spec = share.spec,
                                      .group = share.group,
                                      .held = share.held,
                                      .quads = in_fours(args->count, fours, 7),
                                      .rms = job->rms,
                                      .skip = job->skip == NULL               ? 0
                                              : args->skip_rows == args->rows ? 1
                                                                              : 2,
                                      .sets = sets,
                                      .early = (uint64_t)args->rows * share.parts <=
                                               planner->device->traits.tuning.row_early_max}},
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({job->x, &args->x}, {job->scale, &args->scale}, {job->bias, &args->bias}, {job->skip, &args->skip},
                  {job->addend, &args->addend}),
      LEATI_WRITES({job->y, &args->y}, {job->mean, &args->mean}, {job->deviation, &args->deviation},
                   {job->total, &args->total})};
  leati_groups_linear(planner->device, args->rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_rms_norm(leati_planner *planner, const char *name, const leati_view *given,
                            const leati_view *given_scale, float epsilon, const leati_view *y, leat_error *err) {
  LEATI_TRY(check_size(y, err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  const int64_t count = given->shape[given->ndim - 1], rows = (int64_t)y->count / count;
  LEATI_TRY(check_rounds(planner->device, name, true, rows, count, err));
  leati_view x, scale;
  LEATI_TRY(leati_plan_compact(planner, given, &x, err));
  LEATI_TRY(leati_plan_compact(planner, given_scale, &scale, err));
  norm_job job = {.x = &x,
                  .scale = &scale,
                  .y = y,
                  .rms = true,
                  .args = {.rows = (uint32_t)rows,
                           .count = (uint32_t)count,
                           .skip_rows = 1,
                           .period = 1,
                           .step = (uint32_t)count,
                           .spread = 1,
                           .epsilon = epsilon}};
  return add_norm(planner, &job, err);
}

/* A compact view of `view` broadcast to `ndim` dimensions `dims`: itself, or a copy. */
static int32_t add_expanded(leati_planner *planner, const leati_view *view, int32_t ndim, const int64_t *dims,
                            leati_view *out, leat_error *err) {
  if (view->count == (uint64_t)product(dims, 0, ndim)) {
    return leati_plan_compact(planner, view, out, err);
  }
  leati_view wide = *view;
  /* Leading dimensions beyond `ndim` have size 1 and move nothing. */
  for (; wide.ndim > ndim; --wide.ndim) {
    for (int32_t d = 1; d < wide.ndim; ++d) {
      wide.shape[d - 1] = wide.shape[d];
      wide.strides[d - 1] = wide.strides[d];
    }
  }
  int64_t strides[LEAT_MAX_RANK];
  leati_broadcast_strides(&wide, ndim, dims, strides);
  wide.ndim = ndim;
  wide.compact = false;
  *out = (leati_view){.type = view->type, .ndim = ndim};
  for (int32_t d = 0; d < ndim; ++d) {
    wide.shape[d] = out->shape[d] = dims[d];
    wide.strides[d] = strides[d];
  }
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  wide.count = out->count;
  return leati_plan_strided_copy(planner, &wide, out, err);
}

/* Layer normalisation and its kin: the row is everything from `axis` on. */
enum { LAYER, RMS, SIMPLIFIED_LAYER, SKIP_LAYER, SKIP_SIMPLIFIED_LAYER };

typedef struct layer_state {
  int64_t axis;
  float epsilon;
} layer_state;

static bool has_skip(const leat_op *op) {
  return leati_op_def_of(op)->param >= SKIP_LAYER;
}

static bool is_rms(const leat_op *op) {
  const uint32_t param = leati_op_def_of(op)->param;
  return param == RMS || param == SIMPLIFIED_LAYER || param == SKIP_SIMPLIFIED_LAYER;
}

/* Where the optional inputs and outputs of each stand; 0: it has none. */
static const struct {
  uint32_t scale, bias, addend;
  uint32_t mean, deviation, total;
} layer_places[] = {
    [LAYER] = {.scale = 1, .bias = 2, .mean = 1, .deviation = 2},
    [RMS] = {.scale = 1},
    [SIMPLIFIED_LAYER] = {.scale = 1, .deviation = 1},
    [SKIP_LAYER] = {.scale = 2, .bias = 3, .addend = 4, .mean = 1, .deviation = 2, .total = 3},
    [SKIP_SIMPLIFIED_LAYER] = {.scale = 2, .addend = 3, .mean = 1, .deviation = 2, .total = 3},
};

static const leati_view *input_at(const leati_call *call, uint32_t place) {
  return place != 0 ? leati_input(call, place) : NULL;
}

static const leati_view *output_at(const leati_call *call, uint32_t place) {
  return place != 0 ? leati_output(call, place) : NULL;
}

/* The first dimension up to `axis` of `x` along which `view`, which broadcasts to it, does not repeat. */
static int32_t first_own(const leati_view *x, int32_t axis, const leati_view *view) {
  const int32_t added = x->ndim - view->ndim;
  int32_t d = added;
  while (d < axis && view->shape[d - added] == 1) {
    ++d;
  }
  return d < axis ? d : axis;
}

/* A parameter may be left out; else it broadcasts to dimensions `axis` and behind of `x`. */
static int32_t check_parameter(const leat_op *op, const char *what, const leati_view *view, const leati_view *x,
                               int32_t axis, leat_error *err) {
  bool fits = view == NULL || view->ndim <= x->ndim;
  for (int32_t d = 1; fits && view != NULL && d <= view->ndim; ++d) {
    const int64_t size = view->shape[view->ndim - d];
    fits = size == 1 || (size == x->shape[x->ndim - d] && x->ndim - d >= axis);
  }
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s cannot be broadcast to %s",
                      leati_op_def_of(op)->info.name, what,
                      axis == 0 ? "the input" : "the dimensions that are normalised");
  }
  return LEAT_OK;
}

/* Finds the axis and checks the parameters' shapes. */
static int32_t layer_axis(const leat_op *op, const leati_call *call, int32_t *axis, leat_error *err) {
  const layer_state *state = leati_op_state_const(op);
  const leati_view *x = &call->inputs[0];
  const uint32_t param = leati_op_def_of(op)->param;
  LEATI_TRY(leati_axis(state->axis, x->ndim, axis, err));
  LEATI_TRY(check_parameter(op, "the scale", input_at(call, layer_places[param].scale), x, 0, err));
  LEATI_TRY(check_parameter(op, "the bias", input_at(call, layer_places[param].bias), x, 0, err));
  LEATI_TRY(check_parameter(op, "the added bias", input_at(call, layer_places[param].addend), x, *axis, err));
  return has_skip(op) ? check_parameter(op, "the skip input", &call->inputs[1], x, 0, err) : LEAT_OK;
}

static int32_t layer_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  const uint32_t param = leati_op_def_of(op)->param;
  int32_t axis;
  LEATI_TRY(layer_axis(op, call, &axis, err));
  LEATI_TRY(check_row_rounds(op, true, product(x->shape, 0, axis), product(x->shape, axis, x->ndim), err));
  for (uint32_t i = 0; i < call->output_count; ++i) {
    const bool per_line = i > 0 && (i == layer_places[param].mean || i == layer_places[param].deviation);
    out[i].ndim = x->ndim;
    out[i].dtype = leati_dtype_of(per_line ? LEAT_TYPE_FLOAT32 : x->type);
    for (int32_t d = 0; d < x->ndim; ++d) {
      out[i].dims[d] = per_line && d >= axis ? 1 : x->shape[d];
    }
  }
  return LEAT_OK;
}

static int32_t layer_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const layer_state *state = leati_op_state_const(op);
  const uint32_t param = leati_op_def_of(op)->param;
  const leati_view *y = &call->outputs[0];
  LEATI_TRY(check_size(y, err));
  int32_t axis;
  LEATI_TRY(layer_axis(op, call, &axis, err));
  leati_view x, scale, bias, skip, addend;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const int32_t rank = x.ndim - axis;
  const int64_t *dims = x.shape + axis;
  norm_job job = {.x = &x,
                  .y = y,
                  .mean = output_at(call, layer_places[param].mean),
                  .deviation = output_at(call, layer_places[param].deviation),
                  .total = output_at(call, layer_places[param].total),
                  .rms = is_rms(op),
                  .args = {.skip_rows = 1, .period = 1, .spread = 1, .epsilon = state->epsilon}};
  const int64_t rows = product(x.shape, 0, axis), count = product(dims, 0, rank);
  if (rows == 0) {
    return LEAT_OK;
  }
  if (rows > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s of 2^31 rows or more is not supported",
                      leati_op_def_of(op)->info.name);
  }
  job.args.rows = (uint32_t)rows;
  job.args.count = (uint32_t)count;
  if (count == 0) {
    /* Rows of nothing have no elements to scale, but still a mean and a deviation. */
    return job.mean == NULL && job.deviation == NULL ? LEAT_OK : add_norm(planner, &job, err);
  }
  /* Scale and bias repeat over the leading dimensions that neither has of its own; other broadcasts are copied out. */
  const leati_view *const scale_given = input_at(call, layer_places[param].scale);
  const leati_view *const bias_given = input_at(call, layer_places[param].bias);
  int32_t own = scale_given != NULL ? first_own(&x, axis, scale_given) : axis;
  own = bias_given != NULL ? first_own(&x, own, bias_given) : own;
  job.args.period = (uint32_t)product(x.shape, own, axis);
  job.args.step = job.args.count;
  if (scale_given != NULL) {
    LEATI_TRY(add_expanded(planner, scale_given, x.ndim - own, x.shape + own, &scale, err));
    job.scale = &scale;
  }
  if (bias_given != NULL) {
    LEATI_TRY(add_expanded(planner, bias_given, x.ndim - own, x.shape + own, &bias, err));
    job.bias = &bias;
  }
  const leati_view *given = input_at(call, layer_places[param].addend);
  if (given != NULL) {
    LEATI_TRY(add_expanded(planner, given, rank, dims, &addend, err));
    job.addend = &addend;
  }
  if (has_skip(op)) {
    given = &call->inputs[1];
    own = first_own(&x, axis, given);
    LEATI_TRY(add_expanded(planner, given, x.ndim - own, x.shape + own, &skip, err));
    job.skip = &skip;
    job.args.skip_rows = (uint32_t)product(x.shape, own, axis);
  }
  return add_norm(planner, &job, err);
}

static int32_t layer_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  layer_state *state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", -1);
  /* The default of ONNX Runtime's own operators is another one. */
  state->epsilon = leati_attr_float(desc, "epsilon", has_skip(op) ? 1e-12f : 1e-5f);
  return LEAT_OK;
}

static int32_t layer_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)device;
  if (leati_attr_int(desc, "stash_type", STASH_FLOAT) != STASH_FLOAT) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a stash_type other than 1 (float32) is not supported",
                      def->info.name);
  }
  return LEAT_OK;
}

/* ---- Instance and group normalisation -----------------------------------------------------------------------------
 */

enum { INSTANCE, GROUP };

typedef struct group_state {
  int64_t groups; /* GroupNormalization only */
  float epsilon;
} group_state;

static int32_t group_check(const leat_op *op, const leati_call *call, int64_t *out_groups, leat_error *err) {
  const group_state *state = leati_op_state_const(op);
  const leati_op_def *def = leati_op_def_of(op);
  const leati_view *x = &call->inputs[0];
  if (x->ndim < (def->param == GROUP ? 2 : 3)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s of %d dimensions: it needs images of channels",
                      def->info.name, x->ndim);
  }
  const int64_t channels = x->shape[1];
  *out_groups = def->param == GROUP ? state->groups : channels;
  if (def->param == GROUP && (state->groups < 1 || channels % state->groups != 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: num_groups is %lld, which does not divide %lld channels",
                      def->info.name, (long long)state->groups, (long long)channels);
  }
  const int64_t parameters = def->param == GROUP && leati_op_since_version(op) < 21 ? state->groups : channels;
  for (uint32_t i = 1; i < 3; ++i) {
    if (call->inputs[i].ndim != 1 || call->inputs[i].shape[0] != parameters) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: scale and bias must have shape [%lld]", def->info.name,
                        (long long)parameters);
    }
  }
  const int64_t rows = x->shape[0] * *out_groups;
  return rows == 0 ? LEAT_OK : check_row_rounds(op, true, rows, (int64_t)x->count / rows, err);
}

static int32_t group_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  int64_t groups;
  LEATI_TRY(group_check(op, call, &groups, err));
  return leati_infer_same(op, call, out, err);
}

static int32_t group_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const group_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(check_size(y, err));
  int64_t groups = 0;
  LEATI_TRY(group_check(op, call, &groups, err));
  leati_view x, scale, bias;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &scale, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[2], &bias, err));
  const int64_t pixels = product(x.shape, 2, x.ndim), channels = x.shape[1] / groups;
  const bool per_channel = (int64_t)scale.count == x.shape[1];
  norm_job job = {.x = &x,
                  .scale = &scale,
                  .bias = &bias,
                  .y = y,
                  .args = {.rows = (uint32_t)(x.shape[0] * groups),
                           .count = (uint32_t)(channels * pixels),
                           .skip_rows = 1,
                           .period = (uint32_t)groups,
                           .step = per_channel ? (uint32_t)channels : 1,
                           .spread = (uint32_t)(per_channel ? pixels : channels * pixels),
                           .epsilon = state->epsilon}};
  return add_norm(planner, &job, err);
}

static int32_t group_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  group_state *state = leati_op_state(op);
  state->groups = leati_attr_int(desc, "num_groups", 0);
  state->epsilon = leati_attr_float(desc, "epsilon", 1e-5f);
  return LEAT_OK;
}

/* ---- Batch normalisation ------------------------------------------------------------------------------------------
 */

typedef struct batch_state {
  float epsilon;
} batch_state;

static int32_t batch_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  const int64_t channels = x->ndim > 1 ? x->shape[1] : 1;
  for (uint32_t i = 1; i < 5; ++i) {
    if (call->inputs[i].ndim != 1 || call->inputs[i].shape[0] != channels) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "BatchNormalization: input %u must have shape [%lld]", i,
                        (long long)channels);
    }
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t batch_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const batch_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(check_size(y, err));
  const bool last = leati_is_channels_last(y);
  leati_view in[5];
  LEATI_TRY((last ? leati_plan_channels_last : leati_plan_compact)(planner, &call->inputs[0], &in[0], err));
  for (uint32_t i = 1; i < 5; ++i) {
    leati_view numbers = call->inputs[i];
    numbers.compact = numbers.compact && (!last || numbers.address % 16 == 0);
    LEATI_TRY(leati_plan_compact(planner, &numbers, &in[i], err));
  }
  const int64_t inner = !last && in[0].ndim > 2 ? product(in[0].shape, 2, in[0].ndim) : 1;
  const struct {
    uint64_t x, y, scale, bias, mean, variance;
    uint32_t count, channels, inner;
    uint32_t pitch_in, pitch_out;
    float epsilon;
  } args = {.count = (uint32_t)y->count,
            .channels = (uint32_t)in[1].count,
            .inner = (uint32_t)inner,
            .pitch_in = (uint32_t)(last ? leati_pixel_pitch(&in[0]) : 0),
            .pitch_out = (uint32_t)(last ? leati_pixel_pitch(y) : 0),
            .epsilon = state->epsilon};
  const bool quads = inner % 4 == 0 && in[0].address % 16 == 0 && y->address % 16 == 0;
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_BATCH_NORM, in[0].type),
                                               .constants.batch_norm = {.quads = quads, .last = last}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&in[0], &args.x}, {&in[1], &args.scale}, {&in[2], &args.bias},
                                              {&in[3], &args.mean}, {&in[4], &args.variance}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 1024, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* As of a pool, channels are moved four at a time. */
static leati_channels_last_use batch_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  (void)op;
  return (leati_channels_last_use){.writes = call->inputs[0].ndim > 2 && call->inputs[0].shape[1] % 4 == 0,
                                   .equals = 1u << 0};
}

static int32_t batch_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  batch_state *state = leati_op_state(op);
  state->epsilon = leati_attr_float(desc, "epsilon", 1e-5f);
  return LEAT_OK;
}

static int32_t batch_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)def;
  (void)device;
  if (leati_attr_int(desc, "training_mode", 0) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "BatchNormalization with training_mode=1 is not supported");
  }
  return LEAT_OK;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* In place: a row is read whole by its workgroup before it is written, or each element by the thread that writes it.
 */
#define SOFTMAX_OF(name, which)                                                                               \
  LEATI_OP(name, "", (13, 13), (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&leati_type_real), \
           LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(softmax_state), .param = (which),    \
           .create = softmax_create, .infer = softmax_infer, LEATI_KERNELS(LEATI_KERNELS_SOFTMAX),            \
           .plan = softmax_plan)
/* Types of operators that may give mean and deviation, and of those that do not. */
#define MEASURED LEATI_TYPES(&leati_type_real, &type_stash), LEATI_OUTPUT_TYPES(0, 1, 1, 0)
#define UNMEASURED LEATI_TYPES(&leati_type_real)
/* The rest are attributes. */
#define LAYER_NORM(name, domain, since_version, which, inputs, outputs, types_, ...)                             \
  LEATI_OP(name, domain, (since_version, since_version), inputs, outputs, types_, LEATI_ATTRIBUTES(__VA_ARGS__), \
           .state_size = sizeof(layer_state), .param = (which), .least_rank = 1, .supports = layer_supports,     \
           .create = layer_create, .infer = layer_infer, LEATI_KERNELS(LEATI_KERNELS_NORM), .plan = layer_plan)
#define GROUP_NORM(name, versions, which, ...)                                                               \
  LEATI_OP(name, "", versions, (3, 3), (1, 1), LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(__VA_ARGS__), \
           .state_size = sizeof(group_state), .param = (which), .least_rank = (which) == GROUP ? 2 : 3,      \
           .supports = layer_supports, .create = group_create, .infer = group_infer,                         \
           LEATI_KERNELS(LEATI_KERNELS_NORM), .plan = group_plan)

static const leati_op_def ops[] = {
    SOFTMAX_OF("Softmax", SOFTMAX),
    SOFTMAX_OF("LogSoftmax", LOG_SOFTMAX),
    LEATI_OP("QLinearSoftmax", "com.microsoft", (1, 1), (2, 5), (1, 1),
             LEATI_TYPES(&leati_type_scaled, &leati_type_scale),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_opset), LEATI_INPUT_TYPES(0, 1, 0, 1, 0),
             .state_size = sizeof(softmax_state), .param = SOFTMAX, .supports = qlinear_softmax_supports,
             .create = softmax_create, .infer = qlinear_softmax_infer,
             LEATI_KERNELS(LEATI_KERNELS_SOFTMAX, LEATI_KERNELS_SCALED_POINTWISE), .plan = qlinear_softmax_plan,
             .reads_view = leati_reads_rows),
    LAYER_NORM("LayerNormalization", "", 17, LAYER, (2, 3), (1, 3), MEASURED, &leati_attribute_axis, &attribute_epsilon,
               &attribute_stash_type),
    LAYER_NORM("RMSNormalization", "", 23, RMS, (2, 2), (1, 1), UNMEASURED, &leati_attribute_axis, &attribute_epsilon,
               &attribute_stash_type),
    LAYER_NORM("SimplifiedLayerNormalization", "", 1, SIMPLIFIED_LAYER, (2, 2), (1, 2), MEASURED, &leati_attribute_axis,
               &attribute_epsilon, &attribute_stash_type),
    LAYER_NORM("SkipLayerNormalization", "com.microsoft", 1, SKIP_LAYER, (3, 5), (1, 4), MEASURED, &attribute_epsilon),
    LAYER_NORM("SkipSimplifiedLayerNormalization", "com.microsoft", 1, SKIP_SIMPLIFIED_LAYER, (3, 4), (1, 4), MEASURED,
               &attribute_epsilon),
    GROUP_NORM("InstanceNormalization", (6, 22), INSTANCE, &attribute_epsilon),
    GROUP_NORM("GroupNormalization", (18, 21), GROUP, &attribute_epsilon, &attribute_num_groups, &attribute_stash_type),
    LEATI_OP("BatchNormalization", "", (9, 15), (5, 5), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&attribute_epsilon, &attribute_momentum, &attribute_training_mode),
             .state_size = sizeof(batch_state), .supports = batch_supports, .create = batch_create,
             .infer = batch_infer, LEATI_KERNELS(LEATI_KERNELS_BATCH_NORM), .plan = batch_plan,
             .channels_last = batch_channels_last),
};

const leati_op_family leati_norm_family = LEATI_FAMILY(ops);
