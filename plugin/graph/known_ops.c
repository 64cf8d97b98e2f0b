/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/known_ops.h"

#include <string.h>

#include "ops/core/op_state.h"

typedef struct row {
  const char *domain, *name;
  uint32_t first, last;
} row;

static const row rows[] = {[LEATI_IS_OTHER] = {"", "", 0, 0},
#define ROW(number, domain, name, first, last) [LEATI_IS_##number] = {domain, name, first, last},
                           LEATI_KNOWN_OPS(ROW)
#undef ROW
};

leati_known_op leati_known_op_of(const leat_op *op) {
  const leat_op_info *const info = &op->def->info;
  for (uint32_t i = 1; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (strcmp(rows[i].name, info->name) == 0 && strcmp(rows[i].domain, info->domain) == 0) {
      const bool same = op->since_version >= rows[i].first && op->since_version <= rows[i].last;
      return same ? (leati_known_op)i : LEATI_IS_OTHER;
    }
  }
  return LEATI_IS_OTHER;
}

const char *leati_known_op_name(leati_known_op op) {
  return rows[op].name;
}

const char *leati_known_op_domain(leati_known_op op) {
  return rows[op].domain;
}
