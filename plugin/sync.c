/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

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

static void rank_given(leati_rank rank) {
  if (held_count == 0 || held[held_count - 1] != rank) {
    (void)fprintf(stderr, "leat: lock of rank %d given back out of order\n", (int)rank);
    abort();
  }
  --held_count;
}
#else
static void rank_taken(leati_rank rank) {
  (void)rank;
}
static void rank_given(leati_rank rank) {
  (void)rank;
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
