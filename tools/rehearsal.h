/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A rehearsal: the models run from one thread each, in a process of its own, with a profile and in sessions that say
 * why Leat does not run a node. All that slows runs down, and a profile is whole only when its process is done.
 */
#ifndef LEAT_TOOLS_REHEARSAL_H_
#define LEAT_TOOLS_REHEARSAL_H_

#include <json-glib/json-glib.h>

#include "options.h"

/** What it told; both are NULL where its runs failed. */
typedef struct leati_rehearsal {
  JsonNode *result; /**< as leat-run --json prints it */
  JsonNode *steps;  /**< as leati_profile_summary_steps() has them */
} leati_rehearsal;

/** Rehearses. Returns in both processes: in the one that rehearses with options for that, whose output goes to the
 * other, and in the other when it is done. Before the process has another thread.
 * @param options [in, out] with `report`; in the process that rehearses without
 * @param out [out] release with leati_rehearsal_clear(), also after a failure
 * @return FALSE, with @p error set unless the other process has told it: there is nothing to be run */
gboolean leati_rehearsal_hold(leati_options *options, leati_rehearsal *out, GError **error);

/** Releases what was told. */
void leati_rehearsal_clear(leati_rehearsal *rehearsal);

#endif /* LEAT_TOOLS_REHEARSAL_H_ */
