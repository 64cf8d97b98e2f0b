/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of streams, and threads that end, are cancelled, or are still there when the process ends. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

static scene_host host;

/* Opens the host, and ends the process if the backend has no pool. */
static void open_pool(void) {
  scene_open(&host);
  if (!host.has_pool) {
    _exit(SCENE_SKIP);
  }
}

static leat_stream *current_stream(void) {
  leat_stream *stream;
  SCENE_OK(host.api->pool->current(host.device, &stream, &err));
  return stream;
}

static leat_pool_info pool_info(void) {
  leat_pool_info info = {.struct_size = sizeof(info)};
  SCENE_OK(host.api->pool->info(host.device, &info, &err));
  return info;
}

static int32_t index_of(leat_stream *stream) {
  leat_stream_info info = {.struct_size = sizeof(info)};
  SCENE_OK(host.api->stream->info(stream, &info, &err));
  return info.pool_index;
}

/* Fails if a thread that has ended still has a stream. */
static void expect_all_back(uint32_t held) {
  const leat_pool_info info = pool_info();
  if (info.held_count != held) {
    scene_fail("%u streams are held, not %u", info.held_count, held);
  }
}

static void run_one(void *(*run)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument) != 0) {
    scene_fail("a thread could not be made");
  }
  (void)pthread_join(thread, NULL);
}

/* ---- Threads one after another ------------------------------------------------------------------------------------
 */

static void *step_on_current(void *seed) {
  leat_stream *const mine = current_stream();
  scene_step(&host, mine, *(unsigned *)seed);
  if (current_stream() != mine || index_of(mine) < 1) {
    scene_fail("the thread's stream, number %d, does not stay", (int)index_of(mine));
  }
  return NULL;
}

static int pool_churn(void) {
  open_pool();
  for (unsigned i = 0; i < 100; ++i) {
    run_one(step_on_current, &i);
    expect_all_back(0);
  }
  if (index_of(current_stream()) != 0) {
    scene_fail("the main thread's stream is not number 0");
  }
  scene_step(&host, current_stream(), 1);
  scene_close(&host);
  return 0;
}

/* ---- Threads that end with work in their stream -------------------------------------------------------------------
 */

typedef struct leaver {
  unsigned seed;
  scene_work work;
  atomic_bool ready;
} leaver;

static void *leave_work(void *argument) {
  leaver *const self = argument;
  leat_stream *const mine = current_stream();
  scene_put_sum(&host, mine, self->seed, &self->work);
  if (self->seed % 2 != 0) {
    SCENE_OK(host.api->stream->flush(mine, &err));
  }
  atomic_store(&self->ready, true);
  return NULL;
}

static void *leave_work_when_cancelled(void *argument) {
  (void)leave_work(argument);
  scene_await_cancellation();
}

/* What a thread had put into its stream is done, whoever has the stream now. */
static void expect_work(leaver *left) {
  leat_stream *stream;
  SCENE_OK(host.api->device->synchronize(host.device, &err));
  SCENE_OK(host.api->stream->create(host.device, 0, &stream, &err));
  scene_put_download(&host, stream, &left->work);
  SCENE_OK(host.api->stream->synchronize(stream, &err));
  scene_check(&left->work);
  SCENE_OK(host.api->stream->destroy(stream, &err));
}

static int pool_end_with_work_left(void) {
  static leaver leavers[8];
  open_pool();
  for (unsigned i = 0; i < 8; ++i) {
    leavers[i].seed = i;
    run_one(leave_work, &leavers[i]);
    expect_all_back(0);
  }
  for (unsigned i = 0; i < 8; ++i) {
    expect_work(&leavers[i]);
  }
  scene_close(&host);
  return 0;
}

static int pool_cancel_with_work_left(void) {
  static leaver leavers[8];
  pthread_t threads[8];
  open_pool();
  for (unsigned i = 0; i < 8; ++i) {
    leavers[i].seed = i;
    if (pthread_create(&threads[i], NULL, leave_work_when_cancelled, &leavers[i]) != 0) {
      return 1;
    }
  }
  for (unsigned i = 0; i < 8; ++i) {
    while (!atomic_load(&leavers[i].ready)) {
      scene_nap(1);
    }
    (void)pthread_cancel(threads[i]);
    (void)pthread_join(threads[i], NULL);
  }
  expect_all_back(0);
  for (unsigned i = 0; i < 8; ++i) {
    expect_work(&leavers[i]);
  }
  run_one(step_on_current, &leavers[0].seed);
  scene_close(&host);
  return 0;
}

/* ---- Destructors of the host in dying threads ---------------------------------------------------------------------
 */

static pthread_key_t early_key, late_key; /* made before and after Leat was loaded */

/* May come before or after the thread's stream went back; a stream taken then goes back too. */
static void use_current(void *argument) {
  scene_step(&host, current_stream(), *(unsigned *)argument);
}

