/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/ref_run.h"

/* The operators of each family: the build makes lines "LIST(family)". */
#define LIST(family) extern const leati_ref_entry leati_ref_##family[];
#include "reference_lists.inc"
#undef LIST
#define LIST(family) {#family, leati_ref_##family},
static const struct {
  const char *family;
  const leati_ref_entry *list;
} lists[] = {
#include "reference_lists.inc"
};
#undef LIST

enum { LIST_COUNT = sizeof(lists) / sizeof(lists[0]) };

static size_t find(const char *name) {
  size_t f = 0;
  while (f < LIST_COUNT && !leati_ref_has(lists[f].list, name)) {
    f++;
  }
  return f;
}

bool leati_ref_run(leati_ref_node *node) {
  const size_t f = find(node->name);
  return f < LIST_COUNT ? leati_ref_run_of(lists[f].list, node)
                        : leati_ref_fail(node, "the reference has no operator %s", node->name);
}

const char *leati_ref_family(const char *name) {
  const size_t f = find(name);
  return f < LIST_COUNT ? lists[f].family : NULL;
}
