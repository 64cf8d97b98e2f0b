/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The threads that run the models, all at once, and what each of them saw.
 */
#ifndef LEAT_TOOLS_WORKERS_H_
#define LEAT_TOOLS_WORKERS_H_

#include "batcher.h"
#include "compare.h"
#include "cpu_spread.h"
#include "feed.h"
#include "latency.h"

/** One model's part of the work. */
typedef struct leati_job {
  leati_model *model;
  leati_feed *feed;
  leati_tolerance tolerance;
  leati_cpu_spread *spread; /**< what may be beyond the tolerance; NULL: nothing */
} leati_job;

/** What one thread of one model did. Written by that thread alone, read by others after leati_workers_run() returned.
 */
typedef struct leati_worker {
  const leati_job *job;
  size_t index;          /**< of the thread among those of its model */
  int64_t runs;          /**< timed runs that ended, rightly or not */
  int64_t warmups;       /**< runs before the clock started */
  int64_t skipped;       /**< timed runs given up after too many failures in a row */
  int64_t failed;        /**< runs, warm-ups included, that returned an error */
  int64_t wrong_runs;    /**< runs, warm-ups included, with at least one wrong output */
  int64_t outputs;       /**< outputs compared */
  int64_t wrong;         /**< outputs that were wrong */
  int64_t within_spread; /**< outputs beyond the tolerance that are within the CPU provider's own spread */
  double worst;          /**< largest error of a floating-point output */
  char *failure;         /**< [owned] the first error in words, or NULL */
  char *mismatch;        /**< [owned] the first wrong output in words, or NULL */
  char *spread_note;     /**< [owned] the first of those within the spread in words, or NULL */
  int64_t end;           /**< monotonic nanoseconds when its last timed run ended */
  leati_latency *times;  /**< of the timed runs that did not fail */
  OrtValue **first;      /**< outputs of its first run if they were to be kept, else NULL */
} leati_worker;

/** All threads. */
typedef struct leati_workers {
  size_t count;
  leati_worker *list; /**< those of job 0 first */
  int64_t start;      /**< monotonic nanoseconds when the clock started */
} leati_workers;

/** Runs every job from its threads and waits for them.
 * If no run ends for the time of options->timeout, or a thread hangs, it says which and ends the process with status 1.
 * @param jobs [borrowed: until leati_workers_clear] constant while this runs
 * @param batchers [borrowed: until return] one for each job, which runs the requests of its threads; NULL: each thread
 *   calls ONNX Runtime itself
 * @param out [out] release with leati_workers_clear()
 * @return FALSE with @p error set if threads could not be made; nothing was timed then */
gboolean leati_workers_run(const leati_ort *ort, const leati_options *options, const leati_job *jobs, size_t job_count,
                           leati_batcher *const *batchers, leati_workers *out, GError **error);

/** Releases what leati_workers_run() made. */
void leati_workers_clear(const leati_ort *ort, leati_workers *workers);

#endif /* LEAT_TOOLS_WORKERS_H_ */
