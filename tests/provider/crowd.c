/* SPDX-License-Identifier: BSD-3-Clause */
#include "crowd.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct crowd {
  unsigned (*body)(unsigned index, void *context);
  void *context;
  pthread_barrier_t start;
  atomic_uint index;
  atomic_uint failures;
} crowd;

static void *crowd_member(void *argument) {
  crowd *self = argument;
  unsigned index = atomic_fetch_add(&self->index, 1);
  pthread_barrier_wait(&self->start);
  atomic_fetch_add(&self->failures, self->body(index, self->context));
  return NULL;
}

unsigned crowd_run(unsigned count, unsigned (*body)(unsigned, void *), void *context) {
  crowd self = {.body = body, .context = context};
  pthread_t threads[CROWD_MAX];
  assert_true(count <= CROWD_MAX);
  assert_int_equal(pthread_barrier_init(&self.start, NULL, count), 0);
  for (unsigned i = 0; i < count; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, crowd_member, &self), 0);
  }
  for (unsigned i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
  }
  pthread_barrier_destroy(&self.start);
  return atomic_load(&self.failures);
}
