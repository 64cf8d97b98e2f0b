/* SPDX-License-Identifier: BSD-3-Clause */
/* Pad and Tile. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/adapter.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_padded_2, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT64); /* as the CPU provider has version 2 */
static LEATI_TYPE(type_padded_1, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_FLOAT64); /* of com.microsoft */
static LEATI_ATTRIBUTE(attribute_pads, "pads", INTS);
static LEATI_ATTRIBUTE(attribute_value, "value", FLOAT);

enum { PAD_CONSTANT = 0, PAD_REFLECT = 1, PAD_EDGE = 2, PAD_WRAP = 3 };

typedef struct pad_args {
  uint64_t src, dst;
  uint64_t value;
  uint32_t count, rank;
  uint32_t dims[LEAT_MAX_RANK];
  int32_t src_dims[LEAT_MAX_RANK];
  int32_t begins[LEAT_MAX_RANK];
  int32_t strides[LEAT_MAX_RANK];
} pad_args;

typedef struct pad_state {
  uint32_t mode;
} pad_state;

/* What negative numbers of `begins` and `ends` leave of dimension `d`: all modes pad that and know nothing of the rest.
 */
static int64_t left_of(const leati_view *src, const int64_t *begins, const int64_t *ends, int32_t d) {
  const int64_t left = src->shape[d] + (begins[d] < 0 ? begins[d] : 0) + (ends[d] < 0 ? ends[d] : 0);
  return left < 0 ? 0 : left;
}

/* Adds, or takes off, `begins` items before and `ends` behind. */
static int32_t add_pad(leati_planner *planner, const leati_view *src, const leati_view *dst, uint32_t mode,
                       const int64_t *begins, const int64_t *ends, uint64_t value, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_reach(src, "Pad or Tile", err));
  LEATI_TRY(leati_check_reach(dst, "Pad or Tile", err));
  leati_view from = *src; /* its address: of the first item that is left */
  pad_args args = {
      .value = value,
      .count = (uint32_t)dst->count,
      .rank = dst->ndim == 0 ? 1 : (uint32_t)dst->ndim,
      .dims = {1},
      .src_dims = {1},
  };
  for (int32_t d = 0; d < dst->ndim; ++d) {
    args.dims[d] = (uint32_t)dst->shape[d];
    args.src_dims[d] = (int32_t)left_of(src, begins, ends, d);
    if (begins[d] < 0) {
      from.address -= (uint64_t)(begins[d] * src->strides[d] * (int64_t)src->item_size);
    } else {
      args.begins[d] = (int32_t)begins[d];
    }
    args.strides[d] = src->shape[d] == 1 ? 0 : (int32_t)src->strides[d];
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_PAD, dst->item_size),
                   .constants.pad = {.mode = mode}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&from, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t pad_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  return leati_attr(desc, "mode") == NULL || leati_attr_is(desc, "mode", "constant") ||
                 leati_attr_is(desc, "mode", "reflect") || leati_attr_is(desc, "mode", "edge") ||
                 leati_attr_is(desc, "mode", "wrap")
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Pad: 'mode' must be 'constant', 'reflect', 'edge' or 'wrap'");
}

static int32_t pad_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  pad_state *const state = leati_op_state(op);
  state->mode = leati_attr_is(desc, "mode", "reflect") ? PAD_REFLECT
                : leati_attr_is(desc, "mode", "edge")  ? PAD_EDGE
                : leati_attr_is(desc, "mode", "wrap")  ? PAD_WRAP
                                                       : PAD_CONSTANT;
  return LEAT_OK;
}

