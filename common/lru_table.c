/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/lru_table.h"

#define EVERY_COUNTER ((uint32_t)(UINT64_C(1) << LEATI_LRU_COUNTERS) - 1)
/* While what went out and was not given back counts for more than this part of the bound, nothing else goes out. */
#define OUT_PART 8

/* The least recently found of the next entries, LEATI_LRU_SAMPLE or as many as there are, of which there is one. */
static leati_lru_entry *find_oldest(leati_lru_table *table) {
  const uint32_t wanted = table->count < LEATI_LRU_SAMPLE ? table->count : LEATI_LRU_SAMPLE;
  leati_lru_entry *oldest = NULL;
  uint64_t when = 0;
  for (uint32_t seen = 0; seen < wanted;) {
    table->hand = (table->hand + 1) & (table->bucket_count - 1);
    leati_lru_entry *at = atomic_load_explicit(&table->buckets[table->hand], memory_order_relaxed);
    for (; at != NULL; at = atomic_load_explicit(&at->next, memory_order_relaxed)) {
      const uint64_t used = atomic_load_explicit(&at->used, memory_order_relaxed);
      if (oldest == NULL || used < when) {
        oldest = at;
        when = used;
      }
      ++seen;
    }
  }
  return oldest;
}

/* Takes an entry out of its bucket. */
static void take_out(leati_lru_table *table, leati_lru_entry *entry) {
  leati_lru_bucket *link = &table->buckets[entry->hash & (table->bucket_count - 1)];
  leati_lru_entry *at = atomic_load_explicit(link, memory_order_relaxed);
  while (at != entry) {
    link = &at->next;
    at = atomic_load_explicit(link, memory_order_relaxed);
  }
  atomic_store_explicit(link, atomic_load_explicit(&entry->next, memory_order_relaxed), memory_order_seq_cst);
  entry->unseen = EVERY_COUNTER;
  entry->next_out = table->out;
  table->out = entry;
  table->bytes_out += entry->bytes;
  table->bytes -= entry->bytes;
  --table->count;
}

static bool has_room(const leati_lru_table *table, uint64_t bytes) {
  return table->count == 0 || (bytes <= table->bytes_max && table->bytes <= table->bytes_max - bytes);
}

bool leati_lru_add(leati_lru_table *table, leati_lru_entry *entry) {
  if (!has_room(table, entry->bytes) && table->bytes_out > table->bytes_max / OUT_PART) {
    return false;
  }
  while (!has_room(table, entry->bytes)) {
    take_out(table, find_oldest(table));
  }
  /* Twice, so that what is found from now on is younger than what was not. */
  const uint64_t now = atomic_load_explicit(&table->clock, memory_order_relaxed) + 1;
  atomic_store_explicit(&table->clock, now + 1, memory_order_relaxed);
  atomic_store_explicit(&entry->used, now, memory_order_relaxed);
  leati_lru_bucket *const head = &table->buckets[entry->hash & (table->bucket_count - 1)];
  atomic_store_explicit(&entry->next, atomic_load_explicit(head, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(head, entry, memory_order_seq_cst);
  table->bytes += entry->bytes;
  ++table->count;
  return true;
}

leati_lru_entry *leati_lru_collect(leati_lru_table *table, const leati_lru_readers *readers) {
  if (table->out == NULL) {
    return NULL;
  }
  uint32_t busy = 0;
  for (uint32_t i = 0; i < LEATI_LRU_COUNTERS; ++i) {
    busy |= (uint32_t)(atomic_load_explicit(&readers->counters[i].inside, memory_order_seq_cst) != 0) << i;
  }
  leati_lru_entry *unused = NULL, **link = &table->out;
  while (*link != NULL) {
    leati_lru_entry *const entry = *link;
    entry->unseen &= busy;
    if (entry->unseen != 0) {
      link = &entry->next_out;
      continue;
    }
    *link = entry->next_out;
    entry->next_out = unused;
    unused = entry;
    table->bytes_out -= entry->bytes;
  }
  return unused;
}

void leati_lru_free_all(const leati_lru_table *table, leati_lru_entry *unused) {
  while (unused != NULL) {
    leati_lru_entry *const next = unused->next_out;
    table->free_entry(table->owner, unused);
    unused = next;
  }
}

void leati_lru_clear(leati_lru_table *table) {
  for (uint32_t b = 0; b < table->bucket_count; ++b) {
    leati_lru_entry *at = atomic_exchange_explicit(&table->buckets[b], NULL, memory_order_relaxed);
    for (; at != NULL; at = atomic_load_explicit(&at->next, memory_order_relaxed)) {
      at->next_out = table->out;
      table->out = at;
    }
  }
  leati_lru_entry *const all = table->out;
  leati_lru_begin(table, table->buckets, table->bucket_count, table->bytes_max, table->free_entry, table->owner);
  leati_lru_free_all(table, all);
}
