/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * leat-bench: how fast Leat is on a device, beside what the driver alone takes.
 */
#include <errno.h>
#include <leat_build_id.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/answer.h"
#include "bench/kernels.h"
#include "bench/measure.h"
#include "bench/subjects.h"
#include "bench/tune.h"
#include "fault.h"
#include "option_value.h"
#include "output.h"
#include "user_file.h"

#define STATUS_WRONG 1
#define STATUS_USE 2
#define THREADS_MAX LEATI_FLOOR_SEATS
#define LOAD_SECONDS 0.5 /* what an idle GPU may need to raise its clock is a tenth of a second and more */
/* With --tune many values are tried, whose ratios count. */
#define TUNE_SECONDS 0.03
#define TUNE_LOAD_SECONDS 0.3
#define TUNE_ROUNDS 3

static const char summary[] =
    "Measures Leat on one device: a trivial operator, a linear layer, chains of operators, memory and waiting, from\n"
    "many threads, beside a floor, which is the same way of submitting in plain Vulkan; and single operators "
    "(kernels).\n"
    "Every result is checked.";

static const char description[] =
    "Figures\n"
    "  Each point runs for --seconds after --warmup, in each of --repeat rounds; the lines of a table take turns in "
    "each\n"
    "  round. Tables show the median, lowest and highest round. p50 and p99 are of the time of one run as its thread\n"
    "  sees it, cpu of the CPU time of the whole process for each run. A proportion is taken round by round.\n"
    "\n"
    "Kernels\n"
    "  --only kernels runs single operators at large and at model sizes from one thread, in steady load, in another\n"
    "  order in each round: microseconds of a run that waits for the one before it, whose output it reads or writes\n"
    "  again (told for each row), and TFLOP/s, beside what arithmetic in registers reaches in plain Vulkan, or GB/s,\n"
    "  beside what the device copies. Before each row it keeps the device busy for --warmup, because a clock takes\n"
    "  its time to rise; --clock-command is run while the row goes on. A row that a slow device cannot run in\n"
    "  reasonable time is listed as skipped. host_us is what the host takes to put a run in: where it comes near the\n"
    "  time of a run, the device may have waited for the host.\n"
    "\n"
    "Tuning\n"
    "  --tune tries other values of the constants by which the backend cuts kernels into workgroups (--list shows\n"
    "  them), on the rows of \"kernels\" that show them, as far as --rows has them: each with the device opened anew, "
    "in\n"
    "  turns with the value so far, --repeat times. A value is taken if its rows take less time, by the geometric "
    "mean,\n"
    "  and again when that is repeated; by more than what two measurements of the same value ever differed by, which "
    "is\n"
    "  the noise. The first row behind each opening is loaded for --warmup, the others for a tenth of that. In the "
    "end\n"
    "  it prints a table, LEAT_TUNING for a process that shall have these values, and the lines for constants.h that\n"
    "  make them the backend's own. Ctrl-C ends it with what is known by then, and status 1.\n"
    "\n"
    "Exit status\n"
    "  0  all was measured and every result was right\n"
    "  1  a result was wrong, or something failed, such as writing a report, or --tune was interrupted\n"
    "  2  bad use, or no device that can be used\n"
    "\n"
    "Examples\n"
    "  leat-bench\n"
    "  leat-bench --only floor,op --threads 1,8 --seconds 1 --json op.json\n"
    "  leat-bench --only chain --lanes 1,8,unset\n"
    "  leat-bench --only kernels --rows 'small*,model-matmul*' --clock-command ./clock-in-mhz.sh\n"
    "  leat-bench --tune='gemm_*,matrix_*'\n";

typedef struct options {
  leati_bench bench;
  GPtrArray *chosen; /* of const leati_measurement */
  char *json;
  FILE *json_stream; /* what it names, if that is no plain file */
  gboolean list, list_rows, version;
} options;

/* ---- Command line ------------------------------------------------------------------------------------------------ */

static gboolean parse_whole(const char *text, gint64 low, gint64 high, gint64 *out) {
  return g_ascii_string_to_signed(text, 10, low, high, out, NULL);
}

