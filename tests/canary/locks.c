/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Wrong on purpose: locks taken against their ranks, and waits that begin with a lock held. The builds with sanitizers
 * must report it, or their locks go unchecked there. Exit status 1 stands for the abort, so that ctest does not take
 * it for a crash.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sync.h"

static leati_mutex backend = LEATI_MUTEX_INITIALIZER(LEATI_RANK_BACKEND);
static leati_mutex stream = LEATI_MUTEX_INITIALIZER(LEATI_RANK_STREAM);
static leati_mutex pool = LEATI_MUTEX_INITIALIZER(LEATI_RANK_POOL);

static void end(int signal) {
  (void)signal;
  _exit(1);
}

/* Waits a moment in a condition. */
static void wait_with(leati_mutex *mutex) {
  leati_condition condition;
  leati_condition_init(&condition);
  leati_mutex_lock(mutex);
  leati_condition_wait(&condition, mutex, leati_now_ns());
  leati_mutex_unlock(mutex);
  leati_condition_destroy(&condition);
}

int main(int argc, char **argv) {
  const char *const mistake = argc > 1 ? argv[1] : "";
  (void)signal(SIGABRT, end);
  if (strcmp(mistake, "none") == 0) {
    leati_mutex_lock(&backend);
    wait_with(&stream);
    leati_sleep_ns(1);
    leati_mutex_lock(&stream);
    leati_mutex_lock(&pool);
    leati_mutex_unlock(&pool);
    leati_mutex_unlock(&stream);
    leati_mutex_unlock(&backend);
  } else if (strcmp(mistake, "order") == 0) {
    leati_mutex_lock(&pool);
    leati_mutex_lock(&stream);
  } else if (strcmp(mistake, "sleep") == 0) {
    leati_mutex_lock(&stream);
    leati_sleep_ns(1);
  } else if (strcmp(mistake, "condition") == 0) {
    leati_mutex_lock(&stream);
    wait_with(&pool);
  }
  return 0;
}
