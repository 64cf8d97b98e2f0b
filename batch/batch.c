/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and threads are POSIX's, lists are the C library's: a host that loads this library gets no other with it,
 * memory that is out is an error rather than an abort, and sanitizers for threads see everything. */
#include <leat/batch.h>
#include <stdlib.h>
#include <string.h>

#include "batch_clock.h"
#include "batch_crew.h"
#include "batch_queue.h"
#include "batch_worker.h"
#include "common/error.h"
#include "common/fork.h"

/* First line of every function. */
static int32_t enter(leat_error *err) {
  if (!leati_error_usable(err)) {
    return LEAT_ERROR_INVALID_ARGUMENT;
  }
  leati_error_clear(err);
  if (leati_forked()) {
    return leati_error_set(err, LEAT_ERROR_FORKED, 0,
                           "this process is a child of fork(), which the threads of a batch queue do not follow; start "
                           "workers with posix_spawn() or before the first queue");
  }
  return LEAT_OK;
}

static int32_t null_argument(const char *name, leat_error *err) {
  return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "%s is NULL", name);
}

static int32_t check_timeout(int64_t timeout_ns, leat_error *err) {
  return timeout_ns >= -1
             ? LEAT_OK
             : leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                               "timeout_ns is %lld; -1 waits as long as it takes, 0 and more are nanoseconds",
                               (long long)timeout_ns);
}

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

static int32_t busy_inside(const char *what, leat_error *err) {
  return leati_error_set(err, LEAT_ERROR_BUSY, 0,
                         "%s was called from the function that this queue calls, and would wait for it to return",
                         what);
}

static int32_t unavailable(leat_error *err) {
  return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, 0, "the batch queue was shut down");
}

static void close_queue(leat_batch_queue *queue, uint32_t how) {
  pthread_mutex_lock(&queue->lock);
  queue->closed = true;
  leati_batch_queue_fail(queue, how == LEAT_BATCH_FAIL);
  pthread_cond_broadcast(&queue->work);
  pthread_mutex_unlock(&queue->lock);
  pthread_mutex_lock(&queue->admin);
  leati_batch_crew_join(queue, true);
  pthread_mutex_unlock(&queue->admin);
}

int32_t leat_batch_queue_create(const leat_batch_config *config, leat_batch_queue **out, leat_error *err) {
  int32_t status = enter(err);
  if (out != NULL) {
    *out = NULL;
  }
  if (status != LEAT_OK) {
    return status;
  }
  if (out == NULL) {
    return null_argument("out", err);
  }
  const int fork_result = leati_fork_watch();
  leat_batch_queue *queue = calloc(1, sizeof(*queue));
  if (queue == NULL || fork_result != 0) {
    free(queue);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, fork_result, "no memory for a batch queue");
  }
  status = leati_batch_setup_new(config, &queue->setup, err);
  if (status != LEAT_OK) {
    free(queue);
    return status;
  }
  if (!leati_batch_clock_condition(&queue->work)) {
    leati_batch_setup_drop(queue->setup);
    free(queue);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for the lock of a batch queue");
  }
  pthread_mutex_init(&queue->admin, NULL);
  pthread_mutex_init(&queue->lock, NULL);
  queue->references = 1;
  queue->stats.struct_size = sizeof(queue->stats);
  TAILQ_INIT(&queue->waiting);
  TAILQ_INIT(&queue->blocked);
  TAILQ_INIT(&queue->groups);
  pthread_mutex_lock(&queue->lock);
  for (uint32_t i = 0; status == LEAT_OK && i < queue->setup->config.workers; ++i) {
    status = leati_batch_crew_start(queue, i, &queue->setup->config, err);
  }
  pthread_mutex_unlock(&queue->lock);
  if (status != LEAT_OK) {
    close_queue(queue, LEAT_BATCH_FAIL);
    leati_batch_queue_free(queue);
    return status;
  }
  *out = queue;
  return LEAT_OK;
}

/* What a running queue cannot change: who calls whom, and what requests look like that it has admitted. */
static int32_t check_fixed(const leat_batch_config *is, const leat_batch_config *wanted, leat_error *err) {
  const char *differs = is->input_count != wanted->input_count     ? "input_count"
                        : is->output_count != wanted->output_count ? "output_count"
                        : is->run != wanted->run                   ? "run"
                        : is->release != wanted->release           ? "release"
                        : is->user != wanted->user                 ? "user"
                                                                   : NULL;
  return differs == NULL ? LEAT_OK
                         : leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                                           "config: %s differs from that at creation, where it is fixed", differs);
}