static gboolean parse_threads(leati_bench *b, const char *text, GError **error) {
  g_auto(GStrv) parts = g_strsplit(text, ",", -1);
  g_array_set_size(b->threads, 0);
  for (char **part = parts; *part != NULL; ++part) {
    gint64 number;
    if (!parse_whole(*part, 1, THREADS_MAX, &number)) {
      LEATI_FAULT_SET(error,
                      "--threads: \"%s\" is no number of threads; wanted are numbers from 1 to %d with commas between, "
                      "such as 1,2,8",
                      *part, THREADS_MAX);
      return FALSE;
    }
    const guint threads = (guint)number;
    for (guint i = 0; i < b->threads->len; ++i) {
      if (g_array_index(b->threads, guint, i) == threads) {
        LEATI_FAULT_SET(error, "--threads: %u is there twice", threads);
        return FALSE;
      }
    }
    g_array_append_val(b->threads, threads);
  }
  if (b->threads->len == 0) {
    LEATI_FAULT_SET(error, "--threads: wanted are numbers from 1 to %d with commas between, such as 1,2,8",
                    THREADS_MAX);
    return FALSE;
  }
  return TRUE;
}

static gboolean parse_lanes(leati_bench *b, const char *text, GError **error) {
  g_strfreev(b->lanes);
  b->lanes = g_strsplit(text, ",", -1);
  for (char **lanes = b->lanes; *lanes != NULL; ++lanes) {
    gint64 number;
    if (!g_str_equal(*lanes, "unset") && !parse_whole(*lanes, 1, 8, &number)) {
      LEATI_FAULT_SET(error, "--lanes: \"%s\" is neither a number from 1 to 8 nor \"unset\"", *lanes);
      return FALSE;
    }
  }
  if (*b->lanes == NULL) {
    LEATI_FAULT_SET(error, "--lanes: wanted are numbers from 1 to 8, or \"unset\", with commas between");
    return FALSE;
  }
  return TRUE;
}

static char *all_names(void) {
  GString *names = g_string_new(NULL);
  for (const leati_measurement *m = leati_measurements; m->name != NULL; ++m) {
    g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", m->name);
  }
  return g_string_free(names, FALSE);
}

/* The named measurements, or all that need not be named, in the order in which they run. */
static gboolean parse_only(options *o, const char *text, GError **error) {
  g_auto(GStrv) parts = text == NULL ? NULL : g_strsplit(text, ",", -1);
  for (const leati_measurement *m = leati_measurements; m->name != NULL; ++m) {
    if (parts == NULL ? !m->asked : g_strv_contains((const char *const *)parts, m->name)) {
      g_ptr_array_add(o->chosen, (gpointer)m);
    }
  }
  for (char **part = parts; part != NULL && *part != NULL; ++part) {
    gboolean known = FALSE;
    for (const leati_measurement *m = leati_measurements; m->name != NULL; ++m) {
      known = known || g_str_equal(m->name, *part);
    }
    if (!known) {
      g_autofree char *names = all_names();
      LEATI_FAULT_SET(error, "--only: there is no measurement \"%s\"; there are %s", *part, names);
      return FALSE;
    }
  }
  if (o->chosen->len == 0) {
    LEATI_FAULT_SET(error, "--only: names no measurement; --list lists them");
    return FALSE;
  }
  return TRUE;
}

static gboolean parse_rows(leati_bench *b, const char *text, GError **error) {
  b->kernels = leati_kernels_find(text, error);
  return b->kernels != NULL;
}

/* Keeps `out` when the option was not given. */
static gboolean parse_seconds(const char *option, const char *text, double low, double *out, GError **error) {
  if (text != NULL && (!leati_parse_number(text, low, out, NULL) || *out > 3600)) {
    LEATI_FAULT_SET(error, "%s: '%s' is not a number from %g to 3600", option, text, low);
    return FALSE;
  }
  return TRUE;
}

/* --tune, with names of constants or without. */
static gboolean take_tune(const gchar *option, const gchar *value, gpointer data, GError **error) {
  leati_bench *b = &((options *)data)->bench;
  (void)option;
  if (b->subjects != NULL) {
    g_ptr_array_unref(b->subjects);
  }
  b->tune = TRUE;
  b->subjects = leati_tune_subjects_find(value, error);
  return b->subjects != NULL;
}

