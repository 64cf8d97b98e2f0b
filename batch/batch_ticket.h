/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A request of a batch queue: its inputs, its results or its failure, and where it is. Who may do what with it, and
 * when, is the queue's.
 */
#ifndef LEAT_BATCH_BATCH_TICKET_H_
#define LEAT_BATCH_BATCH_TICKET_H_

#include <leat/batch.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "batch_tensor.h"

/** Where a request is. */
typedef enum leati_batch_state {
  LEATI_TICKET_BLOCKED, /* its thread waits for room */
  LEATI_TICKET_WAITING, /* admitted: in a group */
  LEATI_TICKET_RUNNING, /* in a batch, and the worker's alone but for `held` */
  LEATI_TICKET_DONE,    /* nothing changes any more */
} leati_batch_state;

/** Requests in their order. */
typedef TAILQ_HEAD(leati_batch_list, leat_batch_ticket) leati_batch_list;

/** Requests that may go together, oldest first. Guarded by the queue's lock. */
typedef struct leati_batch_group {
  TAILQ_ENTRY(leati_batch_group) link;
  leati_batch_list tickets;
  uint32_t count;
  int64_t load; /**< sum of leati_batch_ticket_load() */
} leati_batch_group;

/** All fields that may change are guarded by the queue's lock, but for what the worker of a running batch writes, which
 * nobody reads before the state is LEATI_TICKET_DONE. */
struct leat_batch_ticket {
  leat_batch_queue *queue;             /* constant; counted in its references */
  TAILQ_ENTRY(leat_batch_ticket) link; /* in the queue's list of those blocked or waiting */
  TAILQ_ENTRY(leat_batch_ticket) mate; /* in its group, then in its batch */
  pthread_cond_t moved;                /* the state changed */
  leati_batch_state state;
  bool held;                /* the caller has it */
  leati_batch_group *group; /* while waiting */
  leati_batch_group *spare; /* for a group that this request may have to found; admission thus needs no memory */
  int64_t admitted;         /* monotonic nanoseconds */
  int64_t rows;             /* constant */
  leati_batch_pack in;      /* until it has run or never will */
  leati_batch_pack out;     /* of a request that ran rightly */
  int32_t code;             /* how it ended */
  int32_t native_code;
  char *message; /* or NULL */
};

/** Makes a request with copies of the inputs, which are checked. It is not counted in the queue's references.
 * @param out [out] release with leati_batch_ticket_free()
 * @return a status */
int32_t leati_batch_ticket_new(leat_batch_queue *queue, uint32_t count, const DLTensor *const *inputs,
                               leat_batch_ticket **out, leat_error *err);

/** Frees a request that nobody knows any more. */
void leati_batch_ticket_free(leat_batch_ticket *ticket);

/** What a request counts for against max_rows: its rows; one without any still is something. */
int64_t leati_batch_ticket_load(const leat_batch_ticket *ticket);

/** Writes down how a request failed; a message for which there is no memory is lost, the code is not. */
void leati_batch_ticket_fail(leat_batch_ticket *ticket, int32_t code, int32_t native_code, const char *message);

/** Tells the caller how a request failed.
 * @return the request's status */
int32_t leati_batch_ticket_report(const leat_batch_ticket *ticket, leat_error *err);

#endif /* LEAT_BATCH_BATCH_TICKET_H_ */
