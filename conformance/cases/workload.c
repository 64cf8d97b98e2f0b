/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases that put the loads of real hosts on the backend: models from many threads, cold starts, pipelines, handing
 * tensors over.
 */
#include <string.h>

#include "cases/network.h"
#include "cases/sources.h"

/* ---- One network, many threads ---- */

typedef struct {
  const leati_network *network;
  uint32_t runs;
} job;

static void run_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const job *shared = data;
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t i = 0; i < shared->runs; ++i) {
    leati_network_once(ctx, shared->network, stream, ctx->seed + index * shared->runs + i);
  }
  leati_stream_destroy(ctx, stream);
}

static void run_load(leat_case_context *ctx, const void *data) {
  const leati_network_load *l = data;
  leati_network *network = leati_network_new(ctx, l->shape);
  job shared = {.network = network, .runs = l->runs};
  leati_threads_run(ctx, l->threads, run_thread, &shared);
  leati_network_free(ctx, network);
}

/* ---- The same bits ---- */

enum { SAME_SEED = 7 };

typedef struct {
  const leati_network *network;
  const void *want;
} same;

static void same_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const same *shared = data;
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t i = 0; i < 8; ++i) {
    /* Between two runs of the same input one of another, so that nothing left over looks right. */
    const gboolean other = i % 2 == 1;
    leati_network_run *run =
        leati_network_begin(ctx, shared->network, stream, other ? ctx->seed + 100 * index + i : SAME_SEED);
    size_t size;
    const void *have = leati_network_result(run, &size);
    leati_synchronize(ctx, stream);
    leati_network_check(ctx, run);
    if (!other) {
      LEAT_CHECK_BYTES(ctx, shared->want, have, size);
    }
    leati_network_end(run);
  }
  leati_stream_destroy(ctx, stream);
}

static void same_bits(leat_case_context *ctx, const void *data) {
  const leati_network_load *l = data;
  leati_network *network = leati_network_new(ctx, l->shape);
  leat_stream *stream = leati_stream_new(ctx);
  leati_network_run *run = leati_network_begin(ctx, network, stream, SAME_SEED);
  same shared = {.network = network};
  size_t size;
  leati_synchronize(ctx, stream);
  leati_network_check(ctx, run);
  /* What one thread alone gets. */
  shared.want = leati_network_result(run, &size);
  leati_threads_run(ctx, l->threads, same_thread, &shared);
  leati_network_end(run);
  leati_stream_destroy(ctx, stream);
  leati_network_free(ctx, network);
}

/* ---- Cold start ---- */

static void cold_thread(leat_case_context *ctx, uint32_t index, void *data) {
  /* No two threads share a size, and neighbours not even operators. */
  const int64_t n = 3 + (int64_t)index;
  const leati_network_shape shapes[4] = {
      {.kind = LEATI_NETWORK_TRANSFORMER, .rows = n, .width = 4 * n, .hidden = 5 * n, .heads = 2},
      {.kind = LEATI_NETWORK_CONV1D, .rows = n, .width = 20 + n, .hidden = n + 1},
      {.kind = LEATI_NETWORK_BATCHED, .rows = 10 + n, .width = 2 * n, .hidden = 3 * n, .heads = 2},
      {.kind = LEATI_NETWORK_MLP, .rows = n, .width = 6 * n, .hidden = 30 + n},
  };
  leat_stream *stream = leati_stream_new(ctx);
  (void)data;
  for (uint32_t i = 0; i < 4; ++i) {
    leati_network *network = leati_network_new(ctx, shapes[(index + i) % 4]);
    leati_network_once(ctx, network, stream, ctx->seed + index);
    leati_network_free(ctx, network);
  }
  leati_stream_destroy(ctx, stream);
}

static void cold_start(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_threads_run(ctx, 16, cold_thread, NULL);
}

/* ---- Handing tensors over ---- */

enum { HANDOVERS = 20, HANDED = 1500 };

/* A tensor on its way from the thread that made it to the one that uses it. */
typedef struct {
  uint64_t block;
  leat_event *ready;
} handed;

typedef struct {
  leat_op *add;
  GAsyncQueue *queues[4]; /* one for each pair */
} handover;

