/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of the driver come out as the ABI says: sticky until cleared, in order with what came before them, and
 * without holding memory. The device may be lost at any time. */
#include "unit_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "streams/stream.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

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
  const leati_plan plan = {.step_count = 1, .steps = &step, .args = args, .op = "test"};
  leati_binding none;
  const int32_t status = leati_pipeline_compile(h.device, &key, &(bool){false}, err);
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
    leati_lane *const lane = leati_lane_of(h.device->semaphores[where.lane]);
    (void)atomic_fetch_add_explicit(&lane->lists, 5, memory_order_relaxed);
    if (seed % 2 != 0) {
      /* A list that is in no command buffer yet. */
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
    leati_lane *const lane = leati_lane_of(h.device->semaphores[where.lane]);
    leati_lane *const next = leati_lane_of(h.device->semaphores[1 - where.lane]);
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

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_failed_submission_is_sticky_until_cleared),
      CASE(a_failure_is_not_cleared_while_what_came_before_it_runs),
      CASE(downloads_before_a_failure_have_arrived_when_it_is_cleared),
      CASE(what_comes_behind_a_finding_runs_to_its_end),
      CASE(no_download_is_under_way_once_a_failure_is_told),
      CASE(no_download_is_under_way_once_an_event_tells_a_failure),
      CASE(failures_hold_no_staging_and_no_command_pools),
      CASE(memory_of_a_failed_operation_comes_back),
      CASE(staging_of_a_failed_operation_is_used_again),
      CASE(a_stream_that_failed_on_its_way_to_another_lane_keeps_its_order),
      CASE(what_is_open_behind_a_finding_never_comes),
      CASE(a_stream_keeps_its_order_though_its_list_is_lost_after_its_owner_went),
      CASE(a_lost_device_ends_every_wait),
      CASE(threads_go_on_past_failures),
      CASE(a_device_may_be_lost_in_the_middle),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.failures", tests, NULL, NULL);
}
