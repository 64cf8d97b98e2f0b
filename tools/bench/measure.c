/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/graphs.h"
#include "bench/kinds.h"
#include "bench/measure_kernels.h"
#include "bench/work.h"
#include "fault.h"

#define RUNS_UNIT "runs/s"
#define FLOOR_NAME "combined"
#define ALLOCATION_BYTES ((guint64)64 << 10)
#define CALLS 20000 /* of one function in a repetition of "locks" */

/* One line of a measurement: a task that is run from each number of threads. */
typedef struct line {
  const char *variant;
  const char *setting; /* or NULL */
  const leati_task *task;
  gpointer context;
  guint threads_max; /* 0: any number */
} line;

static gboolean open_floor(leati_bench *b, GError **error) {
  if (b->floor == NULL) {
    b->floor = leati_floor_open(b->rig.info.uuid, error);
  }
  return b->floor != NULL;
}

/* The number of threads that may use the pool, or 0: no pool, or one that does not work. */
static guint pool_threads(const leati_bench *b) {
  leat_stream *stream;
  const guint threads = leati_rig_pool_threads(&b->rig);
  return threads > 0 && b->rig.api->pool->current(b->rig.device, &stream, NULL) == LEAT_OK ? threads : 0;
}

static leati_work work_of(const leati_bench *b) {
  return (leati_work){.rig = &b->rig, .pool = b->pool, .depth = 1, .length = LEATI_CHAIN_LENGTH};
}

static leati_team_plan plan_of(const leati_bench *b, guint threads) {
  return (leati_team_plan){.threads = threads, .seconds = b->seconds, .warmup = b->warmup};
}

static gboolean measure_once(leati_bench *b, const char *measurement, const line *l, guint threads, leati_sample *out,
                             GError **error) {
  const leati_team_plan plan = plan_of(b, threads);
  if (!leati_team_run(l->task, l->context, &plan, out, error)) {
    g_prefix_error(error, "%s, %s, %u threads: ", measurement, l->variant, threads);
    return FALSE;
  }
  return TRUE;
}

/* Measures the lines in turn, from each number of threads, over and over, so that a change in the machine's mood hits
 * all alike. With @p base, each line but that one is compared with it. */
static gboolean measure_lines(leati_bench *b, const char *measurement, const line *lines, guint count,
                              const GArray *threads, const line *base, GError **error) {
  for (gint64 r = 0; r < b->repeat; ++r) {
    for (guint t = 0; t < threads->len; ++t) {
      const guint n = g_array_index(threads, guint, t);
      double base_rate = 0;
      for (guint i = 0; i < count; ++i) {
        const line *l = &lines[i];
        if (l->threads_max != 0 && n > l->threads_max) {
          continue;
        }
        leati_sample sample;
        if (!measure_once(b, measurement, l, n, &sample, error)) {
          return FALSE;
        }
        leati_result_point *point = leati_results_point(&b->results, measurement, l->variant, l->setting, n, RUNS_UNIT);
        leati_result_point_add(point, &sample);
        if (l == base) {
          base_rate = sample.rate;
        } else if (base_rate > 0) {
          leati_result_point_compare(point, base->variant, base_rate);
        }
      }
    }
  }
  return TRUE;
}

/* ---- floor ------------------------------------------------------------------------------------------------------- */

static gboolean measure_floor(leati_bench *b, GError **error) {
  if (!open_floor(b, error)) {
    return FALSE;
  }
  leati_floor_job own = {b->floor, LEATI_FLOOR_OWN, 1, 0}, locked = {b->floor, LEATI_FLOOR_LOCKED, 1, 0},
                  combined = {b->floor, LEATI_FLOOR_COMBINED, 1, 0},
                  deep = {b->floor, LEATI_FLOOR_COMBINED, LEATI_FLOOR_DEPTH, 0};
  g_autofree char *own_name = g_strdup_printf("a queue each (of %u)", leati_floor_queue_count(b->floor));
  const line lines[] = {{own_name, NULL, &leati_floor_task, &own, LEATI_FLOOR_SEATS},
                        {"one queue, locked", NULL, &leati_floor_task, &locked, LEATI_FLOOR_SEATS},
                        {FLOOR_NAME, NULL, &leati_floor_task, &combined, LEATI_FLOOR_SEATS},
                        {"combined, 8 deep", NULL, &leati_floor_task, &deep, LEATI_FLOOR_SEATS}};
  return measure_lines(b, "floor", lines, G_N_ELEMENTS(lines), b->threads, NULL, error);
}

