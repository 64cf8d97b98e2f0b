/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_event_api and leat_stream_api::wait_event.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cases/sources.h"
#include "fixture.h"

enum { SIZE = 3001 };

static const int64_t forever = -1;

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
  leat_event *event = leati_event_new(ctx);
  leat_case_trip trip;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  for (uint32_t round = 0; round < 5; ++round) {
    int32_t status = LEAT_OK;
    leati_trip_put_slow(ctx, &trip, round);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, trip.stream, LEAT_ERR));
    switch (kind) {
      case WAIT_FOREVER:
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
        break;
      case WAIT_LONG:
        /* Longer than the deadline of the case. */
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, INT64_C(100000000000000), LEAT_ERR));
        break;
      case WAIT_POLL:
        leati_event_poll(ctx, event);
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
    leati_trip_check(ctx, &trip);
    LEAT_CHECK_OK(ctx, ctx->event->query(event, LEAT_ERR));
  }
  leati_event_destroy(ctx, event);
  leati_trip_end(ctx, &trip);
}

/* The event stands for what was in the stream when it was recorded, not for what came later. */
static void covers_only_before(leat_case_context *ctx, const void *data) {
  leat_case_trip trips[2];
  leat_event *events[2] = {leati_event_new(ctx), leati_event_new(ctx)};
  (void)data;
  leati_trip_begin(ctx, &trips[0], NULL, SIZE);
  leati_trip_begin(ctx, &trips[1], trips[0].stream, SIZE);
  for (uint32_t i = 0; i < 2; ++i) {
    leati_trip_put_slow(ctx, &trips[i], i + 1);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[i], trips[i].stream, LEAT_ERR));
  }
  for (int i = 0; i < 2; ++i) {
    LEAT_CHECK_OK(ctx, ctx->event->wait(events[i], forever, LEAT_ERR));
    leati_trip_check(ctx, &trips[i]);
    leati_event_destroy(ctx, events[i]);
  }
  leati_trip_end(ctx, &trips[1]);
  leati_trip_end(ctx, &trips[0]);
}

static void record_again(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 30 };
  leat_case_trip trips[2];
  leat_event *event = leati_event_new(ctx);
  (void)data;
  leati_trip_begin(ctx, &trips[0], NULL, SIZE);
  leati_trip_begin(ctx, &trips[1], NULL, SIZE);
  /* The event changes from one stream to the other while what it stood for may be in flight. */
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    leat_case_trip *now = &trips[round % 2];
    leat_stream *other = trips[(round + 1) % 2].stream;
    if (round % 5 == 0) {
      leati_stream_load(ctx, other);
    }
    LEAT_CHECK_OK(ctx, ctx->event->record(event, other, LEAT_ERR));
    leati_trip_put(ctx, now, round);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, now->stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
    leati_trip_check(ctx, now);
  }
  leati_trip_end(ctx, &trips[0]);
  leati_trip_end(ctx, &trips[1]);
  leati_event_destroy(ctx, event);
}

