/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_report.h"

#include <json-glib/json-glib.h>
#include <leat_build_id.h>
#include <math.h>
#include <string.h>

#include "member.h"
#include "table.h"

/* Most lines about threads that went wrong; there may be a thousand, and they tend to say the same. */
#define COMPLAINTS_MAX 16

static void sum_up(const leati_workers *workers, size_t first, size_t count, leati_figures *out) {
  leati_latency **times = g_new0(leati_latency *, count + 1);
  int64_t end = workers->start;
  *out = (leati_figures){0};
  for (size_t i = 0; i < count; ++i) {
    const leati_worker *worker = &workers->list[first + i];
    out->runs += worker->runs;
    out->skipped += worker->skipped;
    out->failed += worker->failed;
    out->wrong_runs += worker->wrong_runs;
    out->outputs += worker->outputs;
    out->wrong += worker->wrong;
    out->within_spread += worker->within_spread;
    out->worst = fmax(out->worst, worker->worst);
    end = MAX(end, worker->end);
    times[i] = worker->times;
  }
  const double percents[] = {50.0, 99.0};
  double found[2];
  leati_latency_percentiles(times, count, percents, 2, found);
  out->p50 = found[0];
  out->p99 = found[1];
  out->seconds = (double)(end - workers->start) * 1e-9;
  out->runs_a_second = out->seconds > 0.0 ? (double)out->runs / out->seconds : 0.0;
  g_free(times);
}

static void sum_up_job(const leati_findings *findings, const leati_workers *workers, size_t job, leati_figures *out) {
  const size_t threads = (size_t)findings->options->threads;
  sum_up(workers, job * threads, threads, out);
}

void leati_findings_sum(const leati_findings *findings, size_t job, leati_figures *out) {
  sum_up_job(findings, findings->workers, job, out);
}

/* Adds the counts up that a verdict needs, over both times that the models were run. */
static void sum_up_all(const leati_findings *findings, leati_figures *out) {
  leati_figures batched = {0};
  sum_up(findings->workers, 0, findings->workers->count, out);
  if (findings->batched != NULL) {
    sum_up(findings->batched, 0, findings->batched->count, &batched);
  }
  out->runs += batched.runs;
  out->skipped += batched.skipped;
  out->failed += batched.failed;
  out->outputs += batched.outputs;
  out->wrong += batched.wrong;
  out->within_spread += batched.within_spread;
}

gboolean leati_findings_right(const leati_findings *findings) {
  leati_figures all;
  sum_up_all(findings, &all);
  return all.skipped == 0 && all.failed == 0 && all.wrong == 0;
}

/* Nodes of one provider: how many, and of which operators. */
typedef struct share {
  const char *provider; /* borrowed from a node */
  guint count;
  guint joined, subgraphs; /* those of them that run as one with others, and in how many groups */
  guint last_subgraph;     /* of the nodes so far; each fused subgraph's come one after the other */
  GHashTable *ops;         /* char * borrowed from a node -> count */
} share;

static void free_share(gpointer data) {
  share *one = data;
  g_hash_table_unref(one->ops);
  g_free(one);
}

static gint by_provider(gconstpointer a, gconstpointer b) {
  const share *x = *(const share *const *)a;
  const share *y = *(const share *const *)b;
  /* Everyone before the CPU provider, so that what was asked for comes first. */
  const int x_is_cpu = strcmp(x->provider, "CPUExecutionProvider") == 0;
  const int y_is_cpu = strcmp(y->provider, "CPUExecutionProvider") == 0;
  return x_is_cpu != y_is_cpu ? x_is_cpu - y_is_cpu : strcmp(x->provider, y->provider);
}

