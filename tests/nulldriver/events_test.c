/* SPDX-License-Identifier: BSD-3-Clause */
/* Timed events, in every mode of completion, and sync files. */
#include "unit_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

/* ---- Timed events ---------------------------------------------------------------------------------------------------
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

/* ---- Sync files -----------------------------------------------------------------------------------------------------
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

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
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
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.events", tests, NULL, NULL);
}
