/* SPDX-License-Identifier: BSD-3-Clause */
/* A failure is told to those whose work it lost, and to nobody else: not to the next owner of a stream, nor to a stream
 * that goes on with its timeline, though others clear the error or change owners meanwhile. */
#include "unit_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"

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
    join_thread(stuck);
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
    join_thread(let_go);
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

/* ---- Timelines that go on -------------------------------------------------------------------------------------------
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
  start_thread(&thread, flush_it, &f);
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
  join_thread(thread);
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
      join_thread(stuck);
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

static void *clear_and_put_anew(void *argument) {
  submitter *const s = argument;
  HOST_NEED(h.api->stream->clear_error(s->stream, &err));
  HOST_NEED(put_run(&s->t, s->stream, 2));
  HOST_NEED(h.api->stream->synchronize(s->stream, &err));
  return NULL;
}

/* Of two downloads to one place the later one stays, though the stream failed between them. */
static void downloads_arrive_in_order_across_a_failure(void **state) {
  (void)state;
  static submitter s;
  static blocks other;
  pthread_t thread;
  open_device();
  s.stream = make_stream();
  take_blocks(&s.t, NULL);
  take_blocks(&other, NULL);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(put_run(&s.t, s.stream, 1), LEAT_OK);
  assert_ok(h.api->stream->flush(s.stream, &err));
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(rectify(&other, s.stream), LEAT_OK);
  assert_int_equal(h.api->stream->flush(s.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  start_thread(&thread, clear_and_put_anew, &s);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  join_thread(thread);
  assert_arrived(&s.t, 2);
  assert_ok(h.api->stream->destroy(s.stream, &err));
  give_blocks(&s.t);
  give_blocks(&other);
  close_device();
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
    start_thread(&sharers[i].thread, share, &sharers[i]);
  }
  for (int i = 0; i < 2; ++i) {
    join_thread(sharers[i].thread);
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

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(the_next_owner_gets_no_late_error),
      CASE(the_next_owner_gets_no_error_that_comes_between),
      CASE(who_waits_hears_of_a_failure_that_another_clears),
      CASE(who_waits_for_the_device_hears_of_what_is_lost_meanwhile),
      CASE(who_flushes_hears_of_no_failure_of_another_stream),
      CASE(the_next_owner_gets_no_error_of_a_list_that_it_never_made),
      CASE(nobody_is_told_that_a_stream_is_done_because_its_owner_changes),
      CASE(downloads_arrive_in_order_across_a_failure),
      CASE(who_shares_a_stream_shares_its_failure),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.failure_scope", tests, NULL, NULL);
}
