/* SPDX-License-Identifier: BSD-3-Clause */
/* AffineGrid: where the pixels of images are after affine maps, as GridSample takes it. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

enum { INPUT_THETA, INPUT_SIZE };

typedef struct affine_grid_state {
  bool aligned;
} affine_grid_state;

/* Argument record of kernels/affine_grid.comp. */
typedef struct affine_grid_args {
  uint64_t theta, y;
  uint32_t count, dimensions;
  leati_divider per_dimensions, per_size[3];
  int32_t size[3]; /* width, height, depth */
  uint32_t aligned;
} affine_grid_args;

static int32_t affine_grid_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((affine_grid_state *)leati_op_state(op))->aligned = leati_attr_int(desc, "align_corners", 0) != 0;
  return LEAT_OK;
}

static int32_t affine_grid_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const theta = &call->inputs[INPUT_THETA];
  int64_t size[5];
  uint32_t rank = 0;
  LEATI_TRY(leati_read_ints(&call->inputs[INPUT_SIZE], "size", 5, size, &rank, err));
  const int64_t dimensions = (int64_t)rank - 2;
  if (rank < 4 || size[0] != theta->shape[0] || theta->shape[1] != dimensions || theta->shape[2] != dimensions + 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "AffineGrid: theta [%" PRId64 ", %" PRId64 ", %" PRId64
                      "] does not fit a size of %u dimensions: for each image 2 x 3 numbers for 4 of them, 3 x 4 for 5",
                      theta->shape[0], theta->shape[1], theta->shape[2], rank);
  }
  out->ndim = (int32_t)rank;
  out->dims[0] = size[0];
  for (int32_t d = 0; d < dimensions; ++d) {
    if (size[2 + d] < 0 || size[2 + d] > INT32_MAX / 2) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "AffineGrid: images of %" PRId64 " pixels along a side",
                        size[2 + d]);
    }
    out->dims[1 + d] = size[2 + d];
  }
  out->dims[rank - 1] = dimensions;
  return LEAT_OK;
}

static int32_t affine_grid_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const affine_grid_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view theta;
  LEATI_TRY(leati_check_reach(y, "AffineGrid", err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_THETA], &theta, err));
  const uint32_t dimensions = (uint32_t)y->ndim - 2;
  affine_grid_args args = {.count = (uint32_t)y->count,
                           .dimensions = dimensions,
                           .per_dimensions = leati_divider_of(dimensions),
                           .size = {1, 1, 1},
                           .aligned = state->aligned};
  for (uint32_t d = 0; d < 3; ++d) {
    args.size[d] = d < dimensions ? (int32_t)y->shape[dimensions - d] : 1;
    args.per_size[d] = leati_divider_of((uint32_t)args.size[d]);
  }
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_AFFINE_GRID, theta.type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&theta, &args.theta}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static LEATI_TYPE(type_theta, "T1", LEATI_TYPES_OF_AFFINE_GRID);
static LEATI_TYPE(type_size, "T2", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_align_corners, "align_corners", INT);

static const leati_op_def ops[] = {
    LEATI_OP("AffineGrid", "", (20, 20), (2, 2), (1, 1), .info.flags = LEAT_OP_GROWS,
             .info.host_inputs = 1u << INPUT_SIZE, LEATI_TYPES(&type_theta, &type_size),
             LEATI_ATTRIBUTES(&attribute_align_corners), LEATI_INPUT_TYPES(0, 1),
             .state_size = sizeof(affine_grid_state), .least_rank = 3, .most_rank = 3, .create = affine_grid_create,
             .infer = affine_grid_infer, LEATI_KERNELS(LEATI_KERNELS_AFFINE_GRID), .plan = affine_grid_plan),
};

const leati_op_family leati_affine_grid_family = LEATI_FAMILY(ops);
