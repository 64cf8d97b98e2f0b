/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Wrong on purpose: two threads count without a lock. The build with the thread sanitizer must report it, or it checks
 * nothing.
 */
#include <pthread.h>
#include <stddef.h>

static int count;

static void *add(void *unused) {
  for (int i = 0; i < 1000; ++i) {
    ++count;
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, add, NULL) != 0) {
    return 2;
  }
  (void)add(NULL);
  return pthread_join(thread, NULL) == 0 && count > 0 ? 0 : 2;
}
