/* SPDX-License-Identifier: BSD-3-Clause */
/* Under guard a read that nothing orders after another stream's write is refused, and one that something orders is not:
 * on a device that does nothing before somebody waits. */
#include "unit_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"

static leat_error said = {.struct_size = sizeof(said)};
static blocks t;

static void open_guarded(void) {
  open_configured("LEAT_MEMORY_GUARD", "1");
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
}

static void close_guarded(void) {
  give_blocks(&t);
  close_configured("LEAT_MEMORY_GUARD");
}

/* Reads b, which rectify() writes, into host memory. */
static int32_t read_result(leat_stream *stream) {
  const DLTensor from = device_tensor(t.b, &count), to = host_tensor(t.out, &count);
  return h.api->memory->copy(stream, &from, &to, &said);
}

/* The command of a Relu that nobody waits for. */
static void write_result(leat_stream *stream, uint32_t seed) {
  assert_int_equal(upload(&t, stream, seed), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
}

static void a_read_that_nothing_orders_is_refused(void **state) {
  (void)state;
  char name[64];
  open_guarded();
  leat_stream *const writer = make_stream(), *const reader = make_stream();
  take_blocks(&t, NULL);
  write_result(writer, 1);
  for (int flushed = 0; flushed < 2; ++flushed) {
    assert_int_equal(read_result(reader), LEAT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(said.message, "nothing orders the two"));
    const leat_stream *const named[] = {reader, writer};
    for (int i = 0; i < 2; ++i) {
      (void)snprintf(name, sizeof(name), "stream %u (%p)", named[i]->number, (const void *)named[i]);
      assert_non_null(strstr(said.message, name));
    }
    assert_ok(h.api->stream->flush(writer, &err));
  }
  /* Nothing happened to the stream that was refused. */
  assert_ok(h.api->stream->synchronize(writer, &err));
  assert_int_equal(read_result(reader), LEAT_OK);
  assert_ok(h.api->stream->synchronize(reader, &err));
  assert_arrived(&t, 1);
  close_guarded();
}

/* A stream's own work is in order, as is what the stream object's next owner does. */
static void a_stream_comes_after_itself(void **state) {
  (void)state;
  open_guarded();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  for (uint32_t seed = 0; seed < 3; ++seed) {
    assert_int_equal(put_run(&t, stream, seed), LEAT_OK);
    assert_ok(h.api->stream->flush(stream, &err));
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&t, 2);
  close_guarded();
}

static void events_order(void **state) {
  (void)state;
  open_guarded();
  leat_stream *const first = make_stream(), *const second = make_stream(), *const third = make_stream();
  leat_event *const event = make_event(), *const early = make_event(), *const other = make_event();
  take_blocks(&t, NULL);
  /* An event that was recorded before the write, or never, is not behind it. */
  assert_ok(h.api->event->record(early, first, &err));
  write_result(first, 3);
  assert_ok(h.api->stream->wait_event(second, early, &err));
  assert_ok(h.api->stream->wait_event(second, other, &err));
  assert_int_equal(read_result(second), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->event->record(event, first, &err));
  assert_ok(h.api->stream->wait_event(second, event, &err));
  /* What an event stands for includes what its stream came after: the third stream hears of the first by the second. */
  assert_ok(h.api->event->record(other, second, &err));
  assert_ok(h.api->stream->wait_event(third, other, &err));
  assert_int_equal(read_result(third), LEAT_OK);
  /* What is written anew afterwards is another write. */
  assert_int_equal(rectify(&t, first), LEAT_OK);
  assert_int_equal(read_result(third), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->event->record(event, first, &err));
  assert_ok(h.api->stream->wait_event(third, event, &err));
  assert_int_equal(read_result(third), LEAT_OK);
  assert_ok(h.api->stream->synchronize(third, &err));
  assert_arrived(&t, 3);
  close_guarded();
}

/* Streams that write halves of a block, and read each its own. */
static void bytes_count_and_not_blocks(void **state) {
  (void)state;
  int64_t half = COUNT / 2;
  open_guarded();
  leat_stream *const streams[] = {make_stream(), make_stream()};
  take_blocks(&t, NULL);
  assert_int_equal(upload(&t, streams[0], 5), LEAT_OK);
  assert_ok(h.api->stream->synchronize(streams[0], &err));
  for (uint64_t i = 0; i < 2; ++i) {
    const uint64_t at = i * (uint64_t)half * sizeof(float);
    const DLTensor from = device_tensor(t.a + at, &half), to = device_tensor(t.b + at, &half);
    assert_ok(h.api->memory->copy(streams[i], &from, &to, &err));
  }
  for (uint64_t i = 0; i < 2; ++i) {
    const DLTensor from = device_tensor(t.b + i * (uint64_t)half * sizeof(float), &half);
    const DLTensor to = host_tensor(t.out + i * (uint64_t)half, &half);
    assert_int_equal(h.api->memory->copy(streams[1 - i], &from, &to, &said), LEAT_ERROR_INVALID_ARGUMENT);
    assert_ok(h.api->memory->copy(streams[i], &from, &to, &err));
  }
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->stream->synchronize(streams[i], &err));
  }
  assert_int_equal(host_compare(t.out, COUNT, (host_content){.seed = 5}), -1);
  close_guarded();
}

