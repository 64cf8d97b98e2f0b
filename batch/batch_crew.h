/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The threads of a batch queue, which run its batches.
 */
#ifndef LEAT_BATCH_BATCH_CREW_H_
#define LEAT_BATCH_BATCH_CREW_H_

#include "batch_queue.h"

/** Whether this thread works for a queue, so that it would wait for itself. */
bool leati_batch_crew_serves(const leat_batch_queue *queue);

/** Starts worker `index`, which takes no signals of the program's. Called with the queue's lock held.
 * @return a status */
int32_t leati_batch_crew_start(leat_batch_queue *queue, uint32_t index, const leat_batch_config *config,
                               leat_error *err) LEATI_HOLDS(queue->lock);

/** Waits for the threads of workers, and frees them. Called with `admin` held, and without `lock`.
 * @param all false: those that have left */
void leati_batch_crew_join(leat_batch_queue *queue, bool all) LEATI_HOLDS(queue->admin) LEATI_LACKS(queue->lock);

#endif /* LEAT_BATCH_BATCH_CREW_H_ */
