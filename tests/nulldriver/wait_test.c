/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wait passes its time on a device that is not of software: what LEAT_WAIT_SPIN_US asks for, and what is learnt
 * when it does not. The device finishes when the test wants it to, inside of the looks and waits themselves. */
#include "streams/wait.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/config.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"
#include "unit_fixture.h"

#define MS UINT64_C(1000000)
/* Looks that come before the first reading of the clock. */
#define LOOKS_AT_ONCE 8

/* Opened with a value of LEAT_WAIT_SPIN_US. */
static host h;
static leat_stream *stream;
static leati_vk_device driver;

/* What a wait did, and when its work is to finish. */
static struct {
  uint64_t begin, ends_after; /* ns */
  unsigned looks, blocks, naps;
  unsigned looks_before_rest; /* looks before the first block or nap */
} seen;

static void finish_in_time(void) {
  if (leati_now_ns() - seen.begin >= seen.ends_after) {
    (void)nulldriver_step(UINT32_MAX);
  }
}

static VkResult look(VkDevice device, VkSemaphore semaphore, uint64_t *out) {
  finish_in_time();
  ++seen.looks;
  return driver.GetSemaphoreCounterValue(device, semaphore, out);
}

static void note_rest(unsigned *count) {
  if (seen.blocks + seen.naps == 0) {
    seen.looks_before_rest = seen.looks;
  }
  ++*count;
}

/* How far the clock is ahead, and how much more it is after each block; what was logged last, and how often. In place
 * of leati_now_ns() and leati_log(), by the linker. */
static uint64_t ahead_ns, jump_ns;
static char logged[400];
static unsigned log_count;

uint64_t __real_leati_now_ns(void);
uint64_t __wrap_leati_now_ns(void);
uint64_t __wrap_leati_now_ns(void) {
  return __real_leati_now_ns() + ahead_ns;
}