static void hand_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const handover *shared = data;
  const uint32_t pair = index / 2;
  const int64_t shape[1] = {HANDED};
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_tensor from;
  leat_case_tensor to;
  const leat_case_tensor *twice[2] = {&from, &from};
  float values[HANDED];
  for (uint32_t round = 0; round < HANDOVERS; ++round) {
    handed *one;
    if (index % 2 == 0) {
      uint64_t block = leati_case_alloc(ctx, sizeof(values), stream);
      one = g_new0(handed, 1);
      one->block = leati_case_alloc(ctx, sizeof(values), stream);
      one->ready = leati_event_new(ctx);
      for (uint32_t i = 0; i < HANDED; ++i) {
        values[i] = (float)(1000 * pair + 10 * round + i);
      }
      if (round % 5 == 0) {
        leati_stream_load(ctx, stream);
      }
      leati_upload(ctx, stream, block, values, sizeof(values));
      leati_case_tensor_device(ctx, &from, block, LEAT_F32, 1, shape);
      leati_case_tensor_device(ctx, &to, one->block, LEAT_F32, 1, shape);
      leati_op_invoke(ctx, shared->add, stream, 2, twice, &to);
      leati_case_free(ctx, block);
      LEAT_CHECK_OK(ctx, ctx->event->record(one->ready, stream, LEAT_ERR));
      g_async_queue_push(shared->queues[pair], one);
      continue;
    }
    one = g_async_queue_pop(shared->queues[pair]);
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(stream, one->ready, LEAT_ERR));
    leati_event_destroy(ctx, one->ready);
    {
      uint64_t block = leati_case_alloc(ctx, sizeof(values), stream);
      leati_case_tensor_device(ctx, &from, one->block, LEAT_F32, 1, shape);
      leati_case_tensor_device(ctx, &to, block, LEAT_F32, 1, shape);
      leati_op_invoke(ctx, shared->add, stream, 2, twice, &to);
      /* Freed on another stream and by another thread than it was made on. */
      leati_case_free(ctx, one->block);
      memset(values, 0, sizeof(values));
      leati_download(ctx, stream, block, values, sizeof(values));
      leati_case_free(ctx, block);
    }
    leati_synchronize(ctx, stream);
    for (uint32_t i = 0; i < HANDED; ++i) {
      const float want = 4.0f * (float)(1000 * pair + 10 * round + i);
      LEAT_CHECK_MESSAGE(ctx, values[i] == want, "pair %u, round %u, element %u is %g, expected %g", pair, round, i,
                         (double)values[i], (double)want);
    }
    g_free(one);
  }
  leati_stream_destroy(ctx, stream);
}

static void hand_over(leat_case_context *ctx, const void *data) {
  handover shared = {.add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 1)};
  (void)data;
  for (int i = 0; i < 4; ++i) {
    shared.queues[i] = g_async_queue_new();
  }
  leati_threads_run(ctx, 8, hand_thread, &shared);
  for (int i = 0; i < 4; ++i) {
    g_async_queue_unref(shared.queues[i]);
  }
  leati_op_destroy(ctx, shared.add);
}

/* ---- Pipelines ---- */

enum { DEEPEST = 32 };

/* Keeps `depth` runs outstanding in one stream. */
static void pipeline(leat_case_context *ctx, const leati_network *network, leat_stream *stream, uint32_t depth) {
  leati_network_run *runs[DEEPEST] = {NULL};
  leat_event *events[DEEPEST];
  const uint32_t total = depth + 12;
  for (uint32_t i = 0; i < depth; ++i) {
    events[i] = leati_event_new(ctx);
  }
  for (uint32_t i = 0; i < total + depth; ++i) {
    const uint32_t at = i % depth;
    if (runs[at] != NULL) {
      LEAT_CHECK_OK(ctx, ctx->event->wait(events[at], -1, LEAT_ERR));
      leati_network_check(ctx, runs[at]);
      leati_network_end(runs[at]);
      runs[at] = NULL;
    }
    if (i < total) {
      runs[at] = leati_network_begin(ctx, network, stream, ctx->seed + i);
      LEAT_CHECK_OK(ctx, ctx->event->record(events[at], stream, LEAT_ERR));
    }
  }
  for (uint32_t i = 0; i < depth; ++i) {
    leati_event_destroy(ctx, events[i]);
  }
}

static void pipeline_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t depth = 1; depth <= DEEPEST; depth *= 2) {
    pipeline(ctx, data, stream, (depth << index % 3) > DEEPEST ? DEEPEST : depth << index % 3);
  }
  leati_stream_destroy(ctx, stream);
}

static void pipelines(leat_case_context *ctx, const void *data) {
  leati_network *network =
      leati_network_new(ctx, (leati_network_shape){.kind = LEATI_NETWORK_MLP, .rows = 4, .width = 24, .hidden = 32});
  leati_threads_run(ctx, GPOINTER_TO_UINT(data), pipeline_thread, network);
  leati_network_free(ctx, network);
}

