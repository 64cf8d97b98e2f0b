/* SPDX-License-Identifier: BSD-3-Clause */
/* More than one process: children of fork(), children started anew, and neighbours on one device. */
#include <stdlib.h>
#include <unistd.h>

#include "scene.h"

static scene_host host;
static scene_worker workers[SCENE_THREADS];
static atomic_bool leave;

/* ---- fork() -------------------------------------------------------------------------------------------------------
 */

/* What a child of fork() may be given by its parent. */
static leat_stream *stream;
static leat_event *event;
static DLManagedTensorVersioned *managed;
static DLManagedTensor *unversioned;

static void make_things(void) {
  int64_t shape[] = {SCENE_ELEMENTS};
  uint64_t address;
  SCENE_OK(host.api->stream->create(host.device, 0, &stream, &err));
  SCENE_OK(host.api->event->create(host.device, 0, &event, &err));
  SCENE_OK(host.api->memory->alloc(host.device, SCENE_ELEMENTS * sizeof(float), stream, &address, &err));
  const DLTensor view = {(void *)(uintptr_t)address, {kDLVulkan, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  SCENE_OK(host.api->memory->export_dlpack(stream, &view, NULL, &managed, &err));
  SCENE_OK(host.api->memory->export_dlpack_unversioned(stream, &view, NULL, &unversioned, &err));
}

/* Every call fails in the child; the deleters of tensors do nothing there. */
static void be_child(void) {
  scene_call_everything(&host, stream, event, managed, unversioned, LEAT_ERROR_FORKED, "fork");
  managed->deleter(managed);
  unversioned->deleter(unversioned);
}

/* Forks, and lets the child call everything and end in one of the two ways. */
static void fork_once(bool at_once) {
  const pid_t child = fork();
  if (child == 0) {
    be_child();
    if (at_once) {
      _exit(0);
    }
    exit(0);
  }
  scene_reap(child, at_once ? "a child that ends by _exit()" : "a child that ends by exit()");
}

static int fork_beside_threads(void) {
  scene_open(&host);
  make_things();
  scene_start(&host, workers, SCENE_THREADS, &leave);
  scene_await(workers, SCENE_THREADS, 1);
  for (unsigned i = 0; i < 4; ++i) {
    fork_once(i % 2 == 0);
  }
  /* The parent is as it was. */
  scene_await(workers, SCENE_THREADS, 2);
  atomic_store(&leave, true);
  scene_join(workers, SCENE_THREADS);
  scene_step(&host, stream, 5);
  SCENE_OK(host.api->device->synchronize(host.device, &err));
  managed->deleter(managed);
  unversioned->deleter(unversioned);
  scene_close(&host);
  return 0;
}

/* A thread other than main() forks, and so does the child. */
static void *fork_twice(void *unused) {
  const pid_t child = fork();
  if (child == 0) {
    fork_once(false);
    be_child();
    exit(0);
  }
  scene_reap(child, "a child of a thread");
  return unused;
}

static int fork_from_a_thread(void) {
  pthread_t thread;
  scene_open(&host);
  make_things();
  scene_start(&host, workers, SCENE_THREADS, &leave);
  scene_await(workers, SCENE_THREADS, 1);
  if (pthread_create(&thread, NULL, fork_twice, NULL) != 0) {
    return 1;
  }
  (void)pthread_join(thread, NULL);
  scene_await(workers, SCENE_THREADS, 1);
  exit(0);
}

static int fork_before_first_use(void) {
  const pid_t child = fork();
  scene_open(&host);
  scene_start(&host, workers, 2, &leave);
  scene_await(workers, 2, 2);
  atomic_store(&leave, true);
  scene_join(workers, 2);
  scene_close(&host);
  if (child != 0) {
    scene_reap(child, "a child that was made before the first call");
  }
  return 0;
}

/* ---- Started anew -------------------------------------------------------------------------------------------------
 */

static int few_steps(void) {
  scene_open(&host);
  scene_start(&host, workers, 2, &leave);
  scene_await(workers, 2, 2);
  atomic_store(&leave, true);
  scene_join(workers, 2);
  scene_close(&host);
  return 0;
}

static int spawn_beside_threads(void) {
  scene_open(&host);
  scene_start(&host, workers, SCENE_THREADS, &leave);
  scene_await(workers, SCENE_THREADS, 1);
  const pid_t spawned = scene_spawn("few-steps", -1, -1);
  const pid_t forked = fork();
  if (forked == 0) {
    (void)execl("/proc/self/exe", "leat-life-scene", "few-steps", (char *)NULL);
    _exit(1);
  }
  scene_reap(spawned, "a child of posix_spawn()");
  scene_reap(forked, "a child of fork() and exec()");
  scene_await(workers, SCENE_THREADS, 1);
  atomic_store(&leave, true);
  scene_join(workers, SCENE_THREADS);
  scene_close(&host);
  return 0;
}

/* ---- Neighbours ---------------------------------------------------------------------------------------------------
 */

static int be_neighbour(void) {
  scene_open(&host);
  scene_start(&host, workers, SCENE_NEIGHBOUR_THREADS, &leave);
  scene_await(workers, SCENE_NEIGHBOUR_THREADS, 1);
  scene_be_neighbour();
  scene_await(workers, SCENE_NEIGHBOUR_THREADS, 3);
  atomic_store(&leave, true);
  scene_join(workers, SCENE_NEIGHBOUR_THREADS);
  scene_close(&host);
  return 0;
}

static int neighbour_is_killed(void) {
  scene_neighbours("neighbour");
  return 0;
}

const scene scene_processes[] = {
    {"fork-beside-threads", fork_beside_threads},     {"fork-from-a-thread", fork_from_a_thread},
    {"fork-before-first-use", fork_before_first_use}, {"few-steps", few_steps},
    {"spawn-beside-threads", spawn_beside_threads},   {"neighbour", be_neighbour},
    {"neighbour-is-killed", neighbour_is_killed},     {NULL, NULL}};
