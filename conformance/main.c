/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * leat-conformance: tells whether a plugin keeps the contract of abi/leat/backend.h.
 *
 * Exit status: 0 all is fine, 1 a case failed, crashed or timed out, or a waiver is not needed, 2 bad use, a plugin or
 * setting that cannot be used or a report that cannot be written, 77 there is no device (with the reason).
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "child.h"
#include "file.h"
#include "mustpass.h"
#include "ops/core/op_engine.h"
#include "ops/core/undrawn.h"
#include "plugin.h"
#include "runner.h"
#include "tell.h"

#define EXIT_BAD_USE 2

typedef void (*report_writer)(const leat_report *report, GString *out);

static const struct {
  const char *name;
  report_writer write;
} formats[] = {
    {"text", leati_report_text}, {"tap", leati_report_tap}, {"junit", leati_report_junit}, {"json", leati_report_json}};

/* The command line. */
typedef struct {
  char **filters;
  char **run_cases;
  char *profile;
  uint32_t profiles;
  char *format;
  char *output;
  char *mustpass;
  char **waivers;
  char *fail_on_output;
  char *device;
  char *seed;
  char *first_call;
  char *calls;
  char *jobs;
  char *batch;
  char *repeat;
  char *scale_text;
  double scale;
  gboolean list;
  gboolean untried;
  gboolean undrawn;
  gboolean all_operators;
  gboolean fast_float32;
  gboolean accuracy;
  gboolean probe;
  gboolean quiet;
  gint child_fd;
  char **rest;
} arguments;

static int bad_use(const char *format, ...) G_GNUC_PRINTF(1, 2);
static int bad_use(const char *format, ...) {
  va_list args;
  char *text;
  va_start(args, format);
  text = g_strdup_vprintf(format, args);
  va_end(args);
  g_printerr("leat-conformance: %s\n", text);
  g_free(text);
  return EXIT_BAD_USE;
}

/* At the end: what was printed has arrived, or somebody is told. */
static void check_stdout(void) {
  if (fflush(stdout) != 0 || ferror(stdout)) {
    _exit(bad_use("writing to stdout: %s", g_strerror(errno)));
  }
}

/* A standard stream may be closed. The next file opened would take its number, and a report would go to the middle of
 * that; writing to a stream that can only be read fails, and is told. */
static void keep_streams_apart(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) {
      (void)!open("/dev/null", O_RDONLY);
    }
  }
}

