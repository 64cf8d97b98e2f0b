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

#include "common/lru_table.h"
#include "core/fusions.h"
#include "core/sync.h"

/** Buckets of the table. */
#define LEATI_GRAPH_PLAN_BUCKETS 1024

struct leati_graph_plan;

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
  leati_lru_readers readers; /**< `uses`: launches */
  leati_lru_table table;     /**< of leati_graph_plan */
  leati_mutex lock;          /**< guards adding, and what follows */
  leati_graph_claim *claims;
  leati_condition made;        /**< one of `claims` has left */
  leati_graph_figures figures; /**< of the plan that was made last */
  _Atomic uint64_t compiled;   /**< pipelines that launches have compiled. Relaxed: it is only told */
  leati_lru_bucket buckets[LEATI_GRAPH_PLAN_BUCKETS];
} leati_graph_plan_cache;

/** `cache` is all zero. `bytes_max`: what its plans may count for. */
void leati_graph_plan_cache_begin(leati_graph_plan_cache *cache, uint64_t bytes_max);
/** Frees the plans; nobody uses them. */
void leati_graph_plan_cache_end(leati_graph_plan_cache *cache, leat_device *device);

/** Enters that this thread makes the plan for a hash, or waits while another one does so; then the caller looks whether
 * it is there. Hold no lock and be not counted in.
 * @return true: leati_graph_plan_cache_release() must follow */
bool leati_graph_plan_cache_claim(leati_graph_plan_cache *cache, leati_graph_claim *claim);
/** Lets those go on who wait. */
void leati_graph_plan_cache_release(leati_graph_plan_cache *cache, leati_graph_claim *claim);

/** Frees plans that went out and that no thread can be using. For a thread that is not counted in: it would wait for
 * itself. */
void leati_graph_plan_cache_collect(leati_graph_plan_cache *cache, leat_device *device);
/** Adds a new plan, and notes its figures; false: there is no room now, and the plan stays the caller's. A caller who
 * goes on to use it is counted in. */
bool leati_graph_plan_cache_add(leati_graph_plan_cache *cache, struct leati_graph_plan *plan);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_PLAN_CACHE_H_ */
