/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu_spread.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* How often inputs are put off. A step that is passed by one in so many may stay unseen, which k draws see k times as
 * likely. */
#define DRAWS 4

/* What moves the CPU provider's results, and what that is called. */
enum { BY_LEVEL, BY_ULPS, WAYS };

struct leati_cpu_spread {
  const leati_ort *ort;
  const leati_model *model;
  const leati_feed *feed;
  int cpu_threads;
  int64_t ulps;
  /* POSIX's, as in workers.c. It guards the next, while they are measured and read. */
  pthread_mutex_t lock;
  leati_distance **sets; /* by set: WAYS for each output, or NULL: not measured */
};

leati_cpu_spread *leati_cpu_spread_new(const leati_ort *ort, const leati_model *model, const leati_feed *feed,
                                       int cpu_threads, int64_t ulps) {
  leati_cpu_spread *spread = g_new0(leati_cpu_spread, 1);
  *spread = (leati_cpu_spread){.ort = ort, .model = model, .feed = feed, .cpu_threads = cpu_threads, .ulps = ulps};
  spread->sets = g_new0(leati_distance *, feed->set_count);
  pthread_mutex_init(&spread->lock, NULL);
  return spread;
}

void leati_cpu_spread_free(leati_cpu_spread *spread) {
  if (spread == NULL) {
    return;
  }
  for (size_t i = 0; i < spread->feed->set_count; ++i) {
    g_free(spread->sets[i]);
  }
  g_free(spread->sets);
  pthread_mutex_destroy(&spread->lock);
  g_free(spread);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Runs a session once, and takes in how far its outputs are from those of the set. A run that fails tells nothing. */
static void take_in(const leati_cpu_spread *spread, const leati_set *set, OrtSession *session, OrtValue *const *inputs,
                    int way, leati_distance *found) {
  const leati_ort *ort = spread->ort;
  const size_t count = spread->model->output_count;
  OrtValue **outputs = g_new0(OrtValue *, count + 1);
  if (leati_ort_ok(ort, leati_model_run(ort, spread->model, session, inputs, outputs), NULL)) {
    for (size_t i = 0; i < count; ++i) {
      leati_ndarray got;
      leati_ndarray want;
      leati_distance one;
      leati_distance *most = &found[i * WAYS + (size_t)way];
      if (leati_value_view(ort, outputs[i], &got, NULL) && leati_value_view(ort, set->outputs[i], &want, NULL) &&
          leati_distance_between(&got, &want, &one)) {
        *most = (leati_distance){fmax(most->most, one.most), fmax(most->rms, one.rms)};
      }
    }
  }
  leati_values_free(ort, outputs, count);
  g_free(outputs);
}

/* Copies the inputs of a set, with each number of those of floating point some ulp off. FALSE if there are none. */
static gboolean put_off(const leati_cpu_spread *spread, const leati_set *set, GRand *random, OrtValue **out) {
  gboolean any = FALSE;
  for (size_t i = 0; i < spread->model->input_count; ++i) {
    leati_ndarray view;
    out[i] =
        leati_value_view(spread->ort, set->inputs[i], &view, NULL) ? leati_value_copy(spread->ort, &view, NULL) : NULL;
    if (out[i] == NULL || !leati_value_view(spread->ort, out[i], &view, NULL)) {
      return FALSE;
    }
    if (!leati_element_is_float(view.element)) {
      continue;
    }
    any = TRUE;
    for (size_t n = 0; n < view.count; ++n) {
      const int64_t ulps = 1 + (int64_t)(g_rand_double(random) * (double)spread->ulps);
      leati_element_step(view.element, view.data, n, g_rand_boolean(random) ? ulps : -ulps);
    }
  }
  return any;
}

static void measure_ulps(const leati_cpu_spread *spread, size_t set, OrtSession *session, leati_distance *found) {
  OrtValue **inputs = g_new0(OrtValue *, spread->model->input_count + 1);
  GRand *random = g_rand_new_with_seed((guint32)set);
  gboolean any = TRUE;
  for (int i = 0; any && i < DRAWS; ++i) {
    any = put_off(spread, &spread->feed->sets[set], random, inputs);
    if (any) {
      take_in(spread, &spread->feed->sets[set], session, inputs, BY_ULPS, found);
    }
    leati_values_free(spread->ort, inputs, spread->model->input_count);
  }
  g_rand_free(random);
  g_free(inputs);
}

/* One session at a time, which is what large models have room for. */
static leati_distance *measure(const leati_cpu_spread *spread, size_t set) {
  static const GraphOptimizationLevel kLevels[] = {ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED};
  leati_distance *found = g_new0(leati_distance, spread->model->output_count * WAYS);
  for (size_t i = 0; i <= G_N_ELEMENTS(kLevels); ++i) {
    const leati_session_plan plan = {.cpu_threads = spread->cpu_threads,
                                     .level = i < G_N_ELEMENTS(kLevels) ? &kLevels[i] : NULL};
    OrtSession *session = leati_ort_session(spread->ort, spread->model->path, &plan, NULL);
    if (session == NULL) {
      continue;
    }
    if (plan.level != NULL) {
      take_in(spread, &spread->feed->sets[set], session, spread->feed->sets[set].inputs, BY_LEVEL, found);
    } else {
      measure_ulps(spread, set, session, found);
    }
    spread->ort->api->ReleaseSession(session);
  }
  return found;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

gboolean leati_cpu_spread_allows(leati_cpu_spread *spread, size_t set, size_t output, const leati_ndarray *got,
                                 const leati_ndarray *want, char **why) {
  leati_distance off;
  *why = NULL;
  if (!leati_distance_between(got, want, &off)) {
    return FALSE;
  }
  pthread_mutex_lock(&spread->lock);
  if (spread->sets[set] == NULL) {
    spread->sets[set] = measure(spread, set);
  }
  const leati_distance *ways = &spread->sets[set][output * WAYS];
  pthread_mutex_unlock(&spread->lock);
  for (int i = 0; i < WAYS; ++i) {
    if (leati_distance_allowed(&off, &ways[i], want)) {
      char *name = i == BY_LEVEL ? g_strdup("between optimisation levels")
                                 : g_strdup_printf("with inputs off by up to %" G_GINT64_FORMAT " ulp", spread->ulps);
      *why = g_strdup_printf(
          "within twice what the CPU provider differs from itself %s: off by %.1e (rms %.1e), itself by "
          "%.1e (rms %.1e)",
          name, off.most, off.rms, ways[i].most, ways[i].rms);
      g_free(name);
      return TRUE;
    }
  }
  *why = g_strdup_printf(
      "off by %.1e (rms %.1e); the CPU provider differs from itself by %.1e (rms %.1e) between "
      "optimisation levels, by %.1e (rms %.1e) with inputs off by up to %" G_GINT64_FORMAT
      " ulp; right is at most twice that, where the output varies by more",
      off.most, off.rms, ways[BY_LEVEL].most, ways[BY_LEVEL].rms, ways[BY_ULPS].most, ways[BY_ULPS].rms, spread->ulps);
  return FALSE;
}
