/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Imported memory: segments of one block each whose memory another API made. Such a block is never handed out again:
 * once nobody holds it and its last use has passed, the driver gets it back.
 */
#ifndef LEAT_PLUGIN_MEMORY_IMPORTED_H_
#define LEAT_PLUGIN_MEMORY_IMPORTED_H_

#include <leat/backend.h>

#include "memory/memory_state.h"

/** Makes a block of what a checked description names, and takes its descriptor over on success.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED, OUT_OF_MEMORY, INTERNAL */
int32_t leati_imported_take(leat_device *device, const leat_external_memory *memory, leati_block **out,
                            leat_error *err);
/** Gives the driver all imported blocks back that nobody holds and nothing uses any more. */
void leati_imported_settle(leat_device *device);

#endif /* LEAT_PLUGIN_MEMORY_IMPORTED_H_ */
