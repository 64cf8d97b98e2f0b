/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How far the CPU provider's own results for a set of inputs lie apart, which is as far as those of another provider
 * may be off: between its optimisation levels, and where floating-point inputs, or the weights of a model that has
 * none, are off by some ulp. A quantiser puts a number that is off by one rounding on the next step.
 */
#ifndef LEAT_TOOLS_CPU_SPREAD_H_
#define LEAT_TOOLS_CPU_SPREAD_H_

#include "compare.h"
#include "feed.h"

/** The spreads of a model's outputs, each measured when it is first asked for. */
typedef struct leati_cpu_spread leati_cpu_spread;

/** Measures nothing yet.
 * @param model,feed [borrowed: until leati_cpu_spread_free] constant; the feed with what is right for each set
 * @param cpu_threads threads inside one run
 * @param ulps how far inputs are put off, at least 1
 * @return [owned: release with leati_cpu_spread_free] */
leati_cpu_spread *leati_cpu_spread_new(const leati_ort *ort, const leati_model *model, const leati_feed *feed,
                                       int cpu_threads, int64_t ulps);

/** Whether an output that is beyond the tolerance is within the spread, see leati_distance_allowed(). The first call
 * for a set runs the model some times on the CPU.
 * @threads any; those that ask while a set is measured wait
 * @param set number of the set in the feed
 * @param output number of the output
 * @param got [borrowed: until return] all or, as batches cut it, the first rows of what a run gave
 * @param want [borrowed: until return] as many of what the feed has
 * @param why [out] [owned: release with g_free] which spread it is within, or how far it is beyond; NULL:
 *   no number says how far it is off */
gboolean leati_cpu_spread_allows(leati_cpu_spread *spread, size_t set, size_t output, const leati_ndarray *got,
                                 const leati_ndarray *want, char **why);

/** Frees spreads; NULL is allowed. */
void leati_cpu_spread_free(leati_cpu_spread *spread);

#endif /* LEAT_TOOLS_CPU_SPREAD_H_ */
