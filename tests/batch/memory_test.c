/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The batch queue when memory or threads run out: each allocation, and each start of a thread, fails once. Whatever
 * fails says so, and everything goes on and is freed (which the address sanitizer checks). The queue is built into this
 * program, with the functions below in the place of the C library's.
 */
#include <errno.h>
#include <leat/batch.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>

#include "memory_test.h"

/* Counts down to the one that fails. Relaxed: any of several that happen at once may be the one. */
static atomic_int left;

static int is_due(void) {
  return atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed) == 1;
}

void *leati_test_malloc(size_t bytes) {
  return is_due() ? NULL : malloc(bytes);
}

void *leati_test_calloc(size_t count, size_t bytes) {
  return is_due() ? NULL : calloc(count, bytes);
}

void *leati_test_aligned_alloc(size_t alignment, size_t bytes) {
  return is_due() ? NULL : aligned_alloc(alignment, bytes);
}

char *leati_test_strdup(const char *text) {
  return is_due() ? NULL : strdup(text);
}

int leati_test_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  return is_due() ? EAGAIN : pthread_create(thread, attributes, start, argument);
}

/* Gives the batch's input back as its output; fails for a batch that begins with 9. */
static int32_t run(void *user, leat_batch_call *call, leat_error *err) {
  (void)user;
  call->outputs[0] = *call->inputs[0];
  if (*(const float *)call->inputs[0]->data == 9) {
    strcpy(err->message, "nine");
    return LEAT_ERROR_DEVICE_LOST;
  }
  return LEAT_OK;
}

static int is_scarcity(int32_t status) {
  return status == LEAT_ERROR_OUT_OF_MEMORY || status == LEAT_ERROR_EXHAUSTED;
}

/* A request of one row. Its status is how it went: scarcity, or what is right. */
static void request(leat_batch_queue *queue, float first, int64_t width, int32_t right) {
  float values[4] = {first, 2, 3, 4};
  int64_t shape[2] = {1, width};
  DLTensor in = {.data = values, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  DLTensor out = {0};
  leat_error err = {.struct_size = sizeof(err)};
  leat_batch_ticket *ticket = NULL;
  int32_t status = leat_batch_submit(queue, 1, (const DLTensor *const[]){&in}, -1, &ticket, &err);
  if (status == LEAT_OK) {
    status = leat_batch_wait(ticket, -1, &err);
  }
  if (status != right) {
    assert_true(is_scarcity(status));
    assert_true(err.message[0] != '\0' || is_scarcity(status));
  } else if (status == LEAT_OK) {
    assert_int_equal(leat_batch_outputs(ticket, 1, &out, &err), LEAT_OK);
    assert_int_equal(out.shape[1], width);
    assert_memory_equal(out.data, values, (size_t)width * sizeof(*values));
  }
  assert_int_equal(leat_batch_release(ticket, NULL), LEAT_OK);
}

/* Whether the countdown reached its end. */
static int scene(int countdown) {
  const leat_batch_pad pad = {.struct_size = sizeof(pad), .axis = 1, .multiple = 4};
  const leat_batch_follow follow = {.struct_size = sizeof(follow), .output_axis = 1, .input_axis = 1};
  leat_batch_config config = {.struct_size = sizeof(config),
                              .workers = 2,
                              .input_count = 1,
                              .output_count = 1,
                              .capacity = 4,
                              .pad_count = 1,
                              .follow_count = 1,
                              .max_rows = 4,
                              .row_multiple = 1,
                              .pads = (const leat_batch_pad *const[]){&pad},
                              .follows = (const leat_batch_follow *const[]){&follow},
                              .run = run};
  leat_error err = {.struct_size = sizeof(err)};
  leat_batch_queue *queue = NULL;
  atomic_store_explicit(&left, countdown, memory_order_relaxed);
  int32_t status = leat_batch_queue_create(&config, &queue, &err);
  if (status == LEAT_OK) {
    request(queue, 1, 3, LEAT_OK);
    request(queue, 9, 2, LEAT_ERROR_DEVICE_LOST);
    config.workers = 4;
    status = leat_batch_queue_configure(queue, &config, &err);
    assert_true(status == LEAT_OK || is_scarcity(status));
    request(queue, 2, 4, LEAT_OK);
    assert_int_equal(leat_batch_queue_destroy(queue, LEAT_BATCH_DRAIN, &err), LEAT_OK);
  } else {
    assert_true(is_scarcity(status));
    assert_true(err.message[0] != '\0');
    assert_null(queue);
  }
  return atomic_load_explicit(&left, memory_order_relaxed) <= 0;
}

static void each_allocation_may_fail(void **state) {
  (void)state;
  int countdown = 1;
  while (scene(countdown)) {
    ++countdown;
  }
  print_message("%d places failed in turn\n", countdown - 1);
  assert_true(countdown > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
