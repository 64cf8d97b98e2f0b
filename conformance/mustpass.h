/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Lists of cases that a plugin must pass to be called conformant: one a line, `#` begins a comment.
 */
#ifndef LEAT_CONFORMANCE_MUSTPASS_H_
#define LEAT_CONFORMANCE_MUSTPASS_H_

#include "case.h"

/** Name of the list that is built in. */
#define LEAT_MUSTPASS_BUILT_IN "1.0"

/** The list of this ABI version: of the profile core what stands in mustpass/1.0.txt and 1.1.txt, and of the profile
 * operators all of @p cases (leat_case *), the suite's. Free with g_strfreev(). */
char **leati_mustpass_built_in(const GPtrArray *cases);

/** Names in a file; NULL, with an error, if it cannot be read or holds none. Free with g_strfreev(). */
char **leati_mustpass_read(const char *path, GError **error);

#endif /* LEAT_CONFORMANCE_MUSTPASS_H_ */
