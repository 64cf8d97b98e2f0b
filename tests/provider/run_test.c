/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/run.c and admission.c alone, with a backend, a gate and a device that only keep account: which
 * Runs take a place in the pool, when they release it, where a thread is while it waits, and which streams come after
 * which. */
#include "onnxruntime/run.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxruntime/ep_gate.h"

#define FOR_EVER (-1)

/* ---- What they stand on --------------------------------------------------------------------------------------------
 */

/* The backend's account. Guarded by nothing: one test at a time, one thread at a time. */
static struct {
  bool full;               /* whether info() says that all are taken */
  int32_t acquire;         /* what acquire() gives */
  int32_t open;            /* what opening a device gives */
  int32_t synchronize;     /* what the streams' work came to */
  unsigned asked;          /* calls of acquire() */
  int64_t timeout_ms;      /* of the last of them */
  int gate_in_acquire;     /* depth in the gate during the last of them */
  unsigned held;           /* places taken and not released */
  uint64_t last_ticket;    /* the latest that was given */
  leat_device *devices[8]; /* by ticket: whose place it is */
  unsigned synchronized, flushed;
  leat_stream *last_synchronized;
  unsigned orders_at_synchronize; /* `orders` when it was */
  leat_stream *recorded;          /* of the one event that there is at a time; NULL: there is none */
  int32_t record;                 /* what recording it gives */
  unsigned orders;                /* streams that were made to wait for it */
  leat_stream *before[32];        /* what such a stream waits for, */
  leat_stream *behind[32];        /* and which it is */
  leat_stream *caught_up;         /* the last stream that came after what was published */
  unsigned catches;
} account;
static int gate_depth;

leati_gate leati_ep_gate_enter(void) {
  ++gate_depth;
  return LEATI_GATE_OPEN;
}

void leati_ep_gate_leave(void) {
  --gate_depth;
}

int32_t leati_shared_device_open(leati_shared_device *device, leat_device **out, leat_error *err) {
  (void)err;
  *out = atomic_load(&device->opened);
  return account.open;
}

OrtStatus *leati_shared_device_catch_up(leati_shared_device *device, leat_stream *stream, uint64_t *out_published) {
  account.caught_up = stream;
  account.catches++;
  *out_published = atomic_load(&device->published);
  return NULL;
}

bool leati_status_drop(const leati_runtime *runtime, OrtStatus *status) {
  (void)runtime;
  return status != NULL;
}

OrtStatus *leati_status_from(const leati_runtime *runtime, int32_t code, const leat_error *error, const char *format,
                             ...) {
  (void)runtime;
  (void)error;
  (void)format;
  return code == LEAT_OK ? NULL : (OrtStatus *)(uintptr_t)(0x1000 + code);
}

void leati_ort_log(const leati_runtime *runtime, const OrtLogger *logger, OrtLoggingLevel level, const char *format,
                   ...) {
  (void)runtime;
  (void)logger;
  (void)level;
  fail_msg("nothing should be worth a line: %s", format);
}

static int32_t pool_acquire(leat_device *device_asked, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                            leat_error *err) {
  (void)err;
  ++account.asked;
  account.timeout_ms = timeout_ms;
  account.gate_in_acquire = gate_depth;
  const int32_t code = account.acquire;
  if (code == LEAT_OK) {
    *out = (leat_stream *)(uintptr_t)0x100;
    *out_ticket = ++account.last_ticket;
    assert_true(account.last_ticket < 8);
    account.devices[account.last_ticket] = device_asked;
    ++account.held;
  }
  return code;
}

static int32_t pool_release(leat_device *device_asked, uint64_t ticket, leat_error *err) {
  (void)err;
  assert_in_range(ticket, 1, account.last_ticket);
  assert_ptr_equal(account.devices[ticket], device_asked);
  account.devices[ticket] = NULL;
  --account.held;
  return LEAT_OK;
}

