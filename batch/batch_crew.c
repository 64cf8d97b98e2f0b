/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_crew.h"

#include <signal.h>
#include <string.h>

#include "batch_clock.h"
#include "batch_form.h"
#include "batch_worker.h"
#include "common/error.h"

/* The queue that this thread works for. */
static _Thread_local const leat_batch_queue *serving;

bool leati_batch_crew_serves(const leat_batch_queue *queue) {
  return serving == queue;
}

static void finish_batch(leat_batch_queue *queue, leati_batch_worker *self) LEATI_HOLDS(queue->lock) {
  --queue->running;
  queue->stats.running -= self->batch_count;
  while (!TAILQ_EMPTY(&self->batch)) {
    leat_batch_ticket *ticket = TAILQ_FIRST(&self->batch);
    TAILQ_REMOVE(&self->batch, ticket, mate);
    ++*(ticket->code == LEAT_OK ? &queue->stats.done : &queue->stats.failed);
    leati_batch_queue_end(queue, ticket);
  }
  leati_batch_setup_drop(self->setup);
}

/* Sleeps until there may be something to do. One worker watches the clock, the others need not. */
static void rest(leat_batch_queue *queue, int64_t until) LEATI_HOLDS(queue->lock) {
  if (until == LEATI_BATCH_FOREVER || queue->timing) {
    leati_batch_clock_wait(&queue->work, &queue->lock, LEATI_BATCH_FOREVER);
    return;
  }
  queue->timing = true;
  leati_batch_clock_wait(&queue->work, &queue->lock, until);
  queue->timing = false;
}

static void *work(void *argument) {
  leati_batch_worker *self = argument;
  leat_batch_queue *queue = self->queue;
  serving = queue;
  pthread_mutex_lock(&queue->lock);
  while (self->index < queue->setup->config.workers && !(queue->closed && queue->waiting_count == 0)) {
    int64_t until = LEATI_BATCH_FOREVER;
    leati_batch_group *ready = leati_batch_form_ready(queue, self, &until);
    if (ready == NULL) {
      rest(queue, until);
      continue;
    }
    leati_batch_form_take(queue, self, ready);
    pthread_mutex_unlock(&queue->lock);
    leati_batch_worker_run(self);
    pthread_mutex_lock(&queue->lock);
    finish_batch(queue, self);
  }
  self->left = true;
  /* What woke this one up, or waited for its batch to end, is for another. */
  pthread_cond_signal(&queue->work);
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

int32_t leati_batch_crew_start(leat_batch_queue *queue, uint32_t index, const leat_batch_config *config,
                               leat_error *err) {
  leati_batch_worker *self = leati_batch_worker_new(queue, index, config);
  if (self == NULL) {
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for worker %u of a batch queue", index);
  }
  /* Signals are the program's, but for those that the thread's own faults raise. */
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  static const int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  for (size_t i = 0; i < sizeof(kFaults) / sizeof(*kFaults); ++i) {
    sigdelset(&all, kFaults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int result = pthread_create(&self->thread, NULL, work, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (result != 0) {
    leati_batch_worker_free(self, config->input_count);
    return leati_error_set(err, LEAT_ERROR_EXHAUSTED, result, "thread %u of %u of a batch queue could not be made: %s",
                           index + 1, config->workers, strerror(result));
  }
  queue->workers[index] = self;
  return LEAT_OK;
}

void leati_batch_crew_join(leat_batch_queue *queue, bool all) {
  int cancel = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  for (uint32_t i = 0; i < LEAT_BATCH_MAX_WORKERS; ++i) {
    leati_batch_worker *self = queue->workers[i];
    pthread_mutex_lock(&queue->lock);
    const bool gone = self != NULL && (all || self->left);
    pthread_mutex_unlock(&queue->lock);
    if (gone) {
      pthread_join(self->thread, NULL);
      pthread_mutex_lock(&queue->lock);
      queue->workers[i] = NULL;
      pthread_mutex_unlock(&queue->lock);
      leati_batch_worker_free(self, queue->setup->config.input_count);
    }
  }
  pthread_setcancelstate(cancel, NULL);
}
