/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads on the null driver: nobody is held up by a thread that waits or is stuck in the driver, and a stream of the
 * pool that goes back, in whichever way, leaves nothing of its owner's for the next one. A test that is held up after
 * all ends with ctest's time limit. */
#include "fixture.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/host.h"
#include "streams/lane.h"
#include "streams/stream.h"
#include "streams/stream_state.h"

enum { WORKERS = 31 };

static void start(pthread_t *thread, void *(*run)(void *), void *argument) {
  assert_int_equal(pthread_create(thread, NULL, run, argument), 0);
}

static void join(pthread_t thread) {
  assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- Threads that wait ---------------------------------------------------------------------------------------------
 */

typedef struct waiter {
  enum { BY_STREAM, BY_DEVICE, BY_EVENT, WAYS_TO_WAIT } how;
  leat_stream *stream;
  leat_event *event;
  int32_t status;
} waiter;

static void *wait_for_all(void *argument) {
  waiter *const w = argument;
  w->status = w->how == BY_STREAM   ? h.api->stream->synchronize(w->stream, NULL)
              : w->how == BY_DEVICE ? h.api->device->synchronize(h.device, NULL)
                                    : h.api->event->wait(w->event, -1, NULL);
  return NULL;
}

/* Starts a thread that waits, with LEAT_WAIT_SPIN_US=0, and returns when it is inside of the driver. */
static void start_waiting(pthread_t *thread, waiter *w) {
  const uint64_t waits = nulldriver_calls("vkWaitSemaphores");
  start(thread, wait_for_all, w);
  while (nulldriver_calls("vkWaitSemaphores") == waits) {
    (void)sched_yield();
  }
}

/* What others want to do beside a thread that waits. */
static void do_everything_beside(blocks *t, leat_stream *shared, leat_event *event) {
  leat_stream *taken;
  uint64_t ticket;
  assert_int_equal(rectify(t, shared), LEAT_OK);
  assert_ok(h.api->stream->flush(shared, &err));
  assert_int_equal(h.api->stream->query(shared, NULL), LEAT_ERROR_NOT_READY);
  assert_int_equal(h.api->event->query(event, NULL), LEAT_ERROR_NOT_READY);
  leat_stream *const own = make_stream();
  leat_event *const other = make_event();
  assert_ok(h.api->stream->wait_event(own, event, &err));
  assert_ok(h.api->event->record(other, own, &err));
  assert_ok(h.api->pool->acquire(h.device, 0, &taken, &ticket, &err));
  assert_int_equal(rectify(t, taken), LEAT_OK);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->event->destroy(other, &err));
  assert_ok(h.api->stream->destroy(own, &err));
}

static void who_waits_holds_nobody_up(void **state) {
  (void)state;
  static blocks t;
  /* So that the waiter is soon found inside of the driver. */
  open_configured("LEAT_WAIT_SPIN_US", "0");
  for (int how = 0; how < WAYS_TO_WAIT; ++how) {
    pthread_t thread;
    waiter w = {.how = how, .stream = make_stream(), .event = make_event()};
    take_blocks(&t, w.stream);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(put_run(&t, w.stream, 1), LEAT_OK);
    assert_ok(h.api->event->record(w.event, w.stream, &err));
    start_waiting(&thread, &w);
    do_everything_beside(&t, w.stream, w.event);
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    join(thread);
    assert_int_equal(w.status, LEAT_OK);
    assert_arrived(&t, 1);
    give_blocks(&t);
    assert_ok(h.api->event->destroy(w.event, &err));
    assert_ok(h.api->stream->destroy(w.stream, &err));
  }
  close_configured("LEAT_WAIT_SPIN_US");
}

/* ---- Threads that are stuck in the driver --------------------------------------------------------------------------
 */

/* Puts an upload and a Relu into the thread's stream of the pool, and ends. */
static void *leave_work(void *argument) {
  blocks *const t = argument;
  leat_stream *own;
  HOST_NEED(h.api->pool->current(h.device, &own, &err));
  HOST_NEED(upload(t, own, 1));
  HOST_NEED(rectify(t, own));
  return NULL;
}

/* Starts a thread that ends with work, and gets caught in vkQueueSubmit by that. */
static void start_stuck(pthread_t *thread, blocks *t) {
  assert_true(nulldriver_hold("vkQueueSubmit"));
  start(thread, leave_work, t);
  nulldriver_wait_held();
}

static void a_thread_ends_while_another_is_stuck_in_the_driver(void **state) {
  (void)state;
  static blocks t[3];
  pthread_t stuck, thread;
  open_device();
  leat_stream *const stream = make_stream();
  for (int i = 0; i < 3; ++i) {
    take_blocks(&t[i], NULL);
  }
  start_stuck(&stuck, &t[0]);
  for (int i = 1; i < 3; ++i) {
    start(&thread, leave_work, &t[i]);
    join(thread);
  }
  nulldriver_release();
  join(stuck);
  assert_ok(h.api->device->synchronize(h.device, &err));
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(download(&t[i], stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t[i], 1);
    give_blocks(&t[i]);
  }
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

typedef struct closer {
  atomic_bool closed; /* set (release) when close() has returned */
  int32_t status;
} closer;

static void *close_in_thread(void *argument) {
  closer *const c = argument;
  c->status = h.api->device->close(h.device, NULL);
  atomic_store_explicit(&c->closed, true, memory_order_release);
  return NULL;
}

typedef struct runner {
  leat_stream *stream;
  blocks t;
  uint32_t lane; /* that the run went to */
} runner;

static void *run_and_flush(void *argument) {
  runner *const r = argument;
  leat_stream_info info = {.struct_size = sizeof(info)};
  HOST_NEED(put_run(&r->t, r->stream, 1));
  HOST_NEED(h.api->stream->flush(r->stream, &err));
  HOST_NEED(h.api->stream->info(r->stream, &info, &err));
  r->lane = info.lane;
  return NULL;
}

/* Starts a run of each; the first is caught in vkQueueSubmit. */
static void start_both(runner runners[2], pthread_t threads[2]) {
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_true(nulldriver_hold("vkQueueSubmit"));
  start(&threads[0], run_and_flush, &runners[0]);
  nulldriver_wait_held();
  start(&threads[1], run_and_flush, &runners[1]);
}

static void end_both(runner runners[2]) {
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->stream->synchronize(runners[i].stream, &err));
    assert_arrived(&runners[i].t, 1);
    assert_int_equal(runners[i].lane, i);
  }
}

/* There is a driver that loses what a queue gets first if another queue gets its first work meanwhile. */
static void queues_get_their_first_work_one_after_the_other(void **state) {
  (void)state;
  static runner runners[2];
  const struct timespec nap = {.tv_nsec = 50000000};
  pthread_t threads[2];
  open_configured("LEAT_LANES", "2");
  for (int i = 0; i < 2; ++i) {
    runners[i].stream = make_stream();
    take_blocks(&runners[i].t, runners[i].stream);
  }
  const uint64_t before = nulldriver_calls("vkQueueSubmit");
  start_both(runners, threads);
  (void)nanosleep(&nap, NULL);
  assert_int_equal(nulldriver_calls("vkQueueSubmit") - before, 1);
  nulldriver_release();
  join(threads[0]);
  join(threads[1]);
  end_both(runners);
  /* After that nobody is held up. */
  start_both(runners, threads);
  join(threads[1]);
  nulldriver_release();
  join(threads[0]);
  end_both(runners);
  for (int i = 0; i < 2; ++i) {
    give_blocks(&runners[i].t);
    assert_ok(h.api->stream->destroy(runners[i].stream, &err));
  }
  close_configured("LEAT_LANES");
}

/* The thread needs the device until it has given its stream back. */
static void closing_waits_for_a_thread_that_is_giving_back(void **state) {
  (void)state;
  static blocks t;
  const struct timespec nap = {.tv_nsec = 50000000};
  pthread_t stuck, thread;
  closer c = {.status = LEAT_OK};
  open_device();
  take_blocks(&t, NULL);
  start_stuck(&stuck, &t);
  give_blocks(&t);
  start(&thread, close_in_thread, &c);
  (void)nanosleep(&nap, NULL);
  assert_false(atomic_load_explicit(&c.closed, memory_order_acquire));
  nulldriver_release();
  join(stuck);
  join(thread);
  assert_int_equal(c.status, LEAT_OK);
  assert_ok(h.api->shutdown(&err));
}

