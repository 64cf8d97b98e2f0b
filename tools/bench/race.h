/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Values of a setting of the backend against each other: rows of "kernels" are measured with each of them, in rounds.
 */
#ifndef LEAT_TOOLS_BENCH_RACE_H_
#define LEAT_TOOLS_BENCH_RACE_H_

#include "bench/bench.h"
#include "bench/kernels.h"

/** A race. It begins with one value, the standard, which takes part twice: what its two measurements differ by is the
 * noise. All times are logarithms of ratios to the standard in the same round, by the mean of the rows. One thread. */
typedef struct leati_race leati_race;

/** Begins a race.
 * @param bench [borrowed: as long as the race] its rig is opened with each value, samples go to its results
 * @param random [borrowed: as long as the race] draws the order of values, and of rows with each
 * @param rows [borrowed: as long as the race] of const leati_kernel, at least one
 * @param setting [borrowed: as long as the race] name of the setting
 * @param standard value of the setting
 * @param label what that is, for the report
 * @return [owned: release with leati_race_free] */
leati_race *leati_race_new(leati_bench *bench, GRand *random, const GPtrArray *rows, const char *setting,
                           const char *standard, const char *label);

/** Adds a value, which has the next number from 0 on. */
void leati_race_add(leati_race *race, const char *value, const char *label);

/** Frees a race; NULL does nothing. */
void leati_race_free(leati_race *race);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(leati_race, leati_race_free)

/** Runs so many rounds: with each value that is left the device is opened and all rows are measured, the first one
 * loaded for --warmup. After each round the worse half of the values is left out. With a value's first round its
 * results are checked; one with which the device cannot take a row is left out.
 * @return FALSE with the error set: something failed, or a result was wrong. TRUE also when it was interrupted */
gboolean leati_race_run(leati_race *race, gint64 rounds, GError **error);

/** How often a device is opened for a race of so many values and rounds. */
guint leati_race_openings(guint values, gint64 rounds);

/** Measures a row once with the rig as it is.
 * @param load seconds that the device is kept busy with it before; 0: LEATI_RACE_LOAD of --warmup, which is enough
 * where it was busy shortly before
 * @param check whether results are checked
 * @param out_us [out] of a run
 * @param why [out] [owned: release with g_free] why the device cannot take the row, if that is so; else left alone */
gboolean leati_race_visit(const leati_bench *bench, const leati_kernel *kernel, double load, gboolean check,
                          double *out_us, char **why, GError **error);
#define LEATI_RACE_LOAD 0.1

/** The value that took least time of those that are left, or -1. */
int leati_race_best(const leati_race *race);
/** What a value took: the median of its rounds. */
double leati_race_score(const leati_race *race, guint value);
/** Why a value was left out because the device could not run with it, or NULL. */
const char *leati_race_why(const leati_race *race, guint value);
/** What the two measurements of the standard differed by at most, in any round, and at least LEATI_RACE_NOISE_LEAST. */
double leati_race_noise(const leati_race *race);
/** A difference that is no reason to choose a value, however little noise there is. */
#define LEATI_RACE_NOISE_LEAST 0.005

/** The rows that gain most and least by a value, by their median round, for people.
 * @return [owned: release with g_free] */
char *leati_race_extremes(const leati_race *race, guint value);

/** A score as a change of time, for people.
 * @return [owned: release with g_free] such as "-2.5 %" */
char *leati_race_percent(double score);

/** From now on SIGINT ends races and is told by leati_race_interrupted(); the second one ends the process. */
void leati_race_catch_interrupt(void);
/** SIGINT does what it did before. */
void leati_race_release_interrupt(void);
/** Whether one came since. */
gboolean leati_race_interrupted(void);

#endif /* LEAT_TOOLS_BENCH_RACE_H_ */
