/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which requests of a batch queue make the next batch, and when it is time for one. Called with the queue's lock held.
 */
#ifndef LEAT_BATCH_BATCH_FORM_H_
#define LEAT_BATCH_BATCH_FORM_H_

#include "batch_queue.h"
#include "batch_worker.h"

/** Looks for the group that a free worker takes from now.
 * @param self [inout] the worker, with no batch in hand
 * @param out_until [out] when to look again at the latest; LEATI_BATCH_FOREVER: not before somebody signals
 * @return NULL if none is ready before that */
leati_batch_group *leati_batch_form_ready(const leat_batch_queue *queue, leati_batch_worker *self, int64_t *out_until)
    LEATI_HOLDS(queue->lock);

/** Takes a batch from a group; the worker runs it next. */
void leati_batch_form_take(leat_batch_queue *queue, leati_batch_worker *self, leati_batch_group *from)
    LEATI_HOLDS(queue->lock);

#endif /* LEAT_BATCH_BATCH_FORM_H_ */
