/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The measurements of leat-bench.
 */
#ifndef LEAT_TOOLS_BENCH_MEASURE_H_
#define LEAT_TOOLS_BENCH_MEASURE_H_

#include "bench/bench.h"

/** A measurement. */
typedef struct leati_measurement {
  const char *name;
  const char *about; /**< one line for people */
  gboolean asked;    /**< it runs only if it is named */
  /** Measures and adds points. FALSE with the error set: something failed, or a result was wrong. */
  gboolean (*measure)(leati_bench *bench, GError **error);
} leati_measurement;

/** All of them, in the order in which they run; the last has no name. */
extern const leati_measurement leati_measurements[];

#endif /* LEAT_TOOLS_BENCH_MEASURE_H_ */
