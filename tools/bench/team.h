/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Threads that do the same thing over and over, all at once, and how fast that was.
 */
#ifndef LEAT_TOOLS_BENCH_TEAM_H_
#define LEAT_TOOLS_BENCH_TEAM_H_

#include <glib.h>

/** What each thread of a team does. All three are called in the thread itself. */
typedef struct leati_task {
  /** Makes what the thread needs. NULL with the error set: it cannot.
   * @param thread its number, from 0 */
  gpointer (*begin)(gpointer context, guint thread, GError **error);
  /** One run. FALSE with the error set: it failed, or its result was wrong. */
  gboolean (*run)(gpointer state, GError **error);
  /** Waits for what is outstanding, checks the results if all runs went well, and frees @p state in any case. FALSE
   * with the error set: a result was wrong. */
  gboolean (*end)(gpointer state, gboolean well, GError **error);
} leati_task;

/** How a team runs. */
typedef struct leati_team_plan {
  guint threads;
  double seconds; /**< time to run for */
  double warmup;  /**< seconds to run before the clock starts */
  gint64 runs;    /**< timed runs of each thread, instead of seconds; 0: by time. Such runs take no latencies */
  /** What the calling thread does while the team runs, or NULL. */
  void (*meanwhile)(gpointer context);
  gpointer meanwhile_context;
} leati_team_plan;

/** What came out. */
typedef struct leati_sample {
  gint64 runs;          /**< of all threads */
  double seconds;       /**< from the common start to the end of the last run */
  double rate;          /**< runs a second */
  double p50_us;        /**< of the time of one run; 0 where no latencies were taken */
  double p99_us;        /**< likewise */
  double cpu_us;        /**< CPU time of the whole process in each run: also threads of a driver */
  double thread_cpu_us; /**< CPU time of the team's own threads in each run */
} leati_sample;

/** Runs a team to its end. A team that makes no progress for two minutes beyond its time ends the process with status
 * 1: a thread that hangs cannot be ended in any other way.
 * @param context [borrowed: until return] for begin()
 * @return FALSE with the first error set if a thread failed or a result was wrong */
gboolean leati_team_run(const leati_task *task, gpointer context, const leati_team_plan *plan, leati_sample *out,
                        GError **error);

/** Monotonic nanoseconds. */
gint64 leati_team_now_ns(void);

#endif /* LEAT_TOOLS_BENCH_TEAM_H_ */
