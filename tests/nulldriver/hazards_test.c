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

#include "memory/memory.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"

static leat_error said = {.struct_size = sizeof(said)};
static blocks t;
static bool no_room_for_a_list;

int32_t __real_leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err);
int32_t __wrap_leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err);

int32_t __wrap_leati_timeline_open(leati_timeline *timeline, leati_submission **out, leat_error *err) {
  return no_room_for_a_list ? leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no room for a list")
                            : __real_leati_timeline_open(timeline, out, err);
}

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

/* A stream's own work is in order. */
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

/* What an event of before stood for is nothing to whoever has its object next. */
static void a_new_event_orders_nothing(void **state) {
  (void)state;
  leat_event *before, *event;
  open_guarded();
  leat_stream *const writer = make_stream(), *const reader = make_stream();
  take_blocks(&t, NULL);
  write_result(writer, 1);
  assert_ok(h.api->event->create(h.device, 0, &before, &err));
  assert_ok(h.api->event->record(before, writer, &err));
  assert_ok(h.api->event->destroy(before, &err));
  assert_ok(h.api->event->create(h.device, 0, &event, &err));
  assert_ptr_equal(event, before);
  assert_ok(h.api->stream->wait_event(reader, event, &err));
  assert_int_equal(read_result(reader), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->event->destroy(event, &err));
  close_guarded();
}

/* Nor is a new stream behind what the owners of its object before waited for or wrote, though it often is in fact: who
 * relies on that reads too early where it gets another object. */
static void a_new_stream_comes_after_nothing(void **state) {
  (void)state;
  leat_stream *before, *stream;
  uint64_t ticket;
  open_guarded();
  leat_stream *const writer = make_stream();
  leat_event *const event = make_event();
  take_blocks(&t, NULL);
  for (int pooled = 0; pooled < 2; ++pooled) {
    write_result(writer, 1);
    assert_ok(h.api->event->record(event, writer, &err));
    for (int writes = 0; writes < 2; ++writes) {
      assert_ok(pooled ? h.api->pool->acquire(h.device, 0, &before, &ticket, &err)
                       : h.api->stream->create(h.device, 0, &before, &err));
      assert_ok(h.api->stream->wait_event(before, event, &err));
      if (writes) {
        assert_int_equal(rectify(&t, before), LEAT_OK);
      }
      assert_int_equal(read_result(before), LEAT_OK);
      assert_ok(pooled ? h.api->pool->release(h.device, ticket, &err) : h.api->stream->destroy(before, &err));
      assert_ok(pooled ? h.api->pool->acquire(h.device, 0, &stream, &ticket, &err)
                       : h.api->stream->create(h.device, 0, &stream, &err));
      assert_ptr_equal(stream, before);
      assert_int_equal(read_result(stream), LEAT_ERROR_INVALID_ARGUMENT);
      assert_ok(h.api->stream->wait_event(stream, event, &err));
      assert_int_equal(read_result(stream), writes ? LEAT_ERROR_INVALID_ARGUMENT : LEAT_OK);
      assert_ok(pooled ? h.api->pool->release(h.device, ticket, &err) : h.api->stream->destroy(stream, &err));
    }
    assert_ok(h.api->device->synchronize(h.device, &err));
  }
  close_guarded();
}

/* A wait that a failure has taken with it orders nothing. */
static void a_wait_that_is_lost_orders_nothing(void **state) {
  (void)state;
  open_guarded();
  leat_stream *const writer = make_stream(), *const reader = make_stream(), *const failing = make_stream();
  leat_event *const event = make_event(), *const failed = make_event();
  take_blocks(&t, NULL);
  fail_stream(failing, &t);
  (void)h.api->event->record(failed, failing, NULL);
  write_result(writer, 1);
  assert_ok(h.api->event->record(event, writer, &err));
  assert_ok(h.api->stream->wait_event(reader, event, &err));
  assert_int_not_equal(h.api->stream->wait_event(reader, failed, NULL), LEAT_OK);
  assert_ok(h.api->stream->clear_error(reader, &err));
  assert_int_equal(read_result(reader), LEAT_ERROR_INVALID_ARGUMENT);
  /* Its own work is in order after that, too. */
  assert_ok(h.api->stream->wait_event(reader, event, &err));
  assert_int_equal(rectify(&t, reader), LEAT_OK);
  assert_int_equal(read_result(reader), LEAT_OK);
  assert_ok(h.api->stream->synchronize(reader, &err));
  close_guarded();
}

