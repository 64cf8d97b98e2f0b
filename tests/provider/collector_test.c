/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/collector.c and spans.c alone, with a profiler table that gives what a test has put into it:
 * whose records are whose, and what happens when there is no room. */
#include "onnxruntime/collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DEVICE ((leat_device *)(uintptr_t)0x100)

/* The backend's profiler. One thread at a time. */
static struct {
  bool running, taken; /* taken: by somebody else */
  unsigned starts, stops;
  leat_profile_record *records;
  uint32_t count, next;
  uint64_t lost;
} backend;

static int32_t start(leat_device *device, uint32_t capacity, uint64_t flags, leat_error *err) {
  (void)err;
  assert_ptr_equal(device, DEVICE);
  assert_int_equal(capacity, LEATI_PROFILE_MOST);
  assert_int_equal(flags, 0);
  assert_false(backend.running);
  if (backend.taken) {
    return LEAT_ERROR_BUSY;
  }
  backend.running = true;
  backend.lost = backend.count = backend.next = 0;
  ++backend.starts;
  return LEAT_OK;
}

static int32_t stop(leat_device *device, leat_error *err) {
  (void)device;
  (void)err;
  assert_true(backend.running);
  backend.running = false;
  ++backend.stops;
  return LEAT_OK;
}

static int32_t take(leat_device *device, uint32_t *inout_count, leat_profile_record *out, leat_error *err) {
  (void)device;
  (void)err;
  uint32_t count = 0;
  for (; count < *inout_count && backend.next < backend.count; ++count) {
    assert_int_equal(out[count].struct_size, sizeof(*out));
    out[count] = backend.records[backend.next++];
  }
  *inout_count = count;
  return LEAT_OK;
}

static int32_t info(leat_device *device, leat_profiler_info *out, leat_error *err) {
  (void)device;
  (void)err;
  out->lost_count = backend.lost;
  out->pending_count = backend.count - backend.next;
  return LEAT_OK;
}

static const leat_profiler_api api = {
    .struct_size = sizeof(api), .start = start, .stop = stop, .read = take, .info = info};

static uint64_t now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The backend has a record; there is room for as many as a ring could hold, and some. */
static void put(uint32_t kind, uint64_t launch, uint32_t step, uint64_t recorded_ns) {
  assert_true(backend.count < 2 * LEATI_PROFILE_MOST);
  backend.records[backend.count++] = (leat_profile_record){
      .struct_size = sizeof(leat_profile_record),
      .kind = kind,
      .launch = launch,
      .step = step,
      .recorded_ns = recorded_ns,
      .thread = kind == LEAT_PROFILE_LAUNCH ? (uint32_t)syscall(SYS_gettid) : 0,
  };
}

/* This thread launches so many steps now; the backend tells as it does, the launch behind its steps. */
static void launch(uint64_t number, uint32_t steps) {
  const uint64_t recorded_ns = now_ns();
  for (uint32_t i = 0; i < steps; ++i) {
    put(i % 2 == 0 ? LEAT_PROFILE_KERNEL : LEAT_PROFILE_COPY, number, i, recorded_ns);
  }
  put(LEAT_PROFILE_LAUNCH, number, steps, recorded_ns);
  put(LEAT_PROFILE_RECORD, number, steps, 0);
  put(LEAT_PROFILE_WAIT, 0, 0, 0);
}

/* What was handed out: "launch.step@event " each. */
typedef struct seen {
  char text[512];
  size_t count;
} seen;

static void visit(void *context, leat_profile_record *record, const leati_span *span) {
  seen *const it = context;
  const size_t length = strlen(it->text);
  ++it->count;
  snprintf(it->text + length, sizeof(it->text) - length, "%u.%u@%s ", (unsigned)record->launch, record->step,
           span->name != NULL ? span->name : "-");
}

static leati_collector collector;

static void begin(leati_profile *profile) {
  leat_error error = {.struct_size = sizeof(error)};
  assert_int_equal(leati_collector_begin(&collector, &api, DEVICE, profile, &error), LEAT_OK);
}

