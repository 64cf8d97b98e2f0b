/* SPDX-License-Identifier: BSD-3-Clause */
/* leat-run: ONNX models from many threads at once, checked against ONNX Runtime's CPU provider. See --help. */
#include <errno.h>
#include <glib/gstdio.h>
#include <leat_build_id.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "npy.h"
#include "option_value.h"
#include "output.h"
#include "page.h"
#include "profile_summary.h"
#include "run_report.h"
#include "stage.h"
#include "sweep.h"

enum { EXIT_RIGHT = 0, EXIT_WRONG = 1, EXIT_UNUSABLE = 2 };

/* The file's name without ".onnx", with a number after it if an earlier model has it. */
static char *make_label(const char *path, const leati_job *jobs, size_t earlier) {
  char *base = g_path_get_basename(path);
  if (g_str_has_suffix(base, ".onnx") && strlen(base) > strlen(".onnx")) {
    base[strlen(base) - strlen(".onnx")] = '\0';
  }
  char *label = g_strdup(base);
  for (size_t i = 0, number = 2; i < earlier; ++i) {
    if (strcmp(jobs[i].model->label, label) == 0) {
      g_free(label);
      label = g_strdup_printf("%s-%" G_GSIZE_FORMAT, base, number++);
      i = (size_t)-1; /* the new label must differ from all earlier ones, too */
    }
  }
  g_free(base);
  return label;
}

/* The coarsest floating-point type among a model's inputs and outputs; float32 where there is none. */
static leati_element coarsest(const leati_model *model) {
  gboolean any = FALSE;
  leati_element found = LEATI_FLOAT32;
  for (size_t i = 0; i < model->input_count + model->output_count; ++i) {
    const leati_slot *slot = i < model->input_count ? &model->inputs[i] : &model->outputs[i - model->input_count];
    if (leati_element_is_float(slot->element) &&
        (!any || leati_element_unit(slot->element) > leati_element_unit(found))) {
      found = slot->element;
      any = TRUE;
    }
  }
  return found;
}

static void choose_tolerance(const leati_options *options, const leati_model *model, size_t nodes,
                             leati_tolerance *out) {
  if (options->tolerance >= 0.0) {
    *out = (leati_tolerance){.value = options->tolerance, .reason = g_strdup("set by --tolerance")};
  } else {
    leati_tolerance_choose(coarsest(model), nodes, out);
  }
}

/* Makes the inputs, and with the CPU provider the outputs that are right for them. */
static gboolean prepare_feed(const leati_ort *ort, const leati_options *options, uint32_t index, leati_job *job,
                             GError **error) {
  leati_model *model = job->model;
  if (!options->compare) {
    job->feed = leati_feed_new(ort, model, options, index, error);
    return job->feed != NULL;
  }
  const leati_session_plan plan = {.cpu_threads = (int)options->cpu_threads};
  leati_stage_begin("CPU session for", model->label);
  OrtSession *session = leati_ort_session(ort, model->path, &plan, error);
  if (session == NULL) {
    return FALSE;
  }
  gboolean right = leati_model_describe(ort, session, model, error);
  GPtrArray *nodes = right ? leati_model_nodes(ort, session, error) : NULL;
  if (nodes != NULL) {
    choose_tolerance(options, model, nodes->len, &job->tolerance);
    job->feed = leati_feed_new(ort, model, options, index, error);
    right = job->feed != NULL && leati_feed_expect(ort, model, session, job->feed, error);
    if (right && job->tolerance.ulps > 0) {
      job->spread = leati_cpu_spread_new(ort, model, job->feed, plan.cpu_threads, job->tolerance.ulps);
    }
    g_ptr_array_unref(nodes);
  } else {
    right = FALSE;
  }
  ort->api->ReleaseSession(session);
  return right;
}