/* Copies a to b, and then what `operation` is to a temporary block. */
static int32_t copy_both(leati_recorder *recorder, const void *operation, leat_error *err) {
  const int64_t size = COUNT * (int64_t)sizeof(float);
  const leati_plan_access accesses[] = {{.binding = 0, .field = LEATI_FIELD_NONE, .end = size},
                                        {.binding = 1, .field = LEATI_FIELD_NONE, .end = size},
                                        {.binding = 2, .field = LEATI_FIELD_NONE, .end = size},
                                        {.binding = 3, .field = LEATI_FIELD_NONE, .end = size}};
  const leati_plan_step steps[] = {{.copies = true, .read_count = 1, .write_count = 1},
                                   {.copies = true, .read_count = 1, .write_count = 1, .first_access = 2}};
  const leati_temporary temporary = {.size = (uint64_t)size};
  const leati_plan plan = {.binding_count = 4,
                           .step_count = 2,
                           .access_count = 4,
                           .temporary_count = 1,
                           .steps = steps,
                           .accesses = accesses,
                           .temporaries = &temporary,
                           .op = "test"};
  const uint64_t *const from = operation;
  const uint64_t addresses[] = {t.a, t.b, *from};
  leati_binding bindings[4] = {{.address = 0}};
  for (int i = 0; i < 3; ++i) {
    bindings[i].address = addresses[i];
    bindings[i].block = leati_memory_find(h.device, addresses[i]);
  }
  return leati_record_plan(recorder, &plan, bindings, err);
}

/* What an operation would have written that was taken back is written by nobody. */
static void writes_that_are_taken_back_are_forgotten(void **state) {
  (void)state;
  uint64_t other;
  open_guarded();
  leat_stream *const writer = make_stream(), *const refused = make_stream(), *const reader = make_stream();
  take_blocks(&t, NULL);
  assert_ok(h.api->memory->alloc(h.device, COUNT * sizeof(float), NULL, &other, &err));
  write_result(refused, 1);
  assert_ok(h.api->stream->synchronize(refused, &err));
  const DLTensor from = device_tensor(t.a, &count), to = device_tensor(other, &count);
  assert_ok(h.api->memory->copy(writer, &from, &to, &err));
  assert_int_equal(leati_record(refused, copy_both, &other, &said), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_result(reader), LEAT_OK);
  /* What came before in the same list still counts. */
  assert_int_equal(rectify(&t, refused), LEAT_OK);
  assert_int_equal(leati_record(refused, copy_both, &other, &said), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_result(reader), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->stream->synchronize(refused, &err));
  assert_int_equal(read_result(reader), LEAT_OK);
  assert_ok(h.api->stream->synchronize(reader, &err));
  assert_arrived(&t, 1);
  assert_ok(h.api->memory->free(h.device, other, &err));
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

/* What a stream could not be made to wait for, or to raise, orders nothing. */
static void semaphores_that_fail_order_nothing(void **state) {
  (void)state;
  open_guarded();
  leat_stream *const writer = make_stream(), *const other = make_stream();
  leat_stream *const readers[] = {make_stream(), make_stream()};
  leat_semaphore *semaphore;
  const int fd = memfd_create("shared", MFD_CLOEXEC);
  assert_true(fd >= 0 && ftruncate(fd, 2 * sizeof(uint64_t)) == 0);
  assert_ok(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &err));
  take_blocks(&t, NULL);
  write_result(writer, 7);
  assert_ok(h.api->stream->flush(writer, &err));
  no_room_for_a_list = true;
  assert_int_equal(h.api->external->signal(writer, semaphore, 1, &said), LEAT_ERROR_OUT_OF_MEMORY);
  no_room_for_a_list = false;
  assert_ok(h.api->external->signal(other, semaphore, 1, &err));
  assert_ok(h.api->external->wait(readers[0], semaphore, 1, &err));
  assert_int_equal(read_result(readers[0]), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->external->signal(writer, semaphore, 2, &err));
  no_room_for_a_list = true;
  assert_int_equal(h.api->external->wait(readers[1], semaphore, 2, &said), LEAT_ERROR_OUT_OF_MEMORY);
  no_room_for_a_list = false;
  assert_int_equal(read_result(readers[1]), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->external->wait(readers[1], semaphore, 2, &err));
  assert_int_equal(read_result(readers[1]), LEAT_OK);
  assert_ok(h.api->stream->synchronize(readers[1], &err));
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
      CASE(a_new_event_orders_nothing),
      CASE(a_new_stream_comes_after_nothing),
      CASE(a_wait_that_is_lost_orders_nothing),
      CASE(writes_that_are_taken_back_are_forgotten),
      CASE(events_order),
      CASE(bytes_count_and_not_blocks),
      CASE(semaphores_order),
      CASE(semaphores_that_fail_order_nothing),
      CASE(many_writes_are_remembered),
      CASE(an_event_is_recorded_while_another_thread_waits_for_it),
      CASE(without_guard_nothing_is_refused),
  };
  return cmocka_run_group_tests_name("hazards", tests, NULL, NULL);
}
