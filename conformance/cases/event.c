/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_event_api and leat_stream_api::wait_event.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

enum { SIZE = 3001 };

static const int64_t forever = -1;

/* Puts slow work and then a round trip of `in` to `out` through a block into the stream. */
static void slow_round_trip(leat_case_context *ctx, leat_stream *stream, uint64_t block, const uint8_t *in,
                            uint8_t *out) {
  leati_stream_load(ctx, stream);
  leati_upload(ctx, stream, block, in, SIZE);
  leati_download(ctx, stream, block, out, SIZE);
}

static void poll_event(leat_case_context *ctx, leat_event *event) {
  int32_t status;
  while ((status = ctx->event->query(event, LEAT_ERR)) == LEAT_ERROR_NOT_READY)
    g_usleep(100);
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK, "event.query returned %s", leati_case_status_name(status));
}

static void bad_arguments(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = NULL;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->create(NULL, 0, &event, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->create(device, 0, NULL, LEAT_ERR));
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->event->create(device, UINT64_C(1) << 63, &event, LEAT_ERR));
  event = leati_event_new(ctx);
  LEAT_CHECK_OK(ctx, ctx->event->destroy(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->record(NULL, stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->record(event, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->query(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->wait(NULL, 0, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->wait(event, -2, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->wait(event, INT64_MIN, LEAT_ERR));
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
}

static void unrecorded(leat_case_context *ctx, const void *data) {
  leat_event *event = leati_event_new(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->event->query(event, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(event, 0, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(event, 1000, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(event, INT64_MAX, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->wait_event(stream, event, LEAT_ERR));
  leati_synchronize(ctx, stream);
  leati_stream_destroy(ctx, stream);
  leati_event_destroy(ctx, event);
}

/* How an event is waited for. */
typedef enum { WAIT_FOREVER, WAIT_LONG, WAIT_POLL, WAIT_ZERO, WAIT_SHORT } wait_kind;

static void wait_delivers(leat_case_context *ctx, const void *data) {
  const wait_kind kind = (wait_kind)GPOINTER_TO_INT(data);
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_alloc(ctx, SIZE, stream);
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  for (uint32_t round = 0; round < 5; ++round) {
    int32_t status = LEAT_OK;
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    slow_round_trip(ctx, stream, block, in, out);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    switch (kind) {
      case WAIT_FOREVER:
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
        break;
      case WAIT_LONG:
        /* Longer than the deadline of the case. */
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, INT64_C(100000000000000), LEAT_ERR));
        break;
      case WAIT_POLL:
        poll_event(ctx, event);
        break;
      case WAIT_ZERO:
      case WAIT_SHORT:
        do {
          status = ctx->event->wait(event, kind == WAIT_ZERO ? 0 : 20000, LEAT_ERR);
        } while (status == LEAT_ERROR_TIMEOUT);
        LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK,
                           "event.wait returned %s, only success and LEAT_ERROR_TIMEOUT are possible",
                           leati_case_status_name(status));
        break;
    }
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->query(event, LEAT_ERR));
  }
  leati_free(ctx, block);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
}

/* The event stands for what was in the stream when it was recorded, not for what came later. */
static void covers_only_before(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *first = leati_event_new(ctx);
  leat_event *second = leati_event_new(ctx);
  uint64_t block = leati_alloc(ctx, SIZE, stream);
  uint8_t in[2][SIZE];
  uint8_t out[2][SIZE] = {{0}};
  (void)data;
  leati_pattern(in[0], SIZE, 1);
  leati_pattern(in[1], SIZE, 2);
  slow_round_trip(ctx, stream, block, in[0], out[0]);
  LEAT_CHECK_OK(ctx, ctx->event->record(first, stream, LEAT_ERR));
  slow_round_trip(ctx, stream, block, in[1], out[1]);
  LEAT_CHECK_OK(ctx, ctx->event->record(second, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(first, forever, LEAT_ERR));
  LEAT_CHECK_BYTES(ctx, in[0], out[0], SIZE);
  LEAT_CHECK_OK(ctx, ctx->event->wait(second, forever, LEAT_ERR));
  LEAT_CHECK_BYTES(ctx, in[1], out[1], SIZE);
  leati_free(ctx, block);
  leati_event_destroy(ctx, first);
  leati_event_destroy(ctx, second);
  leati_stream_destroy(ctx, stream);
}

static void record_again(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 30 };
  leat_stream *streams[2] = {leati_stream_new(ctx), leati_stream_new(ctx)};
  leat_event *event = leati_event_new(ctx);
  uint64_t blocks[2] = {leati_alloc(ctx, SIZE, streams[0]), leati_alloc(ctx, SIZE, streams[1])};
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  /* The event changes from one stream to the other while what it stood for may be in flight. */
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    leat_stream *stream = streams[round % 2];
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    if (round % 5 == 0)
      leati_stream_load(ctx, streams[(round + 1) % 2]);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, streams[(round + 1) % 2], LEAT_ERR));
    leati_upload(ctx, stream, blocks[round % 2], in, SIZE);
    leati_download(ctx, stream, blocks[round % 2], out, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  for (int i = 0; i < 2; ++i) {
    leati_free(ctx, blocks[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
  leati_event_destroy(ctx, event);
}

/* Later recordings do not change what a stream was told to wait for. */
static void wait_keeps_meaning(leat_case_context *ctx, const void *data) {
  leat_stream *writer = leati_stream_new(ctx);
  leat_stream *reader = leati_stream_new(ctx);
  leat_stream *idle = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_alloc(ctx, SIZE, writer);
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  for (uint32_t round = 0; round < 8; ++round) {
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    leati_stream_load(ctx, writer);
    leati_upload(ctx, writer, block, in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, writer, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(reader, event, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->record(event, idle, LEAT_ERR));
    leati_download(ctx, reader, block, out, SIZE);
    leati_synchronize(ctx, reader);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  leati_free(ctx, block);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, writer);
  leati_stream_destroy(ctx, reader);
  leati_stream_destroy(ctx, idle);
}

static void across_streams(leat_case_context *ctx, const void *data) {
  enum { STREAMS = 6, ROUNDS = 5 };
  leat_stream *streams[STREAMS];
  uint64_t blocks[STREAMS];
  leat_event *events[STREAMS];
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = leati_stream_new(ctx);
    events[i] = leati_event_new(ctx);
    blocks[i] = leati_alloc(ctx, SIZE, streams[i]);
  }
  /* A baton goes through all streams, and back to the first for the next round. */
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    if (round > 0)
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[0], events[STREAMS - 1], LEAT_ERR));
    leati_stream_load(ctx, streams[0]);
    leati_upload(ctx, streams[0], blocks[0], in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[0], streams[0], LEAT_ERR));
    for (int i = 1; i < STREAMS; ++i) {
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[i], events[i - 1], LEAT_ERR));
      if (i % 2 == 0)
        leati_stream_load(ctx, streams[i]);
      leati_copy(ctx, streams[i], blocks[i - 1], blocks[i], SIZE);
      LEAT_CHECK_OK(ctx, ctx->event->record(events[i], streams[i], LEAT_ERR));
    }
    leati_download(ctx, streams[STREAMS - 1], blocks[STREAMS - 1], out, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[STREAMS - 1], streams[STREAMS - 1], LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->wait(events[STREAMS - 1], forever, LEAT_ERR));
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  for (int i = 0; i < STREAMS; ++i) {
    leati_free(ctx, blocks[i]);
    leati_event_destroy(ctx, events[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
}

/* Two streams take turns in writing one block, ordered by events in both directions. */
static void both_ways(leat_case_context *ctx, const void *data) {
  enum { COUNT = 2000, ROUNDS = 20 };
  const int64_t shape[1] = {COUNT};
  leat_op *add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 1);
  leat_stream *streams[2] = {leati_stream_new(ctx), leati_stream_new(ctx)};
  leat_event *events[2] = {leati_event_new(ctx), leati_event_new(ctx)};
  uint64_t block = leati_alloc(ctx, 3 * COUNT * sizeof(float), streams[0]);
  float values[2 * COUNT];
  float out[COUNT];
  leat_case_tensor a;
  leat_case_tensor b;
  leat_case_tensor ones;
  (void)data;
  for (int i = 0; i < COUNT; ++i) {
    values[i] = (float)i;
    values[COUNT + i] = 1.0f;
  }
  leati_tensor_device(ctx, &a, block, LEAT_F32, 1, shape);
  leati_tensor_device(ctx, &ones, block + COUNT * sizeof(float), LEAT_F32, 1, shape);
  leati_tensor_device(ctx, &b, block + 2 * COUNT * sizeof(float), LEAT_F32, 1, shape);
  leati_upload(ctx, streams[0], block, values, sizeof values);
  for (int i = 0; i < ROUNDS; ++i) {
    const leat_case_tensor *inputs[2] = {i % 2 == 0 ? &a : &b, &ones};
    leati_op_invoke(ctx, add, streams[i % 2], 2, inputs, i % 2 == 0 ? &b : &a);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[i % 2], streams[i % 2], LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[(i + 1) % 2], events[i % 2], LEAT_ERR));
  }
  leati_download(ctx, streams[0], block, out, sizeof out);
  leati_synchronize(ctx, streams[0]);
  for (int i = 0; i < COUNT; ++i) {
    LEAT_CHECK_MESSAGE(ctx, out[i] == (float)(i + ROUNDS), "element %d is %g, expected %d", i, (double)out[i],
                       i + ROUNDS);
  }
  leati_free(ctx, block);
  for (int i = 0; i < 2; ++i) {
    leati_event_destroy(ctx, events[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
  leati_op_destroy(ctx, add);
}

static void wait_self(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_alloc(ctx, SIZE, stream);
  uint8_t in[SIZE];
  uint8_t out[SIZE] = {0};
  (void)data;
  leati_pattern(in, SIZE, 4);
  leati_upload(ctx, stream, block, in, SIZE);
  LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->wait_event(stream, event, LEAT_ERR));
  leati_download(ctx, stream, block, out, SIZE);
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  leati_free(ctx, block);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
}

/* A download whose stream is destroyed is still delivered by the event after it. */
static void stream_gone(leat_case_context *ctx, const void *data) {
  const gboolean polling = GPOINTER_TO_INT(data);
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  uint64_t block = leati_alloc(ctx, SIZE, NULL);
  for (uint32_t round = 0; round < 5; ++round) {
    leat_stream *stream = leati_stream_new(ctx);
    leat_event *event = leati_event_new(ctx);
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    slow_round_trip(ctx, stream, block, in, out);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    leati_stream_destroy(ctx, stream);
    if (polling) {
      poll_event(ctx, event);
    } else {
      LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
    }
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
    leati_event_destroy(ctx, event);
  }
  leati_free(ctx, block);
}

static void destroy_early(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_stream *reader = leati_stream_new(ctx);
  uint64_t block = leati_alloc(ctx, SIZE, stream);
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  for (uint32_t round = 0; round < 20; ++round) {
    leat_event *event = leati_event_new(ctx);
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    if (round % 4 == 0)
      leati_stream_load(ctx, stream);
    leati_upload(ctx, stream, block, in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(reader, event, LEAT_ERR));
    /* Gone before what it stands for has finished, and before the stream that waits for it runs. */
    leati_event_destroy(ctx, event);
    leati_download(ctx, reader, block, out, SIZE);
    leati_synchronize(ctx, reader);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  leati_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_stream_destroy(ctx, reader);
}

static void thousand(leat_case_context *ctx, const void *data) {
  enum { EVENTS = 1000 };
  leat_stream *stream = leati_stream_new(ctx);
  leat_event **events = g_new0(leat_event *, EVENTS);
  uint64_t block = leati_alloc(ctx, EVENTS, stream);
  uint8_t *in = g_malloc(EVENTS);
  uint8_t *out = g_malloc0(EVENTS);
  (void)data;
  leati_pattern(in, EVENTS, 6);
  for (int i = 0; i < EVENTS; ++i)
    events[i] = leati_event_new(ctx);
  for (int i = 0; i < EVENTS; i += 10) {
    leati_upload(ctx, stream, block + (uint64_t)i, in + i, 10);
    for (int j = i; j < i + 10; ++j)
      LEAT_CHECK_OK(ctx, ctx->event->record(events[j], stream, LEAT_ERR));
    leati_download(ctx, stream, block + (uint64_t)i, out + i, 10);
  }
  LEAT_CHECK_OK(ctx, ctx->event->record(events[EVENTS - 1], stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(events[EVENTS - 1], forever, LEAT_ERR));
  LEAT_CHECK_BYTES(ctx, in, out, EVENTS);
  /* All others were recorded before it in the same stream. */
  for (int i = 0; i < EVENTS; ++i)
    LEAT_CHECK_OK(ctx, ctx->event->query(events[i], LEAT_ERR));
  for (int i = 0; i < EVENTS; ++i)
    leati_event_destroy(ctx, events[i]);
  leati_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(events);
  g_free(in);
  g_free(out);
}

/* ---- Threads ---- */

typedef struct {
  leat_event *event;
  const uint8_t *in;
  const uint8_t *out;
} waiting;

static void wait_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const waiting *job = data;
  if (index % 3 == 2) {
    poll_event(ctx, job->event);
  } else {
    LEAT_CHECK_OK(ctx, ctx->event->wait(job->event, index % 3 == 0 ? forever : INT64_C(100000000000000), LEAT_ERR));
  }
  /* Whichever thread brought the bytes, they are there for all. */
  LEAT_CHECK_BYTES(ctx, job->in, job->out, SIZE);
}

static void wait_threads(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  waiting job = {.event = leati_event_new(ctx), .in = in, .out = out};
  uint64_t block = leati_alloc(ctx, SIZE, stream);
  for (uint32_t round = 0; round < 5; ++round) {
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    slow_round_trip(ctx, stream, block, in, out);
    LEAT_CHECK_OK(ctx, ctx->event->record(job.event, stream, LEAT_ERR));
    leati_threads_run(ctx, GPOINTER_TO_UINT(data), wait_thread, &job);
  }
  leati_free(ctx, block);
  leati_event_destroy(ctx, job.event);
  leati_stream_destroy(ctx, stream);
}

typedef struct {
  leat_event *event;
  leat_stream *streams[4];
} racing;

static void race_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const racing *job = data;
  for (int i = 0; i < 200; ++i) {
    if (index < 4) {
      LEAT_CHECK_OK(ctx, ctx->event->record(job->event, job->streams[index], LEAT_ERR));
    } else if (index < 6) {
      LEAT_CHECK_OK(ctx, ctx->event->wait(job->event, forever, LEAT_ERR));
    } else if (index == 6) {
      int32_t status = ctx->event->query(job->event, LEAT_ERR);
      LEAT_CHECK(ctx, status == LEAT_OK || status == LEAT_ERROR_NOT_READY);
    } else {
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(job->streams[i % 4], job->event, LEAT_ERR));
    }
  }
}

/* Recording, waiting and asking at once is legal on one event; no waiter may hang. */
static void race_threads(leat_case_context *ctx, const void *data) {
  racing job = {.event = leati_event_new(ctx)};
  (void)data;
  for (int i = 0; i < 4; ++i)
    job.streams[i] = leati_stream_new(ctx);
  leati_stream_load(ctx, job.streams[1]);
  leati_threads_run(ctx, 8, race_thread, &job);
  for (int i = 0; i < 4; ++i) {
    leati_synchronize(ctx, job.streams[i]);
    leati_stream_destroy(ctx, job.streams[i]);
  }
  LEAT_CHECK_OK(ctx, ctx->event->wait(job.event, forever, LEAT_ERR));
  leati_event_destroy(ctx, job.event);
}

/* ---- Timing ---- */

static leat_event *timing_event(leat_case_context *ctx) {
  leat_event *event = NULL;
  LEAT_CHECK_OK(ctx, ctx->event->create(leati_fixture_device(ctx), LEAT_EVENT_TIMING, &event, LEAT_ERR));
  return event;
}

static void timing_refused(leat_case_context *ctx, const void *data) {
  leat_event *event = NULL;
  (void)data;
  if ((ctx->api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) != 0) {
    leati_case_skip(ctx, "LEAT_CAPABILITY_EVENT_TIMING is set; this is about plugins without it");
  }
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->event->create(leati_fixture_device(ctx), LEAT_EVENT_TIMING, &event, LEAT_ERR));
}

static void timing_measures(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *start = timing_event(ctx);
  leat_event *end = timing_event(ctx);
  double between = -1.0;
  gint64 begin = g_get_monotonic_time();
  double outside;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->event->record(start, stream, LEAT_ERR));
  leati_stream_load(ctx, stream);
  LEAT_CHECK_OK(ctx, ctx->event->record(end, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(end, forever, LEAT_ERR));
  outside = (double)(g_get_monotonic_time() - begin) * 1e3;
  LEAT_CHECK_OK(ctx, ctx->event->elapsed(start, end, &between, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, between > 0.0 && between <= outside * 1.01,
                     "%g ns passed on the device between two events, %g ns on the host around them", between, outside);
  leati_event_destroy(ctx, start);
  leati_event_destroy(ctx, end);
  leati_stream_destroy(ctx, stream);
}

static void timing_untimed(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *timed = timing_event(ctx);
  leat_event *untimed = leati_event_new(ctx);
  double between = 0.0;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->event->record(timed, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->record(untimed, stream, LEAT_ERR));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_FAILS(ctx, ctx->event->elapsed(timed, untimed, &between, LEAT_ERR));
  LEAT_CHECK_FAILS(ctx, ctx->event->elapsed(untimed, timed, &between, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->elapsed(timed, timed, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->elapsed(NULL, timed, &between, LEAT_ERR));
  leati_event_destroy(ctx, timed);
  leati_event_destroy(ctx, untimed);
  leati_stream_destroy(ctx, stream);
}

static const leat_case cases[] = {
    {.name = "event.arguments.bad_ones_are_refused",
     .summary = "NULL, unknown flags and negative timeouts other than -1 are refused.",
     .run = bad_arguments},
    {.name = "event.unrecorded.counts_as_finished",
     .summary = "An event never recorded is finished for query, wait and wait_event.",
     .run = unrecorded},
    {.name = "event.wait.forever_delivers_downloads",
     .summary = "Waiting without a limit returns when the downloads before the event have arrived.",
     .run = wait_delivers,
     .data = GINT_TO_POINTER(WAIT_FOREVER)},
    {.name = "event.wait.long_timeout_delivers_downloads",
     .summary = "Waiting with a limit that is not reached returns when the downloads have arrived.",
     .run = wait_delivers,
     .data = GINT_TO_POINTER(WAIT_LONG)},
    {.name = "event.wait.zero_timeout_asks",
     .summary = "A timeout of 0 gives LEAT_ERROR_TIMEOUT until the event has finished and the bytes are there.",
     .run = wait_delivers,
     .data = GINT_TO_POINTER(WAIT_ZERO)},
    {.name = "event.wait.short_timeout_returns_in_between",
     .summary = "Short waits give LEAT_ERROR_TIMEOUT until the event has finished and the bytes are there.",
     .run = wait_delivers,
     .data = GINT_TO_POINTER(WAIT_SHORT)},
    {.name = "event.query.ok_means_delivered",
     .summary = "When the event says finished, the downloads before it have arrived.",
     .run = wait_delivers,
     .data = GINT_TO_POINTER(WAIT_POLL)},
    {.name = "event.record.covers_what_was_before",
     .summary = "An event stands for what was in the stream when it was recorded.",
     .run = covers_only_before},
    {.name = "event.record.again_forgets_the_first",
     .summary = "An event recorded again, also in another stream, stands for the new point.",
     .run = record_again},
    {.name = "event.record.thousand_in_one_stream",
     .summary = "A thousand events in one stream finish in order.",
     .run = thousand},
    {.name = "event.wait_event.orders_streams",
     .summary = "Data passed through six streams by events arrives right, several times around.",
     .run = across_streams},
    {.name = "event.wait_event.two_streams_take_turns",
     .summary = "Two streams that wait for each other in turn compute the right sum.",
     .run = both_ways},
    {.name = "event.wait_event.later_record_does_not_matter",
     .summary = "A stream waits for what the event stood for when it was told to wait.",
     .run = wait_keeps_meaning},
    {.name = "event.wait_event.own_stream_is_harmless",
     .summary = "A stream may wait for an event of its own.",
     .run = wait_self},
    {.name = "event.destroy.stream_first_wait_still_delivers",
     .summary = "Waiting for an event delivers the download though its stream is destroyed.",
     .run = stream_gone},
    {.name = "event.destroy.stream_first_query_still_delivers",
     .summary = "Asking an event delivers the download though its stream is destroyed.",
     .run = stream_gone,
     .data = GINT_TO_POINTER(1)},
    {.name = "event.destroy.before_it_finishes",
     .summary = "An event may be destroyed before it finishes; streams that were told to wait still do.",
     .run = destroy_early},
    {.name = "event.threads.other_thread_gets_the_bytes",
     .summary = "A thread that did not record the event finds the downloaded bytes after its wait.",
     .run = wait_threads,
     .data = GUINT_TO_POINTER(1)},
    {.name = "event.threads.twelve_wait_at_once",
     .summary = "Twelve threads that wait for one event all return with the bytes there.",
     .run = wait_threads,
     .data = GUINT_TO_POINTER(12)},
    {.name = "event.threads.record_and_wait_at_once",
     .summary = "Recording, waiting, asking and waiting on the device at once: nobody hangs, nothing breaks.",
     .run = race_threads},
    {.name = "event.timing.refused_where_not_supported",
     .summary = "Where the capability bit is clear, LEAT_EVENT_TIMING is refused as not supported.",
     .run = timing_refused},
    {.name = "event.timing.elapsed_is_plausible",
     .summary = "The device time between two events is positive and not longer than the host time around them.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_measures},
    {.name = "event.timing.untimed_event_is_an_error",
     .summary = "Asking an event that was made without timing fails and does not hang.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_untimed},
};

void leati_cases_event(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
