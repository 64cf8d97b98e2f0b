/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_plan_find.h"

const leat_shape *leati_graph_plan_find_shapes(const leat_graph *graph, const leati_view *views) {
  const leati_lru_entry *at = leati_lru_first(&graph->plans.cache.table, leati_graph_plan_hash_shapes(graph, views));
  while (at != NULL && !leati_graph_plan_key_fits_shapes(&((const leati_graph_plan *)at)->key, graph, views)) {
    at = leati_lru_next(at);
  }
  return at != NULL ? ((const leati_graph_plan *)at)->shapes : NULL;
}

leati_graph_plan_use leati_graph_plan_take(const leat_graph *graph, uint32_t number, uint64_t hash,
                                           const leati_view *views) {
  leati_lru_cache *const cache = &leati_graph_plans_of(graph)->cache;
  leati_lru_counter *const counter = leati_lru_enter(&cache->readers, number);
  leati_lru_entry *at = leati_lru_first(&cache->table, hash);
  while (at != NULL &&
         !(at->hash == hash && leati_graph_plan_key_fits(&((const leati_graph_plan *)at)->key, graph, views))) {
    at = leati_lru_next(at);
  }
  if (at != NULL) {
    leati_lru_use(&cache->table, at);
  }
  return (leati_graph_plan_use){.plan = (const leati_graph_plan *)at, .counter = counter};
}
