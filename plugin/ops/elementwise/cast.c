/* SPDX-License-Identifier: BSD-3-Clause */
/* Cast and CastLike. */
#include <math.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/elementwise/elementwise.h"

#define TYPES_CAST (LEATI_TYPES_NUMBER | LEAT_TYPE_BOOL)

static LEATI_TYPE(type_cast_in, "T1", TYPES_CAST);
static LEATI_TYPE(type_cast_out, "T2", TYPES_CAST);
static LEATI_ATTRIBUTE(attribute_to, "to", INT);
static LEATI_ATTRIBUTE(attribute_saturate, "saturate", INT);

typedef struct cast_state {
  uint64_t to; /* LEAT_TYPE_* that Cast gives */
} cast_state;

static int32_t cast_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  const int64_t to = leati_attr_int(desc, "to", 0);
  return (leati_type_of_onnx(to) & TYPES_CAST) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Cast to ONNX type %lld is not supported", (long long)to);
}

static int32_t cast_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  cast_state *const state = leati_op_state(op);
  state->to = leati_type_of_onnx(leati_attr_int(desc, "to", 0));
  return LEAT_OK;
}

static int32_t cast_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const cast_state *const state = leati_op_state_const(op);
  out->dtype = leati_dtype_of(state->to);
  return leati_infer_same(op, call, out, err);
}

/* Cast and CastLike; the type wanted is that of the output. */
static int32_t cast_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0];
  const leati_view *const result = &call->outputs[0];
  /* bool to bool is not a copy: any byte but 0 becomes 1. */
  if (x->type == result->type && x->type != LEAT_TYPE_BOOL) {
    return leati_plan_strided_copy(planner, x, result, err);
  }
  return leati_plan_cast(planner, x, result, err);
}

/* Towards zero; what does not fit becomes the nearest number that the type holds, and NaN 0, as on the device. */
static int64_t whole(float x, uint64_t type) {
  const int64_t least = type == LEAT_TYPE_INT32 ? INT32_MIN : INT64_MIN;
  const int64_t most = type == LEAT_TYPE_INT32 ? INT32_MAX : INT64_MAX;
  /* Both ends are powers of two as float32, so that all numbers below the upper one fit. */
  return isnan(x) ? 0 : x >= (float)most ? most : x <= (float)least ? least : (int64_t)x;
}

static void cast_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)op;
  const leati_view *const in = &call->inputs[0], *const out = &call->outputs[o];
  for (uint64_t i = 0; i < out->count; ++i) {
    if (in->type != LEAT_TYPE_FLOAT32) {
      leati_host_put(out, i, leati_host_get(in, i));
    } else if (out->type == LEAT_TYPE_FLOAT32) {
      leati_host_move(in, i, out, i);
    } else {
      const float x = ((const float *)in->data)[i];
      leati_host_put(out, i, out->type == LEAT_TYPE_BOOL ? x != 0 : whole(x, out->type));
    }
  }
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Cast", "", (6, 28), (1, 1), (1, 1), LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, cast_evaluate),
             LEATI_TYPES(&type_cast_in, &type_cast_out), LEATI_ATTRIBUTES(&attribute_to, &attribute_saturate),
             LEATI_OUTPUT_TYPES(1), .state_size = sizeof(cast_state), .supports = cast_supports, .create = cast_create,
             .infer = cast_infer, .plan = cast_plan, .reads_view = leati_reads_rows),
    LEATI_OP("CastLike", "", (15, 25), (2, 2), (1, 1), LEATI_TYPES(&type_cast_in, &type_cast_out),
             LEATI_ATTRIBUTES(&attribute_saturate), LEATI_INPUT_TYPES(0, 1), LEATI_OUTPUT_TYPES(1),
             .infer = leati_infer_same, .plan = cast_plan, .reads_view = leati_reads_rows),
};

const leati_op_family leati_cast_family = LEATI_FAMILY(ops);
