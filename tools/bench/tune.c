/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/tune.h"

#include <math.h>
#include <string.h>

#include "bench/exercise.h"
#include "bench/pace.h"
#include "bench/race.h"
#include "bench/subjects.h"
#include "bench/team.h"
#include "fault.h"
#include "output.h"
#include "table.h"
#include "tuning_value.h"

#define SETTING "LEAT_TUNING"
#define PREFIX "tuning."
/* How often a constant is tuned at most because another one that acts on it has changed. */
#define TURNS_MAX 3

/* A constant of the backend. */
typedef struct known {
  char *name;
  leati_tuning_value told; /* at the beginning */
  guint value;             /* the best so far */
} known;

/* A row that shows some constant. */
typedef struct row {
  const leati_kernel *kernel;
  gboolean fits;        /* the device runs it in reasonable time */
  double visit_seconds; /* what measuring it takes, all told */
} row;

/* A constant that is tuned. */
typedef struct tuned {
  const leati_tune_subject *subject;
  known *known;    /* NULL: the backend has none of that name */
  GPtrArray *rows; /* of const leati_kernel, that fit */
  const char *why; /* it is not tuned; or NULL */
  gboolean due;    /* it was not tuned since another of its group changed */
  guint turns;     /* how often it was tuned */
  double change;   /* score of its changes, one on the other */
  double noise;    /* of its last turn */
  char *extremes;  /* the rows that gain most and least by its last change, or NULL */
} tuned;

typedef struct tuner {
  leati_bench *bench;
  GRand *random;
  GPtrArray *known; /* of known */
  GPtrArray *rows;  /* of row */
  GPtrArray *tuned; /* of tuned, in the order in which they come */
  double open_seconds;
} tuner;

static void known_free(gpointer data) {
  known *k = data;
  g_free(k->name);
  g_free(k);
}

static void tuned_free(gpointer data) {
  tuned *c = data;
  g_ptr_array_unref(c->rows);
  g_free(c->extremes);
  g_free(c);
}

/* Percent of time that a gain by so much takes off. */
static double less(double score) {
  return (1 - exp(-score)) * 100;
}

static known *known_at(const tuner *t, guint i) {
  return g_ptr_array_index(t->known, i);
}

static tuned *tuned_at(const tuner *t, guint i) {
  return g_ptr_array_index(t->tuned, i);
}

/* ---- What is tuned ----------------------------------------------------------------------------------------------- */

static known *find_known(const tuner *t, const char *name) {
  for (guint i = 0; i < t->known->len; ++i) {
    if (g_str_equal(known_at(t, i)->name, name)) {
      return known_at(t, i);
    }
  }
  return NULL;
}

/* What the backend's report tells: its constants, and which needs the device meets. */
static gboolean read_report(tuner *t, gboolean met[LEATI_TUNE_ASSUMED + 1], GError **error) {
  const leati_rig *rig = &t->bench->rig;
  const int32_t device = (int32_t)rig->info.index;
  leat_error err = LEATI_RIG_ERROR;
  uint32_t count = 0;
  if (!leati_rig_ok(rig->api->device->report(&count, NULL, &err), &err, "report", error)) {
    return FALSE;
  }
  const uint32_t room = count;
  g_autofree leat_property *properties = g_new0(leat_property, (gsize)room + 1);
  for (uint32_t i = 0; i < room; ++i) {
    properties[i].struct_size = sizeof(*properties);
  }
  if (!leati_rig_ok(rig->api->device->report(&count, properties, &err), &err, "report", error)) {
    return FALSE;
  }
  met[LEATI_TUNE_ALWAYS] = TRUE;
  for (uint32_t i = 0; i < MIN(room, count); ++i) {
    const leat_property *p = &properties[i];
    leati_tuning_value told;
    if (p->device == -1 && g_str_has_prefix(p->name, PREFIX) && leati_tuning_value_read(p->value, &told)) {
      known *k = g_new0(known, 1);
      *k = (known){.name = g_strdup(p->name + strlen(PREFIX)), .told = told, .value = told.value};
      g_ptr_array_add(t->known, k);
    } else if (p->device == device && g_str_equal(p->name, "features.cooperativeMatrix")) {
      met[LEATI_TUNE_MATRICES] = g_str_has_suffix(p->value, "; used");
    } else if (p->device == device && g_str_equal(p->name, "processors")) {
      met[LEATI_TUNE_ASSUMED] = strstr(p->value, "assumed") != NULL;
    }
  }
  if (t->known->len == 0) {
    LEATI_FAULT_SET(error, "--tune: this backend tells no constants by which it cuts kernels");
  }
  return t->known->len > 0;
}

