/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_form.h"

#include "batch_clock.h"

/* The bytes of an input of the batch in `worker`'s hand if one more request came in; FALSE if they are too many. */
static bool fits(const leat_batch_queue *queue, const leati_batch_worker *self, uint32_t input, const DLTensor *tensor,
                 int64_t rows) {
  int64_t shape[LEAT_MAX_RANK];
  size_t bytes = 0;
  shape[0] = rows;
  for (int32_t axis = 1; axis < tensor->ndim; ++axis) {
    const int64_t mine = leati_batch_setup_padded(queue->setup, input, axis, tensor->shape[axis]);
    const int64_t others = self->batch_count > 0 ? self->inputs[input].shape[axis] : 0;
    shape[axis] = mine > others ? mine : others;
  }
  return leati_batch_tensor_bytes(tensor->dtype, tensor->ndim, shape, queue->setup->max_bytes, &bytes);
}

/* Plans the batch that a group gives now: sets `batch_count`, `batch_rows` and the shapes in `self`, and moves nothing.
 * The first request is in it in any case. */
static void plan(const leat_batch_queue *queue, leati_batch_worker *self, const leati_batch_group *from) {
  const leati_batch_setup *setup = queue->setup;
  int64_t load = 0;
  self->batch_count = 0;
  self->batch_rows = 0;
  const leat_batch_ticket *ticket;
  TAILQ_FOREACH(ticket, &from->tickets, mate) {
    const int64_t rows = leati_batch_setup_rows(setup, self->batch_rows + ticket->rows);
    bool joins = self->batch_count == 0 || leati_batch_ticket_load(ticket) <= setup->config.max_rows - load;
    for (uint32_t i = 0; joins && self->batch_count > 0 && i < setup->config.input_count; ++i) {
      joins = fits(queue, self, i, &ticket->in.tensors[i], rows);
    }
    if (!joins) {
      return;
    }
    for (uint32_t i = 0; i < setup->config.input_count; ++i) {
      const DLTensor *tensor = &ticket->in.tensors[i];
      DLTensor *whole = &self->inputs[i];
      for (int32_t axis = 1; axis < tensor->ndim; ++axis) {
        const int64_t mine = leati_batch_setup_padded(setup, i, axis, tensor->shape[axis]);
        if (self->batch_count == 0 || mine > whole->shape[axis]) {
          whole->shape[axis] = mine;
        }
      }
      whole->ndim = tensor->ndim;
      whole->dtype = tensor->dtype;
      whole->shape[0] = rows;
    }
    load += leati_batch_ticket_load(ticket);
    self->batch_rows += ticket->rows;
    ++self->batch_count;
  }
}

/* Whether a group gives a batch that cannot grow. */
static bool is_full(const leat_batch_queue *queue, leati_batch_worker *self, const leati_batch_group *candidate)
    LEATI_HOLDS(queue->lock) {
  const leat_batch_config *config = &queue->setup->config;
  if (candidate->load >= config->max_rows) {
    return true;
  }
  if (leati_batch_queue_is_strict(queue) && TAILQ_NEXT(candidate, link)) {
    return true;
  }
  if (config->max_bytes == 0) {
    return false;
  }
  plan(queue, self, candidate);
  return self->batch_count < candidate->count;
}

leati_batch_group *leati_batch_form_ready(const leat_batch_queue *queue, leati_batch_worker *self, int64_t *out_until) {
  const leat_batch_ticket *oldest = TAILQ_FIRST(&queue->waiting);
  *out_until = LEATI_BATCH_FOREVER;
  if (oldest == NULL || queue->running >= queue->setup->config.workers) {
    return NULL;
  }
  *out_until = leati_batch_clock_add(oldest->admitted, queue->setup->config.max_delay_ns);
  if (queue->closed || !leati_batch_queue_has_room(queue) ||
      (*out_until != LEATI_BATCH_FOREVER && *out_until <= leati_batch_clock_now())) {
    return oldest->group;
  }
  leati_batch_group *candidate;
  TAILQ_FOREACH(candidate, &queue->groups, link) {
    if (is_full(queue, self, candidate)) {
      return candidate;
    }
    if (leati_batch_queue_is_strict(queue)) {
      break;
    }
  }
  return NULL;
}

void leati_batch_form_take(leat_batch_queue *queue, leati_batch_worker *self, leati_batch_group *from) {
  plan(queue, self, from);
  TAILQ_INIT(&self->batch);
  leat_batch_ticket *ticket = TAILQ_FIRST(&from->tickets);
  for (uint32_t i = 0; i < self->batch_count; ++i) {
    /* The group goes with its last request, so what comes next is asked first. */
    leat_batch_ticket *next = TAILQ_NEXT(ticket, mate);
    leati_batch_queue_leave(queue, ticket);
    ticket->state = LEATI_TICKET_RUNNING;
    TAILQ_INSERT_TAIL(&self->batch, ticket, mate);
    ticket = next;
  }
  self->setup = queue->setup;
  ++self->setup->references;
  ++queue->running;
  leat_batch_stats *stats = &queue->stats;
  const uint32_t size_class = 31u - (uint32_t)__builtin_clz(self->batch_count);
  stats->running += self->batch_count;
  ++stats->batches;
  stats->batch_rows += (uint64_t)self->batch_rows;
  stats->largest_batch = stats->largest_batch > self->batch_count ? stats->largest_batch : self->batch_count;
  ++stats->sizes[size_class < LEAT_BATCH_SIZE_CLASSES ? size_class : LEAT_BATCH_SIZE_CLASSES - 1];
  leati_batch_queue_admit_blocked(queue);
  /* What is left needs another worker, to run it or to watch the clock. */
  if (queue->waiting_count > 0) {
    pthread_cond_signal(&queue->work);
  }
}
