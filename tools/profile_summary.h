/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a trace of LEAT_PROFILE says, summed up: device time by operator, and the nodes that took longest.
 */
#ifndef LEAT_TOOLS_PROFILE_SUMMARY_H_
#define LEAT_TOOLS_PROFILE_SUMMARY_H_

#include <json-glib/json-glib.h>

/** Empties the file of a trace that is about to be written, so that an old one is not taken for it.
 * @return FALSE with @p error set if it cannot be written */
gboolean leati_profile_summary_begin(const char *path, GError **error);

/** Sums a trace up.
 * @return [owned: release with g_free] two tables; NULL with @p error set if the file is no such trace */
char *leati_profile_summary_text(const char *path, GError **error);

/** Device time by node, longest first: arrays of operator, node ("" where there is none) and microseconds a run.
 * @param from_us what began before counts for nothing, in microseconds of CLOCK_MONOTONIC
 * @param runs that it is shared out among
 * @return [owned: release with json_node_unref] NULL with @p error set if the file is no such trace */
JsonNode *leati_profile_summary_steps(const char *path, double from_us, double runs, GError **error);

#endif /* LEAT_TOOLS_PROFILE_SUMMARY_H_ */
