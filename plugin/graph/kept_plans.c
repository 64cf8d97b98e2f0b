/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/kept_plans.h"

#include "graph/graph_plan.h"

#define EVERY_COUNTER ((uint32_t)(UINT64_C(1) << LEATI_GRAPH_COUNTERS) - 1)
/* Plans that were taken away and are not freed yet at most: while there are so many, no other is taken away. */
#define RETIRED_MAX 8

void leati_kept_plans_begin(leati_kept_plans *plans) {
  leati_mutex_init(&plans->lock, LEATI_RANK_FREE_STREAMS);
}

void leati_kept_plans_clear(leati_kept_plans *plans, leat_device *device) {
  for (uint32_t k = 0; k < LEATI_GRAPH_PLANS_MAX; ++k) {
    leati_graph_plan_free(device, atomic_load_explicit(&plans->at[k], memory_order_relaxed));
  }
  while (plans->retired != NULL) {
    leati_graph_plan *const plan = plans->retired;
    plans->retired = plan->next;
    leati_graph_plan_free(device, plan);
  }
  leati_mutex_destroy(&plans->lock);
}

leati_graph_counter *leati_kept_plans_enter(leati_kept_plans *plans, uint32_t number) {
  leati_graph_counter *const counter = &plans->counters[number % LEATI_GRAPH_COUNTERS];
  (void)atomic_fetch_add_explicit(&counter->inside, 1, memory_order_seq_cst);
  return counter;
}

void leati_kept_plans_leave(leati_graph_counter *counter) {
  (void)atomic_fetch_sub_explicit(&counter->inside, 1, memory_order_release);
}

/* Takes from the retired plans those that no thread can be using any more: each counter was without a thread at some
 * moment after the plan was taken away, and whoever came later could not find it. `lock` held. */
static leati_graph_plan *take_unused(leati_kept_plans *plans) {
  uint32_t busy = 0;
  for (uint32_t i = 0; i < LEATI_GRAPH_COUNTERS; ++i) {
    busy |= (uint32_t)(atomic_load_explicit(&plans->counters[i].inside, memory_order_seq_cst) != 0) << i;
  }
  leati_graph_plan *unused = NULL, **link = &plans->retired;
  while (*link != NULL) {
    leati_graph_plan *const plan = *link;
    plan->unseen &= busy;
    if (plan->unseen != 0) {
      link = &plan->next;
      continue;
    }
    *link = plan->next;
    plan->next = unused;
    unused = plan;
    --plans->retired_count;
  }
  return unused;
}

/* A place for a new plan: a free one, or that of a plan that was not launched since it was last looked at.
 * LEATI_GRAPH_PLANS_MAX: there is none. `lock` held. */
static uint32_t find_place(leati_kept_plans *plans) {
  for (uint32_t k = 0; k < LEATI_GRAPH_PLANS_MAX; ++k) {
    if (atomic_load_explicit(&plans->at[k], memory_order_relaxed) == NULL) {
      return k;
    }
  }
  if (plans->retired_count >= RETIRED_MAX) {
    return LEATI_GRAPH_PLANS_MAX;
  }
  /* Two rounds: in the second only what was launched since the first is left alone, and other threads may launch all.
   */
  uint32_t k = plans->hand;
  for (uint32_t looks = 0; looks < 2 * LEATI_GRAPH_PLANS_MAX; ++looks) {
    leati_graph_plan *const plan = atomic_load_explicit(&plans->at[k], memory_order_relaxed);
    if (!atomic_exchange_explicit(&plan->launched, false, memory_order_relaxed)) {
      break;
    }
    k = (k + 1) % LEATI_GRAPH_PLANS_MAX;
  }
  plans->hand = (k + 1) % LEATI_GRAPH_PLANS_MAX;
  return k;
}

void leati_kept_plans_sweep(leati_kept_plans *plans, leat_device *device) {
  leati_mutex_lock(&plans->lock);
  leati_graph_plan *unused = take_unused(plans);
  leati_mutex_unlock(&plans->lock);
  while (unused != NULL) {
    leati_graph_plan *const next = unused->next;
    leati_graph_plan_free(device, unused);
    unused = next;
  }
}

bool leati_kept_plans_keep(leati_kept_plans *plans, leati_graph_plan *plan) {
  leati_mutex_lock(&plans->lock);
  plans->figures = plan->figures;
  const uint32_t place = find_place(plans);
  if (place < LEATI_GRAPH_PLANS_MAX) {
    leati_graph_plan *const before = atomic_exchange_explicit(&plans->at[place], plan, memory_order_seq_cst);
    if (before != NULL) {
      before->unseen = EVERY_COUNTER;
      before->next = plans->retired;
      plans->retired = before;
      ++plans->retired_count;
    }
  }
  leati_mutex_unlock(&plans->lock);
  return place < LEATI_GRAPH_PLANS_MAX;
}
