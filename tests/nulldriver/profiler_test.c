/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: what is asked of the driver, what the times say, and what happens to records when something fails. */
#include "unit_fixture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sync.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

enum { CAPACITY = 1024, STEPS = 6 };

static leat_profile_record records[CAPACITY];

/* The plugin's clock. The linker puts this in its place; `slow` lets so many nanoseconds pass as one. Relaxed: it
 * changes while nothing runs. */
static _Atomic uint64_t slow = 1;
uint64_t __real_leati_now_ns(void);
uint64_t __wrap_leati_now_ns(void);
uint64_t __wrap_leati_now_ns(void) {
  return __real_leati_now_ns() / atomic_load_explicit(&slow, memory_order_relaxed);
}

/* Reads all that is there into `records`. */
static uint32_t read_all(void) {
  uint32_t found = CAPACITY;
  for (uint32_t i = 0; i < CAPACITY; ++i) {
    records[i].struct_size = sizeof(records[i]);
  }
  assert_ok(h.api->profiler->read(h.device, &found, records, &err));
  return found;
}

/* The record of this kind that comes n-th of those that were read. */
static const leat_profile_record *nth(uint32_t found, uint32_t kind, uint32_t n) {
  for (uint32_t i = 0; i < found; ++i) {
    if (records[i].kind == kind && n-- == 0) {
      return &records[i];
    }
  }
  return NULL;
}

static uint32_t count_kind(uint32_t found, uint32_t kind) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < found; ++i) {
    n += records[i].kind == kind;
  }
  return n;
}

static void start(void) {
  assert_ok(h.api->profiler->start(h.device, CAPACITY, 0, &err));
}

static void stop(void) {
  assert_ok(h.api->profiler->stop(h.device, &err));
}

static leat_profiler_info info(void) {
  leat_profiler_info it = {.struct_size = sizeof(it)};
  assert_ok(h.api->profiler->info(h.device, &it, &err));
  return it;
}

static void nobody_asks_nothing_is_written(void **state) {
  (void)state;
  open_device();
  run_through(5);
  assert_int_equal(read_all(), 0);
  assert_int_equal(nulldriver_calls("vkCmdWriteTimestamp"), 0);
  assert_int_equal(nulldriver_calls("vkCreateQueryPool"), 0);
  start();
  run_through(1);
  stop();
  const uint64_t written = nulldriver_calls("vkCmdWriteTimestamp");
  assert_true(written != 0);
  run_through(5);
  assert_int_equal(nulldriver_calls("vkCmdWriteTimestamp"), written);
  close_device();
}

