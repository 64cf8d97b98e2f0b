/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A table that forgets (common/lru_table.h), with its readers and the lock of those who add to it.
 */
#ifndef LEAT_PLUGIN_CORE_LRU_CACHE_H_
#define LEAT_PLUGIN_CORE_LRU_CACHE_H_

#include "common/lru_table.h"
#include "core/sync.h"

typedef struct leati_lru_cache {
  leati_lru_readers readers;
  leati_lru_table table;
  leati_mutex lock; /**< guards adding and collecting */
} leati_lru_cache;

/** `cache` is all zero, and stays where it is. What follows is leati_lru_begin()'s. */
void leati_lru_cache_begin(leati_lru_cache *cache, leati_lru_bucket *buckets, uint32_t bucket_count, uint64_t bytes_max,
                           leati_lru_free *free_entry, void *owner);
/** Frees the entries; nobody uses them. */
void leati_lru_cache_end(leati_lru_cache *cache);

/** Frees what went out and no thread can be using. For a thread that is not counted in: it would wait for itself. */
void leati_lru_cache_collect(leati_lru_cache *cache);
/** Adds an entry; false: there is no room now, and it stays the caller's. A caller who goes on to use it is counted
 * in. */
bool leati_lru_cache_add(leati_lru_cache *cache, leati_lru_entry *entry);

#endif /* LEAT_PLUGIN_CORE_LRU_CACHE_H_ */