static int32_t pool_info(leat_device *device_asked, leat_pool_info *out, leat_error *err) {
  (void)device_asked;
  (void)err;
  out->stream_count = 32;
  out->held_count = account.full ? 31 : 30;
  return account.acquire == LEAT_ERROR_NOT_SUPPORTED ? LEAT_ERROR_NOT_SUPPORTED : LEAT_OK;
}

static int32_t event_create(leat_device *opened, uint64_t flags, leat_event **out, leat_error *err) {
  (void)flags;
  (void)err;
  assert_non_null(opened);
  assert_null(account.recorded);
  *out = (leat_event *)(uintptr_t)0x500;
  return LEAT_OK;
}

static int32_t event_record(leat_event *event, leat_stream *stream, leat_error *err) {
  (void)event;
  (void)err;
  account.recorded = stream;
  return account.record;
}

static int32_t event_destroy(leat_event *event, leat_error *err) {
  (void)event;
  (void)err;
  account.recorded = NULL;
  return LEAT_OK;
}

static int32_t stream_wait_event(leat_stream *stream, leat_event *event, leat_error *err) {
  (void)event;
  (void)err;
  assert_true(account.orders < 32);
  account.before[account.orders] = account.recorded;
  account.behind[account.orders++] = stream;
  return LEAT_OK;
}

static int32_t stream_synchronize(leat_stream *stream, leat_error *err) {
  account.last_synchronized = stream;
  account.orders_at_synchronize = account.orders;
  (void)err;
  /* The place is held until the work is done. */
  assert_int_not_equal(account.held, 0);
  ++account.synchronized;
  return account.synchronize;
}

static int32_t stream_flush(leat_stream *stream, leat_error *err) {
  (void)stream;
  (void)err;
  ++account.flushed;
  return LEAT_OK;
}

static int32_t stream_clear_error(leat_stream *stream, leat_error *err) {
  (void)stream;
  (void)err;
  return LEAT_OK;
}

static const leat_pool_api pool = {
    .struct_size = sizeof(pool), .acquire = pool_acquire, .release = pool_release, .info = pool_info};
static const leat_stream_api streams = {.struct_size = sizeof(streams),
                                        .flush = stream_flush,
                                        .synchronize = stream_synchronize,
                                        .wait_event = stream_wait_event,
                                        .clear_error = stream_clear_error};
static const leat_event_api events = {
    .struct_size = sizeof(events), .create = event_create, .destroy = event_destroy, .record = event_record};
static const leat_backend_api backend = {
    .struct_size = sizeof(backend), .stream = &streams, .event = &events, .pool = &pool};
static const leati_runtime runtime = {.leat = &backend};
static leati_shared_device device, other;
#define STREAM ((leat_stream *)(uintptr_t)0x200)
#define ANOTHER ((leat_stream *)(uintptr_t)0x280)
#define LENT ((leat_stream *)(uintptr_t)0x2c0)
#define THEIRS ((leat_stream *)(uintptr_t)0x2e0)

static int begin_anew(void **state) {
  (void)state;
  memset(&account, 0, sizeof(account));
  /* As ep.c does before it calls run.c. */
  gate_depth = 1;
  device.runtime = other.runtime = &runtime;
  atomic_store(&device.opened, (leat_device *)(uintptr_t)0x300);
  atomic_store(&other.opened, (leat_device *)(uintptr_t)0x400);
  atomic_store(&device.published, 0);
  return 0;
}

static int32_t begin(leati_shared_device *on, int64_t timeout_ms) {
  leat_error error = {.struct_size = sizeof(error)};
  return leati_run_begin(on, timeout_ms, false, &error);
}

/* Notes a stream, and says whether this thread is in a Run. */
static bool note_on(leati_shared_device *on, leat_stream *stream, bool to_host) {
  bool inside = false;
  assert_null(leati_run_note(on, stream, to_host, &inside));
  return inside;
}