typedef struct uploader {
  leat_stream *stream;
  uint64_t address;
  int32_t status;
} uploader;

enum { MANY = 1 << 20 };
static float many_floats[MANY];
static int64_t many = MANY;

static void *upload_much(void *argument) {
  uploader *const u = argument;
  const DLTensor from = host_tensor(many_floats, &many), to = device_tensor(u->address, &many);
  u->status = h.api->memory->copy(u->stream, &from, &to, NULL);
  return NULL;
}

/* Streams of the pool may be used by anybody; one who is in the middle of a call on a free one holds its lock. */
static void a_free_stream_is_taken_though_it_is_in_use(void **state) {
  (void)state;
  uploader u;
  pthread_t thread;
  leat_stream *taken;
  uint64_t ticket;
  open_device();
  assert_ok(h.api->pool->stream(h.device, 1, &u.stream, &err));
  assert_ok(h.api->memory->alloc(h.device, sizeof(many_floats), NULL, &u.address, &err));
  /* For staging. */
  assert_true(nulldriver_hold("vkAllocateMemory"));
  start(&thread, upload_much, &u);
  nulldriver_wait_held();
  assert_ok(h.api->pool->acquire(h.device, 0, &taken, &ticket, &err));
  assert_ptr_equal(taken, u.stream);
  nulldriver_release();
  join(thread);
  assert_int_equal(u.status, LEAT_OK);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->memory->free(h.device, u.address, &err));
  close_device();
}

/* Counts the locks that this thread takes. */
static _Thread_local uint32_t locks, pool_locks, class_locks;
/* Counts who has come to give memory back, on any thread. */
static _Atomic uint32_t trims;
/* Where a thread stops that is about to take the lock of a size class, whether it has, and whether it may go on. */
static _Thread_local bool stops_at_memory;
static atomic_bool stopped_at_memory, go_on_at_memory;
void __real_leati_mutex_lock(leati_mutex *mutex);
void __wrap_leati_mutex_lock(leati_mutex *mutex);
void __wrap_leati_mutex_lock(leati_mutex *mutex) {
  ++locks;
  pool_locks += mutex->rank == LEATI_RANK_POOL ? 1 : 0;
  class_locks += mutex->rank == LEATI_RANK_MEMORY ? 1 : 0;
  if (mutex->rank == LEATI_RANK_TRIM) {
    (void)atomic_fetch_add(&trims, 1);
  }
  if (mutex->rank == LEATI_RANK_MEMORY && stops_at_memory) {
    stops_at_memory = false;
    atomic_store(&stopped_at_memory, true);
    while (!atomic_load(&go_on_at_memory)) {
      (void)sched_yield();
    }
  }
  __real_leati_mutex_lock(mutex);
}

/* Where nobody waits for a stream. Giving back needs the locks of the stream itself and of its timeline alone. */
static void a_free_stream_is_taken_without_a_lock(void **state) {
  (void)state;
  static blocks t;
  open_device();
  take_blocks(&t, NULL);
  for (int i = 0; i < 3; ++i) {
    leat_stream *taken;
    uint64_t ticket;
    locks = pool_locks = 0;
    assert_ok(h.api->pool->acquire(h.device, 0, &taken, &ticket, &err));
    /* The first time the stream is made. */
    assert_true(i == 0 || locks == 0);
    assert_int_equal(rectify(&t, taken), LEAT_OK);
    assert_ok(h.api->stream->synchronize(taken, &err));
    assert_true(locks > 0);
    assert_ok(h.api->pool->release(h.device, ticket, &err));
    assert_int_equal(pool_locks, 0);
  }
  give_blocks(&t);
  close_device();
}

/* ---- Events that are recorded anew ---------------------------------------------------------------------------------
 */

typedef struct stopwatch {
  leat_event *start, *end;
  int32_t status;
} stopwatch;

static void *read_stopwatch(void *argument) {
  stopwatch *const w = argument;
  double ns;
  w->status = h.api->event->elapsed(w->start, w->end, &ns, NULL);
  return NULL;
}

/* One thread has just seen an event finish when another records it anew: there is no time to tell yet. */
static void an_event_that_is_recorded_anew_has_no_time_yet(void **state) {
  (void)state;
  stopwatch w;
  pthread_t thread;
  open_device();
  leat_stream *const streams[2] = {make_stream(), make_stream()};
  assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &w.start, &err));
  assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &w.end, &err));
  assert_ok(h.api->event->record(w.end, streams[1], &err));
  assert_ok(h.api->stream->synchronize(streams[1], &err));
  /* It has finished, and nobody has asked. */
  assert_ok(h.api->event->record(w.start, streams[0], &err));
  assert_true(nulldriver_hold("vkGetSemaphoreCounterValue"));
  start(&thread, read_stopwatch, &w);
  nulldriver_wait_held();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_ok(h.api->event->record(w.start, streams[0], &err));
  nulldriver_release();
  join(thread);
  assert_int_equal(w.status, LEAT_ERROR_NOT_READY);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->stream->synchronize(streams[i], &err));
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  (void)read_stopwatch(&w);
  assert_int_equal(w.status, LEAT_OK);
  assert_ok(h.api->event->destroy(w.start, &err));
  assert_ok(h.api->event->destroy(w.end, &err));
  close_device();
}

/* ---- Giving back ---------------------------------------------------------------------------------------------------
 */

/* A thread that takes a stream of the pool, does something with it, and gives it back in one of the ways. */
typedef struct owner {
  enum { BY_TICKET, BY_RELEASE_CURRENT, BY_ENDING, WAYS_TO_GIVE } how;
  void (*use)(struct owner *o);
  leat_stream *stream;
  leat_event *event;
  blocks t;
  uint32_t number; /* of the stream */
} owner;

static void *own_and_give(void *argument) {
  owner *const o = argument;
  leat_stream_info info = {.struct_size = sizeof(info)};
  uint64_t ticket = 0;
  HOST_NEED(o->how == BY_TICKET ? h.api->pool->acquire(h.device, 0, &o->stream, &ticket, &err)
                                : h.api->pool->current(h.device, &o->stream, &err));
  HOST_NEED(h.api->stream->info(o->stream, &info, &err));
  o->number = (uint32_t)info.pool_index;
  o->use(o);
  if (o->how == BY_TICKET) {
    HOST_NEED(h.api->pool->release(h.device, ticket, &err));
  } else if (o->how == BY_RELEASE_CURRENT) {
    HOST_NEED(h.api->pool->release_current(h.device, &err));
  }
  return NULL;
}

static void be_owner(owner *o, int how, void (*use)(owner *o)) {
  pthread_t thread;
  o->how = how;
  o->use = use;
  start(&thread, own_and_give, o);
  join(thread);
}

/* Takes every worker stream: none has an error, and each runs right. */
static void use_all_streams(void) {
  static blocks t;
  uint64_t tickets[WORKERS];
  take_blocks(&t, NULL);
  for (uint32_t i = 0; i < WORKERS; ++i) {
    leat_stream *stream;
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &tickets[i], &err));
    assert_ok(h.api->stream->error(stream, &err));
    assert_int_equal(put_run(&t, stream, i), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, i);
  }
  for (uint32_t i = 0; i < WORKERS; ++i) {
    assert_ok(h.api->pool->release(h.device, tickets[i], &err));
  }
  give_blocks(&t);
}

/* Fails the stream, for good if nobody clears it. */
static void fail_stream(leat_stream *stream, blocks *t) {
  HOST_NEED(rectify(t, stream));
  (void)nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
  const int32_t told = h.api->stream->flush(stream, NULL);
  const int32_t kept = h.api->stream->error(stream, NULL);
  HOST_NEED(told == LEAT_ERROR_OUT_OF_MEMORY && kept == told ? LEAT_OK : LEAT_ERROR_INTERNAL);
}

static void fail_own(owner *o) {
  fail_stream(o->stream, &o->t);
}

