/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_stream_api: order, submission, waiting, destruction, sharing between threads.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

enum { SIZE = 4001 };

static void create_bad(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = NULL;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->create(NULL, 0, &stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->create(device, 0, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->create(device, 1, &stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->stream->create(device, UINT64_C(1) << 63, &stream, LEAT_ERR));
}

static void null_streams(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->stream->destroy(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->flush(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->synchronize(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->query(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->wait_event(NULL, event, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->wait_event(stream, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->error(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->clear_error(NULL, LEAT_ERR));
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
}

static void empty(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->stream->query(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->synchronize(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->error(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->clear_error(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->query(stream, NULL));
  LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, NULL));
  leati_stream_destroy(ctx, stream);
}

/* Bytes through a loaded stream; `finish` waits in the way that the case is about. */
static void deliver(leat_case_context *ctx, void (*finish)(leat_case_context *ctx, leat_stream *stream)) {
  leat_case_trip trip;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  for (uint32_t round = 0; round < 4; ++round) {
    leati_trip_put_slow(ctx, &trip, round);
    finish(ctx, trip.stream);
    leati_trip_check(ctx, &trip);
  }
  leati_trip_end(ctx, &trip);
}

static void synchronize_delivers(leat_case_context *ctx, const void *data) {
  (void)data;
  deliver(ctx, leati_synchronize);
}

static void query_delivers(leat_case_context *ctx, const void *data) {
  (void)data;
  deliver(ctx, leati_stream_poll);
}

static void flush_then_query(leat_case_context *ctx, leat_stream *stream) {
  LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
  leati_stream_poll(ctx, stream);
}

static void flush_delivers(leat_case_context *ctx, const void *data) {
  (void)data;
  deliver(ctx, flush_then_query);
}

static void order_copies(leat_case_context *ctx, const void *data) {
  enum { BLOCKS = 6, ROUNDS = 20 };
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t blocks[BLOCKS];
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  (void)data;
  for (int i = 0; i < BLOCKS; ++i) {
    blocks[i] = leati_case_alloc(ctx, SIZE, stream);
  }
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    leati_pattern(in, SIZE, round);
    memset(out, 0, SIZE);
    leati_upload(ctx, stream, blocks[0], in, SIZE);
    /* Each copy reads what the one before wrote; some in a submission of their own. */
    for (int i = 1; i < BLOCKS; ++i) {
      leati_copy(ctx, stream, blocks[i - 1], blocks[i], SIZE);
      if ((round + (uint32_t)i) % 3 == 0) {
        LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
      }
    }
    leati_download(ctx, stream, blocks[BLOCKS - 1], out, SIZE);
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  }
  for (int i = 0; i < BLOCKS; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  leati_stream_destroy(ctx, stream);
}

static void order_ops(leat_case_context *ctx, const void *data) {
  const gboolean flushing = GPOINTER_TO_INT(data);
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  leati_sum_begin(ctx, &sum, stream, 1000);
  for (int i = 0; i < 60; ++i) {
    leati_sum_step(ctx, &sum, stream);
    if (flushing) {
      LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
    }
  }
  leati_sum_check(ctx, &sum, stream);
  leati_sum_end(ctx, &sum);
  leati_stream_destroy(ctx, stream);
}

static void write_after_read(leat_case_context *ctx, const void *data) {
  enum { COUNT = 5000, STEPS = 30 };
  const int64_t shape[1] = {COUNT};
  leat_op *add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 1);
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t input = leati_case_alloc(ctx, COUNT * sizeof(float), stream);
  uint64_t sums = leati_case_alloc(ctx, STEPS * COUNT * sizeof(float), stream);
  float *values = g_new(float, COUNT);
  float *out = g_new0(float, STEPS *COUNT);
  leat_case_tensor view;
  leat_case_tensor sum;
  const leat_case_tensor *inputs[2] = {&view, &view};
  (void)data;
  leati_case_tensor_device(ctx, &view, input, LEAT_F32, 1, shape);
  /* The input is overwritten right after each operator that reads it. */
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < COUNT; ++i) {
      values[i] = (float)(step * 10 + i % 7);
    }
    leati_upload(ctx, stream, input, values, COUNT * sizeof(float));
    leati_case_tensor_device(ctx, &sum, sums + (uint64_t)step * COUNT * sizeof(float), LEAT_F32, 1, shape);
    leati_op_invoke(ctx, add, stream, 2, inputs, &sum);
  }
  leati_download(ctx, stream, sums, out, STEPS * COUNT * sizeof(float));
  leati_synchronize(ctx, stream);
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < COUNT; ++i) {
      float want = (float)(2 * (step * 10 + i % 7));
      float have = out[step * COUNT + i];
      LEAT_CHECK_MESSAGE(ctx, have == want, "sum %d, element %d is %g, expected %g", step, i, (double)have,
                         (double)want);
    }
  }
  leati_case_free(ctx, input);
  leati_case_free(ctx, sums);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, add);
  g_free(values);
  g_free(out);
}

static void hundred(leat_case_context *ctx, const void *data) {
  enum { STREAMS = 100, BYTES = 500 };
  leat_stream *streams[STREAMS];
  uint64_t blocks[STREAMS];
  uint8_t *in = g_malloc(STREAMS * BYTES);
  uint8_t *out = g_malloc0(STREAMS * BYTES);
  (void)data;
  for (uint32_t i = 0; i < STREAMS; ++i) {
    streams[i] = leati_stream_new(ctx);
    for (uint32_t j = 0; j < i; ++j) {
      LEAT_CHECK_MESSAGE(ctx, streams[i] != streams[j], "streams %u and %u have one handle", j, i);
    }
    blocks[i] = leati_case_alloc(ctx, BYTES, streams[i]);
    leati_pattern(in + i * BYTES, BYTES, i);
    leati_upload(ctx, streams[i], blocks[i], in + i * BYTES, BYTES);
  }
  for (uint32_t i = 0; i < STREAMS; ++i) {
    leati_download(ctx, streams[i], blocks[i], out + i * BYTES, BYTES);
  }
  for (uint32_t i = 0; i < STREAMS; ++i) {
    leati_synchronize(ctx, streams[STREAMS - 1 - i]);
  }
  LEAT_CHECK_BYTES(ctx, in, out, STREAMS * BYTES);
  for (uint32_t i = 0; i < STREAMS; ++i) {
    leati_case_free(ctx, blocks[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
  g_free(in);
  g_free(out);
}

static void many_short(leat_case_context *ctx, const void *data) {
  uint8_t in[100];
  uint8_t out[100];
  uint64_t block = leati_case_alloc(ctx, sizeof(in), NULL);
  (void)data;
  /* More than any pool holds, so that what a stream is made of must come back. */
  for (uint32_t i = 0; i < 300; ++i) {
    leat_stream *stream = leati_stream_new(ctx);
    leati_pattern(in, sizeof(in), i);
    leati_upload(ctx, stream, block, in, sizeof(in));
    leati_download(ctx, stream, block, out, sizeof(out));
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
    leati_stream_destroy(ctx, stream);
  }
  leati_case_free(ctx, block);
}

static void destroy_in_flight(leat_case_context *ctx, const void *data) {
  const gboolean flushed = GPOINTER_TO_INT(data);
  leat_stream *reader = leati_stream_new(ctx);
  uint64_t blocks[8];
  uint8_t in[SIZE];
  uint8_t out[SIZE];
  for (uint32_t i = 0; i < 8; ++i) {
    leat_stream *stream = leati_stream_new(ctx);
    blocks[i] = leati_case_alloc(ctx, SIZE, NULL);
    leati_pattern(in, SIZE, i);
    leati_stream_load(ctx, stream);
    leati_upload(ctx, stream, blocks[i], in, SIZE);
    if (flushed) {
      LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
    }
    leati_stream_destroy(ctx, stream);
  }
  /* What was in the streams still runs, and synchronising the device covers it. */
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  for (uint32_t i = 0; i < 8; ++i) {
    leati_pattern(in, SIZE, i);
    memset(out, 0, SIZE);
    leati_download(ctx, reader, blocks[i], out, SIZE);
    leati_synchronize(ctx, reader);
    LEAT_CHECK_BYTES(ctx, in, out, SIZE);
    leati_case_free(ctx, blocks[i]);
  }
  leati_stream_destroy(ctx, reader);
}

/* ---- Sharing ---- */

typedef struct {
  leat_stream *stream;
  leat_op *add;
} shared_stream;

static void share_thread(leat_case_context *ctx, uint32_t index, void *data) {
  enum { COUNT = 300, ROUNDS = 15 };
  const shared_stream *shared = data;
  const int64_t shape[1] = {COUNT};
  uint64_t block = leati_case_alloc(ctx, 2 * COUNT * sizeof(float), shared->stream);
  float in[COUNT];
  float out[COUNT];
  leat_case_tensor a;
  leat_case_tensor b;
  const leat_case_tensor *inputs[2] = {&a, &a};
  leati_case_tensor_device(ctx, &a, block, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &b, block + sizeof(in), LEAT_F32, 1, shape);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i) {
      in[i] = (float)((int)index * 1000 + round * 10 + i);
    }
    memset(out, 0, sizeof(out));
    leati_upload(ctx, shared->stream, block, in, sizeof(in));
    leati_op_invoke(ctx, shared->add, shared->stream, 2, inputs, &b);
    leati_download(ctx, shared->stream, block + sizeof(in), out, sizeof(out));
    leati_synchronize(ctx, shared->stream);
    for (int i = 0; i < COUNT; ++i) {
      LEAT_CHECK_MESSAGE(ctx, out[i] == 2.0f * in[i], "thread %u, round %d, element %d is %g, expected %g", index,
                         round, i, (double)out[i], 2.0 * (double)in[i]);
    }
  }
  leati_case_free(ctx, block);
}

static void share(leat_case_context *ctx, const void *data) {
  shared_stream shared = {.add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 1), .stream = leati_stream_new(ctx)};
  leati_threads_run(ctx, GPOINTER_TO_UINT(data), share_thread, &shared);
  leati_stream_destroy(ctx, shared.stream);
  leati_op_destroy(ctx, shared.add);
}

static void wait_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const leat_case_trip *trip = data;
  if (index % 2 == 0) {
    leati_synchronize(ctx, trip->stream);
  } else {
    leati_stream_poll(ctx, trip->stream);
  }
  leati_trip_check(ctx, trip);
}

static void synchronize_threads(leat_case_context *ctx, const void *data) {
  leat_case_trip trip;
  (void)data;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  for (uint32_t round = 0; round < 4; ++round) {
    leati_trip_put_slow(ctx, &trip, round);
    leati_threads_run(ctx, 8, wait_thread, &trip);
  }
  leati_trip_end(ctx, &trip);
}

static void failed_call(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, SIZE, stream);
  uint8_t in[SIZE];
  uint8_t out[SIZE] = {0};
  leat_case_tensor host;
  leat_case_tensor view;
  const int64_t shape[1] = {SIZE + 1};
  (void)data;
  leati_pattern(in, SIZE, 7);
  leati_upload(ctx, stream, block, in, SIZE);
  leati_case_tensor_host(&host, out, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
  /* A refusal is not a failure of the stream's work: nothing is sticky. */
  LEAT_CHECK_OK(ctx, ctx->stream->error(stream, LEAT_ERR));
  leati_download(ctx, stream, block, out, SIZE);
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, in, out, SIZE);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

/* An operator with one input and `outputs` outputs, in domain "". */
static leat_op *new_split(leat_case_context *ctx, uint32_t outputs) {
  const int64_t shape[1] = {-1};
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 1, .dtype = LEAT_F32, .shape = shape};
  const leat_value_info *inputs[1] = {&info};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = "Split",
                             .domain = "",
                             .input_count = 1,
                             .output_count = outputs,
                             .inputs = inputs};
  leat_op *op = NULL;
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &op, LEAT_ERR));
  return op;
}

