/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/registry.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"

uint32_t leati_registry_count(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < leati_family_count; ++i) {
    count += leati_families[i]->count;
  }
  return count;
}

const leati_op_def *leati_registry_get(uint32_t index) {
  for (uint32_t i = 0; i < leati_family_count; ++i) {
    if (index < leati_families[i]->count) {
      return &leati_families[i]->ops[index];
    }
    index -= leati_families[i]->count;
  }
  return NULL;
}

/* Appends a range to a list in words; what does not fit is left out. */
static void versions_add(char *text, size_t size, const leat_op_info *info) {
  const size_t used = strlen(text);
  char range[32];
  leati_range_text(info->since_version_min, info->since_version_max, UINT32_MAX, range);
  (void)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", range);
}

/* Whether an entry is of this operator, in whatever version. Most names differ in their first letter. */
static bool is_named(const leat_op_info *info, const char *domain, const char *name) {
  return info->name[0] == name[0] && strcmp(info->name, name) == 0 && strcmp(info->domain, domain) == 0;
}

/* Says which versions there are of an operator, of which this one is not. */
static int32_t fail_version(const char *domain, const char *name, uint32_t since_version, leat_error *err) {
  char versions[128] = "";
  uint32_t before = 0; /* the highest of them below that */
  for (uint32_t i = 0; i < leati_family_count; ++i) {
    for (uint32_t j = 0; j < leati_families[i]->count; ++j) {
      const leat_op_info *const info = &leati_families[i]->ops[j].info;
      if (is_named(info, domain, name)) {
        versions_add(versions, sizeof(versions), info);
        before = info->since_version_max < since_version && info->since_version_max > before ? info->since_version_max
                                                                                             : before;
      }
    }
  }
  if (versions[0] == '\0') {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "operator '%s' of domain '%s' is not supported", name, domain);
  }
  if (before == 0) {
    return leati_fail(
        err, LEAT_ERROR_NOT_SUPPORTED,
        "operator %s of version %u is not supported; its versions here: %s. leat_op_desc::since_version is the "
        "\"since version\" of its definition, not the model's operator set",
        name, since_version, versions);
  }
  char later[32];
  leati_range_text(before + 1, since_version, 0, later);
  return leati_fail(
      err, LEAT_ERROR_NOT_SUPPORTED,
      "operator %s of version %u is not supported; its versions here: %s. leat_op_desc::since_version is the "
      "\"since version\" of its definition: %u in a model of operator set %u, unless %s changed it",
      name, since_version, versions, before, since_version, later);
}

int32_t leati_registry_find(const char *domain, const char *name, uint32_t since_version, const leati_op_def **out,
                            leat_error *err) {
  for (uint32_t i = 0; i < leati_family_count; ++i) {
    for (uint32_t j = 0; j < leati_families[i]->count; ++j) {
      const leati_op_def *const def = &leati_families[i]->ops[j];
      if (since_version >= def->info.since_version_min && since_version <= def->info.since_version_max &&
          is_named(&def->info, domain, name)) {
        *out = def;
        return LEAT_OK;
      }
    }
  }
  return fail_version(domain, name, since_version, err);
}
