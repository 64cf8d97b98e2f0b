/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What was measured: points with all their samples, as tables for people and as JSON for programs.
 */
#ifndef LEAT_TOOLS_BENCH_RESULTS_H_
#define LEAT_TOOLS_BENCH_RESULTS_H_

#include <json-glib/json-glib.h>

#include "bench/team.h"

/** One place in a table: what was measured, how, from how many threads; with a value of each repetition. */
typedef struct leati_result_point {
  const char *measurement; /**< constant */
  char *variant;
  char *setting; /**< what was set for it, such as "LEAT_LANES=2", or NULL */
  guint threads;
  const char *unit; /**< of the values; constant */
  GArray *values;   /**< of double; none: it was not measured, and the facts say why */
  GArray *p50_us;   /**< of double, likewise the next; 0: not taken */
  GArray *p99_us;
  GArray *cpu_us;
  GArray *thread_cpu_us;
  GArray *ratios;    /**< of double: each value by that of `base` in the same repetition */
  const char *base;  /**< what the ratios are to, constant; NULL: there are none */
  JsonObject *facts; /**< further members for JSON, shown at the end of the point's row too */
} leati_result_point;

/** All points, in the order in which they were first seen. */
typedef struct leati_results {
  GPtrArray *points; /**< of leati_result_point */
} leati_results;

void leati_results_init(leati_results *results);
void leati_results_clear(leati_results *results);

/** The point of this name; a new one if there is none.
 * @param measurement [borrowed: as long as the results]
 * @param unit [borrowed: as long as the results]
 * @param setting NULL: none
 * @return [borrowed: until leati_results_clear] */
leati_result_point *leati_results_point(leati_results *results, const char *measurement, const char *variant,
                                        const char *setting, guint threads, const char *unit);

/** Adds a value that comes without times. */
void leati_result_point_add_value(leati_result_point *point, double value);
/** Adds what a team did: its rate, latencies and CPU time. */
void leati_result_point_add(leati_result_point *point, const leati_sample *sample);
/** Adds the ratio of the last value to @p value.
 * @param base [borrowed: as long as the results] what that is, in words */
void leati_result_point_compare(leati_result_point *point, const char *base, double value);

/** Adds a ratio for the last value.
 * @param base [borrowed: as long as the results] what it is to, in words */
void leati_result_point_add_ratio(leati_result_point *point, const char *base, double ratio);

/** Median of doubles; the mean of the middle two of an even number; 0 of none. */
double leati_median(const GArray *values);

/** A table of the points of a measurement, and, where rates are from several numbers of threads, one of their medians
 * with a column for each number.
 * @return [owned: release with g_free] */
char *leati_results_text(const leati_results *results, const char *measurement);

/** All points as an array, for the caller to put into a larger object. */
void leati_results_json(const leati_results *results, JsonBuilder *json);

#endif /* LEAT_TOOLS_BENCH_RESULTS_H_ */
