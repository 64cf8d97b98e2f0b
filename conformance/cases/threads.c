/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases that run whole chains of operators from many threads at once, and the case about fork().
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/sources.h"
#include "fixture.h"

/* Matrices are SIDE x SIDE with whole numbers of at most 3 in size. A product is then at most 9 * SIDE, with the
 * addition and the product of elements 3 * (9 * SIDE + 3), and the last product 9 * SIDE * (9 * SIDE + 3): below 2^17.
 * float32 holds every partial sum exactly in any order, so the right result is right to the last bit. */
enum { SIDE = 24, COUNT = SIDE * SIDE };

/* The operators of the chain; made once, used by all threads. */
typedef struct {
  leat_op *add;
  leat_op *mul;
  leat_op *matmul;
} chain_ops;

static chain_ops ops_new(leat_case_context *ctx) {
  return (chain_ops){.add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 2),
                     .mul = leati_op_new(ctx, "Mul", 14, 2, LEAT_F32, 2),
                     .matmul = leati_op_new(ctx, "MatMul", 13, 2, LEAT_F32, 2)};
}

static void ops_destroy(leat_case_context *ctx, const chain_ops *ops) {
  leati_op_destroy(ctx, ops->add);
  leati_op_destroy(ctx, ops->mul);
  leati_op_destroy(ctx, ops->matmul);
}

/* ((x * w + b) . y) * w, with `*` the matrix product and `.` the product of elements. */
static void reference(const float *x, const float *w, const float *b, const float *y, float *out) {
  double middle[COUNT];
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) {
      double sum = 0.0;
      for (int k = 0; k < SIDE; ++k) {
        sum += (double)x[i * SIDE + k] * (double)w[k * SIDE + j];
      }
      middle[i * SIDE + j] = (sum + (double)b[i * SIDE + j]) * (double)y[i * SIDE + j];
    }
  }
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) {
      double sum = 0.0;
      for (int k = 0; k < SIDE; ++k) {
        sum += middle[i * SIDE + k] * (double)w[k * SIDE + j];
      }
      out[i * SIDE + j] = (float)sum;
    }
  }
}

/* Runs the chain once and checks it. Allocates, uploads, computes, downloads and frees, all in one stream. */
static void run_chain(leat_case_context *ctx, const chain_ops *ops, leat_stream *stream, GRand *random,
                      uint32_t thread) {
  enum { X, W, B, Y, PRODUCT, SUM, SCALED, OUT, VIEWS };
  static const int64_t shape[2] = {SIDE, SIDE};
  float host[4][COUNT];
  float want[COUNT];
  float have[COUNT] = {0};
  uint64_t blocks[VIEWS];
  leat_case_tensor views[VIEWS];
  for (int i = 0; i < VIEWS; ++i) {
    blocks[i] = leati_case_alloc(ctx, sizeof(want), stream);
    leati_case_tensor_device(ctx, &views[i], blocks[i], LEAT_F32, 2, shape);
  }
  for (int i = 0; i <= Y; ++i) {
    for (int j = 0; j < COUNT; ++j) {
      host[i][j] = (float)g_rand_int_range(random, -3, 4);
    }
    leati_upload(ctx, stream, blocks[i], host[i], sizeof(want));
  }
  leati_op_invoke(ctx, ops->matmul, stream, 2, (const leat_case_tensor *[]){&views[X], &views[W]}, &views[PRODUCT]);
  leati_op_invoke(ctx, ops->add, stream, 2, (const leat_case_tensor *[]){&views[PRODUCT], &views[B]}, &views[SUM]);
  leati_op_invoke(ctx, ops->mul, stream, 2, (const leat_case_tensor *[]){&views[SUM], &views[Y]}, &views[SCALED]);
  leati_op_invoke(ctx, ops->matmul, stream, 2, (const leat_case_tensor *[]){&views[SCALED], &views[W]}, &views[OUT]);
  leati_download(ctx, stream, blocks[OUT], have, sizeof(have));
  for (int i = 0; i < VIEWS; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  leati_synchronize(ctx, stream);
  reference(host[X], host[W], host[B], host[Y], want);
  for (int i = 0; i < COUNT; ++i) {
    LEAT_CHECK_MESSAGE(ctx, have[i] == want[i], "thread %u: element %d is %.9g, expected %.9g", thread, i,
                       (double)have[i], (double)want[i]);
  }
}

/* What the threads of a case share. */
typedef struct {
  const chain_ops *ops;
  leat_stream *stream; /* one for all, or NULL: each thread its own */
  int runs;
} chain_job;

static void chain_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const chain_job *job = data;
  leat_stream *stream = job->stream != NULL ? job->stream : leati_stream_new(ctx);
  GRand *random = g_rand_new_with_seed(ctx->seed + index);
  for (int i = 0; i < job->runs; ++i) {
    run_chain(ctx, job->ops, stream, random, index);
  }
  g_rand_free(random);
  if (job->stream == NULL) {
    leati_stream_destroy(ctx, stream);
  }
}

