/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_clock.h"

#include <time.h>

int64_t leati_batch_clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t leati_batch_clock_add(int64_t from, int64_t duration) {
  int64_t sum = 0;
  return duration < 0 || __builtin_add_overflow(from, duration, &sum) ? LEATI_BATCH_FOREVER : sum;
}

bool leati_batch_clock_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) {
    return false;
  }
  const bool made =
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  return made;
}

void leati_batch_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) {
  int cancel = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (until == LEATI_BATCH_FOREVER) {
    pthread_cond_wait(condition, lock);
  } else {
    const struct timespec deadline = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    (void)pthread_cond_timedwait(condition, lock, &deadline);
  }
  pthread_setcancelstate(cancel, NULL);
}
