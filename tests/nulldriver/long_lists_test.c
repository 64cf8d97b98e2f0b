/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists that take longer, by estimate, than one submission should: they go in parts, and what arrives is as if they
 * went whole. A part that the queue refuses fails the stream, and what its list holds is kept while the others run. */
#include "unit_fixture.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/constants.h"
#include "policy/traits.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "submit/lane.h"

/* Relus of a chain, each from a block to the next; fewer than are submitted before anybody asks. EACH of them fit into
 * a submission, with an upload before or a download behind. */
enum { STEPS = 14, EACH = 3, PARTS = (STEPS + EACH - 1) / EACH };

/* What the estimates are, in microseconds; 0: what they are anyhow. In place of those of policy/submitting.h, by the
 * linker. */
static uint32_t dispatch_us, copy_us;

uint32_t __real_leati_dispatch_us(const leati_traits *traits, uint64_t bytes, uint64_t multiplications);
uint32_t __wrap_leati_dispatch_us(const leati_traits *traits, uint64_t bytes, uint64_t multiplications);
uint32_t __wrap_leati_dispatch_us(const leati_traits *traits, uint64_t bytes, uint64_t multiplications) {
  return dispatch_us != 0 ? dispatch_us : __real_leati_dispatch_us(traits, bytes, multiplications);
}

uint32_t __real_leati_copy_us(const leati_traits *traits, uint64_t bytes, bool bus);
uint32_t __wrap_leati_copy_us(const leati_traits *traits, uint64_t bytes, bool bus);
uint32_t __wrap_leati_copy_us(const leati_traits *traits, uint64_t bytes, bool bus) {
  return copy_us != 0 ? copy_us : __real_leati_copy_us(traits, bytes, bus);
}

/* Before a test: dispatches of which EACH fit into a submission with some time left. */
static int before(void **state) {
  dispatch_us = (uint32_t)(LEATI_SUBMISSION_US / EACH - 1000);
  copy_us = 0;
  return host_before(state);
}

static uint32_t dispatched; /* that the device has run */

static void count_dispatch(const nulldriver_dispatch *dispatch, void *user) {
  ++dispatched;
  host_compute(dispatch, user);
}

typedef struct chain {
  leat_stream *stream;
  uint64_t blocks[STEPS + 1];
  float in[COUNT], out[COUNT];
} chain;

static void open_chain(chain *c) {
  c->stream = make_stream();
  for (int i = 0; i <= STEPS; ++i) {
    assert_ok(h.api->memory->alloc(h.device, sizeof(c->in), c->stream, &c->blocks[i], &err));
  }
}

static void close_chain(const chain *c) {
  for (int i = 0; i <= STEPS; ++i) {
    assert_ok(h.api->memory->free(h.device, c->blocks[i], &err));
  }
  assert_ok(h.api->stream->destroy(c->stream, &err));
}

static int32_t relu(const chain *c, int step) {
  const DLTensor from = device_tensor(c->blocks[step], &count), to = device_tensor(c->blocks[step + 1], &count);
  const DLTensor *const in[1] = {&from}, *const out[1] = {&to};
  return h.api->op->invoke(h.relu, c->stream, 1, in, 1, out, NULL);
}

/* Puts an upload, so many steps and a download into the stream. What a step leaves in its block is what the step behind
 * finds there when it comes too early, with another seed. */
static void put_chain(chain *c, int steps, uint32_t seed) {
  const DLTensor in = host_tensor(c->in, &count), out = host_tensor(c->out, &count);
  const DLTensor first = device_tensor(c->blocks[0], &count), last = device_tensor(c->blocks[steps], &count);
  host_fill(c->in, COUNT, (host_content){.seed = seed});
  memset(c->out, 0xff, sizeof(c->out));
  assert_ok(h.api->memory->copy(c->stream, &in, &first, &err));
  for (int i = 0; i < steps; ++i) {
    assert_int_equal(relu(c, i), LEAT_OK);
  }
  assert_ok(h.api->memory->copy(c->stream, &last, &out, &err));
}

