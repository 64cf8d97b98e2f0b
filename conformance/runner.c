/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_list.h"
#include "child.h"
#include "progress.h"
#include "stall.h"
#include "tell.h"

/* Seconds, before scaling, for a process to load the plugin, and to end after its last case. */
#define START_DEADLINE_S 120.0
#define END_DEADLINE_S 60.0
/* How often within a deadline a process is looked at. */
#define LOOKS 50
/* Of what a process prints, this much of the end is kept. */
#define OUTPUT_KEPT 8192

/* ---- The list ---- */

GPtrArray *leati_runner_cases(void) {
  static GPtrArray *all;
  if (all == NULL) {
    leat_case_list *list = leati_case_list_new();
    for (size_t i = 0; leati_case_sources[i].add != NULL; ++i) {
      leati_case_list_source(list, leati_case_sources[i].profile);
      leati_case_sources[i].add(list);
    }
    all = leati_case_list_end(list);
  }
  return all;
}

gboolean leati_runner_chosen(uint32_t profiles, char *const *filters, const leat_case *one) {
  if ((one->profile & profiles) == 0) {
    return FALSE;
  }
  if (filters == NULL) {
    return TRUE;
  }
  for (; *filters != NULL; ++filters) {
    if (g_pattern_match_simple(*filters, one->name)) {
      return TRUE;
    }
  }
  return FALSE;
}

/* ---- Running ---- */

typedef struct {
  const leat_run_options *options;
  leat_report *report;
  GMainLoop *loop;
  GQueue pending; /* indexes of results that still have to run */
  guint active;   /* processes now running */
  guint finished; /* runs that have ended */
  guint total;    /* runs in all */
  char *error;    /* why nothing can run, or NULL; owned */
} runner;

/* A child process and what it has been asked to do. */
typedef struct {
  runner *run;
  GArray *chunk;        /* indexes (guint) of the results it works on, in order; empty: it probes */
  guint next;           /* cases of the chunk that have ended */
  gboolean running;     /* case `next` has begun */
  gboolean told;        /* case `next` has told its outcome and the process is about to end */
  gboolean done;        /* all cases have passed */
  gboolean late;        /* killed by its deadline */
  gint64 begin;         /* when case `next` began, in microseconds */
  leat_outcome outcome; /* of case `next`, once told */
  char *message;        /* likewise; owned */
  char *lacks;          /* likewise: the operator that is lacking, or NULL; owned */
  GPid pid;
  int result_fd;
  int output_fd;
  guint result_source;
  guint output_source;
  guint look_source; /* looks at `progress` */
  leati_progress progress;
  GString *lines;  /* result lines not yet complete */
  GString *output; /* end of what was printed during the case */
  char *late_text; /* why it was killed, or NULL; owned */
  GString *stall;  /* what the process was at then, or NULL; owned */
  gsize scanned;   /* bytes of `output` that were searched for forbidden lines */
  char *forbidden; /* the first forbidden line of this case, or NULL; owned */
} worker;

static void dispatch(runner *run);

static void draw_progress(const runner *run, const char *name) {
  const guint *counts = run->report->counts;
  guint bad = counts[LEAT_OUTCOME_FAIL] + counts[LEAT_OUTCOME_CRASH] + counts[LEAT_OUTCOME_TIMEOUT];
  if (!run->options->progress) {
    return;
  }
  fprintf(stderr, "\r\033[K[%u/%u] %s%u bad%s  %.60s", run->finished, run->total, bad > 0 ? "\033[31m" : "", bad,
          bad > 0 ? "\033[0m" : "", name);
  fflush(stderr);
}