/* Between good operators come bad ones, each with something about it that is fine: nothing of them is recorded. */
static void failed_operator(leat_case_context *ctx, const void *data) {
  enum { COUNT = 600, STEPS = 12, BYTES = COUNT * sizeof(float) };
  const int64_t shape[1] = {COUNT};
  const int64_t half[1] = {COUNT / 2};
  leat_op *add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 1);
  leat_op *split = new_split(ctx, 2);
  leat_stream *stream = leati_stream_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 4 * BYTES, stream);
  uint64_t gone = leati_case_alloc(ctx, BYTES, stream);
  float values[4 * COUNT];
  float out[4 * COUNT] = {0};
  leat_case_tensor ones;
  leat_case_tensor sums[2];
  leat_case_tensor victim;
  leat_case_tensor dead;
  leat_case_tensor longer;
  (void)data;
  for (int i = 0; i < COUNT; ++i) {
    values[i] = (float)i;
    values[COUNT + i] = 1.0f;
    values[2 * COUNT + i] = -1.0f;
    values[3 * COUNT + i] = (float)(7 * i);
  }
  leati_case_tensor_device(ctx, &sums[0], block, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &ones, block + BYTES, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &sums[1], block + 2 * BYTES, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &victim, block + 3 * BYTES, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &dead, gone, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &longer, block, LEAT_F32, 1, (const int64_t[]){COUNT + 1});
  leati_case_free(ctx, gone);
  leati_upload(ctx, stream, block, values, sizeof(values));
  for (int i = 0; i < STEPS; ++i) {
    const leat_case_tensor *from = &sums[i % 2];
    const DLTensor *inputs[2] = {&from->tensor, &ones.tensor};
    const DLTensor *outputs[2] = {&victim.tensor, &dead.tensor};
    leati_op_invoke(ctx, add, stream, 2, (const leat_case_tensor *[]){from, &ones}, &sums[(i + 1) % 2]);
    switch (i % 4) {
      case 0: /* the second input is not there any more */
        inputs[1] = &dead.tensor;
        LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                          ctx->op->invoke(add, stream, 2, inputs, 1, outputs, LEAT_ERR));
        break;
      case 1: /* the inputs do not fit each other */
        inputs[1] = &longer.tensor;
        LEAT_CHECK_FAILS(ctx, ctx->op->invoke(add, stream, 2, inputs, 1, outputs, LEAT_ERR));
        break;
      case 2: /* the output is too small for the inputs */
        victim.shape[0] = COUNT / 2;
        LEAT_CHECK_FAILS(ctx, ctx->op->invoke(add, stream, 2, inputs, 1, outputs, LEAT_ERR));
        victim.shape[0] = COUNT;
        break;
      default: /* the first output is fine, the second is not there any more */
        victim.shape[0] = half[0];
        dead.shape[0] = half[0];
        LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                          ctx->op->invoke(split, stream, 1, inputs, 2, outputs, LEAT_ERR));
        victim.shape[0] = COUNT;
        dead.shape[0] = COUNT;
        break;
    }
    LEAT_CHECK_OK(ctx, ctx->stream->error(stream, LEAT_ERR));
  }
  leati_download(ctx, stream, block, out, sizeof(out));
  leati_synchronize(ctx, stream);
  for (int i = 0; i < COUNT; ++i) {
    LEAT_CHECK_MESSAGE(ctx, out[i] == (float)(i + STEPS), "element %d is %g after %d additions, expected %d", i,
                       (double)out[i], STEPS, i + STEPS);
  }
  /* What the failed ones would have written to. */
  LEAT_CHECK_BYTES(ctx, values + 3 * COUNT, out + 3 * COUNT, BYTES);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, split);
  leati_op_destroy(ctx, add);
}

