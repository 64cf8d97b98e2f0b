/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A hash table with a bound in bytes: threads look entries up without a lock, and what was found least recently goes
 * out for what comes.
 *
 * A thread that looks counts itself in before, and out when it is done with what it found. An entry that went out is
 * freed once each counter was seen at zero after that: whoever may hold it was counted in before, and whoever comes
 * later cannot find it. An entry never changes while it is in the table, but for what is said below.
 *
 * The owner serialises everything but looking, by a lock of its own.
 */
#ifndef LEAT_COMMON_LRU_TABLE_H_
#define LEAT_COMMON_LRU_TABLE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/line.h"

/** Counters of threads, so that those that look at once write to different cache lines. At most 32. */
#define LEATI_LRU_COUNTERS 16
/** Entries that are compared when one has to go out: the least recently found of them does. A table with no more is
 * exact; one with more costs no more, and keeps a part of a cycle that is longer than itself. */
#define LEATI_LRU_SAMPLE 16

/** Begins an entry. */
typedef struct leati_lru_entry {
  uint64_t hash;  /**< set by the owner: the low bits choose the bucket */
  uint64_t bytes; /**< set by the owner: what it counts for */
  /** leati_lru_table::clock when it was found last. Relaxed: it guides a guess. */
  _Atomic uint64_t used;
  /** Of the same bucket. It stays when the entry goes out, for those who stand there. */
  _Atomic(struct leati_lru_entry *) next;
  struct leati_lru_entry *next_out; /**< of those that went out */
  uint32_t unseen;                  /**< counters that have not been seen at zero since */
} leati_lru_entry;

typedef struct leati_lru_counter {
  /** Threads that look. Sequentially consistent, so that of "I count myself in, I look" and "I take an entry out, I
   * look at the counters" one sees the other; lowered by release. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t inside;
  _Atomic uint64_t uses; /**< for the owner to count; relaxed */
} leati_lru_counter;
LEATI_OWN_LINE(leati_lru_counter);

/** The threads that look into one table or several. */
typedef struct leati_lru_readers {
  leati_lru_counter counters[LEATI_LRU_COUNTERS];
} leati_lru_readers;

/** The first entry of a bucket. */
typedef _Atomic(leati_lru_entry *) leati_lru_bucket;

/** Frees an entry that no table has; `owner` is that of the table that had it. */
typedef void leati_lru_free(void *owner, leati_lru_entry *entry);

typedef struct leati_lru_table {
  leati_lru_bucket *buckets;  /**< the owner's */
  uint32_t bucket_count;      /**< a power of two */
  uint64_t bytes_max;         /**< that entries may count for together, unless it is one alone */
  leati_lru_free *free_entry; /**< with this: */
  void *owner;
  _Atomic uint64_t clock; /**< rises when an entry is added; relaxed */
  uint64_t bytes;         /**< of the entries; this and what follows is guarded by the owner's lock */
  uint32_t count, hand;   /**< entries; the bucket where the next that goes out is looked for */
  uint64_t bytes_out;     /**< of those that went out and were not given back */
  leati_lru_entry *out;
} leati_lru_table;

/** Begins an empty table: buckets are all NULL. */
static inline void leati_lru_begin(leati_lru_table *table, leati_lru_bucket *buckets, uint32_t bucket_count,
                                   uint64_t bytes_max, leati_lru_free *free_entry, void *owner) {
  *table = (leati_lru_table){.buckets = buckets,
                             .bucket_count = bucket_count,
                             .bytes_max = bytes_max,
                             .free_entry = free_entry,
                             .owner = owner};
}

/** Counts a thread in; leati_lru_leave() must follow.
 * @threads any
 * @param number any one, which threads at once better not share */
static inline leati_lru_counter *leati_lru_enter(leati_lru_readers *readers, uint32_t number) {
  leati_lru_counter *const counter = &readers->counters[number % LEATI_LRU_COUNTERS];
  (void)atomic_fetch_add_explicit(&counter->inside, 1, memory_order_seq_cst);
  return counter;
}

static inline void leati_lru_leave(leati_lru_counter *counter) {
  (void)atomic_fetch_sub_explicit(&counter->inside, 1, memory_order_release);
}

/** The first entry of the bucket of a hash, or NULL; the caller compares hash and key.
 * @threads those counted in, or the holder of the owner's lock */
static inline leati_lru_entry *leati_lru_first(const leati_lru_table *table, uint64_t hash) {
  return atomic_load_explicit(&table->buckets[hash & (table->bucket_count - 1)], memory_order_seq_cst);
}

/** The entry behind another one of its bucket, or NULL. */
static inline leati_lru_entry *leati_lru_next(const leati_lru_entry *entry) {
  return atomic_load_explicit(&entry->next, memory_order_seq_cst);
}

/** Notes that an entry was found and is what was looked for.
 * @threads as leati_lru_first() */
static inline void leati_lru_use(const leati_lru_table *table, leati_lru_entry *entry) {
  const uint64_t now = atomic_load_explicit(&table->clock, memory_order_relaxed);
  /* Looking first leaves the cache line to the other threads that use it. */
  if (atomic_load_explicit(&entry->used, memory_order_relaxed) != now) {
    atomic_store_explicit(&entry->used, now, memory_order_relaxed);
  }
}

/** Adds an entry, for which others go out.
 * @threads with the owner's lock
 * @return false: too much has gone out that threads may still hold; the entry stays the caller's */
bool leati_lru_add(leati_lru_table *table, leati_lru_entry *entry);

/** Takes what went out and no thread can hold any more from the table.
 * @threads with the owner's lock; not counted in, which would be waiting for oneself
 * @return what leati_lru_free_all() is to free */
leati_lru_entry *leati_lru_collect(leati_lru_table *table, const leati_lru_readers *readers);

/** Frees what leati_lru_collect() took from the table. NULL: nothing.
 * @threads any, best without the owner's lock */
void leati_lru_free_all(const leati_lru_table *table, leati_lru_entry *unused);

/** Empties the table, which nobody uses, and frees what it had.
 * @threads owner */
void leati_lru_clear(leati_lru_table *table);

#endif /* LEAT_COMMON_LRU_TABLE_H_ */