/* What the owner before handed over may be refused after the stream has gone on. */
static void the_next_owner_gets_no_late_error(void **state) {
  (void)state;
  static blocks t[2];
  pthread_t stuck;
  uint64_t tickets[2];
  leat_stream *streams[2];
  open_device();
  leat_stream *const own = make_stream();
  take_blocks(&t[0], NULL);
  take_blocks(&t[1], NULL);
  for (int created = 0; created < 2; ++created) {
    start_stuck(&stuck, &t[0]);
    /* The call that is held is the first. */
    assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_OUT_OF_HOST_MEMORY));
    for (int i = 0; i < 2; ++i) {
      if (created != 0) {
        streams[i] = make_stream();
      } else {
        assert_ok(h.api->pool->acquire(h.device, 0, &streams[i], &tickets[i], &err));
      }
      if (i == 0) {
        assert_int_equal(put_run(&t[1], streams[0], 1), LEAT_OK);
        assert_ok(h.api->stream->flush(streams[0], &err));
        assert_ok(created != 0 ? h.api->stream->destroy(streams[0], &err)
                               : h.api->pool->release(h.device, tickets[0], &err));
      }
    }
    assert_ptr_equal(streams[0], streams[1]);
    nulldriver_release();
    join(stuck);
    assert_ok(h.api->stream->error(streams[1], &err));
    assert_int_equal(put_run(&t[1], streams[1], 2), LEAT_OK);
    assert_ok(h.api->stream->synchronize(streams[1], &err));
    assert_arrived(&t[1], 2);
    assert_ok(created != 0 ? h.api->stream->destroy(streams[1], &err)
                           : h.api->pool->release(h.device, tickets[1], &err));
  }
  give_blocks(&t[0]);
  give_blocks(&t[1]);
  assert_ok(h.api->stream->destroy(own, &err));
  close_device();
}

/* Stands in front of leati_timeline_locate(): where a thread is to be let go before the first look, once, and then the
 * error of a stream cleared, if there is one. */
static atomic_bool let_go_first;
static pthread_t let_go;
static leat_stream *cleared;
bool __real_leati_timeline_locate(leati_timeline *timeline, uint64_t value, leati_point *out);
bool __wrap_leati_timeline_locate(leati_timeline *timeline, uint64_t value, leati_point *out);
bool __wrap_leati_timeline_locate(leati_timeline *timeline, uint64_t value, leati_point *out) {
  if (atomic_exchange(&let_go_first, false)) {
    nulldriver_release();
    join(let_go);
    if (cleared != NULL) {
      HOST_NEED(h.api->stream->clear_error(cleared, &err));
    }
  }
  return __real_leati_timeline_locate(timeline, value, out);
}

/* The list may be refused while the next owner looks. */
static void the_next_owner_gets_no_error_that_comes_between(void **state) {
  (void)state;
  static blocks t[2];
  uint64_t ticket;
  leat_stream *stream, *again;
  open_device();
  take_blocks(&t[0], NULL);
  take_blocks(&t[1], NULL);
  start_stuck(&let_go, &t[0]);
  assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
  assert_int_equal(put_run(&t[1], stream, 1), LEAT_OK);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  atomic_store(&let_go_first, true);
  assert_ok(h.api->pool->acquire(h.device, 0, &again, &ticket, &err));
  assert_false(atomic_load(&let_go_first));
  assert_ptr_equal(again, stream);
  assert_ok(h.api->stream->error(again, &err));
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  give_blocks(&t[0]);
  give_blocks(&t[1]);
  close_device();
}

/* Who waits for a list, and is told that it has run, has not missed that it was lost and another cleared the error. */
static void who_waits_hears_of_a_failure_that_another_clears(void **state) {
  (void)state;
  static blocks t[2];
  open_device();
  take_blocks(&t[0], NULL);
  take_blocks(&t[1], NULL);
  for (int by_event = 0; by_event < 2; ++by_event) {
    leat_stream *const stream = make_stream();
    leat_event *const event = make_event();
    start_stuck(&let_go, &t[0]);
    assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_OUT_OF_HOST_MEMORY));
    assert_int_equal(rectify(&t[1], stream), LEAT_OK);
    if (by_event != 0) {
      assert_ok(h.api->event->record(event, stream, &err));
    }
    cleared = stream;
    atomic_store(&let_go_first, true);
    assert_int_equal(by_event != 0 ? h.api->event->wait(event, -1, NULL) : h.api->stream->synchronize(stream, NULL),
                     LEAT_ERROR_OUT_OF_MEMORY);
    assert_false(atomic_load(&let_go_first));
    cleared = NULL;
    assert_ok(h.api->stream->error(stream, &err));
    assert_ok(h.api->event->destroy(event, &err));
    assert_ok(h.api->stream->destroy(stream, &err));
  }
  give_blocks(&t[0]);
  give_blocks(&t[1]);
  close_device();
}

/* Owners of a stream of the pool, one after another, who wait for nothing. */
static void come_and_go(blocks *t, int owners) {
  for (int i = 0; i < owners; ++i) {
    uint64_t ticket;
    leat_stream *stream;
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
    assert_int_equal(rectify(t, stream), LEAT_OK);
    assert_ok(h.api->pool->release(h.device, ticket, &err));
  }
}

