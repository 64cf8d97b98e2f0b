/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/budget.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "core/config.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "policy/allocation.h"

struct leati_budget {
  /* Never above `limit`. Relaxed, as the watermarks: nothing is ordered by them. */
  _Atomic uint64_t committed;
  /* The watermarks in bytes. They only rise: see leati_budget_commit(). */
  _Atomic uint64_t limit, low;
  /* Constant while the device is open. */
  double high_ratio, low_ratio;
  uint32_t heap;
};

/* Raises the watermarks to what the driver offers. */
static void read_heap(leat_device *device) {
  struct leati_budget *const budget = device->budget;
  const double bytes = (double)leati_physical_heap_budget(device->physical, budget->heap);
  leati_raise(&budget->limit, (uint64_t)(bytes * budget->high_ratio));
  leati_raise(&budget->low, (uint64_t)(bytes * budget->low_ratio));
}

int32_t leati_budget_create(leat_device *device, uint32_t heap, leat_error *err) {
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  device->budget = leati_calloc(1, sizeof(*device->budget));
  if (device->budget == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the budget of memory");
  }
  device->budget->high_ratio = config->high_watermark_ratio;
  device->budget->low_ratio = config->low_watermark_ratio;
  device->budget->heap = heap;
  read_heap(device);
  return LEAT_OK;
}

void leati_budget_destroy(leat_device *device) {
  leati_free(device->budget);
  device->budget = NULL;
}

uint64_t leati_budget_committed(const leat_device *device) {
  return atomic_load_explicit(&device->budget->committed, memory_order_relaxed);
}

uint64_t leati_budget_limit(const leat_device *device) {
  return atomic_load_explicit(&device->budget->limit, memory_order_relaxed);
}

static bool fits(uint64_t used, uint64_t more, uint64_t limit) {
  return more <= limit && used <= limit - more;
}

int32_t leati_budget_commit(leat_device *device, uint64_t bytes, leat_error *err) {
  struct leati_budget *const budget = device->budget;
  uint64_t used = atomic_load_explicit(&budget->committed, memory_order_relaxed);
  do {
    if (!fits(used, bytes, atomic_load_explicit(&budget->limit, memory_order_relaxed))) {
      /* Others may have released memory since the budget was read. One that has shrunk is not heeded: what is there
       * is ours, and when no more can be had the driver says so. */
      read_heap(device);
    }
    const uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
    if (!fits(used, bytes, limit)) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY,
                        "%" PRIu64 " bytes more would make %" PRIu64 " taken from the driver; the limit is %" PRIu64
                        ", which is LEAT_HIGH_WATERMARK_RATIO (%g) of the memory that the device offers this process",
                        bytes, used + bytes, limit, budget->high_ratio);
    }
  } while (!atomic_compare_exchange_weak_explicit(&budget->committed, &used, used + bytes, memory_order_relaxed,
                                                  memory_order_relaxed));
  return LEAT_OK;
}

void leati_budget_uncommit(leat_device *device, uint64_t bytes) {
  (void)atomic_fetch_sub_explicit(&device->budget->committed, bytes, memory_order_relaxed);
}

bool leati_budget_target(const leat_device *device, uint64_t wanted, uint64_t least, uint64_t *out_target) {
  const uint64_t limit = leati_budget_limit(device);
  if (least > limit) {
    return false;
  }
  *out_target = 0;
  if (!fits(leati_budget_committed(device), wanted, limit)) {
    const uint64_t low = atomic_load_explicit(&device->budget->low, memory_order_relaxed);
    *out_target = leati_reclaim_target(limit, low, wanted, least);
  }
  return true;
}
