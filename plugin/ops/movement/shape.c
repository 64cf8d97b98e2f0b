/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators about shapes: those that give the same bytes another shape (Reshape, Flatten, Squeeze, Unsqueeze, Identity,
 * Dropout at inference), those that answer on the host (Shape, Size), and those that make a tensor from a shape
 * (ConstantOfShape, Range). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_shape_out, "T1", LEAT_TYPE_INT64);
static LEATI_TYPE(type_ratio, "T1", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64);
static LEATI_TYPE(type_mask, "T2", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_dropout, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64);
static LEATI_TYPE(type_constant_in, "T1", LEAT_TYPE_INT64);
static LEATI_TYPE(type_constant_out, "T2", LEATI_TYPES_MOVED);
static LEATI_TYPE(type_range, "T", LEATI_TYPES_OF_RANGE);
static LEATI_ATTRIBUTE(attribute_allowzero, "allowzero", INT);
static LEATI_ATTRIBUTE(attribute_start, "start", INT);
static LEATI_ATTRIBUTE(attribute_end, "end", INT);
static LEATI_ATTRIBUTE(attribute_value, "value", TENSOR);

typedef struct shape_state {
  int64_t axis;       /* Flatten */
  bool allow_zero;    /* Reshape */
  int64_t start, end; /* Shape */
  uint64_t type;      /* ConstantOfShape: of the value */
  uint64_t value;     /* ConstantOfShape: bits of the value */
} shape_state;

static int32_t shape_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  shape_state *const state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", 1);
  state->allow_zero = leati_attr_int(desc, "allowzero", 0) != 0;
  state->start = leati_attr_int(desc, "start", 0);
  state->end = leati_attr_int(desc, "end", INT64_MAX);
  return LEAT_OK;
}

/* ---- The same bytes --------------------------------------------------------------------------------------------- */

/* Reshape and ConstantOfShape give a result of as many dimensions as their list of sizes, the last input, has elements.
 */
static int32_t sizes_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)device;
  return leati_check_rank(def->info.name, leati_list_length(desc, desc->input_count - 1), err);
}

/* Output 0 as input 0 with another shape, if strides give that. */
static int32_t alias_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  (void)op;
  (void)err;
  const leati_view *const result = &call->outputs[o];
  int64_t strides[LEAT_MAX_RANK];
  *out = call->inputs[0];
  out->present = o == 0 && leati_reshape_strides(out, result->ndim, result->shape, strides);
  if (out->present) {
    leati_view_reshape(out, result->ndim, result->shape, strides);
  }
  return LEAT_OK;
}

/* Copies input 0 to output 0, which has another shape, unless they are the same memory. */
static int32_t alias_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const src = &call->inputs[0];
  leati_view dst = call->outputs[0];
  if (!dst.present || (src->compact && src->address == dst.address)) {
    return LEAT_OK;
  }
  dst.ndim = src->ndim;
  memcpy(dst.shape, src->shape, sizeof(dst.shape));
  leati_view_make_compact(&dst);
  return leati_plan_strided_copy(planner, src, &dst, err);
}

static int32_t reshape_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const shape_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  int64_t shape[LEAT_MAX_RANK];
  uint32_t rank;
  LEATI_TRY(leati_check_rank("Reshape", (int64_t)call->inputs[1].count, err));
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Reshape: shape", LEAT_MAX_RANK, shape, &rank, err));
  int32_t wanted = -1;
  uint64_t known = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t size = shape[d];
    if (size == 0 && !state->allow_zero) {
      if ((int32_t)d >= input->ndim) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Reshape: element %u of the shape copies a dimension that is not there", d);
      }
      size = input->shape[d];
    } else if (size == -1 && wanted < 0) {
      wanted = (int32_t)d;
      continue;
    } else if (size < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Reshape: the shape holds %" PRId64 "; allowed: sizes and one -1", size);
    }
    out->dims[d] = size;
    if (__builtin_mul_overflow(known, (uint64_t)size, &known)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Reshape: the shape has more elements than can be counted");
    }
  }
  out->ndim = (int32_t)rank;
  if (wanted >= 0) {
    if (known == 0 || input->count % known != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Reshape: %" PRIu64 " elements do not divide by %" PRIu64
                        ", which the shape's other sizes give",
                        input->count, known);
    }
    out->dims[wanted] = (int64_t)(input->count / known);
  } else if (known != input->count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Reshape: %" PRIu64 " elements do not fit a shape of %" PRIu64,
                      input->count, known);
  }
  return LEAT_OK;
}

