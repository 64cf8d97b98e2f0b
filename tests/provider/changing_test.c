/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Sessions that come and go while other threads run them, with shapes that change from Run to Run:
 * `provider_changing_test [RUNS]`. Every result is compared. The memory of the process must not grow with the Runs; it
 * is looked at where there are enough of them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "crowd.h"
#include "layer.h"

#define THREADS 8
#define SESSIONS 4
/* One Run in so many is preceded by a new session in place of one that others may be running. */
#define RUNS_PER_SESSION 32
#define ROWS_MAX 160
/* Runs from which on memory is looked at: what is kept of a shape or a pipeline is full long before a third of them. */
#define RUNS_WATCHED 20000
/* By how much it may grow from there to the end, in percent: arenas of allocators, which keep pieces. */
#define GROWTH_MAX 10

/* A session, and how many hold it: its place in the list and the threads that run it. */
typedef struct shared_session {
  OrtSession *session;
  atomic_uint holders;
} shared_session;

static ort_fixture fixture;
/* Guards the list. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static shared_session *list[SESSIONS];
static unsigned runs_wanted = 400;
static atomic_uint runs, sessions;
static atomic_long pages_before;

static long pages_now(void) {
  long size = 0, resident = 0;
  FILE *const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2) {
    fprintf(stderr, "/proc/self/statm cannot be read\n");
    exit(2);
  }
  (void)fclose(file);
  return resident;
}

static void let_go(shared_session *shared) {
  if (shared != NULL && atomic_fetch_sub(&shared->holders, 1) == 1) {
    fixture.ort->ReleaseSession(shared->session);
    free(shared);
  }
}

static shared_session *hold(unsigned place) {
  pthread_mutex_lock(&list_lock);
  shared_session *const found = list[place];
  (void)atomic_fetch_add(&found->holders, 1);
  pthread_mutex_unlock(&list_lock);
  return found;
}

static void replace(unsigned place) {
  shared_session *const made = malloc(sizeof(*made));
  if (made == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  made->session = layer_session(&fixture);
  atomic_init(&made->holders, 1);
  (void)atomic_fetch_add(&sessions, 1);
  pthread_mutex_lock(&list_lock);
  shared_session *const old = list[place];
  list[place] = made;
  pthread_mutex_unlock(&list_lock);
  let_go(old);
}

/* Numbers without a pattern that the threads could share: xorshift. */
static unsigned draw(unsigned *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static unsigned run_many(unsigned index, void *context) {
  (void)context;
  unsigned state = 2463534242u + index, wrong = 0, number;
  while ((number = atomic_fetch_add(&runs, 1)) < runs_wanted) {
    if (number == runs_wanted / 3) {
      atomic_store(&pages_before, pages_now());
    }
    const unsigned place = draw(&state) % SESSIONS;
    if (draw(&state) % RUNS_PER_SESSION == 0) {
      replace(place);
    }
    shared_session *const shared = hold(place);
    wrong += layer_run(&fixture, shared->session, NULL, 1 + draw(&state) % ROWS_MAX, draw(&state) % 1000) != 0;
    let_go(shared);
  }
  return wrong;
}

int main(int argc, char **argv) {
  if (argc > 1) {
    runs_wanted = (unsigned)strtoul(argv[1], NULL, 10);
  }
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (fixture.device == NULL) {
    fprintf(stderr, "Leat finds no device\n");
    return ORT_FIXTURE_SKIPPED;
  }
  for (unsigned place = 0; place < SESSIONS; ++place) {
    replace(place);
  }
  const unsigned wrong = crowd_run(THREADS, run_many, NULL);
  const long before = atomic_load(&pages_before), after = pages_now();
  for (unsigned place = 0; place < SESSIONS; ++place) {
    let_go(list[place]);
  }
  ort_fixture_close(&fixture);
  const long page = sysconf(_SC_PAGESIZE);
  printf("%u Runs on %u sessions, %u wrong; %ld KiB after a third of them, %ld at the end\n", runs_wanted,
         atomic_load(&sessions), wrong, before * page / 1024, after * page / 1024);
  const bool grows = runs_wanted >= RUNS_WATCHED && after - before > before * GROWTH_MAX / 100;
  if (grows) {
    printf("memory grows with the Runs\n");
  }
  return wrong != 0 || grows;
}
