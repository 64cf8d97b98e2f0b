/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a lane has learnt of its batches: what they take and how its threads come back. By the rules of
 * policy/submitting.h it tells how many batches are worth having in flight, and whether to wait for more lists before
 * the next.
 *
 * It only guides guesses: all is relaxed, and where two figures are not of the same batch, a guess is worse. Any
 * thread, but where it says otherwise. Times are of leati_now_ns().
 */
#ifndef LEAT_PLUGIN_SUBMIT_BATCHING_H_
#define LEAT_PLUGIN_SUBMIT_BATCHING_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/sync.h"
#include "policy/constants.h"

/** Batches are known by the value that each raises the lane's timeline semaphore to. */
typedef struct leati_batching {
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t ended; /**< the last batch that is known to have ended */
  _Atomic uint64_t ended_ns;                         /**< when that was seen */
  _Atomic uint64_t gather_ns;                        /**< how long from then on lists wait for others */
  _Atomic uint64_t wrote_ns;                         /**< what writing and submitting the last batches took */
  _Atomic uint32_t ended_lists;                      /**< lists that had been handed over at `ended_ns` */
  _Atomic uint32_t in_flight;                        /**< batches to have in flight */
  _Atomic uint32_t seen_lists;                       /**< lists of batches whose end somebody watched */
  _Atomic uint64_t busy_ns;                          /**< what those batches took */
  /** Batches in a row that had one list though one was in flight; below 0: how many more until that is tried again. */
  _Atomic int32_t single_lists;
  /* Stored by the leader; what follows by batch modulo. */
  _Atomic uint64_t sent;                              /**< the last batch */
  _Atomic uint32_t lists[LEATI_BATCHES_REMEMBERED];   /**< that the queue had been given with it */
  _Atomic uint64_t sent_ns[LEATI_BATCHES_REMEMBERED]; /**< when the queue took it */
} leati_batching;
LEATI_OWN_LINE(leati_batching);

void leati_batching_begin(leati_batching *batching);

/** Lists that the queue had been given with a batch. */
static inline uint32_t leati_batching_lists(const leati_batching *batching, uint64_t batch) {
  return atomic_load_explicit(&batching->lists[batch % LEATI_BATCHES_REMEMBERED], memory_order_relaxed);
}

/** Notes that the queue has taken a batch of so many lists. One after the other; the leader's. */
void leati_batching_submitted(leati_batching *batching, uint64_t batch, uint32_t lists, uint64_t now_ns);
/** Notes what writing and submitting batches has just taken. The leader's. */
static inline void leati_batching_wrote(leati_batching *batching, uint64_t wrote_ns) {
  atomic_store_explicit(&batching->wrote_ns, wrote_ns, memory_order_relaxed);
}

/** Whether it was noted that a batch has ended. */
static inline bool leati_batching_knows(const leati_batching *batching, uint64_t batch) {
  return atomic_load_explicit(&batching->ended, memory_order_relaxed) >= batch;
}
/** Notes that a batch has ended, when `lists` had been handed over to the lane, and learns from it if somebody was
 * watching; else nobody knows what it took. */
void leati_batching_ended(leati_batching *batching, uint64_t batch, uint32_t lists, uint64_t now_ns, bool watched);

/** When the last batch that is known to have ended was seen to; 0: none was. */
static inline uint64_t leati_batching_ended_ns(const leati_batching *batching) {
  return atomic_load_explicit(&batching->ended_ns, memory_order_relaxed);
}

/** Lists that somebody has watched until they had run, and for how long the queue was busy with them. Only how much
 * they have risen has a meaning. */
static inline uint32_t leati_batching_seen_lists(const leati_batching *batching) {
  return atomic_load_explicit(&batching->seen_lists, memory_order_relaxed);
}
static inline uint64_t leati_batching_busy_ns(const leati_batching *batching) {
  return atomic_load_explicit(&batching->busy_ns, memory_order_relaxed);
}

/** Batches to have in flight before lists wait for others, 1 to LEATI_IN_FLIGHT_MAX. */
static inline uint32_t leati_batching_in_flight(const leati_batching *batching) {
  return atomic_load_explicit(&batching->in_flight, memory_order_relaxed);
}
/** Until when the lists that are there should wait for those of other threads, of `lists` that have been handed over to
 * the lane; 0: they need not. */
uint64_t leati_batching_gather_until(const leati_batching *batching, uint32_t lists);

#endif /* LEAT_PLUGIN_SUBMIT_BATCHING_H_ */
