/* SPDX-License-Identifier: BSD-3-Clause */
/* Layer and RMS normalisation, and those of ONNX Runtime: simplified, and with a skip input. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/norm/norm.h"
#include "ops/norm/row_sharing.h"

static LEATI_TYPE(type_stash, "U", LEAT_TYPE_FLOAT32); /* of means and deviations */

/* A compact view of `view` broadcast to `ndim` dimensions `dims`: itself, or a copy. */
static int32_t add_expanded(leati_planner *planner, const leati_view *view, int32_t ndim, const int64_t *dims,
                            leati_view *out, leat_error *err) {
  if (view->count == leati_product(dims, 0, ndim)) {
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
  LEATI_TRY(leati_op_check_row_rounds(op, true, (int64_t)leati_product(x->shape, 0, axis),
                                      (int64_t)leati_product(x->shape, axis, x->ndim), err));
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
  LEATI_TRY(leati_check_rows_size(y, err));
  int32_t axis;
  LEATI_TRY(layer_axis(op, call, &axis, err));
  leati_view x, scale, bias, skip, addend;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const int32_t rank = x.ndim - axis;
  const int64_t *dims = x.shape + axis;
  leati_norm_job job = {.x = &x,
                        .y = y,
                        .mean = output_at(call, layer_places[param].mean),
                        .deviation = output_at(call, layer_places[param].deviation),
                        .total = output_at(call, layer_places[param].total),
                        .rms = is_rms(op),
                        .args = {.skip_rows = 1, .period = 1, .spread = 1, .epsilon = state->epsilon}};
  const int64_t rows = (int64_t)leati_product(x.shape, 0, axis), count = (int64_t)leati_product(dims, 0, rank);
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
    return job.mean == NULL && job.deviation == NULL ? LEAT_OK : leati_plan_norm(planner, &job, err);
  }
  /* Scale and bias repeat over the leading dimensions that neither has of its own; other broadcasts are copied out. */
  const leati_view *const scale_given = input_at(call, layer_places[param].scale);
  const leati_view *const bias_given = input_at(call, layer_places[param].bias);
  int32_t own = scale_given != NULL ? first_own(&x, axis, scale_given) : axis;
  own = bias_given != NULL ? first_own(&x, own, bias_given) : own;
  job.args.period = (uint32_t)leati_product(x.shape, own, axis);
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
    job.args.skip_rows = (uint32_t)leati_product(x.shape, own, axis);
  }
  return leati_plan_norm(planner, &job, err);
}

static int32_t layer_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  layer_state *state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", -1);
  /* The default of ONNX Runtime's own operators is another one. */
  state->epsilon = leati_attr_float(desc, "epsilon", has_skip(op) ? 1e-12f : 1e-5f);
  return LEAT_OK;
}

/* Types of operators that may give mean and deviation, and of those that do not. */
#define MEASURED LEATI_TYPES(&leati_type_real, &type_stash), LEATI_OUTPUT_TYPES(0, 1, 1, 0)
#define UNMEASURED LEATI_TYPES(&leati_type_real)
/* The rest are attributes. */
#define LAYER_NORM(name, domain, versions, which, inputs, outputs, types_, ...)                                   \
  LEATI_OP(name, domain, versions, inputs, outputs, types_, LEATI_ATTRIBUTES(__VA_ARGS__),                        \
           .state_size = sizeof(layer_state), .param = (which), .least_rank = 1, .supports = leati_norm_supports, \
           .create = layer_create, .infer = layer_infer, LEATI_KERNELS(LEATI_KERNELS_NORM), .plan = layer_plan)

static const leati_op_def ops[] = {
    LAYER_NORM("LayerNormalization", "", (1, 17), LAYER, (2, 3), (1, 3), MEASURED, &leati_attribute_axis,
               &leati_attribute_epsilon, &leati_attribute_stash_type),
    LAYER_NORM("RMSNormalization", "", (23, 23), RMS, (2, 2), (1, 1), UNMEASURED, &leati_attribute_axis,
               &leati_attribute_epsilon, &leati_attribute_stash_type),
    LAYER_NORM("SimplifiedLayerNormalization", "", (1, 1), SIMPLIFIED_LAYER, (2, 2), (1, 2), MEASURED,
               &leati_attribute_axis, &leati_attribute_epsilon, &leati_attribute_stash_type),
    LAYER_NORM("SkipLayerNormalization", "com.microsoft", (1, 1), SKIP_LAYER, (3, 5), (1, 4), MEASURED,
               &leati_attribute_epsilon),
    LAYER_NORM("SkipSimplifiedLayerNormalization", "com.microsoft", (1, 1), SKIP_SIMPLIFIED_LAYER, (3, 4), (1, 4),
               MEASURED, &leati_attribute_epsilon),
};

const leati_op_family leati_layer_norm_family = LEATI_FAMILY(ops);