/* Called with both locks held. */
static int32_t install_setup(leat_batch_queue *queue, leati_batch_setup *setup, leat_error *err)
    LEATI_HOLDS(queue->admin, queue->lock) {
  for (uint32_t i = 0; i < setup->config.workers; ++i) {
    const leati_batch_worker *there = queue->workers[i];
    if (there == NULL || there->left) {
      /* One that is made here and then not wanted leaves by itself. */
      int32_t status = there != NULL ? LEAT_ERROR_NOT_READY : leati_batch_crew_start(queue, i, &setup->config, err);
      if (status != LEAT_OK) {
        return status;
      }
    }
  }
  leati_batch_setup_drop(queue->setup);
  queue->setup = setup;
  leati_batch_queue_regroup(queue);
  leati_batch_queue_admit_blocked(queue);
  pthread_cond_broadcast(&queue->work);
  return LEAT_OK;
}

int32_t leat_batch_queue_configure(leat_batch_queue *queue, const leat_batch_config *config, leat_error *err) {
  int32_t status = enter(err);
  leati_batch_setup *setup = NULL;
  if (status == LEAT_OK && queue == NULL) {
    status = null_argument("queue", err);
  }
  if (status == LEAT_OK && leati_batch_crew_serves(queue)) {
    status = busy_inside("leat_batch_queue_configure()", err);
  }
  if (status == LEAT_OK) {
    status = leati_batch_setup_new(config, &setup, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  const bool closed = queue->closed; /* known without waiting for a shutdown that may take its time */
  pthread_mutex_unlock(&queue->lock);
  if (closed) {
    leati_batch_setup_drop(setup);
    return unavailable(err);
  }
  pthread_mutex_lock(&queue->admin);
  do {
    leati_batch_crew_join(queue, false);
    pthread_mutex_lock(&queue->lock);
    status = queue->closed ? unavailable(err) : check_fixed(&queue->setup->config, &setup->config, err);
    if (status == LEAT_OK) {
      status = install_setup(queue, setup, err);
    }
    pthread_mutex_unlock(&queue->lock);
    /* A worker too many left since the others were joined: its place is taken in the next round. */
  } while (status == LEAT_ERROR_NOT_READY);
  pthread_mutex_unlock(&queue->admin);
  if (status != LEAT_OK) {
    leati_batch_setup_drop(setup);
  }
  return status;
}

int32_t leat_batch_queue_stats(leat_batch_queue *queue, leat_batch_stats *out, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (queue == NULL || out == NULL) {
    return null_argument(queue != NULL ? "out" : "queue", err);
  }
  if (out->struct_size < sizeof(*out)) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "out: struct_size is %u; %zu, or more, is right",
                           out->struct_size, sizeof(*out));
  }
  const uint32_t size = out->struct_size;
  pthread_mutex_lock(&queue->lock);
  *out = queue->stats;
  out->workers = queue->setup->config.workers;
  out->waiting = queue->waiting_count;
  pthread_mutex_unlock(&queue->lock);
  out->struct_size = size;
  return LEAT_OK;
}

int32_t leat_batch_queue_shutdown(leat_batch_queue *queue, uint32_t how, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (queue == NULL) {
    return null_argument("queue", err);
  }
  if (how != LEAT_BATCH_DRAIN && how != LEAT_BATCH_FAIL) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                           "how is %u; LEAT_BATCH_DRAIN (%u) or LEAT_BATCH_FAIL (%u) is right", how, LEAT_BATCH_DRAIN,
                           LEAT_BATCH_FAIL);
  }
  if (leati_batch_crew_serves(queue)) {
    return busy_inside("shutting the queue down", err);
  }
  close_queue(queue, how);
  return LEAT_OK;
}

