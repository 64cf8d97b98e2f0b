/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure_kernels.h"

#include "bench/clock.h"
#include "bench/exercise.h"
#include "bench/pace.h"
#include "fault.h"

#define NAME "kernels"
#define UNIT "us/run"
#define FMA_NAME "device FMA rate"

/* What the measurement works with. */
typedef struct kernels {
  leati_bench *bench;
  leati_pace pace;     /* its copies are those of the round, once that has measured them */
  leati_floor_job fma; /* unless --no-floor: arithmetic without memory */
  double fma_rate;     /* TFLOP/s; of the round, once that has measured it; 0: not measured */
  gboolean *skipped;   /* by number of the row */
} kernels;

static leati_result_point *point_of(const kernels *k, const leati_kernel *kernel) {
  static const char *const links[] = {[LEATI_KERNEL_READ] = "reads the last",
                                      [LEATI_KERNEL_REWRITE] = "rewrites",
                                      [LEATI_KERNEL_COLD] = "rewrites, other weights"};
  const char *link = links[kernel->link];
  return leati_results_point(&k->bench->results, NAME, kernel->name, link, 1, UNIT);
}

/* ---- Calibration ------------------------------------------------------------------------------------------------- */

/* Runs a second of arithmetic. */
static gboolean fma_runs(kernels *k, const leati_team_plan *plan, double *out, GError **error) {
  leati_sample sample;
  if (!leati_team_run(&leati_floor_task, &k->fma, plan, &sample, error)) {
    g_prefix_error(error, NAME ", " FMA_NAME ": ");
    return FALSE;
  }
  *out = sample.rate;
  return TRUE;
}

/* Finds a number of workgroups that keep the device busy for longer than it takes to submit them. */
static gboolean calibrate_fma(kernels *k, GError **error) {
  leati_bench *b = k->bench;
  if (b->floor == NULL) {
    b->floor = leati_floor_open(b->rig.info.uuid, error);
  }
  if (b->floor == NULL) {
    return FALSE;
  }
  const leati_team_plan plan = {.threads = 1, .runs = 2};
  double rate = G_MAXDOUBLE;
  k->fma = (leati_floor_job){b->floor, LEATI_FLOOR_LOCKED, 1, LEATI_FLOOR_GROUPS_MIN};
  while (fma_runs(k, &plan, &rate, error)) {
    if (rate < 1000 || 2 * k->fma.arithmetic > LEATI_FLOOR_GROUPS_MAX) {
      k->fma.depth = LEATI_FLOOR_DEPTH;
      return TRUE;
    }
    k->fma.arithmetic *= 2;
  }
  return FALSE;
}

/* ---- A row ------------------------------------------------------------------------------------------------------- */

/* Reads the clock while the device stays as busy as it was. A reading that fails is told, and the row goes on. */
static gboolean read_clock(const kernels *k, leati_exercise *e, leati_result_point *point, GError **error) {
  g_autoptr(GError) fault = NULL;
  double mhz;
  leati_clock *clock = leati_clock_start(k->bench->clock_command, &fault);
  gboolean well = TRUE;
  while (well && clock != NULL && !leati_clock_ready(clock)) {
    well = leati_exercise_step(e, error);
  }
  if (clock != NULL && leati_clock_finish(clock, &mhz, &fault)) {
    if (!json_object_has_member(point->facts, "clock_mhz")) {
      json_object_set_double_member(point->facts, "clock_mhz", mhz);
      json_object_set_array_member(point->facts, "clock_mhz_samples", json_array_new());
    }
    /* The lowest of all rounds: a row at a low clock tells nothing. */
    const double lowest = json_object_get_double_member(point->facts, "clock_mhz");
    json_object_set_double_member(point->facts, "clock_mhz", MIN(lowest, mhz));
    json_array_add_double_element(json_object_get_array_member(point->facts, "clock_mhz_samples"), mhz);
  } else {
    g_printerr("leat-bench: %s: %s\n", point->variant, fault->message);
    json_object_set_string_member(point->facts, "clock", "not read");
  }
  return well;
}

/* Loads the device with the row, measures, and adds to its point. */
static gboolean measure_row(kernels *k, const leati_kernel *kernel, leati_exercise *e, leati_exercise_sample *out,
                            GError **error) {
  leati_result_point *point = point_of(k, kernel);
  leati_kernel_form form;
  if (!leati_exercise_load(e, k->bench->load, error) || !leati_exercise_measure(e, k->bench->seconds, out, error)) {
    return FALSE;
  }
  leati_result_point_add_value(point, out->run_us);
  leati_kernel_expand(kernel, &form);
  json_object_set_double_member(point->facts, leati_kernel_unit(kernel),
                                leati_kernel_work(kernel, &form) / (leati_median(point->values) * 1e-6));
  json_object_set_double_member(point->facts, "host_us", out->host_us);
  json_object_set_double_member(point->facts, "runs", (double)out->runs);
  return k->bench->clock_command == NULL || read_clock(k, e, point, error);
}

/* Measures a row once. Sets *why instead if the device cannot take it, or, as is found the first time, not in
 * reasonable time. */
