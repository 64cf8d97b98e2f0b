/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A worker of a batch queue while it has a batch in hand: it puts inputs together, calls the user's function, and cuts
 * outputs apart. No lock is held here. Which requests go into the batch, and when, is batch.c's.
 */
#ifndef LEAT_HOST_SHIM_BATCH_WORKER_H_
#define LEAT_HOST_SHIM_BATCH_WORKER_H_

#include <leat/batch.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "batch_setup.h"
#include "batch_tensor.h"

struct leati_batch_group;

/** Where a request is. */
typedef enum leati_batch_state {
  LEATI_TICKET_BLOCKED, /* its thread waits for room */
  LEATI_TICKET_WAITING, /* admitted: in a group */
  LEATI_TICKET_RUNNING, /* in a batch, and the worker's alone but for `held` */
  LEATI_TICKET_DONE,    /* nothing changes any more */
} leati_batch_state;

/** Requests in their order. */
typedef TAILQ_HEAD(leati_batch_list, leat_batch_ticket) leati_batch_list;

/** All fields that may change are guarded by the queue's lock, but for what the worker of a running batch writes, which
 * nobody reads before the state is LEATI_TICKET_DONE. */
struct leat_batch_ticket {
  leat_batch_queue *queue;             /* constant; counted in its references */
  TAILQ_ENTRY(leat_batch_ticket) link; /* in the queue's list of those blocked or waiting */
  TAILQ_ENTRY(leat_batch_ticket) mate; /* in its group, then in its batch */
  pthread_cond_t moved;                /* the state changed */
  leati_batch_state state;
  bool held;                       /* the caller has it */
  struct leati_batch_group *group; /* while waiting */
  struct leati_batch_group *spare; /* for a group that this request may have to found; admission thus needs no memory */
  int64_t admitted;                /* monotonic nanoseconds */
  int64_t rows;                    /* constant */
  leati_batch_pack in;             /* until it has run or never will */
  leati_batch_pack out;            /* of a request that ran rightly */
  int32_t code;                    /* how it ended */
  int32_t native_code;
  char *message; /* or NULL */
};

/** A thread, and what it uses to put batches together, so that only the sizes of tensors ask for memory. */
typedef struct leati_batch_worker {
  leat_batch_queue *queue;
  uint32_t index;
  pthread_t thread;
  bool left; /* guarded by the queue's lock: it only has to be joined */
  /* The batch in hand: the worker's own while it runs. */
  leati_batch_setup *setup;
  leati_batch_list batch;
  uint32_t batch_count;
  int64_t batch_rows;
  DLTensor *inputs; /* input_count */
  const DLTensor **input_list;
  int64_t *input_shapes; /* LEAT_MAX_RANK each */
  void **buffers;        /* kept from batch to batch */
  size_t *buffer_sizes;
  DLTensor *outputs; /* output_count: what the function gave */
  DLTensor *parts;   /* output_count: shapes of one request's share */
  const DLTensor **part_list;
  int64_t *part_shapes;
} leati_batch_worker;

/** Makes a worker without a thread.
 * @return [owned: release with leati_batch_worker_free] NULL if memory is out */
leati_batch_worker *leati_batch_worker_new(leat_batch_queue *queue, uint32_t index, const leat_batch_config *config);

/** Frees a worker, whose thread is gone or never was. */
void leati_batch_worker_free(leati_batch_worker *self, uint32_t input_count);

/** Calls the user's function for the batch in hand, and gives each request what is its own, or the failure. */
void leati_batch_worker_run(leati_batch_worker *self);

/** Writes down how a request failed; a message for which there is no memory is lost, the code is not. */
void leati_batch_fail(leat_batch_ticket *ticket, int32_t code, int32_t native_code, const char *message);

#endif /* LEAT_HOST_SHIM_BATCH_WORKER_H_ */
