/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that want the same constants at once, and constants that are brought to the device in pieces. */
#include "unit_fixture.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/sync.h"
#include "graph/shared_constants.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

/* Of the constant that is taken, four columns of eight. */
#define ROWS 4
#define COLUMNS 8

/* One that takes a constant's elements in another order. */
typedef struct taker {
  pthread_t thread;
  leati_shared_constant_request request;
  int32_t status;
  atomic_bool done;
} taker;

static leati_shared_constant *source;
static taker first, second;
static atomic_bool passes_on; /* whether who passes the role on next waits for what comes of that */
static atomic_uint dispatched;

void __real_leati_role_pass_on(leati_role *role);
void __wrap_leati_role_pass_on(leati_role *role);

/* The loader's role: the first that the table has. */
static leati_role *loader(void) {
  return (leati_role *)(void *)h.device->constants;
}

/* The next loader is as quick, and this thread as slow, as they can be. */
void __wrap_leati_role_pass_on(leati_role *role) {
  const bool waits = role == loader() && atomic_exchange(&passes_on, false);
  __real_leati_role_pass_on(role);
  while (waits && !atomic_load(&second.done)) {
    leati_sleep_ns(100000);
  }
}

static void count_dispatch(const nulldriver_dispatch *dispatch, void *user) {
  (void)dispatch;
  (void)user;
  atomic_fetch_add(&dispatched, 1);
}

static void *take(void *argument) {
  taker *const self = argument;
  self->status = leati_shared_constants_take(h.device, &self->request, 1, NULL);
  atomic_store(&self->done, true);
  return NULL;
}

static void prepare(taker *self) {
  atomic_store(&self->done, false);
  self->request = (leati_shared_constant_request){.source = source, .size = ROWS * COLUMNS * sizeof(float)};
  self->request.order = (leati_view){.present = true,
                                     .ndim = 2,
                                     .type = LEAT_TYPE_FLOAT32,
                                     .item_size = sizeof(float),
                                     .dtype = {kDLFloat, 32, 1},
                                     .count = ROWS * COLUMNS,
                                     .shape = {COLUMNS, ROWS},
                                     .strides = {1, COLUMNS}};
}

/* The first thread's copy is refused while the second one waits for its turn. Whether the role went from the one to the
 * other: the wait ends now and then, and who comes by then finds it free. */
static bool take_while_one_fails(void) {
  prepare(&first);
  prepare(&second);
  atomic_store(&passes_on, true);
  atomic_store(&dispatched, 0);
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_true(nulldriver_hold("vkQueueSubmit"));
  start_thread(&first.thread, take, &first);
  nulldriver_wait_held();
  start_thread(&second.thread, take, &second);
  while ((atomic_load(&loader()->holder) & FUTEX_WAITERS) == 0) {
    leati_sleep_ns(100000);
  }
  nulldriver_release();
  join_thread(first.thread);
  join_thread(second.thread);
  return !atomic_load(&passes_on);
}

/* What was not copied is found by nobody, however soon the next one looks. */
static void a_copy_that_failed_is_not_shared(void **state) {
  (void)state;
  float values[ROWS * COLUMNS] = {1, 2, 3};
  leati_shared_constant_request plain = {.bytes = values, .size = sizeof(values)};
  open_device();
  nulldriver_set_kernel(count_dispatch, NULL);
  assert_ok(leati_shared_constants_take(h.device, &plain, 1, &err));
  source = plain.out;
  bool passed = false;
  while (!passed) {
    passed = take_while_one_fails();
    assert_int_equal(first.status, LEAT_ERROR_OUT_OF_MEMORY);
    assert_null(first.request.out);
    assert_int_equal(second.status, LEAT_OK);
    assert_int_equal(dispatched, 1);
    leati_shared_constant_release(h.device, second.request.out);
  }
  leati_shared_constant_release(h.device, source);
  close_device();
}

/* Bytes of a constant of three pieces. */
#define LARGE ((size_t)33 << 20)

/* All pieces of a large constant are on the device, and it is shared only with one that is the same in each. */
static void a_large_constant_is_brought_whole(void **state) {
  (void)state;
  int64_t floats = LARGE / sizeof(float);
  open_device();
  float *const values = malloc(LARGE), *const found = calloc(1, LARGE);
  assert_non_null(values);
  assert_non_null(found);
  for (int64_t i = 0; i < floats; ++i) {
    values[i] = (float)i;
  }
  leati_shared_constant_request requests[3] = {{.bytes = values, .size = LARGE}, {.bytes = values, .size = LARGE}};
  assert_ok(leati_shared_constants_take(h.device, &requests[0], 1, &err));
  assert_ok(leati_shared_constants_take(h.device, &requests[1], 1, &err));
  assert_ptr_equal(requests[1].out, requests[0].out);
  leat_stream *const stream = make_stream();
  const DLTensor from = device_tensor(requests[0].out->address, &floats), to = host_tensor(found, &floats);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_memory_equal(found, values, LARGE);
  values[floats - 1] = -1;
  requests[2] = (leati_shared_constant_request){.bytes = values, .size = LARGE};
  assert_ok(leati_shared_constants_take(h.device, &requests[2], 1, &err));
  assert_ptr_not_equal(requests[2].out, requests[0].out);
  for (int i = 0; i < 3; ++i) {
    leati_shared_constant_release(h.device, requests[i].out);
  }
  free(found);
  free(values);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_copy_that_failed_is_not_shared, host_before, host_after),
      cmocka_unit_test_setup_teardown(a_large_constant_is_brought_whole, host_before, host_after)};
  return cmocka_run_group_tests_name("shared_constants", tests, NULL, NULL);
}
