/* SPDX-License-Identifier: BSD-3-Clause */
/* DepthToSpace and SpaceToDepth. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_blocksize, "blocksize", INT);

typedef struct depth_space_state {
  int64_t size;
  bool channels_first; /* mode CRD: the depth counts channels before blocks */
} depth_space_state;

static int32_t depth_space_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  depth_space_state *const state = leati_op_state(op);
  state->size = leati_attr_int(desc, "blocksize", 0);
  state->channels_first = leati_attr_is(desc, "mode", "CRD");
  if (leati_attr(desc, "mode") != NULL && !state->channels_first && !leati_attr_is(desc, "mode", "DCR")) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'mode' must be 'DCR' or 'CRD'",
                      leati_op_def_of(op)->info.name);
  }
  if (state->size < 1 || state->size > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'blocksize' is %" PRId64 "; expected at least 1",
                      leati_op_def_of(op)->info.name, state->size);
  }
  return LEAT_OK;
}

enum { DEPTH_TO_SPACE = 0, SPACE_TO_DEPTH = 1 };

static int32_t depth_space_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const depth_space_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  const int64_t b = state->size;
  const bool to_space = def->param == DEPTH_TO_SPACE;
  const bool fits = input->ndim == 4 &&
                    (to_space ? input->shape[1] % (b * b) == 0 : input->shape[2] % b == 0 && input->shape[3] % b == 0);
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the input must have rank 4 and %s divisible by %s %" PRId64, def->info.name,
                      to_space ? "a depth" : "a height and width", to_space ? "the square of" : "the block size", b);
  }
  out->ndim = 4;
  out->dims[0] = input->shape[0];
  /* The sizes of an empty input alone can be such that a product is too large. */
  bool overflow = false;
  if (to_space) {
    out->dims[1] = input->shape[1] / (b * b);
    overflow = __builtin_mul_overflow(input->shape[2], b, &out->dims[2]) ||
               __builtin_mul_overflow(input->shape[3], b, &out->dims[3]);
  } else {
    overflow = __builtin_mul_overflow(input->shape[1], b * b, &out->dims[1]);
    out->dims[2] = input->shape[2] / b;
    out->dims[3] = input->shape[3] / b;
  }
  return overflow
             ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: a block size of %" PRId64 " gives more elements than can be counted", def->info.name, b)
             : LEAT_OK;
}

static int32_t depth_space_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const depth_space_state *const state = leati_op_state_const(op);
  const bool to_space = leati_op_def_of(op)->param == DEPTH_TO_SPACE;
  const int64_t b = state->size;
  leati_view src = call->inputs[0];
  leati_view dst = call->outputs[0];
  /* Both sides as [batch, channel, height, row in block, width, column in block]. `deep` is the side whose depth holds
   * the blocks. */
  leati_view *const deep = to_space ? &src : &dst;
  leati_view *const wide = to_space ? &dst : &src;
  const int64_t channels = wide->shape[1];
  const int64_t shape[6] = {deep->shape[0], channels, deep->shape[2], b, deep->shape[3], b};
  const int64_t depth = deep->strides[1];
  const bool crd = state->channels_first;
  const int64_t deep_strides[6] = {deep->strides[0], crd ? depth * b * b : depth,
                                   deep->strides[2], crd ? depth * b : depth * channels * b,
                                   deep->strides[3], crd ? depth : depth * channels};
  const int64_t wide_strides[6] = {wide->strides[0], wide->strides[1],     wide->strides[2] * b,
                                   wide->strides[2], wide->strides[3] * b, wide->strides[3]};
  leati_view_reshape(deep, 6, shape, deep_strides);
  leati_view_reshape(wide, 6, shape, wide_strides);
  return leati_plan_strided_copy(planner, &src, &dst, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("DepthToSpace", "", (1, 28), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&attribute_blocksize, &leati_attribute_mode), .state_size = sizeof(depth_space_state),
             .param = DEPTH_TO_SPACE, .any_size = true, .least_rank = 4, .most_rank = 4, .create = depth_space_create,
             .infer = depth_space_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = depth_space_plan,
             .reads_view = leati_reads_first_view),
    LEATI_OP("SpaceToDepth", "", (1, 28), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&attribute_blocksize, &leati_attribute_mode), .state_size = sizeof(depth_space_state),
             .param = SPACE_TO_DEPTH, .any_size = true, .least_rank = 4, .most_rank = 4, .create = depth_space_create,
             .infer = depth_space_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = depth_space_plan,
             .reads_view = leati_reads_first_view),
};

const leati_op_family leati_depth_space_family = LEATI_FAMILY(ops);