void __wrap_leati_log(leati_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void __wrap_leati_log(leati_log_level level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(logged, sizeof(logged), format, arguments);
  va_end(arguments);
  log_count += level == LEATI_LOG_WARN;
}

/* In place of leati_sleep_ns(), by the linker. */
void __real_leati_sleep_ns(uint64_t ns);
void __wrap_leati_sleep_ns(uint64_t ns);
void __wrap_leati_sleep_ns(uint64_t ns) {
  note_rest(&seen.naps);
  __real_leati_sleep_ns(ns);
}

/* Sleeps in the driver until the end or the time-out. */
static VkResult block(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  note_rest(&seen.blocks);
  const uint64_t past = leati_now_ns() - seen.begin;
  const uint64_t left = past < seen.ends_after ? seen.ends_after - past : 0;
  __real_leati_sleep_ns(left < timeout ? left : timeout);
  ahead_ns += jump_ns;
  finish_in_time();
  return driver.WaitSemaphores(device, info, 0);
}

/* A device with a stream, in whose waits the functions above are called. `spin_us` NULL: not set. */
static void open_device(const char *spin_us) {
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  assert_ok(leat_backend_query(&info, &h.api, &err));
  assert_ok(h.api->configure("LEAT_WAIT_SPIN_US", spin_us, &err));
  assert_ok(host_open(&h, &err));
  assert_ok(h.api->stream->create(h.device, 0, &stream, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  driver = h.device->vk;
  h.device->vk.GetSemaphoreCounterValue = look;
  h.device->vk.WaitSemaphores = block;
}

static void close_device(void) {
  h.device->vk = driver;
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(host_close(&h, &err));
  assert_ok(h.api->configure("LEAT_WAIT_SPIN_US", NULL, &err));
}

/* Waits for a kernel that takes so long, and returns how long that took. */
static uint64_t wait_through(uint64_t takes, int64_t timeout, int32_t expected) {
  int64_t count = 64;
  uint64_t address;
  leat_event *event;
  assert_ok(h.api->event->create(h.device, 0, &event, &err));
  assert_ok(h.api->memory->alloc(h.device, (uint64_t)count * sizeof(float), stream, &address, &err));
  const DLTensor tensor = device_tensor(address, &count), *const tensors[1] = {&tensor};
  assert_ok(h.api->op->invoke(h.relu, stream, 1, tensors, 1, tensors, &err));
  /* Nothing ends before the wait has begun. */
  seen.ends_after = UINT64_MAX;
  assert_ok(h.api->event->record(event, stream, &err));
  memset(&seen, 0, sizeof(seen));
  seen.begin = leati_now_ns();
  seen.ends_after = takes;
  assert_int_equal(h.api->event->wait(event, timeout, NULL), expected);
  const uint64_t took = leati_now_ns() - seen.begin;
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  return took;
}

/* Lets the stream believe that its waits usually take so long. */
static void believe(uint64_t usual_ns) {
  atomic_store_explicit(&stream->timeline->usual_wait_ns, usual_ns, memory_order_relaxed);
}

static uint64_t believed(void) {
  return atomic_load_explicit(&stream->timeline->usual_wait_ns, memory_order_relaxed);
}

static uint64_t cpu_ns(void) {
  struct timespec time;
  assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Batches to have in flight, as learnt. */
static uint32_t in_flight(void) {
  return leati_batching_in_flight(&leati_lane_of(h.device->semaphores[0])->batching);
}

static void a_spin_of_zero_blocks_at_once(void **state) {
  (void)state;
  open_device("0");
  /* Left to itself the thread would spin for milliseconds. */
  believe(MS * 9 / 10);
  (void)wait_through(20 * MS, -1, LEAT_OK);
  assert_true(seen.blocks > 0);
  assert_int_equal(seen.naps, 0);
  assert_in_range(seen.looks_before_rest, 0, 4 * LOOKS_AT_ONCE);
  /* Who sleeps does not know what the work took. */
  assert_int_equal(in_flight(), 2);
  close_device();
}

static void a_long_spin_never_rests(void **state) {
  (void)state;
  open_device("1000000");
  /* Left to itself the thread would sleep soon. */
  believe(20 * MS);
  assert_true(wait_through(UINT64_MAX, 200 * MS, LEAT_ERROR_TIMEOUT) >= 200 * MS);
  assert_int_equal(seen.blocks, 0);
  assert_int_equal(seen.naps, 0);
  assert_true(seen.looks > 100 * LOOKS_AT_ONCE);
  nulldriver_step(UINT32_MAX);
  close_device();
}

static uint32_t spinning(void) {
  return atomic_load_explicit(&h.device->spinning, memory_order_relaxed);
}

static uint32_t most_spinning;

static void *count_spinners(void *over) {
  while (!atomic_load_explicit((atomic_bool *)over, memory_order_relaxed)) {
    most_spinning = spinning() > most_spinning ? spinning() : most_spinning;
  }
  return NULL;
}

static void who_spins_for_long_counts_until_it_ends(void **state) {
  (void)state;
  static atomic_bool over;
  pthread_t thread;
  most_spinning = 0;
  open_device("1000000");
  assert_int_equal(pthread_create(&thread, NULL, count_spinners, &over), 0);
  (void)wait_through(200 * MS, -1, LEAT_OK);
  atomic_store_explicit(&over, true, memory_order_relaxed);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(most_spinning, 1);
  assert_int_equal(spinning(), 0);
  assert_int_equal(in_flight(), 1);
  /* Also if it ends before it has counted. */
  (void)wait_through(0, -1, LEAT_OK);
  assert_int_equal(spinning(), 0);
  close_device();
}

static void a_long_wait_rests_whatever_is_known(void **state) {
  (void)state;
  static const uint64_t beliefs[] = {0, MS / 2, 300 * MS};
  open_device(NULL);
  for (size_t i = 0; i < sizeof(beliefs) / sizeof(beliefs[0]); ++i) {
    believe(beliefs[i]);
    const uint64_t before = cpu_ns();
    assert_true(wait_through(300 * MS, -1, LEAT_OK) >= 300 * MS);
    assert_true(seen.blocks + seen.naps > 0);
    assert_true(cpu_ns() - before < 200 * MS);
  }
  close_device();
}

/* Milliseconds are spun through when waits usually take about one. Another process may have the core meanwhile, so one
 * of some waits is enough. */
static void a_wait_of_the_usual_length_is_spun_through(void **state) {
  (void)state;
  bool spun = false;
  open_device(NULL);
  for (int i = 0; i < 50 && !spun; ++i) {
    believe(MS * 9 / 10);
    (void)wait_through(MS / 2, -1, LEAT_OK);
    spun = seen.blocks + seen.naps == 0 && seen.looks > 4 * LOOKS_AT_ONCE;
  }
  assert_true(spun);
  close_device();
}

static void the_usual_length_follows_what_waits_took(void **state) {
  (void)state;
  uint64_t longest = 0;
  open_device(NULL);
  for (int i = 0; i < 16; ++i) {
    const uint64_t took = wait_through(20 * MS, -1, LEAT_OK);
    longest = took > longest ? took : longest;
  }
  assert_in_range(believed(), 10 * MS, longest);
  assert_true(seen.naps > 0);
  /* The first of these naps through half of what is believed. */
  longest = 0;
  for (int i = 0; i < 40; ++i) {
    const uint64_t took = wait_through(MS / 20, -1, LEAT_OK);
    longest = took > longest ? took : longest;
  }
  /* A mean of what they took on this machine, and next to nothing of those before: 20 ms times 0.75 to the power of 40.
   */
  assert_in_range(believed(), 0, longest + MS / 100);
  close_device();
}

static void a_wait_that_takes_very_long_is_told_once(void **state) {
  (void)state;
  open_device("0");
  jump_ns = 2000 * MS;
  (void)wait_through(9000 * MS, -1, LEAT_OK);
  assert_int_equal(log_count, 0);
  (void)wait_through(30000 * MS, -1, LEAT_OK);
  assert_int_equal(log_count, 1);
  jump_ns = 0;
  assert_non_null(strstr(logged, "a thread has waited 1"));
  assert_non_null(strstr(logged,
                         " s for the device; the device has made no progress. Queue 0 of device 0 was given 2 "
                         "submissions and has run 1; the thread waits for number 2. If no kernel"));
  close_device();
}

/* Sleeps in the driver while one submission of other streams ends after the other. */
static VkResult block_slowly(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  (void)nulldriver_step(1);
  return block(device, info, timeout);
}

static void a_wait_for_a_device_that_is_slow_says_so(void **state) {
  (void)state;
  enum { SUBMISSIONS = 4 };
  open_device("0");
  int64_t count = 64;
  uint64_t address;
  assert_ok(h.api->memory->alloc(h.device, (uint64_t)count * sizeof(float), stream, &address, &err));
  const DLTensor tensor = device_tensor(address, &count), *const tensors[1] = {&tensor};
  seen.ends_after = UINT64_MAX;
  for (int i = 0; i < SUBMISSIONS; ++i) {
    assert_ok(h.api->op->invoke(h.relu, stream, 1, tensors, 1, tensors, &err));
    assert_ok(h.api->stream->flush(stream, &err));
  }
  log_count = 0;
  jump_ns = 5500 * MS;
  h.device->vk.WaitSemaphores = block_slowly;
  (void)wait_through(60000 * MS, -1, LEAT_OK);
  jump_ns = 0;
  assert_int_equal(log_count, 1);
  assert_non_null(strstr(logged,
                         " s for the device; the device still makes progress (3 submissions in that time). "
                         "Queue 0 of device 0 was given 5 submissions and has run 3; the thread waits for "
                         "number 5"));
  assert_null(strstr(logged, "stopped"));
  assert_ok(h.api->memory->free(h.device, address, &err));
  close_device();
}

int main(void) {
  (void)unsetenv("LEAT_WAIT_SPIN_US");
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_spin_of_zero_blocks_at_once),
      CASE(a_long_spin_never_rests),
      CASE(who_spins_for_long_counts_until_it_ends),
      CASE(a_long_wait_rests_whatever_is_known),
      CASE(a_wait_of_the_usual_length_is_spun_through),
      CASE(the_usual_length_follows_what_waits_took),
      CASE(a_wait_that_takes_very_long_is_told_once),
      CASE(a_wait_for_a_device_that_is_slow_says_so),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.wait", tests, NULL, NULL);
}
