/* SPDX-License-Identifier: BSD-3-Clause */
#include "submit/batching.h"

#include "policy/submitting.h"

static uint64_t load(const _Atomic uint64_t *from) {
  return atomic_load_explicit(from, memory_order_relaxed);
}

static void store(_Atomic uint64_t *to, uint64_t value) {
  atomic_store_explicit(to, value, memory_order_relaxed);
}

void leati_batching_begin(leati_batching *batching) {
  atomic_store_explicit(&batching->in_flight, LEATI_IN_FLIGHT_MAX, memory_order_relaxed);
  store(&batching->gather_ns, LEATI_GATHER_NS);
}

void leati_batching_submitted(leati_batching *batching, uint64_t batch, uint32_t lists, uint64_t now_ns) {
  atomic_store_explicit(&batching->lists[batch % LEATI_BATCHES_REMEMBERED],
                        leati_batching_lists(batching, batch - 1) + lists, memory_order_relaxed);
  store(&batching->sent_ns[batch % LEATI_BATCHES_REMEMBERED], now_ns);
  store(&batching->sent, batch);
}

/* Lists of a batch. */
static uint32_t ran_with(const leati_batching *batching, uint64_t batch) {
  return leati_batching_lists(batching, batch) - leati_batching_lists(batching, batch - 1);
}

/* Learns from a batch that took so long. */
static void learn(leati_batching *batching, uint64_t took, bool one_list) {
  const uint32_t in_flight = leati_batching_in_flight(batching);
  const int32_t single_lists =
      leati_single_list_next(atomic_load_explicit(&batching->single_lists, memory_order_relaxed), in_flight, one_list);
  const leati_batch_advice advice = leati_batch_advise(took, load(&batching->wrote_ns), in_flight, single_lists >= 0);
  atomic_store_explicit(&batching->single_lists, single_lists, memory_order_relaxed);
  atomic_store_explicit(&batching->in_flight, advice.in_flight, memory_order_relaxed);
  store(&batching->gather_ns, advice.gather_ns);
}

/* Counts the batches after `ended`, up to one that has just been seen to have ended, and tells what each took. */
static uint64_t count(leati_batching *batching, uint64_t ended, uint64_t batch, uint64_t now_ns) {
  const uint64_t first = batch - ended < LEATI_BATCHES_REMEMBERED ? ended + 1 : batch;
  const uint64_t sent = load(&batching->sent_ns[first % LEATI_BATCHES_REMEMBERED]);
  const uint64_t before = load(&batching->ended_ns);
  const uint64_t begun = sent > before ? sent : before;
  const uint64_t took = now_ns > begun ? now_ns - begun : 0;
  /* Of more batches than are remembered nobody knows the lists. */
  if (load(&batching->sent) < first - 1 + LEATI_BATCHES_REMEMBERED) {
    (void)atomic_fetch_add_explicit(&batching->busy_ns, took, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&batching->seen_lists,
                                    leati_batching_lists(batching, batch) - leati_batching_lists(batching, first - 1),
                                    memory_order_relaxed);
  }
  return took / (batch - first + 1);
}

void leati_batching_ended(leati_batching *batching, uint64_t batch, uint32_t lists, uint64_t now_ns, bool watched) {
  uint64_t ended = load(&batching->ended);
  if (ended >= batch || !atomic_compare_exchange_strong_explicit(&batching->ended, &ended, batch, memory_order_relaxed,
                                                                 memory_order_relaxed)) {
    return;
  }
  const uint32_t ran = ran_with(batching, batch);
  if (!watched) {
    store(&batching->gather_ns, LEATI_GATHER_NS);
  } else if (ran != 0) {
    learn(batching, count(batching, ended, batch, now_ns), ran == 1);
  }
  atomic_store_explicit(&batching->ended_lists, lists, memory_order_relaxed);
  store(&batching->ended_ns, now_ns);
}

uint64_t leati_batching_gather_until(const leati_batching *batching, uint32_t lists) {
  const uint64_t ended = load(&batching->ended);
  const uint32_t came = lists - atomic_load_explicit(&batching->ended_lists, memory_order_relaxed);
  return came < ran_with(batching, ended) ? load(&batching->ended_ns) + load(&batching->gather_ns) : 0;
}
