/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The quarantine (LEAT_MEMORY_GUARD): freed blocks wait in it, poisoned, before they are reused. All of it is called
 * with the lock of the blocks' size class held, but leati_quarantine_inspect().
 */
#ifndef LEAT_PLUGIN_MEMORY_QUARANTINE_H_
#define LEAT_PLUGIN_MEMORY_QUARANTINE_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "memory/memory_state.h"

/** Writes the red zones of a block that is handed out. */
void leati_quarantine_fence(const leati_block *block);
/** Puts a freed block at the end of the quarantine.
 * @errors CORRUPTED: its red zones are damaged, and it can be told already; else that is kept for later
 * (device/finding.h) */
int32_t leati_quarantine_put(leat_device *device, leati_size_class *class, leati_block *block, leat_error *err)
    LEATI_HOLDS(class->lock);
/** Lets the quarantine go on: of the `probes` oldest blocks those whose last use has passed are checked and poisoned,
 * and the oldest ones leave for the free list when there are too many, or all that can with `drain`. */
void leati_quarantine_settle(leat_device *device, leati_size_class *class, uint32_t probes, bool drain)
    LEATI_HOLDS(class->lock);
/** Checks everything of a class that can be checked: blocks that are held, and those in the quarantine. Hold no lock of
 * the allocator's. */
void leati_quarantine_inspect(leat_device *device, leati_size_class *class);

#endif /* LEAT_PLUGIN_MEMORY_QUARANTINE_H_ */
