/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    (void)fprintf(stderr, "leat: lock of rank %d given back out of order\n", (int)rank);
    abort();
  }
  --held_count;
}

/* Aborts if locks are held beside BACKEND and, with `waits_with`, the one that is given back meanwhile. */
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

void leati_mutex_lock(leati_mutex *mutex) {
  rank_taken(mutex->rank);
  (void)pthread_mutex_lock(&mutex->native);
}

void leati_mutex_unlock(leati_mutex *mutex) {
  (void)pthread_mutex_unlock(&mutex->native);
  rank_given(mutex->rank);
}

bool leati_mutex_try(leati_mutex *mutex) {
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

void leati_condition_wait(leati_condition *condition, leati_mutex *mutex, uint64_t deadline_ns) {
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

void *leati_calloc_line(size_t size) {
  const size_t rounded = (size + LEATI_CACHE_LINE - 1) / LEATI_CACHE_LINE * LEATI_CACHE_LINE;
  void *const memory = aligned_alloc(LEATI_CACHE_LINE, rounded);
  return memory == NULL ? NULL : memset(memory, 0, rounded);
}

void *leati_realloc(void *memory, size_t size) {
  return realloc(memory, size);
}

void leati_free(void *memory) {
  free(memory);
}