static bool has_arrived(const chain *c, uint32_t seed) {
  return host_compare(c->out, COUNT, (host_content){.seed = seed, .rectified = true}) == -1;
}

static uint64_t submissions_since(uint64_t before) {
  return nulldriver_calls("vkQueueSubmit") - before;
}

/* ---- Parts ---------------------------------------------------------------------------------------------------------
 */

static void a_long_list_goes_in_parts_in_every_mode(void **state) {
  (void)state;
  static chain c;
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_LATE, NULLDRIVER_SHUFFLED,
                                          NULLDRIVER_THREADED};
  open_device();
  open_chain(&c);
  for (uint32_t i = 0; i < 4 * sizeof(modes) / sizeof(modes[0]); ++i) {
    nulldriver_set_mode(modes[i / 4], 5);
    put_chain(&c, STEPS, i);
    const uint64_t before_it = nulldriver_calls("vkQueueSubmit");
    assert_ok(h.api->stream->synchronize(c.stream, &err));
    assert_int_equal(submissions_since(before_it), PARTS);
    assert_true(has_arrived(&c, i));
  }
  close_chain(&c);
  close_device();
}

/* What the device is given at once is no more than the bound. */
static void no_submission_takes_longer_than_the_bound(void **state) {
  (void)state;
  static chain c;
  open_device();
  open_chain(&c);
  nulldriver_set_kernel(count_dispatch, NULL);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  put_chain(&c, STEPS, 1);
  assert_ok(h.api->stream->flush(c.stream, &err));
  assert_int_equal(nulldriver_pending(), PARTS);
  dispatched = 0;
  for (uint32_t left = STEPS; left != 0;) {
    const uint32_t part = left < EACH ? left : EACH, had = dispatched;
    assert_int_equal(h.api->stream->query(c.stream, NULL), LEAT_ERROR_NOT_READY);
    assert_int_equal(nulldriver_step(1), 1);
    assert_int_equal(dispatched - had, part);
    left -= part;
  }
  assert_ok(h.api->stream->query(c.stream, &err));
  assert_true(has_arrived(&c, 1));
  close_chain(&c);
  close_device();
}

static void a_short_list_goes_whole(void **state) {
  (void)state;
  static chain c;
  dispatch_us = 0;
  open_device();
  open_chain(&c);
  for (uint32_t i = 0; i < 3; ++i) {
    put_chain(&c, STEPS, i);
    const uint64_t before_it = nulldriver_calls("vkQueueSubmit");
    assert_ok(h.api->stream->synchronize(c.stream, &err));
    assert_int_equal(submissions_since(before_it), 1);
    assert_true(has_arrived(&c, i));
  }
  close_chain(&c);
  close_device();
}

static int32_t record_and_refuse(leati_recorder *recorder, const void *what, leat_error *err) {
  const chain *const c = what;
  const DLTensor from = device_tensor(c->blocks[0], &count), to = device_tensor(c->blocks[1], &count);
  leati_view source, target;
  LEATI_TRY(leati_view_import(h.device, &from, "source", &source, err));
  LEATI_TRY(leati_view_import(h.device, &to, "target", &target, err));
  const int32_t status = leati_record_copy(recorder, &source, &target, err);
  return status == LEAT_OK ? LEAT_ERROR_NOT_SUPPORTED : status;
}

/* The list without commands that comes after an operation was taken back is no long one. */
static void what_was_taken_back_does_not_count(void **state) {
  (void)state;
  static chain c;
  copy_us = UINT32_MAX;
  open_device();
  open_chain(&c);
  const uint64_t before_it = nulldriver_calls("vkQueueSubmit");
  assert_int_equal(leati_record(c.stream, record_and_refuse, &c, NULL), LEAT_ERROR_NOT_SUPPORTED);
  assert_ok(h.api->stream->synchronize(c.stream, &err));
  assert_int_equal(submissions_since(before_it), 1);
  close_chain(&c);
  close_device();
}