/* Who waits for the device waits for one stream after the other, and meanwhile a list of another one is lost. */
static void who_waits_for_the_device_hears_of_what_is_lost_meanwhile(void **state) {
  (void)state;
  static blocks t[2];
  open_device();
  take_blocks(&t[0], NULL);
  take_blocks(&t[1], NULL);
  leat_stream *const stream = make_stream();
  start_stuck(&let_go, &t[0]);
  assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(rectify(&t[1], stream), LEAT_OK);
  atomic_store(&let_go_first, true);
  assert_int_equal(h.api->device->synchronize(h.device, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_false(atomic_load(&let_go_first));
  assert_int_equal(h.api->stream->error(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->device->synchronize(h.device, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->stream->clear_error(stream, &err));
  assert_ok(h.api->device->synchronize(h.device, &err));
  give_blocks(&t[0]);
  give_blocks(&t[1]);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Timelines of the device, in use or not. */
static uint32_t count_timelines(void) {
  uint32_t found = 0;
  for (leati_timeline *at = atomic_load(&h.device->timelines); at != NULL; at = at->next) {
    ++found;
  }
  return found;
}

/* Owners that come and go faster than the queue: the second one sees to it that the queue is asked. */
static void owners_leave_no_row_of_timelines(void **state) {
  (void)state;
  enum { OWNERS = 50 };
  static blocks t;
  open_device();
  leat_stream *const own = make_stream();
  leati_lane *const lane = leati_lane_of(h.device->counters[0]);
  take_blocks(&t, NULL);
  assert_int_equal(put_run(&t, own, 1), LEAT_OK);
  assert_ok(h.api->stream->synchronize(own, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  leati_lane_attend(lane);
  come_and_go(&t, OWNERS);
  assert_in_range(count_timelines(), 1, 10);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  leati_lane_leave(lane, true);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(own, &err));
  close_device();
}

/* Has one timeline, and again and again takes another one for it and gives the first back, as streams do. */
static void *replace_timelines(void *unused) {
  enum { ROUNDS = 200000 };
  leati_timeline *own, *fresh;
  (void)unused;
  HOST_NEED(leati_timeline_take(h.device, &own, &err));
  for (int i = 0; i < ROUNDS; ++i) {
    HOST_NEED(leati_timeline_take(h.device, &fresh, &err));
    fresh->replaced = own;
    leati_timeline_settle(fresh);
    own = fresh;
  }
  return NULL;
}

/* No more are made than are in use at one time: each thread has two at most. */
static void spare_timelines_are_found_by_all_who_want_one(void **state) {
  (void)state;
  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  open_device();
  const uint32_t before = count_timelines();
  for (int i = 0; i < THREADS; ++i) {
    start(&threads[i], replace_timelines, NULL);
  }
  for (int i = 0; i < THREADS; ++i) {
    join(threads[i]);
  }
  assert_in_range(count_timelines() - before, THREADS, 2 * THREADS);
  close_device();
}

/* A timeline that has failed is used again, once no event tells of what was lost on it. */
static void failures_leave_no_row_of_timelines(void **state) {
  (void)state;
  enum { ROUNDS = 10000, KEPT = 20 };
  static blocks t;
  leat_event *kept[KEPT];
  leat_stream *stream;
  uint64_t ticket;
  open_device();
  leat_stream *const own = make_stream();
  take_blocks(&t, NULL);
  fail_stream(own, &t);
  const uint32_t before = count_timelines();
  for (int i = 0; i < KEPT; ++i) {
    kept[i] = make_event();
    assert_int_equal(h.api->event->record(kept[i], own, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_ok(h.api->stream->clear_error(own, &err));
    fail_stream(own, &t);
  }
  assert_ok(h.api->stream->clear_error(own, &err));
  for (int i = 0; i < ROUNDS; ++i) {
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
    fail_stream(stream, &t);
    assert_ok(h.api->pool->release(h.device, ticket, &err));
    fail_stream(own, &t);
    assert_ok(h.api->stream->clear_error(own, &err));
  }
  /* One for each event, the two that take turns in each stream, and what waits for its stream to go on. */
  assert_in_range(count_timelines() - before, KEPT, KEPT + 4);
  for (int i = 0; i < KEPT; ++i) {
    assert_int_equal(h.api->event->query(kept[i], NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(h.api->event->wait(kept[i], -1, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_ok(h.api->event->destroy(kept[i], &err));
  }
  /* What the events kept serves as well as another. */
  const uint32_t after = count_timelines();
  leat_stream *streams[KEPT];
  for (uint32_t i = 0; i < KEPT; ++i) {
    streams[i] = make_stream();
    assert_ok(h.api->stream->error(streams[i], &err));
    assert_int_equal(put_run(&t, streams[i], i), LEAT_OK);
    assert_ok(h.api->stream->synchronize(streams[i], &err));
    assert_arrived(&t, i);
  }
  assert_int_equal(count_timelines(), after);
  for (int i = 0; i < KEPT; ++i) {
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(own, &err));
  close_device();
}

/* The lists that all timelines of the device have, in use or not. */
static uint32_t count_lists(void) {
  uint32_t found = 0;
  for (leati_timeline *at = atomic_load(&h.device->timelines); at != NULL; at = at->next) {
    const leati_submission *const lists[] = {at->first, at->free};
    for (int i = 0; i < 2; ++i) {
      for (const leati_submission *list = lists[i]; list != NULL; list = list->next) {
        ++found;
      }
    }
  }
  return found;
}

/* What a timeline was replaced with needs a list before that one's are free. */
static void owners_leave_no_row_of_lists(void **state) {
  (void)state;
  enum { ROUNDS = 50, OWNERS = 4 };
  static blocks t;
  uint32_t lists = 0;
  open_device();
  leati_lane *const lane = leati_lane_of(h.device->counters[0]);
  take_blocks(&t, NULL);
  for (int round = 0; round < ROUNDS; ++round) {
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    leati_lane_attend(lane);
    come_and_go(&t, OWNERS);
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    leati_lane_leave(lane, true);
    assert_ok(h.api->device->synchronize(h.device, &err));
    lists = round == ROUNDS / 2 ? count_lists() : lists;
  }
  assert_int_equal(count_lists(), lists);
  give_blocks(&t);
  close_device();
}

static void *wait_for_event(void *event) {
  HOST_NEED(h.api->event->wait(event, -1, &err));
  return NULL;
}

/* A stream, and an event that it is to wait for. */
typedef struct follower {
  leat_stream *stream;
  leat_event *event;
} follower;

static void *make_stream_wait(void *argument) {
  const follower *const f = argument;
  HOST_NEED(h.api->stream->wait_event(f->stream, f->event, &err));
  return NULL;
}

static void *export_sync_file(void *argument) {
  const follower *const f = argument;
  int32_t fd;
  HOST_NEED(h.api->event->export_sync_fd(f->event, &fd, &err));
  (void)close(fd);
  return NULL;
}

static _Atomic uint32_t wanting_thread;

static void *wait_for_its_event(void *argument) {
  atomic_store(&wanting_thread, leati_thread_id());
  return wait_for_event(((const follower *)argument)->event);
}

/* Whether the kernel has put a thread to sleep. */
static bool sleeps(uint32_t thread) {
  char path[64], how = 0;
  (void)snprintf(path, sizeof(path), "/proc/self/task/%u/stat", thread);
  FILE *const file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &how), 1);
  (void)fclose(file);
  return how == 'S';
}

/* A list cannot be waited for in the driver as long as the leader has not submitted it. Who needs it sleeps meanwhile,
 * so that a leader that lost the processor to it can go on: the device's waits behind the role, the host's again and
 * again. */
static void who_needs_a_list_that_a_leader_submits_sleeps(void **state) {
  (void)state;
  static void *(*const ways[])(void *) = {wait_for_its_event, make_stream_wait, export_sync_file};
  static blocks t[2];
  for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
    pthread_t stuck, thread;
    open_configured("LEAT_WAIT_SPIN_US", "0");
    atomic_store(&wanting_thread, 0);
    const leati_lane *const lane = leati_lane_of(h.device->counters[0]);
    leat_stream *const stream = make_stream();
    follower f = {.stream = make_stream(), .event = make_event()};
    take_blocks(&t[0], NULL);
    take_blocks(&t[1], NULL);
    start_stuck(&stuck, &t[0]);
    assert_int_equal(put_run(&t[1], stream, 1), LEAT_OK);
    assert_ok(h.api->event->record(f.event, stream, &err));
    const uint64_t calls = nulldriver_calls("vkWaitSemaphores");
    start(&thread, ways[i], &f);
    const bool behind_role = ways[i] != wait_for_its_event;
    while (behind_role ? (atomic_load(&lane->leader.holder) & FUTEX_WAITERS) == 0
                       : atomic_load(&wanting_thread) == 0 || !sleeps(atomic_load(&wanting_thread))) {
      (void)sched_yield();
    }
    assert_int_equal(nulldriver_calls("vkWaitSemaphores"), calls);
    assert_true(behind_role || (atomic_load(&lane->leader.holder) & FUTEX_WAITERS) == 0);
    nulldriver_release();
    join(stuck);
    join(thread);
    assert_ok(h.api->device->synchronize(h.device, &err));
    give_blocks(&t[0]);
    give_blocks(&t[1]);
    assert_ok(h.api->event->destroy(f.event, &err));
    assert_ok(h.api->stream->destroy(f.stream, &err));
    assert_ok(h.api->stream->destroy(stream, &err));
    close_configured("LEAT_WAIT_SPIN_US");
  }
}

/* What another thread is to make sure of in the middle of the next hand-over: the list is in its timeline, and not yet
 * in its lane. */
static const leati_submission *wanted;
static atomic_bool want_next;

static void *want(void *unused) {
  (void)unused;
  leati_point point;
  atomic_store(&wanting_thread, leati_thread_id());
  (void)leati_lane_ensure(wanted->timeline, wanted->value, &point);
  return NULL;
}

static pthread_t wanting;
void __real_leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_epoch);
void __wrap_leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_epoch);
void __wrap_leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_epoch) {
  if (atomic_exchange(&want_next, false)) {
    wanted = submission;
    start(&wanting, want, NULL);
    while (atomic_load(&wanting_thread) == 0 || !sleeps(atomic_load(&wanting_thread))) {
      (void)sched_yield();
    }
  }
  __real_leati_lane_add(lane, submission, inout_epoch);
}

static void who_needs_a_list_that_is_being_handed_over_sleeps(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  assert_int_equal(put_run(&t, stream, 1), LEAT_OK);
  atomic_store(&wanting_thread, 0);
  atomic_store(&want_next, true);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_false(atomic_load(&want_next));
  join(wanting);
  assert_arrived(&t, 1);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* What others leave for company while it waits goes as soon as the queue has room, not when its own work has run. */
static void who_waits_looks_after_its_lane(void **state) {
  (void)state;
  static blocks t;
  enum { BY_NAPS, BLOCKING, SPINNING, WAYS };
  static const char *const spins[WAYS] = {[BY_NAPS] = NULL, [BLOCKING] = "0", [SPINNING] = "1000000"};
  for (int i = 0; i < WAYS; ++i) {
    const struct timespec nap = {.tv_nsec = 1000000};
    pthread_t thread;
    /* One lane as yet. */
    open_configured("LEAT_WAIT_SPIN_US", spins[i]);
    leati_lane *const lane = leati_lane_of(h.device->counters[0]);
    /* It learns nothing of how long things take here, and keeps two batches in flight. */
    atomic_store_explicit(&lane->rhythm.ended, UINT64_MAX, memory_order_relaxed);
    leat_stream *const streams[3] = {make_stream(), make_stream(), make_stream()};
    leat_event *const event = make_event();
    take_blocks(&t, NULL);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    const uint64_t before = nulldriver_calls("vkQueueSubmit"), blocked = nulldriver_calls("vkWaitSemaphores");
    assert_int_equal(rectify(&t, streams[0]), LEAT_OK);
    assert_ok(h.api->stream->flush(streams[0], &err));
    assert_int_equal(rectify(&t, streams[1]), LEAT_OK);
    assert_ok(h.api->event->record(event, streams[1], &err));
    /* Half of this is slept through. */
    leati_timeline *const timeline = streams[1]->timeline;
    atomic_store_explicit(&timeline->usual_wait_ns, UINT64_C(60000000000), memory_order_relaxed);
    start(&thread, wait_for_event, event);
    while (leati_lane_attendants(lane) == 0) {
      (void)nanosleep(&nap, NULL);
    }
    assert_int_equal(rectify(&t, streams[2]), LEAT_OK);
    assert_ok(h.api->stream->flush(streams[2], &err));
    assert_int_equal(nulldriver_calls("vkQueueSubmit") - before, 2);
    assert_int_equal(nulldriver_step(1), 1);
    for (int j = 0; j < 5000 && nulldriver_calls("vkQueueSubmit") - before == 2; ++j) {
      (void)nanosleep(&nap, NULL);
    }
    assert_int_equal(nulldriver_calls("vkQueueSubmit") - before, 3);
    assert_true(i == BLOCKING || nulldriver_calls("vkWaitSemaphores") == blocked);
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    join(thread);
    assert_ok(h.api->device->synchronize(h.device, &err));
    give_blocks(&t);
    assert_ok(h.api->event->destroy(event, &err));
    for (int j = 0; j < 3; ++j) {
      assert_ok(h.api->stream->destroy(streams[j], &err));
    }
    close_configured("LEAT_WAIT_SPIN_US");
  }
}

static void giving_back_clears_the_error(void **state) {
  (void)state;
  static owner o;
  open_device();
  take_blocks(&o.t, NULL);
  for (int how = 0; how < WAYS_TO_GIVE; ++how) {
    leat_stream *stream;
    be_owner(&o, how, fail_own);
    assert_ok(h.api->pool->stream(h.device, o.number, &stream, &err));
    assert_ok(h.api->stream->error(stream, &err));
    use_all_streams();
    /* Who takes it does not get an error either that a stranger left in the free stream. */
    fail_stream(stream, &o.t);
    use_all_streams();
  }
  give_blocks(&o.t);
  close_device();
}

static void put_and_flush(owner *o) {
  HOST_NEED(put_run(&o->t, o->stream, 5));
  HOST_NEED(h.api->stream->flush(o->stream, &err));
}

static void put_unflushed(owner *o) {
  HOST_NEED(put_run(&o->t, o->stream, 5));
}

static void put_before_event(owner *o) {
  HOST_NEED(put_run(&o->t, o->stream, 5));
  HOST_NEED(h.api->event->record(o->event, o->stream, &err));
}

/* The destinations may go with the owner; one that an event covers is still waited for. */
static void giving_back_drops_downloads_that_nobody_can_wait_for(void **state) {
  (void)state;
  static void (*const uses[3])(owner * o) = {put_and_flush, put_unflushed, put_before_event};
  static owner o;
  open_device();
  o.event = make_event();
  for (int how = 0; how < WAYS_TO_GIVE; ++how) {
    for (int use = 0; use < 3; ++use) {
      take_blocks(&o.t, NULL);
      nulldriver_set_mode(NULLDRIVER_HELD, 0);
      be_owner(&o, how, uses[use]);
      o.t.out[0] = -1.0f;
      nulldriver_set_mode(NULLDRIVER_LAZY, 0);
      use_all_streams();
      assert_ok(h.api->device->synchronize(h.device, &err));
      if (use == 2) {
        assert_arrived(&o.t, 5);
      } else {
        assert_true(o.t.out[0] == -1.0f);
      }
      give_blocks(&o.t);
    }
  }
  assert_ok(h.api->event->destroy(o.event, &err));
  close_device();
}

/* ---- Who waits and who asks ----------------------------------------------------------------------------------------
 */

/* Rounds at most, and time: where the two threads do not run beside each other, each round takes a slice of it. */
enum { TRIES = 20000 };
#define TRIES_NS UINT64_C(5000000000)
/* Rounds that have begun, and those of which the other thread has given its stream back. */
static _Atomic uint32_t begun, done;

static void spin_some(uint32_t pauses) {
  for (uint32_t i = 0; i < pauses; ++i) {
    leati_spin_pause();
  }
}

/* In each round takes a stream, for which it may have to wait, and gives it back. */
static void *take_one_each_round(void *unused) {
  (void)unused;
  for (uint32_t i = 1;; ++i) {
    leat_stream *stream;
    uint64_t ticket;
    uint32_t last;
    for (uint32_t looks = 1; (last = atomic_load(&begun)) < i; ++looks) {
      leati_spin_pause();
      if (looks % 1024 == 0) {
        (void)sched_yield();
      }
    }
    if (last == UINT32_MAX) {
      return NULL;
    }
    HOST_NEED(h.api->pool->acquire(h.device, -1, &stream, &ticket, &err));
    HOST_NEED(h.api->pool->release(h.device, ticket, &err));
    atomic_store(&done, i);
  }
}

/* Two streams are left, and the other thread never has more than one: whoever has given both back gets one, also while
 * the other, who was about to wait for one of them, is just getting it. */
static void who_does_not_wait_is_not_refused_while_a_stream_is_left(void **state) {
  (void)state;
  leat_stream *stream;
  uint64_t tickets[WORKERS];
  pthread_t thread;
  uint32_t refused = 0;
  open_device();
  for (int i = 0; i < WORKERS - 2; ++i) {
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &tickets[i], &err));
  }
  atomic_store(&begun, 0);
  atomic_store(&done, 0);
  start(&thread, take_one_each_round, NULL);
  const uint64_t end = leati_now_ns() + TRIES_NS;
  for (uint32_t i = 1; i <= TRIES && leati_now_ns() < end; ++i) {
    uint64_t two[2], one;
    for (int j = 0; j < 2; ++j) {
      HOST_NEED(h.api->pool->acquire(h.device, -1, &stream, &two[j], &err));
    }
    atomic_store(&begun, i);
    spin_some(i % 64);
    for (int j = 0; j < 2; ++j) {
      HOST_NEED(h.api->pool->release(h.device, two[j], &err));
    }
    if (h.api->pool->acquire(h.device, 0, &stream, &one, NULL) != LEAT_OK) {
      ++refused;
    } else {
      HOST_NEED(h.api->pool->release(h.device, one, &err));
    }
    while (atomic_load(&done) < i) {
      (void)sched_yield();
    }
  }
  atomic_store(&begun, UINT32_MAX);
  join(thread);
  for (int i = 0; i < WORKERS - 2; ++i) {
    assert_ok(h.api->pool->release(h.device, tickets[i], &err));
  }
  close_device();
  assert_int_equal(refused, 0);
}

/* ---- Timelines that go on ------------------------------------------------------------------------------------------
 */

/* Dispatches before the one in which the device stops, whether it has, and whether it may go on. */
static _Atomic int dispatches_left;
static atomic_bool stopped, go_on;

static void stop_in_kernel(const nulldriver_dispatch *dispatch, void *user) {
  if (atomic_fetch_sub(&dispatches_left, 1) == 0) {
    atomic_store(&stopped, true);
    while (!atomic_load(&go_on)) {
      (void)sched_yield();
    }
  }
  host_compute(dispatch, user);
}

typedef struct flusher {
  leat_stream *stream;
  int32_t status;
} flusher;

static void *flush_it(void *argument) {
  flusher *const f = argument;
  f->status = h.api->stream->flush(f->stream, NULL);
  return NULL;
}

/* While a thread is still in its flush, its stream may get another timeline, and another stream this one. */
static void who_flushes_hears_of_no_failure_of_another_stream(void **state) {
  (void)state;
  static blocks t[3];
  uint64_t ticket;
  leat_stream *again;
  pthread_t thread;
  flusher f;
  open_device();
  leat_stream *const lost = make_stream(), *const behind = make_stream();
  leat_event *const failed = make_event();
  for (int i = 0; i < 3; ++i) {
    take_blocks(&t[i], NULL);
  }
  assert_int_equal(rectify(&t[0], lost), LEAT_OK);
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(h.api->event->record(failed, lost, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  /* A flush of the pool's stream, caught in the driver, and a list behind it. */
  assert_ok(h.api->pool->acquire(h.device, 0, &f.stream, &ticket, &err));
  assert_int_equal(rectify(&t[1], f.stream), LEAT_OK);
  leati_timeline *const old = atomic_load(&f.stream->timeline);
  assert_true(nulldriver_hold("vkQueueSubmit"));
  start(&thread, flush_it, &f);
  nulldriver_wait_held();
  assert_int_equal(rectify(&t[2], behind), LEAT_OK);
  assert_ok(h.api->stream->flush(behind, &err));
  /* The next owner gets another timeline, because the queue may refuse that list. */
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->pool->acquire(h.device, 0, &again, &ticket, &err));
  assert_ptr_equal(again, f.stream);
  assert_ptr_not_equal(atomic_load(&again->timeline), old);
  /* The thread submits the list behind its own too. */
  atomic_store(&dispatches_left, 1);
  atomic_store(&stopped, false);
  atomic_store(&go_on, false);
  nulldriver_set_kernel(stop_in_kernel, NULL);
  nulldriver_release();
  while (!atomic_load(&stopped)) {
    (void)sched_yield();
  }
  assert_int_equal(rectify(&t[1], again), LEAT_OK);
  assert_ok(h.api->stream->flush(again, &err));
  leat_stream *const other = make_stream();
  assert_ptr_equal(atomic_load(&other->timeline), old);
  assert_int_equal(h.api->stream->wait_event(other, failed, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  atomic_store(&go_on, true);
  join(thread);
  nulldriver_set_kernel(host_compute, NULL);
  assert_int_equal(f.status, LEAT_OK);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  for (int i = 0; i < 3; ++i) {
    give_blocks(&t[i]);
  }
  assert_ok(h.api->event->destroy(failed, &err));
  assert_ok(h.api->stream->destroy(lost, &err));
  assert_ok(h.api->stream->destroy(behind, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

static void *allocate_slowly(void *argument) {
  uploader *const u = argument;
  stops_at_memory = true;
  u->status = h.api->memory->alloc(h.device, COUNT * sizeof(float), u->stream, &u->address, NULL);
  return NULL;
}

static void *give_and_take_anew(void *ticket) {
  leat_stream *stream;
  HOST_NEED(h.api->pool->release(h.device, *(uint64_t *)ticket, &err));
  HOST_NEED(h.api->pool->acquire(h.device, 0, &stream, (uint64_t *)ticket, &err));
  return NULL;
}

static atomic_bool other_made;

static void *flush_and_make(void *argument) {
  runner *const r = argument;
  leat_stream *stream;
  HOST_NEED(h.api->pool->stream(h.device, 2, &stream, &err));
  HOST_NEED(rectify(&r->t, stream));
  HOST_NEED(h.api->stream->flush(stream, &err));
  HOST_NEED(h.api->stream->create(h.device, 0, &r->stream, &err));
  atomic_store(&other_made, true);
  return NULL;
}

/* While a thread allocates for a stream, that may get another timeline, and another stream this one. What that one
 * still uses is not in order with the first. */
static void nobody_gets_a_block_that_another_stream_uses(void **state) {
  (void)state;
  const struct timespec nap = {.tv_nsec = 50000000};
  static blocks t[2];
  static runner other;
  uploader u;
  uint64_t ticket;
  pthread_t stuck, slow, next, maker;
  open_device();
  for (int i = 0; i < 2; ++i) {
    take_blocks(&t[i], NULL);
  }
  take_blocks(&other.t, NULL);
  start_stuck(&stuck, &t[0]);
  assert_ok(h.api->pool->acquire(h.device, 0, &u.stream, &ticket, &err));
  assert_int_equal(rectify(&t[1], u.stream), LEAT_OK);
  assert_ok(h.api->stream->flush(u.stream, &err));
  atomic_store(&stopped_at_memory, false);
  atomic_store(&go_on_at_memory, false);
  start(&slow, allocate_slowly, &u);
  while (!atomic_load(&stopped_at_memory)) {
    (void)sched_yield();
  }
  /* Each step if it can be done meanwhile. */
  start(&next, give_and_take_anew, &ticket);
  (void)nanosleep(&nap, NULL);
  nulldriver_release();
  join(stuck);
  atomic_store(&other_made, false);
  start(&maker, flush_and_make, &other);
  (void)nanosleep(&nap, NULL);
  const bool made = atomic_load(&other_made);
  if (made) {
    join(maker);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(rectify(&other.t, other.stream), LEAT_OK);
    assert_ok(h.api->stream->flush(other.stream, &err));
    give_blocks(&other.t);
  }
  atomic_store(&go_on_at_memory, true);
  join(slow);
  join(next);
  if (!made) {
    join(maker);
    give_blocks(&other.t);
  }
  assert_int_equal(u.status, LEAT_OK);
  assert_false(made && (u.address == other.t.a || u.address == other.t.b));
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->memory->free(h.device, u.address, &err));
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  give_blocks(&t[0]);
  give_blocks(&t[1]);
  assert_ok(h.api->stream->destroy(other.stream, &err));
  close_device();
}

/* Waits that began before an event is recorded anew keep waiting for what it stood for, downloads and all, though its
 * stream is gone and nobody can wait for these anew. */
static void a_wait_keeps_the_downloads_of_an_event_that_is_recorded_anew(void **state) {
  (void)state;
  static blocks t;
  pthread_t thread;
  /* So that the waiter is soon found inside of the driver. */
  open_configured("LEAT_WAIT_SPIN_US", "0");
  leat_stream *const gone = make_stream(), *const other = make_stream();
  waiter w = {.how = BY_EVENT, .event = make_event()};
  take_blocks(&t, NULL);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(put_run(&t, gone, 1), LEAT_OK);
  assert_ok(h.api->event->record(w.event, gone, &err));
  assert_ok(h.api->stream->destroy(gone, &err));
  start_waiting(&thread, &w);
  assert_ok(h.api->event->record(w.event, other, &err));
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  join(thread);
  assert_int_equal(w.status, LEAT_OK);
  assert_arrived(&t, 1);
  give_blocks(&t);
  assert_ok(h.api->event->destroy(w.event, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_configured("LEAT_WAIT_SPIN_US");
}

/* What the former owner left in flight is none of the next one's, and no list has to be submitted for it. */
static void the_next_owner_gets_no_error_of_a_list_that_it_never_made(void **state) {
  (void)state;
  static blocks t;
  uint64_t ticket;
  leat_stream *stream, *again;
  open_device();
  take_blocks(&t, NULL);
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_int_equal(h.api->stream->flush(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->pool->acquire(h.device, 0, &again, &ticket, &err));
  assert_ptr_equal(again, stream);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  /* As another thread may while memory is short. */
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  (void)h.api->device->synchronize(h.device, NULL);
  assert_true(nulldriver_fail("vkQueueSubmit", 0, VK_SUCCESS));
  assert_ok(h.api->stream->error(again, &err));
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  give_blocks(&t);
  close_device();
}

/* Who uses a stream of the pool beside its owner is not told that downloads have arrived which have not. */
static void a_new_owner_takes_no_downloads_from_those_beside_it(void **state) {
  (void)state;
  static blocks t[2];
  pthread_t stuck;
  uint64_t tickets[2];
  leat_stream *stream, *beside;
  open_device();
  for (int i = 0; i < 2; ++i) {
    take_blocks(&t[i], NULL);
  }
  start_stuck(&stuck, &t[0]);
  /* The stuck thread ended with the first stream of the pool. */
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &tickets[0], &err));
  leat_stream_info info = {.struct_size = sizeof(info)};
  assert_ok(h.api->stream->info(stream, &info, &err));
  const uint32_t next = (uint32_t)info.pool_index + 1;
  assert_ok(h.api->pool->stream(h.device, next, &beside, &err));
  assert_int_equal(put_run(&t[1], beside, 1), LEAT_OK);
  assert_ok(h.api->stream->flush(beside, &err));
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &tickets[1], &err));
  assert_ptr_equal(stream, beside);
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  nulldriver_release();
  join(stuck);
  assert_ok(h.api->stream->synchronize(beside, &err));
  assert_arrived(&t[1], 1);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->pool->release(h.device, tickets[i], &err));
    give_blocks(&t[i]);
  }
  close_device();
}

/* Who uses a stream of the pool beside its owner, and has put an upload and a Relu into it: a new owner comes while the
 * queue has not taken them, or while they run and what the former owner put behind them is lost. Nobody is told that
 * they have run before they have. */
static void nobody_is_told_that_a_stream_is_done_because_its_owner_changes(void **state) {
  (void)state;
  static blocks t[3];
  enum { QUEUED, RUNNING, CASES };
  for (uint32_t i = 0; i < CASES; ++i) {
    pthread_t stuck;
    uint64_t ticket;
    leat_stream *stream, *beside;
    open_configured("LEAT_LANES", i == QUEUED ? "1" : "2");
    leat_stream *const other = make_stream();
    leat_event *const events[2] = {make_event(), make_event()};
    for (int j = 0; j < 3; ++j) {
      take_blocks(&t[j], NULL);
    }
    if (i == QUEUED) {
      /* The stuck thread has stream 1. */
      start_stuck(&stuck, &t[0]);
      assert_ok(h.api->pool->stream(h.device, 2, &beside, &err));
    } else {
      nulldriver_set_mode(NULLDRIVER_HELD, 0);
      assert_ok(h.api->pool->acquire(h.device, 0, &beside, &ticket, &err));
    }
    assert_int_equal(upload(&t[1], beside, 1 + i), LEAT_OK);
    assert_int_equal(rectify(&t[1], beside), LEAT_OK);
    assert_ok(h.api->stream->flush(beside, &err));
    if (i == RUNNING) {
      fail_stream(beside, &t[0]);
      assert_ok(h.api->pool->release(h.device, ticket, &err));
    }
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
    assert_ptr_equal(stream, beside);
    assert_ok(h.api->event->record(events[0], beside, &err));
    assert_int_equal(h.api->event->query(events[0], NULL), LEAT_ERROR_NOT_READY);
    assert_int_equal(h.api->stream->query(beside, NULL), LEAT_ERROR_NOT_READY);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    if (i == QUEUED) {
      nulldriver_release();
      join(stuck);
    }
    assert_int_equal(h.api->event->wait(events[0], 0, NULL), LEAT_ERROR_TIMEOUT);
    /* In the second case on the other queue. */
    assert_ok(h.api->stream->wait_event(other, events[0], &err));
    assert_int_equal(download(&t[1], other), LEAT_OK);
    assert_ok(h.api->event->record(events[1], other, &err));
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    assert_ok(h.api->event->wait(events[1], -1, &err));
    assert_arrived(&t[1], 1 + i);
    assert_ok(h.api->stream->synchronize(beside, &err));
    assert_ok(h.api->stream->query(beside, &err));
    assert_ok(h.api->device->synchronize(h.device, &err));
    for (int j = 0; j < 3; ++j) {
      give_blocks(&t[j]);
    }
    for (int j = 0; j < 2; ++j) {
      assert_ok(h.api->event->destroy(events[j], &err));
    }
    assert_ok(h.api->pool->release(h.device, ticket, &err));
    assert_ok(h.api->stream->destroy(other, &err));
    close_configured("LEAT_LANES");
  }
}

/* The same for memory that is said to be used by what is in the stream. */
static void memory_of_a_stream_is_in_use_though_its_owner_changes(void **state) {
  (void)state;
  static blocks t;
  uint64_t ticket, used, other;
  leat_stream *stream;
  open_device();
  take_blocks(&t, NULL);
  assert_ok(h.api->memory->alloc(h.device, sizeof(t.in), NULL, &used, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  fail_stream(stream, &t);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->memory->record_stream(h.device, used, stream, &err));
  assert_ok(h.api->memory->free(h.device, used, &err));
  assert_ok(h.api->memory->alloc(h.device, sizeof(t.in), NULL, &other, &err));
  assert_int_not_equal(other, used);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  assert_ok(h.api->memory->free(h.device, other, &err));
  give_blocks(&t);
  close_device();
}

static void *clear_and_put_anew(void *argument) {
  owner *const o = argument;
  HOST_NEED(h.api->stream->clear_error(o->stream, &err));
  HOST_NEED(put_run(&o->t, o->stream, 2));
  HOST_NEED(h.api->stream->synchronize(o->stream, &err));
  return NULL;
}

/* Of two downloads to one place the later one stays, though the stream failed between them. */
static void downloads_arrive_in_order_across_a_failure(void **state) {
  (void)state;
  static owner o;
  static blocks other;
  pthread_t thread;
  open_device();
  o.stream = make_stream();
  take_blocks(&o.t, NULL);
  take_blocks(&other, NULL);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(put_run(&o.t, o.stream, 1), LEAT_OK);
  assert_ok(h.api->stream->flush(o.stream, &err));
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(rectify(&other, o.stream), LEAT_OK);
  assert_int_equal(h.api->stream->flush(o.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  start(&thread, clear_and_put_anew, &o);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  join(thread);
  assert_arrived(&o.t, 2);
  assert_ok(h.api->stream->destroy(o.stream, &err));
  give_blocks(&o.t);
  give_blocks(&other);
  close_device();
}

/* ---- Bound streams -------------------------------------------------------------------------------------------------
 */

/* Binds a stream and destroys it. Another thread may be making its own of the same object at any moment. */
static void *bind_and_destroy(void *unused) {
  enum { ROUNDS = 20000 };
  uintptr_t accepted = 0;
  (void)unused;
  for (int i = 0; i < ROUNDS; ++i) {
    leat_stream *bound, *current;
    HOST_NEED(h.api->stream->create(h.device, 0, &bound, &err));
    HOST_NEED(h.api->pool->set_current(h.device, bound, NULL, &err));
    HOST_NEED(h.api->stream->destroy(bound, &err));
    accepted += h.api->pool->current(h.device, &current, NULL) == LEAT_OK;
  }
  HOST_NEED(h.api->pool->set_current(h.device, NULL, NULL, &err));
  return (void *)accepted;
}

static void a_destroyed_stream_is_bound_to_nobody_though_others_take_its_object(void **state) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  (void)state;
  open_device();
  for (int i = 0; i < THREADS; ++i) {
    start(&threads[i], bind_and_destroy, NULL);
  }
  for (int i = 0; i < THREADS; ++i) {
    void *accepted;
    assert_int_equal(pthread_join(threads[i], &accepted), 0);
    assert_null(accepted);
  }
  close_device();
}

/* Who is told of a stream may bind it again. */
static void nobody_is_told_of_a_bound_stream_that_is_destroyed(void **state) {
  (void)state;
  leat_stream *previous, *current;
  open_device();
  leat_stream *const bound = make_stream(), *const other = make_stream();
  assert_ok(h.api->pool->set_current(h.device, bound, NULL, &err));
  assert_ok(h.api->stream->destroy(bound, &err));
  /* Another's, for all that this thread knows. */
  leat_stream *const again = make_stream();
  assert_ptr_equal(again, bound);
  assert_ok(h.api->pool->set_current(h.device, other, &previous, &err));
  assert_ptr_not_equal(previous, again);
  assert_ok(h.api->pool->set_current(h.device, previous, NULL, &err));
  assert_ok(h.api->pool->current(h.device, &current, &err));
  assert_ptr_not_equal(current, again);
  assert_ok(h.api->stream->destroy(other, &err));
  assert_ok(h.api->stream->destroy(again, &err));
  close_device();
}

/* ---- Shared streams ------------------------------------------------------------------------------------------------
 */

static void put_upload(owner *o) {
  HOST_NEED(upload(&o->t, o->stream, 3));
  HOST_NEED(rectify(&o->t, o->stream));
}

/* What is left open goes its way though others may never use the stream again. */
static void giving_a_shared_stream_back_flushes_it(void **state) {
  (void)state;
  static owner o;
  open_configured("LEAT_STREAM_POLICY", "round-robin");
  take_blocks(&o.t, NULL);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (int how = 0; how < WAYS_TO_GIVE; ++how) {
    assert_int_equal(nulldriver_pending(), 0);
    be_owner(&o, how, put_upload);
    assert_int_equal(nulldriver_pending(), 1);
    assert_int_equal(nulldriver_step(UINT32_MAX), 1);
  }
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  give_blocks(&o.t);
  close_configured("LEAT_STREAM_POLICY");
}

/* Two threads on one stream. */
typedef struct sharer {
  pthread_t thread;
  pthread_barrier_t *together;
  leat_stream *stream;
  bool first;
  blocks t;
  int32_t failed, cleared;
} sharer;

static void *share(void *argument) {
  sharer *const s = argument;
  HOST_NEED(rectify(&s->t, s->stream));
  (void)pthread_barrier_wait(s->together);
  if (s->first) {
    (void)nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    (void)h.api->stream->flush(s->stream, NULL);
  }
  (void)pthread_barrier_wait(s->together);
  s->failed = h.api->stream->synchronize(s->stream, NULL);
  (void)pthread_barrier_wait(s->together);
  if (!s->first) {
    HOST_NEED(h.api->stream->clear_error(s->stream, &err));
  }
  (void)pthread_barrier_wait(s->together);
  s->cleared = h.api->stream->error(s->stream, NULL);
  HOST_NEED(put_run(&s->t, s->stream, 7));
  HOST_NEED(h.api->stream->synchronize(s->stream, &err));
  return NULL;
}

static void who_shares_a_stream_shares_its_failure(void **state) {
  (void)state;
  static sharer sharers[2];
  leat_stream *streams[WORKERS + 1];
  uint64_t tickets[WORKERS + 1];
  pthread_barrier_t together;
  assert_int_equal(pthread_barrier_init(&together, NULL, 2), 0);
  open_configured("LEAT_STREAM_POLICY", "round-robin");
  for (int i = 0; i <= WORKERS; ++i) {
    assert_ok(h.api->pool->acquire(h.device, 0, &streams[i], &tickets[i], &err));
  }
  assert_ptr_equal(streams[0], streams[WORKERS]);
  for (int i = 0; i < 2; ++i) {
    sharers[i] = (sharer){.together = &together, .stream = streams[i * WORKERS], .first = i == 0};
    take_blocks(&sharers[i].t, NULL);
  }
  for (int i = 0; i < 2; ++i) {
    start(&sharers[i].thread, share, &sharers[i]);
  }
  for (int i = 0; i < 2; ++i) {
    join(sharers[i].thread);
  }
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(sharers[i].failed, LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(sharers[i].cleared, LEAT_OK);
    assert_arrived(&sharers[i].t, 7);
    give_blocks(&sharers[i].t);
  }
  for (int i = 0; i <= WORKERS; ++i) {
    assert_ok(h.api->pool->release(h.device, tickets[i], &err));
  }
  close_configured("LEAT_STREAM_POLICY");
  (void)pthread_barrier_destroy(&together);
}

static void a_shared_ticket_is_of_one_device_and_one_opening(void **state) {
  (void)state;
  leat_stream *stream;
  uint64_t before, now;
  open_configured("LEAT_STREAM_POLICY", "round-robin");
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &before, &err));
  close_device();
  open_device();
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &now, &err));
  assert_int_equal(h.api->pool->release(h.device, before, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->pool->release(h.device, now, &err));
  close_configured("LEAT_STREAM_POLICY");
}

/* ---- Memory on its way back to the driver --------------------------------------------------------------------------
 */

static void *trim_all(void *argument) {
  *(int32_t *)argument = h.api->memory->trim(h.device, NULL, NULL);
  return NULL;
}

static void *allocate_most(void *argument) {
  uploader *const u = argument;
  u->status = h.api->memory->alloc(h.device, UINT64_C(70) << 20, NULL, &u->address, NULL);
  return NULL;
}

/* The driver takes its time over memory that it gets back. Meanwhile others have blocks of the same class; and who
 * needs what is on its way waits for it, and is not told that there is none. */
static void who_gives_memory_back_holds_nobody_up(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = UINT64_C(128) << 20;
  nulldriver_set_shape(&shape);
  pthread_t trimmer, other;
  uploader u = {.status = LEAT_OK};
  int32_t trimmed;
  uint64_t address;
  open_device();
  assert_ok(h.api->memory->alloc(h.device, UINT64_C(80) << 20, NULL, &address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  assert_true(nulldriver_hold("vkFreeMemory"));
  start(&trimmer, trim_all, &trimmed);
  nulldriver_wait_held();
  assert_ok(h.api->memory->alloc(h.device, UINT64_C(34) << 20, NULL, &address, &err));
  const uint32_t before = atomic_load(&trims);
  start(&other, allocate_most, &u);
  while (atomic_load(&trims) == before) {
    (void)sched_yield();
  }
  nulldriver_release();
  join(trimmer);
  join(other);
  assert_int_equal(trimmed, LEAT_OK);
  assert_int_equal(u.status, LEAT_OK);
  assert_ok(h.api->memory->free(h.device, u.address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  close_device();
}

/* A thread that looks through many blocks lets others at them now and then. */
static void who_looks_through_many_blocks_gives_the_lock_up(void **state) {
  (void)state;
  enum { BLOCKS = 20000, PER_HOLD = 1024 };
  static uint64_t held[BLOCKS];
  open_device();
  class_locks = 0;
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  const uint32_t of_none = class_locks;
  for (int i = 0; i < BLOCKS; ++i) {
    assert_ok(h.api->memory->alloc(h.device, 100, NULL, &held[i], &err));
  }
  class_locks = 0;
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_true(class_locks >= of_none + BLOCKS / PER_HOLD);
  for (int i = 0; i < BLOCKS; ++i) {
    assert_ok(h.api->memory->free(h.device, held[i], &err));
  }
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(who_waits_holds_nobody_up),
      CASE(a_thread_ends_while_another_is_stuck_in_the_driver),
      CASE(queues_get_their_first_work_one_after_the_other),
      CASE(closing_waits_for_a_thread_that_is_giving_back),
      CASE(a_free_stream_is_taken_though_it_is_in_use),
      CASE(a_free_stream_is_taken_without_a_lock),
      CASE(an_event_that_is_recorded_anew_has_no_time_yet),
      CASE(the_next_owner_gets_no_late_error),
      CASE(the_next_owner_gets_no_error_that_comes_between),
      CASE(who_waits_hears_of_a_failure_that_another_clears),
      CASE(who_waits_for_the_device_hears_of_what_is_lost_meanwhile),
      CASE(owners_leave_no_row_of_timelines),
      CASE(spare_timelines_are_found_by_all_who_want_one),
      CASE(failures_leave_no_row_of_timelines),
      CASE(owners_leave_no_row_of_lists),
      CASE(who_needs_a_list_that_a_leader_submits_sleeps),
      CASE(who_needs_a_list_that_is_being_handed_over_sleeps),
      CASE(who_waits_looks_after_its_lane),
      CASE(giving_back_clears_the_error),
      CASE(giving_back_drops_downloads_that_nobody_can_wait_for),
      CASE(downloads_arrive_in_order_across_a_failure),
      CASE(a_new_owner_takes_no_downloads_from_those_beside_it),
      CASE(nobody_is_told_that_a_stream_is_done_because_its_owner_changes),
      CASE(memory_of_a_stream_is_in_use_though_its_owner_changes),
      CASE(the_next_owner_gets_no_error_of_a_list_that_it_never_made),
      CASE(a_wait_keeps_the_downloads_of_an_event_that_is_recorded_anew),
      CASE(nobody_gets_a_block_that_another_stream_uses),
      CASE(who_flushes_hears_of_no_failure_of_another_stream),
      CASE(who_does_not_wait_is_not_refused_while_a_stream_is_left),
      CASE(a_destroyed_stream_is_bound_to_nobody_though_others_take_its_object),
      CASE(nobody_is_told_of_a_bound_stream_that_is_destroyed),
      CASE(giving_a_shared_stream_back_flushes_it),
      CASE(who_shares_a_stream_shares_its_failure),
      CASE(a_shared_ticket_is_of_one_device_and_one_opening),
      CASE(who_gives_memory_back_holds_nobody_up),
      CASE(who_looks_through_many_blocks_gives_the_lock_up),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.threads", tests, NULL, NULL);
}
