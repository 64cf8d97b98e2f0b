/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/movement/fill.h"

#include <inttypes.h>

#include "core/status.h"
#include "ops/core/movement.h"

typedef struct fill_args {
  uint64_t dst;
  uint64_t value;
  uint32_t count;
} fill_args;

int32_t leati_plan_fill(leati_planner *planner, const leati_view *dst, uint64_t value, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  /* The value is repeated over eight bytes and written as wide as address and size allow. */
  for (uint32_t bits = dst->item_size * 8; bits < 64; bits *= 2) {
    value = (value & ((UINT64_C(1) << bits) - 1)) | value << bits;
  }
  const uint64_t bytes = dst->count * dst->item_size;
  const uint32_t widest = leati_item_width(bytes | dst->address);
  const uint32_t width = widest > 8 ? 8 : widest;
  if (bytes / width > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a tensor of %" PRIu64 " bytes is too large to fill", bytes);
  }
  const fill_args args = {.value = value, .count = (uint32_t)(bytes / width)};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_FILL, width)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}