/* Enters how one run of a case ended. Takes `message` and `lacks`. */
static void enter_result(runner *run, guint index, leat_outcome outcome, char *message, char *lacks, const char *output,
                         double seconds) {
  leat_result *result = &run->report->results[index];
  gboolean bad = outcome >= LEAT_OUTCOME_FAIL;
  if (bad && result->waiver != NULL) {
    outcome = LEAT_OUTCOME_WAIVED;
  }
  ++result->runs;
  ++run->finished;
  if (bad) {
    ++result->bad_runs;
  }
  result->seconds += seconds;
  if (outcome > result->outcome) {
    if (result->outcome != LEAT_OUTCOME_NONE) {
      --run->report->counts[result->outcome];
    }
    ++run->report->counts[outcome];
    result->outcome = outcome;
    g_free(result->message);
    result->message = g_steal_pointer(&message);
    g_free(result->lacks);
    result->lacks = g_steal_pointer(&lacks);
    g_free(result->output);
    result->output = output != NULL && output[0] != '\0' ? g_utf8_make_valid(output, -1) : NULL;
  }
  g_free(message);
  g_free(lacks);
  /* What is not supported is told once for all cases that want it, at the end. */
  const leat_outcome least = run->options->quiet      ? LEAT_OUTCOME_FAIL
                             : run->options->only_bad ? LEAT_OUTCOME_WAIVED
                                                      : LEAT_OUTCOME_PASS;
  if (run->options->stream_text && result->runs == run->options->repeat && result->outcome >= least) {
    GString *text = g_string_new(NULL);
    if (run->options->progress) {
      fputs("\r\033[K", stderr);
    }
    leati_report_text_result(run->report, result, text);
    fputs(text->str, stdout);
    fflush(stdout);
    g_string_free(text, TRUE);
  }
  draw_progress(run, result->one->name);
}

/* Searches the complete lines that were printed since the last search. */
static void scan_output(worker *w, gboolean at_end) {
  const GRegex *forbidden = w->run->options->forbidden;
  while (forbidden != NULL && w->forbidden == NULL && w->scanned < w->output->len) {
    const char *begin = w->output->str + w->scanned;
    const char *end = memchr(begin, '\n', w->output->len - w->scanned);
    gsize size;
    char *line;
    if (end == NULL && !at_end) {
      return;
    }
    size = end != NULL ? (gsize)(end - begin) : w->output->len - w->scanned;
    line = g_strndup(begin, size);
    w->scanned += size + (end != NULL ? 1 : 0);
    if (g_regex_match(forbidden, line, 0, NULL)) {
      w->forbidden = line;
    } else {
      g_free(line);
    }
  }
}

/* Reads what there is. FALSE at the end of the pipe. */
static gboolean drain_output(worker *w) {
  char buffer[4096];
  for (;;) {
    ssize_t size = read(w->output_fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return errno == EAGAIN;
    }
    if (size == 0) {
      return FALSE;
    }
    g_string_append_len(w->output, buffer, size);
    scan_output(w, FALSE);
    if (w->output->len > OUTPUT_KEPT) {
      gsize cut = w->output->len - OUTPUT_KEPT;
      g_string_erase(w->output, 0, (gssize)cut);
      w->scanned = w->scanned > cut ? w->scanned - cut : 0;
    }
  }
}

static gboolean on_look(gpointer user_data) {
  worker *w = user_data;
  const leati_progress *progress = &w->progress;
  const leati_progress_state state = leati_progress_look(&w->progress);
  if (state == LEATI_PROGRESS_MOVES) {
    return G_SOURCE_CONTINUE;
  }
  w->look_source = 0;
  w->late = TRUE;
  w->late_text = state == LEATI_PROGRESS_HANGS
                     ? g_strdup_printf("it hangs: next to no processor time in %g s", progress->deadline_s)
                     : g_strdup_printf("it has used %.0f s of processor time", progress->used_s);
  w->stall = g_string_new(NULL);
  leati_stall_describe(w->pid, w->stall);
  /* The end of the process, seen by on_exit_of_child(), enters the result. */
  kill(w->pid, SIGKILL);
  return G_SOURCE_REMOVE;
}

static void stop_looking(worker *w) {
  if (w->look_source != 0) {
    g_source_remove(w->look_source);
  }
  w->look_source = 0;
}

static void set_deadline(worker *w, double seconds) {
  seconds *= w->run->options->scale;
  stop_looking(w);
  leati_progress_begin(w->pid, seconds, &w->progress);
  w->look_source = g_timeout_add((guint)(seconds * 1000.0 / LOOKS), on_look, w);
}

static double elapsed_seconds(const worker *w) {
  return (double)(g_get_monotonic_time() - w->begin) / 1e6;
}

