/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_plan_cache.h"

void leati_graph_plan_cache_begin(leati_graph_plan_cache *cache, uint64_t bytes_max, leati_lru_free *free_plan,
                                  leat_device *device) {
  leati_lru_cache_begin(&cache->cache, cache->buckets, LEATI_GRAPH_PLAN_BUCKETS, bytes_max, free_plan, device);
  leati_condition_init(&cache->made);
}

void leati_graph_plan_cache_end(leati_graph_plan_cache *cache) {
  leati_lru_cache_end(&cache->cache);
  leati_condition_destroy(&cache->made);
}

static bool is_claimed(const leati_graph_plan_cache *cache, uint64_t hash) {
  const leati_graph_claim *at = cache->claims;
  while (at != NULL && at->hash != hash) {
    at = at->next;
  }
  return at != NULL;
}

bool leati_graph_plan_cache_claim(leati_graph_plan_cache *cache, leati_graph_claim *claim) {
  leati_mutex_lock(&cache->cache.lock);
  const bool other = is_claimed(cache, claim->hash);
  while (is_claimed(cache, claim->hash)) {
    leati_condition_wait(&cache->made, &cache->cache.lock, UINT64_MAX);
  }
  /* Who has waited and finds nothing makes a plan beside others: one that failed or found no room holds nobody up. */
  if (!other) {
    claim->next = cache->claims;
    cache->claims = claim;
  }
  leati_mutex_unlock(&cache->cache.lock);
  return !other;
}

void leati_graph_plan_cache_release(leati_graph_plan_cache *cache, leati_graph_claim *claim) {
  leati_mutex_lock(&cache->cache.lock);
  leati_graph_claim **at = &cache->claims;
  while (*at != claim) {
    at = &(*at)->next;
  }
  *at = claim->next;
  leati_condition_broadcast(&cache->made);
  leati_mutex_unlock(&cache->cache.lock);
}

void leati_graph_plan_cache_note(leati_graph_plan_cache *cache, const leati_graph_figures *figures) {
  leati_mutex_lock(&cache->cache.lock);
  cache->figures = *figures;
  leati_mutex_unlock(&cache->cache.lock);
}
