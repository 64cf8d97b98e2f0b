/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * When what was compiled is saved to disk. Pure functions; nanoseconds.
 */
#ifndef LEAT_PLUGIN_POLICY_SAVING_H_
#define LEAT_PLUGIN_POLICY_SAVING_H_

#include <stdbool.h>
#include <stdint.h>

#include "policy/constants.h"

/** What a save takes where none can be made. */
#define LEATI_SAVE_NEVER UINT64_MAX

/** Whether to save now, after so much compiling since the last save, which took so long. The first save comes at once:
 * what it takes is not known yet. All saves together take a small part of what all compiling does, and where they take
 * next to nothing each pipeline is saved. */
static inline bool leati_save_is_due(uint64_t compiled_ns, uint64_t save_ns) {
  return compiled_ns > 0 && compiled_ns / LEATI_COMPILE_PER_SAVE >= save_ns;
}

#endif /* LEAT_PLUGIN_POLICY_SAVING_H_ */
