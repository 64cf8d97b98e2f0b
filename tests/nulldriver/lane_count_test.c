/* SPDX-License-Identifier: BSD-3-Clause */
/* What the number of lanes is judged by: what all lanes did while there was something to do, by a made-up time. */
#include "unit_fixture.h"

#include <stdatomic.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/lane_tuner.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

/* The time, if it is made up, and what is learnt from: set and read by one test. */
static _Atomic uint64_t made_up_ns; /* 0: it is not */
static leati_throughput paces[4];
static unsigned pace_count, pace_room;

uint64_t __real_leati_now_ns(void);
uint64_t __wrap_leati_now_ns(void);
uint64_t __wrap_leati_now_ns(void) {
  const uint64_t made_up = atomic_load_explicit(&made_up_ns, memory_order_relaxed);
  return made_up != 0 ? made_up : __real_leati_now_ns();
}

uint32_t __real_leati_lane_tuner_step(leati_lane_tuner *spread, const leati_throughput *pace);
uint32_t __wrap_leati_lane_tuner_step(leati_lane_tuner *spread, const leati_throughput *pace);
uint32_t __wrap_leati_lane_tuner_step(leati_lane_tuner *spread, const leati_throughput *pace) {
  if (pace_room == 0) {
    return __real_leati_lane_tuner_step(spread, pace);
  }
  if (pace_count < pace_room) {
    paces[pace_count++] = *pace;
  }
  return 2;
}

static void pass_ms(uint64_t ms) {
  (void)atomic_fetch_add_explicit(&made_up_ns, ms * 1000000u, memory_order_relaxed);
}

/* A device of two lanes with two streams, whose time stands still but for pass_ms(). */
static leat_stream *two[2];
static uint64_t two_blocks[2];

static void open_two(void) {
  nulldriver_shape shape = nulldriver_get_shape();
  shape.queue_count = 2;
  nulldriver_set_shape(&shape);
  open_device();
  for (int i = 0; i < 2; ++i) {
    two[i] = make_stream();
    assert_ok(h.api->memory->alloc(h.device, sizeof(float) * COUNT, NULL, &two_blocks[i], &err));
  }
  pace_count = 0;
  pace_room = sizeof(paces) / sizeof(paces[0]);
  atomic_store_explicit(&made_up_ns, leati_now_ns(), memory_order_relaxed);
}

static void close_two(void) {
  pace_room = 0;
  atomic_store_explicit(&made_up_ns, 0, memory_order_relaxed);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->memory->free(h.device, two_blocks[i], &err));
    assert_ok(h.api->stream->destroy(two[i], &err));
  }
  close_device();
}

/* A list of so many commands. */
static void put_list(int which, int commands) {
  const DLTensor tensor = device_tensor(two_blocks[which], &count), *const tensors[1] = {&tensor};
  for (int i = 0; i < commands; ++i) {
    assert_ok(h.api->op->invoke(h.relu, two[which], 1, tensors, 1, tensors, &err));
  }
  assert_ok(h.api->stream->flush(two[which], &err));
}

static void an_interval_tells_what_all_lanes_did_in_it(void **state) {
  (void)state;
  enum { LISTS = 200 };
  open_two();
  for (int turn = 0; pace_count < pace_room && turn < 100; ++turn) {
    pass_ms(1000);
    for (int i = 0; i < LISTS; ++i) {
      put_list(0, 1);
      put_list(1, 3);
    }
    /* After the first interval there are two lanes. An idle stream stays where it is. */
    for (int i = 0; i < 2; ++i) {
      two[i]->lane = leati_lane_of(h.device->semaphores[i]);
    }
  }
  assert_int_equal(pace_count, pace_room);
  for (unsigned i = 0; i < pace_count; ++i) {
    assert_int_equal(paces[i].streams, 2);
    /* An interval ends with some list of a lane, up to 16 of them late. */
    assert_true(paces[i].commands >= 4 * (LISTS - 16) && paces[i].commands <= 4 * (LISTS + 16));
    /* Nobody waited for them. */
    assert_true(paces[i].list_s == 0);
  }
  close_two();
}

/* Intervals of lists that run for 3 ms each, now and then with nothing more to do for 20 ms or for much longer. */
static void run_seldom(void) {
  enum { LISTS = 50 };
  /* So that each list is waited for, and its end is seen. */
  nulldriver_set_mode(NULLDRIVER_LATE, 3);
  for (int turn = 0; pace_count < pace_room && turn < 100; ++turn) {
    pass_ms(100000);
    for (int i = 0; i < LISTS; ++i) {
      put_list(i % 2, 1);
      pass_ms(3);
      assert_ok(h.api->stream->synchronize(two[i % 2], &err));
      if (i % 10 == 0) {
        pass_ms(20);
      }
    }
  }
  assert_int_equal(pace_count, pace_room);
}

/* Work that comes seldom, and threads that are busy with something else, make no long lists. */
static void what_the_device_does_not_do_takes_it_no_time(void **state) {
  (void)state;
  open_two();
  run_seldom();
  for (unsigned i = 0; i < pace_count; ++i) {
    /* The last ones of an interval may run after it. */
    assert_true(paces[i].commands > 300 && paces[i].commands < 400);
    assert_true(paces[i].list_s > 0.0029 && paces[i].list_s < 0.0031);
  }
  close_two();
}

static void a_lane_at_work_leaves_no_idle_time(void **state) {
  (void)state;
  open_two();
  /* As if something else ran there. */
  leati_lane *const other = leati_lane_of(h.device->semaphores[1]);
  (void)atomic_fetch_add_explicit(&other->lists, 1, memory_order_relaxed);
  run_seldom();
  for (unsigned i = 0; i < pace_count; ++i) {
    assert_true(paces[i].commands < 300);
  }
  (void)atomic_fetch_sub_explicit(&other->lists, 1, memory_order_relaxed);
  close_two();
}

/* Also while more batches are in flight than are remembered. */
static void a_lane_with_many_batches_leaves_no_idle_time(void **state) {
  (void)state;
  enum { LISTS = 64 };
  open_two();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  pace_room = 1;
  for (int i = 0; i < LISTS; ++i) {
    put_list(0, 1);
  }
  pass_ms(1000);
  for (int i = 0; i < LISTS; ++i) {
    put_list(0, 1);
    pass_ms(1);
  }
  put_list(0, 1);
  assert_int_equal(pace_count, 1);
  assert_true(paces[0].commands < 200);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->stream->synchronize(two[0], &err));
  close_two();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_lane_at_work_leaves_no_idle_time),
      CASE(a_lane_with_many_batches_leaves_no_idle_time),
      CASE(an_interval_tells_what_all_lanes_did_in_it),
      CASE(what_the_device_does_not_do_takes_it_no_time),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.lane_count", tests, NULL, NULL);
}
