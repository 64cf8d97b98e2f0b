/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The plans of a graph, for the sets of input shapes that it was launched with (common/lru_table.h). Threads that come
 * together for the same tensors make one plan.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_PLAN_CACHE_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_PLAN_CACHE_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/fusions.h"
#include "core/lru_cache.h"
#include "core/sync.h"

/** Buckets of the table. */
#define LEATI_GRAPH_PLAN_BUCKETS 1024

/** What a launch takes, as leat_graph_info has it. */
typedef struct leati_graph_figures {
  uint32_t dispatch_count, copy_count, level_count;
  uint64_t arena_bytes, naive_bytes;
  uint64_t own_bytes;                         /**< of constants that the graph has in another order */
  uint32_t fusion_counts[LEATI_FUSION_COUNT]; /**< how often nodes were rewritten */
} leati_graph_figures;

/** A plan that a thread makes, on that thread's stack. */
typedef struct leati_graph_claim {
  uint64_t hash;
  struct leati_graph_claim *next;
} leati_graph_claim;

typedef struct leati_graph_plan_cache {
  leati_lru_cache cache; /**< of leati_graph_plan, in whose counters `uses` are launches; its lock guards: */
  leati_graph_claim *claims;
  leati_condition made;        /**< one of `claims` has left */
  leati_graph_figures figures; /**< of the plan that was made last */
  _Atomic uint64_t compiled;   /**< pipelines that launches have compiled. Relaxed: it is only told */
  leati_lru_bucket buckets[LEATI_GRAPH_PLAN_BUCKETS];
} leati_graph_plan_cache;

/** `cache` is all zero. `bytes_max`: what its plans may count for; `free_plan` frees one of `device`. */
void leati_graph_plan_cache_begin(leati_graph_plan_cache *cache, uint64_t bytes_max, leati_lru_free *free_plan,
                                  leat_device *device);
/** Frees the plans; nobody uses them. */
void leati_graph_plan_cache_end(leati_graph_plan_cache *cache);

/** Enters that this thread makes the plan for a hash, or waits while another one does so; then the caller looks whether
 * it is there. Hold no lock and be not counted in.
 * @return true: leati_graph_plan_cache_release() must follow */
bool leati_graph_plan_cache_claim(leati_graph_plan_cache *cache, leati_graph_claim *claim);
/** Lets those go on who wait. */
void leati_graph_plan_cache_release(leati_graph_plan_cache *cache, leati_graph_claim *claim);

/** Notes the figures of a plan that was made, for leat_graph_api::info. */
void leati_graph_plan_cache_note(leati_graph_plan_cache *cache, const leati_graph_figures *figures);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_PLAN_CACHE_H_ */
