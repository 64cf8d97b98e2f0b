/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Running the cases: each in a process of its own (or a few in one, with --batch), several processes at once, with
 * deadlines that tell a process that hangs from one that is slow (progress.h). This process never loads the plugin.
 */
#ifndef LEAT_CONFORMANCE_RUNNER_H_
#define LEAT_CONFORMANCE_RUNNER_H_

#include "report.h"

/** What a run is asked to do. */
typedef struct leat_run_options {
  const char *program;       /**< this program's file, to start it again */
  const char *plugin_path;   /**< the plugin */
  uint32_t profiles;         /**< LEAT_PROFILE_*: cases of these alone */
  char **filters;            /**< globs, or NULL: all cases */
  char **waivers;            /**< name glob, reason, name glob, reason, ..., NULL; or NULL */
  char **mustpass;           /**< names, or NULL: none is checked */
  const char *mustpass_name; /**< where they come from */
  GRegex *forbidden;         /**< a line of output that matches fails the case, or NULL */
  uint32_t device_index;     /**< `--device` */
  uint32_t seed;             /**< `--seed` */
  uint32_t first_call;       /**< `--first-call` */
  uint32_t calls;            /**< `--calls`; 0: as many as a case likes */
  gboolean all_operators;    /**< `--all-operators` */
  gboolean fast_float32;     /**< `--fast-float32` */
  gboolean accuracy;         /**< `--accuracy` */
  uint32_t jobs;             /**< processes at once */
  uint32_t batch;            /**< cases a process at most */
  uint32_t repeat;           /**< runs of each case */
  double scale;              /**< of deadlines */
  gboolean progress;         /**< draw a progress line on stderr */
  gboolean stream_text;      /**< print a line per case on stdout as it ends */
  gboolean only_bad;         /**< of these, leave out the cases that passed or are not supported */
  gboolean quiet;            /**< leat_report::quiet */
} leat_run_options;

/** The list of all cases, in order of the sources. */
GPtrArray *leati_runner_cases(void);

/** Whether a case is chosen by profile (LEAT_PROFILE_*) and filters. */
gboolean leati_runner_chosen(uint32_t profiles, char *const *filters, const leat_case *one);

/** Runs. Returns NULL, with a message owned by the caller, on bad use (not a plugin, no such device, no case chosen).
 */
leat_report *leati_runner_run(const leat_run_options *options, char **out_message);

#endif /* LEAT_CONFORMANCE_RUNNER_H_ */
