/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The requests of a batch queue that have not begun: those that are blocked because it is full, and those that it has
 * admitted, in groups that may go together. Every function but leati_batch_queue_free() is called with the queue's lock
 * held.
 */
#ifndef LEAT_BATCH_BATCH_QUEUE_H_
#define LEAT_BATCH_BATCH_QUEUE_H_

#include "batch_setup.h"
#include "batch_ticket.h"
#include "common/guarded.h"

typedef TAILQ_HEAD(leati_batch_group_list, leati_batch_group) leati_batch_group_list;

struct leat_batch_queue {
  pthread_mutex_t admin; /* orders configure() and shutdown() as wholes; taken before `lock`, guards no field alone */
  pthread_mutex_t lock;  /* guards everything below */
  pthread_cond_t work;   /* workers wait here */
  uint32_t references;   /* the handle and each ticket */
  bool closed;
  bool timing; /* some worker watches the clock for all */
  leati_batch_setup *setup;
  uint32_t running;         /* batches */
  uint32_t waiting_count;   /* elements of `waiting` */
  leati_batch_list waiting; /* admitted, oldest first */
  leati_batch_list blocked; /* first come, first */
  /* Requests join a group of their kind or, with one worker, only the last group: then the order of groups is that of
   * requests, and workers take from the first. */
  leati_batch_group_list groups;
  struct leati_batch_worker *workers[LEAT_BATCH_MAX_WORKERS]; /* changed under `admin`, too */
  leat_batch_stats stats;                                     /* what is not counted elsewhere */
};

/** Frees a queue that has no thread, no request and no handle. */
void leati_batch_queue_free(leat_batch_queue *queue);

/** Gives up a reference and the lock. */
void leati_batch_queue_unlock_and_drop(leat_batch_queue *queue) LEATI_GIVES(queue->lock);

/** Whether requests are run in the order in which they came, so that only neighbours may go together. */
bool leati_batch_queue_is_strict(const leat_batch_queue *queue) LEATI_HOLDS(queue->lock);

/** Whether one more request may be admitted. */
bool leati_batch_queue_has_room(const leat_batch_queue *queue) LEATI_HOLDS(queue->lock);

/** Admits a request, and wakes a worker if there may be something to do: a clock to be watched, or a batch to be run.
 */
void leati_batch_queue_admit(leat_batch_queue *queue, leat_batch_ticket *ticket) LEATI_HOLDS(queue->lock);

/** Admits those who were first to be blocked, as far as there is room. */
void leati_batch_queue_admit_blocked(leat_batch_queue *queue) LEATI_HOLDS(queue->lock);

/** Takes a request that waits out of its group and the queue. The group goes with its last one. */
void leati_batch_queue_leave(leat_batch_queue *queue, leat_batch_ticket *ticket) LEATI_HOLDS(queue->lock);

/** Forms the groups anew, by the rules in force. */
void leati_batch_queue_regroup(leat_batch_queue *queue) LEATI_HOLDS(queue->lock);

/** Ends a request. Its caller may free it from then on; if he has let go of it already, that is done here. */
void leati_batch_queue_end(leat_batch_queue *queue, leat_batch_ticket *ticket) LEATI_HOLDS(queue->lock);

/** Ends a request that waits, which is not to run.
 * @param why the message for its caller */
void leati_batch_queue_withdraw(leat_batch_queue *queue, leat_batch_ticket *ticket, const char *why)
    LEATI_HOLDS(queue->lock);

/** Ends all requests that are blocked, as the queue was shut down.
 * @param all whether to end those that wait, too */
void leati_batch_queue_fail(leat_batch_queue *queue, bool all) LEATI_HOLDS(queue->lock);

#endif /* LEAT_BATCH_BATCH_QUEUE_H_ */
