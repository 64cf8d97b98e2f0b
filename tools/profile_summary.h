/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a trace of LEAT_PROFILE says, summed up: device time by operator, and the nodes that took longest.
 */
#ifndef LEAT_TOOLS_PROFILE_SUMMARY_H_
#define LEAT_TOOLS_PROFILE_SUMMARY_H_

#include <glib.h>

/** Empties the file of a trace that is about to be written, so that an old one is not taken for it.
 * @return FALSE with @p error set if it cannot be written */
gboolean leati_profile_summary_begin(const char *path, GError **error);

/** Sums a trace up.
 * @return [owned: release with g_free] two tables; NULL with @p error set if the file is no such trace */
char *leati_profile_summary_text(const char *path, GError **error);

#endif /* LEAT_TOOLS_PROFILE_SUMMARY_H_ */
