/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu_spread.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "initializers.h"

/* How often numbers are put off. A step that is passed by one in so many may stay unseen, which k draws see k times as
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

/* What disturbs numbers of floating point. */
typedef struct disturbance {
  GRand *random;
  int64_t ulps;
} disturbance;

static void disturb(leati_element element, void *data, size_t count, void *user) {
  const disturbance *by = user;
  for (size_t i = 0; i < count; ++i) {
    const int64_t ulps = 1 + (int64_t)(g_rand_double(by->random) * (double)by->ulps);
    leati_element_step(element, data, i, g_rand_boolean(by->random) ? ulps : -ulps);
  }
}

/* Whether a model has inputs of floating point. What a model of text has instead is weights. */
static gboolean has_float_inputs(const leati_model *model) {
  gboolean any = FALSE;
  for (size_t i = 0; i < model->input_count; ++i) {
    any = any || leati_element_is_float(model->inputs[i].element);
  }
  return any;
}

/* Copies the inputs of a set, with each number of those of floating point some ulp off. */
static gboolean disturb_inputs(const leati_cpu_spread *spread, const leati_set *set, disturbance *by, OrtValue **out) {
  for (size_t i = 0; i < spread->model->input_count; ++i) {
    leati_ndarray view;
    out[i] =
        leati_value_view(spread->ort, set->inputs[i], &view, NULL) ? leati_value_copy(spread->ort, &view, NULL) : NULL;
    if (out[i] == NULL || !leati_value_view(spread->ort, out[i], &view, NULL)) {
      return FALSE;
    }
    if (leati_element_is_float(view.element)) {
      disturb(view.element, view.data, view.count, by);
    }
  }
  return TRUE;
}

static void measure_level(const leati_cpu_spread *spread, const leati_set *set, GraphOptimizationLevel level,
                          leati_distance *found) {
  const leati_session_plan plan = {.cpu_threads = spread->cpu_threads, .level = &level};
  OrtSession *session = leati_ort_session(spread->ort, spread->model->path, &plan, NULL);
  if (session != NULL) {
    take_in(spread, set, session, set->inputs, BY_LEVEL, found);
    spread->ort->api->ReleaseSession(session);
  }
}

static void measure_inputs(const leati_cpu_spread *spread, const leati_set *set, disturbance *by,
                           leati_distance *found) {
  const leati_session_plan plan = {.cpu_threads = spread->cpu_threads};
  OrtSession *session = leati_ort_session(spread->ort, spread->model->path, &plan, NULL);
  OrtValue **inputs = g_new0(OrtValue *, spread->model->input_count + 1);
  for (int i = 0; session != NULL && i < DRAWS; ++i) {
    if (disturb_inputs(spread, set, by, inputs)) {
      take_in(spread, set, session, inputs, BY_ULPS, found);
    }
    leati_values_free(spread->ort, inputs, spread->model->input_count);
  }
  if (session != NULL) {
    spread->ort->api->ReleaseSession(session);
  }
  g_free(inputs);
}

static void measure_weights(const leati_cpu_spread *spread, const leati_set *set, disturbance *by,
                            leati_distance *found) {
  char *bytes = NULL;
  gsize size = 0;
  gboolean any = g_file_get_contents(spread->model->path, &bytes, &size, NULL);
  for (int i = 0; any && i < DRAWS; ++i) {
    char *copy = g_memdup2(bytes, size);
    any = leati_initializers_each(copy, size, disturb, by);
    GBytes *disturbed = g_bytes_new_take(copy, size);
    const leati_session_plan plan = {.cpu_threads = spread->cpu_threads, .bytes = disturbed};
    OrtSession *session = any ? leati_ort_session(spread->ort, spread->model->path, &plan, NULL) : NULL;
    if (session != NULL) {
      take_in(spread, set, session, set->inputs, BY_ULPS, found);
      spread->ort->api->ReleaseSession(session);
    }
    g_bytes_unref(disturbed);
  }
  g_free(bytes);
}

/* One session at a time, which is what large models have room for. */
static leati_distance *measure(const leati_cpu_spread *spread, size_t number) {
  static const GraphOptimizationLevel kLevels[] = {ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED};
  const leati_set *set = &spread->feed->sets[number];
  leati_distance *found = g_new0(leati_distance, spread->model->output_count * WAYS);
  disturbance by = {.random = g_rand_new_with_seed((guint32)number), .ulps = spread->ulps};
  for (size_t i = 0; i < G_N_ELEMENTS(kLevels); ++i) {
    measure_level(spread, set, kLevels[i], found);
  }
  if (has_float_inputs(spread->model)) {
    measure_inputs(spread, set, &by, found);
  } else {
    measure_weights(spread, set, &by, found);
  }
  g_rand_free(by.random);
  return found;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

gboolean leati_cpu_spread_allows(leati_cpu_spread *spread, size_t set, size_t output, const leati_ndarray *got,
                                 const leati_ndarray *want, char **why) {
  const char *const moved = has_float_inputs(spread->model) ? "inputs" : "weights";
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
      char *name = i == BY_LEVEL
                       ? g_strdup("between optimisation levels")
                       : g_strdup_printf("with %s off by up to %" G_GINT64_FORMAT " ulp", moved, spread->ulps);
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
      "optimisation levels, by %.1e (rms %.1e) with %s off by up to %" G_GINT64_FORMAT
      " ulp; right is at most twice that, where the output varies by more",
      off.most, off.rms, ways[BY_LEVEL].most, ways[BY_LEVEL].rms, ways[BY_ULPS].most, ways[BY_ULPS].rms, moved,
      spread->ulps);
  return FALSE;
}
