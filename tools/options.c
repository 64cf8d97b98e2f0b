/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <leat/batch.h>
#include <string.h>

#include "compare.h"
#include "fault.h"
#include "option_value.h"

#define THREADS_MAX 1024
/* With THREADS_MAX, keeps the count of all runs, warm-ups included, within 31 bits. */
#define RUNS_MAX 1000000
#define BATCH_MAX 1048576
/* An hour, in microseconds. */
#define DELAY_MAX INT64_C(3600000000)
#define DELAY_DEFAULT 200

/* Bytes that mean themselves to a shell. */
static const char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";

static const char kSummary[] =
    "Runs ONNX models through ONNX Runtime from many threads at once, compares every output of every run with what "
    "ONNX\n"
    "Runtime's own CPU provider gives for the same input, and says how fast it was and which nodes ran where.\n"
    "Every model named gets its own N threads and S sessions; all start together. Thread i uses session i modulo S.";

static const char kDescription[] =
    "Inputs\n"
    "  Without a word about it, a floating-point input is drawn from the normal distribution (0, 1), an integer input\n"
    "  from 0 and 1 (which is legal for ids, masks and token types alike; --range ids=0:30000 for more), a bool from\n"
    "  both. Each thread gets inputs of its own, so that threads mixed up with one another are seen; --same-inputs "
    "gives\n"
    "  all the same. --input may be repeated for one name: thread i takes file i modulo their number. A file is .npy, "
    "or\n"
    "  the bare bytes of the tensor. A dynamic dimension is taken from --shape, from --dim, or from another input's "
    "file\n"
    "  that has the same dimension; else it is 1, and that is said.\n"
    "\n"
    "Batches\n"
    "  --batch N runs everything twice: first each thread calls ONNX Runtime itself, then each thread submits the "
    "same\n"
    "  inputs as a single request to a queue, of which W workers run up to N rows at once, in one call (worker i uses\n"
    "  session i modulo S). A batch begins when it is full, when its oldest request has waited for D microseconds, or\n"
    "  when every thread waits. Each thread gets its own rows back, and they are compared with what the CPU provider\n"
    "  gives for the request alone. Axis 0 of every input and output must be the batch: dynamic, or N in a model that\n"
    "  takes exactly N rows. Of such a model a request is one row, and batches with fewer are filled up. A model that\n"
    "  names another axis as its batch is refused; where the names do not tell, the comparison does.\n"
    "\n"
    "Files written\n"
    "  --save-outputs DIR writes what thread 0 got in its first run as DIR/OUTPUT.npy, with several models as\n"
    "  DIR/MODEL/OUTPUT.npy. A slash or a backslash in a name becomes an underscore.\n"
    "  --report FILE writes one page of HTML that needs no network: throughput and latency from 1, 2, 4, ... threads "
    "up to\n"
    "  --threads, which nodes Leat does not run and why, device time by node, device memory. A process of its own "
    "first\n"
    "  runs each model from one thread, with a profile. With --json what the page was made of is printed too.\n"
    "  --profile FILE writes what the device and the threads did as a trace that https://ui.perfetto.dev shows, and\n"
    "  sums up, without --json, device time by operator and the nodes of graphs that took longest.\n"
    "\n"
    "Figures\n"
    "  runs/s is timed runs by the time from the common start to the end of the last, checks included; p50 and p99 are "
    "of\n"
    "  the time inside ONNX Runtime's Run alone (a sample, beyond 32,768 runs a thread). Warm-up runs are checked, not "
    "timed.\n"
    "  A row of the table that has a failed run or a wrong output has none of the three.\n"
    "  A result that repeats an accepted one bit for bit needs no second look, which keeps the checks cheap.\n"
    "\n"
    "Exit status\n"
    "  0  every output was right\n"
    "  1  an output was wrong, a run failed, or --timeout was reached\n"
    "  2  bad use, or a model, input, library or device that cannot be used, or an output that cannot be written\n"
    "\n"
    "Examples\n"
    "  leat-run model.onnx --threads 8 --runs 100\n"
    "  leat-run bert.onnx --threads 16 --sessions 4 --dim batch=2 --dim sequence=64 --range input_ids=0:30521 --fill "
    "mask=1\n"
    "  leat-run model.onnx --threads 8 --batch 8 --batch-delay-us 500\n"
    "  leat-run model.onnx --report page.html --runs 200\n"
    "  leat-run a.onnx b.onnx --threads 4 --no-fallback --json\n";

