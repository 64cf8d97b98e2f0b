/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/finding.h"

#include <inttypes.h>

#include "core/config.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"

int32_t leati_check_look(const leati_check *check, leat_error *err) {
  if (check->at->met == 0) {
    return LEAT_OK;
  }
  if (check->fault == LEATI_FAULT_DIVISOR) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: an integer was divided by zero", check->name);
  }
  const uint32_t size = check->at->size;
  if (check->fault == LEATI_FAULT_BEGIN && size == UINT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: write index %" PRId64 " is out of range; it must not be negative", check->name,
                      check->at->value);
  }
  if (check->fault == LEATI_FAULT_BEGIN) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: write index %" PRId64 " is out of range; it must be from 0 to %u, so that the update fits",
                      check->name, check->at->value, size);
  }
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                    "%s: index %" PRId64 " is out of range; its axis has size %u, so it must be in [-%u, %u)",
                    check->name, check->at->value, size, size, size);
}

void leati_finding_keep(leat_device *device, const leat_error *failure) {
  leati_log(LEATI_LOG_ERROR, "%s", failure->message);
  leati_mutex_lock(&device->finding_lock);
  if (device->finding.code == LEAT_OK) {
    device->finding = *failure;
  }
  leati_mutex_unlock(&device->finding_lock);
}

int32_t leati_finding_tell(leat_device *device, leat_error *err) {
  leati_mutex_lock(&device->finding_lock);
  const leat_error finding = device->finding;
  device->finding.code = LEAT_OK;
  leati_mutex_unlock(&device->finding_lock);
  return finding.code == LEAT_OK ? LEAT_OK : leati_fail_again(err, &finding);
}
