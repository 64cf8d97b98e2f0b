/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_plan_cache.h"

#include "graph/graph_plan_key.h"

_Static_assert(LEATI_GRAPH_PLAN_BUCKETS - 1 <= LEATI_GRAPH_SHAPE_BITS, "shapes alone choose a bucket");

void leati_graph_plan_cache_begin(leati_graph_plan_cache *cache, uint64_t bytes_max) {
  cache->table.buckets = cache->buckets;
  cache->table.bucket_count = LEATI_GRAPH_PLAN_BUCKETS;
  cache->table.bytes_max = bytes_max;
  leati_mutex_init(&cache->lock, LEATI_RANK_OBJECTS);
  leati_condition_init(&cache->made);
}

static void free_all(leat_device *device, leati_lru_entry *entry) {
  while (entry != NULL) {
    leati_lru_entry *const next = entry->next_out;
    leati_graph_plan_free(device, (leati_graph_plan *)entry);
    entry = next;
  }
}

void leati_graph_plan_cache_end(leati_graph_plan_cache *cache, leat_device *device) {
  free_all(device, leati_lru_clear(&cache->table));
  leati_condition_destroy(&cache->made);
  leati_mutex_destroy(&cache->lock);
}

static bool is_claimed(const leati_graph_plan_cache *cache, uint64_t hash) {
  const leati_graph_claim *at = cache->claims;
  while (at != NULL && at->hash != hash) {
    at = at->next;
  }
  return at != NULL;
}

bool leati_graph_plan_cache_claim(leati_graph_plan_cache *cache, leati_graph_claim *claim) {
  leati_mutex_lock(&cache->lock);
  const bool other = is_claimed(cache, claim->hash);
  while (is_claimed(cache, claim->hash)) {
    leati_condition_wait(&cache->made, &cache->lock, UINT64_MAX);
  }
  /* Who has waited and finds nothing makes a plan beside others: one that failed or found no room holds nobody up. */
  if (!other) {
    claim->next = cache->claims;
    cache->claims = claim;
  }
  leati_mutex_unlock(&cache->lock);
  return !other;
}

void leati_graph_plan_cache_release(leati_graph_plan_cache *cache, leati_graph_claim *claim) {
  leati_mutex_lock(&cache->lock);
  leati_graph_claim **at = &cache->claims;
  while (*at != claim) {
    at = &(*at)->next;
  }
  *at = claim->next;
  leati_condition_broadcast(&cache->made);
  leati_mutex_unlock(&cache->lock);
}

void leati_graph_plan_cache_collect(leati_graph_plan_cache *cache, leat_device *device) {
  leati_mutex_lock(&cache->lock);
  leati_lru_entry *const unused = leati_lru_collect(&cache->table, &cache->readers);
  leati_mutex_unlock(&cache->lock);
  free_all(device, unused);
}

bool leati_graph_plan_cache_add(leati_graph_plan_cache *cache, leati_graph_plan *plan) {
  leati_mutex_lock(&cache->lock);
  cache->figures = plan->figures;
  const bool added = leati_lru_add(&cache->table, &plan->entry);
  leati_mutex_unlock(&cache->lock);
  return added;
}