static bool note(leat_stream *stream, bool to_host) {
  return note_on(&device, stream, to_host);
}

/* ---- Tests ---------------------------------------------------------------------------------------------------------
 */

static void a_run_holds_one_place(void **state) {
  (void)state;
  for (unsigned i = 0; i < 3; ++i) {
    assert_int_equal(begin(&device, FOR_EVER), LEAT_OK);
    assert_int_equal(account.held, 1);
    note(STREAM, false);
    assert_null(leati_run_end(&device, true));
    assert_int_equal(account.held, 0);
  }
  assert_int_equal(account.asked, 3);
  assert_int_equal(account.synchronized, 3);
  assert_int_equal(gate_depth, 1);
}

static void runs_inside_share_the_place(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  /* None is left. */
  account.acquire = LEAT_ERROR_EXHAUSTED;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_int_equal(begin(&device, FOR_EVER), LEAT_OK);
  note(STREAM, false);
  assert_null(leati_run_end(&device, true));
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 1);
  note(STREAM, false);
  assert_null(leati_run_end(&device, false));
  assert_int_equal(account.held, 0);
  assert_int_equal(account.asked, 1);
  assert_int_equal(account.synchronized, 1);
  assert_int_equal(account.flushed, 1);
}

static void each_device_has_places_of_its_own(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_int_equal(begin(&other, 0), LEAT_OK);
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_int_equal(account.held, 2);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 2);
  assert_null(leati_run_end(&other, true));
  assert_int_equal(account.held, 1);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 0);
}

static void a_run_that_is_refused_leaves_nothing(void **state) {
  (void)state;
  account.acquire = LEAT_ERROR_EXHAUSTED;
  assert_int_equal(begin(&device, 0), LEAT_ERROR_EXHAUSTED);
  assert_int_equal(account.asked, 1);
  assert_int_equal(begin(&device, 25), LEAT_ERROR_EXHAUSTED);
  assert_int_equal(account.asked, 2);
  assert_int_equal(account.timeout_ms, 25);
  assert_int_equal(gate_depth, 1);
  /* A stream that is noted outside of any Run is not. */
  assert_false(note(STREAM, true));
  leati_run_forget(STREAM);
  account.acquire = LEAT_OK;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.synchronized, 0);
  assert_int_equal(account.held, 0);
  /* Inside of another Run, it takes nothing from that one. */
  assert_int_equal(begin(&device, 0), LEAT_OK);
  account.acquire = LEAT_ERROR_EXHAUSTED;
  assert_int_equal(begin(&other, 0), LEAT_ERROR_EXHAUSTED);
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_null(leati_run_end(&device, true));
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 0);
}

static void other_failures_leave_nothing_either(void **state) {
  (void)state;
  account.acquire = LEAT_ERROR_OUT_OF_MEMORY;
  assert_int_equal(begin(&device, FOR_EVER), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(account.asked, 1);
  account.acquire = LEAT_OK;
  account.open = LEAT_ERROR_UNAVAILABLE;
  assert_int_equal(begin(&device, FOR_EVER), LEAT_ERROR_UNAVAILABLE);
  assert_int_equal(account.asked, 1);
  account.open = LEAT_OK;
  assert_int_equal(begin(&device, FOR_EVER), LEAT_OK);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 0);
}

