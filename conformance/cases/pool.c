/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_pool_api: whose stream is whose, taking, waiting, releasing, and threads that end.
 *
 * A case leaves the pool as it found it: nobody holds a worker stream. No case asserts that anything is quick. Where
 * threads must wait, leat_pool_info::waiting_count says when they do; where something must come in an order, the order
 * is what is checked.
 */
#include <pthread.h>
#include <string.h>

#include "cases/network.h"
#include "cases/sources.h"

enum { MAX_WORKERS = 256, SIZE = 2001 };

static const int64_t forever = -1;

#define TIMEOUT_SETTING "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS"
#define POLICY_SETTING "LEAT_STREAM_POLICY"

/* ---- Set-up ---- */

static const leat_pool_api *pool_of(leat_case_context *ctx) {
  if (ctx->api->pool == NULL) {
    leati_case_skip(ctx, "the backend has no pool of streams (leat_backend_api::pool is NULL)");
  }
  return ctx->api->pool;
}

static leat_pool_info info_now(leat_case_context *ctx) {
  leat_pool_info info = {.struct_size = sizeof(info)};
  LEAT_CHECK_OK(ctx, pool_of(ctx)->info(leati_fixture_device(ctx), &info, LEAT_ERR));
  return info;
}

/* Gives the number of worker streams. The case is not supported where the pool is set to share its streams. */
static uint32_t exclusive(leat_case_context *ctx) {
  leat_pool_info info;
  pool_of(ctx);
  info = info_now(ctx);
  if ((info.flags & LEAT_POOL_ROUND_ROBIN) != 0) {
    leati_case_skip(ctx, "the pool is set to share its streams (LEAT_POOL_ROUND_ROBIN)");
  }
  LEAT_CHECK_MESSAGE(ctx, info.stream_count >= 3 && info.stream_count <= MAX_WORKERS,
                     "a pool of %u streams: stream 0, two workers, and no more than %d can be tested",
                     info.stream_count, MAX_WORKERS);
  return info.stream_count - 1;
}

/* Sets a setting, before the device is open. */
static void configure(leat_case_context *ctx, const char *name, const char *value) {
  leat_error err = {.struct_size = sizeof(err)};
  int32_t status;
  pool_of(ctx);
  status = ctx->api->configure(name, value, &err);
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    leati_case_skip(ctx, "the plugin has no setting %s: %.900s", name, err.message);
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK, "configure(%s, %s) returned %s: %.900s", name, value,
                     leati_case_status_name(status), err.message);
}

/* The number of a pool's stream. */
static uint32_t number_of(leat_case_context *ctx, leat_stream *stream) {
  leat_stream_info info = {.struct_size = sizeof(info)};
  LEAT_CHECK_OK(ctx, ctx->stream->info(stream, &info, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, (info.flags & LEAT_STREAM_POOLED) != 0 && info.pool_index >= 0,
                     "a stream of the pool says pool_index %d and flags 0x%x", info.pool_index, (unsigned)info.flags);
  LEAT_CHECK(ctx, info.pool_index < MAX_WORKERS);
  return (uint32_t)info.pool_index;
}

static leat_stream *current(leat_case_context *ctx) {
  leat_stream *stream = NULL;
  LEAT_CHECK_OK(ctx, pool_of(ctx)->current(leati_fixture_device(ctx), &stream, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, stream != NULL, "pool.current returned LEAT_OK and a NULL stream");
  return stream;
}

/* A stream that was acquired. */
typedef struct {
  leat_stream *stream;
  uint64_t ticket;
} taken;

static int32_t try_take(leat_case_context *ctx, int64_t timeout_ms, taken *out, leat_error *err) {
  return pool_of(ctx)->acquire(leati_fixture_device(ctx), timeout_ms, &out->stream, &out->ticket, err);
}

static taken take(leat_case_context *ctx, int64_t timeout_ms) {
  taken one = {.stream = NULL};
  LEAT_CHECK_OK(ctx, try_take(ctx, timeout_ms, &one, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, one.stream != NULL, "pool.acquire returned LEAT_OK and a NULL stream");
  /* Whatever its last owner did to it. */
  LEAT_CHECK_OK(ctx, ctx->stream->error(one.stream, LEAT_ERR));
  return one;
}

static void give(leat_case_context *ctx, taken one) {
  LEAT_CHECK_OK(ctx, pool_of(ctx)->release(leati_fixture_device(ctx), one.ticket, LEAT_ERR));
}

/* Who was refused after `timeout_ms` has waited that long: not less, but for what clocks differ by. `begin`: of
 * g_get_monotonic_time() before. */
static void check_waited(leat_case_context *ctx, gint64 begin, int64_t timeout_ms) {
  gint64 waited = g_get_monotonic_time() - begin;
  LEAT_CHECK_MESSAGE(ctx, waited >= timeout_ms * 800,
                     "refused after %" G_GINT64_FORMAT " us, with a timeout of %" G_GINT64_FORMAT " ms", waited,
                     (gint64)timeout_ms);
}

static void check_exhausted(leat_case_context *ctx, int64_t timeout_ms) {
  const gint64 begin = g_get_monotonic_time();
  taken none;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_EXHAUSTED, try_take(ctx, timeout_ms, &none, LEAT_ERR));
  check_waited(ctx, begin, timeout_ms);
}

/* Takes `count` worker streams, all different. */
static taken *take_many(leat_case_context *ctx, uint32_t count) {
  taken *all = g_new(taken, count);
  gboolean seen[MAX_WORKERS] = {FALSE};
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t number;
    all[i] = take(ctx, 0);
    number = number_of(ctx, all[i].stream);
    LEAT_CHECK_MESSAGE(ctx, number != 0, "pool.acquire gave stream 0, which is the main thread's");
    LEAT_CHECK_MESSAGE(ctx, !seen[number], "stream %u is held twice", number);
    seen[number] = TRUE;
  }
  return all;
}

static void give_many(leat_case_context *ctx, taken *all, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    give(ctx, all[i]);
  }
  g_free(all);
}

/* Nobody holds a worker stream: all of them can be had. */
static void check_all_free(leat_case_context *ctx) {
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  check_exhausted(ctx, 0);
  give_many(ctx, all, workers);
}

/* A round trip through a stream of the pool. */
static void use(leat_case_context *ctx, leat_stream *stream, uint32_t tag) {
  leat_case_trip trip;
  leati_trip_begin(ctx, &trip, stream, SIZE);
  leati_trip_put(ctx, &trip, tag);
  leati_synchronize(ctx, stream);
  leati_trip_check(ctx, &trip);
  leati_trip_end(ctx, &trip);
}

/* ---- A place where threads meet ---- */

typedef struct {
  GMutex lock;   /* guards the rest */
  GCond changed; /* broadcast when `here` or `open` changes */
  uint32_t here; /* threads that have come */
  gboolean open; /* those who wait may go on */
} gate;

static void gate_init(gate *g) {
  memset(g, 0, sizeof(*g));
  g_mutex_init(&g->lock);
  g_cond_init(&g->changed);
}

static void gate_clear(gate *g) {
  g_cond_clear(&g->changed);
  g_mutex_clear(&g->lock);
}

/* Counts the calling thread and lets it wait until the gate is open. */
static void gate_pass(gate *g) {
  g_mutex_lock(&g->lock);
  ++g->here;
  g_cond_broadcast(&g->changed);
  while (!g->open) {
    g_cond_wait(&g->changed, &g->lock);
  }
  g_mutex_unlock(&g->lock);
}

static void gate_await(gate *g, uint32_t count) {
  g_mutex_lock(&g->lock);
  while (g->here < count) {
    g_cond_wait(&g->changed, &g->lock);
  }
  g_mutex_unlock(&g->lock);
}

static void gate_open(gate *g) {
  g_mutex_lock(&g->lock);
  g->open = TRUE;
  g_cond_broadcast(&g->changed);
  g_mutex_unlock(&g->lock);
}

/* ---- Arguments and figures ---- */

