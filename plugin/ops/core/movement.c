/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/movement.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "policy/tiling.h"

/* Length of both dimensions from which on a transpose goes through tiles in shared memory, and tiles from which on
 * these are large. */
#define TRANSPOSE_MIN 16u
#define TRANSPOSE_TILES_MANY 512u

/* Threads of a workgroup of kernels/copy.comp. */
#define COPY_THREADS 256u
/* Sides of the tiles of kernels/transpose.comp; items of 64 bits have small ones only. */
#define SIDE_SMALL 32u
#define SIDE_LARGE 64u

/* A dimension in the argument records of kernels/copy.comp and kernels/transpose.comp. */
typedef struct dimension {
  uint32_t size;
  leati_divider per_size;
  int32_t src_stride, dst_stride;
} dimension;

typedef struct copy_args {
  uint64_t src, dst;
  uint32_t count;
  dimension dims[LEAT_MAX_RANK];
} copy_args;

typedef struct transpose_args {
  uint64_t src, dst;
  uint32_t across, down;
  int32_t src_stride, dst_stride;
  uint32_t tiles_across, tiles_down, tiles;
  leati_divider per_across, per_down;
  dimension outer[LEAT_MAX_RANK - 2];
} transpose_args;

/* A strided copy: the fewest dimensions that it has, and the steps in source and target, in elements. */
typedef struct strided {
  const leati_view *views[2];
  int32_t rank;
  int64_t dims[LEAT_MAX_RANK], strides[2][LEAT_MAX_RANK];
} strided;

int32_t leati_check_reach(const leati_view *view, const char *what, leat_error *err) {
  const uint64_t reach = (view->end - view->begin) / view->item_size;
  return reach <= INT32_MAX && view->count <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: a tensor has %" PRIu64 " elements over a reach of %" PRIu64
                          "; supported: up to 2147483647",
                          what, view->count, reach);
}

int64_t leati_host_int(const leati_view *view, uint64_t i) {
  const int64_t stride = view->ndim == 1 ? view->strides[0] : 0;
  const unsigned char *const at = (const unsigned char *)view->data + (int64_t)i * stride * (int64_t)view->item_size;
  if (view->type == LEAT_TYPE_INT64) {
    int64_t wide;
    memcpy(&wide, at, sizeof(wide));
    return wide;
  }
  int32_t narrow;
  memcpy(&narrow, at, sizeof(narrow));
  return narrow;
}

/* Whether fours of elements along dimension `d` are whole and aligned in source (0) or target (1). */
static bool in_fours(const strided *s, int which, int32_t d) {
  const uint32_t item = s->views[which]->item_size;
  bool fours = s->dims[d] % 4 == 0 && s->views[which]->address % (item < 4 ? 4 * item : 16) == 0;
  for (int32_t i = 0; i < s->rank; ++i) {
    fours = fours && (i == d || s->strides[which][i] % 4 == 0);
  }
  return fours;
}

/* The dimension along which the neighbours of the source lie if that is another one than the last, along which those of
 * the target do, and both are long enough for tiles, `least`; else -1. */
static int32_t transposed_dimension(const strided *s, int64_t least) {
  const int32_t last = s->rank - 1;
  if (s->strides[1][last] == 1 && s->strides[0][last] != 1 && s->dims[last] >= least) {
    for (int32_t d = 0; d < last; ++d) {
      if (s->strides[0][d] == 1 && s->dims[d] >= least) {
        return d;
      }
    }
  }
  return -1;
}

static uint32_t tiles_of(int64_t size, uint32_t side) {
  return (uint32_t)((size + side - 1) / side);
}