static int32_t flatten_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const shape_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  const int64_t axis = state->axis < 0 ? state->axis + input->ndim : state->axis;
  if (axis < 0 || axis > input->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Flatten: axis %" PRId64 " is outside [%d, %d]", state->axis,
                      -input->ndim, input->ndim);
  }
  out->ndim = 2;
  out->dims[0] = 1;
  out->dims[1] = 1;
  for (int32_t d = 0; d < input->ndim; ++d) {
    out->dims[d < axis ? 0 : 1] *= input->shape[d];
  }
  return LEAT_OK;
}

/* Bits of the dimensions that `view` names in a tensor of rank `rank`. */
static int32_t read_axes(const leati_view *view, const char *what, int32_t rank, uint32_t *out_mask, leat_error *err) {
  int64_t given[LEAT_MAX_RANK];
  int32_t axes[LEAT_MAX_RANK];
  uint32_t count;
  LEATI_TRY(leati_read_ints(view, what, LEAT_MAX_RANK, given, &count, err));
  LEATI_TRY(leati_axes(given, count, rank, what, axes, err));
  *out_mask = 0;
  for (uint32_t i = 0; i < count; ++i) {
    *out_mask |= 1u << axes[i];
  }
  return LEAT_OK;
}

static int32_t squeeze_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const input = &call->inputs[0];
  const leati_view *const axes = leati_input(call, 1);
  uint32_t mask = 0;
  if (axes != NULL) {
    LEATI_TRY(read_axes(axes, "Squeeze: axes", input->ndim, &mask, err));
  }
  for (int32_t d = 0; d < input->ndim; ++d) {
    const bool named = (mask >> d & 1u) != 0;
    if (named && input->shape[d] != 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Squeeze: dimension %d has size %" PRId64 "; only 1 can go",
                        d, input->shape[d]);
    }
    if (!named && (axes != NULL || input->shape[d] != 1)) {
      out->dims[out->ndim++] = input->shape[d];
    }
  }
  return LEAT_OK;
}

static int32_t unsqueeze_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  (void)device;
  const int64_t added = leati_list_length(desc, 1);
  return desc->inputs[0].ndim < 0 || added < 0 ? LEAT_OK
                                               : leati_check_rank(def->info.name, desc->inputs[0].ndim + added, err);
}

static int32_t unsqueeze_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const input = &call->inputs[0];
  const leati_view *const axes = &call->inputs[1];
  uint32_t mask;
  LEATI_TRY(leati_check_rank("Unsqueeze", input->ndim + (int64_t)axes->count, err));
  out->ndim = input->ndim + (int32_t)axes->count;
  LEATI_TRY(read_axes(axes, "Unsqueeze: axes", out->ndim, &mask, err));
  for (int32_t d = 0, from = 0; d < out->ndim; ++d) {
    out->dims[d] = (mask >> d & 1u) != 0 ? 1 : input->shape[from++];
  }
  return LEAT_OK;
}

/* ---- Filling ---------------------------------------------------------------------------------------------------- */

typedef struct fill_args {
  uint64_t dst;
  uint64_t value;
  uint32_t count;
} fill_args;

