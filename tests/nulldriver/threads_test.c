/* SPDX-License-Identifier: BSD-3-Clause */
/* No thread is held up by one that waits or is stuck in the driver, and a thread that waits looks after its lane. A
 * test that is held up after all ends with ctest's time limit. */
#include "unit_fixture.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/copy.h"
#include "core/sync.h"
#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/constants.h"
#include "streams/stream.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

/* ---- Threads that wait ----------------------------------------------------------------------------------------------
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
  start_thread(thread, wait_for_all, w);
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
    join_thread(thread);
    assert_int_equal(w.status, LEAT_OK);
    assert_arrived(&t, 1);
    give_blocks(&t);
    assert_ok(h.api->event->destroy(w.event, &err));
    assert_ok(h.api->stream->destroy(w.stream, &err));
  }
  close_configured("LEAT_WAIT_SPIN_US");
}

/* ---- Threads that are stuck in the driver ---------------------------------------------------------------------------
 */

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
    start_thread(&thread, leave_work, &t[i]);
    join_thread(thread);
  }
  nulldriver_release();
  join_thread(stuck);
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
  start_thread(&threads[0], run_and_flush, &runners[0]);
  nulldriver_wait_held();
  start_thread(&threads[1], run_and_flush, &runners[1]);
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
  join_thread(threads[0]);
  join_thread(threads[1]);
  end_both(runners);
  /* After that nobody is held up. */
  start_both(runners, threads);
  join_thread(threads[1]);
  nulldriver_release();
  join_thread(threads[0]);
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
  start_thread(&thread, close_in_thread, &c);
  (void)nanosleep(&nap, NULL);
  assert_false(atomic_load_explicit(&c.closed, memory_order_acquire));
  nulldriver_release();
  join_thread(stuck);
  join_thread(thread);
  assert_int_equal(c.status, LEAT_OK);
  assert_ok(h.api->shutdown(&err));
}