static GPtrArray *shares_of(const GPtrArray *nodes) {
  GPtrArray *shares = g_ptr_array_new_with_free_func(free_share);
  for (guint i = 0; i < nodes->len; ++i) {
    const leati_model_node *node = g_ptr_array_index(nodes, i);
    share *mine = NULL;
    for (guint s = 0; s < shares->len && mine == NULL; ++s) {
      share *one = g_ptr_array_index(shares, s);
      mine = strcmp(one->provider, node->provider) == 0 ? one : NULL;
    }
    if (mine == NULL) {
      mine = g_new0(share, 1);
      mine->provider = node->provider;
      mine->ops = g_hash_table_new(g_str_hash, g_str_equal);
      g_ptr_array_add(shares, mine);
    }
    ++mine->count;
    mine->joined += node->subgraph != 0;
    mine->subgraphs += node->subgraph != 0 && node->subgraph != mine->last_subgraph;
    mine->last_subgraph = node->subgraph != 0 ? node->subgraph : mine->last_subgraph;
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(mine->ops, node->op));
    g_hash_table_insert(mine->ops, node->op, GUINT_TO_POINTER(before + 1));
  }
  g_ptr_array_sort(shares, by_provider);
  return shares;
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp(a, b);
}

static GList *op_names(const share *one) {
  return g_list_sort(g_hash_table_get_keys(one->ops), by_name);
}

static const char *provider_name(const leati_options *options) {
  return options->leat ? "leat" : "cpu";
}

char *leati_run_report_preface(const leati_findings *findings) {
  const leati_options *options = findings->options;
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "leat-run " LEAT_VERSION " (" LEAT_BUILD_ID "), ONNX Runtime %s (API %u)\n",
                         findings->ort->version, findings->ort->api_version);
  g_string_append_printf(text, "provider   %s\n", options->leat ? findings->ort->device_text : "CPUExecutionProvider");
  g_string_append_printf(text,
                         "work       for each model %" G_GINT64_FORMAT " threads, %" G_GINT64_FORMAT
                         " sessions; for each thread %" G_GINT64_FORMAT " runs after %" G_GINT64_FORMAT " to warm up\n",
                         options->threads, options->sessions, options->runs, options->warmup);
  if (options->cpu_threads == 1) {
    g_string_append(text, "CPU parts  on the caller's own thread: the callers are the parallel part (--cpu-threads)\n");
  } else {
    g_string_append_printf(text,
                           "CPU parts  on %" G_GINT64_FORMAT " threads a session, 0 being one a core (--cpu-threads)\n",
                           options->cpu_threads);
  }
  if (options->batch > 0) {
    g_string_append_printf(text,
                           "batches    the same a second time, %" G_GINT64_FORMAT
                           " a model at once: each of %" G_GINT64_FORMAT " rows, or what came in %" G_GINT64_FORMAT
                           " us, or when all threads wait\n",
                           options->batch_workers, options->batch, options->batch_delay);
  }
  g_string_append(text, options->compare ? "compare    every output of every run with ONNX Runtime's CPU provider\n"
                                         : "compare    nothing (--compare none)\n");
  for (size_t i = 0; i < findings->job_count; ++i) {
    const leati_job *job = &findings->jobs[i];
    g_string_append_printf(text, "%s\n", job->model->label);
    if (options->compare) {
      g_string_append_printf(text, "  tolerance  %.2e = %s; whole numbers exact\n", job->tolerance.value,
                             job->tolerance.reason);
    }
    for (guint n = 0; n < job->feed->texts->len; ++n) {
      g_string_append_printf(text, "  input      %s\n", (const char *)g_ptr_array_index(job->feed->texts, n));
    }
    for (guint n = 0; n < job->feed->notes->len; ++n) {
      g_string_append_printf(text, "  note       %s\n", (const char *)g_ptr_array_index(job->feed->notes, n));
    }
    if (findings->batchers != NULL && leati_batcher_crops(findings->batchers[i])) {
      g_string_append_printf(text,
                             "  note       the model takes exactly %" G_GINT64_FORMAT
                             " rows: without batches a run is all of them, and a request is the first\n",
                             options->batch);
    }
  }
  return g_string_free(text, FALSE);
}

static char *whole(int64_t value) {
  return g_strdup_printf("%" G_GINT64_FORMAT, value);
}

static char *error_text(const leati_options *options, double error) {
  return !options->compare ? g_strdup("-") : isfinite(error) ? g_strdup_printf("%.1e", error) : g_strdup("inf");
}

