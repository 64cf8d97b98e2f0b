/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/fork.h"

#include <pthread.h>

atomic_bool leati_fork_flag;
static pthread_once_t watched = PTHREAD_ONCE_INIT;
static int result; /* of pthread_atfork(); written under `watched` */

static void note_fork(void) {
  atomic_store_explicit(&leati_fork_flag, true, memory_order_relaxed);
}

static void watch(void) {
  result = pthread_atfork(NULL, NULL, note_fork);
}

int leati_fork_watch(void) {
  (void)pthread_once(&watched, watch);
  return result;
}