/* ---- Events that are recorded anew ----------------------------------------------------------------------------------
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
  start_thread(&thread, read_stopwatch, &w);
  nulldriver_wait_held();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_ok(h.api->event->record(w.start, streams[0], &err));
  nulldriver_release();
  join_thread(thread);
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
  join_thread(thread);
  assert_int_equal(w.status, LEAT_OK);
  assert_arrived(&t, 1);
  give_blocks(&t);
  assert_ok(h.api->event->destroy(w.event, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_configured("LEAT_WAIT_SPIN_US");
}

/* ---- Lists that others submit ---------------------------------------------------------------------------------------
 */

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
    const leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
    leat_stream *const stream = make_stream();
    follower f = {.stream = make_stream(), .event = make_event()};
    take_blocks(&t[0], NULL);
    take_blocks(&t[1], NULL);
    start_stuck(&stuck, &t[0]);
    assert_int_equal(put_run(&t[1], stream, 1), LEAT_OK);
    assert_ok(h.api->event->record(f.event, stream, &err));
    const uint64_t calls = nulldriver_calls("vkWaitSemaphores");
    start_thread(&thread, ways[i], &f);
    const bool behind_role = ways[i] != wait_for_its_event;
    while (behind_role ? (atomic_load(&lane->leader.holder) & FUTEX_WAITERS) == 0
                       : atomic_load(&wanting_thread) == 0 || !sleeps(atomic_load(&wanting_thread))) {
      (void)sched_yield();
    }
    assert_int_equal(nulldriver_calls("vkWaitSemaphores"), calls);
    assert_true(behind_role || (atomic_load(&lane->leader.holder) & FUTEX_WAITERS) == 0);
    nulldriver_release();
    join_thread(stuck);
    join_thread(thread);
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
void __real_leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_interval);
void __wrap_leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_interval);
void __wrap_leati_lane_add(leati_lane *lane, leati_submission *submission, uint32_t *inout_interval) {
  if (atomic_exchange(&want_next, false)) {
    wanted = submission;
    start_thread(&wanting, want, NULL);
    while (atomic_load(&wanting_thread) == 0 || !sleeps(atomic_load(&wanting_thread))) {
      (void)sched_yield();
    }
  }
  __real_leati_lane_add(lane, submission, inout_interval);
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
  join_thread(wanting);
  assert_arrived(&t, 1);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* ---- Downloads that nobody can ask for any more ---------------------------------------------------------------------
 */

/* The next thread that copies a large download waits in the middle until the one that gives the download up sleeps, or
 * has given it up: then where it goes may be gone. */
static atomic_bool hold_next, copying, given_up, copied_too_late;

void __real_leati_copy_past_caches(void *to, const void *from, size_t size);
void __wrap_leati_copy_past_caches(void *to, const void *from, size_t size);
void __wrap_leati_copy_past_caches(void *to, const void *from, size_t size) {
  if (atomic_exchange(&hold_next, false)) {
    atomic_store(&copying, true);
    while (!atomic_load(&given_up) && (atomic_load(&wanting_thread) == 0 || !sleeps(atomic_load(&wanting_thread)))) {
      (void)sched_yield();
    }
    atomic_store(&copied_too_late, atomic_load(&given_up));
  }
  __real_leati_copy_past_caches(to, from, size);
}

static void *trim(void *unused) {
  uint64_t released;
  (void)unused;
  HOST_NEED(h.api->memory->trim(h.device, &released, &err));
  return NULL;
}

/* Any thread may make the downloads of a stream. Whoever lets the last go that could ask for one, the stream or an
 * event of it, may free where it goes, and so is held up until one that is being made is there. */
static void a_download_that_is_given_up_is_made_before_or_never(void **state) {
  (void)state;
  for (int by_event = 0; by_event < 2; ++by_event) {
    int64_t floats = LEATI_DELIVERY_HUGE_MIN / sizeof(float);
    pthread_t thread;
    uint64_t block;
    open_device();
    float *const out = malloc(LEATI_DELIVERY_HUGE_MIN);
    assert_non_null(out);
    leat_stream *const stream = make_stream();
    leat_event *const event = make_event();
    assert_ok(h.api->memory->alloc(h.device, LEATI_DELIVERY_HUGE_MIN, NULL, &block, &err));
    const DLTensor from = device_tensor(block, &floats), to = host_tensor(out, &floats);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_ok(h.api->memory->copy(stream, &from, &to, &err));
    assert_ok(h.api->stream->flush(stream, &err));
    if (by_event != 0) {
      assert_ok(h.api->event->record(event, stream, &err));
      assert_ok(h.api->stream->destroy(stream, &err));
    }
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    atomic_store(&wanting_thread, 0);
    atomic_store(&copying, false);
    atomic_store(&given_up, false);
    atomic_store(&hold_next, true);
    start_thread(&thread, trim, NULL);
    while (!atomic_load(&copying)) {
      (void)sched_yield();
    }
    atomic_store(&wanting_thread, leati_thread_id());
    assert_ok(by_event != 0 ? h.api->event->destroy(event, &err) : h.api->stream->destroy(stream, &err));
    atomic_store(&given_up, true);
    join_thread(thread);
    assert_false(atomic_load(&copied_too_late));
    free(out);
    assert_ok(h.api->memory->free(h.device, block, &err));
    if (by_event == 0) {
      assert_ok(h.api->event->destroy(event, &err));
    }
    close_device();
  }
}

/* What others leave to be joined while it waits goes as soon as the queue has room, not when its own work has run. */
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
    leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
    /* It learns nothing of how long things take here, and keeps two batches in flight. */
    atomic_store_explicit(&lane->batching.ended, UINT64_MAX, memory_order_relaxed);
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
    start_thread(&thread, wait_for_event, event);
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
    join_thread(thread);
    assert_ok(h.api->device->synchronize(h.device, &err));
    give_blocks(&t);
    assert_ok(h.api->event->destroy(event, &err));
    for (int j = 0; j < 3; ++j) {
      assert_ok(h.api->stream->destroy(streams[j], &err));
    }
    close_configured("LEAT_WAIT_SPIN_US");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(who_waits_holds_nobody_up),
      CASE(a_thread_ends_while_another_is_stuck_in_the_driver),
      CASE(queues_get_their_first_work_one_after_the_other),
      CASE(closing_waits_for_a_thread_that_is_giving_back),
      CASE(an_event_that_is_recorded_anew_has_no_time_yet),
      CASE(a_wait_keeps_the_downloads_of_an_event_that_is_recorded_anew),
      CASE(who_needs_a_list_that_a_leader_submits_sleeps),
      CASE(who_needs_a_list_that_is_being_handed_over_sleeps),
      CASE(a_download_that_is_given_up_is_made_before_or_never),
      CASE(who_waits_looks_after_its_lane),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.threads", tests, NULL, NULL);
}