static void who_waits_is_outside_of_the_gate(void **state) {
  (void)state;
  account.full = true;
  assert_int_equal(begin(&device, LEAT_POOL_TIMEOUT_CONFIGURED), LEAT_OK);
  assert_int_equal(account.gate_in_acquire, 0);
  assert_true(account.timeout_ms == LEAT_POOL_TIMEOUT_CONFIGURED);
  assert_int_equal(gate_depth, 1);
  assert_null(leati_run_end(&device, true));
  account.acquire = LEAT_ERROR_EXHAUSTED;
  assert_int_equal(begin(&device, FOR_EVER), LEAT_ERROR_EXHAUSTED);
  assert_int_equal(account.gate_in_acquire, 0);
  /* Who does not wait, or finds a place, stays inside, where a stream may have to be made. */
  assert_int_equal(begin(&device, 0), LEAT_ERROR_EXHAUSTED);
  assert_int_equal(account.gate_in_acquire, 1);
  account.full = false;
  account.acquire = LEAT_OK;
  assert_int_equal(begin(&device, FOR_EVER), LEAT_OK);
  assert_int_equal(account.gate_in_acquire, 1);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(gate_depth, 1);
  assert_int_equal(account.held, 0);
}

static void without_a_pool_all_are_admitted(void **state) {
  (void)state;
  account.acquire = LEAT_ERROR_NOT_SUPPORTED;
  for (unsigned i = 0; i < 3; ++i) {
    assert_int_equal(begin(&device, 0), LEAT_OK);
  }
  note(STREAM, false);
  for (unsigned i = 0; i < 3; ++i) {
    assert_null(leati_run_end(&device, false));
  }
  /* Each end submits what the outer Runs may still add to. */
  assert_int_equal(account.flushed, 3);
}

static void failed_work_gives_the_place_back(void **state) {
  (void)state;
  account.synchronize = LEAT_ERROR_DEVICE_LOST;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  note(STREAM, false);
  assert_ptr_equal(leati_run_end(&device, true), (void *)(uintptr_t)(0x1000 + LEAT_ERROR_DEVICE_LOST));
  assert_int_equal(account.held, 0);
}

static void what_writes_to_the_host_is_waited_for(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(STREAM, true));
  assert_true(note(ANOTHER, false));
  assert_true(note(STREAM, false));
  assert_null(leati_run_end(&device, false));
  assert_int_equal(account.synchronized, 1);
  assert_int_equal(account.flushed, 1);
  /* The next Run owes nothing. */
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(STREAM, false));
  assert_null(leati_run_end(&device, false));
  assert_int_equal(account.synchronized, 1);
  /* What goes is waited for there, because nothing can be ordered after it any more. */
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(STREAM, false));
  assert_true(note(ANOTHER, false));
  leati_run_forget(STREAM);
  assert_ptr_equal(account.last_synchronized, STREAM);
  leati_run_forget(STREAM);
  assert_int_equal(account.synchronized, 2);
  assert_null(leati_run_end(&device, false));
  assert_int_equal(account.synchronized, 2);
}

/* ---- Order --------------------------------------------------------------------------------------------------------
 */

/* Checks that the last stream to be ordered was one, and came after another one, and that there were so many orders. */
static void expect_order(unsigned orders, const leat_stream *before, const leat_stream *behind) {
  assert_int_equal(account.orders, orders);
  assert_ptr_equal(account.before[orders - 1], before);
  assert_ptr_equal(account.behind[orders - 1], behind);
  assert_null(account.recorded);
}

static void a_stream_comes_after_the_one_before(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  for (int i = 0; i < 3; ++i) {
    assert_true(note(STREAM, false));
  }
  assert_int_equal(account.orders, 0);
  assert_true(note(ANOTHER, false));
  expect_order(1, STREAM, ANOTHER);
  assert_true(note(ANOTHER, true));
  assert_true(note(STREAM, false));
  expect_order(2, ANOTHER, STREAM);
  /* One that is only lent is ordered likewise, and is not what the next comes after. */
  bool inside = false;
  assert_null(leati_run_order(&device, LENT, &inside));
  assert_true(inside);
  expect_order(3, STREAM, LENT);
  assert_null(leati_run_order(&device, STREAM, &inside));
  assert_true(note(STREAM, false));
  assert_int_equal(account.orders, 3);
  assert_null(leati_run_end(&device, true));
  /* The next Run comes after nothing. */
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(ANOTHER, false));
  assert_int_equal(account.orders, 3);
  assert_null(leati_run_end(&device, true));
}