/* Items before and after, by dimension. */
static int32_t read_pads(const leat_op *op, const leati_call *call, int64_t *begins, int64_t *ends, leat_error *err) {
  const leati_view *const input = &call->inputs[0];
  const leati_view *const axes_view = leati_input(call, 3);
  int64_t pads[2 * LEAT_MAX_RANK], axes[LEAT_MAX_RANK];
  uint32_t pad_count, axis_count = (uint32_t)input->ndim;
  leati_view given = call->inputs[1];
  if (leati_op_def_of(op)->info.domain[0] != '\0' && given.ndim == 2 && given.shape[0] == 1) {
    /* com.microsoft's may be a row. */
    given.ndim = 1;
    given.shape[0] = given.shape[1];
    given.strides[0] = given.strides[1];
  }
  LEATI_TRY(leati_read_ints(&given, "Pad: pads", 2 * LEAT_MAX_RANK, pads, &pad_count, err));
  for (int32_t d = 0; d < input->ndim; ++d) {
    axes[d] = d;
    begins[d] = 0;
    ends[d] = 0;
  }
  if (axes_view != NULL) {
    LEATI_TRY(leati_read_ints(axes_view, "Pad: axes", LEAT_MAX_RANK, axes, &axis_count, err));
  }
  if (pad_count != 2 * axis_count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Pad: 'pads' has %u elements; expected two for each of %u dimensions", pad_count, axis_count);
  }
  int32_t at[LEAT_MAX_RANK];
  LEATI_TRY(leati_axes(axes, axis_count, input->ndim, "Pad: axes", at, err));
  for (uint32_t i = 0; i < axis_count; ++i) {
    const int32_t d = at[i];
    begins[d] = pads[i];
    ends[d] = pads[axis_count + i];
    if (begins[d] < INT32_MIN || begins[d] > INT32_MAX || ends[d] < INT32_MIN || ends[d] > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Pad: pads of dimension %d are beyond 32 bits", d);
    }
  }
  return LEAT_OK;
}

static int32_t pad_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const pad_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  const leati_view *const value = leati_input(call, 2);
  int64_t begins[LEAT_MAX_RANK], ends[LEAT_MAX_RANK];
  LEATI_TRY(read_pads(op, call, begins, ends, err));
  if (value != NULL && value->count != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Pad: 'constant_value' has %" PRIu64 " elements; expected a scalar", value->count);
  }
  out->ndim = input->ndim;
  for (int32_t d = 0; d < input->ndim; ++d) {
    out->dims[d] = input->shape[d] + begins[d] + ends[d];
    if (out->dims[d] < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Pad: dimension %d would have size %" PRId64, d,
                        out->dims[d]);
    }
    if (left_of(input, begins, ends, d) == 0 && out->dims[d] != 0 && state->mode != PAD_CONSTANT) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Pad: nothing is left of dimension %d and the mode needs an element to repeat", d);
    }
  }
  return LEAT_OK;
}

static int32_t pad_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const pad_state *const state = leati_op_state_const(op);
  const leati_view *const value_view = leati_input(call, 2);
  int64_t begins[LEAT_MAX_RANK], ends[LEAT_MAX_RANK];
  LEATI_TRY(read_pads(op, call, begins, ends, err));
  uint64_t value = 0;
  if (value_view != NULL) {
    /* The kernel takes the low bytes, which come first on every machine that Leat runs on. */
    memcpy(&value, value_view->data, value_view->item_size);
  }
  return add_pad(planner, &call->inputs[0], &call->outputs[0], state->mode, begins, ends, value, err);
}

/* Which of the `size` elements that are left, of which there is one at least, a mode puts at `at` outside of them; -1:
 * the constant. */
static int64_t padding_at(uint32_t mode, int64_t at, int64_t size) {
  if (mode == PAD_CONSTANT) {
    return -1;
  }
  if (mode == PAD_EDGE) {
    return at < 0 ? 0 : size - 1;
  }
  const int64_t period = mode == PAD_WRAP ? size : size > 1 ? 2 * size - 2 : 1;
  const int64_t rest = at % period, within = rest < 0 ? rest + period : rest;
  return within < size ? within : period - within;
}

static void pad_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  static int64_t zero;
  const pad_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[0], *const given = leati_input(call, 2), *const out = &call->outputs[o];
  leati_view value = *data;
  value.data = given != NULL ? given->data : &zero;
  int64_t begins[LEAT_MAX_RANK], ends[LEAT_MAX_RANK];
  if (read_pads(op, call, begins, ends, NULL) != LEAT_OK) {
    return; /* infer() refused such a call */
  }
  leati_host_walk walk;
  leati_host_walk_begin(&walk, out, 0);
  for (uint64_t i = 0; i < out->count; ++i) {
    uint64_t index = 0;
    bool inside = true;
    for (int32_t d = 0; d < data->ndim; ++d) {
      const int64_t first = begins[d] < 0 ? -begins[d] : 0, size = left_of(data, begins, ends, d);
      const int64_t at = walk.position[d] - (begins[d] < 0 ? 0 : begins[d]);
      const int64_t from = at >= 0 && at < size ? at : padding_at(state->mode, at, size);
      inside = inside && from >= 0;
      index = index * (uint64_t)data->shape[d] + (uint64_t)(first + from);
    }
    leati_host_move(inside ? data : &value, inside ? index : 0, out, i);
    leati_host_walk_next(&walk);
  }
}