static gboolean prepare_job(const leati_ort *ort, const leati_options *options, uint32_t index, leati_job *job,
                            GError **error) {
  const leati_session_plan plan = {.leat = options->leat,
                                   .no_fallback = options->no_fallback,
                                   .explain = options->explain,
                                   .cpu_threads = (int)options->cpu_threads,
                                   .provider_options = options->provider_options};
  /* The reference first: it tells an unusable model apart from a provider that cannot take it. */
  if (options->compare && !prepare_feed(ort, options, index, job, error)) {
    return FALSE;
  }
  for (int64_t i = 0; i < options->sessions; ++i) {
    leati_stage_begin("session for", job->model->label);
    if (!leati_model_add_session(ort, &plan, job->model, error)) {
      return FALSE;
    }
  }
  return options->compare || prepare_feed(ort, options, index, job, error);
}

/* A name that fits no model is a slip of the pen, and running without it would be another test than was asked for. */
static gboolean check_used(const GPtrArray *list, const char *option, const char *what, const leati_job *jobs,
                           size_t job_count, gboolean dims, GError **error) {
  for (guint i = 0; i < list->len; ++i) {
    const leati_named_value *named = g_ptr_array_index(list, i);
    if (named->used) {
      continue;
    }
    GPtrArray *names = g_ptr_array_new();
    for (size_t j = 0; j < job_count; ++j) {
      for (size_t s = 0; s < jobs[j].model->input_count; ++s) {
        const leati_slot *slot = &jobs[j].model->inputs[s];
        for (size_t n = 0; n < (dims ? slot->rank : 1); ++n) {
          char *name = dims ? slot->symbols[n] : slot->name;
          if (*name != '\0' && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) {
            g_ptr_array_add(names, name);
          }
        }
      }
    }
    g_ptr_array_add(names, NULL);
    char *known = g_strjoinv(", ", (char **)names->pdata);
    LEATI_FAULT_SET(error, "%s %s: no model has such %s; there %s: %s", option, named->name, what,
                    names->len == 2 ? "is" : "are", *known != '\0' ? known : "none");
    g_free(known);
    g_ptr_array_unref(names);
    return FALSE;
  }
  return TRUE;
}

static gboolean check_all_used(const leati_options *options, const leati_job *jobs, size_t count, GError **error) {
  return check_used(options->inputs, "--input", "an input", jobs, count, FALSE, error) &&
         check_used(options->fills, "--fill", "an input", jobs, count, FALSE, error) &&
         check_used(options->ranges, "--range", "an input", jobs, count, FALSE, error) &&
         check_used(options->shapes, "--shape", "an input", jobs, count, FALSE, error) &&
         check_used(options->dims, "--dim", "a dynamic dimension", jobs, count, TRUE, error);
}

/* Makes a tensor's name fit for a file. */
static char *file_name(const char *name, const char *suffix) {
  char *file = g_strconcat(name, suffix, NULL);
  return g_strdelimit(file, "/\\", '_');
}

/* Done before anything runs, so that a folder that cannot be made costs nobody a long run. The folders above it are not
 * made: one that is missing is a mistyped path. */
static gboolean make_folder(const char *path, GError **error) {
  const int reason = g_mkdir(path, 0777) == 0 ? 0 : errno;
  if (reason == 0 || (reason == EEXIST && g_file_test(path, G_FILE_TEST_IS_DIR))) {
    return TRUE;
  }
  LEATI_FAULT_SET(error, "--save-outputs %s: cannot be made: %s", path,
                  reason == ENOENT ? "the folder that it is to be in does not exist" : g_strerror(reason));
  return FALSE;
}

static gboolean save_outputs(const leati_findings *findings, GError **error) {
  const leati_ort *ort = findings->ort;
  for (size_t j = 0; j < findings->job_count; ++j) {
    const leati_model *model = findings->jobs[j].model;
    const leati_worker *worker = &findings->workers->list[j * (size_t)findings->options->threads];
    char *label = file_name(model->label, "");
    char *folder = g_build_filename(findings->options->save_outputs, findings->job_count > 1 ? label : NULL, NULL);
    gboolean right = make_folder(folder, error);
    for (size_t i = 0; right && worker->first != NULL && i < model->output_count; ++i) {
      char *name = file_name(model->outputs[i].name, ".npy");
      char *path = g_build_filename(folder, name, NULL);
      leati_ndarray view;
      right = leati_value_view(ort, worker->first[i], &view, error) && leati_npy_write(path, &view, error);
      g_free(path);
      g_free(name);
    }
    g_free(folder);
    g_free(label);
    if (!right) {
      return FALSE;
    }
  }
  return TRUE;
}

