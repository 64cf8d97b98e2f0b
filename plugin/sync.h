/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Locks and atomics of the plugin. No other file names pthread or stdatomic functions for mutual exclusion, so that
 * tests can swap, count and check them in one place.
 *
 * Locks have ranks: a thread takes them in rising order only. Debug builds (no NDEBUG) check it and abort with both
 * names.
 */
#ifndef LEAT_PLUGIN_SYNC_H_
#define LEAT_PLUGIN_SYNC_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Size that keeps two hot things off one cache line, also where lines are fetched in pairs. */
#define LEATI_CACHE_LINE 128

/** Ranks, lowest first: whoever holds one may take those below it in this list. */
typedef enum leati_rank {
  LEATI_RANK_BACKEND = 1, /**< devices known and open (device.c) */
  LEATI_RANK_EXPORTS,     /**< tensors given out by DLPack against the closing of devices (streams/transfer.c) */
  LEATI_RANK_STREAM,      /**< one stream's open list (streams/stream.c) */
  LEATI_RANK_EVENT,       /**< what one event stands for (streams/event.c) */
  LEATI_RANK_POOL,        /**< free lists of a device: streams, timelines, submissions (streams/pool.c) */
  LEATI_RANK_PIPELINE,    /**< one shard of the pipeline cache (pipeline.c) */
  LEATI_RANK_TIMELINE,    /**< one timeline's submissions in flight (timeline.c) */
  LEATI_RANK_LANE,        /**< one hardware queue (streams/lane.c) */
  LEATI_RANK_MEMORY,      /**< one size class (memory.c) */
  LEATI_RANK_SEGMENTS,    /**< the table of live segments (memory.c) */
  LEATI_RANK_STAMPS,      /**< the stamps of one block (memory.c) */
  LEATI_RANK_STAGING,     /**< free staging chunks (staging.c) */
} leati_rank;

/** A mutex with a rank. */
typedef struct leati_mutex {
  pthread_mutex_t native;
  leati_rank rank;
} leati_mutex;

void leati_mutex_init(leati_mutex *mutex, leati_rank rank);
void leati_mutex_destroy(leati_mutex *mutex);
void leati_mutex_lock(leati_mutex *mutex);
void leati_mutex_unlock(leati_mutex *mutex);
/** Statically initialised mutex. */
#define LEATI_MUTEX_INITIALIZER(rank_) \
  { .native = PTHREAD_MUTEX_INITIALIZER, .rank = (rank_) }

/** Tells the processor that this is a spinning loop. */
static inline void leati_spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/** Monotonic time in nanoseconds. */
uint64_t leati_now_ns(void);

/** Host memory, zeroed; NULL when there is none. All of the plugin's host allocations go through these. */
void *leati_calloc(size_t count, size_t size);
/** As leati_calloc(1, size), on a cache line of its own: for structs with members aligned to LEATI_CACHE_LINE. */
void *leati_calloc_line(size_t size);
void *leati_realloc(void *memory, size_t size);
void leati_free(void *memory);

#endif /* LEAT_PLUGIN_SYNC_H_ */
