/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_queue.h"

#include <stdlib.h>

#include "batch_clock.h"

void leati_batch_queue_end(leat_batch_queue *queue, leat_batch_ticket *ticket) {
  ticket->state = LEATI_TICKET_DONE;
  leati_batch_pack_clear(&ticket->in);
  if (ticket->held) {
    pthread_cond_broadcast(&ticket->moved);
  } else {
    --queue->references; /* the handle still counts as one, so it does not become 0 */
    leati_batch_ticket_free(ticket);
  }
}

void leati_batch_queue_free(leat_batch_queue *queue) {
  pthread_cond_destroy(&queue->work);
  pthread_mutex_destroy(&queue->lock);
  pthread_mutex_destroy(&queue->admin);
  leati_batch_setup_drop(queue->setup);
  free(queue);
}

void leati_batch_queue_unlock_and_drop(leat_batch_queue *queue) {
  const bool last = --queue->references == 0;
  pthread_mutex_unlock(&queue->lock);
  if (last) {
    leati_batch_queue_free(queue);
  }
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

bool leati_batch_queue_is_strict(const leat_batch_queue *queue) {
  return queue->setup->config.workers == 1;
}

static leati_batch_group *find_group(leat_batch_queue *queue, const leat_batch_ticket *ticket)
    LEATI_HOLDS(queue->lock) {
  leati_batch_group *found;
  TAILQ_FOREACH_REVERSE(found, &queue->groups, leati_batch_group_list, link) {
    const bool alike =
        leati_batch_setup_alike(queue->setup, TAILQ_FIRST(&found->tickets)->in.tensors, ticket->in.tensors);
    if (alike || leati_batch_queue_is_strict(queue)) {
      return alike ? found : NULL;
    }
  }
  return NULL;
}

/* Puts an admitted request into a group. TRUE if that founded one. */
static bool join_group(leat_batch_queue *queue, leat_batch_ticket *ticket) LEATI_HOLDS(queue->lock) {
  leati_batch_group *mine = find_group(queue, ticket);
  const bool founds = mine == NULL;
  if (founds) {
    mine = ticket->spare;
    ticket->spare = NULL;
    *mine = (leati_batch_group){0};
    TAILQ_INIT(&mine->tickets);
    TAILQ_INSERT_TAIL(&queue->groups, mine, link);
  }
  TAILQ_INSERT_TAIL(&mine->tickets, ticket, mate);
  ++mine->count;
  mine->load += leati_batch_ticket_load(ticket);
  ticket->group = mine;
  return founds;
}

void leati_batch_queue_leave(leat_batch_queue *queue, leat_batch_ticket *ticket) {
  leati_batch_group *mine = ticket->group;
  TAILQ_REMOVE(&mine->tickets, ticket, mate);
  --mine->count;
  mine->load -= leati_batch_ticket_load(ticket);
  ticket->group = NULL;
  if (mine->count == 0) {
    TAILQ_REMOVE(&queue->groups, mine, link);
    free(mine);
  }
  TAILQ_REMOVE(&queue->waiting, ticket, link);
  --queue->waiting_count;
}

void leati_batch_queue_regroup(leat_batch_queue *queue) {
  leati_batch_group_list old;
  TAILQ_INIT(&old);
  TAILQ_CONCAT(&old, &queue->groups, link);
  leat_batch_ticket *ticket;
  TAILQ_FOREACH(ticket, &queue->waiting, link) {
    if (ticket->spare == NULL) {
      /* This request founded a group, and as it still waits, that one still is: so there are enough. */
      ticket->spare = TAILQ_FIRST(&old);
      TAILQ_REMOVE(&old, ticket->spare, link);
    }
    (void)join_group(queue, ticket);
  }
  while (!TAILQ_EMPTY(&old)) {
    leati_batch_group *unused = TAILQ_FIRST(&old);
    TAILQ_REMOVE(&old, unused, link);
    free(unused);
  }
}

/* ---- Admission --------------------------------------------------------------------------------------------------- */

bool leati_batch_queue_has_room(const leat_batch_queue *queue) {
  return queue->waiting_count < queue->setup->config.capacity;
}

void leati_batch_queue_admit(leat_batch_queue *queue, leat_batch_ticket *ticket) {
  const leat_batch_config *config = &queue->setup->config;
  ticket->state = LEATI_TICKET_WAITING;
  ticket->admitted = leati_batch_clock_now();
  TAILQ_INSERT_TAIL(&queue->waiting, ticket, link);
  ++queue->waiting_count;
  const bool founds = join_group(queue, ticket);
  if (queue->waiting_count == 1 || !leati_batch_queue_has_room(queue) || ticket->group->load >= config->max_rows ||
      config->max_bytes > 0 || (founds && leati_batch_queue_is_strict(queue))) {
    /* Workers that stay asleep have looked at everything older. */
    pthread_cond_signal(&queue->work);
  }
}

void leati_batch_queue_admit_blocked(leat_batch_queue *queue) {
  while (leati_batch_queue_has_room(queue) && !TAILQ_EMPTY(&queue->blocked)) {
    leat_batch_ticket *ticket = TAILQ_FIRST(&queue->blocked);
    TAILQ_REMOVE(&queue->blocked, ticket, link);
    --queue->stats.blocked;
    leati_batch_queue_admit(queue, ticket);
    pthread_cond_signal(&ticket->moved);
  }
}

void leati_batch_queue_withdraw(leat_batch_queue *queue, leat_batch_ticket *ticket, const char *why) {
  leati_batch_queue_leave(queue, ticket);
  leati_batch_ticket_fail(ticket, LEAT_ERROR_UNAVAILABLE, 0, why);
  leati_batch_queue_end(queue, ticket);
}

void leati_batch_queue_fail(leat_batch_queue *queue, bool all) {
  static const char why[] = "the batch queue was shut down before the request ran";
  while (!TAILQ_EMPTY(&queue->blocked)) {
    leat_batch_ticket *ticket = TAILQ_FIRST(&queue->blocked);
    TAILQ_REMOVE(&queue->blocked, ticket, link);
    --queue->stats.blocked;
    ++queue->stats.failed;
    leati_batch_ticket_fail(ticket, LEAT_ERROR_UNAVAILABLE, 0, why);
    leati_batch_queue_end(queue, ticket);
  }
  while (all && !TAILQ_EMPTY(&queue->waiting)) {
    ++queue->stats.failed;
    leati_batch_queue_withdraw(queue, TAILQ_FIRST(&queue->waiting), why);
  }
}
