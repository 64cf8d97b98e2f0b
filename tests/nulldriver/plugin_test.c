/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin on the null driver: contents are right in every mode of completion and on devices of several shapes,
 * failures of the driver come out as the ABI says, and no rule is broken and nothing left behind on any way. */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nulldriver/blocks.h"
#include "nulldriver/host.h"
#include "streams/lane.h"
#include "streams/recorder.h"
#include "streams/stream.h"
#include "streams/stream_state.h"

/* One stream, one run after the other. */
static void run_through(uint32_t runs) {
  static blocks t;
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  for (uint32_t i = 0; i < runs; ++i) {
    assert_int_equal(upload(&t, stream, i), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, i);
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
}

static void opening_and_closing_leaves_nothing(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    open_device();
    close_device();
    assert_int_equal(host_report_leaks(), 0);
  }
}

static void contents_are_right_in_every_mode(void **state) {
  (void)state;
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_LATE, NULLDRIVER_SHUFFLED,
                                          NULLDRIVER_THREADED};
  open_device();
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    nulldriver_set_mode(modes[i], 5);
    run_through(20);
  }
  close_device();
}

static void contents_are_right_on_devices_of_other_shapes(void **state) {
  (void)state;
  for (int i = 0; i < 5; ++i) {
    nulldriver_shape shape = nulldriver_get_shape();
    shape.queue_count = i == 0 ? 0 : i == 1 ? 1 : 16;
    shape.no_mapped_device_local = i == 2;
    shape.no_host_query_reset = i == 3;
    shape.type = i == 4 ? VK_PHYSICAL_DEVICE_TYPE_CPU : VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    nulldriver_set_shape(&shape);
    nulldriver_set_mode(NULLDRIVER_THREADED, 2);
    open_device();
    run_through(10);
    close_device();
    nulldriver_reset();
  }
}

static void nothing_is_done_before_the_device_has_done_it(void **state) {
  (void)state;
  static blocks t;
  open_device();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  leat_stream *const stream = make_stream();
  leat_event *const event = make_event();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_int_equal(download(&t, stream), LEAT_OK);
  assert_ok(h.api->event->record(event, stream, &err));
  assert_int_equal(h.api->stream->query(stream, NULL), LEAT_ERROR_NOT_READY);
  assert_int_equal(h.api->event->query(event, NULL), LEAT_ERROR_NOT_READY);
  assert_int_equal(h.api->event->wait(event, 1000000, NULL), LEAT_ERROR_TIMEOUT);
  assert_int_equal(host_compare(t.out, COUNT, (host_content){.seed = 1, .rectified = true}), 0);
  assert_true(nulldriver_step(UINT32_MAX) > 0);
  assert_ok(h.api->event->query(event, &err));
  assert_arrived(&t, 1);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* What is given back in flight is not touched before it has run. */
static void everything_may_go_while_it_is_in_flight(void **state) {
  (void)state;
  static blocks t;
  open_device();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (int i = 0; i < 10; ++i) {
    leat_stream *const stream = make_stream();
    leat_event *const event = make_event();
    take_blocks(&t, stream);
    assert_int_equal(upload(&t, stream, 1), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_ok(h.api->event->record(event, stream, &err));
    give_blocks(&t);
    assert_ok(h.api->event->destroy(event, &err));
    assert_ok(h.api->stream->destroy(stream, &err));
    assert_ok(h.api->memory->trim(h.device, NULL, &err));
  }
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  close_device();
}

static void events_order_streams_whatever_overtakes(void **state) {
  (void)state;
  enum { STREAMS = 9 };
  static blocks t;
  open_device();
  leat_stream *streams[STREAMS];
  leat_event *const event = make_event();
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = make_stream();
  }
  take_blocks(&t, NULL);
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    nulldriver_set_mode(seed % 3 == 0 ? NULLDRIVER_THREADED : NULLDRIVER_SHUFFLED, seed);
    for (uint32_t step = 0; step < 3; ++step) {
      leat_stream *const stream = streams[(seed * 3 + step) % STREAMS];
      assert_ok(h.api->stream->wait_event(stream, event, &err));
      assert_int_equal(step == 0   ? upload(&t, stream, seed)
                       : step == 1 ? rectify(&t, stream)
                                   : download(&t, stream),
                       LEAT_OK);
      assert_ok(h.api->event->record(event, stream, &err));
    }
    assert_ok(h.api->event->wait(event, -1, &err));
    assert_arrived(&t, seed);
  }
  give_blocks(&t);
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  assert_ok(h.api->event->destroy(event, &err));
  close_device();
}

/* ---- Events with timing --------------------------------------------------------------------------------------------
 */

static leat_event *make_timed_event(void) {
  leat_event *event;
  assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &event, &err));
  return event;
}