static int32_t add_fill(leati_planner *planner, const leati_view *dst, uint64_t value, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  /* The value is repeated over eight bytes and written as wide as address and size allow. */
  for (uint32_t bits = dst->item_size * 8; bits < 64; bits *= 2) {
    value = (value & ((UINT64_C(1) << bits) - 1)) | value << bits;
  }
  const uint64_t bytes = dst->count * dst->item_size;
  const uint32_t widest = leati_item_width(bytes | dst->address);
  const uint32_t width = widest > 8 ? 8 : widest;
  if (bytes / width > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a tensor of %" PRIu64 " bytes is too large to fill", bytes);
  }
  const fill_args args = {.value = value, .count = (uint32_t)(bytes / width)};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_FILL, width)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t constant_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                 leat_error *err) {
  leati_view value;
  LEATI_TRY(sizes_supports(def, device, desc, err));
  return !leati_attr_tensor(desc, "value", &value) || value.count == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "ConstantOfShape: 'value' has %" PRIu64 " elements; expected one", value.count);
}

static int32_t constant_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  shape_state *const state = leati_op_state(op);
  leati_view value;
  state->type = LEAT_TYPE_FLOAT32;
  if (leati_attr_tensor(desc, "value", &value)) {
    state->type = value.type;
    memcpy(&state->value, value.data, value.item_size);
  }
  return LEAT_OK;
}

static int32_t constant_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const shape_state *const state = leati_op_state_const(op);
  uint32_t rank;
  LEATI_TRY(leati_check_rank("ConstantOfShape", (int64_t)call->inputs[0].count, err));
  LEATI_TRY(leati_read_ints(&call->inputs[0], "ConstantOfShape: input", LEAT_MAX_RANK, out->dims, &rank, err));
  for (uint32_t d = 0; d < rank; ++d) {
    if (out->dims[d] < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "ConstantOfShape: the shape holds %" PRId64, out->dims[d]);
    }
  }
  out->ndim = (int32_t)rank;
  out->dtype = leati_dtype_of(state->type);
  return LEAT_OK;
}

static int32_t constant_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const shape_state *const state = leati_op_state_const(op);
  return add_fill(planner, &call->outputs[0], state->value, err);
}

/* ---- Dropout ---------------------------------------------------------------------------------------------------- */

/* Whether training_mode is one false. */
static bool is_inference(const leati_view *training) {
  return training->count == 1 && *(const unsigned char *)training->data == 0;
}

static int32_t dropout_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)def;
  (void)device;
  if (!leati_is_given(desc, 2)) {
    return LEAT_OK;
  }
  /* Whether it trains must be known now: a host that is refused here has another place to run it, later it has none. */
  leati_view training;
  return leati_constant(desc, 2, &training) && is_inference(&training)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Dropout: training_mode is not a constant false");
}

static int32_t dropout_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const training = leati_input(call, 2);
  if (training != NULL && !is_inference(training)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Dropout: training_mode must be one false");
  }
  LEATI_TRY(leati_infer_same(op, call, out, err));
  if (call->output_count > 1) {
    LEATI_TRY(leati_infer_same(op, call, &out[1], err));
    out[1].dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  }
  return LEAT_OK;
}

static int32_t dropout_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const mask = leati_output(call, 1);
  LEATI_TRY(alias_plan(op, planner, call, err));
  return mask == NULL ? LEAT_OK : add_fill(planner, mask, 1, err);
}

/* ---- Answers on the host ---------------------------------------------------------------------------------------- */

/* The dimensions [*out_start, *out_end) that Shape gives. */
static void shape_range(const shape_state *state, int32_t rank, int32_t *out_start, int32_t *out_end) {
  const int64_t bounds[2] = {state->start, state->end};
  int32_t clamped[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t bound = bounds[i] < 0 ? bounds[i] + rank : bounds[i];
    clamped[i] = bound < 0 ? 0 : bound > rank ? rank : (int32_t)bound;
  }
  *out_start = clamped[0];
  *out_end = clamped[1] < clamped[0] ? clamped[0] : clamped[1];
}

