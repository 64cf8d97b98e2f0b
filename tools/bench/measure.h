/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The measurements of leat-bench.
 */
#ifndef LEAT_TOOLS_BENCH_MEASURE_H_
#define LEAT_TOOLS_BENCH_MEASURE_H_

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
  /* As it stands. */
  leati_rig rig;
  leati_floor *floor; /**< NULL: not opened yet */
  leati_results results;
} leati_bench;

/** A measurement. */
typedef struct leati_measurement {
  const char *name;
  const char *about; /**< one line for people */
  /** Measures and adds points. FALSE with the error set: something failed, or a result was wrong. */
  gboolean (*measure)(leati_bench *bench, GError **error);
} leati_measurement;

/** All of them, in the order in which they run; the last has no name. */
extern const leati_measurement leati_measurements[];

#endif /* LEAT_TOOLS_BENCH_MEASURE_H_ */
