/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/movement.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/dims.h"

typedef struct copy_args {
  uint64_t src, dst;
  uint32_t count, rank;
  uint32_t dims[LEAT_MAX_RANK];
  int32_t src_strides[LEAT_MAX_RANK];
  int32_t dst_strides[LEAT_MAX_RANK];
} copy_args;

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

int32_t leati_plan_strided_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  int64_t dims[LEAT_MAX_RANK];
  int64_t strides[2][LEAT_MAX_RANK];
  memcpy(dims, dst->shape, sizeof(dims));
  memcpy(strides[0], src->strides, sizeof(strides[0]));
  memcpy(strides[1], dst->strides, sizeof(strides[1]));
  const int32_t rank = leati_collapse(dst->ndim, dims, 2, strides);
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
  copy_args args = {
      .count = (uint32_t)(dst->count * item / width),
      .rank = (uint32_t)rank,
  };
  const int64_t ratio = width / item;
  for (int32_t d = 0; d < rank; ++d) {
    const bool row = d == last;
    args.dims[d] = (uint32_t)(row ? dims[d] / ratio : dims[d]);
    args.src_strides[d] = (int32_t)(row ? strides[0][d] : strides[0][d] / ratio);
    args.dst_strides[d] = (int32_t)(row ? strides[1][d] : strides[1][d] / ratio);
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_COPY, width)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({src, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
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

void leati_view_reshape(leati_view *view, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  view->ndim = ndim;
  view->count = 1;
  for (int32_t d = 0; d < ndim; ++d) {
    view->shape[d] = shape[d];
    view->strides[d] = strides[d];
    view->count *= (uint64_t)shape[d];
  }
  view->compact = false;
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
