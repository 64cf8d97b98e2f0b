/* SPDX-License-Identifier: BSD-3-Clause */
/* Roll of domain "leat": each dimension that is rolled is two pieces that change places. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_shifts, "shifts", INTS);
static LEATI_ATTRIBUTE(attribute_axes, "axes", INTS);

typedef struct roll_state {
  uint32_t count; /* of shifts; and of axes, if there are any */
  bool flat;      /* without axes */
  int64_t shifts[LEAT_MAX_RANK], axes[LEAT_MAX_RANK];
} roll_state;

static int32_t roll_read(const leati_op_desc *desc, roll_state *out, leat_error *err) {
  uint32_t axes;
  LEATI_TRY(leati_attr_ints(desc, "shifts", LEAT_MAX_RANK, out->shifts, &out->count, err));
  LEATI_TRY(leati_attr_ints(desc, "axes", LEAT_MAX_RANK, out->axes, &axes, err));
  out->flat = axes == 0;
  return out->count == (out->flat ? 1 : axes)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Roll: 'shifts' has %u elements and 'axes' %u; expected as many, or one without axes",
                          out->count, axes);
}

static int32_t roll_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  roll_state state;
  return roll_read(desc, &state, err);
}

static int32_t roll_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return roll_read(desc, leati_op_state(op), err);
}

static int32_t roll_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const roll_state *const state = leati_op_state_const(op);
  int32_t axes[LEAT_MAX_RANK];
  if (!state->flat) {
    LEATI_TRY(leati_axes(state->axes, state->count, call->inputs[0].ndim, "Roll: axes", axes, err));
  }
  return leati_infer_same(op, call, out, err);
}

/* How many elements go past the end of a dimension. */
static int64_t rolled(int64_t shift, int64_t size) {
  const int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

static leati_view flat_view(const leati_view *view) {
  const int64_t shape[1] = {(int64_t)view->count}, strides[1] = {1};
  leati_view flat = *view;
  leati_view_reshape(&flat, 1, shape, strides);
  return flat;
}

static int32_t roll_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  static const int64_t steps[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  const roll_state *const state = leati_op_state_const(op);
  leati_view x = call->inputs[0], y = call->outputs[0];
  int64_t shifts[LEAT_MAX_RANK] = {0};
  int32_t axes[LEAT_MAX_RANK] = {0};
  if (y.count == 0) {
    return LEAT_OK;
  }
  if (state->flat) {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
    x = flat_view(&x);
    y = flat_view(&y);
  } else {
    LEATI_TRY(leati_axes(state->axes, state->count, x.ndim, "Roll: axes", axes, err));
  }
  for (uint32_t k = 0; k < state->count; ++k) {
    shifts[axes[k]] = rolled(state->shifts[k], x.shape[axes[k]]);
  }
  /* Bit d of a piece: whether it comes in at the begin of dimension d. */
  for (uint32_t piece = 0; piece < 1u << x.ndim; ++piece) {
    int64_t from[LEAT_MAX_RANK], to[LEAT_MAX_RANK], size[LEAT_MAX_RANK];
    bool there = true;
    for (int32_t d = 0; d < x.ndim; ++d) {
      const bool comes_in = (piece >> d & 1u) != 0;
      size[d] = comes_in ? shifts[d] : x.shape[d] - shifts[d];
      from[d] = comes_in ? x.shape[d] - shifts[d] : 0;
      to[d] = comes_in ? 0 : shifts[d];
      there = there && size[d] != 0;
    }
    if (there) {
      const leati_view src = leati_view_slice(&x, from, steps, size), dst = leati_view_slice(&y, to, steps, size);
      LEATI_TRY(leati_plan_strided_copy(planner, &src, &dst, err));
    }
  }
  return LEAT_OK;
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Roll", "leat", (1, 1), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&attribute_shifts, &attribute_axes), .state_size = sizeof(roll_state),
             .supports = roll_supports, .create = roll_create, .infer = roll_infer, LEATI_KERNELS(LEATI_KERNELS_COPY),
             .plan = roll_plan, .reads_view = leati_reads_first_view),
};

const leati_op_family leati_roll_family = LEATI_FAMILY(ops);
