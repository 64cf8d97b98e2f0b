/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that end while Leat is at work. Whatever they leave open, they end at once, with the status they chose. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holder.h"
#include "scene.h"

static scene_host host;
static scene_worker workers[SCENE_THREADS];

/* Threads that have each done some steps and go on. */
static void run_threads(void) {
  scene_open(&host);
  scene_start(&host, workers, SCENE_THREADS, NULL);
  scene_await(workers, SCENE_THREADS, 2);
}

static int exit_from_main(void) {
  run_threads();
  exit(0);
}

static int return_from_main(void) {
  run_threads();
  return 0;
}

static int quick_exit_from_main(void) {
  run_threads();
  quick_exit(0);
}

static int exit_at_once(void) {
  run_threads();
  _exit(0);
}

static void *end_process(void *unused) {
  (void)unused;
  scene_steps(&host, 1, 1);
  exit(0);
}

static int exit_from_a_thread(void) {
  run_threads();
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_process, NULL) != 0) {
    return 1;
  }
  for (unsigned i = 0;; ++i) {
    scene_steps(&host, i, 1);
  }
}

static int exit_with_detached_threads(void) {
  run_threads();
  for (unsigned i = 0; i < SCENE_THREADS; ++i) {
    (void)pthread_detach(workers[i].thread);
  }
  scene_await(workers, SCENE_THREADS, 1);
  exit(0);
}

/* One thread alone: a list that was never flushed, and work that nobody waited for. */
static int exit_with_work_left(void) {
  static scene_work works[8];
  scene_open(&host);
  for (unsigned i = 0; i < 8; ++i) {
    leat_stream *stream;
    SCENE_OK(host.api->stream->create(host.device, 0, &stream, &err));
    scene_put(&host, stream, i, &works[i]);
    if (i % 2 != 0) {
      SCENE_OK(host.api->stream->flush(stream, &err));
    }
  }
  exit(0);
}

/* Threads that take their first steps, with everything still to be compiled. */
static int exit_while_cold(void) {
  scene_open(&host);
  scene_start(&host, workers, SCENE_THREADS, NULL);
  exit(0);
}

static void *open_and_step(void *unused) {
  (void)unused;
  scene_host mine;
  scene_open(&mine);
  scene_steps(&mine, 3, 2);
  return NULL;
}

/* A thread that opens the device and works for the first time. How far it gets differs from round to round. */
static int exit_while_opening(void) {
  pthread_t thread;
  uint32_t count = 0;
  host.api = scene_load();
  SCENE_OK(host.api->device->count(&count, &err));
  if (pthread_create(&thread, NULL, open_and_step, NULL) != 0) {
    return 1;
  }
  scene_nap((unsigned)getpid() % 16 * 2);
  exit(0);
}

/* ---- What runs after exit() was called ----------------------------------------------------------------------------
 */

static leat_stream *kept_stream;
static leat_event *kept_event;
static uint64_t kept_address;

static void keep_things(void) {
  SCENE_OK(host.api->stream->create(host.device, 0, &kept_stream, &err));
  SCENE_OK(host.api->event->create(host.device, 0, &kept_event, &err));
  SCENE_OK(host.api->memory->alloc(host.device, 4096, kept_stream, &kept_address, &err));
  SCENE_OK(host.api->event->record(kept_event, kept_stream, &err));
}

static void release_things(void) {
  SCENE_OK(host.api->memory->free(host.device, kept_address, &err));
  SCENE_OK(host.api->event->destroy(kept_event, &err));
  SCENE_OK(host.api->stream->destroy(kept_stream, &err));
  scene_close(&host);
}

/* After the gate has closed: what uses is refused with the reason, what releases succeeds. */
static void use_and_release_too_late(void) {
  leat_error why = {.struct_size = sizeof(why)};
  uint64_t address = 0;
  const int32_t got = host.api->memory->alloc(host.device, 4096, NULL, &address, &why);
  if (got != LEAT_ERROR_UNAVAILABLE || strstr(why.message, "exiting") == NULL) {
    scene_fail("alloc gave %d while the process exits: %s", (int)got, why.message);
  }
  SCENE_EXPECT(LEAT_ERROR_UNAVAILABLE, host.api->stream->synchronize(kept_stream, &err));
  SCENE_EXPECT(LEAT_ERROR_UNAVAILABLE, host.api->event->wait(kept_event, -1, &err));
  SCENE_EXPECT(LEAT_ERROR_UNAVAILABLE, host.api->device->synchronize(host.device, &err));
  release_things();
  SCENE_OK(host.api->shutdown(&err));
}

static int handler_from_before(void) {
  (void)atexit(use_and_release_too_late);
  run_threads();
  keep_things();
  exit(0);
}

static void use_and_release(void) {
  scene_steps(&host, 5, 2);
  SCENE_OK(host.api->device->synchronize(host.device, &err));
  release_things();
  SCENE_OK(host.api->shutdown(&err));
}

/* Registered after the first work was done: Leat is whole when it runs. */
static int handler_from_after(void) {
  scene_open(&host);
  scene_steps(&host, 1, 1);
  keep_things();
  (void)atexit(use_and_release);
  exit(0);
}

