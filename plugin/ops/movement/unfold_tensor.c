/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's UnfoldTensor: windows of one size along a dimension, as a view. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_dim, "dim", INT);
static LEATI_ATTRIBUTE(attribute_size, "size", INT);
static LEATI_ATTRIBUTE(attribute_step, "step", INT);

typedef struct unfold_state {
  int64_t dim, size, step;
} unfold_state;

static int32_t read_attributes(const leati_op_desc *desc, unfold_state *out, leat_error *err) {
  *out = (unfold_state){.dim = leati_attr_int(desc, attribute_dim.name, -1),
                        .size = leati_attr_int(desc, attribute_size.name, 0),
                        .step = leati_attr_int(desc, attribute_step.name, 1)};
  return out->size >= 1 && out->step >= 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "UnfoldTensor: size is %" PRId64 " and step %" PRId64 "; both must be at least 1", out->size,
                          out->step);
}

static int32_t unfold_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  unfold_state state;
  (void)def;
  (void)device;
  return read_attributes(desc, &state, err);
}

static int32_t unfold_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_attributes(desc, leati_op_state(op), err);
}

static int32_t unfold_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const unfold_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->dim, x->ndim, &axis, err));
  LEATI_TRY(leati_check_rank("UnfoldTensor", (int64_t)x->ndim + 1, err));
  if (x->shape[axis] < state->size) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "UnfoldTensor: windows of %" PRId64 " in dimension %d of %" PRId64, state->size, axis,
                      x->shape[axis]);
  }
  out->ndim = x->ndim + 1;
  memcpy(out->dims, x->shape, (size_t)x->ndim * sizeof(out->dims[0]));
  out->dims[axis] = (x->shape[axis] - state->size) / state->step + 1;
  out->dims[x->ndim] = state->size;
  return LEAT_OK;
}

static int32_t unfold_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  const unfold_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0], *const result = &call->outputs[o];
  int64_t strides[LEAT_MAX_RANK];
  int32_t axis;
  LEATI_TRY(leati_axis(state->dim, x->ndim, &axis, err));
  memcpy(strides, x->strides, (size_t)x->ndim * sizeof(strides[0]));
  /* The distance of windows, if there are several: what a stride does to one may overflow. */
  strides[axis] = result->shape[axis] > 1 ? x->strides[axis] * state->step : 0;
  strides[x->ndim] = x->strides[axis];
  *out = *x;
  leati_view_reshape(out, result->ndim, result->shape, strides);
  return LEAT_OK;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("UnfoldTensor", "com.microsoft", (1, 1), (1, 1), (1, 1), .info.flags = LEAT_OP_GROWS,
             LEATI_TYPES(&leati_type_moved), LEATI_ATTRIBUTES(&attribute_dim, &attribute_size, &attribute_step),
             .state_size = sizeof(unfold_state), .least_rank = 1, .supports = unfold_supports, .create = unfold_create,
             .infer = unfold_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = leati_plan_views, .view = unfold_view),
};

const leati_op_family leati_unfold_tensor_family = LEATI_FAMILY(ops);
