/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/norm/row_sharing.h"

#include "core/status.h"
#include "ops/reduce/reduce.h"
#include "policy/tiling.h"

leati_row_sharing leati_row_sharing_of(const leat_device *device, bool along, uint64_t rows, uint64_t count) {
  const leati_row_share share =
      leati_row_share_of(&device->traits, device->physical->subgroup_size, along, rows, count);
  return (leati_row_sharing){.spec = leati_rows_spec(along, share.parts),
                             .group = share.group,
                             .parts = share.parts,
                             .per_group = share.group / share.parts,
                             .held = share.held};
}

leati_kernel leati_row_kernel(const leat_device *device, leati_kernel_set plain, leati_kernel_set shuffled,
                              uint64_t type) {
  return leati_kernel_find(device->physical->shuffles ? shuffled : plain, type);
}

/* A row that is not held is gone through three times, and its parts are joined in a few rounds more. */
int32_t leati_check_row_rounds(const leat_device *device, const char *name, bool along, int64_t rows, int64_t count,
                               leat_error *err) {
  const leati_row_sharing share = leati_row_sharing_of(device, along, (uint64_t)rows, (uint64_t)count);
  return share.held != 0
             ? LEAT_OK
             : leati_check_rounds(device, 3 * (((uint64_t)count + share.parts - 1) / share.parts) + 64, name, err);
}

int32_t leati_op_check_row_rounds(const leat_op *op, bool along, int64_t rows, int64_t count, leat_error *err) {
  return leati_check_row_rounds(leati_op_device(op), leati_op_def_of(op)->info.name, along, rows, count, err);
}

int32_t leati_check_rows_size(const leati_view *view, leat_error *err) {
  if (view->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "a tensor of %llu elements is too large: fewer than 2^31 are supported",
                      (unsigned long long)view->count);
  }
  return LEAT_OK;
}

bool leati_rows_in_fours(int64_t count, const leati_view *const *views, uint32_t view_count) {
  bool fours = count % 4 == 0;
  for (uint32_t i = 0; i < view_count; ++i) {
    fours = fours && (views[i] == NULL || views[i]->address % (4 * views[i]->item_size) == 0);
  }
  return fours;
}
