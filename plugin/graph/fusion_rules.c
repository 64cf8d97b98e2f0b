/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fusion_rules.h"

#include "core/status.h"

static leati_fusion_rule *const rules[LEATI_FUSION_CHANNELS_LAST] = {
#define RULE(number, name) [LEATI_FUSION_##number] = leati_fuse_##name,
    LEATI_FUSION_RULES(RULE)
#undef RULE
};

/* Applies a rule to a node; `*out_any` is set if it did anything. */
static int32_t apply(leati_fusion *f, uint32_t r, uint32_t n, bool *out_any, leat_error *err) {
  bool done = false;
  if (f->live[n]) {
    LEATI_TRY(rules[r](f, n, &done, err));
  }
  f->counts[r] += done;
  *out_any = *out_any || done;
  return LEAT_OK;
}

static bool is_on(uint64_t off, uint32_t r) {
  return (off >> r & 1u) == 0;
}

/* Applies a rule to all nodes, in their order. */
static int32_t apply_all(leati_fusion *f, uint64_t off, uint32_t r, bool *out_any, leat_error *err) {
  for (uint32_t n = 0; n < f->graph->node_count && is_on(off, r); ++n) {
    LEATI_TRY(apply(f, r, n, out_any, err));
  }
  return LEAT_OK;
}

_Static_assert(LEATI_FUSION_FACTOR + 1 == LEATI_FUSION_CHAIN && LEATI_FUSION_CHAIN + 1 == LEATI_FUSION_SKIP_NORM &&
                   LEATI_FUSION_SKIP_NORM + 1 == LEATI_FUSION_CHANNELS_LAST &&
                   LEATI_FUSION_CHANNELS_LAST + 1 == LEATI_FUSION_COUNT,
               "a rule behind these would not be tried");

/* What one rule wrote another may go on with. Each rule leaves a node out, or makes one that no rule takes again, so
 * this ends. Products take what their first operand is multiplied by then; chains take what is left, and each of
 * those is gathered from its last node. A sum that no chain has taken goes to the norm behind it. */
int32_t leati_fusion_apply(leati_fusion *f, uint64_t off, leat_error *err) {
  bool any = true;
  while (any) {
    any = false;
    for (uint32_t r = 0; r < LEATI_FUSION_FACTOR; ++r) {
      LEATI_TRY(apply_all(f, off, r, &any, err));
    }
  }
  LEATI_TRY(apply_all(f, off, LEATI_FUSION_FACTOR, &any, err));
  for (uint32_t n = f->graph->node_count; n-- > 0 && is_on(off, LEATI_FUSION_CHAIN);) {
    LEATI_TRY(apply(f, LEATI_FUSION_CHAIN, n, &any, err));
  }
  return apply_all(f, off, LEATI_FUSION_SKIP_NORM, &any, err);
}
