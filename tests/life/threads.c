/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that come and go, are cancelled, or outlive what they use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scene.h"

static scene_host host;

/* ---- main() ends first -------------------------------------------------------------------------------------------
 */

#define LATE_THREADS 4
#define LATE_STEPS 15
static atomic_uint finished;

static void check_finished(void) {
  if (atomic_load(&finished) != LATE_THREADS) {
    scene_fail("the process ends after %u of %d threads", atomic_load(&finished), LATE_THREADS);
  }
}

static void *outlive(void *number) {
  scene_nap(20);
  scene_steps(&host, *(unsigned *)number, LATE_STEPS);
  if (atomic_fetch_add(&finished, 1) == LATE_THREADS - 1) {
    /* A process ends with its last thread, and drivers have threads that stay: somebody must call exit(). */
    scene_close(&host);
    exit(0);
  }
  return NULL;
}

static int outlive_main(void) {
  static unsigned numbers[LATE_THREADS];
  (void)atexit(check_finished);
  scene_open(&host);
  for (unsigned i = 0; i < LATE_THREADS; ++i) {
    pthread_t thread;
    numbers[i] = i;
    if (pthread_create(&thread, NULL, outlive, &numbers[i]) != 0) {
      return 1;
    }
    (void)pthread_detach(thread);
  }
  pthread_exit(NULL);
}

/* ---- Churn --------------------------------------------------------------------------------------------------------
 */

static void *step_once(void *number) {
  scene_steps(&host, *(unsigned *)number, 2);
  return NULL;
}

static void run_batch(unsigned count) {
  unsigned numbers[32];
  pthread_t threads[32];
  for (unsigned i = 0; i < count; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, step_once, &numbers[i]) != 0) {
      scene_fail("a thread could not be made");
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    (void)pthread_join(threads[i], NULL);
  }
}

static uint64_t reserved_bytes(void) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  SCENE_OK(host.api->device->synchronize(host.device, &err));
  SCENE_OK(host.api->memory->stats(host.device, &stats, &err));
  if (stats.allocated_bytes != 0) {
    scene_fail("%llu bytes are still held", (unsigned long long)stats.allocated_bytes);
  }
  return stats.reserved_bytes + stats.staging_bytes;
}

static int churn(void) {
  scene_open(&host);
  run_batch(1);
  const uint64_t alone = reserved_bytes();
  for (unsigned i = 0; i < 50; ++i) {
    run_batch(1);
  }
  if (reserved_bytes() != alone) {
    scene_fail("50 threads, one by one, took %llu bytes where one took %llu", (unsigned long long)reserved_bytes(),
               (unsigned long long)alone);
  }
  for (unsigned i = 0; i < 4; ++i) {
    run_batch(20);
  }
  /* How many of 20 threads hold memory at once is up to the scheduler, but not more than 20 do. */
  if (reserved_bytes() > 20 * alone) {
    scene_fail("batches of 20 threads took %llu bytes where one took %llu", (unsigned long long)reserved_bytes(),
               (unsigned long long)alone);
  }
  scene_close(&host);
  return 0;
}

/* ---- Cancellation -------------------------------------------------------------------------------------------------
 */

#define CANCELLED 6

typedef struct victim {
  pthread_t thread;
  unsigned number;
  leat_stream *stream;
  scene_work work;
  atomic_bool ready;
  volatile bool inside; /* of a call; its thread alone uses it, and the handler that runs on it */
  bool cut;             /* it was cancelled inside of a call */
} victim;

static void note_cut(void *argument) {
  victim *const self = argument;
  self->cut = self->inside;
}

/* Has work in its list, or in flight, when it is cancelled. */
static void *leave_work(void *argument) {
  victim *const self = argument;
  SCENE_OK(host.api->stream->create(host.device, 0, &self->stream, &err));
  scene_put(&host, self->stream, self->number, &self->work);
  if (self->number % 2 != 0) {
    SCENE_OK(host.api->stream->flush(self->stream, &err));
  }
  atomic_store(&self->ready, true);
  scene_await_cancellation();
}