static void use_beside_threads(void) {
  scene_steps(&host, 5, 2);
}

static int handler_beside_threads(void) {
  run_threads();
  (void)atexit(use_beside_threads);
  exit(0);
}

/* Counts calls that came back, without the driver, so that nothing but the gate can stop it. */
static atomic_uint calls[SCENE_THREADS];

static void *call_on(void *argument) {
  atomic_uint *const count = argument;
  for (;;) {
    leat_memory_stats stats = {.struct_size = sizeof(stats)};
    SCENE_OK(host.api->memory->stats(host.device, &stats, &err));
    atomic_fetch_add(count, 1);
  }
  return NULL;
}

static void check_silence(void) {
  unsigned before[SCENE_THREADS];
  for (unsigned i = 0; i < SCENE_THREADS; ++i) {
    before[i] = atomic_load(&calls[i]);
  }
  scene_nap(50);
  for (unsigned i = 0; i < SCENE_THREADS; ++i) {
    /* One that was on its way from a call to counting it. */
    if (atomic_load(&calls[i]) - before[i] > 1) {
      scene_fail("thread %u still comes out of calls after the exit handler of Leat", i);
    }
  }
}

static int nobody_passes_the_gate(void) {
  (void)atexit(check_silence);
  scene_open(&host);
  scene_steps(&host, 1, 1);
  for (unsigned i = 0; i < SCENE_THREADS; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_on, &calls[i]) != 0) {
      return 1;
    }
  }
  for (unsigned i = 0; i < SCENE_THREADS; ++i) {
    while (atomic_load(&calls[i]) == 0) {
      scene_nap(1);
    }
  }
  exit(0);
}

/* A DLPack tensor whose deleter is called by a destructor: it must neither crash nor hang. */
static DLManagedTensorVersioned *kept_tensor;

static void delete_tensor(void) {
  kept_tensor->deleter(kept_tensor);
}

static int deleter_too_late(void) {
  (void)atexit(delete_tensor);
  run_threads();
  keep_things();
  int64_t shape[] = {16};
  const DLTensor view = {.data = (void *)(uintptr_t)kept_address,
                         .device = {kDLVulkan, 0},
                         .ndim = 1,
                         .dtype = {kDLFloat, 32, 1},
                         .shape = shape};
  SCENE_OK(host.api->memory->export_dlpack(kept_stream, &view, NULL, &kept_tensor, &err));
  exit(0);
}

/* ---- Destructors --------------------------------------------------------------------------------------------------
 */

static void (*at_end)(void);

__attribute__((destructor)) static void end_program(void) {
  if (at_end != NULL) {
    at_end();
  }
}

static int destructor_of_the_program(void) {
  run_threads();
  keep_things();
  at_end = use_and_release_too_late;
  exit(0);
}

/* The library was loaded after Leat; its destructor runs with all others of libraries, after the exit handlers. */
static int destructor_of_a_library(void) {
  run_threads();
  keep_things();
  void *const library = dlopen(LIFE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    scene_fail("%s", dlerror());
  }
  void (**const end)(void) = dlsym(library, "life_library_end");
  if (end == NULL) {
    scene_fail("%s", dlerror());
  }
  *end = use_and_release_too_late;
  exit(0);
}

/* C++ objects that own things of Leat: one was made before main() and goes after the gate has closed, the other was
 * made at first use, now, and goes before. */

/* Threads go on using the device and the operator, so these go late. */
static int static_objects(void) {
  run_threads();
  keep_things();
  *holder_late() = (holder){.api = host.api, .event = kept_event, .stream = kept_stream};
  *holder_early() = (holder){.api = host.api, .device = host.device, .address = kept_address, .op = host.add};
  exit(0);
}

/* The device is closed first; the stream and the event that went with it are released later. */
static int static_objects_in_bad_order(void) {
  scene_open(&host);
  scene_steps(&host, 1, 2);
  keep_things();
  *holder_late() = (holder){.api = host.api, .device = host.device, .address = kept_address, .op = host.add};
  *holder_early() = (holder){.api = host.api, .event = kept_event, .stream = kept_stream};
  exit(0);
}

const scene scene_exits[] = {{"exit-from-main", exit_from_main},
                             {"return-from-main", return_from_main},
                             {"quick-exit", quick_exit_from_main},
                             {"exit-at-once", exit_at_once},
                             {"exit-from-a-thread", exit_from_a_thread},
                             {"exit-with-detached-threads", exit_with_detached_threads},
                             {"exit-with-work-left", exit_with_work_left},
                             {"exit-while-cold", exit_while_cold},
                             {"exit-while-opening", exit_while_opening},
                             {"handler-from-before", handler_from_before},
                             {"handler-from-after", handler_from_after},
                             {"handler-beside-threads", handler_beside_threads},
                             {"nobody-passes-the-gate", nobody_passes_the_gate},
                             {"deleter-too-late", deleter_too_late},
                             {"destructor-of-the-program", destructor_of_the_program},
                             {"destructor-of-a-library", destructor_of_a_library},
                             {"static-objects", static_objects},
                             {"static-objects-in-bad-order", static_objects_in_bad_order},
                             {NULL, NULL}};
