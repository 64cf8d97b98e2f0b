/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives is right: in every mode of completion, on devices of several shapes, whatever is destroyed while it is
 * in flight, and across streams that events order. */
#include "unit_fixture.h"

#include <string.h>

#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

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

/* What is released in flight is not touched before it has run. */
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

/* Of two downloads to one place that of the later stream stays, whichever timeline is looked at first when both have
 * run. */
static void downloads_to_one_place_come_in_the_order_of_streams(void **state) {
  (void)state;
  static blocks t[2];
  open_device();
  leat_stream *const streams[2] = {make_stream(), make_stream()};
  leat_event *const event = make_event();
  for (uint32_t i = 0; i < 2; ++i) {
    take_blocks(&t[i], NULL);
    assert_int_equal(upload(&t[i], streams[0], i), LEAT_OK);
    assert_int_equal(rectify(&t[i], streams[0]), LEAT_OK);
  }
  assert_ok(h.api->stream->synchronize(streams[0], &err));
  for (uint32_t first = 0; first < 2; ++first) {
    const DLTensor to = host_tensor(t[0].out, &count);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    for (uint32_t i = 0; i < 2; ++i) {
      leat_stream *const stream = streams[first ^ i];
      const DLTensor from = device_tensor(t[i].b, &count);
      assert_ok(h.api->stream->wait_event(stream, event, &err));
      assert_ok(h.api->memory->copy(stream, &from, &to, &err));
      assert_ok(h.api->event->record(event, stream, &err));
    }
    assert_true(nulldriver_step(UINT32_MAX) > 0);
    assert_ok(h.api->event->query(event, &err));
    assert_arrived(&t[0], 1);
    assert_ok(h.api->device->synchronize(h.device, &err));
    assert_arrived(&t[0], 1);
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    give_blocks(&t[i]);
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  assert_ok(h.api->event->destroy(event, &err));
  close_device();
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

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(opening_and_closing_leaves_nothing),
      CASE(contents_are_right_in_every_mode),
      CASE(contents_are_right_on_devices_of_other_shapes),
      CASE(nothing_is_done_before_the_device_has_done_it),
      CASE(everything_may_go_while_it_is_in_flight),
      CASE(events_order_streams_whatever_overtakes),
      CASE(downloads_to_one_place_come_in_the_order_of_streams),
      CASE(guard_pages_need_a_device_that_works_in_them),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.contents", tests, NULL, NULL);
}