/* The row of a kernel. */
static row *row_of(const tuner *t, const leati_kernel *kernel) {
  for (guint i = 0; i < t->rows->len; ++i) {
    row *r = g_ptr_array_index(t->rows, i);
    if (r->kernel == kernel) {
      return r;
    }
  }
  row *r = g_new0(row, 1);
  r->kernel = kernel;
  g_ptr_array_add(t->rows, r);
  return r;
}

/* Lists the constants that were asked for, each with those of its rows that were asked for too. */
static gboolean list_subjects(tuner *t, const gboolean *met, GError **error) {
  static const char *const lacks[] = {
      [LEATI_TUNE_MATRICES] = "no matrix hardware is used here",
      [LEATI_TUNE_ASSUMED] = "this device tells how many processors it has",
  };
  for (guint i = 0; i < t->bench->subjects->len; ++i) {
    tuned *c = g_new0(tuned, 1);
    c->subject = g_ptr_array_index(t->bench->subjects, i);
    c->known = find_known(t, c->subject->name);
    c->rows = g_ptr_array_new();
    c->due = TRUE;
    c->why = c->known == NULL        ? "this backend has no constant of that name"
             : met[c->subject->need] ? NULL
                                     : lacks[c->subject->need];
    g_ptr_array_add(t->tuned, c);
    g_autoptr(GPtrArray) rows = leati_kernels_find(c->subject->rows, error);
    if (rows == NULL) {
      return FALSE;
    }
    for (guint k = 0; c->why == NULL && k < rows->len; ++k) {
      leati_kernel *kernel = g_ptr_array_index(rows, k);
      if (g_ptr_array_find(t->bench->kernels, kernel, NULL)) {
        (void)row_of(t, kernel);
        g_ptr_array_add(c->rows, kernel);
      }
    }
  }
  return TRUE;
}

/* What LEAT_TUNING has to say so that all constants are the best so far, but one of them `value`. That one is always
 * there, so that what the environment says does not count. */
static char *setting_of(const tuner *t, const known *one, guint value) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < t->known->len; ++i) {
    const known *k = known_at(t, i);
    const guint own = k == one ? value : k->value;
    if (k == one || own != k->told.standard) {
      g_string_append_printf(out, "%s%s=%u", out->len > 0 ? "," : "", k->name, own);
    }
  }
  return g_string_free(out, FALSE);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static double seconds_since(gint64 start_ns) {
  return (double)(leati_team_now_ns() - start_ns) * 1e-9;
}

/* Runs a row for the first time, so that all is compiled: whether the device takes it, in reasonable time, and is
 * right. Then, as each further time, to see how long that is. */
