/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The plans that a graph keeps, for the sets of input shapes that it was launched with.
 *
 * Threads look for one without a lock. There is room for LEATI_GRAPH_PLANS_MAX; a new plan takes the place of one that
 * was not launched lately, which is freed when no thread can be using it any more: a thread that looks counts itself in
 * before, and out when it has recorded.
 */
#ifndef LEAT_PLUGIN_GRAPH_KEPT_PLANS_H_
#define LEAT_PLUGIN_GRAPH_KEPT_PLANS_H_

#include <leat/backend.h>
#include <stdatomic.h>

#include "core/fusions.h"
#include "core/sync.h"

#define LEATI_GRAPH_PLANS_MAX 8
/** Counters of threads, so that those of different streams write to different cache lines. At most 32. */
#define LEATI_GRAPH_COUNTERS 16

struct leati_graph_plan;

/** What a launch takes, as leat_graph_info has it. */
typedef struct leati_graph_figures {
  uint32_t dispatch_count, copy_count, level_count;
  uint64_t arena_bytes, naive_bytes;
  uint64_t own_bytes;                         /**< of constants that the graph has not, or not in this order */
  uint32_t fusion_counts[LEATI_FUSION_COUNT]; /**< how often nodes were rewritten */
} leati_graph_figures;

/** Threads that look or record, and launches. */
typedef struct leati_graph_counter {
  /** Raised before a plan is looked for and lowered (release) when it is done with; sequentially consistent, so that of
   * "I count myself in, I look" and "I take a plan away, I look at the counts" one sees the other. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t inside;
  _Atomic uint64_t launches; /**< relaxed: it only counts */
} leati_graph_counter;

typedef struct leati_kept_plans {
  _Atomic(struct leati_graph_plan *) at[LEATI_GRAPH_PLANS_MAX]; /**< written with `lock`; see leati_graph_counter */
  leati_graph_counter counters[LEATI_GRAPH_COUNTERS];
  leati_mutex lock;                 /**< guards what follows */
  uint32_t hand;                    /**< the place that is looked at next when one is needed */
  struct leati_graph_plan *retired; /**< taken away, but some thread may be using it */
  uint32_t retired_count;
  leati_graph_figures figures; /**< of the plan that was made last */
} leati_kept_plans;

void leati_kept_plans_begin(leati_kept_plans *plans);
/** Frees the plans; nobody uses them. */
void leati_kept_plans_clear(leati_kept_plans *plans, leat_device *device);

/** Counts a thread in, which may then use the plans that it finds; leati_kept_plans_leave() must follow. `number`: any
 * one, which threads at once better not share. */
leati_graph_counter *leati_kept_plans_enter(leati_kept_plans *plans, uint32_t number);
void leati_kept_plans_leave(leati_graph_counter *counter);

/** Frees plans that were taken away and that no thread can be using. For a thread that is not counted in: it would wait
 * for itself. */
void leati_kept_plans_sweep(leati_kept_plans *plans, leat_device *device);
/** Keeps a new plan, and notes its figures; false: there is no room now, and the plan stays the caller's. A caller who
 * goes on to use it is counted in. */
bool leati_kept_plans_keep(leati_kept_plans *plans, struct leati_graph_plan *plan);

#endif /* LEAT_PLUGIN_GRAPH_KEPT_PLANS_H_ */
