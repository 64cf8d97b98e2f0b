/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the scenes of a process's life and death through the ABI share: a host that runs an operator and checks every
 * value, and threads that do so again and again.
 *
 * A scene is a process (process.h): `leat-life-scene NAME`. Without a device or a pool it is skipped.
 */
#ifndef LEAT_TESTS_LIFE_SCENE_H_
#define LEAT_TESTS_LIFE_SCENE_H_

#include <leat/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "process.h"

#define SCENE_ELEMENTS 2048
#define SCENE_THREADS 6

/** A backend with an open device and an operator, Add of two float vectors. */
typedef struct scene_host {
  const leat_backend_api *api;
  leat_device *device;
  leat_op *add;
  bool has_pool; /**< else the slots of the pool are libleat_host's, which say NOT_SUPPORTED */
} scene_host;

/** Work in a stream: values that are added on the device and come back. */
typedef struct scene_work {
  float values[3][SCENE_ELEMENTS];
  uint64_t sum; /**< the block on the device that the sum goes to */
} scene_work;

/** A thread that runs the operator on a stream of its own until told to stop. */
typedef struct scene_worker {
  const scene_host *host;
  pthread_t thread;
  unsigned number;
  atomic_uint steps;        /**< how many have come out right */
  const atomic_bool *leave; /**< NULL: never */
} scene_worker;

/** Fails unless a call gave `expected`. */
void scene_expect(const char *call, int32_t got, int32_t expected, const leat_error *err);

#define SCENE_EXPECT(expected, call)               \
  do {                                             \
    leat_error err = {.struct_size = sizeof(err)}; \
    const int32_t got_ = (call);                   \
    scene_expect(#call, got_, (expected), &err);   \
  } while (0)
/** Fails unless a call, whose last argument is `&err`, succeeds. */
#define SCENE_OK(call) SCENE_EXPECT(LEAT_OK, call)

/** Loads the backend and nothing else. */
const leat_backend_api *scene_load(void);
/** Opens device 0 and makes the operator; ends the process with SCENE_SKIP if there is no device. */
void scene_open(scene_host *host);
/** Destroys the operator and closes the device. */
void scene_close(scene_host *host);

/** Puts uploads and the operator into a stream; the sum stays on the device. */
void scene_put_sum(const scene_host *host, leat_stream *stream, unsigned seed, scene_work *work);
/** Puts the download of the sum into a stream, and frees its block, which lives on until that is done. */
void scene_put_download(const scene_host *host, leat_stream *stream, scene_work *work);
/** Both. */
void scene_put(const scene_host *host, leat_stream *stream, unsigned seed, scene_work *work);
/** Fails unless the values that came back are right. */
void scene_check(const scene_work *work);
/** scene_put(), a wait for the stream and scene_check(). */
void scene_step(const scene_host *host, leat_stream *stream, unsigned seed);
/** A stream of its own, `steps` steps, and its end. */
void scene_steps(const scene_host *host, unsigned seed, unsigned steps);

/** Starts threads that step until `*leave`. */
void scene_start(const scene_host *host, scene_worker *workers, unsigned count, const atomic_bool *leave);
/** Waits until each has made `more` steps from now on. */
void scene_await(scene_worker *workers, unsigned count, unsigned more);
/** Waits for the threads to end. */
void scene_join(scene_worker *workers, unsigned count);
/** Does nothing until the thread is cancelled. (Not asleep: the thread sanitizer loses its way in a thread that dies in
 * one of the functions that it replaces.) */
_Noreturn void scene_await_cancellation(void);

/** Calls every slot of every table, and fails unless each gives `expected` and a message with `word`. Counts the calls
 * against the sizes of the tables, so that a new slot cannot be forgotten. `stream`, `event` and `managed` belong to
 * the host's device. */
void scene_call_everything(const scene_host *host, leat_stream *stream, leat_event *event,
                           DLManagedTensorVersioned *managed, DLManagedTensor *unversioned, int32_t expected,
                           const char *word);

/** The scenes, by file; each list ends with an empty name. */
extern const scene scene_exits[], scene_threads[], scene_processes[], scene_pools[], scene_canaries[];

#endif /* LEAT_TESTS_LIFE_SCENE_H_ */