/* Two steps side by side and one behind them. */
static void times_follow_levels(void **state) {
  (void)state;
  static blocks s, t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&s, stream);
  take_blocks(&t, stream);
  assert_int_equal(upload(&s, stream, 1), LEAT_OK);
  assert_int_equal(upload(&t, stream, 2), LEAT_OK);
  start();
  assert_int_equal(rectify(&s, stream), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_int_equal(rectify(&s, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  stop();
  const uint32_t found = read_all();
  assert_int_equal(count_kind(found, LEAT_PROFILE_KERNEL), 3);
  const leat_profile_record *const a = nth(found, LEAT_PROFILE_KERNEL, 0),
                                   *const b = nth(found, LEAT_PROFILE_KERNEL, 1),
                                   *const c = nth(found, LEAT_PROFILE_KERNEL, 2);
  assert_true(a->begin_ns < a->end_ns && a->busy_ns == a->end_ns - a->begin_ns);
  assert_true(b->begin_ns == a->begin_ns && b->end_ns > a->end_ns && b->busy_ns == b->end_ns - a->end_ns);
  assert_true(c->begin_ns == b->end_ns && c->busy_ns == c->end_ns - b->end_ns);
  assert_true(a->launch < b->launch && b->launch < c->launch);
  assert_string_equal(a->op, "Relu");
  const leat_profile_record *const submit = nth(found, LEAT_PROFILE_SUBMIT, 0), *const wait =
                                                                                    nth(found, LEAT_PROFILE_WAIT, 0);
  assert_non_null(submit);
  assert_true(submit->begin_ns == a->submitted_ns && submit->end_ns >= submit->begin_ns && submit->thread != 0);
  assert_true(wait == NULL || wait->thread == submit->thread);
  give_blocks(&s);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_device_without_a_clock_says_so(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.no_host_query_reset = true;
  nulldriver_set_shape(&shape);
  open_device();
  leat_error said = {.struct_size = sizeof(said)};
  assert_int_equal(h.api->profiler->start(h.device, 0, 0, &said), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(said.message, "hostQueryReset"));
  stop();
  run_through(2);
  assert_int_equal(read_all(), 0);
  assert_int_equal(info().flags, 0);
  close_device();
}

static void clocks_are_related_with_the_driver_and_without(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    nulldriver_shape shape = nulldriver_get_shape();
    shape.no_calibrated_timestamps = i == 1;
    nulldriver_set_shape(&shape);
    open_device();
    start();
    run_through(STEPS);
    stop();
    assert_int_equal(info().flags, i == 0 ? LEAT_PROFILER_CALIBRATED : 0);
    const uint32_t found = read_all();
    uint64_t last = 0;
    assert_int_equal(count_kind(found, LEAT_PROFILE_KERNEL), STEPS);
    for (uint32_t k = 0; k < STEPS; ++k) {
      const leat_profile_record *const r = nth(found, LEAT_PROFILE_KERNEL, k);
      assert_true(r->begin_ns >= last && r->end_ns > r->begin_ns);
      /* What the host saw happen after it stands behind it. */
      assert_true(i == 0 || r->end_ns <= leati_now_ns());
      last = r->end_ns;
    }
    assert_int_equal(nulldriver_calls("vkGetCalibratedTimestampsEXT") != 0, i == 0);
    close_device();
    nulldriver_reset();
  }
}

/* The driver's clock counts its readings, and runs ahead of the host's. */
static void a_clock_that_runs_ahead_is_held_back(void **state) {
  (void)state;
  static blocks t;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.no_calibrated_timestamps = true;
  nulldriver_set_shape(&shape);
  open_device();
  atomic_store_explicit(&slow, 1000, memory_order_relaxed);
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  start();
  for (int i = 0; i < STEPS; ++i) {
    assert_int_equal(rectify(&t, stream), LEAT_OK);
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  const uint32_t found = read_all();
  const uint64_t now = leati_now_ns();
  assert_int_equal(count_kind(found, LEAT_PROFILE_KERNEL), STEPS);
  for (uint32_t i = 0; i < found; ++i) {
    assert_true(records[i].end_ns <= now);
  }
  stop();
  atomic_store_explicit(&slow, 1, memory_order_relaxed);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Work goes on whatever a profile lacks, and what is lost is told. */
static void queries_that_cannot_be_had_lose_records_alone(void **state) {
  (void)state;
  open_device();
  start();
  assert_true(nulldriver_fail("vkCreateQueryPool", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  run_through(1);
  const uint32_t found = read_all();
  assert_int_equal(count_kind(found, LEAT_PROFILE_KERNEL), 0);
  assert_true(info().lost_count != 0);
  run_through(1);
  assert_int_equal(count_kind(read_all(), LEAT_PROFILE_KERNEL), 1);
  stop();
  close_device();
}

/* A command buffer that holds a list is not taken for one that is profiled, nor the other way round. */
static void lists_that_are_held_are_profiled_too(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 4 * STEPS; ++i) {
      assert_int_equal(rectify(&t, stream), LEAT_OK);
      assert_ok(h.api->stream->synchronize(stream, &err));
    }
    const uint64_t begun = nulldriver_calls("vkBeginCommandBuffer");
    for (uint32_t i = 0; i < STEPS; ++i) {
      assert_int_equal(rectify(&t, stream), LEAT_OK);
      assert_ok(h.api->stream->synchronize(stream, &err));
    }
    assert_int_equal(nulldriver_calls("vkBeginCommandBuffer"), begun);
    start();
    for (uint32_t i = 0; i < STEPS; ++i) {
      assert_int_equal(rectify(&t, stream), LEAT_OK);
      assert_ok(h.api->stream->synchronize(stream, &err));
    }
    stop();
    assert_int_equal(count_kind(read_all(), LEAT_PROFILE_KERNEL), STEPS);
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_list_that_is_lost_has_no_records(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  start();
  fail_stream(stream, &t);
  assert_ok(h.api->stream->clear_error(stream, &err));
  assert_int_equal(put_run(&t, stream, 1), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&t, 1);
  assert_int_equal(count_kind(read_all(), LEAT_PROFILE_KERNEL), 1);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_lost_device_closes_with_its_profile(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  start();
  assert_int_equal(put_run(&t, stream, 1), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_int_equal(put_run(&t, stream, 2), LEAT_OK);
  nulldriver_lose_device();
  assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(count_kind(read_all(), LEAT_PROFILE_KERNEL), 0);
  close_device();
}

static void work_in_flight_closes_with_its_profile(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  start();
  assert_int_equal(put_run(&t, stream, 1), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_int_equal(put_run(&t, stream, 2), LEAT_OK);
  close_device();
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

enum { RUNNERS = 6, RUNS = 120 };

static atomic_bool done; /* the runners have ended; relaxed: it only ends the other threads some time later */

static void *run(void *argument) {
  submitter *const s = argument;
  for (uint32_t i = 0; i < RUNS; ++i) {
    HOST_NEED(put_run(&s->t, s->stream, i));
    HOST_NEED(h.api->stream->synchronize(s->stream, &err));
    s->failures += host_compare(s->t.out, COUNT, (host_content){.seed = i, .rectified = true}) != -1;
    if (i % 16 == 15) {
      /* The work of a stream that goes is profiled too. */
      leat_stream *const old = s->stream;
      HOST_NEED(put_run(&s->t, old, i));
      HOST_NEED(h.api->stream->synchronize(old, &err));
      HOST_NEED(h.api->stream->destroy(old, &err));
      HOST_NEED(h.api->stream->create(h.device, 0, &s->stream, &err));
    }
  }
  return NULL;
}

static void *toggle(void *argument) {
  leat_profile_record *const some = argument;
  for (uint32_t i = 0; !atomic_load_explicit(&done, memory_order_relaxed); ++i) {
    const int32_t started = h.api->profiler->start(h.device, 1 + i % 200, 0, NULL);
    HOST_NEED(started == LEAT_ERROR_BUSY ? LEAT_OK : started);
    uint32_t found = 64;
    HOST_NEED(h.api->profiler->read(h.device, &found, some, &err));
    for (uint32_t k = 0; k < found; ++k) {
      HOST_NEED(some[k].begin_ns <= some[k].end_ns ? LEAT_OK : LEAT_ERROR_INTERNAL);
    }
    if (i % 3 != 0) {
      HOST_NEED(h.api->profiler->stop(h.device, &err));
    }
  }
  return NULL;
}

static void threads_run_while_others_start_and_stop(void **state) {
  (void)state;
  static submitter runners[RUNNERS];
  static leat_profile_record some[2][64];
  pthread_t togglers[2];
  open_device();
  nulldriver_set_mode(NULLDRIVER_THREADED, 3);
  atomic_store_explicit(&done, false, memory_order_relaxed);
  for (int i = 0; i < RUNNERS; ++i) {
    runners[i] = (submitter){.stream = make_stream()};
    take_blocks(&runners[i].t, runners[i].stream);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    start_thread(&runners[i].thread, run, &runners[i]);
  }
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 64; ++k) {
      some[i][k].struct_size = sizeof(some[i][k]);
    }
    start_thread(&togglers[i], toggle, some[i]);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    join_thread(runners[i].thread);
    assert_int_equal(runners[i].failures, 0);
  }
  atomic_store_explicit(&done, true, memory_order_relaxed);
  for (int i = 0; i < 2; ++i) {
    join_thread(togglers[i]);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    give_blocks(&runners[i].t);
    assert_ok(h.api->stream->destroy(runners[i].stream, &err));
  }
  close_device();
}

/* All that threads do is told, and each launch once. */
static void every_launch_of_every_thread_is_told(void **state) {
  (void)state;
  static submitter runners[RUNNERS];
  enum { ALL = 1 << 16 };
  leat_profile_record *const all = calloc(ALL, sizeof(*all));
  static bool seen[ALL];
  uint32_t found = ALL, launches = 0;
  assert_non_null(all);
  open_device();
  nulldriver_set_mode(NULLDRIVER_THREADED, 3);
  for (int i = 0; i < RUNNERS; ++i) {
    runners[i] = (submitter){.stream = make_stream()};
    take_blocks(&runners[i].t, runners[i].stream);
  }
  assert_ok(h.api->profiler->start(h.device, ALL, 0, &err));
  for (int i = 0; i < RUNNERS; ++i) {
    start_thread(&runners[i].thread, run, &runners[i]);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    join_thread(runners[i].thread);
    assert_int_equal(runners[i].failures, 0);
  }
  stop();
  assert_ok(h.api->device->synchronize(h.device, &err));
  for (uint32_t i = 0; i < ALL; ++i) {
    all[i].struct_size = sizeof(all[i]);
  }
  assert_ok(h.api->profiler->read(h.device, &found, all, &err));
  assert_int_equal(info().lost_count, 0);
  for (uint32_t i = 0; i < found; ++i) {
    if (all[i].kind == LEAT_PROFILE_LAUNCH) {
      assert_true(all[i].launch < ALL && !seen[all[i].launch]);
      seen[all[i].launch] = true;
      launches += strcmp(all[i].op, "Relu") == 0;
    }
  }
  assert_int_equal(launches, RUNNERS * (RUNS + RUNS / 16));
  free(all);
  for (int i = 0; i < RUNNERS; ++i) {
    give_blocks(&runners[i].t);
    assert_ok(h.api->stream->destroy(runners[i].stream, &err));
  }
  close_device();
}

/* The trace of many threads: whole JSON at its end, with each launch once (tests/profile/ looks closer). */
static void threads_write_one_trace(void **state) {
  (void)state;
  static submitter runners[RUNNERS];
  char path[] = "/tmp/leat-trace-XXXXXX", *line = NULL, last[8] = "";
  size_t room = 0;
  uint32_t begins = 0, ends = 0;
  const int made = mkstemp(path);
  assert_true(made >= 0);
  assert_int_equal(close(made), 0);
  open_configured("LEAT_PROFILE", path);
  nulldriver_set_mode(NULLDRIVER_THREADED, 3);
  for (int i = 0; i < RUNNERS; ++i) {
    runners[i] = (submitter){.stream = make_stream()};
    take_blocks(&runners[i].t, runners[i].stream);
    start_thread(&runners[i].thread, run, &runners[i]);
  }
  for (int i = 0; i < RUNNERS; ++i) {
    join_thread(runners[i].thread);
    assert_int_equal(runners[i].failures, 0);
    give_blocks(&runners[i].t);
    assert_ok(h.api->stream->destroy(runners[i].stream, &err));
  }
  close_configured("LEAT_PROFILE");
  FILE *const file = fopen(path, "r");
  assert_non_null(file);
  while (getline(&line, &room, file) >= 0) {
    const bool relu = strstr(line, "\"name\":\"Relu\"") != NULL;
    begins += relu && strstr(line, "\"ph\":\"b\"") != NULL;
    ends += relu && strstr(line, "\"ph\":\"e\"") != NULL;
    (void)snprintf(last, sizeof(last), "%.7s", line);
  }
  assert_int_equal(begins, RUNNERS * (RUNS + RUNS / 16));
  assert_int_equal(ends, begins);
  assert_string_equal(last, "]}\n");
  free(line);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(unlink(path), 0);
}

/* A device that is opened again and again without a record leaves the file alone. */
static void names_alone_do_not_fill_the_trace(void **state) {
  (void)state;
  char path[] = "/tmp/leat-trace-XXXXXX", text[64] = "";
  const int made = mkstemp(path);
  assert_true(made >= 0);
  open_configured("LEAT_PROFILE", path);
  close_device();
  for (int i = 0; i < 400; ++i) {
    open_device();
    close_device();
  }
  assert_ok(h.api->configure("LEAT_PROFILE", NULL, &err));
  assert_true(read(made, text, sizeof(text) - 1) > 0);
  assert_string_equal(text, "{\"traceEvents\":[]}\n");
  assert_int_equal(close(made), 0);
  assert_int_equal(unlink(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(nobody_asks_nothing_is_written),
      CASE(times_follow_levels),
      CASE(a_device_without_a_clock_says_so),
      CASE(clocks_are_related_with_the_driver_and_without),
      CASE(a_clock_that_runs_ahead_is_held_back),
      CASE(queries_that_cannot_be_had_lose_records_alone),
      CASE(lists_that_are_held_are_profiled_too),
      CASE(a_list_that_is_lost_has_no_records),
      CASE(a_lost_device_closes_with_its_profile),
      CASE(work_in_flight_closes_with_its_profile),
      CASE(threads_run_while_others_start_and_stop),
      CASE(every_launch_of_every_thread_is_told),
      CASE(threads_write_one_trace),
      CASE(names_alone_do_not_fill_the_trace),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.profiler", tests, NULL, NULL);
}
