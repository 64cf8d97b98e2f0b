/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Merging: what threads that run the same thing dispatch at the same time becomes one dispatch. Lists that share a
 * command buffer and hold the same commands differ in their argument records alone. So one dispatch serves several of
 * them: it has their records one behind the other, and their workgroups along z. It costs the GPU and the driver as
 * much as one of them.
 *
 * It takes a second pipeline of each kernel, which the next thread that records the kernel compiles when lists have met
 * that could have used it (device/pipeline.h); until then, and wherever memory is short, dispatches go one by one.
 */
#ifndef LEAT_PLUGIN_SUBMIT_MERGER_H_
#define LEAT_PLUGIN_SUBMIT_MERGER_H_

#include <stdbool.h>

#include "device/chunk.h"
#include "device/device.h"
#include "record/command.h"
#include "timeline/timeline.h"

/** What is merged on a command buffer. Belongs to the leader of a lane. All zero: nothing yet. */
typedef struct leati_merger {
  leati_chunk *records; /**< chunks of argument records, which the device uses until the command buffer has run */
  bool exhausted;       /**< there was no memory for more, so nobody asks again */
} leati_merger;

/** Whether two lists hold the same commands, but for argument records and what copies copy. */
bool leati_merger_alike(const leati_submission *a, const leati_submission *b);

/** Writes the dispatch number `command` of `count` lists that are alike, LEATI_RECORDS_MAX at most, as one. False:
 * there is no pipeline or no memory for that, and nothing was written.
 * @param inout_bound the pipeline that is bound */
bool leati_merger_write(leat_device *device, leati_merger *merger, const leati_submission *const *lists, uint32_t count,
                        uint32_t command, VkCommandBuffer commands, VkPipeline *inout_bound);
/** Sends the records to where the device reads them, before the command buffer is submitted. */
void leati_merger_send(const leati_merger *merger);
/** Releases the records, which nothing uses any more, and begins anew. */
void leati_merger_clear(leat_device *device, leati_merger *merger);

#endif /* LEAT_PLUGIN_SUBMIT_MERGER_H_ */