/* Case `next` has ended with the process still fine. */
static void end_case(worker *w) {
  guint index = g_array_index(w->chunk, guint, w->next);
  leat_outcome outcome = LEAT_OUTCOME_PASS;
  char *message = NULL;
  scan_output(w, TRUE);
  if (w->forbidden != NULL) {
    outcome = LEAT_OUTCOME_FAIL;
    message = g_strdup_printf("forbidden output: %s", w->forbidden);
  }
  enter_result(w->run, index, outcome, message, NULL, outcome == LEAT_OUTCOME_PASS ? NULL : w->output->str,
               elapsed_seconds(w));
  g_clear_pointer(&w->forbidden, g_free);
  ++w->next;
  w->running = FALSE;
}

static char *take(char **place, const char *word) {
  g_free(*place);
  *place = g_strdup(word);
  return *place;
}

/* Enters a line about how near to its bound a case came: a type, and error and bound in ULP. */
static void note_accuracy(leat_result *result, char *const *words) {
  const leat_accuracy told = {
      .noted = TRUE, .worst = {.error = g_ascii_strtod(words[3], NULL), .bound = g_ascii_strtod(words[4], NULL)}};
  for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
    if (g_str_equal(words[2], leati_ref_type_name((leati_ref_type)type))) {
      leati_report_worse(&result->accuracy[type], &told);
    }
  }
}

static void on_line(worker *w, const char *line) {
  leat_report *report = w->run->report;
  char **words = leati_tell_parse(line);
  guint count = g_strv_length(words);
  const char *kind = count > 0 ? words[0] : "";
  if (g_str_equal(kind, "error") && count == 2) {
    take(&w->run->error, words[1]);
  } else if (g_str_equal(kind, "defect") && count == 2) {
    take(&report->defect, words[1]);
  } else if (g_str_equal(kind, "plugin") && count == 7) {
    take(&report->plugin_name, words[1]);
    take(&report->plugin_version, words[2]);
    take(&report->plugin_build_id, words[3]);
    take(&report->plugin_abi, words[4]);
    take(&report->plugin_header, words[5]);
    report->capabilities = g_ascii_strtoull(words[6], NULL, 10);
  } else if (g_str_equal(kind, "device") && count == 6) {
    take(&report->device_name, words[2]);
    take(&report->device_driver, words[3]);
    take(&report->device_uuid, words[4]);
  } else if (g_str_equal(kind, "no-device") && count == 2) {
    take(&report->no_device, words[1]);
  } else if (g_str_equal(kind, "done")) {
    w->done = TRUE;
  } else if (w->next < w->chunk->len && count >= 2) {
    const leat_case *one = report->results[g_array_index(w->chunk, guint, w->next)].one;
    if (!g_str_equal(words[1], one->name)) {
      /* The plugin has written to a descriptor that is not its own; the line says nothing about a case. */
      g_printerr("leat-conformance: %s: a line about another case was ignored: %s\n", one->name, line);
    } else if (g_str_equal(kind, "begin")) {
      w->running = TRUE;
      w->begin = g_get_monotonic_time();
      g_string_truncate(w->output, 0);
      w->scanned = 0;
      set_deadline(w, one->deadline_s != 0 ? one->deadline_s : LEAT_CASE_DEADLINE_S);
      draw_progress(w->run, one->name);
    } else if (g_str_equal(kind, "accuracy") && w->running && count == 5) {
      note_accuracy(&report->results[g_array_index(w->chunk, guint, w->next)], words);
    } else if (g_str_equal(kind, "pass") && w->running) {
      end_case(w);
      set_deadline(w, w->next < w->chunk->len ? START_DEADLINE_S : END_DEADLINE_S);
    } else if ((g_str_equal(kind, "fail") || g_str_equal(kind, "skip")) && w->running && count == 3) {
      w->told = TRUE;
      w->outcome = g_str_equal(kind, "fail") ? LEAT_OUTCOME_FAIL : LEAT_OUTCOME_NOT_SUPPORTED;
      take(&w->message, words[2]);
    } else if (g_str_equal(kind, "lack") && w->running && count == 4) {
      w->told = TRUE;
      w->outcome = LEAT_OUTCOME_NOT_SUPPORTED;
      take(&w->lacks, words[2]);
      take(&w->message, words[3]);
    }
  }
  g_strfreev(words);
}

