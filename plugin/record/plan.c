/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/plan.h"

#include "device/device.h"

void leati_groups_linear(const leat_device *device, uint64_t count, uint32_t per_group, uint32_t groups[3]) {
  const uint64_t total = (count + per_group - 1) / per_group;
  const bool one_row = total <= device->physical->max_groups[0];
  groups[0] = one_row ? (uint32_t)total : LEATI_GROUPS_ROW;
  groups[1] = one_row ? total != 0 : (uint32_t)((total + LEATI_GROUPS_ROW - 1) / LEATI_GROUPS_ROW);
  groups[2] = total == 0 ? 0 : 1;
}