/* Later recordings do not change what a stream was told to wait for. */
static void wait_keeps_meaning(leat_case_context *ctx, const void *data) {
  leat_stream *writer = leati_stream_new(ctx);
  leat_stream *reader = leati_stream_new(ctx);
  leat_stream *idle = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, writer);
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
  leati_case_free(ctx, block);
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
    blocks[i] = leati_case_alloc(ctx, SIZE, streams[i]);
  }
  /* A baton goes through all streams, and back to the first for the next round. */
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    if (round > 0) {
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[0], events[STREAMS - 1], LEAT_ERR));
    }
    leati_stream_load(ctx, streams[0]);
    leati_upload(ctx, streams[0], blocks[0], in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[0], streams[0], LEAT_ERR));
    for (int i = 1; i < STREAMS; ++i) {
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[i], events[i - 1], LEAT_ERR));
      if (i % 2 == 0) {
        leati_stream_load(ctx, streams[i]);
      }
      leati_copy(ctx, streams[i], blocks[i - 1], blocks[i], SIZE);
      LEAT_CHECK_OK(ctx, ctx->event->record(events[i], streams[i], LEAT_ERR));
    }
    leati_download(ctx, streams[STREAMS - 1], blocks[STREAMS - 1], out, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[STREAMS - 1], streams[STREAMS - 1], LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->wait(events[STREAMS - 1], forever, LEAT_ERR));
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  for (int i = 0; i < STREAMS; ++i) {
    leati_case_free(ctx, blocks[i]);
    leati_event_destroy(ctx, events[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
}

/* Two streams take turns in writing one block, ordered by events in both directions. */
static void both_ways(leat_case_context *ctx, const void *data) {
  leat_stream *streams[2] = {leati_stream_new(ctx), leati_stream_new(ctx)};
  leat_event *events[2] = {leati_event_new(ctx), leati_event_new(ctx)};
  leat_case_sum sum;
  (void)data;
  leati_sum_begin(ctx, &sum, streams[0], 2000);
  for (int i = 0; i < 20; ++i) {
    leati_sum_step(ctx, &sum, streams[i % 2]);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[i % 2], streams[i % 2], LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[(i + 1) % 2], events[i % 2], LEAT_ERR));
  }
  leati_sum_check(ctx, &sum, streams[0]);
  leati_sum_end(ctx, &sum);
  for (int i = 0; i < 2; ++i) {
    leati_event_destroy(ctx, events[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
}

static void wait_self(leat_case_context *ctx, const void *data) {
  leat_event *event = leati_event_new(ctx);
  leat_case_trip trip;
  (void)data;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  leati_pattern(trip.in, SIZE, 4);
  leati_upload(ctx, trip.stream, trip.block, trip.in, SIZE);
  LEAT_CHECK_OK(ctx, ctx->event->record(event, trip.stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->wait_event(trip.stream, event, LEAT_ERR));
  leati_download(ctx, trip.stream, trip.block, trip.out, SIZE);
  leati_synchronize(ctx, trip.stream);
  leati_trip_check(ctx, &trip);
  leati_event_destroy(ctx, event);
  leati_trip_end(ctx, &trip);
}

/* A download whose stream is destroyed is still delivered by the event after it. */
static void stream_gone(leat_case_context *ctx, const void *data) {
  const gboolean polling = GPOINTER_TO_INT(data);
  for (uint32_t round = 0; round < 5; ++round) {
    leat_stream *stream = leati_stream_new(ctx);
    leat_event *event = leati_event_new(ctx);
    leat_case_trip trip;
    leati_trip_begin(ctx, &trip, stream, SIZE);
    leati_trip_put_slow(ctx, &trip, round);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    leati_stream_destroy(ctx, stream);
    if (polling) {
      leati_event_poll(ctx, event);
    } else {
      LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
    }
    leati_trip_check(ctx, &trip);
    leati_event_destroy(ctx, event);
    leati_trip_end(ctx, &trip);
  }
}

static void destroy_early(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_stream *reader = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  for (uint32_t round = 0; round < 20; ++round) {
    leat_event *event = leati_event_new(ctx);
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    if (round % 4 == 0) {
      leati_stream_load(ctx, stream);
    }
    leati_upload(ctx, stream, block, in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(reader, event, LEAT_ERR));
    /* Gone before what it stands for has finished, and before the stream that waits for it runs. */
    leati_event_destroy(ctx, event);
    leati_download(ctx, reader, block, out, SIZE);
    leati_synchronize(ctx, reader);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_stream_destroy(ctx, reader);
}

static void thousand(leat_case_context *ctx, const void *data) {
  enum { EVENTS = 1000 };
  leat_stream *stream = leati_stream_new(ctx);
  leat_event **events = g_new0(leat_event *, EVENTS);
  uint64_t block = leati_case_alloc(ctx, EVENTS, stream);
  uint8_t *in = g_malloc(EVENTS);
  uint8_t *out = g_malloc0(EVENTS);
  (void)data;
  leati_pattern(in, EVENTS, 6);
  for (int i = 0; i < EVENTS; ++i) {
    events[i] = leati_event_new(ctx);
  }
  for (int i = 0; i < EVENTS; i += 10) {
    leati_upload(ctx, stream, block + (uint64_t)i, in + i, 10);
    for (int j = i; j < i + 10; ++j) {
      LEAT_CHECK_OK(ctx, ctx->event->record(events[j], stream, LEAT_ERR));
    }
    leati_download(ctx, stream, block + (uint64_t)i, out + i, 10);
  }
  LEAT_CHECK_OK(ctx, ctx->event->record(events[EVENTS - 1], stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(events[EVENTS - 1], forever, LEAT_ERR));
  LEAT_CHECK_BYTES(ctx, in, out, EVENTS);
  /* All others were recorded before it in the same stream. */
  for (int i = 0; i < EVENTS; ++i) {
    LEAT_CHECK_OK(ctx, ctx->event->query(events[i], LEAT_ERR));
  }
  for (int i = 0; i < EVENTS; ++i) {
    leati_event_destroy(ctx, events[i]);
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  g_free(events);
  g_free(in);
  g_free(out);
}

/* ---- Threads ---- */

typedef struct {
  leat_event *event;
  leat_case_trip trip;
} waiting;

static void wait_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const waiting *job = data;
  if (index % 3 == 2) {
    leati_event_poll(ctx, job->event);
  } else {
    LEAT_CHECK_OK(ctx, ctx->event->wait(job->event, index % 3 == 0 ? forever : INT64_C(100000000000000), LEAT_ERR));
  }
  /* Whichever thread brought the bytes, they are there for all. */
  leati_trip_check(ctx, &job->trip);
}

static void wait_threads(leat_case_context *ctx, const void *data) {
  waiting job = {.event = leati_event_new(ctx)};
  leati_trip_begin(ctx, &job.trip, NULL, SIZE);
  for (uint32_t round = 0; round < 5; ++round) {
    leati_trip_put_slow(ctx, &job.trip, round);
    LEAT_CHECK_OK(ctx, ctx->event->record(job.event, job.trip.stream, LEAT_ERR));
    leati_threads_run(ctx, GPOINTER_TO_UINT(data), wait_thread, &job);
  }
  leati_trip_end(ctx, &job.trip);
  leati_event_destroy(ctx, job.event);
}

/* Waiters on the host of an event that is recorded again meanwhile. */
static void first_waiter(leat_case_context *ctx, uint32_t index, void *data) {
  waiting *job = data;
  (void)index;
  /* It may begin before or after the event is recorded again, and both points are behind the first trip. */
  LEAT_CHECK_OK(ctx, ctx->event->wait(job->event, forever, LEAT_ERR));
  leati_trip_check(ctx, &job->trip);
}

typedef struct {
  waiting first;
  leat_case_trip second;
} recorded_twice;

static void rerecord_thread(leat_case_context *ctx, uint32_t index, void *data) {
  recorded_twice *job = data;
  if (index > 0) {
    first_waiter(ctx, index, &job->first);
    return;
  }
  leati_trip_put_slow(ctx, &job->second, 99);
  LEAT_CHECK_OK(ctx, ctx->event->record(job->first.event, job->second.stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(job->first.event, forever, LEAT_ERR));
  leati_trip_check(ctx, &job->second);
}

static void record_while_waited(leat_case_context *ctx, const void *data) {
  recorded_twice job = {.first.event = leati_event_new(ctx)};
  (void)data;
  leati_trip_begin(ctx, &job.first.trip, NULL, SIZE);
  leati_trip_begin(ctx, &job.second, job.first.trip.stream, SIZE);
  for (uint32_t round = 0; round < 6; ++round) {
    leati_trip_put_slow(ctx, &job.first.trip, round);
    LEAT_CHECK_OK(ctx, ctx->event->record(job.first.event, job.first.trip.stream, LEAT_ERR));
    leati_threads_run(ctx, 5, rerecord_thread, &job);
  }
  leati_trip_end(ctx, &job.second);
  leati_trip_end(ctx, &job.first.trip);
  leati_event_destroy(ctx, job.first.event);
}

/* Half of the threads make, record and destroy events without pause; the other half wait for theirs. What an event is
 * made of is soon used again, and must not be mistaken for what it was before. */
static void reuse_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_case_trip trip;
  (void)data;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  if (index % 2 == 0) {
    for (int i = 0; i < 1000; ++i) {
      leat_event *event = leati_event_new(ctx);
      LEAT_CHECK_OK(ctx, ctx->event->query(event, LEAT_ERR));
      if (i % 50 == 0) {
        leati_trip_put(ctx, &trip, (uint32_t)i);
      }
      LEAT_CHECK_OK(ctx, ctx->event->record(event, trip.stream, LEAT_ERR));
      if (i % 50 == 49) {
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
        leati_trip_check(ctx, &trip);
      }
      leati_event_destroy(ctx, event);
    }
  } else {
    for (uint32_t i = 0; i < 25; ++i) {
      leat_event *event = leati_event_new(ctx);
      if (i % 5 == 0) {
        leati_stream_load(ctx, trip.stream);
      }
      leati_trip_put(ctx, &trip, 1000 * index + i);
      LEAT_CHECK_OK(ctx, ctx->event->record(event, trip.stream, LEAT_ERR));
      if (i % 2 == 0) {
        LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
      } else {
        leati_event_poll(ctx, event);
      }
      leati_trip_check(ctx, &trip);
      leati_event_destroy(ctx, event);
    }
  }
  leati_trip_end(ctx, &trip);
}

static void reuse(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_threads_run(ctx, 8, reuse_thread, NULL);
}

/* Events of the same work go while others wait for it by an event of their own. */
typedef struct {
  leat_case_trip trip;
  leat_event *events[6];
} shared_work;

static void destroy_thread(leat_case_context *ctx, uint32_t index, void *data) {
  shared_work *work = data;
  if (index % 2 == 0) {
    LEAT_CHECK_OK(ctx, ctx->event->wait(work->events[index], forever, LEAT_ERR));
    leati_trip_check(ctx, &work->trip);
  }
  leati_event_destroy(ctx, work->events[index]);
}

static void destroy_while_waited(leat_case_context *ctx, const void *data) {
  shared_work work;
  (void)data;
  leati_trip_begin(ctx, &work.trip, NULL, SIZE);
  for (uint32_t round = 0; round < 10; ++round) {
    leati_trip_put_slow(ctx, &work.trip, round);
    for (int i = 0; i < 6; ++i) {
      work.events[i] = leati_event_new(ctx);
      LEAT_CHECK_OK(ctx, ctx->event->record(work.events[i], work.trip.stream, LEAT_ERR));
    }
    leati_threads_run(ctx, 6, destroy_thread, &work);
  }
  leati_trip_end(ctx, &work.trip);
}

/* One stream writes, fifteen read what it wrote, the first one waits for all of them and writes again. */
static void fan(leat_case_context *ctx, const void *data) {
  enum { READERS = 15, ROUNDS = 6 };
  leat_stream *readers[READERS];
  leat_event *read[READERS];
  uint64_t copies[READERS];
  uint8_t *out = g_malloc(READERS * SIZE);
  leat_event *written = leati_event_new(ctx);
  leat_case_trip trip;
  (void)data;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  for (int i = 0; i < READERS; ++i) {
    readers[i] = leati_stream_new(ctx);
    read[i] = leati_event_new(ctx);
    copies[i] = leati_case_alloc(ctx, SIZE, readers[i]);
  }
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    uint8_t in[SIZE];
    leati_pattern(in, SIZE, round);
    memset(out, 0, READERS * SIZE);
    if (round % 2 == 0) {
      leati_stream_load(ctx, trip.stream);
    }
    leati_upload(ctx, trip.stream, trip.block, in, SIZE);
    LEAT_CHECK_OK(ctx, ctx->event->record(written, trip.stream, LEAT_ERR));
    for (int i = 0; i < READERS; ++i) {
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(readers[i], written, LEAT_ERR));
      if (i % 6 == 0) {
        leati_stream_load(ctx, readers[i]);
      }
      leati_copy(ctx, readers[i], trip.block, copies[i], SIZE);
      leati_download(ctx, readers[i], copies[i], out + i * SIZE, SIZE);
      LEAT_CHECK_OK(ctx, ctx->event->record(read[i], readers[i], LEAT_ERR));
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(trip.stream, read[i], LEAT_ERR));
    }
    /* Written over at once: the readers were first. */
    leati_trip_put(ctx, &trip, 1000 + round);
    leati_synchronize(ctx, trip.stream);
    leati_trip_check(ctx, &trip);
    for (int i = 0; i < READERS; ++i) {
      LEAT_CHECK_OK(ctx, ctx->event->wait(read[i], forever, LEAT_ERR));
      LEAT_CHECK_BYTES(ctx, in, out + i * SIZE, SIZE);
    }
  }
  for (int i = 0; i < READERS; ++i) {
    leati_case_free(ctx, copies[i]);
    leati_event_destroy(ctx, read[i]);
    leati_stream_destroy(ctx, readers[i]);
  }
  leati_event_destroy(ctx, written);
  leati_trip_end(ctx, &trip);
  g_free(out);
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
  for (int i = 0; i < 4; ++i) {
    job.streams[i] = leati_stream_new(ctx);
  }
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

/* The longest work that is tried, as a power of two of leati_stream_load(), where a case must find work unfinished. A
 * correct plugin on any machine is caught at it long before; one that waits where it must not never is. */
enum { LONGEST = 9 };

/* Puts 2^`attempt` times the slow work into the stream. */
static void put_long(leat_case_context *ctx, leat_stream *stream, int attempt) {
  for (int i = 0; i < 1 << attempt; ++i) {
    leati_stream_load(ctx, stream);
  }
}

static void timing_not_ready(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *start = timing_event(ctx);
  leat_event *end = timing_event(ctx);
  double between = 0.0;
  int32_t status = LEAT_OK;
  (void)data;
  for (int attempt = 0; attempt <= LONGEST && status == LEAT_OK; ++attempt) {
    LEAT_CHECK_OK(ctx, ctx->event->record(start, stream, LEAT_ERR));
    put_long(ctx, stream, attempt);
    LEAT_CHECK_OK(ctx, ctx->event->record(end, stream, LEAT_ERR));
    status = ctx->event->elapsed(start, end, &between, NULL);
    LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_NOT_READY, status);
    leati_synchronize(ctx, stream);
    LEAT_CHECK_OK(ctx, ctx->event->elapsed(start, end, &between, LEAT_ERR));
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_ERROR_NOT_READY,
                     "elapsed() never said LEAT_ERROR_NOT_READY of an event behind work of any length: does it wait?");
  leati_event_destroy(ctx, start);
  leati_event_destroy(ctx, end);
  leati_stream_destroy(ctx, stream);
}

static void timing_unrecorded(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *recorded = timing_event(ctx);
  leat_event *never = timing_event(ctx);
  double between = 0.0;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->event->record(recorded, stream, LEAT_ERR));
  leati_synchronize(ctx, stream);
  LEAT_CHECK_FAILS(ctx, ctx->event->elapsed(recorded, never, &between, LEAT_ERR));
  LEAT_CHECK_FAILS(ctx, ctx->event->elapsed(never, recorded, &between, LEAT_ERR));
  LEAT_CHECK_FAILS(ctx, ctx->event->elapsed(never, never, &between, LEAT_ERR));
  leati_event_destroy(ctx, never);
  leati_event_destroy(ctx, recorded);
  leati_stream_destroy(ctx, stream);
}

/* Three times of one clock: a difference may be rounded to a tick of it, and no device's tick is longer than this. */
static const double tick_ns = 1000.0;

static void timing_adds_up(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *events[3] = {timing_event(ctx), timing_event(ctx), timing_event(ctx)};
  (void)data;
  /* In the second round the same events again: what they stood for is forgotten. */
  for (int round = 0; round < 2; ++round) {
    double first = -1.0;
    double second = -1.0;
    double both = -1.0;
    double none = -1.0;
    for (int i = 0; i < 3; ++i) {
      LEAT_CHECK_OK(ctx, ctx->event->record(events[i], stream, LEAT_ERR));
      if (i < 2) {
        leati_stream_load(ctx, stream);
      }
    }
    LEAT_CHECK_OK(ctx, ctx->event->wait(events[2], forever, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->elapsed(events[0], events[1], &first, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->elapsed(events[1], events[2], &second, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->elapsed(events[0], events[2], &both, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->elapsed(events[1], events[1], &none, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, first >= 0.0 && second >= 0.0 && none == 0.0,
                       "%g ns and %g ns passed, and %g ns between an event and itself", first, second, none);
    LEAT_CHECK_MESSAGE(ctx, both - first - second <= 2.0 * tick_ns && first + second - both <= 2.0 * tick_ns,
                       "%g ns and %g ns are %g ns together", first, second, both);
  }
  for (int i = 0; i < 3; ++i) {
    leati_event_destroy(ctx, events[i]);
  }
  leati_stream_destroy(ctx, stream);
}

static void timing_alone(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_stream *busy = leati_stream_new(ctx);
  leat_event *start = timing_event(ctx);
  leat_event *end = timing_event(ctx);
  leat_event *other = leati_event_new(ctx);
  int32_t status = LEAT_OK;
  (void)data;
  for (int attempt = 0; attempt <= LONGEST && status == LEAT_OK; ++attempt) {
    double between = -1.0;
    LEAT_CHECK_OK(ctx, ctx->event->record(start, stream, LEAT_ERR));
    leati_stream_load(ctx, stream);
    LEAT_CHECK_OK(ctx, ctx->event->record(end, stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->wait(end, forever, LEAT_ERR));
    put_long(ctx, busy, attempt);
    LEAT_CHECK_OK(ctx, ctx->event->record(other, busy, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->elapsed(start, end, &between, LEAT_ERR));
    LEAT_CHECK(ctx, between >= 0.0);
    status = ctx->event->query(other, NULL);
    LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_NOT_READY, status);
    leati_synchronize(ctx, busy);
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_ERROR_NOT_READY,
                     "after elapsed() the work of another stream had always finished, however long: does it wait?");
  leati_event_destroy(ctx, start);
  leati_event_destroy(ctx, end);
  leati_event_destroy(ctx, other);
  leati_stream_destroy(ctx, stream);
  leati_stream_destroy(ctx, busy);
}

/* Two times taken in different streams. Where their queues have no common clock the plugin says so. */
static void timing_across(leat_case_context *ctx, const void *data) {
  leat_stream *streams[8];
  leat_event *events[8];
  (void)data;
  for (int i = 0; i < 8; ++i) {
    streams[i] = leati_stream_new(ctx);
    events[i] = timing_event(ctx);
    if (i > 0) {
      LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[i], events[i - 1], LEAT_ERR));
    }
    leati_stream_load(ctx, streams[i]);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[i], streams[i], LEAT_ERR));
  }
  LEAT_CHECK_OK(ctx, ctx->event->wait(events[7], forever, LEAT_ERR));
  for (int i = 1; i < 8; ++i) {
    double between = -1.0;
    const int32_t status = ctx->event->elapsed(events[i - 1], events[i], &between, LEAT_ERR);
    LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_NOT_SUPPORTED, status);
    LEAT_CHECK_MESSAGE(ctx, status != LEAT_OK || between >= 0.0,
                       "stream %d waited for stream %d and was %g ns before it", i, i - 1, -between);
  }
  for (int i = 0; i < 8; ++i) {
    leati_event_destroy(ctx, events[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
}

/* A sync file of an event, or -1; ends the case where there are none. */
static int32_t sync_file(leat_case_context *ctx, leat_event *event) {
  int32_t fd = -2;
  if (ctx->event->export_sync_fd == NULL) {
    leati_case_skip(ctx, "leat_event_api::export_sync_fd is NULL");
  }
  const int32_t status = ctx->event->export_sync_fd(event, &fd, LEAT_ERR);
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    leati_case_skip(ctx, "the device has no sync files");
  }
  LEAT_CHECK_STATUS(ctx, LEAT_OK, status);
  LEAT_CHECK_MESSAGE(ctx, fd >= -1, "the descriptor is %d", fd);
  return fd;
}

/* Waits for a descriptor as an event loop does, and closes it. */
static void await_sync_file(leat_case_context *ctx, int32_t fd) {
  struct pollfd what = {.fd = fd, .events = POLLIN};
  int count;
  do {
    count = poll(&what, 1, -1);
  } while (count < 0 && errno == EINTR);
  LEAT_CHECK_MESSAGE(ctx, count == 1 && (what.revents & POLLIN) != 0, "poll() gives %d and events 0x%x", count,
                     (unsigned)what.revents);
  LEAT_CHECK_MESSAGE(ctx, (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "the descriptor outlives exec");
  LEAT_CHECK_MESSAGE(ctx, close(fd) == 0, "the descriptor cannot be closed");
}

static void sync_file_tells(leat_case_context *ctx, const void *data) {
  leat_event *event = leati_event_new(ctx);
  leat_case_trip trip;
  (void)data;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  for (uint32_t round = 0; round < 5; ++round) {
    leati_trip_put_slow(ctx, &trip, round);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, trip.stream, LEAT_ERR));
    const int32_t fd = sync_file(ctx, event);
    if (fd >= 0) {
      await_sync_file(ctx, fd);
    }
    LEAT_CHECK_OK(ctx, ctx->event->query(event, LEAT_ERR));
    leati_trip_check(ctx, &trip);
  }
  leati_trip_end(ctx, &trip);
  leati_event_destroy(ctx, event);
}

static void sync_file_finished(leat_case_context *ctx, const void *data) {
  leat_event *event = leati_event_new(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  LEAT_CHECK_MESSAGE(ctx, sync_file(ctx, event) == -1, "an event that was never recorded has a descriptor");
  LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->wait(event, forever, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, sync_file(ctx, event) == -1, "an event that has finished has a descriptor");
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->export_sync_fd(event, NULL, LEAT_ERR));
  leati_event_destroy(ctx, event);
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
    {.name = "event.record.again_while_others_wait",
     .summary = "Threads that wait for an event which is recorded again see what it stood for first.",
     .run = record_while_waited},
    {.name = "event.reuse.thousands_while_others_wait",
     .summary = "Events that are made, recorded and destroyed by the thousand do not disturb those that wait.",
     .run = reuse},
    {.name = "event.destroy.others_wait_for_the_same_work",
     .summary = "An event is destroyed while threads wait for the same work by events of their own.",
     .run = destroy_while_waited},
    {.name = "event.wait_event.fans_out_and_in",
     .summary = "Fifteen streams wait for one and one for fifteen; readers are done before the writer goes on.",
     .run = fan},
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
    {.name = "event.timing.unfinished_is_not_ready",
     .summary = "Asking for the time of an event that has not finished says so and does not wait.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_not_ready},
    {.name = "event.timing.unrecorded_is_an_error",
     .summary = "Asking for the time of an event that was never recorded fails.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_unrecorded},
    {.name = "event.timing.times_add_up",
     .summary = "Times between three events are not negative and add up, also when they are recorded again.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_adds_up},
    {.name = "event.timing.other_streams_are_not_waited_for",
     .summary = "Asking for a time leaves work of another stream in flight.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_alone},
    {.name = "event.timing.across_streams",
     .summary = "Times in streams that wait for each other go up, or the plugin has no common clock and says so.",
     .needs_capability = LEAT_CAPABILITY_EVENT_TIMING,
     .run = timing_across},
    {.name = "event.sync_fd.readable_when_finished",
     .summary = "A sync file is readable only when query() says that the work has finished, and then soon.",
     .run = sync_file_tells},
    {.name = "event.sync_fd.none_when_finished",
     .summary = "An event that was never recorded, or has finished, has the sync file -1.",
     .run = sync_file_finished},
};

void leati_cases_event(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