/* Reads and handles what there is. FALSE at the end of the pipe. */
static gboolean drain_results(worker *w) {
  char buffer[4096];
  gboolean more = TRUE;
  char *newline;
  for (;;) {
    ssize_t size = read(w->result_fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      more = size < 0 && errno == EAGAIN;
      break;
    }
    g_string_append_len(w->lines, buffer, size);
  }
  /* What a case printed was written before its result. */
  if (w->output_fd >= 0) {
    drain_output(w);
  }
  while ((newline = memchr(w->lines->str, '\n', w->lines->len)) != NULL) {
    char *line = g_strndup(w->lines->str, (gsize)(newline - w->lines->str));
    g_string_erase(w->lines, 0, newline - w->lines->str + 1);
    on_line(w, line);
    g_free(line);
  }
  return more;
}

static gboolean on_results(gint fd, GIOCondition condition, gpointer user_data) {
  worker *w = user_data;
  (void)fd;
  (void)condition;
  if (drain_results(w)) {
    return G_SOURCE_CONTINUE;
  }
  w->result_source = 0;
  return G_SOURCE_REMOVE;
}

static gboolean on_output(gint fd, GIOCondition condition, gpointer user_data) {
  worker *w = user_data;
  (void)fd;
  (void)condition;
  if (drain_output(w)) {
    return G_SOURCE_CONTINUE;
  }
  w->output_source = 0;
  return G_SOURCE_REMOVE;
}

/* How a process ended, for a person. */
static char *end_text(int status) {
  if (WIFSIGNALED(status)) {
    const char *name = sigabbrev_np(WTERMSIG(status));
    return g_strdup_printf("ended by signal %d (SIG%s, %s)", WTERMSIG(status), name != NULL ? name : "?",
                           strsignal(WTERMSIG(status)));
  }
  return g_strdup_printf("ended itself with status %d", WEXITSTATUS(status));
}

/* Judges a process that has ended and puts the rest of its cases back. */
static void conclude(worker *w, int status) {
  runner *run = w->run;
  leat_report *report = run->report;
  char *end = end_text(status);
  if (w->chunk->len == 0) {
    if (w->late) {
      report->defect =
          g_strdup_printf("loading the plugin and asking it for its devices did not end: %s", w->late_text);
    } else if (run->error == NULL && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
      report->defect = g_strdup_printf(
          "loading the plugin and asking it for its devices: the process %s; it printed:\n%s", end, w->output->str);
    }
    g_free(end);
    return;
  }
  if (w->next < w->chunk->len) {
    guint index = g_array_index(w->chunk, guint, w->next);
    leat_outcome outcome = w->outcome;
    char *message = g_steal_pointer(&w->message);
    if (!w->told) {
      const char *where = w->running ? "in the case" : "while loading the plugin or opening the device";
      outcome = w->late ? LEAT_OUTCOME_TIMEOUT : LEAT_OUTCOME_CRASH;
      message = w->late ? g_strdup_printf("not finished %s: %s", where, w->late_text)
                        : g_strdup_printf("the process %s %s", end, where);
    }
    enter_result(run, index, outcome, message, g_steal_pointer(&w->lacks), w->output->str,
                 w->running ? elapsed_seconds(w) : 0.0);
    ++w->next;
  } else if (w->late || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || !w->done || w->forbidden != NULL) {
    /* All cases had passed, and then the process did not end well: the last one stands for it. */
    leat_result *last = &report->results[g_array_index(w->chunk, guint, w->chunk->len - 1)];
    leat_outcome outcome = LEAT_OUTCOME_CRASH;
    char *message;
    if (w->late) {
      outcome = LEAT_OUTCOME_TIMEOUT;
      message = g_strdup_printf("after %u passed cases the process did not end: %s", w->chunk->len, w->late_text);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && w->done) {
      outcome = LEAT_OUTCOME_FAIL;
      message = g_strdup_printf("forbidden output after %u passed cases: %s", w->chunk->len, w->forbidden);
    } else {
      message = g_strdup_printf("after %u passed cases, on its way out, the process %s", w->chunk->len, end);
    }
    --last->runs;
    --run->finished;
    enter_result(run, g_array_index(w->chunk, guint, w->chunk->len - 1), outcome, message, NULL, w->output->str, 0.0);
  }
  for (guint i = w->chunk->len; i > w->next; --i) {
    g_queue_push_head(&run->pending, GUINT_TO_POINTER(g_array_index(w->chunk, guint, i - 1)));
  }
  g_free(end);
}