/* Is in calls nearly always, and between them asks whether it is cancelled. */
static void *work_until_cancelled(void *argument) {
  victim *const self = argument;
  pthread_cleanup_push(note_cut, self);
  SCENE_OK(host.api->stream->create(host.device, 0, &self->stream, &err));
  for (unsigned i = 0;; ++i) {
    self->inside = true;
    scene_put(&host, self->stream, self->number + i, &self->work);
    SCENE_OK(host.api->stream->synchronize(self->stream, &err));
    self->inside = false;
    scene_check(&self->work);
    atomic_store(&self->ready, true);
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancel_threads(void *(*run)(void *), bool check_works) {
  static victim victims[CANCELLED];
  static scene_worker others[3];
  static atomic_bool leave;
  scene_open(&host);
  scene_start(&host, others, 3, &leave);
  for (unsigned i = 0; i < CANCELLED; ++i) {
    victims[i].number = i;
    if (pthread_create(&victims[i].thread, NULL, run, &victims[i]) != 0) {
      scene_fail("a thread could not be made");
    }
  }
  for (unsigned i = 0; i < CANCELLED; ++i) {
    while (!atomic_load(&victims[i].ready)) {
      scene_nap(1);
    }
    void *result = NULL;
    (void)pthread_cancel(victims[i].thread);
    (void)pthread_join(victims[i].thread, &result);
    if (result != PTHREAD_CANCELED) {
      scene_fail("thread %u was not cancelled", i);
    }
    if (victims[i].cut) {
      scene_fail("thread %u was cancelled inside of a call", i);
    }
  }
  /* The others go on, and what the cancelled threads left is as good as ever. */
  scene_await(others, 3, 2);
  for (unsigned i = 0; i < CANCELLED; ++i) {
    SCENE_OK(host.api->stream->synchronize(victims[i].stream, &err));
    if (check_works) {
      scene_check(&victims[i].work);
    }
    scene_step(&host, victims[i].stream, 50 + i);
    SCENE_OK(host.api->stream->destroy(victims[i].stream, &err));
  }
  atomic_store(&leave, true);
  scene_join(others, 3);
  SCENE_OK(host.api->device->synchronize(host.device, &err));
  (void)reserved_bytes();
  scene_close(&host);
}

static int cancel_with_work_left(void) {
  cancel_threads(leave_work, true);
  return 0;
}

static int cancel_inside(void) {
  cancel_threads(work_until_cancelled, true);
  return 0;
}

/* A call leaves the cancellation state of its thread as it was. */
static int cancel_state_is_kept(void) {
  scene_open(&host);
  int state;
  scene_steps(&host, 1, 1);
  if (pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state) != 0 || state != PTHREAD_CANCEL_ENABLE) {
    scene_fail("a call has left cancellation disabled");
  }
  scene_steps(&host, 1, 1);
  SCENE_EXPECT(LEAT_ERROR_INVALID_ARGUMENT, host.api->stream->flush(NULL, &err));
  if (pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) != 0 || state != PTHREAD_CANCEL_DISABLE) {
    scene_fail("a call has left cancellation enabled");
  }
  scene_close(&host);
  return 0;
}

/* ---- Destructors of thread-specific data --------------------------------------------------------------------------
 */

static pthread_key_t early_key, late_key; /* made before and after Leat was loaded */
static atomic_uint destructor_runs;

/* What a host's destructor does in a dying thread: uses Leat, then releases what the thread had. */
static void use_in_dying_thread(void *argument) {
  leat_stream *const stream = argument;
  scene_step(&host, stream, 7);
  scene_steps(&host, 8, 1);
  SCENE_OK(host.api->stream->destroy(stream, &err));
  atomic_fetch_add(&destructor_runs, 1);
}

