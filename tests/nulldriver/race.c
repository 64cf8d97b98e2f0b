/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Wrong on purpose, but for `none`: two threads touch one thing, one certainly after the other but without an order
 * that the thread sanitizer may count on, and each makes calls of the driver in between. It must report them all.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "nulldriver/raw.h"

static raw_device d;
static int touched;
/* Relaxed: it says when, and orders nothing. */
static atomic_bool first_is_done;

static void touch(const char *what) {
  (void)raw_value(&d);
  if (strcmp(what, "host") == 0) {
    ++touched;
  } else {
    (void)vk.ResetCommandPool(d.device, d.pool, 0);
  }
  (void)raw_value(&d);
}

static void *touch_first(void *what) {
  touch(what);
  atomic_store_explicit(&first_is_done, true, memory_order_relaxed);
  return NULL;
}

static void touch_from_two_threads(char *what) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, touch_first, what) != 0) {
    return;
  }
  while (!atomic_load_explicit(&first_is_done, memory_order_relaxed)) {
    (void)sched_yield();
  }
  touch(what);
  (void)pthread_join(thread, NULL);
}

/* Writes what the device has read, with or without having waited for that. */
static void upload_twice(bool waits) {
  nulldriver_set_mode(NULLDRIVER_THREADED, 0);
  memset(d.a_bytes, 1, RAW_SIZE);
  raw_record_copy(&d);
  (void)raw_submit(&d, 0, d.commands, 0, 1);
  while (nulldriver_pending() != 0) {
    (void)sched_yield();
  }
  if (waits) {
    (void)raw_wait(&d, 1, UINT64_MAX);
    touched = d.b_bytes[0];
  }
  memset(d.a_bytes, 2, RAW_SIZE);
  (void)raw_wait(&d, 1, UINT64_MAX);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    (void)fprintf(stderr, "usage: %s host|pool|upload|none\n", argv[0]);
    return 2;
  }
  raw_open(&d);
  if (strcmp(argv[1], "host") == 0 || strcmp(argv[1], "pool") == 0) {
    touch_from_two_threads(argv[1]);
  } else {
    upload_twice(strcmp(argv[1], "none") == 0);
  }
  raw_close(&d);
  return nulldriver_violations() == 0 ? 0 : 1;
}
