/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/race.h"

#include <math.h>
#include <signal.h>

#include "bench/exercise.h"
#include "fault.h"

#define NAME "tune"

/* A value. The standard's two measurements are the first two. */
typedef struct runner {
  char *value;
  char *label;    /* for the report */
  gboolean left;  /* out of the race */
  char *why;      /* the device cannot run with it; or NULL */
  GArray *times;  /* of double: us of each row, in their order, round by round */
  GArray *scores; /* of double, a round each */
} runner;

struct leati_race {
  leati_bench *bench;
  GRand *random;
  const GPtrArray *rows;
  const char *setting;
  GArray *runners;
};

#define FIRST 2 /* of the values that are compared */

static runner *runner_at(const leati_race *race, guint i) {
  return &g_array_index(race->runners, runner, i);
}

static GArray *doubles(void) {
  return g_array_new(FALSE, FALSE, sizeof(double));
}

static void runner_clear(gpointer data) {
  runner *r = data;
  g_free(r->value);
  g_free(r->label);
  g_free(r->why);
  g_array_unref(r->times);
  g_array_unref(r->scores);
}

static void add_runner(leati_race *race, const char *value, char *label) {
  const runner r = {.value = g_strdup(value), .label = label, .times = doubles(), .scores = doubles()};
  g_array_append_val(race->runners, r);
}

leati_race *leati_race_new(leati_bench *bench, GRand *random, const GPtrArray *rows, const char *setting,
                           const char *standard, const char *label) {
  leati_race *race = g_new0(leati_race, 1);
  *race = (leati_race){bench, random, rows, setting, g_array_new(FALSE, FALSE, sizeof(runner))};
  g_array_set_clear_func(race->runners, runner_clear);
  add_runner(race, standard, g_strdup(label));
  add_runner(race, standard, g_strdup_printf("%s, again", label));
  return race;
}

void leati_race_add(leati_race *race, const char *value, const char *label) {
  add_runner(race, value, g_strdup(label));
}

void leati_race_free(leati_race *race) {
  if (race != NULL) {
    g_array_unref(race->runners);
    g_free(race);
  }
}