static gboolean try_row(const tuner *t, const leati_pace *pace, row *r, GError **error) {
  g_autofree char *why = leati_pace_too_long(pace, r->kernel);
  double seconds = 0, us;
  if (why != NULL) {
    return TRUE;
  }
  leati_exercise *e = leati_exercise_begin(&t->bench->rig, r->kernel, &why, error);
  const gboolean well = e != NULL && leati_exercise_check(e, error) && leati_exercise_once(e, &seconds, error);
  leati_exercise_free(e);
  if (!well && why == NULL) {
    g_prefix_error(error, "%s: ", r->kernel->name);
  }
  if (!well || seconds > LEATI_PACE_RUN_MAX) {
    return well || why != NULL;
  }
  const gint64 start = leati_team_now_ns();
  if (!leati_race_visit(t->bench, r->kernel, 0, FALSE, &us, &why, error)) {
    return FALSE;
  }
  r->visit_seconds = seconds_since(start);
  r->fits = why == NULL;
  return TRUE;
}

/* Leaves out what the device cannot run in reasonable time. */
static gboolean try_rows(tuner *t, GError **error) {
  leati_pace pace;
  const gint64 start = leati_team_now_ns();
  g_autofree char *as_it_is = setting_of(t, known_at(t, 0), known_at(t, 0)->value);
  if (!leati_rig_reopen(&t->bench->rig, SETTING, as_it_is, error)) {
    return FALSE;
  }
  t->open_seconds = seconds_since(start);
  if (t->rows->len > 0 && !leati_pace_find(&t->bench->rig, &pace, error)) {
    return FALSE;
  }
  for (guint i = 0; i < t->rows->len && !leati_race_interrupted(); ++i) {
    if (!try_row(t, &pace, g_ptr_array_index(t->rows, i), error)) {
      return FALSE;
    }
  }
  for (guint i = 0; i < t->tuned->len; ++i) {
    tuned *c = tuned_at(t, i);
    for (guint k = c->rows->len; k > 0; --k) {
      if (!row_of(t, g_ptr_array_index(c->rows, k - 1))->fits) {
        g_ptr_array_remove_index(c->rows, k - 1);
      }
    }
    if (c->why == NULL && c->rows->len == 0 && !leati_race_interrupted()) {
      c->why = "none of the rows that show it was asked for and takes a reasonable time here";
    }
  }
  return TRUE;
}

/* ---- A constant -------------------------------------------------------------------------------------------------- */

/* The values of a constant that are tried: those of the table of subjects that the backend takes, and the one that the
 * constant has by itself. */
static GArray *candidates_of(const tuned *c) {
  const known *k = c->known;
  GArray *values = g_array_new(FALSE, FALSE, sizeof(guint));
  gboolean standard = k->told.standard == k->value;
  for (guint i = 0; i < c->subject->value_count; ++i) {
    const guint value = c->subject->values[i];
    standard = standard || value == k->told.standard;
    if (value != k->value && value >= k->told.least && value <= k->told.most) {
      g_array_append_val(values, value);
    }
  }
  if (!standard) {
    g_array_append_val(values, k->told.standard);
  }
  return values;
}

static leati_race *race_of(const tuner *t, const tuned *c, const guint *values, guint count) {
  const known *k = c->known;
  g_autofree char *own = setting_of(t, k, k->value), *own_label = g_strdup_printf("%s=%u", k->name, k->value);
  leati_race *race = leati_race_new(t->bench, t->random, c->rows, SETTING, own, own_label);
  for (guint i = 0; i < count; ++i) {
    g_autofree char *setting = setting_of(t, k, values[i]), *label = g_strdup_printf("%s=%u", k->name, values[i]);
    leati_race_add(race, setting, label);
  }
  return race;
}

/* Measures a value against the one so far once more, and takes it if it is faster this time too. */
static gboolean confirm(tuner *t, tuned *c, guint value, GError **error) {
  g_autoptr(leati_race) race = race_of(t, c, &value, 1);
  if (!leati_race_run(race, t->bench->repeat, error)) {
    return FALSE;
  }
  if (leati_race_interrupted() || leati_race_best(race) < 0) {
    return TRUE;
  }
  c->noise = MAX(c->noise, leati_race_noise(race));
  if (leati_race_score(race, 0) < -c->noise) {
    g_free(c->extremes);
    c->extremes = leati_race_extremes(race, 0);
    c->change += leati_race_score(race, 0);
    c->known->value = value;
    for (guint i = 0; i < t->tuned->len; ++i) {
      tuned *other = tuned_at(t, i);
      other->due = other->due || (other != c && g_str_equal(other->subject->rows, c->subject->rows));
    }
  }
  return TRUE;
}

