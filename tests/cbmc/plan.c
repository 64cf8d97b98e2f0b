/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: how many workgroups a dispatch has. */
#include "record/plan.c"

#include "outside.h"

/* The workgroups of a kernel in one dimension cover all items, whatever their number: in one row or in several, the
 * last of which begins before the end. What no device can have is more rows than any allows, and not fewer. MISTAKE
 * plugin/record/plan.c: `total <= device->physical->max_groups[0]` becomes `total <= UINT32_MAX` MISTAKE
 * plugin/record/plan.c: `total / LEATI_GROUPS_ROW + (total % LEATI_GROUPS_ROW != 0)` becomes `total / LEATI_GROUPS_ROW`
 * MISTAKE plugin/record/plan.c: `count / per_group + (count % per_group != 0)` becomes
 * `(count + per_group - 1) / per_group`
 * MISTAKE plugin/record/plan.c: `rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX` becomes `(uint32_t)rows` */
void prove_workgroups_cover_all_items(void) {
  leati_physical physical = {.max_groups = {ANY(uint32_t), UINT32_MAX, 1}};
  const leat_device device = {.physical = &physical};
  ASSUME(physical.max_groups[0] >= LEATI_GROUPS_ROW);
  const uint64_t count = ANY(uint64_t);
  uint32_t groups[3];
  leati_groups_linear(&device, count, 256, groups);
  const uint64_t total = count / 256 + (count % 256 != 0);
  const uint64_t made = (uint64_t)groups[0] * groups[1];
  PROVE(groups[0] <= physical.max_groups[0] && groups[2] <= 1);
  PROVE(total == 0 ? groups[2] == 0 : groups[2] == 1);
  PROVE(made >= total || groups[1] == UINT32_MAX);
  PROVE(total == 0 || made - total < groups[0] || groups[1] == UINT32_MAX);
}