static void on_exit_of_child(GPid pid, gint status, gpointer user_data) {
  worker *w = user_data;
  runner *run = w->run;
  stop_looking(w);
  drain_results(w);
  drain_output(w);
  scan_output(w, TRUE);
  if (w->stall != NULL) {
    g_string_append(w->output, w->stall->str);
    g_string_free(w->stall, TRUE);
    w->stall = NULL;
  }
  stop_looking(w);
  if (w->result_source != 0) {
    g_source_remove(w->result_source);
  }
  if (w->output_source != 0) {
    g_source_remove(w->output_source);
  }
  conclude(w, status);
  g_spawn_close_pid(pid);
  close(w->result_fd);
  close(w->output_fd);
  g_array_unref(w->chunk);
  g_string_free(w->lines, TRUE);
  g_string_free(w->output, TRUE);
  g_free(w->forbidden);
  g_free(w->late_text);
  g_free(w->message);
  g_free(w->lacks);
  g_free(w);
  --run->active;
  dispatch(run);
  if (run->active == 0) {
    g_main_loop_quit(run->loop);
  }
}

/* Starts a process that works on a chunk of cases, or probes if the chunk is empty. Takes `chunk`. */
static void start(runner *run, GArray *chunk) {
  const leat_run_options *options = run->options;
  GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
  worker *w = g_new0(worker, 1);
  int result_pipe[2];
  int output_pipe[2];
  int sources[2];
  const int targets[2] = {3, STDOUT_FILENO};
  char scale[G_ASCII_DTOSTR_BUF_SIZE];
  GError *error = NULL;

  w->run = run;
  w->chunk = chunk;
  w->begin = g_get_monotonic_time();
  w->lines = g_string_new(NULL);
  w->output = g_string_new(NULL);
  g_ptr_array_add(argv, g_strdup(options->program));
  g_ptr_array_add(argv, g_strdup("--child-fd=3"));
  g_ptr_array_add(argv, g_strdup_printf("--device=%u", options->device_index));
  g_ptr_array_add(argv, g_strdup_printf("--seed=%u", options->seed));
  g_ptr_array_add(argv, g_strdup_printf("--first-call=%u", options->first_call));
  if (options->calls != 0) {
    g_ptr_array_add(argv, g_strdup_printf("--calls=%u", options->calls));
  }
  if (options->all_operators) {
    g_ptr_array_add(argv, g_strdup("--all-operators"));
  }
  if (options->fast_float32) {
    g_ptr_array_add(argv, g_strdup("--fast-float32"));
  }
  g_ptr_array_add(argv, g_strdup_printf("--deadline-scale=%s", g_ascii_dtostr(scale, sizeof(scale), options->scale)));
  if (chunk->len == 0) {
    g_ptr_array_add(argv, g_strdup("--probe"));
  }
  for (guint i = 0; i < chunk->len; ++i) {
    const leat_case *one = run->report->results[g_array_index(chunk, guint, i)].one;
    g_ptr_array_add(argv, g_strdup_printf("--run-case=%s", one->name));
  }
  g_ptr_array_add(argv, g_strdup("--"));
  g_ptr_array_add(argv, g_strdup(options->plugin_path));
  g_ptr_array_add(argv, NULL);

  if (!g_unix_open_pipe(result_pipe, FD_CLOEXEC, &error) || !g_unix_open_pipe(output_pipe, FD_CLOEXEC, &error) ||
      !g_unix_set_fd_nonblocking(result_pipe[0], TRUE, &error) ||
      !g_unix_set_fd_nonblocking(output_pipe[0], TRUE, &error)) {
    g_error("cannot make a pipe to a case: %s", error->message);
  }
  sources[0] = result_pipe[1];
  sources[1] = output_pipe[1];
  /* The child makes its stderr a copy of its stdout itself. */
  if (!g_spawn_async_with_pipes_and_fds(NULL, (const gchar *const *)argv->pdata, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                        NULL, -1, -1, -1, sources, targets, 2, &w->pid, NULL, NULL, NULL, &error)) {
    g_error("cannot start a case: %s", error->message);
  }
  close(result_pipe[1]);
  close(output_pipe[1]);
  g_ptr_array_unref(argv);
  w->result_fd = result_pipe[0];
  w->output_fd = output_pipe[0];
  w->result_source = g_unix_fd_add(w->result_fd, G_IO_IN | G_IO_HUP, on_results, w);
  w->output_source = g_unix_fd_add(w->output_fd, G_IO_IN | G_IO_HUP, on_output, w);
  set_deadline(w, START_DEADLINE_S);
  g_child_watch_add(w->pid, on_exit_of_child, w);
  ++run->active;
}