static void own_streams(leat_case_context *ctx, const void *data) {
  chain_ops ops = ops_new(ctx);
  uint32_t threads = GPOINTER_TO_UINT(data);
  chain_job job = {.ops = &ops, .runs = threads > 4 ? 6 : 12};
  leati_threads_run(ctx, threads, chain_thread, &job);
  ops_destroy(ctx, &ops);
}

static void one_stream(leat_case_context *ctx, const void *data) {
  chain_ops ops = ops_new(ctx);
  chain_job job = {.ops = &ops, .stream = leati_stream_new(ctx), .runs = 6};
  leati_threads_run(ctx, GPOINTER_TO_UINT(data), chain_thread, &job);
  leati_stream_destroy(ctx, job.stream);
  ops_destroy(ctx, &ops);
}

static void lifecycle_thread(leat_case_context *ctx, uint32_t index, void *data) {
  GRand *random = g_rand_new_with_seed(ctx->seed + index);
  (void)data;
  for (int i = 0; i < 5; ++i) {
    chain_ops ops = ops_new(ctx);
    leat_stream *stream = leati_stream_new(ctx);
    leat_event *event = leati_event_new(ctx);
    run_chain(ctx, &ops, stream, random, index);
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    /* All three go while the others make theirs. */
    ops_destroy(ctx, &ops);
    leati_stream_destroy(ctx, stream);
    LEAT_CHECK_OK(ctx, ctx->event->wait(event, -1, LEAT_ERR));
    leati_event_destroy(ctx, event);
  }
  g_rand_free(random);
}

static void lifecycle(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_threads_run(ctx, 8, lifecycle_thread, NULL);
}

/* An operator may be destroyed while what it put into a stream has not run. */
static void op_gone(leat_case_context *ctx, const void *data) {
  static const int64_t shape[2] = {SIDE, SIDE};
  leat_stream *stream = leati_stream_new(ctx);
  leat_op *add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 2);
  float values[COUNT];
  float out[COUNT] = {0};
  uint64_t from = leati_case_alloc(ctx, sizeof(values), stream);
  uint64_t to = leati_case_alloc(ctx, sizeof(values), stream);
  leat_case_tensor a;
  leat_case_tensor b;
  (void)data;
  for (int i = 0; i < COUNT; ++i) {
    values[i] = (float)i;
  }
  leati_case_tensor_device(ctx, &a, from, LEAT_F32, 2, shape);
  leati_case_tensor_device(ctx, &b, to, LEAT_F32, 2, shape);
  leati_stream_load(ctx, stream);
  leati_upload(ctx, stream, from, values, sizeof(values));
  leati_op_invoke(ctx, add, stream, 2, (const leat_case_tensor *[]){&a, &a}, &b);
  leati_op_destroy(ctx, add);
  leati_download(ctx, stream, to, out, sizeof(out));
  leati_synchronize(ctx, stream);
  for (int i = 0; i < COUNT; ++i) {
    LEAT_CHECK(ctx, out[i] == 2.0f * values[i]);
  }
  leati_case_free(ctx, from);
  leati_case_free(ctx, to);
  leati_stream_destroy(ctx, stream);
}

/* One thread flushes and synchronises everything, again and again, while others compute. */
static void device_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const chain_job *job = data;
  if (index > 0) {
    chain_thread(ctx, index, data);
    return;
  }
  for (int i = 0; i < 20 * job->runs; ++i) {
    LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
  }
}

