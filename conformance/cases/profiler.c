/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_profiler_api: what records say, and that asking for them does no harm. A device may have no clock
 * that can be read: then start() says so, and everything else works and gives nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/graph_net.h"
#include "cases/sources.h"
#include "fixture.h"

enum { CAPACITY = 4096, STEPS = 12, THREADS = 6, ROUNDS = 40 };

static const leat_profiler_api *profiler_of(const leat_case_context *ctx) {
  if (ctx->api->profiler == NULL) {
    leati_case_skip(ctx, "the profiler table is NULL");
  }
  return ctx->api->profiler;
}

/* Starts, or ends the case if the device cannot. */
static void start(leat_case_context *ctx, uint32_t capacity) {
  const leat_profiler_api *profiler = profiler_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  const int32_t status = profiler->start(device, capacity, 0, LEAT_ERR);
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    leat_profiler_info info = {.struct_size = sizeof(info)};
    uint32_t count = 0;
    LEAT_CHECK_OK(ctx, profiler->stop(device, LEAT_ERR));
    LEAT_CHECK_OK(ctx, profiler->read(device, &count, NULL, LEAT_ERR));
    LEAT_CHECK_OK(ctx, profiler->info(device, &info, LEAT_ERR));
    LEAT_CHECK_U64(ctx, 0, info.flags);
    LEAT_CHECK_U64(ctx, 0, info.pending_count);
    leati_case_skip(ctx, "start() says LEAT_ERROR_NOT_SUPPORTED");
  }
  LEAT_CHECK_OK(ctx, status);
}

static void stop(leat_case_context *ctx) {
  LEAT_CHECK_OK(ctx, ctx->api->profiler->stop(leati_fixture_device(ctx), LEAT_ERR));
}

static leat_profiler_info info_of(leat_case_context *ctx) {
  leat_profiler_info info = {.struct_size = sizeof(info)};
  LEAT_CHECK_OK(ctx, ctx->api->profiler->info(leati_fixture_device(ctx), &info, LEAT_ERR));
  return info;
}

/* Reads all that is there, some at a time. Free the array with g_array_unref(). */
static GArray *read_all(leat_case_context *ctx) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(leat_profile_record));
  uint32_t count;
  do {
    leat_profile_record some[7];
    memset(some, 0, sizeof(some));
    for (size_t i = 0; i < G_N_ELEMENTS(some); ++i) {
      some[i].struct_size = sizeof(some[i]);
    }
    count = G_N_ELEMENTS(some);
    LEAT_CHECK_OK(ctx, ctx->api->profiler->read(leati_fixture_device(ctx), &count, some, LEAT_ERR));
    LEAT_CHECK(ctx, count <= G_N_ELEMENTS(some));
    g_array_append_vals(all, some, count);
  } while (count != 0);
  return all;
}

static const leat_profile_record *record_at(const GArray *all, guint i) {
  return &g_array_index(all, leat_profile_record, i);
}

static guint count_kind(const GArray *all, uint32_t kind) {
  guint count = 0;
  for (guint i = 0; i < all->len; ++i) {
    count += record_at(all, i)->kind == kind;
  }
  return count;
}

/* What is true of any record. */
static void check_record(leat_case_context *ctx, const leat_profile_record *r) {
  const gboolean device =
      r->kind == LEAT_PROFILE_LAUNCH || r->kind == LEAT_PROFILE_KERNEL || r->kind == LEAT_PROFILE_COPY;
  const gboolean call = device || r->kind == LEAT_PROFILE_RECORD;
  LEAT_CHECK_U64(ctx, sizeof(*r), r->struct_size);
  LEAT_CHECK(ctx, r->kind != 0);
  LEAT_CHECK(ctx, r->begin_ns <= r->end_ns);
  LEAT_CHECK(ctx, memchr(r->op, '\0', sizeof(r->op)) != NULL && memchr(r->name, '\0', sizeof(r->name)) != NULL);
  LEAT_CHECK(ctx, g_utf8_validate(r->op, -1, NULL) && g_utf8_validate(r->name, -1, NULL));
  LEAT_CHECK(ctx, call == (r->launch != 0));
  LEAT_CHECK(ctx, call == (r->op[0] != '\0'));
  LEAT_CHECK(ctx, r->kind != LEAT_PROFILE_COMPILE || r->name[0] != '\0');
  LEAT_CHECK(ctx, r->busy_ns <= (device ? r->end_ns - r->begin_ns : 0));
  LEAT_CHECK(ctx, !device || (r->recorded_ns != 0 && r->recorded_ns <= r->submitted_ns));
}