/* Reads an option that is a whole number; keeps `out` when the option was not given. */
static gboolean read_number(const char *option, const char *text, guint64 low, guint64 high, uint32_t *out) {
  GError *error = NULL;
  guint64 number;
  if (text == NULL) {
    return TRUE;
  }
  if (!g_ascii_string_to_unsigned(text, 10, low, high, &number, &error)) {
    bad_use("%s: '%s' is not a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, option, text, low, high);
    g_error_free(error);
    return FALSE;
  }
  *out = (uint32_t)number;
  return TRUE;
}

/* The same for the factor of all deadlines. */
static gboolean read_scale(const char *text, double *out) {
  char *end;
  if (text == NULL) {
    return TRUE;
  }
  *out = g_ascii_strtod(text, &end);
  if (end == text || g_ascii_isspace(*text) || *end != '\0' || !(*out >= 0.01 && *out <= 1000.0)) {
    bad_use("--deadline-scale: '%s' is not a number from 0.01 to 1000", text);
    return FALSE;
  }
  return TRUE;
}

static gboolean read_profile(const char *text, uint32_t *out) {
  for (*out = LEAT_PROFILE_CORE; *out <= LEAT_PROFILE_ALL; ++*out) {
    if (g_str_equal(text, leati_profile_name(*out))) {
      return TRUE;
    }
  }
  bad_use("--profile: '%s' is none of core, operators and all", text);
  return FALSE;
}

static gboolean matches_a_case(uint32_t profiles, const char *glob) {
  char *const filters[2] = {(char *)glob, NULL};
  GPtrArray *cases = leati_runner_cases();
  gboolean found = FALSE;
  for (guint i = 0; i < cases->len && !found; ++i) {
    found = leati_runner_chosen(profiles, filters, cases->pdata[i]);
  }
  return found;
}

/* A filter that fits no case is a slip of the pen, and a run without what it was for would look like one with it. */
static gboolean check_filters(uint32_t profiles, char *const *filters) {
  for (; filters != NULL && *filters != NULL; ++filters) {
    if (!matches_a_case(profiles, *filters)) {
      bad_use("--filter: no case matches '%s'%s%s; --list shows the names", *filters,
              profiles == LEAT_PROFILE_ALL ? "" : " in the profile ",
              profiles == LEAT_PROFILE_ALL ? "" : leati_profile_name(profiles));
      return FALSE;
    }
  }
  return TRUE;
}

/* Appends the waivers of a file: lines of a name or glob, white space, and a reason. False: the file is not right. */
static bool read_waivers(const char *path, GPtrArray *waivers) {
  GError *error = NULL;
  char **lines = leati_file_lines(path, &error);
  if (lines == NULL) {
    bad_use("--waivers: %s", error->message);
    g_error_free(error);
    return false;
  }
  for (guint i = 0; lines[i] != NULL; ++i) {
    char *line = g_strstrip(lines[i]);
    size_t name = strcspn(line, " \t");
    char *glob;
    if (line[0] == '\0' || line[0] == '#') {
      continue;
    }
    if (line[name] == '\0') {
      bad_use("--waivers %s: line %u: a waiver needs a name and then a reason: %s", path, i + 1, line);
      return false;
    }
    glob = g_strndup(line, name);
    if (!matches_a_case(LEAT_PROFILE_ALL, glob)) {
      bad_use("--waivers %s: line %u: no case is named %s", path, i + 1, glob);
      return false;
    }
    g_ptr_array_add(waivers, glob);
    g_ptr_array_add(waivers, g_strdup(g_strchug(line + name)));
  }
  g_strfreev(lines);
  return true;
}

/* --list: names, what each checks, and profiles. */
static int list_cases(const arguments *args) {
  GPtrArray *cases = leati_runner_cases();
  for (guint i = 0; i < cases->len; ++i) {
    const leat_case *one = cases->pdata[i];
    if (leati_runner_chosen(args->profiles, args->filters, one)) {
      printf("%s\t%s\t%s\n", one->name, one->summary, leati_profile_name(one->profile));
    }
  }
  return 0;
}

/* How many calls of each operator --undrawn looks at, unless --calls says so: what one in thirty has is there. */
#define UNDRAWN_CALLS 300

/* --untried and --undrawn: what of the plugin's operator list no case is for, and what no drawn call has. */
static int list_gaps(const arguments *args, const char *plugin_path, uint32_t calls) {
  leat_plugin plugin = {0};
  char *message = NULL;
  if (!leati_plugin_load(plugin_path, &plugin, &message)) {
    return bad_use("%s", message);
  }
  if (plugin.defect != NULL) {
    return bad_use("%s", plugin.defect);
  }
  g_autoptr(GPtrArray) chosen = g_ptr_array_new();
  const GPtrArray *cases = leati_runner_cases();
  for (guint i = 0; i < cases->len; ++i) {
    if (leati_runner_chosen(args->profiles, args->filters, cases->pdata[i])) {
      g_ptr_array_add(chosen, cases->pdata[i]);
    }
  }
  return (!args->untried || leati_op_untried(chosen, plugin.api->op)) &&
                 (!args->undrawn || leati_op_undrawn(plugin.api->op, calls > 0 ? calls : UNDRAWN_CALLS))
             ? 0
             : bad_use("%s does not give its operator list", plugin_path);
}

/* Runs cases or the probe in this process. */
static int be_child(const arguments *args, const char *plugin_path, const leat_run_options *run) {
  leat_child_options options = {.plugin_path = plugin_path,
                                .device_index = run->device_index,
                                .seed = run->seed,
                                .first_call = run->first_call,
                                .calls = run->calls,
                                .all_operators = args->all_operators,
                                .fast_float32 = args->fast_float32,
                                .scale = args->scale,
                                .result_fd = args->child_fd};
  GPtrArray *cases = leati_runner_cases();
  GPtrArray *chosen = g_ptr_array_new();
  int status;
  if (args->child_fd >= 0) {
    /* The runner's end takes the cases with it, also when it is killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fcntl(args->child_fd, F_SETFD, FD_CLOEXEC) != 0) {
      return bad_use("--child-fd is for the runner's own use");
    }
    /* One pipe for both keeps what is printed in order. */
    dup2(STDOUT_FILENO, STDERR_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
  }
  if (args->probe) {
    return leati_child_probe(&options);
  }
  for (char **name = args->run_cases; *name != NULL; ++name) {
    guint before = chosen->len;
    for (guint i = 0; i < cases->len; ++i) {
      const leat_case *one = cases->pdata[i];
      if (g_str_equal(one->name, *name)) {
        g_ptr_array_add(chosen, (gpointer)one);
      }
    }
    if (chosen->len == before) {
      return bad_use("--run-case: no case is named %s; --list shows the names", *name);
    }
  }
  status = leati_child_run(&options, (const leat_case *const *)chosen->pdata, chosen->len);
  g_ptr_array_unref(chosen);
  if (args->child_fd < 0) {
    if (status == LEAT_CHILD_BAD_PLUGIN) {
      status = EXIT_BAD_USE;
    }
  }
  return status;
}

/* Whether a file is made, or replaced as a whole. Anything else, such as a link, a pipe or /dev/null, must stay what it
 * is and is written to. */
static gboolean is_replaced(const char *path) {
  return !g_file_test(path, G_FILE_TEST_EXISTS) ||
         (g_file_test(path, G_FILE_TEST_IS_REGULAR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK));
}

/* A report that cannot be written is told now rather than after minutes. What is not replaced is opened: `out` is the
 * stream, or NULL. */
static gboolean check_output(const char *path, FILE **out) {
  gboolean right = *path != '\0' && !g_file_test(path, G_FILE_TEST_IS_DIR);
  GError *error = NULL;
  *out = NULL;
  if (!right) {
    bad_use("--output: '%s' names no file", path);
  } else if (is_replaced(path)) {
    char *trial = g_strconcat(path, ".XXXXXX", NULL);
    int file = g_mkstemp(trial);
    right = file >= 0;
    if (right) {
      close(file);
      unlink(trial);
    } else {
      bad_use("--output: %s cannot be written: %s", path, g_strerror(errno));
    }
    g_free(trial);
  } else {
    *out = leati_file_open(path, &error);
    right = *out != NULL;
    if (!right) {
      bad_use("--output: %s", error->message);
    }
    g_clear_error(&error);
  }
  return right;
}

/* Writes the report to a file, which takes its place as a whole, or to a stream, and closes that. */
static gboolean put_report(const char *path, FILE *stream, const GString *text, GError **error) {
  gboolean written;
  if (stream == NULL) {
    return g_file_set_contents(path, text->str, (gssize)text->len, error);
  }
  written = fwrite(text->str, 1, text->len, stream) == text->len;
  /* What was buffered can fail as late as here. */
  written = fclose(stream) == 0 && written;
  if (!written) {
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), "%s cannot be written: %s", path,
                g_strerror(errno));
  }
  return written;
}