/* What came of a constant's turn, in a line. */
static char *turn_text(const tuned *c, const leati_race *race, const GArray *values, guint before, double change) {
  GString *out = g_string_new(NULL);
  if (c->known->value == before) {
    g_string_append_printf(out, "%u stays (", before);
  } else {
    g_autofree char *gain = leati_race_percent(change);
    g_string_append_printf(out, "%u -> %u, %s (", before, c->known->value, gain);
  }
  for (guint i = 0; i < values->len; ++i) {
    g_autofree char *score =
        leati_race_why(race, i) != NULL ? g_strdup("cannot run") : leati_race_percent(leati_race_score(race, i));
    g_string_append_printf(out, "%u: %s, ", g_array_index(values, guint, i), score);
  }
  g_string_append_printf(out, "noise %.1f %%)", less(c->noise));
  return g_string_free(out, FALSE);
}

/* Tunes a constant.
 * @param out_text [out] what came of it; left alone where it is interrupted */
static gboolean tune_one(tuner *t, tuned *c, char **out_text, GError **error) {
  g_autoptr(GArray) values = candidates_of(c);
  g_autoptr(leati_race) race = race_of(t, c, (const guint *)(const void *)values->data, values->len);
  const guint before = c->known->value;
  const double change = c->change;
  if (!leati_race_run(race, t->bench->repeat, error)) {
    return FALSE;
  }
  if (leati_race_interrupted()) {
    return TRUE;
  }
  const int best = leati_race_best(race);
  c->noise = leati_race_noise(race);
  if (best >= 0 && leati_race_score(race, (guint)best) < -c->noise &&
      !confirm(t, c, g_array_index(values, guint, best), error)) {
    return FALSE;
  }
  if (leati_race_interrupted()) {
    return TRUE;
  }
  c->due = FALSE;
  ++c->turns;
  *out_text = turn_text(c, race, values, before, c->change - change);
  return TRUE;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static gboolean is_due(const tuned *c) {
  return c->why == NULL && c->due && c->turns < TURNS_MAX;
}

/* Seconds for all that is due, if no value changes. */
static double cost(const tuner *t, guint *out_count) {
  double all = 0;
  *out_count = 0;
  for (guint i = 0; i < t->tuned->len; ++i) {
    const tuned *c = tuned_at(t, i);
    if (is_due(c)) {
      g_autoptr(GArray) values = candidates_of(c);
      double seconds = t->open_seconds + t->bench->load;
      for (guint k = 0; k < c->rows->len; ++k) {
        seconds += row_of(t, g_ptr_array_index(c->rows, k))->visit_seconds;
      }
      all += seconds * leati_race_openings(values->len, t->bench->repeat);
      ++*out_count;
    }
  }
  return all;
}

static char *duration(double seconds) {
  return seconds < 100 ? g_strdup_printf("%.0f s", seconds) : g_strdup_printf("%.0f min", seconds / 60);
}

/* Tunes what is due, again as long as that makes others due. */
static gboolean tune_all(tuner *t, GError **error) {
  guint due, done = 0;
  g_autofree char *about = duration(cost(t, &due));
  if (due > 0) {
    g_print("tune: %u %s, in an order of seed %" G_GINT64_FORMAT
            "; about %s, and up to twice that where values change. Ctrl-C ends it with what is known by then.\n"
            "Values with what their rows take more (+) or less (-) than with the value so far:\n",
            due, due == 1 ? "constant" : "constants", t->bench->seed, about);
  }
  leati_output_flush();
  for (guint i = 0; due > 0 && !leati_race_interrupted(); i = (i + 1) % t->tuned->len) {
    tuned *c = tuned_at(t, i);
    g_autofree char *text = NULL;
    if (!is_due(c)) {
      continue;
    }
    if (!tune_one(t, c, &text, error)) {
      g_prefix_error(error, "tune, ");
      return FALSE;
    }
    g_autofree char *left = duration(cost(t, &due));
    if (text != NULL) {
      ++done;
      g_print("[%u of %u, %s left] %s: %s\n", done, done + due, left, c->subject->name, text);
      leati_output_flush();
    }
  }
  return TRUE;
}

/* ---- What came of it --------------------------------------------------------------------------------------------- */

/* Whether a constant has another value than at the beginning. */
static gboolean has_changed(const tuned *c) {
  return c->known != NULL && c->known->value != c->known->told.value;
}

/* All changes together against what there was, over the rows of what has changed. */
static gboolean check_together(tuner *t, GError **error) {
  g_autoptr(GPtrArray) rows = g_ptr_array_new();
  guint changes = 0;
  for (guint i = 0; i < t->tuned->len; ++i) {
    const tuned *c = tuned_at(t, i);
    changes += has_changed(c) ? 1 : 0;
    for (guint k = 0; has_changed(c) && k < c->rows->len; ++k) {
      if (!g_ptr_array_find(rows, g_ptr_array_index(c->rows, k), NULL)) {
        g_ptr_array_add(rows, g_ptr_array_index(c->rows, k));
      }
    }
  }
  if (changes < 2 || leati_race_interrupted()) {
    return TRUE;
  }
  const known *any = known_at(t, 0);
  g_autofree char *after = setting_of(t, any, any->value);
  GString *before_text = g_string_new(NULL);
  for (guint i = 0; i < t->known->len; ++i) {
    const known *k = known_at(t, i);
    if (k == any || k->told.value != k->told.standard) {
      g_string_append_printf(before_text, "%s%s=%u", before_text->len > 0 ? "," : "", k->name, k->told.value);
    }
  }
  g_autofree char *before = g_string_free(before_text, FALSE);
  g_autoptr(leati_race) race = leati_race_new(t->bench, t->random, rows, SETTING, before, "before");
  leati_race_add(race, after, "all changes");
  if (!leati_race_run(race, t->bench->repeat, error)) {
    return FALSE;
  }
  if (!leati_race_interrupted() && leati_race_best(race) >= 0) {
    const double score = leati_race_score(race, 0), noise = leati_race_noise(race);
    g_autofree char *gain = leati_race_percent(score), *extremes = leati_race_extremes(race, 0);
    g_print("All changes together: %s%s (%u %s, noise %.1f %%; %s)\n", gain,
            score < -noise ? "" : ", which is no gain beyond the noise", rows->len, rows->len == 1 ? "row" : "rows",
            less(noise), extremes);
  }
  return TRUE;
}

/* Why a constant was not tuned, or NULL. */
static const char *reason_of(const tuned *c) {
  return c->why != NULL ? c->why : c->turns == 0 ? "it ended before" : NULL;
}

static void print_table(const tuner *t) {
  const char *const columns[] = {
      "constant", "of the table", "best here", "time", "noise", "rows", "row that gains most, and least", NULL};
  leati_table *table = leati_table_new(columns);
  guint count = 0;
  for (guint i = 0; i < t->tuned->len; ++i) {
    const tuned *c = tuned_at(t, i);
    if (reason_of(c) == NULL) {
      char *cells[] = {g_strdup(c->subject->name),
                       g_strdup_printf("%u", c->known->told.standard),
                       g_strdup_printf("%u", c->known->value),
                       has_changed(c) ? leati_race_percent(c->change) : g_strdup(""),
                       g_strdup_printf("%.1f %%", less(c->noise)),
                       g_strdup_printf("%u", c->rows->len),
                       g_strdup(has_changed(c) ? c->extremes : "")};
      leati_table_add(table, cells);
      ++count;
    }
  }
  g_autofree char *text = leati_table_text(table);
  leati_table_free(table);
  g_print("%s%s", count > 0 ? "\n" : "", count > 0 ? text : "");
}

/* The constants that were not tuned, by the reason. */
static void print_rest(const tuner *t) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < t->tuned->len; ++i) {
    const char *reason = reason_of(tuned_at(t, i));
    if (reason == NULL || !g_hash_table_add(seen, (gpointer)reason)) {
      continue;
    }
    g_print("Not tuned, because %s:", reason);
    for (guint k = i; k < t->tuned->len; ++k) {
      if (g_strcmp0(reason_of(tuned_at(t, k)), reason) == 0) {
        g_print(" %s", tuned_at(t, k)->subject->name);
      }
    }
    g_print("\n");
  }
}

