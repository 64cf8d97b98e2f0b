/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A sweep: the models from 1, 2, 4, ... threads, and what the page of a report says of that.
 */
#ifndef LEAT_TOOLS_SWEEP_H_
#define LEAT_TOOLS_SWEEP_H_

#include "rehearsal.h"
#include "run_report.h"

/** What each point gave. */
typedef struct leati_sweep leati_sweep;

/** @return [owned: release with leati_sweep_free] */
leati_sweep *leati_sweep_new(void);

/** Frees a sweep. */
void leati_sweep_free(leati_sweep *sweep);

/** Threads of the next point; 0: there is none.
 * @param most threads that the last point has */
int64_t leati_sweep_next(const leati_sweep *sweep, int64_t most);

/** Adds a point, whose threads are those of the findings' options; every point has the same jobs. */
void leati_sweep_add(leati_sweep *sweep, const leati_findings *findings);

/** All that the page says, while sessions are open.
 * @param findings with the options of the whole sweep; its workers are not looked at
 * @return [owned: release with g_free] JSON, whose members are those that report.html's script takes apart */
char *leati_sweep_json(const leati_sweep *sweep, const leati_findings *findings, const leati_rehearsal *rehearsal);

#endif /* LEAT_TOOLS_SWEEP_H_ */