static int32_t plan_transpose(leati_planner *planner, const strided *s, int32_t across, leat_error *err) {
  const int32_t down = s->rank - 1;
  const uint32_t item = s->views[1]->item_size;
  transpose_args args = {.across = (uint32_t)s->dims[across],
                         .down = (uint32_t)s->dims[down],
                         .src_stride = (int32_t)s->strides[0][down],
                         .dst_stride = (int32_t)s->strides[1][across]};
  uint32_t rank = 0, planes = 1;
  for (int32_t d = 0; d < down; ++d) {
    if (d != across) {
      args.outer[rank++] = (dimension){.size = (uint32_t)s->dims[d],
                                       .per_size = leati_divider_of((uint32_t)s->dims[d]),
                                       .src_stride = (int32_t)s->strides[0][d],
                                       .dst_stride = (int32_t)s->strides[1][d]};
      planes *= (uint32_t)s->dims[d];
    }
  }
  const bool large =
      item < 8 && (uint64_t)planes * tiles_of(s->dims[across], SIDE_LARGE) * tiles_of(s->dims[down], SIDE_LARGE) >=
                      TRANSPOSE_TILES_MANY;
  const uint32_t side = large ? SIDE_LARGE : SIDE_SMALL;
  args.tiles_across = tiles_of(s->dims[across], side);
  args.tiles_down = tiles_of(s->dims[down], side);
  args.tiles = planes * args.tiles_across * args.tiles_down;
  args.per_across = leati_divider_of(args.tiles_across);
  args.per_down = leati_divider_of(args.tiles_down);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_TRANSPOSE, item),
                   .constants.transpose = {.side = side,
                                           .quads_in = in_fours(s, 0, across),
                                           .quads_out = in_fours(s, 1, down),
                                           .rank = rank}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({s->views[0], &args.src}),
      LEATI_WRITES({s->views[1], &args.dst}),
  };
  leati_groups_linear(planner->device, args.tiles, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_strided_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  const leati_tuning *const tuning = &planner->device->traits.tuning;
  strided s = {.views = {src, dst}};
  int64_t *const dims = s.dims, (*const strides)[LEAT_MAX_RANK] = s.strides;
  memcpy(dims, dst->shape, sizeof(s.dims));
  memcpy(strides[0], src->strides, sizeof(strides[0]));
  memcpy(strides[1], dst->strides, sizeof(strides[1]));
  const int32_t rank = s.rank = leati_collapse(dst->ndim, dims, 2, strides);
  const int32_t last = rank - 1;
  const uint32_t item = dst->item_size;
  uint32_t width = item;
  if (dims[last] > 1 && strides[0][last] == 1 && strides[1][last] == 1) {
    /* Rows lie side by side in both: move them in the widest pieces that fit. */
    uint64_t quantities = src->address | dst->address | (uint64_t)dims[last] * item;
    for (int32_t d = 0; d < last; ++d) {
      quantities |= (uint64_t)(strides[0][d] * item) | (uint64_t)(strides[1][d] * item);
    }
    width = leati_item_width(quantities);
  }
  if (rank == 1 && strides[0][0] == 1 && strides[1][0] == 1 && dst->count * item / width > INT32_MAX) {
    return leati_plan_copy(planner, src, dst, err);
  }
  if (width == item) {
    LEATI_TRY(leati_check_reach(src, "copy", err));
    LEATI_TRY(leati_check_reach(dst, "copy", err));
  } else if ((src->end - src->begin) / width > INT32_MAX || (dst->end - dst->begin) / width > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "copy: a tensor reaches over more than 2147483647 items of %u bytes", width);
  }
  const int32_t across = transposed_dimension(&s, TRANSPOSE_MIN);
  if (across >= 0) {
    return plan_transpose(planner, &s, across, err);
  }
  copy_args args = {.count = (uint32_t)(dst->count * item / width)};
  const int64_t ratio = width / item;
  for (int32_t d = 0; d < rank; ++d) {
    const bool row = d == last;
    const uint32_t size = (uint32_t)(row ? dims[d] / ratio : dims[d]);
    args.dims[d] = (dimension){.size = size,
                               .per_size = leati_divider_of(size),
                               .src_stride = (int32_t)(row ? strides[0][d] : strides[0][d] / ratio),
                               .dst_stride = (int32_t)(row ? strides[1][d] : strides[1][d] / ratio)};
  }
  /* The widest items are enough for a thread one by one. */
  const uint32_t each = args.count >= tuning->copy_items_many && width < 16 ? LEATI_COPY_EACH : 1;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_COPY, width),
                   .constants.copy = {.rank = (uint32_t)rank, .each = each}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({src, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, each * COPY_THREADS, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_compact(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err) {
  if (view->compact) {
    *out = *view;
    return LEAT_OK;
  }
  memset(out, 0, sizeof(*out));
  out->type = view->type;
  out->ndim = view->ndim;
  memcpy(out->shape, view->shape, sizeof(out->shape));
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  return leati_plan_strided_copy(planner, view, out, err);
}

int32_t leati_plan_views(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  for (uint32_t o = 0; o < call->output_count; ++o) {
    const leati_view *const dst = leati_output(call, o);
    leati_view src;
    if (dst != NULL) {
      LEATI_TRY(leati_op_def_of(op)->view(op, call, o, &src, err));
      LEATI_TRY(leati_plan_strided_copy(planner, &src, dst, err));
    }
  }
  return LEAT_OK;
}

bool leati_view_has_rows(const leati_view *view) {
  int32_t last = view->ndim - 1;
  while (last >= 0 && view->shape[last] == 1) {
    --last;
  }
  return last < 0 || view->strides[last] == 1 || view->strides[last] == 0 ||
         leati_reads_scattered(view->count * view->item_size);
}

bool leati_reads_rows(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_has_rows(&call->inputs[i]);
}

bool leati_reads_first_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return i == 0 || call->inputs[i].compact;
}

bool leati_reads_any_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  (void)call;
  (void)i;
  return true;
}

void leati_view_reshape(leati_view *view, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  view->ndim = ndim;
  memcpy(view->shape, shape, (size_t)ndim * sizeof(shape[0]));
  memcpy(view->strides, strides, (size_t)ndim * sizeof(strides[0]));
  leati_view_measure(view);
}

leati_view leati_view_slice(const leati_view *view, const int64_t *start, const int64_t *step, const int64_t *size) {
  leati_view part = *view;
  int64_t strides[LEAT_MAX_RANK];
  int64_t offset = 0;
  for (int32_t d = 0; d < view->ndim; ++d) {
    offset += start[d] * view->strides[d];
    strides[d] = view->strides[d] * step[d];
  }
  part.address += (uint64_t)(offset * (int64_t)view->item_size);
  leati_view_reshape(&part, view->ndim, size, strides);
  return part;
}
