/* SPDX-License-Identifier: BSD-3-Clause */
/* Col2Im: images from the windows that were cut out of them, added up where they overlap. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/conv/window.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

enum { INPUT_X, INPUT_IMAGE, INPUT_BLOCK };

typedef struct col2im_state {
  leati_window window;
} col2im_state;

/* Argument record of kernels/col2im.comp. */
typedef struct col2im_args {
  uint64_t x, y;
  uint32_t count;
  uint32_t places; /* of a window in an image */
  uint32_t size[LEATI_WINDOW_RANK];
  leati_divider per_size[LEATI_WINDOW_RANK], per_stride[LEATI_WINDOW_RANK];
  int32_t out_size[LEATI_WINDOW_RANK], kernel[LEATI_WINDOW_RANK], stride[LEATI_WINDOW_RANK],
      dilation[LEATI_WINDOW_RANK];
  int32_t pad[LEATI_WINDOW_RANK];
} col2im_args;

/* Lays windows of `block` over the image: gives its sizes, and how many channels it has. */
static int32_t lay(const leat_op *op, const leati_call *call, int32_t *out_rank, int64_t *image, leati_window_fit *fit,
                   int64_t *out_channels, leat_error *err) {
  const col2im_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[INPUT_X];
  int64_t block[LEATI_WINDOW_RANK];
  uint32_t rank = 0, block_rank = 0;
  LEATI_TRY(leati_read_ints(&call->inputs[INPUT_IMAGE], "image_shape", LEATI_WINDOW_RANK, image, &rank, err));
  LEATI_TRY(leati_read_ints(&call->inputs[INPUT_BLOCK], "block_shape", LEATI_WINDOW_RANK, block, &block_rank, err));
  if (rank != block_rank) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Col2Im: images of %u dimensions from blocks of %u", rank,
                      block_rank);
  }
  for (uint32_t d = 0; d < rank; ++d) {
    if (image[d] < 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Col2Im: image_shape has %" PRId64 " in dimension %u",
                        image[d], d);
    }
  }
  LEATI_TRY(leati_window_lay(&state->window, (int32_t)rank, image, block, fit, err));
  int64_t taps = 1, places = 1;
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    const int64_t reach = (fit->kernel[d] - 1) * fit->dilation[d] + 1;
    const int64_t padded = fit->in[d] + fit->pad_begin[d] + fit->pad_end[d];
    if (padded < reach || padded > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Col2Im: a block over %" PRId64 " pixels in an image of %" PRId64 ", padding included", reach,
                        padded);
    }
    /* None of the two can overflow: their factors have 31 bits, and what x has is less than 63. */
    taps = taps <= INT32_MAX ? taps * fit->kernel[d] : taps;
    places = places <= INT32_MAX ? places * fit->out[d] : places;
  }
  if (x->shape[1] % taps != 0 || x->shape[2] != places) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Col2Im: columns [%" PRId64 ", %" PRId64 "] where a multiple of %" PRId64 " and %" PRId64
                      " are expected",
                      x->shape[1], x->shape[2], taps, places);
  }
  *out_rank = (int32_t)rank;
  *out_channels = x->shape[1] / taps;
  /* Three loops, one in the other; to leave a loop takes a round too. */
  const uint64_t rounds =
      1 + (uint64_t)fit->kernel[0] * (2 + (uint64_t)fit->kernel[1] * (2 + (uint64_t)fit->kernel[2]));
  return leati_check_rounds(leati_op_device(op), taps > INT32_MAX ? (uint64_t)taps : rounds, "Col2Im", err);
}

static int32_t col2im_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  leati_window_fit fit;
  int32_t rank;
  int64_t image[LEATI_WINDOW_RANK], channels;
  LEATI_TRY(lay(op, call, &rank, image, &fit, &channels, err));
  out->ndim = 2 + rank;
  out->dims[0] = call->inputs[INPUT_X].shape[0];
  out->dims[1] = channels;
  for (int32_t d = 0; d < rank; ++d) {
    out->dims[2 + d] = image[d];
  }
  return LEAT_OK;
}

static int32_t col2im_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  leati_window_fit fit;
  int32_t rank;
  int64_t image[LEATI_WINDOW_RANK], channels;
  leati_view x;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(lay(op, call, &rank, image, &fit, &channels, err));
  LEATI_TRY(leati_check_reach(&call->inputs[INPUT_X], "Col2Im", err));
  LEATI_TRY(leati_check_reach(y, "Col2Im", err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_X], &x, err));
  col2im_args args = {.count = (uint32_t)y->count, .places = (uint32_t)x.shape[2]};
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    args.size[d] = (uint32_t)fit.in[d];
    args.per_size[d] = leati_divider_of(args.size[d]);
    args.out_size[d] = (int32_t)fit.out[d];
    args.kernel[d] = (int32_t)fit.kernel[d];
    args.stride[d] = (int32_t)fit.stride[d];
    args.per_stride[d] = leati_divider_of((uint32_t)fit.stride[d]);
    args.dilation[d] = (int32_t)fit.dilation[d];
    args.pad[d] = (int32_t)fit.pad_begin[d];
  }
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_COL2IM, x.type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&x, &args.x}),
                                  LEATI_WRITES({y, &args.y}),
                                  .multiplications = x.count};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t col2im_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  leati_window window;
  (void)def;
  (void)device;
  return leati_window_read_lists(desc, &window, err);
}

static int32_t col2im_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return leati_window_read_lists(desc, &((col2im_state *)leati_op_state(op))->window, err);
}

static LEATI_TYPE(type_columns, "T", LEATI_TYPES_OF_COL2IM);
static LEATI_TYPE(type_shape, "tensor(int64)", LEAT_TYPE_INT64);

static const leati_op_def ops[] = {
    LEATI_OP("Col2Im", "", (18, 18), (3, 3), (1, 1), .info.flags = LEAT_OP_HEAVY,
             .info.host_inputs = 1u << INPUT_IMAGE | 1u << INPUT_BLOCK, LEATI_TYPES(&type_columns, &type_shape),
             LEATI_ATTRIBUTES(&leati_attribute_dilations, &leati_attribute_pads, &leati_attribute_strides),
             LEATI_INPUT_TYPES(0, 1, 1), .state_size = sizeof(col2im_state), .least_rank = 3, .most_rank = 3,
             .supports = col2im_supports, .create = col2im_create, .infer = col2im_infer,
             LEATI_KERNELS(LEATI_KERNELS_COL2IM), .plan = col2im_plan),
};

const leati_op_family leati_col2im_family = LEATI_FAMILY(ops);
