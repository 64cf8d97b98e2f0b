/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles: one thread has it, others leave or wait, and who waits lends its priority. What never comes ends with ctest's
 * time limit. */
#include "core/sync.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "unit_fixture.h"

#define LONG_NS UINT64_C(10000000000)

/* Stands in front of syscall(): a kernel without such a futex. */
static atomic_bool no_futex;
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  const long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long),
             d = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_futex && atomic_load(&no_futex)) {
    errno = ENOSYS;
    return -1;
  }
  return __real_syscall(number, a, b, c, d);
}

static leati_role role;
/* Not atomic: the role orders its uses. */
static int turns;
static atomic_bool go_on;
static _Atomic uint32_t holder_id;

static void *hold(void *unused) {
  (void)unused;
  assert_true(leati_role_try(&role));
  atomic_store(&holder_id, leati_thread_id());
  while (!atomic_load(&go_on)) {
    leati_sleep_ns(1000000);
  }
  ++turns;
  leati_role_leave(&role);
  return NULL;
}

static void *follow(void *unused) {
  (void)unused;
  while (!leati_role_wait(&role, LONG_NS)) {
  }
  ++turns;
  leati_role_leave(&role);
  return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *)) {
  assert_int_equal(pthread_create(thread, NULL, run, NULL), 0);
}

static pthread_t start_holder(void) {
  pthread_t holder;
  turns = 0;
  atomic_store(&go_on, false);
  atomic_store(&holder_id, 0);
  start(&holder, hold);
  while (atomic_load(&holder_id) == 0) {
    leati_yield();
  }
  return holder;
}

static void end_holder(pthread_t holder) {
  atomic_store(&go_on, true);
  assert_int_equal(pthread_join(holder, NULL), 0);
}

static void wait_for_waiter(void) {
  while ((atomic_load(&role.holder) & FUTEX_WAITERS) == 0) {
    leati_yield();
  }
}

static void one_thread_has_it(void **state) {
  (void)state;
  const pthread_t holder = start_holder();
  assert_false(leati_role_try(&role));
  assert_false(leati_role_wait(&role, 1000000));
  assert_int_equal(turns, 0);
  end_holder(holder);
  assert_true(leati_role_wait(&role, 0));
  leati_role_leave(&role);
  assert_int_equal(atomic_load(&role.holder), 0);
}

static void who_waits_gets_it_from_who_gives_it_up(void **state) {
  (void)state;
  enum { FOLLOWERS = 4 };
  pthread_t followers[FOLLOWERS];
  assert_true(leati_role_try(&role));
  turns = 0;
  for (int i = 0; i < FOLLOWERS; ++i) {
    start(&followers[i], follow);
  }
  wait_for_waiter();
  leati_role_leave(&role);
  for (int i = 0; i < FOLLOWERS; ++i) {
    assert_int_equal(pthread_join(followers[i], NULL), 0);
  }
  assert_int_equal(turns, FOLLOWERS);
  assert_int_equal(atomic_load(&role.holder), 0);
}

/* Also without the kernel's help. */
static void who_waits_gets_it_in_any_case(void **state) {
  (void)state;
  pthread_t follower;
  atomic_store(&no_futex, true);
  const pthread_t holder = start_holder();
  start(&follower, follow);
  end_holder(holder);
  assert_int_equal(pthread_join(follower, NULL), 0);
  assert_int_equal(turns, 2);
  atomic_store(&no_futex, false);
}

static void *follow_first_in_first_out(void *unused) {
  const struct sched_param parameter = {.sched_priority = 1};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) != 0) {
    return &role;
  }
  return follow(unused);
}

/* The priority that the kernel gives a thread now: real-time ones are negative. */
static int priority_of(uint32_t thread) {
  char path[64];
  int priority = 0;
  (void)snprintf(path, sizeof(path), "/proc/self/task/%u/stat", thread);
  FILE *const file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(
      fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %d", &priority), 1);
  (void)fclose(file);
  return priority;
}

static void who_has_it_gets_the_priority_of_who_waits(void **state) {
  (void)state;
  pthread_t follower;
  void *refused = NULL;
  const pthread_t holder = start_holder();
  assert_true(priority_of(atomic_load(&holder_id)) >= 0);
  start(&follower, follow_first_in_first_out);
  while (pthread_tryjoin_np(follower, &refused) != 0 && priority_of(atomic_load(&holder_id)) >= 0) {
    leati_yield();
  }
  end_holder(holder);
  if (refused != NULL) {
    skip(); /* This process may not have real-time threads. */
  }
  assert_int_equal(pthread_join(follower, NULL), 0);
  assert_int_equal(turns, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_has_it),
      cmocka_unit_test(who_waits_gets_it_from_who_gives_it_up),
      cmocka_unit_test(who_waits_gets_it_in_any_case),
      cmocka_unit_test(who_has_it_gets_the_priority_of_who_waits),
  };
  return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
