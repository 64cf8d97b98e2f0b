/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the pool: one is taken without a lock, and one that goes back, in whichever way, leaves nothing of its
 * owner's for the next one, nor a row of timelines or lists behind. Streams that are bound, and those that are shared.
 */
#include "unit_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/sync.h"
#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

/* ---- Taking ---------------------------------------------------------------------------------------------------------
 */

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
  start_thread(&thread, upload_much, &u);
  nulldriver_wait_held();
  assert_ok(h.api->pool->acquire(h.device, 0, &taken, &ticket, &err));
  assert_ptr_equal(taken, u.stream);
  nulldriver_release();
  join_thread(thread);
  assert_int_equal(u.status, LEAT_OK);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->memory->free(h.device, u.address, &err));
  close_device();
}

/* Counts the locks that this thread takes. */
static _Thread_local uint32_t locks, pool_locks;
void __real_leati_mutex_lock(leati_mutex *mutex);
void __wrap_leati_mutex_lock(leati_mutex *mutex);
void __wrap_leati_mutex_lock(leati_mutex *mutex) {
  ++locks;
  pool_locks += mutex->rank == LEATI_RANK_POOL ? 1 : 0;
  __real_leati_mutex_lock(mutex);
}

/* Where nobody waits for a stream. Releasing needs the locks of the stream itself and of its timeline alone. */
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

/* ---- Releasing ----------------------------------------------------------------------------------------------------
 */

/* A thread that takes a stream of the pool, does something with it, and releases it in one of the ways. */
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
  start_thread(&thread, own_and_give, o);
  join_thread(thread);
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

static void fail_own(owner *o) {
  fail_stream(o->stream, &o->t);
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
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
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
    start_thread(&threads[i], replace_timelines, NULL);
  }
  for (int i = 0; i < THREADS; ++i) {
    join_thread(threads[i]);
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
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
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
  join_thread(stuck);
  assert_ok(h.api->stream->synchronize(beside, &err));
  assert_arrived(&t[1], 1);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->pool->release(h.device, tickets[i], &err));
    give_blocks(&t[i]);
  }
  close_device();
}

typedef struct leaver {
  pthread_t thread;
  uint64_t ticket;
  int32_t status;
} leaver;

static void *release_ticket(void *argument) {
  leaver *const l = argument;
  l->status = h.api->pool->release(h.device, l->ticket, NULL);
  return NULL;
}

/* Streams of the pool may be used by any thread, also while the one who has it releases it. */
static void what_comes_while_a_stream_is_given_back_is_not_lost(void **state) {
  (void)state;
  static blocks t;
  leaver l;
  leat_stream *stream;
  open_device();
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &l.ticket, &err));
  take_blocks(&t, NULL);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_true(nulldriver_hold("vkQueueSubmit"));
  assert_int_equal(pthread_create(&l.thread, NULL, release_ticket, &l), 0);
  nulldriver_wait_held();
  assert_int_equal(download(&t, stream), LEAT_OK);
  nulldriver_release();
  assert_int_equal(pthread_join(l.thread, NULL), 0);
  assert_int_equal(l.status, LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&t, 1);
  give_blocks(&t);
  close_device();
}

/* ---- Waiting and asking ---------------------------------------------------------------------------------------------
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

/* In each round takes a stream, for which it may have to wait, and releases it. */
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

/* Two streams are left, and the other thread never has more than one: whoever has released both gets one, also while
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
  start_thread(&thread, take_one_each_round, NULL);
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
  join_thread(thread);
  for (int i = 0; i < WORKERS - 2; ++i) {
    assert_ok(h.api->pool->release(h.device, tickets[i], &err));
  }
  close_device();
  assert_int_equal(refused, 0);
}

/* ---- Bound streams --------------------------------------------------------------------------------------------------
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
    start_thread(&threads[i], bind_and_destroy, NULL);
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

/* ---- Shared streams -------------------------------------------------------------------------------------------------
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

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_free_stream_is_taken_though_it_is_in_use),
      CASE(a_free_stream_is_taken_without_a_lock),
      CASE(owners_leave_no_row_of_timelines),
      CASE(spare_timelines_are_found_by_all_who_want_one),
      CASE(failures_leave_no_row_of_timelines),
      CASE(owners_leave_no_row_of_lists),
      CASE(giving_back_clears_the_error),
      CASE(giving_back_drops_downloads_that_nobody_can_wait_for),
      CASE(a_new_owner_takes_no_downloads_from_those_beside_it),
      CASE(what_comes_while_a_stream_is_given_back_is_not_lost),
      CASE(who_does_not_wait_is_not_refused_while_a_stream_is_left),
      CASE(a_destroyed_stream_is_bound_to_nobody_though_others_take_its_object),
      CASE(nobody_is_told_of_a_bound_stream_that_is_destroyed),
      CASE(giving_a_shared_stream_back_flushes_it),
      CASE(a_shared_ticket_is_of_one_device_and_one_opening),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.pool", tests, NULL, NULL);
}
