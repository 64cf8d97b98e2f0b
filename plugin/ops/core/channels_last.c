/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/channels_last.h"

#include <string.h>

#include "core/status.h"
#include "ops/core/movement.h"

bool leati_has_channels(const leati_view *view) {
  return view->ndim >= 3 && view->count != 0 && view->shape[1] > 1 &&
         view->count / (uint64_t)view->shape[0] > (uint64_t)view->shape[1];
}

void leati_make_channels_last(leati_view *view) {
  int64_t all = view->shape[1];
  view->strides[1] = 1;
  for (int32_t d = view->ndim - 1; d >= 2; --d) {
    view->strides[d] = all;
    all *= view->shape[d];
  }
  view->strides[0] = all;
  leati_view_measure(view);
}

int64_t leati_pixel_pitch(const leati_view *view) {
  int32_t d = view->ndim - 1;
  while (d > 1 && view->shape[d] == 1) {
    --d;
  }
  return leati_has_channels(view) ? view->strides[d] : view->shape[1];
}

bool leati_is_channels_last(const leati_view *view) {
  if (!leati_has_channels(view)) {
    return false;
  }
  int64_t step = leati_pixel_pitch(view);
  bool is = view->strides[1] == 1 && step >= view->shape[1];
  for (int32_t d = view->ndim - 1; d >= 0; --d) {
    if (d != 1) {
      is = is && (view->shape[d] == 1 || view->strides[d] == step);
      step *= view->shape[d];
    }
  }
  return is;
}

bool leati_holds_channels(const leati_view *view) {
  const int64_t pitch = leati_pixel_pitch(view);
  return leati_is_channels_last(view) && leati_check_reach(view, "image", NULL) == LEAT_OK && view->address % 16 == 0 &&
         (pitch == view->shape[1] || (uint64_t)pitch * view->item_size % 16 == 0);
}

leati_view leati_channels_last_order(const leati_view *view) {
  const int32_t last = view->ndim - 1;
  leati_view ordered = *view;
  for (int32_t d = 1; d <= last; ++d) {
    const int32_t from = d == last ? 1 : d + 1;
    ordered.shape[d] = view->shape[from];
    ordered.strides[d] = view->strides[from];
  }
  leati_view_measure(&ordered);
  return ordered;
}

int32_t leati_plan_channels_last(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err) {
  if (leati_holds_channels(view)) {
    *out = *view;
    return LEAT_OK;
  }
  leati_view ordered = leati_channels_last_order(view);
  ordered.compact = ordered.compact && ordered.address % 16 == 0;
  LEATI_TRY(leati_plan_compact(planner, &ordered, out, err));
  memcpy(out->shape, view->shape, sizeof(out->shape));
  leati_make_channels_last(out);
  return LEAT_OK;
}
