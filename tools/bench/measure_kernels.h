/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The measurement "kernels" of leat-bench.
 */
#ifndef LEAT_TOOLS_BENCH_MEASURE_KERNELS_H_
#define LEAT_TOOLS_BENCH_MEASURE_KERNELS_H_

#include "bench/bench.h"

/** Measures the rows that were asked for, and how fast the device copies.
 * @return FALSE with the error set: something failed, or a result was wrong */
gboolean leati_measure_kernels(leati_bench *bench, GError **error);

#endif /* LEAT_TOOLS_BENCH_MEASURE_KERNELS_H_ */