/* What to do with it. */
static void print_advice(const tuner *t) {
  GString *lines = g_string_new(NULL), *setting = g_string_new(NULL);
  gboolean any = FALSE;
  for (guint i = 0; i < t->tuned->len; ++i) {
    any = any || tuned_at(t, i)->turns > 0;
  }
  for (guint i = 0; i < t->known->len; ++i) {
    const known *k = known_at(t, i);
    if (k->value != k->told.standard) {
      g_autofree char *constant = g_ascii_strup(k->name, -1);
      g_string_append_printf(lines, "#define LEATI_%s %uu\n", constant, k->value);
      g_string_append_printf(setting, "%s%s=%u", setting->len > 0 ? "," : "", k->name, k->value);
    }
  }
  if (lines->len > 0) {
    g_print("\nTo try these values without a rebuild:\n" SETTING "=%s\n\nFor plugin/policy/constants.h:\n%s",
            setting->str, lines->str);
  } else {
    g_print("\n%s\n", any ? "No value but those of the table is faster by more than the noise." : "Nothing was tuned.");
  }
  g_string_free(lines, TRUE);
  g_string_free(setting, TRUE);
}

/* The same for the report in JSON. */
static void add_points(tuner *t) {
  for (guint i = 0; i < t->tuned->len; ++i) {
    const tuned *c = tuned_at(t, i);
    if (c->turns > 0) {
      leati_result_point *point =
          leati_results_point(&t->bench->results, "tune", c->subject->name, NULL, 1, "of the time before");
      leati_result_point_add_value(point, exp(c->change));
      json_object_set_double_member(point->facts, "table", c->known->told.standard);
      json_object_set_double_member(point->facts, "best", c->known->value);
      json_object_set_double_member(point->facts, "noise", less(c->noise) / 100);
    }
  }
}

gboolean leati_tune(leati_bench *bench, GError **error) {
  tuner t = {.bench = bench,
             .random = g_rand_new_with_seed((guint32)bench->seed),
             .known = g_ptr_array_new_with_free_func(known_free),
             .rows = g_ptr_array_new_with_free_func(g_free),
             .tuned = g_ptr_array_new_with_free_func(tuned_free)};
  gboolean met[LEATI_TUNE_ASSUMED + 1] = {FALSE};
  leati_race_catch_interrupt();
  gboolean well = read_report(&t, met, error) && list_subjects(&t, met, error) && try_rows(&t, error);
  if (well) {
    /* What is known is worth telling whatever ended it. */
    well = tune_all(&t, error);
    print_table(&t);
    print_rest(&t);
    well = well && check_together(&t, error);
    print_advice(&t);
    add_points(&t);
  }
  if (well && leati_race_interrupted()) {
    LEATI_FAULT_SET(error, "tune: interrupted");
    well = FALSE;
  }
  leati_race_release_interrupt();
  g_rand_free(t.random);
  g_ptr_array_unref(t.tuned);
  g_ptr_array_unref(t.rows);
  g_ptr_array_unref(t.known);
  return well;
}
