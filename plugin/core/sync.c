/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/sync.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds between looks for a role where the kernel has no futex for it, or no memory for one. */
#define ROLE_LOOK_NS UINT64_C(50000)

#ifndef NDEBUG
/* Ranks that this thread holds, lowest first. Only this thread reads and writes them. */
static _Thread_local leati_rank held[16];
static _Thread_local unsigned held_count;

static void rank_taken(leati_rank rank) {
  if (held_count > 0 && held[held_count - 1] >= rank) {
    (void)fprintf(stderr, "leat: lock of rank %d taken while holding one of rank %d\n", (int)rank,
                  (int)held[held_count - 1]);
    abort();
  }
  if (held_count < sizeof(held) / sizeof(held[0])) {
    held[held_count] = rank;
  }
  ++held_count;
}

/* As rank_taken(), for a lock that was only tried. */
static void rank_tried(leati_rank rank) {
  if (held_count < sizeof(held) / sizeof(held[0])) {
    held[held_count] = rank;
  }
  ++held_count;
}

static void rank_given(leati_rank rank) {
  if (held_count == 0 || held[held_count - 1] != rank) {
    (void)fprintf(stderr, "leat: lock of rank %d released out of order\n", (int)rank);
    abort();
  }
  --held_count;
}

/* Aborts if locks are held beside BACKEND and, with `waits_with`, the one that is released meanwhile. */
static void assert_held(bool waits_with) {
  const unsigned backend = held_count > 0 && held[0] == LEATI_RANK_BACKEND ? 1 : 0;
  const unsigned allowed = backend + (waits_with ? 1 : 0);
  if (held_count > allowed) {
    (void)fprintf(stderr, "leat: a wait begins while %u locks are held, the first of rank %d\n", held_count,
                  (int)held[backend]);
    abort();
  }
}

void leati_assert_unlocked(void) {
  assert_held(false);
}
#else
static void rank_taken(leati_rank rank) {
  (void)rank;
}
static void rank_tried(leati_rank rank) {
  (void)rank;
}
static void rank_given(leati_rank rank) {
  (void)rank;
}
static void assert_held(bool waits_with) {
  (void)waits_with;
}
#endif

void leati_mutex_init(leati_mutex *mutex, leati_rank rank) {
  (void)pthread_mutex_init(&mutex->native, NULL);
  mutex->rank = rank;
}

void leati_mutex_destroy(leati_mutex *mutex) {
  (void)pthread_mutex_destroy(&mutex->native);
}

/* Of these four the analysis is told what they do, and not that a mutex is the one that it is made of. */
LEATI_UNANALYSED void leati_mutex_lock(leati_mutex *mutex) {
  rank_taken(mutex->rank);
  (void)pthread_mutex_lock(&mutex->native);
}

LEATI_UNANALYSED void leati_mutex_unlock(leati_mutex *mutex) {
  (void)pthread_mutex_unlock(&mutex->native);
  rank_given(mutex->rank);
}

LEATI_UNANALYSED bool leati_mutex_try(leati_mutex *mutex) {
  if (pthread_mutex_trylock(&mutex->native) != 0) {
    return false;
  }
  rank_tried(mutex->rank);
  return true;
}

void leati_condition_init(leati_condition *condition) {
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&condition->native, &attributes);
  (void)pthread_condattr_destroy(&attributes);
}

void leati_condition_destroy(leati_condition *condition) {
  (void)pthread_cond_destroy(&condition->native);
}

LEATI_UNANALYSED void leati_condition_wait(leati_condition *condition, leati_mutex *mutex, uint64_t deadline_ns) {
  assert_held(true);
  if (deadline_ns == UINT64_MAX) {
    (void)pthread_cond_wait(&condition->native, &mutex->native);
    return;
  }
  const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                                    .tv_nsec = (long)(deadline_ns % 1000000000u)};
  (void)pthread_cond_timedwait(&condition->native, &mutex->native, &deadline);
}

void leati_condition_signal(leati_condition *condition) {
  (void)pthread_cond_signal(&condition->native);
}

void leati_condition_broadcast(leati_condition *condition) {
  (void)pthread_cond_broadcast(&condition->native);
}

uint32_t leati_thread_id(void) {
  static _Thread_local uint32_t id;
  if (id == 0) {
    id = (uint32_t)syscall(SYS_gettid);
  }
  return id;
}

bool leati_role_wait(leati_role *role, uint64_t timeout_ns) {
  leati_assert_unlocked();
  if (leati_role_try(role)) {
    return true;
  }
  /* This futex takes a time of the real-time clock. If that is set, the wait ends early or late; it is one of several.
   */
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  const uint64_t end_ns = (uint64_t)until.tv_nsec + timeout_ns;
  until.tv_sec += (time_t)(end_ns / 1000000000u);
  until.tv_nsec = (long)(end_ns % 1000000000u);
  if (syscall(SYS_futex, &role->holder, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, &until) == 0) {
    /* The kernel wrote the word. What the holder before did was released by leati_role_pass_on(). */
    (void)atomic_load_explicit(&role->holder, memory_order_seq_cst);
    return true;
  }
  if (errno != ETIMEDOUT) {
    leati_sleep_ns(timeout_ns < ROLE_LOOK_NS ? timeout_ns : ROLE_LOOK_NS);
  }
  return leati_role_try(role);
}

void leati_role_pass_on(leati_role *role) {
  /* Releases what this thread did to the one that the kernel chooses. */
  (void)atomic_fetch_or_explicit(&role->holder, 0, memory_order_seq_cst);
  (void)syscall(SYS_futex, &role->holder, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG);
  /* What follows looks for work that was added while the role was taken. */
  atomic_thread_fence(memory_order_seq_cst);
}

uint32_t leati_core_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

void leati_sleep_ns(uint64_t ns) {
  leati_assert_unlocked();
  const struct timespec nap = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  (void)nanosleep(&nap, NULL);
}

void leati_yield(void) {
  (void)sched_yield();
}

uint64_t leati_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *leati_calloc(size_t count, size_t size) {
  return calloc(count, size);
}

void *leati_realloc(void *memory, size_t size) {
  return realloc(memory, size);
}

void leati_free(void *memory) {
  free(memory);
}
