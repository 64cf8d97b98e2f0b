/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/lru_cache.h"

void leati_lru_cache_begin(leati_lru_cache *cache, leati_lru_bucket *buckets, uint32_t bucket_count, uint64_t bytes_max,
                           leati_lru_free *free_entry, void *owner) {
  leati_lru_begin(&cache->table, buckets, bucket_count, bytes_max, free_entry, owner);
  leati_mutex_init(&cache->lock, LEATI_RANK_OBJECTS);
}

void leati_lru_cache_end(leati_lru_cache *cache) {
  leati_lru_clear(&cache->table);
  leati_mutex_destroy(&cache->lock);
}

void leati_lru_cache_collect(leati_lru_cache *cache) {
  leati_mutex_lock(&cache->lock);
  leati_lru_entry *const unused = leati_lru_collect(&cache->table, &cache->readers);
  leati_mutex_unlock(&cache->lock);
  leati_lru_free_all(&cache->table, unused);
}

bool leati_lru_cache_add(leati_lru_cache *cache, leati_lru_entry *entry) {
  leati_mutex_lock(&cache->lock);
  const bool added = leati_lru_add(&cache->table, entry);
  leati_mutex_unlock(&cache->lock);
  return added;
}
