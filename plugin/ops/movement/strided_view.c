/* SPDX-License-Identifier: BSD-3-Clause */
/* Transpose, Expand, Slice and DynamicSlice, which ONNX Runtime keeps from before Slice 10: the input with other
 * strides. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/adapter.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_perm, "perm", INTS);
static LEATI_ATTRIBUTE(attribute_starts, "starts", INTS);
static LEATI_ATTRIBUTE(attribute_ends, "ends", INTS);
static LEATI_ATTRIBUTE(attribute_axes, "axes", INTS);

/* ---- Transpose -------------------------------------------------------------------------------------------------- */

typedef struct transpose_state {
  uint32_t count; /* 0: all dimensions in reverse */
  int64_t perm[LEAT_MAX_RANK];
} transpose_state;

static int32_t transpose_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  transpose_state *const state = leati_op_state(op);
  LEATI_TRY(leati_attr_ints(desc, "perm", LEAT_MAX_RANK, state->perm, &state->count, err));
  uint32_t seen = 0;
  for (uint32_t i = 0; i < state->count; ++i) {
    if (state->perm[i] < 0 || state->perm[i] >= (int64_t)state->count) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Transpose: 'perm' holds %" PRId64 "; expected 0 to %u",
                        state->perm[i], state->count - 1);
    }
    seen |= 1u << state->perm[i];
  }
  return seen == (1u << state->count) - 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Transpose: 'perm' names a dimension twice");
}

static int32_t permutation(const leat_op *op, const leati_view *input, int32_t *perm, leat_error *err) {
  const transpose_state *const state = leati_op_state_const(op);
  if (state->count != 0 && (int32_t)state->count != input->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Transpose: 'perm' has %u elements for an input of rank %d",
                      state->count, input->ndim);
  }
  for (int32_t d = 0; d < input->ndim; ++d) {
    perm[d] = state->count == 0 ? input->ndim - 1 - d : (int32_t)state->perm[d];
  }
  return LEAT_OK;
}

static int32_t transpose_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  int32_t perm[LEAT_MAX_RANK];
  const leati_view *const input = &call->inputs[0];
  LEATI_TRY(permutation(op, input, perm, err));
  out->ndim = input->ndim;
  for (int32_t d = 0; d < input->ndim; ++d) {
    out->dims[d] = input->shape[perm[d]];
  }
  return LEAT_OK;
}

static int32_t transpose_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  int32_t perm[LEAT_MAX_RANK];
  int64_t strides[LEAT_MAX_RANK];
  *out = call->inputs[0];
  LEATI_TRY(permutation(op, out, perm, err));
  for (int32_t d = 0; d < out->ndim; ++d) {
    strides[d] = call->inputs[0].strides[perm[d]];
  }
  leati_view_reshape(out, out->ndim, call->outputs[o].shape, strides);
  return LEAT_OK;
}

/* ---- Expand ----------------------------------------------------------------------------------------------------- */

static int32_t expand_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const input = &call->inputs[0];
  int64_t shape[LEAT_MAX_RANK];
  uint32_t rank;
  LEATI_TRY(leati_check_rank("Expand", (int64_t)call->inputs[1].count, err));
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Expand: shape", LEAT_MAX_RANK, shape, &rank, err));
  for (uint32_t d = 0; d < rank; ++d) {
    if (shape[d] < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Expand: shape holds %" PRId64 "; sizes are not negative",
                        shape[d]);
    }
  }
  out->ndim = input->ndim;
  memcpy(out->dims, input->shape, (size_t)input->ndim * sizeof(out->dims[0]));
  return leati_broadcast(&out->ndim, out->dims, (int32_t)rank, shape, err);
}

static int32_t expand_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  (void)op;
  (void)err;
  const leati_view *const result = &call->outputs[o];
  int64_t strides[LEAT_MAX_RANK];
  *out = call->inputs[0];
  leati_broadcast_strides(&call->inputs[0], result->ndim, result->shape, strides);
  leati_view_reshape(out, result->ndim, result->shape, strides);
  return LEAT_OK;
}

/* ---- Slice ------------------------------------------------------------------------------------------------------ */

/* What is taken of each dimension. */
typedef struct slice_part {
  int64_t start[LEAT_MAX_RANK], step[LEAT_MAX_RANK], size[LEAT_MAX_RANK];
} slice_part;

/* Takes [start, end) by `step` of a dimension, all as the specification clamps them. */
static void slice_dimension(int64_t size, int64_t start, int64_t end, int64_t step, slice_part *plan, int32_t d) {
  /* Beyond any size a step is as good as another; this keeps its negative and its products in range. */
  step = leati_clamp(step, -(INT64_C(1) << 60), INT64_C(1) << 60);
  start = start < 0 ? start + size : start;
  end = end < 0 ? end + size : end;
  int64_t count;
  if (step > 0) {
    start = leati_clamp(start, 0, size);
    end = leati_clamp(end, 0, size);
    count = end > start ? 1 + (end - start - 1) / step : 0;
  } else {
    start = leati_clamp(start, 0, size - 1);
    end = leati_clamp(end, -1, size - 1);
    count = start > end && size > 0 ? 1 + (start - end - 1) / -step : 0;
  }
  plan->start[d] = count == 0 ? 0 : start;
  plan->step[d] = count < 2 ? 1 : step;
  plan->size[d] = count;
}