/* ---- Interruption ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;
static struct sigaction before;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

void leati_race_catch_interrupt(void) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
  (void)sigemptyset(&action.sa_mask);
  interrupted = 0;
  (void)sigaction(SIGINT, &action, &before);
}

void leati_race_release_interrupt(void) {
  (void)sigaction(SIGINT, &before, NULL);
}

gboolean leati_race_interrupted(void) {
  return interrupted != 0;
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

gboolean leati_race_visit(const leati_bench *bench, const leati_kernel *kernel, double load, gboolean check,
                          double *out_us, char **why, GError **error) {
  leati_exercise_sample sample = {0};
  leati_exercise *e = leati_exercise_begin(&bench->rig, kernel, why, error);
  if (e == NULL) {
    return *why != NULL;
  }
  const gboolean well = (!check || leati_exercise_check(e, error)) &&
                        leati_exercise_load(e, load > 0 ? load : LEATI_RACE_LOAD * bench->load, error) &&
                        leati_exercise_measure(e, bench->seconds, &sample, error);
  *out_us = sample.run_us;
  leati_exercise_free(e);
  if (!well) {
    g_prefix_error(error, "%s: ", kernel->name);
  }
  return well;
}

/* The numbers below a count, in an order that is drawn. */
static guint *drawn(GRand *random, guint count) {
  guint *order = g_new(guint, count);
  for (guint i = 0; i < count; ++i) {
    const guint other = (guint)g_rand_int_range(random, 0, (gint32)i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  return order;
}

/* Opens the device with a value and measures all rows, unless it is interrupted or the device cannot take one. */
static gboolean run(leati_race *race, runner *r, gboolean check, GError **error) {
  leati_bench *b = race->bench;
  if (!leati_rig_reopen(&b->rig, race->setting, r->value, error)) {
    return FALSE;
  }
  const guint first = r->times->len;
  g_autofree guint *order = drawn(race->random, race->rows->len);
  g_array_set_size(r->times, first + race->rows->len);
  for (guint i = 0; i < race->rows->len && !interrupted && r->why == NULL; ++i) {
    const leati_kernel *kernel = g_ptr_array_index(race->rows, order[i]);
    double us = 0;
    if (!leati_race_visit(b, kernel, i == 0 ? b->load : 0, check, &us, &r->why, error)) {
      g_prefix_error(error, "%s=%s: ", race->setting, r->value);
      return FALSE;
    }
    g_array_index(r->times, double, first + order[i]) = us;
    if (r->why == NULL) {
      leati_result_point_add_value(leati_results_point(&b->results, NAME, kernel->name, r->label, 1, "us/run"), us);
    }
  }
  return TRUE;
}

/* Logarithm of a time of one runner by another one's. */
static double log_ratio(const runner *a, const runner *b, guint at) {
  return log(g_array_index(a->times, double, at) / g_array_index(b->times, double, at));
}

/* The same by the standard's, of which there are two. */
static double log_change(const leati_race *race, const runner *r, guint at) {
  return (log_ratio(r, runner_at(race, 0), at) + log_ratio(r, runner_at(race, 1), at)) / 2;
}

/* Adds the scores of the last round; the standard's second measurement is held against the first. */
static void score_round(leati_race *race) {
  const guint rows = race->rows->len, end = runner_at(race, 0)->times->len;
  for (guint i = 1; i < race->runners->len; ++i) {
    runner *r = runner_at(race, i);
    double sum = 0;
    for (guint at = end - rows; at < end && !r->left; ++at) {
      sum += i == 1 ? log_ratio(r, runner_at(race, 0), at) : log_change(race, r, at);
    }
    sum /= rows;
    if (!r->left) {
      g_array_append_val(r->scores, sum);
    }
  }
}

/* The best or the worst value of those that are left, or NULL. */
static runner *extreme_of(const leati_race *race, gboolean best) {
  runner *found = NULL;
  for (guint i = FIRST; i < race->runners->len; ++i) {
    runner *r = runner_at(race, i);
    if (!r->left) {
      const double difference = found == NULL ? 0 : leati_median(r->scores) - leati_median(found->scores);
      found = found == NULL || (best ? difference < 0 : difference > 0) ? r : found;
    }
  }
  return found;
}

static void leave_half_out(leati_race *race) {
  guint count = 0;
  for (guint i = FIRST; i < race->runners->len; ++i) {
    count += runner_at(race, i)->left ? 0 : 1;
  }
  for (guint out = count / 2; out > 0; --out) {
    extreme_of(race, FALSE)->left = TRUE;
  }
}

gboolean leati_race_run(leati_race *race, gint64 rounds, GError **error) {
  for (gint64 round = 0; round < rounds; ++round) {
    g_autofree guint *order = drawn(race->random, race->runners->len);
    for (guint i = 0; i < race->runners->len; ++i) {
      runner *r = runner_at(race, order[i]);
      if (!r->left && !run(race, r, round == 0 && order[i] >= FIRST, error)) {
        return FALSE;
      }
      if (interrupted) {
        return TRUE;
      }
      if (r->why != NULL && order[i] < FIRST) {
        LEATI_FAULT_SET(error, "%s=%s: %s", race->setting, r->value, r->why);
        return FALSE;
      }
      r->left = r->left || r->why != NULL;
    }
    score_round(race);
    if (round + 1 < rounds) {
      leave_half_out(race);
    }
  }
  return TRUE;
}

guint leati_race_openings(guint values, gint64 rounds) {
  guint openings = 0;
  for (gint64 round = 0; round < rounds; ++round) {
    openings += FIRST + values;
    values -= values / 2;
  }
  return openings;
}

/* ---- What came of it --------------------------------------------------------------------------------------------- */

int leati_race_best(const leati_race *race) {
  const runner *best = extreme_of(race, TRUE);
  return best == NULL ? -1 : (int)(best - runner_at(race, FIRST));
}

double leati_race_score(const leati_race *race, guint value) {
  return leati_median(runner_at(race, FIRST + value)->scores);
}

const char *leati_race_why(const leati_race *race, guint value) {
  return runner_at(race, FIRST + value)->why;
}

double leati_race_noise(const leati_race *race) {
  const GArray *scores = runner_at(race, 1)->scores;
  double noise = LEATI_RACE_NOISE_LEAST;
  for (guint i = 0; i < scores->len; ++i) {
    noise = MAX(noise, fabs(g_array_index(scores, double, i)));
  }
  return noise;
}

char *leati_race_extremes(const leati_race *race, guint value) {
  const runner *r = runner_at(race, FIRST + value);
  const guint rows = race->rows->len;
  g_autofree double *changes = g_new0(double, rows);
  guint low = 0, high = 0;
  for (guint k = 0; k < rows; ++k) {
    g_autoptr(GArray) rounds = doubles();
    for (guint at = k; at < r->times->len; at += rows) {
      const double change = log_change(race, r, at);
      g_array_append_val(rounds, change);
    }
    changes[k] = leati_median(rounds);
    low = changes[k] < changes[low] ? k : low;
    high = changes[k] > changes[high] ? k : high;
  }
  g_autofree char *best = leati_race_percent(changes[low]), *worst = leati_race_percent(changes[high]);
  return g_strdup_printf("%s %s, %s %s", ((const leati_kernel *)g_ptr_array_index(race->rows, low))->name, best,
                         ((const leati_kernel *)g_ptr_array_index(race->rows, high))->name, worst);
}

char *leati_race_percent(double score) {
  return g_strdup_printf("%+.1f %%", (exp(score) - 1) * 100);
}