/* Starts processes until there are as many as wanted. */
static void dispatch(runner *run) {
  const leat_run_options *options = run->options;
  while (run->active < options->jobs && !g_queue_is_empty(&run->pending)) {
    GArray *chunk = g_array_new(FALSE, FALSE, sizeof(guint));
    /* Towards the end the chunks get smaller, so that all processes end at about the same time. */
    guint size = CLAMP(g_queue_get_length(&run->pending) / (options->jobs * 2), 1, options->batch);
    while (chunk->len < size && !g_queue_is_empty(&run->pending)) {
      guint index = GPOINTER_TO_UINT(g_queue_peek_head(&run->pending));
      gboolean alone = (run->report->results[index].one->flags & LEAT_CASE_ALONE) != 0;
      if (alone && chunk->len > 0) {
        break;
      }
      g_queue_pop_head(&run->pending);
      g_array_append_val(chunk, index);
      if (alone) {
        break;
      }
    }
    start(run, chunk);
  }
}

/* ---- The whole ---- */

static char *base_command(const leat_run_options *options) {
  char *program = g_shell_quote(options->program);
  char *plugin = g_shell_quote(options->plugin_path);
  GString *command = g_string_new(NULL);
  g_string_printf(command, "%s %s", program, plugin);
  if (options->device_index != 0) {
    g_string_append_printf(command, " --device %u", options->device_index);
  }
  if (options->seed != 0) {
    g_string_append_printf(command, " --seed %u", options->seed);
  }
  if (options->first_call != 0) {
    g_string_append_printf(command, " --first-call %u", options->first_call);
  }
  if (options->calls != 0) {
    g_string_append_printf(command, " --calls %u", options->calls);
  }
  if (options->all_operators) {
    g_string_append(command, " --all-operators");
  }
  if (options->fast_float32) {
    g_string_append(command, " --fast-float32");
  }
  if (options->scale != 1.0) {
    char scale[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(command, " --deadline-scale %s", g_ascii_dtostr(scale, sizeof(scale), options->scale));
  }
  if (options->forbidden != NULL) {
    char *pattern = g_shell_quote(g_regex_get_pattern(options->forbidden));
    g_string_append_printf(command, " --fail-on-output %s", pattern);
    g_free(pattern);
  }
  g_free(program);
  g_free(plugin);
  return g_string_free(command, FALSE);
}

/* Compares the results with the list of names that a conformant plugin must pass, as far as they are of the profiles
 * that were run. */
static void check_mustpass(const leat_run_options *options, leat_report *report) {
  GPtrArray *cases = leati_runner_cases();
  if (options->mustpass == NULL) {
    return;
  }
  GHashTable *profiles = g_hash_table_new(g_str_hash, g_str_equal);
  GHashTable *by_name = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < cases->len; ++i) {
    const leat_case *one = cases->pdata[i];
    g_hash_table_insert(profiles, (gpointer)one->name, GUINT_TO_POINTER(one->profile));
  }
  for (size_t i = 0; i < report->result_count; ++i) {
    g_hash_table_insert(by_name, (gpointer)report->results[i].one->name, &report->results[i]);
  }
  report->mustpass_name = g_strdup(options->mustpass_name);
  report->mustpass_missing = g_ptr_array_new();
  for (char **name = options->mustpass; *name != NULL; ++name) {
    const guint profile = GPOINTER_TO_UINT(g_hash_table_lookup(profiles, *name));
    const leat_result *result = g_hash_table_lookup(by_name, *name);
    if (profile == 0) {
      g_ptr_array_add(report->mustpass_missing, *name);
    }
    if (profile != 0 && (profile & options->profiles) == 0) {
      continue;
    }
    ++report->mustpass_total;
    report->mustpass_passed += result != NULL && result->outcome == LEAT_OUTCOME_PASS ? 1 : 0;
    report->mustpass_not_supported += result != NULL && result->outcome == LEAT_OUTCOME_NOT_SUPPORTED ? 1 : 0;
  }
  g_hash_table_unref(profiles);
  g_hash_table_unref(by_name);
}

