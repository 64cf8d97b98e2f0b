/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The device of a test on the null driver, runs on it (an upload, a Relu and a download of known floats), and threads
 * that get into the driver with them. A program of tests has one device at a time.
 */
#ifndef LEAT_TESTS_NULLDRIVER_BLOCKS_H_
#define LEAT_TESTS_NULLDRIVER_BLOCKS_H_

#include "unit_fixture.h"

#include <pthread.h>

#include "nulldriver/test_host.h"
#include "streams/recorder.h"

/** Floats of a block; streams of the pool that threads may have beside the main thread's. */
enum { COUNT = 1000, WORKERS = 31 };

/** The device that is open. */
extern host h;
/** COUNT, where the shape of a tensor is asked for. */
extern int64_t count;

void open_device(void);
/** The same with a setting, which holds until close_configured(). */
void open_configured(const char *name, const char *value);
void close_device(void);
void close_configured(const char *name);

/** Two blocks and host memory of COUNT floats. */
typedef struct blocks {
  uint64_t a, b;
  float in[COUNT], out[COUNT];
} blocks;

void take_blocks(blocks *t, leat_stream *stream);
void give_blocks(const blocks *t);

leat_stream *make_stream(void);
leat_event *make_event(void);

int32_t upload(blocks *t, leat_stream *stream, uint32_t seed);
/** a through Relu to b. */
int32_t rectify(blocks *t, leat_stream *stream);
int32_t download(blocks *t, leat_stream *stream);
/** Puts a whole run into a stream. */
int32_t put_run(blocks *t, leat_stream *stream, uint32_t seed);
void assert_arrived(const blocks *t, uint32_t seed);
/** One stream, one run after the other, each waited for. */
void run_through(uint32_t runs);

/** Records a copy of a tensor of COUNT floats to a temporary one, beside another one of `more` bytes if that is not 0.
 */
int32_t record_to_temporary(leati_recorder *recorder, const leati_view *from, uint64_t more, leat_error *err);

/** Fails the stream, for good if nobody clears it. */
void fail_stream(leat_stream *stream, blocks *t);

/** A thread with a stream and blocks of its own. */
typedef struct submitter {
  pthread_t thread;
  leat_stream *stream;
  blocks t;
  uint32_t failures;
} submitter;

void start_thread(pthread_t *thread, void *(*run)(void *), void *argument);
void join_thread(pthread_t thread);
/** A thread that puts an upload and a Relu into its stream of the pool, and ends; `argument` is its blocks. */
void *leave_work(void *argument);
/** Starts a leave_work() that is caught in vkQueueSubmit until nulldriver_release(). */
void start_stuck(pthread_t *thread, blocks *t);

#endif /* LEAT_TESTS_NULLDRIVER_BLOCKS_H_ */
