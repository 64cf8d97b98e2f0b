/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Durations of runs in bounded memory: all of them up to a limit, from there on a uniform random sample.
 */
#ifndef LEAT_TOOLS_LATENCY_H_
#define LEAT_TOOLS_LATENCY_H_

#include <glib.h>
#include <stdint.h>

/** Durations kept by one recorder: 256 KiB of them. */
#define LEATI_LATENCY_KEPT 32768

/** A recorder of durations. One thread at a time. */
typedef struct leati_latency leati_latency;

/** @param runs how many durations are expected, for the memory taken
 * @return [owned: release with leati_latency_free] */
leati_latency *leati_latency_new(int64_t runs);

/** Frees a recorder; NULL is allowed. */
void leati_latency_free(leati_latency *latency);

/** Records one duration in nanoseconds. */
void leati_latency_add(leati_latency *latency, int64_t nanoseconds);

/** Percentiles over several recorders, by nearest rank; each duration counts for as many as its recorder saw per kept
 * one.
 * @param recorders [borrowed: until return]
 * @param percents [borrowed: until return] ascending, each above 0 and at most 100
 * @param out [out] one duration in seconds for each of @p percents; 0 where nothing was recorded */
void leati_latency_percentiles(leati_latency *const *recorders, size_t count, const double *percents,
                               size_t percent_count, double *out);

#endif /* LEAT_TOOLS_LATENCY_H_ */