static int run(const arguments *args, leat_run_options *options) {
  report_writer write = NULL;
  char *message = NULL;
  GError *error = NULL;
  GString *text = g_string_new(NULL);
  static leat_report *report; /* static as in main() */
  FILE *stream = NULL;

  for (size_t i = 0; i < G_N_ELEMENTS(formats); ++i) {
    if (g_str_equal(formats[i].name, args->format)) {
      write = formats[i].write;
    }
  }
  if (write == NULL) {
    return bad_use("--format: '%s' is none of text, tap, junit and json", args->format);
  }
  if (args->output != NULL && !check_output(args->output, &stream)) {
    return EXIT_BAD_USE;
  }
  GPtrArray *waivers = g_ptr_array_new_with_free_func(g_free);
  for (char **path = args->waivers; path != NULL && *path != NULL; ++path) {
    if (!read_waivers(*path, waivers)) {
      return EXIT_BAD_USE;
    }
  }
  g_ptr_array_add(waivers, NULL);
  options->waivers = (char **)g_ptr_array_free(waivers, FALSE);
  if (args->fail_on_output != NULL) {
    options->forbidden = g_regex_new(args->fail_on_output, 0, 0, &error);
    if (options->forbidden == NULL) {
      return bad_use("--fail-on-output: %s", error->message);
    }
  }
  if (args->mustpass == NULL) {
    options->mustpass = leati_mustpass_built_in(leati_runner_cases());
    options->mustpass_name = LEAT_MUSTPASS_BUILT_IN;
  } else {
    options->mustpass = leati_mustpass_read(args->mustpass, &error);
    options->mustpass_name = args->mustpass;
    if (options->mustpass == NULL) {
      return bad_use("--mustpass: %s", error->message);
    }
  }
  /* A report that goes to a file leaves stdout to the person who waits for it. */
  options->stream_text = write == leati_report_text || args->output != NULL;
  options->progress = isatty(STDERR_FILENO) != 0;
  options->quiet = args->quiet;
  options->only_bad = args->quiet || isatty(STDOUT_FILENO) != 0;

  report = leati_runner_run(options, &message);
  if (report == NULL) {
    return bad_use("%s", message);
  }
  if (options->stream_text) {
    leati_report_text_tail(report, text);
    fputs(text->str, stdout);
    g_string_truncate(text, 0);
  }
  if (args->output != NULL) {
    write(report, text);
    if (!put_report(args->output, stream, text, &error)) {
      return bad_use("--output: %s", error->message);
    }
  } else if (write != leati_report_text) {
    write(report, text);
    fputs(text->str, stdout);
  }
  g_string_free(text, TRUE);
  return leati_report_status(report);
}