static void *die_with_streams(void *unused) {
  (void)unused;
  leat_stream *streams[2];
  for (unsigned i = 0; i < 2; ++i) {
    SCENE_OK(host.api->stream->create(host.device, 0, &streams[i], &err));
    scene_step(&host, streams[i], i);
  }
  (void)pthread_setspecific(early_key, streams[0]);
  (void)pthread_setspecific(late_key, streams[1]);
  return NULL;
}

static int use_in_thread_destructors(void) {
  (void)pthread_key_create(&early_key, use_in_dying_thread);
  scene_open(&host);
  scene_steps(&host, 0, 1);
  (void)pthread_key_create(&late_key, use_in_dying_thread);
  pthread_t threads[8];
  for (unsigned i = 0; i < 8; ++i) {
    if (pthread_create(&threads[i], NULL, die_with_streams, NULL) != 0) {
      return 1;
    }
  }
  for (unsigned i = 0; i < 8; ++i) {
    (void)pthread_join(threads[i], NULL);
  }
  if (atomic_load(&destructor_runs) != 16) {
    scene_fail("%u destructors ran, not 16", atomic_load(&destructor_runs));
  }
  scene_close(&host);
  return 0;
}

/* ---- Dead handles -------------------------------------------------------------------------------------------------
 */

static pthread_barrier_t closed;

static void *use_closed_device(void *unused) {
  (void)unused;
  leat_device *const device = host.device;
  scene_steps(&host, 3, 2);
  (void)pthread_barrier_wait(&closed); /* all have finished */
  (void)pthread_barrier_wait(&closed); /* the device is closed */
  leat_error why = {.struct_size = sizeof(why)};
  uint64_t address = 0;
  leat_stream *stream = NULL;
  const int32_t got = host.api->memory->alloc(device, 64, NULL, &address, &why);
  if (got != LEAT_ERROR_INVALID_ARGUMENT || strstr(why.message, "device") == NULL) {
    scene_fail("alloc on a closed device gave %d: %s", (int)got, why.message);
  }
  SCENE_EXPECT(LEAT_ERROR_INVALID_ARGUMENT, host.api->stream->create(device, 0, &stream, &err));
  SCENE_EXPECT(LEAT_ERROR_INVALID_ARGUMENT, host.api->device->synchronize(device, &err));
  SCENE_EXPECT(LEAT_ERROR_INVALID_ARGUMENT, host.api->device->close(device, &err));
  return NULL;
}

static int closed_device(void) {
  pthread_t threads[4];
  scene_open(&host);
  (void)pthread_barrier_init(&closed, NULL, 5);
  for (unsigned i = 0; i < 4; ++i) {
    if (pthread_create(&threads[i], NULL, use_closed_device, NULL) != 0) {
      return 1;
    }
  }
  (void)pthread_barrier_wait(&closed);
  scene_close(&host);
  (void)pthread_barrier_wait(&closed);
  for (unsigned i = 0; i < 4; ++i) {
    (void)pthread_join(threads[i], NULL);
  }
  return 0;
}

static int shut_down_and_use_again(void) {
  for (unsigned i = 0; i < 3; ++i) {
    scene_open(&host);
    SCENE_EXPECT(LEAT_ERROR_BUSY, host.api->shutdown(&err));
    run_batch(4);
    scene_close(&host);
    SCENE_OK(host.api->shutdown(&err));
    SCENE_OK(host.api->shutdown(&err));
  }
  return 0;
}

const scene scene_threads[] = {{"outlive-main", outlive_main},
                               {"churn", churn},
                               {"cancel-with-work-left", cancel_with_work_left},
                               {"cancel-inside", cancel_inside},
                               {"cancel-state-is-kept", cancel_state_is_kept},
                               {"use-in-thread-destructors", use_in_thread_destructors},
                               {"closed-device", closed_device},
                               {"shut-down-and-use-again", shut_down_and_use_again},
                               {NULL, NULL}};
