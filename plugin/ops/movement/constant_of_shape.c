/* SPDX-License-Identifier: BSD-3-Clause */
/* ConstantOfShape. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/movement/fill.h"

static LEATI_TYPE(type_constant_in, "T1", LEAT_TYPE_INT64);
static LEATI_TYPE(type_constant_out, "T2", LEATI_TYPES_HELD);
static LEATI_ATTRIBUTE(attribute_value, "value", TENSOR);

typedef struct constant_state {
  uint64_t type;  /* of the value */
  uint64_t value; /* its bits */
} constant_state;

static int32_t constant_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                 leat_error *err) {
  leati_view value;
  LEATI_TRY(leati_sizes_supports(def, device, desc, err));
  return !leati_attr_tensor(desc, "value", &value) || value.count == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "ConstantOfShape: 'value' has %" PRIu64 " elements; expected one", value.count);
}

static int32_t constant_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  constant_state *const state = leati_op_state(op);
  leati_view value;
  state->type = LEAT_TYPE_FLOAT32;
  if (leati_attr_tensor(desc, "value", &value)) {
    state->type = value.type;
    memcpy(&state->value, value.data, value.item_size);
  }
  return LEAT_OK;
}

static int32_t constant_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const constant_state *const state = leati_op_state_const(op);
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
  const constant_state *const state = leati_op_state_const(op);
  return leati_plan_fill(planner, &call->outputs[0], state->value, err);
}

static void constant_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  const constant_state *const state = leati_op_state_const(op);
  const leati_view *const out = &call->outputs[o];
  for (uint64_t i = 0; i < out->count; ++i) {
    memcpy(leati_host_at(out, i), &state->value, out->item_size);
  }
}

static const leati_op_def ops[] = {
    LEATI_OP("ConstantOfShape", "", (9, 25), (1, 1), (1, 1),
             LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_WHOLE, constant_evaluate), .info.host_inputs = 1,
             LEATI_TYPES(&type_constant_in, &type_constant_out), LEATI_ATTRIBUTES(&attribute_value),
             LEATI_OUTPUT_TYPES(1), .state_size = sizeof(constant_state), .any_size = true,
             .supports = constant_supports, .create = constant_create, .infer = constant_infer, .plan = constant_plan),
};

const leati_op_family leati_constant_of_shape_family = LEATI_FAMILY(ops);
