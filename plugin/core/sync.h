/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Locks, conditions, roles and host memory of the plugin: every lock and every host allocation goes through here, so
 * that tests can swap, count and fail them in one place. (Things that are done once in a process and thread-specific
 * data are pthread's own, and lock-free structures use stdatomic where they stand.)
 *
 * Locks have ranks: a thread takes them in rising order only, and holds none while it waits. Debug builds (no NDEBUG)
 * check both and abort with the numbers.
 */
#ifndef LEAT_PLUGIN_CORE_SYNC_H_
#define LEAT_PLUGIN_CORE_SYNC_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/guarded.h"
#include "common/line.h"

/** Ranks, lowest first: whoever holds one may take those below it in this list. */
typedef enum leati_rank {
  LEATI_RANK_BACKEND = 1,    /**< devices known and open (backend.c) */
  LEATI_RANK_EXPORTS,        /**< tensors given out by DLPack against closing devices (streams/dlpack_exchange.c) */
  LEATI_RANK_THREADS,        /**< pools to which ending threads release streams (streams/stream_pool.c) */
  LEATI_RANK_STREAM,         /**< one stream's open list (streams/stream.c) */
  LEATI_RANK_EVENT,          /**< what one event stands for (streams/event.c) */
  LEATI_RANK_OBJECTS,        /**< lists of objects, none of which is looked at under another: of a device its free
                                  streams and events (streams/free_streams.c), its operators (ops/core/op_table.c),
                                  its graphs (graph/graph_table.c), its constants (graph/shared_constants.c); of a
                                  graph its plans and programs (graph/graph_plan_cache.c, graph/program_cache.c), both
                                  by core/lru_cache.c */
  LEATI_RANK_POOL,           /**< threads that wait for a stream of the pool (streams/stream_pool.c) */
  LEATI_RANK_PIPELINE,       /**< one shard of the pipeline cache (device/pipeline.c) */
  LEATI_RANK_TRIM,           /**< releasing memory to the driver (memory/memory.c) */
  LEATI_RANK_MEMORY,         /**< one size class (memory/size_class.c) */
  LEATI_RANK_SEGMENTS,       /**< the table of live segments (memory/segment_table.c) */
  LEATI_RANK_STAMPS,         /**< the stamps of one block (memory/block.c) */
  LEATI_RANK_HAZARDS,        /**< under guard, writes in flight and what streams come after (record/hazards.c) */
  LEATI_RANK_DELIVERIES,     /**< one timeline's downloads on their way to the host (timeline/timeline.c) */
  LEATI_RANK_TIMELINE,       /**< one timeline's submissions in flight (timeline/timeline.c) */
  LEATI_RANK_EXTERNAL,       /**< semaphores of other APIs (timeline/external_semaphore.c) */
  LEATI_RANK_FREE_TIMELINES, /**< timelines that no stream has (timeline/timeline.c) */
  LEATI_RANK_SLABS,          /**< making staging chunks of a kind (device/chunk.c) */
  LEATI_RANK_STAGING,        /**< free staging chunks (device/chunk.c) */
  LEATI_RANK_TIMESTAMPS,     /**< free timestamp queries (submit/timestamp.c) */
  LEATI_RANK_FIRST,          /**< the first submission to each queue (submit/commit_group.c) */
  LEATI_RANK_FINDING,        /**< what guarding found and nobody was told yet (device/finding.c) */
  LEATI_RANK_PROFILER,       /**< records that nobody has read yet (record/profiler.c) */
  LEATI_RANK_TRACE,          /**< the trace of LEAT_PROFILE (record/trace.c) */
} leati_rank;

/** A mutex with a rank. */
typedef struct LEATI_LOCK leati_mutex {
  pthread_mutex_t native;
  leati_rank rank;
} leati_mutex;

void leati_mutex_init(leati_mutex *mutex, leati_rank rank);
void leati_mutex_destroy(leati_mutex *mutex);
void leati_mutex_lock(leati_mutex *mutex) LEATI_TAKES(*mutex);
void leati_mutex_unlock(leati_mutex *mutex) LEATI_GIVES(*mutex);
/** Takes the mutex if nobody holds it. In any order of ranks: it never waits. */
bool leati_mutex_try(leati_mutex *mutex) LEATI_TRIES(*mutex);
/** Statically initialised mutex. */
#define LEATI_MUTEX_INITIALIZER(rank_) \
  { .native = PTHREAD_MUTEX_INITIALIZER, .rank = (rank_) }

#ifndef NDEBUG
/** To be called by whoever is about to wait, for the device, for another thread or for a time: aborts if this thread
 * holds a lock. BACKEND alone may be held, by the last close of a device: work never takes it. */
void leati_assert_unlocked(void);
#else
static inline void leati_assert_unlocked(void) {
}
#endif

/** What a thread waits for while it has given its mutex back. */
typedef struct leati_condition {
  pthread_cond_t native;
} leati_condition;

void leati_condition_init(leati_condition *condition);
void leati_condition_destroy(leati_condition *condition);
/** Gives the mutex back, which must be the only one held (beside BACKEND), waits to be signalled or for `deadline_ns`
 * of leati_now_ns() to come (UINT64_MAX: never), and takes it again. */
void leati_condition_wait(leati_condition *condition, leati_mutex *mutex, uint64_t deadline_ns) LEATI_HOLDS(*mutex);
void leati_condition_signal(leati_condition *condition);
void leati_condition_broadcast(leati_condition *condition);

/** A role that one thread has at a time. A thread that does not get it leaves the work to the thread that has it, or
 * waits for it. Sequentially consistent, so that of "I add work, I try the role" and "I give up the role, I look for
 * work" one sees the other.
 *
 * The word is the kernel's priority-inheriting futex (FUTEX_LOCK_PI): a thread that waits lends its real-time priority
 * to the one that has the role, and gets it the moment that one gives it up. */
typedef struct leati_role {
  _Atomic uint32_t holder; /**< 0, or the holder's thread id; with FUTEX_WAITERS the kernel passes the role on */
} leati_role;

/** The kernel's number of this thread. */
uint32_t leati_thread_id(void);

static inline bool leati_role_try(leati_role *role) {
  /* Looking first leaves the cache line to the thread that has the role. */
  uint32_t nobody = atomic_load_explicit(&role->holder, memory_order_seq_cst);
  return nobody == 0 && atomic_compare_exchange_strong_explicit(&role->holder, &nobody, leati_thread_id(),
                                                                memory_order_seq_cst, memory_order_seq_cst);
}

/** Waits for the role for about `timeout_ns` at most; true: the caller has it. Hold no lock, and not the role. */
bool leati_role_wait(leati_role *role, uint64_t timeout_ns);

/** Hands the role to a thread that waits for it. */
void leati_role_pass_on(leati_role *role);

/** Gives up the role, which the caller has. */
static inline void leati_role_leave(leati_role *role) {
  uint32_t own = leati_thread_id();
  if (!atomic_compare_exchange_strong_explicit(&role->holder, &own, 0, memory_order_seq_cst, memory_order_seq_cst)) {
    leati_role_pass_on(role);
  }
}

/** Tells the processor that this is a spinning loop. */
static inline void leati_spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/** Raises a number unless it is higher. Release: a thread that reads it (acquire) sees what came before. The look is
 * sequentially consistent, for a thread that has stored something which whoever lowers the number looks at then. */
static inline void leati_raise(_Atomic uint64_t *number, uint64_t value) {
  uint64_t seen = atomic_load_explicit(number, memory_order_seq_cst);
  while (seen < value &&
         !atomic_compare_exchange_weak_explicit(number, &seen, value, memory_order_release, memory_order_relaxed)) {
  }
}

/** Processors that this process may run on, at least 1. */
uint32_t leati_core_count(void);

/** Sleeps for about so long, at least. */
void leati_sleep_ns(uint64_t ns);

/** Lets another thread have the core. */
void leati_yield(void);

/** Monotonic time in nanoseconds. */
uint64_t leati_now_ns(void);

/** Host memory, zeroed; NULL when there is none. All of the plugin's host allocations go through these and
 * leati_calloc_line() of common/line.h. */
void *leati_calloc(size_t count, size_t size);
void *leati_realloc(void *memory, size_t size);
void leati_free(void *memory);

#endif /* LEAT_PLUGIN_CORE_SYNC_H_ */