static gboolean parse(options *o, int *argc, char ***argv, GError **error) {
  leati_bench *b = &o->bench;
  g_autofree char *threads = NULL, *lanes = NULL, *only = NULL, *seconds = NULL, *warmup = NULL, *rows = NULL;
  leati_whole_option wholes[] = {
      {"repeat", NULL, 1, 1000, &b->repeat},    {"flat-runs", NULL, 10, 1000000000, &b->runs},
      {"ticks", NULL, 1, 1000000, &b->ticks},   {"device", NULL, 0, 1000, &b->device},
      {"seed", NULL, 0, G_MAXUINT32, &b->seed},
  };
  /* GLib keeps a function in a pointer to data. */
  const union {
    GOptionArgFunc take;
    gpointer data;
  } tune = {take_tune};
  const GOptionEntry entries[] = {
      {"only", 0, 0, G_OPTION_ARG_STRING, &only, "Measure these alone (--list shows the names)", "NAME[,NAME...]"},
      {"tune", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, tune.data,
       "Find the backend's constants again instead: names, with * and ? (*)", "PATTERN[,...]"},
      {"list", 0, 0, G_OPTION_ARG_NONE, &o->list, "List measurements, rows of \"kernels\", constants, and leave", NULL},
      {"threads", 't', 0, G_OPTION_ARG_STRING, &threads, "Numbers of threads (1,2,4,8,12,16,31)", "N[,N...]"},
      {"seconds", 's', 0, G_OPTION_ARG_STRING, &seconds, "Seconds for each point and round (0.3; --tune: 0.03)", "S"},
      {"warmup", 0, 0, G_OPTION_ARG_STRING, &warmup,
       "Seconds before each (a fifth of --seconds; kernels: 0.5; --tune: 0.3)", "S"},
      {"repeat", 'r', 0, G_OPTION_ARG_STRING, &wholes[0].text, "Rounds (5; --tune: 3)", "N"},
      {"lanes", 0, 0, G_OPTION_ARG_STRING, &lanes, "Values of LEAT_LANES for \"chain\" (1,2,4,8,unset)", "N[,N...]"},
      {"flat-runs", 0, 0, G_OPTION_ARG_STRING, &wholes[1].text, "Runs of \"flat\" (100000)", "N"},
      {"ticks", 0, 0, G_OPTION_ARG_STRING, &wholes[2].text, "Ticks of \"tick\" in each round (120)", "N"},
      {"rows", 0, 0, G_OPTION_ARG_STRING, &rows, "Rows of \"kernels\" (*): names, with * and ?", "PATTERN[,...]"},
      {"list-rows", 0, 0, G_OPTION_ARG_NONE, &o->list_rows, "Print these rows as JSON for peers.py, and leave", NULL},
      {"seed", 0, 0, G_OPTION_ARG_STRING, &wholes[4].text, "Order of the rows (drawn, and printed)", "N"},
      {"clock-command", 0, 0, G_OPTION_ARG_STRING, &b->clock_command, "Prints the clock in MHz, run beside each row",
       "CMD"},
      {"pool", 0, 0, G_OPTION_ARG_NONE, &b->pool, "Take all streams from the backend's pool", NULL},
      {"no-floor", 0, 0, G_OPTION_ARG_NONE, &b->bare, "Measure no floor beside the others", NULL},
      {"json", 'j', 0, G_OPTION_ARG_FILENAME, &o->json, "Write everything, each sample included, to a file", "FILE"},
      {"device", 'd', 0, G_OPTION_ARG_STRING, &wholes[3].text, "Index of the device (0, the best)", "N"},
      {"plugin", 0, 0, G_OPTION_ARG_FILENAME, &b->plugin, "Measure this backend instead of the installed one", "PATH"},
      {"version", 0, 0, G_OPTION_ARG_NONE, &o->version, "Print version and build, and leave", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_option_context_set_summary(context, summary);
  g_option_context_set_description(context, description);
  GOptionGroup *group = g_option_group_new("main", "main", "main", o, NULL);
  g_option_group_add_entries(group, entries);
  g_option_context_set_main_group(context, group);
  gboolean right = g_option_context_parse(context, argc, argv, error);
  if (b->tune) {
    b->seconds = TUNE_SECONDS;
    b->repeat = TUNE_ROUNDS;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(wholes); ++i) {
    right = right && leati_whole_option_read(&wholes[i], error);
    g_free(wholes[i].text);
  }
  if (!right) {
    return FALSE;
  }
  if (*argc > 1) {
    LEATI_FAULT_SET(error, "unexpected argument \"%s\"; it takes options only", (*argv)[1]);
    return FALSE;
  }
  if (b->tune && only != NULL) {
    LEATI_FAULT_SET(error, "--tune and --only do not go together: it measures \"kernels\" alone");
    return FALSE;
  }
  if (!parse_seconds("--seconds", seconds, 0.001, &b->seconds, error)) {
    return FALSE;
  }
  b->warmup = b->seconds / 5;
  b->load = b->tune ? TUNE_LOAD_SECONDS : LOAD_SECONDS;
  return parse_seconds("--warmup", warmup, 0, &b->load, error) && parse_rows(b, rows, error) &&
         parse_seconds("--warmup", warmup, 0, &b->warmup, error) &&
         parse_threads(b, threads != NULL ? threads : "1,2,4,8,12,16,31", error) &&
         parse_lanes(b, lanes != NULL ? lanes : "1,2,4,8,unset", error) && parse_only(o, only, error);
}

/* ---- Report ------------------------------------------------------------------------------------------------------ */

static void member_string(JsonBuilder *json, const char *name, const char *value) {
  json_builder_set_member_name(json, name);
  json_builder_add_string_value(json, value);
}

static void member_double(JsonBuilder *json, const char *name, double value) {
  json_builder_set_member_name(json, name);
  json_builder_add_double_value(json, value);
}

static char *date_now(void) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  return g_date_time_format_iso8601(now);
}

static void json_device(JsonBuilder *json, const leat_device_info *info) {
  g_autofree char *name = g_strndup(info->name, sizeof(info->name));
  g_autofree char *driver = g_strndup(info->driver, sizeof(info->driver));
  GString *uuid = g_string_new(NULL);
  for (gsize i = 0; i < sizeof(info->uuid); ++i) {
    g_string_append_printf(uuid, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info->uuid[i]);
  }
  json_builder_set_member_name(json, "device");
  json_builder_begin_object(json);
  member_string(json, "name", name);
  member_string(json, "driver", driver);
  member_string(json, "uuid", uuid->str);
  json_builder_set_member_name(json, "software");
  json_builder_add_boolean_value(json, (info->flags & LEAT_DEVICE_SOFTWARE) != 0);
  json_builder_end_object(json);
  g_string_free(uuid, TRUE);
}

/* What the backend reports, to be freed; NULL: nothing. */
static leat_property *read_report(const leat_backend_api *api, uint32_t *out_count) {
  uint32_t count = 0;
  *out_count = 0;
  if (api->device->report(&count, NULL, NULL) != LEAT_OK || count == 0) {
    return NULL;
  }
  leat_property *const properties = g_new0(leat_property, count);
  for (uint32_t i = 0; i < count; ++i) {
    properties[i].struct_size = sizeof(*properties);
  }
  const uint32_t room = count;
  if (api->device->report(&count, properties, NULL) == LEAT_OK) {
    *out_count = MIN(room, count);
  }
  return properties;
}

/* The settings in effect, as the backend reports them. */
static void json_settings(JsonBuilder *json, const leat_backend_api *api) {
  uint32_t count;
  g_autofree leat_property *properties = read_report(api, &count);
  json_builder_set_member_name(json, "settings");
  json_builder_begin_object(json);
  for (uint32_t i = 0; i < count; ++i) {
    if (g_str_has_prefix(properties[i].name, "config.")) {
      member_string(json, properties[i].name + strlen("config."), properties[i].value);
    }
  }
  json_builder_end_object(json);
}

/* Whether a setting is reported to have a value that begins so. */
static gboolean setting_begins(const leat_backend_api *api, const char *name, const char *value) {
  uint32_t count;
  g_autofree leat_property *properties = read_report(api, &count);
  gboolean found = FALSE;
  for (uint32_t i = 0; i < count; ++i) {
    found = found || (g_str_equal(properties[i].name, name) && g_str_has_prefix(properties[i].value, value));
  }
  return found;
}

/* Everything so far. */
static char *json_report(const options *o, const char *date) {
  const leati_bench *b = &o->bench;
  const leat_backend_api *api = b->rig.api;
  g_autoptr(JsonBuilder) json = json_builder_new();
  json_builder_begin_object(json);
  member_string(json, "tool", "leat-bench");
  member_string(json, "version", LEAT_VERSION);
  member_string(json, "build_id", LEAT_BUILD_ID);
  member_string(json, "date", date);
  json_device(json, &b->rig.info);
  json_builder_set_member_name(json, "backend");
  json_builder_begin_object(json);
  member_string(json, "name", api->name);
  member_string(json, "version", api->version);
  member_string(json, "build_id", api->build_id);
  json_builder_end_object(json);
  json_settings(json, api);
  json_builder_set_member_name(json, "options");
  json_builder_begin_object(json);
  member_double(json, "seconds", b->seconds);
  member_double(json, "warmup", b->warmup);
  member_double(json, "repeat", (double)b->repeat);
  member_double(json, "flat_runs", (double)b->runs);
  member_double(json, "ticks", (double)b->ticks);
  member_double(json, "load", b->load);
  member_double(json, "seed", (double)b->seed);
  member_double(json, "processors", (double)g_get_num_processors());
  json_builder_set_member_name(json, "pool");
  json_builder_add_boolean_value(json, b->pool);
  json_builder_end_object(json);
  json_builder_set_member_name(json, "points");
  leati_results_json(&b->results, json);
  json_builder_end_object(json);
  g_autoptr(JsonNode) root = json_builder_get_root(json);
  g_autofree char *text = json_to_string(root, TRUE);
  return g_strdup_printf("%s\n", text);
}

/* Sees where the report goes. A plain file is replaced each time, as a whole, so that it never holds half a report.
 * Anything else, such as a link, a pipe or /dev/null, must stay what it is: it is opened once, and written at the end.
 */
static gboolean json_open(options *o, GError **error) {
  if (o->json != NULL && *o->json == '\0') {
    LEATI_FAULT_SET(error, "--json: '' names no file");
    return FALSE;
  }
  if (o->json == NULL || !g_file_test(o->json, G_FILE_TEST_EXISTS) ||
      (g_file_test(o->json, G_FILE_TEST_IS_REGULAR) && !g_file_test(o->json, G_FILE_TEST_IS_SYMLINK))) {
    return TRUE;
  }
  o->json_stream = leati_user_file_create(o->json, error);
  g_prefix_error(error, "--json: ");
  return o->json_stream != NULL;
}

/* Writes everything so far to the file, if one is wanted. */
static gboolean json_write(const options *o, const char *date, GError **error) {
  if (o->json == NULL || o->json_stream != NULL) {
    return TRUE;
  }
  g_autofree char *report = json_report(o, date);
  if (!g_file_set_contents(o->json, report, -1, error)) {
    g_prefix_error(error, "--json: ");
    return FALSE;
  }
  return TRUE;
}

/* Writes everything to what is no plain file, and closes it. */
static gboolean json_close(options *o, const char *date, GError **error) {
  if (o->json_stream == NULL) {
    return TRUE;
  }
  g_autofree char *report = json_report(o, date);
  const gboolean put = fputs(report, o->json_stream) >= 0;
  /* What was buffered can fail as late as here. */
  const gboolean closed = fclose(o->json_stream) == 0;
  o->json_stream = NULL;
  if (!put || !closed) {
    LEATI_FAULT_SET(error, "--json: writing %s: %s", o->json, g_strerror(errno));
  }
  return put && closed;
}

/* ---- Program ----------------------------------------------------------------------------------------------------- */

/* Measures what was chosen. After each comes its table, and all so far goes to the file: a long series that ends early
 * is not lost. */
static gboolean measure_all(options *o, const char *date, GError **error) {
  if (o->bench.tune) {
    const gboolean well = leati_tune(&o->bench, error);
    return json_write(o, date, well ? error : NULL) && well;
  }
  for (guint i = 0; i < o->chosen->len; ++i) {
    const leati_measurement *m = g_ptr_array_index(o->chosen, i);
    if (!m->measure(&o->bench, error)) {
      return FALSE;
    }
    g_autofree char *table = leati_results_text(&o->bench.results, m->name);
    g_print("%s\n", table);
    leati_output_flush();
    if (!json_write(o, date, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

static int run(options *o) {
  leati_bench *b = &o->bench;
  g_autoptr(GError) error = NULL;
  g_autofree char *date = date_now();
  if (!leati_rig_open(b->plugin, (guint)b->device, &b->rig, &error)) {
    g_printerr("leat-bench: %s\n", error->message);
    return STATUS_USE;
  }
  if (b->pool && leati_rig_pool_threads(&b->rig) == 0) {
    LEATI_FAULT_SET(&error, "--pool: this backend has no pool of streams");
  }
  leati_answer_fast_float32 = setting_begins(b->rig.api, "config.LEAT_FLOAT32_MATMUL", "fast");
  /* A file that cannot be written is told now rather than after minutes. */
  if (error != NULL || !json_open(o, &error) || !json_write(o, date, &error)) {
    g_printerr("leat-bench: %s\n", error->message);
    leati_rig_close(&b->rig);
    return STATUS_USE;
  }
  g_print("leat-bench %s, build %s; backend %s %s, build %s\n%.*s, %.*s; %u processors; %s\n\n", LEAT_VERSION,
          LEAT_BUILD_ID, b->rig.api->name, b->rig.api->version, b->rig.api->build_id, (int)sizeof(b->rig.info.name),
          b->rig.info.name, (int)sizeof(b->rig.info.driver), b->rig.info.driver, g_get_num_processors(), date);
  gboolean well = measure_all(o, date, &error);
  if (!well) {
    g_printerr("leat-bench: %s\n", error->message);
    g_clear_error(&error);
  }
  if (!json_close(o, date, &error)) {
    g_printerr("leat-bench: %s\n", error->message);
    well = FALSE;
  }
  leati_floor_close(b->floor);
  leati_rig_close(&b->rig);
  return well ? 0 : STATUS_WRONG;
}

static void list(const options *o) {
  for (const leati_measurement *m = leati_measurements; m->name != NULL; ++m) {
    g_print("%-8s %s\n", m->name, m->about);
  }
  g_print("\nRows of kernels (m x n x k; batch, channels, side, kernel, stride):\n");
  for (guint i = 0; i < o->bench.kernels->len; ++i) {
    const leati_kernel *kernel = g_ptr_array_index(o->bench.kernels, i);
    g_print("%s\n", kernel->name);
  }
  g_print("\nConstants of --tune, values that are tried, and rows that show them:\n");
  for (guint i = 0; i < leati_tune_subject_count; ++i) {
    const leati_tune_subject *subject = &leati_tune_subjects[i];
    g_print("%s", subject->name);
    for (guint k = 0; k < subject->value_count; ++k) {
      g_print("%s%u", k == 0 ? "=" : ",", subject->values[k]);
    }
    g_print(" %s\n", subject->rows);
  }
}

int main(int argc, char **argv) {
  options o = {.bench = {.seconds = 0.3, .repeat = 5, .runs = 100000, .ticks = 120, .seed = g_random_int()}};
  int status = 0;
  GError *error = NULL;
  leati_output_guard("leat-bench", STATUS_WRONG);
  /* GLib's messages name files in the user's characters. */
  setlocale(LC_CTYPE, "");
  o.bench.threads = g_array_new(FALSE, FALSE, sizeof(guint));
  o.chosen = g_ptr_array_new();
  leati_results_init(&o.bench.results);
  if (!parse(&o, &argc, &argv, &error)) {
    g_printerr("leat-bench: %s; see leat-bench --help\n", error->message);
    g_error_free(error);
    status = STATUS_USE;
  } else if (o.version) {
    g_print("leat-bench %s, build %s, ABI %u.%u\n", LEAT_VERSION, LEAT_BUILD_ID, LEAT_ABI_MAJOR(LEAT_ABI_CURRENT),
            LEAT_ABI_MINOR(LEAT_ABI_CURRENT));
  } else if (o.list) {
    list(&o);
  } else if (o.list_rows) {
    g_autofree char *rows = leati_kernels_json(o.bench.kernels);
    g_print("%s\n", rows);
  } else {
    status = run(&o);
  }
  leati_results_clear(&o.bench.results);
  g_array_unref(o.bench.threads);
  g_ptr_array_unref(o.chosen);
  if (o.bench.kernels != NULL) {
    g_ptr_array_unref(o.bench.kernels);
  }
  if (o.bench.subjects != NULL) {
    g_ptr_array_unref(o.bench.subjects);
  }
  g_strfreev(o.bench.lanes);
  g_free(o.bench.clock_command);
  g_free(o.bench.plugin);
  g_free(o.json);
  return status;
}