/* ---- op, linear ------------------------------------------------------------------------------------------------- */

/* The given lines after the floor, if that is wanted. */
static gboolean measure_on_floor(leati_bench *b, const char *measurement, const line *lines, guint count,
                                 const GArray *threads, GError **error) {
  leati_floor_job combined = {NULL, LEATI_FLOOR_COMBINED, 1, 0};
  g_autofree line *all = g_new0(line, count + 1);
  memcpy(&all[1], lines, count * sizeof(line));
  if (b->bare) {
    return measure_lines(b, measurement, &all[1], count, threads, NULL, error);
  }
  if (!open_floor(b, error)) {
    return FALSE;
  }
  combined.floor = b->floor;
  all[0] = (line){"floor", NULL, &leati_floor_task, &combined, LEATI_FLOOR_SEATS};
  return measure_lines(b, measurement, all, count + 1, threads, &all[0], error);
}

static gboolean measure_op(leati_bench *b, GError **error) {
  leati_work plain = work_of(b), pooled = work_of(b);
  plain.pool = FALSE;
  pooled.pool = TRUE;
  const guint most = pool_threads(b);
  const line lines[] = {{"Relu, own stream", NULL, &leati_op_task, &plain, 0},
                        {"Relu, pool's stream", NULL, &leati_op_task, &pooled, most}};
  return measure_on_floor(b, "op", lines, most > 0 ? 2 : 1, b->threads, error);
}

