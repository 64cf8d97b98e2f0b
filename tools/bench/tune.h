/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * leat-bench --tune: finds the constants by which the backend cuts kernels again, on the device at hand.
 */
#ifndef LEAT_TOOLS_BENCH_TUNE_H_
#define LEAT_TOOLS_BENCH_TUNE_H_

#include "bench/bench.h"

/** Tunes the constants that were asked for, one after the other, and prints what it finds. A value is tried by closing
 * the device and opening it again with it (LEAT_TUNING).
 *
 * A constant's values take turns in rounds, in an order that is drawn, with the value so far twice. The score of a
 * value is what its rows take, by the geometric mean of their ratios to the value so far in the same round; the median
 * round counts. After each round the worse half is left out. The best is measured against the value so far in as many
 * rounds again, and taken if it is faster both times by more than the two measurements of the value so far ever
 * differed: by more than the noise.
 *
 * SIGINT ends it, with what is known by then; a second one ends the process.
 * @return FALSE with the error set: something failed, or a result was wrong, or it was interrupted */
gboolean leati_tune(leati_bench *bench, GError **error);

#endif /* LEAT_TOOLS_BENCH_TUNE_H_ */