/* A semaphore of another API, too, may be what orders two streams. */
static void semaphores_order(void **state) {
  (void)state;
  open_guarded();
  leat_stream *const writer = make_stream(), *const reader = make_stream();
  leat_semaphore *semaphore;
  const int fd = memfd_create("shared", MFD_CLOEXEC);
  assert_true(fd >= 0 && ftruncate(fd, 2 * sizeof(uint64_t)) == 0);
  assert_ok(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &err));
  take_blocks(&t, NULL);
  write_result(writer, 7);
  assert_ok(h.api->external->signal(writer, semaphore, 1, &err));
  assert_int_equal(read_result(reader), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->external->wait(reader, semaphore, 1, &err));
  assert_int_equal(read_result(reader), LEAT_OK);
  assert_ok(h.api->stream->synchronize(reader, &err));
  assert_arrived(&t, 7);
  assert_ok(h.api->external->destroy_semaphore(semaphore, &err));
  close_guarded();
}

/* More writes in flight than the table has room for at first; and those that are done leave it. */
static void many_writes_are_remembered(void **state) {
  (void)state;
  enum { MANY = 500 };
  int64_t one = 1;
  open_guarded();
  leat_stream *const writer = make_stream(), *const reader = make_stream();
  take_blocks(&t, NULL);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < MANY; ++i) {
      const DLTensor from = device_tensor(t.a, &one), to = device_tensor(t.b + i * sizeof(float), &one);
      assert_ok(h.api->memory->copy(writer, &from, &to, &err));
    }
    for (uint64_t i = 0; i < MANY; i += 7) {
      const DLTensor from = device_tensor(t.b + i * sizeof(float), &one), to = host_tensor(t.out + i, &one);
      assert_int_equal(h.api->memory->copy(reader, &from, &to, &said), LEAT_ERROR_INVALID_ARGUMENT);
    }
    assert_ok(h.api->stream->synchronize(writer, &err));
  }
  close_guarded();
}

/* Records an event again and again, in a stream that comes after many others: so what it knows is long. */
static void *record_often(void *event) {
  leat_stream *const mine = make_stream();
  leat_error failed = {.struct_size = sizeof(failed)};
  for (int i = 0; i < 64; ++i) {
    assert_int_equal(h.api->event->record(event, make_stream(), &failed), LEAT_OK);
    assert_int_equal(h.api->stream->wait_event(mine, event, &failed), LEAT_OK);
  }
  for (int i = 0; i < 20000; ++i) {
    assert_int_equal(h.api->event->record(event, mine, &failed), LEAT_OK);
  }
  return NULL;
}

/* What an event knows changes while another stream learns it. */
static void an_event_is_recorded_while_another_thread_waits_for_it(void **state) {
  (void)state;
  pthread_t recorder;
  leat_event *event;
  open_guarded();
  take_blocks(&t, NULL);
  leat_stream *const waiter = make_stream();
  assert_ok(h.api->event->create(h.device, 0, &event, &err));
  start_thread(&recorder, record_often, event);
  for (int i = 0; i < 20000; ++i) {
    assert_ok(h.api->stream->wait_event(waiter, event, &err));
  }
  join_thread(recorder);
  assert_ok(h.api->event->destroy(event, &err));
  close_guarded();
}

/* Without guard the order is the caller's alone, and nothing is kept of it. */
static void without_guard_nothing_is_refused(void **state) {
  (void)state;
  open_device();
  leat_stream *const writer = make_stream(), *const reader = make_stream();
  take_blocks(&t, NULL);
  write_result(writer, 1);
  assert_int_equal(read_result(reader), LEAT_OK);
  assert_null(h.device->hazards);
  assert_null(reader->known.points);
  give_blocks(&t);
  close_device();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_read_that_nothing_orders_is_refused),
      CASE(a_stream_comes_after_itself),
      CASE(events_order),
      CASE(bytes_count_and_not_blocks),
      CASE(semaphores_order),
      CASE(many_writes_are_remembered),
      CASE(an_event_is_recorded_while_another_thread_waits_for_it),
      CASE(without_guard_nothing_is_refused),
  };
  return cmocka_run_group_tests_name("hazards", tests, NULL, NULL);
}
