/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/ref_run.h"

/* The operators of each family: the build makes lines "LIST(family)". */
#define LIST(family) extern const leati_ref_entry leati_ref_##family[];
#include "reference_lists.inc"
#undef LIST
#define LIST(family) leati_ref_##family,
static const leati_ref_entry *const lists[] = {
#include "reference_lists.inc"
};
#undef LIST

bool leati_ref_run(leati_ref_node *node) {
  for (size_t f = 0; f < sizeof lists / sizeof lists[0]; f++) {
    if (leati_ref_has(lists[f], node->name)) {
      return leati_ref_run_of(lists[f], node);
    }
  }
  return leati_ref_fail(node, "the reference has no operator %s", node->name);
}
