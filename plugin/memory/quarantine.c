/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/quarantine.h"

#include <stdatomic.h>

#include "core/pages.h"
#include "device/device.h"
#include "device/finding.h"
#include "memory/free_list.h"
#include "memory/guard.h"
#include "policy/allocation.h"

static leati_guarded guarded(const leati_block *block) {
  return (leati_guarded){.begin = leati_block_mapped(block),
                         .address = leati_block_address(block),
                         .size = leati_block_size(block),
                         .room = block->home->block_size - LEATI_GUARD_ZONE,
                         .generation = block->generation};
}

/* Looks at the red zones of a block and makes them whole again, so that one write is told once. The class's lock is
 * held. */
static int32_t check_fence(const leati_block *block, leat_error *err) {
  const leati_guarded seen = guarded(block);
  const int32_t status = leati_guard_check_fence(&seen, err);
  if (status != LEAT_OK) {
    leati_guard_fence(&seen);
  }
  return status;
}

/* Sees to it that uses of a freed block are noticed. */
static void poison(const leati_block *block) {
  if (block->home->pages.begin != NULL) {
    leati_pages_close(&block->home->pages);
  } else {
    const leati_guarded gone = guarded(block);
    leati_guard_poison(&gone);
  }
}

/* Looks at the poison of a freed block, and likewise makes it whole. */
static int32_t check_poison(const leati_block *block, leat_error *err) {
  if (block->home->pages.begin != NULL) {
    return LEAT_OK;
  }
  const leati_guarded seen = guarded(block);
  const int32_t status = leati_guard_check_poison(&seen, err);
  if (status != LEAT_OK) {
    leati_guard_poison(&seen);
  }
  return status;
}

void leati_quarantine_settle(leat_device *device, leati_size_class *class, uint32_t probes, bool drain) {
  const struct leati_memory *const memory = device->memory;
  leat_error failure = {.struct_size = sizeof(failure)};
  for (leati_block *at = class->first_waiting; at != NULL && probes > 0; --probes, at = at->next_free) {
    if (at->poisoned || (!memory->closing && !leati_block_reusable(at, NULL))) {
      continue;
    }
    if (check_fence(at, &failure) != LEAT_OK) {
      leati_finding_keep(device, &failure);
    }
    poison(at);
    at->poisoned = true;
  }
  while (class->first_waiting != NULL && class->first_waiting->poisoned) {
    leati_block *const oldest = class->first_waiting;
    if (!drain && !leati_quarantine_is_full(class->waiting_count, oldest->home->block_size)) {
      return;
    }
    if (check_poison(oldest, &failure) != LEAT_OK) {
      leati_finding_keep(device, &failure);
    }
    class->first_waiting = oldest->next_free;
    if (class->first_waiting == NULL) {
      class->last_waiting = NULL;
    }
    --class->waiting_count;
    leati_free_list_put(class, oldest);
  }
}

int32_t leati_quarantine_put(leat_device *device, leati_size_class *class, leati_block *block, leat_error *err) {
  int32_t status = LEAT_OK;
  block->poisoned = leati_block_reusable(block, NULL);
  if (block->poisoned) {
    status = check_fence(block, err);
    poison(block);
  }
  block->next_free = NULL;
  if (class->last_waiting != NULL) {
    class->last_waiting->next_free = block;
  } else {
    class->first_waiting = block;
  }
  class->last_waiting = block;
  ++class->waiting_count;
  leati_quarantine_settle(device, class, LEATI_QUARANTINE_PROBES, false);
  return status;
}

void leati_quarantine_inspect(leat_device *device, leati_size_class *class) {
  leat_error failure = {.struct_size = sizeof(failure)};
  leati_mutex_lock(&class->lock);
  for (const leati_segment *s = class->segments; s != NULL; s = s->next) {
    for (uint32_t i = 0; i < s->carved; ++i) {
      if (atomic_load_explicit(&s->blocks[i].references, memory_order_acquire) != 0 &&
          check_fence(&s->blocks[i], &failure) != LEAT_OK) {
        leati_finding_keep(device, &failure);
      }
    }
  }
  for (const leati_block *at = class->first_waiting; at != NULL; at = at->next_free) {
    if (at->poisoned && check_poison(at, &failure) != LEAT_OK) {
      leati_finding_keep(device, &failure);
    }
  }
  leati_quarantine_settle(device, class, UINT32_MAX, false);
  leati_mutex_unlock(&class->lock);
}

void leati_quarantine_fence(const leati_block *block) {
  const leati_guarded fresh = guarded(block);
  leati_guard_fence(&fresh);
}