static uint64_t end(leati_profile *profile, seen *out) {
  memset(out, 0, sizeof(*out));
  return leati_collector_end(&collector, &api, DEVICE, profile, visit, out);
}

static void leave(const leati_profile *profile, uint64_t id, const char *name) {
  leati_collector_leave(&collector, profile, id, name != NULL ? strdup(name) : NULL);
}

static int begin_anew(void **state) {
  (void)state;
  backend.records = malloc(2 * LEATI_PROFILE_MOST * sizeof(*backend.records));
  backend.running = backend.taken = false;
  backend.starts = backend.stops = 0;
  return backend.records != NULL && leati_collector_init(&collector) ? 0 : -1;
}

/* Nothing is left behind: a leak would be the sanitizer's to tell. */
static int finish(void **state) {
  (void)state;
  assert_false(backend.running);
  assert_int_equal(backend.starts, backend.stops);
  assert_int_equal(collector.profiles, 0);
  assert_null(collector.records);
  assert_int_equal(collector.spans.count, 0);
  leati_collector_clear(&collector);
  free(backend.records);
  return 0;
}

static void steps_belong_to_the_innermost_event(void **state) {
  (void)state;
  leati_profile profile = {0};
  seen out;
  begin(&profile);
  launch(1, 1); /* in no event */
  leati_collector_enter(&collector, &profile, 10);
  launch(2, 1);
  leati_collector_enter(&collector, &profile, 11);
  launch(3, 3);
  leave(&profile, 11, "node");
  leati_collector_enter(&collector, &profile, 12); /* another provider's */
  leave(&profile, 12, NULL);
  leati_collector_enter(&collector, &profile, 13); /* likewise, with ours in it */
  leati_collector_enter(&collector, &profile, 14);
  launch(4, 1);
  leave(&profile, 14, "inner");
  leave(&profile, 13, NULL);
  assert_int_equal(collector.spans.count, 4);
  launch(5, 1);
  leave(&profile, 10, "run");
  launch(6, 1);
  assert_int_equal(end(&profile, &out), 0);
  assert_string_equal(out.text, "2.0@run 3.0@node 3.1@node 3.2@node 4.0@inner 5.0@run ");
  /* Once is enough. */
  assert_int_equal(end(&profile, &out), 0);
  assert_int_equal(out.count, 0);
}

static void profiles_do_not_mix(void **state) {
  (void)state;
  leati_profile first = {0}, second = {0}, third = {0};
  seen out;
  begin(&first);
  begin(&second);
  leati_collector_enter(&collector, &first, 1);
  launch(1, 1);
  /* A Run inside of a Run. */
  leati_collector_enter(&collector, &second, 1);
  launch(2, 1);
  leave(&second, 1, "second");
  launch(3, 1);
  leave(&first, 1, "first");
  leati_collector_enter(&collector, &second, 2);
  launch(4, 2);
  begin(&third);
  assert_int_equal(end(&first, &out), 0);
  assert_string_equal(out.text, "1.0@first 3.0@first ");
  launch(5, 1);
  leave(&second, 2, "later");
  leati_collector_enter(&collector, &first, 3); /* it has ended */
  leave(&first, 3, "none");
  assert_int_equal(end(&third, &out), 0);
  assert_string_equal(out.text, "");
  assert_int_equal(end(&second, &out), 0);
  assert_string_equal(out.text, "2.0@second 4.0@later 4.1@later 5.0@later ");
  assert_int_equal(backend.starts, 1);
}

static void a_launch_that_is_told_in_two_pieces_is_whole(void **state) {
  (void)state;
  leati_profile first = {0}, second = {0};
  seen out;
  begin(&first);
  begin(&second);
  leati_collector_enter(&collector, &second, 1);
  const uint64_t recorded_ns = now_ns();
  put(LEAT_PROFILE_KERNEL, 1, 0, recorded_ns);
  assert_int_equal(end(&first, &out), 0);
  put(LEAT_PROFILE_KERNEL, 1, 1, recorded_ns);
  put(LEAT_PROFILE_LAUNCH, 1, 2, recorded_ns);
  leave(&second, 1, "node");
  assert_int_equal(end(&second, &out), 0);
  assert_string_equal(out.text, "1.0@node 1.1@node ");
}