static void streams_of_other_devices_are_not_ordered(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_int_equal(begin(&other, 0), LEAT_OK);
  assert_true(note_on(&device, STREAM, false));
  assert_true(note_on(&other, ANOTHER, false));
  assert_int_equal(account.orders, 0);
  assert_true(note_on(&device, LENT, false));
  expect_order(1, STREAM, LENT);
  assert_null(leati_run_end(&other, true));
  assert_null(leati_run_end(&device, true));
}

static void an_inner_runs_end_keeps_the_order(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(STREAM, false));
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(ANOTHER, false));
  expect_order(1, STREAM, ANOTHER);
  /* What is not waited for is still to come before the outer Run's next work. */
  assert_null(leati_run_end(&device, false));
  expect_order(2, ANOTHER, STREAM);
  assert_true(note(STREAM, false));
  expect_order(3, ANOTHER, STREAM);
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(ANOTHER, false));
  expect_order(4, STREAM, ANOTHER);
  assert_null(leati_run_end(&device, true));
  assert_true(note(STREAM, false));
  assert_int_equal(account.orders, 4);
  assert_null(leati_run_end(&device, true));
}

/* A Run that is not waited for: an application knows the stream that it gave, and goes on with that one alone. */
static void an_end_without_a_wait_joins_the_streams(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_int_equal(begin(&other, 0), LEAT_OK);
  assert_true(note(STREAM, false));
  assert_true(note(LENT, true));
  assert_true(note(ANOTHER, false));
  assert_true(note_on(&other, THEIRS, false));
  expect_order(2, LENT, ANOTHER);
  assert_null(leati_run_end(&other, false));
  assert_int_equal(account.orders, 4);
  for (unsigned i = 2; i < 4; ++i) {
    assert_ptr_equal(account.before[i], ANOTHER);
    assert_ptr_equal(account.behind[i], i == 2 ? STREAM : LENT);
  }
  /* What writes to the host is waited for, and for nothing behind it. */
  assert_int_equal(account.synchronized, 1);
  assert_int_equal(account.orders_at_synchronize, 2);
  /* Without a join all is waited for, since the application frees what the Run uses. */
  account.record = LEAT_ERROR_OUT_OF_MEMORY;
  assert_ptr_equal(leati_run_end(&device, false), (void *)(uintptr_t)(0x1000 + LEAT_ERROR_OUT_OF_MEMORY));
  assert_int_equal(account.synchronized, 4);
}

static void more_streams_than_are_noted_are_waited_for(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  for (uintptr_t i = 1; i <= 20; ++i) {
    leat_stream *const stream = (leat_stream *)(0x1000 * i);
    assert_true(note(stream, false));
    assert_int_equal(account.orders, i - 1);
    assert_int_equal(account.synchronized, i <= 16 ? 0 : i - 16);
    if (i > 16) {
      assert_ptr_equal(account.last_synchronized, (leat_stream *)(0x1000 * (i - 16)));
    }
  }
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.synchronized, 20);
}

static void a_failure_to_order_fails_the_call(void **state) {
  (void)state;
  bool inside = false;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(STREAM, false));
  account.record = LEAT_ERROR_OUT_OF_MEMORY;
  assert_ptr_equal(leati_run_note(&device, ANOTHER, false, &inside),
                   (void *)(uintptr_t)(0x1000 + LEAT_ERROR_OUT_OF_MEMORY));
  assert_null(account.recorded);
  /* The end sees to both. */
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.synchronized, 2);
}