/* Whether every run of some threads gave what it should. What failed or is wrong is fast for no good reason. */
static gboolean is_right(const leati_figures *f) {
  return f->failed == 0 && f->skipped == 0 && f->wrong == 0;
}

/* A figure of speed, which a row has only if it is right. */
static char *speed(const leati_figures *f, const char *format, double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup(is_right(f) ? g_ascii_formatd(text, sizeof(text), format, value) : "-");
}

static void add_row(leati_table *table, const leati_options *options, const char *name, const leati_figures *f,
                    double setup) {
  char *cells[] = {g_strdup(name),
                   whole(f->runs),
                   speed(f, "%.1f", f->runs_a_second),
                   speed(f, "%.3f", f->p50 * 1e3),
                   speed(f, "%.3f", f->p99 * 1e3),
                   whole(f->failed + f->skipped),
                   options->compare ? whole(f->wrong) : g_strdup("-"),
                   error_text(options, f->worst),
                   g_strdup_printf("%.3f", setup)};
  leati_table_add(table, cells);
}

static double setup_seconds(const leati_model *model) {
  double sum = 0.0;
  for (size_t i = 0; i < model->session_count; ++i) {
    sum += model->session_seconds[i];
  }
  return sum;
}

/* What tells the rows of the second time, in batches, from those of the first. */
#define BATCHED_NOT ""
#define BATCHED ", batched"

/* The rows of one of the times that the models were run. */
static void add_rows(leati_table *table, const leati_findings *findings, const leati_workers *workers,
                     const char *way) {
  double setup = 0.0;
  leati_figures one;
  for (size_t i = 0; i < findings->job_count; ++i) {
    const leati_model *model = findings->jobs[i].model;
    char *name = g_strconcat(model->label, way, NULL);
    sum_up_job(findings, workers, i, &one);
    add_row(table, findings->options, name, &one, setup_seconds(model));
    setup += setup_seconds(model);
    g_free(name);
  }
  if (findings->job_count > 1) {
    char *name = g_strconcat("all", way, NULL);
    sum_up(workers, 0, workers->count, &one);
    add_row(table, findings->options, name, &one, setup);
    g_free(name);
  }
}

static double mean_requests(const leat_batch_stats *stats) {
  return stats->batches > 0 ? (double)(stats->done + stats->failed) / (double)stats->batches : 0.0;
}

static void append_nodes(const leati_findings *findings, const leati_model *model, GString *text) {
  GPtrArray *shares = shares_of(model->nodes);
  g_string_append_printf(text, "nodes of %s (%u)\n", model->label, model->nodes->len);
  for (guint i = 0; i < shares->len; ++i) {
    const share *one = g_ptr_array_index(shares, i);
    g_string_append_printf(text, "  %s %u", one->provider, one->count);
    if (one->subgraphs != 0) {
      g_string_append_printf(text, ", %u of them in %u %s", one->joined, one->subgraphs,
                             one->subgraphs == 1 ? "fused subgraph" : "fused subgraphs");
    }
    g_string_append_c(text, ':');
    GList *ops = op_names(one);
    for (GList *op = ops; op != NULL; op = op->next) {
      g_string_append_printf(text, "%s %s %u", op == ops ? "" : ",", (const char *)op->data,
                             GPOINTER_TO_UINT(g_hash_table_lookup(one->ops, op->data)));
    }
    g_list_free(ops);
    g_string_append_c(text, '\n');
    for (guint n = 0; findings->options->verbose && n < model->nodes->len; ++n) {
      const leati_model_node *node = g_ptr_array_index(model->nodes, n);
      if (strcmp(node->provider, one->provider) == 0) {
        g_string_append_printf(text, "    %s %s", node->op, node->name);
        if (node->subgraph != 0) {
          g_string_append_printf(text, ", fused subgraph %u", node->subgraph);
        }
        g_string_append_c(text, '\n');
      }
    }
  }
  g_ptr_array_unref(shares);
}