/* Finds the waivers that nothing needs: all that they name ran and passed. */
static void check_waivers(const leat_run_options *options, leat_report *report) {
  const GPtrArray *cases = leati_runner_cases();
  report->unneeded_waivers = g_ptr_array_new();
  for (char **waiver = options->waivers; waiver != NULL && *waiver != NULL; waiver += 2) {
    size_t left = 0;
    for (guint i = 0; i < cases->len; ++i) {
      left += g_pattern_match_simple(waiver[0], ((const leat_case *)cases->pdata[i])->name) ? 1 : 0;
    }
    for (size_t i = 0; i < report->result_count; ++i) {
      const leat_result *result = &report->results[i];
      if (result->outcome == LEAT_OUTCOME_PASS && g_pattern_match_simple(waiver[0], result->one->name)) {
        --left;
      }
    }
    if (left == 0) {
      g_ptr_array_add(report->unneeded_waivers, waiver[0]);
    }
  }
}

static const char *waiver_of(const leat_run_options *options, const char *name) {
  for (char **waiver = options->waivers; waiver != NULL && *waiver != NULL; waiver += 2) {
    if (g_pattern_match_simple(waiver[0], name)) {
      return waiver[1];
    }
  }
  return NULL;
}

leat_report *leati_runner_run(const leat_run_options *options, char **out_message) {
  GPtrArray *cases = leati_runner_cases();
  leat_report *report = g_new0(leat_report, 1);
  runner run = {.options = options, .report = report, .pending = G_QUEUE_INIT};
  gint64 begin = g_get_monotonic_time();
  uint64_t needs;
  size_t wanted = 0; /* cases of the profiles */

  report->accuracy = options->accuracy;
  report->quiet = options->quiet;
  report->profiles = options->profiles;
  report->command = base_command(options);
  report->plugin_path = g_strdup(options->plugin_path);
  report->seed = options->seed;
  run.loop = g_main_loop_new(NULL, FALSE);
  start(&run, g_array_new(FALSE, FALSE, sizeof(guint)));
  g_main_loop_run(run.loop);
  if (run.error != NULL) {
    *out_message = run.error;
    return NULL;
  }

  needs = report->defect != NULL ? LEAT_CASE_WITHOUT_TABLES : report->no_device != NULL ? LEAT_CASE_WITHOUT_DEVICE : 0;
  report->results = g_new0(leat_result, cases->len + 1);
  for (guint i = 0; i < cases->len; ++i) {
    const leat_case *one = cases->pdata[i];
    wanted += (one->profile & options->profiles) != 0 ? 1 : 0;
    if (!leati_runner_chosen(options->profiles, options->filters, one) || (one->flags & needs) != needs) {
      continue;
    }
    report->results[report->result_count].one = one;
    report->results[report->result_count].waiver = waiver_of(options, one->name);
    ++report->result_count;
  }
  report->complete = report->result_count == wanted;
  if (options->stream_text) {
    GString *head = g_string_new(NULL);
    leati_report_text_head(report, head);
    fputs(head->str, stdout);
    fflush(stdout);
    g_string_free(head, TRUE);
  }
  for (uint32_t round = 0; round < options->repeat; ++round) {
    for (size_t i = 0; i < report->result_count; ++i) {
      g_queue_push_tail(&run.pending, GUINT_TO_POINTER((guint)i));
    }
  }
  run.total = g_queue_get_length(&run.pending);
  dispatch(&run);
  if (run.active > 0) {
    g_main_loop_run(run.loop);
  }
  g_main_loop_unref(run.loop);
  if (options->progress) {
    fputs("\r\033[K", stderr);
  }
  report->seconds = (double)(g_get_monotonic_time() - begin) / 1e6;
  check_mustpass(options, report);
  check_waivers(options, report);
  return report;
}
