/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The constants of a backend that --tune finds values for: which rows of "kernels" show one, and what is tried.
 */
#ifndef LEAT_TOOLS_BENCH_SUBJECTS_H_
#define LEAT_TOOLS_BENCH_SUBJECTS_H_

#include <glib.h>

/** Values that are tried of one at most. */
#define LEATI_TUNE_VALUES_MAX 8

/** What a device must be like for a constant to count there. */
typedef enum leati_tune_need {
  LEATI_TUNE_ALWAYS,
  LEATI_TUNE_MATRICES, /**< it has matrix hardware that is used */
  LEATI_TUNE_ASSUMED,  /**< it does not tell how many processors it has */
} leati_tune_need;

/** A constant. Those with the same rows act on each other: when one changes, the others are tuned again. */
typedef struct leati_tune_subject {
  const char *name; /**< as the backend's report has it under "tuning.", and LEAT_TUNING */
  const char *rows; /**< patterns, as leati_kernels_find() takes them */
  leati_tune_need need;
  guint values[LEATI_TUNE_VALUES_MAX]; /**< rising */
  guint value_count;
} leati_tune_subject;

/** The table and its length. */
extern const leati_tune_subject leati_tune_subjects[];
extern const guint leati_tune_subject_count;

/** The constants whose names fit one of the patterns ("*" and "?"), in the table's order.
 * @param patterns with commas between; NULL: all
 * @return [owned: release with g_ptr_array_unref] of const leati_tune_subject; NULL with the error set if a pattern
 * fits none
 */
GPtrArray *leati_tune_subjects_find(const char *patterns, GError **error);

#endif /* LEAT_TOOLS_BENCH_SUBJECTS_H_ */