static void arguments(leat_case_context *ctx, const void *data) {
  const leat_pool_api *pool = pool_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = NULL;
  leat_stream *gone = leati_stream_new(ctx);
  leat_pool_info info = {.struct_size = sizeof(info)};
  uint64_t ticket = 0;
  struct {
    leat_pool_info known;
    uint64_t tail;
  } longer;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->acquire(NULL, 0, &stream, &ticket, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->acquire(device, 0, NULL, &ticket, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->acquire(device, 0, &stream, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->acquire(device, -2, &stream, &ticket, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->release(NULL, 1, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->stream(NULL, 0, &stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->stream(device, 0, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->current(NULL, &stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->current(device, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->set_current(NULL, NULL, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->release_current(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->info(NULL, &info, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->info(device, NULL, LEAT_ERR));
  info.struct_size = sizeof(info) - 8;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->info(device, &info, LEAT_ERR));
  memset(&longer, 0, sizeof(longer));
  longer.known.struct_size = sizeof(longer);
  LEAT_CHECK_OK(ctx, pool->info(device, &longer.known, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, longer.tail);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    pool->stream(device, longer.known.stream_count, &stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->stream(device, UINT32_MAX, &stream, LEAT_ERR));
  leati_stream_destroy(ctx, gone);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, pool->set_current(device, gone, NULL, LEAT_ERR));
}

/* A thread that takes one stream, however long it has to wait. */
typedef struct {
  leat_case_context *ctx;
  taken one;
} patient;

static gpointer wait_and_take(gpointer user_data) {
  patient *job = user_data;
  job->one = take(job->ctx, forever);
  return NULL;
}

/* Returns when `count` threads wait for a stream. The case's deadline ends one where they never do. */
static void await_waiting(leat_case_context *ctx, uint32_t count) {
  guint pause_us = 0;
  while (info_now(ctx).waiting_count != count) {
    leati_pause(&pause_us);
  }
}

static void counts(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  const leat_pool_info before = info_now(ctx);
  patient job = {.ctx = ctx};
  leat_pool_info now;
  taken *all = take_many(ctx, workers);
  GThread *thread;
  (void)data;
  now = info_now(ctx);
  LEAT_CHECK_U64(ctx, before.held_count + workers, now.held_count);
  LEAT_CHECK_U64(ctx, before.acquire_count + workers, now.acquire_count);
  LEAT_CHECK_U64(ctx, before.exhausted_count, now.exhausted_count);
  LEAT_CHECK_U64(ctx, 0, now.waiting_count);
  check_exhausted(ctx, 0);
  check_exhausted(ctx, 5);
  now = info_now(ctx);
  LEAT_CHECK_U64(ctx, before.exhausted_count + 2, now.exhausted_count);
  LEAT_CHECK_U64(ctx, before.acquire_count + workers, now.acquire_count);
  thread = g_thread_new("taker", wait_and_take, &job);
  await_waiting(ctx, 1);
  LEAT_CHECK_U64(ctx, before.acquire_count + workers, info_now(ctx).acquire_count);
  give(ctx, all[0]);
  g_thread_join(thread);
  all[0] = job.one;
  now = info_now(ctx);
  LEAT_CHECK_U64(ctx, 0, now.waiting_count);
  LEAT_CHECK_U64(ctx, before.held_count + workers, now.held_count);
  LEAT_CHECK_U64(ctx, before.acquire_count + workers + 1, now.acquire_count);
  give_many(ctx, all, workers);
  now = info_now(ctx);
  LEAT_CHECK_U64(ctx, before.held_count, now.held_count);
  LEAT_CHECK_U64(ctx, before.acquire_count + workers + 1, now.acquire_count);
  LEAT_CHECK_U64(ctx, before.stream_count, now.stream_count);
}

/* ---- Whose is whose ---- */

static void main_thread(leat_case_context *ctx, const void *data) {
  enum { SIZE_MOVED = 1 << 20 };
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  leat_stream *zero = NULL;
  uint64_t blocks[2];
  guint pause_us = 0;
  (void)data;
  exclusive(ctx);
  LEAT_CHECK_U64(ctx, 0, number_of(ctx, current(ctx)));
  LEAT_CHECK_OK(ctx, pool_of(ctx)->stream(leati_fixture_device(ctx), 0, &zero, LEAT_ERR));
  LEAT_CHECK(ctx, zero == current(ctx));
  use(ctx, zero, 1);
  /* Released or not, the main thread's is stream 0. What is open in it then runs though nobody submits it: its blocks
   * come free, or the case's deadline ends it. */
  for (int i = 0; i < 2; ++i) {
    blocks[i] = leati_case_alloc(ctx, SIZE_MOVED, zero);
  }
  leati_copy(ctx, zero, blocks[0], blocks[1], SIZE_MOVED);
  for (int i = 0; i < 2; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
  do {
    leati_pause(&pause_us);
    LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
  } while (stats.reserved_bytes != 0);
  LEAT_CHECK(ctx, zero == current(ctx));
  check_all_free(ctx);
}

static void not_zero(leat_case_context *ctx, uint32_t index, void *data) {
  (void)data;
  /* The first call opens the device. */
  LEAT_CHECK_MESSAGE(ctx, number_of(ctx, current(ctx)) != 0, "worker thread %u has stream 0, the main thread's", index);
  use(ctx, current(ctx), index);
}

static void main_thread_late(leat_case_context *ctx, const void *data) {
  (void)data;
  pool_of(ctx);
  leati_threads_run(ctx, 2, not_zero, NULL);
  LEAT_CHECK_U64(ctx, 0, number_of(ctx, current(ctx)));
}

typedef struct {
  uint32_t count;
  gate all_here;
  gint seen[MAX_WORKERS]; /* atomic: one more than the thread that has the stream */
} workers_job;

static void worker(leat_case_context *ctx, uint32_t index, void *data) {
  workers_job *job = data;
  leat_stream *own = current(ctx);
  leat_stream_info info = {.struct_size = sizeof(info)};
  const uint32_t number = number_of(ctx, own);
  LEAT_CHECK_MESSAGE(ctx, number != 0, "worker thread %u has stream 0, the main thread's", index);
  LEAT_CHECK_MESSAGE(ctx, g_atomic_int_compare_and_exchange(&job->seen[number], 0, (gint)index + 1),
                     "threads %u and %d have stream %u both", index, g_atomic_int_get(&job->seen[number]) - 1, number);
  LEAT_CHECK_OK(ctx, ctx->stream->info(own, &info, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, (info.flags & LEAT_STREAM_SHARED) == 0, "an exclusive stream says that it is shared");
  for (uint32_t i = 0; i < 20; ++i) {
    use(ctx, own, 100 * index + i);
    LEAT_CHECK_MESSAGE(ctx, current(ctx) == own, "thread %u: another stream at use %u", index, i);
  }
  gate_pass(&job->all_here);
}

static gpointer open_when_full(gpointer user_data) {
  workers_job *job = user_data;
  gate_await(&job->all_here, job->count);
  gate_open(&job->all_here);
  return NULL;
}

static void workers_differ(leat_case_context *ctx, const void *data) {
  workers_job *job = g_new0(workers_job, 1);
  GThread *porter;
  (void)data;
  job->count = exclusive(ctx);
  gate_init(&job->all_here);
  porter = g_thread_new("porter", open_when_full, job);
  leati_threads_run(ctx, job->count, worker, job);
  g_thread_join(porter);
  gate_clear(&job->all_here);
  g_free(job);
  check_all_free(ctx);
}

static void by_number(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  const uint32_t held = info_now(ctx).held_count;
  leat_stream *all[MAX_WORKERS];
  taken one;
  (void)data;
  for (uint32_t i = 0; i <= workers; ++i) {
    leat_stream *again = NULL;
    LEAT_CHECK_OK(ctx, pool_of(ctx)->stream(leati_fixture_device(ctx), i, &all[i], LEAT_ERR));
    LEAT_CHECK_U64(ctx, i, number_of(ctx, all[i]));
    LEAT_CHECK_OK(ctx, pool_of(ctx)->stream(leati_fixture_device(ctx), i, &again, LEAT_ERR));
    LEAT_CHECK(ctx, all[i] == again);
    use(ctx, all[i], i);
  }
  /* It took nothing. */
  LEAT_CHECK_U64(ctx, held, info_now(ctx).held_count);
  one = take(ctx, 0);
  LEAT_CHECK(ctx, one.stream == all[number_of(ctx, one.stream)]);
  give(ctx, one);
  check_all_free(ctx);
}

static void destroy_refused(leat_case_context *ctx, const void *data) {
  taken one;
  (void)data;
  exclusive(ctx);
  one = take(ctx, 0);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->destroy(one.stream, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->stream->destroy(current(ctx), LEAT_ERR));
  use(ctx, one.stream, 1);
  use(ctx, current(ctx), 2);
  give(ctx, one);
  check_all_free(ctx);
}

static void host_streams(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  leat_stream *own[50];
  (void)data;
  for (uint32_t i = 0; i < 50; ++i) {
    leat_stream_info info = {.struct_size = sizeof(info)};
    own[i] = leati_stream_new(ctx);
    LEAT_CHECK_OK(ctx, ctx->stream->info(own[i], &info, LEAT_ERR));
    LEAT_CHECK(ctx, info.pool_index == -1 && info.flags == 0);
    for (uint32_t k = 0; k < workers; ++k) {
      LEAT_CHECK_MESSAGE(ctx, own[i] != all[k].stream, "a new stream is one that the pool gave out");
    }
  }
  for (uint32_t i = 0; i < 50; ++i) {
    use(ctx, own[i], i);
  }
  for (uint32_t i = 0; i < workers; ++i) {
    use(ctx, all[i].stream, 100 + i);
  }
  for (uint32_t i = 0; i < 50; ++i) {
    leati_stream_destroy(ctx, own[i]);
  }
  check_exhausted(ctx, 0);
  give_many(ctx, all, workers);
}

/* ---- Binding ---- */

static void bind(leat_case_context *ctx, leat_stream *stream, leat_stream **out_previous) {
  LEAT_CHECK_OK(ctx, pool_of(ctx)->set_current(leati_fixture_device(ctx), stream, out_previous, LEAT_ERR));
}

/* Binds a stream that the main thread holds, uses it, and lets go of it in one of several ways. */
static void borrower(leat_case_context *ctx, uint32_t index, void *data) {
  leat_stream *lent = data;
  bind(ctx, lent, NULL);
  LEAT_CHECK(ctx, current(ctx) == lent);
  use(ctx, current(ctx), index);
  switch (index % 3) {
    case 0: /* ends with the stream bound */
      break;
    case 1:
      LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
      LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
      break;
    default:
      bind(ctx, NULL, NULL);
      break;
  }
}

static void never_transfers(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  const uint32_t held = info_now(ctx).held_count;
  taken lent = take(ctx, 0);
  taken *rest;
  (void)data;
  leati_threads_run(ctx, 6, borrower, lent.stream);
  LEAT_CHECK_U64(ctx, held + 1, info_now(ctx).held_count);
  /* The borrowers are gone, and the stream is the holder's still: nobody else gets it. */
  rest = take_many(ctx, workers - 1);
  for (uint32_t i = 0; i < workers - 1; ++i) {
    LEAT_CHECK_MESSAGE(ctx, rest[i].stream != lent.stream, "a stream that is held was given out again");
  }
  check_exhausted(ctx, 0);
  give(ctx, lent);
  give_many(ctx, rest, workers - 1);
  check_all_free(ctx);
}

static void binding(leat_case_context *ctx, uint32_t index, void *data) {
  leat_stream *own = current(ctx);
  leat_stream *other[2] = {leati_stream_new(ctx), leati_stream_new(ctx)};
  leat_stream *previous = own;
  (void)data;
  bind(ctx, other[0], &previous);
  LEAT_CHECK_MESSAGE(ctx, previous == NULL, "nothing was bound before, and set_current() says that something was");
  LEAT_CHECK(ctx, current(ctx) == other[0]);
  bind(ctx, other[1], &previous);
  LEAT_CHECK(ctx, previous == other[0]);
  LEAT_CHECK(ctx, current(ctx) == other[1]);
  use(ctx, current(ctx), index);
  bind(ctx, NULL, &previous);
  LEAT_CHECK(ctx, previous == other[1]);
  LEAT_CHECK_MESSAGE(ctx, current(ctx) == own, "unbound, and the thread's own stream is another than before");
  bind(ctx, NULL, &previous);
  LEAT_CHECK(ctx, previous == NULL);
  bind(ctx, other[0], NULL);
  LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
  bind(ctx, NULL, &previous);
  LEAT_CHECK_MESSAGE(ctx, previous == NULL, "release_current() unbinds too");
  leati_stream_destroy(ctx, other[0]);
  leati_stream_destroy(ctx, other[1]);
}

static void previous_is_told(leat_case_context *ctx, const void *data) {
  (void)data;
  exclusive(ctx);
  binding(ctx, 0, NULL);
  leati_threads_run(ctx, 4, binding, NULL);
  check_all_free(ctx);
}

static void bound_without_own(leat_case_context *ctx, uint32_t index, void *data) {
  leat_stream *host = leati_stream_new(ctx);
  (void)data;
  bind(ctx, host, NULL);
  LEAT_CHECK(ctx, current(ctx) == host);
  use(ctx, current(ctx), index);
  bind(ctx, NULL, NULL);
  leati_stream_destroy(ctx, host);
}

static void binding_takes_nothing(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  (void)data;
  /* Not one stream is to be had, and none is needed. */
  leati_threads_run(ctx, 4, bound_without_own, NULL);
  give_many(ctx, all, workers);
  check_all_free(ctx);
}

static void bound_destroyed(leat_case_context *ctx, uint32_t index, void *data) {
  enum { NEXT = 64 };
  leat_stream *own = current(ctx);
  leat_stream *host = leati_stream_new(ctx);
  leat_stream *stream = NULL;
  leat_stream *next[NEXT];
  (void)data;
  bind(ctx, host, NULL);
  leati_stream_destroy(ctx, host);
  LEAT_CHECK_FAILS(ctx, pool_of(ctx)->current(leati_fixture_device(ctx), &stream, LEAT_ERR));
  LEAT_CHECK_FAILS(ctx, pool_of(ctx)->current(leati_fixture_device(ctx), &stream, LEAT_ERR));
  /* New streams may be where the destroyed one was. They are others. */
  for (int i = 0; i < NEXT; ++i) {
    next[i] = leati_stream_new(ctx);
  }
  LEAT_CHECK_FAILS(ctx, pool_of(ctx)->current(leati_fixture_device(ctx), &stream, LEAT_ERR));
  for (int i = 0; i < NEXT; ++i) {
    leati_stream_destroy(ctx, next[i]);
  }
  bind(ctx, NULL, NULL);
  LEAT_CHECK(ctx, current(ctx) == own);
  use(ctx, own, index);
}

static void destroyed_while_bound(leat_case_context *ctx, const void *data) {
  (void)data;
  exclusive(ctx);
  bound_destroyed(ctx, 0, NULL);
  leati_threads_run(ctx, 3, bound_destroyed, NULL);
  check_all_free(ctx);
}

/* ---- Releasing ---- */

static void explicit_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const uint32_t held = info_now(ctx).held_count;
  (void)data;
  LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
  for (uint32_t i = 0; i < 5; ++i) {
    use(ctx, current(ctx), 10 * index + i);
    LEAT_CHECK_U64(ctx, held + 1, info_now(ctx).held_count);
    LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
    LEAT_CHECK_U64(ctx, held, info_now(ctx).held_count);
  }
}

static void explicit_release(leat_case_context *ctx, const void *data) {
  (void)data;
  exclusive(ctx);
  leati_threads_run(ctx, 1, explicit_thread, NULL);
  check_all_free(ctx);
}

static void refuse_ticket(leat_case_context *ctx, uint64_t ticket) {
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    pool_of(ctx)->release(leati_fixture_device(ctx), ticket, LEAT_ERR));
}

static void ticket_once(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  taken *all;
  taken one;
  (void)data;
  one = take(ctx, 0);
  give(ctx, one);
  refuse_ticket(ctx, one.ticket);
  all = take_many(ctx, workers);
  /* All streams are somebody's now, the one of that ticket too. */
  refuse_ticket(ctx, one.ticket);
  refuse_ticket(ctx, UINT64_MAX);
  refuse_ticket(ctx, 0);
  check_exhausted(ctx, 0);
  give_many(ctx, all, workers);
  check_all_free(ctx);
}

static void old_tickets(leat_case_context *ctx, const void *data) {
  enum { OLD = 2000 };
  const uint32_t workers = exclusive(ctx);
  const uint32_t held = info_now(ctx).held_count;
  uint64_t *old = g_new(uint64_t, OLD);
  taken *all;
  (void)data;
  for (int i = 0; i < OLD; ++i) {
    taken one = take(ctx, 0);
    old[i] = one.ticket;
    give(ctx, one);
  }
  all = take_many(ctx, workers);
  for (int i = 0; i < OLD; ++i) {
    refuse_ticket(ctx, old[i]);
  }
  LEAT_CHECK_U64(ctx, held + workers, info_now(ctx).held_count);
  check_exhausted(ctx, 0);
  give_many(ctx, all, workers);
  check_all_free(ctx);
  g_free(old);
}

/* Streams that go from thread to thread: each is taken by one, used by a second and released by a third. */
typedef struct {
  GAsyncQueue *to_use;
  GAsyncQueue *to_give;
} passing;

static void pass_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const passing *job = data;
  for (uint32_t i = 0; i < 60; ++i) {
    taken *one;
    switch (index % 3) {
      case 0:
        one = g_new(taken, 1);
        *one = take(ctx, forever);
        g_async_queue_push(job->to_use, one);
        break;
      case 1:
        one = g_async_queue_pop(job->to_use);
        use(ctx, one->stream, 100 * index + i);
        g_async_queue_push(job->to_give, one);
        break;
      default:
        one = g_async_queue_pop(job->to_give);
        give(ctx, *one);
        g_free(one);
        break;
    }
  }
}

static void other_threads(leat_case_context *ctx, const void *data) {
  passing job = {g_async_queue_new(), g_async_queue_new()};
  (void)data;
  exclusive(ctx);
  leati_threads_run(ctx, 9, pass_thread, &job);
  g_async_queue_unref(job.to_use);
  g_async_queue_unref(job.to_give);
  check_all_free(ctx);
}

/* Puts an upload into the stream and nothing that would submit it. */
static void put_open(leat_case_context *ctx, leat_case_trip *trip, uint32_t tag) {
  leati_pattern(trip->in, trip->size, tag);
  leati_upload(ctx, trip->stream, trip->block, trip->in, trip->size);
}

/* What put_open() has put arrived on the device though its stream was released since. Looked for on a stream of the
 * host's, since downloads may go with the owner that they were for. */
static void check_open(leat_case_context *ctx, leat_case_trip *trip) {
  leat_stream *own = leati_stream_new(ctx);
  memset(trip->out, 0, trip->size);
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  leati_download(ctx, own, trip->block, trip->out, trip->size);
  leati_synchronize(ctx, own);
  leati_trip_check(ctx, trip);
  leati_stream_destroy(ctx, own);
}

static void given_in_flight(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  leat_case_trip *trips = g_new(leat_case_trip, 2 * workers);
  leat_event **events = g_new(leat_event *, workers);
  (void)data;
  for (uint32_t i = 0; i < workers; ++i) {
    taken one = take(ctx, 0);
    leati_trip_begin(ctx, &trips[2 * i], one.stream, SIZE);
    leati_trip_begin(ctx, &trips[2 * i + 1], one.stream, SIZE);
    if (i % 8 == 0) {
      leati_stream_load(ctx, one.stream);
    }
    events[i] = leati_event_new(ctx);
    leati_trip_put(ctx, &trips[2 * i], i);
    LEAT_CHECK_OK(ctx, ctx->event->record(events[i], one.stream, LEAT_ERR));
    /* Behind the event, and open when the stream is released. */
    put_open(ctx, &trips[2 * i + 1], 1000 + i);
    give(ctx, one);
  }
  /* The next owner finds a stream without error whose work is its own. */
  check_all_free(ctx);
  for (uint32_t i = 0; i < workers; ++i) {
    LEAT_CHECK_OK(ctx, ctx->event->wait(events[i], forever, LEAT_ERR));
    leati_trip_check(ctx, &trips[2 * i]);
    leati_event_destroy(ctx, events[i]);
  }
  for (uint32_t i = 0; i < workers; ++i) {
    check_open(ctx, &trips[2 * i + 1]);
    leati_trip_end(ctx, &trips[2 * i]);
    leati_trip_end(ctx, &trips[2 * i + 1]);
  }
  g_free(events);
  g_free(trips);
}

/* ---- Threads that end ---- */

/* How a thread ends. */
typedef enum { BY_RETURN, BY_EXIT, BY_CANCEL } ending;

typedef struct {
  leat_case_context *ctx;
  ending how;
  uint32_t tag;
  leat_case_trip in_flight; /* covered by `event` */
  leat_case_trip open;      /* behind it */
  leat_event *event;
  gate ready; /* the thread has put its work */
} ended;

static void *end_thread(void *user_data) {
  ended *job = user_data;
  leat_case_context *ctx = job->ctx;
  leat_stream *own = current(ctx);
  leati_trip_begin(ctx, &job->in_flight, own, SIZE);
  leati_trip_begin(ctx, &job->open, own, SIZE);
  job->event = leati_event_new(ctx);
  leati_trip_put_slow(ctx, &job->in_flight, job->tag);
  LEAT_CHECK_OK(ctx, ctx->event->record(job->event, own, LEAT_ERR));
  put_open(ctx, &job->open, job->tag + 1);
  if (job->how == BY_EXIT) {
    pthread_exit(NULL);
  }
  if (job->how == BY_CANCEL) {
    g_mutex_lock(&job->ready.lock);
    ++job->ready.here;
    g_cond_broadcast(&job->ready.changed);
    g_mutex_unlock(&job->ready.lock);
    for (;;) {
      g_usleep(1000000);
    }
  }
  return NULL;
}

static void thread_ends(leat_case_context *ctx, const void *data) {
  const ending how = (ending)GPOINTER_TO_INT(data);
  uint32_t held;
  exclusive(ctx);
  held = info_now(ctx).held_count;
  for (uint32_t round = 0; round < 6; ++round) {
    ended job = {.ctx = ctx, .how = how, .tag = 2 * round};
    pthread_t thread;
    void *result = NULL;
    gate_init(&job.ready);
    LEAT_CHECK(ctx, pthread_create(&thread, NULL, end_thread, &job) == 0);
    if (how == BY_CANCEL) {
      gate_await(&job.ready, 1);
      LEAT_CHECK(ctx, pthread_cancel(thread) == 0);
    }
    LEAT_CHECK(ctx, pthread_join(thread, &result) == 0);
    LEAT_CHECK(ctx, how != BY_CANCEL || result == PTHREAD_CANCELED);
    LEAT_CHECK_MESSAGE(ctx, info_now(ctx).held_count == held, "the thread has ended and its stream is held");
    LEAT_CHECK_OK(ctx, ctx->event->wait(job.event, forever, LEAT_ERR));
    leati_trip_check(ctx, &job.in_flight);
    check_open(ctx, &job.open);
    leati_event_destroy(ctx, job.event);
    leati_trip_end(ctx, &job.in_flight);
    leati_trip_end(ctx, &job.open);
    gate_clear(&job.ready);
  }
  check_all_free(ctx);
}

/* Is cancelled while it waits for a stream: gets it, ends, and releases it. */
static void *cancelled_waiter(void *user_data) {
  leat_case_context *ctx = user_data;
  current(ctx);
  for (;;) {
    g_usleep(1000000);
  }
  return NULL;
}

static void cancelled_while_waiting(leat_case_context *ctx, const void *data) {
  uint32_t workers;
  taken *all;
  pthread_t thread;
  void *result = NULL;
  (void)data;
  configure(ctx, POLICY_SETTING, "exclusive");
  configure(ctx, TIMEOUT_SETTING, "-1");
  workers = exclusive(ctx);
  all = take_many(ctx, workers);
  LEAT_CHECK(ctx, pthread_create(&thread, NULL, cancelled_waiter, ctx) == 0);
  await_waiting(ctx, 1);
  LEAT_CHECK(ctx, pthread_cancel(thread) == 0);
  give(ctx, all[0]);
  LEAT_CHECK(ctx, pthread_join(thread, &result) == 0);
  LEAT_CHECK(ctx, result == PTHREAD_CANCELED);
  LEAT_CHECK_U64(ctx, 0, info_now(ctx).waiting_count);
  all[0] = take(ctx, 0);
  give_many(ctx, all, workers);
  check_all_free(ctx);
}

static void short_lived(leat_case_context *ctx, uint32_t index, void *data) {
  leati_network_once(ctx, data, current(ctx), ctx->seed + index);
}

typedef struct {
  uint32_t batches;
  uint32_t threads; /* of a batch */
} churn_plan;

static void churn(leat_case_context *ctx, const void *data) {
  const churn_plan *plan = data;
  leati_network *network;
  uint32_t held;
  exclusive(ctx);
  held = info_now(ctx).held_count;
  network =
      leati_network_new(ctx, (leati_network_shape){.kind = LEATI_NETWORK_LINEAR, .rows = 2, .width = 11, .hidden = 7});
  for (uint32_t i = 0; i < plan->batches; ++i) {
    leati_threads_run(ctx, plan->threads, short_lived, network);
    LEAT_CHECK_U64(ctx, held, info_now(ctx).held_count);
  }
  leati_network_free(ctx, network);
  check_all_free(ctx);
}

/* ---- Waiting ---- */

/* Threads that wait for a stream, in the order in which they began to. */
enum { QUEUE = 6 };

typedef struct queue queue;

typedef struct {
  queue *in;
  uint32_t index;
  int64_t timeout_ms;  /* of acquire() */
  gboolean by_current; /* takes it by current() instead, and releases it when it ends */
  int32_t status;
  taken one;
  GThread *thread;
} waiter;

struct queue {
  leat_case_context *ctx;
  waiter waiters[QUEUE];
  GMutex lock;           /* guards the rest */
  GCond changed;         /* broadcast when the rest changes */
  uint32_t served;       /* waiters whose call has returned */
  uint32_t order[QUEUE]; /* which ones, in turn */
  gboolean leave;        /* those that took by current() may end */
};

static gpointer wait_in_queue(gpointer user_data) {
  waiter *w = user_data;
  queue *q = w->in;
  leat_case_context *ctx = q->ctx;
  if (w->by_current) {
    w->status = pool_of(ctx)->current(leati_fixture_device(ctx), &w->one.stream, NULL);
  } else {
    w->status = try_take(ctx, w->timeout_ms, &w->one, NULL);
  }
  g_mutex_lock(&q->lock);
  q->order[q->served++] = w->index;
  g_cond_broadcast(&q->changed);
  while (w->by_current && !q->leave) {
    g_cond_wait(&q->changed, &q->lock);
  }
  g_mutex_unlock(&q->lock);
  return NULL;
}

static queue *queue_new(leat_case_context *ctx) {
  queue *q = g_new0(queue, 1);
  q->ctx = ctx;
  g_mutex_init(&q->lock);
  g_cond_init(&q->changed);
  return q;
}

/* Starts the next one. Returns when `count` threads wait. */
static void queue_enter(queue *q, uint32_t index, int64_t timeout_ms, gboolean by_current, uint32_t count) {
  waiter *w = &q->waiters[index];
  *w = (waiter){.in = q, .index = index, .timeout_ms = timeout_ms, .by_current = by_current};
  w->thread = g_thread_new("waiter", wait_in_queue, w);
  await_waiting(q->ctx, count);
}

/* Waits until so many calls have returned, and gives the number of the last of them. */
static uint32_t queue_served(queue *q, uint32_t count) {
  uint32_t last;
  g_mutex_lock(&q->lock);
  while (q->served < count) {
    g_cond_wait(&q->changed, &q->lock);
  }
  last = q->order[count - 1];
  g_mutex_unlock(&q->lock);
  return last;
}

/* Ends the threads and releases what they took. */
static void queue_free(queue *q) {
  g_mutex_lock(&q->lock);
  q->leave = TRUE;
  g_cond_broadcast(&q->changed);
  g_mutex_unlock(&q->lock);
  for (uint32_t i = 0; i < QUEUE && q->waiters[i].thread != NULL; ++i) {
    g_thread_join(q->waiters[i].thread);
    if (q->waiters[i].status == LEAT_OK && !q->waiters[i].by_current) {
      give(q->ctx, q->waiters[i].one);
    }
  }
  g_cond_clear(&q->changed);
  g_mutex_clear(&q->lock);
  g_free(q);
}

static void exhausted(leat_case_context *ctx, const void *data) {
  const int64_t timeout_ms = GPOINTER_TO_INT(data);
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  for (int i = 0; i < 3; ++i) {
    check_exhausted(ctx, timeout_ms);
    /* The pool is none the worse for it. */
    give(ctx, all[i % 2]);
    all[i % 2] = take(ctx, timeout_ms);
  }
  LEAT_CHECK_U64(ctx, 0, info_now(ctx).waiting_count);
  give_many(ctx, all, workers);
  check_all_free(ctx);
}

/* `data`: milliseconds that the waiter is ready to wait; it is served long before, or for ever. */
static void served_in_time(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  queue *q = queue_new(ctx);
  queue_enter(q, 0, GPOINTER_TO_INT(data), FALSE, 1);
  give(ctx, all[workers - 1]);
  queue_served(q, 1);
  LEAT_CHECK_MESSAGE(ctx, q->waiters[0].status == LEAT_OK, "a stream came free, and acquire() returned %s",
                     leati_case_status_name(q->waiters[0].status));
  LEAT_CHECK(ctx, q->waiters[0].one.stream == all[workers - 1].stream);
  use(ctx, q->waiters[0].one.stream, 1);
  queue_free(q);
  give_many(ctx, all, workers - 1);
  check_all_free(ctx);
}

/* `data`: which of the waiters take by current(), bit by number. */
static void first_come(leat_case_context *ctx, const void *data) {
  /* They come back in another order than they went. */
  static const uint32_t back[QUEUE] = {1, 3, 5, 0, 2, 4};
  const uint32_t by_current = GPOINTER_TO_UINT(data);
  uint32_t workers;
  taken *all;
  queue *q;
  configure(ctx, POLICY_SETTING, "exclusive");
  configure(ctx, TIMEOUT_SETTING, "-1");
  workers = exclusive(ctx);
  all = take_many(ctx, workers);
  LEAT_CHECK(ctx, workers >= QUEUE);
  q = queue_new(ctx);
  for (uint32_t i = 0; i < QUEUE; ++i) {
    queue_enter(q, i, i % 2 == 0 ? forever : LEAT_POOL_TIMEOUT_CONFIGURED, (by_current >> i & 1) != 0, i + 1);
  }
  for (uint32_t i = 0; i < QUEUE; ++i) {
    uint32_t last;
    give(ctx, all[back[i]]);
    last = queue_served(q, i + 1);
    LEAT_CHECK_MESSAGE(ctx, last == i, "waiter %u was served before waiter %u, who had come first", last, i);
    LEAT_CHECK_U64(ctx, LEAT_OK, (uint64_t)q->waiters[i].status);
    LEAT_CHECK_U64(ctx, QUEUE - 1 - i, info_now(ctx).waiting_count);
  }
  queue_free(q);
  for (uint32_t i = QUEUE; i < workers; ++i) {
    give(ctx, all[i]);
  }
  g_free(all);
  check_all_free(ctx);
}

/* Who gives up leaves the queue, and those behind move up. */
static void gives_up(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  queue *q = queue_new(ctx);
  (void)data;
  queue_enter(q, 0, forever, FALSE, 1);
  queue_enter(q, 1, forever, FALSE, 2);
  /* Begins behind both and gives up between them and the next. */
  q->waiters[2] = (waiter){.in = q, .index = 2, .timeout_ms = 30};
  q->waiters[2].thread = g_thread_new("waiter", wait_in_queue, &q->waiters[2]);
  LEAT_CHECK_U64(ctx, 2, queue_served(q, 1));
  LEAT_CHECK_U64(ctx, LEAT_ERROR_EXHAUSTED, (uint64_t)q->waiters[2].status);
  queue_enter(q, 3, forever, FALSE, 3);
  give(ctx, all[0]);
  LEAT_CHECK_U64(ctx, 0, queue_served(q, 2));
  give(ctx, all[1]);
  LEAT_CHECK_U64(ctx, 1, queue_served(q, 3));
  give(ctx, all[2]);
  LEAT_CHECK_U64(ctx, 3, queue_served(q, 4));
  queue_free(q);
  for (uint32_t i = 3; i < workers; ++i) {
    give(ctx, all[i]);
  }
  g_free(all);
  check_all_free(ctx);
}

/* Threads that ask for a stream over and over while one comes free for another who waits. */
enum { ASKERS = 3 };

typedef struct {
  leat_case_context *ctx;
  gint over;    /* atomic */
  gint awaited; /* atomic: number of the round in which somebody waits by now; 0: nobody is known to */
  gint lucky;   /* atomic: how often one who asked after that got the stream before */
} asking;

static gpointer ask_often(gpointer user_data) {
  asking *job = user_data;
  leat_case_context *ctx = job->ctx;
  while (g_atomic_int_get(&job->over) == 0) {
    taken one;
    const gint awaited = g_atomic_int_get(&job->awaited);
    if (try_take(ctx, 0, &one, NULL) == LEAT_OK) {
      if (awaited != 0 && awaited == g_atomic_int_get(&job->awaited)) {
        g_atomic_int_inc(&job->lucky);
      }
      give(ctx, one);
    }
  }
  return NULL;
}

/* Who comes when a stream has just come free for one who waits does not get it. */
static void newcomer(leat_case_context *ctx, const void *data) {
  enum { ROUNDS = 300 };
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers);
  asking job = {.ctx = ctx};
  GThread *askers[ASKERS];
  (void)data;
  for (int i = 0; i < ASKERS; ++i) {
    askers[i] = g_thread_new("asker", ask_often, &job);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    queue *q = queue_new(ctx);
    queue_enter(q, 0, forever, FALSE, 1);
    g_atomic_int_set(&job.awaited, round + 1);
    give(ctx, all[0]);
    queue_served(q, 1);
    g_atomic_int_set(&job.awaited, 0);
    LEAT_CHECK_U64(ctx, LEAT_OK, (uint64_t)q->waiters[0].status);
    /* It has the stream, which goes on without being free in between. */
    all[0] = q->waiters[0].one;
    q->waiters[0].status = LEAT_ERROR_EXHAUSTED;
    queue_free(q);
  }
  g_atomic_int_set(&job.over, 1);
  for (int i = 0; i < ASKERS; ++i) {
    g_thread_join(askers[i]);
  }
  LEAT_CHECK_MESSAGE(ctx, g_atomic_int_get(&job.lucky) == 0,
                     "%d times somebody got the stream for which another waited", g_atomic_int_get(&job.lucky));
  give_many(ctx, all, workers);
  check_all_free(ctx);
}

/* A stream that comes free because its thread ends goes to the first who waits. */
static void ends_for_waiter(leat_case_context *ctx, const void *data) {
  const uint32_t workers = exclusive(ctx);
  taken *all = take_many(ctx, workers - 1);
  queue *q = queue_new(ctx);
  queue *holder = queue_new(ctx);
  (void)data;
  /* Takes the last one by current() and has it until it ends. */
  queue_enter(holder, 0, 0, TRUE, 0);
  queue_served(holder, 1);
  LEAT_CHECK_U64(ctx, LEAT_OK, (uint64_t)holder->waiters[0].status);
  queue_enter(q, 0, forever, FALSE, 1);
  queue_enter(q, 1, forever, FALSE, 2);
  queue_free(holder);
  LEAT_CHECK_U64(ctx, 0, queue_served(q, 1));
  give(ctx, all[0]);
  LEAT_CHECK_U64(ctx, 1, queue_served(q, 2));
  queue_free(q);
  for (uint32_t i = 1; i < workers - 1; ++i) {
    give(ctx, all[i]);
  }
  g_free(all);
  check_all_free(ctx);
}

static void refused_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const int64_t timeout_ms = info_now(ctx).timeout_ms;
  leat_stream *stream = NULL;
  taken none;
  gint64 begin = g_get_monotonic_time();
  (void)index;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_EXHAUSTED, pool_of(ctx)->current(leati_fixture_device(ctx), &stream, LEAT_ERR));
  check_waited(ctx, begin, timeout_ms);
  begin = g_get_monotonic_time();
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_EXHAUSTED, try_take(ctx, LEAT_POOL_TIMEOUT_CONFIGURED, &none, LEAT_ERR));
  check_waited(ctx, begin, timeout_ms);
}

static void configured_limit(leat_case_context *ctx, const void *data) {
  const char *value = data;
  uint32_t workers;
  taken *all;
  configure(ctx, POLICY_SETTING, "exclusive");
  configure(ctx, TIMEOUT_SETTING, value);
  workers = exclusive(ctx);
  LEAT_CHECK(ctx, info_now(ctx).timeout_ms == g_ascii_strtoll(value, NULL, 10));
  all = take_many(ctx, workers);
  leati_threads_run(ctx, 3, refused_thread, NULL);
  LEAT_CHECK_U64(ctx, 6, info_now(ctx).exhausted_count);
  give_many(ctx, all, workers);
  check_all_free(ctx);
}

/* ---- Sharing ---- */

static void round_robin(leat_case_context *ctx, const void *data) {
  enum { TURNS = 3 };
  uint32_t seen[MAX_WORKERS] = {0};
  uint32_t workers;
  uint64_t before;
  taken *all;
  (void)data;
  configure(ctx, POLICY_SETTING, "round-robin");
  LEAT_CHECK_MESSAGE(ctx, (info_now(ctx).flags & LEAT_POOL_ROUND_ROBIN) != 0,
                     "the policy is round-robin, and the pool does not say so");
  workers = info_now(ctx).stream_count - 1;
  LEAT_CHECK(ctx, workers >= 2 && workers < MAX_WORKERS);
  before = info_now(ctx).acquire_count;
  all = g_new(taken, TURNS * workers);
  for (uint32_t i = 0; i < TURNS * workers; ++i) {
    leat_stream_info info = {.struct_size = sizeof(info)};
    all[i] = take(ctx, 0);
    LEAT_CHECK_OK(ctx, ctx->stream->info(all[i].stream, &info, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, info.flags == (LEAT_STREAM_POOLED | LEAT_STREAM_SHARED),
                       "a shared stream of the pool says flags 0x%x", (unsigned)info.flags);
    LEAT_CHECK(ctx, info.pool_index > 0 && info.pool_index <= (int32_t)workers);
    ++seen[info.pool_index];
    LEAT_CHECK_U64(ctx, 0, info_now(ctx).held_count);
  }
  for (uint32_t i = 1; i <= workers; ++i) {
    LEAT_CHECK_MESSAGE(ctx, seen[i] == TURNS, "the turn has come to stream %u in %u of %u takes, not in %d", i, seen[i],
                       TURNS * workers, TURNS);
  }
  LEAT_CHECK_U64(ctx, 0, info_now(ctx).exhausted_count);
  LEAT_CHECK_U64(ctx, before + TURNS * workers, info_now(ctx).acquire_count);
  for (uint32_t i = 0; i < TURNS * workers; ++i) {
    give(ctx, all[i]);
  }
  g_free(all);
  LEAT_CHECK_U64(ctx, 0, number_of(ctx, current(ctx)));
}

/* How a thread lets go of a shared stream. */
typedef enum { BY_TICKET, BY_RELEASE, BY_END } sharer_end;

typedef struct {
  leat_case_context *ctx;
  sharer_end how;
} sharer;

/* Leaves a copy open in a shared stream, and releases that in one of several ways. */
static gpointer leave_open(gpointer user_data) {
  enum { SIZE_MOVED = 1 << 20 };
  sharer *job = user_data;
  leat_case_context *ctx = job->ctx;
  taken one = {.stream = NULL};
  uint64_t blocks[2];
  if (job->how == BY_TICKET) {
    one = take(ctx, 0);
  } else {
    one.stream = current(ctx);
  }
  for (int i = 0; i < 2; ++i) {
    blocks[i] = leati_case_alloc(ctx, SIZE_MOVED, one.stream);
  }
  leati_copy(ctx, one.stream, blocks[0], blocks[1], SIZE_MOVED);
  for (int i = 0; i < 2; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  if (job->how == BY_TICKET) {
    give(ctx, one);
  } else if (job->how == BY_RELEASE) {
    LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
  }
  return NULL;
}

/* Nobody calls anything that would submit what the thread has left. Its blocks come free all the same: the case's
 * deadline ends one where they never do. */
static void shared_is_flushed(leat_case_context *ctx, const void *data) {
  sharer job = {.ctx = ctx, .how = (sharer_end)GPOINTER_TO_INT(data)};
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  guint pause_us = 0;
  configure(ctx, POLICY_SETTING, "round-robin");
  pool_of(ctx);
  g_thread_join(g_thread_new("sharer", leave_open, &job));
  do {
    leati_pause(&pause_us);
    LEAT_CHECK_OK(ctx, ctx->memory->trim(leati_fixture_device(ctx), NULL, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->memory->stats(leati_fixture_device(ctx), &stats, LEAT_ERR));
  } while (stats.reserved_bytes != 0);
}

static void shared_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_stream *own = current(ctx);
  LEAT_CHECK(ctx, number_of(ctx, own) != 0);
  for (uint32_t i = 0; i < 5; ++i) {
    leati_network_once(ctx, data, own, ctx->seed + 10 * index + i);
    LEAT_CHECK_MESSAGE(ctx, current(ctx) == own, "thread %u: another stream at use %u", index, i);
  }
}

static void shared_by_many(leat_case_context *ctx, const void *data) {
  leati_network *network;
  (void)data;
  configure(ctx, POLICY_SETTING, "round-robin");
  network =
      leati_network_new(ctx, (leati_network_shape){.kind = LEATI_NETWORK_MLP, .rows = 3, .width = 20, .hidden = 28});
  leati_threads_run(ctx, 64, shared_thread, network);
  LEAT_CHECK_U64(ctx, 0, info_now(ctx).exhausted_count);
  leati_network_free(ctx, network);
}

/* ---- Loads ---- */

typedef struct {
  const leati_network *network;
  uint32_t runs;
  gint owner[MAX_WORKERS]; /* atomic: one more than the thread that holds the stream, or 0 */
} owners;

/* Takes by current() or, every other time, by acquire(); nobody else may hold the stream meanwhile. */
static void owner_thread(leat_case_context *ctx, uint32_t index, void *data) {
  owners *job = data;
  for (uint32_t i = 0; i < job->runs; ++i) {
    const gboolean by_current = i % 2 == 0;
    taken one = {.stream = NULL};
    uint32_t number;
    if (by_current) {
      one.stream = current(ctx);
    } else {
      one = take(ctx, forever);
    }
    number = number_of(ctx, one.stream);
    LEAT_CHECK(ctx, number != 0);
    LEAT_CHECK_MESSAGE(ctx, g_atomic_int_compare_and_exchange(&job->owner[number], 0, (gint)index + 1),
                       "stream %u was given to thread %u while thread %d holds it", number, index,
                       g_atomic_int_get(&job->owner[number]) - 1);
    if (job->network != NULL) {
      leati_network_once(ctx, job->network, one.stream, ctx->seed + index * job->runs + i);
    } else {
      g_thread_yield();
    }
    LEAT_CHECK(ctx, g_atomic_int_compare_and_exchange(&job->owner[number], (gint)index + 1, 0));
    if (by_current) {
      LEAT_CHECK_OK(ctx, pool_of(ctx)->release_current(leati_fixture_device(ctx), LEAT_ERR));
    } else {
      give(ctx, one);
    }
  }
}

/* `data`: a leati_network_load, or NULL: taking and releasing alone, often. */
static void one_owner(leat_case_context *ctx, const void *data) {
  const leati_network_load *l = data;
  owners *job = g_new0(owners, 1);
  leati_network *network = NULL;
  configure(ctx, POLICY_SETTING, "exclusive");
  configure(ctx, TIMEOUT_SETTING, "-1");
  if (l != NULL) {
    network = leati_network_new(ctx, l->shape);
  }
  job->network = network;
  job->runs = l != NULL ? l->runs : 400;
  leati_threads_run(ctx, l != NULL ? l->threads : 48, owner_thread, job);
  if (network != NULL) {
    leati_network_free(ctx, network);
  }
  LEAT_CHECK_U64(ctx, 0, info_now(ctx).exhausted_count);
  g_free(job);
  check_all_free(ctx);
}

static void own_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const owners *job = data;
  for (uint32_t i = 0; i < job->runs; ++i) {
    leati_network_once(ctx, job->network, current(ctx), ctx->seed + index * job->runs + i);
  }
}

/* Each thread keeps the stream that it takes on first use until it ends. */
static void own_streams(leat_case_context *ctx, const void *data) {
  const leati_network_load *l = data;
  const uint32_t workers = exclusive(ctx);
  leati_network *network = leati_network_new(ctx, l->shape);
  owners *job = g_new0(owners, 1);
  job->network = network;
  job->runs = l->runs;
  leati_threads_run(ctx, l->threads > 0 ? MIN(l->threads, workers) : workers, own_thread, job);
  leati_network_free(ctx, network);
  g_free(job);
  check_all_free(ctx);
}

/* ---- Closing the device ---- */

enum { REOPENERS = 6 };

typedef struct {
  leat_case_context *ctx;
  gate closing; /* the threads have a stream of the device that is about to be closed */
  gate again;   /* it is open again */
} reopening;

static void reopen_thread(leat_case_context *ctx, uint32_t index, void *data) {
  reopening *job = data;
  use(ctx, current(ctx), index);
  gate_pass(&job->closing);
  /* Some never use the device again, and end with what they had. */
  if (index % 2 == 0) {
    LEAT_CHECK(ctx, number_of(ctx, current(ctx)) != 0);
    use(ctx, current(ctx), 100 + index);
  }
  gate_pass(&job->again);
}

static gpointer close_and_open(gpointer user_data) {
  reopening *job = user_data;
  leat_case_context *ctx = job->ctx;
  taken held;
  gate_await(&job->closing, REOPENERS);
  held = take(ctx, 0);
  leati_fixture_end(ctx);
  leati_fixture_begin(ctx);
  /* A ticket of the device that was closed opens nothing. */
  refuse_ticket(ctx, held.ticket);
  LEAT_CHECK_U64(ctx, 0, info_now(ctx).held_count);
  gate_open(&job->closing);
  gate_await(&job->again, REOPENERS);
  LEAT_CHECK_U64(ctx, REOPENERS / 2, info_now(ctx).held_count);
  gate_open(&job->again);
  return NULL;
}

static void closed_while_held(leat_case_context *ctx, const void *data) {
  (void)data;
  exclusive(ctx);
  for (int round = 0; round < 3; ++round) {
    reopening job = {.ctx = ctx};
    GThread *closer;
    gate_init(&job.closing);
    gate_init(&job.again);
    closer = g_thread_new("closer", close_and_open, &job);
    leati_threads_run(ctx, REOPENERS, reopen_thread, &job);
    g_thread_join(closer);
    gate_clear(&job.closing);
    gate_clear(&job.again);
    check_all_free(ctx);
    LEAT_CHECK_U64(ctx, 0, number_of(ctx, current(ctx)));
    use(ctx, current(ctx), 1);
  }
}

/* ---- The list ---- */

#define CHURN(n, t)                \
  &(const churn_plan) {            \
    .batches = (n), .threads = (t) \
  }

static const leat_case cases[] = {
    {.name = "pool.arguments.bad_ones_are_refused",
     .summary = "NULL, short structs, numbers out of range, negative timeouts and dead streams are refused.",
     .run = arguments},
    {.name = "pool.info.counts_add_up",
     .summary = "What is held, waited for, given out and refused is counted exactly.",
     .run = counts},
    {.name = "pool.main.has_stream_zero", .summary = "The main thread's stream is number 0.", .run = main_thread},
    {.name = "pool.main.has_stream_zero_though_workers_came_first",
     .summary = "The main thread's stream is number 0 though other threads opened the device and used the pool first.",
     .flags = LEAT_CASE_ALONE,
     .run = main_thread_late},
    {.name = "pool.workers.have_streams_of_their_own",
     .summary = "As many threads as there are worker streams have one each, not number 0, and keep it.",
     .run = workers_differ},
    {.name = "pool.stream.by_number_takes_nothing",
     .summary = "Every stream can be asked for by its number and used; nothing is taken by that.",
     .run = by_number},
    {.name = "pool.destroy.is_refused",
     .summary = "A stream of the pool cannot be destroyed, and works on.",
     .run = destroy_refused},
    {.name = "pool.host_streams.live_beside_it",
     .summary = "Streams of create() are none of the pool's, and work while all of those are taken.",
     .run = host_streams},
    {.name = "pool.set_current.never_transfers",
     .summary = "A stream that threads bind, use and let go in several ways is its holder's all the time.",
     .run = never_transfers},
    {.name = "pool.set_current.tells_what_was_bound",
     .summary = "set_current() tells what was bound; NULL gives the thread's own stream again.",
     .run = previous_is_told},
    {.name = "pool.set_current.takes_nothing",
     .summary = "Threads with streams of the host bound work while the pool is empty.",
     .run = binding_takes_nothing},
    {.name = "pool.set_current.destroyed_stream_is_an_error",
     .summary = "current() fails while a destroyed stream is bound, also when there are new ones, and recovers.",
     .run = destroyed_while_bound},
    {.name = "pool.release.explicit",
     .summary = "release_current() gives the thread's own stream back; without one it does nothing.",
     .run = explicit_release},
    {.name = "pool.release.ticket_serves_once",
     .summary = "A ticket is refused the second time, also when its stream is held by another.",
     .run = ticket_once},
    {.name = "pool.release.old_tickets_stay_dead",
     .summary = "Of two thousand old tickets none releases a stream that others hold now.",
     .run = old_tickets},
    {.name = "pool.release.from_any_thread",
     .summary = "Streams are taken by one thread, used by a second and released by a third.",
     .run = other_threads},
    {.name = "pool.release.work_in_flight_goes_on",
     .summary = "What is open or in flight when a stream is released runs, beside what its next owner does.",
     .run = given_in_flight},
    {.name = "pool.thread_end.returns_the_stream",
     .summary = "A thread that returns gives its stream back; its work, open and in flight, runs.",
     .run = thread_ends,
     .data = GINT_TO_POINTER(BY_RETURN)},
    {.name = "pool.thread_end.by_pthread_exit",
     .summary = "A thread that calls pthread_exit() gives its stream back; its work runs.",
     .run = thread_ends,
     .data = GINT_TO_POINTER(BY_EXIT)},
    {.name = "pool.thread_end.by_cancellation",
     .summary = "A thread that is cancelled gives its stream back; its work runs.",
     .run = thread_ends,
     .data = GINT_TO_POINTER(BY_CANCEL)},
    {.name = "pool.thread_end.cancelled_while_waiting",
     .summary = "A thread that is cancelled while it waits for a stream takes none with it.",
     .flags = LEAT_CASE_ALONE,
     .run = cancelled_while_waiting},
    {.name = "pool.churn.fifty_one_by_one",
     .summary = "Fifty threads, one after the other, compute right on the pool's streams.",
     .run = churn,
     .data = CHURN(50, 1)},
    {.name = "pool.churn.two_hundred_one_by_one",
     .summary = "Two hundred threads, far more than streams, compute right one after the other.",
     .run = churn,
     .data = CHURN(200, 1)},
    {.name = "pool.churn.four_batches_of_twenty",
     .summary = "Four batches of twenty threads compute right on the pool's streams.",
     .run = churn,
     .data = CHURN(4, 20)},
    {.name = "pool.exhausted.zero_timeout_is_refused",
     .summary = "With all streams taken and no time to wait, LEAT_ERROR_EXHAUSTED.",
     .run = exhausted,
     .data = GINT_TO_POINTER(0)},
    {.name = "pool.exhausted.short_timeout_is_refused",
     .summary = "With all streams taken until the time has passed, LEAT_ERROR_EXHAUSTED.",
     .run = exhausted,
     .data = GINT_TO_POINTER(8)},
    {.name = "pool.exhausted.long_timeout_is_served",
     .summary = "Who waits with a limit gets the stream that comes free before.",
     .run = served_in_time,
     .data = GINT_TO_POINTER(100000000)},
    {.name = "pool.exhausted.forever_is_served",
     .summary = "Who waits without a limit gets the stream that comes free.",
     .run = served_in_time,
     .data = GINT_TO_POINTER(-1)},
    {.name = "pool.exhausted.configured_not_to_wait",
     .summary = "With the setting 0, first use and acquire() fail while all streams are taken.",
     .flags = LEAT_CASE_ALONE,
     .run = configured_limit,
     .data = "0"},
    {.name = "pool.exhausted.configured_to_wait_a_little",
     .summary = "With the setting 10, first use and acquire() fail when the time has passed.",
     .flags = LEAT_CASE_ALONE,
     .run = configured_limit,
     .data = "10"},
    {.name = "pool.order.first_come_first_served",
     .summary = "Six threads that wait in acquire() are served in the order in which they came.",
     .flags = LEAT_CASE_ALONE,
     .run = first_come,
     .data = GUINT_TO_POINTER(0)},
    {.name = "pool.order.first_use_queues_too",
     .summary = "Threads that wait on first use and in acquire() are served in one order.",
     .flags = LEAT_CASE_ALONE,
     .run = first_come,
     .data = GUINT_TO_POINTER(0x2a)},
    {.name = "pool.order.who_gives_up_leaves_the_queue",
     .summary = "A thread whose time has passed is refused, and the others keep their order.",
     .run = gives_up},
    {.name = "pool.order.newcomers_do_not_overtake",
     .summary = "A stream that comes free while a thread waits is not for one who comes just then.",
     .run = newcomer},
    {.name = "pool.order.ended_thread_serves_the_first",
     .summary = "The stream of a thread that ends goes to the first who waits.",
     .run = ends_for_waiter},
    {.name = "pool.round_robin.shares_and_never_refuses",
     .summary = "Round-robin gives every stream equally often, says that it is shared, and refuses nobody.",
     .flags = LEAT_CASE_ALONE,
     .run = round_robin},
    {.name = "pool.round_robin.sixty_four_threads",
     .summary = "Sixty-four threads compute right on the shared streams.",
     .flags = LEAT_CASE_ALONE,
     .run = shared_by_many},
    {.name = "pool.round_robin.release_flushes",
     .summary = "What a shared stream holds when release() is called runs though nobody uses the stream again.",
     .flags = LEAT_CASE_ALONE,
     .run = shared_is_flushed,
     .data = GINT_TO_POINTER(BY_TICKET)},
    {.name = "pool.round_robin.release_current_flushes",
     .summary = "What a shared stream holds when release_current() is called runs though nobody uses it again.",
     .flags = LEAT_CASE_ALONE,
     .run = shared_is_flushed,
     .data = GINT_TO_POINTER(BY_RELEASE)},
    {.name = "pool.round_robin.thread_end_flushes",
     .summary = "What a shared stream holds when a thread ends that had it runs though nobody uses it again.",
     .flags = LEAT_CASE_ALONE,
     .run = shared_is_flushed,
     .data = GINT_TO_POINTER(BY_END)},
    {.name = "pool.load.one_owner_at_a_time",
     .summary = "Forty-eight threads that take and release 400 times never hold a stream two at once.",
     .flags = LEAT_CASE_ALONE,
     .run = one_owner},
    {.name = "pool.load.forty_wait_their_turn",
     .summary = "Forty threads, more than streams, wait for one for each run; all are served and right.",
     .flags = LEAT_CASE_ALONE,
     .run = one_owner,
     .data = LEATI_NETWORK_LOAD(40, 12, .kind = LEATI_NETWORK_MLP, .rows = 3, .width = 20, .hidden = 28)},
    {.name = "pool.load.every_stream_by_hundred",
     .summary = "A thread on every worker stream runs a linear layer a hundred times, every output right.",
     .run = own_streams,
     .data = LEATI_NETWORK_LOAD(0, 100, .kind = LEATI_NETWORK_LINEAR, .rows = 3, .width = 17, .hidden = 9)},
    {.name = "pool.load.transformer_eight",
     .summary = "Eight threads run a transformer block on streams of the pool, every output right.",
     .run = own_streams,
     .data = LEATI_NETWORK_LOAD(8, 4, .kind = LEATI_NETWORK_TRANSFORMER, .rows = 10, .width = 24, .hidden = 48,
                                .heads = 3)},
    {.name = "pool.load.transformer_sixteen",
     .summary = "Sixteen threads run a transformer block on streams of the pool, every output right.",
     .run = own_streams,
     .data = LEATI_NETWORK_LOAD(16, 3, .kind = LEATI_NETWORK_TRANSFORMER, .rows = 10, .width = 24, .hidden = 48,
                                .heads = 3)},
    {.name = "pool.load.transformer_every_stream",
     .summary = "A thread on every worker stream runs a transformer block, every output right.",
     .run = own_streams,
     .data = LEATI_NETWORK_LOAD(0, 2, .kind = LEATI_NETWORK_TRANSFORMER, .rows = 10, .width = 24, .hidden = 48,
                                .heads = 3)},
    {.name = "pool.close.while_threads_hold_streams",
     .summary = "The device is closed and opened again while threads hold streams; they go on with new ones.",
     .flags = LEAT_CASE_ALONE,
     .run = closed_while_held},
};

void leati_cases_pool(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
