/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of a process's life and death with ONNX Runtime in it: `leat-provider-scene NAME`, see tests/life/process.h.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer.h"
#include "life/process.h"

#define THREADS 8
/* More than the pool of streams admits, so that some wait for their turn. */
#define THREADS_WAITING 40

static ort_fixture fixture;
static OrtSession *session;

/* A thread that runs the session until told to stop. */
typedef struct runner {
  pthread_t thread;
  unsigned seed;
  unsigned most;    /* Runs; 0: no limit */
  atomic_uint runs; /* that came out right */
} runner;

static runner runners[THREADS_WAITING];
static atomic_bool leave;

static void run_once(unsigned seed) {
  if (layer_run(&fixture, session, NULL, 3, seed) != 0) {
    scene_fail("a Run went wrong");
  }
}

static void *run_on(void *argument) {
  runner *const self = argument;
  for (unsigned i = 0; !atomic_load(&leave) && (self->most == 0 || i < self->most); ++i) {
    run_once(self->seed + i);
    atomic_fetch_add(&self->runs, 1);
  }
  return NULL;
}

static void open_session(void) {
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (fixture.device == NULL) {
    (void)fprintf(stderr, "no device\n");
    _exit(SCENE_SKIP);
  }
  session = layer_session(&fixture);
}

static void close_session(void) {
  fixture.ort->ReleaseSession(session);
  ort_fixture_close(&fixture);
}

static void start(unsigned count, void *(*body)(void *), unsigned most) {
  for (unsigned i = 0; i < count; ++i) {
    runners[i].seed = i * 1000;
    runners[i].most = most;
    if (pthread_create(&runners[i].thread, NULL, body, &runners[i]) != 0) {
      scene_fail("a thread could not be made");
    }
  }
}

/* Waits until each has made `more` Runs from now on. */
static void await(unsigned count, unsigned more) {
  for (unsigned i = 0; i < count; ++i) {
    const unsigned before = atomic_load(&runners[i].runs);
    while (atomic_load(&runners[i].runs) - before < more) {
      scene_nap(1);
    }
  }
}

static void join(unsigned count) {
  atomic_store(&leave, true);
  for (unsigned i = 0; i < count; ++i) {
    if (pthread_join(runners[i].thread, NULL) != 0) {
      scene_fail("a thread could not be joined");
    }
  }
}

/* ---- Exit ---------------------------------------------------------------------------------------------------------
 */

static void exit_with_threads(unsigned count) {
  open_session();
  start(count, run_on, 0);
  await(count, 1);
  exit(0);
}

static int exit_beside_runs(void) {
  exit_with_threads(THREADS);
  return 1;
}

static int exit_while_runs_wait(void) {
  exit_with_threads(THREADS_WAITING);
  return 1;
}

/* Runs a few times; the last thread to do so lets all go, and ends the process. */
static void *run_to_the_end(void *argument) {
  static atomic_uint ended;
  (void)run_on(argument);
  if (atomic_fetch_add(&ended, 1) + 1 == THREADS) {
    close_session();
    exit(0);
  }
  return NULL;
}

/* main() ends first. (That is not the end of the process: ONNX Runtime and the driver have threads.) */
static int outlive_main(void) {
  open_session();
  start(THREADS, run_to_the_end, 20);
  for (unsigned i = 0; i < THREADS; ++i) {
    (void)pthread_detach(runners[i].thread);
  }
  pthread_exit(NULL);
}

/* ---- Handlers -----------------------------------------------------------------------------------------------------
 */

/* A Run on a thread of its own: ONNX Runtime keeps streams in thread-local objects, and when handlers run, those of the
 * thread that called exit() are gone. */
static void run_elsewhere(void) {
  static runner late = {.seed = 5, .most = 1};
  if (pthread_create(&late.thread, NULL, run_on, &late) != 0 || pthread_join(late.thread, NULL) != 0 ||
      atomic_load(&late.runs) != 1) {
    scene_fail("a Run in an exit handler did not come to its end");
  }
}

/* Registered after the first Run: all is whole when it runs, and everything may be used and let go. */
static void use_and_release(void) {
  run_elsewhere();
  close_session();
}

static int handler_from_after(void) {
  open_session();
  run_once(1);
  (void)atexit(use_and_release);
  exit(0);
}

