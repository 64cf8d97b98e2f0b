/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/plan.h"

#include "device/device.h"

void leati_groups_linear(const leat_device *device, uint64_t count, uint32_t per_group, uint32_t groups[3]) {
  const uint64_t total = (count + per_group - 1) / per_group;
  const uint64_t most = device->physical->max_groups_x;
  groups[0] = (uint32_t)(total < most ? total : most);
  groups[1] = total <= most ? total != 0 : (uint32_t)((total + groups[0] - 1) / groups[0]);
  groups[2] = total == 0 ? 0 : 1;
}
