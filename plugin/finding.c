/* SPDX-License-Identifier: BSD-3-Clause */
#include "finding.h"

#include <inttypes.h>

#include "status.h"

int32_t leati_check_look(const leati_check *check, leat_error *err) {
  if (check->at->met == 0) {
    return LEAT_OK;
  }
  if (check->fault == LEATI_FAULT_DIVISOR) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: an integer was divided by zero", check->name);
  }
  const uint32_t size = check->at->size;
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                    "%s: index %" PRId64 " is out of range; its axis has size %u, so it must be in [-%u, %u)",
                    check->name, check->at->value, size, size, size);
}