static gboolean measure_linear(leati_bench *b, GError **error) {
  leati_work host = work_of(b), resident = work_of(b);
  resident.resident = TRUE;
  const guint most = b->pool ? pool_threads(b) : 0;
  const line lines[] = {{"host to host", NULL, &leati_linear_task, &host, most},
                        {"on the device", NULL, &leati_linear_task, &resident, most}};
  return measure_on_floor(b, "linear", lines, 2, b->threads, error);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static gboolean measure_kinds(leati_bench *b, GError **error) {
  gboolean well = TRUE;
  for (guint k = 0; well && k < leati_bench_kind_count(); ++k) {
    leati_bench_kind_work work;
    leati_bench_kind_work_init(&work, &b->rig, leati_bench_kind_at(k));
    const line l = {leati_bench_kind_name(work.kind), NULL, &leati_bench_kind_task, &work, 0};
    well = measure_lines(b, "kinds", &l, 1, b->threads, NULL, error);
    leati_bench_kind_work_clear(&work);
  }
  return well;
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

static gboolean measure_depth(leati_bench *b, GError **error) {
  static const guint depths[] = {1, 2, 4, 8, 16, 32};
  enum { COUNT = G_N_ELEMENTS(depths) };
  static const char *const names[] = {"operators for each wait", "operators in a pipeline", "events outstanding"};
  static const leati_task *const tasks[] = {&leati_op_task, &leati_pipeline_task, &leati_event_task};
  for (gint64 r = 0; r < b->repeat; ++r) {
    double base = 0; /* one operator for each wait */
    for (guint kind = 0; kind < G_N_ELEMENTS(names); ++kind) {
      for (guint i = 0; i < COUNT; ++i) {
        leati_work work = work_of(b);
        work.depth = depths[i];
        const line l = {names[kind], NULL, tasks[kind], &work, 0};
        leati_sample sample;
        if (!measure_once(b, "depth", &l, 1, &sample, error)) {
          return FALSE;
        }
        if (tasks[kind] != &leati_event_task) {
          sample.rate *= depths[i];
          sample.cpu_us /= depths[i];
          sample.thread_cpu_us /= depths[i];
        }
        g_autofree char *setting = g_strdup_printf("%u", depths[i]);
        leati_result_point *point = leati_results_point(&b->results, "depth", names[kind], setting, 1, "operators/s");
        leati_result_point_add(point, &sample);
        base = kind == 0 && i == 0 ? sample.rate : base;
        leati_result_point_compare(point, "waiting for each", base);
      }
    }
  }
  return TRUE;
}

/* ---- chain ------------------------------------------------------------------------------------------------------- */

#define CHAIN_ROWS_MAX 32768
static const double chain_targets_us[] = {1, 7, 80};
enum { CHAINS = G_N_ELEMENTS(chain_targets_us) };

/* What an operator on so many rows takes, its recording by the host included: how much longer a chain of 48 takes than
 * one of 12, each operator's share. The lowest of some tries, because whatever disturbs only adds. */
static gboolean chain_operator_us(leati_bench *b, gint64 rows, double *out, GError **error) {
  double lowest[2] = {G_MAXDOUBLE, G_MAXDOUBLE};
  for (guint kind = 0; kind < 2; ++kind) {
    leati_work work = work_of(b);
    work.rows = rows;
    work.length = kind == 0 ? LEATI_CHAIN_LENGTH : 4 * LEATI_CHAIN_LENGTH;
    gpointer state = leati_chain_task.begin(&work, 0, error);
    gboolean well = state != NULL;
    for (int i = 0; well && i < 7; ++i) {
      const gint64 start = leati_team_now_ns();
      well = leati_chain_task.run(state, error);
      lowest[kind] = MIN(lowest[kind], (double)(leati_team_now_ns() - start) * 1e-3);
    }
    if (state == NULL || !leati_chain_task.end(state, well, well ? error : NULL) || !well) {
      return FALSE;
    }
  }
  *out = MAX(lowest[1] - lowest[0], 0.0) / (3 * LEATI_CHAIN_LENGTH);
  return TRUE;
}

/* Finds the rows with which an operator takes about the time that is wanted; also gives the time that it takes then. */
static gboolean find_rows(leati_bench *b, double wanted_us, gint64 *rows, double *us, GError **error) {
  gint64 below = LEATI_CHAIN_ROWS_MIN;
  double below_us;
  if (!chain_operator_us(b, below, &below_us, error)) {
    return FALSE;
  }
  *rows = below;
  *us = below_us;
  while (*us < wanted_us && *rows < CHAIN_ROWS_MAX) {
    below = *rows;
    below_us = *us;
    *rows *= 2;
    if (!chain_operator_us(b, *rows, us, error)) {
      return FALSE;
    }
  }
  if (*rows > below && *us > wanted_us && *us > below_us) {
    const double part = CLAMP((wanted_us - below_us) / (*us - below_us), 0.0, 1.0);
    *rows = below + (gint64)(part * (double)(*rows - below));
    return chain_operator_us(b, *rows, us, error);
  }
  return TRUE;
}

typedef struct chains {
  leati_work work[CHAINS];
  char *names[CHAINS];
  double us[CHAINS];
} chains;

static void chains_clear(chains *c) {
  for (guint i = 0; i < CHAINS; ++i) {
    g_free(c->names[i]);
  }
}

/* Chooses sizes for all chains. Names tell what was aimed at, so that tables of different devices have the same rows.
 */
static gboolean chains_find(leati_bench *b, chains *out, GError **error) {
  *out = (chains){.us = {0}};
  for (guint i = 0; i < CHAINS; ++i) {
    out->work[i] = work_of(b);
    out->names[i] = g_strdup_printf("12 x %.0f us", chain_targets_us[i]);
    if (!find_rows(b, chain_targets_us[i], &out->work[i].rows, &out->us[i], error)) {
      g_prefix_error(error, "chain, choosing sizes: ");
      chains_clear(out);
      return FALSE;
    }
  }
  return TRUE;
}

/* Lets the points of a chain say what was really run. */
static void chain_facts(leati_bench *b, const char *measurement, const chains *c) {
  for (guint p = 0; p < b->results.points->len; ++p) {
    const leati_result_point *point = g_ptr_array_index(b->results.points, p);
    for (guint i = 0; i < CHAINS; ++i) {
      if (g_str_equal(point->measurement, measurement) && g_str_equal(point->variant, c->names[i])) {
        json_object_set_double_member(point->facts, "operator_us", c->us[i]);
        json_object_set_int_member(point->facts, "rows", c->work[i].rows);
      }
    }
  }
}

static gboolean measure_chain(leati_bench *b, GError **error) {
  chains c;
  if (!chains_find(b, &c, error)) {
    return FALSE;
  }
  gboolean well = TRUE;
  for (char **lanes = b->lanes; well && *lanes != NULL; ++lanes) {
    const gboolean unset = g_str_equal(*lanes, "unset");
    g_autofree char *setting = unset ? g_strdup("LEAT_LANES unset") : g_strdup_printf("LEAT_LANES=%s", *lanes);
    line lines[CHAINS];
    well = leati_rig_reopen(&b->rig, "LEAT_LANES", unset ? NULL : *lanes, error);
    const guint most = well && b->pool ? pool_threads(b) : 0;
    for (guint i = 0; i < CHAINS; ++i) {
      lines[i] = (line){c.names[i], setting, &leati_chain_task, &c.work[i], most};
    }
    well = well && measure_lines(b, "chain", lines, CHAINS, b->threads, NULL, error);
  }
  chain_facts(b, "chain", &c);
  chains_clear(&c);
  return well && leati_rig_reopen(&b->rig, "LEAT_LANES", NULL, error);
}

/* ---- launch ------------------------------------------------------------------------------------------------------ */

#define CHAIN_LAUNCHED_US 7

/* One line from `threads` threads, or what they ask for in one call of one thread. */
static gboolean add_launches(leati_bench *b, const line *l, guint threads, gboolean one_call, double *rate,
                             GError **error) {
  leati_sample sample;
  if (!measure_once(b, "launch", l, one_call ? 1 : threads, &sample, error)) {
    return FALSE;
  }
  if (one_call) {
    sample.rate *= threads;
    sample.cpu_us /= threads;
    sample.thread_cpu_us /= threads;
  }
  *rate = sample.rate;
  leati_result_point_add(leati_results_point(&b->results, "launch", l->variant, l->setting, threads, RUNS_UNIT),
                         &sample);
  return TRUE;
}

/* All lines from so many threads. Requests are compared with one call for as many. */
static gboolean measure_launches_from(leati_bench *b, guint threads, const leati_work *chain, const leati_work *request,
                                      GError **error) {
  static const char *const requests[] = {"requests, host to host", "requests, on the device"},
                           *const calls[] = {"one call for all, host to host", "one call for all, on the device"};
  const guint most = b->pool ? pool_threads(b) : 0;
  leati_work operators = *chain, works[2] = {*request, *request}, batches[2] = {*request, *request};
  operators.graph = NULL;
  const line sums[] = {{"12 x 7 us, a graph", NULL, &leati_chain_task, (gpointer)chain, most},
                       {"12 x 7 us, operators", NULL, &leati_chain_task, &operators, most}};
  double rate, base = 0;
  gboolean well = TRUE;
  if (most != 0 && threads > most) {
    return TRUE;
  }
  for (guint i = 0; well && i < G_N_ELEMENTS(sums); ++i) {
    well = add_launches(b, &sums[i], threads, FALSE, &rate, error);
  }
  for (guint i = 0; well && i < 2; ++i) {
    works[i].resident = batches[i].resident = i == 1;
    batches[i].batch = threads;
    const line call = {calls[i], NULL, &leati_request_task, &batches[i], most};
    const line request_line = {requests[i], NULL, &leati_request_task, &works[i], most};
    well = add_launches(b, &call, threads, TRUE, &base, error) &&
           add_launches(b, &request_line, threads, FALSE, &rate, error);
    if (well) {
      leati_result_point_compare(leati_results_point(&b->results, "launch", requests[i], NULL, threads, RUNS_UNIT),
                                 "one call", base);
    }
  }
  return well;
}

/* All of it once. */
static gboolean measure_launches(leati_bench *b, gint64 rows, GError **error) {
  const leat_graph_api *const api = b->rig.api->graph;
  leati_work chain = work_of(b), request = work_of(b);
  chain.rows = rows;
  chain.graph = leati_graph_chain(&b->rig, chain.length, error);
  request.graph = chain.graph != NULL ? leati_graph_perceptron(&b->rig, error) : NULL;
  request.batch = 1;
  gboolean well = request.graph != NULL;
  for (guint t = 0; well && t < b->threads->len; ++t) {
    well = measure_launches_from(b, g_array_index(b->threads, guint, t), &chain, &request, error);
  }
  (void)api->destroy(request.graph, NULL);
  (void)api->destroy(chain.graph, NULL);
  return well;
}

/* Threads that launch one graph. */
static gboolean measure_launch(leati_bench *b, GError **error) {
  gint64 rows;
  double us;
  if (b->rig.api->graph == NULL) {
    leati_result_point *point = leati_results_point(&b->results, "launch", "graphs", NULL, 1, RUNS_UNIT);
    json_object_set_string_member(point->facts, "skipped", "the backend has no graphs");
    return TRUE;
  }
  if (!find_rows(b, CHAIN_LAUNCHED_US, &rows, &us, error)) {
    g_prefix_error(error, "launch, choosing a size: ");
    return FALSE;
  }
  for (gint64 r = 0; r < b->repeat; ++r) {
    if (!measure_launches(b, rows, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

/* ---- paced ------------------------------------------------------------------------------------------------------- */

/* Threads that have other things to do as well do not run in step. The pauses are about as long as the runs, or ten
 * times as long. */
static gboolean measure_paced(leati_bench *b, GError **error) {
  static const gint32 pauses_ns[] = {20000, 200000}, chain_pauses_ns[CHAINS] = {50000, 100000, 1000000};
  enum { PAUSES = G_N_ELEMENTS(pauses_ns) };
  leati_work op[PAUSES];
  line lines[PAUSES + CHAINS];
  const guint most = b->pool ? pool_threads(b) : 0;
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < PAUSES; ++i) {
    op[i] = work_of(b);
    op[i].pause_ns = pauses_ns[i];
    g_ptr_array_add(names, g_strdup_printf("Relu, up to %d us between", pauses_ns[i] / 1000));
    lines[i] = (line){g_ptr_array_index(names, i), NULL, &leati_op_task, &op[i], most};
  }
  chains c;
  if (!chains_find(b, &c, error)) {
    return FALSE;
  }
  for (guint i = 0; i < CHAINS; ++i) {
    c.work[i].pause_ns = chain_pauses_ns[i];
    g_ptr_array_add(names, g_strdup_printf("%s, up to %d us between", c.names[i], chain_pauses_ns[i] / 1000));
    lines[PAUSES + i] = (line){g_ptr_array_index(names, PAUSES + i), NULL, &leati_chain_task, &c.work[i], most};
  }
  const gboolean well = measure_lines(b, "paced", lines, PAUSES + CHAINS, b->threads, NULL, error);
  chains_clear(&c);
  return well;
}

/* ---- cpu --------------------------------------------------------------------------------------------------------- */

static gboolean measure_cpu(leati_bench *b, GError **error) {
  static const guint counts[] = {1, 8, 31};
  GArray *threads = g_array_new(FALSE, FALSE, sizeof(guint));
  guint most = 0;
  for (guint i = 0; i < b->threads->len; ++i) {
    most = MAX(most, g_array_index(b->threads, guint, i));
  }
  for (guint i = 0; i < G_N_ELEMENTS(counts); ++i) {
    if (i == 0 || counts[i] <= most) {
      g_array_append_val(threads, counts[i]);
    }
  }
  chains c;
  gboolean well = chains_find(b, &c, error);
  if (well) {
    leati_work op = work_of(b);
    const line lines[] = {{"Relu", NULL, &leati_op_task, &op, 0},
                          {c.names[CHAINS - 1], NULL, &leati_chain_task, &c.work[CHAINS - 1], 0}};
    well = measure_on_floor(b, "cpu", lines, G_N_ELEMENTS(lines), threads, error);
    chain_facts(b, "cpu", &c);
    chains_clear(&c);
  }
  for (guint p = 0; p < b->results.points->len; ++p) {
    const leati_result_point *point = g_ptr_array_index(b->results.points, p);
    if (g_str_equal(point->measurement, "cpu")) {
      /* Of all threads together: 2 are two processors busy. */
      json_object_set_double_member(point->facts, "cpus_busy",
                                    leati_median(point->cpu_us) * 1e-6 * leati_median(point->values));
    }
  }
  g_array_unref(threads);
  return well;
}

/* ---- tick -------------------------------------------------------------------------------------------------------- */

#define TICK_NS 16666667
#define TICK_THREADS 8

/* A clock that rings 60 times a second, and how late it was heard. */
typedef struct ticker {
  gint64 ticks;
  GArray *late_ms; /* of double */
} ticker;

static void tick(gpointer data) {
  ticker *t = data;
  gint64 at = leati_team_now_ns();
  for (gint64 i = 0; i < t->ticks; ++i) {
    at += TICK_NS;
    const struct timespec until = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
    const double late = (double)(leati_team_now_ns() - at) * 1e-6;
    g_array_append_val(t->late_ms, late);
  }
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void tick_add(leati_bench *b, const char *variant, guint threads, ticker *t) {
  static const struct {
    const char *name;
    double share;
  } parts[] = {{"p50", 0.5}, {"p99", 0.99}, {"highest", 1.0}};
  qsort(t->late_ms->data, t->late_ms->len, sizeof(double), by_value);
  for (guint i = 0; i < G_N_ELEMENTS(parts); ++i) {
    const guint n = t->late_ms->len;
    const guint rank = (guint)(parts[i].share * (double)n + 0.999999);
    g_autofree char *name = g_strdup_printf("%s: %s", variant, parts[i].name);
    leati_result_point *point = leati_results_point(&b->results, "tick", name, NULL, threads, "ms late");
    leati_result_point_add_value(point, g_array_index(t->late_ms, double, CLAMP(rank, 1, n) - 1));
  }
  g_array_set_size(t->late_ms, 0);
}

static gboolean measure_tick(leati_bench *b, GError **error) {
  chains c;
  if (!chains_find(b, &c, error)) {
    return FALSE;
  }
  leati_work op = work_of(b);
  const line lines[] = {{"8 threads run Relu", NULL, &leati_op_task, &op, 0},
                        {"8 threads run chains", NULL, &leati_chain_task, &c.work[CHAINS - 1], 0}};
  ticker t = {.ticks = b->ticks, .late_ms = g_array_new(FALSE, FALSE, sizeof(double))};
  gboolean well = TRUE;
  for (gint64 r = 0; well && r < b->repeat; ++r) {
    tick(&t);
    tick_add(b, "idle", 0, &t);
    for (guint i = 0; well && i < G_N_ELEMENTS(lines); ++i) {
      leati_team_plan plan = plan_of(b, TICK_THREADS);
      leati_sample sample;
      plan.seconds = (double)b->ticks * TICK_NS * 1e-9;
      plan.meanwhile = tick;
      plan.meanwhile_context = &t;
      well = leati_team_run(lines[i].task, lines[i].context, &plan, &sample, error);
      if (well) {
        tick_add(b, lines[i].variant, TICK_THREADS, &t);
      } else {
        g_prefix_error(error, "tick, %s: ", lines[i].variant);
      }
    }
  }
  g_array_unref(t.late_ms);
  chains_clear(&c);
  return well;
}

/* ---- flat -------------------------------------------------------------------------------------------------------- */

/* What a process and its device hold. */
typedef struct usage {
  leati_bench *bench;
  double rss; /* bytes */
  leat_memory_stats memory;
} usage;

static void usage_take(gpointer data) {
  usage *u = data;
  long long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file != NULL) {
    if (fscanf(file, "%lld %lld", &pages, &resident) != 2) {
      resident = 0;
    }
    (void)fclose(file);
  }
  u->rss = (double)resident * (double)sysconf(_SC_PAGESIZE);
  u->memory = (leat_memory_stats){.struct_size = sizeof(u->memory)};
  (void)u->bench->rig.api->memory->stats(u->bench->rig.device, &u->memory, NULL);
}

static gboolean measure_flat(leati_bench *b, GError **error) {
  static const guint counts[] = {1, 8};
  for (guint i = 0; i < G_N_ELEMENTS(counts); ++i) {
    usage before = {.bench = b}, first = {.bench = b}, last = {.bench = b};
    leati_work work = work_of(b);
    work.mark = MAX(b->runs / 100, 1);
    work.marked = usage_take;
    work.marked_context = &first;
    atomic_init(&work.done, 0);
    leati_team_plan plan = plan_of(b, counts[i]);
    plan.runs = (b->runs + counts[i] - 1) / counts[i];
    leati_sample sample;
    usage_take(&before);
    if (!leati_team_run(&leati_flat_task, &work, &plan, &sample, error)) {
      g_prefix_error(error, "flat, %u threads: ", counts[i]);
      return FALSE;
    }
    usage_take(&last);
    if (last.memory.live_block_count != before.memory.live_block_count) {
      LEATI_FAULT_SET(error,
                      "flat, %u threads: %" G_GUINT64_FORMAT " blocks are held after all were freed, %" G_GUINT64_FORMAT
                      " before",
                      counts[i], last.memory.live_block_count, before.memory.live_block_count);
      return FALSE;
    }
    const struct {
      const char *name;
      double early, late;
    } grown[] = {{"resident memory", first.rss, last.rss},
                 {"from the driver", (double)first.memory.reserved_bytes, (double)last.memory.reserved_bytes},
                 {"staging", (double)first.memory.staging_bytes, (double)last.memory.staging_bytes}};
    for (guint k = 0; k < G_N_ELEMENTS(grown); ++k) {
      g_autofree char *name = g_strdup_printf("growth: %s", grown[k].name);
      leati_result_point *point = leati_results_point(&b->results, "flat", name, NULL, counts[i], "bytes");
      leati_result_point_add_value(point, grown[k].late - grown[k].early);
      json_object_set_double_member(point->facts, "after_runs", (double)work.mark);
      json_object_set_double_member(point->facts, "bytes_then", grown[k].early);
      json_object_set_double_member(point->facts, "runs", (double)sample.runs);
      json_object_set_double_member(point->facts, "bytes_at_the_end", grown[k].late);
    }
  }
  return TRUE;
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

typedef struct call {
  leati_bench *bench;
  leat_stream *stream;
  leat_event *event;
  DLTensor vector;
} call;

static int32_t call_query(call *c, leat_error *err) {
  return c->bench->rig.api->stream->query(c->stream, err);
}

static int32_t call_error(call *c, leat_error *err) {
  return c->bench->rig.api->stream->error(c->stream, err);
}

static int32_t call_event(call *c, leat_error *err) {
  return c->bench->rig.api->event->query(c->event, err);
}

static int32_t call_infer(call *c, leat_error *err) {
  leat_shape shape = {.struct_size = sizeof(shape)};
  const DLTensor *inputs[] = {&c->vector};
  leat_shape *shapes[] = {&shape};
  return c->bench->rig.api->op->infer(c->bench->rig.relu, 1, inputs, 1, shapes, err);
}

static int32_t call_current(call *c, leat_error *err) {
  leat_stream *stream;
  return c->bench->rig.api->pool->current(c->bench->rig.device, &stream, err);
}

static const struct {
  const char *name;
  int32_t (*make)(call *c, leat_error *err);
  gboolean pool;
} calls[] = {{"stream query, idle", call_query, FALSE},
             {"stream error", call_error, FALSE},
             {"event query", call_event, FALSE},
             {"op infer", call_infer, FALSE},
             {"pool current", call_current, TRUE}};

/* Nanoseconds of each function, from one thread, so that no lock is ever waited for. */
static gboolean measure_calls(leati_bench *b, gboolean pool, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  int64_t shape[] = {LEATI_OP_ELEMENTS};
  call c = {.bench = b};
  c.vector = (DLTensor){
      .device = {kDLVulkan, (int32_t)b->rig.info.index}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  gboolean well =
      leati_rig_ok(b->rig.api->stream->create(b->rig.device, 0, &c.stream, &err), &err, "stream create", error) &&
      leati_rig_ok(b->rig.api->event->create(b->rig.device, 0, &c.event, &err), &err, "event create", error) &&
      leati_rig_ok(b->rig.api->event->record(c.event, c.stream, &err), &err, "event record", error) &&
      leati_rig_ok(b->rig.api->stream->synchronize(c.stream, &err), &err, "synchronize", error);
  for (gint64 r = 0; well && r < b->repeat; ++r) {
    for (guint i = 0; well && i < G_N_ELEMENTS(calls); ++i) {
      if (calls[i].pool && !pool) {
        continue;
      }
      const gint64 start = leati_team_now_ns();
      for (guint k = 0; well && k < CALLS; ++k) {
        well = leati_rig_ok(calls[i].make(&c, &err), &err, calls[i].name, error);
      }
      const double ns = (double)(leati_team_now_ns() - start) / CALLS;
      leati_result_point_add_value(leati_results_point(&b->results, "locks", calls[i].name, NULL, 1, "ns/call"), ns);
    }
  }
  (void)b->rig.api->event->destroy(c.event, NULL);
  (void)b->rig.api->stream->destroy(c.stream, NULL);
  return well;
}

static gboolean measure_locks(leati_bench *b, GError **error) {
  leati_work plain = work_of(b), pooled = work_of(b);
  plain.pool = FALSE;
  pooled.pool = TRUE;
  const gboolean pool = pool_threads(b) > 0;
  const line lines[] = {{"Relu, own stream", NULL, &leati_op_task, &plain, 0},
                        {"Relu, pool asked each run", NULL, &leati_op_task, &pooled, 0}};
  GArray *one = g_array_new(FALSE, FALSE, sizeof(guint));
  const guint thread = 1;
  g_array_append_val(one, thread);
  const gboolean well = measure_lines(b, "locks", lines, pool ? 2 : 1, one, &lines[0], error);
  g_array_unref(one);
  return well && measure_calls(b, pool, error);
}

/* ---- alloc ------------------------------------------------------------------------------------------------------- */

static gboolean measure_alloc(leati_bench *b, GError **error) {
  if (!b->bare && !open_floor(b, error)) {
    return FALSE;
  }
  leati_work work = work_of(b);
  work.size = ALLOCATION_BYTES;
  leati_floor_allocation driver = {b->floor, ALLOCATION_BYTES};
  const guint most = b->pool ? pool_threads(b) : 0;
  const line lines[] = {{"driver", NULL, &leati_floor_allocation_task, &driver, 0},
                        {"Leat, reused", NULL, &leati_allocation_task, &work, most}};
  return b->bare ? measure_lines(b, "alloc", &lines[1], 1, b->threads, NULL, error)
                 : measure_lines(b, "alloc", lines, 2, b->threads, &lines[0], error);
}

/* ---- download ---------------------------------------------------------------------------------------------------- */

static gboolean measure_download(leati_bench *b, GError **error) {
  /* The second is what GPT-2 gives for 64 tokens. */
  static const guint64 sizes[] = {(guint64)1 << 20, (guint64)64 * 50257 * sizeof(float), (guint64)64 << 20};
  enum { COUNT = G_N_ELEMENTS(sizes) };
  leati_work works[2 * COUNT];
  line lines[2 * COUNT];
  char settings[COUNT][32];
  const guint most = b->pool ? pool_threads(b) : 0;
  const gboolean has_direct = (b->rig.api->capabilities & LEAT_CAPABILITY_HOST_MEMORY) != 0;
  const guint count = has_direct ? 2 * COUNT : COUNT;
  for (guint i = 0; i < count; ++i) {
    const guint size = i % COUNT;
    works[i] = work_of(b);
    works[i].size = sizes[size];
    works[i].direct = i >= COUNT;
    (void)snprintf(settings[size], sizeof(settings[size]), "%" G_GUINT64_FORMAT " bytes", sizes[size]);
    lines[i] = (line){i < COUNT ? "to memory of the host" : "to memory of alloc_host()", settings[size],
                      &leati_download_task, &works[i], most};
  }
  return measure_lines(b, "download", lines, count, b->threads, NULL, error);
}

const leati_measurement leati_measurements[] = {
    {"floor", "what the driver takes to submit a trivial shader and wait, without Leat", FALSE, measure_floor},
    {"op", "a trivial operator, run and waited for, beside the floor", FALSE, measure_op},
    {"paced", "the same operator and the chains, with host work of random length between runs", FALSE, measure_paced},
    {"linear", "a linear layer 256 to 128, batch 4, beside the floor", FALSE, measure_linear},
    {"depth", "1 to 32 trivial operators for each wait, and with the next ones under way; 1 to 32 events outstanding",
     FALSE, measure_depth},
    {"chain", "12 dependent operators of about 1, 7 and 80 us, by LEAT_LANES", FALSE, measure_chain},
    {"launch", "a graph from many threads, and a request each beside one call for all", FALSE, measure_launch},
    {"download", "a large tensor from the device to the host", FALSE, measure_download},
    {"cpu", "CPU time of each run while threads wait, beside the floor", FALSE, measure_cpu},
    {"tick", "how late a main thread that ticks at 60 Hz is while 8 others run", FALSE, measure_tick},
    {"flat", "growth of memory over many runs that allocate and free", FALSE, measure_flat},
    {"locks", "the pool's lookup in each run, and what single calls cost, from one thread", FALSE, measure_locks},
    {"alloc", "allocating and freeing 64 KiB, beside the driver's own", FALSE, measure_alloc},
    {"kinds", "operators that a backend may be tempted to run behind a lock, from many threads; only if named", TRUE,
     measure_kinds},
    {"kernels", "single operators at large and at model sizes, each run after the one before; only if named", TRUE,
     leati_measure_kernels},
    {NULL, NULL, FALSE, NULL}};