static void print_and_free(char *text) {
  fputs(text, stdout);
  leati_output_flush();
  g_free(text);
}

/* The queues of all models; NULL with @p error set if one cannot be made. */
static leati_batcher **make_batchers(const leati_findings *findings, GError **error) {
  leati_batcher **batchers = g_new0(leati_batcher *, findings->job_count + 1);
  for (size_t i = 0; i < findings->job_count; ++i) {
    const leati_job *job = &findings->jobs[i];
    batchers[i] = leati_batcher_new(findings->ort, findings->options, job->model, job->feed, error);
    if (batchers[i] == NULL) {
      while (i > 0) {
        leati_batcher_free(batchers[--i]);
      }
      g_free(batchers);
      return NULL;
    }
  }
  return batchers;
}

/* Runs the models once, which is a point of a sweep if there is one. */
static int run_once(leati_findings *findings, leati_sweep *sweep, GError **error) {
  const leati_options *options = findings->options;
  const leati_ort *ort = findings->ort;
  leati_workers workers = {0};
  leati_workers batched = {0};
  int status = EXIT_UNUSABLE;
  if (leati_workers_run(ort, options, findings->jobs, findings->job_count, NULL, &workers, error) &&
      (findings->batchers == NULL ||
       leati_workers_run(ort, options, findings->jobs, findings->job_count, findings->batchers, &batched, error))) {
    findings->workers = &workers;
    findings->batched = findings->batchers != NULL ? &batched : NULL;
    if (options->save_outputs == NULL || save_outputs(findings, error)) {
      status = leati_findings_right(findings) ? EXIT_RIGHT : EXIT_WRONG;
    }
    if (sweep != NULL) {
      leati_sweep_add(sweep, findings);
    }
    if (!options->json) {
      print_and_free(leati_run_report_text(findings));
    } else if (sweep == NULL) {
      print_and_free(leati_run_report_json(findings));
      fputc('\n', stdout);
    }
  }
  leati_workers_clear(ort, &workers);
  leati_workers_clear(ort, &batched);
  return status;
}

/* Runs the models from 1, 2, 4, ... threads and writes a page on that, also on what went wrong. */
static int run_sweep(leati_findings *findings, const leati_rehearsal *rehearsal, GError **error) {
  const leati_options *all = findings->options;
  leati_sweep *sweep = leati_sweep_new();
  int status = EXIT_RIGHT;
  for (int64_t threads; status != EXIT_UNUSABLE && (threads = leati_sweep_next(sweep, all->threads)) != 0;) {
    leati_options some = *all;
    some.threads = threads;
    findings->options = &some;
    if (!all->json) {
      print_and_free(g_strdup_printf("\nFrom %" G_GINT64_FORMAT " %s\n", threads, threads > 1 ? "threads" : "thread"));
    }
    const int one = run_once(findings, sweep, error);
    status = MAX(status, one);
    findings->options = all;
  }
  if (status != EXIT_UNUSABLE) {
    char *json = leati_sweep_json(sweep, findings, rehearsal);
    status = leati_page_write(all->report, json, error) ? status : EXIT_UNUSABLE;
    print_and_free(all->json ? g_strconcat(json, "\n", NULL) : g_strdup(""));
    g_free(json);
  }
  leati_sweep_free(sweep);
  return status;
}

/* Everything after the models and queues are ready. */
static int run_and_report(leati_findings *findings, const leati_rehearsal *rehearsal, GError **error) {
  if (!findings->options->json) {
    print_and_free(leati_run_report_preface(findings));
  }
  return findings->options->report != NULL ? run_sweep(findings, rehearsal, error) : run_once(findings, NULL, error);
}