/* ---- The whole device, while others run ---- */

static void device_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_case_trip trip;
  if (index > 1) {
    run_thread(ctx, index, data);
    return;
  }
  /* Two synchronise, and find what they had put before; the others never stop. */
  leati_trip_begin(ctx, &trip, NULL, 2000);
  for (uint32_t i = 0; i < 25; ++i) {
    leati_trip_put(ctx, &trip, i);
    LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
    leati_trip_check(ctx, &trip);
  }
  leati_trip_end(ctx, &trip);
}

static void device_wide(leat_case_context *ctx, const void *data) {
  leati_network *network =
      leati_network_new(ctx, (leati_network_shape){.kind = LEATI_NETWORK_MLP, .rows = 3, .width = 20, .hidden = 28});
  job shared = {.network = network, .runs = 30};
  (void)data;
  leati_threads_run(ctx, 8, device_thread, &shared);
  leati_network_free(ctx, network);
}

/* ---- Going on for long ---- */

enum { SOAK_NETWORKS = 4 };

static void soak_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leati_network *const *networks = data;
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  for (uint32_t i = 0; i < 24; ++i) {
    leati_network_run *run =
        leati_network_begin(ctx, networks[(index + i) % SOAK_NETWORKS], stream, ctx->seed + 50 * index + i);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->event->wait(event, -1, LEAT_ERR));
    leati_network_check(ctx, run);
    leati_network_end(run);
    if (i % 8 == 7) {
      /* A host whose requests come and go: streams and events too. */
      leati_stream_destroy(ctx, stream);
      leati_event_destroy(ctx, event);
      stream = leati_stream_new(ctx);
      event = leati_event_new(ctx);
    }
  }
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
}

static void soak(leat_case_context *ctx, const void *data) {
  static const leati_network_shape shapes[SOAK_NETWORKS] = {
      {.kind = LEATI_NETWORK_LINEAR, .rows = 8, .width = 64, .hidden = 32},
      {.kind = LEATI_NETWORK_MLP, .rows = 4, .width = 24, .hidden = 32},
      {.kind = LEATI_NETWORK_CONV1D, .rows = 4, .width = 24, .hidden = 6},
      {.kind = LEATI_NETWORK_TRANSFORMER, .rows = 6, .width = 16, .hidden = 24, .heads = 2},
  };
  leati_network *networks[SOAK_NETWORKS];
  leat_memory_stats before = {.struct_size = sizeof(before)};
  leat_memory_stats first = {.struct_size = sizeof(first)};
  leat_memory_stats last = {.struct_size = sizeof(last)};
  leat_device *device = leati_fixture_device(ctx);
  (void)data;
  for (int i = 0; i < SOAK_NETWORKS; ++i) {
    networks[i] = leati_network_new(ctx, shapes[i]);
  }
  LEAT_CHECK_OK(ctx, ctx->memory->stats(device, &before, LEAT_ERR));
  leati_threads_run(ctx, 8, soak_thread, networks);
  LEAT_CHECK_OK(ctx, ctx->memory->stats(device, &first, LEAT_ERR));
  for (int i = 0; i < 3; ++i) {
    leati_threads_run(ctx, 8, soak_thread, networks);
  }
  LEAT_CHECK_OK(ctx, ctx->memory->stats(device, &last, LEAT_ERR));
  /* Nothing is held that was not before, and the same load again and again takes no more from the driver than how the
   * threads happen to overlap explains: at the most as much again as the first time. */
  LEAT_CHECK_U64(ctx, before.live_block_count, last.live_block_count);
  LEAT_CHECK_U64(ctx, before.allocated_bytes, last.allocated_bytes);
  LEAT_CHECK_MESSAGE(
      ctx, last.reserved_bytes <= 2 * first.reserved_bytes && last.staging_bytes <= 2 * first.staging_bytes,
      "%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " bytes are taken after the first quarter, %" G_GUINT64_FORMAT
      " and %" G_GUINT64_FORMAT " after the last",
      first.reserved_bytes, first.staging_bytes, last.reserved_bytes, last.staging_bytes);
  for (int i = 0; i < SOAK_NETWORKS; ++i) {
    leati_network_free(ctx, networks[i]);
  }
}

/* ---- The list ---- */

/* clang-format off: a table. */
#define SMALL_LINEAR .kind = LEATI_NETWORK_LINEAR, .rows = 3, .width = 17, .hidden = 9
#define SMALL_MLP .kind = LEATI_NETWORK_MLP, .rows = 5, .width = 24, .hidden = 33
#define BLOCK .kind = LEATI_NETWORK_TRANSFORMER, .rows = 10, .width = 24, .hidden = 48, .heads = 3
/* clang-format on */