/* What is true of the records of one call, all of which are there: one LAUNCH, one RECORD, and as many steps as these
 * say, whose times lie in the launch's and whose busy times add up to its own. */
static void check_call(leat_case_context *ctx, const GArray *all, uint64_t launch) {
  const leat_profile_record *whole = NULL, *recording = NULL;
  uint64_t busy = 0, seen = 0;
  uint32_t steps = 0;
  for (guint i = 0; i < all->len; ++i) {
    const leat_profile_record *r = record_at(all, i);
    if (r->launch != launch) {
      continue;
    }
    if (r->kind == LEAT_PROFILE_LAUNCH) {
      LEAT_CHECK(ctx, whole == NULL);
      whole = r;
    } else if (r->kind == LEAT_PROFILE_RECORD) {
      LEAT_CHECK(ctx, recording == NULL);
      recording = r;
    } else {
      LEAT_CHECK(ctx, r->step < 64 && (seen & UINT64_C(1) << r->step) == 0);
      seen |= UINT64_C(1) << r->step;
      busy += r->busy_ns;
      ++steps;
    }
  }
  LEAT_CHECK(ctx, whole != NULL && recording != NULL);
  LEAT_CHECK_U64(ctx, steps, whole->step);
  LEAT_CHECK_U64(ctx, steps, recording->step);
  LEAT_CHECK_U64(ctx, busy, whole->busy_ns);
  LEAT_CHECK_U64(ctx, recording->begin_ns, whole->recorded_ns);
  LEAT_CHECK_U64(ctx, recording->thread, whole->thread);
  LEAT_CHECK(ctx, recording->thread != 0 && whole->stream != 0);
  for (guint i = 0; i < all->len; ++i) {
    const leat_profile_record *r = record_at(all, i);
    if (r->launch == launch && r->kind != LEAT_PROFILE_RECORD) {
      LEAT_CHECK(ctx, r->begin_ns >= whole->begin_ns && r->end_ns <= whole->end_ns);
      LEAT_CHECK_U64(ctx, whole->stream, r->stream);
    }
  }
}

static void check_all(leat_case_context *ctx, const GArray *all) {
  for (guint i = 0; i < all->len; ++i) {
    check_record(ctx, record_at(all, i));
    if (record_at(all, i)->kind == LEAT_PROFILE_LAUNCH) {
      check_call(ctx, all, record_at(all, i)->launch);
    }
  }
}

/* Stops, and gives the records, each of which is checked. Free the array with g_array_unref(). */
static GArray *stop_and_read(leat_case_context *ctx) {
  stop(ctx);
  GArray *all = read_all(ctx);
  check_all(ctx, all);
  return all;
}

/* Checks what was computed, and frees it and its stream. */
static void end_sum(leat_case_context *ctx, leat_case_sum *sum, leat_stream *stream) {
  leati_sum_check(ctx, sum, stream);
  leati_sum_end(ctx, sum);
  leati_stream_destroy(ctx, stream);
}