static void a_profiler_that_is_taken_is_told(void **state) {
  (void)state;
  leati_profile profile = {0};
  leat_error error = {.struct_size = sizeof(error)};
  seen out;
  backend.taken = true;
  assert_int_equal(leati_collector_begin(&collector, &api, DEVICE, &profile, &error), LEAT_ERROR_BUSY);
  leati_collector_enter(&collector, &profile, 1);
  leave(&profile, 1, "none");
  assert_int_equal(end(&profile, &out), 0);
  backend.taken = false;
  begin(&profile);
  assert_int_equal(leati_collector_begin(&collector, &api, DEVICE, &profile, &error), LEAT_ERROR_BUSY);
  /* Nobody ends it: its owner goes. */
  leati_collector_enter(&collector, &profile, 2);
  launch(1, 1);
  assert_int_equal(leati_collector_end(&collector, &api, DEVICE, &profile, NULL, NULL), 0);
  begin(&profile);
  assert_int_equal(end(&profile, &out), 0);
  assert_int_equal(out.count, 0);
}

static void what_finds_no_room_is_counted(void **state) {
  (void)state;
  leati_profile first = {0}, second = {0};
  seen out;
  begin(&first);
  backend.lost = 3;
  begin(&second);
  backend.lost = 5;
  for (uint32_t i = 0; i < LEATI_PROFILE_MOST + 2; ++i) {
    leati_collector_enter(&collector, &first, i);
    leave(&first, i, "node");
  }
  assert_int_equal(collector.spans.count, LEATI_PROFILE_MOST);
  /* What belongs to the other fills what is kept for it. */
  leati_collector_enter(&collector, &second, 1);
  assert_int_equal(end(&first, &out), 5 + 3);
  leati_collector_enter(&collector, &second, 2);
  launch(1, LEATI_PROFILE_MOST);
  leati_profile third = {0};
  begin(&third);
  /* What is told of the launch as a whole, and two records that nobody asks for. */
  assert_int_equal(end(&third, &out), 3);
  assert_int_equal(collector.count, LEATI_PROFILE_MOST);
  leave(&second, 2, "run");
  assert_in_range(end(&second, &out), LEATI_PROFILE_MOST, LEATI_PROFILE_MOST + 1024);
  assert_int_equal(out.count, 0);
}

/* Processor time of this thread, which other loads of the machine do not add to. */
static uint64_t used_ns(void) {
  struct timespec used;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

/* Launches that no profile asked for look past all Runs that their thread had before. */
static void launches_of_others_take_no_longer_after_many_runs(void **state) {
  (void)state;
  leati_profile profile = {0};
  seen out;
  begin(&profile);
  for (uint32_t i = 0; i < LEATI_PROFILE_MOST / 2; ++i) {
    leati_collector_enter(&collector, &profile, i);
    leave(&profile, i, "run");
  }
  for (uint32_t i = 0; i < LEATI_PROFILE_MOST / 8; ++i) {
    launch(i + 1, 1);
    launch(i + 1 + LEATI_PROFILE_MOST, 0);
  }
  const uint64_t before = used_ns();
  assert_int_equal(end(&profile, &out), 0);
  assert_int_equal(out.count, 0);
  assert_in_range(used_ns() - before, 0, UINT64_C(4000000000)); /* some 0.1 s; ten and more where each looks at all */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(steps_belong_to_the_innermost_event, begin_anew, finish),
      cmocka_unit_test_setup_teardown(profiles_do_not_mix, begin_anew, finish),
      cmocka_unit_test_setup_teardown(a_launch_that_is_told_in_two_pieces_is_whole, begin_anew, finish),
      cmocka_unit_test_setup_teardown(a_profiler_that_is_taken_is_told, begin_anew, finish),
      cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, begin_anew, finish),
      cmocka_unit_test_setup_teardown(launches_of_others_take_no_longer_after_many_runs, begin_anew, finish),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