/* How well the batches were filled. */
static void append_batches(const leati_findings *findings, size_t job, GString *text) {
  leat_batch_stats stats;
  leati_batcher_stats(findings->batchers[job], &stats);
  g_string_append_printf(text, "batches of %s: %" G_GUINT64_FORMAT ", on average %.1f requests (warm-ups counted)",
                         findings->jobs[job].model->label, stats.batches, mean_requests(&stats));
  const char *before = ":";
  for (guint k = 0; k < LEAT_BATCH_SIZE_CLASSES; ++k) {
    if (stats.sizes[k] == 0) {
      continue;
    }
    g_string_append_printf(text, "%s %" G_GUINT64_FORMAT " of %u", before, stats.sizes[k], 1u << k);
    if (k > 0) {
      g_string_append_printf(text, " to %u", (2u << k) - 1);
    }
    before = ",";
  }
  g_string_append_c(text, '\n');
}

static void append_complaints(const leati_workers *workers, const char *way, GString *text) {
  guint told = 0;
  guint untold = 0;
  for (size_t i = 0; i < workers->count; ++i) {
    const leati_worker *worker = &workers->list[i];
    const char *const sayings[] = {worker->failure, worker->mismatch, worker->spread_note};
    const int64_t counts[] = {worker->failed, worker->wrong, worker->within_spread};
    const char *const kinds[] = {"FAILED", "WRONG", "NOTE"};
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); ++k) {
      if (sayings[k] == NULL) {
        continue;
      }
      if (told == COMPLAINTS_MAX) {
        ++untold;
        continue;
      }
      ++told;
      g_string_append_printf(text, "%s %s%s thread %" G_GSIZE_FORMAT ", %" G_GINT64_FORMAT " times, first in %s\n",
                             kinds[k], worker->job->model->label, way, worker->index, counts[k], sayings[k]);
    }
  }
  if (untold != 0) {
    g_string_append_printf(text, "... and %u more of this kind\n", untold);
  }
}

/* What it means where only the second time went wrong. */
static void append_batch_hint(const leati_findings *findings, GString *text) {
  leati_figures alone;
  leati_figures batched;
  sum_up(findings->workers, 0, findings->workers->count, &alone);
  sum_up(findings->batched, 0, findings->batched->count, &batched);
  if (alone.wrong == 0 && batched.wrong > 0) {
    g_string_append(
        text,
        "Rows that are wrong only in batches depend on the rows beside them: axis 0 is not the batch, or the "
        "model mixes its rows.\n");
  }
}

char *leati_run_report_text(const leati_findings *findings) {
  static const char *const kHeading[] = {"model",  "runs",  "runs/s",      "p50 ms",     "p99 ms",
                                         "failed", "wrong", "worst error", "sessions s", NULL};
  GString *text = g_string_new("\n");
  leati_table *table = leati_table_new(kHeading);
  leati_figures all;
  add_rows(table, findings, findings->workers, BATCHED_NOT);
  if (findings->batched != NULL) {
    add_rows(table, findings, findings->batched, BATCHED);
  }
  sum_up_all(findings, &all);
  char *rows = leati_table_text(table);
  g_string_append(text, rows);
  g_free(rows);
  leati_table_free(table);
  g_string_append_c(text, '\n');
  for (size_t i = 0; i < findings->job_count; ++i) {
    append_nodes(findings, findings->jobs[i].model, text);
  }
  for (size_t i = 0; findings->batched != NULL && i < findings->job_count; ++i) {
    append_batches(findings, i, text);
  }
  append_complaints(findings->workers, BATCHED_NOT, text);
  if (findings->batched != NULL) {
    append_complaints(findings->batched, BATCHED, text);
    append_batch_hint(findings, text);
  }
  const gboolean right = leati_findings_right(findings);
  g_string_append_printf(text, "\n%s: %" G_GINT64_FORMAT " runs", right ? "OK" : "NOT OK", all.runs);
  if (all.failed + all.skipped > 0) {
    g_string_append_printf(text, ", %" G_GINT64_FORMAT " failed, %" G_GINT64_FORMAT " not tried after that", all.failed,
                           all.skipped);
  }
  if (findings->options->compare) {
    g_string_append_printf(text,
                           ", %" G_GINT64_FORMAT " outputs compared (warm-ups included), %" G_GINT64_FORMAT " wrong",
                           all.outputs, all.wrong);
    if (all.within_spread > 0) {
      g_string_append_printf(text,
                             "; %" G_GINT64_FORMAT
                             " beyond the tolerance are right by what the CPU provider differs from itself (NOTE)",
                             all.within_spread);
    }
  } else {
    g_string_append(text, ", nothing compared");
  }
  g_string_append_c(text, '\n');
  return g_string_free(text, FALSE);
}

