/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What was asked for and what was measured so far.
 */
#ifndef LEAT_TOOLS_BENCH_BENCH_H_
#define LEAT_TOOLS_BENCH_BENCH_H_

#include "bench/floor.h"
#include "bench/results.h"
#include "bench/rig.h"

/** What a measurement needs to know. Made by main(), used by its thread alone. */
typedef struct leati_bench {
  /* As the user asked. */
  char *plugin;    /**< or NULL */
  gint64 device;   /**< index */
  double seconds;  /**< of each point in each repetition */
  double warmup;   /**< seconds before each */
  gint64 repeat;   /**< repetitions */
  gint64 runs;     /**< of the measurement "flat" */
  gint64 ticks;    /**< of the measurement "tick" */
  gboolean pool;   /**< take streams from the pool */
  gboolean bare;   /**< --no-floor: leave the floor out */
  GArray *threads; /**< of guint */
  char **lanes;    /**< values of LEAT_LANES for "chain", NULL-terminated; "unset" */
  /* Of the measurement "kernels". */
  GPtrArray *kernels;  /**< of const leati_kernel: rows, at least one */
  double load;         /**< seconds that the device is kept busy before each row */
  gint64 seed;         /**< of the order of the rows */
  char *clock_command; /**< or NULL */
  /* Of --tune. */
  gboolean tune;       /**< find values for constants of the backend, instead of measuring */
  GPtrArray *subjects; /**< of const leati_tune_subject: constants, at least one; NULL without --tune */
  /* As it stands. */
  leati_rig rig;
  leati_floor *floor; /**< NULL: not opened yet */
  leati_results results;
} leati_bench;

#endif /* LEAT_TOOLS_BENCH_BENCH_H_ */