static int32_t shape_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)err;
  int32_t start, end;
  shape_range(leati_op_state_const(op), call->inputs[0].ndim, &start, &end);
  out->ndim = 1;
  out->dims[0] = end - start;
  out->dtype = leati_dtype_of(LEAT_TYPE_INT64);
  return LEAT_OK;
}

static int32_t shape_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  int32_t start, end;
  shape_range(leati_op_state_const(op), call->inputs[0].ndim, &start, &end);
  /* The shape of a scalar has no elements, and then the output may have no memory. */
  return end == start ? LEAT_OK
                      : leati_plan_answer_host(planner, &call->outputs[0], &call->inputs[0].shape[start],
                                               (uint32_t)(end - start) * sizeof(int64_t), err);
}

static int32_t size_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  (void)call;
  (void)err;
  out->ndim = 0;
  out->dtype = leati_dtype_of(LEAT_TYPE_INT64);
  return LEAT_OK;
}

static int32_t size_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  return leati_plan_answer_host(planner, &call->outputs[0], &call->inputs[0].count, sizeof(int64_t), err);
}

/* ---- Range ------------------------------------------------------------------------------------------------------ */

typedef struct range_args {
  uint64_t dst;
  int64_t start, delta; /* of floats: the bits of a float32 */
  uint32_t count;
} range_args;

#define RANGE_PER_GROUP 256

/* Elements from `start` to before `limit`; both differences are taken without overflow. */
static uint64_t range_count(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0) {
    return limit > start ? ((uint64_t)limit - (uint64_t)start - 1) / (uint64_t)delta + 1 : 0;
  }
  return start > limit ? ((uint64_t)start - (uint64_t)limit - 1) / (UINT64_C(0) - (uint64_t)delta) + 1 : 0;
}

static int32_t range_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  uint64_t count;
  for (uint32_t i = 0; i < 3; ++i) {
    if (call->inputs[i].count != 1 || call->inputs[i].ndim > 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Range: input %u has %" PRIu64 " elements; expected a scalar",
                        i, call->inputs[i].count);
    }
  }
  const leati_view *const in = call->inputs;
  if ((in[0].type & LEATI_TYPES_REAL) != 0) {
    const double start = leati_real_of(in[0].type, in[0].data), limit = leati_real_of(in[1].type, in[1].data),
                 delta = leati_real_of(in[2].type, in[2].data);
    const double steps = ceil((limit - start) / delta);
    if (delta == 0 || isnan(steps) || steps > (double)INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Range: from %g to %g by %g is no finite range", start, limit,
                        delta);
    }
    count = steps > 0 ? (uint64_t)steps : 0;
  } else {
    const int64_t delta = leati_host_int(&in[2], 0);
    if (delta == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Range: 'delta' is 0");
    }
    count = range_count(leati_host_int(&in[0], 0), leati_host_int(&in[1], 0), delta);
  }
  if (count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Range: %" PRIu64 " elements; supported: up to 2147483647", count);
  }
  out->ndim = 1;
  out->dims[0] = (int64_t)count;
  return LEAT_OK;
}