static void add_figures(JsonBuilder *json, const leati_options *options, const leati_figures *f) {
  leati_member_int(json, "runs", f->runs);
  leati_member_number(json, "seconds", f->seconds);
  leati_member_number(json, "runs_per_second", f->runs_a_second);
  leati_member_number(json, "p50_seconds", f->p50);
  leati_member_number(json, "p99_seconds", f->p99);
  leati_member_int(json, "failed_runs", f->failed);
  leati_member_int(json, "skipped_runs", f->skipped);
  if (options->compare) {
    leati_member_int(json, "outputs_compared", f->outputs);
    leati_member_int(json, "wrong_outputs", f->wrong);
    leati_member_int(json, "wrong_runs", f->wrong_runs);
    leati_member_int(json, "outputs_within_spread", f->within_spread);
    leati_member_number(json, "worst_error", f->worst);
  }
}

static void add_nodes(JsonBuilder *json, const leati_options *options, const leati_model *model) {
  GPtrArray *shares = shares_of(model->nodes);
  leati_member_begin(json, "nodes", FALSE);
  for (guint i = 0; i < shares->len; ++i) {
    const share *one = g_ptr_array_index(shares, i);
    leati_member_begin(json, one->provider, FALSE);
    leati_member_int(json, "count", one->count);
    leati_member_int(json, "in_subgraphs", one->joined);
    leati_member_int(json, "subgraphs", one->subgraphs);
    leati_member_begin(json, "operators", FALSE);
    GList *ops = op_names(one);
    for (GList *op = ops; op != NULL; op = op->next) {
      leati_member_int(json, op->data, GPOINTER_TO_UINT(g_hash_table_lookup(one->ops, op->data)));
    }
    g_list_free(ops);
    json_builder_end_object(json);
    if (options->verbose) {
      leati_member_begin(json, "names", TRUE);
      for (guint n = 0; n < model->nodes->len; ++n) {
        const leati_model_node *node = g_ptr_array_index(model->nodes, n);
        if (strcmp(node->provider, one->provider) == 0) {
          json_builder_add_string_value(json, node->name);
        }
      }
      json_builder_end_array(json);
    }
    json_builder_end_object(json);
  }
  json_builder_end_object(json);
  g_ptr_array_unref(shares);
}

void leati_run_report_elsewhere(JsonBuilder *json, const leati_model *model) {
  leati_member_begin(json, "elsewhere", TRUE);
  for (guint i = 0; i < model->nodes->len; ++i) {
    const leati_model_node *node = g_ptr_array_index(model->nodes, i);
    if (strcmp(node->provider, LEATI_ORT_PROVIDER) != 0) {
      json_builder_begin_array(json);
      leati_member_element(json, node->op);
      leati_member_element(json, node->name);
      leati_member_element(json, node->provider);
      leati_member_element(json, node->reason);
      json_builder_end_array(json);
    }
  }
  json_builder_end_array(json);
}

static void add_complaints(JsonBuilder *json, const leati_findings *findings, const leati_workers *workers,
                           size_t job) {
  const size_t threads = (size_t)findings->options->threads;
  leati_member_begin(json, "complaints", TRUE);
  for (size_t i = 0; i < threads; ++i) {
    const leati_worker *worker = &workers->list[job * threads + i];
    if (worker->failure != NULL || worker->mismatch != NULL || worker->spread_note != NULL) {
      json_builder_begin_object(json);
      leati_member_int(json, "thread", (int64_t)worker->index);
      leati_member_text(json, "failure", worker->failure);
      leati_member_text(json, "mismatch", worker->mismatch);
      leati_member_text(json, "within_spread", worker->spread_note);
      json_builder_end_object(json);
    }
  }
  json_builder_end_array(json);
}