/* An option that may be repeated and takes NAME=VALUE. */
typedef struct named_option {
  const char *name;
  char **texts; /* as typed, or NULL */
  GPtrArray *out;
} named_option;

static gboolean read_named(const named_option *option, GError **error) {
  for (char **text = option->texts; text != NULL && *text != NULL; ++text) {
    leati_named_value *named = leati_named_value_parse(*text, error);
    if (named == NULL) {
      g_prefix_error(error, "--%s: ", option->name);
      return FALSE;
    }
    g_ptr_array_add(option->out, named);
  }
  return TRUE;
}

/* One of two words. */
static gboolean choose(const char *name, const char *text, const char *yes, const char *no, gboolean *out,
                       GError **error) {
  if (text == NULL) {
    return TRUE;
  }
  *out = strcmp(text, yes) == 0;
  if (!*out && strcmp(text, no) != 0) {
    LEATI_FAULT_SET(error, "--%s: '%s' is neither %s nor %s", name, text, yes, no);
    return FALSE;
  }
  return TRUE;
}

static GPtrArray *new_bindings(void) {
  return g_ptr_array_new_with_free_func((GDestroyNotify)leati_named_value_free);
}

static void add_profile(leati_options *options) {
  char *option = g_strconcat("profile=", options->profile, NULL);
  g_ptr_array_add(options->provider_options, leati_named_value_parse(option, NULL));
  g_free(option);
}

void leati_options_profile(leati_options *options, const char *path) {
  options->profile = g_strdup(path);
  add_profile(options);
}

static char *command_of(char **argv) {
  GString *text = g_string_new(NULL);
  for (char **word = argv; *word != NULL; ++word) {
    char *quoted = g_shell_quote(*word);
    const gboolean is_plain = **word != '\0' && strspn(*word, kPlain) == strlen(*word);
    g_string_append_printf(text, "%s%s", word == argv ? "" : " ", is_plain ? *word : quoted);
    g_free(quoted);
  }
  return g_string_free(text, FALSE);
}

/* What a report is not made of. */
static gboolean check_report(const leati_options *options, GError **error) {
  const char *other = options->batch > 0              ? "--batch"
                      : options->profile != NULL      ? "--profile"
                      : options->save_outputs != NULL ? "--save-outputs"
                                                      : NULL;
  if (options->report != NULL && other != NULL) {
    LEATI_FAULT_SET(error, "--report together with %s: a report is of runs without; ask for one of them", other);
    return FALSE;
  }
  return TRUE;
}

