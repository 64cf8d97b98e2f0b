/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the pool: bits of free streams, and tickets. */
#include "streams/stream_pool.c"

#include "outside.h"

static uint32_t released;

void leati_condition_signal(leati_condition *condition) {
  (void)condition;
}

int32_t leati_stream_flush_if_live(leat_stream *stream, leat_error *err) {
  (void)stream;
  (void)err;
  return LEAT_OK;
}

void leati_stream_release_owner(leat_stream *stream) {
  (void)stream;
  ++released;
}

int32_t leati_stream_adopt_owner(leat_stream *stream, leat_error *err) {
  (void)stream;
  return ANY(bool) ? LEAT_OK : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no memory");
}

/* Each slot that is used here has its stream. */
int32_t leati_streams_take(leat_device *device, leat_stream **out, leat_error *err) {
  (void)device;
  (void)out;
  (void)err;
  PROVE(false);
  return LEAT_ERROR_INTERNAL;
}

void leati_streams_release(leat_stream *stream) {
  (void)stream;
  PROVE(false);
}

/* Two slots that are taken are two, the lowest that were free, and free again when they are given; the main thread's is
 * none of them.
 * UNWIND 3
 * MISTAKE plugin/streams/stream_pool.c: `free & ~(UINT32_C(1) << index)` becomes `free & ~(UINT32_C(2) << index)`
 * MISTAKE plugin/streams/stream_pool.c: `atomic_fetch_or_explicit(&pool->free, UINT32_C(1) << index` becomes
 * `atomic_fetch_or_explicit(&pool->free, UINT32_C(1) << (index + 1)` */
void prove_a_slot_is_one_thread_s(void) {
  static struct leati_stream_pool pool;
  const uint32_t free = pool.free = ANY(uint32_t) & WORKERS;
  const uint32_t first = take_slot(&pool), second = take_slot(&pool);
  PROVE((first == 0) == (free == 0) && (second == 0) == (__builtin_popcount(free) < 2));
  PROVE(first == 0 || (first < LEATI_POOL_STREAMS && (free >> first & 1) != 0 && (second == 0 || second > first)));
  PROVE(__builtin_popcount(pool.free) + (first != 0) + (second != 0) == __builtin_popcount(free));
  if (first != 0 && second != 0) {
    give_slot(&pool, first);
    give_slot(&pool, second);
    PROVE(pool.free == free);
  }
}

/* The ticket of who holds a stream releases it, once, and no other ticket does: none of an older holder, of another
 * stream or of no stream.
 * UNWIND 3
 * MISTAKE plugin/streams/stream_pool.c: `&pool->holders[index], &expected, 0, memory_order_acq_rel` becomes
 * `&pool->holders[index], &expected, expected, memory_order_acq_rel`
 * MISTAKE plugin/streams/stream_pool.c: `uint64_t expected = ticket;` becomes
 * `uint64_t expected = pool->holders[ticket & 31];` */
void prove_a_ticket_releases_its_stream_once(void) {
  static struct leati_stream_pool pool;
  const uint64_t ticket = ANY(uint64_t) << 8 | 3, other = ANY(uint64_t);
  static leat_device device;
  device.pool = &pool;
  pool.holders[3] = ticket;
  /* Its stream, the main thread's, or one that there is not. */
  ASSUME((other & 0xff) == 3 || (other & 0xff) == 0 || (other & 0xff) == LEATI_POOL_STREAMS);
  PROVE((release(&device, other, NULL) == LEAT_OK) == (other == ticket));
  PROVE((release(&device, ticket, NULL) == LEAT_OK) == (other != ticket));
  PROVE(pool.free == 8 && released == 1);
}

/* Streams that are shared are those of workers, and their tickets release nothing; a ticket of another session of the
 * device is none.
 * UNWIND 3 LOOPS prove_shared_tickets_are_of_a_session.0:33
 * MISTAKE plugin/streams/stream_pool.c: `1 + (uint32_t)(turn % WORKER_COUNT)` becomes
 * `1 + (uint32_t)(turn % LEATI_POOL_STREAMS)`
 * MISTAKE plugin/streams/stream_pool.c: `SHARED_TICKET | device->session << 8 | index` becomes `SHARED_TICKET | index`
 */
void prove_shared_tickets_are_of_a_session(void) {
  static struct leati_stream_pool pool;
  static leat_device device;
  static unsigned char stream;
  for (uint32_t i = 0; i < LEATI_POOL_STREAMS; ++i) {
    pool.streams[i] = (leat_stream *)&stream;
  }
  pool.round_robin = true;
  pool.turn = ANY(uint64_t);
  device.pool = &pool;
  device.session = ANY(uint16_t);
  leat_stream *shared;
  uint64_t ticket;
  if (acquire(&device, 0, &shared, &ticket, NULL) == LEAT_OK) {
    PROVE((ticket & 0xff) > 0 && (ticket & 0xff) < LEATI_POOL_STREAMS);
    PROVE(release(&device, ticket, NULL) == LEAT_OK);
    ++device.session;
    PROVE(release(&device, ticket, NULL) != LEAT_OK);
    PROVE(pool.free == 0 && released == 0);
  }
}