static const leat_case cases[] = {
    {.name = "threads.stress.eight_by_hundred",
     .summary = "Eight threads run an MLP a hundred times each, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(8, 100, SMALL_MLP)},
    {.name = "threads.stress.sixteen_by_fifty",
     .summary = "Sixteen threads run an MLP fifty times each, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(16, 50, SMALL_MLP)},
    {.name = "threads.stress.thirty_one_by_hundred",
     .summary = "Thirty-one threads run a linear layer a hundred times each, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(31, 100, SMALL_LINEAR)},
    {.name = "threads.stress.large_tensors",
     .summary = "Four threads run a linear layer with hundreds of thousands of elements, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(4, 2, .kind = LEATI_NETWORK_LINEAR, .rows = 512, .width = 64, .hidden = 256)},
    {.name = "threads.models.linear_from_eight",
     .summary = "Eight threads share a linear layer, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(8, 10, .kind = LEATI_NETWORK_LINEAR, .rows = 16, .width = 128, .hidden = 64)},
    {.name = "threads.models.mlp_from_eight",
     .summary = "Eight threads share an MLP of three layers, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(8, 10, .kind = LEATI_NETWORK_MLP, .rows = 8, .width = 48, .hidden = 64)},
    {.name = "threads.models.conv1d_from_eight",
     .summary = "Eight threads share a network of one-dimensional convolutions, every output right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(8, 10, .kind = LEATI_NETWORK_CONV1D, .rows = 6, .width = 32, .hidden = 8)},
    {.name = "threads.models.batched_products_of_strided_views",
     .summary = "Eight threads multiply batches of matrices that are transposed, skipped and reversed views.",
     .run = run_load,
     .data =
         LEATI_NETWORK_LOAD(8, 10, .kind = LEATI_NETWORK_BATCHED, .rows = 13, .width = 17, .hidden = 9, .heads = 5)},
    {.name = "threads.models.attention_over_strided_views",
     .summary = "Eight threads run self-attention whose queries, keys and values are views of one product.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(8, 8, .kind = LEATI_NETWORK_ATTENTION, .rows = 12, .width = 32, .heads = 4)},
    {.name = "threads.transformer.eight",
     .summary = "Eight threads run a transformer block; every output of every operator is right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(8, 6, BLOCK)},
    {.name = "threads.transformer.sixteen",
     .summary = "Sixteen threads run a transformer block; every output of every operator is right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(16, 4, BLOCK)},
    {.name = "threads.transformer.thirty_one",
     .summary = "Thirty-one threads run a transformer block; every output of every operator is right.",
     .run = run_load,
     .data = LEATI_NETWORK_LOAD(31, 3, BLOCK)},
    {.name = "threads.norm.same_bits_on_every_thread",
     .summary = "LayerNormalization gives sixteen threads at once the bits that one thread alone gets.",
     .run = same_bits,
     .data = LEATI_NETWORK_LOAD(16, 0, .kind = LEATI_NETWORK_NORM, .rows = 37, .width = 131)},
    {.name = "threads.transformer.same_bits_on_every_thread",
     .summary = "A transformer block gives eight threads at once the bits that one thread alone gets.",
     .run = same_bits,
     .data = LEATI_NETWORK_LOAD(8, 0, BLOCK)},
    {.name = "threads.cold.sixteen_with_unique_shapes",
     .summary = "Sixteen threads make and run networks of sizes of their own at once, on a device nobody used before.",
     .flags = LEAT_CASE_ALONE,
     .run = cold_start},
    {.name = "threads.handover.tensors_of_other_streams",
     .summary = "Tensors made by one thread on its stream are used by another on another, ordered by events.",
     .run = hand_over},
    {.name = "threads.pipeline.depth_1_to_32",
     .summary = "With 1 to 32 runs outstanding in a stream every run is right.",
     .run = pipelines,
     .data = GUINT_TO_POINTER(1)},
    {.name = "threads.pipeline.four_threads",
     .summary = "With up to 32 runs outstanding in each of four threads every run is right.",
     .run = pipelines,
     .data = GUINT_TO_POINTER(4)},
    {.name = "threads.device.synchronize_delivers_meanwhile",
     .summary = "Synchronising the device while six threads run delivers what was put before.",
     .run = device_wide},
    {.name = "threads.soak.right_and_flat",
     .summary = "Four networks from eight threads for a while: every output is right, and memory stays flat.",
     .run = soak},
};

void leati_cases_workload(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