static int32_t range_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const dst = &call->outputs[0];
  if (dst->count == 0) {
    return LEAT_OK;
  }
  range_args args = {.count = (uint32_t)dst->count};
  if ((dst->type & LEATI_TYPES_REAL) != 0) {
    const float start = leati_real_of(call->inputs[0].type, call->inputs[0].data),
                delta = leati_real_of(call->inputs[2].type, call->inputs[2].data);
    memcpy(&args.start, &start, sizeof(start));
    memcpy(&args.delta, &delta, sizeof(delta));
  } else {
    args.start = leati_host_int(&call->inputs[0], 0);
    args.delta = leati_host_int(&call->inputs[2], 0);
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_RANGE, dst->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, dst->count, RANGE_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Identity", "", (1, 25), (1, 1), (1, 1), .info.flags = LEAT_OP_ALIAS | LEATI_EVALUATED,
             LEATI_TYPES(&leati_type_moved), .any_size = true, .infer = leati_infer_same, .plan = alias_plan,
             .view = alias_view),
    LEATI_OP("Dropout", "", (12, 22), (1, 3), (1, 2), .info.flags = LEAT_OP_ALIAS, .info.host_inputs = 0x6,
             LEATI_TYPES(&type_dropout, &type_ratio, &type_mask), LEATI_INPUT_TYPES(0, 1, 2), LEATI_OUTPUT_TYPES(0, 2),
             .any_size = true, .supports = dropout_supports, .infer = dropout_infer, .plan = dropout_plan,
             .view = alias_view),
    LEATI_OP("Reshape", "", (5, 25), (2, 2), (1, 1), .info.flags = LEAT_OP_ALIAS | LEATI_EVALUATED,
             .info.host_inputs = 1u << 1, LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_allowzero), LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(shape_state),
             .any_size = true, .supports = sizes_supports, .create = shape_create, .infer = reshape_infer,
             .plan = alias_plan, .view = alias_view),
    LEATI_OP("Flatten", "", (1, 25), (1, 1), (1, 1), .info.flags = LEAT_OP_ALIAS | LEATI_EVALUATED,
             LEATI_TYPES(&leati_type_moved), LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(shape_state),
             .any_size = true, .create = shape_create, .infer = flatten_infer, .plan = alias_plan, .view = alias_view),
    LEATI_OP("Squeeze", "", (13, 25), (1, 2), (1, 1), .info.flags = LEAT_OP_ALIAS | LEATI_EVALUATED,
             .info.host_inputs = 1u << 1, LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1),
             .any_size = true, .infer = squeeze_infer, .plan = alias_plan, .view = alias_view),
    LEATI_OP("Unsqueeze", "", (13, 25), (2, 2), (1, 1), .info.flags = LEAT_OP_ALIAS | LEATI_EVALUATED,
             .info.host_inputs = 1u << 1, LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1),
             .any_size = true, .supports = unsqueeze_supports, .infer = unsqueeze_infer, .plan = alias_plan,
             .view = alias_view),
    LEATI_OP("Shape", "", (1, 25), (1, 1), (1, 1), .info.host_outputs = 1,
             LEATI_TYPES(&leati_type_moved, &type_shape_out), LEATI_ATTRIBUTES(&attribute_start, &attribute_end),
             LEATI_OUTPUT_TYPES(1), .state_size = sizeof(shape_state), .any_size = true, .create = shape_create,
             .infer = shape_infer, .plan = shape_plan),
    LEATI_OP("Size", "", (1, 25), (1, 1), (1, 1), .info.host_outputs = 1,
             LEATI_TYPES(&leati_type_moved, &type_shape_out), LEATI_OUTPUT_TYPES(1), .any_size = true,
             .infer = size_infer, .plan = size_plan),
    LEATI_OP("ConstantOfShape", "", (9, 25), (1, 1), (1, 1), .info.flags = LEAT_OP_EVALUATED | LEAT_OP_GROWS,
             .info.host_inputs = 1, LEATI_TYPES(&type_constant_in, &type_constant_out),
             LEATI_ATTRIBUTES(&attribute_value), LEATI_OUTPUT_TYPES(1), .state_size = sizeof(shape_state),
             .any_size = true, .supports = constant_supports, .create = constant_create, .infer = constant_infer,
             .plan = constant_plan),
    LEATI_OP("Range", "", (11, 27), (3, 3), (1, 1), .info.flags = LEAT_OP_EVALUATED | LEAT_OP_GROWS,
             .info.host_inputs = 0x7, LEATI_TYPES(&type_range), .infer = range_infer,
             LEATI_KERNELS(LEATI_KERNELS_RANGE), .plan = range_plan),
};

const leati_op_family leati_shape_family = LEATI_FAMILY(ops);
