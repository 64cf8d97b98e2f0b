/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/batching.h"

/* With two batches in flight threads meet in two commit groups. Barriers are queue-wide, so that two of them take up to
 * twice as long as one. Where this is more than the queue loses while it waits for the one, one batch is in flight.
 * What it loses is the writing, about as much again while as many threads leave their waits and hand their lists over,
 * and this: the end is seen late, and the submission arrives. */
#define TURN_NS UINT64_C(20000)
/* What takes less may be nothing but the way to the device and back: 11 us, and on some days 45, on an H200. */
#define LONG_NS UINT64_C(60000)
/* Nothing is gained by one in flight if lists do not meet: after so many batches of one list there are two for a while.
 */
#define LONELY_MAX 16
#define LONELY_REST 256
/* Threads whose lists ran in one batch usually come back with the next ones together. The first one waits for the
 * others for so long after the batch was seen to have ended; with one in flight, where it is worth more, for such a
 * part of what the batch took. */
#define COMPANY_NS UINT64_C(6000)
#define COMPANY_PART 8
#define COMPANY_NS_MAX UINT64_C(200000)

static uint64_t load(const _Atomic uint64_t *from) {
  return atomic_load_explicit(from, memory_order_relaxed);
}

static void store(_Atomic uint64_t *to, uint64_t value) {
  atomic_store_explicit(to, value, memory_order_relaxed);
}

void leati_batching_begin(leati_batching *batching) {
  atomic_store_explicit(&batching->in_flight, LEATI_IN_FLIGHT_MAX, memory_order_relaxed);
  store(&batching->company_ns, COMPANY_NS);
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

/* Whether lists meet, or it is time to find out, when a batch of one or more of them has ended. With more than one
 * batch in flight they had no reason to. */
static bool meet(leati_batching *batching, bool one_list) {
  int32_t count = atomic_load_explicit(&batching->lonely, memory_order_relaxed);
  if (count < 0) {
    ++count;
  } else if (leati_batching_in_flight(batching) == 1) {
    count = one_list ? count + 1 : 0;
  }
  count = count < LONELY_MAX ? count : -LONELY_REST;
  atomic_store_explicit(&batching->lonely, count, memory_order_relaxed);
  return count >= 0;
}

/* Learns from a batch that took so long. */
static void learn(leati_batching *batching, uint64_t took, bool one_list) {
  /* With one in flight instead of two, twice as many lists are written while the queue waits. */
  const uint64_t writing = load(&batching->wrote_ns) * leati_batching_in_flight(batching);
  const bool one = meet(batching, one_list) && took > LONG_NS && took > 2 * writing + TURN_NS;
  const uint64_t part = took / COMPANY_PART < COMPANY_NS_MAX ? took / COMPANY_PART : COMPANY_NS_MAX;
  atomic_store_explicit(&batching->in_flight, one ? 1 : LEATI_IN_FLIGHT_MAX, memory_order_relaxed);
  store(&batching->company_ns, one ? part : COMPANY_NS);
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
    store(&batching->company_ns, COMPANY_NS);
  } else if (ran != 0) {
    learn(batching, count(batching, ended, batch, now_ns), ran == 1);
  }
  atomic_store_explicit(&batching->ended_lists, lists, memory_order_relaxed);
  store(&batching->ended_ns, now_ns);
}

uint64_t leati_batching_gather_until(const leati_batching *batching, uint32_t lists) {
  const uint64_t ended = load(&batching->ended);
  const uint32_t came = lists - atomic_load_explicit(&batching->ended_lists, memory_order_relaxed);
  return came < ran_with(batching, ended) ? load(&batching->ended_ns) + load(&batching->company_ns) : 0;
}
