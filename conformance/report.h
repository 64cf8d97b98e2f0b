/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a run found out, and writing it down as text, TAP, JUnit or JSON.
 */
#ifndef LEAT_CONFORMANCE_REPORT_H_
#define LEAT_CONFORMANCE_REPORT_H_

#include "case.h"
#include "ops/core/accuracy.h"

/** How a case ended. The order is that of severity. */
typedef enum leat_outcome {
  LEAT_OUTCOME_NONE,          /**< not run */
  LEAT_OUTCOME_PASS,          /**< what the case checks is true */
  LEAT_OUTCOME_NOT_SUPPORTED, /**< the plugin says that it lacks the feature */
  LEAT_OUTCOME_WAIVED,        /**< failed, and the waivers name it */
  LEAT_OUTCOME_FAIL,          /**< a check failed */
  LEAT_OUTCOME_CRASH,         /**< the process ended by itself */
  LEAT_OUTCOME_TIMEOUT,       /**< it hung, or went on for ever (progress.h) */
  LEAT_OUTCOME_COUNT
} leat_outcome;

/** How near to its bound a case, or an operator, came in an element type. */
typedef struct leat_accuracy {
  gboolean noted;           /**< there were results of the type */
  leati_ref_accuracy worst; /**< of all of them */
} leat_accuracy;

/** One case's result. */
typedef struct leat_result {
  const leat_case *one; /**< the case */
  leat_outcome outcome; /**< the worst of its runs */
  guint runs;           /**< how often it ran (`--repeat`) */
  guint bad_runs;       /**< runs that failed, crashed or timed out */
  double seconds;       /**< of all runs together */
  char *message;        /**< of the worst run: reason of a failure or of a skip, or NULL; owned */
  char *lacks;          /**< not supported because the plugin has no such operator: its name, or NULL; owned */
  char *output;         /**< of the worst run: end of what its process printed, or NULL; owned */
  const char *waiver;   /**< reason of the waiver that names it, or NULL */
  leat_accuracy accuracy[LEATI_REF_TYPE_COUNT]; /**< by element type, of the runs that passed */
} leat_result;

/** The whole run. Strings are owned; NULL where not known. */
typedef struct leat_report {
  char *command;                    /**< how to run again, up to the options that choose cases */
  char *plugin_path;                /**< the file */
  char *plugin_name;                /**< what the plugin says it is */
  char *plugin_version;             /**< version of its implementation */
  char *plugin_build_id;            /**< what exactly was built */
  char *plugin_abi;                 /**< negotiated ABI version */
  char *plugin_header;              /**< ABI version of the header it was built with */
  char *device_name;                /**< the device that was used */
  char *device_driver;              /**< its driver */
  char *device_uuid;                /**< its id, hexadecimal */
  char *no_device;                  /**< why there is none, or NULL */
  char *defect;                     /**< why the plugin's tables cannot be used, or NULL */
  uint64_t capabilities;            /**< LEAT_CAPABILITY_* */
  uint32_t profiles;                /**< LEAT_PROFILE_* that were run */
  uint32_t seed;                    /**< `--seed` */
  double seconds;                   /**< wall time */
  leat_result *results;             /**< in the order of the list */
  size_t result_count;              /**< elements of `results` */
  guint counts[LEAT_OUTCOME_COUNT]; /**< results by outcome */
  char *mustpass_name;              /**< which list was checked, or NULL: none */
  GPtrArray *mustpass_missing;      /**< names in the list that the suite does not know (const char *), or NULL */
  guint mustpass_total;             /**< names in the list */
  guint mustpass_passed;            /**< of these, passed */
  guint mustpass_not_supported;     /**< of these, not supported */
  GPtrArray *unneeded_waivers;      /**< globs whose cases all ran and passed (const char *), or NULL */
  gboolean quiet;                   /**< the text has what failed and the verdict alone */
  gboolean accuracy;                /**< the text has a table of how near to their bounds operators came */
  gboolean complete;                /**< every case of the profiles was run, so that conformance can be told */
} leat_report;

/** Name of a profile or of all of them: "core", "operators", "all". */
const char *leati_profile_name(uint32_t profiles);

/** Text of an outcome, such as "Pass". */
const char *leati_outcome_name(leat_outcome outcome);

/** Puts the worse of two in the place of the first, where the second was noted. */
void leati_report_worse(leat_accuracy *inout, const leat_accuracy *other);

/** What the run comes to: 0, 1 or 77. */
int leati_report_status(const leat_report *report);

/** The command that runs one case again, and says how it ended; owned by the caller. */
char *leati_report_command(const leat_report *report, const char *name);

/** One line for a case that just ended, and more lines if it did not pass. */
void leati_report_text_result(const leat_report *report, const leat_result *result, GString *out);
/** What was tested: plugin and device. */
void leati_report_text_head(const leat_report *report, GString *out);
/** Counts by profile and group with the names of what did not pass, why some could not run, all counts, verdict. */
void leati_report_text_tail(const leat_report *report, GString *out);

/** The whole report. */
void leati_report_text(const leat_report *report, GString *out);
void leati_report_tap(const leat_report *report, GString *out);
void leati_report_junit(const leat_report *report, GString *out);
void leati_report_json(const leat_report *report, GString *out);

#endif /* LEAT_CONFORMANCE_REPORT_H_ */
