/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/rhythm.h"

/* With two batches in flight threads meet in two groups. Barriers are queue-wide, so that two groups take up to twice
 * as long as one. Where this is more than the queue loses while it waits for the one, one batch is in flight. What it
 * loses beside the writing, if threads come back at once: the end is seen, they leave their waits and hand their lists
 * over, and the submission arrives. */
#define TURN_NS UINT64_C(20000)
/* What takes less may be nothing but the way to the device and back: 11 us, and on some days 45, on an H200. */
#define LONG_NS UINT64_C(60000)
/* Threads whose lists ran in one batch usually come back with the next ones together. Who comes first waits for the
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

void leati_rhythm_begin(leati_rhythm *rhythm) {
  atomic_store_explicit(&rhythm->in_flight, LEATI_IN_FLIGHT_MAX, memory_order_relaxed);
  store(&rhythm->company_ns, COMPANY_NS);
}

void leati_rhythm_send(leati_rhythm *rhythm, uint64_t batch, uint32_t lists, uint64_t now_ns) {
  atomic_store_explicit(&rhythm->lists[batch % LEATI_RHYTHM_BATCHES], leati_rhythm_lists(rhythm, batch - 1) + lists,
                        memory_order_relaxed);
  store(&rhythm->sent_ns[batch % LEATI_RHYTHM_BATCHES], now_ns);
}

/* What a batch took that has ended now. */
static uint64_t time_of(const leati_rhythm *rhythm, uint64_t batch, uint64_t now_ns) {
  const uint64_t sent = load(&rhythm->sent_ns[batch % LEATI_RHYTHM_BATCHES]);
  const uint64_t before = load(&rhythm->ended_ns);
  const uint64_t begun = sent > before ? sent : before;
  return now_ns > begun ? now_ns - begun : 0;
}

void leati_rhythm_end(leati_rhythm *rhythm, uint64_t batch, uint32_t lists, uint64_t now_ns) {
  uint64_t ended = load(&rhythm->ended);
  if (ended >= batch || !atomic_compare_exchange_strong_explicit(&rhythm->ended, &ended, batch, memory_order_relaxed,
                                                                 memory_order_relaxed)) {
    return;
  }
  const uint64_t took = time_of(rhythm, batch, now_ns);
  /* With one in flight instead of two, twice as many lists are written while the queue waits. */
  const uint64_t writing = load(&rhythm->wrote_ns) * leati_rhythm_in_flight(rhythm);
  const bool alone = took > LONG_NS && took > writing + TURN_NS;
  const uint64_t part = took / COMPANY_PART < COMPANY_NS_MAX ? took / COMPANY_PART : COMPANY_NS_MAX;
  atomic_store_explicit(&rhythm->in_flight, alone ? 1 : LEATI_IN_FLIGHT_MAX, memory_order_relaxed);
  store(&rhythm->company_ns, alone ? part : COMPANY_NS);
  atomic_store_explicit(&rhythm->ended_lists, lists, memory_order_relaxed);
  store(&rhythm->ended_ns, now_ns);
}

uint64_t leati_rhythm_company(const leati_rhythm *rhythm, uint32_t lists) {
  const uint64_t ended = load(&rhythm->ended);
  const uint32_t came = lists - atomic_load_explicit(&rhythm->ended_lists, memory_order_relaxed);
  const uint32_t ran = leati_rhythm_lists(rhythm, ended) - leati_rhythm_lists(rhythm, ended - 1);
  return came < ran ? load(&rhythm->ended_ns) + load(&rhythm->company_ns) : 0;
}