static gboolean run_row(kernels *k, const leati_kernel *kernel, gboolean first, leati_exercise_sample *out, char **why,
                        GError **error) {
  double seconds = 0;
  *why = first ? leati_pace_too_long(&k->pace, kernel) : NULL;
  leati_exercise *e = *why == NULL ? leati_exercise_begin(&k->bench->rig, kernel, why, error) : NULL;
  if (e == NULL) {
    return *why != NULL;
  }
  gboolean well = !first || (leati_exercise_check(e, error) && leati_exercise_once(e, &seconds, error));
  if (well && seconds > LEATI_PACE_RUN_MAX) {
    *why = g_strdup_printf("a run takes %.2g s here", seconds);
  } else if (well) {
    well = measure_row(k, kernel, e, out, error);
  }
  leati_exercise_free(e);
  if (!well) {
    g_prefix_error(error, NAME ", %s: ", kernel->name);
  }
  return well;
}

/* Measures arithmetic once, as long as a row. */
static gboolean run_fma(kernels *k, GError **error) {
  const leati_bench *b = k->bench;
  const leati_team_plan plan = {.threads = 1, .seconds = b->seconds, .warmup = b->load};
  double runs;
  if (!fma_runs(k, &plan, &runs, error)) {
    return FALSE;
  }
  k->fma_rate = runs * k->fma.arithmetic * LEATI_FLOOR_GROUP_FLOPS * 1e-12;
  leati_result_point_add_value(leati_results_point(&k->bench->results, NAME, FMA_NAME, NULL, 1, "TFLOP/s"),
                               k->fma_rate);
  return TRUE;
}

/* ---- All rows ---------------------------------------------------------------------------------------------------- */

/* Adds the row's proportion of what the device can do at best. */
static void compare(const kernels *k, const leati_kernel *kernel, leati_result_point *point,
                    const leati_exercise_sample *sample) {
  leati_kernel_form form;
  leati_kernel_expand(kernel, &form);
  const double rate = leati_kernel_work(kernel, &form) / (sample->run_us * 1e-6);
  if (kernel->kind == LEATI_KERNEL_MEMORY) {
    leati_result_point_add_ratio(point, k->pace.copy.name, rate / k->pace.copy_rate);
  } else if (k->fma_rate > 0) {
    leati_result_point_add_ratio(point, FMA_NAME, rate / k->fma_rate);
  }
}

/* One round: what the device can do at best, and then the rows in the order given. */
static gboolean measure_round(kernels *k, const guint *order, gboolean first, GError **error) {
  const GPtrArray *rows = k->bench->kernels;
  leati_exercise_sample sample;
  leati_kernel_form form;
  g_autofree char *why = NULL;
  if ((!k->bench->bare && !run_fma(k, error)) || !run_row(k, &k->pace.copy, first, &sample, &why, error)) {
    return FALSE;
  }
  if (why != NULL) {
    LEATI_FAULT_SET(error, NAME ": the device's copy speed cannot be measured: %s", why);
    return FALSE;
  }
  leati_kernel_expand(&k->pace.copy, &form);
  k->pace.copy_rate = leati_kernel_work(&k->pace.copy, &form) / (sample.run_us * 1e-6);
  for (guint i = 0; i < rows->len; ++i) {
    const leati_kernel *kernel = g_ptr_array_index(rows, order[i]);
    g_autofree char *reason = NULL;
    if (k->skipped[order[i]]) {
      continue;
    }
    if (!run_row(k, kernel, first, &sample, &reason, error)) {
      return FALSE;
    }
    leati_result_point *point = point_of(k, kernel);
    if (reason != NULL) {
      k->skipped[order[i]] = TRUE;
      json_object_set_string_member(point->facts, "skipped", reason);
    } else {
      compare(k, kernel, point, &sample);
    }
  }
  return TRUE;
}

static void shuffle(GRand *random, guint *order, guint count) {
  for (guint i = count; i > 1; --i) {
    const guint other = (guint)g_rand_int_range(random, 0, (gint32)i), kept = order[i - 1];
    order[i - 1] = order[other];
    order[other] = kept;
  }
}

/* A command that does not work is told before minutes have passed. */
static gboolean try_clock(const leati_bench *b, GError **error) {
  double mhz;
  leati_clock *clock = b->clock_command == NULL ? NULL : leati_clock_start(b->clock_command, error);
  return b->clock_command == NULL || (clock != NULL && leati_clock_finish(clock, &mhz, error));
}

gboolean leati_measure_kernels(leati_bench *b, GError **error) {
  kernels k = {.bench = b};
  const guint count = b->kernels->len;
  if (!try_clock(b, error) || !leati_pace_find(&b->rig, &k.pace, error) || (!b->bare && !calibrate_fma(&k, error))) {
    return FALSE;
  }
  g_print(NAME ": rows in an order of seed %" G_GINT64_FORMAT ", each after %g s of load by itself\n", b->seed,
          b->load);
  /* The tables have the rows in order, whatever the order in which they are measured. */
  if (!b->bare) {
    (void)leati_results_point(&b->results, NAME, FMA_NAME, NULL, 1, "TFLOP/s");
  }
  (void)point_of(&k, &k.pace.copy);
  g_autofree guint *order = g_new(guint, count);
  for (guint i = 0; i < count; ++i) {
    order[i] = i;
    (void)point_of(&k, g_ptr_array_index(b->kernels, i));
  }
  k.skipped = g_new0(gboolean, count);
  GRand *random = g_rand_new_with_seed((guint32)b->seed);
  gboolean well = TRUE;
  for (gint64 r = 0; well && r < b->repeat; ++r) {
    shuffle(random, order, count);
    well = measure_round(&k, order, r == 0, error);
  }
  g_rand_free(random);
  g_free(k.skipped);
  return well;
}