int32_t leat_batch_queue_destroy(leat_batch_queue *queue, uint32_t how, leat_error *err) {
  if (queue == NULL) {
    return enter(err);
  }
  int32_t status = leat_batch_queue_shutdown(queue, how, err);
  if (status != LEAT_OK) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  leati_batch_queue_unlock_and_drop(queue);
  return LEAT_OK;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* Checks what can be checked without the queue. */
static int32_t check_inputs(uint32_t count, const DLTensor *const *inputs, leat_error *err) {
  if (count > 0 && inputs == NULL) {
    return null_argument("inputs", err);
  }
  for (uint32_t i = 0; i < count; ++i) {
    int32_t status = leati_batch_tensor_check(inputs[i], "input", i, LEAT_ERROR_INVALID_ARGUMENT, err);
    if (status != LEAT_OK) {
      return status;
    }
    if (inputs[i]->shape[0] != inputs[0]->shape[0]) {
      return leati_error_set(
          err, LEAT_ERROR_INVALID_ARGUMENT, 0,
          "input %u has %lld rows and input 0 has %lld; all inputs of a request have the same number", i,
          (long long)inputs[i]->shape[0], (long long)inputs[0]->shape[0]);
    }
  }
  return LEAT_OK;
}

/* Checks a request against the rules in force. Called with the lock held. */
static int32_t check_request(const leat_batch_queue *queue, const DLTensor *const *inputs, leat_error *err)
    LEATI_HOLDS(queue->lock) {
  const leati_batch_setup *setup = queue->setup;
  const int64_t rows = inputs[0]->shape[0];
  if (rows > setup->config.max_rows) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                           "the request has %lld rows; a batch, and thus a request, has %lld at most (max_rows)",
                           (long long)rows, (long long)setup->config.max_rows);
  }
  for (uint32_t i = 0; i < setup->config.input_count; ++i) {
    const DLTensor *tensor = inputs[i];
    int64_t shape[LEAT_MAX_RANK];
    size_t bytes = 0;
    shape[0] = leati_batch_setup_rows(setup, rows);
    for (int32_t axis = 1; axis < tensor->ndim; ++axis) {
      shape[axis] = leati_batch_setup_padded(setup, i, axis, tensor->shape[axis]);
    }
    if (!leati_batch_tensor_bytes(tensor->dtype, tensor->ndim, shape, setup->max_bytes, &bytes)) {
      char text[200];
      return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                             "input %u takes shape %s in a batch, which is more than the %zu bytes that are allowed "
                             "(max_bytes)",
                             i, leati_batch_shape_text(text, sizeof(text), tensor->ndim, shape), setup->max_bytes);
    }
  }
  return LEAT_OK;
}

/* Waits for room, first come, first served. Called with the lock held; the ticket is admitted, or LEAT_OK is not
 * returned. */
static int32_t wait_for_room(leat_batch_queue *queue, leat_batch_ticket *ticket, int64_t timeout_ns, leat_error *err)
    LEATI_HOLDS(queue->lock) {
  if (timeout_ns == 0) {
    ++queue->stats.refused;
    return leati_error_set(err, LEAT_ERROR_EXHAUSTED, 0,
                           "%u requests wait already, which is the queue's capacity; a timeout would wait for room",
                           queue->waiting_count);
  }
  if (leati_batch_crew_serves(queue)) {
    ++queue->stats.refused;
    return busy_inside("leat_batch_submit() with a timeout", err);
  }
  const int64_t until =
      timeout_ns < 0 ? LEATI_BATCH_FOREVER : leati_batch_clock_add(leati_batch_clock_now(), timeout_ns);
  TAILQ_INSERT_TAIL(&queue->blocked, ticket, link);
  ++queue->stats.blocked;
  while (ticket->state == LEATI_TICKET_BLOCKED) {
    leati_batch_clock_wait(&ticket->moved, &queue->lock, until);
    if (ticket->state == LEATI_TICKET_BLOCKED && until != LEATI_BATCH_FOREVER && leati_batch_clock_now() >= until) {
      TAILQ_REMOVE(&queue->blocked, ticket, link);
      --queue->stats.blocked;
      ++queue->stats.refused;
      return leati_error_set(err, LEAT_ERROR_TIMEOUT, 0,
                             "the queue stayed full, with %u requests that wait, for all of the %lld ns given",
                             queue->waiting_count, (long long)timeout_ns);
    }
  }
  /* Without admission it was the shutdown of the queue that ended the wait. */
  return ticket->admitted != 0 ? LEAT_OK : leati_batch_ticket_report(ticket, err);
}