static void *die_with_destructors(void *seed) {
  (void)step_on_current(seed);
  (void)pthread_setspecific(early_key, seed);
  (void)pthread_setspecific(late_key, seed);
  return NULL;
}

static int pool_use_in_thread_destructors(void) {
  (void)pthread_key_create(&early_key, use_current);
  open_pool();
  unsigned seed = 3;
  run_one(step_on_current, &seed);
  (void)pthread_key_create(&late_key, use_current);
  for (unsigned i = 0; i < 40; ++i) {
    run_one(die_with_destructors, &seed);
    expect_all_back(0);
  }
  scene_close(&host);
  return 0;
}

/* ---- Endings of the process ---------------------------------------------------------------------------------------
 */

#define LATE_THREADS 4
static atomic_uint finished;

static void check_finished(void) {
  if (host.has_pool && atomic_load(&finished) != LATE_THREADS) {
    scene_fail("the process ends after %u of %d threads", atomic_load(&finished), LATE_THREADS);
  }
}

static void *outlive(void *seed) {
  scene_nap(20);
  for (unsigned i = 0; i < 10; ++i) {
    scene_step(&host, current_stream(), *(unsigned *)seed + i);
  }
  if (atomic_fetch_add(&finished, 1) == LATE_THREADS - 1) {
    /* A process ends with its last thread, and drivers have threads that stay: somebody must call exit(). */
    exit(0);
  }
  return NULL;
}

static int pool_outlive_main(void) {
  static unsigned seeds[LATE_THREADS];
  (void)atexit(check_finished);
  open_pool();
  scene_step(&host, current_stream(), 1);
  for (unsigned i = 0; i < LATE_THREADS; ++i) {
    pthread_t thread;
    seeds[i] = i;
    if (pthread_create(&thread, NULL, outlive, &seeds[i]) != 0) {
      return 1;
    }
    (void)pthread_detach(thread);
  }
  pthread_exit(NULL);
}

static atomic_uint holding;

static void *hold_for_ever(void *unused) {
  (void)unused;
  for (unsigned i = 0;; ++i) {
    scene_step(&host, current_stream(), i);
    if (i == 0) {
      atomic_fetch_add(&holding, 1);
    }
  }
  return NULL;
}

static void *wait_for_ever(void *unused) {
  leat_stream *stream;
  uint64_t ticket;
  SCENE_OK(host.api->pool->acquire(host.device, -1, &stream, &ticket, &err));
  return unused;
}

/* Starts four threads that wait for a stream; all must be held. */
static int start_waiters(void) {
  pthread_t thread;
  for (unsigned i = 0; i < 4; ++i) {
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) {
      return 1;
    }
  }
  while (pool_info().waiting_count != 4) {
    scene_nap(1);
  }
  return 0;
}

/* Threads that hold all streams, and threads that wait for one, when the process ends. */
static int pool_exit_while_waiting(void) {
  pthread_t thread;
  open_pool();
  const uint32_t workers = pool_info().stream_count - 1;
  for (uint32_t i = 0; i < workers; ++i) {
    if (pthread_create(&thread, NULL, hold_for_ever, NULL) != 0) {
      return 1;
    }
  }
  while (atomic_load(&holding) != workers) {
    scene_nap(1);
  }
  if (start_waiters() != 0) {
    return 1;
  }
  exit(0);
}

static struct timespec exit_began; /* zero: not yet */

/* exit() gives threads two seconds to stop. These look up every twentieth of one. */
static void check_prompt(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const double took = difftime(now.tv_sec, exit_began.tv_sec) + (double)(now.tv_nsec - exit_began.tv_nsec) * 1e-9;
  if (exit_began.tv_sec != 0 && took > 1.5) {
    scene_fail("threads that only waited for a stream kept exit() for %.1f s", took);
  }
}

static int pool_exit_is_prompt(void) {
  (void)atexit(check_prompt); /* runs last */
  open_pool();
  const uint32_t workers = pool_info().stream_count - 1;
  for (uint32_t i = 0; i < workers; ++i) {
    leat_stream *stream;
    uint64_t ticket;
    SCENE_OK(host.api->pool->acquire(host.device, 0, &stream, &ticket, &err));
  }
  if (start_waiters() != 0) {
    return 1;
  }
  (void)clock_gettime(CLOCK_MONOTONIC, &exit_began);
  exit(0);
}

const scene scene_pools[] = {{"pool-churn", pool_churn},
                             {"pool-end-with-work-left", pool_end_with_work_left},
                             {"pool-cancel-with-work-left", pool_cancel_with_work_left},
                             {"pool-use-in-thread-destructors", pool_use_in_thread_destructors},
                             {"pool-outlive-main", pool_outlive_main},
                             {"pool-exit-while-waiting", pool_exit_while_waiting},
                             {"pool-exit-is-prompt", pool_exit_is_prompt},
                             {NULL, NULL}};
