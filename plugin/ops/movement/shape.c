/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that answer with the shape of a tensor, on the host: Shape and Size. */
#include "ops/core/attribute.h"
#include "ops/core/dims.h"

static LEATI_TYPE(type_shape_out, "T1", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_start, "start", INT);
static LEATI_ATTRIBUTE(attribute_end, "end", INT);

typedef struct shape_state {
  int64_t start, end;
} shape_state;

static int32_t shape_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  shape_state *const state = leati_op_state(op);
  state->start = leati_attr_int(desc, "start", 0);
  state->end = leati_attr_int(desc, "end", INT64_MAX);
  return LEAT_OK;
}

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

static const leati_op_def ops[] = {
    LEATI_OP("Shape", "", (1, 25), (1, 1), (1, 1), .info.host_outputs = 1,
             LEATI_TYPES(&leati_type_moved, &type_shape_out), LEATI_ATTRIBUTES(&attribute_start, &attribute_end),
             LEATI_OUTPUT_TYPES(1), .state_size = sizeof(shape_state), .any_size = true, .create = shape_create,
             .infer = shape_infer, .plan = shape_plan),
    LEATI_OP("Size", "", (1, 25), (1, 1), (1, 1), .info.host_outputs = 1,
             LEATI_TYPES(&leati_type_moved, &type_shape_out), LEATI_OUTPUT_TYPES(1), .any_size = true,
             .infer = size_infer, .plan = size_plan),
};

const leati_op_family leati_shape_family = LEATI_FAMILY(ops);