/* The device's clock rises with every look at it. */
static void timed_events_measure_in_every_mode(void **state) {
  (void)state;
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_LATE, NULLDRIVER_SHUFFLED,
                                          NULLDRIVER_THREADED};
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  leat_event *events[3];
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  for (int i = 0; i < 3; ++i) {
    events[i] = make_timed_event();
  }
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    nulldriver_set_mode(modes[i], 5);
    for (int round = 0; round < 20; ++round) {
      double first, second, both, back;
      assert_ok(h.api->event->record(events[0], stream, &err));
      assert_int_equal(rectify(&t, stream), LEAT_OK);
      assert_ok(h.api->event->record(events[1], stream, &err));
      /* The third is behind the second by way of another stream. */
      assert_ok(h.api->stream->wait_event(other, events[1], &err));
      assert_ok(h.api->event->record(events[2], other, &err));
      assert_ok(h.api->event->wait(events[2], -1, &err));
      assert_ok(h.api->event->elapsed(events[0], events[1], &first, &err));
      assert_ok(h.api->event->elapsed(events[1], events[2], &second, &err));
      assert_ok(h.api->event->elapsed(events[0], events[2], &both, &err));
      assert_ok(h.api->event->elapsed(events[2], events[0], &back, &err));
      assert_true(first > 0.0 && second > 0.0 && first + second == both && back == -both);
    }
  }
  for (int i = 0; i < 3; ++i) {
    assert_ok(h.api->event->destroy(events[i], &err));
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(other, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Elapsed time between two lanes and on one. */
static void time_lanes(int32_t across) {
  static blocks t;
  double ns = 0.0;
  open_configured("LEAT_LANES", "2");
  leat_stream *const streams[2] = {make_stream(), make_stream()};
  leat_event *events[2], *const again = make_timed_event();
  leat_stream_info where[2] = {{.struct_size = sizeof(where[0])}, {.struct_size = sizeof(where[0])}};
  take_blocks(&t, streams[0]);
  assert_int_equal(upload(&t, streams[0], 1), LEAT_OK);
  /* While the first lane has something to do, the other one is the better choice. */
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (int i = 0; i < 2; ++i) {
    events[i] = make_timed_event();
    assert_int_equal(rectify(&t, streams[i]), LEAT_OK);
    assert_ok(h.api->event->record(events[i], streams[i], &err));
    assert_ok(h.api->stream->info(streams[i], &where[i], &err));
  }
  assert_int_not_equal(where[0].lane, where[1].lane);
  assert_ok(h.api->event->record(again, streams[0], &err));
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  assert_int_equal(h.api->event->elapsed(events[0], events[1], &ns, NULL), across);
  assert_ok(h.api->event->elapsed(events[0], again, &ns, &err));
  assert_true(ns > 0.0);
  give_blocks(&t);
  assert_ok(h.api->event->destroy(again, &err));
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->event->destroy(events[i], &err));
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  close_configured("LEAT_LANES");
}

static void time_between_lanes_needs_a_clock_that_they_share(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  time_lanes(LEAT_OK);
  shape.no_calibrated_timestamps = true;
  nulldriver_set_shape(&shape);
  time_lanes(LEAT_ERROR_NOT_SUPPORTED);
}

static void a_time_is_there_when_both_events_have_finished(void **state) {
  (void)state;
  double before = -1.0, after = -1.0;
  open_device();
  leat_stream *const stream = make_stream();
  leat_event *const start = make_timed_event(), *const end = make_timed_event(), *const plain = make_event();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_ok(h.api->event->record(start, stream, &err));
  assert_int_equal(h.api->event->elapsed(start, end, &before, NULL), LEAT_ERROR_NOT_READY);
  assert_int_equal(nulldriver_step(UINT32_MAX), 1);
  assert_int_equal(h.api->event->elapsed(start, end, &before, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->event->record(end, stream, &err));
  assert_ok(h.api->event->record(plain, stream, &err));
  assert_int_equal(h.api->event->elapsed(start, end, &before, NULL), LEAT_ERROR_NOT_READY);
  (void)nulldriver_step(UINT32_MAX);
  assert_ok(h.api->event->elapsed(start, end, &before, &err));
  assert_int_equal(h.api->event->elapsed(start, plain, &before, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  /* Recorded again it forgets the old time, and has the new one when that is there. */
  assert_ok(h.api->event->record(end, stream, &err));
  assert_int_equal(h.api->event->elapsed(start, end, &after, NULL), LEAT_ERROR_NOT_READY);
  (void)nulldriver_step(UINT32_MAX);
  assert_ok(h.api->event->elapsed(start, end, &after, &err));
  assert_true(after > before && before > 0.0);
  assert_ok(h.api->event->destroy(start, &err));
  assert_ok(h.api->event->destroy(end, &err));
  assert_ok(h.api->event->destroy(plain, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* What a destroyed or re-recorded event had the device write is not written anew before the device has done it, and is
 * used again after that. */
static void timed_events_may_go_in_flight(void **state) {
  (void)state;
  enum { EVENTS = 300 };
  uint32_t pools = 0;
  open_device();
  leat_stream *const stream = make_stream();
  for (int round = 0; round < 4; ++round) {
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    for (int i = 0; i < EVENTS; ++i) {
      leat_event *const event = make_timed_event();
      assert_ok(h.api->event->record(event, stream, &err));
      if (i % 2 != 0) {
        assert_ok(h.api->event->record(event, stream, &err));
      }
      assert_ok(h.api->event->destroy(event, &err));
    }
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    assert_ok(h.api->stream->synchronize(stream, &err));
    if (round == 0) {
      pools = nulldriver_live(NULLDRIVER_QUERY_POOL);
    }
  }
  assert_true(pools > 0);
  assert_int_equal(nulldriver_live(NULLDRIVER_QUERY_POOL), pools);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void timed_events_of_a_lost_device_say_so(void **state) {
  (void)state;
  double ns = -1.0;
  open_device();
  leat_stream *const stream = make_stream();
  leat_event *const start = make_timed_event(), *const end = make_timed_event();
  assert_ok(h.api->event->record(start, stream, &err));
  assert_ok(h.api->event->wait(start, -1, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_ok(h.api->event->record(end, stream, &err));
  nulldriver_lose_device();
  assert_int_equal(h.api->event->wait(end, -1, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->event->elapsed(start, end, &ns, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->event->record(start, stream, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->event->elapsed(start, start, &ns, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_ok(h.api->event->destroy(start, &err));
  assert_ok(h.api->event->destroy(end, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* ---- Sync files ----------------------------------------------------------------------------------------------------
 */

static bool is_readable(int32_t fd) {
  struct pollfd what = {.fd = fd, .events = POLLIN};
  assert_true(poll(&what, 1, 0) >= 0);
  return (what.revents & POLLIN) != 0;
}

/* A stream with work, and an event to stand for it. */
typedef struct fenced {
  blocks t;
  leat_stream *stream;
  leat_event *event;
} fenced;

static void open_fenced(fenced *f) {
  open_device();
  f->stream = make_stream();
  take_blocks(&f->t, f->stream);
  assert_ok(h.api->event->create(h.device, 0, &f->event, &err));
}

static void close_fenced(fenced *f) {
  give_blocks(&f->t);
  assert_ok(h.api->event->destroy(f->event, &err));
  assert_ok(h.api->stream->destroy(f->stream, &err));
  close_device();
}

/* A round trip that the device holds back, and the event behind it. */
static void hold_work(fenced *f, uint32_t seed) {
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(upload(&f->t, f->stream, seed), LEAT_OK);
  assert_int_equal(rectify(&f->t, f->stream), LEAT_OK);
  assert_int_equal(download(&f->t, f->stream), LEAT_OK);
  assert_ok(h.api->event->record(f->event, f->stream, &err));
}

static void a_sync_file_is_readable_when_the_work_has_run(void **state) {
  (void)state;
  static fenced f;
  int32_t fd = 0;
  open_fenced(&f);
  assert_ok(h.api->event->export_sync_fd(f.event, &fd, &err));
  assert_int_equal(fd, -1);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    hold_work(&f, seed);
    assert_ok(h.api->event->export_sync_fd(f.event, &fd, &err));
    assert_true(fd >= 0);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_false(is_readable(fd));
    while (nulldriver_pending() != 0) {
      assert_int_equal(nulldriver_step(1), 1);
    }
    assert_true(is_readable(fd));
    assert_int_equal(close(fd), 0);
    /* Not of exports alone: the next one frees what the last one took. */
    assert_true(nulldriver_live(NULLDRIVER_SEMAPHORE) <= h.device->queue_count + 2);
    assert_ok(h.api->event->query(f.event, &err));
    assert_arrived(&f.t, seed);
    assert_ok(h.api->event->export_sync_fd(f.event, &fd, &err));
    assert_int_equal(fd, -1);
  }
  assert_int_equal(h.api->event->export_sync_fd(f.event, NULL, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(h.api->event->export_sync_fd(NULL, &fd, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  close_fenced(&f);
}

static void a_sync_file_of_lost_work_does_not_hang(void **state) {
  (void)state;
  static fenced f;
  int32_t fd = 0;
  open_fenced(&f);
  hold_work(&f, 1);
  assert_ok(h.api->event->export_sync_fd(f.event, &fd, &err));
  assert_false(is_readable(fd));
  nulldriver_lose_device();
  assert_true(is_readable(fd));
  assert_int_equal(close(fd), 0);
  assert_int_equal(h.api->event->query(f.event, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->event->export_sync_fd(f.event, &fd, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(fd, -1);
  close_fenced(&f);
}

static void a_sync_file_that_cannot_be_had_changes_nothing(void **state) {
  (void)state;
  static fenced f;
  static const char *const functions[] = {"vkCreateSemaphore", "vkQueueSubmit", "vkGetSemaphoreFdKHR"};
  open_fenced(&f);
  for (uint32_t i = 0; i < 9; ++i) {
    int32_t fd = 0;
    hold_work(&f, i);
    assert_true(nulldriver_fail(functions[i % 3], 1, VK_ERROR_OUT_OF_HOST_MEMORY));
    assert_int_equal(h.api->event->export_sync_fd(f.event, &fd, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(fd, -1);
    assert_ok(h.api->event->export_sync_fd(f.event, &fd, &err));
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    assert_ok(h.api->event->wait(f.event, -1, &err));
    assert_arrived(&f.t, i);
    assert_true(is_readable(fd));
    assert_int_equal(close(fd), 0);
  }
  close_fenced(&f);
}

static void a_sync_file_of_a_failed_event_is_its_error(void **state) {
  (void)state;
  static fenced f;
  int32_t fd = 0;
  open_fenced(&f);
  assert_int_equal(upload(&f.t, f.stream, 1), LEAT_OK);
  assert_int_equal(rectify(&f.t, f.stream), LEAT_OK);
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  assert_int_equal(h.api->event->record(f.event, f.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  leat_error said = {.struct_size = sizeof(said)};
  assert_int_equal(h.api->event->export_sync_fd(f.event, &fd, &said), LEAT_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(said.message, "vkQueueSubmit"));
  close_fenced(&f);
}

static void a_device_without_sync_files_says_so(void **state) {
  (void)state;
  leat_event *event;
  int32_t fd = 0;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.no_sync_fd = true;
  nulldriver_set_shape(&shape);
  open_device();
  assert_ok(h.api->event->create(h.device, 0, &event, &err));
  leat_error said = {.struct_size = sizeof(said)};
  assert_int_equal(h.api->event->export_sync_fd(event, &fd, &said), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(said.message, "VK_KHR_external_semaphore_fd"));
  assert_ok(h.api->event->destroy(event, &err));
  close_device();
}

/* ---- Host memory ---------------------------------------------------------------------------------------------------
 */

/* The plugin's host memory, by the linker: these stand in front of plugin/sync.c. */
static struct {
  _Atomic uint32_t calls;      /* since it was last set to 0 */
  uint32_t fail_from, fail_to; /* calls that find no memory, counted from 1; set while no other thread runs */
  _Atomic int64_t live;
} heap;

static bool heap_fails(void) {
  const uint32_t call = atomic_fetch_add_explicit(&heap.calls, 1, memory_order_relaxed) + 1;
  return call >= heap.fail_from && call < heap.fail_to;
}

static void *heap_count(void *memory) {
  (void)atomic_fetch_add_explicit(&heap.live, memory != NULL ? 1 : 0, memory_order_relaxed);
  return memory;
}

#define HEAP_WRAP(type, name, parameters) \
  type __real_##name parameters;          \
  type __wrap_##name parameters;          \
  type __wrap_##name parameters
HEAP_WRAP(void *, leati_calloc, (size_t count_, size_t size)) {
  return heap_fails() ? NULL : heap_count(__real_leati_calloc(count_, size));
}
HEAP_WRAP(void *, leati_calloc_line, (size_t size)) {
  return heap_fails() ? NULL : heap_count(__real_leati_calloc_line(size));
}
HEAP_WRAP(void *, leati_realloc, (void *memory, size_t size)) {
  if (heap_fails()) {
    return NULL;
  }
  void *const grown = __real_leati_realloc(memory, size);
  return memory == NULL ? heap_count(grown) : grown;
}
HEAP_WRAP(void, leati_free, (void *memory)) {
  (void)atomic_fetch_sub_explicit(&heap.live, memory != NULL ? 1 : 0, memory_order_relaxed);
  __real_leati_free(memory);
}

/* ---- Failures ------------------------------------------------------------------------------------------------------
 */

static void *wait_for_failed_event(void *event) {
  return h.api->event->wait(event, -1, NULL) == LEAT_ERROR_OUT_OF_MEMORY ? NULL : event;
}

static void a_failed_submission_is_sticky_until_cleared(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  leat_event *const event = make_event();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  assert_int_equal(h.api->stream->flush(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(rectify(&t, stream), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->event->record(event, stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->event->wait(event, -1, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->stream->clear_error(stream, &err));
  assert_int_equal(upload(&t, stream, 2), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_int_equal(download(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&t, 2);
  /* The event goes on standing for what failed, for every thread, until it is recorded again. */
  leat_stream *const other = make_stream();
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    void *told = NULL;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_failed_event, event), 0);
    assert_int_equal(pthread_join(thread, &told), 0);
    assert_null(told);
    assert_int_equal(h.api->event->query(event, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  }
  (void)h.api->stream->wait_event(other, event, NULL);
  assert_int_equal(h.api->stream->synchronize(other, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->event->record(event, stream, &err));
  assert_ok(h.api->event->wait(event, -1, &err));
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_timed_record_without_memory_changes_nothing(void **state) {
  (void)state;
  open_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  leat_event *event;
  assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &event, &err));
  heap.calls = 0;
  heap.fail_from = 1;
  heap.fail_to = UINT32_MAX;
  assert_int_equal(h.api->event->record(event, stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  heap.fail_to = 0;
  assert_ok(h.api->stream->error(stream, &err));
  assert_ok(h.api->event->query(event, &err));
  assert_ok(h.api->event->wait(event, -1, &err));
  assert_ok(h.api->stream->wait_event(other, event, &err));
  assert_ok(h.api->event->record(event, stream, &err));
  assert_ok(h.api->event->wait(event, -1, &err));
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

/* Lets the queue, or who writes for it, refuse the next list of a stream. */
static void lose_list(blocks *t, leat_stream *stream, const char *function) {
  assert_int_equal(rectify(t, stream), LEAT_OK);
  assert_true(nulldriver_fail(function, 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(h.api->stream->flush(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
}

static void fail_and_clear(blocks *t, leat_stream *stream) {
  lose_list(t, stream, "vkQueueSubmit");
  assert_ok(h.api->stream->clear_error(stream, &err));
}

/* A wait that the driver breaks off is no wait. */
static void a_failure_is_not_cleared_while_what_came_before_it_runs(void **state) {
  (void)state;
  static blocks t;
  open_configured("LEAT_WAIT_SPIN_US", "0");
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_int_equal(download(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  lose_list(&t, stream, "vkQueueSubmit");
  assert_true(nulldriver_fail("vkWaitSemaphores", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  const int32_t status = h.api->stream->clear_error(stream, NULL);
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  if (status == LEAT_OK) {
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, 1);
  }
  assert_int_equal(status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->stream->clear_error(stream, &err));
  assert_arrived(&t, 1);
  assert_ok(h.api->stream->destroy(stream, &err));
  give_blocks(&t);
  close_configured("LEAT_WAIT_SPIN_US");
}

static void downloads_before_a_failure_have_arrived_when_it_is_cleared(void **state) {
  (void)state;
  static blocks t;
  open_device();
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  for (uint32_t seed = 1; seed < 4; ++seed) {
    leat_stream *const stream = make_stream();
    take_blocks(&t, stream);
    assert_int_equal(upload(&t, stream, seed), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    fail_and_clear(&t, stream);
    assert_arrived(&t, seed);
    assert_int_equal(nulldriver_pending(), 0);
    assert_ok(h.api->stream->destroy(stream, &err));
    give_blocks(&t);
  }
  close_device();
}

/* A dispatch that has an address for what it finds as its arguments. */
static int32_t record_finding(leati_recorder *recorder, const void *name, leat_error *err) {
  static const unsigned char args[sizeof(uint64_t)];
  const leati_pipeline_key key = {.kernel = LEATI_KERNEL_DOWNLOAD_8};
  leati_plan_step step = {
      .tells = true, .groups = {1, 1, 1}, .args_size = sizeof(args), .fault = LEATI_FAULT_DIVISOR, .name = name};
  const leati_plan plan = {.step_count = 1, .steps = &step, .args = args};
  leati_binding none;
  const int32_t status = leati_pipeline_compile(h.device, &key, err);
  assert_true(leati_pipeline_find(h.device, &key, &step.pipeline));
  return status == LEAT_OK ? leati_record_plan(recorder, &plan, &none, err) : status;
}

static void find_or_compute(const nulldriver_dispatch *dispatch, void *user) {
  uint64_t address;
  if (dispatch->code != leati_kernel_codes[LEATI_KERNEL_DOWNLOAD_8].words) {
    host_compute(dispatch, user);
    return;
  }
  memcpy(&address, dispatch->arguments, sizeof(address));
  leati_finding *const finding = nulldriver_at(address, sizeof(*finding));
  finding->met = 1;
}

/* Unlike what the queue refused, a list in which a kernel found something has run, and so will those behind it. */
static void what_comes_behind_a_finding_runs_to_its_end(void **state) {
  (void)state;
  static blocks t;
  leat_error said = {.struct_size = sizeof(said)};
  open_configured("LEAT_MEMORY_GUARD", "1");
  nulldriver_set_kernel(find_or_compute, NULL);
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  leat_stream *const stream = make_stream();
  leat_event *const event = make_event();
  take_blocks(&t, stream);
  assert_ok(leati_record(stream, record_finding, "Fraction", &err));
  assert_ok(h.api->event->record(event, stream, &err));
  assert_int_equal(put_run(&t, stream, 3), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_int_equal(h.api->event->wait(event, -1, &said), LEAT_ERROR_INVALID_ARGUMENT);
  assert_string_equal(said.message, "Fraction: an integer was divided by zero");
  assert_int_equal(nulldriver_pending(), 1);
  /* No block of it may be reused yet. */
  leati_timeline *const timeline = atomic_load(&stream->timeline);
  assert_false(leati_timeline_passed(timeline, atomic_load(&timeline->promised)));
  assert_int_equal(h.api->stream->flush(stream, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->stream->clear_error(stream, &err));
  assert_int_equal(nulldriver_pending(), 0);
  assert_arrived(&t, 3);
  /* The timeline that failed is let go. */
  assert_null(atomic_load(&stream->timeline)->replaced);
  assert_int_equal(put_run(&t, stream, 4), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&t, 4);
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_configured("LEAT_MEMORY_GUARD");
}

/* Whoever is told of a failure frees the destinations. */
static void no_download_is_under_way_once_a_failure_is_told(void **state) {
  (void)state;
  static blocks t;
  open_device();
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  for (uint32_t seed = 1; seed < 4; ++seed) {
    assert_int_equal(upload(&t, stream, seed), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    for (uint32_t i = 1; i < seed; ++i) {
      fail_and_clear(&t, stream);
    }
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
    assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_arrived(&t, seed);
    assert_int_equal(nulldriver_pending(), 0);
    assert_ok(h.api->stream->clear_error(stream, &err));
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* The same for waits of an event, also when the stream is gone. */
static void no_download_is_under_way_once_an_event_tells_a_failure(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_event *const event = make_event();
  take_blocks(&t, NULL);
  for (uint32_t seed = 1; seed < 5; ++seed) {
    const bool gone = seed > 2;
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    leat_stream *const stream = make_stream();
    assert_int_equal(upload(&t, stream, seed), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
    assert_int_equal(h.api->event->record(event, stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_ok(gone ? h.api->stream->destroy(stream, &err) : LEAT_OK);
    assert_int_equal(h.api->event->wait(event, 0, NULL), LEAT_ERROR_TIMEOUT);
    assert_int_equal(h.api->event->wait(event, 1000000, NULL), LEAT_ERROR_TIMEOUT);
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    assert_int_equal(h.api->event->wait(event, -1, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_arrived(&t, seed);
    assert_int_equal(nulldriver_pending(), 0);
    /* What the stream goes on with takes nothing away from the event. */
    assert_ok(gone ? LEAT_OK : h.api->stream->clear_error(stream, &err));
    assert_int_equal(h.api->event->wait(event, 0, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_ok(gone ? LEAT_OK : h.api->stream->destroy(stream, &err));
  }
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  close_device();
}

static leat_memory_stats memory_stats(void) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  assert_ok(h.api->memory->stats(h.device, &stats, &err));
  return stats;
}

static void failures_hold_no_staging_and_no_command_pools(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  uint64_t bytes = 0;
  uint32_t pools = 0;
  for (uint32_t i = 0; i < 20; ++i) {
    assert_int_equal(upload(&t, stream, i), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    fail_and_clear(&t, stream);
    if (i == 3) {
      bytes = memory_stats().staging_bytes;
      pools = nulldriver_live(NULLDRIVER_COMMAND_POOL);
    }
  }
  assert_int_equal(memory_stats().staging_bytes, bytes);
  assert_int_equal(nulldriver_live(NULLDRIVER_COMMAND_POOL), pools);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* A copy to a temporary tensor, beside another one of `more` bytes, if that is not 0. */
static int32_t record_to_temporary(leati_recorder *recorder, const leati_view *from, uint64_t more, leat_error *err) {
  const uint64_t size = COUNT * sizeof(float);
  const leati_plan_access accesses[] = {{.binding = 0, .field = LEATI_FIELD_NONE, .end = (int64_t)size},
                                        {.binding = 1, .field = LEATI_FIELD_NONE, .end = (int64_t)size}};
  const leati_plan_step step = {.copies = true, .read_count = 1, .write_count = 1};
  const leati_temporary temporaries[] = {{.size = size}, {.size = more}};
  const leati_plan plan = {.binding_count = more == 0 ? 2 : 3,
                           .step_count = 1,
                           .access_count = 2,
                           .temporary_count = more == 0 ? 1 : 2,
                           .steps = &step,
                           .accesses = accesses,
                           .temporaries = temporaries};
  leati_binding bindings[3] = {{.address = from->address, .block = from->block}};
  return leati_record_plan(recorder, &plan, bindings, err);
}

/* A copy to a temporary, and then the operation is not supported after all. */
static int32_t record_and_refuse(leati_recorder *recorder, const void *what, leat_error *err) {
  return record_to_temporary(recorder, what, 0, err) == LEAT_OK ? LEAT_ERROR_NOT_SUPPORTED : LEAT_ERROR_INTERNAL;
}

/* What an operation used that failed half-way must come free, though no work of the stream ever touches it. */
static void memory_of_a_failed_operation_comes_back(void **state) {
  (void)state;
  static blocks t;
  leati_view from;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  const DLTensor tensor = device_tensor(t.a, &count);
  assert_ok(leati_view_import(h.device, &tensor, "a", &from, &err));
  assert_int_equal(leati_record(stream, record_and_refuse, &from, NULL), LEAT_ERROR_NOT_SUPPORTED);
  assert_ok(h.api->stream->destroy(stream, &err));
  give_blocks(&t);
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_int_equal(memory_stats().reserved_bytes, 0);
  close_device();
}

/* An upload, and then the operation is not supported after all. */
static int32_t upload_and_refuse(leati_recorder *recorder, const void *what, leat_error *err) {
  const leati_view *const views = what;
  return leati_record_copy(recorder, &views[0], &views[1], err) == LEAT_OK ? LEAT_ERROR_NOT_SUPPORTED
                                                                           : LEAT_ERROR_INTERNAL;
}

static void staging_of_a_failed_operation_is_used_again(void **state) {
  (void)state;
  static blocks t;
  leati_view views[2];
  uint64_t bytes = 0;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  const DLTensor from = host_tensor(t.in, &count), to = device_tensor(t.a, &count);
  assert_ok(leati_view_import(h.device, &from, "in", &views[0], &err));
  assert_ok(leati_view_import(h.device, &to, "a", &views[1], &err));
  for (uint32_t i = 0; i < 500; ++i) {
    assert_int_equal(leati_record(stream, upload_and_refuse, views, NULL), LEAT_ERROR_NOT_SUPPORTED);
    bytes = i == 0 ? memory_stats().staging_bytes : bytes;
  }
  assert_int_equal(memory_stats().staging_bytes, bytes);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* The device works while the rest is recorded. */
static void a_long_list_goes_without_being_asked(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  const uint64_t before = nulldriver_calls("vkQueueSubmit");
  for (int i = 0; i < 512; ++i) {
    assert_int_equal(rectify(&t, stream), LEAT_OK);
  }
  assert_true(nulldriver_calls("vkQueueSubmit") > before);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Runs and looks at the result; returns how many command buffers were written for it. */
static uint64_t written_for_run(blocks *t, leat_stream *stream, uint32_t seed) {
  const uint64_t before = nulldriver_calls("vkBeginCommandBuffer");
  assert_int_equal(put_run(t, stream, seed), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(t, seed);
  return nulldriver_calls("vkBeginCommandBuffer") - before;
}

/* The same for a list of so many operators. */
static uint64_t written_for_row(blocks *t, leat_stream *stream, int operators) {
  const uint64_t before = nulldriver_calls("vkBeginCommandBuffer");
  for (int i = 0; i < operators; ++i) {
    assert_int_equal(rectify(t, stream), LEAT_OK);
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  return nulldriver_calls("vkBeginCommandBuffer") - before;
}

/* Nor is a timestamp repeated, which goes to another place each time. */
static void what_comes_again_is_not_written_again(void **state) {
  (void)state;
  /* As many lists as a lane makes tapes for. */
  enum { STREAMS = 8, ROUNDS = 20 };
  static blocks t[STREAMS];
  leat_stream *streams[STREAMS];
  uint64_t trimmed;
  uint32_t seed = 1;
  open_configured("LEAT_LANES", "1");
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = make_stream();
    take_blocks(&t[i], NULL);
    assert_true(written_for_run(&t[i], streams[i], seed++) > 0);
  }
  for (int i = 0; i < STREAMS * ROUNDS; ++i) {
    assert_int_equal(written_for_run(&t[i % STREAMS], streams[i % STREAMS], seed++), 0);
  }
  /* Where another one attends the lane too they are. */
  leati_lane *const lane = leati_lane_of(h.device->counters[0]);
  leati_lane_attend(lane);
  for (int i = 0; i < ROUNDS; ++i) {
    assert_true(written_for_run(&t[0], streams[0], seed++) > 0);
  }
  leati_lane_leave(lane, true);
  /* A segment and the staging that the tapes name go, and its handles may come back as those of something else. */
  uint64_t large;
  assert_ok(h.api->memory->alloc(h.device, UINT64_C(64) << 20, NULL, &large, &err));
  assert_ok(h.api->memory->free(h.device, large, &err));
  const uint32_t destroyed = atomic_load_explicit(&h.device->destroyed, memory_order_relaxed);
  const uint64_t gone = nulldriver_calls("vkDestroyBuffer");
  assert_ok(h.api->memory->trim(h.device, &trimmed, &err));
  assert_true(nulldriver_calls("vkDestroyBuffer") > gone);
  assert_int_equal(atomic_load_explicit(&h.device->destroyed, memory_order_relaxed) - destroyed,
                   nulldriver_calls("vkDestroyBuffer") - gone);
  for (int i = 0; i < STREAMS; ++i) {
    assert_true(written_for_run(&t[i], streams[i], seed++) > 0);
    assert_int_equal(written_for_run(&t[i], streams[i], seed++), 0);
  }
  /* Long lists are not kept. */
  assert_int_equal(written_for_row(&t[0], streams[0], 32) + written_for_row(&t[0], streams[0], 32), 1);
  assert_int_equal(written_for_row(&t[0], streams[0], 33) + written_for_row(&t[0], streams[0], 33), 2);
  leat_event *events[2];
  const uint64_t written = nulldriver_calls("vkBeginCommandBuffer");
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &events[i], &err));
  }
  for (int i = 0; i < ROUNDS; ++i) {
    double ns = -1.0;
    for (int j = 0; j < 2; ++j) {
      assert_int_equal(rectify(&t[0], streams[0]), LEAT_OK);
      assert_ok(h.api->event->record(events[j], streams[0], &err));
    }
    assert_ok(h.api->stream->synchronize(streams[0], &err));
    assert_ok(h.api->event->elapsed(events[0], events[1], &ns, &err));
    assert_true(ns >= 0.0);
  }
  assert_int_equal(nulldriver_calls("vkBeginCommandBuffer") - written, 2 * ROUNDS);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->event->destroy(events[i], &err));
  }
  for (int i = 0; i < STREAMS; ++i) {
    give_blocks(&t[i]);
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  close_configured("LEAT_LANES");
}

static int32_t relu(leat_stream *stream, uint64_t from, uint64_t to) {
  const DLTensor in = device_tensor(from, &count), out = device_tensor(to, &count);
  const DLTensor *const ins[1] = {&in}, *const outs[1] = {&out};
  return h.api->op->invoke(h.relu, stream, 1, ins, 1, outs, NULL);
}

/* Whether the last command needs a barrier before it. */
static bool barrier_of_last(const leat_stream *stream) {
  return stream->open->commands[stream->open->command_count - 1].barrier;
}

/* Of several ranges each is found, whether it lies above the others or below them. */
static void each_range_since_the_last_barrier_is_found(void **state) {
  (void)state;
  enum { RANGES = 5, HAZARDS = 3, ROOM = 4096 }; /* read after write, write after write, write after read */
  static const unsigned orders[2][RANGES] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}};
  const uint64_t apart = 2 * ROOM; /* ranges neither touch nor fill their hull */
  uint64_t block;
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->memory->alloc(h.device, (2 * RANGES + 1) * apart, stream, &block, &err));
  for (unsigned i = 0; i < 2 * RANGES * HAZARDS; ++i) {
    const unsigned *const order = orders[i % 2];
    const unsigned range = i / 2 % RANGES, hazard = i / 2 / RANGES;
    assert_ok(h.api->stream->synchronize(stream, &err));
    for (unsigned j = 0; j < RANGES; ++j) {
      assert_int_equal(relu(stream, block + 2 * order[j] * apart, block + (2 * order[j] + 1) * apart), LEAT_OK);
      assert_false(barrier_of_last(stream));
    }
    const uint64_t in = block + 2 * range * apart, out = in + apart, other = block + 2 * RANGES * apart;
    /* Between the ranges there is nothing. */
    assert_int_equal(relu(stream, out + ROOM, other), LEAT_OK);
    assert_false(barrier_of_last(stream));
    const uint64_t from = hazard == 0 ? out : other + ROOM, to = hazard == 0 ? other + ROOM : hazard == 1 ? out : in;
    assert_int_equal(relu(stream, from, to), LEAT_OK);
    assert_true(barrier_of_last(stream));
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_ok(h.api->memory->free(h.device, block, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* More argument records than a chunk holds, in one list. */
static void records_of_several_chunks_arrive(void **state) {
  (void)state;
  enum { RUNS = 400 };
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  /* Nothing goes by itself while what the stream gave before has not ended. */
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  for (int i = 0; i < RUNS; ++i) {
    assert_int_equal(rectify(&t, stream), LEAT_OK);
  }
  const leati_submission *const list = stream->open;
  assert_ok(h.api->stream->flush(stream, &err));
  unsigned chunks = 0;
  for (const leati_chunk *chunk = list->chunks; chunk != NULL; chunk = chunk->next) {
    assert_int_equal(chunk->kind, LEATI_CHUNK_ARGUMENTS);
    assert_true(chunk->used != 0);
    assert_memory_equal(chunk->mapped, chunk->draft, chunk->used);
    ++chunks;
  }
  assert_true(chunks > 1);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Also when it has more to do than it remembers. */
static void a_lane_with_much_to_do_is_not_taken_for_an_empty_one(void **state) {
  (void)state;
  static blocks t;
  open_configured("LEAT_LANES", "2");
  leat_stream *const busy = make_stream(), *const next = make_stream();
  leat_stream_info where[2] = {{.struct_size = sizeof(where[0])}, {.struct_size = sizeof(where[0])}};
  take_blocks(&t, busy);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (uint32_t i = 0; i < LEATI_RHYTHM_BATCHES; ++i) {
    assert_int_equal(rectify(&t, busy), LEAT_OK);
    assert_ok(h.api->stream->flush(busy, &err));
  }
  assert_int_equal(nulldriver_pending(), LEATI_RHYTHM_BATCHES);
  assert_int_equal(rectify(&t, next), LEAT_OK);
  assert_ok(h.api->stream->flush(next, &err));
  assert_ok(h.api->stream->info(busy, &where[0], &err));
  assert_ok(h.api->stream->info(next, &where[1], &err));
  assert_int_not_equal(where[0].lane, where[1].lane);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(next, &err));
  assert_ok(h.api->stream->destroy(busy, &err));
  close_configured("LEAT_LANES");
}

/* A list that was to change lanes and could not be written or submitted: what went before is still on the old lane. */
static void a_stream_that_failed_on_its_way_to_another_lane_keeps_its_order(void **state) {
  (void)state;
  static blocks t;
  leat_stream *stream, *again;
  uint64_t ticket;
  open_configured("LEAT_LANES", "2");
  for (uint32_t seed = 1; seed < 16; ++seed) {
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
    take_blocks(&t, stream);
    assert_int_equal(upload(&t, stream, seed), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    leat_stream_info where = {.struct_size = sizeof(where)};
    assert_ok(h.api->stream->info(stream, &where, &err));
    /* As if others had much to do there. */
    leati_lane *const lane = leati_lane_of(h.device->counters[where.lane]);
    (void)atomic_fetch_add_explicit(&lane->lists, 5, memory_order_relaxed);
    if (seed % 2 != 0) {
      /* A list that is on no tape yet. */
      assert_int_equal(rectify(&t, stream), LEAT_OK);
    }
    lose_list(&t, stream, seed % 2 != 0 ? "vkBeginCommandBuffer" : "vkQueueSubmit");
    (void)atomic_fetch_sub_explicit(&lane->lists, 5, memory_order_relaxed);
    /* The next owner has no error, and is not asked to wait for the work of the one before. */
    assert_ok(h.api->pool->release(h.device, ticket, &err));
    assert_ok(h.api->pool->acquire(h.device, 0, &again, &ticket, &err));
    assert_ptr_equal(again, stream);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    nulldriver_set_mode(NULLDRIVER_SHUFFLED, seed);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, seed);
    give_blocks(&t);
    assert_ok(h.api->pool->release(h.device, ticket, &err));
  }
  close_configured("LEAT_LANES");
}

/* What is put into a stream in which something was found is lost, though nothing was until then: an event that is
 * recorded there has the error, and what the lost commands use is free again though an event still tells of it. */
static void what_is_open_behind_a_finding_never_comes(void **state) {
  (void)state;
  static blocks t;
  open_configured("LEAT_MEMORY_GUARD", "1");
  nulldriver_set_kernel(find_or_compute, NULL);
  leat_event *const events[] = {make_event(), make_event()};
  for (int recorded = 1; recorded <= 2; ++recorded) {
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    leat_stream *const stream = make_stream();
    take_blocks(&t, stream);
    assert_ok(leati_record(stream, record_finding, "Fraction", &err));
    assert_ok(h.api->event->record(events[0], stream, &err));
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    leati_timeline *const timeline = atomic_load(&stream->timeline);
    const uint64_t open = stream->open->value;
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    assert_int_equal(h.api->event->wait(events[0], -1, NULL), LEAT_ERROR_INVALID_ARGUMENT);
    if (recorded == 2) {
      assert_int_equal(h.api->event->record(events[1], stream, NULL), LEAT_ERROR_INVALID_ARGUMENT);
    }
    for (int cleared = 0; cleared < 2; ++cleared) {
      for (int i = 0; i < recorded; ++i) {
        assert_int_equal(h.api->event->query(events[i], NULL), LEAT_ERROR_INVALID_ARGUMENT);
        assert_int_equal(h.api->event->wait(events[i], -1, NULL), LEAT_ERROR_INVALID_ARGUMENT);
      }
      assert_ok(h.api->stream->clear_error(stream, &err));
    }
    assert_true(leati_timeline_passed(timeline, open));
    give_blocks(&t);
    assert_ok(h.api->stream->destroy(stream, &err));
  }
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->event->destroy(events[i], &err));
  }
  close_configured("LEAT_MEMORY_GUARD");
}

/* A list that was to change lanes and was lost when the next owner had the stream already: what that one puts in comes
 * after what is still on the old lane. */
static void a_stream_keeps_its_order_though_its_list_is_lost_after_its_owner_went(void **state) {
  (void)state;
  static blocks t;
  leat_stream *stream, *again;
  uint64_t ticket;
  open_configured("LEAT_LANES", "2");
  for (uint32_t seed = 1; seed < 16; ++seed) {
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
    take_blocks(&t, stream);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(upload(&t, stream, seed), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    leat_stream_info where = {.struct_size = sizeof(where)};
    assert_ok(h.api->stream->info(stream, &where, &err));
    /* As if others had much to do there, and a leader were at work on the other lane. */
    leati_lane *const lane = leati_lane_of(h.device->counters[where.lane]);
    leati_lane *const next = leati_lane_of(h.device->counters[1 - where.lane]);
    (void)atomic_fetch_add_explicit(&lane->lists, 5, memory_order_relaxed);
    assert_true(leati_role_try(&next->leader));
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    (void)atomic_fetch_sub_explicit(&lane->lists, 5, memory_order_relaxed);
    assert_ok(h.api->stream->info(stream, &where, &err));
    assert_int_equal(where.lane, next->index);
    assert_ok(h.api->pool->release(h.device, ticket, &err));
    assert_ok(h.api->pool->acquire(h.device, 0, &again, &ticket, &err));
    assert_ptr_equal(again, stream);
    assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
    leati_role_leave(&next->leader);
    leati_lane_help(next);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
    nulldriver_set_mode(NULLDRIVER_SHUFFLED, seed);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, seed);
    give_blocks(&t);
    assert_ok(h.api->pool->release(h.device, ticket, &err));
  }
  close_configured("LEAT_LANES");
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

/* Streams of the pool may be used by any thread, also while the one who has it gives it back. */
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

static void *wait_for_event(void *event) {
  return h.api->event->wait(event, -1, NULL) == LEAT_ERROR_DEVICE_LOST ? NULL : event;
}

static void a_lost_device_ends_every_wait(void **state) {
  (void)state;
  enum { WAITERS = 4 };
  static blocks t;
  pthread_t threads[WAITERS];
  void *failed;
  open_device();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  leat_stream *const stream = make_stream();
  leat_event *const event = make_event();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_ok(h.api->event->record(event, stream, &err));
  for (int i = 0; i < WAITERS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, wait_for_event, event), 0);
  }
  nulldriver_lose_device();
  for (int i = 0; i < WAITERS; ++i) {
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_int_equal(upload(&t, stream, 2), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->stream->clear_error(stream, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(h.api->device->synchronize(h.device, NULL), LEAT_ERROR_DEVICE_LOST);
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  open_device();
  run_through(3);
  close_device();
}

/* A thread with a stream and blocks of its own. */
typedef struct submitter {
  pthread_t thread;
  leat_stream *stream;
  blocks t;
  uint32_t failures;
} submitter;

static void *submit_until_lost(void *argument) {
  static const int most = 100000;
  submitter *const s = argument;
  int32_t status = LEAT_OK;
  for (int i = 0; i < most && status == LEAT_OK; ++i) {
    status = upload(&s->t, s->stream, 1);
    status = status == LEAT_OK ? rectify(&s->t, s->stream) : status;
    status = status == LEAT_OK ? download(&s->t, s->stream) : status;
    status = status == LEAT_OK ? h.api->stream->synchronize(s->stream, NULL) : status;
  }
  return status == LEAT_ERROR_DEVICE_LOST ? NULL : argument;
}

/* Runs of one thread while submissions of all fail now and then. What is told to have arrived is right; once a failure
 * was told and cleared, nothing is written any more. NULL: all went well. */
static void *submit_with_failures(void *argument) {
  submitter *const s = argument;
  for (uint32_t i = 1; i <= 400; ++i) {
    if (i % 7 == 0) {
      (void)nulldriver_fail(i % 2 != 0 ? "vkQueueSubmit" : "vkBeginCommandBuffer", 1 + i % 5,
                            VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    int32_t status = upload(&s->t, s->stream, i);
    status = status == LEAT_OK && i % 3 == 0 ? h.api->stream->flush(s->stream, NULL) : status;
    status = status == LEAT_OK ? rectify(&s->t, s->stream) : status;
    status = status == LEAT_OK && i % 4 == 0 ? h.api->stream->flush(s->stream, NULL) : status;
    status = status == LEAT_OK ? download(&s->t, s->stream) : status;
    const int32_t told = h.api->stream->synchronize(s->stream, NULL);
    if (status == LEAT_OK && told == LEAT_OK) {
      if (host_compare(s->t.out, COUNT, (host_content){.seed = i, .rectified = true}) != -1) {
        return argument;
      }
      continue;
    }
    ++s->failures;
    s->t.out[0] = -1.0f;
    if (h.api->stream->clear_error(s->stream, NULL) != LEAT_OK) {
      return argument;
    }
    (void)h.api->stream->synchronize(s->stream, NULL);
    if (s->t.out[0] != -1.0f) {
      return argument;
    }
  }
  return NULL;
}

static void threads_go_on_past_failures(void **state) {
  (void)state;
  enum { THREADS = 6 };
  static submitter submitters[THREADS];
  uint32_t failures = 0;
  void *failed;
  open_device();
  nulldriver_set_mode(NULLDRIVER_THREADED, 5);
  for (int i = 0; i < THREADS; ++i) {
    submitters[i].stream = make_stream();
    take_blocks(&submitters[i].t, submitters[i].stream);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_with_failures, &submitters[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_join(submitters[i].thread, &failed), 0);
    assert_null(failed);
    failures += submitters[i].failures;
    give_blocks(&submitters[i].t);
    assert_ok(h.api->stream->destroy(submitters[i].stream, &err));
  }
  assert_true(failures > 0);
  close_device();
}

static void a_device_may_be_lost_in_the_middle(void **state) {
  (void)state;
  enum { THREADS = 4 };
  static submitter submitters[THREADS];
  for (uint64_t n = 5; n < 100; n += 30) {
    void *failed;
    open_device();
    nulldriver_set_mode(NULLDRIVER_THREADED, 3);
    assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_DEVICE_LOST));
    for (int i = 0; i < THREADS; ++i) {
      submitter *const s = &submitters[i];
      s->stream = make_stream();
      take_blocks(&s->t, s->stream);
    }
    for (int i = 0; i < THREADS; ++i) {
      assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_until_lost, &submitters[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
      assert_int_equal(pthread_join(submitters[i].thread, &failed), 0);
      assert_null(failed);
      give_blocks(&submitters[i].t);
      assert_ok(h.api->stream->destroy(submitters[i].stream, &err));
    }
    close_device();
  }
}

static void memory_that_runs_out_comes_back(void **state) {
  (void)state;
  enum { BLOCKS = 64 };
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = UINT64_C(64) << 20;
  nulldriver_set_shape(&shape);
  open_device();
  uint64_t addresses[BLOCKS] = {0};
  int taken = 0;
  int32_t status = LEAT_OK;
  while (taken < BLOCKS && status == LEAT_OK) {
    status = h.api->memory->alloc(h.device, 8u << 20, NULL, &addresses[taken], NULL);
    taken += status == LEAT_OK ? 1 : 0;
  }
  assert_int_equal(status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_true(taken > 0);
  for (int i = 0; i < taken; ++i) {
    assert_ok(h.api->memory->free(h.device, addresses[i], &err));
  }
  assert_ok(h.api->memory->alloc(h.device, 30u << 20, NULL, &addresses[0], &err));
  assert_ok(h.api->memory->free(h.device, addresses[0], &err));
  run_through(2);
  close_device();
}

/* The staging of an upload stays with the stream until somebody looks, and nobody looks at this one any more. */
static void memory_that_idle_streams_hold_is_found(void **state) {
  (void)state;
  static float bytes[4 << 20];
  int64_t many = 4 << 20;
  uint64_t address;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = UINT64_C(64) << 20;
  nulldriver_set_shape(&shape);
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->memory->alloc(h.device, sizeof(bytes), stream, &address, &err));
  const DLTensor from = host_tensor(bytes, &many), to = device_tensor(address, &many);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  assert_ok(h.api->memory->alloc(h.device, 56u << 20, NULL, &address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  close_device();
}

/* ---- Memory that work in flight holds ------------------------------------------------------------------------------
 */

enum { MIB = 1 << 20 };

/* Opens a device of 64 MiB whose work completes only when somebody waits for it. */
static void open_small_device(void) {
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = 64 * MIB;
  nulldriver_set_shape(&shape);
  open_device();
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
}

/* Copies COUNT floats from one block to another. */
static void copy_on_device(leat_stream *stream, uint64_t from, uint64_t to) {
  const DLTensor source = device_tensor(from, &count), target = device_tensor(to, &count);
  assert_ok(h.api->memory->copy(stream, &source, &target, &err));
}

/* Allocates and frees 40 MiB that a stream reads. */
static void leave_a_block(leat_stream *stream, uint64_t into) {
  uint64_t address;
  assert_ok(h.api->memory->alloc(h.device, 40 * MIB, stream, &address, &err));
  copy_on_device(stream, address, into);
  assert_ok(h.api->memory->free(h.device, address, &err));
}

static void an_allocation_waits_for_blocks_in_flight(void **state) {
  (void)state;
  static blocks t;
  uint64_t address;
  open_small_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  take_blocks(&t, NULL);
  for (int i = 0; i < 8; ++i) {
    leave_a_block(stream, t.a);
    /* What reads it is in flight or in an open list, and what is allocated is one like it or of another class. */
    assert_ok(i % 2 != 0 ? h.api->stream->flush(stream, &err) : LEAT_OK);
    const uint64_t size = i % 4 < 2 ? 40 * MIB : 56 * MIB;
    assert_ok(h.api->memory->alloc(h.device, size, i < 4 ? other : NULL, &address, &err));
    assert_int_equal(nulldriver_pending(), 0);
    assert_ok(h.api->memory->free(h.device, address, &err));
    assert_ok(h.api->memory->trim(h.device, NULL, &err));
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

/* How often somebody else takes what a waiting thread is about to get, and with what. */
static uint32_t rivals;
static leat_stream *rival;
static uint64_t rival_into;
static PFN_vkWaitSemaphores wait_semaphores;

static VkResult VKAPI_CALL wait_beside_a_rival(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  const VkResult result = wait_semaphores(device, info, timeout);
  if (rivals != 0) {
    --rivals;
    leave_a_block(rival, rival_into);
    assert_ok(h.api->stream->flush(rival, &err));
  }
  return result;
}

/* Whoever waits for memory waits again when another thread was quicker, but not for ever. */
static void an_allocation_waits_again_where_another_was_quicker(void **state) {
  (void)state;
  static blocks t;
  static const uint32_t times[] = {1, 5, UINT32_MAX};
  uint64_t address;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = 64 * MIB;
  nulldriver_set_shape(&shape);
  open_configured("LEAT_WAIT_SPIN_US", "0");
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  leat_stream *const stream = make_stream();
  rival = make_stream();
  take_blocks(&t, NULL);
  rival_into = t.a;
  wait_semaphores = h.device->vk.WaitSemaphores;
  h.device->vk.WaitSemaphores = wait_beside_a_rival;
  for (int i = 0; i < 3; ++i) {
    leave_a_block(stream, t.b);
    rivals = times[i];
    const int32_t status = h.api->memory->alloc(h.device, 40 * MIB, NULL, &address, NULL);
    assert_int_equal(status, times[i] == UINT32_MAX ? LEAT_ERROR_OUT_OF_MEMORY : LEAT_OK);
    assert_ok(status == LEAT_OK ? h.api->memory->free(h.device, address, &err) : LEAT_OK);
    rivals = 0;
    assert_ok(h.api->device->synchronize(h.device, &err));
  }
  h.device->vk.WaitSemaphores = wait_semaphores;
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(rival, &err));
  close_configured("LEAT_WAIT_SPIN_US");
}

/* An operation with a small and a large temporary; counts how often it is recorded. */
typedef struct large_operation {
  const leati_view *from;
  uint32_t *calls;
} large_operation;

static int32_t record_large(leati_recorder *recorder, const void *what, leat_error *err) {
  const large_operation *const it = what;
  ++*it->calls;
  return record_to_temporary(recorder, it->from, 40 * MIB, err);
}

static void temporaries_wait_for_blocks_in_flight(void **state) {
  (void)state;
  static blocks t;
  uint32_t calls = 0;
  uint64_t held;
  leati_view from;
  open_small_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  take_blocks(&t, NULL);
  const DLTensor tensor = device_tensor(t.a, &count);
  assert_ok(leati_view_import(h.device, &tensor, "a", &from, &err));
  const large_operation operation = {.from = &from, .calls = &calls};
  leave_a_block(stream, t.b);
  assert_ok(leati_record(other, record_large, &operation, &err));
  assert_int_equal(calls, 2);
  assert_int_equal(nulldriver_pending(), 0);
  assert_ok(h.api->stream->synchronize(other, &err));
  /* It is tried some times more, since each try leaves a temporary to wait for, and then says what is wrong. */
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_ok(h.api->memory->alloc(h.device, 40 * MIB, NULL, &held, &err));
  calls = 0;
  assert_int_equal(leati_record(other, record_large, &operation, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_in_range(calls, 2, 20);
  assert_ok(h.api->stream->error(other, &err));
  assert_ok(h.api->memory->free(h.device, held, &err));
  assert_ok(leati_record(other, record_large, &operation, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

static void copies_wait_for_staging_in_flight(void **state) {
  (void)state;
  static float large[2][4 * MIB];
  int64_t many = 4 * MIB;
  uint64_t addresses[2];
  open_small_device();
  leat_stream *const streams[2] = {make_stream(), make_stream()};
  for (uint32_t i = 0; i < 2; ++i) {
    /* The second finds 48 of 64 MiB taken, a third of that by the staging of the first. */
    assert_ok(h.api->memory->alloc(h.device, sizeof(large[0]), NULL, &addresses[i], &err));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    host_fill(large[i], many, (host_content){.seed = i});
    const DLTensor from = host_tensor(large[i], &many), to = device_tensor(addresses[i], &many);
    assert_ok(h.api->memory->copy(streams[i], &from, &to, &err));
    memset(large[i], 0, sizeof(large[i]));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const DLTensor from = device_tensor(addresses[i], &many), to = host_tensor(large[i], &many);
    assert_ok(h.api->memory->copy(streams[i], &from, &to, &err));
    assert_ok(h.api->stream->synchronize(streams[i], &err));
    assert_int_equal(host_compare(large[i], many, (host_content){.seed = i}), -1);
    assert_ok(h.api->memory->free(h.device, addresses[i], &err));
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  close_device();
}

/* Work in flight is not waited for where it holds nothing, or where nothing would do. */
static void memory_that_cannot_come_is_not_waited_for(void **state) {
  (void)state;
  static blocks t;
  uint64_t address;
  open_small_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  uint64_t held;
  assert_ok(h.api->memory->alloc(h.device, 40 * MIB, NULL, &held, &err));
  assert_int_equal(h.api->memory->alloc(h.device, 40 * MIB, stream, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  copy_on_device(stream, t.a, t.b);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_int_equal(nulldriver_pending(), 1);
  assert_int_equal(h.api->memory->alloc(h.device, 40 * MIB, stream, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(nulldriver_pending(), 1);
  assert_ok(h.api->memory->free(h.device, held, &err));
  leave_a_block(stream, t.b);
  assert_ok(h.api->stream->flush(stream, &err));
  for (uint64_t size = UINT64_C(64) << 20; size < UINT64_MAX / 2; size *= 2) {
    assert_int_equal(h.api->memory->alloc(h.device, size, NULL, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  }
  assert_int_equal(nulldriver_pending(), 2);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Takes and leaves blocks of which not all threads can have one at once. NULL: each could be had, or there was no
 * memory. */
static void *share_memory(void *argument) {
  submitter *const s = argument;
  int32_t status = LEAT_OK;
  for (int i = 0; i < 200 && status == LEAT_OK; ++i) {
    uint64_t address;
    status =
        h.api->memory->alloc(h.device, (uint64_t)(10 + i % 7) * MIB, i % 3 == 0 ? NULL : s->stream, &address, NULL);
    if (status == LEAT_ERROR_OUT_OF_MEMORY) {
      ++s->failures;
      status = LEAT_OK;
      continue;
    }
    if (status == LEAT_OK) {
      const DLTensor source = device_tensor(address, &count), target = device_tensor(s->t.a, &count);
      status = h.api->memory->copy(s->stream, &source, &target, NULL);
      (void)h.api->memory->free(h.device, address, NULL);
    }
  }
  return status == LEAT_OK ? NULL : argument;
}

static void threads_share_little_memory(void **state) {
  (void)state;
  enum { THREADS = 6 };
  static submitter submitters[THREADS];
  void *failed;
  uint64_t address;
  open_small_device();
  nulldriver_set_mode(NULLDRIVER_THREADED, 5);
  for (int i = 0; i < THREADS; ++i) {
    /* Two threads have one stream. */
    submitters[i].stream = i % 2 == 0 ? make_stream() : submitters[i - 1].stream;
    submitters[i].failures = 0;
    take_blocks(&submitters[i].t, NULL);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&submitters[i].thread, NULL, share_memory, &submitters[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_join(submitters[i].thread, &failed), 0);
    assert_null(failed);
    assert_true(submitters[i].failures < 200);
  }
  assert_ok(h.api->memory->alloc(h.device, 56 * MIB, NULL, &address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  for (int i = 0; i < THREADS; ++i) {
    give_blocks(&submitters[i].t);
    assert_ok(i % 2 == 0 ? h.api->stream->destroy(submitters[i].stream, &err) : LEAT_OK);
  }
  close_device();
}

static void *allocate_large(void *argument) {
  uint64_t *const address = argument;
  return h.api->memory->alloc(h.device, 40 * MIB, NULL, address, NULL) == LEAT_OK ? NULL : argument;
}

/* Work that never completes ends the wait when the device is lost. */
static void an_allocation_that_waits_ends_with_the_device(void **state) {
  (void)state;
  static blocks t;
  pthread_t thread;
  uint64_t address = 0;
  open_small_device();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  leave_a_block(stream, t.a);
  const uint64_t waits = nulldriver_calls("vkWaitSemaphores");
  assert_int_equal(pthread_create(&thread, NULL, allocate_large, &address), 0);
  while (nulldriver_calls("vkWaitSemaphores") == waits) {
    leati_yield();
  }
  nulldriver_lose_device();
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_ok(h.api->memory->free(h.device, address, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* ---- Kernels that are compiled --------------------------------------------------------------------------------------
 */

/* An operator that no other test uses before, so that its kernel has to be compiled. */
static leat_op *make_negation(void) {
  const int64_t unknown[1] = {-1};
  const leat_value_info vector = {
      .struct_size = sizeof(vector), .ndim = 1, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = unknown};
  const leat_value_info *const inputs[1] = {&vector};
  const leat_op_desc desc = {
      .struct_size = sizeof(desc), .opset = 13, .name = "Neg", .input_count = 1, .output_count = 1, .inputs = inputs};
  leat_op *op;
  assert_ok(h.api->op->create(h.device, &desc, &op, &err));
  return op;
}

/* A call of an operator that takes a to b, on a thread of its own. */
typedef struct caller {
  pthread_t thread;
  const leat_op *op;
  leat_stream *stream;
  blocks t;
  int32_t status;
  sem_t done; /* of start_caller() */
} caller;

static void call_operator(caller *c) {
  const DLTensor from = device_tensor(c->t.a, &count), to = device_tensor(c->t.b, &count);
  const DLTensor *const in[1] = {&from}, *const out[1] = {&to};
  c->status = h.api->op->invoke(c->op, c->stream, 1, in, 1, out, NULL);
}

static void *call_and_tell(void *argument) {
  caller *const c = argument;
  call_operator(c);
  (void)sem_post(&c->done);
  return NULL;
}

static void start_caller(caller *c, const leat_op *op, leat_stream *stream) {
  c->op = op;
  c->stream = stream;
  assert_int_equal(sem_init(&c->done, 0, 0), 0);
  assert_int_equal(pthread_create(&c->thread, NULL, call_and_tell, c), 0);
}

static void a_cold_compile_stalls_no_warm_thread_of_its_stream(void **state) {
  (void)state;
  static caller cold, warm;
  struct timespec deadline;
  open_device();
  leat_stream *const stream = make_stream();
  leat_op *const negation = make_negation();
  take_blocks(&cold.t, NULL);
  take_blocks(&warm.t, NULL);
  assert_int_equal(upload(&warm.t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&warm.t, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_true(nulldriver_hold("vkCreateComputePipelines"));
  start_caller(&cold, negation, stream);
  nulldriver_wait_held();
  start_caller(&warm, h.relu, stream);
  (void)clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 20;
  const bool passed = sem_timedwait(&warm.done, &deadline) == 0;
  nulldriver_release();
  assert_int_equal(pthread_join(warm.thread, NULL), 0);
  assert_int_equal(pthread_join(cold.thread, NULL), 0);
  assert_true(passed);
  assert_int_equal(warm.status, LEAT_OK);
  assert_int_equal(cold.status, LEAT_OK);
  assert_int_equal(download(&warm.t, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&warm.t, 1);
  give_blocks(&cold.t);
  give_blocks(&warm.t);
  (void)sem_destroy(&cold.done);
  (void)sem_destroy(&warm.done);
  assert_ok(h.api->op->destroy(negation, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_failed_compile_is_told_and_takes_nothing_along(void **state) {
  (void)state;
  static caller c;
  open_device();
  leat_stream *const stream = make_stream();
  leat_op *const negation = make_negation();
  take_blocks(&c.t, NULL);
  assert_int_equal(upload(&c.t, stream, 7), LEAT_OK);
  assert_int_equal(rectify(&c.t, stream), LEAT_OK);
  assert_int_equal(download(&c.t, stream), LEAT_OK);
  const uint64_t compiled = nulldriver_calls("vkCreateComputePipelines");
  assert_true(nulldriver_fail("vkCreateComputePipelines", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  c.op = negation;
  c.stream = stream;
  call_operator(&c);
  assert_int_equal(c.status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), compiled + 1);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&c.t, 7);
  call_operator(&c);
  assert_int_equal(c.status, LEAT_OK);
  call_operator(&c);
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), compiled + 2);
  give_blocks(&c.t);
  assert_ok(h.api->op->destroy(negation, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* ---- Every call fails once -----------------------------------------------------------------------------------------
 */

/* A little of everything, going on after whatever fails. */
static void little_of_everything(void) {
  static blocks t;
  leat_stream *stream = NULL;
  leat_event *event = NULL, *timed = NULL;
  leat_pool_info pool = {.struct_size = sizeof(pool)};
  leat_stream *pooled;
  uint64_t ticket;
  double ns;
  if (host_open(&h, NULL) == LEAT_OK && h.api->stream->create(h.device, 0, &stream, NULL) == LEAT_OK) {
    t.a = t.b = 0;
    (void)h.api->event->create(h.device, 0, &event, NULL);
    (void)h.api->event->create(h.device, LEAT_EVENT_TIMING, &timed, NULL);
    if (h.api->event->record(timed, stream, NULL) != LEAT_OK) {
      (void)h.api->event->wait(timed, -1, NULL);
      (void)h.api->stream->wait_event(stream, timed, NULL);
      (void)h.api->stream->clear_error(stream, NULL);
    }
    if (h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.a, NULL) == LEAT_OK &&
        h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.b, NULL) == LEAT_OK) {
      int32_t status = upload(&t, stream, 3);
      status = status == LEAT_OK ? rectify(&t, stream) : status;
      status = status == LEAT_OK ? download(&t, stream) : status;
      status = status == LEAT_OK ? h.api->event->record(event, stream, NULL) : status;
      status = status == LEAT_OK ? h.api->event->wait(event, -1, NULL) : status;
      if (status == LEAT_OK) {
        assert_arrived(&t, 3);
      }
      (void)h.api->event->record(timed, stream, NULL);
      (void)h.api->event->wait(timed, -1, NULL);
      (void)h.api->event->elapsed(timed, timed, &ns, NULL);
      int32_t fd = -1;
      if (h.api->event->export_sync_fd(event, &fd, NULL) == LEAT_OK && fd >= 0) {
        assert_int_equal(close(fd), 0);
      }
    }
    (void)h.api->memory->free(h.device, t.a, NULL);
    (void)h.api->memory->free(h.device, t.b, NULL);
    (void)h.api->event->destroy(event, NULL);
    (void)h.api->event->destroy(timed, NULL);
    (void)h.api->stream->destroy(stream, NULL);
    if (h.api->pool->acquire(h.device, 0, &pooled, &ticket, NULL) == LEAT_OK) {
      assert_ok(h.api->pool->release(h.device, ticket, &err));
    }
    assert_ok(h.api->pool->info(h.device, &pool, &err));
    assert_int_equal(pool.held_count, 0);
  }
  if (h.device != NULL) {
    assert_ok(host_close(&h, &err));
  } else {
    assert_ok(h.api->shutdown(&err));
  }
}

static void guard_pages_need_a_device_that_works_in_them(void **state) {
  (void)state;
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  for (int software = 0; software < 2; ++software) {
    leat_error said = {.struct_size = sizeof(said)};
    nulldriver_shape shape = nulldriver_get_shape();
    shape.type = software != 0 ? VK_PHYSICAL_DEVICE_TYPE_CPU : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    nulldriver_set_shape(&shape);
    assert_ok(leat_backend_query(&info, &h.api, &err));
    assert_ok(h.api->configure("LEAT_MEMORY_GUARD", "pages", &err));
    assert_int_equal(host_open(&h, &said), LEAT_ERROR_UNAVAILABLE);
    assert_non_null(strstr(said.message, "LEAT_MEMORY_GUARD is pages"));
    assert_int_equal(host_report_leaks(), 0);
    assert_ok(h.api->shutdown(&err));
    assert_ok(h.api->configure("LEAT_MEMORY_GUARD", NULL, &err));
  }
}

static void every_call_of_the_driver_may_fail(void **state) {
  (void)state;
  /* A wait polls as often as time allows; what the first of these calls meet, the later ones do too. */
  enum { CALLS_MAX = 40 };
  static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST};
  bool can_fail = true;
  uint32_t failures = 0;
  for (uint32_t i = 0; nulldriver_function(i, &can_fail) != NULL && can_fail; ++i) {
    for (uint32_t n = 1, fired = 1; fired != 0 && n <= CALLS_MAX; ++n) {
      fired = 0;
      for (size_t j = 0; j < sizeof(results) / sizeof(results[0]); ++j) {
        const char *const name = nulldriver_function(i, &can_fail);
        nulldriver_reset();
        nulldriver_set_mode(NULLDRIVER_LAZY, 0);
        assert_true(nulldriver_fail(name, n, results[j]));
        little_of_everything();
        fired += nulldriver_calls(name) >= n ? 1 : 0;
        if (host_report_violations() + host_report_leaks() != 0 || nulldriver_memory_used() != 0) {
          fail_msg("after call %u of %s gave %d", n, name, (int)results[j]);
        }
      }
      failures += fired;
    }
  }
  print_message("%u failures came out well\n", failures);
  assert_true(failures > 100);
}

/* ---- Every allocation of host memory fails -------------------------------------------------------------------------
 */

enum { POOR_STREAMS = 6, POOR_BLOCKS = 24, POOR_KERNELS = 80, POOR_DOWNLOADS = 20 };

/* Whether a call of the scenario below was told that there is no memory. */
static bool told;

/* A call of the scenario: it may lack memory and nothing else. */
static bool poor(int32_t status, const char *what) {
  if (status != LEAT_OK && status != LEAT_ERROR_OUT_OF_MEMORY) {
    fail_msg("%s gave %d", what, (int)status);
  }
  told = told || status != LEAT_OK;
  return status == LEAT_OK;
}
#define POOR(call) poor((call), #call)

/* A thread of its own: its stream of the pool, and a ticket. */
static void *use_pool(void *status) {
  leat_stream *stream;
  uint64_t ticket;
  int32_t *const worst = status;
  *worst = h.api->pool->current(h.device, &stream, NULL);
  if (h.api->pool->acquire(h.device, 0, &stream, &ticket, NULL) == LEAT_OK) {
    *worst = h.api->pool->release(h.device, ticket, NULL) != LEAT_OK ? LEAT_ERROR_INTERNAL : *worst;
  } else {
    *worst = LEAT_ERROR_OUT_OF_MEMORY;
  }
  return NULL;
}

/* All that takes host memory, on an open device, going on after whatever fails. */
static void use_everything(void) {
  static blocks t;
  static float more[POOR_DOWNLOADS][COUNT];
  leat_stream *streams[POOR_STREAMS] = {NULL};
  leat_event *event = NULL, *timed = NULL;
  DLManagedTensorVersioned *exported;
  uint64_t addresses[POOR_BLOCKS] = {0};
  pthread_t thread;
  int32_t pool_status = LEAT_OK;
  bool good = true;
  for (int i = 0; i < POOR_STREAMS; ++i) {
    if (!POOR(h.api->stream->create(h.device, 0, &streams[i], NULL))) {
      streams[i] = NULL;
    }
  }
  assert_int_equal(pthread_create(&thread, NULL, use_pool, &pool_status), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  (void)poor(pool_status, "the pool");
  (void)POOR(h.api->event->create(h.device, 0, &event, NULL));
  (void)POOR(h.api->event->create(h.device, LEAT_EVENT_TIMING, &timed, NULL));
  /* Blocks of many sizes, so that the tables of memory grow. */
  for (int i = 0; i < POOR_BLOCKS; ++i) {
    if (!POOR(h.api->memory->alloc(h.device, UINT64_C(256) << i % 12, streams[0], &addresses[i], NULL))) {
      addresses[i] = 0;
    }
  }
  t.a = t.b = 0;
  leat_stream *const stream = streams[0];
  if (stream != NULL && POOR(h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.a, NULL)) &&
      POOR(h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.b, NULL))) {
    const DLTensor tensor = device_tensor(t.b, &count);
    good = POOR(upload(&t, stream, 3)) && good;
    for (int i = 0; i < POOR_KERNELS; ++i) {
      good = POOR(rectify(&t, stream)) && good;
    }
    for (int i = 0; i < POOR_DOWNLOADS; ++i) {
      const DLTensor to = host_tensor(more[i], &count);
      memset(more[i], 0xff, sizeof(more[i]));
      good = POOR(h.api->memory->copy(stream, &tensor, &to, NULL)) && good;
    }
    if (POOR(h.api->memory->export_dlpack(stream, &tensor, NULL, &exported, NULL))) {
      exported->deleter(exported);
    }
    const bool event_good = event != NULL && POOR(h.api->event->record(event, stream, NULL));
    /* More stamps on a block than it has room for. */
    for (int i = 1; i < POOR_STREAMS; ++i) {
      if (streams[i] != NULL && event_good) {
        (void)POOR(h.api->stream->wait_event(streams[i], event, NULL));
        (void)POOR(rectify(&t, streams[i]));
        (void)POOR(h.api->memory->record_stream(h.device, t.b, streams[i], NULL));
      }
    }
    if (timed != NULL && POOR(h.api->event->record(timed, stream, NULL))) {
      (void)POOR(h.api->event->wait(timed, -1, NULL));
    }
    good = POOR(h.api->stream->synchronize(stream, NULL)) && good;
    for (int i = 0; good && i < POOR_DOWNLOADS; ++i) {
      assert_int_equal(host_compare(more[i], COUNT, (host_content){.seed = 3, .rectified = true}), -1);
    }
  }
  for (int i = 0; i < POOR_STREAMS; ++i) {
    if (streams[i] != NULL) {
      (void)POOR(h.api->stream->synchronize(streams[i], NULL));
      (void)POOR(h.api->stream->clear_error(streams[i], NULL));
      assert_ok(h.api->stream->destroy(streams[i], &err));
    }
  }
  for (int i = 0; i < POOR_BLOCKS; ++i) {
    assert_ok(h.api->memory->free(h.device, addresses[i], &err));
  }
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->event->destroy(timed, &err));
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
}

/* From opening to closing. Allocations [from, to) fail; once they have, the device works as ever. Returns how many
 * allocations there were. */
static uint32_t live_poorly(uint32_t from, uint32_t to) {
  told = false;
  heap.calls = 0;
  heap.fail_from = from;
  heap.fail_to = to;
  const int32_t opened = host_open(&h, NULL);
  if (poor(opened, "opening")) {
    use_everything();
  }
  const uint32_t calls = atomic_load(&heap.calls);
  heap.fail_from = heap.fail_to = UINT32_MAX;
  if (opened == LEAT_OK) {
    leat_device_info info = {.struct_size = sizeof(info)};
    run_through(2);
    leat_pool_info pool = {.struct_size = sizeof(pool)};
    assert_ok(h.api->pool->info(h.device, &pool, &err));
    assert_int_equal(pool.held_count, 0);
    /* Nothing was taken for missing because there was no memory to ask for it. */
    assert_ok(h.api->device->info(0, &info, &err));
    assert_true(info.pci_bus_id[0] != '\0');
  }
  if (h.device != NULL) {
    assert_ok(host_close(&h, &err));
  } else {
    assert_ok(h.api->shutdown(&err));
  }
  return calls;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  uint32_t calls = 0, silent = 0;
  int64_t live = 0;
  for (int i = 0; i < 3; ++i) {
    nulldriver_reset();
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    calls = live_poorly(UINT32_MAX, UINT32_MAX);
    assert_false(told);
    assert_true(i == 0 || atomic_load(&heap.live) == live);
    live = atomic_load(&heap.live);
  }
  for (uint32_t from = 1; from <= calls; ++from) {
    for (int all = 0; all < 2; ++all) {
      nulldriver_reset();
      nulldriver_set_mode(NULLDRIVER_LAZY, 0);
      (void)live_poorly(from, all ? UINT32_MAX : from + 1);
      silent += told ? 0 : 1;
      if (host_report_violations() + host_report_leaks() != 0 || nulldriver_memory_used() != 0 ||
          atomic_load(&heap.live) != live) {
        fail_msg("after allocation %u%s failed, %lld more than before are alive", from,
                 all ? " and all later ones" : "", (long long)(atomic_load(&heap.live) - live));
      }
    }
  }
  print_message("%u places; %u failures needed no error\n", calls, silent);
  assert_true(calls > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(opening_and_closing_leaves_nothing),
      CASE(contents_are_right_in_every_mode),
      CASE(contents_are_right_on_devices_of_other_shapes),
      CASE(nothing_is_done_before_the_device_has_done_it),
      CASE(everything_may_go_while_it_is_in_flight),
      CASE(events_order_streams_whatever_overtakes),
      CASE(timed_events_measure_in_every_mode),
      CASE(time_between_lanes_needs_a_clock_that_they_share),
      CASE(a_time_is_there_when_both_events_have_finished),
      CASE(timed_events_may_go_in_flight),
      CASE(timed_events_of_a_lost_device_say_so),
      CASE(a_sync_file_is_readable_when_the_work_has_run),
      CASE(a_sync_file_of_lost_work_does_not_hang),
      CASE(a_sync_file_that_cannot_be_had_changes_nothing),
      CASE(a_sync_file_of_a_failed_event_is_its_error),
      CASE(a_device_without_sync_files_says_so),
      CASE(a_failed_submission_is_sticky_until_cleared),
      CASE(a_timed_record_without_memory_changes_nothing),
      CASE(downloads_before_a_failure_have_arrived_when_it_is_cleared),
      CASE(what_comes_behind_a_finding_runs_to_its_end),
      CASE(what_is_open_behind_a_finding_never_comes),
      CASE(a_failure_is_not_cleared_while_what_came_before_it_runs),
      CASE(no_download_is_under_way_once_a_failure_is_told),
      CASE(no_download_is_under_way_once_an_event_tells_a_failure),
      CASE(failures_hold_no_staging_and_no_command_pools),
      CASE(memory_of_a_failed_operation_comes_back),
      CASE(staging_of_a_failed_operation_is_used_again),
      CASE(a_long_list_goes_without_being_asked),
      CASE(each_range_since_the_last_barrier_is_found),
      CASE(records_of_several_chunks_arrive),
      CASE(what_comes_again_is_not_written_again),
      CASE(a_lane_with_much_to_do_is_not_taken_for_an_empty_one),
      CASE(a_stream_that_failed_on_its_way_to_another_lane_keeps_its_order),
      CASE(a_stream_keeps_its_order_though_its_list_is_lost_after_its_owner_went),
      CASE(what_comes_while_a_stream_is_given_back_is_not_lost),
      CASE(a_lost_device_ends_every_wait),
      CASE(threads_go_on_past_failures),
      CASE(a_device_may_be_lost_in_the_middle),
      CASE(memory_that_runs_out_comes_back),
      CASE(memory_that_idle_streams_hold_is_found),
      CASE(an_allocation_waits_for_blocks_in_flight),
      CASE(an_allocation_waits_again_where_another_was_quicker),
      CASE(temporaries_wait_for_blocks_in_flight),
      CASE(copies_wait_for_staging_in_flight),
      CASE(memory_that_cannot_come_is_not_waited_for),
      CASE(threads_share_little_memory),
      CASE(an_allocation_that_waits_ends_with_the_device),
      CASE(a_cold_compile_stalls_no_warm_thread_of_its_stream),
      CASE(a_failed_compile_is_told_and_takes_nothing_along),
      CASE(guard_pages_need_a_device_that_works_in_them),
      CASE(every_call_of_the_driver_may_fail),
      CASE(every_allocation_may_fail),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.plugin", tests, NULL, NULL);
}
