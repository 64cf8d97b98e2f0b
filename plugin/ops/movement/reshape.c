/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that give the same bytes another shape or type: Reshape, Flatten, Squeeze, Unsqueeze, BitCast, Identity. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/adapter.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_allowzero, "allowzero", INT);
static LEATI_ATTRIBUTE(attribute_axes, "axes", INTS);
static LEATI_ATTRIBUTE(attribute_shape, "shape", INTS);
static LEATI_ATTRIBUTE(attribute_to, "to", INT);
static LEATI_TYPE(type_bits_in, "T1", LEATI_TYPES_HELD);
static LEATI_TYPE(type_bits_out, "T2", LEATI_TYPES_HELD);

typedef struct reshape_state {
  int64_t axis;    /* Flatten */
  bool allow_zero; /* Reshape */
} reshape_state;

static int32_t reshape_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  reshape_state *const state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", 1);
  state->allow_zero = leati_attr_int(desc, "allowzero", 0) != 0;
  return LEAT_OK;
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
    out->type = result->type;
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
  const reshape_state *const state = leati_op_state_const(op);
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
  const reshape_state *const state = leati_op_state_const(op);
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

typedef struct bit_cast_state {
  uint64_t to; /* LEAT_TYPE_* */
} bit_cast_state;

static int32_t bit_cast_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                 leat_error *err) {
  (void)device;
  const int64_t to = leati_attr_int(desc, "to", 0);
  const uint64_t type = leati_type_of_onnx(to);
  if ((type & LEATI_TYPES_HELD) == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s to ONNX type %" PRId64 " is not supported", def->info.name,
                      to);
  }
  const uint32_t from_bits = desc->inputs[0].dtype.bits, to_bits = leati_type_size(type) * 8;
  return from_bits == to_bits
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: elements of %u bits cannot become some of %u bits",
                          def->info.name, from_bits, to_bits);
}

static int32_t bit_cast_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  bit_cast_state *const state = leati_op_state(op);
  state->to = leati_type_of_onnx(leati_attr_int(desc, "to", 0));
  return LEAT_OK;
}

static int32_t bit_cast_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const bit_cast_state *const state = leati_op_state_const(op);
  out->dtype = leati_dtype_of(state->to);
  return leati_infer_same(op, call, out, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* What was an attribute. */
#define RESHAPED_BY_ATTRIBUTE(name, versions, attribute, required_, infer_)                                          \
  LEATI_OP(name, "", versions, (1, 1), (1, 1),                                                                       \
           LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same), LEATI_TYPES(&leati_type_moved), \
           LEATI_ATTRIBUTES(&attribute), .state_size = sizeof(reshape_state), .any_size = true,                      \
           .create = reshape_create, .infer = leati_adapted_infer, .plan = alias_plan, .view = alias_view,           \
           LEATI_ADAPTER(.inputs = {{&attribute, 1, required_}}, .infer = infer_))
static const leati_op_def ops[] = {
    LEATI_OP("Identity", "", (1, 25), (1, 1), (1, 1),
             LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same), LEATI_TYPES(&leati_type_moved),
             .any_size = true, .infer = leati_infer_same, .plan = alias_plan, .view = alias_view),
    LEATI_OP("BitCast", "", (26, 26), (1, 1), (1, 1),
             LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same),
             LEATI_TYPES(&type_bits_in, &type_bits_out), LEATI_ATTRIBUTES(&attribute_to), LEATI_OUTPUT_TYPES(1),
             .state_size = sizeof(bit_cast_state), .any_size = true, .supports = bit_cast_supports,
             .create = bit_cast_create, .infer = bit_cast_infer, .plan = alias_plan, .view = alias_view),
    RESHAPED_BY_ATTRIBUTE("Reshape", (1, 1), attribute_shape, true, reshape_infer),
    LEATI_OP("Reshape", "", (5, 25), (2, 2), (1, 1),
             LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_ATTRIBUTES(&attribute_allowzero),
             LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(reshape_state), .any_size = true,
             .supports = leati_sizes_supports, .create = reshape_create, .infer = reshape_infer, .plan = alias_plan,
             .view = alias_view),
    LEATI_OP("Flatten", "", (1, 25), (1, 1), (1, 1),
             LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(reshape_state), .any_size = true,
             .create = reshape_create, .infer = flatten_infer, .plan = alias_plan, .view = alias_view),
    RESHAPED_BY_ATTRIBUTE("Squeeze", (1, 11), attribute_axes, false, squeeze_infer),
    LEATI_OP("Squeeze", "", (13, 25), (1, 2), (1, 1),
             LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1), .any_size = true,
             .infer = squeeze_infer, .plan = alias_plan, .view = alias_view),
    RESHAPED_BY_ATTRIBUTE("Unsqueeze", (1, 11), attribute_axes, true, unsqueeze_infer),
    LEATI_OP("Unsqueeze", "", (13, 25), (2, 2), (1, 1),
             LEATI_EVALUATED(LEAT_OP_ALIAS, LEATI_EVALUATED_ALL, leati_evaluate_same), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1), .any_size = true,
             .supports = unsqueeze_supports, .infer = unsqueeze_infer, .plan = alias_plan, .view = alias_view),
};

const leati_op_family leati_reshape_family = LEATI_FAMILY(ops);