static int32_t lay_slice(const leati_call *call, slice_part *plan, leat_error *err) {
  const leati_view *const input = &call->inputs[0];
  const leati_view *const axes_view = leati_input(call, 3);
  const leati_view *const steps_view = leati_input(call, 4);
  int64_t starts[LEAT_MAX_RANK], ends[LEAT_MAX_RANK], axes[LEAT_MAX_RANK], steps[LEAT_MAX_RANK];
  uint32_t count, end_count, axis_count, step_count;
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Slice: starts", LEAT_MAX_RANK, starts, &count, err));
  LEATI_TRY(leati_read_ints(&call->inputs[2], "Slice: ends", LEAT_MAX_RANK, ends, &end_count, err));
  axis_count = count;
  step_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] = i;
    steps[i] = 1;
  }
  if (axes_view != NULL) {
    LEATI_TRY(leati_read_ints(axes_view, "Slice: axes", LEAT_MAX_RANK, axes, &axis_count, err));
  }
  if (steps_view != NULL) {
    LEATI_TRY(leati_read_ints(steps_view, "Slice: steps", LEAT_MAX_RANK, steps, &step_count, err));
  }
  if (end_count != count || axis_count != count || step_count != count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Slice: starts, ends, axes and steps have %u, %u, %u and %u elements", count, end_count,
                      axis_count, step_count);
  }
  for (int32_t d = 0; d < input->ndim; ++d) {
    plan->start[d] = 0;
    plan->step[d] = 1;
    plan->size[d] = input->shape[d];
  }
  int32_t at[LEAT_MAX_RANK];
  LEATI_TRY(leati_axes(axes, count, input->ndim, "Slice: axes", at, err));
  for (uint32_t i = 0; i < count; ++i) {
    if (steps[i] == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Slice: a step is 0");
    }
    slice_dimension(input->shape[at[i]], starts[i], ends[i], steps[i], plan, at[i]);
  }
  return LEAT_OK;
}

static int32_t slice_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  slice_part plan;
  LEATI_TRY(lay_slice(call, &plan, err));
  out->ndim = call->inputs[0].ndim;
  memcpy(out->dims, plan.size, (size_t)out->ndim * sizeof(out->dims[0]));
  return LEAT_OK;
}

static int32_t slice_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  (void)op;
  (void)o;
  slice_part part;
  LEATI_TRY(lay_slice(call, &part, err));
  *out = leati_view_slice(&call->inputs[0], part.start, part.step, part.size);
  return LEAT_OK;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* `host`: a bit for each input but the first. */
#define SLICE(name, versions, inputs, host)                                                                  \
  LEATI_OP(name, "", versions, inputs, (1, 1), LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, leati_evaluate_view), \
           .info.host_inputs = host, LEATI_TYPES(&leati_type_moved, &leati_type_index),                      \
           LEATI_INPUT_TYPES(0, 1, 1, 1, 1), .any_size = true, .infer = slice_infer,                         \
           LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = leati_plan_views, .view = slice_view)

static const leati_op_def ops[] = {
    LEATI_OP("Transpose", "", (1, 25), (1, 1), (1, 1), LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, leati_evaluate_view),
             LEATI_TYPES(&leati_type_moved), LEATI_ATTRIBUTES(&attribute_perm), .state_size = sizeof(transpose_state),
             .any_size = true, .create = transpose_create, .infer = transpose_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_TRANSPOSE), .plan = leati_plan_views,
             .view = transpose_view),
    LEATI_OP("Expand", "", (8, 13), (2, 2), (1, 1),
             LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_ALL, leati_evaluate_view), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1), .any_size = true,
             .supports = leati_sizes_supports, .infer = expand_infer, LEATI_KERNELS(LEATI_KERNELS_COPY),
             .plan = leati_plan_views, .view = expand_view),
    LEATI_OP(
        "Slice", "", (1, 1), (1, 1), (1, 1), LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, leati_evaluate_view),
        LEATI_TYPES(&leati_type_moved), LEATI_ATTRIBUTES(&attribute_starts, &attribute_ends, &attribute_axes),
        .any_size = true, .infer = leati_adapted_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = leati_plan_views,
        .view = leati_adapted_view,
        LEATI_ADAPTER(.inputs = {{&attribute_starts, 1, true}, {&attribute_ends, 2, true}, {&attribute_axes, 3, false}},
                      .infer = slice_infer, .view = slice_view)),
    SLICE("Slice", (10, 13), (3, 5), 0x1e),
    SLICE("DynamicSlice", (1, 1), (3, 4), 0xe),
};

const leati_op_family leati_strided_view_family = LEATI_FAMILY(ops);