static void device_synchronize(leat_case_context *ctx, const void *data) {
  chain_ops ops = ops_new(ctx);
  chain_job job = {.ops = &ops, .runs = 6};
  (void)data;
  leati_threads_run(ctx, 5, device_thread, &job);
  ops_destroy(ctx, &ops);
}

/* Threads that come and go, each with a stream of its own, one after the other. */
static void short_lived(leat_case_context *ctx, const void *data) {
  chain_ops ops = ops_new(ctx);
  chain_job job = {.ops = &ops, .runs = 1};
  (void)data;
  for (int i = 0; i < 20; ++i) {
    leati_threads_run(ctx, 2, chain_thread, &job);
  }
  ops_destroy(ctx, &ops);
}

/* ---- fork() ---- */

/* Makes a call that is to give LEAT_ERROR_FORKED, and leaves its name to the parent. */
#define FORKED(table, slot, ...)                              \
  do {                                                        \
    *call = #table "." #slot "()";                            \
    if (ctx->table->slot(__VA_ARGS__) != LEAT_ERROR_FORKED) { \
      return FALSE;                                           \
    }                                                         \
  } while (0)

/* In the child: makes calls of all tables, until one is not refused as it should be. `call` is shared with the parent,
 * in which the names are at the same addresses. Prints nothing and checks with no macro, since the outcome is the
 * parent's to tell. */