static gboolean check_values(const leati_options *options, GError **error) {
  if (options->models->len == 0) {
    LEATI_FAULT_SET(error, "no model named; leat-run MODEL.onnx [OPTION...], --help for more");
    return FALSE;
  }
  if (options->sessions > options->threads) {
    LEATI_FAULT_SET(error,
                    "--sessions %" G_GINT64_FORMAT " with --threads %" G_GINT64_FORMAT
                    ": a session without a thread would never run; at most one a thread",
                    options->sessions, options->threads);
    return FALSE;
  }
  if (options->threads * (int64_t)options->models->len > THREADS_MAX) {
    LEATI_FAULT_SET(error,
                    "--threads %" G_GINT64_FORMAT " for each of %u models is more than the %d threads that are allowed",
                    options->threads, options->models->len, THREADS_MAX);
    return FALSE;
  }
  const char *leat_only = options->device != NULL              ? "--device"
                          : options->profile != NULL           ? "--profile"
                          : options->provider_library != NULL  ? "--provider-library"
                          : options->provider_options->len > 0 ? "--option"
                          : options->no_fallback               ? "--no-fallback"
                                                               : NULL;
  if (!options->leat && leat_only != NULL) {
    LEATI_FAULT_SET(error, "%s is for --provider leat, and --provider cpu was asked for", leat_only);
    return FALSE;
  }
  for (guint i = 0; i < options->dims->len; ++i) {
    const leati_named_value *dim = g_ptr_array_index(options->dims, i);
    int64_t size = 0;
    if (!leati_parse_whole(dim->value, 0, INT64_C(1) << 31, &size, error)) {
      g_prefix_error(error, "--dim %s: ", dim->name);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean leati_options_parse(char **argv, leati_options *out, GError **error) {
  *out = (leati_options){.threads = 0,
                         .runs = 10,
                         .sessions = 1,
                         .warmup = 1,
                         .cpu_threads = 1,
                         .timeout = 600,
                         .tolerance = -1.0,
                         .leat = TRUE,
                         .compare = TRUE,
                         .models = g_ptr_array_new_with_free_func(g_free),
                         .inputs = new_bindings(),
                         .dims = new_bindings(),
                         .shapes = new_bindings(),
                         .ranges = new_bindings(),
                         .fills = new_bindings(),
                         .provider_options = new_bindings()};
  int64_t batch_delay = -1;
  int64_t batch_workers = -1;
  leati_whole_option wholes[] = {
      {"threads", NULL, 1, THREADS_MAX, &out->threads},
      {"runs", NULL, 1, RUNS_MAX, &out->runs},
      {"sessions", NULL, 1, THREADS_MAX, &out->sessions},
      {"warmup", NULL, 0, RUNS_MAX, &out->warmup},
      {"cpu-threads", NULL, 0, 1024, &out->cpu_threads},
      {"timeout", NULL, 0, 86400, &out->timeout},
      {"seed", NULL, 0, G_MAXINT64, &out->seed},
      {"batch", NULL, 1, BATCH_MAX, &out->batch},
      {"batch-delay-us", NULL, 0, DELAY_MAX, &batch_delay},
      {"batch-workers", NULL, 1, LEAT_BATCH_MAX_WORKERS, &batch_workers},
  };
  named_option named_values[] = {
      {"input", NULL, out->inputs}, {"dim", NULL, out->dims},   {"shape", NULL, out->shapes},
      {"range", NULL, out->ranges}, {"fill", NULL, out->fills}, {"option", NULL, out->provider_options},
  };
  char *provider = NULL;
  char *compare = NULL;
  char *tolerance = NULL;
  char **models = NULL;
/* Text is taken as bytes, never converted from the locale: names in models and file names are what they are. Numbers
 * are read below, so that what is wrong with one is said together with what would be right. */
#define TEXT(place) 0, G_OPTION_ARG_FILENAME, (place)
#define TEXTS(place) 0, G_OPTION_ARG_FILENAME_ARRAY, (place)
#define FLAG(place) 0, G_OPTION_ARG_NONE, (place)
  const GOptionEntry entries[] = {
      {"threads", 't', TEXT(&wholes[0].text), "Threads a model, 1 to 1024 (1; with --report 8)", "N"},
      {"runs", 'r', TEXT(&wholes[1].text), "Runs a thread, 1 to 1000000 (10)", "M"},
      {"sessions", 's', TEXT(&wholes[2].text), "Sessions a model, at most one a thread (1)", "S"},
      {"warmup", 'w', TEXT(&wholes[3].text), "Runs a thread before the clock starts (1)", "W"},
      {"provider", 'p', TEXT(&provider), "Who runs the model: leat or cpu (leat)", "WHO"},
      {"provider-library", 0, TEXT(&out->provider_library),
       "libleat_onnxruntime.so, if not beside this program or where it was installed", "PATH"},
      {"device", 0, TEXT(&out->device), "Leat device by its number, or by part of its description (0)", "WHICH"},
      {"option", 0, TEXTS(&named_values[5].texts), "Option for the Leat provider; may be repeated", "KEY=VALUE"},
      {"no-fallback", 0, FLAG(&out->no_fallback), "Refuse models of which a node would run on the CPU", NULL},
      {"compare", 0, TEXT(&compare), "What outputs are compared with: cpu or none (cpu)", "WHAT"},
      {"tolerance", 0, TEXT(&tolerance), "Largest relative error allowed (from the model; see below)", "X"},
      {"input", 'i', TEXTS(&named_values[0].texts), "Input from a .npy or raw file; may be repeated", "NAME=FILE"},
      {"dim", 0, TEXTS(&named_values[1].texts), "Size of a dynamic dimension", "NAME=SIZE"},
      {"shape", 0, TEXTS(&named_values[2].texts), "Shape of an input, such as x=1,64", "INPUT=SIZES"},
      {"range", 0, TEXTS(&named_values[3].texts), "Draw an input evenly from LOW to HIGH, both included",
       "INPUT=LOW:HIGH"},
      {"fill", 0, TEXTS(&named_values[4].texts), "Fill an input with one value", "INPUT=VALUE"},
      {"seed", 0, TEXT(&wholes[6].text), "Seed of the random inputs (0)", "SEED"},
      {"same-inputs", 0, FLAG(&out->same_inputs), "The same inputs for every thread", NULL},
      {"profile", 0, TEXT(&out->profile), "Write a trace for Perfetto, and sum up device time", "FILE"},
      {"report", 0, TEXT(&out->report), "Run from 1, 2, 4, ... threads, and write a page of HTML on that", "FILE"},
      {"save-outputs", 0, TEXT(&out->save_outputs), "Write the outputs of the first run as .npy files", "DIR"},
      {"cpu-threads", 0, TEXT(&wholes[4].text),
       "Threads inside one run on the CPU, 0 for one a core (1: the callers are the parallel part)", "N"},
      {"timeout", 0, TEXT(&wholes[5].text), "Give up when nothing gets done for so long, 0 for never (600)", "SECONDS"},
      {"batch", 'b', TEXT(&wholes[7].text), "Run also in batches of N rows, through a queue (see below)", "N"},
      {"batch-delay-us", 0, TEXT(&wholes[8].text), "Microseconds that a batch waits for more requests (200)", "D"},
      {"batch-workers", 0, TEXT(&wholes[9].text), "Batches of a model that run at once (1: strict order)", "W"},
      {"json", 0, FLAG(&out->json), "Print the result as JSON", NULL},
      {"verbose", 'v', FLAG(&out->verbose), "Name every node, and show ONNX Runtime's warnings", NULL},
      {"version", 0, FLAG(&out->version), "Print the version and exit", NULL},
      {G_OPTION_REMAINING, 0, TEXTS(&models), NULL, "MODEL.onnx..."},
      G_OPTION_ENTRY_NULL,
  };
#undef TEXT
#undef TEXTS
#undef FLAG
  GOptionContext *context = g_option_context_new(NULL);
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_set_summary(context, kSummary);
  char *description = g_strdup_printf("Tolerance\n%s\n\n%s", leati_tolerance_explain(), kDescription);
  g_option_context_set_description(context, description);
  g_free(description);

  out->command = command_of(argv);
  char **arguments = g_strdupv(argv);
  gboolean right = g_option_context_parse_strv(context, &arguments, error);
  g_strfreev(arguments);
  g_option_context_free(context);
  for (char **model = models; model != NULL && *model != NULL; ++model) {
    g_ptr_array_add(out->models, g_strdup(*model));
  }
  for (size_t i = 0; i < G_N_ELEMENTS(wholes); ++i) {
    right = right && leati_whole_option_read(&wholes[i], error);
    g_free(wholes[i].text);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(named_values); ++i) {
    right = right && read_named(&named_values[i], error);
    g_strfreev(named_values[i].texts);
  }
  if (right && out->profile != NULL) {
    add_profile(out);
  }
  out->threads = out->threads != 0 ? out->threads : out->report != NULL ? 8 : 1;
  right = right && choose("provider", provider, "leat", "cpu", &out->leat, error) &&
          choose("compare", compare, "cpu", "none", &out->compare, error);
  if (right && tolerance != NULL && !leati_parse_number(tolerance, 0.0, &out->tolerance, error)) {
    g_prefix_error(error, "--tolerance: ");
    right = FALSE;
  }
  g_strfreev(models);
  g_free(provider);
  g_free(compare);
  g_free(tolerance);
  if (right && out->batch == 0 && (batch_delay >= 0 || batch_workers >= 0)) {
    LEATI_FAULT_SET(error, "%s is for --batch N, which was not given",
                    batch_delay >= 0 ? "--batch-delay-us" : "--batch-workers");
    right = FALSE;
  }
  out->batch_delay = batch_delay >= 0 ? batch_delay : DELAY_DEFAULT;
  out->batch_workers = batch_workers >= 0 ? batch_workers : 1;
  return right && (out->version || (check_values(out, error) && check_report(out, error)));
}

void leati_options_clear(leati_options *options) {
  g_ptr_array_unref(options->models);
  g_ptr_array_unref(options->inputs);
  g_ptr_array_unref(options->dims);
  g_ptr_array_unref(options->shapes);
  g_ptr_array_unref(options->ranges);
  g_ptr_array_unref(options->fills);
  g_ptr_array_unref(options->provider_options);
  g_free(options->provider_library);
  g_free(options->device);
  g_free(options->save_outputs);
  g_free(options->profile);
  g_free(options->report);
  g_free(options->command);
}
