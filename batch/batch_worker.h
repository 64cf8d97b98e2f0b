/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A worker of a batch queue while it has a batch in hand: it puts inputs together, calls the user's function, and cuts
 * outputs apart. No lock is held here. Which requests go into the batch, and when, is batch_form.c's.
 */
#ifndef LEAT_BATCH_BATCH_WORKER_H_
#define LEAT_BATCH_BATCH_WORKER_H_

#include <leat/batch.h>
#include <pthread.h>
#include <stdbool.h>

#include "batch_setup.h"
#include "batch_ticket.h"

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

#endif /* LEAT_BATCH_BATCH_WORKER_H_ */
