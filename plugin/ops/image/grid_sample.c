/* SPDX-License-Identifier: BSD-3-Clause */
/* GridSample of images and volumes. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/divider.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"

enum { INPUT_X, INPUT_GRID };

/* Modes, by their names until version 19 and since, and what lies outside; numbered as in kernels/grid_sample.comp. */
#define MODE_CUBIC 2
static const char *const old_mode_names[] = {"bilinear", "nearest", "bicubic"};
static const char *const mode_names[] = {"linear", "nearest", "cubic"};
static const char *const padding_names[] = {"zeros", "border", "reflection"};
#define VOLUMES_SINCE 20

/* Channels that a thread of the kernel samples at its place. */
#define CHANNELS_EACH 4
#define MOST_DIMENSIONS 3

typedef struct grid_sample_state {
  uint32_t mode, padding;
  bool aligned;
} grid_sample_state;

/* Argument record of kernels/grid_sample.comp. */
typedef struct grid_sample_args {
  uint64_t x, grid, y;
  uint32_t count;
  uint32_t channels, groups, places;
  uint32_t aligned;
  int32_t image_stride, channel_stride;
  int32_t size[MOST_DIMENSIONS], stride[MOST_DIMENSIONS];
  leati_divider per_places, per_groups;
} grid_sample_args;

static int32_t read_state(const leati_op_desc *desc, grid_sample_state *state, leat_error *err) {
  const bool old = desc->since_version < VOLUMES_SINCE;
  LEATI_TRY(leati_attr_choice(desc, "GridSample", "mode", old ? old_mode_names : mode_names, 3, &state->mode, err));
  LEATI_TRY(leati_attr_choice(desc, "GridSample", "padding_mode", padding_names, 3, &state->padding, err));
  state->aligned = leati_attr_int(desc, "align_corners", 0) != 0;
  return LEAT_OK;
}

/* Images may be sampled in all modes, volumes in newer versions and not by cubic convolution. */
static int32_t check_volume(const grid_sample_state *state, uint32_t since_version, int32_t rank, leat_error *err) {
  if (rank == 5 && since_version < VOLUMES_SINCE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "GridSample of five dimensions comes with version 20");
  }
  return rank == 5 && state->mode == MODE_CUBIC
             ? leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "GridSample: the mode cubic is supported for four dimensions, not for five")
             : LEAT_OK;
}

static int32_t grid_sample_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                    leat_error *err) {
  (void)def;
  (void)device;
  grid_sample_state state;
  LEATI_TRY(read_state(desc, &state, err));
  return check_volume(&state, desc->since_version, desc->inputs[INPUT_X].ndim, err);
}

static int32_t grid_sample_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_state(desc, leati_op_state(op), err);
}

static int32_t grid_sample_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[INPUT_X], *const grid = &call->inputs[INPUT_GRID];
  const int32_t rank = x->ndim, last = rank - 1;
  LEATI_TRY(check_volume(leati_op_state_const(op), leati_op_since_version(op), rank, err));
  if (grid->ndim != rank || grid->shape[0] != x->shape[0] || grid->shape[last] != rank - 2) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "GridSample: the grid must have %d dimensions, %" PRId64 " images and %d numbers for a place",
                      rank, x->shape[0], rank - 2);
  }
  out->ndim = rank;
  out->dims[0] = x->shape[0];
  out->dims[1] = x->shape[1];
  for (int32_t d = 1; d < last; ++d) {
    out->dims[d + 1] = grid->shape[d];
  }
  return leati_product(x->shape, 2, rank) == 0 && leati_product(out->dims, 0, rank) != 0
             ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "GridSample: images without elements cannot be sampled")
             : LEAT_OK;
}

/* Number of the type of a grid in kernels/grid_sample.comp. */
static uint32_t grid_type(uint64_t type) {
  return type == LEAT_TYPE_FLOAT16 ? 1 : type == LEAT_TYPE_BFLOAT16 ? 2 : 0;
}

static int32_t grid_sample_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const grid_sample_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view x, grid;
  LEATI_TRY(leati_check_reach(y, "GridSample", err));
  LEATI_TRY(leati_check_reach(&call->inputs[INPUT_GRID], "GridSample", err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[INPUT_X], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_GRID], &grid, err));
  const uint32_t dimensions = (uint32_t)x.ndim - 2, channels = (uint32_t)y->shape[1];
  grid_sample_args args = {.channels = channels,
                           .groups = (channels + CHANNELS_EACH - 1) / CHANNELS_EACH,
                           .places = (uint32_t)leati_product(y->shape, 2, y->ndim),
                           .aligned = state->aligned,
                           .image_stride = x.shape[0] > 1 ? (int32_t)x.strides[0] : 0,
                           .channel_stride = x.shape[1] > 1 ? (int32_t)x.strides[1] : 0};
  args.count = (uint32_t)y->shape[0] * args.groups * args.places;
  args.per_places = leati_divider_of(args.places);
  args.per_groups = leati_divider_of(args.groups);
  for (uint32_t d = 0; d < dimensions; ++d) {
    args.size[d] = (int32_t)x.shape[x.ndim - 1 - (int32_t)d];
    args.stride[d] = (int32_t)x.strides[x.ndim - 1 - (int32_t)d];
  }
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_GRID_SAMPLE, x.type),
                                               .constants.grid_sample = {.dimensions = dimensions,
                                                                         .mode = state->mode,
                                                                         .padding = state->padding,
                                                                         .grid = grid_type(grid.type)}},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&x, &args.x}, {&grid, &args.grid}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, args.count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Neighbours of the result are near each other in x, if not next to each other. */
static bool grid_sample_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return i == INPUT_X && leati_view_walkable(&call->inputs[i]) && leati_view_has_rows(&call->inputs[i]);
}

static LEATI_TYPE(type_image, "T1", LEATI_TYPES_OF_GRID_SAMPLE);
static LEATI_TYPE(type_grid, "T2", LEATI_TYPES_REAL);
static LEATI_ATTRIBUTE(attribute_align_corners, "align_corners", INT);
static LEATI_ATTRIBUTE(attribute_padding_mode, "padding_mode", STRING);

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define GRID_SAMPLE(domain, versions, ranks)                                                                        \
  LEATI_OP("GridSample", domain, versions, (2, 2), (1, 1), LEATI_TYPES(&type_image, &type_grid),                    \
           LEATI_ATTRIBUTES(&attribute_align_corners, &leati_attribute_mode, &attribute_padding_mode),              \
           LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(grid_sample_state), .least_rank = 4, .most_rank = (ranks), \
           .supports = grid_sample_supports, .create = grid_sample_create, .infer = grid_sample_infer,              \
           LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_GRID_SAMPLE), .plan = grid_sample_plan,                  \
           .reads_view = grid_sample_reads_view)

static const leati_op_def ops[] = {
    GRID_SAMPLE("", (16, 22), 5),
    GRID_SAMPLE("com.microsoft", (1, 1), 4),
};

const leati_op_family leati_grid_sample_family = LEATI_FAMILY(ops);