static int run(const leati_options *options, const leati_ort *ort, leati_job *jobs, const leati_rehearsal *rehearsal,
               GError **error) {
  const size_t count = options->models->len;
  if (options->save_outputs != NULL && !make_folder(options->save_outputs, error)) {
    return EXIT_UNUSABLE;
  }
  for (size_t i = 0; i < count; ++i) {
    const char *path = g_ptr_array_index(options->models, (guint)i);
    char *label = make_label(path, jobs, i);
    jobs[i].model = leati_model_new(path, label);
    g_free(label);
    const gboolean right = prepare_job(ort, options, (uint32_t)i, &jobs[i], error);
    leati_stage_end();
    if (!right) {
      return EXIT_UNUSABLE;
    }
  }
  if (!check_all_used(options, jobs, count, error)) {
    return EXIT_UNUSABLE;
  }
  leati_findings findings = {.ort = ort, .options = options, .jobs = jobs, .job_count = count};
  leati_batcher **batchers = options->batch > 0 ? make_batchers(&findings, error) : NULL;
  if (options->batch > 0 && batchers == NULL) {
    return EXIT_UNUSABLE;
  }
  findings.batchers = batchers;
  const int status = run_and_report(&findings, rehearsal, error);
  for (size_t i = 0; batchers != NULL && i < count; ++i) {
    leati_batcher_free(batchers[i]);
  }
  g_free(batchers);
  return status;
}

static gboolean open_runtime(const leati_options *options, leati_ort *ort, GError **error) {
  leati_stage_limit(options->timeout);
  leati_stage_begin("loading", "ONNX Runtime");
  const gboolean right = leati_ort_open(options->verbose, ort, error) &&
                         (!options->leat || leati_ort_register(ort, options->provider_library, options->device, error));
  leati_stage_end();
  return right;
}

/* Done before ONNX Runtime is opened: what cannot be written is told at once, and a process that is to rehearse must
 * have no threads. */
static gboolean begin_files(leati_options *options, leati_rehearsal *rehearsal, GError **error) {
  if (options->report != NULL && (!leati_page_check(options->report, error) ||
                                  (options->leat && !leati_rehearsal_hold(options, rehearsal, error)))) {
    return FALSE;
  }
  return options->profile == NULL || leati_profile_summary_begin(options->profile, error);
}

int main(int argc, char **argv) {
  (void)argc;
  leati_options options;
  leati_ort ort = {0};
  leati_rehearsal rehearsal = {0};
  GError *error = NULL;
  int status = EXIT_UNUSABLE;
  leati_output_guard("leat-run", EXIT_UNUSABLE);
  if (!leati_options_parse(argv, &options, &error)) {
    g_prefix_error(&error, "bad use (see --help): ");
  } else if (!options.version && !begin_files(&options, &rehearsal, &error)) {
    status = EXIT_UNUSABLE;
  } else if (options.version) {
    puts("leat-run " LEAT_VERSION " (" LEAT_BUILD_ID ")");
    status = EXIT_RIGHT;
  } else if (open_runtime(&options, &ort, &error)) {
    leati_job *jobs = g_new0(leati_job, options.models->len);
    status = run(&options, &ort, jobs, &rehearsal, &error);
    for (guint i = 0; i < options.models->len; ++i) {
      leati_cpu_spread_free(jobs[i].spread);
      leati_feed_free(&ort, jobs[i].model, jobs[i].feed);
      leati_model_free(&ort, jobs[i].model);
      g_free(jobs[i].tolerance.reason);
    }
    g_free(jobs);
  }
  leati_ort_close(&ort);
  if (options.profile != NULL && error == NULL && !options.json && !options.version) {
    /* The provider has closed its device, and the trace is whole. */
    char *const text = leati_profile_summary_text(options.profile, &error);
    status = text != NULL ? status : EXIT_UNUSABLE;
    print_and_free(text != NULL ? text : g_strdup(""));
  }
  leati_options_clear(&options);
  leati_rehearsal_clear(&rehearsal);
  if (error != NULL) {
    g_printerr("leat-run: %s\n", error->message);
    g_error_free(error);
  }
  return status;
}