/* One sum that is carried on by a chain of operators over sixteen streams, each waiting for the one before by an event.
 * On a device with several queues the chain crosses them. */
static void hops(leat_case_context *ctx, const void *data) {
  enum { STREAMS = 16 };
  leat_stream *streams[STREAMS];
  leat_event *events[STREAMS];
  leat_case_sum sum;
  int at = 0;
  (void)data;
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = leati_stream_new(ctx);
    events[i] = leati_event_new(ctx);
  }
  leati_sum_begin(ctx, &sum, streams[0], 900);
  for (int i = 0; i < 200; ++i) {
    /* Steps of 5 meet all sixteen; now and then it stays where it is. */
    const int next = i % 9 == 8 ? at : (at + 5) % STREAMS;
    leati_sum_step(ctx, &sum, streams[at]);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[at], streams[at], LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(streams[next], events[at], LEAT_ERR));
    at = next;
  }
  leati_sum_check(ctx, &sum, streams[at]);
  leati_sum_end(ctx, &sum);
  for (int i = 0; i < STREAMS; ++i) {
    leati_event_destroy(ctx, events[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
}

/* A hundred streams at once are destroyed with their work open or in flight, twice over. */
static void hundred_in_flight(leat_case_context *ctx, const void *data) {
  enum { STREAMS = 100, BYTES = 700 };
  leat_case_trip trips[STREAMS];
  leat_event *events[STREAMS];
  (void)data;
  for (uint32_t round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < STREAMS; ++i) {
      leat_stream *stream = leati_stream_new(ctx);
      events[i] = leati_event_new(ctx);
      leati_trip_begin(ctx, &trips[i], stream, BYTES);
      if (i % 25 == 0) {
        leati_stream_load(ctx, stream);
      }
      leati_trip_put(ctx, &trips[i], round * STREAMS + i);
      /* The event flushes; what comes after it is still open when the stream goes. */
      LEAT_CHECK_OK(ctx, ctx->event->record(events[i], stream, LEAT_ERR));
      leati_copy(ctx, stream, trips[i].block, trips[i].block + BYTES / 2, BYTES / 2);
    }
    for (uint32_t i = 0; i < STREAMS; ++i) {
      leati_stream_destroy(ctx, trips[i].stream);
    }
    for (uint32_t i = 0; i < STREAMS; ++i) {
      LEAT_CHECK_OK(ctx, ctx->event->wait(events[STREAMS - 1 - i], -1, LEAT_ERR));
      leati_trip_check(ctx, &trips[STREAMS - 1 - i]);
    }
    for (uint32_t i = 0; i < STREAMS; ++i) {
      leati_event_destroy(ctx, events[i]);
      leati_trip_end(ctx, &trips[i]);
    }
  }
}

static void info_of_own(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_stream_info info;
  struct {
    leat_stream_info known;
    uint64_t tail;
  } longer;
  (void)data;
  memset(&info, 0x5a, sizeof(info));
  info.struct_size = sizeof(info);
  LEAT_CHECK_OK(ctx, ctx->stream->info(stream, &info, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, info.pool_index == -1 && info.flags == 0,
                     "a stream of create() says pool_index %d and flags 0x%x, expected -1 and 0", info.pool_index,
                     (unsigned)info.flags);
  LEAT_CHECK_U64(ctx, 0, info.reserved);
  memset(&longer, 0, sizeof(longer));
  longer.known.struct_size = sizeof(longer);
  LEAT_CHECK_OK(ctx, ctx->stream->info(stream, &longer.known, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, longer.tail);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->info(NULL, &info, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->info(stream, NULL, LEAT_ERR));
  info.struct_size = sizeof(info) - 8;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->info(stream, &info, LEAT_ERR));
  leati_stream_destroy(ctx, stream);
}

/* A second device, or the case is not supported. Opened; the caller closes it. */
static leat_device *second_device(leat_case_context *ctx) {
  uint32_t count = 0;
  leat_device *other = NULL;
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  if (count < 2) {
    leati_case_skip(ctx, "there is one device; this needs two");
  }
  LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index == 0 ? 1 : 0, &other, LEAT_ERR));
  return other;
}