static int handler_beside_runs(void) {
  open_session();
  start(THREADS, run_on, 0);
  await(THREADS, 1);
  (void)atexit(run_elsewhere);
  exit(0);
}

/* Runs when the exit handlers of Leat and of ONNX Runtime have run, and static objects of theirs are gone: what they
 * hold may be let go, and that is all that ONNX Runtime allows without Leat too. */
static void release_too_late(void) {
  fixture.ort->ReleaseSession(session);
  fixture.ort->ReleaseEnv(fixture.env);
}

static int handler_from_before(void) {
  (void)atexit(release_too_late);
  open_session();
  run_once(1);
  exit(0);
}

static void (*at_end)(void);

__attribute__((destructor)) static void end_of_the_program(void) {
  if (at_end != NULL) {
    at_end();
  }
}

static int destructor_of_the_program(void) {
  open_session();
  run_once(1);
  at_end = release_too_late;
  exit(0);
}

/* ---- fork() -------------------------------------------------------------------------------------------------------
 */

/* What a child may try: a Run fails, and says that it is a child. */
static void be_child(OrtSession *of_parent, const OrtValue *x) {
  OrtValue *y = NULL;
  OrtStatus *const status = ort_fixture_run(&fixture, of_parent, NULL, &x, &y);
  if (status == NULL) {
    scene_fail("a Run succeeded in a child of fork()");
  }
  const char *const message = fixture.ort->GetErrorMessage(status);
  if (strstr(message, "fork") == NULL) {
    scene_fail("the message does not say fork: %s", message);
  }
  if (fixture.ort->GetErrorCode(status) == ORT_EP_FAIL) {
    scene_fail("with this code Python goes on to make a session for the CPU, which hangs in a child of fork()");
  }
  /* Not exit(): ONNX Runtime's own static objects wait there for a thread that stayed with the parent. */
  _exit(0);
}

static void fork_once(OrtSession *of_parent) {
  const int64_t dims[] = {2, LAYER_INPUTS};
  OrtValue *const x = ort_fixture_tensor(&fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims, 2, NULL);
  const pid_t child = fork();
  if (child == 0) {
    be_child(of_parent, x);
  }
  scene_reap(child, "a child of fork()");
  fixture.ort->ReleaseValue(x);
}

static int fork_beside_idle(void) {
  open_session();
  run_once(1);
  fork_once(session);
  run_once(2);
  close_session();
  return 0;
}

/* The child tries a session of which no thread is inside: ONNX Runtime has locks of its own in each, and one that a
 * thread of the parent holds is never released in the child. */
static int fork_beside_runs(void) {
  open_session();
  OrtSession *const idle = session;
  run_once(1);
  session = layer_session(&fixture);
  start(THREADS, run_on, 0);
  await(THREADS, 1);
  for (unsigned i = 0; i < 3; ++i) {
    fork_once(idle);
    /* The parent is as it was. */
    await(THREADS, 1);
  }
  join(THREADS);
  run_once(7);
  fixture.ort->ReleaseSession(idle);
  close_session();
  return 0;
}

/* ---- Neighbours ---------------------------------------------------------------------------------------------------
 */

static int neighbour(void) {
  open_session();
  start(SCENE_NEIGHBOUR_THREADS, run_on, 0);
  await(SCENE_NEIGHBOUR_THREADS, 1);
  scene_be_neighbour();
  await(SCENE_NEIGHBOUR_THREADS, 3);
  join(SCENE_NEIGHBOUR_THREADS);
  close_session();
  return 0;
}

static int neighbour_is_killed(void) {
  scene_neighbours("neighbour");
  return 0;
}

int main(int argc, char **argv) {
  static const scene scenes[] = {{"exit-beside-runs", exit_beside_runs},
                                 {"exit-while-runs-wait", exit_while_runs_wait},
                                 {"outlive-main", outlive_main},
                                 {"handler-from-after", handler_from_after},
                                 {"handler-beside-runs", handler_beside_runs},
                                 {"handler-from-before", handler_from_before},
                                 {"destructor-of-the-program", destructor_of_the_program},
                                 {"fork-beside-idle", fork_beside_idle},
                                 {"fork-beside-runs", fork_beside_runs},
                                 {"neighbour", neighbour},
                                 {"neighbour-is-killed", neighbour_is_killed},
                                 {NULL, NULL}};
  const scene *const lists[] = {scenes};
  return scene_main(argc, argv, lists, 1);
}