/* The second time, in batches. */
static void add_batched(JsonBuilder *json, const leati_findings *findings, size_t index) {
  leati_figures one;
  leat_batch_stats stats;
  leati_batcher_stats(findings->batchers[index], &stats);
  sum_up_job(findings, findings->batched, index, &one);
  leati_member_begin(json, "batched", FALSE);
  add_figures(json, findings->options, &one);
  leati_member_int(json, "batches", (int64_t)stats.batches);
  leati_member_number(json, "requests_per_batch", mean_requests(&stats));
  leati_member_int(json, "largest_batch", (int64_t)stats.largest_batch);
  add_complaints(json, findings, findings->batched, index);
  json_builder_end_object(json);
}

static void add_job(JsonBuilder *json, const leati_findings *findings, size_t index) {
  const leati_job *job = &findings->jobs[index];
  const leati_model *model = job->model;
  leati_figures one;
  sum_up_job(findings, findings->workers, index, &one);
  json_builder_begin_object(json);
  leati_member_text(json, "name", model->label);
  leati_member_text(json, "path", model->path);
  if (findings->options->compare) {
    leati_member_number(json, "tolerance", job->tolerance.value);
    leati_member_text(json, "tolerance_reason", job->tolerance.reason);
  }
  leati_member_texts(json, "inputs", job->feed->texts);
  leati_member_texts(json, "notes", job->feed->notes);
  leati_member_begin(json, "session_seconds", TRUE);
  for (size_t i = 0; i < model->session_count; ++i) {
    json_builder_add_double_value(json, model->session_seconds[i]);
  }
  json_builder_end_array(json);
  add_figures(json, findings->options, &one);
  add_nodes(json, findings->options, model);
  if (findings->options->explain) {
    leati_run_report_elsewhere(json, model);
  }
  add_complaints(json, findings, findings->workers, index);
  if (findings->batched != NULL) {
    add_batched(json, findings, index);
  }
  json_builder_end_object(json);
}

char *leati_run_report_json(const leati_findings *findings) {
  const leati_options *options = findings->options;
  JsonBuilder *json = json_builder_new();
  json_builder_begin_object(json);
  leati_member_text(json, "tool", "leat-run");
  leati_member_text(json, "version", LEAT_VERSION);
  leati_member_text(json, "build", LEAT_BUILD_ID);
  leati_member_text(json, "onnxruntime", findings->ort->version);
  leati_member_text(json, "provider", provider_name(options));
  leati_member_text(json, "device", findings->ort->device_text);
  leati_member_text(json, "compare", options->compare ? "cpu" : "none");
  leati_member_int(json, "threads", options->threads);
  leati_member_int(json, "sessions", options->sessions);
  leati_member_int(json, "runs_per_thread", options->runs);
  leati_member_int(json, "warmup_per_thread", options->warmup);
  leati_member_int(json, "cpu_threads", options->cpu_threads);
  leati_member_int(json, "seed", options->seed);
  if (options->batch > 0) {
    leati_member_int(json, "batch", options->batch);
    leati_member_int(json, "batch_delay_us", options->batch_delay);
    leati_member_int(json, "batch_workers", options->batch_workers);
  }
  leati_member_number(json, "started_us", (double)findings->workers->start * 1e-3);
  leati_member_begin(json, "models", TRUE);
  for (size_t i = 0; i < findings->job_count; ++i) {
    add_job(json, findings, i);
  }
  json_builder_end_array(json);
  leati_figures all;
  sum_up(findings->workers, 0, findings->workers->count, &all);
  leati_member_begin(json, "total", FALSE);
  add_figures(json, options, &all);
  json_builder_end_object(json);
  if (findings->batched != NULL) {
    sum_up(findings->batched, 0, findings->batched->count, &all);
    leati_member_begin(json, "total_batched", FALSE);
    add_figures(json, options, &all);
    json_builder_end_object(json);
  }
  leati_member_flag(json, "ok", leati_findings_right(findings));
  json_builder_end_object(json);

  JsonNode *root = json_builder_get_root(json);
  char *text = json_to_string(root, TRUE);
  json_node_unref(root);
  g_object_unref(json);
  return text;
}
