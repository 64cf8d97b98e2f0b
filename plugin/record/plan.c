/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/plan.h"

#include "device/device.h"

void leati_groups_linear(const leat_device *device, uint64_t count, uint32_t per_group, uint32_t groups[3]) {
  const uint64_t total = count / per_group + (count % per_group != 0);
  /* As many as no device allows, where a number of 32 bits does not hold them. */
  const uint64_t rows = total / LEATI_GROUPS_ROW + (total % LEATI_GROUPS_ROW != 0);
  const bool one_row = total <= device->physical->max_groups[0];
  groups[0] = one_row ? (uint32_t)total : LEATI_GROUPS_ROW;
  groups[1] = one_row ? total != 0 : rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
  groups[2] = total == 0 ? 0 : 1;
}