static void runs_come_after_what_was_published(void **state) {
  (void)state;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(note(STREAM, false));
  assert_int_equal(account.catches, 0);
  atomic_store(&device.published, 1);
  for (int i = 0; i < 2; ++i) {
    assert_true(note(STREAM, false));
    assert_int_equal(account.catches, 1);
    assert_ptr_equal(account.caught_up, STREAM);
  }
  assert_true(note(ANOTHER, false));
  assert_ptr_equal(account.caught_up, ANOTHER);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(begin(&device, 0), LEAT_OK);
  bool inside = false;
  assert_null(leati_run_order(&device, LENT, &inside));
  assert_ptr_equal(account.caught_up, LENT);
  assert_null(leati_run_end(&device, true));
}

static void bodies_last_as_long_as_their_run(void **state) {
  (void)state;
  leat_error error = {.struct_size = sizeof(error)};
  assert_false(leati_run_has_bodies());
  assert_int_equal(leati_run_begin(&device, 0, true, &error), LEAT_OK);
  assert_true(leati_run_has_bodies());
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_true(leati_run_has_bodies());
  assert_null(leati_run_end(&device, true));
  assert_true(leati_run_has_bodies());
  assert_null(leati_run_end(&device, true));
  assert_false(leati_run_has_bodies());
}

/* ---- Threads ------------------------------------------------------------------------------------------------------
 */

static void an_end_without_a_begin_does_nothing(void **state) {
  (void)state;
  assert_null(leati_run_end(&device, true));
  assert_int_equal(begin(&device, 0), LEAT_OK);
  assert_null(leati_run_end(&other, true));
  assert_int_equal(account.held, 1);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 0);
}

static void *run_once(void *unused) {
  (void)unused;
  const int32_t code = begin(&device, 0);
  if (code == LEAT_OK) {
    leati_run_end(&device, true);
  }
  return (void *)(uintptr_t)(unsigned)code;
}

static void another_thread_does_not_share(void **state) {
  (void)state;
  pthread_t thread;
  void *code;
  assert_int_equal(begin(&device, 0), LEAT_OK);
  account.acquire = LEAT_ERROR_EXHAUSTED;
  assert_int_equal(pthread_create(&thread, NULL, run_once, NULL), 0);
  assert_int_equal(pthread_join(thread, &code), 0);
  assert_int_equal((uintptr_t)code, LEAT_ERROR_EXHAUSTED);
  assert_null(leati_run_end(&device, true));
  assert_int_equal(account.held, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_run_holds_one_place, begin_anew),
      cmocka_unit_test_setup(runs_inside_share_the_place, begin_anew),
      cmocka_unit_test_setup(each_device_has_places_of_its_own, begin_anew),
      cmocka_unit_test_setup(a_run_that_is_refused_leaves_nothing, begin_anew),
      cmocka_unit_test_setup(other_failures_leave_nothing_either, begin_anew),
      cmocka_unit_test_setup(who_waits_is_outside_of_the_gate, begin_anew),
      cmocka_unit_test_setup(without_a_pool_all_are_admitted, begin_anew),
      cmocka_unit_test_setup(failed_work_gives_the_place_back, begin_anew),
      cmocka_unit_test_setup(what_writes_to_the_host_is_waited_for, begin_anew),
      cmocka_unit_test_setup(a_stream_comes_after_the_one_before, begin_anew),
      cmocka_unit_test_setup(streams_of_other_devices_are_not_ordered, begin_anew),
      cmocka_unit_test_setup(an_inner_runs_end_keeps_the_order, begin_anew),
      cmocka_unit_test_setup(an_end_without_a_wait_joins_the_streams, begin_anew),
      cmocka_unit_test_setup(more_streams_than_are_noted_are_waited_for, begin_anew),
      cmocka_unit_test_setup(a_failure_to_order_fails_the_call, begin_anew),
      cmocka_unit_test_setup(runs_come_after_what_was_published, begin_anew),
      cmocka_unit_test_setup(bodies_last_as_long_as_their_run, begin_anew),
      cmocka_unit_test_setup(an_end_without_a_begin_does_nothing, begin_anew),
      cmocka_unit_test_setup(another_thread_does_not_share, begin_anew),
  };
  return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
