/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A row of "kernels" on the device: its operator run over and over, each run after the one before it.
 */
#ifndef LEAT_TOOLS_BENCH_EXERCISE_H_
#define LEAT_TOOLS_BENCH_EXERCISE_H_

#include "bench/kernels.h"
#include "bench/rig.h"

/** An operator with its operands on the device. One thread at a time. A device that makes no progress for a minute ends
 * the process with status 1. */
typedef struct leati_exercise leati_exercise;

/** What came out. */
typedef struct leati_exercise_sample {
  gint64 runs;
  double run_us;  /**< wall time of a run in a steady stream of them */
  double host_us; /**< of the host, to put a run into the stream; near `run_us` the device may have waited for it */
} leati_exercise_sample;

/** Puts the operands of a row on the device.
 * @param kernel [borrowed: until leati_exercise_free]
 * @param why [out] [owned: release with g_free] why the device cannot take this row, if that is so; else left alone
 * @return [owned: release with leati_exercise_free] NULL with either @p why or the error set */
leati_exercise *leati_exercise_begin(const leati_rig *rig, const leati_kernel *kernel, char **why, GError **error);

/** Waits for what is under way and frees everything; NULL does nothing. */
void leati_exercise_free(leati_exercise *exercise);

/** Runs once and compares elements here and there with leati_answer(). Before any other run.
 * @return FALSE with the error set: it failed, or an element was wrong */
gboolean leati_exercise_check(leati_exercise *exercise, GError **error);

/** Runs once and waits.
 * @param seconds [out] what that took, recording and waiting included */
gboolean leati_exercise_once(leati_exercise *exercise, double *seconds, GError **error);

/** Keeps the device busy with dependent runs for some time, and finds how many go into a list. Some stay under way. */
gboolean leati_exercise_load(leati_exercise *exercise, double seconds, GError **error);

/** Goes on, and measures: from the end of a list to the end of a later one, with more under way all the time. */
gboolean leati_exercise_measure(leati_exercise *exercise, double seconds, leati_exercise_sample *out, GError **error);

/** Goes on for one list, unmeasured. */
gboolean leati_exercise_step(leati_exercise *exercise, GError **error);

#endif /* LEAT_TOOLS_BENCH_EXERCISE_H_ */