/* There is nothing to cut a dispatch by: it goes alone. */
static void a_dispatch_that_takes_longer_goes_alone(void **state) {
  (void)state;
  static chain c;
  dispatch_us = UINT32_MAX;
  open_device();
  open_chain(&c);
  put_chain(&c, STEPS, 1);
  const uint64_t before_it = nulldriver_calls("vkQueueSubmit");
  assert_ok(h.api->stream->synchronize(c.stream, &err));
  /* Those and the download; the upload into a block at rest is none of the device's. */
  assert_int_equal(submissions_since(before_it), STEPS + 1);
  assert_true(has_arrived(&c, 1));
  close_chain(&c);
  close_device();
}

/* ---- Groups --------------------------------------------------------------------------------------------------------
 */

/* Lists of several streams that gather behind a full queue go in as many submissions as their work takes together. */
static void lists_that_go_together_count_together(void **state) {
  (void)state;
  enum { STREAMS = 8 };
  static chain chains[STREAMS];
  static blocks busy;
  open_configured("LEAT_LANES", "1");
  leat_stream *const full = make_stream();
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
  take_blocks(&busy, full);
  for (int i = 0; i < STREAMS; ++i) {
    open_chain(&chains[i]);
  }
  for (int steps = 1; steps <= EACH + 1; ++steps) {
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    for (int i = 0; i < LEATI_IN_FLIGHT_MAX; ++i) {
      assert_int_equal(rectify(&busy, full), LEAT_OK);
      assert_ok(h.api->stream->flush(full, &err));
    }
    leati_lane_attend(lane);
    const uint64_t before_it = nulldriver_calls("vkQueueSubmit");
    for (int i = 0; i < STREAMS; ++i) {
      put_chain(&chains[i], steps, (uint32_t)(100 * steps + i));
      assert_ok(h.api->stream->flush(chains[i].stream, &err));
    }
    assert_int_equal(submissions_since(before_it), 0);
    nulldriver_set_mode(NULLDRIVER_SHUFFLED, 3);
    leati_lane_leave(lane, true);
    assert_ok(h.api->device->synchronize(h.device, &err));
    const uint64_t lists = EACH / steps; /* of one submission; 0: two submissions a list */
    assert_int_equal(submissions_since(before_it), lists == 0 ? 2 * STREAMS : (STREAMS + lists - 1) / lists);
    for (int i = 0; i < STREAMS; ++i) {
      assert_true(has_arrived(&chains[i], (uint32_t)(100 * steps + i)));
    }
  }
  for (int i = 0; i < STREAMS; ++i) {
    close_chain(&chains[i]);
  }
  give_blocks(&busy);
  assert_ok(h.api->stream->destroy(full, &err));
  close_configured("LEAT_LANES");
}

/* Only the first part waits, and only with the last one the list is done. */
static void streams_that_events_order_keep_their_order(void **state) {
  (void)state;
  static chain a, b;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.queue_count = 4;
  nulldriver_set_shape(&shape);
  open_configured("LEAT_LANES", "4");
  open_chain(&a);
  open_chain(&b);
  leat_event *const event = make_event();
  const DLTensor end = device_tensor(a.blocks[STEPS], &count), begin = device_tensor(b.blocks[0], &count),
                 last = device_tensor(b.blocks[STEPS], &count), out = host_tensor(b.out, &count);
  for (uint32_t seed = 0; seed < 12; ++seed) {
    nulldriver_set_mode(seed % 2 == 0 ? NULLDRIVER_SHUFFLED : NULLDRIVER_THREADED, seed + 1);
    put_chain(&a, STEPS, seed);
    assert_ok(h.api->event->record(event, a.stream, &err));
    assert_ok(h.api->stream->wait_event(b.stream, event, &err));
    assert_ok(h.api->memory->copy(b.stream, &end, &begin, &err));
    for (int i = 0; i < STEPS; ++i) {
      assert_int_equal(relu(&b, i), LEAT_OK);
    }
    memset(b.out, 0xff, sizeof(b.out));
    assert_ok(h.api->memory->copy(b.stream, &last, &out, &err));
    assert_ok(h.api->stream->synchronize(b.stream, &err));
    assert_true(has_arrived(&b, seed));
    assert_ok(h.api->event->wait(event, -1, &err));
    assert_true(has_arrived(&a, seed));
  }
  assert_ok(h.api->event->destroy(event, &err));
  close_chain(&a);
  close_chain(&b);
  close_configured("LEAT_LANES");
}

