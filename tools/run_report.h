/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What leat-run found, for people and for programs.
 */
#ifndef LEAT_TOOLS_RUN_REPORT_H_
#define LEAT_TOOLS_RUN_REPORT_H_

#include <json-glib/json-glib.h>

#include "workers.h"

/** All that a report draws from. Everything is borrowed until the function that takes it returns. */
typedef struct leati_findings {
  const leati_ort *ort;
  const leati_options *options;
  const leati_job *jobs;
  size_t job_count;
  const leati_workers *workers;
  const leati_workers *batched;   /**< the second time, in batches; NULL: there was none */
  leati_batcher *const *batchers; /**< one for each job, still alive; NULL without `batched` */
} leati_findings;

/** What some threads of one time did together. */
typedef struct leati_figures {
  int64_t runs, skipped, failed, wrong_runs, outputs, wrong, within_spread;
  double worst;
  double seconds;       /**< from the common start to the end of the last run */
  double runs_a_second; /**< timed runs, failed ones included */
  double p50, p99;      /**< seconds */
} leati_figures;

/** Sums up what the threads of a job did, without batches. */
void leati_findings_sum(const leati_findings *findings, size_t job, leati_figures *out);

/** TRUE if no run failed or was skipped and no output was wrong. */
gboolean leati_findings_right(const leati_findings *findings);

/** What is known before the threads start: versions, device, tolerance, inputs, notes. Ends with a line feed.
 * @return [owned: release with g_free] */
char *leati_run_report_preface(const leati_findings *findings);

/** The table, the nodes, what went wrong, and the verdict.
 * @return [owned: release with g_free] */
char *leati_run_report_text(const leati_findings *findings);

/** The same, preface included, as one JSON object. An error that is not a finite number is the string "inf";
 * "started_us" is when the clock started, in microseconds of CLOCK_MONOTONIC, as a trace has them.
 * @return [owned: release with g_free] */
char *leati_run_report_json(const leati_findings *findings);

/** Adds the member "elsewhere": for each node that Leat does not run operator, name, provider and reason. */
void leati_run_report_elsewhere(JsonBuilder *json, const leati_model *model);

#endif /* LEAT_TOOLS_RUN_REPORT_H_ */