static gboolean forked_calls(leat_case_context *ctx, leat_device *device, leat_stream *stream, leat_event *event,
                             uint64_t block, const char **call) {
  leat_error err = {.struct_size = sizeof(err)};
  leat_device *opened = NULL;
  leat_stream *made = NULL;
  leat_event *made_event = NULL;
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  uint64_t address = 0;
  uint64_t size = 0;
  uint8_t byte = 0;
  leat_case_tensor host;
  leat_case_tensor view;
  const int64_t shape[1] = {1};
  leati_case_tensor_host(&host, &byte, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
  FORKED(stream, synchronize, stream, &err);
  if (err.code != LEAT_ERROR_FORKED || err.message[0] == '\0') {
    return FALSE;
  }
  FORKED(stream, flush, stream, NULL);
  FORKED(stream, query, stream, NULL);
  FORKED(stream, create, device, 0, &made, NULL);
  FORKED(stream, wait_event, stream, event, NULL);
  FORKED(event, create, device, 0, &made_event, NULL);
  FORKED(event, record, event, stream, NULL);
  FORKED(event, wait, event, -1, NULL);
  FORKED(event, query, event, NULL);
  FORKED(memory, alloc, device, 100, NULL, &address, NULL);
  FORKED(memory, copy, stream, &host.tensor, &view.tensor, NULL);
  FORKED(memory, free, device, block, NULL);
  FORKED(memory, find, device, block, &address, &size, NULL);
  FORKED(memory, stats, device, &stats, NULL);
  FORKED(memory, trim, device, NULL, NULL);
  FORKED(device, open, ctx->device_index, &opened, NULL);
  FORKED(device, synchronize, device, NULL);
  FORKED(stream, destroy, stream, NULL);
  FORKED(event, destroy, event, NULL);
  FORKED(device, close, device, NULL);
  FORKED(api, shutdown, NULL);
  return TRUE;
}

static void forked(leat_case_context *ctx, const void *data) {
  /* With work in flight while the fork happens, in every second round. */
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *event = leati_event_new(ctx);
  uint8_t in[4000];
  uint8_t out[4000];
  uint64_t block = leati_case_alloc(ctx, sizeof(in), stream);
  const char **call = mmap(NULL, sizeof(*call), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  (void)data;
  LEAT_CHECK_MESSAGE(ctx, call != MAP_FAILED, "mmap() failed: %s", g_strerror(errno));
  for (uint32_t round = 0; round < 4; ++round) {
    int status = 0;
    pid_t child;
    leati_pattern(in, sizeof(in), round);
    memset(out, 0, sizeof(out));
    if (round % 2 == 1) {
      leati_stream_load(ctx, stream);
    }
    leati_upload(ctx, stream, block, in, sizeof(in));
    leati_download(ctx, stream, block, out, sizeof(out));
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    child = fork();
    LEAT_CHECK_MESSAGE(ctx, child >= 0, "fork() failed: %s", g_strerror(errno));
    if (child == 0) {
      /* A call that hangs in the child must not outlive the case. */
      alarm((unsigned)(20.0 * ctx->scale) + 1);
      _exit(forked_calls(ctx, device, stream, event, block, call) ? 0 : 1);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      continue;
    }
    LEAT_CHECK_MESSAGE(ctx, WIFEXITED(status), "the forked child was ended by signal %d in %s (14: it did not return)",
                       WTERMSIG(status), *call);
    LEAT_CHECK_MESSAGE(ctx, WEXITSTATUS(status) == 0,
                       "in the forked child %s did not give LEAT_ERROR_FORKED, or left no message", *call);
    /* The parent is unharmed. */
    LEAT_CHECK_OK(ctx, ctx->event->wait(event, -1, LEAT_ERR));
    LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
  }
  munmap(call, sizeof(*call));
  leati_case_free(ctx, block);
  leati_event_destroy(ctx, event);
  leati_stream_destroy(ctx, stream);
}

/* A child that does nothing with the plugin but ends by exit() must end. */
static void forked_exit(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  int status = 0;
  pid_t child;
  (void)data;
  leati_stream_load(ctx, stream);
  LEAT_CHECK_OK(ctx, ctx->stream->flush(stream, LEAT_ERR));
  child = fork();
  LEAT_CHECK_MESSAGE(ctx, child >= 0, "fork() failed: %s", g_strerror(errno));
  if (child == 0) {
    alarm((unsigned)(20.0 * ctx->scale) + 1);
    exit(0);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    continue;
  }
  LEAT_CHECK_MESSAGE(ctx, WIFEXITED(status) && WEXITSTATUS(status) == 0,
                     "exit(0) in a forked child ended with status 0x%x (signal 14: it did not end)", (unsigned)status);
  leati_synchronize(ctx, stream);
  leati_stream_destroy(ctx, stream);
}

static const leat_case cases[] = {
    {.name = "threads.own_stream.two",
     .summary = "Two threads, each on its own stream, compute MatMul, Add and Mul chains right.",
     .run = own_streams,
     .data = GUINT_TO_POINTER(2)},
    {.name = "threads.own_stream.four",
     .summary = "Four threads, each on its own stream, compute MatMul, Add and Mul chains right.",
     .run = own_streams,
     .data = GUINT_TO_POINTER(4)},
    {.name = "threads.own_stream.eight",
     .summary = "Eight threads, each on its own stream, compute MatMul, Add and Mul chains right.",
     .run = own_streams,
     .data = GUINT_TO_POINTER(8)},
    {.name = "threads.own_stream.sixteen",
     .summary = "Sixteen threads, each on its own stream, compute MatMul, Add and Mul chains right.",
     .run = own_streams,
     .data = GUINT_TO_POINTER(16)},
    {.name = "threads.own_stream.forty",
     .summary = "Forty threads, more than any pool has streams, compute chains right on streams of their own.",
     .run = own_streams,
     .data = GUINT_TO_POINTER(40)},
    {.name = "threads.own_stream.short_lived",
     .summary = "Threads that come and go, each with a new stream, compute chains right.",
     .run = short_lived},
    {.name = "threads.one_stream.eight",
     .summary = "Eight threads that share one stream compute MatMul, Add and Mul chains right.",
     .run = one_stream,
     .data = GUINT_TO_POINTER(8)},
    {.name = "threads.lifecycle.objects_come_and_go",
     .summary = "Eight threads make, use and destroy operators, streams and events at once.",
     .run = lifecycle},
    {.name = "threads.lifecycle.operator_destroyed_before_it_runs",
     .summary = "Work that an operator put into a stream runs though the operator is destroyed.",
     .run = op_gone},
    {.name = "threads.device.synchronize_and_trim_meanwhile",
     .summary = "Synchronising and trimming the device while threads compute disturbs nobody.",
     .run = device_synchronize},
    {.name = "fork.child_is_refused_and_parent_goes_on",
     .summary = "Every call in a forked child gives LEAT_ERROR_FORKED and returns; the parent is unharmed.",
     .flags = LEAT_CASE_ALONE,
     .run = forked},
    {.name = "fork.child_can_exit",
     .summary = "A forked child that ends by exit() with the parent's work in flight ends.",
     .flags = LEAT_CASE_ALONE,
     .run = forked_exit},
};

void leati_cases_threads(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