/* ---- Failures ------------------------------------------------------------------------------------------------------
 */

/* Each part is refused once, by the queue or while it is written; but the last one, which a command buffer holds, is
 * not written again. What was taken before it runs, its list fails, and the stream can be used anew. */
static void a_part_that_is_refused_fails_the_stream(void **state) {
  static const char *const functions[] = {"vkQueueSubmit", "vkBeginCommandBuffer"};
  static chain c;
  for (uint32_t n = 0; n < 2 * PARTS - 1; ++n) {
    const char *const function = functions[n % 2];
    const uint32_t taken = n / 2;
    assert_int_equal(before(state), 0);
    open_device();
    open_chain(&c);
    leat_event *const event = make_event();
    put_chain(&c, STEPS, 1);
    assert_ok(h.api->stream->synchronize(c.stream, &err));
    nulldriver_set_kernel(count_dispatch, NULL);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    dispatched = 0;
    put_chain(&c, STEPS, 2);
    assert_true(nulldriver_fail(function, taken + 1, VK_ERROR_OUT_OF_HOST_MEMORY));
    assert_int_equal(h.api->event->record(event, c.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(nulldriver_pending(), taken);
    /* Also who is told by looking, with what was taken still on its way. */
    assert_int_equal(relu(&c, 0), LEAT_ERROR_OUT_OF_MEMORY);
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    assert_int_equal(h.api->event->wait(event, -1, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(h.api->stream->synchronize(c.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_ok(h.api->stream->clear_error(c.stream, &err));
    assert_int_equal(nulldriver_pending(), 0);
    assert_int_equal(dispatched, taken * EACH);
    /* Nothing was delivered. */
    assert_true(c.out[0] != c.out[0]);
    put_chain(&c, STEPS, 3);
    assert_ok(h.api->stream->synchronize(c.stream, &err));
    assert_true(has_arrived(&c, 3));
    assert_ok(h.api->event->destroy(event, &err));
    close_chain(&c);
    close_device();
    assert_int_equal(host_after(state), 0);
  }
  assert_int_equal(before(state), 0);
}

/* While a part runs, neither its argument records nor its blocks serve others. */
static void what_a_part_uses_is_kept_until_it_has_run(void **state) {
  (void)state;
  static chain c, other;
  uint64_t again[STEPS + 1];
  open_device();
  open_chain(&c);
  open_chain(&other);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  put_chain(&c, STEPS, 1);
  assert_true(nulldriver_fail("vkQueueSubmit", PARTS, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(h.api->stream->flush(c.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  for (int i = 0; i <= STEPS; ++i) {
    assert_ok(h.api->memory->free(h.device, c.blocks[i], &err));
  }
  for (int i = 0; i <= STEPS; ++i) {
    assert_ok(h.api->memory->alloc(h.device, sizeof(c.in), other.stream, &again[i], &err));
    for (int j = 0; j <= STEPS; ++j) {
      assert_true(again[i] != c.blocks[j]);
    }
  }
  /* Another stream's lists write argument records meanwhile. The driver reads those of the parts when it runs them. */
  put_chain(&other, STEPS, 2);
  assert_ok(h.api->stream->flush(other.stream, &err));
  nulldriver_set_mode(NULLDRIVER_SHUFFLED, 7);
  assert_ok(h.api->stream->synchronize(other.stream, &err));
  assert_true(has_arrived(&other, 2));
  assert_int_equal(h.api->stream->synchronize(c.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  for (int i = 0; i <= STEPS; ++i) {
    assert_ok(h.api->memory->free(h.device, again[i], &err));
  }
  assert_ok(h.api->stream->destroy(c.stream, &err));
  close_chain(&other);
  close_device();
}

static void a_device_that_is_lost_between_parts_ends_all_waits(void **state) {
  static chain c, other;
  for (uint64_t n = 1; n <= PARTS; ++n) {
    assert_int_equal(before(state), 0);
    open_device();
    open_chain(&c);
    open_chain(&other);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    put_chain(&c, STEPS, 1);
    put_chain(&other, STEPS, 1);
    assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_DEVICE_LOST));
    assert_int_equal(h.api->stream->synchronize(c.stream, NULL), LEAT_ERROR_DEVICE_LOST);
    assert_int_equal(h.api->stream->synchronize(other.stream, NULL), LEAT_ERROR_DEVICE_LOST);
    close_chain(&c);
    close_chain(&other);
    close_device();
    assert_int_equal(host_after(state), 0);
  }
  assert_int_equal(before(state), 0);
}

/* ---- Profiles ------------------------------------------------------------------------------------------------------
 */

/* Two copies as one call, from block to block. */
static int32_t record_copies(leati_recorder *recorder, const void *what, leat_error *err) {
  const chain *const c = what;
  for (int i = 0; i < STEPS; ++i) {
    const DLTensor from = device_tensor(c->blocks[i], &count), to = device_tensor(c->blocks[i + 1], &count);
    leati_view source, target;
    LEATI_TRY(leati_view_import(h.device, &from, "source", &source, err));
    LEATI_TRY(leati_view_import(h.device, &to, "target", &target, err));
    LEATI_TRY(leati_record_copy(recorder, &source, &target, err));
  }
  return LEAT_OK;
}

/* A call whose steps go in several parts has one record, from the first of them to the last. */
static void a_profile_tells_of_all_parts(void **state) {
  (void)state;
  enum { CAPACITY = 128 };
  static chain c;
  static leat_profile_record records[CAPACITY];
  copy_us = dispatch_us;
  open_device();
  open_chain(&c);
  for (int round = 0; round < 2; ++round) {
    assert_ok(h.api->profiler->start(h.device, CAPACITY, 0, &err));
    assert_ok(leati_record(c.stream, record_copies, &c, &err));
    assert_ok(h.api->stream->synchronize(c.stream, &err));
    assert_ok(h.api->profiler->stop(h.device, &err));
    uint32_t found = CAPACITY, steps = 0, submits = 0, launches = 0;
    for (uint32_t i = 0; i < CAPACITY; ++i) {
      records[i].struct_size = sizeof(records[i]);
    }
    assert_ok(h.api->profiler->read(h.device, &found, records, &err));
    uint64_t begin = 0, end = 0, busy = 0;
    for (uint32_t i = 0; i < found; ++i) {
      const leat_profile_record *const it = &records[i];
      submits += it->kind == LEAT_PROFILE_SUBMIT;
      if (it->kind == LEAT_PROFILE_COPY) {
        assert_int_equal(it->step, steps);
        assert_true(it->begin_ns >= end && it->end_ns > it->begin_ns);
        begin = steps++ == 0 ? it->begin_ns : begin;
        end = it->end_ns;
        busy += it->busy_ns;
      } else if (it->kind == LEAT_PROFILE_LAUNCH) {
        ++launches;
        assert_int_equal(it->begin_ns, begin);
        assert_int_equal(it->end_ns, end);
        assert_int_equal(it->busy_ns, busy);
      }
    }
    assert_int_equal(steps, STEPS);
    assert_int_equal(submits, PARTS);
    assert_int_equal(launches, 1);
  }
  close_chain(&c);
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, before, host_after)
      CASE(a_long_list_goes_in_parts_in_every_mode),
      CASE(no_submission_takes_longer_than_the_bound),
      CASE(a_short_list_goes_whole),
      CASE(what_was_taken_back_does_not_count),
      CASE(a_dispatch_that_takes_longer_goes_alone),
      CASE(lists_that_go_together_count_together),
      CASE(streams_that_events_order_keep_their_order),
      CASE(a_part_that_is_refused_fails_the_stream),
      CASE(what_a_part_uses_is_kept_until_it_has_run),
      CASE(a_device_that_is_lost_between_parts_ends_all_waits),
      CASE(a_profile_tells_of_all_parts),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.long_lists", tests, NULL, NULL);
}