int main(int argc, char **argv) {
  /* What a run was asked for, and its report, live as long as the process. Being static they are found by a leak
   * checker, which would spend more time on explaining a leak than a case takes. */
  static arguments args = {.scale = 1.0, .child_fd = -1};
  const GOptionEntry entries[] = {
      {"list", 'l', 0, G_OPTION_ARG_NONE, &args.list,
       "List the cases, what each checks, and their profiles; needs no plugin", NULL},
      {"untried", 0, 0, G_OPTION_ARG_NONE, &args.untried,
       "List what of PLUGIN.so's operator list no case is for, by entry and element type", NULL},
      {"undrawn", 0, 0, G_OPTION_ARG_NONE, &args.undrawn,
       "List what of it no drawn call has: element types, attributes and optional inputs, by entry", NULL},
      {"profile", 'p', 0, G_OPTION_ARG_STRING, &args.profile,
       "Run only cases of core (what any backend does), operators (what single ones compute) or all (default)",
       "PROFILE"},
      {"all-operators", 0, 0, G_OPTION_ARG_NONE, &args.all_operators,
       "An operator that PLUGIN.so lacks fails its cases, which are not supported otherwise", NULL},
      {"fast-float32", 0, 0, G_OPTION_ARG_NONE, &args.fast_float32,
       "Sums of products of float32 may be off by 3 x 2^-16 of their magnitudes, as with LEAT_FLOAT32_MATMUL=fast",
       NULL},
      {"accuracy", 0, 0, G_OPTION_ARG_NONE, &args.accuracy,
       "In the text, list for each operator and element type what came nearest to its bound, and how near", NULL},
      {"filter", 'f', 0, G_OPTION_ARG_STRING_ARRAY, &args.filters,
       "Run only cases whose name matches (may be repeated)", "GLOB"},
      {"device", 'd', 0, G_OPTION_ARG_STRING, &args.device, "Device to use (default 0, the best)", "N"},
      {"jobs", 'j', 0, G_OPTION_ARG_STRING, &args.jobs, "Processes at once (default: one a core)", "N"},
      {"batch", 0, 0, G_OPTION_ARG_STRING, &args.batch,
       "Cases a process at most (default 16); if one crashes, the rest get another process", "N"},
      {"repeat", 0, 0, G_OPTION_ARG_STRING, &args.repeat, "Run each case so often; it passes if all runs do", "N"},
      {"seed", 0, 0, G_OPTION_ARG_STRING, &args.seed, "Seed of random data (default 0)", "N"},
      {"calls", 0, 0, G_OPTION_ARG_STRING, &args.calls, "Calls that each random.* case draws (default: some seconds)",
       "N"},
      {"first-call", 0, 0, G_OPTION_ARG_STRING, &args.first_call, "Number of the first of them (default 0)", "N"},
      {"deadline-scale", 0, 0, G_OPTION_ARG_STRING, &args.scale_text, "Multiply all deadlines (sanitizers, emulators)",
       "X"},
      {"format", 0, 0, G_OPTION_ARG_STRING, &args.format, "text (default), tap, junit or json", "FORMAT"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &args.output, "Write the report there, and text to stdout", "FILE"},
      {"quiet", 'q', 0, G_OPTION_ARG_NONE, &args.quiet,
       "Only what failed, counts and verdict (default on a terminal: no lines for cases that passed)", NULL},
      {"waivers", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &args.waivers,
       "Cases that fail for good: lines of GLOB REASON (may be repeated). One of which all cases pass is an error",
       "FILE"},
      {"mustpass", 0, 0, G_OPTION_ARG_FILENAME, &args.mustpass,
       "List of cases that make a plugin conformant (default: that of ABI 1.0)", "FILE"},
      {"fail-on-output", 0, 0, G_OPTION_ARG_STRING, &args.fail_on_output,
       "A case fails if its process prints a line that matches", "REGEX"},
      {"run-case", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.run_cases,
       "Run one case in this process, without a deadline (for a debugger), and say how it ended", "NAME"},
      {"probe", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &args.probe, NULL, NULL},
      {"child-fd", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &args.child_fd, NULL, NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &args.rest, NULL, "PLUGIN.so"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  GOptionContext *context = g_option_context_new(NULL);
  GError *error = NULL;
  static leat_run_options options = {.batch = 16, .repeat = 1};

  options.jobs = g_get_num_processors();
  keep_streams_apart();
  atexit(check_stdout);
  /* Messages in the user's characters, numbers as in C: the format of reports does not depend on who runs. */
  setlocale(LC_ALL, "");
  setlocale(LC_NUMERIC, "C");
  g_option_context_set_summary(context, "Checks whether PLUGIN.so is a conformant Leat backend.");
  g_option_context_set_description(
      context,
      "A profile is a part of the suite. An operator that PLUGIN.so lacks is told once at the end,\n"
      "and its cases are not supported; in the profile core, cases take whichever operators it has.\n\n"
      "Exit status: 0 all fine; 1 a case failed, crashed or timed out, or a waiver is not needed; 2 bad use, a plugin "
      "or\n"
      "setting that cannot be used, or a report that cannot be written;\n"
      "77 the plugin has no device (the reason is printed).");
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    return bad_use("%s; --help shows the options", error->message);
  }
  g_option_context_free(context);
  if (args.format == NULL) {
    args.format = g_strdup("text");
  }
  if (!read_number("--device", args.device, 0, 1023, &options.device_index) ||
      !read_number("--seed", args.seed, 0, G_MAXUINT32, &options.seed) ||
      !read_number("--first-call", args.first_call, 0, G_MAXINT32, &options.first_call) ||
      !read_number("--calls", args.calls, 1, G_MAXINT32, &options.calls) ||
      !read_number("--jobs", args.jobs, 1, 1024, &options.jobs) ||
      !read_number("--batch", args.batch, 1, 256, &options.batch) ||
      !read_number("--repeat", args.repeat, 1, 1000000, &options.repeat) || !read_scale(args.scale_text, &args.scale)) {
    return EXIT_BAD_USE;
  }
  if (!read_profile(args.profile != NULL ? args.profile : "all", &args.profiles) ||
      !check_filters(args.profiles, args.filters)) {
    return EXIT_BAD_USE;
  }
  if (args.list) {
    return list_cases(&args);
  }
  if (args.rest == NULL || args.rest[1] != NULL) {
    return bad_use("name one plugin: leat-conformance [OPTION...] PLUGIN.so; --help shows the options");
  }
  if (args.untried || args.undrawn) {
    return list_gaps(&args, args.rest[0], options.calls);
  }
  if (args.run_cases != NULL || args.probe) {
    return be_child(&args, args.rest[0], &options);
  }
  options.program = g_file_read_link("/proc/self/exe", NULL);
  if (options.program == NULL) {
    options.program = argv[0];
  }
  options.plugin_path = args.rest[0];
  options.profiles = args.profiles;
  options.filters = args.filters;
  options.all_operators = args.all_operators;
  options.fast_float32 = args.fast_float32;
  options.accuracy = args.accuracy;
  options.scale = args.scale;
  return run(&args, &options);
}