int32_t leat_batch_submit(leat_batch_queue *queue, uint32_t input_count, const DLTensor *const *inputs,
                          int64_t timeout_ns, leat_batch_ticket **out, leat_error *err) {
  int32_t status = enter(err);
  if (out != NULL) {
    *out = NULL;
  }
  if (status != LEAT_OK) {
    return status;
  }
  if (queue == NULL || out == NULL) {
    return null_argument(queue != NULL ? "out" : "queue", err);
  }
  status = check_timeout(timeout_ns, err);
  if (status != LEAT_OK) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  const uint32_t wanted = queue->setup->config.input_count; /* fixed at creation */
  pthread_mutex_unlock(&queue->lock);
  if (input_count != wanted) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "input_count is %u; the queue was made for %u",
                           input_count, wanted);
  }
  leat_batch_ticket *ticket = NULL;
  status = check_inputs(input_count, inputs, err);
  if (status == LEAT_OK) {
    /* What is refused is not copied first: it may be more than there is memory for. */
    pthread_mutex_lock(&queue->lock);
    status = queue->closed ? unavailable(err) : check_request(queue, inputs, err);
    pthread_mutex_unlock(&queue->lock);
  }
  if (status == LEAT_OK) {
    status = leati_batch_ticket_new(queue, input_count, inputs, &ticket, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  ++queue->references;
  /* The rules may have changed since. */
  status = queue->closed ? unavailable(err) : check_request(queue, inputs, err);
  /* Nobody is blocked while there is room, so nobody is overtaken. */
  if (status == LEAT_OK && leati_batch_queue_has_room(queue)) {
    leati_batch_queue_admit(queue, ticket);
  } else if (status == LEAT_OK) {
    status = wait_for_room(queue, ticket, timeout_ns, err);
  }
  if (status != LEAT_OK) {
    leati_batch_ticket_free(ticket);
    leati_batch_queue_unlock_and_drop(queue);
    return status;
  }
  pthread_mutex_unlock(&queue->lock);
  *out = ticket;
  return LEAT_OK;
}

int32_t leat_batch_wait(leat_batch_ticket *ticket, int64_t timeout_ns, leat_error *err) {
  int32_t status = enter(err);
  if (status == LEAT_OK && ticket == NULL) {
    status = null_argument("ticket", err);
  }
  if (status == LEAT_OK) {
    status = check_timeout(timeout_ns, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  leat_batch_queue *queue = ticket->queue;
  const int64_t until = timeout_ns < 0    ? LEATI_BATCH_FOREVER
                        : timeout_ns == 0 ? 0
                                          : leati_batch_clock_add(leati_batch_clock_now(), timeout_ns);
  pthread_mutex_lock(&queue->lock);
  while (status == LEAT_OK && ticket->state != LEATI_TICKET_DONE) {
    if (until != LEATI_BATCH_FOREVER && leati_batch_clock_now() >= until) {
      status = leati_error_set(err, LEAT_ERROR_TIMEOUT, 0, "the request has not ended; its batch %s",
                               ticket->state == LEATI_TICKET_RUNNING ? "runs" : "has not begun");
    } else if (leati_batch_crew_serves(queue)) {
      status = busy_inside("leat_batch_wait()", err);
    } else {
      leati_batch_clock_wait(&ticket->moved, &queue->lock, until);
    }
  }
  if (status == LEAT_OK && ticket->code != LEAT_OK) {
    status = leati_batch_ticket_report(ticket, err);
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

int32_t leat_batch_cancel(leat_batch_ticket *ticket, leat_error *err) {
  int32_t status = enter(err);
  if (status == LEAT_OK && ticket == NULL) {
    status = null_argument("ticket", err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  leat_batch_queue *queue = ticket->queue;
  pthread_mutex_lock(&queue->lock);
  if (ticket->state == LEATI_TICKET_WAITING) {
    ++queue->stats.cancelled;
    leati_batch_queue_withdraw(queue, ticket, "the request was cancelled");
    leati_batch_queue_admit_blocked(queue);
  } else {
    status = leati_error_set(err, LEAT_ERROR_BUSY, 0, "too late to cancel the request: it %s",
                             ticket->state == LEATI_TICKET_RUNNING ? "runs" : "has ended");
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

int32_t leat_batch_outputs(leat_batch_ticket *ticket, uint32_t output_count, DLTensor *out, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (ticket == NULL || out == NULL) {
    return null_argument(ticket != NULL ? "out" : "ticket", err);
  }
  leat_batch_queue *queue = ticket->queue;
  pthread_mutex_lock(&queue->lock);
  const uint32_t wanted = queue->setup->config.output_count;
  if (output_count != wanted) {
    status = leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "output_count is %u; the queue was made for %u",
                             output_count, wanted);
  } else if (ticket->state != LEATI_TICKET_DONE) {
    status = leati_error_set(err, LEAT_ERROR_NOT_READY, 0, "the request has not ended; leat_batch_wait() waits for it");
  } else if (ticket->code != LEAT_OK) {
    status = leati_batch_ticket_report(ticket, err);
  } else {
    memcpy(out, ticket->out.tensors, output_count * sizeof(*out));
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

int32_t leat_batch_release(leat_batch_ticket *ticket, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK || ticket == NULL) {
    return status;
  }
  leat_batch_queue *queue = ticket->queue;
  pthread_mutex_lock(&queue->lock);
  if (ticket->state == LEATI_TICKET_WAITING) {
    ++queue->stats.cancelled;
    leati_batch_queue_withdraw(queue, ticket, "the request was cancelled");
    leati_batch_queue_admit_blocked(queue);
  }
  if (ticket->state == LEATI_TICKET_RUNNING) {
    ticket->held = false; /* its worker frees it, and takes its reference off */
    pthread_mutex_unlock(&queue->lock);
    return LEAT_OK;
  }
  leati_batch_ticket_free(ticket);
  leati_batch_queue_unlock_and_drop(queue);
  return LEAT_OK;
}

/* Checks whether tensors of the caller take the results just as they are. */
static int32_t check_targets(const leati_batch_pack *results, const DLTensor *const *outputs, leat_error *err) {
  for (uint32_t i = 0; i < results->count; ++i) {
    const DLTensor *is = &results->tensors[i];
    const DLTensor *to = outputs[i];
    const size_t shape_bytes = (size_t)is->ndim * sizeof(*is->shape);
    if (is->dtype.code != to->dtype.code || is->dtype.bits != to->dtype.bits || is->dtype.lanes != to->dtype.lanes ||
        is->ndim != to->ndim || memcmp(is->shape, to->shape, shape_bytes) != 0) {
      char result[200];
      char target[200];
      return leati_error_set(
          err, LEAT_ERROR_INVALID_ARGUMENT, 0,
          "output %u takes shape %s, type code %u of %u bits; the result has shape %s, type code %u of %u bits", i,
          leati_batch_shape_text(target, sizeof(target), to->ndim, to->shape), to->dtype.code, to->dtype.bits,
          leati_batch_shape_text(result, sizeof(result), is->ndim, is->shape), is->dtype.code, is->dtype.bits);
    }
  }
  return LEAT_OK;
}

int32_t leat_batch_run(leat_batch_queue *queue, uint32_t input_count, const DLTensor *const *inputs,
                       uint32_t output_count, const DLTensor *const *outputs, int64_t timeout_ns, leat_error *err) {
  int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (queue == NULL || outputs == NULL) {
    return null_argument(queue != NULL ? "outputs" : "queue", err);
  }
  if (leati_batch_crew_serves(queue)) {
    return busy_inside("leat_batch_run()", err);
  }
  pthread_mutex_lock(&queue->lock);
  const uint32_t wanted = queue->setup->config.output_count; /* fixed at creation */
  pthread_mutex_unlock(&queue->lock);
  if (output_count != wanted) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "output_count is %u; the queue was made for %u",
                           output_count, wanted);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < output_count; ++i) {
    status = leati_batch_tensor_check(outputs[i], "output", i, LEAT_ERROR_INVALID_ARGUMENT, err);
  }
  leat_batch_ticket *ticket = NULL;
  const int64_t until =
      timeout_ns > 0 ? leati_batch_clock_add(leati_batch_clock_now(), timeout_ns) : LEATI_BATCH_FOREVER;
  if (status == LEAT_OK) {
    status = leat_batch_submit(queue, input_count, inputs, timeout_ns, &ticket, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  const int64_t left = until - leati_batch_clock_now();
  status = leat_batch_wait(ticket, until == LEATI_BATCH_FOREVER ? -1 : left > 0 ? left : 0, err);
  if (status == LEAT_OK) {
    status = check_targets(&ticket->out, outputs, err);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < output_count; ++i) {
    leati_batch_copy(outputs[i], 0, &ticket->out.tensors[i], 0, ticket->rows);
  }
  (void)leat_batch_release(ticket, NULL);
  return status;
}