static int32_t tile_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const input = &call->inputs[0];
  int64_t repeats[LEAT_MAX_RANK];
  uint32_t count;
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Tile: repeats", LEAT_MAX_RANK, repeats, &count, err));
  if ((int32_t)count != input->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Tile: 'repeats' has %u elements for an input of rank %d",
                      count, input->ndim);
  }
  out->ndim = input->ndim;
  for (int32_t d = 0; d < input->ndim; ++d) {
    if (repeats[d] < 0 || __builtin_mul_overflow(input->shape[d], repeats[d], &out->dims[d])) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Tile: dimension %d cannot be repeated %" PRId64 " times", d,
                        repeats[d]);
    }
  }
  return LEAT_OK;
}

static int32_t tile_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const int64_t none[LEAT_MAX_RANK] = {0};
  return add_pad(planner, &call->inputs[0], &call->outputs[0], PAD_WRAP, none, none, 0, err);
}

static void tile_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)op;
  const leati_view *const in = &call->inputs[0], *const out = &call->outputs[o];
  leati_host_walk walk;
  leati_host_walk_begin(&walk, out, 0);
  for (uint64_t i = 0; i < out->count; ++i) {
    uint64_t index = 0;
    for (int32_t d = 0; d < in->ndim; ++d) {
      index = index * (uint64_t)in->shape[d] + (uint64_t)(walk.position[d] % in->shape[d]);
    }
    leati_host_move(in, index, out, i);
    leati_host_walk_next(&walk);
  }
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP(
        "Pad", "", (2, 2), (1, 1), (1, 1), LEATI_EVALUATED(LEAT_OP_GROWS, LEAT_TYPE_FLOAT32, leati_adapted_evaluate),
        LEATI_TYPES(&type_padded_2), LEATI_ATTRIBUTES(&leati_attribute_mode, &attribute_pads, &attribute_value),
        .state_size = sizeof(pad_state), .supports = pad_supports, .create = pad_create, .infer = leati_adapted_infer,
        LEATI_KERNELS(LEATI_KERNELS_PAD), .plan = leati_adapted_plan, .reads_view = leati_reads_rows,
        LEATI_ADAPTER(.inputs = {{&attribute_pads, 1, true}, {&attribute_value, 2, false}}, .infer = pad_infer,
                      .plan = pad_plan, .evaluate = pad_evaluate)),
    LEATI_OP("Pad", "", (11, 25), (2, 4), (1, 1), LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_ALL, pad_evaluate),
             .info.host_inputs = 0xe, LEATI_TYPES(&leati_type_moved, &leati_type_int64, &leati_type_index),
             LEATI_ATTRIBUTES(&leati_attribute_mode), LEATI_INPUT_TYPES(0, 1, 0, 2), .state_size = sizeof(pad_state),
             .supports = pad_supports, .create = pad_create, .infer = pad_infer, LEATI_KERNELS(LEATI_KERNELS_PAD),
             .plan = pad_plan, .reads_view = leati_reads_rows),
    LEATI_OP("Pad", "com.microsoft", (1, 1), (2, 3), (1, 1),
             LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_ALL, pad_evaluate), .info.host_inputs = 0x6,
             LEATI_TYPES(&type_padded_1, &leati_type_int64), LEATI_ATTRIBUTES(&leati_attribute_mode),
             LEATI_INPUT_TYPES(0, 1, 0), .state_size = sizeof(pad_state), .supports = pad_supports,
             .create = pad_create, .infer = pad_infer, LEATI_KERNELS(LEATI_KERNELS_PAD), .plan = pad_plan,
             .reads_view = leati_reads_rows),
    LEATI_OP("Tile", "", (6, 13), (2, 2), (1, 1), LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_ALL, tile_evaluate),
             .info.host_inputs = 1u << 1, LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1),
             .infer = tile_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = tile_plan, .reads_view = leati_reads_rows),
};

const leati_op_family leati_pad_family = LEATI_FAMILY(ops);