static void other_device(leat_case_context *ctx, const void *data) {
  leat_device *other = second_device(ctx);
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *mine = leati_stream_new(ctx);
  leat_stream *foreign = NULL;
  leat_event *event = leati_event_new(ctx);
  uint64_t block = leati_case_alloc(ctx, 16, mine);
  uint64_t address = 0;
  uint8_t in[16] = {0};
  leat_case_tensor host;
  leat_case_tensor view;
  const int64_t shape[1] = {16};
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->stream->create(other, 0, &foreign, LEAT_ERR));
  leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->copy(foreign, &host.tensor, &view.tensor, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->event->record(event, foreign, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->event->record(event, mine, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->wait_event(foreign, event, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->alloc(device, 16, foreign, &address, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->record_stream(device, block, foreign, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->destroy(foreign, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->device->close(other, LEAT_ERR));
  leati_case_free(ctx, block);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, mine);
}

static const leat_case cases[] = {
    {.name = "stream.create.bad_arguments_are_refused",
     .summary = "NULL and unknown flags are invalid.",
     .run = create_bad},
    {.name = "stream.create.hundred_at_once",
     .summary = "A hundred streams are distinct and all of their data is right.",
     .run = hundred},
    {.name = "stream.create.three_hundred_one_after_the_other",
     .summary = "Streams can be made, used and destroyed without end.",
     .run = many_short},
    {.name = "stream.arguments.null_is_invalid",
     .summary = "NULL is invalid for every call but destroy, where it does nothing.",
     .run = null_streams},
    {.name = "stream.empty.everything_is_finished",
     .summary = "An empty stream is finished, without error, and may be flushed and waited for.",
     .run = empty},
    {.name = "stream.synchronize.delivers_downloads",
     .summary = "Synchronising returns when the downloads have arrived.",
     .run = synchronize_delivers},
    {.name = "stream.synchronize.eight_threads_at_once",
     .summary = "Threads that wait for one stream by synchronising and by asking all find the bytes there.",
     .run = synchronize_threads},
    {.name = "stream.query.ok_means_delivered",
     .summary = "Asking makes the stream run; when it says finished, the downloads have arrived.",
     .run = query_delivers},
    {.name = "stream.flush.makes_work_run",
     .summary = "A flushed stream finishes; flushing twice is harmless.",
     .run = flush_delivers},
    {.name = "stream.order.copies_follow_each_other",
     .summary = "A chain of copies over one or several submissions sees each other's writes.",
     .run = order_copies},
    {.name = "stream.order.operators_follow_each_other",
     .summary = "Sixty dependent additions in one submission give the right sum.",
     .run = order_ops},
    {.name = "stream.order.operators_follow_each_other_across_flushes",
     .summary = "Sixty dependent additions in sixty submissions give the right sum.",
     .run = order_ops,
     .data = GINT_TO_POINTER(1)},
    {.name = "stream.order.inputs_are_read_before_they_are_overwritten",
     .summary = "An upload over the input of an operator waits for it.",
     .run = write_after_read},
    {.name = "stream.destroy.open_work_still_runs",
     .summary = "What is in a stream when it is destroyed runs, and synchronising the device covers it.",
     .run = destroy_in_flight},
    {.name = "stream.destroy.work_in_flight_still_runs",
     .summary = "What was flushed before a stream is destroyed runs to its end.",
     .run = destroy_in_flight,
     .data = GINT_TO_POINTER(1)},
    {.name = "stream.threads.two_on_one_stream",
     .summary = "Two threads on one stream interleave whole operations; both get right results.",
     .run = share,
     .data = GUINT_TO_POINTER(2)},
    {.name = "stream.threads.eight_on_one_stream",
     .summary = "Eight threads on one stream interleave whole operations; all get right results.",
     .run = share,
     .data = GUINT_TO_POINTER(8)},
    {.name = "stream.error.refused_call_leaves_no_trace",
     .summary = "A call that is refused leaves the stream without error and usable.",
     .run = failed_call},
    {.name = "stream.error.failed_operator_leaves_no_trace",
     .summary = "Operators that fail between good ones write nothing and leave the stream as it was.",
     .run = failed_operator},
    {.name = "stream.order.two_hundred_steps_over_sixteen_streams",
     .summary = "A chain of operators that goes from stream to stream by events gives the exact result.",
     .run = hops},
    {.name = "stream.destroy.hundred_with_work_in_flight",
     .summary = "A hundred streams are destroyed with work open and in flight; events still deliver.",
     .run = hundred_in_flight},
    {.name = "stream.info.own_stream_is_not_of_the_pool",
     .summary = "A stream of create() is of no pool; NULL and a short struct are refused.",
     .run = info_of_own},
    {.name = "stream.arguments.other_device_is_invalid",
     .summary = "Streams, events and blocks of different devices do not mix.",
     .run = other_device},
};

void leati_cases_stream(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
