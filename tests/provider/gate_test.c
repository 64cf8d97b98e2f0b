/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/ep_gate.c and what it stands on alone, with atexit(), aligned_alloc() and pause() in our hands:
 * a thread that is on its way in while the exit handler runs does not get in. */
#include "onnxruntime/ep_gate.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- What gate.c stands on -----------------------------------------------------------------------------------------
 */

OrtStatus *leati_status(const leati_runtime *runtime, OrtErrorCode code, const char *format, ...) {
  (void)runtime;
  (void)code;
  (void)format;
  return NULL;
}

OrtStatus *leati_status_from(const leati_runtime *runtime, int32_t code, const leat_error *error, const char *format,
                             ...) {
  (void)runtime;
  (void)code;
  (void)error;
  (void)format;
  return NULL;
}

static void (*handler)(void); /* what the gate registered */
static sem_t reached, go_on;  /* the thread is held on its way in; it may go on */
static sem_t ended;           /* it has got in or was stopped */
static enum { PASSED = 1, STOPPED } end;

int __wrap_atexit(void (*function)(void));
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_pause(void);
void *__real_aligned_alloc(size_t alignment, size_t size);

int __wrap_atexit(void (*function)(void)) {
  handler = function;
  return 0;
}

/* A thread's first step into the gate, before anybody can see it. */
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  sem_post(&reached);
  sem_wait(&go_on);
  return __real_aligned_alloc(alignment, size);
}

/* Where a thread stops for good. */
int __wrap_pause(void) {
  end = STOPPED;
  sem_post(&ended);
  pthread_exit(NULL);
}

static void *go_in(void *unused) {
  (void)unused;
  (void)leati_ep_gate_enter();
  end = PASSED;
  sem_post(&ended);
  return NULL;
}

/* ---- Tests ---------------------------------------------------------------------------------------------------------
 */

static void who_is_on_the_way_in_does_not_get_in(void **state) {
  (void)state;
  pthread_t thread;
  sem_init(&reached, 0, 0);
  sem_init(&go_on, 0, 0);
  sem_init(&ended, 0, 0);
  leati_ep_gate_register();
  assert_non_null(handler);
  assert_int_equal(pthread_create(&thread, NULL, go_in, NULL), 0);
  sem_wait(&reached);
  /* It finds nobody to wait for. */
  handler();
  sem_post(&go_on);
  sem_wait(&ended);
  assert_int_equal(end, STOPPED);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

static void who_ends_the_process_is_told(void **state) {
  (void)state;
  sem_post(&go_on);
  assert_int_equal(leati_ep_gate_enter(), LEATI_GATE_CLOSED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_is_on_the_way_in_does_not_get_in),
      cmocka_unit_test(who_ends_the_process_is_told),
  };
  return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