/* Ends the profile and the work of a case whose profile holds one call. */
static void end_with_one_launch(leat_case_context *ctx, leat_case_sum *sum, leat_stream *stream) {
  g_autoptr(GArray) all = stop_and_read(ctx);
  LEAT_CHECK_U64(ctx, 1, count_kind(all, LEAT_PROFILE_LAUNCH));
  end_sum(ctx, sum, stream);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

static void bad_arguments(leat_case_context *ctx, const void *data) {
  const leat_profiler_api *profiler = profiler_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  leat_profile_record records[2] = {{.struct_size = sizeof(records[0])}, {.struct_size = 8}};
  leat_profiler_info info = {.struct_size = 8};
  uint32_t count = 2;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->start(NULL, 0, 0, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->stop(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->read(NULL, &count, records, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->info(NULL, &info, LEAT_ERR));
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    profiler->start(device, 0, UINT64_C(1) << 63, LEAT_ERR));
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    profiler->start(device, UINT32_MAX, 0, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->read(device, NULL, records, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->read(device, &count, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->read(device, &count, records, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->info(device, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, profiler->info(device, &info, LEAT_ERR));
}

static void starts_and_stops(leat_case_context *ctx, const void *data) {
  (void)data;
  LEAT_CHECK_OK(ctx, profiler_of(ctx)->stop(leati_fixture_device(ctx), LEAT_ERR));
  start(ctx, CAPACITY);
  LEAT_CHECK_U64(ctx, CAPACITY, info_of(ctx).capacity);
  LEAT_CHECK(ctx, (info_of(ctx).flags & LEAT_PROFILER_RUNNING) != 0);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_BUSY, ctx->api->profiler->start(leati_fixture_device(ctx), 0, 0, LEAT_ERR));
  stop(ctx);
  stop(ctx);
  LEAT_CHECK(ctx, (info_of(ctx).flags & LEAT_PROFILER_RUNNING) == 0);
  start(ctx, 0);
  LEAT_CHECK(ctx, info_of(ctx).capacity != 0);
  stop(ctx);
}

/* Calls before, between and behind start() and stop(), on one stream that is never flushed by the caller there. */
static void operators_between(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  (void)data;
  leati_sum_begin(ctx, &sum, stream, 1000);
  leati_sum_step(ctx, &sum, stream);
  start(ctx, CAPACITY);
  for (uint32_t i = 0; i < STEPS; ++i) {
    leati_sum_step(ctx, &sum, stream);
  }
  stop(ctx);
  leati_sum_step(ctx, &sum, stream);
  leati_synchronize(ctx, stream);
  g_autoptr(GArray) all = read_all(ctx);
  check_all(ctx, all);
  LEAT_CHECK_U64(ctx, STEPS, count_kind(all, LEAT_PROFILE_LAUNCH));
  uint64_t busy = 0, first = UINT64_MAX, last = 0;
  for (guint i = 0; i < all->len; ++i) {
    const leat_profile_record *r = record_at(all, i);
    if (r->kind == LEAT_PROFILE_KERNEL) {
      LEAT_CHECK(ctx, g_str_equal(r->op, "Add"));
      LEAT_CHECK_U64(ctx, LEAT_PROFILE_NO_NODE, r->node);
      LEAT_CHECK_U64(ctx, (uint64_t)(uintptr_t)stream, r->stream);
    }
    if (r->kind == LEAT_PROFILE_LAUNCH) {
      busy += r->busy_ns;
      first = MIN(first, r->begin_ns);
      last = MAX(last, r->end_ns);
    }
  }
  /* What one lane spent lies in the time from the first to the last. */
  LEAT_CHECK(ctx, busy <= last - first);
  LEAT_CHECK_U64(ctx, 0, info_of(ctx).pending_count);
  LEAT_CHECK_U64(ctx, 0, info_of(ctx).lost_count);
  end_sum(ctx, &sum, stream);
}

static void copies(leat_case_context *ctx, const void *data) {
  enum { SIZE = 1 << 18 };
  leat_case_trip trip;
  (void)data;
  leati_trip_begin(ctx, &trip, NULL, SIZE);
  start(ctx, CAPACITY);
  leati_trip_put(ctx, &trip, 1);
  leati_synchronize(ctx, trip.stream);
  leati_trip_check(ctx, &trip);
  g_autoptr(GArray) all = stop_and_read(ctx);
  guint downloads = 0;
  for (guint i = 0; i < all->len; ++i) {
    downloads += record_at(all, i)->kind == LEAT_PROFILE_COPY && g_str_equal(record_at(all, i)->op, "download");
  }
  LEAT_CHECK(ctx, downloads != 0);
  leati_trip_end(ctx, &trip);
}

/* Names that a careless writer would trip over; the last is longer than a record holds, in characters of three bytes.
 */
static char *node_name(guint i) {
  static const char *const names[] = {"quote \" and \\ backslash", "line\nbreak\tand\001control", "Ünï\xe2\x82\xac"};
  if (i < G_N_ELEMENTS(names)) {
    return g_strdup(names[i]);
  }
  GString *name = g_string_new("x");
  for (int k = 0; k < 100; ++k) {
    g_string_append(name, "\xe2\x82\xac");
  }
  return g_string_free(name, FALSE);
}

static void nodes_of_graphs(leat_case_context *ctx, const void *data) {
  enum { LAUNCHES = 3 };
  char *names[LEATI_BUILDER_NODES] = {NULL};
  (void)data;
  leati_graph_require(ctx);
  leati_net *net = leati_net_new(ctx, LEATI_NET_DIAMOND, false);
  const uint32_t nodes = net->builder->desc.node_count;
  for (uint32_t i = 0; i < nodes; ++i) {
    names[i] = node_name(i);
    net->builder->nodes[i].name = names[i];
  }
  leat_graph *graph = leati_graph_new(ctx, net->builder);
  leat_stream *stream = leati_stream_new(ctx);
  start(ctx, CAPACITY);
  for (uint32_t i = 0; i < LAUNCHES; ++i) {
    leati_flight_once(net, graph, stream, i);
  }
  stop(ctx);
  leati_graph_destroy(ctx, graph);
  g_autoptr(GArray) all = read_all(ctx);
  check_all(ctx, all);
  guint launches = 0, kernels = 0;
  for (guint i = 0; i < all->len; ++i) {
    const leat_profile_record *r = record_at(all, i);
    launches += r->kind == LEAT_PROFILE_LAUNCH && g_str_equal(r->op, "graph");
    if (r->kind == LEAT_PROFILE_KERNEL && r->node != LEAT_PROFILE_NO_NODE) {
      ++kernels;
      LEAT_CHECK(ctx, r->node < nodes);
      LEAT_CHECK(ctx, g_str_has_prefix(names[r->node], r->name));
      LEAT_CHECK(ctx, strlen(r->name) == strlen(names[r->node]) || strlen(r->name) + 4 > sizeof(r->name) - 1);
    }
  }
  LEAT_CHECK_U64(ctx, LAUNCHES, launches);
  LEAT_CHECK(ctx, kernels >= LAUNCHES);
  leati_stream_destroy(ctx, stream);
  leati_net_free(net);
  for (uint32_t i = 0; i < nodes; ++i) {
    g_free(names[i]);
  }
}

static void overflow(leat_case_context *ctx, const void *data) {
  enum { FEW = 5 };
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  (void)data;
  leati_sum_begin(ctx, &sum, stream, 100);
  start(ctx, FEW);
  for (uint32_t i = 0; i < STEPS; ++i) {
    leati_sum_step(ctx, &sum, stream);
  }
  leati_synchronize(ctx, stream);
  LEAT_CHECK_U64(ctx, FEW, info_of(ctx).pending_count);
  /* A launch, a step and the recording of each. */
  const uint64_t lost = info_of(ctx).lost_count;
  LEAT_CHECK(ctx, lost >= 3 * STEPS - FEW);
  g_autoptr(GArray) few = read_all(ctx);
  LEAT_CHECK_U64(ctx, FEW, few->len);
  /* There is room again, and what was lost stays told. */
  leati_sum_step(ctx, &sum, stream);
  leati_synchronize(ctx, stream);
  g_autoptr(GArray) more = read_all(ctx);
  LEAT_CHECK(ctx, more->len >= 3);
  LEAT_CHECK(ctx, info_of(ctx).lost_count >= lost);
  stop(ctx);
  end_sum(ctx, &sum, stream);
}

static void fresh_start(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  (void)data;
  leati_sum_begin(ctx, &sum, stream, 100);
  start(ctx, CAPACITY);
  for (uint32_t i = 0; i < STEPS; ++i) {
    leati_sum_step(ctx, &sum, stream);
  }
  stop(ctx);
  /* What was recorded for the first run may still be under way. */
  start(ctx, CAPACITY);
  leati_sum_step(ctx, &sum, stream);
  leati_synchronize(ctx, stream);
  end_with_one_launch(ctx, &sum, stream);
}

static void streams_that_go(leat_case_context *ctx, const void *data) {
  leat_stream *stays = leati_stream_new(ctx);
  leat_case_sum sum;
  (void)data;
  leati_sum_begin(ctx, &sum, stays, 100);
  leati_synchronize(ctx, stays);
  start(ctx, CAPACITY);
  leat_stream *goes = leati_stream_new(ctx);
  leati_sum_step(ctx, &sum, goes);
  leati_stream_destroy(ctx, goes);
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  end_with_one_launch(ctx, &sum, stays);
}

/* A device of the case's own is closed with records that nobody reads, and while the profiler runs. */
static void closed_unread(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  (void)data;
  leati_sum_begin(ctx, &sum, stream, 100);
  start(ctx, CAPACITY);
  for (uint32_t i = 0; i < STEPS; ++i) {
    leati_sum_step(ctx, &sum, stream);
  }
  end_sum(ctx, &sum, stream);
  /* The runner closes the device. */
}

/* Threads that work, while others start, read and stop. */
static void toggle_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_device *device = leati_fixture_device(ctx);
  (void)data;
  if (index < 2) {
    for (uint32_t i = 0; i < ROUNDS; ++i) {
      LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_BUSY, ctx->api->profiler->start(device, 64 + i, 0, LEAT_ERR));
      g_autoptr(GArray) some = read_all(ctx);
      for (guint k = 0; k < some->len; ++k) {
        check_record(ctx, record_at(some, k));
      }
      stop(ctx);
    }
    return;
  }
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  leati_sum_begin(ctx, &sum, stream, 500);
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    leati_sum_step(ctx, &sum, stream);
    if (i % (index + 1) == 0) {
      leati_synchronize(ctx, stream);
    }
  }
  end_sum(ctx, &sum, stream);
}

static void toggled(leat_case_context *ctx, const void *data) {
  (void)data;
  start(ctx, CAPACITY);
  stop(ctx);
  leati_threads_run(ctx, THREADS, toggle_thread, NULL);
}

static gboolean is_forked(int32_t status, leat_error *err) {
  const gboolean is = status == LEAT_ERROR_FORKED && err->code == LEAT_ERROR_FORKED && err->message[0] != '\0';
  *err = (leat_error){.struct_size = sizeof(*err)};
  return is;
}

/* In the child: prints nothing and checks with no macro, since the outcome is the parent's to tell. Returns the number
 * of the first function that does not refuse, from 1 on, or 0. */
static int forked_calls(const leat_profiler_api *profiler, leat_device *device) {
  leat_error err = {.struct_size = sizeof(err)};
  leat_profiler_info info = {.struct_size = sizeof(info)};
  uint32_t count = 0;
  return !is_forked(profiler->start(device, 0, 0, &err), &err)          ? 1
         : !is_forked(profiler->stop(device, &err), &err)               ? 2
         : !is_forked(profiler->read(device, &count, NULL, &err), &err) ? 3
         : !is_forked(profiler->info(device, &info, &err), &err)        ? 4
                                                                        : 0;
}

static void forked(leat_case_context *ctx, const void *data) {
  static const char *const calls[] = {"start()", "stop()", "read()", "info()"};
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_sum sum;
  int status = 0;
  (void)data;
  leati_sum_begin(ctx, &sum, stream, 100);
  start(ctx, CAPACITY);
  leati_sum_step(ctx, &sum, stream);
  const pid_t child = fork();
  LEAT_CHECK_MESSAGE(ctx, child >= 0, "fork() failed: %s", g_strerror(errno));
  if (child == 0) {
    /* A call that hangs in the child must not outlive the case. */
    alarm((unsigned)(20.0 * ctx->scale) + 1);
    _exit(forked_calls(ctx->api->profiler, leati_fixture_device(ctx)));
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    continue;
  }
  LEAT_CHECK_MESSAGE(ctx, WIFEXITED(status), "the forked child was ended by signal %d (14: a call did not return)",
                     WTERMSIG(status));
  LEAT_CHECK_MESSAGE(ctx, WEXITSTATUS(status) == 0,
                     "in the forked child %s did not give LEAT_ERROR_FORKED, or left no message",
                     calls[(WEXITSTATUS(status) - 1) % 4]);
  /* The parent is unharmed. */
  leati_sum_check(ctx, &sum, stream);
  g_autoptr(GArray) all = stop_and_read(ctx);
  LEAT_CHECK(ctx, count_kind(all, LEAT_PROFILE_LAUNCH) != 0);
  leati_sum_end(ctx, &sum);
  leati_stream_destroy(ctx, stream);
}

static const leat_case profiler_cases[] = {
    {.name = "profiler.arguments.bad_are_refused",
     .summary = "Bad arguments of the profiler are refused.",
     .run = bad_arguments},
    {.name = "profiler.start.starts_once_and_stops",
     .summary = "The profiler starts once, stops any number of times, and starts again.",
     .run = starts_and_stops},
    {.name = "profiler.start.begins_afresh",
     .summary = "A second start drops what the first left, also what runs later.",
     .run = fresh_start},
    {.name = "profiler.read.operators_between_start_and_stop",
     .summary = "Just the calls between start and stop have records, whose times go together.",
     .run = operators_between},
    {.name = "profiler.read.copies_are_told", .summary = "Copies have records.", .run = copies},
    {.name = "profiler.read.nodes_of_graphs",
     .summary = "Kernels of a graph tell their node, by number and name, whatever is in the name.",
     .run = nodes_of_graphs},
    {.name = "profiler.read.streams_that_go",
     .summary = "Work of a stream that is destroyed has its records.",
     .run = streams_that_go},
    {.name = "profiler.lost.what_finds_no_room_is_counted",
     .summary = "Records that find no room are dropped and counted; work goes on.",
     .run = overflow},
    {.name = "profiler.close.with_records_unread",
     .summary = "A device is closed while its profiler runs, with records that nobody read.",
     .flags = LEAT_CASE_ALONE,
     .run = closed_unread},
    {.name = "profiler.fork.child_is_refused",
     .summary = "Every call of the table in a forked child gives LEAT_ERROR_FORKED; the parent's profile goes on.",
     .run = forked},
    {.name = "profiler.threads.toggled_while_others_work",
     .summary = "Threads start, read and stop while others work; every answer is right.",
     .run = toggled},
};

void leati_cases_profiler(leat_case_list *list) {
  leati_case_list_add(list, profiler_cases, G_N_ELEMENTS(profiler_cases));
}
