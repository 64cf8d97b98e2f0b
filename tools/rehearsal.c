/* SPDX-License-Identifier: BSD-3-Clause */
#include "rehearsal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "profile_summary.h"

/* Enough for means, and a trace that is read in no time. */
#define RUNS_MAX 10

/* The status of leat-run for what cannot be run at all, and is told. */
#define STATUS_UNUSABLE 2

/* In the process that rehearses. */
static gboolean begin(leati_options *options, const char *trace, const char *result, GError **error) {
  const int file = open(result, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0) {
    LEATI_FAULT_SET(error, "%s: cannot be written: %s", result, g_strerror(errno));
    return FALSE;
  }
  close(file);
  g_clear_pointer(&options->report, g_free);
  options->threads = 1;
  options->sessions = 1;
  options->runs = MIN(options->runs, RUNS_MAX);
  options->warmup = CLAMP(options->warmup, 1, RUNS_MAX);
  options->compare = FALSE;
  options->verbose = FALSE;
  options->json = TRUE;
  options->explain = TRUE;
  leati_options_profile(options, trace);
  return TRUE;
}

static gboolean read_results(const leati_options *options, const char *trace, const char *result, leati_rehearsal *out,
                             GError **error) {
  JsonParser *parser = json_parser_new();
  const gboolean right = json_parser_load_from_file(parser, result, error);
  out->result = right ? json_parser_steal_root(parser) : NULL;
  g_object_unref(parser);
  if (!right) {
    return FALSE;
  }
  const double start = json_object_get_double_member(json_node_get_object(out->result), "started_us");
  out->steps = leati_profile_summary_steps(trace, start, (double)MIN(options->runs, RUNS_MAX), error);
  return out->steps != NULL;
}

/* How the process ended, as waitpid() has it. */
static int await(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

gboolean leati_rehearsal_hold(leati_options *options, leati_rehearsal *out, GError **error) {
  *out = (leati_rehearsal){0};
  char *folder = g_dir_make_tmp("leat-run-XXXXXX", error);
  if (folder == NULL) {
    return FALSE;
  }
  char *trace = g_build_filename(folder, "trace.json", NULL);
  char *result = g_build_filename(folder, "result.json", NULL);
  gboolean right = FALSE;
  fflush(NULL);
  const pid_t process = fork();
  if (process < 0) {
    LEATI_FAULT_SET(error, "no process could be made for the profile of --report: %s", g_strerror(errno));
  } else if (process == 0) {
    right = begin(options, trace, result, error);
  } else {
    const int status = await(process);
    if (status == 0) {
      right = read_results(options, trace, result, out, error);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS_UNUSABLE) {
      g_printerr("leat-run: the run with a profile failed, so that the report will have no device time\n");
      right = TRUE;
    }
  }
  if (process != 0) {
    g_unlink(trace);
    g_unlink(result);
    g_rmdir(folder);
  }
  g_free(trace);
  g_free(result);
  g_free(folder);
  return right;
}

void leati_rehearsal_clear(leati_rehearsal *rehearsal) {
  g_clear_pointer(&rehearsal->result, json_node_unref);
  g_clear_pointer(&rehearsal->steps, json_node_unref);
}
