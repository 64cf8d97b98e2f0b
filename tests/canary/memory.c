/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Wrong on purpose, in the way its argument names: what the sanitizer build must report, or it checks nothing.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Through volatile, so that no compiler sees the mistake and leaves it out. */
static volatile int one = 1;

static int overflow_heap(void) {
  char *volatile bytes = malloc(8);
  if (bytes == NULL) {
    return 1;
  }
  bytes[7 + one] = 'x';
  const int seen = bytes[7 + one];
  free(bytes);
  return seen == 'y';
}

static int overflow_integer(void) {
  volatile int sum = INT_MAX;
  sum = sum + one;
  return sum == 0;
}

static int leak(void) {
  char *volatile bytes = malloc(64);
  const int failed = bytes == NULL;
  bytes = NULL;
  return failed;
}

int main(int argc, char **argv) {
  const char *what = argc == 2 ? argv[1] : "";
  if (strcmp(what, "heap") == 0) {
    return overflow_heap();
  }
  if (strcmp(what, "integer") == 0) {
    return overflow_integer();
  }
  if (strcmp(what, "leak") == 0) {
    return leak();
  }
  fprintf(stderr, "usage: leat-canary-memory heap|integer|leak\n");
  return 2;
}
